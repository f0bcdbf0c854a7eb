/*
 * points.h - views of some of the particles for the kernels: sources, which act, and targets, at which the sums are wanted.
 */
#ifndef FMM_PARTICLES_POINTS_H
#define FMM_PARTICLES_POINTS_H

#include <stdint.h>

/* Sources: particles that act; each array [count]. */
typedef struct fmm_sources {
    int64_t count;
    const double *x, *y, *z, *charge;
} fmm_sources;

/* Targets: positions and the sums so far; each array [count]; the arrays do not overlap. */
typedef struct fmm_targets {
    int64_t count;
    const double *x, *y, *z;
    double *potential;    /* sum of q / r */
    double *gx, *gy, *gz; /* its gradient: sum of -q (x - x_source, ...) / r^3; all three NULL: no gradients wanted */
} fmm_targets;

/* Particles that are both sources and targets; each array [count] as above. */
typedef struct fmm_bodies {
    int64_t count;
    const double *x, *y, *z, *charge;
    double *potential, *gx, *gy, *gz;
} fmm_bodies;

#endif
