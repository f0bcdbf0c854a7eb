/* ranks/single.c - ranks of a program that was built without MPI: there is only one. */
#include <stdlib.h>
#include <string.h>

#include "common/console/interrupt.h"
#include "common/ranks/ranks.h"

struct app_ranks {
    yoke_context *context;
};

yoke_status app_ranks_start(yoke_context *context, app_ranks **ranks)
{
    if (app_ranks_launched_count() > 1)
        return yoke_fail(context, YOKE_ERROR_UNAVAILABLE,
                         "started with %d ranks, and this program was built without MPI: install libopenmpi-dev and build it again",
                         app_ranks_launched_count());
    yoke_status status = yoke_allocate(context, 1, sizeof **ranks, ranks);
    if (!status) (*ranks)->context = context;
    return status;
}

yoke_status app_ranks_end(app_ranks *ranks, app_terminal *terminal, yoke_status status)
{
    (void)terminal;
    if (ranks) yoke_release(ranks->context, ranks);
    return status;
}

int app_ranks_number(const app_ranks *ranks)
{
    (void)ranks;
    return 0;
}

int app_ranks_count(const app_ranks *ranks)
{
    (void)ranks;
    return 1;
}

int app_ranks_here(const app_ranks *ranks) { return app_ranks_count(ranks); }
int app_ranks_place_here(const app_ranks *ranks) { return app_ranks_number(ranks); }
int app_ranks_first_here(const app_ranks *ranks) { return app_ranks_number(ranks); }

int app_ranks_threads(const app_ranks *ranks, int most)
{
    (void)ranks;
    return most;
}

int app_ranks_interrupted(app_ranks *ranks)
{
    (void)ranks;
    return app_interrupted();
}

yoke_status app_ranks_agree(app_ranks *ranks, yoke_status status)
{
    (void)ranks;
    return status;
}

void app_ranks_gather(app_ranks *ranks, const void *mine, int bytes, void *all)
{
    (void)ranks;
    memcpy(all, mine, (size_t)bytes);
}

yoke_status app_ranks_collect(app_ranks *ranks, const void *mine, int64_t bytes, void **all, int64_t *all_bytes)
{
    yoke_status status = yoke_allocate(ranks->context, bytes > 0 ? bytes : 1, 1, all);
    if (status) return status;
    if (bytes > 0) memcpy(*all, mine, (size_t)bytes);
    *all_bytes = bytes;
    return YOKE_OK;
}

void app_ranks_broadcast(app_ranks *ranks, void *memory, int64_t bytes)
{
    (void)ranks;
    (void)memory;
    (void)bytes;
}

void app_ranks_send_to_first(app_ranks *ranks, int from, const void *sent, void *received, int64_t bytes)
{
    (void)ranks;
    (void)from;
    (void)sent;
    (void)received;
    (void)bytes;
}

void app_ranks_sum(app_ranks *ranks, double *values, int64_t count)
{
    (void)ranks;
    (void)values;
    (void)count;
}

void app_ranks_max(app_ranks *ranks, double *values, int64_t count)
{
    (void)ranks;
    (void)values;
    (void)count;
}

int64_t app_ranks_offset(app_ranks *ranks, int64_t mine, int64_t *all)
{
    (void)ranks;
    if (all) *all = mine;
    return 0;
}

/* There is no other rank to send to. */
yoke_status app_transfer_start(app_ranks *ranks, int size, const app_message *send, int64_t num_send, const app_message *receive,
                               int64_t num_receive, app_transfer **transfer)
{
    (void)size;
    (void)send;
    (void)receive;
    *transfer = NULL;
    if (num_send + num_receive == 0) return YOKE_OK;
    return yoke_fail(ranks->context, YOKE_ERROR_ARGUMENT, "messages for other ranks, and there are none");
}

void app_transfer_finish(app_transfer *transfer, double *seconds)
{
    (void)transfer;
    *seconds = 0;
}
