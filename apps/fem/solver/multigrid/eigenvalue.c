/* multigrid/eigenvalue.c - the largest eigenvalue that a level's smoother must damp. */
#include <math.h>

#include "solver/multigrid/private.h"

enum { MAX_STEPS = 15 };

/* Number of eigenvalues of the symmetric tridiagonal matrix that are larger than x (Sturm sequence). */
static int count_above(int n, const double *diagonal, const double *off, double x)
{
    int count = 0;
    double q = 1;
    for (int i = 0; i < n; i++) {
        double previous = i == 0 || q != 0 ? q : 1e-300;
        q = diagonal[i] - x - (i ? off[i - 1] * off[i - 1] / previous : 0);
        count += q > 0;
    }
    return count;
}

static double largest_of_tridiagonal(int n, const double *diagonal, const double *off)
{
    double low = 0, high = 0;
    for (int i = 0; i < n; i++) { /* Gershgorin */
        double bound = diagonal[i] + (i ? fabs(off[i - 1]) : 0) + (i + 1 < n ? fabs(off[i]) : 0);
        if (bound > high) high = bound;
    }
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        if (count_above(n, diagonal, off, middle))
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Fills with values in (-1, 1) that depend only on the dof's number over all ranks. */
static yoke_status fill_random(fem_vector *v, const fem_space *space)
{
    double *values = NULL;
    int64_t dofs = (int64_t)space->num_nodes * space->components;
    yoke_status status = app_ranks_agree(space->ranks, yoke_allocate_untouched(space->context, dofs, sizeof *values, &values));
    if (status) {
        yoke_release(space->context, values);
        return status;
    }
    for (int64_t i = 0; i < dofs; i++) {
        const int64_t number = fem_space_global_node(space, (int32_t)(i / space->components)) * space->components + i % space->components;
        uint64_t z = ((uint64_t)number + 1) * 0x9E3779B97F4A7C15u; /* splitmix64 */
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        values[i] = (double)((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
    }
    fem_vector_write(v, values);
    fem_vector_mask(v);
    yoke_release(space->context, values);
    return YOKE_OK;
}

static yoke_status fail(const fem_space *space)
{
    return yoke_fail(space->context, YOKE_ERROR_NUMERIC,
                     "the multigrid's smoother finds no largest eigenvalue on a level of %lld dofs, where the matrix or its blocks are not "
                     "positive definite: a material or an element is bad (modulus, Poisson's ratio, shape)",
                     (long long)space->num_global_nodes * space->components);
}

yoke_status multigrid_largest_eigenvalue(multigrid_level *level, multigrid_operation *b, void *state, fem_vector *const work[4],
                                         int most_steps, double *eigenvalue)
{
    fem_vector *r = work[0], *z = work[1], *p = work[2], *q = work[3];
    double diagonal[MAX_STEPS], off[MAX_STEPS], rz = 0, alpha_old = 0, beta = 0;
    int steps = 0;
    yoke_status status = fill_random(r, level->space);
    for (; !status && steps < most_steps && steps < MAX_STEPS; steps++) {
        status = b(state, r, z);
        if (status) return status;
        double next = fem_vector_dot(r, z);
        if (!steps) rz = next; /* 0: no dof is free */
        if (!(next > 0)) break;
        if (steps) {
            beta = next / rz;
            off[steps - 1] = sqrt(beta) / alpha_old;
        }
        rz = next;
        fem_vector_xpby(z, steps ? beta : 0, p);
        fem_decomposition_product(level->decomposition, 1, p, q);
        double energy = fem_vector_dot(p, q);
        if (!(energy > 0) || !isfinite(energy)) break;
        double alpha = rz / energy;
        diagonal[steps] = 1 / alpha + (steps ? beta / alpha_old : 0);
        alpha_old = alpha;
        fem_vector_axpy(-alpha, q, r);
    }
    if (status) return status;
    *eigenvalue = steps ? largest_of_tridiagonal(steps, diagonal, off) : 1;
    status = fem_decomposition_status(level->decomposition);
    if (!status && !(steps ? isfinite(*eigenvalue) : rz == 0)) status = fail(level->space);
    return status;
}

static yoke_status apply_blocks(void *state, const fem_vector *r, fem_vector *z)
{
    multigrid_precondition(state, r, z);
    return YOKE_OK;
}

yoke_status multigrid_smoother_eigenvalue(multigrid_level *level, int most_steps, double *eigenvalue)
{
    fem_vector *const work[4] = {level->b, level->d, level->x, level->t};
    return multigrid_largest_eigenvalue(level, apply_blocks, level, work, most_steps, eigenvalue);
}
