/* Rounds: opens devices, distributes the work among them, and handles failures. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "share/sharing.h"

/* ------------------------------------------------------------------------------------------------- failures */

/* If the status means that the device cannot continue, records the failure and returns OK. */
static yoke_status note(dense_sharing *s, int i, yoke_status status)
{
    dense_share_device *d = &s->device[i];
    if (status != YOKE_ERROR_DEVICE && status != YOKE_ERROR_DEVICE_MEMORY) return status;
    if (!d->failed) snprintf(d->why, sizeof d->why, "%s", yoke_last_error(s->context));
    d->failed = 1;
    return YOKE_OK;
}

yoke_status dense_share_get_devices(dense_sharing *s)
{
    int64_t count = 0;
    yoke_status status = yoke_run_devices(s->run, &s->list, &count);
    if (!status && count > DENSE_MAX_DEVICES)
        return yoke_fail(s->context, YOKE_ERROR_UNAVAILABLE, "%lld devices; there may be %d at most", (long long)count, DENSE_MAX_DEVICES);
    if (!status) s->count = (int)count;
    return status;
}

static yoke_status take_out(dense_sharing *s)
{
    yoke_status status = YOKE_OK;
    for (int i = 0; i < s->count && !status; i++) {
        if (!s->device[i].failed || !s->list[i].active) continue;
        if (s->shared) s->shared->part[i].failed = s->device[i].opened;
        status = yoke_run_fail(s->run, i, s->device[i].why);
        if (!status) status = dense_share_get_devices(s);
    }
    return status;
}

/* -------------------------------------------------------------------------------------------------- opening */

/*
 * Nonzero: no other device works beside this host.  Then it works on the calling thread, whose OpenMP threads are awake.  On a thread of
 * its own it would wait for a core until those threads sleep, which takes milliseconds.
 */
static int is_only_one(const dense_sharing *s, int i)
{
    for (int other = 0; other < s->count; other++)
        if (other != i && s->list[other].active && !s->list[other].shares_cores) return 0;
    return !s->list[i].accelerator;
}

static yoke_status open_device(dense_sharing *s, int i)
{
    dense_share_device *d = &s->device[i];
    const dense_kernel *k = s->kernel;
    if (!s->list[i].accelerator && k->no_host) return yoke_fail(s->context, YOKE_ERROR_UNAVAILABLE, "%s", k->no_host);
    d->kernel = k;
    d->device = s->list[i].device;
    yoke_status status = yoke_queue_create(d->device, is_only_one(s, i) ? YOKE_QUEUE_INLINE : 0, &d->queue);
    for (int m = 0; m < 2 && !status; m++) status = yoke_event_create(d->device, &d->marks[m]);
    if (!status && !s->list[i].accelerator && k->ready) status = yoke_queue_call(d->queue, k->ready, k->user, 0);
    if (!status && s->list[i].accelerator) {
        d->opened = 1;
        status = k->open(k->user, i, d->device, d->queue);
    }
    if (!status) d->opened = 1;
    return status;
}

/* Opens device i, if it is not open yet.  A device that cannot do this work is marked as failed. */
static yoke_status open_once(dense_sharing *s, int i)
{
    if (!s->list[i].active || s->device[i].opened || s->device[i].failed) return YOKE_OK;
    yoke_status status = open_device(s, i);
    if (status == YOKE_ERROR_INPUT || status == YOKE_ERROR_UNAVAILABLE) status = YOKE_ERROR_DEVICE;
    return note(s, i, status);
}

yoke_status dense_sharing_open_rest(dense_sharing *s)
{
    yoke_status status = dense_share_get_devices(s);
    for (int i = 0; i < s->count && !status; i++) status = open_once(s, i);
    return status ? status : take_out(s);
}

/* Opens all devices except those that may rest. */
static yoke_status open_most(dense_sharing *s)
{
    yoke_status status = dense_share_get_devices(s);
    for (int i = 0; i < s->count && !status; i++)
        if (!s->list[i].shares_cores) status = open_once(s, i);
    return status ? status : take_out(s);
}

/* Opens the devices that may have units in the next round.  *lost: nonzero if one of them cannot do this work. */
static yoke_status open_working(dense_sharing *s, int *lost)
{
    yoke_status status = YOKE_OK;
    *lost = 0;
    for (int i = 0; i < s->count && !status; i++) {
        if (!dense_share_works(s, i) && s->alone != i) continue;
        status = open_once(s, i);
        *lost = *lost || s->device[i].failed;
    }
    return status || !*lost ? status : take_out(s);
}

static void close_all(dense_sharing *s)
{
    for (int i = 0; i < s->count; i++) {
        dense_share_device *d = &s->device[i];
        if (!d->device) continue;
        yoke_queue_destroy(d->queue);
        for (int m = 0; m < 2; m++) yoke_event_destroy(d->marks[m]);
        if (d->opened && s->list[i].accelerator) s->kernel->close(s->kernel->user, i);
    }
}

/* --------------------------------------------------------------------------------------------------- a round */

yoke_status dense_share_push(dense_sharing *s, int64_t first, int64_t last)
{
    if (first >= last) return YOKE_OK;
    yoke_status status = yoke_grow(s->context, &s->left, s->ranges, &s->room, 8, sizeof *s->left);
    if (!status) s->left[s->ranges++] = (dense_range){first, last};
    return status;
}

static yoke_status plan(dense_sharing *s, dense_range taken)
{
    const dense_kernel *k = s->kernel;
    const int64_t units = taken.last - taken.first;
    int64_t most[DENSE_MAX_DEVICES];
    const yoke_phase phase = {.work = k->work, .calls = 1, .cut = 0, .units = dense_share_weigh(k, units), .barrier = 1};
    for (int i = 0; i < s->count; i++) {
        /* A host that rests is open too, and computes what does not fit on other devices. */
        const int host = s->list[i].active && !s->list[i].accelerator;
        const int works = s->alone >= 0 ? s->alone == i : host || dense_share_works(s, i);
        most[i] = !works ? 0 : s->list[i].accelerator && k->most_units ? k->most_units(k->user, i) : INT64_MAX;
    }
    const yoke_round round = {.num_cuts = 1, .cut_units = &units, .num_phases = 1, .phases = &phase, .max_units = most};
    const double begin_s = yoke_clock_s();
    yoke_status status = yoke_run_plan(s->run, &round, 1, &s->assignment);
    s->shared->plan_s += yoke_clock_s() - begin_s;
    for (int i = 0; i < s->count && !status; i++) {
        s->device[i].first = taken.first + s->assignment->first[0][i];
        s->device[i].last = taken.first + s->assignment->first[0][i + 1];
        s->device[i].done = 0;
        s->device[i].units = 0;
        s->device[i].busy_s = 0;
    }
    return status;
}

/* Computes one unit without measuring it, because drivers do additional work at a first launch.  The unit is computed again later. */
static yoke_status warm(dense_sharing *s, int i)
{
    dense_share_device *d = &s->device[i];
    const dense_kernel *k = s->kernel;
    if (!s->list[i].accelerator) return YOKE_OK;
    yoke_status status = k->prepare(k->user, i, d->last - d->first);
    if (!status) status = k->start(k->user, i, d->first, d->first + 1);
    yoke_status finished = yoke_queue_finish(d->queue);
    return status ? status : finished;
}

static yoke_status warm_all(dense_sharing *s)
{
    yoke_status status = YOKE_OK;
    for (int i = 0; i < s->count && !status; i++) {
        const int64_t units = s->device[i].last - s->device[i].first;
        if (units > 0 && !s->device[i].is_warm && !dense_share_is_known_of(s, i, units)) status = note(s, i, warm(s, i));
        s->device[i].is_warm = s->device[i].is_warm || units > 0;
    }
    return status;
}

static void work_on_host(void *user)
{
    dense_share_device *d = user;
    d->kernel->host(d->kernel->user, d->first, d->last);
    d->done = 1;
}

static yoke_status start_device(dense_sharing *s, int i)
{
    dense_share_device *d = &s->device[i];
    const dense_kernel *k = d->kernel;
    d->done = 0;
    yoke_status status = s->list[i].accelerator ? k->prepare(k->user, i, d->last - d->first) : YOKE_OK;
    if (!status) status = yoke_queue_record(d->queue, d->marks[0]);
    if (!status)
        status = s->list[i].accelerator ? k->start(k->user, i, d->first, d->last)
                                        : yoke_queue_call(d->queue, work_on_host, d, dense_share_weigh(k, d->last - d->first));
    return status ? status : yoke_queue_record(d->queue, d->marks[1]);
}

yoke_status dense_share_start(dense_sharing *s, int i) { return note(s, i, start_device(s, i)); }

/* Starts accelerators first, because the calls of a host may block this thread. */
static yoke_status start_all(dense_sharing *s)
{
    yoke_status status = YOKE_OK;
    for (int host = 0; host < 2; host++)
        for (int i = 0; i < s->count && !status; i++) {
            const dense_share_device *d = &s->device[i];
            if (d->last > d->first && !d->failed && s->list[i].accelerator == !host) status = dense_share_start(s, i);
        }
    return status;
}

/* Waits for the device, even after errors: the data that it works on must stay valid until then. */
yoke_status dense_share_finish(dense_sharing *s, int i, double *seconds)
{
    dense_share_device *d = &s->device[i];
    if (d->last <= d->first) return YOKE_OK;
    yoke_status status = yoke_queue_finish(d->queue);
    if (d->failed) return note(s, i, status);
    if (!status) status = yoke_event_elapsed_s(d->marks[0], d->marks[1], seconds);
    if (!status && s->list[i].accelerator) {
        const double begin_s = yoke_device_clock_s(d->device);
        d->done = 1;
        if (d->kernel->finish) d->kernel->finish(d->kernel->user, i, d->first, d->last);
        *seconds += yoke_device_clock_s(d->device) - begin_s;
    }
    return note(s, i, status);
}

/* Each device does the units planned for it. */
static yoke_status work_as_planned(dense_sharing *s, double *seconds)
{
    yoke_status status = start_all(s);
    for (int i = 0; i < s->count; i++) {
        yoke_status finished = dense_share_finish(s, i, &seconds[i]);
        if (!status) status = finished;
    }
    for (int i = 0; i < s->count && !status; i++) status = dense_share_add_piece(s, i, seconds[i]);
    return status;
}

/* Nonzero: the planned round is the first measurement of some devices. */
static int is_trial(const dense_sharing *s)
{
    int working = 0;
    for (int i = 0; i < s->count; i++) working += s->device[i].last > s->device[i].first;
    return s->assignment->decision == YOKE_RUN_STARTED && working > 1;
}

static yoke_status work(dense_sharing *s)
{
    double seconds[DENSE_MAX_DEVICES], busy_s[DENSE_MAX_DEVICES];
    int64_t units[DENSE_MAX_DEVICES];
    yoke_run_report report = {.seconds = seconds};
    yoke_cost measured;
    int any = 0, lost = 0;
    for (int i = 0; i < DENSE_MAX_DEVICES; i++) seconds[i] = NAN;
    dense_range taken = {0, 0};
    yoke_status status = dense_share_next(s, &taken);
    if (!status) status = open_working(s, &lost);
    if (status || lost) return status ? status : dense_share_push(s, taken.first, taken.last);
    status = plan(s, taken);
    if (!status && !is_trial(s)) status = warm_all(s);
    if (!status) status = yoke_run_begin(s->run);
    if (status) return status;
    if (is_trial(s)) {
        report.units = units;
        report.busy_s = busy_s;
        status = dense_share_try_devices(s, units, seconds);
    } else {
        status = work_as_planned(s, seconds);
    }
    for (int i = 0; i < s->count; i++) {
        busy_s[i] = s->device[i].busy_s;
        any = any || (s->device[i].failed && s->list[i].active);
    }
    if (any) {
        s->rate = 0;
        for (int i = 0; i < s->count; i++) s->shared->part[i].energy_j = NAN; /* the energy of an abandoned round is not known */
        return status ? status : take_out(s);
    }
    yoke_status ended = yoke_run_end(s->run, &report, &measured);
    if (!status) status = ended;
    if (!status) dense_share_add_round(s, &measured);
    return status ? status : dense_share_add_energies(s, measured.time_s);
}

/* --------------------------------------------------------------------------------------------------- trials */

/* Makes one call on all devices with units.  If one fails, *failed is its number. */
static yoke_status call_once(dense_sharing *s, double *seconds, int64_t *failed)
{
    yoke_status status = start_all(s);
    for (int i = 0; i < s->count; i++) {
        double one = 0;
        yoke_status finished = dense_share_finish(s, i, &one);
        if (!status) status = finished;
        seconds[i] += one;
    }
    for (int i = 0; i < s->count && !status; i++) {
        if (!s->device[i].failed || !s->list[i].active) continue;
        *failed = i;
        status = yoke_fail(s->context, YOKE_ERROR_DEVICE, "%s", s->device[i].why);
    }
    return status;
}

yoke_status dense_sharing_try_together(dense_sharing *s, const int64_t *units, int64_t calls, double *seconds, int64_t *failed)
{
    int64_t first = 0;
    yoke_status status = dense_share_get_devices(s);
    for (int i = 0; i < s->count && !status; i++) {
        dense_share_device *d = &s->device[i];
        if (first + units[i] > s->kernel->units) first = 0;
        d->first = first;
        d->last = first += units[i];
        seconds[i] = 0;
        *failed = i;
        if (!d->is_warm && units[i] > 0) status = warm(s, i);
        d->is_warm = d->is_warm || units[i] > 0;
    }
    for (int64_t call = 0; call < calls && !status; call++) status = call_once(s, seconds, failed);
    for (int i = 0; i < s->count; i++) seconds[i] = units[i] > 0 ? seconds[i] / (double)calls : 0;
    return status;
}

yoke_status dense_sharing_try(dense_sharing *s, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    int64_t of[DENSE_MAX_DEVICES] = {0}, failed;
    double each[DENSE_MAX_DEVICES];
    of[device] = units;
    yoke_status status = dense_sharing_try_together(s, of, calls, each, &failed);
    if (!status) *seconds = each[device];
    return status;
}

int64_t dense_sharing_most_units(const dense_sharing *s)
{
    const dense_kernel *k = s->kernel;
    int64_t most = k->units;
    for (int i = 0; i < s->count && k->most_units; i++) {
        const int64_t fit = s->list[i].active && s->list[i].accelerator ? k->most_units(k->user, i) : most;
        if (fit < most) most = fit;
    }
    return most > 0 ? most : 1;
}

yoke_status dense_sharing_open(yoke_context *context, yoke_run *run, const dense_kernel *kernel, dense_sharing **sharing)
{
    dense_sharing *s = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *s, &s);
    if (status) return status;
    s->context = context;
    s->run = run;
    s->kernel = kernel;
    status = yoke_run_work(run, kernel->work, kernel->texts, kernel->num_texts);
    if (status == YOKE_ERROR_ARGUMENT) status = YOKE_OK; /* the run has registered this work before */
    if (!status) status = open_most(s);
    if (status)
        dense_sharing_close(s);
    else
        *sharing = s;
    return status;
}

yoke_status dense_sharing_do(dense_sharing *s, dense_shared *shared)
{
    const dense_kernel *kernel = s->kernel;
    int lost = 0;
    *shared = (dense_shared){.num_parts = 0};
    s->shared = shared;
    s->done = 0;
    s->ranges = 0;
    yoke_status status = dense_share_push(s, 0, kernel->units);
    if (!status) status = dense_share_begin(s);
    if (!status) status = open_working(s, &lost);
    if (!status && s->stage == DENSE_LARGER_ROUND) {
        status = plan(s, (dense_range){0, kernel->units});
        if (!status) dense_share_expect(s);
    }
    while (!status && s->ranges > 0) {
        status = work(s);
        if (!status && kernel->progress.call) status = kernel->progress.call(kernel->progress.user, s->done, kernel->units);
    }
    dense_share_tell_parts(s);
    return status;
}

void dense_sharing_close(dense_sharing *s)
{
    if (!s) return;
    close_all(s);
    yoke_release(s->context, s->left);
    yoke_release(s->context, s);
}
