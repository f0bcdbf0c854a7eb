/*
 * points.h - the points of a device's model, and the curve that is drawn through them (docs/methods/balance.md).
 */
#ifndef YOKE_BALANCE_POINTS_H
#define YOKE_BALANCE_POINTS_H

#include "balance/model.h"

/* This ratio of units tells a slope from noise. */
#define POINTS_FAR_APART 1.25

/* Points merge whose seconds differ by so many standard deviations of a measurement, as the curve goes. */
#define POINTS_MERGE_WITHIN 3.0

/* What the curve may be wrong by, as a part of a distance in units. */
#define POINTS_CURVE_ERROR 0.3

/* fmax and fmin for numbers that are no NaN: libm's are calls, and the time of these files counts (docs/notes/benchmarks.md). */
static inline double larger(double a, double b) { return a > b ? a : b; }
static inline double smaller(double a, double b) { return a < b ? a : b; }

/* The point whose units are nearest; there must be one. */
int points_nearest(const speed_model *model, double units);

/*
 * By how much the seconds may differ, relatively, between the point and these units: the distance times the slope in logarithms towards the
 * next point, which is taken to be at least 1 and is 1 beyond all points.
 */
double points_apart(const speed_model *model, int at, double units);

/* A point more; of too many the one farthest from it, by ratio, goes. */
void points_insert(speed_model *model, double units, double seconds);

/*
 * Means of units and of seconds per unit, by weights.  If some are slowed (noise_slows): of the fourth power of speed, which what slows a
 * measurement down moves less.
 */
void points_merge(model_point *at, const model_point *from, bool slowed);

/* The device has become slower, or faster, everywhere.  Weights are at most `weight`.  If seconds leave their range, nothing is known any more. */
void points_scale(speed_model *model, double factor, double weight);

/* Points that are near each other by what is now known of the noise become one. */
void points_coalesce(speed_model *model);

/*
 * A point that was seen once and makes a device look many times slower than a new measurement at far fewer units was a spike, as far as
 * anybody knows: it is forgotten.  If it was true it will be seen again, and twice.
 */
void points_forget_spikes(speed_model *model, double units, double seconds);

/*
 * Which seconds are possible for these units, away from all points, if seconds increase with units and the points are right.  For more
 * units than ever constant speed is as possible as what the curve says.
 */
void points_possible(const speed_model *model, double units, double predicted, double *least, double *most);

/* Draws the curve: straight lines from point to point, which neighbours correct where there is much noise, and outside.  Fills `known`.  points > 0. */
void points_draw(speed_model *model);

#endif
