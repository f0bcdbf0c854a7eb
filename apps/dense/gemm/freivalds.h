/*
 * freivalds.h - whether a matrix is the product of two others, in the time of a few products with vectors (Freivalds 1979).
 */
#ifndef DENSE_FREIVALDS_H
#define DENSE_FREIVALDS_H

#include "matrix/matrix.h"

typedef struct dense_freivalds {
    double relative_error; /* largest |C x - A (B x)| of a row, by the same row of |A| (|B| |x|); NaN or infinite: C has such entries */
    double limit;          /* rounding errors of any order of summation stay below it */
    int passed;
} dense_freivalds;

/*
 * Compares C x with A (B x) for a vector x of random numbers, 0.5 <= |x| <= 1, in double precision.  With k the columns of A, n those of C, and the unit roundoffs u of the
 * matrices' precision and v of double: |C - A B| <= k u |A| |B| (Higham 2002, eq. 3.13, to first order), and the products with x add (2 n + k) v at most; limit is
 * 1.1 (k u + 2 (n + k) v).  A wrong entry of C passes only where it is wrong by less than that, by the scale of its whole row.
 * Errors: MEMORY.
 */
yoke_status dense_freivalds_check(const dense_matrix *a, const dense_matrix *b, const dense_matrix *c, uint64_t seed,
                                  dense_freivalds *check);

#endif
