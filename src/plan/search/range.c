/*
 * range.c - branch and bound over ranges of makespans, units and levels, depth first, the better half first.
 */
#include "plan/search/range.h"

#include <math.h>
#include <string.h>

enum { MAX_OPEN_NODES = 20000 };

/* The first value above `seconds` that the makespan (or second time) of a choice in the node can have; INFINITY: none. */
static double next_time(const range_search *search, const range_node *node, int second, double seconds)
{
    const plan_work *work = search->work;
    double next = INFINITY;
    for (int i = 0; i < work->num_devices; i++) {
        const plan_device *device = &work->devices[i];
        if (second && search->second == RANGE_ACCELERATORS && device->host) continue;
        for (int k = node->first_level[i]; k <= node->last_level[i]; k++) {
            if (!range_has(node, i, k)) continue;
            const plan_level *level = &device->levels[k];
            int only_copy = second && search->second == RANGE_COPIES, only_work = second || search->second == RANGE_COPIES;
            int64_t units = only_copy   ? plan_copy_units(device, seconds, node->most[i])
                            : only_work ? plan_work_units(level, seconds, node->most[i])
                                        : plan_finish_units(device, level, seconds, node->most[i]);
            if (++units < node->least[i]) units = node->least[i];
            if (units > node->most[i]) continue;
            next = fmin(next, only_copy   ? plan_copy_s(device, units)
                              : only_work ? plan_work_s(level, units)
                                          : plan_finish_s(device, level, units));
        }
    }
    return next;
}

/* Splits a node in two.  Returns the number of parts that are not empty. */
static int split(const range_search *search, const range_node *node, range_node parts[2])
{
    int i = node->split_device, s = node->split_second;
    parts[0] = parts[1] = *node;
    if (i < 0) {
        parts[0].high[s] = node->split_s;
        parts[1].low[s] = next_time(search, node, s, node->split_s);
        return parts[1].low[s] <= node->high[s] ? 2 : 1;
    }
    if (node->split_levels >= 0) {
        parts[0].last_level[i] = node->split_levels;
        parts[1].first_level[i] = node->split_levels + 1;
    } else {
        parts[0].most[i] = node->split_units;
        parts[1].least[i] = node->split_units + 1;
    }
    return 2;
}

static yoke_status push(range_search *search, const range_node *node, int *full)
{
    if (search->count == search->room) {
        if (search->room >= MAX_OPEN_NODES) {
            *full = 1;
            return YOKE_OK;
        }
        int64_t room = search->room > 0 ? 2 * search->room : 64;
        range_node *grown;
        yoke_status status = yoke_allocate_untouched(search->work->context, room, sizeof *grown, &grown);
        if (status != YOKE_OK) return status;
        if (search->count > 0) memcpy(grown, search->stack, (size_t)search->count * sizeof *grown);
        yoke_release(search->work->context, search->stack);
        search->stack = grown;
        search->room = room;
    }
    search->stack[search->count++] = *node;
    return YOKE_OK;
}

static int has_copies(const plan_device *device) { return device->copy_s > 0 || device->copy_per_unit_s > 0; }

static void set_up(range_search *search)
{
    const plan_work *work = search->work;
    int accelerators = 0, copying = 0;
    for (int i = 0; i < work->num_devices; i++)
        if (!work->devices[i].host && search->limits->most[i] > 0) {
            accelerators = 1;
            copying |= has_copies(&work->devices[i]);
        } else if (search->limits->most[i] > 0)
            copying |= has_copies(&work->devices[i]);
    search->host_overhead_w = search->limits->objective != YOKE_OBJECTIVE_TIME && accelerators ? work->host_overhead_w : 0;
    if (work->copies_before)
        search->second = RANGE_COPIES;
    else if (search->host_overhead_w > 0 && copying)
        search->second = RANGE_ACCELERATORS;
}

static range_node root_of(const range_search *search, int leader)
{
    const plan_work *work = search->work;
    range_node root = {.leader = leader, .price = NAN, .tight = -1, .overhead_part = 1};
    for (int i = 0; i < work->num_devices; i++) {
        const plan_device *device = &work->devices[i];
        int64_t most = search->limits->most[i];
        root.first_level[i] = search->limits->first_level[i];
        root.last_level[i] = search->limits->last_level[i];
        root.most[i] = leader == RANGE_NO_HOST && device->host ? 0 : most;
        root.least[i] = leader == i ? 1 : 0;
        for (int k = root.first_level[i]; k <= root.last_level[i]; k++) {
            double copy = plan_copy_s(device, most), seconds = plan_work_s(&device->levels[k], most);
            root.high[0] = fmax(root.high[0], search->second == RANGE_COPIES ? seconds : copy + seconds);
            if (search->second == RANGE_COPIES) root.high[1] = fmax(root.high[1], copy);
            if (search->second == RANGE_ACCELERATORS && !device->host) root.high[1] = fmax(root.high[1], seconds);
        }
    }
    return root;
}

/* The least time without a power cap is a lower bound of the time of every choice; the choice that has it is offered first. */
static double least_makespan(range_search *search)
{
    if (search->second == RANGE_COPIES) return 0;
    search_limits fastest = *search->limits;
    fastest.objective = YOKE_OBJECTIVE_TIME;
    fastest.deadline_s = fastest.power_cap_w = INFINITY;
    search_best best = {.value = INFINITY};
    search_least_time(search->work, &fastest, &best);
    if (!best.result.feasible) return 0;
    int64_t units[PLAN_MAX_DEVICES];
    int levels[PLAN_MAX_DEVICES];
    for (int i = 0; i < search->work->num_devices; i++) {
        const plan_device *device = &search->work->devices[i];
        units[i] = best.result.units[device->given];
        levels[i] = 0;
        for (int k = 0; k < device->num_levels; k++)
            if (device->levels[k].given == best.result.levels[device->given]) levels[i] = k;
    }
    search_offer(search->work, search->limits, units, levels, search->best);
    return best.result.cost.time_s;
}

static yoke_status open_roots(range_search *search, int *full)
{
    double least = least_makespan(search);
    yoke_status status = YOKE_OK;
    for (int leader = RANGE_NO_HOST_OVERHEAD; leader < search->work->num_devices && status == YOKE_OK; leader++) {
        if ((leader == RANGE_NO_HOST_OVERHEAD) != !(search->host_overhead_w > 0)) continue;
        if (leader >= 0 && (!search->work->devices[leader].host || search->limits->most[leader] == 0)) continue;
        range_node root = root_of(search, leader);
        root.low[0] = least;
        if (range_look(search, &root)) status = push(search, &root, full);
    }
    return status;
}

static yoke_status split_all(range_search *search, int *full)
{
    yoke_status status = YOKE_OK;
    while (search->count > 0 && status == YOKE_OK && !*full && search->best->result.nodes < search->last_node &&
           !plan_count_node(search->work)) {
        range_node node = search->stack[--search->count], parts[2];
        const search_best *best = search->best;
        if (node.bound >= search_enough(best)) continue;
        int count = split(search, &node, parts), kept = 0;
        for (int k = 0; k < count; k++)
            if (range_look(search, &parts[k])) {
                if (kept != k) parts[kept] = parts[k];
                kept++;
            }
        if (kept == 2 && parts[1].bound > parts[0].bound) {
            status = push(search, &parts[1], full);
            kept = 1;
        } else if (kept == 2) {
            status = push(search, &parts[0], full);
            parts[0] = parts[1];
            kept = 1;
        }
        if (kept == 1 && status == YOKE_OK) status = push(search, &parts[0], full);
        if (*full) search->stack[search->count - 1].bound = fmin(search->stack[search->count - 1].bound, node.bound);
    }
    return status;
}

/* Sets what is proved when the stack is empty, or when the search ended early. */
static void judge(const range_search *search)
{
    search_best *best = search->best;
    plan_result *result = &best->result;
    best->open = !result->feasible && search->count > 0;
    if (!result->feasible) {
        result->gap = NAN;
        return;
    }
    double least = search_enough(best); /* bound of the nodes that were not examined */
    for (int64_t k = 0; k < search->count; k++) least = fmin(least, search->stack[k].bound);
    double gap = best->value > 0 ? fmin(1, (best->value - least) / best->value) : 0;
    result->optimal = !(gap > 2 * PLAN_ROUNDING);
    result->gap = result->optimal ? 0 : gap;
}

/* One search from the roots, with a limited number of nodes. */
static yoke_status search_once(range_search *search, double slack, int64_t nodes)
{
    search->count = 0;
    search->last_node = search->best->result.nodes + nodes;
    search->best->slack = slack;
    int full = 0;
    yoke_status status = open_roots(search, &full);
    if (status == YOKE_OK) status = split_all(search, &full);
    if (status == YOKE_OK) judge(search);
    search->best->slack = 0;
    return status;
}

/*
 * At first the search is exact to rounding, with a twentieth of the nodes.  If that does not suffice (many choices are nearly equal, or
 * doubles cannot represent all numbers of units), the search is repeated to a relative accuracy of 10^-9, so that the gap is known to be
 * that small, and then to rounding with the nodes that are left.
 */
static yoke_status search_repeatedly(range_search *search)
{
    enum { FEW_NODES = 20000 };
    plan_result *result = &search->best->result;
    const int64_t last = result->nodes + search->work->search_nodes, part = search->work->search_nodes / 20;
    static const double slacks[] = {PLAN_ROUNDING, 1e-9, PLAN_ROUNDING};
    double gap = NAN; /* the smallest that was proved */
    for (int step = 0; step < 3 && result->nodes < last && !(step > 0 && search->work->stopped); step++) {
        int64_t nodes = step == 0 ? (part > FEW_NODES ? part : FEW_NODES) : step == 1 ? 10 * part : 4 * part;
        if (nodes > last - result->nodes) nodes = last - result->nodes;
        yoke_status status = search_once(search, slacks[step], nodes);
        if (status != YOKE_OK) return status;
        if (result->optimal || (search->count == 0 && !result->feasible)) return YOKE_OK;
        gap = fmin(gap, result->gap); /* fmin ignores NaN */
        result->gap = gap;
        if (step == 1 && !(gap < 1e-8)) break;
    }
    return YOKE_OK;
}

yoke_status search_ranges(plan_work *work, const search_limits *limits, search_best *best)
{
    range_search search = {.work = work, .limits = limits, .best = best};
    set_up(&search);
    int64_t points = work->num_devices, levels = 0;
    for (int i = 0; i < work->num_devices; i++)
        for (int k = 0; k < work->devices[i].num_levels; k++) {
            points += envelope_most_points(&work->devices[i].levels[k]);
            levels++;
        }
    yoke_status status = yoke_allocate_untouched(work->context, points, sizeof *search.points, &search.points);
    if (status == YOKE_OK) status = yoke_allocate_untouched(work->context, levels, sizeof *search.capacities, &search.capacities);
    if (status == YOKE_OK)
        status = yoke_allocate_untouched(work->context, (levels + work->num_devices) * range_state_bytes(), 1, &search.states);
    if (status == YOKE_OK) status = search_repeatedly(&search);
    yoke_release(work->context, search.stack);
    yoke_release(work->context, search.states);
    yoke_release(work->context, search.capacities);
    yoke_release(work->context, search.points);
    return status;
}
