/*
 * Akima, A new method of interpolation and smooth curve fitting based on local procedures, J. ACM 17 (1970): a cubic between neighbouring
 * knots.  The slope at a knot is a weighted mean of the slopes of the straight lines near it; the straighter side has the larger weight.
 */
#include <math.h>

#include "model/curve.h"

/* Slope of the straight line from knot k to the next.  Before the first and after the last two lines, slopes are extrapolated linearly. */
static double line_slope(const curve_knot *knots, int64_t count, int64_t k)
{
    int64_t last = count - 2;
    if (k < 0) {
        double first = line_slope(knots, count, 0), second = last > 0 ? line_slope(knots, count, 1) : first;
        return first + (double)-k * (first - second);
    }
    if (k > last) {
        double final = line_slope(knots, count, last), before = last > 0 ? line_slope(knots, count, last - 1) : final;
        return final + (double)(k - last) * (final - before);
    }
    return (knots[k + 1].speed - knots[k].speed) / (knots[k + 1].units - knots[k].units);
}

/*
 * The mean of the slopes on both sides, each weighted by the change of the slope on the other side; their plain mean if both changes are 0.
 */
static double knot_slope(const curve_knot *knots, int64_t count, int64_t k)
{
    double m1 = line_slope(knots, count, k - 2), m2 = line_slope(knots, count, k - 1);
    double m3 = line_slope(knots, count, k), m4 = line_slope(knots, count, k + 1);
    double left = fabs(m4 - m3), right = fabs(m2 - m1);
    if (!(left + right > 1e-14 * (fabs(m2) + fabs(m3)))) return (m2 + m3) / 2;
    return (left * m2 + right * m3) / (left + right);
}

/* s = y + t_1 u + p_2 u^2 + p_3 u^3 with u = x - x_k. */
static void piece(const curve_knot *k, double *p2, double *p3)
{
    double width = k[1].units - k[0].units, mean = (k[1].speed - k[0].speed) / width;
    *p2 = (3 * mean - 2 * k[0].slope - k[1].slope) / width;
    *p3 = (k[0].slope + k[1].slope - 2 * mean) / width / width;
}

/* The time x / s(x) increases where s - x s' > 0; this expression has its extremes at the ends of a piece and where s'' = 0. */
static double least_rise(const curve_knot *k)
{
    double p2, p3, width = k[1].units - k[0].units;
    double least = fmin(k[0].speed - k[0].units * k[0].slope, k[1].speed - k[1].units * k[1].slope);
    piece(k, &p2, &p3);
    double u = -p2 / (3 * p3);
    if (!(u > 0 && u < width)) return least;
    double speed = k[0].speed + u * (k[0].slope + u * (p2 + u * p3)), slope = k[0].slope + u * (2 * p2 + 3 * u * p3);
    return fmin(least, speed - (k[0].units + u) * slope);
}

void curve_fit_akima(curve_knot *knots, int64_t count)
{
    for (int64_t k = 0; k < count && count > 1; k++) knots[k].slope = knot_slope(knots, count, k);
    for (int64_t k = 0; k + 1 < count; k++) knots[k].straight = !(least_rise(&knots[k]) > 0);
}

double curve_akima_speed(const curve_knot *knots, int64_t k, double units)
{
    double p2, p3, u = units - knots[k].units;
    if (knots[k].straight) return knots[k].speed + u / (knots[k + 1].units - knots[k].units) * (knots[k + 1].speed - knots[k].speed);
    piece(&knots[k], &p2, &p3);
    return knots[k].speed + u * (knots[k].slope + u * (p2 + u * p3));
}
