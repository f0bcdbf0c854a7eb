/* Every bad mesh is refused by a message that names the file and the element, node or group. */
#include "fem/fixtures/mesh_files.h"

/* --------------------------------------------------------------------------------------------------- files */

static void a_missing_file(void **state) { must_refuse(*state, own_path(*state, "nothing.msh"), "cannot be opened", "No such file", NULL); }

static void an_empty_file(void **state)
{
    write_text(own_path(*state, "empty.msh"), "");
    must_refuse(*state, own_path(*state, "empty.msh"), "is empty", NULL);
}

static void a_directory(void **state)
{
    assert_int_equal(mkdir(own_path(*state, "folder.msh"), 0700), 0);
    must_refuse(*state, own_path(*state, "folder.msh"), "not a regular file", NULL);
}

static void a_pipe(void **state)
{
    assert_int_equal(mkfifo(own_path(*state, "pipe.msh"), 0600), 0);
    must_refuse(*state, own_path(*state, "pipe.msh"), "not a regular file", NULL);
}

static void an_unknown_extension(void **state)
{
    write_text(own_path(*state, "body.stl"), "solid body\nendsolid\n");
    must_refuse(*state, own_path(*state, "body.stl"), "unknown extension", ".msh", ".unv", ".bdf", ".med", NULL);
}

static void a_text_that_is_no_mesh(void **state)
{
    static const char *const files[4] = {"text.msh", "text.unv", "text.bdf", "text.med"};
    static const char *const said[4] = {"$MeshFormat", "UNV", "BDF", "HDF5"};
    for (int i = 0; i < 4; i++) {
        write_text(own_path(*state, files[i]), "Dear all,\nplease find the mesh attached.\n");
        must_refuse(*state, own_path(*state, files[i]), said[i], NULL);
    }
}

static void an_msh_version_that_is_not_read(void **state)
{
    write_text(own_path(*state, "three.msh"), "$MeshFormat\n3.0 0 8\n$EndMeshFormat\n$Nodes\n0\n$EndNodes\n");
    must_refuse(*state, own_path(*state, "three.msh"), "version 3", "2.2 and 4.x", NULL);
    write_text(own_path(*state, "one.msh"), "$NOD\n0\n$ENDNOD\n$ELM\n0\n$ENDELM\n");
    must_refuse(*state, own_path(*state, "one.msh"), "$MeshFormat", NULL);
}

static void counts_beyond_the_file(void **state)
{
    static const char *const counts[3] = {"99999999999999", "2000000000", "-5"};
    for (int i = 0; i < 3; i++) {
        char text[256];
        snprintf(text, sizeof text, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%s\n1 0 0 0\n$EndNodes\n$Elements\n0\n$EndElements\n",
                 counts[i]);
        write_text(own_path(*state, "huge.msh"), text);
        must_refuse(*state, own_path(*state, "huge.msh"), NULL);
        snprintf(text, sizeof text, "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 %s 1 %s\n3 1 0 %s\n1\n0 0 0\n$EndNodes\n", counts[i],
                 counts[i], counts[i]);
        write_text(own_path(*state, "huge.msh"), text);
        must_refuse(*state, own_path(*state, "huge.msh"), NULL);
    }
}

/* ------------------------------------------------------------------------------------------------ elements */

static void no_hexahedra(void **state)
{
    sketch drawn = two_cubes();
    drawn.num_elements = 1;
    must_refuse(*state, sketch_write(*state, &drawn, "faces.msh"), "no volume elements", NULL);
}

static void hexahedra_of_two_orders(void **state)
{
    sketch drawn = two_cubes();
    for (int i = 0; i < 12; i++) sketch_node(&drawn, 201 + i, "2.5", "0.5", i % 2 ? "0.1" : "0.2");
    sketch_add(&drawn, 78, 17, 1, 2, 102, 103, 108, 107, 112, 113, 118, 117, 201, 202, 203, 204, 205, 206, 207, 208, 209, 210, 211, 212, 0);
    must_refuse(*state, sketch_write(*state, &drawn, "orders.msh"), "element 11", "8 nodes", "element 78", "20 nodes", NULL);
}

static void an_inverted_element(void **state)
{
    sketch drawn = two_cubes();
    drawn.num_elements = 2;
    sketch_add(&drawn, 12, 5, 1, 1, 112, 113, 118, 117, 102, 103, 108, 107, 0);
    must_refuse(*state, sketch_write(*state, &drawn, "inverted.msh"), "element 12", "inverted", "determinant", "-1 m3", NULL);
}

static void a_left_handed_mesh(void **state)
{
    sketch drawn = two_cubes();
    drawn.num_elements = 0;
    sketch_add(&drawn, 11, 5, 1, 1, 111, 112, 117, 116, 101, 102, 107, 106, 0);
    sketch_add(&drawn, 12, 5, 1, 1, 112, 113, 118, 117, 102, 103, 108, 107, 0);
    must_refuse(*state, sketch_write(*state, &drawn, "left.msh"), "element 11", "all elements are numbered left-handed", NULL);
}

static void a_tangled_element(void **state)
{
    sketch drawn = two_cubes();
    drawn.num_elements = 2;
    sketch_add(&drawn, 12, 5, 1, 1, 102, 103, 108, 107, 112, 118, 113, 117, 0);
    must_refuse(*state, sketch_write(*state, &drawn, "tangled.msh"), "element 12", "tangled", "determinant", NULL);
}

static void an_element_bent_inside_out(void **state)
{
    sketch drawn = two_cubes();
    for (int i = 0; i < drawn.num_nodes; i++)
        if (drawn.nodes[i].number == 118) drawn.nodes[i].x = drawn.nodes[i].y = drawn.nodes[i].z = "0.2";
    must_refuse(*state, sketch_write(*state, &drawn, "curved.msh"), "element 12", "tangled", NULL);
}

static void a_flat_element(void **state)
{
    sketch drawn = two_cubes();
    for (int i = 0; i < drawn.num_nodes; i++)
        if (drawn.nodes[i].number % 5 == 3) drawn.nodes[i].x = "1.00000000000001";
    must_refuse(*state, sketch_write(*state, &drawn, "flat.msh"), "element 12", "degenerate", "nodes 102 and 103", NULL);
    for (int i = 0; i < drawn.num_nodes; i++) {
        drawn.nodes[i].z = drawn.nodes[i].number > 110 ? "0" : drawn.nodes[i].z;
        drawn.nodes[i].x = drawn.nodes[i].number % 5 == 3 ? "2" : drawn.nodes[i].x;
        drawn.nodes[i].y = drawn.nodes[i].number > 115 ? "1.5" : drawn.nodes[i].number > 110 ? "0.5" : drawn.nodes[i].y;
    }
    must_refuse(*state, sketch_write(*state, &drawn, "flat.msh"), "element 11", "degenerate", "determinant", NULL);
}

static void an_element_with_a_node_twice(void **state)
{
    sketch drawn = two_cubes();
    drawn.elements[2].node[2] = 103;
    must_refuse(*state, sketch_write(*state, &drawn, "twice.msh"), "element 12", "node 103 twice", NULL);
}

static void a_node_that_does_not_exist(void **state)
{
    sketch drawn = two_cubes();
    drawn.elements[2].node[2] = 999;
    must_refuse(*state, sketch_write(*state, &drawn, "missing.msh"), "999", NULL);
}

static void a_coordinate_that_is_not_a_number(void **state)
{
    static const char *const bad[2] = {"nan", "1e999"};
    for (int i = 0; i < 2; i++) {
        sketch drawn = two_cubes();
        drawn.nodes[2].y = bad[i];
        must_refuse(*state, sketch_write(*state, &drawn, "nan.msh"), "node 103", "not finite", NULL);
    }
}

static void a_body_without_extent(void **state)
{
    sketch drawn = two_cubes();
    for (int i = 0; i < drawn.num_nodes; i++) drawn.nodes[i].x = drawn.nodes[i].y = drawn.nodes[i].z = "1";
    must_refuse(*state, sketch_write(*state, &drawn, "point.msh"), "no extent", NULL);
}

/* ---------------------------------------------------------------------------------------------------- body */

static void nodes_that_were_not_merged_make_two_bodies(void **state)
{
    sketch drawn = two_cubes();
    sketch_node(&drawn, 302, "1", "0", "0");
    sketch_node(&drawn, 307, "1", "1", "0");
    sketch_node(&drawn, 312, "1", "0", "1");
    sketch_node(&drawn, 317, "1", "1", "1.000000000001");
    drawn.num_elements = 2;
    sketch_add(&drawn, 12, 5, 1, 1, 302, 103, 108, 307, 312, 113, 118, 317, 0);
    /* two bodies that touch: a warning, and an error where one is not supported (supports.py) */
    fem_mesh *mesh = must_read(*state, sketch_write(*state, &drawn, "double.msh"));
    assert_int_equal(mesh->num_vertices, 16);
    fem_mesh_destroy(mesh);
}

/* A third cube beside the two, its first corner at (x, y, 0). */
static void add_cube(sketch *drawn, const char *x[2], const char *y[2], int shared_low, int shared_high)
{
    static const char *const z[2] = {"0", "1"};
    for (int k = 0; k < 2; k++)
        for (int j = 0; j < 2; j++)
            for (int i = 0; i < 2; i++)
                if (i + j > 0 || !shared_low) sketch_node(drawn, 400 + 4 * k + 2 * j + i + 1, x[i], y[j], z[k]);
    sketch_add(drawn, 13, 5, 1, 1, shared_low ? shared_low : 401, 402, 404, 403, shared_low ? shared_high : 405, 406, 408, 407, 0);
}

static void bodies_that_hang_together_by_an_edge(void **state)
{
    sketch drawn = two_cubes();
    const char *x[2] = {"2", "3"}, *y[2] = {"1", "2"};
    add_cube(&drawn, x, y, 108, 118);
    must_refuse(*state, sketch_write(*state, &drawn, "edge.msh"), "in 2 pieces", "elements 12 and 13", NULL);
}

static void three_elements_on_one_face(void **state)
{
    sketch drawn = two_cubes();
    const char *ends[4][2] = {{"0", "0"}, {"1", "0"}, {"0", "1"}, {"1", "1"}};
    for (int i = 0; i < 4; i++) sketch_node(&drawn, 501 + i, "1.9", ends[i][0], ends[i][1]);
    sketch_add(&drawn, 14, 5, 1, 1, 102, 501, 502, 107, 112, 503, 504, 117, 0);
    must_refuse(*state, sketch_write(*state, &drawn, "three.msh"), "elements 11, 12 and 14", "one face", NULL);
}

static void an_element_twice(void **state)
{
    sketch drawn = two_cubes();
    sketch_add(&drawn, 15, 5, 1, 1, 101, 102, 107, 106, 111, 112, 117, 116, 0);
    must_refuse(*state, sketch_write(*state, &drawn, "again.msh"), "elements 11, 12 and 15", "double elements", NULL);
}

/* -------------------------------------------------------------------------------------------------- groups */

static void a_face_of_a_group_beside_the_body(void **state)
{
    sketch drawn = two_cubes();
    sketch_add(&drawn, 22, 3, 2, 1, 101, 103, 113, 111, 0); /* over two elements */
    must_refuse(*state, sketch_write(*state, &drawn, "beside.msh"), "group 'left'", "element 22", "101, 103, 113, 111", "a face", NULL);
}

static void an_edge_of_a_group_beside_the_body(void **state)
{
    sketch drawn = two_cubes();
    drawn.names = "3\n1 3 \"line\"\n2 2 \"left\"\n3 1 \"body\"\n";
    sketch_add(&drawn, 31, 1, 3, 1, 101, 102, 0);
    sketch_add(&drawn, 32, 1, 3, 1, 101, 107, 0);
    must_refuse(*state, sketch_write(*state, &drawn, "edge.msh"), "group 'line'", "element 32", "an edge", NULL);
}

static void a_point_of_a_group_beside_the_body(void **state)
{
    sketch drawn = two_cubes();
    drawn.names = "3\n0 4 \"held\"\n2 2 \"left\"\n3 1 \"body\"\n";
    sketch_node(&drawn, 99, "7", "7", "7");
    sketch_add(&drawn, 41, 15, 4, 1, 99, 0);
    must_refuse(*state, sketch_write(*state, &drawn, "point.msh"), "group 'held'", "element 41", "nodes 99", "a corner", NULL);
}

static void a_triangle_in_a_group(void **state)
{
    sketch drawn = two_cubes();
    sketch_add(&drawn, 23, 2, 2, 1, 101, 106, 111, 0);
    must_refuse(*state, sketch_write(*state, &drawn, "triangle.msh"), "group 'left'", "element 23", "triangle", NULL);
}

static void a_group_with_the_number_of_another_as_its_name(void **state)
{
    sketch drawn = two_cubes();
    drawn.names = "2\n2 2 \"3\"\n3 1 \"body\"\n";
    sketch_add(&drawn, 24, 3, 3, 2, 103, 108, 118, 113, 0);
    must_refuse(*state, sketch_write(*state, &drawn, "names.msh"), "two groups '3'", "dimension 2", NULL);
}

static void a_group_name_with_control_characters(void **state)
{
    sketch drawn = two_cubes();
    drawn.names = "2\n2 2 \"le\033[2Jft\"\n3 1 \"body\"\n";
    must_refuse(*state, sketch_write(*state, &drawn, "control.msh"), "group 2", "control characters", NULL);
}

/* -------------------------------------------------------------------------------------------------- limits */

static void a_mesh_beyond_the_memory_limit(void **state)
{
    const mesh_files *files = *state;
    const char *path = shipped_path("tests/fem/meshes/box-8-msh41.msh");
    const fem_mesh_options limits = {.memory_bytes = 1};
    fem_mesh *mesh = NULL;
    assert_int_equal(fem_mesh_read(files->context, path, &limits, &mesh), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(files->context), path));
}

static void a_mesh_beyond_the_time_limit(void **state)
{
    const mesh_files *files = *state;
    const char *path = shipped_path("tests/fem/meshes/box-8-msh41.msh");
    const fem_mesh_options limits = {.seconds = 1e-4};
    fem_mesh *mesh = NULL;
    assert_int_equal(fem_mesh_read(files->context, path, &limits, &mesh), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(files->context), path));
    assert_non_null(strstr(yoke_last_error(files->context), "did not finish"));
}

/* Of elements of one number Gmsh keeps one, unless they are one that stands in several groups. */
static void two_elements_of_one_number(void **state)
{
    sketch drawn = two_cubes(), twice = two_cubes();
    sketch_add(&drawn, 12, 5, 1, 1, 101, 102, 107, 106, 111, 112, 117, 116, 0);
    must_refuse(*state, sketch_write(*state, &drawn, "cubes.msh"), "line 29", "another element has the number 12, too (line 28)", NULL);
    sketch_add(&twice, 12, 5, 3, 1, 102, 103, 108, 107, 112, 113, 118, 117, 0);
    fem_mesh *mesh = must_read(*state, sketch_write(*state, &twice, "cubes.msh"));
    assert_int_equal(mesh->num_elements, 2);
    fem_mesh_destroy(mesh);
}

static void two_elements_of_one_number_in_a_binary_file(void **state)
{
    for (int swapped = 0; swapped < 2; swapped++) {
        sketch drawn = two_cubes(), twice = two_cubes();
        drawn.elements[2].number = 11;
        must_refuse(*state, sketch_write_binary(*state, &drawn, 3, swapped, "cubes.msh"),
                    "two elements have the number 11 (places 2 and 3 in their section)", NULL);
        sketch_add(&twice, 12, 5, 3, 1, 102, 103, 108, 107, 112, 113, 118, 117, 0);
        fem_mesh *mesh = must_read(*state, sketch_write_binary(*state, &twice, 4, swapped, "cubes.msh"));
        assert_int_equal(mesh->num_elements, 2);
        fem_mesh_destroy(mesh);
    }
}

/* Elements would have one of the two places, and nobody would say which. */
static void two_nodes_of_one_number(void **state)
{
    sketch drawn = two_cubes(), twice = two_cubes();
    sketch_node(&drawn, 103, "2", "0", "0.5");
    must_refuse(*state, sketch_write(*state, &drawn, "cubes.msh"), "line 23", "another node has the number 103, too (line 13)", NULL);
    must_refuse(*state, sketch_write_binary(*state, &drawn, 3, false, "cubes.msh"),
                "two nodes have the number 103 (places 3 and 13 in their section)", NULL);
    sketch_node(&twice, 103, "2", "0.0", "-0");
    for (int binary = 0; binary < 2; binary++) {
        fem_mesh *mesh = must_read(*state, binary ? sketch_write_binary(*state, &twice, 3, false, "cubes.msh")
                                                  : sketch_write(*state, &twice, "cubes.msh"));
        assert_int_equal(mesh->num_elements, 2);
        fem_mesh_destroy(mesh);
    }
}

static void more_elements_than_the_file_says(void **state)
{
    sketch drawn = two_cubes();
    const char *path = sketch_write(*state, &drawn, "cubes.msh");
    whole_file_change(path, "$Elements\n3", "$Elements\n2");
    must_refuse(*state, path, "more elements than the 2 that", NULL);
    must_refuse(*state, sketch_write_binary(*state, &drawn, 2, false, "cubes.msh"), "more elements than the 2 that", NULL);
}

static const struct CMUnitTest tests[] = {
    MESH_TEST(two_elements_of_one_number),
    MESH_TEST(two_elements_of_one_number_in_a_binary_file),
    MESH_TEST(two_nodes_of_one_number),
    MESH_TEST(more_elements_than_the_file_says),
    MESH_TEST(a_missing_file),
    MESH_TEST(an_empty_file),
    MESH_TEST(a_directory),
    MESH_TEST(a_pipe),
    MESH_TEST(an_unknown_extension),
    MESH_TEST(a_text_that_is_no_mesh),
    MESH_TEST(an_msh_version_that_is_not_read),
    MESH_TEST(counts_beyond_the_file),
    MESH_TEST(no_hexahedra),
    MESH_TEST(hexahedra_of_two_orders),
    MESH_TEST(an_inverted_element),
    MESH_TEST(a_left_handed_mesh),
    MESH_TEST(a_tangled_element),
    MESH_TEST(an_element_bent_inside_out),
    MESH_TEST(a_flat_element),
    MESH_TEST(an_element_with_a_node_twice),
    MESH_TEST(a_node_that_does_not_exist),
    MESH_TEST(a_coordinate_that_is_not_a_number),
    MESH_TEST(a_body_without_extent),
    MESH_TEST(nodes_that_were_not_merged_make_two_bodies),
    MESH_TEST(bodies_that_hang_together_by_an_edge),
    MESH_TEST(three_elements_on_one_face),
    MESH_TEST(an_element_twice),
    MESH_TEST(a_face_of_a_group_beside_the_body),
    MESH_TEST(an_edge_of_a_group_beside_the_body),
    MESH_TEST(a_point_of_a_group_beside_the_body),
    MESH_TEST(a_triangle_in_a_group),
    MESH_TEST(a_group_with_the_number_of_another_as_its_name),
    MESH_TEST(a_group_name_with_control_characters),
    MESH_TEST(a_mesh_beyond_the_memory_limit),
    MESH_TEST(a_mesh_beyond_the_time_limit),
};

UNIT_MAIN(tests, NULL, NULL)
