/* Models of what was measured, and the files that keep it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/calibrate.h"
#include "common/numbers.h"
#include "common/record.h"

/* Median and largest error on what was held out. */
static yoke_status validate(const calibrate_device *d, const yoke_model *model, double *median, double *worst)
{
    double errors[CALIBRATE_MOST_HELD_OUT];
    *median = *worst = NAN;
    for (int i = 0; i < d->num_held_out; i++) {
        yoke_prediction prediction;
        yoke_status status = yoke_model_predict(model, d->held_out[i].units, d->held_out[i].frequency_hz, 0, &prediction);
        if (status) return status;
        errors[i] = fabs(prediction.seconds / d->held_out[i].seconds - 1);
    }
    app_sort(errors, d->num_held_out);
    if (d->num_held_out > 0) *median = errors[d->num_held_out / 2];
    if (d->num_held_out > 0) *worst = errors[d->num_held_out - 1];
    return YOKE_OK;
}

/* Where the kind that the samples suggest is far off at a size that was held out, and lines between samples are less so: these. */
static yoke_status fit(calibration *c, calibrate_device *d)
{
    static const double far_off = 0.05;
    yoke_model *lines = NULL;
    double error, worst;
    yoke_status status = yoke_model_fit(c->context, YOKE_MODEL_AUTO, d->samples, d->num_samples, &d->model);
    if (!status) status = validate(d, d->model, &d->error, &d->worst);
    if (status || !(d->worst > far_off)) return status;
    status = yoke_model_fit(c->context, YOKE_MODEL_PIECEWISE, d->samples, d->num_samples, &lines);
    if (status == YOKE_ERROR_INPUT) return YOKE_OK; /* too few sizes */
    if (!status) status = validate(d, lines, &error, &worst);
    if (!status && error <= fmax(d->error, 0.02) && worst < d->worst) {
        yoke_model *other = d->model;
        d->model = lines;
        lines = other;
        d->error = error;
        d->worst = worst;
    }
    yoke_release(c->context, lines);
    return status;
}

const char *calibrate_kind_text(yoke_model_kind kind)
{
    static const char *const texts[] = {"auto", "constant", "affine", "piecewise", "akima"};
    return texts[kind];
}

static void say_powers(calibration *c, const calibrate_device *d)
{
    const calibrate_level *top = &d->levels[d->num_levels - 1];
    calibrate_power more = calibrate_rest(top);
    if (isnan(top->busy.value_w)) return;
    app_print(c->terminal, "                 %.4g +- %.2g W idle, %.4g +- %.2g W at work (%s)\n", top->idle.value_w, top->idle.interval_w,
              top->busy.value_w, top->busy.interval_w, yoke_energy_kind_text(top->busy.kind));
    if (more.value_w > 0)
        app_print(c->terminal, "                 %.4g +- %.2g W more %s while it works\n", more.value_w, more.interval_w,
                  d->host ? "of other meters" : "of its host");
}

static void say(calibration *c, const calibrate_device *d)
{
    const yoke_model info = *d->model;
    yoke_prediction most;
    if (yoke_model_predict(d->model, (double)d->most_units, NAN, 0, &most)) return;
    app_print(c->terminal, "%-16s %10.4g units/s, model %s of %lld samples; %d held out: median error %.1f %%, largest %.1f %%\n",
              d->info->name, (double)d->most_units / most.seconds, calibrate_kind_text(info.kind), (long long)info.num_samples,
              d->num_held_out, 100 * d->error, 100 * d->worst);
    say_powers(c, d);
    if (!isnan(d->copy_seconds_per_byte))
        app_print(c->terminal, "                 copies %.4g GB/s after %.3g us\n", 1e-9 / d->copy_seconds_per_byte, 1e6 * d->copy_start_s);
    if (!isnan(info.contention))
        app_print(c->terminal, "                 %.1f %% of its speed while the others work\n", 100 * info.contention);
    if (d->num_levels > 1)
        app_print(c->terminal, "                 clocks %.4g to %.4g GHz measured at %d levels\n", 1e-9 * d->levels[0].hz,
                  1e-9 * d->levels[d->num_levels - 1].hz, d->num_levels);
    if (info.contention > 1.1)
        yoke_log(c->context, YOKE_LOG_WARNING, "%s: faster beside the other devices than alone: the machine was busy with something else",
                 d->info->name);
    if (d->error > 0.1)
        yoke_log(c->context, YOKE_LOG_WARNING,
                 "%s: sizes held out are %.0f %% off: the machine was busy with something else, or calls are too short to be measured",
                 d->info->name, 100 * d->error);
}

/* What opening devices costs while they rest: the context of a GPU keeps its clocks up. */
static void say_idle(calibration *c)
{
    const calibrate_power *before = &c->idle_before, *after = &c->idle;
    if (fabs(after->value_w - before->value_w) > before->interval_w + after->interval_w)
        app_print(c->terminal, "idle %.4g +- %.2g W before devices were opened, %.4g +- %.2g W after it\n", before->value_w,
                  before->interval_w, after->value_w, after->interval_w);
}

yoke_status calibrate_fit(calibration *c)
{
    yoke_status status = YOKE_OK;
    for (int i = 0; i < c->num_devices && !status; i++) {
        status = fit(c, &c->devices[i]);
        if (!status) say(c, &c->devices[i]);
    }
    if (!status) say_idle(c);
    return status;
}

yoke_status calibrate_store_check(calibration *c, const char *path)
{
    yoke_store *store = NULL;
    const char *declined = NULL;
    yoke_status status = yoke_store_open(c->context, path, NULL, &store, &declined);
    if (!status && declined) yoke_log(c->context, YOKE_LOG_WARNING, "%s", declined);
    yoke_store_close(store);
    return status;
}

yoke_status calibrate_store(calibration *c, const char *path)
{
    yoke_store *store = NULL;
    yoke_status status = yoke_store_open(c->context, path, NULL, &store, NULL); /* again: others may have written to it */
    for (int i = 0; i < c->num_devices && !status; i++) {
        const calibrate_device *d = &c->devices[i];
        const calibrate_level *top = &d->levels[d->num_levels - 1];
        char hash[17];
        calibrate_hash(d, hash);
        const yoke_store_entry entry = {.work = c->kernel,
                                        .device = d->info->name,
                                        .description = d->info->description,
                                        .kernel = hash,
                                        .num_samples = d->num_samples,
                                        .samples = d->samples,
                                        .idle_power_w = top->idle.value_w,
                                        .idle_power_interval_w = top->idle.interval_w,
                                        .busy_power_w = top->busy.value_w,
                                        .busy_power_interval_w = top->busy.interval_w,
                                        .copy_start_s = d->copy_start_s,
                                        .copy_seconds_per_byte = d->copy_seconds_per_byte,
                                        .power_kind = top->busy.kind};
        status = yoke_store_put(store, &entry);
    }
    if (!status) status = yoke_store_write(store);
    if (!status) app_print(c->terminal, "kept in %s\n", yoke_store_path(store));
    yoke_store_close(store);
    return status;
}

/* ---------------------------------------------------------------------------------------------- the record */

static json_t *power_json(const calibrate_power *power)
{
    return json_pack("{s:o, s:o, s:s}", "value_w", app_json_number(power->value_w), "interval_w", app_json_number(power->interval_w),
                     "kind", yoke_energy_kind_text(power->kind));
}

static json_t *sample_json(const yoke_sample *one)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:b}", "units", app_json_number(one->units), "frequency_hz",
                     app_json_number(one->frequency_hz), "seconds", app_json_number(one->seconds), "seconds_interval",
                     app_json_number(one->seconds_interval), "joules", app_json_number(one->joules), "repeats", (json_int_t)one->repeats,
                     "rejected", (json_int_t)one->rejected, "together", one->together);
}

static json_t *level_json(const calibrate_level *level)
{
    calibrate_power more = calibrate_rest(level);
    return json_pack("{s:o, s:o, s:o, s:o}", "frequency_hz", app_json_number(level->hz), "idle", power_json(&level->idle), "busy",
                     power_json(&level->busy), "others_more", power_json(&more));
}

static json_t *device_json(const calibrate_device *d)
{
    const yoke_model info = *d->model;
    json_t *levels = json_array(), *samples = json_array(), *held_out = json_array();
    for (int i = 0; i < d->num_levels; i++) levels = app_json_append(levels, level_json(&d->levels[i]));
    for (int i = 0; i < d->num_samples; i++) samples = app_json_append(samples, sample_json(&d->samples[i]));
    for (int i = 0; i < d->num_held_out; i++) held_out = app_json_append(held_out, sample_json(&d->held_out[i]));
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "device", d->info->name, "model",
                     calibrate_kind_text(info.kind), "contention", app_json_number(info.contention), "held_out_error",
                     app_json_number(d->error), "held_out_worst", app_json_number(d->worst), "copy_power_w",
                     app_json_number(d->copy_power_w), "copy_start_s", app_json_number(d->copy_start_s), "copy_seconds_per_byte",
                     app_json_number(d->copy_seconds_per_byte), "levels", levels, "samples", samples, "held_out", held_out);
}

static json_t *devices_json(const calibration *c)
{
    json_t *devices = json_array();
    for (int i = 0; i < c->num_devices; i++) devices = app_json_append(devices, device_json(&c->devices[i]));
    return devices;
}

yoke_status calibrate_write_record(calibration *c, int argc, char **argv, const char *path)
{
    json_t *record = NULL;
    yoke_status status = app_record_create(c->context, "yoke calibrate", argc, argv, &record);
    if (!status) status = app_record_set(c->context, record, "kernel", json_string(c->kernel));
    if (!status) status = app_record_set(c->context, record, "seconds", app_json_number(yoke_clock_s() - c->begin_s));
    if (!status) status = app_record_set(c->context, record, "idle_before_opening", power_json(&c->idle_before));
    if (!status) status = app_record_set(c->context, record, "idle", power_json(&c->idle));
    if (!status) status = app_record_set(c->context, record, "devices", devices_json(c));
    if (!status) status = app_record_write(c->context, record, path);
    json_decref(record);
    return status;
}
