#include "tune/tune.h"

#include <math.h>
#include <string.h>

#include "method/method.h"
#include "tune/counts/thin.h"
#include "tune/shares.h"
#include "tune/tuner.h"

/* Provides counts of the depths up to `depth`.  They serve several orders, and are kept after the tree was taken.  They are made anew after
 * that only if the depth or, with `capacities`, adaptive trees were not counted before. */
static yoke_status analyse(fmm_tuner *t, int depth, int capacities)
{
    const fmm_analysis *a = t->analysis;
    if (a && (a->tree || (depth <= a->depth && (!capacities || a->num_capacities > 0)))) return fmm_analysis_deepen(t->analysis, depth);
    fmm_analysis_destroy(t->analysis);
    t->analysis = NULL;
    yoke_status status = fmm_analysis_create(t->particles, depth, &t->analysis);
    if (!status && t->analysis->deepest < 2)
        yoke_log(
            t->particles->context, YOKE_LOG_WARNING,
            "a softening of %g is more than a quarter of the box around the particles: there is no far field, and all pairs are summed",
            t->particles->softening);
    return status;
}

/* Predicts the times of all depths from choice->first to choice->last. */
static void predict(const fmm_tuner *t, int order, fmm_choice *choice)
{
    for (int d = choice->first; d <= choice->last; d++)
        fmm_depth_predict(&t->machine, t->analysis, d, order, t->options->gradient, &choice->of[d]);
}

static int fastest(const fmm_choice *choice)
{
    int best = choice->first;
    for (int d = choice->first; d <= choice->last; d++)
        if (choice->of[d].predicted.total < choice->of[best].predicted.total) best = d;
    return best;
}

/*
 * Lists the capacities of adaptive trees.  Trees with the smallest leaves have the most cells to count, which takes as long as such a tree
 * may save.  They are therefore listed only if they are estimated to be clearly the fastest.
 */
static void list_capacities(fmm_tuner *t, int order)
{
    enum { SMALL = 2, ALL = 11 };
    static const int64_t capacities[ALL] = {32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024};
    static const double clearly = 0.95, full = 1. / 3; /* full: mean number of particles of a leaf, relative to the capacity */
    double estimate_s[ALL], others_s = INFINITY;
    int first = 0;
    for (int k = ALL - 1; k >= 0; k--) {
        estimate_s[k] = fmm_predict_filled(&t->machine, order, full * (double)capacities[k]);
        if (k >= SMALL) others_s = fmin(others_s, estimate_s[k]);
    }
    while (first < SMALL && estimate_s[first] > clearly * others_s) first++;
    t->num_capacities = ALL - first;
    memcpy(t->capacity, capacities + first, (size_t)t->num_capacities * sizeof *capacities);
}

/* Predicts the times of adaptive trees.  The capacities are the same for all orders. */
static yoke_status predict_capacities(fmm_tuner *t, int order, fmm_choice *choice)
{
    if (!t->num_capacities) list_capacities(t, order);
    choice->num_capacities = t->num_capacities;
    memcpy(choice->capacity, t->capacity, sizeof t->capacity);
    return fmm_capacities_predict(&t->machine, t->analysis, order, t->options->gradient, choice);
}

/*
 * Nonzero: a tree that is deeper than all compared ones may be faster.  This is so if three conditions hold.  The deepest tree is the
 * fastest uniform one.  No adaptive tree is faster: particles that need a deeper uniform tree than evenly distributed ones are on surfaces
 * or in clusters, and then an adaptive tree with leaves of the same size would be faster.  The far field of the next depth, which has about
 * as many pairs for each cell, does not take BY_FAR times as long as the fastest tree.
 */
static int deeper_may_be_better(const fmm_tuner *t, const fmm_choice *choice)
{
    enum { BY_FAR = 2 };
    fmm_analysis *a = t->analysis;
    const int last = choice->last;
    const double best_s = choice->of[fastest(choice)].predicted.total;
    for (int k = 0; k < choice->num_capacities; k++)
        if (choice->at[k].predicted.total < best_s) return 0;
    if (fastest(choice) < last || last >= a->deepest || choice->of[last].near_pairs == 0) return 0;
    if (last < a->depth) return 1; /* the next depth is counted already: its far field does not matter */
    const double below = (double)fmm_analysis_cells_below(a);
    return below > 0 && below / (double)a->cells[last].leaves * choice->of[last].predicted.far < BY_FAR * best_s;
}

/* Whether a deeper tree may have fewer counted operations, if these choose the depth. */
static int deeper_may_have_fewer_operations(const fmm_tuner *t, const fmm_choice *choice)
{
    return t->options->by_operations && choice->last < t->analysis->deepest && fmm_depth_by_operations(choice) == choice->last;
}

static void forget_between(fmm_tuner *t)
{
    fmm_analysis_destroy(t->between);
    t->between = NULL;
    t->cells = 0;
}

static yoke_status count_between(fmm_tuner *t, int64_t cells)
{
    forget_between(t);
    yoke_status status = fmm_analysis_create_cells(t->particles, cells, &t->between);
    if (!status) t->cells = cells;
    return status;
}

static void predict_between(const fmm_tuner *t, int order, fmm_choice *choice)
{
    choice->cells = t->cells;
    if (t->cells > 0)
        fmm_depth_predict(&t->machine, t->between, fmm_depth_of_cells(t->cells), order, t->options->gradient, &choice->of_cells);
    choice->of_cells.by_operations = 0;
}

static yoke_status compare_all(fmm_tuner *t, int order, fmm_choice *choice);

/* Limits a depth to that which the softening allows. */
static int deepest_of(const fmm_particles *particles, int depth)
{
    if (!(particles->softening > 0)) return depth;
    const fmm_box box = fmm_box_around(particles);
    const int deepest = fmm_method_deepest(&box, particles->softening);
    return deepest < depth ? deepest : depth;
}

/*
 * Chooses the tree between two depths that is estimated to be clearly faster than the trees of all depths.  These are then not counted.
 * *taken: zero: there is no such tree, or its counts show that the particles are distributed less evenly than estimated.
 */
static yoke_status choose_between(fmm_tuner *t, int order, fmm_choice *choice, int *taken)
{
    static const double alike = 1.1;
    const fmm_estimating of = {.machine = &t->machine, .even = &t->even, .order = order, .gradient = t->options->gradient};
    const double sort_s = t->analysis || t->cells ? (double)t->particles->count * t->machine.sort : 0;
    double estimate_s;
    *taken = 0;
    yoke_status status = t->looked ? YOKE_OK : fmm_even_find(t->particles, &t->even);
    if (status) return status;
    t->looked = 1;
    choice->last = deepest_of(t->particles, choice->last);
    const int64_t cells = t->even.is_even ? fmm_cells_estimate(&of, choice->last, t->takes_cells ? t->cells : 0, sort_s, &estimate_s) : 0;
    if (!cells) return YOKE_OK;
    if (cells != t->cells) status = count_between(t, cells);
    if (status) return status;
    predict_between(t, order, choice);
    t->even.is_even = choice->of_cells.predicted.total <= alike * estimate_s;
    if (!t->even.is_even) return YOKE_OK;
    *taken = 1;
    choice->estimated = !t->options->all;
    if (t->options->all) status = compare_all(t, order, choice);
    for (int d = choice->first; d <= choice->last && choice->estimated; d++) fmm_depth_estimate(&of, (int64_t)1 << d, &choice->of[d]);
    if (!status) status = fmm_choose(t->run, 0, t->options->gradient, &t->machine, choice);
    if (!status) (void)fmm_choice_keep(choice, 0, 0, cells, INFINITY);
    return status;
}

/* Chooses the best of all trees, with the devices if there are any. */
static yoke_status take_best(fmm_tuner *t, int order, fmm_choice *choice)
{
    enum { MOST_BETWEEN = 2 }; /* trees between two depths that are counted: the first shows where a better one may be */
    const fmm_tune_options *o = t->options;
    const fmm_shares_options options = {.run = o->devices,
                                        .share = o->share,
                                        .gradient = o->gradient,
                                        .rests = o->objective != YOKE_OBJECTIVE_TIME && !t->rested,
                                        .measured_s = &t->machine_s,
                                        .progress = o->progress,
                                        .user = o->user};
    fmm_choice alone = *choice;
    int64_t cells = 0;
    if (t->host == FMM_HOST_NONE) return fmm_choose(t->run, 0, o->gradient, &t->machine, choice);
    t->rested = 1;
    yoke_status status = fmm_shares_choose(t->context, &options, &t->machine, t->particles->count, choice);
    for (int k = 0; k < MOST_BETWEEN && !status && o->depth < 0; k++) {
        status = fmm_shares_between(t->context, &options, &t->machine, t->particles->count, choice,
                                    (double)t->particles->count * t->machine.sort, &cells);
        if (status || !cells) return status;
        status = count_between(t, cells);
        if (status) return status;
        predict_between(t, order, &alone);
        *choice = alone;
        status = fmm_shares_choose(t->context, &options, &t->machine, t->particles->count, choice);
    }
    return status;
}

/*
 * Finds the best depth for particles on surfaces and curves (thin.h), and counts the depths as far as this one.  The best uniform tree over
 * such particles was not slower than adaptive trees, whose leaves differ more in size, when both were run in turn.
 * *taken: zero: they are not such particles, or the counts show that they are spread less evenly than estimated.
 */
static yoke_status choose_thin(fmm_tuner *t, int order, fmm_choice *choice, int *taken)
{
    static const double alike = 1.25, nearly = 1.15;
    const fmm_tree *tree = t->analysis->tree;
    fmm_analysis estimated = *t->analysis;
    fmm_depth now;
    double best_s = INFINITY, last_s = 0;
    int deepest = 0;
    *taken = 0;
    if (!fmm_is_thin(&estimated, tree, choice->last)) return YOKE_OK;
    for (int d = choice->last; last_s <= nearly * best_s && (d <= estimated.depth || fmm_thin_deepen(&estimated)); d++) {
        fmm_depth_predict(&t->machine, &estimated, d, order, t->options->gradient, &now);
        last_s = now.predicted.total;
        best_s = fmin(best_s, last_s);
        if (last_s <= nearly * best_s) deepest = d;
    }
    if (last_s <= nearly * best_s || !fmm_is_thin(&estimated, tree, deepest)) return YOKE_OK;
    yoke_status status = analyse(t, deepest, 0);
    if (status) return status;
    choice->last = deepest;
    predict(t, order, choice);
    *taken = choice->of[fastest(choice)].predicted.total <= alike * best_s;
    return YOKE_OK;
}

/*
 * Counts all depths that may be the best, and adaptive trees.  Where particles fill their box evenly, adaptive trees are not counted: on a
 * lattice they are identical to uniform ones.  Nor are they on surfaces and curves (choose_thin).  Elsewhere adaptive trees are usually the
 * fastest, if no devices share the near field: the deepest uniform tree, which has most of the cells to count, is then counted only if it
 * may be better.
 */
static yoke_status compare_all(fmm_tuner *t, int order, fmm_choice *choice)
{
    const int fixed = t->options->depth >= 0, all = t->options->all;
    const int uneven = !fixed && t->particles->count > 0 && (all || !t->even.is_even), alone = t->host == FMM_HOST_NONE;
    if (uneven && !all && alone && choice->last > 2) choice->last--;
    yoke_status status = analyse(t, choice->last, uneven && (all || !t->thin));
    if (status) return status;
    const int deepest = t->analysis->deepest;
    if (!fixed && choice->last > deepest) choice->last = deepest;
    if (t->thin && choice->last < t->analysis->depth) choice->last = t->analysis->depth;
    predict(t, order, choice);
    if (uneven && alone && t->analysis->tree) status = choose_thin(t, order, choice, &t->thin);
    if (!status && uneven && (all || !t->thin)) status = predict_capacities(t, order, choice);
    while (!status && !fixed && ((!t->thin && deeper_may_be_better(t, choice)) || deeper_may_have_fewer_operations(t, choice))) {
        choice->last += choice->last < deepest - 1 ? 2 : 1;
        status = analyse(t, choice->last, uneven && (all || !t->thin));
        if (!status) predict(t, order, choice);
    }
    if (!status) fmm_choice_leave_equal_out(t->analysis, choice);
    choice->thin = t->thin && !all;
    return status;
}

static yoke_status choose_with_host(fmm_tuner *t, int order, fmm_choice *choice)
{
    const int fixed = t->options->depth >= 0;
    int taken = 0;
    yoke_status status = fmm_tuner_get_costs(t, order, t->finer);
    t->machine.finer = t->finer;
    fmm_machine_take_single(&t->machine, t->single);
    choice->first = fixed ? t->options->depth : 0;
    choice->last = fixed ? t->options->depth : fmm_deep_enough(t->particles->count);
    if (!status && !fixed && !t->options->by_operations && t->host == FMM_HOST_NONE) status = choose_between(t, order, choice, &taken);
    if (status || taken) return status;
    status = compare_all(t, order, choice);
    if (!status && !fixed) predict_between(t, order, choice); /* the tree that was counted for another order, if any */
    if (!status) status = take_best(t, order, choice);
    if (!status && t->options->by_operations) fmm_choice_take_depth(choice, fmm_depth_by_operations(choice));
    return status;
}

/* If the last host fails while its works are measured, the calling thread's cores take its part, as they do if it fails in a run. */
static yoke_status choose(fmm_tuner *t, int order, fmm_choice *choice)
{
    yoke_status status = choose_with_host(t, order, choice);
    fmm_host_kind host = t->host;
    if (status != YOKE_ERROR_UNAVAILABLE || t->host == FMM_HOST_NONE || fmm_shares_host(t->options->devices, &host)) return status;
    if (host != FMM_HOST_NONE) return status;
    *choice = (fmm_choice){0};
    return choose_with_host(t, order, choice);
}

/* Adds to the predicted seconds of a tree; its energy grows with them. */
static void add_seconds(double more_s, fmm_depth *of)
{
    of->predicted_j *= 1 + more_s / of->predicted.total;
    of->predicted.tree += more_s;
    of->predicted.total += more_s;
}

void fmm_tuner_take_sorting(const fmm_tuner *t, fmm_tuned *tuned)
{
    fmm_choice *choice = &tuned->choice;
    const double predicted_s = (double)t->particles->count * t->machine.sort;
    /* Trees that were only estimated would be sorted as long as the counted one. */
    const fmm_analysis *depths = t->analysis ? t->analysis : t->between, *between = t->between ? t->between : t->analysis;
    if (t->host != FMM_HOST_NONE || t->options->measure) return;
    const double before_s = fmm_chosen(choice)->predicted.total;
    for (int r = 0; r < fmm_choice_count(choice); r++) {
        fmm_depth *tree = fmm_choice_tree(choice, r);
        const fmm_analysis *sorted = tree == &choice->of_cells ? between : depths;
        if (sorted) add_seconds(sorted->sort_s - predicted_s, tree);
    }
    const double relative = fmm_chosen(choice)->predicted.total / before_s;
    choice->predicted.time_s *= relative;
    choice->predicted.energy_j *= relative;
}

yoke_status fmm_tuner_learn(fmm_tuner *t, const fmm_tuned *tuned)
{
    static const double least_s = 1e-3; /* times of shorter parts are too uncertain */
    const fmm_seconds *predicted = &fmm_chosen(&tuned->choice)->predicted, *measured = &fmm_chosen(&tuned->choice)->measured;
    const double predicted_s[FMM_TIMED_PARTS] = {predicted->tree - tuned->sort_s, predicted->near, predicted->far};
    const double measured_s[FMM_TIMED_PARTS] = {measured->tree - tuned->sort_s, measured->near, measured->far};
    if (!t->store || t->host != FMM_HOST_NONE || t->counter) return YOKE_OK;
    for (int part = 0; part < FMM_TIMED_PARTS; part++) {
        const double plain_s = predicted_s[part] / tuned->factor[part].value;
        if (plain_s < least_s || !(measured_s[part] >= least_s)) continue;
        t->machine.factor[part] = fmm_factor_learn(t->machine.factor[part], measured_s[part] / plain_s, t->machine.disturbed > 0);
    }
    t->learned++;
    return t->learned & (t->learned - 1) ? YOKE_OK : fmm_tuner_save_factors(t);
}

yoke_status fmm_tuner_create(yoke_context *context, const fmm_tune_options *options, fmm_tuner **tuner)
{
    fmm_tuner *t = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *t, &t);
    if (status) return status;
    t->context = context;
    t->options = options;
    t->store = options->store;
    t->single = options->single;
    if (options->measure) status = fmm_counter_open(context, options->measure, &t->counter);
    if (!status) status = fmm_tuner_get_costs(t, options->order, 0);
    if (status)
        fmm_tuner_destroy(t);
    else
        *tuner = t;
    return status;
}

const fmm_clock *fmm_tuner_clock(const fmm_tuner *t) { return t->counter ? fmm_counter_clock(t->counter) : NULL; }

void fmm_tuner_set_waves(fmm_tuner *t, int finer) { t->finer = finer; }

void fmm_tuner_set_single(fmm_tuner *t, int single) { t->single = single; }

void fmm_tuner_set_particles(fmm_tuner *t, const fmm_particles *particles)
{
    fmm_analysis_destroy(t->analysis);
    t->analysis = NULL;
    forget_between(t);
    t->looked = t->thin = t->takes_cells = t->num_capacities = 0;
    t->particles = particles;
}

void fmm_tuner_destroy(fmm_tuner *t)
{
    if (!t) return;
    fmm_analysis_destroy(t->analysis);
    forget_between(t);
    yoke_run_destroy(t->run);
    fmm_counter_close(t->counter);
    yoke_release(t->context, t);
}

yoke_status fmm_tuner_choose(fmm_tuner *t, int order, fmm_tuned *tuned)
{
    fmm_tuned found = {.measure = t->options->measure};
    const int analysed_before = t->analysis != NULL;
    const int64_t cells_before = t->cells;
    const double machine_before_s = t->machine_s, begin_s = yoke_clock_s();
    yoke_status status = choose(t, order, &found.choice);
    found.analysis_s = yoke_clock_s() - begin_s - (t->machine_s - machine_before_s);
    found.machine_s = t->machine_s;
    found.measured_now = t->measured_now;
    found.disturbed = t->machine.disturbed;
    memcpy(found.factor, t->machine.factor, sizeof found.factor);
    t->takes_cells = found.choice.takes_cells;
    const int sorted_before = t->takes_cells ? t->cells == cells_before : analysed_before;
    if (!status) found.sort_s = (t->takes_cells ? t->between : t->analysis)->sort_s;
    if (!status && !sorted_before) found.analysis_s -= found.sort_s;
    t->machine_s = 0;
    if (!status) *tuned = found;
    return status;
}

fmm_tree *fmm_tuner_take_tree(fmm_tuner *t, int64_t cells)
{
    fmm_analysis *chosen = cells <= 0 ? t->analysis : cells == t->cells ? t->between : NULL;
    fmm_tree *tree = chosen ? chosen->tree : NULL;
    if (tree) chosen->tree = NULL;
    if (t->between) fmm_analysis_drop_tree(t->between);
    if (t->analysis) fmm_analysis_drop_tree(t->analysis);
    return tree;
}
