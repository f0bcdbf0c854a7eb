/* The width of blocks: which is chosen, and that it is measured once. */
#include <math.h>
#include <unistd.h>

#include "gemm/block.h"
#include "machine.h"

static void the_least_width_of_full_speed_is_chosen(void **state)
{
    (void)state;
    static const struct {
        double speed[DENSE_BLOCK_WIDTHS];
        int64_t most, expected;
    } cases[] = {
        {{80, 90, 99, 100, 99}, 1000, 128},   {{80, 90, 97, 100, 99}, 1000, 256},
        {{80, 81, 82, 83, 100}, 1000, 512},   {{100, 99, 98, 97, 96}, 1000, 32},
        {{80, 90, 99, 100, 99}, 127, 64},     {{80, 90, 99, 100, 99}, 1, 32},
        {{NAN, 90, 99, 100, NAN}, 1000, 128}, {{NAN, NAN, NAN, NAN, NAN}, 1000, DENSE_GEMM_BLOCK},
        {{NAN, NAN, NAN, NAN, NAN}, 40, 32},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (dense_block_choose(cases[i].speed, cases[i].most) != cases[i].expected) fail_msg("case %zu", i);
    for (int i = 0; i < DENSE_BLOCK_WIDTHS; i++) assert_int_equal(dense_block_width(i), 32 << i);
}

/* In place of a BLAS: does nothing but count, and remember which widths there were. */
static int calls, widths;

static void count_calls(int order, int transpose_a, int transpose_b, int m, int n, int k, double alpha, const double *a, int lda,
                        const double *b, int ldb, double beta, double *c, int ldc)
{
    (void)order, (void)transpose_a, (void)transpose_b, (void)m, (void)n, (void)alpha, (void)a, (void)lda, (void)b, (void)ldb, (void)c,
        (void)ldc;
    const double begin_s = yoke_clock_s();
    assert_true(beta == 1);
    while (yoke_clock_s() - begin_s < 1e-5) continue; /* a time that can be measured */
#pragma omp critical(counting)
    {
        calls++;
        widths |= k;
    }
}

static void what_the_store_knows_is_not_measured_again(void **state)
{
    (void)state;
    char store[64];
    snprintf(store, sizeof store, "/tmp/dense-block-%ld.json", (long)getpid());
    const app_blas counting = {.name = "counting", .dgemm = count_calls};
    for (int time = 0; time < 2; time++) {
        yoke_context *context = NULL;
        yoke_run *run = NULL;
        double speed[DENSE_BLOCK_WIDTHS];
        const yoke_run_options options = {.devices = "openmp", .store = store, .no_meters = 1};
        calls = widths = 0;
        assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
        if (yoke_run_create(context, &options, &run)) fail_msg("%s", yoke_last_error(context));
        if (dense_block_measure(context, run, &counting, DENSE_DOUBLE, speed)) fail_msg("%s", yoke_last_error(context));
        for (int i = 0; i < DENSE_BLOCK_WIDTHS; i++) assert_true(speed[i] > 0);
        assert_int_equal(widths, time == 0 ? 32 | 64 | 128 | 256 | 512 : 0);
        assert_true(time == 0 ? calls > 0 : calls == 0);
        if (dense_block_measure(context, run, &counting, DENSE_DOUBLE, speed))
            fail_msg("%s", yoke_last_error(context)); /* in the same run */
        yoke_run_destroy(run);
        yoke_context_destroy(context);
    }
    unlink(store);
}

static void without_a_real_host_nothing_is_known(void **state)
{
    (void)state;
    yoke_context *context;
    failing memory;
    yoke_run *run;
    double speed[DENSE_BLOCK_WIDTHS];
    const app_blas counting = {.name = "counting", .dgemm = count_calls};
    const yoke_run_options options = {.devices = "sim:cpu,sim:gpu"};
    open_machine(&context, &memory, "", "", &options, &run);
    calls = 0;
    assert_int_equal(dense_block_measure(context, run, &counting, DENSE_DOUBLE, speed), YOKE_OK);
    for (int i = 0; i < DENSE_BLOCK_WIDTHS; i++) assert_true(isnan(speed[i]));
    assert_int_equal(calls, 0);
    yoke_run_destroy(run);
    yoke_context_destroy(context);
    assert_int_equal(memory.outstanding, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_least_width_of_full_speed_is_chosen),
    cmocka_unit_test(what_the_store_knows_is_not_measured_again),
    cmocka_unit_test(without_a_real_host_nothing_is_known),
};

UNIT_MAIN(tests, NULL, NULL)
