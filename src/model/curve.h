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
 * t = start + per_unit max(x, from).  Its variance is level + spread (x - centre)^2, and up to from_units that of the mean of the points there, flat: both
 * parts are known by their own points.
 */
typedef struct curve_line {
    double start_s, per_unit, from_units;
    double level, centre, spread, flat; /* s^2, units, (s/unit)^2, s^2 */
} curve_line;

/* One point of a speed function, made of all points at these units. */
typedef struct curve_knot {
    double units, speed;
    double variance, degrees; /* of the speed, relative; NaN: not known */
    double slope;             /* of the speed here (Akima) */
    double bend;              /* half the second derivative of the speed, as far as noise does not explain it */
    double highest_s;         /* of the times of this knot and those before */
    int straight;             /* nonzero: the speed to the next knot is a straight line, though the kind is Akima */
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

/* Of t(x): */
typedef struct curve_value {
    double seconds;
    double variance, degrees; /* relative, from noise; NaN: not known */
    double systematic;        /* relative half width of what no noise explains: shape between points, misfit, the way outside */
    int inside;
} curve_value;

/* How many points at different units a kind needs. */
int64_t curve_least_points(yoke_model_kind kind);
/*
 * absorbed: how many other numbers (rates of frequencies) were fitted to the same points, and so took from their scatter.
 * Errors: MEMORY, NUMERIC.  What was fitted is given back with curve_clear.
 */
yoke_status curve_fit(yoke_context *context, yoke_model_kind kind, const curve_point *points, int64_t count, int64_t absorbed,
                      curve *fitted);
void curve_clear(yoke_context *context, curve *fitted);
void curve_evaluate(const curve *fitted, double units, curve_value *value);

/* Groups of points at units that are as good as equal: writes the first index of each to first[count + 1], count at the end; returns how many. */
int64_t curve_group(const curve_point *points, int64_t count, int64_t *first);

/* The kinds' own parts. */
void curve_fit_line(yoke_model_kind kind, const curve_point *points, int64_t count, int64_t absorbed, curve *fitted);
yoke_status curve_fit_knots(yoke_context *context, const curve_point *points, int64_t count, int64_t absorbed, curve *fitted);
/* Slopes of Akima's method at the knots, and which pieces must be straight for the time not to fall. */
void curve_fit_akima(curve_knot *knots, int64_t count);
/* Speed at x within the knots' range; k: the last knot not behind x that is not the last of all. */
double curve_akima_speed(const curve_knot *knots, int64_t k, double units);

#endif
