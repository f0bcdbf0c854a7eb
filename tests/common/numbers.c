#include "common/console/numbers.h"

#include <math.h>

#include "unit.h"

static void numbers_are_sorted(void **state)
{
    (void)state;
    double values[] = {3, -INFINITY, 2.5, 3, 1e300, -1};
    app_sort(values, 6);
    for (int i = 1; i < 6; i++) assert_true(values[i - 1] <= values[i]);
    assert_true(values[0] == -INFINITY && values[5] == 1e300);
    app_sort(values, 0);
}

static void what_is_not_known_is_a_dash(void **state)
{
    (void)state;
    char text[32];
    assert_string_equal(app_number_text(text, 7, 2, 3.14159), "   3.14");
    assert_string_equal(app_number_text(text, 3, 0, NAN), "  -");
    assert_string_equal(app_number_text(text, 1, 0, INFINITY), "-");
    assert_int_equal(strlen(app_number_text(text, 7, 2, -1e300)), 31); /* cut */
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(numbers_are_sorted),
    cmocka_unit_test(what_is_not_known_is_a_dash),
};

UNIT_MAIN(tests, NULL, NULL)
