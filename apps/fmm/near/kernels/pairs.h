/*
 * pairs.h - sums over pairs of particles, compiled for each instruction set.
 */
#ifndef FMM_NEAR_KERNELS_PAIRS_H
#define FMM_NEAR_KERNELS_PAIRS_H

#include "particles/points.h"

/*
 * Adds the sources' contributions to the sums of the targets, with the softening of particles.h (0: none).  A pair at distance 0 (r^2 below
 * the smallest normal double) adds nothing, so sources may be among the targets.  r^2 must not overflow.  Each term is exact to some units
 * in the last place.  The order in which a target's terms are added depends only on the sources' order and the instruction set.
 */
typedef void fmm_pairs_function(const fmm_sources *sources, const fmm_targets *targets, double softening);

/*
 * Packed particles: particles of several leaves, which are processed a vector at a time, one particle in each lane.  Arrays are aligned to
 * 64 bytes.  After `count` they are padded to the next multiple of FMM_PACK with charges of 0 at finite positions; the sums there have no
 * meaning.
 */
enum { FMM_PACK = 8 };

/* As fmm_pairs_function for packed sources: no lane is idle if there are few targets. */
typedef fmm_pairs_function fmm_packed_function;
/* Adds the contributions of packed particles to the sums of others, and vice versa.  Either both have gradients or neither has. */
typedef void fmm_mutual_function(const fmm_bodies *packed, const fmm_bodies *others, double softening);

typedef struct fmm_pairs_kernel {
    const char *name; /* "x86-64-v3" */
    fmm_pairs_function *add;
    fmm_packed_function *add_packed;
    fmm_mutual_function *add_mutual;
} fmm_pairs_kernel;

enum { FMM_MAX_PAIRS_KERNELS = 3 };

/* Lists the kernels that this processor can run, the fastest last; returns their number, which is at least 1. */
int fmm_pairs_kernels(const fmm_pairs_kernel *list[FMM_MAX_PAIRS_KERNELS]);
/* The fastest kernel that this processor can run. */
const fmm_pairs_kernel *fmm_pairs_select(void);

#endif
