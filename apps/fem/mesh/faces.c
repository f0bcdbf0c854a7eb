/* Finds the faces of all elements, and checks how elements may share faces. */
#include "mesh/private.h"

#include <math.h>
#include <string.h>

#include "mesh/shape.h"

const int8_t fem_face_corner[6][4] = {{0, 2, 4, 6}, {1, 3, 5, 7}, {0, 1, 4, 5}, {2, 3, 6, 7}, {0, 1, 2, 3}, {4, 5, 6, 7}};
const int8_t fem_edge_corner[12][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3}, {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};

/* --------------------------------------------------------------------------------------------- hash table */

static void order(int32_t *a, int32_t *b)
{
    if (*a > *b) {
        int32_t kept = *a;
        *a = *b;
        *b = kept;
    }
}

static void sort_four(int32_t v[4])
{
    order(&v[0], &v[1]);
    order(&v[2], &v[3]);
    order(&v[0], &v[2]);
    order(&v[1], &v[3]);
    order(&v[1], &v[2]);
}

static void face_vertices(const fem_mesh *mesh, int64_t element, int local, int32_t vertex[4])
{
    for (int k = 0; k < 4; k++) vertex[k] = mesh->corners[8 * element + fem_face_corner[local][k]];
}

/* Returns the position in the hash table of the face with these ascending vertices, or the empty position where it belongs. */
static int64_t place_of(const fem_faces *faces, const int32_t vertex[4])
{
    int64_t place = fem_hash_place(vertex, faces->capacity);
    while (faces->slot[place] >= 0 && memcmp(faces->face[faces->slot[place]].vertex, vertex, 4 * sizeof *vertex) != 0)
        place = (place + 1) & (faces->capacity - 1);
    return place;
}

const fem_face *fem_faces_find(const fem_faces *faces, const int32_t vertex[4])
{
    int32_t sorted[4];
    memcpy(sorted, vertex, sizeof sorted);
    sort_four(sorted);
    int32_t found = faces->slot[place_of(faces, sorted)];
    return found < 0 ? NULL : &faces->face[found];
}

static yoke_status shared_by_three(const fem_mesh *mesh, const fem_face *face, int64_t third)
{
    return yoke_fail(mesh->context, YOKE_ERROR_INPUT,
                     "mesh '%s': elements %lld, %lld and %lld have one face in common (nodes %lld, %lld, %lld, %lld); "
                     "a face belongs to at most two: remove overlapping or double elements",
                     mesh->path, (long long)mesh->element_tag[face->element[0]], (long long)mesh->element_tag[face->element[1]],
                     (long long)mesh->element_tag[third], (long long)mesh->vertex_tag[face->vertex[0]],
                     (long long)mesh->vertex_tag[face->vertex[1]], (long long)mesh->vertex_tag[face->vertex[2]],
                     (long long)mesh->vertex_tag[face->vertex[3]]);
}

static yoke_status add_face(const fem_mesh *mesh, fem_faces *faces, int64_t element, int local)
{
    int32_t vertex[4];
    face_vertices(mesh, element, local, vertex);
    sort_four(vertex);
    int64_t place = place_of(faces, vertex);
    if (faces->slot[place] < 0) {
        fem_face *face = &faces->face[faces->count];
        *face = (fem_face){.element = {(int32_t)element, -1}, .local = {(int8_t)local, -1}};
        memcpy(face->vertex, vertex, sizeof vertex);
        faces->slot[place] = (int32_t)faces->count++;
        return YOKE_OK;
    }
    fem_face *face = &faces->face[faces->slot[place]];
    if (face->element[1] >= 0) return shared_by_three(mesh, face, element);
    face->element[1] = (int32_t)element;
    face->local[1] = (int8_t)local;
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------- common faces */

/*
 * Sets index to the point on the other side's n x n grid for each point of this side's grid.  Returns 0 if the cyclic orders of the corners
 * differ.
 */
static int match_grids(int n, const int32_t own[4], const int32_t other[4], int *index)
{
    int at[4] = {0};
    for (int k = 0; k < 4; k++)
        for (int m = 0; m < 4; m++)
            if (other[m] == own[k]) at[k] = m;
    /* Corners adjacent on one grid must be adjacent on the other: their numbers differ in one bit. */
    int along_s = at[0] ^ at[1], along_t = at[0] ^ at[2];
    if (along_s == 3 || along_t == 3 || (at[0] ^ at[3]) != 3) return 0;
    for (int t = 0; t < n; t++)
        for (int s = 0; s < n; s++) {
            int grid[2];
            for (int axis = 0; axis < 2; axis++) {
                int step = along_s & (1 << axis) ? s : t;
                grid[axis] = at[0] & (1 << axis) ? n - 1 - step : step;
            }
            index[t * n + s] = grid[1] * n + grid[0];
        }
    return 1;
}

static yoke_status check_common_face(const fem_mesh *mesh, const fem_face *face)
{
    int n = mesh->order + 1, own_slots[9], other_slots[9], index[9];
    int32_t own[4], other[4];
    face_vertices(mesh, face->element[0], face->local[0], own);
    face_vertices(mesh, face->element[1], face->local[1], other);
    long long tags[2] = {(long long)mesh->element_tag[face->element[0]], (long long)mesh->element_tag[face->element[1]]};
    if (!match_grids(n, own, other, index))
        return yoke_fail(mesh->context, YOKE_ERROR_INPUT,
                         "mesh '%s': elements %lld and %lld have the same four nodes on a face, but in an order that "
                         "crosses: one of them is tangled; check its node order",
                         mesh->path, tags[0], tags[1]);
    fem_face_slots(n, face->local[0], own_slots);
    fem_face_slots(n, face->local[1], other_slots);
    const double *a = mesh->geometry + (int64_t)3 * n * n * n * face->element[0],
                 *b = mesh->geometry + (int64_t)3 * n * n * n * face->element[1];
    double gap = 0, extent = 0, magnitude = 0;
    for (int i = 0; i < n * n; i++)
        for (int axis = 0; axis < 3; axis++) {
            double x = a[3 * own_slots[i] + axis];
            gap = fmax(gap, fabs(x - b[3 * other_slots[index[i]] + axis]));
            extent = fmax(extent, fabs(x - a[3 * own_slots[0] + axis]));
            magnitude = fmax(magnitude, fabs(x));
        }
    if (gap > 1e-8 * extent + 1e-13 * magnitude)
        return yoke_fail(mesh->context, YOKE_ERROR_INPUT,
                         "mesh '%s': elements %lld and %lld share a face, but their mid-nodes on it lie up to %g m apart: "
                         "they must share these nodes too",
                         mesh->path, tags[0], tags[1], gap);
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------- hinges */

static int32_t root_of(int32_t *parent, int32_t e)
{
    while (parent[e] != e) {
        parent[e] = parent[parent[e]];
        e = parent[e];
    }
    return e;
}

static void merge(int32_t *parent, int32_t left, int32_t right)
{
    int32_t a = root_of(parent, left), b = root_of(parent, right);
    parent[a > b ? a : b] = a > b ? b : a;
}

static yoke_status fail_of_hinge(const fem_mesh *mesh, int32_t *parent, int32_t a, int32_t b)
{
    int64_t pieces = 0;
    for (int32_t e = 0; e < mesh->num_elements; e++) pieces += root_of(parent, e) == e;
    return yoke_fail(
        mesh->context, YOKE_ERROR_INPUT,
        "mesh '%s': the mesh is in %lld pieces that share no face; elements %lld and %lld are in different ones and touch in an "
        "edge or a node only: connect them by faces, or separate them",
        mesh->path, (long long)pieces, (long long)mesh->element_tag[a], (long long)mesh->element_tag[b]);
}

/* Separate bodies are allowed.  Pieces that touch only in an edge or a node are refused. */
static yoke_status check_hinges(const fem_mesh *mesh, const fem_faces *faces)
{
    int32_t *parent = NULL, *seen = NULL;
    yoke_status status = yoke_allocate_untouched(mesh->context, mesh->num_elements, sizeof *parent, &parent);
    if (!status) status = yoke_allocate(mesh->context, mesh->num_vertices, sizeof *seen, &seen); /* an element at the vertex, plus 1 */
    for (int32_t e = 0; e < mesh->num_elements && !status; e++) parent[e] = e;
    for (int64_t i = 0; i < faces->count && !status; i++)
        if (faces->face[i].element[1] >= 0) merge(parent, faces->face[i].element[0], faces->face[i].element[1]);
    for (int64_t i = 0; i < 8 * mesh->num_elements && !status; i++) {
        int32_t *first = &seen[mesh->corners[i]], e = (int32_t)(i / 8);
        if (!*first) *first = e + 1;
        if (root_of(parent, *first - 1) != root_of(parent, e)) status = fail_of_hinge(mesh, parent, *first - 1, e);
    }
    yoke_release(mesh->context, seen);
    yoke_release(mesh->context, parent);
    return status;
}

/* ------------------------------------------------------------------------------------------------- create */

static yoke_status fill(const fem_mesh *mesh, fem_faces *faces)
{
    memset(faces->slot, 0xff, (size_t)faces->capacity * sizeof *faces->slot);
    for (int64_t e = 0; e < mesh->num_elements; e++)
        for (int local = 0; local < 6; local++) {
            yoke_status status = add_face(mesh, faces, e, local);
            if (status) return status;
        }
    for (int64_t i = 0; i < faces->count; i++) {
        yoke_status status = faces->face[i].element[1] >= 0 ? check_common_face(mesh, &faces->face[i]) : YOKE_OK;
        if (status) return status;
    }
    return check_hinges(mesh, faces);
}

yoke_status fem_faces_create(const fem_mesh *mesh, fem_faces *faces)
{
    fem_faces made = {.capacity = 64};
    while (made.capacity < 8 * mesh->num_elements) made.capacity *= 2;
    yoke_status status = yoke_allocate_untouched(mesh->context, 6 * mesh->num_elements, sizeof *made.face, &made.face);
    if (!status) status = yoke_allocate_untouched(mesh->context, made.capacity, sizeof *made.slot, &made.slot);
    if (!status) status = fill(mesh, &made);
    if (status)
        fem_faces_clear(mesh->context, &made);
    else
        *faces = made;
    return status;
}

void fem_faces_clear(yoke_context *context, fem_faces *faces)
{
    yoke_release(context, faces->face);
    yoke_release(context, faces->slot);
    *faces = (fem_faces){0};
}
