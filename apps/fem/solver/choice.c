#include "solver/choice.h"

#include <math.h>
#include <stdio.h>

#include "solver/direct/direct.h"
#include "solver/multigrid/costs.h"

const char *const fem_solver_name[3] = {
    [FEM_SOLVER_JACOBI] = "jacobi", [FEM_SOLVER_MULTIGRID] = "multigrid", [FEM_SOLVER_DIRECT] = "direct"};

/* Number of multigrid iterations that is assumed if nothing else is known; ordinary bodies need half of them. */
static const double usual_iterations = 20;
/* The operations of a factorisation grow at most with this power of the number of dofs (nested dissection of a compact body). */
static const double most_growth = 2;

static double dofs_of(const fem_space *space) { return (double)space->num_global_nodes * space->components; }

static void take(fem_solver_choice *choice, fem_solver solver, double multigrid, double direct, const char *why)
{
    choice->solver = solver;
    choice->multigrid_operations = multigrid;
    choice->direct_operations = direct;
    snprintf(choice->reason, sizeof choice->reason, "%s: %s (operations: multigrid %.2g, factor %.2g)", fem_solver_name[solver], why,
             multigrid, direct);
}

/* Chooses again after multigrid was too slow in an earlier step. */
static void choose_again(fem_solver_choice *choice, double dofs)
{
    const fem_multigrid_work usual = fem_multigrid_usual_work(dofs), slow = choice->slow_work;
    const fem_multigrid_work work = slow.setup > 0 ? (fem_multigrid_work){slow.setup * dofs, slow.iteration * dofs} : usual;
    const double factor = choice->factor_operations * pow(fmax(dofs / choice->factor_dofs, 1), most_growth);
    const double direct = factor + fem_direct_least_operations(dofs), multigrid = fem_multigrid_operations(work, choice->slow_iterations);
    if (direct <= multigrid)
        take(choice, FEM_SOLVER_DIRECT, multigrid, direct, "multigrid was too slow in a step before");
    else
        take(choice, FEM_SOLVER_MULTIGRID, multigrid, direct, "too slow in a step before, but the factor has become larger");
}

static yoke_status choose_small(fem_solver_choice *choice, const fem_space *space, const fem_constraints *constraints)
{
    const double dofs = dofs_of(space), multigrid = fem_multigrid_operations(fem_multigrid_usual_work(dofs), usual_iterations);
    fem_direct *direct;
    if (fem_direct_least_operations(dofs) > multigrid) return YOKE_OK; /* skips the analysis, which takes time itself */
    yoke_status status = fem_direct_analyze(space, constraints, &direct);
    if (status) return status;
    const fem_cholesky_cost cost = fem_direct_cost(direct);
    fem_direct_destroy(direct);
    const double operations = fem_direct_operations(dofs, &cost);
    if (operations <= multigrid) take(choice, FEM_SOLVER_DIRECT, multigrid, operations, "the body is small");
    return YOKE_OK;
}

yoke_status fem_solver_choose(fem_solver_choice *choice, const fem_space *space, const fem_constraints *constraints)
{
    static const fem_solver asked[] = {[FEM_PRECONDITIONER_AUTO] = FEM_SOLVER_MULTIGRID,
                                       [FEM_PRECONDITIONER_JACOBI] = FEM_SOLVER_JACOBI,
                                       [FEM_PRECONDITIONER_MULTIGRID] = FEM_SOLVER_MULTIGRID,
                                       [FEM_PRECONDITIONER_DIRECT] = FEM_SOLVER_DIRECT};
    choice->solver = asked[choice->asked];
    choice->multigrid_operations = choice->direct_operations = NAN;
    choice->reason[0] = 0;
    if (choice->asked != FEM_PRECONDITIONER_AUTO || choice->steady) return YOKE_OK;
    if (!(choice->slow_iterations > 0)) return choose_small(choice, space, constraints);
    choose_again(choice, dofs_of(space));
    return YOKE_OK;
}

void fem_solver_learn(fem_solver_choice *choice, const fem_space *space, const fem_solution *solution)
{
    if (solution->direct_operations > 0) {
        choice->factor_operations = solution->direct_operations;
        choice->factor_dofs = dofs_of(space);
    }
    if (solution->slow_iterations > 0) {
        const fem_multigrid_work work = solution->multigrid_work;
        choice->slow_iterations = solution->slow_iterations;
        choice->slow_work = (fem_multigrid_work){work.setup / dofs_of(space), work.iteration / dofs_of(space)};
    }
    if (!solution->reason[0]) return;
    choice->multigrid_operations = solution->compared_multigrid;
    choice->direct_operations = solution->compared_direct;
    snprintf(choice->reason, sizeof choice->reason, "%s", solution->reason);
}
