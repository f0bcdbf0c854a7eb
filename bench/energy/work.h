/* work.h - meters, working devices, and measured intervals of time. */
#ifndef BENCH_ENERGY_WORK_H
#define BENCH_ENERGY_WORK_H

#include "energy/data.h"

enum { WORK_UNIT_BYTES = 81 * 82 / 2 * 8, WORK_MAX_METERS = 16, WORK_PERIODS = 20, WORK_ENERGIES = 2 * (1 + WORK_MAX_METERS) };

/* Options of the command line. */
typedef struct work_settings {
    const char *machine, *devices, *select, *sysroot, *replay, *declared, *frequency; /* NULL: not given */
    double seconds;                                                                   /* minimum duration of a measurement */
    int64_t repeats, points, max_units;
} work_settings;

/* The open meters. */
typedef struct work_meters {
    yoke_context *context;
    yoke_meters *meter;
    const yoke_meter_info *infos;
    int64_t count;
    int simulated;             /* of a simulated machine */
    double period_s;           /* the longest update period */
    int64_t begun;             /* measurements so far */
    int64_t unknown;           /* those in which a meter gave no energy */
    char why[DATA_NOTE - 100]; /* reason for the first of them */
    data *d;
} work_meters;

/*
 * Opens the meters; a machine file must have been read before.  If there are none, or none for the devices that will work (`simulated` or
 * not), this and the reasons are noted in d, and no meter is open.  Errors: INPUT, UNAVAILABLE, MEMORY, SYSTEM.
 */
yoke_status work_meters_open(yoke_context *context, const work_settings *settings, int simulated, work_meters *meters, data *d);
/* Notes how many measurements lack an energy, and why. */
void work_meters_close(work_meters *meters);
/* Adds the column "total" and one for each meter, with this ending, each followed by a column whose name has "_error" appended. */
void work_columns(const work_meters *meters, const char *ending, data *d);

/* A device that multiplies elements' matrices and copies them. */
typedef struct work_device {
    yoke_device *device;
    yoke_queue *queue;
    yoke_program *program;
    yoke_function *function;
    yoke_buffer *matrices, *values, *products;
    void *host; /* the matrices on the host, for copies */
    int64_t max_units;
    int simulated;
} work_device;

/* Errors: those of the device; NUMERIC: its result is wrong. */
yoke_status work_device_open(yoke_context *context, const char *name, int64_t max_units, work_device *device);
void work_device_close(work_device *device);
/* One product of `units` units, and one copy of their matrices to the device; both are only enqueued. */
yoke_status work_launch(work_device *device, int64_t units);
yoke_status work_copy(work_device *device, int64_t units);

typedef yoke_status work_function(work_device *device, int64_t units);

/*
 * Does the work `calls` times, which is to take work_seconds, on each of the devices at the same time, and waits (it also runs for a part
 * of that time before, so that the meters show the work from the beginning).  *seconds: on their clock; energies: first the total, then
 * each meter, in joules, each with the half width of its interval; NaN: not metered.
 */
yoke_status work_measure(work_meters *meters, work_device *devices, int num_devices, work_function *work, int64_t units, int64_t calls,
                         double *seconds, double *energies);
/* Duration of a measurement: at least WORK_PERIODS updates of the slowest meter. */
double work_seconds(const work_settings *settings, const work_meters *meters);
/* Finds by trial how many calls take about `seconds`. */
yoke_status work_calls(work_device *device, work_function *work, int64_t units, double seconds, int64_t *calls);
/* The same for sleeping: the machine sleeps if the meters are simulated, otherwise this thread. */
yoke_status work_sleep(work_meters *meters, double length_s, double *seconds, double *energies);

#endif
