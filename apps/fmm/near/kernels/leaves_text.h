/*
 * leaves_text.h - sums over the particles of near leaves for devices, in the dialect (yoke/dialect.h), to be placed after pair_text.h.  A
 * work group has one slice of a leaf at a time.  Its work items are targets, and the sources are loaded to local memory in tiles.
 */
#include "yoke/dialect.h"

#define FMM_LEAF_TILE 128

/*
 * Computes the slices first .. last - 1.  Slice s has the particles slice[2 s] .. slice[2 s + 1] - 1 of leaf leaf_of[s].  Leaf l has the
 * particles particle[l] .. particle[l + 1] - 1 and the near leaves cell[start[l]] .. cell[start[l + 1] - 1].  place, field, gradient and
 * softening: as in direct_text.h.
 */
YOKE_KERNEL(sum_near_leaves, (yoke_long first, yoke_long last, YOKE_GLOBAL const yoke_int *slice, YOKE_GLOBAL const yoke_int *leaf_of,
                              YOKE_GLOBAL const yoke_int *particle, YOKE_GLOBAL const yoke_long *start, YOKE_GLOBAL const yoke_int *cell,
                              YOKE_GLOBAL const double *place, YOKE_GLOBAL double *field, yoke_int gradient, double softening))
{
    YOKE_LOCAL double tile[4 * FMM_LEAF_TILE];
    const int width = gradient ? 4 : 1;
    for (yoke_long s = first + YOKE_GROUP; s < last; s += YOKE_GROUPS) {
        const yoke_long leaf = leaf_of[s], end = slice[2 * s + 1];
        for (yoke_long some = slice[2 * s]; some < end; some += YOKE_ITEMS) {
            /* Items without a target visit the sources too, with the position of the last target, because all must reach the barriers. */
            const yoke_long i = some + YOKE_ITEM < end ? some + YOKE_ITEM : end - 1;
            const double x = place[4 * i], y = place[4 * i + 1], z = place[4 * i + 2];
            double total[4] = {0, 0, 0, 0};
            for (yoke_long n = start[leaf] - 1; n < start[leaf + 1]; n++) { /* the leaf itself, and those near it */
                const yoke_long from = n < start[leaf] ? leaf : cell[n];
                for (yoke_long source = particle[from]; source < particle[from + 1]; source += FMM_LEAF_TILE) {
                    const yoke_long left = particle[from + 1] - source;
                    const int count = left < FMM_LEAF_TILE ? (int)left : FMM_LEAF_TILE;
                    double sum[4] = {0, 0, 0, 0};
                    YOKE_BARRIER();
                    YOKE_FOR_ITEMS (k, 4 * count) tile[k] = place[4 * source + k];
                    YOKE_BARRIER();
                    if (softening > 0)
                        for (int j = 0; j < count; j++)
                            fmm_add_soft_pair(x - tile[4 * j], y - tile[4 * j + 1], z - tile[4 * j + 2], tile[4 * j + 3], softening, sum);
                    else if (gradient)
                        for (int j = 0; j < count; j++)
                            fmm_add_pair(x - tile[4 * j], y - tile[4 * j + 1], z - tile[4 * j + 2], tile[4 * j + 3], sum);
                    else
                        for (int j = 0; j < count; j++)
                            fmm_add_potential(x - tile[4 * j], y - tile[4 * j + 1], z - tile[4 * j + 2], tile[4 * j + 3], sum);
                    for (int c = 0; c < width; c++) total[c] += sum[c];
                }
            }
            if (some + YOKE_ITEM < end)
                for (int c = 0; c < width; c++) field[width * i + c] = total[c];
        }
    }
}
