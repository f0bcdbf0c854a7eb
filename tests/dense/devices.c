/*
 * All operations on one device against the cores: on openmp, or on the device named by YOKE_TEST_DEVICE of the machine file YOKE_TEST_MACHINE; left out where that is
 * not there.
 */
#include <float.h>
#include <math.h>

#include "fmm/device.h"
#include "gemm/gemm.h"
#include "transpose/transpose.h"
#include "tsp/tsp.h"

static dense_shared shared;

static yoke_run *open_run(void)
{
    const yoke_run_options options = {.devices = device, .no_meters = 1};
    yoke_run *run = NULL;
    if (yoke_run_create(context, &options, &run)) fail_msg("%s", yoke_last_error(context));
    return run;
}

static void products_are_those_of_triple_loops(void **state)
{
    (void)state;
    static const int64_t sizes[][3] = {{1, 1, 1}, {65, 33, 17}, {130, 70, 91}};
    app_blas blas;
    yoke_run *run = open_run();
    const char *why_not = app_blas_open(&blas);
    if (why_not && !strcmp(device, "openmp")) skip();
    for (int precision = DENSE_SINGLE; precision <= DENSE_DOUBLE; precision += 4)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            const int64_t m = sizes[s][0], n = sizes[s][1], k = sizes[s][2];
            const double u = precision == DENSE_DOUBLE ? DBL_EPSILON / 2 : FLT_EPSILON / 2;
            /* of three sizes the last one goes through in panels */
            const dense_memory_limit limit = {device, 40 * (70 + 91) * precision};
            const dense_gemm_options options = {.block = 16, .num_limits = 1, .limits = &limit};
            dense_matrix a, b, c;
            assert_int_equal(dense_matrix_create(context, m, k, (dense_precision)precision, &a), YOKE_OK);
            assert_int_equal(dense_matrix_create(context, k, n, (dense_precision)precision, &b), YOKE_OK);
            assert_int_equal(dense_matrix_create(context, m, n, (dense_precision)precision, &c), YOKE_OK);
            dense_matrix_random(&a, 1);
            dense_matrix_random(&b, 2);
            memset(c.entries, 0xff, (size_t)dense_matrix_bytes(&c)); /* NaN */
            yoke_status status = dense_gemm(context, run, why_not ? NULL : &blas, why_not, &options, &a, &b, &c, &shared);
            if (status) fail_msg("%s", yoke_last_error(context));
            for (int64_t i = 0; i < m; i++)
                for (int64_t j = 0; j < n; j++) {
                    long double sum = 0, scale = 0;
                    for (int64_t p = 0; p < k; p++) {
                        const long double term = (long double)dense_matrix_entry(&a, i, p) * dense_matrix_entry(&b, p, j);
                        sum += term;
                        scale += fabsl(term);
                    }
                    assert_true(fabsl((long double)dense_matrix_entry(&c, i, j) - sum) <= (double)k * u * scale);
                }
            dense_matrix_destroy(&a);
            dense_matrix_destroy(&b);
            dense_matrix_destroy(&c);
        }
    app_blas_close(&blas);
    yoke_run_destroy(run);
}

static void transpositions_are_right_to_the_bit(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = {{1, 1}, {65, 33}, {100, 130}};
    yoke_run *run = open_run();
    for (int precision = DENSE_SINGLE; precision <= DENSE_DOUBLE; precision += 4)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            const dense_transpose_options options = {.block = 16};
            dense_matrix a, b;
            assert_int_equal(dense_matrix_create(context, sizes[s][0], sizes[s][1], (dense_precision)precision, &a), YOKE_OK);
            assert_int_equal(dense_matrix_create(context, sizes[s][1], sizes[s][0], (dense_precision)precision, &b), YOKE_OK);
            dense_matrix_random(&a, 1);
            memset(b.entries, 0, (size_t)dense_matrix_bytes(&b));
            if (dense_transpose(context, run, &options, &a, &b, &shared)) fail_msg("%s", yoke_last_error(context));
            for (int64_t i = 0; i < a.rows; i++)
                for (int64_t j = 0; j < a.columns; j++) assert_true(dense_matrix_entry(&a, i, j) == dense_matrix_entry(&b, j, i));
            dense_matrix_destroy(&a);
            dense_matrix_destroy(&b);
        }
    yoke_run_destroy(run);
}

/* All restarts are climbed again on the host. */
static void tours_are_those_of_the_cores(void **state)
{
    (void)state;
    const dense_tsp_options options = {.restarts = 150, .seed = INT64_C(0x123456789abcdef), .check = 150};
    dense_cities cities = {.context = NULL};
    dense_tour tour;
    yoke_run *run = open_run();
    assert_int_equal(dense_cities_random(context, 33, 5, &cities), YOKE_OK);
    if (dense_tsp(run, &cities, &options, &tour, &shared)) fail_msg("%s", yoke_last_error(context));
    assert_int_equal(dense_tour_length(&cities, tour.city), tour.length);
    dense_tour_destroy(&tour);
    dense_cities_destroy(&cities);
    yoke_run_destroy(run);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(products_are_those_of_triple_loops),
    cmocka_unit_test(transpositions_are_right_to_the_bit),
    cmocka_unit_test(tours_are_those_of_the_cores),
};

UNIT_MAIN(tests, device_start, context_end)
