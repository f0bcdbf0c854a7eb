/*
 * multigrid/couplings.h - finds strongly coupled nodes, and the blocks that they form.
 *
 * Nodes that follow each other along a short direction of an element are coupled more strongly than others, by the square of the ratio of
 * its edges.  A direction counts as short from a ratio of four on.
 */
#ifndef FEM_SOLVER_MULTIGRID_COUPLINGS_H
#define FEM_SOLVER_MULTIGRID_COUPLINGS_H

#include "solver/multigrid/reach.h"

/* Nonzero: an element is stretched by more than nine, a sixth of them by more than six, or half of them by more than 4.5. */
int multigrid_is_stretched(const fem_mesh *mesh);

/* pair: the nodes that follow each other along the short axes of an element, at most MULTIGRID_MOST_PAIRS; returns the number of pairs. */
enum { MULTIGRID_MOST_PAIRS = 3 * 9 * 2 };
int multigrid_element_pairs(const fem_space *space, int32_t element, int32_t pair[MULTIGRID_MOST_PAIRS][2]);

/* The nodes of a reach in blocks; a node without strong couplings is a separate block. */
typedef struct multigrid_partition {
    int32_t num_blocks;
    int32_t *begin;         /* [num_blocks + 1] in node */
    int32_t *node;          /* block by block, in an elimination order with little fill */
    int32_t *block, *place; /* [num_nodes] the node's block, -1: it is another rank's; and its position in the block */
} multigrid_partition;

/*
 * Blocks are the sets of nodes that strong couplings join.  They are cut into bands if they are wide, or if factors of wide blocks would
 * take more than most_bytes.  Each is in the order of Cuthill and McKee.  Errors: MEMORY; the partition can be released in any case.
 */
yoke_status multigrid_partition_create(const multigrid_reach *reach, double most_bytes, multigrid_partition *partition);
void multigrid_partition_release(yoke_context *context, multigrid_partition *partition);

#endif
