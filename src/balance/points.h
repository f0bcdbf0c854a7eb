/*
 * points.h - the points of a device's model, and the curve through them (docs/methods/balance.md).
 */
#ifndef YOKE_BALANCE_POINTS_H
#define YOKE_BALANCE_POINTS_H

#include "balance/model.h"

/* Ratio of units from which a slope is distinguished from noise. */
#define POINTS_FAR_APART 1.25

/* Points merge if their seconds differ by at most this number of standard deviations of a measurement, relative to the curve. */
#define POINTS_MERGE_WITHIN 3.0

/* Possible error of the curve, as a part of a distance in units. */
#define POINTS_CURVE_ERROR 0.3

/* fmax and fmin for numbers other than NaN: those of libm are calls, and the time of these files counts (docs/notes/benchmarks.md). */
static inline double larger(double a, double b) { return a > b ? a : b; }
static inline double smaller(double a, double b) { return a < b ? a : b; }

/* The point whose units are nearest; there must be one. */
int points_nearest(const speed_model *model, double units);

/*
 * The possible relative difference of seconds between the point and these units: the distance times the slope in logarithms towards the
 * next point, which is assumed to be at least 1 and is 1 beyond all points.
 */
double points_apart(const speed_model *model, int at, double units);

/* Adds a point; if there are too many the one farthest from it, by ratio, is removed. */
void points_insert(speed_model *model, double units, double seconds);

/*
 * Means of units and of seconds per unit, by weights.  If some measurements are slowed (noise_slows) the mean is that of the fourth power
 * of speed, which is less affected by what slows a measurement down.
 */
void points_merge(model_point *at, const model_point *from, bool slowed);

/*
 * Scales the points: the device has become slower, or faster, everywhere.  Weights are at most `weight`.  If seconds leave their range,
 * all points are forgotten.
 */
void points_scale(speed_model *model, double factor, double weight);

/* Merges points that are near each other by the present estimate of the noise. */
void points_coalesce(speed_model *model);

/*
 * Forgets a point that was seen once and makes the device look many times slower than a new measurement at far fewer units: it is assumed
 * to be a spike.  If it was true it will be seen again, and twice.
 */
void points_forget_spikes(speed_model *model, double units, double seconds);

/*
 * The possible seconds for these units, away from all points, if seconds increase with units and the points are right.  For more units
 * than ever before, constant speed is as possible as the value of the curve.
 */
void points_possible(const speed_model *model, double units, double predicted, double *least, double *most);

/*
 * Computes the curve: straight lines from point to point, which neighbours correct if there is much noise, and outside.  Fills `known`.
 * points > 0.
 */
void points_draw(speed_model *model);

#endif
