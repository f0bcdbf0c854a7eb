/* parts.h - shared by space.c and number.c. */
#ifndef FEM_SPACE_PARTS_H
#define FEM_SPACE_PARTS_H

#include "space/space.h"

/* How many of the three coordinates of a slot of a 27-node element are in the middle: 0 corner, 1 edge, 2 face, 3 volume. */
static inline int space_middles(int slot) { return (slot % 3 == 1) + (slot / 3 % 3 == 1) + (slot / 9 == 1); }

/*
 * Fills face_code, element_nodes and num_nodes of a space whose leaves are known: nodes are numbered in the order in which the elements
 * touch them.  Errors: MEMORY.
 */
yoke_status space_number(fem_space *space);

#endif
