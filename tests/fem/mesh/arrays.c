/* Meshes from a program's arrays pass the same checks as files. */
#include <math.h>

#include "fem/fixtures/mesh_files.h"
#include "mesh/private.h"
#include "mesh/shape.h"

enum { NX = 4, NY = 3, NZ = 2, VERTICES = (NX + 1) * (NY + 1) * (NZ + 1), ELEMENTS = NX * NY * NZ };

typedef struct grid {
    double vertices[VERTICES][3];
    int32_t corners[ELEMENTS][8];
} grid;

static grid make_grid(void)
{
    grid made;
    for (int v = 0; v < VERTICES; v++) {
        made.vertices[v][0] = v % (NX + 1);
        made.vertices[v][1] = v / (NX + 1) % (NY + 1);
        made.vertices[v][2] = v / (NX + 1) / (NY + 1);
    }
    for (int e = 0; e < ELEMENTS; e++)
        for (int c = 0; c < 8; c++) {
            int i = e % NX + c % 2, j = e / NX % NY + c / 2 % 2, k = e / NX / NY + c / 4;
            made.corners[e][c] = i + (NX + 1) * (j + (NY + 1) * k);
        }
    return made;
}

static const char *name_of_face(const double centre[3], void *user)
{
    int *calls = user;
    ++*calls;
    return centre[0] == 0 ? "left" : centre[2] == NZ ? "top" : NULL;
}

static yoke_status build(const mesh_files *files, const grid *from, int order, const double *geometry, fem_mesh **mesh)
{
    return fem_mesh_from_arrays(files->context, VERTICES, &from->vertices[0][0], ELEMENTS, &from->corners[0][0], order, geometry, NULL,
                                NULL, mesh);
}

static void refuse(const mesh_files *files, const grid *from, int order, const double *geometry, const char *said)
{
    fem_mesh *mesh = NULL;
    assert_int_equal(build(files, from, order, geometry, &mesh), YOKE_ERROR_INPUT);
    assert_null(mesh);
    if (!strstr(yoke_last_error(files->context), said)) fail_msg("'%s' does not say '%s'", yoke_last_error(files->context), said);
}

static void a_grid_with_named_faces(void **state)
{
    const mesh_files *files = *state;
    grid from = make_grid();
    int calls = 0;
    fem_mesh *mesh = NULL;
    assert_int_equal(fem_mesh_from_arrays(files->context, VERTICES, &from.vertices[0][0], ELEMENTS, &from.corners[0][0], 1, NULL,
                                          name_of_face, &calls, &mesh),
                     YOKE_OK);
    assert_int_equal(calls, 2 * (NX * NY + NY * NZ + NX * NZ));
    assert_int_equal(mesh->groups[fem_mesh_find_group(mesh, 3, "body")].count, ELEMENTS);
    assert_int_equal(mesh->groups[fem_mesh_find_group(mesh, 2, "left")].count, NY * NZ);
    const fem_group *top = &mesh->groups[fem_mesh_find_group(mesh, 2, "top")];
    assert_int_equal(top->count, NX * NY);
    for (int64_t i = 0; i < top->count; i++) {
        assert_int_equal(top->local[i], 5);
        assert_true(mesh->vertices[3 * mesh->corners[8 * top->element[i] + 4] + 2] == NZ);
    }
    assert_int_equal(mesh->volume[ELEMENTS - 1], fem_mesh_find_group(mesh, 3, "body"));
    fem_mesh_destroy(mesh);
}

static const char *name_of_each_face(const double centre[3], void *user)
{
    snprintf(user, 64, "%g %g %g", centre[0], centre[1], centre[2]);
    return user;
}

static void a_group_for_every_face(void **state)
{
    const mesh_files *files = *state;
    grid from = make_grid();
    char name[64];
    fem_mesh *mesh = NULL;
    assert_int_equal(fem_mesh_from_arrays(files->context, VERTICES, &from.vertices[0][0], ELEMENTS, &from.corners[0][0], 1, NULL,
                                          name_of_each_face, name, &mesh),
                     YOKE_OK);
    assert_int_equal(mesh->num_groups, 1 + 2 * (NX * NY + NY * NZ + NX * NZ));
    assert_int_equal(mesh->groups[fem_mesh_find_group(mesh, 2, "0 0.5 0.5")].count, 1);
    fem_mesh_destroy(mesh);
}

static void vertices_out_of_range(void **state)
{
    grid from = make_grid();
    from.corners[3][2] = VERTICES;
    refuse(*state, &from, 1, NULL, "element 4");
    from.corners[3][2] = -1;
    refuse(*state, &from, 1, NULL, "element 4");
}

static void a_position_that_is_not_finite(void **state)
{
    grid from = make_grid();
    from.vertices[0][1] = NAN;
    refuse(*state, &from, 1, NULL, "not finite");
}

static void an_inverted_element(void **state)
{
    grid from = make_grid();
    for (int c = 0; c < 4; c++) {
        int32_t kept = from.corners[5][c];
        from.corners[5][c] = from.corners[5][c + 4];
        from.corners[5][c + 4] = kept;
    }
    refuse(*state, &from, 1, NULL, "element 6 is inverted");
}

static void vertices_that_were_not_merged_make_two_bodies(void **state)
{
    const double two[16][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1},
                               {1, 0, 0}, {2, 0, 0}, {1, 1, 0}, {2, 1, 0}, {1, 0, 1}, {2, 0, 1}, {1, 1, 1}, {2, 1, 1}};
    int32_t corners[16];
    for (int i = 0; i < 16; i++) corners[i] = i;
    const mesh_files *files = *state;
    fem_mesh *mesh = NULL;
    assert_int_equal(fem_mesh_from_arrays(files->context, 16, &two[0][0], 2, corners, 1, NULL, NULL, NULL, &mesh), YOKE_OK);
    fem_mesh_destroy(mesh);
}

static void bend(const double u[3], double x[3])
{
    for (int axis = 0; axis < 3; axis++) x[axis] = u[axis] + 0.1 * sin(u[(axis + 1) % 3]);
}

/* Tri-quadratic positions of the grid under a smooth map; its vertices are moved too. */
static double *curved_geometry(grid *from)
{
    double *geometry = malloc(sizeof(double) * 81 * ELEMENTS);
    for (int e = 0; e < ELEMENTS; e++)
        for (int slot = 0; slot < 27; slot++) {
            double u[3] = {slot % 3 / 2.0, slot / 3 % 3 / 2.0, slot / 9 / 2.0};
            for (int axis = 0; axis < 3; axis++) u[axis] += from->vertices[from->corners[e][0]][axis];
            bend(u, geometry + 81 * e + 3 * slot);
        }
    for (int v = 0; v < VERTICES; v++) {
        const double u[3] = {from->vertices[v][0], from->vertices[v][1], from->vertices[v][2]};
        bend(u, from->vertices[v]);
    }
    return geometry;
}

static void a_curved_grid(void **state)
{
    grid from = make_grid();
    double *geometry = curved_geometry(&from);
    fem_mesh *mesh = NULL;
    assert_int_equal(build(*state, &from, 2, geometry, &mesh), YOKE_OK);
    assert_int_equal(mesh->order, 2);
    fem_mesh_destroy(mesh);
    free(geometry);
}

static void mid_nodes_that_neighbours_do_not_share(void **state)
{
    grid from = make_grid();
    double *geometry = curved_geometry(&from);
    geometry[3 * 14] += 0.01; /* the middle of element 0's face +x */
    refuse(*state, &from, 2, geometry, "elements 1 and 2");
    free(geometry);
}

static void corners_beside_their_vertices(void **state)
{
    grid from = make_grid();
    double *geometry = curved_geometry(&from);
    from.vertices[0][0] += 0.001;
    refuse(*state, &from, 2, geometry, "element 1");
    free(geometry);
}

static void a_mid_node_that_folds_its_element(void **state)
{
    grid from = make_grid();
    double *geometry = curved_geometry(&from);
    geometry[81 * 7 + 3 * 13] += 0.6; /* the centre of element 8 beyond its face */
    refuse(*state, &from, 2, geometry, "element 8 is tangled");
    free(geometry);
}

/* Two cubes that share a face through all 24 orientations of the second: the grids on the common face must be matched rightly. */
static void neighbours_in_every_orientation(void **state)
{
    const mesh_files *files = *state;
    int tried = 0;
    static const double bump[3][3] = {{0, 0.05, 0}, {0.03, 0.07, 0}, {0, 0, 0}}; /* of the common face, without symmetry */
    static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    for (int permutation = 0; permutation < 6; permutation++)
        for (int mirror = 0; mirror < 8; mirror++) {
            int odd = permutation >= 3, flips = (mirror & 1) + (mirror >> 1 & 1) + (mirror >> 2);
            if ((odd + flips) % 2) continue; /* left-handed */
            double vertices[12][3], geometry[2][27][3];
            int32_t corners[2][8];
            for (int v = 0; v < 12; v++) {
                const double at[3] = {v % 3, v / 3 % 2, v / 6};
                memcpy(vertices[v], at, sizeof at);
            }
            for (int slot = 0; slot < 27; slot++) {
                int own[3] = {slot % 3, slot / 3 % 3, slot / 9}, turned[3];
                for (int axis = 0; axis < 3; axis++) turned[orders[permutation][axis]] = mirror >> axis & 1 ? 2 - own[axis] : own[axis];
                for (int e = 0; e < 2; e++) {
                    const int *at = e ? turned : own;
                    double x[3] = {e + at[0] / 2.0, at[1] / 2.0, at[2] / 2.0};
                    geometry[e][slot][0] = x[0] + (x[0] == 1 ? bump[at[2]][at[1]] : 0);
                    geometry[e][slot][1] = x[1];
                    geometry[e][slot][2] = x[2];
                    if (own[0] != 1 && own[1] != 1 && own[2] != 1)
                        corners[e][own[0] / 2 + own[1] + 2 * own[2]] = e + at[0] / 2 + 3 * (at[1] / 2) + 6 * (at[2] / 2);
                }
            }
            fem_mesh *mesh = NULL;
            if (fem_mesh_from_arrays(files->context, 12, &vertices[0][0], 2, &corners[0][0], 2, &geometry[0][0][0], NULL, NULL, &mesh) !=
                YOKE_OK)
                fail_msg("%s", yoke_last_error(files->context));
            fem_mesh_destroy(mesh);
            tried++;
        }
    assert_int_equal(tried, 24);
}

static const struct CMUnitTest tests[] = {
    MESH_TEST(a_grid_with_named_faces),
    MESH_TEST(a_group_for_every_face),
    MESH_TEST(vertices_out_of_range),
    MESH_TEST(a_position_that_is_not_finite),
    MESH_TEST(an_inverted_element),
    MESH_TEST(vertices_that_were_not_merged_make_two_bodies),
    MESH_TEST(a_curved_grid),
    MESH_TEST(mid_nodes_that_neighbours_do_not_share),
    MESH_TEST(corners_beside_their_vertices),
    MESH_TEST(a_mid_node_that_folds_its_element),
    MESH_TEST(neighbours_in_every_orientation),
};

UNIT_MAIN(tests, NULL, NULL)
