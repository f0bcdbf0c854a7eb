/* What yoke_plan_create and yoke_plan_evaluate accept and refuse, what they say where constraints cannot be met, and that no memory is lost. */
#include "context.h"

#include <math.h>

#include "base/failing.h"
#include "yoke/plan.h"

/* Two devices: 1 and 2 s per unit, 10 and 2 W above idle powers of 3 and 1 W; 30 units. */
typedef struct pair {
    yoke_plan_level levels[3];
    yoke_plan_device devices[2];
    yoke_plan_problem problem;
} pair;

static pair *pair_of(void **state);

static void fill(pair *p)
{
    *p = (pair){0};
    p->levels[0] = (yoke_plan_level){.frequency_hz = 2e9, .seconds_per_unit = 1, .dynamic_power_w = 10, .idle_power_w = 3};
    p->levels[1] = (yoke_plan_level){.frequency_hz = 1e9, .seconds_per_unit = 2, .dynamic_power_w = 2, .idle_power_w = 1};
    p->levels[2] = (yoke_plan_level){.frequency_hz = 5e8, .seconds_per_unit = 4, .dynamic_power_w = 1.5, .idle_power_w = 0.5};
    p->devices[0] = (yoke_plan_device){.name = "fast", .host = 1, .num_levels = 1, .levels = &p->levels[0], .max_units = INT64_MAX};
    p->devices[1] = (yoke_plan_device){.name = "slow", .num_levels = 2, .levels = &p->levels[1], .max_units = INT64_MAX};
    p->problem = (yoke_plan_problem){.units = 30, .repetitions = 1, .base_power_w = 5, .num_devices = 2, .devices = p->devices};
}

static pair shared;

static pair *pair_of(void **state)
{
    (void)state;
    fill(&shared);
    return &shared;
}

static yoke_plan *create(const yoke_plan_problem *problem, yoke_plan_options options)
{
    yoke_plan *plan = NULL;
    assert_int_equal(yoke_plan_create(context, problem, &options, &plan), YOKE_OK);
    assert_non_null(plan);
    return plan;
}

/* The text of the failure must hold `part`. */
static void refused(const pair *p, const yoke_plan_options *options, const char *part)
{
    yoke_plan *plan = (yoke_plan *)1;
    assert_int_equal(yoke_plan_create(context, &p->problem, options, &plan), YOKE_ERROR_ARGUMENT);
    assert_null(plan);
    if (strstr(yoke_last_error(context), part) == NULL) fail_msg("\"%s\" is not in \"%s\"", part, yoke_last_error(context));
}

static void numbers_outside_the_contract_are_refused_by_name(void **state)
{
    static const double wrong[] = {-1, INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++) {
        pair *p = pair_of(state);
        p->levels[1].seconds_per_unit = wrong[k];
        refused(p, NULL, "device slow, level 0: seconds_per_unit");
        p = pair_of(state);
        p->levels[2].start_seconds = wrong[k];
        refused(p, NULL, "device slow, level 1: start_seconds");
        p = pair_of(state);
        p->levels[0].dynamic_power_w = wrong[k];
        refused(p, NULL, "device fast, level 0: dynamic_power_w");
        p = pair_of(state);
        p->levels[0].idle_power_w = wrong[k];
        refused(p, NULL, "idle_power_w");
        p = pair_of(state);
        p->levels[0].power_uncertainty = wrong[k];
        refused(p, NULL, "power_uncertainty");
        p = pair_of(state);
        p->devices[1].copy_seconds_per_unit = wrong[k];
        refused(p, NULL, "copy_seconds_per_unit");
        p = pair_of(state);
        p->problem.base_power_w = wrong[k];
        refused(p, NULL, "base_power_w");
        p = pair_of(state);
        p->problem.repetitions = wrong[k];
        refused(p, NULL, "repetitions");
    }
    pair *p = pair_of(state);
    p->levels[0].time_uncertainty = NAN;
    refused(p, NULL, "time_uncertainty");
    p = pair_of(state);
    p->levels[2].power_uncertainty = NAN;
    refused(p, NULL, "device slow, level 1: power_uncertainty is nan");
    const double no_factor[] = {NAN, -0.5, 1.001, INFINITY};
    for (int k = 0; k < 4; k++) {
        p = pair_of(state);
        p->levels[1].alone_factor = no_factor[k];
        refused(p, NULL, "device slow, level 0: alone_factor");
    }
    p = pair_of(state);
    p->devices[0].copy_joules_per_unit = NAN;
    refused(p, NULL, "copy_joules_per_unit");
}

static void counts_outside_the_contract_are_refused(void **state)
{
    pair *p = pair_of(state);
    p->problem.units = -1;
    refused(p, NULL, "units is -1");
    p->problem.units = INT64_C(1000000000000000001);
    refused(p, NULL, "10^18");
    p = pair_of(state);
    p->devices[0].num_levels = 0;
    refused(p, NULL, "has no level");
    p = pair_of(state);
    p->devices[0].max_units = -3;
    refused(p, NULL, "max_units is -3");
    p = pair_of(state);
    p->problem.num_devices = 65;
    refused(p, NULL, "from 1 to 64");
    p->problem.num_devices = 0;
    refused(p, NULL, "from 1 to 64");
    static yoke_plan_level many[5000];
    for (int k = 0; k < 5000; k++) many[k] = (yoke_plan_level){.frequency_hz = NAN, .seconds_per_unit = 1};
    p = pair_of(state);
    p->devices[1].levels = many;
    p->devices[1].num_levels = 5000;
    refused(p, NULL, "4096 levels");
}

static void points_outside_the_contract_are_refused_by_number(void **state)
{
    static const double equal[] = {1, 1, 2, 2, 2, 3}, negative[] = {1, 1, 2, -1}, zero[] = {0, 1}, unknown[] = {1, 1, NAN, 2};
    pair *p = pair_of(state);
    p->levels[1].points = equal;
    p->levels[1].num_points = 3;
    refused(p, NULL, "device slow, level 0, point 2");
    p->levels[1].points = negative;
    p->levels[1].num_points = 2;
    refused(p, NULL, "point 1");
    p->levels[1].points = zero;
    p->levels[1].num_points = 1;
    refused(p, NULL, "point 0");
    p->levels[1].points = unknown;
    p->levels[1].num_points = 2;
    refused(p, NULL, "point 1");
    p->levels[1].points = NULL;
    refused(p, NULL, "num_points");
    p->levels[1].num_points = -1;
    refused(p, NULL, "num_points");
}

static void options_outside_the_contract_are_refused(void **state)
{
    pair *p = pair_of(state);
    refused(p, &(yoke_plan_options){.objective = (yoke_objective)7}, "objective 7");
    refused(p, &(yoke_plan_options){.deadline_s = -1}, "deadline_s");
    refused(p, &(yoke_plan_options){.deadline_s = NAN}, "deadline_s");
    refused(p, &(yoke_plan_options){.max_slowdown = 0.5}, "max_slowdown");
    refused(p, &(yoke_plan_options){.power_cap_w = INFINITY}, "power_cap_w");
    refused(p, &(yoke_plan_options){.max_nodes = -1}, "max_nodes");
}

static void energy_needs_powers_and_names_what_is_missing(void **state)
{
    pair *p = pair_of(state);
    p->levels[2].dynamic_power_w = NAN;
    refused(p, &(yoke_plan_options){.objective = YOKE_OBJECTIVE_ENERGY}, "device 1 (slow), level 1: its dynamic power is not known");
    refused(p, &(yoke_plan_options){.power_cap_w = 100}, "dynamic power is not known");
    yoke_plan *plan = create(&p->problem, (yoke_plan_options){.bare = 1});
    assert_true(plan->feasible && plan->optimal);
    assert_true(fabs(plan->best.time_s - 20) < 1e-12);
    assert_int_equal(plan->best.units[0], 20);
    yoke_release(context, plan);
    p = pair_of(state);
    p->problem.base_power_w = NAN;
    refused(p, &(yoke_plan_options){.objective = YOKE_OBJECTIVE_EDP}, "base power");
    plan = create(&p->problem, (yoke_plan_options){.bare = 1});
    assert_true(isnan(plan->best.energy_j) && isnan(plan->best.peak_power_w));
    yoke_release(context, plan);
}

static void a_plan_is_as_the_formulas_say(void **state)
{
    pair *p = pair_of(state);
    yoke_plan *plan = create(&p->problem, (yoke_plan_options){0});
    assert_int_equal(plan->objective, YOKE_OBJECTIVE_TIME);
    assert_int_equal(plan->num_devices, 2);
    assert_string_equal(plan->best.name, "best");
    assert_string_equal(plan->binding, "");
    assert_true(isnan(plan->nearest) && plan->gap == 0 && plan->optimal);
    assert_int_equal(plan->best.units[0] + plan->best.units[1], 30);
    assert_int_equal(plan->best.levels[1], 0);
    /* 20 units on each side of 1 and 2 s: 20 s; (5 + 3 + 1) W x 20 s + 10 W x 20 s + 2 W x 20 s */
    assert_true(fabs(plan->best.time_s - 20) < 1e-12);
    assert_true(fabs(plan->best.energy_j - 420) < 1e-9);
    assert_true(fabs(plan->best.peak_power_w - 21) < 1e-12);
    assert_true(plan->best.time_uncertainty_s == 0 && plan->best.energy_uncertainty_j == 0);
    assert_non_null(plan->decision);
    yoke_release(context, plan);
}

/*
 * Shared, 30 units take 20 s (20 and 10 of them), E = 9 x 20 + 10 x 20 + 2 x 20 = 420 J.  The fast device alone takes 30 s times its factor, and
 * 19 W: at 0.6 it is the faster one, at 0.7 (21 s, 399 J) it takes less energy only, at 0.75 (22.5 s, 427.5 J) it is neither.
 */
static void one_device_alone_is_weighed_by_what_it_takes_alone(void **state)
{
    static const struct {
        double factor;
        int alone[2];
        double value[2];
    } cases[] = {{0, {0, 0}, {20, 420}}, {0.6, {1, 1}, {18, 342}}, {0.7, {0, 1}, {20, 399}}, {0.75, {0, 0}, {20, 420}}};
    for (int k = 0; k < 8; k++) {
        const int c = k / 2, objective = k % 2;
        pair *p = pair_of(state);
        p->devices[1].num_levels = 1;
        p->levels[0].alone_factor = cases[c].factor;
        yoke_plan *plan = create(&p->problem, (yoke_plan_options){.objective = objective ? YOKE_OBJECTIVE_ENERGY : YOKE_OBJECTIVE_TIME});
        assert_true(plan->feasible && plan->optimal && plan->gap == 0);
        assert_int_equal(plan->best.units[0] == 30, cases[c].alone[objective]);
        assert_float_equal(objective ? plan->best.energy_j : plan->best.time_s, cases[c].value[objective], 1e-12);
        yoke_release(context, plan);
    }
    pair *p = pair_of(state); /* where only the device alone is in time */
    p->levels[0].alone_factor = 0.6;
    yoke_plan *plan = create(&p->problem, (yoke_plan_options){.objective = YOKE_OBJECTIVE_ENERGY, .deadline_s = 18.5});
    assert_true(plan->feasible && plan->optimal && plan->best.units[0] == 30);
    yoke_release(context, plan);
    plan = create(&p->problem, (yoke_plan_options){.objective = YOKE_OBJECTIVE_ENERGY, .deadline_s = 17});
    assert_true(!plan->feasible && strcmp(plan->binding, "deadline") == 0);
    assert_float_equal(plan->nearest, 18, 1e-12);
    yoke_release(context, plan);
}

static void no_units_take_nothing(void **state)
{
    pair *p = pair_of(state);
    p->problem.units = 0;
    for (int objective = YOKE_OBJECTIVE_TIME; objective <= YOKE_OBJECTIVE_ED2P; objective++) {
        yoke_plan *plan = create(&p->problem, (yoke_plan_options){.objective = (yoke_objective)objective, .pareto = 1});
        assert_true(plan->feasible && plan->optimal);
        assert_true(plan->best.time_s == 0 && plan->best.energy_j == 0);
        assert_int_equal(plan->best.units[0] + plan->best.units[1], 0);
        assert_int_equal(plan->best.levels[1], 1); /* of least idle power */
        yoke_release(context, plan);
    }
}

static void what_cannot_be_met_is_named_with_the_nearest_value(void **state)
{
    pair *p = pair_of(state);
    yoke_plan *plan = create(&p->problem, (yoke_plan_options){.objective = YOKE_OBJECTIVE_ENERGY, .deadline_s = 19});
    assert_false(plan->feasible);
    assert_string_equal(plan->binding, "deadline");
    assert_true(fabs(plan->nearest - 20) < 1e-9);
    assert_true(isnan(plan->best.time_s));
    assert_int_equal(plan->best.units[0], 0);
    yoke_release(context, plan);
    /* The least draw is the slow device at its second level: 5 + 3 + 0.5 + 1.5 W */
    plan = create(&p->problem, (yoke_plan_options){.power_cap_w = 9.9});
    assert_string_equal(plan->binding, "power-cap");
    assert_true(fabs(plan->nearest - 10) < 1e-6);
    yoke_release(context, plan);
    /* Within 59 s the slow device alone is too slow (60 s): the fast one must work, beside the other parked: 5 + 3 + 10 + 0.5 W. */
    plan = create(&p->problem, (yoke_plan_options){.power_cap_w = 15, .deadline_s = 59});
    assert_string_equal(plan->binding, "power-cap");
    assert_true(fabs(plan->nearest - 18.5) < 1e-6);
    yoke_release(context, plan);
    p->devices[0].max_units = 7;
    p->devices[1].max_units = 8;
    plan = create(&p->problem, (yoke_plan_options){.objective = YOKE_OBJECTIVE_ENERGY});
    assert_string_equal(plan->binding, "memory");
    assert_true(plan->nearest == 15);
    yoke_release(context, plan);
}

static void a_slowdown_is_of_the_least_time_under_the_cap(void **state)
{
    pair *p = pair_of(state);
    /* Under 18.6 W the fast device alone is the fastest: 30 s; the slow one takes 60 s. */
    yoke_plan *plan =
        create(&p->problem, (yoke_plan_options){.objective = YOKE_OBJECTIVE_ENERGY, .power_cap_w = 18.6, .max_slowdown = 1.9});
    assert_true(plan->feasible);
    assert_true(fabs(plan->best.time_s - 30) < 1e-9);
    yoke_release(context, plan);
    plan = create(&p->problem, (yoke_plan_options){.objective = YOKE_OBJECTIVE_TIME, .max_slowdown = 1});
    assert_true(plan->feasible && fabs(plan->best.time_s - 20) < 1e-12);
    yoke_release(context, plan);
}

static void evaluating_checks_units_and_levels(void **state)
{
    pair *p = pair_of(state);
    yoke_plan_choice choice;
    const int64_t units[] = {10, 20}, negative[] = {31, -1}, few[] = {10, 10}, levels[] = {0, 1}, wrong[] = {0, 2};
    assert_int_equal(yoke_plan_evaluate(context, &p->problem, NULL, units, levels, &choice), YOKE_OK);
    assert_true(choice.feasible && choice.units == units && choice.levels == levels);
    assert_true(fabs(choice.time_s - 80) < 1e-12);
    assert_true(fabs(choice.energy_j - (8.5 * 80 + 100 + 120)) < 1e-9);
    assert_int_equal(yoke_plan_evaluate(context, &p->problem, &(yoke_plan_options){.deadline_s = 79}, units, levels, &choice), YOKE_OK);
    assert_false(choice.feasible);
    assert_int_equal(yoke_plan_evaluate(context, &p->problem, NULL, few, NULL, &choice), YOKE_OK);
    assert_false(choice.feasible);
    assert_int_equal(yoke_plan_evaluate(context, &p->problem, NULL, negative, NULL, &choice), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_plan_evaluate(context, &p->problem, NULL, units, wrong, &choice), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_plan_evaluate(context, &p->problem, NULL, NULL, NULL, &choice), YOKE_ERROR_ARGUMENT);
    p->devices[1].max_units = 19;
    assert_int_equal(yoke_plan_evaluate(context, &p->problem, NULL, units, levels, &choice), YOKE_OK);
    assert_false(choice.feasible);
}

static void null_arguments_are_refused(void **state)
{
    pair *p = pair_of(state);
    yoke_plan *plan;
    assert_int_equal(yoke_plan_create(context, NULL, NULL, &plan), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_plan_create(context, &p->problem, NULL, NULL), YOKE_ERROR_ARGUMENT);
    yoke_release(context, NULL);
}

static void uncertainties_follow_the_devices(void **state)
{
    pair *p = pair_of(state);
    p->levels[0].time_uncertainty = 0.02;
    p->levels[0].power_uncertainty = 0.03;
    const int64_t units[] = {30, 0};
    yoke_plan_choice choice;
    assert_int_equal(yoke_plan_evaluate(context, &p->problem, NULL, units, NULL, &choice), YOKE_OK);
    assert_true(fabs(choice.time_uncertainty_s - 0.6) < 1e-12);
    /* 300 J of work (2 and 3 %), 90 J idle (3 %), 8.5 W over 0.6 s more or less */
    double squares = 300.0 * 300 * (0.02 * 0.02 + 0.03 * 0.03) + 90.0 * 90 * 0.03 * 0.03 + 8.5 * 0.6 * 8.5 * 0.6;
    assert_true(fabs(choice.energy_uncertainty_j - sqrt(squares)) < 1e-9);
}

static void no_memory_is_lost_where_allocations_fail(void **state)
{
    pair *p = pair_of(state);
    static const double points[] = {1, 2, 10, 15, 20, 40};
    p->levels[2].points = points;
    p->levels[2].num_points = 3;
    failing memory = {0};
    yoke_options options = failing_options(&memory);
    yoke_context *limited;
    assert_int_equal(yoke_context_create(&options, &limited), YOKE_OK);
    int64_t before = memory.outstanding, failed = 0;
    const yoke_plan_options all = {.objective = YOKE_OBJECTIVE_ENERGY, .pareto = 1, .max_slowdown = 1.5, .power_cap_w = 21};
    for (int64_t skip = 1;; skip++) {
        yoke_plan *plan = NULL;
        memory.fail_at = memory.calls + skip;
        yoke_status status = yoke_plan_create(limited, &p->problem, &all, &plan);
        memory.fail_at = 0;
        if (status == YOKE_OK) {
            yoke_release(limited, plan);
            assert_int_equal(memory.outstanding, before);
            break;
        }
        failed++;
        assert_int_equal(status, YOKE_ERROR_MEMORY);
        assert_null(plan);
        assert_int_equal(memory.outstanding, before);
    }
    assert_true(failed > 10);
    yoke_context_destroy(limited);
}

static void the_front_is_ascending_in_time_and_falling_in_energy(void **state)
{
    pair *p = pair_of(state);
    /* Without idle powers each unit that the slow device takes saves 6 J, from 20 s to 60 s by steps of 2 s. */
    p->problem.base_power_w = p->levels[0].idle_power_w = p->levels[1].idle_power_w = p->levels[2].idle_power_w = 0;
    yoke_plan *plan = create(&p->problem, (yoke_plan_options){.objective = YOKE_OBJECTIVE_ENERGY, .pareto = 1, .bare = 1});
    assert_int_equal(plan->num_front, 21);
    assert_true(fabs(plan->front[20].energy_j - 120) < 1e-9);
    assert_true(plan->front_optimal);
    assert_true(fabs(plan->front[0].time_s - 20) < 1e-12);
    for (int64_t k = 1; k < plan->num_front; k++) {
        assert_true(plan->front[k].time_s > plan->front[k - 1].time_s);
        assert_true(plan->front[k].energy_j < plan->front[k - 1].energy_j);
    }
    assert_true(fabs(plan->front[plan->num_front - 1].energy_j - plan->best.energy_j) < 1e-9);
    yoke_release(context, plan);
}

static void huge_numbers_do_not_break_a_plan(void **state)
{
    pair *p = pair_of(state);
    p->problem.units = INT64_C(1000000000000000000);
    for (int objective = YOKE_OBJECTIVE_TIME; objective <= YOKE_OBJECTIVE_ED2P; objective++) {
        yoke_plan *plan = create(&p->problem, (yoke_plan_options){.objective = (yoke_objective)objective});
        assert_true(plan->feasible && plan->gap < 1e-8);
        assert_int_equal(plan->best.units[0] + plan->best.units[1], p->problem.units);
        yoke_release(context, plan);
    }
    p->levels[1].seconds_per_unit = p->levels[2].seconds_per_unit = 1e300;
    refused(p, NULL, "too large");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(numbers_outside_the_contract_are_refused_by_name),
    cmocka_unit_test(counts_outside_the_contract_are_refused),
    cmocka_unit_test(points_outside_the_contract_are_refused_by_number),
    cmocka_unit_test(options_outside_the_contract_are_refused),
    cmocka_unit_test(energy_needs_powers_and_names_what_is_missing),
    cmocka_unit_test(a_plan_is_as_the_formulas_say),
    cmocka_unit_test(one_device_alone_is_weighed_by_what_it_takes_alone),
    cmocka_unit_test(no_units_take_nothing),
    cmocka_unit_test(what_cannot_be_met_is_named_with_the_nearest_value),
    cmocka_unit_test(a_slowdown_is_of_the_least_time_under_the_cap),
    cmocka_unit_test(evaluating_checks_units_and_levels),
    cmocka_unit_test(null_arguments_are_refused),
    cmocka_unit_test(uncertainties_follow_the_devices),
    cmocka_unit_test(no_memory_is_lost_where_allocations_fail),
    cmocka_unit_test(the_front_is_ascending_in_time_and_falling_in_energy),
    cmocka_unit_test(huge_numbers_do_not_break_a_plan),
};

UNIT_MAIN(tests, context_start, context_end)
