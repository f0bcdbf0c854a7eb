/*
 * solver_choice.h - which preconditioner a step is solved with where the case leaves it open ("auto"): the one foretold to take less time.
 *
 * The model counts seconds of set-up and solve on the machine of docs/performance.md (two cores, matrix-free products).  It looks at nothing
 * but the problem, the mesh and the iterations so far: the choice, and with it iterations and results, are the same whatever devices,
 * threads and operator there are, and in every repetition.  Only the ratio of the two times counts.
 *
 *   Jacobi     n (10 us + t d)                             d dofs, n iterations, t seconds per dof of an iteration
 *   multigrid  1.5 ms + 0.5 us N + f + m (150 us + 8 t d)  N nodes, m iterations, f for the last level's factor
 *
 * n is that of the latest step that Jacobi solved times the cube root of the dofs' ratio; before the first one, to a residual of 1e-8, five
 * for each node (Poisson 1.2) from one end of the body to the other.  m is that of the latest multigrid step; before the first one, to 1e-8, 9.
 */
#ifndef FEM_SOLVER_CHOICE_H
#define FEM_SOLVER_CHOICE_H

#include "case.h"
#include "solve.h"

typedef struct fem_solver_choice {
    fem_preconditioner asked;
    int steady; /* nonzero: "auto" is multigrid: for plans, which build on the steps before; and where Jacobi failed */
    double relative_residual;
    int max_iterations; /* that the case allows */
    double across;      /* of fem_solver_across */
    int steps;          /* refinements that may still come */
    /* of the present step */
    fem_solver solver;
    double model_s[2];     /* by fem_solver; NaN where there is nothing to choose */
    int solver_iterations; /* that it may take: Jacobi may be given fewer than the case allows, and multigrid takes over then */
    /* what was learned; 0: nothing yet */
    double jacobi_iterations, jacobi_dofs, multigrid_iterations;
} fem_solver_choice;

/* Elements of the coarse mesh from one end of the body to the other: its diagonal over the mean of their shortest edges. */
double fem_solver_across(const fem_mesh *mesh);

/* Decides for the next step, on `space`. */
void fem_solver_choose(fem_solver_choice *choice, const fem_space *space);
/* Jacobi did not come to an end with what it was given: this step and all later ones are multigrid's. */
void fem_solver_choose_other(fem_solver_choice *choice);
/* What the step took. */
void fem_solver_learn(fem_solver_choice *choice, const fem_space *space, const fem_solution *solution);

extern const char *const fem_solver_name[3]; /* by fem_solver */

#endif
