/* Model files (docs/reference/model-file.md): the problem that a plan solves. */
#include "model/problem/file.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/json_document.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof(array)[0]))

/* -------------------------------------------------------------------------------------------------- devices */

static yoke_status read_kind(yoke_json_reader *reader, const json_t *value, void *member)
{
    const char *kind = json_string_value(value);
    if (kind == NULL || (strcmp(kind, "host") != 0 && strcmp(kind, "accelerator") != 0))
        return yoke_json_expected(reader, "\"host\" or \"accelerator\"", value);
    *(int *)member = strcmp(kind, "host") == 0;
    return YOKE_OK;
}

static yoke_status read_name(yoke_json_reader *reader, const json_t *value, void *member)
{
    void *memory = NULL;
    const char *found = NULL;
    yoke_status status = yoke_json_read_text(reader, value, 1, PROBLEM_NAME_BYTES - 1, &found);
    if (status == YOKE_OK) status = yoke_allocate_untouched(reader->context, (int64_t)strlen(found) + 1, 1, &memory);
    if (status == YOKE_OK) *(const char **)member = strcpy(memory, found);
    return status;
}

static yoke_status read_device(yoke_json_reader *reader, const json_t *value, yoke_plan_device *device)
{
    static const yoke_json_key keys[] = {
        {"name", YOKE_JSON_OTHER, offsetof(yoke_plan_device, name), .required = 1, .read = read_name},
        {"kind", YOKE_JSON_OTHER, offsetof(yoke_plan_device, host), .required = 1, .read = read_kind},
        {"removable", YOKE_JSON_FLAG, offsetof(yoke_plan_device, removable), .required = 0},
        {"levels", YOKE_JSON_OTHER, 0, .read = problem_read_levels},
        {"laws", YOKE_JSON_OTHER, 0, .read = problem_read_laws},
        {"copy_seconds", YOKE_JSON_NUMBER, offsetof(yoke_plan_device, copy_seconds), .least = 0, .most = 1e9},
        {"copy_seconds_per_unit", YOKE_JSON_NUMBER, offsetof(yoke_plan_device, copy_seconds_per_unit), .least = 0, .most = 1e9},
        {"copy_joules_per_unit", YOKE_JSON_NUMBER, offsetof(yoke_plan_device, copy_joules_per_unit), .least = 0, .most = 1e9},
        {"max_units", YOKE_JSON_COUNT, offsetof(yoke_plan_device, max_units), .least = 0, .most = 1e18, .nullable = 1},
    };
    device->max_units = INT64_MAX;
    int both = json_object_get(value, "levels") != NULL && json_object_get(value, "laws") != NULL;
    int none = json_is_object(value) && json_object_get(value, "levels") == NULL && json_object_get(value, "laws") == NULL;
    size_t outer = strlen(reader->pointer);
    if (both) yoke_json_enter(reader, "laws");
    if (both) return yoke_json_fail(reader, "expected either \"levels\" or \"laws\", found both");
    yoke_status status = yoke_json_read_object(reader, keys, COUNT_OF(keys), value, device);
    if (status != YOKE_OK || !none) return status;
    yoke_json_leave(reader, outer);
    yoke_json_enter(reader, "levels");
    return yoke_json_fail(reader, "this key is missing; expected \"levels\" or \"laws\"");
}

static yoke_status check_name(yoke_json_reader *reader, const yoke_plan_device *devices, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (strcmp(devices[i].name, devices[count].name) == 0) {
            yoke_json_enter(reader, "name");
            return yoke_json_fail(reader, "expected another name than that of /devices/%lld, found \"%s\" too", (long long)i,
                                  devices[i].name);
        }
    return YOKE_OK;
}

static yoke_status check_overheads(yoke_json_reader *reader, const yoke_plan_device *device)
{
    for (int64_t k = 0; k < device->num_levels && !device->host; k++) {
        if (!(device->levels[k].host_overhead_w > 0)) continue;
        yoke_json_enter(reader, "levels");
        yoke_json_enter_item(reader, k);
        yoke_json_enter(reader, "hosting_power_w");
        return yoke_json_fail(reader, "expected this key at levels of a host only, found it at an accelerator's");
    }
    return YOKE_OK;
}

static yoke_status check_size(yoke_json_reader *reader, const yoke_plan_problem *problem)
{
    int64_t levels = 0, points = 0;
    for (int64_t i = 0; i < problem->num_devices; i++) {
        const yoke_plan_device *device = &problem->devices[i];
        levels += device->num_levels;
        for (int64_t k = 0; k < device->num_levels; k++) points += device->levels[k].num_points;
    }
    if (levels > PROBLEM_ALL_LEVELS)
        return yoke_json_fail(reader, "expected at most %d levels over all devices, found %lld", PROBLEM_ALL_LEVELS, (long long)levels);
    if (points > PROBLEM_ALL_POINTS)
        return yoke_json_fail(reader, "expected at most %d points over all devices, found %lld", PROBLEM_ALL_POINTS, (long long)points);
    return YOKE_OK;
}

static yoke_status read_devices(yoke_json_reader *reader, const json_t *value, void *member)
{
    void *memory = NULL;
    yoke_plan_problem *problem = member;
    size_t count = json_array_size(value);
    if (count == 0) return yoke_json_expected(reader, "an array of devices {...}", value);
    if (count > YOKE_PLAN_MAX_DEVICES)
        return yoke_json_fail(reader, "expected at most %d devices, found %zu", YOKE_PLAN_MAX_DEVICES, count);
    yoke_status status = yoke_allocate(reader->context, (int64_t)count, sizeof(yoke_plan_device), &memory);
    if (status != YOKE_OK) return status;
    yoke_plan_device *devices = memory;
    problem->devices = devices;
    problem->num_devices = (int64_t)count;
    for (int64_t i = 0; status == YOKE_OK && i < problem->num_devices; i++) {
        size_t outer = yoke_json_enter_item(reader, i);
        status = read_device(reader, json_array_get(value, (size_t)i), &devices[i]);
        if (status == YOKE_OK) status = check_name(reader, devices, i);
        if (status == YOKE_OK) status = check_overheads(reader, &devices[i]);
        if (status == YOKE_OK) yoke_json_leave(reader, outer);
    }
    return status == YOKE_OK ? check_size(reader, problem) : status;
}

/* ------------------------------------------------------------------------------------------------- the file */

static yoke_status read_copies(yoke_json_reader *reader, const json_t *value, void *member)
{
    const char *copies = json_string_value(value);
    if (copies == NULL || (strcmp(copies, "overlapped") != 0 && strcmp(copies, "before") != 0))
        return yoke_json_expected(reader, "\"overlapped\" or \"before\"", value);
    *(int *)member = strcmp(copies, "before") == 0;
    return YOKE_OK;
}

/* Remarks for readers: any text is allowed. */
static yoke_status read_remark(yoke_json_reader *reader, const json_t *value, void *member)
{
    (void)member;
    return json_is_string(value) ? YOKE_OK : yoke_json_expected(reader, "a text", value);
}

static yoke_status read_problem(yoke_json_reader *reader, const json_t *document, yoke_plan_problem *problem)
{
    static const yoke_json_key keys[] = {
        {"name", YOKE_JSON_OTHER, 0, .read = read_remark},
        {"description", YOKE_JSON_OTHER, 0, .read = read_remark},
        {"units", YOKE_JSON_COUNT, offsetof(yoke_plan_problem, units), .least = 0, .most = 9007199254740992.0},
        {"repetitions", YOKE_JSON_NUMBER, offsetof(yoke_plan_problem, repetitions), .least = 1e-9, .most = 1e15},
        {"copies", YOKE_JSON_OTHER, offsetof(yoke_plan_problem, copies_before), .read = read_copies},
        {"base_power_w", YOKE_JSON_NUMBER, offsetof(yoke_plan_problem, base_power_w), .least = 0, .most = 1e9, .nullable = 1},
        {"hosting_power_w", YOKE_JSON_NUMBER, offsetof(yoke_plan_problem, host_overhead_w), .least = 0, .most = 1e9, .nullable = 1},
        {"devices", YOKE_JSON_OTHER, 0, .required = 1, .read = read_devices},
        {"round", YOKE_JSON_OTHER, 0, .read = problem_read_later},
    };
    problem->repetitions = 1;
    if (!json_is_object(document)) return yoke_json_expected(reader, "an object {\"units\": ..., \"devices\": [...]}", document);
    const int has_round = json_object_get(document, "round") != NULL;
    yoke_status status = yoke_json_expect_document(reader, YOKE_JSON_MODEL_FILE, document);
    if (status) return status;
    if (!has_round && json_object_get(document, "units") == NULL) {
        yoke_json_enter(reader, "units");
        return yoke_json_fail(reader, "this key is missing");
    }
    status = yoke_json_read_object(reader, keys, COUNT_OF(keys), document, problem);
    return status == YOKE_OK ? problem_read_round(reader, document, problem) : status;
}

static void release_parts(yoke_context *context, void *memory)
{
    yoke_plan_problem *problem = memory;
    problem_release_round(context, problem);
    for (int64_t i = 0; problem->devices != NULL && i < problem->num_devices; i++) {
        const yoke_plan_device *device = &problem->devices[i];
        for (int64_t k = 0; device->levels != NULL && k < device->num_levels; k++)
            yoke_release(context, (void *)(uintptr_t)device->levels[k].points);
        yoke_release(context, (void *)(uintptr_t)device->levels);
        yoke_release(context, (void *)(uintptr_t)device->name);
    }
    yoke_release(context, (void *)(uintptr_t)problem->devices);
}

yoke_status yoke_plan_problem_read(yoke_context *context, const char *path, yoke_plan_problem **problem)
{
    void *memory = NULL;
    json_t *document = NULL;
    if (context == NULL || path == NULL || problem == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_plan_problem_read: %s is NULL",
                         context == NULL ? "context"
                         : path == NULL  ? "path"
                                         : "problem");
    yoke_status status = yoke_json_load(context, path, &document);
    if (status == YOKE_OK) status = yoke_allocate_owner(context, sizeof(yoke_plan_problem), release_parts, &memory);
    if (status == YOKE_OK) {
        yoke_json_reader reader = {.context = context, .file = path};
        status = read_problem(&reader, document, memory);
    }
    json_decref(document);
    if (status == YOKE_OK)
        *problem = memory;
    else
        yoke_release(context, memory);
    return status;
}
