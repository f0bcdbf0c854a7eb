/*
 * calibrate.h - `yoke calibrate`: what this machine's devices take for work, copies and idling, measured and kept in the store.
 */
#ifndef TOOL_CALIBRATE_CALIBRATE_H
#define TOOL_CALIBRATE_CALIBRATE_H

#include <stdbool.h>

#include "common/terminal.h"
#include "yoke/yoke.h"

enum {
    CALIBRATE_MOST_DEVICES = 16,
    CALIBRATE_MOST_SIZES = 28,
    CALIBRATE_MOST_LEVELS = 12,
    CALIBRATE_MOST_SAMPLES = CALIBRATE_MOST_SIZES + CALIBRATE_MOST_LEVELS + 4,
    CALIBRATE_MOST_HELD_OUT = 8
};

typedef struct calibrate_power {
    double value_w, interval_w; /* NaN: not known */
    yoke_energy_kind kind;
} calibrate_power;

/* One clock frequency at which a device was measured. */
typedef struct calibrate_level {
    double hz; /* NaN: whatever it had */
    calibrate_power idle, busy;
    calibrate_power others_idle,
        others_busy; /* at the same times what neither it nor an accelerator draws: memory, and hosts of an accelerator */
} calibrate_level;

typedef struct calibrate_device {
    yoke_device *device;
    const yoke_device_info *info; /* borrowed from device */
    bool host;
    yoke_queue *queue;
    yoke_program *program;
    yoke_function *function;
    yoke_buffer *x, *y;
    yoke_event *begin, *end;
    void *pinned;
    int64_t unit_items, rounds; /* items of the kernel in a unit, and how often it goes over them; 0 items: simulated */
    int64_t unit_bytes, buffer_bytes;
    int64_t most_units;    /* that fit; later: of a call of about 50 ms */
    yoke_clock_info clock; /* name "": it has none that can be set */
    int num_levels;
    calibrate_level levels[CALIBRATE_MOST_LEVELS]; /* ascending; the last one is the highest */
    double copy_start_s, copy_seconds_per_byte;    /* NaN: nothing is copied */
    double copy_power_w;                           /* of all meters above idle while it copies; NaN: not known */
    int num_samples;
    yoke_sample samples[CALIBRATE_MOST_SAMPLES];
    yoke_sample held_out[CALIBRATE_MOST_HELD_OUT];
    int num_held_out;
    yoke_model *model;
    double error, worst; /* relative errors on what was held out: median and largest */
} calibrate_device;

typedef struct calibration {
    yoke_context *context;
    app_terminal *terminal;
    const char *kernel, *machine, *sysroot, *declared;
    double budget_s, power_s; /* how long all may take, and one measurement of a power */
    bool no_clocks;
    double begin_s;
    yoke_meter *meter;
    const yoke_meter_info *meters; /* borrowed from meter */
    int64_t num_meters;
    yoke_clocks *clocks;               /* NULL: none is set */
    calibrate_power idle_before, idle; /* of all that is metered: before and after devices were opened */
    int num_devices, num_failed;
    char failure[512]; /* of the first that failed */
    calibrate_device devices[CALIBRATE_MOST_DEVICES];
} calibration;

/* ---------------------------------------------------------------------------------------------------- work.c */

/* Opens the devices of a list of names, with the kernel ready on each.  Errors: those of yoke_device_open and what follows. */
yoke_status calibrate_open(calibration *c, const char *names);
void calibrate_close(calibration *c);
/*
 * A device that failed at its work is reported and taken from the list, and the others go on: YOKE_OK then, and *failed is true (may be NULL).
 * Any other status is returned.
 */
yoke_status calibrate_fail(calibration *c, int device, yoke_status status, bool *failed);
/* One call on so many units: its seconds on the device's clock. */
yoke_status calibrate_call(calibrate_device *d, int64_t units, double *seconds);
/* All devices at once, units[i] on device i, `calls` times: seconds of one call of each.  *device: the one that failed. */
yoke_status calibrate_together(calibration *c, const int64_t *units, int64_t calls, double *seconds, int *device);
/* A copy of so many bytes to the device. */
yoke_status calibrate_copy(calibrate_device *d, int64_t bytes, double *seconds);
/* Hash of the kernel's text and of the number of operations in a unit, in hexadecimal. */
void calibrate_hash(const calibrate_device *d, char hash[17]);

/* --------------------------------------------------------------------------------------------------- power.c */

/* The longest period of an open meter. */
double calibrate_period_s(const calibration *c);
/* Power while everything sleeps: of the device's meters at its present level (d may be NULL), and in total. */
yoke_status calibrate_idle(calibration *c, calibrate_device *d, int level, calibrate_power *total);
/* Power of the device's meters while it works on so many units over and over. */
yoke_status calibrate_busy(calibration *c, calibrate_device *d, int level, int64_t units);
/* Power of all meters above idle while so many bytes are copied over and over. */
yoke_status calibrate_copying(calibration *c, calibrate_device *d, int64_t bytes);
/* What the rest of the machine draws more while the device works: 0 where that is within its uncertainty, or not known. */
calibrate_power calibrate_rest(const calibrate_level *level);
/* What a call took at its clock in joules: dynamic power times its seconds, a host's with that of its memory. */
void calibrate_add_energy(const calibrate_device *d, yoke_sample *one);

/* --------------------------------------------------------------------------------------------------- sizes.c */

/* Seconds of a call on so many units at a level of the device, the present one, repeated until they are known or the budget is spent. */
yoke_status calibrate_sample(calibration *c, calibrate_device *d, int level, int64_t units, double budget_s, yoke_sample *result);
/* Samples at the highest clock: sizes where the speed is not yet known by those beside them, and some that are held out. */
yoke_status calibrate_sizes(calibration *c, calibrate_device *d, double budget_s);
/* Takes a sample up among those sorted by size, if there is room. */
void calibrate_insert(calibrate_device *d, const yoke_sample *one);

/* ------------------------------------------------------------------------------------------------- measure.c */

/* Speeds of all devices at sizes and clocks, copies, powers, what they lose together, and sizes held out. */
yoke_status calibrate_measure(calibration *c);

/* -------------------------------------------------------------------------------------------------- result.c */

/* Fits models, says what they are and how wrong they are on the sizes held out. */
yoke_status calibrate_fit(calibration *c);
const char *calibrate_kind_text(yoke_model_kind kind);
/* Whether there is a store at path that can be added to, before all that takes long; says so where its contents do not fit this machine. */
yoke_status calibrate_store_check(calibration *c, const char *path);
yoke_status calibrate_store(calibration *c, const char *path);
yoke_status calibrate_write_record(calibration *c, int argc, char **argv, const char *path);

/* --------------------------------------------------------------------------------------------------- model.c */

/* Writes a file for `yoke plan`, with as many units as all devices together work on in a second. */
yoke_status calibrate_write_model(calibration *c, const char *path);

#endif
