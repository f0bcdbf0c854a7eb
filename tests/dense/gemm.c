/* Products on simulated machines against plain triple loops: any sizes, shares and failures; and what the check sees. */
#include <float.h>
#include <math.h>
#include <omp.h>

#include "gemm/freivalds.h"
#include "gemm/gemm.h"
#include "machine.h"

typedef struct bench {
    yoke_context *context;
    failing memory;
    yoke_run *run;
    app_blas blas;
    dense_matrix a, b, c;
} bench;

static dense_shared shared;

static void open_bench(bench *b, const char *cpu, const char *gpu, const yoke_run_options *options)
{
    *b = (bench){.context = NULL};
    open_machine(&b->context, &b->memory, cpu, gpu, options, &b->run);
    const char *why_not = app_blas_open(&b->blas);
    if (why_not) {
        fprintf(stderr, "left out: %s\n", why_not);
        exit(77);
    }
}

static void make(bench *b, int64_t m, int64_t n, int64_t k, dense_precision precision)
{
    assert_int_equal(dense_matrix_create(b->context, m, k, precision, &b->a), YOKE_OK);
    assert_int_equal(dense_matrix_create(b->context, k, n, precision, &b->b), YOKE_OK);
    assert_int_equal(dense_matrix_create(b->context, m, n, precision, &b->c), YOKE_OK);
    dense_matrix_random(&b->a, 1);
    dense_matrix_random(&b->b, 2);
    memset(b->c.entries, 0xff, (size_t)dense_matrix_bytes(&b->c)); /* NaN */
}

static void unmake(bench *b)
{
    dense_matrix_destroy(&b->a);
    dense_matrix_destroy(&b->b);
    dense_matrix_destroy(&b->c);
}

static void close_bench(bench *b)
{
    unmake(b);
    yoke_run_destroy(b->run);
    app_blas_close(&b->blas);
    yoke_context_destroy(b->context);
    assert_int_equal(b->memory.outstanding, 0);
}

static yoke_status multiply(bench *b, int64_t block)
{
    const dense_gemm_options options = {.block = block};
    return dense_gemm(b->context, b->run, &b->blas, NULL, &options, &b->a, &b->b, &b->c, &shared);
}

/* Every entry within k u sum |a| |b| (Higham 2002, eq. 3.13) of the sum in long double. */
static void expect_product(const bench *b)
{
    const double u = b->c.precision == DENSE_DOUBLE ? DBL_EPSILON / 2 : FLT_EPSILON / 2;
    for (int64_t i = 0; i < b->c.rows; i++)
        for (int64_t j = 0; j < b->c.columns; j++) {
            long double sum = 0, scale = 0;
            for (int64_t p = 0; p < b->a.columns; p++) {
                const long double term = (long double)dense_matrix_entry(&b->a, i, p) * dense_matrix_entry(&b->b, p, j);
                sum += term;
                scale += fabsl(term);
            }
            const double got = dense_matrix_entry(&b->c, i, j);
            if (!(fabsl((long double)got - sum) <= (double)b->a.columns * u * scale))
                fail_msg("entry (%lld, %lld): %.17g instead of %.17Lg", (long long)i, (long long)j, got, sum);
        }
}

static void products_of_any_size_are_those_of_triple_loops(void **state)
{
    (void)state;
    static const int64_t sizes[][4] = {/* m, n, k, block */
                                       {1, 1, 1, 64},    {1, 70, 3, 64},   {70, 1, 3, 64},     {5, 4, 1, 1},     {65, 33, 17, 64},
                                       {130, 57, 91, 7}, {64, 64, 64, 64}, {97, 101, 103, 10}, {300, 9, 200, 16}};
    static bench b;
    open_bench(&b, "", "", NULL);
    for (int precision = DENSE_SINGLE; precision <= DENSE_DOUBLE; precision += 4)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            make(&b, sizes[s][0], sizes[s][1], sizes[s][2], (dense_precision)precision);
            if (multiply(&b, sizes[s][3])) fail_msg("%s", yoke_last_error(b.context));
            expect_product(&b);
            unmake(&b);
        }
    close_bench(&b);
}

static void any_share_gives_the_product(void **state)
{
    (void)state;
    static const double shares[] = {0, 0.3, 0.55, 1};
    for (int s = 0; s < 4; s++) {
        static bench b;
        const yoke_run_options options = {.share = &shares[s]};
        open_bench(&b, "", "", &options);
        make(&b, 203, 41, 67, DENSE_DOUBLE);
        if (multiply(&b, 1)) fail_msg("%s", yoke_last_error(b.context));
        expect_product(&b);
        assert_int_equal(shared.num_parts, 2);
        assert_int_equal(shared.part[0].units + shared.part[1].units, 203);
        assert_true(fabs((double)shared.part[1].units - 203 * shares[s]) <= 2 * shared.num_rounds);
        close_bench(&b);
    }
}

/* The GPU is twice as fast: the last round, which knows that, gives it two thirds of the rows. */
static void the_share_is_that_of_the_speeds(void **state)
{
    (void)state;
    static bench b;
    open_bench(&b, "", "", NULL);
    make(&b, 960, 8, 8, DENSE_DOUBLE);
    if (multiply(&b, 1)) fail_msg("%s", yoke_last_error(b.context));
    expect_product(&b);
    assert_true(shared.num_rounds >= 2 && shared.num_rounds <= 7); /* two of them are of one device alone */
    const dense_round *last = &shared.round[shared.num_rounds - 1];
    if (!(last->imbalance <= 0.05)) fail_msg("imbalance %g of %lld units", last->imbalance, (long long)last->units);
    assert_true(fabs(last->predicted.time_s / last->measured.time_s - 1) < 0.05);
    close_bench(&b);
}

static void rows_of_a_device_that_fails_are_done_by_the_other(void **state)
{
    (void)state;
    int failed = 0;
    for (int device = 0; device < 2; device++)
        for (int call = device ? 1 : 4; call <= 30; call++) { /* the first calls of the CPU are those of the run */
            static bench b;
            char fault[100];
            snprintf(fault, sizeof fault, ", \"fault\": {\"call\": %d, \"kind\": \"lost\"}", call);
            open_bench(&b, device ? "" : fault, device ? fault : "", NULL);
            make(&b, 75, 12, 21, DENSE_DOUBLE);
            if (multiply(&b, 4)) fail_msg("device %d, call %d: %s", device, call, yoke_last_error(b.context));
            expect_product(&b);
            failed += shared.part[device].failed;
            assert_int_equal(shared.part[0].units + shared.part[1].units, 19);
            close_bench(&b);
        }
    assert_true(failed > 20);
}

/* C = A B twice, from zero: half of it is A B.  A device fails in between, and what it had begun must not count twice. */
static void products_are_added_once_where_a_device_fails(void **state)
{
    (void)state;
    const dense_gemm_options add = {.block = 4, .add = 1};
    int failed = 0;
    for (int device = 0; device < 2; device++)
        for (int call = device ? 1 : 4; call <= 24; call++) {
            static bench b;
            char fault[100];
            snprintf(fault, sizeof fault, ", \"fault\": {\"call\": %d, \"kind\": \"lost\"}", call);
            open_bench(&b, device ? "" : fault, device ? fault : "", NULL);
            make(&b, 75, 12, 21, DENSE_DOUBLE);
            memset(b.c.entries, 0, (size_t)dense_matrix_bytes(&b.c));
            dense_gemm_state *gemm = NULL;
            if (dense_gemm_open(b.context, b.run, &b.blas, NULL, &add, &b.a, &b.c, &gemm)) fail_msg("%s", yoke_last_error(b.context));
            for (int time = 0; time < 2; time++) {
                if (dense_gemm_multiply(gemm, &b.a, &b.b, &b.c, &shared)) fail_msg("%s", yoke_last_error(b.context));
                failed += shared.part[device].failed;
            }
            dense_gemm_close(gemm);
            for (int64_t i = 0; i < b.c.rows * b.c.columns; i++) ((double *)b.c.entries)[i] /= 2;
            expect_product(&b);
            close_bench(&b);
        }
    assert_true(failed > 20);
}

/* B takes 2016 bytes, a row of A and C 264, a row of B 96; the last memory is smaller than one of each. */
static void where_b_does_not_fit_it_goes_through_in_panels(void **state)
{
    (void)state;
    static const int64_t memories[] = {9000, 3000, 1000, 500, 100};
    for (int k = 0; k < 5; k++)
        for (int version = 0; version <= DENSE_OVERLAPPED; version++)
            for (int precision = DENSE_SINGLE; precision <= DENSE_DOUBLE; precision += 4) {
                static bench b;
                const double share = 0.5;
                const yoke_run_options options = {.share = &share};
                const dense_memory_limit limit = {"sim:gpu", memories[k] * precision / 8};
                const dense_gemm_options how = {.block = 4, .version = version, .num_limits = 1, .limits = &limit};
                open_bench(&b, "", "", &options);
                make(&b, 90, 12, 21, (dense_precision)precision);
                yoke_status status = dense_gemm(b.context, b.run, &b.blas, NULL, &how, &b.a, &b.b, &b.c, &shared);
                if (status) fail_msg("%s", yoke_last_error(b.context));
                expect_product(&b);
                const dense_part *gpu = &shared.part[1];
                assert_true((gpu->units > 0) == (k < 4) && gpu->failed == (k == 4));
                if (k > 0 && k < 4) assert_string_equal(gpu->by, "own kernel, out of core");
                if (k == 4 && !strstr(gpu->why, "a row of A and C and one of B need")) fail_msg("%s", gpu->why);
                close_bench(&b);
            }
}

/* The limit bounds what the device has, whatever the rows. */
static void a_limit_is_kept(void **state)
{
    (void)state;
    static bench b;
    const yoke_run_options options = {.devices = "sim:gpu"};
    open_bench(&b, "", ", \"memory_bytes\": 1200", &options); /* more is refused by the device itself */
    make(&b, 100, 12, 21, DENSE_DOUBLE);
    if (multiply(&b, 8)) fail_msg("%s", yoke_last_error(b.context));
    expect_product(&b);
    close_bench(&b);
}

/* With a bus on which a panel takes about as long as its product, each version takes less time than the one before. */
static void each_version_of_the_kernel_is_faster_than_the_one_before(void **state)
{
    (void)state;
    double before_s = INFINITY;
    for (int version = DENSE_MOVE_ALL; version <= DENSE_OVERLAPPED; version++) {
        static bench b;
        const yoke_run_options options = {.devices = "sim:gpu"};
        const dense_memory_limit limit = {"sim:gpu", 64 * 320 * 8 + 2 * 8 * 160 * 8};
        const dense_gemm_options how = {.block = 1, .version = version, .num_limits = 1, .limits = &limit};
        open_bench(&b, "", ", \"copy\": {\"latency_s\": 0, \"bytes_per_s\": 4e6}", &options);
        make(&b, 64, 160, 160, DENSE_DOUBLE);
        if (dense_gemm(b.context, b.run, &b.blas, NULL, &how, &b.a, &b.b, &b.c, &shared)) fail_msg("%s", yoke_last_error(b.context));
        expect_product(&b);
        if (!(shared.measured_s < 0.95 * before_s)) fail_msg("version %d: %g s, and %g s before", version, shared.measured_s, before_s);
        before_s = shared.measured_s;
        close_bench(&b);
    }
}

/*
 * 240 rows that go through in sets of 40, by panels of 40 rows of B, on a bus of 1 MB/s: copies of A and B one way, of C the other.  A card with two copy engines takes no
 * longer than the longer way and the last rows of C, and a unit of 1 ms; with one engine it takes both ways.
 */
static void copies_overlap_as_far_as_engines_allow(void **state)
{
    (void)state;
    enum { M = 240, N = 40, K = 80, ROWS = 40, SETS = M / ROWS, DEPTH = 40 };
    const double to_s = (8.0 * M * K + SETS * 8.0 * K * N) * 1e-6, back_s = 8.0 * M * N * 1e-6, set_s = back_s / SETS;
    for (int engines = 1; engines <= 2; engines++) {
        static bench b;
        char gpu[128];
        const yoke_run_options options = {.devices = "sim:gpu"};
        const dense_memory_limit limit = {"sim:gpu", 2 * ROWS * (K + N) * 8 + 2 * DEPTH * N * 8};
        const dense_gemm_options how = {.block = M, .version = DENSE_OVERLAPPED, .num_limits = 1, .limits = &limit};
        snprintf(gpu, sizeof gpu, ", \"copy\": {\"latency_s\": 0, \"bytes_per_s\": 1e6, \"engines\": %d}", engines);
        open_bench(&b, "", gpu, &options);
        make(&b, M, N, K, DENSE_DOUBLE);
        if (dense_gemm(b.context, b.run, &b.blas, NULL, &how, &b.a, &b.b, &b.c, &shared)) fail_msg("%s", yoke_last_error(b.context));
        expect_product(&b);
        const double least_s = engines == 1 ? to_s + back_s : to_s, most_s = 1.0001e-3 + (engines == 1 ? least_s : to_s + set_s);
        if (!(shared.measured_s >= least_s && shared.measured_s <= most_s))
            fail_msg("%d engines: %g s instead of %g to %g", engines, shared.measured_s, least_s, most_s);
        close_bench(&b);
    }
}

static void without_a_blas_hosts_do_nothing_and_say_why(void **state)
{
    (void)state;
    static const char *const devices[] = {"sim:cpu,sim:gpu", "sim:cpu"};
    for (int k = 0; k < 2; k++) {
        static bench b;
        const yoke_run_options options = {.devices = devices[k]};
        const dense_gemm_options blocks = {.block = 8};
        open_bench(&b, "", "", &options);
        make(&b, 50, 12, 21, DENSE_DOUBLE);
        yoke_status status = dense_gemm(b.context, b.run, NULL, "there is no BLAS", &blocks, &b.a, &b.b, &b.c, &shared);
        if (k == 0) {
            assert_int_equal(status, YOKE_OK);
            expect_product(&b);
            assert_true(shared.part[0].units == 0 && strstr(shared.part[0].why, "there is no BLAS"));
        } else {
            assert_int_equal(status, YOKE_ERROR_UNAVAILABLE);
            assert_non_null(strstr(yoke_last_error(b.context), "there is no BLAS"));
        }
        close_bench(&b);
    }
}

/* Any entry of C that is wrong by a thousandth is found, and right products of all kinds pass. */
static void the_check_finds_one_wrong_entry(void **state)
{
    (void)state;
    static bench b;
    dense_freivalds check;
    open_bench(&b, "", "", NULL);
    for (int precision = DENSE_SINGLE; precision <= DENSE_DOUBLE; precision += 4) {
        make(&b, 60, 40, 50, (dense_precision)precision);
        assert_int_equal(multiply(&b, 16), YOKE_OK);
        assert_int_equal(dense_freivalds_check(&b.a, &b.b, &b.c, 1, &check), YOKE_OK);
        assert_true(check.passed && check.relative_error > 0 && check.relative_error <= check.limit);
        for (int64_t i = 0; i < 60 * 40; i += 97) {
            const int is_double = precision == DENSE_DOUBLE;
            const double before = dense_matrix_entry(&b.c, i / 40, i % 40), wrong = before + (is_double ? 1e-3 : 0.1);
            if (is_double)
                ((double *)b.c.entries)[i] = wrong;
            else
                ((float *)b.c.entries)[i] = (float)wrong;
            assert_int_equal(dense_freivalds_check(&b.a, &b.b, &b.c, 1, &check), YOKE_OK);
            if (check.passed) fail_msg("entry %lld of %d bytes is wrong and passed", (long long)i, precision);
            if (is_double) ((double *)b.c.entries)[i] = NAN;
            assert_int_equal(dense_freivalds_check(&b.a, &b.b, &b.c, 1, &check), YOKE_OK);
            assert_false(check.passed);
            if (is_double)
                ((double *)b.c.entries)[i] = before;
            else
                ((float *)b.c.entries)[i] = (float)before;
        }
        unmake(&b);
    }
    close_bench(&b);
}

static void the_direct_call_gives_the_same_product(void **state)
{
    (void)state;
    static bench b;
    double seconds = 0;
    open_bench(&b, "", "", NULL);
    make(&b, 90, 31, 44, DENSE_DOUBLE);
    dense_gemm_direct(&b.blas, 2, &b.a, &b.b, &b.c, &seconds);
    expect_product(&b);
    assert_true(seconds > 0);
    close_bench(&b);
}

/* In place of a BLAS: counts the products that every entry of C gets, and the calls. */
static const dense_matrix *counted;
static int calls, fewest_rows, fewest_columns;

static void count_products(int order, int transpose_a, int transpose_b, int m, int n, int k, double alpha, const double *a, int lda,
                           const double *b, int ldb, double beta, double *c, int ldc)
{
    assert_true(order == APP_BLAS_ROW_MAJOR && transpose_a == APP_BLAS_NO_TRANSPOSE && transpose_b == APP_BLAS_NO_TRANSPOSE);
    assert_true(alpha == 1 && beta == 0 && a && b && lda == k && ldb == ldc);
    const int64_t at = c - (double *)counted->entries;
    assert_true(m >= 1 && n >= 1 && ldc == counted->columns && at % ldc + n <= ldc && at / ldc + m <= counted->rows);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) c[i * ldc + j] += 1;
#pragma omp critical(counting)
    {
        calls++;
        fewest_rows = m < fewest_rows ? m : fewest_rows;
        fewest_columns = n < fewest_columns ? n : fewest_columns;
    }
}

static void count_tiles(bench *b, int64_t rows, int64_t columns, int64_t first, int threads, double uneven)
{
    const app_blas counting = {.dgemm = count_products};
    make(b, rows, columns, 1, DENSE_DOUBLE);
    memset(b->c.entries, 0, (size_t)dense_matrix_bytes(&b->c));
    counted = &b->c;
    calls = 0;
    fewest_rows = fewest_columns = 1 << 30;
    omp_set_num_threads(threads);
    dense_gemm_rows(&counting, &b->a, &b->b, 0, &b->c, first, rows, uneven);
    for (int64_t i = 0; i < rows * columns; i++)
        if (((double *)b->c.entries)[i] != (i >= first * columns))
            fail_msg("%lld x %lld: entry %lld", (long long)rows, (long long)columns, (long long)i);
    unmake(b);
}

/*
 * The BLAS packs all of B for each tile, so the fewest are best: one for each thread, of whole rows while there are enough of them.  Threads that are not alike get more.
 */
static void tiles_are_as_large_as_the_threads_allow(void **state)
{
    (void)state;
    static bench b;
    open_bench(&b, "", "", NULL);
    const int threads = omp_get_max_threads();
    count_tiles(&b, 1024, 300, 0, 2, 0);
    assert_true(calls == 2 && fewest_rows == 512 && fewest_columns == 300);
    count_tiles(&b, 1024, 300, 0, 2, 0.2);
    assert_true(calls > 2 && calls % 2 == 0 && calls <= 8 && fewest_columns == 300);
    count_tiles(&b, 1024, 300, 0, 1, 0.1); /* a thread waits for no other one */
    assert_int_equal(calls, 1);
    count_tiles(&b, 64, 4000, 0, 4, 0); /* rows are few: beside each other */
    assert_true(calls == 4 && fewest_columns == 1000 && fewest_rows == 64);
    count_tiles(&b, 700, 900, 123, 3, 0);
    assert_int_equal(calls, 3);
    for (int size = 1; size < 40; size++) count_tiles(&b, size, 40 - size, size / 3, 5, size % 2 * 0.1);
    omp_set_num_threads(threads);
    close_bench(&b);
}

static void random_numbers_fill_their_interval(void **state)
{
    (void)state;
    static bench b;
    open_bench(&b, "", "", NULL);
    for (int precision = DENSE_SINGLE; precision <= DENSE_DOUBLE; precision += 4) {
        double sum = 0, squares = 0, least = 1, most = -1;
        make(&b, 200, 1, 500, (dense_precision)precision);
        for (int64_t i = 0; i < 200 * 500; i++) {
            const double x = dense_matrix_entry(&b.a, i / 500, i % 500);
            sum += x, squares += x * x, least = fmin(least, x), most = fmax(most, x);
        }
        assert_true(least >= -1 && least < -0.999 && most < 1 && most > 0.999);
        assert_true(fabs(sum / 1e5) < 4 * sqrt(1 / 3.0 / 1e5) && fabs(squares / 1e5 - 1 / 3.0) < 4 * sqrt(4 / 45.0 / 1e5));
        unmake(&b);
    }
    close_bench(&b);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(products_of_any_size_are_those_of_triple_loops),
    cmocka_unit_test(any_share_gives_the_product),
    cmocka_unit_test(the_share_is_that_of_the_speeds),
    cmocka_unit_test(rows_of_a_device_that_fails_are_done_by_the_other),
    cmocka_unit_test(products_are_added_once_where_a_device_fails),
    cmocka_unit_test(where_b_does_not_fit_it_goes_through_in_panels),
    cmocka_unit_test(a_limit_is_kept),
    cmocka_unit_test(each_version_of_the_kernel_is_faster_than_the_one_before),
    cmocka_unit_test(copies_overlap_as_far_as_engines_allow),
    cmocka_unit_test(without_a_blas_hosts_do_nothing_and_say_why),
    cmocka_unit_test(the_check_finds_one_wrong_entry),
    cmocka_unit_test(the_direct_call_gives_the_same_product),
    cmocka_unit_test(tiles_are_as_large_as_the_threads_allow),
    cmocka_unit_test(random_numbers_fill_their_interval),
};

UNIT_MAIN(tests, NULL, NULL)
