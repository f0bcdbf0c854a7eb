/* Finds the planner's best choice for a round, or keeps the distribution of the last round. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "run/run.h"

/*
 * A distribution is kept unless a better one gains this part of the objective (more if times are uncertain), and the cost of moving the
 * units.
 */
static const double least_gain = 0.003, most_least_gain = 0.01, gain_of_uncertainty = 0.3;
static const double usual_rounds = 10;
/* With more than FEW_DEVICES devices the planner is not asked for alternatives, which need several searches. */
enum { FEW_DEVICES = 2, MAX_PATIENCE = 7 };

static void take_choice(const run_problem *problem, const yoke_plan_choice *choice, run_plan *plan)
{
    const int count = (int)problem->problem.num_devices;
    for (int c = 0; c < plan->num_cuts; c++) {
        memset(plan->units[c], 0, sizeof plan->units[c]);
        for (int k = 0; k < count; k++) plan->units[c][problem->devices[k]] = choice->units[c * count + k];
    }
    for (int k = 0; k < count; k++) plan->levels[problem->devices[k]] = problem->levels[k][choice->levels[k]];
}

static yoke_cost planned_cost(const yoke_plan_choice *choice)
{
    return (yoke_cost){.time_s = choice->time_s, .energy_j = choice->energy_j, .peak_power_w = choice->peak_power_w};
}

static void keep_alternatives(const yoke_run *run, const run_problem *problem, const yoke_plan *made, run_plan *plan)
{
    plan->num_alternatives = 0;
    for (int64_t a = 0; a < made->num_alternatives && plan->num_alternatives < RUN_MAX_ALTERNATIVES; a++) {
        const yoke_plan_choice *from = &made->alternatives[a];
        run_alternative *to = &plan->alternatives[plan->num_alternatives];
        /* With one device there is nothing else to balance. */
        int trivial = problem->problem.num_devices == 1 && strncmp(from->name, "only:", 5) != 0;
        if (from->units == NULL || (trivial && strcmp(from->name, "best") != 0)) continue;
        *to = (run_alternative){.time_s = from->time_s, .energy_j = from->energy_j, .feasible = from->feasible};
        snprintf(to->name, sizeof to->name, "%s", from->name);
        snprintf(to->note, sizeof to->note, "%s", from->note);
        for (int i = 0; i < run->num_devices; i++) to->hz[i] = NAN;
        for (int k = 0; k < (int)problem->problem.num_devices; k++) {
            to->units[problem->devices[k]] = from->units[k];
            to->hz[problem->devices[k]] = run->devices[problem->devices[k]].hz[problem->levels[k][from->levels[k]]];
        }
        plan->num_alternatives++;
    }
}

/* Adds to alternatives the cost of a round in addition to its phases. */
static void add_overhead(const yoke_run *run, run_plan *plan)
{
    double other_j, other_s = run_overhead_s(run, plan, 0, &other_j);
    for (int a = 0; a < plan->num_alternatives; a++) {
        plan->alternatives[a].time_s += other_s;
        plan->alternatives[a].energy_j += other_j;
    }
}

/* Writes the times of the first phase as those of a level in a problem without phases. */
static void flatten(const yoke_plan_level *from, yoke_plan_level *to)
{
    const yoke_plan_time *time = from->phases;
    *to = *from;
    to->phases = NULL;
    to->start_seconds = time->start_seconds;
    to->seconds_per_unit = time->seconds_per_unit;
    to->dynamic_power_w = time->dynamic_power_w;
    to->num_points = time->num_points;
    to->points = time->points;
}

/* Adds the published rule as an alternative.  It knows only one phase, so its choice for the first phase is taken for the whole round. */
static yoke_status weigh_published(const yoke_run *run, const run_problem *problem, run_plan *plan)
{
    enum { NODES_OF_IT = 100 };
    const yoke_plan_problem *all = &problem->problem;
    yoke_plan_device devices[2];
    yoke_plan *made = NULL;
    void *memory = NULL;
    int64_t at = 0;
    if (!run->needs_powers || all->num_devices != 2 || all->round == NULL || plan->num_cuts != 1 || plan->phases[0].cut != 0 ||
        plan->num_alternatives == RUN_MAX_ALTERNATIVES)
        return YOKE_OK;
    yoke_status status =
        yoke_allocate(run->context, all->devices[0].num_levels + all->devices[1].num_levels, sizeof(yoke_plan_level), &memory);
    if (status != YOKE_OK) return status;
    yoke_plan_level *levels = memory;
    for (int k = 0; k < 2; k++) {
        devices[k] = all->devices[k];
        devices[k].levels = &levels[at];
        for (int64_t l = 0; l < devices[k].num_levels; l++) flatten(&all->devices[k].levels[l], &levels[at++]);
    }
    yoke_plan_problem flat = *all;
    flat.round = NULL;
    flat.devices = devices;
    const yoke_plan_options options = {.objective = run->options.objective, .max_nodes = NODES_OF_IT};
    status = yoke_plan_create(run->context, &flat, &options, &made);
    for (int64_t a = 0; status == YOKE_OK && a < made->num_alternatives; a++) {
        const yoke_plan_choice *from = &made->alternatives[a];
        yoke_plan_choice choice = {.time_s = NAN};
        run_alternative *to = &plan->alternatives[plan->num_alternatives];
        if (strcmp(from->name, "published") != 0 || from->units == NULL) continue;
        status = yoke_plan_evaluate(run->context, all, &problem->options, from->units, from->levels, &choice);
        if (status != YOKE_OK) break;
        *to = (run_alternative){.name = "published", .time_s = choice.time_s, .energy_j = choice.energy_j, .feasible = choice.feasible};
        snprintf(to->note, sizeof to->note, "%s", from->note);
        for (int i = 0; i < run->num_devices; i++) to->hz[i] = NAN;
        for (int k = 0; k < 2; k++) {
            to->units[problem->devices[k]] = from->units[k];
            to->hz[problem->devices[k]] = run->devices[problem->devices[k]].hz[problem->levels[k][from->levels[k]]];
        }
        plan->num_alternatives++;
        break;
    }
    yoke_release(run->context, made);
    yoke_release(run->context, memory);
    return status;
}

/* Adds alternatives with each device alone at its level of the plan, as a search without alternatives does not give these. */
static yoke_status weigh_alone(const yoke_run *run, const run_problem *problem, const yoke_plan *made, run_plan *plan)
{
    const int count = (int)problem->problem.num_devices;
    int64_t units[RUN_MAX_CUTS * RUN_MAX_DEVICES];
    yoke_status status = YOKE_OK;
    for (int k = 0; k < count && status == YOKE_OK && plan->num_alternatives < RUN_MAX_ALTERNATIVES; k++) {
        run_alternative *to = &plan->alternatives[plan->num_alternatives];
        yoke_plan_choice choice = {.time_s = NAN};
        memset(units, 0, sizeof units);
        for (int c = 0; c < plan->num_cuts; c++) units[c * count + k] = plan->cut_units[c];
        status = yoke_plan_evaluate(run->context, &problem->problem, &problem->options, units, made->best.levels, &choice);
        if (status != YOKE_OK) continue;
        *to = (run_alternative){.time_s = choice.time_s, .energy_j = choice.energy_j, .feasible = choice.feasible};
        snprintf(to->name, sizeof to->name, "only:%s", run->devices[problem->devices[k]].info->name);
        to->units[problem->devices[k]] = plan->cut_units[0];
        for (int i = 0; i < run->num_devices; i++) to->hz[i] = run->devices[i].hz[plan->levels[i]];
        plan->num_alternatives++;
    }
    return status;
}

/* Nonzero: hosts and accelerators both have units of cut 0. */
static int both_work(const yoke_run *run, const int64_t *units)
{
    int hosts = 0, accelerators = 0;
    for (int i = 0; i < run->num_devices; i++) {
        hosts |= units[i] > 0 && !run->devices[i].accelerator;
        accelerators |= units[i] > 0 && run->devices[i].accelerator;
    }
    return hosts && accelerators;
}

/*
 * If both kinds must work and the best choice leaves one out, takes the best alternative that does not, or gives one unit to the other
 * kind.
 */
static yoke_status let_both_work(yoke_run *run, run_plan *plan)
{
    double best = INFINITY;
    int chosen = -1, giver = 0, taker = -1;
    if (run->options.use != YOKE_RUN_BOTH || plan->cut_units[0] < 2 || both_work(run, plan->units[0])) return YOKE_OK;
    for (int a = 0; a < plan->num_alternatives && plan->num_cuts == 1; a++) {
        const run_alternative *it = &plan->alternatives[a];
        double value = run_objective(run->options.objective, it->time_s, it->energy_j);
        if (!it->feasible || !both_work(run, it->units) || !(value < best)) continue;
        best = value;
        chosen = a;
    }
    for (int i = 0; i < run->num_devices; i++) {
        if (plan->units[0][i] > plan->units[0][giver]) giver = i;
        if (plan->units[0][i] == 0 && run_most_units(run, plan, i) > 0) taker = i;
    }
    for (int i = run->num_devices - 1; i >= 0; i--)
        if (run_most_units(run, plan, i) > 0 && run->devices[i].accelerator != run->devices[giver].accelerator) taker = i;
    if (taker < 0 || run->devices[taker].accelerator == run->devices[giver].accelerator) return YOKE_OK; /* one kind has failed */
    plan->units[0][giver]--;
    plan->units[0][taker]++;
    plan->optimal = 0;
    plan->gap = plan->planned.time_s = NAN;
    yoke_status status = run_predict(run, plan);
    if (status != YOKE_OK || chosen < 0 || plan->value <= best) return status;
    for (int i = 0; i < run->num_devices; i++) {
        plan->units[0][i] = plan->alternatives[chosen].units[i];
        for (int l = 0; l < run->devices[i].num_levels; l++)
            if (run->devices[i].hz[l] == plan->alternatives[chosen].hz[i]) plan->levels[i] = l;
    }
    return YOKE_OK;
}

/*
 * Makes a plan.  If a limit cannot be met, this is noted, and the plan is as fast as possible, or as fast as possible with the least power.
 */
static yoke_status create_plan(yoke_run *run, run_problem *problem, run_plan *plan, yoke_plan **made)
{
    problem->options.bare = run->num_devices > FEW_DEVICES && run->options.use != YOKE_RUN_BOTH;
    for (int attempt = 0; attempt < 3; attempt++) {
        yoke_status status = yoke_plan_create(run->context, &problem->problem, &problem->options, made);
        if (status != YOKE_OK || (*made)->feasible) return status;
        const char *binding = (*made)->binding;
        double nearest = (*made)->nearest;
        if (strcmp(binding, "memory") == 0) {
            yoke_release(run->context, *made);
            *made = NULL;
            return yoke_fail(run->context, YOKE_ERROR_DEVICE_MEMORY, "%lld units do not fit the devices; make fewer, or add devices",
                             (long long)plan->cut_units[0]);
        }
        if (plan->feasible) {
            plan->feasible = 0;
            plan->nearest = strcmp(binding, "deadline") == 0 ? nearest + run_overhead_s(run, plan, 0, NULL) : nearest;
            snprintf(plan->binding, sizeof plan->binding, "%s", binding);
        }
        int capped = strcmp(binding, "power-cap") == 0;
        yoke_release(run->context, *made);
        *made = NULL;
        problem->options.objective = YOKE_OBJECTIVE_TIME;
        problem->options.deadline_s = 0;
        if (capped) problem->options.power_cap_w = isnan(nearest) ? 0 : nearest * (1 + 1e-9);
    }
    return yoke_fail(run->context, YOKE_ERROR_INTERNAL, "the planner found no plan within a limit that it had called possible");
}

/* Keeps the distribution and the levels of the last round if the planner's best choice is hardly better. */
static yoke_status maybe_keep(yoke_run *run, const run_problem *problem, run_plan *plan)
{
    yoke_plan_choice choice = {.feasible = 0};
    int64_t units[RUN_MAX_CUTS * RUN_MAX_DEVICES], levels[RUN_MAX_DEVICES];
    const int count = (int)problem->problem.num_devices;
    double moved_s = 0, left = run->options.rounds > run->rounds ? (double)(run->options.rounds - run->rounds) : usual_rounds;
    if (!run_has_distribution(run, plan) || !run->has_plan || run->plan->decision < YOKE_RUN_PLANNED || !plan->feasible) return YOKE_OK;
    for (int k = 0; k < count; k++) {
        const int i = problem->devices[k];
        levels[k] = -1;
        for (int64_t l = 0; l < problem->problem.devices[k].num_levels; l++)
            if (problem->levels[k][l] == run->plan->levels[i]) levels[k] = l;
        if (levels[k] < 0) return YOKE_OK;
        for (int c = 0; c < plan->num_cuts; c++) units[c * count + k] = run->first[c][i + 1] - run->first[c][i];
        int64_t more = plan->units[0][i] - units[k];
        if (more > 0 && !isnan(run->devices[i].copy_seconds_per_unit)) moved_s += (double)more * run->devices[i].copy_seconds_per_unit;
    }
    for (int c = 0; c < plan->num_cuts; c++) {
        int64_t sum = 0;
        for (int k = 0; k < count; k++) sum += units[c * count + k];
        if (sum != plan->cut_units[c]) return YOKE_OK; /* a device is gone */
    }
    yoke_status status = yoke_plan_evaluate(run->context, &problem->problem, &problem->options, units, levels, &choice);
    if (status != YOKE_OK || !choice.feasible) return status;
    double value = run_objective(run->options.objective, choice.time_s, choice.energy_j), gain = value / plan->value - 1;
    double uncertain = gain_of_uncertainty * run->plan->predicted.time_uncertainty_s / run->plan->predicted.time_s;
    double wanted = uncertain > least_gain ? fmin(uncertain, most_least_gain) : least_gain;
    if (!(gain < wanted + moved_s / (left * plan->predicted.time_s))) return YOKE_OK;
    choice.units = units;
    choice.levels = levels;
    take_choice(problem, &choice, plan);
    plan->planned = planned_cost(&choice);
    plan->decision = YOKE_RUN_KEPT;
    plan->gain = fmax(gain, 0);
    plan->optimal = plan->optimal && gain <= 0;
    plan->gap = isnan(plan->gap) ? plan->gap : (1 + plan->gap) * (1 + plan->gain) - 1;
    return YOKE_OK;
}

/*
 * Nonzero: the latest search found nothing better, and the round went as predicted.  Then a new search would cost time and find nothing:
 * the next searches come after 1, 3, and then 7 rounds.
 */
static int may_wait(const yoke_run *run, const run_plan *plan)
{
    const run_plan *last = run->plan;
    double deadline_s = run->options.deadline_s;
    if (run->waited >= run->patience || !run->has_plan || !run_has_distribution(run, plan) || last->num_phases != plan->num_phases ||
        last->decision < YOKE_RUN_PLANNED || last->weighted || plan->weighted || last->allowed != plan->allowed ||
        last->resting != plan->resting)
        return 0;
    for (int p = 0; p < plan->num_phases; p++)
        if (last->works[p] != plan->works[p] || last->phases[p].units != plan->phases[p].units ||
            fabs(last->phases[p].calls - plan->phases[p].calls) > 0.01 * plan->phases[p].calls)
            return 0;
    for (int i = 0; i < run->num_devices; i++)
        if (last->units[0][i] > 0 && !run_is_active(run, i)) return 0;
    if (deadline_s > 0 && last->feasible && run->measured.time_s > deadline_s) return 0;
    return fabs(run->measured.time_s - last->predicted.time_s) <= fmax(0.02 * last->predicted.time_s, last->predicted.time_uncertainty_s);
}

static void keep_last(yoke_run *run, run_plan *plan)
{
    const run_plan *last = run->plan;
    memcpy(plan->units, last->units, sizeof plan->units);
    memcpy(plan->levels, last->levels, sizeof plan->levels);
    memcpy(plan->alternatives, last->alternatives, sizeof plan->alternatives);
    memcpy(plan->binding, last->binding, sizeof plan->binding);
    memcpy(plan->note, last->note, sizeof plan->note);
    plan->num_alternatives = last->num_alternatives;
    plan->feasible = last->feasible;
    plan->nearest = last->nearest;
    plan->gap = last->gap;
    plan->gain = last->gain;
    plan->decision = YOKE_RUN_KEPT;
    run->waited++;
}

static void learn_patience(yoke_run *run, const run_plan *plan)
{
    int same = plan->decision == YOKE_RUN_KEPT;
    if (run->has_plan && !same) same = memcmp(plan->units, run->plan->units, sizeof plan->units) == 0;
    run->waited = 0;
    run->patience = !same ? 0 : run->patience < MAX_PATIENCE ? 2 * run->patience + 1 : MAX_PATIENCE;
}

yoke_status run_search(yoke_run *run, run_plan *plan, int *known)
{
    run_problem problem;
    yoke_plan *made = NULL;
    *known = 1;
    plan->decision = YOKE_RUN_PLANNED;
    if (may_wait(run, plan)) {
        keep_last(run, plan);
        return YOKE_OK;
    }
    yoke_status status = run_problem_create(run, plan, 0, &problem, known);
    if (status != YOKE_OK || !*known) return status;
    status = create_plan(run, &problem, plan, &made);
    if (status == YOKE_OK) {
        take_choice(&problem, &made->best, plan);
        plan->optimal = made->optimal;
        plan->gap = made->gap;
        plan->planned = planned_cost(&made->best);
        plan->predicted.time_s = made->best.time_s;
        plan->value = run_objective(run->options.objective, made->best.time_s, made->best.energy_j);
        keep_alternatives(run, &problem, made, plan);
        if (problem.options.bare) status = weigh_alone(run, &problem, made, plan);
        if (status == YOKE_OK) status = weigh_published(run, &problem, plan);
        add_overhead(run, plan);
        if (run->options.use == YOKE_RUN_BOTH && !both_work(run, plan->units[0]))
            snprintf(plan->note, sizeof plan->note, "hosts and accelerators both have to work; one kind alone would be better");
        if (status == YOKE_OK) status = maybe_keep(run, &problem, plan);
    }
    yoke_release(run->context, made);
    run_problem_clear(run, &problem);
    if (status == YOKE_OK) status = let_both_work(run, plan);
    if (status == YOKE_OK) learn_patience(run, plan);
    return status;
}
