/*
 * multigrid/pieces.c - contributions of elements to the matrices of parts that other ranks solve.
 *
 * A piece is sent as words of eight bytes: the numbers of nodes and pairs, the nodes' numbers over all ranks, the pairs (a byte for each
 * node), and the matrix.
 */
#include <string.h>

#include "solver/multigrid/couplings.h"
#include "solver/multigrid/reach_parts.h"

enum { WORD = sizeof(int64_t), MOST_NODES = 27 };

typedef struct outbox {
    const multigrid_reach *reach;
    const int32_t *root;
    fem_lists sent;
} outbox;

/* The nodes of an element that are in one part, and their positions among the element's nodes. */
typedef struct selection {
    int count, num_pairs, rank;
    int32_t node[MOST_NODES];
    int place[MOST_NODES];
    uint8_t pair[MULTIGRID_MOST_PAIRS][2];
} selection;

static int index_of(const selection *s, int32_t node)
{
    for (int i = 0; i < s->count; i++)
        if (s->node[i] == node) return i;
    return -1;
}

static void select_pairs(const fem_space *space, int32_t element, selection *s)
{
    int32_t pair[MULTIGRID_MOST_PAIRS][2];
    const int count = multigrid_element_pairs(space, element, pair);
    s->num_pairs = 0;
    for (int i = 0; i < count; i++) {
        const int a = index_of(s, pair[i][0]), b = index_of(s, pair[i][1]);
        if (a < 0 || b < 0) continue;
        s->pair[s->num_pairs][0] = (uint8_t)a;
        s->pair[s->num_pairs++][1] = (uint8_t)b;
    }
}

/* Makes the selections of an element, one for each part that another rank solves; returns their number. */
static int select_parts(const outbox *o, int32_t element, selection *selections)
{
    const fem_space *space = o->reach->space;
    const int32_t *nodes = space->element_nodes + space->slots * (int64_t)element;
    int32_t root[MOST_NODES];
    int count = 0, place = 0;
    for (int s = 0; s < space->slots; s++) {
        if (nodes[s] < 0) continue;
        if (o->reach->solver[nodes[s]] >= 0) {
            int k = 0;
            while (k < count && root[k] != o->root[nodes[s]]) k++;
            if (k == count) {
                root[count++] = o->root[nodes[s]];
                selections[k].count = 0;
                selections[k].rank = o->reach->solver[nodes[s]];
            }
            selections[k].place[selections[k].count] = place;
            selections[k].node[selections[k].count++] = nodes[s];
        }
        place++;
    }
    for (int k = 0; k < count; k++) select_pairs(space, element, &selections[k]);
    return count;
}

static int triangle(int rows) { return rows * (rows + 1) / 2; }

static int pair_words(int pairs) { return (2 * pairs + WORD - 1) / WORD; }

static int words_of(int components, int nodes, int pairs) { return 1 + nodes + pair_words(pairs) + triangle(components * nodes); }

static void write_piece(const fem_space *space, const selection *s, const double *packed, int64_t *word)
{
    const int n = space->components;
    const int32_t head[2] = {s->count, s->num_pairs};
    double *value = (double *)(word + 1 + s->count + pair_words(s->num_pairs));
    memcpy(word, head, sizeof head);
    for (int i = 0; i < s->count; i++) word[1 + i] = space->global_node[s->node[i]];
    memcpy(word + 1 + s->count, s->pair, 2 * (size_t)s->num_pairs);
    for (int row = 0; row < n * s->count; row++) {
        for (int column = 0; column <= row; column++) {
            const int a = s->place[row / n] * n + row % n, b = s->place[column / n] * n + column % n;
            *value++ = a >= b ? packed[triangle(a) + b] : packed[triangle(b) + a];
        }
    }
}

static void send_element(int32_t element, const double *packed, void *user)
{
    outbox *o = user;
    selection selections[MOST_NODES];
    const int count = select_parts(o, element, selections);
    for (int k = 0; k < count; k++) {
        const selection *s = &selections[k];
        int *first = &o->sent.first[s->rank];
        write_piece(o->reach->space, s, packed, (int64_t *)o->sent.items + *first);
        *first += words_of(o->reach->components, s->count, s->num_pairs);
    }
}

static yoke_status write_pieces(outbox *o, fem_subdomain *subdomain)
{
    const fem_space *space = o->reach->space;
    selection selections[MOST_NODES];
    yoke_status status = fem_lists_start(space->context, space->ranks, WORD, &o->sent);
    for (int32_t e = 0; e < space->num_elements && !status; e++) {
        const int count = select_parts(o, e, selections);
        for (int k = 0; k < count; k++)
            o->sent.count[selections[k].rank] += words_of(space->components, selections[k].count, selections[k].num_pairs);
    }
    if (!status) status = fem_lists_place(&o->sent);
    if (!status && o->sent.all) status = subdomain->call->visit_matrices(subdomain, send_element, o);
    if (!status) fem_lists_rewind(&o->sent);
    return status;
}

/* Finds the pieces in the received words; replaces their nodes by those of the reach.  If pieces is NULL, only counts. */
static int64_t read_pieces(multigrid_reach *reach, const reach_name *names, int64_t count, multigrid_piece *piece)
{
    int64_t *word = reach->pieces.items, *end = word + reach->pieces.all, pieces = 0;
    while (word < end) {
        int32_t head[2];
        memcpy(head, word, sizeof head);
        if (piece) {
            int64_t *node = word + 1;
            for (int i = 0; i < head[0]; i++) node[i] = reach_find(names, count, node[i]);
            piece[pieces] = (multigrid_piece){.count = head[0],
                                              .num_pairs = head[1],
                                              .node = node,
                                              .pair = (const uint8_t *)(node + head[0]),
                                              .packed = (const double *)(node + head[0] + pair_words(head[1]))};
        }
        pieces++;
        word += words_of(reach->components, head[0], head[1]);
    }
    return pieces;
}

yoke_status reach_exchange_pieces(multigrid_reach *reach, fem_subdomain *subdomain, const int32_t *root, const reach_name *names,
                                  int64_t count)
{
    outbox o = {.reach = reach, .root = root};
    app_ranks *ranks = reach->space->ranks;
    yoke_status status = fem_lists_swap(reach->context, ranks, write_pieces(&o, subdomain), &o.sent, &reach->pieces);
    fem_lists_release(&o.sent);
    if (status) return status;
    reach->num_pieces = read_pieces(reach, names, count, NULL);
    status = yoke_allocate(reach->context, reach->num_pieces, sizeof *reach->piece, &reach->piece);
    if (!status) read_pieces(reach, names, count, reach->piece);
    return app_ranks_agree(ranks, status);
}
