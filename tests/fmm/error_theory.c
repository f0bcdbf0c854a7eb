#include "error_theory.h"

#include <math.h>

enum { MAX_TERMS = 1000 }; /* of the sum over degrees; the rest of it is bounded at once */

double fmm_error_bound(int order, double source_radius, double target_radius, double distance)
{
    double alpha = source_radius / distance, beta = target_radius / distance, gap = 1 - alpha - beta;
    if (!(gap > 0)) return INFINITY;
    double sum = pow(alpha / (1 - beta), order + 1) / gap, power = pow(beta, order + 1);
    for (int l = order + 1; l <= order + MAX_TERMS; l++, power *= beta) {
        double term = power, inner = 0;
        for (int k = 0; k <= order; term *= alpha * (l + k) / k) inner += term, k++;
        sum += inner;
        double rest = pow(beta / (1 - alpha), l + 1) / gap; /* that of all degrees above l, with all k */
        if (rest < 1e-3 * sum || l == order + MAX_TERMS) return (sum + rest) / distance;
    }
    return INFINITY;
}

double fmm_error_rms(int order, double distance, int degrees, const double *source_moments, const double *target_moments)
{
    double inverse = 1 / (distance * distance), sum = 0, power = inverse;
    for (int l = 0; l < degrees; l++, power *= inverse) {
        double term = power / (2 * l + 1) * target_moments[l]; /* binomial(2 l + 2 k, 2 l) / D^(2 l + 2 k + 2) */
        for (int k = 0; k < degrees; k++) {
            if (l > order || k > order) sum += term * source_moments[k] / (2 * k + 1);
            double n = 2 * (l + k);
            term *= (n + 1) * (n + 2) / ((2.0 * k + 1) * (2.0 * k + 2)) * inverse;
        }
    }
    return sqrt(sum);
}

void fmm_error_cube_moments(int degrees, double *moments)
{
    /* The mean of x^(2 k) is 4^-k / (2 k + 1); powers of sums are convolutions of moments divided by factorials. */
    double factorial = 1;
    for (int k = 0; k < degrees; factorial *= ++k) {
        double total = 0, outer = 1; /* 1/i! */
        for (int i = 0; i <= k; outer /= ++i) {
            double inner = 0, one = 1, other = 1; /* 1/j! and 1/(k - i - j)! */
            for (int j = 1; j <= k - i; j++) other /= j;
            for (int j = 0; j <= k - i; j++) {
                inner += one * other / ((2 * j + 1) * (2 * (k - i - j) + 1));
                one /= j + 1;
                other *= k - i - j;
            }
            total += outer / (2 * i + 1) * inner;
        }
        moments[k] = factorial * total * pow(0.25, k);
    }
}
