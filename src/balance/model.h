/*
 * model.h - the partial functional performance model of one device, from noisy seconds (docs/methods/balance.md).
 */
#ifndef YOKE_BALANCE_MODEL_H
#define YOKE_BALANCE_MODEL_H

#include <stdbool.h>

#include "balance/noise.h"
#include "plan/partition/share.h"

enum { MODEL_MAX_POINTS = 16 };

/* Measurements at nearly the same size, merged: weighted means of units and seconds lie on the function if it is nearly linear there. */
typedef struct model_point {
    double units, seconds;
    double weight; /* number of measurements that it represents */
    double known;  /* number of measurements with as much information as these and its neighbours together */
} model_point;

typedef enum model_verdict {
    MODEL_NOTHING,   /* nothing was measured */
    MODEL_NEW,       /* at a size that was not known */
    MODEL_MERGED,    /* agrees with earlier measurements */
    MODEL_SUSPECT,   /* not believed, and not used, until it is seen again */
    MODEL_CHANGED,   /* earlier measurements are no longer valid */
    MODEL_TAKEN_BACK /* the change by the previous measurement was no change */
} model_verdict;

typedef struct speed_model {
    int points;
    model_point point[MODEL_MAX_POINTS]; /* by units */
    noise_belief noise;
    double merged_for;                  /* the noise when points were last merged for it */
    double suspect;                     /* measured over predicted seconds of the latest measurement, if it was not believed; else 0 */
    double changed;                     /* factor by which the latest measurement changed the whole curve, to be confirmed; 0: none */
    double factor;                      /* the same factor, confirmed or not; 0: there was none */
    model_point surprise;               /* the measurement of that change */
    double level;                       /* product of the factors of all changes; 0: 1, the device is as it was at first */
    double level_weight;                /* number of measurements that the level represents; 0: it is exact */
    double level_before, weight_before; /* values before the latest change, to revert it */
    double seen;                        /* number of measurements, as far back as the doubt reaches */
    double doubt; /* grows with changes, most with reverted ones, and fades; above a limit no change is believed at once */
    double trend; /* mean of the latest normalised residuals: far from 0 if the device changes its speed */
    double drift; /* relative change of seconds from round to round; 0 unless drifting */
    bool drifting;
    yoke_curve curve; /* valid if points > 0 */
} speed_model;

/* Relative standard deviation of one measurement. */
double model_noise(const speed_model *model);

/* Learns a measurement, units > 0, 1e-12 <= seconds <= 1e12, and returns its verdict.  A model of zeros knows nothing. */
model_verdict model_measure(speed_model *model, double units, double seconds);

/*
 * Learns the mean of `repeats` >= 1 measurements at these units without a check, with the relative standard deviation of one of them
 * (NaN: not known).  It becomes a point of its own, or part of the point at the same units.  It is for measurements made on purpose,
 * before there are rounds.
 */
void model_know(speed_model *model, double units, double seconds, double repeats, double deviation);

/* Relative standard deviation of the curve near these units; 1 if nothing is known. */
double model_uncertainty(const speed_model *model, double units);

#endif
