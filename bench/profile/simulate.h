/* simulate.h - power profiles on simulated sensors, compared with the true power. */
#ifndef BENCH_PROFILE_SIMULATE_H
#define BENCH_PROFILE_SIMULATE_H

#include <stdbool.h>

#include "common/machine/simulated_sensor.h"

typedef struct profile_case {
    const char *sensor; /* a name of app_simulated_preset */
    double seconds;     /* of the kernel, which needs 230 W in addition to 70 W of idle power */
    bool energy_only;   /* no profile is computed */
} profile_case;

typedef struct profile_trial {
    yoke_status status;
    double error;      /* relative error of the energy, compared with the mean value shown by the sensor */
    double half;       /* stated statistical uncertainty, relative */
    double true_error; /* compared with the true power: includes the sensor's gain and bias */
    double true_half;  /* stated uncertainty including that of the gain */
    double identify_s, device_s;
    int64_t burst, runs;
    bool profile;         /* whether there is a profile */
    double profile_error; /* root mean square over the middle of the run, relative to its power above idle; NaN: no profile */
    char text[256];       /* message of a failure */
} profile_trial;

/* Identifies the sensor and profiles; the trial records a failure of either.  Errors: MEMORY, INPUT. */
yoke_status profile_simulate(yoke_context *context, const profile_case *simulation, uint64_t seed, profile_trial *trial);
/*
 * Identifies the sensor with a kernel of constant power, as is required; *seconds: of virtual device time.  Errors: those of
 * identification.
 */
yoke_status profile_identify(yoke_context *context, const app_simulated_options *options, yoke_sensor *sensor, double *seconds);
/* Like profile_simulate, with any options. */
yoke_status profile_simulate_options(yoke_context *context, const app_simulated_options *options, const yoke_profile_options *wanted,
                                     profile_trial *trial);

#endif
