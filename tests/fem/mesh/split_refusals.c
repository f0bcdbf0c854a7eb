/* Tetrahedra and prisms that are refused, and damaged streams of numbers. */
#include <math.h>

#include "failing_call.h"
#include "grid_file.h"
#include "mesh/private.h"

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

static void refuse_scale(const mesh_files *files, double scale, const char *says)
{
    fem_mesh *mesh = NULL;
    assert_int_equal(fem_mesh_read(files->context, own_path(files, "cubes.msh"), &(fem_mesh_options){.scale = scale}, &mesh),
                     YOKE_ERROR_INPUT);
    if (!strstr(yoke_last_error(files->context), says)) fail_msg("%s", yoke_last_error(files->context));
}

/* The elements are good ones: the message is about the scale. */
static void a_scale_with_which_lengths_leave_double_precision(void **state)
{
    const mesh_files *files = *state;
    sketch drawn = two_cubes();
    sketch_write(files, &drawn, "cubes.msh");
    for (double scale = 1e100; scale < 1e308; scale *= 1e50) refuse_scale(files, scale, "has coordinates up to 2 times 1e+");
    refuse_scale(files, 1.7e308, "has coordinates up to 2 times 1.7e+308 (mesh_scale); lengths from 1e-40 to 1e+40 can be computed");
    refuse_scale(files, 1e-100, "has an extent of 2 times 1e-100 (mesh_scale)");
    for (int i = 0; i < drawn.num_nodes; i++)
        if (strcmp(drawn.nodes[i].x, "2") == 0) drawn.nodes[i].x = "2e200";
    must_refuse(files, sketch_write(files, &drawn, "far.msh"), "has coordinates up to 2e+200;", "change the unit of its coordinates", NULL);
}

/* ------------------------------------------------------------------------------------------ damaged streams */

typedef struct streamed {
    fem_mesh_stream stream;
    int64_t bytes;
} streamed;

static yoke_status read_whole(yoke_context *context, void *user)
{
    const streamed *s = user;
    fem_mesh *mesh = NULL;
    yoke_status status = fem_mesh_from_stream(context, "stream", s->bytes, 2, &s->stream, &mesh);
    fem_mesh_destroy(mesh);
    return status;
}

static void every_failing_allocation_is_reported(void **state)
{
    const mesh_files *files = *state;
    grid g = {.cells = {2, 1, 2}, .order = 2, .serendipity = 1, .kind = of_all_kinds, .map = curved};
    fem_mesh_file file;
    streamed all;
    assert_int_equal(fem_mesh_recognise(files->context, write_grid(files, &g, "grid.msh"), &file), YOKE_OK);
    assert_int_equal(fem_mesh_run_reader(files->context, file.absolute_path, &file, NULL, &all.stream), YOKE_OK);
    all.bytes = file.bytes;
    assert_true(failing_call_everywhere(read_whole, &all) > 20);
    yoke_release(files->context, all.stream.bytes);
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
    MESH_TEST(a_scale_with_which_lengths_leave_double_precision),
    MESH_TEST(every_failing_allocation_is_reported),
    MESH_TEST(streams_with_flipped_bytes),
};

UNIT_MAIN(tests, NULL, NULL)
