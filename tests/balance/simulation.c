/*
 * The table of figures of docs/methods/balance.md on a small sample, goals loosened by what a sample of this size needs.
 */
#include "balance/table.h"
#include "balancer.h"

enum { PAIRS = 200 };

static simulated_pair pairs[PAIRS];

static figures reach(void *context, const table_row *row, sharing_method method)
{
    simulated_case simulation = row->simulation;
    simulation.method = method;
    simulation.seed = 20;
    assert_int_equal(simulate(context, &simulation, PAIRS, pairs), YOKE_OK);
    return table_figures(pairs, PAIRS);
}

static void assert_reached(void *context, disturbance_kind disturbance, int devices)
{
    int rows = 0;
    for (int i = 0; i < balance_table_rows; i++) {
        const table_row *row = &balance_table[i];
        if (row->simulation.disturbance != disturbance || row->simulation.devices != devices) continue;
        figures reached = reach(context, row, METHOD_ADAPTIVE);
        if (!table_met(&reached, &row->goal, 1.5))
            fail_msg("%s, noise %g, %s: p50 %g, p95 %g, p99.9 %g, balanced %g, decisions %g, starved %g",
                     family_name(row->simulation.family), row->simulation.noise, disturbance_name(disturbance), reached.p50, reached.p95,
                     reached.p999, reached.balanced, reached.steps_p95, reached.starved);
        rows++;
    }
    assert_true(rows >= 1);
}

static void pairs_are_balanced_with_and_without_noise(void **state) { assert_reached(*state, DISTURBANCE_NONE, 2); }
static void spikes_starve_nobody(void **state) { assert_reached(*state, DISTURBANCE_SPIKES, 2); }
static void drift_is_followed(void **state) { assert_reached(*state, DISTURBANCE_DRIFT, 2); }
static void three_to_eight_devices_are_balanced(void **state) { assert_reached(*state, DISTURBANCE_NONE, 0); }
static void models_carry_over_to_growing_totals(void **state) { assert_reached(*state, DISTURBANCE_GROWTH, 2); }

static void one_round_is_lost_after_a_change(void **state) { assert_reached(*state, DISTURBANCE_CHANGE, 2); }
static void one_round_is_lost_with_three_to_eight_devices(void **state) { assert_reached(*state, DISTURBANCE_CHANGE, 0); }
static void devices_that_change_in_succession_are_followed(void **state) { assert_reached(*state, DISTURBANCE_SUCCESSION, 2); }

/* In one simulation: the balancer, eq. 26 from the last round alone, and eq. 26 with the means of all rounds. */
static void reach_by_all(void *context, family_kind family, double noise, disturbance_kind disturbance, double factor, figures *reached)
{
    const table_row row = {.simulation = {.family = family, .noise = noise, .disturbance = disturbance, .devices = 2, .factor = factor}};
    for (int method = METHOD_ADAPTIVE; method <= METHOD_AVERAGE; method++) reached[method] = reach(context, &row, (sharing_method)method);
}

static void after_a_change_nothing_forgets_faster(void **state)
{
    static const double factors[] = {1.5, 3, 10};
    for (int k = 0; k < 3; k++) {
        figures reached[3];
        reach_by_all(*state, FAMILY_KNEES, 0.01, DISTURBANCE_CHANGE, factors[k], reached);
        assert_true(reached[METHOD_ADAPTIVE].next < reached[METHOD_PAPER].next);
        assert_true(reached[METHOD_ADAPTIVE].p95 < reached[METHOD_PAPER].p95);
        assert_true(reached[METHOD_AVERAGE].next > 3 * reached[METHOD_ADAPTIVE].next); /* the simulation can tell */
    }
}

/* Recovery within one round: in 95 of 100 pairs the round after a change is within 10 %, of factor 1.5 with noise 1 %. */
static void next_rounds_are_near_the_best_in_nearly_all_pairs(void **state)
{
    simulated_case simulation = {.noise = 0.01, .disturbance = DISTURBANCE_CHANGE, .devices = 2, .factor = 1.5, .seed = 21};
    int near = 0;
    assert_int_equal(simulate(*state, &simulation, PAIRS, pairs), YOKE_OK);
    for (int k = 0; k < PAIRS; k++) near += pairs[k].next < 0.1;
    assert_true(near >= 0.95 * PAIRS);
}

/* On the same draws the balancer has no more excess than means of all rounds: there are no cliffs to find and no changes, only noise. */
static void noise_costs_no_more_than_with_means_of_all_rounds(void **state)
{
    static const struct {
        double noise;
        disturbance_kind disturbance;
    } rows[] = {{0.03, DISTURBANCE_NONE}, {0.1, DISTURBANCE_NONE}, {0.2, DISTURBANCE_NONE}, {0.01, DISTURBANCE_SHARED}};
    for (int k = 0; k < 4; k++) {
        double sum[3] = {0};
        for (int method = METHOD_ADAPTIVE; method <= METHOD_AVERAGE; method++)
            for (uint64_t seed = 31; seed < 34; seed++) {
                simulated_case simulation = {.noise = rows[k].noise, .disturbance = rows[k].disturbance, .devices = 2, .seed = seed};
                simulation.method = (sharing_method)method;
                assert_int_equal(simulate(*state, &simulation, PAIRS, pairs), YOKE_OK);
                for (int i = 0; i < PAIRS; i++) sum[method] += pairs[i].excess;
            }
        if (!(sum[METHOD_ADAPTIVE] < 1.05 * sum[METHOD_AVERAGE] && sum[METHOD_PAPER] > 2 * sum[METHOD_ADAPTIVE]))
            fail_msg("noise %g, %s: %g, means of all rounds %g, last round %g", rows[k].noise, disturbance_name(rows[k].disturbance),
                     sum[METHOD_ADAPTIVE], sum[METHOD_AVERAGE], sum[METHOD_PAPER]);
    }
}

static void a_shared_machine_is_not_taken_for_one_that_changes(void **state)
{
    figures reached[3];
    reach_by_all(*state, FAMILY_KNEES, 0.01, DISTURBANCE_SHARED, 0, reached);
    assert_true(reached[METHOD_ADAPTIVE].p50 < 0.04 && reached[METHOD_ADAPTIVE].p95 < 0.125);
    assert_true(reached[METHOD_PAPER].p50 > 3 * reached[METHOD_ADAPTIVE].p50);
}

/* The comparison: constant models fail at cliffs.  It also shows that the simulation can tell. */
static void constant_models_fail_at_cliffs_and_not_at_knees(void **state)
{
    for (int i = 0; i < balance_table_rows; i++) {
        const table_row *row = &balance_table[i];
        if (row->simulation.disturbance != DISTURBANCE_NONE || row->simulation.devices != 2 || row->simulation.noise != 0.01) continue;
        figures reached = reach(*state, row, METHOD_PAPER);
        if (row->simulation.family == FAMILY_CLIFF)
            assert_true(reached.p95 > 0.2);
        else
            assert_true(reached.p95 > 0.006 && reached.p95 < 0.02);
    }
}

/* The best fixed share is the best: nothing on a fine grid beats it. */
static void the_best_share_of_the_simulation_is_the_best(void **state)
{
    (void)state;
    random_state random = {5};
    const double slow[] = {1.2, 0.9};
    for (int k = 0; k < 200; k++) {
        true_device devices[2];
        double shares[2], best = INFINITY;
        family_kind family = k % 2 ? FAMILY_CLIFF : FAMILY_KNEES;
        for (int i = 0; i < 2; i++) devices[i] = family_draw(family, i == 1, &random);
        double makespan = best_makespan(devices, slow, 2, 1, shares);
        for (int j = 0; j <= 4000; j++) {
            double r = j / 4000.0;
            best = fmin(best, fmax(slow[0] * true_seconds(&devices[0], 1 - r), slow[1] * true_seconds(&devices[1], r)));
        }
        assert_true(makespan <= best * (1 + 1e-9) && makespan >= best * 0.97);
        assert_true(fabs(shares[0] + shares[1] - 1) < 1e-12);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(pairs_are_balanced_with_and_without_noise),
    cmocka_unit_test(spikes_starve_nobody),
    cmocka_unit_test(drift_is_followed),
    cmocka_unit_test(three_to_eight_devices_are_balanced),
    cmocka_unit_test(models_carry_over_to_growing_totals),
    cmocka_unit_test(one_round_is_lost_after_a_change),
    cmocka_unit_test(one_round_is_lost_with_three_to_eight_devices),
    cmocka_unit_test(devices_that_change_in_succession_are_followed),
    cmocka_unit_test(after_a_change_nothing_forgets_faster),
    cmocka_unit_test(next_rounds_are_near_the_best_in_nearly_all_pairs),
    cmocka_unit_test(noise_costs_no_more_than_with_means_of_all_rounds),
    cmocka_unit_test(a_shared_machine_is_not_taken_for_one_that_changes),
    cmocka_unit_test(constant_models_fail_at_cliffs_and_not_at_knees),
    cmocka_unit_test(the_best_share_of_the_simulation_is_the_best),
};

UNIT_MAIN(tests, start_context, stop_context)
