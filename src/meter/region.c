/* Energy from the beginning of a region to its end, summed over meters. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "meter/set.h"

struct yoke_region {
    meter_set *set;
    yoke_region *next; /* next of those that are kept for reuse */
    double begin_s;
    meter_mark marks[]; /* one for each meter */
};

/* ------------------------------------------------------------------------------------------------- memory */

static yoke_status take(meter_set *set, yoke_region **region)
{
    pthread_mutex_lock(&set->lock);
    yoke_region *got = set->regions;
    yoke_status status = YOKE_OK;
    if (got != NULL)
        set->regions = got->next;
    else {
        void *memory = NULL;
        status = yoke_allocate(set->context, 1, sizeof(yoke_region) + (size_t)set->count * sizeof(meter_mark), &memory);
        got = memory;
    }
    pthread_mutex_unlock(&set->lock);
    if (status != YOKE_OK) return status;
    got->set = set;
    *region = got;
    return YOKE_OK;
}

static void give_back(yoke_region *region)
{
    meter_set *set = region->set;
    pthread_mutex_lock(&set->lock);
    region->next = set->regions;
    set->regions = region;
    pthread_mutex_unlock(&set->lock);
}

void meter_regions_release(meter_set *set)
{
    while (set->regions != NULL) {
        yoke_region *region = set->regions;
        set->regions = region->next;
        yoke_release(set->context, region);
    }
}

/* -------------------------------------------------------------------------------------------------- total */

/* Rank of a kind of energy below a measurement. */
static int weakness(yoke_energy_kind kind)
{
    switch (kind) {
    case YOKE_ENERGY_MEASURED:
        return 0;
    case YOKE_ENERGY_REPLAYED:
        return 1;
    case YOKE_ENERGY_SIMULATED:
        return 2;
    case YOKE_ENERGY_ESTIMATED:
        return 3;
    case YOKE_ENERGY_NONE:
        break;
    }
    return 4;
}

typedef struct summing {
    int64_t counted, missing;
    double value_j, uncertainty_j;
    yoke_energy_kind kind;
    const char *missing_name;
    char missing_why[METER_WHY_BYTES];
} summing;

static void sum_one(summing *sum, const yoke_meter_info *info, const yoke_energy *energy)
{
    if (!info->counted) return;
    if (isnan(energy->value_j)) {
        if (sum->missing++ > 0) return;
        sum->missing_name = info->name;
        snprintf(sum->missing_why, sizeof sum->missing_why, "%s", energy->why_not);
        return;
    }
    if (sum->counted++ == 0 || weakness(energy->kind) > weakness(sum->kind)) sum->kind = energy->kind;
    sum->value_j += energy->value_j;
    sum->uncertainty_j += energy->uncertainty_j;
}

static void finish_sum(const meter_set *set, const summing *sum, yoke_energy *total)
{
    *total = (yoke_energy){.value_j = NAN, .uncertainty_j = NAN, .kind = YOKE_ENERGY_NONE};
    if (sum->missing > 0) {
        /* The end is written first, since a long name and reason are truncated. */
        char others[96] = "", more[32] = "";
        if (sum->counted > 0) snprintf(others, sizeof others, "; the other %lld sum to %.6g J", (long long)sum->counted, sum->value_j);
        if (sum->missing > 1) snprintf(more, sizeof more, " and %lld more", (long long)sum->missing - 1);
        snprintf(total->why_not, sizeof total->why_not, "%.63s%.20s: %.115s%.54s", sum->missing_name, more, sum->missing_why, others);
        return;
    }
    snprintf(total->why_not, sizeof total->why_not, "%s", set->lacks);
    if (sum->counted == 0) {
        if (total->why_not[0] == '\0') snprintf(total->why_not, sizeof total->why_not, "no meter is counted");
        return;
    }
    total->value_j = sum->value_j;
    total->uncertainty_j = sum->uncertainty_j;
    total->kind = sum->kind;
}

/* ------------------------------------------------------------------------------------------------ regions */

yoke_status meter_region_begin(meter_set *set, yoke_region **region)
{
    yoke_region *begun = NULL;
    yoke_status status = take(set, &begun);
    if (status != YOKE_OK) return status;
    double suspended_s = set->count > 0 ? meter_set_suspended_s(set) : 0;
    for (int64_t i = 0; i < set->count; i++) {
        meter_member *member = &set->members[i];
        pthread_mutex_lock(&member->lock);
        meter_set_read(set, member, suspended_s);
        meter_track_mark(&member->track, &begun->marks[i]);
        pthread_mutex_unlock(&member->lock);
    }
    begun->begin_s = set->time->now_s(set->time->user);
    *region = begun;
    return YOKE_OK;
}

yoke_status meter_region_end(yoke_region *region, double *seconds, yoke_energy *energies, yoke_energy *total)
{
    meter_set *set = region->set;
    double length_s = set->time->now_s(set->time->user) - region->begin_s;
    double suspended_s = set->count > 0 ? meter_set_suspended_s(set) : 0;
    summing sum = {.kind = YOKE_ENERGY_NONE};
    for (int64_t i = 0; i < set->count; i++) {
        meter_member *member = &set->members[i];
        yoke_energy energy;
        pthread_mutex_lock(&member->lock);
        meter_set_read(set, member, suspended_s);
        meter_track_energy(&member->track, &region->marks[i], length_s, &energy);
        pthread_mutex_unlock(&member->lock);
        sum_one(&sum, &set->infos[i], &energy);
        if (energies != NULL) energies[i] = energy;
    }
    if (seconds != NULL) *seconds = length_s;
    if (total != NULL) finish_sum(set, &sum, total);
    give_back(region);
    return YOKE_OK;
}
