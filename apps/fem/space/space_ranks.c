/* space_ranks.c - what a space on several ranks has beside that of one: numbers over all of them, who counts which node, and fields that move. */
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "space/parts.h"

/* ------------------------------------------------------------------------------------------------------- numbers */

/* owned [num_nodes]: 0 where a lower rank touches the node. */
static void find_owned(const fem_space *space, uint8_t *owned)
{
    const fem_halo *halo = space->halo;
    memset(owned, 1, (size_t)space->num_nodes);
    for (int n = 0; n < halo->num_neighbours && halo->neighbour[n] < app_ranks_number(space->ranks); n++)
        for (int32_t i = halo->first[n]; i < halo->first[n + 1]; i++) owned[halo->shared[halo->item[i]]] = 0;
}

/* Numbers of owned nodes, then from their owners, who are the lowest of all neighbours that have them, those of the others. */
static void fill_numbers(fem_space *space, const uint8_t *owned, fem_halo_messages *messages)
{
    const fem_halo *halo = space->halo;
    int64_t next = space->first_owned;
    for (int32_t i = 0; i < space->num_nodes; i++) space->global_node[i] = owned[i] ? next++ : -1;
    fem_halo_begin(messages, sizeof(int64_t), 1, space->global_node, NULL);
    fem_halo_wait(messages);
    const int64_t *received = messages->received;
    for (int32_t i = 0; i < halo->first[halo->num_neighbours]; i++) {
        int64_t *number = &space->global_node[halo->shared[halo->item[i]]];
        if (*number < 0) *number = received[i]; /* neighbours are in ascending order: the owner comes first */
    }
}

/* The copies that count: of the lowest rank with a home for the node. */
static void find_counting(fem_space *space, float *homes, fem_halo_messages *messages)
{
    fem_halo *halo = space->halo;
    const int rank = app_ranks_number(space->ranks);
    for (int32_t i = 0; i < space->num_nodes; i++) {
        homes[i] = space->home_element[i] >= 0;
        space->counts[i] = homes[i] > 0;
    }
    fem_halo_begin(messages, sizeof(float), 1, homes, NULL);
    fem_halo_wait(messages);
    const float *received = messages->received;
    for (int n = halo->num_neighbours - 1; n >= 0; n--)
        for (int32_t i = halo->first[n]; i < halo->first[n + 1]; i++) {
            const int32_t s = halo->item[i], node = halo->shared[s];
            if (!(received[i] > 0) || (halo->neighbour[n] > rank && homes[node] > 0)) continue;
            halo->source[s] = i;
            space->counts[node] = 0;
        }
}

static yoke_status number_on_ranks(fem_space *space, yoke_status status)
{
    yoke_context *c = space->context;
    uint8_t *owned = NULL;
    float *homes = NULL;
    fem_halo_messages *messages = NULL;
    if (!status) status = yoke_allocate(c, space->num_nodes, 1, &owned);
    if (!status) status = yoke_allocate(c, space->num_nodes, sizeof *homes, &homes);
    if (!status) status = yoke_allocate(c, space->num_nodes, sizeof(int64_t), &space->global_node);
    if (!status) status = yoke_allocate(c, space->num_nodes, 1, &space->counts);
    if (!status) status = fem_halo_messages_create(space->halo, sizeof(int64_t), &messages);
    status = app_ranks_agree(space->ranks, status);
    if (!status) {
        find_owned(space, owned);
        space->num_owned = 0;
        for (int32_t i = 0; i < space->num_nodes; i++) space->num_owned += owned[i];
        space->first_owned = app_ranks_offset(space->ranks, space->num_owned, &space->num_global_nodes);
        space->first_element = app_ranks_offset(space->ranks, space->num_elements, &space->num_global_elements);
        fill_numbers(space, owned, messages);
        find_counting(space, homes, messages);
    }
    fem_halo_messages_destroy(messages);
    yoke_release(c, owned);
    yoke_release(c, homes);
    return status;
}

yoke_status space_number_globally(fem_space *space, yoke_status status)
{
    if (space->ranks) return number_on_ranks(space, status);
    space->num_global_elements = space->num_elements;
    space->num_global_nodes = space->num_owned = space->num_nodes;
    return status;
}

yoke_status space_place_homeless(fem_space *space) { return fem_halo_agree(space->halo, 3, space->x); }

/* --------------------------------------------------------------------------------------------------------- counts */

/* The numbers of an edge's ends over all ranks, 48 bits each, as one key. */
static fem_halo_key edge_key(const fem_space *space, const int32_t ends[2], int32_t edge)
{
    uint64_t a = (uint64_t)space->global_node[ends[0]], b = (uint64_t)space->global_node[ends[1]];
    if (a > b) {
        const uint64_t c = a;
        a = b;
        b = c;
    }
    return (fem_halo_key){.place = a | b << 48, .entity = (uint32_t)(b >> 16), .node = edge};
}

/* Edges whose ends other ranks have too may be known to several of them: the lowest counts them. */
static yoke_status count_once(const fem_space *space, const int32_t (*ends)[2], const uint8_t *shared, fem_halo_key *keys, int64_t *edges)
{
    fem_halo *same;
    int64_t count = 0, others = 0;
    for (int64_t i = 0; i < *edges; i++)
        if (shared[ends[i][0]] && shared[ends[i][1]]) keys[count++] = edge_key(space, ends[i], (int32_t)i);
    yoke_status status = fem_halo_create(space->context, space->ranks, count, keys, &same);
    if (status) return status;
    uint8_t *lower;
    status = yoke_allocate(space->context, same->num_shared, 1, &lower);
    for (int n = 0; n < same->num_neighbours && same->neighbour[n] < app_ranks_number(space->ranks) && !status; n++)
        for (int32_t i = same->first[n]; i < same->first[n + 1]; i++) lower[same->item[i]] = 1;
    for (int32_t s = 0; s < same->num_shared && !status; s++) others += lower[s];
    yoke_release(space->context, lower);
    fem_halo_destroy(same);
    *edges -= others;
    return app_ranks_agree(space->ranks, status);
}

yoke_status space_count_globally(fem_space *space, const int32_t (*ends)[2], int64_t *edges, int64_t *faces)
{
    uint8_t *shared = NULL;
    fem_halo_key *keys = NULL;
    yoke_status status = yoke_allocate(space->context, space->num_nodes, 1, &shared);
    if (!status) status = yoke_allocate(space->context, *edges, sizeof *keys, &keys);
    status = app_ranks_agree(space->ranks, status);
    if (!status) {
        for (int32_t s = 0; s < space->halo->num_shared; s++) shared[space->halo->shared[s]] = 1;
        status = count_once(space, ends, shared, keys, edges);
    }
    yoke_release(space->context, shared);
    yoke_release(space->context, keys);
    if (status) return status;
    app_ranks_offset(space->ranks, *edges, edges);
    app_ranks_offset(space->ranks, *faces, faces);
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------ fields that move */

/* Which of the values of another rank are asked for, and by whom: lists one after the other, in the order of ranks. */
typedef struct request {
    int *count, *first; /* [ranks] */
    int64_t *node;      /* numbers over all ranks */
    double *value;      /* [..][n] */
    int all;
} request;

static yoke_status start_request(const fem_space *space, request *r)
{
    yoke_status status = yoke_allocate(space->context, app_ranks_count(space->ranks), sizeof(int), &r->count);
    return status ? status : yoke_allocate(space->context, app_ranks_count(space->ranks), sizeof(int), &r->first);
}

static yoke_status place_request(const fem_space *space, int n, request *r)
{
    r->all = 0;
    for (int rank = 0; rank < app_ranks_count(space->ranks); rank++) {
        r->first[rank] = r->all;
        r->all += r->count[rank];
    }
    yoke_status status = yoke_allocate(space->context, r->all, sizeof(int64_t), &r->node);
    return status ? status : yoke_allocate(space->context, (int64_t)r->all * n, sizeof(double), &r->value);
}

static void release_request(const fem_space *space, request *r)
{
    yoke_release(space->context, r->count);
    yoke_release(space->context, r->first);
    yoke_release(space->context, r->node);
    yoke_release(space->context, r->value);
}

/* The rank that owns a number in the space whose ranks begin with those of first [ranks + 1]. */
static int find_owner(const int64_t *first, int ranks, int64_t node)
{
    int low = 0, high = ranks - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (first[middle + 1] <= node)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static yoke_status ask(const fem_space *to, int n, const int64_t *first, request *r)
{
    const int ranks = app_ranks_count(to->ranks);
    yoke_status status = start_request(to, r);
    if (status) return status;
    for (int32_t i = 0; i < to->num_nodes; i++) r->count[find_owner(first, ranks, to->global_node[i])]++;
    status = place_request(to, n, r);
    if (status) return status;
    for (int32_t i = 0; i < to->num_nodes; i++) r->node[r->first[find_owner(first, ranks, to->global_node[i])]++] = to->global_node[i];
    for (int rank = 0; rank < ranks; rank++) r->first[rank] -= r->count[rank];
    return YOKE_OK;
}

/* owned [num_owned]: the owned nodes in the order of their numbers, which is that of the rank's own. */
static yoke_status list_owned(const fem_space *space, int32_t **owned)
{
    int32_t count = 0;
    yoke_status status = yoke_allocate(space->context, space->num_owned, sizeof **owned, owned);
    for (int32_t i = 0; i < space->num_nodes && !status; i++)
        if (fem_space_owns(space, i)) (*owned)[count++] = i;
    return status;
}

static void answer(const fem_space *from, int n, const double *nodal, const int32_t *owned, const request *asked)
{
    for (int i = 0; i < asked->all; i++)
        memcpy(asked->value + (int64_t)i * n, nodal + (int64_t)owned[asked->node[i] - from->first_owned] * n, sizeof(double) * (size_t)n);
}

/* The values have come in the order in which they were asked for. */
static void take(const fem_space *to, int n, const int64_t *first, const request *r, double *nodal)
{
    const int ranks = app_ranks_count(to->ranks);
    for (int32_t i = 0; i < to->num_nodes; i++) {
        const int at = r->first[find_owner(first, ranks, to->global_node[i])]++;
        memcpy(nodal + (int64_t)i * n, r->value + (int64_t)at * n, sizeof(double) * (size_t)n);
    }
}

static yoke_status move(const fem_space *from, const fem_space *to, int n, const double *from_nodal, int64_t *first, request *r,
                        request *asked, int32_t **owned, double *to_nodal)
{
    app_ranks *ranks = to->ranks;
    MPI_Datatype node;
    app_ranks_gather(ranks, &from->first_owned, sizeof(int64_t), first);
    first[app_ranks_count(ranks)] = from->num_global_nodes;
    yoke_status status = ask(to, n, first, r);
    if (!status) status = start_request(to, asked);
    if (!status) status = list_owned(from, owned);
    status = app_ranks_agree(ranks, status);
    if (status) return status;
    MPI_Alltoall(r->count, 1, MPI_INT, asked->count, 1, MPI_INT, MPI_COMM_WORLD);
    status = app_ranks_agree(ranks, place_request(to, n, asked));
    if (status) return status;
    MPI_Alltoallv(r->node, r->count, r->first, MPI_INT64_T, asked->node, asked->count, asked->first, MPI_INT64_T, MPI_COMM_WORLD);
    answer(from, n, from_nodal, *owned, asked);
    MPI_Type_contiguous(n, MPI_DOUBLE, &node);
    MPI_Type_commit(&node);
    MPI_Alltoallv(asked->value, asked->count, asked->first, node, r->value, r->count, r->first, node, MPI_COMM_WORLD);
    MPI_Type_free(&node);
    take(to, n, first, r, to_nodal);
    return YOKE_OK;
}

yoke_status fem_space_move(const fem_space *from, const fem_space *to, int n, const double *from_nodal, double *to_nodal)
{
    if (from->element != to->element || from->num_global_nodes != to->num_global_nodes)
        return yoke_fail(to->context, YOKE_ERROR_ARGUMENT, "a field of %lld nodes cannot move to a space of %lld nodes",
                         (long long)from->num_global_nodes, (long long)to->num_global_nodes);
    if (!to->ranks) {
        memcpy(to_nodal, from_nodal, sizeof(double) * (size_t)n * (size_t)to->num_nodes);
        return YOKE_OK;
    }
    request r = {.all = 0}, asked = {.all = 0};
    int64_t *first = NULL;
    int32_t *owned = NULL;
    yoke_status status = app_ranks_agree(to->ranks, yoke_allocate(to->context, app_ranks_count(to->ranks) + 1, sizeof *first, &first));
    if (!status) status = move(from, to, n, from_nodal, first, &r, &asked, &owned, to_nodal);
    release_request(to, &r);
    release_request(to, &asked);
    yoke_release(to->context, first);
    yoke_release(to->context, owned);
    return status;
}
