/* The standard error of each sample, from its own scatter and that of all samples. */
#include <math.h>

#include "base/statistics.h"
#include "model/model.h"

/*
 * PRIOR: weight of all samples together in the error of each, as degrees of freedom.  LEAST: relative; smaller differences are below the
 * resolution of clocks.
 */
static const double prior = 4, least = 1e-6;

/* Relative standard deviation of one value; NaN if it is not known. */
static double deviation(double value, double interval, int64_t repeats)
{
    if (!(repeats > 1) || isnan(interval) || isnan(value) || !(fabs(value) > 0)) return NAN;
    return fmax(least, interval / statistics_student_95((double)(repeats - 1)) / fabs(value) * sqrt((double)repeats));
}

/* The mean of log(chi^2_d / d) is below 0 by approximately this value. */
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
    double common = weights > 0 ? exp(sum / weights) : (double)NAN; /* the geometric mean, so that one noisy sample has little influence */
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
