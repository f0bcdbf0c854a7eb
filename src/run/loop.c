/*
 * The simple interface: the units of a loop are divided among all devices.
 *
 * One thread starts the work of every device and then waits for each device: hosts have a worker thread of their own behind their queue,
 * and accelerators work by themselves.  So one context is enough, and nothing need be locked.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "run/kernel.h"

/*
 * If a device was never measured, the first units of a loop measure the devices, at first in pieces of 1/FIRST_PART of the units (trial.c).
 * Loops of fewer than LEAST units for each device are not worth it.
 */
enum { FIRST_PART = 1024, ALONE_PART = 128, LEAST = 64 };

/* ----------------------------------------------------------------------------------------------------- a piece */

/* Copies units that an accelerator gives up to the host, before any device works on them. */
static yoke_status fetch_all(yoke_run *run, yoke_run_kernel *kernel)
{
    yoke_status result = YOKE_OK;
    for (int i = 0; i < run->num_devices; i++) {
        run_kernel_device *d = &kernel->devices[i];
        if (!d->usable || !d->ready || !run->devices[i].accelerator || !run_is_active(run, i)) continue;
        yoke_status status = run_kernel_fetch(&run->devices[i], d, kernel, d->first, d->last);
        if (status == YOKE_OK) status = yoke_queue_finish(run->devices[i].queue);
        if (status == YOKE_OK) run_kernel_trim(d, kernel, d->first, d->last); /* not earlier: until then copies may fail */
        status = run_kernel_note(run, d, status);
        if (result == YOKE_OK) result = status;
    }
    return result;
}

static yoke_status start_all(yoke_run *run, yoke_run_kernel *kernel)
{
    yoke_status result = YOKE_OK;
    for (int pass = 0; pass < 2; pass++) /* hosts first, as copies to an accelerator may block this thread */
        for (int i = 0; i < run->num_devices && result == YOKE_OK; i++) {
            const run_kernel_device *d = &kernel->devices[i];
            if (!d->failed && d->last > d->first && run->devices[i].accelerator == pass) result = run_kernel_start(run, kernel, i);
        }
    return result;
}

/* Waits for all devices, even after an error: the data on which they work must stay until then. */
static yoke_status finish_all(yoke_run *run, yoke_run_kernel *kernel, run_piece_report *report)
{
    yoke_status result = YOKE_OK;
    for (int i = 0; i < run->num_devices; i++) {
        run_kernel_device *d = &kernel->devices[i];
        if (d->last <= d->first || !run_is_active(run, i)) continue;
        yoke_status status = run_kernel_finish(run, kernel, i, &report->seconds[i], &report->moved_s[i]);
        if (result == YOKE_OK) result = status;
        report->moved[i] = d->moved;
        if (!d->warm && !run->simulated) report->seconds[i] = NAN; /* the time of a first launch includes work of the driver */
        d->warm = 1;
    }
    return result;
}

/* Excludes devices that failed.  *failed: nonzero: a device failed, and its units must be done again. */
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

/*
 * Chooses the devices that rest from now on, if this number of units is left, and prepares the others.  If one of these cannot be prepared,
 * the choice is made again without it.
 */
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

static yoke_status work_piece(yoke_run *run, yoke_run_kernel *kernel, int64_t *from, int64_t count, int64_t last);

/* Has the other devices do the units of devices that failed. */
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
        if (last[i] > first[i]) status = work_piece(run, kernel, &first[i], last[i] - first[i], 0);
    return status;
}

/* Sets each device's part of the planned round, which begins with unit `from`. */
static void set_pieces(const yoke_run *run, yoke_run_kernel *kernel, int64_t from)
{
    for (int i = 0; i < run->num_devices; i++) {
        kernel->devices[i].first = from + run->first[0][i];
        kernel->devices[i].last = from + run->first[0][i + 1];
    }
}

static void clear_pieces(const yoke_run *run, yoke_run_kernel *kernel)
{
    for (int i = 0; i < run->num_devices; i++) {
        run_kernel_device *d = &kernel->devices[i];
        d->first = d->last = d->moved = 0;
        d->started = d->done = d->failed = 0;
    }
}

/* Executes each device's part of the planned round. */
static yoke_status work_as_planned(yoke_run *run, yoke_run_kernel *kernel, int64_t from, run_piece_report *report)
{
    set_pieces(run, kernel, from);
    yoke_status status = fetch_all(run, kernel);
    const yoke_status started = status == YOKE_OK ? start_all(run, kernel) : YOKE_OK, finished = finish_all(run, kernel, report);
    if (status == YOKE_OK) status = started;
    return status == YOKE_OK ? finished : status;
}

/*
 * Executes the planned round as work_as_planned, but devices that have finished continue with further units, up to unit `last`.  Before
 * that, accelerators give up all units of kept arrays, as it is not known yet which device will have which units.
 */
static yoke_status work_as_trial(yoke_run *run, yoke_run_kernel *kernel, int64_t from, int64_t *next, int64_t last,
                                 run_piece_report *report)
{
    yoke_status status = fetch_all(run, kernel);
    set_pieces(run, kernel, from);
    return status == YOKE_OK ? run_kernel_try(run, kernel, next, last, report) : status;
}

/*
 * Executes one round of `count` units, which begins with unit *from.  If last > 0 and the round measures devices, they continue with
 * further units up to unit `last`.  *from: afterwards the first unit that was not assigned.
 */
static yoke_status work_piece(yoke_run *run, yoke_run_kernel *kernel, int64_t *from, int64_t count, int64_t last)
{
    run_piece_report report = {.moved = {0}};
    const int64_t first = *from;
    int failed = 0;
    yoke_status status = plan_piece(run, kernel, count);
    if (status == YOKE_OK) status = yoke_run_begin(run);
    if (status != YOKE_OK) return status;
    for (int i = 0; i < RUN_MAX_DEVICES; i++) report.seconds[i] = NAN;
    const int is_trial = last > 0 && run->plan->decision == YOKE_RUN_STARTED;
    *from += count;
    clear_pieces(run, kernel);
    status = is_trial ? work_as_trial(run, kernel, first, from, last, &report) : work_as_planned(run, kernel, first, &report);
    const yoke_run_report told = {.seconds = report.seconds,
                                  .moved_s = kernel->tries ? NULL : report.moved_s,
                                  .moved_units = kernel->tries ? NULL : report.moved,
                                  /* The time of a trial includes copies that later loops do not need. */
                                  .waited = kernel->tries,
                                  .units = is_trial ? report.units : NULL,
                                  .busy_s = is_trial ? report.busy_s : NULL};
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
        if (run_array_is_divided(&kernel->arrays[k]) && n > kernel->arrays[k].bytes / kernel->arrays[k].unit_bytes)
            return yoke_fail(run->context, YOKE_ERROR_ARGUMENT, "yoke_run_loop: %lld units, but array %lld has %lld; loop over fewer",
                             (long long)n, (long long)k, (long long)(kernel->arrays[k].bytes / kernel->arrays[k].unit_bytes));
    return YOKE_OK;
}

static int may_work(const yoke_run *run, const yoke_run_kernel *kernel, int i)
{
    return run_is_active(run, i) && kernel->devices[i].usable && !(kernel->resting >> i & 1);
}

/* Nonzero: a device that may work was never measured with this work, and it is not the only one that may work. */
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

/* Seconds of this number of units while the other devices work; NaN: not known, or the device may not work. */
static double beside_s(const yoke_run *run, const yoke_run_kernel *kernel, int work, int i, int64_t units)
{
    if (!may_work(run, kernel, i)) return NAN;
    return run_seconds(run, work, i, run->devices[i].num_levels - 1, 1, (double)units, NULL);
}

/*
 * Has each device do a few units while the others rest, to find how much the devices slow each other down.  A device that takes more than
 * twice as long as the fastest one is left out.
 */
static yoke_status try_alone(yoke_run *run, yoke_run_kernel *kernel, int work, int64_t n, int64_t *done)
{
    static const double hopeless = 2;
    const int64_t count = run_larger(n / ALONE_PART, 4);
    double least_s = INFINITY;
    yoke_status status = YOKE_OK;
    for (int i = 0; i < run->num_devices; i++) least_s = fmin(least_s, beside_s(run, kernel, work, i, count));
    for (int i = 0; i < run->num_devices && status == YOKE_OK && *done + count <= n; i++) {
        if (!(beside_s(run, kernel, work, i, count) <= hopeless * least_s)) continue;
        run->forced = i;
        status = work_piece(run, kernel, done, count, 0);
        run->forced = -1;
    }
    return status;
}

/*
 * Has a resting device do a number of units alone, after a few units from which nothing is learned.  If there are several such devices,
 * each of them is tried in a loop of its own.
 */
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
    const int64_t units = rests[i].trial_units, pieces[] = {run->simulated ? 0 : run_larger(units / FEW, 1), units};
    kernel->tries = 1;
    for (int k = 0; k < 2 && status == YOKE_OK; k++) {
        run->forced = i;
        if (pieces[k] > 0) status = work_piece(run, kernel, done, pieces[k], 0);
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
    const int64_t count = run->num_devices * run_larger(n / FIRST_PART / run->num_devices, 1);
    status = work_piece(run, kernel, done, count, n);
    return status == YOKE_OK ? try_alone(run, kernel, work, n, done) : status;
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
    for (int i = 0; i < run->num_devices; i++) /* the host may have changed arrays that are not kept */
        for (int64_t k = 0; k < kernel->num_arrays; k++)
            if (!kernel->arrays[k].keep) kernel->devices[i].sent[k] = 0;
    run->resting = &kernel->resting;
    status = try_devices(run, kernel, n, &done);
    if (status == YOKE_OK && done < n) status = work_piece(run, kernel, &done, n - done, 0);
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
