/*
 * The simple door: units of a loop on all devices at once.
 *
 * One thread hands every device its work and then waits for each: hosts have a worker of their own behind their queue, and accelerators work by themselves.  So
 * one context is enough, and nothing need be locked.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "run/kernel.h"

/*
 * Where something was never measured the first units are tried: a few, because drivers do much at a first launch, then some that are learned from.  Loops of
 * fewer units than LEAST for each device are not worth it.
 */
enum { WARM_PART = 256, TRIED_PART = 32, ALONE_PART = 128, LEAST = 64 };
/* A host's units are cut into so many pieces for each of its threads, as they need not take the same time. */
enum { PIECES = 4 };
static const int64_t most_groups = 65536;

/* -------------------------------------------------------------------------------------------------- failures */

/* Remembers why a device cannot go on; any other status is returned. */
static yoke_status note_failure(const yoke_run *run, run_kernel_device *d, yoke_status status)
{
    if (status != YOKE_ERROR_DEVICE && status != YOKE_ERROR_DEVICE_MEMORY) return status;
    if (!d->failed) snprintf(d->why, sizeof d->why, "%s", yoke_last_error(run->context));
    d->failed = 1;
    return YOKE_OK;
}

/* ---------------------------------------------------------------------------------------------------- arrays */

static int is_divided(const yoke_run_array *array) { return array->unit_bytes > 0; }

static yoke_status read_units(const run_device *device, const run_kernel_device *d, const yoke_run_array *array, int64_t k, int64_t first,
                              int64_t last)
{
    if (last <= first) return YOKE_OK;
    int64_t offset = first * array->unit_bytes;
    return yoke_queue_read(device->queue, d->buffers[k], offset, (last - first) * array->unit_bytes, (char *)array->memory + offset);
}

static yoke_status write_units(const run_device *device, const run_kernel_device *d, const yoke_run_array *array, int64_t k, int64_t first,
                               int64_t last)
{
    if (last <= first) return YOKE_OK;
    int64_t offset = first * array->unit_bytes;
    return yoke_queue_write(device->queue, d->buffers[k], offset, (last - first) * array->unit_bytes, (const char *)array->memory + offset);
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* What only the accelerator has of units outside [first, last) comes to the host. */
static yoke_status fetch(const run_device *device, run_kernel_device *d, const yoke_run_kernel *kernel, int64_t first, int64_t last)
{
    yoke_status status = YOKE_OK;
    for (int64_t k = 0; k < kernel->num_arrays && status == YOKE_OK; k++) {
        run_held *held = &d->held[k];
        if (!held->dirty || held->last <= held->first) continue;
        status = read_units(device, d, &kernel->arrays[k], k, held->first, smaller(held->last, larger(first, held->first)));
        if (status == YOKE_OK)
            status = read_units(device, d, &kernel->arrays[k], k, larger(held->first, smaller(last, held->last)), held->last);
        if (status == YOKE_OK && first >= last) *held = (run_held){0, 0, 0};
    }
    return status;
}

/* Kept arrays: units that were not there; whole ones once. */
static yoke_status send_kept(const run_device *device, run_kernel_device *d, const yoke_run_kernel *kernel)
{
    yoke_status status = YOKE_OK;
    d->moved = 0;
    for (int64_t k = 0; k < kernel->num_arrays && status == YOKE_OK; k++) {
        const yoke_run_array *array = &kernel->arrays[k];
        run_held *held = &d->held[k];
        if (!array->keep) continue;
        if (!is_divided(array)) {
            if (!d->sent[k]) status = yoke_queue_write(device->queue, d->buffers[k], 0, array->bytes, array->memory);
            d->sent[k] = status == YOKE_OK;
            continue;
        }
        int64_t from = larger(d->first, smaller(held->first, d->last)), to = smaller(d->last, larger(held->last, d->first)), moved;
        if (held->last <= held->first || to <= from) from = to = d->first; /* nothing of it is there */
        moved = d->last - d->first - (to - from);
        d->moved = larger(d->moved, moved);
        /* What is only written need not be sent: units write their own bytes, all of them that matter. */
        if (array->access & YOKE_RUN_READ) {
            status = write_units(device, d, array, k, d->first, from);
            if (status == YOKE_OK) status = write_units(device, d, array, k, to, d->last);
        }
        *held = (run_held){d->first, d->last, held->dirty && to > from};
    }
    return status;
}

static yoke_status send_others(const run_device *device, run_kernel_device *d, const yoke_run_kernel *kernel)
{
    yoke_status status = YOKE_OK;
    for (int64_t k = 0; k < kernel->num_arrays && status == YOKE_OK; k++) {
        const yoke_run_array *array = &kernel->arrays[k];
        if (array->keep || !(array->access & YOKE_RUN_READ)) continue;
        if (is_divided(array))
            status = write_units(device, d, array, k, d->first, d->last);
        else if (!d->sent[k])
            status = yoke_queue_write(device->queue, d->buffers[k], 0, array->bytes, array->memory);
        if (!is_divided(array)) d->sent[k] = status == YOKE_OK; /* until the end of this loop */
    }
    return status;
}

static int comes_back(const yoke_run_array *array) { return !array->keep && array->access & YOKE_RUN_WRITE; }

static yoke_status bring_others(const run_device *device, const run_kernel_device *d, const yoke_run_kernel *kernel)
{
    yoke_status status = YOKE_OK;
    for (int64_t k = 0; k < kernel->num_arrays && status == YOKE_OK; k++) {
        yoke_run_array to = kernel->arrays[k];
        if (d->staging[k] != NULL) to.memory = d->staging[k];
        if (comes_back(&to)) status = read_units(device, d, &to, k, d->first, d->last);
    }
    return status;
}

/* All of it has come. */
static void take_staged(const run_kernel_device *d, const yoke_run_kernel *kernel)
{
    for (int64_t k = 0; k < kernel->num_arrays; k++) {
        const yoke_run_array *array = &kernel->arrays[k];
        int64_t offset = d->first * array->unit_bytes;
        if (d->staging[k] != NULL)
            memcpy((char *)array->memory + offset, (const char *)d->staging[k] + offset,
                   (size_t)((d->last - d->first) * array->unit_bytes));
    }
}

/* -------------------------------------------------------------------------------------------------- launching */

/* On a thread of the device: its units in pieces, each by one thread. */
static void work_on_host(void *user)
{
    const run_task *task = user;
    const yoke_run_kernel *kernel = task->kernel;
    run_kernel_device *d = task->device;
    void *arrays[YOKE_RUN_MAX_ARRAYS];
    for (int64_t k = 0; k < kernel->num_arrays; k++) arrays[k] = kernel->arrays[k].memory;
    if (kernel->host != NULL) {
        kernel->host(d->first, d->last, arrays, kernel->user);
        d->done = 1;
        return;
    }
    const int64_t units = d->last - d->first, pieces = smaller(units, (int64_t)PIECES * omp_get_max_threads());
#pragma omp parallel for schedule(dynamic)
    for (int64_t piece = 0; piece < pieces; piece++) {
        static const yoke_group only = {.index = 0, .count = 1};
        int64_t first = d->first + units / pieces * piece + smaller(piece, units % pieces);
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

static yoke_status start_host(const run_device *device, run_kernel_device *d, run_task *task)
{
    yoke_status status = yoke_queue_record(device->queue, device->marks[1]);
    if (status == YOKE_OK) status = yoke_queue_call(device->queue, work_on_host, task, d->last - d->first);
    return status == YOKE_OK ? yoke_queue_record(device->queue, device->marks[2]) : status;
}

static yoke_status launch(const run_device *device, const run_kernel_device *d, const yoke_run_kernel *kernel)
{
    yoke_argument arguments[2 + YOKE_RUN_MAX_ARRAYS + RUN_MAX_ARGUMENTS];
    int64_t count = 0, items = (d->last - d->first) * kernel->items_per_unit,
            groups = (items + kernel->group_size - 1) / kernel->group_size;
    arguments[count++] = yoke_argument_int64(d->first);
    arguments[count++] = yoke_argument_int64(d->last);
    for (int64_t k = 0; k < kernel->num_arrays; k++) arguments[count++] = yoke_argument_buffer(d->buffers[k]);
    for (int64_t k = 0; k < kernel->num_arguments; k++) arguments[count++] = kernel->arguments[k];
    return yoke_queue_launch(device->queue, d->function, smaller(groups, most_groups), kernel->group_size, d->last - d->first, arguments,
                             count);
}

static yoke_status start_accelerator(const run_device *device, run_kernel_device *d, const yoke_run_kernel *kernel)
{
    yoke_status status = yoke_queue_record(device->queue, device->marks[0]);
    if (status == YOKE_OK) status = send_kept(device, d, kernel);
    if (status == YOKE_OK) status = yoke_queue_record(device->queue, device->marks[1]);
    if (status == YOKE_OK) status = send_others(device, d, kernel);
    if (status == YOKE_OK) status = launch(device, d, kernel);
    if (status == YOKE_OK) status = bring_others(device, d, kernel);
    return status == YOKE_OK ? yoke_queue_record(device->queue, device->marks[2]) : status;
}

/* ----------------------------------------------------------------------------------------------------- a piece */

typedef struct piece_report {
    double seconds[RUN_MAX_DEVICES], moved_s[RUN_MAX_DEVICES];
    int64_t moved[RUN_MAX_DEVICES];
} piece_report;

/* Units that an accelerator gives up come to the host, before anybody works on them. */
static yoke_status fetch_all(yoke_run *run, yoke_run_kernel *kernel)
{
    yoke_status result = YOKE_OK;
    for (int i = 0; i < run->num_devices; i++) {
        run_kernel_device *d = &kernel->devices[i];
        if (!d->usable || !d->ready || !run->devices[i].accelerator || !run_is_active(run, i)) continue;
        yoke_status status = fetch(&run->devices[i], d, kernel, d->first, d->last);
        if (status == YOKE_OK) status = yoke_queue_finish(run->devices[i].queue);
        status = note_failure(run, d, status);
        if (result == YOKE_OK) result = status;
    }
    return result;
}

static yoke_status start_all(yoke_run *run, yoke_run_kernel *kernel, run_task *tasks)
{
    yoke_status result = YOKE_OK;
    for (int pass = 0; pass < 2; pass++) /* hosts first: copies to an accelerator may keep this thread */
        for (int i = 0; i < run->num_devices && result == YOKE_OK; i++) {
            run_kernel_device *d = &kernel->devices[i];
            if (d->failed || d->last <= d->first || run->devices[i].accelerator != pass) continue;
            tasks[i] = (run_task){kernel, d};
            d->done = 0;
            result = note_failure(run, d,
                                  pass == 0 ? start_host(&run->devices[i], d, &tasks[i]) : start_accelerator(&run->devices[i], d, kernel));
        }
    return result;
}

/* Waits for all, whatever happened: what they work on must stay until then. */
static yoke_status finish_all(yoke_run *run, yoke_run_kernel *kernel, piece_report *report)
{
    yoke_status result = YOKE_OK;
    for (int i = 0; i < run->num_devices; i++) {
        run_kernel_device *d = &kernel->devices[i];
        const run_device *device = &run->devices[i];
        report->seconds[i] = NAN;
        report->moved_s[i] = 0;
        report->moved[i] = d->moved;
        if (d->last <= d->first || !run_is_active(run, i)) continue;
        yoke_status status = yoke_queue_finish(device->queue);
        if (status == YOKE_OK && !d->failed) status = yoke_event_elapsed_s(device->marks[1], device->marks[2], &report->seconds[i]);
        if (status == YOKE_OK && !d->failed && device->accelerator && d->moved > 0)
            status = yoke_event_elapsed_s(device->marks[0], device->marks[1], &report->moved_s[i]);
        status = note_failure(run, d, status);
        if (result == YOKE_OK) result = status;
        if (status == YOKE_OK && device->accelerator && !d->failed) take_staged(d, kernel);
        for (int64_t k = 0; k < kernel->num_arrays && device->accelerator && !d->failed; k++)
            d->held[k].dirty |= kernel->arrays[k].keep && is_divided(&kernel->arrays[k]) && kernel->arrays[k].access & YOKE_RUN_WRITE;
        if (!d->warm && !run->simulated) report->seconds[i] = NAN; /* what drivers do at a first launch is not the kernel's */
        d->warm = 1;
    }
    return result;
}

/* Takes out what failed.  again [num_devices]: the units that have to be done once more. */
static yoke_status take_out(yoke_run *run, yoke_run_kernel *kernel, int *failed)
{
    yoke_status result = YOKE_OK;
    int lost = -1;
    *failed = 0;
    for (int i = 0; i < run->num_devices; i++) {
        run_kernel_device *d = &kernel->devices[i];
        if (!d->failed || !run_is_active(run, i)) continue;
        for (int64_t k = 0; k < kernel->num_arrays; k++)
            if (d->held[k].dirty && d->held[k].last > d->held[k].first) lost = i;
        yoke_status status = yoke_run_fail(run, i, d->why);
        if (result == YOKE_OK) result = status;
        run_kernel_forget(kernel, i);
        *failed = 1;
    }
    if (lost < 0) return result;
    return yoke_fail(run->context, YOKE_ERROR_DEVICE, "%s failed, and no other device had the latest results of a kept array: %s",
                     run->devices[lost].info->name, kernel->devices[lost].why);
}

static uint64_t allowed_devices(const yoke_run *run, const yoke_run_kernel *kernel)
{
    uint64_t allowed = 0;
    for (int i = 0; i < run->num_devices; i++) allowed |= (uint64_t)(kernel->devices[i].usable != 0) << i;
    return allowed;
}

/* Who rests from now on, with so many units left.  The others are ready then; where one cannot be, it is chosen again without it. */
static yoke_status choose_resting(yoke_run *run, yoke_run_kernel *kernel, int64_t units, yoke_run_rest *rests)
{
    for (;;) {
        const uint64_t allowed = allowed_devices(run, kernel);
        yoke_status status = run_rest(run, kernel->work, units, allowed, &kernel->resting, rests);
        for (int i = 0; i < run->num_devices && status == YOKE_OK; i++)
            if (run_is_active(run, i) && !(kernel->resting >> i & 1)) status = run_kernel_ready(kernel, i, NULL);
        if (status != YOKE_OK || allowed_devices(run, kernel) == allowed) return status;
    }
}

static yoke_status plan_piece(yoke_run *run, const yoke_run_kernel *kernel, int64_t count)
{
    const yoke_phase phase = {.work = kernel->work, .calls = 1, .units = count, .barrier = 1};
    const yoke_round round = {.num_cuts = 1, .cut_units = &count, .num_phases = 1, .phases = &phase};
    return run_plan_rounds(run, &round, 1, allowed_devices(run, kernel));
}

static yoke_status work_piece(yoke_run *run, yoke_run_kernel *kernel, int64_t from, int64_t count);

/* Units of devices that failed are done by the others. */
static yoke_status repeat(yoke_run *run, yoke_run_kernel *kernel)
{
    int64_t first[RUN_MAX_DEVICES], last[RUN_MAX_DEVICES], left = 0;
    yoke_run_rest rests[RUN_MAX_DEVICES];
    run->forced = -1;
    for (int i = 0; i < run->num_devices; i++) {
        run_kernel_device *d = &kernel->devices[i];
        first[i] = last[i] = 0;
        if (d->failed && !d->done && d->last > d->first) {
            first[i] = d->first;
            last[i] = d->last;
        }
        if (d->failed) d->usable = d->failed = 0;
        left += last[i] - first[i];
    }
    yoke_status status = choose_resting(run, kernel, left, rests);
    for (int i = 0; i < run->num_devices && status == YOKE_OK; i++)
        if (last[i] > first[i]) status = work_piece(run, kernel, first[i], last[i] - first[i]);
    return status;
}

/* Units from .. from + count - 1: one round. */
static yoke_status work_piece(yoke_run *run, yoke_run_kernel *kernel, int64_t from, int64_t count)
{
    run_task tasks[RUN_MAX_DEVICES];
    piece_report report;
    int failed = 0;
    yoke_status status = plan_piece(run, kernel, count);
    if (status == YOKE_OK) status = yoke_run_begin(run);
    if (status != YOKE_OK) return status;
    for (int i = 0; i < run->num_devices; i++) {
        run_kernel_device *d = &kernel->devices[i];
        d->first = from + run->first[0][i];
        d->last = from + run->first[0][i + 1];
        d->done = d->failed = 0;
        d->moved = 0;
    }
    status = fetch_all(run, kernel);
    yoke_status started = status == YOKE_OK ? start_all(run, kernel, tasks) : YOKE_OK;
    yoke_status finished = finish_all(run, kernel, &report);
    if (status == YOKE_OK) status = started != YOKE_OK ? started : finished;
    const yoke_run_report told = {
        .seconds = report.seconds, .moved_s = kernel->tries ? NULL : report.moved_s, .moved_units = kernel->tries ? NULL : report.moved};
    yoke_status ended = yoke_run_end(run, &told, NULL);
    if (status == YOKE_OK) status = ended;
    if (status == YOKE_OK) status = take_out(run, kernel, &failed);
    return status == YOKE_OK && failed ? repeat(run, kernel) : status;
}

/* -------------------------------------------------------------------------------------------------------- loops */

static yoke_status check(yoke_run *run, const yoke_run_kernel *kernel, int64_t n, const yoke_argument *arguments, int64_t num_arguments)
{
    if (n < 0) return yoke_fail(run->context, YOKE_ERROR_ARGUMENT, "yoke_run_loop: n is %lld; it must not be negative", (long long)n);
    if (run->begun) return yoke_fail(run->context, YOKE_ERROR_ARGUMENT, "yoke_run_loop: a round has begun; end it first");
    if (num_arguments < 0 || num_arguments > RUN_MAX_ARGUMENTS || (num_arguments > 0 && arguments == NULL))
        return yoke_fail(run->context, YOKE_ERROR_ARGUMENT, "yoke_run_loop: %lld arguments; there may be 0 to %d", (long long)num_arguments,
                         (int)RUN_MAX_ARGUMENTS);
    for (int64_t k = 0; k < num_arguments; k++)
        if (arguments[k].kind == YOKE_ARGUMENT_BUFFER)
            return yoke_fail(run->context, YOKE_ERROR_ARGUMENT,
                             "yoke_run_loop: argument %lld is a buffer; give arrays in the definition instead", (long long)k);
    for (int64_t k = 0; k < kernel->num_arrays; k++)
        if (is_divided(&kernel->arrays[k]) && n > kernel->arrays[k].bytes / kernel->arrays[k].unit_bytes)
            return yoke_fail(run->context, YOKE_ERROR_ARGUMENT, "yoke_run_loop: %lld units, but array %lld has %lld; loop over fewer",
                             (long long)n, (long long)k, (long long)(kernel->arrays[k].bytes / kernel->arrays[k].unit_bytes));
    return YOKE_OK;
}

static int may_work(const yoke_run *run, const yoke_run_kernel *kernel, int i)
{
    return run_is_active(run, i) && kernel->devices[i].usable && !(kernel->resting >> i & 1);
}

/* Nonzero: a device that may work on it was never measured, and there are others. */
static int wants_trial(const yoke_run *run, const yoke_run_kernel *kernel, int work)
{
    int count = 0, unmeasured = 0;
    for (int i = 0; i < run->num_devices; i++) {
        if (!may_work(run, kernel, i)) continue;
        count++;
        unmeasured |= !run_is_measured(run, work, i);
    }
    return count > 1 && unmeasured && isnan(run->share);
}

/* A few units for each device while the others rest: what do they lose beside each other? */
static yoke_status try_alone(yoke_run *run, yoke_run_kernel *kernel, int64_t n, int64_t *done)
{
    const int64_t count = larger(n / ALONE_PART, 4);
    yoke_status status = YOKE_OK;
    for (int i = 0; i < run->num_devices && status == YOKE_OK; i++) {
        if (!may_work(run, kernel, i)) continue;
        run->forced = i;
        status = work_piece(run, kernel, *done, count);
        run->forced = -1;
        *done += count;
    }
    return status;
}

/* Some units for a device that rests alone, after a few that nothing is learned from; of several devices each has a loop of its own. */
static yoke_status try_resting(yoke_run *run, yoke_run_kernel *kernel, int64_t n, int64_t *done)
{
    enum { FEW = 8 };
    yoke_run_rest rests[RUN_MAX_DEVICES];
    int i = 0;
    yoke_status status = choose_resting(run, kernel, n, rests);
    while (status == YOKE_OK && i < run->num_devices && rests[i].trial_units == 0) i++;
    if (status != YOKE_OK || i == run->num_devices || n < LEAST) return status;
    status = run_kernel_ready(kernel, i, NULL);
    if (status != YOKE_OK || !kernel->devices[i].usable) return status != YOKE_OK ? status : choose_resting(run, kernel, n, rests);
    const int64_t units = rests[i].trial_units, pieces[] = {run->simulated ? 0 : larger(units / FEW, 1), units};
    kernel->tries = 1;
    for (int k = 0; k < 2 && status == YOKE_OK; k++) {
        run->forced = i;
        if (pieces[k] > 0) status = work_piece(run, kernel, *done, pieces[k]);
        *done += pieces[k];
    }
    run->forced = -1;
    return status == YOKE_OK ? choose_resting(run, kernel, n - *done, rests) : status;
}

static yoke_status try_devices(yoke_run *run, yoke_run_kernel *kernel, int64_t n, int64_t *done)
{
    int work = 0;
    kernel->tries = 0;
    yoke_status status = run_work_find(run, kernel->work, &work);
    if (status == YOKE_OK) status = run_work_open(run, work);
    if (status == YOKE_OK) status = try_resting(run, kernel, n, done);
    if (status != YOKE_OK || n < (int64_t)LEAST * run->num_devices || !wants_trial(run, kernel, work)) return status;
    kernel->tries = 1;
    int64_t count = larger(n / WARM_PART, run->num_devices);
    if (!run->simulated) { /* nothing is learned from a first launch */
        status = work_piece(run, kernel, *done, count);
        *done += count;
    }
    count = larger(n / TRIED_PART, 4 * (int64_t)run->num_devices);
    if (status == YOKE_OK) status = work_piece(run, kernel, *done, count);
    *done += count;
    return status == YOKE_OK ? try_alone(run, kernel, n, done) : status;
}

yoke_status yoke_run_loop(yoke_run *run, yoke_run_kernel *kernel, int64_t n, const yoke_argument *arguments, int64_t num_arguments)
{
    int64_t done = 0;
    if (run == NULL || kernel == NULL)
        return yoke_fail(run != NULL ? run->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_run_loop: %s is NULL",
                         run == NULL ? "run" : "kernel");
    yoke_status status = check(run, kernel, n, arguments, num_arguments);
    if (status == YOKE_OK) status = run_need_device(run);
    if (status != YOKE_OK || n == 0) return status;
    kernel->arguments = arguments;
    kernel->num_arguments = num_arguments;
    for (int i = 0; i < run->num_devices; i++) /* the host may have changed what is not kept */
        for (int64_t k = 0; k < kernel->num_arrays; k++)
            if (!kernel->arrays[k].keep) kernel->devices[i].sent[k] = 0;
    run->resting = &kernel->resting;
    status = try_devices(run, kernel, n, &done);
    if (status == YOKE_OK) status = work_piece(run, kernel, done, n - done);
    run->resting = NULL;
    return status;
}

yoke_status yoke_run_sync(yoke_run *run, yoke_run_kernel *kernel)
{
    int failed = 0;
    if (run == NULL || kernel == NULL)
        return yoke_fail(run != NULL ? run->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_run_sync: %s is NULL",
                         run == NULL ? "run" : "kernel");
    for (int i = 0; i < run->num_devices; i++) {
        kernel->devices[i].first = kernel->devices[i].last = 0;
        kernel->devices[i].failed = 0;
    }
    yoke_status status = fetch_all(run, kernel);
    if (status == YOKE_OK) status = take_out(run, kernel, &failed);
    for (int i = 0; i < run->num_devices && status == YOKE_OK; i++) run_kernel_forget(kernel, i);
    return status;
}
