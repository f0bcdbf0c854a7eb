/* graph.h - finds which ranks share how many nodes if a brick of octrees is cut along its Morton order. */
#ifndef BENCH_SCALING_GRAPH_H
#define BENCH_SCALING_GRAPH_H

#include "yoke/yoke.h"

/* A cube of trees x trees x trees successive octrees, each refined `depth` times, and the beginnings of the ranks. */
typedef struct scaling_mesh {
    int64_t trees;
    int depth;
    int64_t ranks;
    int64_t *first; /* [ranks + 1]: elements in Morton order */
} scaling_mesh;

/* Number of elements of all trees. */
int64_t scaling_mesh_elements(const scaling_mesh *mesh);

/* Cuts into equal parts, moved down to multiples of `granule` elements.  Release first with yoke_release.  Errors: MEMORY. */
yoke_status scaling_mesh_cut(yoke_context *context, scaling_mesh *mesh, int64_t granule);

/* What two ranks share: faces, edges and corners of cells. */
typedef struct scaling_border {
    int32_t neighbour, faces, edges, corners;
} scaling_border;

/* Trees refined `depth` times, at most as often as those of the mesh; a cell belongs to the rank of its first element. */
typedef struct scaling_graph {
    int depth;
    int64_t ranks;
    int64_t *first;         /* [ranks + 1]: of borders */
    scaling_border *border; /* sorted by neighbour */
} scaling_graph;

/* Errors: MEMORY. */
yoke_status scaling_graph_create(yoke_context *context, const scaling_mesh *mesh, int depth, scaling_graph *graph);
void scaling_graph_release(yoke_context *context, scaling_graph *graph);

/* Number of shared nodes if a cell has `intervals` intervals between nodes on a side. */
double scaling_border_nodes(const scaling_border *border, double intervals);

#endif
