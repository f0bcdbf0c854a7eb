/*
 * multigrid/blocks.h - blocks of strongly coupled nodes, for the smoother on stretched elements.
 *
 * If an element is much longer in one direction than in another, nodes couple strongly along its short directions.  A smoother that solves
 * for each node separately does not reduce errors that vary along the long ones.  Here nodes that are joined along short directions form
 * one block: a line through a plate or a boundary layer, a cross-section of needles.  B is the inverse of the blocks of the assembled
 * matrix, symmetric and positive definite; where nothing is stretched it is the inverse of each node block.  On several ranks a block that
 * they share is solved by one of them (multigrid/reach.h).
 *
 * Factors are stored in single precision.  Blocks of equal structure are solved several at a time, in the lanes of vectors.
 */
#ifndef FEM_SOLVER_MULTIGRID_BLOCKS_H
#define FEM_SOLVER_MULTIGRID_BLOCKS_H

#include "space/boundary.h"

typedef struct multigrid_blocks multigrid_blocks;

/*
 * Collective on several ranks, like solve.
 * Errors: MEMORY, INPUT (an element whose map folds), NUMERIC (a block is not positive definite).
 */
yoke_status multigrid_blocks_create(const fem_space *space, const fem_constraints *constraints, multigrid_blocks **blocks);
void multigrid_blocks_destroy(multigrid_blocks *blocks); /* NULL allowed */

/*
 * z = c B r, both [dofs of the space], which may be the same array; 0 at prescribed dofs, where r is not read.  Gives the same bits with
 * any number of threads.  It must not be called from two threads at once.  On several ranks r has the same bits on all ranks that have a
 * node, and so has z.
 */
void multigrid_blocks_solve(const multigrid_blocks *blocks, double c, const double *r, double *z);

/* Entries of all factors of this rank, and the floating-point operations to compute them. */
void multigrid_blocks_size(const multigrid_blocks *blocks, double *entries, double *operations);

int64_t multigrid_blocks_memory_bytes(const multigrid_blocks *blocks);
/* Adds the messages and bytes that this rank has sent to others in solves. */
void multigrid_blocks_add_sent(const multigrid_blocks *blocks, int64_t *messages, int64_t *bytes);

#endif
