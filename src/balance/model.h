/*
 * model.h - the partial functional performance model of one device, from noisy seconds (docs/methods/balance.md).
 */
#ifndef YOKE_BALANCE_MODEL_H
#define YOKE_BALANCE_MODEL_H

#include <stdbool.h>

#include "plan/share.h"

enum { MODEL_MOST_POINTS = 16 };

/* Measurements at nearly the same size, merged: weighted means of units and seconds lie on the function wherever it is nearly a line. */
typedef struct model_point {
    double units, seconds;
    double weight; /* how many measurements it stands for */
} model_point;

typedef enum model_verdict {
    MODEL_NOTHING, /* nothing was measured */
    MODEL_NEW,     /* at a size that was not known */
    MODEL_MERGED,  /* agrees with what was known */
    MODEL_SUSPECT, /* not believed, and not used, until it is seen again */
    MODEL_CHANGED  /* what was known does not hold any more */
} model_verdict;

typedef struct speed_model {
    int points;
    model_point point[MODEL_MOST_POINTS]; /* by units */
    double squares, freedom;              /* of relative residuals of repeated measurements: their quotient is the variance of the noise */
    double noise;                         /* relative standard deviation of one measurement, of these and what is assumed; 0: as assumed */
    double suspect;                       /* measured over predicted seconds of the latest measurement, if it was not believed; else 0 */
    double changed;                       /* the factor by which the latest measurement changed the whole curve; 0: it did not */
    double trend;                         /* mean of the latest normalised residuals: far from 0 when the device changes its speed */
    double drift;                         /* relative change of seconds from round to round; 0 unless drifting */
    bool drifting;
    yoke_curve curve; /* valid where points > 0 */
} speed_model;

/* Relative standard deviation of one measurement. */
double model_noise(const speed_model *model);

/* Takes a measurement, units > 0, 1e-12 <= seconds <= 1e12, and says what it made of it.  A model of zeros knows nothing. */
model_verdict model_measure(speed_model *model, double units, double seconds);

/* Relative standard deviation of the curve near these units; of nothing, 1. */
double model_uncertainty(const speed_model *model, double units);

#endif
