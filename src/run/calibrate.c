/* Measuring a kind of work before the first round, each device alone. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/statistics.h"
#include "run/run.h"

/* As many as a model keeps. */
enum { HELD_OUT = 4, MOST_SIZES = MODEL_MOST_POINTS - HELD_OUT, SIZES_OF_A_LEVEL = 3, EXPLORED = 5 };

static const double usual_budget_s = 5;
/* A size is added between two while the speed there is off by more than this, or they are so far apart that this may have been chance. */
static const double well_known = 0.01, far_apart = 4;
static const int64_t most_units = INT64_C(1000000000000000);

typedef struct calibrating {
    yoke_run *run;
    const yoke_run_calibration *of;
    int work, device, level;
    int64_t units;
    double budget_s, begin_s;
    yoke_run_accuracy accuracy;
    double error; /* of the prediction before the latest measurement; NaN: there was none */
} calibrating;

/* Sizes that were measured, ascending, and how far off the speed was at the middle between each and the next: where to look first. */
typedef struct size_list {
    int count;
    int64_t units[MOST_SIZES];
    double off[MOST_SIZES];
} size_list;

/* ------------------------------------------------------------------------------------------------- measuring */

static yoke_status try_once(calibrating *c, int64_t units, int64_t calls, double *seconds)
{
    double begin_s = run_now_s(c->run);
    yoke_status status = c->of->trial(c->of->user, c->device, units, calls, seconds);
    c->accuracy.trials++;
    c->accuracy.seconds += run_now_s(c->run) - begin_s;
    return status;
}

static yoke_status measured_call(void *user, double *seconds, double *joules)
{
    calibrating *c = user;
    *joules = NAN;
    yoke_status status = try_once(c, c->units, 1, seconds);
    if (status == YOKE_OK) run_learn_seconds(c->run, c->work, c->device, c->level, 0, (double)c->units, *seconds);
    return status;
}

/* Repeats a size until its time is known; the error of what was predicted for it before is kept. */
static yoke_status measure(calibrating *c, int64_t units)
{
    const yoke_measure_options options = {.budget_s = c->budget_s, .least = c->run->simulated ? 2 : 3, .most = 30};
    double predicted = run_factor(c->run, c->work, c->device, 0) * run_seconds(c->run, c->work, c->device, c->level, (double)units, NULL);
    yoke_sample sample;
    c->units = units;
    yoke_status status = yoke_measure(c->run->context, measured_call, c, &options, &sample);
    c->error = status == YOKE_OK ? fabs(predicted / sample.seconds - 1) : (double)NAN;
    return status;
}

/* --------------------------------------------------------------------------------------------------------- sizes */

static int64_t between(int64_t a, int64_t b) { return (int64_t)llround(sqrt((double)a) * sqrt((double)b)); }

static yoke_status add_size(calibrating *c, size_list *sizes, int at, int64_t units)
{
    yoke_status status = measure(c, units);
    if (status != YOKE_OK) return status;
    memmove(&sizes->units[at + 1], &sizes->units[at], (size_t)(sizes->count - at) * sizeof sizes->units[0]);
    memmove(&sizes->off[at + 1], &sizes->off[at], (size_t)(sizes->count - at) * sizeof sizes->off[0]);
    sizes->units[at] = units;
    sizes->count++;
    /* On both sides it may be as far off as it was here. */
    sizes->off[at] = isnan(c->error) ? INFINITY : c->error;
    if (at > 0) sizes->off[at - 1] = sizes->off[at];
    return YOKE_OK;
}

/* The place behind which the next size belongs; -1: all is known well enough, or there is none in between. */
static int next_size(const size_list *sizes)
{
    double worst = 0;
    int found = -1;
    for (int k = 0; k + 1 < sizes->count; k++) {
        double width = log((double)sizes->units[k + 1] / (double)sizes->units[k]), off = (sizes->off[k] + well_known) * width;
        int64_t middle = between(sizes->units[k], sizes->units[k + 1]);
        if (middle <= sizes->units[k] || middle >= sizes->units[k + 1] || !(off > worst)) continue;
        if (sizes->off[k] < well_known && width < log(far_apart)) continue;
        worst = off;
        found = k;
    }
    return found;
}

/* More where the speed is not what those beside tell. */
static yoke_status measure_sizes(calibrating *c, int most, size_list *sizes)
{
    yoke_status status = add_size(c, sizes, 0, c->of->max_units);
    if (status == YOKE_OK && c->of->min_units < c->of->max_units) status = add_size(c, sizes, 0, c->of->min_units);
    if (sizes->count == 2) sizes->off[0] = INFINITY;
    while (status == YOKE_OK && sizes->count < most) {
        int at = next_size(sizes);
        if (at < 0) break;
        status = add_size(c, sizes, at + 1, between(sizes->units[at], sizes->units[at + 1]));
    }
    return status;
}

/* Sizes that were not measured, evenly between the ends: how far off is what is known now? */
static yoke_status hold_out(calibrating *c)
{
    double errors[HELD_OUT], from = log((double)c->of->min_units), to = log((double)c->of->max_units);
    int count = 0;
    yoke_status status = YOKE_OK;
    for (int k = 0; k < HELD_OUT && status == YOKE_OK && to > from; k++) {
        status = measure(c, (int64_t)llround(exp(from + (to - from) * (k + 0.6) / (HELD_OUT + 0.2))));
        if (status == YOKE_OK && !isnan(c->error)) errors[count++] = c->error;
    }
    if (count == 0) return status;
    statistics_sort(errors, count);
    c->accuracy.median_error = statistics_median(errors, count);
    c->accuracy.max_error = errors[count - 1];
    return status;
}

/* -------------------------------------------------------------------------------------------------------- powers */

/* Works without a pause for long enough that meters tell. */
static yoke_status measure_power(calibrating *c)
{
    yoke_run *run = c->run;
    double busy[RUN_MOST_DEVICES] = {0}, one_s = NAN, seconds = 0;
    int levels[RUN_MOST_DEVICES];
    yoke_region *region = NULL;
    yoke_energy total;
    if (run->meter == NULL || run->declared || !(run->needs_powers || run->simulated)) return YOKE_OK;
    yoke_status status = run_powers_rest(run);
    if (status != YOKE_OK) return status;
    const double expected = run_seconds(run, c->work, c->device, c->level, (double)c->of->max_units, NULL), wanted_s = run_power_s(run);
    const int64_t calls = expected > 0 ? (int64_t)fmin(fmax(1, 0.1 * wanted_s / expected), 1e6) : 1;
    for (int i = 0; i < run->num_devices; i++) levels[i] = run->devices[i].level;
    status = yoke_region_begin(run->meter, &region);
    if (status != YOKE_OK) return status;
    for (double begin_s = run_now_s(run); status == YOKE_OK && run_now_s(run) - begin_s < wanted_s;) {
        status = try_once(c, c->of->max_units, calls, &one_s);
        busy[c->device] += one_s * (double)calls;
    }
    yoke_status ended = yoke_region_end(region, &seconds, run->energies, &total);
    if (status == YOKE_OK) status = ended;
    if (status == YOKE_OK && busy[c->device] > 0) run_powers_learn(run, levels, seconds, &total, busy);
    return status;
}

/* -------------------------------------------------------------------------------------------------------- devices */

/* Number k of the levels below the highest that are measured; -1: there is no more. */
static int level_of(const yoke_run *run, int device, int k)
{
    const int top = run->devices[device].num_levels - 1, few[EXPLORED - 1] = {0, top / 2, top / 4, (3 * top + 3) / 4};
    if (run->simulated) return k < top ? k : -1;
    for (; k < EXPLORED - 1; k++) {
        int seen = few[k] == top;
        for (int j = 0; j < k; j++) seen |= few[j] == few[k];
        if (!seen) return few[k];
    }
    return -1;
}

static yoke_status measure_level(calibrating *c, int level)
{
    c->level = level;
    yoke_status status = run_set_level(c->run, c->device, level);
    int64_t middle = between(c->of->min_units, c->of->max_units);
    if (status == YOKE_OK) status = measure(c, c->of->max_units);
    if (status == YOKE_OK && middle < c->of->max_units) status = measure(c, middle);
    if (status == YOKE_OK && c->of->min_units < middle) status = measure(c, c->of->min_units);
    return status == YOKE_OK ? measure_power(c) : status;
}

static yoke_status measure_device(calibrating *c)
{
    const int top = c->run->devices[c->device].num_levels - 1, most = c->of->sizes > 0 ? (int)c->of->sizes : MOST_SIZES;
    size_list sizes = {.count = 0};
    c->level = top;
    c->budget_s = (c->of->budget_s > 0 ? c->of->budget_s : usual_budget_s) / (most + HELD_OUT + EXPLORED * SIZES_OF_A_LEVEL);
    yoke_status status = run_set_level(c->run, c->device, top);
    if (status == YOKE_OK) status = measure_sizes(c, most, &sizes);
    if (status == YOKE_OK) status = measure_power(c);
    if (status == YOKE_OK) status = hold_out(c);
    for (int k = 0, level = 0; status == YOKE_OK && top > 0; k++) {
        level = level_of(c->run, c->device, k);
        if (level < 0) break;
        status = measure_level(c, level);
    }
    yoke_status back = run_set_level(c->run, c->device, top);
    return status != YOKE_OK ? status : back;
}

static yoke_status check(const yoke_run *run, const yoke_run_calibration *of)
{
    const char *wrong = NULL;
    if (of->work == NULL || of->work[0] == '\0')
        wrong = "the work has no name";
    else if (of->trial == NULL)
        wrong = "there is no trial function";
    else if (of->min_units < 1 || of->max_units < of->min_units || of->max_units > most_units)
        wrong = "min_units must be at least 1, and max_units from there to 10^15";
    else if (of->sizes < 0 || of->sizes > MOST_SIZES || of->sizes == 1)
        wrong = "sizes must be 0, or from 2 to 12";
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
    if (status == YOKE_OK) status = run_work_open(run, c.work);
    for (int i = 0; i < run->num_devices && status == YOKE_OK; i++) {
        c.device = i;
        c.accuracy = (yoke_run_accuracy){.median_error = NAN, .max_error = NAN};
        if (run_is_active(run, i)) status = measure_device(&c);
        if (accuracy != NULL) accuracy[i] = c.accuracy;
        if (status != YOKE_ERROR_DEVICE && status != YOKE_ERROR_DEVICE_MEMORY) continue;
        char why[RUN_WHY_BYTES];
        snprintf(why, sizeof why, "%s", yoke_last_error(run->context));
        status = yoke_run_fail(run, i, why);
    }
    if (status == YOKE_OK) run->calibrated = 1;
    return status;
}
