/*
 * pairs.h - sums over pairs of particles, compiled for each instruction set.
 */
#ifndef FMM_NEAR_KERNELS_PAIRS_H
#define FMM_NEAR_KERNELS_PAIRS_H

#include <stdint.h>

/* Particles that act; each array [count]. */
typedef struct fmm_sources {
    int64_t count;
    const double *x, *y, *z, *charge;
} fmm_sources;

/* Where they act, and the sums so far; each array [count]. */
typedef struct fmm_targets {
    int64_t count;
    const double *x, *y, *z;
    double *potential;    /* sum of q / r */
    double *gx, *gy, *gz; /* its gradient: sum of -q (x - x_source, ...) / r^3; gx NULL: not wanted */
} fmm_targets;

/*
 * Adds what the sources do to the targets.  A pair at distance 0 (r^2 below the least normal double) adds nothing, so that sources may be
 * among the targets.  r^2 shall not overflow.  Each term is exact to some units in the last place; a target's terms are added in an order that
 * depends on the sources' order and the instruction set alone.
 */
typedef void fmm_pairs_function(const fmm_sources *sources, const fmm_targets *targets);

typedef struct fmm_pairs_kernel {
    const char *name; /* "x86-64-v3" */
    fmm_pairs_function *add;
} fmm_pairs_kernel;

enum { FMM_MAX_PAIRS_KERNELS = 3 };

/* The kernels that this processor can run, the fastest last; returns their number, which is at least 1. */
int fmm_pairs_kernels(const fmm_pairs_kernel *list[FMM_MAX_PAIRS_KERNELS]);
const fmm_pairs_kernel *fmm_pairs_select(void);

#endif
