#include "common/numbers.h"

#include <math.h>

#include "common/grow.h"
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

static void arrays_keep_what_they_hold_when_they_grow(void **state)
{
    (void)state;
    yoke_context *context = NULL;
    int32_t *items = NULL;
    int64_t capacity = 0;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    for (int32_t i = 0; i < 100; i++) {
        assert_int_equal(app_grow(context, (void **)&items, i, &capacity, 3, sizeof *items), YOKE_OK);
        assert_true(capacity > i);
        assert_int_equal(items[i], 0);
        items[i] = i + 1;
    }
    for (int32_t i = 0; i < 100; i++) assert_int_equal(items[i], i + 1);
    assert_int_equal(capacity, 192);
    yoke_release(context, items);
    yoke_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(numbers_are_sorted),
    cmocka_unit_test(what_is_not_known_is_a_dash),
    cmocka_unit_test(arrays_keep_what_they_hold_when_they_grow),
};

UNIT_MAIN(tests, NULL, NULL)
