/* profile_ranks.c - energy of the kernels on all ranks. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adapt/distribution/private.h"

/* A row, as it is sent to other ranks. */
typedef struct row_message {
    yoke_run_profile row;
    int rank, has_kernel;
    char kernel[48], why_not[256], device[64];
} row_message;

/* own_j, all_j: energy of the solves by this rank's meters, and by those of all ranks. */
static void fill(const fem_distribution *d, const yoke_run_profile *row, double own_j, double all_j, row_message *message)
{
    memset(message, 0, sizeof *message);
    message->row = *row;
    message->row.kernel = message->row.why_not = NULL;
    message->row.part = row->part * own_j / all_j;
    message->rank = app_ranks_number(d->options.ranks);
    message->has_kernel = row->kernel != NULL;
    snprintf(message->kernel, sizeof message->kernel, "%s", row->kernel ? row->kernel : "");
    snprintf(message->why_not, sizeof message->why_not, "%s", row->why_not);
    snprintf(message->device, sizeof message->device, "%s", d->names[row->device]);
}

/* Allocates the arrays that a profile with this many rows borrows. */
static yoke_status make_room(fem_distribution *d, int64_t count)
{
    yoke_release(d->context, d->profile_rows);
    yoke_release(d->context, d->profile_names);
    yoke_release(d->context, d->profile_ranks);
    d->profile_rows = NULL;
    d->profile_names = NULL;
    d->profile_ranks = NULL;
    yoke_status status = yoke_allocate(d->context, count, sizeof *d->profile_rows, &d->profile_rows);
    if (!status) status = yoke_allocate(d->context, count, sizeof *d->profile_names, &d->profile_names);
    return status ? status : yoke_allocate(d->context, count, sizeof *d->profile_ranks, &d->profile_ranks);
}

static yoke_status gather_rows(fem_distribution *d, const yoke_run_profile *rows, int64_t count, fem_profile *profile)
{
    app_ranks *ranks = d->options.ranks;
    row_message *own = NULL;
    int64_t bytes = 0;
    double all_j = d->counts ? d->all_j : 0;
    app_ranks_sum(ranks, &all_j, 1);
    yoke_status status = app_ranks_agree(ranks, yoke_allocate(d->context, count, sizeof *own, &own));
    for (int64_t i = 0; i < count && !status; i++) fill(d, &rows[i], d->all_j, all_j, &own[i]);
    yoke_release(d->context, d->profile_messages);
    d->profile_messages = NULL;
    if (!status) status = app_ranks_collect(ranks, own, count * (int64_t)sizeof *own, &d->profile_messages, &bytes);
    yoke_release(d->context, own);
    profile->count = bytes / (int64_t)sizeof *own;
    if (!status) status = app_ranks_agree(ranks, make_room(d, profile->count));
    if (status) return status;
    for (int64_t i = 0; i < profile->count; i++) {
        const row_message *message = (const row_message *)d->profile_messages + i;
        d->profile_rows[i] = message->row;
        d->profile_rows[i].kernel = message->has_kernel ? message->kernel : NULL;
        d->profile_rows[i].why_not = message->why_not;
        d->profile_names[i] = message->device;
        d->profile_ranks[i] = message->rank;
        d->profile_rows[i].device = i;
    }
    /* Rows of the same device get the same number, so that they are reported together. */
    for (int64_t i = 1; i < profile->count; i++)
        if (d->profile_ranks[i] == d->profile_ranks[i - 1] && !strcmp(d->profile_names[i], d->profile_names[i - 1]))
            d->profile_rows[i].device = d->profile_rows[i - 1].device;
    profile->rows = d->profile_rows;
    profile->names = d->profile_names;
    profile->ranks = d->profile_ranks;
    return YOKE_OK;
}

yoke_status fem_distribution_profile(fem_distribution *d, fem_profile *profile)
{
    const yoke_run_profile *rows = NULL;
    int64_t count = 0;
    *profile = (fem_profile){.names = d->names};
    yoke_status status = yoke_run_profile_get(d->run, &rows, &count);
    if (app_ranks_count(d->options.ranks) == 1) {
        profile->rows = rows;
        profile->count = count;
        return status;
    }
    status = app_ranks_agree(d->options.ranks, status);
    return status ? status : gather_rows(d, rows, count, profile);
}
