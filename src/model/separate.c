/*
 * t(x, f) = t(x) / rate(f), both fitted to all samples, by alternating: the curve is fitted to the samples scaled to one frequency, then
 * the rates to the curve.  So a frequency that was sampled at one size only, even if no other was sampled at this size, has a rate.
 */
#include <math.h>

#include "model/model.h"

enum { MAX_TURNS = 60 };

/* Limit of a rate: if samples scatter so much that the iteration does not converge, rates must not drift to impossible values. */
static const double most_log_rate = 7;

static int is_of_curve(const fitting *f, const observation *o) { return f->all_together || !o->together; }

/* Collects points of the curve from all levels, or from the reference level only. */
static void gather(fitting *f, int reference_only)
{
    f->num_points = 0;
    for (int64_t i = 0; i < f->count; i++) {
        const observation *o = &f->observations[i];
        if (!is_of_curve(f, o) || (reference_only && o->level != f->reference)) continue;
        f->points[f->num_points++] = (curve_point){
            .units = o->units, .seconds = o->seconds * exp(f->levels[o->level].log_rate), .error = o->error, .degrees = o->degrees};
    }
}

/*
 * Sets the rates of all levels except the reference from the curve, and returns the largest change.  The deviation of the curve at the
 * reference itself is subtracted: a running maximum is above noisy points everywhere, and would drift together with the rates.
 */
static double update_rates(fitting *f)
{
    double most = 0, off = 0;
    for (int64_t l = 0; l < f->num_levels; l++) f->levels[l].sum = f->levels[l].weights = f->levels[l].degrees = 0;
    for (int64_t i = 0; i < f->count; i++) {
        const observation *o = &f->observations[i];
        curve_value value;
        if (!is_of_curve(f, o)) continue;
        level *to = &f->levels[o->level];
        double w = isnan(o->error) ? 1 : 1 / (o->error * o->error);
        curve_evaluate(&f->model->curve, o->units, &value);
        to->sum += w * log(value.seconds / o->seconds);
        to->weights += w;
        to->degrees += o->degrees;
    }
    off = f->levels[f->reference].sum / f->levels[f->reference].weights;
    for (int64_t l = 0; l < f->num_levels; l++) {
        level *to = &f->levels[l];
        to->error = to->degrees > 0 ? 1 / sqrt(to->weights) : (double)NAN;
        if (l == f->reference) continue;
        double log_rate = fmin(fmax(to->sum / to->weights - off, -most_log_rate), most_log_rate);
        most = fmax(most, fabs(log_rate - to->log_rate));
        to->log_rate = log_rate;
    }
    return most;
}

static yoke_status refit(fitting *f, yoke_model_kind kind, int64_t absorbed)
{
    curve fitted;
    yoke_status status = curve_fit(f->context, kind, f->points, f->num_points, absorbed, &fitted);
    if (status != YOKE_OK) return status;
    curve_clear(f->context, &f->model->curve);
    f->model->curve = fitted;
    return YOKE_OK;
}

/* If samples have no errors of their own, the errors of the rates follow from the scatter about curve and rates together. */
static void errors_from_scatter(fitting *f)
{
    const curve *fitted = &f->model->curve;
    double squares = 0;
    double degrees = -(double)(f->num_levels - 1) - (double)(fitted->count > 0                     ? fitted->count
                                                             : fitted->kind == YOKE_MODEL_CONSTANT ? 1
                                                                                                   : 2);
    for (int64_t i = 0; i < f->num_points; i++) {
        curve_value value;
        curve_evaluate(fitted, f->points[i].units, &value);
        double off = log(f->points[i].seconds / value.seconds);
        squares += off * off;
        degrees += 1;
    }
    if (degrees < 1) return;
    for (int64_t l = 0; l < f->num_levels; l++) {
        f->levels[l].error = fmax(1e-6, sqrt(squares / degrees / f->levels[l].weights)); /* all weights are 1 */
        f->levels[l].degrees = degrees;
    }
}

yoke_status model_separate(fitting *f, yoke_model_kind kind)
{
    yoke_model_kind first = f->levels[f->reference].sizes < curve_least_points(kind) ? YOKE_MODEL_CONSTANT : kind;
    gather(f, 1);
    yoke_status status = refit(f, first, 0);
    if (status == YOKE_OK) update_rates(f);
    for (int turn = 0; turn < MAX_TURNS && status == YOKE_OK; turn++) {
        gather(f, 0);
        status = refit(f, kind, f->num_levels - 1);
        if (status == YOKE_OK && update_rates(f) < 1e-9) break;
    }
    if (status == YOKE_OK && isnan(f->points[0].error)) errors_from_scatter(f);
    return status;
}
