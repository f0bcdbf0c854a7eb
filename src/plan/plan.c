/*
 * plan.c - the public functions: plans, their front, ties, and the cost of a given choice.
 */
#include <math.h>
#include <string.h>

#include "plan/keep.h"
#include "plan/plan.h"

/* The least time under the power cap, times the slowdown, is a deadline, too. */
static yoke_status request_with_slowdown(plan_work *work, plan_request *request)
{
    *request = plan_request_of(work);
    if (!(work->options.max_slowdown > 0)) return YOKE_OK;
    plan_request fastest = *request;
    fastest.objective = YOKE_OBJECTIVE_TIME;
    fastest.deadline_s = INFINITY;
    plan_result *result;
    yoke_status status = yoke_allocate(work->context, 1, sizeof *result, &result);
    if (status != YOKE_OK) return status;
    status = plan_search(work, &fastest, result);
    if (status == YOKE_OK && result->feasible) {
        request->deadline_s = fmin(request->deadline_s, work->options.max_slowdown * result->cost.time_s);
        request->least_s = isnan(result->gap) ? 0 : result->cost.time_s * (1 - result->gap) * (1 - 2 * PLAN_ROUNDING);
    }
    yoke_release(work->context, result);
    return status;
}

static yoke_status add_best(plan_work *work, const plan_request *request, plan_result *result, yoke_plan *plan)
{
    yoke_status status = plan_search(work, request, result);
    if (status != YOKE_OK) return status;
    plan->objective = request->objective;
    plan->num_devices = work->num_devices;
    plan->num_cuts = work->num_cuts;
    plan->feasible = result->feasible;
    plan->optimal = result->optimal;
    plan->gap = result->gap;
    plan->binding = result->binding;
    plan->nearest = result->nearest;
    plan->nodes = result->nodes;
    plan->decision = "";
    return plan_keep_choice(work, plan, "best", result, &plan->best);
}

/* Nonzero: the two objectives differ by no more than their combined uncertainty. */
static int equal_within_uncertainty(yoke_objective objective, const yoke_plan_choice *a, const yoke_plan_choice *b)
{
    plan_cost of_a = {a->time_s, a->energy_j, a->peak_power_w, a->time_uncertainty_s, a->energy_uncertainty_j};
    plan_cost of_b = {b->time_s, b->energy_j, b->peak_power_w, b->time_uncertainty_s, b->energy_uncertainty_j};
    double value_a = plan_objective_value(objective, &of_a), value_b = plan_objective_value(objective, &of_b);
    double half_a = plan_objective_uncertainty(objective, &of_a), half_b = plan_objective_uncertainty(objective, &of_b);
    return fabs(value_a - value_b) <= fmax(sqrt(half_a * half_a + half_b * half_b), PLAN_ROUNDING * fmax(fabs(value_a), fabs(value_b)));
}

static int working(const yoke_plan *plan, const yoke_plan_choice *choice)
{
    int count = 0;
    for (int64_t i = 0; i < plan->num_devices; i++) count += plan_has_units(plan, choice, i);
    return count;
}

int plan_has_units(const yoke_plan *plan, const yoke_plan_choice *choice, int64_t device)
{
    for (int64_t c = 0; c < plan->num_cuts; c++)
        if (choice->units[c * plan->num_devices + device] > 0) return 1;
    return 0;
}

int plan_same_choice(const yoke_plan *plan, const yoke_plan_choice *a, const yoke_plan_choice *b)
{
    for (int64_t k = 0; k < plan->num_cuts * plan->num_devices; k++)
        if (a->units[k] != b->units[k]) return 0;
    for (int64_t i = 0; i < plan->num_devices; i++)
        if (plan_has_units(plan, a, i) && a->levels[i] != b->levels[i]) return 0;
    return 1;
}

/* Among alternatives that are equal to the best within uncertainty, the fastest is chosen, then the one with fewest devices. */
static void break_tie(yoke_plan *plan)
{
    const yoke_plan_choice exact = plan->best;
    for (int64_t k = 0; k < plan->num_alternatives; k++) {
        const yoke_plan_choice *other = &plan->alternatives[k];
        if (!other->feasible || plan_same_choice(plan, other, &exact) || !equal_within_uncertainty(plan->objective, other, &exact))
            continue;
        plan->tie = 1;
        double margin = PLAN_ROUNDING * plan->best.time_s;
        int faster = other->time_s<plan->best.time_s - margin, slower = other->time_s> plan->best.time_s + margin;
        if (faster || (!slower && working(plan, other) < working(plan, &plan->best))) plan->best = *other;
    }
    if (!plan->tie || plan_same_choice(plan, &plan->best, &exact)) return;
    plan_cost cost = {.time_s = plan->best.time_s, .energy_j = plan->best.energy_j};
    plan_cost least = {.time_s = exact.time_s, .energy_j = exact.energy_j};
    double value = plan_objective_value(plan->objective, &cost), lowest = plan_objective_value(plan->objective, &least);
    if (value - lowest > PLAN_ROUNDING * fabs(value)) {
        plan->optimal = 0;
        plan->gap = 1 - (1 - plan->gap) * lowest / value;
    }
}

static yoke_status fill_plan(plan_work *work, yoke_plan *plan)
{
    plan_result *result;
    yoke_status status = yoke_allocate(work->context, 1, sizeof *result, &result);
    if (status != YOKE_OK) return status;
    plan_request request = {0};
    status = request_with_slowdown(work, &request);
    if (status == YOKE_OK) status = add_best(work, &request, result, plan);
    yoke_release(work->context, result);
    if (status == YOKE_OK && work->options.pareto && plan->feasible) status = plan_front(work, &request, plan);
    if (status != YOKE_OK || work->options.bare) return status;
    status = plan_alternatives(work, plan);
    if (status != YOKE_OK) return status;
    if (plan->feasible) break_tie(plan);
    return plan_explain(work, plan);
}

yoke_status yoke_plan_create(yoke_context *context, const yoke_plan_problem *problem, const yoke_plan_options *options, yoke_plan **plan)
{
    if (plan == NULL) return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_plan_create: plan is NULL");
    *plan = NULL;
    yoke_status status = plan_check(context, problem, options);
    if (status != YOKE_OK) return status;
    plan_work *work;
    status = plan_prepare(context, problem, options, &work);
    if (status != YOKE_OK) return status;
    yoke_plan *made = NULL;
    status = plan_store_create(context, &made);
    if (status == YOKE_OK) status = fill_plan(work, made);
    if (status == YOKE_OK) made->all_nodes = work->nodes;
    plan_work_destroy(work);
    if (status == YOKE_OK)
        *plan = made;
    else
        yoke_release(context, made);
    return status;
}

/* Reads units and levels.  *fits: sums and memory limits are kept; *divides: each cut of a round is divided completely. */
static yoke_status check_choice(plan_work *work, const int64_t *units, const int64_t *levels, int *fits, int *divides)
{
    *fits = *divides = 1;
    for (int64_t i = 0; i < work->num_devices; i++) {
        const yoke_plan_device *device = &work->problem->devices[i];
        if (levels != NULL && (levels[i] < 0 || levels[i] >= device->num_levels))
            return yoke_fail(work->context, YOKE_ERROR_ARGUMENT, "yoke_plan_evaluate: device %lld has no level %lld; it has %lld levels",
                             (long long)i, (long long)levels[i], (long long)device->num_levels);
        if (units[i] > device->max_units) *fits = 0;
    }
    for (int64_t k = 0; k < work->num_cuts * work->num_devices; k++)
        if (units[k] < 0)
            return yoke_fail(work->context, YOKE_ERROR_ARGUMENT, "yoke_plan_evaluate: device %lld has %lld units of cut %lld",
                             (long long)(k % work->num_devices), (long long)units[k], (long long)(k / work->num_devices));
    for (int c = 0; c < work->num_cuts; c++) {
        int64_t left = work->cut_units[c];
        for (int64_t i = 0; i < work->num_devices && left >= 0; i++) {
            int64_t n = units[c * work->num_devices + i];
            left = n > left ? -1 : left - n;
        }
        if (left != 0) *fits = 0;
        if (left != 0 && work->problem->round != NULL) *divides = 0;
    }
    return YOKE_OK;
}

static yoke_status evaluate(plan_work *work, const int64_t *units, const int64_t *levels, yoke_plan_choice *choice)
{
    static const int64_t first[PLAN_MAX_DEVICES];
    int fits, divides;
    yoke_status status = check_choice(work, units, levels, &fits, &divides);
    if (status != YOKE_OK) return status;
    if (levels == NULL) levels = first;
    plan_request request = plan_request_of(work);
    if (fits) status = request_with_slowdown(work, &request);
    if (status != YOKE_OK) return status;
    plan_cost cost = divides ? plan_cost_of(work, units, levels) : (plan_cost){NAN, NAN, NAN, NAN, NAN};
    choice->units = units;
    choice->levels = levels;
    choice->time_s = cost.time_s;
    choice->energy_j = cost.energy_j;
    choice->peak_power_w = cost.peak_w;
    choice->time_uncertainty_s = cost.time_uncertainty_s;
    choice->energy_uncertainty_j = cost.energy_uncertainty_j;
    double room = 1 + PLAN_ROUNDING;
    choice->feasible =
        fits && cost.time_s <= request.deadline_s * room && (isinf(request.power_cap_w) || cost.peak_w <= request.power_cap_w * room);
    return YOKE_OK;
}

yoke_status yoke_plan_evaluate(yoke_context *context, const yoke_plan_problem *problem, const yoke_plan_options *options,
                               const int64_t *units, const int64_t *levels, yoke_plan_choice *choice)
{
    if (units == NULL || choice == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_plan_evaluate: %s is NULL", units == NULL ? "units" : "choice");
    yoke_status status = plan_check(context, problem, options);
    if (status != YOKE_OK) return status;
    plan_work *work;
    status = plan_prepare(context, problem, options, &work);
    if (status != YOKE_OK) return status;
    status = evaluate(work, units, levels, choice);
    plan_work_destroy(work);
    return status;
}
