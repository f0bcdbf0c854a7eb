/* small_svd.h - small least squares problems row by row, and the singular values and vectors of a small square matrix. */
#ifndef FEM_SPACE_PROBLEM_SMALL_SVD_H
#define FEM_SPACE_PROBLEM_SMALL_SVD_H

/*
 * Adds a row to the upper triangle of a QR decomposition: r [n][n] by rows, zero at first; row [n] is overwritten.  R^T R is the sum of the
 * products of all rows, but R has singular values to rounding of the largest one, not of its square.
 */
void fem_qr_add(double *r, int n, double *row);

/*
 * A V = U S by one-sided rotations (Hestenes; Golub and Van Loan, Matrix Computations, 8.6.3): a [n][n] by rows becomes U S, v [n][n] V;
 * both have their vectors in columns.  sigma [n]: the singular values, in no order.
 */
void fem_small_svd(double *a, int n, double *v, double *sigma);

#endif
