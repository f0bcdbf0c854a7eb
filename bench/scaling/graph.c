#include "scaling/graph.h"

#include <stdlib.h>

int64_t scaling_mesh_elements(const scaling_mesh *mesh) { return mesh->trees * mesh->trees * mesh->trees << 3 * mesh->depth; }

yoke_status scaling_mesh_cut(yoke_context *context, scaling_mesh *mesh, int64_t granule)
{
    const int64_t granules = scaling_mesh_elements(mesh) / granule;
    yoke_status status = yoke_allocate(context, mesh->ranks + 1, sizeof *mesh->first, &mesh->first);
    for (int64_t r = 0; r <= mesh->ranks && !status; r++)
        mesh->first[r] = granule * (granules / mesh->ranks * r + granules % mesh->ranks * r / mesh->ranks);
    return status;
}

double scaling_border_nodes(const scaling_border *b, double intervals)
{
    const double inner = intervals > 1 ? intervals - 1 : 0;
    return b->faces * inner * inner + b->edges * inner + b->corners;
}

/* ------------------------------------------------------------------------------------------------------ cells */

static int64_t spread_bits(int64_t x)
{
    int64_t spread = 0;
    for (int bit = 0; bit < 20; bit++) spread |= (x >> bit & 1) << 3 * bit;
    return spread;
}

static int32_t rank_of_element(const scaling_mesh *mesh, int64_t element)
{
    int64_t low = 0, high = mesh->ranks; /* first[low] <= element < first[high] */
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (mesh->first[middle] <= element)
            low = middle;
        else
            high = middle;
    }
    return (int32_t)low;
}

typedef struct cells {
    const scaling_mesh *mesh;
    int64_t side; /* cells along a side of the cube */
    int32_t *rank;
} cells;

static void find_ranks(cells *c, int depth)
{
    const int64_t trees = c->mesh->trees, in_tree = (int64_t)1 << depth;
    for (int64_t z = 0, at = 0; z < c->side; z++)
        for (int64_t y = 0; y < c->side; y++)
            for (int64_t x = 0; x < c->side; x++, at++) {
                const int64_t tree = (x >> depth) + trees * ((y >> depth) + trees * (z >> depth));
                const int64_t inside = spread_bits(x % in_tree) | spread_bits(y % in_tree) << 1 | spread_bits(z % in_tree) << 2;
                const int64_t cell = (tree << 3 * depth) + inside;
                c->rank[at] = rank_of_element(c->mesh, cell << 3 * (c->mesh->depth - depth));
            }
}

/* ---------------------------------------------------------------------------------------------------- borders */

typedef struct list {
    scaling_border *border;
    int64_t count, room;
} list;

typedef struct lists {
    yoke_context *context;
    list *of; /* [ranks] */
    yoke_status status;
} lists;

static void note(lists *all, int32_t rank, int32_t neighbour, int dimension)
{
    list *l = &all->of[rank];
    int64_t at = 0;
    while (at < l->count && l->border[at].neighbour != neighbour) at++;
    if (at == l->count) {
        if (!all->status) all->status = yoke_grow(all->context, &l->border, l->count, &l->room, 8, sizeof *l->border);
        if (all->status) return;
        l->border[l->count++] = (scaling_border){.neighbour = neighbour};
    }
    l->border[at].faces += dimension == 2;
    l->border[at].edges += dimension == 1;
    l->border[at].corners += dimension == 0;
}

/* Examines the (up to 2, 4 or 8) cells around a face, an edge or a corner; `directions`: bits of the axes along which the cells differ. */
static void look_around(lists *all, const cells *c, int64_t x, int64_t y, int64_t z, int directions)
{
    int32_t found[8];
    int count = 0, dimension = 3;
    for (int bit = 0; bit < 3; bit++) dimension -= directions >> bit & 1;
    for (int corner = 0; corner < 8; corner++) {
        if (corner & ~directions) continue;
        const int64_t i = x - (corner & 1), j = y - (corner >> 1 & 1), k = z - (corner >> 2 & 1);
        if (i < 0 || j < 0 || k < 0 || i >= c->side || j >= c->side || k >= c->side) continue;
        const int32_t rank = c->rank[i + c->side * (j + c->side * k)];
        int at = 0;
        while (at < count && found[at] != rank) at++;
        if (at == count) found[count++] = rank;
    }
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++)
            if (a != b) note(all, found[a], found[b], dimension);
}

static void find_borders(lists *all, const cells *c)
{
    for (int64_t z = 0; z <= c->side; z++)
        for (int64_t y = 0; y <= c->side; y++)
            for (int64_t x = 0; x <= c->side && !all->status; x++)
                for (int directions = 1; directions < 8; directions++) {
                    const int outside =
                        (x == c->side && !(directions & 1)) || (y == c->side && !(directions & 2)) || (z == c->side && !(directions & 4));
                    if (!outside) look_around(all, c, x, y, z, directions);
                }
}

static int by_neighbour(const void *a, const void *b)
{
    const scaling_border *p = a, *q = b;
    return (p->neighbour > q->neighbour) - (p->neighbour < q->neighbour);
}

static yoke_status pack(yoke_context *context, const lists *all, scaling_graph *graph)
{
    int64_t count = 0;
    for (int64_t r = 0; r < graph->ranks; r++) count += all->of[r].count;
    yoke_status status = yoke_allocate(context, graph->ranks + 1, sizeof *graph->first, &graph->first);
    if (!status) status = yoke_allocate(context, count, sizeof *graph->border, &graph->border);
    for (int64_t r = 0; r < graph->ranks && !status; r++) {
        const list *l = &all->of[r];
        for (int64_t i = 0; i < l->count; i++) graph->border[graph->first[r] + i] = l->border[i];
        if (l->count) qsort(graph->border + graph->first[r], (size_t)l->count, sizeof *l->border, by_neighbour);
        graph->first[r + 1] = graph->first[r] + l->count;
    }
    return status;
}

yoke_status scaling_graph_create(yoke_context *context, const scaling_mesh *mesh, int depth, scaling_graph *graph)
{
    cells c = {.mesh = mesh, .side = mesh->trees << depth};
    lists all = {.context = context};
    *graph = (scaling_graph){.depth = depth, .ranks = mesh->ranks};
    yoke_status status = yoke_allocate(context, c.side * c.side * c.side, sizeof *c.rank, &c.rank);
    if (!status) status = yoke_allocate(context, mesh->ranks, sizeof *all.of, &all.of);
    if (!status) {
        find_ranks(&c, depth);
        find_borders(&all, &c);
        status = all.status ? all.status : pack(context, &all, graph);
    }
    for (int64_t r = 0; r < mesh->ranks && all.of; r++) yoke_release(context, all.of[r].border);
    yoke_release(context, all.of);
    yoke_release(context, c.rank);
    if (status) scaling_graph_release(context, graph);
    return status;
}

void scaling_graph_release(yoke_context *context, scaling_graph *graph)
{
    yoke_release(context, graph->first);
    yoke_release(context, graph->border);
    *graph = (scaling_graph){0};
}
