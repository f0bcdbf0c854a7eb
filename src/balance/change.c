#include "balance/change.h"

#include <math.h>

#include "balance/points.h"

/* The reasons for these figures are in docs/methods/balance.md. */
static const double density = 0.006;      /* of a change, per unit of the logarithm */
static const double least_change = 0.095; /* a smaller change is followed as drift is */
static const double rate = 0.0149;        /* of changes; while disturbances are more frequent, a single deviation counts as noise */
static const double memory = 0.9;         /* of the number of measurements and of disturbances */
static const double first_doubt = 0.1;    /* disturbances assumed before any was seen, in one measurement */
static const double confirmed_doubt = 0.05, refuted_doubt = 1;
static const double surely = 4;         /* a change of the seconds by a larger factor is no noise, whatever is known of the noise */
static const double returns = 10;       /* factor by which a return to the old speed is more probable than another change */
static const double again_within = 0.1; /* ratios that differ by no more than this and three standard deviations are the same */
static const double confirmed_most = 4, spikes_from = 12, spikes_within = 0.4;
static const double early_part = 0.6, early_within = 0.25;
static const double most_weight = 8; /* of a point after a change: the shape may have changed too */
static const double cliff_most = 6;  /* a device is slower beyond a full memory by no more than this */

bool change_is_return(const speed_model *model, double ratio)
{
    if (!(model->level > 0) || model->level == 1) return false;
    double tolerance = larger(again_within + 3 * model_noise(model), 0.5 * fabs(log(model->level)) - 0.25);
    return fabs(log(ratio * model->level)) < tolerance;
}

/* Whether disturbances are less frequent than changes, so that a single deviation is believed. */
static bool trusts(const speed_model *model, double ratio)
{
    double changes = change_is_return(model, ratio) ? returns * rate : rate;
    return first_doubt + model->doubt < changes * (1 + model->seen);
}

double change_density(const speed_model *model, double deviation, double ratio)
{
    if (fabs(deviation) <= least_change || !(trusts(model, ratio) || ratio > surely || ratio < 1 / surely)) return 0;
    return change_is_return(model, ratio) ? returns * density : density;
}

double change_level_variance(const speed_model *model) { return model->level_weight > 0 ? 1 / model->level_weight : 0; }

void change_correct_level(speed_model *model, double residual, double variance)
{
    double level = change_level_variance(model);
    if (level == 0) return;
    double factor = 1 + residual * level / variance;
    points_scale(model, factor, INFINITY);
    model->level *= factor;
    model->level_weight += 1;
}

static void change_level(speed_model *model, double ratio, double units, double seconds)
{
    double level = model->level > 0 ? model->level : 1;
    model->level_before = level;
    model->weight_before = model->level_weight;
    if (change_is_return(model, ratio)) {
        ratio = 1 / level;
        model->level = 1;
        model->level_weight = 0;
    } else {
        model->level = level * ratio;
        model->level_weight = 1;
    }
    model->changed = model->factor = ratio;
    model->surprise = (model_point){.units = units, .seconds = seconds, .weight = 1};
    points_scale(model, ratio, INFINITY);
}

model_verdict change_seen(speed_model *model, double units, double seconds, double ratio)
{
    bool again = fabs(ratio / model->suspect - 1) < again_within + 3 * model_noise(model);
    if (!again && !trusts(model, ratio)) {
        model->suspect = ratio;
        return MODEL_SUSPECT;
    }
    model->suspect = 0;
    change_level(model, ratio, units, seconds);
    if (again) {
        model->doubt += confirmed_doubt;
        model->changed = 0;
    }
    return MODEL_CHANGED;
}

/* Whether this measurement agrees better with the change than with the curve before it. */
static bool confirms(const speed_model *model, double units, double seconds)
{
    double changed = model->changed, is = seconds / yoke_curve_seconds(&model->curve, units), miss = fabs(log(is));
    /*
     * A device that has become slower does not finish its new share earlier than its old one.  If it does, a start-up cost looked like a
     * change.
     */
    double before_s = yoke_curve_seconds(&model->curve, model->surprise.units) / changed;
    bool early = changed > 1 && seconds < early_part * before_s;
    /*
     * The previous measurement was disturbed if its change is very large and is not repeated; this one was if it is far slower than the
     * change.
     */
    bool spikes = changed > spikes_from ? miss > spikes_within : is > confirmed_most;
    return miss <= fabs(log(is * changed)) && !spikes && !(early && miss > early_within);
}

bool change_look_back(speed_model *model, double units, double seconds)
{
    double changed = model->changed;
    model->doubt *= memory;
    model->seen = model->seen * memory + 1;
    if (changed == 0) return false;
    bool confirmed = confirms(model, units, seconds);
    model->changed = 0;
    if (confirmed) {
        model->doubt += confirmed_doubt;
        points_scale(model, 1, most_weight);
        return false;
    }
    points_scale(model, 1 / changed, INFINITY);
    model->level = model->level_before;
    model->level_weight = model->weight_before;
    model->doubt += refuted_doubt;
    /* Slower with more units, and otherwise as before: this may have been a cliff. */
    if (model->points > 0 && changed > 1 && changed < cliff_most) {
        const model_point *p = &model->surprise;
        if (p->units > model->point[points_nearest(model, p->units)].units) points_insert(model, p->units, p->seconds);
    }
    if (model->points > 0) points_draw(model);
    return true;
}
