/* The curve of a device: its seconds at any number of units, from measured points. */
#include <math.h>

#include "balance/points.h"

/* The reasons for these figures, and the effect of other ones, are in docs/methods/balance.md. */
static const double cliff_jump = 1.5;  /* a cliff lies between two points if seconds rise by this much more than units */
static const double cliff_edge = 0.25; /* ... with a constant speed over this part of the distance on either side */
static const double significant = 9;   /* in variances: a larger jump is no noise */

/* A block of measurements that are pooled, as seconds would otherwise decrease with units (isotonic regression). */
typedef struct pooled {
    model_point mean;
    double first, last; /* units */
} pooled;

static void pool(pooled *into, const pooled *from)
{
    model_point *a = &into->mean;
    const model_point *b = &from->mean;
    double weight = a->weight + b->weight;
    a->units = (a->units * a->weight + b->units * b->weight) / weight;
    a->seconds = (a->seconds * a->weight + b->seconds * b->weight) / weight;
    a->weight = weight;
    into->last = from->last;
}

/* Whether seconds or units do not increase from the block before to this one. */
static bool falls(double units, double seconds, double units_before, double seconds_before)
{
    return seconds <= seconds_before * (1 + 1e-6) || units <= units_before * (1 + 1e-12);
}

static bool is_increasing(const model_point *p, int count)
{
    for (int i = 1; i < count; i++)
        if (falls(p[i].units, p[i].seconds, p[i - 1].units, p[i - 1].seconds)) return false;
    return true;
}

/*
 * Makes the points increasing, and returns their number.  A block becomes one point if its points are near each other, else two at its
 * ends: the function is flat there.
 */
static int increasing(const model_point *from, int from_points, model_point *p)
{
    pooled blocks[MODEL_MAX_POINTS];
    int count = 0, points = 0;
    for (int i = 0; i < from_points; i++) {
        const model_point *point = &from[i];
        blocks[count++] = (pooled){.mean = *point, .first = point->units, .last = point->units};
        while (count > 1 &&
               falls(blocks[count - 1].first, blocks[count - 1].mean.seconds, blocks[count - 2].last, blocks[count - 2].mean.seconds)) {
            pool(&blocks[count - 2], &blocks[count - 1]);
            count--;
        }
    }
    for (int i = 0; i < count; i++) {
        const pooled *block = &blocks[i];
        p[points++] = block->mean;
        if (block->last <= POINTS_FAR_APART * block->first) continue;
        p[points - 1].units = block->first;
        p[points] = block->mean;
        p[points].units = block->last;
        p[points++].seconds *= 1 + 5e-7;
    }
    return points;
}

static void add_knot(yoke_curve *curve, double units, double seconds)
{
    curve->units[curve->knots] = units;
    curve->seconds[curve->knots++] = seconds;
}

/*
 * Relative standard deviation of the points.  With growing totals no size is measured twice, and decreasing seconds with increasing units
 * are the only sign of noise: a little for each pair of neighbours, or much for a few of them.
 */
static double scatter(const speed_model *model)
{
    double squares = 0, noise = model_noise(model);
    for (int i = 1; i < model->points; i++) {
        const model_point *a = &model->point[i - 1], *b = &model->point[i];
        if (b->seconds >= a->seconds) continue;
        double fall = 1 - b->seconds / a->seconds;
        squares += fall * fall / (1 / a->weight + 1 / b->weight);
    }
    return squares > 0 ? larger(noise, sqrt(squares / (model->points - 1))) : noise;
}

/*
 * The slope with which the curve continues outside the points at `end`: that of the line to another point at least a quarter away, weighted
 * against that of constant speed by how well it is known in the noise.  A device with a start-up cost has a smaller slope, one beyond a
 * full cache a larger one.  Towards fewer units the line to the nearest such point is used; towards more units, where too small a slope
 * costs most, the steepest of all such lines, since the line to the nearest point alone may be flat because of noise.
 */
static double slope_outside(const model_point *p, int count, int end, double noise)
{
    double constant = p[end].seconds / p[end].units, steepest = 0;
    int step = end == 0 ? 1 : -1;
    const model_point *a = &p[end];
    for (int other = end + step; other >= 0 && other < count; other += step) {
        const model_point *b = &p[other];
        if (larger(a->units, b->units) < POINTS_FAR_APART * smaller(a->units, b->units)) continue;
        double slope = (b->seconds - a->seconds) / (b->units - a->units), distance = (b->units - a->units) / a->units;
        double sigma = noise * noise * (1 / a->weight + 1 / b->weight), known = distance * distance / (distance * distance + 4 * sigma);
        if (slope > 2 * constant) return constant; /* a cliff, and not the further course of the curve */
        steepest = larger(known * slope + (1 - known) * constant, steepest);
        if (end == 0) break;
    }
    return steepest > 0 ? larger(steepest, 1e-3 * constant) : constant;
}

/*
 * If seconds rise by far more than units, a cliff lies between the points, and is most probably narrower than their distance.  Constant
 * speeds are assumed on both sides of it, so that the next measurement halves the interval in which it lies.
 */
static void draw_cliff(yoke_curve *curve, const model_point *a, const model_point *b, double noise)
{
    if (b->seconds <= cliff_jump * a->seconds) return; /* a test without a division first */
    double jump = b->seconds / a->seconds - b->units / a->units, edge = cliff_edge * (b->units - a->units);
    if (!(jump > cliff_jump && jump > 6 * noise * sqrt(1 / a->weight + 1 / b->weight))) return;
    double before = a->seconds * (1 + edge / a->units), after = b->seconds * (1 - edge / b->units);
    if (before >= after) return;
    add_knot(curve, a->units + edge, before);
    add_knot(curve, b->units - edge, after);
}

/*
 * The step by which the seconds per unit of two neighbours may differ, squared and in variances of a measurement.  It is the part of their
 * distance by which a curve may be wrong, or their difference if that is more than noise, for then there is a cliff.
 */
static double step(const model_point *a, const model_point *b, double noise)
{
    double mean = 0.5 * (a->seconds + b->seconds), variance = noise * noise * mean * mean;
    double error = POINTS_CURVE_ERROR * mean * (b->units - a->units) / b->units, jump = b->seconds - a->seconds;
    return larger(error * error, jump * jump - significant * variance * (1 / a->weight + 1 / b->weight)) / variance;
}

/* A sum of measurements of seconds per unit, and of their weights. */
typedef struct evidence {
    double seconds, weight;
} evidence;

/* The evidence as it counts at the neighbouring point, after a point was added to it. */
static evidence pass(evidence from, const model_point *point, double step)
{
    double weight = from.weight + point->weight, part = 1 / (1 + weight * step);
    return (evidence){(from.seconds + point->weight * point->seconds) * part, weight * part};
}

/*
 * The best estimate of each point from all points, if steps between neighbours are random and independent (Rauch, Tung, Striebel 1965, as
 * sums of evidence from the left and from the right).
 */
static void smooth(speed_model *model, model_point *p)
{
    double steps[MODEL_MAX_POINTS], noise = model_noise(model);
    evidence right[MODEL_MAX_POINTS], left = {0, 0};
    int last = model->points - 1;
    for (int i = 0; i <= last; i++) {
        p[i] = model->point[i];
        p[i].seconds /= p[i].units;
        if (i > 0) steps[i] = step(&p[i - 1], &p[i], noise);
    }
    right[last] = (evidence){0, 0};
    for (int i = last; i > 0; i--) right[i - 1] = pass(right[i], &p[i], steps[i]);
    for (int i = 0; i <= last; i++) {
        const model_point *point = &p[i];
        double known = point->weight + left.weight + right[i].weight;
        double seconds = (point->seconds * point->weight + left.seconds + right[i].seconds) / known;
        if (i < last) left = pass(left, point, steps[i + 1]);
        p[i].seconds = seconds * point->units;
        model->point[i].known = known;
    }
}

void points_draw(speed_model *model)
{
    model_point smoothed[MODEL_MAX_POINTS], pooled_points[MODEL_MAX_POINTS];
    const model_point *p = model->point;
    int count = model->points;
    if (noise_is_much(&model->noise)) {
        smooth(model, smoothed);
        p = smoothed;
    } else {
        for (int i = 0; i < count; i++) model->point[i].known = p[i].weight;
    }
    if (!is_increasing(p, count)) {
        count = increasing(p, count, pooled_points);
        p = pooled_points;
    }
    yoke_curve *curve = &model->curve;
    double noise = scatter(model);
    curve->knots = 0;
    for (int i = 0; i < count; i++) {
        if (i > 0) draw_cliff(curve, &p[i - 1], &p[i], noise);
        add_knot(curve, p[i].units, p[i].seconds);
    }
    /* A start-up cost takes work away from a device, and is believed only if it was seen twice. */
    curve->at_zero = 0;
    if (p[0].weight > 1 && count > 1 && p[1].weight > 1)
        curve->at_zero = larger(p[0].seconds - slope_outside(p, count, 0, noise) * p[0].units, 0);
    curve->beyond = slope_outside(p, count, count - 1, noise);
}
