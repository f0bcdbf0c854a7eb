/* Converts the file's elements and nodes to hexahedra with positions. */
#include "mesh/private.h"
#include "mesh/shape.h"

#include <limits.h>

#include "mesh/file/wire.h"

/* Gmsh's order: corners around the bottom, corners around the top, then edges, faces, centre. */
const int8_t fem_mesh_hexahedron_corner[8] = {0, 1, 3, 2, 4, 5, 7, 6};
const int8_t fem_mesh_hexahedron_slot[27] = {0,  2,  8,  6,  18, 20, 26, 24, 1,  3,  9,  5,  11, 7,
                                             17, 15, 19, 21, 23, 25, 4,  10, 12, 14, 16, 22, 13};

void fem_mesh_expand_serendipity(double position[27][3])
{
    for (int axis = 0; axis < 3; axis++) {
        double corners = 0, edges = 0;
        for (int slot = 0; slot < 27; slot++) {
            int middles = fem_slot_middles(slot);
            if (middles == 0) corners += position[slot][axis];
            if (middles == 1) edges += position[slot][axis];
        }
        position[13][axis] = edges / 4 - corners / 4;
        static const int8_t face_slot[6] = {12, 14, 10, 16, 4, 22}, stride[3] = {1, 3, 9};
        for (int face = 0; face < 6; face++) {
            int centre = face_slot[face], s = stride[face / 2 == 0 ? 1 : 0], t = stride[face / 2 == 2 ? 1 : 2];
            double four_corners = position[centre - s - t][axis] + position[centre + s - t][axis] + position[centre - s + t][axis] +
                                  position[centre + s + t][axis];
            double four_edges =
                position[centre - s][axis] + position[centre + s][axis] + position[centre - t][axis] + position[centre + t][axis];
            position[centre][axis] = four_edges / 2 - four_corners / 4;
        }
    }
}

/* ----------------------------------------------------------------------------------- selection of elements */

static yoke_status wrong_element(const fem_mesh *mesh, const fem_raw_block *block)
{
    char buffer[48];
    return yoke_fail(mesh->context, YOKE_ERROR_INPUT,
                     "mesh '%s': element %lld is a %s; volume elements must be tetrahedra, prisms or hexahedra of first or "
                     "second order (in Gmsh pyramids come from Recombine on the surfaces of volumes of tetrahedra: remove it)",
                     mesh->path, (long long)block->number[0], fem_raw_type_name(block->type, buffer));
}

/* Counts the hexahedra, which must all be of one type. */
static yoke_status count_elements(fem_mesh *mesh, const fem_raw *raw, int *type)
{
    int64_t count = 0;
    const fem_raw_block *first = NULL;
    for (int b = 0; b < raw->num_blocks; b++) {
        const fem_raw_block *block = &raw->blocks[b];
        if (block->dimension != 3 || block->count == 0) continue;
        if (block->type != FEM_GMSH_HEX8 && block->type != FEM_GMSH_HEX20 && block->type != FEM_GMSH_HEX27)
            return wrong_element(mesh, block);
        if (first && first->type != block->type) {
            char one[48], other[48];
            return yoke_fail(mesh->context, YOKE_ERROR_INPUT,
                             "mesh '%s' mixes hexahedra: element %lld is a %s, element %lld is a %s; save all of them "
                             "with one order",
                             mesh->path, (long long)first->number[0], fem_raw_type_name(first->type, one), (long long)block->number[0],
                             fem_raw_type_name(block->type, other));
        }
        if (!first) first = block;
        count += block->count;
    }
    if (!first)
        return yoke_fail(mesh->context, YOKE_ERROR_INPUT,
                         "mesh '%s' holds no volume elements; it must be made of tetrahedra, prisms or hexahedra "
                         "(in Gmsh only entities in physical groups are saved: is there a Physical Volume?)",
                         mesh->path);
    if (count > INT32_MAX / 27)
        return yoke_fail(mesh->context, YOKE_ERROR_INPUT,
                         "mesh '%s' has %lld elements; at most %d are possible: mesh more coarsely and refine in yoke", mesh->path,
                         (long long)count, INT32_MAX / 27);
    mesh->num_elements = count;
    mesh->order = first->type == FEM_GMSH_HEX8 ? 1 : 2;
    *type = first->type;
    return YOKE_OK;
}

static yoke_status allocate_elements(fem_mesh *mesh, const fem_raw *raw, fem_conversion *conversion)
{
    yoke_context *context = mesh->context;
    int64_t elements = mesh->num_elements;
    int positions = mesh->order == 1 ? 8 : 27;
    yoke_status status = yoke_allocate(context, elements, 8 * sizeof(int32_t), &mesh->corners);
    if (!status) status = yoke_allocate(context, elements, (size_t)positions * 3 * sizeof(double), &mesh->geometry);
    if (!status) status = yoke_allocate(context, elements, sizeof(int32_t), &mesh->volume);
    if (!status) status = yoke_allocate(context, elements, sizeof(int64_t), &mesh->element_tag);
    if (!status) status = yoke_allocate(context, raw->num_nodes, sizeof(int32_t), &conversion->vertex_of);
    if (!status) status = yoke_allocate(context, raw->num_nodes, 1, &conversion->used);
    return status;
}

/* ---------------------------------------------------------------------------------------------- one element */

static void place_element(fem_mesh *mesh, const fem_raw *raw, fem_conversion *conversion, int64_t e, int type, const int32_t *index)
{
    int positions = mesh->order == 1 ? 8 : 27, nodes = fem_wire_nodes(type);
    const int8_t *slot = type == FEM_GMSH_HEX8 ? fem_mesh_hexahedron_corner : fem_mesh_hexahedron_slot;
    double(*geometry)[3] = (double(*)[3])(mesh->geometry + 3 * positions * e);
    for (int i = 0; i < nodes; i++) {
        conversion->used[index[i]] = 1;
        for (int axis = 0; axis < 3; axis++) geometry[slot[i]][axis] = raw->x[3 * (int64_t)index[i] + axis];
    }
    if (type == FEM_GMSH_HEX20) fem_mesh_expand_serendipity(geometry);
    for (int i = 0; i < 8; i++) {
        mesh->corners[8 * e + fem_mesh_hexahedron_corner[i]] = index[i];
        conversion->vertex_of[index[i]] = 0;
    }
}

static yoke_status convert_elements(fem_mesh *mesh, const fem_raw *raw, int type, fem_conversion *conversion)
{
    int64_t e = 0;
    int nodes = fem_wire_nodes(type);
    for (int b = 0; b < raw->num_blocks; b++) {
        const fem_raw_block *block = &raw->blocks[b];
        if (block->dimension != 3) continue;
        for (int64_t i = 0; i < block->count; i++, e++) {
            int32_t index[27];
            yoke_status status = fem_raw_find_nodes(mesh->context, mesh->path, raw, &conversion->numbers, block->number[i],
                                                    block->node + nodes * i, nodes, index);
            if (status) return status;
            mesh->element_tag[e] = block->number[i];
            mesh->volume[e] = -1;
            place_element(mesh, raw, conversion, e, type, index);
        }
    }
    return YOKE_OK;
}

/* Numbers the corner nodes in the file's order.  Until now, corners holds node indices. */
static yoke_status number_vertices(fem_mesh *mesh, const fem_raw *raw, fem_conversion *conversion)
{
    int64_t vertices = 0;
    for (int64_t i = 0; i < raw->num_nodes; i++)
        if (conversion->vertex_of[i] >= 0) conversion->vertex_of[i] = (int32_t)vertices++;
    mesh->num_vertices = vertices;
    yoke_status status = yoke_allocate(mesh->context, vertices, 3 * sizeof(double), &mesh->vertices);
    if (!status) status = yoke_allocate(mesh->context, vertices, sizeof(int64_t), &mesh->vertex_tag);
    if (status) return status;
    for (int64_t i = 0; i < raw->num_nodes; i++) {
        int32_t vertex = conversion->vertex_of[i];
        if (vertex < 0) continue;
        mesh->vertex_tag[vertex] = raw->node_number[i];
        for (int axis = 0; axis < 3; axis++) mesh->vertices[3 * (int64_t)vertex + axis] = raw->x[3 * i + axis];
    }
    for (int64_t i = 0; i < 8 * mesh->num_elements; i++) mesh->corners[i] = conversion->vertex_of[mesh->corners[i]];
    return YOKE_OK;
}

/* Checks the nodes used by elements, mid-nodes included: where two bodies touch without being connected, all these nodes are double. */
static yoke_status check_nodes(const fem_mesh *mesh, const fem_raw *raw, const fem_conversion *conversion)
{
    int64_t count = 0;
    for (int64_t i = 0; i < raw->num_nodes; i++) count += conversion->used[i];
    double *x = NULL;
    int64_t *number = NULL;
    yoke_status status = yoke_allocate_untouched(mesh->context, count, 3 * sizeof(double), &x);
    if (!status) status = yoke_allocate_untouched(mesh->context, count, sizeof(int64_t), &number);
    if (!status) {
        int64_t k = 0;
        for (int64_t i = 0; i < raw->num_nodes; i++) {
            if (!conversion->used[i]) continue;
            number[k] = raw->node_number[i];
            for (int axis = 0; axis < 3; axis++) x[3 * k + axis] = raw->x[3 * i + axis];
            k++;
        }
        status = fem_mesh_check_coincident(mesh->context, mesh->path, count, x, number, raw->last_of_file);
    }
    yoke_release(mesh->context, x);
    yoke_release(mesh->context, number);
    return status;
}

yoke_status fem_mesh_convert(fem_mesh *mesh, const fem_raw *raw, fem_conversion *conversion)
{
    int type = 0;
    yoke_status status = count_elements(mesh, raw, &type);
    if (!status) status = fem_numbers_create(mesh->context, mesh->path, raw->num_nodes, raw->node_number, &conversion->numbers);
    if (!status) status = allocate_elements(mesh, raw, conversion);
    if (status) return status;
    for (int64_t i = 0; i < raw->num_nodes; i++) conversion->vertex_of[i] = -1;
    status = convert_elements(mesh, raw, type, conversion);
    if (!status) status = number_vertices(mesh, raw, conversion);
    if (!status) status = check_nodes(mesh, raw, conversion);
    return status;
}

void fem_conversion_clear(yoke_context *context, fem_conversion *conversion)
{
    fem_numbers_clear(context, &conversion->numbers);
    yoke_release(context, conversion->vertex_of);
    yoke_release(context, conversion->used);
    *conversion = (fem_conversion){0};
}
