/* Shape functions, quadrature, and the tables that say which slots lie on which face, edge and corner. */
#include "mesh/shape.h"

#include <math.h>

#include "unit.h"

#include "near.h"
#include "space/space.h"

static const double points[4][3] = {{0.31, 0.62, 0.17}, {0, 1, 0.5}, {0.9, 0.05, 0.44}, {-0.2, 1.3, 0.6}};

static void shape_functions_are_one_at_their_node_and_sum_to_one(void **state)
{
    (void)state;
    for (int n = 2; n <= 3; n++) {
        double value[27], r[3];
        for (int slot = 0; slot < n * n * n; slot++) {
            fem_slot_point(n, slot, r);
            fem_shape(n, r, value, NULL, NULL);
            for (int s = 0; s < n * n * n; s++) assert_near(value[s], s == slot, 1e-15);
        }
        for (int p = 0; p < 4; p++) {
            double gradient[81], hessian[162], sum = 0, slopes[3] = {0}, curves[6] = {0};
            fem_shape(n, points[p], value, gradient, hessian);
            for (int s = 0; s < n * n * n; s++) {
                sum += value[s];
                for (int a = 0; a < 3; a++) slopes[a] += gradient[3 * s + a];
                for (int k = 0; k < 6; k++) curves[k] += hessian[6 * s + k];
            }
            assert_near(sum, 1, 1e-14);
            for (int a = 0; a < 3; a++) assert_near(slopes[a], 0, 1e-13);
            for (int k = 0; k < 6; k++) assert_near(curves[k], 0, 1e-12);
        }
    }
}

/* Central differences are exact for the polynomials of degree 2 per direction, but for rounding. */
static void first_and_second_derivatives_agree_with_differences(void **state)
{
    static const int row[6] = {0, 1, 2, 1, 0, 0}, column[6] = {0, 1, 2, 2, 2, 1};
    const double h = 1e-3;
    (void)state;
    for (int n = 2; n <= 3; n++)
        for (int p = 0; p < 4; p++) {
            double gradient[81], hessian[162], low[27], high[27], low_slope[81], high_slope[81];
            fem_shape(n, points[p], NULL, gradient, hessian);
            for (int a = 0; a < 3; a++) {
                double below[3], above[3];
                memcpy(below, points[p], sizeof below);
                memcpy(above, points[p], sizeof above);
                below[a] -= h;
                above[a] += h;
                fem_shape(n, below, low, low_slope, NULL);
                fem_shape(n, above, high, high_slope, NULL);
                for (int s = 0; s < n * n * n; s++) {
                    assert_near(gradient[3 * s + a], (high[s] - low[s]) / (2 * h), 1e-11);
                    for (int k = 0; k < 6; k++)
                        if (row[k] == a)
                            assert_near(hessian[6 * s + k], (high_slope[3 * s + column[k]] - low_slope[3 * s + column[k]]) / (2 * h),
                                        1e-11);
                }
            }
        }
}

static void gauss_rules_are_exact_to_degree_2n_minus_1_and_not_further(void **state)
{
    (void)state;
    for (int n = 1; n <= 5; n++) {
        double point[5], weight[5];
        fem_gauss(n, point, weight);
        for (int degree = 0; degree <= 2 * n; degree++) {
            double sum = 0;
            for (int i = 0; i < n; i++) sum += weight[i] * pow(point[i], degree);
            if (degree < 2 * n)
                assert_near(sum, 1.0 / (degree + 1), 1e-15);
            else
                assert_true(fabs(sum - 1.0 / (degree + 1)) > 1e-7);
        }
        for (int i = 0; i < n; i++) assert_true(point[i] > 0 && point[i] < 1 && (i == 0 || point[i] > point[i - 1]));
    }
}

static void slots_of_faces_lie_on_them_in_order(void **state)
{
    (void)state;
    for (int n = 2; n <= 3; n++)
        for (int f = 0; f < 6; f++) {
            int slots[9];
            fem_face_slots(n, f, slots);
            for (int i = 0; i < n * n; i++) {
                double r[3], on_face[3];
                fem_slot_point(n, slots[i], r);
                fem_face_point(f, (double)(i % n) / (n - 1), (double)(i / n) / (n - 1), on_face);
                for (int a = 0; a < 3; a++) assert_near(r[a], on_face[a], 0);
                assert_near(r[f / 2], f % 2, 0);
            }
        }
}

/* Edges 0-3 run along x at (y, z) = 00 10 01 11, 4-7 along y at (x, z), 8-11 along z at (x, y). */
static void slots_of_edges_and_corners_lie_on_them_in_order(void **state)
{
    (void)state;
    for (int n = 2; n <= 3; n++) {
        for (int e = 0; e < 12; e++) {
            int slots[3], axis = e / 4, across[2] = {axis == 0 ? 1 : 0, axis == 2 ? 1 : 2};
            fem_edge_slots(n, e, slots);
            for (int i = 0; i < n; i++) {
                double r[3];
                fem_slot_point(n, slots[i], r);
                assert_near(r[axis], (double)i / (n - 1), 0);
                assert_near(r[across[0]], e & 1, 0);
                assert_near(r[across[1]], e >> 1 & 1, 0);
            }
        }
        for (int c = 0; c < 8; c++) {
            double r[3];
            fem_slot_point(n, fem_corner_slot(n, c), r);
            for (int a = 0; a < 3; a++) assert_near(r[a], c >> a & 1, 0);
        }
    }
}

static void map_of_an_affine_element_has_its_matrix_and_determinant(void **state)
{
    static const double matrix[3][3] = {{2, 0.3, -0.1}, {0.2, 1.5, 0.4}, {-0.3, 0.1, 0.7}};
    double determinant = 2 * (1.5 * 0.7 - 0.4 * 0.1) - 0.3 * (0.2 * 0.7 + 0.4 * 0.3) - 0.1 * (0.2 * 0.1 + 1.5 * 0.3);
    (void)state;
    for (int n = 2; n <= 3; n++) {
        double positions[81], gradient[81], jacobian[3][3], inverse[3][3];
        for (int s = 0; s < n * n * n; s++) {
            double r[3];
            fem_slot_point(n, s, r);
            for (int a = 0; a < 3; a++) positions[3 * s + a] = 5 + matrix[a][0] * r[0] + matrix[a][1] * r[1] + matrix[a][2] * r[2];
        }
        fem_shape(n, points[0], NULL, gradient, NULL);
        assert_near(fem_map(n * n * n, positions, gradient, jacobian, inverse), determinant, 1e-13);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                double product = 0;
                for (int k = 0; k < 3; k++) product += inverse[a][k] * matrix[k][b];
                assert_near(jacobian[a][b], matrix[a][b], 1e-13);
                assert_near(product, a == b, 1e-13);
            }
    }
}

static void map_of_a_flat_or_inverted_element_leaves_the_inverse_alone(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        double positions[24], gradient[24], inverse[3][3] = {{42}};
        for (int s = 0; s < 8; s++) {
            double r[3];
            fem_slot_point(2, s, r);
            for (int a = 0; a < 3; a++) positions[3 * s + a] = a == 2 ? (flat ? 0 : -r[2]) : r[a];
        }
        fem_shape(2, points[0], NULL, gradient, NULL);
        assert_near(fem_map(8, positions, gradient, NULL, inverse), flat ? 0 : -1, 1e-15);
        assert_near(inverse[0][0], 42, 0);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(shape_functions_are_one_at_their_node_and_sum_to_one),
    cmocka_unit_test(first_and_second_derivatives_agree_with_differences),
    cmocka_unit_test(gauss_rules_are_exact_to_degree_2n_minus_1_and_not_further),
    cmocka_unit_test(slots_of_faces_lie_on_them_in_order),
    cmocka_unit_test(slots_of_edges_and_corners_lie_on_them_in_order),
    cmocka_unit_test(map_of_an_affine_element_has_its_matrix_and_determinant),
    cmocka_unit_test(map_of_a_flat_or_inverted_element_leaves_the_inverse_alone),
};

UNIT_MAIN(tests, NULL, NULL)
