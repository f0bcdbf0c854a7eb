/* The predictions of a model for units and a frequency, with their intervals. */
#include <math.h>

#include "base/statistics.h"
#include "model/model.h"

/* Relative uncertainty composed of independent parts. */
typedef struct uncertainty {
    double variance, spread; /* spread: sum of variance^2 / degrees, for Welch and Satterthwaite's degrees of freedom of a sum */
    double systematic;       /* square of the half width */
} uncertainty;

static void add_noise(uncertainty *u, double variance, double degrees)
{
    if (!(variance > 0) && !isnan(variance)) return;
    u->variance += variance;
    u->spread += variance * variance / fmax(degrees, 1);
}

static void add_systematic(uncertainty *u, double half_width) { u->systematic += half_width * half_width; }

/* Relative half width of the 95 % interval. */
static double half_width(const uncertainty *u)
{
    if (isnan(u->variance)) return NAN;
    double factor = u->variance > 0 ? statistics_student_95(u->variance * u->variance / u->spread) : 0;
    return sqrt(factor * factor * u->variance + u->systematic);
}

static void predict_joules(const fitted_model *model, double hz, int together, uncertainty u, yoke_prediction *p)
{
    law_value power;
    p->joules = p->joules_uncertainty = NAN;
    if (!model->has_power) return;
    law_evaluate(&model->power, hz, &power);
    if (together && !isnan(model->power_together)) power.value *= model->power_together;
    p->joules = power.value * p->seconds;
    add_noise(&u, power.variance / power.value / power.value, power.degrees);
    add_systematic(&u, power.systematic);
    p->joules_uncertainty = half_width(&u) * fabs(p->joules);
}

yoke_status yoke_model_predict(const yoke_model *fitted, double units, double frequency_hz, int together, yoke_prediction *prediction)
{
    curve_value value;
    law_value rate;
    uncertainty u = {0, 0, 0};
    yoke_prediction p;
    const fitted_model *model = (const fitted_model *)fitted;
    if (model == NULL || prediction == NULL)
        return yoke_fail(model != NULL ? model->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_model_predict: %s is NULL",
                         model == NULL ? "model" : "prediction");
    if (!(units > 0) || !isfinite(units))
        return yoke_fail(model->context, YOKE_ERROR_ARGUMENT, "yoke_model_predict: %g units must be above 0", units);
    if (!isnan(frequency_hz) && !(frequency_hz > 0 && isfinite(frequency_hz)))
        return yoke_fail(model->context, YOKE_ERROR_ARGUMENT, "yoke_model_predict: a frequency of %g Hz must be above 0, or NaN",
                         frequency_hz);
    curve_evaluate(&model->curve, units, &value);
    law_evaluate(&model->rate, frequency_hz, &rate);
    p.seconds = value.seconds / rate.value;
    /* The noise at the curve's own frequency is already part of the curve. */
    double relative = isnan(model->reference_hz) ? rate.variance / rate.value / rate.value
                                                 : law_ratio_variance(&model->rate, frequency_hz, model->reference_hz);
    p.inside = value.inside && rate.inside;
    p.disturbed = 0;
    add_noise(&u, value.variance, value.degrees);
    add_noise(&u, relative, rate.degrees);
    add_systematic(&u, value.systematic);
    add_systematic(&u, rate.systematic);
    if (together && !isnan(model->log_contention)) {
        p.seconds *= exp(model->log_contention);
        add_noise(&u, model->contention_variance, model->contention_degrees);
    }
    p.seconds_uncertainty = half_width(&u) * p.seconds;
    predict_joules(model, frequency_hz, together, u, &p);
    *prediction = p;
    return YOKE_OK;
}
