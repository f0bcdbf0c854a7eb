/*
 * direct_text.h - direct summation for devices, in the dialect (yoke/dialect.h).  Each item has one particle at a time and goes through all.
 */
#include "yoke/dialect.h"

#if defined(YOKE_HOST)
#include <math.h>
#define FMM_RECIPROCAL_ROOT(s) (1 / sqrt(s))
#else
#define FMM_RECIPROCAL_ROOT(s) rsqrt(s)
#endif

/* Sources that are summed by themselves, so that the rounding errors of long sums grow less (as in pairs.c). */
#define FMM_TILE 256
#define FMM_LEAST_SQUARE 2.2250738585072014e-308

/* field[4 i .. 4 i + 3]: potential and gradient at particle i; place[4 j .. 4 j + 3]: position and charge of particle j. */
YOKE_KERNEL(sum_all_pairs, (yoke_long first, yoke_long last, YOKE_GLOBAL const double *place, YOKE_GLOBAL double *field, yoke_long count))
{
    YOKE_FOR_ALL (k, last - first) {
        const yoke_long i = first + k;
        const double x = place[4 * i], y = place[4 * i + 1], z = place[4 * i + 2];
        double potential = 0, gx = 0, gy = 0, gz = 0;
        for (yoke_long tile = 0; tile < count; tile += FMM_TILE) {
            const yoke_long end = tile + FMM_TILE < count ? tile + FMM_TILE : count;
            double p = 0, sx = 0, sy = 0, sz = 0;
            for (yoke_long j = tile; j < end; j++) {
                const double dx = x - place[4 * j], dy = y - place[4 * j + 1], dz = z - place[4 * j + 2];
                const double square = dx * dx + dy * dy + dz * dz;
                const double inverse = square >= FMM_LEAST_SQUARE ? FMM_RECIPROCAL_ROOT(square) : 0;
                const double share = place[4 * j + 3] * inverse, slope = share * (inverse * inverse);
                p += share;
                sx -= slope * dx;
                sy -= slope * dy;
                sz -= slope * dz;
            }
            potential += p;
            gx += sx;
            gy += sy;
            gz += sz;
        }
        field[4 * i] = potential;
        field[4 * i + 1] = gx;
        field[4 * i + 2] = gy;
        field[4 * i + 3] = gz;
    }
}
