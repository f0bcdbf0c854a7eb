/*
 * Devices on the same cores: accelerators that are OpenCL on the cores on which hosts of the run work.  Both together do less than the
 * better one alone, so one of them rests: the accelerator, unless it is known to be faster.
 */
#include <math.h>

#include "run/run.h"

/* The accelerator must be faster by at least this part. */
static const double clearly = 0.02;
/*
 * A trial of a device that was never measured is worthwhile if the remaining work takes at least worth_s; it gets trial_part of the units.
 */
static const double worth_s = 30, trial_part = 0.002;

/* Seconds of the plan's cuts on a device alone; NaN: one of the works was never measured there. */
static double alone_s(const yoke_run *run, const run_plan *plan, int device)
{
    double sum = 0;
    for (int p = 0; p < plan->num_phases; p++) {
        const yoke_phase *phase = &plan->phases[p];
        if (phase->cut < 0 || phase->units == 0) continue;
        sum += phase->calls * run_seconds(run, run_work_of(run, plan, p, device), device, run->devices[device].num_levels - 1, 0,
                                          (double)phase->units, NULL);
    }
    return sum;
}

/* Nonzero: the device may have units, whichever other devices work. */
static int may_work(const yoke_run *run, const run_plan *plan, int device) { return run_most_units(run, plan, device) > 0; }

static int is_host(const yoke_run *run, const run_plan *plan, int device)
{
    return !run->devices[device].accelerator && may_work(run, plan, device);
}

/* Seconds of all hosts together; NaN: not known. */
static double hosts_s(const yoke_run *run, const run_plan *plan)
{
    double speed = 0;
    for (int i = 0; i < run->num_devices; i++) speed += is_host(run, plan, i) ? 1 / alone_s(run, plan, i) : 0;
    return 1 / speed;
}

/* The accelerator that works on the shared cores, because there is no host or it is faster than all hosts together; -1: none. */
static int choose(const yoke_run *run, const run_plan *plan)
{
    int hosts = 0, best = -1;
    for (int i = 0; i < run->num_devices; i++) hosts += is_host(run, plan, i);
    double least_s = hosts > 0 ? hosts_s(run, plan) / (1 + clearly) : (double)NAN;
    for (int i = 0; i < run->num_devices; i++) {
        if (!run->devices[i].shares_cores || !may_work(run, plan, i)) continue;
        const double seconds = alone_s(run, plan, i);
        if (!(seconds < least_s) && (hosts > 0 || best >= 0)) continue;
        best = i;
        least_s = seconds;
    }
    return best;
}

/* Nonzero: all units of the first cut fit on the devices that do not rest. */
static int fits(const yoke_run *run, const run_plan *plan, uint64_t resting)
{
    int64_t left = plan->cut_units[0];
    for (int i = 0; i < run->num_devices && left > 0; i++) {
        const int64_t most = resting >> i & 1 ? 0 : run_most_units(run, plan, i);
        left = most >= left ? 0 : left - most;
    }
    return left <= 0;
}

static uint64_t find_resting(const yoke_run *run, const run_plan *plan)
{
    uint64_t resting = 0;
    int any = 0;
    for (int i = 0; i < run->num_devices; i++) any |= run->devices[i].shares_cores;
    if (!any || plan->given) return 0;
    const int best = choose(run, plan);
    for (int i = 0; i < run->num_devices; i++) {
        const int rests = run->devices[i].shares_cores ? i != best && run_is_active(run, i) : best >= 0 && is_host(run, plan, i);
        resting |= (uint64_t)(rests && plan->allowed >> i & 1) << i;
    }
    return fits(run, plan, resting) ? resting : 0;
}

void run_choose_resting(const yoke_run *run, run_plan *plan)
{
    if (run->forced >= 0) return;
    plan->resting = run->resting != NULL ? *run->resting : find_resting(run, plan);
    for (int p = 0; p < plan->num_phases; p++) /* a phase of one device serves the units of that device */
        if (plan->phases[p].cut < 0 && plan->resting >> plan->phases[p].device & 1) plan->phases[p].units = 0;
}

const char *run_why_rests(const yoke_run *run, const run_plan *plan, int device)
{
    if (!(plan->resting >> device & 1)) return "";
    if (!run->devices[device].shares_cores) return "a device on the same cores is faster";
    return isnan(alone_s(run, plan, device)) ? "it would use the cores of the hosts, and was never measured"
                                             : "it would use the cores of the hosts, and these are faster alone";
}

/* Units for a trial of a device that rests and was never measured; 0: it costs too much. */
static int64_t trial_units(const yoke_run *run, const run_plan *plan, int device)
{
    const double seconds = hosts_s(run, plan), units = (double)plan->cut_units[0], rounds = (double)(run->options.rounds - run->rounds);
    if (!(plan->resting >> device & 1) || !(seconds > 0) || !isnan(alone_s(run, plan, device))) return 0;
    /* If the number of rounds is not given, the run takes as long again as all rounds so far. */
    const double left_s = fmax(seconds * fmax(1, rounds), run->sum_s);
    if (!(left_s >= worth_s)) return 0;
    return (int64_t)fmax(1, fmin(trial_part * left_s / seconds * units, units / 4));
}

yoke_status run_rest(yoke_run *run, const char *work, int64_t units, uint64_t allowed, uint64_t *resting, yoke_run_rest *rests)
{
    const yoke_phase phase = {.work = work, .calls = 1, .units = units, .barrier = 1};
    const yoke_round round = {.num_cuts = 1, .cut_units = &units, .num_phases = 1, .phases = &phase};
    run_plan *plan = run->candidate;
    yoke_status status = run_take_round(run, &round, plan);
    if (status != YOKE_OK) return status;
    plan->allowed = allowed;
    plan->resting = *resting = find_resting(run, plan);
    for (int i = 0; i < run->num_devices; i++) {
        rests[i] = (yoke_run_rest){.why = run_why_rests(run, plan, i)};
        rests[i].trial_units = trial_units(run, plan, i);
    }
    return YOKE_OK;
}

yoke_status yoke_run_rests(yoke_run *run, const char *work, int64_t units, yoke_run_rest *rests)
{
    uint64_t resting;
    if (run == NULL || work == NULL || rests == NULL)
        return yoke_fail(run != NULL ? run->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_run_rests: an argument is NULL");
    return run_rest(run, work, units, ~UINT64_C(0), &resting, rests);
}
