/*
 * coarse/keeper.h - keeps the multigrid's coarse solver from one solve to the next: while a mesh is refined, its last level often does not
 * change.
 *
 * The keeper has a copy of all data that determine a level's matrix (elements and their nodes, hanging faces, positions, moduli, prescribed
 * components).  A solver is used again only if every bit of them is equal; the result is then bitwise identical to that of a new solver.
 * If elements are stretched the last level is factored as a whole (direct/direct.h), and a level before it may be too expensive for that.
 * The cost of its factor is kept too, because the analysis that finds it takes as long as a solve.
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

/*
 * The solver kept for the level; NULL: that of another level is kept, or none.
 * The keeper owns it until the next fem_coarse_keeper_start.
 */
fem_coarse *fem_coarse_keeper_find(const fem_coarse_keeper *keeper, const fem_space *space, const fem_constraints *constraints);
/* The same for a level that was factored as a whole. */
fem_direct *fem_coarse_keeper_find_direct(const fem_coarse_keeper *keeper, const fem_space *space, const fem_constraints *constraints);
/* Releases the kept solver, before a solver for this level is created, and records the level.  Errors: MEMORY (nothing is kept then). */
yoke_status fem_coarse_keeper_start(fem_coarse_keeper *keeper, const fem_space *space, const fem_constraints *constraints);
/* Takes ownership of the solver that has been created for the level of the last start. */
void fem_coarse_keeper_keep(fem_coarse_keeper *keeper, fem_coarse *coarse);
void fem_coarse_keeper_keep_direct(fem_coarse_keeper *keeper, fem_direct *direct);

/*
 * Finds the solver of a level that all ranks solve together.  *coarse NULL: none is kept for it; the level is recorded, and
 * fem_coarse_keeper_keep_on_ranks takes ownership of its solver.  The kept solver may have been created when ranks had other nodes:
 * *vectors moves values of owned nodes to it, and back.  *vectors belongs to the caller; the keeper owns the solver until the next of these
 * calls.  Collective.  Errors: MEMORY (nothing is kept then).
 */
yoke_status fem_coarse_keeper_find_on_ranks(fem_coarse_keeper *keeper, const fem_space *space, const fem_constraints *constraints,
                                            fem_coarse **coarse, fem_runs **vectors);
void fem_coarse_keeper_keep_on_ranks(fem_coarse_keeper *keeper, fem_coarse *coarse);
/* Releases that solver.  Collective. */
void fem_coarse_keeper_forget_on_ranks(fem_coarse_keeper *keeper);

/*
 * Records that the level's factor would take this number of operations, unless a smaller level is recorded: coarse levels change less
 * often.
 * Errors: MEMORY (none is recorded then).
 */
yoke_status fem_coarse_keeper_refuse(fem_coarse_keeper *keeper, const fem_space *space, const fem_constraints *constraints,
                                     double operations);
/* The operations, if this is the recorded level; otherwise NaN. */
double fem_coarse_keeper_operations(const fem_coarse_keeper *keeper, const fem_space *space, const fem_constraints *constraints);

/* Number of solvers taken over so far.  Only tests call it: no result shows whether a solver was kept. */
int64_t fem_coarse_keeper_made(const fem_coarse_keeper *keeper);

#endif
