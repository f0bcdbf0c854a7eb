/* Rounds of a run on simulated machines, against what their files say. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "two_devices.h"
#include "unit.h"

/* ------------------------------------------------------------------------------------------------- least time */

static void shares_converge_to_the_best_ones(void **state)
{
    (void)state;
    failing memory = {0};
    worker w;
    worker_open(&w, &memory, TWO_DEVICES("", ""), NULL);
    worker_rounds(&w, N, 1);
    assert_int_equal(w.assignment->decision, YOKE_RUN_STARTED);
    assert_true(isnan(w.assignment->predicted.time_s));
    worker_rounds(&w, N, 8);
    assert_int_equal(w.assignment->decision, YOKE_RUN_BALANCED);
    expect_near(makespan(&w), best_s, 2e-3, "makespan");
    expect_near(w.measured.time_s, makespan(&w), 1e-9, "measured by virtual time");
    expect_near(w.assignment->predicted.time_s, w.measured.time_s, 2e-3, "predicted");
    worker_close(&w);
    assert_int_equal(memory.outstanding, 0);
}

static void a_share_may_be_fixed(void **state)
{
    (void)state;
    const double share = 0.3;
    const yoke_run_options options = {.share = &share};
    failing memory = {0};
    worker w;
    worker_open(&w, &memory, TWO_DEVICES("", ""), &options);
    worker_rounds(&w, N, 3);
    assert_int_equal(worker_units(&w, 1), 30000);
    assert_int_equal(w.assignment->decision, YOKE_RUN_FIXED);
    worker_close(&w);
}

static void units_and_frequencies_may_be_given(void **state)
{
    (void)state;
    const int64_t n = N, given[] = {30000, 70000}, more[] = {30000, 70001}, less[] = {-1, N + 1};
    const double hz[] = {1.2e9, NAN};
    const yoke_run_options options = {.objective = YOKE_OBJECTIVE_ENERGY};
    const yoke_phase phase = {.work = "work", .calls = 3, .units = n, .barrier = 1};
    yoke_round round = {.num_cuts = 1, .cut_units = &n, .num_phases = 1, .phases = &phase, .given_units = given, .given_hz = hz};
    failing memory = {0};
    worker w;
    worker_open(&w, &memory,
                TWO_DEVICES(", \"power\": {\"idle_w\": 10, \"busy_w\": 50}, \"clock\": {\"levels\": [{\"frequency_hz\": 1e9, "
                            "\"seconds_per_unit\": 8e-6}, {\"frequency_hz\": 2e9}]}",
                            ", \"power\": {\"idle_w\": 20, \"busy_w\": 100}"),
                &options);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(worker_round(&w, &round), YOKE_OK);
        assert_int_equal(w.assignment->decision, YOKE_RUN_FIXED);
        assert_int_equal(worker_units(&w, 0), 30000);
        assert_int_equal(worker_units(&w, 1), 70000);
        assert_true(w.assignment->frequency_hz[0] == 1e9);
        expect_near(w.measured.time_s, 3 * (1e-5 + 8e-6 * 30000), 1e-9, "time");
    }
    expect_near(w.assignment->predicted.time_s, w.measured.time_s, 1e-3, "predicted time");
    expect_near(w.assignment->predicted.energy_j, w.measured.energy_j, 1e-3, "predicted energy");
    const int64_t *const wrong[] = {more, less};
    for (int k = 0; k < 2; k++) {
        round.given_units = wrong[k];
        assert_int_equal(yoke_run_plan(w.run, &round, 1, &w.assignment), YOKE_ERROR_ARGUMENT);
        assert_non_null(strstr(yoke_last_error(w.context), "given_units"));
    }
    worker_close(&w);
    assert_int_equal(memory.outstanding, 0);
}

/* In a round of a unit each the CPU went on, up to a call of eight: that is learned, and not what the round took. */
static void calls_of_other_units_than_planned_may_be_told(void **state)
{
    (void)state;
    failing memory = {0};
    worker w;
    const int64_t n = 2, units[] = {8, 1}, wrong[] = {-1, 1};
    const double seconds[] = {8e-3, 2e-2}, busy_s[] = {1.5e-2, 2e-2};
    const yoke_phase phase = {.work = "work", .calls = 1, .units = n, .barrier = 1};
    const yoke_round round = {.num_cuts = 1, .cut_units = &n, .num_phases = 1, .phases = &phase};
    const yoke_run_report refused[] = {{.seconds = seconds, .units = units},
                                       {.seconds = seconds, .busy_s = busy_s},
                                       {.seconds = seconds, .units = wrong, .busy_s = busy_s}};
    const yoke_run_report report = {.seconds = seconds, .units = units, .busy_s = busy_s};
    yoke_prediction call;
    worker_open(&w, &memory, TWO_DEVICES("", ""), NULL);
    if (yoke_run_plan(w.run, &round, 1, &w.assignment) || yoke_run_begin(w.run)) fail_msg("%s", yoke_last_error(w.context));
    for (int k = 0; k < 3; k++) assert_int_equal(yoke_run_end(w.run, &refused[k], NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_run_end(w.run, &report, NULL), YOKE_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(yoke_run_predict(w.run, "work", i, (double)units[i], NAN, 1, &call), YOKE_OK);
        expect_near(call.seconds, seconds[i], 1e-6, "learned");
    }
    worker_close(&w);
    assert_int_equal(memory.outstanding, 0);
}

static void one_kind_alone_may_be_asked_for(void **state)
{
    (void)state;
    const yoke_run_use uses[] = {YOKE_RUN_HOSTS, YOKE_RUN_ACCELERATORS};
    for (int k = 0; k < 2; k++) {
        const yoke_run_options options = {.use = uses[k]};
        failing memory = {0};
        worker w;
        worker_open(&w, &memory, TWO_DEVICES("", ""), &options);
        assert_true(w.devices[k].active && !w.devices[1 - k].active);
        worker_rounds(&w, N, 2);
        assert_int_equal(worker_units(&w, k), N);
        worker_close(&w);
    }
}

static void zero_units_and_fewer_units_than_devices_are_worked(void **state)
{
    (void)state;
    const yoke_run_options energies = {.objective = YOKE_OBJECTIVE_ENERGY};
    for (int k = 0; k < 2; k++) {
        failing memory = {0};
        worker w;
        worker_open(&w, &memory, TWO_DEVICES(", \"power\": {\"idle_w\": 1, \"busy_w\": 2}", ", \"power\": {\"idle_w\": 1, \"busy_w\": 2}"),
                    k ? &energies : NULL);
        worker_rounds(&w, 0, 2);
        assert_int_equal(worker_units(&w, 0) + worker_units(&w, 1), 0);
        worker_rounds(&w, 1, 12); /* one of them never gets any: that must not be waited for */
        assert_int_equal(worker_units(&w, 0) + worker_units(&w, 1), 1);
        worker_close(&w);
    }
}

static void one_device_has_everything(void **state)
{
    (void)state;
    const yoke_run_options options = {.devices = "sim:gpu"};
    failing memory = {0};
    worker w;
    worker_open(&w, &memory, TWO_DEVICES("", ""), &options);
    assert_int_equal(w.num_devices, 1);
    worker_rounds(&w, N, 2);
    assert_int_equal(worker_units(&w, 0), N);
    expect_near(w.assignment->predicted.time_s, 1e-4 + 1e-6 * N, 1e-6, "predicted");
    worker_close(&w);
}

/* Where rounds go as predicted the planner is asked less and less often; a device that becomes slower has to be noticed all the same. */
static void a_change_of_speed_is_planned_for_though_searches_wait(void **state)
{
    (void)state;
    const yoke_run_options options = {.deadline_s = 100}; /* so that the planner decides */
    const int64_t n = N;
    const yoke_phase phase = {.work = "work", .calls = 1, .units = N, .barrier = 1};
    const yoke_round round = {.num_cuts = 1, .cut_units = &n, .num_phases = 1, .phases = &phase};
    failing memory = {0};
    worker w;
    double makespan_s = 0;
    worker_open(&w, &memory, TWO_DEVICES("", ""), &options);
    for (int k = 0; k < 40; k++) {
        const double slower = k < 30 ? 1 : 4;
        assert_int_equal(yoke_run_plan(w.run, &round, 1, &w.assignment), YOKE_OK);
        const double seconds[] = {3e-6 * (double)worker_units(&w, 0), slower * 1e-6 * (double)worker_units(&w, 1)};
        const yoke_run_report report = {.seconds = seconds};
        makespan_s = fmax(seconds[0], seconds[1]);
        assert_int_equal(yoke_run_begin(w.run), YOKE_OK);
        assert_int_equal(yoke_machine_sleep(w.context, makespan_s), YOKE_OK);
        assert_int_equal(yoke_run_end(w.run, &report, NULL), YOKE_OK);
        if (k == 29) expect_near(makespan_s, N / (1 / 3e-6 + 1 / 1e-6), 0.01, "makespan before");
        if (k == 34) expect_near(makespan_s, N / (1 / 3e-6 + 1 / 4e-6), 0.02, "makespan four rounds after");
    }
    assert_int_equal(w.assignment->decision, YOKE_RUN_KEPT);
    worker_close(&w);
}

/* ------------------------------------------------------------------------------------------------------ store */

/* Replaces every text `from` of a file by `to`. */
static void edit(const char *path, const char *from, const char *to)
{
    enum { MOST = 20000 };
    static char text[MOST], edited[MOST];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, MOST - 1, file)] = '\0';
    fclose(file);
    edited[0] = '\0';
    const char *rest = text;
    for (const char *at; (at = strstr(rest, from)) != NULL; rest = at + strlen(from)) {
        strncat(edited, rest, (size_t)(at - rest));
        strcat(edited, to);
    }
    assert_ptr_not_equal(rest, text);
    strcat(edited, rest);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(edited, file);
    fclose(file);
}

/* Powers that the store has, 60 +- 0.4 W at rest and 160 +- 5 W at work: predictions are as uncertain as these, and where the store has no intervals it is not known. */
static void powers_of_the_store_are_as_uncertain_as_it_says(void **state)
{
    (void)state;
    static const char *const empty = "\"idle_power_w\": null, \"idle_power_interval_w\": null,\n      \"busy_power_w\": null, "
                                     "\"busy_power_interval_w\": null",
                             *const known = "\"idle_power_w\": 60, \"idle_power_interval_w\": 0.4,\n      \"busy_power_w\": 160, "
                                            "\"busy_power_interval_w\": 5",
                             *const vague = "\"idle_power_w\": 60, \"idle_power_interval_w\": null,\n      \"busy_power_w\": 160, "
                                            "\"busy_power_interval_w\": null";
    static const char *const machine_text =
        "{\"name\": \"m\", \"devices\": [{\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": 1e-6}]}";
    for (int k = 0; k < 2; k++) {
        char path[] = "/tmp/yoke-run-store-XXXXXX";
        int descriptor = mkstemp(path);
        assert_true(descriptor >= 0);
        close(descriptor);
        remove(path);
        for (int run = 0; run < 3; run++) { /* the third reads what the second has written */
            const yoke_run_options options = {.store = path, .objective = run == 0 ? YOKE_OBJECTIVE_TIME : YOKE_OBJECTIVE_ENERGY};
            failing memory = {0};
            worker w;
            worker_open(&w, &memory, machine_text, &options);
            worker_rounds(&w, N, run == 0 ? 3 : 1);
            const yoke_cost *predicted = &w.assignment->predicted;
            if (run > 0) expect_near(predicted->energy_j, 160 * predicted->time_s, 1e-6, "energy");
            if (run > 0 && k == 1) assert_true(isnan(predicted->energy_uncertainty_j));
            if (run > 0 && k == 0) {
                const double of_time_j = 160 * predicted->time_uncertainty_s, of_powers_j = 5 * predicted->time_s;
                assert_true(predicted->energy_uncertainty_j > 0.99 * of_powers_j);
                assert_true(predicted->energy_uncertainty_j < 1.7 * of_powers_j + of_time_j); /* one part for both powers */
            }
            worker_close(&w);
            if (run == 0) edit(path, empty, k == 0 ? known : vague);
        }
        remove(path);
    }
}

static void what_was_learned_is_there_in_the_next_run(void **state)
{
    (void)state;
    char path[] = "/tmp/yoke-run-store-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    remove(path);
    const yoke_run_options options = {.store = path};
    const char *const text = "a kernel", *const other = "another kernel";
    const char *texts[] = {text, text, other};
    for (int run = 0; run < 3; run++) {
        failing memory = {0};
        worker w;
        worker_open(&w, &memory, TWO_DEVICES("", ""), &options);
        assert_int_equal(yoke_run_work(w.run, "work", &texts[run], 1), YOKE_OK);
        worker_rounds(&w, N, 1);
        if (run == 1) expect_near(makespan(&w), best_s, 5e-3, "makespan of the first round");
        /* Another kernel's times are not this one's. */
        if (run != 1) assert_int_equal(w.assignment->decision, YOKE_RUN_STARTED);
        assert_int_equal(yoke_run_work(w.run, "work", &other, 1), YOKE_ERROR_ARGUMENT);
        worker_rounds(&w, N, 7);
        worker_close(&w);
        assert_int_equal(memory.outstanding, 0);
    }
    remove(path);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(shares_converge_to_the_best_ones),
    cmocka_unit_test(a_share_may_be_fixed),
    cmocka_unit_test(units_and_frequencies_may_be_given),
    cmocka_unit_test(calls_of_other_units_than_planned_may_be_told),
    cmocka_unit_test(one_kind_alone_may_be_asked_for),
    cmocka_unit_test(zero_units_and_fewer_units_than_devices_are_worked),
    cmocka_unit_test(one_device_has_everything),
    cmocka_unit_test(a_change_of_speed_is_planned_for_though_searches_wait),
    cmocka_unit_test(powers_of_the_store_are_as_uncertain_as_it_says),
    cmocka_unit_test(what_was_learned_is_there_in_the_next_run),
};

UNIT_MAIN(tests, NULL, NULL)
