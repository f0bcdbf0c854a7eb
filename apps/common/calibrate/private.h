/*
 * calibrate/private.h - declarations shared by calibrate.c, which measures, calibrate/simulated.c, which has the trials on simulated
 * devices, and calibrate/result.c, which reports.
 */
#ifndef APP_CALIBRATE_PRIVATE_H
#define APP_CALIBRATE_PRIVATE_H

#include "common/calibrate/calibrate.h"

enum { CALIBRATE_MAX_DEVICES = 64 };

/* Data of a simulated device. */
typedef struct calibrate_simulated {
    yoke_queue *queue;
    yoke_program *program;
    yoke_function *function;
    yoke_event *begin, *end;
} calibrate_simulated;

typedef struct calibration {
    yoke_context *context;
    app_terminal *terminal;
    const app_calibrate_kernel *kernel;
    const char *store; /* as in yoke_run_options */
    double budget_s;   /* longest time of the whole calibration */
    double begin_s;
    yoke_run *run;
    const yoke_run_device *devices; /* borrowed from run */
    int64_t num_devices;
    app_calibrate_trial trial;
    calibrate_simulated simulated[CALIBRATE_MAX_DEVICES];
    yoke_run_accuracy found[CALIBRATE_MAX_DEVICES];
} calibration;

bool app_calibrate_is_simulated(const calibration *c, int64_t device);
/* Opens simulated devices; one that fails is left out.  Errors: MEMORY, UNAVAILABLE (none is left). */
yoke_status app_calibrate_simulated_open(calibration *c);
void app_calibrate_simulated_close(calibration *c);
/* As yoke_run_trial and yoke_run_trial_together, for simulated devices only. */
yoke_status app_calibrate_simulated_alone(calibration *c, int64_t device, int64_t units, int64_t calls, double *seconds);
yoke_status app_calibrate_simulated_together(calibration *c, const int64_t *units, int64_t calls, double *seconds, int64_t *failed);

void app_calibrate_say(const calibration *c);
/* Writes a file for `yoke plan`, with the number of units that all devices together finish in 20 of the longest calls: usually a second. */
yoke_status app_calibrate_write_model(calibration *c, const char *path);
yoke_status app_calibrate_write_record(const calibration *c, int argc, char **argv, const char *path);

#endif
