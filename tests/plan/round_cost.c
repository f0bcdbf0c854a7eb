/* What rounds of phases cost: by hand, against the formulas of yoke/plan.h written a second time, and as problems without a round; what is refused. */
#include "context.h"

#include <math.h>

#include "brute_round.h"
#include "random_problem.h"

static yoke_plan_choice evaluate(const yoke_plan_problem *problem, const int64_t *units, const int64_t *levels)
{
    yoke_plan_choice choice = {.time_s = -1};
    assert_int_equal(yoke_plan_evaluate(context, problem, NULL, units, levels, &choice), YOKE_OK);
    return choice;
}

static void assert_near(double value, double expected)
{
    if (isnan(expected) ? isnan(value) : value == expected || fabs(value - expected) <= 1e-12 * fabs(expected)) return;
    print_error("%.17g instead of %.17g\n", value, expected);
    fail();
}

/* Two devices, 10 units; a fine phase (1 and 3 s a unit), a coarse one of 3 units (5 and 4 s a unit, start 1 s on b). */
typedef struct pair {
    yoke_plan_time a[3], b[3];
    yoke_plan_level levels[2];
    yoke_plan_device devices[2];
    yoke_phase phases[3];
    int64_t cut_units[2];
    yoke_round round;
    yoke_plan_problem problem;
} pair;

static pair *pair_of(void)
{
    static pair p;
    p = (pair){0};
    p.a[0] = (yoke_plan_time){.seconds_per_unit = 1, .dynamic_power_w = 1};
    p.b[0] = (yoke_plan_time){.seconds_per_unit = 3, .dynamic_power_w = 2};
    p.a[1] = (yoke_plan_time){.seconds_per_unit = 5, .dynamic_power_w = 4};
    p.b[1] = (yoke_plan_time){.seconds_per_unit = 4, .start_seconds = 1, .dynamic_power_w = 8};
    p.a[2] = p.b[2] = (yoke_plan_time){.seconds_per_unit = 1, .dynamic_power_w = 1};
    p.levels[0] = (yoke_plan_level){.frequency_hz = NAN, .idle_power_w = 16, .phases = p.a};
    p.levels[1] = (yoke_plan_level){.frequency_hz = NAN, .idle_power_w = 32, .phases = p.b};
    p.devices[0] = (yoke_plan_device){.name = "a", .host = 1, .num_levels = 1, .levels = &p.levels[0], .max_units = INT64_MAX};
    p.devices[1] = (yoke_plan_device){.name = "b", .num_levels = 1, .levels = &p.levels[1], .max_units = INT64_MAX};
    p.phases[0] = (yoke_phase){.work = "fine", .calls = 2, .units = 10, .barrier = 1};
    p.phases[1] = (yoke_phase){.work = "coarse", .calls = 1, .units = 3, .barrier = 1};
    p.phases[2] = (yoke_phase){.work = "third", .calls = 1, .units = 10};
    p.cut_units[0] = p.cut_units[1] = 10;
    p.round = (yoke_round){.num_cuts = 1, .cut_units = p.cut_units, .num_phases = 2, .phases = p.phases};
    p.problem = (yoke_plan_problem){.base_power_w = 64, .host_overhead_w = 128, .num_devices = 2, .devices = p.devices, .round = &p.round};
    return &p;
}

static void each_interval_lasts_as_long_as_its_longest_device(void **state)
{
    (void)state;
    pair *p = pair_of();
    const int64_t units[] = {7, 3};
    /* Fine: 2 x 7 and 2 x 9 s.  Coarse: round(3 x 7 / 10) = 2 units, 10 s, and 1 unit, 5 s. */
    yoke_plan_choice choice = evaluate(&p->problem, units, NULL);
    assert_near(choice.time_s, 18 + 10);
    assert_near(choice.energy_j, (64 + 16 + 32) * 28 + 14 * 1 + 18 * 2 + 10 * 4 + 5 * 8 + 128 * 4);
    assert_near(choice.peak_power_w, 64 + 16 + 32 + 4 + 8 + 128); /* in the second interval */
    assert_true(choice.feasible);
    p->phases[0].barrier = 0; /* one interval: 24 and 23 s */
    choice = evaluate(&p->problem, units, NULL);
    assert_near(choice.time_s, 24);
    assert_near(choice.energy_j, (64 + 16 + 32) * 24 + 14 * 1 + 18 * 2 + 10 * 4 + 5 * 8);
    p->phases[1].call_seconds = 0.5;
    p->phases[0].call_seconds = 0.25;
    assert_near(evaluate(&p->problem, units, NULL).time_s, 24 + 0.5 + 2 * 0.25);
}

static void copies_come_before_all_or_before_the_first_interval(void **state)
{
    (void)state;
    pair *p = pair_of();
    const int64_t units[] = {7, 3};
    p->devices[0].copy_seconds = 1;          /* its set-up */
    p->devices[0].copy_seconds_per_unit = 1; /* 8 s */
    p->devices[1].copy_seconds_per_unit = 1; /* 3 s */
    p->devices[1].copy_joules_per_unit = 7;
    yoke_plan_choice choice = evaluate(&p->problem, units, NULL); /* 22 and 21 s in the first interval */
    assert_near(choice.time_s, 22 + 10);
    assert_near(choice.energy_j, (64 + 16 + 32) * 32 + 14 * 1 + 18 * 2 + 10 * 4 + 5 * 8 + 128 * 4 + 7 * 3);
    p->problem.copies_before = 1;
    assert_near(evaluate(&p->problem, units, NULL).time_s, 8 + 18 + 10);
}

static void a_phase_may_belong_to_one_device_and_keeps_it_at_work(void **state)
{
    (void)state;
    pair *p = pair_of();
    const int64_t all_on_a[] = {10, 0};
    p->devices[1].removable = 1;
    yoke_plan_choice choice = evaluate(&p->problem, all_on_a, NULL);
    assert_near(choice.time_s, 20 + 15);
    assert_near(choice.energy_j, (64 + 16) * 35 + 20 + 15 * 4); /* b draws nothing */
    p->phases[1].cut = -1;
    p->phases[1].device = 1;
    choice = evaluate(&p->problem, all_on_a, NULL);
    assert_near(choice.time_s, 20 + 13);
    assert_near(choice.energy_j, (64 + 16 + 32) * 33 + 20 + 13 * 8 + 128 * 13);
}

static void parts_of_weighted_phases_follow_the_weights_before_each_range(void **state)
{
    (void)state;
    pair *p = pair_of();
    const double sum[] = {0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 8}; /* 5 units without weight, then 1 1 1 1 4 */
    const int64_t units[] = {7, 3};
    p->phases[1].weight_sum = sum;
    p->phases[1].units = 4; /* a: 4 x 2/8 = 1, b: 3 */
    assert_near(evaluate(&p->problem, units, NULL).time_s, 18 + 13);
    const int64_t other[] = {5, 5}; /* a has none of it */
    assert_near(evaluate(&p->problem, other, NULL).time_s, 30 + 17);
}

static void each_cut_divides_its_own_phases(void **state)
{
    (void)state;
    pair *p = pair_of();
    const int64_t units[] = {7, 3, 2, 8};
    p->round.num_cuts = 2;
    p->round.num_phases = 3;
    p->phases[2].cut = 1;
    assert_near(evaluate(&p->problem, units, NULL).time_s, 18 + 10 + 8);
    p->devices[1].max_units = 3; /* of the first cut */
    assert_true(evaluate(&p->problem, units, NULL).feasible);
    p->devices[1].max_units = 2;
    assert_false(evaluate(&p->problem, units, NULL).feasible);
}

static void a_choice_without_a_kernel_or_not_whole_costs_nothing_known(void **state)
{
    (void)state;
    pair *p = pair_of();
    const int64_t units[] = {7, 3}, few[] = {9, 1}, short_of[] = {7, 2}, too_many[] = {7, 4};
    p->b[1].absent = 1;
    yoke_plan_choice choice = evaluate(&p->problem, units, NULL);
    assert_true(isnan(choice.time_s) && isnan(choice.energy_j) && isnan(choice.peak_power_w) && !choice.feasible);
    choice = evaluate(&p->problem, few, NULL); /* 0.3 of the 3 coarse units: none */
    assert_near(choice.time_s, 18 + 15);
    assert_true(choice.feasible);
    assert_true(isnan(evaluate(&p->problem, short_of, NULL).time_s) && isnan(evaluate(&p->problem, too_many, NULL).time_s));
}

static void uncertainties_of_a_devices_phases_add_and_those_of_devices_are_independent(void **state)
{
    (void)state;
    pair *p = pair_of();
    const int64_t units[] = {7, 3};
    p->problem.base_power_w = p->problem.host_overhead_w = p->levels[0].idle_power_w = p->levels[1].idle_power_w = 0;
    p->a[0].time_uncertainty = 0.1; /* 14 s +- 1.4: not as late as 18 s */
    p->a[1].time_uncertainty = 0.2; /* 10 s +- 2 */
    p->b[0].power_uncertainty = 0.5;
    yoke_plan_choice choice = evaluate(&p->problem, units, NULL);
    assert_near(choice.time_uncertainty_s, 2);
    const double of_a = 14 * 0.1 + 40 * 0.2, of_b = 36 * 0.5;
    assert_near(choice.energy_uncertainty_j, sqrt(of_a * of_a + of_b * of_b));
}

/* Seconds and joules at work are those of each phase times its factor; copies take what they take. */
static void a_device_that_is_alone_takes_its_factor_of_each_phase(void **state)
{
    (void)state;
    pair *p = pair_of();
    const int64_t all_on_a[] = {10, 0}, nearly[] = {9, 1};
    p->a[0].alone_factor = 0.5;
    p->b[0].alone_factor = 0.25;
    p->devices[0].copy_seconds = 3;
    yoke_plan_choice choice = evaluate(&p->problem, all_on_a, NULL); /* 20 s become 10; 15 s stay */
    assert_near(choice.time_s, 3 + 10 + 15);
    assert_near(choice.energy_j, (64 + 16 + 32) * 28 + 10 * 1 + 15 * 4);
    assert_near(evaluate(&p->problem, nearly, NULL).time_s, 3 + 18 + 15); /* 0.3 of a coarse unit: b has none, and disturbs all the same */
    p->phases[1].cut = -1;
    p->phases[1].device = 1;
    assert_near(evaluate(&p->problem, all_on_a, NULL).time_s, 3 + 20 + 13); /* b is at work in another interval */
    p->phases[1].device = 0;
    assert_near(evaluate(&p->problem, all_on_a, NULL).time_s, 3 + 10 + 15);
}

/* Costs of random choices, against the second writing. */
static void random_rounds_cost_what_the_formulas_say(void **state)
{
    (void)state;
    int64_t several = 0, missing = 0;
    for (int64_t number = 0; number < 3000; number++) {
        static random_round drawn;
        random_round_draw(number, 1e9, &drawn);
        const int64_t devices = drawn.problem.num_devices;
        random_state random = {(uint64_t)number * 0x9e3779b97f4a7c15u + 5};
        for (int k = 0; k < 4; k++) {
            int64_t units[ROUND_CUTS * ROUND_DEVICES], levels[ROUND_DEVICES];
            for (int64_t c = 0; c < drawn.round.num_cuts; c++)
                for (int64_t i = 0, left = drawn.cut_units[c]; i < devices; i++) {
                    units[c * devices + i] = i + 1 == devices ? left : random_whole(&random, 0, left);
                    left -= units[c * devices + i];
                }
            for (int64_t i = 0; i < devices; i++) levels[i] = random_whole(&random, 0, drawn.devices[i].num_levels - 1);
            brute_cost expected = brute_round_evaluate(&drawn.problem, units, levels);
            /* A device without work is parked, whatever its level is said to be. */
            yoke_plan_choice choice = evaluate(&drawn.problem, units, levels);
            assert_near(choice.time_s, expected.time_s);
            assert_near(choice.energy_j, expected.energy_j);
            assert_near(choice.peak_power_w, expected.peak_power_w);
            several += drawn.round.num_phases > 1;
            missing += isnan(expected.time_s);
        }
    }
    assert_true(several > 3000 && missing > 50);
}

/* A round of one phase is the problem without a round (devices are summed in another order). */
static void a_round_of_one_phase_is_the_problem_without_one(void **state)
{
    (void)state;
    static plan_random drawn;
    static yoke_plan_time times[PLAN_RANDOM_DEVICES][PLAN_RANDOM_LEVELS];
    for (int64_t number = 0; number < 1000; number++) {
        int64_t units[PLAN_RANDOM_DEVICES], levels[PLAN_RANDOM_DEVICES], sum = 0;
        random_problem_draw(number, 1e9, &drawn);
        random_choice_draw(number, &drawn.problem, units, levels);
        for (int64_t i = 0; i < drawn.problem.num_devices; i++) sum += units[i];
        units[0] += drawn.problem.units - sum;
        const yoke_plan_choice without = evaluate(&drawn.problem, units, levels);
        const yoke_phase phase = {.calls = drawn.problem.repetitions, .units = drawn.problem.units, .barrier = (int)(number % 2)};
        const yoke_round round = {.num_cuts = 1, .cut_units = &drawn.problem.units, .num_phases = 1, .phases = &phase};
        for (int64_t i = 0; i < drawn.problem.num_devices; i++)
            for (int64_t l = 0; l < drawn.devices[i].num_levels; l++) {
                yoke_plan_level *level = &drawn.levels[i][l];
                times[i][l] = (yoke_plan_time){.seconds_per_unit = level->seconds_per_unit,
                                               .start_seconds = level->start_seconds,
                                               .dynamic_power_w = level->dynamic_power_w,
                                               .alone_factor = level->alone_factor,
                                               .num_points = level->num_points,
                                               .points = level->points};
                *level = (yoke_plan_level){.frequency_hz = level->frequency_hz,
                                           .idle_power_w = level->idle_power_w,
                                           .phases = &times[i][l],
                                           .host_overhead_w = level->host_overhead_w};
            }
        drawn.problem.round = &round;
        const yoke_plan_choice with = evaluate(&drawn.problem, units, levels);
        assert_near(with.time_s, without.time_s);
        assert_near(with.energy_j, without.energy_j);
        assert_near(with.peak_power_w, without.peak_power_w);
        assert_true(with.feasible == without.feasible);
    }
}

static void refused(const pair *p, const char *part)
{
    const int64_t units[] = {7, 3, 5, 5};
    yoke_plan_choice choice;
    assert_int_equal(yoke_plan_evaluate(context, &p->problem, NULL, units, NULL, &choice), YOKE_ERROR_ARGUMENT);
    if (strstr(yoke_last_error(context), part) == NULL) fail_msg("\"%s\" is not in \"%s\"", part, yoke_last_error(context));
}

static void rounds_outside_the_contract_are_refused_by_phase_and_number(void **state)
{
    (void)state;
    pair *p = pair_of();
    p->phases[1].calls = 0;
    refused(p, "phase 1 (coarse): calls is 0");
    p = pair_of();
    p->phases[0].calls = NAN;
    refused(p, "phase 0 (fine): calls is nan");
    p = pair_of();
    p->phases[1].cut = 1;
    refused(p, "phase 1 (coarse): cut is 1");
    p = pair_of();
    p->phases[1].cut = -1;
    p->phases[1].device = 2;
    refused(p, "phase 1 (coarse): device is 2");
    p = pair_of();
    p->phases[1].units = -1;
    refused(p, "phase 1 (coarse): units is -1");
    p = pair_of();
    p->phases[1].call_seconds = -1;
    refused(p, "call_seconds is -1");
    p = pair_of();
    p->cut_units[0] = 0;
    refused(p, "phase 0 (fine): units is 10; it must be 0, since its cut has no units");
    p = pair_of();
    p->cut_units[0] = INT64_MAX;
    refused(p, "cut 0 has 9223372036854775807 units");
    p = pair_of();
    p->round.num_cuts = 5;
    refused(p, "5 cuts; it must have 1 to 4");
    p = pair_of();
    p->round.num_phases = 0;
    refused(p, "0 phases; it must have 1 to 64");
    p = pair_of();
    p->levels[1].phases = NULL;
    refused(p, "device b, level 0: phases is NULL");
    p = pair_of();
    p->b[1].seconds_per_unit = 0;
    refused(p, "device b, level 0, phase 1 (coarse): seconds_per_unit is 0");
    p = pair_of();
    p->a[0].time_uncertainty = -1;
    refused(p, "device a, level 0, phase 0 (fine): time_uncertainty is -1");
    p = pair_of();
    p->b[1].time_uncertainty = NAN;
    refused(p, "device b, level 0, phase 1 (coarse): time_uncertainty is nan");
    p = pair_of();
    p->b[1].power_uncertainty = NAN;
    refused(p, "device b, level 0, phase 1 (coarse): power_uncertainty is nan");
    p = pair_of();
    p->levels[1].power_uncertainty = NAN;
    refused(p, "device b, level 0: power_uncertainty is nan");
    p = pair_of();
    p->a[1].alone_factor = 1.5;
    refused(p, "device a, level 0, phase 1 (coarse): alone_factor is 1.5");
    p = pair_of();
    p->phases[1].cut = -1;
    p->phases[1].device = 1;
    p->b[1].absent = 1;
    refused(p, "phase 1 (coarse): its device 1 (b) has no kernel for it");
}

static void weights_outside_the_contract_are_refused_by_their_number(void **state)
{
    (void)state;
    static const struct {
        double sum[11];
        const char *part;
    } cases[] = {{{1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, "weight_sum[0] is 1"},
                 {{0, 1, 2, 1, 4, 5, 6, 7, 8, 9, 10}, "weight_sum[3] is 1"},
                 {{0, 1, 2, 3, NAN, 5, 6, 7, 8, 9, 10}, "weight_sum[4] is nan"},
                 {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1e300}, "weight_sum[10] is 1e+300"},
                 {{0}, "the sum of all weights is 0"}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        pair *p = pair_of();
        p->phases[1].weight_sum = cases[k].sum;
        refused(p, cases[k].part);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_interval_lasts_as_long_as_its_longest_device),
    cmocka_unit_test(copies_come_before_all_or_before_the_first_interval),
    cmocka_unit_test(a_phase_may_belong_to_one_device_and_keeps_it_at_work),
    cmocka_unit_test(parts_of_weighted_phases_follow_the_weights_before_each_range),
    cmocka_unit_test(each_cut_divides_its_own_phases),
    cmocka_unit_test(a_choice_without_a_kernel_or_not_whole_costs_nothing_known),
    cmocka_unit_test(uncertainties_of_a_devices_phases_add_and_those_of_devices_are_independent),
    cmocka_unit_test(a_device_that_is_alone_takes_its_factor_of_each_phase),
    cmocka_unit_test(random_rounds_cost_what_the_formulas_say),
    cmocka_unit_test(a_round_of_one_phase_is_the_problem_without_one),
    cmocka_unit_test(rounds_outside_the_contract_are_refused_by_phase_and_number),
    cmocka_unit_test(weights_outside_the_contract_are_refused_by_their_number),
};

UNIT_MAIN(tests, context_start, context_end)
