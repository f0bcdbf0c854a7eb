/*
 * calibrate/simulated.c - trials on simulated devices.  The machine file states the duration of a call, so nothing is computed, and calls
 * on billions of units cost nothing.
 */
#include <stdio.h>
#include <string.h>

#include "common/calibrate/private.h"
#include "yoke/dialect.h"

/* Its launches carry units, but it has no items. */
YOKE_KERNEL(calibrate_nothing, (yoke_long items))
{
    YOKE_FOR_ALL (i, items) (void)i;
}

bool app_calibrate_is_simulated(const calibration *c, int64_t device) { return strcmp(c->devices[device].info->kind, "sim") == 0; }

static yoke_status open_one(yoke_device *device, calibrate_simulated *s)
{
    static const yoke_host_kernel kernels[] = {{"calibrate_nothing", calibrate_nothing}};
    static const char *const texts[] = {"/* compiled in */"};
    const yoke_program_source source = {
        .name = "simulated.c", .texts = texts, .num_texts = 1, .host_kernels = kernels, .num_host_kernels = 1};
    yoke_status status = yoke_queue_create(device, 0, &s->queue);
    if (!status) status = yoke_program_create(device, &source, &s->program);
    if (!status) status = yoke_program_function(s->program, "calibrate_nothing", &s->function);
    if (!status) status = yoke_event_create(device, &s->begin);
    if (!status) status = yoke_event_create(device, &s->end);
    return status;
}

yoke_status app_calibrate_simulated_open(calibration *c)
{
    yoke_status status = YOKE_OK;
    for (int64_t i = 0; i < c->num_devices && !status; i++) {
        if (!c->devices[i].active || !app_calibrate_is_simulated(c, i)) continue;
        status = open_one(c->devices[i].device, &c->simulated[i]);
        if (status != YOKE_ERROR_DEVICE && status != YOKE_ERROR_DEVICE_MEMORY) continue;
        char why[400];
        snprintf(why, sizeof why, "%s", yoke_last_error(c->context));
        status = yoke_run_fail(c->run, i, why);
        if (!status) status = yoke_run_devices(c->run, &c->devices, &c->num_devices);
    }
    return status;
}

void app_calibrate_simulated_close(calibration *c)
{
    for (int64_t i = 0; i < c->num_devices; i++) {
        calibrate_simulated *s = &c->simulated[i];
        yoke_event_destroy(s->begin);
        yoke_event_destroy(s->end);
        yoke_queue_destroy(s->queue);
        yoke_program_destroy(s->program);
    }
}

static yoke_status launch(const calibrate_simulated *s, int64_t units)
{
    const yoke_argument nothing = yoke_argument_int64(0);
    return yoke_queue_launch(s->queue, s->function, 1, 1, units, &nothing, 1);
}

yoke_status app_calibrate_simulated_alone(calibration *c, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    const calibrate_simulated *s = &c->simulated[device];
    const double begin_s = yoke_device_clock_s(c->devices[device].device);
    yoke_status status = YOKE_OK;
    for (int64_t k = 0; k < calls && !status; k++) status = launch(s, units);
    if (!status) status = yoke_queue_finish(s->queue);
    *seconds = (yoke_device_clock_s(c->devices[device].device) - begin_s) / (double)calls;
    return status;
}

/* Starts all devices at once; each has its own events. */
yoke_status app_calibrate_simulated_together(calibration *c, const int64_t *units, int64_t calls, double *seconds, int64_t *failed)
{
    yoke_status status = YOKE_OK;
    for (int64_t i = 0; i < c->num_devices && !status; i++) {
        const calibrate_simulated *s = &c->simulated[i];
        if (units[i] == 0) continue;
        *failed = i;
        status = yoke_queue_record(s->queue, s->begin);
        for (int64_t k = 0; k < calls && !status; k++) status = launch(s, units[i]);
        if (!status) status = yoke_queue_record(s->queue, s->end);
    }
    for (int64_t i = 0; i < c->num_devices && !status; i++) {
        const calibrate_simulated *s = &c->simulated[i];
        if (units[i] == 0) continue;
        *failed = i;
        status = yoke_queue_finish(s->queue);
        if (!status) status = yoke_event_elapsed_s(s->begin, s->end, &seconds[i]);
        seconds[i] /= (double)calls;
    }
    return status;
}
