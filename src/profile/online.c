/*
 * Power of the calls that an application makes (dissertation, alg. 5.2, generalised): every update of the sensor that is read between calls is a
 * linear function of idle power and of the power in each part of a call, for the times of all calls are known.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "profile/profile.h"

enum { BLOCKS = 12, BLOCK_READINGS = 8, MOST_CALLS = 1 << 20 };

typedef struct call {
    double start_s, end_s;
} call;

struct yoke_profiler {
    profile_reader reader;
    yoke_sensor sensor;
    yoke_profile_options options;
    profile_unfold blocks[BLOCKS]; /* readings, in turns, so that their scatter tells the uncertainty */
    call *calls;                   /* those that may still show, oldest first */
    int64_t count, capacity, forgotten;
    int64_t all_calls, readings, without; /* without: updates without a number, because two were too near */
    double run_s;                         /* mean of all calls */
    double begin_s, spent_s;              /* spent_s: in this profiler, but while a kernel ran */
    double tried_s;                       /* the last look for an update that showed nothing new */
    bool inside;
    double start_s;
};

static yoke_status start_blocks(yoke_profiler *p)
{
    int bins = p->options.points < 0 || p->sensor.shape == YOKE_SENSOR_LOW_PASS ? 1 : (int)fmin((double)p->options.points, 24);
    if (p->sensor.window_s > 0.3) bins = 1;
    for (int i = 0; i < BLOCKS; i++) {
        yoke_status status = profile_unfold_start(p->reader.context, bins, &p->blocks[i]);
        if (status) return status;
    }
    return YOKE_OK;
}

yoke_status yoke_profiler_create(yoke_context *context, const yoke_profile_subject *subject, const yoke_sensor *sensor,
                                 const yoke_profile_options *options, yoke_profiler **profiler)
{
    if (context == NULL || profiler == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_profiler_create: %s is NULL", context == NULL ? "context" : "profiler");
    yoke_profile_options checked;
    void *memory = NULL;
    yoke_status status = profile_check(context, sensor, options, &checked);
    if (!status) status = yoke_allocate(context, 1, sizeof(yoke_profiler), &memory);
    if (status) return status;
    yoke_profiler *p = memory;
    p->sensor = *sensor;
    p->options = checked;
    status = profile_reader_start(context, subject, 1, &p->reader);
    if (status) {
        yoke_release(context, p);
        return status;
    }
    status = profile_synchronise(&p->reader, sensor, 1);
    if (!status) status = start_blocks(p);
    p->begin_s = profile_now(&p->reader);
    if (status)
        yoke_profiler_destroy(p);
    else
        *profiler = p;
    return status;
}

void yoke_profiler_destroy(yoke_profiler *p)
{
    if (p == NULL) return;
    yoke_context *context = p->reader.context;
    for (int i = 0; i < BLOCKS; i++) profile_unfold_end(context, &p->blocks[i]);
    profile_reader_end(&p->reader);
    yoke_release(context, p->calls);
    yoke_release(context, p);
}

/* ------------------------------------------------------------------------------------------------ readings */

/* Calls so long ago show no more. */
static void forget(yoke_profiler *p, double now)
{
    double shows = 1.1 * sensor_settle_s(&p->sensor) + 2 * p->sensor.period_s;
    while (p->forgotten < p->count && p->calls[p->forgotten].end_s < now - shows) p->forgotten++;
}

static void add_reading(yoke_profiler *p, double update_s, double watts)
{
    profile_unfold *block = &p->blocks[(p->readings / BLOCK_READINGS) % BLOCKS];
    double row[PROFILE_MOST_BINS + 1] = {0};
    if (p->readings == 0)
        for (int i = 0; i < BLOCKS; i++) p->blocks[i].offset_w = watts;
    for (int64_t i = p->forgotten; i < p->count && p->calls[i].start_s < update_s; i++) {
        const call *c = &p->calls[i];
        if (c->end_s - c->start_s > 0.02 * p->sensor.window_s) {
            profile_row_add(row, block->bins, &p->sensor, update_s, c->start_s, c->end_s);
            continue;
        }
        double whole[1] = {0}; /* so short beside the window that its parts show alike */
        profile_row_add(whole, 1, &p->sensor, update_s, c->start_s, c->end_s);
        for (int k = 0; k < block->bins; k++) row[k] += whole[0] / block->bins;
    }
    profile_unfold_add(block, row, watts);
    p->readings++;
}

/* Hands what the reader recorded on; between calls, when all calls before are known. */
static void take_readings(yoke_profiler *p)
{
    for (int64_t i = 0; i < p->reader.count; i++) add_reading(p, p->reader.updates[i].time_s, p->reader.updates[i].watts);
    p->reader.count = 0;
}

/* An update that has come since the last reading, without waiting. */
static yoke_status read_new(yoke_profiler *p)
{
    profile_reader *reader = &p->reader;
    double now = profile_now(reader), last = sensor_clock_last(&reader->clock, now), half = 0.5 * reader->clock.period_s;
    if (last < reader->recorded_s + half || last < p->tried_s + half) return YOKE_OK;
    if (now < last + profile_lead_s(reader, last)) return YOKE_OK; /* has it come? The next look will tell */
    p->tried_s = last;
    return profile_take(reader, last);
}

/* Looks for the next update itself where that costs little, so that the clocks stay together: the older the last one, the more it may cost. */
static yoke_status synchronise(yoke_profiler *p)
{
    profile_reader *reader = &p->reader;
    double now = profile_now(reader), age = now - reader->clock.sync_s, next = sensor_clock_next(&reader->clock, now);
    if (age < 0.5 * sensor_sync_s) return YOKE_OK;
    double part = age < sensor_sync_s ? p->options.overhead : fmax(p->options.overhead, 0.03);
    /* What was spent so far counts too: over the whole time the part is kept. */
    if (next + profile_lead_s(reader, next) - now > part * age || p->spent_s > 0.1 * (now - p->begin_s)) return YOKE_OK;
    p->tried_s = next;
    return profile_take(reader, next);
}

static yoke_status mark_begin(yoke_profiler *p)
{
    if (p->inside) return yoke_fail(p->reader.context, YOKE_ERROR_ARGUMENT, "yoke_profiler_mark: the last call has not ended");
    double entered = profile_now(&p->reader), celsius = 0;
    yoke_status status = read_new(p);
    if (!status) status = synchronise(p);
    if (!status && p->all_calls % 64 == 0) status = profile_temperature(&p->reader, &celsius);
    if (status) return status;
    take_readings(p);
    p->inside = true;
    p->start_s = profile_now(&p->reader);
    p->spent_s += p->start_s - entered;
    return YOKE_OK;
}

static yoke_status mark_running(yoke_profiler *p)
{
    static const double sure = 0.8; /* of a call's time; beta of alg. 5.2 */
    profile_reader *reader = &p->reader;
    p->start_s = profile_now(reader);
    if (p->all_calls == 0) return YOKE_OK;
    double next = sensor_clock_next(&reader->clock, p->start_s), lead = profile_lead_s(reader, next);
    if (next - lead < p->start_s || next + lead > p->start_s + sure * p->run_s) return YOKE_OK;
    p->tried_s = next;
    return profile_take(reader, next);
}

static yoke_status add_call(yoke_profiler *p, call c)
{
    forget(p, c.end_s);
    if (p->count == p->capacity) { /* half of them may be forgotten: room for twice those that show */
        int64_t showing = p->count - p->forgotten, capacity = 2 * showing + 64;
        void *memory = NULL;
        if (capacity > MOST_CALLS)
            return yoke_fail(p->reader.context, YOKE_ERROR_ARGUMENT,
                             "more than %d calls of the kernel within one update of the sensor; mark groups of calls instead of each call",
                             MOST_CALLS / 2);
        yoke_status status = yoke_allocate(p->reader.context, capacity, sizeof(call), &memory);
        if (status) return status;
        if (showing > 0) memcpy(memory, p->calls + p->forgotten, (size_t)showing * sizeof(call));
        yoke_release(p->reader.context, p->calls);
        p->calls = memory;
        p->capacity = capacity;
        p->count = showing;
        p->forgotten = 0;
    }
    p->calls[p->count++] = c;
    p->all_calls++;
    p->run_s += (c.end_s - c.start_s - p->run_s) / (double)p->all_calls;
    return YOKE_OK;
}

static yoke_status mark_end(yoke_profiler *p)
{
    double ended = profile_now(&p->reader);
    p->inside = false;
    p->reader.runs++;
    yoke_status status = add_call(p, (call){p->start_s, ended});
    if (status) return status;
    take_readings(p);
    status = read_new(p);
    if (!status) status = synchronise(p);
    if (status) return status;
    take_readings(p);
    p->spent_s += profile_now(&p->reader) - ended;
    return YOKE_OK;
}

yoke_status yoke_profiler_mark(yoke_profiler *profiler, yoke_profiler_moment moment)
{
    if (profiler == NULL) return yoke_fail(NULL, YOKE_ERROR_ARGUMENT, "yoke_profiler_mark: profiler is NULL");
    if (moment == YOKE_PROFILER_BEGIN) return mark_begin(profiler);
    if (!profiler->inside) return yoke_fail(profiler->reader.context, YOKE_ERROR_ARGUMENT, "yoke_profiler_mark: no call has begun");
    return moment == YOKE_PROFILER_RUNNING ? mark_running(profiler) : mark_end(profiler);
}

/* ------------------------------------------------------------------------------------------------ the result */

/* Energy of a call and its half width: what the result is without each of the blocks in turn. */
static yoke_status find_energy(const yoke_profiler *p, profile_unfold *all, const profile_solution *solution, yoke_profile *profile)
{
    static const double timing = 1.5e-3; /* what times of calls and updates leave open, seen on simulated sensors */
    double sum = 0, squares = 0, best = (solution->mean_w + solution->idle_w) * p->run_s;
    for (int i = 0; i < BLOCKS; i++) {
        profile_solution without;
        profile_unfold_merge(all, &p->blocks[i], -1);
        yoke_status status = profile_unfold_solve(p->reader.context, all, solution->smoothing, &without);
        profile_unfold_merge(all, &p->blocks[i], 1);
        if (status) return status;
        double off = (without.mean_w + without.idle_w) * p->run_s - best;
        sum += off;
        squares += off * off;
    }
    double gain = isnan(p->sensor.gain_error) ? 0 : p->sensor.gain_error;
    double scatter = profile_student(BLOCKS - 1) * sqrt((BLOCKS - 1.0) / BLOCKS * fmax(0, squares - sum * sum / BLOCKS));
    profile->statistical_j = hypot(scatter, timing * solution->mean_w * p->run_s);
    profile->energy_j = best;
    profile->uncertainty_j = hypot(profile->statistical_j, gain * best);
    profile->dynamic_j = solution->mean_w * p->run_s;
    profile->idle_w = solution->idle_w;
    return YOKE_OK;
}

static yoke_status find_result(const yoke_profiler *p, profile_unfold *all, yoke_profile *profile)
{
    profile_solution solution;
    double error = 0;
    for (int i = 0; i < BLOCKS; i++) profile_unfold_merge(all, &p->blocks[i], 1);
    yoke_status status = profile_unfold_solve(p->reader.context, all, NAN, &solution);
    if (!status) status = find_energy(p, all, &solution, profile);
    if (!status && !(profile->statistical_j < 0.5 * profile->energy_j)) {
        double ratio = profile->statistical_j / (0.1 * fabs(profile->energy_j));
        return yoke_fail(p->reader.context, YOKE_ERROR_UNAVAILABLE,
                         "the energy of a call is not known to 50 %% after %lld calls; it may take %.0f", (long long)p->all_calls,
                         fmin(1e15, (double)p->all_calls * ratio * ratio));
    }
    if (status) return status;
    for (int i = 0; i < all->bins; i++) error += solution.error_w[i] / all->bins;
    if (all->bins > 1 && 1.96 * error < 0.5 * solution.mean_w)
        return profile_points(p->reader.context, &solution, all->bins, 0, p->run_s, profile->dynamic_j, solution.idle_w, profile);
    snprintf(profile->why_no_profile, sizeof profile->why_no_profile, "%s",
             all->bins > 1           ? "the sensor's noise hides it; more calls are needed"
             : p->options.points < 0 ? "only the energy was asked for"
                                     : "the sensor shows no structure of calls");
    return YOKE_OK;
}

yoke_status yoke_profiler_result(yoke_profiler *p, yoke_profile *profile)
{
    if (p == NULL || profile == NULL)
        return yoke_fail(p ? p->reader.context : NULL, YOKE_ERROR_ARGUMENT, "yoke_profiler_result: %s is NULL", p ? "profile" : "profiler");
    double now = profile_now(&p->reader);
    yoke_profile result = {.resolution_s = NAN, .low_c = p->reader.low_c, .high_c = p->reader.high_c, .burst = 1};
    profile_unfold all = {0};
    if (p->readings < BLOCKS * BLOCK_READINGS)
        return yoke_fail(p->reader.context, YOKE_ERROR_UNAVAILABLE,
                         "only %lld updates of the sensor in %lld calls so far; at least %d are needed", (long long)p->readings,
                         (long long)p->all_calls, BLOCKS * BLOCK_READINGS);
    yoke_status status = profile_unfold_start(p->reader.context, p->blocks[0].bins, &all);
    if (!status) status = find_result(p, &all, &result);
    profile_unfold_end(p->reader.context, &all);
    if (!status) status = profile_pack(p->reader.context, &result);
    if (status) {
        profile_clear(p->reader.context, &result);
        return status;
    }
    result.run_s = p->run_s;
    result.device_s = now - p->begin_s;
    result.reading_s = p->spent_s;
    result.reads = p->reader.reads;
    result.runs = p->all_calls;
    *profile = result;
    return YOKE_OK;
}
