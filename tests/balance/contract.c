/* What holds for every policy and every input. */
#include <stdbool.h>

#include "balance/balance.h"
#include "balancer.h"
#include "base/failing.h"

static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double uniform(uint64_t *state) { return (double)(next(state) >> 11) * 0x1p-53; }

static void options_out_of_range_are_refused(void **state)
{
    const double negative[] = {1.5, -0.5}, less[] = {0.5, 0.4}, nan[] = {NAN, 1}, zero[] = {0, 1};
    const int64_t most[] = {5, -1};
    const yoke_balancer_options wrong[] = {
        {.devices = 0},
        {.devices = -1},
        {.devices = YOKE_BALANCER_MAX_DEVICES + 1},
        {.devices = INT64_MAX},
        {.devices = 2, .policy = (yoke_balance_policy)3},
        {.devices = 2, .policy = (yoke_balance_policy)-1},
        {.devices = 2, .rounds = -1},
        {.devices = 2, .calls_per_round = -1},
        {.devices = 2, .calls_per_round = NAN},
        {.devices = 2, .calls_per_round = INFINITY},
        {.devices = 2, .shares = negative},
        {.devices = 2, .shares = less},
        {.devices = 2, .shares = nan},
        {.devices = 2, .start_seconds_per_unit = zero},
        {.devices = 2, .start_seconds_per_unit = negative},
        {.devices = 2, .max_units = most},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        yoke_balancer *balancer = NULL;
        assert_int_equal(yoke_balancer_create(*state, &wrong[k], &balancer), YOKE_ERROR_ARGUMENT);
        assert_null(balancer);
        assert_true(strlen(yoke_last_error(*state)) > 0);
    }
    assert_int_equal(yoke_balancer_create(*state, NULL, NULL), YOKE_ERROR_ARGUMENT);
    yoke_balancer_destroy(NULL);
}

static void reports_that_are_absurd_change_nothing(void **state)
{
    yoke_share_report good[] = {report(500, 1), report(500, 4)};
    yoke_share_report wrong[9];
    for (int k = 0; k < 9; k++) wrong[k] = report(500, 4);
    wrong[0].units = -1;
    wrong[1].seconds = -1;
    wrong[2].seconds = INFINITY;
    wrong[3].seconds = 1e13;
    wrong[4].moved_units = -1;
    wrong[5].moved_s = -1;
    wrong[6].moved_s = INFINITY;
    wrong[7].energy_j = -1;
    wrong[8].units = INT64_MAX;
    int64_t before[2], units[2];
    char *text = NULL, *after = NULL;
    yoke_balancer *balancer = make_balancer(*state, &(yoke_balancer_options){.devices = 2});
    assert_int_equal(yoke_balancer_update(balancer, good, 1000, before), YOKE_OK);
    assert_int_equal(yoke_balancer_explain(balancer, &text), YOKE_OK);
    for (int k = 0; k < 9; k++) {
        memcpy(units, before, sizeof units);
        assert_int_equal(yoke_balancer_update(balancer, (yoke_share_report[]){good[0], wrong[k]}, 1000, units), YOKE_ERROR_ARGUMENT);
        assert_non_null(strstr(yoke_last_error(*state), "device 1"));
        assert_memory_equal(units, before, sizeof units);
    }
    assert_int_equal(yoke_balancer_update(balancer, good, -1, units), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_balancer_update(balancer, NULL, 1000, units), YOKE_OK);
    assert_memory_equal(units, before, sizeof units);
    assert_int_equal(yoke_balancer_explain(balancer, &after), YOKE_OK);
    assert_string_equal(text, after);
    yoke_release(*state, text);
    yoke_release(*state, after);
    yoke_balancer_destroy(balancer);
}

static void a_report_of_zeros_claims_no_energy(void **state)
{
    int64_t units[2];
    char *text = NULL;
    yoke_balancer *balancer = make_balancer(*state, &(yoke_balancer_options){.devices = 2});
    const yoke_share_report zeros[2] = {{.units = 500, .seconds = 1}, {.units = 500, .seconds = 1}};
    assert_int_equal(yoke_balancer_update(balancer, zeros, 1000, units), YOKE_OK);
    assert_int_equal(yoke_balancer_explain(balancer, &text), YOKE_OK);
    assert_null(strstr(text, " J"));
    yoke_release(*state, text);
    yoke_balancer_destroy(balancer);
}

static void rounds_without_measurements_keep_what_is_known(void **state)
{
    int64_t units[2], again[2];
    for (int policy = YOKE_BALANCE_ADAPTIVE; policy <= YOKE_BALANCE_FIXED; policy++) {
        yoke_balancer *balancer = make_balancer(*state, &(yoke_balancer_options){.devices = 2, .policy = (yoke_balance_policy)policy});
        assert_int_equal(yoke_balancer_update(balancer, (yoke_share_report[]){report(0, NAN), report(0, NAN)}, 0, units), YOKE_OK);
        assert_true(units[0] == 0 && units[1] == 0);
        assert_int_equal(yoke_balancer_update(balancer, (yoke_share_report[]){report(500, NAN), report(500, 0)}, 1000, units), YOKE_OK);
        assert_true(units[0] == 500 && units[1] == 500);
        assert_int_equal(yoke_balancer_update(balancer, (yoke_share_report[]){report(500, 1), report(500, 3)}, 1000, units), YOKE_OK);
        assert_true(llabs(units[0] - (policy == YOKE_BALANCE_FIXED ? 500 : 750)) <= 2);
        assert_int_equal(yoke_balancer_update(balancer, (yoke_share_report[]){report(units[0], NAN), report(units[1], NAN)}, 1000, again),
                         YOKE_OK);
        assert_memory_equal(units, again, sizeof units);
        yoke_balancer_destroy(balancer);
    }
}

static void limits_are_kept_and_what_does_not_fit_is_said(void **state)
{
    const double rate[] = {1, 1, 1};
    const int64_t most[] = {100, 50, 1000};
    int64_t units[3];
    for (int policy = YOKE_BALANCE_ADAPTIVE; policy <= YOKE_BALANCE_FIXED; policy++) {
        yoke_balancer *balancer =
            make_balancer(*state, &(yoke_balancer_options){.devices = 3, .policy = (yoke_balance_policy)policy, .max_units = most});
        assert_int_equal(yoke_balancer_update(balancer, NULL, 1151, units), YOKE_ERROR_ARGUMENT);
        assert_non_null(strstr(yoke_last_error(*state), "1150"));
        assert_int_equal(yoke_balancer_update(balancer, NULL, 1150, units), YOKE_OK);
        assert_true(units[0] == 100 && units[1] == 50 && units[2] == 1000);
        do_round(balancer, 3, NULL, rate, 600, units);
        assert_true(units[0] == 100 && units[1] == 50 && units[2] == 450);
        assert_int_equal(yoke_balancer_limit(balancer, 2, 200), YOKE_OK);
        assert_int_equal(yoke_balancer_update(balancer, NULL, 600, units), YOKE_ERROR_ARGUMENT); /* the decision does not hold any more */
        assert_int_equal(yoke_balancer_limit(balancer, 0, 300), YOKE_OK);
        do_round(balancer, 3, NULL, rate, 550, units);
        assert_true(units[0] == 300 && units[1] == 50 && units[2] == 200);
        assert_int_equal(yoke_balancer_limit(balancer, 3, 1), YOKE_ERROR_ARGUMENT);
        assert_int_equal(yoke_balancer_limit(balancer, -1, 1), YOKE_ERROR_ARGUMENT);
        assert_int_equal(yoke_balancer_limit(balancer, 0, -1), YOKE_ERROR_ARGUMENT);
        yoke_balancer_destroy(balancer);
    }
}

static void a_device_that_is_taken_out_never_comes_back(void **state)
{
    double rate[] = {1, 1, 1};
    int64_t units[3];
    for (int policy = YOKE_BALANCE_ADAPTIVE; policy <= YOKE_BALANCE_FIXED; policy++) {
        yoke_balancer *balancer =
            make_balancer(*state, &(yoke_balancer_options){.devices = 3, .policy = (yoke_balance_policy)policy, .rounds = 1000});
        assert_int_equal(yoke_balancer_update(balancer, NULL, 900, units), YOKE_OK);
        do_round(balancer, 3, NULL, rate, 900, units);
        assert_true(units[1] > 0);
        assert_int_equal(yoke_balancer_limit(balancer, 1, 0), YOKE_OK);
        assert_int_equal(yoke_balancer_update(balancer, NULL, 900, units), YOKE_OK);
        for (int r = 0; r < 100; r++) {
            assert_int_equal(units[1], 0);
            assert_true(units[0] > 300 && units[2] > 300);
            do_round(balancer, 3, NULL, rate, 900, units);
        }
        assert_int_equal(yoke_balancer_limit(balancer, 1, 5), YOKE_ERROR_ARGUMENT);
        assert_int_equal(yoke_balancer_limit(balancer, 0, 0), YOKE_OK);
        assert_int_equal(yoke_balancer_limit(balancer, 2, 0), YOKE_OK);
        assert_int_equal(yoke_balancer_update(balancer, NULL, 1, units), YOKE_ERROR_ARGUMENT); /* none is left */
        assert_int_equal(yoke_balancer_update(balancer, NULL, 0, units), YOKE_OK);
        yoke_balancer_destroy(balancer);
    }
}

/* Numbering the devices otherwise numbers their units otherwise, and changes nothing else. */
static void the_order_of_the_devices_does_not_matter(void **state)
{
    enum { DEVICES = 6 };
    uint64_t random = 3;
    for (int policy = YOKE_BALANCE_ADAPTIVE; policy <= YOKE_BALANCE_PAPER; policy++)
        for (int k = 0; k < 50; k++) {
            double rate[2][DEVICES], start[2][DEVICES];
            int64_t units[2][DEVICES];
            int to[DEVICES];
            yoke_balancer *balancers[2];
            for (int i = 0; i < DEVICES; i++) to[i] = (i * 5 + k) % DEVICES;
            for (int i = 0; i < DEVICES; i++) {
                rate[1][to[i]] = rate[0][i] = 0.1 + uniform(&random);
                start[1][to[i]] = start[0][i] = 100 * uniform(&random);
            }
            for (int b = 0; b < 2; b++) {
                balancers[b] = make_balancer(*state, &(yoke_balancer_options){.devices = DEVICES, .policy = (yoke_balance_policy)policy});
                assert_int_equal(yoke_balancer_update(balancers[b], NULL, 6000, units[b]), YOKE_OK);
            }
            for (int r = 0; r < 10; r++) {
                for (int b = 0; b < 2; b++) do_round(balancers[b], DEVICES, start[b], rate[b], 6000 + 700 * r, units[b]);
                for (int i = 0; i < DEVICES; i++) assert_true(llabs(units[0][i] - units[1][to[i]]) <= 1);
            }
            yoke_balancer_destroy(balancers[0]);
            yoke_balancer_destroy(balancers[1]);
        }
}

static void predictions_are_what_was_measured_once_it_is_known(void **state)
{
    const double rate[] = {1e-3, 4e-3};
    int64_t units[2];
    yoke_balancer *balancer = make_balancer(*state, &(yoke_balancer_options){.devices = 2});
    assert_true(isnan(balance_predict(balancer, 0, 10)) && balance_predict(balancer, 1, 0) == 0);
    assert_int_equal(yoke_balancer_update(balancer, NULL, 1000, units), YOKE_OK);
    do_round(balancer, 2, NULL, rate, 1000, units);
    assert_true(fabs(balance_predict(balancer, 0, 500) - 0.5) < 1e-9 && fabs(balance_predict(balancer, 1, 250) - 1) < 1e-9);
    yoke_balancer_destroy(balancer);
}

static void a_failing_allocation_is_an_error_and_no_other_call_allocates(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_options options = failing_options(&memory);
    yoke_context *context = NULL;
    assert_int_equal(yoke_context_create(&options, &context), YOKE_OK);
    yoke_balancer *balancer = NULL;
    memory.fail_at = memory.calls + 1;
    assert_int_equal(yoke_balancer_create(context, &(yoke_balancer_options){.devices = 3}, &balancer), YOKE_ERROR_MEMORY);
    assert_null(balancer);
    memory.fail_at = 0;
    balancer = make_balancer(context, &(yoke_balancer_options){.devices = 3});
    memory.fail_at = memory.calls + 1;
    const int64_t calls = memory.calls;
    const double rate[] = {1, 2, 3};
    int64_t units[3];
    assert_int_equal(yoke_balancer_update(balancer, NULL, 100, units), YOKE_OK);
    for (int r = 0; r < 100; r++) do_round(balancer, 3, NULL, rate, 100 + r, units);
    assert_int_equal(yoke_balancer_limit(balancer, 1, 7), YOKE_OK);
    assert_int_equal(memory.calls, calls);
    char *text = NULL;
    assert_int_equal(yoke_balancer_explain(balancer, &text), YOKE_ERROR_MEMORY);
    assert_null(text);
    yoke_balancer_destroy(balancer);
    yoke_context_destroy(context);
    assert_int_equal(memory.outstanding, 0);
}

/* A number that a program gone wrong could hand over. */
static double hostile_number(uint64_t *random)
{
    static const double strange[] = {0, -0.0, NAN, INFINITY, -INFINITY, -1, 1e-320, 1e-12, 1e-9, 1, 1e6, 1e12, 1e13, 1e308};
    return next(random) % 3 ? pow(10, 24 * uniform(random) - 12) : strange[next(random) % (sizeof strange / sizeof strange[0])];
}

static int64_t hostile_count(uint64_t *random)
{
    static const int64_t strange[] = {0, 1, 2, -1, INT64_MIN, INT64_MAX, (int64_t)1 << 53, ((int64_t)1 << 53) + 1};
    uint64_t kind = next(random) % 8;
    if (kind == 0) return strange[next(random) % (sizeof strange / sizeof strange[0])];
    return (int64_t)(next(random) >> (12 + next(random) % 52));
}

static void check_units(const int64_t *units, int devices, int64_t n, const int64_t *most)
{
    int64_t sum = 0;
    for (int i = 0; i < devices; i++) {
        assert_true(units[i] >= 0 && units[i] <= most[i]);
        sum += units[i];
    }
    assert_int_equal(sum, n);
}

static void one_hundred_thousand_hostile_calls_keep_the_contract(void **state)
{
    uint64_t random = 11;
    int64_t accepted = 0;
    for (int k = 0; k < 1000; k++) {
        int64_t most[8], units[8];
        yoke_share_report reports[8];
        const int devices = 1 + (int)(next(&random) % 8);
        for (int i = 0; i < 8; i++) most[i] = next(&random) % 4 ? INT64_MAX : (int64_t)(next(&random) >> (1 + next(&random) % 62));
        yoke_balancer *balancer = make_balancer(*state, &(yoke_balancer_options){.devices = devices,
                                                                                 .policy = (yoke_balance_policy)(next(&random) % 3),
                                                                                 .max_units = most,
                                                                                 .rounds = (int64_t)(next(&random) % 50),
                                                                                 .calls_per_round = (double)(next(&random) % 100)});
        for (int i = 0; i < devices; i++) units[i] = 1000;
        for (int r = 0; r < 100; r++) {
            const bool mild = next(&random) % 4 != 0;
            for (int i = 0; i < devices; i++) {
                reports[i] = (yoke_share_report){.units = mild ? units[i] : hostile_count(&random),
                                                 .seconds = mild ? pow(10, 24 * uniform(&random) - 12) : hostile_number(&random),
                                                 .moved_s = mild ? NAN : hostile_number(&random),
                                                 .moved_units = mild ? 0 : hostile_count(&random),
                                                 .energy_j = mild ? NAN : hostile_number(&random)};
            }
            const int64_t n = hostile_count(&random);
            yoke_status status = yoke_balancer_update(balancer, reports, n, units);
            assert_true(status == YOKE_OK || status == YOKE_ERROR_ARGUMENT);
            if (status == YOKE_OK) {
                check_units(units, devices, n, most);
                accepted++;
            }
            const int64_t device = (int64_t)(next(&random) % 10) - 1, limit = hostile_count(&random);
            if (next(&random) % 16 == 0 && yoke_balancer_limit(balancer, device, limit) == YOKE_OK) most[device] = limit;
            for (int i = 0; i < devices && next(&random) % 16 == 0; i++) {
                double seconds = balance_predict(balancer, i, units[i]);
                assert_true(!(seconds < 0) && !isinf(seconds));
            }
            char *text = NULL;
            if (next(&random) % 64 == 0) assert_int_equal(yoke_balancer_explain(balancer, &text), YOKE_OK);
            yoke_release(*state, text);
        }
        yoke_balancer_destroy(balancer);
    }
    assert_true(accepted > 20000);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(options_out_of_range_are_refused),
    cmocka_unit_test(reports_that_are_absurd_change_nothing),
    cmocka_unit_test(a_report_of_zeros_claims_no_energy),
    cmocka_unit_test(rounds_without_measurements_keep_what_is_known),
    cmocka_unit_test(limits_are_kept_and_what_does_not_fit_is_said),
    cmocka_unit_test(a_device_that_is_taken_out_never_comes_back),
    cmocka_unit_test(the_order_of_the_devices_does_not_matter),
    cmocka_unit_test(predictions_are_what_was_measured_once_it_is_known),
    cmocka_unit_test(a_failing_allocation_is_an_error_and_no_other_call_allocates),
    cmocka_unit_test(one_hundred_thousand_hostile_calls_keep_the_contract),
};

UNIT_MAIN(tests, start_context, stop_context)
