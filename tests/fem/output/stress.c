#include "output/quantities/stress.h"

#include <math.h>
#include <omp.h>

#include "fem/fixtures/body.h"
#include "unit.h"

#define MODULUS 210e9
#define NU 0.3

/* Exact tensor in the order of fem_stress; moduli are those of material m of a body. */
static void exact_tensor(const manufactured *solution, int m, const double x[3], double *tensor)
{
    double s[9];
    manufactured scaled = *solution;
    if (solution->components == 1) {
        solution->gradient(solution, x, tensor);
        return;
    }
    scaled.lambda *= m + 1;
    scaled.mu *= m + 1;
    manufactured_stress(&scaled, x, s);
    const double ordered[6] = {s[0], s[4], s[8], s[5], s[2], s[1]};
    memcpy(tensor, ordered, sizeof ordered);
}

typedef struct deviation {
    double largest; /* difference from the exact tensor, over points and all slots of all elements */
    double scale;   /* largest exact component */
} deviation;

static deviation compare(const body *b, const fem_stress *stress, const manufactured *solution)
{
    deviation d = {0, 0};
    double exact[6], local[27 * 6], x[27 * 3];
    int n = stress->tensor;
    for (int32_t i = 0; i < stress->points.num_nodes; i++) {
        exact_tensor(solution, stress->material[i], b->space->x + 3 * (int64_t)stress->node[i], exact);
        for (int c = 0; c < n; c++) {
            d.largest = fmax(d.largest, fabs(stress->value[n * i + c] - exact[c]));
            d.scale = fmax(d.scale, fabs(exact[c]));
        }
    }
    for (int32_t e = 0; e < b->space->num_elements; e++) {
        fem_stress_expand(stress, e, local);
        fem_space_geometry(b->space, e, x);
        for (int slot = 0; slot < b->space->slots; slot++) {
            exact_tensor(solution, b->problem.material_of[b->space->tree[e]], x + 3 * slot, exact);
            for (int c = 0; c < n; c++) d.largest = fmax(d.largest, fabs(local[n * slot + c] - exact[c]));
        }
    }
    return d;
}

static deviation recover_and_compare(const body_options *options)
{
    body b;
    fem_stress *stress;
    body_create(options, &b);
    double *u = body_values(&b, options->solution);
    assert_int_equal(fem_stress_create(b.space, u, &stress), YOKE_OK);
    deviation d = compare(&b, stress, options->solution);
    fem_stress_destroy(stress);
    free(u);
    body_destroy(&b);
    return d;
}

static void linear_displacement_gives_its_constant_stress_on_bent_elements_with_hanging_nodes(void **state)
{
    (void)state;
    manufactured elasticity = manufactured_linear(MODULUS, NU), poisson = manufactured_poisson_linear(3.0);
    for (int element = FEM_Q1; element <= FEM_Q2; element++)
        for (int order = 1; order <= 2; order++)
            for (int materials = 1; materials <= 2; materials++) {
                body_options options = {.elements = {4, 2, 2},
                                        .map = body_bend,
                                        .order = order,
                                        .element = (fem_element)element,
                                        .uneven = 3,
                                        .materials = materials,
                                        .solution = &elasticity};
                deviation d = recover_and_compare(&options);
                assert_true(d.scale > 0 && d.largest <= 1e-11 * d.scale);
                options.solution = &poisson;
                d = recover_and_compare(&options);
                assert_true(d.scale > 0 && d.largest <= 1e-11 * d.scale);
            }
}

static void quadratic_displacement_gives_its_linear_stress_with_hanging_nodes(void **state)
{
    (void)state;
    manufactured elasticity = manufactured_quadratic(MODULUS, NU), poisson = manufactured_poisson_quadratic(3.0);
    const fem_element elements[2] = {FEM_S2, FEM_Q2};
    for (int i = 0; i < 2; i++) {
        body_options options = {.elements = {4, 3, 2}, .order = 1, .element = elements[i], .uneven = 3, .solution = &elasticity};
        deviation d = recover_and_compare(&options);
        assert_true(d.scale > 0 && d.largest <= 1e-11 * d.scale);
        options.solution = &poisson;
        d = recover_and_compare(&options);
        assert_true(d.scale > 0 && d.largest <= 1e-11 * d.scale);
    }
}

/* A quarter of a cylinder about z, radii 1 and 2. */
static void cylinder_map(const double in[3], double out[3])
{
    double radius = 1 + in[0], angle = 0.5 * 3.14159265358979323846 * in[1];
    out[0] = radius * cos(angle);
    out[1] = radius * sin(angle);
    out[2] = 0.25 * in[2];
}

/* Largest relative error of the nodal stress where the displacements are those of Lame's solution, n elements through the wall. */
static double lame_error(fem_element element, int n)
{
    manufactured cylinder = manufactured_cylinder(MODULUS, NU, 1, 2, 1e6, 0);
    body_options options = {.elements = {n, 2 * n, 1}, .map = cylinder_map, .order = 2, .element = element, .solution = &cylinder};
    deviation d = recover_and_compare(&options);
    return d.largest / d.scale;
}

static void stress_of_lames_cylinder_converges_with_second_order_for_quadratic_elements(void **state)
{
    (void)state;
    const fem_element elements[2] = {FEM_S2, FEM_Q2};
    for (int i = 0; i < 2; i++) {
        double coarse = lame_error(elements[i], 4), fine = lame_error(elements[i], 8), finest = lame_error(elements[i], 16);
        assert_true(log2(coarse / fine) > 1.7 && log2(fine / finest) > 1.85);
        assert_true(fine < 0.01);
    }
}

static void stress_of_lames_cylinder_converges_with_first_order_for_linear_elements(void **state)
{
    (void)state;
    double coarse = lame_error(FEM_Q1, 8), fine = lame_error(FEM_Q1, 16);
    assert_true(log2(coarse / fine) > 0.9);
    assert_true(fine < 0.1);
}

static void materials_are_never_averaged(void **state)
{
    (void)state;
    manufactured solution = manufactured_linear(MODULUS, NU);
    for (int element = FEM_Q1; element <= FEM_Q2; element++) {
        body_options options = {.elements = {4, 2, 2},
                                .map = body_distort,
                                .order = 2,
                                .element = (fem_element)element,
                                .uneven = 2,
                                .materials = 2,
                                .solution = &solution};
        body b;
        fem_stress *stress;
        body_create(&options, &b);
        double *u = body_values(&b, &solution), exact[6];
        assert_int_equal(fem_stress_create(b.space, u, &stress), YOKE_OK);
        deviation d = compare(&b, stress, &solution);
        assert_true(d.largest <= 1e-11 * d.scale);
        /* Each node of the plane between the halves, and no other, has a point in both materials. */
        int32_t between = 0;
        for (int32_t i = 0; i < b.space->num_nodes; i++) between += fabs(b.space->x[3 * i] - 0.5) < 1e-12;
        for (int32_t i = 0; i < stress->points.num_nodes; i++) {
            double x = b.space->x[3 * stress->node[i]];
            assert_true(fabs(x - 0.5) < 1e-9 || (x > 0.5) == (stress->material[i] == 1));
        }
        assert_true(between > 0);
        assert_int_equal(stress->points.num_nodes, b.space->num_nodes + between);
        /* The largest von Mises stress is that of the stiffer half. */
        exact_tensor(&solution, 1, b.space->x, exact);
        assert_true(fabs(stress->max_von_mises_pa - fem_von_mises(exact)) <= 1e-10 * fem_von_mises(exact));
        fem_stress_destroy(stress);
        free(u);
        body_destroy(&b);
    }
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    manufactured solution = manufactured_trigonometric(MODULUS, NU);
    body_options options = {
        .elements = {4, 3, 2}, .map = body_bend, .order = 2, .element = FEM_Q2, .uneven = 3, .materials = 2, .solution = &solution};
    body b;
    body_create(&options, &b);
    double *u = body_values(&b, &solution);
    fem_stress *one, *many;
    int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    assert_int_equal(fem_stress_create(b.space, u, &one), YOKE_OK);
    omp_set_num_threads(5);
    assert_int_equal(fem_stress_create(b.space, u, &many), YOKE_OK);
    omp_set_num_threads(threads);
    assert_int_equal(one->points.num_nodes, many->points.num_nodes);
    assert_memory_equal(one->value, many->value, sizeof(double) * 6 * (size_t)one->points.num_nodes);
    assert_true(one->max_von_mises_pa == many->max_von_mises_pa);
    fem_stress_destroy(one);
    fem_stress_destroy(many);
    free(u);
    body_destroy(&b);
}

static void a_stress_that_is_not_finite_is_an_error(void **state)
{
    (void)state;
    const double bad[3] = {NAN, INFINITY, 1e300};
    manufactured solution = manufactured_linear(MODULUS, NU);
    body_options options = {.elements = {2, 2, 2}, .order = 1, .element = FEM_Q2, .solution = &solution};
    body b;
    body_create(&options, &b);
    double *u = body_values(&b, &solution);
    for (int i = 0; i < 3; i++) {
        fem_stress *stress = NULL;
        u[17] = bad[i];
        assert_int_equal(fem_stress_create(b.space, u, &stress), YOKE_ERROR_NUMERIC);
        assert_null(stress);
        assert_non_null(strstr(yoke_last_error(b.context), "finite"));
    }
    free(u);
    body_destroy(&b);
}

static void von_mises_of_simple_states(void **state)
{
    (void)state;
    const double tension[6] = {0, -7e6, 0, 0, 0, 0}, pressure[6] = {3e6, 3e6, 3e6, 0, 0, 0}, shear[6] = {0, 0, 0, 0, 2e6, 0};
    assert_true(fabs(fem_von_mises(tension) - 7e6) < 1e-6);
    assert_true(fem_von_mises(pressure) == 0);
    assert_true(fabs(fem_von_mises(shear) - sqrt(3.0) * 2e6) < 1e-6);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(linear_displacement_gives_its_constant_stress_on_bent_elements_with_hanging_nodes),
    cmocka_unit_test(quadratic_displacement_gives_its_linear_stress_with_hanging_nodes),
    cmocka_unit_test(stress_of_lames_cylinder_converges_with_second_order_for_quadratic_elements),
    cmocka_unit_test(stress_of_lames_cylinder_converges_with_first_order_for_linear_elements),
    cmocka_unit_test(materials_are_never_averaged),
    cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
    cmocka_unit_test(a_stress_that_is_not_finite_is_an_error),
    cmocka_unit_test(von_mises_of_simple_states),
};

UNIT_MAIN(tests, body_start, body_end)
