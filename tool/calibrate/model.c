/* What `yoke plan` wants to know. */
#include <math.h>
#include <string.h>

#include "calibrate/calibrate.h"

enum { LEVELS = 128, KNOTS = CALIBRATE_MOST_SAMPLES };

/* Points that lines between their neighbours tell so well are left out. */
static const double superfluous = 0.002;

typedef struct plan_memory { /* of one device */
    yoke_plan_level levels[LEVELS];
    double points[LEVELS][2 * KNOTS];
} plan_memory;

/* Whether its meters are those of a device before it: parts of the cores have one package.  Their idle power counts once. */
static bool shares_meters(const calibration *c, int device)
{
    for (int i = 0; i < device; i++)
        if (c->devices[i].host && c->devices[device].host && strcmp(c->devices[device].info->kind, "sim") != 0) return true;
    return false;
}

/* Idle power at a clock, linear between those at which it was measured. */
static double idle_at(const calibrate_device *d, double hz)
{
    for (int i = 1; i < d->num_levels && !isnan(hz); i++) {
        const calibrate_level *low = &d->levels[i - 1], *high = &d->levels[i];
        if (hz <= high->hz)
            return low->idle.value_w + (high->idle.value_w - low->idle.value_w) * fmax(0, hz - low->hz) / (high->hz - low->hz);
    }
    return d->levels[d->num_levels - 1].idle.value_w;
}

/* Whether all points between two lie on the line of speed between these. */
static bool is_straight(const double *points, int first, int last)
{
    const double *a = &points[2 * first], *b = &points[2 * last];
    for (int k = first + 1; k < last; k++) {
        const double *p = &points[2 * k];
        double part = (p[0] - a[0]) / (b[0] - a[0]), speed = (1 - part) * a[0] / a[1] + part * b[0] / b[1];
        if (fabs(speed * p[1] / p[0] - 1) > superfluous) return false;
    }
    return true;
}

static int thin_out(const double *all, int count, double *points)
{
    int kept = 0, last = 0;
    for (int k = 0; k < count; k++) {
        if (k > 0 && k + 1 < count && is_straight(all, last, k + 1)) continue;
        memcpy(&points[2 * kept++], &all[2 * k], 2 * sizeof *points);
        last = k;
    }
    return kept;
}

/* The curve at the sizes that were measured. */
static yoke_status fill_points(const calibrate_device *d, double hz, int together, yoke_plan_level *level, double *points)
{
    double all[2 * KNOTS], before = 0;
    int knots = 0;
    for (int k = 0; k < d->num_samples; k++) {
        yoke_prediction at;
        double units = d->samples[k].units;
        if (units <= before) continue;
        before = units;
        yoke_status status = yoke_model_predict(d->model, units, hz, together, &at);
        if (status) return status;
        all[2 * knots] = units;
        all[2 * knots++ + 1] = at.seconds;
    }
    level->points = points;
    level->num_points = thin_out(all, knots, points);
    return YOKE_OK;
}

static yoke_status fill_level(const calibrate_device *d, double hz, int together, yoke_plan_level *level, double *points)
{
    const yoke_model info = *d->model;
    yoke_prediction at, top;
    yoke_status status = yoke_model_predict(d->model, (double)d->most_units, hz, together, &at);
    if (!status) status = yoke_model_predict(d->model, (double)d->most_units, NAN, 0, &top);
    if (status) return status;
    double power_relative = at.joules_uncertainty / at.joules, time_relative = at.seconds_uncertainty / at.seconds;
    *level = (yoke_plan_level){.frequency_hz = hz,
                               .seconds_per_unit = info.seconds_per_unit * at.seconds / top.seconds,
                               .start_seconds = info.start_s * at.seconds / top.seconds,
                               .dynamic_power_w = at.joules / at.seconds,
                               .idle_power_w = idle_at(d, hz),
                               .time_uncertainty = isfinite(time_relative) ? time_relative : 0,
                               .power_uncertainty = isfinite(power_relative) ? power_relative : 0};
    bool line = info.kind == YOKE_MODEL_CONSTANT || (info.kind == YOKE_MODEL_AFFINE && info.start_s >= 0 && !(info.from_units > 1));
    if (line && level->seconds_per_unit > 0) return YOKE_OK;
    level->seconds_per_unit = NAN;
    level->start_seconds = 0;
    return fill_points(d, hz, together, level, points);
}

static yoke_status fill_device(const calibration *c, const calibrate_device *d, plan_memory *memory, yoke_plan_device *device)
{
    yoke_status status = YOKE_OK;
    int64_t count = d->num_levels == 1 ? 1 : d->clock.num_levels > LEVELS ? LEVELS : d->clock.num_levels, all = 0, unused;
    if (count == 0) count = d->num_levels;
    for (int64_t i = 0; i < count && !status; i++)
        status = fill_level(d, d->num_levels > 1 && d->clock.num_levels > 0 ? d->clock.levels_hz[i] : d->levels[i].hz, c->num_devices > 1,
                            &memory->levels[i], memory->points[i]);
    if (!status) status = yoke_device_memory(d->device, &unused, &all);
    double bytes = (double)d->unit_bytes, per_byte = isnan(d->copy_seconds_per_byte) ? 0 : d->copy_seconds_per_byte;
    *device = (yoke_plan_device){.name = d->info->name,
                                 .host = d->host,
                                 .num_levels = count,
                                 .levels = memory->levels,
                                 .copy_seconds = isnan(d->copy_start_s) ? 0 : d->copy_start_s,
                                 .copy_seconds_per_unit = per_byte * bytes,
                                 .copy_joules_per_unit = isnan(d->copy_power_w) ? 0 : d->copy_power_w * per_byte * bytes,
                                 .max_units = all / d->unit_bytes};
    if (device->max_units < 1) device->max_units = INT64_MAX;
    return status;
}

/* What the host draws more while an accelerator works: the largest of all; NaN where nothing is metered. */
static double hosting_w(const calibration *c)
{
    double most = 0;
    if (isnan(c->idle.value_w)) return NAN;
    for (int i = 0; i < c->num_devices; i++) {
        const calibrate_device *d = &c->devices[i];
        double more = d->host ? 0 : calibrate_rest(&d->levels[d->num_levels - 1]).value_w;
        most = fmax(most, more);
    }
    return most;
}

yoke_status calibrate_write_model(calibration *c, const char *path)
{
    yoke_plan_device devices[CALIBRATE_MOST_DEVICES];
    plan_memory *memory = NULL;
    double units = 0, of_devices_w = 0, interval_w = c->idle.interval_w;
    yoke_status status = yoke_allocate(c->context, c->num_devices, sizeof *memory, &memory);
    for (int i = 0; i < c->num_devices && !status; i++) {
        const calibrate_device *d = &c->devices[i];
        yoke_prediction most;
        status = fill_device(c, d, &memory[i], &devices[i]);
        bool counted = shares_meters(c, i);
        if (!status) status = yoke_model_predict(d->model, (double)d->most_units, NAN, 0, &most);
        if (!status) units += (double)d->most_units / most.seconds;
        for (int64_t l = 0; counted && !status && l < devices[i].num_levels; l++) memory[i].levels[l].idle_power_w *= 0; /* NaN stays NaN */
        if (counted) continue;
        of_devices_w += d->levels[d->num_levels - 1].idle.value_w;
        interval_w += d->levels[d->num_levels - 1].idle.interval_w;
    }
    double base_w = c->idle.value_w - of_devices_w; /* of all that is metered what belongs to no device; NaN where something is not known */
    if (base_w <= fmax(interval_w, 1e-6 * c->idle.value_w)) base_w = 0;
    yoke_plan_problem problem = {.units = (int64_t)fmin(1e15, fmax(1, round(units))),
                                 .repetitions = 1,
                                 .base_power_w = base_w,
                                 .hosting_power_w = hosting_w(c),
                                 .num_devices = c->num_devices,
                                 .devices = devices};
    if (!status) status = yoke_plan_problem_write(c->context, path, &problem);
    if (!status) app_print(c->terminal, "model for `yoke plan` in %s\n", path);
    yoke_release(c->context, memory);
    return status;
}
