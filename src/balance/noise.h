/*
 * noise.h - the estimated noise of a device's measurements (docs/methods/balance.md).
 */
#ifndef YOKE_BALANCE_NOISE_H
#define YOKE_BALANCE_NOISE_H

#include <stdbool.h>

/* Standard deviations 0.006, 0.012, ... 0.384 of the logarithm of a measurement. */
enum { NOISE_LEVELS = 7, NOISE_MOMENTS = 4 };

/* The probability of each level, sum 1; all 0: nothing was seen, and the probabilities are those of typical machines. */
typedef struct noise_belief {
    double level[NOISE_LEVELS];
    double freedom;               /* number of measurements of the noise, at most 50 */
    double compared;              /* number of measurements of its shape, at most 50 */
    double moment[NOISE_MOMENTS]; /* their means of r, r^2, r^-4 and r^-8, where r is measured over predicted seconds */
    double deviation;             /* the resulting deviation, to plan with; 0: nothing was seen */
} noise_belief;

/* Standard deviation of one measurement to be assumed in decisions. */
double noise_deviation(const noise_belief *belief);

/*
 * The probability density of a deviation (difference of logarithms) of a measurement from the prediction, if noise alone is the reason.
 *   times: its standard deviation in units of that of one measurement, at least 1; blur: a possible deviation of the known curve;
 *   density [NOISE_LEVELS]: that of each level, for noise_learn.
 */
double noise_density(const noise_belief *belief, double deviation, double times, double blur, double *density);

/* Learns the deviation as noise: the densities and the sum are those of noise_density. */
void noise_learn(noise_belief *belief, const double *density, double sum);

/* Learns the shape of the noise from the ratio of measured to predicted seconds. */
void noise_compare(noise_belief *belief, double ratio);

/* Whether noise is so large, and known well enough, that averaging gains more than is lost by detecting a cliff later. */
bool noise_is_much(const noise_belief *belief);

/* Whether noise slows some measurements down, as others' jobs do.  Then fast measurements say more of the device than slow ones. */
bool noise_slows(const noise_belief *belief);

/* Makes a part of the estimated noise of each device the mean of all: what disturbs one device disturbs the others too. */
void noise_share(noise_belief *const *beliefs, int count);

#endif
