/* private.h - what the files share that make a space: space.c, number.c, slots.c and space_ranks.c. */
#ifndef FEM_SPACE_PRIVATE_H
#define FEM_SPACE_PRIVATE_H

#include "space/space.h"

/*
 * Fills face_code, element_nodes and num_nodes of a space whose leaves are known: nodes are numbered in the order in which the elements
 * touch them.  On several ranks the halo too (collective).  Errors: MEMORY.
 */
yoke_status space_number(fem_space *space);

/*
 * Once the halo and homes are there: numbers over all ranks, and where which node counts.  Collective, with the status so far.
 * Errors: MEMORY.
 */
yoke_status space_number_globally(fem_space *space, yoke_status status);
/* Positions of nodes that have no home on this rank.  Collective.  Errors: MEMORY. */
yoke_status space_complete_positions(fem_space *space);
/*
 * On several ranks: *edges, how many different edges `ends` (local nodes) has, becomes the number over all ranks, where each counts once, *faces the sum over them.
 * Errors: MEMORY.
 */
yoke_status space_count_globally(fem_space *space, const int32_t (*ends)[2], int64_t *edges, int64_t *faces);

/* Of an element with a face code: owner [slots], the number of the hanging face or edge that a slot's value is interpolated on; -1: it does not hang. */
void space_hanging_slots(const fem_space *space, int32_t e, int8_t owner[27]);

#endif
