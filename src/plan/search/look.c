/*
 * look.c - examines a node of the range search: narrows its ranges, bounds its objective, offers a choice, and decides how to split it.
 */
#include <math.h>

#include "plan/search/range.h"

/* If bounds by a price are available, a range of makespans wider than this fraction is halved before any other split. */
#define WIDE 0.05

/* The relaxed choice: the units at which the devices' envelopes have the same slope, and integer units near them. */
typedef struct relaxed {
    double time_s, waited_s, joules; /* lower bounds */
    double price;                    /* the slope of the last segment that was filled */
    double part[PLAN_MAX_DEVICES];   /* joules of the devices' envelopes */
    int64_t units[PLAN_MAX_DEVICES];
    int levels[PLAN_MAX_DEVICES];
    envelope_point *hull[PLAN_MAX_DEVICES];
    int64_t corners[PLAN_MAX_DEVICES];
} relaxed;

static double power_at_work(const plan_level *level) { return level->idle_w + level->times->dynamic_w; }

/* The largest number of units, at most `most`, within both makespans. */
static int64_t capacity_of(const range_search *search, const plan_device *device, const plan_level *level, const double makespans[2],
                           int64_t most)
{
    if (search->second == RANGE_COPIES) {
        most = plan_work_units(level, makespans[0], most);
        return plan_copy_units(device, makespans[1], most);
    }
    most = plan_finish_units(device, level, makespans[0], most);
    if (search->second == RANGE_ACCELERATORS && !device->host) most = plan_work_units(level, makespans[1], most);
    return most;
}

/* Removes levels and devices that exceed the power cap if all other devices draw their least power.  Returns 0 if nothing is left. */
static int narrow_powers(const range_search *search, range_node *node)
{
    const plan_work *work = search->work;
    double cap = search->limits->power_cap_w, least = work->base_w, overhead_w = work->host_overhead_w;
    if (isinf(cap)) return 1;
    for (int i = 0; i < work->num_devices; i++) {
        const plan_device *device = &work->devices[i];
        least += node->least[i] > 0 ? power_at_work(&device->levels[node->first_level[i]]) : device->parked_w;
        if (node->least[i] > 0 && !device->host && overhead_w > 0) {
            least += overhead_w;
            overhead_w = 0;
        }
    }
    if (least > cap) return 0;
    for (int i = 0; i < work->num_devices; i++) {
        const plan_device *device = &work->devices[i];
        double room = cap - least + (node->least[i] > 0 ? power_at_work(&device->levels[node->first_level[i]]) : device->parked_w);
        if (!device->host) room -= overhead_w;
        room += PLAN_ROUNDING * cap;
        while (node->last_level[i] >= node->first_level[i] && power_at_work(&device->levels[node->last_level[i]]) > room)
            node->last_level[i]--;
        if (node->last_level[i] >= node->first_level[i]) continue;
        if (node->least[i] > 0) return 0;
        node->last_level[i] = node->first_level[i];
        node->most[i] = 0;
    }
    return 1;
}

static int narrow_units(const range_search *search, range_node *node)
{
    const plan_work *work = search->work;
    int64_t n = work->units, sum = 0;
    for (int i = 0; i < work->num_devices; i++) {
        const plan_device *device = &work->devices[i];
        int64_t most = 0;
        for (int k = node->first_level[i]; k <= node->last_level[i] && node->most[i] > 0; k++) {
            if (!range_has(node, i, k)) continue;
            int64_t capacity = capacity_of(search, device, &device->levels[k], node->high, node->most[i]);
            search->capacities[&device->levels[k] - work->levels] = capacity;
            if (capacity > most) most = capacity;
        }
        node->most[i] = most;
        if (most < node->least[i]) return 0;
        sum = sum > 2 * n ? sum : sum + most;
    }
    if (sum < n) return 0;
    int64_t least = 0;
    for (int i = 0; i < work->num_devices; i++) {
        int64_t needed = sum > 2 * n ? 0 : n - (sum - node->most[i]);
        if (needed > node->least[i]) node->least[i] = needed;
        least += node->least[i];
        if (least > n) return 0;
    }
    for (int i = 0; i < work->num_devices; i++)
        if (node->most[i] > n - least + node->least[i]) node->most[i] = n - least + node->least[i];
    return 1;
}

/* The makespan is at least the time of each device's fewest units.  Returns 0 if no makespan is left. */
static int narrow_makespans(const range_search *search, range_node *node)
{
    const plan_work *work = search->work;
    double deadline = search->limits->deadline_s;
    for (int i = 0; i < work->num_devices; i++) {
        if (node->least[i] == 0) continue;
        const plan_device *device = &work->devices[i];
        double least = INFINITY;
        for (int k = node->first_level[i]; k <= node->last_level[i]; k++)
            if (range_has(node, i, k)) least = fmin(least, plan_work_s(&device->levels[k], node->least[i]));
        double copy = plan_copy_s(device, node->least[i]);
        if (search->second == RANGE_COPIES)
            node->low[1] = fmax(node->low[1], copy);
        else if (search->second == RANGE_ACCELERATORS && !device->host)
            node->low[1] = fmax(node->low[1], least);
        node->low[0] = fmax(node->low[0], search->second == RANGE_COPIES ? least : copy + least);
    }
    if (search->second == RANGE_COPIES) {
        node->high[0] = fmin(node->high[0], deadline - node->low[1]);
        node->high[1] = fmin(node->high[1], deadline - node->low[0]);
    } else
        node->high[0] = fmin(node->high[0], deadline);
    return node->low[0] <= node->high[0] && node->low[1] <= node->high[1];
}

static envelope_price price_of(const range_search *search, const range_node *node, const relaxed *r, int i)
{
    return (envelope_price){
        .seconds = r->time_s, .host_overhead_w = i == node->leader ? search->host_overhead_w : 0, .waited_s = r->waited_s};
}

/* The level in the node's range that does the units at the least cost, with the prices of the relaxation. */
static int cheapest(const range_search *search, const range_node *node, const relaxed *r, int i, int64_t units, double *joules)
{
    const plan_device *device = &search->work->devices[i];
    envelope_price price = price_of(search, node, r, i);
    int chosen = node->first_level[i];
    *joules = INFINITY;
    for (int k = node->first_level[i]; k <= node->last_level[i]; k++) {
        if (!range_has(node, i, k) || search->capacities[&device->levels[k] - search->work->levels] < units) continue;
        double this = envelope_joules(device, &device->levels[k], &price, units);
        if (!(this < *joules)) continue;
        *joules = this;
        chosen = k;
    }
    return chosen;
}

static void make_hulls(const range_search *search, const range_node *node, relaxed *r)
{
    const plan_work *work = search->work;
    envelope_point *points = search->points;
    for (int i = 0; i < work->num_devices; i++) {
        const plan_device *device = &work->devices[i];
        envelope_price price = price_of(search, node, r, i);
        int64_t count = 0, least = node->least[i] > 0 ? node->least[i] : 1;
        if (node->least[i] == 0) points[count++] = (envelope_point){0, device->parked_w * r->time_s};
        for (int k = node->first_level[i]; k <= node->last_level[i] && node->most[i] > 0; k++) {
            if (!range_has(node, i, k)) continue;
            int64_t capacity = search->capacities[&device->levels[k] - work->levels];
            if (capacity > node->most[i]) capacity = node->most[i];
            if (capacity >= least) count += envelope_add(work, device, &device->levels[k], &price, least, capacity, points + count);
        }
        r->hull[i] = points;
        r->corners[i] = envelope_hull(points, count);
        points += r->corners[i];
    }
}

static double slope_at(const relaxed *r, int i, int64_t corner)
{
    if (corner + 1 >= r->corners[i]) return INFINITY;
    const envelope_point *a = &r->hull[i][corner], *b = a + 1;
    return (b->joules - a->joules) / (b->units - a->units);
}

/* Fills segments of the hulls in ascending order of slope until there are n units. */
static void fill(const range_search *search, const range_node *node, relaxed *r)
{
    r->price = NAN;
    int count = search->work->num_devices, last = -1;
    int64_t corner[PLAN_MAX_DEVICES] = {0}, given = 0;
    double slopes[PLAN_MAX_DEVICES], left = (double)search->work->units;
    for (int i = 0; i < count; i++) {
        r->part[i] = r->hull[i][0].joules;
        left -= r->hull[i][0].units;
        slopes[i] = slope_at(r, i, 0);
    }
    while (left > 0) {
        int i = 0;
        for (int k = 1; k < count; k++)
            if (slopes[k] < slopes[i]) i = k;
        if (isinf(slopes[i])) break; /* rounding of units above 2^53 */
        double wide = r->hull[i][corner[i] + 1].units - r->hull[i][corner[i]].units;
        last = i;
        r->price = slopes[i];
        if (wide > left) {
            r->part[i] += slopes[i] * left;
            break;
        }
        left -= wide;
        r->part[i] = r->hull[i][++corner[i]].joules;
        slopes[i] = slope_at(r, i, corner[i]);
    }
    for (int i = 0; i < count; i++) {
        double at = floor(r->hull[i][corner[i]].units);
        r->units[i] = at < (double)node->most[i] ? (int64_t)at : node->most[i];
        if (r->units[i] < node->least[i]) r->units[i] = node->least[i];
        given += r->units[i];
    }
    /*
     * Units that remain, or, after rounding, units in excess, are given to or taken from the device that was filled last, then any device.
     */
    for (int step = 0; step <= count && given != search->work->units; step++) {
        int i = step == 0 && last >= 0 ? last : step % count;
        int64_t change = search->work->units - given;
        if (change > node->most[i] - r->units[i]) change = node->most[i] - r->units[i];
        if (change < node->least[i] - r->units[i]) change = node->least[i] - r->units[i];
        r->units[i] += change;
        given += change;
    }
}

static void relax(const range_search *search, range_node *node, relaxed *r)
{
    const plan_work *work = search->work;
    r->time_s = node->low[0] + (search->second == RANGE_COPIES ? node->low[1] : 0);
    r->waited_s = node->low[search->second == RANGE_ACCELERATORS ? 1 : 0];
    if (search->limits->objective == YOKE_OBJECTIVE_TIME) {
        int64_t left = work->units;
        for (int i = 0; i < work->num_devices; i++) left -= r->units[i] = node->least[i];
        for (int i = 0; i < work->num_devices; i++) {
            int64_t more = node->most[i] - node->least[i] < left ? node->most[i] - node->least[i] : left;
            r->units[i] += more;
            left -= more;
        }
        node->bound = r->time_s;
        return;
    }
    make_hulls(search, node, r);
    fill(search, node, r);
    r->joules = work->base_w * r->time_s + (node->leader == RANGE_NO_HOST ? search->host_overhead_w * r->waited_s : 0);
    for (int i = 0; i < work->num_devices; i++) r->joules += r->part[i];
    plan_cost cost = {.time_s = r->time_s, .energy_j = r->joules};
    node->bound = plan_objective_value(search->limits->objective, &cost);
}

/* Levels for the relaxed choice: the cheapest ones, or, for least time, the fastest. */
static void choose_levels(const range_search *search, const range_node *node, relaxed *r, double *gaps)
{
    const plan_work *work = search->work;
    for (int i = 0; i < work->num_devices; i++) {
        const plan_device *device = &work->devices[i];
        gaps[i] = 0;
        r->levels[i] = node->first_level[i];
        if (search->limits->objective != YOKE_OBJECTIVE_TIME) {
            double joules = device->parked_w * r->time_s;
            if (r->units[i] > 0) r->levels[i] = cheapest(search, node, r, i, r->units[i], &joules);
            gaps[i] = joules - r->part[i];
            continue;
        }
        for (int k = node->first_level[i] + 1; k <= node->last_level[i] && r->units[i] > 0; k++)
            if (plan_work_s(&device->levels[k], r->units[i]) < plan_work_s(&device->levels[r->levels[i]], r->units[i])) r->levels[i] = k;
    }
}

/* Offers the same units at those levels of least power that are fast enough. */
static void offer_least_power(const range_search *search, const range_node *node, const relaxed *r)
{
    const plan_work *work = search->work;
    int levels[PLAN_MAX_DEVICES];
    for (int i = 0; i < work->num_devices; i++) {
        levels[i] = node->first_level[i];
        while (levels[i] < node->last_level[i] && search->capacities[&work->devices[i].levels[levels[i]] - work->levels] < r->units[i])
            levels[i]++;
    }
    search_offer(work, search->limits, r->units, levels, search->best);
}

/* The two times of the choice, defined as they are bounded. */
static void times_of(const range_search *search, const relaxed *r, double times[2])
{
    const plan_work *work = search->work;
    times[0] = times[1] = 0;
    for (int i = 0; i < work->num_devices; i++) {
        const plan_device *device = &work->devices[i];
        double copy = plan_copy_s(device, r->units[i]), seconds = plan_work_s(&device->levels[r->levels[i]], r->units[i]);
        times[0] = fmax(times[0], search->second == RANGE_COPIES ? seconds : copy + seconds);
        if (search->second == RANGE_COPIES) times[1] = fmax(times[1], copy);
        if (search->second == RANGE_ACCELERATORS && !device->host) times[1] = fmax(times[1], seconds);
    }
}

static int halve_makespan(const range_search *search, range_node *node)
{
    double wide[2] = {node->high[0] - node->low[0], search->second != RANGE_ONE ? node->high[1] - node->low[1] : 0};
    int s = wide[1] > wide[0];
    if (!(wide[s] > WIDE * (node->high[0] + node->high[1]))) return 0;
    double middle = node->low[s] + wide[s] / 2;
    if (!(middle < node->high[s])) return 0;
    node->split_device = -1;
    node->split_second = s;
    node->split_s = middle;
    return 1;
}

static int split_makespan(const range_search *search, range_node *node, const relaxed *r)
{
    double times[2], wide[2];
    times_of(search, r, times);
    for (int s = 0; s < 2; s++) wide[s] = times[s] > node->low[s] ? times[s] - node->low[s] : 0;
    int s = wide[1] > wide[0];
    if (!(wide[s] > 0)) return 0;
    double middle = node->low[s] + wide[s] / 2;
    node->split_device = -1;
    node->split_second = s;
    node->split_s = middle < times[s] ? middle : node->low[s];
    return 1;
}

/*
 * Splits between levels that are not dropped: the chosen level becomes the first of its part, or, if it is the first of all, a part of its
 * own.
 */
static int split_levels(range_node *node, const relaxed *r, int i)
{
    int chosen = r->levels[i], below = chosen - 1, above = chosen + 1;
    while (below >= node->first_level[i] && !range_has(node, i, below)) below--;
    while (above <= node->last_level[i] && !range_has(node, i, above)) above++;
    if (below < node->first_level[i] && above > node->last_level[i]) return 0;
    node->split_device = i;
    node->split_levels = below >= node->first_level[i] ? chosen - 1 : chosen;
    return 1;
}

static int split_units(range_node *node, const relaxed *r, int i)
{
    if (node->least[i] >= node->most[i]) return 0;
    /* The split is not so close to an end that one part is nearly the whole range. */
    int64_t at = r->units[i], margin = (node->most[i] - node->least[i]) / 8;
    if (at > node->most[i] - 1 - margin) at = node->most[i] - 1 - margin;
    if (at < node->least[i] + margin) at = node->least[i] + margin;
    node->split_device = i;
    node->split_levels = -1;
    node->split_units = node->least[i] == 0 ? 0 : at;
    return 1;
}

/* The choice exceeds the power cap: split the device whose power exceeds its least power most. */
static int split_power(const range_search *search, range_node *node, const relaxed *r)
{
    const plan_work *work = search->work;
    int most = -1;
    double most_w = -1;
    for (int i = 0; i < work->num_devices; i++) {
        const plan_device *device = &work->devices[i];
        int open = node->least[i] == 0 && r->units[i] > 0;
        if (r->units[i] == 0 || (!open && node->first_level[i] == node->last_level[i])) continue;
        double above =
            power_at_work(&device->levels[r->levels[i]]) - (open ? device->parked_w : power_at_work(&device->levels[node->first_level[i]]));
        if (above > most_w) {
            most_w = above;
            most = i;
        }
    }
    if (most < 0) return 0;
    if (node->least[most] == 0) return split_units(node, r, most);
    node->split_device = most;
    node->split_levels = r->levels[most] > node->first_level[most] ? r->levels[most] - 1 : node->first_level[most];
    return 1;
}

/* raised: relative increase of the bound from the relaxed choice to the price. */
static int choose_split(const range_search *search, range_node *node, const relaxed *r, const double *gaps, const plan_cost *cost,
                        double raised)
{
    int count = search->work->num_devices, widest = -1;
    if (cost->peak_w > search->limits->power_cap_w && split_power(search, node, r)) return 1;
    if (cost->time_s > search->limits->deadline_s && split_makespan(search, node, r)) return 1;
    if (search->limits->objective == YOKE_OBJECTIVE_TIME) {
        if (split_makespan(search, node, r)) return 1;
    } else {
        double sum = 0, late = cost->time_s > 0 ? (cost->time_s - r->time_s) / cost->time_s : 0;
        for (int i = 0; i < count; i++) {
            sum += gaps[i];
            if (node->least[i] < node->most[i] && (widest < 0 || gaps[i] > gaps[widest])) widest = i;
        }
        double power = search->limits->objective == YOKE_OBJECTIVE_ENERGY ? 0 : search->limits->objective == YOKE_OBJECTIVE_EDP ? 1 : 2;
        double of_time = cost->energy_j - r->joules - sum + (power * late - raised) * cost->energy_j;
        int priced = range_can_price(search);
        if (priced && halve_makespan(search, node)) return 1;
        if (widest >= 0 && gaps[widest] > of_time) {
            if (search->work->linear && node->least[widest] > 0 && split_levels(node, r, widest)) return 1;
            if (split_units(node, r, widest)) return 1;
        }
        if (split_makespan(search, node, r)) return 1;
        if (widest >= 0 && split_units(node, r, widest)) return 1;
    }
    return split_power(search, node, r);
}

/*
 * Finds the device that determines the second time in the relaxed choice, and the cost of a second of it: all idle powers, or host
 * overhead.
 */
static void find_tight(const range_search *search, range_node *node, const relaxed *r)
{
    const plan_work *work = search->work;
    double longest = 0, powers = work->base_w;
    node->tight = -1;
    for (int i = 0; i < work->num_devices; i++) {
        const plan_device *device = &work->devices[i];
        const plan_level *level = &device->levels[r->levels[i]];
        powers += r->units[i] > 0 ? level->idle_w : device->parked_w;
        double seconds = search->second == RANGE_COPIES ? plan_copy_s(device, r->units[i])
                         : device->host                 ? 0
                                                        : plan_work_s(level, r->units[i]);
        if (seconds > longest) {
            longest = seconds;
            node->tight = i;
        }
    }
    node->second_w = powers;
    if (search->second != RANGE_ACCELERATORS) return;
    if (node->leader >= 0) {
        const plan_level *level = &work->devices[node->leader].levels[r->levels[node->leader]];
        node->overhead_part = plan_work_s(level, r->units[node->leader]) <= longest ? 1 : 0;
    }
    node->second_w = node->overhead_part * search->host_overhead_w;
}

/* Offers the choice of least time with the states (off, or a level) of the given choice. */
static void offer_states(const range_search *search, const relaxed *r)
{
    search_limits limits = *search->limits;
    for (int i = 0; i < search->work->num_devices; i++) {
        if (r->units[i] == 0) limits.most[i] = 0;
        limits.first_level[i] = limits.last_level[i] = r->levels[i];
    }
    int64_t nodes = search->best->result.nodes;
    search_least_time(search->work, &limits, search->best);
    search->best->result.nodes = nodes;
}

/* The choice exceeds the power cap only with the host overhead: decide whether an accelerator works. */
static int split_overhead(const range_search *search, range_node *node, const relaxed *r)
{
    for (int i = 0; i < search->work->num_devices; i++)
        if (!search->work->devices[i].host && node->least[i] == 0 && r->units[i] > 0) return split_units(node, r, i);
    return 0;
}

/*
 * Least time under a power cap: is there a choice that takes less than the best time?  If there is only one makespan, no split is needed:
 * each choice that is found lowers the best time to the least time of its states.
 */
static int look_at_power(range_search *search, range_node *node)
{
    for (;;) {
        relaxed r;
        double enough = search_enough(search->best);
        node->bound = node->low[0] + (search->second == RANGE_COPIES ? node->low[1] : 0);
        if (node->bound >= enough) return 0;
        if (search->second == RANGE_ONE) node->high[0] = fmin(node->high[0], enough);
        if (!narrow_units(search, node)) return 0;
        int found = range_fill_power(search, node, r.units, r.levels);
        if (found != 1) return found;
        plan_cost cost = search_offer(search->work, search->limits, r.units, r.levels, search->best);
        if (cost.peak_w > search->limits->power_cap_w) return split_overhead(search, node, &r);
        if (search->second != RANGE_ONE) return node->bound < search_enough(search->best) && split_makespan(search, node, &r);
        offer_states(search, &r);
        /* within the limits there is no better choice; only their margin for rounding allowed one */
        if (!(search_enough(search->best) < enough)) return 0;
    }
}

int range_look(range_search *search, range_node *node)
{
    search->best->result.nodes++;
    if (!narrow_powers(search, node)) return 0;
    if (range_can_price(search) && !isnan(node->price) && !range_price(search, node, node->price)) return 0;
    if (!narrow_units(search, node) || !narrow_makespans(search, node)) return 0;
    if (search->limits->objective == YOKE_OBJECTIVE_TIME && isfinite(search->limits->power_cap_w)) return look_at_power(search, node);
    relaxed r;
    double gaps[PLAN_MAX_DEVICES], bound = node->bound;
    relax(search, node, &r);
    double relaxed_bound = node->bound;
    if (bound > node->bound) node->bound = bound;
    const search_best *best = search->best;
    if (node->bound >= search_enough(best)) return 0;
    choose_levels(search, node, &r, gaps);
    plan_cost cost = search_offer(search->work, search->limits, r.units, r.levels, search->best);
    if (cost.peak_w > search->limits->power_cap_w) offer_least_power(search, node, &r);
    if (node->bound >= search_enough(best)) return 0;
    if (range_can_price(search) && !isnan(r.price)) {
        if (search->second != RANGE_ONE) find_tight(search, node, &r);
        if (!range_price(search, node, r.price)) return 0;
    }
    double raised = node->bound > relaxed_bound && relaxed_bound > 0 ? (node->bound - relaxed_bound) / relaxed_bound : 0;
    return choose_split(search, node, &r, gaps, &cost, raised);
}
