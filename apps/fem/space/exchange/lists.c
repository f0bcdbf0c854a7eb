#include "space/exchange/lists.h"

#include <string.h>

#include <mpi.h>
#include <sc_notify.h>

enum { TAG = 73 };

yoke_status fem_lists_start(yoke_context *context, const app_ranks *ranks, int bytes, fem_lists *l)
{
    *l = (fem_lists){.context = context, .bytes = bytes, .num_ranks = app_ranks_count(ranks)};
    yoke_status status = yoke_allocate(context, l->num_ranks, sizeof(int), &l->count);
    return status ? status : yoke_allocate(context, l->num_ranks, sizeof(int), &l->first);
}

yoke_status fem_lists_place(fem_lists *l)
{
    l->all = 0;
    for (int r = 0; r < l->num_ranks; r++) {
        l->first[r] = (int)l->all;
        l->all += l->count[r];
        if (l->all > INT32_MAX)
            return yoke_fail(l->context, YOKE_ERROR_MEMORY, "ranks have more than %d items for each other: take more ranks", INT32_MAX);
    }
    return yoke_allocate(l->context, l->all, (size_t)l->bytes, &l->items);
}

void *fem_lists_next(fem_lists *l, int rank) { return (char *)l->items + (int64_t)l->bytes * l->first[rank]++; }

void fem_lists_rewind(fem_lists *l)
{
    for (int r = 0, first = 0; r < l->num_ranks; first += l->count[r++]) l->first[r] = first;
}

void fem_lists_release(fem_lists *l)
{
    if (!l->context) return;
    yoke_release(l->context, l->count);
    yoke_release(l->context, l->first);
    yoke_release(l->context, l->items);
    yoke_release(l->context, l->requests);
}

/* One whole item, so that message counts are numbers of items. */
static MPI_Datatype item_type(int bytes)
{
    MPI_Datatype type;
    MPI_Type_contiguous(bytes, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

/*
 * Sends the items of `from` to their ranks, and receives the items of `to`.  Counts and positions are those of the lists; each item is
 * `bytes` bytes at `out` and `in`.  Items for this rank are copied.  request: room for the requests of all messages.
 */
static void exchange(const fem_lists *from, const fem_lists *to, int bytes, const void *out, void *in, MPI_Request *request)
{
    int rank, posted = 0;
    MPI_Datatype item = item_type(bytes);
    const char *sent = out;
    char *received = in;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int r = 0; r < to->num_ranks; r++)
        if (r != rank && to->count[r])
            MPI_Irecv(received + (int64_t)bytes * to->first[r], to->count[r], item, r, TAG, MPI_COMM_WORLD, &request[posted++]);
    for (int r = 0; r < from->num_ranks; r++)
        if (r != rank && from->count[r])
            MPI_Isend(sent + (int64_t)bytes * from->first[r], from->count[r], item, r, TAG, MPI_COMM_WORLD, &request[posted++]);
    if (from->count[rank])
        memcpy(received + (int64_t)bytes * to->first[rank], sent + (int64_t)bytes * from->first[rank],
               (size_t)bytes * (size_t)from->count[rank]);
    MPI_Waitall(posted, request, MPI_STATUSES_IGNORE);
    MPI_Type_free(&item);
}

/* partners: room for twice the number of ranks. */
static void swap_counts(const fem_lists *sent, fem_lists *received, int *partners)
{
    MPI_Request *request = received->requests;
    int *to = partners, *from = partners + sent->num_ranks, num_to = 0, num_from = 0, posted = 0;
    for (int r = 0; r < sent->num_ranks; r++)
        if (sent->count[r]) to[num_to++] = r;
    sc_notify(to, num_to, from, &num_from, MPI_COMM_WORLD);
    for (int i = 0; i < num_from; i++) MPI_Irecv(&received->count[from[i]], 1, MPI_INT, from[i], TAG, MPI_COMM_WORLD, &request[posted++]);
    for (int i = 0; i < num_to; i++) MPI_Isend(&sent->count[to[i]], 1, MPI_INT, to[i], TAG, MPI_COMM_WORLD, &request[posted++]);
    MPI_Waitall(posted, request, MPI_STATUSES_IGNORE);
}

yoke_status fem_lists_swap(yoke_context *context, app_ranks *ranks, yoke_status status, const fem_lists *sent, fem_lists *received)
{
    int *partners = NULL;
    if (!status) status = fem_lists_start(context, ranks, sent->bytes, received);
    if (!status) status = yoke_allocate(context, 2 * (int64_t)sent->num_ranks, sizeof(MPI_Request), &received->requests);
    if (!status) status = yoke_allocate(context, 2 * (int64_t)sent->num_ranks, sizeof *partners, &partners);
    status = app_ranks_agree(ranks, status);
    if (!status) {
        swap_counts(sent, received, partners);
        status = app_ranks_agree(ranks, fem_lists_place(received));
    }
    yoke_release(context, partners);
    if (!status) exchange(sent, received, sent->bytes, sent->items, received->items, received->requests);
    return status;
}

void fem_lists_answer(const fem_lists *sent, const fem_lists *received, int bytes, const void *answers, void *told)
{
    exchange(received, sent, bytes, answers, told, received->requests);
}
