#include "cg.h"

#include <math.h>

/* A squared norm is trusted as long as what rounding may have added to it is below this part of it. */
static const double trusted_doubt = 1e-6;
/* Rounding of a sum of products, with room for many terms. */
static const double rounding = 1e-15;

typedef struct cg {
    fem_team *team;
    yoke_context *context;
    const fem_approximate_inverse *m;
    const fem_cg_options *options;
    const fem_hooks *hooks;
    fem_vector *r, *z, *p, *q;
    double rr, doubt; /* |r|^2, and how far it may be off */
    double norm_b, best;
    int best_at;
    fem_cg_result result;
} cg;

/* Numbers that make no sense may come from a device that failed. */
static yoke_status fail(cg *s, const char *what)
{
    yoke_status status = fem_team_status(s->team);
    if (status) return status;
    return yoke_fail(s->context, YOKE_ERROR_NUMERIC,
                     "conjugate gradients: %s after %d iterations; relative residual reached %.3g, asked for %.3g", what,
                     s->result.iterations, s->result.relative_residual, s->options->relative_residual);
}

static yoke_status check(cg *s)
{
    const fem_hooks *h = s->hooks;
    double reached = s->result.relative_residual;
    if (h && h->progress) h->progress(s->result.iterations, reached, h->user);
    if (h && h->interrupted && h->interrupted(h->user)) return yoke_fail(s->context, YOKE_ERROR_INTERRUPTED, "interrupted while solving");
    if (!isfinite(reached)) return fail(s, "the residual is not a number (overflow, or a NaN in the data)");
    if (reached < s->best) {
        s->best = reached;
        s->best_at = s->result.iterations;
    }
    if (s->result.iterations - s->best_at > s->options->stagnation)
        return fail(s, "no progress: the accuracy asked for may be below rounding, or the body is hardly held");
    if (s->result.iterations >= s->options->max_iterations) return fail(s, "not converged (solver.max_iterations)");
    s->result.given_up = s->options->give_up && s->options->give_up(s->result.iterations, reached, s->options->user);
    return YOKE_OK;
}

static int small_enough(const cg *s) { return s->result.relative_residual <= s->options->relative_residual; }

static void set_norm(cg *s, double rr, double doubt)
{
    s->rr = rr;
    s->doubt = doubt;
    s->result.relative_residual = sqrt(rr) / s->norm_b;
}

static void sum_norm(cg *s)
{
    double rr = fem_vector_dot(s->r, s->r);
    set_norm(s, rr, rounding * rr);
}

/* q = A x, r = b - q at free dofs, and its norm. */
static void true_residual(cg *s, const fem_vector *b, const fem_vector *x)
{
    fem_team_product(s->team, 0, x, s->q);
    fem_vector_subtract(b, s->q, s->r);
    fem_vector_mask(s->r);
    sum_norm(s);
}

/*
 * x += alpha p, r -= alpha q.  |r - alpha q|^2 = |r|^2 - 2 alpha (r, q) + alpha^2 |q|^2 is exact but for cancellation: where that leaves too
 * little, and where the iteration is about to end, the norm is summed anew.
 */
static void advance(cg *s, double alpha, double rq, double qq, fem_vector *x)
{
    fem_vector_advance(alpha, s->p, s->q, x, s->r);
    double rr = s->rr - 2 * alpha * rq + alpha * alpha * qq;
    set_norm(s, rr, s->doubt + rounding * (s->rr + 2 * fabs(alpha * rq) + alpha * alpha * qq));
    if (!(s->doubt <= trusted_doubt * rr) || small_enough(s)) sum_norm(s);
}

/* Iterates until the carried residual is small enough.  On entry r is the true residual. */
static yoke_status iterate(cg *s, fem_vector *x)
{
    double rz_old = 0;
    for (int first = 1; !small_enough(s); first = 0) {
        yoke_status status = check(s);
        if (!status && s->result.given_up) return YOKE_OK;
        if (!status) status = s->m->apply(s->m->state, s->r, sqrt(s->rr), s->z);
        if (status) return status;
        /* else x would have several values at a node, and rounding would slow the iteration */
        fem_vector_agree(s->z);
        double rz = fem_vector_dot(s->r, s->z);
        if (!(rz > 0) || !isfinite(rz))
            return fail(s, "the preconditioner is not positive definite (a material or an element is not valid)");
        if (first)
            fem_vector_copy_scaled(1, s->z, s->p);
        else
            fem_vector_xpby(s->z, rz / rz_old, s->p);
        rz_old = rz;
        fem_team_product(s->team, 1, s->p, s->q);
        const fem_vector *left[3] = {s->p, s->r, s->q}, *right[3] = {s->q, s->q, s->q};
        double sums[3];
        fem_vector_dots(3, left, right, sums);
        if (!(sums[0] > 0) || !isfinite(sums[0]))
            return fail(s, "a direction without positive energy: the body is not held, or a material is not valid");
        advance(s, rz / sums[0], sums[1], sums[2], x);
        s->result.iterations++;
    }
    return YOKE_OK;
}

static yoke_status solve(cg *s, const fem_vector *b, fem_vector *x)
{
    fem_vector_copy_scaled(1, b, s->r);
    fem_vector_mask(s->r);
    double bb = fem_vector_dot(s->r, s->r);
    s->norm_b = sqrt(bb);
    if (s->norm_b == 0) { /* nothing loads the body: the solution is zero */
        fem_vector_zero(x);
        fem_vector_zero(s->q);
        return YOKE_OK;
    }
    if (s->options->from_zero) {
        fem_vector_zero(s->q);
        set_norm(s, bb, rounding * bb);
    } else {
        true_residual(s, b, x);
    }
    while (!small_enough(s)) {
        int before = s->result.iterations;
        s->best = INFINITY;
        s->best_at = before;
        yoke_status status = iterate(s, x);
        if (status || s->result.given_up) return status;
        true_residual(s, b, x);
        if (s->result.relative_residual > s->options->relative_residual && s->result.iterations - before < 2)
            return fail(s, "the accuracy asked for is below rounding");
    }
    return YOKE_OK;
}

yoke_status fem_cg(fem_team *team, const fem_approximate_inverse *m, const fem_vector *b, fem_vector *x, fem_vector *ax,
                   const fem_cg_options *options, const fem_hooks *hooks, fem_cg_result *result)
{
    cg s = {.team = team, .context = fem_team_space(team)->context, .m = m, .options = options, .hooks = hooks, .q = ax};
    fem_vector **vectors[] = {&s.r, &s.z, &s.p};
    yoke_status status = YOKE_OK;
    for (int i = 0; i < 3 && !status; i++) status = fem_vector_create(team, vectors[i]);
    if (!status) {
        status = solve(&s, b, x);
        *result = s.result;
    }
    for (int i = 0; i < 3; i++) fem_vector_destroy(*vectors[i]);
    return status;
}
