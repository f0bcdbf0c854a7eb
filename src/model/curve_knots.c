/* Speed functions: points at the same units form one knot; between knots the speed is known except for noise and bends. */
#include <math.h>

#include "base/statistics.h"
#include "model/curve.h"

/* NEAR: units that differ by less than this are treated as equal, unless their speeds show a step between them. */
static const double same = 1e-9, near = 0.01;

static double per_unit(const curve_point *p) { return p->seconds / p->units; }

int64_t curve_group(const curve_point *points, int64_t count, int64_t *first)
{
    int64_t groups = 0;
    for (int64_t i = 0; i < count; i++) {
        const curve_point *start = groups > 0 ? &points[first[groups - 1]] : NULL;
        int joins = 0;
        if (start != NULL) {
            double apart = points[i].units / start->units - 1, step = fabs(log(per_unit(&points[i]) / per_unit(start)));
            double noise = hypot(points[i].error, start->error);
            joins = apart <= same || (apart <= near && !(step > 3 * noise)); /* also if the noise is not known */
        }
        if (!joins) first[groups++] = i;
    }
    first[groups] = count;
    return groups;
}

/* The mean of the points [first, end).  Adds their scatter about it, and its degrees of freedom, to *scatter and *scatter_degrees. */
static curve_knot merge(const curve_point *points, int64_t first, int64_t end, double *scatter, double *scatter_degrees)
{
    double weights = 0, units = 0, slowness = 0;
    curve_knot knot = {0};
    for (int64_t i = first; i < end; i++) {
        double error = isnan(points[i].error) ? 1 : points[i].error, w = 1 / (error * error);
        weights += w;
        units += w / weights * (points[i].units - units);
        slowness += w / weights * (per_unit(&points[i]) - slowness);
        knot.degrees += points[i].degrees;
    }
    for (int64_t i = first; i < end; i++) {
        double error = isnan(points[i].error) ? 1 : points[i].error, off = (per_unit(&points[i]) / slowness - 1) / error;
        *scatter += off * off;
    }
    *scatter_degrees += (double)(end - first - 1);
    knot.units = units;
    knot.speed = 1 / slowness;
    knot.variance = 1 / weights;
    return knot;
}

/* The deviation of knot k from the straight line between its neighbours; *variance: the part that the relative variances cause. */
static double off_line(const curve_knot *k, double *variance)
{
    double before = k[0].units - k[-1].units, behind = k[1].units - k[0].units, w = before / (before + behind);
    double a = (1 - w) * k[-1].speed, b = w * k[1].speed;
    *variance = a * a * k[-1].variance + b * b * k[1].variance + k[0].speed * k[0].speed * k[0].variance;
    return k[0].speed - a - b;
}

/*
 * If no errors are known, the variance is estimated from the deviations of knots from the lines between their neighbours, by the median, so
 * that a step has no influence.  These also contain the bends of the curve, so the estimate is rather too large.
 */
static double neighbours_scatter(curve_knot *knots, int64_t count, double *scratch)
{
    int64_t used = 0;
    for (int64_t k = 1; k + 1 < count; k++) {
        double variance, off = off_line(&knots[k], &variance);
        scratch[used++] = fabs(off) / sqrt(variance);
    }
    if (used < 2) return NAN;
    statistics_sort(scratch, used);
    double deviation = 1.4826 * statistics_median(scratch, used);
    return deviation * deviation;
}

static void set_variances(const curve_point *points, curve_knot *knots, int64_t count, double scatter, double degrees, double *scratch)
{
    double scale = degrees > 0 ? scatter / degrees : (double)NAN;
    int known = !isnan(points[0].error);
    if (known)
        scale = degrees > 0 ? fmax(1, scale) : 1;
    else if (degrees < 3) {
        scale = neighbours_scatter(knots, count, scratch);
        degrees = (double)(count - 2);
    }
    for (int64_t k = 0; k < count; k++) {
        knots[k].variance *= scale;
        knots[k].degrees = known ? knots[k].degrees + degrees : degrees;
    }
}

/* The bend at an end, from the two next to it: if bends grow towards the end (as with a start cost), the growth continues. */
static double beyond(double next, double second) { return second > 0 ? next * fmin(fmax(next / second, 1), 16) : next; }

static void set_bends(curve_knot *knots, int64_t count)
{
    for (int64_t k = 1; k + 1 < count; k++) {
        double variance, off = off_line(&knots[k], &variance);
        double rest = off * off - (isnan(variance) ? 0 : variance);
        knots[k].bend = sqrt(fmax(0, rest)) / (knots[k].units - knots[k - 1].units) / (knots[k + 1].units - knots[k].units);
    }
    if (count < 3) return;
    knots[0].bend = beyond(knots[1].bend, count > 3 ? knots[2].bend : 0);
    knots[count - 1].bend = beyond(knots[count - 2].bend, count > 3 ? knots[count - 3].bend : 0);
}

static yoke_status make_speed(yoke_context *context, curve *fitted)
{
    void *memory = NULL;
    yoke_status status = yoke_allocate(context, 2 * fitted->count, sizeof(double), &memory);
    if (status != YOKE_OK) return status;
    double *pairs = memory, highest = 0;
    for (int64_t k = 0; k < fitted->count; k++) {
        curve_knot *knot = &fitted->knots[k];
        pairs[2 * k] = knot->units;
        pairs[2 * k + 1] = knot->units / knot->speed;
        if (pairs[2 * k + 1] < highest) fitted->repaired = 1;
        knot->highest_s = highest = fmax(highest, pairs[2 * k + 1]);
    }
    status = yoke_speed_create(context, fitted->count, pairs, &fitted->speed);
    yoke_release(context, memory);
    return status;
}

/* fitted->kind is set.  Memory that is allocated here is freed by curve_clear, also after a failure. */
yoke_status curve_fit_knots(yoke_context *context, const curve_point *points, int64_t count, int64_t absorbed, curve *fitted)
{
    void *first = NULL, *knots = NULL, *scratch = NULL;
    yoke_status status = yoke_allocate(context, count + 1, sizeof(int64_t), &first);
    if (status == YOKE_OK) status = yoke_allocate(context, count, sizeof(curve_knot), &knots);
    fitted->knots = knots;
    if (status == YOKE_OK) status = yoke_allocate(context, count, sizeof(double), &scratch);
    if (status == YOKE_OK) {
        double scatter = 0, degrees = 0;
        fitted->count = curve_group(points, count, first);
        for (int64_t k = 0; k < fitted->count; k++)
            fitted->knots[k] = merge(points, ((int64_t *)first)[k], ((int64_t *)first)[k + 1], &scatter, &degrees);
        set_variances(points, fitted->knots, fitted->count, scatter, fmax(0, degrees - (double)absorbed), scratch);
        set_bends(fitted->knots, fitted->count);
        status = make_speed(context, fitted);
    }
    yoke_release(context, first);
    yoke_release(context, scratch);
    if (status == YOKE_OK && fitted->kind == YOKE_MODEL_AKIMA) curve_fit_akima(fitted->knots, fitted->count);
    return status;
}
