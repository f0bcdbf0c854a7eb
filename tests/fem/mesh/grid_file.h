/*
 * grid_file.h - meshes of tetrahedra, prisms and hexahedra on a grid, as files of Gmsh.
 */
#ifndef TEST_GRID_FILE_H
#define TEST_GRID_FILE_H

#include "fem/fixtures/mesh_files.h"
#include "mesh/shape.h"

typedef enum cell_kind { NOTHING, TETRAHEDRA, PRISMS, HEXAHEDRON } cell_kind;

/* A block of cells, each cut into elements of one kind; nodes lie on the grid of half cells. */
typedef struct grid {
    int cells[3], order, serendipity;
    cell_kind (*kind)(int i, int j, int k);
    void (*map)(const double in[3], double out[3]);
    int64_t tetrahedra, prisms, hexahedra, faces; /* written; faces: quadrangles that the boundary is split into */
} grid;

static inline void straight(const double in[3], double out[3]) { memcpy(out, in, 3 * sizeof *in); }

/* Of second degree, so that elements of second order repeat it exactly. */
static inline void curved(const double in[3], double out[3])
{
    out[0] = in[0] + 0.10 * in[1] * in[1] + 0.05 * in[2] * in[0];
    out[1] = in[1] + 0.08 * in[0] * in[2] - 0.05 * in[0] * in[0];
    out[2] = 1.2 * in[2] + 0.07 * in[0] * in[0] - 0.03 * in[1] * in[2];
}

static inline cell_kind all_tetrahedra(int i, int j, int k) { return (void)i, (void)j, (void)k, TETRAHEDRA; }

static inline cell_kind all_prisms(int i, int j, int k) { return (void)i, (void)j, (void)k, PRISMS; }

/* A foot of a hexahedron beside prisms, with tetrahedra on these. */
static inline cell_kind of_all_kinds(int i, int j, int k)
{
    (void)j;
    return i == 0 ? (k == 0 ? HEXAHEDRON : NOTHING) : k == 0 ? PRISMS : TETRAHEDRA;
}

/* Node number of a place of the grid of half cells. */
static inline int node_at(const grid *g, const int at[3])
{
    return 1 + at[0] + (2 * g->cells[0] + 1) * (at[1] + (2 * g->cells[1] + 1) * at[2]);
}

/* One element: corners as places, then nodes in the middle of the pairs of corners, or of four. */
static inline int write_element(FILE *out, const grid *g, int number, int type, int group, int entity, int corners, int (*corner)[3],
                                int middles, const int8_t (*middle)[4])
{
    fprintf(out, "%d %d 2 %d %d", number, type, group, entity);
    for (int c = 0; c < corners; c++) fprintf(out, " %d", node_at(g, corner[c]));
    for (int m = 0; m < middles; m++) {
        int at[3] = {0}, count = middle[m][2] < 0 ? 2 : 4;
        for (int c = 0; c < count; c++)
            for (int axis = 0; axis < 3; axis++) at[axis] += corner[middle[m][c]][axis];
        for (int axis = 0; axis < 3; axis++) at[axis] /= count;
        fprintf(out, " %d", node_at(g, at));
    }
    fprintf(out, "\n");
    return 1;
}

/* Mid-nodes as Gmsh's manual draws them. */
static const int8_t tetrahedron_middle[6][4] = {{0, 1, -1}, {1, 2, -1}, {2, 0, -1}, {3, 0, -1}, {2, 3, -1}, {1, 3, -1}};
static const int8_t prism_middle[12][4] = {{0, 1, -1}, {0, 2, -1}, {0, 3, -1}, {1, 2, -1},   {1, 4, -1},   {2, 5, -1},
                                           {3, 4, -1}, {3, 5, -1}, {4, 5, -1}, {0, 1, 4, 3}, {0, 3, 5, 2}, {1, 2, 5, 4}};
static const int8_t hexahedron_middle[12][4] = {{0, 1, -1}, {0, 3, -1}, {0, 4, -1}, {1, 2, -1}, {1, 5, -1}, {2, 3, -1},
                                                {2, 6, -1}, {3, 7, -1}, {4, 5, -1}, {4, 7, -1}, {5, 6, -1}, {6, 7, -1}};

static inline int write_cell(FILE *out, grid *g, int number, cell_kind kind, const int low[3])
{
    static const int8_t order[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}};
    static const int8_t foot[2][3] = {{0, 1, 3}, {0, 3, 2}}, around[4] = {0, 1, 3, 2};
    int corner[8][3], written = 0, second = g->order == 2;
    for (int t = 0; t < 6 && kind == TETRAHEDRA; t++) {
        memcpy(corner[0], low, sizeof corner[0]);
        for (int step = 0; step < 3; step++) {
            memcpy(corner[step + 1], corner[step], sizeof corner[0]);
            corner[step + 1][order[t][step]] += 2;
        }
        if (t >= 3)
            for (int axis = 0; axis < 3; axis++) { /* left-handed: exchange two corners */
                int kept = corner[1][axis];
                corner[1][axis] = corner[2][axis];
                corner[2][axis] = kept;
            }
        g->tetrahedra += write_element(out, g, number + written++, second ? 11 : 4, 1, 1, 4, corner, second ? 6 : 0, tetrahedron_middle);
    }
    for (int p = 0; p < 2 && kind == PRISMS; p++) {
        for (int c = 0; c < 6; c++)
            for (int axis = 0; axis < 3; axis++) corner[c][axis] = low[axis] + 2 * (axis == 2 ? c / 3 : foot[p][c % 3] >> axis & 1);
        g->prisms += write_element(out, g, number + written++, second ? (g->serendipity ? 18 : 13) : 6, 1, 2, 6, corner,
                                   second ? (g->serendipity ? 9 : 12) : 0, prism_middle);
    }
    for (int c = 0; c < 8; c++)
        for (int axis = 0; axis < 3; axis++) corner[c][axis] = low[axis] + 2 * (axis == 2 ? c / 4 : around[c % 4] >> axis & 1);
    if (kind == HEXAHEDRON)
        g->hexahedra += write_element(out, g, number + written++, second ? 17 : 5, 1, 3, 8, corner, second ? 12 : 0, hexahedron_middle);
    return written;
}

static inline cell_kind kind_at(const grid *g, const int cell[3])
{
    for (int axis = 0; axis < 3; axis++)
        if (cell[axis] < 0 || cell[axis] >= g->cells[axis]) return NOTHING;
    return g->kind(cell[0], cell[1], cell[2]);
}

/* Counts what the boundary of a cell is split into, and writes the group "left" (x = 0) of triangles or quadrangles. */
static inline int write_faces(FILE *out, grid *g, int number, cell_kind kind, const int cell[3])
{
    static const int8_t triangle_middle[3][4] = {{0, 1, -1}, {1, 2, -1}, {2, 0, -1}},
                        quadrangle_middle[4][4] = {{0, 1, -1}, {1, 2, -1}, {2, 3, -1}, {3, 0, -1}};
    static const int8_t triangle[2][3] = {{0, 1, 3}, {0, 2, 3}}, around[4] = {0, 1, 3, 2};
    int written = 0, second = g->order == 2;
    for (int face = 0; face < 6; face++) {
        int beside[3] = {cell[0], cell[1], cell[2]}, axis = face / 2, corner[4][3];
        beside[axis] += face % 2 ? 1 : -1;
        if (kind_at(g, beside) != NOTHING) continue;
        int triangles = kind == TETRAHEDRA || (kind == PRISMS && axis == 2);
        g->faces += triangles ? 6 : 4;
        if (face != 0 || cell[0] > 0) continue;
        for (int part = 0; part < (triangles ? 2 : 1); part++) {
            for (int c = 0; c < (triangles ? 3 : 4); c++) {
                int of = triangles ? triangle[part][c] : around[c];
                corner[c][0] = 0;
                corner[c][1] = 2 * (cell[1] + (of & 1));
                corner[c][2] = 2 * (cell[2] + (of >> 1));
            }
            written += write_element(out, g, number + written,
                                     triangles ? (second ? 9 : 2)
                                     : second  ? 16
                                               : 3,
                                     2, 1, triangles ? 3 : 4, corner, second ? (triangles ? 3 : 4) : 0,
                                     triangles ? triangle_middle : quadrangle_middle);
        }
    }
    return written;
}

static inline int write_elements(FILE *out, grid *g)
{
    int number = 1, cell[3];
    for (cell[2] = 0; cell[2] < g->cells[2]; cell[2]++)
        for (cell[1] = 0; cell[1] < g->cells[1]; cell[1]++)
            for (cell[0] = 0; cell[0] < g->cells[0]; cell[0]++) {
                cell_kind kind = kind_at(g, cell);
                const int low[3] = {2 * cell[0], 2 * cell[1], 2 * cell[2]};
                number += write_cell(out, g, number, kind, low);
                if (kind != NOTHING) number += write_faces(out, g, number, kind, cell);
            }
    for (int j = 0; j < g->cells[1]; j++) /* the edge x = z = 0, and the point at its beginning */
        number += write_element(out, g, number, g->order == 2 ? 8 : 1, 3, 1, 2, (int[2][3]){{0, 2 * j, 0}, {0, 2 * j + 2, 0}},
                                g->order == 2, (const int8_t[1][4]){{0, 1, -1}});
    return number + write_element(out, g, number, 15, 4, 1, 1, (int[1][3]){{0, 0, 0}}, 0, NULL);
}

static const char *write_grid(const mesh_files *files, grid *g, const char *name)
{
    const char *path = own_path(files, name);
    FILE *out = fopen(path, "w");
    int size[3], at[3], nodes = 0;
    char *elements = NULL;
    size_t bytes = 0;
    assert_non_null(out);
    FILE *list = open_memstream(&elements, &bytes);
    int count = write_elements(list, g) - 1;
    fclose(list);
    for (int axis = 0; axis < 3; axis++) size[axis] = 2 * g->cells[axis] + 1;
    fprintf(out,
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n4\n3 1 \"body\"\n2 2 \"left\"\n1 3 \"edge\"\n0 4 \"origin\"\n"
            "$EndPhysicalNames\n$Nodes\n%d\n",
            size[0] * size[1] * size[2]);
    for (at[2] = 0; at[2] < size[2]; at[2]++)
        for (at[1] = 0; at[1] < size[1]; at[1]++)
            for (at[0] = 0; at[0] < size[0]; at[0]++) {
                double in[3], x[3];
                for (int axis = 0; axis < 3; axis++) in[axis] = at[axis] / (2.0 * g->cells[axis]);
                g->map(in, x);
                fprintf(out, "%d %.17g %.17g %.17g\n", ++nodes, x[0], x[1], x[2]);
            }
    fprintf(out, "$EndNodes\n$Elements\n%d\n%s$EndElements\n", count, elements);
    free(elements);
    assert_int_equal(fclose(out), 0);
    return path;
}

static inline double volume_of(const fem_mesh *mesh)
{
    int n = mesh->order + 1, slots = n * n * n;
    double point[5], weight[5], volume = 0;
    fem_gauss(5, point, weight);
    for (int64_t e = 0; e < mesh->num_elements; e++)
        for (int q = 0; q < 125; q++) {
            double r[3] = {point[q % 5], point[q / 5 % 5], point[q / 25]}, gradient[81], d[3][3] = {{0}};
            fem_shape(n, r, NULL, gradient, NULL);
            for (int slot = 0; slot < slots; slot++)
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++) d[i][j] += mesh->geometry[3 * (slots * e + slot) + i] * gradient[3 * slot + j];
            volume += weight[q % 5] * weight[q / 5 % 5] * weight[q / 25] *
                      (d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) - d[0][1] * (d[1][0] * d[2][2] - d[1][2] * d[2][0]) +
                       d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0]));
        }
    return volume;
}

#endif
