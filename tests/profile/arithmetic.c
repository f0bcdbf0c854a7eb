/* Power profiles offline: the arithmetic, and whole measurements on simulated sensors. */
#include "profile/arithmetic.h"

#include <math.h>

#include "base/failing.h"
#include "common/machine/simulated_sensor.h"
#include "context.h"

static uint64_t random_state = 1;

static double draw(void) /* splitmix64 */
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
    double radius = sqrt(-2 * log(draw()));
    return radius * cos(6.283185307179586 * draw());
}

/* ------------------------------------------------------------------------------------------------- arithmetic */

static void the_trapezoid_rule_is_exact_for_lines_and_holds_the_ends(void **state)
{
    (void)state;
    enum { COUNT = 200 };
    profile_sample samples[COUNT];
    for (int i = 0; i < COUNT; i++) {
        double t = 2 * draw();
        samples[i] = (profile_sample){t, 5 + 3 * t};
    }
    samples[0] = (profile_sample){0, 5};
    samples[1] = (profile_sample){2, 11};
    profile_sort(samples, COUNT);
    profile_area area;
    assert_int_equal(profile_integrate(context, samples, COUNT, 0, 2, &area), YOKE_OK);
    assert_float_equal(area.joules, 16, 1e-12);
    assert_float_equal(area.variance, 0, 1e-4);
    assert_int_equal(profile_integrate(context, samples, COUNT, -1, 2, &area), YOKE_OK);
    assert_float_equal(area.joules, 21, 1e-12);
    assert_int_equal(profile_integrate(context, samples, 2, 0, 2, &area), YOKE_OK);
    assert_true(isnan(area.joules));
}

/* Noise, ramps, and steps: what is stated holds the truth in 90 to 98 % (binomial: 2000 draws, four standard deviations). */
static void the_variance_of_an_area_is_what_its_errors_are(void **state)
{
    (void)state;
    enum { COUNT = 150, TRIES = 2000 };
    for (int kind = 0; kind < 3; kind++) {
        int covered = 0;
        for (int k = 0; k < TRIES; k++) {
            profile_sample samples[COUNT];
            double truth = 0, at = draw(), from = 0.3 + 0.01 * draw(), to = 0.6 + 0.01 * draw();
            for (int i = 0; i < COUNT; i++) {
                at += 0.6180339887498949;
                at -= floor(at);
                double shown = kind == 0 ? 0 : kind == 1 ? fmin(1, fmax(0, (at - from) / 0.2)) * 20 : at > from && at < to ? 20 : 0;
                samples[i] = (profile_sample){at, shown + 0.5 * normal()};
            }
            if (kind == 1) truth = 20 * (1 - from - 0.1);
            if (kind == 2) truth = 20 * (to - from);
            profile_sort(samples, COUNT);
            profile_area area;
            assert_int_equal(profile_integrate(context, samples, COUNT, 0, 1, &area), YOKE_OK);
            covered += fabs(area.joules - truth) <= 1.96 * sqrt(area.variance);
        }
        assert_in_range(covered, 0.90 * TRIES - 54, 0.98 * TRIES + 26);
    }
}

static void quantiles_of_students_distribution_agree_with_tables(void **state)
{
    (void)state;
    assert_float_equal(profile_student(5), 2.5706, 0.005);
    assert_float_equal(profile_student(11), 2.2010, 0.001);
    assert_float_equal(profile_student(30), 2.0423, 0.001);
    assert_float_equal(profile_student(1e6), 1.96, 0.001);
    assert_true(isfinite(profile_student(0)) && isfinite(profile_student(NAN)));
}

static void unfolding_gives_power_and_idle_back(void **state)
{
    (void)state;
    enum { BINS = 20 };
    const yoke_sensor sensors[] = {{YOKE_SENSOR_MEAN, 0.02, 0.003, 0.01, 0, 0, NAN},
                                   {YOKE_SENSOR_MEAN, 0.1, 0.002, 0.1, 0, 0, NAN},
                                   {YOKE_SENSOR_HALVES, 0.02, 0.006, 0.01, 0, 0, NAN}};
    for (int s = 0; s < 3; s++) {
        profile_unfold sums;
        profile_solution solution;
        assert_int_equal(profile_unfold_start(context, BINS, &sums), YOKE_OK);
        for (int i = 0; i < 3000; i++) {
            double update = 0.2 * draw(), row[PROFILE_MAX_BINS + 1] = {0}, shown = 70;
            profile_row_add(row, BINS, &sensors[s], update, 0.01, 0.03);
            for (int k = 0; k < BINS; k++) shown += row[k] * (k < BINS / 2 ? 200 : 100 + k);
            profile_unfold_add(&sums, row, shown + 0.01 * normal(), 1);
        }
        assert_int_equal(profile_unfold_solve(context, &sums, NAN, &solution), YOKE_OK);
        assert_float_equal(solution.idle_w, 70, 0.05);
        assert_float_equal(solution.mean_w, (200 + 114.5) / 2, 0.5);
        for (int k = 0; k < BINS; k++)
            if (abs(k - BINS / 2) > 1) assert_float_equal(solution.power_w[k], k < BINS / 2 ? 200 : 100 + k, 6);
        profile_unfold_end(context, &sums);
    }
}

static void readings_that_show_no_runs_cannot_be_unfolded(void **state)
{
    (void)state;
    profile_unfold sums;
    profile_solution solution;
    assert_int_equal(profile_unfold_start(context, 5, &sums), YOKE_OK);
    assert_int_equal(profile_unfold_solve(context, &sums, NAN, &solution), YOKE_ERROR_NUMERIC);
    for (int i = 0; i < 100; i++) {
        double row[PROFILE_MAX_BINS + 1] = {0};
        profile_unfold_add(&sums, row, 70, 1);
    }
    assert_int_equal(profile_unfold_solve(context, &sums, NAN, &solution), YOKE_ERROR_NUMERIC);
    profile_unfold_end(context, &sums);
}

/* ----------------------------------------------------------------------------------------------- measurements */

static app_simulated *make(const char *text, yoke_sensor *sensor)
{
    app_simulated_options options;
    app_simulated *simulated = NULL;
    assert_int_equal(app_simulated_preset(context, text, &options), YOKE_OK);
    assert_int_equal(app_simulated_create(context, &options, &simulated), YOKE_OK);
    *sensor = options.sensor; /* as if identified */
    sensor->gain_error = NAN;
    return simulated;
}

static void a_measurement_says_what_it_did(void **state)
{
    (void)state;
    yoke_sensor sensor;
    yoke_profile profile;
    app_simulated *simulated = make("volta,seconds=0.003,bias=4", &sensor);
    yoke_profile_subject subject = app_simulated_subject(simulated);
    const yoke_profile_options options = {.runs = 300, .points = 30};
    double begin = app_simulated_clock_s(simulated);
    sensor.gain_error = 0.05;
    assert_int_equal(yoke_profile_measure(context, &subject, &sensor, &options, &profile), YOKE_OK);
    assert_float_equal(profile.energy_j, app_simulated_energy_j(simulated, true), 0.02);
    assert_float_equal(profile.dynamic_j, app_simulated_dynamic_j(simulated, true), 0.02);
    assert_float_equal(profile.uncertainty_j, hypot(profile.statistical_j, 0.05 * profile.energy_j), 1e-12);
    assert_float_equal(profile.idle_w, 74, 0.1);
    assert_float_equal(profile.run_s, 0.003, 1e-5);
    assert_true(profile.runs >= 300 && profile.runs < 600 && profile.burst == 1);
    assert_int_equal(profile.num_points, 30);
    assert_true(profile.num_readings >= 300 && profile.why_no_profile[0] == '\0');
    assert_true(profile.resolution_s > 1e-4 && profile.resolution_s < 0.003);
    assert_true(profile.reads > profile.num_readings && profile.reading_s > 0 && profile.reading_s < profile.device_s);
    assert_float_equal(profile.device_s, app_simulated_clock_s(simulated) - begin, 1e-3);
    assert_true(profile.low_c >= 39 && profile.high_c >= profile.low_c && profile.high_c < 80);
    double area = 0, width = profile.points[1].time_s - profile.points[0].time_s;
    for (int64_t i = 0; i < profile.num_points; i++) {
        area += (profile.points[i].power_w - profile.idle_w) * width;
        assert_true(profile.points[i].uncertainty_w > 0);
    }
    assert_float_equal(area, profile.dynamic_j, 1e-9);
    for (int64_t i = 1; i < profile.num_readings; i++) assert_true(profile.readings[i].time_s >= profile.readings[i - 1].time_s);
    yoke_release(context, profile.points);
    app_simulated_destroy(simulated);
}

static void too_little_time_is_refused_with_the_time_that_it_takes(void **state)
{
    (void)state;
    static const char *const names[] = {"hopper", "kepler", "turing"};
    for (int i = 0; i < 3; i++) {
        yoke_sensor sensor;
        yoke_profile profile = {.energy_j = 77};
        app_simulated *simulated = make(names[i], &sensor);
        yoke_profile_subject subject = app_simulated_subject(simulated);
        const yoke_profile_options options = {.max_s = 2};
        assert_int_equal(yoke_profile_measure(context, &subject, &sensor, &options, &profile), YOKE_ERROR_UNAVAILABLE);
        assert_non_null(strstr(yoke_last_error(context), "s of device time with this sensor; the limit (max_s) is 2 s"));
        assert_float_equal(profile.energy_j, 77, 0);
        /* And what it says is enough. */
        const char *about = strstr(yoke_last_error(context), "about ");
        assert_non_null(about);
        const yoke_profile_options enough = {.max_s = 1.3 * strtod(about + 6, NULL) + 1, .points = -1};
        assert_int_equal(yoke_profile_measure(context, &subject, &sensor, &enough, &profile), YOKE_OK);
        assert_float_equal(profile.energy_j, app_simulated_energy_j(simulated, true), 0.05 * profile.energy_j);
        yoke_release(context, profile.points);
        app_simulated_destroy(simulated);
    }
}

static void a_kernel_that_the_noise_hides_is_refused_and_never_zero(void **state)
{
    (void)state;
    yoke_sensor sensor;
    yoke_profile profile = {.energy_j = 77};
    app_simulated *simulated = make("hopper-instant,noise=40,idle=0.01,watts=0.02,seconds=0.0001", &sensor);
    yoke_profile_subject subject = app_simulated_subject(simulated);
    subject.power_w = subject.power_w;
    const yoke_profile_options options = {.max_s = 30};
    yoke_status status = yoke_profile_measure(context, &subject, &sensor, &options, &profile);
    assert_int_equal(status, YOKE_ERROR_UNAVAILABLE);
    assert_float_equal(profile.energy_j, 77, 0);
    app_simulated_destroy(simulated);
}

static void the_temperature_is_kept_in_its_band_or_the_reason_is_told(void **state)
{
    (void)state;
    yoke_sensor sensor;
    yoke_profile profile;
    app_simulated *simulated = make("volta", &sensor);
    yoke_profile_subject subject = app_simulated_subject(simulated);
    const yoke_profile_options warm = {.low_c = 52, .high_c = 56, .runs = 100}, hot = {.low_c = 120, .high_c = 130},
                               cold = {.low_c = -20, .high_c = 0};
    assert_int_equal(yoke_profile_measure(context, &subject, &sensor, &warm, &profile), YOKE_OK);
    assert_true(profile.low_c >= 52 && profile.high_c <= 56);
    yoke_release(context, profile.points);
    assert_int_equal(yoke_profile_measure(context, &subject, &sensor, &hot, &profile), YOKE_ERROR_UNAVAILABLE);
    assert_non_null(strstr(yoke_last_error(context), "the band from 120 to 130 is not reached by running the kernel"));
    assert_int_equal(yoke_profile_measure(context, &subject, &sensor, &cold, &profile), YOKE_ERROR_UNAVAILABLE);
    assert_non_null(strstr(yoke_last_error(context), "is not reached by waiting"));
    subject.temperature_c = NULL;
    assert_int_equal(yoke_profile_measure(context, &subject, &sensor, &warm, &profile), YOKE_ERROR_UNAVAILABLE);
    assert_non_null(strstr(yoke_last_error(context), "the temperature is not known"));
    app_simulated_destroy(simulated);
}

static void runs_longer_than_the_period_are_profiled_too(void **state)
{
    (void)state;
    static const char *const names[] = {"c2075,seconds=0.05", "volta,seconds=0.11", "turing,seconds=0.3"};
    for (int i = 0; i < 3; i++) {
        yoke_sensor sensor;
        yoke_profile profile;
        app_simulated *simulated = make(names[i], &sensor);
        yoke_profile_subject subject = app_simulated_subject(simulated);
        assert_int_equal(yoke_profile_measure(context, &subject, &sensor, NULL, &profile), YOKE_OK);
        assert_float_equal(profile.energy_j, app_simulated_energy_j(simulated, true), 0.01 * profile.energy_j);
        assert_true(profile.num_points > 0);
        yoke_release(context, profile.points);
        app_simulated_destroy(simulated);
    }
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    yoke_sensor sensor, wrong;
    yoke_profile profile;
    app_simulated *simulated = make("volta", &sensor);
    yoke_profile_subject subject = app_simulated_subject(simulated);
    const yoke_profile_options options[] = {{.target = -1},
                                            {.target = NAN},
                                            {.max_s = -1},
                                            {.max_s = INFINITY},
                                            {.runs = -1},
                                            {.low_c = 3, .high_c = 2},
                                            {.low_c = NAN, .high_c = 2}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        assert_int_equal(yoke_profile_measure(context, &subject, &sensor, &options[i], &profile), YOKE_ERROR_ARGUMENT);
    double *const numbers[] = {&wrong.period_s, &wrong.delay_s, &wrong.window_s, &wrong.noise_w};
    for (int i = 0; i < 4; i++) {
        wrong = sensor;
        *numbers[i] = NAN;
        assert_int_equal(yoke_profile_measure(context, &subject, &wrong, NULL, &profile), YOKE_ERROR_ARGUMENT);
        *numbers[i] = -1;
        assert_int_equal(yoke_profile_measure(context, &subject, &wrong, NULL, &profile), YOKE_ERROR_ARGUMENT);
    }
    assert_int_equal(yoke_profile_measure(context, &subject, NULL, NULL, &profile), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_profile_measure(context, NULL, &sensor, NULL, &profile), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_profile_measure(context, &subject, &sensor, NULL, NULL), YOKE_ERROR_ARGUMENT);
    app_simulated_destroy(simulated);
}

/* ----------------------------------------------------------------------------------------------------- memory */

static void a_failing_allocation_is_an_error_and_leaves_nothing(void **state)
{
    (void)state;
    failing memory = {.fail_at = 0};
    const yoke_options options = failing_options(&memory);
    yoke_context *limited = NULL;
    yoke_status status = YOKE_ERROR_MEMORY;
    assert_int_equal(yoke_context_create(&options, &limited), YOKE_OK);
    int64_t before = memory.outstanding, tries = 0;
    for (int64_t allowed = 0; status != YOKE_OK; allowed++, tries++) {
        yoke_sensor sensor;
        yoke_profile profile;
        app_simulated *simulated = make("pascal,seconds=0.002", &sensor); /* has memory of its own */
        yoke_profile_subject subject = app_simulated_subject(simulated);
        const yoke_profile_options some = {.runs = 100, .points = 10};
        failing_allow(&memory, allowed);
        status = yoke_sensor_identify(limited, &subject, &sensor);
        if (!status) status = yoke_profile_measure(limited, &subject, &sensor, &some, &profile);
        if (status) {
            assert_int_equal(status, YOKE_ERROR_MEMORY);
        } else {
            yoke_release(limited, profile.points);
        }
        assert_int_equal(memory.outstanding, before);
        app_simulated_destroy(simulated);
        assert_true(tries < 200);
    }
    assert_true(tries > 10);
    yoke_context_destroy(limited);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_trapezoid_rule_is_exact_for_lines_and_holds_the_ends),
    cmocka_unit_test(the_variance_of_an_area_is_what_its_errors_are),
    cmocka_unit_test(quantiles_of_students_distribution_agree_with_tables),
    cmocka_unit_test(unfolding_gives_power_and_idle_back),
    cmocka_unit_test(readings_that_show_no_runs_cannot_be_unfolded),
    cmocka_unit_test(a_measurement_says_what_it_did),
    cmocka_unit_test(too_little_time_is_refused_with_the_time_that_it_takes),
    cmocka_unit_test(a_kernel_that_the_noise_hides_is_refused_and_never_zero),
    cmocka_unit_test(the_temperature_is_kept_in_its_band_or_the_reason_is_told),
    cmocka_unit_test(runs_longer_than_the_period_are_profiled_too),
    cmocka_unit_test(nonsense_is_refused),
    cmocka_unit_test(a_failing_allocation_is_an_error_and_leaves_nothing),
};

UNIT_MAIN(tests, context_start, context_end)
