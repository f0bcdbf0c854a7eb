/* Rounds of a model file: cuts and phases, and the times of a phase for each level. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/json.h"
#include "model/problem/file.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof(array)[0]))

static const double max_units = 1e15;

yoke_status problem_read_later(yoke_json_reader *reader, const json_t *value, void *member)
{
    (void)reader;
    (void)value;
    (void)member;
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------------- round */

static yoke_status read_work(yoke_json_reader *reader, const json_t *value, void *member)
{
    char *memory = NULL;
    const char *found = NULL;
    yoke_status status = yoke_json_read_text(reader, value, 0, 255, &found);
    if (status == YOKE_OK) status = yoke_allocate_untouched(reader->context, (int64_t)strlen(found) + 1, 1, &memory);
    if (status == YOKE_OK) *(const char **)member = strcpy(memory, found);
    return status;
}

/* Reads an array [units of the cut + 1] that begins with 0 and does not decrease. */
static yoke_status read_weights(yoke_json_reader *reader, const json_t *value, int64_t units, yoke_phase *phase)
{
    double *sum = NULL;
    if (!json_is_array(value) || json_array_size(value) != (size_t)units + 1)
        return yoke_json_fail(reader, "expected an array of %lld sums, one more than the cut has units, found %zu", (long long)units + 1,
                              json_array_size(value));
    yoke_status status = yoke_allocate(reader->context, units + 1, sizeof *sum, &sum);
    if (status != YOKE_OK) return status;
    phase->weight_sum = sum;
    for (int64_t k = 0; k <= units; k++) {
        size_t outer = yoke_json_enter_item(reader, k);
        status = yoke_json_read_number(reader, json_array_get(value, (size_t)k), k > 0 ? sum[k - 1] : 0, k > 0 ? 1e60 : 0, &sum[k]);
        if (status != YOKE_OK) return status;
        yoke_json_leave(reader, outer);
    }
    return YOKE_OK;
}

/* Replaces the device's name by its number. */
static yoke_status read_device(yoke_json_reader *reader, const json_t *value, const yoke_plan_problem *problem, yoke_phase *phase)
{
    const char *name = json_string_value(value);
    for (int64_t i = 0; name != NULL && i < problem->num_devices; i++)
        if (strcmp(problem->devices[i].name, name) == 0) {
            phase->cut = -1;
            phase->device = i;
            return YOKE_OK;
        }
    return yoke_json_expected(reader, "the name of a device", value);
}

static yoke_status read_phase(yoke_json_reader *reader, const json_t *value, const yoke_plan_problem *problem, yoke_phase *phase)
{
    static const yoke_json_key keys[] = {
        {"work", YOKE_JSON_OTHER, offsetof(yoke_phase, work), .read = read_work},
        {"calls", YOKE_JSON_NUMBER, offsetof(yoke_phase, calls), .least = 1e-9, .most = 1e15},
        {"cut", YOKE_JSON_COUNT, offsetof(yoke_phase, cut), .least = 0, .most = YOKE_PLAN_MAX_CUTS - 1},
        {"device", YOKE_JSON_OTHER, 0, .read = problem_read_later},
        {"units", YOKE_JSON_COUNT, offsetof(yoke_phase, units), .least = 0, .most = 1e15, .required = 1},
        {"weight_sum", YOKE_JSON_OTHER, 0, .read = problem_read_later},
        {"barrier", YOKE_JSON_FLAG, offsetof(yoke_phase, barrier), .required = 0},
        {"call_seconds", YOKE_JSON_NUMBER, offsetof(yoke_phase, call_seconds), .least = 0, .most = 1e9},
    };
    const size_t outer = strlen(reader->pointer);
    phase->calls = 1;
    yoke_status status = yoke_json_read_object(reader, keys, COUNT_OF(keys), value, phase);
    if (status != YOKE_OK) return status;
    const json_t *device = json_object_get(value, "device"), *cut = json_object_get(value, "cut"),
                 *weights = json_object_get(value, "weight_sum");
    if (device != NULL && (cut != NULL || weights != NULL)) {
        yoke_json_enter(reader, "device");
        return yoke_json_fail(reader, "expected either \"device\" or \"cut\" (with \"weight_sum\"), found both");
    }
    if (device != NULL) {
        yoke_json_enter(reader, "device");
        status = read_device(reader, device, problem, phase);
        if (status == YOKE_OK) yoke_json_leave(reader, outer);
        return status;
    }
    if (phase->cut >= problem->round->num_cuts) {
        yoke_json_enter(reader, "cut");
        return yoke_json_fail(reader, "expected the number of a cut, from 0 to %lld, found %lld", (long long)problem->round->num_cuts - 1,
                              (long long)phase->cut);
    }
    if (weights == NULL) return YOKE_OK;
    yoke_json_enter(reader, "weight_sum");
    status = read_weights(reader, weights, problem->round->cut_units[phase->cut], phase);
    if (status == YOKE_OK) yoke_json_leave(reader, outer);
    return status;
}

static yoke_status read_cuts(yoke_json_reader *reader, const json_t *value, yoke_round *round)
{
    int64_t *units = NULL;
    const size_t count = json_array_size(value);
    if (count == 0) return yoke_json_expected(reader, "an array of the cuts' units", value);
    if (count > YOKE_PLAN_MAX_CUTS) return yoke_json_fail(reader, "expected at most %d cuts, found %zu", YOKE_PLAN_MAX_CUTS, count);
    yoke_status status = yoke_allocate(reader->context, (int64_t)count, sizeof *units, &units);
    if (status != YOKE_OK) return status;
    round->cut_units = units;
    round->num_cuts = (int64_t)count;
    for (size_t c = 0; c < count; c++) {
        double number;
        const size_t outer = yoke_json_enter_item(reader, (int64_t)c);
        status = yoke_json_read_number(reader, json_array_get(value, c), 0, max_units, &number);
        if (status != YOKE_OK) return status;
        units[c] = (int64_t)number;
        if ((double)units[c] != number) return yoke_json_expected(reader, "a whole number", json_array_get(value, c));
        yoke_json_leave(reader, outer);
    }
    return YOKE_OK;
}

static yoke_status read_phases(yoke_json_reader *reader, const json_t *value, const yoke_plan_problem *problem, yoke_round *round)
{
    yoke_phase *phases = NULL;
    const size_t count = json_array_size(value);
    if (count == 0) return yoke_json_expected(reader, "an array of phases {...}", value);
    if (count > YOKE_PLAN_MAX_PHASES) return yoke_json_fail(reader, "expected at most %d phases, found %zu", YOKE_PLAN_MAX_PHASES, count);
    yoke_status status = yoke_allocate(reader->context, (int64_t)count, sizeof *phases, &phases);
    if (status != YOKE_OK) return status;
    round->phases = phases;
    round->num_phases = (int64_t)count;
    for (size_t p = 0; p < count && status == YOKE_OK; p++) {
        const size_t outer = yoke_json_enter_item(reader, (int64_t)p);
        status = read_phase(reader, json_array_get(value, p), problem, &phases[p]);
        if (status == YOKE_OK) yoke_json_leave(reader, outer);
    }
    return status;
}

/* ---------------------------------------------------------------------------------------- the times of a phase at a level */

static yoke_status read_points(yoke_json_reader *reader, const json_t *value, void *member)
{
    yoke_plan_time *time = member;
    return problem_read_points(reader, value, &time->points, &time->num_points);
}

/* Reads the time of a phase; null: there is no kernel. */
static yoke_status read_time(yoke_json_reader *reader, const json_t *value, yoke_plan_time *time)
{
    static const yoke_json_key keys[] = {
        {"seconds_per_unit", YOKE_JSON_NUMBER, offsetof(yoke_plan_time, seconds_per_unit), .least = 1e-30, .most = 1e9},
        {"points", YOKE_JSON_OTHER, 0, .read = read_points},
        {"start_seconds", YOKE_JSON_NUMBER, offsetof(yoke_plan_time, start_seconds), .least = 0, .most = 1e9},
        {"dynamic_power_w", YOKE_JSON_NUMBER, offsetof(yoke_plan_time, dynamic_power_w), .least = 0, .most = 1e9, .nullable = 1},
        {"time_uncertainty", YOKE_JSON_NUMBER, offsetof(yoke_plan_time, time_uncertainty), .least = 0, .most = PROBLEM_MAX_UNCERTAINTY},
        {"power_uncertainty", YOKE_JSON_NUMBER, offsetof(yoke_plan_time, power_uncertainty), .least = 0, .most = PROBLEM_MAX_UNCERTAINTY},
        {"alone_factor", YOKE_JSON_NUMBER, offsetof(yoke_plan_time, alone_factor), .least = PROBLEM_MIN_ALONE, .most = 1},
    };
    time->dynamic_power_w = NAN;
    time->absent = json_is_null(value);
    if (time->absent) return YOKE_OK;
    yoke_status status = yoke_json_read_object(reader, keys, COUNT_OF(keys), value, time);
    if (status != YOKE_OK) return status;
    const int constant = json_object_get(value, "seconds_per_unit") != NULL;
    if (constant != (time->num_points > 0)) return YOKE_OK;
    yoke_json_enter(reader, constant ? "points" : "seconds_per_unit");
    return constant ? yoke_json_fail(reader, "expected either \"seconds_per_unit\" or \"points\", found both")
                    : yoke_json_fail(reader, "this key is missing; expected \"seconds_per_unit\" or \"points\"");
}

static yoke_status read_times(yoke_json_reader *reader, const json_t *value, int64_t count, yoke_plan_level *level)
{
    yoke_plan_time *times = NULL;
    static const char *const others[] = {"seconds_per_unit", "points",           "start_seconds",
                                         "dynamic_power_w",  "time_uncertainty", "alone_factor"};
    for (int k = 0; k < COUNT_OF(others); k++)
        if (json_object_get(value, others[k]) != NULL) {
            yoke_json_enter(reader, others[k]);
            return yoke_json_fail(reader, "expected this key in each of the \"phases\", as the file has a round");
        }
    value = json_object_get(value, "phases");
    yoke_json_enter(reader, "phases");
    if (value == NULL) return yoke_json_fail(reader, "this key is missing; expected an object for each phase of the round");
    if (!json_is_array(value) || json_array_size(value) != (size_t)count)
        return yoke_json_fail(reader, "expected an array of %lld objects, one for each phase of the round (null: no kernel)",
                              (long long)count);
    yoke_status status = yoke_allocate(reader->context, count, sizeof *times, &times);
    if (status != YOKE_OK) return status;
    level->phases = times;
    for (int64_t p = 0; p < count && status == YOKE_OK; p++) {
        const size_t outer = yoke_json_enter_item(reader, p);
        status = read_time(reader, json_array_get(value, (size_t)p), &times[p]);
        if (status == YOKE_OK) yoke_json_leave(reader, outer);
    }
    return status;
}

/* With a round each level must have phases; without one, none may. */
static yoke_status read_levels(yoke_json_reader *reader, const json_t *document, const yoke_plan_problem *problem)
{
    const json_t *devices = json_object_get(document, "devices");
    const size_t outer = strlen(reader->pointer);
    for (int64_t i = 0; i < problem->num_devices; i++) {
        const json_t *levels = json_object_get(json_array_get(devices, (size_t)i), "levels");
        yoke_json_enter(reader, "devices");
        yoke_json_enter_item(reader, i);
        yoke_json_enter(reader, levels != NULL ? "levels" : "laws");
        if (levels == NULL && problem->round != NULL)
            return yoke_json_fail(reader, "expected \"levels\" with \"phases\", as the file has a round");
        for (int64_t k = 0; levels != NULL && k < problem->devices[i].num_levels; k++) {
            const json_t *value = json_array_get(levels, (size_t)k);
            const size_t all = yoke_json_enter_item(reader, k);
            if (problem->round == NULL && json_object_get(value, "phases") != NULL) {
                yoke_json_enter(reader, "phases");
                return yoke_json_fail(reader, "expected no phases, as the file has no round");
            }
            if (problem->round != NULL) {
                yoke_status status =
                    read_times(reader, value, problem->round->num_phases, (yoke_plan_level *)(uintptr_t)&problem->devices[i].levels[k]);
                if (status != YOKE_OK) return status;
            }
            yoke_json_leave(reader, all);
        }
        yoke_json_leave(reader, outer);
    }
    return YOKE_OK;
}

yoke_status problem_read_round(yoke_json_reader *reader, const json_t *document, yoke_plan_problem *problem)
{
    static const yoke_json_key keys[] = {
        {"cuts", YOKE_JSON_OTHER, 0, .required = 1, .read = problem_read_later},
        {"phases", YOKE_JSON_OTHER, 0, .required = 1, .read = problem_read_later},
        {"copy_bytes_per_unit", YOKE_JSON_NUMBER, offsetof(yoke_round, copy_bytes_per_unit), .least = 0, .most = 1e15},
        {"memory_bytes_per_unit", YOKE_JSON_NUMBER, offsetof(yoke_round, memory_bytes_per_unit), .least = 0, .most = 1e15},
    };
    const json_t *value = json_object_get(document, "round");
    yoke_round *round = NULL;
    if (value == NULL) return read_levels(reader, document, problem);
    for (int k = 0; k < 2; k++)
        if (json_object_get(document, k ? "repetitions" : "units") != NULL) {
            yoke_json_enter(reader, k ? "repetitions" : "units");
            return yoke_json_fail(reader, "expected no such key beside \"round\", whose cuts have units and whose phases have calls");
        }
    yoke_status status = yoke_allocate(reader->context, 1, sizeof *round, &round);
    if (status != YOKE_OK) return status;
    problem->round = round;
    const size_t outer = yoke_json_enter(reader, "round");
    status = yoke_json_read_object(reader, keys, COUNT_OF(keys), value, round);
    if (status != YOKE_OK) return status;
    const size_t inner = yoke_json_enter(reader, "cuts");
    status = read_cuts(reader, json_object_get(value, "cuts"), round);
    if (status != YOKE_OK) return status;
    yoke_json_leave(reader, inner);
    yoke_json_enter(reader, "phases");
    status = read_phases(reader, json_object_get(value, "phases"), problem, round);
    if (status != YOKE_OK) return status;
    yoke_json_leave(reader, outer);
    problem->units = round->cut_units[0];
    return read_levels(reader, document, problem);
}

void problem_release_round(yoke_context *context, yoke_plan_problem *problem)
{
    const yoke_round *round = problem->round;
    if (round == NULL) return;
    for (int64_t i = 0; problem->devices != NULL && i < problem->num_devices; i++)
        for (int64_t k = 0; problem->devices[i].levels != NULL && k < problem->devices[i].num_levels; k++) {
            const yoke_plan_time *times = problem->devices[i].levels[k].phases;
            for (int64_t p = 0; times != NULL && p < round->num_phases; p++) yoke_release(context, (void *)(uintptr_t)times[p].points);
            yoke_release(context, (void *)(uintptr_t)times);
        }
    for (int64_t p = 0; round->phases != NULL && p < round->num_phases; p++) {
        yoke_release(context, (void *)(uintptr_t)round->phases[p].work);
        yoke_release(context, (void *)(uintptr_t)round->phases[p].weight_sum);
    }
    yoke_release(context, (void *)(uintptr_t)round->phases);
    yoke_release(context, (void *)(uintptr_t)round->cut_units);
    yoke_release(context, (void *)(uintptr_t)round);
}

/* ------------------------------------------------------------------------------------------------------- writing */

static json_t *phase_object(const yoke_plan_problem *problem, const yoke_phase *phase)
{
    json_t *object = json_object();
    if (phase->work != NULL) yoke_json_set(&object, "work", json_string(phase->work));
    yoke_json_set(&object, "calls", yoke_json_number(phase->calls));
    if (phase->cut < 0)
        yoke_json_set(&object, "device", json_string(problem->devices[phase->device].name));
    else
        yoke_json_set(&object, "cut", json_integer((json_int_t)phase->cut));
    yoke_json_set(&object, "units", json_integer((json_int_t)phase->units));
    if (phase->cut >= 0 && phase->weight_sum != NULL) {
        json_t *sums = json_array();
        for (int64_t k = 0; k <= problem->round->cut_units[phase->cut]; k++)
            sums = yoke_json_append(sums, yoke_json_number(phase->weight_sum[k]));
        yoke_json_set(&object, "weight_sum", sums);
    }
    yoke_json_set(&object, "barrier", json_boolean(phase->barrier));
    if (phase->call_seconds > 0) yoke_json_set(&object, "call_seconds", yoke_json_number(phase->call_seconds));
    return object;
}

json_t *problem_round_object(const yoke_plan_problem *problem)
{
    const yoke_round *round = problem->round;
    json_t *object = json_object(), *cuts = json_array(), *phases = json_array();
    for (int64_t c = 0; c < round->num_cuts; c++) cuts = yoke_json_append(cuts, json_integer((json_int_t)round->cut_units[c]));
    for (int64_t p = 0; p < round->num_phases; p++) phases = yoke_json_append(phases, phase_object(problem, &round->phases[p]));
    yoke_json_set(&object, "cuts", cuts);
    yoke_json_set(&object, "phases", phases);
    if (round->copy_bytes_per_unit > 0) yoke_json_set(&object, "copy_bytes_per_unit", yoke_json_number(round->copy_bytes_per_unit));
    if (round->memory_bytes_per_unit > 0) yoke_json_set(&object, "memory_bytes_per_unit", yoke_json_number(round->memory_bytes_per_unit));
    return object;
}

static json_t *time_object(const yoke_plan_time *time)
{
    json_t *object = json_object(), *points = json_array();
    for (int64_t k = 0; k < time->num_points; k++)
        points = yoke_json_append(points, json_pack("[f, f]", time->points[2 * k], time->points[2 * k + 1]));
    if (time->num_points > 0)
        yoke_json_set(&object, "points", points);
    else {
        json_decref(points);
        yoke_json_set(&object, "seconds_per_unit", yoke_json_number(time->seconds_per_unit));
    }
    yoke_json_set(&object, "start_seconds", yoke_json_number(time->start_seconds));
    yoke_json_set(&object, "dynamic_power_w", yoke_json_number(time->dynamic_power_w));
    if (time->time_uncertainty > 0)
        yoke_json_set(&object, "time_uncertainty", yoke_json_number(fmin(time->time_uncertainty, PROBLEM_MAX_UNCERTAINTY)));
    if (time->power_uncertainty > 0)
        yoke_json_set(&object, "power_uncertainty", yoke_json_number(fmin(time->power_uncertainty, PROBLEM_MAX_UNCERTAINTY)));
    if (time->alone_factor > 0) yoke_json_set(&object, "alone_factor", yoke_json_number(fmax(time->alone_factor, PROBLEM_MIN_ALONE)));
    return object;
}

json_t *problem_phases_array(const yoke_plan_problem *problem, const yoke_plan_level *level)
{
    json_t *array = json_array();
    for (int64_t p = 0; p < problem->round->num_phases; p++)
        array = yoke_json_append(array, level->phases[p].absent ? json_null() : time_object(&level->phases[p]));
    return array;
}
