/*
 * curve.h - t(x) of one device at one frequency, fitted to points; docs/methods/models.md has the formulas.
 */
#ifndef YOKE_MODEL_CURVE_H
#define YOKE_MODEL_CURVE_H

#include "model/speed.h"
#include "yoke/yoke.h"

/* Points are ascending by units; the errors of all are known, or of none. */
typedef struct curve_point {
    double units, seconds;
    double error;   /* relative standard error of the seconds; NaN: not known */
    double degrees; /* of freedom of that error; 0: not known */
} curve_point;

/*
 * t = start + per_unit max(x, from).  Its variance is level + spread (x - centre)^2, and up to from_units that of the mean of the points
 * there (flat): each part is determined by its own points.
 */
typedef struct curve_line {
    double start_s, per_unit, from_units;
    double level, centre, spread, flat; /* s^2, units, (s/unit)^2, s^2 */
} curve_line;

/* One point of a speed function, made from all points at these units. */
typedef struct curve_knot {
    double units, speed;
    double variance, degrees; /* of the speed, relative; NaN: not known */
    double slope;             /* of the speed here (Akima) */
    double bend;              /* half the second derivative of the speed, less the part that noise explains */
    double highest_s;         /* largest time of this knot and those before */
    int straight;             /* nonzero: the speed to the next knot is linear, although the kind is Akima */
} curve_knot;

typedef struct curve {
    yoke_model_kind kind; /* never AUTO */
    double min_units, max_units;
    curve_line line;   /* constant, affine */
    double misfit;     /* of the line: relative, beyond noise, root mean square */
    double degrees;    /* of the line's variances; NaN: these are not known */
    int64_t count;     /* of knots */
    curve_knot *knots; /* piecewise, Akima */
    yoke_speed *speed; /* the same without noise: straight from knot to knot, never falling times */
    int repaired;
} curve;

/* A value of t(x). */
typedef struct curve_value {
    double seconds;
    double variance, degrees; /* relative, from noise; NaN: not known */
    double systematic; /* relative half width of the error that noise does not explain: shape between points, misfit, extrapolation */
    int inside;
} curve_value;

/* The number of points at different units that a kind needs. */
int64_t curve_least_points(yoke_model_kind kind);
/*
 * Fits a curve.  absorbed: number of other parameters (rates of frequencies) that were fitted to the same points, and thus reduced their
 * scatter.
 * Errors: MEMORY, NUMERIC.  The result is freed with curve_clear.
 */
yoke_status curve_fit(yoke_context *context, yoke_model_kind kind, const curve_point *points, int64_t count, int64_t absorbed,
                      curve *fitted);
void curve_clear(yoke_context *context, curve *fitted);
void curve_evaluate(const curve *fitted, double units, curve_value *value);

/*
 * Groups points at units that are practically equal: writes the first index of each group to first[count + 1], count at the end; returns
 * the number of groups.
 */
int64_t curve_group(const curve_point *points, int64_t count, int64_t *first);

/* The parts of curve_fit for the kinds. */
void curve_fit_line(yoke_model_kind kind, const curve_point *points, int64_t count, int64_t absorbed, curve *fitted);
yoke_status curve_fit_knots(yoke_context *context, const curve_point *points, int64_t count, int64_t absorbed, curve *fitted);
/* Slopes of Akima's method at the knots, and which pieces must be straight so that the time does not fall. */
void curve_fit_akima(curve_knot *knots, int64_t count);
/* Speed at x within the range of the knots; k: the last knot at or before x, except the last of all. */
double curve_akima_speed(const curve_knot *knots, int64_t k, double units);

#endif
