/* The solver as a whole: how many steps it takes, and what it finds. */
#include <math.h>

#include "unit.h"

#include "beam.h"
#include "fem/fixtures/block.h"
#include "fem/fixtures/body.h"
#include "fem/fixtures/solving.h"

static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};

/* -------------------------------------------------------------------------------------------------- iterations */

/*
 * Solves at each of `levels` refinements and asks for at most so many iterations, growing by at most a factor; operator applications are at
 * most 9 for each iteration and 40 more.
 */
static void assert_iterations(const beam_options *beam, fem_element element, int levels, double probability, int most, double growth)
{
    block b;
    uint64_t random = 3;
    int fewest = 0;
    create_beam(&b, beam);
    refine(&b, element == FEM_Q1 ? 2 : 0, 1, &random); /* a forest of fewer dofs would be solved by the coarse method alone */
    for (int level = 0; level < levels; level++) {
        fem_solution *solution;
        block_refine(&b, probability, &random);
        block_discretise(&b, element);
        if (solve(&b, &with_multigrid, NULL, &solution)) fail_msg("%s", yoke_last_error(b.context));
        int iterations = (int)solution->iterations, applications = (int)solution->operator_applications;
        if (level == 0 || iterations < fewest) fewest = iterations;
        if (iterations > most || applications > 9 * iterations + 40 ||
            (level == levels - 1 && element != FEM_Q1 && iterations > growth * fewest + 2))
            fail_msg("element %d, %d dofs: %d iterations, %d applications, after %d at the least", element,
                     b.space->num_nodes * beam->components, iterations, applications, fewest);
        fem_solution_destroy(solution);
    }
    block_destroy(&b);
}

static void iterations_stay_few_on_uniform_meshes(void **state)
{
    (void)state;
    unit_leave_to_release();
    for (int i = 0; i < 3; i++) assert_iterations(&plain_beam, elements[i], i == 0 ? 2 : 3, 1, 14, 1.25);
}

static void iterations_stay_few_on_adaptive_curved_meshes(void **state)
{
    (void)state;
    unit_leave_to_release();
    beam_options curved = plain_beam;
    curved.map = body_bend;
    curved.order = 2;
    for (int i = 0; i < 3; i++) assert_iterations(&curved, elements[i], 3, 0.3, 18, 1.25);
}

static void iterations_stay_few_where_the_material_jumps_by_ten_thousand(void **state)
{
    (void)state;
    unit_leave_to_release();
    for (int components = 1; components <= 3; components += 2)
        for (int sign = -1; sign <= 1; sign += 2) {
            beam_options jump = plain_beam;
            jump.components = components;
            jump.jump = pow(10, 4 * sign);
            jump.map = body_bend;
            for (int i = 0; i < 3; i++) assert_iterations(&jump, elements[i], components == 1 ? 3 : 2, 0.3, 20, 1.25);
        }
}

/* The largest eigenvalue has a local mode there, which an estimate from few steps missed: the cycle was not positive definite. */
static void hanging_nodes_at_a_jump_of_the_material_do_not_break_the_cycle(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        block b;
        uint64_t random = seed;
        beam_options jump = plain_beam;
        fem_solution *solution;
        jump.components = 1;
        jump.jump = 1e4;
        jump.map = body_bend;
        create_beam(&b, &jump);
        refine(&b, 5, seed == 3 ? 0.3 : 0.25, &random);
        block_discretise(&b, FEM_Q1);
        if (solve(&b, &with_multigrid, NULL, &solution)) fail_msg("%s", yoke_last_error(b.context));
        assert_true(solution->iterations <= 12);
        fem_solution_destroy(solution);
        block_destroy(&b);
    }
}

static void stretch(const double in[3], double out[3])
{
    out[0] = 10 * in[0];
    out[1] = in[1];
    out[2] = in[2];
}

/* Harder cases take more steps, but a bounded number of them. */
static void elongated_elements_are_solved(void **state)
{
    (void)state;
    beam_options beam = plain_beam;
    beam.map = stretch;
    for (int i = 1; i < 3; i++) assert_iterations(&beam, elements[i], 2, 1, 20, 1.5);
}

static void nearly_incompressible_q2_is_solved(void **state)
{
    (void)state;
    beam_options beam = plain_beam;
    beam.nu = 0.49;
    assert_iterations(&beam, FEM_Q2, 3, 1, 40, 1.25);
}

static void both_preconditioners_and_operators_find_the_same_solution(void **state)
{
    (void)state;
    for (int components = 1; components <= 3; components += 2)
        for (int i = 0; i < 3; i++) {
            block b;
            uint64_t random = 3;
            beam_options beam = plain_beam;
            fem_solution *solution[4];
            beam.components = components;
            beam.map = body_bend;
            create_beam(&b, &beam);
            refine(&b, 2, 0.5, &random);
            block_discretise(&b, elements[i]);
            for (int k = 0; k < 4; k++) {
                fem_solve_options options = k & 1 ? with_multigrid : with_jacobi;
                options.operator_kind = k & 2 ? FEM_STORED : FEM_MATRIXFREE;
                options.relative_residual = 1e-11;
                if (solve(&b, &options, NULL, &solution[k])) fail_msg("%s", yoke_last_error(b.context));
                assert_true(block_difference(solution[k]->u, solution[0]->u, (int64_t)b.space->num_nodes * components) < 1e-8);
                assert_true(fabs(solution[k]->strain_energy_j / solution[0]->strain_energy_j - 1) < 1e-10);
            }
            for (int k = 0; k < 4; k++) fem_solution_destroy(solution[k]);
            block_destroy(&b);
        }
}

/* Half of the work of the loads, where nothing is moved; and the residual is zero but at supports. */
static void energy_and_residual_agree_with_the_loads(void **state)
{
    (void)state;
    block b;
    uint64_t random = 3;
    fem_solution *solution;
    fem_solve_options options = with_multigrid;
    options.relative_residual = 1e-12;
    create_beam(&b, &plain_beam);
    refine(&b, 2, 0.5, &random);
    block_discretise(&b, FEM_Q2);
    if (solve(&b, &options, NULL, &solution)) fail_msg("%s", yoke_last_error(b.context));
    double work = 0, support[3] = {0}, total[3] = {0};
    for (int64_t k = 0; k < 3 * (int64_t)b.space->num_nodes; k++) {
        work += 0.5 * solution->load[k] * solution->u[k];
        total[k % 3] += solution->load[k];
        support[k % 3] += solution->residual[k];
        if (!(b.constraints->prescribed[k / 3] >> k % 3 & 1))
            assert_true(fabs(solution->residual[k]) <= 1e-11); /* all loads together: 2.3 */
    }
    assert_true(fabs(work / solution->strain_energy_j - 1) < 1e-10);
    for (int a = 0; a < 3; a++) assert_true(fabs(support[a] + total[a]) < 1e-9 && fabs(total[a]) > 0.2);
    fem_solution_destroy(solution);
    block_destroy(&b);
}

static void solutions_repeat_bit_by_bit(void **state)
{
    (void)state;
    block b;
    uint64_t random = 3;
    fem_solution *first, *again;
    create_beam(&b, &plain_beam);
    refine(&b, 3, 0.5, &random);
    block_discretise(&b, FEM_Q2);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(solve(&b, k ? &with_multigrid : &with_jacobi, NULL, &first), YOKE_OK);
        assert_int_equal(solve(&b, k ? &with_multigrid : &with_jacobi, NULL, &again), YOKE_OK);
        assert_memory_equal(first->u, again->u, sizeof(double) * 3 * (size_t)b.space->num_nodes);
        assert_int_equal(first->iterations, again->iterations);
        fem_solution_destroy(first);
        fem_solution_destroy(again);
    }
    block_destroy(&b);
}

/* --------------------------------------------------------------------------------------------------- start values */

static void good_start_value_saves_iterations_and_changes_nothing_else(void **state)
{
    (void)state;
    block b;
    uint64_t random = 3;
    fem_solution *first, *again;
    create_beam(&b, &plain_beam);
    refine(&b, 2, 0.6, &random);
    block_discretise(&b, FEM_Q2);
    assert_int_equal(solve(&b, &with_multigrid, NULL, &first), YOKE_OK);
    double *start = block_zeros(3 * (int64_t)b.space->num_nodes, sizeof *start);
    for (int64_t k = 0; k < 3 * (int64_t)b.space->num_nodes; k++)
        start[k] = b.constraints->prescribed[k / 3] ? 1e30 : first->u[k]; /* values at constrained dofs do not matter */
    assert_int_equal(solve_alone(b.space, b.boundary, b.constraints, start, &with_multigrid, NULL, &again), YOKE_OK);
    assert_int_equal(again->iterations, 0);
    assert_true(block_difference(again->u, first->u, 3 * (int64_t)b.space->num_nodes) < 1e-14);
    free(start);
    fem_solution_destroy(again);
    fem_solution_destroy(first);
    block_destroy(&b);
}

/* ---------------------------------------------------------------------------------------------------- edge cases */

static void nothing_loaded_gives_zero_at_once(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        block b;
        uint64_t random = 3;
        fem_solution *solution;
        create_beam(&b, &plain_beam);
        memset(b.condition[1].value, 0, sizeof b.condition[1].value);
        block_refine(&b, 0.6, &random);
        block_discretise(&b, FEM_Q2);
        double *start = block_random_array(3 * (int64_t)b.space->num_nodes, &random);
        assert_int_equal(solve_alone(b.space, b.boundary, b.constraints, start, k ? &with_multigrid : &with_jacobi, NULL, &solution),
                         YOKE_OK);
        for (int64_t i = 0; i < 3 * (int64_t)b.space->num_nodes; i++) assert_true(solution->u[i] == 0);
        assert_true(solution->strain_energy_j == 0);
        assert_int_equal(solution->iterations, 0);
        free(start);
        fem_solution_destroy(solution);
        block_destroy(&b);
    }
}

static void everything_constrained_needs_no_iteration(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        block b;
        fem_solution *solution;
        create_beam(&b, &plain_beam);
        for (int face = 1; face < 6; face++) block_add_condition(&b, (fem_condition){FEM_DIRICHLET, face, 7, {0, 0, 0}});
        block_add_condition(&b, (fem_condition){FEM_DIRICHLET, BLOCK_AXIS, 7, {0, 0, 0}}); /* the inner node of 2 x 2 x 2 elements too */
        block_discretise(&b, FEM_Q1);
        for (int64_t i = 0; i < b.space->num_nodes; i++) assert_int_equal(b.constraints->prescribed[i], 7);
        if (solve(&b, k ? &with_multigrid : &with_jacobi, NULL, &solution)) fail_msg("%s", yoke_last_error(b.context));
        assert_int_equal(solution->iterations, 0);
        fem_solution_destroy(solution);
        block_destroy(&b);
    }
}

/* Two opposite faces pulled apart, free to contract: u = (x, -nu y, -nu z), stress E. */
static void prescribed_displacement_alone_stretches_the_body(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        block b;
        uint64_t random = 3;
        fem_solution *solution;
        fem_solve_options options = k ? with_multigrid : with_jacobi;
        options.relative_residual = 1e-12;
        create_beam(&b, &plain_beam);
        b.problem.num_conditions = 0;
        block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 0, 1, {0, 0, 0}});
        block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 1, 1, {1, 0, 0}});
        block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 2, 2, {0, 0, 0}});
        block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 4, 4, {0, 0, 0}});
        refine(&b, 2, 0.5, &random);
        block_discretise(&b, FEM_Q2);
        if (solve(&b, &options, NULL, &solution)) fail_msg("%s", yoke_last_error(b.context));
        for (int64_t i = 0; i < b.space->num_nodes; i++)
            for (int a = 0; a < 3; a++) assert_true(fabs(solution->u[3 * i + a] - (a ? -0.3 : 1) * b.space->x[3 * i + a]) < 1e-10);
        assert_true(fabs(solution->strain_energy_j - 0.5) < 1e-10);
        fem_solution_destroy(solution);
        block_destroy(&b);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(iterations_stay_few_on_uniform_meshes),
    cmocka_unit_test(iterations_stay_few_on_adaptive_curved_meshes),
    cmocka_unit_test(iterations_stay_few_where_the_material_jumps_by_ten_thousand),
    cmocka_unit_test(hanging_nodes_at_a_jump_of_the_material_do_not_break_the_cycle),
    cmocka_unit_test(elongated_elements_are_solved),
    cmocka_unit_test(nearly_incompressible_q2_is_solved),
    cmocka_unit_test(both_preconditioners_and_operators_find_the_same_solution),
    cmocka_unit_test(energy_and_residual_agree_with_the_loads),
    cmocka_unit_test(solutions_repeat_bit_by_bit),
    cmocka_unit_test(good_start_value_saves_iterations_and_changes_nothing_else),
    cmocka_unit_test(nothing_loaded_gives_zero_at_once),
    cmocka_unit_test(everything_constrained_needs_no_iteration),
    cmocka_unit_test(prescribed_displacement_alone_stretches_the_body),
};

UNIT_MAIN(tests, body_start, body_end)
