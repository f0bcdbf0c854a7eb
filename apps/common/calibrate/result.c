/* Output of a calibration: table, record and model file. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/calibrate/private.h"
#include "common/console/numbers.h"
#include "common/files/record.h"

static const double calls_of_model = 20;

static const char *kind_text(yoke_model_kind kind)
{
    static const char *const texts[] = {"auto", "constant", "affine", "piecewise", "akima"};
    return texts[kind];
}

/* Units per second at the largest size. */
static double speed(const calibration *c, int64_t device)
{
    yoke_prediction most;
    const double units = (double)c->found[device].max_units;
    return yoke_run_predict(c->run, c->trial.work, device, units, NAN, 0, &most) ? (double)NAN : units / most.seconds;
}

static void say_powers(const calibration *c, const yoke_run_device *d, const yoke_run_level *top)
{
    if (isnan(top->busy.value_w)) return;
    app_print(c->terminal, "                 %.4g +- %.2g W idle, %.4g +- %.2g W at work (%s)\n", top->idle.value_w, top->idle.interval_w,
              top->busy.value_w, top->busy.interval_w, yoke_energy_kind_text(top->busy.kind));
    if (top->others_more.value_w > 0)
        app_print(c->terminal, "                 %.4g +- %.2g W more %s while it works\n", top->others_more.value_w,
                  top->others_more.interval_w, d->accelerator ? "of its host" : "of other meters");
}

static void warn(const calibration *c, const char *name, const yoke_run_accuracy *found)
{
    if (found->contention > 1.1)
        yoke_log(c->context, YOKE_LOG_WARNING, "%s: faster beside the other devices than alone: the machine was busy with something else",
                 name);
    if (found->disturbed > 0)
        yoke_log(
            c->context, YOKE_LOG_WARNING,
            "%s: other programs had a core for up to %.0f %% of the time of its trials, which are too long by that: measure again while "
            "the cores are free",
            name, 100 * found->disturbed);
    if (found->median_error > 0.1)
        yoke_log(c->context, YOKE_LOG_WARNING,
                 "%s: sizes held out are %.0f %% off: the machine was busy with something else, or calls are too short to be measured",
                 name, 100 * found->median_error);
}

static void say_device(const calibration *c, int64_t device)
{
    const yoke_run_device *d = &c->devices[device];
    const yoke_run_accuracy *found = &c->found[device];
    const yoke_run_level *levels = found->levels;
    app_print(c->terminal, "%-16s %10.4g units/s, model %s of %lld samples; %lld held out: median error %.1f %%, largest %.1f %%\n",
              d->info->name, speed(c, device), kind_text(found->kind), (long long)found->num_samples, (long long)found->num_held_out,
              100 * found->median_error, 100 * found->max_error);
    say_powers(c, d, &levels[found->num_levels - 1]);
    if (!isnan(found->copy_seconds_per_byte))
        app_print(c->terminal, "                 copies %.4g GB/s after %.3g us\n", 1e-9 / found->copy_seconds_per_byte,
                  1e6 * found->copy_start_s);
    if (!isnan(found->contention))
        app_print(c->terminal, "                 %.1f %% of its speed while the others work\n", 100 * found->contention);
    if (found->num_levels > 1)
        app_print(c->terminal, "                 frequencies %.4g to %.4g GHz measured at %lld levels\n", 1e-9 * levels[0].frequency_hz,
                  1e-9 * levels[found->num_levels - 1].frequency_hz, (long long)found->num_levels);
    warn(c, d->info->name, found);
}

/* Reports the power that opened devices need while idle: the context of a GPU keeps its frequency high. */
static void say_idle(const calibration *c)
{
    const yoke_run_watts *before = &c->found[0].all_idle_before, *after = &c->found[0].all_idle;
    if (fabs(after->value_w - before->value_w) > before->interval_w + after->interval_w + 1e-6 * after->value_w)
        app_print(c->terminal, "idle %.4g +- %.2g W before devices were opened, %.4g +- %.2g W after it\n", before->value_w,
                  before->interval_w, after->value_w, after->interval_w);
}

void app_calibrate_say(const calibration *c)
{
    for (int64_t i = 0; i < c->num_devices; i++)
        if (c->devices[i].active) say_device(c, i);
    say_idle(c);
}

yoke_status app_calibrate_write_model(calibration *c, const char *path)
{
    double units = 0;
    for (int64_t i = 0; i < c->num_devices; i++)
        if (c->devices[i].active) units += calls_of_model * c->trial.longest_call_s * speed(c, i);
    const int64_t n = c->trial.whole_units > 0 ? c->trial.whole_units : (int64_t)fmin(1e15, fmax(1, round(units)));
    const yoke_phase phase = {.work = c->trial.work, .calls = 1, .units = n, .barrier = 1};
    const yoke_round round = {.num_cuts = 1,
                              .cut_units = &n,
                              .num_phases = 1,
                              .phases = &phase,
                              .copy_bytes_per_unit = c->trial.copy_bytes_per_unit,
                              .memory_bytes_per_unit = c->trial.memory_bytes_per_unit};
    yoke_status status = yoke_run_write_model(c->run, &round, path);
    if (!status) app_print(c->terminal, "model for `yoke plan` in %s\n", path);
    return status;
}

/* ---------------------------------------------------------------------------------------------- the record */

static json_t *power_json(const yoke_run_watts *power)
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

static json_t *held_out_json(const yoke_run_held_out *one)
{
    json_t *object = sample_json(&one->sample);
    if (object && (json_object_set_new(object, "predicted_s", app_json_number(one->predicted_s)) ||
                   json_object_set_new(object, "predicted_interval_s", app_json_number(one->predicted_interval_s)))) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *level_json(const yoke_run_level *level)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "frequency_hz", app_json_number(level->frequency_hz), "idle", power_json(&level->idle), "busy",
                     power_json(&level->busy), "others_more", power_json(&level->others_more));
}

static json_t *device_json(const char *name, const yoke_run_accuracy *found)
{
    json_t *levels = json_array(), *samples = json_array(), *held_out = json_array();
    for (int64_t i = 0; i < found->num_levels; i++) levels = app_json_append(levels, level_json(&found->levels[i]));
    for (int64_t i = 0; i < found->num_samples; i++) samples = app_json_append(samples, sample_json(&found->samples[i]));
    for (int64_t i = 0; i < found->num_held_out; i++) held_out = app_json_append(held_out, held_out_json(&found->held_out[i]));
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "device", name, "model", kind_text(found->kind),
                     "contention", app_json_number(found->contention), "held_out_error", app_json_number(found->median_error),
                     "held_out_worst", app_json_number(found->max_error), "held_out_coverage", app_json_number(found->coverage),
                     "disturbed", app_json_number(found->disturbed), "copy_power_w", app_json_number(found->copy_power_w), "copy_start_s",
                     app_json_number(found->copy_start_s), "copy_seconds_per_byte", app_json_number(found->copy_seconds_per_byte), "levels",
                     levels, "samples", samples, "held_out", held_out);
}

static json_t *devices_json(const calibration *c)
{
    json_t *devices = json_array();
    for (int64_t i = 0; i < c->num_devices; i++)
        if (c->devices[i].active) devices = app_json_append(devices, device_json(c->devices[i].info->name, &c->found[i]));
    return devices;
}

yoke_status app_calibrate_write_record(const calibration *c, int argc, char **argv, const char *path)
{
    json_t *record = NULL;
    yoke_status status = app_record_create(c->context, "yoke calibrate", argc, argv, &record);
    if (!status) status = app_record_set(c->context, record, "kernel", json_string(c->kernel->name));
    if (!status) status = app_record_set(c->context, record, "work", json_string(c->trial.work));
    if (!status) status = app_record_set(c->context, record, "difference", app_json_number(c->trial.difference));
    if (!status) status = app_record_set(c->context, record, "seconds", app_json_number(yoke_clock_s() - c->begin_s));
    if (!status) status = app_record_set(c->context, record, "idle_before_opening", power_json(&c->found[0].all_idle_before));
    if (!status) status = app_record_set(c->context, record, "idle", power_json(&c->found[0].all_idle));
    if (!status) status = app_record_set(c->context, record, "devices", devices_json(c));
    if (!status) status = app_record_write(c->context, record, path);
    json_decref(record);
    return status;
}
