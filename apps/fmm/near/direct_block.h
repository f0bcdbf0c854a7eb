/*
 * direct_block.h - the sums over all particles at a few positions.
 */
#ifndef FMM_NEAR_DIRECT_BLOCK_H
#define FMM_NEAR_DIRECT_BLOCK_H

#include "particles/field.h"

enum {
    FMM_BLOCK = 128,    /* maximum number of particles of a block */
    FMM_FEW_PLACES = 16 /* number of positions that a thread processes at a time if there are few in all */
};

/* Potential and gradient at each particle of a block. */
typedef struct fmm_block {
    double potential[FMM_BLOCK], gx[FMM_BLOCK], gy[FMM_BLOCK], gz[FMM_BLOCK];
} fmm_block;

/*
 * Computes the sums over all particles at particles first ... first + count - 1 of `at`, which may be the same particles, on one thread.
 * gradient 0: only potentials are computed, and the rest of the block is not set.
 */
void fmm_direct_block(const fmm_particles *particles, const fmm_particles *at, int64_t first, int64_t count, int gradient,
                      fmm_block *block);
/* Computes the sums over all particles at the positions begin ... end - 1 of `at`, on all threads.  together: number of positions that a
 * thread processes at a time, at most FMM_BLOCK. */
void fmm_direct_at(const fmm_particles *particles, const fmm_particles *at, int64_t begin, int64_t end, int64_t together, fmm_field *field);

#endif
