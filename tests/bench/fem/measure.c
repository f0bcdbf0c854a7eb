/* How benchmarks measure: quantiles, differences and their uncertainty, and how often the work is done. */
#include <math.h>

#include "fem/fixtures/block.h"
#include "fem/measure.h"
#include "fixture.h"

static void test_quantiles_lie_between_sorted_values(void **state)
{
    (void)state;
    double values[] = {4, 1, 3, 2};
    assert_true(fem_bench_quantile(values, 4, 0) == 1);
    assert_true(fem_bench_quantile(values, 4, 1) == 4);
    assert_true(fem_bench_quantile(values, 4, 0.5) == 2.5);
    assert_true(fem_bench_quantile(values, 4, 0.25) == 1.75);
    assert_true(fem_bench_quantile(values, 1, 0.5) == 1);
}

static void test_a_difference_counts_only_beyond_its_uncertainty(void **state)
{
    (void)state;
    enum { PAIRS = 400 };
    yoke_context *context = new_context();
    fem_bench_difference d;
    double a[PAIRS], b[PAIRS], drift[PAIRS];
    uint64_t random = 3;
    for (int i = 0; i < PAIRS; i++) drift[i] = 10 + 0.1 * i;
    for (int i = 0; i < PAIRS; i++) { /* the same on both sides, but for noise of 1 */
        a[i] = drift[i] + block_random(&random);
        b[i] = drift[i] + block_random(&random);
    }
    must(context, fem_bench_compare(context, a, b, PAIRS, &d));
    assert_true(d.below_noise && fabs(d.median) < 0.1 && d.uncertainty > 0 && d.uncertainty < 0.1);
    for (int i = 0; i < PAIRS; i++) a[i] += 0.5;
    must(context, fem_bench_compare(context, a, b, PAIRS, &d));
    assert_true(!d.below_noise && fabs(d.median - 0.5) < 0.1);
    assert_true(fabs(d.median_a - d.median_b - 0.5) < 0.3);
    must(context, fem_bench_compare(context, (double[]){2, 2}, (double[]){1, 1}, 2, &d));
    assert_true(isnan(d.uncertainty) && d.below_noise && d.median == 1);
    yoke_context_destroy(context);
}

/*
 * How often the interval holds the true difference, over many experiments: 95 % are promised, and the median's interval from so few pairs is
 * allowed 90 to 99.
 */
static void test_the_uncertainty_is_that_of_normal_noise(void **state)
{
    (void)state;
    enum { EXPERIMENTS = 2000, PAIRS = 25 };
    yoke_context *context = new_context();
    uint64_t random = 11;
    int inside = 0;
    for (int k = 0; k < EXPERIMENTS; k++) {
        double a[PAIRS], b[PAIRS];
        fem_bench_difference d;
        for (int i = 0; i < PAIRS; i++) {
            double normal = 0; /* Irwin and Hall */
            for (int j = 0; j < 12; j++) normal += block_random(&random) - 0.5;
            a[i] = 7 + normal;
            b[i] = 5;
        }
        must(context, fem_bench_compare(context, a, b, PAIRS, &d));
        inside += fabs(d.median - 2) <= d.uncertainty;
    }
    assert_in_range(inside, EXPERIMENTS * 90 / 100, EXPERIMENTS * 99 / 100);
    yoke_context_destroy(context);
}

typedef struct counted {
    yoke_context *context;
    int64_t times, fail_at;
} counted;

static yoke_status count_work(void *user, int64_t times)
{
    counted *work = user;
    work->times += times;
    return work->fail_at && work->times >= work->fail_at ? yoke_fail(work->context, YOKE_ERROR_DEVICE, "enough") : YOKE_OK;
}

static void test_what_is_measured_is_counted(void **state)
{
    (void)state;
    yoke_context *context = new_context();
    counted work = {.context = context};
    fem_bench_time time;
    must(context, fem_bench_measure(context, 0, count_work, &work, &time));
    assert_int_equal(time.batches, 3);
    assert_int_equal(time.times, 3);
    assert_int_equal(work.times, 5);
    assert_true(time.quartile_low_s <= time.median_s && time.median_s <= time.quartile_high_s);
    work = (counted){.context = context, .fail_at = 4};
    assert_int_equal(fem_bench_measure(context, 0, count_work, &work, &time), YOKE_ERROR_DEVICE);
    assert_int_equal(work.times, 4);
    yoke_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_quantiles_lie_between_sorted_values),
    cmocka_unit_test(test_a_difference_counts_only_beyond_its_uncertainty),
    cmocka_unit_test(test_the_uncertainty_is_that_of_normal_noise),
    cmocka_unit_test(test_what_is_measured_is_counted),
};

UNIT_MAIN(tests, NULL, NULL)
