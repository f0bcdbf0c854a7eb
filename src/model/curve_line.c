/* Constant and affine: t = start + per_unit max(x, from) by least squares of relative errors. */
#include <math.h>

#include "model/curve.h"

enum { MAX_CANDIDATES = 64, MIN_CANDIDATES = 8, WORK = 64000 };

/*
 * Weights are 1 / (relative error x seconds of the model)^2.  With measured seconds, points that are low by chance would have more weight.
 */
static double weight(const curve_point *p, double seconds)
{
    double error = (isnan(p->error) ? 1 : p->error) * seconds;
    return 1 / (error * error);
}

static double line_seconds(const curve_line *line, double units) { return line->start_s + line->per_unit * fmax(units, line->from_units); }

static double chi_squared(const curve_point *points, int64_t count, const curve_line *line)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        double seconds = line_seconds(line, points[i].units), off = points[i].seconds - seconds;
        sum += off * off * weight(&points[i], seconds);
    }
    return sum;
}

/* The line x t_el, where t_el is the mean time per unit. */
static curve_line fit_proportional(const curve_point *points, int64_t count)
{
    double sum = 0, weights = 0;
    curve_line line = {0};
    for (int64_t i = 0; i < count; i++) {
        double w = weight(&points[i], 1);
        sum += w * (points[i].seconds / points[i].units);
        weights += w;
    }
    line.per_unit = sum / weights;
    line.spread = line.per_unit * line.per_unit / weights;
    return line;
}

/* A weighted regression on z = max(x, from), with the weights of the line `before`. */
static curve_line regress(const curve_point *points, int64_t count, double from, const curve_line *before)
{
    double weights = 0, mean_z = 0, mean_t = 0, zz = 0, zt = 0;
    curve_line line = {.from_units = from};
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < count; i++) {
            const curve_point *p = &points[i];
            double w = weight(p, before != NULL ? line_seconds(before, p->units) : p->seconds), z = fmax(p->units, from);
            if (pass == 0) { /* running means avoid overflow and cancellation */
                weights += w;
                mean_z += w / weights * (z - mean_z);
                mean_t += w / weights * (p->seconds - mean_t);
            } else {
                zz += w * (z - mean_z) * (z - mean_z);
                zt += w * (z - mean_z) * (p->seconds - mean_t);
            }
        }
    line.per_unit = zz > 0 ? fmax(0, zt / zz) : 0;
    line.start_s = mean_t - line.per_unit * mean_z;
    line.level = 1 / weights;
    line.centre = mean_z;
    line.spread = line.per_unit > 0 ? 1 / zz : 0;
    return line;
}

/* Nonzero: the line has a positive time everywhere. */
static int is_possible(const curve_line *line)
{
    return isfinite(line->start_s) && isfinite(line->per_unit) && (line->from_units > 0 ? line_seconds(line, 0) > 0 : line->start_s >= 0);
}

/* The affine line with this x_0, or the proportional one if the start would be negative. */
static curve_line fit_from(const curve_point *points, int64_t count, double from)
{
    curve_line line = regress(points, count, from, NULL);
    for (int i = 0; i < 3 && is_possible(&line); i++) line = regress(points, count, from, &line);
    return is_possible(&line) ? line : fit_proportional(points, count);
}

/* x_0 between points k - 1 and k: where the mean of the points before k intersects the line through the others. */
static double meeting_point(const curve_point *points, int64_t count, int64_t k)
{
    double sum = 0, weights = 0;
    for (int64_t i = 0; i < k; i++) {
        double w = weight(&points[i], points[i].seconds);
        sum += w * points[i].seconds;
        weights += w;
    }
    curve_line rest = regress(points + k, count - k, 0, NULL);
    double from = rest.per_unit > 0 ? (sum / weights - rest.start_s) / rest.per_unit : points[k].units;
    return fmin(fmax(from, points[k - 1].units), points[k].units);
}

/* Sets the variances of a line whose first `flat` points are in its flat part. */
static void set_parts(const curve_point *points, int64_t count, int64_t flat, curve_line *line)
{
    double weights = 0;
    for (int64_t i = 0; i < flat; i++) weights += weight(&points[i], line_seconds(line, points[i].units));
    curve_line rest = regress(points + flat, count - flat, 0, line);
    line->flat = 1 / weights;
    line->level = rest.level;
    line->centre = rest.centre;
    line->spread = rest.spread;
}

/* An affine line.  It has a flat part at the beginning if that improves the fit by more than chance does, by three standard deviations. */
static curve_line fit_affine(const curve_point *points, int64_t count, int *parameters)
{
    curve_line best = fit_from(points, count, 0), without = best;
    double least = chi_squared(points, count, &best), first = least;
    int64_t candidates = WORK / count > MAX_CANDIDATES ? MAX_CANDIDATES : WORK / count < MIN_CANDIDATES ? MIN_CANDIDATES : WORK / count;
    int64_t step = 1 + count / candidates, flat = 0;
    *parameters = 2;
    for (int64_t k = 2; k + 2 <= count; k += step) {
        curve_line line = fit_from(points, count, meeting_point(points, count, k));
        double chi = chi_squared(points, count, &line);
        if (!(chi < least)) continue;
        least = chi;
        best = line;
        flat = k;
    }
    if (count < 5 || !(best.from_units > 0)) return without;
    double noise = least / (double)(count - 3);
    if (!isnan(points[0].error)) noise = fmax(noise, 1);
    if (first - least <= 9 * noise) return without;
    *parameters = 3;
    set_parts(points, count, flat, &best);
    return best;
}

/* Scales the variances to the scatter of the points about the line, and sets the misfit that noise does not explain. */
static void judge(const curve_point *points, int64_t count, int64_t parameters, curve *fitted)
{
    curve_line *line = &fitted->line;
    double left = (double)(count - parameters), noise = 0, square = 0, degrees = 0;
    double chi = chi_squared(points, count, line), scale = left > 0 ? chi / left : (double)NAN;
    int known = !isnan(points[0].error);
    for (int64_t i = 0; i < count; i++) {
        double off = points[i].seconds / line_seconds(line, points[i].units) - 1;
        square += off * off / (double)count;
        if (known) noise += points[i].error * points[i].error / (double)count;
        degrees += points[i].degrees;
    }
    fitted->misfit = 0;
    fitted->degrees = left;
    if (known) {
        if (left > 0 && scale > 1 + 2 * sqrt(2 / left)) fitted->misfit = sqrt(fmax(0, square - noise));
        fitted->degrees = left > 0 && scale > 2 ? left : degrees + left;
        scale = left > 0 ? fmax(1, scale) : 1;
    }
    if (isnan(scale)) fitted->degrees = NAN;
    line->level *= scale;
    line->spread *= scale;
    line->flat *= scale;
}

void curve_fit_line(yoke_model_kind kind, const curve_point *points, int64_t count, int64_t absorbed, curve *fitted)
{
    int parameters = 1;
    fitted->line = kind == YOKE_MODEL_CONSTANT ? fit_proportional(points, count) : fit_affine(points, count, &parameters);
    judge(points, count, parameters + absorbed, fitted);
}
