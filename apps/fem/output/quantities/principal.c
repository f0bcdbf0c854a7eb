#include "output/quantities/principal.h"

#include <math.h>

/* Rotates in the plane of p and q such that a[p][q] becomes 0; r is the third axis. */
static void rotate(double a[3][3], int p, int q)
{
    if (a[p][q] == 0) return;
    int r = 3 - p - q;
    double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]), t = copysign(1, theta) / (fabs(theta) + hypot(1, theta));
    double c = 1 / sqrt(1 + t * t), s = t * c, across = a[p][q], to_p = a[r][p], to_q = a[r][q];
    a[p][p] -= t * across;
    a[q][q] += t * across;
    a[p][q] = a[q][p] = 0;
    a[r][p] = a[p][r] = c * to_p - s * to_q;
    a[r][q] = a[q][r] = s * to_p + c * to_q;
}

static void order(double *large, double *small)
{
    if (!(*large < *small)) return;
    double swapped = *large;
    *large = *small;
    *small = swapped;
}

/*
 * Finds the roots of the characteristic polynomial by cosines (O. K. Smith, Comm. ACM 4, 1961).  Returns 0, with value untouched, if two
 * roots are so close together that the angle would lose digits.
 */
static int by_cosines(const double s[6], double value[3])
{
    double q = (s[0] + s[1] + s[2]) / 3, a = s[0] - q, b = s[1] - q, c = s[2] - q;
    double p = sqrt((a * a + b * b + c * c + 2 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5])) / 6);
    double determinant = a * (b * c - s[3] * s[3]) - s[5] * (s[5] * c - s[3] * s[4]) + s[4] * (s[5] * s[3] - b * s[4]);
    double r = determinant / (2 * p * p * p);
    if (!(p > 1e-5) || !(fabs(r) < 1 - 1e-4)) return 0;
    double angle = acos(r) / 3, cosine = cos(angle), sine = sin(angle);
    value[0] = q + 2 * p * cosine;
    value[1] = q - p * (cosine - sqrt(3) * sine);
    value[2] = q - p * (cosine + sqrt(3) * sine);
    return 1;
}

static void by_rotations(const double s[6], double value[3])
{
    double a[3][3] = {{s[0], s[5], s[4]}, {s[5], s[1], s[3]}, {s[4], s[3], s[2]}};
    /* The sum of squares of the off-diagonal entries converges quadratically: 3 to 5 sweeps in practice. */
    for (int sweep = 0; sweep < 12; sweep++) {
        if (a[0][1] * a[0][1] + a[0][2] * a[0][2] + a[1][2] * a[1][2] < 1e-34) break;
        rotate(a, 0, 1);
        rotate(a, 0, 2);
        rotate(a, 1, 2);
    }
    for (int i = 0; i < 3; i++) value[i] = a[i][i];
    order(&value[0], &value[1]);
    order(&value[1], &value[2]);
    order(&value[0], &value[1]);
}

void fem_principal(const double s[6], double value[3])
{
    double scale = 0, scaled[6];
    for (int i = 0; i < 6; i++) scale = fmax(scale, fabs(s[i]));
    if (scale == 0 || !isfinite(s[0] + s[1] + s[2] + s[3] + s[4] + s[5])) {
        for (int i = 0; i < 3; i++) value[i] = scale == 0 && !isnan(s[0] + s[1] + s[2] + s[3] + s[4] + s[5]) ? 0 : NAN;
        return;
    }
    for (int i = 0; i < 6; i++) scaled[i] = s[i] / scale;
    if (!by_cosines(scaled, value)) by_rotations(scaled, value);
    for (int i = 0; i < 3; i++) value[i] *= scale;
}

void fem_elastic_strain(const fem_material *material, const double stress[6], double strain[6])
{
    double shear = 1 / (2 * material->mu);
    double mean = material->lambda / (3 * material->lambda + 2 * material->mu) * (stress[0] + stress[1] + stress[2]);
    for (int c = 0; c < 6; c++) strain[c] = shear * (stress[c] - (c < 3 ? mean : 0));
}
