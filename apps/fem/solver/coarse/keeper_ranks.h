/*
 * coarse/keeper_ranks.h - a last level that all ranks solve together, as it was when its solver was made.  Private to coarse/keeper*.c.
 *
 * A later mesh may be cut elsewhere.  Elements and nodes have the same numbers over all ranks then, so each rank compares its run of them with what the ranks
 * that have them now send; and vectors go to these runs and back.
 */
#ifndef FEM_SOLVER_COARSE_KEEPER_RANKS_H
#define FEM_SOLVER_COARSE_KEEPER_RANKS_H

#include "solver/coarse/coarse.h"
#include "space/boundary.h"
#include "space/exchange/runs.h"

/* What the matrix is made of; as wide as they are so that no bytes are unused. */
typedef struct coarse_runs_element {
    int64_t node[8], face_code;
    double moduli[2]; /* lambda and mu */
} coarse_runs_element;

typedef struct coarse_runs_node {
    double x[3];
    int64_t prescribed;
} coarse_runs_node;

/* All zero: nothing is kept. */
typedef struct coarse_runs {
    int components;
    int64_t *first_element, *first_node; /* lists of runs (runs.h) */
    coarse_runs_element *elements;       /* of this rank */
    coarse_runs_node *nodes;             /* that this rank owns */
    fem_coarse *coarse;
} coarse_runs;

void coarse_runs_release(yoke_context *context, coarse_runs *runs);

/*
 * Where it is the level of `runs`: *vectors moves a value of each owned node to its solver, and back.  Else `runs` becomes that of the level, without a solver yet,
 * and *vectors NULL.  q1 only.  Collective.  Errors: MEMORY (nothing is kept then).
 */
yoke_status coarse_runs_find(coarse_runs *runs, const fem_space *space, const fem_constraints *constraints, fem_runs **vectors);

#endif
