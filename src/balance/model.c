#include "balance/model.h"

#include <math.h>

#include "balance/change.h"
#include "balance/points.h"

/* The reasons for these figures, and the effect of other ones, are in docs/methods/balance.md. */
static const double usual_noise = 0.012;
/* A measurement that is slower with more units by more than this number of standard deviations stays a point of its own. */
static const double merge_most = 2;
/* A measurement whose seconds may differ from those of a point by no more than this, along the curve, shows noise. */
static const double comparable = 0.1;
static const double cliffs = 2;          /* density of cliffs per unit of the logarithm of units, and of that of seconds ... */
static const double cliff_height = 0.2;  /* ... if these differ by less than this */
static const double noise_rises = 1.3;   /* points are merged again if the noise increases by more than this factor */
static const double trend_memory = 0.65; /* of the mean of normalised residuals */
static const double trend_begins = 1.2, trend_noise = 12, trend_ends = 0.6, drift_ends = 0.3;
static const double drift_gain = 0.4, drift_rate_gain = 0.12; /* Holt's alpha and alpha x beta */

/* How a measurement deviates from the prediction, and how probable that is if it is noise, or a cliff that was not seen before. */
typedef struct surprise {
    double ratio, deviation; /* measured over predicted seconds; as noise: deviation from the nearest possible seconds */
    double variances, root;  /* variance of the deviation, in units of that of one measurement; its square root */
    bool near, compares;     /* near a point; near enough to show noise */
    bool beyond;             /* no increasing function through the points passes there */
    double noise, cliff;     /* probability densities */
    double levels[NOISE_LEVELS];
} surprise;

double model_noise(const speed_model *model) { return noise_deviation(&model->noise); }

double model_uncertainty(const speed_model *model, double units)
{
    if (model->points == 0) return 1;
    double variance = 1 / model->point[points_nearest(model, units)].known + change_level_variance(model);
    return model_noise(model) * sqrt(variance);
}

static void begin_again(speed_model *model, double units, double seconds)
{
    model->points = 0;
    model->level = model->level_weight = model->changed = 0;
    points_insert(model, units, seconds);
    points_draw(model);
}

/* Draws the curve.  If the noise has increased, points that are now near each other are merged before. */
static void draw(speed_model *model)
{
    double noise = model_noise(model);
    bool risen = noise > noise_rises * model->merged_for;
    if (risen) points_coalesce(model);
    if (risen || noise < model->merged_for) model->merged_for = noise;
    points_draw(model);
}

/* Follows a device whose speed changes slowly: Holt's double exponential smoothing of the whole curve. */
static void follow(speed_model *model, double residual, double normalised)
{
    double noise = model_noise(model), begins = trend_begins + trend_noise * larger(noise - usual_noise, 0);
    model->trend = trend_memory * model->trend + (1 - trend_memory) * fmin(fmax(normalised, -4), 4);
    if (!model->drifting && fabs(model->trend) > begins) model->drifting = true;
    if (!model->drifting) return;
    residual = fmin(fmax(residual, -0.2), 0.2);
    points_scale(model, 1 + drift_gain * residual, 1);
    model->drift = fmin(fmax(model->drift + drift_rate_gain * residual, -0.1), 0.1);
    if (fabs(model->trend) < trend_ends && fabs(model->drift) < drift_ends * larger(usual_noise, noise)) {
        model->drifting = false;
        model->drift = 0;
    }
}

/* Logarithm; near 1 by its series, to 1e-8 and without a call. */
static inline double logarithm(double ratio)
{
    double x = ratio - 1;
    return fabs(x) < 0.05 ? x * (1 - x * (1.0 / 2 - x * (1.0 / 3 - x * (1.0 / 4 - x * (1.0 / 5))))) : log(ratio);
}

/* Compares the measurement with the nearest point, `at`. */
static surprise compare(const speed_model *model, int at, double units, double seconds)
{
    const model_point *point = &model->point[at];
    double predicted = yoke_curve_seconds(&model->curve, units), gap = fabs(units / point->units - 1);
    double distance = points_apart(model, at, units), error = POINTS_CURVE_ERROR * distance, expected = 0;
    surprise s = {.ratio = seconds / predicted, .variances = 1 + 1 / point->known + change_level_variance(model)};
    s.root = sqrt(s.variances);
    double height = s.deviation = logarithm(s.ratio);
    s.near = distance <= POINTS_MERGE_WITHIN * model_noise(model);
    s.compares = s.near || distance < comparable;
    if (s.compares) {
        s.deviation = s.ratio < 1 ? s.ratio - 1 : height; /* noise is a factor 1 + e */
        expected = model->trend * model_noise(model);
        if ((seconds > predicted) == (units > point->units)) s.cliff = cliffs * gap;
    } else {
        double least, most;
        points_possible(model, units, predicted, &least, &most);
        s.beyond = !(seconds >= least && seconds <= most);
        if (s.beyond) {
            height = s.deviation = log(seconds / (seconds < least ? least : most));
            error = 0;
        } else {
            s.cliff = gap < POINTS_FAR_APART - 1 || change_is_return(model, s.ratio) ? cliffs * gap : INFINITY;
        }
    }
    s.cliff /= 1 + height * height / (cliff_height * cliff_height);
    s.noise = noise_density(&model->noise, s.deviation - expected, s.root, error, s.levels);
    return s;
}

/* Learns from a deviation that is noise: about the noise, about the level, and about drift. */
static void learn(speed_model *model, const surprise *s)
{
    noise_learn(&model->noise, s->levels, s->noise);
    if (!s->compares) return;
    noise_compare(&model->noise, s->ratio);
    double residual = s->ratio - 1;
    change_correct_level(model, residual, s->variances);
    follow(model, residual, residual / (s->root * model_noise(model)));
}

/* Takes a measurement that is no abrupt change: it becomes part of a point, or a new point. */
static model_verdict take(speed_model *model, int at, const surprise *s, double units, double seconds)
{
    bool noise = s->noise > s->cliff, uphill = (s->ratio > 1) == (units > model->point[at].units);
    if (noise && (s->compares || s->beyond)) learn(model, s);
    bool merged =
        s->near && noise && !(uphill && !noise_is_much(&model->noise) && fabs(s->deviation) > merge_most * model_noise(model) * s->root);
    if (merged && model->points > 0)
        points_merge(&model->point[at], &(model_point){.units = units, .seconds = seconds, .weight = 1}, noise_slows(&model->noise));
    else
        points_insert(model, units, seconds);
    if (model->drifting) points_scale(model, 1 + model->drift, INFINITY); /* as it will be in the next round */
    if (model->points == 0)
        begin_again(model, units, seconds);
    else
        draw(model);
    return merged ? MODEL_MERGED : MODEL_NEW;
}

model_verdict model_measure(speed_model *model, double units, double seconds)
{
    model_verdict verdict = model->points == 0 ? MODEL_NEW : MODEL_CHANGED;
    bool taken_back = model->points > 0 && change_look_back(model, units, seconds);
    model->factor = 0;
    points_forget_spikes(model, units, seconds);
    if (model->points == 0) {
        begin_again(model, units, seconds);
        return taken_back ? MODEL_TAKEN_BACK : verdict;
    }

    int at = points_nearest(model, units);
    surprise s = compare(model, at, units, seconds);
    double change = change_density(model, s.deviation, s.ratio);
    if (change > s.noise && change > s.cliff) {
        verdict = change_seen(model, units, seconds, s.ratio);
        if (model->points == 0)
            begin_again(model, units, seconds);
        else
            points_draw(model);
        return verdict;
    }
    model->suspect = 0;
    verdict = take(model, at, &s, units, seconds);
    return taken_back ? MODEL_TAKEN_BACK : verdict;
}

void model_know(speed_model *model, double units, double seconds, double repeats, double deviation)
{
    static const double same = 1e-9;
    const model_point point = {.units = units, .seconds = seconds, .weight = repeats};
    double levels[NOISE_LEVELS];
    for (int k = 1; k < (int)fmin(repeats, 51) && deviation >= 0; k++) {
        double sum = noise_density(&model->noise, deviation, 1, 0, levels);
        noise_learn(&model->noise, levels, sum);
    }
    int at = model->points > 0 ? points_nearest(model, units) : -1;
    if (at >= 0 && fabs(model->point[at].units - units) <= same * units) {
        points_merge(&model->point[at], &point, false);
    } else {
        points_insert(model, units, seconds);
        model->point[points_nearest(model, units)].weight = repeats;
    }
    model->merged_for = model_noise(model);
    points_draw(model);
}
