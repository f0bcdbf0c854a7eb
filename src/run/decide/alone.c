/*
 * Gives all units to one device if that is better than all devices together, as they slow each other down.  Neither the balancer nor the
 * planner knows of this.  How much devices slow each other down follows from rounds that one device has alone.  So a few rounds serve to
 * learn it, and a few later ones, of all devices together, to learn whether it is still so.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "run/run.h"

/* A device works alone if that is better than all together by at least this part. */
static const double clearly = 0.02;
static const int first_question = 8, most_questions = 8;
/*
 * While one device alone is better, a round of all devices together may be worse by at most this part of the cost of all rounds since the
 * last such round.
 */
static const double question_part = 0.005;
/*
 * Rounds in which one device is measured alone may take longer than rounds together by at most this part of the time of all rounds so far:
 * trial_part if nothing is known of the device, doubt_part if little is known.
 */
static const double trial_part = 0.05, doubt_part = 0.01;
/* A device that takes this many times as long as another one is not tried alone. */
static const double hopeless = 2;

/* Nonzero: it is known that devices slow each other down with this work, or that copies take a part of the time. */
static int disturbed(const yoke_run *run, const run_plan *plan)
{
    for (int i = 0; i < run->num_devices && run->options.copies_apart; i++)
        if (run_copy_s(&run->devices[i], (double)plan->units[0][i]) > clearly * plan->predicted.time_s) return 1;
    for (int p = 0; p < plan->num_phases; p++)
        for (int i = 0; i < run->num_devices; i++)
            if (run_is_disturbed(run, plan->works[p], i, plan->levels[i], (double)run_phase_units_of(plan, p, i))) return 1;
    return 0;
}

static int keeps_limits(const yoke_run *run, const run_plan *plan, double slowest_s)
{
    const yoke_run_options *o = &run->options;
    if (o->deadline_s > 0 && !(plan->predicted.time_s <= o->deadline_s)) return 0;
    if (run->limit_s > 0 && !(plan->predicted.time_s <= run->limit_s)) return 0;
    if (o->power_cap_w > 0 && !(plan->predicted.peak_power_w <= o->power_cap_w)) return 0;
    return !(o->max_slowdown > 0) || plan->predicted.time_s <= slowest_s;
}

/* Makes and predicts the plan with all units on one device at a level. */
static yoke_status give_all(yoke_run *run, const run_plan *plan, int device, int level, run_plan *trial)
{
    *trial = *plan;
    memset(trial->units, 0, sizeof trial->units);
    for (int c = 0; c < plan->num_cuts; c++) trial->units[c][device] = plan->cut_units[c];
    trial->levels[device] = level;
    trial->balanced = trial->optimal = 0;
    trial->gap = trial->planned.time_s = NAN;
    return run_predict(run, trial);
}

/*
 * Nonzero: a round of all devices together is due.  It comes after 8, 16, 32, ... rounds of one device alone, as the measurements may have
 * been chance, or may have changed; later if it costs much.
 */
static int is_time_to_ask(yoke_run *run, const run_plan *plan, double loss)
{
    if (++run->alone_rounds < first_question << run->questions || run->alone_rounds * question_part < loss) return 0;
    run->alone_rounds = 0;
    if (run->questions < most_questions) run->questions++;
    for (int p = 0; p < plan->num_phases; p++)
        for (int i = 0; i < run->num_devices; i++) {
            run_doubt_relation(&run->run_works[plan->works[p]].relations[i]); /* the result counts as much as all earlier ones */
        }
    return 1;
}

/*
 * Gives all units to a device that alone is better than all devices together, unless a round of all is due.  *found: nonzero: there is such
 * a device.
 */
static yoke_status leave_alone(yoke_run *run, run_plan *plan, int *found)
{
    const double slowest_s = plan->predicted.time_s;
    yoke_status status = YOKE_OK;
    run_plan *trial = run->alone, *best = run->alone + 1;
    *best = *plan;
    for (int i = 0; i < run->num_devices; i++)
        for (int l = 0; l < run->devices[i].num_levels && status == YOKE_OK; l++) {
            if (run_most_units(run, plan, i) < plan->cut_units[0]) continue;
            status = give_all(run, plan, i, l, trial);
            if (status != YOKE_OK || !(trial->value < (*found ? 1 : 1 - clearly) * best->value) || !keeps_limits(run, trial, slowest_s))
                continue;
            snprintf(trial->note, sizeof trial->note, "devices disturb each other, or copies cost more than they bring: %s alone is better",
                     run->devices[i].info->name);
            *best = *trial;
            *found = 1;
        }
    if (status == YOKE_OK && *found && !is_time_to_ask(run, plan, plan->value / best->value - 1)) *plan = *best;
    return status;
}

/* Nonzero: for a work of the plan it is not known how much the others slow the device down. */
static int is_untold(const yoke_run *run, const run_plan *plan, int device)
{
    for (int p = 0; p < plan->num_phases; p++)
        if (plan->phases[p].cut >= 0 && plan->phases[p].units > 0 && !run_is_related(run, plan->works[p], device)) return 1;
    return 0;
}

/* Nonzero: within the uncertainty of the prediction the device alone may be better than the plan. */
static int may_be_better(const run_plan *plan, const run_plan *alone)
{
    const double uncertain = alone->predicted.time_uncertainty_s / alone->predicted.time_s;
    return alone->value * (1 - uncertain) < (1 - clearly) * plan->value;
}

static int may_be_tried(const yoke_run *run, const run_plan *plan, int device)
{
    for (int p = 0; p < plan->num_phases; p++)
        if (run->run_works[plan->works[p]].tried_alone[device] >= RUN_MAX_TRIES) return 0;
    return 1;
}

static int count_working(const yoke_run *run, const run_plan *plan)
{
    int count = 0;
    for (int i = 0; i < run->num_devices; i++) count += plan->units[0][i] > 0;
    return count;
}

/*
 * If devices share a round, and the times of some of them alone are not known, or not known well, the best of those gets a whole round for
 * itself.  This waits until the rounds so far are so long that it costs little in comparison.  No other measurement shows that devices use
 * the same cores or the same memory.
 */
static yoke_status try_alone(yoke_run *run, run_plan *plan)
{
    run_plan *trial = run->alone, *best = run->alone + 1;
    double least = INFINITY;
    int found = -1;
    yoke_status status = YOKE_OK;
    if (run->options.policy != YOKE_BALANCE_ADAPTIVE || count_working(run, plan) < 2) return YOKE_OK;
    for (int i = 0; i < run->num_devices && status == YOKE_OK; i++) {
        if (plan->units[0][i] == 0 || run_most_units(run, plan, i) < plan->cut_units[0]) continue;
        status = give_all(run, plan, i, plan->levels[i], trial);
        if (status != YOKE_OK || isnan(trial->value)) continue;
        least = fmin(least, trial->value);
        if (!may_be_tried(run, plan, i) || !(is_untold(run, plan, i) || may_be_better(plan, trial))) continue;
        if (found >= 0 && trial->value >= best->value) continue;
        *best = *trial;
        found = i;
    }
    if (status != YOKE_OK || found < 0 || best->value > hopeless * least || !keeps_limits(run, best, plan->predicted.time_s)) return status;
    const double longer_s = fmax(0, best->value / plan->value - 1) * plan->predicted.time_s,
                 part = is_untold(run, plan, found) ? trial_part : doubt_part;
    if (run->tried_alone_s + longer_s > part * (run->sum_s + plan->predicted.time_s)) return YOKE_OK;
    run->tried_alone_s += longer_s;
    for (int p = 0; p < plan->num_phases; p++) run->run_works[plan->works[p]].tried_alone[found]++;
    snprintf(best->note, sizeof best->note, "%s alone: what devices lose beside each other is not known well",
             run->devices[found].info->name);
    *plan = *best;
    plan->decision = YOKE_RUN_EXPLORED;
    return YOKE_OK;
}

yoke_status run_consider_alone(yoke_run *run, run_plan *plan)
{
    if (run->options.use == YOKE_RUN_BOTH || plan->weighed || plan->weighted || isnan(plan->value) || plan->decision < YOKE_RUN_BALANCED)
        return YOKE_OK;
    int found = 0;
    yoke_status status = disturbed(run, plan) ? leave_alone(run, plan, &found) : YOKE_OK;
    return status == YOKE_OK && !found ? try_alone(run, plan) : status;
}
