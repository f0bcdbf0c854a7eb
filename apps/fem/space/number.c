/*
 * number.c - numbers the nodes of the leaves, which are identified by their places.
 *
 * A leaf's face or edge hangs if its parent's face or edge is also one of a larger leaf.  That one is found by its middle, because the
 * middles of all faces and edges lie at different places.  A hanging face or edge has the nodes of the parent's face or edge.  p8est_lnodes
 * gives the same nodes and codes, but takes 25 microseconds per tree.
 *
 * On several ranks, each rank numbers the nodes that its own leaves touch.  The adjacent leaves of other ranks (p8est's ghosts) determine
 * what hangs.  Only nodes of leaves adjacent to such ghosts can be touched by other ranks: either a ghost touches the node, or a larger
 * adjacent ghost has it as a node.
 */
#include <p8est_ghost.h>

#include "mesh/shape.h"
#include "space/forest/places.h"
#include "space/forest/skeleton.h"
#include "space/private.h"

typedef struct numbering {
    fem_space *space;
    const fem_skeleton *skeleton;
    fem_places middles; /* of faces and edges of leaves that are not among the smallest */
    fem_places nodes;
    int most_level;
    p8est_ghost_t *ghost; /* NULL on one rank */
} numbering;

/* A leaf or its parent in units of places: lower corner, and length of the edges. */
typedef struct box {
    int32_t tree, corner[3], length;
    int child; /* number among its siblings */
} box;

static box box_at(int32_t tree, const int32_t corner[3], int level)
{
    box b = {.tree = tree, .length = P8EST_QUADRANT_LEN(level) / FEM_PLACE_UNIT};
    for (int a = 0; a < 3; a++) {
        b.corner[a] = corner[a] / FEM_PLACE_UNIT;
        b.child |= (b.corner[a] / b.length & 1) << a;
    }
    return b;
}

static box leaf_box(const fem_space *space, int32_t e) { return box_at(space->tree[e], space->corner + 3 * (int64_t)e, space->level[e]); }

static box parent_box(const box *leaf)
{
    box b = {.tree = leaf->tree, .length = 2 * leaf->length};
    for (int a = 0; a < 3; a++) b.corner[a] = leaf->corner[a] - (leaf->child >> a & 1) * leaf->length;
    return b;
}

/* ------------------------------------------------------------------------------ hanging faces and edges */

/* The middle of the edge along an axis (or, if is_face, of the face normal to the axis) that touches corner c of the box. */
static void middle_at_corner(const box *b, int axis, int is_face, int c, int32_t at[3])
{
    for (int a = 0; a < 3; a++) at[a] = b->corner[a] + ((a == axis) != is_face ? b->length / 2 : (c >> a & 1) * b->length);
}

static yoke_status add_middles(numbering *n, const box *b)
{
    for (int axis = 0; axis < 3; axis++) {
        for (int c = 0; c < 8; c++) {
            const int others = c & ~(1 << axis);
            for (int is_face = 0; is_face < 2; is_face++) {
                int32_t at[3];
                uint64_t place;
                if (is_face ? others != 0 : others != c) continue; /* each face and edge once */
                middle_at_corner(b, axis, is_face, c, at);
                const uint32_t entity = fem_skeleton_place(n->skeleton, b->tree, at, &place);
                if (!fem_places_number(&n->middles, entity, place)) return YOKE_ERROR_MEMORY;
            }
        }
    }
    return YOKE_OK;
}

static int is_middle(const numbering *n, const box *b, int axis, int is_face, int c)
{
    int32_t at[3];
    uint64_t place;
    middle_at_corner(b, axis, is_face, c, at);
    const uint32_t entity = fem_skeleton_place(n->skeleton, b->tree, at, &place);
    return fem_places_has(&n->middles, entity, place);
}

/*
 * Returns the face code of p8est_lnodes.h: the child's number, a bit for each hanging face of the parent at this child, and a bit for each
 * hanging edge.
 */
static int16_t find_face_code(const numbering *n, int32_t e)
{
    if (!n->space->level[e]) return 0;
    const box leaf = leaf_box(n->space, e), parent = parent_box(&leaf);
    int code = 0;
    for (int axis = 0; axis < 3; axis++) {
        code |= is_middle(n, &parent, axis, 1, leaf.child) << (3 + axis);
        code |= is_middle(n, &parent, axis, 0, leaf.child) << (6 + axis);
    }
    return (int16_t)(code ? code | leaf.child : 0);
}

static int32_t num_ghosts(const numbering *n) { return n->ghost ? (int32_t)n->ghost->ghosts.elem_count : 0; }

static const p8est_quadrant_t *get_ghost(const numbering *n, int32_t g) { return p8est_quadrant_array_index(&n->ghost->ghosts, (size_t)g); }

static yoke_status add_middles_of_ghost(numbering *n, const p8est_quadrant_t *ghost)
{
    const int32_t corner[3] = {ghost->x, ghost->y, ghost->z};
    const box b = box_at(ghost->p.piggy3.which_tree, corner, ghost->level);
    return add_middles(n, &b);
}

static yoke_status find_face_codes(numbering *n)
{
    fem_space *space = n->space;
    int least_level = FEM_MAX_LEVEL;
    int64_t larger = 0;
    for (int32_t e = 0; e < space->num_elements; e++) {
        if (space->level[e] < least_level) least_level = space->level[e];
        if (space->level[e] > n->most_level) n->most_level = space->level[e];
        space->face_code[e] = 0;
    }
    for (int32_t g = 0; g < num_ghosts(n); g++)
        if (get_ghost(n, g)->level < least_level) least_level = get_ghost(n, g)->level;
    if (least_level >= n->most_level) return YOKE_OK;
    for (int32_t e = 0; e < space->num_elements; e++) larger += space->level[e] < n->most_level;
    yoke_status status = fem_places_start(&n->middles, space->context, 8 * larger);
    for (int32_t e = 0; e < space->num_elements && !status; e++) {
        const box b = leaf_box(space, e);
        if (space->level[e] < n->most_level) status = add_middles(n, &b);
    }
    for (int32_t g = 0; g < num_ghosts(n) && !status; g++)
        if (get_ghost(n, g)->level < n->most_level) status = add_middles_of_ghost(n, get_ghost(n, g));
    if (!status) {
#pragma omp parallel for schedule(static)
        for (int32_t e = 0; e < space->num_elements; e++) space->face_code[e] = find_face_code(n, e);
    }
    fem_places_end(&n->middles);
    return status;
}

/* ------------------------------------------------------------------------------------------------ nodes */

/* Returns the bits of the axes along which an element's slot has the place of the parent's slot. */
static int parents_axes(int16_t face_code, const int step[3], int steps)
{
    int outer = 0, axes = 0;
    for (int a = 0; a < 3; a++) outer |= (step[a] == (face_code >> a & 1) * steps) << a;
    for (int a = 0; a < 3; a++) {
        const int others = 7 & ~(1 << a);
        if (face_code >> (3 + a) & 1 && outer >> a & 1) axes |= others;
        if (face_code >> (6 + a) & 1 && (outer & others) == others) axes |= 1 << a;
    }
    return axes;
}

/* Finds entity and place of a slot's node, given the boxes of the element and of its parent. */
static uint32_t find_place(const numbering *n, int16_t face_code, const box *leaf, const box *parent, int s, uint64_t *place)
{
    const int points = n->space->slots_1d, steps = points - 1;
    const int step[3] = {s % points, s / points % points, s / (points * points)};
    const int axes = face_code ? parents_axes(face_code, step, steps) : 0;
    int32_t at[3];
    for (int a = 0; a < 3; a++) {
        const box *of = axes >> a & 1 ? parent : leaf;
        at[a] = of->corner[a] + step[a] * of->length / steps;
    }
    return fem_skeleton_place(n->skeleton, leaf->tree, at, place);
}

/* No other element has a node at the centre. */
static int is_centre(const fem_space *space, int s) { return space->slots_1d == 3 && s == 13; }

static yoke_status number_element(numbering *n, int32_t e)
{
    fem_space *space = n->space;
    const box leaf = leaf_box(space, e), parent = parent_box(&leaf);
    int32_t *nodes = space->element_nodes + (int64_t)e * space->slots;
    for (int s = 0; s < space->slots; s++) {
        uint64_t place;
        nodes[s] = -1;
        if (space->element == FEM_S2 && fem_slot_middles(s) >= 2) continue;
        if (is_centre(space, s)) {
            nodes[s] = space->num_nodes++;
            continue;
        }
        const uint32_t entity = find_place(n, space->face_code[e], &leaf, &parent, s, &place);
        int32_t *number = fem_places_number(&n->nodes, entity, place);
        if (!number) return YOKE_ERROR_MEMORY;
        if (*number < 0) *number = space->num_nodes++;
        nodes[s] = *number;
    }
    return YOKE_OK;
}

/* ----------------------------------------------------------------------------- nodes shared with other ranks */

/*
 * Lists the keys of all nodes that other ranks may touch, and where the keys meet.  The arrays have room for all nodes; listed [num_nodes]
 * is zero on entry.
 */
static int64_t list_keys(const numbering *n, uint8_t *listed, fem_halo_key *keys, int *meeting)
{
    const fem_space *space = n->space;
    int64_t count = 0;
    for (size_t i = 0; i < n->ghost->mirrors.elem_count; i++) {
        const int32_t e = p8est_quadrant_array_index(&n->ghost->mirrors, i)->p.piggy3.local_num;
        const box leaf = leaf_box(space, e), parent = parent_box(&leaf);
        const int32_t *nodes = space->element_nodes + (int64_t)e * space->slots;
        for (int s = 0; s < space->slots; s++) {
            if (nodes[s] < 0 || is_centre(space, s) || listed[nodes[s]]) continue;
            listed[nodes[s]] = 1;
            keys[count].entity = find_place(n, space->face_code[e], &leaf, &parent, s, &keys[count].place);
            meeting[count] = fem_forest_rank_at(space->forest, keys[count].entity, keys[count].place);
            keys[count++].node = nodes[s];
        }
    }
    return count;
}

/* status: that of this rank so far. */
static yoke_status find_halo(const numbering *n, yoke_status status)
{
    fem_space *space = n->space;
    yoke_context *c = space->context;
    const int64_t mirrors = (int64_t)n->ghost->mirrors.elem_count * space->slots;
    const int64_t most = mirrors < space->num_nodes ? mirrors : space->num_nodes;
    uint8_t *listed = NULL;
    fem_halo_key *keys = NULL;
    int *meeting = NULL;
    if (!status) status = yoke_allocate(c, space->num_nodes, 1, &listed);
    if (!status) status = yoke_allocate(c, most, sizeof *keys, &keys);
    if (!status) status = yoke_allocate(c, most, sizeof *meeting, &meeting);
    const int64_t count = status ? 0 : list_keys(n, listed, keys, meeting);
    status = app_ranks_agree(space->ranks, status);
    if (!status) status = fem_halo_create(c, space->ranks, count, keys, meeting, &space->halo);
    yoke_release(c, listed);
    yoke_release(c, keys);
    yoke_release(c, meeting);
    return status;
}

yoke_status space_number(fem_space *space)
{
    /* For a large uniform mesh; an unstructured mesh has slightly more. */
    const int nodes_per_element = space->element == FEM_Q1 ? 1 : space->element == FEM_S2 ? 4 : 7;
    numbering n = {.space = space, .skeleton = space->forest->skeleton};
    if (space->ranks) n.ghost = p8est_ghost_new(space->forest->p8est, P8EST_CONNECT_FULL);
    yoke_status status = find_face_codes(&n);
    if (!status) status = fem_places_start(&n.nodes, space->context, (int64_t)nodes_per_element * space->num_elements);
    space->num_nodes = 0;
    for (int32_t e = 0; e < space->num_elements && !status; e++) status = number_element(&n, e);
    fem_places_end(&n.nodes);
    if (!n.ghost) return status;
    status = find_halo(&n, status);
    p8est_ghost_destroy(n.ghost);
    return status;
}
