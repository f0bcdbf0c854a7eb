/*
 * multigrid/smoother.c - Chebyshev polynomial of B A, where B is the inverse of the node blocks, or of the blocks of strongly coupled
 * nodes.
 */
#include "solver/multigrid/private.h"

/* z = c B r with blocks of coupled nodes.  This runs on the host, on whichever devices the subdomains are. */
static void solve_blocks(multigrid_level *level, double c, const fem_vector *r, fem_vector *z)
{
    fem_vector_read(r, level->host);
    multigrid_blocks_solve(level->blocks, c, level->host, level->host);
    fem_vector_write(z, level->host);
}

void multigrid_precondition(multigrid_level *level, const fem_vector *r, fem_vector *z)
{
    if (level->blocks)
        solve_blocks(level, 1, r, z);
    else
        fem_decomposition_block_solve(level->decomposition, r, z);
}

/* d = a d + c B (b - ax), x += d.  If ax is NULL, starts from zero and does not read x and d. */
static void step_with_blocks(multigrid_level *level, double a, double c, const fem_vector *ax)
{
    fem_vector *t = level->t;
    if (ax) fem_vector_subtract(level->b, ax, t);
    solve_blocks(level, c, ax ? t : level->b, t);
    if (a == 0)
        fem_vector_copy_scaled(1, t, level->d);
    else
        fem_vector_xpby(t, a, level->d);
    if (ax)
        fem_vector_axpy(1, level->d, level->x);
    else
        fem_vector_copy_scaled(1, level->d, level->x);
}

static void step(multigrid_level *level, double a, double c, const fem_vector *ax)
{
    if (level->blocks)
        step_with_blocks(level, a, c, ax);
    else
        fem_decomposition_chebyshev_step(level->decomposition, a, c, level->b, ax, level->d, level->x);
}

void multigrid_smooth(multigrid_level *level, int degree, int from_zero)
{
    double centre = 0.5 * (level->eigenvalue_high + level->eigenvalue_low), half = 0.5 * (level->eigenvalue_high - level->eigenvalue_low);
    double sigma = centre / half, rho = 1 / sigma;
    for (int k = 0; k < degree; k++) {
        fem_vector *ax = from_zero && k == 0 ? NULL : level->t;
        if (ax) fem_decomposition_product(level->decomposition, 0, level->x, ax); /* B ignores prescribed dofs */
        if (k == 0) {
            step(level, 0, 1 / centre, ax);
        } else {
            double next = 1 / (2 * sigma - rho);
            step(level, next * rho, 2 * next / half, ax);
            rho = next;
        }
    }
}
