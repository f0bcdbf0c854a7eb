#include "model/piecewise.h"

#include <stddef.h>

/*
 * The last knot at or before x, or -1 before the first: values[k] <= value < values[k + 1].  Knots are few, so counting is faster than
 * bisection.
 */
static int find(const double *values, int count, double value)
{
    int k = -1;
    for (int i = 0; i < count; i++) k += values[i] <= value;
    return k;
}

double yoke_curve_seconds(const yoke_curve *curve, double units)
{
    if (!(units > 0)) return 0;
    int k = find(curve->units, curve->knots, units);
    if (k < 0) return curve->at_zero + (curve->seconds[0] - curve->at_zero) * (units / curve->units[0]);
    if (k == curve->knots - 1) return curve->seconds[k] + (units - curve->units[k]) * curve->beyond;
    double part = (units - curve->units[k]) / (curve->units[k + 1] - curve->units[k]);
    return curve->seconds[k] + part * (curve->seconds[k + 1] - curve->seconds[k]);
}

double yoke_curve_units(const yoke_curve *curve, double seconds, double *slope)
{
    double units = 0, rate = 0;
    int k = find(curve->seconds, curve->knots, seconds);
    if (k < 0) {
        if (seconds > curve->at_zero) {
            rate = curve->units[0] / (curve->seconds[0] - curve->at_zero);
            units = (seconds - curve->at_zero) * rate;
        }
    } else if (k == curve->knots - 1) {
        rate = 1 / curve->beyond;
        units = curve->units[k] + (seconds - curve->seconds[k]) * rate;
    } else {
        rate = (curve->units[k + 1] - curve->units[k]) / (curve->seconds[k + 1] - curve->seconds[k]);
        units = curve->units[k] + (seconds - curve->seconds[k]) * rate;
    }
    if (units >= curve->most) {
        units = curve->most;
        rate = 0;
    }
    if (slope != NULL) *slope = rate;
    return units;
}
