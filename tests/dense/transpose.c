/* Transpositions on simulated machines, to the bit: any sizes, shares and failures; and which devices they are worth the way for. */
#include <math.h>

#include "machine.h"
#include "transpose/transpose.h"

typedef struct bench {
    yoke_context *context;
    failing memory;
    yoke_run *run;
    dense_matrix a, b;
} bench;

static dense_shared shared;

static void open_bench(bench *b, const char *cpu, const char *gpu, const yoke_run_options *options)
{
    *b = (bench){.context = NULL};
    open_machine(&b->context, &b->memory, cpu, gpu, options, &b->run);
}

static void transpose(bench *b, int64_t rows, int64_t columns, dense_precision precision, int64_t block)
{
    const dense_transpose_options options = {.block = block};
    assert_int_equal(dense_matrix_create(b->context, rows, columns, precision, &b->a), YOKE_OK);
    assert_int_equal(dense_matrix_create(b->context, columns, rows, precision, &b->b), YOKE_OK);
    dense_matrix_random(&b->a, 1);
    memset(b->a.entries, 0xff, 8); /* NaN with all bits */
    memset(b->b.entries, 0, (size_t)dense_matrix_bytes(&b->b));
    if (dense_transpose(b->context, b->run, &options, &b->a, &b->b, &shared)) fail_msg("%s", yoke_last_error(b->context));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            const char *in = (const char *)b->a.entries + (i * columns + j) * precision,
                       *out = (const char *)b->b.entries + (j * rows + i) * precision;
            if (memcmp(in, out, (size_t)precision) != 0)
                fail_msg("%lld x %lld: entry (%lld, %lld)", (long long)rows, (long long)columns, (long long)i, (long long)j);
        }
    assert_true(dense_transpose_check(&b->a, &b->b, NULL, NULL));
}

static void unmake(bench *b)
{
    dense_matrix_destroy(&b->a);
    dense_matrix_destroy(&b->b);
}

static void close_bench(bench *b)
{
    unmake(b);
    yoke_run_destroy(b->run);
    yoke_context_destroy(b->context);
    assert_int_equal(b->memory.outstanding, 0);
}

static void every_entry_is_at_its_place(void **state)
{
    (void)state;
    static const int64_t sizes[][3] = {{1, 2, 64}, {2, 1, 64}, {70, 3, 1}, {3, 70, 2}, {64, 64, 64}, {65, 129, 10}, {300, 33, 7}};
    static bench b;
    open_bench(&b, "", "", NULL);
    for (int precision = DENSE_SINGLE; precision <= DENSE_DOUBLE; precision += 4)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            transpose(&b, sizes[s][0], sizes[s][1], (dense_precision)precision, sizes[s][2]);
            unmake(&b);
        }
    close_bench(&b);
}

static void any_share_gives_the_same(void **state)
{
    (void)state;
    static const double shares[] = {0, 0.4, 1};
    for (int s = 0; s < 3; s++) {
        static bench b;
        const yoke_run_options options = {.share = &shares[s]};
        open_bench(&b, "", "", &options);
        transpose(&b, 150, 61, DENSE_DOUBLE, 1);
        assert_true(fabs((double)shared.part[1].units - 150 * shares[s]) <= 2 * shared.num_rounds);
        close_bench(&b);
    }
}

static void rows_of_a_device_that_fails_are_done_by_the_other(void **state)
{
    (void)state;
    int failed = 0;
    for (int device = 0; device < 2; device++)
        for (int call = device ? 1 : 4; call <= 24; call++) { /* the first calls of the CPU are those of the run */
            static bench b;
            char fault[100];
            snprintf(fault, sizeof fault, ", \"fault\": {\"call\": %d, \"kind\": \"lost\"}", call);
            open_bench(&b, device ? "" : fault, device ? fault : "", NULL);
            transpose(&b, 75, 21, DENSE_DOUBLE, 4);
            failed += shared.part[device].failed;
            close_bench(&b);
        }
    assert_true(failed > 20);
}

static void a_device_whose_memory_is_too_small_gets_what_fits(void **state)
{
    (void)state;
    static bench b;
    open_bench(&b, "", ", \"memory_bytes\": 5000", NULL);
    transpose(&b, 300, 12, DENSE_DOUBLE, 4); /* 768 bytes a block, in and out */
    assert_true(!shared.part[1].failed && shared.part[1].units > 0);
    close_bench(&b);
}

/*
 * A unit of 4 rows has 128 bytes.  The card's bus is so slow that the CPU has done 40 of them meanwhile: nearly all stay on the CPU, and all together take no longer
 * than the CPU alone.
 */
static void a_card_behind_a_slow_bus_gets_nearly_nothing(void **state)
{
    (void)state;
    static bench b;
    open_bench(&b, "", ", \"copy\": {\"latency_s\": 1e-3, \"bytes_per_s\": 3200}", NULL);
    transpose(&b, 8000, 4, DENSE_DOUBLE, 4);
    const double alone_s = 2000 * 2e-3;
    if (!(shared.part[1].units <= 2000 / 20)) fail_msg("%lld units", (long long)shared.part[1].units);
    if (!(shared.measured_s <= 1.01 * alone_s)) fail_msg("%g s, and %g s on the CPU alone", shared.measured_s, alone_s);
    close_bench(&b);
}

static void a_wrong_entry_is_found(void **state)
{
    (void)state;
    static bench b;
    int64_t row, column;
    open_bench(&b, "", "", NULL);
    transpose(&b, 20, 30, DENSE_DOUBLE, 4);
    ((double *)b.b.entries)[17 * 20 + 9] += 1;
    assert_false(dense_transpose_check(&b.a, &b.b, &row, &column));
    assert_true(row == 9 && column == 17);
    close_bench(&b);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_entry_is_at_its_place),
    cmocka_unit_test(any_share_gives_the_same),
    cmocka_unit_test(rows_of_a_device_that_fails_are_done_by_the_other),
    cmocka_unit_test(a_device_whose_memory_is_too_small_gets_what_fits),
    cmocka_unit_test(a_card_behind_a_slow_bus_gets_nearly_nothing),
    cmocka_unit_test(a_wrong_entry_is_found),
};

UNIT_MAIN(tests, NULL, NULL)
