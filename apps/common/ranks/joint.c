#define _XOPEN_SOURCE 700 /* mkdtemp */

#include "common/ranks/joint.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "common/files/file.h"

enum { NAME_BYTES = 96 };

struct app_joint {
    yoke_context *context;
    app_ranks *ranks;
    char directory[PATH_MAX];   /* for temporary files; "": none */
    yoke_plan_problem *problem; /* rank 0: the latest problem and its plan */
    yoke_plan *plan;
    char (*name)[NAME_BYTES]; /* [YOKE_PLAN_MAX_DEVICES] */
    const char **names;
};

yoke_status app_joint_create(yoke_context *context, app_ranks *ranks, app_joint **out)
{
    app_joint *joint = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *joint, &joint);
    if (status) return status;
    joint->context = context;
    joint->ranks = ranks;
    status = yoke_allocate(context, YOKE_PLAN_MAX_DEVICES, sizeof *joint->name, &joint->name);
    if (!status) status = yoke_allocate(context, YOKE_PLAN_MAX_DEVICES, sizeof *joint->names, &joint->names);
    for (int i = 0; i < YOKE_PLAN_MAX_DEVICES && !status; i++) joint->names[i] = joint->name[i];
    if (status)
        app_joint_destroy(joint);
    else
        *out = joint;
    return status;
}

static void forget(app_joint *joint)
{
    yoke_release(joint->context, joint->plan);
    yoke_release(joint->context, joint->problem);
    joint->plan = NULL;
    joint->problem = NULL;
}

void app_joint_destroy(app_joint *joint)
{
    if (!joint) return;
    forget(joint);
    yoke_release(joint->context, joint->name);
    yoke_release(joint->context, joint->names);
    yoke_release(joint->context, joint);
}

/* ------------------------------------------------------------------------------------------------------ files */

static yoke_status make_directory(app_joint *joint)
{
    const char *root = getenv("TMPDIR");
    snprintf(joint->directory, sizeof joint->directory, "%s/yoke-joint-XXXXXX", root && *root ? root : "/tmp");
    if (mkdtemp(joint->directory)) return YOKE_OK;
    joint->directory[0] = '\0';
    return yoke_fail(joint->context, YOKE_ERROR_SYSTEM,
                     "no directory for temporary files can be made in %s (%s): let TMPDIR name one that can be written to",
                     root && *root ? root : "/tmp", strerror(errno));
}

static void path_of(const app_joint *joint, char path[PATH_MAX + 16]) { snprintf(path, PATH_MAX + 16, "%s/model.json", joint->directory); }

static void remove_directory(app_joint *joint)
{
    char path[PATH_MAX + 16];
    if (!joint->directory[0]) return;
    path_of(joint, path);
    (void)remove(path);
    (void)rmdir(joint->directory);
    joint->directory[0] = '\0';
}

/* ------------------------------------------------------------------------------------------ model of one rank */

/* Writes and reads the model of this rank's devices; NULL: something is not known. */
static yoke_status write_own(app_joint *joint, const app_joint_question *q, json_t **own)
{
    const yoke_phase phase = {.work = q->work, .calls = q->calls, .units = q->units, .barrier = 1};
    const yoke_round round = {.num_cuts = 1, .cut_units = &q->units, .num_phases = 1, .phases = &phase, .max_units = q->max_units};
    char path[PATH_MAX + 16];
    path_of(joint, path);
    *own = NULL;
    yoke_status status = yoke_run_write_model(q->run, &round, path);
    if (status == YOKE_ERROR_UNAVAILABLE) return YOKE_OK;
    if (status) return status;
    *own = json_load_file(path, 0, NULL);
    return *own ? YOKE_OK : yoke_fail(joint->context, YOKE_ERROR_SYSTEM, "%s cannot be read again", path);
}

/* Returns the number of the device with this name in the rank's run; -1: none. */
static int number_of(const yoke_run_device *list, int64_t count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (name && !strcmp(list[i].info->name, name)) return i;
    return -1;
}

/* Adds rank and number to the devices for rank 0. */
static yoke_status mark_own(const app_joint *joint, const app_joint_question *q, json_t *own)
{
    const yoke_run_device *list;
    int64_t count;
    size_t at;
    json_t *device, *level;
    yoke_status status = yoke_run_devices(q->run, &list, &count);
    if (status) return status;
    if (!q->counts_base && json_is_number(json_object_get(own, "base_power_w"))) json_object_set_new(own, "base_power_w", json_real(0));
    json_array_foreach (json_object_get(own, "devices"), at, device) {
        size_t k;
        json_object_set_new(device, "number", json_integer(number_of(list, count, json_string_value(json_object_get(device, "name")))));
        json_object_set_new(device, "rank", json_integer(app_ranks_number(joint->ranks)));
        /* alone_factor applies only if no other device works, but the devices of other ranks do. */
        json_array_foreach (json_object_get(device, "levels"), k, level) json_object_del(level, "alone_factor");
    }
    return YOKE_OK;
}

/* Collects the texts of all ranks, each with its terminating zero.  A rank that lacks knowledge has an empty text. */
static yoke_status collect_texts(const app_joint *joint, const app_joint_question *q, char **texts, int64_t *bytes)
{
    json_t *own = NULL;
    char *text = NULL;
    void *all = NULL;
    yoke_status status = write_own((app_joint *)joint, q, &own);
    if (!status && own) status = mark_own(joint, q, own);
    if (!status && own && !(text = json_dumps(own, JSON_COMPACT | JSON_REAL_PRECISION(17))))
        status = yoke_fail(joint->context, YOKE_ERROR_MEMORY, "out of memory for the models of this rank");
    status = app_ranks_agree(joint->ranks, status);
    if (!status) status = app_ranks_collect(joint->ranks, text ? text : "", text ? (int64_t)strlen(text) + 1 : 1, &all, bytes);
    free(text);
    json_decref(own);
    *texts = all;
    return status;
}

/* ---------------------------------------------------------------------------------------------------- together */

static void add_number(json_t *to, const json_t *from, const char *key)
{
    const json_t *a = json_object_get(to, key), *b = json_object_get(from, key);
    json_object_set_new(to, key,
                        json_is_number(a) && json_is_number(b) ? json_real(json_number_value(a) + json_number_value(b)) : json_null());
}

/*
 * Merges the devices of all ranks into one problem, and records in the choice the rank and number of each device.  NULL: something is not
 * known, or there are too many devices.
 */
static json_t *merge(const app_joint *joint, char *texts, int64_t bytes, app_joint_choice *choice)
{
    json_t *whole = NULL;
    choice->count = 0;
    for (char *text = texts; text < texts + bytes; text += strlen(text) + 1) {
        json_t *one = *text ? json_loads(text, 0, NULL) : NULL, *device;
        size_t at;
        if (!one) goto unknown;
        json_array_foreach (json_object_get(one, "devices"), at, device) {
            const int k = choice->count++;
            if (k == YOKE_PLAN_MAX_DEVICES) {
                json_decref(one);
                goto unknown;
            }
            choice->rank[k] = (int)json_integer_value(json_object_get(device, "rank"));
            choice->device[k] = (int)json_integer_value(json_object_get(device, "number"));
            snprintf(joint->name[k], 64, "%d %s", choice->rank[k], json_string_value(json_object_get(device, "name")));
            json_object_set_new(device, "name", json_string(joint->name[k]));
            json_object_del(device, "number");
            json_object_del(device, "rank");
        }
        if (!whole) {
            whole = one;
            continue;
        }
        add_number(whole, one, "base_power_w");
        add_number(whole, one, "hosting_power_w");
        json_array_extend(json_object_get(whole, "devices"), json_object_get(one, "devices"));
        json_decref(one);
    }
    return whole;
unknown:
    choice->count = 0;
    json_decref(whole);
    return NULL;
}

static void print_model(FILE *out, const void *model) { json_dumpf(model, out, JSON_INDENT(1) | JSON_REAL_PRECISION(17)); }

static yoke_status save(const app_joint *joint, const json_t *model, const char *path)
{
    app_file *file = NULL;
    yoke_status status = app_file_create(joint->context, path, &file);
    if (status) return status;
    print_model(app_file_stream(file), model);
    return app_file_commit(file);
}

static void take_plan(app_joint *joint, app_joint_choice *choice)
{
    const yoke_plan_choice *best = &joint->plan->best;
    for (int i = 0; i < choice->count; i++) {
        choice->units[i] = best->units[i];
        choice->frequency_hz[i] = joint->problem->devices[i].levels[best->levels[i]].frequency_hz;
    }
}

/* Plans on rank 0 for all ranks. */
static yoke_status plan_all(app_joint *joint, const app_joint_question *q, const json_t *model, app_joint_choice *choice)
{
    char path[PATH_MAX + 16];
    path_of(joint, path);
    yoke_status status = save(joint, model, path);
    if (!status) status = yoke_plan_problem_read(joint->context, path, &joint->problem);
    if (!status) status = yoke_plan_create(joint->context, joint->problem, &q->options, &joint->plan);
    if (status) return status;
    choice->feasible = joint->plan->feasible;
    choice->nearest = joint->plan->nearest;
    snprintf(choice->binding, sizeof choice->binding, "%s", joint->plan->binding);
    if (!choice->feasible && !strcmp(choice->binding, "deadline")) {
        const yoke_plan_options fast = {.power_cap_w = q->options.power_cap_w};
        yoke_release(joint->context, joint->plan);
        joint->plan = NULL;
        status = yoke_plan_create(joint->context, joint->problem, &fast, &joint->plan);
    }
    choice->known = !status && (joint->plan->feasible || choice->binding[0]);
    if (choice->known && joint->plan->feasible) take_plan(joint, choice);
    return status;
}

yoke_status app_joint_plan(app_joint *joint, const app_joint_question *q, int plan, app_joint_choice *choice)
{
    char *texts = NULL;
    int64_t bytes = 0;
    json_t *model = NULL;
    *choice = (app_joint_choice){.nearest = NAN, .calls = q->calls};
    forget(joint);
    yoke_status status = app_ranks_agree(joint->ranks, make_directory(joint));
    if (!status) status = collect_texts(joint, q, &texts, &bytes);
    if (!status && app_ranks_number(joint->ranks) == 0) {
        model = merge(joint, texts, bytes, choice);
        if (model && q->model) status = save(joint, model, q->model);
        if (!status && model && plan) status = plan_all(joint, q, model, choice);
    }
    status = app_ranks_agree(joint->ranks, status);
    if (!status) app_ranks_broadcast(joint->ranks, choice, sizeof *choice);
    remove_directory(joint);
    json_decref(model);
    yoke_release(joint->context, texts);
    return status;
}

/* ------------------------------------------------------------------------------------------------------ shares */

int app_joint_split(const app_joint_choice *choice, int rank, int64_t all, int num_devices, int64_t *units)
{
    int64_t planned = 0, before = 0;
    for (int i = 0; i < num_devices; i++) units[i] = 0;
    for (int k = 0; k < choice->count; k++) planned += choice->rank[k] == rank ? choice->units[k] : 0;
    if (!planned) return !all;
    for (int k = 0; k < choice->count; k++) {
        if (choice->rank[k] != rank) continue;
        const int64_t end = before + choice->units[k];
        units[choice->device[k]] =
            llround((double)all * ((double)end / (double)planned)) - llround((double)all * ((double)before / (double)planned));
        before = end;
    }
    return 1;
}

yoke_status app_joint_predict(app_joint *joint, const app_joint_choice *choice, const int64_t *has, double *time_s, double *energy_j)
{
    double cost[2] = {NAN, NAN};
    yoke_status status = YOKE_OK;
    if (joint->plan && joint->plan->feasible) {
        int64_t units[YOKE_PLAN_MAX_DEVICES], own[YOKE_PLAN_MAX_DEVICES];
        yoke_plan_problem problem = *joint->problem;
        yoke_plan_choice found = {.time_s = NAN, .energy_j = NAN};
        problem.units = 0;
        for (int k = 0; k < choice->count; k++) {
            (void)app_joint_split(choice, choice->rank[k], has[choice->rank[k]], YOKE_PLAN_MAX_DEVICES, own);
            units[k] = own[choice->device[k]];
            problem.units += units[k];
        }
        status = yoke_plan_evaluate(joint->context, &problem, NULL, units, joint->plan->best.levels, &found);
        cost[0] = found.time_s;
        cost[1] = found.energy_j;
    }
    status = app_ranks_agree(joint->ranks, status);
    app_ranks_broadcast(joint->ranks, cost, sizeof cost);
    *time_s = cost[0];
    *energy_j = cost[1];
    return status;
}

const yoke_plan *app_joint_latest(const app_joint *joint, const char *const **names)
{
    *names = joint->names;
    return joint->plan;
}
