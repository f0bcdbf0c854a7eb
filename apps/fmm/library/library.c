/*
 * library.c - what yoke_fmm.h declares: an object that keeps the tree of its last particles, and the choice that it was built by.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "library/arrays.h"
#include "method/method.h"
#include "near/sample.h"
#include "particles/coincident.h"
#include "tune/accuracy.h"
#include "tune/tune.h"

enum { MAX_THREADS = 1024, SAMPLE_SEED = 1 };

/* What a choice was made for: a tree that differs by more than a fifth asks for another. */
typedef struct sizes {
    int64_t particles, leaves, near_pairs;
} sizes;

struct yoke_fmm {
    yoke_context *context;
    yoke_fmm_options options; /* texts are the object's */
    char *store, *declared;
    fmm_tuned tuned;
    int chosen; /* nonzero: tuned is of a choice */
    int depth;
    int64_t capacity; /* 0: a uniform tree */
    int order;        /* given, or chosen last */
    sizes sizes;      /* when it was chosen */
    fmm_particles *particles;
    fmm_method *method;    /* of their positions; NULL: there is none */
    int ordered;           /* nonzero: the order was chosen for the tree and charges that are kept */
    fmm_accuracy accuracy; /* of that order */
    fmm_sample sample;     /* of the last run */
    yoke_fmm_result result;
};

/* ------------------------------------------------------------------------------------------- creation */

static yoke_status check_options(yoke_context *context, const yoke_fmm_options *o)
{
    if (o->order < 0 || o->order > FMM_MAX_ORDER)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_fmm_create: order %d; it has to be 0 (chosen) to %d", o->order, FMM_MAX_ORDER);
    if (!(o->error >= 0 && o->error <= 1))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_fmm_create: error %g; it has to be above 0 and at most 1, or 0 for 1e-3",
                         o->error);
    if (o->error > 0 && (o->order || o->direct))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_fmm_create: error chooses the order: give one of error, order and direct");
    if (o->error_of_forces && o->potential_only)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_fmm_create: error_of_forces needs forces: leave potential_only 0");
    if (o->depth < 0 || o->depth > FMM_MAX_DEPTH)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_fmm_create: depth %d; it has to be 0 (chosen) to %d", o->depth, FMM_MAX_DEPTH);
    if (o->leaf < 0) return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_fmm_create: leaf %lld is negative", (long long)o->leaf);
    if (o->direct && (o->depth || o->leaf))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_fmm_create: direct sums have no tree: leave depth and leaf 0");
    if (o->threads < 0 || o->threads > MAX_THREADS)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_fmm_create: %d threads; there may be 0 (all) to %d", o->threads, MAX_THREADS);
    if ((int)o->objective < YOKE_OBJECTIVE_TIME || (int)o->objective > YOKE_OBJECTIVE_ED2P)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_fmm_create: objective %d is not a yoke_objective", (int)o->objective);
    if (o->check < 0) return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_fmm_create: check %lld is negative", (long long)o->check);
    return YOKE_OK;
}

static yoke_status copy_text(yoke_context *context, const char *text, char **copy)
{
    if (!text) return YOKE_OK;
    yoke_status status = yoke_allocate(context, (int64_t)strlen(text) + 1, 1, copy);
    if (!status) strcpy(*copy, text);
    return status;
}

static yoke_fmm_result nothing(const yoke_fmm *fmm)
{
    return (yoke_fmm_result){.order = fmm->options.direct ? 0 : fmm->options.order,
                             .near_pairs = NAN,
                             .far_pairs = NAN,
                             .predicted_s = NAN,
                             .predicted_j = NAN,
                             .tune_s = NAN,
                             .tree_s = NAN,
                             .near_s = NAN,
                             .far_s = NAN,
                             .total_energy = NAN,
                             .predicted_potential_error = NAN,
                             .predicted_force_error = NAN,
                             .sampled_potential_error = NAN,
                             .sampled_force_error = NAN};
}

yoke_status yoke_fmm_create_for(int interface_number, yoke_context *context, const yoke_fmm_options *options, yoke_fmm **fmm)
{
    yoke_fmm *created = NULL;
    if (interface_number != YOKE_INTERFACE)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "this program was built for libyoke_fmm %d.%d, and runs with %d.%d: build it again",
                         interface_number / 1000, interface_number % 1000, YOKE_VERSION_MAJOR, YOKE_VERSION_MINOR);
    if (!context || !options || !fmm) return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_fmm_create: context, options or fmm is NULL");
    yoke_status status = check_options(context, options);
    if (!status) status = yoke_allocate(context, 1, sizeof *created, &created);
    if (status) return status;
    created->context = context;
    created->options = *options;
    created->order = options->order;
    status = copy_text(context, options->store, &created->store);
    if (!status) status = copy_text(context, options->declared, &created->declared);
    created->result = nothing(created);
    if (status)
        yoke_fmm_destroy(created);
    else
        *fmm = created;
    return status;
}

static void forget_tree(yoke_fmm *fmm)
{
    fmm_method_destroy(fmm->method);
    fmm_particles_destroy(fmm->particles);
    fmm->method = NULL;
    fmm->particles = NULL;
}

void yoke_fmm_destroy(yoke_fmm *fmm)
{
    if (!fmm) return;
    forget_tree(fmm);
    yoke_release(fmm->context, fmm->store);
    yoke_release(fmm->context, fmm->declared);
    yoke_release(fmm->context, fmm);
}

/* --------------------------------------------------------------------------------------------- the tree */

static int tree_is_given(const yoke_fmm *fmm) { return fmm->options.direct || fmm->options.depth > 0 || fmm->options.leaf > 0; }

static int order_is_chosen(const yoke_fmm *fmm) { return !fmm->options.direct && !fmm->options.order; }

static fmm_request request_of(const yoke_fmm *fmm)
{
    return (fmm_request){fmm->options.error > 0 ? fmm->options.error : 1e-3, fmm->options.error_of_forces ? FMM_FORCES : FMM_POTENTIALS, 0};
}

static yoke_status set_order(yoke_fmm *fmm, fmm_method *method, int order)
{
    fmm->result.order = order;
    return fmm_method_set_order(method, order);
}

/* tree: NULL, or the particles sorted, which is taken over.  An adaptive tree of the kept choice is as deep as its leaves ask. */
static yoke_status build(yoke_fmm *fmm, const fmm_particles *particles, int order, fmm_tree *tree, fmm_method **method)
{
    const int gradient = !fmm->options.potential_only;
    const fmm_method_options options = {.depth = fmm->chosen && fmm->capacity > 0 && !tree ? FMM_MAX_DEPTH : fmm->depth,
                                        .capacity = fmm->capacity,
                                        .direct = fmm_method_direct(order, gradient),
                                        .gradient = gradient,
                                        .tree = tree};
    fmm_method_destroy(*method);
    *method = NULL;
    fmm->ordered = 0;
    fmm->result.built = 1;
    double begin_s = yoke_clock_s();
    yoke_status status = fmm_method_create(particles, &options, method);
    if (!status) status = set_order(fmm, *method, order);
    fmm->result.tree_s = yoke_clock_s() - begin_s;
    return status;
}

static yoke_status choose_order(yoke_fmm *fmm, fmm_method *method, const fmm_particles *particles)
{
    const fmm_request request = request_of(fmm);
    yoke_status status = fmm_choose_order(method, particles->charge, &request, &fmm->accuracy);
    fmm->ordered = !status;
    return status;
}

/* The best tree for expansions of an order. */
static yoke_status find_tree(yoke_fmm *fmm, fmm_tuner *tuner, int order)
{
    const fmm_choice *choice = &fmm->tuned.choice;
    fmm->chosen = 0;
    yoke_status status = fmm_tuner_choose(tuner, order, &fmm->tuned);
    if (status) return status;
    fmm->chosen = 1;
    fmm->depth = choice->depth;
    fmm->capacity = choice->adaptive < 0 ? 0 : choice->capacity[choice->adaptive];
    return YOKE_OK;
}

/* The best tree depends on the order, and that a little on the tree: first with a usual order, then with the one that this tree needs. */
static yoke_status choose_with(yoke_fmm *fmm, fmm_tuner *tuner, const fmm_particles *particles, int order, fmm_method **method)
{
    yoke_status status = find_tree(fmm, tuner, order);
    if (!status) status = build(fmm, particles, order, fmm_tuner_take_tree(tuner), method);
    if (status || !order_is_chosen(fmm)) return status;
    status = choose_order(fmm, *method, particles);
    if (status || fmm->accuracy.order == order || fmm->depth < 2) return status;
    int depth = fmm->depth;
    int64_t capacity = fmm->capacity;
    status = find_tree(fmm, tuner, fmm->accuracy.order);
    if (status || (depth == fmm->depth && capacity == fmm->capacity)) return status;
    return build(fmm, particles, fmm->accuracy.order, NULL, method);
}

/* The options' tree, or the best. */
static yoke_status choose(yoke_fmm *fmm, const fmm_particles *particles, fmm_method **method)
{
    const yoke_fmm_options *o = &fmm->options;
    const int order = order_is_chosen(fmm) ? fmm_order_guess(request_of(fmm).error) : o->order;
    fmm->depth = o->leaf > 0 && !o->depth ? FMM_MAX_DEPTH : o->depth;
    fmm->capacity = o->leaf;
    fmm->chosen = 0;
    if (tree_is_given(fmm) || particles->count < FMM_FEW_PARTICLES) return build(fmm, particles, order, NULL, method);
    const fmm_tune_options options = {.objective = o->objective,
                                      .store = !fmm->store                  ? ""
                                               : strcmp(fmm->store, "none") ? fmm->store
                                                                            : NULL,
                                      .declared = fmm->declared,
                                      .gradient = !o->potential_only,
                                      .depth = -1};
    fmm_tuner *tuner = NULL;
    double begin_s = yoke_clock_s();
    yoke_status status = fmm_tuner_create(particles, &options, &tuner);
    if (!status) status = choose_with(fmm, tuner, particles, order, method);
    fmm_tuner_destroy(tuner);
    fmm->result.tuned = !status;
    if (!status) fmm->result.tune_s = yoke_clock_s() - begin_s;
    return status;
}

static sizes sizes_of(const fmm_method *method, const fmm_particles *particles)
{
    return (sizes){particles->count, fmm_method_tree(method)->leaves.count, fmm_method_count(method).near};
}

static int differ(int64_t is, int64_t was)
{
    double part = (double)is / (double)was;
    return is != was && !(part > 1 / 1.2 && part < 1.2);
}

static int has_changed(sizes is, sizes was)
{
    return differ(is.particles, was.particles) || differ(is.leaves, was.leaves) || differ(is.near_pairs, was.near_pairs);
}

static int at_the_same_places(const fmm_particles *a, const fmm_particles *b)
{
    const size_t bytes = (size_t)a->count * sizeof *a->x;
    return a->count == b->count && !memcmp(a->x, b->x, bytes) && !memcmp(a->y, b->y, bytes) && !memcmp(a->z, b->z, bytes);
}

/* A tree of the kept choice, or of a new one where there is none yet, where it is asked for, or where the kept one was for others. */
static yoke_status grow_tree(yoke_fmm *fmm, const fmm_particles *particles, int always, fmm_method **method)
{
    yoke_status status = YOKE_OK;
    if (!always && fmm->chosen) {
        status = build(fmm, particles, fmm->order, NULL, method);
        if (status || !has_changed(sizes_of(*method, particles), fmm->sizes)) return status;
    }
    status = choose(fmm, particles, method);
    if (!status) fmm->sizes = sizes_of(*method, particles);
    return status;
}

/* The order of the options, or the one that these charges need. */
static yoke_status find_order(yoke_fmm *fmm, const fmm_particles *particles, fmm_method *method)
{
    yoke_fmm_result *r = &fmm->result;
    yoke_status status = YOKE_OK;
    if (!order_is_chosen(fmm)) return YOKE_OK;
    if (!fmm->ordered) status = choose_order(fmm, method, particles);
    if (!status) status = set_order(fmm, method, fmm->accuracy.order);
    if (status) return status;
    fmm->order = fmm->accuracy.order;
    r->predicted_potential_error = fmm->accuracy.potential;
    r->predicted_force_error = fmm->options.potential_only ? (double)NAN : fmm->accuracy.force;
    return YOKE_OK;
}

/* Takes the particles, and makes sure that there is a tree of them. */
static yoke_status take(yoke_fmm *fmm, const yoke_fmm_particles *given, int tune)
{
    fmm_particles *particles = NULL;
    fmm_method *method = NULL;
    fmm->result = nothing(fmm);
    yoke_status status = fmm_arrays_take(fmm->context, given, &particles);
    if (!status && !fmm->options.skip_coincident) status = fmm_coincident_refuse(particles, "set skip_coincident, and");
    if (!status && !tune && fmm->method && at_the_same_places(particles, fmm->particles)) {
        method = fmm->method;
        fmm->method = NULL;
        fmm->ordered = fmm->ordered && !memcmp(particles->charge, fmm->particles->charge, (size_t)particles->count * sizeof(double));
    } else if (!status) {
        status = grow_tree(fmm, particles, tune, &method);
    }
    if (!status) status = find_order(fmm, particles, method);
    forget_tree(fmm);
    if (status) {
        fmm_method_destroy(method);
        fmm_particles_destroy(particles);
        return status;
    }
    fmm->particles = particles;
    fmm->method = method;
    fmm->result.particles = particles->count;
    fmm->result.depth = fmm_method_tree(method)->depth;
    fmm->result.leaf = fmm->capacity;
    fmm->result.leaves = fmm_method_tree(method)->leaves.count;
    fmm->result.near_pairs = (double)fmm_method_count(method).near;
    if (!fmm->chosen) return YOKE_OK;
    fmm->result.predicted_s = fmm->tuned.choice.predicted.time_s;
    fmm->result.predicted_j = fmm->tuned.choice.predicted.energy_j;
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------ calls */

/* The threads of the options for what follows; returns how many there were. */
static int use_threads(int threads)
{
    int before = omp_get_max_threads();
    if (threads > 0) omp_set_num_threads(threads);
    return before;
}

yoke_status yoke_fmm_tune(yoke_fmm *fmm, const yoke_fmm_particles *particles)
{
    if (!fmm) return yoke_fail(NULL, YOKE_ERROR_ARGUMENT, "yoke_fmm_tune: fmm is NULL: make one with yoke_fmm_create");
    int before = use_threads(fmm->options.threads);
    yoke_status status = take(fmm, particles, 1);
    omp_set_num_threads(before);
    return status;
}

static yoke_status check_sample(yoke_fmm *fmm, const fmm_field *field)
{
    fmm_sample sample = {0};
    if (!fmm->options.check || !field->count) return YOKE_OK;
    yoke_status status = fmm_sample_error(fmm->particles, field, fmm->options.check, SAMPLE_SEED, &sample);
    if (status) return status;
    fmm->sample = sample;
    fmm->result.sampled = sample.count;
    fmm->result.sampled_potential_error = sample.potential;
    fmm->result.sampled_force_error = sample.force;
    return YOKE_OK;
}

static yoke_status compute_once(yoke_fmm *fmm, fmm_field *field)
{
    fmm_method_seconds seconds;
    yoke_fmm_result *r = &fmm->result;
    yoke_status status = fmm_method_run(fmm->method, fmm->particles->charge, field, &seconds);
    if (status) return status;
    const fmm_method_pairs pairs = fmm_method_count(fmm->method);
    r->near_pairs = (double)pairs.near;
    r->far_pairs = (double)pairs.far;
    r->near_s = seconds.near;
    r->far_s = seconds.upward + seconds.between + seconds.downward;
    return check_sample(fmm, field);
}

/* By how much the order is too low for the requested error. */
static int order_missing(const yoke_fmm *fmm, const fmm_accuracy *accuracy)
{
    const yoke_fmm_result *r = &fmm->result;
    const fmm_request request = request_of(fmm);
    if (!order_is_chosen(fmm) || !r->sampled || r->depth < 2) return 0;
    return fmm_order_missing(&request, accuracy, &fmm->sample, r->order);
}

static yoke_status compute(yoke_fmm *fmm, fmm_field *field)
{
    fmm_accuracy accuracy = fmm->accuracy;
    yoke_status status = compute_once(fmm, field);
    for (int missing; !status && (missing = order_missing(fmm, &accuracy)) > 0;) {
        status = set_order(fmm, fmm->method, fmm->result.order + missing);
        if (!status) status = compute_once(fmm, field);
        accuracy.potential_uncertainty = accuracy.force_uncertainty = INFINITY; /* the prediction is of another order */
    }
    if (!status) fmm->result.total_energy = fmm_field_energy(fmm->particles, field);
    return status;
}

yoke_status yoke_fmm_run(yoke_fmm *fmm, const yoke_fmm_particles *particles, const yoke_fmm_field *wanted)
{
    fmm_field *field = NULL;
    if (!fmm) return yoke_fail(NULL, YOKE_ERROR_ARGUMENT, "yoke_fmm_run: fmm is NULL: make one with yoke_fmm_create");
    const int gradient = !fmm->options.potential_only;
    yoke_status status = fmm_arrays_check(fmm->context, wanted, gradient);
    if (status) return status;
    int before = use_threads(fmm->options.threads);
    status = take(fmm, particles, 0);
    if (!status) status = fmm_field_create(fmm->context, fmm->particles->count, gradient, &field);
    if (!status) status = compute(fmm, field);
    if (!status) fmm_arrays_give(field, wanted);
    fmm_field_destroy(field);
    omp_set_num_threads(before);
    return status;
}

yoke_status yoke_fmm_get_result(const yoke_fmm *fmm, yoke_fmm_result *result)
{
    if (!fmm || !result) return yoke_fail(fmm ? fmm->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_fmm_get_result: fmm or result is NULL");
    *result = fmm->result;
    return YOKE_OK;
}

static void append_tree(const fmm_choice *choice, const char *kind, int64_t size, const fmm_depth *of, char *line, size_t bytes)
{
    (void)snprintf(line, bytes, "%s %lld: order %d, predicted tree %.3g s, near field %.3g s, far field %.3g s, together %.3g s%s\n", kind,
                   (long long)size, of->order, of->predicted.tree, of->predicted.near, of->predicted.far, of->predicted.total,
                   of == fmm_chosen(choice) ? " (chosen)" : "");
}

yoke_status yoke_fmm_explain(const yoke_fmm *fmm, char **text)
{
    enum { LINE_BYTES = 256, LINES = FMM_MAX_DEPTH + 1 + FMM_MAX_CAPACITIES };
    char *made = NULL;
    if (!fmm || !text) return yoke_fail(fmm ? fmm->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_fmm_explain: fmm or text is NULL");
    yoke_status status = yoke_allocate(fmm->context, LINES, LINE_BYTES, &made);
    if (status) return status;
    const fmm_choice *choice = &fmm->tuned.choice;
    if (!fmm->chosen)
        strcpy(made, tree_is_given(fmm)          ? "the options give the tree\n"
                     : fmm->result.particles > 0 ? "few particles: all pairs are summed\n"
                                                 : "no tree is chosen yet\n");
    for (int d = choice->first; fmm->chosen && d <= choice->last; d++)
        append_tree(choice, "depth", d, &choice->of[d], made + strlen(made), LINE_BYTES);
    for (int k = 0; fmm->chosen && k < choice->num_capacities; k++)
        append_tree(choice, "leaves of at most", choice->capacity[k], &choice->at[k], made + strlen(made), LINE_BYTES);
    *text = made;
    return YOKE_OK;
}
