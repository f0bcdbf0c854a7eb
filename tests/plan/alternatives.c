/* What a plan is weighed against, and what it says: each device alone, least time, the published rule of 2014, limits, ties. */
#include <float.h>
#include <math.h>

#include "base/failing.h"
#include "context.h"
#include "random_part.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])
#define LIMITED(...) (&(yoke_plan_options){.objective = YOKE_OBJECTIVE_ENERGY, __VA_ARGS__})

/* A host and an accelerator with room for more. */
typedef struct node {
    yoke_plan_level levels[3][4];
    yoke_plan_device devices[3];
    yoke_plan_problem problem;
} node;

static void make_node(node *n, int64_t units, double repetitions)
{
    static const char *const names[] = {"cpu", "gpu", "other"};
    *n = (node){.problem = {.units = units, .repetitions = repetitions, .num_devices = 2, .devices = n->devices}};
    for (int i = 0; i < 3; i++)
        n->devices[i] =
            (yoke_plan_device){.name = names[i], .host = i != 1, .num_levels = 1, .levels = n->levels[i], .max_units = INT64_MAX};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++) n->levels[i][k] = (yoke_plan_level){.frequency_hz = NAN, .seconds_per_unit = 1};
}

/* Tab. 2 of the 2014 paper, with joules a unit and call of host and accelerator (idle power among them). */
static void make_sandybridge(node *n, double repetitions, double host_j, double accelerator_j, double copy_j)
{
    make_node(n, 10000, repetitions);
    n->problem.copies_before = 1;
    n->levels[0][0] = (yoke_plan_level){
        .frequency_hz = NAN, .seconds_per_unit = 1.70e-6, .dynamic_power_w = host_j / 1.70e-6 - 84.3, .idle_power_w = 84.3};
    n->levels[1][0] = (yoke_plan_level){
        .frequency_hz = 1.15e9, .seconds_per_unit = 1.69e-6, .dynamic_power_w = accelerator_j / 1.69e-6 - 78, .idle_power_w = 78};
    n->devices[1].removable = 1;
    n->devices[1].copy_joules_per_unit = copy_j;
}

/* System I of PEACH, tab. V; a unit is a GFLOP. */
static void make_peach(node *n)
{
    make_node(n, 10000, 1);
    n->problem.base_power_w = 165.7;
    n->problem.host_overhead_w = 30;
    n->levels[0][0] = (yoke_plan_level){.frequency_hz = 2.6e9, .seconds_per_unit = 1 / 293.0, .dynamic_power_w = 239.4};
    n->levels[1][0] = (yoke_plan_level){.frequency_hz = 705e6, .seconds_per_unit = 1 / 1052.4, .dynamic_power_w = 128.6};
}

static yoke_plan *make_plan(const node *n, const yoke_plan_options *options)
{
    yoke_plan *plan = NULL;
    if (yoke_plan_create(context, &n->problem, options, &plan) != YOKE_OK) fail_msg("%s", yoke_last_error(context));
    return plan;
}

static const yoke_plan_choice *find(const yoke_plan *plan, const char *name)
{
    for (int64_t i = 0; i < plan->num_alternatives; i++)
        if (strcmp(plan->alternatives[i].name, name) == 0) return &plan->alternatives[i];
    return NULL;
}

static const yoke_plan_choice *get(const yoke_plan *plan, const char *name)
{
    const yoke_plan_choice *found = find(plan, name);
    if (found == NULL) fail_msg("there is no alternative %s", name);
    return found;
}

static void assert_near(double value, double expected, double relative)
{
    if (!(fabs(value - expected) <= relative * fabs(expected))) fail_msg("%.15g, expected %.15g", value, expected);
}

static void assert_says(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) fail_msg("\"%s\" is not in: %s", part, text);
}

/* ------------------------------------------------------------------------------------------------ published rule */

static void published_case_2_is_not_the_minimum_and_both_are_named(void **state)
{
    (void)state;
    node n;
    make_sandybridge(&n, 1, 450e-6, 260e-6, 0);
    yoke_plan *plan = make_plan(&n, LIMITED());
    const yoke_plan_choice *published = get(plan, "published");
    /* lr.case2_exact, joules a unit and call: the rule 402.467e-6; the minimum with whole units lies between that of real shares and the scan's. */
    assert_near(published->energy_j / 10000, 402.467e-6, 1e-9);
    assert_int_equal(published->units[1], 10000);
    assert_true(plan->best.energy_j / 10000 >= 354.7197640117994e-6 && plan->best.energy_j / 10000 <= 354.770054e-6);
    assert_true(plan->best.units[0] > 4900 && plan->best.units[1] > 4900 && plan->optimal);
    assert_says(published->note, "case 2: all on the accelerator; not the minimum of eq. 37: shared by eq. 26 needs 0.0003547 J");
    assert_says(plan->decision,
                "The published rule (Lang and Ruenger 2014, sect. 4.3) differs from the true minimum: its choice needs 13.5 % more");
    yoke_release(context, plan);
}

static void published_table_2_is_case_3_and_the_minimum(void **state)
{
    (void)state;
    node n;
    make_sandybridge(&n, 32.4, 285.5e-6, 235e-6, 814e-6);
    yoke_plan *plan = make_plan(&n, LIMITED());
    const yoke_plan_choice *published = get(plan, "published");
    assert_string_equal(published->note, "case 3: shared by eq. 26");
    assert_int_equal(published->units[1], 5015); /* 0.50147 */
    assert_near(published->energy_j, plan->best.energy_j, 1e-9);
    assert_null(strstr(plan->decision, "The published rule"));
    /* Eq. 38: the accelerator costs nothing where it has no unit. */
    assert_near(get(plan, "only:cpu")->energy_j, 32.4 * 10000 * 285.5e-6, 1e-12);
    assert_near(get(plan, "only:gpu")->energy_j, 32.4 * 10000 * (235e-6 + 814e-6 / 32.4 + 84.3 * 1.69e-6), 1e-12);
    yoke_release(context, plan);
}

static void published_case_1_holds_up_to_16_calls(void **state)
{
    (void)state;
    for (int repetitions = 15; repetitions <= 18; repetitions++) {
        node n;
        make_sandybridge(&n, repetitions, 285.5e-6, 235e-6, 814e-6);
        yoke_plan *plan = make_plan(&n, LIMITED());
        const yoke_plan_choice *published = get(plan, "published");
        int first = repetitions <= 16; /* lr.case_boundary_l: 16.1188 */
        assert_says(published->note, first ? "case 1: all on the host" : "case 3: shared by eq. 26");
        assert_int_equal(published->units[1], first ? 0 : 5015);
        assert_near(published->energy_j, plan->best.energy_j, 1e-6);
        yoke_release(context, plan);
    }
}

/* Case 1 charges nothing to an accelerator that cannot be removed. */
static void published_case_1_forgets_an_idle_accelerator(void **state)
{
    (void)state;
    node n;
    make_sandybridge(&n, 10, 285.5e-6, 235e-6, 814e-6);
    n.devices[1].removable = 0;
    yoke_plan *plan = make_plan(&n, LIMITED());
    const yoke_plan_choice *published = get(plan, "published");
    assert_says(published->note, "case 1: all on the host; not the minimum of eq. 37: shared by eq. 26");
    assert_int_equal(published->units[0], 10000);
    assert_true(plan->best.energy_j < 0.9 * published->energy_j);
    yoke_release(context, plan);
}

/* The rule for one pair of levels, written down anew. */
static double energy_by_rule(const node *n, int c, int g)
{
    const yoke_plan_level *host = &n->levels[0][c], *accelerator = &n->levels[1][g];
    double t_c = host->seconds_per_unit, t_g = accelerator->seconds_per_unit,
           copies = n->devices[1].copy_joules_per_unit / n->problem.repetitions;
    double e_c = (host->dynamic_power_w + host->idle_power_w) * t_c,
           e_g = (accelerator->dynamic_power_w + accelerator->idle_power_w) * t_g + copies;
    double share = e_c < e_g ? 0 : e_c > e_g + host->idle_power_w * t_g ? 1 : t_c / (t_c + t_g);
    int64_t moved = (int64_t)floor(share * (double)n->problem.units + 0.5), units[] = {n->problem.units - moved, moved}, levels[] = {c, g};
    yoke_plan_choice choice;
    assert_int_equal(yoke_plan_evaluate(context, &n->problem, NULL, units, levels, &choice), YOKE_OK);
    return choice.energy_j;
}

static void published_takes_the_pair_of_frequencies_of_least_energy(void **state)
{
    (void)state;
    uint64_t seed = 7;
    int cases[4] = {0};
    for (int round = 0; round < 200; round++) {
        node n;
        double least = INFINITY;
        make_node(&n, 1000, 5);
        n.problem.base_power_w = 20;
        n.devices[0].num_levels = n.devices[1].num_levels = 4;
        n.devices[1].copy_joules_per_unit = 1e-3;
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < 4; k++) {
                double random[3];
                for (int j = 0; j < 3; j++) random[j] = random_part(&seed);
                n.levels[i][k].seconds_per_unit = 1e-4 * (0.3 + random[0]);
                n.levels[i][k].dynamic_power_w = 10 + 100 * random[1];
                n.levels[i][k].idle_power_w = 80 * random[2];
                n.levels[i][k].start_seconds = 1e-4;
            }
        for (int c = 0; c < 4; c++)
            for (int g = 0; g < 4; g++) least = fmin(least, energy_by_rule(&n, c, g));
        yoke_plan *plan = make_plan(&n, LIMITED());
        const yoke_plan_choice *published = get(plan, "published");
        assert_near(published->energy_j, least, 1e-9);
        assert_true(plan->best.energy_j <= published->energy_j * (1 + 1e-9));
        cases[published->note[5] - '0']++;
        yoke_release(context, plan);
    }
    assert_true(cases[1] > 10 && cases[2] > 10 && cases[3] > 10);
}

static void published_needs_a_host_and_an_accelerator_and_all_powers(void **state)
{
    (void)state;
    node n;
    yoke_plan_options time = {0};
    make_peach(&n);
    n.devices[1].host = 1;
    yoke_plan *plan = make_plan(&n, LIMITED());
    assert_null(find(plan, "published"));
    yoke_release(context, plan);
    make_peach(&n);
    n.problem.num_devices = 3;
    plan = make_plan(&n, LIMITED());
    assert_null(find(plan, "published"));
    assert_non_null(find(plan, "only:other"));
    yoke_release(context, plan);
    make_peach(&n);
    n.levels[0][0].idle_power_w = NAN;
    plan = make_plan(&n, &time);
    assert_null(find(plan, "published"));
    assert_true(isnan(get(plan, "only:cpu")->energy_j) && get(plan, "only:cpu")->time_s > 0);
    assert_says(plan->decision, "its energy is not known, as some powers are not");
    assert_null(strstr(plan->decision, "nan"));
    yoke_release(context, plan);
}

/* ------------------------------------------------------------------------------------------------ alternatives */

static void peach_takes_78_percent_for_time_and_all_for_energy(void **state)
{
    (void)state;
    node n;
    yoke_plan_options time = {0};
    make_peach(&n);
    yoke_plan *fast = make_plan(&n, &time), *cheap = make_plan(&n, LIMITED());
    assert_int_equal(fast->best.units[1], 7822); /* peach.t6.I.alpha_perf */
    assert_int_equal(cheap->best.units[1], 10000);
    /* E/W at the two, peach.t6.I.alpha_eff. */
    assert_near(cheap->best.energy_j / 10000, 0.3081527936145952, 1e-12);
    assert_near(get(cheap, "balanced")->energy_j / 10000, 0.39668500074327334, 1e-4);
    assert_near(get(cheap, "only:cpu")->energy_j / 10000, 1.3825938566552902, 1e-12);
    assert_near(get(fast, "balanced")->time_s, fast->best.time_s, 1e-12);
    assert_says(cheap->decision, "balanced: 7.433 s, 3967 J, 21.8 % less time, 28.7 % more energy");
    assert_says(cheap->decision, "only:gpu: the same choice");
    yoke_release(context, fast);
    yoke_release(context, cheap);
}

static void alternatives_are_named_and_none_is_better(void **state)
{
    (void)state;
    static const char *const names[] = {"only:cpu", "only:gpu", "only:other", "balanced", "best"};
    for (yoke_objective objective = YOKE_OBJECTIVE_TIME; objective <= YOKE_OBJECTIVE_ED2P; objective++) {
        node n;
        yoke_plan_options options = {.objective = objective};
        make_peach(&n);
        n.problem.num_devices = 3;
        n.levels[2][0] = (yoke_plan_level){.frequency_hz = NAN, .seconds_per_unit = 1 / 500.0, .dynamic_power_w = 90, .idle_power_w = 15};
        n.devices[2].max_units = 1200;
        yoke_plan *plan = make_plan(&n, &options);
        assert_int_equal(plan->num_alternatives, COUNT_OF(names));
        for (size_t i = 0; i < COUNT_OF(names); i++) {
            const yoke_plan_choice *other = &plan->alternatives[i];
            assert_string_equal(other->name, names[i]);
            if (i == 2) { /* 1200 units fit of 10000 */
                assert_true(!other->feasible && isnan(other->time_s) && isnan(other->energy_j));
                assert_string_equal(other->note, "at most 1200 units fit");
                continue;
            }
            assert_int_equal(other->units[0] + other->units[1] + other->units[2], 10000);
            double power = objective == YOKE_OBJECTIVE_TIME ? 1 : (double)objective - 1;
            double value = pow(other->time_s, power) * (objective == YOKE_OBJECTIVE_TIME ? 1 : other->energy_j);
            double best = pow(plan->best.time_s, power) * (objective == YOKE_OBJECTIVE_TIME ? 1 : plan->best.energy_j);
            assert_true(best <= value * (1 + 1e-12));
            assert_true(get(plan, "balanced")->time_s <= other->time_s * (1 + 1e-12));
        }
        yoke_release(context, plan);
    }
}

static void the_order_of_devices_does_not_matter(void **state)
{
    (void)state;
    static const char *const names[] = {"only:cpu", "only:gpu", "balanced", "published", "best"};
    node n, swapped;
    make_sandybridge(&n, 32.4, 450e-6, 260e-6, 814e-6);
    make_sandybridge(&swapped, 32.4, 450e-6, 260e-6, 814e-6);
    yoke_plan_device first = swapped.devices[0];
    swapped.devices[0] = swapped.devices[1];
    swapped.devices[1] = first;
    yoke_plan *a = make_plan(&n, LIMITED()), *b = make_plan(&swapped, LIMITED());
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const yoke_plan_choice *one = get(a, names[i]), *other = get(b, names[i]);
        assert_true(one->time_s == other->time_s && one->energy_j == other->energy_j);
        assert_true(one->units[0] == other->units[1] && one->units[1] == other->units[0]);
        assert_string_equal(one->note, other->note);
    }
    yoke_release(context, a);
    yoke_release(context, b);
}

static void a_bare_plan_has_no_words(void **state)
{
    (void)state;
    node n;
    make_peach(&n);
    yoke_plan *plan = make_plan(&n, LIMITED(.bare = 1));
    assert_int_equal(plan->num_alternatives, 0);
    assert_string_equal(plan->decision, "");
    yoke_release(context, plan);
}

static void no_units_are_a_plan_too(void **state)
{
    (void)state;
    node n;
    make_peach(&n);
    n.problem.units = 0;
    yoke_plan *plan = make_plan(&n, LIMITED());
    assert_true(plan->feasible && plan->best.time_s == 0 && get(plan, "published")->energy_j == 0);
    assert_null(strstr(plan->decision, "nan"));
    assert_null(strstr(plan->decision, "inf"));
    yoke_release(context, plan);
}

/* ------------------------------------------------------------------------------------------------ limits and ties */

static void alternatives_that_break_a_limit_are_shown_but_not_taken(void **state)
{
    (void)state;
    node n;
    make_peach(&n);
    yoke_plan *plan = make_plan(&n, LIMITED(.max_slowdown = 1.1));
    const yoke_plan_choice *alone = get(plan, "only:gpu"), *published = get(plan, "published");
    assert_true(plan->feasible && plan->best.time_s <= 1.1 * get(plan, "balanced")->time_s * (1 + 1e-12));
    assert_true(!alone->feasible && !published->feasible && alone->energy_j < plan->best.energy_j && get(plan, "balanced")->feasible);
    assert_string_equal(alone->note, "misses the deadline of 8.177 s");
    assert_string_equal(published->note, "case 2: all on the accelerator; misses the deadline of 8.177 s");
    assert_says(plan->decision, "Limits: at most 1.1 times the least time; without them 9.502 s and 3082 J, ");
    yoke_release(context, plan);
    plan = make_plan(&n, LIMITED(.power_cap_w = 350));
    assert_true(plan->feasible && !get(plan, "only:cpu")->feasible && get(plan, "balanced")->feasible);
    assert_string_equal(get(plan, "only:cpu")->note, "breaks the power cap: 405.1 W");
    assert_says(plan->decision, "power cap 350 W; they cost nothing.");
    yoke_release(context, plan);
}

static void a_plan_that_cannot_be_says_what_could(void **state)
{
    (void)state;
    const struct {
        yoke_plan_options options;
        int64_t most;
        const char *words;
    } cases[] = {
        {{.objective = YOKE_OBJECTIVE_ENERGY, .deadline_s = 7},
         INT64_MAX,
         "There is no such plan: the deadline of 7 s cannot be met; the least time is 7.43345 s."},
        {{.power_cap_w = 300}, INT64_MAX, "There is no such plan: the power cap of 300 W cannot be kept; 324.3 W could be."},
        {{.power_cap_w = 350, .deadline_s = 8},
         INT64_MAX,
         "There is no such plan: the power cap of 350 W cannot be kept within the deadline; 563.7 W could be."},
        {{.power_cap_w = 350, .deadline_s = 7},
         INT64_MAX,
         "There is no such plan: the deadline of 7 s cannot be met; the least time under the power cap is 9.50209 s."},
        {{.objective = YOKE_OBJECTIVE_EDP},
         300,
         "There is no such plan: 10000 units do not fit into the devices' memories; 600 units would."},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        node n;
        make_peach(&n);
        n.devices[0].max_units = n.devices[1].max_units = cases[i].most;
        yoke_plan *plan = make_plan(&n, &cases[i].options);
        assert_false(plan->feasible);
        assert_says(plan->decision, cases[i].words);
        assert_null(find(plan, "best"));
        for (int64_t k = 0; k < plan->num_alternatives; k++) assert_false(plan->alternatives[k].feasible);
        assert_null(strstr(plan->decision, "nan"));
        yoke_release(context, plan);
    }
}

static void a_tie_is_said_and_the_faster_is_taken(void **state)
{
    (void)state;
    node n;
    make_peach(&n);
    /* With idle powers in the devices, sharing and the accelerator alone cost nearly the same. */
    n.problem.base_power_w = n.problem.host_overhead_w = 0;
    n.levels[0][0].dynamic_power_w = 293 * 0.12;
    n.levels[1][0].dynamic_power_w = 1052.4 * 0.1199;
    yoke_plan *plan = make_plan(&n, LIMITED());
    assert_true(!plan->tie && plan->best.units[1] == 10000);
    assert_null(strstr(plan->decision, "A tie"));
    yoke_release(context, plan);
    n.levels[0][0].power_uncertainty = n.levels[1][0].power_uncertainty = 0.02;
    plan = make_plan(&n, LIMITED());
    assert_true(plan->tie && plan->best.units[0] > 2000);
    assert_near(plan->best.time_s, get(plan, "balanced")->time_s, 1e-12);
    assert_says(plan->decision, "A tie: this choice (balanced) and only:cpu and only:gpu differ in energy by no more");
    assert_says(plan->decision, "the fastest was taken");
    yoke_release(context, plan);
}

static void no_failing_allocation_is_missed(void **state)
{
    (void)state;
    node n;
    make_peach(&n);
    yoke_status status = YOKE_ERROR_MEMORY;
    int64_t fail_at = 2; /* the first is the context's */
    for (; status == YOKE_ERROR_MEMORY && fail_at < 1000; fail_at++) {
        failing memory = {.fail_at = fail_at};
        yoke_options options = failing_options(&memory);
        yoke_context *poor = NULL;
        yoke_plan *plan = NULL;
        assert_int_equal(yoke_context_create(&options, &poor), YOKE_OK);
        status = yoke_plan_create(poor, &n.problem, LIMITED(.deadline_s = 9), &plan);
        yoke_release(poor, plan);
        yoke_context_destroy(poor);
        assert_int_equal(memory.outstanding, 0);
    }
    assert_int_equal(status, YOKE_OK);
    assert_true(fail_at > 10);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(published_case_2_is_not_the_minimum_and_both_are_named),
    cmocka_unit_test(published_table_2_is_case_3_and_the_minimum),
    cmocka_unit_test(published_case_1_holds_up_to_16_calls),
    cmocka_unit_test(published_case_1_forgets_an_idle_accelerator),
    cmocka_unit_test(published_takes_the_pair_of_frequencies_of_least_energy),
    cmocka_unit_test(published_needs_a_host_and_an_accelerator_and_all_powers),
    cmocka_unit_test(peach_takes_78_percent_for_time_and_all_for_energy),
    cmocka_unit_test(alternatives_are_named_and_none_is_better),
    cmocka_unit_test(the_order_of_devices_does_not_matter),
    cmocka_unit_test(a_bare_plan_has_no_words),
    cmocka_unit_test(no_units_are_a_plan_too),
    cmocka_unit_test(alternatives_that_break_a_limit_are_shown_but_not_taken),
    cmocka_unit_test(a_plan_that_cannot_be_says_what_could),
    cmocka_unit_test(a_tie_is_said_and_the_faster_is_taken),
    cmocka_unit_test(no_failing_allocation_is_missed),
};

UNIT_MAIN(tests, context_start, context_end)
