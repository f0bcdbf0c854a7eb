/*
 * statistics.h - what samples and fits need of statistics.
 */
#ifndef YOKE_BASE_STATISTICS_H
#define YOKE_BASE_STATISTICS_H

#include <stdint.h>

/* Sorts ascending. */
void statistics_sort(double *values, int64_t count);
/* Of values that are sorted; count >= 1. */
double statistics_median(const double *sorted, int64_t count);
/*
 * Median of the distances from the centre as an estimate of the standard deviation of normal values, unbiased for few of them as well (Croux and
 * Rousseeuw 1992, table 1 and p. 418).  sorted [count], scratch [count].
 */
double statistics_robust_deviation(const double *sorted, int64_t count, double centre, double *scratch);

/* Mean and standard deviation (n - 1; NaN with one value). */
void statistics_moments(const double *values, int64_t count, double *mean, double *deviation);

/* P(T <= x) of Student's t with any degrees of freedom > 0 (infinity: the normal distribution); back: yoke_student_t. */
double statistics_student_probability(double x, double degrees);
/* The factor from a standard error to half the width of its 95 % interval. */
double statistics_student_95(double degrees);

#endif
