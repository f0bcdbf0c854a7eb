/*
 * panel_text.h - products of matrices for devices, in the dialect (yoke/dialect.h).  DENSE_REAL is double or float; DENSE_PANEL is the
 * kernel's name.  The file is included once for each of them, so it has no guard.
 */
#include "yoke/dialect.h"

#define DENSE_ROWS 4 /* rows of C that an item computes at a time; and columns: as many as a vector of floats has */
#define DENSE_COLUMNS 16
#define DENSE_KERNEL(name, parameters) YOKE_KERNEL(name, parameters) /* expands DENSE_PANEL to its value */

/*
 * C (rows x n) = or += A (rows x k, of which columns begin .. begin + depth - 1 are used) B (depth x n), all by rows.  Nonzero add: adds to
 * C.  An item computes DENSE_ROWS x DENSE_COLUMNS entries of C at a time, or fewer at the edges.
 */
DENSE_KERNEL(DENSE_PANEL, (yoke_long rows, yoke_long n, yoke_long k, yoke_long begin, yoke_long depth, YOKE_GLOBAL const DENSE_REAL *a,
                           YOKE_GLOBAL const DENSE_REAL *b, YOKE_GLOBAL DENSE_REAL *c, yoke_int add))
{
    const yoke_long high = (rows + DENSE_ROWS - 1) / DENSE_ROWS, wide = (n + DENSE_COLUMNS - 1) / DENSE_COLUMNS;
    YOKE_FOR_ALL (t, high * wide) {
        const yoke_long first = t / wide * DENSE_ROWS, column = t % wide * DENSE_COLUMNS;
        const int height = rows - first < DENSE_ROWS ? (int)(rows - first) : DENSE_ROWS;
        const int width = n - column < DENSE_COLUMNS ? (int)(n - column) : DENSE_COLUMNS;
        DENSE_REAL sum[DENSE_ROWS * DENSE_COLUMNS];
        for (int q = 0; q < DENSE_ROWS * DENSE_COLUMNS; q++) sum[q] = 0;
        if (height == DENSE_ROWS && width == DENSE_COLUMNS) {
            YOKE_GLOBAL const DENSE_REAL *row = a + first * k + begin;
            for (yoke_long p = 0; p < depth; p++) {
                YOKE_GLOBAL const DENSE_REAL *from = b + p * n + column;
                const DENSE_REAL a0 = row[p], a1 = row[p + k], a2 = row[p + 2 * k], a3 = row[p + 3 * k];
                for (int j = 0; j < DENSE_COLUMNS; j++) {
                    sum[j] += a0 * from[j];
                    sum[DENSE_COLUMNS + j] += a1 * from[j];
                    sum[2 * DENSE_COLUMNS + j] += a2 * from[j];
                    sum[3 * DENSE_COLUMNS + j] += a3 * from[j];
                }
            }
        } else {
            for (int i = 0; i < height; i++)
                for (yoke_long p = 0; p < depth; p++)
                    for (int j = 0; j < width; j++) sum[i * DENSE_COLUMNS + j] += a[(first + i) * k + begin + p] * b[p * n + column + j];
        }
        for (int i = 0; i < height; i++)
            for (int j = 0; j < width; j++) {
                const yoke_long at = (first + i) * n + column + j;
                c[at] = add ? c[at] + sum[i * DENSE_COLUMNS + j] : sum[i * DENSE_COLUMNS + j];
            }
    }
}

#undef DENSE_ROWS
#undef DENSE_COLUMNS
#undef DENSE_KERNEL
