/* Error estimate and nodal stress, and each table of their kernels, against plain code of their definitions. */
#include <math.h>
#include <omp.h>

#include "unit.h"

#include "estimate/estimate.h"
#include "fem/fixtures/block.h"
#include "fem/fixtures/body.h"
#include "fem/fixtures/reference_estimate.h"
#include "mesh/shape.h"
#include "output/quantities/stress.h"
#include "reference_problem.h"

static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};

/* ---------------------------------------------------------------------------------------------- whole spaces */

static void assert_estimate(const block *b, const double *u, double tolerance)
{
    int32_t count = b->space->num_elements;
    double *expected = block_zeros(count, sizeof *expected), *value[2], sum = 0, c = constant(b->space->element);
    double energy = reference_estimate(b->space, b->boundary, u, expected);
    fem_estimate_result result[2];
    for (int32_t e = 0; e < count; e++) {
        sum += expected[e];
        expected[e] = c * sqrt(expected[e]);
    }
    for (int threads = 1; threads <= 2; threads++) {
        value[threads - 1] = block_zeros(count, sizeof *expected);
        omp_set_num_threads(threads);
        assert_int_equal(fem_estimate(b->space, b->boundary, u, value[threads - 1], &result[threads - 1]), YOKE_OK);
    }
    assert_memory_equal(value[0], value[1], sizeof(double) * (size_t)count);
    assert_true(result[0].estimate == result[1].estimate && result[0].energy_norm == result[1].energy_norm);
    for (int32_t e = 0; e < count; e++)
        if (!(fabs(value[0][e] - expected[e]) <= tolerance * expected[e]))
            fail_msg("element %d, leaf %d of %d: indicator %.17g, not %.17g", b->space->element, e, count, value[0][e], expected[e]);
    assert_true(fabs(result[0].estimate - c * sqrt(sum)) <= tolerance * c * sqrt(sum));
    assert_true(fabs(result[0].energy_norm - sqrt(energy)) <= tolerance * sqrt(energy));
    for (int i = 0; i < 2; i++) free(value[i]);
    free(expected);
}

static fem_stress *stress_with_threads(const block *b, const double *u, int threads)
{
    fem_stress *stress;
    omp_set_num_threads(threads);
    assert_int_equal(fem_stress_create(b->space, u, &stress), YOKE_OK);
    return stress;
}

static void assert_stress(const block *b, const double *u, double tolerance)
{
    int materials = b->problem.num_materials;
    int64_t pairs = (int64_t)b->space->num_nodes * materials, used = 0;
    double *expected = block_zeros(6 * pairs, sizeof *expected), difference = 0, largest = 0, von_mises = 0;
    int32_t *count = block_zeros(pairs, sizeof *count);
    fem_stress *stress = stress_with_threads(b, u, 1), *again = stress_with_threads(b, u, 2);
    reference_stress(b->space, u, expected, count);
    for (int64_t k = 0; k < pairs; k++) used += count[k] > 0;
    assert_int_equal(stress->points.num_nodes, used);
    for (int32_t i = 0; i < stress->points.num_nodes; i++) {
        int64_t pair = (int64_t)stress->node[i] * materials + stress->material[i];
        assert_true(count[pair] > 0);
        count[pair] = 0; /* each of them once */
        for (int c = 0; c < stress->tensor; c++) {
            difference = fmax(difference, fabs(stress->value[stress->tensor * i + c] - expected[6 * pair + c]));
            largest = fmax(largest, fabs(expected[6 * pair + c]));
        }
        von_mises = fmax(von_mises, fem_von_mises(expected + 6 * pair));
    }
    if (!(difference <= tolerance * largest)) fail_msg("element %d: stresses differ by %g", b->space->element, difference / largest);
    if (stress->tensor == 6) assert_true(fabs(stress->max_von_mises_pa - von_mises) <= tolerance * von_mises);
    assert_int_equal(again->points.num_nodes, stress->points.num_nodes);
    assert_memory_equal(stress->value, again->value, sizeof(double) * (size_t)(stress->tensor * stress->points.num_nodes));
    fem_stress_destroy(stress);
    fem_stress_destroy(again);
    free(expected);
    free(count);
}

static void assert_both(const block *b, uint64_t *random)
{
    double *u[2] = {random_solution(b, random), smooth_solution(b)};
    int threads = omp_get_max_threads();
    for (int i = 0; i < 2; i++) {
        assert_estimate(b, u[i], 1e-10);
        assert_stress(b, u[i], 1e-10);
        free(u[i]);
    }
    omp_set_num_threads(threads);
}

static void estimate_and_stress_are_as_defined_for_any_number_of_elements(void **state)
{
    static const int count[6][3] = {{1, 1, 1}, {2, 1, 1}, {1, 1, 5}, {7, 1, 1}, {3, 3, 1}, {2, 2, 2}};
    uint64_t random = 3;
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int bits = 0; bits < 16; bits += KIND_STEP)
            for (int k = bits % 2; k < 6; k += 2) {
                kind own = kind_number(bits);
                block b;
                create(&own, count[(k + bits / 2) % 6], k < 2 ? 0 : 5 + k, &b);
                block_discretise(&b, elements[i]);
                assert_both(&b, &random);
                block_destroy(&b);
            }
}

static void estimate_and_stress_are_as_defined_where_nodes_hang(void **state)
{
    static const int count[3][3] = {{1, 1, 1}, {2, 1, 1}, {2, 2, 1}};
    uint64_t random = 17;
    int64_t hanging = 0;
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int bits = 0; bits < 16; bits += KIND_STEP) {
            kind own = kind_number(bits);
            block b;
            create(&own, count[(bits + i) % 3], 7 * (bits % 3), &b);
            while (fem_forest_leaves(b.forest) < 15) block_refine(&b, 0.3, &random);
            block_discretise(&b, elements[i]);
            hanging += b.space->num_hanging;
            assert_both(&b, &random);
            block_destroy(&b);
        }
    assert_true(hanging > 1000 / KIND_STEP);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(estimate_and_stress_are_as_defined_for_any_number_of_elements),
    cmocka_unit_test(estimate_and_stress_are_as_defined_where_nodes_hang),
};

UNIT_MAIN(tests, body_start, body_end)
