/* Devices that disturb each other, where no trial tells it: simulated machines, whose files say how much. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "worker.h"

enum { N = 100000 };

/* A CPU of 1 us a unit and a GPU that takes so much longer, both so many times as long beside the other one, less 1. */
static void open_pair(worker *w, failing *memory, double slower, double contention, double noise, const yoke_run_options *options)
{
    char text[400];
    snprintf(text, sizeof text,
             "{\"name\": \"m\", \"contention\": %g, \"devices\": [{\"name\": \"cpu\", \"class\": \"cpu\", \"seconds_per_unit\": 1e-6, "
             "\"noise\": %g},{\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": %g, \"noise\": %g}]}",
             contention, noise, slower * 1e-6, noise);
    worker_open(w, memory, text, options);
}

static int is_alone(const worker *w) { return worker_units(w, 0) == N || worker_units(w, 1) == N; }

/* Seconds of so many rounds; *alone: how many the CPU had alone. */
static double work(worker *w, int rounds, int *alone)
{
    double seconds = 0;
    *alone = 0;
    for (int k = 0; k < rounds; k++) {
        worker_rounds(w, N, 1);
        seconds += w->measured.time_s;
        *alone += worker_units(w, 0) == N;
    }
    return seconds;
}

/*
 * What of all units per second of the CPU alone both do together: (1 + 1 / slower) / (1 + contention).  Two devices on the same cores share these (contention 1
 * where both are as fast); two that need most of the memory's bandwidth each lose a part of it.
 */
static void where_the_cores_are_the_same_the_faster_device_has_all(void **state)
{
    (void)state;
    static const struct {
        double slower, contention;
    } pairs[] = {
        {4.5, 1},   /* compute-bound, the slower one gets 18 %: together 0.61 */
        {1.8, 1},   /* 0.78 */
        {4, 0.4},   /* memory-bound, 20 %: 0.89 */
        {8, 0.25},  /* 0.9 */
        {1.1, 1.2}, /* 0.87 */
    };
    for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++)
        for (int noisy = 0; noisy < 2; noisy++) {
            failing memory = {0};
            worker w;
            int alone;
            open_pair(&w, &memory, pairs[k].slower, pairs[k].contention, noisy ? 0.02 : 0, NULL);
            (void)work(&w, 30, &alone);
            const double seconds = work(&w, 200, &alone);
            if (!(seconds < 1.01 * 200 * 1e-6 * N) || alone < 190)
                fail_msg("%g times slower, contention %g, noise %d: %g of the CPU's speed alone, which had %d of 200 rounds",
                         pairs[k].slower, pairs[k].contention, noisy, 200e-6 * N / seconds, alone);
            worker_close(&w);
            assert_int_equal(memory.outstanding, 0);
        }
}

/* Devices that do not disturb each other, or little: they share, and what was tried costs no more than a twentieth of all. */
static void where_devices_gain_from_each_other_they_share(void **state)
{
    (void)state;
    static const double slower[] = {1, 2, 4.5, 10}, contention[] = {0, 0.03};
    for (int k = 0; k < 8; k++) {
        failing memory = {0};
        worker w;
        int alone;
        const double best_s = 1e-6 * N * (1 + contention[k / 4]) / (1 + 1 / slower[k % 4]);
        open_pair(&w, &memory, slower[k % 4], contention[k / 4], 0, NULL);
        (void)work(&w, 3, &alone);
        const double tried_s = work(&w, 60, &alone), shared_s = work(&w, 60, &alone);
        if (!(tried_s < 1.07 * 60 * best_s) || !(shared_s < 1.01 * 60 * best_s) || alone > 0)
            fail_msg("%g times slower, contention %g: %g, then %g of the best speed", slower[k % 4], contention[k / 4],
                     60 * best_s / tried_s, 60 * best_s / shared_s);
        worker_close(&w);
    }
}

/* Where a device alone is far from being better a trial would be long: it waits until it is no more than a twentieth of all rounds. */
static void a_trial_alone_waits_until_it_costs_little(void **state)
{
    (void)state;
    failing memory = {0};
    worker w;
    double sum_s = 0;
    int tried = 0;
    open_pair(&w, &memory, 1, 0, 0, NULL);
    for (int k = 0; k < 100; k++) {
        worker_rounds(&w, N, 1);
        if (is_alone(&w)) {
            tried++;
            assert_int_equal(w.assignment->decision, YOKE_RUN_EXPLORED);
            if (!(0.5e-6 * N * tried < 0.0501 * (sum_s + 0.5e-6 * N))) fail_msg("trial %d comes after %g s", tried, sum_s);
        }
        sum_s += w.measured.time_s;
    }
    assert_int_equal(tried, 2);
    worker_close(&w);
}

/* What both have to do, or a share that is fixed, is no question. */
static void nothing_is_tried_where_both_have_to_work(void **state)
{
    (void)state;
    const double share = 0.3;
    const yoke_run_options options[] = {{.use = YOKE_RUN_BOTH}, {.share = &share}};
    for (int k = 0; k < 2; k++) {
        failing memory = {0};
        worker w;
        open_pair(&w, &memory, 2, 1, 0, &options[k]);
        for (int round = 0; round < 60; round++) {
            worker_rounds(&w, N, 1);
            assert_false(is_alone(&w));
        }
        worker_close(&w);
    }
}

/* A later run knows from the store what devices lose. */
static void what_they_lose_is_kept_for_later_runs(void **state)
{
    (void)state;
    static const char *const path = "alone-test.store.json";
    const yoke_run_options options = {.store = path};
    remove(path);
    for (int k = 0; k < 2; k++) {
        failing memory = {0};
        worker w;
        int alone;
        open_pair(&w, &memory, 2, 1, 0, &options);
        (void)work(&w, k ? 1 : 60, &alone);
        if (k) assert_int_equal(alone, 1);
        worker_close(&w);
    }
    remove(path);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(where_the_cores_are_the_same_the_faster_device_has_all),
    cmocka_unit_test(where_devices_gain_from_each_other_they_share),
    cmocka_unit_test(a_trial_alone_waits_until_it_costs_little),
    cmocka_unit_test(nothing_is_tried_where_both_have_to_work),
    cmocka_unit_test(what_they_lose_is_kept_for_later_runs),
};

UNIT_MAIN(tests, NULL, NULL)
