#include "space/lists.h"

#include <mpi.h>

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
}

/* An item as a whole, so that counts are of items. */
static MPI_Datatype item_type(int bytes)
{
    MPI_Datatype type;
    MPI_Type_contiguous(bytes, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

yoke_status fem_lists_swap(yoke_context *context, app_ranks *ranks, yoke_status status, const fem_lists *sent, fem_lists *received)
{
    if (!status) status = fem_lists_start(context, ranks, sent->bytes, received);
    status = app_ranks_agree(ranks, status);
    if (status) return status;
    MPI_Alltoall(sent->count, 1, MPI_INT, received->count, 1, MPI_INT, MPI_COMM_WORLD);
    status = app_ranks_agree(ranks, fem_lists_place(received));
    if (status) return status;
    MPI_Datatype item = item_type(sent->bytes);
    MPI_Alltoallv(sent->items, sent->count, sent->first, item, received->items, received->count, received->first, item, MPI_COMM_WORLD);
    MPI_Type_free(&item);
    return YOKE_OK;
}

void fem_lists_answer(const fem_lists *sent, const fem_lists *received, int bytes, const void *answers, void *told)
{
    MPI_Datatype item = item_type(bytes);
    MPI_Alltoallv(answers, received->count, received->first, item, told, sent->count, sent->first, item, MPI_COMM_WORLD);
    MPI_Type_free(&item);
}
