/* What devices lose beside each other, and cliffs there: found by rounds, or by a trial of all together. */
#include <math.h>

#include "calibrated.h"

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
    double seconds = 0;
    for (int k = 0; k < 250; k++) {
        worker_rounds(&w, N, 1);
        together += worker_units(&w, 0) < N;
        seconds += w.measured.time_s;
    }
    assert_true(together >= 1 && together <= 3); /* it is asked again, and again it does not pay */
    if (!(seconds < 1.01 * 250 * 2e-6 * N)) fail_msg("asking costs %g of the time", seconds / (250 * 2e-6 * N) - 1);
    worker_close(&w);
}

/* A CPU that has worked beside the GPU on small meshes, and alone beyond its cliff: beside the GPU the cliff is there as well. */
static void a_cliff_that_trials_saw_is_known_beside_others(void **state)
{
    (void)state;
    enum { SMALL = 45000, LARGE = 40000 }; /* of all units, of the CPU */
    failing memory = {0};
    worker w;
    yoke_prediction before, beyond;
    worker_open(&w, &memory, MACHINE(""), NULL);
    calibrate(&w, NULL);
    worker_rounds(&w, SMALL, 4);
    assert_true(worker_units(&w, 0) > 0.25 * SMALL && worker_units(&w, 0) < 20000);
    assert_int_equal(yoke_run_predict(w.run, "work", 0, (double)worker_units(&w, 0), NAN, 1, &before), YOKE_OK);
    assert_int_equal(yoke_run_predict(w.run, "work", 0, LARGE, NAN, 1, &beyond), YOKE_OK);
    assert_true(fabs(before.seconds / cpu_s((double)worker_units(&w, 0)) - 1) < 0.01);
    if (!(fabs(beyond.seconds / cpu_s(LARGE) - 1) < 0.03)) fail_msg("predicted %g s, the machine takes %g s", beyond.seconds, cpu_s(LARGE));
    worker_close(&w);
    assert_int_equal(memory.outstanding, 0);
}

static yoke_status try_together(void *user, const int64_t *units, int64_t calls, double *seconds, int64_t *failed)
{
    worker *w = user;
    yoke_status status = YOKE_OK;
    for (int64_t i = 0; i < w->num_devices && status == YOKE_OK; i++) {
        *failed = i;
        status = yoke_queue_record(w->queues[i], w->begin[i]);
        for (int64_t k = 0; k < calls && status == YOKE_OK; k++)
            status = yoke_queue_launch(w->queues[i], w->functions[i], 1, 1, units[i], NULL, 0);
        if (status == YOKE_OK) status = yoke_queue_record(w->queues[i], w->end[i]);
    }
    for (int64_t i = 0; i < w->num_devices && status == YOKE_OK; i++) {
        *failed = i;
        status = yoke_queue_finish(w->queues[i]);
        if (status == YOKE_OK) status = yoke_event_elapsed_s(w->begin[i], w->end[i], &seconds[i]);
        seconds[i] /= (double)calls;
    }
    return status;
}

/* Alone 2 and 2.2 us a unit, beside each other three times as long: the first round is for one device.  A run with the same store knows it at all sizes, too. */
static void what_devices_lose_together_is_measured_by_a_trial_of_all(void **state)
{
    (void)state;
    const char *const text =
        "{\"name\": \"m\", \"contention\": 2, \"devices\": [{\"name\": \"cpu\", \"class\": \"cpu\", \"seconds_per_unit\": "
        "2e-6},{\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": 2.2e-6}]}";
    static const char *const path = "together-test.store.json";
    const yoke_run_options options = {.store = path};
    failing memory = {0};
    worker w;
    yoke_run_accuracy accuracy[WORKER_DEVICES];
    yoke_prediction alone, beside;
    remove(path);
    worker_open(&w, &memory, text, &options);
    const yoke_run_calibration of = {
        .work = "work", .min_units = 100, .max_units = N, .trial = worker_try, .together = try_together, .user = &w};
    if (yoke_run_calibrate(w.run, &of, accuracy) != YOKE_OK) fail_msg("%s", yoke_last_error(w.context));
    for (int i = 0; i < 2; i++) {
        if (!(fabs(3 * accuracy[i].contention - 1) < 0.01)) fail_msg("device %d: %g of its speed", i, accuracy[i].contention);
        assert_int_equal(yoke_run_predict(w.run, "work", i, 1000, NAN, 0, &alone), YOKE_OK);
        assert_int_equal(yoke_run_predict(w.run, "work", i, 1000, NAN, 1, &beside), YOKE_OK);
        assert_true(fabs(beside.seconds / alone.seconds / 3 - 1) < 0.01);
    }
    const char *kept = NULL;
    assert_int_equal(yoke_run_save(w.run, &kept), YOKE_OK);
    assert_string_equal(kept, path);
    worker_rounds(&w, N, 1);
    assert_int_equal(worker_units(&w, 0), N);
    worker_close(&w);
    worker_open(&w, &memory, text, &options);
    worker_rounds(&w, N, 1);
    assert_int_equal(worker_units(&w, 0), N);
    assert_int_equal(yoke_run_predict(w.run, "work", 1, 1000, NAN, 0, &alone), YOKE_OK);
    assert_int_equal(yoke_run_predict(w.run, "work", 1, 1000, NAN, 1, &beside), YOKE_OK);
    if (!(fabs(beside.seconds / alone.seconds / 3 - 1) < 0.01)) fail_msg("%g times as long", beside.seconds / alone.seconds);
    worker_close(&w);
    remove(path);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_cliff_that_trials_saw_is_known_beside_others),
    cmocka_unit_test(what_devices_lose_together_is_measured_by_a_trial_of_all),
    cmocka_unit_test(what_devices_lose_beside_each_other_is_learned_from_rounds),
};

UNIT_MAIN(tests, NULL, NULL)
