#include "solver/cg/cg.h"

#include <math.h>
#include <stdio.h>

#include "solver/cg/error.h"

/* A squared norm is trusted if the rounding errors that it may contain are below this fraction of it. */
static const double trusted_doubt = 1e-6;
/* Relative rounding error of a sum of products, with a margin for many terms. */
static const double rounding = 1e-15;
/*
 * The carried (updated) residual is accepted for the estimate of the error if the norm of the true residual is at most this many times its
 * norm.
 */
static const double same_residual = 1.2;
/* If the ratio S and the number of iterations are at most these, convergence is so fast that S alone gives the error (error.h). */
static const double quick_ratio = 2;
enum { QUICK_ITERATIONS = 25 };
/*
 * At most this many passes, each of which starts from the true residual.  Each must reduce the square of the error, or that of the
 * residual, to at most a quarter; otherwise rounding limits the accuracy.
 */
enum { MAX_PASSES = 20 };
static const double worth_a_pass = 0.25;

typedef struct cg {
    fem_decomposition *decomposition;
    yoke_context *context;
    const fem_approximate_inverse *m;
    const fem_cg_options *options;
    const fem_hooks *hooks;
    const fem_vector *b;
    fem_vector *x, *r, *z, *p, *q;
    double rr, doubt; /* |r|^2, and a bound on its rounding error */
    double norm_b;
    fem_cg_error error;
    double error_square;              /* estimate of |x* - x|_A^2; infinity: unknown */
    double energy, total_at;          /* |u|_A^2, and error.total when it was computed */
    int next_look;                    /* first iteration in which the Ritz value may be computed again */
    double worst;                     /* largest ratio S of the earlier passes */
    double best, total_at_best;       /* smallest residual of this pass, and error.total when it was reached */
    int best_at, pass_begin, stalled; /* stalled: this pass has ended without progress */
    int certified;                    /* the error at the beginning of this pass was small enough */
    fem_cg_result result;
} cg;

/* ------------------------------------------------------------------------------------------------------ failures */

/* Values that are not valid may come from a failed device, so the device's error is returned first. */
static yoke_status fail(cg *s, const char *what)
{
    yoke_status status = fem_decomposition_status(s->decomposition);
    char energy[128] = "", asked[64] = "";
    if (status) return status;
    if (isfinite(s->result.energy_error)) snprintf(energy, sizeof energy, ", relative energy error about %.3g", s->result.energy_error);
    if (s->options->energy_error > 0) snprintf(asked, sizeof asked, "an energy error of %.3g", s->options->energy_error);
    if (s->options->relative_residual > 0 || !asked[0]) snprintf(asked, sizeof asked, "a residual of %.3g", s->options->relative_residual);
    return yoke_fail(s->context, YOKE_ERROR_NUMERIC,
                     "conjugate gradients: %s after %d iterations; relative residual reached %.3g%s, asked for %s", what,
                     s->result.iterations, s->result.relative_residual, energy, asked);
}

/*
 * Returns nonzero if for more than options->stagnation iterations the residual has not fallen and the solution has not moved by as much as
 * the requested error.
 */
static int is_stalled(cg *s)
{
    double reached = s->result.relative_residual, moved = s->error.total - s->total_at_best;
    double counts = s->options->energy_error * s->options->energy_error * s->energy;
    if (reached < s->best || (s->options->energy_error > 0 && moved > counts)) {
        s->best = fmin(reached, s->best);
        s->best_at = s->result.iterations;
        s->total_at_best = s->error.total;
    }
    return s->result.iterations - s->best_at > s->options->stagnation;
}

static yoke_status check(cg *s)
{
    const fem_hooks *h = s->hooks;
    if (h && h->progress) h->progress(s->result.iterations, s->result.relative_residual, s->result.energy_error, h->user);
    const int interrupted = h && h->interrupted && h->interrupted(h->user);
    if (h && h->reached && isfinite(s->result.relative_residual)) h->reached(s->result.iterations, s->x, interrupted, h->user);
    if (interrupted) return yoke_fail(s->context, YOKE_ERROR_INTERRUPTED, "interrupted while solving");
    if (!isfinite(s->result.relative_residual)) return fail(s, "the residual is not a number (overflow, or a NaN in the data)");
    s->stalled = is_stalled(s);
    if (s->result.iterations >= s->options->max_iterations) return fail(s, "not converged (solver.max_iterations)");
    double reached = s->options->relative_residual > 0 ? s->result.relative_residual : s->result.energy_error;
    s->result.given_up = s->options->give_up && s->options->give_up(s->result.iterations, reached, s->options->user);
    return YOKE_OK;
}

/* --------------------------------------------------------------------------------------------- norms and errors */

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

/* |u|_A^2 = (x, A x) + 2 (x, A g) + (g, A g) with A x = b - r at free dofs of x. */
static void sum_energy(cg *s)
{
    const fem_vector *left[3] = {s->x, s->x, s->x}, *right[3] = {s->b, s->r, s->options->lifting};
    double sums[3] = {0, 0, 0};
    fem_vector_dots(s->options->lifting ? 3 : 2, left, right, sums);
    s->energy = fmax(0, sums[0] - sums[1] + 2 * sums[2] + s->options->lifting_energy);
    s->total_at = s->error.total;
}

static void set_error(cg *s, double square)
{
    s->error_square = square;
    s->result.energy_error = square == 0 ? 0 : sqrt(square / s->energy);
}

/* Returns the larger of this pass's ratio and the earlier ones': a pass that begins close to rounding provides little information. */
static double ratio_of(const cg *s) { return fmax(fem_cg_error_ratio(&s->error), s->worst); }

static int is_quick(const cg *s, double ratio) { return ratio <= quick_ratio && s->error.count <= QUICK_ITERATIONS; }

/*
 * Returns nonzero if the estimated error is at most energy_error |u|_A.  The energy is summed only if this may hold; since the last sum u
 * has moved by error.total - total_at, a squared length.
 */
static int energy_small_enough(cg *s)
{
    double asked = s->options->energy_error, ratio = ratio_of(s), expected = fem_cg_error_expected(&s->error, ratio);
    double length = sqrt(s->energy) + sqrt(fmax(0, s->error.total - s->total_at));
    s->error_square = expected;
    s->result.energy_error = sqrt(expected) / length;
    if (s->options->rough && !(s->result.relative_residual <= asked)) return 0;
    if (!(expected <= asked * asked * length * length)) return 0;
    sum_energy(s);
    set_error(s, expected);
    if (!(expected <= asked * asked * s->energy)) return 0;
    if (is_quick(s, ratio)) return 1;
    if (s->result.iterations < s->next_look) return 0;
    s->next_look = s->result.iterations + 1 + s->error.count / 64;
    fem_cg_error_look(&s->error);
    set_error(s, fmax(expected, fem_cg_error_bound(&s->error) / 4)); /* so that the error is at most twice the requested one */
    return s->result.energy_error <= asked;
}

static int residual_small_enough(const cg *s) { return s->result.relative_residual <= s->options->relative_residual; }

static int small_enough(cg *s)
{
    if (s->rr == 0) {
        sum_energy(s);
        set_error(s, 0);
        return 1;
    }
    if (s->options->energy_error > 0 && !energy_small_enough(s)) return 0;
    return s->options->relative_residual > 0 || !(s->options->energy_error > 0) ? residual_small_enough(s) : 1;
}

/* Estimates the error at the end of a pass that ended for another reason than its error. */
static void estimate_error(cg *s)
{
    if (s->rr == 0) return;
    double ratio = ratio_of(s), expected = fem_cg_error_expected(&s->error, ratio);
    fem_cg_error_look(&s->error);
    sum_energy(s);
    set_error(s, is_quick(s, ratio) ? expected : fmax(expected, fem_cg_error_bound(&s->error) / 4));
}

/* ------------------------------------------------------------------------------------------------------ iteration */

/* q = A x, r = b - q at free dofs, and its norm. */
static void true_residual(cg *s)
{
    fem_decomposition_product(s->decomposition, 0, s->x, s->q);
    fem_vector_subtract(s->b, s->q, s->r);
    fem_vector_mask(s->r);
    sum_norm(s);
}

/*
 * x += alpha p, r -= alpha q.  |r - alpha q|^2 = |r|^2 - 2 alpha (r, q) + alpha^2 |q|^2 is exact except for cancellation.  If too few
 * digits remain, and if the iteration is about to end, the norm is summed again.
 */
static void advance(cg *s, double alpha, double rq, double qq)
{
    fem_vector_advance(alpha, s->p, s->q, s->x, s->r);
    double rr = s->rr - 2 * alpha * rq + alpha * alpha * qq;
    set_norm(s, rr, s->doubt + rounding * (s->rr + 2 * fabs(alpha * rq) + alpha * alpha * qq));
    if (!(s->doubt <= trusted_doubt * rr) || residual_small_enough(s)) sum_norm(s);
}

/* Computes z = M r and (r, z). */
static yoke_status precondition(cg *s, double *rz)
{
    yoke_status status = s->m->apply(s->m->state, s->r, sqrt(s->rr), s->z);
    if (status) return status;
    /* otherwise x would have several values at a node, and rounding would slow the iteration down */
    fem_vector_agree(s->z);
    *rz = fem_vector_dot(s->r, s->z);
    if (!(*rz > 0) || !isfinite(*rz))
        return fail(s, "the preconditioner is not positive definite: the body is too thin for multigrid in single precision, which "
                       "solver.preconditioner: direct does without, or a material or an element is not valid");
    return YOKE_OK;
}

/*
 * Returns nonzero if the true residual at the beginning of a later pass proves that the error is at most the requested one, |x* - x|_A^2 <=
 * (r, M r) / lambda, so that no iteration is needed.
 */
static int is_certified(cg *s, double rz)
{
    double asked = s->options->energy_error, bound = isfinite(s->error.smallest) ? rz / s->error.smallest : INFINITY;
    s->certified = bound <= asked * asked * s->energy && (!(s->options->relative_residual > 0) || residual_small_enough(s));
    if (s->certified) set_error(s, bound);
    return s->certified;
}

/*
 * Iterates until the carried residual and the error that follows from it are small enough, or until the iteration stalls.  On entry r is
 * the true residual.
 */
static yoke_status iterate(cg *s)
{
    double rz_old = 0;
    s->pass_begin = s->best_at = s->result.iterations;
    s->best = INFINITY;
    s->next_look = 0;
    s->total_at_best = s->total_at = 0;
    fem_cg_error_start(&s->error);
    for (int first = 1; !small_enough(s); first = 0) {
        double rz = 0;
        yoke_status status = check(s);
        if (!status && (s->stalled || s->result.given_up)) return YOKE_OK;
        if (!status) status = precondition(s, &rz);
        if (status) return status;
        if (first && s->pass_begin > 0 && is_certified(s, rz)) return YOKE_OK;
        if (first)
            fem_vector_copy_scaled(1, s->z, s->p);
        else
            fem_vector_xpby(s->z, rz / rz_old, s->p);
        rz_old = rz;
        fem_decomposition_product(s->decomposition, 1, s->p, s->q);
        const fem_vector *left[3] = {s->p, s->r, s->q}, *right[3] = {s->q, s->q, s->q};
        double sums[3];
        fem_vector_dots(3, left, right, sums);
        if (!(sums[0] > 0) || !isfinite(sums[0]))
            return fail(s, "a direction without positive energy: the body is not constrained, or a material is not valid");
        advance(s, rz / sums[0], sums[1], sums[2]);
        fem_cg_error_add(&s->error, rz / sums[0], rz);
        s->result.iterations++;
    }
    return YOKE_OK;
}

static yoke_status fail_stalled(cg *s)
{
    return fail(
        s,
        "no progress: the body is hardly constrained, or its moduli or its elements' sides differ too much; constrain it better, or change "
        "the units or the mesh");
}

/* Ends because rounding prevents further improvement.  The solution is accepted if its energy error is small. */
static yoke_status end_by_rounding(cg *s, double error_square)
{
    double rz = 0;
    yoke_status status = s->rr > 0 ? precondition(s, &rz) : YOKE_OK;
    if (status) return status;
    sum_energy(s);
    set_error(s, isfinite(s->error.smallest) ? fmin(error_square, rz / s->error.smallest) : error_square);
    s->result.stopped_by_rounding = 1;
    if (s->result.energy_error <= FEM_ROUNDED_ERROR) return YOKE_OK;
    if (s->stalled) return fail_stalled(s);
    return fail(s, "the accuracy asked for is below rounding; ask for less, constrain the body better, or mesh it more evenly");
}

/*
 * Returns nonzero if the requested accuracy holds at the end of a pass.  The residual is now the true one; `carried` is the square of the
 * norm of the carried one.
 */
static int pass_succeeded(cg *s, int pass, double carried, double start_error)
{
    double asked = s->options->energy_error;
    if (s->stalled || (s->options->relative_residual > 0 && !residual_small_enough(s))) return 0;
    if (!(asked > 0)) return residual_small_enough(s);
    if (s->rr <= same_residual * same_residual * carried) return 1;
    /* start_error is an error computed from a true residual; rounding makes the error at the end of the pass about as large again */
    if (!pass || !(start_error <= asked * asked * s->energy)) return 0;
    set_error(s, start_error);
    return 1;
}

/*
 * Runs passes, each from the true residual, until the requested accuracy holds for the true residual too, or until a pass brings no
 * improvement.
 */
static yoke_status solve(cg *s)
{
    /* squared error at the beginning of the latest pass, as that pass estimated it; |r|^2 at its end */
    double start_error = INFINITY, rr = INFINITY;
    for (int pass = 0;; pass++) {
        yoke_status status = iterate(s);
        if (status || s->result.given_up || s->certified) return status;
        if (s->stalled && !(s->options->energy_error > 0)) return fail_stalled(s);
        double carried = s->rr, error_before = start_error, rr_before = rr;
        int iterations = s->result.iterations - s->pass_begin;
        true_residual(s);
        if (s->stalled || !(s->options->energy_error > 0) || s->rr > same_residual * same_residual * carried) estimate_error(s);
        start_error = s->error.total + s->error_square;
        rr = s->rr;
        if (pass_succeeded(s, pass, carried, start_error)) return YOKE_OK;
        int better = start_error <= worth_a_pass * error_before || rr <= worth_a_pass * rr_before;
        if (pass > 0 && (s->stalled || iterations < 2 || pass == MAX_PASSES || !better)) return end_by_rounding(s, start_error);
        if (iterations > 1) s->worst = fmax(s->worst, fem_cg_error_ratio(&s->error));
    }
}

static yoke_status start(cg *s)
{
    fem_vector_copy_scaled(1, s->b, s->r);
    fem_vector_mask(s->r);
    double bb = fem_vector_dot(s->r, s->r);
    s->norm_b = sqrt(bb);
    if (s->norm_b == 0) { /* there is no load: the solution is zero */
        fem_vector_zero(s->x);
        fem_vector_zero(s->q);
        return YOKE_OK;
    }
    if (s->options->from_zero) {
        fem_vector_zero(s->q);
        set_norm(s, bb, rounding * bb);
    } else {
        true_residual(s);
    }
    sum_energy(s);
    return solve(s);
}

yoke_status fem_cg(fem_decomposition *decomposition, const fem_approximate_inverse *m, const fem_vector *b, fem_vector *x, fem_vector *ax,
                   const fem_cg_options *options, const fem_hooks *hooks, fem_cg_result *result)
{
    cg s = {.decomposition = decomposition,
            .context = fem_decomposition_space(decomposition)->context,
            .m = m,
            .options = options,
            .hooks = hooks,
            .b = b,
            .x = x,
            .q = ax};
    fem_vector **vectors[] = {&s.r, &s.z, &s.p};
    s.result.energy_error = NAN;
    yoke_status status = fem_cg_error_create(s.context, options->max_iterations, &s.error);
    for (int i = 0; i < 3 && !status; i++) status = fem_vector_create(decomposition, vectors[i]);
    status = app_ranks_agree(fem_decomposition_space(decomposition)->ranks, status);
    if (!status) {
        status = start(&s);
        if (!isfinite(s.result.energy_error)) s.result.energy_error = NAN;
        *result = s.result;
    }
    for (int i = 0; i < 3; i++) fem_vector_destroy(*vectors[i]);
    fem_cg_error_destroy(&s.error);
    return status;
}
