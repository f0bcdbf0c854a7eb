/* Files made to harm: scripts under a mesh's name, truncated and damaged files, and damage between the reader program and this one. */
#include "base/failing.h"
#include "failing_call.h"
#include "fem/fixtures/mesh_files.h"
#include "mesh/file/wire.h"
#include "mesh/private.h"

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* ------------------------------------------------------------------------------------------------- scripts */

static void make_script(const mesh_files *files, char script[1200])
{
    snprintf(script, 1200, "SystemCall \"touch %s\";\nPrint.X = 1;\n", own_path(files, "harm"));
}

static int harm_was_done(const mesh_files *files) { return access(own_path(files, "harm"), F_OK) == 0; }

/* The script does harm if Gmsh runs it: otherwise the tests below would show nothing. */
static void the_script_of_these_tests_works(void **state)
{
    const mesh_files *files = *state;
    char script[1200], command[2400];
    make_script(files, script);
    write_text(own_path(files, "script.geo"), script);
    snprintf(command, sizeof command, "command -v gmsh >/dev/null || exit 99; gmsh -v 0 -0 -o /dev/null %s >/dev/null 2>&1; true",
             own_path(files, "script.geo"));
    if (system(command) != 0) skip();
    assert_true(harm_was_done(files));
}

static void a_script_under_a_meshs_name(void **state)
{
    const mesh_files *files = *state;
    static const char *const names[5] = {"script.msh", "script.unv", "script.bdf", "script.nas", "script.med"};
    char script[1200];
    make_script(files, script);
    for (int i = 0; i < 5; i++) {
        write_text(own_path(files, names[i]), script);
        must_refuse(files, own_path(files, names[i]), NULL);
    }
    write_text(own_path(files, "script.geo"), script);
    must_refuse(files, own_path(files, "script.geo"), "unknown extension", NULL);
    assert_false(harm_was_done(files));
}

static void a_script_behind_a_meshs_header(void **state)
{
    const mesh_files *files = *state;
    char script[1200], text[2400];
    make_script(files, script);
    snprintf(text, sizeof text, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n%s$End\n", script);
    write_text(own_path(files, "behind.msh"), text);
    must_refuse(files, own_path(files, "behind.msh"), NULL);
    snprintf(text, sizeof text, "$MeshFormatted\n%s$End\n", script);
    write_text(own_path(files, "behind.msh"), text);
    must_refuse(files, own_path(files, "behind.msh"), NULL);
    assert_false(harm_was_done(files));
}

/* Gmsh runs FILE.opt when it opens FILE. */
static void a_script_beside_a_mesh(void **state)
{
    const mesh_files *files = *state;
    char script[1200];
    sketch drawn = two_cubes();
    make_script(files, script);
    write_text(own_path(files, "good.msh.opt"), script);
    fem_mesh *mesh = must_read(files, sketch_write(files, &drawn, "good.msh"));
    assert_int_equal(mesh->num_elements, 2);
    fem_mesh_destroy(mesh);
    assert_false(harm_was_done(files));
}

static void a_name_with_quotes_blanks_and_dots(void **state)
{
    sketch drawn = two_cubes();
    fem_mesh *mesh = must_read(*state, sketch_write(*state, &drawn, "..a \"mesh\"; 'of' $(two).cubes.msh"));
    assert_int_equal(mesh->num_elements, 2);
    fem_mesh_destroy(mesh);
}

/* ------------------------------------------------------------------------------------------- damaged files */

typedef struct damaged_case {
    const char *file, *own;
} damaged_case;

static const damaged_case damaged[] = {
    {"tests/fem/meshes/box-20-msh22.msh", "cut.msh"}, {"tests/fem/meshes/box-8-msh22-binary.msh", "cut.msh"},
    {"tests/fem/meshes/box-27-msh41.msh", "cut.msh"}, {"tests/fem/meshes/box-27-msh41-binary.msh", "cut.msh"},
    {"tests/fem/meshes/box-20.unv", "cut.unv"},       {"tests/fem/meshes/box-20-fields1.bdf", "cut.bdf"}};
enum { NUM_DAMAGED = sizeof damaged / sizeof *damaged };

static void truncated_files(void **state)
{
    const mesh_files *files = *state;
    uint32_t random = 7;
    for (int i = 0; i < NUM_DAMAGED; i++) {
        size_t bytes = 0;
        char *content = whole_file_read(shipped_path(damaged[i].file), &bytes);
        for (int k = 0; k < 12; k++) {
            size_t kept = k < 2 ? bytes - 4 - (size_t)k : next_random(&random) % (bytes - 8);
            whole_file_write(own_path(files, damaged[i].own), content, kept);
            must_refuse(files, own_path(files, damaged[i].own), NULL);
        }
        free(content);
    }
}

/* Gmsh says of such a file no more than that it cannot load it, by the name of a link of ours. */
static void a_file_that_gmsh_refuses_without_a_reason(void **state)
{
    sketch drawn = two_cubes();
    const char *path = sketch_write(*state, &drawn, "cubes.msh");
    whole_file_change(path, "\n12 ", "\nxx ");
    must_refuse(*state, path, "does not say why", "write it again", NULL);
    assert_null(strstr(yoke_last_error(((const mesh_files *)*state)->context), "yoke-mesh-"));
}

/* A damaged file may still be a mesh, but a crash, a hang or a message without the file's name it must not be. */
static void files_with_flipped_bytes(void **state)
{
    const mesh_files *files = *state;
    uint32_t random = 99;
    int refused = 0;
    for (int i = 0; i < NUM_DAMAGED; i++) {
        size_t bytes = 0;
        char *content = whole_file_read(shipped_path(damaged[i].file), &bytes);
        for (int k = 0; k < 25; k++) {
            char *copy = malloc(bytes);
            memcpy(copy, content, bytes);
            for (uint32_t flips = 1 + next_random(&random) % 8; flips > 0; flips--)
                copy[next_random(&random) % bytes] ^= (char)(1 << next_random(&random) % 8);
            whole_file_write(own_path(files, damaged[i].own), copy, bytes);
            free(copy);
            fem_mesh *mesh = NULL;
            yoke_status status = fem_mesh_read(files->context, own_path(files, damaged[i].own), NULL, &mesh);
            assert_true(status == YOKE_OK || status == YOKE_ERROR_INPUT);
            if (status) assert_non_null(strstr(yoke_last_error(files->context), own_path(files, damaged[i].own)));
            refused += status != YOKE_OK;
            fem_mesh_destroy(mesh);
        }
        free(content);
    }
    assert_true(refused > 0);
}

/* ------------------------------------------------------------------------------------------ damaged streams */

/* What yoke-fem-mesh writes for a good mesh. */
static fem_mesh_stream good_stream(const mesh_files *files, const char *path, int64_t *file_bytes)
{
    fem_mesh_file file;
    fem_mesh_stream stream;
    assert_int_equal(fem_mesh_recognise(files->context, path, &file), YOKE_OK);
    assert_int_equal(fem_mesh_run_reader(files->context, path, &file, NULL, &stream), YOKE_OK);
    *file_bytes = file.bytes;
    fem_mesh_file_clear(files->context, &file);
    return stream;
}

/* Reads a stream from memory of exactly its length, so that the address sanitizer sees a byte too far. */
static yoke_status read_stream(const mesh_files *files, int64_t file_bytes, const unsigned char *bytes, int64_t count)
{
    fem_mesh_stream copy = {aligned_alloc(8, (size_t)(count + 7) / 8 * 8 + 8), count};
    memcpy(copy.bytes, bytes, (size_t)count);
    fem_mesh *mesh = NULL;
    yoke_status status = fem_mesh_from_stream(files->context, "stream", file_bytes, 1, &copy, &mesh);
    fem_mesh_destroy(mesh);
    free(copy.bytes);
    return status;
}

static void streams_with_flipped_bytes(void **state)
{
    const mesh_files *files = *state;
    int64_t file_bytes = 0;
    fem_mesh_stream stream = good_stream(files, shipped_path("tests/fem/meshes/box-20-msh41.msh"), &file_bytes);
    assert_int_equal(read_stream(files, file_bytes, stream.bytes, stream.count), YOKE_OK);
    unsigned char *copy = malloc((size_t)stream.count);
    uint32_t random = 2024;
    for (int k = 0; k < 20000; k++) {
        memcpy(copy, stream.bytes, (size_t)stream.count);
        for (uint32_t flips = 1 + next_random(&random) % 4; flips > 0; flips--)
            copy[next_random(&random) % (uint32_t)stream.count] ^= (unsigned char)(1 << next_random(&random) % 8);
        yoke_status status = read_stream(files, file_bytes, copy, stream.count);
        assert_true(status == YOKE_OK || status == YOKE_ERROR_INPUT);
    }
    free(copy);
    yoke_release(files->context, stream.bytes);
}

static void streams_of_every_length(void **state)
{
    const mesh_files *files = *state;
    int64_t file_bytes = 0;
    fem_mesh_stream stream = good_stream(files, shipped_path("tests/fem/meshes/box-8-msh41.msh"), &file_bytes);
    for (int64_t count = 0; count < stream.count; count += 4)
        assert_int_equal(read_stream(files, file_bytes, stream.bytes, count), YOKE_ERROR_INPUT);
    yoke_release(files->context, stream.bytes);
}

/* Headers with every kind and with counts at the edges of what a number holds. */
static void streams_with_absurd_records(void **state)
{
    const mesh_files *files = *state;
    static const int64_t edges[] = {INT64_MIN,     -1,       0, 1, 7, 1 << 20, INT32_MAX, (int64_t)INT32_MAX + 1, INT64_MAX / 32,
                                    INT64_MAX / 8, INT64_MAX};
    enum { EDGES = sizeof edges / sizeof *edges };
    for (int kind = -1; kind < 8; kind++)
        for (int dimension = -1; dimension < 5; dimension++)
            for (int type = 0; type < EDGES; type++)
                for (int count = 0; count < EDGES; count++) {
                    fem_wire_record records[2] = {{kind, dimension, 1, edges[type], edges[count]}, {.kind = FEM_WIRE_END}};
                    yoke_status status = read_stream(files, INT64_MAX, (const unsigned char *)records, sizeof records);
                    assert_int_equal(status, YOKE_ERROR_INPUT);
                }
}

typedef struct streamed {
    fem_mesh_stream stream;
    int64_t bytes;
} streamed;

static yoke_status read_whole(yoke_context *context, void *user)
{
    const streamed *s = user;
    fem_mesh *mesh = NULL;
    yoke_status status = fem_mesh_from_stream(context, "stream", s->bytes, 1, &s->stream, &mesh);
    fem_mesh_destroy(mesh);
    return status;
}

static void every_failing_allocation_is_reported(void **state)
{
    const mesh_files *files = *state;
    streamed good;
    good.stream = good_stream(files, shipped_path("tests/fem/meshes/box-20-msh41.msh"), &good.bytes);
    assert_true(failing_call_everywhere(read_whole, &good) > 20);
    yoke_release(files->context, good.stream.bytes);
}

static void every_failing_allocation_before_and_while_gmsh_runs(void **state)
{
    (void)state;
    for (int64_t fail_at = 1; fail_at < 8; fail_at++) {
        failing memory = {0};
        yoke_options options = failing_options(&memory);
        yoke_context *context = NULL;
        assert_int_equal(yoke_context_create(&options, &context), YOKE_OK);
        int64_t before = memory.outstanding;
        memory.fail_at = memory.calls + fail_at;
        fem_mesh *mesh = NULL;
        assert_int_equal(fem_mesh_read(context, shipped_path("tests/fem/meshes/box-8-msh41.msh"), NULL, &mesh), YOKE_ERROR_MEMORY);
        assert_int_equal(memory.outstanding, before);
        yoke_context_destroy(context);
    }
}

static const struct CMUnitTest tests[] = {
    MESH_TEST(the_script_of_these_tests_works),
    MESH_TEST(a_script_under_a_meshs_name),
    MESH_TEST(a_script_behind_a_meshs_header),
    MESH_TEST(a_script_beside_a_mesh),
    MESH_TEST(a_name_with_quotes_blanks_and_dots),
    MESH_TEST(a_file_that_gmsh_refuses_without_a_reason),
    MESH_TEST(truncated_files),
    MESH_TEST(files_with_flipped_bytes),
    MESH_TEST(streams_with_flipped_bytes),
    MESH_TEST(streams_of_every_length),
    MESH_TEST(streams_with_absurd_records),
    MESH_TEST(every_failing_allocation_is_reported),
    MESH_TEST(every_failing_allocation_before_and_while_gmsh_runs),
};

UNIT_MAIN(tests, NULL, NULL)
