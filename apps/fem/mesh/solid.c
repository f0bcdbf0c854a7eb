/* Shapes of the volume elements that are split into hexahedra, and the geometry of the resulting parts. */
#include <math.h>
#include <string.h>

#include "mesh/file/wire.h"
#include "mesh/shape.h"
#include "mesh/split.h"

/* ------------------------------------------------------------------------------------------------- shapes */

static const fem_solid tetrahedron = {.corners = 4,
                                      .edges = 6,
                                      .faces = 4,
                                      .around = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}},
                                      .edge = {{0, 1}, {1, 2}, {2, 0}, {3, 0}, {3, 2}, {3, 1}},
                                      .face = {{0, 1, 2, -1}, {0, 1, 3, -1}, {0, 2, 3, -1}, {1, 2, 3, -1}},
                                      .place = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

static const fem_solid prism = {.corners = 6,
                                .edges = 9,
                                .faces = 5,
                                .around = {{1, 2, 3}, {2, 0, 4}, {0, 1, 5}, {5, 4, 0}, {3, 5, 1}, {4, 3, 2}},
                                .edge = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 4}, {2, 5}, {3, 4}, {3, 5}, {4, 5}},
                                .face = {{0, 1, 2, -1}, {3, 4, 5, -1}, {0, 1, 4, 3}, {0, 2, 5, 3}, {1, 2, 5, 4}},
                                .place = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}}};

static const fem_solid hexahedron = {
    .corners = 8,
    .edges = 12,
    .faces = 6,
    .around = {{1, 3, 4}, {2, 0, 5}, {3, 1, 6}, {0, 2, 7}, {7, 5, 0}, {4, 6, 1}, {5, 7, 2}, {6, 4, 3}},
    .edge = {{0, 1}, {0, 3}, {0, 4}, {1, 2}, {1, 5}, {2, 3}, {2, 6}, {3, 7}, {4, 5}, {4, 7}, {5, 6}, {6, 7}},
    .face = {{0, 3, 2, 1}, {0, 1, 5, 4}, {0, 4, 7, 3}, {1, 2, 6, 5}, {2, 3, 7, 6}, {4, 5, 6, 7}},
    .place = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}}};

const fem_solid *fem_solid_of(int type)
{
    switch (type) {
    case FEM_GMSH_TET4:
    case FEM_GMSH_TET10:
        return &tetrahedron;
    case FEM_GMSH_PRISM6:
    case FEM_GMSH_PRISM15:
    case FEM_GMSH_PRISM18:
        return &prism;
    case FEM_GMSH_HEX8:
    case FEM_GMSH_HEX20:
    case FEM_GMSH_HEX27:
        return &hexahedron;
    default:
        return NULL;
    }
}

/* Returns the face of a solid that has these three corners. */
static int face_with(const fem_solid *kind, int a, int b, int c)
{
    for (int f = 0; f < kind->faces; f++) {
        int found = 0;
        for (int k = 0; k < 4 && kind->face[f][k] >= 0; k++)
            found += kind->face[f][k] == a || kind->face[f][k] == b || kind->face[f][k] == c;
        if (found == 3) return f;
    }
    return -1;
}

static int edge_with(const fem_solid *kind, int a, int b)
{
    for (int e = 0; e < kind->edges; e++)
        if ((kind->edge[e][0] == a && kind->edge[e][1] == b) || (kind->edge[e][0] == b && kind->edge[e][1] == a)) return e;
    return -1;
}

void fem_solid_part(const fem_solid *kind, int corner, int place[8])
{
    const int8_t *other = kind->around[corner];
    const int edges = kind->corners, faces = edges + kind->edges;
    place[0] = corner;
    for (int k = 0; k < 3; k++) place[1 << k] = edges + edge_with(kind, corner, other[k]);
    place[3] = faces + face_with(kind, corner, other[0], other[1]);
    place[5] = faces + face_with(kind, corner, other[0], other[2]);
    place[6] = faces + face_with(kind, corner, other[1], other[2]);
    place[7] = faces + kind->faces;
}

int fem_solid_places(const fem_solid *kind, double at[FEM_SOLID_NODES][3])
{
    int count = kind->corners;
    memset(at, 0, FEM_SOLID_NODES * sizeof *at);
    memcpy(at, kind->place, (size_t)count * sizeof *at);
    for (int e = 0; e < kind->edges; e++, count++)
        for (int axis = 0; axis < 3; axis++)
            at[count][axis] = (kind->place[kind->edge[e][0]][axis] + kind->place[kind->edge[e][1]][axis]) / 2;
    for (int f = 0; f < kind->faces; f++, count++) {
        int corners = kind->face[f][3] < 0 ? 3 : 4;
        for (int k = 0; k < corners; k++)
            for (int axis = 0; axis < 3; axis++) at[count][axis] += kind->place[kind->face[f][k]][axis] / corners;
    }
    for (int k = 0; k < kind->corners; k++)
        for (int axis = 0; axis < 3; axis++) at[count][axis] += kind->place[k][axis] / kind->corners;
    return count + 1;
}

/* -------------------------------------------------------------------------------------- curved geometry */

/* Shape functions of the triangle with 6 nodes, in Gmsh's order. */
static void triangle_shape(double u, double v, double value[6])
{
    const double l[3] = {1 - u - v, u, v};
    for (int k = 0; k < 3; k++) {
        value[k] = l[k] * (2 * l[k] - 1);
        value[3 + k] = 4 * l[k] * l[(k + 1) % 3];
    }
}

static void tetrahedron_shape(const double at[3], double value[FEM_SOLID_NODES])
{
    const double l[4] = {1 - at[0] - at[1] - at[2], at[0], at[1], at[2]};
    for (int k = 0; k < 4; k++) value[k] = l[k] * (2 * l[k] - 1);
    for (int e = 0; e < 6; e++) value[4 + e] = 4 * l[tetrahedron.edge[e][0]] * l[tetrahedron.edge[e][1]];
}

/*
 * Shape functions of the prism with 18 nodes: products of those of the triangle and of the line.  The nodes are corners, middles of edges,
 * centres of quadrangles.
 */
static void prism_shape(const double at[3], double value[FEM_SOLID_NODES])
{
    static const int8_t node[3][6] = {{0, 1, 2, 6, 9, 7}, {8, 10, 11, 15, 17, 16}, {3, 4, 5, 12, 14, 13}};
    double triangle[6], w = at[2], line[3] = {(1 - w) * (1 - 2 * w), 4 * w * (1 - w), w * (2 * w - 1)};
    triangle_shape(at[0], at[1], triangle);
    for (int layer = 0; layer < 3; layer++)
        for (int k = 0; k < 6; k++) value[node[layer][k]] = line[layer] * triangle[k];
}

void fem_solid_shape(const fem_solid *kind, const double at[3], double value[FEM_SOLID_NODES])
{
    if (kind == &tetrahedron)
        tetrahedron_shape(at, value);
    else if (kind == &prism)
        prism_shape(at, value);
    else
        fem_shape(3, at, value, NULL, NULL);
}

int fem_solid_positions(const fem_raw *raw, int type, const int32_t *index, double (*position)[3])
{
    const int nodes = fem_wire_nodes(type), hexahedral = fem_solid_of(type) == &hexahedron;
    for (int i = 0; i < nodes; i++)
        memcpy(position[hexahedral ? fem_mesh_hexahedron_slot[i] : i], raw->x + 3 * (int64_t)index[i], sizeof *position);
    if (type == FEM_GMSH_HEX20) fem_mesh_expand_serendipity(position);
    if (type != FEM_GMSH_PRISM15) return hexahedral ? 27 : nodes;
    for (int f = 0; f < 3; f++) {
        const int8_t *corner = prism.face[2 + f];
        for (int axis = 0; axis < 3; axis++) {
            double corners = 0, middles = 0;
            for (int k = 0; k < 4; k++) {
                corners += position[corner[k]][axis];
                middles += position[6 + edge_with(&prism, corner[k], corner[(k + 1) % 4])][axis];
            }
            position[15 + f][axis] = middles / 2 - corners / 4;
        }
    }
    return 18;
}

void fem_solid_evaluate(int count, const double weight[FEM_SOLID_NODES], double (*position)[3], double x[3])
{
    for (int axis = 0; axis < 3; axis++) {
        x[axis] = 0;
        for (int i = 0; i < count; i++) x[axis] += weight[i] * position[i][axis];
    }
}

/* Computes the weights of the element's node positions at the 27 slots of each part. */
static void weigh_slots(const fem_solid *kind, double weight[FEM_SOLID_PARTS][27][FEM_SOLID_NODES])
{
    double at[FEM_SOLID_NODES][3];
    fem_solid_places(kind, at);
    for (int part = 0; part < kind->corners; part++) {
        int place[8];
        fem_solid_part(kind, part, place);
        for (int slot = 0; slot < 27; slot++) {
            const double r[3] = {slot % 3 / 2.0, slot / 3 % 3 / 2.0, slot / 9 / 2.0};
            double linear[8], point[3] = {0, 0, 0};
            fem_shape(2, r, linear, NULL, NULL);
            for (int k = 0; k < 8; k++)
                for (int axis = 0; axis < 3; axis++) point[axis] += linear[k] * at[place[k]][axis];
            fem_solid_shape(kind, point, weight[part][slot]);
        }
    }
}

/* Computes the positions of the parts of one block, beginning with element *e of the mesh. */
static yoke_status bend_block(fem_mesh *mesh, const fem_raw *raw, const fem_numbers *numbers, const fem_raw_block *block, double *geometry,
                              int64_t *e)
{
    const fem_solid *kind = fem_solid_of(block->type);
    const int nodes = fem_wire_nodes(block->type);
    double(*weight)[27][FEM_SOLID_NODES] = NULL, position[FEM_SOLID_NODES][3];
    yoke_status status = yoke_allocate(mesh->context, FEM_SOLID_PARTS, sizeof *weight, &weight);
    if (status) return status;
    weigh_slots(kind, weight);
    for (int64_t i = 0; i < block->count; i++) {
        int32_t index[FEM_SOLID_NODES];
        for (int k = 0; k < nodes; k++) index[k] = (int32_t)fem_numbers_find(numbers, block->node[nodes * i + k]);
        const int count = fem_solid_positions(raw, block->type, index, position);
        for (int part = 0; part < kind->corners; part++, ++*e) {
            double(*x)[3] = (double(*)[3])(geometry + 81 * *e);
            for (int slot = 0; slot < 27; slot++) fem_solid_evaluate(count, weight[part][slot], position, x[slot]);
            for (int c = 0; c < 8; c++)
                memcpy(x[fem_corner_slot(3, c)], mesh->vertices + 3 * (int64_t)mesh->corners[8 * *e + c], sizeof *x);
        }
    }
    yoke_release(mesh->context, weight);
    return YOKE_OK;
}

yoke_status fem_split_bend(fem_mesh *mesh, const fem_raw *raw, const fem_split *split)
{
    if (split->order < 2) return YOKE_OK;
    double *geometry = NULL;
    int64_t e = 0;
    yoke_status status = yoke_allocate_untouched(mesh->context, mesh->num_elements, 81 * sizeof(double), &geometry);
    for (int b = 0; !status && b < raw->num_blocks; b++)
        if (raw->blocks[b].dimension == 3) status = bend_block(mesh, raw, &split->numbers, &raw->blocks[b], geometry, &e);
    if (status) {
        yoke_release(mesh->context, geometry);
        return status;
    }
    yoke_release(mesh->context, mesh->geometry);
    mesh->geometry = geometry;
    mesh->order = 2;
    return YOKE_OK;
}
