/*
 * panel_text.h - products of matrices for devices, in the dialect (yoke/dialect.h).  DENSE_REAL is double or float; DENSE_PANEL the kernel's name.  Included
 * once for each of them: there is no guard.
 */
#include "yoke/dialect.h"

#define DENSE_TILE 8                                                 /* rows of C that an item has at a time */
#define DENSE_KERNEL(name, parameters) YOKE_KERNEL(name, parameters) /* the value of DENSE_PANEL, not this word */

/*
 * C (rows x n) = or += A (rows x k, of it columns begin .. begin + depth - 1) B (depth x n), all by rows.  add: nonzero adds.  An item has DENSE_TILE entries of one
 * column at a time: neighbouring items read neighbouring entries of B, and the same ones of A.
 */
DENSE_KERNEL(DENSE_PANEL, (yoke_long rows, yoke_long n, yoke_long k, yoke_long begin, yoke_long depth, YOKE_GLOBAL const DENSE_REAL *a,
                           YOKE_GLOBAL const DENSE_REAL *b, YOKE_GLOBAL DENSE_REAL *c, yoke_int add))
{
    const yoke_long tiles = (rows + DENSE_TILE - 1) / DENSE_TILE;
    YOKE_FOR_ALL (t, tiles * n) {
        const yoke_long first = t / n * DENSE_TILE, j = t % n;
        const int count = rows - first < DENSE_TILE ? (int)(rows - first) : DENSE_TILE;
        yoke_long row[DENSE_TILE]; /* of A; beyond the last one the last one again */
        DENSE_REAL sum[DENSE_TILE];
        for (int q = 0; q < DENSE_TILE; q++) {
            row[q] = (first + (q < count ? q : count - 1)) * k + begin;
            sum[q] = 0;
        }
        for (yoke_long p = 0; p < depth; p++) {
            const DENSE_REAL value = b[p * n + j];
            for (int q = 0; q < DENSE_TILE; q++) sum[q] += a[row[q] + p] * value;
        }
        for (int q = 0; q < count; q++) {
            const yoke_long at = (first + q) * n + j;
            c[at] = add ? c[at] + sum[q] : sum[q];
        }
    }
}

#undef DENSE_TILE
#undef DENSE_KERNEL
