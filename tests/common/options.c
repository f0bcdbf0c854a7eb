#include "common/console/options.h"
#include "unit.h"

typedef struct parsed {
    bool quiet;
    const char *json;
    int64_t threads, n;
    app_list set, operands;
    bool answered;
} parsed;

/* Parses the words (NULL ends them) and returns the status; the error's text goes to `text`. */
static yoke_status parse(parsed *result, char *text, char **words)
{
    *result = (parsed){.threads = -1};
    const app_option options[] = {
        {.name = "quiet", .help = "q", .flag = &result->quiet},
        {.name = "json", .value = "FILE", .help = "j", .text = &result->json},
        {.name = "threads", .value = "N", .help = "t", .number = &result->threads, .minimum = 1, .maximum = 4096},
        {.name = "set", .value = "KEY=VALUE", .help = "s", .list = &result->set},
        {.name = "n", .value = "N", .help = "n", .number = &result->n, .minimum = 1, .maximum = 9},
        {0},
    };
    const app_usage usage = {
        .program = "program", .operands = "CASE", .operands_least = 1, .operands_most = 2, .summary = "S", .options = options};
    yoke_context *context = NULL;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    int count = 0;
    while (words[count] != NULL) count++;
    yoke_status status = app_options_parse(context, &usage, count, words, &result->operands, &result->answered);
    strcpy(text, yoke_last_error(context));
    yoke_context_destroy(context);
    return status;
}

#define PARSE(...) parse(&result, text, (char *[]){"program", __VA_ARGS__, NULL})
#define ASSERT_REFUSED(part, ...)                                                        \
    do {                                                                                 \
        assert_int_equal(PARSE(__VA_ARGS__), YOKE_ERROR_INPUT);                          \
        if (strstr(text, part) == NULL) fail_msg("\"%s\" is not in \"%s\"", part, text); \
    } while (0)

static void values_follow_or_are_joined(void **state)
{
    (void)state;
    parsed result;
    char text[4096];
    assert_int_equal(PARSE("case.yaml", "--json", "a.json", "--threads=4", "--quiet"), YOKE_OK);
    assert_string_equal(result.json, "a.json");
    assert_int_equal(result.threads, 4);
    assert_true(result.quiet);
    assert_int_equal(result.operands.count, 1);
    assert_string_equal(result.operands.text[0], "case.yaml");
}

static void what_is_not_given_is_left_alone(void **state)
{
    (void)state;
    parsed result;
    char text[4096];
    assert_int_equal(PARSE("case.yaml"), YOKE_OK);
    assert_false(result.quiet);
    assert_null(result.json);
    assert_int_equal(result.threads, -1);
    assert_int_equal(result.set.count, 0);
}

static void a_list_keeps_every_value_in_order(void **state)
{
    (void)state;
    parsed result;
    char text[4096];
    assert_int_equal(PARSE("--set", "a=1", "case.yaml", "--set=b=2=3"), YOKE_OK);
    assert_int_equal(result.set.count, 2);
    assert_string_equal(result.set.text[0], "a=1");
    assert_string_equal(result.set.text[1], "b=2=3");
}

static void the_last_of_equal_options_counts(void **state)
{
    (void)state;
    parsed result;
    char text[4096];
    assert_int_equal(PARSE("c", "--threads", "1", "--threads", "2"), YOKE_OK);
    assert_int_equal(result.threads, 2);
}

static void two_dashes_end_the_options(void **state)
{
    (void)state;
    parsed result;
    char text[4096];
    assert_int_equal(PARSE("--", "--quiet", "--help"), YOKE_OK);
    assert_int_equal(result.operands.count, 2);
    assert_false(result.quiet);
    assert_false(result.answered);
}

static void numbers_are_whole_and_in_range(void **state)
{
    (void)state;
    parsed result;
    char text[4096];
    assert_int_equal(PARSE("c", "--threads", "4096"), YOKE_OK);
    ASSERT_REFUSED("from 1 to 4096", "c", "--threads", "4097");
    ASSERT_REFUSED("from 1 to 4096", "c", "--threads", "0");
    ASSERT_REFUSED("from 1 to 4096", "c", "--threads", "4x");
    ASSERT_REFUSED("from 1 to 4096", "c", "--threads", "2.5");
    ASSERT_REFUSED("from 1 to 4096", "c", "--threads=");
    ASSERT_REFUSED("from 1 to 4096", "c", "--threads", "99999999999999999999");
    ASSERT_REFUSED("from 1 to 4096", "c", "--threads", "nan");
}

static void mistakes_are_named(void **state)
{
    (void)state;
    parsed result;
    char text[4096];
    ASSERT_REFUSED("did you mean --threads?", "c", "--thread", "3");
    ASSERT_REFUSED("unknown option --frobnicate;", "c", "--frobnicate=3");
    ASSERT_REFUSED("unknown option -x;", "c", "-x");
    ASSERT_REFUSED("unknown option --;", "c", "--=x");
    ASSERT_REFUSED("--json needs a value", "c", "--json");
    ASSERT_REFUSED("--quiet takes no value", "c", "--quiet=1");
    ASSERT_REFUSED("an argument is missing", "--quiet");
    ASSERT_REFUSED("unexpected argument three", "one", "two", "three");
}

static void a_name_of_one_letter_has_one_dash(void **state)
{
    (void)state;
    parsed result;
    char text[4096];
    assert_int_equal(PARSE("c", "-n", "3"), YOKE_OK);
    assert_int_equal(result.n, 3);
    assert_int_equal(PARSE("c", "-n=4"), YOKE_OK);
    assert_int_equal(result.n, 4);
    ASSERT_REFUSED("-n 0: expected an integer from 1 to 9", "c", "-n", "0");
    ASSERT_REFUSED("-n -2: expected an integer", "c", "-n", "-2");
    ASSERT_REFUSED("-n needs a value: -n N", "c", "-n");
    ASSERT_REFUSED("unknown option --n", "c", "--n", "3");
    ASSERT_REFUSED("unknown option -nn", "c", "-nn", "3");
}

static void too_many_values_are_refused(void **state)
{
    (void)state;
    parsed result;
    char text[4096];
    static char *words[APP_LIST_MAXIMUM + 4] = {"program", "case"};
    static char value[] = "--set=a=1";
    for (int i = 0; i <= APP_LIST_MAXIMUM; i++) words[2 + i] = value;
    assert_int_equal(parse(&result, text, words), YOKE_ERROR_INPUT);
    assert_non_null(strstr(text, "more than 256"));
}

static void a_very_long_unknown_option_is_refused(void **state)
{
    (void)state;
    parsed result;
    char text[4096];
    static char word[100000];
    memset(word, '-', 3);
    memset(word + 3, 'x', sizeof word - 4);
    ASSERT_REFUSED("unknown option", "c", word);
}

/* A program with an option whose value may be left out, and a command line after `--`. */
static yoke_status parse_command(const char **watch, int *command_at, char *text, char **words)
{
    const app_option options[] = {
        {.name = "watch", .value = "[S]", .help = "w", .otherwise = "1", .text = watch},
        {.name = "quiet", .help = "q", .flag = &(bool){false}},
        {0},
    };
    const app_usage usage = {
        .program = "program", .operands = "", .summary = "S", .options = options, .command = "COMMAND", .command_at = command_at};
    yoke_context *context = NULL;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    int count = 0;
    bool answered;
    while (words[count] != NULL) count++;
    yoke_status status = app_options_parse(context, &usage, count, words, NULL, &answered);
    strcpy(text, yoke_last_error(context));
    yoke_context_destroy(context);
    return status;
}

#define PARSE_COMMAND(...) parse_command(&watch, &command_at, text, (char *[]){"program", __VA_ARGS__, NULL})

static void a_value_may_be_left_out_where_there_is_another(void **state)
{
    (void)state;
    char text[4096];
    const char *watch = NULL;
    int command_at = 0;
    assert_int_equal(PARSE_COMMAND("--watch"), YOKE_OK);
    assert_string_equal(watch, "1");
    assert_int_equal(PARSE_COMMAND("--watch", "0.5", "--quiet"), YOKE_OK);
    assert_string_equal(watch, "0.5");
    assert_int_equal(PARSE_COMMAND("--watch", "--quiet"), YOKE_OK);
    assert_string_equal(watch, "1");
    assert_int_equal(PARSE_COMMAND("--watch=2"), YOKE_OK);
    assert_string_equal(watch, "2");
    assert_int_equal(PARSE_COMMAND("--watch", "--", "3"), YOKE_OK);
    assert_string_equal(watch, "1");
    assert_int_equal(PARSE_COMMAND("--watch", "-1"), YOKE_ERROR_INPUT);
}

static void what_follows_two_dashes_is_left_to_a_command(void **state)
{
    (void)state;
    char text[4096];
    const char *watch = NULL;
    int command_at = 0;
    assert_int_equal(PARSE_COMMAND("--quiet"), YOKE_OK);
    assert_int_equal(command_at, 0);
    assert_int_equal(PARSE_COMMAND("--quiet", "--", "ls", "--frobnicate", "--", "--help"), YOKE_OK);
    assert_int_equal(command_at, 3);
    assert_int_equal(PARSE_COMMAND("--"), YOKE_OK);
    assert_int_equal(command_at, 2);
    assert_int_equal(PARSE_COMMAND("ls", "--", "x"), YOKE_ERROR_INPUT);
    assert_string_equal(text, "unexpected argument ls; usage: program [OPTION]... -- COMMAND");
}

static void tables_join_in_order_and_no_further_than_there_is_room(void **state)
{
    (void)state;
    bool flag = false, last = false;
    const app_option first[] = {{.name = "first", .help = "f", .flag = &flag}, {.name = "a", .help = "a", .flag = &flag}, {0}};
    const app_option second[] = {{.name = "last", .help = "l", .flag = &last}, {0}};
    app_option_table table = {0};
    app_options_add(&table, first);
    app_options_add(&table, second);
    assert_int_equal(table.count, 3);
    assert_string_equal(table.options[1].name, "a");
    assert_ptr_equal(table.options[2].flag, &last);
    assert_null(table.options[3].name);
    for (int i = 0; i < APP_OPTIONS_MAXIMUM; i++) app_options_add(&table, first);
    assert_int_equal(table.count, APP_OPTIONS_MAXIMUM);
    assert_null(table.options[APP_OPTIONS_MAXIMUM].name);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(values_follow_or_are_joined),
    cmocka_unit_test(what_is_not_given_is_left_alone),
    cmocka_unit_test(a_list_keeps_every_value_in_order),
    cmocka_unit_test(the_last_of_equal_options_counts),
    cmocka_unit_test(two_dashes_end_the_options),
    cmocka_unit_test(numbers_are_whole_and_in_range),
    cmocka_unit_test(mistakes_are_named),
    cmocka_unit_test(a_name_of_one_letter_has_one_dash),
    cmocka_unit_test(too_many_values_are_refused),
    cmocka_unit_test(a_very_long_unknown_option_is_refused),
    cmocka_unit_test(a_value_may_be_left_out_where_there_is_another),
    cmocka_unit_test(what_follows_two_dashes_is_left_to_a_command),
    cmocka_unit_test(tables_join_in_order_and_no_further_than_there_is_room),
};

UNIT_MAIN(tests, NULL, NULL)
