/* Uncertainty of predicted seconds: from noise, from the shape of the curve between sizes, and from frequencies between measured ones. */
#include <math.h>

#include "base/statistics.h"
#include "run/run.h"

/* Relative uncertainty outside the sizes that were measured, for each factor e in units. */
static const double outside_uncertainty = 0.05;
/*
 * If a point is left out, the line through its neighbours misses it by a certain amount.  Between two points the line misses the curve by
 * this part of that amount, at most.  A parabola gives a quarter; cliffs give more.
 */
static const double shape_part = 0.5, shape_least = 0.002;
/* A relation between frequencies is assumed to miss other times by this part of the misfit at its points. */
static const double relation_part = 1;
/* Relative uncertainty between frequencies, as the speed is not linear there. */
static const double between_frequencies = 0.003;
static const double enough_freedom = 8;

double run_noise(const yoke_run *run, int work, int device, int level, int beside, double *freedom)
{
    const speed_model *model = run_model(run, work, device, level, beside);
    const run_scatter *scatter = run_scatter_of(run, work, device, beside);
    *freedom = scatter->freedom;
    if (scatter->freedom >= enough_freedom) return sqrt(scatter->squares / scatter->freedom);
    *freedom = model->noise.freedom + 2;
    return model_noise(model);
}

/* Index of the last point that is not above the units and is followed by another one. */
static int place_of(const speed_model *model, double units)
{
    int k = 0;
    while (k + 2 < model->points && model->point[k + 1].units <= units) k++;
    return k;
}

/* How far, in logarithms, the line through its neighbours misses a point, beyond what noise explains; 0 at the ends. */
static double miss(const speed_model *model, int k, double noise)
{
    if (k <= 0 || k + 1 >= model->points) return 0;
    const model_point *a = &model->point[k - 1], *p = a + 1, *b = a + 2;
    if (!(b->units > a->units)) return 0;
    double part = (p->units - a->units) / (b->units - a->units), seconds = (1 - part) * a->seconds + part * b->seconds;
    double beyond = fabs(log(seconds / p->seconds)) - noise * sqrt(1 / p->weight + 0.5 / a->weight + 0.5 / b->weight);
    return beyond > 0 ? beyond : 0;
}

/* Variance of a line between two points, relative to that of one measurement: near the middle it is half of that of each point. */
static double variance_at(const speed_model *model, double units)
{
    const model_point *p = model->point;
    if (model->points == 1) return 1 / p[0].weight;
    int k = place_of(model, units);
    double part = (units - p[k].units) / (p[k + 1].units - p[k].units);
    if (!(part > 0)) return 1 / p[k].weight;
    if (part >= 1) return 1 / p[k + 1].weight;
    double seconds = (1 - part) * p[k].seconds + part * p[k + 1].seconds;
    double of_a = (1 - part) * p[k].seconds / seconds, of_b = part * p[k + 1].seconds / seconds;
    return of_a * of_a / p[k].weight + of_b * of_b / p[k + 1].weight;
}

static double shape_at(const speed_model *model, double units, double noise)
{
    const model_point *p = model->point;
    const int last = model->points - 1;
    if (units <= p[0].units) return outside_uncertainty * log(p[0].units / units);
    if (units >= p[last].units) return outside_uncertainty * log(units / p[last].units);
    int k = place_of(model, units);
    double part = log(units / p[k].units) / log(p[k + 1].units / p[k].units);
    double off = shape_part * fmax(miss(model, k, noise), miss(model, k + 1, noise));
    /* The curve has a cliff where it may be, and not a line there: the distance between both shows how much is not known. */
    double along = (units - p[k].units) / (p[k + 1].units - p[k].units), line_s = (1 - along) * p[k].seconds + along * p[k + 1].seconds;
    return hypot((shape_least + off) * 4 * part * (1 - part), log(yoke_curve_seconds(&model->curve, units) / line_s));
}

double run_accuracy_at(const yoke_run *run, int work, int device, int level, int beside, double units)
{
    const int base = run_base_level(run, work, device, beside);
    const speed_model *model = run_model(run, work, device, level, beside), *of_base = run_model(run, work, device, base, beside);
    double freedom, noise = run_noise(run, work, device, level, beside, &freedom), variance = variance_at(model, units);
    double shape = shape_at(of_base, units, noise);
    if (level != base) {
        variance += variance_at(of_base, units);
        const run_level_relation *relation = run_relate_levels(run, work, device, level, base, beside);
        shape = hypot(shape, relation->holds ? relation_part * relation->misfit : shape_at(model, units, noise));
    }
    return hypot(statistics_student_95(freedom) * noise * sqrt(variance), shape);
}

double run_accuracy_between(double of_these) { return hypot(of_these, between_frequencies); }
