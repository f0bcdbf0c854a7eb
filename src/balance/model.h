/*
 * model.h - the partial functional performance model of one device, from noisy seconds (docs/methods/balance.md).
 */
#ifndef YOKE_BALANCE_MODEL_H
#define YOKE_BALANCE_MODEL_H

#include <stdbool.h>

#include "balance/noise.h"
#include "plan/partition/share.h"

enum { MODEL_MAX_POINTS = 16 };

/* Measurements at nearly the same size, merged: weighted means of units and seconds lie on the function wherever it is nearly a line. */
typedef struct model_point {
    double units, seconds;
    double weight; /* how many measurements it stands for */
    double known;  /* as many would say as much as these and its neighbours together do */
} model_point;

typedef enum model_verdict {
    MODEL_NOTHING,   /* nothing was measured */
    MODEL_NEW,       /* at a size that was not known */
    MODEL_MERGED,    /* agrees with what was known */
    MODEL_SUSPECT,   /* not believed, and not used, until it is seen again */
    MODEL_CHANGED,   /* what was known does not hold any more */
    MODEL_TAKEN_BACK /* what the measurement before changed was no change */
} model_verdict;

typedef struct speed_model {
    int points;
    model_point point[MODEL_MAX_POINTS]; /* by units */
    noise_belief noise;
    double merged_for;                  /* the noise when points were last merged for it */
    double suspect;                     /* measured over predicted seconds of the latest measurement, if it was not believed; else 0 */
    double changed;                     /* the factor by which the latest measurement changed the whole curve, to be confirmed; 0: none */
    double factor;                      /* that by which it did, confirmed or not; 0: it did not */
    model_point surprise;               /* that measurement */
    double level;                       /* product of the factors of all changes; 0: 1, the device is as it was at first */
    double level_weight;                /* measurements that the level stands for; 0: it is exact */
    double level_before, weight_before; /* the latest change, to take it back */
    double seen;                        /* measurements, as far back as the doubt reaches */
    double doubt; /* grows with changes, most with those taken back, and fades; above a limit none is believed at once */
    double trend; /* mean of the latest normalised residuals: far from 0 when the device changes its speed */
    double drift; /* relative change of seconds from round to round; 0 unless drifting */
    bool drifting;
    yoke_curve curve; /* valid where points > 0 */
} speed_model;

/* Relative standard deviation of one measurement. */
double model_noise(const speed_model *model);

/* Takes a measurement, units > 0, 1e-12 <= seconds <= 1e12, and says what it made of it.  A model of zeros knows nothing. */
model_verdict model_measure(speed_model *model, double units, double seconds);

/*
 * Takes the mean of `repeats` >= 1 measurements at these units, with the relative standard deviation of one of them (NaN: not known), as it is: a point of
 * its own, or part of that at the same units.  For what was measured on purpose, before there are rounds.
 */
void model_know(speed_model *model, double units, double seconds, double repeats, double deviation);

/* Relative standard deviation of the curve near these units; of nothing, 1. */
double model_uncertainty(const speed_model *model, double units);

#endif
