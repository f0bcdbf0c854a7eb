/* shared_measure.c - measures the costs of a tree's works on each device. */
#include <math.h>
#include <string.h>

#include "method/shared_parts.h"

/* The largest trial takes about call_s.  The smallest has 1 / LEAST_PART of the work of the whole tree. */
static const double call_s = 0.02, budget_s = 0.2, least_s = 1e-6;
enum { LEAST_PART = 64, SIZES = 3, SIMULATED_SIZES = 6 };

static bool is_simulated(const fmm_shared *s, int i) { return !strcmp(s->list[i].info->kind, "sim"); }

static void do_nothing(void *user) { (void)user; }

/* Only lets virtual time pass for the units: sums are not computed. */
static yoke_status pretend(fmm_shared *s, int i, int64_t units)
{
    fmm_shared_device *d = &s->device[i];
    if (s->list[i].accelerator) return fmm_shared_device_pretend(s, i, units);
    yoke_status status = yoke_queue_record(d->queue, d->marks[1]);
    if (!status) status = yoke_queue_call(d->queue, do_nothing, s, units);
    return status ? status : yoke_queue_record(d->queue, d->marks[2]);
}

/* Starts as many leaves as have about *units units, and sets *units to their actual number. */
static yoke_status start_leaves(fmm_shared *s, int i, int64_t *units)
{
    fmm_shared_device *d = &s->device[i];
    const int64_t leaves = s->m->tree->leaves.count;
    for (d->last = 1; d->last < leaves && fmm_shared_units(s, d) < *units;) d->last++;
    *units = fmm_shared_units(s, d);
    if (i == s->host) return fmm_shared_host_start(s);
    yoke_status status = d->has_places ? yoke_queue_record(d->queue, d->marks[1]) : fmm_shared_device_copy(s, i, s->m->tree->count);
    return status ? status : fmm_shared_device_start(s, i, *units);
}

static yoke_status try_near(void *user, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    fmm_shared *s = user;
    const int i = (int)device;
    fmm_shared_device *d = &s->device[i];
    double sum_s = 0;
    int64_t there = units;
    yoke_status status = fmm_shared_device_open(s, i);
    s->far = false;
    d->first = 0;
    for (int64_t k = 0; k < calls && !status; k++, sum_s += d->near_s) {
        d->last = 1; /* a nonempty range, so that its time is read */
        status = is_simulated(s, i) ? pretend(s, i, units) : start_leaves(s, i, &there);
        d->near_s = NAN;
        if (!status) status = yoke_queue_finish(d->queue);
        if (!status) status = yoke_event_elapsed_s(d->marks[1], d->marks[2], &d->near_s);
    }
    d->first = d->last = 0;
    if (!status) *seconds = sum_s / (double)calls * (double)units / (double)there;
    return status;
}

/* The seconds of the far field on a host. */
static yoke_status try_far(void *user, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    fmm_shared *s = user;
    fmm_shared_device *d = &s->device[device];
    double sum_s = 0, one_s = NAN;
    yoke_status status = YOKE_OK;
    for (int64_t k = 0; k < calls && !status; k++, sum_s += one_s) {
        status = yoke_queue_record(d->queue, d->marks[0]);
        if (!status) status = yoke_queue_call(d->queue, is_simulated(s, (int)device) ? do_nothing : fmm_shared_add_far, s, units);
        if (!status) status = yoke_queue_record(d->queue, d->marks[1]);
        if (!status) status = yoke_queue_finish(d->queue);
        if (!status) status = yoke_event_elapsed_s(d->marks[0], d->marks[1], &one_s);
    }
    if (!status) *seconds = sum_s / (double)calls;
    return status;
}

typedef yoke_status copy(fmm_shared *s, int i, int64_t count);

/* The seconds of copies of `units` particles, from mark `from` to the next. */
static yoke_status try_copies(fmm_shared *s, int i, copy *start, int from, int64_t units, int64_t calls, double *seconds)
{
    fmm_shared_device *d = &s->device[i];
    double sum_s = 0, one_s = NAN;
    yoke_status status = fmm_shared_device_open(s, i);
    for (int64_t k = 0; k < calls && !status; k++, sum_s += one_s) {
        status = start(s, i, units);
        if (!status) status = yoke_queue_finish(d->queue);
        if (!status) status = yoke_event_elapsed_s(d->marks[from], d->marks[from + 1], &one_s);
        if (status || one_s > 0 || !is_simulated(s, i)) continue;
        one_s = least_s; /* copies of a simulated device may take no time, which is not a valid measurement */
        status = yoke_machine_sleep(s->context, least_s);
    }
    d->has_places = false; /* not all positions were copied */
    if (!status) *seconds = sum_s / (double)calls;
    return status;
}

static yoke_status try_places(void *user, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    return try_copies(user, (int)device, fmm_shared_device_copy, 0, units, calls, seconds);
}

/* A host needs no copy: its results are already in place. */
static yoke_status try_results(void *user, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    static const double none_s = 1e-9;
    fmm_shared *s = user;
    if (s->list[device].accelerator) return try_copies(s, (int)device, fmm_shared_device_return, 2, units, calls, seconds);
    *seconds = none_s;
    return YOKE_OK;
}

static yoke_status calibrate(fmm_shared *s, const yoke_run_calibration *of)
{
    yoke_status status = yoke_run_calibrate(s->run, of, NULL);
    return status ? status : fmm_shared_get_devices(s);
}

static int64_t whole(double units) { return fmm_shared_whole(fmax(units, 1)); }

yoke_status fmm_shared_measure(fmm_shared *s, const double *charge, const fmm_field *field, int parts)
{
    char near[FMM_SHARED_NAME], far[FMM_SHARED_NAME];
    const int gradient = s->m->sum->gx != NULL, simulated = s->count > 0 && is_simulated(s, 0);
    yoke_run_calibration of = {.brief = 1, .budget_s = budget_s, .sizes = simulated ? SIMULATED_SIZES : SIZES, .but_resting = 1, .user = s};
    fmm_shared_near_name(s->work.leaf, gradient, near);
    fmm_shared_far_name(s->work.order, gradient, far);
    yoke_status status = fmm_shared_begin(s, charge, field);
    if (!status && parts & FMM_SHARED_NEAR) {
        of.work = near, of.trial = try_near, of.call_s = simulated ? 0 : call_s;
        of.min_units = whole(s->work.near_units / LEAST_PART), of.max_units = whole(s->work.near_units);
        status = calibrate(s, &of);
    }
    of.call_s = 0;
    if (!status && parts & FMM_SHARED_FAR && s->host >= 0 && s->work.far_units > 0) {
        const bool expanded = s->m->is_expanded;
        s->m->is_expanded = false; /* the whole far field is measured; the expansions are then the same */
        of.work = far, of.trial = try_far, of.use = YOKE_RUN_HOSTS;
        of.min_units = whole(simulated ? s->work.far_units / LEAST_PART : s->work.far_units), of.max_units = whole(s->work.far_units);
        status = calibrate(s, &of);
        s->m->is_expanded = expanded;
    }
    if (!status && parts & FMM_SHARED_COPIES && s->m->tree->count > 0) {
        of.work = fmm_shared_places_name(), of.trial = try_places, of.use = YOKE_RUN_ACCELERATORS;
        of.min_units = whole((double)s->m->tree->count / LEAST_PART), of.max_units = s->m->tree->count;
        status = calibrate(s, &of);
        of.work = fmm_shared_results_name(gradient), of.trial = try_results, of.use = YOKE_RUN_ANY;
        if (!status) status = calibrate(s, &of);
    }
    return status;
}

/* Nonzero: some device needs the work, but has no measurement of it. */
static int is_unknown(const fmm_shared *s, const char *work, double units, yoke_run_use use)
{
    yoke_prediction call;
    int unknown = 0;
    for (int i = 0; i < s->count; i++) {
        const yoke_run_device *d = &s->list[i];
        if (!d->active || (use == YOKE_RUN_HOSTS && i != s->host) || (use == YOKE_RUN_ACCELERATORS && !d->accelerator)) continue;
        if (fmm_shared_rests(s->run, s->list, i, work, units)) continue;
        unknown |= yoke_run_predict(s->run, work, i, fmax(units, 1), NAN, 0, &call) != YOKE_OK;
    }
    return unknown;
}

yoke_status fmm_shared_try(fmm_shared *s, const double *charge, const fmm_field *field)
{
    char near[FMM_SHARED_NAME], far[FMM_SHARED_NAME];
    const int gradient = s->m->sum->gx != NULL;
    int active = 0, parts = 0;
    for (int i = 0; i < s->count; i++) active += s->list[i].active;
    if (active < 2 || s->work.near_units < LEAST_PART) return YOKE_OK;
    fmm_shared_near_name(s->work.leaf, gradient, near);
    fmm_shared_far_name(s->work.order, gradient, far);
    if (is_unknown(s, near, s->work.near_units, YOKE_RUN_ANY)) parts |= FMM_SHARED_NEAR;
    if (s->work.far_units > 0 && is_unknown(s, far, s->work.far_units, YOKE_RUN_HOSTS)) parts |= FMM_SHARED_FAR;
    if (is_unknown(s, fmm_shared_places_name(), (double)s->m->tree->count, YOKE_RUN_ACCELERATORS) ||
        is_unknown(s, fmm_shared_results_name(gradient), (double)s->m->tree->count, YOKE_RUN_ANY))
        parts |= FMM_SHARED_COPIES;
    return parts ? fmm_shared_measure(s, charge, field, parts) : YOKE_OK;
}
