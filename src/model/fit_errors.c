/* How sure each sample is, by its own spread and that of all. */
#include <math.h>

#include "base/statistics.h"
#include "model/model.h"

/* PRIOR: how many degrees of freedom the samples together count for in each one.  LEAST: relative; below it clocks say nothing. */
static const double prior = 4, least = 1e-6;

/* Relative standard deviation of one value, NaN where it is not known. */
static double deviation(double value, double interval, int64_t repeats)
{
    if (!(repeats > 1) || isnan(interval) || isnan(value) || !(fabs(value) > 0)) return NAN;
    return fmax(least, interval / statistics_student_95((double)(repeats - 1)) / fabs(value) * sqrt((double)repeats));
}

/* The mean of log(chi^2_d / d) is below 0 by about this. */
static double low_by(double degrees) { return 1 / degrees + 1 / (3 * degrees * degrees); }

void model_errors(int64_t count, const double *values, const double *intervals, const int64_t *repeats, double *errors, double *degrees)
{
    double sum = 0, weights = 0;
    for (int64_t i = 0; i < count; i++) {
        double s = deviation(values[i], intervals[i], repeats[i]), d = (double)(repeats[i] - 1);
        if (isnan(s)) continue;
        sum += d * (2 * log(s) + low_by(d));
        weights += d;
    }
    double common = weights > 0 ? exp(sum / weights) : (double)NAN; /* the geometric mean: one noisy sample does not spoil the others */
    for (int64_t i = 0; i < count; i++) {
        double s = deviation(values[i], intervals[i], repeats[i]), d = isnan(s) ? 0 : (double)(repeats[i] - 1);
        double variance = isnan(s) ? common : (prior * common + d * s * s) / (prior + d);
        errors[i] = fmax(least, sqrt(variance / (double)(repeats[i] > 0 ? repeats[i] : 1)));
        degrees[i] = d + fmin(prior, weights);
        if (isnan(variance)) {
            errors[i] = NAN;
            degrees[i] = 0;
        }
    }
}
