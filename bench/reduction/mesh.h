/* mesh.h - hexahedra with 27 nodes and three dofs per node that fill a cube: the rows of the global vector to which each element adds. */
#ifndef BENCH_REDUCTION_MESH_H
#define BENCH_REDUCTION_MESH_H

#include <stdbool.h>

#include "yoke/yoke.h"

enum { ELEMENT_NODES = 27, NODE_DOFS = 3, ELEMENT_DOFS = ELEMENT_NODES * NODE_DOFS };

typedef enum reduction_order {
    REDUCTION_MORTON, /* elements along a space-filling curve, nodes in the order in which the elements touch them, as in yoke fem */
    REDUCTION_ROWS,   /* elements and nodes row by row */
    REDUCTION_RANDOM, /* both shuffled: no locality */
} reduction_order;

typedef struct reduction_mesh {
    yoke_context *context;
    int64_t elements, nodes;
    int32_t *node; /* [elements][ELEMENT_NODES] */
} reduction_mesh;

/*
 * The first `elements` (1 to 2 000 000) elements of the smallest cube that has at least this number; only their nodes are counted.
 * Errors: MEMORY, ARGUMENT.
 */
yoke_status reduction_mesh_create(yoke_context *context, int64_t elements, reduction_order order, reduction_mesh *mesh);
void reduction_mesh_release(reduction_mesh *mesh);

/* Elements in groups: group g has element[first[g] .. first[g + 1]). */
typedef struct reduction_groups {
    yoke_context *context;
    int64_t count, *first;
    int32_t *element;
} reduction_groups;

/* Colours: no two elements of a group share a node; each element is in one group.  Greedy, at most 27 colours.  Errors: MEMORY. */
yoke_status reduction_colour(const reduction_mesh *mesh, reduction_groups *groups);
/* Owners: group p has all elements with a node in [reduction_begin(p), reduction_begin(p + 1)) of `parts`.  Errors: MEMORY. */
yoke_status reduction_own(const reduction_mesh *mesh, int64_t parts, reduction_groups *groups);
void reduction_groups_release(reduction_groups *groups);

/* Beginning of part p when `count` things are divided into `parts` parts. */
static inline int64_t reduction_begin(int64_t count, int64_t parts, int64_t p) { return count / parts * p + count % parts * p / parts; }

#endif
