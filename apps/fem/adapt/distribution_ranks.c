/* distribution_ranks.c - what a step's record has of all ranks, and how many elements each rank is to get next. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adapt/distribution_private.h"

/* Ranks whose speeds are as near to each other as this get equal parts: times are noisy, and equal parts are the same in each run. */
static const double alike = 1.25;

/* A part on its way to the other ranks. */
typedef struct part_message {
    fem_part_record part;
    char device[64];
} part_message;

/* The parts of all ranks in their order. */
static yoke_status gather_parts(fem_distribution *d, fem_step_record *record)
{
    const int rank = app_ranks_number(d->options.ranks);
    part_message own[FEM_MAX_DEVICES];
    void *all = NULL;
    int64_t bytes = 0;
    memset(own, 0, sizeof own);
    for (int i = 0; i < d->num_parts; i++) {
        own[i].part = d->parts[i];
        own[i].part.rank = rank;
        snprintf(own[i].device, sizeof own[i].device, "%s", d->parts[i].device);
    }
    d->first_part = (int)app_ranks_offset(d->options.ranks, d->num_parts, NULL);
    yoke_status status = app_ranks_collect(d->options.ranks, own, d->num_parts * (int64_t)sizeof *own, &all, &bytes);
    if (status) return status;
    const int count = (int)(bytes / (int64_t)sizeof *own);
    yoke_release(d->context, d->messages);
    yoke_release(d->context, d->all_parts);
    d->messages = all;
    d->all_parts = NULL;
    status = app_ranks_agree(d->options.ranks, yoke_allocate(d->context, count, sizeof *d->all_parts, &d->all_parts));
    if (status) return status;
    for (int i = 0; i < count; i++) {
        part_message *message = (part_message *)d->messages + i;
        d->all_parts[i] = message->part;
        d->all_parts[i].device = message->device;
    }
    record->num_parts = count;
    record->parts = d->all_parts;
    return YOKE_OK;
}

/* Elements in a second of the finest products, by the slowest of the rank's devices; NaN: not known. */
static double speed_of(const fem_step_record *record, int rank)
{
    double elements = 0, seconds = 0;
    for (int i = 0; i < record->num_parts; i++) {
        const fem_part_record *part = &record->parts[i];
        if (part->rank != rank) continue;
        elements += (double)part->elements;
        if (!(part->seconds_per_product <= seconds)) seconds = part->seconds_per_product; /* also NaN */
    }
    return seconds > 0 ? elements / seconds : (double)NAN;
}

/* Equal shares as long as not all speeds are known, or where they are alike. */
static void decide_shares(fem_distribution *d, const fem_step_record *record)
{
    const int count = app_ranks_count(d->options.ranks);
    double least = INFINITY, most = 0;
    d->shares_known = 0;
    for (int rank = 0; rank < count; rank++) {
        double speed = speed_of(record, rank);
        if (!isfinite(speed)) return;
        d->share[rank] = speed;
        least = fmin(least, speed);
        most = fmax(most, speed);
    }
    d->shares_known = most > alike * least;
}

yoke_status fem_distribution_report_ranks(fem_distribution *d, fem_step_record *record)
{
    app_ranks *ranks = d->options.ranks;
    if (app_ranks_count(ranks) == 1) return YOKE_OK;
    double elements[2] = {0, 0}, seconds[5] = {record->setup_s, record->solve_s, record->measured_time_s, record->measured_product_s,
                                               record->predicted_product_s};
    for (int i = 0; i < d->num_parts; i++) elements[0] += (double)d->parts[i].elements;
    if (elements[0] > 0) elements[1] = record->gpu_share * elements[0];
    app_ranks_sum(ranks, elements, 2);
    for (int i = 0; i < 5; i++) seconds[i] = isnan(seconds[i]) ? -1 : seconds[i];
    app_ranks_max(ranks, seconds, 5);
    double *const to[5] = {&record->setup_s, &record->solve_s, &record->measured_time_s, &record->measured_product_s,
                           &record->predicted_product_s};
    for (int i = 0; i < 5; i++) *to[i] = seconds[i] < 0 ? (double)NAN : seconds[i];
    record->gpu_share = elements[1] / elements[0];
    record->share = elements[1] == 0 ? FEM_SHARE_CPU : elements[1] == elements[0] ? FEM_SHARE_GPU : FEM_SHARE_BOTH;
    /* Energy of several ranks is not added up: their meters may be the same. */
    record->measured_energy_j = record->measured_product_j = record->predicted_energy_j = record->predicted_product_j = NAN;
    record->energy_with_l_j = NAN;
    record->energy_kind = NULL;
    record->num_weighed = 0;
    yoke_status status = gather_parts(d, record);
    if (!status) decide_shares(d, record);
    return status;
}

const double *fem_distribution_shares(const fem_distribution *d) { return d->shares_known ? d->share : NULL; }
