/* Speed functions of points: linear speed between them, seconds that never fall, and the exact inverse (Clarke sect. 1.3). */
#include "state.h"

#include <math.h>

#include "base/failing.h"
#include "model/speed.h"
#include "random_part.h"
#include "yoke/plan.h"

enum { MAX_POINTS = 8 };

/* Points of the golden oracles are (units, speed). */
typedef struct curve {
    int64_t count;
    double speeds[MAX_POINTS][2];
} curve;

static void points_of(const curve *from, double points[MAX_POINTS][2])
{
    for (int64_t k = 0; k < from->count; k++) {
        points[k][0] = from->speeds[k][0];
        points[k][1] = from->speeds[k][0] / from->speeds[k][1];
    }
}

static yoke_speed *speed_of(yoke_context *context, const curve *from)
{
    double points[MAX_POINTS][2];
    points_of(from, points);
    yoke_speed *speed = NULL;
    assert_int_equal(yoke_speed_create(context, from->count, points[0], &speed), YOKE_OK);
    return speed;
}

/* FPM-PA: the time at which the devices' units sum to n, by bisection. */
static double balanced_seconds(yoke_speed **speeds, int count, double n)
{
    double low = 0, high = 1e6;
    for (int step = 0; step < 200; step++) {
        double middle = (low + high) / 2, sum = 0;
        for (int i = 0; i < count; i++) sum += yoke_speed_units(speeds[i], middle);
        if (sum < n)
            low = middle;
        else
            high = middle;
    }
    return high;
}

typedef struct oracle {
    int devices;
    curve curves[4];
    int64_t units;
    double shares[4], seconds, whole_seconds;
} oracle;

/* fpm.oracle.A_const, B_drop, C_three of the golden numbers. */
static const oracle oracles[] = {
    {4, {{1, {{1, 400}}}, {1, {{1, 200}}}, {1, {{1, 100}}}, {1, {{1, 100}}}}, 800, {400, 200, 100, 100}, 1, 1},
    {2, {{1, {{1, 10}}}, {2, {{100, 20}, {200, 8}}}}, 200, {74.303941, 125.696059}, 7.430394, 7.464454976},
    {3,
     {{3, {{1, 5}, {50, 30}, {300, 30}}}, {3, {{1, 60}, {100, 60}, {150, 15}}}, {2, {{1, 12}, {400, 10}}}},
     300,
     {121.53793, 130.794579, 47.667491},
     4.051264,
     4.080102258},
};

static yoke_context *context_of(void **state) { return *state; }

static void shares_at_equal_times_are_those_of_the_oracles(void **state)
{
    for (size_t k = 0; k < sizeof oracles / sizeof oracles[0]; k++) {
        const oracle *of = &oracles[k];
        yoke_speed *speeds[4];
        for (int i = 0; i < of->devices; i++) speeds[i] = speed_of(context_of(state), &of->curves[i]);
        double seconds = balanced_seconds(speeds, of->devices, (double)of->units);
        assert_true(fabs(seconds - of->seconds) < 1e-6 * of->seconds + 1e-6);
        for (int i = 0; i < of->devices; i++) {
            assert_true(fabs(yoke_speed_units(speeds[i], seconds) - of->shares[i]) < 1e-5);
            assert_false(speeds[i]->repaired);
            yoke_speed_destroy(context_of(state), speeds[i]);
        }
    }
}

static void the_closed_form_of_two_devices_is_met(void **state)
{
    yoke_speed *speeds[2] = {speed_of(context_of(state), &oracles[1].curves[0]), speed_of(context_of(state), &oracles[1].curves[1])};
    double seconds = balanced_seconds(speeds, 2, 200);
    assert_true(fabs(seconds - 7.430394055974096) < 1e-9);
    assert_true(fabs(yoke_speed_units(speeds[0], seconds) - 74.30394055974097) < 1e-9);
    assert_true(fabs(yoke_speed_units(speeds[1], seconds) - 125.69605944025903) < 1e-9);
    for (int i = 0; i < 2; i++) yoke_speed_destroy(context_of(state), speeds[i]);
}

/* Least makespan of whole units, by a plan. */
static double planned_seconds(yoke_context *context, const curve *curves, int devices, int64_t n, int64_t *units)
{
    double points[4][MAX_POINTS][2];
    yoke_plan_level levels[4] = {0};
    yoke_plan_device all[4] = {0};
    static const char *const names[] = {"a", "b", "c", "d"};
    for (int i = 0; i < devices; i++) {
        points_of(&curves[i], points[i]);
        levels[i] = (yoke_plan_level){.frequency_hz = NAN, .num_points = curves[i].count, .points = points[i][0]};
        levels[i].dynamic_power_w = levels[i].idle_power_w = NAN;
        all[i] = (yoke_plan_device){.name = names[i], .num_levels = 1, .levels = &levels[i], .max_units = INT64_MAX};
    }
    const yoke_plan_problem problem = {
        .units = n, .repetitions = 1, .base_power_w = NAN, .host_overhead_w = NAN, .num_devices = devices, .devices = all};
    const yoke_plan_options options = {.bare = 1};
    yoke_plan *plan;
    assert_int_equal(yoke_plan_create(context, &problem, &options, &plan), YOKE_OK);
    assert_true(plan->feasible && plan->optimal);
    assert_true(isnan(plan->best.energy_j));
    double seconds = plan->best.time_s;
    int64_t sum = 0;
    for (int i = 0; i < devices; i++) sum += units[i] = plan->best.units[i];
    assert_int_equal(sum, n);
    yoke_release(context, plan);
    return seconds;
}

static void whole_units_reach_the_oracles_least_times(void **state)
{
    for (size_t k = 0; k < sizeof oracles / sizeof oracles[0]; k++) {
        int64_t units[4];
        double seconds = planned_seconds(context_of(state), oracles[k].curves, oracles[k].devices, oracles[k].units, units);
        assert_true(fabs(seconds - oracles[k].whole_seconds) < 1e-9 * seconds);
    }
}

/*
 * Oracle D: the second device takes 5 s for 50 units and 3 s for 60.  Its raw curve would give 105 units in 3.5 s (35 + 70); bisection on it can end
 * at 4.2 s with 42 + 42 = 84 units.  The running maximum says that 60 to 100 units take 5 s too, so that 105 units need 5 s.
 */
static void a_falling_curve_is_replaced_by_its_running_maximum(void **state)
{
    static const curve curves[] = {{1, {{1, 10}}}, {3, {{50, 10}, {60, 20}, {200, 20}}}};
    yoke_speed *speed = speed_of(context_of(state), &curves[1]);
    assert_true(speed->repaired);
    assert_true(fabs(yoke_speed_seconds(speed, 50) - 5) < 1e-12);
    assert_true(fabs(yoke_speed_seconds(speed, 60) - 5) < 1e-12);
    assert_true(fabs(yoke_speed_seconds(speed, 99.9) - 5) < 1e-12);
    assert_true(fabs(yoke_speed_seconds(speed, 110) - 5.5) < 1e-12);
    assert_true(fabs(yoke_speed_units(speed, 4.9999) - 49.999) < 1e-9);
    assert_true(fabs(yoke_speed_units(speed, 5) - 100) < 1e-9);
    yoke_speed_destroy(context_of(state), speed);
    int64_t units[2];
    assert_true(fabs(planned_seconds(context_of(state), curves, 2, 105, units) - 5) < 1e-12);
    assert_true(fabs(planned_seconds(context_of(state), curves, 2, 84, units) - 4.2) < 1e-12);
}

static void random_points(uint64_t *random, curve *drawn)
{
    drawn->count = 1 + (int64_t)(random_part(random) * MAX_POINTS);
    if (drawn->count > MAX_POINTS) drawn->count = MAX_POINTS;
    double units = 0;
    for (int64_t k = 0; k < drawn->count; k++) {
        units += 0.1 + 30 * random_part(random);
        drawn->speeds[k][0] = units;
        drawn->speeds[k][1] = 0.2 + 5 * random_part(random);
    }
}

/* The running maximum of the raw curve: on each segment the raw curve is monotone, so knots and the place itself decide. */
static double raw_maximum(const curve *of, double units)
{
    double most = 0, speed = of->speeds[0][1];
    int64_t last = of->count - 1;
    for (int64_t k = 0; k <= last; k++)
        if (of->speeds[k][0] <= units) most = fmax(most, of->speeds[k][0] / of->speeds[k][1]);
    for (int64_t k = 0; k < last; k++)
        if (units > of->speeds[k][0] && units <= of->speeds[k + 1][0])
            speed = of->speeds[k][1] +
                    (of->speeds[k + 1][1] - of->speeds[k][1]) * (units - of->speeds[k][0]) / (of->speeds[k + 1][0] - of->speeds[k][0]);
    if (units > of->speeds[last][0]) speed = of->speeds[last][1];
    return fmax(most, units / speed);
}

static void random_curves_never_fall_and_are_the_running_maximum(void **state)
{
    uint64_t random = 7;
    int repaired = 0;
    for (int draw = 0; draw < 2000; draw++) {
        curve drawn;
        random_points(&random, &drawn);
        yoke_speed *speed = speed_of(context_of(state), &drawn);
        repaired += speed->repaired;
        double last = 0;
        for (double units = 0.05; units < 300; units *= 1.05) {
            double seconds = yoke_speed_seconds(speed, units);
            assert_true(seconds >= last);
            assert_true(fabs(seconds - raw_maximum(&drawn, units)) < 1e-11 * seconds);
            last = seconds;
        }
        yoke_speed_destroy(context_of(state), speed);
    }
    assert_in_range(repaired, 500, 1900);
}

static void wrong_points_and_missing_memory_are_refused(void **state)
{
    static const double falling[] = {2, 1, 1, 1}, zero[] = {1, 0}, unknown[] = {NAN, 1}, right[] = {1, 1, 2, 3};
    yoke_speed *speed = NULL;
    assert_int_equal(yoke_speed_create(context_of(state), 2, falling, &speed), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_speed_create(context_of(state), 1, zero, &speed), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_speed_create(context_of(state), 1, unknown, &speed), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_speed_create(context_of(state), 0, right, &speed), YOKE_ERROR_ARGUMENT);
    failing memory = {0};
    yoke_options options = failing_options(&memory);
    yoke_context *context;
    assert_int_equal(yoke_context_create(&options, &context), YOKE_OK);
    int64_t before = memory.outstanding;
    for (int64_t skip = 1; skip <= 2; skip++) {
        memory.fail_at = memory.calls + skip;
        assert_int_equal(yoke_speed_create(context, 2, right, &speed), YOKE_ERROR_MEMORY);
        assert_null(speed);
        assert_int_equal(memory.outstanding, before);
    }
    memory.fail_at = 0;
    yoke_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(shares_at_equal_times_are_those_of_the_oracles),
    cmocka_unit_test(the_closed_form_of_two_devices_is_met),
    cmocka_unit_test(whole_units_reach_the_oracles_least_times),
    cmocka_unit_test(a_falling_curve_is_replaced_by_its_running_maximum),
    cmocka_unit_test(random_curves_never_fall_and_are_the_running_maximum),
    cmocka_unit_test(wrong_points_and_missing_memory_are_refused),
};

UNIT_MAIN(tests, state_start, state_end)
