/*
 * direct_block.h - the sums over all particles at a few places, on one thread.
 */
#ifndef FMM_NEAR_DIRECT_BLOCK_H
#define FMM_NEAR_DIRECT_BLOCK_H

#include "particles/particles.h"

enum { FMM_BLOCK = 128 }; /* particles of a block, at most */

/* Potential and gradient at each. */
typedef struct fmm_block {
    double potential[FMM_BLOCK], gx[FMM_BLOCK], gy[FMM_BLOCK], gz[FMM_BLOCK];
} fmm_block;

/*
 * The sums over all particles at particles first ... first + count - 1 of `at`, which may be the same; gradient 0: potentials only, and the rest of the
 * block is not set.
 */
void fmm_direct_block(const fmm_particles *particles, const fmm_particles *at, int64_t first, int64_t count, int gradient,
                      fmm_block *block);

#endif
