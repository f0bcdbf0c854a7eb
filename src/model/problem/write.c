/* Writes model files.  Every number has all its digits, so that it is the same when it is read. */
#include <math.h>
#include <stdint.h>

#include "base/json.h"
#include "model/problem/file.h"
#include "yoke/yoke.h"

static json_t *points_array(const yoke_plan_level *level)
{
    json_t *array = json_array();
    for (int64_t i = 0; i < level->num_points; i++)
        array = yoke_json_append(array, json_pack("[f, f]", level->points[2 * i], level->points[2 * i + 1]));
    return array;
}

static json_t *level_object(const yoke_plan_problem *problem, const yoke_plan_level *level)
{
    json_t *object = json_object();
    yoke_json_set(&object, "frequency_hz", yoke_json_number(level->frequency_hz));
    if (level->host_overhead_w > 0) yoke_json_set(&object, "hosting_power_w", yoke_json_number(level->host_overhead_w));
    if (problem->round != NULL) {
        yoke_json_set(&object, "idle_power_w", yoke_json_number(level->idle_power_w));
        if (level->power_uncertainty > 0)
            yoke_json_set(&object, "power_uncertainty", yoke_json_number(fmin(level->power_uncertainty, PROBLEM_MAX_UNCERTAINTY)));
        yoke_json_set(&object, "phases", problem_phases_array(problem, level));
        return object;
    }
    if (level->num_points > 0)
        yoke_json_set(&object, "points", points_array(level));
    else
        yoke_json_set(&object, "seconds_per_unit", yoke_json_number(level->seconds_per_unit));
    yoke_json_set(&object, "start_seconds", yoke_json_number(level->start_seconds));
    yoke_json_set(&object, "dynamic_power_w", yoke_json_number(level->dynamic_power_w));
    yoke_json_set(&object, "idle_power_w", yoke_json_number(level->idle_power_w));
    if (level->time_uncertainty > 0)
        yoke_json_set(&object, "time_uncertainty", yoke_json_number(fmin(level->time_uncertainty, PROBLEM_MAX_UNCERTAINTY)));
    if (level->power_uncertainty > 0)
        yoke_json_set(&object, "power_uncertainty", yoke_json_number(fmin(level->power_uncertainty, PROBLEM_MAX_UNCERTAINTY)));
    if (level->alone_factor > 0) yoke_json_set(&object, "alone_factor", yoke_json_number(fmax(level->alone_factor, PROBLEM_MIN_ALONE)));
    return object;
}

static json_t *device_object(const yoke_plan_problem *problem, const yoke_plan_device *device)
{
    json_t *object = json_object(), *levels = json_array();
    for (int64_t i = 0; i < device->num_levels; i++) levels = yoke_json_append(levels, level_object(problem, &device->levels[i]));
    yoke_json_set(&object, "name", json_string(device->name));
    yoke_json_set(&object, "kind", json_string(device->host ? "host" : "accelerator"));
    yoke_json_set(&object, "removable", json_boolean(device->removable));
    yoke_json_set(&object, "levels", levels);
    yoke_json_set(&object, "copy_seconds", yoke_json_number(device->copy_seconds));
    yoke_json_set(&object, "copy_seconds_per_unit", yoke_json_number(device->copy_seconds_per_unit));
    yoke_json_set(&object, "copy_joules_per_unit", yoke_json_number(device->copy_joules_per_unit));
    if (device->max_units < 1000000000000000000) yoke_json_set(&object, "max_units", json_integer((json_int_t)device->max_units));
    return object;
}

static json_t *problem_object(const yoke_plan_problem *problem)
{
    json_t *object = json_object(), *devices = json_array();
    for (int64_t i = 0; i < problem->num_devices; i++) devices = yoke_json_append(devices, device_object(problem, &problem->devices[i]));
    if (problem->round == NULL) {
        yoke_json_set(&object, "units", json_integer((json_int_t)problem->units));
        yoke_json_set(&object, "repetitions", yoke_json_number(problem->repetitions));
    } else
        yoke_json_set(&object, "round", problem_round_object(problem));
    yoke_json_set(&object, "copies", json_string(problem->copies_before ? "before" : "overlapped"));
    yoke_json_set(&object, "base_power_w", yoke_json_number(problem->base_power_w));
    yoke_json_set(&object, "hosting_power_w", yoke_json_number(problem->host_overhead_w));
    yoke_json_set(&object, "devices", devices);
    return object;
}

/*
 * Checks that numbers are not negative.  A plan has 0 for half widths and factors that are not known; NaN would be omitted from the file,
 * and would be read as exact.
 */
static yoke_status check_numbers(yoke_context *context, const yoke_plan_device *device, int64_t level, const double numbers[3])
{
    static const char *const names[] = {"time_uncertainty", "power_uncertainty", "alone_factor"};
    for (int k = 0; k < 3; k++)
        if (!(numbers[k] >= 0))
            return yoke_fail(
                context, YOKE_ERROR_ARGUMENT,
                "yoke_plan_problem_write: device %s, level %lld: %s is %g; it must not be negative, and 0 where it is not known",
                device->name != NULL ? device->name : "without a name", (long long)level, names[k], numbers[k]);
    return YOKE_OK;
}

static yoke_status check_level(yoke_context *context, const yoke_plan_problem *problem, const yoke_plan_device *device, int64_t k)
{
    const yoke_plan_level *level = &device->levels[k];
    const int64_t phases = problem->round != NULL ? problem->round->num_phases : 0;
    const double own[] = {phases > 0 ? 0 : level->time_uncertainty, level->power_uncertainty, phases > 0 ? 0 : level->alone_factor};
    yoke_status status = check_numbers(context, device, k, own);
    for (int64_t p = 0; p < phases && status == YOKE_OK; p++) {
        const yoke_plan_time *time = &level->phases[p];
        const double numbers[] = {time->time_uncertainty, time->power_uncertainty, time->alone_factor};
        if (!time->absent) status = check_numbers(context, device, k, numbers);
    }
    return status;
}

yoke_status yoke_plan_problem_write(yoke_context *context, const char *path, const yoke_plan_problem *problem)
{
    if (context == NULL || path == NULL || problem == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_plan_problem_write: %s is NULL",
                         context == NULL ? "context"
                         : path == NULL  ? "path"
                                         : "problem");
    if (problem->round == NULL && problem->units > INT64_C(9007199254740992))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_plan_problem_write: %lld units; a file has 2^53 at most",
                         (long long)problem->units);
    for (int64_t i = 0; i < problem->num_devices; i++)
        for (int64_t k = 0; k < problem->devices[i].num_levels; k++) {
            yoke_status status = check_level(context, problem, &problem->devices[i], k);
            if (status != YOKE_OK) return status;
        }
    return yoke_json_save(context, problem_object(problem), path);
}
