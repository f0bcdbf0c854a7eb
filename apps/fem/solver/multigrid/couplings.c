#include "solver/multigrid/couplings.h"

#include <math.h>
#include <string.h>

/* A direction of an element is short if the element's longest edge is more than this many times as long. */
static const double short_ratio = 4;
/*
 * A mesh is stretched if the ratio of longest to shortest edge exceeds one_ratio in one element, many_ratio in a sixth of the elements, or
 * most_ratio, just above short_ratio, in half of them.  A few less stretched elements cost the smoother of single nodes some iterations,
 * but less time than blocks and their set-up.
 */
static const double one_ratio = 9, many_ratio = 6, most_ratio = 4.5;

/*
 * A block costs memory and time in proportion to its width: the largest number of nodes at one distance from its end.  A cross-section of
 * needles that is wider than `most` is cut into bands of `band` distances.  This has little effect on needles 10 times as long as wide (11
 * iterations instead of 5), but a large one on needles 100 times as long (119 to 169 instead of 10).  For these, whole cross-sections are
 * worth up to 3.5 kB per dof, a third or less of what a factor of the whole matrix takes.
 */
typedef struct width {
    int32_t most, band;
} width;
static const width usual_width = {12, 8}, sharp_width = {160, 16};
static const double sharp_needle = 12;
/* Entries of a row of a cross-section's factor, for each node of its width and each component. */
static const double row_entries = 1.8;

/* -------------------------------------------------------------------------------------------------- couplings */

static void mean_edges(const fem_mesh *mesh, int64_t element, double length[3])
{
    for (int a = 0; a < 3; a++) {
        double edge[3] = {0, 0, 0};
        for (int corner = 0; corner < 8; corner++)
            for (int i = 0; i < 3; i++)
                edge[i] += (corner >> a & 1 ? 0.25 : -0.25) * mesh->vertices[3 * (int64_t)mesh->corners[8 * element + corner] + i];
        length[a] = sqrt(edge[0] * edge[0] + edge[1] * edge[1] + edge[2] * edge[2]);
    }
}

/* Returns the short axes of a coarse element: bit a.  Its leaves are stretched as much as the element itself. */
static int short_axes(const fem_mesh *mesh, int64_t element)
{
    double length[3];
    mean_edges(mesh, element, length);
    const double longest = fmax(fmax(length[0], length[1]), length[2]);
    int axes = 0;
    for (int a = 0; a < 3; a++) axes |= (short_ratio * length[a] < longest) << a;
    return axes;
}

static width width_for(const fem_mesh *mesh)
{
    for (int64_t element = 0; element < mesh->num_elements; element++) {
        double length[3];
        mean_edges(mesh, element, length);
        const double longest = fmax(fmax(length[0], length[1]), length[2]);
        int shorter = 0;
        for (int a = 0; a < 3; a++) shorter += sharp_needle * length[a] < longest;
        if (shorter == 2) return sharp_width;
    }
    return usual_width;
}

int multigrid_is_stretched(const fem_mesh *mesh)
{
    int64_t many = 0, most = 0;
    for (int64_t element = 0; element < mesh->num_elements; element++) {
        double length[3];
        mean_edges(mesh, element, length);
        const double longest = fmax(fmax(length[0], length[1]), length[2]), least = fmin(fmin(length[0], length[1]), length[2]);
        if (longest > one_ratio * least) return 1;
        many += longest > many_ratio * least;
        most += longest > most_ratio * least;
    }
    return 6 * many > mesh->num_elements || 2 * most > mesh->num_elements;
}

int multigrid_element_pairs(const fem_space *space, int32_t element, int32_t pair[MULTIGRID_MOST_PAIRS][2])
{
    const int n = space->slots_1d, stride[3] = {1, n, n * n};
    const int32_t *nodes = space->element_nodes + space->slots * (int64_t)element;
    const int axes = short_axes(space->problem->mesh, space->tree[element]);
    int count = 0;
    for (int a = 0; a < 3; a++) {
        if (!(axes >> a & 1)) continue;
        for (int s = 0; s < space->slots; s++) {
            if (s / stride[a] % n) continue;
            int32_t last = -1;
            for (int k = 0; k < n; k++) {
                const int32_t node = nodes[s + k * stride[a]];
                if (node < 0) continue;
                if (last >= 0 && last != node) {
                    pair[count][0] = last;
                    pair[count++][1] = node;
                }
                last = node;
            }
        }
    }
    return count;
}

/* Called for the pairs of the space's elements, and of the pieces of other ranks. */
typedef void pair_visitor(int32_t a, int32_t b, void *user);

static void visit_pairs(const multigrid_reach *reach, pair_visitor *visit, void *user)
{
    for (int32_t e = 0; e < reach->space->num_elements; e++) {
        int32_t pair[MULTIGRID_MOST_PAIRS][2];
        const int count = multigrid_element_pairs(reach->space, e, pair);
        for (int i = 0; i < count; i++) visit(pair[i][0], pair[i][1], user);
    }
    for (int64_t p = 0; p < reach->num_pieces; p++) {
        const multigrid_piece *piece = &reach->piece[p];
        for (int i = 0; i < piece->num_pairs; i++)
            visit((int32_t)piece->node[piece->pair[2 * i]], (int32_t)piece->node[piece->pair[2 * i + 1]], user);
    }
}

/* The graph of strong couplings; an edge that belongs to several elements occurs several times. */
typedef struct graph {
    int64_t *start;
    int32_t *to;
} graph;

static void count_pair(int32_t a, int32_t b, void *user)
{
    graph *g = user;
    g->start[a + 2]++;
    g->start[b + 2]++;
}

static void add_pair(int32_t a, int32_t b, void *user)
{
    graph *g = user;
    g->to[g->start[a + 1]++] = b;
    g->to[g->start[b + 1]++] = a;
}

/* Returns the node of the reach at position `at` in the order of numbers over all ranks. */
static int32_t node_at(const multigrid_reach *reach, int32_t at) { return reach->order ? reach->order[at] : at; }

/* Sorts each node's neighbours by their numbers over all ranks, so that searches visit them in the same order on any number of ranks. */
static yoke_status sort_neighbours(const multigrid_reach *reach, graph *g)
{
    int64_t *next = NULL;
    int32_t *to = NULL;
    yoke_status status = yoke_allocate_untouched(reach->context, reach->num_nodes, sizeof *next, &next);
    if (!status) status = yoke_allocate_untouched(reach->context, g->start[reach->num_nodes], sizeof *to, &to);
    if (!status) {
        memcpy(next, g->start, sizeof *next * (size_t)reach->num_nodes);
        for (int32_t at = 0; at < reach->num_nodes; at++) {
            const int32_t node = node_at(reach, at);
            for (int64_t k = g->start[node]; k < g->start[node + 1]; k++) to[next[g->to[k]]++] = node;
        }
        yoke_release(reach->context, g->to);
        g->to = to;
    }
    yoke_release(reach->context, next);
    return status;
}

static yoke_status make_graph(const multigrid_reach *reach, graph *g)
{
    yoke_status status = yoke_allocate(reach->context, (int64_t)reach->num_nodes + 2, sizeof *g->start, &g->start);
    if (status) return status;
    visit_pairs(reach, count_pair, g);
    for (int32_t i = 0; i < reach->num_nodes; i++) g->start[i + 2] += g->start[i + 1];
    status = yoke_allocate_untouched(reach->context, g->start[reach->num_nodes + 1], sizeof *g->to, &g->to);
    if (status) return status;
    visit_pairs(reach, add_pair, g);
    return sort_neighbours(reach, g);
}

/* ------------------------------------------------------------------------------------------ blocks and their order */

/* A breadth-first search among the nodes of one label. */
typedef struct search {
    const graph *g;
    int32_t *label, *seen, *distance; /* [num_nodes]; seen: mark of the latest search that has visited the node */
    int32_t mark;
    width width;
    int components;
    double left_bytes; /* memory for cross-sections that are not cut although they are wider than usual */
    int32_t widest;    /* largest number of nodes at one distance from the root of the latest search */
} search;

/* Writes the nodes reached from `root`, nearest first, to node[at ..].  Returns the end. */
static int32_t search_from(search *s, int32_t root, int32_t *node, int32_t at)
{
    int32_t end = at, level_end = at;
    s->mark++;
    s->widest = 0;
    s->seen[root] = s->mark;
    s->distance[root] = 0;
    node[end++] = root;
    for (int32_t i = at; i < end; i++) {
        if (i == level_end) {
            level_end = end;
            if (end - i > s->widest) s->widest = end - i;
        }
        for (int64_t k = s->g->start[node[i]]; k < s->g->start[node[i] + 1]; k++) {
            const int32_t to = s->g->to[k];
            if (s->seen[to] == s->mark || s->label[to] != s->label[root]) continue;
            s->seen[to] = s->mark;
            s->distance[to] = s->distance[node[i]] + 1;
            node[end++] = to;
        }
    }
    return end;
}

/* As search_from, but from a far end of the nodes reached from `root`: the order of Cuthill and McKee. */
static int32_t search_from_end(search *s, int32_t root, int32_t *node, int32_t at)
{
    int32_t end = search_from(s, root, node, at);
    for (int sweep = 0; sweep < 2; sweep++) search_from(s, node[end - 1], node, at);
    return end;
}

/* Returns nonzero if a block of this many nodes, found by the latest search, is to be cut; otherwise reserves its memory. */
static int is_too_wide(search *s, int32_t nodes)
{
    if (s->widest <= usual_width.most) return 0;
    const double n = s->components, bytes = sizeof(float) * n * nodes * row_entries * n * s->widest;
    if (s->widest > s->width.most || bytes > s->left_bytes) return 1;
    s->left_bytes -= bytes;
    return 0;
}

/* Finds the connected parts of the graph, and cuts into bands those that are too wide to be factored cheaply. */
static void find_blocks(search *s, const multigrid_reach *reach, multigrid_partition *p)
{
    int32_t labels = 1;
    for (int32_t n = 0; n < reach->num_nodes; n++) p->block[n] = -1;
    for (int32_t at = 0; at < reach->num_nodes;) {
        const int32_t n = node_at(reach, at);
        const int is_elsewhere = reach->solver && n < reach->num_local && reach->solver[n] >= 0;
        if (p->block[n] >= 0 || is_elsewhere) {
            at++;
            continue;
        }
        const int32_t begin = p->begin[p->num_blocks], end = search_from_end(s, n, p->node, begin);
        if (s->label[n] == 0 && is_too_wide(s, end - begin)) {
            int32_t last = s->distance[p->node[end - 1]];
            for (int32_t i = begin; i < end; i++) s->label[p->node[i]] = labels + s->distance[p->node[i]] / s->width.band;
            labels += last / s->width.band + 1;
            continue; /* the node's band is found next */
        }
        for (int32_t i = begin; i < end; i++) {
            p->block[p->node[i]] = p->num_blocks;
            p->place[p->node[i]] = i - begin;
        }
        p->begin[++p->num_blocks] = end;
    }
}

static yoke_status make_partition(const multigrid_reach *reach, const graph *g, double most_bytes, multigrid_partition *p)
{
    yoke_context *context = reach->context;
    const int64_t nodes = reach->num_nodes;
    search s = {.g = g, .width = width_for(reach->space->problem->mesh), .components = reach->components, .left_bytes = most_bytes};
    int32_t **arrays[] = {&p->begin, &p->node, &p->block, &p->place, &s.label, &s.seen, &s.distance};
    yoke_status status = YOKE_OK;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays && !status; i++)
        status = yoke_allocate(context, nodes + 1, sizeof(int32_t), arrays[i]);
    if (!status) find_blocks(&s, reach, p);
    yoke_release(context, s.label);
    yoke_release(context, s.seen);
    yoke_release(context, s.distance);
    return status;
}

yoke_status multigrid_partition_create(const multigrid_reach *reach, double most_bytes, multigrid_partition *p)
{
    graph g = {NULL, NULL};
    *p = (multigrid_partition){.num_blocks = 0};
    yoke_status status = make_graph(reach, &g);
    if (!status) status = make_partition(reach, &g, most_bytes, p);
    yoke_release(reach->context, g.start);
    yoke_release(reach->context, g.to);
    return status;
}

void multigrid_partition_release(yoke_context *context, multigrid_partition *p)
{
    int32_t *arrays[] = {p->begin, p->node, p->block, p->place};
    for (int i = 0; i < 4; i++) yoke_release(context, arrays[i]);
}
