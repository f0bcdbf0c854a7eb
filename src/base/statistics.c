#include "base/statistics.h"

#include <math.h>
#include <stdlib.h>

#include "yoke/core.h"

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void statistics_sort(double *values, int64_t count) { qsort(values, (size_t)count, sizeof values[0], compare); }

double statistics_median(const double *sorted, int64_t count)
{
    return count % 2 ? sorted[count / 2] : sorted[count / 2 - 1] + (sorted[count / 2] - sorted[count / 2 - 1]) / 2;
}

double statistics_robust_deviation(const double *sorted, int64_t count, double centre, double *scratch)
{
    static const double corrections[] = {1, 1, 1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107}; /* for 0 .. 9 values */
    for (int64_t i = 0; i < count; i++) scratch[i] = fabs(sorted[i] - centre);
    statistics_sort(scratch, count);
    double correction = count < 10 ? corrections[count] : (double)count / ((double)count - 0.8);
    return 1.4826022185056018 * correction * statistics_median(scratch, count);
}

void statistics_moments(const double *values, int64_t count, double *mean, double *deviation)
{
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < count; i++) sum += values[i] / (double)count;
    for (int64_t i = 0; i < count; i++) squares += (values[i] - sum) * (values[i] - sum);
    *mean = sum;
    *deviation = count > 1 ? sqrt(squares / (double)(count - 1)) : (double)NAN;
}

/* ----------------------------------------------------------------------------------------------- Student */

static double away_from_zero(double x) { return fabs(x) < 1e-300 ? 1e-300 : x; }

/* The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8) by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), result = d;
    for (int m = 1; m < 1000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / away_from_zero(1 + even * d);
        c = away_from_zero(1 + even / c);
        result *= c * d;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / away_from_zero(1 + odd * d);
        c = away_from_zero(1 + odd / c);
        result *= c * d;
        if (fabs(c * d - 1) < 1e-15) break;
    }
    return result;
}

/* Regularised incomplete beta function I_x(a, b). */
static double incomplete_beta(double a, double b, double x)
{
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    double factor = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? factor * beta_fraction(a, b, x) / a : 1 - factor * beta_fraction(b, a, 1 - x) / b;
}

double statistics_student_probability(double x, double degrees)
{
    if (degrees > 1e7) return 0.5 * erfc(-x / sqrt(2));
    double tail = 0.5 * incomplete_beta(degrees / 2, 0.5, degrees / (degrees + x * x));
    return x > 0 ? 1 - tail : tail;
}

/* Density of Student's t at x. */
static double density(double x, double degrees)
{
    if (degrees > 1e7) return exp(-x * x / 2) / 2.5066282746310002;
    return exp(lgamma((degrees + 1) / 2) - lgamma(degrees / 2) - (degrees + 1) / 2 * log1p(x * x / degrees)) /
           sqrt(degrees * 3.141592653589793);
}

/*
 * Newton's method from x, within an interval that is reduced in each step; if it leaves the interval, bisection.  A step of less than 1e-8 leaves
 * an error of about the square of that.
 */
static double quantile_from(double x, double low, double high, double probability, double degrees)
{
    for (int i = 0; i < 100 && high - low > 1e-13 * high; i++) {
        double off = statistics_student_probability(x, degrees) - probability;
        if (off < 0)
            low = x;
        else
            high = x;
        double next = x - off / density(x, degrees);
        if (fabs(next - x) <= 1e-8 * x) return next;
        x = next > low && next < high ? next : low + (high - low) / 2;
    }
    return x;
}

double yoke_student_t(double probability, double degrees)
{
    if (!(probability > 0 && probability < 1 && degrees > 0)) return NAN;
    if (probability < 0.5) return -yoke_student_t(1 - probability, degrees);
    double low = 0, high = 1;
    while (high < 1e300 && statistics_student_probability(high, degrees) < probability) {
        low = high;
        high *= 2;
    }
    return quantile_from(low, low, high, probability, degrees);
}

/* From 4 degrees on, an expansion by powers of 1 / degrees (Abramowitz and Stegun 26.7.5) is near the quantile: at most 0.3 % off. */
double statistics_student_95(double degrees)
{
    static const double least = 4, z = 1.959963984540054;
    if (!(degrees >= least)) return yoke_student_t(0.975, degrees);
    const double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z, n = degrees;
    const double x =
        z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) + (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
    return quantile_from(x, z, 2 * z, 0.975, degrees);
}
