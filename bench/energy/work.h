/*
 * work.h - meters, devices with something to do, and intervals of time that are measured.
 */
#ifndef BENCH_ENERGY_WORK_H
#define BENCH_ENERGY_WORK_H

#include "energy/data.h"

enum { WORK_UNIT_BYTES = 81 * 82 / 2 * 8, WORK_MAX_METERS = 16, WORK_PERIODS = 20, WORK_ENERGIES = 2 * (1 + WORK_MAX_METERS) };

/* What the command line says. */
typedef struct work_settings {
    const char *machine, *devices, *select, *sysroot, *replay, *declared, *frequency; /* NULL: not given */
    double seconds;                                                                   /* how long a measurement shall take at least */
    int64_t repeats, points, max_units;
} work_settings;

/* The open meters. */
typedef struct work_meters {
    yoke_context *context;
    yoke_meters *meter;
    const yoke_meter_info *infos;
    int64_t count;
    int simulated;             /* they are of a simulated machine */
    double period_s;           /* the longest between updates */
    int64_t begun;             /* measurements so far */
    int64_t unknown;           /* those without an energy of some meter */
    char why[DATA_NOTE - 100]; /* of the first of them */
    data *d;
} work_meters;

/*
 * Opens the meters; a machine file must have been read before.  Where there is none, or none for the devices that will work (`simulated`
 * or not), that and the reasons are noted in d, and nothing is open.  Errors: INPUT, UNAVAILABLE, MEMORY, SYSTEM.
 */
yoke_status work_meters_open(yoke_context *context, const work_settings *settings, int simulated, work_meters *meters, data *d);
/* Notes how many measurements lack an energy, and why. */
void work_meters_close(work_meters *meters);
/* Adds "total" and a column for each meter, each with this ending, and each followed by a column with "_error" behind that. */
void work_columns(const work_meters *meters, const char *ending, data *d);

/* A device that multiplies elements' matrices and copies them. */
typedef struct work_device {
    yoke_device *device;
    yoke_queue *queue;
    yoke_program *program;
    yoke_function *function;
    yoke_buffer *matrices, *values, *products;
    void *host; /* the matrices as they are copied to it */
    int64_t max_units;
    int simulated;
} work_device;

/* Errors: those of the device; NUMERIC: it computes something wrong. */
yoke_status work_device_open(yoke_context *context, const char *name, int64_t max_units, work_device *device);
void work_device_close(work_device *device);
/* One product of so many units, and one copy of their matrices to the device; both only ask for it. */
yoke_status work_launch(work_device *device, int64_t units);
yoke_status work_copy(work_device *device, int64_t units);

typedef yoke_status work_function(work_device *device, int64_t units);

/*
 * Does it `calls` times, which shall take work_seconds, on each of the devices at once and waits (and for a part of that before, so that the
 * meters show the work from the beginning on): *seconds on their clock, and energies: first of the total, then of each
 * meter, joules and the half width of their interval; NaN where not metered.
 */
yoke_status work_measure(work_meters *meters, work_device *devices, int num_devices, work_function *work, int64_t units, int64_t calls,
                         double *seconds, double *energies);
/* How long a measurement shall take: WORK_PERIODS updates of the slowest meter at least. */
double work_seconds(const work_settings *settings, const work_meters *meters);
/* How many calls take about so many seconds; does some to find out. */
yoke_status work_calls(work_device *device, work_function *work, int64_t units, double seconds, int64_t *calls);
/* The same for a sleep: of the machine where the meters are simulated, else of this thread. */
yoke_status work_sleep(work_meters *meters, double length_s, double *seconds, double *energies);

#endif
