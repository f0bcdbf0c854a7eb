/*
 * What was saved, as lines for the guard.
 */
#include "frequency/frequency.h"

#include "base/failing.h"
#include "unit.h"

typedef struct fixture {
    failing memory;
    yoke_context *context;
    frequency_book book;
    char reports[4096];
} fixture;

static int setup(void **state)
{
    fixture *test = calloc(1, sizeof *test);
    yoke_options options = failing_options(&test->memory);
    if (yoke_context_create(&options, &test->context) != YOKE_OK) return -1;
    test->book.context = test->context;
    *state = test;
    return 0;
}

static int teardown(void **state)
{
    fixture *test = *state;
    frequency_book_clear(&test->book);
    yoke_context_destroy(test->context);
    int left = test->memory.outstanding != 0;
    free(test);
    return left ? -1 : 0;
}

static yoke_status parse(fixture *test, const char *text)
{
    char line[4 * FREQUENCY_PATH_BYTES];
    snprintf(line, sizeof line, "%s", text);
    return frequency_book_parse(&test->book, line);
}

static frequency_saved entry(int number)
{
    frequency_saved saved = {.place = number % 3 == 2 ? FREQUENCY_OF_GPU : FREQUENCY_OF_POLICY};
    if (saved.place == FREQUENCY_OF_GPU) {
        snprintf(saved.where, sizeof saved.where, "0000:%02x:00.0", (unsigned)number & 0xff);
        return saved;
    }
    snprintf(saved.where, sizeof saved.where, "/a root with blanks/policy%d", number);
    frequency_khz_text(800000 + number, saved.setting.value[FREQUENCY_MIN]);
    frequency_khz_text(3600000 + number, saved.setting.value[FREQUENCY_MAX]);
    strcpy(saved.setting.value[FREQUENCY_GOVERNOR], "schedutil");
    strcpy(saved.setting.value[FREQUENCY_SPEED], "<unsupported>");
    if (number % 2 == 0) strcpy(saved.setting.value[FREQUENCY_PREFERENCE], "balance_performance");
    return saved;
}

static void entries_come_back_from_their_lines(void **state)
{
    fixture *test = *state;
    for (int i = 0; i < 300; i++) {
        char text[FREQUENCY_TEXT_BYTES];
        frequency_saved saved = entry(i);
        size_t length = frequency_saved_print(&saved, text);
        assert_int_equal(length, strlen(text));
        for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
            assert_int_equal(frequency_book_parse(&test->book, line), YOKE_OK);
    }
    assert_int_equal(test->book.count, 300);
    for (int i = 0; i < 300; i++) {
        frequency_saved saved = entry(i);
        const frequency_saved *got = &test->book.entries[i];
        assert_int_equal(got->place, saved.place);
        assert_string_equal(got->where, saved.where);
        for (int file = 0; file < FREQUENCY_NUM_FILES; file++) assert_string_equal(got->setting.value[file], saved.setting.value[file]);
        assert_true(frequency_book_has(&test->book, saved.where));
    }
    assert_false(frequency_book_has(&test->book, "/elsewhere"));
}

/* The longest path and values that there can be: nothing is cut. */
static void the_longest_entry_fits_into_its_text(void **state)
{
    fixture *test = *state;
    frequency_saved saved = {.place = FREQUENCY_OF_POLICY};
    char text[FREQUENCY_TEXT_BYTES];
    memset(saved.where, 'x', sizeof saved.where - 1);
    saved.where[0] = '/';
    for (int file = 0; file < FREQUENCY_NUM_FILES; file++) memset(saved.setting.value[file], '7', FREQUENCY_WORD_BYTES - 1);
    assert_true(frequency_saved_print(&saved, text) < sizeof text - 1);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        assert_int_equal(frequency_book_parse(&test->book, line), YOKE_OK);
    assert_int_equal(test->book.count, 1);
    assert_memory_equal(&test->book.entries[0], &saved, sizeof saved);
}

static void lines_that_are_none_are_refused(void **state)
{
    fixture *test = *state;
    char path[FREQUENCY_PATH_BYTES + 32] = "policy /";
    memset(path + strlen(path), 'x', FREQUENCY_PATH_BYTES);
    static const char *const bad[] = {"least 5", "",     " ",       "policy ",     "policy relative/path",
                                      "policy",  "gpu ", "restore", "POLICY /sys", "\x01\x02"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_int_equal(parse(test, bad[i]), YOKE_ERROR_INPUT);
    assert_int_equal(parse(test, path), YOKE_ERROR_INPUT);
    assert_int_equal(test->book.count, 0);
    assert_int_equal(parse(test, "policy /sys/policy0"), YOKE_OK);
    assert_int_equal(parse(test, "least 800000"), YOKE_OK);
    assert_int_equal(parse(test, "governor 123456789012345678901234567890123456789012345678"), YOKE_ERROR_INPUT); /* 48 bytes */
    assert_int_equal(parse(test, "mode 7"), YOKE_ERROR_INPUT);
    assert_string_equal(test->book.entries[0].setting.value[FREQUENCY_MIN], "800000");
    assert_string_equal(test->book.entries[0].setting.value[FREQUENCY_GOVERNOR], "");
}

static void keep_report(void *user, const char *text)
{
    fixture *test = user;
    size_t length = strlen(test->reports);
    snprintf(test->reports + length, sizeof test->reports - length, "%s\n", text);
}

static void each_entry_that_cannot_be_restored_is_reported(void **state)
{
    fixture *test = *state;
    for (int i = 0; i < 6; i++) {
        frequency_saved saved = entry(i);
        assert_int_equal(frequency_book_add(&test->book, &saved), YOKE_OK);
    }
    assert_int_equal(frequency_book_restore(&test->book, NULL, keep_report, test), 6);
    for (int i = 0; i < 6; i++) assert_non_null(strstr(test->reports, entry(i).where));
}

static void without_memory_nothing_is_added(void **state)
{
    fixture *test = *state;
    int added = 0;
    for (int i = 0; i < 100; i++) {
        frequency_saved saved = entry(i);
        test->memory.fail_at = i % 2 == 0 ? 1 : 0;
        yoke_status status = frequency_book_add(&test->book, &saved);
        assert_true(status == YOKE_OK || (i % 2 == 0 && status == YOKE_ERROR_MEMORY));
        added += status == YOKE_OK;
        assert_int_equal(test->book.count, added);
    }
    test->memory.fail_at = 0;
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(entries_come_back_from_their_lines, setup, teardown),
    cmocka_unit_test_setup_teardown(the_longest_entry_fits_into_its_text, setup, teardown),
    cmocka_unit_test_setup_teardown(lines_that_are_none_are_refused, setup, teardown),
    cmocka_unit_test_setup_teardown(each_entry_that_cannot_be_restored_is_reported, setup, teardown),
    cmocka_unit_test_setup_teardown(without_memory_nothing_is_added, setup, teardown),
};

UNIT_MAIN(tests, NULL, NULL)
