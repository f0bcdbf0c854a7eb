/*
 * direct_text.h - direct summation for devices, in the dialect (yoke/dialect.h), to be placed after pair_text.h.  Each work item has one
 * target at a time and visits all particles.
 */
#include "yoke/dialect.h"

/* Number of sources whose sum is formed separately, so that the rounding errors of long sums grow less (as in pairs.c). */
#define FMM_TILE 256

/*
 * gradient nonzero: field[4 i .. 4 i + 3] returns potential and gradient at particle i; 0: field[i] returns its potential.
 * place[4 j .. 4 j + 3]: position and charge of particle j.  softening: as in particles/particles.h.
 */
YOKE_KERNEL(sum_all_pairs, (yoke_long first, yoke_long last, YOKE_GLOBAL const double *place, YOKE_GLOBAL double *field, yoke_long count,
                            yoke_int gradient, double softening))
{
    const int width = gradient ? 4 : 1;
    YOKE_FOR_ALL (k, last - first) {
        const yoke_long i = first + k;
        const double x = place[4 * i], y = place[4 * i + 1], z = place[4 * i + 2];
        double total[4] = {0, 0, 0, 0};
        for (yoke_long tile = 0; tile < count; tile += FMM_TILE) {
            const yoke_long end = tile + FMM_TILE < count ? tile + FMM_TILE : count;
            double sum[4] = {0, 0, 0, 0};
            if (softening > 0)
                for (yoke_long j = tile; j < end; j++)
                    fmm_add_soft_pair(x - place[4 * j], y - place[4 * j + 1], z - place[4 * j + 2], place[4 * j + 3], softening, sum);
            else if (gradient)
                for (yoke_long j = tile; j < end; j++)
                    fmm_add_pair(x - place[4 * j], y - place[4 * j + 1], z - place[4 * j + 2], place[4 * j + 3], sum);
            else
                for (yoke_long j = tile; j < end; j++)
                    fmm_add_potential(x - place[4 * j], y - place[4 * j + 1], z - place[4 * j + 2], place[4 * j + 3], sum);
            for (int c = 0; c < width; c++) total[c] += sum[c];
        }
        for (int c = 0; c < width; c++) field[width * i + c] = total[c];
    }
}
