#include "frequency/frequency.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "meter/vendor/nvml.h"

/* ---------------------------------------------------------------------------------------------------- list */

yoke_status frequency_list_add(frequency_list *list, const frequency_entry *entry)
{
    yoke_status status = yoke_grow(list->context, &list->entries, list->count, &list->capacity, 4, sizeof *list->entries);
    if (status != YOKE_OK) {
        if (entry->state != NULL) entry->functions->close(entry->state);
        return status;
    }
    list->entries[list->count++] = *entry;
    return YOKE_OK;
}

void frequency_list_clear(frequency_list *list)
{
    for (int64_t i = 0; i < list->count; i++)
        if (list->entries[i].state != NULL) list->entries[i].functions->close(list->entries[i].state);
    yoke_release(list->context, list->entries);
    *list = (frequency_list){.context = list->context};
}

void frequency_entry_start(frequency_entry *entry, const char *kind, const char *name)
{
    memset(entry, 0, sizeof *entry);
    yoke_frequency_info *info = &entry->info;
    snprintf(info->kind, sizeof info->kind, "%s", kind);
    snprintf(info->name, sizeof info->name, "%s", name);
    info->current_hz = info->min_hz = info->max_hz = NAN;
}

void frequency_entry_refuse(frequency_entry *entry, const char *why_not, const char *remedy)
{
    entry->info.settable = 0;
    snprintf(entry->info.why_not, sizeof entry->info.why_not, "%s", why_not);
    snprintf(entry->info.remedy, sizeof entry->info.remedy, "%s", remedy);
}

yoke_status frequencies_find(const meter_site *site, frequency_list *list)
{
    char program[FREQUENCY_PATH_BYTES], why[METER_WHY_BYTES];
    yoke_status status = frequency_cpufreq_find(site, list);
    if (status == YOKE_OK) status = frequency_nvml_find(site, list);
    if (status != YOKE_OK || frequency_guard_find(program, why)) return status;
    /* A frequency that could not be restored must not be changed. */
    for (int64_t i = 0; i < list->count; i++)
        if (list->entries[i].info.settable)
            frequency_entry_refuse(&list->entries[i], why, "install yoke (make install), or set YOKE_CLOCK_GUARD to the program's path");
    return YOKE_OK;
}

/* ----------------------------------------------------------------------------------------------------- set */

typedef struct frequency_set {
    yoke_frequencies shown; /* first, so that a pointer to it is a pointer to the whole set */
    yoke_context *context;
    meter_site site;
    char root[FREQUENCY_PATH_BYTES];
    double settle_s;
    frequency_list list;
    frequency_book book; /* the settings that the guard has accepted to restore */
    frequency_guard guard;
    yoke_frequency_info *infos; /* the array of `shown` */
    int lock;                   /* -1: the frequencies are simulated */
} frequency_set;

/* Fills the public view of the frequencies. */
static yoke_status show(frequency_set *set)
{
    void *infos = NULL;
    yoke_status status = yoke_allocate(set->context, set->list.count, sizeof(yoke_frequency_info), &infos);
    if (status != YOKE_OK) return status;
    for (int64_t i = 0; i < set->list.count; i++) ((yoke_frequency_info *)infos)[i] = set->list.entries[i].info;
    set->infos = infos;
    set->shown = (yoke_frequencies){.infos = infos, .count = set->list.count};
    return YOKE_OK;
}

yoke_status frequencies_open(const meter_site *site, double settle_s, yoke_frequencies **frequencies)
{
    void *memory = NULL;
    if (strlen(site->root) >= FREQUENCY_PATH_BYTES)
        return yoke_fail(site->context, YOKE_ERROR_INPUT, "the root directory's path is longer than %d bytes", FREQUENCY_PATH_BYTES - 1);
    yoke_status status = yoke_allocate(site->context, 1, sizeof(frequency_set), &memory);
    if (status != YOKE_OK) return status;
    frequency_set *set = memory;
    memcpy(set->root, site->root, strlen(site->root) + 1);
    set->context = set->list.context = set->book.context = set->guard.context = site->context;
    set->site = *site;
    set->site.root = set->root;
    set->settle_s = settle_s;
    set->guard.socket = -1;
    status = frequency_lock_take(&set->site, &set->lock);
    if (status == YOKE_OK) {
        status = frequencies_find(&set->site, &set->list);
        if (status == YOKE_OK) status = show(set);
        if (status != YOKE_OK) {
            frequency_list_clear(&set->list);
            close(set->lock);
        }
    }
    if (status != YOKE_OK) {
        yoke_release(site->context, set);
        return status;
    }
    *frequencies = &set->shown;
    return YOKE_OK;
}

yoke_status frequencies_open_simulated(yoke_context *context, frequency_list *list, yoke_frequencies **frequencies)
{
    void *memory = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof(frequency_set), &memory);
    if (status != YOKE_OK) {
        frequency_list_clear(list);
        return status;
    }
    frequency_set *set = memory;
    *set = (frequency_set){.context = context, .list = *list, .book = {.context = context}, .guard = {.socket = -1}, .lock = -1};
    status = show(set);
    if (status == YOKE_OK) {
        *frequencies = &set->shown;
        return YOKE_OK;
    }
    frequency_list_clear(&set->list);
    yoke_release(context, set);
    return status;
}

static void report_loss(void *user, const char *text)
{
    const frequency_set *set = user;
    yoke_log(set->context, YOKE_LOG_ERROR, "a frequency could not be restored: %s", text);
}

/* Restores settings in this process, because the guard has ended. */
static void restore_here(frequency_set *set)
{
    yoke_nvml nvml;
    int gpus = 0;
    for (int64_t i = 0; i < set->book.count; i++) gpus += set->book.entries[i].place == FREQUENCY_OF_GPU;
    int loaded = gpus > 0 && yoke_nvml_load(&set->site, &nvml);
    frequency_book_restore(&set->book, loaded ? &nvml : NULL, report_loss, set);
    if (loaded) yoke_nvml_unload(&nvml);
}

void frequencies_close(yoke_frequencies *shown)
{
    frequency_set *set = (frequency_set *)shown;
    int done = frequency_guard_finish(&set->guard, report_loss, set);
    if (!done && set->book.count > 0) {
        yoke_log(set->context, YOKE_LOG_WARNING, "yoke-clock-guard has ended before its time; frequencies are restored without it");
        restore_here(set);
    }
    frequency_list_clear(&set->list);
    frequency_book_clear(&set->book);
    yoke_release(set->context, set->infos);
    if (set->lock >= 0) close(set->lock);
    yoke_release(set->context, set);
}

/* Saves the present settings of the domain, and waits until the guard has accepted to restore them. */
static yoke_status promise(frequency_set *set, frequency_entry *entry)
{
    int64_t first = set->book.count;
    yoke_status status = entry->functions->save(entry, &set->book);
    if (set->lock < 0) return status;
    if (status == YOKE_OK && !frequency_guard_lives(&set->guard)) {
        if (set->guard.socket >= 0) {
            yoke_log(set->context, YOKE_LOG_WARNING, "yoke-clock-guard has ended before its time; another is started");
            close(set->guard.socket);
            set->guard.socket = -1;
        }
        status = frequency_guard_start(set->context, set->root, set->lock, &set->guard);
        if (status == YOKE_OK) status = frequency_guard_tell(&set->guard, &set->book, 0);
    } else if (status == YOKE_OK && set->book.count > first)
        status = frequency_guard_tell(&set->guard, &set->book, first);
    if (status != YOKE_OK) set->book.count = first; /* none of these settings was changed */
    return status;
}

/* Reverts a change that failed for some of the cores, on all cores. */
static void take_back(frequency_set *set)
{
    for (int64_t i = 0; i < set->book.count; i++) {
        const frequency_saved *saved = &set->book.entries[i];
        char why[METER_WHY_BYTES];
        int error;
        if (saved->place == FREQUENCY_OF_POLICY && !frequency_policy_apply(saved->where, &saved->setting, why, &error))
            report_loss(set, why);
    }
}

/*
 * Reads until the frequency is reached, or settle_s have passed.  It does not sleep in between, because the frequency of an idle core has
 * no meaning.
 */
static double settle(const frequency_set *set, frequency_entry *entry)
{
    double end_s = yoke_clock_s() + set->settle_s, asked_hz, hz;
    for (;;) {
        hz = entry->functions->read(entry, &asked_hz);
        if (!isfinite(hz) || fabs(hz - asked_hz) <= 0.02 * asked_hz + entry->tolerance_hz) return hz;
        if (yoke_clock_s() >= end_s) break;
    }
    char why[METER_WHY_BYTES];
    entry->functions->why(entry, why);
    yoke_log(set->context, YOKE_LOG_WARNING, "%s was asked for %.4g GHz and runs at %.4g GHz after %g s: %s", entry->info.name,
             asked_hz / 1e9, hz / 1e9, set->settle_s, why);
    return hz;
}

static yoke_status find_entry(frequency_set *set, const char *name, frequency_entry **entry)
{
    char names[512] = "";
    size_t length = 0;
    for (int64_t i = 0; i < set->list.count; i++) {
        const char *known = set->list.entries[i].info.name;
        *entry = &set->list.entries[i];
        if (strcmp(known, name) == 0) return YOKE_OK;
        if (length + strlen(known) + 3 > sizeof names) continue;
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", length > 0 ? ", " : "", known);
    }
    return yoke_fail(set->context, YOKE_ERROR_INPUT, "there is no frequency '%.64s' to set; there are: %s", name, names);
}

yoke_status frequencies_set(yoke_frequencies *shown, const char *name, double hz, double *reached_hz)
{
    frequency_set *set = (frequency_set *)shown;
    frequency_entry *entry = NULL;
    yoke_status status = find_entry(set, name, &entry);
    if (status != YOKE_OK) return status;
    const yoke_frequency_info *info = &entry->info;
    if (!info->settable)
        return yoke_fail(set->context, YOKE_ERROR_UNAVAILABLE, "the frequency of %s cannot be set: %s%s%s", name, info->why_not,
                         info->remedy[0] != '\0' ? "; " : "", info->remedy);
    /* A small margin, so that a printed limit can be requested. */
    int inside = hz > 0 && hz < 1e12 && !(hz < info->min_hz * (1 - 1e-3)) && !(hz > info->max_hz * (1 + 1e-3));
    if (!inside)
        return yoke_fail(set->context, YOKE_ERROR_INPUT, "the frequency of %s cannot be set to %g GHz: its range is %.4g to %.4g GHz", name,
                         hz / 1e9, info->min_hz / 1e9, info->max_hz / 1e9);
    status = promise(set, entry);
    if (status != YOKE_OK) return status;
    entry->functions->mark(entry);
    status = entry->functions->set(entry, hz);
    if (status != YOKE_OK) {
        if (strcmp(info->kind, "cpufreq") == 0) take_back(set);
        return status;
    }
    double reached = settle(set, entry);
    if (reached_hz != NULL) *reached_hz = reached;
    return YOKE_OK;
}
