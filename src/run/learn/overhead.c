/* Time of a round in addition to its phases and copies: waits, small work of the application, and the launches themselves. */
#include <math.h>

#include "run/run.h"

/* Relative scatter of the seconds of rounds, and relative standard deviation of the slowness about 1 before there are rounds. */
static const double residual = 0.01, likely_slowness = 0.3;
/* A round with less than this part of a plan's calls is of another kind. */
static const double few_calls = 0.25;

static double calls_of(const run_plan *plan, const yoke_run_report *report, int phase)
{
    double calls = report != NULL && report->calls != NULL ? report->calls[phase] : plan->phases[phase].calls;
    return calls > 0 && isfinite(calls) ? calls : plan->phases[phase].calls;
}

static double all_calls(const run_plan *plan, const yoke_run_report *report)
{
    double sum = 0;
    for (int p = 0; p < plan->num_phases; p++) sum += calls_of(plan, report, p);
    return sum;
}

/* Seconds of all phases as reported, interval by interval as the planner counts them; NaN: a device that worked reported none. */
static double reported_s(const yoke_run *run, const yoke_run_report *report)
{
    const run_plan *plan = run->plan;
    double device_s[RUN_MAX_DEVICES] = {0}, sum = 0;
    for (int p = 0; p < plan->num_phases; p++) {
        const yoke_phase *phase = &plan->phases[p];
        double longest = 0;
        for (int i = 0; i < run->num_devices; i++) {
            int64_t units = run_units_of(run, phase, i);
            if (units > 0) device_s[i] += calls_of(plan, report, p) * report->seconds[p * run->num_devices + i];
            longest = isnan(device_s[i]) ? (double)NAN : fmax(longest, device_s[i]);
            if (isnan(longest)) return NAN;
        }
        sum += calls_of(plan, report, p) * phase->call_seconds;
        if (!phase->barrier && p + 1 < plan->num_phases) continue;
        sum += longest;
        for (int i = 0; i < run->num_devices; i++) device_s[i] = 0;
    }
    return sum;
}

/* The devices (bits) that work by the plan; only 0: that may work. */
static uint64_t working_set(const yoke_run *run, const run_plan *plan, int only)
{
    uint64_t set = 0;
    for (int i = 0; i < run->num_devices; i++) {
        int64_t units = 0;
        for (int c = 0; c < plan->num_cuts; c++) units |= plan->units[c][i];
        if (only ? units > 0 : run_most_units(run, plan, i) > 0) set |= UINT64_C(1) << i;
    }
    return set;
}

void run_learn_overhead(yoke_run *run, const yoke_run_report *report, double seconds)
{
    run_work *work = &run->run_works[run->plan->works[0]];
    double copied_s = 0;
    if (report->seconds == NULL || run->plan->explores) return;
    for (int i = 0; report->moved_s != NULL && !run->options.copies_apart && i < run->num_devices; i++)
        if (report->moved_s[i] > copied_s) copied_s = report->moved_s[i];
    run_told told = {.working = working_set(run, run->plan, 1),
                     .phases_s = reported_s(run, report),
                     .calls = all_calls(run->plan, report),
                     .seconds = seconds - copied_s};
    if (!(told.phases_s > 0) || !isfinite(told.phases_s) || !isfinite(told.seconds)) return;
    told.seconds = fmax(told.seconds, told.phases_s);
    work->told[work->num_told++ % RUN_TOLD] = told;
}

static int is_one(uint64_t set) { return (set & (set - 1)) == 0; }

/* How similar two sets of devices are.  2: they are equal; 1: both are one device, or both are several devices; 0: otherwise. */
static int likeness(uint64_t set, uint64_t other) { return set == other ? 2 : is_one(set) == is_one(other); }

static int has_enough_calls(const run_told *told, double calls) { return told->calls >= few_calls * calls; }

/* Number of kept rounds that are this similar to the set and have enough calls; calls 0: any number is enough. */
static int count_like(const run_work *work, int kept, uint64_t set, int likest, double calls)
{
    int count = 0;
    for (int k = 0; k < kept; k++) count += likeness(set, work->told[k].working) == likest && has_enough_calls(&work->told[k], calls);
    return count;
}

/*
 * Fits by least squares of relative errors over the most similar rounds; call_s is not negative.  If all of these had few calls, their
 * additional time counts as that of a whole round: it may belong to the round or to its calls, and multiplied by all calls of the plan it
 * would be far too long.
 */
run_overhead run_find_overhead(const yoke_run *run, const run_plan *plan, int only)
{
    const run_work *work = &run->run_works[plan->works[0]];
    const uint64_t set = working_set(run, plan, only);
    const int kept = work->num_told < RUN_TOLD ? work->num_told : RUN_TOLD;
    const double prior = residual * residual / (likely_slowness * likely_slowness);
    const double calls = all_calls(plan, NULL);
    double mm = prior, mn = 0, nn = 0, m1 = prior, n1 = 0;
    int likest = 1;
    run_overhead found = {.slowness = 1};
    for (int k = 0; k < kept; k++)
        if (likeness(set, work->told[k].working) > likest) likest = likeness(set, work->told[k].working);
    const double enough = count_like(work, kept, set, likest, calls) ? calls : 0;
    const int used = count_like(work, kept, set, likest, enough);
    for (int k = 0, seen = 0; k < kept; k++) {
        const run_told *told = &work->told[k];
        if (likeness(set, told->working) != likest || !has_enough_calls(told, enough)) continue;
        if (work->num_told <= RUN_TOLD && k == 0 && used > 1 && seen++ == 0)
            continue; /* the very first round includes work that later rounds do not */
        double m = told->phases_s / told->seconds, n = (enough > 0 ? told->calls : fmax(told->calls, calls)) / told->seconds;
        mm += m * m;
        mn += m * n;
        nn += n * n;
        m1 += m;
        n1 += n;
    }
    if (used == 0) return found;
    double determinant = mm * nn - mn * mn;
    if (determinant > 1e-9 * mm * nn)
        found = (run_overhead){.slowness = (m1 * nn - n1 * mn) / determinant, .call_s = (mm * n1 - mn * m1) / determinant};
    if (!(found.call_s > 0 && found.slowness > 0)) found = (run_overhead){.slowness = m1 / mm};
    return found;
}

double run_overhead_s(const yoke_run *run, const run_plan *plan, int only, double *joules)
{
    double seconds = run_is_plain(plan) ? run_find_overhead(run, plan, only).call_s * all_calls(plan, NULL) : 0, rest_w = run->base_w;
    if (joules == NULL) return seconds;
    for (int i = 0; i < run->num_devices; i++)
        if (!run->devices[i].removable || plan->units[0][i] > 0) rest_w += run_idle_w(run, i, plan->levels[i]);
    *joules = seconds > 0 ? rest_w * seconds : 0;
    return seconds;
}
