/* Plans for rounds: against all choices of small ones, and larger ones against what is known of them. */
#include "unit.h"

#include <math.h>

#include "brute_round.h"
#include "random_problem.h"

/* With sanitizers a part of all rounds. */
#ifndef PROPERTY_PART
#define PROPERTY_PART 1
#endif

static yoke_context *context;

static int setup(void **state)
{
    (void)state;
    return yoke_context_create(NULL, &context) != YOKE_OK;
}

static int teardown(void **state)
{
    (void)state;
    yoke_context_destroy(context);
    return 0;
}

static yoke_plan *create(const yoke_plan_problem *problem, const yoke_plan_options *options)
{
    yoke_plan *plan = NULL;
    if (yoke_plan_create(context, problem, options, &plan)) fail_msg("%s", yoke_last_error(context));
    return plan;
}

static bool is_near(double a, double b, double relative) { return a == b || fabs(a - b) <= relative * fmax(fabs(a), fabs(b)); }

/* What the options allow, with all limits moved by so much. */
static brute_limits limits_of(const yoke_plan_options *options, const brute_list *list, double moved)
{
    brute_limits limits = {INFINITY, INFINITY};
    if (options->power_cap_w > 0) limits.power_w = options->power_cap_w * (1 + moved);
    if (options->max_slowdown > 0) {
        const brute_cost *fastest = brute_best(list, YOKE_OBJECTIVE_TIME, limits);
        if (fastest != NULL) limits.time_s = fmax(options->max_slowdown * fastest->time_s * (1 + moved), fastest->time_s * (1 + 1e-13));
    }
    if (options->deadline_s > 0) limits.time_s = fmin(limits.time_s, options->deadline_s * (1 + moved));
    return limits;
}

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
    const brute_limits loose = limits_of(options, list, exact);
    const brute_cost *upper = brute_best(list, options->objective, limits_of(options, list, -exact)),
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
    if (options->objective != YOKE_OBJECTIVE_TIME || !plan->optimal || options->most_nodes > 0) return;
    /* Of all that take least time the one with least energy. */
    const brute_limits equals = {cost.time_s * (1 + 1e-13), loose.power_w};
    const brute_cost *frugal = brute_best(list, YOKE_OBJECTIVE_ENERGY, equals);
    if (frugal != NULL && frugal->peak_power_w <= limits_of(options, list, -exact).power_w &&
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
            yoke_plan_destroy(context, plan);
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
        yoke_plan_destroy(context, plan);
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
        const yoke_plan_options options = {.objective = (yoke_objective)(number % 4), .bare = 1, .most_nodes = 1 + number / 4 % 20};
        yoke_plan *plan = create(&drawn.problem, &options);
        check(number, &drawn, &list, &options, plan);
        open += plan->feasible && !plan->optimal;
        bounded += plan->feasible && !plan->optimal && plan->gap < 0.5;
        yoke_plan_destroy(context, plan);
        brute_free(&list);
    }
    print_message("%lld of %d end early, %lld with a gap below a half\n", (long long)open, ROUNDS, (long long)bounded);
    assert_true(open > ROUNDS / 20 && 3 * bounded > open);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(small_rounds_are_solved_as_brute_force_does),
    cmocka_unit_test(limits_are_kept_or_said_to_be_impossible),
    cmocka_unit_test(a_search_that_is_cut_short_states_an_honest_gap),
};

UNIT_MAIN(tests, setup, teardown)
