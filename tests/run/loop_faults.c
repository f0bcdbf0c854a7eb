/* Loops of which a device fails, or in which memory ends: nothing is wrong without a word. */
#include "loop_bench.h"

enum { TEXT_BYTES = 1000 };

/* A machine whose GPU is lost at some call of its driver; others: devices behind it. */
static void lose_gpu(int call, const char *others, char text[TEXT_BYTES])
{
    snprintf(text, TEXT_BYTES,
             "{\"name\": \"m\", \"devices\": [{\"name\": \"cpu\", \"class\": \"cpu\", \"seconds_per_unit\": 3e-6},"
             "{\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": 1e-6, \"fault\": {\"call\": %d, \"kind\": \"lost\"}}%s]}",
             call, others);
}

/* Wherever the GPU fails its units are done by the others, once. */
static void units_of_a_device_that_fails_are_done_by_the_others(void **state)
{
    (void)state;
    static bench b;
    int failed = 0;
    for (int call = 1; call <= 120; call += 3) {
        char text[TEXT_BYTES];
        failing memory = {0};
        char *record = NULL;
        lose_gpu(call, ",{\"name\": \"other\", \"class\": \"gpu\", \"seconds_per_unit\": 2e-6}", text);
        open_bench(&b, &memory, text, NULL);
        expect_ok(&b, define_axpy(&b, 0));
        for (int k = 1; k <= 4; k++) {
            expect_ok(&b, loop_axpy(&b, N));
            expect_axpy(&b, k, N);
        }
        expect_ok(&b, yoke_run_record(b.run, &record));
        failed += strstr(record, "\"failed\": []") == NULL;
        yoke_release(b.context, record);
        close_bench(&b);
        assert_int_equal(memory.outstanding, 0);
    }
    assert_true(failed > 10);
}

static void lost_results_of_a_kept_array_are_an_error(void **state)
{
    (void)state;
    static bench b;
    int errors = 0;
    for (int call = 20; call <= 140; call += 2) {
        char text[TEXT_BYTES];
        failing memory = {0};
        lose_gpu(call, "", text);
        open_bench(&b, &memory, text, NULL);
        expect_ok(&b, define_axpy(&b, 1));
        yoke_status status = YOKE_OK;
        int loops = 0;
        for (; loops < 6 && status == YOKE_OK; loops++) status = loop_axpy(&b, N);
        if (status == YOKE_OK) status = yoke_run_sync(b.run, b.kernel);
        if (status == YOKE_OK)
            expect_axpy(&b, loops, N); /* never a wrong result without a word */
        else
            assert_int_equal(status, YOKE_ERROR_DEVICE);
        if (status != YOKE_OK) assert_non_null(strstr(yoke_last_error(b.context), "no other device had the latest results"));
        errors += status != YOKE_OK;
        close_bench(&b);
        assert_int_equal(memory.outstanding, 0);
    }
    assert_true(errors > 5);
}

static int gpu_is_active(const bench *b)
{
    const yoke_run_device *devices = NULL;
    int64_t count = 0;
    expect_ok(b, yoke_run_devices(b->run, &devices, &count));
    return devices[1].active;
}

/* Copies may fail as late as their queue is finished.  Whichever call of the last copies fails, the results are lost, and that is said. */
static void results_that_do_not_come_back_are_an_error(void **state)
{
    (void)state;
    static bench b;
    int lost = 0, fails = 1;
    for (int call = 20; fails; call++) {
        char text[TEXT_BYTES];
        failing memory = {0};
        lose_gpu(call, "", text);
        open_bench(&b, &memory, text, NULL);
        expect_ok(&b, define_axpy(&b, 1));
        yoke_status status = YOKE_OK;
        for (int k = 0; k < 3 && status == YOKE_OK; k++) status = loop_axpy(&b, N);
        const int before = status == YOKE_OK && gpu_is_active(&b);
        if (before) status = yoke_run_sync(b.run, b.kernel);
        const int after = before && gpu_is_active(&b);
        if (before && !after && status != YOKE_ERROR_DEVICE) fail_msg("call %d fails, and the status is %d", call, (int)status);
        lost += before && !after;
        fails = !after;
        close_bench(&b);
        assert_int_equal(memory.outstanding, 0);
    }
    assert_true(lost >= 2);
}

static void a_device_whose_memory_is_too_small_is_left_out(void **state)
{
    (void)state;
    static bench b;
    failing memory = {0};
    const yoke_run_options options = {.devices = "sim:cpu,sim:gpu"};
    open_bench(&b, &memory, MACHINE(", \"memory_bytes\": 1000"), &options);
    expect_ok(&b, define_axpy(&b, 0));
    for (int k = 1; k <= 3; k++) expect_ok(&b, loop_axpy(&b, N));
    expect_axpy(&b, 3, N);
    close_bench(&b);
}

static void no_failing_allocation_is_missed(void **state)
{
    (void)state;
    static bench b;
    int64_t all = 0;
    for (int64_t n = 0; n <= all; n += all / 120 + 1) {
        failing memory = {0};
        b.context = machine(MACHINE(""), &memory);
        int64_t before = memory.calls;
        if (n > 0) failing_allow(&memory, n - 1);
        b.run = NULL;
        yoke_status status = yoke_run_create(b.context, NULL, &b.run);
        if (status == YOKE_OK) status = define_axpy(&b, 1);
        for (int k = 0; k < 3 && status == YOKE_OK; k++) status = loop_axpy(&b, N);
        if (n == 0) all = memory.calls - before;
        if (n == 0) expect_ok(&b, status);
        if (status != YOKE_OK && status != YOKE_ERROR_MEMORY && status != YOKE_ERROR_DEVICE)
            fail_msg("allocation %lld: status %d: %s", (long long)n, (int)status, yoke_last_error(b.context));
        close_bench(&b);
        assert_int_equal(memory.outstanding, 0);
    }
    assert_true(all > 20);
}

/* Wherever memory ends in a loop: what did not come back from a device is as it was. */
static void arrays_hold_old_and_new_values_after_an_error(void **state)
{
    (void)state;
    static bench b;
    int failures = 0;
    yoke_status status = YOKE_ERROR_MEMORY;
    for (int64_t n = 0; status != YOKE_OK; n++) {
        failing memory = {0};
        open_bench(&b, &memory, MACHINE(""), NULL);
        expect_ok(&b, define_axpy(&b, 0));
        expect_ok(&b, loop_axpy(&b, N)); /* so that stages hold something else */
        fill(&b);
        failing_allow(&memory, n);
        status = loop_axpy(&b, N);
        failures += status == YOKE_ERROR_MEMORY;
        for (int i = 0; i < N; i++)
            if (b.y[i] != 0.5 * i && b.y[i] != 0.5 * i + 2 * b.x[i]) fail_msg("allocation %lld: y[%d] is %g", (long long)n, i, b.y[i]);
        close_bench(&b);
        assert_int_equal(memory.outstanding, 0);
    }
    assert_true(failures > 1);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(units_of_a_device_that_fails_are_done_by_the_others),
    cmocka_unit_test(lost_results_of_a_kept_array_are_an_error),
    cmocka_unit_test(results_that_do_not_come_back_are_an_error),
    cmocka_unit_test(a_device_whose_memory_is_too_small_is_left_out),
    cmocka_unit_test(no_failing_allocation_is_missed),
    cmocka_unit_test(arrays_hold_old_and_new_values_after_an_error),
};

UNIT_MAIN(tests, NULL, NULL)
