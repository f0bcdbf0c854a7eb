/* Power profiles from the calls of an application. */
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

typedef struct application {
    const char *sensor;
    double seconds, pause_s; /* of a call; mean time between calls */
    bool asynchronous;
    int64_t calls;
} application;

typedef struct outcome {
    yoke_status status;
    yoke_profile profile;
    double energy_j, lost; /* truth; part of the time that the application took longer */
} outcome;

/* An application that calls its kernel at irregular times; *lost: its time with the profiler over that without, less 1. */
static outcome run_application(const application *a, uint64_t seed)
{
    app_simulated_options options;
    app_simulated *simulated = NULL;
    yoke_profiler *profiler = NULL;
    outcome o = {0};
    assert_int_equal(app_simulated_preset(context, a->sensor, &options), YOKE_OK);
    options.seconds[0] = a->seconds;
    options.seed = seed;
    assert_int_equal(app_simulated_create(context, &options, &simulated), YOKE_OK);
    yoke_profile_subject s = app_simulated_subject(simulated);
    yoke_sensor sensor = options.sensor;
    sensor.gain_error = NAN;
    assert_int_equal(yoke_profiler_create(context, &s, &sensor, NULL, &profiler), YOKE_OK);
    double begin = app_simulated_clock_s(simulated), work = 0;
    for (int64_t k = 0; k < a->calls; k++) {
        double pause = a->pause_s * (0.5 + fmod((double)k * 0.6180339887498949, 1));
        app_simulated_wait(simulated, pause);
        work += pause;
        assert_int_equal(yoke_profiler_mark(profiler, YOKE_PROFILER_BEGIN), YOKE_OK);
        double launched = app_simulated_clock_s(simulated);
        s.launch(s.user);
        if (a->asynchronous) assert_int_equal(yoke_profiler_mark(profiler, YOKE_PROFILER_RUNNING), YOKE_OK);
        s.finish(NULL, NULL, s.user);
        work += app_simulated_clock_s(simulated) - launched;
        assert_int_equal(yoke_profiler_mark(profiler, YOKE_PROFILER_END), YOKE_OK);
    }
    o.lost = (app_simulated_clock_s(simulated) - begin) / work - 1;
    o.status = yoke_profiler_result(profiler, &o.profile);
    /* A call is all from begin to end, launching included. */
    o.energy_j = app_simulated_dynamic_j(simulated, true) + options.idle_w * o.profile.run_s;
    yoke_profiler_destroy(profiler);
    app_simulated_destroy(simulated);
    return o;
}

static void the_energy_of_calls_is_found_with_little_overhead(void **state)
{
    (void)state;
    static const application applications[] = {
        {"c2075", 0.004, 0.010, true, 20000}, /* shorter than the delay: alg. 5.2 sees nothing of it */
        {"volta", 0.002, 0.004, true, 20000},           {"volta", 0.002, 0.004, false, 20000}, {"turing", 0.005, 0.010, true, 20000},
        {"hopper-instant", 0.0005, 0.003, true, 60000}, {"hopper", 0.01, 0.05, true, 5000},    {"kepler", 0.05, 0.2, true, 1500},
    };
    for (size_t i = 0; i < sizeof applications / sizeof applications[0]; i++)
        for (uint64_t seed = 1; seed <= 2; seed++) {
            outcome o = run_application(&applications[i], seed);
            assert_int_equal(o.status, YOKE_OK);
            assert_true(fabs(o.profile.energy_j / o.energy_j - 1) < 0.05);
            assert_true(o.profile.statistical_j > 0 && o.profile.statistical_j < 0.2 * o.energy_j);
            assert_true(o.lost < 0.03);
            assert_true(o.profile.reading_s / o.profile.device_s < 0.03);
            assert_int_equal(o.profile.runs, applications[i].calls);
            yoke_release(context, o.profile.points);
        }
}

static void the_profile_of_calls_follows_their_power(void **state)
{
    (void)state;
    const application a = {"volta", 0.008, 0.020, true, 20000};
    outcome o = run_application(&a, 5);
    assert_int_equal(o.status, YOKE_OK);
    assert_true(o.profile.num_points >= 10 && o.profile.why_no_profile[0] == '\0');
    assert_true(o.profile.resolution_s < 0.004);
    double area = 0;
    for (int64_t i = 0; i < o.profile.num_points; i++) {
        const yoke_profile_point *p = &o.profile.points[i];
        area += (p->power_w - o.profile.idle_w) * o.profile.run_s / (double)o.profile.num_points;
        if (p->time_s > 0.001 && p->time_s < 0.007) assert_float_equal(p->power_w, 300, 15);
    }
    assert_float_equal(area, o.profile.dynamic_j, 1e-9);
    yoke_release(context, o.profile.points);
}

/* 95 % intervals of 60 applications; fewer than 46 would happen once in a million with 90 %. */
static void stated_uncertainties_cover_the_truth(void **state)
{
    (void)state;
    static const char *const names[] = {"c2075", "volta", "hopper-instant"};
    int covered = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        const application a = {names[seed % 3], 0.003, 0.010, seed % 2 == 0, 3000};
        outcome o = run_application(&a, seed);
        assert_int_equal(o.status, YOKE_OK);
        covered += fabs(o.profile.energy_j - o.energy_j) <= o.profile.statistical_j;
        yoke_release(context, o.profile.points);
    }
    assert_in_range(covered, 46, 60);
}

static void too_few_calls_have_no_result_and_say_so(void **state)
{
    (void)state;
    const application a = {"volta", 0.003, 0.010, true, 20};
    outcome o = run_application(&a, 1);
    assert_int_equal(o.status, YOKE_ERROR_UNAVAILABLE);
    assert_non_null(strstr(yoke_last_error(context), "updates of the sensor in 20 calls so far; at least 96 are needed"));
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
    app_simulated_options options;
    app_simulated *simulated = NULL;
    yoke_profiler *profiler = NULL;
    assert_int_equal(app_simulated_preset(context, "volta", &options), YOKE_OK);
    assert_int_equal(app_simulated_create(context, &options, &simulated), YOKE_OK);
    yoke_profile_subject s = app_simulated_subject(simulated);
    s.power_w = constant_w;
    assert_int_equal(yoke_profiler_create(context, &s, &options.sensor, NULL, &profiler), YOKE_ERROR_UNAVAILABLE);
    assert_non_null(strstr(yoke_last_error(context), "never changes"));
    assert_null(profiler);
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
    const yoke_profile_subject s = {.power_w = free_w, .clock_s = standing_s};
    const yoke_sensor sensor = {.period_s = 0.02, .window_s = 0.01, .gain_error = NAN};
    yoke_profiler *profiler = NULL;
    assert_int_equal(yoke_profiler_create(context, &s, &sensor, NULL, &profiler), YOKE_ERROR_ARGUMENT);
    assert_non_null(strstr(yoke_last_error(context), "does not advance"));
}

static void calls_out_of_order_are_refused(void **state)
{
    (void)state;
    app_simulated_options options;
    app_simulated *simulated = NULL;
    yoke_profiler *profiler = NULL;
    assert_int_equal(app_simulated_preset(context, "volta", &options), YOKE_OK);
    assert_int_equal(app_simulated_create(context, &options, &simulated), YOKE_OK);
    yoke_profile_subject s = app_simulated_subject(simulated);
    s.launch = NULL; /* are the application's */
    s.finish = NULL;
    assert_int_equal(yoke_profiler_create(context, &s, &options.sensor, NULL, &profiler), YOKE_OK);
    assert_int_equal(yoke_profiler_mark(profiler, YOKE_PROFILER_END), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_profiler_mark(profiler, YOKE_PROFILER_RUNNING), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_profiler_mark(profiler, YOKE_PROFILER_BEGIN), YOKE_OK);
    assert_int_equal(yoke_profiler_mark(profiler, YOKE_PROFILER_BEGIN), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_profiler_mark(profiler, YOKE_PROFILER_END), YOKE_OK);
    assert_int_equal(yoke_profiler_result(profiler, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_profiler_mark(NULL, YOKE_PROFILER_BEGIN), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_profiler_create(context, NULL, &options.sensor, NULL, &profiler), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_profiler_create(context, &s, NULL, NULL, &profiler), YOKE_ERROR_ARGUMENT);
    yoke_profiler_destroy(profiler);
    yoke_profiler_destroy(NULL);
    app_simulated_destroy(simulated);
}

/* An application's calls. */
static yoke_status profile_calls(yoke_context *limited, app_simulated *simulated, const yoke_sensor *sensor)
{
    yoke_profile_subject s = app_simulated_subject(simulated);
    yoke_profiler *profiler = NULL;
    yoke_profile profile = {0};
    yoke_status status = yoke_profiler_create(limited, &s, sensor, NULL, &profiler);
    for (int k = 0; k < 800 && !status; k++) {
        app_simulated_wait(simulated, 0.01 * fmod(k * 0.618, 1));
        status = yoke_profiler_mark(profiler, YOKE_PROFILER_BEGIN);
        s.launch(s.user);
        s.finish(NULL, NULL, s.user);
        if (!status) status = yoke_profiler_mark(profiler, YOKE_PROFILER_END);
    }
    if (!status) status = yoke_profiler_result(profiler, &profile);
    if (!status) yoke_release(limited, profile.points);
    yoke_profiler_destroy(profiler);
    return status;
}

static void a_failing_allocation_is_an_error_and_leaves_nothing(void **state)
{
    (void)state;
    failing memory = {.fail_at = 0};
    const yoke_options options = failing_options(&memory);
    yoke_context *limited = NULL;
    yoke_status status = YOKE_ERROR_MEMORY;
    int64_t tries = 0;
    assert_int_equal(yoke_context_create(&options, &limited), YOKE_OK);
    int64_t before = memory.outstanding;
    for (; status != YOKE_OK; tries++) {
        app_simulated_options simulation;
        app_simulated *simulated = NULL;
        assert_int_equal(app_simulated_preset(context, "volta,seconds=0.003", &simulation), YOKE_OK);
        assert_int_equal(app_simulated_create(context, &simulation, &simulated), YOKE_OK);
        failing_allow(&memory, tries);
        status = profile_calls(limited, simulated, &simulation.sensor);
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
    cmocka_unit_test(the_profile_of_calls_follows_their_power),
    cmocka_unit_test(stated_uncertainties_cover_the_truth),
    cmocka_unit_test(too_few_calls_have_no_result_and_say_so),
    cmocka_unit_test(a_stuck_sensor_is_refused),
    cmocka_unit_test(a_clock_that_stands_still_is_refused),
    cmocka_unit_test(calls_out_of_order_are_refused),
    cmocka_unit_test(a_failing_allocation_is_an_error_and_leaves_nothing),
};

UNIT_MAIN(tests, setup, teardown)
