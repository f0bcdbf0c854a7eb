/*
 * law.h - a quantity as a function of the clock frequency, fitted by nonlinear least squares.
 */
#ifndef YOKE_MODEL_LAW_H
#define YOKE_MODEL_LAW_H

#include "yoke/yoke.h"

/* A measured value at one frequency. */
typedef struct law_point {
    double hz, value;
    double error;   /* standard error; NaN: not known */
    double degrees; /* of freedom of that error */
} law_point;

/*
 * Internally frequencies are in GHz, so that the normal equations are well conditioned.  A table keeps the points; an unknown law (NONE)
 * keeps the only value.
 */
typedef struct law {
    yoke_law_kind kind;
    double parameters[3], covariance[3][3]; /* of a, b, c for f in GHz */
    double degrees;                         /* of freedom of the covariance; NaN: it is not known */
    double worst;                           /* largest relative residual */
    int64_t count;
    law_point *points; /* ascending by frequency, at least one; borrowed */
} law;

/*
 * Fits the simplest law: linear; cubic (if allowed) if its first term is larger than its standard error; a table if a residual is beyond
 * three standard errors and beyond 3 %.  points: ascending, count >= 1, borrowed as long as the law is used; the errors of all are known,
 * or of none.
 * Errors: MEMORY, NUMERIC.
 */
yoke_status law_fit(yoke_context *context, int cubic_allowed, law_point *points, int64_t count, law *fitted);

/*
 * Value at a frequency (NaN: the highest), its variance (NaN: not known) with degrees of freedom, and whether it lies within the range of
 * the points.
 */
typedef struct law_value {
    double value, variance, degrees;
    /*
     * Relative half width of the error that noise does not explain.  Outside the points: 0.25 for each factor e beyond them, 1 beside the
     * only one.
     */
    double systematic;
    int inside;
} law_value;
void law_evaluate(const law *fitted, double hz, law_value *value);
/* Relative variance of the value at a frequency (NaN: the highest) over the value at another frequency, at which it is 0. */
double law_ratio_variance(const law *fitted, double hz, double to_hz);

/*
 * Writes the law for the public interface: parameters for f in Hz, all divided by the constant `unit`.  If unit_hz is not NaN, `unit` is
 * the law's own value at unit_hz.
 */
void law_describe(const law *fitted, double unit, double unit_hz, yoke_law *described);

#endif
