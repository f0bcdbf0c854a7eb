/* Levels of a device of a model file: as numbers, as points, or as laws of the clock frequency. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/problem/file.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof(array)[0]))

/* --------------------------------------------------------------------------------------------------- points */

static yoke_status read_point(yoke_json_reader *reader, const json_t *value, const double *last, double *point)
{
    if (!json_is_array(value) || json_array_size(value) != 2) return yoke_json_expected(reader, "a pair [units, seconds]", value);
    size_t outer = yoke_json_enter_item(reader, 0);
    yoke_status status = yoke_json_read_number(reader, json_array_get(value, 0), 1e-9, 1e18, &point[0]);
    if (status != YOKE_OK) return status;
    if (last != NULL && !(point[0] > last[0]))
        return yoke_json_fail(reader, "expected more units than in the point before (%.17g), found %.17g", last[0], point[0]);
    yoke_json_leave(reader, outer);
    yoke_json_enter_item(reader, 1);
    status = yoke_json_read_number(reader, json_array_get(value, 1), 1e-30, 1e15, &point[1]);
    yoke_json_leave(reader, outer);
    return status;
}

/* Warns once per level about seconds that decrease: a plan uses their running maximum. */
static void warn_of_falling(const yoke_json_reader *reader, const double *points, int64_t count)
{
    for (int64_t i = 1; i < count; i++)
        if (points[2 * i + 1] < points[2 * i - 1]) {
            yoke_log(reader->context, YOKE_LOG_WARNING,
                     "%s: %s/%lld/1: %g s for %g units are less than %g s for %g; more units are taken to need no less time", reader->file,
                     reader->pointer, (long long)i, points[2 * i + 1], points[2 * i], points[2 * i - 1], points[2 * i - 2]);
            return;
        }
}

yoke_status problem_read_points(yoke_json_reader *reader, const json_t *value, const double **made, int64_t *num_points)
{
    void *memory = NULL;
    size_t count = json_array_size(value);
    if (count == 0) return yoke_json_expected(reader, "an array of pairs [units, seconds]", value);
    if (count > PROBLEM_MAX_POINTS)
        return yoke_json_fail(reader, "expected at most %d points, found %zu; leave out points that lie between others", PROBLEM_MAX_POINTS,
                              count);
    yoke_status status = yoke_allocate(reader->context, (int64_t)count, 2 * sizeof(double), &memory);
    if (status != YOKE_OK) return status;
    double *points = memory;
    *made = points;
    *num_points = (int64_t)count;
    for (size_t i = 0; i < count; i++) {
        size_t outer = yoke_json_enter_item(reader, (int64_t)i);
        status = read_point(reader, json_array_get(value, i), i > 0 ? points + 2 * (i - 1) : NULL, points + 2 * i);
        if (status != YOKE_OK) return status;
        yoke_json_leave(reader, outer);
    }
    warn_of_falling(reader, points, *num_points);
    return YOKE_OK;
}

static yoke_status read_points(yoke_json_reader *reader, const json_t *value, void *member)
{
    yoke_plan_level *level = member;
    return problem_read_points(reader, value, &level->points, &level->num_points);
}

/* --------------------------------------------------------------------------------------------------- levels */

static yoke_plan_level unknown_level(void) { return (yoke_plan_level){.frequency_hz = NAN, .dynamic_power_w = NAN, .idle_power_w = NAN}; }

static yoke_status allocate_levels(const yoke_json_reader *reader, yoke_plan_device *device, int64_t count, yoke_plan_level **levels)
{
    void *memory = NULL;
    yoke_status status = yoke_allocate(reader->context, count, sizeof(yoke_plan_level), &memory);
    if (status != YOKE_OK) return status;
    *levels = memory;
    device->levels = memory;
    device->num_levels = count;
    for (int64_t i = 0; i < count; i++) (*levels)[i] = unknown_level();
    return YOKE_OK;
}

static yoke_status read_level(yoke_json_reader *reader, const json_t *value, yoke_plan_level *level)
{
    static const yoke_json_key keys[] = {
        {"frequency_hz", YOKE_JSON_NUMBER, offsetof(yoke_plan_level, frequency_hz), .least = 1e-3, .most = 1e15, .nullable = 1},
        {"seconds_per_unit", YOKE_JSON_NUMBER, offsetof(yoke_plan_level, seconds_per_unit), .least = 1e-30, .most = 1e9},
        {"points", YOKE_JSON_OTHER, 0, .read = read_points},
        {"start_seconds", YOKE_JSON_NUMBER, offsetof(yoke_plan_level, start_seconds), .least = 0, .most = 1e9},
        {"dynamic_power_w", YOKE_JSON_NUMBER, offsetof(yoke_plan_level, dynamic_power_w), .least = 0, .most = 1e9, .nullable = 1},
        {"idle_power_w", YOKE_JSON_NUMBER, offsetof(yoke_plan_level, idle_power_w), .least = 0, .most = 1e9, .nullable = 1},
        {"hosting_power_w", YOKE_JSON_NUMBER, offsetof(yoke_plan_level, host_overhead_w), .least = 0, .most = 1e9},
        {"time_uncertainty", YOKE_JSON_NUMBER, offsetof(yoke_plan_level, time_uncertainty), .least = 0, .most = PROBLEM_MAX_UNCERTAINTY},
        {"power_uncertainty", YOKE_JSON_NUMBER, offsetof(yoke_plan_level, power_uncertainty), .least = 0, .most = PROBLEM_MAX_UNCERTAINTY},
        {"alone_factor", YOKE_JSON_NUMBER, offsetof(yoke_plan_level, alone_factor), .least = PROBLEM_MIN_ALONE, .most = 1},
        {"phases", YOKE_JSON_OTHER, 0, .read = problem_read_later},
    };
    yoke_status status = yoke_json_read_object(reader, keys, COUNT_OF(keys), value, level);
    if (status != YOKE_OK || json_object_get(value, "phases") != NULL) return status;
    int constant = json_object_get(value, "seconds_per_unit") != NULL;
    if (constant != (level->num_points > 0)) return YOKE_OK;
    yoke_json_enter(reader, constant ? "points" : "seconds_per_unit");
    return constant ? yoke_json_fail(reader, "expected either \"seconds_per_unit\" or \"points\", found both")
                    : yoke_json_fail(reader, "this key is missing; expected \"seconds_per_unit\" or \"points\"");
}

yoke_status problem_read_levels(yoke_json_reader *reader, const json_t *value, void *member)
{
    yoke_plan_level *levels = NULL;
    size_t count = json_array_size(value);
    if (count == 0) return yoke_json_expected(reader, "an array of levels {...}", value);
    if (count > PROBLEM_MAX_LEVELS) return yoke_json_fail(reader, "expected at most %d levels, found %zu", PROBLEM_MAX_LEVELS, count);
    yoke_status status = allocate_levels(reader, member, (int64_t)count, &levels);
    for (size_t i = 0; status == YOKE_OK && i < count; i++) {
        size_t outer = yoke_json_enter_item(reader, (int64_t)i);
        status = read_level(reader, json_array_get(value, i), &levels[i]);
        if (status == YOKE_OK) yoke_json_leave(reader, outer);
    }
    return status;
}

/* ----------------------------------------------------------------------------------------------------- laws */

/* linear: p[0] f + p[1]; cubic: p[0] f^3 + p[1] f + p[2]. */
typedef struct law {
    int parameters; /* 2 or 3; 0: there is no law */
    double p[3];
} law;

typedef struct laws {
    double frequencies[PROBLEM_MAX_LEVELS];
    int64_t count;
    law rate, power;
    int total;
    yoke_plan_level common; /* idle power, start, uncertainties */
} laws;

static double law_at(const law *l, double f)
{
    return l->parameters == 3 ? (l->p[0] * f * f + l->p[1]) * f + l->p[2] : l->p[0] * f + l->p[1];
}

static yoke_status read_parameters(yoke_json_reader *reader, const json_t *value, int count, law *l)
{
    if (!json_is_array(value) || json_array_size(value) != (size_t)count)
        return yoke_json_expected(reader, count == 2 ? "two numbers [a, b] of a f + b" : "three numbers [a, b, c] of a f^3 + b f + c",
                                  value);
    l->parameters = count;
    for (int i = 0; i < count; i++) {
        size_t outer = yoke_json_enter_item(reader, i);
        yoke_status status = yoke_json_read_number(reader, json_array_get(value, (size_t)i), -1e30, 1e30, &l->p[i]);
        if (status != YOKE_OK) return status;
        yoke_json_leave(reader, outer);
    }
    return YOKE_OK;
}

static yoke_status read_linear(yoke_json_reader *reader, const json_t *value, void *member)
{
    return read_parameters(reader, value, 2, member);
}

static yoke_status read_cubic(yoke_json_reader *reader, const json_t *value, void *member)
{
    return read_parameters(reader, value, 3, member);
}

static yoke_status read_law(yoke_json_reader *reader, const json_t *value, const yoke_json_key *keys, int count, law *l)
{
    yoke_status status = yoke_json_read_object(reader, keys, count, value, l);
    if (status != YOKE_OK) return status;
    if (json_object_size(value) == 1) return YOKE_OK;
    return yoke_json_expected(reader, count == 1 ? "{\"linear\": [d, e]}" : "{\"linear\": [a, b]} or {\"cubic\": [a, b, c]}", value);
}

static const yoke_json_key law_keys[] = {{"linear", YOKE_JSON_OTHER, 0, .read = read_linear},
                                         {"cubic", YOKE_JSON_OTHER, 0, .read = read_cubic}};

static yoke_status read_rate(yoke_json_reader *reader, const json_t *value, void *member)
{
    return read_law(reader, value, law_keys, 1, member);
}

static yoke_status read_power(yoke_json_reader *reader, const json_t *value, void *member)
{
    return read_law(reader, value, law_keys, 2, member);
}

static yoke_status read_frequencies(yoke_json_reader *reader, const json_t *value, void *member)
{
    laws *l = member;
    size_t count = json_array_size(value);
    if (count == 0) return yoke_json_expected(reader, "an array of frequencies in Hz", value);
    if (count > PROBLEM_MAX_LEVELS) return yoke_json_fail(reader, "expected at most %d frequencies, found %zu", PROBLEM_MAX_LEVELS, count);
    l->count = (int64_t)count;
    for (size_t i = 0; i < count; i++) {
        size_t outer = yoke_json_enter_item(reader, (int64_t)i);
        yoke_status status = yoke_json_read_number(reader, json_array_get(value, i), 1e-3, 1e15, &l->frequencies[i]);
        for (size_t k = 0; status == YOKE_OK && k < i; k++)
            if (l->frequencies[k] == l->frequencies[i]) status = yoke_json_fail(reader, "expected another frequency than in place %zu", k);
        if (status != YOKE_OK) return status;
        yoke_json_leave(reader, outer);
    }
    return YOKE_OK;
}

/* The level at one frequency.  If a law gives an impossible number, the error is in the law, and the message names the frequency. */
static yoke_status apply_laws(yoke_json_reader *reader, const laws *l, int64_t i, yoke_plan_level *level)
{
    double f = l->frequencies[i], rate = law_at(&l->rate, f), power = l->power.parameters > 0 ? law_at(&l->power, f) : NAN;
    if (l->total) power -= l->common.idle_power_w;
    if (rate >= 1e-9 && rate <= 1e30 && !(power < 0 || power > 1e9)) {
        *level = l->common;
        level->frequency_hz = f;
        level->seconds_per_unit = 1 / rate;
        level->dynamic_power_w = power;
        return YOKE_OK;
    }
    yoke_json_enter(reader, "frequencies_hz");
    yoke_json_enter_item(reader, i);
    if (!(rate >= 1e-9 && rate <= 1e30))
        return yoke_json_fail(reader, "the rate at %g Hz is %g units/s by its law; expected a number from 1e-09 to 1e+30", f, rate);
    return yoke_json_fail(reader, "the dynamic power at %g Hz is %g W by its law; expected a number from 0 to 1e+09", f, power);
}

static yoke_status make_levels(yoke_json_reader *reader, const laws *l, yoke_plan_device *device)
{
    yoke_plan_level *levels = NULL;
    if (l->total && isnan(l->common.idle_power_w)) {
        yoke_json_enter(reader, "total");
        return yoke_json_fail(reader, "a power that includes the idle power needs the key \"idle_power_w\" beside it");
    }
    yoke_status status = allocate_levels(reader, device, l->count, &levels);
    for (int64_t i = 0; status == YOKE_OK && i < l->count; i++) status = apply_laws(reader, l, i, &levels[i]);
    return status;
}

yoke_status problem_read_laws(yoke_json_reader *reader, const json_t *value, void *member)
{
    static const yoke_json_key keys[] = {
        {"frequencies_hz", YOKE_JSON_OTHER, 0, .required = 1, .read = read_frequencies},
        {"rate", YOKE_JSON_OTHER, offsetof(laws, rate), .required = 1, .read = read_rate},
        {"power", YOKE_JSON_OTHER, offsetof(laws, power), .read = read_power},
        {"total", YOKE_JSON_FLAG, offsetof(laws, total), .required = 0},
        {"idle_power_w", YOKE_JSON_NUMBER, offsetof(laws, common.idle_power_w), .least = 0, .most = 1e9, .nullable = 1},
        {"start_seconds", YOKE_JSON_NUMBER, offsetof(laws, common.start_seconds), .least = 0, .most = 1e9},
        {"time_uncertainty", YOKE_JSON_NUMBER, offsetof(laws, common.time_uncertainty), .least = 0, .most = PROBLEM_MAX_UNCERTAINTY},
        {"power_uncertainty", YOKE_JSON_NUMBER, offsetof(laws, common.power_uncertainty), .least = 0, .most = PROBLEM_MAX_UNCERTAINTY},
        {"alone_factor", YOKE_JSON_NUMBER, offsetof(laws, common.alone_factor), .least = PROBLEM_MIN_ALONE, .most = 1},
    };
    void *memory = NULL;
    yoke_status status = yoke_allocate(reader->context, 1, sizeof(laws), &memory);
    if (status != YOKE_OK) return status;
    laws *l = memory;
    l->common = unknown_level();
    status = yoke_json_read_object(reader, keys, COUNT_OF(keys), value, l);
    if (status == YOKE_OK) status = make_levels(reader, l, member);
    yoke_release(reader->context, l);
    return status;
}
