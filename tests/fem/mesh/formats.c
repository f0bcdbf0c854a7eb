/* A box of 3 x 2 x 1 hexahedra is the same body in every format, and every node sits in its lexicographic place. */
#include <math.h>
#include <sys/wait.h>

#include "fem/fixtures/mesh_files.h"
#include "mesh/private.h"
#include "mesh/shape.h"

static int64_t count_of(const fem_mesh *mesh, int dimension, const char *name)
{
    int group = fem_mesh_find_group(mesh, dimension, name);
    return group < 0 ? -1 : mesh->groups[group].count;
}

/* Positions of all nodes of a straight box follow from its corners. */
static void check_positions(const fem_mesh *mesh)
{
    int n = mesh->order + 1;
    double volume = 0;
    for (int64_t e = 0; e < mesh->num_elements; e++) {
        const double *x = mesh->geometry + (int64_t)3 * n * n * n * e;
        const int32_t *corner = mesh->corners + 8 * e;
        double edge[3][3], size = 1;
        for (int axis = 0; axis < 3; axis++)
            for (int i = 0; i < 3; i++) edge[axis][i] = mesh->vertices[3 * corner[1 << axis] + i] - mesh->vertices[3 * corner[0] + i];
        for (int axis = 0; axis < 3; axis++) size *= fabs(edge[axis][0]) + fabs(edge[axis][1]) + fabs(edge[axis][2]);
        volume += size;
        for (int slot = 0; slot < n * n * n; slot++)
            for (int i = 0; i < 3; i++) {
                double expected = mesh->vertices[3 * corner[0] + i] +
                                  (slot % n * edge[0][i] + slot / n % n * edge[1][i] + slot / n / n * edge[2][i]) / (n - 1);
                assert_true(fabs(x[3 * slot + i] - expected) < 1e-9); /* Gmsh places mid-nodes to 1e-11 */
            }
        for (int c = 0; c < 8; c++)
            for (int i = 0; i < 3; i++) assert_true(mesh->vertices[3 * corner[c] + i] == x[3 * fem_corner_slot(n, c) + i]);
    }
    assert_true(fabs(volume - 6) < 1e-9);
}

/* All members of a face group lie in the plane coordinate[axis] = value. */
static void check_plane(const fem_mesh *mesh, const char *name, int axis, double value)
{
    int index = fem_mesh_find_group(mesh, 2, name);
    assert_true(index >= 0);
    const fem_group *group = &mesh->groups[index];
    for (int64_t i = 0; i < group->count; i++)
        for (int k = 0; k < 4; k++) {
            int32_t vertex = mesh->corners[8 * group->element[i] + fem_face_corner[group->local[i]][k]];
            assert_true(fabs(mesh->vertices[3 * vertex + axis] - value) < 1e-12);
        }
}

/* names: of the volumes "left part", "right part" and the faces x0, middle, x3, z0 in this format. */
static void check_box(const fem_mesh *mesh, int order, const char *const names[6])
{
    assert_int_equal(mesh->order, order);
    assert_int_equal(mesh->num_elements, 6);
    assert_int_equal(mesh->num_vertices, 24);
    check_positions(mesh);
    assert_int_equal(count_of(mesh, 3, names[0]), 2);
    assert_int_equal(count_of(mesh, 3, names[1]), 4);
    assert_int_equal(count_of(mesh, 2, names[2]), 2);
    assert_int_equal(count_of(mesh, 2, names[3]), 4); /* inside: 2 faces from both sides */
    assert_int_equal(count_of(mesh, 2, names[4]), 2);
    assert_int_equal(count_of(mesh, 2, names[5]), 6);
    check_plane(mesh, names[2], 0, 0);
    check_plane(mesh, names[3], 0, 1);
    check_plane(mesh, names[4], 0, 3);
    check_plane(mesh, names[5], 2, 0);
    for (int64_t e = 0; e < 6; e++) {
        const double *low = mesh->vertices + 3 * mesh->corners[8 * e], *high = mesh->vertices + 3 * mesh->corners[8 * e + 7];
        int left = low[0] + high[0] < 2;
        assert_int_equal(mesh->volume[e], fem_mesh_find_group(mesh, 3, names[left ? 0 : 1]));
    }
}

static void check_edge_and_point(const fem_mesh *mesh)
{
    assert_int_equal(count_of(mesh, 1, "front"), 3);
    const fem_group *front = &mesh->groups[fem_mesh_find_group(mesh, 1, "front")];
    for (int64_t i = 0; i < front->count; i++)
        for (int k = 0; k < 2; k++) {
            int32_t vertex = mesh->corners[8 * front->element[i] + fem_edge_corner[front->local[i]][k]];
            assert_true(mesh->vertices[3 * vertex + 1] == 0 && mesh->vertices[3 * vertex + 2] == 0);
        }
    assert_int_equal(count_of(mesh, 0, "origin"), 1);
    const fem_group *origin = &mesh->groups[fem_mesh_find_group(mesh, 0, "origin")];
    const double *x = mesh->vertices + 3 * mesh->corners[8 * origin->element[0] + origin->local[0]];
    assert_true(x[0] == 0 && x[1] == 0 && x[2] == 0);
}

static const char *const own_names[6] = {"left part", "right part", "x0", "middle", "x3", "z0"};
static const char *const unv_names[6] = {"left_part", "right_part", "x0", "middle", "x3", "z0"};
static const char *const numbers[6] = {"1", "2", "3", "4", "5", "6"};

static void check_msh(void **state, const char *ending)
{
    for (int nodes = 8; nodes <= 27; nodes += nodes == 8 ? 12 : 7) {
        char file[64];
        snprintf(file, sizeof file, "tests/fem/meshes/box-%d-%s.msh", nodes, ending);
        fem_mesh *mesh = must_read(*state, shipped_path(file));
        check_box(mesh, nodes == 8 ? 1 : 2, own_names);
        check_edge_and_point(mesh);
        fem_mesh_destroy(mesh);
    }
}

static void msh_2_2_text(void **state) { check_msh(state, "msh22"); }

static void msh_2_2_binary(void **state) { check_msh(state, "msh22-binary"); }

static void msh_4_0_text(void **state) { check_msh(state, "msh40"); }

static void msh_4_1_text(void **state) { check_msh(state, "msh41"); }

static void msh_4_1_binary(void **state) { check_msh(state, "msh41-binary"); }

/* The whole mesh in one file, with elements that neighbouring partitions see of each other; then one of the files of two partitions. */
static void msh_4_1_with_partitions(void **state)
{
    for (int binary = 0; binary < 2; binary++) {
        const char *ending = binary ? "-binary" : "";
        char file[64];
        snprintf(file, sizeof file, "tests/fem/meshes/box-8-partitions%s.msh", ending);
        fem_mesh *mesh = must_read(*state, shipped_path(file));
        check_box(mesh, 1, own_names);
        fem_mesh_destroy(mesh);
        snprintf(file, sizeof file, "tests/fem/meshes/box-8-partition-1-of-2%s.msh", ending);
        must_refuse(*state, shipped_path(file), "lacks partition 2 of 2", "PartitionSplitMeshFiles", NULL);
    }
}

static void check_file(void **state, const char *file, int order, const char *const names[6])
{
    fem_mesh *mesh = must_read(*state, shipped_path(file));
    check_box(mesh, order, names);
    fem_mesh_destroy(mesh);
}

static void unv(void **state)
{
    check_file(state, "tests/fem/meshes/box-8.unv", 1, unv_names);
    check_file(state, "tests/fem/meshes/box-20.unv", 2, unv_names);
}

/* Dataset 164, code 5: the file's numbers are metres times 1000. */
static void unv_in_millimetres(void **state)
{
    static const char units[] =
        "    -1\n   164\n         5  mm                           2\n    1.0000000000000000D+03    1.0000000000000000D+03"
        "    1.0000000000000000D+00\n    2.7314999999999998D+02\n    -1\n";
    const mesh_files *files = *state;
    size_t bytes = 0;
    char *content = whole_file_read(shipped_path("tests/fem/meshes/box-8.unv"), &bytes), *text = malloc(bytes + sizeof units);
    fem_mesh *mesh = NULL;
    strcpy(text, units);
    strcat(text, content);
    write_text(own_path(files, "box.unv"), text);
    must_refuse(files, own_path(files, "box.unv"), "line 4", "0.001 m", "mesh_scale: 0.001", NULL);
    assert_int_equal(fem_mesh_read(files->context, own_path(files, "box.unv"), &(fem_mesh_options){.scale = 0.001}, &mesh), YOKE_OK);
    for (int64_t i = 0; i < 3 * mesh->num_vertices; i++) assert_true(mesh->vertices[i] <= 0.003);
    fem_mesh_destroy(mesh);
    memcpy(strstr(text, "D+03"), "D+00", 4);
    write_text(own_path(files, "box.unv"), text);
    check_box(mesh = must_read(files, own_path(files, "box.unv")), 1, unv_names);
    fem_mesh_destroy(mesh);
    free(text);
    free(content);
}

static void unv_in_another_coordinate_system(void **state)
{
    static const char system[] = "    -1\n  2420\n         1\nPart\n         1         1         0\nCS1\n"
                                 "    1.0D+00  0.0D+00  0.0D+00\n    0.0D+00  1.0D+00  0.0D+00\n    0.0D+00  0.0D+00  1.0D+00\n"
                                 "    0.0D+00  0.0D+00  0.0D+00\n    -1\n";
    const mesh_files *files = *state;
    size_t bytes = 0;
    char *content = whole_file_read(shipped_path("tests/fem/meshes/box-8.unv"), &bytes), *text = malloc(bytes + sizeof system);
    strcpy(text, system);
    strcat(text, content);
    write_text(own_path(files, "box.unv"), text); /* cylindrical */
    must_refuse(files, own_path(files, "box.unv"), "line 5", "coordinate system 1", NULL);
    *strstr(text, "1         0\nCS1") = '0';
    write_text(own_path(files, "box.unv"), text);
    check_file(state, "tests/fem/meshes/box-8.unv", 1, unv_names);
    fem_mesh *mesh = must_read(files, own_path(files, "box.unv"));
    check_box(mesh, 1, unv_names);
    fem_mesh_destroy(mesh);
    memcpy(strstr(text, "         3         1         1"), "         3         7         1", 30);
    write_text(own_path(files, "box.unv"), text);
    must_refuse(files, own_path(files, "box.unv"), "node 3", "coordinate system 7", NULL);
    free(text);
    free(content);
}

static void bdf_with_free_fields(void **state)
{
    check_file(state, "tests/fem/meshes/box-8-fields0.bdf", 1, numbers);
    check_file(state, "tests/fem/meshes/box-20-fields0.bdf", 2, numbers);
}

static void bdf_with_small_fields(void **state)
{
    check_file(state, "tests/fem/meshes/box-8-fields1.bdf", 1, numbers);
    check_file(state, "tests/fem/meshes/box-20-fields1.bdf", 2, numbers);
}

/* Lines of box-20-fields2.bdf follow one another without marks, of which Gmsh alone reads 8 of 20 nodes. */
static void bdf_with_long_fields(void **state)
{
    check_file(state, "tests/fem/meshes/box-8-fields2.bdf", 1, numbers);
    check_file(state, "tests/fem/meshes/box-20-fields2.bdf", 2, numbers);
}

static void an_extension_in_capitals(void **state)
{
    size_t bytes = 0;
    char *content = whole_file_read(shipped_path("tests/fem/meshes/box-8-fields1.bdf"), &bytes);
    whole_file_write(own_path(*state, "BOX.NAS"), content, bytes);
    free(content);
    fem_mesh *mesh = must_read(*state, own_path(*state, "BOX.NAS"));
    check_box(mesh, 1, numbers);
    fem_mesh_destroy(mesh);
}

/* One mesh is read by the process that was started before, the next by another one; a third process, which got no mesh, is ended. */
static void a_reader_that_was_started_before(void **state)
{
    const mesh_files *files = *state;
    fem_mesh_reader *reader = NULL, *idle = NULL;
    assert_int_equal(fem_mesh_reader_start(files->context, &reader), YOKE_OK);
    for (int i = 0; i < 2; i++) {
        fem_mesh *mesh = NULL;
        const fem_mesh_options options = {.reader = reader};
        assert_int_equal(fem_mesh_read(files->context, shipped_path("tests/fem/meshes/box-8.unv"), &options, &mesh), YOKE_OK);
        check_box(mesh, 1, unv_names);
        fem_mesh_destroy(mesh);
    }
    assert_int_equal(fem_mesh_reader_start(files->context, &idle), YOKE_OK);
    fem_mesh_reader_destroy(idle);
    fem_mesh_reader_destroy(reader);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no process is left */
}

/* Debian's Gmsh has no MED reader: the refusal must say so, not that the file is bad. */
static void med_is_read_or_refused_for_the_right_reason(void **state)
{
    const mesh_files *files = *state;
    whole_file_write(own_path(files, "box.med"), "\211HDF\r\n\032\nand nothing more", 24);
    fem_mesh *mesh = NULL;
    assert_int_equal(fem_mesh_read(files->context, own_path(files, "box.med"), NULL, &mesh), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(files->context), "box.med"));
    assert_non_null(strstr(yoke_last_error(files->context), "MED"));
}

static void groups_without_names_are_found_by_number(void **state)
{
    sketch drawn = two_cubes();
    drawn.names = NULL;
    fem_mesh *mesh = must_read(*state, sketch_write(*state, &drawn, "numbers.msh"));
    assert_int_equal(count_of(mesh, 3, "1"), 2);
    assert_int_equal(count_of(mesh, 2, "2"), 1);
    assert_int_equal(fem_mesh_find_group(mesh, 2, "1"), -1);
    fem_mesh_destroy(mesh);
}

static void entities_stand_in_where_a_file_has_no_groups(void **state)
{
    sketch drawn = two_cubes();
    drawn.names = NULL;
    for (int i = 0; i < drawn.num_elements; i++) {
        drawn.elements[i].entity = 7 + i; /* 7: the face, 8 and 9: volumes */
        drawn.elements[i].group = 0;
    }
    fem_mesh *mesh = must_read(*state, sketch_write(*state, &drawn, "entities.msh"));
    assert_int_equal(count_of(mesh, 2, "7"), 1);
    assert_int_equal(count_of(mesh, 3, "8"), 1);
    assert_int_equal(count_of(mesh, 3, "9"), 1);
    fem_mesh_destroy(mesh);
}

static void numbers_of_nodes_may_have_wide_gaps(void **state)
{
    sketch drawn = two_cubes();
    for (int i = 0; i < drawn.num_nodes; i++) drawn.nodes[i].number *= 1000003;
    for (int i = 0; i < drawn.num_elements; i++)
        for (int k = 0; k < 20; k++) drawn.elements[i].node[k] *= 1000003;
    fem_mesh *mesh = must_read(*state, sketch_write(*state, &drawn, "gaps.msh"));
    assert_int_equal(mesh->num_vertices, 12);
    assert_int_equal(mesh->vertex_tag[11], 118000354);
    assert_int_equal(mesh->element_tag[1], 12);
    assert_int_equal(count_of(mesh, 2, "left"), 1);
    fem_mesh_destroy(mesh);
}

static void nodes_that_no_element_uses_are_left_out(void **state)
{
    sketch drawn = two_cubes();
    sketch_node(&drawn, 500, "nan", "0", "0"); /* a circle's centre, say */
    fem_mesh *mesh = must_read(*state, sketch_write(*state, &drawn, "unused.msh"));
    assert_int_equal(mesh->num_vertices, 12);
    fem_mesh_destroy(mesh);
}

/* The 20 shape functions of the serendipity element on [0,1]^3, from a textbook, in the order of the 27 slots. */
static double serendipity(int slot, const double r[3])
{
    double product = 1, sum = -2;
    for (int axis = 0, divisor = 1; axis < 3; axis++, divisor *= 3) {
        int place = slot / divisor % 3 - 1; /* -1, 0, 1 */
        double t = 2 * r[axis] - 1;
        product *= place == 0 ? 1 - t * t : (1 + place * t) / 2;
        sum += place * t;
    }
    int middles = (slot % 3 == 1) + (slot / 3 % 3 == 1) + (slot / 9 == 1);
    return middles == 0 ? product * sum : middles == 1 ? product : 0;
}

static void expanding_20_nodes_does_not_change_the_map(void **state)
{
    (void)state;
    double position[27][3], expanded[27][3];
    uint32_t random = 12345;
    for (int slot = 0; slot < 27; slot++)
        for (int axis = 0; axis < 3; axis++) {
            random = random * 1664525u + 1013904223u;
            position[slot][axis] = random / 4294967296.0;
        }
    memcpy(expanded, position, sizeof expanded);
    fem_mesh_expand_serendipity(expanded);
    for (int sample = 0; sample < 50; sample++) {
        double r[3], value[27], map[2][3] = {{0}};
        for (int axis = 0; axis < 3; axis++) {
            random = random * 1664525u + 1013904223u;
            r[axis] = random / 4294967296.0;
        }
        fem_shape(3, r, value, NULL, NULL);
        for (int slot = 0; slot < 27; slot++)
            for (int axis = 0; axis < 3; axis++) {
                map[0][axis] += value[slot] * expanded[slot][axis];
                map[1][axis] += serendipity(slot, r) * position[slot][axis];
            }
        for (int axis = 0; axis < 3; axis++) assert_true(fabs(map[0][axis] - map[1][axis]) < 1e-13);
    }
}

static const struct CMUnitTest tests[] = {
    MESH_TEST(msh_2_2_text),
    MESH_TEST(msh_2_2_binary),
    MESH_TEST(msh_4_0_text),
    MESH_TEST(msh_4_1_text),
    MESH_TEST(msh_4_1_binary),
    MESH_TEST(msh_4_1_with_partitions),
    MESH_TEST(unv),
    MESH_TEST(unv_in_millimetres),
    MESH_TEST(unv_in_another_coordinate_system),
    MESH_TEST(bdf_with_free_fields),
    MESH_TEST(bdf_with_small_fields),
    MESH_TEST(bdf_with_long_fields),
    MESH_TEST(an_extension_in_capitals),
    MESH_TEST(a_reader_that_was_started_before),
    MESH_TEST(med_is_read_or_refused_for_the_right_reason),
    MESH_TEST(groups_without_names_are_found_by_number),
    MESH_TEST(entities_stand_in_where_a_file_has_no_groups),
    MESH_TEST(numbers_of_nodes_may_have_wide_gaps),
    MESH_TEST(nodes_that_no_element_uses_are_left_out),
    MESH_TEST(expanding_20_nodes_does_not_change_the_map),
};

UNIT_MAIN(tests, NULL, NULL)
