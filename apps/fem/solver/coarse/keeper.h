/*
 * coarse/keeper.h - keeps the multigrid's coarse solver from one solve to the next: while a mesh is refined, its last level often stays.
 *
 * The keeper has a copy of all that a level's matrix is made of (elements and their nodes, hanging faces, positions, moduli, prescribed
 * components).  A solver is used again only where every bit of it is equal; the result is then bit for bit that of a solver made anew.
 * Where elements are stretched the last level is factored as a whole (direct/direct.h), and a level before it may be too dear for that: what its
 * factor would take is kept too, since the analysis that finds it takes as long as a solve.
 */
#ifndef FEM_SOLVER_COARSE_KEEPER_H
#define FEM_SOLVER_COARSE_KEEPER_H

#include "solver/coarse/coarse.h"
#include "solver/direct/direct.h"
#include "space/boundary.h"
#include "space/exchange/runs.h"

typedef struct fem_coarse_keeper fem_coarse_keeper;

/* Errors: MEMORY. */
yoke_status fem_coarse_keeper_create(yoke_context *context, fem_coarse_keeper **keeper);
void fem_coarse_keeper_destroy(fem_coarse_keeper *keeper); /* NULL allowed; collective */

/* The solver kept for the level, or NULL: another's is kept, or none.  It stays the keeper's, until the next fem_coarse_keeper_start. */
fem_coarse *fem_coarse_keeper_find(const fem_coarse_keeper *keeper, const fem_space *space, const fem_constraints *constraints);
/* Likewise, of a level that was factored as a whole. */
fem_direct *fem_coarse_keeper_find_direct(const fem_coarse_keeper *keeper, const fem_space *space, const fem_constraints *constraints);
/* Gives up what is kept, before a solver for this level is made, and remembers the level.  Errors: MEMORY (nothing is kept then). */
yoke_status fem_coarse_keeper_start(fem_coarse_keeper *keeper, const fem_space *space, const fem_constraints *constraints);
/* Takes over the solver that has been made for the level of the last start. */
void fem_coarse_keeper_keep(fem_coarse_keeper *keeper, fem_coarse *coarse);
void fem_coarse_keeper_keep_direct(fem_coarse_keeper *keeper, fem_direct *direct);

/*
 * The solver of a level that all ranks solve together.  *coarse NULL: none is kept for it; the level is remembered, and its solver taken over by fem_coarse_keeper_keep_on_ranks.
 * The one kept may have been made where ranks had other nodes: *vectors moves values of owned nodes to it, and back.  It is the caller's; the solver stays the keeper's,
 * until the next of these calls.  Collective.  Errors: MEMORY (nothing is kept then).
 */
yoke_status fem_coarse_keeper_find_on_ranks(fem_coarse_keeper *keeper, const fem_space *space, const fem_constraints *constraints,
                                            fem_coarse **coarse, fem_runs **vectors);
void fem_coarse_keeper_keep_on_ranks(fem_coarse_keeper *keeper, fem_coarse *coarse);
/* Gives that solver up.  Collective. */
void fem_coarse_keeper_forget_on_ranks(fem_coarse_keeper *keeper);

/*
 * Remembers that the level's factor would take so many operations, unless a smaller level is remembered: coarse ones stay longer.
 * Errors: MEMORY (none is remembered then).
 */
yoke_status fem_coarse_keeper_refuse(fem_coarse_keeper *keeper, const fem_space *space, const fem_constraints *constraints,
                                     double operations);
/* The operations, if this is the level that is remembered; else NaN. */
double fem_coarse_keeper_operations(const fem_coarse_keeper *keeper, const fem_space *space, const fem_constraints *constraints);

/* Solvers taken over so far.  Only tests call it: no result shows whether a solver was kept. */
int64_t fem_coarse_keeper_made(const fem_coarse_keeper *keeper);

#endif
