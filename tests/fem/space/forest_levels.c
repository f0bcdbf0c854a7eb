/* Forests that are made anew from the levels of their leaves. */
#include <string.h>

#include "unit.h"

#include "fem/fixtures/block.h"
#include "fem/fixtures/body.h"
#include "space/forest/levels.h"

static void create_refined(block *b, int turn)
{
    uint64_t random = 11;
    const block_options options = {.elements = {2, 3, 2}, .order = 1, .turn = turn, .components = 3};
    block_create(&options, b);
    for (int i = 0; i < 3; i++) block_refine(b, 0.2, &random);
}

static void the_levels_alone_give_the_same_space(void **state)
{
    (void)state;
    for (int turn = 0; turn < 8; turn += 7) {
        block b;
        fem_forest *forest;
        fem_space *space;
        create_refined(&b, turn);
        block_discretise(&b, FEM_Q2);
        assert_true(b.space->num_hanging > 0);
        assert_int_equal(fem_forest_create_from_levels(&b.mesh, b.space->num_elements, b.space->level, &forest), YOKE_OK);
        assert_int_equal(fem_space_create(&b.problem, forest, FEM_Q2, &space), YOKE_OK);
        const size_t elements = (size_t)b.space->num_elements, nodes = (size_t)b.space->num_nodes;
        assert_int_equal(space->num_elements, b.space->num_elements);
        assert_int_equal(space->num_nodes, b.space->num_nodes);
        assert_memory_equal(space->tree, b.space->tree, elements * sizeof *space->tree);
        assert_memory_equal(space->corner, b.space->corner, 3 * elements * sizeof *space->corner);
        assert_memory_equal(space->element_nodes, b.space->element_nodes, 27 * elements * sizeof *space->element_nodes);
        assert_memory_equal(space->face_code, b.space->face_code, elements * sizeof *space->face_code);
        assert_memory_equal(space->x, b.space->x, 3 * nodes * sizeof *space->x);
        fem_space_destroy(space);
        fem_forest_destroy(forest);
        block_destroy(&b);
    }
}

static void refined_further_they_stay_the_same(void **state)
{
    (void)state;
    block b;
    fem_forest *forest;
    fem_space *space;
    create_refined(&b, 5);
    block_discretise(&b, FEM_Q1);
    assert_int_equal(fem_forest_create_from_levels(&b.mesh, b.space->num_elements, b.space->level, &forest), YOKE_OK);
    uint8_t *mark = block_zeros(b.space->num_elements, 1);
    for (int32_t e = 0; e < b.space->num_elements; e += 3) mark[e] = 1;
    assert_int_equal(fem_forest_refine(forest, mark), YOKE_OK);
    assert_int_equal(fem_forest_refine(b.forest, mark), YOKE_OK);
    block_discretise(&b, FEM_Q1);
    assert_int_equal(fem_space_create(&b.problem, forest, FEM_Q1, &space), YOKE_OK);
    assert_int_equal(space->num_elements, b.space->num_elements);
    assert_memory_equal(space->level, b.space->level, (size_t)space->num_elements);
    assert_memory_equal(space->element_nodes, b.space->element_nodes, 8 * (size_t)space->num_elements * sizeof *space->element_nodes);
    free(mark);
    fem_space_destroy(space);
    fem_forest_destroy(forest);
    block_destroy(&b);
}

static void levels_of_no_refinement_are_refused(void **state)
{
    (void)state;
    block b;
    fem_forest *forest = NULL;
    const block_options options = {.elements = {2, 1, 1}, .order = 1, .components = 1};
    const struct {
        int count;
        int8_t level[24];
    } bad[] = {
        {1, {0}},                                               /* a tree is left over */
        {3, {0, 0, 0}},                                         /* a leaf is left over */
        {8, {0, 1, 1, 1, 1, 1, 1, 1}},                          /* the last tree is not full */
        {9, {1, 1, 1, 1, 1, 1, 1, 0, 1}},                       /* a leaf lies across */
        {10, {1, 1, 1, 1, 1, 1, 1, 1, 0, -1}},                  /* no level */
        {9, {1, 1, 1, 1, 1, 1, 1, 1, FEM_MAX_LEVEL + 1}},       /* no level */
        {16, {1, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 0}}, /* the first tree's second leaf is two levels finer than the second tree */
    };
    block_create(&options, &b);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(fem_forest_create_from_levels(&b.mesh, bad[i].count, bad[i].level, &forest), YOKE_ERROR_INPUT);
        assert_non_null(strstr(yoke_last_error(b.context), "levels"));
    }
    block_destroy(&b);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_levels_alone_give_the_same_space),
    cmocka_unit_test(refined_further_they_stay_the_same),
    cmocka_unit_test(levels_of_no_refinement_are_refused),
};

UNIT_MAIN(tests, body_start, body_end)
