/* Elements of a large mesh are numbered along a curve: the same mesh, and neighbours near each other; a good order is left. */
#include <math.h>
#include <string.h>

#include "unit.h"

#include "base/failing.h"
#include "fem/fixtures/block.h"
#include "mesh/private.h"

enum { N = 18, ELEMENTS = N * N * N, VERTICES = (N + 1) * (N + 1) * (N + 1) };

static const char *end_face(const double centre[3], void *user)
{
    (void)user;
    return centre[0] < 1e-9 ? "left" : centre[0] > 1 - 1e-9 ? "right" : NULL;
}

/* A cube whose elements come row by row, or shuffled. */
static fem_mesh *make_cube(yoke_context *context, int shuffled)
{
    double *vertices = block_zeros(3 * VERTICES, sizeof *vertices);
    int32_t *corners = block_zeros(8 * ELEMENTS, sizeof *corners), *place = block_zeros(ELEMENTS, sizeof *place);
    uint64_t random = 9;
    fem_mesh *mesh;
    for (int32_t v = 0; v < VERTICES; v++) {
        vertices[3 * v] = (double)(v % (N + 1)) / N;
        vertices[3 * v + 1] = (double)(v / (N + 1) % (N + 1)) / N;
        vertices[3 * v + 2] = (double)(v / (N + 1) / (N + 1)) / N;
    }
    for (int32_t e = 0; e < ELEMENTS; e++) place[e] = e;
    for (int32_t e = ELEMENTS - 1; shuffled && e > 0; e--) {
        const int32_t other = (int32_t)(block_random(&random) * (e + 1)), kept = place[e];
        place[e] = place[other];
        place[other] = kept;
    }
    for (int32_t e = 0; e < ELEMENTS; e++)
        for (int c = 0; c < 8; c++) {
            const int32_t i = e % N + (c & 1), j = e / N % N + (c >> 1 & 1), k = e / N / N + (c >> 2);
            corners[8 * place[e] + c] = i + (N + 1) * (j + (N + 1) * k);
        }
    if (fem_mesh_from_arrays(context, VERTICES, vertices, ELEMENTS, corners, 1, NULL, end_face, NULL, &mesh))
        fail_msg("%s", yoke_last_error(context));
    free(vertices);
    free(corners);
    free(place);
    return mesh;
}

static void assert_same_group(const fem_mesh *mesh, const fem_group *group, const fem_group *given)
{
    uint8_t *is_member = block_zeros(16 * ELEMENTS, 1);
    assert_string_equal(group->name, given->name);
    assert_int_equal(group->count, given->count);
    for (int64_t i = 0; i < given->count; i++) is_member[16 * given->element[i] + (given->local ? given->local[i] : 0)] = 1;
    for (int64_t i = 0; i < group->count; i++) {
        const int64_t before = mesh->element_tag[group->element[i]] - 1;
        assert_true(i == 0 || group->element[i] >= group->element[i - 1]);
        assert_int_equal(is_member[16 * before + (group->local ? group->local[i] : 0)]--, 1);
    }
    free(is_member);
}

static void a_shuffled_mesh_is_the_same_mesh_in_a_better_order(void **state)
{
    (void)state;
    yoke_context *context;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    fem_mesh *given = make_cube(context, 1), *mesh = make_cube(context, 1);
    int64_t neighbours = 0;
    assert_int_equal(fem_mesh_order_elements(mesh), YOKE_OK);
    assert_int_equal(mesh->num_elements, ELEMENTS);
    for (int64_t e = 0; e < ELEMENTS; e++) { /* tags are the numbers before, from 1 */
        const int64_t before = mesh->element_tag[e] - 1;
        assert_memory_equal(mesh->corners + 8 * e, given->corners + 8 * before, 8 * sizeof *mesh->corners);
        assert_memory_equal(mesh->geometry + 24 * e, given->geometry + 24 * before, 24 * sizeof *mesh->geometry);
        assert_int_equal(mesh->volume[e], given->volume[before]);
        for (int c = 0; e && c < 64; c++)
            if (mesh->corners[8 * e + c % 8] == mesh->corners[8 * (e - 1) + c / 8]) {
                neighbours++;
                break;
            }
    }
    assert_true(neighbours > 0.6 * ELEMENTS);
    assert_int_equal(mesh->num_groups, 3);
    for (int g = 0; g < 3; g++) assert_same_group(mesh, &mesh->groups[g], &given->groups[g]);
    fem_mesh_destroy(mesh);
    fem_mesh_destroy(given);
    yoke_context_destroy(context);
}

static void elements_in_rows_keep_their_numbers(void **state)
{
    (void)state;
    yoke_context *context;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    fem_mesh *mesh = make_cube(context, 0);
    assert_int_equal(fem_mesh_order_elements(mesh), YOKE_OK);
    for (int64_t e = 0; e < ELEMENTS; e++) assert_int_equal(mesh->element_tag[e], e + 1);
    fem_mesh_destroy(mesh);
    yoke_context_destroy(context);
}

static void a_failing_allocation_leaves_a_mesh_that_can_be_destroyed(void **state)
{
    (void)state;
    yoke_status status = YOKE_ERROR_MEMORY;
    for (int64_t n = 1; status; n++) {
        failing memory = {0};
        const yoke_options options = failing_options(&memory);
        yoke_context *context;
        assert_int_equal(yoke_context_create(&options, &context), YOKE_OK);
        fem_mesh *mesh = make_cube(context, 1);
        memory.fail_at = memory.calls + n;
        status = fem_mesh_order_elements(mesh);
        if (status) assert_int_equal(status, YOKE_ERROR_MEMORY);
        fem_mesh_destroy(mesh);
        yoke_context_destroy(context);
        assert_int_equal(memory.outstanding, 0);
        assert_true(n < 30);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_shuffled_mesh_is_the_same_mesh_in_a_better_order),
    cmocka_unit_test(elements_in_rows_keep_their_numbers),
    cmocka_unit_test(a_failing_allocation_leaves_a_mesh_that_can_be_destroyed),
};

UNIT_MAIN(tests, NULL, NULL)
