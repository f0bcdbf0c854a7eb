/* Simulated sensors by name. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/console/nearest.h"
#include "common/machine/simulated_sensor.h"

/*
 * Periods and windows are those published by Yang et al. for the driver's fields, and for C2075 those of the dissertation.  Delays and
 * noise are plausible values, not published ones.
 */
static const struct {
    const char *name;
    yoke_sensor sensor;
} sensors[] = {
    {"c2075", {YOKE_SENSOR_HALVES, 0.0200082, 0.006, 0.010, 1, 1e-3, NAN}},
    {"kepler", {YOKE_SENSOR_LOW_PASS, 0.020, 0.004, 0.5, 0.5, 1e-3, NAN}},
    {"maxwell", {YOKE_SENSOR_LOW_PASS, 0.020, 0.004, 0.3, 0.5, 1e-3, NAN}},
    {"pascal", {YOKE_SENSOR_MEAN, 0.0200041, 0.003, 0.010, 0.5, 1e-3, NAN}},
    {"volta", {YOKE_SENSOR_MEAN, 0.0199967, 0.002, 0.010, 0.5, 1e-3, NAN}},
    {"turing", {YOKE_SENSOR_MEAN, 0.100012, 0.002, 0.100, 0.5, 1e-3, NAN}},
    {"ga100", {YOKE_SENSOR_MEAN, 0.099991, 0.002, 0.025, 0.5, 1e-3, NAN}},
    {"ampere", {YOKE_SENSOR_MEAN, 0.100007, 0.002, 1.0, 0.3, 1e-2, NAN}},
    {"ampere-instant", {YOKE_SENSOR_MEAN, 0.100007, 0.002, 0.100, 0.5, 1e-2, NAN}},
    {"ada", {YOKE_SENSOR_MEAN, 0.100003, 0.002, 1.0, 0.3, 1e-2, NAN}},
    {"ada-instant", {YOKE_SENSOR_MEAN, 0.100003, 0.002, 0.100, 0.5, 1e-2, NAN}},
    {"hopper", {YOKE_SENSOR_MEAN, 0.100015, 0.002, 1.0, 0.3, 1e-3, NAN}},
    {"hopper-instant", {YOKE_SENSOR_MEAN, 0.100015, 0.002, 0.025, 0.5, 1e-3, NAN}},
};

enum { NUM_SENSORS = sizeof sensors / sizeof sensors[0] };

const char *const app_simulated_names[NUM_SENSORS + 1] = {"c2075",          "kepler", "maxwell",        "pascal", "volta",       "turing",
                                                          "ga100",          "ampere", "ampere-instant", "ada",    "ada-instant", "hopper",
                                                          "hopper-instant", NULL};

static yoke_status unknown_sensor(yoke_context *context, const char *name)
{
    char list[256] = "";
    for (int i = 0; i < NUM_SENSORS; i++) {
        if (i > 0) strcat(list, ", "); /* the list is large enough for all names and commas */
        strcat(list, sensors[i].name);
    }
    const char *nearest = app_nearest(name, NUM_SENSORS, app_simulated_names);
    return yoke_fail(context, YOKE_ERROR_INPUT, "unknown simulated sensor %s%s%s%s; there are: %s", name, nearest ? "; did you mean " : "",
                     nearest ? nearest : "", nearest ? "?" : "", list);
}

static yoke_status set_key(yoke_context *context, app_simulated_options *o, const char *key, const char *text)
{
    const struct {
        const char *name;
        double *value;
    } keys[] = {
        {"seconds", &o->seconds[0]},     {"watts", &o->watts[0]},       {"idle", &o->idle_w},
        {"noise", &o->sensor.noise_w},   {"bias", &o->bias_w},          {"gain", &o->gain},
        {"period", &o->sensor.period_s}, {"delay", &o->sensor.delay_s}, {"window", &o->sensor.window_s},
        {"ambient", &o->ambient_c},
    };
    char *end = NULL;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value))
        return yoke_fail(context, YOKE_ERROR_INPUT, "simulated sensor: %s=%s is no number", key, text);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(key, keys[i].name) == 0) {
            *keys[i].value = value;
            return YOKE_OK;
        }
    if (strcmp(key, "seed") == 0 && value >= 0 && value < 0x1p53) {
        o->seed = (uint64_t)value;
        return YOKE_OK;
    }
    if (strcmp(key, "blocking") == 0 && (value == 0 || value == 1)) {
        o->blocking = value == 1;
        return YOKE_OK;
    }
    return yoke_fail(
        context, YOKE_ERROR_INPUT,
        "simulated sensor: %s=%s is not understood; keys: seconds, watts, idle, noise, bias, gain, period, delay, window, ambient, "
        "seed, blocking (0 or 1)",
        key, text);
}

yoke_status app_simulated_preset(yoke_context *context, const char *text, app_simulated_options *options)
{
    char copy[512];
    if (strlen(text) >= sizeof copy) return yoke_fail(context, YOKE_ERROR_INPUT, "the text of the simulated sensor is too long");
    strcpy(copy, text);
    char *rest = strchr(copy, ',');
    if (rest) *rest++ = '\0';
    int found = 0;
    while (found < NUM_SENSORS && strcmp(sensors[found].name, copy) != 0) found++;
    if (found == NUM_SENSORS) return unknown_sensor(context, copy);
    app_simulated_options o = {.sensor = sensors[found].sensor,
                               .gain = 1,
                               .drift = 2e-5,
                               .jitter_s = 2e-6,
                               .read_s = 3e-5,
                               .idle_w = 70,
                               .num_segments = 1,
                               .seconds = {0.005},
                               .watts = {230},
                               .spread = 0.002,
                               .launch_s = 5e-6,
                               .ambient_c = 40,
                               .seed = 1};
    while (rest) {
        char *next = strchr(rest, ',');
        if (next) *next++ = '\0';
        char *value = strchr(rest, '=');
        if (value == NULL) return yoke_fail(context, YOKE_ERROR_INPUT, "simulated sensor: %s: expected KEY=VALUE", rest);
        *value++ = '\0';
        yoke_status status = set_key(context, &o, rest, value);
        if (status) return status;
        rest = next;
    }
    *options = o;
    return YOKE_OK;
}
