/* Shares on known curves, against closed forms, the reference solutions of the functional performance models, and exhaustive search. */
#include <math.h>

#include "plan/partition/share.h"
#include "random_part.h"
#include "unit.h"

static yoke_curve line(double seconds_per_unit)
{
    return (yoke_curve){.knots = 1, .beyond = seconds_per_unit, .most = INFINITY, .units = {1}, .seconds = {seconds_per_unit}};
}

/* x / s(x) with s piecewise linear through the knots and constant outside, as a curve with knots between `low` and `high`. */
static yoke_curve from_speeds(const double (*speeds)[2], int count, double low, double high)
{
    yoke_curve curve = {.knots = YOKE_CURVE_MAX_KNOTS, .most = INFINITY};
    for (int k = 0; k < curve.knots; k++) {
        double x = low + (high - low) * k / (curve.knots - 1), s = speeds[count - 1][1];
        if (x <= speeds[0][0]) s = speeds[0][1];
        for (int i = 0; i + 1 < count; i++)
            if (x >= speeds[i][0] && x < speeds[i + 1][0])
                s = speeds[i][1] + (speeds[i + 1][1] - speeds[i][1]) * (x - speeds[i][0]) / (speeds[i + 1][0] - speeds[i][0]);
        curve.units[k] = x;
        curve.seconds[k] = x / s;
    }
    curve.beyond = curve.seconds[curve.knots - 1] / high;
    return curve;
}

static void constant_speeds_give_proportional_shares(void **state)
{
    (void)state;
    yoke_curve curves[] = {line(1.0 / 400), line(1.0 / 200), line(1.0 / 100), line(1.0 / 100)};
    const yoke_curve *all[] = {&curves[0], &curves[1], &curves[2], &curves[3]};
    double shares[4];
    int64_t units[4];
    assert_true(fabs(yoke_share_real(all, 4, 800, NULL, 0, shares) - 1) < 1e-9);
    assert_true(fabs(yoke_share_integer(all, 4, 800, NULL, shares, units) - 1) < 1e-12);
    assert_true(units[0] == 400 && units[1] == 200 && units[2] == 100 && units[3] == 100);
}

/* B: 0.12 x^2 - 66 x + 6400 = 0. */
static void falling_speed_gives_the_closed_form(void **state)
{
    (void)state;
    static const double b1[][2] = {{1, 10}}, b2[][2] = {{100, 20}, {200, 8}};
    yoke_curve curves[] = {from_speeds(b1, 1, 70, 80), from_speeds(b2, 2, 120, 130)};
    const yoke_curve *all[] = {&curves[0], &curves[1]};
    double shares[2];
    int64_t units[2];
    double seconds = yoke_share_real(all, 2, 200, NULL, 1, shares);
    assert_true(fabs(shares[0] - 74.30394055974097) < 2e-3 && fabs(shares[1] - 125.69605944025903) < 2e-3);
    assert_true(fabs(seconds - 7.430394055974096) < 2e-4);
    assert_true(fabs(yoke_share_integer(all, 2, 200, NULL, shares, units) - 7.464454976) < 1e-3);
    assert_true(units[0] == 74 && units[1] == 126);
}

static void three_speed_functions_give_the_reference(void **state)
{
    (void)state;
    static const double c1[][2] = {{1, 5}, {50, 30}, {300, 30}}, c2[][2] = {{1, 60}, {100, 60}, {150, 15}}, c3[][2] = {{1, 12}, {400, 10}};
    yoke_curve curves[] = {from_speeds(c1, 3, 110, 130), from_speeds(c2, 3, 120, 140), from_speeds(c3, 2, 40, 60)};
    const yoke_curve *all[] = {&curves[0], &curves[1], &curves[2]};
    double shares[3];
    int64_t units[3];
    yoke_share_real(all, 3, 300, NULL, 0, shares);
    assert_true(fabs(shares[0] - 121.53793) < 5e-3 && fabs(shares[1] - 130.794579) < 5e-3 && fabs(shares[2] - 47.667491) < 5e-3);
    assert_true(fabs(yoke_share_integer(all, 3, 300, NULL, shares, units) - 4.080102258) < 2e-3);
    assert_int_equal(units[0] + units[1] + units[2], 300);
}

static yoke_curve random_curve(uint64_t *state)
{
    yoke_curve curve = {.knots = 1 + (int)(random_part(state) * 5), .most = INFINITY};
    double x = 0, t = random_part(state) < 0.5 ? 0 : random_part(state);
    curve.at_zero = t;
    for (int k = 0; k < curve.knots; k++) {
        x += 0.1 + 10 * random_part(state);
        t += 0.01 + 5 * random_part(state) * random_part(state);
        curve.units[k] = x;
        curve.seconds[k] = t;
    }
    curve.beyond = 0.05 + random_part(state);
    if (random_part(state) < 0.3) curve.most = floor(30 * random_part(state));
    return curve;
}

/* Least makespan of n units: F_i(m) = min over d of max(F_{i-1}(m - d), t_i(d)). */
static double least_makespan(const yoke_curve *curves, int devices, int n)
{
    double least[64];
    least[0] = 0;
    for (int m = 1; m <= n; m++) least[m] = INFINITY;
    for (int i = 0; i < devices; i++)
        for (int m = n; m >= 0; m--) {
            double best = INFINITY;
            for (int d = 0; d <= m && d <= curves[i].most; d++) best = fmin(best, fmax(least[m - d], yoke_curve_seconds(&curves[i], d)));
            least[m] = best;
        }
    return least[n];
}

static void integers_sum_exactly_keep_limits_and_are_nearly_optimal(void **state)
{
    (void)state;
    uint64_t random = 7;
    int optimal = 0, cases = 0;
    for (int k = 0; k < 2000; k++) {
        yoke_curve curves[5];
        const yoke_curve *all[5];
        double shares[5], room = 0, slowest_unit = 0;
        int64_t units[5], sum = 0;
        int devices = 1 + (int)(random_part(&random) * 5), n = 1 + (int)(random_part(&random) * 60);
        for (int i = 0; i < devices; i++) {
            curves[i] = random_curve(&random);
            all[i] = &curves[i];
            room += curves[i].most;
        }
        if (room < n) continue;
        yoke_share_real(all, devices, n, NULL, random_part(&random) * 10, shares);
        double real = 0;
        double makespan = yoke_share_integer(all, devices, n, NULL, shares, units), best = least_makespan(curves, devices, n);
        for (int i = 0; i < devices; i++) {
            assert_true(units[i] >= 0 && (double)units[i] <= curves[i].most);
            sum += units[i];
            real = fmax(real, yoke_curve_seconds(all[i], shares[i]));
            slowest_unit =
                fmax(slowest_unit, yoke_curve_seconds(all[i], (double)units[i]) - yoke_curve_seconds(all[i], (double)units[i] - 1));
        }
        assert_int_equal(sum, n);
        assert_true(makespan >= best * (1 - 1e-12)); /* nothing is better than the best */
        assert_true(best >= real * (1 - 1e-6));      /* nor than with parts of units */
        assert_true(makespan <= best + slowest_unit);
        optimal += makespan <= best * (1 + 1e-12);
        cases++;
    }
    assert_true(cases > 1000 && optimal >= cases * 99 / 100);
}

static void slack_lets_a_device_end_early(void **state)
{
    (void)state;
    yoke_curve curves[] = {line(1), line(1)};
    const yoke_curve *all[] = {&curves[0], &curves[1]};
    const double slack[] = {1, 0.5};
    double shares[2];
    assert_true(fabs(yoke_share_real(all, 2, 90, slack, 0, shares) - 60) < 1e-6);
    assert_true(fabs(shares[0] - 60) < 1e-6 && fabs(shares[1] - 30) < 1e-6);
}

static void huge_totals_and_speeds_far_apart_end(void **state)
{
    (void)state;
    yoke_curve curves[] = {line(1e-12), line(1e12), line(1)};
    curves[0].most = 1e15;
    const yoke_curve *all[] = {&curves[0], &curves[1], &curves[2]};
    double shares[3];
    int64_t units[3], n = (int64_t)1 << 53;
    yoke_share_real(all, 3, (double)n, NULL, 0, shares);
    yoke_share_integer(all, 3, n, NULL, shares, units);
    assert_int_equal(units[0] + units[1] + units[2], n);
    assert_int_equal(units[0], 1000000000000000);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(constant_speeds_give_proportional_shares),
    cmocka_unit_test(falling_speed_gives_the_closed_form),
    cmocka_unit_test(three_speed_functions_give_the_reference),
    cmocka_unit_test(integers_sum_exactly_keep_limits_and_are_nearly_optimal),
    cmocka_unit_test(slack_lets_a_device_end_early),
    cmocka_unit_test(huge_totals_and_speeds_far_apart_end),
};

UNIT_MAIN(tests, NULL, NULL)
