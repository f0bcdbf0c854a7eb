/*
 * change.h - abrupt changes of a device's speed: is one believed, and was the latest a true one? (docs/methods/balance.md)
 */
#ifndef YOKE_BALANCE_CHANGE_H
#define YOKE_BALANCE_CHANGE_H

#include "balance/model.h"

/*
 * The probability density of a change of the speed by this deviation (logarithm of measured over predicted seconds); 0 for one that is too
 * small to be told from noise, or while disturbances are more frequent than changes are.
 */
double change_density(const speed_model *model, double deviation, double ratio);

/* Is the device again as it was before all changes, with this ratio of measured to predicted seconds? */
bool change_is_return(const speed_model *model, double ratio);

/*
 * Such a change was seen: the whole curve is scaled by it at once, or when it is seen a second time if disturbances were frequent.  The
 * points are scaled, and not drawn.
 */
model_verdict change_seen(speed_model *model, double units, double seconds, double ratio);

/* Before anything else of a new measurement: confirms the change of the one before, or takes it back.  Returns whether it took one back. */
bool change_look_back(speed_model *model, double units, double seconds);

/* The level of the curve is as uncertain as so many variances of one measurement. */
double change_level_variance(const speed_model *model);

/* Shares a residual of a measurement between the level and the points; `variance` in those of one measurement. */
void change_correct_level(speed_model *model, double residual, double variance);

#endif
