/*
 * nested_model.c - partial models of nodes and devices, and shares computed from them (FPM-PA).
 */
#include <math.h>
#include <string.h>

#include "plan/partition/nested.h"

static void drop(nested_model *model, int64_t k)
{
    const size_t behind = (size_t)(--model->count - k);
    memmove(&model->points[k], &model->points[k + 1], behind * sizeof model->points[0]);
}

static void drop_contradictions(nested_model *model, const nested_point *added)
{
    for (int64_t k = model->count - 1; k >= 0; k--) {
        const nested_point *point = &model->points[k];
        const bool against = (point->blocks < added->blocks && point->seconds >= added->seconds) ||
                             (point->blocks > added->blocks && point->seconds <= added->seconds);
        if (point->blocks == added->blocks || (against && point->round < added->round)) drop(model, k);
    }
}

/* Where seconds do not increase, the curve stays at their maximum so far, up to the next point above it. */
static void add_knot(yoke_curve *curve, double blocks, double seconds)
{
    if (curve->knots > 0 && (!(seconds > curve->seconds[curve->knots - 1]) || !(blocks > curve->units[curve->knots - 1]))) return;
    curve->units[curve->knots] = blocks;
    curve->seconds[curve->knots++] = seconds;
}

static double slope(const nested_point *from, const nested_point *to)
{
    return (to->seconds - from->seconds) / (to->blocks - from->blocks);
}

/*
 * Finds where the line through `next` and `third` intersects the constant speed of `here`.  Returns false if that is not between here and
 * next.
 */
static bool lines_meet(const nested_point *here, const nested_point *next, const nested_point *third, double *blocks)
{
    static const double steeper = 1.02; /* than rounding and noise cause */
    const double left = here->seconds / here->blocks, middle = slope(here, next), right = slope(next, third);
    if (!(middle > steeper * left && right > steeper * middle)) return false;
    *blocks = (right * next->blocks - next->seconds) / (right - left);
    return *blocks > here->blocks && *blocks < next->blocks;
}

/*
 * Adds a corner between two points, the second of which has a lower speed.  third: the point after them, may be NULL.  Halfway between the
 * points, the corner has the mean of the linear time and the time by linear speed.  It has only the latter, which asks for more blocks, if
 * there is no third point yet, or if shares came from the left twice.
 */
static void add_corner(nested_model *model, const nested_point *here, const nested_point *next, const nested_point *third, double limit)
{
    enum { TWICE = 2 };
    const double half = (here->blocks + next->blocks) / 2, line = (here->seconds + next->seconds) / 2;
    const double by_speed = half / ((here->blocks / here->seconds + next->blocks / next->seconds) / 2);
    double meeting;
    if (third != NULL && lines_meet(here, next, third, &meeting))
        add_knot(&model->curve, meeting, meeting * here->seconds / here->blocks);
    else if (by_speed < line && here->blocks <= limit && limit < next->blocks)
        add_knot(&model->curve, limit, limit * here->seconds / here->blocks);
    else if (by_speed < line)
        add_knot(&model->curve, half, third == NULL || here->round - next->round >= TWICE ? by_speed : (line + by_speed) / 2);
}

/*
 * The slope after the last knot: that of constant speed, or, if it is larger, that of the seconds from the stated limit, or from the last
 * point that is far enough away.
 */
static double slope_beyond(const nested_model *model, double blocks, double seconds, double limit)
{
    const yoke_curve *curve = &model->curve;
    double slope = seconds / blocks;
    for (int k = 0; k + 1 < curve->knots; k++)
        if (curve->units[k] == limit) slope = fmax(slope, (seconds - curve->seconds[k]) / (blocks - limit));
    for (int64_t k = model->count - 1; k >= 0; k--)
        if (model->points[k].blocks < nested_apart * blocks)
            return fmax(slope, (seconds - model->points[k].seconds) / (blocks - model->points[k].blocks));
    return slope;
}

/* The stated limit; infinite if the speed falls before it. */
static double limit_of(const nested_model *model)
{
    double fastest = 0;
    for (int64_t k = 0; k < model->count && model->points[k].blocks <= model->fitting; k++) {
        const double speed = model->points[k].blocks / model->points[k].seconds;
        if (speed < nested_apart * fastest) return INFINITY;
        fastest = fmax(fastest, speed);
    }
    return model->fitting;
}

void nested_model_draw(nested_model *model)
{
    yoke_curve *curve = &model->curve;
    const nested_point *points = model->points;
    const double limit = limit_of(model);
    *curve = (yoke_curve){.most = INFINITY};
    for (int64_t k = 0; k < model->count; k++) {
        add_knot(curve, points[k].blocks, points[k].seconds);
        if (k + 1 < model->count) add_corner(model, &points[k], &points[k + 1], k + 2 < model->count ? &points[k + 2] : NULL, limit);
    }
    if (curve->knots > 0) curve->beyond = slope_beyond(model, curve->units[curve->knots - 1], curve->seconds[curve->knots - 1], limit);
    const bool untried = model->count > 0 && points[model->count - 1].blocks < nested_apart * limit;
    model->held = model->kept ? model->fitting : untried ? limit : INFINITY;
}

void nested_model_bend(nested_model *model, double blocks, double slope)
{
    yoke_curve *curve = &model->curve;
    if (curve->knots == YOKE_CURVE_MAX_KNOTS) return;
    add_knot(curve, blocks, yoke_curve_seconds(curve, blocks));
    curve->beyond = fmax(curve->beyond, slope);
}

double nested_longer(double rows, double columns) { return rows + columns - 2 * sqrt(rows * columns); }

/* Seconds of a square with as many blocks.  Sides account for at most half of the measured seconds. */
static double of_square(const nested_model *model, const nested_point *point)
{
    return fmax(point->measured_s - model->side_s * point->longer, point->measured_s / 2);
}

void nested_model_set_sides(nested_model *model, double side_s)
{
    model->side_s = side_s;
    for (int64_t k = 0; k < model->count; k++) model->points[k].seconds = of_square(model, &model->points[k]);
    nested_model_draw(model);
}

void nested_model_add(nested_model *model, double blocks, double seconds, double longer, int64_t round, bool constant)
{
    nested_point added = {.blocks = blocks, .measured_s = seconds, .longer = longer, .round = round};
    added.seconds = of_square(model, &added);
    if (constant) model->count = 0;
    drop_contradictions(model, &added);
    if (model->count == NESTED_MAX_POINTS) {
        int64_t oldest = 0;
        for (int64_t k = 1; k < model->count; k++)
            if (model->points[k].round < model->points[oldest].round) oldest = k;
        drop(model, oldest);
    }
    int64_t k = model->count++;
    for (; k > 0 && model->points[k - 1].blocks > blocks; k--) model->points[k] = model->points[k - 1];
    model->points[k] = added;
    nested_model_draw(model);
}

bool nested_model_full(const nested_model *model, double blocks) { return blocks <= model->held && blocks >= nested_apart * model->held; }

bool nested_have_room(int64_t count, const nested_model *models, double n, double blocks_per_unit)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += floor(models[i].held / blocks_per_unit);
    return sum >= n;
}

double nested_units(const nested_model *model, double seconds, double blocks_per_unit, bool held)
{
    const double blocks = yoke_curve_units(&model->curve, seconds, NULL);
    return (held ? fmin(blocks, model->held) : blocks) / blocks_per_unit;
}

/* Whole units within `seconds`, at most n. */
static int64_t units_within(const nested_model *model, double seconds, double blocks_per_unit, int64_t n, bool held)
{
    const double units = floor(nested_units(model, seconds, blocks_per_unit, held));
    return units < (double)n ? (int64_t)units : n;
}

/* Returns seconds within which slightly less than n units are done; *enough: seconds for n or more. */
static double bisect(int64_t count, const nested_model *models, double n, double blocks_per_unit, bool held, double *enough)
{
    double low = 0, high = 0;
    for (int64_t i = 0; i < count; i++) high = fmax(high, yoke_curve_seconds(&models[i].curve, n * blocks_per_unit));
    for (int k = 0; k < 1100 && high - low > 1e-15 * high; k++) {
        double middle = low + (high - low) / 2, sum = 0;
        for (int64_t i = 0; i < count; i++) sum += nested_units(&models[i], middle, blocks_per_unit, held);
        if (sum < n)
            low = middle;
        else
            high = middle;
    }
    *enough = high;
    return low;
}

double nested_together_s(int64_t count, const nested_model *models, double blocks)
{
    double enough;
    bisect(count, models, blocks, 1, nested_have_room(count, models, blocks, 1), &enough);
    return enough;
}

void nested_share(int64_t count, const nested_model *models, int64_t n, double blocks_per_unit, int64_t *units)
{
    const bool held = nested_have_room(count, models, (double)n, blocks_per_unit);
    double enough, seconds = bisect(count, models, (double)n, blocks_per_unit, held, &enough);
    int64_t left = n;
    for (int64_t i = 0; i < count; i++) left -= units[i] = units_within(&models[i], seconds, blocks_per_unit, left, held);
    /* If a model's seconds are constant over a range of units, the sum jumps past n. */
    for (int64_t i = 0; i < count; i++) {
        int64_t more = units_within(&models[i], enough, blocks_per_unit, n, held) - units[i];
        if (more > left) more = left;
        if (more < 0) more = 0;
        units[i] += more;
        left -= more;
    }
    while (left > 0) {
        int64_t first = 0;
        double best = INFINITY;
        for (int64_t i = 0; i < count; i++) {
            const double more = (double)(units[i] + 1) * blocks_per_unit;
            if (held && more > models[i].held) continue;
            double then = yoke_curve_seconds(&models[i].curve, more);
            if (then < best) {
                best = then;
                first = i;
            }
        }
        int64_t more = left > count ? left / count : 1; /* more than one unit per model remains only after rounding huge numbers */
        units[first] += more;
        left -= more;
    }
}

void nested_share_evenly(int64_t count, int64_t n, int64_t *units)
{
    for (int64_t i = 0; i < count; i++) units[i] = n / count + (i < n % count);
}

double nested_imbalance(int64_t count, const int64_t *units, const double *seconds, double *longest)
{
    double most = 0, least = INFINITY;
    for (int64_t i = 0; i < count; i++)
        if (units[i] > 0) {
            most = fmax(most, seconds[i]);
            least = fmin(least, seconds[i]);
        }
    if (longest != NULL) *longest = most;
    return most > 0 ? (most - least) / least : 0;
}

bool nested_tried(int64_t count, int64_t length, const int64_t *rows, const int64_t *row)
{
    for (int64_t k = 0; k < count; k++)
        if (memcmp(rows + k * length, row, (size_t)length * sizeof *row) == 0) return true;
    return false;
}
