/* From samples to joules: against sums of 128 bits, and against streams whose truth is known. */
#include <math.h>

#include "unit.h"

#include "meter/track.h"

__extension__ typedef unsigned __int128 wide;

/* Random numbers by splitmix64. */
static uint64_t next(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t mixed = *state;
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

static double uniform(uint64_t *state) { return (double)(next(state) >> 11) * 0x1p-53; }

static meter_domain domain_of(meter_quantity quantity)
{
    meter_domain domain;
    meter_domain_start(&domain, "test", "test:0");
    domain.quantity = quantity;
    domain.info.source = YOKE_ENERGY_MEASURED;
    domain.info.period_s = 0.001;
    domain.unit_j = 1e-6;
    domain.most_w = 400;
    domain.window_s = 0.001;
    return domain;
}

static void count_at(meter_track *track, double time_s, uint64_t count)
{
    meter_track_sample(track, METER_READ, &(meter_sample){.time_s = time_s, .count = count}, 0, "");
}

static void power_at(meter_track *track, double time_s, double power_w)
{
    meter_track_sample(track, METER_READ, &(meter_sample){.time_s = time_s, .power_w = power_w}, 0, "");
}

static void random_counters_agree_with_sums_of_128_bits(void **state)
{
    (void)state;
    uint64_t random = 7;
    for (int stream = 0; stream < 2000; stream++) {
        meter_domain domain = domain_of(METER_COUNTER);
        static const uint64_t ranges[] = {0, 4294967296U, 262143328850U, 65712999613U, 1000000U, UINT64_MAX};
        domain.range = ranges[next(&random) % 6];
        domain.unit_j = domain.range == 0 || domain.range == UINT64_MAX ? 0x1p-32 : 1e-6;
        domain.info.period_s = 0;
        meter_track track;
        meter_track_start(&track, &domain);
        uint64_t most = domain.range != 0 ? domain.range : UINT64_MAX;
        wide truth = next(&random) % most, begin = truth;
        int first = (int)(next(&random) % 40); /* of the region */
        double wrap_s = domain.range != 0 ? (double)domain.range * domain.unit_j / domain.most_w : 1000, time_s = 0;
        count_at(&track, 0, (uint64_t)(domain.range != 0 ? truth % domain.range : truth));
        meter_mark mark;
        double begin_s = 0;
        for (int i = 0; i < 50; i++) {
            if (i == first) {
                meter_track_mark(&track, &mark);
                begin = truth;
                begin_s = time_s;
            }
            /* As often as the watching thread does, at any power that there can be. */
            double step_s = 0.49 * wrap_s * uniform(&random) + 1e-6;
            truth += (wide)(uniform(&random) * domain.most_w * step_s / domain.unit_j);
            time_s += step_s;
            count_at(&track, time_s, (uint64_t)(domain.range != 0 ? truth % domain.range : truth));
        }
        yoke_energy energy;
        meter_track_energy(&track, &mark, time_s - begin_s, &energy);
        double expected = (double)(truth - begin) * domain.unit_j;
        /* Up to 2^53 counts a double tells all of them. */
        double allowed = truth - begin < ((wide)1 << 53) ? 0 : 4e-16 * expected;
        if (!(fabs(energy.value_j - expected) <= allowed))
            fail_msg("stream %d: %.17g J instead of %.17g J (%s)", stream, energy.value_j, expected, energy.why_not);
    }
}

static void random_steps_never_leave_the_interval(void **state)
{
    (void)state;
    uint64_t random = 11;
    int values = 0;
    /* Any times between readings, and counters that do anything within their power: a value is right, or there is none. */
    for (int stream = 0; stream < 5000; stream++) {
        meter_domain domain = domain_of(METER_COUNTER);
        domain.range = 65712999613U;
        domain.info.period_s = 0;
        meter_track track;
        meter_track_start(&track, &domain);
        wide truth = next(&random) % domain.range, begin = truth;
        double time_s = 0;
        count_at(&track, 0, (uint64_t)truth);
        meter_mark mark;
        meter_track_mark(&track, &mark);
        for (int i = 0; i < 4; i++) {
            double step_s = 300 * uniform(&random);
            truth += (wide)(uniform(&random) * domain.most_w * step_s / domain.unit_j);
            time_s += step_s;
            count_at(&track, time_s, (uint64_t)(truth % domain.range));
        }
        yoke_energy energy;
        meter_track_energy(&track, &mark, time_s, &energy);
        if (isnan(energy.value_j)) {
            assert_true(energy.why_not[0] != '\0');
            continue;
        }
        values++;
        assert_true(fabs(energy.value_j - (double)(truth - begin) * domain.unit_j) <= energy.uncertainty_j);
    }
    assert_in_range(values, 100, 4900);
}

static void energy_of_weeks_is_exact_to_the_count(void **state)
{
    (void)state;
    meter_domain domain = domain_of(METER_COUNTER);
    domain.unit_j = 0x1p-32; /* 64 bits of it are 50 days of 1 kW */
    domain.most_w = 2000;
    meter_track track;
    meter_track_start(&track, &domain);
    meter_mark mark;
    uint64_t count = 12345;
    const uint64_t step = UINT64_C(1000) << 42; /* 1000 W for 1024 s */
    count_at(&track, 0, count);
    meter_track_mark(&track, &mark);
    int64_t steps = 8438; /* 100 days */
    for (int64_t i = 1; i <= steps; i++) count_at(&track, 1024.0 * (double)i, count += step);
    count_at(&track, 1024.0 * (double)steps + 1, count += 3);
    yoke_energy energy;
    meter_track_energy(&track, &mark, 1024.0 * (double)steps + 1, &energy);
    assert_true(energy.value_j == 1024000.0 * (double)steps + 3 * 0x1p-32 || fabs(energy.value_j - 1024000.0 * (double)steps) < 1e-6);
    meter_track_mark(&track, &mark);
    count_at(&track, 1024.0 * (double)steps + 2, count += 5);
    meter_track_energy(&track, &mark, 1, &energy);
    assert_true(energy.value_j == 5 * 0x1p-32);
}

static void power_of_weeks_is_summed_without_loss(void **state)
{
    (void)state;
    meter_domain domain = domain_of(METER_POWER);
    domain.info.period_s = domain.window_s = 0.1;
    meter_track track;
    meter_track_start(&track, &domain);
    meter_mark mark;
    power_at(&track, 0, 100.1);
    meter_track_mark(&track, &mark);
    const int64_t steps = 5000000;
    for (int64_t i = 1; i <= steps; i++) power_at(&track, 0.1 * (double)i, 100.1);
    yoke_energy energy;
    meter_track_energy(&track, &mark, 0.1 * (double)steps, &energy);
    assert_true(fabs(energy.value_j / (100.1 * 0.1 * (double)steps) - 1) < 1e-14);
}

/* A card with a power that changes, and a sensor that shows the mean of the last window at each update. */
static double truth_w(double time_s) { return 200 + 120 * sin(3.1 * time_s) + (fmod(time_s, 1.7) < 0.8 ? 0 : 90); }

static double mean_w(double from, double to)
{
    double sum = 0;
    for (int i = 0; i < 64; i++) sum += truth_w(from + (to - from) * (i + 0.5) / 64);
    return sum / 64;
}

static void integrated_power_holds_the_truth_for_all_generations_of_sensors(void **state)
{
    (void)state;
    static const struct {
        double period_s, window_s;
    } sensors[] = {{0.1, 0.025}, {0.1, 1}, {0.1, 0.1}, {0.02, 0.01}, {0.1, 0}};
    uint64_t random = 3;
    for (int kind = 0; kind < 5; kind++)
        for (int run = 0; run < 50; run++) {
            meter_domain domain = domain_of(METER_POWER);
            domain.info.period_s = sensors[kind].period_s;
            domain.window_s = sensors[kind].window_s;
            domain.quantum_w = 0.001;
            domain.most_w = 1000;
            meter_track track;
            meter_track_start(&track, &domain);
            double begin_s = 5 + uniform(&random), length_s = 2 + 6 * uniform(&random), phase_s = 0.1 * uniform(&random), step_s = 0.05;
            meter_mark mark;
            double truth_j = 0, time_s = begin_s;
            for (int i = 0;; i++) {
                double update_s = phase_s + sensors[kind].period_s * floor((time_s - phase_s) / sensors[kind].period_s);
                power_at(&track, time_s, round(1e3 * mean_w(update_s - sensors[kind].window_s, update_s)) / 1e3);
                if (i == 0) meter_track_mark(&track, &mark);
                if (time_s >= begin_s + length_s) break;
                double later_s = fmin(time_s + step_s, begin_s + length_s);
                truth_j += mean_w(time_s, later_s) * (later_s - time_s);
                time_s = later_s;
            }
            yoke_energy energy;
            meter_track_energy(&track, &mark, length_s, &energy);
            if (!(fabs(energy.value_j - truth_j) <= energy.uncertainty_j))
                fail_msg("sensor %d: %.6g +- %.3g J, truth %.6g J (%s)", kind, energy.value_j, energy.uncertainty_j, truth_j,
                         energy.why_not);
            assert_true(energy.uncertainty_j < (sensors[kind].window_s < 1 ? 0.5 : 0.8) * energy.value_j);
        }
}

static void power_that_changes_between_readings_widens_the_interval(void **state)
{
    (void)state;
    meter_domain domain = domain_of(METER_POWER);
    domain.info.period_s = 0.1;
    domain.window_s = 0;
    meter_track track;
    meter_track_start(&track, &domain);
    meter_mark mark;
    yoke_energy energy;
    power_at(&track, 0, 50);
    meter_track_mark(&track, &mark);
    for (int i = 1; i <= 100; i++) power_at(&track, 0.1 * i, i % 2 != 0 ? 350 : 50);
    meter_track_energy(&track, &mark, 10, &energy);
    /* It may have been high, or low, nearly all the time. */
    assert_true(energy.value_j - energy.uncertainty_j < 505 && energy.value_j + energy.uncertainty_j > 3495);
    /* A sensor whose window fills its period has seen it. */
    domain.window_s = 0.1;
    meter_track_start(&track, &domain);
    power_at(&track, 0, 50);
    meter_track_mark(&track, &mark);
    for (int i = 1; i <= 100; i++) power_at(&track, 0.1 * i, i % 2 != 0 ? 350 : 50);
    meter_track_energy(&track, &mark, 10, &energy);
    assert_true(energy.uncertainty_j < 0.05 * energy.value_j);
}

static void the_uncertainty_is_that_of_the_formula(void **state)
{
    (void)state;
    meter_domain domain = domain_of(METER_COUNTER);
    domain.unit_j = 0.001;
    domain.info.period_s = 0.1;
    domain.info.gain_error = 0.05;
    meter_track track;
    meter_track_start(&track, &domain);
    meter_mark mark;
    count_at(&track, 0, 0);
    meter_track_mark(&track, &mark);
    count_at(&track, 10, 2000000);
    yoke_energy energy;
    meter_track_energy(&track, &mark, 10, &energy);
    assert_true(energy.value_j == 2000);
    /* 2 counts + power x period + gain error; the power may be 2000 J in 9.9 s, as the counter may be a period behind. */
    assert_true(fabs(energy.uncertainty_j - (0.002 + 2000 / 9.9 * 0.1 + 0.05 * 2000)) < 1e-9);
    assert_int_equal(energy.kind, YOKE_ENERGY_MEASURED);
}

/* Constant power, a counter that is updated at times that no region knows: the truth lies in the interval of every region. */
static void a_counter_that_lags_holds_the_truth(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        meter_domain domain = domain_of(METER_COUNTER);
        domain.unit_j = 0.001;
        domain.info.period_s = 0.01;
        meter_track track;
        meter_track_start(&track, &domain);
        meter_mark mark;
        yoke_energy energy;
        double begin_s = 5 + 1e-5 * i, length_s = 0.0301 + 0.0001 * (i % 300);
        count_at(&track, begin_s, (uint64_t)(120000 * 0.01 * floor(begin_s / 0.01) + 0.5));
        meter_track_mark(&track, &mark);
        count_at(&track, begin_s + length_s, (uint64_t)(120000 * 0.01 * floor((begin_s + length_s) / 0.01) + 0.5));
        meter_track_energy(&track, &mark, length_s, &energy);
        if (!(fabs(energy.value_j - 120 * length_s) <= energy.uncertainty_j))
            fail_msg("%.4f s: %g J +- %g, not %g", length_s, energy.value_j, energy.uncertainty_j, 120 * length_s);
    }
}

static void a_region_that_is_long_enough_has_the_uncertainty_that_was_promised(void **state)
{
    (void)state;
    meter_domain domain = domain_of(METER_COUNTER);
    domain.unit_j = 0.001;
    domain.info.period_s = 0.1;
    meter_track track;
    meter_track_start(&track, &domain);
    meter_mark mark;
    yoke_energy energy;
    count_at(&track, 0, 0);
    meter_track_mark(&track, &mark);
    count_at(&track, 0.05, 10000);
    meter_track_energy(&track, &mark, 0.05, &energy);
    assert_true(isnan(energy.value_j) && isnan(energy.uncertainty_j));
    const char *at = strstr(energy.why_not, "at least ");
    assert_non_null(at);
    double enough_s = strtod(at + 9, NULL) * 1.01; /* it is printed with three digits */
    uint64_t counts = (uint64_t)(200 * enough_s / 0.001);
    count_at(&track, 0.05 + 1e-9, 10000);
    meter_track_mark(&track, &mark);
    count_at(&track, 0.05 + enough_s, 10000 + counts);
    meter_track_energy(&track, &mark, enough_s, &energy);
    assert_true(energy.uncertainty_j <= 0.1 * energy.value_j);
}

static void hostile_numbers_of_a_domain_are_refused(void **state)
{
    (void)state;
    static const double bad[] = {NAN, -1, 0, INFINITY, 1e300};
    char why[METER_WHY_BYTES];
    meter_domain domain = domain_of(METER_COUNTER);
    assert_false(meter_track_check(&domain, why)); /* no way to read */
    domain.read = (meter_read_function *)(uintptr_t)1;
    assert_true(meter_track_check(&domain, why));
    for (int i = 0; i < 5; i++) {
        domain.most_w = bad[i];
        assert_false(meter_track_check(&domain, why));
        domain.most_w = 400;
        domain.unit_j = bad[i];
        assert_false(meter_track_check(&domain, why));
        domain.unit_j = 1e-6;
    }
    domain.info.period_s = -1;
    assert_false(meter_track_check(&domain, why));
    domain.info.period_s = NAN;
    assert_true(meter_track_check(&domain, why));
    domain.info.gain_error = INFINITY;
    assert_false(meter_track_check(&domain, why));
    assert_true(why[0] != '\0');
}

static void hostile_samples_never_give_a_number(void **state)
{
    (void)state;
    static const double bad[] = {NAN, -1, INFINITY, -INFINITY, 1e300};
    for (int quantity = METER_COUNTER; quantity <= METER_ENERGY; quantity++)
        for (int i = 0; i < 5; i++)
            for (int in_time = 0; in_time < 2; in_time++) {
                if (quantity == METER_COUNTER && !in_time) continue; /* counts are whole */
                if (in_time && bad[i] == 1e300) continue;            /* late, but a time */
                if (quantity == METER_ENERGY && bad[i] == 1e300) continue;
                meter_domain domain = domain_of((meter_quantity)quantity);
                meter_track track;
                meter_track_start(&track, &domain);
                meter_mark mark;
                yoke_energy energy;
                meter_track_sample(&track, METER_READ, &(meter_sample){.time_s = 1, .power_w = 5, .energy_j = 5}, 0, "");
                meter_track_mark(&track, &mark);
                meter_sample wrong = {.time_s = in_time ? bad[i] : 1.5, .power_w = 5, .energy_j = 7, .count = 5};
                if (!in_time) wrong.power_w = wrong.energy_j = bad[i];
                meter_track_sample(&track, METER_READ, &wrong, 0, "");
                meter_track_sample(&track, METER_READ, &(meter_sample){.time_s = 2, .power_w = 5, .energy_j = 10, .count = 5000}, 0, "");
                meter_track_energy(&track, &mark, 1, &energy);
                assert_true(isnan(energy.value_j));
                assert_non_null(strstr(energy.why_not, "fault"));
            }
}

static void intervals_are_short_enough_for_wraps_and_periods(void **state)
{
    (void)state;
    meter_track track;
    meter_domain domain = domain_of(METER_COUNTER);
    meter_track_start(&track, &domain);
    assert_true(isinf(meter_track_interval_s(&track)));
    domain.range = 65712999613U;
    meter_track_start(&track, &domain);
    assert_true(meter_track_interval_s(&track) <= 65712.999613 / (2 * 400));
    domain.quantity = METER_POWER;
    domain.info.period_s = 0.02;
    meter_track_start(&track, &domain);
    assert_true(meter_track_interval_s(&track) <= 0.02);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(random_counters_agree_with_sums_of_128_bits),
    cmocka_unit_test(random_steps_never_leave_the_interval),
    cmocka_unit_test(energy_of_weeks_is_exact_to_the_count),
    cmocka_unit_test(power_of_weeks_is_summed_without_loss),
    cmocka_unit_test(integrated_power_holds_the_truth_for_all_generations_of_sensors),
    cmocka_unit_test(power_that_changes_between_readings_widens_the_interval),
    cmocka_unit_test(the_uncertainty_is_that_of_the_formula),
    cmocka_unit_test(a_counter_that_lags_holds_the_truth),
    cmocka_unit_test(a_region_that_is_long_enough_has_the_uncertainty_that_was_promised),
    cmocka_unit_test(hostile_numbers_of_a_domain_are_refused),
    cmocka_unit_test(hostile_samples_never_give_a_number),
    cmocka_unit_test(intervals_are_short_enough_for_wraps_and_periods),
};

UNIT_MAIN(tests, NULL, NULL)
