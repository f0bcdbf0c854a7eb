/* space_ranks.c - what a space on several ranks has beside that of one: numbers over all of them, and who counts which node. */
#include <string.h>

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

yoke_status space_complete_positions(fem_space *space) { return fem_halo_agree(space->halo, 3, space->x); }

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
    uint8_t *lower = NULL;
    int64_t count = 0, others = 0;
    for (int64_t i = 0; i < *edges; i++)
        if (shared[ends[i][0]] && shared[ends[i][1]]) keys[count++] = edge_key(space, ends[i], (int32_t)i);
    yoke_status status = fem_halo_create(space->context, space->ranks, count, keys, &same);
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
