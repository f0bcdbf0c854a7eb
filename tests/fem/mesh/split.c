/* Tetrahedra and prisms become hexahedra that fill the same body, curved as it is, face to face. */
#include <math.h>

#include "fem/mesh_files.h"
#include "mesh/private.h"
#include "mesh/shape.h"
#include "mesh/wire.h"

/* ------------------------------------------------------------------------------------------------ bodies */

typedef enum cell_kind { NOTHING, TETRAHEDRA, PRISMS, HEXAHEDRON } cell_kind;

/* A block of cells, each cut into elements of one kind; nodes lie on the grid of half cells. */
typedef struct grid {
    int cells[3], order, serendipity;
    cell_kind (*kind)(int i, int j, int k);
    void (*map)(const double in[3], double out[3]);
    int64_t tetrahedra, prisms, hexahedra, faces; /* written; faces: quadrangles that the boundary is split into */
} grid;

static void straight(const double in[3], double out[3]) { memcpy(out, in, 3 * sizeof *in); }

/* Of second degree, so that elements of second order repeat it exactly. */
static void curved(const double in[3], double out[3])
{
    out[0] = in[0] + 0.10 * in[1] * in[1] + 0.05 * in[2] * in[0];
    out[1] = in[1] + 0.08 * in[0] * in[2] - 0.05 * in[0] * in[0];
    out[2] = 1.2 * in[2] + 0.07 * in[0] * in[0] - 0.03 * in[1] * in[2];
}

static double curved_determinant(const double in[3])
{
    const double d[3][3] = {{1 + 0.05 * in[2], 0.2 * in[1], 0.05 * in[0]},
                            {0.08 * in[2] - 0.1 * in[0], 1, 0.08 * in[0]},
                            {0.14 * in[0], -0.03 * in[2], 1.2 - 0.03 * in[1]}};
    return d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) - d[0][1] * (d[1][0] * d[2][2] - d[1][2] * d[2][0]) +
           d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0]);
}

static cell_kind all_tetrahedra(int i, int j, int k) { return (void)i, (void)j, (void)k, TETRAHEDRA; }

static cell_kind all_prisms(int i, int j, int k) { return (void)i, (void)j, (void)k, PRISMS; }

/* A foot of a hexahedron beside prisms, with tetrahedra on these. */
static cell_kind of_all_kinds(int i, int j, int k)
{
    (void)j;
    return i == 0 ? (k == 0 ? HEXAHEDRON : NOTHING) : k == 0 ? PRISMS : TETRAHEDRA;
}

/* Node number of a place of the grid of half cells. */
static int node_at(const grid *g, const int at[3]) { return 1 + at[0] + (2 * g->cells[0] + 1) * (at[1] + (2 * g->cells[1] + 1) * at[2]); }

/* One element: corners as places, then nodes in the middle of the pairs of corners, or of four. */
static int write_element(FILE *out, const grid *g, int number, int type, int group, int entity, int corners, int (*corner)[3], int middles,
                         const int8_t (*middle)[4])
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

static int write_cell(FILE *out, grid *g, int number, cell_kind kind, const int low[3])
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

static cell_kind kind_at(const grid *g, const int cell[3])
{
    for (int axis = 0; axis < 3; axis++)
        if (cell[axis] < 0 || cell[axis] >= g->cells[axis]) return NOTHING;
    return g->kind(cell[0], cell[1], cell[2]);
}

/* Counts what the boundary of a cell is split into, and writes the group "left" (x = 0) of triangles or quadrangles. */
static int write_faces(FILE *out, grid *g, int number, cell_kind kind, const int cell[3])
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

static int write_elements(FILE *out, grid *g)
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

/* ------------------------------------------------------------------------------------------------- checks */

static double volume_of(const fem_mesh *mesh)
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

static double curved_volume(double cells_x, double from_x)
{
    double point[5], weight[5], volume = 0;
    fem_gauss(5, point, weight);
    for (int q = 0; q < 125; q++) {
        const double in[3] = {from_x + cells_x * point[q % 5], point[q / 5 % 5], point[q / 25]};
        volume += cells_x * weight[q % 5] * weight[q / 5 % 5] * weight[q / 25] * curved_determinant(in);
    }
    return volume;
}

static int64_t members_of(const fem_mesh *mesh, int dimension, const char *name)
{
    int group = fem_mesh_find_group(mesh, dimension, name);
    assert_true(group >= 0);
    return mesh->groups[group].count;
}

/* Faces between two elements have both; what is left is the boundary as it was counted. */
static void check_faces(const fem_mesh *mesh, const grid *g)
{
    fem_faces faces = {.face = NULL};
    int64_t boundary = 0;
    assert_int_equal(fem_faces_create(mesh, &faces), YOKE_OK);
    for (int64_t i = 0; i < faces.count; i++) boundary += faces.face[i].element[1] < 0;
    assert_int_equal(boundary, g->faces);
    fem_faces_clear(mesh->context, &faces);
    const fem_group *left = &mesh->groups[fem_mesh_find_group(mesh, 2, "left")];
    for (int64_t i = 0; i < left->count && g->map == straight; i++)
        for (int k = 0; k < 4; k++)
            assert_true(mesh->vertices[3 * mesh->corners[8 * left->element[i] + fem_face_corner[left->local[i]][k]]] == 0);
}

static void check_counts(const fem_mesh *mesh, const grid *g)
{
    assert_int_equal(mesh->order, g->order);
    assert_int_equal(mesh->num_elements, 4 * g->tetrahedra + 6 * g->prisms + 8 * g->hexahedra);
    assert_int_equal(mesh->split[0], g->tetrahedra);
    assert_int_equal(mesh->split[1], g->prisms);
    assert_int_equal(mesh->split[2], g->hexahedra);
    assert_int_equal(members_of(mesh, 3, "body"), mesh->num_elements);
    assert_int_equal(members_of(mesh, 1, "edge"), 2 * g->cells[1]);
    assert_int_equal(members_of(mesh, 0, "origin"), 1);
}

static fem_mesh *read_grid(const mesh_files *files, grid *g)
{
    fem_mesh *mesh = must_read(files, write_grid(files, g, "grid.msh"));
    check_counts(mesh, g);
    check_faces(mesh, g);
    return mesh;
}

static void straight_tetrahedra(void **state)
{
    grid g = {.cells = {3, 2, 2}, .order = 1, .kind = all_tetrahedra, .map = straight};
    fem_mesh *mesh = read_grid(*state, &g);
    assert_true(fabs(volume_of(mesh) - 1) < 1e-12); /* the file's thirds are rounded */
    assert_int_equal(members_of(mesh, 2, "left"), 2 * 2 * 2 * 3);
    assert_true(mesh->worst_shape > 0.05 && mesh->worst_shape < 1);
    fem_mesh_destroy(mesh);
}

static void straight_prisms(void **state)
{
    grid g = {.cells = {3, 2, 2}, .order = 1, .kind = all_prisms, .map = straight};
    fem_mesh *mesh = read_grid(*state, &g);
    assert_true(fabs(volume_of(mesh) - 1) < 1e-12); /* the file's thirds are rounded */
    assert_int_equal(members_of(mesh, 2, "left"), 2 * 2 * 4);
    fem_mesh_destroy(mesh);
}

static void tetrahedra_prisms_and_hexahedra_in_one_body(void **state)
{
    grid g = {.cells = {2, 2, 2}, .order = 1, .kind = of_all_kinds, .map = straight};
    fem_mesh *mesh = read_grid(*state, &g);
    assert_true(g.tetrahedra > 0 && g.prisms > 0 && g.hexahedra > 0);
    assert_true(fabs(volume_of(mesh) - 0.75) < 1e-13);
    fem_mesh_destroy(mesh);
}

/* Every node of every part lies where the map takes the same place of the straight body. */
static void check_curved(const mesh_files *files, grid *g, double volume)
{
    grid plain = *g;
    plain.order = 1;
    plain.map = straight;
    fem_mesh *flat = read_grid(files, &plain), *mesh = read_grid(files, g);
    for (int64_t e = 0; e < mesh->num_elements; e++)
        for (int slot = 0; slot < 27; slot++) {
            const double r[3] = {slot % 3 / 2.0, slot / 3 % 3 / 2.0, slot / 9 / 2.0};
            double linear[8], in[3] = {0}, x[3];
            fem_shape(2, r, linear, NULL, NULL);
            for (int c = 0; c < 8; c++)
                for (int axis = 0; axis < 3; axis++) in[axis] += linear[c] * flat->geometry[24 * e + 3 * c + axis];
            curved(in, x);
            for (int axis = 0; axis < 3; axis++) assert_true(fabs(mesh->geometry[81 * e + 3 * slot + axis] - x[axis]) < 1e-14);
        }
    if (!(fabs(volume_of(mesh) - volume) < 1e-13)) fail_msg("volume %.16g, expected %.16g", volume_of(mesh), volume);
    fem_mesh_destroy(mesh);
    fem_mesh_destroy(flat);
}

static void curved_tetrahedra(void **state)
{
    grid g = {.cells = {2, 2, 1}, .order = 2, .kind = all_tetrahedra, .map = curved};
    check_curved(*state, &g, curved_volume(1, 0));
}

static void curved_prisms_with_18_nodes(void **state)
{
    grid g = {.cells = {2, 2, 1}, .order = 2, .kind = all_prisms, .map = curved};
    check_curved(*state, &g, curved_volume(1, 0));
}

static void curved_prisms_with_15_nodes(void **state)
{
    grid g = {.cells = {2, 2, 1}, .order = 2, .serendipity = 1, .kind = all_prisms, .map = curved};
    check_curved(*state, &g, curved_volume(1, 0));
}

static void curved_elements_of_all_kinds(void **state)
{
    grid g = {.cells = {2, 1, 1}, .order = 2, .serendipity = 1, .kind = of_all_kinds, .map = curved};
    check_curved(*state, &g, curved_volume(1, 0)); /* a hexahedron beside prisms */
    grid tower = {.cells = {2, 1, 2}, .order = 2, .serendipity = 1, .kind = of_all_kinds, .map = curved};
    fem_mesh *mesh = read_grid(*state, &tower);
    assert_true(tower.tetrahedra > 0);
    fem_mesh_destroy(mesh);
}

static void quarter_of_a_ring(const double in[3], double out[3])
{
    out[0] = (1 + in[0]) * cos(1.5707963267948966 * in[1]);
    out[1] = (1 + in[0]) * sin(1.5707963267948966 * in[1]);
    out[2] = in[2];
}

/* Nodes lie on the true surface: the volume converges with the fourth power of the element size. */
static void volume_of_a_ring_converges(void **state)
{
    double error[2];
    for (int fine = 0; fine < 2; fine++) {
        grid g = {.cells = {1 + fine, 4 + 4 * fine, 1}, .order = 2, .kind = all_tetrahedra, .map = quarter_of_a_ring};
        fem_mesh *mesh = read_grid(*state, &g);
        error[fine] = fabs(volume_of(mesh) - 2.3561944901923449);
        fem_mesh_destroy(mesh);
    }
    assert_true(error[0] < 1e-3 && error[0] > 12 * error[1]);
}

/* ------------------------------------------------------------------------------------------------ refusals */

static void a_pyramid(void **state)
{
    sketch drawn = two_cubes();
    sketch_node(&drawn, 200, "2.5", "0.5", "0.5");
    sketch_add(&drawn, 77, 7, 1, 2, 103, 108, 118, 113, 200, 0);
    must_refuse(*state, sketch_write(*state, &drawn, "pyramid.msh"), "element 77", "pyramid", "tetrahedra", NULL);
}

static sketch one_tetrahedron(void)
{
    sketch drawn = {.names = "2\n2 2 \"left\"\n3 1 \"body\"\n"};
    sketch_node(&drawn, 1, "0", "0", "0");
    sketch_node(&drawn, 2, "1", "0", "0");
    sketch_node(&drawn, 3, "0", "1", "0");
    sketch_node(&drawn, 4, "0", "0", "1");
    sketch_add(&drawn, 11, 4, 1, 1, 1, 2, 3, 4, 0);
    return drawn;
}

/* In one volume, where Gmsh returns only one of them, and in two. */
static void tetrahedra_of_two_orders(void **state)
{
    static const char *const x[6] = {"0.1", "0.2", "0.3", "0.4", "0.6", "0.7"};
    sketch drawn = one_tetrahedron();
    sketch_node(&drawn, 5, "1", "1", "1");
    for (int i = 0; i < 6; i++) sketch_node(&drawn, 6 + i, x[i], "1", "2");
    sketch_add(&drawn, 12, 11, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0);
    must_refuse(*state, sketch_write(*state, &drawn, "orders.msh"), "first and of second order", NULL);
    drawn.elements[1].entity = 2;
    must_refuse(*state, sketch_write(*state, &drawn, "orders.msh"), "element 11", "4 nodes", "element 12", "10 nodes", "one order", NULL);
}

/* A load would act on a part of the group only. */
static void faces_of_two_orders_in_one_group(void **state)
{
    sketch drawn = two_cubes();
    for (int i = 0; i < 4; i++) sketch_node(&drawn, 201 + i, "2", i % 2 ? "1" : "0", i / 2 ? "0.4" : "0.6");
    sketch_add(&drawn, 22, 16, 2, 1, 103, 108, 118, 113, 201, 202, 203, 204, 0);
    must_refuse(*state, sketch_write(*state, &drawn, "faces.msh"), "first and of second order", NULL);
}

static void tetrahedra_against_a_hexahedron(void **state)
{
    sketch drawn = two_cubes();
    sketch_node(&drawn, 200, "2.5", "0.5", "0.5");
    sketch_add(&drawn, 77, 4, 1, 2, 103, 108, 118, 200, 0);
    sketch_add(&drawn, 78, 4, 1, 2, 103, 118, 113, 200, 0);
    must_refuse(*state, sketch_write(*state, &drawn, "against.msh"), "at (2, 0.5, 0.5)", "without sharing a face", NULL);
}

static void an_inverted_tetrahedron(void **state)
{
    sketch drawn = one_tetrahedron();
    sketch_node(&drawn, 5, "1", "1", "1");
    sketch_add(&drawn, 12, 4, 1, 1, 2, 3, 4, 5, 0);
    sketch_add(&drawn, 21, 2, 2, 1, 1, 2, 3, 0);
    fem_mesh *mesh = must_read(*state, sketch_write(*state, &drawn, "right.msh"));
    assert_true(fabs(volume_of(mesh) - 0.5) < 1e-14);
    fem_mesh_destroy(mesh);
    drawn.elements[1].node[1] = 4;
    drawn.elements[1].node[2] = 3;
    must_refuse(*state, sketch_write(*state, &drawn, "inverted.msh"), "element 12", "inverted", "determinant", NULL);
}

static void a_flat_tetrahedron(void **state)
{
    sketch drawn = one_tetrahedron();
    drawn.nodes[3].z = "0";
    drawn.nodes[3].x = drawn.nodes[3].y = "0.7";
    must_refuse(*state, sketch_write(*state, &drawn, "flat.msh"), "element 11", "degenerate", NULL);
}

static void a_tetrahedron_with_a_node_twice(void **state)
{
    sketch drawn = one_tetrahedron();
    drawn.elements[0].node[3] = 2;
    must_refuse(*state, sketch_write(*state, &drawn, "twice.msh"), "element 11", "node 2 twice", NULL);
}

static void a_triangle_beside_the_body(void **state)
{
    sketch drawn = one_tetrahedron();
    sketch_node(&drawn, 5, "1", "1", "1");
    sketch_add(&drawn, 21, 2, 2, 1, 1, 2, 5, 0);
    must_refuse(*state, sketch_write(*state, &drawn, "beside.msh"), "group 'left'", "element 21", "triangle", "a face", NULL);
}

/* Two tetrahedra with the corners of a face in common, but not a node between them. */
static void neighbours_with_different_mid_nodes(void **state)
{
    static const char *const half[6][3] = {{"0.5", "0", "0"}, {"0.5", "0.5", "0"}, {"0", "0.5", "0"},
                                           {"0", "0", "0.5"}, {"0", "0.5", "0.5"}, {"0.5", "0", "0.5"}};
    sketch drawn = one_tetrahedron();
    drawn.num_elements = 0;
    sketch_node(&drawn, 5, "1", "1", "1");
    for (int i = 0; i < 6; i++) sketch_node(&drawn, 10 + i, half[i][0], half[i][1], half[i][2]);
    sketch_node(&drawn, 20, "0.5", "0.5", "0.05"); /* instead of 11 */
    sketch_node(&drawn, 21, "0.5", "1", "0.5");
    sketch_node(&drawn, 22, "0.5", "0.5", "1");
    sketch_node(&drawn, 23, "1", "0.5", "0.5");
    sketch_add(&drawn, 11, 11, 1, 1, 1, 2, 3, 4, 10, 11, 12, 13, 14, 15, 0);
    sketch_add(&drawn, 12, 11, 1, 1, 2, 3, 4, 5, 11, 14, 15, 23, 22, 21, 0);
    sketch_add(&drawn, 21, 9, 2, 1, 1, 2, 3, 10, 11, 12, 0);
    fem_mesh_destroy(must_read(*state, sketch_write(*state, &drawn, "shared.msh")));
    drawn.elements[1].node[4] = 20;
    must_refuse(*state, sketch_write(*state, &drawn, "unshared.msh"), "element 12", "node 20", "node 11", NULL);
}

/* The bulge of an edge through the opposite face. */
static void a_tangled_curved_tetrahedron(void **state)
{
    grid g = {.cells = {1, 1, 1}, .order = 2, .kind = all_tetrahedra, .map = straight};
    size_t bytes = 0;
    char *content = whole_file_read(write_grid(*state, &g, "grid.msh"), &bytes), *node = strstr(content, "\n2 0.5 0 0\n");
    assert_non_null(node);
    memcpy(node, "\n2 0.5 9 0\n", 11);
    write_text(own_path(*state, "tangled.msh"), content);
    free(content);
    must_refuse(*state, own_path(*state, "tangled.msh"), "element", "tangled", NULL);
}

static void a_scale(void **state)
{
    const mesh_files *files = *state;
    grid g = {.cells = {1, 1, 1}, .order = 2, .kind = all_tetrahedra, .map = straight};
    const char *path = write_grid(files, &g, "grid.msh");
    fem_mesh *mesh = NULL;
    assert_int_equal(fem_mesh_read(files->context, path, &(fem_mesh_options){.scale = 1e-3}, &mesh), YOKE_OK);
    assert_true(fabs(volume_of(mesh) - 1e-9) < 1e-22);
    fem_mesh_destroy(mesh);
    mesh = NULL;
    assert_int_equal(fem_mesh_read(files->context, path, &(fem_mesh_options){.scale = 1e-320}, &mesh), YOKE_ERROR_INPUT);
    assert_int_equal(fem_mesh_read(files->context, path, &(fem_mesh_options){.scale = -1}, &mesh), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fem_mesh_read(files->context, path, &(fem_mesh_options){.scale = INFINITY}, &mesh), YOKE_ERROR_ARGUMENT);
    assert_null(mesh);
}

static void a_scale_beyond_all_numbers(void **state)
{
    const mesh_files *files = *state;
    sketch drawn = two_cubes();
    const char *path = sketch_write(files, &drawn, "cubes.msh");
    fem_mesh *mesh = NULL;
    for (int i = 0; i < drawn.num_nodes; i++)
        if (strcmp(drawn.nodes[i].x, "2") == 0) drawn.nodes[i].x = "1e10";
    path = sketch_write(files, &drawn, "cubes.msh");
    assert_int_equal(fem_mesh_read(files->context, path, &(fem_mesh_options){.scale = 1e300}, &mesh), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(files->context), "not finite"));
}

/* ------------------------------------------------------------------------------------------ damaged streams */

static void every_failing_allocation_is_reported(void **state)
{
    const mesh_files *files = *state;
    grid g = {.cells = {2, 1, 2}, .order = 2, .serendipity = 1, .kind = of_all_kinds, .map = curved};
    fem_mesh_file file;
    fem_mesh_stream stream;
    assert_int_equal(fem_mesh_recognise(files->context, write_grid(files, &g, "grid.msh"), &file), YOKE_OK);
    assert_int_equal(fem_mesh_run_reader(files->context, file.absolute_path, &file, NULL, &stream), YOKE_OK);
    for (int64_t fail_at = 1;; fail_at++) {
        failing memory = {0};
        yoke_options options = failing_options(&memory);
        yoke_context *context = NULL;
        assert_int_equal(yoke_context_create(&options, &context), YOKE_OK);
        int64_t before = memory.outstanding;
        memory.fail_at = memory.calls + fail_at;
        fem_mesh *mesh = NULL;
        yoke_status status = fem_mesh_from_stream(context, "stream", file.bytes, 2, &stream, &mesh);
        fem_mesh_destroy(mesh);
        assert_int_equal(memory.outstanding, before);
        yoke_context_destroy(context);
        if (status == YOKE_OK) break;
        assert_int_equal(status, YOKE_ERROR_MEMORY);
    }
    yoke_release(files->context, stream.bytes);
    fem_mesh_file_clear(files->context, &file);
}

static void streams_with_flipped_bytes(void **state)
{
    const mesh_files *files = *state;
    grid g = {.cells = {2, 1, 2}, .order = 2, .serendipity = 1, .kind = of_all_kinds, .map = curved};
    fem_mesh_file file;
    fem_mesh_stream stream;
    assert_int_equal(fem_mesh_recognise(files->context, write_grid(files, &g, "grid.msh"), &file), YOKE_OK);
    assert_int_equal(fem_mesh_run_reader(files->context, file.absolute_path, &file, NULL, &stream), YOKE_OK);
    unsigned char *copy = aligned_alloc(8, (size_t)(stream.count + 7) / 8 * 8);
    uint32_t random = 77;
    for (int k = 0; k < 4000; k++) {
        memcpy(copy, stream.bytes, (size_t)stream.count);
        for (int flips = 0; flips < 1 + k % 4; flips++) {
            random = random * 1664525u + 1013904223u;
            copy[(random >> 8) % (uint32_t)stream.count] ^= (unsigned char)(1 << (random >> 4) % 8);
        }
        const fem_mesh_stream damaged = {copy, stream.count};
        fem_mesh *mesh = NULL;
        yoke_status status = fem_mesh_from_stream(files->context, "stream", file.bytes, 1, &damaged, &mesh);
        assert_true(status == YOKE_OK || status == YOKE_ERROR_INPUT);
        fem_mesh_destroy(mesh);
    }
    free(copy);
    yoke_release(files->context, stream.bytes);
    fem_mesh_file_clear(files->context, &file);
}

static const struct CMUnitTest tests[] = {
    MESH_TEST(straight_tetrahedra),
    MESH_TEST(straight_prisms),
    MESH_TEST(tetrahedra_prisms_and_hexahedra_in_one_body),
    MESH_TEST(curved_tetrahedra),
    MESH_TEST(curved_prisms_with_18_nodes),
    MESH_TEST(curved_prisms_with_15_nodes),
    MESH_TEST(curved_elements_of_all_kinds),
    MESH_TEST(volume_of_a_ring_converges),
    MESH_TEST(a_pyramid),
    MESH_TEST(tetrahedra_of_two_orders),
    MESH_TEST(faces_of_two_orders_in_one_group),
    MESH_TEST(tetrahedra_against_a_hexahedron),
    MESH_TEST(an_inverted_tetrahedron),
    MESH_TEST(a_flat_tetrahedron),
    MESH_TEST(a_tetrahedron_with_a_node_twice),
    MESH_TEST(a_triangle_beside_the_body),
    MESH_TEST(neighbours_with_different_mid_nodes),
    MESH_TEST(a_tangled_curved_tetrahedron),
    MESH_TEST(a_scale),
    MESH_TEST(a_scale_beyond_all_numbers),
    MESH_TEST(every_failing_allocation_is_reported),
    MESH_TEST(streams_with_flipped_bytes),
};

UNIT_MAIN(tests, NULL, NULL)
