/*
 * Numbers of the dissertation's chapter 5, and of simulations of its algorithms on its sensor (prof.* of the golden numbers).  Its algorithms are
 * written down here as printed; the library's differ where the printed ones fail.
 */
#include <math.h>

#include "common/machine/simulated_sensor.h"
#include "context.h"
#include "profile/arithmetic.h"

static const double idle_w = 76, kernel_w = 96, period_s = 0.02, delay_s = 0.006;

/* The dissertation's sensor with a rectangular kernel. */
static app_simulated *c2075(double run_s, double noise_w, uint64_t seed)
{
    app_simulated_options options;
    app_simulated *simulated = NULL;
    assert_int_equal(app_simulated_preset(context, "c2075", &options), YOKE_OK);
    options.sensor.period_s = period_s;
    options.sensor.noise_w = noise_w;
    options.idle_w = idle_w;
    options.seconds[0] = run_s;
    options.watts[0] = kernel_w;
    options.read_s = 5e-5;
    options.spread = 0;
    options.seed = seed;
    assert_int_equal(app_simulated_create(context, &options, &simulated), YOKE_OK);
    return simulated;
}

enum { MAX_POINTS = 8000 };

/* Alg. 5.1 as printed; returns the energy above static power by the trapezoid rule from a point (0, static power) on. */
static double paper_offline(app_simulated *simulated, double run_s, int runs, int *points)
{
    static profile_sample samples[MAX_POINTS];
    yoke_profile_subject s = app_simulated_subject(simulated);
    double window = delay_s + run_s + period_s, last = 0, power = 0;
    int count = 0;
    samples[count++] = (profile_sample){0, 0};
    for (int k = 0; k < runs; k++) {
        double random = fmod((k + 1) * 0.7548776662466927, 1); /* fills [0, 1) evenly */
        s.wait_until(s.clock_s(s.user) + period_s * (1 + random), s.user);
        s.power_w(&last, s.user);
        s.launch(s.user);
        double start = s.clock_s(s.user), now = start;
        while (now < start + window) {
            s.power_w(&power, s.user);
            if (power != last) {
                double update = s.clock_s(s.user);
                if (count < MAX_POINTS && update - start <= window) samples[count++] = (profile_sample){update - start, power - idle_w};
                last = power;
            }
            now = s.clock_s(s.user);
        }
    }
    profile_area area;
    profile_sort(samples, count);
    assert_int_equal(profile_integrate(context, samples, count, 0, window, &area), YOKE_OK);
    *points = count - 1;
    return area.joules;
}

/* prof.sim.te4.n100 ... te20.n1000: {run, runs, standard deviation, tolerance = |bias| + 4 sd, points} */
static const struct {
    double run_s;
    int runs;
    double sd, tolerance;
    int points;
} simulations[] = {
    {0.004, 100, 0.04182, 0.1699, 147},   {0.004, 1000, 0.00363, 0.0148, 1502}, {0.008, 100, 0.01641, 0.0663, 178},
    {0.008, 1000, 0.00163, 0.0066, 1715}, {0.020, 100, 0.00155, 0.0063, 227},   {0.020, 1000, 0.00069, 0.0028, 2290},
};

static void the_printed_offline_algorithm_has_the_published_error_on_the_simulated_sensor(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof simulations / sizeof simulations[0]; i++) {
        enum { SEEDS = 12 };
        double sum = 0, truth = kernel_w * simulations[i].run_s;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            int points = 0;
            app_simulated *simulated = c2075(simulations[i].run_s, 1, seed);
            double error = paper_offline(simulated, simulations[i].run_s, simulations[i].runs, &points) / truth - 1;
            app_simulated_destroy(simulated);
            assert_true(fabs(error) <= simulations[i].tolerance);
            assert_true(abs(points - simulations[i].points) <= 0.15 * simulations[i].points);
            sum += error;
        }
        assert_true(fabs(sum / SEEDS) <= 0.5 * simulations[i].tolerance);
    }
}

static void the_printed_offline_algorithm_fails_without_noise(void **state)
{
    (void)state;
    int points = 0;
    app_simulated *simulated = c2075(0.004, 0, 3); /* prof.sim.noise_free.te4 */
    assert_float_equal(paper_offline(simulated, 0.004, 1000, &points), 0.9595, 0.05);
    app_simulated_destroy(simulated);
    simulated = c2075(0.020, 0, 3); /* prof.sim.noise_free.te20 */
    assert_float_equal(paper_offline(simulated, 0.020, 1000, &points), 2.064, 0.05);
    app_simulated_destroy(simulated);
}

static void the_librarys_algorithm_does_not_fail_without_noise(void **state)
{
    (void)state;
    static const double runs_s[] = {0.004, 0.008, 0.020};
    for (int i = 0; i < 3; i++)
        for (int noise = 0; noise < 2; noise++) {
            app_simulated *simulated = c2075(runs_s[i], noise, 5);
            yoke_profile_subject subject = app_simulated_subject(simulated);
            yoke_sensor sensor;
            yoke_profile profile;
            const yoke_profile_options options = {.runs = 100, .points = -1};
            assert_int_equal(yoke_sensor_identify(context, &subject, &sensor), YOKE_OK);
            assert_int_equal(yoke_profile_measure(context, &subject, &sensor, &options, &profile), YOKE_OK);
            /* With as many runs as the paper's, at phases that are chosen and not drawn. */
            assert_true(fabs(profile.dynamic_j / (kernel_w * runs_s[i]) - 1) < 0.03);
            yoke_release(context, profile.points);
            app_simulated_destroy(simulated);
        }
}

/* What the sensor shows without noise at a time since the kernel's start. */
static void model(double run_s, const double (*segments)[3], int count, double energy_j, double energy_to_end_j)
{
    app_simulated *simulated = c2075(run_s, 0, 1);
    yoke_profile_subject s = app_simulated_subject(simulated);
    double start = app_simulated_clock_s(simulated) + 5e-6, area = 0, early = 0, step = 1e-5;
    assert_int_equal(s.launch(s.user), YOKE_OK);
    for (int k = 0; k < 5000; k++) {
        double t = (k + 0.5) * step, expected = 0, shown = app_simulated_shown_w(simulated, start + t) - idle_w;
        for (int i = 0; i < count; i++)
            if (t > segments[i][0] && t < segments[i][1]) expected = segments[i][2];
        assert_float_equal(shown, expected, 1e-9);
        area += shown * step;
        if (t < delay_s + run_s) early += shown * step;
    }
    assert_float_equal(area, energy_j, 1e-9);
    assert_float_equal(early, energy_to_end_j, 1e-9);
    app_simulated_destroy(simulated);
}

static void a_short_kernel_shows_two_bumps_of_half_its_power(void **state)
{
    (void)state;
    static const double segments[][3] = {{0.006, 0.010, 48}, {0.016, 0.020, 48}}; /* prof.model.te4; fig. 5.3a */
    model(0.004, segments, 2, 0.384, 0.192);
}

static void a_long_kernel_shows_a_staircase(void **state)
{
    (void)state;
    static const double segments[][3] = {{0.006, 0.016, 48}, {0.016, 0.026, 96}, {0.026, 0.036, 48}}; /* prof.model.te20; fig. 5.3b */
    model(0.020, segments, 3, 1.92, 1.44);
}

/* What is shown of a kernel at a time since its start, with a delay of 6.3 ms as in the dissertation's plots. */
static double shown_w(double run_s, double watts, double since_s)
{
    app_simulated_options options;
    app_simulated *simulated = NULL;
    assert_int_equal(app_simulated_preset(context, "c2075,noise=0,delay=0.0063,idle=76", &options), YOKE_OK);
    options.seconds[0] = run_s;
    options.watts[0] = watts;
    options.spread = 0;
    assert_int_equal(app_simulated_create(context, &options, &simulated), YOKE_OK);
    yoke_profile_subject s = app_simulated_subject(simulated);
    double start = app_simulated_clock_s(simulated) + options.launch_s;
    assert_int_equal(s.launch(s.user), YOKE_OK);
    double shown = app_simulated_shown_w(simulated, start + since_s);
    app_simulated_destroy(simulated);
    return shown;
}

static void published_powers_are_what_the_sensor_shows(void **state)
{
    (void)state;
    assert_float_equal(shown_w(0.004, 96, 0.008), 124, 0.5);         /* prof.sgemm_half */
    assert_float_equal(shown_w(0.020, 96, 0.020) - idle_w, 96, 0.5); /* prof.sgemm_dyn: 172 W */
    assert_float_equal(shown_w(0.020, 90, 0.020), 166, 0.5);         /* prof.dgemm_dyn: printed 92 */
    assert_float_equal(shown_w(0.020, 96, 0.01625), 124, 0.5);       /* prof.stairs: at 6.3 ms and */
    assert_float_equal(shown_w(0.020, 96, 0.01635), 172, 0.5);       /* at 16.3 ms, printed as seconds */
    assert_true(shown_w(0.020, 96, 0.00625) < 77 && shown_w(0.020, 96, 0.00635) > 123);
}

static void a_hundred_runs_sample_at_5000_per_second(void **state)
{
    (void)state;
    app_simulated_options options;
    app_simulated *simulated = NULL;
    yoke_profile profile;
    int64_t in_period = 0;
    assert_int_equal(app_simulated_preset(context, "c2075,seconds=0.004", &options), YOKE_OK);
    assert_float_equal(1 / options.sensor.period_s, 50, 1e-3 * 50); /* prof.fs */
    assert_int_equal(app_simulated_create(context, &options, &simulated), YOKE_OK);
    yoke_profile_subject subject = app_simulated_subject(simulated);
    const yoke_profile_options wanted = {.runs = 100};
    assert_int_equal(yoke_profile_measure(context, &subject, &options.sensor, &wanted, &profile), YOKE_OK);
    for (int64_t i = 0; i < profile.num_readings; i++) in_period += profile.readings[i].time_s < options.sensor.period_s;
    assert_float_equal((double)in_period / options.sensor.period_s, 5000, 150); /* prof.eff_rate */
    yoke_release(context, profile.points);
    app_simulated_destroy(simulated);
}

static void the_next_update_counts_from_the_last_synchronisation(void **state)
{
    (void)state;
    const sensor_clock clock = {.sync_s = 7.003, .period_s = period_s}; /* prof.alg52_line13: printed without t_sync in front */
    for (double start = 7.01; start < 8; start += 0.0137) {
        double corrected = clock.sync_s + (floor((start - clock.sync_s) / period_s) + 1) * period_s;
        assert_float_equal(sensor_clock_next(&clock, start), corrected, 1e-12);
        assert_true(sensor_clock_next(&clock, start) > start && sensor_clock_next(&clock, start) <= start + period_s + 1e-12);
        assert_float_equal(sensor_clock_last(&clock, start), corrected - period_s, 1e-12);
    }
}

/* prof.online_coverage: an update that comes in the run shows nothing of it where the delay is longer. */
static void the_printed_online_algorithm_sees_nothing_of_a_kernel_shorter_than_the_delay(void **state)
{
    (void)state;
    const double run_s = 0.004;
    app_simulated *simulated = c2075(run_s, 0.01, 9); /* noise shows that there was an update */
    yoke_profile_subject s = app_simulated_subject(simulated);
    int accepted = 0;
    for (int k = 0; k < 2000; k++) {
        double before = 0, power = 0;
        s.wait_until(s.clock_s(s.user) + 0.041 + 0.02 * fmod(k * 0.618, 1), s.user);
        s.power_w(&before, s.user);
        s.launch(s.user);
        s.finish(NULL, NULL, s.user);
        s.power_w(&power, s.user);
        if (power == before) continue; /* none in the run */
        accepted++;
        assert_float_equal(power, idle_w, 0.1);
    }
    assert_true(accepted > 200); /* the useful part of the calls is about run / period */
    app_simulated_destroy(simulated);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_printed_offline_algorithm_has_the_published_error_on_the_simulated_sensor),
    cmocka_unit_test(the_printed_offline_algorithm_fails_without_noise),
    cmocka_unit_test(the_librarys_algorithm_does_not_fail_without_noise),
    cmocka_unit_test(a_short_kernel_shows_two_bumps_of_half_its_power),
    cmocka_unit_test(a_long_kernel_shows_a_staircase),
    cmocka_unit_test(published_powers_are_what_the_sensor_shows),
    cmocka_unit_test(a_hundred_runs_sample_at_5000_per_second),
    cmocka_unit_test(the_next_update_counts_from_the_last_synchronisation),
    cmocka_unit_test(the_printed_online_algorithm_sees_nothing_of_a_kernel_shorter_than_the_delay),
};

UNIT_MAIN(tests, context_start, context_end)
