#include "method/shared.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "method/shared_parts.h"

/* By whether there are gradients. */
static const char *const near_works[] = {"fmm leaves potential", "fmm leaves"};

yoke_status fmm_shared_open(yoke_context *context, const yoke_run_options *options, yoke_run **run)
{
    const char *const *texts;
    int64_t count;
    yoke_run *opened = NULL;
    fmm_shared_texts(&texts, &count);
    yoke_status status = yoke_run_create(context, options, &opened);
    for (int k = 0; k < 2 && !status; k++) status = yoke_run_work(opened, near_works[k], texts, count);
    if (status)
        yoke_run_destroy(opened);
    else
        *run = opened;
    return status;
}

/* -------------------------------------------------------------------------------------------------- failures */

yoke_status fmm_shared_note(fmm_shared *s, int i, yoke_status status)
{
    fmm_shared_device *d = &s->device[i];
    if (status != YOKE_ERROR_DEVICE && status != YOKE_ERROR_DEVICE_MEMORY) return status;
    if (!d->failed) snprintf(d->why, sizeof d->why, "%s", yoke_last_error(s->context));
    d->failed = 1;
    return YOKE_OK;
}

static yoke_status get_devices(fmm_shared *s)
{
    int64_t count = 0;
    yoke_status status = yoke_run_devices(s->run, &s->list, &count);
    if (!status && count > FMM_MAX_DEVICES)
        return yoke_fail(s->context, YOKE_ERROR_UNAVAILABLE, "%lld devices; there may be %d at most", (long long)count, FMM_MAX_DEVICES);
    if (status) return status;
    s->count = (int)count;
    if (s->host >= 0 && !s->list[s->host].active) s->host = -1; /* it failed */
    return YOKE_OK;
}

/* Takes out devices that failed.  *any: there were some. */
static yoke_status take_out(fmm_shared *s, bool *any)
{
    yoke_status status = YOKE_OK;
    *any = false;
    for (int i = 0; i < s->count && !status; i++) {
        if (!s->device[i].failed || !s->list[i].active) continue;
        *any = true;
        status = yoke_run_fail(s->run, i, s->device[i].why);
        if (!status) status = get_devices(s);
    }
    return status;
}

/* --------------------------------------------------------------------------------------------------- create */

static const char *near_work(const fmm_shared *s) { return near_works[s->m->sum->gx != NULL]; }

/* Ordered pairs before each leaf, those of a particle with itself among them: what a kernel goes through. */
static yoke_status sum_weights(fmm_shared *s)
{
    const fmm_method *m = s->m;
    const int64_t leaves = m->tree->leaves.count;
    const int32_t *particle = m->tree->leaves.particle;
    yoke_status status = yoke_allocate(s->context, leaves + 1, sizeof *s->weight_sum, &s->weight_sum);
    if (!status) status = yoke_allocate(s->context, leaves + 1, sizeof *s->part_sum, &s->part_sum);
    for (int64_t l = 0; l < leaves && !status; l++) {
        int64_t targets = particle[l + 1] - particle[l], sources = targets;
        for (int64_t n = m->near.start[l]; n < m->near.start[l + 1]; n++)
            sources += particle[m->near.cell[n] + 1] - particle[m->near.cell[n]];
        s->weight_sum[l + 1] = s->weight_sum[l] + (double)targets * (double)sources;
    }
    return status;
}

/* The far field's units: cells, each as so many pairs as its translations take about as long as. */
static void describe_far(fmm_shared *s)
{
    const fmm_method *m = s->m;
    const double p = m->order + 1;
    for (int l = FMM_FAR_LEVEL; l <= m->tree->depth; l++) s->far_units += (double)m->tree->level[l].count * 189 * p * p * p;
    snprintf(s->far_work, sizeof s->far_work, "fmm far p=%d%s", m->order, m->sum->gx ? "" : " potential");
}

static yoke_status open_devices(fmm_shared *s)
{
    bool any;
    s->host = -1;
    yoke_status status = get_devices(s);
    for (int i = s->count - 1; i >= 0 && !status; i--)
        if (s->list[i].active && !s->list[i].accelerator) s->host = i;
    for (int i = 0; i < s->count && !status; i++) {
        if (!s->list[i].active) continue;
        status = fmm_shared_device_open(s, i);
        if (status == YOKE_ERROR_INPUT || status == YOKE_ERROR_UNAVAILABLE) status = YOKE_ERROR_DEVICE; /* it has no such kernel */
        status = fmm_shared_note(s, i, status);
    }
    return status ? status : take_out(s, &any);
}

yoke_status fmm_shared_create(fmm_method *m, yoke_run *run, int tries, fmm_shared **shared)
{
    fmm_shared *s = NULL;
    yoke_status status = yoke_allocate(m->context, 1, sizeof *s, &s);
    if (status) return status;
    s->context = m->context;
    s->m = m;
    s->run = run;
    s->tries = tries;
    status = sum_weights(s);
    if (!status) status = fmm_near_arrays_create(m, &s->arrays);
    if (!status) describe_far(s);
    if (!status) status = open_devices(s);
    s->threads = omp_get_max_threads();
    if (!status && s->host >= 0 && s->list[s->host].info->compute_units > s->threads)
        s->threads = (int)s->list[s->host].info->compute_units;
    if (!status && fmm_has_far(m)) status = fmm_workers_create(m, s->threads, &s->workers);
    if (status)
        fmm_shared_destroy(s);
    else
        *shared = s;
    return status;
}

void fmm_shared_destroy(fmm_shared *s)
{
    if (!s) return;
    for (int i = 0; i < s->count; i++) fmm_shared_device_close(s, i);
    fmm_workers_destroy(s->m, s->threads, s->workers);
    fmm_near_arrays_destroy(s->context, &s->arrays);
    yoke_release(s->context, s->weight_sum);
    yoke_release(s->context, s->part_sum);
    yoke_release(s->context, s);
}

/* --------------------------------------------------------------------------------------------------- phases */

/* The near field of the leaves of this round, and the far field where the host has still to do it. */
int fmm_shared_phases(const fmm_shared *s, yoke_phase phases[2])
{
    int count = 0;
    phases[count++] = (yoke_phase){.work = near_work(s),
                                   .calls = 1,
                                   .cut = 0,
                                   .units = (int64_t)(s->weight_sum[s->last] - s->weight_sum[s->first]),
                                   .weight_sum = s->part_sum};
    if (s->far && s->host >= 0)
        phases[count++] =
            (yoke_phase){.work = s->far_work, .calls = 1, .cut = -1, .device = s->host, .units = llround(fmin(s->far_units, 1e15))};
    return count;
}

/* ------------------------------------------------------------------------------------------------- the host */

static int threads_here(const fmm_shared *s) { return omp_get_max_threads() < s->threads ? omp_get_max_threads() : s->threads; }

static void add_far(void *user)
{
    fmm_shared *s = user;
    fmm_add_far(s->m, threads_here(s), s->workers, &s->far_s);
    s->far_done = true;
}

static void add_near(void *user)
{
    fmm_shared *s = user;
    fmm_shared_device *d = &s->device[s->host];
    fmm_pass_near(s->m, omp_get_max_threads(), d->first, d->last);
    d->done = true;
}

static int64_t pairs_of(const fmm_shared *s, const fmm_shared_device *d)
{
    return (int64_t)(s->weight_sum[d->last] - s->weight_sum[d->first]);
}

static yoke_status start_host(fmm_shared *s, fmm_shared_device *d)
{
    yoke_status status = yoke_queue_record(d->queue, d->marks[0]);
    if (!status && s->far) status = yoke_queue_call(d->queue, add_far, s, llround(fmin(s->far_units, 1e15)));
    if (!status) status = yoke_queue_record(d->queue, d->marks[1]);
    if (!status && d->last > d->first) status = yoke_queue_call(d->queue, add_near, s, pairs_of(s, d));
    return status ? status : yoke_queue_record(d->queue, d->marks[2]);
}

/* -------------------------------------------------------------------------------------------------- a round */

/* Accelerators first: the host's calls may keep this thread. */
static yoke_status start(fmm_shared *s)
{
    yoke_status status = YOKE_OK;
    for (int i = 0; i < s->count && !status; i++) {
        fmm_shared_device *d = &s->device[i];
        if (i != s->host && d->last > d->first) status = fmm_shared_note(s, i, fmm_shared_device_start(s, i, pairs_of(s, d)));
    }
    if (status) return status;
    if (s->host >= 0) return fmm_shared_note(s, s->host, start_host(s, &s->device[s->host]));
    if (s->far) add_far(s);
    return YOKE_OK;
}

/* Waits for a device, whatever happened: what it works on must stay until then.  seconds: [2][devices]. */
static yoke_status finish(fmm_shared *s, int i, double *seconds)
{
    fmm_shared_device *d = &s->device[i];
    const bool host = i == s->host;
    if (!s->list[i].active || (d->last <= d->first && !host)) return YOKE_OK;
    yoke_status status = yoke_queue_finish(d->queue);
    if (d->failed) return fmm_shared_note(s, i, status);
    if (!status && d->last > d->first) status = yoke_event_elapsed_s(d->marks[host ? 1 : 0], d->marks[host ? 2 : 1], &seconds[i]);
    if (!status && host && s->far) status = yoke_event_elapsed_s(d->marks[0], d->marks[1], &seconds[s->count + i]);
    if (!status && !host) d->done = true;
    return fmm_shared_note(s, i, status);
}

static yoke_status finish_all(fmm_shared *s, double *seconds)
{
    yoke_status result = YOKE_OK;
    for (int i = 0; i < s->count; i++) {
        yoke_status status = finish(s, i, seconds);
        if (!result) result = status;
    }
    return result;
}

static yoke_status plan(fmm_shared *s)
{
    const yoke_assignment *assignment = NULL;
    const int64_t leaves = s->last - s->first;
    yoke_phase phases[2];
    for (int64_t l = 0; l <= leaves; l++) s->part_sum[l] = s->weight_sum[s->first + l] - s->weight_sum[s->first];
    const yoke_round round = {.num_cuts = 1, .cut_units = &leaves, .num_phases = fmm_shared_phases(s, phases), .phases = phases};
    yoke_status status = yoke_run_plan(s->run, &round, 1, &assignment);
    for (int i = 0; i < s->count && !status; i++) {
        s->device[i].first = s->first + assignment->first[0][i];
        s->device[i].last = s->first + assignment->first[0][i + 1];
        s->device[i].done = false;
    }
    return status ? status : yoke_run_begin(s->run);
}

/* After a round: what is there is added, and the leaves of devices that failed are left for another one. */
static void take_results(fmm_shared *s, const double *seconds, bool *left)
{
    for (int i = 0; i < s->count; i++) {
        fmm_shared_device *d = &s->device[i];
        for (int64_t l = d->first; l < d->last; l++) left[l] = !d->done;
        if (!d->done || d->last <= d->first) continue;
        if (i != s->host) fmm_near_arrays_add(s->m, &s->arrays, d->first, d->last);
        d->pairs += (double)pairs_of(s, d);
        d->seconds = isnan(d->seconds) ? seconds[i] : d->seconds + seconds[i];
    }
}

/* The leaves s->first ... last - 1 and, where it is still to be done, the far field. */
static yoke_status work(fmm_shared *s, bool *left)
{
    double seconds[2 * FMM_MAX_DEVICES];
    const yoke_run_report report = {.seconds = seconds};
    bool any = false;
    for (int k = 0; k < 2 * FMM_MAX_DEVICES; k++) seconds[k] = NAN;
    s->far = !s->far_done;
    yoke_status status = plan(s);
    if (status) return status;
    status = start(s);
    yoke_status finished = finish_all(s, seconds);
    if (!status) status = finished;
    take_results(s, seconds, left);
    for (int i = 0; i < s->count; i++) any = any || (s->device[i].failed && s->list[i].active);
    if (!any) {
        yoke_status ended = yoke_run_end(s->run, &report, NULL);
        return status ? status : ended;
    }
    return status ? status : take_out(s, &any);
}

/* ------------------------------------------------------------------------------------------------- all of it */

/* The next leaves that are left, from `from` on; false: none. */
static bool find_left(fmm_shared *s, const bool *left)
{
    const int64_t leaves = s->m->tree->leaves.count;
    s->first = 0;
    while (s->first < leaves && !left[s->first]) s->first++;
    s->last = s->first;
    while (s->last < leaves && left[s->last]) s->last++;
    return s->first < leaves;
}

static yoke_status work_all(fmm_shared *s)
{
    bool *left = NULL;
    yoke_status status = yoke_allocate(s->context, s->m->tree->leaves.count, sizeof *left, &left);
    for (int64_t l = 0; l < s->m->tree->leaves.count && !status; l++) left[l] = true;
    while (!status && find_left(s, left)) status = work(s, left);
    if (!status && !s->far_done) add_far(s); /* the host failed in it */
    yoke_release(s->context, left);
    return status;
}

/* yoke_run_trial: about `units` pairs on one device. */
static yoke_status try_leaves(void *user, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    fmm_shared *s = user;
    fmm_shared_device *d = &s->device[device];
    const int64_t leaves = s->m->tree->leaves.count;
    double all_s = 0, one_s[2 * FMM_MAX_DEVICES];
    yoke_status status = YOKE_OK;
    s->far = false;
    d->first = 0;
    for (d->last = 1; d->last < leaves && s->weight_sum[d->last] < (double)units;) d->last++;
    for (int64_t k = 0; k < calls && !status; k++, all_s += one_s[device]) {
        one_s[device] = NAN;
        status = device == s->host ? start_host(s, d) : fmm_shared_device_start(s, (int)device, pairs_of(s, d));
        if (!status) status = yoke_queue_finish(d->queue);
        if (!status)
            status = yoke_event_elapsed_s(d->marks[device == s->host ? 1 : 0], d->marks[device == s->host ? 2 : 1], &one_s[device]);
    }
    if (!status) *seconds = all_s / (double)calls * (double)units / s->weight_sum[d->last];
    return status;
}

static yoke_status try_devices(fmm_shared *s)
{
    const double pairs = s->weight_sum[s->m->tree->leaves.count];
    int active = 0, unknown = 0;
    yoke_prediction call;
    for (int i = 0; i < s->count; i++) {
        if (!s->list[i].active) continue;
        active++;
        unknown += yoke_run_predict(s->run, near_work(s), i, pairs, NAN, 0, &call) != YOKE_OK;
    }
    s->tries = 0;
    if (active < 2 || !unknown || pairs < 16) return YOKE_OK;
    const yoke_run_calibration calibration = {.work = near_work(s),
                                              .min_units = (int64_t)(pairs / 16),
                                              .max_units = (int64_t)pairs,
                                              .call_s = 0.02,
                                              .sizes = 2,
                                              .brief = 1,
                                              .budget_s = 0.2,
                                              .trial = try_leaves,
                                              .user = s};
    yoke_status status = yoke_run_calibrate(s->run, &calibration, NULL);
    for (int i = 0; i < s->count; i++) s->device[i].first = s->device[i].last = 0;
    return status ? status : get_devices(s);
}

yoke_status fmm_shared_run(fmm_shared *s, const double *charge, fmm_field *field, fmm_method_seconds *seconds)
{
    fmm_method *m = s->m;
    yoke_status status = fmm_method_begin(m, charge, field);
    if (status) return status;
    fmm_near_arrays_pack(m, &s->arrays);
    if (s->tries) {
        status = try_devices(s);
        if (!status) status = fmm_method_begin(m, charge, field); /* trials added to the sums */
    }
    const double begin_s = yoke_clock_s();
    s->far_s = (fmm_method_seconds){.tree = m->tree_s};
    s->far_done = !fmm_has_far(m);
    for (int i = 0; i < s->count; i++) s->device[i].pairs = 0, s->device[i].seconds = NAN;
    if (!status) status = work_all(s);
    if (!status) status = fmm_method_finish(m, charge, field);
    if (status || !seconds) return status;
    *seconds = s->far_s;
    seconds->near = yoke_clock_s() - begin_s - seconds->upward - seconds->between - seconds->downward;
    return YOKE_OK;
}

int fmm_shared_parts(const fmm_shared *s, fmm_shared_part *parts, int room)
{
    for (int i = 0; i < s->count && i < room; i++)
        parts[i] =
            (fmm_shared_part){s->list[i].info->name, s->device[i].pairs, s->device[i].seconds, s->device[i].device && !s->list[i].active};
    return s->count;
}
