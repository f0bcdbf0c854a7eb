#include "solver_choice.h"

#include <math.h>

#include "coarse.h"
#include "multigrid.h"

const char *const fem_solver_name[3] = {
    [FEM_SOLVER_JACOBI] = "jacobi", [FEM_SOLVER_MULTIGRID] = "multigrid", [FEM_SOLVER_DIRECT] = "direct"};

/* Seconds per dof of an iteration with node blocks, products and vectors together. */
static double seconds_per_dof(const fem_space *space)
{
    static const double elasticity[] = {[FEM_Q1] = 12e-9, [FEM_S2] = 10e-9, [FEM_Q2] = 7e-9};
    return (space->components == 1 ? 1.4 : 1) * elasticity[space->element];
}

/* The shortest of an element's three mean edges. */
static double shortest(const fem_mesh *mesh, int64_t element)
{
    double least = INFINITY;
    for (int a = 0; a < 3; a++) {
        double edge[3] = {0, 0, 0};
        for (int c = 0; c < 8; c++)
            for (int i = 0; i < 3; i++)
                edge[i] += (c >> a & 1 ? 0.25 : -0.25) * mesh->vertices[3 * (int64_t)mesh->corners[8 * element + c] + i];
        least = fmin(least, hypot(hypot(edge[0], edge[1]), edge[2]));
    }
    return least;
}

double fem_solver_across(const fem_mesh *mesh)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, sum = 0;
    for (int64_t v = 0; v < mesh->num_vertices; v++) {
        for (int i = 0; i < 3; i++) {
            low[i] = fmin(low[i], mesh->vertices[3 * v + i]);
            high[i] = fmax(high[i], mesh->vertices[3 * v + i]);
        }
    }
    for (int64_t e = 0; e < mesh->num_elements; e++) sum += shortest(mesh, e);
    return hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]) * (double)mesh->num_elements / sum;
}

static double dofs_of(const fem_space *space) { return (double)space->num_nodes * space->components; }

static double coarse_mesh_dofs(const fem_space *space) { return (double)space->problem->mesh->num_vertices * space->components; }

/* Nonzero: the multigrid's last level is the coarse mesh in every step, and its factor is kept. */
static int is_kept(const fem_space *space) { return coarse_mesh_dofs(space) > FEM_DIRECT_DOFS; }

/* Unknowns of the multigrid's last level: the coarse mesh, or the first level that is small enough. */
static double last_level_dofs(const fem_space *space)
{
    static const double nodes_per_vertex[] = {[FEM_Q1] = 1, [FEM_S2] = 4, [FEM_Q2] = 8};
    const double usual_merging = 6; /* of elements that are merged by eights, some are not yet */
    double dofs = dofs_of(space) / nodes_per_vertex[space->element];
    while (dofs > FEM_DIRECT_DOFS) dofs /= usual_merging;
    return fmax(dofs, coarse_mesh_dofs(space));
}

/* What is kept is there already, or serves all steps that may come. */
static double factor_seconds(const fem_solver_choice *choice, const fem_space *space)
{
    double dofs = last_level_dofs(space);
    double seconds = dofs > FEM_COARSE_DIRECT_LIMIT ? 11e-6 * dofs : 0.12e-6 * pow(dofs, 1.5);
    if (!is_kept(space)) return seconds;
    return choice->multigrid_iterations > 0 ? 0 : seconds / (1.0 + choice->steps);
}

/* By geometry alone; iterations are as many as digits of the residual. */
static double usual_jacobi_iterations(const fem_solver_choice *choice, const fem_space *space)
{
    double leaves = (double)space->num_elements / (double)space->problem->mesh->num_elements;
    double nodes_across = choice->across * (space->slots_1d - 1) * cbrt(leaves);
    return (space->components == 1 ? 1.2 : 5) * nodes_across * log10(choice->relative_residual) / -8;
}

static double jacobi_iterations(const fem_solver_choice *choice, const fem_space *space)
{
    if (!(choice->jacobi_dofs > 0)) return usual_jacobi_iterations(choice, space);
    return choice->jacobi_iterations * fmax(cbrt(dofs_of(space) / choice->jacobi_dofs), 1);
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
    choice->solver = choice->asked == FEM_PRECONDITIONER_JACOBI   ? FEM_SOLVER_JACOBI
                     : choice->asked == FEM_PRECONDITIONER_DIRECT ? FEM_SOLVER_DIRECT
                                                                  : FEM_SOLVER_MULTIGRID;
    if (choice->asked != FEM_PRECONDITIONER_AUTO || choice->steady) return;
    choice->model_s[FEM_SOLVER_JACOBI] = jacobi * (10e-6 + per_dof * dofs);
    choice->model_s[FEM_SOLVER_MULTIGRID] =
        1.5e-3 + 0.5e-6 * space->num_nodes + factor_seconds(choice, space) + multigrid_iterations(choice) * (150e-6 + 8 * per_dof * dofs);
    if (choice->model_s[FEM_SOLVER_JACOBI] >= choice->model_s[FEM_SOLVER_MULTIGRID] || jacobi > choice->max_iterations) return;
    /* stretched elements or soft materials may take many more: then little shall be lost */
    const double doubt = 2;
    double given = ceil(doubt * fmax(jacobi, usual_jacobi_iterations(choice, space)));
    choice->solver_iterations = (int)fmin(given, choice->max_iterations);
    choice->solver = FEM_SOLVER_JACOBI;
}

void fem_solver_choose_other(fem_solver_choice *choice)
{
    choice->steady = 1;
    choice->solver = FEM_SOLVER_MULTIGRID;
    choice->solver_iterations = choice->max_iterations;
}

void fem_solver_learn(fem_solver_choice *choice, const fem_space *space, const fem_solution *solution)
{
    if (choice->steps > 0) choice->steps--;
    if (solution->solver == FEM_SOLVER_MULTIGRID) {
        choice->multigrid_iterations = (double)solution->iterations;
    } else {
        choice->jacobi_iterations = (double)solution->iterations;
        choice->jacobi_dofs = dofs_of(space);
    }
}
