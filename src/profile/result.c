/* Computes energy, and power over time, from series of readings. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "profile/profile.h"

/* Idle power as a line over time: a device that warms up draws more and more. */
typedef struct idle_line {
    double middle_s, watts, slope, noise_w, count;
    double spread_s; /* standard deviation of the times */
} idle_line;

static bool is_idle(const profile_series *series, const profile_shot *shot, const profile_update *update)
{
    return update->time_s > shot->end_s + series->quiet_s;
}

static idle_line find_idle(const profile_reader *reader, const profile_series *series)
{
    double n = 0, t = 0, v = 0, tt = 0, tv = 0, vv = 0, origin_s = series->shots[0].start_s, origin_w = NAN;
    for (int64_t s = 0; s < series->count; s++)
        for (int64_t i = series->shots[s].first; i < series->shots[s].last; i++) {
            if (!is_idle(series, &series->shots[s], &reader->updates[i])) continue;
            if (isnan(origin_w)) origin_w = reader->updates[i].watts;
            double time = reader->updates[i].time_s - origin_s, watts = reader->updates[i].watts - origin_w;
            n += 1;
            t += time;
            v += watts;
            tt += time * time;
            tv += time * watts;
            vv += watts * watts;
        }
    double spread = tt - t * t / n, slope = n > 8 && spread > 0 ? (tv - t * v / n) / spread : 0;
    double rest = fmax(0, vv - v * v / n - slope * (tv - t * v / n));
    return (idle_line){.middle_s = origin_s + t / n,
                       .watts = origin_w + v / n,
                       .slope = slope,
                       .noise_w = sqrt(rest / fmax(1, n - 2)),
                       .count = n,
                       .spread_s = sqrt(fmax(0, spread / n))};
}

static double idle_at(const idle_line *line, double time_s) { return line->watts + line->slope * (time_s - line->middle_s); }

/* Constant power in each shot, as the sensor would show it: 0 W for none. */
typedef struct shot_model {
    const yoke_sensor *sensor;
    double watts;
} shot_model;

static double model_at(const shot_model *model, const profile_shot *shot, double time_s)
{
    if (model->watts == 0) return 0;
    return model->watts * (sensor_response(model->sensor, time_s - shot->start_s) - sensor_response(model->sensor, time_s - shot->end_s));
}

/* Lists the updates of all shots, above idle and model, sorted by the time since their shot's start. */
static yoke_status collect(const profile_reader *reader, const profile_series *series, const idle_line *idle, const shot_model *model,
                           profile_sample **samples, int64_t *count)
{
    void *memory = NULL;
    int64_t number = 0;
    yoke_status status =
        yoke_allocate(reader->context, series->shots[series->count - 1].last - series->shots[0].first, sizeof(profile_sample), &memory);
    if (status) return status;
    profile_sample *list = memory;
    for (int64_t s = 0; s < series->count; s++)
        for (int64_t i = series->shots[s].first; i < series->shots[s].last; i++) {
            const profile_update *u = &reader->updates[i];
            double since = u->time_s - series->shots[s].start_s;
            double watts = u->watts - idle_at(idle, u->time_s) - model_at(model, &series->shots[s], u->time_s);
            if (since >= 0) list[number++] = (profile_sample){.since_s = since, .watts = watts};
        }
    profile_sort(list, number);
    *samples = list;
    *count = number;
    return YOKE_OK;
}

/* Finds the power of the model by least squares. */
static shot_model find_model(const profile_reader *reader, const profile_series *series, const yoke_sensor *sensor, const idle_line *idle)
{
    const shot_model unit = {sensor, 1};
    double xx = 0, xy = 0;
    for (int64_t s = 0; s < series->count; s++)
        for (int64_t i = series->shots[s].first; i < series->shots[s].last; i++) {
            const profile_update *u = &reader->updates[i];
            double x = model_at(&unit, &series->shots[s], u->time_s);
            xx += x * x;
            xy += x * (u->watts - idle_at(idle, u->time_s));
        }
    return (shot_model){sensor, xx > 0 ? xy / xx : 0};
}

/*
 * The area under the response to all shots.  That of the model is known exactly; that of the rest is computed by the trapezoid rule, and is
 * small, so that the rule is accurate between samples, too.  A model that is not quite right only costs precision.
 */
static yoke_status find_area(const profile_reader *reader, const profile_series *series, const yoke_sensor *sensor, const idle_line *idle,
                             double shows_s, profile_area *area)
{
    /* If readings jump, it is better to know only that a jump lies between two of them than to assume a place for it. */
    bool smooth = sensor->shape != YOKE_SENSOR_HALVES && sensor->window_s > sensor->period_s / (double)series->count;
    const shot_model model = smooth ? find_model(reader, series, sensor, idle) : (shot_model){0};
    profile_sample *samples = NULL;
    int64_t count = 0;
    double length = 0;
    yoke_status status = collect(reader, series, idle, &model, &samples, &count);
    if (!status) status = profile_integrate(reader->context, samples, count, 0, shows_s, area);
    yoke_release(reader->context, samples);
    for (int64_t s = 0; s < series->count; s++) length += (series->shots[s].end_s - series->shots[s].start_s) / (double)series->count;
    if (!status) area->joules += model.watts * length;
    return status;
}

/*
 * Variance because readings fall between the runs of a burst too often or too rarely; the longer the sensor's window is, the less that
 * matters.
 */
static double pauses_variance(const profile_series *series, const yoke_sensor *sensor, double joules, double readings)
{
    double length = 0, number = (double)series->count, window = sensor->shape == YOKE_SENSOR_HALVES ? 0 : sensor->window_s;
    for (int64_t s = 0; s < series->count; s++) length += (series->shots[s].end_s - series->shots[s].start_s) / number;
    double pauses = 1 - (double)series->burst * series->run_s / length, pause_s = pauses * series->run_s;
    if (series->burst == 1 || !(pauses > 0)) return 0;
    double hits = readings * length / (length + series->quiet_s), seen = pause_s < window ? pause_s / window : 1;
    return joules * joules * pauses * seen / hits * (sensor->shape == YOKE_SENSOR_HALVES ? 0.5 : 1);
}

yoke_status profile_series_energy(const profile_reader *reader, const profile_series *series, const yoke_sensor *sensor,
                                  profile_energy *energy)
{
    const double runs = (double)series->burst;
    profile_energy e = {.dynamic_j = NAN, .half_j = INFINITY, .run_s = series->run_s};
    idle_line idle = {0};
    if (series->count >= 3) idle = find_idle(reader, series);
    *energy = e;
    if (!(idle.count >= 3)) return YOKE_OK;
    double shows_s = 0; /* the longest time after its start at which a shot shows */
    for (int64_t s = 0; s < series->count; s++)
        shows_s = fmax(shows_s, series->shots[s].end_s - series->shots[s].start_s + series->quiet_s);
    profile_area area;
    yoke_status status = find_area(reader, series, sensor, &idle, shows_s, &area);
    if (status) return status;
    e.idle_w = idle.watts;
    e.noise_w = idle.noise_w;
    e.readings = area.count;
    if (area.count >= 12) {
        /* Each pause comes after its shot, so the line is not used at its middle. */
        double aside = 0.5 * (shows_s + series->pause_s) / fmax(idle.spread_s, shows_s);
        double idle_error = idle.noise_w / sqrt(idle.count) * sqrt(1 + aside * aside),
               run_error = sqrt(series->run_variance / series->run_count);
        /* Readings that fell between runs are in the area's own variance already. */
        area.variance = fmax(area.variance, pauses_variance(series, sensor, area.joules, (double)area.count));
        double of_area = area.variance / (runs * runs), of_idle = pow(idle_error * (shows_s / runs - series->run_s), 2);
        /* Runs that take longer than others also take more energy. */
        double variance = of_area + of_idle + pow((idle.watts + area.joules / (runs * series->run_s)) * run_error, 2);
        /*
         * Welch and Satterthwaite.  The deviations of samples from their lines are correlated, so that they count less than their number.
         */
        double freedom = variance * variance / (of_area * of_area / (0.6 * (double)area.count) + of_idle * of_idle / (idle.count - 2));
        e.dynamic_j = area.joules / runs;
        e.half_j = profile_student(freedom) * sqrt(variance);
    }
    *energy = e;
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------ the profile */

/* The points of a solution over bins of a run from start_s to end_s.  Errors: MEMORY. */
static yoke_status make_points(yoke_context *context, const profile_solution *solution, int bins, double start_s, double end_s,
                               double dynamic_j, double idle_w, yoke_profile *profile)
{
    void *memory = NULL;
    double length = end_s - start_s, sum_j = solution->mean_w * length;
    double factor = sum_j > 0.3 * dynamic_j && sum_j < 3 * dynamic_j ? dynamic_j / sum_j : 1;
    yoke_status status = yoke_allocate(context, bins, sizeof(yoke_profile_point), &memory);
    if (status) return status;
    yoke_profile_point *points = memory;
    for (int i = 0; i < bins; i++)
        points[i] = (yoke_profile_point){.time_s = start_s + (i + 0.5) * length / bins,
                                         .power_w = idle_w + factor * solution->power_w[i],
                                         .uncertainty_w = 1.96 * factor * solution->error_w[i]};
    yoke_release(context, profile->points);
    profile->points = points;
    profile->num_points = bins;
    profile->resolution_s = length / fmax(1, fmin(bins, solution->freedom));
    return YOKE_OK;
}

/* Copies the readings after the starts of runs, for people to look at. */
static yoke_status copy_readings(const profile_reader *reader, const profile_series *series, yoke_profile *profile)
{
    const idle_line none = {0};
    const shot_model no_model = {0};
    profile_sample *samples = NULL;
    int64_t count = 0;
    void *memory = NULL;
    yoke_status status = collect(reader, series, &none, &no_model, &samples, &count);
    if (!status) status = yoke_allocate(reader->context, count, sizeof(yoke_profile_point), &memory);
    if (!status) {
        yoke_profile_point *readings = memory;
        for (int64_t i = 0; i < count; i++)
            readings[i] = (yoke_profile_point){.time_s = samples[i].since_s, .power_w = samples[i].watts, .uncertainty_w = NAN};
        yoke_release(reader->context, profile->readings);
        profile->readings = readings;
        profile->num_readings = count;
    }
    yoke_release(reader->context, samples);
    return status;
}

/* Least squares over bins that reach a little beyond the run on both sides, since delays are not known exactly. */
static yoke_status unfold(const profile_reader *reader, const profile_series *series, const yoke_sensor *sensor, int bins, double pad_s,
                          profile_solution *solution)
{
    profile_unfold sums = {0};
    const idle_line idle = find_idle(reader, series);
    yoke_status status = profile_unfold_start(reader->context, bins, &sums);
    if (status) return status;
    for (int64_t s = 0; s < series->count; s++) {
        const profile_shot *shot = &series->shots[s];
        double end = shot->start_s + series->run_s;
        for (int64_t i = shot->first; i < shot->last; i++) {
            double row[PROFILE_MAX_BINS + 1] = {0}, time = reader->updates[i].time_s;
            profile_row_add(row, bins, sensor, time, shot->start_s - pad_s, end + pad_s);
            profile_unfold_add(&sums, row, reader->updates[i].watts - idle_at(&idle, time), 1);
        }
    }
    status = profile_unfold_solve(reader->context, &sums, NAN, solution);
    profile_unfold_end(reader->context, &sums);
    return status;
}

yoke_status profile_series_unfold(const profile_reader *reader, const profile_series *series, const yoke_sensor *sensor, int64_t points,
                                  double dynamic_j, yoke_profile *profile)
{
    profile_solution solution;
    double pad = 0.05 * series->run_s, error = 0;
    profile->why_no_profile[0] = '\0';
    yoke_status status = copy_readings(reader, series, profile);
    if (status) return status;
    int bins = (int)fmin((double)points, PROFILE_MAX_BINS);
    status = unfold(reader, series, sensor, bins, pad, &solution);
    if (status && status != YOKE_ERROR_NUMERIC) return status;
    for (int i = 0; !status && i < bins; i++) error += solution.error_w[i] / bins;
    if (status || !(1.96 * error < 0.5 * dynamic_j / series->run_s)) {
        snprintf(profile->why_no_profile, sizeof profile->why_no_profile,
                 "the noise of the sensor (%.2g W) hides it after %lld runs; more runs (--runs), or fewer points", sensor->noise_w,
                 (long long)series->count);
        return YOKE_OK;
    }
    return make_points(reader->context, &solution, bins, -pad, series->run_s + pad, dynamic_j, profile->idle_w, profile);
}

yoke_status profile_pack(yoke_context *context, yoke_profile *profile)
{
    void *memory = NULL;
    int64_t num_points = profile->num_points, num_readings = profile->num_readings;
    yoke_status status = yoke_allocate(context, num_points + num_readings, sizeof(yoke_profile_point), &memory);
    if (status) return status;
    yoke_profile_point *points = memory, *readings = points + num_points;
    if (num_points > 0) memcpy(points, profile->points, (size_t)num_points * sizeof *points);
    if (num_readings > 0) memcpy(readings, profile->readings, (size_t)num_readings * sizeof *readings);
    profile_clear(context, profile);
    profile->points = points;
    profile->readings = readings;
    return YOKE_OK;
}

void profile_clear(yoke_context *context, yoke_profile *profile)
{
    yoke_release(context, profile->points);
    yoke_release(context, profile->readings);
    profile->points = profile->readings = NULL;
}
