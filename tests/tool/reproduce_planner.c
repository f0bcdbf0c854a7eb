/*
 * reproduce_planner.c - `yoke reproduce` on a planner whose every result is wrong.  Each number that is said to come from the planner has to
 * miss what it is compared with then; a number that is compared with itself would not.
 */
#include "unit.h"

#include <jansson.h>
#include <string.h>

#include "common/console/terminal.h"
#include "reproduce/report.h"

enum { LEAST_ROWS = 250 };

static int wrong;

/* The linker calls these in the place of the library's functions, and those by the names beside them. */
yoke_status __wrap_yoke_plan_create(yoke_context *context, const yoke_plan_problem *problem, const yoke_plan_options *options,
                                    yoke_plan **plan);
yoke_status __real_yoke_plan_create(yoke_context *context, const yoke_plan_problem *problem, const yoke_plan_options *options,
                                    yoke_plan **plan);
yoke_status __wrap_yoke_plan_evaluate(yoke_context *context, const yoke_plan_problem *problem, const yoke_plan_options *options,
                                      const int64_t *units, const int64_t *levels, yoke_plan_choice *choice);
yoke_status __real_yoke_plan_evaluate(yoke_context *context, const yoke_plan_problem *problem, const yoke_plan_options *options,
                                      const int64_t *units, const int64_t *levels, yoke_plan_choice *choice);
yoke_status __wrap_yoke_plan_columns(yoke_context *context, int64_t count, const double *areas, int64_t rows, int64_t columns,
                                     yoke_rectangle *rectangles, double *half_perimeter);
yoke_status __real_yoke_plan_columns(yoke_context *context, int64_t count, const double *areas, int64_t rows, int64_t columns,
                                     yoke_rectangle *rectangles, double *half_perimeter);

/* Time and energy are more, by an eighth every other time: so ratios and orders are wrong, too. */
static void distort_costs(yoke_plan_choice *choice)
{
    static int calls;
    const double factor = calls++ % 2 == 0 ? 1.03 : 1.16;
    choice->time_s *= factor;
    choice->energy_j *= factor;
}

/* Each other device gives a fifth of its units to the first, or gets some where it has none; where there are several frequencies, another is taken. */
static void distort_decision(const yoke_plan_problem *problem, const yoke_plan_choice *choice)
{
    int64_t *units = (int64_t *)choice->units, *levels = (int64_t *)choice->levels;
    for (int64_t i = 0; i < problem->num_devices; i++) {
        if (problem->devices[i].num_levels > 1) levels[i] += levels[i] > 0 ? -1 : 1;
        int64_t move = i == 0 ? 0 : units[i] > 0 ? units[i] / 5 + 1 : -(units[0] / 5 + 1);
        units[i] -= move;
        units[0] += move;
    }
}

/* All units of an alternative go to the second device. */
static void distort_alternative(const yoke_plan_problem *problem, const yoke_plan_choice *choice)
{
    int64_t *units = (int64_t *)choice->units;
    if (problem->num_devices != 2 || units == NULL) return;
    units[1] += units[0];
    units[0] = 0;
}

yoke_status __wrap_yoke_plan_create(yoke_context *context, const yoke_plan_problem *problem, const yoke_plan_options *options,
                                    yoke_plan **plan)
{
    yoke_status status = __real_yoke_plan_create(context, problem, options, plan);
    if (status != YOKE_OK || !wrong) return status;
    distort_costs(&(*plan)->best);
    distort_decision(problem, &(*plan)->best);
    for (int64_t i = 0; i < (*plan)->num_alternatives; i++) {
        yoke_plan_choice *alternative = (yoke_plan_choice *)&(*plan)->alternatives[i];
        distort_costs(alternative);
        distort_alternative(problem, alternative);
    }
    return YOKE_OK;
}

yoke_status __wrap_yoke_plan_evaluate(yoke_context *context, const yoke_plan_problem *problem, const yoke_plan_options *options,
                                      const int64_t *units, const int64_t *levels, yoke_plan_choice *choice)
{
    yoke_status status = __real_yoke_plan_evaluate(context, problem, options, units, levels, choice);
    if (status == YOKE_OK && wrong) distort_costs(choice);
    return status;
}

yoke_status __wrap_yoke_plan_columns(yoke_context *context, int64_t count, const double *areas, int64_t rows, int64_t columns,
                                     yoke_rectangle *rectangles, double *half_perimeter)
{
    yoke_status status = __real_yoke_plan_columns(context, count, areas, rows, columns, rectangles, half_perimeter);
    if (status == YOKE_OK && wrong && half_perimeter != NULL) *half_perimeter *= 1.03;
    return status;
}

/* The rows of `yoke reproduce all`. */
static json_t *run(int planner_is_wrong)
{
    char command[] = "reproduce", quiet[] = "--quiet", json[] = "--json", path[] = "reproduce-planner.json";
    char *words[] = {command, quiet, json, path, NULL};
    app_terminal terminal;
    yoke_context *context = NULL;
    app_terminal_start(&terminal, "yoke reproduce");
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    wrong = planner_is_wrong;
    assert_int_equal(reproduce_command(context, &terminal, 4, words), wrong ? YOKE_ERROR_NUMERIC : YOKE_OK);
    yoke_context_destroy(context);
    json_t *document = json_load_file(path, 0, NULL);
    assert_non_null(document);
    json_t *rows = json_incref(json_object_get(document, "rows"));
    json_decref(document);
    remove(path);
    return rows;
}

static int says_planner(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text != NULL && strstr(text, "planner") != NULL;
}

static void a_wrong_planner_meets_nothing(void **state)
{
    (void)state;
    json_t *right = run(0), *distorted = run(1);
    size_t compared = 0, unmoved = 0;
    assert_int_equal(json_array_size(right), json_array_size(distorted));
    for (size_t i = 0; i < json_array_size(right); i++) {
        const json_t *row = json_array_get(right, i), *other = json_array_get(distorted, i);
        if (!json_is_true(json_object_get(row, "within")) || !(says_planner(row, "by") || says_planner(row, "check_by"))) continue;
        if (json_is_true(json_object_get(other, "within"))) {
            print_error("%s %s does not depend on the planner\n", json_string_value(json_object_get(row, "id")),
                        json_is_null(json_object_get(row, "part")) ? "" : json_string_value(json_object_get(row, "part")));
            unmoved++;
        }
        compared++;
    }
    assert_int_equal(unmoved, 0);
    assert_in_range(compared, LEAST_ROWS, json_array_size(right));
    json_decref(right);
    json_decref(distorted);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(a_wrong_planner_meets_nothing)};

UNIT_MAIN(tests, NULL, NULL)
