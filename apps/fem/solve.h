/*
 * solve.h - the discrete problem of one refinement step: set up, solved, with what follows from the solution.
 */
#ifndef FEM_SOLVE_H
#define FEM_SOLVE_H

#include "cg.h"

typedef enum fem_solver { FEM_SOLVER_JACOBI, FEM_SOLVER_MULTIGRID } fem_solver;

typedef struct fem_solve_options {
    fem_solver solver;
    fem_operator operator_kind;
    double relative_residual;
    int max_iterations;
    int threads; /* 0: as many as the process may use */
} fem_solve_options;

typedef struct fem_solution {
    yoke_context *context;
    double *u;        /* [num_nodes][components] m; Poisson: the value */
    double *load;     /* [num_nodes][components] N */
    double *residual; /* [num_nodes][components] A u - load without constraints: the supports' forces where u is prescribed */
    double strain_energy_j;
    int64_t iterations, operator_applications;
    double relative_residual;
    double seconds_per_product; /* of the fine operator, mean */
    double setup_s, solve_s;
    int64_t memory_bytes; /* held by operator, preconditioner and vectors */
} fem_solution;

/*
 * Solves on the space from the start value [num_nodes][components] (NULL: zero; values at prescribed dofs do not matter).
 * Errors: those of fem_part_cpu_create, fem_space_load, fem_multigrid_create and fem_cg.
 */
yoke_status fem_solve(const fem_space *space, const fem_boundary *boundary, const fem_constraints *constraints, const double *start,
                      const fem_solve_options *options, const fem_hooks *hooks, fem_solution **solution);
void fem_solution_destroy(fem_solution *solution);

#endif
