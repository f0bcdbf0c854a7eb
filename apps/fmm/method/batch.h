/*
 * batch.h - a batch packs particles of several leaves, which act on the targets of one leaf; private to this folder.
 */
#ifndef FMM_METHOD_BATCH_H
#define FMM_METHOD_BATCH_H

#include "method/parts.h"
#include "near/kernels/pairs.h"
#include "near/kernels/single.h"

enum {
    FMM_BATCH = 1024, /* particles: they stay in the cache while all targets are processed */
    FMM_BATCH_RUNS = 128,
    FMM_BATCH_TARGETS = 256, /* targets of a sum in single precision */
    FMM_BATCH_CLOSE = 1024,  /* maximum number of vectors with close pairs, which are summed one by one */
    FMM_BATCH_LEAST = 1024   /* close pairs are at a distance below the reach of the batch divided by this */
};
_Static_assert(FMM_BATCH % FMM_SINGLE_PACK == 0 && FMM_SINGLE_PACK % FMM_PACK == 0, "packed arrays end at a multiple of both");

/* A batch in single precision: positions are relative to the centre of the targets' leaf, in units of its edge. */
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
    float reach;  /* the largest absolute value of a coordinate of the particles */
    double scale; /* 1 / edge */
} fmm_single_batch;

/* The batch of one thread. */
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
    int runs; /* number of contiguous ranges of particles in the tree's order: */
    int64_t first[FMM_BATCH_RUNS], length[FMM_BATCH_RUNS];
    const fmm_method *m;
    const fmm_pairs_kernel *kernel;
    const fmm_single_kernel *single_kernel;
    int64_t leaf, first_target; /* leaf and first particle of the targets */
    fmm_targets targets;
    const double *charges; /* of the targets */
    bool mutual;           /* targets act on the batch as well */
    fmm_single_batch single;
} fmm_batch;

/* Call this once in each thread. */
void fmm_batch_start(fmm_batch *b);
/* Sets the targets: `count` particles of a leaf, from particle `first` on.  They do not act on the batch until `mutual` is set. */
void fmm_batch_begin(fmm_batch *b, const fmm_method *m, int64_t leaf, int64_t first, int64_t count);
/* Adds the particles of a leaf to the batch.  If the batch is full, fmm_batch_meet is called first. */
void fmm_batch_add(fmm_batch *b, int64_t leaf);
/* Adds the contributions of all particles of the batch to the sums. */
void fmm_batch_meet(fmm_batch *b);

/* Single precision: the first sets the frame of the targets; the second appends `some` particles of a leaf, from `first` on. */
void fmm_single_batch_begin(fmm_batch *b);
void fmm_single_batch_add(fmm_batch *b, int64_t leaf, int64_t first, int64_t some);
/*
 * Adds the contributions of the batch to its targets first ... first + count - 1, at most FMM_BATCH_TARGETS, and with `mutual` those of the
 * targets to the batch.  Returns false if too many pairs are close, or the batch reaches too far; then nothing is added.
 */
bool fmm_single_batch_meet(fmm_batch *b, int64_t first, int64_t count);

/* The number of particles, rounded up to a multiple of FMM_SINGLE_PACK. */
static inline int64_t fmm_batch_padded(const fmm_batch *b) { return (b->count + FMM_SINGLE_PACK - 1) / FMM_SINGLE_PACK * FMM_SINGLE_PACK; }

#endif
