/*
 * unit.h - what every unit test program includes: cmocka and a main function.
 *
 * A test is `static void what_is_shown(void **state)` (the name, read with spaces, is its name in ctest), and belongs into the array that
 * UNIT_MAIN gets.  ctest starts the program once for each test as `program NAME COUNT`; without arguments all tests run.
 */
#ifndef YOKE_TESTS_UNIT_H
#define YOKE_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/*
 * Chooses the test named on the command line.  Returns 0, or 1 where the name is not in the array or ctest counts other tests than the
 * array holds: cmocka itself would call a run of no test a success.
 */
static inline int unit_choose(const struct CMUnitTest *tests, size_t count, int argc, char **argv)
{
    if (argc == 1) return 0;
    if (argc != 3 || strtoul(argv[2], NULL, 10) != count) {
        fprintf(stderr, "ctest and the array of tests disagree: every test function belongs into the array\n");
        return 1;
    }
    for (size_t i = 0; i < count; i++)
        if (strcmp(tests[i].name, argv[1]) == 0) {
            cmocka_set_test_filter(argv[1]);
            return 0;
        }
    fprintf(stderr, "no test named %s\n", argv[1]);
    return 1;
}

/*
 * Whether a sanitizer watches.  It sees memory and threads, for which a few cases are enough: where a test shows numbers (errors, iterations, chances)
 * by many cases that go through the same code, or through code of other tests, it takes fewer of them then, or none (unit_leave_to_release).
 */
static inline int unit_is_sanitized(void)
{
#ifdef YOKE_SANITIZED
    return 1;
#else
    return 0;
#endif
}

static inline void unit_leave_to_release(void)
{
    if (unit_is_sanitized()) skip();
}

/* setup and teardown (int function(void **state)) run once per program; NULL for none. */
#define UNIT_MAIN(tests, setup, teardown)                                                  \
    int main(int argc, char **argv)                                                        \
    {                                                                                      \
        if (unit_choose(tests, sizeof tests / sizeof tests[0], argc, argv) != 0) return 1; \
        return cmocka_run_group_tests(tests, setup, teardown);                             \
    }

#endif
