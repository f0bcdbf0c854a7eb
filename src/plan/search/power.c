/*
 * power.c - least time under a power cap: the largest number of units within the node's largest makespans and the power cap.
 *
 * In the relaxation one device mixes two neighbouring states of its hull of (power, units), and the others are at corners: a
 * multiple-choice knapsack problem.
 */
#include <math.h>

#include "plan/search/range.h"

/* A corner of a device's hull, with its state: `level`, or -1: off. */
typedef struct state {
    double power_w, units;
    int level;
} state;

int64_t range_state_bytes(void) { return (int64_t)sizeof(state); }

/* Reduces states in ascending order of power to the corners of their upper hull.  Returns the number of corners. */
static int hull_of(state *states, int count)
{
    int corners = 0;
    for (int k = 0; k < count; k++) {
        if (corners > 0 && states[k].units <= states[corners - 1].units) continue; /* more power, but no more units */
        while (corners > 0 && states[k].power_w <= states[corners - 1].power_w) corners--;
        while (corners > 1) {
            const state *a = &states[corners - 2], *b = &states[corners - 1], *c = &states[k];
            if ((b->units - a->units) * (c->power_w - b->power_w) > (c->units - b->units) * (b->power_w - a->power_w)) break;
            corners--;
        }
        states[corners++] = states[k];
    }
    return corners;
}

static int states_of(const range_search *search, const range_node *node, int i, state *states)
{
    const plan_work *work = search->work;
    const plan_device *device = &work->devices[i];
    int count = 0;
    if (node->least[i] == 0) states[count++] = (state){device->parked_w, 0, -1};
    for (int k = node->first_level[i]; k <= node->last_level[i] && node->most[i] > 0; k++) {
        const plan_level *level = &device->levels[k];
        int64_t capacity = search->capacities[level - work->levels];
        if (capacity > node->most[i]) capacity = node->most[i];
        if (capacity < node->least[i] || capacity == 0) continue;
        states[count++] = (state){level->idle_w + level->times->dynamic_w, (double)capacity, k};
    }
    return hull_of(states, count);
}

/* The least power drawn apart from the devices: base power, and host overhead if an accelerator must work. */
static double fixed_power(const range_search *search, const range_node *node)
{
    const plan_work *work = search->work;
    for (int i = 0; i < work->num_devices; i++)
        if (!work->devices[i].host && node->least[i] > 0) return work->base_w + work->host_overhead_w;
    return work->base_w;
}

/*
 * Advances along the hulls, largest ratio of units per watt first, while the power suffices.  Returns the device whose next step does not
 * fit, -1 if all steps fit.
 */
static int take(const range_search *search, state *const *hulls, const int *corners, double *power, int *corner, double *units)
{
    for (;;) {
        int best = -1;
        double most = 0;
        for (int i = 0; i < search->work->num_devices; i++) {
            if (corner[i] + 1 >= corners[i]) continue;
            const state *here = &hulls[i][corner[i]];
            double ratio = (here[1].units - here->units) / (here[1].power_w - here->power_w);
            if (best < 0 || ratio > most) {
                best = i;
                most = ratio;
            }
        }
        if (best < 0) return -1;
        const state *here = &hulls[best][corner[best]];
        double wide = here[1].power_w - here->power_w;
        if (wide > *power) {
            *units += most * *power; /* counts in the relaxation only */
            return best;
        }
        *power -= wide;
        *units += here[1].units - here->units;
        corner[best]++;
    }
}

/* Distributes n units over the states.  Returns 0 if they have no room for all units. */
static int share(const range_search *search, const range_node *node, state *const *hulls, const int *corner, int64_t *units, int *levels)
{
    const plan_work *work = search->work;
    int64_t left = work->units;
    for (int i = 0; i < work->num_devices; i++) {
        levels[i] = hulls[i][corner[i]].level;
        units[i] = node->least[i];
        left -= units[i];
    }
    for (int i = 0; i < work->num_devices; i++) {
        if (levels[i] < 0) {
            levels[i] = node->first_level[i];
            continue;
        }
        int64_t more = search->capacities[&work->devices[i].levels[levels[i]] - work->levels];
        if (more > node->most[i]) more = node->most[i];
        more -= units[i];
        if (more > left) more = left;
        units[i] += more;
        left -= more;
    }
    return left == 0;
}

int range_fill_power(const range_search *search, range_node *node, int64_t *units, int *levels)
{
    const plan_work *work = search->work;
    state *hulls[PLAN_MAX_DEVICES], *states = search->states;
    int corners[PLAN_MAX_DEVICES], corner[PLAN_MAX_DEVICES] = {0};
    double power = search->limits->power_cap_w - fixed_power(search, node), most = 0;
    for (int i = 0; i < work->num_devices; i++) {
        hulls[i] = states;
        corners[i] = states_of(search, node, i, states);
        if (corners[i] == 0) return 0;
        states += corners[i];
        power -= hulls[i][0].power_w;
        most += hulls[i][0].units;
    }
    if (power < 0) return 0;
    int part = take(search, hulls, corners, &power, corner, &most);
    if (most * (1 + PLAN_ROUNDING) < (double)work->units) return 0;
    node->split_device = -1;
    if (share(search, node, hulls, corner, units, levels)) return 1;
    if (part < 0) return 0;
    /* Split the device that the relaxation mixes. */
    node->split_device = part;
    node->split_units = 0;
    node->split_levels = node->least[part] == 0 ? -1 : hulls[part][corner[part]].level;
    return 2;
}
