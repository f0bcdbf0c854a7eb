#include "plan_checks.h"

#include "unit.h"

#include <math.h>

#include "random_problem.h"

static const double exact = 1e-9;

void check_fails(const checked *of, const char *form, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, form);
    vsnprintf(text, sizeof text, form, arguments);
    va_end(arguments);
    printf("\n/* problem %lld: %s */\n", (long long)of->number, text);
    random_problem_print(of->problem, of->options);
    fflush(stdout);
    fail_msg("problem %lld: %s", (long long)of->number, text);
}

bool check_near(double a, double b, double relative) { return a == b || fabs(a - b) <= relative * fmax(fabs(a), fabs(b)); }

yoke_plan *check_create(yoke_context *context, const checked *of)
{
    yoke_plan *plan = NULL;
    yoke_status status = yoke_plan_create(context, of->problem, of->options, &plan);
    if (status) check_fails(of, "status %d: %s", (int)status, yoke_last_error(context));
    return plan;
}

/* ----------------------------------------------------------------------------------------------------- one choice */

brute_cost check_choice(const checked *of, const yoke_plan_choice *choice)
{
    const yoke_plan_problem *problem = of->problem;
    int64_t sum = 0;
    for (int64_t i = 0; i < problem->num_devices; i++) {
        const yoke_plan_device *device = &problem->devices[i];
        int64_t units = choice->units[i], level = choice->levels[i];
        if (units < 0 || units > device->max_units || units > problem->units - sum)
            check_fails(of, "%s has %lld units", device->name, (long long)units);
        if (level < 0 || level >= device->num_levels) check_fails(of, "%s is at level %lld", device->name, (long long)level);
        if (units == 0 && !brute_parks_anywhere(problem, device) &&
            device->levels[level].idle_power_w != device->levels[brute_parked(device)].idle_power_w)
            check_fails(of, "%s is parked at level %lld", device->name, (long long)level);
        sum += units;
    }
    if (sum != problem->units) check_fails(of, "%lld units in all", (long long)sum);
    brute_cost cost = brute_evaluate(problem, choice->units, choice->levels);
    if (!check_near(choice->time_s, cost.time_s, exact)) check_fails(of, "time %.17g, not %.17g", choice->time_s, cost.time_s);
    if (!check_near(choice->energy_j, cost.energy_j, exact)) check_fails(of, "energy %.17g, not %.17g", choice->energy_j, cost.energy_j);
    if (!check_near(choice->peak_power_w, cost.peak_power_w, exact))
        check_fails(of, "peak power %.17g, not %.17g", choice->peak_power_w, cost.peak_power_w);
    return cost;
}

/* -------------------------------------------------------------------------------------------------------- the best */

/*
 * Without a choice: which constraint cannot be met, and what of it could be if all others stay.  A deadline that could be met without the power cap
 * makes the cap the one to change, unless that cannot be kept at all.
 */
static void check_nearest(const checked *of, const brute_list *list, const yoke_plan *plan)
{
    const yoke_plan_problem *problem = of->problem;
    const char *binding = "power-cap";
    double cap = of->options->power_cap_w > 0 ? of->options->power_cap_w : INFINITY;
    double deadline = of->options->deadline_s > 0 ? of->options->deadline_s : INFINITY, nearest = 0;
    if (list->count == 0) {
        int64_t room = 0;
        for (int64_t i = 0; i < problem->num_devices; i++) room += problem->devices[i].max_units;
        binding = "memory";
        nearest = (double)room;
    } else if (brute_best(list, YOKE_OBJECTIVE_TIME, (brute_limits){INFINITY, INFINITY})->time_s <= deadline) {
        nearest = brute_least_power(list, deadline * (1 + exact));
    } else if (brute_least_power(list, INFINITY) > cap) {
        nearest = brute_least_power(list, INFINITY);
    } else {
        binding = "deadline";
        nearest = brute_best(list, YOKE_OBJECTIVE_TIME, (brute_limits){INFINITY, cap * (1 + exact)})->time_s;
    }
    if (strcmp(plan->binding, binding) != 0) check_fails(of, "%s is said to bind, and not %s", plan->binding, binding);
    if (!check_near(plan->nearest, nearest, 4 * exact)) check_fails(of, "nearest %s %.17g, not %.17g", binding, plan->nearest, nearest);
}

void check_best(const checked *of, const brute_list *list, const yoke_plan *plan)
{
    yoke_objective objective = of->options->objective;
    brute_limits loose = brute_limits_of(of->options, list, exact);
    const brute_cost *upper = brute_best(list, objective, brute_limits_of(of->options, list, -exact)),
                     *lower = brute_best(list, objective, loose);
    if (plan->objective != objective || plan->num_devices != of->problem->num_devices) check_fails(of, "a plan for something else");
    if (!plan->feasible) {
        if (upper != NULL) check_fails(of, "nothing found, where %.17g s are possible", upper->time_s);
        check_nearest(of, list, plan);
        return;
    }
    if (lower == NULL) check_fails(of, "%.17g s, where nothing is possible", plan->best.time_s);
    brute_cost cost = check_choice(of, &plan->best);
    if (!plan->best.feasible || plan->binding[0] != '\0') check_fails(of, "feasible, and not so");
    if (cost.time_s > loose.time_s || cost.peak_power_w > loose.power_w)
        check_fails(of, "%.17g s at %.17g W", cost.time_s, cost.peak_power_w);
    double value = brute_value(objective, &cost), gap = plan->optimal ? 0 : plan->gap;
    if (plan->optimal && plan->gap != 0) check_fails(of, "optimal with a gap of %.17g", plan->gap);
    if (upper != NULL && !isnan(gap) && value * (1 - gap) > brute_value(objective, upper) * (1 + exact) + 1e-300)
        check_fails(of, "%.17g with a gap of %.17g, where %.17g is possible (%.17g s, %.17g J)", value, gap, brute_value(objective, upper),
                    upper->time_s, upper->energy_j);
    if (objective != YOKE_OBJECTIVE_TIME || !plan->optimal || of->options->max_nodes > 0) return;
    /* Of all that take least time the one with least energy. */
    const brute_cost *frugal = brute_best(list, YOKE_OBJECTIVE_ENERGY,
                                          (brute_limits){cost.time_s * (1 + 1e-13), brute_limits_of(of->options, list, -exact).power_w});
    if (frugal != NULL && cost.energy_j > frugal->energy_j * (1 + exact))
        check_fails(of, "%.17g J in least time, where %.17g are possible", cost.energy_j, frugal->energy_j);
}

/* ------------------------------------------------------------------------------------------------------- the front */

void check_front(const checked *of, const brute_list *list, const yoke_plan *plan, brute_cost *scratch)
{
    brute_limits loose = brute_limits_of(of->options, list, exact);
    for (int64_t k = 0; k < plan->num_front; k++) {
        brute_cost cost = check_choice(of, &plan->front[k]);
        if (cost.time_s > loose.time_s || cost.peak_power_w > loose.power_w) check_fails(of, "point %lld is not allowed", (long long)k);
        if (k > 0 && !(plan->front[k].time_s > plan->front[k - 1].time_s && plan->front[k].energy_j < plan->front[k - 1].energy_j))
            check_fails(of, "point %lld is dominated by the one before", (long long)k);
    }
    if (!plan->front_optimal) return;
    int64_t count = brute_front(list, brute_limits_of(of->options, list, -exact), scratch);
    for (int64_t k = 0; k < count; k++) {
        int64_t f = 0;
        while (f < plan->num_front && !(plan->front[f].time_s <= scratch[k].time_s * (1 + exact) &&
                                        plan->front[f].energy_j <= scratch[k].energy_j * (1 + exact) + 1e-300))
            f++;
        if (f == plan->num_front) check_fails(of, "%.17g s and %.17g J are missing on the front", scratch[k].time_s, scratch[k].energy_j);
    }
    count = brute_front(list, loose, scratch);
    for (int64_t f = 0; f < plan->num_front; f++)
        for (int64_t k = 0; k < count; k++)
            if (scratch[k].time_s < plan->front[f].time_s * (1 - exact) && scratch[k].energy_j < plan->front[f].energy_j * (1 - exact))
                check_fails(of, "point %lld of the front is dominated by %.17g s and %.17g J", (long long)f, scratch[k].time_s,
                            scratch[k].energy_j);
}
