/*
 * single.h - sums over pairs of particles of near leaves in single precision, compiled for each instruction set.
 *
 * Places are in units of a leaf's edge, from its centre, so that their rounding errors are small beside most distances.  Pairs that are too close for that are
 * left to the caller.  methods/fast-multipole.md has the errors.
 */
#ifndef FMM_NEAR_KERNELS_SINGLE_H
#define FMM_NEAR_KERNELS_SINGLE_H

#include "near/kernels/pairs.h"

enum {
    FMM_SINGLE_PACK = 16,
    FMM_NONE_OWN = INT32_MIN,
    FMM_SINGLE_WIDTH = 4 /* of sums: potential and gradient */
};

/*
 * Particles of several leaves, packed.  Arrays begin at multiples of 64 bytes.  Behind `count` they go on to the next multiple of FMM_SINGLE_PACK with
 * charges of 0 at places that are far from all others.
 */
typedef struct fmm_single_packed {
    int64_t count;
    const float *x, *y, *z, *charge;
    float *potential, *gx, *gy, *gz; /* of a meeting in both directions: what the targets do to them, overwritten; NULL: not wanted */
} fmm_single_packed;

typedef struct fmm_single_targets {
    int64_t count;
    const float *x, *y, *z, *charge;
    float (*sum)[FMM_SINGLE_WIDTH]; /* [count] potential and gradient that the packed particles make, overwritten */
} fmm_single_targets;

/* A target, and some of FMM_SINGLE_PACK packed particles from `packed` on (a multiple of it), a bit each, that are too close to it. */
typedef struct fmm_close_pairs {
    int32_t target, packed;
    uint32_t which;
} fmm_close_pairs;

typedef struct fmm_single_limits {
    float square; /* of the distance below which pairs are close: they add nothing, and are told */
    int64_t
        own; /* number among the packed particles of the first target: those of each target with itself are not told; FMM_NONE_OWN: none is among them */
    int64_t close; /* so many are told at most */
} fmm_single_limits;

/* Returns the number of close pairs told, or -1: there are more than the limit, and the sums are of no use.  gradient: zero: potentials alone. */
typedef int64_t fmm_single_function(const fmm_single_packed *packed, const fmm_single_targets *targets, int gradient,
                                    const fmm_single_limits *limits, fmm_close_pairs *close);

/* Of some coordinate or charge: to[i] = (from[i] - centre) * scale, i < count. */
typedef void fmm_single_round_function(int64_t count, const double *from, double centre, double scale, float *to);

/* to[i] = from[i] * scale + offset, i < count.  Both are read and written up to FMM_SINGLE_PACK - 1 behind that. */
typedef void fmm_single_take_function(int64_t count, const float *from, float scale, float offset, float *to);

/* to[i] += from[i] * scale, i < count; from is read up to FMM_SINGLE_PACK - 1 behind that. */
typedef void fmm_single_give_function(int64_t count, const float *from, double scale, double *to);

typedef struct fmm_single_kernel {
    const char *name;              /* "x86-64-v3" */
    fmm_single_function *add;      /* packed particles act on targets */
    fmm_single_function *add_both; /* the same, and targets on them; no target is among them */
    fmm_single_round_function *round;
    fmm_single_take_function *take;
    fmm_single_give_function *give;
} fmm_single_kernel;

/* As fmm_pairs_kernels and fmm_pairs_select (pairs.h). */
int fmm_single_kernels(const fmm_single_kernel *list[FMM_MAX_PAIRS_KERNELS]);
const fmm_single_kernel *fmm_single_select(void);

#endif
