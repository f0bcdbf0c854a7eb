/*
 * fit.h - least squares for the experiments with energy.
 */
#ifndef BENCH_ENERGY_FIT_H
#define BENCH_ENERGY_FIT_H

#include <stdbool.h>
#include <stdint.h>

enum { FIT_MAX_PARAMETERS = 4 };

typedef struct fit {
    int parameters;
    double value[FIT_MAX_PARAMETERS];
    double error[FIT_MAX_PARAMETERS]; /* standard errors, from the residuals; NaN where there are no more points than parameters */
    double covariance[FIT_MAX_PARAMETERS][FIT_MAX_PARAMETERS];
    double residual; /* standard deviation of the points from the curve; NaN as above */
    int64_t points;
} fit;

/*
 * y[i] = sum over k of value[k] * basis[i * parameters + k], by Householder's QR factorisation (Golub and Van Loan, sect. 5.3) of the basis with
 * its columns scaled to the same length.  Points with a NaN are left out.
 * false: fewer points than parameters, a basis whose columns depend on each other, or no memory.
 */
bool fit_linear(int64_t points, int parameters, const double *basis, const double *y, fit *result);

/* The powers 0 to 1 of x: y = value[0] x + value[1]. */
bool fit_line(int64_t points, const double *x, const double *y, fit *result);

/*
 * y = value[0] max(x - value[1], 0): Lang and Ruenger 2014, eq. 13 and 14, where value[1] may also be negative (a latency).  Of the lines through
 * the points from each x on, the one is taken that leaves the least squares over all points.  Errors of value[1] to the first order.
 */
bool fit_offset(int64_t points, const double *x, const double *y, fit *result);

/* The median of those that are not NaN, and in *error, if not NULL, its standard error from the median deviation; NaN where there is none. */
double fit_median(int64_t count, const double *values, double *error);

/* The mean of those, and its standard error (NaN of fewer than two). */
double fit_mean(int64_t count, const double *values, double *error);

#endif
