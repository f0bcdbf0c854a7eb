/*
 * compute.c - runs the kept tree until the error is within the request.
 */
#include <math.h>
#include <stdio.h>

#include "solve/parts.h"
#include "tune/order/draw.h"

/* Number of particles that are compared with direct sums by default: they have at most a tenth of the near field's pairs, but there are
 * 100 to 1000. */
static int64_t sample_size(int64_t particles, const fmm_method_pairs *pairs)
{
    int64_t cheap = particles > 0 ? pairs->near / 10 / particles : 0;
    return cheap < 100 ? 100 : cheap > 1000 ? 1000 : cheap;
}

static yoke_status sum_at(fmm_solver *s, const fmm_particles *particles, int64_t count)
{
    int64_t *which = NULL;
    double *weight = NULL;
    fmm_expanded sorted;
    const int order = fmm_chooses_order(s) ? fmm_order_guess(s->options.request.error) : s->options.order;
    if (count > particles->count) count = particles->count;
    yoke_status status = yoke_allocate(s->context, count, sizeof *which, &which);
    if (!status) status = yoke_allocate(s->context, count, sizeof *weight, &weight);
    if (!status) status = fmm_method_sort_charges(s->method, particles->charge, &sorted);
    if (!status) status = fmm_draw_reference(sorted.tree, sorted.particles, order, count, which, weight);
    if (!status) status = fmm_reference_create(particles, s->options.gradient, count, which, weight, s->options.stop, &s->reference);
    yoke_release(s->context, which);
    yoke_release(s->context, weight);
    return status;
}

yoke_status fmm_solver_sum_some(fmm_solver *s, const fmm_particles *particles)
{
    const fmm_method_pairs pairs = fmm_method_count(s->method);
    const int64_t count = s->options.check >= 0 ? s->options.check : sample_size(particles->count, &pairs);
    if (count == 0 || s->reference) return YOKE_OK;
    yoke_status status = fmm_solver_tell(s, FMM_STAGE_CHECK, "summing directly at some particles");
    const double begin_s = yoke_clock_s();
    if (!status) status = sum_at(s, particles, count);
    s->solution.check_s = yoke_clock_s() - begin_s;
    return status;
}

/* The predicted error of the energy is relative to the energy of the call in which the order was chosen.  Changes it to that of this call
 * if the order was kept. */
static void take_energy(fmm_solver *s)
{
    const double was = s->energy_size, is = s->solution.sample.energy_size, relative = was / is;
    if (!s->solution.order_because && relative > 0 && isfinite(relative)) s->accuracy.energy *= relative;
    s->energy_size = is;
}

static yoke_status check_sample(fmm_solver *s, const fmm_particles *particles, const fmm_field *field)
{
    const double begin_s = yoke_clock_s();
    if (!s->reference) return YOKE_OK;
    yoke_status status = fmm_reference_compare(s->reference, particles, field, &s->solution.sample);
    if (!status) fmm_accuracy_correct(&s->accuracy, &s->solution.sample);
    if (!status) take_energy(s);
    s->solution.check_s += yoke_clock_s() - begin_s;
    return status;
}

/* ---------------------------------------------------------------------------------------------------- runs */

fmm_seconds fmm_solver_seconds(const fmm_method_seconds *seconds)
{
    fmm_seconds s = {.tree = seconds->tree, .near = seconds->near, .far = seconds->upward + seconds->between + seconds->downward};
    s.total = s.tree + s.near + s.far;
    return s;
}

/* Stores the measured times of the chosen tree.  Counts are stored only if all trees are measured, because a part of the work of this
 * run was done when the order was chosen. */
static void keep_measured(fmm_solver *s, fmm_seconds taken)
{
    fmm_choice *choice = &s->tuned.choice;
    if (!s->chosen || s->options.measure_all || s->options.measure) return; /* all trees were measured in the same way */
    if (!s->solution.devices.simulated) taken.tree = s->tree_s;
    taken.total = taken.tree + taken.near + taken.far;
    fmm_choice_tree(choice, fmm_choice_taken(choice))->measured = taken;
}

/* Learns from the first run of a tree that was chosen for these particles, in this call or by fmm_solver_choose.  If devices share the
 * near field, their run learns from its own times. */
static yoke_status learn(fmm_solver *s)
{
    const bool learns = s->chosen && s->teaches && !s->options.devices && !s->options.measure_all;
    s->teaches = false;
    return learns ? fmm_tuner_learn(s->tuner, &s->tuned) : YOKE_OK;
}

/* Sets the order and, if their set was chosen, the plane waves. */
static yoke_status set_order(fmm_solver *s, int order)
{
    const int set = fmm_chooses_order(s) && s->waves ? fmm_accuracy_set(&s->accuracy, order) : 0;
    yoke_status status = fmm_method_set_order(s->method, order);
    s->solution.set = set;
    s->solution.waves = set ? s->waves : 0;
    if (s->chosen) {
        fmm_depth *tree = fmm_choice_tree(&s->tuned.choice, fmm_choice_taken(&s->tuned.choice));
        tree->waves = s->solution.waves;
        tree->set = set;
    }
    return status || !set ? status : fmm_method_set_waves(s->method, s->waves, set);
}

/* Runs the method with an order.  raised: after a run with a lower order, whose near field is kept. */
static yoke_status run_method(fmm_solver *s, const fmm_particles *particles, int order, bool raised, fmm_field *field,
                              fmm_shared_run_seconds *seconds)
{
    yoke_region *region;
    yoke_status status = fmm_solver_begin_energy(s, &region);
    if (!status)
        status = raised               ? fmm_method_run_far(s->method, particles->charge, field, &seconds->here)
                 : s->options.devices ? fmm_solver_run_shared(s, s->method, s->chosen ? fmm_chosen(&s->tuned.choice) : NULL, order,
                                                              particles->charge, field, seconds)
                                      : fmm_method_run(s->method, particles->charge, field, &seconds->here);
    const yoke_status ended = fmm_solver_end_energy(s, region);
    return status ? status : ended;
}

/* Runs the method and reports its results. */
static yoke_status run(fmm_solver *s, const fmm_particles *particles, int order, bool raised, fmm_field *field)
{
    fmm_solution *found = &s->solution;
    fmm_shared_run_seconds seconds = {0};
    char what[80];
    (void)snprintf(what, sizeof what, "%lld particles, order %d", (long long)particles->count, order);
    const double begin_s = yoke_clock_s();
    yoke_status status = set_order(s, order);
    if (!raised) fmm_method_set_single(s->method, fmm_solver_is_single(s, particles));
    if (found->built) found->tree_s += yoke_clock_s() - begin_s; /* time of the order's tables */
    if (found->built || s->teaches) s->tree_s += yoke_clock_s() - begin_s;
    if (!status) fmm_method_get_memory(s->method);
    if (!status) found->tune_s -= fmm_method_saved_s(s->method); /* they are included in the far field's seconds; NaN stays */
    if (!status) status = fmm_solver_tell(s, FMM_STAGE_RUN, what);
    if (!status) status = run_method(s, particles, order, raised, field, &seconds);
    if (status) return status;
    if (s->options.devices && !raised) found->tune_s = (isnan(found->tune_s) ? 0 : found->tune_s) + found->devices.plan_s;
    const fmm_method_pairs pairs = fmm_method_count(s->method);
    const fmm_seconds taken = fmm_solver_seconds(&seconds.here);
    found->order = order;
    found->single = fmm_method_is_single(s->method);
    found->near_s = taken.near + (raised ? found->near_s : 0);
    if (!s->options.devices)
        keep_measured(s, (fmm_seconds){.tree = taken.tree, .near = found->near_s, .far = taken.far});
    else if (!raised)
        keep_measured(s, seconds.as_predicted);
    if (s->options.devices && s->chosen && !raised && !s->options.measure_all) fmm_solver_predict_order(s, order);
    found->far_s = taken.far + (raised ? found->far_s : 0);
    found->far_pairs = (double)pairs.far;
    return check_sample(s, particles, field);
}

/* Returns by how much the order of the last run was too low. */
static int order_missing(const fmm_solver *s)
{
    const fmm_solution *found = &s->solution;
    if (!fmm_chooses_order(s) || found->depth < 2) return 0;
    return fmm_order_missing(&s->options.request, &s->accuracy, &found->sample, found->order);
}

yoke_status fmm_solver_compute(fmm_solver *s, const fmm_particles *particles, fmm_field *field)
{
    enum { PATIENCE = 3 }; /* successive higher orders that do not reduce the error: errors of particles in corners do not fall evenly */
    fmm_solution *found = &s->solution;
    /* before the run: it sorts charges, so that the near field of a run would not be kept */
    yoke_status status = fmm_solver_sum_some(s, particles);
    if (!status) status = run(s, particles, found->order, false, field);
    if (!status) status = learn(s);
    double least = INFINITY;
    for (int missing, in_vain = 0; !status && (missing = order_missing(s)) > 0;) {
        const double error = fmm_solver_sampled_error(s);
        in_vain = error < least ? 0 : in_vain + 1;
        if (in_vain == PATIENCE) break;
        least = fmin(least, error);
        yoke_log(s->context, YOKE_LOG_WARNING,
                 "order %d may leave an error of %.2g instead of %.2g: running the far field again with order %d", found->order,
                 fmm_solver_sampled_error(s), found->requested_error, found->order + missing);
        found->raised += missing;
        status = run(s, particles, found->order + missing, true, field);
        fmm_accuracy_raise(&s->accuracy, found->order);
    }
    if (!status && fmm_chooses_order(s) && found->raised && fmm_solver_sampled_error(s) > found->requested_error)
        yoke_log(s->context, YOKE_LOG_WARNING, "an error of %.2g remains instead of %.2g: higher orders do not reduce it",
                 fmm_solver_sampled_error(s), found->requested_error);
    if (fmm_chooses_order(s)) found->predicted_energy = s->accuracy.energy;
    if (s->options.keeps_memory)
        found->memory_bytes = s->memory.bytes, found->memory_s = s->memory.seconds, found->memory_predicted_s = s->memory.predicted_s;
    return status;
}
