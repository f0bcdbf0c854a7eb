#include "fast.h"

#include <math.h>

#include "common/interrupt.h"
#include "devices.h"
#include "near/sample.h"

enum { SAMPLE_SEED = 1 }; /* of the particles that are compared with direct sums */

typedef struct job {
    app_terminal *terminal;
    const fmm_particles *particles;
    const fmm_fast_options *options;
    fmm_field *field;
    fmm_tuned *tuned;
    fmm_result *result;
    fmm_method *method;
    fmm_tuning *tuning; /* NULL: the tree is given */
    int depth;
    int64_t capacity;
    double order_s;        /* that the choice of the order took */
    double sort_s;         /* that a tree that was taken over took */
    fmm_accuracy accuracy; /* of the order that was chosen */
} job;

/* ------------------------------------------------------------------------------------------------ tree and order */

/* The tree that is given, or the best for an order; capacity 0: a uniform one. */
static yoke_status find_tree(job *j, int order)
{
    const fmm_fast_options *o = j->options;
    const fmm_choice *choice = &j->tuned->choice;
    j->capacity = o->leaf > 0 ? o->leaf : 0;
    j->depth = o->depth < 0 && o->leaf > 0 ? FMM_MAX_DEPTH : (int)o->depth;
    if (!j->tuning) {
        if (j->depth < 0) j->depth = 0; /* few particles */
        return YOKE_OK;
    }
    yoke_status status = fmm_tuning_choose(j->tuning, order, j->tuned);
    if (!status && j->depth >= 0) status = fmm_tuning_take(j->particles->context, j->depth, j->tuned);
    if (status) return status;
    j->depth = choice->depth;
    j->capacity = choice->adaptive < 0 ? 0 : choice->capacity[choice->adaptive];
    j->result->tuned = j->tuned;
    j->result->tune_s = j->tuned->analysis_s + (j->tuned->measured_now ? 0 : j->tuned->machine_s);
    return status;
}

/* What finds trees, where it is needed. */
static yoke_status open_tuning(job *j)
{
    const fmm_fast_options *o = j->options;
    const int given = o->depth >= 0 || o->leaf > 0 || j->particles->count < FMM_FEW_PARTICLES,
              depth = o->tuning->measure_all ? -1 : (int)o->depth;
    if (given && !fmm_tuning_asked(o->tuning)) return YOKE_OK;
    return fmm_tuning_open(j->terminal, j->particles, o->tuning, depth, j->field->gx != NULL, &j->tuning);
}

/* The tuning's tree is taken over once. */
static yoke_status create_method(job *j, int order)
{
    const int gradient = j->field->gx != NULL, first = !j->method;
    const fmm_method_options options = {.depth = j->depth,
                                        .capacity = j->capacity,
                                        .direct = fmm_method_direct(order, gradient),
                                        .gradient = gradient,
                                        .tree = j->tuning && first ? fmm_tuning_take_tree(j->tuning) : NULL};
    fmm_method_destroy(j->method);
    j->method = NULL;
    j->sort_s = options.tree ? j->tuned->sort_s : 0;
    yoke_status status = fmm_method_create(j->particles, &options, &j->method);
    return status ? status : app_interrupt_check(j->particles->context);
}

static yoke_status choose_order(job *j)
{
    fmm_result *r = j->result;
    double begin_s = yoke_clock_s();
    app_progress(j->terminal, "%lld particles: which order keeps the error", (long long)j->particles->count);
    fmm_request request = j->options->request;
    request.guess = j->accuracy.order; /* with another tree before */
    yoke_status status = fmm_choose_order(j->method, j->particles->charge, &request, &j->accuracy);
    if (status) return status;
    j->order_s += yoke_clock_s() - begin_s;
    r->requested_error = j->options->request.error;
    r->forces = j->options->request.of == FMM_FORCES;
    r->predicted_potential = j->accuracy.potential;
    if (j->field->gx) r->predicted_force = j->accuracy.force;
    return app_interrupt_check(j->particles->context);
}

/* The best tree depends on the order, and that a little on the tree: first with a usual order, then with the one that this tree needs. */
static yoke_status choose_both(job *j)
{
    int usual = fmm_order_guess(j->options->request.error);
    yoke_status status = find_tree(j, usual);
    if (!status) status = create_method(j, usual);
    if (!status) status = choose_order(j);
    if (status || !j->tuning || j->accuracy.order == usual || j->depth < 2) return status;
    int depth = j->depth;
    int64_t capacity = j->capacity;
    status = find_tree(j, j->accuracy.order);
    if (status || (depth == j->depth && capacity == j->capacity)) return status;
    status = create_method(j, j->accuracy.order);
    return status ? status : choose_order(j);
}

/* ------------------------------------------------------------------------------------------------ runs */

/* How many particles are compared with direct sums unless --check says it: they have at most a tenth of the near field's pairs, but are 100 or more. */
static int64_t sample_size(int64_t particles, const fmm_method_pairs *pairs)
{
    int64_t cheap = particles > 0 ? pairs->near / 10 / particles : 0;
    return cheap < 100 ? 100 : cheap > 1000 ? 1000 : cheap;
}

static yoke_status check_sample(job *j, const fmm_method_pairs *pairs)
{
    yoke_status status = YOKE_OK;
    int64_t count = j->options->check >= 0 ? j->options->check : sample_size(j->particles->count, pairs);
    double begin_s = yoke_clock_s();
    if (count > 0) status = fmm_sample_error(j->particles, j->field, count, SAMPLE_SEED, &j->result->sample);
    if (count > 0) j->result->check_s = yoke_clock_s() - begin_s;
    return status;
}

static yoke_status run_method(job *j, fmm_method_seconds *seconds)
{
    const fmm_fast_options *o = j->options;
    if (!o->run) return fmm_method_run(j->method, j->particles->charge, j->field, seconds);
    return fmm_devices_run(o->run, j->method, o->tries, j->particles->charge, j->field, seconds, j->result);
}

static yoke_status run(job *j, int order)
{
    fmm_result *r = j->result;
    fmm_method_seconds seconds;
    app_progress(j->terminal, "%lld particles, order %d", (long long)j->particles->count, order);
    yoke_status status = fmm_method_set_order(j->method, order);
    if (!status) status = app_interrupt_check(j->particles->context);
    if (!status) status = run_method(j, &seconds);
    if (status) return status;
    const fmm_tree *tree = fmm_method_tree(j->method);
    const fmm_method_pairs pairs = fmm_method_count(j->method);
    seconds.tree += j->sort_s;
    const fmm_seconds taken = fmm_tuning_seconds(&seconds);
    if (r->tuned) *(j->capacity > 0 ? &j->tuned->measured_at[j->tuned->choice.adaptive] : &j->tuned->measured[j->depth]) = taken;
    r->depth = tree->depth;
    r->leaf = j->capacity;
    r->leaves = tree->leaves.count;
    r->order = order;
    r->tree_s = taken.tree;
    r->far_s = taken.far;
    r->near_s = taken.near;
    r->pairs = (double)pairs.near;
    r->far_pairs = (double)pairs.far;
    r->w_pairs = (double)pairs.w;
    return check_sample(j, &pairs);
}

/* By how much the order of the last run was too low. */
static int order_missing(const job *j)
{
    const fmm_result *r = j->result;
    return r->depth < 2 ? 0 : fmm_order_missing(&j->options->request, &j->accuracy, &r->sample, r->order);
}

static yoke_status run_until_kept(job *j)
{
    yoke_status status = run(j, j->accuracy.order);
    for (int missing; !status && (missing = order_missing(j)) > 0;) {
        fmm_result *r = j->result;
        yoke_log(j->particles->context, YOKE_LOG_WARNING,
                 "order %d may leave an error of %.2g instead of %.2g: running again with order %d", r->order,
                 r->forces ? r->sample.force : r->sample.potential, r->requested_error, r->order + missing);
        r->raised += missing;
        status = run(j, r->order + missing);
        j->accuracy.potential_uncertainty = j->accuracy.force_uncertainty = INFINITY; /* the prediction is of another order */
    }
    return status;
}

static yoke_status compute(job *j)
{
    const int order = (int)j->options->order;
    yoke_status status = YOKE_OK;
    if (order < 0) {
        status = choose_both(j);
    } else {
        status = find_tree(j, order);
        if (!status) status = create_method(j, order);
    }
    if (!status && j->options->tuning->measure_all) status = fmm_tuning_measure(j->terminal, j->particles, j->field->gx != NULL, j->tuned);
    if (order < 0) j->result->tune_s = (isnan(j->result->tune_s) ? 0 : j->result->tune_s) + j->order_s;
    if (status) return status;
    return order < 0 ? run_until_kept(j) : run(j, order);
}

yoke_status fmm_fast(app_terminal *terminal, const fmm_particles *particles, const fmm_fast_options *options, fmm_field *field,
                     fmm_tuned *tuned, fmm_result *result)
{
    job j = {.terminal = terminal, .particles = particles, .options = options, .field = field, .tuned = tuned, .result = result};
    yoke_status status = open_tuning(&j);
    if (!status) status = compute(&j);
    fmm_tuning_close(j.tuning);
    fmm_method_destroy(j.method);
    return status;
}
