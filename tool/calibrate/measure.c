/* What is measured, in which order, and how long. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/calibrate.h"
#include "common/interrupt.h"

enum { COPIES = 8, MOST_CHOICES = 128, CONTINUOUS = 17, FEWEST_LEVELS = 4 };

/* What all else is compared with may take so many times as long as a size. */
enum { LONGER = 3 };
static const double level_s = 0.006; /* of a call at each clock */

/* ------------------------------------------------------------------------------------------------- clocks */

static bool clock_of(const yoke_clock_info *clock, const calibrate_device *d)
{
    if (!clock->settable) return false;
    if (strcmp(d->info->kind, "sim") == 0) return strcmp(clock->name, d->info->name) == 0;
    return d->info->pci[0] ? strcmp(clock->pci, d->info->pci) == 0 : d->host && strcmp(clock->name, "cpu") == 0;
}

/* The frequencies from which some are measured; of a continuous clock some evenly. */
static int choices(const calibrate_device *d, double hz[MOST_CHOICES])
{
    const yoke_clock_info *clock = &d->clock;
    int count = clock->num_levels > 0 ? (int)clock->num_levels : CONTINUOUS;
    if (count > MOST_CHOICES) count = MOST_CHOICES;
    for (int i = 0; i < count; i++)
        hz[i] = clock->num_levels > 0 ? clock->levels_hz[i]
                                      : clock->least_hz + (clock->most_hz - clock->least_hz) * (double)i / (CONTINUOUS - 1);
    return count;
}

static yoke_status find_clocks(calibration *c)
{
    const yoke_clock_options options = {.sysroot = c->sysroot};
    yoke_clock_info *list = NULL;
    int64_t count = 0;
    bool any = false;
    for (int i = 0; i < c->num_devices; i++) {
        c->devices[i].num_levels = 1;
        c->devices[i].levels[0].hz = NAN;
    }
    if (c->no_clocks) return YOKE_OK;
    yoke_status status = yoke_clocks_list(c->context, &options, &list, &count);
    for (int i = 0; i < c->num_devices && !status; i++)
        for (int64_t k = 0; k < count; k++)
            if (clock_of(&list[k], &c->devices[i])) {
                double hz[MOST_CHOICES];
                c->devices[i].clock = list[k];
                c->devices[i].levels[0].hz = hz[choices(&c->devices[i], hz) - 1]; /* the highest first, for the sizes */
                any = true;
            }
    yoke_release(c->context, list);
    if (!status && any) status = yoke_clocks_open(c->context, &options, &c->clocks);
    return status;
}

static yoke_status set_clock(calibration *c, calibrate_device *d, int level)
{
    if (isnan(d->levels[level].hz)) return YOKE_OK;
    return yoke_clock_set(c->clocks, d->clock.name, d->levels[level].hz, NULL);
}

/* ------------------------------------------------------------------------------------------- clocks and powers */

/* Powers at the present clock. */
static yoke_status measure_powers(calibration *c, calibrate_device *d, int level)
{
    calibrate_power total;
    app_progress(c->terminal, "%s: powers", d->info->name);
    yoke_status status = calibrate_idle(c, d, level, &total);
    return status ? status : calibrate_busy(c, d, level, d->most_units);
}

/* Of the sizes that were measured, all at the highest clock, the largest whose call is no longer than that, or the smallest. */
static int64_t size_of(const calibrate_device *d, double seconds)
{
    int found = 0;
    for (int i = 0; i < d->num_samples; i++)
        if (d->samples[i].frequency_hz >= d->levels[d->num_levels - 1].hz && d->samples[i].seconds <= seconds) found = i;
    return (int64_t)llround(d->samples[found].units);
}

/*
 * One more level, in its place: its speed at one size, whose call takes about a tenth of the longest, for the mean of many calls is known better; and its
 * powers.
 */
static yoke_status add_level(calibration *c, calibrate_device *d, double hz, double budget_s)
{
    yoke_sample one;
    int at = 0;
    while (d->levels[at].hz < hz) at++; /* the highest is there */
    memmove(&d->levels[at + 1], &d->levels[at], (size_t)(d->num_levels++ - at) * sizeof d->levels[0]);
    d->levels[at] = (calibrate_level){.hz = hz};
    yoke_status status = set_clock(c, d, at);
    if (!status) status = calibrate_sample(c, d, at, size_of(d, level_s), LONGER * budget_s, &one);
    if (!status) calibrate_insert(d, &one);
    return status ? status : measure_powers(c, d, at);
}

static bool is_at(const calibrate_device *d, const yoke_sample *one, double hz)
{
    return d->num_levels == 1 || !(one->frequency_hz < hz || one->frequency_hz > hz);
}

/* The sample of the largest size at a clock, or of that size. */
static const yoke_sample *sample_at(const calibrate_device *d, double hz, int64_t units)
{
    const yoke_sample *found = NULL;
    for (int i = 0; i < d->num_samples; i++)
        if (is_at(d, &d->samples[i], hz) && (units == 0 || llround(d->samples[i].units) == units)) found = &d->samples[i];
    return found ? found : &d->samples[0];
}

/* How much speed and power differ between two measured levels. */
static double change(const calibrate_device *d, int level)
{
    const calibrate_level *a = &d->levels[level], *b = a + 1;
    int64_t units = size_of(d, level_s);
    double of_speed = fabs(log(sample_at(d, a->hz, units)->seconds / sample_at(d, b->hz, units)->seconds));
    double of_power = fabs(log(a->busy.value_w / b->busy.value_w));
    return of_speed + (isfinite(of_power) ? of_power : 0);
}

/* The frequency between two levels at which the next one is measured, of those between which most changes; NaN: all are there. */
static double next_level(const calibrate_device *d, const double *hz, int count)
{
    double most = -1, found = NAN;
    for (int i = 0; i + 1 < d->num_levels; i++) {
        int between = 0, places[MOST_CHOICES];
        for (int k = 0; k < count; k++)
            if (hz[k] > d->levels[i].hz && hz[k] < d->levels[i + 1].hz) places[between++] = k;
        if (between == 0 || change(d, i) <= most) continue;
        most = change(d, i);
        found = hz[places[between / 2]];
    }
    return found;
}

/* How many levels there is time for, each with two powers. */
static int most_levels(const calibration *c)
{
    int with_clocks = 0;
    for (int i = 0; i < c->num_devices; i++) with_clocks += c->devices[i].clock.name[0] != '\0';
    double one_s = 0.5 + 2 * (c->power_s + 2 * calibrate_period_s(c)), all = 0.5 * c->budget_s / one_s / fmax(1, with_clocks);
    return all < FEWEST_LEVELS ? FEWEST_LEVELS : all < CALIBRATE_MOST_LEVELS ? (int)all : CALIBRATE_MOST_LEVELS;
}

/* Time of one size and powers at each clock: the highest, the lowest, then between those two between which most changes; ends at the highest. */
static yoke_status measure_levels(calibration *c, calibrate_device *d, double budget_s)
{
    double hz[MOST_CHOICES], next = NAN;
    int count = d->clock.name[0] ? choices(d, hz) : 1, most = most_levels(c);
    yoke_status status = measure_powers(c, d, 0);
    if (!status && count > 1) status = add_level(c, d, hz[0], budget_s);
    /* Another size at the lowest clock is held out: whether sizes and clocks are independent. */
    if (!status && count > 1 && d->num_held_out < CALIBRATE_MOST_HELD_OUT) {
        status = calibrate_sample(c, d, 0, size_of(d, 0.3 * level_s), budget_s, &d->held_out[d->num_held_out]);
        if (!status) d->num_held_out++;
    }
    while (!status && d->num_levels < most && !isnan(next = next_level(d, hz, d->clock.name[0] ? count : 0)))
        status = add_level(c, d, next, budget_s);
    return status ? status : set_clock(c, d, d->num_levels - 1);
}

/* ------------------------------------------------------------------------------------------------- copies */

/* t = start + bytes x seconds per byte by least squares of relative errors. */
static void fit_copies(calibrate_device *d, int count, const double *bytes, const double *seconds)
{
    double weight = 0, mean_x = 0, mean_y = 0, xx = 0, xy = 0;
    for (int i = 0; i < count; i++) {
        double w = 1 / (seconds[i] * seconds[i]);
        weight += w;
        mean_x += w * bytes[i];
        mean_y += w * seconds[i];
    }
    mean_x /= weight;
    mean_y /= weight;
    for (int i = 0; i < count; i++) {
        double w = 1 / (seconds[i] * seconds[i]);
        xx += w * (bytes[i] - mean_x) * (bytes[i] - mean_x);
        xy += w * (bytes[i] - mean_x) * (seconds[i] - mean_y);
    }
    d->copy_seconds_per_byte = fmax(0, xy / xx);
    d->copy_start_s = fmax(0, mean_y - d->copy_seconds_per_byte * mean_x); /* a simulated machine may have bytes that are free */
}

typedef struct copy {
    calibration *calibration;
    calibrate_device *device;
    int64_t bytes;
} copy;

static yoke_status measured_copy(void *user, double *seconds, double *joules)
{
    copy *one = user;
    *joules = NAN;
    yoke_status status = app_interrupt_check(one->calibration->context);
    return status ? status : calibrate_copy(one->device, one->bytes, seconds);
}

/* From the longest to the shortest, for as long as they take time. */
static yoke_status measure_copies(calibration *c, calibrate_device *d, double budget_s)
{
    double bytes[COPIES], seconds[COPIES];
    int64_t longest = d->buffer_bytes < 1 << 26 ? d->buffer_bytes : 1 << 26;
    int count = 0;
    yoke_status status = YOKE_OK;
    if (d->host) return status; /* it computes where the data lies */
    while (count < COPIES && !status) {
        copy one = {c, d, longest >> (2 * count)};
        const yoke_measure_options options = {.budget_s = budget_s, .relative = 0.02};
        yoke_sample result;
        app_progress(c->terminal, "%s: copies of %lld bytes", d->info->name, (long long)one.bytes);
        status = yoke_measure(c->context, measured_copy, &one, &options, &result);
        if (status) break;
        bytes[count] = (double)one.bytes;
        seconds[count++] = result.seconds;
    }
    if (status == YOKE_ERROR_NUMERIC) status = YOKE_OK; /* copies that take no time, of a simulated machine */
    if (!status && count > 1) fit_copies(d, count, bytes, seconds);
    if (!status && count > 1) status = calibrate_copying(c, d, longest);
    return status;
}

/* ----------------------------------------------------------------------------------------------- together */

enum { ROUNDS = 16, CALLS = 4 };

/* Mean and interval of what rounds took, without the first. */
static yoke_sample summarise(const double seconds[ROUNDS][CALIBRATE_MOST_DEVICES], int device)
{
    yoke_sample one = {.together = 1, .repeats = ROUNDS - 1};
    double sum = 0, squares = 0;
    for (int r = 1; r < ROUNDS; r++) sum += seconds[r][device];
    one.seconds = sum / (ROUNDS - 1);
    for (int r = 1; r < ROUNDS; r++) squares += (seconds[r][device] - one.seconds) * (seconds[r][device] - one.seconds);
    one.seconds_interval = 2.145 * sqrt(squares / (ROUNDS - 2) / (ROUNDS - 1)); /* Student t, 14 degrees of freedom */
    return one;
}

/* Each device alone with as many units as all do in the same time: what it does then is compared with what it does beside the others. */
static yoke_status measure_apart(calibration *c, double budget_s, int64_t *units, int *device)
{
    double shortest = INFINITY;
    yoke_sample one;
    for (int i = 0; i < c->num_devices; i++) {
        const calibrate_device *d = &c->devices[i];
        shortest = fmin(shortest, sample_at(d, d->levels[d->num_levels - 1].hz, 0)->seconds);
    }
    for (*device = 0; *device < c->num_devices; ++*device) {
        calibrate_device *d = &c->devices[*device];
        const yoke_sample *largest = sample_at(d, d->levels[d->num_levels - 1].hz, 0);
        units[*device] = (int64_t)llround(largest->units * shortest / largest->seconds);
        if (units[*device] < 1) units[*device] = 1;
        yoke_status status = calibrate_sample(c, d, d->num_levels - 1, units[*device], LONGER * budget_s, &one);
        if (status) return status;
        calibrate_insert(d, &one);
    }
    return YOKE_OK;
}

static yoke_status measure_beside(calibration *c, const int64_t *units, int *device)
{
    double seconds[ROUNDS][CALIBRATE_MOST_DEVICES] = {{0}};
    for (int r = 0; r < ROUNDS; r++) {
        app_progress(c->terminal, "all devices together");
        yoke_status status = calibrate_together(c, units, CALLS, seconds[r], device);
        if (!status) status = app_interrupt_check(c->context);
        if (status) return status;
    }
    for (int i = 0; i < c->num_devices; i++) {
        calibrate_device *d = &c->devices[i];
        yoke_sample one = summarise((const double(*)[CALIBRATE_MOST_DEVICES])seconds, i);
        one.units = (double)units[i];
        one.frequency_hz = d->levels[d->num_levels - 1].hz;
        calibrate_insert(d, &one);
    }
    return YOKE_OK;
}

/* All at once; where one fails at it, the others once more. */
static yoke_status measure_together(calibration *c, double budget_s)
{
    int64_t units[CALIBRATE_MOST_DEVICES] = {0};
    int device = 0;
    while (c->num_devices > 1) {
        bool failed = false;
        yoke_status status = measure_apart(c, budget_s, units, &device);
        if (!status) status = measure_beside(c, units, &device);
        if (status) status = calibrate_fail(c, device, status, &failed);
        if (status || !failed) return status;
    }
    return YOKE_OK;
}

/* ---------------------------------------------------------------------------------------------------- all */

static yoke_status measure_device(calibration *c, calibrate_device *d, double budget_s)
{
    yoke_status status = set_clock(c, d, 0);
    if (!status) status = calibrate_sizes(c, d, budget_s);
    if (!status) status = measure_levels(c, d, budget_s);
    if (!status) status = measure_copies(c, d, budget_s);
    return status;
}

yoke_status calibrate_measure(calibration *c)
{
    yoke_status status = find_clocks(c);
    if (!status) status = calibrate_idle(c, NULL, 0, &c->idle);
    /* A third of the time for sizes, and some for clocks, copies and all together; the rest for powers, and for what is repeated. */
    double calls = CALIBRATE_MOST_SIZES + CALIBRATE_MOST_HELD_OUT + CALIBRATE_MOST_LEVELS + COPIES + 1;
    double budget_s = 0.5 * c->budget_s / calls / fmax(1, c->num_devices);
    for (int i = 0; i < c->num_devices && !status;) {
        bool failed = false;
        status = measure_device(c, &c->devices[i], budget_s);
        if (status) status = calibrate_fail(c, i, status, &failed);
        if (!failed) i++;
    }
    if (!status) status = measure_together(c, budget_s);
    for (int i = 0; i < c->num_devices; i++)
        for (int k = 0; k < c->devices[i].num_samples; k++) calibrate_add_energy(&c->devices[i], &c->devices[i].samples[k]);
    if (!status && c->num_devices == 0) status = yoke_fail(c->context, YOKE_ERROR_DEVICE, "%s", c->failure);
    return status;
}
