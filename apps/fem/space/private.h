/* private.h - functions that the files of a space share: space.c, number.c, slots.c and space_ranks.c. */
#ifndef FEM_SPACE_PRIVATE_H
#define FEM_SPACE_PRIVATE_H

#include "space/space.h"

/*
 * Fills face_code, element_nodes and num_nodes of a space whose leaves are known: nodes are numbered in the order in which the elements
 * touch them.  On several ranks it also creates the halo (collective).  Errors: MEMORY.
 */
yoke_status space_number(fem_space *space);

/*
 * Once halo and homes exist: determines numbers over all ranks, and the ranks on which nodes count.  Collective, with the present status.
 * Errors: MEMORY.
 */
yoke_status space_number_globally(fem_space *space, yoke_status status);
/* Completes positions of nodes that have no home on this rank.  Collective.  Errors: MEMORY. */
yoke_status space_complete_positions(fem_space *space);
/*
 * On several ranks: *edges, the number of different edges in `ends` (local nodes), becomes the number over all ranks, where each counts
 * once; *faces becomes the sum over the ranks.
 * Errors: MEMORY.
 */
yoke_status space_count_globally(fem_space *space, const int32_t (*ends)[2], int64_t *edges, int64_t *faces);

/*
 * For an element with a face code: owner [slots], the number of the hanging face or edge on which a slot's value is interpolated; -1: the
 * slot does not hang.
 */
void space_hanging_slots(const fem_space *space, int32_t e, int8_t owner[27]);

#endif
