/* What each policy decides, where that can be said exactly. */
#include "balancer.h"

static void paper_shares_follow_equation_26(void **state)
{
    /* t_c = 27.2 us / 16 cores and t_g = 1.69 us: r = 0.5014749 (sect. 3.9 of the paper); with q GPUs eq. 42. */
    static const double share_of_gpus[] = {0.5014749262536873, 0.6679764243614931, 0.7511045655375552, 0.800942285041225};
    const int64_t n = 1000000000000;
    for (int q = 1; q <= 4; q++) {
        const double rate[] = {1.70e-6, 1.69e-6, 1.69e-6, 1.69e-6, 1.69e-6};
        int64_t units[5], gpus = 0;
        yoke_balancer *balancer = make_balancer(*state, &(yoke_balancer_options){.devices = q + 1, .policy = YOKE_BALANCE_PAPER});
        assert_int_equal(yoke_balancer_update(balancer, NULL, n, units), YOKE_OK);
        for (int i = 0; i <= q; i++) assert_true(llabs(units[i] - n / (q + 1)) <= 1); /* equal at first */
        do_round(balancer, q + 1, NULL, rate, n, units);
        for (int i = 1; i <= q; i++) gpus += units[i];
        assert_true(fabs((double)gpus / (double)n - share_of_gpus[q - 1]) < 1e-11);
        yoke_balancer_destroy(balancer);
    }
}

static void paper_uses_the_last_round_alone_and_keeps_what_it_cannot_measure(void **state)
{
    int64_t units[2];
    yoke_balancer *balancer = make_balancer(*state, &(yoke_balancer_options){.devices = 2, .policy = YOKE_BALANCE_PAPER});
    assert_int_equal(yoke_balancer_update(balancer, (yoke_share_report[]){report(500, 1), report(500, 4)}, 1000, units), YOKE_OK);
    assert_true(units[0] == 800 && units[1] == 200);
    assert_int_equal(yoke_balancer_update(balancer, (yoke_share_report[]){report(800, 0.8), report(200, 0.6)}, 1000, units), YOKE_OK);
    assert_true(units[0] == 750 && units[1] == 250);
    assert_int_equal(yoke_balancer_update(balancer, (yoke_share_report[]){report(1000, 9), report(0, NAN)}, 1200, units), YOKE_OK);
    assert_true(units[0] == 300 && units[1] == 900); /* 9 ms and, as before, 3 ms a unit */
    yoke_balancer_destroy(balancer);
}

/* Eq. 23: the GPU is used while copying an element takes less than l products of it on the CPU. */
static void paper_drops_a_device_whose_copies_cost_more_than_they_bring(void **state)
{
    static const struct {
        double copy_s;
        int dropped;
    } cases[] = {{9.9e-3, 0}, {10.1e-3, 1}};
    for (int k = 0; k < 2; k++) { /* t_c = 1 ms, l = 10 */
        int64_t units[2];
        char *text = NULL;
        yoke_balancer *balancer =
            make_balancer(*state, &(yoke_balancer_options){.devices = 2, .policy = YOKE_BALANCE_PAPER, .calls_per_round = 10});
        yoke_share_report reports[] = {report(500, 0.5), report(500, 0.5)};
        reports[1].moved_units = 500;
        reports[1].moved_s = 500 * cases[k].copy_s;
        assert_int_equal(yoke_balancer_update(balancer, reports, 1000, units), YOKE_OK);
        assert_int_equal(units[1], cases[k].dropped ? 0 : 500);
        assert_int_equal(yoke_balancer_explain(balancer, &text), YOKE_OK);
        assert_true((strstr(text, "eq. 23") != NULL) == cases[k].dropped);
        yoke_release(*state, text);
        yoke_balancer_destroy(balancer);
    }
}

/* The same for a run whose data moves in every round; and data that stays serves for many rounds. */
static void adaptive_drops_a_device_only_if_its_data_moves_again_and_again(void **state)
{
    for (int stays = 0; stays < 2; stays++) {
        int64_t units[2] = {500, 500};
        yoke_balancer *balancer = make_balancer(*state, &(yoke_balancer_options){.devices = 2, .rounds = 100, .calls_per_round = 10});
        for (int r = 0; r < 4; r++) {
            yoke_share_report reports[] = {report(units[0], 1e-3 * (double)units[0]), report(units[1], 1e-3 * (double)units[1])};
            reports[1].moved_units = r == 0 || !stays ? units[1] : 0;
            reports[1].moved_s = 20e-3 * (double)reports[1].moved_units;
            assert_int_equal(yoke_balancer_update(balancer, reports, 1000, units), YOKE_OK);
        }
        assert_int_equal(units[1] > 0, stays);
        yoke_balancer_destroy(balancer);
    }
}

/* Up to the last round that was announced: dropping a device would not bring back what moving its data has cost. */
static void adaptive_keeps_a_device_whose_data_is_there_in_the_last_round(void **state)
{
    int64_t units[2] = {500, 500};
    yoke_balancer *balancer = make_balancer(*state, &(yoke_balancer_options){.devices = 2, .rounds = 5, .calls_per_round = 10});
    for (int r = 0; r < 5; r++) {
        yoke_share_report reports[] = {report(units[0], 1e-3 * (double)units[0]), report(units[1], 1e-3 * (double)units[1])};
        reports[1].moved_units = r == 0 ? units[1] : 0;
        reports[1].moved_s = 20e-3 * (double)reports[1].moved_units;
        assert_int_equal(yoke_balancer_update(balancer, reports, 1000, units), YOKE_OK);
        assert_int_equal(units[1], 500);
    }
    yoke_balancer_destroy(balancer);
}

static void fixed_shares_stay(void **state)
{
    const double shares[] = {0.2, 0.5, 0.3}, rate[] = {1, 2, 30};
    int64_t units[3];
    yoke_balancer *balancer = make_balancer(*state, &(yoke_balancer_options){.devices = 3, .policy = YOKE_BALANCE_FIXED, .shares = shares});
    assert_int_equal(yoke_balancer_update(balancer, NULL, 1000, units), YOKE_OK);
    for (int64_t n = 1000; n < 4000; n += 1000) {
        assert_true(units[0] == n / 5 && units[1] == n / 2 && units[2] == n * 3 / 10);
        do_round(balancer, 3, NULL, rate, n + 1000, units);
    }
    yoke_balancer_destroy(balancer);
}

static void fixed_shares_of_nothing_stay_nothing(void **state)
{
    const double shares[] = {1, 0};
    const int64_t most[] = {100, 1000};
    int64_t units[2];
    yoke_balancer *balancer =
        make_balancer(*state, &(yoke_balancer_options){.devices = 2, .policy = YOKE_BALANCE_FIXED, .shares = shares, .max_units = most});
    assert_int_equal(yoke_balancer_update(balancer, NULL, 77, units), YOKE_OK);
    assert_true(units[0] == 77 && units[1] == 0);
    assert_int_equal(yoke_balancer_update(balancer, NULL, 300, units), YOKE_OK); /* unless the others cannot hold it */
    assert_true(units[0] == 100 && units[1] == 200);
    yoke_balancer_destroy(balancer);
}

static void known_speeds_are_the_start(void **state)
{
    const double start[] = {1e-3, 3e-3, NAN};
    int64_t units[3];
    yoke_balancer *balancer = make_balancer(*state, &(yoke_balancer_options){.devices = 3, .start_seconds_per_unit = start});
    assert_int_equal(yoke_balancer_update(balancer, NULL, 6000, units), YOKE_OK);
    assert_true(units[0] == 3000 && units[1] == 1000 && units[2] == 2000); /* the unknown one gets the mean speed */
    yoke_balancer_destroy(balancer);
}

static void adaptive_finds_constant_speeds_in_one_step_up_to_noise(void **state)
{
    const double rate[] = {1e-6, 5e-6, 2e-6, 50e-6};
    double inverse = 0;
    int64_t units[4], n = 10000000;
    for (int i = 0; i < 4; i++) inverse += 1 / rate[i];
    yoke_balancer *balancer = make_balancer(*state, &(yoke_balancer_options){.devices = 4});
    assert_int_equal(yoke_balancer_update(balancer, NULL, n, units), YOKE_OK);
    do_round(balancer, 4, NULL, rate, n, units);
    for (int i = 0; i < 4; i++) assert_true(fabs((double)units[i] - (double)n / rate[i] / inverse) < 0.03 * (double)n / rate[i] / inverse);
    yoke_balancer_destroy(balancer);
}

static void adaptive_moves_only_what_pays(void **state)
{
    /* 10 % gain of 1 s a round: worth 4 s of moving with 100 rounds to come, not with 10. */
    for (int rounds = 10; rounds <= 100; rounds += 90) {
        const double shares[] = {0.55, 0.45};
        int64_t units[2];
        yoke_balancer *balancer = make_balancer(*state, &(yoke_balancer_options){.devices = 2, .shares = shares, .rounds = rounds});
        yoke_share_report reports[] = {report(550, 1.1), report(450, 0.9)};
        for (int i = 0; i < 2; i++) {
            reports[i].moved_units = 100;
            reports[i].moved_s = 8;
        }
        assert_int_equal(yoke_balancer_update(balancer, reports, 1000, units), YOKE_OK);
        assert_int_equal(units[0] < 550, rounds == 100);
        yoke_balancer_destroy(balancer);
    }
}

/* A device so slow that it gets nothing is measured again from time to time, and comes back when it has become fast. */
static void adaptive_measures_an_idle_device_again(void **state)
{
    double rate[] = {1, 200};
    int64_t units[2];
    int probes = 0;
    yoke_balancer *balancer = make_balancer(*state, &(yoke_balancer_options){.devices = 2, .rounds = 1000});
    assert_int_equal(yoke_balancer_update(balancer, NULL, 100, units), YOKE_OK);
    for (int r = 0; r < 300; r++) {
        do_round(balancer, 2, NULL, rate, 100, units);
        probes += units[1] == 1;
        assert_true(units[1] <= 1);
    }
    assert_true(probes >= 2 && probes <= 6);
    rate[1] = 1;
    for (int r = 0; r < 140; r++) do_round(balancer, 2, NULL, rate, 100, units);
    assert_true(units[1] >= 45 && units[1] <= 55);
    yoke_balancer_destroy(balancer);
}

/*
 * What is seen of a device that was quiet for rounds is believed at once, and taken back if the next round says otherwise: nothing is lost
 * but that round, and the device is not starved.  After that it is believed when it is seen twice, as long as that is remembered.
 */
static void adaptive_believes_a_change_at_once_until_it_was_mistaken(void **state)
{
    double rate[] = {1e-5, 1e-5}, spiked[] = {1e-5, 1e-3};
    int64_t units[2];
    yoke_balancer *balancer = make_balancer(*state, &(yoke_balancer_options){.devices = 2});
    assert_int_equal(yoke_balancer_update(balancer, NULL, 10000, units), YOKE_OK);
    for (int r = 0; r < 12; r++) do_round(balancer, 2, NULL, rate, 10000, units);
    do_round(balancer, 2, NULL, spiked, 10000, units);
    assert_true(units[1] > 0 && units[1] < 150); /* 99 by constant speeds */
    do_round(balancer, 2, NULL, rate, 10000, units);
    assert_true(units[1] > 4900);
    do_round(balancer, 2, NULL, spiked, 10000, units);
    assert_true(units[1] > 4900);
    do_round(balancer, 2, NULL, spiked, 10000, units);
    assert_true(units[1] < 150);
    for (int r = 0; r < 5; r++) do_round(balancer, 2, NULL, spiked, 10000, units);
    assert_true(units[1] > 80 && units[1] < 120);
    yoke_balancer_destroy(balancer);
}

/* In the first rounds nobody knows how often the device is disturbed: what looks a hundred times slower is believed when it is seen twice. */
static void adaptive_believes_a_change_in_the_first_rounds_when_it_is_seen_twice(void **state)
{
    double rate[] = {1e-5, 1e-5}, spiked[] = {1e-5, 1e-3};
    int64_t units[2];
    yoke_balancer *balancer = make_balancer(*state, &(yoke_balancer_options){.devices = 2});
    assert_int_equal(yoke_balancer_update(balancer, NULL, 10000, units), YOKE_OK);
    for (int r = 0; r < 3; r++) do_round(balancer, 2, NULL, rate, 10000, units);
    do_round(balancer, 2, NULL, spiked, 10000, units);
    assert_true(units[1] > 4900);
    do_round(balancer, 2, NULL, spiked, 10000, units);
    assert_true(units[1] < 150);
    yoke_balancer_destroy(balancer);
}

/* Slower by a factor and as before again, without noise: the shares are those of the true speeds in the very next round, each time. */
static void adaptive_loses_one_round_to_a_change_and_one_to_the_recovery(void **state)
{
    static const double factors[] = {1.5, 3, 10};
    for (int k = 0; k < 3; k++) {
        const double rate[] = {1e-5, 2e-5}, slow[] = {1e-5, 2e-5 * factors[k]};
        int64_t units[2];
        yoke_balancer *balancer = make_balancer(*state, &(yoke_balancer_options){.devices = 2});
        assert_int_equal(yoke_balancer_update(balancer, NULL, 100000, units), YOKE_OK);
        for (int r = 0; r < 14; r++) do_round(balancer, 2, NULL, rate, 100000, units);
        for (int change = 0; change < 4; change++) {
            const double *now = change % 2 ? rate : slow;
            double best = 100000 / now[1] / (1 / now[0] + 1 / now[1]);
            for (int r = 0; r < 8; r++) {
                do_round(balancer, 2, NULL, now, 100000, units);
                assert_true(fabs((double)units[1] / best - 1) < 0.01);
            }
        }
        yoke_balancer_destroy(balancer);
    }
}

/* Seconds of a CPU core and of PoCL on another one, as measured on a machine with other work: what PoCL took said nothing of its slope. */
static void noise_among_small_numbers_does_not_buy_a_slow_device_many_units(void **state)
{
    static const struct {
        int64_t units[2];
        double seconds[2];
    } rounds[] = {
        {{60, 60}, {2.54e-5, 2.04e-4}},   {{176, 21}, {5.74e-5, 8.56e-5}},  {{320, 24}, {1.08e-4, 1.21e-4}},
        {{514, 47}, {1.46e-4, 2.81e-4}},  {{849, 62}, {1.89e-4, 3.78e-4}},  {{1369, 60}, {3.13e-4, 2.73e-4}},
        {{2494, 90}, {8.35e-4, 3.55e-4}}, {{3600, 629}, {9.3e-4, 2.75e-3}},
    };
    const int count = sizeof rounds / sizeof rounds[0];
    int64_t units[2];
    yoke_balancer *balancer = make_balancer(*state, &(yoke_balancer_options){.devices = 2, .rounds = count + 1});
    for (int r = 0; r < count; r++) {
        yoke_share_report reports[2];
        for (int i = 0; i < 2; i++) reports[i] = report(rounds[r].units[i], rounds[r].seconds[i]);
        int64_t next = r + 1 < count ? rounds[r + 1].units[0] + rounds[r + 1].units[1] : 6581;
        assert_int_equal(yoke_balancer_update(balancer, reports, next, units), YOKE_OK);
        assert_true(r == 0 || units[1] <= 900); /* it would be 2626 of the 4229 with the flat line through what was seen */
    }
    assert_true(units[1] >= 200 && units[1] <= 500); /* the time for 629 was believed at once: 4.4e-6 s a unit */
    yoke_balancer_destroy(balancer);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(paper_shares_follow_equation_26),
    cmocka_unit_test(paper_uses_the_last_round_alone_and_keeps_what_it_cannot_measure),
    cmocka_unit_test(paper_drops_a_device_whose_copies_cost_more_than_they_bring),
    cmocka_unit_test(adaptive_drops_a_device_only_if_its_data_moves_again_and_again),
    cmocka_unit_test(adaptive_keeps_a_device_whose_data_is_there_in_the_last_round),
    cmocka_unit_test(fixed_shares_stay),
    cmocka_unit_test(fixed_shares_of_nothing_stay_nothing),
    cmocka_unit_test(known_speeds_are_the_start),
    cmocka_unit_test(adaptive_finds_constant_speeds_in_one_step_up_to_noise),
    cmocka_unit_test(adaptive_moves_only_what_pays),
    cmocka_unit_test(adaptive_measures_an_idle_device_again),
    cmocka_unit_test(adaptive_believes_a_change_at_once_until_it_was_mistaken),
    cmocka_unit_test(adaptive_believes_a_change_in_the_first_rounds_when_it_is_seen_twice),
    cmocka_unit_test(adaptive_loses_one_round_to_a_change_and_one_to_the_recovery),
    cmocka_unit_test(noise_among_small_numbers_does_not_buy_a_slow_device_many_units),
};

UNIT_MAIN(tests, start_context, stop_context)
