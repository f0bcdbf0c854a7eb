/* What the error estimate must be where it can be said by hand. */
#include "estimate/estimate.h"

#include <math.h>
#include <omp.h>

#include "unit.h"

#include "base/failing.h"
#include "fem/fixtures/body.h"
#include "fem/fixtures/model.h"
#include "mesh/shape.h"

/* The calibration constants of docs/methods/estimator.md. */
static double constant(fem_element element) { return element == FEM_Q1 ? 0.33 : 0.38; }
static int degree(fem_element element) { return element == FEM_Q1 ? 1 : 2; }

static void assert_close(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance * fabs(expected))) fail_msg("%.15g, expected %.15g within %g", value, expected, tolerance);
}

static fem_estimate_result estimate(const model *m, const double *u, double *indicator)
{
    fem_estimate_result result = {0, 0, 0};
    double *own = indicator ? indicator : malloc(sizeof(double) * (size_t)m->space->num_elements);
    assert_non_null(own);
    if (fem_estimate(m->space, m->boundary, u, own, &result)) fail_msg("%s", yoke_last_error(m->context));
    if (!indicator) free(own);
    return result;
}

static void shear(const double in[3], double out[3])
{
    out[0] = 1.1 * in[0] + 0.3 * in[1] - 0.1 * in[2];
    out[1] = 0.9 * in[1] + 0.2 * in[2];
    out[2] = 0.1 * in[0] + 1.2 * in[2];
}

/* --------------------------------------------------------------------------------- what must vanish */

static void assert_vanishes(const manufactured *solution, fem_element element, cube_map *map, const unsigned *prescribed)
{
    model_options options = {.solution = solution, .element = element, .elements = {2, 2, 2}, .order = 2, .map = map};
    model m;
    memcpy(options.prescribed, prescribed, sizeof options.prescribed);
    model_create(&options, &m);
    model_refine_unevenly(&m);
    model_refine_unevenly(&m);
    double *u = model_interpolant(&m, solution);
    fem_estimate_result result = estimate(&m, u, NULL);
    assert_true(result.energy_norm > 0.1);
    if (!(result.relative < 1e-12)) fail_msg("%s, element %d: %g", solution->name, element, result.relative);
    free(u);
    model_destroy(&m);
}

static const unsigned mixed[CUBE_GROUPS] = {7, 0, 1, 2, 0, 6, 0}, all_traction[CUBE_GROUPS];

static void a_linear_field_has_no_error_on_curved_meshes_with_hanging_faces(void **state)
{
    manufactured elastic = manufactured_linear(3, 0.3), scalar = manufactured_poisson_linear(3);
    (void)state;
    for (fem_element element = FEM_Q1; element <= FEM_Q2; element++) {
        assert_vanishes(&elastic, element, body_bend, mixed);
        assert_vanishes(&elastic, element, body_bend, all_traction);
        assert_vanishes(&scalar, element, body_bend, mixed);
    }
}

static void a_quadratic_field_has_no_error_with_second_order_elements_on_affine_meshes(void **state)
{
    manufactured elastic = manufactured_quadratic(3, 0.45), scalar = manufactured_poisson_quadratic(3);
    (void)state;
    for (fem_element element = FEM_S2; element <= FEM_Q2; element++) {
        assert_vanishes(&elastic, element, shear, mixed);
        assert_vanishes(&scalar, element, shear, all_traction);
    }
}

/* -------------------------------------------------------------------- single terms, worked out by hand */

/* The unit cube cut into bricks along x; loads are the conditions' own, zero at first. */
static void row(int count, fem_element element, const manufactured *solution, const unsigned *prescribed, model *m)
{
    model_options options = {.solution = solution, .element = element, .elements = {count, 1, 1}, .order = 1};
    memcpy(options.prescribed, prescribed, sizeof options.prescribed);
    model_create(&options, m);
    m->problem.fields = (fem_fields){.force = NULL};
}

static void fill(const model *m, double *u, int component, double slope)
{
    for (int32_t i = 0; i < m->space->num_nodes; i++) {
        double x = m->space->x[3 * i];
        u[m->space->components * i + component] = x > 0.5 ? slope * (x - 0.5) : 0;
    }
}

static const unsigned all_prescribed[CUBE_GROUPS] = {7, 7, 7, 7, 7, 7, 7};

/* Two half cubes: the slope of u_c jumps at the unit square in the middle; the square of the estimate for a jump of 1. */
static double kink(fem_element element, const manufactured *solution, int component, double factor, int refined)
{
    double u[3 * 200] = {0}, slope = 0.7;
    model m;
    row(2, element, solution, all_prescribed, &m);
    m.problem.materials[1].lambda *= factor;
    m.problem.materials[1].mu *= factor;
    if (refined) model_refine(&m, (uint8_t[]){1, 0});
    assert_true(m.space->num_nodes <= 200);
    fill(&m, u, component, slope);
    double value = estimate(&m, u, NULL).estimate;
    model_destroy(&m);
    return value * value / (slope * slope);
}

static void a_jump_counts_by_height_modulus_and_degree(void **state)
{
    manufactured elastic = manufactured_linear(3, 0.4), scalar = manufactured_poisson_linear(3);
    double mu = elastic.mu, normal = 2 * elastic.mu + elastic.lambda;
    (void)state;
    for (fem_element element = FEM_Q1; element <= FEM_Q2; element++) {
        double c2 = constant(element) * constant(element) / degree(element), h = 0.5; /* height of both sides; each has one half */
        assert_close(kink(element, &scalar, 0, 1, 0), c2 * h * scalar.mu, 1e-12);
        assert_close(kink(element, &elastic, 0, 1, 0), c2 * h * normal, 1e-12);
        assert_close(kink(element, &elastic, 1, 1, 0), c2 * h * mu, 1e-12);
        assert_close(kink(element, &elastic, 2, 1, 0), c2 * h * mu, 1e-12);
        /* The jump is that of the second side, whose moduli are 9 times as great; their mean is 5 times. */
        assert_close(kink(element, &scalar, 0, 9, 0), c2 * h * scalar.mu * 81 / 5, 1e-12);
        assert_close(kink(element, &elastic, 1, 9, 0), c2 * h * mu * 81 / 5, 1e-12);
        /* Heights 1/4 and 1/2 at the hanging face. */
        assert_close(kink(element, &scalar, 0, 1, 1), c2 * 0.375 * scalar.mu, 1e-12);
        assert_close(kink(element, &elastic, 0, 1, 1), c2 * 0.375 * normal, 1e-12);
    }
}

static void a_jump_goes_to_both_sides_in_equal_parts(void **state)
{
    manufactured scalar = manufactured_poisson_linear(3);
    double u[200] = {0}, indicator[9];
    model m;
    (void)state;
    row(2, FEM_Q2, &scalar, all_prescribed, &m);
    fill(&m, u, 0, 0.7);
    estimate(&m, u, indicator);
    assert_close(indicator[0], indicator[1], 1e-14);
    model_refine(&m, (uint8_t[]){1, 0});
    memset(u, 0, sizeof u);
    fill(&m, u, 0, 0.7);
    estimate(&m, u, indicator);
    double fine = 0;
    for (int e = 0; e < 8; e++) fine += indicator[e] * indicator[e];
    assert_close(fine, indicator[8] * indicator[8], 1e-12);
    model_destroy(&m);
}

static void given_tractions_and_forces_count_by_height_modulus_and_degree(void **state)
{
    manufactured elastic = manufactured_linear(3, 0.4);
    static const unsigned free_end[CUBE_GROUPS] = {7, 4, 7, 7, 7, 7, 7};
    double mu = elastic.mu, normal = 2 * elastic.mu + elastic.lambda, u[3 * 27] = {0};
    (void)state;
    for (fem_element element = FEM_Q1; element <= FEM_Q2; element++) {
        double c2 = constant(element) * constant(element) / degree(element);
        model m;
        row(1, element, &elastic, free_end, &m); /* of the face +x, the z component is prescribed */
        for (int i = 0; i < m.problem.num_conditions; i++) {
            fem_condition *condition = &m.problem.conditions[i];
            if (condition->kind == FEM_TRACTION) memcpy(condition->value, (double[3]){2, 3, 5}, sizeof condition->value);
        }
        fem_estimate_result result = estimate(&m, u, NULL);
        assert_close(result.estimate * result.estimate, c2 * (4 / normal + 9 / mu), 1e-12);
        assert_true(result.energy_norm == 0);
        assert_true(isinf(result.relative));
        for (int i = 0; i < m.problem.num_conditions; i++)
            if (m.problem.conditions[i].kind == FEM_TRACTION) m.problem.conditions[i].kind = FEM_PRESSURE;
        result = estimate(&m, u, NULL);
        assert_close(result.estimate * result.estimate, c2 * 4 / normal, 1e-12);
        for (int i = 0; i < m.problem.num_conditions; i++) memset(m.problem.conditions[i].value, 0, sizeof m.problem.conditions[i].value);
        assert_true(estimate(&m, u, NULL).estimate == 0);
        memcpy(m.problem.materials[0].force, (double[3]){1, -2, 3}, sizeof m.problem.materials[0].force);
        result = estimate(&m, u, NULL);
        assert_close(result.estimate * result.estimate, c2 / degree(element) * 14 / sqrt(mu * normal), 1e-12);
        model_destroy(&m);
    }
}

static void two_loads_on_one_face_add_up(void **state)
{
    manufactured scalar = manufactured_poisson_linear(3);
    static const unsigned free_end[CUBE_GROUPS] = {7, 0, 7, 7, 7, 7, 7};
    double u[27] = {0};
    model m;
    (void)state;
    row(1, FEM_Q1, &scalar, free_end, &m);
    fem_condition *conditions = m.problem.conditions, load = {0};
    for (int i = 0; i < m.problem.num_conditions; i++)
        if (conditions[i].kind == FEM_TRACTION) {
            conditions[i].value[0] = 2;
            load = conditions[i];
        }
    load.value[0] = 3;
    conditions[m.problem.num_conditions++] = load;
    fem_boundary_destroy(m.boundary);
    assert_int_equal(fem_boundary_create(m.space, &m.boundary), YOKE_OK);
    double value = estimate(&m, u, NULL).estimate;
    assert_close(value * value, constant(FEM_Q1) * constant(FEM_Q1) * 25 / 3, 1e-12);
    model_destroy(&m);
}

static void a_jump_over_a_support_inside_the_body_is_a_reaction(void **state)
{
    manufactured elastic = manufactured_linear(3, 0.4);
    double u[3 * 50] = {0};
    model m;
    (void)state;
    row(2, FEM_Q1, &elastic, all_prescribed, &m);
    fill(&m, u, 1, 0.7);
    assert_true(estimate(&m, u, NULL).estimate > 0.1);
    fem_group *group = &m.mesh->groups[fem_mesh_find_group(m.mesh, 2, "-y")]; /* has both elements' faces: moved between them */
    assert_int_equal(group->count, 2);
    for (int i = 0; i < 2; i++) group->local[i] = (int8_t)(group->element[i] == 0 ? 1 : 0);
    fem_boundary_destroy(m.boundary);
    assert_int_equal(fem_boundary_create(m.space, &m.boundary), YOKE_OK);
    /* What remains is the traction mu a along x on the bare side -y of the second brick: area 1/2, height 1. */
    double rest = estimate(&m, u, NULL).estimate;
    assert_close(rest * rest, constant(FEM_Q1) * constant(FEM_Q1) * 0.49 * elastic.mu * 0.5, 1e-12);
    model_destroy(&m);
}

/* ----------------------------------------------------------------- element residual on a curved element */

/* sigma at r of element e. */
static void stress_at(const model *m, const double *x, const double *u, const double r[3], double inverse[3][3], double sigma[9])
{
    double gradient[81], jacobian[3][3], g[3][3] = {{0}}, trace;
    const fem_material *material = &m->problem.materials[0];
    fem_shape(m->space->slots_1d, r, NULL, gradient, NULL);
    fem_map(m->space->slots, x, gradient, jacobian, inverse);
    for (int s = 0; s < m->space->slots; s++)
        for (int c = 0; c < 3; c++)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) g[c][i] += u[3 * s + c] * gradient[3 * s + j] * inverse[j][i];
    trace = g[0][0] + g[1][1] + g[2][2];
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 3; i++) sigma[3 * c + i] = material->mu * (g[c][i] + g[i][c]) + (c == i ? material->lambda * trace : 0);
}

/* Square of the residual's norm, with div sigma from differences of the stress, and the volume. */
static double volume_residual(const model *m, const double *x, const double *u, double *volume)
{
    const double h = 1e-4;
    int n = m->space->slots_1d;
    double point[3], weight[3], sum = 0;
    fem_gauss(n, point, weight);
    *volume = 0;
    for (int q = 0; q < n * n * n; q++) {
        double r[3] = {point[q % n], point[q / n % n], point[q / (n * n)]}, inverse[3][3], other[3][3], sigma[9], divergence[3] = {0};
        double gradient[81], jacobian[3][3];
        fem_shape(n, r, NULL, gradient, NULL);
        double w = weight[q % n] * weight[q / n % n] * weight[q / (n * n)] * fem_map(m->space->slots, x, gradient, jacobian, inverse);
        stress_at(m, x, u, r, inverse, sigma);
        for (int k = 0; k < 3; k++) {
            double low[3] = {r[0], r[1], r[2]}, high[3] = {r[0], r[1], r[2]}, s_low[9], s_high[9];
            low[k] -= h;
            high[k] += h;
            stress_at(m, x, u, low, other, s_low);
            stress_at(m, x, u, high, other, s_high);
            for (int c = 0; c < 3; c++)
                for (int j = 0; j < 3; j++) divergence[c] += (s_high[3 * c + j] - s_low[3 * c + j]) / (2 * h) * inverse[k][j];
        }
        for (int c = 0; c < 3; c++) sum += w * (divergence[c] + (c + 1)) * (divergence[c] + (c + 1));
        *volume += w;
    }
    return sum;
}

static void the_element_residual_agrees_with_differences_of_the_stress_on_a_curved_element(void **state)
{
    manufactured elastic = manufactured_linear(3, 0.3);
    (void)state;
    for (fem_element element = FEM_Q1; element <= FEM_Q2; element++) {
        model_options options = {.solution = &elastic, .element = element, .elements = {1, 1, 1}, .order = 2, .map = body_bend};
        double x[81], local[81], volume;
        model m;
        memcpy(options.prescribed, all_prescribed, sizeof all_prescribed); /* so that faces add nothing */
        model_create(&options, &m);
        m.problem.fields = (fem_fields){.force = NULL};
        for (int c = 0; c < 3; c++) m.problem.materials[0].force[c] = c + 1;
        double *u = calloc((size_t)(3 * m.space->num_nodes), sizeof *u);
        assert_non_null(u);
        for (int i = 0; i < 3 * m.space->num_nodes; i++) u[i] = sin(7.0 * i + 1); /* rough: all second derivatives count */
        fem_space_geometry(m.space, 0, x);
        fem_space_expand(m.space, 0, 3, u, local);
        double square = volume_residual(&m, x, local, &volume), h = cbrt(volume) / degree(element);
        double value = estimate(&m, u, NULL).estimate / constant(element);
        assert_close(value * value, h * h / sqrt(elastic.mu * (2 * elastic.mu + elastic.lambda)) * square, 1e-5);
        free(u);
        model_destroy(&m);
    }
}

/* ------------------------------------------------------------------------------------------ scaling */

static double scale_length = 1;

static void scaled_bend(const double in[3], double out[3])
{
    body_bend(in, out);
    for (int i = 0; i < 3; i++) out[i] *= scale_length;
}

static fem_estimate_result rough_estimate(fem_element element, double e, double length)
{
    manufactured elastic = manufactured_linear(e, 0.3);
    model_options options = {.solution = &elastic, .element = element, .elements = {2, 2, 2}, .order = 2, .map = scaled_bend};
    model m;
    scale_length = length;
    memcpy(options.prescribed, mixed, sizeof mixed);
    model_create(&options, &m);
    model_refine_unevenly(&m);
    m.problem.fields = (fem_fields){.force = NULL};
    double *u = malloc(sizeof *u * (size_t)(3 * m.space->num_nodes));
    assert_non_null(u);
    for (int i = 0; i < 3 * m.space->num_nodes; i++) u[i] = length * sin(7.0 * i + 1);
    fem_estimate_result result = estimate(&m, u, NULL);
    free(u);
    model_destroy(&m);
    return result;
}

/* Equal strains: energies grow with E L^3. */
static void estimate_and_energy_grow_with_the_root_of_modulus_and_volume(void **state)
{
    (void)state;
    for (fem_element element = FEM_Q1; element <= FEM_Q2; element++) {
        fem_estimate_result base = rough_estimate(element, 1, 1), stiff = rough_estimate(element, 4e11, 1),
                            small = rough_estimate(element, 1, 1e-3);
        assert_close(stiff.estimate, base.estimate * sqrt(4e11), 1e-10);
        assert_close(stiff.energy_norm, base.energy_norm * sqrt(4e11), 1e-10);
        assert_close(small.estimate, base.estimate * pow(1e-3, 1.5), 1e-10);
        assert_close(small.energy_norm, base.energy_norm * pow(1e-3, 1.5), 1e-10);
        assert_close(stiff.relative, base.relative, 1e-10);
        assert_close(base.relative, base.estimate / base.energy_norm, 1e-14);
    }
}

static void energy_norm_of_a_uniform_strain_is_density_times_volume(void **state)
{
    manufactured elastic = manufactured_linear(3, 0.3), scalar = manufactured_poisson_linear(3);
    (void)state;
    for (int k = 0; k < 2; k++) {
        const manufactured *solution = k ? &scalar : &elastic;
        model_options options = {.solution = solution, .element = FEM_Q2, .elements = {2, 1, 2}, .order = 1, .map = shear};
        double sigma[9], g[9], density = 0, volume = 1.1 * (0.9 * 1.2) - 0.3 * (0 * 1.2 - 0.2 * 0.1) - 0.1 * (0 - 0.9 * 0.1);
        model m;
        model_create(&options, &m);
        model_refine_unevenly(&m);
        double *u = model_interpolant(&m, solution), at[3] = {0.3, 0.3, 0.3};
        manufactured_stress(solution, at, sigma);
        solution->gradient(solution, at, g);
        for (int i = 0; i < 3 * solution->components; i++) density += sigma[i] * g[i];
        assert_close(estimate(&m, u, NULL).energy_norm, sqrt(density * volume), 1e-12);
        free(u);
        model_destroy(&m);
    }
}

static void the_interpolants_estimate_falls_with_the_order_of_the_element(void **state)
{
    manufactured solution[2] = {manufactured_trigonometric(3, 0.3), manufactured_poisson_trigonometric(3)};
    (void)state;
    for (fem_element element = FEM_Q1; element <= FEM_Q2; element++)
        for (int k = 0; k < 2; k++) {
            model_options options = {
                .solution = &solution[k], .element = element, .elements = {2, 2, 2}, .order = 2, .map = body_bend, .level = 1};
            double value[2];
            model m;
            memcpy(options.prescribed, mixed, sizeof mixed);
            model_create(&options, &m);
            for (int level = 0; level < 2; level++) {
                if (level) model_refine(&m, NULL);
                double *u = model_interpolant(&m, &solution[k]);
                value[level] = estimate(&m, u, NULL).estimate;
                free(u);
            }
            double order = log2(value[0] / value[1]);
            if (fabs(order - degree(element)) > 0.2) fail_msg("%s, element %d: order %g", solution[k].name, element, order);
            model_destroy(&m);
        }
}

/* ------------------------------------------------------------------------------------------- robustness */

static void the_estimate_does_not_depend_on_the_number_of_threads(void **state)
{
    manufactured solution = manufactured_trigonometric(3, 0.3);
    model_options options = {.solution = &solution, .element = FEM_Q2, .elements = {3, 2, 2}, .order = 2, .map = body_bend};
    model m;
    (void)state;
    memcpy(options.prescribed, mixed, sizeof mixed);
    model_create(&options, &m);
    model_refine_unevenly(&m);
    size_t bytes = sizeof(double) * (size_t)m.space->num_elements;
    double *u = model_interpolant(&m, &solution), *first = malloc(bytes), *second = malloc(bytes);
    int threads = omp_get_max_threads();
    assert_true(first && second);
    omp_set_num_threads(1);
    fem_estimate_result a = estimate(&m, u, first);
    omp_set_num_threads(3);
    fem_estimate_result b = estimate(&m, u, second);
    omp_set_num_threads(threads);
    assert_memory_equal(first, second, bytes);
    assert_true(a.estimate == b.estimate && a.energy_norm == b.energy_norm);
    free(first);
    free(second);
    free(u);
    model_destroy(&m);
}

static void a_solution_that_is_not_finite_is_refused_with_the_element(void **state)
{
    manufactured solution = manufactured_linear(3, 0.3);
    static const double bad[3] = {NAN, INFINITY, 1e200};
    double u[3 * 100] = {0}, indicator[4];
    fem_estimate_result result = {-1, -1, -1};
    model m;
    (void)state;
    row(4, FEM_Q2, &solution, mixed, &m);
    assert_true(m.space->num_nodes <= 100);
    for (int i = 0; i < 3; i++) {
        u[3 * m.space->element_nodes[3 * 27 + 13]] = bad[i]; /* the centre of the last element */
        assert_int_equal(fem_estimate(m.space, m.boundary, u, indicator, &result), YOKE_ERROR_NUMERIC);
        assert_non_null(strstr(yoke_last_error(m.context), "leaf 3"));
        assert_true(result.estimate == -1);
    }
    model_destroy(&m);
}

static void lack_of_memory_is_reported_at_each_allocation(void **state)
{
    manufactured solution = manufactured_linear(3, 0.3);
    failing memory = {.fail_at = 0};
    yoke_options options = failing_options(&memory);
    double u[3 * 100] = {0}, indicator[2];
    fem_estimate_result result;
    yoke_context *context;
    yoke_status status = YOKE_ERROR_MEMORY;
    int allowed = 0;
    model m;
    (void)state;
    row(2, FEM_Q2, &solution, mixed, &m);
    assert_int_equal(yoke_context_create(&options, &context), YOKE_OK);
    m.space->context = context;
    for (; status != YOKE_OK; allowed++) {
        failing_allow(&memory, allowed);
        status = fem_estimate(m.space, m.boundary, u, indicator, &result);
        if (status) assert_int_equal(status, YOKE_ERROR_MEMORY);
    }
    assert_true(allowed > 10);
    m.space->context = m.context;
    yoke_context_destroy(context);
    assert_int_equal(memory.outstanding, 0);
    model_destroy(&m);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_linear_field_has_no_error_on_curved_meshes_with_hanging_faces),
    cmocka_unit_test(a_quadratic_field_has_no_error_with_second_order_elements_on_affine_meshes),
    cmocka_unit_test(a_jump_counts_by_height_modulus_and_degree),
    cmocka_unit_test(a_jump_goes_to_both_sides_in_equal_parts),
    cmocka_unit_test(given_tractions_and_forces_count_by_height_modulus_and_degree),
    cmocka_unit_test(two_loads_on_one_face_add_up),
    cmocka_unit_test(a_jump_over_a_support_inside_the_body_is_a_reaction),
    cmocka_unit_test(the_element_residual_agrees_with_differences_of_the_stress_on_a_curved_element),
    cmocka_unit_test(estimate_and_energy_grow_with_the_root_of_modulus_and_volume),
    cmocka_unit_test(energy_norm_of_a_uniform_strain_is_density_times_volume),
    cmocka_unit_test(the_interpolants_estimate_falls_with_the_order_of_the_element),
    cmocka_unit_test(the_estimate_does_not_depend_on_the_number_of_threads),
    cmocka_unit_test(a_solution_that_is_not_finite_is_refused_with_the_element),
    cmocka_unit_test(lack_of_memory_is_reported_at_each_allocation),
};

UNIT_MAIN(tests, body_start, body_end)
