#include "space/exchange/halo.h"

#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "common/machine/precision.h"

enum { TAG = 71 };

#define REAL double
#include "space/exchange/halo_values.h"
#undef REAL
#define REAL float
#include "space/exchange/halo_values.h"
#undef REAL

/* Calls the instance for doubles or for floats, according to the size of a value. */
#define BY_SIZE(m, operation, ...) ((m)->bytes == 8 ? operation##_double(__VA_ARGS__) : operation##_float(__VA_ARGS__))

void fem_halo_destroy(fem_halo *halo)
{
    if (!halo) return;
    yoke_release(halo->context, halo->neighbour);
    yoke_release(halo->context, halo->first);
    yoke_release(halo->context, halo->item);
    yoke_release(halo->context, halo->shared);
    yoke_release(halo->context, halo->source);
    yoke_release(halo->context, halo);
}

void fem_halo_lowest(const fem_halo *halo, int32_t num_nodes, int *lowest)
{
    const int rank = app_ranks_number(halo->ranks);
    for (int32_t i = 0; i < num_nodes; i++) lowest[i] = rank;
    for (int n = halo->num_neighbours - 1; n >= 0; n--)
        for (int32_t i = halo->first[n]; i < halo->first[n + 1] && halo->neighbour[n] < rank; i++)
            lowest[halo->shared[halo->item[i]]] = halo->neighbour[n];
}

/* ---------------------------------------------------------------------------------------- restriction to some nodes */

static yoke_status allocate(const fem_halo *like, int32_t shared, fem_halo *halo)
{
    yoke_context *c = like->context;
    yoke_status status = yoke_allocate(c, like->num_neighbours, sizeof(int), &halo->neighbour);
    if (!status) status = yoke_allocate(c, like->num_neighbours + 1, sizeof(int32_t), &halo->first);
    if (!status) status = yoke_allocate(c, like->first[like->num_neighbours], sizeof(int32_t), &halo->item);
    if (!status) status = yoke_allocate(c, shared, sizeof(int32_t), &halo->shared);
    if (!status) status = yoke_allocate(c, shared, sizeof(int32_t), &halo->source);
    return status;
}

typedef struct renumbered {
    int32_t node, old;
} renumbered;

static int by_node(const void *a, const void *b)
{
    const renumbered *p = a, *q = b;
    return (p->node > q->node) - (p->node < q->node);
}

/* index [old shared nodes]: positions among the new shared nodes, -1: left out. */
static void restrict_lists(const fem_halo *from, const int32_t *index, fem_halo *halo)
{
    int32_t items = 0;
    for (int n = 0; n < from->num_neighbours; n++) {
        const int32_t begin = items;
        for (int32_t i = from->first[n]; i < from->first[n + 1]; i++) {
            const int32_t at = index[from->item[i]];
            if (at < 0) continue;
            if (from->source[from->item[i]] == i) halo->source[at] = items;
            halo->item[items++] = at;
        }
        if (items == begin) continue;
        halo->neighbour[halo->num_neighbours++] = from->neighbour[n];
        halo->first[halo->num_neighbours] = items;
    }
}

yoke_status fem_halo_restrict(const fem_halo *from, const int32_t *number, fem_halo **out)
{
    yoke_context *c = from->context;
    fem_halo *halo;
    renumbered *kept = NULL;
    int32_t *index = NULL, count = 0;
    yoke_status status = yoke_allocate(c, 1, sizeof *halo, &halo);
    if (status) return status;
    halo->context = c;
    halo->ranks = from->ranks;
    status = yoke_allocate(c, from->num_shared, sizeof *kept, &kept);
    if (!status) status = yoke_allocate(c, from->num_shared, sizeof *index, &index);
    for (int32_t s = 0; s < from->num_shared && !status; s++) {
        index[s] = -1;
        if (number[from->shared[s]] >= 0) kept[count++] = (renumbered){number[from->shared[s]], s};
    }
    if (!status) status = allocate(from, count, halo);
    if (!status) {
        qsort(kept, (size_t)count, sizeof *kept, by_node);
        halo->num_shared = count;
        for (int32_t s = 0; s < count; s++) {
            halo->shared[s] = kept[s].node;
            halo->source[s] = -1;
            index[kept[s].old] = s;
        }
        restrict_lists(from, index, halo);
    }
    yoke_release(c, kept);
    yoke_release(c, index);
    if (status)
        fem_halo_destroy(halo);
    else
        *out = halo;
    return status;
}

/* ------------------------------------------------------------------------------------------------------ messages */

yoke_status fem_halo_messages_create(const fem_halo *halo, int most, fem_halo_messages **out)
{
    yoke_context *c = halo->context;
    const int64_t items = halo->first[halo->num_neighbours];
    fem_halo_messages *m;
    yoke_status status = yoke_allocate(c, 1, sizeof *m, &m);
    if (status) return status;
    m->halo = halo;
    status = yoke_allocate(c, 2 * (int64_t)halo->num_neighbours, sizeof(MPI_Request), &m->requests);
    if (!status) status = yoke_allocate(c, items, most, &m->sent);
    if (!status) status = yoke_allocate(c, items, most, &m->received);
    if (!status) status = yoke_allocate(c, halo->num_shared, most, &m->own);
    if (status)
        fem_halo_messages_destroy(m);
    else
        *out = m;
    return status;
}

void fem_halo_messages_destroy(fem_halo_messages *m)
{
    if (!m) return;
    yoke_context *c = m->halo->context;
    yoke_release(c, m->requests);
    yoke_release(c, m->sent);
    yoke_release(c, m->received);
    yoke_release(c, m->own);
    yoke_release(c, m);
}

void fem_halo_begin(fem_halo_messages *m, int bytes, int width, const void *values, const int32_t *place)
{
    const fem_halo *halo = m->halo;
    const int64_t node = (int64_t)bytes * width;
    /* 4- or 8-byte items, because a message of single bytes is limited to 2 GB. */
    const MPI_Datatype value = bytes == 8 ? MPI_UINT64_T : MPI_UINT32_T;
    MPI_Request *request = m->requests;
    m->bytes = bytes;
    m->width = width;
    for (int n = 0; n < halo->num_neighbours; n++)
        MPI_Irecv((char *)m->received + halo->first[n] * node, (halo->first[n + 1] - halo->first[n]) * width, value, halo->neighbour[n],
                  TAG, MPI_COMM_WORLD, &request[n]);
    BY_SIZE(m, take, m, values, place);
    for (int n = 0; n < halo->num_neighbours; n++)
        MPI_Isend((char *)m->sent + halo->first[n] * node, (halo->first[n + 1] - halo->first[n]) * width, value, halo->neighbour[n], TAG,
                  MPI_COMM_WORLD, &request[halo->num_neighbours + n]);
    m->num_messages += halo->num_neighbours;
    m->num_bytes += halo->first[halo->num_neighbours] * node;
}

void fem_halo_wait(fem_halo_messages *m) { MPI_Waitall(2 * m->halo->num_neighbours, m->requests, MPI_STATUSES_IGNORE); }

void fem_halo_end_sum(fem_halo_messages *m, void *values, const int32_t *place)
{
    fem_halo_wait(m);
    BY_SIZE(m, add, m, values, place);
}

void fem_halo_end_agree(fem_halo_messages *m, void *values, const int32_t *place)
{
    fem_halo_wait(m);
    BY_SIZE(m, choose, m, values, place);
}

/* Exchanges doubles at all nodes once. */
static yoke_status exchange(const fem_halo *halo, int n, double *values, void (*end)(fem_halo_messages *, void *, const int32_t *))
{
    fem_halo_messages *m = NULL;
    if (!halo) return YOKE_OK;
    yoke_status status = app_ranks_agree(halo->ranks, fem_halo_messages_create(halo, n * (int)sizeof(double), &m));
    if (!status) {
        fem_halo_begin(m, sizeof(double), n, values, NULL);
        end(m, values, NULL);
    }
    fem_halo_messages_destroy(m);
    return status;
}

yoke_status fem_halo_sum(const fem_halo *halo, int n, double *values) { return exchange(halo, n, values, fem_halo_end_sum); }

yoke_status fem_halo_agree(const fem_halo *halo, int n, double *values) { return exchange(halo, n, values, fem_halo_end_agree); }
