/* Fits a model to samples: seconds as a function of units, their dependence on the frequency, powers, and contention. */
#include <math.h>
#include <stdlib.h>

#include "base/context.h"
#include "base/statistics.h"
#include "model/model.h"
#include "model/sample.h"

enum { MAX_SAMPLES = 100000 };

static const double same_level = 2e-4, least_number = 1e-60, most_number = 1e60;

/* ------------------------------------------------------------------------------------------- observations */

static int is_sane(double number)
{
    return isnan(number) || (fabs(number) <= most_number && (fabs(number) >= least_number || !(fabs(number) > 0)));
}

static yoke_status check(yoke_context *context, yoke_model_kind kind, const yoke_sample *samples, int64_t count)
{
    if ((int)kind < YOKE_MODEL_AUTO || (int)kind > YOKE_MODEL_AKIMA)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_model_fit: there is no kind %d", (int)kind);
    if (samples == NULL || count < 1 || count > INT32_MAX)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_model_fit: %lld samples%s", (long long)count,
                         samples == NULL ? " at NULL" : "");
    for (int64_t i = 0; i < count; i++) {
        const yoke_sample *s = &samples[i];
        const char *member = NULL, *fault = sample_fault(s, &member);
        if (fault != NULL)
            return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_model_fit: %s of sample %lld %s", member, (long long)i, fault);
        if (!is_sane(s->units) || !is_sane(s->frequency_hz) || !is_sane(s->seconds) || !is_sane(s->joules))
            return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_model_fit: sample %lld holds a number beyond %g to %g", (long long)i,
                             least_number, most_number);
    }
    return YOKE_OK;
}

static int compare_observations(const void *a, const void *b)
{
    const observation *x = a, *y = b;
    if (x->units < y->units || x->units > y->units) return x->units < y->units ? -1 : 1;
    if (x->hz < y->hz || x->hz > y->hz) return x->hz < y->hz ? -1 : 1;
    return (x->seconds > y->seconds) - (x->seconds < y->seconds); /* the result does not depend on the order of samples */
}

/* The joules of a call.  A sample that was initialised to zeros has no energy. */
static double joules_of(const yoke_sample *sample) { return sample->joules != 0 ? sample->joules : (double)NAN; }

/* Sets the errors of all samples, using the arrays of model_errors: values, intervals, errors, degrees [4][count], repeats [count]. */
static void set_errors(fitting *f, const yoke_sample *samples, double *work, int64_t *repeats)
{
    double *values = work, *intervals = work + f->count, *errors = intervals + f->count, *degrees = errors + f->count;
    for (int64_t i = 0; i < f->count; i++) {
        values[i] = samples[i].seconds;
        intervals[i] = samples[i].seconds_interval;
        repeats[i] = samples[i].repeats;
    }
    model_errors(f->count, values, intervals, repeats, errors, degrees);
    for (int64_t i = 0; i < f->count; i++) {
        observation *o = &f->observations[i];
        *o = (observation){.units = samples[i].units,
                           .seconds = samples[i].seconds,
                           .hz = samples[i].frequency_hz,
                           .error = errors[i],
                           .degrees = degrees[i],
                           .together = samples[i].together != 0,
                           .power = joules_of(&samples[i]) / samples[i].seconds};
        values[i] = joules_of(&samples[i]);
        intervals[i] = samples[i].joules_interval;
    }
    model_errors(f->count, values, intervals, repeats, errors, degrees);
    for (int64_t i = 0; i < f->count; i++) {
        f->observations[i].power_error = errors[i];
        f->observations[i].power_degrees = degrees[i];
    }
}

static yoke_status observe(fitting *f, const yoke_sample *samples)
{
    void *work = NULL, *repeats = NULL, *observations = NULL, *points = NULL;
    yoke_status status = yoke_allocate(f->context, f->count, sizeof(observation), &observations);
    f->observations = observations;
    if (status == YOKE_OK) status = yoke_allocate(f->context, f->count, sizeof(curve_point), &points);
    f->points = points;
    if (status == YOKE_OK) status = yoke_allocate(f->context, 4 * f->count, sizeof(double), &work);
    if (status == YOKE_OK) status = yoke_allocate(f->context, f->count, sizeof(int64_t), &repeats);
    if (status == YOKE_OK) {
        set_errors(f, samples, work, repeats);
        qsort(f->observations, (size_t)f->count, sizeof(observation), compare_observations);
        f->all_together = 1;
        for (int64_t i = 0; i < f->count; i++) f->all_together = f->all_together && f->observations[i].together;
    }
    yoke_release(f->context, work);
    yoke_release(f->context, repeats);
    return status;
}

/* ------------------------------------------------------------------------------------------------- levels */

static int compare_levels(const void *a, const void *b)
{
    double x = ((const level *)a)->hz, y = ((const level *)b)->hz;
    return isnan(x) || isnan(y) ? isnan(x) - isnan(y) : (x > y) - (x < y);
}

static int is_of_curve(const fitting *f, const observation *o) { return f->all_together || !o->together; }

/* The level of a frequency; -1: there is none. */
static int64_t find_level(const fitting *f, double hz)
{
    int64_t low = 0, high = f->num_levels;
    if (isnan(hz)) return f->num_levels > 0 && isnan(f->levels[f->num_levels - 1].hz) ? f->num_levels - 1 : -1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (f->levels[middle].hz < hz * (1 - same_level)) /* false for NaN, which is last */
            low = middle + 1;
        else
            high = middle;
    }
    return low < f->num_levels && f->levels[low].hz <= hz * (1 + same_level) ? low : -1;
}

/*
 * Makes one level of all frequencies that differ by less than 0.02 %: a processor's turbo mode is reported as 1 MHz above the level below
 * it.
 */
static yoke_status make_levels(fitting *f)
{
    void *memory = NULL;
    yoke_status status = yoke_allocate(f->context, f->count, sizeof(level), &memory);
    if (status != YOKE_OK) return status;
    f->levels = memory;
    int64_t all = 0;
    for (int64_t i = 0; i < f->count; i++)
        if (is_of_curve(f, &f->observations[i])) f->levels[all++].hz = f->observations[i].hz;
    qsort(f->levels, (size_t)all, sizeof(level), compare_levels);
    for (int64_t i = 0; i < all; i++) {
        level *last = f->num_levels > 0 ? &f->levels[f->num_levels - 1] : NULL;
        double hz = f->levels[i].hz;
        if (last == NULL || (isnan(hz) ? !isnan(last->hz) : !(hz <= last->hz * (1 + same_level)))) f->levels[f->num_levels++].hz = hz;
    }
    for (int64_t i = 0; i < f->count; i++) f->observations[i].level = find_level(f, f->observations[i].hz);
    for (int64_t i = 0; i < f->count; i++) { /* in ascending order of units */
        const observation *o = &f->observations[i];
        if (!is_of_curve(f, o)) continue;
        level *at = &f->levels[o->level];
        if (at->sizes == 0 || o->units > at->last_units * (1 + 1e-9)) at->sizes++;
        at->last_units = o->units;
    }
    for (int64_t l = 0; l < f->num_levels; l++)
        if (f->levels[l].sizes >= f->levels[f->reference].sizes) f->reference = l;
    return YOKE_OK;
}

/* ----------------------------------------------------------------------------------------------- the curve */

static yoke_status fit_curve(fitting *f, yoke_model_kind kind)
{
    yoke_model_kind chosen = kind;
    if (kind == YOKE_MODEL_AUTO) {
        f->num_points = 0;
        for (int64_t i = 0; i < f->count; i++) {
            const observation *o = &f->observations[i];
            if (is_of_curve(f, o) && o->level == f->reference)
                f->points[f->num_points++] = (curve_point){o->units, o->seconds, o->error, o->degrees};
        }
        yoke_status status = model_choose(f->context, f->points, f->num_points, &chosen);
        if (status != YOKE_OK) return status;
    }
    yoke_status status = model_separate(f, chosen);
    if (status != YOKE_OK || kind != YOKE_MODEL_AUTO || f->num_levels == 1) return status;
    yoke_model_kind again = chosen; /* to be chosen again, with the samples of all levels */
    status = model_choose(f->context, f->points, f->num_points, &again);
    return status == YOKE_OK && again != chosen ? model_separate(f, again) : status;
}

static yoke_status check_kind(const fitting *f, yoke_model_kind kind)
{
    static const char *const names[] = {"auto", "constant", "affine", "piecewise", "akima"};
    int64_t sizes = 0, last = -1;
    for (int64_t i = 0; i < f->count; i++) {
        if (!is_of_curve(f, &f->observations[i])) continue;
        if (last < 0 || f->observations[i].units > f->observations[last].units * (1 + 1e-9)) sizes++;
        last = i;
    }
    if (kind == YOKE_MODEL_AUTO || sizes >= curve_least_points(kind)) return YOKE_OK;
    return yoke_fail(f->context, YOKE_ERROR_INPUT,
                     "an %s model needs samples at %lld different sizes at least; there are %lld; measure more sizes", names[kind],
                     (long long)curve_least_points(kind), (long long)sizes);
}

/* --------------------------------------------------------------------------------------------------- laws */

static yoke_status fit_rate(fitting *f)
{
    void *memory = NULL;
    int64_t known = 0;
    yoke_status status = yoke_allocate(f->context, f->num_levels, sizeof(law_point), &memory);
    if (status != YOKE_OK) return status;
    law_point *points = f->model->rate_points = memory;
    for (int64_t l = 0; l < f->num_levels; l++) {
        const level *from = &f->levels[l];
        double rate = exp(from->log_rate);
        /* A level of unknown frequency has a rate only if it is the only level; otherwise it just contributes to the curve. */
        if (isnan(from->hz) && l > 0) continue;
        points[known++] = (law_point){.hz = from->hz, .value = rate, .error = rate * from->error, .degrees = from->degrees};
    }
    if (known == 1) points[0].error = 0; /* its noise is part of the curve's */
    f->model->reference_hz = f->levels[f->reference].hz;
    return law_fit(f->context, 0, points, known, &f->model->rate);
}

/* The mean power of samples. */
typedef struct power_mean {
    law_point point; /* error and degrees: of the samples alone */
    double weights, count;
} power_mean;

static int has_power(const observation *o, int together) { return !isnan(o->power) && o->together == together; }

static double power_weight(const observation *o) { return isnan(o->power_error) ? 1 : 1 / (o->power_error * o->power_error); }

static void add_power(power_mean *mean, const observation *o)
{
    double w = power_weight(o);
    mean->weights += w;
    mean->point.value += w / mean->weights * (o->power - mean->point.value);
    mean->point.error = fabs(mean->point.value) / sqrt(mean->weights);
    mean->point.degrees += o->power_degrees;
    mean->count++;
}

/*
 * Scales the errors of the levels to the scatter of all samples about the means of their levels.  If samples have errors of their own, the
 * factor is at least 1.
 */
static void scale_power_errors(law_point *points, int64_t count, double scatter, double degrees)
{
    double scale = degrees > 0 ? scatter / degrees : (double)NAN;
    for (int64_t i = 0; i < count; i++) {
        int known = points[i].degrees > 0; /* for all or for none: see model_errors */
        double factor = known ? (scale > 1 ? scale : 1) : scale;
        points[i].error = isnan(factor) ? (double)NAN : fmax(points[i].error * sqrt(factor), 1e-6 * fabs(points[i].value));
        points[i].degrees += degrees;
    }
}

/*
 * Writes the means of those levels that have powers to *points.  A level of unknown frequency is used only if there is no other.  Returns
 * their number.
 */
static int64_t level_powers(const fitting *f, power_mean *means, law_point *points)
{
    int64_t count = 0;
    double scatter = 0, degrees = 0;
    for (int64_t i = 0; i < f->count; i++)
        if (has_power(&f->observations[i], f->all_together)) add_power(&means[f->observations[i].level], &f->observations[i]);
    for (int64_t i = 0; i < f->count; i++) {
        const observation *o = &f->observations[i];
        if (!has_power(o, f->all_together)) continue;
        double off = o->power / means[o->level].point.value - 1;
        scatter += power_weight(o) * off * off;
    }
    for (int64_t l = 0; l < f->num_levels; l++) {
        if (!(means[l].count > 0)) continue;
        degrees += means[l].count - 1;
        if (isnan(f->levels[l].hz) && l > 0) continue;
        points[count] = means[l].point;
        points[count++].hz = f->levels[l].hz;
    }
    scale_power_errors(points, count, scatter, degrees);
    return count;
}

static yoke_status fit_power(fitting *f)
{
    fitted_model *model = f->model;
    void *points = NULL, *means = NULL;
    power_mean together = {.count = 0};
    int64_t count = 0;
    law_value alone;
    yoke_status status = yoke_allocate(f->context, f->num_levels, sizeof(law_point), &points);
    if (status != YOKE_OK) return status;
    model->power_points = points;
    model->power_together = NAN;
    status = yoke_allocate(f->context, f->num_levels, sizeof(power_mean), &means);
    if (status == YOKE_OK) count = level_powers(f, means, points);
    yoke_release(f->context, means);
    model->has_power = count > 0;
    if (status != YOKE_OK || count == 0) return status;
    status = law_fit(f->context, 1, model->power_points, count, &model->power);
    if (status != YOKE_OK || f->all_together || count > 1) return status; /* with several levels it would be a mixture of them */
    for (int64_t i = 0; i < f->count; i++)
        if (has_power(&f->observations[i], 1)) add_power(&together, &f->observations[i]);
    law_evaluate(&model->power, NAN, &alone);
    if (together.count > 0 && alone.value > 0) model->power_together = together.point.value / alone.value;
    return YOKE_OK;
}

/* Fits the factor by which samples take longer if other devices work at the same time. */
static void fit_contention(fitting *f)
{
    fitted_model *model = f->model;
    double sum = 0, squares = 0, weights = 0, degrees = 0, count = 0;
    model->log_contention = model->contention_variance = model->contention_degrees = NAN;
    if (f->all_together) return;
    for (int64_t i = 0; i < f->count; i++) {
        const observation *o = &f->observations[i];
        curve_value value;
        law_value rate;
        if (!o->together) continue;
        curve_evaluate(&model->curve, o->units, &value);
        law_evaluate(&model->rate, o->hz, &rate);
        double off = log(o->seconds * rate.value / value.seconds), w = isnan(o->error) ? 1 : 1 / (o->error * o->error), before = weights;
        weights += w;
        squares += before > 0 ? w * before / weights * (off - sum) * (off - sum) : 0; /* about the mean so far: West 1979 */
        sum += w / weights * (off - sum);
        degrees += o->degrees;
        count++;
    }
    if (!(count > 0)) return;
    double scale = count > 1 ? squares / (count - 1) : degrees > 0 ? 1 : (double)NAN;
    if (degrees > 0) scale = fmax(1, scale);
    model->log_contention = sum;
    model->contention_variance = scale / weights;
    model->contention_degrees = degrees + count - 1;
}

/* -------------------------------------------------------------------------------------------------- public */

static yoke_status fill_info(fitting *f)
{
    fitted_model *model = f->model;
    yoke_model *info = &model->model;
    double errors[MODEL_MAX_HELD_OUT];
    int64_t count = 0;
    law_value rate, power;
    const curve_line *line = &model->curve.line;
    int is_line = model->curve.kind == YOKE_MODEL_CONSTANT || model->curve.kind == YOKE_MODEL_AFFINE;
    int64_t known = f->num_levels - (isnan(f->levels[f->num_levels - 1].hz) ? 1 : 0);
    law_evaluate(&model->rate, NAN, &rate);
    *info = (yoke_model){.kind = model->curve.kind, .min_units = model->curve.min_units, .max_units = model->curve.max_units};
    info->min_hz = known > 0 ? f->levels[0].hz : (double)NAN;
    info->max_hz = known > 0 ? f->levels[known - 1].hz : (double)NAN;
    info->repaired = model->curve.repaired;
    info->start_s = is_line ? line->start_s / rate.value : (double)NAN;
    info->seconds_per_unit = is_line ? line->per_unit / rate.value : (double)NAN;
    info->from_units = is_line ? line->from_units : (double)NAN;
    int errors_known = is_line && !isnan(model->curve.degrees);
    info->start_error_s = errors_known ? sqrt(line->level + line->spread * line->centre * line->centre) / rate.value : (double)NAN;
    info->seconds_per_unit_error = errors_known ? sqrt(line->spread) / rate.value : (double)NAN;
    law_describe(&model->rate, rate.value, info->max_hz, &info->rate);
    info->power_w = NAN;
    if (model->has_power) {
        law_evaluate(&model->power, info->max_hz, &power);
        law_describe(&model->power, 1, NAN, &info->power);
        info->power_w = power.value;
    }
    info->contention = exp(-model->log_contention);
    info->num_samples = f->count;
    yoke_status status = model_hold_out(f->context, model->curve.kind, f->points, f->num_points, errors, &count);
    statistics_sort(errors, count);
    info->held_out_error = count >= 4 ? statistics_median(errors, count) : (double)NAN;
    return status;
}

static yoke_status fit_all(fitting *f, yoke_model_kind kind, const yoke_sample *samples)
{
    yoke_status status = observe(f, samples);
    if (status == YOKE_OK) status = check_kind(f, kind);
    if (status == YOKE_OK) status = make_levels(f);
    if (status == YOKE_OK) status = fit_curve(f, kind);
    if (status == YOKE_OK) status = fit_rate(f);
    if (status == YOKE_OK) status = fit_power(f);
    if (status != YOKE_OK) return status;
    fit_contention(f);
    return fill_info(f);
}

static void release_parts(yoke_context *context, void *memory)
{
    fitted_model *model = memory;
    curve_clear(context, &model->curve);
    yoke_release(context, model->rate_points);
    yoke_release(context, model->power_points);
}

yoke_status yoke_model_fit(yoke_context *context, yoke_model_kind kind, const yoke_sample *samples, int64_t count, yoke_model **model)
{
    void *memory = NULL;
    if (context == NULL || model == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_model_fit: %s is NULL", context == NULL ? "context" : "model");
    yoke_status status = check(context, kind, samples, count);
    if (status == YOKE_OK) status = yoke_allocate_owner(context, sizeof(fitted_model), release_parts, &memory);
    if (status != YOKE_OK) return status;
    fitting f = {.context = context, .model = memory, .count = count};
    f.model->context = context;
    status = fit_all(&f, kind, samples);
    yoke_release(context, f.observations);
    yoke_release(context, f.points);
    yoke_release(context, f.levels);
    if (status == YOKE_OK)
        *model = &f.model->model;
    else
        yoke_release(context, f.model);
    return status;
}
