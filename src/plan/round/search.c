/*
 * search.c - branch and bound for rounds; the node with the least bound comes first.
 */
#include <math.h>
#include <string.h>

#include "plan/round/round.h"

enum { MAX_OPEN_BYTES = 1 << 27, ROOT_TURNS = 100, NODE_TURNS = 20 };

static round_node *node_at(const round_search *search, int64_t k) { return (round_node *)(void *)(search->pool + k * search->stride); }

/* ------------------------------------------------------------------------------------------------------- open nodes */

static int comes_first(const round_search *search, int64_t a, int64_t b)
{
    const round_node *x = node_at(search, a), *y = node_at(search, b);
    return x->bound != y->bound ? x->bound < y->bound : x->number > y->number;
}

static yoke_status grow(round_search *search)
{
    yoke_context *context = search->work->context;
    const int64_t room = search->room > 0 ? 2 * search->room : 64;
    char *pool = NULL;
    int64_t *heap = NULL, *unused = NULL;
    yoke_status status = yoke_allocate_untouched(context, room, (size_t)search->stride, &pool);
    if (status == YOKE_OK) status = yoke_allocate_untouched(context, room, sizeof *heap, &heap);
    if (status == YOKE_OK) status = yoke_allocate_untouched(context, room, sizeof *unused, &unused);
    if (status != YOKE_OK) {
        yoke_release(context, pool);
        yoke_release(context, heap);
        return status;
    }
    if (search->room > 0) memcpy(pool, search->pool, (size_t)(search->room * search->stride));
    if (search->count > 0) memcpy(heap, search->heap, (size_t)search->count * sizeof *heap);
    if (search->num_free > 0) memcpy(unused, search->free, (size_t)search->num_free * sizeof *unused);
    for (int64_t k = room - 1; k >= search->room; k--) unused[search->num_free++] = k;
    yoke_release(context, search->pool);
    yoke_release(context, search->heap);
    yoke_release(context, search->free);
    search->pool = pool;
    search->heap = heap;
    search->free = unused;
    search->room = room;
    return YOKE_OK;
}

static void push(round_search *search, const round_node *node)
{
    const int64_t k = search->free[--search->num_free];
    memcpy(node_at(search, k), node, (size_t)search->stride);
    node_at(search, k)->number = search->made++;
    int64_t at = search->count++;
    for (; at > 0 && comes_first(search, k, search->heap[(at - 1) / 2]); at = (at - 1) / 2) search->heap[at] = search->heap[(at - 1) / 2];
    search->heap[at] = k;
}

static void pop(round_search *search, round_node *node)
{
    const int64_t first = search->heap[0], last = search->heap[--search->count];
    int64_t at = 0;
    memcpy(node, node_at(search, first), (size_t)search->stride);
    search->free[search->num_free++] = first;
    for (int64_t child; (child = 2 * at + 1) < search->count; at = child) {
        if (child + 1 < search->count && comes_first(search, search->heap[child + 1], search->heap[child])) child++;
        if (!comes_first(search, search->heap[child], last)) break;
        search->heap[at] = search->heap[child];
    }
    if (search->count > 0) search->heap[at] = last;
}

/* --------------------------------------------------------------------------------------------------------- the search */

static void split(const round_search *search, const round_node *node, round_node *parts[2])
{
    memcpy(parts[0], node, (size_t)search->stride);
    memcpy(parts[1], node, (size_t)search->stride);
    if (node->device < 0) {
        parts[0]->high_s = parts[1]->low_s = node->middle_s;
    } else if (node->levels) {
        parts[0]->last[node->device] = (int)node->at;
        parts[1]->first[node->device] = (int)node->at + 1;
    } else {
        round_units(search, parts[0], node->cut, node->device)[1] = node->at;
        round_units(search, parts[1], node->cut, node->device)[0] = node->at + 1;
    }
}

static void fill_root(const round_search *search, round_node *root)
{
    const plan_work *work = search->work;
    memset(root, 0, (size_t)search->stride);
    root->low_s = search->limits->least_s;
    root->high_s = search->limits->deadline_s;
    for (int i = 0; i < work->num_devices; i++) {
        root->first[i] = search->limits->first_level[i];
        root->last[i] = search->limits->last_level[i];
        for (int c = 0; c < work->num_cuts; c++) {
            const int64_t n = work->cut_units[c], most = c == 0 && search->limits->most[i] < n ? search->limits->most[i] : n;
            const int *allowed = search->limits->allowed;
            round_units(search, root, c, i)[1] = allowed != NULL && !allowed[work->devices[i].given] ? 0 : most;
        }
    }
}

/* Offers all units on one device, at each level. */
static void try_single(round_search *search, round_node *root)
{
    const plan_work *work = search->work;
    const int devices = work->num_devices;
    int64_t units[PLAN_MAX_CUTS * PLAN_MAX_DEVICES], levels[PLAN_MAX_DEVICES];
    for (int i = 0; i < devices; i++) levels[i] = work->devices[i].levels[search->limits->last_level[i]].given;
    for (int i = 0; i < devices; i++) {
        const int64_t own = levels[i];
        int fits = 1;
        for (int c = 0; c < work->num_cuts; c++) {
            fits &= round_units(search, root, c, i)[1] == work->cut_units[c];
            for (int j = 0; j < devices; j++) units[c * devices + j] = i == j ? work->cut_units[c] : 0;
        }
        for (int l = search->limits->first_level[i]; l <= search->limits->last_level[i] && fits; l++) {
            levels[i] = work->devices[i].levels[l].given;
            round_offer(search, units, levels);
        }
        levels[i] = own;
    }
}

/* Offers even shares, improved. */
static void try_even(round_search *search, round_node *root)
{
    const plan_work *work = search->work;
    const int devices = work->num_devices;
    int64_t units[PLAN_MAX_CUTS * PLAN_MAX_DEVICES], levels[PLAN_MAX_DEVICES];
    for (int i = 0; i < devices; i++) levels[i] = work->devices[i].levels[search->limits->last_level[i]].given;
    for (int c = 0; c < work->num_cuts; c++) {
        int64_t left = work->cut_units[c];
        for (int turn = 0; turn < 2; turn++)
            for (int i = 0; i < devices; i++) {
                const int64_t most = round_units(search, root, c, i)[1];
                int64_t *own = &units[c * devices + i], add = turn == 0 ? work->cut_units[c] / devices : left;
                if (turn == 0) *own = 0;
                if (add > most - *own) add = most - *own;
                if (add > left) add = left;
                *own += add;
                left -= add;
            }
    }
    round_improve(search, units, levels, 4);
}

static void try_relaxed(round_search *search, void (*how)(round_search *, const int64_t *, const int64_t *))
{
    int64_t units[PLAN_MAX_CUTS * PLAN_MAX_DEVICES], levels[PLAN_MAX_DEVICES];
    round_from_relaxed(search, units, levels);
    how(search, units, levels);
}

static void improve_by_quarter(round_search *search, const int64_t *units, const int64_t *levels)
{
    round_improve(search, units, levels, 4);
}

/*
 * Examines the halves of a node and keeps those that are left.  When diving, the half with the smaller bound becomes the node and is not
 * kept; returns nonzero if there is one.
 */
static int split_one(round_search *search, round_node *node, round_node *parts[2], int diving)
{
    int open[2], next = -1;
    split(search, node, parts);
    for (int k = 0; k < 2; k++) {
        const double before = search->best->value;
        search->best->result.nodes++;
        open[k] = round_look(search, parts[k], NODE_TURNS);
        if (!open[k]) continue;
        try_relaxed(search, search->made % (diving ? 4 : 16) == 0 ? round_polish : round_offer);
        if (search->best->value < before * (1 - 1e-6)) try_relaxed(search, improve_by_quarter);
        if (diving && (next < 0 || parts[k]->bound < parts[next]->bound)) next = k;
    }
    for (int k = 0; k < 2; k++)
        if (open[k] && k != next) push(search, parts[k]);
    if (next >= 0) memcpy(node, parts[next], (size_t)search->stride);
    return next >= 0;
}

/*
 * Examines the halves of the best open node until none is left; at intervals it dives to a single choice.  *full: more nodes would need too
 * much memory.
 */
static yoke_status split_all(round_search *search, round_node *node, round_node *parts[2], int *full)
{
    enum { NEEDED = 3, BETWEEN_DIVES = 32 };
    const plan_result *result = &search->best->result;
    int held = 0, diving = 0;
    yoke_status status = YOKE_OK;
    for (int64_t taken = 0; (held || search->count > 0) && result->nodes < search->last_node && !plan_count_node(search->work);) {
        *full = search->num_free < NEEDED && 2 * search->room * search->stride > MAX_OPEN_BYTES;
        if (!*full && search->num_free < NEEDED) status = grow(search);
        if (*full || status != YOKE_OK) break;
        if (!held) {
            if (node_at(search, search->heap[0])->bound >= search_enough(search->best)) {
                search->count = 0;
                break;
            }
            pop(search, node);
            diving = taken++ % BETWEEN_DIVES == 0;
        }
        held = node->bound < search_enough(search->best) && split_one(search, node, parts, diving);
    }
    if (held) push(search, node);
    return status;
}

/* Sets what is proved when no node is open, or when the search ended early. */
static void judge(const round_search *search)
{
    search_best *best = search->best;
    plan_result *result = &best->result;
    best->open = !result->feasible && search->count > 0;
    result->optimal = 0;
    result->gap = NAN;
    if (!result->feasible) return;
    const double least = search->count > 0 ? fmin(node_at(search, search->heap[0])->bound, search_enough(best)) : search_enough(best);
    const double gap = best->value > 0 ? fmin(1, fmax(0, (best->value - least) / best->value)) : 0;
    result->optimal = !(gap > 2 * PLAN_ROUNDING);
    result->gap = result->optimal ? 0 : gap;
}

static yoke_status allocate(round_search *search)
{
    const plan_work *work = search->work;
    yoke_context *context = work->context;
    const int64_t devices = work->num_devices, parts = (int64_t)search->num_groups * devices;
    round_box *box = &search->box;
    round_relaxed *relaxed = &search->relaxed;
    const struct {
        int64_t count;
        size_t size;
        void *pointer; /* its address */
    } blocks[] = {{(int64_t)search->num_levels * (search->num_lines + 1), sizeof(double), &search->alone},
                  {parts, sizeof *relaxed->parts, &relaxed->parts},
                  {parts, sizeof(double), &relaxed->mixed},
                  {search->num_levels, sizeof(double), &relaxed->weights},
                  {devices, sizeof(double), &relaxed->rough},
                  {devices, sizeof(int), &relaxed->levels},
                  {devices, sizeof(int), &relaxed->other_levels},
                  {work->num_cuts * (devices + 1), sizeof *box->before, &box->before},
                  {work->num_phases * devices, sizeof *box->fewest, &box->fewest},
                  {parts, sizeof *box->parts, &box->parts},
                  {work->num_intervals * devices, sizeof *box->seconds, &box->seconds},
                  {search->num_levels, 1, &box->possible},
                  {devices, 1, &box->may_be_off},
                  {devices, 1, &box->may_work},
                  {devices, sizeof(double), &box->idle_w}};
    yoke_status status = YOKE_OK;
    for (size_t k = 0; k < sizeof blocks / sizeof blocks[0] && status == YOKE_OK; k++)
        status = yoke_allocate_memory(context, blocks[k].count, blocks[k].size, 0, blocks[k].pointer);
    return status;
}

static void release(round_search *search)
{
    yoke_context *context = search->work->context;
    for (int64_t k = 0; search->curves != NULL && k < (int64_t)search->num_levels * search->num_groups; k++) {
        yoke_release(context, search->curves[k].corners);
        yoke_release(context, search->curves[k].joules);
        yoke_release(context, search->curves[k].seconds);
        yoke_release(context, search->curves[k].above);
    }
    round_box *box = &search->box;
    round_relaxed *relaxed = &search->relaxed;
    void *const blocks[] = {search->curves, search->alone,   relaxed->parts,        relaxed->mixed,  relaxed->weights,
                            relaxed->rough, relaxed->levels, relaxed->other_levels, box->before,     box->fewest,
                            box->parts,     box->seconds,    box->possible,         box->may_be_off, box->may_work,
                            box->idle_w,    search->pool,    search->heap,          search->free};
    round_program_destroy(search);
    for (size_t k = 0; k < sizeof blocks / sizeof blocks[0]; k++) yoke_release(context, blocks[k]);
}

/* Searches from the root.  nodes: the node that is examined, and its halves. */
static yoke_status search_tree(round_search *search, round_node *nodes[3])
{
    fill_root(search, nodes[0]);
    try_single(search, nodes[0]);
    if (!search->best->result.feasible) try_even(search, nodes[0]);
    yoke_status status = grow(search);
    if (status != YOKE_OK) return status;
    search->best->result.nodes++;
    if (round_look(search, nodes[0], ROOT_TURNS)) {
        try_relaxed(search, improve_by_quarter);
        push(search, nodes[0]);
    }
    int full = 0;
    status = split_all(search, nodes[0], nodes + 1, &full);
    /* improve the best once more, with all evaluations that are left */
    if (status == YOKE_OK && search->count > 0 && search->best->result.feasible) {
        const plan_result last = search->best->result;
        round_improve(search, last.units, last.levels, 1);
    }
    if (status == YOKE_OK) judge(search);
    return status;
}

yoke_status search_round(plan_work *work, const search_limits *limits, search_best *best)
{
    round_search search = {.work = work, .limits = limits, .best = best};
    round_make_groups(&search);
    search.stride = (int64_t)((sizeof(round_node) + 2 * sizeof(int64_t) * (size_t)(work->num_cuts * work->num_devices) + 15) / 16 * 16);
    search.last_node = best->result.nodes + work->search_nodes;
    search.evaluations = 1200000 / work->num_devices;
    char *memory = NULL;
    yoke_status status = allocate(&search);
    if (status == YOKE_OK) status = round_make_curves(&search);
    if (status == YOKE_OK) status = round_program_create(&search);
    if (status == YOKE_OK) status = yoke_allocate(work->context, 3, (size_t)search.stride, &memory);
    if (status == YOKE_OK) {
        round_node *nodes[3];
        for (int k = 0; k < 3; k++) nodes[k] = (round_node *)(void *)(memory + k * search.stride);
        status = search_tree(&search, nodes);
    }
    yoke_release(work->context, memory);
    release(&search);
    return status;
}
