#include "plan/partition/share.h"

#include <math.h>
#include <stddef.h>

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
    /* Newton's method on the piecewise linear, increasing sum; a bracket handles cycles and flat segments. */
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

/* Seconds of a device with its present units and with one more; infinite: one more does not fit. */
typedef struct rounded {
    double now, more;
} rounded;

static rounded seconds_of(const yoke_curve *curve, double slack, int64_t units)
{
    double x = (double)units, now = yoke_curve_seconds(curve, x), more = x + 1 <= curve->most ? yoke_curve_seconds(curve, x + 1) : INFINITY;
    return slack == 1 ? (rounded){now, more} : (rounded){now / slack, more / slack};
}

/* Moves single units from the slowest device.  Returns the makespan in seconds. */
static double improve(const yoke_curve *const *curves, int devices, const double *slack, int64_t *units)
{
    rounded seconds[YOKE_SHARE_MAX_DEVICES];
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

/* The part of the share that rounding removed; -INFINITY: there is no room for another unit. */
static double missing_units(const yoke_curve *curve, double share, int64_t units)
{
    return (double)units + 1 <= curve->most ? (share > 0 ? share : 0) - (double)units : -INFINITY;
}

double yoke_share_integer(const yoke_curve *const *curves, int devices, int64_t n, const double *slack, const double *shares,
                          int64_t *units)
{
    double missing[YOKE_SHARE_MAX_DEVICES];
    int64_t left = n;
    for (int i = 0; i < devices; i++) {
        double share = shares[i] > 0 ? shares[i] : 0, whole = share < curves[i]->most ? share : curves[i]->most;
        units[i] = whole < (double)left ? (int64_t)whole : left;
        left -= units[i];
        missing[i] = missing_units(curves[i], shares[i], units[i]);
    }
    while (left > 0) {
        /* One unit for the device whose share lost most by rounding; if all shares are at their limits, for any device that has room. */
        int most = 0;
        for (int i = 1; i < devices; i++)
            if (missing[i] > missing[most]) most = i;
        if (missing[most] == -INFINITY) break;
        /* More than one unit per device is missing only if limits cut shares, or after rounding if n is huge. */
        double room = curves[most]->most - (double)units[most];
        int64_t more = left > devices ? left / devices : 1;
        if ((double)more > room) more = (int64_t)room;
        units[most] += more;
        left -= more;
        missing[most] = missing_units(curves[most], shares[most], units[most]);
    }
    return improve(curves, devices, slack, units);
}
