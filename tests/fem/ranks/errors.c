/* Errors on several ranks: one tells what is wrong, and all end, whichever has it. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "checkpoint/file.h"
#include "estimate/estimate.h"
#include "output/quantities/extremes.h"
#include "output/quantities/reaction.h"
#include "output/quantities/stress.h"
#include "output/vtu.h"
#include "space/forest/levels.h"

#include "base/failing.h"
#include "unit.h"

#include "fem/fixtures/solving.h"
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

/* ----------------------------------------------------------------------------------------------- no memory */

typedef struct body {
    twins t;
    fem_devices *devices;
    fem_solve_options solve;
} body;

/* A part of a run, after which everything is given back. */
typedef yoke_status work(const body *b);

static yoke_status discretise(const body *b)
{
    const twins *t = &b->t;
    fem_forest *forest = NULL;
    fem_space *space = NULL, *corners = NULL;
    fem_boundary *boundary = NULL;
    fem_constraints *constraints = NULL;
    yoke_status status = fem_forest_create_from_levels(&t->shared.mesh, t->alone.space->num_elements, t->alone.space->level, &forest);
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

/* Of a field that is zero. */
static yoke_status examine(const body *b)
{
    const block *part = &b->t.shared;
    const fem_space *space = part->space;
    fem_extreme extremes[FEM_EXTREMES];
    fem_estimate_result result;
    fem_stress *stress = NULL;
    fem_reaction *reactions = NULL;
    int count;
    double *u = block_zeros(3 * (int64_t)space->num_nodes, sizeof *u), *indicator = block_zeros(space->num_elements, sizeof *indicator);
    yoke_status status = fem_estimate(space, part->boundary, u, indicator, &result);
    if (!status) status = fem_stress_create(space, u, &stress);
    if (!status) status = fem_extremes_find(space, u, stress, extremes);
    if (!status) status = fem_reactions_create(space, part->constraints, u, &count, &reactions);
    yoke_release(space->context, reactions);
    fem_stress_destroy(stress);
    free(u);
    free(indicator);
    return status;
}

/* A checkpoint, and a piece of a step for each rank, which are removed again. */
static yoke_status keep(const body *b)
{
    const fem_space *space = b->t.shared.space;
    const int rank = app_ranks_number(b->t.ranks);
    double *u = block_zeros(3 * (int64_t)space->num_nodes, sizeof *u);
    char checkpoint[] = "errors-checkpoint.bin", piece[32];
    json_t *text = json_object();
    fem_stress *stress = NULL;
    app_file *file = NULL;
    const fem_checkpoint_part part = {.ranks = space->ranks,
                                      .state = rank == 0 ? text : NULL,
                                      .num_leaves = space->num_elements,
                                      .num_nodes = space->num_owned,
                                      .components = 3,
                                      .level = space->level,
                                      .value = u,
                                      .indicator = u};
    snprintf(piece, sizeof piece, "errors-%d.vtu", rank);
    yoke_status status = fem_checkpoint_write(space->context, &part, checkpoint);
    if (!status) status = fem_stress_create(space, u, &stress);
    const fem_vtu vtu = {.space = space, .u = u, .stress = stress, .fields = 1 << FEM_FIELD_TEMPERATURE};
    if (!status) status = app_ranks_agree(space->ranks, fem_vtu_start(&vtu, piece, &file));
    if (!status)
        status = app_ranks_agree(space->ranks, app_file_commit(file));
    else
        app_file_abandon(file);
    if (!status) unlink(piece);
    if (!status && rank == 0) unlink(checkpoint);
    app_ranks_agree(space->ranks, YOKE_OK); /* removed before the next one is written */
    fem_stress_destroy(stress);
    json_decref(text);
    free(u);
    return status;
}

static yoke_status solve(const body *b)
{
    const block *part = &b->t.shared;
    fem_solution *solution = NULL;
    yoke_status status = solve_on(b->devices, part->space, part->boundary, part->constraints, NULL, &b->solve, NULL, &solution);
    fem_solution_destroy(solution);
    return status;
}

static void body_make(failing *memory, body *b)
{
    uint64_t seed = 5;
    const yoke_options limited = failing_options(memory);
    const block_options options = {.elements = {2, 2, 1}, .order = 1, .turn = 7, .components = 3, .memory = &limited};
    memset(b, 0, sizeof *b);
    twins_create(&options, &b->t);
    block_two_materials(&b->t.shared, 3);
    b->t.shared.problem.temperature = (fem_temperature){.given = true, .value = 1};
    twins_add_condition(&b->t, (fem_condition){.kind = FEM_DIRICHLET, .group = 0, .mask = 7});
    twins_add_condition(&b->t, (fem_condition){.kind = FEM_TRACTION, .group = 1, .value = {1, 2, 3}});
    twins_refine(&b->t, 0.5, &seed, NULL);
    twins_discretise(&b->t, FEM_Q2);
    assert_true(b->t.shared.space->num_hanging > 0 && b->t.shared.space->num_elements > 0);
    assert_int_equal(fem_devices_open(b->t.shared.context, NULL, &b->devices), YOKE_OK);
}

static void body_free(body *b)
{
    fem_devices_close(b->devices);
    twins_destroy(&b->t);
}

/* After so many allocations of one rank there is no memory for it. */
static yoke_status work_without(const body *b, work *of, failing *memory, int rank, int64_t allocations)
{
    const int64_t before = memory->outstanding;
    if (app_ranks_number(b->t.ranks) == rank) failing_allow(memory, allocations);
    const yoke_status status = of(b);
    memory->fail_at = 0;
    /* what ranks collect comes from their own context, and is given back by the block's */
    if (memory->outstanding > before) fail_msg("%d of %d blocks", (int)allocations, (int)(memory->outstanding - before));
    return status;
}

/* steps: one in so many of the allocations, of few of them each. */
static void expect_agreement(const body *b, work *of, failing *memory, int64_t steps)
{
    for (int rank = 0; rank < app_ranks_count(b->t.ranks); rank++) {
        yoke_status status = YOKE_ERROR_MEMORY;
        int64_t allocations = 0;
        for (; status; allocations += 1 + allocations / steps) {
            status = work_without(b, of, memory, rank, allocations);
            double most = status;
            app_ranks_max(b->t.ranks, &most, 1);
            assert_float_equal(status, most, 0);
        }
        assert_true(allocations > 20);
    }
}

static void all_ranks_learn_that_one_has_no_memory(void **state)
{
    (void)state;
    body b;
    failing memory = {0};
    body_make(&memory, &b);
    expect_agreement(&b, discretise, &memory, 1000);
    expect_agreement(&b, examine, &memory, 1000);
    expect_agreement(&b, keep, &memory, 1000);
    body_free(&b);
}

static void all_ranks_learn_that_one_has_no_memory_to_solve(void **state)
{
    (void)state;
    body b;
    failing memory = {0};
    body_make(&memory, &b);
    for (int solver = FEM_SOLVER_JACOBI; solver <= FEM_SOLVER_DIRECT; solver++) {
        b.solve = (fem_solve_options){.solver = (fem_solver)solver, .relative_residual = 1e-2, .max_iterations = 1000};
        expect_agreement(&b, solve, &memory, 8);
    }
    body_free(&b);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(an_error_agreed_on_twice_keeps_its_words),        cmocka_unit_test(an_error_after_one_that_was_mended_is_told),
    cmocka_unit_test(an_error_of_all_ranks_is_told_by_the_first),      cmocka_unit_test(all_ranks_learn_that_one_has_no_memory),
    cmocka_unit_test(all_ranks_learn_that_one_has_no_memory_to_solve),
};

UNIT_MAIN(tests, twins_start, twins_end)
