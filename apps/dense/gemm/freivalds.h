/*
 * freivalds.h - checks whether a matrix is the product of two others, in the time of a few products with vectors (Freivalds 1979).
 */
#ifndef DENSE_FREIVALDS_H
#define DENSE_FREIVALDS_H

#include "matrix/matrix.h"

typedef struct dense_freivalds {
    /* Largest |C x - A (B x)| of a row, divided by the same row of |A| (|B| |x|); NaN or infinite: C has such entries. */
    double relative_error;
    double limit; /* bound of the rounding errors of any order of summation */
    int passed;
} dense_freivalds;

/*
 * Compares C x with A (B x) for a vector x of random numbers, 0.5 <= |x| <= 1, in double precision.  Let k be the columns of A, n those of
 * C, u the unit roundoff of the matrices' precision, and v that of double.  Then |C - A B| <= k u |A| |B| (Higham 2002, eq. 3.13, to first
 * order), and the products with x add (2 n + k) v at most; limit is 1.1 (k u + 2 (n + k) v).  A wrong entry of C passes only if its error
 * is below the limit, relative to the scale of its whole row.
 * Errors: MEMORY.
 */
yoke_status dense_freivalds_check(const dense_matrix *a, const dense_matrix *b, const dense_matrix *c, uint64_t seed,
                                  dense_freivalds *check);

/*
 * The same check in steps, for matrices whose parts are in several places: first the vectors of the check, then the products of all parts,
 * whose sums are compared.
 */
typedef struct dense_freivalds_vectors {
    int64_t m, n, k;
    dense_matrix random;
    double *x, *scale_x;   /* [n] random, and |x| */
    double *bx, *scale_bx; /* [k] B x and |B| |x|; zero at first, as are the following ones */
    double *abx, *scale;   /* [m] A (B x) and |A| (|B| |x|) */
    double *cx;            /* [m] C x */
} dense_freivalds_vectors;

/* Release with dense_freivalds_vectors_destroy.  Errors: MEMORY. */
yoke_status dense_freivalds_vectors_create(yoke_context *context, int64_t m, int64_t n, int64_t k, uint64_t seed,
                                           dense_freivalds_vectors *vectors);
void dense_freivalds_vectors_destroy(dense_freivalds_vectors *vectors);
/* y += M x, and scale_y += |M| scale_x if scale_x is not NULL. */
void dense_freivalds_add(const dense_matrix *m, const double *x, const double *scale_x, double *y, double *scale_y);
/* precision: that of the matrices. */
void dense_freivalds_compare(const dense_freivalds_vectors *vectors, dense_precision precision, dense_freivalds *check);

#endif
