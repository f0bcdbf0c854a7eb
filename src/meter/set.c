#include "meter/set.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "meter/select.h"

/* ------------------------------------------------------------------------------------------------- finding */

/* A domain with numbers that cannot be used is not usable. */
static void check_domain(meter_domain *domain)
{
    char why[METER_WHY_BYTES];
    domain->info.integrated = domain->quantity == METER_POWER || domain->info.integrated;
    if (!domain->info.usable || meter_track_check(domain, why)) return;
    domain->info.usable = 0;
    snprintf(domain->info.why_not, sizeof domain->info.why_not, "%s", why);
    domain->info.remedy[0] = '\0';
}

/* Terminates all texts; all later code relies on this. */
static void end_texts(yoke_meter_info *info)
{
#define END(text) info->text[sizeof info->text - 1] = '\0'
    END(name);
    END(kind);
    END(description);
    END(covers);
    END(parent);
    END(pci);
    END(why_not);
    END(remedy);
#undef END
}

yoke_status meter_find(const meter_site *site, const meter_kind *const *kinds, int64_t num_kinds, meter_list *list)
{
    *list = (meter_list){.context = site->context};
    for (int64_t i = 0; i < num_kinds; i++) {
        yoke_status status = kinds[i]->find(site, list);
        if (status != YOKE_OK) {
            meter_list_clear(list);
            return status;
        }
    }
    for (int64_t i = 0; i < list->count; i++) {
        end_texts(&list->domains[i].info);
        check_domain(&list->domains[i]);
    }
    return YOKE_OK;
}

yoke_status meter_list_count(meter_list *list, const char *sole)
{
    void *chosen = NULL;
    yoke_status status = yoke_allocate(list->context, list->count, 1, &chosen);
    if (status == YOKE_OK) status = meter_select(list->context, list, NULL, sole, chosen);
    if (status == YOKE_OK) meter_select_counted(list, chosen);
    yoke_release(list->context, chosen);
    return status;
}

/* ------------------------------------------------------------------------------------------------- opening */

/* Moves a domain from the list to the set. */
static yoke_status add_member(meter_set *set, meter_domain *domain)
{
    meter_member *member = &set->members[set->count];
    if (pthread_mutex_init(&member->lock, NULL) != 0)
        return yoke_fail(set->context, YOKE_ERROR_SYSTEM, "a lock cannot be made for the meter %s; the system is out of resources",
                         domain->info.name);
    member->domain = *domain;
    domain->state = NULL;
    domain->close = NULL;
    meter_track_start(&member->track, &member->domain);
    member->interval_s = meter_track_interval_s(&member->track);
    set->infos[set->count++] = member->domain.info;
    return YOKE_OK;
}

static yoke_status add_members(meter_set *set, meter_list *list, const unsigned char *chosen)
{
    int64_t count = 0;
    void *members = NULL, *infos = NULL;
    for (int64_t i = 0; i < list->count; i++) count += chosen[i];
    yoke_status status = yoke_allocate(set->context, count, sizeof(meter_member), &members);
    if (status != YOKE_OK) return status;
    set->members = members;
    status = yoke_allocate(set->context, count, sizeof(yoke_meter_info), &infos);
    set->infos = infos;
    for (int64_t i = 0; status == YOKE_OK && i < list->count; i++)
        if (chosen[i]) status = add_member(set, &list->domains[i]);
    return status;
}

/* Keeps the information on domains that were found but not chosen. */
static yoke_status keep_others(meter_set *set, const meter_list *list, const unsigned char *chosen)
{
    void *others = NULL;
    yoke_status status = yoke_allocate(set->context, list->count - set->count, sizeof(yoke_meter_info), &others);
    if (status != YOKE_OK) return status;
    set->others = others;
    for (int64_t i = 0; i < list->count; i++)
        if (!chosen[i]) set->others[set->num_others++] = list->domains[i].info;
    return YOKE_OK;
}

/* Fills the set with the chosen domains; the list keeps the others. */
static yoke_status fill(meter_set *set, meter_list *list, const meter_set_options *options)
{
    void *chosen = NULL;
    yoke_status status = yoke_allocate(set->context, list->count, 1, &chosen);
    if (status != YOKE_OK) return status;
    status = meter_select(set->context, list, options->select, options->sole, chosen);
    if (status == YOKE_OK) {
        meter_select_counted(list, chosen);
        meter_select_lacks(list, chosen, set->lacks);
        status = add_members(set, list, chosen);
    }
    if (status == YOKE_OK) status = keep_others(set, list, chosen);
    yoke_release(set->context, chosen);
    return status;
}

/* Takes the first reading of each meter, at which counting starts.  A meter whose reading fails may succeed later. */
static yoke_status begin(meter_set *set, double probe_s)
{
    double suspended_s = meter_set_suspended_s(set);
    for (int64_t i = 0; i < set->count; i++) {
        pthread_mutex_lock(&set->members[i].lock);
        meter_set_read(set, &set->members[i], suspended_s);
        pthread_mutex_unlock(&set->members[i].lock);
    }
    if (probe_s > 0) meter_watch_probe(set, probe_s);
    return meter_watch_start(set);
}

static yoke_status create(const meter_site *site, meter_set **set)
{
    void *memory = NULL;
    yoke_status status = yoke_allocate(site->context, 1, sizeof(meter_set), &memory);
    if (status != YOKE_OK) return status;
    meter_set *made = memory;
    made->context = site->context;
    made->time = site->time;
    if (pthread_mutex_init(&made->lock, NULL) != 0) {
        yoke_release(site->context, memory);
        return yoke_fail(site->context, YOKE_ERROR_SYSTEM, "a lock cannot be made for the meters; the system is out of resources");
    }
    *set = made;
    return YOKE_OK;
}

yoke_status meter_set_open(const meter_site *site, const meter_kind *const *kinds, int64_t num_kinds, const meter_set_options *options,
                           meter_set **set)
{
    meter_list list;
    meter_set *made = NULL;
    yoke_status status = create(site, &made);
    if (status != YOKE_OK) return status;
    status = meter_find(site, kinds, num_kinds, &list);
    if (status == YOKE_OK) {
        status = fill(made, &list, options);
        meter_list_clear(&list);
    }
    if (status == YOKE_OK) status = begin(made, options->probe_s);
    if (status != YOKE_OK) {
        meter_set_close(made);
        return status;
    }
    *set = made;
    return YOKE_OK;
}

void meter_set_close(meter_set *set)
{
    if (set == NULL) return;
    yoke_context *context = set->context;
    meter_watch_stop(set);
    for (int64_t i = 0; i < set->count; i++) {
        meter_domain *domain = &set->members[i].domain;
        if (domain->close != NULL) domain->close(domain->state);
        pthread_mutex_destroy(&set->members[i].lock);
    }
    meter_regions_release(set);
    yoke_release(context, set->members);
    yoke_release(context, set->infos);
    yoke_release(context, set->others);
    pthread_mutex_destroy(&set->lock);
    yoke_release(context, set);
}

/* ------------------------------------------------------------------------------------------------- reading */

double meter_set_suspended_s(const meter_set *set) { return set->time->suspended_s != NULL ? set->time->suspended_s(set->time->user) : 0; }

void meter_set_read(meter_set *set, meter_member *member, double suspended_s)
{
    char why[METER_WHY_BYTES];
    meter_sample sample = {0};
    meter_result result = METER_FAILED;
    if (member->track.gone) return; /* the driver of a lost device may hang */
    /* A reading that failed may succeed immediately afterwards. */
    for (int attempt = 0; attempt < 2 && result == METER_FAILED; attempt++) {
        why[0] = '\0';
        double now_s = set->time->now_s(set->time->user);
        sample = (meter_sample){.time_s = NAN, .power_w = NAN, .energy_j = NAN};
        result = member->domain.read(member->domain.state, &sample, why);
        if (isnan(sample.time_s)) sample.time_s = now_s;
        sample.took_s = set->time->now_s(set->time->user) - now_s;
    }
    why[sizeof why - 1] = '\0';
    meter_track_sample(&member->track, result, &sample, suspended_s, why);
}

void meter_set_poll(meter_set *set)
{
    double suspended_s = meter_set_suspended_s(set);
    for (int64_t i = 0; i < set->count; i++) {
        meter_member *member = &set->members[i];
        if (isinf(member->interval_s)) continue;
        pthread_mutex_lock(&member->lock);
        meter_set_read(set, member, suspended_s);
        pthread_mutex_unlock(&member->lock);
    }
}

double meter_set_interval_s(const meter_set *set)
{
    double min_s = INFINITY;
    for (int64_t i = 0; i < set->count; i++) min_s = fmin(min_s, set->members[i].interval_s);
    return min_s;
}
