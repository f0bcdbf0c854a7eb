/* Kinds of work: how long each device takes for them at each frequency. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/statistics.h"
#include "run/run.h"

/* -------------------------------------------------------------------------------------------------- naming */

static void release(yoke_run *run, run_work *work)
{
    yoke_balancer_destroy(work->balancer);
    yoke_release(run->context, work->name);
    yoke_release(run->context, work->models);
    yoke_release(run->context, work->learned);
    yoke_release(run->context, work->scatter);
    yoke_release(run->context, work->disturbed);
    yoke_release(run->context, work->level_relations);
    yoke_release(run->context, work->relations);
    yoke_release(run->context, work->limits);
    yoke_release(run->context, work->reports);
}

static yoke_status make_work(yoke_run *run, const char *name)
{
    yoke_context *context = run->context;
    const int64_t devices = run->num_devices, curves = 2 * devices * run->most_levels;
    run_work made = {0};
    yoke_status status = yoke_grow(context, &run->run_works, run->num_works, &run->most_works, 4, sizeof made);
    if (status != YOKE_OK) return status;
    status = yoke_allocate(context, (int64_t)strlen(name) + 1, 1, &made.name);
    if (status == YOKE_OK) status = yoke_allocate(context, curves, sizeof *made.models, &made.models);
    if (status == YOKE_OK) status = yoke_allocate(context, 4 * devices, sizeof *made.learned, &made.learned);
    if (status == YOKE_OK) status = yoke_allocate(context, devices, sizeof *made.relations, &made.relations);
    if (status == YOKE_OK) status = yoke_allocate(context, 2 * devices, sizeof *made.scatter, &made.scatter);
    if (status == YOKE_OK) status = yoke_allocate(context, devices, sizeof *made.disturbed, &made.disturbed);
    if (status == YOKE_OK) status = yoke_allocate(context, curves, sizeof *made.level_relations, &made.level_relations);
    if (status == YOKE_OK) status = yoke_allocate(context, devices, sizeof *made.limits, &made.limits);
    if (status == YOKE_OK) status = yoke_allocate(context, devices, sizeof *made.reports, &made.reports);
    if (status != YOKE_OK) {
        release(run, &made);
        return status;
    }
    strcpy(made.name, name);
    made.tries = made.learned + devices;
    made.explored = made.tries + devices;
    made.tried_alone = made.explored + devices;
    run->run_works[run->num_works++] = made;
    return YOKE_OK;
}

yoke_status run_work_find(yoke_run *run, const char *name, int *index)
{
    if (name == NULL) name = "";
    for (int64_t k = 0; k < run->num_works; k++) { /* usually it is the latest one again, or the next one */
        const int64_t i = (run->latest_work + k) % run->num_works;
        if (strcmp(run->run_works[i].name, name) == 0) {
            *index = (int)(run->latest_work = i);
            return YOKE_OK;
        }
    }
    yoke_status status = make_work(run, name);
    if (status == YOKE_OK) *index = (int)(run->latest_work = run->num_works - 1);
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
    uint64_t sum = 14695981039346656037u; /* FNV-1a; the end of each text is hashed, too */
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
    for (int64_t i = 0; i < run->num_works; i++) release(run, &run->run_works[i]);
    yoke_release(run->context, run->run_works);
}

/* ------------------------------------------------------------------------------------------------ the store */

static double highest_frequency(const yoke_store_entry *entry)
{
    double highest = NAN;
    for (int64_t k = 0; k < entry->num_samples; k++) highest = fmax(highest, entry->samples[k].frequency_hz);
    return highest;
}

static int level_of(const run_device *d, const yoke_sample *sample, double highest)
{
    return run_stored_level(d, sample->frequency_hz, highest);
}

/* Takes a single sample beside others with an interval as a factor, as a calibration measures it.  Returns 0 if there is no such sample. */
static int take_contention(yoke_run *run, int index, int device, const yoke_store_entry *entry, double highest)
{
    const yoke_sample *found = NULL;
    for (int64_t k = 0; k < entry->num_samples; k++) {
        if (!entry->samples[k].together) continue;
        if (found != NULL) return 0;
        found = &entry->samples[k];
    }
    const int level = found != NULL ? level_of(&run->devices[device], found, highest) : -1;
    if (level < 0 || !(found->seconds_interval > 0)) return 0;
    const double factor = found->seconds / run_seconds(run, index, device, level, 0, found->units, NULL);
    if (!(factor > 0) || !isfinite(factor)) return 0;
    run_know_contention(run, index, device, factor, found->seconds_interval / found->seconds);
    return 1;
}

/* Learns the samples of an entry: first those of the device alone, to which those beside others are related. */
static void take_samples(yoke_run *run, int index, int device, const yoke_store_entry *entry)
{
    const double highest = highest_frequency(entry);
    const int learned = run->run_works[index].learned[device];
    for (int beside = 0; beside < 2; beside++) {
        if (beside && take_contention(run, index, device, entry, highest)) break;
        for (int64_t k = 0; k < entry->num_samples; k++) {
            const yoke_sample *sample = &entry->samples[k];
            int level = level_of(&run->devices[device], sample, highest);
            if (level < 0 || (sample->together != 0) != beside) continue;
            run_learn_seconds(run, index, device, level, beside, sample->units, sample->seconds);
        }
    }
    run->run_works[index].learned[device] = learned; /* what is read need not be written again */
}

/* The entry of the store for the work on the device, else that of an earlier run; NULL: none. */
static const yoke_store_entry *find_entry(yoke_run *run, const run_work *work, const run_device *d)
{
    const yoke_store_entry *entry = NULL;
    const char *why = NULL;
    if (run->store != NULL) entry = yoke_store_find(run->store, work->name, d->info->name, d->info->description, work->kernel, &why);
    if (why != NULL && why[0] != '\0') { /* what changed for one work usually changed for all */
        yoke_log(run->context, run->declined ? YOKE_LOG_DEBUG : YOKE_LOG_INFO, "store: %s; it is not used, nor is what else does not fit",
                 why);
        run->declined = 1;
    }
    for (int i = 0; entry == NULL && i < RUN_MAX_KNOWN && run->known[i] != NULL; i++)
        entry = yoke_store_find(run->known[i], work->name, d->info->name, d->info->description, work->kernel, NULL);
    return entry;
}

yoke_status run_work_open(yoke_run *run, int index)
{
    run_work *work = &run->run_works[index];
    if (work->planned) return YOKE_OK;
    work->planned = 1;
    for (int i = 0; i < run->num_devices; i++) {
        const yoke_store_entry *entry = find_entry(run, work, &run->devices[i]);
        if (entry == NULL) continue;
        take_samples(run, index, i, entry);
        work->disturbed[i] = entry->disturbed; /* after the samples, as learning them resets it */
        if (isnan(run->devices[i].copy_seconds_per_byte)) {
            run->devices[i].copy_start_s = isnan(entry->copy_start_s) ? 0 : entry->copy_start_s;
            run->devices[i].copy_seconds_per_byte = entry->copy_seconds_per_byte;
        }
        run_take_powers(run, i, entry);
    }
    return YOKE_OK;
}

static yoke_sample make_sample(const yoke_run *run, int work, int device, int level, int beside, const model_point *p)
{
    double freedom, noise = run_noise(run, work, device, level, beside, &freedom), of_power,
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
                         .together = beside};
}

/*
 * Writes a factor that was measured for this purpose, as one sample beside others at the largest size.  Returns the number of samples, 0 or
 * 1; sample may be NULL.
 */
static int fill_together(const yoke_run *run, int work, int device, yoke_sample *sample)
{
    static const double least_uncertainty = 0.002; /* no factor is known better */
    const run_relation *relation = &run->run_works[work].relations[device];
    const int base = run_base_level(run, work, device, 0);
    if (base < 0 || !(relation->factor > 0)) return 0;
    if (sample == NULL) return 1;
    const speed_model *model = run_model(run, work, device, base, 0);
    *sample = make_sample(run, work, device, base, 1, &model->point[model->points - 1]);
    sample->seconds = relation->factor * run_seconds(run, work, device, base, 0, sample->units, NULL);
    sample->seconds_interval = fmax(relation->uncertainty, least_uncertainty) * sample->seconds;
    sample->joules = sample->joules_interval = NAN;
    return 1;
}

/* A sample of the store, with its energy by the powers that are known now. */
static yoke_sample price_sample(const yoke_run *run, int device, int level, const yoke_sample *old)
{
    yoke_sample sample = *old;
    double of_power;
    const double dynamic_w = level >= 0 ? run_dynamic_w(run, device, level, &of_power) : (double)NAN;
    if (!(dynamic_w > 0)) return sample;
    sample.joules = dynamic_w * sample.seconds;
    sample.joules_interval = sample.joules * hypot(of_power, sample.seconds_interval / sample.seconds);
    return sample;
}

/*
 * Writes samples and returns their number; samples NULL: only counts them.  own nonzero: all that the run knows, and of an older entry the
 * samples at frequencies that this run does not use.  own 0: all samples of the older entry.
 */
static int fill_samples(const yoke_run *run, int work, int device, int own, const yoke_store_entry *old, yoke_sample *samples)
{
    const run_device *d = &run->devices[device];
    int count = 0;
    for (int l = 0; l < d->num_levels && own; l++)
        for (int beside = 0; beside < 2; beside++) {
            const speed_model *model = run_model(run, work, device, l, beside);
            for (int k = 0; k < model->points; k++, count++)
                if (samples != NULL) samples[count] = make_sample(run, work, device, l, beside, &model->point[k]);
        }
    if (own) count += fill_together(run, work, device, samples != NULL ? samples + count : NULL);
    for (int64_t k = 0; old != NULL && k < old->num_samples; k++) {
        const int level = level_of(d, &old->samples[k], highest_frequency(old));
        if (own && level >= 0) continue;
        if (samples != NULL) samples[count] = price_sample(run, device, level, &old->samples[k]);
        count++;
    }
    return count;
}

/*
 * Writes the entry of a work on a device.  The run's own store gets what was learned since it was last written, and powers: of everything
 * else it has as much, or newer measurements.  Another store gets all that the run knows.
 */
static yoke_status put_entry(yoke_run *run, yoke_store *store, int index, int device)
{
    const run_device *d = &run->devices[device];
    const run_work *work = &run->run_works[index];
    const run_level_power *power = &d->powers[d->num_levels - 1];
    if (store == run->store) yoke_store_remove_outdated(store, work->name, d->info->name, d->info->description, work->kernel);
    const yoke_store_entry *old = yoke_store_find(store, work->name, d->info->name, d->info->description, work->kernel, NULL);
    const int own = store != run->store || work->learned[device];
    int top = d->num_levels - 1, measured = !run->declared && !isnan(power->idle_w) && power->busy_s > 0;
    double of_power = NAN, dynamic_w = run_dynamic_w(run, device, top, &of_power), idle_w = measured ? power->idle_w : (double)NAN,
           busy_w = measured ? power->idle_w + dynamic_w : (double)NAN;
    int has_copies = !isnan(d->copy_seconds_per_byte);
    yoke_energy_kind kind = measured ? run_power_kind(run, device) : YOKE_ENERGY_NONE;
    if (kind == YOKE_ENERGY_NONE && old != NULL) kind = old->power_kind;
    yoke_store_power powers[RUN_MAX_STORED];
    void *samples = NULL;
    if (!run_is_measured(run, index, device) || (!own && (old == NULL || !run->powers_measured))) return YOKE_OK;
    int count = fill_samples(run, index, device, own, old, NULL);
    yoke_status status = yoke_allocate(run->context, count, sizeof(yoke_sample), &samples);
    if (status != YOKE_OK) return status;
    (void)fill_samples(run, index, device, own, old, samples);
    const yoke_store_entry entry = {.work = work->name,
                                    .device = d->info->name,
                                    .description = d->info->description,
                                    .kernel = work->kernel,
                                    .num_samples = count,
                                    .samples = samples,
                                    .idle_power_w = measured || old == NULL ? idle_w : old->idle_power_w,
                                    .idle_power_interval_w = measured      ? power->idle_uncertainty_w
                                                             : old == NULL ? (double)NAN
                                                                           : old->idle_power_interval_w,
                                    .busy_power_w = measured || old == NULL ? busy_w : old->busy_power_w,
                                    .busy_power_interval_w = measured      ? hypot(power->idle_uncertainty_w, of_power * dynamic_w)
                                                             : old == NULL ? (double)NAN
                                                                           : old->busy_power_interval_w,
                                    .copy_start_s = has_copies    ? d->copy_start_s
                                                    : old == NULL ? (double)NAN
                                                                  : old->copy_start_s,
                                    .copy_seconds_per_byte = has_copies    ? d->copy_seconds_per_byte
                                                             : old == NULL ? (double)NAN
                                                                           : old->copy_seconds_per_byte,
                                    .power_kind = kind,
                                    .num_powers = run_give_powers(run, device, old, powers),
                                    .powers = powers,
                                    .disturbed = work->disturbed[device]};
    status = yoke_store_put(store, &entry);
    yoke_release(run->context, samples);
    return status;
}

static yoke_status put_entries(yoke_run *run, yoke_store *store)
{
    yoke_status status = YOKE_OK;
    for (int64_t w = 0; w < run->num_works && status == YOKE_OK; w++)
        for (int i = 0; i < run->num_devices && status == YOKE_OK; i++)
            if (run->run_works[w].name[0] != '\0') status = put_entry(run, store, (int)w, i);
    return status;
}

yoke_status yoke_run_known(yoke_run *run, char **text)
{
    yoke_store *store = NULL;
    if (run == NULL || text == NULL)
        return yoke_fail(run != NULL ? run->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_run_known: an argument is NULL");
    yoke_status status = yoke_store_open_text(run->context, NULL, "", run->options.machine, &store, NULL);
    if (status == YOKE_OK) status = put_entries(run, store);
    if (status == YOKE_OK) status = yoke_store_text(store, text);
    yoke_store_close(store);
    return status;
}

yoke_status yoke_run_save(yoke_run *run, const char **path)
{
    if (run == NULL || run->store == NULL)
        return yoke_fail(run != NULL ? run->context : NULL, YOKE_ERROR_ARGUMENT,
                         "yoke_run_save: the run has no store; name one in its options");
    yoke_status status = yoke_store_lock(run->store);
    if (status == YOKE_OK) status = put_entries(run, run->store);
    if (status == YOKE_OK) status = yoke_store_write(run->store);
    yoke_store_unlock(run->store);
    run->unsaved = status != YOKE_OK;
    if (status != YOKE_OK) return status;
    run->rounds_saved = run->rounds;
    run->calibrated = 0;
    for (int64_t w = 0; w < run->num_works; w++) memset(run->run_works[w].learned, 0, (size_t)run->num_devices * sizeof(int));
    if (path != NULL) *path = yoke_store_path(run->store);
    return YOKE_OK;
}

/* The model at the highest frequency: beside others, if that was measured, else alone. */
static const speed_model *top_model(const yoke_run *run, int work, int device)
{
    const speed_model *beside = run_model(run, work, device, run->devices[device].num_levels - 1, 1);
    return beside->points > 0 ? beside : run_model(run, work, device, run->devices[device].num_levels - 1, 0);
}

yoke_status run_show_balancer(yoke_run *run, int work, yoke_balancer *balancer, int64_t n, int64_t *units, int *rounds)
{
    yoke_share_report reports[RUN_MAX_DEVICES];
    yoke_status status = YOKE_OK;
    *rounds = 0;
    for (int i = 0; i < run->num_devices; i++) {
        int points = top_model(run, work, i)->points;
        if (points > *rounds) *rounds = points;
    }
    for (int r = 0; r < *rounds && status == YOKE_OK; r++) {
        for (int i = 0; i < run->num_devices; i++) {
            const speed_model *model = top_model(run, work, i);
            int k = r - (*rounds - model->points); /* all devices reach their last point in the last round */
            reports[i] = (yoke_share_report){.units = k >= 0 ? (int64_t)fmax(1, model->point[k].units) : 0,
                                             .seconds = k >= 0 ? model->point[k].seconds : (double)NAN,
                                             .moved_s = NAN,
                                             .energy_j = NAN};
        }
        status = yoke_balancer_update(balancer, reports, n, units);
    }
    return status;
}
