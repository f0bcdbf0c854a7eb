/*
 * reaction.h - the reactions of the supports: force and moment per Dirichlet group.
 *
 * The residual A u - load of the unconstrained equations, at the prescribed degrees of freedom, is the force of the support on the body (N;
 * Poisson: the flow into the body).  Every space contains the rigid motions, so the sums of reactions and loads, forces and moments, are
 * zero up to the solver's residual.
 */
#ifndef FEM_OUTPUT_QUANTITIES_REACTION_H
#define FEM_OUTPUT_QUANTITIES_REACTION_H

#include "space/boundary.h"

typedef struct fem_reaction {
    int group;           /* index into mesh->groups */
    double force_n[3];   /* Poisson: force_n[0] is the flow, the others 0 */
    double moment_nm[3]; /* about the origin, at the undeformed positions; Poisson: 0 */
} fem_reaction;

/*
 * Computes one reaction for each group that has a Dirichlet condition, in the order of the conditions; conditions on the same group are
 * summed.  A degree of freedom that several groups prescribe counts for its owner.  residual [num_nodes][components].  Release reactions
 * with yoke_release.  Collective: they are those of all ranks.  Errors: MEMORY.
 */
yoke_status fem_reactions_create(const fem_space *space, const fem_constraints *constraints, const double *residual, int *count,
                                 fem_reaction **reactions);

/*
 * Force and moment (about the origin) of nodal forces [num_nodes][components], such as the load; Poisson: as in fem_reaction.  Collective:
 * over all ranks.
 */
void fem_resultant(const fem_space *space, const double *nodal, double force_n[3], double moment_nm[3]);

#endif
