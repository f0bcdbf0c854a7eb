/* The oracle of the tests of plans itself: published and hand-made cases with known answers, and random problems two ways. */
#include "unit.h"

#include <math.h>

#include "brute_force.h"
#include "random_problem.h"

static const brute_limits any = {INFINITY, INFINITY};

static void assert_near(double value, double expected, double relative)
{
    if (fabs(value - expected) <= relative * fabs(expected)) return;
    print_error("%.15g instead of %.15g\n", value, expected);
    fail();
}

/* Lang and Ruenger 2014, section 4.3: the published rule takes the GPU alone for 402.467 uJ per element, sharing needs 354.77. */
static void sharing_beats_the_gpu_alone_where_the_published_rule_takes_it_alone(void **state)
{
    (void)state;
    const double idle = 84.3, t_cpu = 1.7e-6, t_gpu = 1.69e-6;
    const yoke_plan_level cpu = {.seconds_per_unit = t_cpu, .dynamic_power_w = 450e-6 / t_cpu - idle, .idle_power_w = idle};
    const yoke_plan_level gpu = {.seconds_per_unit = t_gpu, .dynamic_power_w = 260e-6 / t_gpu - 78, .idle_power_w = 78};
    const yoke_plan_device devices[] = {
        {.name = "cpu", .host = 1, .num_levels = 1, .levels = &cpu, .max_units = INT64_MAX},
        {.name = "gpu", .removable = 1, .num_levels = 1, .levels = &gpu, .max_units = INT64_MAX},
    };
    const yoke_plan_problem problem = {.units = 1000, .repetitions = 1, .num_devices = 2, .devices = devices};
    const int64_t levels[] = {0, 0}, gpu_only[] = {0, 1000}, cpu_only[] = {1000, 0}, shared[] = {498, 502};
    assert_near(brute_evaluate(&problem, gpu_only, levels).energy_j, 0.402467, 1e-12);
    assert_near(brute_evaluate(&problem, cpu_only, levels).energy_j, 0.45, 1e-12);
    brute_list list;
    assert_true(brute_force(&problem, &list));
    assert_int_equal(list.count, 1001);
    const brute_cost *best = brute_best(&list, YOKE_OBJECTIVE_ENERGY, any);
    assert_near(best->energy_j, 0.354770054, 1e-9); /* golden.json, lr.case2_exact: at 502 of 1000 */
    assert_near(brute_evaluate(&problem, shared, levels).energy_j, best->energy_j, 1e-14);
    brute_free(&list);
}

/* PEACH, tables V and VI: shares of the GPU for least time and least energy. */
static void peach_table_6_is_reproduced_on_a_grid_of_1_percent(void **state)
{
    (void)state;
    static const struct {
        double base, gpu_rate, gpu_power, host_overhead_w, energy_at_0, energy_at_1;
        int fastest, frugal;
    } systems[] = {
        {165.7, 1052.4, 128.6, 30, 1.3825938566552902, 0.3081527936145952, 79, 100},
        {201.39999999999998, 302.53, 117.8, 28, 1.5044368600682594, 1.1476547780385415, 51, 51},
    };
    for (int s = 0; s < 2; s++) {
        const yoke_plan_level cpu = {.seconds_per_unit = 0.01 / 293, .dynamic_power_w = 239.4};
        const yoke_plan_level gpu = {.seconds_per_unit = 0.01 / systems[s].gpu_rate, .dynamic_power_w = systems[s].gpu_power};
        const yoke_plan_device devices[] = {
            {.name = "cpu", .host = 1, .num_levels = 1, .levels = &cpu, .max_units = INT64_MAX},
            {.name = "gpu", .num_levels = 1, .levels = &gpu, .max_units = INT64_MAX},
        };
        const yoke_plan_problem problem = {.units = 100,
                                           .repetitions = 1,
                                           .base_power_w = systems[s].base,
                                           .host_overhead_w = systems[s].host_overhead_w,
                                           .num_devices = 2,
                                           .devices = devices};
        brute_list list;
        assert_true(brute_force(&problem, &list));
        const int64_t levels[] = {0, 0};
        for (int k = 0; k < 2; k++) {
            int64_t share = k ? systems[s].frugal : systems[s].fastest;
            const int64_t units[] = {100 - share, share};
            yoke_objective objective = k ? YOKE_OBJECTIVE_ENERGY : YOKE_OBJECTIVE_TIME;
            const brute_cost *best = brute_best(&list, objective, any), cost = brute_evaluate(&problem, units, levels);
            assert_near(brute_value(objective, best), brute_value(objective, &cost), 1e-14);
        }
        const int64_t host_only[] = {100, 0}, gpu_only[] = {0, 100};
        assert_near(brute_evaluate(&problem, host_only, levels).energy_j, systems[s].energy_at_0, 1e-12);
        assert_near(brute_evaluate(&problem, gpu_only, levels).energy_j, systems[s].energy_at_1, 1e-12);
        brute_free(&list);
    }
}

static void speeds_are_linear_between_points_and_seconds_never_fall(void **state)
{
    (void)state;
    /* Speeds 10 up to 50 units, 20 from 60 on: 5 s at 50, 3 s at 60. */
    const double rising[] = {50, 5, 60, 3, 200, 10};
    const yoke_plan_level level = {.num_points = 3, .points = rising};
    assert_near(brute_seconds(&level, 1), 0.1, 1e-15);
    assert_near(brute_seconds(&level, 50), 5, 1e-15);
    assert_near(brute_seconds(&level, 55), 5, 1e-15); /* 55 / 15 < 5 */
    assert_near(brute_seconds(&level, 100), 5, 1e-15);
    assert_near(brute_seconds(&level, 101), 5.05, 1e-15);
    assert_near(brute_seconds(&level, 400), 20, 1e-15);
    assert_true(brute_seconds(&level, 0) == 0);
    const double falling[] = {100, 5, 200, 25};
    const yoke_plan_level slower = {.num_points = 2, .points = falling};
    assert_near(brute_seconds(&slower, 10), 0.5, 1e-15);
    assert_near(brute_seconds(&slower, 150), 150.0 / 14, 1e-15);
    assert_near(brute_seconds(&slower, 300), 37.5, 1e-15);
}

/* Functional models of golden.json (B and C; D as it is when repaired) by exhaustion, or dynamic programming where that is too much. */
static void least_times_of_functional_models_are_those_known(void **state)
{
    (void)state;
    static const double b1[] = {1, 0.1}, b2[] = {100, 5, 200, 25};
    static const double c1[] = {1, 0.2, 50, 50.0 / 30, 300, 10}, c2[] = {1, 1.0 / 60, 100, 100.0 / 60, 150, 10},
                        c3[] = {1, 1.0 / 12, 400, 40};
    static const double d2[] = {50, 5, 60, 3, 200, 10};
    const struct {
        const double *points[3];
        int64_t counts[3], units;
        double seconds;
    } cases[] = {{{b1, b2}, {1, 2}, 200, 7.464454976}, {{c1, c2, c3}, {3, 3, 2}, 300, 4.080102258}, {{b1, d2}, {1, 3}, 105, 5}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        yoke_plan_level level[3] = {{0}};
        yoke_plan_device devices[3] = {{0}};
        int64_t count = 0;
        for (; count < 3 && cases[k].points[count] != NULL; count++) {
            level[count] = (yoke_plan_level){.num_points = cases[k].counts[count], .points = cases[k].points[count]};
            devices[count] = (yoke_plan_device){.num_levels = 1, .levels = &level[count], .max_units = INT64_MAX};
        }
        const yoke_plan_problem problem = {.units = cases[k].units, .repetitions = 1, .num_devices = count, .devices = devices};
        assert_near(brute_least_time(&problem), cases[k].seconds, 1e-9);
        brute_list list;
        assert_true(brute_force(&problem, &list));
        assert_near(brute_best(&list, YOKE_OBJECTIVE_TIME, any)->time_s, cases[k].seconds, 1e-9);
        brute_free(&list);
    }
}

/* One unit each on a host (3 s) and an accelerator (8 s, and 1 s to copy), every power another power of two. */
static void times_energies_and_powers_add_up_as_by_hand(void **state)
{
    (void)state;
    const yoke_plan_level host[] = {{.seconds_per_unit = 2, .start_seconds = 1, .dynamic_power_w = 1, .idle_power_w = 4},
                                    {.seconds_per_unit = 2, .start_seconds = 1, .dynamic_power_w = 1, .idle_power_w = 2}};
    const yoke_plan_level gpu = {.seconds_per_unit = 7, .start_seconds = 1, .dynamic_power_w = 8, .idle_power_w = 16};
    yoke_plan_device devices[] = {
        {.name = "cpu", .host = 1, .num_levels = 2, .levels = host, .max_units = INT64_MAX},
        {.name = "gpu",
         .num_levels = 1,
         .levels = &gpu,
         .copy_seconds = 0.25,
         .copy_seconds_per_unit = 0.75,
         .copy_joules_per_unit = 0.5,
         .max_units = 9},
    };
    yoke_plan_problem problem = {
        .units = 2, .repetitions = 1, .base_power_w = 32, .host_overhead_w = 64, .num_devices = 2, .devices = devices};
    const int64_t levels[] = {0, 0}, both[] = {1, 1}, gpu_only[] = {0, 2}, host_only[] = {2, 0};
    brute_cost cost = brute_evaluate(&problem, both, levels);
    assert_true(cost.time_s == 9 && cost.used == 2);
    assert_true(cost.energy_j == 32 * 9 + (4 + 16) * 9 + 1 * 3 + 8 * 8 + 0.5 + 64 * 5);
    assert_true(cost.peak_power_w == 32 + 4 + 1 + 16 + 8 + 64);
    problem.copies_before = 1;   /* the host has no copy: 1 + 8 */
    devices[0].copy_seconds = 2; /* now it has: 2 + 8 */
    assert_true(brute_evaluate(&problem, both, levels).time_s == 10);
    problem.copies_before = 0;
    assert_true(brute_evaluate(&problem, both, levels).time_s == 9);
    cost = brute_evaluate(&problem, gpu_only, levels); /* the host is parked at its second level */
    assert_true(cost.time_s == 16.75 && cost.peak_power_w == 32 + 2 + 16 + 8 + 64);
    assert_true(cost.energy_j == (32 + 2 + 16) * 16.75 + 8 * 15 + 1 + 64 * 15);
    devices[1].removable = 1;
    problem.repetitions = 3;
    cost = brute_evaluate(&problem, host_only, levels);
    assert_true(cost.time_s == 17 && cost.energy_j == (32 + 4) * 17 + 15 && cost.peak_power_w == 32 + 4 + 1);
}

static void constraints_and_fronts_are_those_of_all_choices(void **state)
{
    (void)state;
    brute_cost costs[] = {{4, 10, 50, 1}, {2, 30, 90, 2}, {3, 12, 70, 2}, {3, 15, 60, 2}, {5, 10, 40, 1}, {6, 5, 95, 1}}, front[6];
    const brute_list list = {.count = 6, .costs = costs};
    assert_true(brute_best(&list, YOKE_OBJECTIVE_TIME, any) == &costs[1]);
    assert_true(brute_best(&list, YOKE_OBJECTIVE_TIME, (brute_limits){INFINITY, 60}) == &costs[3]);
    assert_true(brute_best(&list, YOKE_OBJECTIVE_ENERGY, (brute_limits){5.5, INFINITY})->energy_j == 10);
    assert_true(brute_best(&list, YOKE_OBJECTIVE_EDP, any) == &costs[5]);
    assert_true(brute_best(&list, YOKE_OBJECTIVE_ED2P, any) == &costs[2]);
    assert_null(brute_best(&list, YOKE_OBJECTIVE_TIME, (brute_limits){INFINITY, 39}));
    assert_true(brute_least_power(&list, INFINITY) == 40 && brute_least_power(&list, 3.5) == 60);
    assert_int_equal(brute_front(&list, any, front), 4);
    assert_true(front[0].time_s == 2 && front[1].energy_j == 12 && front[2].time_s == 4 && front[3].time_s == 6);
    assert_int_equal(brute_front(&list, (brute_limits){5, 80}, front), 2);
}

static void dynamic_programming_agrees_with_all_choices(void **state)
{
    (void)state;
    for (int64_t number = 0; number < 300; number++) {
        static plan_random drawn;
        brute_list list;
        random_problem_draw(number, 3000, &drawn);
        assert_true(brute_force(&drawn.problem, &list));
        const brute_cost *best = brute_best(&list, YOKE_OBJECTIVE_TIME, any);
        double least = brute_least_time(&drawn.problem);
        if (best == NULL)
            assert_true(isinf(least));
        else
            assert_near(least, best->time_s, 1e-13);
        brute_free(&list);
    }
}

/* The generator is worth something only if its problems differ: splits, constraints that bind and that cannot be met, fronts with many points. */
static void random_problems_are_of_all_kinds(void **state)
{
    (void)state;
    enum { PROBLEMS = 1000 };
    int splits = 0, constrained = 0, impossible = 0, binding = 0, unfit = 0, points = 0, before = 0, long_fronts = 0;
    for (int64_t number = 0; number < PROBLEMS; number++) {
        static plan_random drawn;
        brute_list list;
        random_problem_draw(number, 3000, &drawn);
        assert_true(drawn.problem.num_devices >= 2 && drawn.problem.num_devices <= 6);
        assert_true(brute_force(&drawn.problem, &list));
        const brute_cost *best = brute_best(&list, YOKE_OBJECTIVE_ENERGY, any);
        yoke_plan_options options = {0};
        if (list.count > 0) random_constraints_draw(number, &list, &options);
        unfit += best == NULL;
        splits += best != NULL && best->used > 1;
        points += drawn.levels[0][0].num_points > 0;
        before += drawn.problem.copies_before != 0;
        if (options.power_cap_w > 0 && best != NULL) {
            const brute_cost *capped = brute_best(&list, YOKE_OBJECTIVE_ENERGY, (brute_limits){INFINITY, options.power_cap_w});
            constrained++;
            impossible += capped == NULL;
            binding += capped != NULL && capped->energy_j > best->energy_j;
        }
        brute_cost *front = malloc((size_t)(list.count + 1) * sizeof *front);
        assert_non_null(front);
        long_fronts += brute_front(&list, any, front) > 4;
        free(front);
        brute_free(&list);
    }
    print_message(
        "splits %d, points %d, copies before %d, do not fit %d, power caps %d (impossible %d, binding %d), long fronts %d of %d\n", splits,
        points, before, unfit, constrained, impossible, binding, long_fronts, PROBLEMS);
    assert_true(2 * splits >= PROBLEMS);
    assert_true(points > PROBLEMS / 5 && before > PROBLEMS / 5 && unfit > 5 && long_fronts > PROBLEMS / 5);
    assert_true(impossible > 5 && binding > constrained / 5);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sharing_beats_the_gpu_alone_where_the_published_rule_takes_it_alone),
    cmocka_unit_test(peach_table_6_is_reproduced_on_a_grid_of_1_percent),
    cmocka_unit_test(speeds_are_linear_between_points_and_seconds_never_fall),
    cmocka_unit_test(least_times_of_functional_models_are_those_known),
    cmocka_unit_test(times_energies_and_powers_add_up_as_by_hand),
    cmocka_unit_test(constraints_and_fronts_are_those_of_all_choices),
    cmocka_unit_test(dynamic_programming_agrees_with_all_choices),
    cmocka_unit_test(random_problems_are_of_all_kinds),
};

UNIT_MAIN(tests, NULL, NULL)
