/*
 * choice.h - chooses the preconditioner of a step if the case does not ("auto"): multigrid, unless a Cholesky factor of the whole matrix is
 * cheaper.
 *
 * The costs are counts, in operations of a factorisation: for the factor those that its analysis finds, and for its set-up a number for
 * each dof; for multigrid a number for each iteration.  No clock and no device influences them.  The choice, and with it the results, are
 * the same on every machine, except for the memory that the factor needs.
 *
 *   multigrid  S d + s + m (I d + i)     d dofs, m iterations; if elements are stretched a sum over the levels (fem_multigrid_get_work)
 *   direct     F + D d                   F operations of the factor
 *
 * A factor is used at once only if it is cheaper than multigrid's usual iterations (small bodies).  Otherwise multigrid begins, and while
 * it iterates the cost of its remaining iterations is compared with the factor (fem_solver_watch).  If multigrid was given up, the next
 * steps begin with the factor, as long as it is expected to be cheaper than the iterations that multigrid would have needed.
 */
#ifndef FEM_SOLVER_CHOICE_H
#define FEM_SOLVER_CHOICE_H

#include "case/case.h"
#include "solver/solve.h"

/* Longest reason, with its end. */
#define FEM_SOLVER_REASON FEM_SOLUTION_REASON

typedef struct fem_solver_choice {
    fem_preconditioner asked;
    int steady; /* nonzero: "auto" begins with multigrid in every step: for plans, which depend on the steps before */
    /* of the present step */
    fem_solver solver;
    double multigrid_operations, direct_operations; /* the compared costs; NaN: nothing was compared */
    char reason[FEM_SOLVER_REASON];                 /* "" if there was no choice */
    /* of the latest step in which multigrid was given up, or failed, and of the factor after it; slow_iterations 0: there was none */
    double slow_iterations, factor_operations, factor_dofs;
    fem_multigrid_work slow_work; /* of that multigrid, per dof; 0: it was not set up */
} fem_solver_choice;

/* Decides for the next step, identically on all ranks.  Collective.  Errors: MEMORY. */
yoke_status fem_solver_choose(fem_solver_choice *choice, const fem_space *space, const fem_constraints *constraints);
/* Records the cost of the step. */
void fem_solver_learn(fem_solver_choice *choice, const fem_space *space, const fem_solution *solution);

extern const char *const fem_solver_name[3]; /* by fem_solver */

#endif
