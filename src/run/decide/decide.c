/* Decides the units and frequencies of the next round. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "run/run.h"

/*
 * This number of frequencies is measured before a plan.  Those between are inferred, and measured if a plan takes them or their neighbours.
 */
enum { MAX_EXPLORED = 5 };
/* Relative noise above which one measurement of a frequency is not enough. */
static const double noisy = 0.015;
static const int most_explorations = 3 * MAX_EXPLORED + 1;
/* From this sum of weights on, a level was measured once: weights decay, so that one measurement counts a little less than 1. */
static const double least_measurement = 1e-3;
static const int few_rounds = 3;

const char *run_objective_text(yoke_objective objective)
{
    static const char *const texts[] = {"time", "energy", "energy x time", "energy x time squared"};
    return texts[objective];
}

const char *run_decision_text(yoke_run_decision decision)
{
    static const char *const texts[] = {"fixed", "started", "explored", "balanced", "planned", "kept"};
    return texts[decision];
}

int run_has_distribution(const yoke_run *run, const run_plan *plan)
{
    if (run->given_cuts != plan->num_cuts) return 0;
    for (int c = 0; c < plan->num_cuts; c++)
        if (run->given_units[c] != plan->cut_units[c]) return 0;
    return 1;
}

static int may_work(const yoke_run *run, const run_plan *plan, int device) { return run_most_units(run, plan, device) > 0; }

/* ----------------------------------------------------------------------------------------------------- shares */

/* Divides n units among the devices in proportion to weights; device i has at most most[i] units. */
static yoke_status split(const yoke_run *run, int64_t n, const double *weights, const int64_t *most, int64_t *units)
{
    double left_weight = 0;
    int64_t left = n, room = 0;
    for (int i = 0; i < run->num_devices; i++) {
        units[i] = 0;
        room = most[i] > INT64_MAX - room ? INT64_MAX : room + most[i];
    }
    if (room < n)
        return yoke_fail(run->context, YOKE_ERROR_DEVICE_MEMORY,
                         "%lld units do not fit the devices, which can take %lld; make fewer, or add devices", (long long)n,
                         (long long)room);
    for (int i = 0; i < run->num_devices; i++) left_weight += most[i] > 0 ? weights[i] : 0;
    for (int i = 0; i < run->num_devices && left > 0; i++) {
        if (most[i] == 0) continue;
        double part = left_weight > 0 ? weights[i] / left_weight * (double)left : 0;
        left_weight -= weights[i];
        units[i] = (int64_t)fmin(floor(part + 0.5), fmin((double)left, (double)most[i]));
        left -= units[i];
    }
    for (int i = 0; i < run->num_devices && left > 0; i++) { /* units that the limits left over */
        int64_t more = most[i] - units[i] < left ? most[i] - units[i] : left;
        units[i] += more;
        left -= more;
    }
    return YOKE_OK;
}

/* Nonzero: every device that may work was measured with the phase's work. */
static int is_known_of_all(const yoke_run *run, const run_plan *plan, int phase)
{
    for (int i = 0; i < run->num_devices; i++)
        if (may_work(run, plan, i) && !run_is_measured(run, run_work_of(run, plan, phase, i), i)) return 0;
    return 1;
}

/*
 * Finds the devices' speeds with these units.  If there are phases with times of all devices, only these phases count, else all phases do.
 * A device with an unknown speed has the mean of the known speeds.
 */
static void find_speeds(const yoke_run *run, const run_plan *plan, const int64_t *units, double *speeds)
{
    double sum = 0;
    int known = 0, some = 0;
    for (int p = 0; p < plan->num_phases; p++) some |= plan->phases[p].cut == 0 && is_known_of_all(run, plan, p);
    for (int i = 0; i < run->num_devices; i++) {
        double seconds = 0;
        speeds[i] = NAN;
        if (!may_work(run, plan, i)) continue;
        for (int p = 0; p < plan->num_phases; p++) {
            const yoke_phase *phase = &plan->phases[p];
            if (phase->cut != 0 || phase->units == 0 || (some && !is_known_of_all(run, plan, p))) continue;
            double part = fmax(1, (double)units[i] / fmax(1, (double)plan->cut_units[0]) * (double)phase->units), one = NAN;
            for (int l = run->devices[i].num_levels - 1; l >= 0 && isnan(one); l--)
                one = run_seconds(run, run_work_of(run, plan, p, i), i, l, 1, part, NULL);
            seconds += phase->calls * one;
        }
        if (!(seconds > 0)) continue;
        speeds[i] = fmax(1, (double)units[i]) / seconds;
        sum += speeds[i];
        known++;
    }
    for (int i = 0; i < run->num_devices; i++)
        if (isnan(speeds[i])) speeds[i] = known > 0 ? sum / known : 1;
}

/* Gives every device that may have units at least one, as long as there are enough. */
static void give_one(const yoke_run *run, const int64_t *most, int64_t *units)
{
    for (int i = 0; i < run->num_devices; i++) {
        int giver = 0;
        for (int k = 1; k < run->num_devices; k++)
            if (units[k] > units[giver]) giver = k;
        if (units[i] > 0 || most[i] == 0 || units[giver] < 2) continue;
        units[giver]--;
        units[i]++;
    }
}

/*
 * Divides the units of all cuts so that devices finish at about the same time, as far as their speeds are known.  Only devices of `among`
 * (bits) have units.
 */
static yoke_status share_out(const yoke_run *run, run_plan *plan, uint64_t among)
{
    int64_t most[RUN_MAX_DEVICES];
    double speeds[RUN_MAX_DEVICES];
    yoke_status status = YOKE_OK;
    for (int i = 0; i < run->num_devices; i++) {
        most[i] = among >> i & 1 ? run_most_units(run, plan, i) : 0;
        speeds[i] = 1;
    }
    for (int pass = 0; pass < 3 && status == YOKE_OK; pass++) {
        status = split(run, plan->cut_units[0], speeds, most, plan->units[0]);
        find_speeds(run, plan, plan->units[0], speeds);
    }
    if (status == YOKE_OK) give_one(run, most, plan->units[0]);
    for (int i = 0; i < run->num_devices; i++) most[i] = most[i] > 0 ? INT64_MAX : 0;
    for (int c = 1; c < plan->num_cuts && status == YOKE_OK; c++) status = split(run, plan->cut_units[c], speeds, most, plan->units[c]);
    return status;
}

static yoke_status fixed_shares(const yoke_run *run, run_plan *plan)
{
    double weights[RUN_MAX_DEVICES];
    int64_t most[RUN_MAX_DEVICES];
    int hosts = 0, accelerators = 0;
    yoke_status status = YOKE_OK;
    for (int i = 0; i < run->num_devices; i++) {
        most[i] = run_most_units(run, plan, i);
        hosts += most[i] > 0 && !run->devices[i].accelerator;
        accelerators += most[i] > 0 && run->devices[i].accelerator;
    }
    for (int i = 0; i < run->num_devices; i++) {
        double part = run->devices[i].accelerator ? run->share : 1 - run->share;
        if (hosts == 0 || accelerators == 0) part = 1; /* one kind has failed */
        weights[i] = part / (run->devices[i].accelerator ? accelerators : hosts);
        /* A kind with a share of 0 gets no units, even if limits leave some over. */
        if (!(part > 0)) most[i] = 0;
    }
    for (int c = 0; c < plan->num_cuts && status == YOKE_OK; c++) status = split(run, plan->cut_units[c], weights, most, plan->units[c]);
    plan->decision = YOKE_RUN_FIXED;
    return status;
}

/* ----------------------------------------------------------------------------------------------- the balancer */

static yoke_status make_balancer(yoke_run *run, const run_plan *plan, run_work *work)
{
    for (int i = 0; i < run->num_devices; i++) work->limits[i] = run_most_units(run, plan, i);
    const yoke_balancer_options options = {.devices = run->num_devices,
                                           .policy = run->options.policy,
                                           .max_units = work->limits,
                                           .rounds = run->options.rounds,
                                           .calls_per_round = plan->phases[0].calls,
                                           .keep_all = run->options.use == YOKE_RUN_BOTH};
    return yoke_balancer_create(run->context, &options, &work->balancer);
}

static int is_known(const yoke_run *run, const run_plan *plan);

static yoke_status balance(yoke_run *run, run_plan *plan)
{
    run_work *work = &run->run_works[plan->works[0]];
    const int64_t n = plan->cut_units[0];
    int told = 0;
    yoke_status status = YOKE_OK;
    plan->decision = is_known(run, plan) ? YOKE_RUN_BALANCED : YOKE_RUN_STARTED;
    if (work->balancer == NULL) {
        status = make_balancer(run, plan, work);
        if (status == YOKE_OK) status = run_show_balancer(run, plan->works[0], work->balancer, n, plan->units[0], &told);
    }
    for (int i = 0; i < run->num_devices && status == YOKE_OK; i++) {
        int64_t most = run_most_units(run, plan, i);
        if (most == work->limits[i]) continue;
        status = yoke_balancer_limit(work->balancer, i, most);
        work->limits[i] = most;
    }
    if (status != YOKE_OK) return status;
    if (work->reported) status = yoke_balancer_update(work->balancer, work->reports, n, plan->units[0]);
    if (!work->reported && !told) status = yoke_balancer_update(work->balancer, NULL, n, plan->units[0]);
    work->reported = 0;
    plan->balanced = 1;
    return status;
}

/* ------------------------------------------------------------------------------------------------- exploring */

/* Nonzero: every device that may work was measured with all work of the plan that it may have. */
static int is_known(const yoke_run *run, const run_plan *plan)
{
    for (int i = 0; i < run->num_devices; i++)
        for (int p = 0; p < plan->num_phases; p++) {
            const yoke_phase *phase = &plan->phases[p];
            if (phase->units == 0 || (phase->cut < 0 ? phase->device != i : !may_work(run, plan, i))) continue;
            if (!run_is_measured(run, run_work_of(run, plan, p, i), i)) return 0;
        }
    return 1;
}

static double measurements(const speed_model *model)
{
    double sum = 0;
    for (int k = 0; k < model->points; k++) sum += model->point[k].weight;
    return sum;
}

/* How often a level is measured before a plan: the highest twice, which shows the noise; all of them three times if the noise is high. */
static double wanted_measurements(const yoke_run *run, int work, int device, int level)
{
    const int top = run->devices[device].num_levels - 1;
    if (top == 0 || run->run_works[work].explored[device] || run->devices[device].explorations >= most_explorations) return 1;
    const speed_model *alone = run_model(run, work, device, top, 0), *beside = run_model(run, work, device, top, 1);
    double noise = model_noise(alone->points > beside->points ? alone : beside);
    return noise > noisy ? 3 : level == top ? 2 : 1;
}

/* Nonzero: times and powers of the level were measured often enough.  once: nonzero: one measurement is enough, whatever the noise. */
static int is_explored(const yoke_run *run, const run_plan *plan, int device, int level, int once)
{
    for (int p = 0; p < plan->num_phases; p++) {
        const yoke_phase *phase = &plan->phases[p];
        if (phase->units > 0 && (phase->cut >= 0 || phase->device == device) &&
            measurements(run_model(run, plan->works[p], device, level, 0)) +
                    measurements(run_model(run, plan->works[p], device, level, 1)) <
                (once ? least_measurement : wanted_measurements(run, plan->works[p], device, level)))
            return 0;
    }
    return run_power_is_measured(run, device, level);
}

/* The next level at which the device is to be measured: the highest, the lowest, then those between; -1: none. */
static int next_level(const yoke_run *run, const run_plan *plan, int device)
{
    const int top = run->devices[device].num_levels - 1;
    const int order[MAX_EXPLORED] = {top, 0, top / 2, top / 4, (3 * top + 3) / 4};
    if (!may_work(run, plan, device)) return -1;
    for (int k = 0; k < MAX_EXPLORED; k++)
        if (!is_explored(run, plan, device, order[k], 0)) return order[k];
    return -1;
}

/* A level next to the plan's that was never measured; -1: there is none. */
static int unknown_neighbour(const yoke_run *run, const run_plan *plan, int device)
{
    const int level = plan->levels[device];
    if (plan->units[0][device] == 0 || run->devices[device].explorations >= 2 * most_explorations) return -1;
    for (int other = level - 1; other <= level + 1; other += 2)
        if (other >= 0 && other < run->devices[device].num_levels && !is_explored(run, plan, device, other, 1)) return other;
    return -1;
}

/* Removes from `among` the other devices with the same meters, as these are measured one after another. */
static uint64_t without_neighbours(const yoke_run *run, int device, uint64_t among)
{
    for (int i = 0; i < run->num_devices; i++)
        if (i != device && (run->devices[i].meters & run->devices[device].meters) != 0) among &= ~(UINT64_C(1) << i);
    return among;
}

/* Marks the device's levels as explored, so that noise of later rounds does not start their exploration again. */
static void set_explored(yoke_run *run, const run_plan *plan, int device)
{
    for (int p = 0; p < plan->num_phases; p++)
        if (run_is_measured(run, plan->works[p], device)) run->run_works[plan->works[p]].explored[device] = 1;
}

/* Chooses a round that measures frequencies.  *found: nonzero: there is something to learn before a plan. */
static yoke_status explore(yoke_run *run, run_plan *plan, int *found)
{
    uint64_t among = ~UINT64_C(0);
    *found = 0;
    for (int i = 0; i < run->num_devices; i++) {
        int level = among >> i & 1 ? next_level(run, plan, i) : -1;
        run->devices[i].explorations += level >= 0;
        if (level < 0 && among >> i & 1) set_explored(run, plan, i);
        plan->levels[i] = run->devices[i].num_levels - 1;
        if (level < 0) continue;
        plan->levels[i] = level;
        among = without_neighbours(run, i, among);
        *found = 1;
    }
    if (!*found) return YOKE_OK;
    plan->explores = 1;
    plan->decision = is_known(run, plan) ? YOKE_RUN_EXPLORED : YOKE_RUN_STARTED;
    return share_out(run, plan, among);
}

/*
 * Times and powers between measured frequencies are inferred, and the true ones may be better: a speed that no longer rises with the
 * frequency has a kink.  So a plan is an optimum only after the frequencies on both sides of it have been measured, too.
 */
static void explore_neighbours(yoke_run *run, run_plan *plan)
{
    uint64_t among = ~UINT64_C(0);
    const int ends = run->options.rounds > 0 && run->options.rounds - run->rounds < few_rounds; /* then nothing that is learned pays off */
    if (!run->needs_powers || plan->decision < YOKE_RUN_PLANNED || plan->weighed || ends) return;
    for (int i = 0; i < run->num_devices; i++) {
        const int level = among >> i & 1 ? unknown_neighbour(run, plan, i) : -1;
        if (level < 0) continue;
        run->devices[i].explorations++;
        plan->levels[i] = level;
        plan->decision = YOKE_RUN_EXPLORED;
        plan->explores = 1;
        plan->planned.time_s = NAN;
        among = without_neighbours(run, i, among);
    }
}

/* ---------------------------------------------------------------------------------------------------------- all */

/* Plans a round if powers are needed that no meter provides: as fast as is known. */
static yoke_status plan_without_powers(const yoke_run *run, run_plan *plan)
{
    plan->decision = YOKE_RUN_STARTED;
    snprintf(plan->note, sizeof plan->note, "powers are not known%s%s: as fast as is known instead", run->energy_why[0] != '\0' ? ", " : "",
             run->energy_why);
    return share_out(run, plan, ~UINT64_C(0));
}

/* The only device that may work, if all units fit on it; else -1. */
static int only_device(const yoke_run *run, const run_plan *plan)
{
    int found = -1;
    for (int i = 0; i < run->num_devices; i++) {
        if (!may_work(run, plan, i)) continue;
        if (found >= 0) return -1;
        found = i;
    }
    return found >= 0 && run_most_units(run, plan, found) >= plan->cut_units[0] ? found : -1;
}

static yoke_status check_room(const yoke_run *run, const run_plan *plan)
{
    int64_t left = plan->cut_units[0];
    for (int i = 0; i < run->num_devices && left > 0; i++) {
        int64_t most = run_most_units(run, plan, i);
        left = most >= left ? 0 : left - most;
    }
    if (left <= 0) return YOKE_OK;
    return yoke_fail(run->context, YOKE_ERROR_DEVICE_MEMORY,
                     "%lld units do not fit the devices, which can take %lld; make fewer, or add devices", (long long)plan->cut_units[0],
                     (long long)(plan->cut_units[0] - left));
}

static int has_units(const run_plan *plan)
{
    int64_t sum = 0;
    for (int p = 0; p < plan->num_phases; p++) sum |= plan->phases[p].units;
    for (int c = 0; c < plan->num_cuts; c++) sum |= plan->cut_units[c];
    return sum != 0;
}

yoke_status run_decide(yoke_run *run, run_plan *plan)
{
    int found = 0, known = 1;
    yoke_status status = run_need_device(run);
    for (int i = 0; i < run->num_devices; i++) plan->levels[i] = run->devices[i].num_levels - 1;
    plan->feasible = 1;
    plan->gap = plan->nearest = plan->planned.time_s = NAN;
    if (status != YOKE_OK) return status;
    if (run->forced >= 0) {
        for (int c = 0; c < plan->num_cuts; c++) plan->units[c][run->forced] = plan->cut_units[c];
        plan->decision = YOKE_RUN_STARTED;
        return run_predict(run, plan);
    }
    if (plan->given) {
        memcpy(plan->levels, plan->given_levels, sizeof plan->levels);
        plan->decision = YOKE_RUN_FIXED;
        return run_predict(run, plan);
    }
    const int one = plan->num_phases == 1 && plan->num_cuts == 1 && plan->phases[0].cut == 0 &&
                    plan->phases[0].units == plan->cut_units[0] && plan->phases[0].weight_sum == NULL;
    status = check_room(run, plan);
    if (status != YOKE_OK) return status;
    const int only = run->plans ? -1 : only_device(run, plan);
    if (!has_units(plan)) {
        plan->decision = YOKE_RUN_PLANNED;
    } else if (only >= 0 && isnan(run->share)) {
        for (int c = 0; c < plan->num_cuts; c++) plan->units[c][only] = plan->cut_units[c];
        plan->decision = is_known(run, plan) ? YOKE_RUN_PLANNED : YOKE_RUN_STARTED;
        plan->optimal = plan->decision == YOKE_RUN_PLANNED;
        plan->gap = plan->optimal ? 0 : (double)NAN;
    } else if (!isnan(run->share)) {
        status = fixed_shares(run, plan);
    } else if (one && !run->plans && run->weighed < 2) {
        status = balance(run, plan);
    } else {
        status = explore(run, plan, &found);
        if (status == YOKE_OK && !found) status = run_search(run, plan, &known);
        if (status == YOKE_OK && !known) status = plan_without_powers(run, plan);
        if (status == YOKE_OK && known && !found) explore_neighbours(run, plan);
    }
    if (status == YOKE_OK) status = run_predict(run, plan);
    return status == YOKE_OK ? run_consider_alone(run, plan) : status;
}
