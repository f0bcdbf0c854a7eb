/* Rounds weighed against each other, limits of units, copies apart, and models of plans, against the machine's own numbers. */
#include <math.h>
#include <unistd.h>

#include "unit.h"
#include "worker.h"

enum { N = 10000, CALLS = 20, DEVICES = 2 };

/* Alone 2 and 3 us a unit; beside each other `beside` times as long, and an exchange of 50 us. */
static const double alone_s[] = {2e-6, 3e-6}, exchange_s = 5e-5;
static const char *const two =
    "{\"name\": \"two\", \"host\": {\"idle_w\": 50}, \"devices\": ["
    "{\"name\": \"cpu\", \"class\": \"cpu\", \"seconds_per_unit\": 2e-6, \"power\": {\"idle_w\": 20, \"busy_w\": 220}},"
    "{\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": 3e-6, \"power\": {\"idle_w\": 10, \"busy_w\": 60}}]}";

typedef struct weighing {
    worker w;
    double beside; /* factor of seconds beside the other device */
    double copy_s; /* of a unit to the GPU; 0: nothing is copied */
    int64_t units; /* of the round */
    int64_t limits[3][DEVICES];
    yoke_phase phases[2];
    yoke_round rounds[3];
} weighing;

static void ok(const weighing *t, yoke_status status)
{
    if (status != YOKE_OK) fail_msg("%s", yoke_last_error(t->w.context));
}

/* All devices, and each alone. */
static void make_rounds(weighing *t, int64_t units)
{
    t->units = units;
    t->phases[0] = (yoke_phase){.work = "fine", .calls = CALLS, .units = units, .barrier = 1};
    for (int r = 0; r < 3; r++) {
        for (int i = 0; i < DEVICES; i++) t->limits[r][i] = r == 0 || r == i + 1 ? units : 0;
        t->rounds[r] = (yoke_round){.num_cuts = 1, .cut_units = &t->units, .num_phases = 1, .phases = t->phases, .max_units = t->limits[r]};
    }
}

static int64_t units_of(const weighing *t, int i) { return t->w.assignment->first[0][i + 1] - t->w.assignment->first[0][i]; }

static double seconds_of(const weighing *t, int i, int both)
{
    double seconds = alone_s[i] * (double)units_of(t, i);
    return units_of(t, i) == 0 ? 0 : both ? t->beside * seconds + exchange_s : seconds;
}

/* What is planned takes the machine's time; returns it. */
static double work(weighing *t, int64_t count, double calls)
{
    double seconds[2 * DEVICES], moved[DEVICES], longest = 0;
    const double all_calls[] = {calls};
    const yoke_run_report report = {.seconds = seconds, .calls = all_calls, .moved_s = t->copy_s > 0 ? moved : NULL};
    ok(t, yoke_run_plan(t->w.run, t->rounds, count, &t->w.assignment));
    const int both = units_of(t, 0) > 0 && units_of(t, 1) > 0;
    for (int i = 0; i < DEVICES; i++) {
        seconds[i] = seconds_of(t, i, both);
        longest = fmax(longest, seconds[i]);
        moved[i] = i == 1 ? t->copy_s * (double)units_of(t, i) : 0;
    }
    ok(t, yoke_run_begin(t->w.run));
    ok(t, yoke_machine_sleep(t->w.context, calls * longest));
    ok(t, yoke_run_end(t->w.run, &report, &t->w.measured));
    return calls * longest;
}

static void open_weighing(weighing *t, failing *memory, const yoke_run_options *options, double beside)
{
    *t = (weighing){.beside = beside};
    worker_open(&t->w, memory, two, options);
    make_rounds(t, N);
}

static yoke_status alone(void *user, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    *seconds = alone_s[device] * (double)units;
    return yoke_machine_sleep(user, (double)calls * *seconds);
}

static void a_device_alone_is_taken_where_sharing_costs_more(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        static weighing t;
        failing memory = {0};
        double took_s = 0;
        open_weighing(&t, &memory, NULL, k ? 3 : 1.1);
        const yoke_run_calibration calibration = {
            .work = "fine", .min_units = N / 4, .max_units = N, .sizes = 2, .brief = 1, .trial = alone, .user = t.w.context};
        ok(&t, yoke_run_calibrate(t.w.run, &calibration, NULL));
        (void)work(&t, 1, CALLS); /* what sharing costs */
        for (int r = 0; r < 4; r++) took_s = work(&t, 3, CALLS);
        assert_int_equal(units_of(&t, 1) > 0, k == 0);
        if (k == 1) assert_int_equal(t.w.assignment->round, 1);
        if (!(fabs(t.w.assignment->predicted.time_s / took_s - 1) < 0.02))
            fail_msg("predicted %g s, took %g s", t.w.assignment->predicted.time_s, took_s);
        worker_close(&t.w);
        assert_int_equal(memory.outstanding, 0);
    }
}

/* Trials of each device alone tell nothing of what they lose together: the first shared round has no interval, and the next one has. */
static void an_uncertainty_that_is_not_known_is_not_told(void **state)
{
    (void)state;
    static weighing t;
    failing memory = {0};
    char *text = NULL;
    open_weighing(&t, &memory, NULL, 1.1);
    const yoke_run_calibration calibration = {
        .work = "fine", .min_units = N / 4, .max_units = N, .sizes = 2, .brief = 1, .trial = alone, .user = t.w.context};
    ok(&t, yoke_run_calibrate(t.w.run, &calibration, NULL));
    ok(&t, yoke_run_plan(t.w.run, t.rounds, 1, &t.w.assignment));
    assert_true(t.w.assignment->predicted.time_s > 0 && isnan(t.w.assignment->predicted.time_uncertainty_s));
    assert_true(t.w.assignment->predicted.energy_j > 0 && isnan(t.w.assignment->predicted.energy_uncertainty_j));
    ok(&t, yoke_run_explain(t.w.run, &text));
    assert_non_null(strstr(text, "(+- not known)"));
    yoke_release(t.w.context, text);
    ok(&t, yoke_run_plan(t.w.run, t.rounds + 1, 1, &t.w.assignment)); /* alone: that was tried */
    assert_true(t.w.assignment->predicted.time_uncertainty_s < 0.1 * t.w.assignment->predicted.time_s);
    (void)work(&t, 1, CALLS);
    (void)work(&t, 1, CALLS);
    assert_true(t.w.assignment->predicted.time_uncertainty_s < 0.1 * t.w.assignment->predicted.time_s);
    worker_close(&t.w);
    assert_int_equal(memory.outstanding, 0);
}

static void a_round_may_limit_the_units_of_a_device(void **state)
{
    (void)state;
    static weighing t;
    failing memory = {0};
    open_weighing(&t, &memory, NULL, 1);
    t.limits[0][0] = 100;
    for (int r = 0; r < 3; r++) {
        (void)work(&t, 1, CALLS);
        assert_true(units_of(&t, 0) <= 100 && units_of(&t, 0) + units_of(&t, 1) == N);
    }
    t.limits[0][1] = 200;
    assert_int_equal(yoke_run_plan(t.w.run, t.rounds, 1, &t.w.assignment), YOKE_ERROR_DEVICE_MEMORY);
    t.limits[0][1] = -1;
    assert_int_equal(yoke_run_plan(t.w.run, t.rounds, 1, &t.w.assignment), YOKE_ERROR_ARGUMENT);
    assert_non_null(strstr(yoke_last_error(t.w.context), "device 1"));
    worker_close(&t.w);
}

static void work_that_is_like_another_is_planned_by_its_times_at_first(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        static weighing t;
        failing memory = {0};
        open_weighing(&t, &memory, NULL, 1);
        for (int r = 0; r < 3; r++) (void)work(&t, 1, CALLS);
        t.phases[1] = (yoke_phase){.work = "coarse", .like = k ? "fine" : NULL, .calls = CALLS, .units = N / 8, .barrier = 1};
        t.rounds[0].num_phases = 2;
        ok(&t, yoke_run_plan(t.w.run, t.rounds, 1, &t.w.assignment));
        assert_int_equal(t.w.assignment->decision == YOKE_RUN_STARTED, k == 0);
        assert_int_equal(isnan(t.w.assignment->predicted.time_s), k == 0);
        worker_close(&t.w);
    }
}

/* Copies of a unit take as long as `lengths` rounds of it. */
static void copies_that_cost_more_than_they_save_are_avoided(void **state)
{
    (void)state;
    const double lengths[] = {0.02, 5};
    for (int k = 0; k < 2; k++) {
        static weighing t;
        const yoke_run_options options = {.copies_apart = 1};
        failing memory = {0};
        open_weighing(&t, &memory, &options, 1);
        t.copy_s = lengths[k] * CALLS * alone_s[1];
        for (int r = 0; r < 4; r++) {
            double took_s = work(&t, r ? 3 : 1, CALLS);
            if (r > 1 && !(fabs(t.w.assignment->predicted.time_s / took_s - 1) < 0.02)) /* without them */
                fail_msg("predicted %g s, took %g s", t.w.assignment->predicted.time_s, took_s);
        }
        assert_int_equal(units_of(&t, 1) > 0, k == 0);
        worker_close(&t.w);
    }
}

static void predictions_follow_the_calls_that_there_were(void **state)
{
    (void)state;
    static weighing t;
    failing memory = {0};
    open_weighing(&t, &memory, NULL, 1);
    for (int r = 0; r < 3; r++) (void)work(&t, 3, CALLS);
    double took_s = work(&t, 3, 2 * CALLS);
    const yoke_assignment *a = t.w.assignment;
    assert_true(fabs(a->with_calls.time_s / took_s - 1) < 0.02);
    assert_true(fabs(a->predicted.time_s / (took_s / 2) - 1) < 0.02);
    assert_true(a->metered && a->energy.value_j > 0 && fabs(a->energy.value_j / t.w.measured.energy_j - 1) < 1e-12);
    assert_string_equal(a->powers, "simulated");
    worker_close(&t.w);
}

static void the_model_of_a_plan_costs_what_the_plan_does(void **state)
{
    (void)state;
    for (int objective = 0; objective < 4; objective++) {
        static weighing t;
        const yoke_run_options options = {.objective = (yoke_objective)objective, .keep_frequencies = 1};
        const yoke_plan_options plan_options = {.objective = (yoke_objective)objective};
        char path[] = "/tmp/yoke-test-weighed-XXXXXX";
        yoke_plan_problem *problem = NULL;
        yoke_plan *plan = NULL;
        failing memory = {0};
        int file = mkstemp(path);
        assert_true(file >= 0);
        close(file);
        open_weighing(&t, &memory, &options, 1.2);
        t.phases[1] = (yoke_phase){.work = "coarse", .calls = 2 * CALLS, .units = N / 8, .barrier = 1};
        assert_int_equal(yoke_run_write_model(t.w.run, NULL, path), YOKE_ERROR_ARGUMENT);
        for (int r = 0; r < 6; r++) (void)work(&t, r ? 3 : 1, CALLS);
        make_rounds(&t, N + 1000); /* of which nothing can be kept */
        ok(&t, yoke_run_plan(t.w.run, t.rounds, 3, &t.w.assignment));
        ok(&t, yoke_run_write_model(t.w.run, NULL, path));
        ok(&t, yoke_plan_problem_read(t.w.context, path, &problem));
        ok(&t, yoke_plan_create(t.w.context, problem, &plan_options, &plan));
        const yoke_cost *predicted = &t.w.assignment->predicted;
        if (!(fabs(plan->best.time_s / predicted->time_s - 1) < 1e-9 && fabs(plan->best.energy_j / predicted->energy_j - 1) < 1e-9))
            fail_msg("objective %d: %.12g s and %.12g J, planned %.12g s and %.12g J", objective, plan->best.time_s, plan->best.energy_j,
                     predicted->time_s, predicted->energy_j);
        yoke_release(t.w.context, plan);
        yoke_release(t.w.context, problem);
        unlink(path);
        worker_close(&t.w);
        assert_int_equal(memory.outstanding, 0);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_device_alone_is_taken_where_sharing_costs_more),
    cmocka_unit_test(an_uncertainty_that_is_not_known_is_not_told),
    cmocka_unit_test(a_round_may_limit_the_units_of_a_device),
    cmocka_unit_test(work_that_is_like_another_is_planned_by_its_times_at_first),
    cmocka_unit_test(copies_that_cost_more_than_they_save_are_avoided),
    cmocka_unit_test(predictions_follow_the_calls_that_there_were),
    cmocka_unit_test(the_model_of_a_plan_costs_what_the_plan_does),
};

UNIT_MAIN(tests, NULL, NULL)
