/* What a sensor of power is found to be, against what it is. */
#include "profile/sensor.h"

#include <math.h>

#include "common/machine/simulated_sensor.h"
#include "context.h"

static double draw(uint64_t *random) /* splitmix64 */
{
    uint64_t z = *random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* ------------------------------------------------------------------------------------------------- arithmetic */

static void every_shape_shows_all_of_a_step_in_the_end_and_nothing_before(void **state)
{
    (void)state;
    for (int shape = YOKE_SENSOR_MEAN; shape <= YOKE_SENSOR_LOW_PASS; shape++) {
        const yoke_sensor sensor = {.shape = (yoke_sensor_shape)shape, .delay_s = 0.003, .window_s = 0.02};
        assert_true(sensor_response(&sensor, -1) == 0 && sensor_response(&sensor, 0.0029) == 0);
        assert_float_equal(sensor_response(&sensor, sensor_settle_s(&sensor)), 1, 4e-4);
        for (double t = 0; t < 0.1; t += 1e-4) assert_true(sensor_response(&sensor, t + 1e-4) >= sensor_response(&sensor, t));
    }
    const yoke_sensor mean = {.delay_s = 0.003, .window_s = 0.02}, none = {.delay_s = 0.003};
    assert_float_equal(sensor_response(&mean, 0.013), 0.5, 1e-12);
    assert_float_equal(sensor_response(&none, 0.0031), 1, 0);
}

static void the_step_of_readings_is_found(void **state)
{
    (void)state;
    const double watts[] = {70, 71, 300}, tenths[] = {70.1, 71, 300}, milliwatts[] = {70.123, 71, 300.001}, none[] = {70.12345};
    assert_float_equal(sensor_quantum(watts, 3), 1, 0);
    assert_float_equal(sensor_quantum(tenths, 3), 0.1, 1e-15);
    assert_float_equal(sensor_quantum(milliwatts, 3), 1e-3, 1e-15);
    assert_float_equal(sensor_quantum(none, 1), 0, 0);
    assert_float_equal(sensor_quantum(none, 0), 0, 0);
}

/* Changes at updates of a period, each left out with a probability, seen between two readings. */
static int64_t make_changes(double period_s, double poll_s, double left_out, int64_t count, uint64_t *random, sensor_change *changes)
{
    double update = 50 + draw(random);
    int64_t number = 0;
    while (number < count) {
        update += period_s;
        if (draw(random) < left_out) continue;
        double after = update - poll_s * draw(random);
        changes[number++] = (sensor_change){after, after + poll_s};
    }
    return number;
}

static void the_period_is_found_though_many_updates_do_not_change_the_reading(void **state)
{
    (void)state;
    static const double periods[] = {0.0200082, 0.1, 0.001, 0.0997};
    enum { CHANGES = 64 };
    sensor_change changes[CHANGES];
    uint64_t random = 1;
    for (int k = 0; k < 200; k++) {
        double period = periods[k % 4], left_out = 0.1 * (k % 7);
        sensor_clock clock;
        make_changes(period, 0.03 * period * draw(&random) + 1e-6, left_out, CHANGES, &random, changes);
        assert_int_equal(sensor_fit_period(context, changes, CHANGES, &clock), YOKE_OK);
        assert_float_equal(clock.period_s, period, 1e-3 * period);
        if (k % 7 == 0) assert_float_equal(clock.period_s, period, 2e-4 * period);
        double off = remainder(clock.sync_s - 0.5 * (changes[CHANGES - 1].after_s + changes[CHANGES - 1].until_s), period);
        assert_true(fabs(off) < 0.03 * period);
    }
}

static void the_period_is_found_though_some_updates_come_late(void **state)
{
    (void)state;
    enum { CHANGES = 80 };
    sensor_change changes[CHANGES];
    uint64_t random = 9;
    for (int k = 0; k < 100; k++) {
        sensor_clock clock;
        make_changes(0.02, 1e-4, 0.1, CHANGES, &random, changes);
        for (int i = 0; i < CHANGES; i++) {
            double late = draw(&random) < 0.07 ? 0.007 * draw(&random) : 0; /* up to a third of a period */
            changes[i].after_s += late;
            changes[i].until_s += late;
        }
        assert_int_equal(sensor_fit_period(context, changes, CHANGES, &clock), YOKE_OK);
        assert_float_equal(clock.period_s, 0.02, 2e-4 * 0.02);
    }
}

static void changes_without_a_period_are_refused(void **state)
{
    (void)state;
    enum { CHANGES = 64 };
    sensor_change changes[CHANGES];
    uint64_t random = 5;
    sensor_clock clock = {.period_s = 77};
    double time = 0;
    for (int i = 0; i < CHANGES; i++) {
        time += 0.02 + 0.02 * draw(&random);
        changes[i] = (sensor_change){time, time + 1e-4};
    }
    assert_int_equal(sensor_fit_period(context, changes, CHANGES, &clock), YOKE_ERROR_UNAVAILABLE);
    assert_int_equal(sensor_fit_period(context, changes, 5, &clock), YOKE_ERROR_UNAVAILABLE);
    for (int i = 0; i < CHANGES; i++) changes[i] = (sensor_change){1, 1};
    assert_int_equal(sensor_fit_period(context, changes, CHANGES, &clock), YOKE_ERROR_UNAVAILABLE);
    for (int i = 0; i < CHANGES; i++) changes[i] = (sensor_change){NAN, NAN};
    assert_int_equal(sensor_fit_period(context, changes, CHANGES, &clock), YOKE_ERROR_UNAVAILABLE);
    assert_float_equal(clock.period_s, 77, 0);
}

static void the_clock_follows_updates_that_drift(void **state)
{
    (void)state;
    sensor_clock clock = {.sync_s = 10, .period_s = 0.02, .error_s = 1e-5, .drift = 1e-4};
    uint64_t random = 3;
    double update = 10;
    for (int k = 1; k <= 5000; k++) {
        update += 0.02 * (1 + 5e-5 * sin(0.002 * k));
        if (k % 10 != 0) continue; /* every 0.2 s */
        assert_true(fabs(sensor_clock_next(&clock, update - 0.01) - update) < 4e-5);
        double after = update - 3e-5 * draw(&random);
        sensor_clock_saw(&clock, (sensor_change){after, after + 3e-5});
    }
    double before = clock.sync_s;
    sensor_clock_saw(&clock, (sensor_change){NAN, NAN}); /* is not believed */
    assert_float_equal(clock.sync_s, before, 0);
}

/* ----------------------------------------------------------------------------------------- identified sensors */

typedef struct limits {
    double delay_s, window_s; /* largest errors */
} limits;

static void check(const app_simulated_options *options, limits most)
{
    app_simulated *simulated = NULL;
    yoke_sensor found;
    const yoke_sensor *truth = &options->sensor;
    assert_int_equal(app_simulated_create(context, options, &simulated), YOKE_OK);
    yoke_profile_subject subject = app_simulated_subject(simulated);
    double begin = app_simulated_clock_s(simulated);
    yoke_status status = yoke_sensor_identify(context, &subject, &found);
    double spent = app_simulated_clock_s(simulated) - begin;
    app_simulated_destroy(simulated);
    assert_int_equal(status, YOKE_OK);
    assert_int_equal(found.shape, truth->shape);
    assert_true(fabs(found.period_s / truth->period_s - 1) < 1e-4);
    assert_true(fabs(found.delay_s - truth->delay_s) < most.delay_s);
    assert_true(fabs(found.window_s - truth->window_s) < most.window_s);
    assert_true(fabs(found.noise_w - truth->noise_w) <= 0.5 * truth->noise_w + 0.03);
    /* A sensor without noise may show nothing but whole watts. */
    if (truth->noise_w > 0) assert_float_equal(found.quantum_w, truth->quantum_w, 1e-12);
    assert_true(isnan(found.gain_error));
    assert_true(spent < 90);
}

static void all_generations_are_identified(void **state)
{
    (void)state;
    for (int i = 0; app_simulated_names[i] != NULL; i++)
        for (uint64_t seed = 1; seed <= 6; seed++) {
            app_simulated_options options;
            assert_int_equal(app_simulated_preset(context, app_simulated_names[i], &options), YOKE_OK);
            options.seed = seed;
            options.sensor.delay_s *= 0.4 + 0.2 * (double)seed;
            options.seconds[0] = seed % 2 ? 0.001 : 0.004;
            double window = options.sensor.window_s;
            check(&options, (limits){fmax(1e-3, 5e-3 * window), fmax(1e-3, 0.01 * window)});
        }
}

static void sensors_without_noise_are_identified(void **state)
{
    (void)state;
    for (int i = 0; app_simulated_names[i] != NULL; i++) {
        app_simulated_options options;
        assert_int_equal(app_simulated_preset(context, app_simulated_names[i], &options), YOKE_OK);
        options.sensor.noise_w = 0;
        options.seconds[0] = 0.002;
        options.seed = 11;
        double window = options.sensor.window_s;
        check(&options, (limits){fmax(1e-3, 5e-3 * window), fmax(1e-3, 0.01 * window)});
    }
}

static void sensors_are_identified_by_launches_that_block_and_by_slow_readings(void **state)
{
    (void)state;
    static const char *const names[] = {"c2075", "volta", "hopper-instant"};
    for (int i = 0; i < 3; i++)
        for (int slow = 0; slow < 2; slow++) {
            app_simulated_options options;
            assert_int_equal(app_simulated_preset(context, names[i], &options), YOKE_OK);
            options.blocking = !slow;
            options.read_s = slow ? 6e-4 : 3e-5;
            options.seconds[0] = 0.002;
            check(&options, (limits){1e-3, 1e-3});
        }
}

/* ---------------------------------------------------------------------------------------------------- failures */

static void wait(app_simulated *simulated, double seconds)
{
    const yoke_profile_subject s = app_simulated_subject(simulated);
    s.wait_until(s.clock_s(s.user) + seconds, s.user);
}

static yoke_status stuck_w(double *watts, void *user)
{
    wait(user, 5e-4);
    *watts = 70;
    return YOKE_OK;
}

static yoke_status absurd_w(double *watts, void *user)
{
    (void)user;
    *watts = NAN;
    return YOKE_OK;
}

static yoke_status broken_w(double *watts, void *user)
{
    (void)user;
    *watts = 1;
    return yoke_fail(context, YOKE_ERROR_DEVICE, "the card fell off the bus");
}

static yoke_status erratic_w(double *watts, void *user) /* noise, a new number with each reading */
{
    static uint64_t random = 1;
    wait(user, 5e-4);
    *watts = 70 + draw(&random);
    return YOKE_OK;
}

static void sensors_that_cannot_be_identified_are_refused_with_the_reason(void **state)
{
    (void)state;
    const struct {
        yoke_status (*power_w)(double *watts, void *user);
        yoke_status status;
        const char *text;
    } cases[] = {
        {stuck_w, YOKE_ERROR_UNAVAILABLE, "changed only 0 times"},
        {absurd_w, YOKE_ERROR_UNAVAILABLE, "expected 0 to 1e+07"},
        {broken_w, YOKE_ERROR_DEVICE, "fell off the bus"},
        {erratic_w, YOKE_ERROR_UNAVAILABLE, "no common period"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        app_simulated_options options;
        app_simulated *simulated = NULL;
        yoke_sensor sensor = {.period_s = 55};
        assert_int_equal(app_simulated_preset(context, "volta", &options), YOKE_OK);
        assert_int_equal(app_simulated_create(context, &options, &simulated), YOKE_OK);
        yoke_profile_subject subject = app_simulated_subject(simulated);
        subject.power_w = cases[i].power_w;
        assert_int_equal(yoke_sensor_identify(context, &subject, &sensor), cases[i].status);
        assert_non_null(strstr(yoke_last_error(context), cases[i].text));
        assert_float_equal(sensor.period_s, 55, 0);
        app_simulated_destroy(simulated);
    }
}

static void a_load_that_does_not_show_is_refused(void **state)
{
    (void)state;
    app_simulated_options options;
    app_simulated *simulated = NULL;
    yoke_sensor sensor;
    assert_int_equal(app_simulated_preset(context, "volta,watts=0", &options), YOKE_OK);
    assert_int_equal(app_simulated_create(context, &options, &simulated), YOKE_OK);
    yoke_profile_subject subject = app_simulated_subject(simulated);
    assert_int_equal(yoke_sensor_identify(context, &subject, &sensor), YOKE_ERROR_UNAVAILABLE);
    assert_non_null(strstr(yoke_last_error(context), "the load does not show"));
    subject.finish = NULL;
    assert_int_equal(yoke_sensor_identify(context, &subject, &sensor), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_sensor_identify(context, NULL, &sensor), YOKE_ERROR_ARGUMENT);
    app_simulated_destroy(simulated);
}

static void names_of_simulated_sensors_are_checked(void **state)
{
    (void)state;
    app_simulated_options options;
    static const char *const wrong[] = {"voltta", "volta,", "volta,noise", "volta,noise=x", "volta,nois=1", "volta,blocking=2", ""};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(app_simulated_preset(context, wrong[i], &options), YOKE_ERROR_INPUT);
    app_simulated *simulated = NULL;
    assert_int_equal(app_simulated_preset(context, "volta,period=0", &options), YOKE_OK);
    assert_int_equal(app_simulated_create(context, &options, &simulated), YOKE_ERROR_INPUT);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_shape_shows_all_of_a_step_in_the_end_and_nothing_before),
    cmocka_unit_test(the_step_of_readings_is_found),
    cmocka_unit_test(the_period_is_found_though_many_updates_do_not_change_the_reading),
    cmocka_unit_test(the_period_is_found_though_some_updates_come_late),
    cmocka_unit_test(changes_without_a_period_are_refused),
    cmocka_unit_test(the_clock_follows_updates_that_drift),
    cmocka_unit_test(all_generations_are_identified),
    cmocka_unit_test(sensors_without_noise_are_identified),
    cmocka_unit_test(sensors_are_identified_by_launches_that_block_and_by_slow_readings),
    cmocka_unit_test(sensors_that_cannot_be_identified_are_refused_with_the_reason),
    cmocka_unit_test(a_load_that_does_not_show_is_refused),
    cmocka_unit_test(names_of_simulated_sensors_are_checked),
};

UNIT_MAIN(tests, context_start, context_end)
