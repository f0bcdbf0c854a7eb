/*
 * change.h - abrupt changes of a device's speed: decides whether one is believed, and whether the latest was real
 * (docs/methods/balance.md).
 */
#ifndef YOKE_BALANCE_CHANGE_H
#define YOKE_BALANCE_CHANGE_H

#include "balance/model.h"

/*
 * The probability density of a change of the speed by this deviation (logarithm of measured over predicted seconds); 0 if it is too small
 * to be distinguished from noise, or while disturbances are more frequent than changes.
 */
double change_density(const speed_model *model, double deviation, double ratio);

/* Whether the device is again as it was before all changes, according to this ratio of measured to predicted seconds. */
bool change_is_return(const speed_model *model, double ratio);

/*
 * Applies a change of this kind: the whole curve is scaled by it at once, or when it is seen a second time if disturbances were frequent.
 * The points are scaled, and the curve is not recomputed.
 */
model_verdict change_seen(speed_model *model, double units, double seconds, double ratio);

/* Called first for a new measurement: confirms the change of the previous one, or reverts it.  Returns whether it reverted one. */
bool change_look_back(speed_model *model, double units, double seconds);

/* The uncertainty of the level of the curve, in variances of one measurement. */
double change_level_variance(const speed_model *model);

/* Divides a residual of a measurement between the level and the points; `variance` in units of that of one measurement. */
void change_correct_level(speed_model *model, double residual, double variance);

#endif
