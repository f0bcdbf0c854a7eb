/*
 * carry.h - the solution of a step on the mesh of the next one, which is distributed over the ranks in another way.
 */
#ifndef FEM_ADAPT_CARRY_H
#define FEM_ADAPT_CARRY_H

#include "space/space.h"

/* A field at the slots of the leaves of a refined forest, which are still on the rank of the old ones.  All zero: there is none. */
typedef struct fem_carry {
    yoke_context *context; /* borrowed */
    int64_t *first;        /* [ranks + 1] the first leaf of each rank, of all ranks' leaves */
    double *value;         /* [leaves][slots][components] */
} fem_carry;

/*
 * Takes u [before->num_nodes][components] over to the leaves of `forest`, which is refined from that of `before` and not yet distributed anew; it may be afterwards.
 * Collective; several ranks only.  Errors: MEMORY, ARGUMENT (a leaf lies in no element of `before`); the carry can be released in any case.
 */
yoke_status fem_carry_take(const fem_space *before, const double *u, const fem_forest *forest, fem_carry *carry);
/*
 * nodal [space->num_nodes][components]: the field on the space of the leaves where they are now.  Each rank sends values of leaves to those who have them now.
 * Collective.  Errors: MEMORY.
 */
yoke_status fem_carry_give(const fem_carry *carry, const fem_space *space, double *nodal);
void fem_carry_release(fem_carry *carry);

#endif
