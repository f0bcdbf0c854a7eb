#include "space/exchange/runs.h"

#include <string.h>

#include <mpi.h>

enum { TAG = 72 };

/* The items from `first` until before `end`. */
typedef struct run {
    int64_t first, end;
} run;

static run common(const int64_t *a, const int64_t *b) { return (run){a[0] > b[0] ? a[0] : b[0], a[1] < b[1] ? a[1] : b[1]}; }

void fem_runs_list(app_ranks *ranks, int64_t first, int64_t all, int64_t *list)
{
    app_ranks_gather(ranks, &first, sizeof first, list);
    list[app_ranks_count(ranks)] = all;
}

int fem_runs_owner(const int64_t *list, int ranks, int64_t item)
{
    int low = 0, high = ranks;
    /* Finds the last rank whose run begins at or before the item; earlier ranks with the same beginning have empty runs. */
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (list[middle] <= item)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Returns how many other ranks have items in `theirs` that belong to this rank's run in `mine`. */
static int count_others(int ranks, int rank, const int64_t *mine, const int64_t *theirs)
{
    int count = 0;
    for (int r = 0; r < ranks; r++) {
        const run shared = common(mine + rank, theirs + r);
        count += r != rank && shared.first < shared.end;
    }
    return count;
}

yoke_status fem_runs_create(yoke_context *context, app_ranks *ranks, const int64_t *from, const int64_t *to, fem_runs **out)
{
    const int count = app_ranks_count(ranks), rank = app_ranks_number(ranks);
    const int most = count_others(count, rank, from, to) + count_others(count, rank, to, from);
    fem_runs *runs;
    yoke_status status = yoke_allocate(context, 1, sizeof *runs, &runs);
    if (status) return status;
    runs->context = context;
    runs->ranks = ranks;
    status = yoke_allocate(context, count + 1, sizeof *runs->from, &runs->from);
    if (!status) status = yoke_allocate(context, count + 1, sizeof *runs->to, &runs->to);
    if (!status) status = yoke_allocate(context, most, sizeof(MPI_Request), &runs->requests);
    if (status) {
        fem_runs_destroy(runs);
        return status;
    }
    memcpy(runs->from, from, sizeof *from * (size_t)(count + 1));
    memcpy(runs->to, to, sizeof *to * (size_t)(count + 1));
    *out = runs;
    return YOKE_OK;
}

void fem_runs_destroy(fem_runs *runs)
{
    if (!runs) return;
    yoke_release(runs->context, runs->from);
    yoke_release(runs->context, runs->to);
    yoke_release(runs->context, runs->requests);
    yoke_release(runs->context, runs);
}

int64_t fem_runs_moved(const fem_runs *runs)
{
    const int rank = app_ranks_number(runs->ranks);
    return runs->to[rank + 1] - runs->to[rank];
}

/* Byte offset of a run's beginning from item `first`. */
static int64_t place(run r, int64_t first, int bytes) { return (r.first - first) * bytes; }

void fem_runs_move(fem_runs *runs, int back, int bytes, const void *items, void *moved)
{
    const int count = app_ranks_count(runs->ranks), rank = app_ranks_number(runs->ranks);
    const int64_t *from = back ? runs->to : runs->from, *to = back ? runs->from : runs->to;
    const char *had = items;
    char *has = moved;
    MPI_Request *request = runs->requests;
    MPI_Datatype item; /* one whole item, so that message counts are numbers of items */
    int posted = 0;
    MPI_Type_contiguous(bytes, MPI_BYTE, &item);
    MPI_Type_commit(&item);
    for (int r = 0; r < count; r++) {
        const run in = common(to + rank, from + r), out = common(from + rank, to + r);
        const int receives = in.first < in.end, sends = out.first < out.end;
        if (r == rank && sends)
            memcpy(has + place(in, to[rank], bytes), had + place(out, from[rank], bytes), (size_t)((in.end - in.first) * bytes));
        if (r == rank) continue;
        if (receives)
            MPI_Irecv(has + place(in, to[rank], bytes), (int)(in.end - in.first), item, r, TAG, MPI_COMM_WORLD, &request[posted++]);
        if (!sends) continue;
        MPI_Isend(had + place(out, from[rank], bytes), (int)(out.end - out.first), item, r, TAG, MPI_COMM_WORLD, &request[posted++]);
        runs->num_messages++;
        runs->num_bytes += (out.end - out.first) * bytes;
    }
    MPI_Waitall(posted, request, MPI_STATUSES_IGNORE);
    MPI_Type_free(&item);
}
