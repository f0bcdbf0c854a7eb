/* Kernels: arguments, groups, barriers; host functions and BLAS. */
#include <math.h>
#include <omp.h>

#include "kernels.h"
#include "packed.h"
#include "suite.h"

extern const char device_kernels_text[];

static const yoke_host_kernel host_kernels[] = {
    {"double_and_one", double_and_one},
    {"axpy", axpy},
    {"every_kind", every_kind},
    {"most_parameters", most_parameters},
    {"sizes", sizes},
    {"count_visits", count_visits},
    {"row_sums", row_sums},
    {"go_round", go_round},
    {"count_by_atomics", count_by_atomics},
};

yoke_program_source suite_source(void)
{
    static const char *const texts[] = {device_kernels_text};
    return (yoke_program_source){.name = "kernels of the device suite",
                                 .texts = texts,
                                 .num_texts = 1,
                                 .host_kernels = host_kernels,
                                 .num_host_kernels = sizeof host_kernels / sizeof host_kernels[0]};
}

static void every_kind_of_argument_arrives(void **state)
{
    suite *s = *state;
    double out[5] = {0};
    yoke_buffer *buffer = suite_buffer(s, sizeof out, out);
    const yoke_argument arguments[] = {yoke_argument_buffer(buffer),           yoke_argument_int32(-2147483647),
                                       yoke_argument_int64(-4503599627370497), yoke_argument_float(0.1f),
                                       yoke_argument_double(-1e300),           yoke_argument_buffer(NULL)};
    OK(s, yoke_queue_launch(s->queue, suite_function(s, "every_kind"), 1, 1, 0, arguments, 6));
    suite_read(s, buffer, sizeof out, out);
    assert_true(out[0] == -2147483647.0);
    assert_true(out[1] == -4503599627370497.0);
    assert_true(out[2] == (double)0.1f);
    assert_true(out[3] == -1e300);
    assert_true(out[4] == 1.0);
    yoke_buffer_destroy(buffer);
}

static void a_kernel_takes_twenty_arguments(void **state)
{
    suite *s = *state;
    double out[19] = {0};
    yoke_buffer *buffer = suite_buffer(s, sizeof out, out);
    yoke_argument arguments[20] = {yoke_argument_buffer(buffer)};
    for (int i = 0; i < 19; i++)
        arguments[1 + i] = i % 4 == 0   ? yoke_argument_int32(-i)
                           : i % 4 == 1 ? yoke_argument_int64(-i - ((int64_t)1 << 40))
                           : i % 4 == 2 ? yoke_argument_float((float)i + 0.5f)
                                        : yoke_argument_double(i + 0.1);
    OK(s, yoke_queue_launch(s->queue, suite_function(s, "most_parameters"), 2, 8, 0, arguments, 20));
    suite_read(s, buffer, sizeof out, out);
    for (int i = 0; i < 19; i++)
        assert_true(out[i] == (i % 4 == 0 ? -i : i % 4 == 1 ? -i - 1099511627776.0 : i % 4 == 2 ? i + 0.5 : i + 0.1));
    yoke_buffer_destroy(buffer);
}

/* What the host changes after the launch does not reach it. */
static void arguments_are_taken_at_the_launch(void **state)
{
    suite *s = *state;
    double zeros[64] = {0}, ones[64], out[64];
    for (int i = 0; i < 64; i++) ones[i] = 1;
    yoke_buffer *x = suite_buffer(s, sizeof ones, ones), *y = suite_buffer(s, sizeof zeros, zeros);
    yoke_argument arguments[] = {yoke_argument_int64(64), yoke_argument_double(0), yoke_argument_buffer(x), yoke_argument_buffer(y)};
    for (int i = 1; i <= 100; i++) {
        arguments[1].value.float64 = i;
        OK(s, yoke_queue_launch(s->queue, suite_function(s, "axpy"), 2, 8, 64, arguments, 4));
    }
    arguments[1].value.float64 = NAN;
    suite_read(s, y, sizeof out, out);
    for (int i = 0; i < 64; i++) assert_true(out[i] == 5050);
    yoke_buffer_destroy(x);
    yoke_buffer_destroy(y);
}

static void types_have_their_sizes(void **state)
{
    suite *s = *state;
    int32_t out[8] = {0};
    static const int32_t expected[8] = {1, 1, 2, 4, 8, 1, 1, 99};
    yoke_buffer *buffer = suite_buffer(s, sizeof out, out);
    const yoke_argument arguments[] = {yoke_argument_buffer(buffer), yoke_argument_int32(99)};
    OK(s, yoke_queue_launch(s->queue, suite_function(s, "sizes"), 3, 32, 0, arguments, 2));
    suite_read(s, buffer, sizeof out, out);
    assert_memory_equal(out, expected, sizeof out);
    yoke_buffer_destroy(buffer);
}

static void groups_of_any_size_meet_each_row_once(void **state)
{
    suite *s = *state;
    static const int64_t group_sizes[] = {1, 2, 3, 7, 32, 33, 64, 100, 128, 255, 256};
    static const int64_t groups[] = {1, 2, 5, 64, 1009};
    enum { ROWS = 5003 };
    static int32_t visits[ROWS];
    static int64_t seen[ROWS];
    yoke_buffer *counts = suite_buffer(s, sizeof visits, NULL), *numbers = suite_buffer(s, sizeof seen, NULL);
    const yoke_argument arguments[] = {yoke_argument_int64(ROWS), yoke_argument_buffer(counts), yoke_argument_buffer(numbers)};
    for (size_t i = 0; i < sizeof group_sizes / sizeof group_sizes[0]; i++)
        for (size_t j = 0; j < sizeof groups / sizeof groups[0]; j++) {
            OK(s, yoke_queue_clear(s->queue, counts, 0, sizeof visits));
            OK(s, yoke_queue_launch(s->queue, suite_function(s, "count_visits"), groups[j], group_sizes[i], ROWS, arguments, 3));
            suite_read(s, counts, sizeof visits, visits);
            suite_read(s, numbers, sizeof seen, seen);
            for (int row = 0; row < ROWS; row++) assert_true(visits[row] == 1 && seen[row] == groups[j]);
        }
    yoke_buffer_destroy(counts);
    yoke_buffer_destroy(numbers);
}

/* Whole numbers, so that sums in any order are exact. */
static void groups_add_up_in_local_memory(void **state)
{
    suite *s = *state;
    static const int64_t group_sizes[] = {1, 3, 31, 32, 64, 129, 256};
    static const int32_t widths[] = {1, 5, 256, 1001};
    enum { ROWS = 37, MOST = 1001 };
    static double a[ROWS * MOST], out[ROWS];
    for (int i = 0; i < ROWS * MOST; i++) a[i] = (i * 37) % 1013 - 500;
    yoke_buffer *matrix = suite_buffer(s, sizeof a, a), *sums = suite_buffer(s, sizeof out, NULL);
    for (size_t i = 0; i < sizeof group_sizes / sizeof group_sizes[0]; i++)
        for (size_t j = 0; j < sizeof widths / sizeof widths[0]; j++) {
            const yoke_argument arguments[] = {yoke_argument_int64(ROWS), yoke_argument_int32(widths[j]), yoke_argument_buffer(matrix),
                                               yoke_argument_buffer(sums)};
            OK(s, yoke_queue_clear(s->queue, sums, 0, sizeof out));
            OK(s, yoke_queue_launch(s->queue, suite_function(s, "row_sums"), 1 + 11 * (int64_t)j, group_sizes[i], ROWS, arguments, 4));
            suite_read(s, sums, sizeof out, out);
            for (int row = 0; row < ROWS; row++) {
                double expected = 0;
                for (int column = 0; column < widths[j]; column++) expected += (1 << column % 4) * a[row * widths[j] + column];
                assert_true(out[row] == expected);
            }
        }
    yoke_buffer_destroy(matrix);
    yoke_buffer_destroy(sums);
}

static void a_long_launch_is_waited_for(void **state)
{
    suite *s = *state;
    enum { COUNT = 64, ROUNDS = 200000 };
    static int64_t x[COUNT], expected[COUNT];
    for (int i = 0; i < COUNT; i++) {
        x[i] = expected[i] = i;
        for (int round = 0; round < ROUNDS; round++) expected[i] = (5 * expected[i] + 3) % 2147483648;
    }
    yoke_buffer *buffer = suite_buffer(s, sizeof x, x);
    const yoke_argument arguments[] = {yoke_argument_int64(COUNT), yoke_argument_int32(ROUNDS), yoke_argument_buffer(buffer)};
    OK(s, yoke_queue_launch(s->queue, suite_function(s, "go_round"), 4, 16, COUNT, arguments, 3));
    suite_read(s, buffer, sizeof x, x);
    assert_memory_equal(x, expected, sizeof x);
    yoke_buffer_destroy(buffer);
}

static void wrong_launches_are_refused(void **state)
{
    suite *s = *state;
    yoke_function *function = suite_function(s, "double_and_one");
    yoke_buffer *buffer = suite_buffer(s, 8, "1234567");
    yoke_argument good[65] = {yoke_argument_int64(1), yoke_argument_buffer(buffer)};
    for (int i = 2; i < 65; i++) good[i] = yoke_argument_int32(0);
    FAILS(s, YOKE_ERROR_ARGUMENT, "double_and_one", yoke_queue_launch(s->queue, function, -1, 1, 0, good, 2));
    FAILS(s, YOKE_ERROR_ARGUMENT, "double_and_one", yoke_queue_launch(s->queue, function, 1, 0, 0, good, 2));
    FAILS(s, YOKE_ERROR_ARGUMENT, "double_and_one", yoke_queue_launch(s->queue, function, 1, 1, -1, good, 2));
    FAILS(s, YOKE_ERROR_ARGUMENT, "65 arguments", yoke_queue_launch(s->queue, function, 1, 1, 0, good, 65));
    FAILS(s, YOKE_ERROR_ARGUMENT, "-1 arguments", yoke_queue_launch(s->queue, function, 1, 1, 0, good, -1));
    FAILS(s, YOKE_ERROR_ARGUMENT, "in an array", yoke_queue_launch(s->queue, function, 1, 1, 0, NULL, 2));
    FAILS(s, YOKE_ERROR_ARGUMENT, "function is NULL", yoke_queue_launch(s->queue, NULL, 1, 1, 0, good, 2));
    good[0].kind = (yoke_argument_kind)17;
    FAILS(s, YOKE_ERROR_ARGUMENT, "unknown kind 17", yoke_queue_launch(s->queue, function, 1, 1, 0, good, 2));
    good[0] = yoke_argument_int64(1);
    OK(s, yoke_queue_launch(s->queue, function, 0, 1, 5, good, 2)); /* nothing to do */
    char content[8];
    suite_read(s, buffer, 8, content);
    assert_memory_equal(content, "1234567", 8);
    yoke_buffer_destroy(buffer);
}

/* Drivers that know a kernel's parameters say so; on all others this would be undefined. */
static void wrong_arguments_are_refused_where_the_device_can_tell(void **state)
{
    suite *s = *state;
    if (suite_is_host(s)) return;
    yoke_function *function = suite_function(s, "double_and_one");
    yoke_buffer *buffer = suite_buffer(s, 64, NULL);
    const yoke_argument arguments[] = {yoke_argument_int64(1), yoke_argument_buffer(buffer), yoke_argument_int64(1)};
    assert_int_equal(yoke_queue_launch(s->queue, function, 1, 1, 0, arguments, 1), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_queue_launch(s->queue, function, 1, 1, 0, arguments, 3), YOKE_ERROR_ARGUMENT);
    const yoke_argument narrow[] = {yoke_argument_int32(1), yoke_argument_buffer(buffer)};
    assert_int_equal(yoke_queue_launch(s->queue, function, 1, 1, 0, narrow, 2), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_queue_launch(s->queue, function, 1, 1 << 20, 0, arguments, 2), YOKE_ERROR_ARGUMENT);
    OK(s, yoke_queue_launch(s->queue, function, 1, 1, 0, arguments, 2));
    OK(s, yoke_queue_finish(s->queue));
    yoke_buffer_destroy(buffer);
}

static void an_unknown_kernel_is_refused(void **state)
{
    suite *s = *state;
    yoke_function *function = NULL, *first = suite_function(s, "axpy");
    assert_int_equal(yoke_program_function(s->program, "no_such_kernel", &function), YOKE_ERROR_ARGUMENT);
    assert_non_null(strstr(yoke_last_error(s->context), "no_such_kernel"));
    assert_int_equal(yoke_program_function(s->program, "", &function), YOKE_ERROR_ARGUMENT);
    assert_null(function);
    assert_ptr_equal(suite_function(s, "axpy"), first);
}

/* ---------------------------------------------------------------------------------- host functions and BLAS */

typedef struct task {
    int threads, calls;
    double sum;
} task;

static void count_threads(void *user)
{
    task *t = user;
    int threads = 0;
    double sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
#pragma omp single
        threads = omp_get_num_threads();
#pragma omp for
        for (int i = 1; i <= 1000; i++) sum += i;
    }
    t->threads = threads;
    t->calls++;
    t->sum = sum;
}

/* Threads that a region of this device must have: of "openmp:A-B" the cores, of all others what OpenMP takes by itself or the file says. */
static void host_functions_run_on_the_devices_threads(void **state)
{
    suite *s = *state;
    task t = {0};
    if (!suite_is_host(s) || yoke_device_info_get(s->device)->device_class != YOKE_DEVICE_CPU) {
        FAILS(s, YOKE_ERROR_UNAVAILABLE, "functions of the host", yoke_queue_call(s->queue, count_threads, &t, 1));
        assert_int_equal(t.calls, 0);
        return;
    }
    int before = omp_get_max_threads();
    for (int flags = 0; flags <= YOKE_QUEUE_INLINE; flags += YOKE_QUEUE_INLINE) {
        yoke_queue *queue = NULL;
        t = (task){0};
        OK(s, yoke_queue_create(s->device, flags, &queue));
        OK(s, yoke_queue_call(queue, count_threads, &t, 10));
        OK(s, yoke_queue_call(queue, count_threads, &t, 10));
        OK(s, yoke_queue_finish(queue));
        yoke_queue_destroy(queue);
        assert_int_equal(t.calls, 2);
        assert_true(t.sum == 500500);
        if (strncmp(s->name, "openmp:", 7) == 0)
            assert_int_equal(t.threads, yoke_device_info_get(s->device)->compute_units);
        else if (strcmp(s->name, "openmp") == 0)
            assert_int_equal(t.threads, before);
        assert_int_equal(omp_get_max_threads(), before);
    }
    FAILS(s, YOKE_ERROR_ARGUMENT, "give 0 or more", yoke_queue_call(s->queue, count_threads, &t, -1));
    FAILS(s, YOKE_ERROR_ARGUMENT, "task is NULL", yoke_queue_call(s->queue, NULL, &t, 1));
}

/* Items of all groups add to the same few numbers. */
static void atomic_additions_lose_nothing(void **state)
{
    suite *s = *state;
    enum { N = 30000 };
    double sum[3] = {0}, zeros[3] = {0};
    float small_sum[3] = {0};
    yoke_buffer *large = suite_buffer(s, sizeof zeros, zeros), *small = suite_buffer(s, sizeof small_sum, small_sum);
    const yoke_argument arguments[] = {yoke_argument_int64(N), yoke_argument_buffer(large), yoke_argument_buffer(small)};
    OK(s, yoke_queue_launch(s->queue, suite_function(s, "count_by_atomics"), 40, 64, 0, arguments, 3));
    suite_read(s, large, sizeof sum, sum);
    suite_read(s, small, sizeof small_sum, small_sum);
    if (sum[0] < 0)
        print_message("no atomic additions here\n");
    else
        for (int i = 0; i < 3; i++) assert_true(sum[i] == N / 3 && small_sum[i] == N / 3);
    yoke_buffer_destroy(large);
    yoke_buffer_destroy(small);
}

static void blas_multiplies_a_packed_matrix(void **state)
{
    suite *s = *state;
    enum { N = 23, PACKED = N * (N + 1) / 2 };
    double a[3 + PACKED], x[1 + N], y[2 + N], expected[N];
    for (int i = 0; i < 3 + PACKED; i++) a[i] = (i * 7) % 13 - 6;
    for (int i = 0; i < 1 + N; i++) x[i] = (i * 5) % 11 - 5;
    for (int i = 0; i < 2 + N; i++) y[i] = i - 10;
    for (int row = 0; row < N; row++) {
        expected[row] = -0.5 * y[2 + row];
        for (int column = 0; column < N; column++) {
            int low = row > column ? row : column, high = row > column ? column : row;
            expected[row] += 2 * a[3 + low * (low + 1) / 2 + high] * x[1 + column];
        }
    }
    yoke_program *blas = NULL;
    yoke_function *function = NULL;
    yoke_status status = yoke_program_create(s->device, &(yoke_program_source){.name = YOKE_BLAS}, &blas);
    if (status == YOKE_ERROR_UNAVAILABLE) {
        assert_non_null(strstr(yoke_last_error(s->context), "has no BLAS"));
        return;
    }
    OK(s, status);
    FAILS(s, YOKE_ERROR_ARGUMENT, "dgemv", yoke_program_function(blas, "dgemv", &function));
    OK(s, yoke_program_function(blas, "dspmv", &function));
    const yoke_argument few[] = {yoke_argument_int64(N), yoke_argument_double(2)};
    FAILS(s, YOKE_ERROR_ARGUMENT, "2 arguments", yoke_queue_launch(s->queue, function, 1, 1, 0, few, 2));
    yoke_argument numbers[9];
    for (int i = 0; i < 9; i++) numbers[i] = yoke_argument_int64(0);
    FAILS(s, YOKE_ERROR_ARGUMENT, "alpha, double", yoke_queue_launch(s->queue, function, 1, 1, 0, numbers, 9));
    yoke_program_destroy(blas);
    yoke_buffer *matrix = suite_buffer(s, sizeof a, a), *in = suite_buffer(s, sizeof x, x), *out = suite_buffer(s, sizeof y, y);
    FAILS(s, YOKE_ERROR_ARGUMENT, "a:", packed_product(s->device, s->queue, N + 1, 2, matrix, 24, in, 0, 0, out, 0));
    FAILS(s, YOKE_ERROR_ARGUMENT, "a:", packed_product(s->device, s->queue, INT32_MAX, 2, matrix, 24, in, 0, 0, out, 0));
    FAILS(s, YOKE_ERROR_ARGUMENT, "x:", packed_product(s->device, s->queue, N, 2, matrix, 24, in, 16, 0, out, 0));
    FAILS(s, YOKE_ERROR_ARGUMENT, "y:", packed_product(s->device, s->queue, N, 2, matrix, 24, in, 8, 0, out, 4));
    status = packed_product(s->device, s->queue, N, 2, matrix, 24, in, 8, -0.5, out, 16);
    if (status == YOKE_ERROR_UNAVAILABLE)
        print_message("no BLAS here: %s\n", yoke_last_error(s->context));
    else {
        OK(s, status);
        suite_read(s, out, sizeof y, y);
        for (int i = 0; i < N; i++) assert_true(y[2 + i] == expected[i]); /* whole numbers and halves: exact */
    }
    OK(s, yoke_queue_finish(s->queue));
    yoke_buffer_destroy(matrix);
    yoke_buffer_destroy(in);
    yoke_buffer_destroy(out);
}

/* Rows that are further apart than they are long, offsets, and a C that is not read where beta is 0. */
static void check_gemm(suite *s, yoke_function *function, int single, int64_t m, int64_t n, int64_t k, double beta)
{
    enum { MOST = 70 * 75 };
    static double a[MOST], b[MOST], c[MOST];
    static float a4[MOST], b4[MOST], c4[MOST];
    const int64_t size = single ? 4 : 8, lda = k + 3, ldb = n + 1, ldc = n + 2, before = 2;
    for (int64_t i = 0; i < MOST; i++) {
        a[i] = (double)(i * 7 % 13) - 6, b[i] = (double)(i * 5 % 11) - 5, c[i] = (double)(i % 9) - 4;
        a4[i] = (float)a[i], b4[i] = (float)b[i], c4[i] = (float)c[i];
    }
    for (int64_t i = 0; i < m; i++) /* entries of C alone */
        for (int64_t j = 0; j < n && beta == 0; j++) c[before + i * ldc + j] = c4[before + i * ldc + j] = NAN;
    yoke_buffer *in = suite_buffer(s, MOST * size, single ? (void *)a4 : a), *with = suite_buffer(s, MOST * size, single ? (void *)b4 : b),
                *out = suite_buffer(s, MOST * size, single ? (void *)c4 : c);
    const yoke_argument arguments[] = {yoke_argument_int64(m),
                                       yoke_argument_int64(n),
                                       yoke_argument_int64(k),
                                       yoke_argument_double(2),
                                       yoke_argument_buffer(in),
                                       yoke_argument_int64(size),
                                       yoke_argument_int64(lda),
                                       yoke_argument_buffer(with),
                                       yoke_argument_int64(3 * size),
                                       yoke_argument_int64(ldb),
                                       yoke_argument_double(beta),
                                       yoke_argument_buffer(out),
                                       yoke_argument_int64(before * size),
                                       yoke_argument_int64(ldc)};
    yoke_status status = yoke_queue_launch(s->queue, function, 1, 1, 0, arguments, sizeof arguments / sizeof *arguments);
    if (status == YOKE_ERROR_UNAVAILABLE)
        print_message("no BLAS here: %s\n", yoke_last_error(s->context));
    else {
        static double got[MOST];
        static float got4[MOST];
        OK(s, status);
        suite_read(s, out, (size_t)(MOST * size), single ? (void *)got4 : got);
        for (int64_t e = 0; e < MOST; e++) {
            const int64_t i = (e - before) / ldc, j = (e - before) % ldc;
            double expected = c[e];
            if (e >= before && i < m && j < n) {
                double sum = 0;
                for (int64_t p = 0; p < k; p++) sum += a[1 + i * lda + p] * b[3 + p * ldb + j];
                expected = 2 * sum + (beta == 0 ? 0 : beta * c[e]);
            }
            if ((single ? (double)got4[e] : got[e]) != expected) /* whole numbers and halves: exact */
                fail_msg("%s, %lld x %lld x %lld, beta %g: number %lld is %g instead of %g", single ? "sgemm" : "dgemm", (long long)m,
                         (long long)n, (long long)k, beta, (long long)e, single ? (double)got4[e] : got[e], expected);
        }
    }
    OK(s, yoke_queue_finish(s->queue));
    yoke_buffer_destroy(in);
    yoke_buffer_destroy(with);
    yoke_buffer_destroy(out);
}

static void blas_multiplies_matrices(void **state)
{
    suite *s = *state;
    yoke_program *blas = NULL;
    if (yoke_program_create(s->device, &(yoke_program_source){.name = YOKE_BLAS}, &blas) == YOKE_ERROR_UNAVAILABLE) return;
    for (int single = 0; single < 2; single++) {
        yoke_function *function = NULL;
        if (yoke_program_function(blas, single ? "sgemm" : "dgemm", &function) != YOKE_OK) {
            assert_non_null(strstr(yoke_last_error(s->context), "it has dspmv"));
            continue;
        }
        check_gemm(s, function, single, 1, 1, 1, 0);
        check_gemm(s, function, single, 5, 7, 3, 0);
        check_gemm(s, function, single, 64, 70, 66, 0);
        check_gemm(s, function, single, 33, 17, 65, -0.5);
    }
    yoke_program_destroy(blas);
}

static void wrong_products_are_refused(void **state)
{
    suite *s = *state;
    yoke_program *blas = NULL;
    yoke_function *function = NULL;
    if (yoke_program_create(s->device, &(yoke_program_source){.name = YOKE_BLAS}, &blas) == YOKE_ERROR_UNAVAILABLE) return;
    if (yoke_program_function(blas, "dgemm", &function) == YOKE_OK) {
        yoke_buffer *buffer = suite_buffer(s, 12 * 8, NULL);
        static const struct {
            int argument;
            int64_t value;
            const char *expected;
        } wrong[] = {{0, 0, "m, n and k are 0, 2 and 2"},
                     {1, -1, "m, n and k"},
                     {2, INT64_C(1) << 40, "m, n and k"},
                     {6, 1, "gemm: a: rows of 2 numbers are 1 apart"},
                     {5, 4, "a: 4 numbers"},
                     {5, -8, "a: 4 numbers"},
                     {9, INT64_C(1) << 40, "gemm: b: rows"},
                     {8, 72, "b: 4 numbers"},
                     {13, 20, "c: 22 numbers"}};
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            yoke_argument arguments[] = {yoke_argument_int64(2),  yoke_argument_int64(2),       yoke_argument_int64(2),
                                         yoke_argument_double(1), yoke_argument_buffer(buffer), yoke_argument_int64(0),
                                         yoke_argument_int64(2),  yoke_argument_buffer(buffer), yoke_argument_int64(32),
                                         yoke_argument_int64(2),  yoke_argument_double(0),      yoke_argument_buffer(buffer),
                                         yoke_argument_int64(64), yoke_argument_int64(2)};
            arguments[wrong[k].argument] = yoke_argument_int64(wrong[k].value);
            FAILS(s, YOKE_ERROR_ARGUMENT, wrong[k].expected, yoke_queue_launch(s->queue, function, 1, 1, 0, arguments, 14));
        }
        yoke_buffer_destroy(buffer);
    }
    yoke_program_destroy(blas);
}

int suite_run_kernels(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_argument_arrives),
        cmocka_unit_test(a_kernel_takes_twenty_arguments),
        cmocka_unit_test(arguments_are_taken_at_the_launch),
        cmocka_unit_test(types_have_their_sizes),
        cmocka_unit_test(groups_of_any_size_meet_each_row_once),
        cmocka_unit_test(groups_add_up_in_local_memory),
        cmocka_unit_test(a_long_launch_is_waited_for),
        cmocka_unit_test(wrong_launches_are_refused),
        cmocka_unit_test(wrong_arguments_are_refused_where_the_device_can_tell),
        cmocka_unit_test(an_unknown_kernel_is_refused),
        cmocka_unit_test(host_functions_run_on_the_devices_threads),
        cmocka_unit_test(atomic_additions_lose_nothing),
        cmocka_unit_test(blas_multiplies_a_packed_matrix),
        cmocka_unit_test(blas_multiplies_matrices),
        cmocka_unit_test(wrong_products_are_refused),
    };
    return cmocka_run_group_tests_name("kernels", tests, suite_open, suite_close);
}
