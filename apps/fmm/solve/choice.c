/*
 * choice.c - chooses the tree and the order.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "solve/parts.h"

static bool tree_is_given(const fmm_solver *s) { return s->options.depth >= 0 || s->options.cells > 0 || s->options.leaf > 0; }

/* ------------------------------------------------------------------------------------------------- the tree */

/* Key and number; sorted position and charge; sums of both fields.  Sorting needs no more than this, and is done before there are sums. */
int fmm_solver_arrays(bool gradient) { return 2 + 4 + 2 * (gradient ? 4 : 1); }

/* If memory is kept: requests the memory for sorting this number of particles and for their fields, unless it is present.  No method holds
 * memory then. */
static yoke_status get_memory(fmm_solver *s, int64_t particles)
{
    const int arrays = fmm_solver_arrays(s->options.gradient);
    if (!s->options.keeps_memory) return YOKE_OK;
    return fmm_pages_get_ahead(s->context, arrays, (size_t)particles * sizeof(double), &s->memory);
}

/* Builds the method.  direct: as in fmm_method_options.  tree: NULL, or the tree of the sorted particles, which the method then owns.
 * The depth of a chosen adaptive tree is limited by its leaves only. */
static yoke_status build(fmm_solver *s, const fmm_particles *particles, int64_t direct, fmm_tree *tree)
{
    const double sort_s = tree ? s->tuned.sort_s : 0, begin_s = yoke_clock_s();
    const fmm_method_options options = {.depth = s->chosen && s->capacity > 0 ? FMM_MAX_DEPTH : s->depth,
                                        .cells = s->cells,
                                        .capacity = s->capacity,
                                        .direct = direct,
                                        .gradient = s->options.gradient,
                                        .memory = fmm_solver_new_memory(s),
                                        .stop = s->options.stop,
                                        .tree = tree};
    fmm_method_destroy(s->method);
    s->method = NULL;
    s->direct = direct;
    s->ordered = false;
    s->teaches = tree != NULL;
    yoke_region *region;
    yoke_status status = fmm_solver_begin_energy(s, &region);
    if (!status) status = fmm_method_create(particles, &options, &s->method);
    const yoke_status ended = fmm_solver_end_energy(s, region);
    if (!status) status = ended;
    s->solution.built = true;
    s->solution.tree_s = s->tree_s = sort_s + yoke_clock_s() - begin_s;
    return status ? status : fmm_solver_refuse_coincident(s);
}

/* Builds the chosen tree, with the lists that were counted for the choice. */
static yoke_status build_chosen(fmm_solver *s, const fmm_particles *particles)
{
    return build(s, particles, s->tuned.choice.direct, fmm_tuner_take_tree(s->tuner, s->cells));
}

/* Makes the given depth the chosen one of those that were compared. */
static yoke_status take_given(fmm_solver *s)
{
    fmm_choice *choice = &s->tuned.choice;
    const int depth = s->options.depth;
    if (depth < choice->first || depth > choice->last)
        return yoke_fail(s->context, YOKE_ERROR_INPUT,
                         "depth %d: the depths that may be best are %d to %d; do not measure all, or give one of these", depth,
                         choice->first, choice->last);
    fmm_choice_take_depth(choice, depth);
    return YOKE_OK;
}

/* Plane waves are predicted only if their error will be measured, at first with the set of the order. */
enum { USUAL_FINER = 0, NO_WAVES = -1 };

/* The difference between the number of the chosen set and the order. */
static int finer_of(const fmm_accuracy *a) { return a->set ? a->set - a->order : NO_WAVES; }

/* Copies the data of the chosen tree to the solver. */
static void take_chosen(fmm_solver *s)
{
    const fmm_choice *choice = &s->tuned.choice;
    s->depth = choice->depth;
    s->waves = fmm_chosen(choice)->waves;
    s->capacity = choice->adaptive < 0 ? 0 : choice->capacity[choice->adaptive];
    s->cells = choice->takes_cells ? choice->cells : 0;
}

bool fmm_solver_may_be_single(const fmm_solver *s, const fmm_particles *particles)
{
    return particles->count >= FMM_FEW_PARTICLES && fmm_chooses_order(s) && !s->options.devices && particles->softening == 0 &&
           fmm_request_may_be_single(&s->options.request);
}

bool fmm_solver_is_single(const fmm_solver *s, const fmm_particles *particles)
{
    return fmm_solver_may_be_single(s, particles) && s->order_known && fmm_accuracy_is_single(&s->accuracy, &s->options.request);
}

/* Finds the given tree or, with `compare`, the best tree for an order. */
static yoke_status find_tree(fmm_solver *s, const fmm_particles *particles, bool compare, int order, int finer)
{
    fmm_solution *found = &s->solution;
    s->cells = s->options.cells;
    s->capacity = s->options.leaf;
    s->waves = 0;
    s->depth = s->options.depth >= 0 ? s->options.depth : s->options.leaf > 0 ? FMM_MAX_DEPTH : 0;
    if (!compare) return YOKE_OK;
    const double before_s = found->chose ? s->tuned.analysis_s : 0, machine_before_s = found->chose ? s->tuned.machine_s : 0;
    yoke_status status = fmm_solver_tell(s, FMM_STAGE_TREE, "choosing the tree");
    s->single = s->ordered ? fmm_solver_is_single(s, particles) : fmm_solver_may_be_single(s, particles);
    fmm_tuner_set_waves(s->tuner, finer);
    fmm_tuner_set_single(s->tuner, s->single);
    if (!status) status = fmm_tuner_choose(s->tuner, order, &s->tuned);
    if (!status && s->options.depth >= 0) status = take_given(s);
    if (status) return status;
    found->tune_s = (found->chose ? found->tune_s : 0) + s->tuned.analysis_s + (s->tuned.measured_now ? 0 : s->tuned.machine_s);
    s->tuned.analysis_s += before_s;
    s->tuned.machine_s += machine_before_s;
    s->chosen = found->chose = true;
    take_chosen(s);
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------ the order */

/* guess: an order that is probably near the result; 0: none. */
static yoke_status choose_order(fmm_solver *s, const fmm_particles *particles, int guess)
{
    char what[80];
    fmm_request request = s->options.request;
    request.guess = guess;
    request.waves = s->waves;
    request.finer = s->accuracy.set ? finer_of(&s->accuracy) : USUAL_FINER;
    (void)snprintf(what, sizeof what, "%lld particles: which order meets the request", (long long)particles->count);
    yoke_status status = fmm_solver_sum_some(s, particles);
    request.sums = s->reference;
    if (!status) status = fmm_solver_tell(s, FMM_STAGE_ORDER, what);
    const double memory_s = s->memory.seconds, begin_s = yoke_clock_s();
    if (!status) status = fmm_choose_order(s->method, particles->charge, &request, &s->accuracy);
    s->ordered = s->order_known = !status;
    s->solution.tune_s = (isnan(s->solution.tune_s) ? 0 : s->solution.tune_s) + yoke_clock_s() - begin_s - (s->memory.seconds - memory_s);
    return status;
}

/* Chooses the order again.  A lower order than before must keep the error with a margin. */
static yoke_status choose_order_again(fmm_solver *s, const fmm_particles *particles)
{
    static const double margin = 0.7;
    const fmm_accuracy before = s->accuracy;
    const int order = s->order;
    yoke_status status = choose_order(s, particles, order);
    const fmm_request *request = &s->options.request;
    if (status || s->accuracy.order >= order || fmm_accuracy_upper(&s->accuracy, request->of, 2) <= margin * request->error) return status;
    s->accuracy = before;
    s->accuracy.order = order;
    return YOKE_OK;
}

/* As choose_order, but no order below `least` is chosen.  0: there is no such bound. */
static yoke_status choose_order_from(fmm_solver *s, const fmm_particles *particles, int least, int guess)
{
    yoke_status status = choose_order(s, particles, guess);
    if (!status && s->accuracy.order < least) fmm_accuracy_raise(&s->accuracy, least);
    return status;
}

/* Returns the reason why the order of the previous call cannot be kept. */
static fmm_reason why_order(const fmm_solver *s, bool anew)
{
    if (s->ordered) return s->solution.tree_because; /* it was chosen with the tree, or nothing has changed */
    if (!s->order_known) return FMM_FIRST;
    if (anew) return FMM_ASKED;
    if (s->options.check == 0) return FMM_UNCHECKED;
    const fmm_reason reason = fmm_sizes_compare(&s->last, &s->order_sizes);
    return reason || !s->error_fell ? reason : FMM_ERROR;
}

yoke_status fmm_solver_find_order(fmm_solver *s, const fmm_particles *particles, bool anew)
{
    fmm_solution *found = &s->solution;
    yoke_status status = YOKE_OK;
    found->order = s->options.order;
    if (!fmm_chooses_order(s)) return YOKE_OK;
    found->order_because = why_order(s, anew);
    if (!s->ordered && found->order_because)
        status = s->order_known && !anew ? choose_order_again(s, particles) : choose_order(s, particles, 0);
    if (status) return status;
    if (found->order_because) s->order_sizes = s->last;
    s->ordered = true;
    found->order = s->accuracy.order;
    found->requested_error = s->options.request.error;
    found->of = s->options.request.of;
    found->predicted_potential = s->accuracy.potential;
    if (s->options.gradient) found->predicted_force = s->accuracy.force;
    return YOKE_OK;
}

/* --------------------------------------------------------------------------------------------------- both */

/*
 * Keeps the tree that was chosen for another order, unless the tree that is chosen now is faster by more than the choice of its order took,
 * or by more than a small part of its time.  With devices the choice depends on more than these predictions.
 */
static void keep_tree(fmm_solver *s, int depth, int64_t capacity, int64_t cells, double order_s)
{
    static const double small = 0.03;
    fmm_choice *choice = &s->tuned.choice;
    const double least_s = fmin(order_s, small * fmm_chosen(choice)->predicted.total);
    if (s->options.devices || s->tune.by_operations || s->tune.measure) return;
    if (fmm_choice_keep(choice, depth, capacity, cells, least_s)) take_chosen(s);
}

/* Finds the tree and the order.  The best tree depends on the order, and the order depends slightly on the tree: the tree is chosen with
 * a usual order first, then with the order that this tree needs.  least: the order that the check of the last call confirmed, because
 * the predicted one may be too low again; 0: none. */
static yoke_status find_both(fmm_solver *s, const fmm_particles *particles, int least)
{
    const int usual = least ? least : fmm_order_guess(s->options.request.error);
    yoke_status status = find_tree(s, particles, true, usual, USUAL_FINER);
    if (!status) status = build_chosen(s, particles);
    const double before_s = s->solution.tune_s;
    if (!status) status = choose_order_from(s, particles, least, least);
    const double order_s = s->solution.tune_s - before_s;
    const uint64_t waves = s->waves;
    const int finer = waves ? finer_of(&s->accuracy) : USUAL_FINER;
    const bool as_predicted = s->accuracy.order == usual && finer == USUAL_FINER && s->single == fmm_solver_is_single(s, particles);
    if (status || s->depth < 2 || as_predicted) return status;
    const int depth = s->depth;
    const int64_t capacity = s->capacity, cells = s->cells;
    status = find_tree(s, particles, true, s->accuracy.order, finer);
    if (status) return status;
    keep_tree(s, depth, capacity, cells, order_s);
    if (depth == s->depth && capacity == s->capacity && cells == s->cells) {
        s->waves &= waves; /* errors of waves on other levels were not measured */
        return YOKE_OK;
    }
    status = build_chosen(s, particles);
    return status ? status : choose_order_from(s, particles, least, s->accuracy.order);
}

static yoke_status create_tuner(fmm_solver *s, const fmm_particles *particles)
{
    yoke_status status = s->options.devices ? fmm_solver_open_devices(s) : YOKE_OK;
    s->tune.devices = s->run;
    s->tune.share = s->share;
    s->tune.single = fmm_solver_may_be_single(s, particles);
    return status ? status : fmm_tuner_create(s->context, &s->tune, &s->tuner);
}

/* Finds and builds the best tree. */
static yoke_status find_best(fmm_solver *s, const fmm_particles *particles)
{
    const bool confirmed = s->solution.tree_because == FMM_ORDER && s->order_known && s->options.check != 0 && !s->error_fell;
    yoke_status status;
    fmm_tuner_set_particles(s->tuner, particles);
    if (fmm_chooses_order(s)) {
        status = find_both(s, particles, confirmed ? s->order : 0);
    } else {
        status = find_tree(s, particles, true, s->options.order, NO_WAVES);
        if (!status) status = build_chosen(s, particles);
    }
    if (!status) fmm_tuner_take_sorting(s->tuner, &s->tuned);
    fmm_tuner_set_particles(s->tuner, NULL);
    if (!status && s->options.measure_all) status = fmm_solver_measure(s, particles);
    return status;
}

/* Builds the given tree, or for few particles a tree of depth 0 if none is given. */
static yoke_status take_tree(fmm_solver *s, const fmm_particles *particles)
{
    const int order = fmm_chooses_order(s) ? fmm_order_guess(s->options.request.error) : s->options.order;
    const bool is_known = fmm_chooses_order(s) && s->order_known;
    yoke_status status = find_tree(s, particles, false, order, NO_WAVES);
    return status ? status : build(s, particles, is_known ? s->direct : fmm_method_direct(order, s->options.gradient), NULL);
}

/* Returns the reason why the choice of the previous call cannot be kept, as far as it is known without a tree. */
static fmm_reason why_tree(const fmm_solver *s, const fmm_particles *particles, bool anew)
{
    enum { NEAR_ORDERS = 1 };
    const fmm_sizes *was = &s->tree_sizes;
    if (anew) return FMM_ASKED;
    if (!s->chosen) return FMM_FIRST;
    fmm_sizes is = s->last;
    is.particles = (double)particles->count;
    is.charge = was->charge, is.charges = was->charges;
    const fmm_reason reason = fmm_sizes_compare(&is, was);
    return !reason && abs(s->order - was->order) > NEAR_ORDERS ? FMM_ORDER : reason;
}

/* Builds a tree by the kept choice, and finds the reason why the choice cannot be kept, if there is one. */
static yoke_status try_kept(fmm_solver *s, const fmm_particles *particles, fmm_reason *reason)
{
    /* with the same `direct`, so that only changes of the particles change the counts */
    yoke_status status = build(s, particles, s->direct, NULL);
    const bool too_deep = status == YOKE_ERROR_INPUT && !s->method;
    if (too_deep) *reason = FMM_LEAVES; /* leaves are now smaller than the softening */
    if (status) return too_deep ? YOKE_OK : status;
    fmm_sizes is = fmm_solver_sizes(s, particles);
    is.charge = s->tree_sizes.charge, is.charges = s->tree_sizes.charges;
    *reason = fmm_sizes_compare(&is, &s->tree_sizes);
    return YOKE_OK;
}

yoke_status fmm_solver_grow(fmm_solver *s, const fmm_particles *particles, bool anew)
{
    const bool given = particles->count < FMM_FEW_PARTICLES || (!s->options.predict && tree_is_given(s));
    fmm_method_destroy(s->method);
    s->method = NULL;
    yoke_status status = given || s->tuner ? YOKE_OK : create_tuner(s, particles);
    if (!status) status = get_memory(s, particles->count);
    if (status) return status;
    if (given) {
        s->chosen = false;
        return take_tree(s, particles);
    }
    fmm_reason reason = why_tree(s, particles, anew);
    status = reason ? YOKE_OK : try_kept(s, particles, &reason);
    if (status || !reason) return status;
    s->chosen = false;
    s->solution.tree_because = reason;
    status = find_best(s, particles);
    if (status) {
        s->chosen = false; /* it was found, but not built */
        return status;
    }
    s->tree_sizes = fmm_solver_sizes(s, particles);
    s->tree_sizes.order = fmm_chooses_order(s) ? s->accuracy.order : s->options.order;
    return YOKE_OK;
}
