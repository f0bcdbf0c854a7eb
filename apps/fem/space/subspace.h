/*
 * subspace.h - a contiguous range of a space's elements as a separate space, with local node numbers.
 */
#ifndef FEM_SPACE_SUBSPACE_H
#define FEM_SPACE_SUBSPACE_H

#include "space/boundary.h"

typedef struct fem_subspace {
    yoke_context *context;        /* borrowed */
    fem_space *space;             /* the data that operators need: elements, nodes, positions, levels, trees; forest and home_* are NULL */
    fem_constraints *constraints; /* `prescribed` and `value` at the local nodes; owner is NULL */
    int32_t num_touched;          /* nodes that the elements touch come first, in the order in which they do; then the additional ones */
    int32_t *global_node;         /* [num_nodes] the node's number in the whole space */
} fem_subspace;

/*
 * Creates the subspace of elements begin .. end - 1 of `space` (may be none) and the nodes more[num_more] (any order; repeated and touched
 * ones are allowed).
 * Errors: MEMORY.
 */
yoke_status fem_subspace_create(const fem_space *space, const fem_constraints *constraints, int32_t begin, int32_t end, int64_t num_more,
                                const int32_t *more, fem_subspace **subspace);
void fem_subspace_destroy(fem_subspace *subspace); /* NULL allowed */

#endif
