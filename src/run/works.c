/* Kinds of work: how long each device takes for them at each frequency. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "base/statistics.h"
#include "run/run.h"

static const double least_seconds = 1e-12, most_seconds = 1e12;
/* So many measurements tell what devices lose beside each other; later ones tell of the device itself. */
static const int enough_ratios = 3;
static const double least_contention = 0.5, most_contention = 20;
/* So much of what a calibration told of the noise remains after a round: rounds tell it themselves. */
static const double scatter_kept = 0.95;

/* -------------------------------------------------------------------------------------------------- naming */

static yoke_status make_work(yoke_run *run, const char *name)
{
    void *items = run->run_works, *text = NULL, *models = NULL, *counts = NULL, *contention = NULL, *scatter = NULL, *relations = NULL;
    yoke_status status = yoke_grow(run->context, &items, run->num_works, &run->most_works, 4, sizeof(run_work));
    if (status != YOKE_OK) return status;
    run->run_works = items;
    run_work *work = &run->run_works[run->num_works];
    memset(work, 0, sizeof *work);
    status = yoke_allocate(run->context, (int64_t)strlen(name) + 1, 1, &text);
    if (status == YOKE_OK) status = yoke_allocate(run->context, (int64_t)run->num_devices * RUN_MOST_LEVELS, sizeof(speed_model), &models);
    if (status == YOKE_OK) status = yoke_allocate(run->context, 3 * (int64_t)run->num_devices, sizeof(int), &counts);
    if (status == YOKE_OK) status = yoke_allocate(run->context, run->num_devices, sizeof(run_contention), &contention);
    if (status == YOKE_OK) status = yoke_allocate(run->context, run->num_devices, sizeof(run_scatter), &scatter);
    if (status == YOKE_OK)
        status = yoke_allocate(run->context, (int64_t)run->num_devices * RUN_MOST_LEVELS, sizeof(run_relation), &relations);
    if (status != YOKE_OK) {
        yoke_release(run->context, contention);
        yoke_release(run->context, scatter);
        yoke_release(run->context, text);
        yoke_release(run->context, models);
        yoke_release(run->context, counts);
        return status;
    }
    work->name = strcpy(text, name);
    work->models = models;
    work->contention = contention;
    work->scatter = scatter;
    work->relations = relations;
    for (int i = 0; i < run->num_devices; i++) work->contention[i].factor = 1;
    work->stored = counts;
    work->tries = work->stored + run->num_devices;
    work->explored = work->tries + run->num_devices;
    run->num_works++;
    return YOKE_OK;
}

yoke_status run_work_find(yoke_run *run, const char *name, int *index)
{
    if (name == NULL) name = "";
    for (int64_t i = 0; i < run->num_works; i++)
        if (strcmp(run->run_works[i].name, name) == 0) {
            *index = (int)i;
            return YOKE_OK;
        }
    yoke_status status = make_work(run, name);
    if (status == YOKE_OK) *index = (int)run->num_works - 1;
    return status;
}

yoke_status yoke_run_work(yoke_run *run, const char *work, const char *const *texts, int64_t num_texts)
{
    int index = 0;
    if (run == NULL || work == NULL || num_texts < 0 || (num_texts > 0 && texts == NULL))
        return yoke_fail(run != NULL ? run->context : NULL, YOKE_ERROR_ARGUMENT,
                         "yoke_run_work: an argument is NULL, or num_texts negative");
    yoke_status status = run_work_find(run, work, &index);
    if (status != YOKE_OK) return status;
    if (run->run_works[index].planned)
        return yoke_fail(run->context, YOKE_ERROR_ARGUMENT, "yoke_run_work: \"%.64s\" was planned already; say what it is before", work);
    uint64_t sum = 14695981039346656037u; /* FNV-1a; texts are told apart by their ends */
    for (int64_t i = 0; i < num_texts; i++) {
        const char *p = texts[i] != NULL ? texts[i] : "";
        for (; *p != '\0'; p++) sum = (sum ^ (unsigned char)*p) * 1099511628211u;
        sum = (sum ^ 0xffu) * 1099511628211u;
    }
    snprintf(run->run_works[index].kernel, sizeof run->run_works[index].kernel, "%016llx", (unsigned long long)sum);
    return YOKE_OK;
}

void run_works_clear(yoke_run *run)
{
    for (int64_t i = 0; i < run->num_works; i++) {
        yoke_balancer_destroy(run->run_works[i].balancer);
        yoke_release(run->context, run->run_works[i].name);
        yoke_release(run->context, run->run_works[i].models);
        yoke_release(run->context, run->run_works[i].stored);
        yoke_release(run->context, run->run_works[i].contention);
        yoke_release(run->context, run->run_works[i].scatter);
        yoke_release(run->context, run->run_works[i].relations);
    }
    yoke_release(run->context, run->run_works);
}

/* ------------------------------------------------------------------------------------------------ learning */

speed_model *run_model(const yoke_run *run, int work, int device, int level)
{
    return &run->run_works[work].models[device * RUN_MOST_LEVELS + level];
}

double run_factor(const yoke_run *run, int work, int device, int beside)
{
    const run_contention *contention = &run->run_works[work].contention[device];
    if (beside == (contention->kind != RUN_ALONE)) return 1;
    return beside ? contention->factor : 1 / contention->factor;
}

/* Seconds as the models have them; the first of the other kind tell the factor. */
static double convert(yoke_run *run, int work, int device, int level, int beside, double units, double seconds)
{
    run_contention *contention = &run->run_works[work].contention[device];
    if (contention->kind == RUN_UNMEASURED) contention->kind = beside ? RUN_BESIDE : RUN_ALONE;
    if (beside == (contention->kind == RUN_BESIDE)) return seconds;
    double known = run_seconds(run, work, device, level, units, NULL), ratio = beside ? seconds / known : known / seconds;
    if (contention->count < enough_ratios && ratio > 0 && isfinite(ratio)) {
        ratio = fmin(fmax(ratio, least_contention), most_contention);
        contention->factor = (contention->factor * contention->count + ratio) / (contention->count + 1);
        contention->count++;
    }
    return beside ? seconds / contention->factor : seconds * contention->factor;
}

static void forget_relations(yoke_run *run, int work, int device)
{
    memset(&run->run_works[work].relations[device * RUN_MOST_LEVELS], 0, RUN_MOST_LEVELS * sizeof(run_relation));
}

void run_learn_seconds(yoke_run *run, int work, int device, int level, int beside, double units, double seconds)
{
    if (!(units > 0 && seconds >= least_seconds && seconds <= most_seconds)) return;
    run_scatter *scatter = &run->run_works[work].scatter[device];
    scatter->squares *= scatter_kept;
    scatter->freedom *= scatter_kept;
    seconds = convert(run, work, device, level, beside, units, seconds);
    (void)model_measure(run_model(run, work, device, level), units, seconds);
    forget_relations(run, work, device);
}

void run_know_seconds(yoke_run *run, int work, int device, int level, const yoke_sample *sample)
{
    run_scatter *scatter = &run->run_works[work].scatter[device];
    const double freedom = (double)sample->repeats - 1;
    double deviation = NAN;
    if (!(sample->units > 0 && sample->seconds >= least_seconds && sample->seconds <= most_seconds)) return;
    if (freedom > 0 && !isnan(sample->seconds_interval)) {
        deviation = sample->seconds_interval / statistics_student_95(freedom) * sqrt((double)sample->repeats) / sample->seconds;
        scatter->squares += freedom * deviation * deviation;
        scatter->freedom += freedom;
    }
    double seconds = convert(run, work, device, level, sample->together, sample->units, sample->seconds);
    if (sample->together && run->run_works[work].contention[device].kind == RUN_ALONE) return; /* it told the factor */
    model_know(run_model(run, work, device, level), sample->units, seconds, fmax(1, (double)sample->repeats), deviation);
    forget_relations(run, work, device);
}

void run_know_contention(yoke_run *run, int work, int device, double factor, double uncertainty)
{
    run_contention *contention = &run->run_works[work].contention[device];
    *contention = (run_contention){.kind = contention->kind, .count = enough_ratios, .factor = factor, .uncertainty = uncertainty};
}

void run_forget(yoke_run *run, int work, int device)
{
    run_work *of = &run->run_works[work];
    memset(run_model(run, work, device, 0), 0, RUN_MOST_LEVELS * sizeof *of->models);
    of->contention[device] = (run_contention){.factor = 1};
    of->scatter[device] = (run_scatter){0};
    forget_relations(run, work, device);
    of->stored[device] = of->tries[device] = of->explored[device] = 0;
}

int run_is_measured(const yoke_run *run, int work, int device)
{
    for (int l = 0; l < run->devices[device].num_levels; l++)
        if (run_model(run, work, device, l)->points > 0) return 1;
    return 0;
}

/* The level that is known best: others are told by it. */
int run_base_level(const yoke_run *run, int work, int device)
{
    double best = 0;
    int found = -1;
    for (int l = 0; l < run->devices[device].num_levels; l++) {
        const speed_model *model = run_model(run, work, device, l);
        double weight = 0;
        for (int k = 0; k < model->points; k++) weight += 1 + fmin(model->point[k].weight, 4);
        if (weight < best || model->points == 0) continue;
        best = weight;
        found = l;
    }
    return found;
}

/*
 * Seconds at a level from those at the base, t = a + b t_base through two points that were measured at both: so a start that does not depend on the frequency is
 * not scaled with what does.
 */
static double through(const model_point *p, const model_point *q, const speed_model *base, double base_s)
{
    double p_s = yoke_curve_seconds(&base->curve, p->units), q_s = yoke_curve_seconds(&base->curve, q->units);
    double slope = (q->seconds - p->seconds) / (q_s - p_s), seconds = p->seconds + slope * (base_s - p_s);
    /* What noise makes of points beside each other is no relation. */
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
    for (int i = 0; i <= last; i++) { /* outside, by the nearest that is well apart from the end */
        const model_point *other = nearest == points ? &points[i] : &points[last - i];
        double apart = other->units > nearest->units ? other->units / nearest->units : nearest->units / other->units;
        if (apart >= well_apart) return through(nearest, other, base, base_s);
    }
    return nearest->seconds * base_s / yoke_curve_seconds(&base->curve, nearest->units);
}

/* At a level that was measured itself. */
static double seconds_at(const yoke_run *run, int work, int device, int level, int base, double units, double *relative)
{
    const speed_model *model = run_model(run, work, device, level), *of_base = run_model(run, work, device, base);
    *relative = run_accuracy_at(run, work, device, level, units);
    if (level == base) return yoke_curve_seconds(&model->curve, units);
    const run_relation *relation = run_relate(run, work, device, level, base);
    if (!relation->holds) return from_base(model, of_base, units);
    return relation->a + relation->b * yoke_curve_seconds(&of_base->curve, units) + relation->c * units;
}

double run_seconds(const yoke_run *run, int work, int device, int level, double units, double *uncertainty)
{
    const run_device *d = &run->devices[device];
    int base = run_base_level(run, work, device), below = level, above = level;
    double relative = NAN, low_relative, high_relative;
    if (uncertainty != NULL) *uncertainty = NAN;
    if (base < 0) return NAN;
    if (units <= 0) return 0;
    while (below >= 0 && run_model(run, work, device, below)->points == 0) below--;
    while (above < d->num_levels && run_model(run, work, device, above)->points == 0) above++;
    if (below < 0 || above >= d->num_levels) return NAN; /* it would be an extrapolation of frequencies */
    double seconds = seconds_at(run, work, device, below, base, units, &low_relative);
    relative = low_relative;
    if (above != below) {
        double high = seconds_at(run, work, device, above, base, units, &high_relative);
        double part = (d->hz[level] - d->hz[below]) / (d->hz[above] - d->hz[below]);
        seconds = 1 / ((1 - part) / seconds + part / high);
        relative = run_accuracy_between(fmax(low_relative, high_relative));
    }
    if (uncertainty != NULL) *uncertainty = relative;
    return seconds;
}

double run_start_s(const yoke_run *run, int work, int device, int level)
{
    int base = run_base_level(run, work, device);
    double tiny = 1e-6, uncertainty;
    if (base < 0) return 0;
    double seconds = run_seconds(run, work, device, level, tiny, &uncertainty);
    double at_zero = run_model(run, work, device, base)->curve.at_zero;
    double there = yoke_curve_seconds(&run_model(run, work, device, base)->curve, tiny);
    return isnan(seconds) || !(there > 0) ? 0 : at_zero * seconds / there;
}

/* ------------------------------------------------------------------------------------------------ the store */

static int same_frequency(double a, double b) { return fabs(a - b) <= 1e-9 * fabs(b); }

static double highest_frequency(const yoke_store_entry *entry)
{
    double highest = NAN;
    for (int64_t k = 0; k < entry->num_samples; k++) highest = fmax(highest, entry->samples[k].frequency_hz);
    return highest;
}

/* The level of a run that a sample is for; -1: none.  Where frequencies are left as they are, and for samples that name none, that is the highest. */
static int level_of(const run_device *d, const yoke_sample *sample, double highest)
{
    if (isnan(sample->frequency_hz)) return d->num_levels - 1;
    if (isnan(d->hz[0])) return same_frequency(sample->frequency_hz, highest) ? 0 : -1;
    for (int l = 0; l < d->num_levels; l++)
        if (same_frequency(d->hz[l], sample->frequency_hz)) return l;
    return -1;
}

static void take_samples(yoke_run *run, int index, int device, const yoke_store_entry *entry)
{
    double highest = highest_frequency(entry);
    for (int64_t k = 0; k < entry->num_samples; k++) {
        const yoke_sample *sample = &entry->samples[k];
        int level = level_of(&run->devices[device], sample, highest);
        if (level < 0) continue;
        run_learn_seconds(run, index, device, level, sample->together, sample->units, sample->seconds);
        run->run_works[index].stored[device]++;
    }
}

static void take_powers(yoke_run *run, int device, const yoke_store_entry *entry)
{
    run_level_power *power = &run->devices[device].powers[run->devices[device].num_levels - 1];
    if (run->declared || !isnan(power->idle_w) || isnan(entry->idle_power_w) || isnan(entry->busy_power_w) ||
        entry->busy_power_w < entry->idle_power_w)
        return;
    power->idle_w = entry->idle_power_w;
    power->idle_uncertainty_w = isnan(entry->idle_power_interval_w) ? 0.05 * power->idle_w : entry->idle_power_interval_w;
    power->busy_s = 1e-3; /* counts little beside what is measured now */
    power->above_j = power->busy_s * (entry->busy_power_w - entry->idle_power_w);
}

yoke_status run_work_open(yoke_run *run, int index)
{
    run_work *work = &run->run_works[index];
    if (work->planned) return YOKE_OK;
    work->planned = 1;
    for (int i = 0; run->store != NULL && i < run->num_devices; i++) {
        const char *why = NULL;
        const run_device *d = &run->devices[i];
        const yoke_store_entry *entry = yoke_store_find(run->store, work->name, d->info->name, d->info->description, work->kernel, &why);
        if (entry == NULL && why != NULL && why[0] != '\0') yoke_log(run->context, YOKE_LOG_INFO, "store: %s", why);
        if (entry == NULL) continue;
        take_samples(run, index, i, entry);
        if (isnan(run->devices[i].copy_seconds_per_byte)) {
            run->devices[i].copy_start_s = isnan(entry->copy_start_s) ? 0 : entry->copy_start_s;
            run->devices[i].copy_seconds_per_byte = entry->copy_seconds_per_byte;
        }
        take_powers(run, i, entry);
    }
    return YOKE_OK;
}

static yoke_sample sample_of(const yoke_run *run, int work, int device, int level, const model_point *p)
{
    double freedom, noise = run_noise(run, work, device, level, &freedom), of_power,
                    dynamic_w = run_dynamic_w(run, device, level, &of_power);
    double interval = p->weight >= 2 ? statistics_student_95(freedom) * noise / sqrt(p->weight) * p->seconds : (double)NAN;
    double joules = dynamic_w > 0 ? dynamic_w * p->seconds : (double)NAN;
    return (yoke_sample){.units = p->units,
                         .frequency_hz = run->devices[device].hz[level],
                         .seconds = p->seconds,
                         .seconds_interval = interval,
                         .joules = joules,
                         .joules_interval = joules * hypot(of_power, interval / p->seconds),
                         .repeats = p->weight >= 1 ? (int64_t)p->weight : 1,
                         .together = run->run_works[work].contention[device].kind == RUN_BESIDE};
}

/* What devices lose beside each other, as one sample of the other kind at the largest size; returns how many there are. */
static int fill_together(const yoke_run *run, int work, int device, yoke_sample *sample)
{
    const run_contention *contention = &run->run_works[work].contention[device];
    const int base = run_base_level(run, work, device);
    if (base < 0 || contention->count == 0) return 0;
    if (sample == NULL) return 1;
    const speed_model *model = run_model(run, work, device, base);
    *sample = sample_of(run, work, device, base, &model->point[model->points - 1]);
    const double factor = contention->kind == RUN_ALONE ? contention->factor : 1 / contention->factor;
    sample->seconds = factor * run_seconds(run, work, device, base, sample->units, NULL);
    sample->seconds_interval = contention->uncertainty > 0 ? contention->uncertainty * sample->seconds : (double)NAN;
    sample->joules = sample->joules_interval = NAN;
    sample->together = contention->kind == RUN_ALONE;
    return 1;
}

/* What was learned, and of an older entry the samples of frequencies that this run does not use; samples NULL: only counts. */
static int fill_samples(const yoke_run *run, int work, int device, const yoke_store_entry *old, yoke_sample *samples)
{
    const run_device *d = &run->devices[device];
    int count = 0;
    for (int l = 0; l < d->num_levels; l++) {
        const speed_model *model = run_model(run, work, device, l);
        for (int k = 0; k < model->points; k++, count++) {
            const model_point *p = &model->point[k];
            if (samples == NULL) continue;
            samples[count] = sample_of(run, work, device, l, p);
        }
    }
    count += fill_together(run, work, device, samples != NULL ? samples + count : NULL);
    for (int64_t k = 0; old != NULL && k < old->num_samples; k++) {
        if (level_of(d, &old->samples[k], highest_frequency(old)) >= 0) continue;
        if (samples != NULL) samples[count] = old->samples[k];
        count++;
    }
    return count;
}

static yoke_status put_entry(yoke_run *run, int index, int device)
{
    const run_device *d = &run->devices[device];
    const run_work *work = &run->run_works[index];
    const run_level_power *power = &d->powers[d->num_levels - 1];
    const yoke_store_entry *old = yoke_store_find(run->store, work->name, d->info->name, d->info->description, work->kernel, NULL);
    int top = d->num_levels - 1, measured = !run->declared && !isnan(power->idle_w) && power->busy_s > 0;
    double of_power = NAN, dynamic_w = run_dynamic_w(run, device, top, &of_power), idle_w = measured ? power->idle_w : (double)NAN,
           busy_w = measured ? power->idle_w + dynamic_w : (double)NAN;
    int has_copies = !isnan(d->copy_seconds_per_byte);
    yoke_energy_kind kind = measured ? run_power_kind(run, device) : YOKE_ENERGY_NONE;
    if (kind == YOKE_ENERGY_NONE && old != NULL) kind = old->power_kind;
    void *samples = NULL;
    if (!run_is_measured(run, index, device)) return YOKE_OK;
    int count = fill_samples(run, index, device, old, NULL);
    yoke_status status = yoke_allocate(run->context, count, sizeof(yoke_sample), &samples);
    if (status != YOKE_OK) return status;
    (void)fill_samples(run, index, device, old, samples);
    const yoke_store_entry entry = {.work = work->name,
                                    .device = d->info->name,
                                    .description = d->info->description,
                                    .kernel = work->kernel,
                                    .num_samples = count,
                                    .samples = samples,
                                    .idle_power_w = measured || old == NULL ? idle_w : old->idle_power_w,
                                    .idle_power_interval_w = measured ? power->idle_uncertainty_w : (double)NAN,
                                    .busy_power_w = measured || old == NULL ? busy_w : old->busy_power_w,
                                    .busy_power_interval_w =
                                        measured ? hypot(power->idle_uncertainty_w, of_power * dynamic_w) : (double)NAN,
                                    .copy_start_s = has_copies    ? d->copy_start_s
                                                    : old == NULL ? (double)NAN
                                                                  : old->copy_start_s,
                                    .copy_seconds_per_byte = has_copies    ? d->copy_seconds_per_byte
                                                             : old == NULL ? (double)NAN
                                                                           : old->copy_seconds_per_byte,
                                    .power_kind = kind};
    status = yoke_store_put(run->store, &entry);
    yoke_release(run->context, samples);
    return status;
}

yoke_status yoke_run_save(yoke_run *run)
{
    if (run == NULL || run->store == NULL)
        return yoke_fail(run != NULL ? run->context : NULL, YOKE_ERROR_ARGUMENT,
                         "yoke_run_save: the run has no store; name one in its options");
    yoke_status status = YOKE_OK;
    for (int64_t w = 0; w < run->num_works && status == YOKE_OK; w++)
        for (int i = 0; i < run->num_devices && status == YOKE_OK; i++)
            if (run->run_works[w].name[0] != '\0') status = put_entry(run, (int)w, i);
    return status != YOKE_OK ? status : yoke_store_write(run->store);
}

yoke_status run_show_balancer(yoke_run *run, int work, yoke_balancer *balancer, int64_t n, int64_t *units, int *rounds)
{
    yoke_share_report reports[RUN_MOST_DEVICES];
    yoke_status status = YOKE_OK;
    *rounds = 0;
    for (int i = 0; i < run->num_devices; i++) {
        int points = run_model(run, work, i, run->devices[i].num_levels - 1)->points;
        if (points > *rounds) *rounds = points;
    }
    for (int r = 0; r < *rounds && status == YOKE_OK; r++) {
        for (int i = 0; i < run->num_devices; i++) {
            const speed_model *model = run_model(run, work, i, run->devices[i].num_levels - 1);
            int k = r - (*rounds - model->points); /* all come to their last point at the end */
            reports[i] = (yoke_share_report){.units = k >= 0 ? (int64_t)fmax(1, model->point[k].units) : 0,
                                             .seconds = k >= 0 ? model->point[k].seconds : (double)NAN,
                                             .moved_s = NAN,
                                             .energy_j = NAN};
        }
        status = yoke_balancer_update(balancer, reports, n, units);
    }
    return status;
}
