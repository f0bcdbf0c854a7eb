#include "method/shared.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "method/shared_parts.h"

/* -------------------------------------------------------------------------------------------------- failures */

yoke_status fmm_shared_note(fmm_shared *s, int i, yoke_status status)
{
    fmm_shared_device *d = &s->device[i];
    if (status != YOKE_ERROR_DEVICE && status != YOKE_ERROR_DEVICE_MEMORY) return status;
    if (!d->failed) snprintf(d->why, sizeof d->why, "%s", yoke_last_error(s->context));
    d->failed = 1;
    return YOKE_OK;
}

yoke_status fmm_shared_get_devices(fmm_shared *s)
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

/* Removes devices that failed from the run.  *any: at least one was removed. */
static yoke_status take_out(fmm_shared *s, bool *any)
{
    yoke_status status = YOKE_OK;
    *any = false;
    for (int i = 0; i < s->count && !status; i++) {
        if (!s->device[i].failed || !s->list[i].active) continue;
        *any = true;
        status = yoke_run_fail(s->run, i, s->device[i].why);
        if (!status) status = fmm_shared_get_devices(s);
    }
    return status;
}

/* --------------------------------------------------------------------------------------------------- create */

/* Ordered pairs before each leaf.  They include those of a particle with itself, because a kernel visits them too. */
static yoke_status sum_weights(fmm_shared *s)
{
    const fmm_method *m = s->m;
    const int64_t leaves = m->tree->leaves.count;
    yoke_status status = yoke_allocate(s->context, leaves + 1, sizeof *s->weight_sum, &s->weight_sum);
    if (!status) status = yoke_allocate(s->context, leaves + 1, sizeof *s->part_sum, &s->part_sum);
    for (int64_t l = 0; l < leaves && !status; l++) {
        s->weight_sum[l + 1] = s->weight_sum[l] + (double)fmm_particles_of(m, l) * m->around[l];
        s->sources += m->around[l];
    }
    return status;
}

/*
 * The tree's units of work.  If the options do not have them, they are estimated: ordered pairs in leaves of the mean size, and for each
 * cell the maximum number of translations, 189.
 */
static void find_work(fmm_shared *s)
{
    const fmm_method *m = s->m;
    const double pairs = s->weight_sum[m->tree->leaves.count], p = m->order + 1;
    s->work = s->options.work;
    if (s->work.leaf == 0) {
        s->work = (fmm_shared_work){.order = m->order, .near_units = pairs};
        s->work.leaf = fmm_shared_leaf_size(s->sources > 0 ? pairs / s->sources : 0);
        for (int l = FMM_FAR_LEVEL; l <= m->tree->depth; l++) s->work.far_units += (double)m->tree->level[l].count * 189 * p * p * p;
    }
    if (!fmm_has_far(m)) s->work.far_units = 0;
}

/* A device that cannot be opened is noted as failed. */
static yoke_status open_device(fmm_shared *s, int i)
{
    yoke_status status = fmm_shared_device_open(s, i);
    if (status == YOKE_ERROR_INPUT || status == YOKE_ERROR_UNAVAILABLE) status = YOKE_ERROR_DEVICE; /* it cannot run this kernel */
    return fmm_shared_note(s, i, status);
}

/* Opens all devices except those that share the cores of a host: these are mostly idle, and are opened when they are needed. */
static yoke_status open_devices(fmm_shared *s)
{
    bool any;
    yoke_status status = fmm_shared_get_devices(s);
    s->host = status ? -1 : fmm_shared_host(s->list, s->count);
    for (int i = 0; i < s->count && !status; i++)
        if (s->list[i].active && !s->list[i].shares_cores) status = open_device(s, i);
    return status ? status : take_out(s, &any);
}

yoke_status fmm_shared_create(fmm_method *m, yoke_run *run, const fmm_shared_options *options, fmm_shared **shared)
{
    fmm_shared *s = NULL;
    yoke_status status = yoke_allocate(m->context, 1, sizeof *s, &s);
    if (status) return status;
    s->context = m->context;
    s->m = m;
    s->run = run;
    s->options = *options;
    status = sum_weights(s);
    if (!status) find_work(s);
    if (!status) status = open_devices(s);
    s->threads = omp_get_max_threads();
    if (!status && s->host >= 0 && s->list[s->host].info->compute_units > s->threads)
        s->threads = (int)s->list[s->host].info->compute_units;
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

/* ------------------------------------------------------------------------------------------------- the host */

static int threads_here(const fmm_shared *s) { return omp_get_max_threads() < s->threads ? omp_get_max_threads() : s->threads; }

void fmm_shared_add_far(void *user)
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

double fmm_shared_pairs(const fmm_shared *s, const fmm_shared_device *d) { return s->weight_sum[d->last] - s->weight_sum[d->first]; }

int64_t fmm_shared_units(const fmm_shared *s, const fmm_shared_device *d)
{
    const double all = s->weight_sum[s->m->tree->leaves.count];
    return all > 0 ? fmm_shared_whole(s->work.near_units * fmm_shared_pairs(s, d) / all) : 0;
}

yoke_status fmm_shared_host_start(fmm_shared *s)
{
    fmm_shared_device *d = &s->device[s->host];
    yoke_status status = yoke_queue_record(d->queue, d->marks[0]);
    if (!status && s->far) status = yoke_queue_call(d->queue, fmm_shared_add_far, s, fmm_shared_whole(s->work.far_units));
    if (!status) status = yoke_queue_record(d->queue, d->marks[1]);
    if (!status && d->last > d->first) status = yoke_queue_call(d->queue, add_near, s, fmm_shared_units(s, d));
    return status ? status : yoke_queue_record(d->queue, d->marks[2]);
}

/* -------------------------------------------------------------------------------------------------- a round */

static yoke_status start_device(fmm_shared *s, int i)
{
    fmm_shared_device *d = &s->device[i];
    yoke_status status = d->has_places ? yoke_queue_record(d->queue, d->marks[1]) : fmm_shared_device_copy(s, i, s->m->tree->count);
    return status ? status : fmm_shared_device_start(s, i, fmm_shared_units(s, d));
}

/* Accelerators are started first, because the calls of the host may block this thread. */
static yoke_status start(fmm_shared *s)
{
    yoke_status status = YOKE_OK;
    for (int i = 0; i < s->count && !status; i++)
        if (i != s->host && s->device[i].last > s->device[i].first && !s->device[i].failed)
            status = fmm_shared_note(s, i, start_device(s, i));
    if (status) return status;
    if (s->host >= 0) return fmm_shared_note(s, s->host, fmm_shared_host_start(s));
    if (s->far) fmm_shared_add_far(s);
    return YOKE_OK;
}

/* Waits for a device even if something failed: the data that it uses must not be released before it ends. */
static yoke_status finish(fmm_shared *s, int i)
{
    fmm_shared_device *d = &s->device[i];
    const bool host = i == s->host;
    if (!s->list[i].active || (d->last <= d->first && !host)) return YOKE_OK;
    const bool well = !d->failed;
    yoke_status status = fmm_shared_device_finish(s, i);
    if (!status && well && !host) d->done = true;
    return fmm_shared_note(s, i, status);
}

static yoke_status finish_all(fmm_shared *s)
{
    yoke_status result = YOKE_OK;
    for (int i = 0; i < s->count; i++) {
        yoke_status status = finish(s, i);
        if (!result) result = status;
    }
    return result;
}

/* Describes the leaves of this round, and the far field unless it is done. */
static yoke_status make_rounds(fmm_shared *s)
{
    const int64_t leaves = s->last - s->first;
    const double all = s->weight_sum[s->m->tree->leaves.count];
    fmm_shared_demand demand = {
        .work = s->work, .gradient = s->m->sum->gx != NULL, .particles = s->m->tree->count, .leaves = leaves, .weight_sum = s->part_sum};
    for (int64_t l = 0; l <= leaves; l++) s->part_sum[l] = s->weight_sum[s->first + l] - s->weight_sum[s->first];
    demand.work.near_units *= all > 0 ? s->part_sum[leaves] / all : 0;
    if (!s->far) demand.work.far_units = 0;
    return fmm_shared_make_rounds(s->context, s->list, s->count, s->options.share, &demand, &s->rounds);
}

static yoke_status plan(fmm_shared *s)
{
    const yoke_assignment *assignment = NULL;
    const double begin_s = yoke_clock_s();
    yoke_status status = make_rounds(s);
    if (!status) status = yoke_run_plan(s->run, s->rounds.rounds, s->rounds.count, &assignment);
    s->told.plan_s += yoke_clock_s() - begin_s;
    for (int i = 0; i < s->count && !status; i++) {
        fmm_shared_device *d = &s->device[i];
        d->first = s->first + assignment->first[0][i];
        d->last = s->first + assignment->first[0][i + 1];
        d->frequency_hz = assignment->frequency_hz[i];
        d->done = false;
        d->near_s = d->places_s = d->results_s = d->far_s = NAN;
        if (d->last > d->first) status = open_device(s, i);
    }
    if (status) return status;
    s->taken = (int)assignment->round;
    if (isnan(s->told.predicted.time_s)) s->told.predicted = assignment->predicted; /* only the first round includes all leaves */
    return yoke_run_begin(s->run);
}

/* Reports the seconds of each device for each phase to the run. */
static yoke_status report(fmm_shared *s)
{
    double seconds[(FMM_MAX_DEVICES + 3) * FMM_MAX_DEVICES];
    const yoke_run_report told = {.seconds = seconds};
    const yoke_round *round = &s->rounds.rounds[s->taken];
    yoke_cost took = {.time_s = NAN, .energy_j = NAN};
    for (int64_t p = 0; p < round->num_phases; p++)
        for (int i = 0; i < s->count; i++) {
            const yoke_phase *phase = &round->phases[p];
            const fmm_shared_device *d = &s->device[i];
            double *to = &seconds[p * s->count + i];
            *to = p == 0               ? d->near_s
                  : phase->cut == 0    ? d->results_s
                  : phase->device != i ? (double)NAN
                  : i == s->host       ? d->far_s + s->saved_s
                                       : d->places_s;
        }
    yoke_status status = yoke_run_end(s->run, &told, &took);
    s->told.measured.time_s += took.time_s;
    s->told.measured.energy_j += took.energy_j;
    if (s->far && s->host >= 0) s->told.far_s = s->device[s->host].far_s + s->saved_s;
    return status;
}

/* After a round: adds the results of devices that are done, and marks the leaves of the other devices in `left` for another round. */
static void take_results(fmm_shared *s, bool *left)
{
    for (int i = 0; i < s->count; i++) {
        fmm_shared_device *d = &s->device[i];
        for (int64_t l = d->first; l < d->last; l++) left[l] = !d->done;
        if (!d->done || d->last <= d->first) continue;
        if (i != s->host) fmm_near_arrays_add(s->m, &s->arrays, d->first, d->last);
        const double took_s = d->near_s + (isnan(d->places_s) ? 0 : d->places_s) + (isnan(d->results_s) ? 0 : d->results_s);
        d->pairs += fmm_shared_pairs(s, d);
        d->seconds = isnan(d->seconds) ? took_s : d->seconds + took_s;
    }
}

/* Performs a round: the leaves s->first ... last - 1 and, unless it is done, the far field. */
static yoke_status work(fmm_shared *s, bool *left)
{
    bool any = false;
    s->far = !s->far_done;
    yoke_status status = plan(s);
    if (status) return status;
    status = start(s);
    yoke_status finished = finish_all(s);
    if (!status) status = finished;
    if (fmm_stops(s->m->stop)) return s->m->stop->fail(s->m->stop->user); /* its times would teach the run something wrong */
    take_results(s, left);
    for (int i = 0; i < s->count; i++) any = any || (s->device[i].failed && s->list[i].active);
    if (!any) {
        yoke_status ended = report(s);
        return status ? status : ended;
    }
    s->told.measured.time_s = s->told.measured.energy_j = NAN; /* an abandoned round has no measured time and energy */
    return status ? status : take_out(s, &any);
}

/* ------------------------------------------------------------------------------------------------- all of it */

/* Sets s->first and s->last to the first contiguous range of leaves in `left`.  Returns false if there is none. */
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
    if (!status && !s->far_done) fmm_shared_add_far(s); /* the host failed while it computed the far field */
    yoke_release(s->context, left);
    return status;
}

/* Creates the workers for the orders and waves that are set now. */
static yoke_status create_workers(fmm_shared *s)
{
    fmm_workers_destroy(s->m, s->threads, s->workers);
    s->workers = NULL;
    return fmm_has_far(s->m) ? fmm_workers_create(s->m, s->threads, &s->workers) : YOKE_OK;
}

yoke_status fmm_shared_begin(fmm_shared *s, const double *charge, const fmm_field *field)
{
    yoke_status status = fmm_method_begin(s->m, charge, field);
    if (!status) status = create_workers(s);
    s->arrays.is_packed = false;
    if (!status && s->arrays.place) fmm_near_arrays_pack(s->m, &s->arrays);
    for (int i = 0; i < s->count; i++) s->device[i].has_places = false;
    return status;
}

yoke_status fmm_shared_run(fmm_shared *s, const double *charge, fmm_field *field, fmm_method_seconds *seconds)
{
    fmm_method *m = s->m;
    yoke_status status = YOKE_OK;
    if (s->options.tries) {
        s->options.tries = 0;
        status = fmm_shared_try(s, charge, field);
    }
    if (!status) status = fmm_shared_begin(s, charge, field);
    if (status) return status;
    const double begin_s = fmm_clock_now_s(m->clock), saved_s = fmm_method_saved_s(m);
    s->far_s = (fmm_method_seconds){.tree = m->tree_s};
    s->far_done = !fmm_has_far(m);
    s->told = (fmm_shared_told){.predicted = {NAN, NAN, NAN, NAN, NAN},
                                .measured = {0, 0, NAN, NAN, NAN},
                                .far_s = NAN,
                                .simulated = s->host >= 0 && !strcmp(s->list[s->host].info->kind, "sim")};
    s->saved_s = s->told.simulated ? 0 : saved_s; /* virtual seconds are those of the whole far field */
    for (int i = 0; i < s->count; i++) s->device[i].pairs = 0, s->device[i].seconds = s->device[i].frequency_hz = NAN;
    status = work_all(s);
    if (!status) status = fmm_method_finish(m, charge, field);
    if (status || !seconds) return status;
    *seconds = s->far_s;
    const double far_s = seconds->upward - saved_s + seconds->between + seconds->downward; /* those of this run */
    seconds->near = fmm_clock_now_s(m->clock) - begin_s - s->told.plan_s - far_s;
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------------ results */

const fmm_shared_rounds *fmm_shared_planned(const fmm_shared *s, int *taken)
{
    *taken = s->taken;
    return &s->rounds;
}

void fmm_shared_tell(const fmm_shared *s, fmm_shared_told *told) { *told = s->told; }

int fmm_shared_parts(const fmm_shared *s, fmm_shared_part *parts, int room)
{
    for (int i = 0; i < s->count && i < room; i++) {
        const fmm_shared_device *d = &s->device[i];
        parts[i] = (fmm_shared_part){s->list[i].info->name, d->pairs, d->seconds, d->frequency_hz, d->device && !s->list[i].active};
    }
    return s->count;
}
