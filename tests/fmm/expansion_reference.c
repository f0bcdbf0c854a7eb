#include "expansion_reference.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

typedef long double real;
typedef long double complex number;

static real factorial(int n) { return tgammal((real)n + 1); }

/* P_l^m(cosine), without the sign (-1)^m; sine >= 0. */
static real legendre(int l, int m, real cosine, real sine)
{
    real now = 1, before = 0;
    for (int i = 1; i <= m; i++) now *= (2 * i - 1) * sine;
    for (int k = m; k < l; k++) {
        real next = ((2 * k + 1) * cosine * now - (k + m) * before) / (k + 1 - m);
        before = now, now = next;
    }
    return now;
}

static void harmonics(int degree, int irregular, const double point[3], double *values)
{
    int n = fmm_harmonics(degree);
    real x = point[0], y = point[1], z = point[2], h = hypotl(x, y), r = hypotl(h, z), azimuth = atan2l(y, x);
    for (int l = 0, i = 0; l <= degree; l++)
        for (int m = 0; m <= l; m++, i++) {
            real size = legendre(l, m, r > 0 ? z / r : 1, r > 0 ? h / r : 0);
            size *= irregular ? factorial(l - m) / powl(r, l + 1) : powl(r, l) / factorial(l + m);
            values[i] = (double)(size * cosl(m * azimuth));
            values[n + i] = (double)(size * sinl(m * azimuth));
        }
}

void reference_regular(int degree, const double point[3], double *values) { harmonics(degree, 0, point, values); }
void reference_irregular(int degree, const double point[3], double *values) { harmonics(degree, 1, point, values); }

/* Coefficient of any order; 0 where there is none. */
static number at(int order, const double *expansion, int l, int m)
{
    if (l < 0 || l > order || abs(m) > l) return 0;
    int i = fmm_harmonic(l, abs(m));
    number value = (real)expansion[i] + I * (real)expansion[fmm_harmonics(order) + i];
    return m >= 0 ? value : (m & 1 ? -1 : 1) * conjl(value);
}

static void put(int order, double *expansion, int l, int m, number value)
{
    expansion[fmm_harmonic(l, m)] = (double)creall(value);
    expansion[fmm_harmonics(order) + fmm_harmonic(l, m)] = (double)cimagl(value);
}

/* Harmonics for long double sums are made in long double too where it matters: these lose 1e-16 once, which is far below 1e-13. */
static double *make(int degree, int irregular, const double point[3])
{
    double *values = malloc(2 * (size_t)fmm_harmonics(degree) * sizeof *values);
    if (!values) abort();
    harmonics(degree, irregular, point, values);
    return values;
}

void reference_m2m(int order, const double vector[3], double ratio, const double *from, double *to)
{
    double *shift = make(order, 0, vector);
    for (int l = 0; l <= order; l++)
        for (int m = 0; m <= l; m++) {
            number sum = 0;
            for (int k = 0; k <= l; k++)
                for (int n = -k; n <= k; n++) sum += powl(ratio, k) * at(order, from, k, n) * at(order, shift, l - k, m - n);
            put(order, to, l, m, sum);
        }
    free(shift);
}

void reference_m2l(int order, const double vector[3], double ratio, const double *from, double *to)
{
    double *shift = make(2 * order, 1, vector);
    for (int l = 0; l <= order; l++)
        for (int m = 0; m <= l; m++) {
            number sum = 0;
            for (int k = 0; k <= order; k++)
                for (int n = -k; n <= k; n++)
                    sum += (k & 1 ? -1 : 1) * powl(ratio, k) * conjl(at(order, from, k, n)) * at(2 * order, shift, l + k, m + n);
            put(order, to, l, m, sum);
        }
    free(shift);
}

void reference_l2l(int order, const double vector[3], double ratio, const double *from, double *to)
{
    double *shift = make(order, 0, vector);
    for (int k = 0; k <= order; k++)
        for (int n = 0; n <= k; n++) {
            number sum = 0;
            for (int l = k; l <= order; l++)
                for (int m = -l; m <= l; m++) sum += powl(ratio, -(l + 1)) * at(order, from, l, m) * conjl(at(order, shift, l - k, m - n));
            put(order, to, k, n, sum);
        }
    free(shift);
}

void reference_direct(const fmm_sources *sources, const double point[3], double *potential, double gradient[3])
{
    real sum[4] = {0};
    for (int64_t i = 0; i < sources->count; i++) {
        real d[3] = {(real)point[0] - sources->x[i], (real)point[1] - sources->y[i], (real)point[2] - sources->z[i]};
        real inverse = 1 / sqrtl(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        sum[3] += sources->charge[i] * inverse;
        for (int k = 0; k < 3; k++) sum[k] -= sources->charge[i] * d[k] * inverse * inverse * inverse;
    }
    *potential = (double)sum[3];
    for (int k = 0; k < 3; k++) gradient[k] = (double)sum[k];
}

double reference_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return ((double)((z ^ z >> 31) >> 11) + 0.5) * 0x1p-53;
}

double reference_difference(int order, int local, double radius, const double *a, const double *b)
{
    int n = fmm_harmonics(order);
    real largest = 0, difference = 0;
    for (int l = 0, i = 0; l <= order; l++)
        for (int m = 0; m <= l; m++, i++) {
            real root = sqrtl(factorial(l + m) * factorial(l - m));
            real weight = local ? powl(radius, l) / root : root / powl(radius, l + 1);
            for (int k = i; k < 2 * n; k += n) {
                if (!(fabs(a[k] - b[k]) < INFINITY)) return INFINITY;
                largest = fmaxl(largest, weight * fabsl((real)b[k]));
                difference = fmaxl(difference, weight * fabsl((real)a[k] - b[k]));
            }
        }
    return (double)(largest > 0 ? difference / largest : difference);
}
