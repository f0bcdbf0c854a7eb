#include "balance/model.h"

#include <math.h>
#include <string.h>

/* The reasons for these figures, and what happens with others, are in docs/methods/balance.md. */
static const double prior_noise = 0.012; /* relative noise that is assumed, with the weight of so many measurements */
static const double prior_weight = 2;
static const double merge_within = 3;    /* points merge whose seconds differ by so many standard deviations, as the curve goes */
static const double same_within = 0.1;   /* so many standard deviations apart in units: no cliff can be between them */
static const double clean_within = 1.25; /* residuals so near to a point are noise, and not its distance */
static const double cliff_jump = 1.5;    /* seconds rise by so much more than units from point to point: a cliff lies between */
static const double cliff_edge = 0.25;   /* ... and leaves so much of the way on either side flat */
static const double far_apart = 1.25;    /* this ratio of units tells a slope from noise */
static const double spike_factor = 6;    /* so many times more than predicted for more units than ever is not believed at once */
static const double most_weight = 60;    /* of a point, so that what is old fades */
static const double trend_memory = 0.65; /* of the mean of normalised residuals */
static const double trend_begins = 1.2, trend_ends = 0.6, drift_ends = 0.3;
static const double drift_gain = 0.4, drift_rate_gain = 0.12; /* Holt's alpha and alpha x beta */
static const double least_seconds = 1e-15, most_seconds = 1e15;

double model_noise(const speed_model *model) { return model->noise > 0 ? model->noise : prior_noise; }

/* fmax for numbers that are no NaN: libm's is a call, and this file's time counts (docs/notes/benchmarks.md). */
static inline double larger(double a, double b) { return a > b ? a : b; }
static inline double smaller(double a, double b) { return a < b ? a : b; }

static int nearest(const speed_model *model, double units)
{
    int best = 0;
    for (int i = 1; i < model->points; i++)
        if (fabs(model->point[i].units - units) < fabs(model->point[best].units - units)) best = i;
    return best;
}

/*
 * By how much the seconds may differ, relatively, between the point and these units: the distance times the slope in logarithms towards the
 * next point, which is taken to be at least 1 and is 1 beyond all points.
 */
static double apart(const speed_model *model, int at, double units)
{
    const model_point *a = &model->point[at];
    double distance = fabs(units - a->units) / a->units;
    int other = units < a->units ? at - 1 : at + 1;
    if (other < 0 || other >= model->points) return distance;
    const model_point *b = &model->point[other];
    double slope = (b->seconds - a->seconds) / (b->units - a->units) * a->units / a->seconds;
    return distance * larger(slope, 1);
}

double model_uncertainty(const speed_model *model, double units)
{
    return model->points == 0 ? 1 : model_noise(model) / sqrt(model->point[nearest(model, units)].weight);
}

static void insert(speed_model *model, double units, double seconds, double weight)
{
    if (model->points == MODEL_MOST_POINTS) { /* the point farthest from here, by ratio, is of least use */
        bool first = units / model->point[0].units > model->point[model->points - 1].units / units;
        if (first) memmove(&model->point[0], &model->point[1], (MODEL_MOST_POINTS - 1) * sizeof model->point[0]);
        model->points--;
    }
    int at = model->points;
    while (at > 0 && model->point[at - 1].units > units) at--;
    memmove(&model->point[at + 1], &model->point[at], (size_t)(model->points - at) * sizeof model->point[0]);
    model->point[at] = (model_point){.units = units, .seconds = seconds, .weight = weight};
    model->points++;
}

static void merge(model_point *at, double units, double seconds)
{
    double weight = fmin(at->weight, most_weight);
    at->units = (at->units * weight + units) / (weight + 1);
    at->seconds = (at->seconds * weight + seconds) / (weight + 1);
    at->weight = weight + 1;
}

/* The device has become slower, or faster, everywhere.  If seconds leave their range, nothing is known any more. */
static void scale(speed_model *model, double factor, double weight)
{
    for (int i = 0; i < model->points; i++) {
        model_point *p = &model->point[i];
        p->seconds *= factor;
        p->weight = fmin(p->weight, weight);
        if (!(p->seconds >= least_seconds && p->seconds <= most_seconds)) model->points = 0;
    }
}

/* Measurements that would let seconds fall with units are pooled (isotonic regression). */
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

/* The point does not come behind the block before it. */
static bool falls(double units, double seconds, double units_before, double seconds_before)
{
    return seconds <= seconds_before * (1 + 1e-6) || units <= units_before * (1 + 1e-12);
}

static bool is_increasing(const speed_model *model)
{
    const model_point *p = model->point;
    for (int i = 1; i < model->points; i++)
        if (falls(p[i].units, p[i].seconds, p[i - 1].units, p[i - 1].seconds)) return false;
    return true;
}

/* Increasing points; one for a block whose points are near each other, else its two ends: the function is flat there. */
static int increasing(const speed_model *model, model_point *p)
{
    pooled blocks[MODEL_MOST_POINTS];
    int count = 0, points = 0;
    for (int i = 0; i < model->points; i++) {
        const model_point *point = &model->point[i];
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
        if (block->last <= far_apart * block->first) continue;
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
 * Relative standard deviation of the points.  Where totals grow nothing is measured twice, and that seconds fall where units rise is the
 * only sign of noise: a little for each pair of neighbours, or much for some.
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
 * The slope with which the curve goes on outside the points at `end`: that of the line to another point at least a quarter away, as far
 * as noise lets it be known, else that of constant speed.  A device that costs time to start has less, one beyond a full cache more.
 * Towards fewer units it is the line to the next such point; towards more, where too little costs most, the steepest of all such lines,
 * since that to the next point alone may be flat by noise.
 */
static double slope_outside(const model_point *p, int count, int end, double noise)
{
    double constant = p[end].seconds / p[end].units, steepest = 0;
    int step = end == 0 ? 1 : -1;
    const model_point *a = &p[end];
    for (int other = end + step; other >= 0 && other < count; other += step) {
        const model_point *b = &p[other];
        if (larger(a->units, b->units) < far_apart * smaller(a->units, b->units)) continue;
        double slope = (b->seconds - a->seconds) / (b->units - a->units), distance = (b->units - a->units) / a->units;
        double sigma = noise * noise * (1 / a->weight + 1 / b->weight), known = distance * distance / (distance * distance + 4 * sigma);
        if (slope > 2 * constant) return constant; /* a cliff, and not the way on */
        steepest = larger(known * slope + (1 - known) * constant, steepest);
        if (end == 0) break;
    }
    return steepest > 0 ? larger(steepest, 1e-3 * constant) : constant;
}

/*
 * Where seconds rise by far more than units, a cliff lies somewhere between, which is most probably narrower than the way: constant speeds
 * reach into it from both sides, so that the next measurement halves it.
 */
static void draw_cliff(yoke_curve *curve, const model_point *a, const model_point *b, double noise)
{
    if (b->seconds <= cliff_jump * a->seconds) return; /* without a division */
    double jump = b->seconds / a->seconds - b->units / a->units, edge = cliff_edge * (b->units - a->units);
    if (!(jump > cliff_jump && jump > 6 * noise * sqrt(1 / a->weight + 1 / b->weight))) return;
    double before = a->seconds * (1 + edge / a->units), after = b->seconds * (1 - edge / b->units);
    if (before >= after) return;
    add_knot(curve, a->units + edge, before);
    add_knot(curve, b->units - edge, after);
}

/* Straight lines from point to point and outside. */
static void draw(speed_model *model)
{
    model_point pooled_points[MODEL_MOST_POINTS];
    const model_point *p = model->point;
    int count = model->points;
    if (!is_increasing(model)) {
        count = increasing(model, pooled_points);
        p = pooled_points;
    }
    yoke_curve *curve = &model->curve;
    double noise = scatter(model);
    curve->knots = 0;
    for (int i = 0; i < count; i++) {
        if (i > 0) draw_cliff(curve, &p[i - 1], &p[i], noise);
        add_knot(curve, p[i].units, p[i].seconds);
    }
    /* A cost of starting takes work away from a device and is believed only where it was seen twice. */
    curve->at_zero = 0;
    if (p[0].weight > 1 && count > 1 && p[1].weight > 1)
        curve->at_zero = larger(p[0].seconds - slope_outside(p, count, 0, noise) * p[0].units, 0);
    curve->beyond = slope_outside(p, count, count - 1, noise);
}

static void begin_again(speed_model *model, double units, double seconds)
{
    model->points = 0;
    insert(model, units, seconds, 1);
    draw(model);
}

/*
 * A point that was seen once and makes a device look many times slower than a new measurement at fewer units was a spike, as far as anybody
 * knows: it is forgotten.  If it was true it will be seen again, and twice.
 */
static void forget_spikes(speed_model *model, double units, double seconds)
{
    int kept = 0, points = model->points;
    for (int i = 0; i < points; i++) {
        const model_point *p = &model->point[i];
        if (!(p->weight > 1 || p->units < units || p->seconds / p->units < spike_factor * seconds / units)) continue;
        if (kept < i) model->point[kept] = *p;
        kept++;
    }
    model->points = kept;
    if (kept > 0 && kept < points) draw(model);
}

/* Points that cannot be true if this one is and seconds increase with units. */
static void forget_contradicted(speed_model *model, double units, double seconds)
{
    int kept = 0;
    for (int i = 0; i < model->points; i++) {
        model_point p = model->point[i];
        if (p.units < units ? p.seconds < seconds : p.seconds > seconds) model->point[kept++] = p;
    }
    model->points = kept;
}

/* Was the change that the measurement before showed a true one?  If this one agrees better with what was known before, it was not. */
static void look_back(speed_model *model, double units, double seconds)
{
    double changed = model->changed;
    model->changed = 0;
    if (changed == 0) return;
    double ratio = seconds / yoke_curve_seconds(&model->curve, units);
    if (fabs(log(ratio)) <= fabs(log(ratio * changed))) return;
    scale(model, 1 / changed, 1);
    if (model->points > 0) draw(model);
}

/*
 * Which seconds are possible for these units, away from all points, if seconds increase with units and the points are right.  For more
 * units than ever constant speed is as possible as what the curve says.
 */
static void possible(const speed_model *model, double units, double predicted, double *least, double *most)
{
    const model_point *last = &model->point[model->points - 1];
    *least = 0;
    *most = fmax(predicted, last->seconds / last->units * units) * spike_factor;
    for (int i = 0; i < model->points; i++) {
        if (model->point[i].units < units) *least = model->point[i].seconds;
        if (model->point[i].units > units) {
            *most = model->point[i].seconds;
            break;
        }
    }
}

/* Follows a device whose speed changes slowly: Holt's double exponential smoothing of the whole curve. */
static void follow(speed_model *model, double residual, double normalised)
{
    model->trend = trend_memory * model->trend + (1 - trend_memory) * fmin(fmax(normalised, -4), 4);
    if (!model->drifting && fabs(model->trend) > trend_begins) model->drifting = true;
    if (!model->drifting) return;
    residual = fmin(fmax(residual, -0.2), 0.2);
    scale(model, 1 + drift_gain * residual, 1);
    model->drift = fmin(fmax(model->drift + drift_rate_gain * residual, -0.1), 0.1);
    if (fabs(model->trend) < trend_ends && fabs(model->drift) < drift_ends * fmax(prior_noise, model_noise(model))) {
        model->drifting = false;
        model->drift = 0;
    }
}

/* A measurement near a point: what differs is noise, or drift. */
static void learn(speed_model *model, int at, double units, double residual)
{
    double variance = 1 + 1 / model->point[at].weight, noise = model_noise(model);
    if (!model->drifting && apart(model, at, units) <= clean_within * noise) {
        model->squares += residual * residual / variance;
        model->freedom += 1;
        if (model->freedom > 50) {
            model->freedom /= 2;
            model->squares /= 2;
        }
        model->noise = sqrt((model->squares + prior_weight * prior_noise * prior_noise) / (model->freedom + prior_weight));
    }
    follow(model, residual, residual / sqrt(variance) / noise);
}

model_verdict model_measure(speed_model *model, double units, double seconds)
{
    model_verdict verdict = model->points == 0 ? MODEL_NEW : MODEL_CHANGED;
    forget_spikes(model, units, seconds);
    if (model->points > 0) look_back(model, units, seconds);
    if (model->points == 0) {
        begin_again(model, units, seconds);
        return verdict;
    }

    int at = nearest(model, units);
    const model_point *point = &model->point[at];
    double predicted = yoke_curve_seconds(&model->curve, units), ratio = seconds / predicted, least = predicted, most = predicted;
    double noise = model_noise(model), sigma = noise * sqrt(1 + 1 / point->weight), band = larger(6 * sigma, 0.1);
    bool same = fabs(units / point->units - 1) <= same_within * noise, near = same || apart(model, at, units) <= merge_within * noise;
    /* Far off on the side where an increasing function may be: a cliff that was not seen before. */
    if (!same && fabs(ratio - 1) > 4 * sigma && (seconds > predicted) == (units > point->units)) near = false;
    if (!near) possible(model, units, predicted, &least, &most);

    double weight = 1;
    verdict = near ? MODEL_MERGED : MODEL_NEW;
    if (seconds > most * (1 + band)) {
        if (!(fabs(ratio - model->suspect) < band * model->suspect)) {
            model->suspect = ratio;
            return MODEL_SUSPECT;
        }
        /* Seen twice: it is so.  Where it was known otherwise, the device has become slower; else there is a cliff. */
        if (near)
            scale(model, model->changed = ratio, 1);
        else
            forget_contradicted(model, units, seconds);
        weight = 2;
        verdict = MODEL_CHANGED;
    } else if (seconds < least * (1 - band)) {
        if (near)
            scale(model, ratio, 1);
        else
            forget_contradicted(model, units, seconds);
        verdict = MODEL_CHANGED;
    } else if (near) {
        learn(model, at, units, ratio - 1);
    }
    model->suspect = 0;
    if (near && model->points > 0)
        merge(&model->point[at], units, seconds);
    else
        insert(model, units, seconds, weight);
    if (model->drifting) scale(model, 1 + model->drift, INFINITY); /* as it will be in the next round */
    if (model->points == 0)
        begin_again(model, units, seconds);
    else
        draw(model);
    return verdict;
}
