/* Plans for random problems, against an oracle that tries all choices. */
#include "state.h"

#include <math.h>

#include "brute_force.h"
#include "plan_checks.h"
#include "random_problem.h"

/* With sanitizers a part of all problems. */
#ifndef PROPERTY_PART
#define PROPERTY_PART 1
#endif

enum { MAX_CHOICES = 30000 };

static const brute_limits any = {INFINITY, INFINITY};

/* Draws problem `number` and all its choices. */
static void draw(int64_t number, double choices, plan_random *drawn, brute_list *list)
{
    random_problem_draw(number, choices, drawn);
    assert_true(brute_force(&drawn->problem, list));
}

static bool at_constant_speeds(const plan_random *drawn)
{
    for (int64_t i = 0; i < drawn->problem.num_devices; i++)
        for (int64_t l = 0; l < drawn->devices[i].num_levels; l++)
            if (drawn->levels[i][l].num_points > 0) return false;
    return true;
}

static void small_problems_are_solved_as_brute_force_does(void **state)
{
    enum { PROBLEMS = 10000 / PROPERTY_PART };
    int64_t splits = 0, plans = 0, linear = 0, linear_optimal = 0, optimal = 0;
    for (int64_t number = 0; number < PROBLEMS; number++) {
        static plan_random drawn;
        brute_list list;
        draw(number, MAX_CHOICES, &drawn, &list);
        const brute_cost *frugal = brute_best(&list, YOKE_OBJECTIVE_ENERGY, any);
        splits += frugal != NULL && frugal->used > 1;
        for (int objective = YOKE_OBJECTIVE_TIME; objective <= YOKE_OBJECTIVE_ED2P; objective++) {
            const yoke_plan_options options = {.objective = (yoke_objective)objective, .bare = 1};
            const checked of = {number, &drawn.problem, &options};
            yoke_plan *plan = check_create(*state, &of);
            check_best(&of, &list, plan);
            if (plan->feasible) {
                bool constant = at_constant_speeds(&drawn);
                plans++;
                optimal += plan->optimal;
                linear += constant;
                linear_optimal += constant && plan->optimal;
            }
            yoke_release(*state, plan);
        }
        brute_free(&list);
    }
    print_message("%lld of %d energy optima share; %lld of %lld plans are optimal, %lld of %lld at constant speeds\n", (long long)splits,
                  PROBLEMS, (long long)optimal, (long long)plans, (long long)linear_optimal, (long long)linear);
    assert_true(2 * splits >= PROBLEMS);
    assert_true((double)optimal >= 0.99 * (double)plans);
    assert_true(linear_optimal == linear);
}

static void constraints_are_kept_or_said_to_be_impossible(void **state)
{
    enum { PROBLEMS = 5000 / PROPERTY_PART };
    int64_t impossible = 0, optimal = 0;
    for (int64_t number = 20000; number < 20000 + PROBLEMS; number++) {
        static plan_random drawn;
        brute_list list;
        draw(number, MAX_CHOICES, &drawn, &list);
        yoke_plan_options options = {.objective = (yoke_objective)(number % 4), .bare = 1};
        random_constraints_draw(number, &list, &options);
        const checked of = {number, &drawn.problem, &options};
        yoke_plan *plan = check_create(*state, &of);
        check_best(&of, &list, plan);
        impossible += !plan->feasible;
        optimal += plan->optimal;
        yoke_release(*state, plan);
        brute_free(&list);
    }
    print_message("%lld of %d are impossible, %lld optimal\n", (long long)impossible, PROBLEMS, (long long)optimal);
    assert_true(impossible > PROBLEMS / 100);
    assert_true((double)optimal >= 0.99 * (double)(PROBLEMS - impossible));
}

static void fronts_are_those_of_brute_force(void **state)
{
    enum { PROBLEMS = 1500 / PROPERTY_PART };
    int64_t optimal = 0, points = 0, feasible = 0;
    for (int64_t number = 30000; number < 30000 + PROBLEMS; number++) {
        static plan_random drawn;
        brute_list list;
        draw(number, MAX_CHOICES, &drawn, &list);
        yoke_plan_options options = {.objective = (yoke_objective)(number % 4), .bare = 1, .pareto = 1};
        if (number % 3 == 0) random_constraints_draw(number, &list, &options);
        const checked of = {number, &drawn.problem, &options};
        yoke_plan *plan = check_create(*state, &of);
        brute_cost *scratch = malloc((size_t)(list.count + 1) * sizeof *scratch);
        assert_non_null(scratch);
        check_best(&of, &list, plan);
        if (plan->feasible) check_front(&of, &list, plan, scratch);
        if (!plan->feasible && plan->num_front > 0) check_fails(&of, "a front of what is impossible");
        feasible += plan->feasible;
        optimal += plan->feasible && plan->front_optimal;
        points += plan->num_front;
        free(scratch);
        yoke_release(*state, plan);
        brute_free(&list);
    }
    print_message("%lld of %lld fronts are optimal, %.1f points each\n", (long long)optimal, (long long)feasible,
                  (double)points / (double)feasible);
    assert_true((double)optimal >= 0.95 * (double)feasible);
    assert_true(points > 2 * feasible);
}

static void a_search_that_is_cut_short_states_an_honest_gap(void **state)
{
    enum { PROBLEMS = 3000 / PROPERTY_PART };
    int64_t optimal = 0, bounded = 0, feasible = 0, lost = 0;
    for (int64_t number = 35000; number < 35000 + PROBLEMS; number++) {
        static plan_random drawn;
        brute_list list;
        draw(number, MAX_CHOICES / 10, &drawn, &list);
        yoke_plan_options options = {.objective = (yoke_objective)(number % 4), .bare = 1, .max_nodes = 1 + number / 4 % 40};
        if (number % 3 == 0) random_constraints_draw(number, &list, &options);
        options.max_slowdown = 0; /* the least time may not be found either */
        const checked of = {number, &drawn.problem, &options};
        yoke_plan *plan = check_create(*state, &of);
        if (plan->feasible) check_best(&of, &list, plan);
        lost += !plan->feasible && plan->nodes >= options.max_nodes;
        feasible += plan->feasible;
        optimal += plan->optimal;
        bounded += plan->feasible && !plan->optimal && !isnan(plan->gap);
        yoke_release(*state, plan);
        brute_free(&list);
    }
    print_message("of %lld plans %lld are optimal, %lld bounded; in %lld searches nothing was found\n", (long long)feasible,
                  (long long)optimal, (long long)bounded, (long long)lost);
    assert_true(optimal < feasible && optimal + bounded > feasible * 9 / 10 && lost < PROBLEMS / 20);
}

static bool same_level(const yoke_plan_level *a, const yoke_plan_level *b)
{
    return a->seconds_per_unit == b->seconds_per_unit && a->start_seconds == b->start_seconds && a->dynamic_power_w == b->dynamic_power_w &&
           a->idle_power_w == b->idle_power_w;
}

/* Devices may be drawn alike, or be so at small whole numbers; then it is open which of them gets what. */
static bool some_are_equal(const plan_random *drawn)
{
    for (int64_t i = 0; i < drawn->problem.num_devices; i++)
        for (int64_t j = 0; j < i; j++)
            if (drawn->devices[i].host == drawn->devices[j].host && same_level(&drawn->levels[i][0], &drawn->levels[j][0])) return true;
    return false;
}

static void compare_orders(const checked *of, const plan_random *drawn, const int *order, const yoke_plan *plan, const yoke_plan *other)
{
    if (plan->feasible != other->feasible || plan->optimal != other->optimal) check_fails(of, "another order is another plan");
    if (!plan->feasible) return;
    if (!check_near(plan->best.time_s, other->best.time_s, 1e-12) || !check_near(plan->best.energy_j, other->best.energy_j, 1e-12))
        check_fails(of, "another order takes %.17g s, %.17g J instead of %.17g, %.17g", other->best.time_s, other->best.energy_j,
                    plan->best.time_s, plan->best.energy_j);
    if (some_are_equal(drawn)) return;
    for (int64_t k = 0; k < plan->num_devices; k++) {
        int i = order[k];
        if (plan->best.units[i] != other->best.units[k])
            check_fails(of, "%s has %lld units in this order, %lld in another", drawn->names[i], (long long)plan->best.units[i],
                        (long long)other->best.units[k]);
        if (!same_level(&drawn->levels[i][plan->best.levels[i]], &drawn->levels[i][other->best.levels[k]]))
            check_fails(of, "%s has another level in another order", drawn->names[i]);
    }
}

static void the_order_of_devices_does_not_matter(void **state)
{
    enum { PROBLEMS = 4000 / PROPERTY_PART };
    for (int64_t number = 40000; number < 40000 + PROBLEMS; number++) {
        static plan_random drawn;
        yoke_plan_problem shuffled;
        yoke_plan_device devices[PLAN_RANDOM_DEVICES];
        int order[PLAN_RANDOM_DEVICES];
        random_problem_draw(number, 1e9, &drawn);
        random_order_draw(number, &drawn, &shuffled, devices, order);
        const yoke_plan_options options = {.objective = (yoke_objective)(number % 4), .bare = (int)(number / 4 % 2)};
        const checked of = {number, &drawn.problem, &options}, shuffled_of = {number, &shuffled, &options};
        yoke_plan *plan = check_create(*state, &of), *other = check_create(*state, &shuffled_of);
        compare_orders(&of, &drawn, order, plan, other);
        yoke_release(*state, plan);
        yoke_release(*state, other);
    }
}

static void more_devices_never_cost_time(void **state)
{
    enum { PROBLEMS = 1500 / PROPERTY_PART };
    for (int64_t number = 50000; number < 50000 + PROBLEMS; number++) {
        static plan_random drawn;
        random_problem_draw(number, 1e9, &drawn);
        yoke_plan_problem fewer = drawn.problem;
        fewer.num_devices--;
        const yoke_plan_options options = {.objective = YOKE_OBJECTIVE_TIME, .bare = 1};
        const checked of = {number, &drawn.problem, &options}, fewer_of = {number, &fewer, &options};
        yoke_plan *all = check_create(*state, &of), *without = check_create(*state, &fewer_of);
        if (without->feasible && (!all->feasible || all->best.time_s > without->best.time_s * (1 + 1e-12)))
            check_fails(&of, "%.17g s instead of %.17g without the last device", all->best.time_s, without->best.time_s);
        yoke_release(*state, all);
        yoke_release(*state, without);
    }
}

static void alternatives_are_evaluated_and_none_is_better(void **state)
{
    enum { PROBLEMS = 2000 / PROPERTY_PART };
    int64_t alternatives = 0;
    for (int64_t number = 60000; number < 60000 + PROBLEMS; number++) {
        static plan_random drawn;
        brute_list list;
        draw(number, MAX_CHOICES / 10, &drawn, &list);
        yoke_plan_options options = {.objective = (yoke_objective)(number % 4)};
        if (number % 3 == 0) random_constraints_draw(number, &list, &options);
        const checked of = {number, &drawn.problem, &options};
        yoke_plan *plan = check_create(*state, &of);
        check_best(&of, &list, plan);
        double best = brute_value(options.objective, &(brute_cost){plan->best.time_s, plan->best.energy_j, 0, 0});
        for (int64_t k = 0; k < plan->num_alternatives; k++) {
            const yoke_plan_choice *choice = &plan->alternatives[k];
            if (!choice->feasible) continue;
            alternatives++;
            brute_cost cost = check_choice(&of, choice);
            if (!plan->feasible) check_fails(&of, "%s is feasible, the plan is not", choice->name);
            if (plan->optimal && brute_value(options.objective, &cost) < best * (1 - 1e-12)) check_fails(&of, "%s is better", choice->name);
        }
        yoke_release(*state, plan);
        brute_free(&list);
    }
    assert_true(alternatives > 2 * PROBLEMS);
}

/* A choice is worth what the formulas say, and feasible exactly where it keeps all limits. */
static void choices_are_evaluated_as_the_formulas_say(void **state)
{
    enum { CHOICES = 20000 / PROPERTY_PART };
    int64_t feasible = 0;
    for (int64_t number = 0; number < CHOICES; number++) {
        static plan_random drawn;
        int64_t units[PLAN_RANDOM_DEVICES], levels[PLAN_RANDOM_DEVICES], sum = 0;
        random_problem_draw(number, 1e9, &drawn);
        random_choice_draw(number, &drawn.problem, units, levels);
        brute_cost cost = brute_evaluate(&drawn.problem, units, levels);
        yoke_plan_options options = {0};
        if (number % 3 == 0) options.deadline_s = cost.time_s * (number % 2 ? 0.99 : 1.01);
        if (number % 5 == 0) options.power_cap_w = cost.peak_power_w * (number % 2 ? 1.01 : 0.99);
        const checked of = {number, &drawn.problem, &options};
        bool fits = !(options.deadline_s > 0 && cost.time_s > options.deadline_s) &&
                    !(options.power_cap_w > 0 && cost.peak_power_w > options.power_cap_w);
        for (int64_t i = 0; i < drawn.problem.num_devices; i++) {
            sum += units[i];
            fits = fits && units[i] <= drawn.devices[i].max_units;
        }
        fits = fits && sum == drawn.problem.units;
        yoke_plan_choice choice = {0};
        yoke_status status = yoke_plan_evaluate(*state, &drawn.problem, &options, units, levels, &choice);
        if (status) check_fails(&of, "status %d: %s", (int)status, yoke_last_error(*state));
        if (!check_near(choice.time_s, cost.time_s, 1e-12) || !check_near(choice.energy_j, cost.energy_j, 1e-12) ||
            !check_near(choice.peak_power_w, cost.peak_power_w, 1e-12))
            check_fails(&of, "%.17g s, %.17g J, %.17g W, not %.17g, %.17g, %.17g", choice.time_s, choice.energy_j, choice.peak_power_w,
                        cost.time_s, cost.energy_j, cost.peak_power_w);
        if ((choice.feasible != 0) != fits) check_fails(&of, "feasible %d, not %d", choice.feasible, fits);
        feasible += fits;
    }
    assert_true(feasible > CHOICES / 4 && feasible < CHOICES * 3 / 4);
}

/* What is taken in a tie is as good as the best, within the uncertainties that it states, and no slower. */
static void ties_go_to_the_faster_within_uncertainty(void **state)
{
    enum { PROBLEMS = 2000 / PROPERTY_PART };
    int64_t ties = 0, others = 0;
    for (int64_t number = 100000; number < 100000 + PROBLEMS; number++) {
        static plan_random drawn;
        brute_list list;
        draw(number, MAX_CHOICES / 10, &drawn, &list);
        for (int64_t i = 0; i < drawn.problem.num_devices; i++)
            for (int64_t l = 0; l < drawn.devices[i].num_levels; l++) {
                drawn.levels[i][l].time_uncertainty = 0.01 * (double)(number % 4);
                drawn.levels[i][l].power_uncertainty = 0.02 * (double)(number % 3);
            }
        yoke_plan_options options = {.objective = (yoke_objective)(number % 4)};
        const checked of = {number, &drawn.problem, &options};
        yoke_plan *plan = check_create(*state, &of);
        const brute_cost *best = brute_best(&list, options.objective, any);
        if (plan->feasible != (best != NULL)) check_fails(&of, "feasible %d", plan->feasible);
        if (plan->feasible) {
            brute_cost cost = check_choice(&of, &plan->best);
            double value = brute_value(options.objective, &cost), least = brute_value(options.objective, best);
            ties += plan->tie != 0;
            if (check_near(value, least, 1e-9)) {
                brute_free(&list);
                yoke_release(*state, plan);
                continue;
            }
            others++;
            /* 5 % and 6 % at most of each power of time and energy */
            if (!plan->tie || value > least * 1.3) check_fails(&of, "%.17g instead of %.17g", value, least);
            if (cost.time_s > best->time_s * (1 + 1e-9)) check_fails(&of, "%.17g s, slower than the best", cost.time_s);
        }
        yoke_release(*state, plan);
        brute_free(&list);
    }
    print_message("%lld ties, %lld of them taken by another than the best\n", (long long)ties, (long long)others);
    assert_true(ties > PROBLEMS / 100);
}

/* More units than in the other tests. */
static void larger_problems_agree_with_a_scan(void **state)
{
    enum { PROBLEMS = 400 / PROPERTY_PART };
    int64_t optimal = 0, plans = 0;
    for (int64_t number = 70000; number < 70000 + PROBLEMS; number++) {
        static plan_random drawn;
        brute_list list;
        random_larger_draw(number, 2000, &drawn);
        assert_true(brute_force(&drawn.problem, &list));
        for (int k = 0; k < 8; k++) {
            yoke_plan_options options = {.objective = (yoke_objective)(k % 4), .bare = 1};
            if (k >= 4) random_constraints_draw(number, &list, &options);
            const checked of = {number, &drawn.problem, &options};
            yoke_plan *plan = check_create(*state, &of);
            check_best(&of, &list, plan);
            plans += plan->feasible;
            optimal += plan->optimal;
            if (plan->feasible && !plan->optimal && at_constant_speeds(&drawn)) check_fails(&of, "not optimal");
            yoke_release(*state, plan);
        }
        brute_free(&list);
    }
    print_message("%lld of %lld are optimal\n", (long long)optimal, (long long)plans);
    assert_true((double)optimal >= 0.95 * (double)plans);
}

/* As many devices and levels as brute force can take: 8 of 10 levels, 7 of 2, 8 of 1. */
static void many_devices_and_levels_agree_with_brute_force(void **state)
{
    enum { PROBLEMS = 60 / PROPERTY_PART };
    static const plan_shape shapes[] = {
        {.units = 3, .devices = 8, .levels = 10}, {.units = 7, .devices = 7, .levels = 2}, {.units = 12, .devices = 8, .levels = 1}};
    for (int64_t number = 0; number < PROBLEMS; number++) {
        static plan_random drawn;
        brute_list list;
        random_state random = {(uint64_t)number + 110000};
        plan_shape shape = shapes[number % 3];
        shape.hosts = (int)random_whole(&random, 0, 3);
        shape.starts = random_chance(&random, 0.5);
        shape.host_overhead = random_chance(&random, 0.7);
        shape.removable = random_chance(&random, 0.5);
        shape.limits = random_chance(&random, 0.3);
        shape.copies = random_chance(&random, 0.5);
        shape.points = random_chance(&random, 0.3) ? 4 : 0;
        shape.falling = random_chance(&random, 0.5);
        plan_random_draw(&shape, &random, &drawn);
        assert_true(brute_force(&drawn.problem, &list));
        for (int k = 0; k < 5; k++) {
            yoke_plan_options options = {.objective = (yoke_objective)(k % 4), .bare = 1};
            if (k == 4) options.objective = (yoke_objective)(number % 4);
            if (k == 4) random_constraints_draw(number, &list, &options);
            const checked of = {number, &drawn.problem, &options};
            yoke_plan *plan = check_create(*state, &of);
            check_best(&of, &list, plan);
            if (plan->feasible && !plan->optimal) check_fails(&of, "not optimal");
            yoke_release(*state, plan);
        }
        brute_free(&list);
    }
}

static void least_times_agree_with_dynamic_programming(void **state)
{
    enum { PROBLEMS = 400 / PROPERTY_PART };
    for (int64_t number = 0; number < PROBLEMS; number++) {
        static plan_random drawn;
        random_state random = {(uint64_t)number + 80000};
        plan_shape shape = {.devices = (int)random_whole(&random, 2, 4), .hosts = 2, .levels = 2, .levels_differ = 1, .points = 12};
        shape.falling = number % 2 == 0;
        shape.cliffs = number % 3 == 0;
        shape.starts = number % 5 == 0;
        shape.copies = number % 7 == 0;
        shape.units = random_whole(&random, 50, shape.copies ? 60 : 400);
        plan_random_draw(&shape, &random, &drawn);
        const yoke_plan_options options = {.objective = YOKE_OBJECTIVE_TIME, .bare = 1};
        const checked of = {number, &drawn.problem, &options};
        yoke_plan *plan = check_create(*state, &of);
        double least = brute_least_time(&drawn.problem);
        if (!plan->feasible) check_fails(&of, "not feasible");
        check_choice(&of, &plan->best);
        if (!plan->optimal || !check_near(plan->best.time_s, least, 1e-9))
            check_fails(&of, "%.17g s (optimal: %d), dynamic programming says %.17g", plan->best.time_s, plan->optimal, least);
        yoke_release(*state, plan);
    }
}

/* Some units move from a device to another, at any level of either. */
static void check_moves(const checked *of, const yoke_plan *plan, int64_t moved)
{
    const yoke_plan_problem *problem = of->problem;
    int64_t units[PLAN_RANDOM_DEVICES], levels[PLAN_RANDOM_DEVICES];
    brute_cost cost = brute_evaluate(problem, plan->best.units, plan->best.levels);
    double best = brute_value(of->options->objective, &cost);
    for (int64_t from = 0; from < problem->num_devices; from++)
        for (int64_t to = 0; to < problem->num_devices; to++) {
            memcpy(units, plan->best.units, (size_t)problem->num_devices * sizeof *units);
            memcpy(levels, plan->best.levels, (size_t)problem->num_devices * sizeof *levels);
            if (from == to || units[from] < moved || units[to] > problem->devices[to].max_units - moved) continue;
            units[from] -= moved;
            units[to] += moved;
            for (int64_t l = 0; l < problem->devices[from].num_levels * problem->devices[to].num_levels; l++) {
                levels[from] = l % problem->devices[from].num_levels;
                levels[to] = l / problem->devices[from].num_levels;
                cost = brute_evaluate(problem, units, levels);
                if (brute_value(of->options->objective, &cost) < best * (1 - 1e-11))
                    check_fails(of, "%.17g falls to %.17g where %lld units move from %s to %s", best,
                                brute_value(of->options->objective, &cost), (long long)moved, problem->devices[from].name,
                                problem->devices[to].name);
            }
        }
}

static void moving_units_improves_nothing_at_any_size(void **state)
{
    enum { PROBLEMS = 200 / PROPERTY_PART };
    static const int64_t sizes[] = {1000, 10000, 1000000, 1000000000000, 1000000000000000000};
    int64_t optimal = 0, plans = 0;
    for (int64_t number = 0; number < PROBLEMS; number++) {
        static plan_random drawn;
        random_state random = {(uint64_t)number + 90000};
        plan_shape shape = {.devices = (int)random_whole(&random, 2, 5), .levels = 4, .levels_differ = 1, .units = sizes[number % 5]};
        shape.hosts = (int)random_whole(&random, 1, 2);
        shape.starts = random_chance(&random, 0.5);
        shape.host_overhead = random_chance(&random, 0.5);
        shape.removable = random_chance(&random, 0.5);
        shape.limits = random_chance(&random, 0.3);
        shape.copies = random_chance(&random, 0.5);
        plan_random_draw(&shape, &random, &drawn);
        for (int objective = YOKE_OBJECTIVE_TIME; objective <= YOKE_OBJECTIVE_ED2P; objective++) {
            const yoke_plan_options options = {.objective = (yoke_objective)objective, .bare = 1};
            const checked of = {number, &drawn.problem, &options};
            yoke_plan *plan = check_create(*state, &of);
            if (plan->feasible) {
                check_choice(&of, &plan->best);
                plans++;
                optimal += plan->optimal;
                if (!plan->optimal) print_message("problem %lld, objective %d: gap %.3g\n", (long long)number, objective, plan->gap);
                for (int64_t moved = shape.units; plan->optimal && moved > 0; moved /= 10) check_moves(&of, plan, moved);
            }
            yoke_release(*state, plan);
        }
    }
    print_message("%lld of %lld are optimal\n", (long long)optimal, (long long)plans);
    assert_true((double)optimal >= 0.99 * (double)plans);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(small_problems_are_solved_as_brute_force_does),
    cmocka_unit_test(constraints_are_kept_or_said_to_be_impossible),
    cmocka_unit_test(fronts_are_those_of_brute_force),
    cmocka_unit_test(a_search_that_is_cut_short_states_an_honest_gap),
    cmocka_unit_test(the_order_of_devices_does_not_matter),
    cmocka_unit_test(more_devices_never_cost_time),
    cmocka_unit_test(alternatives_are_evaluated_and_none_is_better),
    cmocka_unit_test(choices_are_evaluated_as_the_formulas_say),
    cmocka_unit_test(ties_go_to_the_faster_within_uncertainty),
    cmocka_unit_test(larger_problems_agree_with_a_scan),
    cmocka_unit_test(many_devices_and_levels_agree_with_brute_force),
    cmocka_unit_test(least_times_agree_with_dynamic_programming),
    cmocka_unit_test(moving_units_improves_nothing_at_any_size),
};

UNIT_MAIN(tests, state_start, state_end)
