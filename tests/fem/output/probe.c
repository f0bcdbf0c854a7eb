#include "output/quantities/probe.h"

#include <math.h>

#include "fem/fixtures/body.h"
#include "unit.h"

/* A repeatable sequence in [0,1]. */
static double next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state / 4294967295.0;
}

static void check_polynomial(const body_options *options)
{
    body b;
    fem_stress *stress;
    body_create(options, &b);
    double *u = body_values(&b, options->solution);
    assert_int_equal(fem_stress_create(b.space, u, &stress), YOKE_OK);
    enum { COUNT = 200 };
    fem_probe probes[COUNT];
    fem_probe_value values[COUNT];
    uint32_t random = 7;
    for (int i = 0; i < COUNT; i++) {
        double in[3];
        for (int a = 0; a < 3; a++) in[a] = 0.05 + 0.9 * next_random(&random);
        probes[i].name = "random";
        if (options->map)
            options->map(in, probes[i].x);
        else
            memcpy(probes[i].x, in, sizeof in);
    }
    assert_int_equal(fem_probes_check(b.space, COUNT, probes), YOKE_OK);
    assert_int_equal(fem_probes_evaluate(b.space, u, stress, COUNT, probes, values), YOKE_OK);
    int components = b.space->components;
    for (int i = 0; i < COUNT; i++) {
        double exact[3], sigma[9];
        options->solution->value(options->solution, probes[i].x, exact);
        for (int c = 0; c < components; c++) assert_true(fabs(values[i].value[c] - exact[c]) <= 1e-10 * (1e-3 + fabs(exact[c])));
        if (components == 1) {
            options->solution->gradient(options->solution, probes[i].x, sigma);
            for (int c = 0; c < 3; c++) assert_true(fabs(values[i].tensor[c] - sigma[c]) <= 1e-9 * (1 + fabs(sigma[c])));
            assert_true(isnan(values[i].von_mises_pa));
            continue;
        }
        manufactured_stress(options->solution, probes[i].x, sigma);
        const double ordered[6] = {sigma[0], sigma[4], sigma[8], sigma[5], sigma[2], sigma[1]};
        double von_mises = fem_von_mises(ordered);
        for (int c = 0; c < 6; c++) assert_true(fabs(values[i].tensor[c] - ordered[c]) <= 1e-9 * von_mises);
        assert_true(fabs(values[i].von_mises_pa - von_mises) <= 1e-9 * von_mises);
    }
    fem_stress_destroy(stress);
    free(u);
    body_destroy(&b);
}

static void probes_reproduce_linear_fields_on_bent_elements(void **state)
{
    (void)state;
    manufactured elasticity = manufactured_linear(210e9, 0.3), poisson = manufactured_poisson_linear(2);
    for (int element = FEM_Q1; element <= FEM_Q2; element++)
        for (int i = 0; i < 2; i++) {
            body_options options = {.elements = {3, 3, 3},
                                    .map = body_bend,
                                    .order = 2,
                                    .element = (fem_element)element,
                                    .uneven = 3,
                                    .solution = i ? &poisson : &elasticity};
            check_polynomial(&options);
        }
}

static void probes_reproduce_quadratic_fields_and_their_stress(void **state)
{
    (void)state;
    manufactured elasticity = manufactured_quadratic(210e9, 0.3), poisson = manufactured_poisson_quadratic(2);
    for (int element = FEM_S2; element <= FEM_Q2; element++)
        for (int i = 0; i < 2; i++) {
            body_options options = {
                .elements = {3, 2, 4}, .order = 1, .element = (fem_element)element, .uneven = 3, .solution = i ? &poisson : &elasticity};
            check_polynomial(&options);
        }
}

static void a_point_between_elements_belongs_to_the_first(void **state)
{
    (void)state;
    manufactured solution = manufactured_linear(1, 0.3);
    body_options options = {.elements = {3, 2, 2}, .map = body_bend, .order = 2, .element = FEM_Q2, .uneven = 2, .solution = &solution};
    body b;
    fem_locator *locator;
    body_create(&options, &b);
    assert_int_equal(fem_locator_create(b.space, &locator), YOKE_OK);
    int64_t slots = b.space->slots * (int64_t)b.space->num_elements;
    int32_t *first = malloc(sizeof *first * (size_t)b.space->num_nodes), *coincident = malloc(sizeof *coincident * (size_t)slots);
    assert_true(first && coincident);
    fem_coincident_nodes(b.space, coincident);
    for (int64_t k = slots - 1; k >= 0; k--)
        if (coincident[k] >= 0) first[coincident[k]] = (int32_t)(k / b.space->slots);
    for (int32_t i = 0; i < b.space->num_nodes; i++) {
        fem_location location;
        fem_locator_find(locator, b.space->x + 3 * (int64_t)i, &location);
        assert_int_equal(location.element, first[i]);
        assert_true(location.distance_m == 0);
    }
    free(first);
    free(coincident);
    fem_locator_destroy(locator);
    body_destroy(&b);
}

static void the_nearest_point_of_a_cuboid_is_found_from_all_sides(void **state)
{
    (void)state;
    manufactured solution = manufactured_linear(1, 0.3);
    for (int element = FEM_Q1; element <= FEM_Q2; element++) {
        body_options options = {
            .elements = {3, 2, 2}, .map = body_distort, .order = 2, .element = (fem_element)element, .uneven = 2, .solution = &solution};
        body b;
        fem_locator *locator;
        body_create(&options, &b);
        assert_int_equal(fem_locator_create(b.space, &locator), YOKE_OK);
        uint32_t random = 11;
        for (int i = 0; i < 300; i++) {
            double x[3], nearest[3], square = 0, range = i % 3 == 0 ? 100 : 2;
            for (int a = 0; a < 3; a++) {
                x[a] = 0.5 + range * (next_random(&random) - 0.5);
                nearest[a] = fmin(fmax(x[a], 0), 1);
                square += (x[a] - nearest[a]) * (x[a] - nearest[a]);
            }
            fem_location location;
            fem_locator_find(locator, x, &location);
            assert_true(fabs(location.distance_m - sqrt(square)) <= 1e-8 * (1 + sqrt(square)));
            /* Far away, rounding in the distance hides small movements of the point. */
            for (int a = 0; a < 3; a++) assert_true(fabs(location.x[a] - nearest[a]) <= 1e-5 * (1 + sqrt(square)));
        }
        fem_locator_destroy(locator);
        body_destroy(&b);
    }
}

static void probes_outside_are_refused_with_the_nearest_point(void **state)
{
    (void)state;
    manufactured solution = manufactured_linear(1, 0.3);
    body_options options = {.elements = {4, 4, 4}, .order = 1, .element = FEM_Q2, .solution = &solution};
    body b;
    body_create(&options, &b);
    const fem_probe good[2] = {{"corner", {1, 1, 1}}, {"rounded", {1 + 1e-5, 0.3, 0.3}}};
    assert_int_equal(fem_probes_check(b.space, 2, good), YOKE_OK);
    assert_int_equal(fem_probes_check(b.space, 0, NULL), YOKE_OK);
    const fem_probe bad[2] = {{"tip", {0.5, 0.5, 0.5}}, {"away", {1.5, 0.25, -0.5}}};
    assert_int_equal(fem_probes_check(b.space, 2, bad), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(b.context), "\"away\" at (1.5, 0.25, -0.5)"));
    assert_non_null(strstr(yoke_last_error(b.context), "outside the body: the nearest point is (1, 0.25, 0), 0.707 away"));
    const fem_probe close = {"close", {0.5, 1.002, 0.5}};
    assert_int_equal(fem_probes_check(b.space, 1, &close), YOKE_ERROR_INPUT);
    const fem_probe hostile[3] = {{"nan", {NAN, 0, 0}}, {"infinite", {0, -INFINITY, 0}}, {"huge", {1e308, -1e308, 0}}};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fem_probes_check(b.space, 1, &hostile[i]), YOKE_ERROR_INPUT);
        assert_non_null(strstr(yoke_last_error(b.context), hostile[i].name));
    }
    body_destroy(&b);
}

static void memory_may_end_anywhere(void **state)
{
    (void)state;
    manufactured solution = manufactured_linear(1, 0.3);
    body_options options = {.elements = {2, 2, 2}, .order = 2, .element = FEM_Q1, .uneven = 1, .solution = &solution};
    body b;
    fem_stress *stress;
    body_create(&options, &b);
    double *u = body_values(&b, &solution);
    assert_int_equal(fem_stress_create(b.space, u, &stress), YOKE_OK);
    const fem_probe probe = {"inside", {0.5, 0.4, 0.3}};
    yoke_status status = YOKE_ERROR_MEMORY;
    int failures = 0;
    for (int64_t blocks = 0; status != YOKE_OK && blocks < 1000; blocks++) {
        fem_probe_value value;
        b.blocks_left = blocks;
        status = fem_probes_check(b.space, 1, &probe);
        if (status == YOKE_OK) status = fem_probes_evaluate(b.space, u, stress, 1, &probe, &value);
        failures += status == YOKE_ERROR_MEMORY;
        assert_true(status == YOKE_OK || status == YOKE_ERROR_MEMORY);
    }
    assert_int_equal(status, YOKE_OK);
    assert_true(failures > 10);
    b.blocks_left = INT64_MAX;
    fem_stress_destroy(stress);
    free(u);
    body_destroy(&b);
}

/* A quarter of a cylinder about z, radii 1 and 2. */
static void cylinder_map(const double in[3], double out[3])
{
    double radius = 1 + in[0], angle = 0.5 * 3.14159265358979323846 * in[1];
    out[0] = radius * cos(angle);
    out[1] = radius * sin(angle);
    out[2] = 0.25 * in[2];
}

static void probes_on_a_true_circle_are_inside_for_every_element_type(void **state)
{
    (void)state;
    manufactured solution = manufactured_linear(1, 0.3);
    for (int element = FEM_Q1; element <= FEM_Q2; element++) {
        body_options options = {
            .elements = {4, 8, 1}, .map = cylinder_map, .order = 2, .element = (fem_element)element, .solution = &solution};
        body b;
        body_create(&options, &b);
        for (int i = 0; i <= 50; i++) {
            double in[3] = {i % 2, i / 50.0, 0.5};
            fem_probe probe = {.name = "bore"};
            cylinder_map(in, probe.x);
            assert_int_equal(fem_probes_check(b.space, 1, &probe), YOKE_OK);
        }
        const fem_probe bore = {"in the bore", {0.69, 0.69, 0.1}};
        assert_int_equal(fem_probes_check(b.space, 1, &bore), YOKE_ERROR_INPUT);
        body_destroy(&b);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(probes_reproduce_linear_fields_on_bent_elements),
    cmocka_unit_test(probes_reproduce_quadratic_fields_and_their_stress),
    cmocka_unit_test(a_point_between_elements_belongs_to_the_first),
    cmocka_unit_test(the_nearest_point_of_a_cuboid_is_found_from_all_sides),
    cmocka_unit_test(probes_outside_are_refused_with_the_nearest_point),
    cmocka_unit_test(memory_may_end_anywhere),
    cmocka_unit_test(probes_on_a_true_circle_are_inside_for_every_element_type),
};

UNIT_MAIN(tests, body_start, body_end)
