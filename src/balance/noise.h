/*
 * noise.h - what is believed of the noise of a device's measurements (docs/methods/balance.md).
 */
#ifndef YOKE_BALANCE_NOISE_H
#define YOKE_BALANCE_NOISE_H

/* Standard deviations 0.006, 0.012, ... 0.384 of the logarithm of a measurement. */
enum { NOISE_LEVELS = 7 };

/* The probability of each level, sum 1; all 0: nothing was seen, as likely as machines are seen to be. */
typedef struct noise_belief {
    double level[NOISE_LEVELS];
    double freedom;   /* how many measurements told of it, at most 50 */
    double deviation; /* what follows from them, to plan with; 0: nothing was seen */
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

/* A part of what is believed of each of the devices' noise becomes the mean of all: what disturbs one disturbs the others too. */
void noise_share(noise_belief *const *beliefs, int count);

#endif
