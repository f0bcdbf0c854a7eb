/* Chooses the kind of a curve by its prediction of points that were held out. */
#include <math.h>
#include <string.h>

#include "base/statistics.h"
#include "model/model.h"

static const yoke_model_kind kinds[] = {YOKE_MODEL_CONSTANT, YOKE_MODEL_AFFINE, YOKE_MODEL_PIECEWISE,
                                        YOKE_MODEL_AKIMA}; /* simplest first */
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Of more points every second, third, ... is sufficient for the choice. */
enum { ENOUGH = 1000 };

/* The points, grouped, and scratch memory to hold out one group. */
typedef struct held {
    curve_point *points, *rest; /* rest: all but those of one group */
    int64_t *first;             /* first point of each group */
    int64_t count, groups;
} held;

static yoke_status start(yoke_context *context, const curve_point *points, int64_t count, held *h)
{
    void *first = NULL, *copies = NULL;
    int64_t step = 1 + (count - 1) / ENOUGH, kept = (count - 1) / step + 1;
    *h = (held){.count = kept};
    yoke_status status = yoke_allocate(context, kept + 1, sizeof(int64_t), &first);
    if (status == YOKE_OK) status = yoke_allocate(context, 2 * kept, sizeof(curve_point), &copies);
    h->first = first;
    h->points = copies;
    if (status != YOKE_OK) return status;
    h->rest = h->points + kept;
    for (int64_t i = 0; i < kept; i++) h->points[i] = points[i * step];
    h->groups = curve_group(h->points, kept, h->first);
    return status;
}

static void end(yoke_context *context, held *h)
{
    yoke_release(context, h->first);
    yoke_release(context, h->points);
}

/* Relative error of a curve fitted without group g, at that group's mean; NaN: the rest has too few points. */
static yoke_status error_of(yoke_context *context, yoke_model_kind kind, held *h, int64_t g, double *error)
{
    const curve_point *points = h->points;
    int64_t begin = h->first[g], after = h->first[g + 1], left = h->count - (after - begin);
    double units = 0, slowness = 0;
    curve fitted;
    curve_value value;
    memcpy(h->rest, points, (size_t)begin * sizeof *points);
    memcpy(h->rest + begin, points + after, (size_t)(h->count - after) * sizeof *points);
    *error = NAN;
    if (h->groups - 1 < curve_least_points(kind)) return YOKE_OK;
    yoke_status status = curve_fit(context, kind, h->rest, left, 0, &fitted);
    if (status != YOKE_OK) return status;
    for (int64_t i = begin; i < after; i++) {
        units += points[i].units / (double)(after - begin);
        slowness += points[i].seconds / points[i].units / (double)(after - begin);
    }
    curve_evaluate(&fitted, units, &value);
    *error = fabs(value.seconds / (units * slowness) - 1);
    curve_clear(context, &fitted);
    return YOKE_OK;
}

yoke_status model_hold_out(yoke_context *context, yoke_model_kind kind, const curve_point *points, int64_t num_points, double *errors,
                           int64_t *count)
{
    held h;
    *count = 0;
    yoke_status status = start(context, points, num_points, &h);
    int64_t tries = h.groups < MODEL_MAX_HELD_OUT ? h.groups : MODEL_MAX_HELD_OUT;
    for (int64_t i = 0; i < tries && status == YOKE_OK; i++) {
        int64_t g = tries > 1 ? (int64_t)((double)i / (double)(tries - 1) * (double)(h.groups - 1) + 0.5) : 0;
        status = error_of(context, kind, &h, g, &errors[*count]);
        if (status == YOKE_OK && !isnan(errors[*count])) ++*count;
    }
    end(context, &h);
    return status;
}

/* The choice for one or two groups of points, of which none can be held out. */
static yoke_model_kind choose_of_few(const curve_point *points, int64_t count, int64_t groups)
{
    if (groups < 2) return YOKE_MODEL_CONSTANT;
    const curve_point *a = &points[0], *b = &points[count - 1];
    double change = log(b->seconds / b->units * a->units / a->seconds), noise = hypot(a->error, b->error);
    if (fabs(change) <= (isnan(noise) ? 0.1 : 3 * noise)) return YOKE_MODEL_CONSTANT;
    return change < 0 ? YOKE_MODEL_AFFINE : YOKE_MODEL_PIECEWISE; /* affine: a start cost; piecewise: a start cost cannot explain it */
}

/* The error of the samples themselves, which is added to all errors. */
static double floor_of(const curve_point *points, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += isnan(points[i].error) ? 0.01 : points[i].error;
    return fmax(1e-6, sum / (double)count);
}

/*
 * Nonzero: kind a is significantly worse than b, by the mean of the logarithms of the errors and its standard error.  With logarithms a
 * large error at a single point has little weight.
 */
static int is_worse(const double *a, const double *b, int64_t count, double floor)
{
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < count; i++) mean += log((a[i] + floor) / (b[i] + floor)) / (double)count;
    for (int64_t i = 0; i < count; i++) {
        double off = log((a[i] + floor) / (b[i] + floor)) - mean;
        squares += off * off;
    }
    return mean > 2 * sqrt(squares / (double)count / (double)(count - 1)) && mean > 0.1;
}

static double mean_log(const double *errors, int64_t count, double floor)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += log(errors[i] + floor) / (double)count;
    return sum;
}

yoke_status model_choose(yoke_context *context, const curve_point *points, int64_t num_points, yoke_model_kind *kind)
{
    double errors[KINDS][MODEL_MAX_HELD_OUT], floor = floor_of(points, num_points);
    int64_t count[KINDS], groups;
    held h;
    yoke_status status = start(context, points, num_points, &h);
    groups = h.groups;
    end(context, &h);
    if (status != YOKE_OK) return status;
    *kind = choose_of_few(points, num_points, groups);
    if (groups < 3) return YOKE_OK;
    for (int k = 0; k < KINDS && status == YOKE_OK; k++)
        status = model_hold_out(context, kinds[k], points, num_points, errors[k], &count[k]);
    if (status != YOKE_OK) return status;
    int best = 0;
    for (int k = 1; k < KINDS; k++)
        if (count[k] == count[0] && mean_log(errors[k], count[k], floor) < mean_log(errors[best], count[best], floor)) best = k;
    int chosen = best;
    for (int k = best; k-- > 0;)
        if (!is_worse(errors[k], errors[best], count[0], floor)) chosen = k;
    *kind = kinds[chosen];
    return YOKE_OK;
}
