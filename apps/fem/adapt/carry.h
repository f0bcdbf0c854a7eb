/*
 * carry.h - the solution of a step on the mesh of the next one, which is distributed over the ranks in another way.
 */
#ifndef FEM_ADAPT_CARRY_H
#define FEM_ADAPT_CARRY_H

#include "space/space.h"

/* A nodal field on the refined mesh, whose new leaves are still on the rank of the old ones.  All NULL: there is none. */
typedef struct fem_carry {
    fem_forest *forest;
    fem_space *space;
    double *value; /* [space->num_nodes][components] */
} fem_carry;

/*
 * Takes u [before->num_nodes][components] over to `forest`, which is refined from that of `before` and not yet distributed anew; it may be afterwards.
 * Collective.  Errors: MEMORY; the carry can be released in any case.
 */
yoke_status fem_carry_take(const fem_space *before, const double *u, const fem_forest *forest, fem_carry *carry);
/* nodal [space->num_nodes][components]: the field on the space of the leaves where they are now.  Collective.  Errors: MEMORY. */
yoke_status fem_carry_give(const fem_carry *carry, const fem_space *space, double *nodal);
void fem_carry_release(fem_carry *carry);

#endif
