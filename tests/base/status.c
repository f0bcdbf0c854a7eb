#include "unit.h"
#include "yoke/yoke.h"

static void every_status_has_its_own_text(void **state)
{
    (void)state;
    static const yoke_status all[] = {
#define LIST_NAME(name, value, text) name,
        YOKE_STATUS_LIST(LIST_NAME)
#undef LIST_NAME
    };
    int count = sizeof all / sizeof all[0];
    for (int i = 0; i < count; i++) {
        assert_int_equal(all[i], i);
        assert_true(strlen(yoke_status_text(all[i])) > 0);
        for (int j = 0; j < i; j++) assert_string_not_equal(yoke_status_text(all[i]), yoke_status_text(all[j]));
        assert_string_not_equal(yoke_status_text(all[i]), "unknown status");
    }
}

static void a_value_outside_the_list_is_an_unknown_status(void **state)
{
    (void)state;
    assert_string_equal(yoke_status_text((yoke_status)11), "unknown status");
    assert_string_equal(yoke_status_text((yoke_status)-1), "unknown status");
    assert_string_equal(yoke_status_text((yoke_status)INT32_MAX), "unknown status");
}

static void the_version_is_that_of_the_header(void **state)
{
    (void)state;
    char expected[64];
    snprintf(expected, sizeof expected, "%d.%d.%d", YOKE_VERSION_MAJOR, YOKE_VERSION_MINOR, YOKE_VERSION_PATCH);
    assert_string_equal(yoke_version(), expected);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_status_has_its_own_text),
    cmocka_unit_test(a_value_outside_the_list_is_an_unknown_status),
    cmocka_unit_test(the_version_is_that_of_the_header),
};

UNIT_MAIN(tests, NULL, NULL)
