#include "estimate/mark.h"

#include <math.h>

#include "unit.h"

typedef struct marking {
    yoke_status status;
    int64_t marked;
    uint8_t mark[16];
} marking;

static marking mark_with(yoke_context *context, int count, const double *indicator, double fraction)
{
    marking result = {.marked = -7};
    memset(result.mark, 9, sizeof result.mark);
    result.status = fem_mark(context, NULL, count, indicator, fraction, result.mark, &result.marked);
    return result;
}

static void assert_marks(const double *indicator, int count, double fraction, const uint8_t *expected)
{
    yoke_context *context;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    marking result = mark_with(context, count, indicator, fraction);
    int64_t number = 0;
    assert_int_equal(result.status, YOKE_OK);
    for (int i = 0; i < count; i++) {
        assert_int_equal(result.mark[i], expected[i]);
        number += expected[i];
    }
    assert_int_equal(result.marked, number);
    yoke_context_destroy(context);
}

/* Squares 1 4 9 16 25 add up to 55. */
static void the_smallest_set_that_holds_the_fraction_of_the_squares_is_marked(void **state)
{
    static const double indicator[5] = {2, 5, 1, 4, 3};
    (void)state;
    assert_marks(indicator, 5, 0.4, (uint8_t[]){0, 1, 0, 0, 0});       /* 25 of 22.0   */
    assert_marks(indicator, 5, 0.46, (uint8_t[]){0, 1, 0, 1, 0});      /* 41 of 25.3   */
    assert_marks(indicator, 5, 41.0 / 55, (uint8_t[]){0, 1, 0, 1, 0}); /* 41 of 41: reached exactly */
    assert_marks(indicator, 5, 0.9, (uint8_t[]){0, 1, 0, 1, 1});       /* 50 of 49.5   */
    assert_marks(indicator, 5, 0.95, (uint8_t[]){1, 1, 0, 1, 1});      /* 54 of 52.25  */
    assert_marks(indicator, 5, 1e-12, (uint8_t[]){0, 1, 0, 0, 0});
}

static void the_whole_fraction_marks_every_indicator_above_zero(void **state)
{
    static const double indicator[5] = {2, 0, 1e-9, 4, 0};
    (void)state;
    assert_marks(indicator, 5, 1, (uint8_t[]){1, 0, 0, 1, 0}); /* 1e-18 is lost in the sum */
    assert_marks((double[]){0.1, 0.7, 0.3, 0.9}, 4, 1, (uint8_t[]){1, 1, 1, 1});
}

static void ties_are_marked_together(void **state)
{
    (void)state;
    assert_marks((double[]){3, 1, 3, 3, 1}, 5, 0.2, (uint8_t[]){1, 0, 1, 1, 0});
    assert_marks((double[]){3, 3, 3, 3}, 4, 0.1, (uint8_t[]){1, 1, 1, 1});
}

static void indicators_within_rounding_of_the_threshold_are_marked(void **state)
{
    (void)state;
    assert_marks((double[]){1, 1 - 0.99e-4, 1 - 1.01e-4, 0.5}, 4, 0.1, (uint8_t[]){1, 1, 0, 0});
}

static void rounding_does_not_change_the_marks(void **state)
{
    double exact[16], rounded[16];
    (void)state;
    for (int i = 0; i < 16; i++) {
        exact[i] = 1 + i % 4; /* four equal elements each, as symmetry gives them */
        rounded[i] = exact[i] * (1 + 1e-13 * (i % 3 - 1));
    }
    yoke_context *context;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    for (int k = 1; k <= 20; k++) {
        marking a = mark_with(context, 16, exact, k / 20.0 - 0.01), b = mark_with(context, 16, rounded, k / 20.0 - 0.01);
        assert_int_equal(a.marked, b.marked);
        assert_memory_equal(a.mark, b.mark, 16);
        assert_int_equal(a.marked % 4, 0);
    }
    yoke_context_destroy(context);
}

/* One square of 1, and ten of 0.1, whose sum has another last digit in each order: half of all is the one. */
static void a_sum_that_is_reached_but_for_rounding_is_enough(void **state)
{
    (void)state;
    for (int at = 0; at < 11; at++) {
        double indicator[11];
        uint8_t expected[11] = {0};
        for (int i = 0; i < 11; i++) indicator[i] = i == at ? 1 : sqrt(0.1) * (1 + 1e-16 * i);
        expected[at] = 1;
        assert_marks(indicator, 11, 0.5, expected);
        assert_marks(indicator, 11, 0.5 * (1 + 1e-12), expected);
    }
}

static void zero_indicators_mark_nothing(void **state)
{
    (void)state;
    assert_marks((double[]){0, 0, 0}, 3, 0.3, (uint8_t[]){0, 0, 0});
    assert_marks(NULL, 0, 0.3, NULL);
}

static void huge_and_tiny_indicators_neither_overflow_nor_vanish(void **state)
{
    (void)state;
    assert_marks((double[]){1e300, 5e299, 1e200}, 3, 0.5, (uint8_t[]){1, 0, 0});
    assert_marks((double[]){1e-300, 5e-301, 1e-310}, 3, 0.9, (uint8_t[]){1, 1, 0});
}

static void indicators_that_are_no_sizes_are_refused(void **state)
{
    static const double bad[4] = {NAN, INFINITY, -INFINITY, -1e-3};
    (void)state;
    yoke_context *context;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    for (int i = 0; i < 4; i++) {
        marking result = mark_with(context, 3, (double[]){1, 2, bad[i]}, 0.5);
        assert_int_equal(result.status, YOKE_ERROR_NUMERIC);
        assert_int_equal(result.marked, -7);
        assert_int_equal(result.mark[0], 9);
        assert_non_null(strstr(yoke_last_error(context), "element 2"));
    }
    yoke_context_destroy(context);
}

static void fractions_outside_zero_to_one_are_refused(void **state)
{
    static const double bad[5] = {0, -0.1, 1.0000001, NAN, INFINITY};
    (void)state;
    yoke_context *context;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    for (int i = 0; i < 5; i++) assert_int_equal(mark_with(context, 2, (double[]){1, 2}, bad[i]).status, YOKE_ERROR_ARGUMENT);
    assert_int_equal(fem_mark(context, NULL, -1, NULL, 0.5, NULL, &(int64_t){0}), YOKE_ERROR_ARGUMENT);
    yoke_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_smallest_set_that_holds_the_fraction_of_the_squares_is_marked),
    cmocka_unit_test(the_whole_fraction_marks_every_indicator_above_zero),
    cmocka_unit_test(ties_are_marked_together),
    cmocka_unit_test(indicators_within_rounding_of_the_threshold_are_marked),
    cmocka_unit_test(rounding_does_not_change_the_marks),
    cmocka_unit_test(zero_indicators_mark_nothing),
    cmocka_unit_test(huge_and_tiny_indicators_neither_overflow_nor_vanish),
    cmocka_unit_test(indicators_that_are_no_sizes_are_refused),
    cmocka_unit_test(fractions_outside_zero_to_one_are_refused),
    cmocka_unit_test(a_sum_that_is_reached_but_for_rounding_is_enough),
};

UNIT_MAIN(tests, NULL, NULL)
