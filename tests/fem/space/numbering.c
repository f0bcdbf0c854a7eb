/* The numbering of nodes against that of p8est, to the bit: nodes, what hangs and how, on regular and irregular meshes. */
#include <math.h>
#include <string.h>

#include <p8est_ghost.h>
#include <p8est_lnodes.h>

#include "unit.h"

#include "base/failing.h"
#include "fem/fixtures/block.h"
#include "fem/fixtures/body.h"
#include "space/forest/places.h"

static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};

/* --------------------------------------------------------------------------------------------------- meshes */

enum { TETRAHEDRA = 20, HEXAHEDRA = 4 * TETRAHEDRA };

/* The icosahedron as tetrahedra around its middle, each cut into four hexahedra: four, five and twenty of them meet at edges and points. */
typedef struct icosahedron {
    double vertex[8 * HEXAHEDRA][3];
    int32_t vertices, corner[HEXAHEDRA][8];
} icosahedron;

static int32_t vertex_at(icosahedron *ico, const double x[3])
{
    for (int32_t i = 0; i < ico->vertices; i++)
        if (fabs(ico->vertex[i][0] - x[0]) + fabs(ico->vertex[i][1] - x[1]) + fabs(ico->vertex[i][2] - x[2]) < 1e-9) return i;
    memcpy(ico->vertex[ico->vertices], x, 3 * sizeof *x);
    return ico->vertices++;
}

/* The hexahedron at the first of the four corners, which see each other counter-clockwise. */
static void add_quarter(icosahedron *ico, int32_t at[8], double *const tetrahedron[4])
{
    static const int bits_to_corners[8] = {1, 3, 5, 7, 9, 11, 13, 15};
    for (int c = 0; c < 8; c++) {
        double x[3] = {0, 0, 0};
        int count = 0;
        for (int k = 0; k < 4; k++) {
            if (!(bits_to_corners[c] >> k & 1)) continue;
            count++;
            for (int a = 0; a < 3; a++) x[a] += tetrahedron[k][a];
        }
        for (int a = 0; a < 3; a++) x[a] /= count;
        at[c] = vertex_at(ico, x);
    }
}

static double orientation(double *const t[4])
{
    double d[3][3];
    for (int i = 0; i < 3; i++)
        for (int a = 0; a < 3; a++) d[i][a] = t[i + 1][a] - t[0][a];
    return d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) - d[0][1] * (d[1][0] * d[2][2] - d[1][2] * d[2][0]) +
           d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0]);
}

static void add_tetrahedron(icosahedron *ico, int number, double *const corner[4])
{
    for (int first = 0; first < 4; first++) {
        double *t[4], *other;
        for (int k = 0; k < 4; k++) t[k] = corner[(first + k) % 4];
        if (orientation(t) < 0) other = t[1], t[1] = t[2], t[2] = other;
        add_quarter(ico, ico->corner[4 * number + first], t);
    }
}

static void make_icosahedron(icosahedron *ico)
{
    const double golden = 0.5 * (1 + sqrt(5));
    double outer[12][3], middle[3] = {0, 0, 0};
    int tetrahedra = 0;
    memset(ico, 0, sizeof *ico);
    for (int i = 0; i < 12; i++)
        for (int a = 0; a < 3; a++) {
            const int turned = (a + i / 4) % 3;
            outer[i][a] = turned == 0 ? 0 : turned == 1 ? (i & 1 ? 1 : -1) : (i & 2 ? golden : -golden);
        }
    for (int i = 0; i < 12; i++)
        for (int j = i + 1; j < 12; j++)
            for (int k = j + 1; k < 12; k++) {
                double *tetrahedron[4] = {middle, outer[i], outer[j], outer[k]};
                double longest = 0;
                for (int s = 1; s < 4; s++) {
                    const double *p = tetrahedron[s], *q = tetrahedron[s % 3 + 1];
                    longest = fmax(longest, (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]));
                }
                if (longest < 4.5) add_tetrahedron(ico, tetrahedra++, tetrahedron);
            }
    assert_int_equal(tetrahedra, TETRAHEDRA);
}

/* ------------------------------------------------------------------------------------------------ comparison */

static int has_node(fem_element element, int slot)
{
    return element != FEM_S2 || (slot % 3 == 1) + (slot / 3 % 3 == 1) + (slot / 9 == 1) < 2;
}

/* p8est's numbers, renamed as the elements touch them, are the space's. */
static void assert_like_p8est(const fem_space *space)
{
    p8est_t *p8est = space->forest->p8est;
    p8est_ghost_t *ghosts = p8est_ghost_new(p8est, P8EST_CONNECT_FULL);
    p8est_lnodes_t *lnodes = p8est_lnodes_new(p8est, ghosts, space->slots_1d - 1);
    int32_t count = 0, *number = block_zeros(lnodes->num_local_nodes, sizeof *number);
    assert_int_equal(lnodes->num_local_elements, space->num_elements);
    for (int32_t e = 0; e < space->num_elements; e++) {
        if (space->face_code[e] != lnodes->face_code[e])
            fail_msg("element %d of level %d: code %x, not %x", (int)e, space->level[e], (unsigned)space->face_code[e],
                     (unsigned)lnodes->face_code[e]);
        for (int s = 0; s < space->slots; s++) {
            int32_t *known = &number[lnodes->element_nodes[(int64_t)e * space->slots + s]];
            const int32_t node = space->element_nodes[(int64_t)e * space->slots + s];
            if (!has_node(space->element, s)) {
                assert_int_equal(node, -1);
                continue;
            }
            if (!*known) *known = ++count;
            if (node != *known - 1) fail_msg("element %d, slot %d: node %d, not %d", (int)e, s, (int)node, (int)*known - 1);
        }
    }
    assert_int_equal(space->num_nodes, count);
    free(number);
    p8est_lnodes_destroy(lnodes);
    p8est_ghost_destroy(ghosts);
}

static void assert_all_like_p8est(const fem_problem *problem, const fem_forest *forest)
{
    for (int i = 0; i < 3; i++) {
        fem_space *space;
        assert_int_equal(fem_space_create(problem, forest, elements[i], &space), YOKE_OK);
        assert_like_p8est(space);
        fem_space_destroy(space);
    }
}

static void refine(fem_forest *forest, double probability, uint64_t *random)
{
    const int64_t leaves = fem_forest_leaves(forest);
    uint8_t *mark = block_zeros(leaves, 1);
    for (int64_t e = 0; e < leaves; e++) mark[e] = block_random(random) < probability;
    assert_int_equal(fem_forest_refine(forest, mark), YOKE_OK);
    free(mark);
}

static void blocks_turned_in_each_way_are_numbered_like_p8est(void **state)
{
    (void)state;
    for (int turn = 0; turn < BLOCK_TURNS; turn++) {
        const block_options options = {.elements = {3, 2, 2}, .order = 1, .turn = turn, .components = 1};
        uint64_t random = 5 + (uint64_t)turn;
        block b;
        block_create(&options, &b);
        for (int step = 0; step < 4; step++) {
            assert_all_like_p8est(&b.problem, b.forest);
            refine(b.forest, step == 0 ? 0.4 : 0.1, &random);
        }
        block_destroy(&b);
    }
}

static void irregular_meshes_are_numbered_like_p8est(void **state)
{
    (void)state;
    icosahedron *ico = block_zeros(1, sizeof *ico);
    yoke_context *context;
    fem_mesh *mesh;
    make_icosahedron(ico);
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    if (fem_mesh_from_arrays(context, ico->vertices, ico->vertex[0], HEXAHEDRA, ico->corner[0], 1, NULL, NULL, NULL, &mesh))
        fail_msg("%s", yoke_last_error(context));
    fem_material material = {.mu = 1};
    fem_problem problem = {.context = context, .mesh = mesh, .components = 1, .num_materials = 1, .materials = &material};
    problem.material_of = block_zeros(HEXAHEDRA, sizeof(int16_t));
    for (uint64_t seed = 1; seed <= 3; seed++) {
        fem_forest *forest, *coarser;
        uint64_t random = seed;
        assert_int_equal(fem_forest_create(mesh, 0, &forest), YOKE_OK);
        for (int step = 0; step < 4; step++) {
            assert_all_like_p8est(&problem, forest);
            refine(forest, step == 0 ? 0.3 : 0.05, &random);
        }
        assert_int_equal(fem_forest_copy(forest, &coarser), YOKE_OK);
        for (int level = 0; level < 3; level++) {
            assert_int_equal(fem_forest_coarsen(coarser), YOKE_OK);
            assert_all_like_p8est(&problem, coarser);
        }
        fem_forest_destroy(coarser);
        fem_forest_destroy(forest);
    }
    free(problem.material_of);
    fem_mesh_destroy(mesh);
    yoke_context_destroy(context);
    free(ico);
}

/* Towards one point as deep as it goes. */
static void the_deepest_leaves_are_numbered_like_p8est(void **state)
{
    (void)state;
    const block_options options = {.elements = {2, 1, 1}, .order = 1, .turn = 7, .components = 1};
    block b;
    block_create(&options, &b);
    for (int level = 0; level <= FEM_MAX_LEVEL; level++) {
        const int64_t leaves = fem_forest_leaves(b.forest);
        uint8_t *mark = block_zeros(leaves, 1);
        mark[0] = 1;
        assert_int_equal(fem_forest_refine(b.forest, mark), YOKE_OK);
        free(mark);
    }
    assert_all_like_p8est(&b.problem, b.forest);
    block_destroy(&b);
}

/* ----------------------------------------------------------------------------------------- balance, memory */

/* Where balancing is left out, p8est finds the forest balanced. */
static void forests_are_balanced_after_each_change(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        const block_options options = {.elements = {2, 2, 2}, .order = 1, .turn = 5, .components = 1};
        uint64_t random = seed;
        block b;
        block_create(&options, &b);
        for (int step = 0; step < 8; step++) {
            if (step < 4)
                refine(b.forest, step == 0 ? 0.3 : 0.1, &random);
            else
                assert_int_equal(fem_forest_coarsen(b.forest), YOKE_OK);
            assert_true(p8est_is_balanced(b.forest->p8est, P8EST_CONNECT_FULL));
        }
        assert_int_equal(fem_forest_leaves(b.forest), 8);
        block_destroy(&b);
    }
}

static void places_keep_their_numbers_while_the_table_grows(void **state)
{
    (void)state;
    enum { PLACES = 20000 };
    yoke_context *context;
    fem_places places;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    assert_int_equal(fem_places_start(&places, context, 1), YOKE_OK);
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < PLACES; i++) {
            int32_t *number = fem_places_number(&places, (uint32_t)(i % 7), (uint64_t)(i / 7) << 20);
            assert_non_null(number);
            assert_int_equal(*number, pass ? i : -1);
            *number = i;
        }
    assert_int_equal(places.used, PLACES);
    assert_true(fem_places_has(&places, 6, 0));
    assert_false(fem_places_has(&places, 7, 0));
    fem_places_end(&places);
    yoke_context_destroy(context);
}

static void a_failing_allocation_leaves_no_space_behind(void **state)
{
    (void)state;
    failing memory = {0};
    const yoke_options with_memory = failing_options(&memory);
    const block_options options = {.elements = {2, 2, 2}, .order = 1, .turn = 5, .components = 1, .memory = &with_memory};
    uint64_t random = 3;
    block b;
    block_create(&options, &b);
    refine(b.forest, 0.4, &random);
    refine(b.forest, 0.1, &random);
    const int64_t outstanding = memory.outstanding;
    yoke_status status = YOKE_ERROR_MEMORY;
    for (int64_t n = 1; status; n++) {
        fem_forest *forest = NULL;
        fem_space *space = NULL;
        memory.fail_at = memory.calls + n;
        status = fem_forest_create(&b.mesh, 1, &forest);
        if (!status) status = fem_space_create(&b.problem, b.forest, FEM_Q2, &space);
        memory.fail_at = 0;
        if (status) {
            assert_int_equal(status, YOKE_ERROR_MEMORY);
            assert_null(space);
        }
        fem_space_destroy(space);
        fem_forest_destroy(forest);
        assert_int_equal(memory.outstanding, outstanding);
        assert_true(n < 100);
    }
    block_destroy(&b);
    assert_int_equal(memory.outstanding, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(blocks_turned_in_each_way_are_numbered_like_p8est), cmocka_unit_test(irregular_meshes_are_numbered_like_p8est),
    cmocka_unit_test(the_deepest_leaves_are_numbered_like_p8est),        cmocka_unit_test(forests_are_balanced_after_each_change),
    cmocka_unit_test(places_keep_their_numbers_while_the_table_grows),   cmocka_unit_test(a_failing_allocation_leaves_no_space_behind),
};

UNIT_MAIN(tests, body_start, body_end)
