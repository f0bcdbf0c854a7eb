/* Devices on the same cores, as if the GPU of a simulated machine were OpenCL on the cores of its CPU. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "run/kernel.h"
#include "unit.h"
#include "worker.h"
#include "yoke/dialect.h"

enum { MOST = 40000 };
static const double cpu_s = 2e-3; /* of a unit */

YOKE_KERNEL(mark, (yoke_long first, yoke_long last, YOKE_GLOBAL double *y))
{
    YOKE_FOR_ALL (i, last - first) y[first + i] += 1;
}

static const yoke_host_kernel kernels[] = {{"mark", mark}};
static const yoke_program_source source = {.name = "marks", .host_kernels = kernels, .num_host_kernels = 1};

typedef struct bench {
    failing memory;
    worker w;
    yoke_run_kernel *kernel;
    double y[MOST];
} bench;

static void ok(const bench *b, yoke_status status)
{
    if (status != YOKE_OK) fail_msg("%s", yoke_last_error(b->w.context));
}

/* The GPU takes `slower` times as long as the CPU.  fault: of the CPU. */
static void open_bench(bench *b, double slower, const char *fault, const yoke_run_options *options)
{
    char text[400];
    snprintf(text, sizeof text,
             "{\"name\": \"m\", \"devices\": [{\"name\": \"cpu\", \"class\": \"cpu\", \"seconds_per_unit\": %g%s}, "
             "{\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": %g}]}",
             cpu_s, fault, slower * cpu_s);
    memset(b, 0, sizeof *b);
    worker_open(&b->w, &b->memory, text, options);
    b->w.run->devices[1].shares_cores = 1;
    const yoke_run_array array = {b->y, sizeof b->y, sizeof b->y[0], YOKE_RUN_READ_WRITE, .keep = 0};
    const yoke_run_definition definition = {
        .work = "marks", .source = &source, .function = "mark", .num_arrays = 1, .arrays = &array, .group_size = 1};
    ok(b, yoke_run_define(b->w.run, &definition, &b->kernel));
}

static void close_bench(bench *b)
{
    worker_close(&b->w);
    assert_int_equal(b->memory.outstanding, 0);
}

/* Seconds of a loop, in which every unit is done once. */
static double loop(bench *b, int64_t n)
{
    memset(b->y, 0, sizeof b->y);
    const double begin_s = run_now_s(b->w.run);
    ok(b, yoke_run_loop(b->w.run, b->kernel, n, NULL, 0));
    for (int64_t i = 0; i < MOST; i++)
        if (b->y[i] != (i < n)) fail_msg("unit %d was done %g times", (int)i, b->y[i]);
    return run_now_s(b->w.run) - begin_s;
}

static void expect_seconds(double found, double expected)
{
    if (!(fabs(found / expected - 1) < 1e-6)) fail_msg("%.9g s instead of %.9g", found, expected);
}

static void expect_text(bench *b, const char *wanted, int there)
{
    char *text = NULL;
    ok(b, yoke_run_explain(b->w.run, &text));
    if ((strstr(text, wanted) != NULL) != there) fail_msg("\"%s\" is %sin: %s", wanted, there ? "not " : "", text);
    yoke_release(b->w.context, text);
}

static void what_was_never_measured_rests_in_short_loops(void **state)
{
    (void)state;
    static bench b;
    open_bench(&b, 0.5, "", NULL);
    for (int k = 0; k < 3; k++) expect_seconds(loop(&b, 1000), 1000 * cpu_s);
    assert_true(b.kernel->devices[0].ready && !b.kernel->devices[1].ready && b.kernel->devices[1].program == NULL);
    expect_text(&b, "1000 units, 100.00 %", 1);
    expect_text(&b, "rests: it would use the cores of the hosts, and was never measured", 1);
    expect_text(&b, "every device", 0);
    close_bench(&b);
}

/* 20000 units take 40 s: 40 of them, 0.2 %, are a trial.  0.99: faster, but not clearly. */
static void a_long_loop_tries_it_and_leaves_the_rest_to_the_faster_one(void **state)
{
    (void)state;
    static bench b;
    static const double slower[] = {0.25, 0.99, 4};
    for (int k = 0; k < 3; k++) {
        open_bench(&b, slower[k], "", NULL);
        const double before_s = loop(&b, 100), first_s = loop(&b, 20000), later_s = loop(&b, 20000);
        const double best = slower[k] < 0.9 ? slower[k] : 1;
        expect_seconds(before_s, 100 * cpu_s);
        assert_true(b.kernel->devices[1].ready && b.kernel->devices[1].program != NULL); /* since its trial */
        expect_seconds(first_s, (40 * slower[k] + 19960 * best) * cpu_s);
        expect_seconds(later_s, 20000 * best * cpu_s);
        expect_text(&b, "rests: a device on the same cores is faster", slower[k] < 0.9);
        expect_text(&b, "rests: it would use the cores of the hosts, and these are faster alone", slower[k] > 0.9);
        close_bench(&b);
    }
}

/* Loops of 2 s: 15 of them take 30 s, and where the options say how many there are it is known before. */
static void many_loops_count_as_one_long_one(void **state)
{
    (void)state;
    static bench b;
    static const int64_t rounds[] = {0, 100};
    for (int k = 0; k < 2; k++) {
        const yoke_run_options options = {.rounds = rounds[k]};
        int first = -1;
        open_bench(&b, 0.5, "", &options);
        for (int i = 0; i < 20; i++)
            if (loop(&b, 1000) < 0.999 * 1000 * cpu_s && first < 0) first = i;
        assert_int_equal(first, k == 0 ? 15 : 1);
        close_bench(&b);
    }
}

static void add_on_host(int64_t first, int64_t last, void *const *arrays, void *user)
{
    (void)user;
    double *y = arrays[0];
    for (int64_t i = first; i < last; i++) y[i] += 1;
}

/* It is compiled when its trial comes, and cannot be: the loop goes on without it. */
static void a_kernel_that_does_not_compile_there_is_left_to_the_hosts(void **state)
{
    (void)state;
    static bench b;
    const yoke_run_array array = {b.y, sizeof b.y, sizeof b.y[0], YOKE_RUN_READ_WRITE, .keep = 0};
    const yoke_run_definition definition = {.work = "other marks",
                                            .source = &source,
                                            .function = "missing",
                                            .host = add_on_host,
                                            .num_arrays = 1,
                                            .arrays = &array,
                                            .group_size = 1};
    open_bench(&b, 0.25, "", NULL);
    ok(&b, yoke_run_define(b.w.run, &definition, &b.kernel));
    assert_true(b.kernel->devices[1].usable);
    (void)loop(&b, 100);
    assert_true(b.kernel->devices[1].usable);
    expect_seconds(loop(&b, 20000), 20000 * cpu_s);
    assert_true(!b.kernel->devices[1].usable && !b.w.run->devices[1].failed);
    expect_seconds(loop(&b, 20000), 20000 * cpu_s);
    close_bench(&b);
}

static void rounds_that_an_application_works_itself_are_for_the_hosts(void **state)
{
    (void)state;
    static bench b;
    open_bench(&b, 0.5, "", NULL);
    worker_rounds(&b.w, 1000, 3);
    assert_int_equal(worker_units(&b.w, 0), 1000);
    assert_int_equal(b.w.assignment->decision, YOKE_RUN_PLANNED);
    close_bench(&b);
}

/* Who has limits of its own may get what it asks for: the GPU alone, or both where neither has room for all. */
static void limits_of_a_round_count(void **state)
{
    (void)state;
    static bench b;
    static const int64_t n = 1000, limits[][2] = {{0, 1000}, {600, 600}, {1000, 600}};
    static const int64_t least[] = {1000, 400, 0}, most[] = {1000, 600, 0};
    const yoke_phase phase = {.work = "work", .calls = 1, .units = n, .barrier = 1};
    for (int k = 0; k < 3; k++) {
        const yoke_round round = {.num_cuts = 1, .cut_units = &n, .num_phases = 1, .phases = &phase, .max_units = limits[k]};
        open_bench(&b, 4, "", NULL);
        ok(&b, worker_round(&b.w, &round));
        assert_in_range(worker_units(&b.w, 1), least[k], most[k]);
        close_bench(&b);
    }
}

static void it_works_where_the_hosts_fail(void **state)
{
    (void)state;
    static bench b;
    open_bench(&b, 4, ", \"fault\": {\"call\": 30, \"kind\": \"lost\"}", NULL);
    for (int k = 0; k < 20; k++) (void)loop(&b, 1000);
    assert_true(b.w.run->devices[0].failed);
    expect_seconds(loop(&b, 1000), 4000 * cpu_s);
    close_bench(&b);
}

static void what_rests_is_told(void **state)
{
    (void)state;
    static bench b;
    yoke_run_rest rests[2];
    open_bench(&b, 4, "", NULL);
    ok(&b, yoke_run_rests(b.w.run, "work", 20000, rests));
    assert_true(rests[0].why[0] == '\0' && strstr(rests[1].why, "never measured") != NULL);
    assert_int_equal(rests[1].trial_units, 0); /* nobody knows how long the hosts take */
    worker_rounds(&b.w, 1000, 1);
    ok(&b, yoke_run_rests(b.w.run, "work", 14999, rests));
    assert_int_equal(rests[1].trial_units, 0);
    ok(&b, yoke_run_rests(b.w.run, "work", 20000, rests));
    assert_int_equal(rests[1].trial_units, 40);
    ok(&b, yoke_run_rests(b.w.run, "work", 0, rests));
    assert_int_equal(rests[1].trial_units, 0);
    assert_int_equal(yoke_run_rests(b.w.run, "work", -1, rests), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_run_rests(NULL, "work", 1, rests), YOKE_ERROR_ARGUMENT);
    close_bench(&b);
}

static yoke_status count_trial(void *user, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    ((int *)user)[device] += (int)calls;
    *seconds = cpu_s * (double)units;
    return YOKE_OK;
}

/* A calibration in passing leaves a device alone that rests; one that was asked for does not. */
static void a_device_that_rests_is_calibrated_where_that_is_asked_for(void **state)
{
    (void)state;
    for (int but_resting = 0; but_resting < 2; but_resting++) {
        static bench b;
        int trials[2] = {0, 0};
        const yoke_run_calibration of = {.work = "work",
                                         .min_units = 1,
                                         .max_units = 1000,
                                         .brief = 1,
                                         .sizes = 2,
                                         .trial = count_trial,
                                         .user = trials,
                                         .but_resting = but_resting};
        open_bench(&b, 4, "", NULL);
        ok(&b, yoke_run_calibrate(b.w.run, &of, NULL));
        assert_true(trials[0] > 0 && (trials[1] == 0) == but_resting);
        close_bench(&b);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_device_that_rests_is_calibrated_where_that_is_asked_for),
    cmocka_unit_test(what_was_never_measured_rests_in_short_loops),
    cmocka_unit_test(a_long_loop_tries_it_and_leaves_the_rest_to_the_faster_one),
    cmocka_unit_test(many_loops_count_as_one_long_one),
    cmocka_unit_test(a_kernel_that_does_not_compile_there_is_left_to_the_hosts),
    cmocka_unit_test(rounds_that_an_application_works_itself_are_for_the_hosts),
    cmocka_unit_test(limits_of_a_round_count),
    cmocka_unit_test(it_works_where_the_hosts_fail),
    cmocka_unit_test(what_rests_is_told),
};

UNIT_MAIN(tests, NULL, NULL)
