/* measure.h - measures durations, and the uncertainty of a difference. */
#ifndef BENCH_FEM_MEASURE_H
#define BENCH_FEM_MEASURE_H

#include "yoke/yoke.h"

/* Does the work `times` times, and waits until it is done. */
typedef yoke_status fem_bench_work(void *user, int64_t times);

typedef struct fem_bench_time {
    double median_s, quartile_low_s, quartile_high_s; /* of one execution */
    int64_t batches, times;                           /* times: all executions except the first one, which is not measured */
} fem_bench_time;

enum { FEM_BENCH_MAX_BATCHES = 101 };

/*
 * Measures for about `seconds`: after one execution as warm-up, batches with as many executions as take a tenth of `seconds` (so that the
 * clock and the wait at the end are negligible), at least three and at most FEM_BENCH_MAX_BATCHES of them.  Quantiles are those of the
 * batches' means.
 * Errors: those of the work; INTERRUPTED.
 */
yoke_status fem_bench_measure(yoke_context *context, double seconds, fem_bench_work *work, void *user, fem_bench_time *time);

/* The q-quantile (0 .. 1) of values [count >= 1], interpolated linearly.  Sorts the values. */
double fem_bench_quantile(double *values, int64_t count, double q);

typedef struct fem_bench_difference {
    double median_a, median_b;
    double median;      /* of the differences a - b of pairs */
    double uncertainty; /* of the median, 95 %, from the median of the absolute deviations; NaN for fewer than three pairs */
    int below_noise;    /* the difference does not exceed its uncertainty, or that is not known */
} fem_bench_difference;

/* Compares pairs of successive measurements a[i], b[i], i < count, count >= 1; a and b stay unchanged.  Errors: MEMORY. */
yoke_status fem_bench_compare(yoke_context *context, const double *a, const double *b, int64_t count, fem_bench_difference *difference);

#endif
