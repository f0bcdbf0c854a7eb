#include "unit.h"
#include "yoke/yoke.h"

typedef struct heard {
    int count;
    yoke_log_level level;
    char text[8192];
} heard;

static void hear(yoke_log_level level, const char *text, void *user)
{
    heard *last = user;
    last->count++;
    last->level = level;
    strcpy(last->text, text);
}

static yoke_context *context_at(yoke_log_level level, heard *last)
{
    yoke_options options = {.log = hear, .log_user = last, .log_level = level};
    yoke_context *context = NULL;
    assert_int_equal(yoke_context_create(&options, &context), YOKE_OK);
    return context;
}

static void lines_above_the_level_are_not_made(void **state)
{
    (void)state;
    for (int level = YOKE_LOG_ERROR; level <= YOKE_LOG_DEBUG; level++) {
        heard last = {0};
        yoke_context *context = context_at((yoke_log_level)level, &last);
        for (int line = YOKE_LOG_ERROR; line <= YOKE_LOG_DEBUG; line++) yoke_log(context, (yoke_log_level)line, "line %d", line);
        assert_int_equal(last.count, level + 1);
        assert_int_equal(last.level, level);
        yoke_context_destroy(context);
    }
}

static void a_line_is_one_line(void **state)
{
    (void)state;
    heard last = {0};
    yoke_context *context = context_at(YOKE_LOG_INFO, &last);
    yoke_log(context, YOKE_LOG_INFO, "two\r\nlines %d\n", 7);
    assert_string_equal(last.text, "two  lines 7 ");
    yoke_context_destroy(context);
}

static void a_very_long_line_is_cut(void **state)
{
    (void)state;
    heard last = {0};
    yoke_context *context = context_at(YOKE_LOG_INFO, &last);
    yoke_log(context, YOKE_LOG_INFO, "%07000d", 0);
    size_t length = strlen(last.text);
    assert_in_range(length, 500, 6999);
    assert_string_equal(last.text + length - 4, "0...");
    yoke_context_destroy(context);
}

static void without_a_callback_nothing_happens(void **state)
{
    (void)state;
    yoke_context *context = NULL;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    yoke_log(context, YOKE_LOG_ERROR, "nobody hears this");
    assert_string_equal(yoke_last_error(context), "");
    yoke_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(lines_above_the_level_are_not_made),
    cmocka_unit_test(a_line_is_one_line),
    cmocka_unit_test(a_very_long_line_is_cut),
    cmocka_unit_test(without_a_callback_nothing_happens),
};

UNIT_MAIN(tests, NULL, NULL)
