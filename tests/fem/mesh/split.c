/* Tetrahedra and prisms become hexahedra that fill the same body, curved as it is, face to face. */
#include <math.h>

#include "grid_file.h"
#include "mesh/private.h"
#include "mesh/shape.h"

static double curved_determinant(const double in[3])
{
    const double d[3][3] = {{1 + 0.05 * in[2], 0.2 * in[1], 0.05 * in[0]},
                            {0.08 * in[2] - 0.1 * in[0], 1, 0.08 * in[0]},
                            {0.14 * in[0], -0.03 * in[2], 1.2 - 0.03 * in[1]}};
    return d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) - d[0][1] * (d[1][0] * d[2][2] - d[1][2] * d[2][0]) +
           d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0]);
}

/* ------------------------------------------------------------------------------------------------- checks */

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

static const struct CMUnitTest tests[] = {
    MESH_TEST(straight_tetrahedra),
    MESH_TEST(straight_prisms),
    MESH_TEST(tetrahedra_prisms_and_hexahedra_in_one_body),
    MESH_TEST(curved_tetrahedra),
    MESH_TEST(curved_prisms_with_18_nodes),
    MESH_TEST(curved_prisms_with_15_nodes),
    MESH_TEST(curved_elements_of_all_kinds),
    MESH_TEST(volume_of_a_ring_converges),
};

UNIT_MAIN(tests, NULL, NULL)
