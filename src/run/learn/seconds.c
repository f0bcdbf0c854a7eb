/* Seconds of a call: as measured on a device alone and beside others, at each frequency, and as inferred from that for all other cases. */
#include <math.h>
#include <string.h>

#include "base/statistics.h"
#include "run/run.h"

static const double least_seconds = 1e-12, most_seconds = 1e12;
/* Relative uncertainty of a time that is only inferred from the other kind (alone, or beside others). */
static const double inferred_uncertainty = 0.05;
/* This part of a calibration's scatter remains after a round, as rounds show the scatter themselves. */
static const double scatter_kept = 0.95;
/* Factor in size: a kind is used unless its nearest measured size is farther away than that of the other kind by more than this. */
static const double farther = 3;

speed_model *run_model(const yoke_run *run, int work, int device, int level, int beside)
{
    return &run->run_works[work].models[(device * 2 + (beside != 0)) * run->most_levels + level];
}

run_scatter *run_scatter_of(const yoke_run *run, int work, int device, int beside)
{
    return &run->run_works[work].scatter[2 * device + (beside != 0)];
}

int run_is_measured(const yoke_run *run, int work, int device)
{
    for (int l = 0; l < run->devices[device].num_levels; l++)
        for (int beside = 0; beside < 2; beside++)
            if (run_model(run, work, device, l, beside)->points > 0) return 1;
    return 0;
}

/* -------------------------------------------------------------------------------------------------- one kind */

int run_base_level(const yoke_run *run, int work, int device, int beside)
{
    double best = 0;
    int found = -1;
    for (int l = 0; l < run->devices[device].num_levels; l++) {
        const speed_model *model = run_model(run, work, device, l, beside);
        double weight = 0;
        for (int k = 0; k < model->points; k++) weight += 1 + fmin(model->point[k].weight, 4);
        if (weight < best || model->points == 0) continue;
        best = weight;
        found = l;
    }
    return found;
}

/*
 * Seconds at a level from those at the base, t = a + b t_base through two points of this level.  So a start that does not depend on the
 * frequency is not scaled together with the part that does.
 */
static double through(const model_point *p, const model_point *q, const speed_model *base, double base_s)
{
    double p_s = yoke_curve_seconds(&base->curve, p->units), q_s = yoke_curve_seconds(&base->curve, q->units);
    double slope = (q->seconds - p->seconds) / (q_s - p_s), seconds = p->seconds + slope * (base_s - p_s);
    /* A slope that only noise gives to neighbouring points is no relation. */
    return slope > 0 && isfinite(slope) && seconds > 0 ? seconds : p->seconds * base_s / p_s;
}

static double from_base(const speed_model *model, const speed_model *base, double units)
{
    static const double well_apart = 2;
    const model_point *points = model->point, *nearest;
    const int last = model->points - 1;
    const double base_s = yoke_curve_seconds(&base->curve, units);
    int k = 0;
    if (units > points[0].units && units < points[last].units) {
        while (points[k + 1].units < units) k++;
        return through(&points[k], &points[k + 1], base, base_s);
    }
    nearest = units <= points[0].units ? &points[0] : &points[last];
    for (int i = 0; i <= last; i++) { /* outside the points: by the nearest one that is well apart from the end */
        const model_point *other = nearest == points ? &points[i] : &points[last - i];
        double apart = other->units > nearest->units ? other->units / nearest->units : nearest->units / other->units;
        if (apart >= well_apart) return through(nearest, other, base, base_s);
    }
    return nearest->seconds * base_s / yoke_curve_seconds(&base->curve, nearest->units);
}

/* Distance of the units, in logarithms, from the nearest measured size. */
static double distance(const speed_model *model, double units)
{
    double nearest = INFINITY;
    for (int k = 0; k < model->points; k++) nearest = fmin(nearest, fabs(log(units / model->point[k].units)));
    return nearest;
}

/* The least distance over all levels of a kind; infinity: nothing was measured. */
static double kind_distance(const yoke_run *run, int work, int device, int beside, double units)
{
    double nearest = INFINITY;
    for (int l = 0; l < run->devices[device].num_levels; l++)
        nearest = fmin(nearest, distance(run_model(run, work, device, l, beside), units));
    return nearest;
}

/* A requested time of a device. */
typedef struct wanted {
    const yoke_run *run;
    int work, device;
    double units;
} wanted;

/* Uncertainties take longer to compute than seconds: `relative` is NULL where they are not needed. */
static void set(double *relative, double value)
{
    if (relative != NULL) *relative = value;
}

/* Seconds at a level that was itself measured in this kind. */
static double seconds_at(const wanted *w, int beside, int level, int base, double *relative)
{
    const speed_model *model = run_model(w->run, w->work, w->device, level, beside);
    const speed_model *of_base = run_model(w->run, w->work, w->device, base, beside);
    if (relative != NULL) *relative = run_accuracy_at(w->run, w->work, w->device, level, beside, w->units);
    if (level == base) return yoke_curve_seconds(&model->curve, w->units);
    const run_level_relation *relation = run_relate_levels(w->run, w->work, w->device, level, base, beside);
    if (!relation->holds) return from_base(model, of_base, w->units);
    return relation->a + relation->b * yoke_curve_seconds(&of_base->curve, w->units) + relation->c * w->units;
}

/* Seconds from measurements of one kind only; NaN: they do not determine it. */
static double of_kind(const wanted *w, int beside, int level, double *relative)
{
    const run_device *d = &w->run->devices[w->device];
    int base = run_base_level(w->run, w->work, w->device, beside), below = level, above = level;
    double low_relative = NAN, high_relative = NAN;
    set(relative, NAN);
    if (base < 0) return NAN;
    while (below >= 0 && run_model(w->run, w->work, w->device, below, beside)->points == 0) below--;
    while (above < d->num_levels && run_model(w->run, w->work, w->device, above, beside)->points == 0) above++;
    if (below < 0 || above >= d->num_levels) return NAN; /* it would be an extrapolation of frequencies */
    double seconds = seconds_at(w, beside, below, base, relative != NULL ? &low_relative : NULL);
    set(relative, low_relative);
    if (above == below) return seconds;
    double high = seconds_at(w, beside, above, base, relative != NULL ? &high_relative : NULL);
    double part = (d->hz[level] - d->hz[below]) / (d->hz[above] - d->hz[below]);
    set(relative, run_accuracy_between(fmax(low_relative, high_relative)));
    return 1 / ((1 - part) / seconds + part / high);
}

/* ---------------------------------------------------------------------------------------------------- both kinds */

/*
 * The end of a kind's sizes that is nearest to the units, if these are beyond it and the other kind was measured beyond it; else the units
 * themselves.
 */
static double end_of_kind(const wanted *w, int beside)
{
    const int own = run_base_level(w->run, w->work, w->device, beside), other = run_base_level(w->run, w->work, w->device, !beside);
    if (own < 0 || other < 0) return w->units;
    const speed_model *of_own = run_model(w->run, w->work, w->device, own, beside);
    const speed_model *of_other = run_model(w->run, w->work, w->device, other, !beside);
    const double first = of_own->point[0].units, last = of_own->point[of_own->points - 1].units;
    if (w->units > last && of_other->point[of_other->points - 1].units > last) return last;
    return w->units < first && of_other->point[0].units < first ? first : w->units;
}

/*
 * Seconds from one kind.  Beyond its sizes, the difference from the time at its last size is that of the other kind, which was measured
 * there.  An extrapolated line would miss a cliff that trials of the device alone have shown, until rounds with other devices run into it.
 */
static double continued(const wanted *w, int beside, int level, double slope, double *relative)
{
    const double end = end_of_kind(w, beside), seconds = of_kind(w, beside, level, relative);
    if (!(fabs(end - w->units) > 0) || isnan(seconds)) return seconds;
    const wanted at_end = {w->run, w->work, w->device, end};
    double end_relative, other_relative;
    const double end_s = of_kind(&at_end, beside, level, &end_relative);
    const double more_s = of_kind(w, !beside, level, &other_relative) - of_kind(&at_end, !beside, level, NULL);
    const double own_more_s = (beside ? slope : 1 / slope) * more_s;
    if (!(end_s + own_more_s > 0)) return seconds;
    set(relative, hypot(end_relative, own_more_s / (end_s + own_more_s) * hypot(other_relative, inferred_uncertainty)));
    return end_s + own_more_s;
}

/* ------------------------------------------------------------------------------------------------ all that is known */

static void forget_level_relations(yoke_run *run, int work, int device, int beside)
{
    memset(&run->run_works[work].level_relations[(2 * device + (beside != 0)) * run->most_levels], 0,
           (size_t)run->most_levels * sizeof(run_level_relation));
}

void run_learn_seconds(yoke_run *run, int work, int device, int level, int beside, double units, double seconds)
{
    const wanted w = {run, work, device, units};
    run_scatter *scatter = run_scatter_of(run, work, device, beside);
    if (!(units > 0 && seconds >= least_seconds && seconds <= most_seconds)) return;
    const double other_s = of_kind(&w, !beside, level, NULL);
    if (other_s > 0) {
        double far = kind_distance(run, work, device, !beside, units) / log(2);
        run_learn_relation(&run->run_works[work].relations[device], beside ? other_s : seconds, beside ? seconds : other_s,
                           1 / (1 + far * far));
    }
    scatter->squares *= scatter_kept;
    scatter->freedom *= scatter_kept;
    (void)model_measure(run_model(run, work, device, level, beside), units, seconds);
    run->run_works[work].learned[device] = 1;
    run->run_works[work].disturbed[device] = 0;
    forget_level_relations(run, work, device, beside);
}

void run_know_seconds(yoke_run *run, int work, int device, int level, const yoke_sample *sample)
{
    run_scatter *scatter = run_scatter_of(run, work, device, sample->together);
    const double freedom = (double)sample->repeats - 1;
    double deviation = NAN;
    if (!(sample->units > 0 && sample->seconds >= least_seconds && sample->seconds <= most_seconds)) return;
    if (freedom > 0 && !isnan(sample->seconds_interval)) {
        deviation = sample->seconds_interval / statistics_student_95(freedom) * sqrt((double)sample->repeats) / sample->seconds;
        scatter->squares += freedom * deviation * deviation;
        scatter->freedom += freedom;
    }
    model_know(run_model(run, work, device, level, sample->together), sample->units, sample->seconds, fmax(1, (double)sample->repeats),
               deviation);
    run->run_works[work].learned[device] = 1;
    forget_level_relations(run, work, device, sample->together);
}

void run_know_contention(yoke_run *run, int work, int device, double factor, double uncertainty)
{
    run_relation *relation = &run->run_works[work].relations[device];
    *relation = (run_relation){.factor = factor, .uncertainty = uncertainty, .slope = factor};
    run->run_works[work].learned[device] = 1;
}

void run_forget(yoke_run *run, int work, int device)
{
    run_work *of = &run->run_works[work];
    memset(run_model(run, work, device, 0, 0), 0, 2 * (size_t)run->most_levels * sizeof *of->models);
    of->relations[device] = (run_relation){0};
    for (int beside = 0; beside < 2; beside++) {
        *run_scatter_of(run, work, device, beside) = (run_scatter){0};
        forget_level_relations(run, work, device, beside);
    }
    of->learned[device] = 1;
    of->tries[device] = of->explored[device] = 0;
    of->disturbed[device] = 0;
}

/*
 * Seconds at a level that was not measured in this kind, from the difference that the other kind shows between this level and the base
 * level.
 */
static double shifted(const wanted *w, int beside, int level, double slope)
{
    const int base = run_base_level(w->run, w->work, w->device, beside);
    const double there = of_kind(w, !beside, level, NULL), here = of_kind(w, !beside, base, NULL),
                 own = continued(w, beside, base, slope, NULL);
    const double seconds = own + (beside ? slope : 1 / slope) * (there - here);
    return seconds > 0 ? seconds : (double)NAN;
}

int run_is_related(const yoke_run *run, int work, int device)
{
    const run_relation *r = &run->run_works[work].relations[device];
    return r->count > 0 || r->factor > 0;
}

double run_seconds(const yoke_run *run, int work, int device, int level, int beside, double units, double *uncertainty)
{
    const wanted w = {run, work, device, units};
    const run_relation *r = &run->run_works[work].relations[device];
    double other_relative = NAN;
    set(uncertainty, NAN);
    if (!run_is_measured(run, work, device)) return NAN;
    if (units <= 0) return 0;
    double own_far = kind_distance(run, work, device, beside, units), other_far = kind_distance(run, work, device, !beside, units);
    const int is_related = run_is_related(run, work, device);
    double slope = is_related ? r->slope : 1, start_s = is_related ? r->start_s : 0;
    double own_s = isinf(own_far) ? (double)NAN : continued(&w, beside, level, slope, uncertainty);
    if (isnan(own_s)) set(uncertainty, NAN);
    if (isinf(other_far)) return own_s;
    double other_s = of_kind(&w, !beside, level, uncertainty != NULL ? &other_relative : NULL);
    double related_s = beside ? start_s + slope * other_s : (other_s - start_s) / slope;
    int is_near = own_far <= other_far + log(farther), is_own = run_model(run, work, device, level, beside)->points > 0;
    if (is_near && is_own && !isnan(own_s)) return own_s;
    double inferred_s = is_near ? shifted(&w, beside, level, slope) : related_s;
    if (!(inferred_s > 0)) inferred_s = related_s;
    if (!(inferred_s > 0)) return own_s;
    /* If neither rounds nor a trial showed how much devices slow each other down, the error of this is not known. */
    set(uncertainty, hypot(other_relative, r->count > 0 ? inferred_uncertainty : r->factor > 0 ? r->uncertainty : (double)NAN));
    return inferred_s;
}

double run_start_s(const yoke_run *run, int work, int device, int level, int beside)
{
    const double tiny = 1e-6; /* the line through two such sizes has the start at 0 */
    double at_tiny_s = run_seconds(run, work, device, level, beside, tiny, NULL),
           seconds = 2 * at_tiny_s - run_seconds(run, work, device, level, beside, 2 * tiny, NULL);
    return seconds > 1e-9 * at_tiny_s ? seconds : 0; /* less is rounding */
}

int run_is_disturbed(const yoke_run *run, int work, int device, int level, double units)
{
    static const double clearly = 1.02;
    if (!run_is_related(run, work, device) || !(units > 0)) return 0;
    double alone_s = run_seconds(run, work, device, level, 0, units, NULL),
           beside_s = run_seconds(run, work, device, level, 1, units, NULL);
    return beside_s > clearly * alone_s;
}
