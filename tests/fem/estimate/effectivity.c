/*
 * The estimate against the true error on all bodies with exact solutions: estimate / error in energy lies in 0.5 to 5, on uniform and on
 * adaptively refined meshes.
 */
#include <math.h>

#include "unit.h"

#include "estimate/estimate.h"
#include "estimate/mark.h"
#include "fem/fixtures/body.h"
#include "fem/fixtures/maps.h"
#include "fem/fixtures/model.h"

static const double quarter = 0.78539816339744831;

/* A quarter of a ring about z, radii 1 and `outer`, half a unit high. */
static void ring(double outer, const double in[3], double out[3])
{
    double r = 1 + (outer - 1) * in[0], angle = 2 * quarter * in[1];
    out[0] = r * cos(angle);
    out[1] = r * sin(angle);
    out[2] = 0.5 * in[2];
}

static void cylinder_wall(const double in[3], double out[3]) { ring(2, in, out); }
static void around_hole(const double in[3], double out[3]) { ring(3, in, out); }

/* A sixth of a spherical shell, radii 1 and `outer`: the part that a cube's face +z covers from its centre. */
static void shell(double outer, const double in[3], double out[3])
{
    double p = tan(quarter * (2 * in[0] - 1)), q = tan(quarter * (2 * in[1] - 1)), r = 1 + (outer - 1) * in[2];
    double factor = r / sqrt(1 + p * p + q * q);
    out[0] = factor * p;
    out[1] = factor * q;
    out[2] = factor;
}

static void sphere_wall(const double in[3], double out[3]) { shell(2, in, out); }
static void around_cavity(const double in[3], double out[3]) { shell(3, in, out); }

static void ell(const double in[3], double out[3])
{
    out[0] = 2 * in[0] - 1;
    out[1] = 2 * in[1] - 1;
    out[2] = 0.5 * in[2];
}

static int without_quadrant(const double centre[3]) { return !(centre[0] > 0.5 && centre[1] < 0.5); }

static double effectivity(const model *m, const manufactured *solution, double *indicator)
{
    double *u = model_solve(m);
    fem_estimate_result result;
    if (fem_estimate(m->space, m->boundary, u, indicator, &result)) fail_msg("%s", yoke_last_error(m->context));
    double error = model_error(m, solution, u).energy;
    free(u);
    return result.estimate / error;
}

static void assert_effective(const char *mesh, const model *m, const manufactured *solution, double *indicator)
{
    double index = effectivity(m, solution, indicator);
    if (!(index >= 0.5 && index <= 5))
        fail_msg("%s, nu %g, element %d, %s, %d leaves: effectivity %.3f", solution->name,
                 solution->lambda / (2 * (solution->lambda + solution->mu)), m->space->element, mesh, m->space->num_elements, index);
}

static void check(model_options options, fem_element element, int adaptive_steps)
{
    enum { MOST = 20000 };
    static double indicator[MOST];
    static uint8_t mark[MOST];
    int64_t marked;
    model m;
    options.element = element;
    model_create(&options, &m);
    for (int level = 0; level < (element == FEM_Q1 ? 3 : 2); level++) {
        if (level) model_refine(&m, NULL);
        assert_effective("uniform", &m, options.solution, indicator);
    }
    model_destroy(&m);
    model_create(&options, &m);
    int hanging = 0;
    for (int step = 0; step < adaptive_steps; step++) {
        effectivity(&m, options.solution, indicator);
        assert_int_equal(fem_mark(m.context, NULL, m.space->num_elements, indicator, 0.4, mark, &marked), YOKE_OK);
        model_refine(&m, mark);
        assert_true(m.space->num_elements <= MOST);
        assert_effective("adaptive", &m, options.solution, indicator);
        hanging |= m.space->num_hanging > 0;
    }
    if (!hanging) fail_msg("%s, element %d: no adaptive step had hanging nodes", options.solution->name, element);
    model_destroy(&m);
}

static void check_elements(const model_options *options, int adaptive_steps)
{
    for (fem_element element = FEM_Q1; element <= FEM_Q2; element++) check(*options, element, adaptive_steps);
}

static const double nus[2] = {0.3, 0.45};

static void trigonometric_field_on_a_distorted_cube(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        manufactured solution = manufactured_trigonometric(210e9, nus[i]);
        check_elements(&(model_options){&solution, 0, {2, 2, 2}, 2, map_wave, NULL, 0, {7, 0, 7, 0, 0, 7, 0}}, 2);
    }
}

static void cubic_field_on_a_cube(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        manufactured solution = manufactured_cubic(210e9, nus[i]);
        check_elements(&(model_options){&solution, 0, {3, 2, 2}, 1, NULL, NULL, 0, {7, 0, 7, 0, 0, 7, 0}}, 2);
    }
}

static void thick_walled_cylinder_under_pressure(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        manufactured solution = manufactured_cylinder(210e9, nus[i], 1, 2, 5e6, 0);
        check_elements(&(model_options){&solution, 0, {2, 4, 1}, 2, cylinder_wall, NULL, 0, {0, 0, 2, 1, 4, 4, 0}}, 3);
    }
}

static void hollow_sphere_under_pressure(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        manufactured solution = manufactured_hollow_sphere(210e9, nus[i], 1, 2, 5e6, 1e6);
        check_elements(&(model_options){&solution, 0, {2, 2, 2}, 2, sphere_wall, NULL, 0, {7, 7, 7, 7, 0, 0, 0}}, 2);
    }
}

static void spherical_cavity_under_tension(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        manufactured solution = manufactured_cavity(210e9, nus[i], 1, 1e6);
        check_elements(&(model_options){&solution, 0, {2, 2, 2}, 2, around_cavity, NULL, 0, {7, 7, 7, 7, 0, 7, 0}}, 2);
    }
}

static void plate_with_hole_under_tension(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        manufactured solution = manufactured_plate(210e9, nus[i], 1, 1e6);
        check_elements(&(model_options){&solution, 0, {2, 4, 1}, 2, around_hole, NULL, 0, {0, 7, 2, 1, 4, 4, 0}}, 3);
    }
}

static void poisson_trigonometric_field_on_a_distorted_cube(void **state)
{
    manufactured solution = manufactured_poisson_trigonometric(50);
    (void)state;
    check_elements(&(model_options){&solution, 0, {2, 2, 2}, 2, map_wave, NULL, 0, {1, 0, 1, 0, 0, 1, 0}}, 2);
}

static void poisson_in_a_spherical_shell(void **state)
{
    manufactured solution = manufactured_poisson_sphere(50);
    (void)state;
    check_elements(&(model_options){&solution, 0, {2, 2, 2}, 2, sphere_wall, NULL, 0, {1, 1, 1, 1, 0, 0, 0}}, 2);
}

static void poisson_at_a_reentrant_edge(void **state)
{
    manufactured solution = manufactured_poisson_corner(50);
    (void)state;
    check_elements(&(model_options){&solution, 0, {2, 2, 1}, 1, ell, without_quadrant, 0, {1, 1, 1, 1, 0, 0, 1}}, 6);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(trigonometric_field_on_a_distorted_cube),
    cmocka_unit_test(cubic_field_on_a_cube),
    cmocka_unit_test(thick_walled_cylinder_under_pressure),
    cmocka_unit_test(hollow_sphere_under_pressure),
    cmocka_unit_test(spherical_cavity_under_tension),
    cmocka_unit_test(plate_with_hole_under_tension),
    cmocka_unit_test(poisson_trigonometric_field_on_a_distorted_cube),
    cmocka_unit_test(poisson_in_a_spherical_shell),
    cmocka_unit_test(poisson_at_a_reentrant_edge),
};

UNIT_MAIN(tests, body_start, body_end)
