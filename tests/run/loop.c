/* Loops of a run: whatever is shared, every unit is done once. */
#include "loop_bench.h"

static void every_unit_is_done_once(void **state)
{
    (void)state;
    static bench b;
    failing memory = {0};
    open_bench(&b, &memory, MACHINE(""), NULL);
    expect_ok(&b, define_axpy(&b, 0));
    expect_ok(&b, loop_axpy(&b, 0));
    expect_axpy(&b, 0, N);
    for (int k = 1; k <= 6; k++) {
        expect_ok(&b, loop_axpy(&b, N));
        expect_axpy(&b, k, N);
    }
    fill(&b);
    expect_ok(&b, loop_axpy(&b, 2)); /* fewer than devices */
    expect_axpy(&b, 1, 2);
    close_bench(&b);
    assert_int_equal(memory.outstanding, 0);
}

/* Seconds of a loop over all units, of which each takes the CPU 1 us and the GPU so many times as long.  Its results are right. */
static double time_loop(bench *b)
{
    const yoke_run_device *devices = NULL;
    int64_t count = 0;
    fill(b);
    expect_ok(b, yoke_run_devices(b->run, &devices, &count));
    const double begin_s = yoke_device_clock_s(devices[0].device);
    expect_ok(b, loop_axpy(b, N));
    const double seconds = yoke_device_clock_s(devices[0].device) - begin_s;
    expect_axpy(b, 1, N);
    return seconds;
}

/*
 * Whichever device is slow, the other one goes on while it is tried: a first loop takes at most 1 % longer than the faster one alone, and the second one is planned by what was
 * learned.  The first piece is a unit, so a device that takes 1000 times as long is tried for a quarter of the time of all 4000 units.
 */
static void nobody_waits_for_a_slow_device_in_a_first_loop(void **state)
{
    (void)state;
    static const double slower[] = {1e-3, 0.01, 0.1, 0.5, 2, 10, 100, 1000};
    static bench b;
    for (int k = 0; k < 8; k++) {
        const double cpu_s = 1e-6, gpu_s = slower[k] * cpu_s, alone_s = fmin(cpu_s, gpu_s) * N, best_s = N / (1 / cpu_s + 1 / gpu_s);
        char text[300];
        failing memory = {0};
        snprintf(text, sizeof text,
                 "{\"name\": \"m\", \"devices\": [{\"name\": \"cpu\", \"class\": \"cpu\", \"threads\": 2, \"seconds_per_unit\": %g}, "
                 "{\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": %g}]}",
                 cpu_s, gpu_s);
        open_bench(&b, &memory, text, NULL);
        expect_ok(&b, define_axpy(&b, 0));
        const double first_s = time_loop(&b), second_s = time_loop(&b);
        if (!(first_s <= 1.01 * alone_s))
            fail_msg("%g times slower: the first loop takes %g of the best device", slower[k], first_s / alone_s);
        if (!(second_s <= 1.01 * best_s))
            fail_msg("%g times slower: the second loop takes %g of the best share", slower[k], second_s / best_s);
        close_bench(&b);
        assert_int_equal(memory.outstanding, 0);
    }
}

static void kept_arrays_come_back_when_asked_for(void **state)
{
    (void)state;
    static bench b;
    failing memory = {0};
    open_bench(&b, &memory, MACHINE(""), NULL);
    expect_ok(&b, define_axpy(&b, 1));
    for (int k = 1; k <= 8; k++) { /* shares move in the first of them */
        expect_ok(&b, loop_axpy(&b, N));
        if (k % 4) continue;
        expect_ok(&b, yoke_run_sync(b.run, b.kernel));
        expect_axpy(&b, k, N);
    }
    for (int i = 0; i < N; i++) b.y[i] = 0.5 * i; /* what the host writes now is seen */
    expect_ok(&b, loop_axpy(&b, N));
    expect_ok(&b, yoke_run_sync(b.run, b.kernel));
    expect_axpy(&b, 1, N);
    close_bench(&b);
}

static void kept_arrays_are_copied_only_where_they_change_hands(void **state)
{
    (void)state;
    static bench b;
    const double share = 0.5;
    const yoke_run_options options = {.devices = "sim:cpu,sim:gpu", .share = &share};
    double last_s[2];
    for (int keep = 0; keep < 2; keep++) {
        failing memory = {0};
        yoke_run_device const *devices = NULL;
        int64_t count = 0;
        open_bench(&b, &memory,
                   "{\"name\": \"m\", \"devices\": [{\"name\": \"cpu\", \"class\": \"cpu\", \"seconds_per_unit\": 1e-9},{\"name\": "
                   "\"gpu\", \"class\": "
                   "\"gpu\", \"seconds_per_unit\": 1e-6, \"copy\": {\"latency_s\": 1e-3, \"bytes_per_s\": 1e10}}]}",
                   &options);
        expect_ok(&b, define_axpy(&b, keep));
        expect_ok(&b, loop_axpy(&b, N));
        expect_ok(&b, yoke_run_devices(b.run, &devices, &count));
        double begin_s = yoke_device_clock_s(devices[0].device);
        expect_ok(&b, loop_axpy(&b, N));
        last_s[keep] = yoke_device_clock_s(devices[0].device) - begin_s;
        close_bench(&b);
    }
    /* 2000 units take 2 ms; without keeping x and y go there and y comes back, each after 1 ms and 1.6 us. */
    assert_true(fabs(last_s[1] - 2e-3) < 1e-9);
    assert_true(fabs(last_s[0] - (2e-3 + 3 * (1e-3 + 1.6e-6))) < 1e-9);
}

/* Seconds of the latest round, "predicted" or "measured". */
static double recorded_s(const bench *b, const char *which)
{
    char *text = NULL;
    double seconds = NAN;
    expect_ok(b, yoke_run_record(b->run, &text));
    const char *at = strstr(text, which);
    assert_non_null(at);
    assert_non_null(at = strstr(at, "\"time_s\": "));
    assert_int_equal(sscanf(at, "\"time_s\": %lf", &seconds), 1);
    yoke_release(b->context, text);
    return seconds;
}

/* To the GPU they take 1.6 us a unit, more than its work on it; in the first loops only. */
static void copies_of_kept_arrays_are_not_predicted_of_later_loops(void **state)
{
    (void)state;
    static bench b;
    failing memory = {0};
    open_bench(&b, &memory,
               "{\"name\": \"m\", \"devices\": [{\"name\": \"cpu\", \"class\": \"cpu\", \"threads\": 2, \"seconds_per_unit\": 1e-6}, "
               "{\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": 1e-6, \"copy\": {\"latency_s\": 0, \"bytes_per_s\": 1e7}}]}",
               NULL);
    expect_ok(&b, define_axpy(&b, 1));
    for (int k = 0; k < 12; k++) {
        expect_ok(&b, loop_axpy(&b, N));
        const double best_s = 0.5e-6 * N, predicted_s = recorded_s(&b, "\"predicted\""), seconds = recorded_s(&b, "\"measured\"");
        if (k == 0) continue; /* in which devices are tried */
        if (k > 1 && !(seconds <= 1.01 * best_s)) fail_msg("loop %d takes %g of the best", k, seconds / best_s);
        if (!(fabs(predicted_s / best_s - 1) < 0.01)) fail_msg("loop %d: predicted %g of the best", k, predicted_s / best_s);
    }
    close_bench(&b);
}

YOKE_KERNEL(sum_all, (yoke_long first, yoke_long last, YOKE_GLOBAL const double *x, YOKE_GLOBAL double *y))
{
    YOKE_FOR_ALL (i, last - first) y[first + i] = x[0] + x[(first + i + 1) % 4000];
}

static const yoke_host_kernel summing[] = {{"sum_all", sum_all}};
static const yoke_program_source sum_source = {.name = "sums", .host_kernels = summing, .num_host_kernels = 1};

static void whole_arrays_are_seen_by_every_device(void **state)
{
    (void)state;
    static bench b;
    failing memory = {0};
    open_bench(&b, &memory, MACHINE(""), NULL);
    const yoke_run_array arrays[] = {{b.x, sizeof b.x, 0, YOKE_RUN_READ, 0}, {b.y, sizeof b.y, sizeof(double), YOKE_RUN_WRITE, 0}};
    const yoke_run_definition definition = {
        .work = "sums", .source = &sum_source, .function = "sum_all", .num_arrays = 2, .arrays = arrays};
    expect_ok(&b, yoke_run_define(b.run, &definition, &b.kernel));
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < N; i++) b.x[i] = i + 100 * k; /* the host changes it between loops */
        expect_ok(&b, yoke_run_loop(b.run, b.kernel, N, NULL, 0));
        for (int i = 0; i < N; i++)
            if (b.y[i] != b.x[0] + b.x[(i + 1) % N]) fail_msg("loop %d, y[%d] is %g", k, i, b.y[i]);
    }
    close_bench(&b);
}

static void host_loop(int64_t first, int64_t last, void *const *arrays, void *user)
{
    double *y = arrays[0];
#pragma omp parallel for
    for (int64_t i = first; i < last; i++) y[i] += *(const double *)user;
}

static void a_host_function_runs_on_hosts_alone(void **state)
{
    (void)state;
    static bench b;
    failing memory = {0};
    double more = 3;
    open_bench(&b, &memory, MACHINE(""), NULL);
    const yoke_run_array array = {b.y, sizeof b.y, sizeof(double), YOKE_RUN_READ_WRITE, 0};
    const yoke_run_definition definition = {.work = "add", .host = host_loop, .user = &more, .num_arrays = 1, .arrays = &array};
    expect_ok(&b, yoke_run_define(b.run, &definition, &b.kernel));
    for (int k = 0; k < 3; k++) expect_ok(&b, yoke_run_loop(b.run, b.kernel, N, NULL, 0));
    for (int i = 0; i < N; i++) assert_true(b.y[i] == 0.5 * i + 9);
    close_bench(&b);
}

static void shares_follow_the_speeds(void **state)
{
    (void)state;
    static bench b;
    failing memory = {0};
    const yoke_run_options options = {.devices = "sim:cpu,sim:other"};
    char *text = NULL;
    open_bench(&b, &memory, MACHINE(""), &options);
    expect_ok(&b, define_axpy(&b, 1));
    for (int k = 0; k < 4; k++) expect_ok(&b, loop_axpy(&b, N));
    expect_ok(&b, yoke_run_explain(b.run, &text));
    /* 3 and 2 us a unit: 40 % and 60 %. */
    const char *cpu = strstr(text, "sim:cpu");
    assert_non_null(cpu);
    long long units = strtoll(cpu + strlen("sim:cpu"), NULL, 10);
    if (units < 1590 || units > 1610) fail_msg("%s", text);
    yoke_release(b.context, text);
    close_bench(&b);
}

/* Alone 2 and 2.2 us a unit, beside each other three times as long: then the faster one alone is best, and the explanation says so. */
static void devices_that_disturb_each_other_are_left_alone(void **state)
{
    (void)state;
    const double contentions[] = {2, 0.5}; /* 0.5: together 1.1 x 1.5 / 2.1 x 2 = 1.57 us a unit */
    for (int k = 0; k < 2; k++) {
        static bench b;
        failing memory = {0};
        char *text = NULL, machine_text[400];
        snprintf(machine_text, sizeof machine_text,
                 "{\"name\": \"m\", \"contention\": %g, \"devices\": [{\"name\": \"cpu\", \"class\": \"cpu\", \"seconds_per_unit\": "
                 "2e-6},{\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": 2.2e-6}]}",
                 contentions[k]);
        open_bench(&b, &memory, machine_text, NULL);
        expect_ok(&b, define_axpy(&b, 1));
        for (int i = 0; i < 4; i++) expect_ok(&b, loop_axpy(&b, N));
        expect_ok(&b, yoke_run_explain(b.run, &text));
        if ((strstr(text, "sim:cpu alone is better") != NULL) != (k == 0)) fail_msg("%s", text);
        if ((strstr(text, "4000 units, 100.00 %, 0.008 s") != NULL) != (k == 0)) fail_msg("%s", text);
        yoke_release(b.context, text);
        expect_ok(&b, yoke_run_sync(b.run, b.kernel));
        expect_axpy(&b, 4, N);
        close_bench(&b);
    }
}

static void what_is_outside_the_contract_is_refused(void **state)
{
    (void)state;
    static bench b;
    failing memory = {0};
    open_bench(&b, &memory, MACHINE(""), NULL);
    const yoke_run_array good = {b.y, sizeof b.y, sizeof(double), YOKE_RUN_READ_WRITE, 0},
                         written = {b.y, sizeof b.y, 0, YOKE_RUN_WRITE, 0}, empty = {NULL, 8, 8, YOKE_RUN_READ, 0},
                         strange = {b.y, 8, 16, YOKE_RUN_READ, 0};
    const yoke_run_definition wrong[] = {{.work = "", .host = host_loop},
                                         {.work = "w"},
                                         {.work = "w", .source = &source},
                                         {.work = "w", .host = host_loop, .num_arrays = 99, .arrays = &good},
                                         {.work = "w", .host = host_loop, .num_arrays = 1, .arrays = &written},
                                         {.work = "w", .host = host_loop, .num_arrays = 1, .arrays = &empty},
                                         {.work = "w", .host = host_loop, .num_arrays = 1, .arrays = &strange},
                                         {.work = "w", .host = host_loop, .group_size = -1}};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++)
        if (yoke_run_define(b.run, &wrong[k], &b.kernel) != YOKE_ERROR_ARGUMENT) fail_msg("definition %d was taken", (int)k);
    const yoke_run_definition missing = {.work = "w", .source = &source, .function = "nothing"};
    assert_int_not_equal(yoke_run_define(b.run, &missing, &b.kernel), YOKE_OK);
    expect_ok(&b, define_axpy(&b, 0));
    const yoke_argument buffer = {.kind = YOKE_ARGUMENT_BUFFER};
    assert_int_equal(loop_axpy(&b, -1), YOKE_ERROR_ARGUMENT);
    assert_int_equal(loop_axpy(&b, N + 1), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_run_loop(b.run, b.kernel, N, &buffer, 1), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_run_loop(b.run, b.kernel, N, NULL, 1), YOKE_ERROR_ARGUMENT);
    expect_axpy(&b, 0, N);
    close_bench(&b);
    assert_int_equal(memory.outstanding, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_unit_is_done_once),
    cmocka_unit_test(nobody_waits_for_a_slow_device_in_a_first_loop),
    cmocka_unit_test(kept_arrays_come_back_when_asked_for),
    cmocka_unit_test(kept_arrays_are_copied_only_where_they_change_hands),
    cmocka_unit_test(copies_of_kept_arrays_are_not_predicted_of_later_loops),
    cmocka_unit_test(whole_arrays_are_seen_by_every_device),
    cmocka_unit_test(a_host_function_runs_on_hosts_alone),
    cmocka_unit_test(shares_follow_the_speeds),
    cmocka_unit_test(devices_that_disturb_each_other_are_left_alone),
    cmocka_unit_test(what_is_outside_the_contract_is_refused),
};

UNIT_MAIN(tests, NULL, NULL)
