/* Energy of the kernels of a run: which meters measure it, when they are read, and the final report. */
#include "run/profile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "device/sim/sim.h"
#include "run/machine/measure.h"

/* Time that marks may cost in addition to their part of the time, so that the first marks of a short run do not exceed it at once. */
static const double free_s = 2e-4;

/* ------------------------------------------------------------------------------------------------------ meters */

static yoke_status meter_energy(double *joules, void *user)
{
    run_profile_meter *meter = user;
    return run_meter_joules(meter->run->meter, meter->index, joules, &meter->faults);
}

static double meter_clock(void *user) { return run_now_s(((const run_profile_meter *)user)->run); }

/* Time of the latest update of a simulated machine's meter, which is updated at whole multiples of its period. */
static double simulated_update(void *user)
{
    const run_profile_meter *meter = user;
    const sim_domain domain = {.period_s = meter->run->meter_infos[meter->index].period_s};
    return sim_meter_update_s(&domain, run_now_s(meter->run));
}

/* Writes to `why` why the meter cannot distinguish kernels, and nothing if it can. */
static void check_meter(const yoke_meter_info *info, char *why)
{
    if (info->source == YOKE_ENERGY_ESTIMATED)
        snprintf(why, RUN_WHY_BYTES, "%.64s estimates energy from declared powers, which are the same for all kernels", info->name);
    else if (info->integrated)
        snprintf(why, RUN_WHY_BYTES,
                 "%.64s shows power and counts no energy; what it shows of short kernels depends on its sensor: `yoke profile` identifies "
                 "it, and measures one kernel at a time",
                 info->name);
}

static void match_meters(yoke_run *run, int device)
{
    const run_device *of = &run->devices[device];
    run_profile_device *d = &run->profile->devices[device];
    if (!run_is_active(run, device))
        snprintf(d->why, sizeof d->why, "it is not active: %.200s", of->why);
    else if (of->meters == 0)
        snprintf(d->why, sizeof d->why, "%s", run->meter == NULL ? "no meters are open" : "no meter here tells of it");
    d->context = run->context;
    for (int64_t k = 0; k < run->num_meters && k < RUN_MAX_METERS && d->why[0] == '\0'; k++) {
        if ((of->meters & (UINT64_C(1) << k)) == 0) continue;
        check_meter(&run->meter_infos[k], d->why);
        if (d->num_meters == RUN_PROFILE_METERS) snprintf(d->why, sizeof d->why, "it has more than %d meters", (int)RUN_PROFILE_METERS);
        if (d->why[0] == '\0') d->meters[d->num_meters++] = (run_profile_meter){.run = run, .index = k};
    }
    if (d->why[0] != '\0') d->num_meters = 0;
}

static void close_meters(run_profile_device *d)
{
    for (int m = 0; m < d->num_meters; m++) profiler_destroy(d->meters[m].profiler);
    d->num_meters = 0;
}

yoke_status run_profile_without_energy(run_profile_device *d, yoke_status status)
{
    if (status == YOKE_OK || status == YOKE_ERROR_MEMORY) return status;
    if (d->why[0] == '\0') snprintf(d->why, sizeof d->why, "%s", yoke_last_error(d->context));
    close_meters(d);
    return YOKE_OK;
}

/* Handles a failed mark in a queue: any error but lack of memory ends the profile of the device, and not the run. */
static yoke_status give_up(run_profile_device *d, yoke_status status)
{
    if (status != YOKE_OK && status != YOKE_ERROR_MEMORY) d->stopped = 1;
    return run_profile_without_energy(d, status);
}

/* overhead: the part of the time that readings of this meter may take. */
static yoke_status open_meter(yoke_run *run, double overhead, run_profile_meter *meter)
{
    const yoke_meter_info *info = &run->meter_infos[meter->index];
    const profiler_meter how = {.energy_j = meter_energy,
                                .updated_s = run->simulated ? simulated_update : NULL,
                                .clock_s = meter_clock,
                                .resolution_j = info->resolution_j,
                                .gain_error = info->gain_error,
                                .user = meter};
    double joules = 0;
    meter->faults = -1;
    yoke_status status = run_meter_joules(run->meter, meter->index, &joules, &meter->faults);
    if (status == YOKE_OK && !run->simulated)
        yoke_log(run->context, YOKE_LOG_INFO, "profile: updates of %s are looked for, for 2 s at most, or 10 s where they are rare",
                 info->name);
    return status == YOKE_OK ? profiler_create(run->context, &how, overhead, &meter->profiler) : status;
}

yoke_status run_profile_create(yoke_run *run)
{
    if (!(run->options.profile > 0)) return YOKE_OK;
    yoke_status status = yoke_allocate(run->context, 1, sizeof *run->profile, &run->profile);
    if (status != YOKE_OK) return status;
    run->profile->overhead = run->options.profile;
    status = yoke_allocate(run->context, run->num_devices, sizeof *run->profile->devices, &run->profile->devices);
    if (status == YOKE_OK) status = yoke_allocate(run->context, RUN_PROFILE_ROWS, sizeof *run->profile->rows, &run->profile->rows);
    if (status == YOKE_OK) status = yoke_allocate(run->context, RUN_PROFILE_ROWS, sizeof *run->profile->why, &run->profile->why);
    for (int i = 0; i < run->num_devices && status == YOKE_OK; i++) {
        match_meters(run, i);
        run_profile_device *d = &run->profile->devices[i];
        for (int m = 0; m < d->num_meters && status == YOKE_OK; m++)
            status = run_profile_without_energy(d, open_meter(run, 0.5 * run->options.profile / d->num_meters, &d->meters[m]));
    }
    run->profile->start_s = run_now_s(run);
    return status;
}

void run_profile_destroy(yoke_run *run)
{
    run_profile *profile = run->profile;
    if (profile == NULL) return;
    for (int i = 0; i < run->num_devices && profile->devices != NULL; i++) {
        close_meters(&profile->devices[i]);
        run_marks_destroy(&profile->devices[i]);
    }
    yoke_release(run->context, profile->devices);
    yoke_release(run->context, profile->rows);
    yoke_release(run->context, profile->why);
    yoke_release(run->context, profile);
    run->profile = NULL;
}

/* ------------------------------------------------------------------------------------------------------- rounds */

void run_profile_drop(yoke_run *run)
{
    for (int i = 0; i < run->num_devices && run->profile != NULL; i++) run->profile->devices[i].begun = 0;
}

void run_profile_begin(yoke_run *run)
{
    for (int i = 0; i < run->num_devices && run->profile != NULL; i++) {
        run_profile_device *d = &run->profile->devices[i];
        d->begun = 0;
        d->last = -1;
        memset(d->round_calls, 0, sizeof d->round_calls);
        d->level = run->devices[i].level;
    }
}

static yoke_status look(run_profile_device *d)
{
    yoke_status status = YOKE_OK;
    for (int m = 0; m < d->num_meters && status == YOKE_OK; m++) status = profiler_look(d->meters[m].profiler);
    return run_profile_without_energy(d, status);
}

static yoke_status end_series(run_profile_device *d)
{
    yoke_status status = look(d);
    return status == YOKE_OK ? give_up(d, run_marks_end(d)) : status;
}

/* Adds the calls of the round to those of all rounds.  Returns nonzero if there were any. */
static int count_round(run_profile_device *d, int num_kernels)
{
    int any = 0;
    for (int k = 0; k < num_kernels; k++) {
        d->calls[d->level][k] += d->round_calls[k];
        any |= d->round_calls[k] > 0;
    }
    return any;
}

yoke_status run_profile_end(yoke_run *run, double seconds)
{
    yoke_status status = YOKE_OK;
    for (int i = 0; i < run->num_devices && run->profile != NULL && status == YOKE_OK; i++) {
        run_profile_device *d = &run->profile->devices[i];
        if (count_round(d, run->profile->num_kernels)) {
            d->round_s[d->level] += seconds;
            d->rounds[d->level] += 1;
        }
        if (d->begun && !d->resting && !d->stopped) status = end_series(d);
        d->begun = 0;
    }
    return status;
}

/* -------------------------------------------------------------------------------------------------------- marks */

/* Number of the kernel of this name, which is added if it is new.  If there are too many kernels, the last ones share a name. */
static int find_kernel(run_profile *profile, const char *name)
{
    const int last = PROFILE_MAX_KERNELS - 1;
    for (int k = 0; k < profile->num_kernels; k++)
        if (strncmp(profile->names[k], name, RUN_KERNEL_BYTES - 1) == 0) return k;
    if (profile->num_kernels > last) return last;
    snprintf(profile->names[profile->num_kernels], RUN_KERNEL_BYTES, "%s", profile->num_kernels == last ? "others" : name);
    return profile->num_kernels++;
}

static void refuse_shared(run_profile_device *d, const char *name)
{
    close_meters(d);
    if (d->why[0] == '\0')
        snprintf(d->why, sizeof d->why, "kernels of %.64s run at the same time behind the same meter, which shows their sum", name);
}

/* Gives up the energies of devices that work at the same time behind one meter, as it does not show the energy of each of them. */
static void check_sharing(yoke_run *run, int device)
{
    if (!run->devices[device].shares_meters) return;
    for (int i = 0; i < run->num_devices; i++) {
        run_profile_device *other = &run->profile->devices[i], *d = &run->profile->devices[device];
        if (i == device || !other->begun || (run->devices[i].meters & run->devices[device].meters) == 0) continue;
        refuse_shared(d, run->devices[i].info->name);
        refuse_shared(other, run->devices[device].info->name);
    }
}

/*
 * Nonzero: marks are suspended.  They may cost half of the time that the profile may cost.  They are suspended when they have cost more,
 * until their cost is below half of that limit.
 */
static int must_rest(const yoke_run *run, const run_profile_device *d)
{
    double may_s = 0.5 * run->profile->overhead * (run_now_s(run) - run->profile->start_s) + free_s;
    return d->spent_s > (d->resting ? 0.5 : 1) * may_s;
}

static yoke_status begin_series(run_profile_device *d, yoke_device *of, yoke_queue *queue)
{
    double before = yoke_device_clock_s(of);
    yoke_status status = give_up(d, run_marks_begin(d, of, queue));
    d->spent_s += yoke_device_clock_s(of) - before;
    if (status != YOKE_OK || d->stopped) return status;
    for (int m = 0; m < d->num_meters && status == YOKE_OK; m++) status = profiler_begin(d->meters[m].profiler, d->level);
    return run_profile_without_energy(d, status);
}

static yoke_status add_mark(yoke_run *run, int device, yoke_queue *queue, int kernel, int continues)
{
    run_profile_device *d = &run->profile->devices[device];
    yoke_device *of = run->devices[device].device;
    int rest = must_rest(run, d), resumes = d->resting && !rest;
    yoke_status status = YOKE_OK;
    if (rest && !d->resting) status = end_series(d);
    if (!rest && d->resting && kernel < 0) return YOKE_OK; /* the next series begins with a whole call */
    if (!rest && d->resting) status = begin_series(d, of, queue);
    d->resting = rest;
    if (status != YOKE_OK || rest || d->stopped) return status;
    status = give_up(d, run_marks_add(d, of, queue, kernel, continues && !resumes));
    return status == YOKE_OK ? look(d) : status;
}

yoke_status yoke_run_mark(yoke_run *run, int64_t device, yoke_queue *queue, const char *kernel)
{
    if (run == NULL || device < 0 || device >= run->num_devices || queue == NULL)
        return yoke_fail(run != NULL ? run->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_run_mark: %s",
                         run == NULL     ? "run is NULL"
                         : queue == NULL ? "queue is NULL"
                                         : "there is no such device");
    if (run->profile == NULL || !run->begun) return YOKE_OK;
    run_profile_device *d = &run->profile->devices[device];
    int number = kernel != NULL ? find_kernel(run->profile, kernel) : -1;
    /* A kernel that follows itself is one call of several launches, with possible pauses between them. */
    int continues = number >= 0 && number == d->last;
    yoke_status status = YOKE_OK;
    if (number >= 0) d->round_calls[number] += !continues;
    if (number >= 0) d->last = number;
    if (!d->begun && number >= 0 && !d->stopped) {
        d->begun = 1;
        d->resting = must_rest(run, d);
        check_sharing(run, (int)device);
        if (!d->resting) status = begin_series(d, run->devices[device].device, queue);
    }
    if (status != YOKE_OK || d->stopped || !d->begun) return status;
    return add_mark(run, (int)device, queue, number, continues);
}

/* ------------------------------------------------------------------------------------------------------ results */

/* Energy (J) of the machine in all rounds.  Rounds whose energy is not known, which are short, count with the mean power of the others. */
static double all_j(const yoke_run *run) { return run->known_s > 0 ? run->known_j / run->known_s * run->sum_s : (double)NAN; }

typedef struct summing {
    profile_joules joules[PROFILE_MAX_KERNELS + 1]; /* of all meters of the device */
    double readings; /* number of readings so far, of the meter with the fewest among those without a result */
    char why[RUN_WHY_BYTES];
} summing;

static void sum_meters(const yoke_run *run, int device, int level, summing *sum)
{
    const run_profile_device *d = &run->profile->devices[device];
    const int any = run->num_meters > 0 || run->meter == NULL || run->energy_why[0] == '\0';
    static const profile_joules unknown = {.call_s = NAN, .energy_j = NAN, .uncertainty_j = NAN, .dynamic_j = NAN};
    profile_joules one[PROFILE_MAX_KERNELS + 1];
    for (int k = 0; k <= PROFILE_MAX_KERNELS; k++) sum->joules[k] = unknown;
    snprintf(sum->why, sizeof sum->why, "%s", any ? d->why : run->energy_why);
    sum->readings = NAN;
    for (int m = 0; m < d->num_meters; m++) {
        int64_t readings = 0;
        for (int k = 0; k <= PROFILE_MAX_KERNELS; k++) one[k] = unknown;
        yoke_status status = profiler_result(d->meters[m].profiler, level, one, &readings);
        if (status != YOKE_OK && sum->why[0] == '\0') snprintf(sum->why, sizeof sum->why, "%s", yoke_last_error(run->context));
        if (status != YOKE_OK) sum->readings = fmin(sum->readings, (double)readings);
        for (int k = 0; k <= PROFILE_MAX_KERNELS; k++) {
            profile_joules *to = &sum->joules[k];
            if (m == 0) *to = one[k];
            if (m == 0) continue;
            to->energy_j += one[k].energy_j;
            to->dynamic_j += one[k].dynamic_j;
            to->uncertainty_j += one[k].uncertainty_j; /* the errors of the meters may have the same cause */
        }
    }
    for (int k = 0; k < PROFILE_MAX_KERNELS; k++) sum->joules[k].call_s = d->timed_s[level][k] / d->timed[level][k];
}

/*
 * Half width of the 95 % interval for the mean seconds of all calls, which are estimated by those of the timed calls.  Infinity: fewer than
 * two calls were timed, and there are more.
 */
static double call_uncertainty_s(const run_profile_device *d, int level, int kernel)
{
    const double timed = d->timed[level][kernel], calls = d->calls[level][kernel], mean = d->timed_s[level][kernel] / timed;
    if (timed >= calls) return 0;
    if (timed < 2) return INFINITY;
    const double variance = fmax(0, d->timed_squares[level][kernel] - timed * mean * mean) / (timed - 1);
    return 2 * sqrt(variance / timed * (1 - timed / calls));
}

/*
 * Explains why no energy is reported, and how many calls would be enough: uncertainties decrease with the square root of the number of
 * calls, and the number of readings grows in proportion to it.
 */
static void explain_too_few(const summing *sum, const profile_joules *joules, double calls, char *why)
{
    static const double enough = 0.3;
    if (isnan(joules->call_s)) {
        snprintf(why, RUN_WHY_BYTES, "none of its calls was timed, since that took more of the time than it may; a longer run times some");
    } else if (sum->why[0] != '\0' && sum->readings > 0) {
        snprintf(why, RUN_WHY_BYTES, "%.160s: about %.2g calls", sum->why, fmin(1e15, ceil(calls * PROFILE_MIN_READINGS / sum->readings)));
    } else if (sum->why[0] != '\0') {
        snprintf(why, RUN_WHY_BYTES, "%s", sum->why);
    } else if (isnan(joules->energy_j)) {
        snprintf(why, RUN_WHY_BYTES, "%s",
                 joules->call_s == 0 ? "its calls take no time on the device's clock" : "no reading of the meter shows it");
    } else {
        double ratio = joules->uncertainty_j / (enough * fabs(joules->energy_j));
        snprintf(why, RUN_WHY_BYTES, "%.4g J +- %.2g after %.0f calls: not known to 50 %%; it may take %.2g calls", joules->energy_j,
                 joules->uncertainty_j, calls, fmin(1e15, calls * ratio * ratio));
    }
}

static void add_row(yoke_run *run, int device, int level, const char *kernel, double calls, const profile_joules *joules,
                    const summing *sum, int64_t *count)
{
    run_profile *profile = run->profile;
    const run_device *of = &run->devices[device];
    if (*count == RUN_PROFILE_ROWS) return;
    yoke_run_profile *row = &profile->rows[*count];
    char *why = profile->why[(*count)++];
    *row = (yoke_run_profile){.kernel = kernel,
                              .device = device,
                              .frequency_hz = of->domain[0] != '\0' ? of->hz[level] : (double)NAN,
                              .calls = calls,
                              .call_s = joules->call_s,
                              .energy_j = joules->energy_j,
                              .uncertainty_j = joules->uncertainty_j,
                              .dynamic_j = joules->dynamic_j,
                              .why_not = why};
    why[0] = '\0';
    if (sum->why[0] != '\0' || !(joules->uncertainty_j < 0.5 * joules->energy_j)) {
        explain_too_few(sum, joules, calls, why);
        row->energy_j = row->uncertainty_j = row->dynamic_j = NAN;
    }
    row->part = row->energy_j * calls / all_j(run);
}

static void add_device(yoke_run *run, int device, int level, int64_t *count)
{
    const run_profile_device *d = &run->profile->devices[device];
    summing sum;
    double busy_s = 0, busy_off_s = 0, any = 0;
    for (int k = 0; k < run->profile->num_kernels; k++) any += d->calls[level][k];
    if (!(any > 0)) return;
    sum_meters(run, device, level, &sum);
    const profile_joules *idle = &sum.joules[PROFILE_MAX_KERNELS];
    for (int k = 0; k < PROFILE_MAX_KERNELS && !(idle->uncertainty_j < 0.5 * idle->energy_j); k++) sum.joules[k].dynamic_j = NAN;
    for (int k = 0; k < run->profile->num_kernels; k++) {
        profile_joules *of = &sum.joules[k];
        const double calls = d->calls[level][k], off_s = call_uncertainty_s(d, level, k);
        if (!(calls > 0)) continue;
        of->uncertainty_j = hypot(of->uncertainty_j, off_s * of->energy_j / of->call_s);
        add_row(run, device, level, run->profile->names[k], calls, of, &sum, count);
        busy_s += calls * of->call_s;
        busy_off_s = hypot(busy_off_s, calls * off_s);
    }
    /* The energy of the device while no kernel runs. */
    profile_joules rest = sum.joules[PROFILE_MAX_KERNELS];
    rest.call_s = (d->round_s[level] - busy_s) / d->rounds[level];
    if (!(d->rounds[level] > 0) || !(rest.call_s * d->rounds[level] > 1e-9 * d->round_s[level])) return;         /* it is always at work */
    rest.uncertainty_j = hypot(rest.uncertainty_j * rest.call_s, rest.energy_j * busy_off_s / d->rounds[level]); /* energy_j: per second */
    rest.energy_j *= rest.call_s;
    rest.dynamic_j = 0;
    add_row(run, device, level, NULL, d->rounds[level], &rest, &sum, count);
}

yoke_status yoke_run_profile_get(yoke_run *run, const yoke_run_profile **rows, int64_t *count)
{
    if (run == NULL || rows == NULL || count == NULL)
        return yoke_fail(run != NULL ? run->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_run_profile_get: an argument is NULL");
    *rows = NULL;
    *count = 0;
    if (run->profile == NULL) return YOKE_OK;
    for (int i = 0; i < run->num_devices; i++)
        for (int level = 0; level < RUN_MAX_LEVELS; level++) add_device(run, i, level, count);
    *rows = run->profile->rows;
    return YOKE_OK;
}
