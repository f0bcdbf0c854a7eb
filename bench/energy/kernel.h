/* The work of the experiments, in the dialect of yoke/dialect.h: y = A u for many elements, each with a packed symmetric A of its own. */
#include "yoke/dialect.h"

/* Order 81, as a hexahedron of 27 nodes in elasticity has; packed lower triangle by rows: 81 x 82 / 2 numbers. */
YOKE_KERNEL(packed_products, (yoke_long units, YOKE_GLOBAL const double *a, YOKE_GLOBAL const double *u, YOKE_GLOBAL double *y))
{
    for (yoke_long e = YOKE_GROUP; e < units; e += YOKE_GROUPS) {
        YOKE_GLOBAL const double *matrix = a + e * 3321, *value = u + e * 81;
        YOKE_FOR_ITEMS (i, 81) {
            YOKE_GLOBAL const double *row = matrix + i * (i + 1) / 2;
            double sum = 0;
            for (int j = 0; j <= i; j++) sum += row[j] * value[j];
            for (int j = i + 1; j < 81; j++) sum += matrix[j * (j + 1) / 2 + i] * value[j];
            y[e * 81 + i] = sum;
        }
    }
}
