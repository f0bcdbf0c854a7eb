/*
 * carry.h - transfers the solution of a step to the mesh of the next one, whose elements may be on other ranks.
 */
#ifndef FEM_ADAPT_CARRY_H
#define FEM_ADAPT_CARRY_H

#include "space/space.h"

/* A field at the slots of the leaves of a refined forest, which are still on the ranks of the old ones.  All zero: there is none. */
typedef struct fem_carry {
    yoke_context *context; /* borrowed */
    int64_t *first;        /* [ranks + 1] number of the first leaf of each rank, among the leaves of all ranks */
    double *value;         /* [leaves][slots][components] */
} fem_carry;

/*
 * Transfers u [before->num_nodes][components] to the leaves of `forest`, which is the refined forest of `before` and not yet redistributed;
 * it may be redistributed afterwards.  Collective; several ranks only.  Errors: MEMORY, ARGUMENT (a leaf is in no element of `before`); the
 * carry can be released in any case.
 */
yoke_status fem_carry_take(const fem_space *before, const double *u, const fem_forest *forest, fem_carry *carry);
/*
 * nodal [space->num_nodes][components]: the field on the space of the leaves after redistribution.  Each rank sends values of leaves to the
 * ranks that have them now.  Collective.  Errors: MEMORY.
 */
yoke_status fem_carry_give(const fem_carry *carry, const fem_space *space, double *nodal);
void fem_carry_release(fem_carry *carry);

#endif
