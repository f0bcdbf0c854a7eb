/*
 * halo_create.c - who shares which nodes: each rank sends its keys to the rank that their hash names; that rank finds those which several have sent, and tells
 * them of each other.
 */
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "space/halo.h"

/* Lists of items of one size that each rank has for each other one. */
typedef struct lists {
    int *count, *first; /* [ranks], in items */
    void *items;
    int64_t all;
} lists;

typedef struct meeting {
    yoke_context *context;
    app_ranks *ranks;
    int num_ranks;
} meeting;

static void release_lists(const meeting *m, lists *l)
{
    yoke_release(m->context, l->count);
    yoke_release(m->context, l->first);
    yoke_release(m->context, l->items);
}

/* With counts and places for all ranks, all zero; the items come with place_lists. */
static yoke_status start_lists(const meeting *m, lists *l)
{
    *l = (lists){.all = 0};
    yoke_status status = yoke_allocate(m->context, m->num_ranks, sizeof(int), &l->count);
    return status ? status : yoke_allocate(m->context, m->num_ranks, sizeof(int), &l->first);
}

static yoke_status place_lists(const meeting *m, int64_t bytes, lists *l)
{
    l->all = 0;
    for (int r = 0; r < m->num_ranks; r++) {
        l->first[r] = (int)l->all;
        l->all += l->count[r];
    }
    return yoke_allocate(m->context, l->all, bytes, &l->items);
}

/* What all have for this rank.  Collective, with the status so far of each. */
static yoke_status swap_lists(const meeting *m, yoke_status status, MPI_Datatype item, int64_t bytes, const lists *sent, lists *received)
{
    if (!status) status = start_lists(m, received);
    status = app_ranks_agree(m->ranks, status);
    if (status) return status;
    MPI_Alltoall(sent->count, 1, MPI_INT, received->count, 1, MPI_INT, MPI_COMM_WORLD);
    status = app_ranks_agree(m->ranks, place_lists(m, bytes, received));
    if (status) return status;
    MPI_Alltoallv(sent->items, sent->count, sent->first, item, received->items, received->count, received->first, item, MPI_COMM_WORLD);
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------- to the meeting */

static int meeting_rank(const meeting *m, const fem_halo_key *key)
{
    uint64_t z = (key->place ^ (uint64_t)key->entity * 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 32)) * 0x94D049BB133111EBu;
    return (int)((z ^ (z >> 29)) % (uint64_t)m->num_ranks);
}

static yoke_status address_keys(const meeting *m, int64_t count, const fem_halo_key *keys, lists *sent)
{
    yoke_status status = start_lists(m, sent);
    if (status) return status;
    for (int64_t i = 0; i < count; i++) sent->count[meeting_rank(m, &keys[i])]++;
    status = place_lists(m, sizeof *keys, sent);
    if (status) return status;
    for (int64_t i = 0; i < count; i++) {
        const int r = meeting_rank(m, &keys[i]);
        ((fem_halo_key *)sent->items)[sent->first[r]++] = keys[i];
    }
    for (int r = 0; r < m->num_ranks; r++) sent->first[r] -= sent->count[r];
    return YOKE_OK;
}

/* A key that has arrived; an answer: another rank has the key of a node, too. */
typedef struct arrival {
    fem_halo_key key;
    int rank;
} arrival;

typedef struct answer {
    fem_halo_key key; /* with the node of whom it is for */
    int rank, unused;
} answer;

static int compare_keys(const fem_halo_key *a, const fem_halo_key *b)
{
    if (a->entity != b->entity) return a->entity < b->entity ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

static int by_key(const void *a, const void *b)
{
    const arrival *p = a, *q = b;
    const int order = compare_keys(&p->key, &q->key);
    return order ? order : (p->rank > q->rank) - (p->rank < q->rank);
}

static int by_rank_and_key(const void *a, const void *b)
{
    const answer *p = a, *q = b;
    if (p->rank != q->rank) return p->rank < q->rank ? -1 : 1;
    return compare_keys(&p->key, &q->key);
}

/* ---------------------------------------------------------------------------------------------------- its answers */

/* Counts the answers to each rank (write 0) or writes them; arrivals are sorted. */
static void answer_all(const arrival *arrivals, int64_t count, int write, lists *answers)
{
    for (int64_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && !compare_keys(&arrivals[end].key, &arrivals[first].key);) end++;
        for (int64_t i = first; i < end; i++) {
            for (int64_t k = first; k < end; k++) {
                if (k == i) continue;
                const int r = arrivals[i].rank;
                if (write)
                    ((answer *)answers->items)[answers->first[r]++] = (answer){.key = arrivals[i].key, .rank = arrivals[k].rank};
                else
                    answers->count[r]++;
            }
        }
    }
}

static yoke_status find_answers(const meeting *m, const lists *keys, lists *answers)
{
    arrival *arrivals = NULL;
    yoke_status status = start_lists(m, answers);
    if (!status) status = yoke_allocate(m->context, keys->all, sizeof *arrivals, &arrivals);
    if (!status) {
        for (int r = 0; r < m->num_ranks; r++)
            for (int i = keys->first[r]; i < keys->first[r] + keys->count[r]; i++)
                arrivals[i] = (arrival){((fem_halo_key *)keys->items)[i], r};
        qsort(arrivals, (size_t)keys->all, sizeof *arrivals, by_key);
        answer_all(arrivals, keys->all, 0, answers);
        status = place_lists(m, sizeof(answer), answers);
    }
    if (!status) {
        answer_all(arrivals, keys->all, 1, answers);
        for (int r = 0; r < m->num_ranks; r++) answers->first[r] -= answers->count[r];
    }
    yoke_release(m->context, arrivals);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- the halo */

static int by_number(const void *a, const void *b)
{
    const int32_t *p = a, *q = b;
    return (*p > *q) - (*p < *q);
}

/* The index of a node in the ascending list of shared ones. */
static int32_t index_of(const fem_halo *halo, int32_t node)
{
    const int32_t *found = bsearch(&node, halo->shared, (size_t)halo->num_shared, sizeof node, by_number);
    return (int32_t)(found - halo->shared);
}

static void fill(const answer *a, int32_t count, fem_halo *halo)
{
    for (int32_t i = 0; i < count; i++) halo->shared[i] = a[i].key.node;
    qsort(halo->shared, (size_t)count, sizeof *halo->shared, by_number);
    for (int32_t i = 0; i < count; i++)
        if (!i || halo->shared[i] != halo->shared[halo->num_shared - 1]) halo->shared[halo->num_shared++] = halo->shared[i];
    for (int32_t s = 0; s < halo->num_shared; s++) halo->source[s] = -1;
    for (int32_t i = 0; i < count; i++) {
        if (!i || a[i].rank != a[i - 1].rank) halo->neighbour[halo->num_neighbours++] = a[i].rank;
        halo->item[i] = index_of(halo, a[i].key.node);
        halo->first[halo->num_neighbours] = i + 1;
    }
}

static yoke_status make_halo(const meeting *m, lists *answers, fem_halo **out)
{
    const int32_t count = (int32_t)answers->all;
    fem_halo *halo;
    yoke_context *c = m->context;
    yoke_status status = yoke_allocate(c, 1, sizeof *halo, &halo);
    if (status) return status;
    halo->context = c;
    halo->ranks = m->ranks;
    status = yoke_allocate(c, m->num_ranks, sizeof(int), &halo->neighbour);
    if (!status) status = yoke_allocate(c, m->num_ranks + 1, sizeof(int32_t), &halo->first);
    if (!status) status = yoke_allocate(c, count, sizeof(int32_t), &halo->item);
    if (!status) status = yoke_allocate(c, count, sizeof(int32_t), &halo->shared);
    if (!status) status = yoke_allocate(c, count, sizeof(int32_t), &halo->source);
    if (status) {
        fem_halo_destroy(halo);
        return status;
    }
    if (count) qsort(answers->items, (size_t)count, sizeof(answer), by_rank_and_key);
    fill(answers->items, count, halo);
    *out = halo;
    return YOKE_OK;
}

/* A message of several bytes, so that counts are of items. */
static MPI_Datatype item_type(int bytes)
{
    MPI_Datatype type;
    MPI_Type_contiguous(bytes, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

yoke_status fem_halo_create(yoke_context *context, app_ranks *ranks, int64_t count, const fem_halo_key *keys, fem_halo **halo)
{
    const meeting m = {context, ranks, app_ranks_count(ranks)};
    lists mine = {.all = 0}, theirs = {.all = 0}, answers = {.all = 0}, told = {.all = 0};
    MPI_Datatype key_type = item_type(sizeof *keys), answer_type = item_type(sizeof(answer));
    fem_halo *made = NULL;
    yoke_status status = swap_lists(&m, address_keys(&m, count, keys, &mine), key_type, sizeof *keys, &mine, &theirs);
    if (!status) status = swap_lists(&m, find_answers(&m, &theirs, &answers), answer_type, sizeof(answer), &answers, &told);
    if (!status) status = app_ranks_agree(ranks, make_halo(&m, &told, &made));
    release_lists(&m, &mine);
    release_lists(&m, &theirs);
    release_lists(&m, &answers);
    release_lists(&m, &told);
    MPI_Type_free(&key_type);
    MPI_Type_free(&answer_type);
    if (status)
        fem_halo_destroy(made);
    else
        *halo = made;
    return status;
}
