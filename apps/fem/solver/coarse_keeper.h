/*
 * coarse_keeper.h - keeps the multigrid's coarse solver from one solve to the next: while a mesh is refined, its last level often stays.
 *
 * The keeper has a copy of all that a level's matrix is made of (elements and their nodes, hanging faces, positions, moduli, prescribed
 * components).  A solver is used again only where every bit of it is equal; the result is then bit for bit that of a solver made anew.
 */
#ifndef FEM_SOLVER_COARSE_KEEPER_H
#define FEM_SOLVER_COARSE_KEEPER_H

#include "solver/coarse.h"
#include "space/boundary.h"

typedef struct fem_coarse_keeper fem_coarse_keeper;

/* Errors: MEMORY. */
yoke_status fem_coarse_keeper_create(yoke_context *context, fem_coarse_keeper **keeper);
void fem_coarse_keeper_destroy(fem_coarse_keeper *keeper); /* NULL allowed */

/* The solver kept for the level, or NULL: another's is kept, or none.  It stays the keeper's, until the next fem_coarse_keeper_start. */
fem_coarse *fem_coarse_keeper_find(const fem_coarse_keeper *keeper, const fem_space *space, const fem_constraints *constraints);
/* Gives up what is kept, before a solver for this level is made, and remembers the level.  Errors: MEMORY (nothing is kept then). */
yoke_status fem_coarse_keeper_start(fem_coarse_keeper *keeper, const fem_space *space, const fem_constraints *constraints);
/* Takes over the solver that has been made for the level of the last start. */
void fem_coarse_keeper_keep(fem_coarse_keeper *keeper, fem_coarse *coarse);

/* Solvers taken over so far. */
int64_t fem_coarse_keeper_made(const fem_coarse_keeper *keeper);

#endif
