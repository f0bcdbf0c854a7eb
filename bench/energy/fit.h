/* fit.h - least squares for the experiments on energy. */
#ifndef BENCH_ENERGY_FIT_H
#define BENCH_ENERGY_FIT_H

#include <stdbool.h>
#include <stdint.h>

enum { FIT_MAX_PARAMETERS = 4 };

typedef struct fit {
    int parameters;
    double value[FIT_MAX_PARAMETERS];
    double error[FIT_MAX_PARAMETERS]; /* standard errors from the residuals; NaN if there are no more points than parameters */
    double covariance[FIT_MAX_PARAMETERS][FIT_MAX_PARAMETERS];
    double residual; /* standard deviation of the points from the curve; NaN as above */
    int64_t points;
} fit;

/*
 * y[i] = sum over k of value[k] * basis[i * parameters + k], by Householder's QR factorisation (Golub and Van Loan, sect. 5.3) of the basis
 * with its columns scaled to the same length.  Points with a NaN are omitted.
 * Returns false if there are fewer points than parameters, linearly dependent columns of the basis, or no memory.
 */
bool fit_linear(int64_t points, int parameters, const double *basis, const double *y, fit *result);

/* The powers 0 to 1 of x: y = value[0] x + value[1]. */
bool fit_line(int64_t points, const double *x, const double *y, fit *result);

/*
 * y = value[0] max(x - value[1], 0): Lang and Ruenger 2014, eq. 13 and 14, where value[1] may also be negative (a latency).  For each x, a
 * line is fitted to the points from x on; the line with the least sum of squares over all points is used.  The error of value[1] is of
 * first order.
 */
bool fit_offset(int64_t points, const double *x, const double *y, fit *result);

/*
 * Median of the values that are not NaN, and its standard error from the median deviation in *error, if not NULL; NaN if there is no value.
 */
double fit_median(int64_t count, const double *values, double *error);

/* Mean of these values and its standard error (NaN for fewer than two). */
double fit_mean(int64_t count, const double *values, double *error);

#endif
