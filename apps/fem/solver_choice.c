#include "solver_choice.h"

#include <math.h>

#include "coarse.h"
#include "multigrid.h"

/* Seconds per dof of an iteration with node blocks, products and vectors together. */
static double seconds_per_dof(const fem_space *space)
{
    static const double elasticity[] = {[FEM_Q1] = 12e-9, [FEM_S2] = 10e-9, [FEM_Q2] = 7e-9};
    return (space->components == 1 ? 1.4 : 1) * elasticity[space->element];
}

static double dofs_of(const fem_space *space) { return (double)space->num_nodes * space->components; }

static double coarse_mesh_dofs(const fem_space *space) { return (double)space->problem->mesh->num_vertices * space->components; }

/* The factor of the multigrid's last level, which is the coarse mesh or the first level that is small enough. */
static double factor_seconds(const fem_space *space)
{
    static const double nodes_per_vertex[] = {[FEM_Q1] = 1, [FEM_S2] = 4, [FEM_Q2] = 8};
    double dofs = fmin(dofs_of(space) / nodes_per_vertex[space->element], FEM_DIRECT_DOFS), coarse = coarse_mesh_dofs(space);
    if (coarse > dofs) dofs = coarse;
    return dofs > FEM_COARSE_DIRECT_LIMIT ? 20e-6 * dofs : 0.15e-6 * pow(dofs, 1.5);
}

/* Iterations are as many as digits of the residual. */
static double jacobi_iterations(const fem_solver_choice *choice, const fem_space *space)
{
    double dofs = dofs_of(space);
    if (choice->jacobi_dofs > 0) return choice->jacobi_iterations * fmax(cbrt(dofs / choice->jacobi_dofs), 1);
    return (space->components == 1 ? 2.5 : 12) * cbrt(dofs) * log10(choice->relative_residual) / -8;
}

static double multigrid_iterations(const fem_solver_choice *choice)
{
    return choice->multigrid_iterations > 0 ? choice->multigrid_iterations : 9 * log10(choice->relative_residual) / -8;
}

void fem_solver_choose(fem_solver_choice *choice, const fem_space *space)
{
    double per_dof = seconds_per_dof(space), dofs = dofs_of(space), jacobi = jacobi_iterations(choice, space);
    choice->solver_iterations = choice->max_iterations;
    choice->model_s[FEM_SOLVER_JACOBI] = choice->model_s[FEM_SOLVER_MULTIGRID] = NAN;
    choice->solver = choice->asked == FEM_PRECONDITIONER_JACOBI ? FEM_SOLVER_JACOBI : FEM_SOLVER_MULTIGRID;
    if (choice->asked != FEM_PRECONDITIONER_AUTO || choice->steady) return;
    choice->model_s[FEM_SOLVER_JACOBI] = jacobi * (10e-6 + per_dof * dofs);
    choice->model_s[FEM_SOLVER_MULTIGRID] =
        2e-3 + 1.2e-6 * space->num_nodes + factor_seconds(space) + multigrid_iterations(choice) * (150e-6 + 8 * per_dof * dofs);
    if (choice->model_s[FEM_SOLVER_JACOBI] >= choice->model_s[FEM_SOLVER_MULTIGRID] || jacobi > choice->max_iterations) return;
    /* stretched elements or soft materials may take many more: then little shall be lost */
    const double doubt = 2;
    choice->solver_iterations = (int)fmin(ceil(doubt * jacobi), choice->max_iterations);
    choice->solver = FEM_SOLVER_JACOBI;
}

void fem_solver_choose_other(fem_solver_choice *choice, const fem_space *space)
{
    choice->jacobi_iterations = 2.0 * choice->solver_iterations; /* how many, nobody knows: not again soon */
    choice->jacobi_dofs = dofs_of(space);
    choice->solver = FEM_SOLVER_MULTIGRID;
    choice->solver_iterations = choice->max_iterations;
}

void fem_solver_learn(fem_solver_choice *choice, const fem_space *space, const fem_solution *solution)
{
    if (solution->solver == FEM_SOLVER_MULTIGRID) {
        choice->multigrid_iterations = (double)solution->iterations;
    } else {
        choice->jacobi_iterations = (double)solution->iterations;
        choice->jacobi_dofs = dofs_of(space);
    }
}

const char *fem_solver_text(fem_solver solver) { return solver == FEM_SOLVER_JACOBI ? "jacobi" : "multigrid"; }
