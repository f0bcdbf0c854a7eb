/*
 * simulated_sensor.h - a power sensor and a device that runs kernels, on a virtual clock and with known true values: to test power
 * profiles, and to try them without hardware.
 */
#ifndef APP_SIMULATED_SENSOR_H
#define APP_SIMULATED_SENSOR_H

#include <stdbool.h>

#include "yoke/yoke.h"

enum { SIMULATED_SEGMENTS = 8 };

typedef struct app_simulated_options {
    yoke_sensor sensor;  /* the true sensor; gain_error is not used */
    double gain, bias_w; /* shown = gain x power + bias */
    double drift;        /* relative slow change of the period, up and down */
    double jitter_s;     /* standard deviation of each period */
    double read_s;       /* duration of a reading */
    double idle_w;       /* of the device */
    int num_segments;    /* the kernel: power above idle in segments of time */
    double seconds[SIMULATED_SEGMENTS], watts[SIMULATED_SEGMENTS];
    double spread;    /* relative standard deviation of a run's duration */
    double launch_s;  /* from the launch to the start of a run */
    bool blocking;    /* launch returns at the end of the run */
    double ambient_c; /* temperature of the idle device; runs heat it by kelvin_per_w over 20 s; NaN: there is no temperature sensor */
    uint64_t seed;
} app_simulated_options;

/* Names of the sensors that app_simulated_preset knows; NULL ends the list. */
extern const char *const app_simulated_names[];
/*
 * Options from a text "NAME[,KEY=VALUE]...": sensors of the generations of GPUs as published (docs/methods/profile.md) with a kernel of 5
 * ms and 230 W above 70 W; keys: seconds, watts (of the kernel above idle), idle, noise, bias, gain, period, delay, window, seed,
 * blocking (0 or 1).
 * Errors: INPUT (the text lists the names).
 */
yoke_status app_simulated_preset(yoke_context *context, const char *text, app_simulated_options *options);

typedef struct app_simulated app_simulated;
/* options are copied.  Errors: INPUT (a number out of its range), MEMORY. */
yoke_status app_simulated_create(yoke_context *context, const app_simulated_options *options, app_simulated **simulated);
void app_simulated_destroy(app_simulated *simulated);
/* Borrows the simulation. */
yoke_profile_subject app_simulated_subject(app_simulated *simulated);
double app_simulated_clock_s(const app_simulated *simulated);
/*
 * The mean energy of one run, as it is timed from outside: all energy, and the part above idle.  as_shown: true: as the sensor shows it;
 * false: the true energy.
 */
double app_simulated_energy_j(const app_simulated *simulated, bool as_shown);
double app_simulated_dynamic_j(const app_simulated *simulated, bool as_shown);
/* The value of an update at update_s without noise and steps, for the runs so far. */
double app_simulated_shown_w(app_simulated *simulated, double update_s);

#endif
