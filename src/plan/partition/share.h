/*
 * share.h - shares of n units for devices whose seconds are known functions of their units: pure arithmetic.
 */
#ifndef YOKE_PLAN_SHARE_H
#define YOKE_PLAN_SHARE_H

#include <stdint.h>

#include "model/piecewise.h"

enum { YOKE_SHARE_MAX_DEVICES = 64 };

/*
 * FPM-PA (Clarke et al. 1.3): real shares x_i with sum n and equal t_i(x_i) / slack_i for all shares that are not at a limit.  slack
 * (NULL: all 1) lets a device's planned seconds be less than the others': t_i(x_i) <= slack_i x the result.  `hint` > 0 is an estimate of
 * the result.  Returns the seconds at which the sum is n; the sum of `most` must be at least n > 0.
 */
double yoke_share_real(const yoke_curve *const *curves, int devices, double n, const double *slack, double hint, double *shares);

/*
 * Rounds real shares to integers for at most YOKE_SHARE_MAX_DEVICES devices: by largest remainders, then single units move from the
 * slowest device to the one that is then fastest while the makespan falls.  The sum is exactly n, and no units[i] exceeds most.  Returns
 * the makespan in seconds.
 */
double yoke_share_integer(const yoke_curve *const *curves, int devices, int64_t n, const double *slack, const double *shares,
                          int64_t *units);

#endif
