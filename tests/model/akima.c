/* Akima's method against what his paper says of it (J. ACM 17 (1970), 589-602), and the times that it makes. */
#include <math.h>

#include "model/curve.h"
#include "model/noise.h"
#include "unit.h"

enum { MOST = 20 };

static int make(curve_knot *knots, const double *x, const double *y, int count)
{
    for (int i = 0; i < count; i++) knots[i] = (curve_knot){.units = x[i], .speed = y[i]};
    curve_fit_akima(knots, count);
    for (int i = 0; i < count; i++) knots[i].straight = 0; /* the curve itself, whatever time it makes */
    return count;
}

static double value(const curve_knot *knots, int count, double x)
{
    int k = 0;
    while (k + 2 < count && knots[k + 1].units <= x) k++;
    return curve_akima_speed(knots, k, x);
}

/* The data of his figure 1: flat, then steep.  The curve has no wiggle before the rise and lies between neighbours. */
static void the_data_of_his_paper_make_no_wiggles(void **state)
{
    (void)state;
    static const double x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, y[] = {10, 10, 10, 10, 10, 10, 10.5, 15, 50, 60, 85};
    curve_knot knots[MOST];
    int count = make(knots, x, y, 11);
    for (double at = 0; at <= 5; at += 0.01) assert_true(fabs(value(knots, count, at) - 10) < 1e-12);
    for (double at = 5; at < 10; at += 0.01) {
        int k = (int)at;
        assert_true(value(knots, count, at) >= y[k] - 1e-9 && value(knots, count, at) <= y[k + 1] + 1e-9);
    }
}

static void knots_are_met_and_slopes_are_continuous(void **state)
{
    (void)state;
    noise random = {2};
    double x[MOST], y[MOST];
    curve_knot knots[MOST];
    for (int turn = 0; turn < 200; turn++) {
        for (int i = 0; i < MOST; i++) {
            x[i] = (i > 0 ? x[i - 1] : 0) + 0.1 + noise_uniform(&random);
            y[i] = 5 + noise_normal(&random);
        }
        int count = make(knots, x, y, 3 + turn % (MOST - 2));
        for (int i = 1; i + 1 < count; i++) {
            const double h = 1e-6;
            double left = (value(knots, count, x[i]) - value(knots, count, x[i] - h)) / h;
            double right = (value(knots, count, x[i] + h) - value(knots, count, x[i])) / h;
            assert_true(fabs(value(knots, count, x[i]) - y[i]) < 1e-12 && fabs(left - right) < 1e-2);
        }
    }
}

/* Exact for a parabola whose abscissas are equally spaced, ends included, and for a straight line. */
static void parabolas_and_lines_are_exact(void **state)
{
    (void)state;
    double x[8], y[8], z[8];
    curve_knot parabola[8], line[8];
    for (int i = 0; i < 8; i++) {
        x[i] = 2 + 0.5 * i;
        y[i] = 3 * x[i] * x[i] - 4 * x[i] + 7;
        z[i] = 5 - 2 * x[i];
    }
    make(parabola, x, y, 8);
    make(line, x, z, 8);
    for (double at = 2; at <= 5.5; at += 0.01) {
        assert_true(fabs(value(parabola, 8, at) - (3 * at * at - 4 * at + 7)) < 1e-9);
        assert_true(fabs(value(line, 8, at) - (5 - 2 * at)) < 1e-12);
    }
}

/* The slope at a point depends on two points to either side only, and scales with both axes. */
static void it_is_local_and_scales(void **state)
{
    (void)state;
    double x[12], y[12];
    curve_knot a[12], b[12];
    for (int i = 0; i < 12; i++) {
        x[i] = i * i + 1;
        y[i] = sin(i) + 3;
    }
    make(a, x, y, 12);
    y[11] += 10;
    make(b, x, y, 12);
    for (int i = 0; i < 9; i++) assert_true(a[i].slope == b[i].slope);
    assert_true(a[9].slope != b[9].slope);
    y[11] -= 10;
    for (int i = 0; i < 12; i++) {
        x[i] *= 1e6;
        y[i] *= 1e-3;
    }
    make(b, x, y, 12);
    for (int i = 0; i < 12; i++) assert_true(fabs(b[i].slope * 1e9 - a[i].slope) < 1e-9 * (1 + fabs(a[i].slope)));
}

/* Where the smooth speed would make the time fall, though it rises from point to point, the piece is straight. */
static void times_between_rising_points_rise(void **state)
{
    (void)state;
    noise random = {9};
    int straight = 0;
    for (int turn = 0; turn < 5000; turn++) {
        curve_knot knots[8];
        double x = 1, t = 1e-3;
        for (int i = 0; i < 8; i++) {
            knots[i] = (curve_knot){.units = x, .speed = x / t};
            x *= 1.05 + noise_uniform(&random);
            t *= 1.001 + noise_uniform(&random) * (i % 3 ? 1 : 0.01);
        }
        curve_fit_akima(knots, 8);
        double last = 0;
        for (int k = 0; k < 7; k++) {
            straight += knots[k].straight;
            for (int i = 0; i <= 50; i++) {
                double at = knots[k].units + (knots[k + 1].units - knots[k].units) * i / 50.0;
                double speed = curve_akima_speed(knots, k, at), seconds = at / speed;
                assert_true(speed > 0 && seconds >= last * (1 - 1e-12));
                last = seconds;
            }
        }
    }
    assert_in_range(straight, 100, 34000);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(the_data_of_his_paper_make_no_wiggles),
                                          cmocka_unit_test(knots_are_met_and_slopes_are_continuous),
                                          cmocka_unit_test(parabolas_and_lines_are_exact), cmocka_unit_test(it_is_local_and_scales),
                                          cmocka_unit_test(times_between_rising_points_rise)};

UNIT_MAIN(tests, NULL, NULL)
