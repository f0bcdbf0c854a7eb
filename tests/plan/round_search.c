/* Plans for rounds: against all choices of small ones, and larger ones against what is known of them. */
#include "context.h"

#include <math.h>

#include "brute_round.h"
#include "random_problem.h"

/* With sanitizers a part of all rounds. */
#ifndef PROPERTY_PART
#define PROPERTY_PART 1
#endif

static yoke_plan *create(const yoke_plan_problem *problem, const yoke_plan_options *options)
{
    yoke_plan *plan = NULL;
    if (yoke_plan_create(context, problem, options, &plan)) fail_msg("%s", yoke_last_error(context));
    return plan;
}

static bool is_near(double a, double b, double relative) { return a == b || fabs(a - b) <= relative * fmax(fabs(a), fabs(b)); }

static void wrong(int64_t number, const random_round *drawn, const yoke_plan_options *options, const yoke_plan *plan, const char *what,
                  double a, double b)
{
    random_round_print(drawn, options);
    if (plan->feasible)
        for (int64_t k = 0; k < plan->num_cuts * plan->num_devices; k++) printf("units %lld\n", (long long)plan->best.units[k]);
    fflush(stdout);
    fail_msg("round %lld: %s: %.17g, %.17g (nodes %lld, optimal %d, gap %g)", (long long)number, what, a, b, (long long)plan->nodes,
             plan->optimal, plan->gap);
}

/* The plan's choice is what it says, keeps the limits, and is the best of all, or within its gap. */
static void check(int64_t number, const random_round *drawn, const brute_list *list, const yoke_plan_options *options,
                  const yoke_plan *plan)
{
    const double exact = 1e-9;
    const brute_limits loose = brute_limits_of(options, list, exact);
    const brute_cost *upper = brute_best(list, options->objective, brute_limits_of(options, list, -exact)),
                     *lower = brute_best(list, options->objective, loose);
    if (!plan->feasible) {
        if (upper != NULL)
            wrong(number, drawn, options, plan, "nothing found, where these seconds and joules are possible", upper->time_s,
                  upper->energy_j);
        return;
    }
    const brute_cost cost = brute_round_evaluate(&drawn->problem, plan->best.units, plan->best.levels);
    if (lower == NULL) wrong(number, drawn, options, plan, "a choice, where none is possible", cost.time_s, cost.energy_j);
    for (int64_t c = 0; c < drawn->round.num_cuts; c++) {
        int64_t sum = 0;
        for (int64_t i = 0; i < drawn->problem.num_devices; i++) sum += plan->best.units[c * drawn->problem.num_devices + i];
        if (sum != drawn->cut_units[c]) wrong(number, drawn, options, plan, "units of a cut", (double)sum, (double)drawn->cut_units[c]);
    }
    for (int64_t i = 0; i < drawn->problem.num_devices; i++)
        if (plan->best.units[i] > drawn->devices[i].max_units)
            wrong(number, drawn, options, plan, "more units than fit", (double)plan->best.units[i], (double)drawn->devices[i].max_units);
    if (!is_near(plan->best.time_s, cost.time_s, exact)) wrong(number, drawn, options, plan, "time", plan->best.time_s, cost.time_s);
    if (!is_near(plan->best.energy_j, cost.energy_j, exact))
        wrong(number, drawn, options, plan, "energy", plan->best.energy_j, cost.energy_j);
    if (!is_near(plan->best.peak_power_w, cost.peak_power_w, exact))
        wrong(number, drawn, options, plan, "peak power", plan->best.peak_power_w, cost.peak_power_w);
    if (cost.time_s > loose.time_s || cost.peak_power_w > loose.power_w)
        wrong(number, drawn, options, plan, "a limit", cost.time_s, cost.peak_power_w);
    const double value = brute_value(options->objective, &cost), gap = plan->optimal ? 0 : plan->gap;
    if (upper != NULL && !isnan(gap) && value * (1 - gap) > brute_value(options->objective, upper) * (1 + exact) + 1e-300)
        wrong(number, drawn, options, plan, "value, best", value, brute_value(options->objective, upper));
    if (options->objective != YOKE_OBJECTIVE_TIME || !plan->optimal || options->max_nodes > 0) return;
    /* Of all that take least time the one with least energy. */
    const brute_limits equals = {cost.time_s * (1 + 1e-13), loose.power_w};
    const brute_cost *frugal = brute_best(list, YOKE_OBJECTIVE_ENERGY, equals);
    if (frugal != NULL && frugal->peak_power_w <= brute_limits_of(options, list, -exact).power_w &&
        cost.energy_j > frugal->energy_j * (1 + exact))
        wrong(number, drawn, options, plan, "energy in least time", cost.energy_j, frugal->energy_j);
}

static void small_rounds_are_solved_as_brute_force_does(void **state)
{
    (void)state;
    enum { ROUNDS = 4000 / PROPERTY_PART };
    int64_t plans = 0, optimal = 0, nodes = 0, shared = 0;
    for (int64_t number = 0; number < ROUNDS; number++) {
        static random_round drawn;
        brute_list list;
        random_round_draw(number, 20000, &drawn);
        assert_true(brute_round(&drawn.problem, &list));
        for (int objective = YOKE_OBJECTIVE_TIME; objective <= YOKE_OBJECTIVE_ED2P; objective++) {
            const yoke_plan_options options = {.objective = (yoke_objective)objective, .bare = 1};
            yoke_plan *plan = create(&drawn.problem, &options);
            check(number, &drawn, &list, &options, plan);
            nodes += plan->nodes;
            plans += plan->feasible;
            optimal += plan->feasible && plan->optimal;
            shared += plan->feasible && plan->best.units[0] > 0 && plan->best.units[0] < drawn.cut_units[0];
            yoke_release(context, plan);
        }
        brute_free(&list);
    }
    print_message("%lld of %lld plans are optimal, %lld share, %lld nodes\n", (long long)optimal, (long long)plans, (long long)shared,
                  (long long)nodes);
    assert_true(optimal == plans);
    assert_true(shared > plans / 5);
}

static void limits_are_kept_or_said_to_be_impossible(void **state)
{
    (void)state;
    enum { ROUNDS = 3000 / PROPERTY_PART };
    int64_t impossible = 0, optimal = 0;
    for (int64_t number = 20000; number < 20000 + ROUNDS; number++) {
        static random_round drawn;
        brute_list list;
        random_round_draw(number, 10000, &drawn);
        assert_true(brute_round(&drawn.problem, &list));
        yoke_plan_options options = {.objective = (yoke_objective)(number % 4), .bare = 1};
        if (list.count > 0) random_constraints_draw(number, &list, &options);
        yoke_plan *plan = create(&drawn.problem, &options);
        check(number, &drawn, &list, &options, plan);
        impossible += !plan->feasible;
        optimal += plan->feasible && plan->optimal;
        if (!plan->feasible && list.count > 0)
            assert_true(strcmp(plan->binding, "deadline") == 0 || strcmp(plan->binding, "power-cap") == 0);
        yoke_release(context, plan);
        brute_free(&list);
    }
    print_message("%lld of %d are impossible, %lld optimal\n", (long long)impossible, ROUNDS, (long long)optimal);
    assert_true(impossible > ROUNDS / 50 && 1000 * optimal >= 999 * (ROUNDS - impossible));
}

static void a_search_that_is_cut_short_states_an_honest_gap(void **state)
{
    (void)state;
    enum { ROUNDS = 2000 / PROPERTY_PART };
    int64_t open = 0, bounded = 0;
    for (int64_t number = 30000; number < 30000 + ROUNDS; number++) {
        static random_round drawn;
        brute_list list;
        random_round_draw(number, 10000, &drawn);
        assert_true(brute_round(&drawn.problem, &list));
        const yoke_plan_options options = {.objective = (yoke_objective)(number % 4), .bare = 1, .max_nodes = 1 + number / 4 % 20};
        yoke_plan *plan = create(&drawn.problem, &options);
        check(number, &drawn, &list, &options, plan);
        open += plan->feasible && !plan->optimal;
        bounded += plan->feasible && !plan->optimal && plan->gap < 0.5;
        yoke_release(context, plan);
        brute_free(&list);
    }
    print_message("%lld of %d end early, %lld with a gap below a half\n", (long long)open, ROUNDS, (long long)bounded);
    assert_true(open > ROUNDS / 20 && 3 * bounded > open);
}

/* A machine like a node's: kinds of device, levels, four phases with barriers of which each has an eighth of the units of the one before. */
typedef struct machine {
    yoke_plan_time times[8][10][4];
    yoke_plan_level levels[8][10];
    yoke_plan_device devices[8];
    yoke_phase phases[4];
    int64_t units;
    yoke_round round;
    yoke_plan_problem problem;
} machine;

static void fill_machine(machine *m, int devices, int levels, int64_t units)
{
    random_state random = {11};
    *m = (machine){.units = units};
    m->round = (yoke_round){.num_cuts = 1, .cut_units = &m->units, .num_phases = 4, .phases = m->phases};
    m->problem = (yoke_plan_problem){
        .copies_before = 1, .base_power_w = 50, .host_overhead_w = 10, .num_devices = devices, .devices = m->devices, .round = &m->round};
    for (int p = 0; p < 4; p++)
        m->phases[p] = (yoke_phase){.calls = p == 0 ? 100 : 100 * p, .units = units >> 3 * p, .barrier = 1, .call_seconds = 1e-6};
    for (int i = 0; i < devices; i++) {
        const double slow = i % 3 == 0 ? 4e-8 : 2e-9 * (1 + i);
        for (int l = 0; l < levels; l++) {
            const double f = 0.4 + 0.6 * (l + 1) / levels;
            for (int p = 0; p < 4; p++)
                m->times[i][l][p] = (yoke_plan_time){.seconds_per_unit = slow * (i % 3 ? 1 + p : 1) * random_uniform(&random, 0.8, 1.25) /
                                                                         (p % 2 ? sqrt(f) : f),
                                                     .start_seconds = i % 3 == 0 ? 1e-6 : 1e-5,
                                                     .dynamic_power_w = 10 + 100 * f * f * f};
            m->levels[i][l] = (yoke_plan_level){.frequency_hz = 2e9 * f, .idle_power_w = 20 + 10 * f * f, .phases = m->times[i][l]};
        }
        m->devices[i] = (yoke_plan_device){.name = "d",
                                           .host = i % 3 == 0,
                                           .removable = i % 2,
                                           .num_levels = levels,
                                           .levels = m->levels[i],
                                           .copy_seconds = 1e-4,
                                           .copy_seconds_per_unit = 1e-9,
                                           .copy_joules_per_unit = 1e-6,
                                           .max_units = INT64_MAX};
    }
}

/* Nothing that one unit more or less, or another level, of any device changes makes it better. */
static void assert_no_neighbour_is_better(const machine *m, const yoke_plan_options *options, const yoke_plan *plan)
{
    const int64_t devices = m->problem.num_devices;
    int64_t units[8], levels[8];
    const double value = plan->best.energy_j * pow(plan->best.time_s, options->objective == YOKE_OBJECTIVE_EDP);
    for (int64_t i = 0; i < devices; i++)
        for (int64_t j = 0; j < devices; j++)
            for (int64_t l = 0; l < m->devices[i].num_levels; l++) {
                memcpy(units, plan->best.units, sizeof units[0] * (size_t)devices);
                memcpy(levels, plan->best.levels, sizeof levels[0] * (size_t)devices);
                if (units[i] == 0) continue;
                if (i != j) units[i]--, units[j]++;
                if (i == j) levels[i] = l;
                yoke_plan_choice other;
                assert_int_equal(yoke_plan_evaluate(context, &m->problem, options, units, levels, &other), YOKE_OK);
                if (options->objective == YOKE_OBJECTIVE_TIME)
                    assert_true(other.time_s >= plan->best.time_s * (1 - 1e-12));
                else
                    assert_true(other.energy_j * pow(other.time_s, options->objective == YOKE_OBJECTIVE_EDP) >= value * (1 - 1e-9));
            }
}

static void two_devices_with_ten_levels_and_a_million_units_are_solved_exactly(void **state)
{
    (void)state;
    static machine m;
    fill_machine(&m, 2, 10, 1000000);
    for (int objective = YOKE_OBJECTIVE_TIME; objective <= YOKE_OBJECTIVE_EDP; objective++) {
        const yoke_plan_options options = {.objective = (yoke_objective)objective, .bare = 1};
        yoke_plan *plan = create(&m.problem, &options);
        assert_true(plan->feasible && plan->optimal && plan->nodes < 20000);
        assert_no_neighbour_is_better(&m, &options, plan);
        yoke_release(context, plan);
    }
}

static void three_devices_with_three_levels_and_a_million_units_are_solved_exactly(void **state)
{
    (void)state;
    static machine m;
    fill_machine(&m, 3, 3, 1000000);
    for (int objective = YOKE_OBJECTIVE_TIME; objective <= YOKE_OBJECTIVE_EDP; objective++) {
        const yoke_plan_options options = {.objective = (yoke_objective)objective, .bare = 1};
        yoke_plan *plan = create(&m.problem, &options);
        assert_true(plan->feasible && plan->optimal && plan->nodes < 60000);
        assert_no_neighbour_is_better(&m, &options, plan);
        yoke_release(context, plan);
    }
}

/* The choice beats each device alone, and no choice that is known is better than the gap says. */
static void eight_devices_with_ten_levels_get_a_good_choice_and_a_gap(void **state)
{
    (void)state;
    static machine m;
    fill_machine(&m, 8, 10, 1000000);
    yoke_plan_options options = {.bare = 1, .max_nodes = 500};
    yoke_plan *plan = create(&m.problem, &options);
    print_message("gap %.3g after %lld nodes\n", plan->gap, (long long)plan->nodes);
    assert_true(plan->feasible && plan->gap < 0.01 && plan->nodes <= 2 * 500 + 4);
    int64_t alone[8] = {0}, levels[8];
    for (int i = 0; i < 8; i++) {
        yoke_plan_choice choice;
        for (int k = 0; k < 8; k++) levels[k] = 9;
        memset(alone, 0, sizeof alone);
        alone[i] = m.units;
        assert_int_equal(yoke_plan_evaluate(context, &m.problem, NULL, alone, levels, &choice), YOKE_OK);
        assert_true(choice.time_s > plan->best.time_s * 2);
    }
    const double least = plan->best.time_s, gap = plan->gap;
    yoke_release(context, plan);
    m.round.num_phases = 1;
    plan = create(&m.problem, &options);
    m.round.num_phases = 4;
    yoke_plan_choice choice;
    assert_int_equal(yoke_plan_evaluate(context, &m.problem, NULL, plan->best.units, plan->best.levels, &choice), YOKE_OK);
    assert_true(choice.time_s > least * (1 - gap));
    yoke_release(context, plan);
}

/* Before, gaps were 3 to 46 %: no weights of devices in intervals, and then no choice, came near to the best. */
static void eight_devices_with_ten_levels_are_planned_to_two_percent(void **state)
{
    (void)state;
    static machine m;
    fill_machine(&m, 8, 10, 1000000);
    const yoke_plan_options wanted[] = {
        {.objective = YOKE_OBJECTIVE_ENERGY}, {.objective = YOKE_OBJECTIVE_EDP}, {.objective = YOKE_OBJECTIVE_ENERGY, .max_slowdown = 1.5}};
    for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; k++) {
        yoke_plan_options options = wanted[k];
        options.bare = 1;
        options.max_nodes = 1000;
        yoke_plan *plan = create(&m.problem, &options);
        print_message("gap %.3g after %lld nodes\n", plan->gap, (long long)plan->all_nodes);
        assert_true(plan->feasible && plan->gap < 0.02);
        yoke_release(context, plan);
    }
}

/* Copies before the first call and a power cap: of all choices that take least time, that of least energy. */
static void ties_in_least_time_take_the_least_energy_with_copies_before_and_a_cap(void **state)
{
    (void)state;
    enum { ROUNDS = 1500 / PROPERTY_PART };
    int64_t compared = 0, differ = 0;
    for (int64_t number = 50000; number < 50000 + ROUNDS; number++) {
        static random_round drawn;
        brute_list list;
        random_round_draw(number, 5000, &drawn);
        drawn.problem.copies_before = 1;
        drawn.devices[0].copy_seconds = 2;
        assert_true(brute_round(&drawn.problem, &list));
        const brute_limits none = {INFINITY, INFINITY};
        const brute_cost *fastest = brute_best(&list, YOKE_OBJECTIVE_TIME, none);
        if (fastest == NULL) {
            brute_free(&list);
            continue;
        }
        const yoke_plan_options options = {.bare = 1, .power_cap_w = fastest->peak_power_w * 0.9};
        yoke_plan *plan = create(&drawn.problem, &options);
        check(number, &drawn, &list, &options, plan);
        compared += plan->feasible && plan->optimal;
        double most = 0; /* joules of the equals */
        for (int64_t k = 0; k < list.count && plan->feasible; k++)
            if (list.costs[k].peak_power_w <= options.power_cap_w && list.costs[k].time_s <= plan->best.time_s * (1 + 1e-13))
                most = fmax(most, list.costs[k].energy_j);
        differ += plan->feasible && most > plan->best.energy_j * 1.001;
        yoke_release(context, plan);
        brute_free(&list);
    }
    print_message("%lld of %d can be met, in %lld equals differ in energy\n", (long long)compared, ROUNDS, (long long)differ);
    assert_true(compared > ROUNDS / 2 && differ > ROUNDS / 20);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(two_devices_with_ten_levels_and_a_million_units_are_solved_exactly),
    cmocka_unit_test(three_devices_with_three_levels_and_a_million_units_are_solved_exactly),
    cmocka_unit_test(eight_devices_with_ten_levels_get_a_good_choice_and_a_gap),
    cmocka_unit_test(eight_devices_with_ten_levels_are_planned_to_two_percent),
    cmocka_unit_test(ties_in_least_time_take_the_least_energy_with_copies_before_and_a_cap),
    cmocka_unit_test(small_rounds_are_solved_as_brute_force_does),
    cmocka_unit_test(limits_are_kept_or_said_to_be_impossible),
    cmocka_unit_test(a_search_that_is_cut_short_states_an_honest_gap),
};

UNIT_MAIN(tests, context_start, context_end)
