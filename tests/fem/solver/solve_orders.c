/*
 * The program's own solver on manufactured problems: its solution is that of the plain reference method, and its errors fall with the order
 * that theory promises, also from a coarse mesh that is refined unevenly.
 */
#include <math.h>

#include "unit.h"

#include "fem/fixtures/block.h"
#include "fem/fixtures/body.h"
#include "fem/fixtures/maps.h"
#include "fem/fixtures/model.h"
#include "fem/fixtures/solving.h"

/* The solution by fem_solve; freed by the caller. */
static double *solve(const model *m, double relative_residual)
{
    fem_constraints *constraints;
    fem_solution *solution;
    int64_t dofs = (int64_t)m->space->num_nodes * m->space->components;
    fem_solve_options options = {.solver = FEM_SOLVER_MULTIGRID, .relative_residual = relative_residual, .max_iterations = 200};
    assert_int_equal(fem_constraints_create(m->space, m->boundary, &constraints), YOKE_OK);
    if (solve_alone(m->space, m->boundary, constraints, NULL, &options, NULL, &solution)) fail_msg("%s", yoke_last_error(m->context));
    double *u = block_zeros(dofs, sizeof *u);
    memcpy(u, solution->u, sizeof *u * (size_t)dofs);
    fem_solution_destroy(solution);
    fem_constraints_destroy(constraints);
    return u;
}

static void create(model *m, const manufactured *solution, fem_element element, int level, int uneven)
{
    model_options options = {.solution = solution,
                             .element = element,
                             .elements = {2, 2, 2},
                             .order = 2,
                             .map = map_wave,
                             .level = level,
                             .prescribed = {7, 0, 7, 0, 2, 0, 0}};
    model_create(&options, m);
    if (uneven) model_refine_unevenly(m);
}

static void assert_order(const char *what, fem_element element, double coarse, double fine, double expected)
{
    double order = log2(coarse / fine);
    if (fabs(order - expected) > 0.25)
        fail_msg("element %d: the %s error falls with order %.3f, expected %g", element, what, order, expected);
}

static void assert_orders(const manufactured *solution, fem_element element)
{
    double degree = element == FEM_Q1 ? 1 : 2;
    for (int uneven = 0; uneven < 2; uneven++) {
        model m;
        model_errors error[2];
        create(&m, solution, element, element == FEM_Q1 ? 2 - uneven : 1 - uneven, uneven);
        for (int level = 0; level < 2; level++) {
            if (level) model_refine(&m, NULL);
            double *u = solve(&m, 1e-10);
            error[level] = model_error(&m, solution, u);
            free(u);
        }
        assert_order("energy", element, error[0].energy, error[1].energy, degree);
        assert_order("L2", element, error[0].l2, error[1].l2, degree + 1);
        model_destroy(&m);
    }
}

static void elastic_errors_of_q1_fall_as_h_and_h_squared(void **state)
{
    (void)state;
    manufactured solution = manufactured_trigonometric(210e9, 0.3);
    assert_orders(&solution, FEM_Q1);
}

static void elastic_errors_of_s2_fall_as_h_squared_and_h_cubed(void **state)
{
    (void)state;
    manufactured solution = manufactured_trigonometric(210e9, 0.3);
    assert_orders(&solution, FEM_S2);
}

static void elastic_errors_of_q2_fall_as_h_squared_and_h_cubed(void **state)
{
    (void)state;
    manufactured solution = manufactured_trigonometric(210e9, 0.3);
    assert_orders(&solution, FEM_Q2);
}

static void poisson_errors_of_q1_fall_as_h_and_h_squared(void **state)
{
    (void)state;
    manufactured solution = manufactured_poisson_trigonometric(50);
    assert_orders(&solution, FEM_Q1);
}

static void poisson_errors_of_s2_and_q2_fall_as_h_squared_and_h_cubed(void **state)
{
    (void)state;
    manufactured solution = manufactured_poisson_trigonometric(50);
    assert_orders(&solution, FEM_S2);
    assert_orders(&solution, FEM_Q2);
}

/* Two quadrature rules: the reference uses one point more per direction than the program. */
static void solution_is_that_of_the_plain_reference_method(void **state)
{
    (void)state;
    manufactured elastic = manufactured_trigonometric(1, 0.3), scalar = manufactured_poisson_trigonometric(1);
    static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};
    for (int i = 0; i < 6; i++) {
        model m;
        create(&m, i % 2 ? &elastic : &scalar, elements[i / 2], 0, 1);
        double *expected = model_solve(&m), *u = solve(&m, 1e-11);
        double difference = block_difference(u, expected, (int64_t)m.space->num_nodes * m.space->components);
        double near = elements[i / 2] == FEM_Q1 ? 2e-2 : 2e-3; /* far below the error of either */
        if (!(difference <= near)) fail_msg("element %d, %d components: off by %g", elements[i / 2], m.space->components, difference);
        free(u);
        free(expected);
        model_destroy(&m);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(elastic_errors_of_q1_fall_as_h_and_h_squared),
    cmocka_unit_test(elastic_errors_of_s2_fall_as_h_squared_and_h_cubed),
    cmocka_unit_test(elastic_errors_of_q2_fall_as_h_squared_and_h_cubed),
    cmocka_unit_test(poisson_errors_of_q1_fall_as_h_and_h_squared),
    cmocka_unit_test(poisson_errors_of_s2_and_q2_fall_as_h_squared_and_h_cubed),
    cmocka_unit_test(solution_is_that_of_the_plain_reference_method),
};

UNIT_MAIN(tests, body_start, body_end)
