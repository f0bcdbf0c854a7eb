/*
 * reproduce_report.c - what `yoke reproduce` calls reproduced, with parts that are wrong on purpose in the place of the papers.
 */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "common/console/terminal.h"
#include "reproduce/account.h"

static reproduce_row rows[4];
static int num_rows;

yoke_status reproduce_peach(reproduce_report *report)
{
    reproduce_section(report, "a section", "its note");
    for (int i = 0; i < num_rows; i++) reproduce_add(report, &rows[i]);
    return YOKE_OK;
}

yoke_status reproduce_lang(reproduce_report *report)
{
    return yoke_fail(reproduce_context(report), YOKE_ERROR_INTERNAL, "the planner does not work");
}

yoke_status reproduce_clarke(reproduce_report *report)
{
    (void)report;
    return YOKE_OK;
}

/* Runs `yoke reproduce peach` on rows; text gets the error. */
static yoke_status run(const char *part, char text[512])
{
    char command[] = "reproduce", quiet[] = "--quiet", name[16];
    char *words[] = {command, name, quiet, NULL};
    app_terminal terminal;
    yoke_context *context = NULL;
    snprintf(name, sizeof name, "%s", part);
    app_terminal_start(&terminal, "yoke reproduce");
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    yoke_status status = reproduce_command(context, &terminal, 3, words);
    snprintf(text, 512, "%s", yoke_last_error(context));
    yoke_context_destroy(context);
    return status;
}

/* One row alone. */
static yoke_status run_row(reproduce_row row)
{
    char text[512];
    row.id = "x.number";
    rows[0] = row;
    num_rows = 1;
    return run("peach", text);
}

static reproduce_row row_of(reproduce_status status, double published, double recomputed)
{
    return (reproduce_row){.published = published,
                           .recomputed = recomputed,
                           .kind = isnan(published) ? REPRODUCE_INDEPENDENT : REPRODUCE_PUBLISHED,
                           .by = "planner",
                           .check_by = "formula",
                           .absolute = 0.5,
                           .because = REPRODUCE_DIGITS,
                           .status = status};
}

static void a_number_within_its_tolerance_is_reproduced(void **state)
{
    (void)state;
    assert_int_equal(run_row(row_of(REPRODUCE_MATCHES, 286, 285.5)), YOKE_OK);
    reproduce_row row = row_of(REPRODUCE_MATCHES, -286, -286.2);
    row.absolute = 0, row.relative = 1e-3;
    assert_int_equal(run_row(row), YOKE_OK);
}

static void a_number_outside_its_tolerance_fails_the_command(void **state)
{
    (void)state;
    assert_int_equal(run_row(row_of(REPRODUCE_MATCHES, 286, 285.499)), YOKE_ERROR_NUMERIC);
    assert_int_equal(run_row(row_of(REPRODUCE_MATCHES, 286, 286.501)), YOKE_ERROR_NUMERIC);
    reproduce_row row = row_of(REPRODUCE_MATCHES, -286, -286.3);
    row.absolute = 0, row.relative = 1e-3;
    assert_int_equal(run_row(row), YOKE_ERROR_NUMERIC);
}

static void a_number_that_is_not_there_fails_the_command(void **state)
{
    (void)state;
    assert_int_equal(run_row(row_of(REPRODUCE_MATCHES, 286, NAN)), YOKE_ERROR_NUMERIC);
    assert_int_equal(run_row(row_of(REPRODUCE_MATCHES, 286, INFINITY)), YOKE_ERROR_NUMERIC);
    reproduce_row row = row_of(REPRODUCE_DERIVED, NAN, NAN);
    row.checked = true;
    row.check = 286;
    assert_int_equal(run_row(row), YOKE_ERROR_NUMERIC);
    row.recomputed = 286;
    row.check = NAN;
    assert_int_equal(run_row(row), YOKE_ERROR_NUMERIC);
    assert_int_equal(run_row(row_of(REPRODUCE_INCONSISTENT, 5.77, NAN)), YOKE_ERROR_NUMERIC);
}

static void what_is_found_in_two_ways_has_to_agree(void **state)
{
    (void)state;
    reproduce_row row = row_of(REPRODUCE_MATCHES, 286, 285.8);
    row.checked = true;
    row.check = 285.8 * (1 + 1e-12);
    assert_int_equal(run_row(row), YOKE_OK);
    row.check = 285.8 * (1 + 1e-8);
    assert_int_equal(run_row(row), YOKE_ERROR_NUMERIC);
    row = row_of(REPRODUCE_DERIVED, NAN, 3);
    row.checked = true;
    row.check = 3.4;
    assert_int_equal(run_row(row), YOKE_OK);
    row.check = 3.6;
    assert_int_equal(run_row(row), YOKE_ERROR_NUMERIC);
}

static void what_is_inconsistent_need_not_be_met(void **state)
{
    (void)state;
    assert_int_equal(run_row(row_of(REPRODUCE_INCONSISTENT, 5.77, 400)), YOKE_OK);
    assert_int_equal(run_row(row_of(REPRODUCE_UNDETERMINED, 5.77, 400)), YOKE_OK);
    /* of its two ways of computing, though */
    reproduce_row row = row_of(REPRODUCE_INCONSISTENT, 5.77, 400);
    row.checked = true;
    row.check = 401;
    assert_int_equal(run_row(row), YOKE_ERROR_NUMERIC);
}

/* What the command says of a row that says too little of itself. */
static void assert_faulty(reproduce_row row, const char *expected)
{
    char text[512];
    row.id = "x.number";
    rows[0] = row;
    num_rows = 1;
    assert_int_equal(run("peach", text), YOKE_ERROR_INTERNAL);
    assert_non_null(strstr(text, "x.number"));
    assert_non_null(strstr(text, expected));
}

static void every_number_says_what_it_is_compared_with(void **state)
{
    (void)state;
    reproduce_row good = row_of(REPRODUCE_MATCHES, 286, 286), row = good;
    row.kind = REPRODUCE_NO_KIND;
    assert_faulty(row, "has no kind");
    row = good, row.because = NULL;
    assert_faulty(row, "has no reason of its tolerance");
    row = good, row.because = "";
    assert_faulty(row, "has no reason of its tolerance");
    row = good, row.by = NULL;
    assert_faulty(row, "does not say how its numbers are found");
    row = good, row.published = NAN;
    assert_faulty(row, "has nothing published");
    row = good, row.kind = REPRODUCE_PROPERTY;
    assert_faulty(row, "is no property");
    row = good, row.kind = REPRODUCE_INDEPENDENT;
    assert_faulty(row, "yet is called derived");
    static const reproduce_kind apart[] = {REPRODUCE_REPEATED, REPRODUCE_UNCHECKED, REPRODUCE_NOT_EVALUATED};
    for (int i = 0; i < 3; i++) {
        row = good, row.kind = apart[i];
        assert_faulty(row, "has no reason why it is not a comparison of its own");
        row.reason = "a reason";
        assert_int_equal(run_row(row), YOKE_OK);
    }
    row.checked = true;
    assert_faulty(row, "has a check, yet is not compared");
}

static void a_number_is_not_compared_with_itself(void **state)
{
    (void)state;
    reproduce_row row = row_of(REPRODUCE_DERIVED, NAN, 3);
    assert_faulty(row, "has nothing to be compared with");
    row.checked = true;
    row.check = 3;
    assert_int_equal(run_row(row), YOKE_OK);
    row.check_by = row.by;
    assert_faulty(row, "is compared with itself");
    row.check_by = NULL;
    assert_faulty(row, "does not say how its numbers are found");
}

/* Each verdict is counted under its own kind, and nothing that is outside its tolerance or not compared is counted as reproduced. */
static void kinds_are_counted_apart(void **state)
{
    (void)state;
    static const struct {
        reproduce_kind kind;
        reproduce_status status;
        double recomputed;
        reproduce_verdict verdict;
    } cases[] = {
        {REPRODUCE_PUBLISHED, REPRODUCE_MATCHES, 10, REPRODUCE_WITHIN},
        {REPRODUCE_PUBLISHED, REPRODUCE_MATCHES, 11, REPRODUCE_MISSED},
        {REPRODUCE_PUBLISHED, REPRODUCE_DERIVED, 11, REPRODUCE_MISSED},
        {REPRODUCE_PUBLISHED, REPRODUCE_INCONSISTENT, 11, REPRODUCE_OUTSIDE},
        {REPRODUCE_PUBLISHED, REPRODUCE_INCONSISTENT, 10, REPRODUCE_WITHIN},
        {REPRODUCE_REPEATED, REPRODUCE_MATCHES, 10, REPRODUCE_WITHIN},
        {REPRODUCE_REPEATED, REPRODUCE_MATCHES, 11, REPRODUCE_MISSED},
        {REPRODUCE_UNCHECKED, REPRODUCE_MATCHES, 10, REPRODUCE_UNJUDGED},
        {REPRODUCE_NOT_EVALUATED, REPRODUCE_MATCHES, 10, REPRODUCE_UNJUDGED},
    };
    reproduce_account account;
    int64_t numbers = 0;
    memset(&account, 0, sizeof account);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        reproduce_row row = row_of(cases[i].status, 10, cases[i].recomputed);
        row.id = "x.number";
        row.kind = cases[i].kind;
        int64_t before = account.numbers[row.kind][cases[i].verdict];
        assert_int_equal(reproduce_judge(&row), cases[i].verdict);
        reproduce_count(&account, &row, reproduce_judge(&row));
        assert_int_equal(account.numbers[row.kind][cases[i].verdict], before + 1);
    }
    for (int verdict = REPRODUCE_WITHIN; verdict <= REPRODUCE_UNJUDGED; verdict++) numbers += reproduce_sum(&account, verdict);
    assert_int_equal(numbers, sizeof cases / sizeof cases[0]);
    assert_string_equal(account.missed, "x.number");
}

static void the_error_names_what_is_missed_once(void **state)
{
    (void)state;
    char text[512];
    num_rows = 4;
    for (int i = 0; i < num_rows; i++) {
        rows[i] = row_of(REPRODUCE_MATCHES, 10, i == 0 ? 10 : 20);
        rows[i].id = i == 0 ? "x.good" : i < 3 ? "x.bad" : "x.worse";
        rows[i].silent = true;
    }
    assert_int_equal(run("peach", text), YOKE_ERROR_NUMERIC);
    assert_string_equal(text, "not reproduced: x.bad, x.worse");
}

static void a_planner_that_fails_is_no_reproduction(void **state)
{
    (void)state;
    char text[512];
    assert_int_equal(run("lang", text), YOKE_ERROR_INTERNAL);
    assert_string_equal(text, "the planner does not work");
    num_rows = 0;
    assert_int_equal(run("all", text), YOKE_ERROR_INTERNAL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_number_within_its_tolerance_is_reproduced),  cmocka_unit_test(a_number_outside_its_tolerance_fails_the_command),
    cmocka_unit_test(a_number_that_is_not_there_fails_the_command), cmocka_unit_test(what_is_found_in_two_ways_has_to_agree),
    cmocka_unit_test(what_is_inconsistent_need_not_be_met),         cmocka_unit_test(the_error_names_what_is_missed_once),
    cmocka_unit_test(a_planner_that_fails_is_no_reproduction),      cmocka_unit_test(every_number_says_what_it_is_compared_with),
    cmocka_unit_test(a_number_is_not_compared_with_itself),         cmocka_unit_test(kinds_are_counted_apart),
};

UNIT_MAIN(tests, NULL, NULL)
