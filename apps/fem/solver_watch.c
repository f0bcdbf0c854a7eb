#include "solver_watch.h"

#include <math.h>

/*
 * Measured as seconds on one core (AMD Zen 5, q2 elasticity, 4000 to 180 000 dofs) times the 3e10 operations a second that large
 * factorisations reach there; only their ratios count.  An iteration: 0.1 us a dof and 150 us; the multigrid's set-up: 0.3 us a dof and 1.5 ms;
 * order, matrix and analysis of the factor: 5.5 us a dof.
 */
static const double iteration_dof = 3e3, iteration_alone = 4.5e6;
static const double multigrid_dof = 1e4, multigrid_alone = 4.5e7;
static const double direct_dof = 1.6e5;
/* An entry of the factor is read twice in each of two substitutions, which takes as long as so many operations of the factorisation. */
static const double substitution_entry = 40;

double fem_iteration_operations(double dofs, double iterations) { return iterations * (iteration_dof * dofs + iteration_alone); }

double fem_multigrid_operations(double dofs, double iterations)
{
    return multigrid_dof * dofs + multigrid_alone + fem_iteration_operations(dofs, iterations);
}

double fem_direct_least_operations(double dofs) { return direct_dof * dofs; }

double fem_direct_operations(double dofs, const fem_cholesky_cost *cost)
{
    return fem_direct_least_operations(dofs) + cost->operations + substitution_entry * cost->entries;
}

void fem_solver_watch_start(fem_solver_watch *watch, double asked)
{
    *watch = (fem_solver_watch){.asked = asked, .first = NAN, .best = INFINITY};
}

double fem_solver_watch_left(fem_solver_watch *watch, int iteration, double reached)
{
    if (!isfinite(reached)) return 0;
    if (isnan(watch->first)) watch->first = reached;
    watch->best = fmin(watch->best, reached);
    if (iteration < FEM_WATCH_FIRST || iteration % 5 != 0) return 0;
    const double patience = FEM_WATCH_PATIENCE * (double)iteration, gained = log(watch->first / watch->best);
    const double left = iteration * log(watch->best / watch->asked) / gained;
    return gained > 0 ? fmin(fmax(left, 0), patience) : patience;
}
