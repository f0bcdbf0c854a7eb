/*
 * sensor.h - the behaviour of a power sensor: when it updates, and how an update depends on the power before it.  Arithmetic only.
 */
#ifndef YOKE_PROFILE_SENSOR_H
#define YOKE_PROFILE_SENSOR_H

#include <stdint.h>

#include "yoke/yoke.h"

/* --------------------------------------------------------------------------------------- following power */

/* The part of a step from 0 to 1 that is visible `since_s` after it. */
double sensor_response(const yoke_sensor *sensor, double since_s);
/* Time after which all of a step is visible (for a low pass all except 5e-5). */
double sensor_settle_s(const yoke_sensor *sensor);

/* One update; a load was on from since_on_s to since_off_s before it (negative: after it). */
typedef struct sensor_step {
    double since_on_s, since_off_s, watts;
} sensor_step;

typedef struct sensor_fit {
    double idle_w, load_w; /* load_w above idle */
    double residual_w;     /* root mean square */
} sensor_fit;

/*
 * Fits shape, delay (0 .. delay_most_s) and window (0 .. window_most_s) to steps; the other members of *sensor are unchanged.
 * Errors: UNAVAILABLE (the sensor does not respond to the load).
 */
yoke_status sensor_fit_steps(yoke_context *context, const sensor_step *steps, int64_t count, double delay_most_s, double window_most_s,
                             yoke_sensor *sensor, sensor_fit *fit);

/* The largest of 1 W, 0.1 W, ... 1 mW of which all readings are multiples; 0: none. */
double sensor_quantum(const double *watts, int64_t count);

/* -------------------------------------------------------------------------------------------- its updates */

/* An update of the sensor was seen: the reading changed between two times. */
typedef struct sensor_change {
    double after_s, until_s;
} sensor_change;

/*
 * The times of the sensor's updates, on the clock of the readings.  The sensor's clock drifts relative to that clock, so updates must be
 * reported at least every 0.2 s.
 */
typedef struct sensor_clock {
    double sync_s, period_s;
    double error_s; /* standard deviation of sync_s */
    double drift;   /* growth of error_s per second */
} sensor_clock;

enum { SENSOR_MIN_CHANGES = 12 };
extern const double sensor_sync_s; /* 0.2 s */

/*
 * Period and time of an update from changes in the order of time, some of which may be missing.
 * Errors: UNAVAILABLE (too few changes, or they have no common period).
 */
yoke_status sensor_fit_period(yoke_context *context, const sensor_change *changes, int64_t count, sensor_clock *clock);
/* The last update at or before a time; the first one after it: t_sync + (floor((t - t_sync) / T) + 1) T. */
double sensor_clock_last(const sensor_clock *clock, double time_s);
double sensor_clock_next(const sensor_clock *clock, double time_s);
/* Standard deviation of an update's predicted time. */
double sensor_clock_error(const sensor_clock *clock, double time_s);
/* Reports an update that was seen. */
void sensor_clock_saw(sensor_clock *clock, sensor_change change);

#endif
