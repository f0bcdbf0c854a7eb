#include "unit.h"
#include "yoke/yoke.h"

static void the_version_is_that_of_the_header(void **state)
{
    (void)state;
    char expected[64];
    snprintf(expected, sizeof expected, "%d.%d.%d", YOKE_VERSION_MAJOR, YOKE_VERSION_MINOR, YOKE_VERSION_PATCH);
    assert_string_equal(yoke_version(), expected);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_version_is_that_of_the_header),
};

UNIT_MAIN(tests, NULL, NULL)
