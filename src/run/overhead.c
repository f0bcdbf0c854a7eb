/* What a round takes beside its phases and copies: waits, small work of the application, the launches themselves. */
#include <math.h>

#include "run/run.h"

/* Weight of a new measurement. */
static const double newest = 0.5;

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

/* Seconds of all phases as they were reported, interval by interval as the planner counts them; NaN where a device that worked told none. */
static double reported_s(const yoke_run *run, const yoke_run_report *report)
{
    const run_plan *plan = run->plan;
    double device_s[RUN_MOST_DEVICES] = {0}, sum = 0;
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

void run_learn_overhead(yoke_run *run, const yoke_run_report *report, double seconds)
{
    run_work *work = &run->run_works[run->plan->works[0]];
    double copied_s = 0;
    if (report->seconds == NULL || run->plan->explores) return;
    for (int i = 0; report->moved_s != NULL && i < run->num_devices; i++)
        if (report->moved_s[i] > copied_s) copied_s = report->moved_s[i];
    double one = (seconds - copied_s - reported_s(run, report)) / all_calls(run->plan, report);
    if (!isfinite(one)) return;
    one = fmax(one, 0);
    /* The first round does much that others do not. */
    work->overhead_s = work->overheads++ > 1 ? (1 - newest) * work->overhead_s + newest * one : one;
}

double run_overhead_s(const yoke_run *run, const run_plan *plan, double *joules)
{
    double seconds = run->run_works[plan->works[0]].overhead_s * all_calls(plan, NULL), rest_w = run->base_w;
    if (joules == NULL) return seconds;
    for (int i = 0; i < run->num_devices; i++)
        if (!run->devices[i].removable || plan->units[0][i] > 0) rest_w += run_idle_w(run, i, plan->levels[i]);
    *joules = seconds > 0 ? rest_w * seconds : 0;
    return seconds;
}
