#include "balance/points.h"

#include <math.h>
#include <string.h>

/* The reasons for these figures, and the effect of other ones, are in docs/methods/balance.md. */
static const double spike_factor = 6; /* seconds above this multiple of the prediction, for more units than ever before, are a spike */
static const double most_weight = 60; /* of a point, so that old measurements lose weight */
static const double least_seconds = 1e-15, most_seconds = 1e15;

int points_nearest(const speed_model *model, double units)
{
    int best = 0;
    for (int i = 1; i < model->points; i++)
        if (fabs(model->point[i].units - units) < fabs(model->point[best].units - units)) best = i;
    return best;
}

double points_apart(const speed_model *model, int at, double units)
{
    const model_point *a = &model->point[at];
    double distance = fabs(units - a->units) / a->units;
    int other = units < a->units ? at - 1 : at + 1;
    if (other < 0 || other >= model->points) return distance;
    const model_point *b = &model->point[other];
    if (b->units == a->units) return distance;
    double slope = (b->seconds - a->seconds) / (b->units - a->units) * a->units / a->seconds;
    return distance * larger(slope, 1);
}

void points_insert(speed_model *model, double units, double seconds)
{
    if (model->points == MODEL_MAX_POINTS) { /* the point farthest from here, by ratio, is of least use */
        bool first = units / model->point[0].units > model->point[model->points - 1].units / units;
        if (first) memmove(&model->point[0], &model->point[1], (MODEL_MAX_POINTS - 1) * sizeof model->point[0]);
        model->points--;
    }
    int at = model->points;
    while (at > 0 && model->point[at - 1].units > units) at--;
    memmove(&model->point[at + 1], &model->point[at], (size_t)(model->points - at) * sizeof model->point[0]);
    model->point[at] = (model_point){.units = units, .seconds = seconds, .weight = 1};
    model->points++;
}

void points_merge(model_point *at, const model_point *from, bool slowed)
{
    double weight = smaller(at->weight, most_weight), sum = weight + from->weight;
    double units = (at->units * weight + from->units * from->weight) / sum;
    double own = at->seconds / at->units, other = from->seconds / from->units, mean = (own * weight + other * from->weight) / sum;
    if (slowed) {
        double square = own * own / (other * other);
        mean = own / sqrt(sqrt((weight + square * square * from->weight) / sum));
    }
    at->seconds = mean * units;
    at->units = units;
    at->weight = sum;
}

void points_scale(speed_model *model, double factor, double weight)
{
    for (int i = 0; i < model->points; i++) {
        model_point *p = &model->point[i];
        p->seconds *= factor;
        p->weight = fmin(p->weight, weight);
        p->known = fmin(p->known, weight);
        if (!(p->seconds >= least_seconds && p->seconds <= most_seconds)) model->points = 0;
    }
}

void points_coalesce(speed_model *model)
{
    double within = POINTS_MERGE_WITHIN * model_noise(model);
    bool slowed = noise_slows(&model->noise);
    for (int i = 0; i + 1 < model->points;) {
        model_point *next = &model->point[i + 1];
        if (points_apart(model, i, next->units) > within) {
            i++;
            continue;
        }
        points_merge(next - 1, next, slowed);
        memmove(next, next + 1, (size_t)(model->points - i - 2) * sizeof *next);
        model->points--;
        if (i > 0) i--;
    }
}

void points_forget_spikes(speed_model *model, double units, double seconds)
{
    int kept = 0, points = model->points;
    if (points == 0 || fabs(units / model->point[points_nearest(model, units)].units - 1) < POINTS_FAR_APART - 1) return;
    for (int i = 0; i < points; i++) {
        const model_point *p = &model->point[i];
        if (!(p->weight > 1 || p->units < units || p->seconds / p->units < spike_factor * seconds / units)) continue;
        if (kept < i) model->point[kept] = *p;
        kept++;
    }
    model->points = kept;
    if (kept > 0 && kept < points) points_draw(model);
}

void points_possible(const speed_model *model, double units, double predicted, double *least, double *most)
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
