#include "space/forest/skeleton.h"

#include <p8est_connectivity.h>

#include "space/forest/forest.h"
#include "space/forest/places.h"

/* The length of p8est's trees depends on its version (2^19 in 2.2, 2^30 from 2.3 on); places do not depend on it. */
_Static_assert(FEM_PLACE_UNIT >= 1 && FEM_MAX_LEVEL < P8EST_QMAXLEVEL, "p8est's trees are too short for places");
_Static_assert(P8EST_QUADRANT_LEN(FEM_MAX_LEVEL) == 2 * FEM_PLACE_UNIT, "middles of the deepest leaves' edges have no place");

enum { BITS = 18 };                       /* of a coordinate */
enum { FACE = 0, EDGE = 6, CORNER = 18 }; /* index of the first of them among the parts of a tree */

static uint64_t pair_of(uint32_t a, uint32_t b) { return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a; }

/* Numbers pairs of vertices: edges, and diagonals of faces, by which faces are identified. */
static uint32_t *number_pair(fem_places *pairs, uint32_t a, uint32_t b, uint32_t kind)
{
    int32_t *number = fem_places_number(pairs, kind, pair_of(a, b));
    if (number && *number < 0) *number = (int32_t)(pairs->used - 1);
    return (uint32_t *)number;
}

enum { OF_VERTICES, OF_DIAGONALS };

static yoke_status number_edges(fem_places *pairs, const int32_t *corners, uint32_t *edge)
{
    for (int k = 0; k < 12; k++) {
        const int *end = p8est_edge_corners[k];
        const uint32_t *number = number_pair(pairs, (uint32_t)corners[end[0]], (uint32_t)corners[end[1]], OF_VERTICES);
        if (!number) return YOKE_ERROR_MEMORY;
        edge[k] = *number;
    }
    return YOKE_OK;
}

static yoke_status number_faces(fem_places *pairs, const int32_t *corners, uint32_t *face)
{
    for (int f = 0; f < 6; f++) {
        const int *c = p8est_face_corners[f];
        uint32_t diagonal[2];
        for (int d = 0; d < 2; d++) {
            const uint32_t *number = number_pair(pairs, (uint32_t)corners[c[d]], (uint32_t)corners[c[3 - d]], OF_VERTICES);
            if (!number) return YOKE_ERROR_MEMORY;
            diagonal[d] = *number;
        }
        const uint32_t *number = number_pair(pairs, diagonal[0], diagonal[1], OF_DIAGONALS);
        if (!number) return YOKE_ERROR_MEMORY;
        face[f] = *number;
    }
    return YOKE_OK;
}

static yoke_status fill(fem_skeleton *skeleton, int64_t trees)
{
    fem_places pairs; /* faces, edges and diagonals share one sequence of numbers */
    yoke_status status = fem_places_start(&pairs, skeleton->context, 12 * trees);
    for (int64_t t = 0; t < trees && !status; t++) {
        status = number_edges(&pairs, skeleton->corners + 8 * t, skeleton->edge + 12 * t);
        if (!status) status = number_faces(&pairs, skeleton->corners + 8 * t, skeleton->face + 6 * t);
    }
    skeleton->first_vertex = (uint32_t)(trees + pairs.used);
    fem_places_end(&pairs);
    for (int64_t i = 0; i < 12 * trees && !status; i++) skeleton->edge[i] += (uint32_t)trees;
    for (int64_t i = 0; i < 6 * trees && !status; i++) skeleton->face[i] += (uint32_t)trees;
    return status;
}

/* Goes from the last tree to the first, so that the lowest tree remains. */
static yoke_status fill_uses(fem_skeleton *skeleton, int64_t trees, int64_t vertices)
{
    const uint32_t first = skeleton->first_face;
    yoke_status status = yoke_allocate_untouched(skeleton->context, (int64_t)(skeleton->first_vertex - first) + vertices,
                                                 sizeof *skeleton->use, &skeleton->use);
    for (int32_t t = (int32_t)trees - 1; t >= 0 && !status; t--) {
        for (int f = 0; f < 6; f++) skeleton->use[skeleton->face[6 * (int64_t)t + f] - first] = (fem_skeleton_use){t, FACE + f};
        for (int k = 0; k < 12; k++) skeleton->use[skeleton->edge[12 * (int64_t)t + k] - first] = (fem_skeleton_use){t, EDGE + k};
        for (int c = 0; c < 8; c++)
            skeleton->use[skeleton->first_vertex - first + (uint32_t)skeleton->corners[8 * (int64_t)t + c]] =
                (fem_skeleton_use){t, CORNER + c};
    }
    return status;
}

yoke_status fem_skeleton_create(const fem_mesh *mesh, fem_skeleton **out)
{
    yoke_context *context = mesh->context;
    fem_skeleton *skeleton;
    yoke_status status = yoke_allocate(context, 1, sizeof *skeleton, &skeleton);
    if (status) return status;
    skeleton->context = context;
    skeleton->corners = mesh->corners;
    skeleton->first_face = (uint32_t)mesh->num_elements;
    status = yoke_allocate_untouched(context, 6 * mesh->num_elements, sizeof *skeleton->face, &skeleton->face);
    if (!status) status = yoke_allocate_untouched(context, 12 * mesh->num_elements, sizeof *skeleton->edge, &skeleton->edge);
    if (!status) status = fill(skeleton, mesh->num_elements);
    if (!status && app_ranks_count(mesh->ranks) > 1) status = fill_uses(skeleton, mesh->num_elements, mesh->num_vertices);
    if (status) {
        fem_skeleton_destroy(skeleton);
        return status;
    }
    *out = skeleton;
    return YOKE_OK;
}

void fem_skeleton_destroy(fem_skeleton *skeleton)
{
    if (!skeleton) return;
    yoke_release(skeleton->context, skeleton->face);
    yoke_release(skeleton->context, skeleton->edge);
    yoke_release(skeleton->context, skeleton->use);
    yoke_release(skeleton->context, skeleton);
}

/*
 * Returns the corner of a face with the smallest vertex, which is the origin of places on the face.  *turned: whether the second axis leads
 * to the smaller of its two neighbours.
 */
static int find_origin(const int32_t *corners, int face, int *turned)
{
    const int *c = p8est_face_corners[face];
    int least = 0;
    for (int i = 1; i < 4; i++)
        if (corners[c[i]] < corners[c[least]]) least = i;
    *turned = corners[c[least ^ 2]] < corners[c[least ^ 1]];
    return least;
}

/* Place relative to the face's smallest vertex; the first axis leads to the smaller of its two neighbours. */
static uint64_t place_on_face(const int32_t *corners, int face, int32_t u, int32_t v)
{
    int turned;
    const int origin = find_origin(corners, face, &turned);
    if (origin & 1) u = FEM_PLACE_LENGTH - u;
    if (origin & 2) v = FEM_PLACE_LENGTH - v;
    return turned ? (uint64_t)v | (uint64_t)u << BITS : (uint64_t)u | (uint64_t)v << BITS;
}

static void point_on_face(const int32_t *corners, int face, uint64_t place, int32_t *u, int32_t *v)
{
    int turned;
    const int origin = find_origin(corners, face, &turned);
    const int32_t low = (int32_t)(place & (((uint64_t)1 << BITS) - 1)), high = (int32_t)(place >> BITS);
    *u = turned ? high : low;
    *v = turned ? low : high;
    if (origin & 1) *u = FEM_PLACE_LENGTH - *u;
    if (origin & 2) *v = FEM_PLACE_LENGTH - *v;
}

/* The other two axes, in ascending order. */
static int low_axis_of(int axis) { return axis == 0 ? 1 : 0; }
static int high_axis_of(int axis) { return axis == 2 ? 1 : 2; }

uint32_t fem_skeleton_place(const fem_skeleton *skeleton, int32_t tree, const int32_t at[3], uint64_t *place)
{
    const int32_t *corners = skeleton->corners + 8 * (int64_t)tree;
    int outer = 0, high = 0; /* bits of the axes at whose ends, and at whose upper ends, the point lies */
    for (int a = 0; a < 3; a++) {
        outer |= (at[a] == 0 || at[a] == FEM_PLACE_LENGTH) << a;
        high |= (at[a] == FEM_PLACE_LENGTH) << a;
    }
    if (!outer) {
        *place = (uint64_t)at[0] | (uint64_t)at[1] << BITS | (uint64_t)at[2] << 2 * BITS;
        return (uint32_t)tree;
    }
    if (outer == 7) {
        *place = 0;
        return skeleton->first_vertex + (uint32_t)corners[high];
    }
    for (int a = 0; a < 3; a++) {
        const int low_axis = low_axis_of(a), high_axis = high_axis_of(a);
        if (outer == 1 << a) {
            const int face = 2 * a + (high >> a & 1);
            *place = place_on_face(corners, face, at[low_axis], at[high_axis]);
            return skeleton->face[6 * (int64_t)tree + face];
        }
        if (outer == (7 & ~(1 << a))) {
            const int edge = 4 * a + (high >> low_axis & 1) + 2 * (high >> high_axis & 1);
            const int *end = p8est_edge_corners[edge];
            *place = (uint64_t)(corners[end[0]] < corners[end[1]] ? at[a] : FEM_PLACE_LENGTH - at[a]);
            return skeleton->edge[12 * (int64_t)tree + edge];
        }
    }
    return 0; /* not reached: outer has one of eight values */
}

int32_t fem_skeleton_point(const fem_skeleton *skeleton, uint32_t entity, uint64_t place, int32_t at[3])
{
    if (entity < skeleton->first_face) {
        for (int a = 0; a < 3; a++) at[a] = (int32_t)(place >> a * BITS & (((uint64_t)1 << BITS) - 1));
        return (int32_t)entity;
    }
    const fem_skeleton_use use = skeleton->use[entity - skeleton->first_face];
    const int32_t *corners = skeleton->corners + 8 * (int64_t)use.tree;
    if (use.part >= CORNER) {
        for (int a = 0; a < 3; a++) at[a] = (use.part - CORNER) >> a & 1 ? FEM_PLACE_LENGTH : 0;
    } else if (use.part >= EDGE) {
        const int edge = use.part - EDGE, axis = edge / 4, *end = p8est_edge_corners[edge];
        at[axis] = corners[end[0]] < corners[end[1]] ? (int32_t)place : FEM_PLACE_LENGTH - (int32_t)place;
        at[low_axis_of(axis)] = edge & 1 ? FEM_PLACE_LENGTH : 0;
        at[high_axis_of(axis)] = edge & 2 ? FEM_PLACE_LENGTH : 0;
    } else {
        const int axis = use.part / 2;
        at[axis] = use.part & 1 ? FEM_PLACE_LENGTH : 0;
        point_on_face(corners, use.part, place, &at[low_axis_of(axis)], &at[high_axis_of(axis)]);
    }
    return use.tree;
}
