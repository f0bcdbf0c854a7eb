/* The fits of the experiments with energy: known laws come back, with errors that are what they say; and the tables they take. */
#include <math.h>

#include "balance/family.h"
#include "energy/data.h"
#include "energy/fit.h"
#include "unit.h"

static void expect(double found, double expected, double tolerance, const char *what)
{
    if (!(fabs(found - expected) <= tolerance)) fail_msg("%s: %.17g instead of %.17g within %g", what, found, expected, tolerance);
}

/* Lang and Ruenger 2014, eq. 9 with the coefficients of sect. 3.4. */
static double power(double ghz) { return 2.2 * ghz * ghz * ghz + 29 * ghz + 24; }

static void a_law_without_noise_comes_back_exactly(void **state)
{
    (void)state;
    double basis[9 * 3], watts[9];
    fit found;
    for (int i = 0; i < 9; i++) {
        double f = 1.2 + 0.1 * i;
        basis[3 * i] = f * f * f;
        basis[3 * i + 1] = f;
        basis[3 * i + 2] = 1;
        watts[i] = power(f);
    }
    assert_true(fit_linear(9, 3, basis, watts, &found));
    expect(found.value[0], 2.2, 1e-10, "a");
    expect(found.value[1], 29, 1e-10, "b");
    expect(found.value[2], 24, 1e-10, "c");
    assert_true(found.residual < 1e-12 && found.error[0] < 1e-10);
    assert_int_equal(found.points, 9);
}

/* The formulas of a line, written out (Press et al., Numerical Recipes, sect. 15.2). */
static void errors_of_a_line_are_those_of_the_formulas(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3, 5, 8}, y[] = {2.1, 3.9, 6.2, 9.8, NAN};
    double mean = 11.0 / 4, squares = 0, product = 0, rest = 0;
    fit found;
    for (int i = 0; i < 4; i++) squares += (x[i] - mean) * (x[i] - mean);
    for (int i = 0; i < 4; i++) product += (x[i] - mean) * (y[i] - 22.0 / 4);
    double slope = product / squares, constant = 22.0 / 4 - slope * mean;
    for (int i = 0; i < 4; i++) rest += pow(y[i] - slope * x[i] - constant, 2);
    double deviation = sqrt(rest / 2);
    assert_true(fit_line(5, x, y, &found)); /* the NaN is left out */
    assert_int_equal(found.points, 4);
    expect(found.value[0], slope, 1e-13, "slope");
    expect(found.value[1], constant, 1e-13, "constant");
    expect(found.residual, deviation, 1e-13, "deviation");
    expect(found.error[0], deviation / sqrt(squares), 1e-13, "error of the slope");
    expect(found.error[1], deviation * sqrt(1.0 / 4 + mean * mean / squares), 1e-13, "error of the constant");
}

static void what_cannot_be_fitted_is_refused(void **state)
{
    (void)state;
    const double x[] = {2, 2, 2}, y[] = {1, 2, 3}, none[] = {NAN, NAN, NAN}, zero[] = {0, 0, 0};
    fit found;
    assert_false(fit_line(3, x, y, &found)); /* a constant and a constant */
    assert_false(fit_line(3, y, none, &found));
    assert_false(fit_line(1, x, y, &found));
    assert_false(fit_line(0, x, y, &found));
    assert_false(fit_linear(3, 1, zero, y, &found));
    assert_false(fit_offset(3, y, none, &found));
    assert_false(fit_offset(3, y, zero, &found)); /* nothing grows */
    assert_true(fit_line(2, y, x, &found));
    assert_true(isnan(found.error[0])); /* two points say nothing of an error */
    assert_true(isnan(fit_median(3, none, NULL)));
}

/* In 2000 drawings the truth is within two standard errors as often as Student's distribution with 15 degrees of freedom says: 93.6 %. */
static void standard_errors_cover_the_truth_as_often_as_they_should(void **state)
{
    (void)state;
    random_state random = {7};
    int within[3] = {0};
    for (int k = 0; k < 2000; k++) {
        double basis[18 * 3], watts[18];
        fit found;
        for (int i = 0; i < 18; i++) {
            double f = 1.2 + 0.1 * (i % 9);
            basis[3 * i] = f * f * f;
            basis[3 * i + 1] = f;
            basis[3 * i + 2] = 1;
            watts[i] = power(f) + 0.5 * random_normal(&random);
        }
        assert_true(fit_linear(18, 3, basis, watts, &found));
        const double truth[] = {2.2, 29, 24};
        for (int p = 0; p < 3; p++) within[p] += fabs(found.value[p] - truth[p]) <= 2 * found.error[p];
    }
    for (int p = 0; p < 3; p++) assert_in_range(within[p], 1839, 1905); /* 1872 and three standard deviations */
}

static void an_offset_is_found_where_copies_begin_to_cost(void **state)
{
    (void)state;
    random_state random = {3};
    int within[2] = {0};
    for (int k = 0; k < 1000; k++) {
        double n[40], seconds[40];
        fit found;
        for (int i = 0; i < 40; i++) { /* eq. 14: 11.8 us for each element above 512 */
            n[i] = 100.0 * (1 + i % 20);
            seconds[i] = 11.8e-6 * fmax(n[i] - 512, 0) + (n[i] > 512 ? 1e-4 * random_normal(&random) : 0);
        }
        assert_true(fit_offset(40, n, seconds, &found));
        assert_int_equal(found.points, 40);
        within[0] += fabs(found.value[0] - 11.8e-6) <= 2 * found.error[0];
        within[1] += fabs(found.value[1] - 512) <= 2 * found.error[1];
    }
    for (int p = 0; p < 2; p++) assert_in_range(within[p], 920, 980);
}

static void a_latency_is_a_negative_offset(void **state)
{
    (void)state;
    const double n[] = {100, 200, 300, 400}, seconds[] = {2e-3, 3e-3, 4e-3, 5e-3};
    fit found;
    assert_true(fit_offset(4, n, seconds, &found));
    expect(found.value[0], 1e-5, 1e-16, "slope");
    expect(found.value[1], -100, 1e-9, "offset");
}

static void medians_are_in_the_middle(void **state)
{
    (void)state;
    const double values[] = {1.3, NAN, 1.1, 99, 1.2, 1.4};
    double error;
    expect(fit_median(6, values, &error), 1.3, 0, "odd");
    expect(error, 1.4826 * 1.2533 * 0.1 / sqrt(5), 1e-12, "error"); /* deviations 0, 0.1, 0.1, 0.2, 97.7 */
    expect(fit_median(2, values + 2, NULL), 50.05, 1e-12, "even");
    const double others[] = {2, NAN, 4, 6};
    expect(fit_mean(4, others, &error), 4, 0, "mean");
    expect(error, 2 / sqrt(3), 1e-15, "error of the mean");
    assert_true(isnan(fit_mean(2, others + 1, &error) - 4 + error)); /* one number has no error */
}

/* ------------------------------------------------------------------------------------------------- tables */

static yoke_status read_text(const char *text, data *d)
{
    static const char *const wanted[] = {"units", "seconds", NULL};
    char path[] = "/tmp/yoke-samples-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    FILE *file = fdopen(descriptor, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    yoke_status status = data_read_csv(d, path, wanted);
    remove(path);
    return status;
}

static void tables_are_read_as_they_are_written(void **state)
{
    (void)state;
    data d = {0}, again = {0};
    assert_int_equal(yoke_context_create(NULL, &d.context), YOKE_OK);
    again.context = d.context;
    assert_int_equal(read_text("# of last year\r\nunits,seconds,total_j\r\n\n1,2.5,\n2,1e-300,-7.125\n", &d), YOKE_OK);
    assert_int_equal(d.rows, 2);
    assert_true(isnan(d.values[2]) && d.values[4] == 1e-300 && d.values[5] == -7.125);
    char text[4096] = {0};
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    data_write_csv(&d, out);
    fclose(out);
    assert_int_equal(read_text(text, &again), YOKE_OK);
    assert_int_equal(again.rows, 2);
    assert_true(isnan(again.values[2]) && again.values[4] == 1e-300 && again.values[5] == -7.125);
    yoke_context *context = d.context;
    data_release(&d);
    data_release(&again);
    yoke_context_destroy(context);
}

static void what_is_no_table_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } wrong[] = {
        {"", "no table of samples"},
        {"# nothing\n", "no table of samples"},
        {"units,seconds\n", "no samples"},
        {"units,hz\n1,2\n", "no column \"seconds\""},
        {"units,seconds,seconds\n", "names the columns"},
        {"units,seconds,'; system 'ls'\n", "names the columns"},
        {"units,seconds,\n", "names the columns"},
        {"units,seconds\n1\n", ":2: expected 2 numbers"},
        {"units,seconds\n1,2,3\n", ":2: expected 2 numbers"},
        {"units,seconds\n1,2\n1,x\n", ":3: expected 2 numbers between commas, column 2 (seconds) is \"x\""},
        {"units,seconds\n1,inf\n", ":2: expected 2 numbers"},
        {"units,seconds\n1e999,1\n", ":2: expected 2 numbers"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        data d = {0};
        assert_int_equal(yoke_context_create(NULL, &d.context), YOKE_OK);
        yoke_context *context = d.context;
        if (read_text(wrong[i].text, &d) != YOKE_ERROR_INPUT) fail_msg("read: %s", wrong[i].text);
        if (strstr(yoke_last_error(context), wrong[i].words) == NULL)
            fail_msg("no \"%s\" in: %s", wrong[i].words, yoke_last_error(context));
        data_release(&d);
        yoke_context_destroy(context);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_law_without_noise_comes_back_exactly),
    cmocka_unit_test(errors_of_a_line_are_those_of_the_formulas),
    cmocka_unit_test(what_cannot_be_fitted_is_refused),
    cmocka_unit_test(standard_errors_cover_the_truth_as_often_as_they_should),
    cmocka_unit_test(an_offset_is_found_where_copies_begin_to_cost),
    cmocka_unit_test(a_latency_is_a_negative_offset),
    cmocka_unit_test(medians_are_in_the_middle),
    cmocka_unit_test(tables_are_read_as_they_are_written),
    cmocka_unit_test(what_is_no_table_is_refused),
};

UNIT_MAIN(tests, NULL, NULL)
