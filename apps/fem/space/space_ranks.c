/* space_ranks.c - data that only a space on several ranks has: global numbers, and the rank on which each node counts. */
#include <string.h>

#include "space/private.h"

/* ------------------------------------------------------------------------------------------------------- numbers */

/*
 * Numbers the owned nodes, and receives the numbers of the other nodes from their owners.  The owner is the lowest of all ranks that have
 * the node.
 */
static void fill_numbers(fem_space *space, const int *owner, fem_halo_messages *messages)
{
    const fem_halo *halo = space->halo;
    const int rank = app_ranks_number(space->ranks);
    int64_t next = space->first_owned;
    for (int32_t i = 0; i < space->num_nodes; i++) space->global_node[i] = owner[i] == rank ? next++ : -1;
    fem_halo_begin(messages, sizeof(int64_t), 1, space->global_node, NULL);
    fem_halo_wait(messages);
    const int64_t *received = messages->received;
    for (int32_t i = 0; i < halo->first[halo->num_neighbours]; i++) {
        int64_t *number = &space->global_node[halo->shared[halo->item[i]]];
        if (*number < 0) *number = received[i]; /* neighbours are in ascending order, so the owner comes first */
    }
}

/* Finds the copies that count: that of the lowest rank with a home for the node. */
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
    int *owner = NULL;
    float *homes = NULL;
    fem_halo_messages *messages = NULL;
    if (!status) status = yoke_allocate(c, space->num_nodes, sizeof *owner, &owner);
    if (!status) status = yoke_allocate(c, space->num_nodes, sizeof *homes, &homes);
    if (!status) status = yoke_allocate(c, space->num_nodes, sizeof(int64_t), &space->global_node);
    if (!status) status = yoke_allocate(c, space->num_nodes, 1, &space->counts);
    if (!status) status = fem_halo_messages_create(space->halo, sizeof(int64_t), &messages);
    status = app_ranks_agree(space->ranks, status);
    if (!status) {
        fem_halo_lowest(space->halo, space->num_nodes, owner);
        space->num_owned = 0;
        for (int32_t i = 0; i < space->num_nodes; i++) space->num_owned += owner[i] == app_ranks_number(space->ranks);
        space->first_owned = app_ranks_offset(space->ranks, space->num_owned, &space->num_global_nodes);
        space->first_element = app_ranks_offset(space->ranks, space->num_elements, &space->num_global_elements);
        fill_numbers(space, owner, messages);
        find_counting(space, homes, messages);
    }
    fem_halo_messages_destroy(messages);
    yoke_release(c, owner);
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

yoke_status space_complete_positions(fem_space *space) { return fem_halo_agree(space->halo, 3, space->x); }

/* --------------------------------------------------------------------------------------------------------- counts */

/* Edges that other ranks may have too. */
typedef struct shared_edges {
    const int32_t (*ends)[2]; /* of all edges */
    uint8_t *shared;          /* [num_nodes] nodes that other ranks have, too */
    int *owner;               /* [num_nodes] */
    fem_halo_key *keys;
    int *meeting;
} shared_edges;

/* Makes one key of the global numbers of an edge's ends, 48 bits each.  The key meets at the owner of the end with the lower number. */
static void list_edge(const fem_space *space, int32_t edge, shared_edges *e, int64_t at)
{
    int32_t low = e->ends[edge][0], high = e->ends[edge][1];
    if (space->global_node[low] > space->global_node[high]) {
        low = e->ends[edge][1];
        high = e->ends[edge][0];
    }
    const uint64_t a = (uint64_t)space->global_node[low], b = (uint64_t)space->global_node[high];
    e->keys[at] = (fem_halo_key){.place = a | b << 48, .entity = (uint32_t)(b >> 16), .node = edge};
    e->meeting[at] = e->owner[low];
}

/* Edges with two shared ends may occur on several ranks; the lowest of these counts the edge. */
static yoke_status count_once(const fem_space *space, shared_edges *e, int64_t *edges)
{
    fem_halo *same;
    uint8_t *lower = NULL;
    int64_t count = 0, others = 0;
    for (int32_t s = 0; s < space->halo->num_shared; s++) e->shared[space->halo->shared[s]] = 1;
    fem_halo_lowest(space->halo, space->num_nodes, e->owner);
    for (int64_t i = 0; i < *edges; i++)
        if (e->shared[e->ends[i][0]] && e->shared[e->ends[i][1]]) list_edge(space, (int32_t)i, e, count++);
    yoke_status status = fem_halo_create(space->context, space->ranks, count, e->keys, e->meeting, &same);
    if (status) return status;
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
    yoke_context *c = space->context;
    shared_edges e = {.ends = ends};
    yoke_status status = yoke_allocate(c, space->num_nodes, 1, &e.shared);
    if (!status) status = yoke_allocate(c, space->num_nodes, sizeof *e.owner, &e.owner);
    if (!status) status = yoke_allocate(c, *edges, sizeof *e.keys, &e.keys);
    if (!status) status = yoke_allocate(c, *edges, sizeof *e.meeting, &e.meeting);
    status = app_ranks_agree(space->ranks, status);
    if (!status) status = count_once(space, &e, edges);
    yoke_release(c, e.shared);
    yoke_release(c, e.owner);
    yoke_release(c, e.keys);
    yoke_release(c, e.meeting);
    if (status) return status;
    app_ranks_offset(space->ranks, *edges, edges);
    app_ranks_offset(space->ranks, *faces, faces);
    return YOKE_OK;
}
