#define _XOPEN_SOURCE 700 /* mkstemp */

#include "common/files/record.h"

#include <math.h>
#include <time.h>
#include <unistd.h>

#include "state.h"

static void unknown_numbers_are_null(void **state)
{
    (void)state;
    const double numbers[] = {1.5, NAN, INFINITY, -INFINITY, 0.0};
    json_t *array = app_json_numbers(numbers, 5);
    assert_int_equal(json_array_size(array), 5);
    assert_true(json_real_value(json_array_get(array, 0)) == 1.5);
    for (size_t i = 1; i < 4; i++) assert_true(json_is_null(json_array_get(array, i)));
    assert_true(json_is_real(json_array_get(array, 4)));
    json_decref(array);
}

static void a_number_that_is_not_there_is_not_known(void **state)
{
    (void)state;
    json_t *object = json_pack("{s:f, s:i, s:s, s:n}", "real", 1.5, "whole", 3, "text", "4", "null");
    assert_true(app_json_read_number(object, "real") == 1.5 && app_json_read_number(object, "whole") == 3);
    assert_true(isnan(app_json_read_number(object, "text")) && isnan(app_json_read_number(object, "null")));
    assert_true(isnan(app_json_read_number(object, "other")) && isnan(app_json_read_number(NULL, "real")));
    json_decref(object);
}

static void text_that_is_not_utf8_is_kept_as_far_as_it_goes(void **state)
{
    (void)state;
    json_t *good = app_json_text("M\xc3\xbcller"), *bad = app_json_text("a\xff\xfe.yaml");
    assert_string_equal(json_string_value(good), "M\xc3\xbcller");
    assert_string_equal(json_string_value(bad), "a??.yaml");
    json_decref(good);
    json_decref(bad);
}

static void a_record_begins_with_where_and_when(void **state)
{
    char *words[] = {"yoke-fem", "case \xff.yaml", NULL};
    json_t *record = NULL;
    assert_int_equal(app_record_create(*state, "yoke fem", 2, words, &record), YOKE_OK);
    assert_string_equal(json_string_value(json_object_get(record, "program")), "yoke fem");
    assert_string_equal(json_string_value(json_object_get(record, "version")), yoke_version());
    assert_string_equal(json_string_value(json_array_get(json_object_get(record, "command"), 1)), "case ?.yaml");
    assert_non_null(json_object_get(json_object_get(record, "machine"), "topology"));
    int year, month, day, hour, minute, second, end = 0;
    const char *date = json_string_value(json_object_get(record, "date"));
    assert_int_equal(sscanf(date, "%4d-%2d-%2dT%2d:%2d:%2dZ%n", &year, &month, &day, &hour, &minute, &second, &end), 6);
    assert_int_equal(date[end], '\0');
    assert_in_range(month, 1, 12);
    assert_true(year >= 2024);
    json_decref(record);
}

static void a_value_that_could_not_be_built_is_out_of_memory(void **state)
{
    json_t *record = json_object();
    assert_int_equal(app_record_set(*state, record, "steps", json_array()), YOKE_OK);
    assert_int_equal(app_record_set(*state, record, "probes", NULL), YOKE_ERROR_MEMORY);
    assert_non_null(strstr(yoke_last_error(*state), "probes"));
    json_decref(record);
}

static void what_is_written_can_be_read_to_the_last_bit(void **state)
{
    char path[] = "/tmp/yoke-test-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    const double number = 0.1 + 0.2;
    json_t *record = json_pack("{s:o, s:o}", "number", app_json_number(number), "unknown", app_json_number(NAN));
    assert_int_equal(app_record_write(*state, record, path), YOKE_OK);
    json_decref(record);
    record = json_load_file(path, 0, NULL);
    unlink(path);
    assert_non_null(record);
    assert_true(json_real_value(json_object_get(record, "number")) == number);
    assert_true(json_is_null(json_object_get(record, "unknown")));
    json_decref(record);
    assert_int_equal(app_record_write(*state, NULL, "/proc/missing/record.json"), YOKE_ERROR_INPUT);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(unknown_numbers_are_null),
    cmocka_unit_test(a_number_that_is_not_there_is_not_known),
    cmocka_unit_test(text_that_is_not_utf8_is_kept_as_far_as_it_goes),
    cmocka_unit_test(a_record_begins_with_where_and_when),
    cmocka_unit_test(a_value_that_could_not_be_built_is_out_of_memory),
    cmocka_unit_test(what_is_written_can_be_read_to_the_last_bit),
};

UNIT_MAIN(tests, state_start, state_end)
