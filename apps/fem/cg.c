#include "cg.h"

#include <math.h>

typedef struct cg {
    fem_part *part;
    const fem_approximate_inverse *m;
    const fem_cg_options *options;
    const fem_hooks *hooks;
    fem_vector *r, *z, *p, *q;
    double norm_b, best;
    int best_at;
    fem_cg_result result;
} cg;

static yoke_status fail(cg *s, const char *what)
{
    return yoke_fail(s->part->context, YOKE_ERROR_NUMERIC,
                     "conjugate gradients: %s after %d iterations; relative residual reached %.3g, asked for %.3g", what,
                     s->result.iterations, s->result.relative_residual, s->options->relative_residual);
}

static yoke_status check(cg *s)
{
    const fem_hooks *h = s->hooks;
    double reached = s->result.relative_residual;
    if (h && h->progress) h->progress(s->result.iterations, reached, h->user);
    if (h && h->interrupted && h->interrupted(h->user))
        return yoke_fail(s->part->context, YOKE_ERROR_INTERRUPTED, "interrupted while solving");
    if (!isfinite(reached)) return fail(s, "the residual is not a number (overflow, or a NaN in the data)");
    if (reached < s->best) {
        s->best = reached;
        s->best_at = s->result.iterations;
    }
    if (s->result.iterations - s->best_at > s->options->stagnation)
        return fail(s, "no progress: the accuracy asked for may be below rounding, or the body is hardly held");
    if (s->result.iterations >= s->options->max_iterations) return fail(s, "not converged (solver.max_iterations)");
    return YOKE_OK;
}

/* r = b - A x; returns its relative norm. */
static double true_residual(cg *s, const fem_vector *b, const fem_vector *x)
{
    s->part->call->product(s->part, 1, x, s->r);
    s->part->call->subtract(b, s->r, s->r);
    return sqrt(s->part->call->dot(s->r, s->r)) / s->norm_b;
}

/* Iterates until the carried residual is small enough.  On entry r is the true residual. */
static yoke_status iterate(cg *s, fem_vector *x)
{
    const fem_part_functions *call = s->part->call;
    double rz_old = 0;
    for (int first = 1; !(s->result.relative_residual <= s->options->relative_residual); first = 0) {
        yoke_status status = check(s);
        if (!status) status = s->m->apply(s->m->state, s->r, s->z);
        if (status) return status;
        double rz = call->dot(s->r, s->z);
        if (!(rz > 0) || !isfinite(rz))
            return fail(s, "the preconditioner is not positive definite (a material or an element is not valid)");
        if (first)
            call->copy_scaled(1, s->z, s->p);
        else
            call->xpby(s->z, rz / rz_old, s->p);
        rz_old = rz;
        call->product(s->part, 1, s->p, s->q);
        double energy = call->dot(s->p, s->q);
        if (!(energy > 0) || !isfinite(energy))
            return fail(s, "a direction without positive energy: the body is not held, or a material is not valid");
        double rr = call->advance(rz / energy, s->p, s->q, x, s->r);
        s->result.iterations++;
        s->result.relative_residual = sqrt(rr) / s->norm_b;
    }
    return YOKE_OK;
}

static yoke_status solve(cg *s, const fem_vector *b, fem_vector *x)
{
    const fem_part_functions *call = s->part->call;
    s->norm_b = sqrt(call->dot(b, b));
    if (s->norm_b == 0) { /* nothing loads the body: the solution is zero */
        call->zero(x);
        return YOKE_OK;
    }
    s->result.relative_residual = true_residual(s, b, x);
    while (!(s->result.relative_residual <= s->options->relative_residual)) {
        int before = s->result.iterations;
        s->best = INFINITY;
        s->best_at = before;
        yoke_status status = iterate(s, x);
        if (status) return status;
        s->result.relative_residual = true_residual(s, b, x);
        if (s->result.relative_residual > s->options->relative_residual && s->result.iterations - before < 2)
            return fail(s, "the accuracy asked for is below rounding");
    }
    return YOKE_OK;
}

yoke_status fem_cg(fem_part *part, const fem_approximate_inverse *m, const fem_vector *b, fem_vector *x, const fem_cg_options *options,
                   const fem_hooks *hooks, fem_cg_result *result)
{
    cg s = {.part = part, .m = m, .options = options, .hooks = hooks};
    fem_vector **vectors[] = {&s.r, &s.z, &s.p, &s.q};
    yoke_status status = YOKE_OK;
    for (int i = 0; i < 4 && !status; i++) status = part->call->vector_create(part, vectors[i]);
    if (!status) {
        status = solve(&s, b, x);
        *result = s.result;
    }
    for (int i = 0; i < 4; i++) part->call->vector_destroy(*vectors[i]);
    return status;
}
