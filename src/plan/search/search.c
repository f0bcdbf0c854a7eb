/*
 * search.c - selects the search for a request, and finds the reason if there is no choice.
 */
#include "plan/search/search.h"

#include <math.h>

plan_request plan_request_of(const plan_work *work)
{
    const yoke_plan_options *options = &work->options;
    return (plan_request){.objective = options->objective,
                          .deadline_s = options->deadline_s > 0 ? options->deadline_s : INFINITY,
                          .power_cap_w = options->power_cap_w > 0 ? options->power_cap_w : INFINITY};
}

static search_limits limits_of(const plan_work *work, const plan_request *request)
{
    search_limits limits = {.objective = request->objective,
                            .deadline_s = request->deadline_s * (1 + PLAN_ROUNDING),
                            .power_cap_w = request->power_cap_w * (1 + PLAN_ROUNDING),
                            .least_s = request->least_s,
                            .allowed = request->allowed};
    for (int i = 0; i < work->num_devices; i++) {
        const plan_device *device = &work->devices[i];
        limits.most[i] = request->allowed == NULL || request->allowed[device->given] ? device->most : 0;
        limits.last_level[i] = device->num_levels - 1;
    }
    return limits;
}

plan_cost search_offer(const plan_work *work, const search_limits *limits, const int64_t *units, const int *levels, search_best *best)
{
    plan_result *candidate = &(plan_result){.feasible = 1};
    for (int i = 0; i < work->num_devices; i++) {
        const plan_device *device = &work->devices[i];
        candidate->units[device->given] = units[i];
        candidate->levels[device->given] = device->levels[units[i] > 0 ? levels[i] : device->parked].given;
    }
    candidate->cost = plan_cost_of(work, candidate->units, candidate->levels);
    if (candidate->cost.time_s > limits->deadline_s || candidate->cost.peak_w > limits->power_cap_w) return candidate->cost;
    if (!plan_better(work, limits->objective, candidate, &best->result)) return candidate->cost;
    candidate->nodes = best->result.nodes;
    best->result = *candidate;
    best->value = plan_objective_value(limits->objective, &candidate->cost);
    return candidate->cost;
}

/* NaN if the dynamic power of any phase is not known. */
static double dynamic_power(const yoke_plan_problem *problem, const yoke_plan_level *level)
{
    if (problem->round == NULL) return level->dynamic_power_w;
    for (int64_t p = 0; p < problem->round->num_phases; p++)
        if (!level->phases[p].absent && isnan(level->phases[p].dynamic_power_w)) return NAN;
    return 0;
}

/* Fails if a power that the request needs is not known, and names the device. */
static yoke_status check_powers(plan_work *work, const plan_request *request)
{
    if ((request->objective == YOKE_OBJECTIVE_TIME && isinf(request->power_cap_w)) || work->powers_known) return YOKE_OK;
    static const char why[] = "give it, or ask for least time without a power cap";
    if (isnan(work->base_w)) return yoke_fail(work->context, YOKE_ERROR_ARGUMENT, "plan: the base power is not known; %s", why);
    if (isnan(work->host_overhead_w))
        return yoke_fail(work->context, YOKE_ERROR_ARGUMENT,
                         "plan: the host overhead (host_overhead_w, in files hosting_power_w) is not known; %s", why);
    for (int64_t i = 0; i < work->problem->num_devices; i++) {
        const yoke_plan_device *device = &work->problem->devices[i];
        for (int64_t k = 0; k < device->num_levels; k++)
            if (isnan(dynamic_power(work->problem, &device->levels[k])) || isnan(device->levels[k].idle_power_w))
                return yoke_fail(work->context, YOKE_ERROR_ARGUMENT, "plan: device %lld (%s), level %lld: its %s power is not known; %s",
                                 (long long)i, device->name != NULL ? device->name : "without a name", (long long)k,
                                 isnan(dynamic_power(work->problem, &device->levels[k])) ? "dynamic" : "idle", why);
    }
    return YOKE_OK;
}

/* A search has its own number of nodes while the total of all searches lasts, then only few. */
static void allow_nodes(plan_work *work)
{
    const int64_t few = 200, left = work->max_nodes - work->nodes, most = work->options.max_nodes;
    work->search_nodes = work->stopped ? 1 : left < most ? left : most;
    if (!work->stopped && work->search_nodes < few) work->search_nodes = few < most ? few : most;
}

/*
 * Offers all units on one device, at each level.  Bounds use for all choices the seconds that a device takes while others work; only a
 * device that works alone takes less.  Once these choices are offered, a bound that is not below the best value excludes no better choice.
 * The search for rounds also begins with them.
 */
static void offer_single(const plan_work *work, const search_limits *limits, search_best *best)
{
    int64_t units[PLAN_MAX_DEVICES] = {0};
    int levels[PLAN_MAX_DEVICES] = {0};
    for (int i = 0; i < work->num_devices; i++) {
        if (limits->most[i] < work->units) continue;
        units[i] = work->units;
        for (levels[i] = limits->first_level[i]; levels[i] <= limits->last_level[i]; levels[i]++)
            search_offer(work, limits, units, levels, best);
        units[i] = 0;
    }
}

static yoke_status search_one(plan_work *work, const search_limits *limits, search_best *best)
{
    allow_nodes(work);
    if (work->several) return search_round(work, limits, best);
    if (work->disturbed) offer_single(work, limits, best);
    if (limits->objective == YOKE_OBJECTIVE_TIME && isinf(limits->power_cap_w) && !work->copies_before) {
        search_least_time(work, limits, best);
        return YOKE_OK;
    }
    return search_ranges(work, limits, best);
}

/* Least time, then least energy within that time. */
static yoke_status search_time(plan_work *work, const search_limits *limits, search_best *best)
{
    yoke_status status = search_one(work, limits, best);
    if (status != YOKE_OK || !best->result.feasible || !work->powers_known) return status;
    search_limits again = *limits;
    again.objective = YOKE_OBJECTIVE_ENERGY;
    again.deadline_s = fmin(limits->deadline_s, best->result.cost.time_s * (1 + PLAN_ROUNDING)); /* sums of copies and work are rounded */
    search_best cheaper = {.result = best->result, .value = best->result.cost.energy_j};
    status = search_one(work, &again, &cheaper);
    if (status != YOKE_OK) return status;
    plan_result first = best->result;
    best->result = cheaper.result;
    best->result.optimal = first.optimal;
    best->result.gap = first.gap;
    return YOKE_OK;
}

/*
 * For other objectives a part of the nodes is used to prove a bound of the least time, which bounds them, too.  The choice that is found is
 * offered first.
 */
static yoke_status bound_time(plan_work *work, search_limits *limits, search_best *best)
{
    enum { FEW_DEVICES = 3, PART = 8 };
    if (!work->several || limits->least_s > 0 || work->num_devices <= FEW_DEVICES) return YOKE_OK;
    search_limits time = *limits;
    time.objective = YOKE_OBJECTIVE_TIME;
    allow_nodes(work);
    work->search_nodes = 1 + work->search_nodes / PART;
    search_best first = {.value = INFINITY};
    yoke_status status = search_round(work, &time, &first);
    best->result.nodes += first.result.nodes;
    if (status != YOKE_OK || !first.result.feasible) return status;
    const int64_t nodes = best->result.nodes;
    if (!isnan(first.result.gap)) limits->least_s = first.result.cost.time_s * (1 - first.result.gap) * (1 - 2 * PLAN_ROUNDING);
    *best = first;
    best->result.nodes = nodes;
    best->value = plan_objective_value(limits->objective, &best->result.cost);
    return YOKE_OK;
}

static yoke_status search_any(plan_work *work, const search_limits *limits, search_best *best)
{
    if (limits->objective == YOKE_OBJECTIVE_TIME) return search_time(work, limits, best);
    search_limits bounded = *limits;
    yoke_status status = bound_time(work, &bounded, best);
    return status != YOKE_OK ? status : search_one(work, &bounded, best);
}

/* The least power cap under which the deadline can be met, by bisection over least times; INFINITY: there is none. */
static yoke_status least_cap(plan_work *work, search_limits limits, double *cap)
{
    limits.objective = YOKE_OBJECTIVE_TIME;
    limits.power_cap_w = INFINITY;
    search_best best = {.value = INFINITY};
    yoke_status status = search_time(work, &limits, &best);
    *cap = best.result.feasible ? best.result.cost.peak_w : INFINITY;
    double low = 0;
    while (status == YOKE_OK && isfinite(*cap) && *cap - low > 1e-9 * *cap) {
        limits.power_cap_w = low + (*cap - low) / 2;
        best = (search_best){.value = INFINITY};
        status = search_one(work, &limits, &best);
        if (best.result.feasible)
            *cap = fmin(best.result.cost.peak_w, limits.power_cap_w);
        else
            low = limits.power_cap_w;
    }
    return status;
}

/* Finds out why there is no choice, deadline or power cap, and the nearest value of this limit that can be met. */
static yoke_status diagnose(plan_work *work, const search_limits *limits, search_best *none)
{
    plan_result *result = &none->result;
    search_limits relaxed = *limits;
    relaxed.objective = YOKE_OBJECTIVE_TIME;
    relaxed.deadline_s = relaxed.power_cap_w = INFINITY;
    search_best best = {.value = INFINITY};
    yoke_status status = search_one(work, &relaxed, &best);
    if (status == YOKE_OK && !best.result.feasible) {
        result->binding = "kernel"; /* only a round can lack kernels; otherwise a search that finds no choice proves nothing */
        return YOKE_OK;
    }
    int too_late = best.result.feasible && best.result.cost.time_s > limits->deadline_s;
    if (status == YOKE_OK && too_late && isfinite(limits->power_cap_w)) {
        relaxed.power_cap_w = limits->power_cap_w;
        best = (search_best){.value = INFINITY};
        status = search_one(work, &relaxed, &best);
        too_late = best.result.feasible;
        relaxed.power_cap_w = INFINITY;
    }
    if (status != YOKE_OK) return status;
    if (too_late) {
        result->binding = "deadline";
        result->nearest = best.result.cost.time_s;
        return YOKE_OK;
    }
    /* Without the cap the deadline can be met; or the cap cannot be kept even without the deadline. */
    result->binding = "power-cap";
    none->late = !best.result.feasible;
    if (best.result.feasible) relaxed.deadline_s = limits->deadline_s;
    status = least_cap(work, relaxed, &result->nearest);
    return status;
}

static int64_t fitting(const plan_work *work, const search_limits *limits)
{
    int64_t sum = 0;
    for (int i = 0; i < work->num_devices && sum < work->units; i++) sum += limits->most[i];
    return sum;
}

yoke_status search_request(plan_work *work, const plan_request *request, search_best *best)
{
    yoke_status status = YOKE_OK;
    search_limits limits = limits_of(work, request);
    plan_result *result = &best->result;
    int64_t fit = fitting(work, &limits);
    if (fit < work->units) {
        result->binding = "memory";
        result->nearest = (double)fit;
        return YOKE_OK;
    }
    if (work->units == 0 && work->problem->round == NULL) {
        int64_t none[PLAN_MAX_DEVICES] = {0};
        search_offer(work, &limits, none, limits.first_level, best);
        result->optimal = result->feasible;
        return YOKE_OK;
    }
    status = search_any(work, &limits, best);
    if (status != YOKE_OK || result->feasible || best->open) return status;
    return diagnose(work, &limits, best);
}

yoke_status plan_search(plan_work *work, const plan_request *request, plan_result *result)
{
    static const plan_result none = {.gap = NAN, .binding = "", .nearest = NAN};
    search_best best = {.result = none, .value = INFINITY};
    *result = none;
    yoke_status status = check_powers(work, request);
    if (status == YOKE_OK) status = work->overheads ? search_overheads(work, request, &best) : search_request(work, request, &best);
    if (status != YOKE_OK) return status;
    *result = best.result;
    if (!result->feasible) return YOKE_OK;
    result->binding = "";
    result->nearest = NAN;
    return YOKE_OK;
}
