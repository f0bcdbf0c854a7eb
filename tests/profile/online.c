/* Energy of kernels from the calls of an application. */
#include "profile/online.h"

#include <math.h>

#include "base/failing.h"
#include "common/simulated_sensor.h"
#include "unit.h"

static yoke_context *context;

static int setup(void **state)
{
    (void)state;
    return yoke_context_create(NULL, &context) != YOKE_OK;
}

static int teardown(void **state)
{
    (void)state;
    yoke_context_destroy(context);
    return 0;
}

/* ------------------------------------------------------------------------------------------- sensors of power */

enum { PARTS = 4 };

typedef struct application {
    const char *sensor;
    double pause_s; /* mean time between calls */
    int64_t calls;
    int parts; /* kernels that follow each other in a call */
    double seconds[PARTS], watts[PARTS];
} application;

typedef struct outcome {
    yoke_status status;
    profile_joules joules[PROFILE_MOST_KERNELS + 1];
    double truth_j[PARTS], idle_w, lost; /* lost: part of the time that the application took longer */
} outcome;

static yoke_status simulated_power(double *watts, void *user)
{
    const yoke_profile_subject s = app_simulated_subject(user);
    return s.power_w(watts, s.user);
}

static double simulated_domain(void *user) { return app_simulated_clock_s(user); }

static yoke_status simulated_wait(double time_s, void *user)
{
    const yoke_profile_subject s = app_simulated_subject(user);
    return s.wait_until(time_s, s.user);
}

static profiler_meter simulated_meter(app_simulated *simulated, const yoke_sensor *sensor)
{
    return (profiler_meter){
        .sensor = sensor, .power_w = simulated_power, .clock_s = simulated_domain, .wait_until = simulated_wait, .user = simulated};
}

static app_simulated_options options_of(const application *a, uint64_t seed)
{
    app_simulated_options options;
    assert_int_equal(app_simulated_preset(context, a->sensor, &options), YOKE_OK);
    options.num_segments = a->parts;
    for (int i = 0; i < a->parts; i++) {
        options.seconds[i] = a->seconds[i];
        options.watts[i] = a->watts[i];
    }
    options.seed = seed;
    options.sensor.gain_error = NAN;
    return options;
}

/* A call: its kernels follow each other in it, in the times that they have. */
static yoke_status tell_call(profiler *p, const application *a, double start_s, double end_s)
{
    double all_s = 0, done_s = 0;
    yoke_status status = YOKE_OK;
    for (int i = 0; i < a->parts; i++) all_s += a->seconds[i];
    for (int i = 0; i < a->parts && !status; i++) {
        double from = start_s + (end_s - start_s) * done_s / all_s, until = start_s + (end_s - start_s) * (done_s + a->seconds[i]) / all_s;
        status = profiler_call(p, &(profile_call){.start_s = from, .end_s = until, .kernel = i});
        done_s += a->seconds[i];
    }
    return status ? status : profiler_known(p, end_s);
}

/* An application that calls its kernels at irregular times; lost: its time with the profiler over that without, less 1. */
static yoke_status run_calls(yoke_context *of, const application *a, app_simulated *simulated, const yoke_sensor *sensor, outcome *o)
{
    const yoke_profile_subject s = app_simulated_subject(simulated);
    const profiler_meter meter = simulated_meter(simulated, sensor);
    profiler *p = NULL;
    double work = 0;
    yoke_status status = profiler_create(of, &meter, 0.01, &p);
    double begin = app_simulated_clock_s(simulated);
    if (!status) status = profiler_begin(p, 0);
    for (int64_t k = 0; k < a->calls && !status; k++) {
        double pause = a->pause_s * (0.5 + fmod((double)k * 0.6180339887498949, 1));
        app_simulated_wait(simulated, pause);
        status = profiler_look(p);
        double launched = app_simulated_clock_s(simulated);
        s.launch(s.user);
        s.finish(NULL, NULL, s.user);
        double ended = app_simulated_clock_s(simulated);
        work += pause + ended - launched;
        if (!status) status = tell_call(p, a, launched, ended);
        if (!status) status = profiler_look(p);
    }
    o->lost = (app_simulated_clock_s(simulated) - begin) / work - 1;
    if (!status) status = profiler_result(p, 0, o->joules, NULL);
    profiler_destroy(p);
    return status;
}

static outcome run_application(const application *a, uint64_t seed)
{
    app_simulated_options options = options_of(a, seed);
    app_simulated *simulated = NULL;
    outcome o = {0};
    double dynamic_j = 0;
    assert_int_equal(app_simulated_create(context, &options, &simulated), YOKE_OK);
    o.status = run_calls(context, a, simulated, &options.sensor, &o);
    for (int i = 0; i < a->parts; i++) dynamic_j += a->seconds[i] * a->watts[i];
    /* A call is all from begin to end, launching included, and what the sensor shows of it on the average. */
    for (int i = 0; i < a->parts; i++)
        o.truth_j[i] =
            app_simulated_dynamic_j(simulated, true) * a->seconds[i] * a->watts[i] / dynamic_j + options.idle_w * o.joules[i].call_s;
    o.idle_w = options.idle_w;
    app_simulated_destroy(simulated);
    return o;
}

static void the_energy_of_calls_is_found_with_little_overhead(void **state)
{
    (void)state;
    static const application applications[] = {
        {"c2075", 0.010, 20000, 1, {0.004}, {230}}, /* shorter than the delay: alg. 5.2 sees nothing of it */
        {"volta", 0.004, 20000, 1, {0.002}, {230}},
        {"turing", 0.010, 20000, 1, {0.005}, {230}},
        {"hopper-instant", 0.003, 60000, 1, {0.0005}, {230}},
        {"hopper", 0.05, 5000, 1, {0.01}, {230}},
        {"kepler", 0.2, 1500, 1, {0.05}, {230}},
    };
    for (size_t i = 0; i < sizeof applications / sizeof applications[0]; i++)
        for (uint64_t seed = 1; seed <= 2; seed++) {
            outcome o = run_application(&applications[i], seed);
            const profile_joules *j = &o.joules[0];
            assert_int_equal(o.status, YOKE_OK);
            assert_true(fabs(j->energy_j / o.truth_j[0] - 1) < 0.05);
            assert_true(j->uncertainty_j > 0 && j->uncertainty_j < 0.2 * o.truth_j[0]);
            assert_true(o.lost < 0.03);
            assert_true(j->calls == (double)applications[i].calls);
        }
}

/* Two kernels that always follow each other are told apart by where updates fall. */
static void kernels_that_follow_each_other_have_their_own_powers(void **state)
{
    (void)state;
    const application a = {"volta", 0.010, 20000, 2, {0.004, 0.006}, {260, 90}};
    outcome o = run_application(&a, 5);
    assert_int_equal(o.status, YOKE_OK);
    for (int i = 0; i < 2; i++) {
        assert_true(fabs(o.joules[i].energy_j - o.truth_j[i]) < 0.05 * o.truth_j[i]);
        assert_true(o.joules[i].uncertainty_j < 0.1 * o.truth_j[i]);
    }
    assert_float_equal(o.joules[PROFILE_MOST_KERNELS].energy_j, o.idle_w, 3); /* of one second */
    assert_true(isnan(o.joules[2].energy_j));                                 /* there is no third */
}

/* 95 % intervals of 60 applications with two kernels; fewer than 97 of 120 would happen once in a million with 90 %. */
static void stated_uncertainties_cover_the_truth(void **state)
{
    (void)state;
    static const char *const names[] = {"c2075", "volta", "hopper-instant"};
    int covered = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        const application a = {names[seed % 3], 0.010, 3000, 2, {0.002, 0.003}, {250, 100 + 2 * (double)seed}};
        outcome o = run_application(&a, seed);
        assert_int_equal(o.status, YOKE_OK);
        for (int i = 0; i < 2; i++) covered += fabs(o.joules[i].energy_j - o.truth_j[i]) <= o.joules[i].uncertainty_j;
    }
    assert_in_range(covered, 97, 120);
}

static void too_few_calls_have_no_result_and_say_so(void **state)
{
    (void)state;
    const application a = {"volta", 0.010, 20, 1, {0.003}, {230}};
    outcome o = run_application(&a, 1);
    assert_int_equal(o.status, YOKE_ERROR_UNAVAILABLE);
    assert_non_null(strstr(yoke_last_error(context), "times so far; at least 96 are needed"));
    assert_true(isnan(o.joules[0].energy_j));
}

static yoke_status constant_w(double *watts, void *user)
{
    app_simulated_wait(user, 1e-4);
    *watts = 70;
    return YOKE_OK;
}

static void a_stuck_sensor_is_refused(void **state)
{
    (void)state;
    const application a = {"volta", 0.010, 20, 1, {0.003}, {230}};
    app_simulated_options options = options_of(&a, 1);
    app_simulated *simulated = NULL;
    profiler *p = NULL;
    assert_int_equal(app_simulated_create(context, &options, &simulated), YOKE_OK);
    profiler_meter meter = simulated_meter(simulated, &options.sensor);
    meter.power_w = constant_w;
    assert_int_equal(profiler_create(context, &meter, 0.01, &p), YOKE_ERROR_UNAVAILABLE);
    assert_non_null(strstr(yoke_last_error(context), "never changes"));
    assert_null(p);
    app_simulated_destroy(simulated);
}

static double standing_s(void *user)
{
    (void)user;
    return 5;
}

static yoke_status free_w(double *watts, void *user)
{
    (void)user;
    *watts = 70;
    return YOKE_OK;
}

static void a_clock_that_stands_still_is_refused(void **state)
{
    (void)state;
    const yoke_sensor sensor = {.period_s = 0.02, .window_s = 0.01, .gain_error = NAN};
    const profiler_meter meter = {.sensor = &sensor, .power_w = free_w, .clock_s = standing_s};
    profiler *p = NULL;
    assert_int_equal(profiler_create(context, &meter, 0.01, &p), YOKE_ERROR_ARGUMENT);
    assert_non_null(strstr(yoke_last_error(context), "does not advance"));
}

static void a_meter_that_cannot_be_read_and_calls_without_time_are_refused(void **state)
{
    (void)state;
    const application a = {"volta", 0.010, 20, 1, {0.003}, {230}};
    app_simulated_options options = options_of(&a, 1);
    app_simulated *simulated = NULL;
    profiler *p = NULL;
    assert_int_equal(app_simulated_create(context, &options, &simulated), YOKE_OK);
    profiler_meter meter = simulated_meter(simulated, &options.sensor);
    meter.power_w = NULL;
    assert_int_equal(profiler_create(context, &meter, 0.01, &p), YOKE_ERROR_ARGUMENT);
    meter.power_w = simulated_power;
    assert_int_equal(profiler_create(context, &meter, 0.01, &p), YOKE_OK);
    assert_int_equal(profiler_call(p, &(profile_call){.start_s = 1, .end_s = 2, .kernel = 0}), YOKE_ERROR_ARGUMENT); /* nothing has begun */
    assert_int_equal(profiler_result(p, 0, (profile_joules[PROFILE_MOST_KERNELS + 1]){{0}}, NULL), YOKE_ERROR_UNAVAILABLE);
    assert_int_equal(profiler_begin(p, 0), YOKE_OK);
    assert_int_equal(profiler_call(p, &(profile_call){.start_s = 1, .end_s = 2, .kernel = -1}), YOKE_ERROR_ARGUMENT);
    assert_int_equal(profiler_call(p, &(profile_call){.start_s = 1, .end_s = 2, .kernel = PROFILE_MOST_KERNELS}), YOKE_ERROR_ARGUMENT);
    assert_int_equal(profiler_call(p, &(profile_call){.start_s = 2, .end_s = 1, .kernel = 0}), YOKE_ERROR_ARGUMENT);
    assert_int_equal(profiler_call(p, &(profile_call){.start_s = NAN, .end_s = 1, .kernel = 0}), YOKE_ERROR_ARGUMENT);
    profiler_destroy(p);
    profiler_destroy(NULL);
    app_simulated_destroy(simulated);
}

/* -------------------------------------------------------------------------------------------- counters of energy */

/* A device on a virtual clock: kernels one after the other, and between them pauses. */
typedef struct counter {
    double now_s, joules;    /* drawn so far */
    double shown_j, shown_s; /* at the latest update */
    double period_s, resolution_j, gain, read_s;
    double late_s;   /* no update comes from 0.655 s on for so long, as where the counter's own processor is busy */
    int fails_after; /* readings; 0: never */
    int reads;
    uint64_t random;
} counter;

static double draw(counter *c)
{
    c->random = c->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(c->random >> 11) * 0x1p-53;
}

static void pass(counter *c, double seconds, double watts)
{
    double end = c->now_s + seconds;
    if (c->period_s > 0) {
        double last = floor(end / c->period_s) * c->period_s;
        if (last > c->shown_s && !(last > 0.655 && last < 0.655 + c->late_s)) {
            c->shown_s = last;
            c->shown_j = c->joules + watts * fmax(0, last - c->now_s);
        }
    }
    c->joules += watts * seconds;
    c->now_s = end;
    if (!(c->period_s > 0)) c->shown_j = c->joules;
}

enum { IDLE_W = 40 };

static yoke_status count_energy(double *joules, void *user)
{
    counter *c = user;
    if (c->fails_after > 0 && ++c->reads > c->fails_after) return yoke_fail(context, YOKE_ERROR_UNAVAILABLE, "the meter is lost");
    pass(c, 0.5 * c->read_s, IDLE_W);
    double shown = c->gain * c->shown_j;
    pass(c, 0.5 * c->read_s, IDLE_W);
    *joules = c->resolution_j > 0 ? floor(shown / c->resolution_j) * c->resolution_j : shown;
    return YOKE_OK;
}

static double counter_updated(void *user)
{
    const counter *c = user;
    return c->period_s > 0 ? c->shown_s : c->now_s;
}

static yoke_status counter_wait(double time_s, void *user)
{
    counter *c = user;
    if (time_s > c->now_s) pass(c, time_s - c->now_s, IDLE_W);
    return YOKE_OK;
}

static double counter_clock(void *user) { return ((const counter *)user)->now_s; }

/* Three kernels in an order that changes, as levels of a multigrid do. */
static yoke_status run_counted(counter *c, int64_t rounds, double gain_error, profile_joules *joules, double *part)
{
    static const double seconds[] = {2e-3, 5e-4, 3e-4}, watts[] = {220, 150, 90};
    const profiler_meter meter = {.energy_j = count_energy,
                                  .clock_s = counter_clock,
                                  .updated_s = c->read_s > 0 ? NULL : counter_updated,
                                  .wait_until = counter_wait,
                                  .resolution_j = c->resolution_j,
                                  .gain_error = gain_error,
                                  .user = c};
    profiler *p = NULL;
    yoke_status status = profiler_create(context, &meter, 0.01, &p);
    if (!status) status = profiler_begin(p, 0);
    double begin = c->now_s;
    for (int64_t r = 0; r < rounds && !status; r++)
        for (int i = 0; i < 3 && !status; i++)
            for (int repeat = (int)(3 * draw(c)); repeat >= 0 && !status; repeat--) {
                double start = c->now_s;
                pass(c, seconds[i] * (0.95 + 0.1 * draw(c)), watts[i]);
                status = profiler_call(p, &(profile_call){.start_s = start, .end_s = c->now_s, .kernel = i});
                pass(c, 2e-4 * draw(c), IDLE_W);
                if (!status) status = profiler_known(p, c->now_s);
                if (!status) status = profiler_look(p);
            }
    if (part) *part = profiler_spent_s(p) / (c->now_s - begin);
    if (!status) status = profiler_result(p, 0, joules, NULL);
    profiler_destroy(p);
    return status;
}

static void counters_tell_the_energy_of_kernels(void **state)
{
    (void)state;
    static const double watts[] = {220, 150, 90};
    static const counter counters[] = {
        {.gain = 1},                                                            /* shows what was drawn, at once */
        {.gain = 1, .period_s = 4e-3, .resolution_j = 1e-3},                    /* tells when it was updated */
        {.gain = 1, .read_s = 2e-6, .period_s = 1e-3, .resolution_j = 6.1e-5},  /* RAPL */
        {.gain = 1.04, .read_s = 3e-5, .period_s = 0.02, .resolution_j = 1e-3}, /* a card */
    };
    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++) {
        int covered = 0;
        double error = 0;
        for (uint64_t seed = 1; seed <= 20; seed++) {
            profile_joules joules[PROFILE_MOST_KERNELS + 1];
            counter c = counters[i];
            double part;
            c.random = seed;
            assert_int_equal(run_counted(&c, 3000, 0, joules, &part), YOKE_OK);
            assert_true(part < 0.011);
            for (int k = 0; k < 3; k++) {
                double truth = counters[i].gain * watts[k] * joules[k].call_s; /* as the counter shows it */
                covered += fabs(joules[k].energy_j - truth) <= joules[k].uncertainty_j;
                error = fmax(error, fabs(joules[k].energy_j - truth) / truth);
            }
        }
        assert_in_range(covered, 54, 60);
        assert_true(error < (i == 0 ? 1e-5 : 0.1));
    }
}

/* The counter stands still where calls begin: these readings must not outweigh the others. */
static void updates_that_come_late_at_first_do_not_count_as_no_power(void **state)
{
    (void)state;
    profile_joules joules[PROFILE_MOST_KERNELS + 1];
    counter c = {.gain = 1, .read_s = 2e-6, .period_s = 0.01, .resolution_j = 6.1e-5, .late_s = 0.15, .random = 3};
    assert_int_equal(run_counted(&c, 2000, 0, joules, NULL), YOKE_OK);
    assert_true(joules[0].energy_j > 0.5 * 220 * joules[0].call_s);
    assert_true(fabs(joules[0].energy_j - 220 * joules[0].call_s) <= joules[0].uncertainty_j);
}

static void a_counter_that_fails_ends_the_profile_and_says_so(void **state)
{
    (void)state;
    profile_joules joules[PROFILE_MOST_KERNELS + 1];
    counter c = {.gain = 1, .fails_after = 50, .random = 1};
    assert_int_equal(run_counted(&c, 1000, 0, joules, NULL), YOKE_ERROR_UNAVAILABLE);
    assert_non_null(strstr(yoke_last_error(context), "is lost"));
}

static void few_readings_of_a_counter_are_no_result(void **state)
{
    (void)state;
    profile_joules joules[PROFILE_MOST_KERNELS + 1];
    counter c = {.gain = 1, .period_s = 1, .random = 1};
    assert_int_equal(run_counted(&c, 1000, 0, joules, NULL), YOKE_ERROR_UNAVAILABLE);
    assert_non_null(strstr(yoke_last_error(context), "at least 24 are needed"));
}

/* Kernels in which nothing differs from one reading to the next share their power, and what is not known is stated. */
static void kernels_that_readings_do_not_tell_apart_say_so(void **state)
{
    (void)state;
    counter c = {.gain = 1, .random = 7};
    const profiler_meter meter = {
        .energy_j = count_energy, .updated_s = counter_updated, .clock_s = counter_clock, .gain_error = 0, .user = &c};
    profile_joules joules[PROFILE_MOST_KERNELS + 1];
    profiler *p = NULL;
    assert_int_equal(profiler_create(context, &meter, 0.01, &p), YOKE_OK);
    assert_int_equal(profiler_begin(p, 0), YOKE_OK);
    for (int r = 0; r < 400; r++) {
        double start = c.now_s;
        pass(&c, 2e-3, 200);
        profiler_call(p, &(profile_call){.start_s = start, .end_s = c.now_s, .kernel = 0});
        start = c.now_s;
        pass(&c, 1e-3, 110);
        profiler_call(p, &(profile_call){.start_s = start, .end_s = c.now_s, .kernel = 1});
        pass(&c, 1e-3 * draw(&c), IDLE_W);
        profiler_known(p, c.now_s);
        assert_int_equal(profiler_look(p), YOKE_OK); /* once for both */
    }
    assert_int_equal(profiler_result(p, 0, joules, NULL), YOKE_OK);
    for (int k = 0; k < 2; k++) {
        double truth = k ? 110e-3 : 400e-3;
        assert_true(joules[k].uncertainty_j > 0.1 * truth);
        assert_true(fabs(joules[k].energy_j - truth) <= joules[k].uncertainty_j);
    }
    assert_float_equal(joules[0].energy_j + joules[1].energy_j, 510e-3, 5e-3);
    profiler_destroy(p);
}

static void a_failing_allocation_is_an_error_and_leaves_nothing(void **state)
{
    (void)state;
    const application a = {"volta", 0.010, 800, 1, {0.003}, {230}};
    failing memory = {.fail_at = 0};
    const yoke_options limits = failing_options(&memory);
    yoke_context *limited = NULL;
    yoke_status status = YOKE_ERROR_MEMORY;
    int64_t tries = 0;
    assert_int_equal(yoke_context_create(&limits, &limited), YOKE_OK);
    int64_t before = memory.outstanding;
    for (; status != YOKE_OK; tries++) {
        app_simulated_options options = options_of(&a, 1);
        app_simulated *simulated = NULL;
        outcome o = {0};
        assert_int_equal(app_simulated_create(context, &options, &simulated), YOKE_OK);
        failing_allow(&memory, tries);
        status = run_calls(limited, &a, simulated, &options.sensor, &o);
        assert_true(status == YOKE_OK || status == YOKE_ERROR_MEMORY);
        assert_int_equal(memory.outstanding, before);
        app_simulated_destroy(simulated);
        assert_true(tries < 200);
    }
    assert_true(tries > 10);
    yoke_context_destroy(limited);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_energy_of_calls_is_found_with_little_overhead),
    cmocka_unit_test(kernels_that_follow_each_other_have_their_own_powers),
    cmocka_unit_test(stated_uncertainties_cover_the_truth),
    cmocka_unit_test(too_few_calls_have_no_result_and_say_so),
    cmocka_unit_test(a_stuck_sensor_is_refused),
    cmocka_unit_test(a_clock_that_stands_still_is_refused),
    cmocka_unit_test(a_meter_that_cannot_be_read_and_calls_without_time_are_refused),
    cmocka_unit_test(counters_tell_the_energy_of_kernels),
    cmocka_unit_test(updates_that_come_late_at_first_do_not_count_as_no_power),
    cmocka_unit_test(a_counter_that_fails_ends_the_profile_and_says_so),
    cmocka_unit_test(few_readings_of_a_counter_are_no_result),
    cmocka_unit_test(kernels_that_readings_do_not_tell_apart_say_so),
    cmocka_unit_test(a_failing_allocation_is_an_error_and_leaves_nothing),
};

UNIT_MAIN(tests, setup, teardown)
