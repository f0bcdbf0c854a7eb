/*
 * profile.h - readings of a power sensor during runs of a kernel.
 *
 *     read.c      one reading for each update, and its time
 *     identify.c  identification of the sensor
 *     offline.c   offline: shots, which are runs at chosen phases of the sensor's updates
 *     result.c    energy and profile from shots
 *     online.c    the calls of an application;   kernels.c   the power of each kernel
 */
#ifndef YOKE_PROFILE_PROFILE_H
#define YOKE_PROFILE_PROFILE_H

#include "profile/arithmetic.h"
#include "profile/sensor.h"
#include "yoke/yoke.h"

typedef struct profile_update {
    double time_s, watts;
} profile_update;

typedef struct profile_reader {
    yoke_context *context;
    const yoke_profile_subject *subject;
    sensor_clock clock;
    double read_s;     /* duration of a reading, the shortest seen; 0: none yet */
    double recorded_s; /* the newest update that was recorded */
    double reading_s;
    double most;                   /* a larger reading is rejected */
    int64_t reads, runs, standing; /* standing: number of readings since the clock moved */
    double run_s;                  /* of one run; 0: not known yet */
    double ended_s;                /* end of the last run */
    double low_c, high_c;          /* temperatures seen; NaN: none */
    profile_update *updates;
    int64_t count, capacity;
} profile_reader;

/* Starts a reader.  online: nonzero: without runs of its own.  Errors: ARGUMENT (a function is missing). */
yoke_status profile_reader_start(yoke_context *context, const yoke_profile_subject *subject, int online, profile_reader *reader);
void profile_reader_end(profile_reader *reader);
double profile_now(const profile_reader *reader);
/* Reads the temperature, if there is one. */
yoke_status profile_temperature(profile_reader *reader, double *celsius);
/* How long before and after an expected update the sensor is read. */
double profile_lead_s(const profile_reader *reader, double update_s);
/* Waits for the update that is expected at update_s, or reads it later; records it. */
yoke_status profile_take(profile_reader *reader, double update_s);
/* Records all updates until `until_s` that can be recorded. */
yoke_status profile_watch(profile_reader *reader, double until_s);
/*
 * Polls as fast as it can until `until_s`; changes are appended to `changes` while there is room.  *last: the previous reading, NaN: none.
 */
yoke_status profile_poll(profile_reader *reader, double until_s, double *last, sensor_change *changes, int64_t room, int64_t *count);
/* Makes one run, and records all updates that can be recorded.  Before the end of the first run updates are not read. */
yoke_status profile_run(profile_reader *reader, double *start_s, double *end_s);
/* As profile_run, but polls. */
yoke_status profile_run_polled(profile_reader *reader, double *last, sensor_change *changes, int64_t room, int64_t *count);
/* Measures the shortest duration of some runs, so that updates can be expected after a number of runs. */
yoke_status profile_time_runs(profile_reader *reader);
/* Finds an update of a sensor whose period is known.  Errors: UNAVAILABLE. */
yoke_status profile_synchronise(profile_reader *reader, const yoke_sensor *sensor);

/* ------------------------------------------------------------------------------------------------- shots */

/* A burst of runs at a chosen phase, and the updates of the sensor until the next burst. */
typedef struct profile_shot {
    double start_s, end_s;
    int64_t first, last; /* updates [first, last) came after its start and before the next shot's */
} profile_shot;

typedef struct profile_series {
    int64_t burst;                         /* number of runs of a shot */
    double quiet_s;                        /* from the end of a shot until no update shows it any more */
    double pause_s;                        /* additional time in which updates show idle power */
    double golden;                         /* phase of the next shot */
    double run_s, run_variance, run_count; /* durations of runs: mean, variance, number */
    profile_shot *shots;
    int64_t count, capacity;
} profile_series;

typedef struct profile_energy {
    double dynamic_j, idle_w, run_s;
    double half_j;    /* 95 % half width of dynamic + idle x run */
    double noise_w;   /* of idle readings */
    int64_t readings; /* number of readings that show the shots */
} profile_energy;

/* Energy of one run of the shots so far; half_j is INFINITY while there are too few.  Errors: MEMORY. */
yoke_status profile_series_energy(const profile_reader *reader, const profile_series *series, const yoke_sensor *sensor,
                                  profile_energy *energy);
/*
 * Writes profile and readings of single shots to *profile, so that its energy is dynamic_j; if the readings do not resolve it
 * profile->why_no_profile has the reason.  Errors: MEMORY.
 */
yoke_status profile_series_unfold(const profile_reader *reader, const profile_series *series, const yoke_sensor *sensor, int64_t points,
                                  double dynamic_j, yoke_profile *profile);

/* Moves points and readings to one allocation that begins at points, as in the results for callers.  Errors: MEMORY. */
yoke_status profile_pack(yoke_context *context, yoke_profile *profile);
/* Frees points and readings that were not packed yet. */
void profile_clear(yoke_context *context, yoke_profile *profile);

#endif
