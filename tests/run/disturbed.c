/* Calibrations on the cores while other programs want them: what these take is told by a stand-in for the system. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "run/run.h"
#include "unit.h"

enum { UNITS = 1000 };
static const double undisturbed_s = 1e-3, disturbed_s = 3e-3;

/* Trials are made in turn: those whose number `is_disturbed` has wait all the time for a core, and take longer. */
static int64_t trials;
static int (*is_disturbed)(int64_t trial);
static double waited_s;

static int never(int64_t trial) { return trial < 0; }
static int always(int64_t trial) { return trial >= 0; }
static int every_second(int64_t trial) { return trial % 2 == 0; }
/* Only the fifth is not. */
static int but_one(int64_t trial) { return trial != 5; }

static void tell_core_time(yoke_core_time *time) { *time = (yoke_core_time){0, waited_s}; }

static yoke_status try_units(void *user, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    const double end_s = yoke_clock_s() + 2e-5; /* so that there is time to be lost */
    (void)user, (void)device, (void)units, (void)calls;
    while (yoke_clock_s() < end_s) continue;
    *seconds = is_disturbed(trials) ? disturbed_s : undisturbed_s;
    waited_s += is_disturbed(trials) ? 1 : 0;
    trials++;
    return YOKE_OK;
}

static yoke_run *open_run(yoke_context *context, const char *store)
{
    const yoke_run_options options = {.devices = "openmp", .no_meters = 1, .store = store};
    yoke_run *run = NULL;
    if (yoke_run_create(context, &options, &run) != YOKE_OK) fail_msg("%s", yoke_last_error(context));
    run->core_time = tell_core_time;
    return run;
}

static double calibrate(yoke_run *run, int (*disturbed)(int64_t trial), int shortest)
{
    yoke_run_accuracy accuracy;
    const yoke_run_calibration of = {
        .work = "work", .min_units = UNITS, .max_units = UNITS, .sizes = 2, .budget_s = 0.2, .trial = try_units, .shortest = shortest};
    is_disturbed = disturbed;
    trials = 0;
    if (yoke_run_calibrate(run, &of, &accuracy) != YOKE_OK) fail_msg("%s", yoke_last_error(run->context));
    assert_int_equal(accuracy.trials, trials);
    return accuracy.disturbed;
}

static yoke_prediction predict(yoke_run *run)
{
    yoke_prediction call;
    assert_int_equal(yoke_run_predict(run, "work", 0, UNITS, NAN, 0, &call), YOKE_OK);
    return call;
}

static yoke_context *start(void)
{
    yoke_context *context = NULL;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    return context;
}

static void disturbed_trials_are_repeated_and_do_not_count(void **state)
{
    (void)state;
    yoke_context *context = start();
    yoke_run *run = open_run(context, NULL);
    assert_true(calibrate(run, every_second, 0) == 0);
    assert_true(fabs(predict(run).seconds / undisturbed_s - 1) < 1e-9);
    yoke_run_destroy(run);
    yoke_context_destroy(context);
}

static void what_stays_disturbed_is_told(void **state)
{
    (void)state;
    yoke_context *context = start();
    yoke_run *run = open_run(context, NULL);
    assert_true(calibrate(run, never, 0) == 0);
    const int64_t usual = trials;
    assert_true(calibrate(run, always, 0) >= 0.99);
    assert_true(trials > usual && trials <= 4 * usual); /* and the repetitions end */
    assert_true(predict(run).disturbed >= 0.99 && fabs(predict(run).seconds / disturbed_s - 1) < 1e-9);
    yoke_run_destroy(run);
    yoke_context_destroy(context);
}

/* All other trials take three times as long. */
static void one_quiet_trial_is_enough_where_the_shortest_counts(void **state)
{
    (void)state;
    yoke_context *context = start();
    yoke_run *run = open_run(context, NULL);
    assert_true(calibrate(run, but_one, 1) == 0);
    assert_true(fabs(predict(run).seconds / undisturbed_s - 1) < 1e-9);
    assert_true(calibrate(run, but_one, 0) > 0.3);
    yoke_run_destroy(run);
    yoke_context_destroy(context);
}

static void make_path(char path[64]) { (void)snprintf(path, 64, "run-disturbed-%ld.json", (long)getpid()); }

static void the_store_keeps_that_until_it_is_measured_again(void **state)
{
    (void)state;
    char path[64];
    make_path(path);
    yoke_context *context = start();
    for (int k = 0; k < 4; k++) { /* disturbed, read, measured again, read */
        yoke_run *run = open_run(context, path);
        if (k % 2 == 0) calibrate(run, k == 0 ? always : never, 0);
        assert_true(k < 2 ? predict(run).disturbed >= 0.99 : predict(run).disturbed == 0);
        yoke_run_destroy(run);
    }
    yoke_context_destroy(context);
    (void)remove(path);
}

static void a_round_tells_what_is_true_now(void **state)
{
    (void)state;
    const int64_t units = UNITS;
    const yoke_phase phase = {.work = "work", .calls = 1, .units = units};
    const yoke_round round = {.num_cuts = 1, .num_phases = 1, .cut_units = &units, .phases = &phase};
    const yoke_run_report report = {.seconds = &undisturbed_s};
    const yoke_assignment *assignment;
    yoke_context *context = start();
    yoke_run *run = open_run(context, NULL);
    calibrate(run, always, 0);
    assert_int_equal(yoke_run_plan(run, &round, 1, &assignment), YOKE_OK);
    assert_int_equal(yoke_run_begin(run), YOKE_OK);
    assert_int_equal(yoke_run_end(run, &report, NULL), YOKE_OK);
    assert_true(predict(run).disturbed == 0);
    yoke_run_destroy(run);
    yoke_context_destroy(context);
}

/* As a trial that reports the shortest of several calls, which a busy machine slows down. */
static yoke_status take_longer_than_told(void *user, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    static const double told_s = 1e-4;
    const double end_s = yoke_clock_s() + 10 * told_s;
    (void)user, (void)device, (void)units, (void)calls;
    while (yoke_clock_s() < end_s) continue;
    *seconds = told_s;
    return YOKE_OK;
}

static void power_at_work_is_that_of_the_time_that_trials_take(void **state)
{
    (void)state;
    static const double idle_w = 10, busy_w = 30;
    yoke_context *context = start();
    const yoke_run_options options = {.devices = "openmp", .objective = YOKE_OBJECTIVE_ENERGY, .declared = "idle=10,busy=30"};
    const yoke_run_calibration of = {.work = "work",
                                     .min_units = UNITS,
                                     .max_units = UNITS,
                                     .sizes = 2,
                                     .budget_s = 0.02,
                                     .trial = take_longer_than_told,
                                     .shortest = 1};
    const yoke_run_device *devices;
    yoke_run *run = NULL;
    int64_t count;
    assert_int_equal(yoke_run_create(context, &options, &run), YOKE_OK);
    assert_int_equal(yoke_run_calibrate(run, &of, NULL), YOKE_OK);
    assert_int_equal(yoke_run_devices(run, &devices, &count), YOKE_OK);
    assert_true(devices[0].dynamic_w > 0);
    assert_true(devices[0].idle_w + devices[0].dynamic_w < 1.2 * busy_w && devices[0].idle_w < 1.5 * idle_w);
    yoke_run_destroy(run);
    yoke_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(disturbed_trials_are_repeated_and_do_not_count),
    cmocka_unit_test(what_stays_disturbed_is_told),
    cmocka_unit_test(one_quiet_trial_is_enough_where_the_shortest_counts),
    cmocka_unit_test(power_at_work_is_that_of_the_time_that_trials_take),
    cmocka_unit_test(the_store_keeps_that_until_it_is_measured_again),
    cmocka_unit_test(a_round_tells_what_is_true_now),
};

UNIT_MAIN(tests, NULL, NULL)
