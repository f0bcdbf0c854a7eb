/*
 * pair_text.h - potential and gradient of one particle at another, for kernels in the dialect (yoke/dialect.h).
 */
#include "yoke/dialect.h"

#if defined(YOKE_HOST)
#include <math.h>
#define FMM_RECIPROCAL_ROOT(s) (1 / sqrt(s))
#else
#define FMM_RECIPROCAL_ROOT(s) rsqrt(s)
#endif

#define FMM_LEAST_SQUARE 2.2250738585072014e-308

/* Adds to sum[0 .. 3] the potential and gradient at a position that is (dx, dy, dz) from the charge; nothing at the charge itself. */
YOKE_FUNCTION void fmm_add_pair(double dx, double dy, double dz, double charge, double *sum)
{
    const double square = dx * dx + dy * dy + dz * dz;
    const double inverse = square >= FMM_LEAST_SQUARE ? FMM_RECIPROCAL_ROOT(square) : 0;
    const double share = charge * inverse, slope = share * (inverse * inverse);
    sum[0] += share;
    sum[1] -= slope * dx;
    sum[2] -= slope * dy;
    sum[3] -= slope * dz;
}

/* The same for charges with a softening (particles/particles.h). */
YOKE_FUNCTION void fmm_add_soft_pair(double dx, double dy, double dz, double charge, double softening, double *sum)
{
    const double square = dx * dx + dy * dy + dz * dz, part = square / (softening * softening);
    if (square < FMM_LEAST_SQUARE || part >= 1) {
        fmm_add_pair(dx, dy, dz, charge, sum);
    } else {
        const double slope = charge * (5 - 3 * part) / (2 * softening * softening * softening);
        sum[0] += charge * (15 - part * (10 - 3 * part)) / (8 * softening);
        sum[1] -= slope * dx;
        sum[2] -= slope * dy;
        sum[3] -= slope * dz;
    }
}

/* Adds to *sum only the potential, without softening. */
YOKE_FUNCTION void fmm_add_potential(double dx, double dy, double dz, double charge, double *sum)
{
    const double square = dx * dx + dy * dy + dz * dz;
    *sum += square >= FMM_LEAST_SQUARE ? charge * FMM_RECIPROCAL_ROOT(square) : 0;
}
