/* Calibrating a run on simulated machines: what is known afterwards is what their files say. */
#include <math.h>

#include "unit.h"
#include "worker.h"

enum { N = 200000 };

/* A GPU with a start, a cliff at 100 000 units, and clocks whose start does not change; a CPU with one clock; memory and a host. */
#define MACHINE(gpu)                                                                                                                    \
    "{\"name\": \"node\", \"hosting_w\": 15, \"host\": {\"idle_w\": 40}, \"dram\": {\"idle_w\": 5, \"busy_w\": 12}, \"devices\": ["     \
    "{\"name\": \"cpu\", \"class\": \"cpu\", \"seconds_per_unit\": [[0, 2e-6], [20000, 2e-6], [40000, 3e-6]], \"power\": {\"idle_w\": " \
    "50, "                                                                                                                              \
    "\"busy_w\": 150}},"                                                                                                                \
    "{\"name\": \"gpu\", \"class\": \"gpu\", \"start_s\": 2e-4" gpu                                                                     \
    ", \"power\": {\"idle_w\": 30, \"busy_w\": 230}, \"clock\": {\"levels\": ["                                                         \
    "{\"frequency_hz\": 0.8e9, \"seconds_per_unit\": [[0, 1.6e-6], [100000, 1.6e-6], [101000, 2.4e-6]], \"power\": {\"idle_w\": 28, "   \
    "\"busy_w\": "                                                                                                                      \
    "100}},"                                                                                                                            \
    "{\"frequency_hz\": 1.2e9, \"seconds_per_unit\": [[0, 1.2e-6], [100000, 1.2e-6], [101000, 1.8e-6]], \"power\": {\"idle_w\": 29, "   \
    "\"busy_w\": "                                                                                                                      \
    "150}},"                                                                                                                            \
    "{\"frequency_hz\": 1.6e9, \"seconds_per_unit\": [[0, 1e-6], [100000, 1e-6], [101000, 1.5e-6]]}]}}]}"

static double cpu_s(double units)
{
    double per_unit = units <= 20000 ? 2e-6 : units >= 40000 ? 3e-6 : 2e-6 + 1e-6 * (units - 20000) / 20000;
    return units > 0 ? units * per_unit : 0;
}

static double gpu_s(int level, double units)
{
    static const double per_unit[] = {1.6e-6, 1.2e-6, 1e-6};
    double slower = units <= 100000 ? 1 : units >= 101000 ? 1.5 : 1 + 0.5 * (units - 100000) / 1000;
    return units > 0 ? 2e-4 + units * per_unit[level] * slower : 0;
}

static yoke_status try_device(void *user, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    worker *w = user;
    yoke_status status = yoke_queue_record(w->queues[device], w->begin[device]);
    for (int64_t k = 0; k < calls && status == YOKE_OK; k++)
        status = yoke_queue_launch(w->queues[device], w->functions[device], 1, 1, units, NULL, 0);
    if (status == YOKE_OK) status = yoke_queue_record(w->queues[device], w->end[device]);
    if (status == YOKE_OK) status = yoke_queue_finish(w->queues[device]);
    if (status == YOKE_OK) status = yoke_event_elapsed_s(w->begin[device], w->end[device], seconds);
    *seconds /= (double)calls;
    return status;
}

static void calibrate(worker *w, yoke_run_accuracy *accuracy)
{
    const yoke_run_calibration of = {.work = "work", .min_units = 100, .max_units = N, .trial = try_device, .user = w};
    if (yoke_run_calibrate(w->run, &of, accuracy) != YOKE_OK) fail_msg("%s", yoke_last_error(w->context));
}

static void the_first_round_is_planned_and_is_the_best(void **state)
{
    (void)state;
    const int64_t sizes[] = {3000, 60000, N};
    const yoke_run_options options = {.objective = YOKE_OBJECTIVE_ENERGY};
    for (int k = 0; k < 3; k++) {
        failing memory = {0};
        worker w;
        yoke_run_accuracy accuracy[WORKER_DEVICES];
        double best = INFINITY;
        const int64_t n = sizes[k];
        worker_open(&w, &memory, MACHINE(""), &options);
        calibrate(&w, accuracy);
        worker_rounds(&w, n, 1);
        assert_true(w.assignment->decision == YOKE_RUN_PLANNED);
        static const double idle_w[] = {28, 29, 30}, busy_w[] = {100, 150, 230};
        for (int level = 0; level < 3; level++)
            for (int64_t units = 0; units <= n; units += n / 2000 + 1) {
                double c = cpu_s((double)(n - units)), g = gpu_s(level, (double)units), t = fmax(c, g);
                best = fmin(best,
                            (40 + 5 + 50 + idle_w[level]) * t + (100 + 7) * c + (busy_w[level] - idle_w[level]) * g + 15 * fmax(0, g - c));
            }
        if (!(w.measured.energy_j <= 1.02 * best)) fail_msg("%lld units: %g J instead of %g J", (long long)n, w.measured.energy_j, best);
        const yoke_cost *predicted = &w.assignment->predicted;
        if (!(fabs(predicted->energy_j - w.measured.energy_j) <= fmax(predicted->energy_uncertainty_j, 0.01 * w.measured.energy_j)))
            fail_msg("%lld units: predicted %g +- %g J, took %g J", (long long)n, predicted->energy_j, predicted->energy_uncertainty_j,
                     w.measured.energy_j);
        worker_close(&w);
        assert_int_equal(memory.outstanding, 0);
    }
}

static void powers_are_those_of_the_machine(void **state)
{
    (void)state;
    const yoke_run_options options = {.objective = YOKE_OBJECTIVE_ENERGY};
    failing memory = {0};
    worker w;
    worker_open(&w, &memory, MACHINE(""), &options);
    calibrate(&w, NULL);
    assert_int_equal(yoke_run_devices(w.run, &w.devices, &w.num_devices), YOKE_OK);
    const double idle_w[] = {50, 30}, dynamic_w[] = {100 + 7, 200}; /* the memory works for the CPU */
    for (int i = 0; i < 2; i++) {
        if (!(fabs(w.devices[i].idle_w / idle_w[i] - 1) < 1e-3)) fail_msg("device %d: %g W idle", i, w.devices[i].idle_w);
        if (!(fabs(w.devices[i].dynamic_w / dynamic_w[i] - 1) < 1e-2)) fail_msg("device %d: %g W dynamic", i, w.devices[i].dynamic_w);
    }
    worker_close(&w);
}

static void sizes_held_out_tell_how_well_times_are_known(void **state)
{
    (void)state;
    failing memory = {0};
    worker w;
    yoke_run_accuracy accuracy[WORKER_DEVICES];
    worker_open(&w, &memory, MACHINE(""), NULL);
    calibrate(&w, accuracy);
    for (int i = 0; i < 2; i++) {
        assert_true(accuracy[i].trials > 8 && accuracy[i].seconds > 0);
        if (!(accuracy[i].median_error < 0.01)) fail_msg("device %d: median error %g", i, accuracy[i].median_error);
        if (!(accuracy[i].max_error < 0.1)) fail_msg("device %d: largest error %g", i, accuracy[i].max_error);
    }
    worker_close(&w);
}

static void a_device_that_fails_at_a_trial_is_left_out(void **state)
{
    (void)state;
    failing memory = {0};
    worker w;
    worker_open(&w, &memory, MACHINE(", \"fault\": {\"call\": 30, \"kind\": \"lost\"}"), NULL);
    calibrate(&w, NULL);
    assert_int_equal(yoke_run_devices(w.run, &w.devices, &w.num_devices), YOKE_OK);
    assert_true(w.devices[0].active && !w.devices[1].active);
    worker_rounds(&w, N, 1);
    assert_int_equal(worker_units(&w, 0), N);
    worker_close(&w);
}

/* Calibrated alone, 2 and 2.2 us a unit; beside each other three times as long. */
static void what_devices_lose_beside_each_other_is_learned_from_rounds(void **state)
{
    (void)state;
    const char *const text =
        "{\"name\": \"m\", \"contention\": 2, \"devices\": [{\"name\": \"cpu\", \"class\": \"cpu\", \"seconds_per_unit\": "
        "2e-6},{\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": 2.2e-6}]}";
    failing memory = {0};
    worker w;
    worker_open(&w, &memory, text, NULL);
    calibrate(&w, NULL);
    worker_rounds(&w, N, 1);
    assert_true(worker_units(&w, 0) > N / 3 && worker_units(&w, 1) > N / 3); /* nothing is known of it yet */
    worker_rounds(&w, N, 5);
    assert_int_equal(worker_units(&w, 0), N);
    assert_true(fabs(w.assignment->predicted.time_s / (2e-6 * N) - 1) < 0.02);
    int together = 0;
    for (int k = 0; k < 30; k++) {
        worker_rounds(&w, N, 1);
        together += worker_units(&w, 0) < N;
    }
    assert_true(together >= 1 && together <= 3); /* it is asked again, and again it does not pay */
    worker_close(&w);
}

static yoke_status strange_trial(void *user, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    (void)device;
    (void)units;
    (void)calls;
    *seconds = *(const double *)user;
    return YOKE_OK;
}

static yoke_status interrupted_trial(void *user, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    (void)device;
    (void)units;
    (void)calls;
    (void)seconds;
    return yoke_fail(user, YOKE_ERROR_INTERRUPTED, "interrupted");
}

static void trials_that_tell_no_time_are_refused(void **state)
{
    (void)state;
    double seconds[] = {NAN, 0, -1, INFINITY};
    failing memory = {0};
    worker w;
    worker_open(&w, &memory, MACHINE(""), NULL);
    for (int k = 0; k < 4; k++) {
        const yoke_run_calibration of = {.work = "work", .min_units = 1, .max_units = 10, .trial = strange_trial, .user = &seconds[k]};
        assert_int_equal(yoke_run_calibrate(w.run, &of, NULL), YOKE_ERROR_NUMERIC);
    }
    const yoke_run_calibration interrupted = {
        .work = "work", .min_units = 1, .max_units = 10, .trial = interrupted_trial, .user = w.context};
    assert_int_equal(yoke_run_calibrate(w.run, &interrupted, NULL), YOKE_ERROR_INTERRUPTED);
    yoke_run_calibration wrong[7];
    for (int k = 0; k < 7; k++) wrong[k] = interrupted;
    wrong[0].work = "";
    wrong[1].trial = NULL;
    wrong[2].min_units = 0;
    wrong[3].max_units = 0;
    wrong[4].sizes = 1000;
    wrong[5].budget_s = NAN;
    wrong[6].max_units = INT64_MAX;
    for (int k = 0; k < 7; k++)
        if (yoke_run_calibrate(w.run, &wrong[k], NULL) != YOKE_ERROR_ARGUMENT) fail_msg("calibration %d was taken", k);
    worker_close(&w);
    assert_int_equal(memory.outstanding, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_first_round_is_planned_and_is_the_best),
    cmocka_unit_test(powers_are_those_of_the_machine),
    cmocka_unit_test(sizes_held_out_tell_how_well_times_are_known),
    cmocka_unit_test(a_device_that_fails_at_a_trial_is_left_out),
    cmocka_unit_test(what_devices_lose_beside_each_other_is_learned_from_rounds),
    cmocka_unit_test(trials_that_tell_no_time_are_refused),
};

UNIT_MAIN(tests, NULL, NULL)
