/*
 * transpose_text.h - transposition for devices, in the dialect (yoke/dialect.h).  DENSE_WORD is int or yoke_long: bits are moved unchanged.
 */
#include "yoke/dialect.h"

#define DENSE_SIDE 32                                                /* of a tile, which is stored in the memory of the group */
#define DENSE_KERNEL(name, parameters) YOKE_KERNEL(name, parameters) /* expands DENSE_TRANSPOSE to its value */

/*
 * b (columns x rows) = a (rows x columns) transposed, both by rows.  A group processes one tile at a time: it reads rows of a and writes
 * rows of b.
 */
DENSE_KERNEL(DENSE_TRANSPOSE, (yoke_long rows, yoke_long columns, YOKE_GLOBAL const DENSE_WORD *a, YOKE_GLOBAL DENSE_WORD *b))
{
    YOKE_LOCAL DENSE_WORD tile[DENSE_SIDE * (DENSE_SIDE + 1)]; /* rows of odd length: entries of a column are in different banks */
    const yoke_long high = (rows + DENSE_SIDE - 1) / DENSE_SIDE, wide = (columns + DENSE_SIDE - 1) / DENSE_SIDE;
    for (yoke_long t = YOKE_GROUP; t < high * wide; t += YOKE_GROUPS) {
        const yoke_long row = t / wide * DENSE_SIDE, column = t % wide * DENSE_SIDE;
        const int height = rows - row < DENSE_SIDE ? (int)(rows - row) : DENSE_SIDE;
        const int width = columns - column < DENSE_SIDE ? (int)(columns - column) : DENSE_SIDE;
        YOKE_FOR_ITEMS (e, height * width)
            tile[e / width * (DENSE_SIDE + 1) + e % width] = a[(row + e / width) * columns + column + e % width];
        YOKE_BARRIER();
        YOKE_FOR_ITEMS (e, height * width)
            b[(column + e / height) * rows + row + e % height] = tile[e % height * (DENSE_SIDE + 1) + e / height];
        YOKE_BARRIER();
    }
}

#undef DENSE_SIDE
#undef DENSE_KERNEL
