/*
 * single.h - sums over pairs of particles of near leaves in single precision, compiled for each instruction set.
 *
 * Positions are relative to a leaf's centre, in units of its edge, so that their rounding errors are small relative to most distances.
 * Pairs that are too close for this are left to the caller.  docs/methods/fmm-order.md has the errors.
 */
#ifndef FMM_NEAR_KERNELS_SINGLE_H
#define FMM_NEAR_KERNELS_SINGLE_H

#include "near/kernels/pairs.h"

enum {
    FMM_SINGLE_PACK = 16,
    FMM_NONE_OWN = INT32_MIN,
    FMM_SINGLE_WIDTH = 4 /* sums of a target: potential and gradient */
};

/*
 * Packed particles of several leaves.  Arrays are aligned to 64 bytes.  After `count` they are padded to the next multiple of
 * FMM_SINGLE_PACK with charges of 0 at positions that are far from all others.
 */
typedef struct fmm_single_packed {
    int64_t count;
    const float *x, *y, *z, *charge;
    float *potential, *gx, *gy, *gz; /* with add_both: the sums over the targets, overwritten; NULL: not wanted */
} fmm_single_packed;

typedef struct fmm_single_targets {
    int64_t count;
    const float *x, *y, *z, *charge;
    float (*sum)[FMM_SINGLE_WIDTH]; /* [count] potential and gradient by the packed particles, overwritten */
} fmm_single_targets;

/* A target, and those of FMM_SINGLE_PACK packed particles from number `packed` on (a multiple of FMM_SINGLE_PACK) that are too close to it:
 * bits of `which`. */
typedef struct fmm_close_pairs {
    int32_t target, packed;
    uint32_t which;
} fmm_close_pairs;

typedef struct fmm_single_limits {
    float square; /* square of the distance below which pairs are close: they add nothing, and are reported */
    /* Number of the first target among the packed particles; pairs of a target with itself are not reported.  FMM_NONE_OWN: no target is
     * among them. */
    int64_t own;
    int64_t close; /* maximum number of reported entries */
} fmm_single_limits;

/* Returns the number of reported close pairs, or -1 if there are more than the limit; the sums are then invalid.  gradient: zero:
 * potentials only. */
typedef int64_t fmm_single_function(const fmm_single_packed *packed, const fmm_single_targets *targets, int gradient,
                                    const fmm_single_limits *limits, fmm_close_pairs *close);

/* Rounds a coordinate or charge: to[i] = (from[i] - centre) * scale, i < count. */
typedef void fmm_single_round_function(int64_t count, const double *from, double centre, double scale, float *to);

/* to[i] = from[i] * scale + offset, i < count.  Up to FMM_SINGLE_PACK - 1 further values are read and written. */
typedef void fmm_single_take_function(int64_t count, const float *from, float scale, float offset, float *to);

/* to[i] += from[i] * scale, i < count.  Up to FMM_SINGLE_PACK - 1 further values of `from` are read. */
typedef void fmm_single_give_function(int64_t count, const float *from, double scale, double *to);

typedef struct fmm_single_kernel {
    const char *name;              /* "x86-64-v3" */
    fmm_single_function *add;      /* packed particles act on targets */
    fmm_single_function *add_both; /* the same, and targets act on packed particles; no target is among these */
    fmm_single_round_function *round;
    fmm_single_take_function *take;
    fmm_single_give_function *give;
} fmm_single_kernel;

/* As fmm_pairs_kernels and fmm_pairs_select (pairs.h). */
int fmm_single_kernels(const fmm_single_kernel *list[FMM_MAX_PAIRS_KERNELS]);
const fmm_single_kernel *fmm_single_select(void);

#endif
