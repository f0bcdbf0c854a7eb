/*
 * choice.h - which preconditioner a step is solved with where the case leaves it open ("auto"): multigrid, unless a Cholesky factor
 * of the whole matrix is cheaper.
 *
 * What is compared are counts, in operations of a factorisation: of the factor those that its analysis finds, and for its set-up as many as
 * go with each dof; of multigrid as many as go with an iteration.  No clock is looked at and no device: the choice, and with it the results,
 * are the same on every machine, but for the memory that the factor needs.
 *
 *   multigrid  S d + s + m (I d + i)     d dofs, m iterations; where elements are stretched a sum over the levels (fem_multigrid_get_work)
 *   direct     F + D d                   F operations of the factor
 *
 * A factor is taken before anything is tried only where it is cheaper than multigrid's usual iterations (small bodies).  Else multigrid begins, and while
 * it iterates what is still to come is compared with the factor (fem_solver_watch).  Where multigrid was given up, the next steps begin with
 * the factor, as long as it is expected to be cheaper than the iterations that multigrid would have needed.
 */
#ifndef FEM_SOLVER_CHOICE_H
#define FEM_SOLVER_CHOICE_H

#include "case/case.h"
#include "solver/solve.h"

/* Longest reason, with its end. */
#define FEM_SOLVER_REASON FEM_SOLUTION_REASON

typedef struct fem_solver_choice {
    fem_preconditioner asked;
    int steady; /* nonzero: "auto" begins with multigrid in every step: for plans, which build on the steps before */
    /* of the present step */
    fem_solver solver;
    double multigrid_operations, direct_operations; /* that were compared; NaN: nothing was */
    char reason[FEM_SOLVER_REASON];                 /* "" where nothing was to choose */
    /* of the latest step in which multigrid was given up, or failed, and the factor after it; slow_iterations 0: there was none */
    double slow_iterations, factor_operations, factor_dofs;
    fem_multigrid_work slow_work; /* of that multigrid, for each dof; 0: it was not set up */
} fem_solver_choice;

/* Decides for the next step, on all ranks the same.  Collective.  Errors: MEMORY. */
yoke_status fem_solver_choose(fem_solver_choice *choice, const fem_space *space, const fem_constraints *constraints);
/* What the step took. */
void fem_solver_learn(fem_solver_choice *choice, const fem_space *space, const fem_solution *solution);

extern const char *const fem_solver_name[3]; /* by fem_solver */

#endif
