/*
 * The table of figures of docs/methods/balance.md on a small sample, goals loosened by what a sample of this size needs.
 */
#include "balance/table.h"
#include "balancer.h"

enum { PAIRS = 200 };

static simulated_pair pairs[PAIRS];

static figures reach(void *context, const table_row *row, yoke_balance_policy policy)
{
    simulated_case simulation = row->simulation;
    simulation.policy = policy;
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
        figures reached = reach(context, row, YOKE_BALANCE_ADAPTIVE);
        if (!table_met(&reached, &row->goal, 1.5))
            fail_msg("%s, noise %g, %s: p50 %g, p95 %g, p99.9 %g, balanced %g, decisions %g, starved %g",
                     family_name(row->simulation.family), row->simulation.noise, disturbance_name(disturbance), reached.p50, reached.p95,
                     reached.p999, reached.balanced, reached.steps_p95, reached.starved);
        rows++;
    }
    assert_true(rows >= 2);
}

static void pairs_are_balanced_with_and_without_noise(void **state) { assert_reached(*state, DISTURBANCE_NONE, 2); }
static void spikes_starve_nobody(void **state) { assert_reached(*state, DISTURBANCE_SPIKES, 2); }
static void drift_is_followed(void **state) { assert_reached(*state, DISTURBANCE_DRIFT, 2); }
static void three_to_eight_devices_are_balanced(void **state) { assert_reached(*state, DISTURBANCE_NONE, 0); }
static void models_carry_over_to_growing_totals(void **state) { assert_reached(*state, DISTURBANCE_GROWTH, 2); }

/* The comparison: constant models fail at cliffs.  It also shows that the simulation can tell. */
static void constant_models_fail_at_cliffs_and_not_at_knees(void **state)
{
    for (int i = 0; i < balance_table_rows; i++) {
        const table_row *row = &balance_table[i];
        if (row->simulation.disturbance != DISTURBANCE_NONE || row->simulation.devices != 2 || row->simulation.noise != 0.01) continue;
        figures reached = reach(*state, row, YOKE_BALANCE_PAPER);
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
    cmocka_unit_test(constant_models_fail_at_cliffs_and_not_at_knees),
    cmocka_unit_test(the_best_share_of_the_simulation_is_the_best),
};

UNIT_MAIN(tests, start_context, stop_context)
