/*
 * truth.h - samples of known functions with known noise.
 */
#ifndef YOKE_TESTS_TRUTH_H
#define YOKE_TESTS_TRUTH_H

#include <math.h>
#include <stdint.h>

#include "model/noise.h"
#include "yoke/yoke.h"

/* Seconds of x units at the highest frequency. */
typedef double truth_function(double units);

typedef struct truth {
    truth_function *seconds;
    double rate_a, rate_b; /* speed over that at the highest frequency is a f + b, f in GHz; both 0: 1 */
    double power[3];       /* a f^3 + b f + c, f in GHz */
    double contention;     /* speed together over alone; 0: 1 */
    double noise;          /* relative standard deviation of one call */
    double joules_noise;
} truth;

static inline double truth_seconds(const truth *t, double units, double hz, int together)
{
    double rate = t->rate_a > 0 && !isnan(hz) ? t->rate_a * hz / 1e9 + t->rate_b : 1;
    return t->seconds(units) / rate / (together && t->contention > 0 ? t->contention : 1);
}

static inline double truth_watts(const truth *t, double hz)
{
    double f = isnan(hz) ? 0 : hz / 1e9;
    return t->power[0] * f * f * f + t->power[1] * f + t->power[2];
}

/* Mean and interval of n normal values with this mean and relative deviation; the interval as yoke_measure makes it. */
static inline void truth_mean(noise *random, double mean, double deviation, int n, double factor_95, double *found, double *interval)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < n; i++) {
        double off = deviation * noise_normal(random);
        sum += off;
        squares += off * off;
    }
    sum /= n;
    *found = mean * (1 + sum);
    *interval = n > 1 ? fabs(mean) * factor_95 * sqrt(fmax(0, squares - n * sum * sum) / (n - 1) / n) : (double)NAN;
}

/* factor_95: Student's for n - 1 degrees of freedom. */
static inline yoke_sample truth_sample(const truth *t, noise *random, double units, double hz, int together, int n, double factor_95)
{
    yoke_sample s = {.units = units, .frequency_hz = hz, .joules = NAN, .joules_interval = NAN, .repeats = n, .together = together};
    double seconds = truth_seconds(t, units, hz, together);
    truth_mean(random, seconds, t->noise, n, factor_95, &s.seconds, &s.seconds_interval);
    if (t->power[0] + t->power[1] + t->power[2] > 0)
        truth_mean(random, seconds * truth_watts(t, hz), t->joules_noise, n, factor_95, &s.joules, &s.joules_interval);
    return s;
}

#endif
