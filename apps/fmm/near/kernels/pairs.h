/*
 * pairs.h - sums over pairs of particles, compiled for each instruction set.
 */
#ifndef FMM_NEAR_KERNELS_PAIRS_H
#define FMM_NEAR_KERNELS_PAIRS_H

#include "particles/points.h"

/*
 * Adds what the sources do to the targets, with the softening of particles.h (0: none).  A pair at distance 0 (r^2 below the least normal double) adds
 * nothing, so that sources may be among the targets.  r^2 shall not overflow.  Each term is exact to some units in the last place; a target's terms are added in an order that
 * depends on the sources' order and the instruction set alone.
 */
typedef void fmm_pairs_function(const fmm_sources *sources, const fmm_targets *targets, double softening);

/*
 * Particles that are brought together from several leaves, a vector of them at a time in the lanes.  Arrays begin at multiples of 64 bytes.  Behind
 * `count` they go on to the next multiple of FMM_PACK with charges of 0 at finite places; the sums there are of no meaning.
 */
enum { FMM_PACK = 8 };

/* As fmm_pairs_function for packed sources: no lane is idle where targets are few. */
typedef fmm_pairs_function fmm_packed_function;
/* Adds what packed particles do to others, and what those do to the packed ones.  Gradients: of both or of none. */
typedef void fmm_mutual_function(const fmm_bodies *packed, const fmm_bodies *others, double softening);

typedef struct fmm_pairs_kernel {
    const char *name; /* "x86-64-v3" */
    fmm_pairs_function *add;
    fmm_packed_function *add_packed;
    fmm_mutual_function *add_mutual;
} fmm_pairs_kernel;

enum { FMM_MAX_PAIRS_KERNELS = 3 };

/* The kernels that this processor can run, the fastest last; returns their number, which is at least 1. */
int fmm_pairs_kernels(const fmm_pairs_kernel *list[FMM_MAX_PAIRS_KERNELS]);
const fmm_pairs_kernel *fmm_pairs_select(void);

#endif
