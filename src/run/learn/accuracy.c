/* How uncertain predicted seconds are: by noise, by the shape between sizes, and by frequencies between those that were measured. */
#include <math.h>

#include "base/statistics.h"
#include "run/run.h"

/* Outside the sizes that were measured: for each factor e in units. */
static const double outside_uncertainty = 0.05;
/*
 * Where a point is left out, the line through its neighbours misses it by so much; between two points the line misses by this part of that, at the most.  A
 * quarter is what a parabola gives; cliffs give more.
 */
static const double shape_part = 0.5, shape_least = 0.002;
/* What a relation between frequencies misses its points by, it misses elsewhere, too. */
static const double relation_part = 1;
/* Speed is not linear between frequencies. */
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

/* The last point that is not behind the units and has one behind it. */
static int place_of(const speed_model *model, double units)
{
    int k = 0;
    while (k + 2 < model->points && model->point[k + 1].units <= units) k++;
    return k;
}

/* By how much, in logarithms, the line through its neighbours misses a point, beyond what noise explains; 0 at the ends. */
static double miss(const speed_model *model, int k, double noise)
{
    if (k <= 0 || k + 1 >= model->points) return 0;
    const model_point *a = &model->point[k - 1], *p = a + 1, *b = a + 2;
    if (!(b->units > a->units)) return 0;
    double part = (p->units - a->units) / (b->units - a->units), seconds = (1 - part) * a->seconds + part * b->seconds;
    double beyond = fabs(log(seconds / p->seconds)) - noise * sqrt(1 / p->weight + 0.5 / a->weight + 0.5 / b->weight);
    return beyond > 0 ? beyond : 0;
}

/* Variance of a line between points, in that of one measurement: near the middle it is half of that of each. */
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
    /* A cliff is drawn where it may be, and not as a line: how far both are apart is how much is not known. */
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
