/* At which sizes a device is measured: more of them where its speed changes in a way that those beside them do not tell. */
#include <math.h>
#include <string.h>

#include "calibrate/calibrate.h"
#include "common/interrupt.h"

/* FIRST: evenly in the logarithm.  EVENLY: of the sizes that are held out. */
enum { FIRST = 9, EVENLY = 4 };

/* Between two sizes the answer is known if two ways to draw the line agree so well; sizes nearer to each other than NEAR are one. */
static const double known = 0.02, near_ratio = 1.08;

/* How long the longest call is to be, and at least. */
static const double call_s = 0.05, least_s = 1e-6;

typedef struct call {
    calibration *calibration;
    calibrate_device *device;
    int64_t units;
} call;

static yoke_status measured_call(void *user, double *seconds, double *joules)
{
    call *one = user;
    *joules = NAN;
    yoke_status status = app_interrupt_check(one->calibration->context);
    return status ? status : calibrate_call(one->device, one->units, seconds);
}

yoke_status calibrate_sample(calibration *c, calibrate_device *d, int level, int64_t units, double budget_s, yoke_sample *result)
{
    call one = {c, d, units};
    double warm_s;
    const yoke_measure_options options = {.budget_s = budget_s, .relative = 0.01};
    app_progress(c->terminal, "%s: %lld units", d->info->name, (long long)units);
    *result = (yoke_sample){.units = (double)units, .frequency_hz = d->levels[level].hz};
    yoke_status status = calibrate_call(d, units, &warm_s); /* code and data are there, clocks have risen */
    return status ? status : yoke_measure(c->context, measured_call, &one, &options, result);
}

void calibrate_insert(calibrate_device *d, const yoke_sample *one)
{
    int at = d->num_samples;
    if (at == CALIBRATE_MOST_SAMPLES) return;
    while (at > 0 && d->samples[at - 1].units > one->units) at--;
    memmove(&d->samples[at + 1], &d->samples[at], (size_t)(d->num_samples++ - at) * sizeof *one);
    d->samples[at] = *one;
}

/* The shortest of three calls: the first one may load, and others may be disturbed. */
static yoke_status shortest_call(calibration *c, calibrate_device *d, int64_t units, double *seconds)
{
    *seconds = INFINITY;
    for (int i = 0; i < 3; i++) {
        double one_s;
        yoke_status status = calibrate_call(d, units, &one_s);
        if (!status) status = app_interrupt_check(c->context);
        if (status) return status;
        *seconds = fmin(*seconds, one_s);
    }
    return YOKE_OK;
}

/* How many units a call of about 50 ms has, or what fits. */
static yoke_status find_most(calibration *c, calibrate_device *d)
{
    int64_t units = 1;
    double seconds = 0;
    while (units < d->most_units) {
        yoke_status status = shortest_call(c, d, units, &seconds);
        if (status) return status;
        if (seconds >= 0.5 * call_s) break;
        units = seconds < 0.02 * call_s ? 8 * units : 2 * units;
    }
    if (units < d->most_units) d->most_units = units;
    if (seconds >= least_s || d->most_units == 1) return YOKE_OK;
    return yoke_fail(c->context, YOKE_ERROR_NUMERIC, "%s: %lld units take %g s, which is too short to be measured", d->info->name,
                     (long long)d->most_units, seconds);
}

/*
 * How far two ways to go on between neighbouring sizes are apart at their geometric mean: speed linear (a cache that is left behind), or time linear (a
 * start cost); less what their noise explains.
 */
static double doubt(const yoke_sample *a, const yoke_sample *b)
{
    if (b->units < near_ratio * a->units || b->units < a->units + 2) return -1;
    double middle = sqrt(a->units * b->units), part = (middle - a->units) / (b->units - a->units);
    double by_speed = middle / ((1 - part) * a->units / a->seconds + part * b->units / b->seconds);
    double by_time = (1 - part) * a->seconds + part * b->seconds;
    double noise = hypot(a->seconds_interval / a->seconds, b->seconds_interval / b->seconds);
    return fabs(log(by_speed / by_time)) - (isnan(noise) ? 0 : noise);
}

static yoke_status add_size(calibration *c, calibrate_device *d, double units, double budget_s)
{
    yoke_sample one;
    yoke_status status = calibrate_sample(c, d, d->num_levels - 1, (int64_t)llround(units), budget_s, &one);
    if (!status) calibrate_insert(d, &one);
    return status;
}

/* First evenly, then where there is most doubt, for as long as there is any. */
static yoke_status find_sizes(calibration *c, calibrate_device *d, double budget_s)
{
    yoke_status status = YOKE_OK;
    double before = 0;
    for (int i = 0; i < FIRST && !status; i++) {
        double units = round(pow((double)d->most_units, (double)i / (FIRST - 1)));
        if (units > before) status = add_size(c, d, units, budget_s);
        before = units;
    }
    while (!status && d->num_samples < CALIBRATE_MOST_SIZES) {
        int widest = 0;
        for (int i = 1; i + 1 < d->num_samples; i++)
            if (doubt(&d->samples[i], &d->samples[i + 1]) > doubt(&d->samples[widest], &d->samples[widest + 1])) widest = i;
        const yoke_sample *a = &d->samples[widest], *b = a + 1;
        if (d->num_samples < 2 || doubt(a, b) <= known) break;
        status = add_size(c, d, sqrt(a->units * b->units), budget_s);
    }
    return status;
}

/* The interval between samples where something is largest, of those that were not taken yet; -1: none is wide enough. */
static int largest(const calibrate_device *d, const bool *taken, double (*of)(const yoke_sample *, const yoke_sample *))
{
    int found = -1;
    for (int i = 0; i + 1 < d->num_samples; i++) {
        const yoke_sample *a = &d->samples[i];
        if (taken[i] || doubt(a, a + 1) <= -1) continue;
        if (found < 0 || of(a, a + 1) > of(&d->samples[found], &d->samples[found + 1])) found = i;
    }
    return found;
}

static double fall_of_speed(const yoke_sample *a, const yoke_sample *b) { return log(a->units / a->seconds * b->seconds / b->units); }

/* Between sizes of the model: where the speed falls most (twice), where there is most doubt, and evenly. */
static yoke_status hold_out(calibration *c, calibrate_device *d, double budget_s)
{
    bool taken[CALIBRATE_MOST_SAMPLES] = {false};
    int places[3 + EVENLY];
    yoke_status status = YOKE_OK;
    for (int i = 0; i < 3 + EVENLY && !status; i++) {
        places[i] = i < 3 ? largest(d, taken, i < 2 ? fall_of_speed : doubt) : (d->num_samples - 1) * (2 * (i - 3) + 1) / (2 * EVENLY);
        if (places[i] < 0 || places[i] + 1 >= d->num_samples || taken[places[i]]) continue;
        taken[places[i]] = true;
        double a = d->samples[places[i]].units, b = d->samples[places[i] + 1].units, units = round(sqrt(a * b));
        if (!(units > a && units < b)) continue;
        status = calibrate_sample(c, d, d->num_levels - 1, (int64_t)units, budget_s, &d->held_out[d->num_held_out]);
        if (!status) d->num_held_out++;
    }
    return status;
}

yoke_status calibrate_sizes(calibration *c, calibrate_device *d, double budget_s)
{
    app_progress(c->terminal, "%s: how much it does in %g ms", d->info->name, 1e3 * call_s);
    yoke_status status = find_most(c, d);
    if (!status) status = find_sizes(c, d, budget_s);
    return status ? status : hold_out(c, d, budget_s);
}
