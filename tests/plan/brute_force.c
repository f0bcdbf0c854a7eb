#include "brute_force.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Speed of a functional performance model: linear between points, constant before the first and behind the last. */
static double speed_at(const yoke_plan_level *level, double units)
{
    const double(*point)[2] = (const double(*)[2])level->points;
    int64_t last = level->num_points - 1;
    if (units <= point[0][0]) return point[0][0] / point[0][1];
    if (units >= point[last][0]) return point[last][0] / point[last][1];
    int64_t k = 0;
    while (units > point[k + 1][0]) k++;
    double before = point[k][0] / point[k][1], after = point[k + 1][0] / point[k + 1][1];
    return before + (after - before) * (units - point[k][0]) / (point[k + 1][0] - point[k][0]);
}

double brute_seconds(const yoke_plan_level *level, int64_t units)
{
    double x = (double)units;
    if (units == 0) return 0;
    if (level->num_points == 0) return level->seconds_per_unit * x;
    /* Between points x / (a + b x) rises or falls all the way: the maximum so far is at a point, or here. */
    double seconds = x / speed_at(level, x);
    for (int64_t k = 0; k < level->num_points; k++)
        if (level->points[2 * k] <= x) seconds = fmax(seconds, level->points[2 * k + 1]);
    return seconds;
}

int64_t brute_parked(const yoke_plan_device *device)
{
    int64_t best = 0;
    for (int64_t l = 1; l < device->num_levels; l++)
        if (device->levels[l].idle_power_w < device->levels[best].idle_power_w) best = l;
    return best;
}

int brute_parks_anywhere(const yoke_plan_problem *problem, const yoke_plan_device *device)
{
    for (int64_t i = 0; device->host && i < problem->num_devices; i++)
        for (int64_t l = 0; l < problem->devices[i].num_levels; l++)
            if (problem->devices[i].levels[l].host_overhead_w > 0) return 1;
    return 0;
}

/* c_i */
static double copy_seconds(const yoke_plan_device *device, int64_t units)
{
    return units == 0 ? 0 : device->copy_seconds + device->copy_seconds_per_unit * (double)units;
}

/* w_i */
static double work_seconds(const yoke_plan_problem *problem, int64_t i, int64_t level, int64_t units)
{
    const yoke_plan_level *at = &problem->devices[i].levels[level];
    return units == 0 ? 0 : problem->repetitions * (at->start_seconds + brute_seconds(at, units));
}

/* Of seconds beside others, where no other device has units. */
static double alone_part(const yoke_plan_problem *problem, const int64_t *units, const int64_t *levels)
{
    int64_t used = 0, device = 0;
    for (int64_t i = 0; i < problem->num_devices; i++) {
        used += units[i] > 0;
        if (units[i] > 0) device = i;
    }
    double factor = problem->devices[device].levels[levels[device]].alone_factor;
    return used == 1 && factor > 0 ? factor : 1;
}

/* T, E and peak power, from c and w, of which w is that beside others. */
static brute_cost cost_of(const yoke_plan_problem *problem, const int64_t *units, const int64_t *levels, const double *copy,
                          const double *beside)
{
    double work[YOKE_PLAN_MAX_DEVICES], part = alone_part(problem, units, levels);
    for (int64_t i = 0; i < problem->num_devices; i++) work[i] = part * beside[i];
    double longest_copy = 0, longest_work = 0, longest = 0, accelerators = 0, hosts = 0;
    bool accelerated = false;
    brute_cost cost = {0};
    for (int64_t i = 0; i < problem->num_devices; i++) {
        longest_copy = fmax(longest_copy, copy[i]);
        longest_work = fmax(longest_work, work[i]);
        longest = fmax(longest, copy[i] + work[i]);
        if (problem->devices[i].host) {
            hosts = fmax(hosts, work[i]);
        } else {
            accelerators = fmax(accelerators, work[i]);
            accelerated = accelerated || units[i] > 0;
        }
        cost.used += units[i] > 0;
    }
    double time = problem->copies_before ? longest_copy + longest_work : longest;
    double energy = problem->base_power_w * time, peak = problem->base_power_w, overhead_w = 0;
    for (int64_t i = 0; i < problem->num_devices; i++) {
        const yoke_plan_device *device = &problem->devices[i];
        overhead_w = fmax(overhead_w, device->levels[levels[i]].host_overhead_w);
        if (units[i] == 0) {
            if (device->removable) continue;
            double idle = device->levels[brute_parks_anywhere(problem, device) ? levels[i] : brute_parked(device)].idle_power_w;
            energy += idle * time;
            peak += idle;
        } else {
            const yoke_plan_level *level = &device->levels[levels[i]];
            energy += level->idle_power_w * time + level->dynamic_power_w * work[i] + device->copy_joules_per_unit * (double)units[i];
            peak += level->idle_power_w + level->dynamic_power_w;
        }
    }
    cost.time_s = time;
    overhead_w += problem->host_overhead_w;
    cost.energy_j = energy + overhead_w * fmax(0, accelerators - hosts);
    cost.peak_power_w = accelerated ? peak + overhead_w : peak;
    return cost;
}

brute_cost brute_evaluate(const yoke_plan_problem *problem, const int64_t *units, const int64_t *levels)
{
    double copy[YOKE_PLAN_MAX_DEVICES], work[YOKE_PLAN_MAX_DEVICES];
    for (int64_t i = 0; i < problem->num_devices; i++) {
        copy[i] = copy_seconds(&problem->devices[i], units[i]);
        work[i] = work_seconds(problem, i, levels[i], units[i]);
    }
    return cost_of(problem, units, levels, copy, work);
}

double brute_value(yoke_objective objective, const brute_cost *cost)
{
    switch (objective) {
    case YOKE_OBJECTIVE_TIME:
        return cost->time_s;
    case YOKE_OBJECTIVE_ENERGY:
        return cost->energy_j;
    case YOKE_OBJECTIVE_EDP:
        return cost->energy_j * cost->time_s;
    case YOKE_OBJECTIVE_ED2P:
        return cost->energy_j * cost->time_s * cost->time_s;
    }
    return NAN;
}

/* ----------------------------------------------------------------------------------------------------- all choices */

typedef struct walk {
    const yoke_plan_problem *problem;
    brute_list *list;
    int64_t room;
    double *work; /* [device][level][units] */
    int64_t units[BRUTE_MAX_DEVICES], levels[BRUTE_MAX_DEVICES];
    double copy_now[BRUTE_MAX_DEVICES], work_now[BRUTE_MAX_DEVICES];
    bool failed;
} walk;

static void keep(walk *w)
{
    brute_list *list = w->list;
    if (list->count == w->room) {
        w->room = 2 * w->room + 1024;
        brute_cost *more = realloc(list->costs, (size_t)w->room * sizeof *more);
        w->failed = w->failed || more == NULL;
        if (more == NULL) return;
        list->costs = more;
    }
    list->costs[list->count++] = cost_of(w->problem, w->units, w->levels, w->copy_now, w->work_now);
}

/* Device i gets 0, 1, ... all that is left, at each of its levels; then the next device. */
static void walk_device(walk *w, int64_t i, int64_t left)
{
    const yoke_plan_problem *problem = w->problem;
    const yoke_plan_device *device = &problem->devices[i];
    bool last = i == problem->num_devices - 1, anywhere = brute_parks_anywhere(problem, device);
    for (int64_t d = last ? left : 0; d <= left && d <= device->max_units && !w->failed; d++)
        for (int64_t l = 0; l < (d == 0 && !anywhere ? 1 : device->num_levels); l++) {
            w->units[i] = d;
            w->levels[i] = l;
            w->copy_now[i] = copy_seconds(device, d);
            w->work_now[i] = w->work[(i * BRUTE_MAX_LEVELS + l) * (problem->units + 1) + d];
            if (last)
                keep(w);
            else
                walk_device(w, i + 1, left - d);
        }
}

double brute_count(const yoke_plan_problem *problem)
{
    /* ways[m]: choices of the devices so far that have m units in all */
    double ways[2048] = {1}, total[2048];
    if (problem->units >= 2048) return 1e300;
    for (int64_t i = 0; i < problem->num_devices; i++) {
        for (int64_t m = 0; m <= problem->units; m++) {
            total[m] = brute_parks_anywhere(problem, &problem->devices[i]) ? (double)problem->devices[i].num_levels * ways[m] : ways[m];
            for (int64_t d = 1; d <= m; d++) total[m] += (double)problem->devices[i].num_levels * ways[m - d];
        }
        memcpy(ways, total, (size_t)(problem->units + 1) * sizeof *ways);
    }
    return fmin(ways[problem->units], 1e300);
}

bool brute_force(const yoke_plan_problem *problem, brute_list *list)
{
    walk w = {.problem = problem, .list = list};
    *list = (brute_list){0};
    w.work = malloc((size_t)(problem->num_devices * BRUTE_MAX_LEVELS * (problem->units + 1)) * sizeof *w.work);
    if (w.work == NULL) return false;
    for (int64_t i = 0; i < problem->num_devices; i++)
        for (int64_t l = 0; l < problem->devices[i].num_levels; l++)
            for (int64_t d = 0; d <= problem->units; d++)
                w.work[(i * BRUTE_MAX_LEVELS + l) * (problem->units + 1) + d] = work_seconds(problem, i, l, d);
    walk_device(&w, 0, problem->units);
    free(w.work);
    return !w.failed;
}

void brute_free(brute_list *list)
{
    free(list->costs);
    *list = (brute_list){0};
}

const brute_cost *brute_best(const brute_list *list, yoke_objective objective, brute_limits limits)
{
    const brute_cost *best = NULL;
    for (int64_t k = 0; k < list->count; k++) {
        const brute_cost *cost = &list->costs[k];
        if (cost->time_s > limits.time_s || cost->peak_power_w > limits.power_w) continue;
        if (best == NULL || brute_value(objective, cost) < brute_value(objective, best)) best = cost;
    }
    return best;
}

double brute_least_power(const brute_list *list, double most_seconds)
{
    double least = INFINITY;
    for (int64_t k = 0; k < list->count; k++)
        if (list->costs[k].time_s <= most_seconds) least = fmin(least, list->costs[k].peak_power_w);
    return least;
}

static int by_time(const void *left, const void *right)
{
    const brute_cost *a = left, *b = right;
    if (a->time_s != b->time_s) return a->time_s < b->time_s ? -1 : 1;
    return (a->energy_j > b->energy_j) - (a->energy_j < b->energy_j);
}

int64_t brute_front(const brute_list *list, brute_limits limits, brute_cost *front)
{
    int64_t allowed = 0, count = 0;
    for (int64_t k = 0; k < list->count; k++)
        if (list->costs[k].time_s <= limits.time_s && list->costs[k].peak_power_w <= limits.power_w) front[allowed++] = list->costs[k];
    if (allowed > 0) qsort(front, (size_t)allowed, sizeof *front, by_time);
    for (int64_t k = 0; k < allowed; k++)
        if (count == 0 || front[k].energy_j < front[count - 1].energy_j) front[count++] = front[k];
    return count;
}

/* ---------------------------------------------------------------------------------------------------- least time */

/* Seconds of device i with d units at its fastest level, for the makespan; INFINITY where they do not fit or copies take too long. */
static double fastest(const yoke_plan_problem *problem, int64_t i, int64_t d, double most_copy)
{
    const yoke_plan_device *device = &problem->devices[i];
    double copy = copy_seconds(device, d), least = INFINITY;
    if (d > device->max_units || copy > most_copy) return INFINITY;
    for (int64_t l = 0; l < device->num_levels; l++) least = fmin(least, work_seconds(problem, i, l, d));
    return problem->copies_before ? least : copy + least;
}

/* scratch: [3][n + 1] */
static double least_makespan(const yoke_plan_problem *problem, double most_copy, double *scratch)
{
    int64_t n = problem->units;
    double *before = scratch, *now = scratch + n + 1, *seconds = scratch + 2 * (n + 1);
    for (int64_t m = 0; m <= n; m++) before[m] = m == 0 ? 0 : INFINITY;
    for (int64_t i = 0; i < problem->num_devices; i++) {
        for (int64_t d = 0; d <= n; d++) seconds[d] = fastest(problem, i, d, most_copy);
        for (int64_t m = 0; m <= n; m++) {
            now[m] = INFINITY;
            for (int64_t d = 0; d <= m; d++) now[m] = fmin(now[m], fmax(before[m - d], seconds[d]));
        }
        double *swap = before;
        before = now;
        now = swap;
    }
    return before[n];
}

/* All units on one device. */
static double least_alone(const yoke_plan_problem *problem)
{
    int64_t units[YOKE_PLAN_MAX_DEVICES] = {0}, levels[YOKE_PLAN_MAX_DEVICES] = {0};
    double least = INFINITY;
    for (int64_t i = 0; i < problem->num_devices; i++) {
        if (problem->devices[i].max_units < problem->units) continue;
        units[i] = problem->units;
        for (levels[i] = 0; levels[i] < problem->devices[i].num_levels; levels[i]++)
            least = fmin(least, brute_evaluate(problem, units, levels).time_s);
        units[i] = levels[i] = 0;
    }
    return least;
}

double brute_least_time(const yoke_plan_problem *problem)
{
    int64_t n = problem->units;
    double *scratch = malloc((size_t)(3 * (n + 1)) * sizeof *scratch);
    if (scratch == NULL) return NAN;
    double least = INFINITY;
    if (!problem->copies_before) {
        least = least_makespan(problem, INFINITY, scratch);
    } else {
        /* The longest copy is one of these; many are 0. */
        double done = NAN;
        for (int64_t i = 0; i < problem->num_devices; i++)
            for (int64_t d = 0; d <= n; d++) {
                double limit = copy_seconds(&problem->devices[i], d);
                if (limit == done) continue;
                done = limit;
                least = fmin(least, limit + least_makespan(problem, limit, scratch));
            }
    }
    free(scratch);
    return fmin(least, least_alone(problem));
}

brute_limits brute_limits_of(const yoke_plan_options *options, const brute_list *list, double moved)
{
    brute_limits limits = {INFINITY, INFINITY};
    if (options->power_cap_w > 0) limits.power_w = options->power_cap_w * (1 + moved);
    if (options->max_slowdown > 0) {
        const brute_cost *fastest = brute_best(list, YOKE_OBJECTIVE_TIME, limits);
        /* the fastest is always allowed, though its time may be computed in another order */
        if (fastest != NULL) limits.time_s = fmax(options->max_slowdown * fastest->time_s * (1 + moved), fastest->time_s * (1 + 1e-13));
    }
    if (options->deadline_s > 0) limits.time_s = fmin(limits.time_s, options->deadline_s * (1 + moved));
    return limits;
}
