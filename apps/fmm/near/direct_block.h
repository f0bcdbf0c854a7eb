/*
 * direct_block.h - sums over all particles.
 */
#ifndef FMM_NEAR_DIRECT_BLOCK_H
#define FMM_NEAR_DIRECT_BLOCK_H

#include "near/stop.h"
#include "particles/field.h"

enum { FMM_BLOCK = 128 }; /* maximum number of particles of a block */

/* Potential and gradient at each particle of a block. */
typedef struct fmm_block {
    double potential[FMM_BLOCK], gx[FMM_BLOCK], gy[FMM_BLOCK], gz[FMM_BLOCK];
} fmm_block;

/*
 * Computes the sums over all particles at particles first ... first + count - 1, on one thread.  gradient 0: only potentials are computed,
 * and the rest of the block is not set.
 */
void fmm_direct_block(const fmm_particles *particles, int64_t first, int64_t count, int gradient, fmm_block *block);
/* Computes the sums over all particles at the particles begin ... end - 1, block by block on all threads. */
void fmm_direct_range(const fmm_particles *particles, int64_t begin, int64_t end, fmm_field *field);
/* Computes the sums over all particles at the positions of `at`, of which there may be few: threads divide the particles.  The result is
 * the same for any number of threads.  stop: asked after each 1024 positions; NULL: never.  Errors: MEMORY, that of `stop`. */
yoke_status fmm_direct_at(const fmm_particles *particles, const fmm_particles *at, const fmm_stop *stop, fmm_field *field);

#endif
