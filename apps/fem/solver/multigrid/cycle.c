/* multigrid/cycle.c - the V-cycle, and the weights of its coarse corrections. */
#include <math.h>

#include "solver/multigrid/private.h"

enum { WEIGHT_STEPS = 4 };
/*
 * A correction M is given a smaller weight if the largest eigenvalue of M A exceeds the first number.  With the weight 1 / largest no
 * eigenvalue exceeds two.  The second number is a margin for the error of the few steps: on curved plates and shells 100 to 1000 times as
 * wide as thick, their largest eigenvalue differed by this much from that of fifteen steps.
 */
static const double most_overshoot = 1.2, weight_safety = 1.1;

static yoke_status cycle(fem_multigrid *m, int l);

/*
 * The last level works on host vectors; restriction and prolongation to and from its neighbour use vectors of the level's own
 * decomposition.
 */
static yoke_status solve_last(fem_multigrid *m, multigrid_level *level)
{
    if (m->gathered) return multigrid_solve_gathered(m->gathered, level);
    if (m->direct) {
        fem_approximate_inverse inverse = fem_direct_inverse(m->direct);
        return inverse.apply(inverse.state, level->b, NAN, level->x);
    }
    if (m->coarse_messages) return multigrid_solve_on_ranks(m, level);
    fem_vector_read(level->b, m->coarse_b);
    yoke_status status = fem_coarse_solve(m->coarse, m->coarse_b, m->coarse_x);
    if (!status) fem_vector_write(level->x, m->coarse_x);
    return status;
}

/*
 * Where elements are stretched, coarse spaces of thin bodies are stiffer in bending than fine ones.  Two corrections instead of one on the
 * two levels below the finest compensate for this.  The whole stays symmetric: (I - M A)^2 on each of these levels instead of I - M A.  It
 * is positive definite only if no eigenvalue of M A exceeds two, which the weights ensure.
 */
int multigrid_corrections(const fem_multigrid *m, int l)
{
    const int below = l + m->options.finer_levels;
    return m->stretched && (below == 1 || below == 2) ? 2 : 1;
}

/* Applies one correction to x: smoothing, the coarser levels, and smoothing again. */
static yoke_status correct(fem_multigrid *m, int l, int from_zero)
{
    multigrid_level *level = &m->level[l], *coarser = level + 1;
    multigrid_smooth(level, m->options.degree, from_zero);
    fem_decomposition_product(level->decomposition, 1, level->x, level->t);
    fem_vector_subtract(level->b, level->t, level->t);
    if (level->weight < 1) fem_vector_copy_scaled(level->weight, level->t, level->d);
    fem_decomposition_restrict_to(coarser->decomposition, level->weight < 1 ? level->d : level->t, coarser->b);
    yoke_status status = cycle(m, l + 1);
    if (status) return status;
    fem_decomposition_prolongate_add(coarser->decomposition, coarser->x, level->x);
    fem_vector_mask(level->x);
    multigrid_smooth(level, m->options.degree, 0);
    return YOKE_OK;
}

static yoke_status cycle(fem_multigrid *m, int l)
{
    if (l == m->num_levels - 1) return solve_last(m, &m->level[l]);
    yoke_status status = YOKE_OK;
    for (int i = 0; i < multigrid_corrections(m, l) && !status; i++) status = correct(m, l, i == 0);
    return status;
}

/* Returns the first failure of the levels' devices. */
static yoke_status status_of_levels(const fem_multigrid *m)
{
    yoke_status status = YOKE_OK;
    for (int l = 0; l < m->num_levels && !status; l++)
        if (fem_decomposition_failed(m->level[l].decomposition)) status = fem_decomposition_own_status(m->level[l].decomposition);
    return status;
}

yoke_status multigrid_apply_whole(fem_multigrid *m, double *values)
{
    fem_vector_write(m->level[0].b, values);
    yoke_status status = cycle(m, 0);
    if (!status) fem_vector_read(m->level[0].x, values);
    return status ? status : status_of_levels(m);
}

yoke_status multigrid_apply(void *state, const fem_vector *r, double norm_r, fem_vector *z)
{
    fem_multigrid *m = state;
    multigrid_level *finest = &m->level[0];
    if (!(norm_r > 0) || !isfinite(norm_r)) {
        fem_vector_zero(z);
        return YOKE_OK;
    }
    /* single precision has a small range of exponents, so work on a vector of norm about 1 */
    fem_vector_copy_scaled(1 / norm_r, r, finest->b);
    yoke_status status = cycle(m, 0);
    if (!status) status = status_of_levels(m);
    status = app_ranks_agree(finest->space->ranks, status);
    if (!status) fem_vector_copy_scaled(norm_r, finest->x, z);
    return status;
}

/* -------------------------------------------------------------------------------------------------- weights */

/*
 * A coarse level is softer than the fine one for the same motion where its quadrature misses more of a curved or distorted element, or
 * where q1 elements have their nodes in other places than the curved elements that they replace.  On thin bodies it may be many times
 * softer, because small strains in the plane are weighted by the square of width over thickness.  Then a correction overshoots.
 */
typedef struct one_correction {
    fem_multigrid *multigrid;
    int level;
} one_correction;

static yoke_status apply_correction(void *state, const fem_vector *r, fem_vector *z)
{
    const one_correction *c = state;
    multigrid_level *level = &c->multigrid->level[c->level];
    fem_vector_copy_scaled(1, r, level->b);
    yoke_status status = correct(c->multigrid, c->level, 1);
    if (!status) fem_vector_copy_scaled(1, level->x, z);
    return status;
}

static yoke_status weigh_level(fem_multigrid *m, int l)
{
    one_correction correction = {m, l};
    multigrid_level *level = &m->level[l];
    fem_vector *work[4] = {NULL, NULL, NULL, NULL};
    double largest = 1;
    yoke_status status = YOKE_OK;
    for (int i = 0; i < 4 && !status; i++) status = fem_vector_create(level->decomposition, &work[i]);
    status = app_ranks_agree(level->space->ranks, status);
    if (!status) status = multigrid_largest_eigenvalue(level, apply_correction, &correction, work, WEIGHT_STEPS, &largest);
    for (int i = 0; i < 4; i++) fem_vector_destroy(work[i]);
    if (!status && largest > most_overshoot) level->weight = 1 / (weight_safety * largest);
    return status;
}

yoke_status multigrid_weigh(fem_multigrid *m)
{
    yoke_status status = YOKE_OK;
    for (int l = m->num_levels - 2; l >= 0 && !status; l--)
        if (multigrid_corrections(m, l) > 1) status = weigh_level(m, l);
    return status;
}
