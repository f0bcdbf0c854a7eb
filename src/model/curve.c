#include "model/curve.h"

#include <math.h>

/*
 * The relative error of the time outside the points, for each factor e beyond them: of a speed function and of a line.  These values are a
 * convention (docs/methods/models.md), since nothing was measured there.
 */
static const double growth_of_speed = 0.25, growth_of_line = 0.1;

int64_t curve_least_points(yoke_model_kind kind)
{
    return kind == YOKE_MODEL_AKIMA ? 3 : kind == YOKE_MODEL_AFFINE || kind == YOKE_MODEL_PIECEWISE ? 2 : 1;
}

static int is_line(yoke_model_kind kind) { return kind == YOKE_MODEL_CONSTANT || kind == YOKE_MODEL_AFFINE; }

static int is_sound(const curve *fitted)
{
    const curve_line *line = &fitted->line;
    if (!is_line(fitted->kind)) return 1;
    return isfinite(line->start_s) && isfinite(line->per_unit) && isfinite(line->from_units);
}

yoke_status curve_fit(yoke_context *context, yoke_model_kind kind, const curve_point *points, int64_t count, int64_t absorbed,
                      curve *fitted)
{
    yoke_status status = YOKE_OK;
    *fitted = (curve){.kind = kind, .min_units = points[0].units, .max_units = points[count - 1].units};
    if (is_line(kind))
        curve_fit_line(kind, points, count, absorbed, fitted);
    else
        status = curve_fit_knots(context, points, count, absorbed, fitted);
    if (status == YOKE_OK && !is_sound(fitted))
        status =
            yoke_fail(context, YOKE_ERROR_NUMERIC, "no model could be fitted: samples from %g to %g units are too far apart for doubles",
                      points[0].units, points[count - 1].units);
    if (status != YOKE_OK) curve_clear(context, fitted);
    return status;
}

void curve_clear(yoke_context *context, curve *fitted)
{
    yoke_release(context, fitted->knots);
    if (fitted->speed != NULL) yoke_speed_destroy(context, fitted->speed);
    fitted->knots = NULL;
    fitted->speed = NULL;
}

static void evaluate_line(const curve *fitted, double units, curve_value *value)
{
    const curve_line *line = &fitted->line;
    double z = fmax(units, line->from_units), off = z - line->centre, variance = line->level + line->spread * off * off;
    if (line->from_units > 0 && units <= line->from_units) variance = line->flat;
    value->seconds = line->start_s + line->per_unit * z;
    value->variance = isnan(fitted->degrees) ? (double)NAN : variance / value->seconds / value->seconds;
    value->degrees = fitted->degrees;
    value->systematic = 2 * fitted->misfit;
}

/* The last knot at or before x, except the last of all. */
static int64_t find_knot(const curve *fitted, double units)
{
    int64_t low = 0, high = fitted->count - 1;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (fitted->knots[middle].units <= units)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The relative change of the speed from knot k to the next; 0 outside the knots. */
static double step(const curve *fitted, int64_t k)
{
    if (k < 0 || k + 1 >= fitted->count) return 0;
    return fabs(log(fitted->knots[k + 1].speed / fitted->knots[k].speed));
}

/*
 * The error of the shape between two knots that no point shows.  The speed may bend as it does around the knots.  If it changes more than
 * in the pieces on both sides, it may change abruptly at any position in between.
 */
static double unseen(const curve *fitted, int64_t k, double units, double speed)
{
    const curve_knot *a = &fitted->knots[k], *b = a + 1;
    double width = b->units - a->units, left = (units - a->units) / width, both = left * (1 - left);
    double bend = fmax(a->bend, b->bend) * both * width * width / speed;
    if (fitted->kind == YOKE_MODEL_AKIMA && !a->straight) bend /= 2; /* follows the bends at the neighbouring knots */
    double noise = isnan(a->variance) ? 0 : 3 * sqrt(a->variance + b->variance);
    double jump = step(fitted, k) - 2 * fmax(step(fitted, k - 1), step(fitted, k + 1)) - noise;
    return bend + (jump > 0 ? 2 * both * jump : 0);
}

static void evaluate_knots(const curve *fitted, double units, curve_value *value)
{
    const curve_knot *knots = fitted->knots, *last = &knots[fitted->count - 1];
    value->seconds = yoke_speed_seconds(fitted->speed, units);
    if (units <= knots[0].units || units >= last->units || fitted->count == 1) {
        const curve_knot *end = units < last->units ? &knots[0] : last;
        value->variance = end->variance;
        value->degrees = end->degrees;
        return;
    }
    int64_t k = find_knot(fitted, units);
    const curve_knot *a = &knots[k], *b = a + 1;
    double w = (units - a->units) / (b->units - a->units), speed = a->speed + w * (b->speed - a->speed);
    if (fitted->kind == YOKE_MODEL_AKIMA && !a->straight) {
        speed = curve_akima_speed(knots, k, units);
        value->seconds = fmax(a->highest_s, units / speed);
    }
    double part_a = (1 - w) * a->speed / speed, part_b = w * b->speed / speed;
    value->variance = part_a * part_a * a->variance + part_b * part_b * b->variance;
    value->degrees = fmin(a->degrees, b->degrees);
    value->systematic = unseen(fitted, k, units, speed);
}

void curve_evaluate(const curve *fitted, double units, curve_value *value)
{
    double beyond = 0, growth = is_line(fitted->kind) ? growth_of_line : growth_of_speed;
    *value = (curve_value){.seconds = 0};
    if (is_line(fitted->kind))
        evaluate_line(fitted, units, value);
    else
        evaluate_knots(fitted, units, value);
    if (units < fitted->min_units) beyond = log(fitted->min_units / units);
    if (units > fitted->max_units) beyond = log(units / fitted->max_units);
    value->inside = !(beyond > 1e-9); /* units that were merged with others at the same units are inside */
    value->systematic += growth * beyond;
}
