/* Errors on several ranks: one tells what is wrong, and all end, whichever has it. */
#include <string.h>

#include "output/stress.h"
#include "space/forest_levels.h"

#include "base/failing.h"
#include "unit.h"

#include "twins.h"

static void an_error_agreed_on_twice_keeps_its_words(void **state)
{
    (void)state;
    app_ranks *ranks = twins_ranks();
    yoke_context *context = twins_context();
    const int last = app_ranks_count(ranks) - 1, has_it = app_ranks_number(ranks) == last;
    char expected[64];
    snprintf(expected, sizeof expected, has_it ? "rank %d: the cause" : "rank %d failed", last);
    yoke_status status = has_it ? yoke_fail(context, YOKE_ERROR_NUMERIC, "the cause") : YOKE_OK;
    for (int i = 0; i < 3; i++) { /* as functions that call each other do */
        status = app_ranks_agree(ranks, status);
        assert_int_equal(status, YOKE_ERROR_NUMERIC);
        assert_string_equal(yoke_last_error(context), expected);
    }
}

static void an_error_after_one_that_was_mended_is_told(void **state)
{
    (void)state;
    app_ranks *ranks = twins_ranks();
    yoke_context *context = twins_context();
    const int rank = app_ranks_number(ranks), last = app_ranks_count(ranks) - 1;
    assert_int_equal(app_ranks_agree(ranks, rank == last ? yoke_fail(context, YOKE_ERROR_DEVICE, "once") : YOKE_OK), YOKE_ERROR_DEVICE);
    assert_int_equal(app_ranks_agree(ranks, rank == 0 ? yoke_fail(context, YOKE_ERROR_DEVICE, "again") : YOKE_OK), YOKE_ERROR_DEVICE);
    assert_string_equal(yoke_last_error(context), rank == 0 ? "again" : "rank 0 failed");
}

static void an_error_of_all_ranks_is_told_by_the_first(void **state)
{
    (void)state;
    twins t;
    const block_options options = {.elements = {2, 2, 2}, .order = 1, .components = 3};
    fem_stress *stress = NULL;
    twins_create(&options, &t);
    twins_discretise(&t, FEM_Q1);
    const int64_t dofs = 3 * (int64_t)t.shared.space->num_nodes;
    double *u = block_zeros(dofs, sizeof *u);
    for (int64_t i = 0; i < dofs; i++) u[i] = 1e300 * (double)(i % 7);
    assert_int_equal(app_ranks_agree(t.ranks, YOKE_OK), YOKE_OK);
    assert_int_equal(fem_stress_create(t.shared.space, u, &stress), YOKE_ERROR_NUMERIC);
    if (app_ranks_number(t.ranks)) assert_string_equal(yoke_last_error(twins_context()), "rank 0 failed");
    free(u);
    twins_destroy(&t);
}

/* What a step of a run begins with; everything is given back. */
static yoke_status discretise(const twins *t, int64_t num_leaves, const int8_t *level)
{
    fem_forest *forest = NULL;
    fem_space *space = NULL, *corners = NULL;
    fem_boundary *boundary = NULL;
    fem_constraints *constraints = NULL;
    yoke_status status = fem_forest_create_from_levels(&t->shared.mesh, num_leaves, level, &forest);
    if (!status) status = fem_space_create(&t->shared.problem, forest, FEM_Q2, &space);
    if (!status) status = fem_space_create_corners(space, &corners);
    if (!status) status = fem_boundary_create(space, &boundary);
    if (!status) status = fem_constraints_create(space, boundary, &constraints);
    fem_constraints_destroy(constraints);
    fem_boundary_destroy(boundary);
    fem_space_destroy(corners);
    fem_space_destroy(space);
    fem_forest_destroy(forest);
    return status;
}

/* After so many allocations of one rank there is no memory for it. */
static yoke_status discretise_without(twins *t, int64_t num_leaves, const int8_t *level, failing *memory, int rank, int64_t allocations)
{
    const int64_t before = memory->outstanding;
    if (app_ranks_number(t->ranks) == rank) failing_allow(memory, allocations);
    const yoke_status status = discretise(t, num_leaves, level);
    memory->fail_at = 0;
    if (memory->outstanding != before) fail_msg("%d of %d blocks", (int)allocations, (int)(memory->outstanding - before));
    return status;
}

static void all_ranks_learn_that_one_has_no_memory(void **state)
{
    (void)state;
    twins t;
    uint64_t seed = 5;
    failing memory = {0};
    const yoke_options limited = failing_options(&memory);
    const block_options options = {.elements = {2, 2, 1}, .order = 1, .turn = 7, .components = 3, .memory = &limited};
    twins_create(&options, &t);
    twins_refine(&t, 0.5, &seed, NULL);
    twins_add_condition(&t, (fem_condition){.kind = FEM_DIRICHLET, .group = 0, .mask = 7});
    twins_discretise(&t, FEM_Q2);
    assert_true(t.shared.space->num_hanging > 0 && t.shared.space->num_elements > 0);
    for (int rank = 0; rank < app_ranks_count(t.ranks); rank++) {
        yoke_status status = YOKE_ERROR_MEMORY;
        int64_t allocations = 0;
        for (; status; allocations++) {
            status = discretise_without(&t, t.alone.space->num_elements, t.alone.space->level, &memory, rank, allocations);
            assert_true(status == YOKE_OK || status == YOKE_ERROR_MEMORY);
            double most = status;
            app_ranks_max(t.ranks, &most, 1);
            assert_float_equal(status, most, 0);
        }
        assert_true(allocations > 20);
    }
    twins_destroy(&t);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(an_error_agreed_on_twice_keeps_its_words),
    cmocka_unit_test(an_error_after_one_that_was_mended_is_told),
    cmocka_unit_test(an_error_of_all_ranks_is_told_by_the_first),
    cmocka_unit_test(all_ranks_learn_that_one_has_no_memory),
};

UNIT_MAIN(tests, twins_start, twins_end)
