/*
 * Errors fall with the order that theory promises (P. G. Ciarlet, The Finite Element Method for Elliptic Problems, th. 3.2.2, 3.2.5), on
 * uniform refinements of one distorted coarse mesh: energy norm h^p, L2 norm h^(p+1).
 */
#include <math.h>

#include "unit.h"

#include "fem/fixtures/body.h"
#include "fem/fixtures/maps.h"
#include "fem/fixtures/model.h"

static void assert_order(const char *what, const manufactured *solution, fem_element element, double coarse, double fine, double expected)
{
    double order = log2(coarse / fine);
    if (fabs(order - expected) > 0.2)
        fail_msg("%s, nu %g, element %d: the %s error falls with order %.3f, expected %g", solution->name,
                 solution->lambda / (2 * (solution->lambda + solution->mu)), element, what, order, expected);
}

static void assert_orders(const manufactured *solution, fem_element element, int order_of_map)
{
    model_options options = {.solution = solution,
                             .element = element,
                             .elements = {2, 2, 2},
                             .order = order_of_map,
                             .map = map_wave,
                             .level = element == FEM_Q1 ? 2 : 1,
                             .prescribed = {7, 0, 7, 0, 2, 0, 0}};
    double degree = element == FEM_Q1 ? 1 : 2;
    model_errors error[2];
    model m;
    model_create(&options, &m);
    for (int level = 0; level < 2; level++) {
        if (level) model_refine(&m, NULL);
        double *u = model_solve(&m);
        error[level] = model_error(&m, solution, u);
        free(u);
    }
    assert_order("energy", solution, element, error[0].energy, error[1].energy, degree);
    assert_order("L2", solution, element, error[0].l2, error[1].l2, degree + 1);
    model_destroy(&m);
}

static void assert_elastic_orders(fem_element element)
{
    manufactured solution = manufactured_trigonometric(210e9, 0.3);
    assert_orders(&solution, element, 1);
    assert_orders(&solution, element, 2);
    solution = manufactured_warmed(solution, 0.6);
    assert_orders(&solution, element, 2);
}

static void assert_scalar_orders(fem_element element)
{
    manufactured solution = manufactured_poisson_trigonometric(50);
    assert_orders(&solution, element, 1);
    assert_orders(&solution, element, 2);
}

static void elasticity_q1_converges_with_order_1_in_energy_and_2_in_l2(void **state)
{
    (void)state;
    assert_elastic_orders(FEM_Q1);
}

static void elasticity_s2_converges_with_order_2_in_energy_and_3_in_l2(void **state)
{
    (void)state;
    assert_elastic_orders(FEM_S2);
}

static void elasticity_q2_converges_with_order_2_in_energy_and_3_in_l2(void **state)
{
    (void)state;
    assert_elastic_orders(FEM_Q2);
}

static void poisson_q1_converges_with_order_1_in_energy_and_2_in_l2(void **state)
{
    (void)state;
    assert_scalar_orders(FEM_Q1);
}

static void poisson_s2_converges_with_order_2_in_energy_and_3_in_l2(void **state)
{
    (void)state;
    assert_scalar_orders(FEM_S2);
}

static void poisson_q2_converges_with_order_2_in_energy_and_3_in_l2(void **state)
{
    (void)state;
    assert_scalar_orders(FEM_Q2);
}

static void nearly_incompressible_q2_converges_with_order_2_in_energy(void **state)
{
    manufactured solution = manufactured_trigonometric(210e9, 0.45);
    (void)state;
    assert_orders(&solution, FEM_Q2, 2);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(elasticity_q1_converges_with_order_1_in_energy_and_2_in_l2),
    cmocka_unit_test(elasticity_s2_converges_with_order_2_in_energy_and_3_in_l2),
    cmocka_unit_test(elasticity_q2_converges_with_order_2_in_energy_and_3_in_l2),
    cmocka_unit_test(poisson_q1_converges_with_order_1_in_energy_and_2_in_l2),
    cmocka_unit_test(poisson_s2_converges_with_order_2_in_energy_and_3_in_l2),
    cmocka_unit_test(poisson_q2_converges_with_order_2_in_energy_and_3_in_l2),
    cmocka_unit_test(nearly_incompressible_q2_converges_with_order_2_in_energy),
};

UNIT_MAIN(tests, body_start, body_end)
