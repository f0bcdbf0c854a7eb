/*
 * Energy of the kernels of an application (dissertation, alg. 5.2, generalised): the mean power between two updates of a counter that is
 * read between calls is a linear function of idle power and of the power of each kernel, as the times of all calls are known.
 */
#include "profile/online.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

/* A reading that waits until all calls that it shows are known. */
typedef struct pending {
    double from_s, until_s, watts, error_w;
} pending;

struct profiler {
    yoke_context *context;
    profiler_meter meter;
    yoke_profile_subject subject;         /* the counter as a subject of the reader, which gets joules where a sensor has watts */
    profile_reader reader;                /* for a counter whose updates are searched */
    profile_kernels *sets[PROFILER_SETS]; /* NULL: not begun yet */
    profile_kernels *kernels;             /* the present one; NULL: none has begun */
    double overhead;
    double begin_s, since_s, spent_s;   /* begin_s: of the profile; since_s: time from which on calls are known */
    double tried_s;                     /* time of the update that was looked for last, which is not tried again */
    double due_s;                       /* no reading before this time */
    double base_j;                      /* first reading of the counter; it is subtracted, so that joules stay small */
    double update_s, error_s, update_j; /* the latest update: its time, standard deviation, joules; update_s NaN: none since since_s */
    double sum_s, sum_j;                /* between updates so far, for their mean power */
    /*
     * Mean power before any call.  The error of a reading uses at least this power, as updates that come late must not look like good
     * readings of no power.
     */
    double least_w;
    pending *waiting;
    int64_t count, capacity;
};

/* Whether the counter does not report the times of its updates, so that the reader follows their clock. */
static bool is_followed(const profiler *p) { return p->meter.updated_s == NULL; }

static double now_s(const profiler *p) { return p->meter.clock_s(p->meter.user); }

/* ---------------------------------------------------------------------------------------------------- the reader */

static yoke_status shown(double *value, void *user)
{
    const profiler *p = user;
    yoke_status status = p->meter.energy_j(value, p->meter.user);
    *value -= p->base_j;
    return status;
}

static double reader_now(void *user) { return now_s(user); }

static yoke_status reader_wait(double time_s, void *user)
{
    const profiler *p = user;
    return p->meter.wait_until(time_s, p->meter.user);
}

static double width_of(const sensor_change *change) { return change->until_s - change->after_s; }

static int by_width(const void *a, const void *b)
{
    double x = width_of(a), y = width_of(b);
    return (x > y) - (x < y);
}

static int by_time(const void *a, const void *b)
{
    double x = ((const sensor_change *)a)->after_s, y = ((const sensor_change *)b)->after_s;
    return (x > y) - (x < y);
}

/*
 * Removes changes that were seen late, as another program had the processor: they would hide the period.  Returns the number of changes
 * left.
 */
static int64_t keep_sharp(sensor_change *changes, int64_t count)
{
    static const double times = 4; /* multiple of the width of the lower quartile */
    int64_t sharp = 0;
    qsort(changes, (size_t)count, sizeof *changes, by_width);
    while (sharp < count && (sharp < SENSOR_MIN_CHANGES || width_of(&changes[sharp]) <= times * width_of(&changes[count / 4]))) sharp++;
    qsort(changes, (size_t)sharp, sizeof *changes, by_time);
    return sharp;
}

/* Finds the period of the counter.  It changes without any load, since idle devices draw power too. */
static yoke_status find_counter_clock(profiler *p)
{
    enum { MAX_CHANGES = 400, ENOUGH_CHANGES = 64, FEW_CHANGES = 16 };
    static const double usual_s = 2, most_s = 10;
    sensor_change changes[MAX_CHANGES];
    int64_t count = 0;
    double last = NAN, begin = now_s(p), after = 0;
    yoke_status status = p->meter.energy_j(&p->base_j, p->meter.user);
    while (!status && count < ENOUGH_CHANGES && (after = now_s(p) - begin) < (count < FEW_CHANGES ? most_s : usual_s))
        status = profile_poll(&p->reader, now_s(p) + 0.01, &last, changes, MAX_CHANGES, &count);
    after = now_s(p) - begin;
    p->least_w = last / after;
    if (!status && count < SENSOR_MIN_CHANGES)
        return yoke_fail(p->context, YOKE_ERROR_UNAVAILABLE,
                         "the counter changed only %lld times in %.2g s, which tells nothing of kernels; take another meter",
                         (long long)count, after);
    if (!status) status = sensor_fit_period(p->context, changes, keep_sharp(changes, count), &p->reader.clock);
    p->reader.recorded_s = p->reader.clock.sync_s;
    return status;
}

static yoke_status start_reader(profiler *p)
{
    p->subject =
        (yoke_profile_subject){.power_w = shown, .clock_s = reader_now, .wait_until = p->meter.wait_until ? reader_wait : NULL, .user = p};
    yoke_status status = profile_reader_start(p->context, &p->subject, 1, &p->reader);
    p->reader.most = INFINITY; /* joules of a long run */
    return status ? status : find_counter_clock(p);
}

yoke_status profiler_create(yoke_context *context, const profiler_meter *meter, double overhead, profiler **out)
{
    profiler *p = NULL;
    if (meter->clock_s == NULL || meter->energy_j == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "a profile of kernels needs a clock, and a counter that is read");
    yoke_status status = yoke_allocate(context, 1, sizeof *p, &p);
    if (status) return status;
    p->context = context;
    p->meter = *meter;
    p->overhead = overhead;
    p->least_w = 1e-6;
    p->update_s = NAN;
    p->since_s = INFINITY;
    p->reader.context = context;
    if (is_followed(p)) status = start_reader(p);
    p->begin_s = now_s(p);
    if (status)
        profiler_destroy(p);
    else
        *out = p;
    return status;
}

void profiler_destroy(profiler *p)
{
    if (p == NULL) return;
    yoke_context *context = p->context;
    for (int i = 0; i < PROFILER_SETS; i++) {
        if (p->sets[i]) profile_kernels_end(p->sets[i]);
        yoke_release(context, p->sets[i]);
    }
    profile_reader_end(&p->reader);
    yoke_release(context, p->waiting);
    yoke_release(context, p);
}

static yoke_status wait_for_calls(profiler *p, const pending *reading)
{
    yoke_status status = yoke_grow(p->context, &p->waiting, p->count, &p->capacity, 64, sizeof *p->waiting);
    if (!status) p->waiting[p->count++] = *reading;
    return status;
}

/* ----------------------------------------------------------------------------------------------------- readings */

/* Takes the joules that the counter showed at an update. */
static yoke_status take_joules(profiler *p, double update_s, double error_s, double joules)
{
    double length = update_s - p->update_s, energy = joules - p->update_j;
    pending reading = {.from_s = p->update_s, .until_s = update_s, .watts = energy / length};
    yoke_status status = YOKE_OK;
    if (!isnan(p->update_s)) {
        if (!(length > 0)) return YOKE_OK;
        double count = p->meter.resolution_j > 0 ? p->meter.resolution_j : 0;
        p->sum_s += length;
        p->sum_j += energy;
        double mean_w = fmax(p->sum_j / p->sum_s, p->least_w);
        reading.error_w = sqrt(count * count / 6 + mean_w * mean_w * (error_s * error_s + p->error_s * p->error_s)) / length;
        status = wait_for_calls(p, &reading);
    }
    p->update_s = update_s;
    p->error_s = error_s;
    p->update_j = joules;
    return status;
}

/* Reads a counter that reports the time of its updates. */
static yoke_status look_at_counter(profiler *p)
{
    static const double clock_error_s = 1e-7;
    double begin = now_s(p), update_s = p->meter.updated_s(p->meter.user), joules = NAN;
    if (begin < p->due_s || update_s <= p->update_s) return YOKE_OK;
    yoke_status status = p->meter.energy_j(&joules, p->meter.user);
    if (status) return status;
    double took = now_s(p) - begin;
    p->due_s = begin + took + took / p->overhead;
    p->spent_s += took;
    return update_s >= p->since_s ? take_joules(p, update_s, clock_error_s, joules) : YOKE_OK;
}

/* Reads an update that has come since the last reading, without waiting. */
static yoke_status read_new(profiler *p)
{
    profile_reader *reader = &p->reader;
    double now = profile_now(reader), last = sensor_clock_last(&reader->clock, now), half = 0.5 * reader->clock.period_s;
    if (last < reader->recorded_s + half || last < p->tried_s + half || now < p->due_s) return YOKE_OK;
    if (now < last + profile_lead_s(reader, last)) return YOKE_OK; /* it may not have come yet: the next look reads it */
    p->tried_s = last;
    return profile_take(reader, last);
}

/* Waits for the next update if that costs little, so that the clocks stay together: the older the last one, the more it may cost. */
static yoke_status synchronise(profiler *p)
{
    profile_reader *reader = &p->reader;
    double now = profile_now(reader), age = now - reader->clock.sync_s, next = sensor_clock_next(&reader->clock, now);
    if (age < 0.5 * sensor_sync_s) return YOKE_OK;
    double part = age < sensor_sync_s ? p->overhead : fmax(p->overhead, 0.03);
    /*
     * The time spent so far counts, too, so that the part is kept over the whole time.  A counter changes whenever it is read, and these
     * changes give most of the information.
     */
    double wait = next + profile_lead_s(reader, next) - now, all = now - p->begin_s;
    if (wait > part * age || p->spent_s + wait > p->overhead * all) return YOKE_OK;
    p->tried_s = next;
    return profile_take(reader, next);
}

static yoke_status take_updates(profiler *p)
{
    yoke_status status = YOKE_OK;
    for (int64_t i = 0; i < p->reader.count && !status; i++) {
        double update_s = p->reader.updates[i].time_s, joules = p->reader.updates[i].watts;
        if (update_s >= p->since_s) status = take_joules(p, update_s, sensor_clock_error(&p->reader.clock, update_s), joules);
    }
    p->reader.count = 0;
    return status;
}

static yoke_status look_at_updates(profiler *p)
{
    double entered = now_s(p);
    int64_t reads = p->reader.reads;
    yoke_status status = read_new(p);
    if (!status) status = synchronise(p);
    if (!status) status = take_updates(p);
    double ended = now_s(p);
    p->spent_s += ended - entered;
    if (p->reader.reads > reads) p->due_s = ended + p->reader.read_s / p->overhead;
    return status;
}

/* -------------------------------------------------------------------------------------------------------- calls */

static yoke_status make_set(profiler *p, int set)
{
    profile_kernels *kernels = NULL;
    yoke_status status = yoke_allocate(p->context, 1, sizeof *kernels, &kernels);
    if (status) return status;
    p->sets[set] = kernels;
    return profile_kernels_start(p->context, kernels);
}

yoke_status profiler_begin(profiler *p, int set)
{
    yoke_status status = p->sets[set] ? YOKE_OK : make_set(p, set);
    if (status) return status;
    p->kernels = p->sets[set];
    p->count = 0; /* waiting readings are of another set, or of calls that were not reported */
    p->since_s = now_s(p);
    p->update_s = NAN;
    p->due_s = -INFINITY;
    return profiler_look(p);
}

yoke_status profiler_call(profiler *p, const profile_call *call)
{
    if (p->kernels == NULL || call->kernel < 0 || call->kernel >= PROFILE_MAX_KERNELS || !(call->end_s >= call->start_s))
        return yoke_fail(p->context, YOKE_ERROR_ARGUMENT, "kernel %d from %g s to %g s is no call", call->kernel, call->start_s,
                         call->end_s);
    return profile_kernels_call(p->kernels, call);
}

yoke_status profiler_look(profiler *p) { return is_followed(p) ? look_at_updates(p) : look_at_counter(p); }

yoke_status profiler_known(profiler *p, double until_s)
{
    int64_t taken = 0;
    for (; taken < p->count && p->waiting[taken].until_s <= until_s; taken++) {
        const pending *reading = &p->waiting[taken];
        profile_kernels_add_mean(p->kernels, reading->from_s, reading->until_s, reading->watts, reading->error_w);
    }
    p->count -= taken;
    if (taken > 0 && p->count > 0) memmove(p->waiting, p->waiting + taken, (size_t)p->count * sizeof *p->waiting);
    profile_kernels_forget(p->kernels, p->count > 0 ? p->waiting[0].from_s : fmin(p->update_s, until_s));
    return YOKE_OK;
}

/*
 * The time within a reading at which the meter takes its value is not known: begin and end of calls may be off by this part of the time of
 * a reading, as observed with simulated meters.  Then a part of a neighbouring call counts for a call.
 */
static double misplaced_j(const profiler *p, const profile_joules *joules)
{
    static const double part = 0.1;
    double most_w = 0;
    for (int i = 0; i < PROFILE_MAX_KERNELS; i++)
        if (joules[i].dynamic_j > most_w * joules[i].call_s) most_w = joules[i].dynamic_j / joules[i].call_s;
    return part * p->reader.read_s * most_w;
}

yoke_status profiler_result(const profiler *p, int set, profile_joules *joules, int64_t *readings)
{
    double gain = p->meter.gain_error;
    const profile_kernels *kernels = p->sets[set];
    if (readings) *readings = kernels ? kernels->readings : 0;
    if (!kernels) return yoke_fail(p->context, YOKE_ERROR_UNAVAILABLE, "nothing was profiled");
    yoke_status status = profile_kernels_solve(kernels, joules);
    if (status) return status;
    double misplaced = misplaced_j(p, joules);
    for (int i = 0; i <= PROFILE_MAX_KERNELS; i++) {
        if (i < PROFILE_MAX_KERNELS) joules[i].uncertainty_j = hypot(joules[i].uncertainty_j, misplaced);
        if (!isnan(gain)) joules[i].uncertainty_j = hypot(joules[i].uncertainty_j, gain * joules[i].energy_j);
    }
    return YOKE_OK;
}
