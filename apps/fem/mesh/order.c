/*
 * order.c - numbers elements so that elements close in space have close numbers.
 *
 * A mesh generator leaves tetrahedra, or the hexahedra split from them, in the order of their creation, so the values of successive
 * elements are scattered in memory.  Along a Morton curve, successive elements share nodes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/private.h"

/*
 * Smaller meshes fit in the caches.  A larger mesh keeps the order of the file unless its path is more than LONGER times as long as that of
 * the curve.
 */
enum { MIN_ELEMENTS = 5000, LONGER = 3 };

typedef struct element_key {
    uint64_t key;
    int32_t element;
} element_key;

static void centre_of(const fem_mesh *mesh, int64_t e, double centre[3])
{
    for (int axis = 0; axis < 3; axis++) {
        centre[axis] = 0;
        for (int c = 0; c < 8; c++) centre[axis] += mesh->vertices[3 * (int64_t)mesh->corners[8 * e + c] + axis] / 8;
    }
}

/* Inserts two zero bits after each of the 21 bits. */
static uint64_t spread(uint64_t z)
{
    z = (z | z << 32) & 0x1f00000000ffffu;
    z = (z | z << 16) & 0x1f0000ff0000ffu;
    z = (z | z << 8) & 0x100f00f00f00f00fu;
    z = (z | z << 4) & 0x10c30c30c30c30c3u;
    return (z | z << 2) & 0x1249249249249249u;
}

static void fill_keys(const fem_mesh *mesh, element_key *keys)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, extent = 0;
    for (int axis = 0; axis < 3; axis++) {
        double high = -INFINITY;
        for (int64_t v = 0; v < mesh->num_vertices; v++) {
            low[axis] = fmin(low[axis], mesh->vertices[3 * v + axis]);
            high = fmax(high, mesh->vertices[3 * v + axis]);
        }
        extent = fmax(extent, high - low[axis]);
    }
    for (int64_t e = 0; e < mesh->num_elements; e++) {
        double centre[3];
        uint64_t key = 0;
        centre_of(mesh, e, centre);
        for (int axis = 0; axis < 3; axis++) {
            /* Positions may have overflowed; the limits keep them in the range. */
            double part = fmin(fmax((centre[axis] - low[axis]) / extent, 0), 1);
            key |= spread((uint64_t)(part * 0x1fffff)) << axis;
        }
        keys[e] = (element_key){key, (int32_t)e};
    }
}

static int compare_keys(const void *a, const void *b)
{
    const element_key *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return (p->element > q->element) - (p->element < q->element);
}

/* Length of the path through the elements' centres, in the order of keys; keys NULL: in the mesh's order. */
static double length_of(const fem_mesh *mesh, const element_key *keys)
{
    double length = 0, from[3], to[3];
    for (int64_t i = 0; i < mesh->num_elements; i++) {
        centre_of(mesh, keys ? keys[i].element : i, to);
        if (i)
            length +=
                sqrt((to[0] - from[0]) * (to[0] - from[0]) + (to[1] - from[1]) * (to[1] - from[1]) + (to[2] - from[2]) * (to[2] - from[2]));
        memcpy(from, to, sizeof from);
    }
    return length;
}

/* Puts an array into the new order.  `array` points to the pointer to it; each element has `size` bytes. */
static yoke_status permute(yoke_context *context, int64_t count, const element_key *keys, size_t size, void *array)
{
    char *old, *moved = NULL;
    yoke_status status = yoke_allocate_untouched(context, count, size, &moved);
    if (status) return status;
    memcpy(&old, array, sizeof old);
    for (int64_t i = 0; i < count; i++) memcpy(moved + size * (size_t)i, old + size * (size_t)keys[i].element, size);
    yoke_release(context, old);
    memcpy(array, &moved, sizeof moved);
    return YOKE_OK;
}

static int compare_members(const void *a, const void *b)
{
    const int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    return (p > q) - (p < q);
}

/* Replaces element numbers of members by the new ones, and sorts the members again. */
static yoke_status rename_members(fem_mesh *mesh, const int32_t *new_number)
{
    for (int g = 0; g < mesh->num_groups; g++) {
        fem_group *group = &mesh->groups[g];
        int64_t *member = NULL;
        yoke_status status = yoke_allocate_untouched(mesh->context, group->count, sizeof *member, &member);
        if (status) return status;
        for (int64_t i = 0; i < group->count; i++)
            member[i] = 16 * (int64_t)new_number[group->element[i]] + (group->local ? group->local[i] : 0);
        qsort(member, (size_t)group->count, sizeof *member, compare_members);
        for (int64_t i = 0; i < group->count; i++) {
            group->element[i] = (int32_t)(member[i] / 16);
            if (group->local) group->local[i] = (int8_t)(member[i] % 16);
        }
        yoke_release(mesh->context, member);
    }
    return YOKE_OK;
}

static yoke_status reorder(fem_mesh *mesh, const element_key *keys)
{
    yoke_context *context = mesh->context;
    const int64_t elements = mesh->num_elements;
    const size_t positions = mesh->order == 1 ? 8 : 27;
    int32_t *new_number = NULL;
    yoke_status status = yoke_allocate_untouched(context, elements, sizeof *new_number, &new_number);
    if (!status) status = permute(context, elements, keys, 8 * sizeof *mesh->corners, &mesh->corners);
    if (!status) status = permute(context, elements, keys, 3 * positions * sizeof *mesh->geometry, &mesh->geometry);
    if (!status) status = permute(context, elements, keys, sizeof *mesh->volume, &mesh->volume);
    if (!status) status = permute(context, elements, keys, sizeof *mesh->element_tag, &mesh->element_tag);
    if (!status) {
        for (int64_t i = 0; i < elements; i++) new_number[keys[i].element] = (int32_t)i;
        status = rename_members(mesh, new_number);
    }
    yoke_release(context, new_number);
    return status;
}

yoke_status fem_mesh_order_elements(fem_mesh *mesh)
{
    element_key *keys = NULL;
    if (mesh->num_elements < MIN_ELEMENTS) return YOKE_OK;
    yoke_status status = yoke_allocate_untouched(mesh->context, mesh->num_elements, sizeof *keys, &keys);
    if (status) return status;
    fill_keys(mesh, keys);
    qsort(keys, (size_t)mesh->num_elements, sizeof *keys, compare_keys);
    if (length_of(mesh, NULL) > LONGER * length_of(mesh, keys)) status = reorder(mesh, keys);
    yoke_release(mesh->context, keys);
    return status;
}
