/*
 * model.h - a fitted model: a curve t(x) at one frequency, laws of the frequency, contention.
 */
#ifndef YOKE_MODEL_MODEL_H
#define YOKE_MODEL_MODEL_H

#include "model/curve.h"
#include "model/law.h"
#include "yoke/yoke.h"

/* A sample in the form that fits use. */
typedef struct observation {
    double units, seconds, hz;
    double error, degrees; /* relative standard error of the seconds, moderated; NaN and 0: not known */
    double power;          /* dynamic, W; NaN: not metered */
    double power_error;    /* relative */
    double power_degrees;
    int64_t level; /* index of its frequency */
    int together;
} observation;

/* All samples at one frequency.  log_rate: logarithm of the speed over that at the reference frequency. */
typedef struct level {
    double hz; /* NaN: not known; this level is then the last */
    double log_rate, error, degrees;
    int64_t sizes;       /* number of different units */
    double sum, weights; /* sums in progress */
    double last_units;
} level;

typedef struct fitted_model {
    yoke_model model; /* first, so that a pointer to it is a pointer to the whole */
    yoke_context *context;
    curve curve; /* at the frequency at which `rate` is 1 */
    law rate, power;
    double reference_hz; /* frequency of the curve; NaN: not known */
    law_point *rate_points, *power_points;
    int has_power;
    double log_contention, contention_variance, contention_degrees; /* of the time: seconds together over alone; NaN: not sampled */
    double power_together;                                          /* dynamic power together over that alone; NaN: not sampled */
} fitted_model;

/* A fit in progress. */
typedef struct fitting {
    yoke_context *context;
    fitted_model *model;
    observation *observations; /* ascending by units */
    int64_t count;
    level *levels; /* ascending by frequency */
    int64_t num_levels, reference;
    int all_together;    /* every sample was taken while other devices worked: then the model is made from these */
    curve_point *points; /* [count] of the curve: observations at the reference frequency, in their order */
    int64_t num_points;
} fitting;

/*
 * Relative standard errors of means of n values, from the half widths of their 95 % intervals.  Each is moderated towards the common
 * value of all, because a standard deviation of few values is itself known badly (Smyth 2004; docs/methods/models.md).
 * values, intervals, repeats [count] -> errors, degrees [count].
 */
void model_errors(int64_t count, const double *values, const double *intervals, const int64_t *repeats, double *errors, double *degrees);

/* Fits the curve of this kind, and the rates of the levels, to all observations at once. */
yoke_status model_separate(fitting *f, yoke_model_kind kind);

/*
 * Relative errors of the curve of a kind at points that were held out, each group of equal units in turn, at most MODEL_MAX_HELD_OUT of
 * them.  Writes *count of them to errors [MODEL_MAX_HELD_OUT].
 */
enum { MODEL_MAX_HELD_OUT = 64 };
yoke_status model_hold_out(yoke_context *context, yoke_model_kind kind, const curve_point *points, int64_t num_points, double *errors,
                           int64_t *count);
/* The kind for these points: see YOKE_MODEL_AUTO. */
yoke_status model_choose(yoke_context *context, const curve_point *points, int64_t num_points, yoke_model_kind *kind);

#endif
