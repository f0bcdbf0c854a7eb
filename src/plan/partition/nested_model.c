#include <math.h>
#include <stdlib.h>
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

/* Two points must differ by so much for a slope: times depend on the shape of a rectangle, too. */
static const double apart = 0.95;

/* Where seconds do not rise the curve has their maximum so far, up to the next point above it. */
static void add_knot(yoke_curve *curve, double blocks, double seconds)
{
    if (curve->knots > 0 && (!(seconds > curve->seconds[curve->knots - 1]) || !(blocks > curve->units[curve->knots - 1]))) return;
    curve->units[curve->knots] = blocks;
    curve->seconds[curve->knots++] = seconds;
}

/*
 * Where the speed falls from point k to the next: halfway between them the mean of the time that is linear there, and of that whose speed is.  Where shares came from the left
 * twice, the speed is linear, which asks for more.
 */
static void add_middle(nested_model *model, int64_t k)
{
    enum { TWICE = 2 };
    const nested_point *here = &model->points[k], *next = &model->points[k + 1];
    const double blocks = (here->blocks + next->blocks) / 2, line = (here->seconds + next->seconds) / 2;
    const double by_speed = blocks / ((here->blocks / here->seconds + next->blocks / next->seconds) / 2);
    const bool again = here->round - next->round >= TWICE;
    if (by_speed < line) add_knot(&model->curve, blocks, again ? by_speed : (line + by_speed) / 2);
}

/* Behind the last knot: the speed stays, unless seconds rise more than that already. */
static double slope_beyond(const nested_model *model, double blocks, double seconds)
{
    double slope = seconds / blocks;
    for (int64_t k = model->count - 1; k >= 0; k--)
        if (model->points[k].blocks < apart * blocks)
            return fmax(slope, (seconds - model->points[k].seconds) / (blocks - model->points[k].blocks));
    return slope;
}

static void draw(nested_model *model)
{
    yoke_curve *curve = &model->curve;
    *curve = (yoke_curve){.most = INFINITY};
    for (int64_t k = 0; k < model->count; k++) {
        add_knot(curve, model->points[k].blocks, model->points[k].seconds);
        if (k + 1 < model->count) add_middle(model, k);
    }
    curve->beyond = slope_beyond(model, curve->units[curve->knots - 1], curve->seconds[curve->knots - 1]);
}

double nested_longer(double rows, double columns) { return rows + columns - 2 * sqrt(rows * columns); }

/* No more than half of it are sides. */
static double of_square(const nested_model *model, const nested_point *point)
{
    return fmax(point->measured_s - model->side_s * point->longer, point->measured_s / 2);
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
    draw(model);
}

/* -------------------------------------------------------------------------------------------------- sides */

typedef struct estimate {
    double side_s, weight;
} estimate;

static int ascending(const void *left, const void *right)
{
    const estimate *a = left, *b = right;
    return a->side_s < b->side_s ? -1 : a->side_s > b->side_s;
}

/* By two points of a model with about as many blocks.  Weight 0: they tell nothing. */
static estimate compare(const nested_point *a, const nested_point *b)
{
    static const double alike = 0.15;
    const double of_a = a->longer + 2 * sqrt(a->blocks), of_b = b->longer + 2 * sqrt(b->blocks);
    const double sides = of_a / a->blocks - of_b / b->blocks, seconds = a->measured_s / a->blocks - b->measured_s / b->blocks;
    if (fabs(a->blocks - b->blocks) > alike * a->blocks || sides == 0) return (estimate){0, 0};
    return (estimate){seconds / sides, fabs(sides) * a->blocks / a->measured_s};
}

/* The smallest value below which so much of the weight lies. */
static double quantile(const estimate *list, int64_t count, double weight)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        if ((sum += list[i].weight) >= weight) return list[i].side_s;
    return list[count - 1].side_s;
}

void nested_find_sides(int64_t count, nested_model *models)
{
    enum { MOST = 1024, FEWEST = 4 };
    static const double agreement = 0.5; /* of the quartiles, to the median */
    estimate list[MOST];
    int64_t found = 0;
    double all = 0, side_s = 0;
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k + 1 < models[i].count && found < MOST; k++) {
            list[found] = compare(&models[i].points[k], &models[i].points[k + 1]);
            all += list[found].weight;
            found += list[found].weight > 0;
        }
    if (found >= FEWEST) {
        qsort(list, (size_t)found, sizeof *list, ascending);
        const double median = quantile(list, found, all / 2);
        if (quantile(list, found, 0.75 * all) - quantile(list, found, all / 4) < agreement * median) side_s = median;
    }
    for (int64_t i = 0; i < count; i++) {
        models[i].side_s = side_s;
        for (int64_t k = 0; k < models[i].count; k++) models[i].points[k].seconds = of_square(&models[i], &models[i].points[k]);
        if (models[i].count > 0) draw(&models[i]);
    }
}

/* Whole units within some seconds, at most n. */
static int64_t units_within(const nested_model *model, double seconds, double blocks_per_unit, int64_t n)
{
    double units = floor(yoke_curve_units(&model->curve, seconds, NULL) / blocks_per_unit);
    return units < (double)n ? (int64_t)units : n;
}

/* Seconds within which just less than n units are done (returned), and n or more (*enough). */
static double bisect(int64_t count, const nested_model *models, int64_t n, double blocks_per_unit, double *enough)
{
    double low = 0, high = INFINITY;
    for (int64_t i = 0; i < count; i++) high = fmin(high, yoke_curve_seconds(&models[i].curve, (double)n * blocks_per_unit));
    for (int k = 0; k < 1100 && high - low > 1e-15 * high; k++) {
        double middle = low + (high - low) / 2, sum = 0;
        for (int64_t i = 0; i < count; i++) sum += yoke_curve_units(&models[i].curve, middle, NULL) / blocks_per_unit;
        if (sum < (double)n)
            low = middle;
        else
            high = middle;
    }
    *enough = high;
    return low;
}

void nested_share(int64_t count, const nested_model *models, int64_t n, double blocks_per_unit, int64_t *units)
{
    double enough, seconds = bisect(count, models, n, blocks_per_unit, &enough);
    int64_t left = n;
    for (int64_t i = 0; i < count; i++) left -= units[i] = units_within(&models[i], seconds, blocks_per_unit, left);
    /* Where a model's seconds stand for a while the sum jumps past n. */
    for (int64_t i = 0; i < count; i++) {
        int64_t more = units_within(&models[i], enough, blocks_per_unit, n) - units[i];
        if (more > left) more = left;
        if (more < 0) more = 0;
        units[i] += more;
        left -= more;
    }
    while (left > 0) {
        int64_t first = 0;
        double best = INFINITY;
        for (int64_t i = 0; i < count; i++) {
            double then = yoke_curve_seconds(&models[i].curve, (double)(units[i] + 1) * blocks_per_unit);
            if (then < best) {
                best = then;
                first = i;
            }
        }
        int64_t more = left > count ? left / count : 1; /* more than one each are left only by the rounding of huge numbers */
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
