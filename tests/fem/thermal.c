/* Thermal strains: bodies that expand freely have no stress, constrained ones have that of theory, and so has a bimetal strip. */
#include <math.h>

#include "unit.h"

#include "estimate/estimate.h"
#include "fem/fixtures/block.h"
#include "fem/fixtures/body.h"
#include "fem/fixtures/maps.h"
#include "fem/fixtures/model.h"
#include "fem/fixtures/solving.h"
#include "output/quantities/stress.h"
#include "space/field.h"
#include "space/temperature.h"

static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};

/* ------------------------------------------------------------------------------------------------- free bodies */

/* Of a body without stress: expansion (T0 x + (g . x) x - g |x|^2 / 2), whose strain is expansion (T0 + g . x) in all directions. */
typedef struct expansion {
    double coefficient, value, gradient[3];
} expansion;

static void expanded(const double x[3], double *u, void *user)
{
    const expansion *s = user;
    const double *g = s->gradient, along = g[0] * x[0] + g[1] * x[1] + g[2] * x[2];
    const double square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    for (int a = 0; a < 3; a++) u[a] = s->coefficient * ((s->value + along) * x[a] - 0.5 * g[a] * square);
}

/* Held at three points (3-2-1), where it is as it must be; two materials of different moduli and the same expansion. */
static void create_free(expansion *strain, cube_map *map, int order, fem_element element, block *b)
{
    uint64_t random = 13;
    block_options options = {.elements = {2, 2, 2}, .map = map, .order = order, .turn = 5, .components = 3};
    block_create(&options, b);
    block_two_materials(b, 3);
    for (int m = 0; m < 2; m++) b->material[m].expansion = strain->coefficient;
    block_add_condition(b, (fem_condition){FEM_DIRICHLET, BLOCK_ORIGIN, 7, {0, 0, 0}});
    block_add_condition(b, (fem_condition){FEM_DIRICHLET, BLOCK_ON_X, 6, {0, 0, 0}});
    block_add_condition(b, (fem_condition){FEM_DIRICHLET, BLOCK_ON_Y, 4, {0, 0, 0}});
    b->problem.fields = (fem_fields){.dirichlet = expanded, .user = strain};
    b->problem.temperature = (fem_temperature){.given = true, .value = strain->value};
    memcpy(b->problem.temperature.gradient, strain->gradient, sizeof strain->gradient);
    block_refine(b, 0.4, &random);
    block_discretise(b, element);
    assert_true(b->space->num_hanging > 0);
}

static void assert_free(block *b, const expansion *strain)
{
    fem_solution *solution;
    fem_stress *stress;
    fem_estimate_result estimate;
    fem_solve_options options = {.solver = FEM_SOLVER_MULTIGRID, .relative_residual = 1e-13, .max_iterations = 500};
    if (solve_alone(b->space, b->boundary, b->constraints, NULL, &options, NULL, &solution)) fail_msg("%s", yoke_last_error(b->context));
    assert_int_equal(fem_stress_create(b->space, solution->u, &stress), YOKE_OK);
    double *indicator = block_zeros(b->space->num_elements, sizeof *indicator), largest = 0;
    assert_int_equal(fem_estimate(b->space, b->boundary, solution->u, indicator, &estimate), YOKE_OK);
    const fem_material *stiff = &b->material[1];
    double constrained =
        stiff->mu * (3 * stiff->lambda + 2 * stiff->mu) / (stiff->lambda + stiff->mu) * strain->coefficient * strain->value;
    for (int64_t i = 0; i < 6 * (int64_t)stress->points.num_nodes; i++) largest = fmax(largest, fabs(stress->value[i]));
    if (!(largest <= 1e-9 * constrained)) fail_msg("element %d: stress %g of E alpha dT", b->space->element, largest / constrained);
    assert_true(estimate.relative <= 1e-4);
    for (int64_t i = 0; i < b->space->num_nodes; i++) {
        double exact[3];
        expanded(b->space->x + 3 * i, exact, (void *)(uintptr_t)strain);
        for (int a = 0; a < 3; a++) assert_true(fabs(solution->u[3 * i + a] - exact[a]) <= 1e-9 * strain->coefficient * strain->value);
    }
    free(indicator);
    fem_stress_destroy(stress);
    fem_solution_destroy(solution);
}

static void uniform_temperature_leaves_a_free_curved_body_without_stress(void **state)
{
    expansion strain = {12e-6, 80, {0, 0, 0}};
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int order = 1; order <= 2; order++) {
            block b;
            create_free(&strain, body_bend, order, elements[i], &b);
            assert_free(&b, &strain);
            block_destroy(&b);
        }
}

static void linear_temperature_leaves_a_free_block_without_stress(void **state)
{
    expansion strain = {12e-6, 80, {30, -20, 50}};
    (void)state;
    for (int i = 1; i < 3; i++) {
        block b;
        create_free(&strain, map_shear, 1, elements[i], &b);
        assert_free(&b, &strain);
        block_destroy(&b);
    }
}

/* ------------------------------------------------------------------------------------------------- constrained bodies */

/* Rollers on both ends and two sides: sigma_xx = -E alpha dT, nothing else. */
static void bar_between_walls_has_minus_e_alpha_dt(void **state)
{
    const double e = 210e9, nu = 0.3, coefficient = 12e-6, change = 80, expected = -e * coefficient * change;
    const manufactured moduli = manufactured_linear(e, nu);
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int own = 0; own < 2; own++) { /* own: the temperature is the material's, not the field's */
            model m;
            model_options options = {
                .solution = &moduli, .element = elements[i], .elements = {3, 1, 1}, .order = 1, .prescribed = {1, 1, 2, 0, 4, 0, 0}};
            model_create(&options, &m);
            model_refine_unevenly(&m);
            m.problem.fields = (fem_fields){.force = NULL};
            m.problem.temperature = (fem_temperature){.given = true, .value = own ? -30 : change};
            for (int k = 0; k < m.problem.num_materials; k++) {
                m.problem.materials[k].expansion = own ? 0 : coefficient;
                m.problem.materials[k].thermal_strain = own ? coefficient * change : 0;
            }
            double *u = model_solve(&m), *indicator = block_zeros(m.space->num_elements, sizeof *indicator);
            fem_stress *stress;
            fem_estimate_result estimate;
            assert_int_equal(fem_stress_create(m.space, u, &stress), YOKE_OK);
            for (int64_t k = 0; k < 6 * (int64_t)stress->points.num_nodes; k++)
                if (!(fabs(stress->value[k] - (k % 6 == 0 ? expected : 0)) <= -1e-9 * expected))
                    fail_msg("element %d: stress %g in component %d", i, stress->value[k], (int)(k % 6));
            assert_int_equal(fem_estimate(m.space, m.boundary, u, indicator, &estimate), YOKE_OK);
            double energy = 0.5 * estimate.energy_norm * estimate.energy_norm; /* of the stresses, in the unit cube */
            assert_true(fabs(energy / (0.5 * expected * expected / e) - 1) <= 1e-8);
            assert_true(estimate.relative <= 1e-7);
            fem_stress_destroy(stress);
            free(indicator);
            free(u);
            model_destroy(&m);
        }
}

/* A strip 20 long, 0.5 wide and 2 high, its lower half of another material. */
static void strip(const double in[3], double out[3])
{
    out[0] = 20 * in[0];
    out[1] = 0.5 * in[1];
    out[2] = 2 * in[2];
}

static double deflection(const model *m, const double *u, double x)
{
    for (int64_t i = 0; i < m->space->num_nodes; i++) {
        const double *at = m->space->x + 3 * i;
        if (fabs(at[0] - x) < 1e-9 && fabs(at[1]) < 1e-9 && fabs(at[2] - 1) < 1e-9) return u[3 * i + 2];
    }
    fail_msg("no node at x = %g", x);
    return NAN;
}

/* S. Timoshenko, Analysis of bi-metal thermostats, J. Opt. Soc. Am. 11 (1925) 233, for layers of equal height with moduli E1/E2 = n. */
static void bimetal_strip_bends_as_timoshenko_found(void **state)
{
    const double n = 2, change = 50, difference = 8e-6, height = 2;
    const double expected = 6 * difference * change * 4 / (height * (12 + (1 + n) * (1 + 1 / n)));
    const manufactured moduli = manufactured_linear(100e9, 0); /* nu = 0: no bending across */
    (void)state;
    for (int i = 1; i < 3; i++) {
        model m;
        model_options options = {.solution = &moduli,
                                 .element = elements[i],
                                 .elements = {10, 1, 2},
                                 .order = 1,
                                 .map = strip,
                                 .level = 1,
                                 .prescribed = {5, 0, 2, 0, 0, 0, 0}};
        model_create(&options, &m);
        m.problem.fields = (fem_fields){.force = NULL};
        m.problem.temperature = (fem_temperature){.given = true, .value = change};
        for (int k = 0; k < m.mesh->num_elements; k++) {
            fem_material *material = &m.problem.materials[k];
            int upper = m.mesh->vertices[3 * (int64_t)m.mesh->corners[8 * (int64_t)k] + 2] > 0.5;
            material->expansion = upper ? 10e-6 : 10e-6 + difference;
            material->mu *= upper ? 1 : n;
        }
        double *u = model_solve(&m);
        double curvature = (deflection(&m, u, 5) - 2 * deflection(&m, u, 10) + deflection(&m, u, 15)) / 25;
        if (!(fabs(curvature / expected - 1) <= 0.002)) fail_msg("element %d: curvature %g, expected %g", i, curvature, expected);
        free(u);
        model_destroy(&m);
    }
}

/* Its temperature rises with the distance from the axis; both ends on rollers. */
static void heated_cylinder_has_its_exact_stress_and_an_honest_estimate(void **state)
{
    const double expansion_coefficient = 12e-6, rise = 100;
    const manufactured solution = manufactured_heated_cylinder(210e9, 0.3, 1, 2, expansion_coefficient, rise);
    (void)state;
    for (int i = 0; i < 3; i++) {
        model m;
        model_options options = {.solution = &solution,
                                 .element = elements[i],
                                 .elements = {4, 8, 1},
                                 .order = 2,
                                 .map = map_quarter,
                                 .level = 1,
                                 .prescribed = {0, 0, 2, 1, 4, 4, 0}};
        model_create(&options, &m);
        m.problem.fields = (fem_fields){.dirichlet = manufactured_value, .user = (void *)(uintptr_t)&solution};
        m.problem.temperature = (fem_temperature){.given = true, .radial = rise, .axis = {0, 0, 1}, .through = {0, 0, 9}};
        double *u = model_solve(&m), *indicator = block_zeros(m.space->num_elements, sizeof *indicator), exact[9], worst = 0;
        fem_stress *stress;
        fem_estimate_result estimate;
        assert_int_equal(fem_stress_create(m.space, u, &stress), YOKE_OK);
        manufactured_stress(&solution, (double[3]){1, 0, 0.1}, exact);
        for (int32_t k = 0; k < stress->points.num_nodes; k++) {
            const double *x = m.space->x + 3 * (int64_t)stress->node[k];
            if (hypot(x[0] - 1, x[1]) > 1e-9) continue;
            for (int c = 0; c < 3; c++) worst = fmax(worst, fabs(stress->value[6 * k + c] - exact[4 * c]) / fabs(exact[4]));
        }
        if (!(worst <= (i ? 0.02 : 0.15))) fail_msg("element %d: stress off by %g", i, worst);
        assert_int_equal(fem_estimate(m.space, m.boundary, u, indicator, &estimate), YOKE_OK);
        double index = estimate.estimate / model_error(&m, &solution, u).energy;
        if (!(index > 0.5 && index < 5)) fail_msg("element %d: effectivity index %g", i, index);
        fem_stress_destroy(stress);
        free(indicator);
        free(u);
        model_destroy(&m);
    }
}

/* A field that is linear in x, on leaves of one refinement, is the same at the nodes of another one. */
static void field_of_another_run_is_found_on_other_leaves(void **state)
{
    uint64_t random = 5;
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            block warm, strained;
            block_options options = {.elements = {2, 2, 2}, .map = map_shear, .order = 1, .turn = 5, .components = 1};
            block_create(&options, &warm);
            options.components = 3;
            block_create(&options, &strained);
            for (int step = 0; step < 3; step++) {
                block_refine(&warm, 0.3, &random);
                block_refine(&strained, 0.3, &random);
            }
            block_discretise(&warm, elements[i]);
            block_discretise(&strained, elements[k]);
            double *value = block_zeros(warm.space->num_nodes, sizeof *value), *temperature;
            for (int64_t n = 0; n < warm.space->num_nodes; n++)
                value[n] = 7 + 3 * warm.space->x[3 * n] - 2 * warm.space->x[3 * n + 1] + 5 * warm.space->x[3 * n + 2];
            fem_field field = {warm.forest, warm.space, value};
            strained.problem.temperature = (fem_temperature){.given = true, .value = -7, .field = &field};
            assert_int_equal(fem_temperature_nodal(strained.space, &temperature), YOKE_OK);
            for (int64_t n = 0; n < strained.space->num_nodes; n++) {
                const double *x = strained.space->x + 3 * n;
                assert_true(fabs(temperature[n] - (3 * x[0] - 2 * x[1] + 5 * x[2])) <= 1e-12 * 10);
            }
            yoke_release(strained.context, temperature);
            free(value);
            block_destroy(&warm);
            block_destroy(&strained);
        }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(uniform_temperature_leaves_a_free_curved_body_without_stress),
    cmocka_unit_test(linear_temperature_leaves_a_free_block_without_stress),
    cmocka_unit_test(bar_between_walls_has_minus_e_alpha_dt),
    cmocka_unit_test(field_of_another_run_is_found_on_other_leaves),
    cmocka_unit_test(bimetal_strip_bends_as_timoshenko_found),
    cmocka_unit_test(heated_cylinder_has_its_exact_stress_and_an_honest_estimate),
};

UNIT_MAIN(tests, body_start, body_end)
