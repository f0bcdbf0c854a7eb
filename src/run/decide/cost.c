/* The cost of a plan by present knowledge: predictions, the least time, and the regret. */
#include <math.h>
#include <string.h>

#include "run/run.h"

double run_objective(yoke_objective objective, double time_s, double energy_j)
{
    switch (objective) {
    case YOKE_OBJECTIVE_TIME:
        return time_s;
    case YOKE_OBJECTIVE_ENERGY:
        return energy_j;
    case YOKE_OBJECTIVE_EDP:
        return energy_j * time_s;
    case YOKE_OBJECTIVE_ED2P:
        return energy_j * time_s * time_s;
    }
    return NAN;
}

/* Seconds of copies that are not part of rounds; rest_w is the power meanwhile. */
static double copies_s(const yoke_run *run, const run_plan *plan)
{
    double longest = 0;
    for (int i = 0; i < run->num_devices && run->options.copies_apart; i++)
        longest = fmax(longest, run_copy_s(&run->devices[i], (double)plan->units[0][i]));
    return longest;
}

static double rest_w(const yoke_run *run, const run_plan *plan)
{
    double watts = run->base_w;
    for (int i = 0; i < run->num_devices; i++)
        if (!run->devices[i].removable || plan->units[0][i] > 0) watts += run_idle_w(run, i, plan->levels[i]);
    return watts;
}

static void find_value(const yoke_run *run, run_plan *plan)
{
    double copied_s = copies_s(run, plan), joules = plan->predicted.energy_j + (copied_s > 0 ? copied_s * rest_w(run, plan) : 0);
    plan->value = run_objective(run->options.objective, plan->predicted.time_s + copied_s, joules);
}

/* Takes the planner's own cost of a plan that it made, unless one device works alone among several, of which the planner knows less. */
static void take_planned(const yoke_run *run, run_plan *plan)
{
    int working = 0, may = 0;
    double other_j, other_s = run_overhead_s(run, plan, 1, &other_j);
    for (int i = 0; i < run->num_devices; i++) {
        working += plan->units[0][i] > 0;
        may += run_most_units(run, plan, i) > 0;
    }
    if (isnan(plan->planned.time_s) || (working < 2 && may > 1)) return;
    plan->predicted.time_s = plan->planned.time_s + other_s;
    plan->predicted.energy_j = plan->planned.energy_j + other_j;
    plan->predicted.peak_power_w = plan->planned.peak_power_w;
}

yoke_status run_predict(yoke_run *run, run_plan *plan)
{
    run_problem problem;
    int known = 0;
    int64_t units[RUN_MAX_CUTS * RUN_MAX_DEVICES];
    yoke_plan_choice choice = {.time_s = NAN};
    plan->predicted = (yoke_cost){NAN, NAN, NAN, NAN, NAN};
    plan->value = NAN;
    for (int i = 0; i < run->num_devices; i++)
        plan->predicted_s[i] = run_seconds(run, plan->works[0], i, plan->levels[i], run_is_beside(run, plan, 0, 1),
                                           (double)run_phase_units_of(plan, 0, i), NULL);
    yoke_status status = run_problem_create(run, plan, 1, &problem, &known);
    if (status != YOKE_OK || !known) return status;
    const int count = (int)problem.problem.num_devices;
    for (int c = 0; c < plan->num_cuts; c++)
        for (int k = 0; k < count; k++) units[c * count + k] = plan->units[c][problem.devices[k]];
    status = yoke_plan_evaluate(run->context, &problem.problem, NULL, units, NULL, &choice);
    run_problem_clear(run, &problem);
    if (status != YOKE_OK) return status;
    double other_j, other_s = run_overhead_s(run, plan, 1, &other_j);
    plan->predicted =
        (yoke_cost){.time_s = choice.time_s + other_s,
                    .energy_j = choice.energy_j + other_j,
                    .peak_power_w = choice.peak_power_w,
                    .time_uncertainty_s = problem.vague_times ? (double)NAN : choice.time_uncertainty_s,
                    .energy_uncertainty_j = problem.vague_times || problem.vague_powers ? (double)NAN : choice.energy_uncertainty_j};
    take_planned(run, plan);
    /* If powers of devices are not known: the mean power of the rounds so far. */
    if (isnan(plan->predicted.energy_j) && run->known_s > 0)
        plan->predicted.energy_j = run->known_j / run->known_s * plan->predicted.time_s;
    find_value(run, plan);
    return YOKE_OK;
}

/* The least time on one device: at its fastest level within the power cap. */
static yoke_status least_time_alone(yoke_run *run, const run_plan *plan, int device, double *seconds)
{
    run_plan *trial = run->alone;
    yoke_status status = YOKE_OK;
    for (int l = 0; l < run->devices[device].num_levels && status == YOKE_OK; l++) {
        *trial = *plan;
        memset(trial->units, 0, sizeof trial->units);
        for (int c = 0; c < plan->num_cuts; c++) trial->units[c][device] = plan->cut_units[c];
        for (int i = 0; i < run->num_devices; i++) trial->levels[i] = run->devices[i].num_levels - 1;
        trial->levels[device] = l;
        trial->planned.time_s = NAN;
        status = run_predict(run, trial);
        if (run->options.power_cap_w > 0 && trial->predicted.peak_power_w > run->options.power_cap_w) continue;
        *seconds = fmin(*seconds, trial->predicted.time_s);
    }
    return status;
}

yoke_status run_least_time(yoke_run *run, const run_plan *plan, double *seconds)
{
    run_problem problem;
    yoke_plan *best = NULL;
    int known = 0, may = 0, last = -1;
    *seconds = NAN;
    for (int i = 0; i < run->num_devices; i++) {
        if (run_most_units(run, plan, i) <= 0) continue;
        may++;
        last = i;
    }
    if (may == 1) return least_time_alone(run, plan, last, seconds);
    yoke_status status = run_problem_create(run, plan, 0, &problem, &known);
    if (status != YOKE_OK || !known) return status;
    problem.options = (yoke_plan_options){.power_cap_w = run->options.power_cap_w, .bare = 1};
    status = yoke_plan_create(run->context, &problem.problem, &problem.options, &best);
    if (status == YOKE_OK && best->feasible) *seconds = best->best.time_s + run_overhead_s(run, plan, 0, NULL);
    yoke_release(run->context, best);
    run_problem_clear(run, &problem);
    return status;
}

yoke_status run_regret(yoke_run *run, double *regret)
{
    enum { NODES = 2000 };
    run_problem problem;
    yoke_plan *best = NULL;
    int known = 0;
    *regret = run->has_regret ? run->regret : (double)NAN;
    if (run->has_regret || !run->has_plan || run->plan->weighted || run->plan->given || isnan(run->measured.time_s)) return YOKE_OK;
    *run->candidate = *run->plan;
    yoke_status status = run_predict(run, run->candidate);
    if (status != YOKE_OK || isnan(run->candidate->value)) return status;
    status = run_problem_create(run, run->plan, 0, &problem, &known);
    if (status != YOKE_OK || !known) return status;
    problem.options.bare = 1;
    problem.options.max_nodes = NODES;
    double other_j, other_s = run_overhead_s(run, run->candidate, 1, &other_j);
    status = yoke_plan_create(run->context, &problem.problem, &problem.options, &best);
    if (status == YOKE_OK && best->feasible)
        *regret = fmax(
            0,
            run->candidate->value / run_objective(run->options.objective, best->best.time_s + other_s, best->best.energy_j + other_j) - 1);
    yoke_release(run->context, best);
    run_problem_clear(run, &problem);
    run->regret = *regret;
    run->has_regret = status == YOKE_OK;
    return status;
}
