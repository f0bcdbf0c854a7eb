/* Begin and end of rounds, and what is learned from their reports. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "run/profile.h"

/* Weight of a new measurement of the seconds per unit that moves. */
static const double newest = 0.5;

yoke_status yoke_run_begin(yoke_run *run)
{
    if (run == NULL || !run->has_plan || run->begun)
        return yoke_fail(run != NULL ? run->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_run_begin: %s",
                         run == NULL  ? "run is NULL"
                         : run->begun ? "a round has begun already"
                                      : "nothing is planned");
    run_profile_begin(run);
    if (run->meter != NULL) {
        yoke_status status = yoke_region_begin(run->meter, &run->region);
        if (status != YOKE_OK) return status;
    }
    run->begin_s = run_now_s(run);
    run->begun = 1;
    return YOKE_OK;
}

double run_copy_s(const run_device *d, double units)
{
    static const double well_apart = 1.3;
    if (!(d->copy_few > 0) || !(units > 0)) return 0;
    /*
     * All copies had about the same size: more units are assumed to take no longer than those.  If that is wrong, it costs one round; if
     * the cost of a start were counted as cost per unit, a fast device would get no units.
     */
    if (d->copy_most < well_apart * d->copy_few) return d->copy_most_s * fmin(1, units / d->copy_most);
    double per_unit = fmax(0, d->copy_most_s - d->copy_few_s) / (d->copy_most - d->copy_few);
    return fmax(0, d->copy_few_s - per_unit * d->copy_few) + per_unit * units;
}

static double known_or(double value, double otherwise) { return value > 0 && isfinite(value) ? value : otherwise; }

int64_t run_units_of(const yoke_run *run, const yoke_phase *phase, int device)
{
    if (phase->cut < 0) return phase->device == device ? phase->units : 0;
    const int64_t *first = run->first[phase->cut];
    return run_phase_units(phase, run->plan->cut_units[phase->cut], first[device], first[device + 1]);
}

static void learn_copies(yoke_run *run, int device, double moved_s, int64_t moved)
{
    run_device *d = &run->devices[device];
    if (!(moved_s >= 0) || !isfinite(moved_s) || moved <= 0) return;
    double one = moved_s / (double)moved, units = (double)moved;
    if (!(d->copy_few > 0) || units < d->copy_few) {
        d->copy_few = units;
        d->copy_few_s = moved_s;
    }
    if (units >= d->copy_most) {
        d->copy_most = units;
        d->copy_most_s = moved_s;
    }
    d->copy_seconds_per_unit = isnan(d->copy_seconds_per_unit) ? one : (1 - newest) * d->copy_seconds_per_unit + newest * one;
}

/* Units of cut 0 that the device has and did not have before. */
static int64_t moved_units(const yoke_run *run, int device)
{
    int64_t first = run->first[0][device], last = run->first[0][device + 1];
    if (run->assignment.before == NULL) return last - first;
    int64_t from = run->before[0][device] > first ? run->before[0][device] : first;
    int64_t to = run->before[0][device + 1] < last ? run->before[0][device + 1] : last;
    return last - first - (to > from ? to - from : 0);
}

static int64_t moved_to(const yoke_run *run, const yoke_run_report *report, int device)
{
    int64_t moved = report->moved_units != NULL ? report->moved_units[device] : moved_units(run, device);
    return moved < 0 ? 0 : moved;
}

/* Units of a phase that the device had in the call whose seconds are reported. */
static int64_t told_units(const yoke_run *run, const yoke_run_report *report, const yoke_phase *phase, int device)
{
    if (report->units == NULL) return run_units_of(run, phase, device);
    const double per_unit = (double)phase->units / fmax(1, (double)run->plan->cut_units[0]);
    return llround(fmin(per_unit * (double)report->units[device], (double)RUN_MAX_UNITS));
}

/* Learns seconds.  busy[i]: seconds of device i in all its phases. */
static void learn_seconds(yoke_run *run, const yoke_run_report *report, double *busy)
{
    const run_plan *plan = run->plan;
    for (int i = 0; i < run->num_devices; i++) {
        busy[i] = 0;
        run->measured_s[i] = NAN;
        for (int p = 0; p < plan->num_phases; p++) {
            const yoke_phase *phase = &plan->phases[p];
            int64_t units = told_units(run, report, phase, i);
            double seconds = report->seconds != NULL ? known_or(report->seconds[p * run->num_devices + i], NAN) : (double)NAN;
            double calls = report->calls != NULL ? known_or(report->calls[p], phase->calls) : phase->calls;
            int *tries = &run->run_works[plan->works[p]].tries[i];
            if (p == 0) run->measured_s[i] = units > 0 ? seconds : 0;
            if (units > 0 && !isnan(seconds)) {
                run_learn_seconds(run, plan->works[p], i, plan->levels[i], run_is_beside(run, plan, p, 1), (double)units, seconds);
                busy[i] += calls * seconds;
                *tries = 0;
            } else if (plan->explores && phase->units > 0 && run_most_units(run, plan, i) > 0 && !run_is_measured(run, plan->works[p], i)) {
                ++*tries;
            }
        }
        if (report->busy_s != NULL) busy[i] = known_or(report->busy_s[i], 0);
        if (report->moved_s != NULL) learn_copies(run, i, report->moved_s[i], moved_to(run, report, i));
    }
}

/*
 * Keeps the report for the balancer of a single phase, which receives it when it is next asked.  Rounds that are not the balancer's are
 * left out: from a device that worked alone it would learn a speed that the device does not have beside others.
 */
static void keep_reports(yoke_run *run, const yoke_run_report *report, const yoke_energy *total)
{
    const run_plan *plan = run->plan;
    run_work *work = &run->run_works[plan->works[0]];
    if (!plan->balanced || work->balancer == NULL || plan->num_phases != 1 || plan->num_cuts != 1) return;
    for (int i = 0; i < run->num_devices; i++) {
        int64_t units = report->units != NULL ? report->units[i] : plan->units[0][i], moved = moved_to(run, report, i);
        double moved_s = report->moved_s != NULL && report->moved_s[i] >= 0 && report->moved_s[i] < 1e12 ? report->moved_s[i] : (double)NAN;
        double seconds = run->measured_s[i] < 1e12 ? run->measured_s[i] : (double)NAN;
        work->reports[i] = (yoke_share_report){.units = units,
                                               .seconds = units > 0 ? seconds : (double)NAN,
                                               .moved_s = moved_s,
                                               .moved_units = moved,
                                               .calls = report->calls != NULL ? known_or(report->calls[0], NAN) : (double)NAN,
                                               .energy_j = i == 0 && total->value_j >= 0 ? total->value_j : (double)NAN};
    }
    work->reported = 1;
}

static yoke_status end_region(yoke_run *run, double *seconds, yoke_energy *total)
{
    *seconds = run_now_s(run) - run->begin_s;
    *total = (yoke_energy){.value_j = NAN, .uncertainty_j = NAN};
    snprintf(total->why_not, sizeof total->why_not, "no meter is open");
    if (run->region == NULL) return YOKE_OK;
    double on_meter = *seconds;
    yoke_status status = yoke_region_end(run->region, &on_meter, run->energies, total);
    run->region = NULL;
    if (status == YOKE_OK) *seconds = on_meter;
    return status;
}

/* Predicts the cost of the round with the actual numbers of calls, before anything is learned from them. */
static yoke_status predict_with_calls(yoke_run *run, const yoke_run_report *report)
{
    run->assignment.with_calls = run->plan->predicted;
    if (report->calls == NULL) return YOKE_OK;
    *run->candidate = *run->plan;
    for (int p = 0; p < run->candidate->num_phases; p++)
        run->candidate->phases[p].calls = known_or(report->calls[p], run->candidate->phases[p].calls);
    run->candidate->planned.time_s = NAN;
    yoke_status status = run_predict(run, run->candidate);
    if (status == YOKE_OK) run->assignment.with_calls = run->candidate->predicted;
    return status;
}

/* Nonzero: the report's further units are within its contract. */
static int is_well(const yoke_run *run, const yoke_run_report *report)
{
    if (report->units == NULL && report->busy_s == NULL) return 1;
    if (report->units == NULL || report->busy_s == NULL || run->plan->num_phases != 1 || run->plan->num_cuts != 1 ||
        run->plan->phases[0].weight_sum != NULL)
        return 0;
    for (int i = 0; i < run->num_devices; i++)
        if (report->units[i] < 0 || report->units[i] > RUN_MAX_UNITS) return 0;
    return 1;
}

yoke_status yoke_run_end(yoke_run *run, const yoke_run_report *report, yoke_cost *measured)
{
    static const yoke_run_report nothing = {0};
    double busy[RUN_MAX_DEVICES], seconds = NAN;
    yoke_energy total;
    if (run == NULL || !run->begun)
        return yoke_fail(run != NULL ? run->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_run_end: %s",
                         run == NULL ? "run is NULL" : "no round has begun");
    if (report == NULL) report = &nothing;
    if (!is_well(run, report))
        return yoke_fail(run->context, YOKE_ERROR_ARGUMENT,
                         "yoke_run_end: units and busy_s are given together, for a round of one cut and one phase without weights, and "
                         "units are 0 to 10^15");
    run->begun = 0;
    yoke_status status = end_region(run, &seconds, &total);
    if (status == YOKE_OK) status = run_profile_end(run, seconds);
    if (status != YOKE_OK) return status;
    status = predict_with_calls(run, report);
    if (status != YOKE_OK) return status;
    learn_seconds(run, report, busy);
    if (seconds > 0) run_powers_learn(run, run->plan->levels, seconds, &total, busy);
    if (!report->waited && report->units == NULL) run_learn_overhead(run, report, seconds);
    keep_reports(run, report, &total);
    run->rounds++;
    run->has_regret = 0;
    run->measured = (yoke_cost){seconds, total.value_j, NAN, NAN, total.uncertainty_j};
    run->energy_kind = isnan(total.value_j) ? YOKE_ENERGY_NONE : total.kind;
    snprintf(run->energy_why, sizeof run->energy_why, "%s", total.why_not);
    if (!isnan(total.value_j)) {
        run->known_s += seconds;
        run->known_j += total.value_j;
    }
    run->assignment.energy = total;
    run->sum_s += seconds;
    run->sum_j += total.value_j;
    if (measured != NULL) *measured = run->measured;
    /* Weights belong to the caller, who may release them from now on. */
    for (int p = 0; p < run->plan->num_phases; p++) run->plan->phases[p].weight_sum = NULL;
    return YOKE_OK;
}

yoke_status yoke_run_fail(yoke_run *run, int64_t device, const char *why)
{
    if (run == NULL || device < 0 || device >= run->num_devices)
        return yoke_fail(run != NULL ? run->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_run_fail: %s",
                         run == NULL ? "run is NULL" : "there is no such device");
    run_device *d = &run->devices[device];
    if (run->region != NULL) (void)yoke_region_end(run->region, NULL, NULL, NULL);
    run->region = NULL;
    run->begun = 0;
    run_profile_drop(run);
    d->failed = 1;
    snprintf(d->why, sizeof d->why, "%s", why != NULL && why[0] != '\0' ? why : "it failed");
    yoke_log(run->context, YOKE_LOG_WARNING, "%s failed and is left out: %s", d->info->name, d->why);
    return run_need_device(run);
}
