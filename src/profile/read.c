/* Reads a sensor during runs, with the times of both. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "profile/profile.h"

yoke_status profile_reader_start(yoke_context *context, const yoke_profile_subject *subject, int online, profile_reader *reader)
{
    if (subject == NULL || subject->power_w == NULL || (!online && (subject->launch == NULL || subject->finish == NULL)))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "the subject of a power profile needs %s",
                         online ? "power_w" : "launch, finish and power_w");
    *reader = (profile_reader){.context = context, .subject = subject, .recorded_s = -INFINITY, .most = 1e7, .low_c = NAN, .high_c = NAN};
    return YOKE_OK;
}

void profile_reader_end(profile_reader *reader)
{
    yoke_release(reader->context, reader->updates);
    reader->updates = NULL;
}

double profile_now(const profile_reader *reader)
{
    return reader->subject->clock_s != NULL ? reader->subject->clock_s(reader->subject->user) : yoke_clock_s();
}

static yoke_status wait_until(const profile_reader *reader, double time_s)
{
    static const double spin_s = 2e-4; /* a sleep may end this much too late */
    if (reader->subject->wait_until != NULL) return reader->subject->wait_until(time_s, reader->subject->user);
    for (;;) {
        double left = time_s - profile_now(reader);
        if (!(left > 0)) return YOKE_OK;
        if (left < spin_s) continue;
        left -= spin_s;
        struct timespec nap = {.tv_sec = (time_t)left, .tv_nsec = (long)(1e9 * (left - floor(left)))};
        if (nanosleep(&nap, NULL) != 0 && errno == EINTR)
            return yoke_fail(reader->context, YOKE_ERROR_INTERRUPTED, "interrupted while a power profile was taken");
    }
}

enum { MAX_STANDING = 1000000 }; /* readings between which the clock does not move */

/* Reads the sensor once; *begin_s and *end_s (NULL allowed) are the times around the reading.  Errors: UNAVAILABLE (no power). */
static yoke_status read_power(profile_reader *reader, double *watts, double *begin_s, double *end_s)
{
    double begin = profile_now(reader), shown = NAN;
    yoke_status status = reader->subject->power_w(&shown, reader->subject->user);
    if (status) return status;
    double end = profile_now(reader), took = end - begin;
    if (!isfinite(shown) || shown < 0 || shown > reader->most)
        return yoke_fail(reader->context, YOKE_ERROR_UNAVAILABLE, "the meter shows %g; expected 0 to %g", shown, reader->most);
    reader->standing = took > 0 ? 0 : reader->standing + 1;
    if (reader->standing > MAX_STANDING)
        return yoke_fail(reader->context, YOKE_ERROR_ARGUMENT, "the clock of the power profile's subject does not advance; check clock_s");
    reader->reads++;
    reader->reading_s += took;
    if (took > 0 && (reader->read_s == 0 || took < reader->read_s)) reader->read_s = took;
    *watts = shown;
    if (begin_s) *begin_s = begin;
    if (end_s) *end_s = end;
    return YOKE_OK;
}

yoke_status profile_temperature(profile_reader *reader, double *celsius)
{
    *celsius = NAN;
    if (reader->subject->temperature_c == NULL) return YOKE_OK;
    yoke_status status = reader->subject->temperature_c(celsius, reader->subject->user);
    if (status) return status;
    reader->low_c = fmin(reader->low_c, *celsius); /* fmin and fmax prefer numbers to NaN */
    reader->high_c = fmax(reader->high_c, *celsius);
    return YOKE_OK;
}

static yoke_status record(profile_reader *reader, double update_s, double watts)
{
    yoke_status status = yoke_grow(reader->context, &reader->updates, reader->count, &reader->capacity, 1024, sizeof(profile_update));
    if (status) return status;
    reader->updates[reader->count++] = (profile_update){.time_s = update_s, .watts = watts};
    reader->recorded_s = update_s;
    return YOKE_OK;
}

double profile_lead_s(const profile_reader *reader, double update_s)
{
    double lead = 4 * sensor_clock_error(&reader->clock, update_s) + 2 * reader->read_s + 1e-5;
    return fmin(lead, 0.2 * reader->clock.period_s);
}

/* Reads the sensor until it changes, or the expected time is well over, as an update may show the same value as before. */
static yoke_status look(profile_reader *reader, double update_s, double lead, double *watts)
{
    double last = NAN, begin = 0, end = 0, before = 0;
    for (;;) {
        yoke_status status = read_power(reader, watts, &begin, &end);
        if (status) return status;
        if (!isnan(last) && *watts != last) {
            sensor_clock_saw(&reader->clock, (sensor_change){.after_s = before, .until_s = end});
            return YOKE_OK;
        }
        if (begin > update_s + lead) return YOKE_OK;
        last = *watts;
        before = begin;
    }
}

yoke_status profile_take(profile_reader *reader, double update_s)
{
    double lead = profile_lead_s(reader, update_s), watts = NAN, now = profile_now(reader);
    yoke_status status = YOKE_OK;
    if (now < update_s - lead) status = wait_until(reader, update_s - lead);
    if (status) return status;
    now = profile_now(reader);
    if (now > update_s + lead) { /* too late to see the update: the present value came with the last one */
        double last = sensor_clock_last(&reader->clock, now);
        if (now < last + profile_lead_s(reader, last)) return profile_take(reader, last);
        double begin = 0, end = 0;
        status = read_power(reader, &watts, &begin, &end);
        if (status) return status;
        double next = last + reader->clock.period_s;
        if (end > next - profile_lead_s(reader, next)) return YOKE_OK; /* it may also have come with the next one */
        update_s = last;
    } else {
        status = look(reader, update_s, lead, &watts);
        if (status) return status;
        update_s = sensor_clock_last(&reader->clock, update_s + 0.5 * reader->clock.period_s);
    }
    return record(reader, update_s, watts);
}

yoke_status profile_watch(profile_reader *reader, double until_s)
{
    for (;;) {
        double now = profile_now(reader);
        if (!(now < until_s)) return YOKE_OK;
        double half = 0.5 * reader->clock.period_s;
        double next =
            sensor_clock_next(&reader->clock, fmax(reader->recorded_s + half, now - reader->clock.period_s + profile_lead_s(reader, now)));
        if (next + profile_lead_s(reader, next) > until_s) return wait_until(reader, until_s);
        yoke_status status = profile_take(reader, next);
        if (status) return status;
        if (reader->recorded_s < next - half) reader->recorded_s = next; /* missed: it is not tried again */
    }
}

yoke_status profile_poll(profile_reader *reader, double until_s, double *last, sensor_change *changes, int64_t room, int64_t *count)
{
    double before = NAN, watts = NAN, begin = 0, end = 0;
    while (profile_now(reader) < until_s) {
        yoke_status status = read_power(reader, &watts, &begin, &end);
        if (status) return status;
        /* The first reading shows a change at some time since the last poll, which is too long to be of use. */
        if (!isnan(before) && watts != *last && *count < room) changes[(*count)++] = (sensor_change){.after_s = before, .until_s = end};
        *last = watts;
        before = begin;
    }
    return YOKE_OK;
}

/* Waits for the end of a run and determines its times; before_s: its start, if the subject does not report it. */
static yoke_status run_times(profile_reader *reader, double before_s, double *start_s, double *end_s)
{
    double start = NAN, end = NAN;
    yoke_status status = reader->subject->finish(&start, &end, reader->subject->user);
    if (status) return status;
    reader->runs++;
    *start_s = isfinite(start) ? start : before_s;
    *end_s = isfinite(end) && end > *start_s ? end : profile_now(reader);
    reader->ended_s = *end_s;
    return YOKE_OK;
}

/*
 * Start of a run that was launched between `before` and `after`.  If launching took most of the run's time, it did not return before the
 * run was over.
 */
static double started(const profile_reader *reader, double before, double after)
{
    return reader->run_s > 0 && after - before > 0.5 * reader->run_s ? before : after;
}

/* Reads an update that came while the run blocked this thread, if it is still shown. */
static yoke_status catch_up(profile_reader *reader)
{
    double now = profile_now(reader), half = 0.5 * reader->clock.period_s;
    if (!(half > 0) || now < reader->recorded_s + 2 * half) return YOKE_OK;
    double last = sensor_clock_last(&reader->clock, now);
    if (last < reader->recorded_s + half || now < last + profile_lead_s(reader, last)) return YOKE_OK;
    return profile_take(reader, last);
}

yoke_status profile_run(profile_reader *reader, double *start_s, double *end_s)
{
    double before = profile_now(reader);
    yoke_status status = reader->subject->launch(reader->subject->user);
    if (status) return status;
    double start = started(reader, before, profile_now(reader));
    /*
     * The sensor is not watched to the very end: if this thread returned late, it would not know when the run ended.  An update there is
     * read later.
     */
    double rest = fmin(0.2 * reader->run_s, fmax(5e-4, 4 * reader->read_s));
    if (reader->run_s > 0 && reader->clock.period_s > 0) status = profile_watch(reader, start + reader->run_s - rest);
    if (!status) status = run_times(reader, start, start_s, end_s);
    return status ? status : catch_up(reader);
}

yoke_status profile_run_polled(profile_reader *reader, double *last, sensor_change *changes, int64_t room, int64_t *count)
{
    double start = 0, end = 0, before = profile_now(reader);
    yoke_status status = reader->subject->launch(reader->subject->user);
    if (status) return status;
    status = profile_poll(reader, started(reader, before, profile_now(reader)) + reader->run_s, last, changes, room, count);
    if (!status) status = run_times(reader, before, &start, &end);
    return status;
}

yoke_status profile_time_runs(profile_reader *reader)
{
    double first = profile_now(reader), start = 0, end = 0, least = INFINITY;
    enum { FEWEST = 3, MOST = 200 };
    reader->run_s = 0;
    for (int i = 0; i < MOST && (i < FEWEST || end - first < 0.1); i++) {
        double before = profile_now(reader);
        yoke_status status = profile_run(reader, &start, &end);
        if (status) return status;
        if (!(end > before)) return yoke_fail(reader->context, YOKE_ERROR_ARGUMENT, "a run of the subject takes no time on its clock");
        if (i > 0) least = fmin(least, end - fmax(start, before)); /* the first one also loads and compiles */
    }
    reader->run_s = least;
    return YOKE_OK;
}

yoke_status profile_synchronise(profile_reader *reader, const yoke_sensor *sensor)
{
    sensor_change change;
    int64_t count = 0;
    double last = NAN, begin = profile_now(reader), runs_s = sensor_settle_s(sensor) + 10 * sensor->period_s;
    reader->clock = (sensor_clock){.sync_s = 0, .period_s = 0};
    yoke_status status = profile_poll(reader, begin + 3 * sensor->period_s, &last, &change, 1, &count);
    /* A sensor without noise changes only with the load. */
    begin = profile_now(reader);
    while (!status && count == 0 && profile_now(reader) < begin + runs_s) {
        status = profile_run_polled(reader, &last, &change, 1, &count);
        if (!status) status = profile_poll(reader, profile_now(reader) + 2 * sensor->period_s, &last, &change, 1, &count);
    }
    if (status) return status;
    if (count == 0)
        return yoke_fail(reader->context, YOKE_ERROR_UNAVAILABLE,
                         "the sensor of power never changes: it is stuck, or shows another device");
    reader->clock = (sensor_clock){.sync_s = 0.5 * (change.after_s + change.until_s),
                                   .period_s = sensor->period_s,
                                   .error_s = fmax(3e-6, 0.3 * (change.until_s - change.after_s)),
                                   .drift = 1e-4};
    reader->recorded_s = reader->clock.sync_s;
    return YOKE_OK;
}
