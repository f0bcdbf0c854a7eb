/* Period, delay, window, shape and noise of a sensor, by loads that are switched on and off. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "profile/profile.h"

enum { MAX_CHANGES = 400, ENOUGH_CHANGES = 64, MAX_SHOTS = 64, FOLLOWING = 5 };

static const double golden_ratio = 0.6180339887498949;

/* ----------------------------------------------------------------------------------------------- the period */

/* Records changes while the load is switched on and off at irregular times, so that a sensor without noise changes, too. */
static yoke_status find_changes(profile_reader *reader, sensor_change *changes, int64_t *count)
{
    static const double min_s = 2, max_s = 25, stuck_s = 6;
    double begin = profile_now(reader), phase = 0, last = NAN;
    bool busy = false;
    *count = 0;
    for (;;) {
        double now = profile_now(reader), so_far = now - begin;
        if (so_far > stuck_s && *count < 2) return YOKE_OK;
        if (*count == MAX_CHANGES || so_far > max_s || (*count >= ENOUGH_CHANGES && so_far > min_s)) return YOKE_OK;
        phase += golden_ratio;
        phase -= floor(phase);
        double end = now + 0.03 + 0.1 * phase;
        yoke_status status = YOKE_OK;
        if (!busy) status = profile_poll(reader, end, &last, changes, MAX_CHANGES, count);
        while (busy && !status && profile_now(reader) < end) status = profile_run_polled(reader, &last, changes, MAX_CHANGES, count);
        if (status) return status;
        busy = !busy;
    }
}

static yoke_status find_period(profile_reader *reader)
{
    void *memory = NULL;
    int64_t count = 0;
    yoke_status status = yoke_allocate(reader->context, MAX_CHANGES, sizeof(sensor_change), &memory);
    if (status) return status;
    status = find_changes(reader, memory, &count);
    if (!status) status = sensor_fit_period(reader->context, memory, count, &reader->clock);
    yoke_release(reader->context, memory);
    reader->recorded_s = reader->clock.sync_s;
    return status;
}

/* ------------------------------------------------------------------------------------------ delay and window */

typedef struct step_shot {
    double on_s, off_s;
    int64_t first, last; /* updates [first, last) since it began, until the next shot */
} step_shot;

/* Makes a shot: idle until a given phase of the updates, then the load, then idle again. */
static yoke_status shoot(profile_reader *reader, double phase, double on_for_s, double off_for_s, step_shot *shot)
{
    double period = reader->clock.period_s, start = 0, end = 0;
    double on = sensor_clock_next(&reader->clock, profile_now(reader) + phase * period + 0.002) - phase * period;
    double off_phase = phase + 0.5 * golden_ratio; /* the falling edge is at another phase */
    shot->first = reader->count;
    yoke_status status = profile_watch(reader, on);
    if (!status) status = profile_run(reader, &shot->on_s, &end);
    double off = sensor_clock_next(&reader->clock, shot->on_s + on_for_s) - (off_phase - floor(off_phase)) * period;
    while (!status && end + 0.5 * reader->run_s < off) status = profile_run(reader, &start, &end);
    shot->off_s = end;
    if (!status) status = profile_watch(reader, end + off_for_s);
    shot->last = reader->count;
    return status;
}

/* Mean of the updates in an interval; NaN: none. */
static double mean_between(const profile_reader *reader, double from_s, double to_s)
{
    double sum = 0, count = 0;
    for (int64_t i = 0; i < reader->count; i++)
        if (reader->updates[i].time_s >= from_s && reader->updates[i].time_s < to_s) {
            sum += reader->updates[i].watts;
            count += 1;
        }
    return sum / count;
}

/* The time that readings need to rise to 90 %, approximately. */
static yoke_status find_rise(profile_reader *reader, double *rise_s)
{
    static const double long_s = 3;
    step_shot shot;
    double begin = profile_now(reader);
    yoke_status status = profile_watch(reader, begin + long_s);
    if (!status) status = shoot(reader, 0.5, long_s, long_s, &shot);
    if (status) return status;
    double idle = mean_between(reader, shot.on_s - 0.5, shot.on_s), top = mean_between(reader, shot.off_s - 0.5, shot.off_s);
    double high_w = idle + 0.9 * (top - idle), last = shot.off_s;
    for (int64_t i = shot.first; i + FOLLOWING < shot.last; i++) {
        const profile_update *u = &reader->updates[i];
        double mean = 0; /* of the readings that follow, as single readings may fall between two runs */
        for (int k = 1; k <= FOLLOWING; k++) mean += u[k].watts / FOLLOWING;
        if (u->time_s <= shot.on_s || u->watts < high_w || mean < high_w - 0.1 * (top - idle)) continue;
        last = u->time_s;
        break;
    }
    *rise_s = fmin(last - shot.on_s, 0.6 * long_s) + reader->clock.period_s;
    return YOKE_OK;
}

/* Lists the updates of the shots, with their times since the load's steps. */
static yoke_status collect(const profile_reader *reader, const step_shot *shots, int count, sensor_step **steps, int64_t *num_steps)
{
    void *memory = NULL;
    int64_t most = shots[count - 1].last - shots[0].first;
    yoke_status status = yoke_allocate(reader->context, most, sizeof(sensor_step), &memory);
    if (status) return status;
    sensor_step *list = memory;
    *num_steps = 0;
    for (int s = 0; s < count; s++)
        for (int64_t i = shots[s].first; i < shots[s].last; i++) {
            double time = reader->updates[i].time_s;
            list[(*num_steps)++] = (sensor_step){time - shots[s].on_s, time - shots[s].off_s, reader->updates[i].watts};
        }
    *steps = list;
    return YOKE_OK;
}

/* Whether an update came before the load, or so long after it that it hardly changes any more. */
static bool is_quiet(const yoke_sensor *sensor, const sensor_step *step)
{
    double quiet = sensor->shape == YOKE_SENSOR_LOW_PASS ? 3 * sensor->window_s : 1.2 * sensor_settle_s(sensor) + sensor->period_s;
    return step->since_on_s < 0 || step->since_off_s > quiet;
}

/* Noise: how far idle readings are from the mean of those before and after. */
static double idle_noise(const yoke_sensor *sensor, const sensor_step *steps, int64_t count)
{
    double squares = 0, number = 0;
    for (int64_t i = 1; i + 1 < count; i++) {
        if (!is_quiet(sensor, &steps[i - 1]) || !is_quiet(sensor, &steps[i]) || !is_quiet(sensor, &steps[i + 1])) continue;
        squares += pow(steps[i].watts - 0.5 * (steps[i - 1].watts + steps[i + 1].watts), 2) / 1.5;
        number += 1;
    }
    return number > 0 ? sqrt(squares / number) : 0;
}

/*
 * Removes readings of a sensor without a window that fell between two runs of the load, as they do not show the steps.  Returns the number
 * left.
 */
static int64_t drop_pauses(sensor_step *steps, int64_t count, double rise_s)
{
    double idle = 0, top = 0, idles = 0, tops = 0;
    for (int64_t i = 0; i < count; i++) {
        bool high = steps[i].since_on_s > rise_s && steps[i].since_off_s < 0, low = steps[i].since_on_s < 0;
        top += high ? steps[i].watts : 0;
        tops += high;
        idle += low ? steps[i].watts : 0;
        idles += low;
    }
    if (!(tops > 0 && idles > 0)) return count;
    double least = top / tops - 0.15 * (top / tops - idle / idles);
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++)
        if (!(steps[i].since_on_s > rise_s && steps[i].since_off_s < 0 && steps[i].watts < least)) steps[kept++] = steps[i];
    return kept;
}

static yoke_status find_shape(profile_reader *reader, yoke_sensor *sensor)
{
    step_shot shots[MAX_SHOTS];
    double rise = 0, period = reader->clock.period_s;
    yoke_status status = find_rise(reader, &rise);
    if (status) return status;
    /* Long enough for a low pass to settle, if the sensor may be one. */
    double half = fmax(0.05, (rise > 5 * period ? 3.5 : 2.2) * rise + 2 * period);
    /* Fast sensors cost little time, and their readings may jump: with more shots the time of a jump is known better. */
    int count = (int)fmin(period < 0.05 ? MAX_SHOTS : 24, fmax(6, (period < 0.05 ? 300 : 120) / (2 * rise / period)));
    for (int i = 0; i < count && !status; i++) {
        double phase = 0.5 * golden_ratio + i * golden_ratio;
        status = shoot(reader, phase - floor(phase), half, half, &shots[i]);
    }
    if (status) return status;
    sensor_step *steps = NULL;
    int64_t num_steps = 0;
    sensor_fit fit;
    status = collect(reader, shots, count, &steps, &num_steps);
    if (!status) num_steps = drop_pauses(steps, num_steps, rise);
    if (!status) status = sensor_fit_steps(reader->context, steps, num_steps, rise, 1.5 * rise, sensor, &fit);
    if (!status) sensor->noise_w = idle_noise(sensor, steps, num_steps);
    yoke_release(reader->context, steps);
    return status;
}

static yoke_status find_quantum(const profile_reader *reader, yoke_sensor *sensor)
{
    void *memory = NULL;
    yoke_status status = yoke_allocate(reader->context, reader->count, sizeof(double), &memory);
    if (status) return status;
    double *watts = memory;
    for (int64_t i = 0; i < reader->count; i++) watts[i] = reader->updates[i].watts;
    sensor->quantum_w = sensor_quantum(watts, reader->count);
    yoke_release(reader->context, memory);
    return YOKE_OK;
}

yoke_status yoke_sensor_identify(yoke_context *context, const yoke_profile_subject *subject, yoke_sensor *sensor)
{
    if (context == NULL || sensor == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_sensor_identify: %s is NULL", context == NULL ? "context" : "sensor");
    profile_reader reader;
    yoke_sensor found = {.gain_error = NAN};
    yoke_status status = profile_reader_start(context, subject, 0, &reader);
    if (status) return status;
    status = profile_time_runs(&reader);
    if (!status) status = find_period(&reader);
    const sensor_clock first = reader.clock;
    if (!status) status = find_shape(&reader, &found);
    if (!status) status = find_quantum(&reader, &found);
    /* From the first update to the last one: the longer this interval, the more accurate the period. */
    double periods = round((reader.clock.sync_s - first.sync_s) / first.period_s);
    found.period_s = periods > 1 ? (reader.clock.sync_s - first.sync_s) / periods : first.period_s;
    profile_reader_end(&reader);
    if (!status) *sensor = found;
    return status;
}
