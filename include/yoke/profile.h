/*
 * profile.h - energy and power over time of kernels that are shorter than the sensor's period.  Part of yoke.h.
 */
#ifndef YOKE_PROFILE_H
#define YOKE_PROFILE_H

#include "yoke/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Energy and power over time of a kernel that is much shorter than the period of the power sensor, from many runs at different phases of the
 * sensor's updates (Lang 2014, dissertation, ch. 5; docs/methods/profile.md).  First the sensor is identified, then the kernel is profiled,
 * in runs that are made for it.  What the kernels of an application take in the calls that it makes anyway: yoke_run_profile (yoke/run.h).
 */

/* How a sensor follows power that steps from 0 to 1, `delay_s` later. */
typedef enum yoke_sensor_shape {
    YOKE_SENSOR_MEAN,    /* it shows the mean of the last window_s */
    YOKE_SENSOR_HALVES,  /* one half steps at once, the other window_s later (Tesla C2075) */
    YOKE_SENSOR_LOW_PASS /* 1 - exp(-t / window_s) */
} yoke_sensor_shape;

typedef struct yoke_sensor {
    yoke_sensor_shape shape;
    double period_s;   /* between updates */
    double delay_s;    /* from the start of a run, as it is timed, until it begins to show */
    double window_s;   /* see the shape */
    double noise_w;    /* standard deviation of one update at constant power */
    double quantum_w;  /* smallest step; 0: none seen */
    double gain_error; /* relative half width of the factor's interval; NaN: not known.  Not identified: of the meter, or the data sheet */
} yoke_sensor;

/* What is profiled, and on which sensor.  Times are seconds on one clock.  A status other than YOKE_OK is passed on. */
typedef struct yoke_profile_subject {
    yoke_status (*launch)(void *user); /* starts one run; returns before its end where it can */
    /* Waits for its end.  Fills the times of start and end where the subject knows them better than the caller. */
    yoke_status (*finish)(double *start_s, double *finish_s, void *user);
    yoke_status (*power_w)(double *watts, void *user);         /* what the sensor shows now */
    yoke_status (*temperature_c)(double *celsius, void *user); /* NULL: not known */
    double (*clock_s)(void *user);                             /* NULL: yoke_clock_s */
    yoke_status (*wait_until)(double time_s, void *user);      /* NULL: sleeps */
    void *user;
} yoke_profile_subject;

/* All members may be zero. */
typedef struct yoke_profile_options {
    double target;        /* relative statistical uncertainty of the energy at which to stop; 0: 0.02 */
    double max_s;         /* of device time; 0: 300 s */
    int64_t runs;         /* single runs to make, instead of as many as the target needs; 0: as needed */
    int64_t points;       /* of the profile at most; 0: 64; negative: energy only */
    double low_c, high_c; /* band of temperature to run in (54 in the dissertation); both 0: any */
} yoke_profile_options;

typedef struct yoke_profile_point {
    double time_s, power_w; /* since the start of a run */
    double uncertainty_w;   /* 95 %; NaN for readings */
} yoke_profile_point;

typedef struct yoke_profile {
    double energy_j;            /* of one run: all power of what the sensor covers, from its start to its end.  Never 0 for "not known" */
    double uncertainty_j;       /* 95 %, with the sensor's gain error where that is known */
    double statistical_j;       /* 95 %, without the gain error: more runs reduce it */
    double dynamic_j;           /* the part of energy_j above idle power */
    double idle_w, run_s;       /* power between runs; seconds of one run */
    double low_c, high_c;       /* temperatures seen; NaN: not known */
    double device_s;            /* of the whole measurement */
    double reading_s;           /* of that, in reading the sensor */
    int64_t runs, reads, burst; /* burst: runs that followed each other without a pause where the energy was measured */
    double resolution_s;        /* of the profile: shorter structure is blurred; NaN: there is none */
    char why_no_profile[256];   /* "" where there is one */
    int64_t num_points, num_readings;
    yoke_profile_point *points;   /* the profile, the sensor's window removed; begins the memory of both arrays */
    yoke_profile_point *readings; /* what the sensor showed in updates after starts of single runs, ascending in time */
} yoke_profile;

/*
 * Finds period, delay, window and noise of the sensor by runs of the subject, which should draw constant power, much more than idle, and be
 * short beside the period (or return before they are done).  Takes 10 to 90 s of device time.
 * Errors: ARGUMENT, MEMORY, UNAVAILABLE (the sensor never changes, or has no period, or the load does not show), those of the subject.
 */
YOKE_API yoke_status yoke_sensor_identify(yoke_context *context, const yoke_profile_subject *subject, yoke_sensor *sensor);
/*
 * Offline.  options may be NULL.  Single runs where they reach the target, else bursts of runs (always for means over more than 0.3 s and low-pass
 * sensors, which show no profile).  profile->points is given back with yoke_release.
 * Errors: ARGUMENT, MEMORY, UNAVAILABLE (not in max_s: the text says how long it would take; temperature not reached; nothing shows), those
 * of the subject.
 */
YOKE_API yoke_status yoke_profile_measure(yoke_context *context, const yoke_profile_subject *subject, const yoke_sensor *sensor,
                                          const yoke_profile_options *options, yoke_profile *profile);

#ifdef __cplusplus
}
#endif

#endif
