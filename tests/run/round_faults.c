/* Rounds whose devices fail, whose reports make no sense, and whose memory ends. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "two_devices.h"
#include "unit.h"

static void reports_that_are_no_numbers_teach_nothing(void **state)
{
    (void)state;
    failing memory = {0};
    worker w;
    const int64_t n = N;
    const yoke_phase phase = {.work = "work", .calls = 1, .units = N, .barrier = 1};
    const yoke_round round = {.num_cuts = 1, .cut_units = &n, .num_phases = 1, .phases = &phase};
    worker_open(&w, &memory, TWO_DEVICES("", ""), NULL);
    worker_rounds(&w, N, 6);
    const double absurd[] = {NAN, INFINITY, -1, 0};
    for (int k = 0; k < 4; k++) {
        const double seconds[] = {absurd[k], absurd[3 - k]}, calls[] = {absurd[k]}, moved[] = {absurd[k], absurd[k]};
        const yoke_run_report report = {.seconds = seconds, .calls = calls, .moved_s = moved};
        assert_int_equal(yoke_run_plan(w.run, &round, 1, &w.assignment), YOKE_OK);
        assert_int_equal(yoke_run_begin(w.run), YOKE_OK);
        assert_int_equal(yoke_run_end(w.run, &report, NULL), YOKE_OK);
    }
    worker_rounds(&w, N, 2);
    expect_near(makespan(&w), best_s, 5e-3, "makespan");
    worker_close(&w);
}

static void a_device_that_fails_is_left_out_and_its_units_are_planned_again(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        const yoke_run_options energies = {.objective = YOKE_OBJECTIVE_ENERGY};
        failing memory = {0};
        worker w;
        /* 4 calls of the driver to open what the worker needs, 5 in each round: in its fourth round. */
        worker_open(&w, &memory,
                    TWO_DEVICES(", \"power\": {\"idle_w\": 1, \"busy_w\": 2}",
                                ", \"fault\": {\"call\": 22, \"kind\": \"lost\"}, \"power\": {\"idle_w\": 1, \"busy_w\": 2}"),
                    k ? &energies : NULL);
        worker_rounds(&w, N, 3);
        assert_true(worker_units(&w, 1) > 0);
        worker_rounds(&w, N, 3);
        assert_int_equal(worker_units(&w, 0), N);
        assert_false(w.devices[1].active);
        assert_non_null(strstr(w.devices[1].why, "machine file prescribes"));
        char *text = NULL;
        assert_int_equal(yoke_run_record(w.run, &text), YOKE_OK);
        assert_non_null(strstr(text, "\"failed\": [\n    {\n      \"device\": \"sim:gpu\""));
        yoke_release(w.context, text);
        worker_close(&w);
        assert_int_equal(memory.outstanding, 0);
    }
}

static void the_ranges_before_a_failure_are_told(void **state)
{
    (void)state;
    failing memory = {0};
    worker w;
    const int64_t n = N;
    const yoke_phase phase = {.work = "work", .calls = 1, .units = N, .barrier = 1};
    const yoke_round round = {.num_cuts = 1, .cut_units = &n, .num_phases = 1, .phases = &phase};
    worker_open(&w, &memory, TWO_DEVICES("", ""), NULL);
    assert_int_equal(yoke_run_plan(w.run, &round, 1, &w.assignment), YOKE_OK);
    assert_null(w.assignment->before);
    int64_t first = w.assignment->first[0][1];
    assert_int_equal(yoke_run_begin(w.run), YOKE_OK);
    assert_int_equal(yoke_run_fail(w.run, 0, "it burns"), YOKE_OK);
    assert_int_equal(yoke_run_plan(w.run, &round, 1, &w.assignment), YOKE_OK);
    assert_int_equal(w.assignment->before[0][1], first);
    assert_int_equal(w.assignment->first[0][1], 0);
    assert_int_equal(yoke_run_fail(w.run, 1, "it burns, too"), YOKE_ERROR_UNAVAILABLE);
    assert_non_null(strstr(yoke_last_error(w.context), "sim:cpu: it burns; sim:gpu: it burns, too"));
    assert_int_equal(yoke_run_plan(w.run, &round, 1, &w.assignment), YOKE_ERROR_UNAVAILABLE);
    worker_close(&w);
}

static void rounds_outside_their_contract_are_refused(void **state)
{
    (void)state;
    failing memory = {0};
    worker w;
    const int64_t n = 10, negative = -1;
    const double falling[] = {0, 1, 2, 3, 4, 5, 6, 5, 8, 9, 10}, broken[] = {0, 1, 2, NAN, 4, 5, 6, 7, 8, 9, 10};
    const yoke_phase good = {.work = "work", .calls = 1, .units = 10, .barrier = 1};
    yoke_phase bad[8];
    for (int k = 0; k < 8; k++) bad[k] = good;
    bad[0].calls = 0;
    bad[1].calls = NAN;
    bad[2].units = -1;
    bad[3].cut = 1;
    bad[4].cut = -1;
    bad[4].device = 7;
    bad[5].call_seconds = -1;
    bad[6].weight_sum = falling;
    bad[7].weight_sum = broken;
    worker_open(&w, &memory, TWO_DEVICES("", ""), NULL);
    for (int k = 0; k < 8; k++) {
        const yoke_round round = {.num_cuts = 1, .cut_units = &n, .num_phases = 1, .phases = &bad[k]};
        if (yoke_run_plan(w.run, &round, 1, &w.assignment) != YOKE_ERROR_ARGUMENT) fail_msg("phase %d was taken", k);
    }
    const yoke_round wrong[] = {{.num_cuts = 1, .cut_units = &negative, .num_phases = 1, .phases = &good},
                                {.num_cuts = 0, .cut_units = &n, .num_phases = 1, .phases = &good},
                                {.num_cuts = 1, .cut_units = &n, .num_phases = 0, .phases = &good},
                                {.num_cuts = 1, .cut_units = &n, .num_phases = 1, .phases = &good, .memory_bytes_per_unit = NAN}};
    for (int k = 0; k < 4; k++) assert_int_equal(yoke_run_plan(w.run, &wrong[k], 1, &w.assignment), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_run_begin(w.run), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_run_end(w.run, NULL, NULL), YOKE_ERROR_ARGUMENT);
    worker_close(&w);
}

static void options_outside_their_contract_are_refused(void **state)
{
    (void)state;
    const double share = 1.5;
    const yoke_run_power upside_down = {.device = "sim:cpu", .idle_w = 10, .busy_w = 5}, zeros = {.device = "sim:cpu"},
                         some = {.device = "sim:cpu", .idle_w = 5, .busy_w = 10};
    const struct {
        yoke_run_options options;
        yoke_status status;
        const char *says;
    } cases[] = {{{.deadline_s = -1}, YOKE_ERROR_ARGUMENT, "deadline_s"},
                 {{.max_slowdown = 0.5}, YOKE_ERROR_ARGUMENT, "max_slowdown"},
                 {{.power_cap_w = NAN}, YOKE_ERROR_ARGUMENT, "power_cap_w"},
                 {{.objective = 9}, YOKE_ERROR_ARGUMENT, "objective"},
                 {{.share = &share}, YOKE_ERROR_ARGUMENT, "share"},
                 {{.rounds = -1}, YOKE_ERROR_ARGUMENT, "rounds"},
                 {{.powers = &upside_down, .num_powers = 1}, YOKE_ERROR_ARGUMENT, "busy_w"},
                 {{.powers = &zeros, .num_powers = 1}, YOKE_ERROR_ARGUMENT, "busy_w"},
                 {{.powers = &some, .num_powers = 1}, YOKE_ERROR_INPUT, "sim:gpu"},
                 {{.devices = "sim:cpu,,sim:gpu"}, YOKE_ERROR_INPUT, "empty"},
                 {{.devices = "sim:cpu,sim:cpu"}, YOKE_ERROR_INPUT, "twice"},
                 {{.devices = "sim:nothing"}, YOKE_ERROR_INPUT, "sim:nothing"},
                 {{.devices = "sim:cpu", .use = YOKE_RUN_BOTH}, YOKE_ERROR_INPUT, "accelerator"},
                 {{.objective = YOKE_OBJECTIVE_ENERGY}, YOKE_ERROR_UNAVAILABLE, "sim:cpu"}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        failing memory = {0};
        yoke_context *context = machine(TWO_DEVICES("", ""), &memory);
        yoke_run *run = NULL;
        assert_int_equal(yoke_run_create(context, &cases[k].options, &run), cases[k].status);
        assert_null(run);
        if (strstr(yoke_last_error(context), cases[k].says) == NULL) fail_msg("case %d: %s", (int)k, yoke_last_error(context));
        yoke_context_destroy(context);
        assert_int_equal(memory.outstanding, 0);
    }
}

static char last_error[256];

static yoke_status use_everything(failing *memory, const char *store)
{
    const yoke_run_options options = {.objective = YOKE_OBJECTIVE_ENERGY, .store = store};
    const int64_t n = N;
    const yoke_phase phase = {.work = "work", .calls = 1, .units = N, .barrier = 1};
    const yoke_round round = {.num_cuts = 1, .cut_units = &n, .num_phases = 1, .phases = &phase};
    const double seconds[] = {0.1, 0.2};
    const yoke_run_report report = {.seconds = seconds};
    const yoke_assignment *assignment = NULL;
    yoke_run *run = NULL;
    char *text = NULL, *known = NULL;
    int64_t allowed = memory->fail_at;
    memory->fail_at = 0;
    yoke_context *context =
        machine(TWO_DEVICES(", \"power\": {\"idle_w\": 1, \"busy_w\": 2}", ", \"power\": {\"idle_w\": 1, \"busy_w\": 2}"), memory);
    if (allowed > 0) failing_allow(memory, allowed - 1);
    yoke_status status = yoke_run_create(context, &options, &run);
    for (int k = 0; k < 5 && status == YOKE_OK; k++) {
        status = yoke_run_plan(run, &round, 1, &assignment);
        if (status == YOKE_OK) status = yoke_run_begin(run);
        if (status == YOKE_OK) status = yoke_machine_sleep(context, 0.2);
        if (status == YOKE_OK) status = yoke_run_end(run, &report, NULL);
    }
    if (status == YOKE_OK) status = yoke_run_record(run, &text);
    yoke_release(context, text);
    if (status == YOKE_OK) status = yoke_run_save(run, NULL);
    if (status == YOKE_OK) status = yoke_run_known(run, &known);
    yoke_run_destroy(run);
    run = NULL;
    const yoke_run_options again = {.objective = YOKE_OBJECTIVE_ENERGY, .known = (const char *const *)&known, .num_known = 1};
    if (status == YOKE_OK) status = yoke_run_create(context, &again, &run);
    if (status == YOKE_OK) status = yoke_run_plan(run, &round, 1, &assignment);
    yoke_release(context, known);
    snprintf(last_error, sizeof last_error, "%s", yoke_last_error(context));
    yoke_run_destroy(run);
    yoke_context_destroy(context);
    return status;
}

static void no_failing_allocation_is_missed(void **state)
{
    (void)state;
    char path[] = "/tmp/yoke-run-store-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    remove(path);
    failing memory = {0};
    assert_int_equal(use_everything(&memory, path), YOKE_OK);
    assert_int_equal(memory.outstanding, 0);
    int64_t all = memory.calls;
    assert_true(all > 30 && all < 20000);
    for (int64_t n = 1, step = all / 150 + 1; n < all; n += step) {
        memory = (failing){.fail_at = n};
        yoke_status status = use_everything(&memory, path);
        if (status != YOKE_ERROR_MEMORY && status != YOKE_OK)
            fail_msg("allocation %lld: status %d: %s", (long long)n, (int)status, last_error);
        assert_int_equal(memory.outstanding, 0);
    }
    remove(path);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reports_that_are_no_numbers_teach_nothing),
    cmocka_unit_test(a_device_that_fails_is_left_out_and_its_units_are_planned_again),
    cmocka_unit_test(the_ranges_before_a_failure_are_told),
    cmocka_unit_test(rounds_outside_their_contract_are_refused),
    cmocka_unit_test(options_outside_their_contract_are_refused),
    cmocka_unit_test(no_failing_allocation_is_missed),
};

UNIT_MAIN(tests, NULL, NULL)
