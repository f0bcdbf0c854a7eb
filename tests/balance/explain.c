/* Each decision is explained in one line, with what it stands on. */
#include "balancer.h"

/* The explanation has exactly one line and all of the words. */
static void assert_explains(void *context, const yoke_balancer *balancer, const char *const *words)
{
    char *text = NULL;
    assert_int_equal(yoke_balancer_explain(balancer, &text), YOKE_OK);
    assert_null(strchr(text, '\n'));
    for (; *words; words++)
        if (strstr(text, *words) == NULL) fail_msg("'%s' is not in: %s", *words, text);
    yoke_release(context, text);
}

#define EXPLAINS(...) assert_explains(*state, balancer, (const char *const[]){__VA_ARGS__, NULL})

static void the_start_says_that_nothing_is_known(void **state)
{
    yoke_balancer *balancer = make_balancer(*state, &(yoke_balancer_options){.devices = 2});
    EXPLAINS("round 0", "nothing was measured");
    assert_int_equal(yoke_balancer_explain(NULL, NULL), YOKE_ERROR_ARGUMENT);
    yoke_balancer_destroy(balancer);
}

static void a_move_says_from_where_to_where_and_what_it_brings(void **state)
{
    int64_t units[2];
    yoke_balancer *balancer = make_balancer(*state, &(yoke_balancer_options){.devices = 2});
    yoke_share_report reports[] = {report(500, 1), report(500, 3)};
    reports[0].energy_j = 12.5;
    assert_int_equal(yoke_balancer_update(balancer, reports, 1000, units), YOKE_OK);
    EXPLAINS("round 1: moved", "gain 1.5 s a call (", "makespan 3 s, 0 % above the best share seen", "device 0: 500 -> 75",
             "device 1: 500 -> 2", "predicted not known", "measured 1 s", "12.5 J");
    reports[0] = report(750, 1.5);
    reports[1] = report(250, 3.3);
    assert_int_equal(yoke_balancer_update(balancer, reports, 1000, units), YOKE_OK);
    EXPLAINS("round 2", "predicted 1.5 s, measured 3.3 s", "10 % above the best share seen");
    yoke_balancer_destroy(balancer);
}

static void keeping_says_whether_noise_or_cost_is_the_reason(void **state)
{
    int64_t units[2];
    yoke_balancer *balancer = make_balancer(*state, &(yoke_balancer_options){.devices = 2, .rounds = 5});
    yoke_share_report reports[] = {report(500, 1), report(500, 1.0001)};
    assert_int_equal(yoke_balancer_update(balancer, reports, 1000, units), YOKE_OK);
    EXPLAINS("kept", "within the noise", "500 -> 500");
    reports[0] = report(500, 0.95);
    reports[1] = report(500, 1.05);
    for (int i = 0; i < 2; i++) {
        reports[i].moved_units = 1;
        reports[i].moved_s = 10;
    }
    assert_int_equal(yoke_balancer_update(balancer, reports, 1000, units), YOKE_OK);
    EXPLAINS("kept: moving would cost", "more than the gain", "500 -> 500");
    yoke_balancer_destroy(balancer);
}

/* One round of three that report seconds per unit for what they have; returns with the next units in place. */
static void one_round(yoke_balancer *balancer, double first_s, double second_s, int64_t *units)
{
    const yoke_share_report reports[] = {report(units[0], first_s * (double)units[0]), report(units[1], second_s * (double)units[1])};
    assert_int_equal(yoke_balancer_update(balancer, reports, 10000, units), YOKE_OK);
}

static void a_change_its_end_and_a_mistake_are_said_in_plain_words(void **state)
{
    int64_t units[2] = {5000, 5000};
    yoke_balancer *balancer = make_balancer(*state, &(yoke_balancer_options){.devices = 2});
    for (int r = 1; r <= 14; r++) one_round(balancer, 1e-4, 1e-4, units);
    one_round(balancer, 1e-4, 9.8e-4, units);
    EXPLAINS("round 15: moved", "device 1: 5000 -> 9", "changed its speed by a factor 9.8 in round 15 (slower)");
    for (int r = 16; r <= 20; r++) one_round(balancer, 1e-4, 9.8e-4, units);
    one_round(balancer, 1e-4, 1e-4, units);
    EXPLAINS("is as fast again as before its change, by a factor 9.8 in round 21");
    yoke_balancer_destroy(balancer);

    balancer = make_balancer(*state, &(yoke_balancer_options){.devices = 2});
    units[0] = units[1] = 5000;
    for (int r = 1; r <= 14; r++) one_round(balancer, 1e-4, 1e-4, units);
    one_round(balancer, 1e-4, 4e-4, units);
    EXPLAINS("changed its speed by a factor 4 in round 15 (slower)");
    one_round(balancer, 1e-4, 1e-4, units);
    EXPLAINS("the change of the round before was a disturbance and is taken back");
    yoke_balancer_destroy(balancer);
}

static void doubt_and_loss_of_a_device_are_said(void **state)
{
    int64_t units[2];
    yoke_balancer *balancer = make_balancer(*state, &(yoke_balancer_options){.devices = 2});
    yoke_share_report reports[] = {report(500, 1), report(500, 1)};
    assert_int_equal(yoke_balancer_update(balancer, reports, 1000, units), YOKE_OK);
    reports[1].seconds = 100;
    assert_int_equal(yoke_balancer_update(balancer, reports, 1000, units), YOKE_OK);
    EXPLAINS("device 1: 500 -> 500 units, predicted 1 s, measured 100 s, not believed until seen again");
    assert_int_equal(yoke_balancer_limit(balancer, 1, 0), YOKE_OK);
    reports[1] = report(500, NAN);
    assert_int_equal(yoke_balancer_update(balancer, reports, 1000, units), YOKE_OK);
    EXPLAINS("new shares: the total or the devices are others than before", "device 1: 500 -> 0 units", "taken out");
    yoke_balancer_destroy(balancer);
}

static void the_longest_explanation_fits(void **state)
{
    enum { DEVICES = YOKE_BALANCER_MAX_DEVICES };
    int64_t units[DEVICES];
    yoke_share_report reports[DEVICES];
    yoke_balancer *balancer = make_balancer(*state, &(yoke_balancer_options){.devices = DEVICES});
    for (int r = 0; r < 3; r++) {
        for (int i = 0; i < DEVICES; i++) {
            reports[i] = report(123456789012345, 1.23456789e-9 * (1 + i) * (1 + 100 * r));
            reports[i].energy_j = 1.23456789e17;
            reports[i].moved_units = 123456789012345;
            reports[i].moved_s = 1.23456789e11;
        }
        assert_int_equal(yoke_balancer_update(balancer, reports, 123456789012345, units), YOKE_OK);
    }
    EXPLAINS("device 63: ");
    yoke_balancer_destroy(balancer);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_start_says_that_nothing_is_known),
    cmocka_unit_test(a_move_says_from_where_to_where_and_what_it_brings),
    cmocka_unit_test(keeping_says_whether_noise_or_cost_is_the_reason),
    cmocka_unit_test(a_change_its_end_and_a_mistake_are_said_in_plain_words),
    cmocka_unit_test(doubt_and_loss_of_a_device_are_said),
    cmocka_unit_test(the_longest_explanation_fits),
};

UNIT_MAIN(tests, start_context, stop_context)
