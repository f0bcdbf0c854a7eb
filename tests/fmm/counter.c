/* Costs in instructions and cycles: what is counted, and what is chosen by them. */
#include "tune/costs/counter.h"

#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/failing.h"
#include "clouds.h"
#include "known_costs.h"
#include "tune/tune.h"

/* ------------------------------------------------------------------------------------------------------ counting */

/* Nanoseconds of threads stand in for the processor, which counts nothing on many machines; skips where a sandbox has no perf events at all. */
static fmm_counter *open_stand_in(void)
{
    fmm_counter *counter = NULL;
    assert_int_equal(setenv("YOKE_COUNTERS", "software", 1), 0);
    const yoke_status status = fmm_counter_open(context, FMM_MEASURE_INSTRUCTIONS, &counter);
    if (status == YOKE_ERROR_UNAVAILABLE) skip();
    assert_int_equal(status, YOKE_OK);
    return counter;
}

static double now(const fmm_counter *counter)
{
    const fmm_clock *clock = fmm_counter_clock(counter);
    return clock->now(clock->user);
}

static double clock_s(clockid_t of)
{
    struct timespec at;
    assert_int_equal(clock_gettime(of, &at), 0);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static void *work(void *of)
{
    volatile double sum = 0;
    for (int i = 0; i < 30000000; i++) sum += i;
    return sum < 0 ? of : NULL;
}

static void work_on_all(void)
{
#pragma omp parallel
    (void)work(NULL);
}

static void work_on_a_new_thread(void)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, work, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* The system's time of the process has all of its threads, also those that are started later; a count of the calling thread alone is half of it
 * or less.  The count may be larger, since it has the time that a virtual machine takes from a thread, but a core counts for no longer than
 * the work lasts. */
static void all_threads_are_counted(void **state)
{
    (void)state;
    void (*const works[])(void) = {work_on_all, work_on_a_new_thread};
    fmm_counter *counter = open_stand_in();
    for (int k = 0; k < 2; k++) {
        const double begin_s = clock_s(CLOCK_MONOTONIC), used_s = clock_s(CLOCK_PROCESS_CPUTIME_ID), begin = now(counter);
        works[k]();
        const double counted = now(counter) - begin, took_s = clock_s(CLOCK_PROCESS_CPUTIME_ID) - used_s;
        const double elapsed_s = clock_s(CLOCK_MONOTONIC) - begin_s;
        assert_true(took_s > 0.005);
        assert_true(counted > 0.75 * took_s);
        assert_true(counted < 1.01 * (double)omp_get_num_procs() * elapsed_s);
    }
    fmm_counter_close(counter);
}

/* Where the processor counts, a loop has at least an instruction a pass; elsewhere the text says why, and what else there is. */
static void the_processor_counts_or_says_why_not(void **state)
{
    (void)state;
    fmm_counter *counter = NULL;
    assert_int_equal(unsetenv("YOKE_COUNTERS"), 0);
    for (fmm_measure measure = FMM_MEASURE_INSTRUCTIONS; measure <= FMM_MEASURE_CYCLES; measure++) {
        const yoke_status status = fmm_counter_open(context, measure, &counter);
        if (status) {
            assert_int_equal(status, YOKE_ERROR_UNAVAILABLE);
            assert_non_null(strstr(yoke_last_error(context), fmm_measure_names[measure]));
            assert_non_null(strstr(yoke_last_error(context), "--baseline operations"));
            continue;
        }
        const double begin = now(counter);
        (void)work(NULL);
        const double counted = now(counter) - begin; /* NaN: all counters are in use */
        if (measure == FMM_MEASURE_INSTRUCTIONS) assert_false(counted < 0.03);
        assert_false(counted <= 0);
        fmm_counter_close(counter);
    }
}

static void refusals_name_cause_and_remedy(void **state)
{
    (void)state;
    static const char *const errors[][3] = {{"ENOENT", "no such counter", "take another machine"},
                                            {"EACCES", "does not allow it", "perf_event_paranoid=2"},
                                            {"EPERM", "does not allow it", "--cap-add PERFMON"},
                                            {"ENOSYS", "no perf events", "CONFIG_PERF_EVENTS"}};
    fmm_counter *counter = NULL;
    for (int k = 0; k < 4; k++) {
        assert_int_equal(setenv("YOKE_COUNTERS", errors[k][0], 1), 0);
        assert_int_equal(fmm_counter_open(context, FMM_MEASURE_CYCLES, &counter), YOKE_ERROR_UNAVAILABLE);
        assert_null(counter);
        for (int i = 1; i < 3; i++) assert_non_null(strstr(yoke_last_error(context), errors[k][i]));
        assert_non_null(strstr(yoke_last_error(context), "cycles cannot be counted"));
    }
}

static void failing_memory_is_told(void **state)
{
    (void)state;
    fmm_counter_close(open_stand_in());
    for (int64_t calls = 0; calls < 2; calls++) {
        failing memory = {0};
        const yoke_options options = failing_options(&memory);
        yoke_context *own = NULL;
        fmm_counter *counter = NULL;
        assert_int_equal(yoke_context_create(&options, &own), YOKE_OK);
        failing_allow(&memory, calls);
        assert_int_equal(fmm_counter_open(own, FMM_MEASURE_CYCLES, &counter), YOKE_ERROR_MEMORY);
        assert_null(counter);
        yoke_context_destroy(own);
        assert_int_equal(memory.outstanding, 0);
    }
}

/* ------------------------------------------------------------------------------------------------------ choosing */

static void measure_in(const char *path, known *costs, fmm_measure measure)
{
    const fmm_machine_options options = {.gradient = 1, .measure = measure, .trial = trial, .user = costs};
    fmm_machine machine;
    yoke_run *run = open_run(path);
    assert_int_equal(fmm_machine_measure(context, run, 0, &options, &machine), YOKE_OK);
    assert_int_equal(yoke_run_save(run, NULL), YOKE_OK);
    yoke_run_destroy(run);
}

static void each_measure_has_costs_of_its_own_in_the_store(void **state)
{
    (void)state;
    char path[64];
    known of[3] = {usual, usual, usual};
    fmm_machine machine;
    (void)snprintf(path, sizeof path, "counter-store-%ld.json", (long)getpid());
    of[1].pair *= 3;
    of[2].pair *= 7;
    measure_in(path, &of[0], FMM_MEASURE_SECONDS);
    yoke_run *run = open_run(path);
    assert_int_equal(fmm_machine_get(run, 0, 1, FMM_MEASURE_CYCLES, &machine), YOKE_ERROR_UNAVAILABLE);
    yoke_run_destroy(run);
    measure_in(path, &of[2], FMM_MEASURE_CYCLES);
    measure_in(path, &of[1], FMM_MEASURE_INSTRUCTIONS);
    for (int m = 0; m < 3; m++) {
        run = open_run(path);
        assert_int_equal(fmm_machine_get(run, 0, 1, (fmm_measure)m, &machine), YOKE_OK);
        assert_int_equal(machine.measure, m);
        assert_near_part(machine.pair[8], of[m].pair * 9 * 9 * 9, 1e-9);
        yoke_run_destroy(run);
    }
    (void)remove(path);
}

/* Near pairs take few instructions and many seconds, so that the trees are others; a run by counts teaches predictions of seconds nothing. */
static void the_tree_of_least_counts_is_chosen(void **state)
{
    (void)state;
    enum { SECONDS, INSTRUCTIONS };
    char path[64];
    known of[2] = {usual, usual};
    double near_pairs[2];
    fmm_counter_close(open_stand_in());
    (void)snprintf(path, sizeof path, "counter-tree-%ld.json", (long)getpid());
    of[INSTRUCTIONS].near_pair *= 0.02;
    of[INSTRUCTIONS].near_start *= 0.02;
    fmm_particles *p = cloud_create(context, UNIFORM, 20000);
    for (int m = SECONDS; m <= INSTRUCTIONS; m++) {
        const fmm_tune_options options = {.store = path, .gradient = 1, .depth = -1, .measure = (fmm_measure)m};
        fmm_tuned tuned;
        measure_in(path, &of[m], (fmm_measure)m);
        fmm_tuner *tuner = choose_tree(&options, p, 8, &tuned);
        assert_int_equal(tuned.measure, m);
        assert_true((fmm_tuner_clock(tuner) != NULL) == (m == INSTRUCTIONS));
        const fmm_depth *chosen = fmm_chosen(&tuned.choice);
        near_pairs[m] = chosen->near_pairs;
        for (int d = tuned.choice.first; d <= tuned.choice.last; d++)
            assert_true(chosen->predicted.total <= tuned.choice.of[d].predicted.total * (1 + 1e-3));
        assert_true(isnan(tuned.choice.predicted.energy_j) && isnan(chosen->predicted_j));
        fmm_choice_tree(&tuned.choice, fmm_choice_taken(&tuned.choice))->measured = (fmm_seconds){1, 1, 1, 3};
        if (m == INSTRUCTIONS) assert_int_equal(fmm_tuner_learn(tuner, &tuned), YOKE_OK);
        fmm_tuner_destroy(tuner);
    }
    assert_true(near_pairs[INSTRUCTIONS] > 2 * near_pairs[SECONDS]);
    fmm_machine machine;
    yoke_run *run = open_run(path);
    assert_int_equal(fmm_machine_get(run, 0, 1, FMM_MEASURE_SECONDS, &machine), YOKE_OK);
    assert_true(machine.factor[FMM_PART_NEAR].runs == 0 && machine.factor[FMM_PART_NEAR].value == 1);
    yoke_run_destroy(run);
    fmm_particles_destroy(p);
    (void)remove(path);
}

static double one_more(void *user) { return ++*(double *)user; }

/* The benchmark asks the clock before and after a call; making a method asks twice itself. */
static void the_benchmark_tells_what_the_clock_shows(void **state)
{
    (void)state;
    double at = 0;
    const fmm_clock clock = {one_more, &at};
    static const fmm_operation operations[] = {FMM_TREE, FMM_NEAR, FMM_TABLES, FMM_WAVES, FMM_PAIR, FMM_FAMILY, FMM_CELL};
    fmm_bench *bench = NULL;
    assert_int_equal(fmm_bench_create(context, 1, &clock, &bench), YOKE_OK);
    for (size_t k = 0; k < sizeof operations / sizeof operations[0]; k++) {
        double told = NAN;
        assert_int_equal(fmm_bench_run(bench, operations[k], 8, 1, &told), YOKE_OK);
        assert_true(told == (operations[k] == FMM_TREE ? 3 : 1));
    }
    fmm_bench_destroy(bench);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(all_threads_are_counted),
    cmocka_unit_test(the_processor_counts_or_says_why_not),
    cmocka_unit_test(refusals_name_cause_and_remedy),
    cmocka_unit_test(failing_memory_is_told),
    cmocka_unit_test(each_measure_has_costs_of_its_own_in_the_store),
    cmocka_unit_test(the_tree_of_least_counts_is_chosen),
    cmocka_unit_test(the_benchmark_tells_what_the_clock_shows),
};

UNIT_MAIN(tests, context_start, context_end)
