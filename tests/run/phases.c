/* Rounds of several phases and cuts, against the best of all cuts by the machine's own numbers. */
#include <math.h>

#include "unit.h"
#include "worker.h"

/* Seconds of a call, by the machine file below. */
static const double start_s[] = {2e-6, 1e-4}, per_unit_s[] = {3e-6, 1e-6};
#define DEVICES                                                                               \
    "{\"name\": \"cpu\", \"class\": \"cpu\", \"seconds_per_unit\": 3e-6, \"start_s\": 2e-6, " \
    "\"power\": {\"idle_w\": 20, \"busy_w\": 100}},"                                          \
    "{\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": 1e-6, \"start_s\": 1e-4, \"power\": {\"idle_w\": 30, \"busy_w\": 300}}"
static const char *const two = "{\"name\": \"two\", \"devices\": [" DEVICES "]}";

static double seconds_of(int device, int64_t units) { return units > 0 ? start_s[device] + per_unit_s[device] * (double)units : 0; }

static double part_of(int64_t phase_units, int64_t units, int64_t all)
{
    return floor((double)phase_units * (double)units / (double)all + 0.5);
}

/* ------------------------------------------------------------------------------------- levels of a multigrid */

enum { N = 20000, FINE = 5, COARSE = 10 };

static const int64_t fine_units = N;
static const yoke_phase levels[] = {{.work = "fine", .calls = FINE, .units = N, .barrier = 1},
                                    {.work = "coarse", .calls = COARSE, .units = N / 8, .barrier = 1},
                                    {.work = "coarsest", .calls = COARSE, .cut = -1, .device = 0, .units = 20, .barrier = 1}};
static const yoke_round multigrid = {.num_cuts = 1, .cut_units = &fine_units, .num_phases = 3, .phases = levels};

static void cost_of_levels(int64_t cpu, double *time_s, double *energy_j)
{
    const int64_t coarse = (int64_t)part_of(N / 8, cpu, N);
    const double fine[] = {seconds_of(0, cpu), seconds_of(1, N - cpu)}, small[] = {seconds_of(0, coarse), seconds_of(1, N / 8 - coarse)};
    const double alone_s = COARSE * seconds_of(0, 20);
    *time_s = FINE * fmax(fine[0], fine[1]) + COARSE * fmax(small[0], small[1]) + alone_s;
    *energy_j = 50 * *time_s + 80 * (FINE * fine[0] + COARSE * small[0] + alone_s) + 270 * (FINE * fine[1] + COARSE * small[1]);
}

static void the_cut_is_best_for_all_levels_together(void **state)
{
    (void)state;
    for (int objective = 0; objective < 2; objective++) {
        const yoke_run_options options = {.objective = (yoke_objective)objective};
        double best = INFINITY, time_s, energy_j;
        failing memory = {0};
        worker w;
        for (int64_t cpu = 0; cpu <= N; cpu += 5) {
            cost_of_levels(cpu, &time_s, &energy_j);
            best = fmin(best, objective ? energy_j : time_s);
        }
        worker_open(&w, &memory, two, &options);
        for (int k = 0; k < 8; k++) assert_int_equal(worker_round(&w, &multigrid), YOKE_OK);
        cost_of_levels(worker_units(&w, 0), &time_s, &energy_j);
        if (!((objective ? energy_j : time_s) <= 1.01 * best))
            fail_msg("objective %d: %g instead of %g with %lld units", objective, objective ? energy_j : time_s, best,
                     (long long)worker_units(&w, 0));
        /* By virtual time nothing but the phases takes any. */
        if (!(fabs(w.measured.time_s / time_s - 1) < 1e-6)) fail_msg("measured %g s instead of %g s", w.measured.time_s, time_s);
        if (!(fabs(w.assignment->predicted.time_s / time_s - 1) < 0.01))
            fail_msg("predicted %g s, took %g s", w.assignment->predicted.time_s, time_s);
        if (!(fabs(w.assignment->predicted.energy_j / energy_j - 1) < 0.02))
            fail_msg("predicted %g J, took %g J", w.assignment->predicted.energy_j, energy_j);
        worker_close(&w);
        assert_int_equal(memory.outstanding, 0);
    }
}

/* -------------------------------------------------------------------------------- near and far field: two cuts */

static void two_cuts_without_a_barrier_are_balanced_together(void **state)
{
    (void)state;
    const int64_t cuts[] = {1000, 8000};
    const yoke_phase fields[] = {{.work = "far", .calls = 1, .cut = 0, .units = 1000},
                                 {.work = "near", .calls = 1, .cut = 1, .units = 8000}};
    const yoke_round round = {.num_cuts = 2, .cut_units = cuts, .num_phases = 2, .phases = fields};
    double best = INFINITY;
    failing memory = {0};
    worker w;
    for (int64_t far = 0; far <= 1000; far += 5)
        for (int64_t near = 0; near <= 8000; near += 20)
            best = fmin(best, fmax(seconds_of(0, far) + seconds_of(0, near), seconds_of(1, 1000 - far) + seconds_of(1, 8000 - near)));
    worker_open(&w, &memory, two, NULL);
    for (int k = 0; k < 8; k++) assert_int_equal(worker_round(&w, &round), YOKE_OK);
    const int64_t *far = w.assignment->first[0], *near = w.assignment->first[1];
    assert_int_equal(far[2], 1000);
    assert_int_equal(near[2], 8000);
    double makespan = fmax(seconds_of(0, far[1]) + seconds_of(0, near[1]), seconds_of(1, 1000 - far[1]) + seconds_of(1, 8000 - near[1]));
    if (!(makespan <= 1.02 * best)) fail_msg("%g s instead of %g s", makespan, best);
    worker_close(&w);
}

/* ------------------------------------------------------------------------------------------------------ weights */

static void weights_of_units_are_kept_apart_from_their_number(void **state)
{
    (void)state;
    enum { LEAVES = 2000 };
    static double sums[LEAVES + 1];
    const int64_t leaves = LEAVES;
    for (int i = 0; i < LEAVES; i++) sums[i + 1] = sums[i] + (i < LEAVES / 2 ? 1 : 9); /* the second half is nine times as much work */
    const yoke_phase near = {.work = "near", .calls = 1, .units = 10000, .weight_sum = sums};
    const yoke_round round = {.num_cuts = 1, .cut_units = &leaves, .num_phases = 1, .phases = &near};
    double best = INFINITY;
    failing memory = {0};
    worker w;
    for (int64_t units = 0; units <= 10000; units++) best = fmin(best, fmax(seconds_of(0, units), seconds_of(1, 10000 - units)));
    worker_open(&w, &memory, two, NULL);
    for (int k = 0; k < 8; k++) assert_int_equal(worker_round(&w, &round), YOKE_OK);
    int64_t cpu = (int64_t)floor(10000 * sums[w.assignment->first[0][1]] / sums[LEAVES] + 0.5);
    double makespan = fmax(seconds_of(0, cpu), seconds_of(1, 10000 - cpu));
    if (!(makespan <= 1.02 * best)) fail_msg("%g s instead of %g s", makespan, best);
    worker_close(&w);
}

/* ------------------------------------------------------------------------------------------------ beside phases */

/* A round of so many calls of one phase on the accelerator, and what it takes besides.  Returns the error of the predicted time, relative. */
static double error_of_round(worker *w, double calls, double beside_s)
{
    const int64_t units = 5000;
    const yoke_phase phase = {.work = "product", .calls = calls, .units = units, .barrier = 1};
    const yoke_round round = {.num_cuts = 1, .cut_units = &units, .num_phases = 1, .phases = &phase};
    const double seconds = seconds_of(1, units), all_s = calls * seconds + beside_s;
    const yoke_run_report report = {.seconds = &seconds};
    assert_int_equal(yoke_run_plan(w->run, &round, 1, &w->assignment), YOKE_OK);
    assert_int_equal(yoke_run_begin(w->run), YOKE_OK);
    assert_int_equal(yoke_machine_sleep(w->context, all_s), YOKE_OK);
    assert_int_equal(yoke_run_end(w->run, &report, NULL), YOKE_OK);
    return fabs(w->assignment->predicted.time_s / all_s - 1);
}

static void what_rounds_of_few_calls_take_besides_is_not_taken_for_each_of_many_calls(void **state)
{
    (void)state;
    const yoke_run_options options = {.devices = "sim:gpu"};
    const double product_s = seconds_of(1, 5000), round_s = 6 * product_s, call_s = 0.3 * product_s;
    failing memory = {0};
    worker w;
    worker_open(&w, &memory, two, &options);
    for (int k = 0; k < 3; k++) error_of_round(&w, 4, round_s);
    assert_true(error_of_round(&w, 4, round_s) < 0.05);
    assert_true(error_of_round(&w, 70, round_s) < 0.05); /* times all calls it would be twice as long */
    worker_close(&w);
    /* what goes with calls is known from the first round that has as many */
    worker_open(&w, &memory, two, &options);
    for (int k = 0; k < 3; k++) error_of_round(&w, 4, 4 * call_s);
    error_of_round(&w, 70, 70 * call_s);
    assert_true(error_of_round(&w, 70, 70 * call_s) < 0.02);
    assert_true(error_of_round(&w, 35, 35 * call_s) < 0.02);
    worker_close(&w);
}

/* ------------------------------------------------------------------------------------------------- alternatives */

static void of_alternatives_the_best_is_taken_once_all_are_known(void **state)
{
    (void)state;
    const int64_t units[] = {9000, 4000, 7000};
    yoke_phase phases[3];
    yoke_round rounds[3];
    int seen[3] = {0};
    failing memory = {0};
    worker w;
    for (int k = 0; k < 3; k++) {
        static const char *const names[] = {"depth 3", "depth 4", "depth 5"};
        phases[k] = (yoke_phase){.work = names[k], .calls = 1, .units = units[k], .barrier = 1};
        rounds[k] = (yoke_round){.num_cuts = 1, .cut_units = &units[k], .num_phases = 1, .phases = &phases[k]};
    }
    worker_open(&w, &memory, two, NULL);
    for (int k = 0; k < 12; k++) {
        assert_int_equal(yoke_run_plan(w.run, rounds, 3, &w.assignment), YOKE_OK);
        int64_t chosen = w.assignment->round;
        seen[chosen]++;
        if (k >= 8) assert_int_equal(chosen, 1);
        const int64_t *first = w.assignment->first[0];
        const double seconds[] = {seconds_of(0, first[1]), seconds_of(1, first[2] - first[1])};
        const yoke_run_report report = {.seconds = seconds};
        assert_int_equal(yoke_run_begin(w.run), YOKE_OK);
        assert_int_equal(yoke_machine_sleep(w.context, fmax(seconds[0], seconds[1])), YOKE_OK);
        assert_int_equal(yoke_run_end(w.run, &report, NULL), YOKE_OK);
    }
    for (int k = 0; k < 3; k++) assert_true(seen[k] > 0); /* each was tried */
    worker_close(&w);
}

static void a_phase_of_a_device_that_failed_is_refused(void **state)
{
    (void)state;
    failing memory = {0};
    worker w;
    worker_open(&w, &memory, two, NULL);
    assert_int_equal(worker_round(&w, &multigrid), YOKE_OK);
    assert_int_equal(yoke_run_fail(w.run, 0, "it burns"), YOKE_OK);
    assert_int_equal(yoke_run_plan(w.run, &multigrid, 1, &w.assignment), YOKE_ERROR_ARGUMENT);
    assert_non_null(strstr(yoke_last_error(w.context), "phase 2: device is 0"));
    worker_close(&w);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_cut_is_best_for_all_levels_together),
    cmocka_unit_test(two_cuts_without_a_barrier_are_balanced_together),
    cmocka_unit_test(weights_of_units_are_kept_apart_from_their_number),
    cmocka_unit_test(what_rounds_of_few_calls_take_besides_is_not_taken_for_each_of_many_calls),
    cmocka_unit_test(of_alternatives_the_best_is_taken_once_all_are_known),
    cmocka_unit_test(a_phase_of_a_device_that_failed_is_refused),
};

UNIT_MAIN(tests, NULL, NULL)
