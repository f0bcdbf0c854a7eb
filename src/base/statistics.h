/*
 * statistics.h - statistics for samples and fits.
 */
#ifndef YOKE_BASE_STATISTICS_H
#define YOKE_BASE_STATISTICS_H

#include <stdint.h>

/* Sorts ascending. */
void statistics_sort(double *values, int64_t count);
/* Median of sorted values; count >= 1. */
double statistics_median(const double *sorted, int64_t count);
/*
 * Median of the distances from the centre as an estimate of the standard deviation of normal values, unbiased for few values too (Croux and
 * Rousseeuw 1992, table 1 and p. 418).  sorted [count], scratch [count].
 */
double statistics_robust_deviation(const double *sorted, int64_t count, double centre, double *scratch);

/* Mean and standard deviation (n - 1; NaN with one value). */
void statistics_moments(const double *values, int64_t count, double *mean, double *deviation);

/* P(T <= x) of Student's t with any degrees of freedom > 0 (infinity: the normal distribution); the inverse is yoke_student_t. */
double statistics_student_probability(double x, double degrees);
/* The ratio of the half width of a 95 % interval to the standard error. */
double statistics_student_95(double degrees);

#endif
