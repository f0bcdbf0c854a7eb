/* Creates a mesh from arrays in memory. */
#include "mesh/private.h"

#include <math.h>
#include <string.h>

#include "mesh/shape.h"

static const char *const arrays_name = "arrays"; /* used in messages in place of a file's path */

typedef struct arrays {
    int64_t num_vertices, num_elements;
    const double *vertices, *geometry;
    const int32_t *corners;
} arrays;

static yoke_status copy(yoke_context *context, const void *from, int64_t count, size_t size, void *pointer)
{
    void *to = NULL;
    yoke_status status = yoke_allocate(context, count, size, &to);
    if (status) return status;
    memcpy(to, from, (size_t)count * size);
    memcpy(pointer, &to, sizeof to);
    return YOKE_OK;
}

static yoke_status check_arrays(yoke_context *context, const arrays *given, int order)
{
    if (given->num_vertices < 8 || given->num_vertices > INT32_MAX || given->num_elements < 1 || given->num_elements > INT32_MAX / 27 ||
        !given->vertices || !given->corners || (order != 1 && order != 2) || (order == 2 && !given->geometry))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "a mesh needs vertices, elements, and order 1, or order 2 with geometry");
    for (int64_t i = 0; i < 8 * given->num_elements; i++)
        if (given->corners[i] < 0 || given->corners[i] >= given->num_vertices)
            return yoke_fail(context, YOKE_ERROR_INPUT, "mesh '%s': element %lld has the vertex %lld, which does not exist", arrays_name,
                             (long long)(i / 8 + 1), (long long)given->corners[i]);
    return YOKE_OK;
}

/* For straight elements, the positions of an element of order 1 are its corners. */
static void geometry_from_corners(fem_mesh *mesh)
{
    for (int64_t i = 0; i < 8 * mesh->num_elements; i++)
        memcpy(mesh->geometry + 3 * i, mesh->vertices + 3 * (int64_t)mesh->corners[i], 3 * sizeof(double));
}

static yoke_status copy_arrays(fem_mesh *mesh, const arrays *given, int order)
{
    yoke_context *context = mesh->context;
    int64_t positions = order == 1 ? 8 : 27;
    mesh->order = order;
    mesh->num_vertices = given->num_vertices;
    mesh->num_elements = given->num_elements;
    yoke_status status = copy(context, given->vertices, 3 * given->num_vertices, sizeof(double), &mesh->vertices);
    if (!status) status = copy(context, given->corners, 8 * given->num_elements, sizeof(int32_t), &mesh->corners);
    if (!status && given->geometry)
        status = copy(context, given->geometry, 3 * positions * given->num_elements, sizeof(double), &mesh->geometry);
    else if (!status)
        status = yoke_allocate(context, 3 * positions * given->num_elements, sizeof(double), &mesh->geometry);
    if (!status) status = yoke_allocate(context, given->num_elements, sizeof(int32_t), &mesh->volume);
    if (!status) status = yoke_allocate(context, given->num_elements, sizeof(int64_t), &mesh->element_tag);
    if (!status) status = yoke_allocate(context, given->num_vertices, sizeof(int64_t), &mesh->vertex_tag);
    if (status) return status;
    if (!given->geometry) geometry_from_corners(mesh);
    for (int64_t e = 0; e < mesh->num_elements; e++) mesh->element_tag[e] = e + 1;
    for (int64_t v = 0; v < mesh->num_vertices; v++) mesh->vertex_tag[v] = v + 1;
    return YOKE_OK;
}

/* Checks that the corners of the geometry equal the vertices up to rounding. */
static yoke_status check_corners(const fem_mesh *mesh)
{
    int n = mesh->order + 1, positions = n * n * n;
    for (int64_t e = 0; e < mesh->num_elements; e++)
        for (int corner = 0; corner < 8; corner++) {
            const double *position = mesh->geometry + 3 * (positions * e + fem_corner_slot(n, corner));
            const double *vertex = mesh->vertices + 3 * (int64_t)mesh->corners[8 * e + corner];
            const double *opposite = mesh->vertices + 3 * (int64_t)mesh->corners[8 * e + 7 - corner];
            double gap = 0, extent = 0;
            for (int axis = 0; axis < 3; axis++) {
                gap = fmax(gap, fabs(position[axis] - vertex[axis]));
                extent = fmax(extent, fabs(opposite[axis] - vertex[axis]));
            }
            if (gap > 1e-10 * extent)
                return yoke_fail(mesh->context, YOKE_ERROR_INPUT, "mesh '%s': corner %d of element %lld lies elsewhere than its vertex",
                                 mesh->path, corner, (long long)mesh->element_tag[e]);
        }
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------- groups */

static yoke_status copy_name(yoke_context *context, const char *name, char **copied)
{
    return copy(context, name, (int64_t)strlen(name) + 1, 1, copied);
}

static yoke_status make_body(fem_mesh *mesh)
{
    fem_group *body = &mesh->groups[mesh->num_groups++];
    body->dimension = 3;
    body->tag = 1;
    yoke_status status = copy_name(mesh->context, "body", &body->name);
    if (!status) status = yoke_allocate(mesh->context, mesh->num_elements, sizeof *body->element, &body->element);
    if (status) return status;
    body->count = mesh->num_elements;
    for (int64_t e = 0; e < mesh->num_elements; e++) body->element[e] = (int32_t)e;
    return YOKE_OK;
}

static void face_centre(const fem_mesh *mesh, const fem_face *face, double centre[3])
{
    for (int axis = 0; axis < 3; axis++) {
        centre[axis] = 0;
        for (int k = 0; k < 4; k++) centre[axis] += mesh->vertices[3 * (int64_t)face->vertex[k] + axis] / 4;
    }
}

/* Makes room for one more group.  The list doubles when its length is a power of two. */
static yoke_status add_group(fem_mesh *mesh, const char *name, int *index)
{
    int count = mesh->num_groups;
    if ((count & (count - 1)) == 0) {
        fem_group *larger = NULL;
        yoke_status status = yoke_allocate(mesh->context, 2 * (int64_t)count, sizeof *larger, &larger);
        if (status) return status;
        memcpy(larger, mesh->groups, (size_t)count * sizeof *larger);
        yoke_release(mesh->context, mesh->groups);
        mesh->groups = larger;
    }
    fem_group *group = &mesh->groups[count];
    group->dimension = 2;
    group->tag = count;
    yoke_status status = copy_name(mesh->context, name, &group->name);
    if (status) return status;
    mesh->num_groups++;
    *index = count;
    return YOKE_OK;
}

/* Names the boundary faces.  group_of [faces->count]: the group of each boundary face, -1: none. */
static yoke_status name_faces(fem_mesh *mesh, const fem_faces *faces, fem_face_namer *namer, void *user, int32_t *group_of)
{
    for (int64_t i = 0; i < faces->count; i++) {
        group_of[i] = -1;
        if (faces->face[i].element[1] >= 0) continue;
        double centre[3];
        face_centre(mesh, &faces->face[i], centre);
        const char *name = namer(centre, user);
        if (!name) continue;
        int group = fem_mesh_find_group(mesh, 2, name);
        yoke_status status = group < 0 ? add_group(mesh, name, &group) : YOKE_OK;
        if (status) return status;
        group_of[i] = group;
        mesh->groups[group].count++;
    }
    return YOKE_OK;
}

static yoke_status store_faces(fem_mesh *mesh, const fem_faces *faces, const int32_t *group_of)
{
    for (int g = 1; g < mesh->num_groups; g++) {
        fem_group *group = &mesh->groups[g];
        yoke_status status = yoke_allocate(mesh->context, group->count, sizeof *group->element, &group->element);
        if (!status) status = yoke_allocate(mesh->context, group->count, sizeof *group->local, &group->local);
        if (status) return status;
        group->count = 0;
    }
    for (int64_t i = 0; i < faces->count; i++) {
        if (group_of[i] < 0) continue;
        fem_group *group = &mesh->groups[group_of[i]];
        group->element[group->count] = faces->face[i].element[0];
        group->local[group->count++] = faces->face[i].local[0];
    }
    return YOKE_OK;
}

static yoke_status make_face_groups(fem_mesh *mesh, const fem_faces *faces, fem_face_namer *namer, void *user)
{
    int32_t *group_of = NULL;
    yoke_status status = yoke_allocate(mesh->context, faces->count, sizeof *group_of, &group_of);
    if (!status) status = name_faces(mesh, faces, namer, user, group_of);
    if (!status) status = store_faces(mesh, faces, group_of);
    yoke_release(mesh->context, group_of);
    return status;
}

static yoke_status complete(fem_mesh *mesh, fem_face_namer *namer, void *user)
{
    fem_faces faces = {.face = NULL};
    yoke_status status = fem_mesh_check_elements(mesh);
    if (!status) status = check_corners(mesh);
    if (!status)
        status = fem_mesh_check_coincident(mesh->context, mesh->path, mesh->num_vertices, mesh->vertices, mesh->vertex_tag, INT64_MAX);
    if (!status) status = fem_faces_create(mesh, &faces);
    if (!status) status = yoke_allocate(mesh->context, 1, sizeof *mesh->groups, &mesh->groups);
    if (!status) status = make_body(mesh);
    if (!status && namer) status = make_face_groups(mesh, &faces, namer, user);
    fem_faces_clear(mesh->context, &faces);
    return status;
}

yoke_status fem_mesh_from_arrays(yoke_context *context, int64_t num_vertices, const double *vertices, int64_t num_elements,
                                 const int32_t *corners, int order, const double *geometry, fem_face_namer *face_group_of, void *user,
                                 fem_mesh **mesh)
{
    const arrays given = {num_vertices, num_elements, vertices, geometry, corners};
    fem_mesh *made = NULL;
    yoke_status status = check_arrays(context, &given, order);
    if (!status) status = fem_mesh_create_empty(context, arrays_name, &made);
    if (!status) status = copy_arrays(made, &given, order);
    if (!status) status = complete(made, face_group_of, user);
    if (status)
        fem_mesh_destroy(made);
    else
        *mesh = made;
    return status;
}
