/*
 * time.c - least time by bisection over the makespan (FPM-PA, Clarke sect. 1.3, with whole units).
 */
#include <math.h>

#include "plan/search/search.h"

/* The largest number of units of a device within `seconds`, and the level for it; of equal levels, the one that ends first. */
static int64_t capacity(const plan_work *work, const search_limits *limits, int i, double seconds, int *chosen)
{
    const plan_device *device = &work->devices[i];
    int64_t most = 0;
    *chosen = limits->first_level[i];
    for (int k = limits->first_level[i]; k <= limits->last_level[i]; k++) {
        int64_t units = plan_finish_units(device, &device->levels[k], seconds, limits->most[i]);
        if (units < most || units == 0) continue;
        if (units == most && plan_finish_s(device, &device->levels[k], units) >= plan_finish_s(device, &device->levels[*chosen], units))
            continue;
        most = units;
        *chosen = k;
    }
    return most;
}

/* Nonzero: n units can be done within `seconds`; units and levels then have the choice. */
static int enough(const plan_work *work, const search_limits *limits, double seconds, int64_t *units, int *levels)
{
    int64_t left = work->units;
    for (int i = 0; i < work->num_devices; i++) {
        int64_t most = capacity(work, limits, i, seconds, &levels[i]);
        units[i] = most < left ? most : left;
        left -= units[i];
    }
    return left == 0;
}

/* The maximum over devices of their shortest times for all units that they may have: enough for n units. */
static double long_enough(const plan_work *work, const search_limits *limits)
{
    double longest = 0;
    for (int i = 0; i < work->num_devices; i++) {
        const plan_device *device = &work->devices[i];
        double shortest = INFINITY;
        for (int k = limits->first_level[i]; k <= limits->last_level[i]; k++)
            shortest = fmin(shortest, plan_finish_s(device, &device->levels[k], limits->most[i]));
        longest = fmax(longest, shortest);
    }
    return longest;
}

void search_least_time(plan_work *work, const search_limits *limits, search_best *best)
{
    int64_t units[PLAN_MAX_DEVICES];
    int levels[PLAN_MAX_DEVICES];
    double low = 0, high = long_enough(work, limits);
    while (low < high) {
        double middle = low + (high - low) / 2;
        if (!(middle > low && middle < high)) break;
        best->result.nodes++;
        if (enough(work, limits, middle, units, levels)) {
            /* Lower the end of the interval to the end of the last device. */
            double longest = 0;
            for (int i = 0; i < work->num_devices; i++)
                if (units[i] > 0) longest = fmax(longest, plan_finish_s(&work->devices[i], &work->devices[i].levels[levels[i]], units[i]));
            high = fmin(middle, longest);
        } else
            low = middle;
    }
    if (!enough(work, limits, high, units, levels)) return;
    search_offer(work, limits, units, levels, best);
    best->result.optimal = best->result.feasible;
    best->result.gap = best->result.feasible ? 0 : NAN;
}
