/*
 * coarse/keeper_ranks.h - a last level that all ranks solve together, as it was when its solver was created.  Private to coarse/keeper*.c.
 *
 * A later mesh may be partitioned differently.  Elements and nodes have the same numbers over all ranks then.  Each rank therefore compares
 * its range of them with the data that their present ranks send, and vectors are moved to these ranges and back.
 */
#ifndef FEM_SOLVER_COARSE_KEEPER_RANKS_H
#define FEM_SOLVER_COARSE_KEEPER_RANKS_H

#include "solver/coarse/coarse.h"
#include "space/boundary.h"
#include "space/exchange/runs.h"

/* The data that determine the matrix.  Members are as wide as this so that no bytes are unused. */
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
    coarse_runs_node *nodes;             /* those that this rank owns */
    fem_coarse *coarse;
} coarse_runs;

void coarse_runs_release(yoke_context *context, coarse_runs *runs);

/*
 * If the space is the level of `runs`: *vectors moves a value of each owned node to its solver, and back.  Otherwise `runs` becomes that of
 * the level, without a solver so far, and *vectors NULL.  q1 only.  Collective.  Errors: MEMORY (nothing is kept then).
 */
yoke_status coarse_runs_find(coarse_runs *runs, const fem_space *space, const fem_constraints *constraints, fem_runs **vectors);

#endif
