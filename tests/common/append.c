#include "common/console/append.h"
#include "unit.h"

static void pieces_follow_each_other(void **state)
{
    (void)state;
    char text[32] = "";
    app_append(text, sizeof text, "%s", "one");
    app_append(text, sizeof text, ", %d", 2);
    app_append(text, sizeof text, "%s", "");
    assert_string_equal(text, "one, 2");
}

static void what_does_not_fit_is_cut(void **state)
{
    (void)state;
    char text[8] = "";
    for (int i = 0; i < 5; i++) app_append(text, sizeof text, "%s", "abc");
    assert_string_equal(text, "abcabca");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(pieces_follow_each_other),
    cmocka_unit_test(what_does_not_fit_is_cut),
};

UNIT_MAIN(tests, NULL, NULL)
