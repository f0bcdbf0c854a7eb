/*
 * mesh.h - hexahedra with 27 nodes, three dofs each, filling a cube: whose elements add to which rows of the global vector.
 */
#ifndef BENCH_REDUCTION_MESH_H
#define BENCH_REDUCTION_MESH_H

#include <stdbool.h>

#include "yoke/yoke.h"

enum { ELEMENT_NODES = 27, NODE_DOFS = 3, ELEMENT_DOFS = ELEMENT_NODES * NODE_DOFS };

typedef enum reduction_order {
    REDUCTION_MORTON, /* elements along a space-filling curve, nodes numbered as the elements come to them: as the finite elements of yoke fem */
    REDUCTION_ROWS,   /* elements row by row, nodes likewise */
    REDUCTION_RANDOM, /* both shuffled: no locality */
} reduction_order;

typedef struct reduction_mesh {
    yoke_context *context;
    int64_t elements, nodes;
    int32_t *node; /* [elements][ELEMENT_NODES] */
} reduction_mesh;

/*
 * The first `elements` (1 to 2 000 000) of the smallest cube that has as many; only nodes of theirs are counted.
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

/* Where part p of `parts` begins among `count` things. */
static inline int64_t reduction_begin(int64_t count, int64_t parts, int64_t p) { return count / parts * p + count % parts * p / parts; }

#endif
