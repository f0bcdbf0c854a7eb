/* Calibrating a run on simulated machines: what is known afterwards is what their files say. */
#include <math.h>

#include "calibrated.h"
#include "random_part.h"

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

typedef struct preparing {
    worker w;
    int64_t ready[WORKER_DEVICES]; /* units of the latest trial */
} preparing;

/* As an application that makes each new size ready on the device first, which is no part of its seconds. */
static yoke_status prepare_and_try(void *user, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    preparing *p = user;
    double unused;
    yoke_status status = YOKE_OK;
    if (p->ready[device] != units) status = worker_try(&p->w, device, 4 * units, 1, &unused);
    p->ready[device] = units;
    return status == YOKE_OK ? worker_try(&p->w, device, units, calls, seconds) : status;
}

static void what_a_trial_makes_ready_is_no_power_of_its_calls(void **state)
{
    (void)state;
    const yoke_run_options options = {.objective = YOKE_OBJECTIVE_ENERGY};
    failing memory = {0};
    preparing p = {.ready = {0}};
    const yoke_run_calibration of = {.work = "work", .min_units = 100, .max_units = N, .trial = prepare_and_try, .user = &p};
    worker_open(&p.w, &memory, MACHINE(""), &options);
    assert_int_equal(yoke_run_calibrate(p.w.run, &of, NULL), YOKE_OK);
    assert_int_equal(yoke_run_devices(p.w.run, &p.w.devices, &p.w.num_devices), YOKE_OK);
    const double dynamic_w[] = {100 + 7, 200};
    for (int i = 0; i < 2; i++)
        if (!(fabs(p.w.devices[i].dynamic_w / dynamic_w[i] - 1) < 1e-2)) fail_msg("device %d: %g W dynamic", i, p.w.devices[i].dynamic_w);
    worker_close(&p.w);
}

/* Two sizes are held out where the speed falls most: the GPU's cliff is 1 % wide, and nobody knows where it is to 1 %. */
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
        if (!(accuracy[i].median_error < 0.03)) fail_msg("device %d: median error %g", i, accuracy[i].median_error);
        if (!(accuracy[i].coverage >= 0.75)) fail_msg("device %d: %g of the intervals hold", i, accuracy[i].coverage);
        assert_int_equal(accuracy[i].num_held_out, 4);
        for (int64_t k = 0; k < accuracy[i].num_held_out; k++) {
            const yoke_run_held_out *one = &accuracy[i].held_out[k];
            double truth = i == 0 ? cpu_s(one->sample.units) : gpu_s(2, one->sample.units);
            if (!(fabs(one->sample.seconds / truth - 1) < 1e-9)) fail_msg("%g units took %g s", one->sample.units, one->sample.seconds);
            assert_true(one->predicted_interval_s > 0);
        }
    }
    worker_close(&w);
}

/* Samples are what the machine does; what is predicted between them, at each frequency, lies within what is said of it. */
static void samples_and_predictions_are_those_of_the_machine(void **state)
{
    (void)state;
    static const double hz[] = {0.8e9, 1.2e9, 1.6e9};
    const yoke_run_options options = {.objective = YOKE_OBJECTIVE_ENERGY};
    failing memory = {0};
    worker w;
    yoke_run_accuracy accuracy[WORKER_DEVICES];
    int count = 0, inside = 0;
    worker_open(&w, &memory, MACHINE(""), &options);
    calibrate(&w, accuracy);
    assert_int_equal(accuracy[1].num_levels, 3);
    for (int64_t k = 0; k < accuracy[1].num_samples; k++) {
        const yoke_sample *one = &accuracy[1].samples[k];
        int level = one->frequency_hz < 1e9 ? 0 : one->frequency_hz < 1.4e9 ? 1 : 2;
        const double dynamic_w[] = {72, 121, 200}, truth = gpu_s(level, one->units);
        if (!(fabs(one->seconds / truth - 1) < 1e-9)) fail_msg("%g units at level %d took %g s", one->units, level, one->seconds);
        if (!(fabs(one->joules / (dynamic_w[level] * truth) - 1) < 0.01)) fail_msg("%g units took %g J", one->units, one->joules);
    }
    for (int level = 0; level < 3; level++)
        for (double units = 150; units < N; units *= 1.31) {
            yoke_prediction said;
            assert_int_equal(yoke_run_predict(w.run, "work", 1, units, hz[level], 0, &said), YOKE_OK);
            assert_true(said.inside && said.seconds_uncertainty > 0 && said.joules > 0);
            inside += fabs(said.seconds - gpu_s(level, units)) <= said.seconds_uncertainty;
            count++;
        }
    if (!(inside >= 0.9 * count)) fail_msg("%d of %d predictions within their intervals", inside, count);
    yoke_prediction said;
    assert_int_equal(yoke_run_predict(w.run, "work", 7, 1, NAN, 0, &said), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_run_predict(w.run, "work", 0, NAN, NAN, 0, &said), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_run_predict(w.run, "other work", 0, 1, NAN, 0, &said), YOKE_ERROR_UNAVAILABLE);
    worker_close(&w);
    assert_int_equal(memory.outstanding, 0);
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

/* The same units and energy by the planner from the file as by the run; the file has curves at points, between which speeds are linear. */
typedef struct noisy {
    uint64_t state;
    yoke_context *context;
} noisy;

/* One microsecond a unit, and evenly up to 5 % more or less. */
static yoke_status noisy_trial(void *user, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    noisy *n = user;
    (void)device;
    *seconds = 1e-6 * (double)units * (1 + 0.1 * (random_part(&n->state) - 0.5));
    return yoke_machine_sleep(n->context, (double)calls * *seconds);
}

/* Noise of trials that follow one another at once is neither drift nor a change, though it may look so: no size is farther off than its noise. */
static void noise_of_brief_trials_moves_no_other_size(void **state)
{
    (void)state;
    const int64_t sizes[] = {120, 560, 2600};
    for (uint64_t seed = 1; seed <= 40; seed++) {
        failing memory = {0};
        worker w;
        worker_open(&w, &memory, MACHINE(""), NULL);
        noisy n = {seed, w.context};
        for (int k = 0; k < 3; k++) {
            const yoke_run_calibration of = {
                .work = "work", .min_units = sizes[k] / 4, .max_units = sizes[k], .sizes = 2, .brief = 1, .trial = noisy_trial, .user = &n};
            if (yoke_run_calibrate(w.run, &of, NULL) != YOKE_OK) fail_msg("%s", yoke_last_error(w.context));
        }
        for (int k = 0; k < 6; k++) {
            yoke_prediction found;
            const double units = (double)(k % 2 ? sizes[k / 2] : sizes[k / 2] / 4);
            assert_int_equal(yoke_run_predict(w.run, "work", 0, units, NAN, 0, &found), YOKE_OK);
            if (!(fabs(1e6 * found.seconds / units - 1) <= 0.0501))
                fail_msg("seed %d, %g units: %g s a million units", (int)seed, units, 1e6 * found.seconds / units);
        }
        worker_close(&w);
        assert_int_equal(memory.outstanding, 0);
    }
}

static void a_model_file_plans_what_the_run_plans(void **state)
{
    (void)state;
    const yoke_run_options options = {.objective = YOKE_OBJECTIVE_ENERGY};
    failing memory = {0};
    worker w;
    yoke_plan_problem *problem = NULL;
    yoke_plan *made = NULL;
    const int64_t n = 60000;
    const yoke_phase phase = {.work = "work", .calls = 1, .units = n, .barrier = 1};
    const yoke_round round = {.num_cuts = 1, .cut_units = &n, .num_phases = 1, .phases = &phase};
    worker_open(&w, &memory, MACHINE(""), &options);
    assert_int_equal(yoke_run_write_model(w.run, &round, "calibrate-test.model.json"), YOKE_ERROR_UNAVAILABLE);
    calibrate(&w, NULL);
    if (yoke_run_write_model(w.run, &round, "calibrate-test.model.json")) fail_msg("%s", yoke_last_error(w.context));
    assert_int_equal(yoke_plan_problem_read(w.context, "calibrate-test.model.json", &problem), YOKE_OK);
    for (int64_t i = 0; i < problem->num_devices; i++)
        for (int64_t l = 0; l < problem->devices[i].num_levels; l++) /* no trial told what devices lose beside each other */
            assert_true(problem->devices[i].levels[l].time_uncertainty == 0);
    const yoke_plan_options energy = {.objective = YOKE_OBJECTIVE_ENERGY, .bare = 1};
    assert_int_equal(yoke_plan_create(w.context, problem, &energy, &made), YOKE_OK);
    worker_rounds(&w, n, 1);
    for (int64_t i = 0; i < 2; i++) assert_int_equal(worker_units(&w, i), made->best.units[i]);
    if (!(fabs(made->best.energy_j / w.assignment->predicted.energy_j - 1) < 3e-3))
        fail_msg("%g J by the file, %g J by the run", made->best.energy_j, w.assignment->predicted.energy_j);
    yoke_release(w.context, made);
    yoke_release(w.context, problem);
    /* Now a round has told it, of those that worked. */
    assert_int_equal(yoke_run_write_model(w.run, &round, "calibrate-test.model.json"), YOKE_OK);
    assert_int_equal(yoke_plan_problem_read(w.context, "calibrate-test.model.json", &problem), YOKE_OK);
    for (int64_t i = 0; i < problem->num_devices; i++)
        for (int64_t l = 0; l < problem->devices[i].num_levels && worker_units(&w, i) > 0; l++)
            assert_true(problem->devices[i].levels[l].time_uncertainty > 0);
    yoke_release(w.context, problem);
    remove("calibrate-test.model.json");
    worker_close(&w);
    assert_int_equal(memory.outstanding, 0);
}

static void copies_cost_what_the_machine_says(void **state)
{
    (void)state;
    const char *const text =
        "{\"name\": \"m\", \"devices\": [{\"name\": \"cpu\", \"class\": \"cpu\", \"seconds_per_unit\": 2e-6, \"power\": "
        "{\"idle_w\": 20, \"busy_w\": 80}}, {\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": 1e-6, \"copy\": "
        "{\"latency_s\": 2e-5, \"bytes_per_s\": 4e9}, \"power\": {\"idle_w\": 30, \"busy_w\": 150, \"copy_w\": 25}}]}";
    const yoke_run_options options = {.objective = YOKE_OBJECTIVE_ENERGY};
    failing memory = {0};
    worker w;
    yoke_run_accuracy accuracy[WORKER_DEVICES];
    yoke_plan_problem *problem = NULL;
    const int64_t n = 10000;
    const yoke_phase phase = {.work = "work", .calls = 1, .units = n, .barrier = 1};
    const yoke_round round = {.num_cuts = 1, .cut_units = &n, .num_phases = 1, .phases = &phase, .copy_bytes_per_unit = 4000};
    worker_open(&w, &memory, text, &options);
    const yoke_run_calibration of = {.work = "work", .min_units = 100, .max_units = N, .trial = worker_try, .copies = 1, .user = &w};
    if (yoke_run_calibrate(w.run, &of, accuracy) != YOKE_OK) fail_msg("%s", yoke_last_error(w.context));
    assert_true(isnan(accuracy[0].copy_start_s) && isnan(accuracy[0].copy_power_w));
    if (!(fabs(accuracy[1].copy_seconds_per_byte * 4e9 - 1) < 1e-6)) fail_msg("%g s a byte", accuracy[1].copy_seconds_per_byte);
    if (!(fabs(accuracy[1].copy_start_s / 2e-5 - 1) < 1e-3)) fail_msg("copies start after %g s", accuracy[1].copy_start_s);
    if (!(fabs(accuracy[1].copy_power_w / 25 - 1) < 1e-3)) fail_msg("copies draw %g W", accuracy[1].copy_power_w);
    assert_int_equal(yoke_run_write_model(w.run, &round, "copies-test.model.json"), YOKE_OK);
    assert_int_equal(yoke_plan_problem_read(w.context, "copies-test.model.json", &problem), YOKE_OK);
    const yoke_plan_device *gpu = &problem->devices[1];
    assert_true(fabs(gpu->copy_seconds_per_unit / 1e-6 - 1) < 1e-6 && fabs(gpu->copy_joules_per_unit / 25e-6 - 1) < 1e-3);
    assert_true(fabs(gpu->copy_seconds / 2e-5 - 1) < 1e-3);
    yoke_release(w.context, problem);
    remove("copies-test.model.json");
    worker_close(&w);
    assert_int_equal(memory.outstanding, 0);
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

static void a_work_of_one_kind_of_device_is_measured_there_alone(void **state)
{
    (void)state;
    failing memory = {0};
    worker w;
    yoke_run_accuracy accuracy[WORKER_DEVICES];
    yoke_prediction known;
    worker_open(&w, &memory, MACHINE(""), NULL);
    yoke_run_calibration of = {.work = "work", .min_units = 100, .max_units = N, .trial = worker_try, .user = &w};
    for (int accelerators = 0; accelerators < 2; accelerators++) {
        of.use = accelerators ? YOKE_RUN_ACCELERATORS : YOKE_RUN_HOSTS;
        of.work = accelerators ? "there" : "here";
        assert_int_equal(yoke_run_calibrate(w.run, &of, accuracy), YOKE_OK);
        for (int i = 0; i < 2; i++) {
            assert_true((accuracy[i].trials > 0) == (i == accelerators));
            assert_int_equal(yoke_run_predict(w.run, of.work, i, N, NAN, 0, &known), i == accelerators ? YOKE_OK : YOKE_ERROR_UNAVAILABLE);
        }
    }
    of.use = (yoke_run_use)7;
    assert_int_equal(yoke_run_calibrate(w.run, &of, NULL), YOKE_ERROR_ARGUMENT);
    worker_close(&w);
    assert_int_equal(memory.outstanding, 0);
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
    cmocka_unit_test(what_a_trial_makes_ready_is_no_power_of_its_calls),
    cmocka_unit_test(sizes_held_out_tell_how_well_times_are_known),
    cmocka_unit_test(samples_and_predictions_are_those_of_the_machine),
    cmocka_unit_test(noise_of_brief_trials_moves_no_other_size),
    cmocka_unit_test(a_model_file_plans_what_the_run_plans),
    cmocka_unit_test(copies_cost_what_the_machine_says),
    cmocka_unit_test(a_device_that_fails_at_a_trial_is_left_out),
    cmocka_unit_test(a_work_of_one_kind_of_device_is_measured_there_alone),
    cmocka_unit_test(trials_that_tell_no_time_are_refused),
};

UNIT_MAIN(tests, NULL, NULL)
