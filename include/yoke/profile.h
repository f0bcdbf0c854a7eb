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
 * Energy and power over time of a kernel that is much shorter than the period of the power sensor.  They are found from many runs at
 * different phases of the sensor's updates (Lang 2014, dissertation, ch. 5; docs/methods/profile.md).  First the sensor is identified,
 * then the kernel is profiled, in runs that are made for this purpose.  yoke_run_profile (yoke/run.h) reports times and energies of an
 * application's kernels from the calls that it makes anyway.
 */

/* Response of a sensor to power that steps from 0 to 1, after `delay_s`. */
typedef enum yoke_sensor_shape {
    YOKE_SENSOR_MEAN,    /* it shows the mean of the last window_s */
    YOKE_SENSOR_HALVES,  /* one half steps at once, the other window_s later (Tesla C2075) */
    YOKE_SENSOR_LOW_PASS /* 1 - exp(-t / window_s) */
} yoke_sensor_shape;

typedef struct yoke_sensor {
    yoke_sensor_shape shape;
    double period_s;   /* between updates */
    double delay_s;    /* from the timed start of a run until the sensor begins to respond */
    double window_s;   /* see the shape */
    double noise_w;    /* standard deviation of one update at constant power */
    double quantum_w;  /* smallest step; 0: none seen */
    double gain_error; /* relative half width of the factor's interval, from the meter or the data sheet (not identified); NaN: not known */
} yoke_sensor;

/* The kernel that is profiled, and the sensor.  Times are seconds on one clock.  A status other than YOKE_OK is returned to the caller. */
typedef struct yoke_profile_subject {
    yoke_status (*launch)(void *user); /* starts one run; returns before its end if it can */
    /* Waits for its end.  Writes the times of start and end if the subject knows them better than the caller. */
    yoke_status (*finish)(double *start_s, double *finish_s, void *user);
    yoke_status (*power_w)(double *watts, void *user);         /* present reading of the sensor */
    yoke_status (*temperature_c)(double *celsius, void *user); /* NULL: not known */
    double (*clock_s)(void *user);                             /* NULL: yoke_clock_s */
    yoke_status (*wait_until)(double time_s, void *user);      /* NULL: sleeps */
    void *user;
} yoke_profile_subject;

/* All members may be zero. */
typedef struct yoke_profile_options {
    double target;        /* relative statistical uncertainty of the energy at which to stop; 0: 0.02 */
    double max_s;         /* largest device time; 0: 300 s */
    int64_t runs;         /* number of single runs; 0: as many as the target needs */
    int64_t points;       /* largest number of points of the profile; 0: 64; negative: energy only */
    double low_c, high_c; /* band of temperature in which to run (54 in the dissertation); both 0: any */
} yoke_profile_options;

typedef struct yoke_profile_point {
    double time_s, power_w; /* time since the start of a run */
    double uncertainty_w;   /* 95 %; NaN for readings */
} yoke_profile_point;

typedef struct yoke_profile {
    double energy_j;      /* of one run: all power of the hardware that the sensor covers, from start to end.  Never 0 for "not known" */
    double uncertainty_j; /* 95 %, including the sensor's gain error if it is known */
    double statistical_j; /* 95 %, without the gain error: more runs reduce it */
    double dynamic_j;     /* the part of energy_j above idle power */
    double idle_w, run_s; /* power between runs; seconds of one run */
    double low_c, high_c; /* temperatures seen; NaN: not known */
    double device_s;      /* device time of the whole measurement */
    double reading_s;     /* part of device_s in which the sensor was read */
    int64_t runs, reads, burst; /* burst: number of runs in succession, without a pause, in which the energy was measured */
    double resolution_s;        /* of the profile: shorter structure is blurred; NaN: there is no profile */
    char why_no_profile[256];   /* "" if there is one */
    int64_t num_points, num_readings;
    yoke_profile_point *points;   /* the profile, with the sensor's window removed; start of the memory of both arrays */
    yoke_profile_point *readings; /* readings of the sensor at updates after starts of single runs, ascending in time */
} yoke_profile;

/*
 * Finds period, delay, window and noise of the sensor by runs of the subject.  The subject should draw constant power, much more than
 * idle, and be short compared with the period (or return before it is done).  This takes 10 to 90 s of device time.
 * Errors: ARGUMENT, MEMORY, UNAVAILABLE (the sensor never changes, or has no period, or does not respond to the load), those of the
 * subject.
 */
YOKE_API yoke_status yoke_sensor_identify(yoke_context *context, const yoke_profile_subject *subject, yoke_sensor *sensor);
/*
 * Measures a profile offline.  options may be NULL.  It makes single runs if they reach the target, else bursts of runs (always bursts for
 * means over more than 0.3 s and for low-pass sensors, which give no profile).  profile->points is freed with yoke_release.
 * Errors: ARGUMENT, MEMORY, UNAVAILABLE (not possible in max_s: the text says how long it would take; temperature not reached; no
 * response to the load), those of the subject.
 */
YOKE_API yoke_status yoke_profile_measure(yoke_context *context, const yoke_profile_subject *subject, const yoke_sensor *sensor,
                                          const yoke_profile_options *options, yoke_profile *profile);

#ifdef __cplusplus
}
#endif

#endif
