/*
 * space.h - the finite element space on the leaves of a p8est forest.
 *
 * An element has `slots` = 8 (q1) or 27 (q2, s2) local nodes in lexicographic order, x fastest.  element_nodes gives for each slot an
 * independent node.  If a face or an edge hangs (face_code, see p8est_lnodes.h) the slots on it name the nodes of the larger neighbour's
 * face or edge, and the element's own values there are interpolated from them.  Serendipity elements (s2) have 20 nodes: their face and
 * volume slots have -1, and values there follow from the other 20.  fem_space_expand does all of this; fem_space_fold is its transpose.
 *
 * On several ranks a space has the leaves of one of them, and the nodes that these touch.  A node that several ranks touch is owned by the
 * lowest of them.  Nodes are numbered over all ranks in the order in which elements touch them: owned ones are contiguous, rank after rank.
 * They therefore have the numbers that they would have on one rank, independent of the number of ranks and their cuts.  Data of a node that
 * only one rank has count at one of the ranks that touch it: the lowest that has an element on which the node does not hang.  Functions
 * that create spaces are collective.
 */
#ifndef FEM_SPACE_SPACE_H
#define FEM_SPACE_SPACE_H

#include "space/exchange/halo.h"
#include "space/forest/forest.h"
#include "space/problem/problem.h"

typedef struct fem_space {
    yoke_context *context;      /* borrowed */
    const fem_problem *problem; /* borrowed: mesh, materials, conditions */
    const fem_forest *forest;   /* borrowed: must not change while the space exists */
    fem_element element;        /* may differ from problem->element: the multigrid's q1 spaces */
    int components;
    int slots_1d;           /* 2 or 3 */
    int slots;              /* 8 or 27 */
    int32_t num_elements;   /* leaves in Morton order */
    int32_t num_nodes;      /* independent nodes; dofs = components x num_nodes */
    int64_t num_hanging;    /* hanging local nodes, each position counted once, of all ranks */
    int32_t *element_nodes; /* [num_elements][slots] */
    int16_t *face_code;     /* [num_elements] */
    double *x;              /* [num_nodes][3] positions, m */
    /* [num_nodes] an element that has the node as its own, not hanging, node: the first in Morton order; -1: only on other ranks. */
    int32_t *home_element;
    int8_t *home_slot; /* [num_nodes] its slot there */
    int32_t *tree;     /* [num_elements] coarse element */
    int32_t *corner;   /* [num_elements][3] lower corner in p8est's integers, 0 .. P8EST_ROOT_LEN */
    int8_t *level;     /* [num_elements] */
    /* The following members are for several ranks; on one rank they follow from those above. */
    app_ranks *ranks;      /* borrowed; NULL: this process has all of the space */
    fem_halo *halo;        /* NULL on one rank */
    int64_t first_element; /* number of this rank's first element over all ranks */
    int64_t num_global_elements, num_global_nodes;
    int64_t first_owned; /* the nodes that this rank owns have the numbers first_owned .. first_owned + num_owned - 1 over all ranks */
    int32_t num_owned;
    int64_t *global_node; /* [num_nodes] number over all ranks; NULL on one rank */
    uint8_t *counts;      /* [num_nodes] 1: the node counts on this rank; NULL on one rank: all do */
} fem_space;

/* Space of `element` on the forest's leaves, nodes numbered as the elements first touch them.  Errors: MEMORY. */
yoke_status fem_space_create(const fem_problem *problem, const fem_forest *forest, fem_element element, fem_space **space);
/* The q1 space on the leaves of `from`: the same as that of fem_space_create, but much faster.  Errors: MEMORY. */
yoke_status fem_space_create_corners(const fem_space *from, fem_space **space);
void fem_space_destroy(fem_space *space); /* NULL allowed */

/* local [slots][n] = the values of the nodal field [num_nodes][n] at all slots of element e, hanging and serendipity slots interpolated. */
void fem_space_expand(const fem_space *space, int32_t e, int n, const double *nodal, double *local);
/* The transpose: adds local [slots][n] into nodal [num_nodes][n].  local is overwritten. */
void fem_space_fold(const fem_space *space, int32_t e, int n, double *local, double *nodal);
/* The part of the transpose inside the element: local [slots][n] becomes the values for element_nodes, 0 at slots without a node. */
void fem_space_fold_local(const fem_space *space, int32_t e, int n, double *local);
/* The independent nodes and weights, at most FEM_MAX_ROW, whose sum is the value at a slot; returns their number. */
#define FEM_MAX_ROW 27
int fem_space_row(const fem_space *space, int32_t e, int slot, int32_t node[FEM_MAX_ROW], double weight[FEM_MAX_ROW]);

/* Positions of all slots of element e: local [slots][3]. */
static inline void fem_space_geometry(const fem_space *space, int32_t e, double *local) { fem_space_expand(space, e, 3, space->x, local); }

/* The number of a node over all ranks; whether this rank owns it; whether it counts here. */
static inline int64_t fem_space_global_node(const fem_space *space, int32_t node)
{
    return space->global_node ? space->global_node[node] : node;
}
static inline int fem_space_owns(const fem_space *space, int32_t node)
{
    return !space->global_node ||
           (space->global_node[node] >= space->first_owned && space->global_node[node] < space->first_owned + space->num_owned);
}
static inline int fem_space_counts(const fem_space *space, int32_t node) { return !space->counts || space->counts[node]; }

/* The material of element e. */
static inline const fem_material *fem_space_material(const fem_space *space, int32_t e)
{
    return &space->problem->materials[space->problem->material_of[space->tree[e]]];
}

/* Reference point of a slot. */
void fem_slot_point(int slots_1d, int slot, double r[3]);

/* Reference coordinates in tree(e), in [0,1]^3, of the reference point r of leaf e. */
static inline void fem_space_tree_point(const fem_space *space, int32_t e, const double r[3], double tree_point[3])
{
    double size = 1.0 / (1 << space->level[e]);
    for (int a = 0; a < 3; a++) tree_point[a] = space->corner[3 * (int64_t)e + a] / (double)P8EST_ROOT_LEN + size * r[a];
}

#endif
