/* A piece of a loop on one device: how it is started, and how its end is waited for. */
#include <math.h>
#include <omp.h>
#include <stdio.h>

#include "run/kernel.h"

/* A host's units are divided into this number of pieces for each of its threads, as pieces need not take the same time. */
enum { PIECES = 4 };
static const double most_groups = 65536;

yoke_status run_kernel_note(const yoke_run *run, run_kernel_device *d, yoke_status status)
{
    if (status != YOKE_ERROR_DEVICE && status != YOKE_ERROR_DEVICE_MEMORY) return status;
    if (!d->failed) snprintf(d->why, sizeof d->why, "%s", yoke_last_error(run->context));
    d->failed = 1;
    return YOKE_OK;
}

/* Executes the device's units, on a thread of the device: each piece is done by one thread. */
static void work_on_host(void *user)
{
    run_kernel_device *d = user;
    const yoke_run_kernel *kernel = d->kernel;
    void *arrays[YOKE_RUN_MAX_ARRAYS];
    for (int64_t k = 0; k < kernel->num_arrays; k++) arrays[k] = kernel->arrays[k].memory;
    if (kernel->host != NULL) {
        kernel->host(d->first, d->last, arrays, kernel->user);
        d->done = 1;
        return;
    }
    const int64_t units = d->last - d->first, pieces = run_smaller(units, (int64_t)PIECES * omp_get_max_threads());
#pragma omp parallel for schedule(dynamic)
    for (int64_t piece = 0; piece < pieces; piece++) {
        static const yoke_group only = {.index = 0, .count = 1};
        int64_t first = d->first + units / pieces * piece + run_smaller(piece, units % pieces);
        int64_t last = first + units / pieces + (piece < units % pieces);
        yoke_argument values[RUN_MAX_ARGUMENTS];
        void *arguments[2 + YOKE_RUN_MAX_ARRAYS + RUN_MAX_ARGUMENTS];
        void *own[YOKE_RUN_MAX_ARRAYS];
        arguments[0] = &first;
        arguments[1] = &last;
        for (int64_t k = 0; k < kernel->num_arrays; k++) {
            own[k] = arrays[k];
            arguments[2 + k] = &own[k];
        }
        for (int64_t k = 0; k < kernel->num_arguments; k++) {
            values[k] = kernel->arguments[k];
            arguments[2 + kernel->num_arrays + k] = &values[k].value;
        }
        kernel->host_kernel(&only, arguments);
    }
    d->done = 1;
}

static yoke_status start_host(const run_device *device, run_kernel_device *d)
{
    yoke_status status = yoke_queue_record(device->queue, device->marks[1]);
    if (status == YOKE_OK) status = yoke_queue_call(device->queue, work_on_host, d, d->last - d->first);
    return status == YOKE_OK ? yoke_queue_record(device->queue, device->marks[2]) : status;
}

static yoke_status launch(const run_device *device, const run_kernel_device *d, const yoke_run_kernel *kernel)
{
    yoke_argument arguments[2 + YOKE_RUN_MAX_ARRAYS + RUN_MAX_ARGUMENTS];
    const double items = (double)(d->last - d->first) * (double)kernel->items_per_unit; /* may be more than an int64_t holds */
    const int64_t groups = (int64_t)fmin(ceil(items / (double)kernel->group_size), most_groups);
    int64_t count = 0;
    arguments[count++] = yoke_argument_int64(d->first);
    arguments[count++] = yoke_argument_int64(d->last);
    for (int64_t k = 0; k < kernel->num_arrays; k++) arguments[count++] = yoke_argument_buffer(d->buffers[k]);
    for (int64_t k = 0; k < kernel->num_arguments; k++) arguments[count++] = kernel->arguments[k];
    return yoke_queue_launch(device->queue, d->function, groups, kernel->group_size, d->last - d->first, arguments, count);
}

static yoke_status start_accelerator(const run_device *device, run_kernel_device *d, const yoke_run_kernel *kernel)
{
    yoke_status status = yoke_queue_record(device->queue, device->marks[0]);
    if (status == YOKE_OK) status = run_kernel_send_kept(device, d, kernel);
    if (status == YOKE_OK) status = yoke_queue_record(device->queue, device->marks[1]);
    if (status == YOKE_OK) status = run_kernel_send_others(device, d, kernel);
    if (status == YOKE_OK) status = launch(device, d, kernel);
    if (status == YOKE_OK) status = run_kernel_bring(device, d, kernel);
    return status == YOKE_OK ? yoke_queue_record(device->queue, device->marks[2]) : status;
}

yoke_status run_kernel_start(yoke_run *run, yoke_run_kernel *kernel, int i)
{
    run_kernel_device *d = &kernel->devices[i];
    const run_device *device = &run->devices[i];
    d->kernel = kernel;
    d->done = 0;
    d->moved = 0;
    const yoke_status status = device->accelerator ? start_accelerator(device, d, kernel) : start_host(device, d);
    d->started = status == YOKE_OK;
    return run_kernel_note(run, d, status);
}

yoke_status run_kernel_finish(yoke_run *run, yoke_run_kernel *kernel, int i, double *seconds, double *moved_s)
{
    run_kernel_device *d = &kernel->devices[i];
    const run_device *device = &run->devices[i];
    *seconds = NAN;
    *moved_s = 0;
    yoke_status status = yoke_queue_finish(device->queue);
    if (status == YOKE_OK && !d->failed && d->started) status = yoke_event_elapsed_s(device->marks[1], device->marks[2], seconds);
    if (status == YOKE_OK && !d->failed && d->started && device->accelerator && d->moved > 0)
        status = yoke_event_elapsed_s(device->marks[0], device->marks[1], moved_s);
    status = run_kernel_note(run, d, status);
    if (status != YOKE_OK || d->failed || !d->started || !device->accelerator) return status;
    run_kernel_take_staged(d, kernel);
    d->done = 1;
    for (int64_t k = 0; k < kernel->num_arrays; k++)
        d->held[k].dirty |= kernel->arrays[k].keep && run_array_is_divided(&kernel->arrays[k]) && kernel->arrays[k].access & YOKE_RUN_WRITE;
    return YOKE_OK;
}
