/* Relations of a device's time beside others to its time alone, and of its time at a frequency to that at the best known frequency. */
#include <math.h>

#include "run/run.h"

/* Number of points that a relation needs, and how far it may miss them; what noise explains is no misfit. */
enum { FEWEST = 4 };
static const double most_misfit = 0.02, noise_allowed = 2;
/* Regularization relative to the squares: a and c stay near 0 if the points do not distinguish them from the curve itself. */
static const double ridge = 1e-6;

/* ------------------------------------------------------------------------------------------------ beside others */

/*
 * Relative scatter of seconds in a relation, and relative standard deviations of slope and start before there are pairs: others cause a
 * factor, and hardly a start.
 */
static const double pair_scatter = 0.02, likely_slope = 1, likely_start = 0.1;
/*
 * Least relative uncertainty, in rounds, of a factor that was measured for this purpose: devices do not slow each other down in rounds
 * exactly as in trials.
 */
static const double likely_factor = 0.1;
static const double least_ratio = 0.5, most_ratio = 20;

/* Fits start and slope by least squares of relative errors, with their values before there are pairs; the start is not negative. */
static void solve_relation(run_relation *r)
{
    double ss = 0, sa = 0, aa = 0, s1 = 0, a1 = 0, mean_s = 0, weights = 0, v = pair_scatter * pair_scatter;
    int kept = r->count < RUN_PAIRS ? r->count : RUN_PAIRS;
    for (int k = 0; k < kept; k++) {
        double w = r->weight[k] / v, one = 1 / r->beside_s[k], a = r->alone_s[k] / r->beside_s[k];
        ss += w * one * one;
        sa += w * one * a;
        aa += w * a * a;
        s1 += w * one;
        a1 += w * a;
        mean_s += r->weight[k] * r->beside_s[k];
        weights += r->weight[k];
    }
    mean_s /= weights;
    const double slope = r->factor > 0 ? r->factor : 1,
                 deviation = slope * (r->factor > 0 && !r->is_doubted ? fmax(r->uncertainty, likely_factor) : likely_slope);
    ss += 1 / (likely_start * likely_start * mean_s * mean_s);
    aa += 1 / (deviation * deviation);
    a1 += slope / (deviation * deviation);
    r->start_s = (s1 * aa - a1 * sa) / (ss * aa - sa * sa);
    r->slope = (a1 * ss - s1 * sa) / (ss * aa - sa * sa);
    if (!(r->start_s > 0)) {
        r->start_s = 0;
        r->slope = a1 / aa;
    }
    r->slope = fmin(fmax(r->slope, least_ratio), fmax(most_ratio, r->factor));
}

void run_learn_relation(run_relation *r, double alone_s, double beside_s, double weight)
{
    double ratio = beside_s / alone_s;
    if (!(ratio >= least_ratio && ratio <= 10 * fmax(most_ratio, r->factor))) return;
    int k = r->count % RUN_PAIRS;
    r->alone_s[k] = alone_s;
    r->beside_s[k] = beside_s;
    r->weight[k] = weight;
    r->count++;
    solve_relation(r);
}

void run_doubt_relation(run_relation *r)
{
    int kept = r->count < RUN_PAIRS ? r->count : RUN_PAIRS;
    for (int k = 0; k < kept && kept > 1; k++) r->weight[k] /= kept;
    r->is_doubted = 1;
}

/* -------------------------------------------------------------------------------------------------- frequencies */

/* Solves the symmetric 3 x 3 system in place by elimination; returns 0 if it is singular. */
static int solve(double m[3][4])
{
    for (int k = 0; k < 3; k++) {
        if (!(m[k][k] > 0)) return 0;
        for (int i = k + 1; i < 3; i++) {
            double factor = m[i][k] / m[k][k];
            for (int j = k; j < 4; j++) m[i][j] -= factor * m[k][j];
        }
    }
    for (int k = 2; k >= 0; k--) {
        for (int j = k + 1; j < 3; j++) m[k][3] -= m[k][j] * m[j][3];
        m[k][3] /= m[k][k];
    }
    return 1;
}

/* Fits the relation by least squares of relative errors.  All points have the same weight, as all sizes are equally important. */
static void fit(const speed_model *model, const speed_model *base, run_level_relation *relation)
{
    double m[3][4] = {{0}}, columns[MODEL_MAX_POINTS][3], scale[3] = {0};
    const int count = model->points;
    for (int k = 0; k < count; k++) {
        const model_point *p = &model->point[k];
        columns[k][0] = 1 / p->seconds;
        columns[k][1] = yoke_curve_seconds(&base->curve, p->units) / p->seconds;
        columns[k][2] = p->units / p->seconds;
        for (int j = 0; j < 3; j++) scale[j] += columns[k][j] * columns[k][j] / count;
    }
    for (int j = 0; j < 3; j++) scale[j] = sqrt(scale[j]);
    for (int k = 0; k < count; k++)
        for (int i = 0; i < 3; i++) {
            double of_i = columns[k][i] / scale[i];
            for (int j = 0; j < 3; j++) m[i][j] += of_i * columns[k][j] / scale[j];
            m[i][3] += of_i;
        }
    m[0][0] += ridge * count;
    m[2][2] += ridge * count;
    if (!solve(m)) return;
    double squares = 0;
    for (int k = 0; k < count; k++) {
        double off = -1;
        for (int j = 0; j < 3; j++) off += columns[k][j] / scale[j] * m[j][3];
        squares += off * off / count;
    }
    *relation = (run_level_relation){
        .base = relation->base, .a = m[0][3] / scale[0], .b = m[1][3] / scale[1], .c = m[2][3] / scale[2], .misfit = sqrt(squares)};
}

/* Nonzero: times are above 0 and do not decrease with units, from below the smallest point to above the largest one. */
static int is_sound(const run_level_relation *relation, const speed_model *base, double min_units, double max_units)
{
    double before = 0;
    for (int k = -1; k <= base->curve.knots; k++) {
        double units = k < 0 ? 1e-6 * min_units : k < base->curve.knots ? base->curve.units[k] : 2 * max_units;
        double seconds = relation->a + relation->b * yoke_curve_seconds(&base->curve, units) + relation->c * units;
        if (!(seconds > 0) || seconds < before) return 0;
        before = seconds;
    }
    return 1;
}

const run_level_relation *run_relate_levels(const yoke_run *run, int work, int device, int level, int base, int beside)
{
    run_level_relation *relation = &run->run_works[work].level_relations[(2 * device + (beside != 0)) * run->most_levels + level];
    const speed_model *model = run_model(run, work, device, level, beside), *of_base = run_model(run, work, device, base, beside);
    if (relation->base == base + 1) return relation;
    *relation = (run_level_relation){.base = base + 1, .misfit = NAN};
    if (model->points < FEWEST || of_base->points < FEWEST) return relation;
    fit(model, of_base, relation);
    relation->holds = relation->misfit <= fmax(most_misfit, noise_allowed * model_noise(model)) &&
                      is_sound(relation, of_base, model->point[0].units, model->point[model->points - 1].units);
    return relation;
}
