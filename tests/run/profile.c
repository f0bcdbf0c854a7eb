/* Energy of the kernels of a run on simulated machines, against what their files say. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "worker.h"

enum { UNITS = 400, BYTES = 1 << 20 };

/* A launch of UNITS takes 0.8 ms and draws 100 W; a copy of BYTES takes 0.5 ms and draws 10 + 35 W; else it draws 10 W. */
#define MACHINE(more)                                                                                        \
    "{\"name\": \"one\", \"devices\": [{\"name\": \"cpu\", \"class\": \"cpu\", \"seconds_per_unit\": 2e-6, " \
    "\"copy\": {\"latency_s\": 0, \"bytes_per_s\": 2097152000}, "                                            \
    "\"power\": {\"idle_w\": 10, \"busy_w\": 100, \"copy_w\": 35}" more "}], \"host\": {\"idle_w\": 20}}"

static void nothing(void *user) { (void)user; }

static void expect_near(double found, double expected, double relative, const char *what)
{
    if (!(fabs(found - expected) <= relative * fabs(expected))) fail_msg("%s: %.9g instead of %.9g", what, found, expected);
}

/* Rounds of so many calls: a launch, a copy, and now and then a pause.  Returns the energy of all rounds as it is measured. */
static double work(worker *w, int rounds, int calls, unsigned seed)
{
    static char data[BYTES];
    const int64_t n = UNITS;
    const yoke_phase phase = {.work = "work", .calls = calls, .units = n, .barrier = 1};
    const yoke_round round = {.num_cuts = 1, .cut_units = &n, .num_phases = 1, .phases = &phase};
    yoke_buffer *buffer = NULL;
    double joules = 0;
    assert_int_equal(yoke_buffer_create(w->devices[0].device, BYTES, &buffer), YOKE_OK);
    for (int r = 0; r < rounds; r++) {
        yoke_cost measured;
        assert_int_equal(yoke_run_plan(w->run, &round, 1, &w->assignment), YOKE_OK);
        assert_int_equal(yoke_run_begin(w->run), YOKE_OK);
        for (int k = 0; k < calls; k++) {
            seed = seed * 1664525u + 1013904223u;
            assert_int_equal(yoke_run_mark(w->run, 0, w->queues[0], "work"), YOKE_OK);
            assert_int_equal(yoke_queue_call(w->queues[0], nothing, NULL, UNITS), YOKE_OK);
            assert_int_equal(yoke_run_mark(w->run, 0, w->queues[0], NULL), YOKE_OK);
            assert_int_equal(yoke_run_mark(w->run, 0, w->queues[0], "copy"), YOKE_OK);
            assert_int_equal(yoke_queue_write(w->queues[0], buffer, 0, BYTES, data), YOKE_OK);
            if (seed >> 31) assert_int_equal(yoke_queue_write(w->queues[0], buffer, 0, BYTES, data), YOKE_OK);
            assert_int_equal(yoke_run_mark(w->run, 0, w->queues[0], NULL), YOKE_OK);
            if (seed >> 29 & 1) assert_int_equal(yoke_queue_finish(w->queues[0]), YOKE_OK);
            if (seed >> 30 & 1) assert_int_equal(yoke_machine_sleep(w->context, 3e-4), YOKE_OK);
        }
        assert_int_equal(yoke_queue_finish(w->queues[0]), YOKE_OK);
        assert_int_equal(yoke_run_end(w->run, NULL, &measured), YOKE_OK);
        joules += measured.energy_j;
    }
    yoke_buffer_destroy(buffer);
    return joules;
}

static const yoke_run_profile *rows_of(worker *w, int64_t expected)
{
    const yoke_run_profile *rows = NULL;
    int64_t count = -1;
    assert_int_equal(yoke_run_profile_get(w->run, &rows, &count), YOKE_OK);
    assert_int_equal(count, expected);
    return rows;
}

/* Kernels of 100 W and of 45 W in one queue; the parts are those of all that is metered, the host's 20 W among them. */
static void kernels_have_the_energy_that_the_machine_file_says(void **state)
{
    (void)state;
    const yoke_run_options options = {.profile = 0.01};
    failing memory = {0};
    worker w;
    worker_open(&w, &memory, MACHINE(), &options);
    double joules = work(&w, 5, 40, 1), sum = 0, seconds = 0;
    const yoke_run_profile *rows = rows_of(&w, 3);
    assert_string_equal(rows[0].kernel, "work");
    assert_string_equal(rows[1].kernel, "copy");
    assert_null(rows[2].kernel);
    expect_near(rows[0].calls, 200, 0, "calls");
    expect_near(rows[0].call_s, 8e-4, 1e-9, "seconds of a launch");
    expect_near(rows[0].energy_j, 8e-4 * 100, 1e-5, "energy of a launch");
    expect_near(rows[0].dynamic_j, 8e-4 * 90, 1e-5, "energy above idle");
    expect_near(rows[1].energy_j, rows[1].call_s * 45, 1e-5, "energy of a copy");
    expect_near(rows[2].energy_j, rows[2].call_s * 10, 1e-4, "energy between kernels");
    for (int i = 0; i < 3; i++) {
        assert_true(rows[i].uncertainty_j < 0.01 * rows[i].energy_j);
        assert_true(rows[i].why_not[0] == '\0' && isnan(rows[i].frequency_hz) && rows[i].device == 0);
        expect_near(rows[i].part, rows[i].energy_j * rows[i].calls / joules, 1e-9, "part");
        sum += rows[i].energy_j * rows[i].calls;
        seconds += rows[i].call_s * rows[i].calls;
    }
    expect_near(sum + 20 * seconds, joules, 1e-5, "sum of all kernels and the host");
    worker_close(&w);
    assert_int_equal(memory.outstanding, 0);
}

/* 40 machines whose meters are slow, count in joules and have gains, and whose launches are noisy: 95 % intervals. */
static void intervals_cover_the_truth(void **state)
{
    (void)state;
    unit_leave_to_release();
    const yoke_run_options options = {.profile = 0.01};
    int covered = 0, all = 0;
    for (int seed = 1; seed <= 40; seed++) {
        char text[1024];
        failing memory = {0};
        worker w;
        snprintf(text, sizeof text,
                 MACHINE(", \"noise\": 0.05, \"seed\": %d, \"meter\": {\"period_s\": %g, \"resolution_j\": 1e-4, \"gain\": %g, "
                         "\"gain_error\": 0.03}"),
                 seed, seed % 2 ? 1e-3 : 4e-3, 0.97 + 0.06 * fmod(seed * 0.618, 1));
        worker_open(&w, &memory, text, &options);
        (void)work(&w, 3, 150, (unsigned)seed);
        const yoke_run_profile *rows = rows_of(&w, 3);
        const double watts[] = {100, 45, 10};
        for (int i = 0; i < 2; i++, all++) {
            assert_true(rows[i].why_not[0] == '\0');
            assert_true(rows[i].uncertainty_j < 0.1 * rows[i].energy_j);
            covered += fabs(rows[i].energy_j - watts[i] * rows[i].call_s) <= rows[i].uncertainty_j;
        }
        worker_close(&w);
    }
    assert_in_range(covered, (uintmax_t)(0.9 * all), (uintmax_t)all);
}

static void without_the_option_nothing_is_told(void **state)
{
    (void)state;
    failing memory = {0};
    worker w;
    worker_open(&w, &memory, MACHINE(), NULL);
    (void)work(&w, 1, 3, 1);
    (void)rows_of(&w, 0);
    assert_int_equal(yoke_run_mark(NULL, 0, w.queues[0], "work"), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_run_mark(w.run, 1, w.queues[0], "work"), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_run_mark(w.run, 0, NULL, "work"), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_run_profile_get(NULL, NULL, NULL), YOKE_ERROR_ARGUMENT);
    worker_close(&w);
    const double wrong[] = {-1, NAN, 0.6};
    for (int i = 0; i < 3; i++) {
        const yoke_run_options options = {.profile = wrong[i]};
        yoke_context *context = NULL;
        yoke_run *run = NULL;
        assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
        assert_int_equal(yoke_run_create(context, &options, &run), YOKE_ERROR_ARGUMENT);
        yoke_context_destroy(context);
    }
}

/* What is not known is NaN, and the reason says what to do. */
static void what_cannot_be_told_says_why(void **state)
{
    (void)state;
    static const struct {
        const char *machine, *why;
        int no_meters, calls;
    } cases[] = {{MACHINE(), "no meters are open", 1, 50},
                 {MACHINE(), "at least 24 are needed: about", 0, 3},
                 {MACHINE(", \"meter\": {\"period_s\": 10}"), "at least 24 are needed", 0, 50}};
    for (int k = 0; k < 3; k++) {
        const yoke_run_options options = {.profile = 0.01, .no_meters = cases[k].no_meters};
        failing memory = {0};
        worker w;
        worker_open(&w, &memory, cases[k].machine, &options);
        (void)work(&w, 1, cases[k].calls, 1);
        const yoke_run_profile *rows = NULL;
        int64_t count = 0;
        assert_int_equal(yoke_run_profile_get(w.run, &rows, &count), YOKE_OK);
        assert_true(count >= 2);
        for (int64_t i = 0; i < count; i++) {
            assert_true(isnan(rows[i].energy_j) && isnan(rows[i].uncertainty_j) && isnan(rows[i].part));
            assert_non_null(strstr(rows[i].why_not, cases[k].why));
        }
        assert_true(rows[0].calls == cases[k].calls);
        expect_near(rows[0].call_s, 8e-4, 1e-9, "seconds of a launch, which need no meter");
        worker_close(&w);
        assert_int_equal(memory.outstanding, 0);
    }
}

/* The application works the units of such a round again. */
static void calls_of_an_abandoned_round_do_not_count(void **state)
{
    (void)state;
    static const char text[] = "{\"name\": \"two\", \"devices\": [{\"name\": \"cpu\", \"class\": \"cpu\", \"seconds_per_unit\": 2e-6}, "
                               "{\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": 1e-6}]}";
    static const int64_t n = UNITS;
    static const yoke_phase phase = {.work = "work", .calls = 1, .units = UNITS, .barrier = 1};
    const yoke_round round = {.num_cuts = 1, .cut_units = &n, .num_phases = 1, .phases = &phase};
    const yoke_run_options options = {.profile = 0.01};
    failing memory = {0};
    worker w;
    worker_open(&w, &memory, text, &options);
    for (int r = 0; r < 2; r++) {
        assert_int_equal(yoke_run_plan(w.run, &round, 1, &w.assignment), YOKE_OK);
        assert_int_equal(yoke_run_begin(w.run), YOKE_OK);
        for (int k = 0; k < (r == 0 ? 5 : 3); k++) {
            assert_int_equal(yoke_run_mark(w.run, 0, w.queues[0], "work"), YOKE_OK);
            assert_int_equal(yoke_queue_call(w.queues[0], nothing, NULL, UNITS), YOKE_OK);
            assert_int_equal(yoke_run_mark(w.run, 0, w.queues[0], "else"), YOKE_OK);
        }
        assert_int_equal(yoke_queue_finish(w.queues[0]), YOKE_OK);
        assert_int_equal(r == 0 ? yoke_run_fail(w.run, 1, "lost") : yoke_run_end(w.run, NULL, NULL), YOKE_OK);
    }
    const yoke_run_profile *rows = rows_of(&w, 2); /* the device is always at work */
    expect_near(rows[0].calls, 3, 0, "calls");
    expect_near(rows[0].call_s, 8e-4, 1e-9, "seconds of a call");
    worker_close(&w);
    assert_int_equal(memory.outstanding, 0);
}

static void a_failing_allocation_is_an_error_and_leaves_nothing(void **state)
{
    (void)state;
    const yoke_run_options options = {.profile = 0.01};
    yoke_status status = YOKE_ERROR_MEMORY;
    for (int64_t tries = 0; status != YOKE_OK; tries++) {
        failing memory = {0};
        yoke_context *context = machine(MACHINE(), &memory);
        yoke_run *run = NULL;
        failing_allow(&memory, tries);
        status = yoke_run_create(context, &options, &run);
        assert_true(status == YOKE_OK || status == YOKE_ERROR_MEMORY);
        yoke_run_destroy(run);
        yoke_context_destroy(context);
        assert_int_equal(memory.outstanding, 0);
        assert_true(tries < 400);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(kernels_have_the_energy_that_the_machine_file_says),
    cmocka_unit_test(intervals_cover_the_truth),
    cmocka_unit_test(without_the_option_nothing_is_told),
    cmocka_unit_test(what_cannot_be_told_says_why),
    cmocka_unit_test(calls_of_an_abandoned_round_do_not_count),
    cmocka_unit_test(a_failing_allocation_is_an_error_and_leaves_nothing),
};

UNIT_MAIN(tests, NULL, NULL)
