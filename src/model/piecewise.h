/*
 * piecewise.h - t(x) of one device, piecewise linear in seconds between knots, for arithmetic on many devices: pure, without memory of
 * its own.
 */
#ifndef YOKE_MODEL_PIECEWISE_H
#define YOKE_MODEL_PIECEWISE_H

enum { YOKE_CURVE_MAX_KNOTS = 48 };

/*
 * Seconds t(x) of one device for x > 0 units, piecewise linear: from (0, at_zero) to the first knot, from knot to knot, and beyond the last
 * knot with slope `beyond`.  t(0) = 0: a device without work takes no time, independent of the cost to start it.
 *   units[0] > 0, units and seconds strictly increasing, 0 <= at_zero < seconds[0], beyond > 0, most >= 0.
 * Every ray of constant speed then meets the curve once (Clarke et al. 1.3: t strictly increasing).
 */
typedef struct yoke_curve {
    int knots; /* at least 1 */
    double at_zero, beyond;
    double most; /* units that fit; may be infinite */
    double units[YOKE_CURVE_MAX_KNOTS], seconds[YOKE_CURVE_MAX_KNOTS];
} yoke_curve;

/* t(x); 0 for x <= 0; not limited by `most`. */
double yoke_curve_seconds(const yoke_curve *curve, double units);

/* The largest number of units within `seconds`, at most `most`; *slope becomes dx/dt there (0 at the limits); slope may be NULL. */
double yoke_curve_units(const yoke_curve *curve, double seconds, double *slope);

#endif
