/* The element-by-element product of the CPU subdomain, in all its forms, against the plain sum over the elements. */
#include <math.h>

#include <omp.h>

#include "unit.h"

#include "base/failing.h"
#include "fem/fixtures/body.h"
#include "fem/fixtures/product.h"
#include "fem/fixtures/reference_operator.h"
#include "fem/fixtures/subdomain_settings.h"
#include "mesh/shape.h"
#include "near.h"

static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};

static void assert_products_of(fem_element element)
{
    for (int components = 1; components <= 3; components += 2) {
        block b;
        subdomain_create_hanging(&b, components);
        block_discretise(&b, element);
        product_assert_all(&b);
        block_destroy(&b);
    }
}

static void product_of_q1_is_the_plain_sum_over_elements(void **state)
{
    (void)state;
    assert_products_of(FEM_Q1);
}

static void product_of_s2_is_the_plain_sum_over_elements(void **state)
{
    (void)state;
    assert_products_of(FEM_S2);
}

static void product_of_q2_is_the_plain_sum_over_elements(void **state)
{
    (void)state;
    assert_products_of(FEM_Q2);
}

/* 16 single precision numbers are the longest vector there is. */
static void product_is_right_for_any_number_of_elements_in_the_last_vector(void **state)
{
    (void)state;
    for (int n = 1; n <= 17; n++)
        for (int components = 1; components <= 3; components += 2) {
            block b;
            block_options options = {.elements = {n, 1, 1}, .map = body_bend, .order = 2, .turn = 7, .components = components};
            block_create(&options, &b);
            block_discretise(&b, elements[n % 3]);
            product_assert_all(&b);
            block_destroy(&b);
        }
}

/*
 * An element can hang on the three faces that it shares with its parent, and on the three edges there that no hanging face has: 18
 * patterns, 17 of them with something hanging, for each of the 8 places in a family.
 */
static void product_is_right_for_every_pattern_of_hanging_faces_and_edges(void **state)
{
    (void)state;
    subdomain_setting settings[SUBDOMAIN_MAX_SETTINGS];
    uint8_t seen[FEM_FACE_CODES] = {0};
    uint64_t random = 9;
    int patterns = 0, count = subdomain_settings(settings);
    for (int bits = 0; bits < 64; bits++)
        for (int i = 0; i < 3; i++) {
            block b;
            block_create_pattern(&b, bits, bits % 2 ? 3 : 1);
            block_discretise(&b, elements[i]);
            for (int32_t e = 0; e < b.space->num_elements; e++) {
                assert_in_range(b.space->face_code[e], 0, FEM_FACE_CODES - 1);
                seen[b.space->face_code[e]] = 1;
            }
            double *u = block_random_array(subdomain_dofs(&b), &random), *expected = block_zeros(subdomain_dofs(&b), sizeof *expected);
            reference_product(b.space, u, expected);
            for (int k = (bits + i) % 13; k < count; k += 13) product_assert(&b, &settings[k], u, expected);
            free(expected);
            free(u);
            block_destroy(&b);
        }
    for (int code = 1; code < FEM_FACE_CODES; code++) patterns += seen[code];
    assert_int_equal(patterns, 8 * 17);
}

static void stored_and_matrixfree_products_agree(void **state)
{
    (void)state;
    for (int components = 1; components <= 3; components += 2)
        for (int i = 0; i < 3; i++) {
            block b;
            uint64_t random = 8;
            subdomain_create_hanging(&b, components);
            block_discretise(&b, elements[i]);
            double *u = block_random_array(subdomain_dofs(&b), &random), *y[2];
            for (int stored = 0; stored < 2; stored++) {
                fem_subdomain *subdomain =
                    subdomain_make(&b, 2, &(fem_subdomain_options){.operator_kind = stored ? FEM_STORED : FEM_MATRIXFREE});
                y[stored] = block_zeros(subdomain_dofs(&b), sizeof(double));
                subdomain_multiply(subdomain, 0, u, y[stored]);
                subdomain->call->destroy(subdomain);
            }
            assert_true(block_difference(y[1], y[0], subdomain_dofs(&b)) <= 1e-12);
            free(y[0]);
            free(y[1]);
            free(u);
            block_destroy(&b);
        }
}

static void product_is_symmetric(void **state)
{
    (void)state;
    subdomain_setting settings[SUBDOMAIN_MAX_SETTINGS];
    int count = subdomain_settings(settings);
    for (int i = 0; i < 3; i++) {
        block b;
        uint64_t random = 21;
        subdomain_create_hanging(&b, 3);
        block_discretise(&b, elements[i]);
        int64_t n = subdomain_dofs(&b);
        double *u = block_random_array(n, &random), *v = block_random_array(n, &random);
        double *au = block_zeros(n, sizeof *au), *av = block_zeros(n, sizeof *av);
        for (int k = 0; k < count; k++) {
            if (settings[k].options.precision != FEM_DOUBLE) continue;
            fem_subdomain *subdomain = subdomain_make(&b, settings[k].threads, &settings[k].options);
            subdomain_multiply(subdomain, 0, u, au);
            subdomain_multiply(subdomain, 0, v, av);
            assert_true(fabs(subdomain_dot(u, av, n) - subdomain_dot(v, au, n)) <=
                        1e-12 * sqrt(subdomain_dot(u, u, n) * subdomain_dot(av, av, n)));
            subdomain->call->destroy(subdomain);
        }
        free(av);
        free(au);
        free(v);
        free(u);
        block_destroy(&b);
    }
}

static void rigid_motion(const double x[3], int motion, double *u)
{
    u[0] = u[1] = u[2] = 0;
    if (motion < 3) {
        u[motion] = 1;
    } else {
        u[(motion + 1) % 3] = -x[(motion + 2) % 3];
        u[(motion + 2) % 3] = x[(motion + 1) % 3];
    }
}

static void assert_rigid_motions_need_no_force(const block *b, fem_operator operator_kind)
{
    int components = b->problem.components;
    fem_subdomain *subdomain = subdomain_make(b, 2, &(fem_subdomain_options){.operator_kind = operator_kind});
    double *u = block_zeros(subdomain_dofs(b), sizeof *u), *y = block_zeros(subdomain_dofs(b), sizeof *y);
    for (int motion = 0; motion < (components == 3 ? 6 : 1); motion++) {
        for (int64_t k = 0; k < b->space->num_nodes; k++) {
            double all[3];
            rigid_motion(b->space->x + 3 * k, motion, all);
            memcpy(u + k * components, all, sizeof(double) * (size_t)components);
        }
        subdomain_multiply(subdomain, 0, u, y);
        for (int64_t k = 0; k < subdomain_dofs(b); k++) assert_near(y[k], 0, 2e-12); /* moduli up to 10, values up to 1 */
    }
    free(y);
    free(u);
    subdomain->call->destroy(subdomain);
}

static void rigid_motions_and_constants_need_no_force(void **state)
{
    (void)state;
    for (int components = 1; components <= 3; components += 2)
        for (int i = 0; i < 3; i++) {
            block b;
            subdomain_create_hanging(&b, components);
            block_discretise(&b, elements[i]);
            assert_rigid_motions_need_no_force(&b, FEM_MATRIXFREE);
            assert_rigid_motions_need_no_force(&b, FEM_STORED);
            block_destroy(&b);
        }
}

static void products_repeat_bit_by_bit(void **state)
{
    (void)state;
    subdomain_setting settings[SUBDOMAIN_MAX_SETTINGS];
    int count = subdomain_settings(settings);
    block b;
    uint64_t random = 33;
    subdomain_create_hanging(&b, 3);
    block_discretise(&b, FEM_Q2);
    int64_t n = subdomain_dofs(&b);
    double *u = block_random_array(n, &random), *first = block_zeros(n, sizeof *first), *again = block_zeros(n, sizeof *again);
    for (int k = 0; k < count; k++) {
        fem_subdomain *subdomain = subdomain_make(&b, settings[k].threads, &settings[k].options),
                      *other = subdomain_make(&b, settings[k].threads, &settings[k].options);
        subdomain_multiply(subdomain, 0, u, first);
        for (int repeat = 0; repeat < 3; repeat++) {
            subdomain_multiply(repeat ? subdomain : other, 0, u, again);
            assert_memory_equal(again, first, sizeof(double) * (size_t)n);
        }
        subdomain->call->destroy(subdomain);
        other->call->destroy(other);
    }
    free(again);
    free(first);
    free(u);
    block_destroy(&b);
}

/* ---------------------------------------------------------------------------------------------------- diagonal */

/* Columns of the plain operator at one node: its block of the diagonal. */
static void true_block(const block *b, int64_t node, double *u, double *y, double columns[3][3])
{
    int n = b->problem.components;
    for (int c = 0; c < n; c++) {
        memset(u, 0, sizeof(double) * (size_t)subdomain_dofs(b));
        u[node * n + c] = 1;
        reference_product(b->space, u, y);
        for (int r = 0; r < n; r++) columns[r][c] = y[node * n + r];
    }
}

/* The block of B at a node, by applying it to unit vectors. */
static void inverse_block(fem_subdomain *subdomain, fem_subdomain_vector *r, fem_subdomain_vector *z, double *values, int64_t node,
                          double inverse[3][3])
{
    int n = subdomain->space->components;
    for (int c = 0; c < n; c++) {
        memset(values, 0, sizeof(double) * (size_t)subdomain->dofs);
        values[node * n + c] = 1;
        subdomain->call->write(subdomain, r, values);
        subdomain->call->block_solve(subdomain, r, z);
        subdomain->call->read_wait(subdomain, z, values);
        for (int k = 0; k < n; k++) inverse[k][c] = values[node * n + k];
    }
}

/* Each block of B times the true block of A is the unit matrix, up to `near`. */
static void assert_inverse_blocks(const block *b, const fem_subdomain_options *options, double near)
{
    int components = b->problem.components;
    fem_subdomain *subdomain = subdomain_make(b, 1, options);
    fem_subdomain_vector *r, *z;
    assert_int_equal(subdomain->call->vector_create(subdomain, &r), YOKE_OK);
    assert_int_equal(subdomain->call->vector_create(subdomain, &z), YOKE_OK);
    double *u = block_zeros(subdomain_dofs(b), sizeof *u), *y = block_zeros(subdomain_dofs(b), sizeof *y);
    for (int64_t node = 0; node < b->space->num_nodes; node++) {
        double truth[3][3], inverse[3][3];
        true_block(b, node, u, y, truth);
        inverse_block(subdomain, r, z, u, node, inverse);
        for (int row = 0; row < components; row++)
            for (int column = 0; column < components; column++) {
                double product = 0;
                for (int m = 0; m < components; m++) product += inverse[row][m] * truth[m][column];
                assert_near(product, row == column, near);
            }
    }
    subdomain->call->vector_destroy(subdomain, r);
    subdomain->call->vector_destroy(subdomain, z);
    free(y);
    free(u);
    subdomain->call->destroy(subdomain);
}

static void assert_inverse_blocks_of(fem_element element, double near_double, double near_single)
{
    const fem_kernels *kernels[FEM_MAX_KERNELS];
    int tables = fem_kernels_list(kernels);
    for (int components = 1; components <= 3; components += 2) {
        block b;
        block_options options = {.elements = {2, 2, 1}, .map = body_bend, .order = 2, .turn = 5, .components = components};
        block_create(&options, &b);
        block_two_materials(&b, 7);
        block_discretise(&b, element);
        for (int k = 0; k < tables; k++) {
            assert_inverse_blocks(&b, &(fem_subdomain_options){.precision = FEM_DOUBLE, .kernels = kernels[k]}, near_double);
            assert_inverse_blocks(&b, &(fem_subdomain_options){.precision = FEM_SINGLE, .kernels = kernels[k]}, near_single);
        }
        block_destroy(&b);
    }
}

static void blocks_invert_the_true_diagonal_where_nothing_hangs(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) assert_inverse_blocks_of(elements[i], 1e-12, 1e-5);
}

static void assert_positive_definite(int n, double m[3][3])
{
    double minor = m[0][0] * m[1][1] - m[0][1] * m[1][0];
    assert_true(isfinite(m[0][0]) && m[0][0] > 0);
    if (n == 1) return;
    double cofactor[2] = {m[1][2] * m[2][0] - m[1][0] * m[2][2], m[1][0] * m[2][1] - m[1][1] * m[2][0]};
    double determinant = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) + m[0][1] * cofactor[0] + m[0][2] * cofactor[1];
    assert_true(minor > 0 && determinant > 0);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++) assert_near(m[i][j], m[j][i], 1e-5 * sqrt(m[i][i] * m[j][j]));
}

static void blocks_are_positive_definite_where_nodes_hang(void **state)
{
    (void)state;
    for (int components = 1; components <= 3; components += 2)
        for (int i = 0; i < 3; i++)
            for (int precision = FEM_DOUBLE; precision <= FEM_SINGLE; precision++) {
                block b;
                subdomain_create_hanging(&b, components);
                block_discretise(&b, elements[i]);
                fem_subdomain *subdomain = subdomain_make(&b, 3, &(fem_subdomain_options){.precision = precision});
                fem_subdomain_vector *r, *z;
                assert_int_equal(subdomain->call->vector_create(subdomain, &r), YOKE_OK);
                assert_int_equal(subdomain->call->vector_create(subdomain, &z), YOKE_OK);
                double *u = block_zeros(subdomain_dofs(&b), sizeof *u);
                for (int64_t node = 0; node < b.space->num_nodes; node += 3) {
                    double inverse[3][3];
                    inverse_block(subdomain, r, z, u, node, inverse);
                    assert_positive_definite(components, inverse);
                }
                subdomain->call->vector_destroy(subdomain, r);
                subdomain->call->vector_destroy(subdomain, z);
                free(u);
                subdomain->call->destroy(subdomain);
                block_destroy(&b);
            }
}

/* --------------------------------------------------------------------------------------------- element matrices */

typedef struct matrices {
    const block *b;
    const double *u;
    double *y;
    int32_t *visits;
} matrices;

static void add_matrix(int32_t element, const double *packed, void *user)
{
    matrices *m = user;
    const fem_space *space = m->b->space;
    int n = space->components, size = 0;
    int32_t dof[81];
    for (int s = 0; s < space->slots; s++) {
        int32_t node = space->element_nodes[(int64_t)element * space->slots + s];
        for (int c = 0; node >= 0 && c < n; c++) dof[size++] = node * n + c;
    }
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++) m->y[dof[i]] += packed[i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i] * m->u[dof[j]];
    m->visits[element]++;
}

static void visited_element_matrices_add_up_to_the_product(void **state)
{
    (void)state;
    subdomain_setting settings[SUBDOMAIN_MAX_SETTINGS];
    int count = subdomain_settings(settings);
    for (int components = 1; components <= 3; components += 2)
        for (int i = 0; i < 3; i++) {
            block b;
            uint64_t random = 44;
            subdomain_create_hanging(&b, components);
            block_discretise(&b, elements[i]);
            int64_t n = subdomain_dofs(&b);
            double *u = block_random_array(n, &random), *expected = block_zeros(n, sizeof *expected);
            reference_product(b.space, u, expected);
            for (int k = i; k < count; k += 3) {
                fem_subdomain *subdomain = subdomain_make(&b, settings[k].threads, &settings[k].options);
                matrices m = {&b, u, block_zeros(n, sizeof(double)), block_zeros(b.space->num_elements, sizeof(int32_t))};
                assert_int_equal(subdomain->call->visit_matrices(subdomain, add_matrix, &m), YOKE_OK);
                for (int32_t e = 0; e < b.space->num_elements; e++) assert_int_equal(m.visits[e], 1);
                assert_true(block_difference(m.y, expected, n) <= product_tolerance(&settings[k]));
                free(m.visits);
                free(m.y);
                subdomain->call->destroy(subdomain);
            }
            free(expected);
            free(u);
            block_destroy(&b);
        }
}

/* ----------------------------------------------------------------------------------------------------- bad input */

/* The first element whose determinant is not positive at a point of the rule. */
static int32_t first_folded(const fem_space *space)
{
    int n = space->slots_1d;
    double point[3], weight[3];
    fem_gauss(n, point, weight);
    for (int32_t e = 0; e < space->num_elements; e++) {
        double x[81], gradient[81];
        fem_space_geometry(space, e, x);
        for (int q = 0; q < space->slots; q++) {
            fem_shape(n, (double[3]){point[q % n], point[q / n % n], point[q / (n * n)]}, NULL, gradient, NULL);
            if (!(fem_map(space->slots, x, gradient, NULL, NULL) > 1e-14)) return e;
        }
    }
    return -1;
}

static void folded_elements_are_reported_with_the_number_of_the_first(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        for (block_fault how = BLOCK_INSIDE_OUT; how <= BLOCK_NOT_A_NUMBER; how++)
            for (int precision = FEM_DOUBLE; precision <= FEM_SINGLE; precision++) {
                block b;
                fem_subdomain *subdomain = NULL;
                char expected[40];
                block_options options = {.elements = {8, 4, 5}, .order = 1, .turn = 0, .components = 3};
                block_create(&options, &b);
                block_discretise(&b, elements[i]);
                block_spoil(b.space, 50, how); /* one for each thread */
                block_spoil(b.space, 120, how);
                snprintf(expected, sizeof expected, "element %lld", (long long)b.mesh.element_tag[first_folded(b.space)]);
                fem_subdomain_options subdomain_options = {.precision = precision};
                omp_set_num_threads(2);
                assert_int_equal(fem_subdomain_cpu_create(b.space, b.constraints, &subdomain_options, &subdomain), YOKE_ERROR_INPUT);
                assert_null(subdomain);
                if (!strstr(yoke_last_error(b.context), expected)) fail_msg("\"%s\" lacks %s", yoke_last_error(b.context), expected);
                block_destroy(&b);
            }
}

static void lack_of_memory_at_any_place_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    for (int stored = 0; stored < 2; stored++) {
        failing memory = {0};
        yoke_options options = failing_options(&memory);
        block_options shape = {.elements = {5, 5, 6}, .order = 1, .turn = 5, .components = 3, .memory = &options};
        block b;
        block_create(&shape, &b);
        block_discretise(&b, FEM_Q1);
        int64_t outstanding = memory.outstanding;
        yoke_status status = YOKE_ERROR_MEMORY;
        for (int n = 1; status; n++) {
            fem_subdomain *subdomain = NULL;
            fem_subdomain_vector *x = NULL;
            memory.fail_at = memory.calls + n;
            fem_subdomain_options subdomain_options = {.operator_kind = stored ? FEM_STORED : FEM_MATRIXFREE};
            omp_set_num_threads(3);
            status = fem_subdomain_cpu_create(b.space, b.constraints, &subdomain_options, &subdomain);
            if (!status) status = subdomain->call->vector_create(subdomain, &x);
            matrices m = {&b, b.space->x, block_zeros(subdomain_dofs(&b), sizeof(double)),
                          block_zeros(b.space->num_elements, sizeof(int32_t))};
            if (!status) status = subdomain->call->visit_matrices(subdomain, add_matrix, &m);
            free(m.y);
            free(m.visits);
            assert_true(status == YOKE_OK || status == YOKE_ERROR_MEMORY);
            assert_true(n < 200 && (n > 20 || status));
            if (x) subdomain->call->vector_destroy(subdomain, x);
            if (subdomain) subdomain->call->destroy(subdomain);
            assert_int_equal(memory.outstanding, outstanding);
        }
        memory.fail_at = 0;
        block_destroy(&b);
        assert_int_equal(memory.outstanding, 0);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(product_of_q1_is_the_plain_sum_over_elements),
    cmocka_unit_test(product_of_s2_is_the_plain_sum_over_elements),
    cmocka_unit_test(product_of_q2_is_the_plain_sum_over_elements),
    cmocka_unit_test(product_is_right_for_any_number_of_elements_in_the_last_vector),
    cmocka_unit_test(product_is_right_for_every_pattern_of_hanging_faces_and_edges),
    cmocka_unit_test(stored_and_matrixfree_products_agree),
    cmocka_unit_test(product_is_symmetric),
    cmocka_unit_test(rigid_motions_and_constants_need_no_force),
    cmocka_unit_test(products_repeat_bit_by_bit),
    cmocka_unit_test(blocks_invert_the_true_diagonal_where_nothing_hangs),
    cmocka_unit_test(blocks_are_positive_definite_where_nodes_hang),
    cmocka_unit_test(visited_element_matrices_add_up_to_the_product),
    cmocka_unit_test(folded_elements_are_reported_with_the_number_of_the_first),
    cmocka_unit_test(lack_of_memory_at_any_place_is_reported_and_leaves_nothing),
};

UNIT_MAIN(tests, body_start, body_end)
