/*
 * choice.c - which tree, and which order.
 */
#include <math.h>
#include <stdio.h>

#include "solve/parts.h"

static bool tree_is_given(const fmm_solver *s) { return s->options.depth >= 0 || s->options.cells > 0 || s->options.leaf > 0; }

/* ------------------------------------------------------------------------------------------------- the tree */

/* tree: NULL, or the particles sorted, which is taken over.  A chosen adaptive tree is as deep as its leaves ask. */
static yoke_status build(fmm_solver *s, const fmm_particles *particles, int order, fmm_tree *tree)
{
    const int gradient = s->options.gradient;
    const double sort_s = tree ? s->tuned.sort_s : 0, begin_s = yoke_clock_s();
    const fmm_method_options options = {.depth = s->chosen && s->capacity > 0 ? FMM_MAX_DEPTH : s->depth,
                                        .cells = s->cells,
                                        .capacity = s->capacity,
                                        .direct = fmm_method_direct(order, gradient),
                                        .gradient = gradient,
                                        .tree = tree};
    fmm_method_destroy(s->method);
    s->method = NULL;
    s->order = order;
    s->ordered = false;
    yoke_status status = fmm_method_create(particles, &options, &s->method);
    s->solution.built = true;
    s->solution.tree_s = sort_s + yoke_clock_s() - begin_s;
    return status;
}

/* Takes the given depth of those that were compared. */
static yoke_status take_given(fmm_solver *s)
{
    fmm_choice *choice = &s->tuned.choice;
    const int depth = s->options.depth;
    if (depth < choice->first || depth > choice->last)
        return yoke_fail(s->context, YOKE_ERROR_INPUT,
                         "depth %d: the depths that may be best are %d to %d; do not measure all, or give one of these", depth,
                         choice->first, choice->last);
    if (choice->adaptive < 0 && !choice->takes_cells && depth == choice->depth) return YOKE_OK;
    choice->adaptive = -1;
    choice->takes_cells = 0;
    choice->depth = depth;
    choice->predicted = (yoke_cost){.time_s = choice->of[depth].predicted.total,
                                    .energy_j = choice->of[depth].predicted_j,
                                    .peak_power_w = NAN,
                                    .time_uncertainty_s = NAN,
                                    .energy_uncertainty_j = NAN};
    return YOKE_OK;
}

/* The tree that is given, or the best for an order. */
static yoke_status find_tree(fmm_solver *s, bool compare, int order)
{
    const fmm_choice *choice = &s->tuned.choice;
    fmm_solution *found = &s->solution;
    s->cells = s->options.cells;
    s->capacity = s->options.leaf;
    s->depth = s->options.depth >= 0 ? s->options.depth : s->options.leaf > 0 ? FMM_MAX_DEPTH : 0;
    if (!compare) return YOKE_OK;
    const double before_s = found->chose ? s->tuned.analysis_s : 0;
    yoke_status status = fmm_solver_tell(s, FMM_STAGE_TREE, "choosing the tree");
    if (!status) status = fmm_tuner_choose(s->tuner, order, &s->tuned);
    if (!status && s->options.depth >= 0) status = take_given(s);
    if (status) return status;
    found->tune_s = (found->chose ? found->tune_s : 0) + s->tuned.analysis_s + (s->tuned.measured_now ? 0 : s->tuned.machine_s);
    s->tuned.analysis_s += before_s;
    s->chosen = found->chose = true;
    s->depth = choice->depth;
    s->capacity = choice->adaptive < 0 ? 0 : choice->capacity[choice->adaptive];
    s->cells = choice->takes_cells ? choice->cells : 0;
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------ the order */

static yoke_status choose_order(fmm_solver *s, const fmm_particles *particles)
{
    char what[80];
    fmm_request request = s->options.request;
    request.guess = s->accuracy.order; /* with another tree before, in this call */
    (void)snprintf(what, sizeof what, "%lld particles: which order keeps the error", (long long)particles->count);
    yoke_status status = fmm_solver_tell(s, FMM_STAGE_ORDER, what);
    const double begin_s = yoke_clock_s();
    if (!status) status = fmm_choose_order(s->method, particles->charge, &request, &s->accuracy);
    s->ordered = !status;
    s->solution.tune_s = (isnan(s->solution.tune_s) ? 0 : s->solution.tune_s) + yoke_clock_s() - begin_s;
    return status;
}

yoke_status fmm_solver_find_order(fmm_solver *s, const fmm_particles *particles)
{
    fmm_solution *found = &s->solution;
    yoke_status status = YOKE_OK;
    found->order = s->options.order;
    if (!fmm_chooses_order(s)) return YOKE_OK;
    if (!s->ordered) status = choose_order(s, particles);
    if (status) return status;
    found->order = s->order = s->accuracy.order;
    found->requested_error = s->options.request.error;
    found->forces = s->options.request.of == FMM_FORCES;
    found->predicted_potential = s->accuracy.potential;
    if (s->options.gradient) found->predicted_force = s->accuracy.force;
    return YOKE_OK;
}

/* --------------------------------------------------------------------------------------------------- both */

/* The best tree depends on the order, and that a little on the tree: first with a usual order, then with the one that this tree needs. */
static yoke_status find_both(fmm_solver *s, const fmm_particles *particles, bool compare)
{
    const int usual = fmm_order_guess(s->options.request.error);
    yoke_status status = find_tree(s, compare, usual);
    if (!status) status = build(s, particles, usual, compare ? fmm_tuner_take_tree(s->tuner) : NULL);
    if (!status) status = choose_order(s, particles);
    if (status || !compare || s->accuracy.order == usual || s->depth < 2) return status;
    const int depth = s->depth;
    const int64_t capacity = s->capacity, cells = s->cells;
    status = find_tree(s, true, s->accuracy.order);
    if (status || (depth == s->depth && capacity == s->capacity && cells == s->cells)) return status;
    return build(s, particles, s->accuracy.order, fmm_tuner_take_tree(s->tuner));
}

/* What compares trees, where it is needed. */
static yoke_status open_tuner(fmm_solver *s, const fmm_particles *particles)
{
    yoke_status status = s->tuner ? YOKE_OK : fmm_tuner_create(s->context, &s->tune, &s->tuner);
    if (!status) fmm_tuner_set_particles(s->tuner, particles);
    return status;
}

static yoke_status find(fmm_solver *s, const fmm_particles *particles)
{
    const bool few = particles->count < FMM_FEW_PARTICLES, compare = s->options.predict || !(tree_is_given(s) || few);
    yoke_status status = compare ? open_tuner(s, particles) : YOKE_OK;
    s->chosen = false;
    if (!status && fmm_chooses_order(s)) {
        status = find_both(s, particles, compare);
    } else if (!status) {
        status = find_tree(s, compare, s->options.order);
        if (!status) status = build(s, particles, s->options.order, compare ? fmm_tuner_take_tree(s->tuner) : NULL);
    }
    if (s->tuner) fmm_tuner_set_particles(s->tuner, NULL);
    if (!status && s->options.measure_all) status = fmm_solver_measure(s, particles);
    return status;
}

static fmm_sizes sizes_of(const fmm_method *method, const fmm_particles *particles)
{
    return (fmm_sizes){particles->count, fmm_method_tree(method)->leaves.count, fmm_method_count(method).near};
}

static bool differ(int64_t is, int64_t was)
{
    double part = (double)is / (double)was;
    return is != was && !(part > 1 / 1.2 && part < 1.2);
}

static bool have_changed(fmm_sizes is, fmm_sizes was)
{
    return differ(is.particles, was.particles) || differ(is.leaves, was.leaves) || differ(is.near_pairs, was.near_pairs);
}

yoke_status fmm_solver_grow(fmm_solver *s, const fmm_particles *particles, bool anew)
{
    yoke_status status = YOKE_OK;
    if (!anew && s->chosen && s->options.keep) {
        status = build(s, particles, s->order, NULL);
        if (status && status != YOKE_ERROR_INPUT) return status; /* INPUT: its leaves are too small for the softening now */
        if (!status && !have_changed(sizes_of(s->method, particles), s->sizes)) return status;
    }
    status = find(s, particles);
    if (!status) s->sizes = sizes_of(s->method, particles);
    return status;
}
