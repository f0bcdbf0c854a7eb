/*
 * halo_create.c - finds which ranks share which nodes.  Each rank sends its keys to the ranks where the keys meet.  A rank that receives
 * the same key from several ranks informs these ranks of each other.
 */
#include <stdlib.h>

#include "space/exchange/halo.h"
#include "space/exchange/lists.h"

/* ----------------------------------------------------------------------------------------------- keys for a rank */

static yoke_status address_keys(yoke_context *context, const app_ranks *ranks, int64_t count, const fem_halo_key *keys, const int *meeting,
                                fem_lists *sent)
{
    yoke_status status = fem_lists_start(context, ranks, sizeof *keys, sent);
    if (status) return status;
    for (int64_t i = 0; i < count; i++) sent->count[meeting[i]]++;
    status = fem_lists_place(sent);
    if (status) return status;
    for (int64_t i = 0; i < count; i++) *(fem_halo_key *)fem_lists_next(sent, meeting[i]) = keys[i];
    fem_lists_rewind(sent);
    return YOKE_OK;
}

/* A received key.  An answer says that another rank has the same key. */
typedef struct arrival {
    fem_halo_key key;
    int rank;
} arrival;

typedef struct answer {
    fem_halo_key key; /* with the receiver's node */
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

/* -------------------------------------------------------------------------------------------------------- answers */

/* Counts the answers to each rank (write = 0) or writes them.  The arrivals are sorted. */
static void answer_all(const arrival *arrivals, int64_t count, int write, fem_lists *answers)
{
    for (int64_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && !compare_keys(&arrivals[end].key, &arrivals[first].key);) end++;
        for (int64_t i = first; i < end; i++) {
            for (int64_t k = first; k < end; k++) {
                if (k == i) continue;
                const int r = arrivals[i].rank;
                if (write)
                    *(answer *)fem_lists_next(answers, r) = (answer){.key = arrivals[i].key, .rank = arrivals[k].rank};
                else
                    answers->count[r]++;
            }
        }
    }
}

static yoke_status find_answers(yoke_context *context, const app_ranks *ranks, const fem_lists *keys, fem_lists *answers)
{
    arrival *arrivals = NULL;
    yoke_status status = fem_lists_start(context, ranks, sizeof(answer), answers);
    if (!status) status = yoke_allocate(context, keys->all, sizeof *arrivals, &arrivals);
    if (!status) {
        for (int r = 0; r < keys->num_ranks; r++)
            for (int i = keys->first[r]; i < keys->first[r] + keys->count[r]; i++)
                arrivals[i] = (arrival){((fem_halo_key *)keys->items)[i], r};
        if (keys->all) qsort(arrivals, (size_t)keys->all, sizeof *arrivals, by_key);
        answer_all(arrivals, keys->all, 0, answers);
        status = fem_lists_place(answers);
    }
    if (!status) {
        answer_all(arrivals, keys->all, 1, answers);
        fem_lists_rewind(answers);
    }
    yoke_release(context, arrivals);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- the halo */

static int by_number(const void *a, const void *b)
{
    const int32_t *p = a, *q = b;
    return (*p > *q) - (*p < *q);
}

/* Index of a node in the ascending list of shared nodes. */
static int32_t index_of(const fem_halo *halo, int32_t node)
{
    const int32_t *found = bsearch(&node, halo->shared, (size_t)halo->num_shared, sizeof node, by_number);
    return (int32_t)(found - halo->shared);
}

static void fill(const answer *a, int32_t count, fem_halo *halo)
{
    for (int32_t i = 0; i < count; i++) halo->shared[i] = a[i].key.node;
    if (count) qsort(halo->shared, (size_t)count, sizeof *halo->shared, by_number);
    for (int32_t i = 0; i < count; i++)
        if (!i || halo->shared[i] != halo->shared[halo->num_shared - 1]) halo->shared[halo->num_shared++] = halo->shared[i];
    for (int32_t s = 0; s < halo->num_shared; s++) halo->source[s] = -1;
    for (int32_t i = 0; i < count; i++) {
        if (!i || a[i].rank != a[i - 1].rank) halo->neighbour[halo->num_neighbours++] = a[i].rank;
        halo->item[i] = index_of(halo, a[i].key.node);
        halo->first[halo->num_neighbours] = i + 1;
    }
}

static yoke_status make_halo(yoke_context *context, app_ranks *ranks, fem_lists *answers, fem_halo **out)
{
    const int32_t count = (int32_t)answers->all;
    fem_halo *halo;
    yoke_status status = yoke_allocate(context, 1, sizeof *halo, &halo);
    if (status) return status;
    halo->context = context;
    halo->ranks = ranks;
    status = yoke_allocate(context, answers->num_ranks, sizeof(int), &halo->neighbour);
    if (!status) status = yoke_allocate(context, answers->num_ranks + 1, sizeof(int32_t), &halo->first);
    if (!status) status = yoke_allocate(context, count, sizeof(int32_t), &halo->item);
    if (!status) status = yoke_allocate(context, count, sizeof(int32_t), &halo->shared);
    if (!status) status = yoke_allocate(context, count, sizeof(int32_t), &halo->source);
    if (status) {
        fem_halo_destroy(halo);
        return status;
    }
    if (count) qsort(answers->items, (size_t)count, sizeof(answer), by_rank_and_key);
    fill(answers->items, count, halo);
    *out = halo;
    return YOKE_OK;
}

yoke_status fem_halo_create(yoke_context *context, app_ranks *ranks, int64_t count, const fem_halo_key *keys, const int *meeting,
                            fem_halo **halo)
{
    fem_lists mine = {.all = 0}, theirs = {.all = 0}, answers = {.all = 0}, told = {.all = 0};
    fem_halo *made = NULL;
    yoke_status status = fem_lists_swap(context, ranks, address_keys(context, ranks, count, keys, meeting, &mine), &mine, &theirs);
    if (!status) status = fem_lists_swap(context, ranks, find_answers(context, ranks, &theirs, &answers), &answers, &told);
    if (!status) status = app_ranks_agree(ranks, make_halo(context, ranks, &told, &made));
    fem_lists_release(&mine);
    fem_lists_release(&theirs);
    fem_lists_release(&answers);
    fem_lists_release(&told);
    if (status)
        fem_halo_destroy(made);
    else
        *halo = made;
    return status;
}
