#include <math.h>

#include "base/failing.h"
#include "base/statistics.h"
#include "model/noise.h"
#include "state.h"

/* A kernel on a virtual clock: truth and noise are known. */
typedef struct kernel {
    noise random;
    double mean_s, noise; /* relative standard deviation */
    double outliers;      /* probability of a call that takes ten times as long */
    double power_w;       /* NaN: not metered */
    const double *script; /* seconds in turn instead, or NULL */
    int64_t calls, fail_at;
} kernel;

static yoke_status call(void *user, double *seconds, double *joules)
{
    kernel *k = user;
    if (++k->calls == k->fail_at) return YOKE_ERROR_DEVICE;
    *seconds = k->mean_s * fmax(1e-3, 1 + k->noise * noise_normal(&k->random));
    if (noise_uniform(&k->random) < k->outliers) *seconds *= 10;
    if (k->script != NULL) *seconds = k->script[k->calls - 1];
    *joules = k->power_w * *seconds;
    return YOKE_OK;
}

static yoke_sample measure(yoke_context *context, kernel *k, const yoke_measure_options *options)
{
    yoke_sample sample = {.units = 7, .frequency_hz = 2e9, .together = 1};
    assert_int_equal(yoke_measure(context, call, k, options, &sample), YOKE_OK);
    assert_true(sample.units == 7 && sample.frequency_hz == 2e9 && sample.together == 1);
    assert_int_equal(sample.repeats + sample.rejected, k->calls);
    assert_true(3 * sample.rejected <= k->calls);
    return sample;
}

static void quantiles_of_student_are_those_of_the_tables(void **state)
{
    (void)state;
    static const double table[][2] = {{1, 12.706204736}, {2, 4.302652730},  {3, 3.182446305},   {5, 2.570581836},
                                      {10, 2.228138852}, {30, 2.042272456}, {1e3, 1.962339081}, {1e9, 1.959963985}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        assert_true(fabs(statistics_student_95(table[i][0]) - table[i][1]) < 1e-8);
        assert_true(fabs(statistics_student_probability(table[i][1], table[i][0]) - 0.975) < 1e-10);
    }
    assert_true(fabs(yoke_student_t(0.05, 4) + 2.131846786) < 1e-8);
    assert_true(fabs(yoke_student_t(0.5, 4)) < 1e-12);
    assert_true(fabs(yoke_student_t(0.975, INFINITY) - 1.959963985) < 1e-8);
    assert_true(isnan(yoke_student_t(1, 4)) && isnan(yoke_student_t(0, 4)) && isnan(yoke_student_t(NAN, 4)));
    assert_true(isnan(yoke_student_t(0.9, 0)) && isnan(yoke_student_t(0.9, NAN)));
}

static void medians_and_robust_deviations_are_right(void **state)
{
    (void)state;
    double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2}, scratch[1001], many[1001];
    statistics_sort(odd, 3);
    statistics_sort(even, 4);
    assert_true(statistics_median(odd, 3) == 3 && statistics_median(even, 4) == 2.5);
    double sum[2] = {0, 0};
    noise random = {1};
    for (int turn = 0; turn < 4000; turn++)
        for (int k = 0; k < 2; k++) {
            int64_t count = k == 0 ? 8 : 101;
            for (int64_t i = 0; i < count; i++) many[i] = noise_normal(&random);
            statistics_sort(many, count);
            sum[k] += statistics_robust_deviation(many, count, statistics_median(many, count), scratch) / 4000;
        }
    assert_true(fabs(sum[0] - 1) < 0.03 && fabs(sum[1] - 1) < 0.01);
}

static void the_interval_holds_the_mean_in_nineteen_of_twenty_cases(void **state)
{
    static const double noises[] = {0.005, 0.03, 0.1};
    for (int k = 0; k < 3; k++) {
        int covered = 0;
        double calls = 0;
        for (uint64_t seed = 0; seed < 4000; seed++) {
            kernel kern = {.random = {seed}, .mean_s = 1e-3, .noise = noises[k], .power_w = NAN};
            yoke_sample sample = measure(*state, &kern, NULL);
            covered += fabs(sample.seconds - kern.mean_s) <= sample.seconds_interval;
            calls += (double)kern.calls / 4000;
            assert_true(isnan(sample.joules) && isnan(sample.joules_interval));
        }
        printf("noise %.1f %%: %.1f %% covered, %.1f calls\n", 100 * noises[k], covered / 40.0, calls);
        assert_in_range(covered, 3600, 3920);
    }
}

static void it_stops_when_the_interval_is_narrow(void **state)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        kernel kern = {.random = {seed}, .mean_s = 1e-4, .noise = 0.05, .power_w = 40};
        yoke_sample sample = measure(*state, &kern, &(yoke_measure_options){.relative = 0.01});
        assert_true(sample.seconds_interval <= 0.01 * sample.seconds);
        assert_in_range(kern.calls, 10, 400);
        assert_true(fabs(sample.joules / sample.seconds - 40) < 1e-9);
        assert_true(sample.joules_interval <= 0.0100001 * sample.joules);
    }
}

static void outliers_are_rejected_and_counted(void **state)
{
    for (uint64_t seed = 0; seed < 300; seed++) {
        kernel kern = {.random = {seed}, .mean_s = 1e-3, .noise = 0.01, .outliers = 0.1, .power_w = NAN};
        yoke_sample sample = measure(*state, &kern, &(yoke_measure_options){.min_calls = 40, .budget_s = 10});
        assert_true(fabs(sample.seconds / 1e-3 - 1) < 0.01);
        if (sample.rejected == 0) assert_true(sample.seconds_interval < 0.01 * sample.seconds);
    }
}

static void never_more_than_a_third_is_rejected(void **state)
{
    /* Two kinds of calls: it is not for statistics to say which of them is right. */
    double script[30];
    for (int i = 0; i < 30; i++) script[i] = i % 5 < 3 ? 1 + 1e-4 * i : 2;
    kernel kern = {.script = script, .power_w = NAN};
    yoke_sample sample = measure(*state, &kern, &(yoke_measure_options){.min_calls = 30, .max_calls = 30, .budget_s = 1e9});
    assert_true(3 * sample.rejected <= 30);
}

static void calls_on_a_virtual_clock_without_noise_need_three_repeats(void **state)
{
    kernel kern = {.mean_s = 0.125, .power_w = 8};
    yoke_sample sample = measure(*state, &kern, NULL);
    assert_int_equal(kern.calls, 3);
    assert_true(sample.seconds == 0.125 && sample.seconds_interval == 0 && sample.joules == 1 && sample.joules_interval == 0);
}

static void the_budget_ends_it(void **state)
{
    kernel kern = {.mean_s = 0.3, .noise = 0.2, .power_w = NAN};
    yoke_sample sample = measure(*state, &kern, &(yoke_measure_options){.relative = 1e-9});
    assert_true(kern.calls >= 3 && kern.calls <= 6);
    kern = (kernel){.mean_s = 5, .power_w = NAN};
    sample = measure(*state, &kern, NULL);
    assert_int_equal(kern.calls, 1);
    assert_true(sample.repeats == 1 && isnan(sample.seconds_interval));
    kern = (kernel){.mean_s = 1e-9, .noise = 0.3, .power_w = NAN};
    measure(*state, &kern, &(yoke_measure_options){.relative = 1e-9, .max_calls = 50});
    assert_int_equal(kern.calls, 50);
}

static void joules_that_are_known_sometimes_count_where_they_are(void **state)
{
    static const double script[] = {1, 1, 1, 1};
    kernel kern = {.script = script, .power_w = NAN};
    yoke_sample sample = measure(*state, &kern, &(yoke_measure_options){.min_calls = 4, .budget_s = 10});
    assert_true(isnan(sample.joules) && sample.seconds == 1);
}

static void what_cannot_be_measured_is_an_error(void **state)
{
    yoke_context *context = *state;
    static const double bad[] = {0, -1, NAN, INFINITY};
    yoke_sample sample = {.seconds = 77};
    for (int i = 0; i < 4; i++) {
        kernel kern = {.script = &bad[i]};
        assert_int_equal(yoke_measure(context, call, &kern, NULL, &sample), YOKE_ERROR_NUMERIC);
    }
    kernel kern = {.mean_s = 1e-3, .fail_at = 3};
    assert_int_equal(yoke_measure(context, call, &kern, NULL, &sample), YOKE_ERROR_DEVICE);
    assert_int_equal(yoke_measure(context, call, &kern, &(yoke_measure_options){.relative = -1}, &sample), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_measure(context, call, &kern, &(yoke_measure_options){.budget_s = NAN}, &sample), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_measure(context, call, &kern, &(yoke_measure_options){.min_calls = 5, .max_calls = 4}, &sample),
                     YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_measure(context, call, &kern, &(yoke_measure_options){.max_calls = INT64_MAX}, &sample), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_measure(context, NULL, &kern, NULL, &sample), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_measure(NULL, call, &kern, NULL, &sample), YOKE_ERROR_ARGUMENT);
    assert_true(sample.seconds == 77);
}

static void a_failing_allocation_is_an_error(void **state)
{
    (void)state;
    failing memory = {.fail_at = 2};
    yoke_options options = failing_options(&memory);
    yoke_context *context = NULL;
    yoke_sample sample = {0};
    kernel kern = {.mean_s = 1};
    assert_int_equal(yoke_context_create(&options, &context), YOKE_OK);
    assert_int_equal(yoke_measure(context, call, &kern, NULL, &sample), YOKE_ERROR_MEMORY);
    yoke_context_destroy(context);
    assert_int_equal(memory.outstanding, 0);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(quantiles_of_student_are_those_of_the_tables),
                                          cmocka_unit_test(medians_and_robust_deviations_are_right),
                                          cmocka_unit_test(the_interval_holds_the_mean_in_nineteen_of_twenty_cases),
                                          cmocka_unit_test(it_stops_when_the_interval_is_narrow),
                                          cmocka_unit_test(outliers_are_rejected_and_counted),
                                          cmocka_unit_test(never_more_than_a_third_is_rejected),
                                          cmocka_unit_test(calls_on_a_virtual_clock_without_noise_need_three_repeats),
                                          cmocka_unit_test(the_budget_ends_it),
                                          cmocka_unit_test(joules_that_are_known_sometimes_count_where_they_are),
                                          cmocka_unit_test(what_cannot_be_measured_is_an_error),
                                          cmocka_unit_test(a_failing_allocation_is_an_error)};

UNIT_MAIN(tests, state_start, state_end)
