/*
 * share.h - shares of n units for devices whose seconds are known functions of their units: pure arithmetic.
 */
#ifndef YOKE_PLAN_SHARE_H
#define YOKE_PLAN_SHARE_H

#include <stdint.h>

enum { YOKE_CURVE_MOST_KNOTS = 48, YOKE_SHARE_MOST_DEVICES = 64 };

/*
 * Seconds t(x) of one device for x > 0 units, piecewise linear: from (0, at_zero) to the first knot, from knot to knot, and beyond the last
 * knot with slope `beyond`.  t(0) = 0: a device without work takes no time, whatever it costs to start it.
 *   units[0] > 0, units and seconds strictly increasing, 0 <= at_zero < seconds[0], beyond > 0, most >= 0.
 * Every ray of constant speed then meets the curve once (Clarke et al. 1.3: t strictly increasing).
 */
typedef struct yoke_curve {
    int knots; /* at least 1 */
    double at_zero, beyond;
    double most; /* units that fit; may be infinite */
    double units[YOKE_CURVE_MOST_KNOTS], seconds[YOKE_CURVE_MOST_KNOTS];
} yoke_curve;

/* t(x); 0 for x <= 0; not limited by `most`. */
double yoke_curve_seconds(const yoke_curve *curve, double units);

/* The most units that are done within so many seconds, at most `most`; *slope becomes dx/dt there (0 at the limits); slope may be NULL. */
double yoke_curve_units(const yoke_curve *curve, double seconds, double *slope);

/*
 * FPM-PA (Clarke et al. 1.3): real shares x_i with sum n and t_i(x_i) / slack_i equal where they are not at a limit.  slack (NULL: all 1)
 * lets a device's planned seconds be less than the others': t_i(x_i) <= slack_i x the result.  `hint` > 0 is a guess of the result.
 * Returns the seconds at which the sum is n; sum of `most` must be at least n > 0.
 */
double yoke_share_real(const yoke_curve *const *curves, int devices, double n, const double *slack, double hint, double *shares);

/*
 * Integers from real shares for at most YOKE_SHARE_MOST_DEVICES devices: largest remainders, then single units move from the slowest
 * device to the one that is then fastest while the makespan falls.  The sum is exactly n, no units[i] exceeds most.  Returns the
 * makespan, seconds.
 */
double yoke_share_integer(const yoke_curve *const *curves, int devices, int64_t n, const double *slack, const double *shares,
                          int64_t *units);

#endif
