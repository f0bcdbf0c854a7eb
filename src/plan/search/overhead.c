/*
 * overhead.c - host overheads that depend on the levels of the hosts (PEACH: P_OH falls with f_C).
 *
 * The overhead of a choice is the largest among the levels of its hosts.  For each possible value there is one search, restricted to levels
 * whose overhead is at most this value, with the value as a constant overhead.  The cost in such a search is exact for choices with exactly
 * this overhead, and not below the cost of the others.  So the least result of all searches is the minimum over all choices, and the least
 * of their bounds is a bound.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/search/search.h"

static int descending(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a < b) - (a > b);
}

/*
 * The overheads that a choice may have, in descending order.  Each host is at one of its levels, which excludes some small values.  Returns
 * their number.
 */
static int64_t possible(const plan_work *work, double *overheads)
{
    int64_t count = 0, kept = 0;
    double least = 0;
    for (int i = 0; i < work->num_devices; i++) {
        const plan_device *device = &work->devices[i];
        double lowest = INFINITY;
        for (int k = 0; k < device->num_levels && device->host; k++) {
            overheads[count++] = device->levels[k].overhead_w;
            lowest = fmin(lowest, device->levels[k].overhead_w);
        }
        if (device->host) least = fmax(least, lowest);
    }
    qsort(overheads, (size_t)count, sizeof *overheads, descending);
    for (int64_t k = 0; k < count && overheads[k] >= least; k++)
        if (kept == 0 || overheads[k] < overheads[kept - 1]) overheads[kept++] = overheads[k];
    return kept;
}

/* The work restricted to those levels of hosts with at most this overhead, which becomes the overhead of all choices. */
static void restrict_to(const plan_work *work, double overhead_w, int64_t searches, plan_level *levels, plan_work *part)
{
    *part = *work;
    part->overheads = 0;
    part->host_overhead_w = work->host_overhead_w + overhead_w;
    part->options.max_nodes = work->options.max_nodes / searches + 1;
    part->levels = levels;
    for (int i = 0; i < work->num_devices; i++) {
        const plan_device *from = &work->devices[i];
        plan_device *to = &part->devices[i];
        to->levels = levels;
        to->num_levels = 0;
        for (int k = 0; k < from->num_levels; k++) {
            if (from->levels[k].overhead_w > overhead_w) continue;
            to->levels[to->num_levels] = from->levels[k];
            to->levels[to->num_levels++].overhead_w = 0;
        }
        levels += to->num_levels;
        plan_park(to);
    }
}

/* Combined results of the searches so far. */
typedef struct findings {
    double bound; /* no choice has a smaller objective; NaN: not known */
    int open;     /* nonzero: one search ended before it was known whether there is a choice */
    int rank;     /* rank of the binding limit */
    const char *binding;
    double nearest;
} findings;

/*
 * The binding limit is that of the search with most levels.  An exception is a power cap that can be kept with fewer levels, and so less
 * overhead.
 */
static int rank_of(const search_best *found)
{
    if (strcmp(found->result.binding, "deadline") == 0) return 2;
    return strcmp(found->result.binding, "power-cap") == 0 && found->late ? 1 : 3;
}

static void add_findings(const search_best *found, findings *all)
{
    const plan_result *result = &found->result;
    if (result->feasible) {
        const double bound = found->value * (1 - result->gap);
        all->bound = isnan(bound) || isnan(all->bound) ? (double)NAN : fmin(all->bound, bound);
        return;
    }
    all->open |= found->open;
    if (found->open) all->bound = NAN;
    if (rank_of(found) < all->rank) return;
    all->nearest = rank_of(found) > all->rank ? result->nearest : fmin(all->nearest, result->nearest);
    all->binding = result->binding;
    all->rank = rank_of(found);
}

/* Keeps the better of two choices; the new one is evaluated with its own overhead. */
static void take_better(const plan_work *work, const plan_request *request, const search_best *found, search_best *best)
{
    const int64_t nodes = best->result.nodes + found->result.nodes;
    search_best own = *found;
    if (own.result.feasible) {
        own.result.cost = plan_cost_of(work, own.result.units, own.result.levels);
        own.value = plan_objective_value(request->objective, &own.result.cost);
    }
    if (plan_better(work, request->objective, &own.result, &best->result)) *best = own;
    best->result.nodes = nodes;
}

static void conclude(const findings *all, search_best *best)
{
    plan_result *result = &best->result;
    best->open = all->open;
    if (!result->feasible) {
        result->binding = all->open ? "" : all->binding;
        result->nearest = all->open ? (double)NAN : all->nearest;
        return;
    }
    const double gap = best->value > 0 ? fmax(0, 1 - all->bound / best->value) : 0;
    result->optimal = gap <= 2 * PLAN_ROUNDING;
    result->gap = isnan(all->bound) ? (double)NAN : result->optimal ? 0 : gap;
    if (isnan(all->bound)) result->optimal = 0;
}

yoke_status search_overheads(plan_work *work, const plan_request *request, search_best *best)
{
    plan_work *part = NULL;
    plan_level *levels = NULL;
    double *overheads = NULL;
    int64_t count = 0;
    for (int i = 0; i < work->num_devices; i++) count += work->devices[i].num_levels;
    yoke_status status = yoke_allocate(work->context, 1, sizeof *part, &part);
    if (status == YOKE_OK) status = yoke_allocate(work->context, count, sizeof *levels, &levels);
    if (status == YOKE_OK) status = yoke_allocate(work->context, count, sizeof *overheads, &overheads);
    if (status == YOKE_OK) count = possible(work, overheads);
    /* The time is least with all levels.  Where powers are not known, the cost of the overhead does not matter. */
    const int64_t searches = work->powers_known ? count : 1;
    findings all = {.bound = INFINITY, .binding = "", .nearest = NAN};
    const search_best none = *best;
    for (int64_t k = 0; k < searches && status == YOKE_OK; k++) {
        restrict_to(work, overheads[k], searches, levels, part);
        search_best found = none;
        status = search_request(part, request, &found);
        work->nodes = part->nodes;
        work->stopped = part->stopped;
        add_findings(&found, &all);
        take_better(work, request, &found, best);
    }
    if (status == YOKE_OK) conclude(&all, best);
    yoke_release(work->context, overheads);
    yoke_release(work->context, levels);
    yoke_release(work->context, part);
    return status;
}
