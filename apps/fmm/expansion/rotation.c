#include "expansion/rotation.h"

#include <math.h>
#include <stdlib.h>

/* Numbers that all entries for one angle use. */
typedef struct angle {
    double cosine, half_cosine, half_sine;
    double root_factorial[2 * FMM_MAX_ORDER + 1]; /* square roots of factorials */
} angle;

static double minus_one_to(int n) { return n & 1 ? -1 : 1; }

/* d^l_(l m), with |m| <= l. */
static double edge(const angle *a, int l, int m)
{
    return a->root_factorial[2 * l] / (a->root_factorial[l + m] * a->root_factorial[l - m]) * pow(a->half_cosine, l + m) *
           pow(-a->half_sine, l - m);
}

/* d^l_(k m) at l = max(|k|, |m|), k >= 0. */
static double first_degree(const angle *a, int k, int m)
{
    if (k >= abs(m)) return edge(a, k, m);
    return m > 0 ? minus_one_to(m - k) * edge(a, m, k) : edge(a, -m, -k);
}

/* d^(l+1)_(k m) from d^l and d^(l-1). */
static double next_degree(const angle *a, int l, int k, int m, double now, double before)
{
    if (l == 0) return a->cosine * now;
    double up = sqrt((double)((l + 1 - k) * (l + 1 + k)) * (double)((l + 1 - m) * (l + 1 + m)));
    double down = sqrt((double)((l - k) * (l + k)) * (double)((l - m) * (l + m)));
    return (l + 1) / up * ((2 * l + 1) * (a->cosine - (double)(k * m) / (l * (l + 1))) * now - down / l * before);
}

/* Sets entry (k, m) of degree l in one table: sums over orders m and -m. */
static void enter(const angle *a, const fmm_rotation *rotation, int l, int k, int m, double plus, double minus, double *table)
{
    double s_k = a->root_factorial[l + k] * a->root_factorial[l - k], s_m = a->root_factorial[l + m] * a->root_factorial[l - m];
    double factor = rotation->kind == FMM_ROTATION_REGULAR ? s_m / s_k : s_k / s_m;
    if (rotation->back) factor *= minus_one_to(k + m);
    if (rotation->alternate) factor *= minus_one_to(l + k);
    double *real = table + (l > 0 ? fmm_rotation_size(l - 1) : 0), *imaginary = real + (l + 1) * (l + 1);
    real[k * (l + 1) + m] = factor * (m > 0 ? plus + minus_one_to(m) * minus : plus);
    if (k > 0 && m > 0) imaginary[(k - 1) * l + m - 1] = factor * (plus - minus_one_to(m) * minus);
}

void fmm_rotation_tables(int order, double sine, double cosine, int tables, const fmm_rotation *rotations, double *const *table)
{
    double beta = atan2(sine, cosine);
    angle a = {.cosine = cos(beta), .half_cosine = cos(beta / 2), .half_sine = sin(beta / 2), .root_factorial = {1}};
    for (int i = 1; i <= 2 * order; i++) a.root_factorial[i] = a.root_factorial[i - 1] * sqrt(i);
    for (int k = 0; k <= order; k++)
        for (int m = 0; m <= order; m++) {
            int first = k > m ? k : m;
            double plus = first_degree(&a, k, m), plus_before = 0, minus = first_degree(&a, k, -m), minus_before = 0;
            for (int l = first; l <= order; l++) {
                for (int i = 0; i < tables; i++) enter(&a, &rotations[i], l, k, m, plus, minus, table[i]);
                double plus_next = next_degree(&a, l, k, m, plus, plus_before), minus_next = next_degree(&a, l, k, -m, minus, minus_before);
                plus_before = plus, plus = plus_next, minus_before = minus, minus = minus_next;
            }
        }
}
