#include "plan/share.h"

#include <math.h>
#include <stddef.h>

/* The knot at whose right side x lies, or -1 left of the first. */
static int find(const double *values, int count, double value)
{
    int low = -1, high = count; /* values[low] <= value < values[high] */
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (values[middle] <= value)
            low = middle;
        else
            high = middle;
    }
    return low;
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

static double sum_at(const yoke_curve *const *curves, int devices, const double *slack, double seconds, double *shares, double *slope)
{
    double sum = 0, rates = 0;
    for (int i = 0; i < devices; i++) {
        double rate, factor = slack != NULL ? slack[i] : 1;
        shares[i] = yoke_curve_units(curves[i], seconds * factor, &rate);
        sum += shares[i];
        rates += rate * factor;
    }
    *slope = rates;
    return sum;
}

double yoke_share_real(const yoke_curve *const *curves, int devices, double n, const double *slack, double hint, double *shares)
{
    /* Newton's method on the piecewise linear, increasing sum; a bracket catches its cycles and the flat parts. */
    double low = 0, high = INFINITY, seconds = hint > 0 && isfinite(hint) ? hint : curves[0]->seconds[0], slope, sum = 0;
    for (int k = 0; k < 200; k++) {
        sum = sum_at(curves, devices, slack, seconds, shares, &slope);
        if (fabs(sum - n) <= 1e-9 * n) break;
        if (sum < n)
            low = seconds;
        else
            high = seconds;
        if (isfinite(high) && high - low <= 1e-15 * high) break;
        double next = slope > 0 ? seconds + (n - sum) / slope : INFINITY;
        if (!(next > low && next < high) || k % 8 == 7) next = isinf(high) ? 2 * seconds : low + (high - low) / 2;
        if (isinf(next)) break;
        seconds = next;
    }
    if (sum > n)
        for (int i = 0; i < devices; i++) shares[i] *= n / sum;
    return seconds;
}

/* One unit more for the device whose rounding took most from it; with `slowest` shares all at their limits, to any that has room. */
static int neediest(const yoke_curve *const *curves, int devices, const double *shares, const int64_t *units)
{
    int best = -1;
    for (int i = 0; i < devices; i++)
        if ((double)units[i] + 1 <= curves[i]->most && (best < 0 || shares[i] - (double)units[i] > shares[best] - (double)units[best]))
            best = i;
    return best;
}

/* Seconds of a device with the units that it has and with one more; the latter infinite where that does not fit. */
typedef struct rounded {
    double now, more;
} rounded;

static rounded seconds_of(const yoke_curve *curve, double slack, int64_t units)
{
    double x = (double)units;
    return (rounded){.now = yoke_curve_seconds(curve, x) / slack,
                     .more = x + 1 <= curve->most ? yoke_curve_seconds(curve, x + 1) / slack : INFINITY};
}

/* Returns the makespan, seconds. */
static double improve(const yoke_curve *const *curves, int devices, const double *slack, int64_t *units)
{
    rounded seconds[YOKE_SHARE_MOST_DEVICES];
    for (int i = 0; i < devices; i++) seconds[i] = seconds_of(curves[i], slack != NULL ? slack[i] : 1, units[i]);
    for (int step = 0; step < 2 * devices; step++) {
        int from = 0, to = -1;
        for (int i = 1; i < devices; i++)
            if (seconds[i].now > seconds[from].now) from = i;
        for (int i = 0; i < devices; i++)
            if (i != from && (to < 0 || seconds[i].more < seconds[to].more)) to = i;
        if (to < 0 || units[from] == 0 || !(seconds[to].more < seconds[from].now)) break;
        units[from]--;
        units[to]++;
        seconds[from] = seconds_of(curves[from], slack != NULL ? slack[from] : 1, units[from]);
        seconds[to] = seconds_of(curves[to], slack != NULL ? slack[to] : 1, units[to]);
    }
    double makespan = 0;
    for (int i = 0; i < devices; i++) makespan = fmax(makespan, seconds[i].now * (slack != NULL ? slack[i] : 1));
    return makespan;
}

double yoke_share_integer(const yoke_curve *const *curves, int devices, int64_t n, const double *slack, const double *shares,
                          int64_t *units)
{
    int64_t left = n;
    for (int i = 0; i < devices; i++) {
        double whole = floor(fmin(fmax(shares[i], 0), curves[i]->most));
        units[i] = whole < (double)left ? (int64_t)whole : left;
        left -= units[i];
    }
    while (left > 0) {
        int i = neediest(curves, devices, shares, units);
        if (i < 0) break;
        /* More than a unit each is missing where limits cut shares short, and by rounding where n is huge. */
        double more_most = curves[i]->most - (double)units[i];
        int64_t more = left > devices ? left / devices : 1;
        if ((double)more > more_most) more = (int64_t)more_most;
        units[i] += more;
        left -= more;
    }
    return improve(curves, devices, slack, units);
}
