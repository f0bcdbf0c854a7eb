/*
 * noise.h - what is believed of the noise of a device's measurements (docs/methods/balance.md).
 */
#ifndef YOKE_BALANCE_NOISE_H
#define YOKE_BALANCE_NOISE_H

#include <stdbool.h>

/* Standard deviations 0.006, 0.012, ... 0.384 of the logarithm of a measurement. */
enum { NOISE_LEVELS = 7, NOISE_MOMENTS = 4 };

/* The probability of each level, sum 1; all 0: nothing was seen, as likely as machines are seen to be. */
typedef struct noise_belief {
    double level[NOISE_LEVELS];
    double freedom;               /* how many measurements told of it, at most 50 */
    double compared;              /* how many measurements told of its shape, at most 50 */
    double moment[NOISE_MOMENTS]; /* means over those of r, r^2, r^-4 and r^-8, r the measured over the predicted seconds */
    double deviation;             /* what follows from them, to plan with; 0: nothing was seen */
} noise_belief;

/* Standard deviation of one measurement that is to be reckoned with. */
double noise_deviation(const noise_belief *belief);

/*
 * The probability density of a deviation (difference of logarithms) of a measurement from what was predicted, if noise alone is the reason.
 *   times: its standard deviation in those of one measurement, at least 1; blur: a deviation that what is known of the curve may have;
 *   density [NOISE_LEVELS]: that of each level, for noise_learn.
 */
double noise_density(const noise_belief *belief, double deviation, double times, double blur, double *density);

/* Takes it for noise: the densities and the sum are those of noise_density. */
void noise_learn(noise_belief *belief, const double *density, double sum);

/* The same for its shape, by the ratio of measured to predicted seconds. */
void noise_compare(noise_belief *belief, double ratio);

/* Is it so much, and known well enough, that averaging counts more than what a cliff that is not seen at once costs? */
bool noise_is_much(const noise_belief *belief);

/* Does it slow some measurements down, as others' jobs do?  Then the fast ones tell more of the device than the slow ones. */
bool noise_slows(const noise_belief *belief);

/* A part of what is believed of each of the devices' noise becomes the mean of all: what disturbs one disturbs the others too. */
void noise_share(noise_belief *const *beliefs, int count);

#endif
