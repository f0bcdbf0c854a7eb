/*
 * devices.c - runs whose near field is shared among devices.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "solve/parts.h"

static yoke_status open_run(fmm_solver *s)
{
    const fmm_solver_options *o = &s->options;
    const yoke_run_options options = {.devices = s->with_cores ? s->with_cores : o->devices,
                                      .objective = o->objective,
                                      .store = o->store,
                                      .declared = o->declared,
                                      .share = s->share,
                                      .powers = o->num_powers ? o->powers : NULL,
                                      .num_powers = o->num_powers,
                                      .measure_first = 1,
                                      .no_meters = o->objective == YOKE_OBJECTIVE_TIME};
    return fmm_shared_open(s->context, &options, &s->run);
}

/* *has_host: one of the devices can compute the far field.  *simulated: all devices are simulated. */
static yoke_status find_host(const fmm_solver *s, bool *has_host, bool *simulated)
{
    const yoke_run_device *devices;
    int64_t count = 0;
    yoke_status status = yoke_run_devices(s->run, &devices, &count);
    if (status) return status;
    *has_host = false;
    *simulated = true;
    for (int64_t i = 0; i < count; i++) {
        *has_host = *has_host || !devices[i].accelerator;
        *simulated = *simulated && !strcmp(devices[i].info->kind, "sim");
    }
    return YOKE_OK;
}

/* Adds the cores to devices without a host, for the far field alone. */
static yoke_status add_cores(fmm_solver *s)
{
    static const char cores[] = "openmp,";
    static const double all = 1;
    const int64_t bytes = (int64_t)(sizeof cores + strlen(s->options.devices));
    yoke_status status = yoke_allocate(s->context, bytes, 1, &s->with_cores);
    if (status) return status;
    (void)snprintf(s->with_cores, (size_t)bytes, "%s%s", cores, s->options.devices);
    s->share = &all;
    yoke_run_destroy(s->run);
    s->run = NULL;
    return open_run(s);
}

yoke_status fmm_solver_open_devices(fmm_solver *s)
{
    bool has_host, simulated;
    if (s->run) return YOKE_OK;
    yoke_status status = open_run(s);
    if (!status) status = find_host(s, &has_host, &simulated);
    if (!status && has_host) return YOKE_OK;
    if (!status && simulated)
        status = yoke_fail(s->context, YOKE_ERROR_INPUT,
                           "devices %s: none of them is a host, which does the far field; add a simulated one, as in sim:cpu,sim:gpu",
                           s->options.devices);
    else if (!status)
        status = add_cores(s);
    if (!status) return YOKE_OK;
    yoke_run_destroy(s->run); /* the next call shall refuse them too */
    s->run = NULL;
    return status;
}

/* The far field of an order, relative to that for which a tree was planned: it grows like the translations by rotations. */
static double relative_far(const fmm_depth *tree, int order) { return pow((order + 1.0) / (tree->order + 1.0), 3); }

/* The work of a tree as it was planned.  Its far field is adapted to the order. */
static fmm_shared_work work_of(const fmm_depth *tree, int order)
{
    if (!tree || !tree->devices) return (fmm_shared_work){0};
    fmm_shared_work work = tree->work;
    work.far_units *= relative_far(tree, order);
    return work;
}

/* Converts seconds to those of the run's clock, as in predictions: on a simulated machine the tree takes no time. */
static fmm_seconds seconds_of(const fmm_method_seconds *seconds, const fmm_shared_told *told)
{
    fmm_seconds taken = fmm_solver_seconds(seconds);
    if (!told->simulated) return taken;
    taken = (fmm_seconds){.far = isnan(told->far_s) ? 0 : told->far_s, .total = told->measured.time_s};
    taken.near = taken.total - taken.far;
    return taken;
}

yoke_status fmm_solver_run_shared(fmm_solver *s, fmm_method *method, const fmm_depth *tree, int order, const double *charge,
                                  fmm_field *field, fmm_shared_run_seconds *seconds)
{
    fmm_solution *found = &s->solution;
    fmm_shared *shared = NULL;
    const fmm_shared_options options = {.share = s->share, .work = work_of(tree, order), .tries = !s->share};
    yoke_status status = fmm_solver_open_devices(s);
    if (!status) status = fmm_shared_create(method, s->run, &options, &shared);
    if (!status) status = fmm_shared_run(shared, charge, field, &seconds->here);
    if (!status) found->parts = fmm_shared_parts(shared, found->part, FMM_MAX_PARTS);
    if (found->parts > FMM_MAX_PARTS) found->parts = FMM_MAX_PARTS;
    if (!status) fmm_shared_tell(shared, &found->devices);
    if (!status) seconds->as_predicted = seconds_of(&seconds->here, &found->devices);
    fmm_shared_destroy(shared);
    return status;
}

void fmm_solver_predict_order(fmm_solver *s, int order)
{
    fmm_choice *choice = &s->tuned.choice;
    fmm_depth *tree = fmm_choice_tree(choice, fmm_choice_taken(choice));
    const fmm_shared_told *told = &s->solution.devices;
    if (!tree->devices || tree->order == order || isnan(told->predicted.time_s)) return;
    fmm_seconds *predicted = &tree->predicted;
    tree->work = work_of(tree, order);
    predicted->far = fmin(predicted->far * relative_far(tree, order), told->predicted.time_s);
    predicted->total = predicted->tree + told->predicted.time_s;
    predicted->near = told->predicted.time_s - predicted->far;
    tree->predicted_j = told->predicted.energy_j;
    tree->order = order;
    choice->predicted = told->predicted;
    choice->predicted.time_s = predicted->total;
}
