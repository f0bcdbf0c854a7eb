/*
 * Patch test: a field with constant strain (or gradient) is reproduced by every element on every mesh, by both operators and
 * preconditioners (B. M. Irons, A. Razzaque 1972).  Three faces are constrained to the field's values, the others carry its traction.
 */
#include <math.h>
#include <omp.h>

#include "unit.h"

#include "fem/fixtures/block.h"
#include "fem/fixtures/body.h"
#include "fem/fixtures/solving.h"

static void create(block *b, const manufactured *solution, int order)
{
    uint64_t random = 13;
    block_options options = {.elements = {2, 2, 2}, .map = body_bend, .order = order, .turn = 5, .components = solution->components};
    block_create(&options, b);
    b->material[0].lambda = solution->lambda;
    b->material[0].mu = solution->mu;
    for (int face = 0; face < 6; face++)
        block_add_condition(b, (fem_condition){face % 2 ? FEM_TRACTION : FEM_DIRICHLET, face, 7, {0, 0, 0}});
    b->problem.fields = manufactured_fields(solution);
    block_refine(b, 0.4, &random);
    block_refine(b, 0.1, &random);
    assert_true(fem_forest_leaves(b->forest) > 64); /* enough for two threads */
}

static void assert_reproduced(const block *b, const manufactured *solution, const fem_solve_options *options)
{
    fem_solution *solved;
    int n = b->problem.components;
    int64_t count = (int64_t)b->space->num_nodes * n;
    double *exact = block_zeros(count, sizeof *exact);
    for (int64_t i = 0; i < b->space->num_nodes; i++) solution->value(solution, b->space->x + 3 * i, exact + n * i);
    if (solve_alone(b->space, b->boundary, b->constraints, NULL, options, NULL, &solved)) fail_msg("%s", yoke_last_error(b->context));
    double difference = block_difference(solved->u, exact, count);
    if (!(difference <= 1e-9))
        fail_msg("element %d, %s, %s, %d threads: off by %g", b->space->element,
                 options->solver == FEM_SOLVER_JACOBI ? "jacobi" : "multigrid",
                 options->operator_kind == FEM_STORED ? "stored" : "matrixfree", omp_get_max_threads(), difference);
    assert_true(solved->relative_residual <= 1e-12);
    fem_solution_destroy(solved);
    free(exact);
}

static void assert_patch_test(fem_element element, const manufactured *solution)
{
    for (int order = 1; order <= 2; order++) {
        block b;
        create(&b, solution, order);
        block_discretise(&b, element);
        assert_true(b.space->num_hanging > 0);
        const int threads = omp_get_max_threads();
        for (int k = 0; k < 8; k++) {
            fem_solve_options options = {.solver = k & 1 ? FEM_SOLVER_MULTIGRID : FEM_SOLVER_JACOBI,
                                         .operator_kind = k & 2 ? FEM_STORED : FEM_MATRIXFREE,
                                         .relative_residual = 1e-12,
                                         .max_iterations = 5000};
            omp_set_num_threads(k & 4 ? 2 : 1);
            assert_reproduced(&b, solution, &options);
        }
        omp_set_num_threads(threads);
        block_destroy(&b);
    }
}

static void assert_elastic_patch_test(fem_element element)
{
    manufactured solution = manufactured_linear(210e9, 0.3);
    assert_patch_test(element, &solution);
}

static void assert_scalar_patch_test(fem_element element)
{
    manufactured solution = manufactured_poisson_linear(50);
    assert_patch_test(element, &solution);
}

static void linear_displacement_is_reproduced_by_q1(void **state)
{
    (void)state;
    assert_elastic_patch_test(FEM_Q1);
}

static void linear_displacement_is_reproduced_by_s2(void **state)
{
    (void)state;
    assert_elastic_patch_test(FEM_S2);
}

static void linear_displacement_is_reproduced_by_q2(void **state)
{
    (void)state;
    assert_elastic_patch_test(FEM_Q2);
}

static void linear_poisson_solution_is_reproduced_by_q1(void **state)
{
    (void)state;
    assert_scalar_patch_test(FEM_Q1);
}

static void linear_poisson_solution_is_reproduced_by_s2(void **state)
{
    (void)state;
    assert_scalar_patch_test(FEM_S2);
}

static void linear_poisson_solution_is_reproduced_by_q2(void **state)
{
    (void)state;
    assert_scalar_patch_test(FEM_Q2);
}

/* All of the quadratic polynomials lie in the space of q2, and of s2 on affine elements. */
static void quadratic_displacement_is_reproduced_by_s2_and_q2_on_cubes(void **state)
{
    (void)state;
    manufactured solution = manufactured_quadratic(210e9, 0.3);
    for (int i = FEM_S2; i <= FEM_Q2; i++) {
        block b;
        uint64_t random = 13;
        block_options options = {.elements = {2, 2, 2}, .order = 1, .turn = 5, .components = 3};
        block_create(&options, &b);
        b.material[0].lambda = solution.lambda;
        b.material[0].mu = solution.mu;
        for (int face = 0; face < 6; face++)
            block_add_condition(&b, (fem_condition){face % 2 ? FEM_TRACTION : FEM_DIRICHLET, face, 7, {0, 0, 0}});
        b.problem.fields = manufactured_fields(&solution);
        block_refine(&b, 0.4, &random);
        block_discretise(&b, i == FEM_S2 ? FEM_S2 : FEM_Q2);
        assert_reproduced(&b, &solution,
                          &(fem_solve_options){.solver = FEM_SOLVER_MULTIGRID, .relative_residual = 1e-12, .max_iterations = 500});
        block_destroy(&b);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(linear_displacement_is_reproduced_by_q1),
    cmocka_unit_test(linear_displacement_is_reproduced_by_s2),
    cmocka_unit_test(linear_displacement_is_reproduced_by_q2),
    cmocka_unit_test(linear_poisson_solution_is_reproduced_by_q1),
    cmocka_unit_test(linear_poisson_solution_is_reproduced_by_s2),
    cmocka_unit_test(linear_poisson_solution_is_reproduced_by_q2),
    cmocka_unit_test(quadratic_displacement_is_reproduced_by_s2_and_q2_on_cubes),
};

UNIT_MAIN(tests, body_start, body_end)
