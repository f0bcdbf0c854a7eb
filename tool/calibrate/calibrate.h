/*
 * calibrate.h - `yoke calibrate`: what this machine's devices take for a kernel, copies and idling.  A run of the library measures and models
 * (yoke_run_calibrate); here are the kernels and what is told.
 */
#ifndef TOOL_CALIBRATE_CALIBRATE_H
#define TOOL_CALIBRATE_CALIBRATE_H

#include <stdbool.h>

#include "common/terminal.h"
#include "yoke/yoke.h"

enum { CALIBRATE_MOST_DEVICES = 64 };

/* The kernel on one device. */
typedef struct calibrate_trial {
    yoke_device *device; /* the run's */
    yoke_queue *queue;
    yoke_program *program;
    yoke_function *function;
    yoke_buffer *x, *y;
    yoke_event *begin, *end;
    int64_t unit_items, rounds; /* items of the kernel in a unit, and how often it goes over them; 0 items: simulated */
    int64_t unit_bytes, max_units;
} calibrate_trial;

typedef struct calibration {
    yoke_context *context;
    app_terminal *terminal;
    const char *kernel;
    double budget_s; /* how long all may take */
    double begin_s;
    yoke_run *run;
    const yoke_run_device *devices; /* borrowed from run */
    int64_t num_devices;
    calibrate_trial trials[CALIBRATE_MOST_DEVICES];
    yoke_run_accuracy found[CALIBRATE_MOST_DEVICES];
} calibration;

/* ---------------------------------------------------------------------------------------------------- trial.c */

/* The kernel ready on each device of the run; a device that fails at it is left out.  Errors: those of programs and buffers, UNAVAILABLE (none is left). */
yoke_status calibrate_open(calibration *c);
void calibrate_close(calibration *c);
yoke_run_trial calibrate_try;                   /* user: calibration */
yoke_run_trial_together calibrate_try_together; /* the same */
/* Units that fit on every device, and bytes of one. */
int64_t calibrate_most_units(const calibration *c);
int64_t calibrate_unit_bytes(const calibration *c);

/* --------------------------------------------------------------------------------------------------- result.c */

void calibrate_say(const calibration *c);
/* A file for `yoke plan`, with as many units as all devices together work on in a second. */
yoke_status calibrate_write_model(calibration *c, const char *path);
yoke_status calibrate_write_record(const calibration *c, int argc, char **argv, const char *path);

#endif
