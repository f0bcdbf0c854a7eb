/* Solving on several ranks: the answer of one rank, with one and two devices on each, and the same bits each time. */
#include <math.h>

#include "unit.h"

#include "fem/fixtures/body.h"
#include "fem/fixtures/solving.h"
#include "twins.h"

static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};

/* A curved block of two materials, clamped at one end and pulled askew at the other, refined unevenly. */
static void create(twins *t, cube_map *map, int components, fem_element element, int64_t most_gathered)
{
    uint64_t random = 3;
    const block_options options = {.elements = {2, 2, 2}, .map = map, .order = 2, .turn = 5, .components = components};
    twins_create(&options, t);
    block_two_materials(&t->alone, 3);
    block_two_materials(&t->shared, 3);
    t->shared.forest->most_gathered = most_gathered;
    twins_add_condition(t, (fem_condition){FEM_DIRICHLET, 0, 7, {0.01, 0, 0}});
    twins_add_condition(t, (fem_condition){FEM_FORCE, 1, 0, {0.3, -1, 2}});
    twins_refine(t, 1, &random, NULL);
    twins_refine(t, element == FEM_Q1 ? 0.6 : 0.3, &random, NULL);
    if (element == FEM_Q1) twins_refine(t, 0.5, &random, NULL);
    twins_discretise(t, element);
    assert_true(t->alone.space->num_hanging > 0);
}

static fem_solution *solve(const block *b, const char *devices, const fem_solve_options *options)
{
    fem_devices *open;
    fem_solution *solution = NULL;
    if (fem_devices_open(b->context, devices, &open) ||
        solve_on(open, b->space, b->boundary, b->constraints, NULL, options, NULL, &solution))
        fail_msg("%s", yoke_last_error(b->context));
    fem_devices_close(open);
    return solution;
}

static void assert_same(const twins *t, const fem_solution *found, const fem_solution *expected)
{
    const int n = t->shared.space->components;
    double largest = 0, off = 0;
    if (!(fabs(found->strain_energy_j / expected->strain_energy_j - 1) <= 1e-8) || llabs(found->iterations - expected->iterations) > 1)
        fail_msg("energy off by %g, %lld iterations instead of %lld", found->strain_energy_j / expected->strain_energy_j - 1,
                 (long long)found->iterations, (long long)expected->iterations);
    for (int64_t i = 0; i < (int64_t)t->alone.space->num_nodes * n; i++) largest = fmax(largest, fabs(expected->u[i]));
    for (int32_t i = 0; i < t->shared.space->num_nodes; i++)
        for (int c = 0; c < n; c++)
            off = fmax(off, fabs(found->u[(int64_t)i * n + c] - expected->u[fem_space_global_node(t->shared.space, i) * n + c]));
    if (!(off <= 1e-6 * largest)) fail_msg("displacements off by %g of %g", off, largest);
}

static void assert_answer_of_one_rank(const fem_solve_options *options, cube_map *map, int components, fem_element element,
                                      int64_t most_gathered)
{
    static const char *const devices[2] = {"openmp", "openmp:0,openmp:1"};
    twins t;
    create(&t, map, components, element, most_gathered);
    fem_solution *expected = solve(&t.alone, NULL, options);
    for (int d = 0; d < 2; d++) {
        fem_solution *found = solve(&t.shared, devices[d], options), *again = solve(&t.shared, devices[d], options);
        assert_same(&t, found, expected);
        /* q1 has a coarser forest, which is distributed where few elements are many */
        if (options->solver == FEM_SOLVER_MULTIGRID && element == FEM_Q1 && t.shared.space->ranks)
            assert_int_equal(found->num_levels, most_gathered < 100 ? 1 : 0);
        assert_memory_equal(again->u, found->u, sizeof(double) * (size_t)components * (size_t)t.shared.space->num_nodes);
        assert_int_equal(again->iterations, found->iterations);
        fem_solution_destroy(again);
        fem_solution_destroy(found);
    }
    fem_solution_destroy(expected);
    twins_destroy(&t);
}

/* ------------------------------------------------------------------------------------------------------- tests */

static void with_jacobi_it_is_that_of_one_rank(void **state)
{
    (void)state;
    const fem_solve_options options = {.solver = FEM_SOLVER_JACOBI, .relative_residual = 1e-8, .max_iterations = 1000};
    for (int i = 0; i < 3; i++) assert_answer_of_one_rank(&options, body_bend, i == 1 ? 1 : 3, elements[i], FEM_MOST_GATHERED);
}

/* With Jacobi's preconditioner: values of a product and of the preconditioner travel to each neighbour in an iteration, and a product at the beginning and the end. */
static void messages_are_counted(void **state)
{
    (void)state;
    const fem_solve_options options = {.solver = FEM_SOLVER_JACOBI, .relative_residual = 1e-6, .max_iterations = 1000};
    twins t;
    create(&t, body_bend, 3, FEM_Q2, FEM_MOST_GATHERED);
    fem_solution *alone = solve(&t.alone, NULL, &options), *shared = solve(&t.shared, NULL, &options);
    const fem_halo *halo = t.shared.space->halo;
    assert_true(alone->messages_per_iteration == 0 && alone->sent_bytes_per_iteration == 0);
    if (halo) {
        const double neighbours = halo->num_neighbours, bytes = 3.0 * sizeof(double) * halo->first[halo->num_neighbours];
        assert_true(neighbours > 0 && shared->iterations > 20);
        assert_true(fabs(shared->messages_per_iteration / neighbours - 2) < 0.2);
        assert_true(fabs(shared->sent_bytes_per_iteration / bytes - 2) < 0.2);
    }
    fem_solution_destroy(alone);
    fem_solution_destroy(shared);
    twins_destroy(&t);
}

/* most_gathered 20: coarse levels are distributed as far as cuts are aligned. */
static void with_multigrid_it_is_that_of_one_rank(void **state)
{
    (void)state;
    const fem_solve_options options = {
        .solver = FEM_SOLVER_MULTIGRID, .relative_residual = 1e-8, .max_iterations = 1000, .shared_elements = -1};
    for (int i = 0; i < 3; i++) {
        assert_answer_of_one_rank(&options, body_bend, i == 1 ? 1 : 3, elements[i], FEM_MOST_GATHERED);
        assert_answer_of_one_rank(&options, body_bend, i == 1 ? 1 : 3, elements[i], 20);
    }
}

/* As `yoke fem` does: a level of few elements lies on one of a rank's two devices, the other one has nodes of it only. */
static void with_coarse_levels_on_one_device_it_is_that_of_one_rank(void **state)
{
    (void)state;
    const fem_solve_options options = {.solver = FEM_SOLVER_MULTIGRID, .relative_residual = 1e-8, .max_iterations = 1000};
    assert_answer_of_one_rank(&options, body_bend, 3, FEM_Q2, FEM_MOST_GATHERED);
    assert_answer_of_one_rank(&options, body_bend, 3, FEM_Q1, 20);
}

static void flatten(const double in[3], double out[3])
{
    body_bend(in, out);
    out[2] *= 0.02;
}

/* Stretched elements: the whole cycle is that of rank 0, whose last level is larger than where they are not. */
static void of_a_plate_it_is_that_of_one_rank(void **state)
{
    (void)state;
    const fem_solve_options options = {.solver = FEM_SOLVER_MULTIGRID, .relative_residual = 1e-8, .max_iterations = 1000};
    assert_answer_of_one_rank(&options, flatten, 3, FEM_Q2, 20);
}

static void with_a_factor_it_is_that_of_one_rank(void **state)
{
    (void)state;
    const fem_solve_options options = {.solver = FEM_SOLVER_DIRECT, .relative_residual = 1e-8, .max_iterations = 1000};
    for (int i = 0; i < 3; i++) assert_answer_of_one_rank(&options, body_bend, i == 1 ? 1 : 3, elements[i], FEM_MOST_GATHERED);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(with_jacobi_it_is_that_of_one_rank),    cmocka_unit_test(messages_are_counted),
    cmocka_unit_test(with_multigrid_it_is_that_of_one_rank), cmocka_unit_test(with_coarse_levels_on_one_device_it_is_that_of_one_rank),
    cmocka_unit_test(of_a_plate_it_is_that_of_one_rank),     cmocka_unit_test(with_a_factor_it_is_that_of_one_rank)};

UNIT_MAIN(tests, twins_start, twins_end)
