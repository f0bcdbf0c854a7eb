/* Conditions on several ranks: supports and loads at the nodes as on one, wherever the members of their groups are. */
#include <math.h>

#include "space/field.h"
#include "space/temperature.h"
#include "unit.h"

#include "fem/fixtures/maps.h"
#include "twins.h"

static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};

/* Faces, edges and points, of which some contradict each other unless the first of them counts. */
static void create(twins *t, uint64_t seed)
{
    const block_options options = {.elements = {2, 2, 2}, .map = map_bend, .order = 2, .turn = 5, .components = 3};
    static const fem_condition conditions[] = {
        {FEM_DIRICHLET, BLOCK_AXIS, 1, {0.5, 0, 0}},
        {FEM_DIRICHLET, 0, 7, {0.1, 0.2, 0.3}},
        {FEM_DIRICHLET, 3, 5, {0.4, 0, 0.6}},
        {FEM_DIRICHLET, BLOCK_UPRIGHT, 2, {0, 0.7, 0}},
        {FEM_DIRICHLET, BLOCK_ON_X, 6, {0, 0.8, 0.9}},
        {FEM_FORCE, 1, 0, {3, -2, 1}},
        {FEM_PRESSURE, 4, 0, {2, 0, 0}},
        {FEM_TRACTION, 5, 0, {0.3, 0.1, -1}},
    };
    twins_create(&options, t);
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) twins_add_condition(t, conditions[i]);
    for (int a = 0; a < 3; a++) t->alone.material[0].force[a] = t->shared.material[0].force[a] = 0.1 * (a + 1);
    for (int i = 0; i < 3; i++) twins_refine(t, i == 0 ? 0.6 : 0.3, &seed, NULL);
}

/* Nodes whose support this rank's own elements do not know are among them: without messages the test fails. */
static void supports_are_those_of_one_rank(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        twins t;
        create(&t, 5 + (uint64_t)i);
        twins_discretise(&t, elements[i]);
        const fem_constraints *alone = t.alone.constraints, *shared = t.shared.constraints;
        int64_t prescribed = 0;
        for (int32_t n = 0; n < t.shared.space->num_nodes; n++) {
            const int64_t twin = fem_space_global_node(t.shared.space, n);
            assert_int_equal(shared->prescribed[n], alone->prescribed[twin]);
            prescribed += shared->prescribed[n] != 0;
            for (int c = 0; c < 3; c++) {
                assert_int_equal(shared->owner[3 * n + c], alone->owner[3 * twin + c]);
                assert_true(shared->value[3 * n + c] == alone->value[3 * twin + c]);
            }
        }
        app_ranks_offset(t.ranks, prescribed, &prescribed);
        assert_true(prescribed > 100);
        twins_destroy(&t);
    }
}

static void loads_are_those_of_one_rank(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        twins t;
        create(&t, 15 + (uint64_t)i);
        twins_discretise(&t, elements[i]);
        const int64_t all = 3 * (int64_t)t.alone.space->num_nodes, own = 3 * (int64_t)t.shared.space->num_nodes;
        double *alone = block_zeros(all, sizeof(double)), *shared = block_zeros(own, sizeof(double)), total[3] = {0, 0, 0};
        assert_int_equal(fem_space_load(t.alone.space, t.alone.boundary, alone), YOKE_OK);
        assert_int_equal(fem_space_load(t.shared.space, t.shared.boundary, shared), YOKE_OK);
        for (int c = 0; c < 8; c++) assert_true(fabs(t.shared.boundary->area[c] - t.alone.boundary->area[c]) < 1e-13);
        assert_true(t.shared.boundary->area[5] > 0.5);
        for (int32_t n = 0; n < t.shared.space->num_nodes; n++) {
            const int64_t twin = fem_space_global_node(t.shared.space, n);
            for (int c = 0; c < 3; c++) {
                assert_true(fabs(shared[3 * n + c] - alone[3 * twin + c]) < 1e-14);
                if (fem_space_counts(t.shared.space, n)) total[c] += shared[3 * n + c] - alone[3 * twin + c];
            }
        }
        app_ranks_sum(t.ranks, total, 3);
        for (int c = 0; c < 3; c++) assert_true(fabs(total[c]) < 1e-13);
        free(alone);
        free(shared);
        twins_destroy(&t);
    }
}

static void number_values(const fem_space *space, fem_field *field, fem_forest *forest)
{
    *field = (fem_field){.forest = forest, .space = NULL, .value = block_zeros(space->num_nodes, sizeof(double))};
    for (int32_t n = 0; n < space->num_nodes; n++) field->value[n] = sin(0.7 * (double)fem_space_global_node(space, n));
}

/* The temperature that a heat case has found: on other leaves, which are distributed in another way. */
static void temperatures_come_from_any_rank(void **state)
{
    (void)state;
    static const double share[4] = {1, 5, 2, 3};
    twins t, heat;
    uint64_t seed = 77;
    fem_field alone, shared;
    create(&t, 25);
    create(&heat, 26);
    twins_refine(&heat, 0.1, &seed, share);
    twins_discretise(&t, FEM_Q2);
    twins_discretise(&heat, FEM_S2);
    number_values(heat.alone.space, &alone, heat.alone.forest);
    number_values(heat.shared.space, &shared, heat.shared.forest);
    alone.space = heat.alone.space;
    shared.space = heat.shared.space;
    t.alone.problem.temperature = (fem_temperature){.given = true, .value = 20, .field = &alone};
    t.shared.problem.temperature = (fem_temperature){.given = true, .value = 20, .field = &shared};
    double *expected, *found, largest = 0;
    assert_int_equal(fem_temperature_nodal(t.alone.space, &expected), YOKE_OK);
    assert_int_equal(fem_temperature_nodal(t.shared.space, &found), YOKE_OK);
    for (int32_t n = 0; n < t.shared.space->num_nodes; n++) {
        assert_true(fabs(found[n] - expected[fem_space_global_node(t.shared.space, n)]) < 1e-12);
        largest = fmax(largest, fabs(found[n] - 20));
    }
    assert_true(largest > 0.5);
    yoke_release(t.alone.context, expected);
    yoke_release(t.shared.context, found);
    free(alone.value);
    free(shared.value);
    twins_destroy(&heat);
    twins_destroy(&t);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(temperatures_come_from_any_rank),
                                          cmocka_unit_test(supports_are_those_of_one_rank), cmocka_unit_test(loads_are_those_of_one_rank)};

UNIT_MAIN(tests, twins_start, twins_end)
