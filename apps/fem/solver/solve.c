#include "solver/solve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "solver/direct/direct.h"
#include "solver/multigrid/multigrid.h"
#include "solver/solve_cut.h"
#include "solver/watch.h"

static const int stagnation[] = {[FEM_SOLVER_JACOBI] = 2000, [FEM_SOLVER_MULTIGRID] = 60, [FEM_SOLVER_DIRECT] = 10};

typedef struct solve {
    const fem_space *space;
    const fem_constraints *constraints;
    const fem_solve_options *options;
    const fem_hooks *hooks;
    int32_t cut[FEM_MAX_DEVICES + 1]; /* the cut of the present start */
    fem_decomposition *decomposition;
    fem_multigrid *multigrid;
    fem_direct *direct, *candidate; /* candidate: analysed but not factored */
    int no_factor;                  /* nonzero: the factor cannot be analysed, or does not fit */
    fem_solver_watch watch;
    fem_vector *b, *x, *work;
    fem_vector *lifting; /* A g of the prescribed values g; NULL: all of them are zero */
    double lifting_energy;
    fem_solution *solution;
    int lifted; /* nonzero: at least one prescribed value is not zero */
} solve;

void fem_solution_destroy(fem_solution *solution)
{
    if (!solution) return;
    yoke_release(solution->context, solution->u);
    yoke_release(solution->context, solution->load);
    yoke_release(solution->context, solution->residual);
    yoke_release(solution->context, solution);
}

/* Returns one of the devices that have elements if all of those are simulated; otherwise NULL. */
static const yoke_device *simulated_device(const solve *s)
{
    const fem_devices *devices = s->options->devices;
    const yoke_device *simulated = NULL;
    for (int i = 0; i < devices->count; i++) {
        if (s->cut[i] == s->cut[i + 1]) continue;
        if (strcmp(devices->list[i].info->kind, "sim") != 0) return NULL;
        simulated = devices->list[i].device;
    }
    return simulated;
}

/* Reads the virtual clock if all devices with elements are simulated; otherwise the real clock. */
static double clock_s(const solve *s)
{
    const yoke_device *simulated = simulated_device(s);
    return simulated ? yoke_device_clock_s(simulated) : yoke_clock_s();
}

static yoke_status apply_blocks(void *state, const fem_vector *r, double norm_r, fem_vector *z)
{
    (void)norm_r;
    fem_decomposition_block_solve(state, r, z);
    return YOKE_OK;
}

/* Makes the factor of the whole matrix the preconditioner. */
static yoke_status take_factor(solve *s)
{
    yoke_status status = s->candidate ? YOKE_OK : fem_direct_analyze(s->space, s->constraints, &s->candidate);
    if (!status) status = fem_direct_factorize(s->candidate, s->options->memory_bytes, s->hooks);
    if (status) return status;
    s->direct = s->candidate;
    s->candidate = NULL;
    return YOKE_OK;
}

/* Reports that both solvers have failed, with the messages of the first and the second one. */
static yoke_status fail_both(const solve *s, yoke_status status, const char *multigrid)
{
    char direct[1024];
    if (status != YOKE_ERROR_MEMORY && status != YOKE_ERROR_NUMERIC) return status;
    snprintf(direct, sizeof direct, "%s", yoke_last_error(s->space->context));
    return yoke_fail(s->space->context, status, "multigrid: %s; then tried instead: %s", multigrid, direct);
}

/*
 * Replaces multigrid by the factor after a failed set-up: a level, or a block of the smoother, may be too close to singular although the
 * whole matrix is not.
 */
static yoke_status replace_multigrid(solve *s)
{
    char cause[1024];
    fem_solution *out = s->solution;
    snprintf(cause, sizeof cause, "%s", yoke_last_error(s->space->context));
    snprintf(out->reason, sizeof out->reason, "direct: multigrid could not be set up: %.*s", FEM_SOLUTION_REASON - 48, cause);
    out->setup_failed = 1;
    out->slow_iterations = INFINITY;
    out->compared_multigrid = out->compared_direct = NAN;
    yoke_status status = take_factor(s);
    return status ? fail_both(s, status, cause) : YOKE_OK;
}

static yoke_status make_preconditioner(solve *s)
{
    if (s->options->solver == FEM_SOLVER_DIRECT) return take_factor(s);
    if (s->options->solver == FEM_SOLVER_JACOBI) return YOKE_OK;
    const fem_multigrid_options options = {.devices = s->options->devices,
                                           .cut = s->cut,
                                           .exchange = s->options->exchange,
                                           .unmeasured = s->options->unmeasured,
                                           .shared_elements = s->options->shared_elements,
                                           .keeper = s->options->keeper};
    const yoke_status status = fem_multigrid_create(s->space, s->constraints, &options, s->hooks, &s->multigrid);
    return status == YOKE_ERROR_NUMERIC && s->options->rescue ? replace_multigrid(s) : status;
}

static yoke_status make_operators(solve *s)
{
    fem_decomposition_options options = {.devices = s->options->devices,
                                         .cut = s->cut,
                                         .precision = FEM_DOUBLE,
                                         .operator_kind = s->options->operator_kind,
                                         .exchange = s->options->exchange,
                                         .unmeasured = s->options->unmeasured};
    yoke_status status = fem_decomposition_create(s->space, s->constraints, &options, &s->decomposition);
    fem_vector **vectors[] = {&s->b, &s->x, &s->work};
    for (int i = 0; i < 3 && !status; i++) status = fem_vector_create(s->decomposition, vectors[i]);
    if (!status && s->lifted) status = fem_vector_create(s->decomposition, &s->lifting);
    status = app_ranks_agree(s->space->ranks, status);
    return status ? status : make_preconditioner(s);
}

static void destroy_operators(solve *s)
{
    fem_multigrid_destroy(s->multigrid);
    fem_direct_destroy(s->direct);
    fem_direct_destroy(s->candidate);
    fem_vector_destroy(s->b);
    fem_vector_destroy(s->x);
    fem_vector_destroy(s->work);
    fem_vector_destroy(s->lifting);
    fem_decomposition_destroy(s->decomposition);
    s->multigrid = NULL;
    s->direct = s->candidate = NULL;
    s->b = s->x = s->work = s->lifting = NULL;
    s->decomposition = NULL;
}

/* Returns nonzero if a prescribed value on any rank is not zero. */
static int has_values(const fem_constraints *constraints, const fem_space *space)
{
    int64_t i = 0, dofs = (int64_t)space->num_nodes * space->components;
    while (i < dofs && constraints->value[i] == 0) i++;
    double any = i < dofs;
    app_ranks_max(space->ranks, &any, 1);
    return any > 0;
}

/* b = load - A g with the prescribed values g; x = the start value at free dofs. */
static void lift(solve *s, const double *start)
{
    fem_vector_write(s->b, s->solution->load);
    if (s->lifted) {
        fem_vector_write(s->x, s->constraints->value);
        fem_decomposition_product(s->decomposition, 0, s->x, s->lifting);
        fem_vector_subtract(s->b, s->lifting, s->b);
        s->lifting_energy = fem_vector_dot(s->x, s->lifting);
    }
    if (start)
        fem_vector_write(s->x, start);
    else if (s->lifted)
        fem_vector_zero(s->x);
    if (start) fem_vector_mask(s->x);
}

/* Computes from work = A x: u = x + g, the residual A u - load = A x - b, and the energy. */
static void finish(solve *s)
{
    fem_solution *out = s->solution;
    fem_vector_subtract(s->work, s->b, s->b);
    fem_vector_read(s->b, out->residual);
    if (s->lifted) {
        fem_vector_write(s->work, out->load);
        fem_vector_axpy(1, s->b, s->work); /* A u */
        fem_vector_write(s->b, s->constraints->value);
        fem_vector_axpy(1, s->b, s->x);
    }
    out->strain_energy_j = 0.5 * fem_vector_dot(s->x, s->work);
    fem_vector_read(s->x, out->u);
}

/* Adds two numbers; if only one of them is known, returns that one. */
static double add_known(double a, double b) { return isnan(a) ? b : isnan(b) ? a : a + b; }

static void fill_shares(solve *s)
{
    fem_solution *out = s->solution;
    out->num_shares = s->options->devices->count;
    for (int i = 0; i < out->num_shares; i++) {
        fem_decomposition_share fine, level = {.product_seconds = NAN, .setup_moved_s = NAN};
        fem_decomposition_get_share(s->decomposition, i, &fine);
        if (s->multigrid) fem_decomposition_get_share(fem_multigrid_decomposition(s->multigrid), i, &level);
        double seconds = add_known(fine.product_seconds, level.product_seconds) / (double)out->operator_applications;
        out->shares[i] = (fem_solve_share){.elements = fine.elements,
                                           .seconds_per_product = seconds,
                                           .seconds_per_element = fine.elements ? seconds / fine.elements : (double)NAN,
                                           .interface_bytes = fine.interface_bytes,
                                           .setup_moved_s = add_known(fine.setup_moved_s, level.setup_moved_s)};
    }
}

/* ----------------------------------------------------------------------------------------- change to the factor */

static double dofs_of(const solve *s) { return (double)s->space->num_global_nodes * s->space->components; }

/* The analysis is worth its time only if many iterations remain.  A factor that cannot be analysed counts as too expensive. */
static int is_factor_cheaper(solve *s, double left)
{
    double bytes;
    const double dofs = dofs_of(s), multigrid = left * fem_multigrid_get_work(s->multigrid).iteration;
    if (fem_direct_least_operations(dofs) > multigrid || s->no_factor) return 0;
    if (!s->candidate && fem_direct_analyze(s->space, s->constraints, &s->candidate)) s->no_factor = 1;
    if (!s->candidate) return 0;
    const fem_cholesky_cost cost = fem_direct_cost(s->candidate);
    s->solution->compared_multigrid = multigrid;
    s->solution->compared_direct = fem_direct_operations(dofs, &cost);
    if (!fem_direct_fits(s->candidate, s->options->memory_bytes, &bytes)) s->no_factor = 1;
    return !s->no_factor && s->solution->compared_direct <= multigrid;
}

static int is_too_slow(int iteration, double reached, void *user)
{
    solve *s = user;
    const double left = fem_solver_watch_left(&s->watch, iteration, reached);
    if (!(left > 0) || !is_factor_cheaper(s, left)) return 0;
    s->solution->slow_iterations = iteration + left;
    return 1;
}

static fem_approximate_inverse inverse_of(const solve *s)
{
    if (s->direct) return fem_direct_inverse(s->direct);
    return s->multigrid ? fem_multigrid_inverse(s->multigrid) : (fem_approximate_inverse){apply_blocks, s->decomposition};
}

static yoke_status run_cg(solve *s, int from_zero, fem_cg_result *result)
{
    const fem_approximate_inverse inverse = inverse_of(s);
    const fem_cg_options options = {.energy_error = s->options->energy_error,
                                    .relative_residual = s->options->relative_residual,
                                    .lifting = s->lifting,
                                    .lifting_energy = s->lifting_energy,
                                    .rough = s->options->solver == FEM_SOLVER_JACOBI,
                                    .max_iterations = s->options->max_iterations,
                                    .stagnation = stagnation[s->direct ? FEM_SOLVER_DIRECT : s->options->solver],
                                    .from_zero = from_zero,
                                    .give_up = s->multigrid && s->options->rescue && !s->direct ? is_too_slow : NULL,
                                    .user = s};
    return fem_cg(s->decomposition, &inverse, s->b, s->x, s->work, &options, s->hooks, result);
}

/* Returns nonzero if the factor is to take over.  It does not if max_iterations is reached, which is the user's limit. */
static int is_to_be_rescued(const solve *s, yoke_status status, const fem_cg_result *result)
{
    return status == YOKE_OK ? result->given_up : status == YOKE_ERROR_NUMERIC && result->iterations < s->options->max_iterations;
}

/*
 * Multigrid was given up (YOKE_OK) or failed.  The factor continues from the values that multigrid reached if these are better than zero,
 * else from the start.
 */
static yoke_status rescue(solve *s, yoke_status status, const double *start, fem_cg_result *result)
{
    char reached[1024];
    fem_solution *out = s->solution;
    const int failed = status != YOKE_OK, iterations = result->iterations;
    snprintf(reached, sizeof reached, "%s", failed ? yoke_last_error(s->space->context) : "too slow");
    if (failed) {
        out->slow_iterations = INFINITY;
        out->compared_multigrid = out->compared_direct = NAN;
        snprintf(out->reason, sizeof out->reason, "direct: multigrid failed after %d iterations at a relative residual of %.1e", iterations,
                 result->relative_residual);
    } else {
        snprintf(out->reason, sizeof out->reason,
                 "direct: after %d iterations multigrid was expected to need %.0f (operations: multigrid %.2g, factor %.2g)", iterations,
                 out->slow_iterations, out->compared_multigrid, out->compared_direct);
    }
    status = take_factor(s);
    if (status) return fail_both(s, status, reached);
    if (!(result->relative_residual < 1)) lift(s, start);
    status = run_cg(s, 0, result);
    result->iterations += iterations;
    return status ? fail_both(s, status, reached) : YOKE_OK;
}

/* ---------------------------------------------------------------------------------------------- counts and times */

static int64_t fine_products(const solve *s)
{
    return fem_decomposition_products(s->decomposition) + (s->multigrid ? fem_multigrid_fine_products(s->multigrid) : 0);
}

/* Writes the number of products so far on each coarser level; returns the number of these levels. */
static int count_level_products(const solve *s, int64_t *products)
{
    int count = s->multigrid ? fem_multigrid_levels(s->multigrid) - 1 : 0;
    if (count > FEM_MAX_SOLVE_LEVELS) count = FEM_MAX_SOLVE_LEVELS;
    for (int l = 0; l < count; l++) products[l] = fem_decomposition_products(fem_multigrid_level_decomposition(s->multigrid, l + 1));
    return count;
}

/* before: number of products on each level when the iteration began. */
static void fill_levels(solve *s, const int64_t *before)
{
    fem_solution *out = s->solution;
    int64_t products[FEM_MAX_SOLVE_LEVELS];
    out->num_levels = count_level_products(s, products);
    for (int l = 0; l < out->num_levels; l++) {
        fem_decomposition *decomposition = fem_multigrid_level_decomposition(s->multigrid, l + 1);
        const fem_space *space = fem_decomposition_space(decomposition);
        fem_solve_level *level = &out->levels[l];
        *level = (fem_solve_level){
            .elements = space->num_elements, .dofs = (int64_t)space->num_nodes * space->components, .products = products[l] - before[l]};
        for (int i = 0; i < s->options->devices->count; i++) {
            fem_decomposition_share share;
            fem_decomposition_get_share(decomposition, i, &share);
            level->subdomain_elements[i] = share.elements;
            level->seconds_per_product[i] = products[l] ? share.product_seconds / (double)products[l] : (double)NAN;
        }
    }
}

static void fill_counts(solve *s, const fem_cg_result *result)
{
    enum { VECTORS = 3 + 3 }; /* those of this file and of the conjugate gradients */
    fem_solution *out = s->solution;
    int64_t dofs = (int64_t)s->space->num_nodes * s->space->components;
    out->solver = s->direct ? FEM_SOLVER_DIRECT : s->options->solver;
    out->multigrid_work = s->multigrid ? fem_multigrid_get_work(s->multigrid) : (fem_multigrid_work){0, 0};
    out->direct_operations = s->direct ? fem_direct_cost(s->direct).operations : 0;
    out->iterations = result->iterations;
    out->relative_residual = result->relative_residual;
    out->energy_error = result->energy_error;
    out->stopped_by_rounding = result->stopped_by_rounding;
    out->operator_applications = fine_products(s);
    out->memory_bytes = fem_decomposition_memory_bytes(s->decomposition) + (VECTORS + s->lifted) * (int64_t)sizeof(double) * dofs +
                        (s->multigrid ? fem_multigrid_memory_bytes(s->multigrid) : 0) +
                        (s->direct ? fem_direct_memory_bytes(s->direct) : 0);
    fill_shares(s);
}

static void count_sent(const solve *s, int64_t *messages, int64_t *bytes)
{
    *messages = *bytes = 0;
    fem_decomposition_add_sent(s->decomposition, messages, bytes);
    if (s->multigrid) fem_multigrid_add_sent(s->multigrid, messages, bytes);
    if (s->direct) fem_direct_add_sent(s->direct, messages, bytes);
}

static yoke_status iterate(solve *s, const double *start, fem_cg_result *result)
{
    int64_t messages, bytes, messages_before, bytes_before;
    count_sent(s, &messages_before, &bytes_before);
    lift(s, start);
    fem_solver_watch_start(&s->watch, s->options->relative_residual > 0 ? s->options->relative_residual : s->options->energy_error);
    yoke_status status = run_cg(s, !start, result);
    if (s->options->rescue && s->multigrid && is_to_be_rescued(s, status, result)) status = rescue(s, status, start, result);
    if (status) return status;
    count_sent(s, &messages, &bytes);
    const double iterations = result->iterations > 0 ? result->iterations : 1;
    s->solution->messages_per_iteration = (double)(messages - messages_before) / iterations;
    s->solution->sent_bytes_per_iteration = (double)(bytes - bytes_before) / iterations;
    finish(s);
    return fem_decomposition_status(s->decomposition);
}

/* Runs one start of the solve on the devices of s->cut. */
static yoke_status run(solve *s, const double *start)
{
    fem_cg_result result = {0};
    const fem_solve_round *round = s->options->round;
    int64_t level_products[FEM_MAX_SOLVE_LEVELS];
    double begin = clock_s(s);
    s->solution->slow_iterations = 0; /* these three may be left from an earlier start */
    s->solution->setup_failed = 0;
    s->solution->reason[0] = 0;
    yoke_status status = make_operators(s);
    if (!status && round) status = app_ranks_agree(s->space->ranks, round->begin(round->user));
    if (status) return status;
    s->solution->setup_products = fine_products(s);
    count_level_products(s, level_products);
    double ready = clock_s(s);
    status = iterate(s, start, &result);
    double done = clock_s(s);
    if (status) return status;
    s->solution->setup_s += ready - begin;
    s->solution->solve_s = done - ready;
    fill_counts(s, &result);
    fill_levels(s, level_products);
    return round ? app_ranks_agree(s->space->ranks, round->end(round->user, s->solution)) : YOKE_OK;
}

/* Returns nonzero if on any rank a device failed, or can hold fewer elements, since the last start. */
static int count_worse(const solve *s, int failed_before)
{
    double worse = fem_solve_limit(s->space, s->options, s->cut) - failed_before;
    for (int i = 0; i < s->options->devices->count; i++) worse += s->options->devices->list[i].failed;
    app_ranks_sum(s->space->ranks, &worse, 1);
    return worse > 0;
}

/* Starts again on fewer devices, or with fewer elements on them, as long as that can succeed. */
static yoke_status run_on_what_works(solve *s, const double *start)
{
    fem_devices *devices = s->options->devices;
    app_ranks *ranks = s->space->ranks;
    yoke_status status = app_ranks_agree(ranks, fem_solve_cut(devices, s->options->cut, s->cut));
    while (!status) {
        int failed = 0;
        for (int i = 0; i < devices->count; i++) failed += devices->list[i].failed;
        status = run(s, start);
        destroy_operators(s);
        if (status != YOKE_ERROR_DEVICE && status != YOKE_ERROR_DEVICE_MEMORY) break;
        if (!count_worse(s, failed)) break;
        status = fem_solve_cut(devices, s->cut, s->cut);
        if (!status && s->options->round) status = s->options->round->restart(s->options->round->user, s->cut);
        status = app_ranks_agree(ranks, status);
        s->solution->restarts++;
    }
    return status;
}

static yoke_status create_solution(const fem_space *space, fem_solution **out)
{
    fem_solution *solution;
    int64_t dofs = (int64_t)space->num_nodes * space->components;
    yoke_status status = yoke_allocate(space->context, 1, sizeof *solution, &solution);
    if (status) return status;
    solution->context = space->context;
    status = yoke_allocate(space->context, dofs, sizeof(double), &solution->u);
    if (!status) status = yoke_allocate(space->context, dofs, sizeof(double), &solution->load);
    if (!status) status = yoke_allocate(space->context, dofs, sizeof(double), &solution->residual);
    if (status)
        fem_solution_destroy(solution);
    else
        *out = solution;
    return status;
}

yoke_status fem_solve(const fem_space *space, const fem_boundary *boundary, const fem_constraints *constraints, const double *start,
                      const fem_solve_options *options, const fem_hooks *hooks, fem_solution **out)
{
    solve s = {.space = space, .constraints = constraints, .options = options, .hooks = hooks, .lifted = has_values(constraints, space)};
    yoke_status status = app_ranks_agree(space->ranks, create_solution(space, &s.solution));
    if (status) {
        fem_solution_destroy(s.solution);
        return status;
    }
    s.solution->solver = options->solver;
    double begin = yoke_clock_s();
    status = fem_space_load(space, boundary, s.solution->load);
    s.solution->setup_s = yoke_clock_s() - begin;
    if (!status) status = run_on_what_works(&s, start);
    if (status)
        fem_solution_destroy(s.solution);
    else
        *out = s.solution;
    return status;
}
