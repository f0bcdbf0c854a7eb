/* Measures a kind of work before the first round: each device alone, at several sizes and frequencies, and then all devices together. */
#include "run/calibrate/calibrate.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const double usual_budget_s = 5;
/* Relative half width of the 95 % interval at which the time of a size is known, and the numbers of calls for that. */
static const double well_measured = 0.01;
enum { MIN_CALLS = 3, MAX_CALLS = 100, MAX_BRIEF_CALLS = 30, USUAL_LEVELS = 5 };
/* A model is a line if the line misses no size by more than this relative error. */
static const double straight = 0.02;
static const int64_t max_units = INT64_C(1000000000000000);

/* ------------------------------------------------------------------------------------------------- measuring */

yoke_status run_calibrate_progress(const calibrating *c, int64_t device, const char *format, ...)
{
    char what[160];
    va_list arguments;
    if (c->of->progress == NULL) return YOKE_OK;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return c->of->progress(c->of->user, device, what);
}

yoke_status run_calibrate_try(calibrating *c, int64_t units, int64_t calls, double *seconds)
{
    double begin_s = run_now_s(c->run);
    yoke_status status = c->of->trial(c->of->user, c->device, units, calls, seconds);
    c->found->accuracy.trials++;
    c->found->accuracy.seconds += run_now_s(c->run) - begin_s;
    return status;
}

static int64_t least_calls(const calibrating *c) { return c->of->calls > 0 ? c->of->calls : 1; }

static yoke_status measured_call(void *user, double *seconds, double *joules)
{
    calibrating *c = user;
    *joules = NAN;
    yoke_status status = run_calibrate_try_quietly(c, c->units, least_calls(c), seconds);
    if (status == YOKE_OK) c->least_s = fmin(c->least_s, *seconds);
    return status;
}

/* Makes calls until the time of a size is known, and records how much other programs disturbed them. */
static yoke_status measure_calls(calibrating *c, const yoke_measure_options *options, yoke_sample *sample)
{
    c->counted_s = c->lost_s = 0;
    c->least_part = c->least_s = INFINITY;
    yoke_status status = yoke_measure(c->run->context, measured_call, c, options, sample);
    if (status != YOKE_OK) return status;
    const double part = c->of->shortest ? c->least_part : c->lost_s / c->counted_s;
    double *disturbed = &c->run->run_works[c->work].disturbed[c->device];
    if (c->counted_s > 0 && part > RUN_DISTURBED) *disturbed = fmin(fmax(*disturbed, part), 1);
    if (c->of->shortest) sample->seconds = c->least_s;
    return YOKE_OK;
}

static yoke_status measure_briefly(calibrating *c, int64_t units, yoke_sample *sample)
{
    const yoke_measure_options options = {.budget_s = c->budget_s, .min_calls = c->run->simulated ? 2 : 3, .max_calls = MAX_BRIEF_CALLS};
    *sample = (yoke_sample){.units = (double)units, .frequency_hz = c->run->devices[c->device].hz[c->level]};
    c->units = units;
    yoke_status status = run_calibrate_progress(c, c->device, "calls with %lld units", (long long)units);
    if (status == YOKE_OK) status = measure_calls(c, &options, sample);
    /*
     * The mean is learned, and not each trial: models follow changes of the speed from round to round, and there are none within a sample.
     */
    if (status == YOKE_OK) run_know_seconds(c->run, c->work, c->device, c->level, sample);
    return status;
}

yoke_status run_calibrate_measure(calibrating *c, int64_t units, double longer, yoke_sample *sample)
{
    const yoke_measure_options options = {
        .budget_s = longer * c->budget_s, .relative = well_measured, .min_calls = MIN_CALLS, .max_calls = MAX_CALLS};
    double predicted = run_seconds(c->run, c->work, c->device, c->level, 0, (double)units, NULL), warm_s = NAN;
    if (c->of->brief) return measure_briefly(c, units, sample);
    *sample = (yoke_sample){.units = (double)units, .frequency_hz = c->run->devices[c->device].hz[c->level]};
    c->units = units;
    yoke_status status = run_calibrate_progress(c, c->device, "calls with %lld units", (long long)units);
    if (status == YOKE_OK)
        status = run_calibrate_try(c, units, least_calls(c), &warm_s); /* then code and data are loaded, and frequencies have risen */
    if (status == YOKE_OK) status = measure_calls(c, &options, sample);
    if (status != YOKE_OK) return status;
    c->error = fabs(predicted / sample->seconds - 1);
    run_know_seconds(c->run, c->work, c->device, c->level, sample);
    return YOKE_OK;
}

void run_calibrate_keep(calibrating *c, const yoke_sample *sample)
{
    run_calibrated *found = c->found;
    int64_t *count = &found->accuracy.num_samples, at = *count;
    if (at == CALIBRATE_MAX_SAMPLES) return;
    while (at > 0 && found->samples[at - 1].units > sample->units) at--;
    memmove(&found->samples[at + 1], &found->samples[at], (size_t)(*count - at) * sizeof *sample);
    found->samples[at] = *sample;
    ++*count;
}

/* ---------------------------------------------------------------------------------------------------- levels */

/*
 * Chooses the sizes for the other frequencies: of the sizes measured at the highest frequency, the smallest, the largest and a few between.
 * Returns their number.
 */
static int choose_sizes(const calibrating *c, int64_t units[CALIBRATE_SIZES_OF_A_LEVEL])
{
    const run_device *d = &c->run->devices[c->device];
    const run_calibrated *found = c->found;
    int64_t all[CALIBRATE_MAX_SAMPLES];
    int there = 0, count = 0;
    for (int64_t k = 0; k < found->accuracy.num_samples; k++)
        if (!(found->samples[k].frequency_hz < d->hz[d->num_levels - 1])) all[there++] = llround(found->samples[k].units);
    for (int k = 0; k < CALIBRATE_SIZES_OF_A_LEVEL; k++) {
        int64_t one = all[(there - 1) * k / (CALIBRATE_SIZES_OF_A_LEVEL - 1)];
        if (count == 0 || one > units[count - 1]) units[count++] = one;
    }
    return count;
}

static yoke_status measure_level(calibrating *c, int level)
{
    int64_t units[CALIBRATE_SIZES_OF_A_LEVEL];
    const int count = choose_sizes(c, units);
    yoke_sample sample;
    c->level = level;
    yoke_status status = run_set_level(c->run, c->device, level);
    for (int k = count - 1; k >= 0 && status == YOKE_OK; k--) {
        status = run_calibrate_measure(c, units[k], 1, &sample);
        if (status == YOKE_OK) run_calibrate_keep(c, &sample);
    }
    return status == YOKE_OK ? run_calibrate_powers(c) : status;
}

/* How much speed and power differ between two levels that were measured. */
static double change(const calibrating *c, int low, int high)
{
    const double units = (double)c->max_units;
    double of_speed = fabs(
        log(run_seconds(c->run, c->work, c->device, low, 0, units, NULL) / run_seconds(c->run, c->work, c->device, high, 0, units, NULL)));
    double low_w = run_idle_w(c->run, c->device, low) + run_dynamic_w(c->run, c->device, low, NULL),
           high_w = run_idle_w(c->run, c->device, high) + run_dynamic_w(c->run, c->device, high, NULL),
           of_power = fabs(log(low_w / high_w));
    return of_speed + (isfinite(of_power) ? of_power : 0);
}

/*
 * The next level to be measured: first the lowest, then the middle between the two measured levels between which speed and power change
 * most.  -1: all are measured.
 */
static int next_level(const calibrating *c, const int *measured)
{
    const int top = c->run->devices[c->device].num_levels - 1;
    int found = -1, low = 0;
    double most = -1;
    if (!measured[0]) return 0;
    for (int high = 1; high <= top; high++) {
        if (!measured[high]) continue;
        if (high > low + 1 && change(c, low, high) > most) {
            most = change(c, low, high);
            found = (low + high) / 2;
        }
        low = high;
    }
    return found;
}

static int most_levels(const calibrating *c)
{
    if (c->of->levels > 0) return (int)c->of->levels;
    return c->run->simulated ? RUN_MAX_LEVELS : USUAL_LEVELS;
}

static yoke_status measure_levels(calibrating *c)
{
    const int top = c->run->devices[c->device].num_levels - 1, most = most_levels(c);
    int measured[RUN_MAX_LEVELS] = {0};
    yoke_status status = YOKE_OK;
    measured[top] = 1;
    for (int count = 1; count < most && top > 0 && status == YOKE_OK; count++) {
        int level = next_level(c, measured);
        if (level < 0) break;
        measured[level] = 1;
        status = measure_level(c, level);
    }
    c->level = top;
    yoke_status back = run_set_level(c->run, c->device, top);
    return status != YOKE_OK ? status : back;
}

/* --------------------------------------------------------------------------------------------------- devices */

static yoke_status measure_device(calibrating *c)
{
    const int top = c->run->devices[c->device].num_levels - 1, levels = top > 0 ? most_levels(c) - 1 : 0;
    const int sizes = c->of->sizes > 0 ? (int)c->of->sizes : CALIBRATE_MAX_SIZES;
    const double budget_s = c->of->budget_s > 0 ? c->of->budget_s : usual_budget_s;
    c->level = top;
    c->budget_s = budget_s / (sizes + CALIBRATE_HELD_OUT + levels * CALIBRATE_SIZES_OF_A_LEVEL);
    if (!c->of->brief) run_forget(c->run, c->work, c->device);
    yoke_status status = run_set_level(c->run, c->device, top);
    if (status == YOKE_OK) status = run_calibrate_sizes(c);
    if (status == YOKE_OK) status = run_calibrate_powers(c);
    if (status == YOKE_OK) status = measure_levels(c);
    if (status == YOKE_OK && c->of->brief) c->run->run_works[c->work].explored[c->device] = 1;
    return status == YOKE_OK && c->of->copies ? run_calibrate_copies(c) : status;
}

static int is_wanted(const calibrating *c, int device)
{
    const int accelerator = c->run->devices[device].accelerator;
    if (c->resting >> device & 1 && c->run->devices[device].shares_cores) return 0;
    return run_is_active(c->run, device) && c->of->use != (accelerator ? YOKE_RUN_HOSTS : YOKE_RUN_ACCELERATORS);
}

/* Excludes a device that failed, so that the others are still measured.  Other errors are returned. */
static yoke_status leave_out(calibrating *c, int64_t device, yoke_status status)
{
    char why[RUN_WHY_BYTES];
    if (status != YOKE_ERROR_DEVICE && status != YOKE_ERROR_DEVICE_MEMORY) return status;
    snprintf(why, sizeof why, "%s", yoke_last_error(c->run->context));
    run_forget(c->run, c->work, (int)device);
    return yoke_run_fail(c->run, device, why);
}

static yoke_status measure_devices(calibrating *c)
{
    yoke_status status = YOKE_OK;
    for (int i = 0; i < c->run->num_devices && status == YOKE_OK; i++) {
        c->device = i;
        c->found = &c->run->results[i];
        if (is_wanted(c, i)) status = leave_out(c, i, measure_device(c));
    }
    for (int i = 0; i < c->run->num_devices && status == YOKE_OK; i++) { /* after all frequencies of hosts were measured */
        c->device = i;
        c->found = &c->run->results[i];
        c->level = c->run->devices[i].num_levels - 1;
        if (is_wanted(c, i)) status = leave_out(c, i, run_calibrate_overheads(c));
    }
    return status;
}

/* Measures all devices at once.  If one fails, the others are measured once more. */
static yoke_status measure_together(calibrating *c)
{
    yoke_status status = YOKE_OK;
    for (;;) {
        int active = 0;
        for (int i = 0; i < c->run->num_devices; i++) active += run_is_active(c->run, i);
        if (active < 2 || c->of->together == NULL) return YOKE_OK;
        c->device = -1;
        status = run_calibrate_together(c);
        if (status == YOKE_OK || c->device < 0) return status;
        status = leave_out(c, c->device, status);
        if (status != YOKE_OK) return status;
    }
}

/* --------------------------------------------------------------------------------------------------- results */

static yoke_status make_results(yoke_run *run)
{
    static const yoke_run_watts unknown = {NAN, NAN, YOKE_ENERGY_NONE};
    void *memory = NULL;
    yoke_status status = yoke_allocate(run->context, run->num_devices, sizeof(run_calibrated), &memory);
    if (status != YOKE_OK) return status;
    yoke_release(run->context, run->results);
    run->results = memory;
    for (int i = 0; i < run->num_devices; i++) {
        run_calibrated *found = &run->results[i];
        found->accuracy = (yoke_run_accuracy){.median_error = NAN,
                                              .max_error = NAN,
                                              .coverage = NAN,
                                              .samples = found->samples,
                                              .held_out = found->held_out,
                                              .levels = found->levels,
                                              .contention = NAN,
                                              .copy_start_s = NAN,
                                              .copy_seconds_per_byte = NAN,
                                              .copy_power_w = NAN};
    }
    if (run->meter == NULL) run->all_idle = unknown;
    return YOKE_OK;
}

/* Nonzero: start_s + units x per_unit_s fits all sizes of the device alone at the highest frequency. */
static int is_line(const run_calibrated *found, double hz, double start_s, double per_unit_s)
{
    for (int64_t k = 0; k < found->accuracy.num_samples; k++) {
        const yoke_sample *one = &found->samples[k];
        if (one->together || one->frequency_hz < hz) continue;
        if (!(fabs((start_s + one->units * per_unit_s) / one->seconds - 1) <= straight)) return 0;
    }
    return 1;
}

static yoke_model_kind kind_of(const run_calibrated *found, double hz)
{
    const yoke_sample *first = NULL, *last = NULL;
    for (int64_t k = 0; k < found->accuracy.num_samples; k++) {
        const yoke_sample *one = &found->samples[k];
        if (one->together || one->frequency_hz < hz) continue;
        if (first == NULL) first = one;
        last = one;
    }
    if (last == NULL || is_line(found, hz, 0, last->seconds / last->units)) return YOKE_MODEL_CONSTANT;
    const double per_unit_s = (last->seconds - first->seconds) / (last->units - first->units);
    return is_line(found, hz, first->seconds - per_unit_s * first->units, per_unit_s) ? YOKE_MODEL_AFFINE : YOKE_MODEL_PIECEWISE;
}

static void tell(const yoke_run *run, int work, yoke_run_accuracy *accuracy)
{
    for (int i = 0; i < run->num_devices; i++) {
        run_calibrated *found = &run->results[i];
        const run_device *d = &run->devices[i];
        run_calibrate_joules(run, i, found);
        found->accuracy.kind = kind_of(found, d->hz[d->num_levels - 1]);
        found->accuracy.copy_start_s = d->copy_start_s;
        found->accuracy.copy_seconds_per_byte = d->copy_seconds_per_byte;
        found->accuracy.copy_power_w = d->copy_power_w;
        found->accuracy.all_idle_before = run->all_idle_before;
        found->accuracy.all_idle = run->all_idle;
        found->accuracy.disturbed = run->run_works[work].disturbed[i];
        if (accuracy != NULL) accuracy[i] = found->accuracy;
    }
}

static yoke_status check(const yoke_run *run, const yoke_run_calibration *of)
{
    const char *wrong = NULL;
    if (of->work == NULL || of->work[0] == '\0')
        wrong = "the work has no name";
    else if (of->trial == NULL)
        wrong = "there is no trial function";
    else if (of->min_units < 1 || of->max_units < of->min_units || of->max_units > max_units)
        wrong = "min_units must be at least 1, and max_units from there to 10^15";
    else if (!(of->call_s >= 0) || !isfinite(of->call_s))
        wrong = "call_s must be finite and not negative";
    else if (of->sizes < 0 || of->sizes > CALIBRATE_MAX_SIZES || of->sizes == 1)
        wrong = "sizes must be 0, or from 2 to 12";
    else if (of->calls < 0)
        wrong = "calls must not be negative";
    else if (of->levels < 0 || of->levels > RUN_MAX_LEVELS || of->levels == 1 || of->levels == 2)
        wrong = "levels must be 0, or from 3 to 16";
    else if (of->use < YOKE_RUN_ANY || of->use > YOKE_RUN_BOTH)
        wrong = "use must be one of yoke_run_use";
    else if (of->together != NULL && (of->use == YOKE_RUN_HOSTS || of->use == YOKE_RUN_ACCELERATORS))
        wrong = "a trial of all devices together needs all of them: leave use at 0";
    else if (!(of->budget_s >= 0) || !isfinite(of->budget_s))
        wrong = "budget_s must be finite and not negative";
    else if (run->begun)
        wrong = "a round has begun; end it first";
    return wrong == NULL ? YOKE_OK : yoke_fail(run->context, YOKE_ERROR_ARGUMENT, "yoke_run_calibrate: %s", wrong);
}

yoke_status yoke_run_calibrate(yoke_run *run, const yoke_run_calibration *calibration, yoke_run_accuracy *accuracy)
{
    calibrating c = {.run = run, .of = calibration};
    if (run == NULL || calibration == NULL)
        return yoke_fail(run != NULL ? run->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_run_calibrate: %s is NULL",
                         run == NULL ? "run" : "calibration");
    yoke_status status = check(run, calibration);
    if (status == YOKE_OK) status = run_need_device(run);
    if (status == YOKE_OK) status = run_work_find(run, calibration->work, &c.work);
    if (status == YOKE_OK) status = make_results(run);
    if (status == YOKE_OK && calibration->brief) status = run_work_open(run, c.work);
    if (status == YOKE_OK && calibration->but_resting) {
        yoke_run_rest rests[RUN_MAX_DEVICES];
        status = run_rest(run, calibration->work, calibration->max_units, ~UINT64_C(0), &c.resting, rests);
    }
    if (status == YOKE_OK) run->run_works[c.work].planned = 1; /* otherwise the store's samples of it would be added later */
    if (status == YOKE_OK) status = measure_devices(&c);
    if (status == YOKE_OK) status = measure_together(&c);
    if (status != YOKE_OK) return status;
    tell(run, c.work, accuracy);
    run->calibrated = 1;
    return YOKE_OK;
}
