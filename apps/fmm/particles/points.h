/*
 * points.h - some of the particles, as the kernels take them: those that act, and those where the sums are wanted.
 */
#ifndef FMM_PARTICLES_POINTS_H
#define FMM_PARTICLES_POINTS_H

#include <stdint.h>

/* Particles that act; each array [count]. */
typedef struct fmm_sources {
    int64_t count;
    const double *x, *y, *z, *charge;
} fmm_sources;

/* Where they act, and the sums so far; each array [count], without overlap. */
typedef struct fmm_targets {
    int64_t count;
    const double *x, *y, *z;
    double *potential;    /* sum of q / r */
    double *gx, *gy, *gz; /* its gradient: sum of -q (x - x_source, ...) / r^3; all three NULL: not wanted */
} fmm_targets;

/* Particles that act and have sums; each array [count] as above. */
typedef struct fmm_bodies {
    int64_t count;
    const double *x, *y, *z, *charge;
    double *potential, *gx, *gy, *gz;
} fmm_bodies;

#endif
