/*
 * batch.h - particles of several leaves that are brought together to act on the targets of one, private to this folder.
 */
#ifndef FMM_METHOD_BATCH_H
#define FMM_METHOD_BATCH_H

#include "method/parts.h"
#include "near/kernels/pairs.h"
#include "near/kernels/single.h"

enum {
    FMM_BATCH = 1024, /* particles: they stay in the cache while all targets go through them */
    FMM_BATCH_RUNS = 128,
    FMM_BATCH_TARGETS = 256, /* of a sum in single precision */
    FMM_BATCH_CLOSE = 1024,  /* vectors with close pairs, which are summed one by one */
    FMM_BATCH_LEAST = 1024   /* close: at a distance below so large a part of what the batch reaches */
};
_Static_assert(FMM_BATCH % FMM_SINGLE_PACK == 0 && FMM_SINGLE_PACK % FMM_PACK == 0, "packed arrays end at a multiple of both");

/* The same in single precision: places from the centre of the targets' leaf, in units of its edge. */
typedef struct fmm_single_batch {
    _Alignas(64) float x[FMM_BATCH + FMM_SINGLE_PACK];
    _Alignas(64) float y[FMM_BATCH + FMM_SINGLE_PACK];
    _Alignas(64) float z[FMM_BATCH + FMM_SINGLE_PACK];
    _Alignas(64) float charge[FMM_BATCH + FMM_SINGLE_PACK];
    _Alignas(64) float potential[FMM_BATCH + FMM_SINGLE_PACK];
    _Alignas(64) float gx[FMM_BATCH + FMM_SINGLE_PACK];
    _Alignas(64) float gy[FMM_BATCH + FMM_SINGLE_PACK];
    _Alignas(64) float gz[FMM_BATCH + FMM_SINGLE_PACK];
    float sum[FMM_BATCH_TARGETS][FMM_SINGLE_WIDTH];
    fmm_close_pairs close[FMM_BATCH_CLOSE];
    float reach;  /* the largest coordinate of the particles */
    double scale; /* 1 / edge */
} fmm_single_batch;

/* A thread's. */
typedef struct fmm_batch {
    _Alignas(64) double x[FMM_BATCH];
    _Alignas(64) double y[FMM_BATCH];
    _Alignas(64) double z[FMM_BATCH];
    _Alignas(64) double charge[FMM_BATCH];
    _Alignas(64) double potential[FMM_BATCH];
    _Alignas(64) double gx[FMM_BATCH];
    _Alignas(64) double gy[FMM_BATCH];
    _Alignas(64) double gz[FMM_BATCH];
    int64_t count;
    int runs; /* of particles that follow one another in the tree's order */
    int64_t first[FMM_BATCH_RUNS], length[FMM_BATCH_RUNS];
    const fmm_method *m;
    const fmm_pairs_kernel *kernel;
    const fmm_single_kernel *single_kernel;
    int64_t leaf, first_target; /* of the targets */
    fmm_targets targets;
    const double *charges; /* theirs */
    bool mutual;           /* targets act on the batch, too */
    fmm_single_batch single;
} fmm_batch;

/* Once in each thread. */
void fmm_batch_start(fmm_batch *b);
/* Targets from now on: `count` of a leaf, from particle `first` on.  They do not act on the batch, until `mutual` is set. */
void fmm_batch_begin(fmm_batch *b, const fmm_method *m, int64_t leaf, int64_t first, int64_t count);
/* Brings the particles of a leaf to the targets, together with those that follow. */
void fmm_batch_add(fmm_batch *b, int64_t leaf);
/* Adds what all that were brought do to the sums. */
void fmm_batch_meet(fmm_batch *b);

/* Of single precision: the frame of the targets; `some` particles of a leaf, from `first` on, behind those that are there. */
void fmm_single_batch_begin(fmm_batch *b);
void fmm_single_batch_add(fmm_batch *b, int64_t leaf, int64_t first, int64_t some);
/*
 * Adds what the batch does to targets first ... first + count - 1 of its own, at most FMM_BATCH_TARGETS, and what they do to it where they do.  Returns false where
 * too many pairs are close, or the batch reaches too far: nothing is added then.
 */
bool fmm_single_batch_meet(fmm_batch *b, int64_t first, int64_t count);

/* Its particles and those up to the next multiple of FMM_SINGLE_PACK. */
static inline int64_t fmm_batch_padded(const fmm_batch *b) { return (b->count + FMM_SINGLE_PACK - 1) / FMM_SINGLE_PACK * FMM_SINGLE_PACK; }

#endif
