/* The energy and power of a kernel, from runs of it at chosen phases of the sensor. */
#include "profile/profile.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const double golden_ratio = 0.6180339887498949;

enum { MIN_SINGLE = 100, MIN_BURSTS = 6 };

/* Sensors that show a mean over a longer time than this, or a low pass, show the energy of bursts only. */
static const double longest_window_s = 0.3;

static bool bad(double value, double least, double most) { return !(value >= least && value <= most); }

/* The options with their defaults.  Errors: ARGUMENT. */
static yoke_status check_options(yoke_context *context, const yoke_sensor *sensor, const yoke_profile_options *given,
                                 yoke_profile_options *options)
{
    yoke_profile_options o = given != NULL ? *given : (yoke_profile_options){0};
    if (sensor == NULL || bad(sensor->period_s, 1e-5, 60) || bad(sensor->delay_s, 0, 60) || bad(sensor->window_s, 0, 600) ||
        bad(sensor->noise_w, 0, 1e6) || sensor->gain_error < 0)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "the sensor has a number out of its range; identify it first");
    if (bad(o.target, 0, 1) || bad(o.max_s, 0, 1e6) || o.runs < 0 || o.runs > 1000000 || !(o.low_c <= o.high_c))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT,
                         "options of a power profile: target 0 to 1, max_s 0 to 1e6, runs 0 to 1000000, low_c <= high_c");
    if (o.target == 0) o.target = 0.02;
    if (o.max_s == 0) o.max_s = 300;
    if (o.points == 0) o.points = 64;
    *options = o;
    return YOKE_OK;
}

typedef struct measurement {
    profile_reader reader;
    const yoke_sensor *sensor;
    yoke_profile_options options;
    double begin_s;
} measurement;

static double spent_s(const measurement *m) { return profile_now(&m->reader) - m->begin_s; }

/* ---------------------------------------------------------------------------------------------- temperature */

/* Runs the kernel until the device is warm enough, or waits until it is cool enough. */
static yoke_status keep_temperature(measurement *m)
{
    static const double max_s = 300;
    const yoke_profile_options *o = &m->options;
    double celsius = NAN, begin = profile_now(&m->reader), start = 0, end = 0;
    bool wanted = o->low_c != 0 || o->high_c != 0;
    for (;;) {
        yoke_status status = profile_temperature(&m->reader, &celsius);
        if (status || !wanted || (celsius >= o->low_c && celsius <= o->high_c)) return status;
        if (isnan(celsius))
            return yoke_fail(m->reader.context, YOKE_ERROR_UNAVAILABLE, "the temperature is not known, so no band of it can be kept");
        if (profile_now(&m->reader) - begin > max_s)
            return yoke_fail(m->reader.context, YOKE_ERROR_UNAVAILABLE,
                             "%.1f degrees after %.0f s: the band from %g to %g is not reached by %s", celsius, max_s, o->low_c, o->high_c,
                             celsius < o->low_c ? "running the kernel" : "waiting");
        double until = profile_now(&m->reader) + 0.2;
        if (celsius > o->high_c) status = profile_watch(&m->reader, until);
        while (celsius < o->low_c && !status && profile_now(&m->reader) < until) status = profile_run(&m->reader, &start, &end);
        if (status) return status;
        m->reader.low_c = m->reader.high_c = NAN; /* temperatures of measurements only */
    }
}

/* ---------------------------------------------------------------------------------------------------- shots */

static void count_run(profile_series *series, double seconds)
{
    /* Welford's recurrence. */
    double off = seconds - series->run_s;
    series->run_count += 1;
    series->run_s += off / series->run_count;
    series->run_variance += (off * (seconds - series->run_s) - series->run_variance) / series->run_count;
}

static yoke_status add_shot(measurement *m, profile_series *series, profile_shot shot)
{
    yoke_status status = yoke_grow(m->reader.context, &series->shots, series->count, &series->capacity, 64, sizeof(profile_shot));
    if (!status) series->shots[series->count++] = shot;
    return status;
}

/*
 * Makes one burst, started so that the next update comes at the next phase of a sequence that fills the period evenly (by the golden
 * ratio).
 */
static yoke_status shoot(measurement *m, profile_series *series)
{
    profile_reader *reader = &m->reader;
    double period = reader->clock.period_s, start = 0, end = 0;
    yoke_status status = keep_temperature(m);
    if (status) return status;
    series->golden += golden_ratio;
    series->golden -= floor(series->golden);
    double ahead = series->golden * period;
    double free_s = fmax(profile_now(reader), reader->ended_s + series->quiet_s); /* nothing of earlier runs shows any more */
    double at = sensor_clock_next(&reader->clock, free_s + ahead + 1e-4) - ahead;
    status = profile_watch(reader, at);
    profile_shot shot = {.first = reader->count};
    for (int64_t i = 0; i < series->burst && !status; i++) {
        status = profile_run(reader, &start, &end);
        if (i == 0) shot.start_s = start;
        if (!status) count_run(series, end - start);
    }
    shot.end_s = end;
    if (!status) status = profile_watch(reader, end + series->quiet_s + series->pause_s);
    shot.last = reader->count;
    if (!status) status = add_shot(m, series, shot);
    return status;
}

/* Least number of single shots: a sensor without a window shows a run in few of them. */
static int64_t least_single(const measurement *m)
{
    double window = m->sensor->shape == YOKE_SENSOR_MEAN ? m->sensor->window_s : 0;
    return (int64_t)fmax(MIN_SINGLE, 20 * m->sensor->period_s / fmax(m->reader.run_s, window));
}

static int64_t least_bursts(const measurement *m, const profile_series *bursts)
{
    bool window = m->sensor->shape != YOKE_SENSOR_HALVES && m->sensor->window_s > 0.1 * m->reader.run_s;
    double readings = ((double)bursts->burst * m->reader.run_s + bursts->quiet_s) / m->sensor->period_s; /* of one burst */
    return (int64_t)fmax(MIN_BURSTS, (window ? 20 : 200) / readings);
}

/* A series of bursts of `burst` runs each. */
static profile_series plan_series(const measurement *m, int64_t burst)
{
    const yoke_sensor *sensor = m->sensor;
    /* A little longer than by the model, as delay and window are not known exactly. */
    double quiet = 1.02 * sensor_settle_s(sensor) + 0.08 * fmin(sensor->window_s, 0.1) + 1e-3 + 0.01 * sensor->period_s;
    double length = (double)burst * m->reader.run_s;
    return (profile_series){.burst = burst, .quiet_s = quiet, .pause_s = fmax(1.2 * sensor->period_s, 0.3 * (length + quiet))};
}

static void end_series(const measurement *m, profile_series *series)
{
    yoke_release(m->reader.context, series->shots);
    series->shots = NULL;
}

/* Seconds that a shot takes. */
static double shot_s(const measurement *m, const profile_series *series)
{
    return (double)series->burst * m->reader.run_s + series->quiet_s + series->pause_s + m->reader.clock.period_s;
}

/* The half width of a run's energy to be expected after this number of seconds of shots. */
static double expected_half_j(const measurement *m, const profile_series *series, double noise_w, double seconds)
{
    double length = (double)series->burst * m->reader.run_s + series->quiet_s, shots = seconds / shot_s(m, series),
           period = m->sensor->period_s;
    double of_area = length * period / shots, of_idle = length * length * period / (shots * series->pause_s);
    return 1.96 * noise_w * sqrt(of_area + of_idle) / (double)series->burst;
}

/* Makes shots until the target is reached, or `exactly` shots (0: as many as needed), or until the time is over. */
static yoke_status shoot_until(measurement *m, profile_series *series, int64_t exactly, int64_t least, double max_s, profile_energy *energy)
{
    int64_t next = exactly > 0 ? exactly : least;
    for (;;) {
        while (series->count < next && spent_s(m) < max_s) {
            yoke_status status = shoot(m, series);
            if (status) return status;
        }
        yoke_status status = profile_series_energy(&m->reader, series, m->sensor, energy);
        if (status || exactly > 0 || series->count < next) return status;
        double reached = energy->half_j / (energy->dynamic_j + energy->idle_w * energy->run_s);
        if (reached <= m->options.target && reached > 0) return status;
        next += next / 8 + 1;
    }
}

/* ------------------------------------------------------------------------------------- the whole measurement */

/* Number of runs of a burst: its response is about as long as the sensor's own, within limits. */
static int64_t burst_runs(const measurement *m)
{
    double length = fmax(2.5 * m->sensor->period_s, fmin(sensor_settle_s(m->sensor), 2));
    return (int64_t)fmax(1, ceil(length / m->reader.run_s));
}

static yoke_status too_long(const measurement *m, const char *what, double needed_s)
{
    return yoke_fail(m->reader.context, YOKE_ERROR_UNAVAILABLE,
                     "%s would take about %.0f s of device time with this sensor; the limit (max_s) is %.0f s", what, needed_s,
                     m->options.max_s);
}

/* Succeeds if the energy is known well enough; else fails and reports how long that would take. */
static yoke_status check_energy(const measurement *m, const profile_energy *energy)
{
    double joules = energy->dynamic_j + energy->idle_w * energy->run_s;
    if (energy->half_j < 0.5 * fabs(joules) && joules > 0) return YOKE_OK;
    double ratio = energy->half_j / (m->options.target * fabs(joules));
    if (!isfinite(ratio) || ratio > 1e3)
        return yoke_fail(m->reader.context, YOKE_ERROR_UNAVAILABLE,
                         "the energy of a run does not show in %.0f s beside the sensor's noise (%.3g W)", spent_s(m), energy->noise_w);
    return too_long(m, "the energy", spent_s(m) * fmax(1.5, ratio * ratio));
}

static void fill_energy(const measurement *m, const profile_energy *energy, int64_t burst, yoke_profile *profile)
{
    double gain = isnan(m->sensor->gain_error) ? 0 : m->sensor->gain_error;
    profile->dynamic_j = energy->dynamic_j;
    profile->idle_w = energy->idle_w;
    profile->run_s = energy->run_s;
    profile->energy_j = energy->dynamic_j + energy->idle_w * energy->run_s;
    profile->statistical_j = energy->half_j;
    profile->uncertainty_j = hypot(energy->half_j, gain * profile->energy_j);
    profile->burst = burst;
}

/* Makes more shots until the profile is good, or its part of the time is over. */
static yoke_status refine_profile(measurement *m, profile_series *single, double dynamic_j, bool more, yoke_profile *profile)
{
    static const double good = 0.1;
    for (;;) {
        yoke_status status = profile_series_unfold(&m->reader, single, m->sensor, m->options.points, dynamic_j, profile);
        double error = 0;
        for (int64_t i = 0; i < profile->num_points; i++) error += profile->points[i].uncertainty_w / (double)profile->num_points;
        bool enough = profile->num_points > 0 && error < good * dynamic_j / profile->run_s;
        double next_s = 0.5 * (double)single->count * shot_s(m, single);
        if (status || enough || !more || spent_s(m) + next_s > 0.6 * m->options.max_s) return status;
        for (int64_t next = single->count + single->count / 2; single->count < next && !status;) status = shoot(m, single);
        if (status) return status;
    }
}

/* Makes single shots for the profile, if the energy is known from bursts. */
static yoke_status profile_only(measurement *m, const profile_energy *known, yoke_profile *profile)
{
    profile_series single = plan_series(m, 1);
    double budget = 0.5 * (m->options.max_s - spent_s(m)), expected = expected_half_j(m, &single, fmax(known->noise_w, 1e-6), budget);
    if (expected > 0.15 * known->dynamic_j) {
        double factor = expected / (0.15 * known->dynamic_j);
        snprintf(profile->why_no_profile, sizeof profile->why_no_profile,
                 "single runs are hidden by the sensor's noise: a profile would take about %.0f s of device time",
                 2 * budget * factor * factor);
        return YOKE_OK;
    }
    yoke_status status = YOKE_OK;
    while (!status && single.count < least_single(m) && spent_s(m) < m->options.max_s) status = shoot(m, &single);
    if (!status) status = refine_profile(m, &single, known->dynamic_j, true, profile);
    end_series(m, &single);
    return status;
}

static yoke_status measure_single(measurement *m, profile_series *series, yoke_profile *profile)
{
    profile_energy energy;
    yoke_status status = shoot_until(m, series, m->options.runs, least_single(m), m->options.max_s, &energy);
    if (!status) status = check_energy(m, &energy);
    if (status) return status;
    fill_energy(m, &energy, 1, profile);
    if (m->options.points < 0) return YOKE_OK;
    status = refine_profile(m, series, energy.dynamic_j, m->options.runs == 0, profile);
    if (status || m->options.runs > 0) return status;
    /* The shots for the profile have improved the energy, too. */
    status = profile_series_energy(&m->reader, series, m->sensor, &energy);
    if (!status) fill_energy(m, &energy, 1, profile);
    return status;
}

static yoke_status measure_bursts(measurement *m, profile_series *bursts, bool shows_profile, yoke_profile *profile)
{
    profile_energy energy;
    yoke_status status = shoot_until(m, bursts, 0, least_bursts(m, bursts), m->options.max_s, &energy);
    if (!status) status = check_energy(m, &energy);
    if (status) return status;
    fill_energy(m, &energy, bursts->burst, profile);
    if (m->options.points < 0) return YOKE_OK;
    if (shows_profile) return profile_only(m, &energy, profile);
    snprintf(profile->why_no_profile, sizeof profile->why_no_profile, "the sensor %s",
             m->sensor->shape == YOKE_SENSOR_LOW_PASS
                 ? "is a low pass: only the energy of bursts shows"
                 : "shows a mean over a time that is too long for it: only the energy of bursts shows");
    return YOKE_OK;
}

/* Measures bursts first, to estimate energy and noise; then single runs if these are good enough. */
static yoke_status measure(measurement *m, yoke_profile *profile)
{
    profile_energy energy;
    bool shows_profile = m->sensor->shape != YOKE_SENSOR_LOW_PASS && m->sensor->window_s <= longest_window_s;
    profile_series single = plan_series(m, 1), bursts = plan_series(m, burst_runs(m));
    yoke_status status = YOKE_OK;
    bool alone = shows_profile && m->options.runs > 0;
    double min_s = (double)least_bursts(m, &bursts) * shot_s(m, &bursts);
    if (!alone && spent_s(m) + min_s > m->options.max_s) return too_long(m, "the energy", spent_s(m) + 1.2 * min_s);
    if (shows_profile && !alone) {
        status = shoot_until(m, &bursts, 3, 0, m->options.max_s, &energy);
        double joules = energy.dynamic_j + energy.idle_w * energy.run_s, time = 0.5 * (m->options.max_s - spent_s(m));
        double noise = fmax(energy.noise_w, m->sensor->noise_w);
        if (!status)
            alone = expected_half_j(m, &single, noise, time) <= m->options.target * joules &&
                    (double)least_single(m) * shot_s(m, &single) < time;
    }
    if (!status) status = alone ? measure_single(m, &single, profile) : measure_bursts(m, &bursts, shows_profile, profile);
    end_series(m, &single);
    end_series(m, &bursts);
    return status;
}

yoke_status yoke_profile_measure(yoke_context *context, const yoke_profile_subject *subject, const yoke_sensor *sensor,
                                 const yoke_profile_options *options, yoke_profile *profile)
{
    if (context == NULL || profile == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_profile_measure: %s is NULL", context == NULL ? "context" : "profile");
    measurement m = {.sensor = sensor};
    yoke_profile result = {.energy_j = NAN, .uncertainty_j = NAN, .statistical_j = NAN, .dynamic_j = NAN, .resolution_s = NAN};
    yoke_status status = check_options(context, sensor, options, &m.options);
    if (!status) status = profile_reader_start(context, subject, 0, &m.reader);
    if (status) return status;
    m.begin_s = profile_now(&m.reader);
    status = profile_time_runs(&m.reader);
    if (!status) status = profile_synchronise(&m.reader, sensor);
    if (!status) status = measure(&m, &result);
    result.low_c = m.reader.low_c;
    result.high_c = m.reader.high_c;
    result.device_s = spent_s(&m);
    result.reading_s = m.reader.reading_s;
    result.reads = m.reader.reads;
    result.runs = m.reader.runs;
    profile_reader_end(&m.reader);
    if (!status) status = profile_pack(context, &result);
    if (status)
        profile_clear(context, &result);
    else
        *profile = result;
    return status;
}
