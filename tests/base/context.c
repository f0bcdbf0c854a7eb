#include <pthread.h>

#include "failing.h"
#include "unit.h"
#include "yoke/yoke.h"

static void a_context_needs_no_options(void **state)
{
    (void)state;
    yoke_context *context = NULL;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    assert_non_null(context);
    assert_string_equal(yoke_last_error(context), "");
    yoke_context_destroy(context);
    yoke_context_destroy(NULL);
}

static void only_one_of_allocate_and_release_is_refused(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_options options = failing_options(&memory);
    options.release = NULL;
    yoke_context *context = NULL;
    assert_int_equal(yoke_context_create(&options, &context), YOKE_ERROR_ARGUMENT);
    assert_null(context);
    assert_non_null(strstr(yoke_last_error(NULL), "only one of allocate and release"));
    options = failing_options(&memory);
    options.allocate = NULL;
    assert_int_equal(yoke_context_create(&options, &context), YOKE_ERROR_ARGUMENT);
    assert_int_equal(memory.calls, 0);
}

static void a_program_built_for_another_interface_is_refused(void **state)
{
    (void)state;
    static const int others[] = {YOKE_INTERFACE + 1, YOKE_INTERFACE - 1, YOKE_INTERFACE + 1000, 0, -1};
    yoke_context *context = NULL;
    const yoke_options *not_to_be_read = (const yoke_options *)(uintptr_t)16; /* another interface's options have another layout */
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_int_equal(yoke_context_create_for(others[i], not_to_be_read, &context), YOKE_ERROR_ARGUMENT);
        assert_null(context);
        assert_non_null(strstr(yoke_last_error(NULL), yoke_version()));
    }
    assert_int_equal(yoke_context_create_for(YOKE_INTERFACE, NULL, &context), YOKE_OK);
    yoke_context_destroy(context);
}

static void absurd_arguments_are_refused(void **state)
{
    (void)state;
    yoke_options options = {.log_level = (yoke_log_level)17};
    yoke_context *context = NULL;
    assert_int_equal(yoke_context_create(&options, &context), YOKE_ERROR_ARGUMENT);
    assert_non_null(strstr(yoke_last_error(NULL), "17"));
    assert_int_equal(yoke_context_create(NULL, NULL), YOKE_ERROR_ARGUMENT);
    assert_null(context);
}

static void fail_records_the_text_and_returns_the_status(void **state)
{
    (void)state;
    yoke_context *context = NULL;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    assert_int_equal(yoke_fail(context, YOKE_ERROR_NUMERIC, "pivot %d is %s", 3, "zero"), YOKE_ERROR_NUMERIC);
    assert_string_equal(yoke_last_error(context), "pivot 3 is zero");
    /* The way to add to a text: the old one is an argument of the new one. */
    yoke_fail(context, YOKE_ERROR_NUMERIC, "step 2: %s", yoke_last_error(context));
    assert_string_equal(yoke_last_error(context), "step 2: pivot 3 is zero");
    yoke_context_destroy(context);
}

static void a_very_long_text_is_cut_and_says_so(void **state)
{
    (void)state;
    char text[10000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    yoke_context *context = NULL;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    yoke_fail(context, YOKE_ERROR_INPUT, "%s", text);
    size_t length = strlen(yoke_last_error(context));
    assert_in_range(length, 500, sizeof text - 2);
    assert_string_equal(yoke_last_error(context) + length - 4, "x...");
    yoke_context_destroy(context);
}

static void contexts_keep_their_errors_apart(void **state)
{
    (void)state;
    yoke_context *first = NULL, *second = NULL;
    assert_int_equal(yoke_context_create(NULL, &first), YOKE_OK);
    assert_int_equal(yoke_context_create(NULL, &second), YOKE_OK);
    yoke_fail(first, YOKE_ERROR_INPUT, "first");
    yoke_fail(NULL, YOKE_ERROR_INPUT, "neither");
    assert_string_equal(yoke_last_error(first), "first");
    assert_string_equal(yoke_last_error(second), "");
    assert_string_equal(yoke_last_error(NULL), "neither");
    yoke_context_destroy(first);
    yoke_context_destroy(second);
}

static void *fail_on_a_thread(void *user)
{
    char *seen = user;
    strcpy(seen, yoke_last_error(NULL));
    yoke_fail(NULL, YOKE_ERROR_INPUT, "of the other thread");
    strcat(seen, yoke_last_error(NULL));
    return NULL;
}

static void the_text_without_a_context_is_kept_per_thread(void **state)
{
    (void)state;
    char seen[256];
    pthread_t thread;
    yoke_fail(NULL, YOKE_ERROR_INPUT, "of the main thread");
    assert_int_equal(pthread_create(&thread, NULL, fail_on_a_thread, seen), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_string_equal(seen, "of the other thread");
    assert_string_equal(yoke_last_error(NULL), "of the main thread");
}

static void *fail_often(void *context)
{
    for (int i = 0; i < 1000; i++) {
        void *memory = NULL;
        if (yoke_allocate(context, -1, 1, &memory) != YOKE_ERROR_ARGUMENT || memory != NULL) return context;
    }
    return NULL;
}

static void threads_may_fail_on_one_context_at_once(void **state)
{
    (void)state;
    yoke_context *context = NULL;
    pthread_t threads[4];
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, fail_often, context), 0);
    for (int i = 0; i < 4; i++) {
        void *wrong = context;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    assert_non_null(strstr(yoke_last_error(context), "negative"));
    yoke_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_program_built_for_another_interface_is_refused),
    cmocka_unit_test(a_context_needs_no_options),
    cmocka_unit_test(only_one_of_allocate_and_release_is_refused),
    cmocka_unit_test(absurd_arguments_are_refused),
    cmocka_unit_test(fail_records_the_text_and_returns_the_status),
    cmocka_unit_test(a_very_long_text_is_cut_and_says_so),
    cmocka_unit_test(contexts_keep_their_errors_apart),
    cmocka_unit_test(the_text_without_a_context_is_kept_per_thread),
    cmocka_unit_test(threads_may_fail_on_one_context_at_once),
};

UNIT_MAIN(tests, NULL, NULL)
