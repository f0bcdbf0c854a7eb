/* The direct solver: the same answers as the others wherever the elements lie, its cost predicted, and what it says where it cannot. */
#include "solver/direct/direct.h"

#include <math.h>

#include "unit.h"

#include "base/failing.h"
#include "fem/fixtures/body.h"
#include "fem/fixtures/decomposition_settings.h"
#include "fem/fixtures/solving.h"

static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};

static const fem_solve_options with_direct = {.solver = FEM_SOLVER_DIRECT, .relative_residual = 1e-11, .max_iterations = 10};
static const fem_solve_options with_jacobi = {.solver = FEM_SOLVER_JACOBI, .relative_residual = 1e-11, .max_iterations = 20000};

/* A curved block of two materials with hanging nodes; one end is moved, a side rolls in one component, the other end is pulled askew. */
static void create(block *b, int components, double jump, int refinements, const yoke_options *memory)
{
    uint64_t random = 3;
    const block_options options = {
        .elements = {2, 2, 2}, .map = body_bend, .order = 2, .turn = 5, .components = components, .memory = memory};
    block_create(&options, b);
    block_two_materials(b, jump);
    block_add_condition(b, (fem_condition){FEM_DIRICHLET, 0, 7, {0.01, 0, 0}});
    if (components == 3) block_add_condition(b, (fem_condition){FEM_DIRICHLET, 2, 2, {0, 0, 0}});
    block_add_condition(b, (fem_condition){FEM_TRACTION, 1, 0, {0.3, -1, 2}});
    for (int i = 0; i < refinements; i++) block_refine(b, 0.5, &random);
}

static fem_solution *solve(const block *b, const fem_solve_options *options)
{
    fem_solution *solution;
    if (solve_alone(b->space, b->boundary, b->constraints, NULL, options, NULL, &solution)) fail_msg("%s", yoke_last_error(b->context));
    return solution;
}

/* ------------------------------------------------------------------------------------------------------- answers */

static void one_or_two_iterations_find_what_many_find(void **state)
{
    (void)state;
    for (int components = 1; components <= 3; components += 2)
        for (int i = 0; i < 3; i++) {
            block b;
            create(&b, components, 10, 2, NULL);
            block_discretise(&b, elements[i]);
            assert_true(b.space->num_hanging > 0);
            fem_solution *direct = solve(&b, &with_direct), *other = solve(&b, &with_jacobi);
            assert_true(direct->iterations >= 1 && direct->iterations <= 2 && other->iterations > 20);
            assert_true(block_difference(direct->u, other->u, (int64_t)b.space->num_nodes * components) < 1e-8);
            assert_true(fabs(direct->strain_energy_j / other->strain_energy_j - 1) < 1e-10);
            assert_true(direct->memory_bytes > other->memory_bytes);
            fem_solution_destroy(direct);
            fem_solution_destroy(other);
            block_destroy(&b);
        }
}

static void the_answer_does_not_depend_on_devices_and_cuts(void **state)
{
    static const int counts[3] = {2, 3, 2}, cuts[3] = {0, 1, 3};
    static const decomposition_machine sound = {NULL, NULL};
    (void)state;
    for (int i = 0; i < 3; i++) {
        block b;
        int32_t cut[FEM_MAX_DEVICES + 1];
        fem_solve_options options = with_direct;
        fem_solution *shared;
        create(&b, 3, 3, 2, NULL);
        decomposition_read_machine(&b, &sound);
        block_discretise(&b, elements[i]);
        fem_solution *alone = solve(&b, &with_direct);
        fem_devices *devices = decomposition_open(&b, counts[i], i % DECOMPOSITION_VARIANTS);
        options.cut = cut;
        decomposition_cut(b.space->num_elements, counts[i], cuts[i], cut);
        if (solve_on(devices, b.space, b.boundary, b.constraints, NULL, &options, NULL, &shared))
            fail_msg("%s", yoke_last_error(b.context));
        assert_true(shared->iterations <= 2);
        assert_true(block_difference(shared->u, alone->u, 3 * (int64_t)b.space->num_nodes) < 1e-9);
        fem_solution_destroy(shared);
        fem_devices_close(devices);
        fem_solution_destroy(alone);
        block_destroy(&b);
    }
}

static void nothing_loaded_and_everything_constrained_are_no_errors(void **state)
{
    (void)state;
    for (int constrained = 0; constrained < 2; constrained++) {
        block b;
        create(&b, 3, 1, 0, NULL);
        b.condition[0].value[0] = 0;
        if (!constrained) b.condition[2].value[0] = b.condition[2].value[1] = b.condition[2].value[2] = 0;
        for (int face = 1; constrained && face < 6; face++) block_add_condition(&b, (fem_condition){FEM_DIRICHLET, face, 7, {0, 0, 0}});
        if (constrained) block_add_condition(&b, (fem_condition){FEM_DIRICHLET, BLOCK_AXIS, 7, {0, 0, 0}});
        block_discretise(&b, FEM_Q1);
        fem_solution *solution = solve(&b, &with_direct);
        assert_int_equal(solution->iterations, 0);
        for (int64_t k = 0; k < 3 * (int64_t)b.space->num_nodes; k++) assert_true(solution->u[k] == 0);
        fem_solution_destroy(solution);
        block_destroy(&b);
    }
}

/* ---------------------------------------------------------------------------------------------------------- cost */

static void the_cost_is_predicted(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        block b;
        fem_direct *direct;
        create(&b, 3, 1, elements[i] == FEM_Q1 ? 3 : 2, NULL);
        block_discretise(&b, elements[i]);
        assert_int_equal(fem_direct_analyze(b.space, b.constraints, &direct), YOKE_OK);
        const fem_cholesky_cost predicted = fem_direct_cost(direct);
        int64_t unknowns = 0;
        for (int32_t k = 0; k < b.space->num_nodes; k++)
            for (int c = 0; c < 3; c++) unknowns += !(b.constraints->prescribed[k] >> c & 1);
        assert_int_equal(predicted.unknowns, unknowns);
        assert_int_equal(fem_direct_factorize(direct, 0, NULL), YOKE_OK);
        const fem_cholesky_cost counted = fem_direct_cost(direct);
        if (fabs(predicted.operations / counted.operations - 1) > 0.1 || fabs(predicted.entries / counted.entries - 1) > 0.1 ||
            fabs(predicted.bytes / counted.bytes - 1) > 0.35)
            fail_msg("predicted %g operations, %g entries, %g bytes; counted %g, %g, %g", predicted.operations, predicted.entries,
                     predicted.bytes, counted.operations, counted.entries, counted.bytes);
        assert_true((double)fem_direct_memory_bytes(direct) >= 8 * counted.entries);
        fem_direct_destroy(direct);
        block_destroy(&b);
    }
}

static void what_does_not_fit_is_refused_before_it_is_made(void **state)
{
    (void)state;
    block b;
    fem_solution *solution = NULL;
    fem_solve_options options = with_direct;
    options.memory_bytes = 1e6;
    create(&b, 3, 1, 2, NULL);
    block_discretise(&b, FEM_Q2);
    assert_int_equal(solve_alone(b.space, b.boundary, b.constraints, NULL, &options, NULL, &solution), YOKE_ERROR_MEMORY);
    assert_null(solution);
    static const char *const said[] = {"needs about", "0.001 GB are available", "coarser mesh", "solver.preconditioner"};
    for (int i = 0; i < 4; i++)
        if (!strstr(yoke_last_error(b.context), said[i])) fail_msg("\"%s\" lacks \"%s\"", yoke_last_error(b.context), said[i]);
    block_destroy(&b);
}

/* ------------------------------------------------------------------------------------------------------ failures */

static void bodies_not_constrained_and_bad_materials_are_numeric_errors(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int loose = 0; loose < 2; loose++) {
            block b;
            fem_solution *solution = NULL;
            create(&b, 3, loose ? 1 : -1, 1, NULL);
            if (loose) b.condition[0].mask = b.condition[1].mask = 0;
            block_discretise(&b, elements[i]);
            assert_int_equal(solve_alone(b.space, b.boundary, b.constraints, NULL, &with_direct, NULL, &solution), YOKE_ERROR_NUMERIC);
            if (!strstr(yoke_last_error(b.context), "positive definite")) fail_msg("%s", yoke_last_error(b.context));
            block_destroy(&b);
        }
}

/* A stiff block on one that is softer by the factor is constrained well enough, and so is the reverse. */
static void moduli_that_differ_by_a_hundred_million_are_not_taken_for_singular(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int stiff = 0; stiff < 2; stiff++) {
            block b;
            fem_direct *direct;
            create(&b, 3, stiff ? 1e8 : 1e-8, 1, NULL);
            block_discretise(&b, elements[i]);
            assert_int_equal(fem_direct_analyze(b.space, b.constraints, &direct), YOKE_OK);
            if (fem_direct_factorize(direct, 0, NULL)) fail_msg("%s", yoke_last_error(b.context));
            fem_direct_destroy(direct);
            block_destroy(&b);
        }
}

typedef struct asked {
    int questions, end_at, told;
} asked;

static int interrupted(void *user)
{
    asked *a = user;
    return ++a->questions == a->end_at;
}

static void working(const char *what, void *user)
{
    asked *a = user;
    assert_non_null(strstr(what, "unknowns"));
    a->told++;
}

static void it_says_what_it_does_and_can_be_interrupted(void **state)
{
    (void)state;
    block b;
    fem_direct *direct;
    asked whole = {0};
    fem_hooks hooks = {.interrupted = interrupted, .working = working, .user = &whole};
    create(&b, 3, 1, 1, NULL);
    block_discretise(&b, FEM_Q2);
    for (int end = 0; end <= whole.questions; end++) {
        asked part = {.end_at = end};
        hooks.user = end ? &part : &whole;
        assert_int_equal(fem_direct_analyze(b.space, b.constraints, &direct), YOKE_OK);
        assert_int_equal(fem_direct_factorize(direct, 0, &hooks), end ? YOKE_ERROR_INTERRUPTED : YOKE_OK);
        fem_direct_destroy(direct);
    }
    assert_true(whole.questions >= 3 && whole.told >= 2);
    block_destroy(&b);
}

static void no_failing_allocation_is_missed(void **state)
{
    (void)state;
    failing memory = {0};
    const yoke_options options = failing_options(&memory);
    block b;
    create(&b, 3, 1, 0, &options);
    block_discretise(&b, FEM_Q1);
    const int64_t before = memory.outstanding;
    yoke_status status = YOKE_ERROR_MEMORY;
    for (int64_t allowed = 0; status; allowed++) {
        fem_direct *direct = NULL;
        failing_allow(&memory, allowed);
        status = fem_direct_analyze(b.space, b.constraints, &direct);
        if (!status) status = fem_direct_factorize(direct, 1e12, NULL);
        if (status) assert_int_equal(status, YOKE_ERROR_MEMORY);
        fem_direct_destroy(direct);
        assert_int_equal(memory.outstanding, before);
        assert_true(allowed < 1000);
    }
    memory.fail_at = 0;
    block_destroy(&b);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(one_or_two_iterations_find_what_many_find),
    cmocka_unit_test(the_answer_does_not_depend_on_devices_and_cuts),
    cmocka_unit_test(nothing_loaded_and_everything_constrained_are_no_errors),
    cmocka_unit_test(the_cost_is_predicted),
    cmocka_unit_test(what_does_not_fit_is_refused_before_it_is_made),
    cmocka_unit_test(bodies_not_constrained_and_bad_materials_are_numeric_errors),
    cmocka_unit_test(moduli_that_differ_by_a_hundred_million_are_not_taken_for_singular),
    cmocka_unit_test(it_says_what_it_does_and_can_be_interrupted),
    cmocka_unit_test(no_failing_allocation_is_missed),
};

UNIT_MAIN(tests, body_start, body_end)
