/* Products, node blocks and matrices of the device subdomain, against plain sums over the elements and against the CPU subdomain. */
#include <math.h>

#include "unit.h"

#include "fem/fixtures/body.h"
#include "fem/fixtures/reference_operator.h"
#include "fem/fixtures/subdomain_cut.h"
#include "fem/fixtures/subdomain_device_fixture.h"
#include "fem/fixtures/subdomain_settings.h"

static const char *describe(const block *b, const fem_subdomain_options *o, char text[80])
{
    snprintf(text, 80, "%s, %d components, %d elements, %s, %s", device_element_names[b->space->element], b->problem.components,
             b->space->num_elements, o->precision == FEM_DOUBLE ? "double" : "single",
             o->operator_kind == FEM_STORED ? "stored" : "matrixfree");
    return text;
}

/* ---------------------------------------------------------------------------------------------------- products */

static void assert_product(const block *b, const fem_subdomain_options *options, const double *u, const double *expected)
{
    char text[80];
    double *y = block_zeros(subdomain_dofs(b), sizeof *y);
    fem_subdomain *subdomain = device_make(b, options);
    subdomain_multiply(subdomain, 0, u, y);
    double difference = block_difference(y, expected, subdomain_dofs(b));
    if (!(difference <= device_tolerance(options->precision))) fail_msg("%s: off by %g", describe(b, options, text), difference);
    device_destroy(b, subdomain);
    free(y);
}

/* All kinds; only `kind` where it is not negative. */
static void assert_products(const block *b, int kind)
{
    fem_subdomain_options options = {0};
    uint64_t random = 3;
    double *u = block_random_array(subdomain_dofs(b), &random), *expected = block_zeros(subdomain_dofs(b), sizeof *expected);
    reference_product(b->space, u, expected);
    device_open(b, &options);
    for (int k = 0; k < DEVICE_KINDS; k++) {
        if (kind >= 0 && k != kind) continue;
        device_set_kind(&options, k);
        assert_product(b, &options, u, expected);
    }
    device_close(&options);
    free(expected);
    free(u);
}

static void assert_products_of(fem_element element)
{
    for (int components = 1; components <= 3; components += 2) {
        block b;
        subdomain_create_hanging(&b, components);
        block_discretise(&b, element);
        assert_products(&b, -1);
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

/* Around the numbers of elements that a group works on at a time: 1 to 33. */
static void product_is_right_for_any_number_of_elements_in_the_last_group(void **state)
{
    (void)state;
    static const int counts[] = {1, 2, 4, 5, 6, 7, 8, 13, 14, 15, 16, 17, 31, 32, 33};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (device_compiles() && i % 4) continue;
        block b;
        block_options options = {.elements = {counts[i], 1, 1}, .map = body_bend, .order = 2, .turn = 7, .components = i % 2 ? 3 : 1};
        block_create(&options, &b);
        for (int e = 0; e < 3; e++) {
            block_discretise(&b, device_elements[e]);
            assert_products(&b, -1);
        }
        block_destroy(&b);
    }
}

static void product_is_right_for_every_pattern_of_hanging_faces_and_edges(void **state)
{
    (void)state;
    uint8_t seen[FEM_FACE_CODES] = {0};
    int patterns = 0;
    for (int bits = 0; bits < 64; bits++)
        for (int i = 0; i < 3; i++) {
            if (device_compiles() && bits % 21) continue;
            block b;
            block_create_pattern(&b, bits, bits % 2 ? 3 : 1);
            block_discretise(&b, device_elements[i]);
            for (int32_t e = 0; e < b.space->num_elements; e++) seen[b.space->face_code[e]] = 1;
            assert_products(&b, (bits + i) % DEVICE_KINDS);
            block_destroy(&b);
        }
    for (int code = 1; code < FEM_FACE_CODES; code++) patterns += seen[code];
    assert_in_range(patterns, device_compiles() ? 30 : 8 * 17, 8 * 17);
}

static void products_of_subdomains_add_up(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int components = 1; components <= 3; components += 2) {
            block b;
            uint64_t random = 17;
            fem_subdomain_options options = {0};
            subdomain_create_hanging(&b, components);
            block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 0, 1, {0, 0, 0}});
            block_discretise(&b, device_elements[i]);
            double *u = block_random_array(subdomain_dofs(&b), &random), *expected = block_zeros(subdomain_dofs(&b), sizeof *expected);
            reference_product(b.space, u, expected);
            device_open(&b, &options);
            for (int count = 1; count <= SUBDOMAIN_CUT_MAX; count++) {
                if (device_compiles() && count % 3 == 1) continue;
                subdomain_cut cut;
                device_set_kind(&options, (count + i) % DEVICE_KINDS);
                subdomain_cut_create(&cut, &b, count, NULL, count == 4);
                subdomain_cut_make(&cut, fem_subdomain_device_create, &options);
                subdomain_cut_assert_product(&cut, device_tolerance(options.precision), u, expected);
                subdomain_cut_destroy(&cut);
            }
            device_close(&options);
            free(expected);
            free(u);
            block_destroy(&b);
        }
}

static void subdomains_of_one_element_and_of_none_take_part(void **state)
{
    (void)state;
    block b;
    uint64_t random = 18;
    fem_subdomain_options options = {0};
    subdomain_create_hanging(&b, 3);
    block_discretise(&b, FEM_Q2);
    int32_t at[4] = {0, 1, 1, b.space->num_elements - 1};
    double *u = block_random_array(subdomain_dofs(&b), &random), *expected = block_zeros(subdomain_dofs(&b), sizeof *expected);
    reference_product(b.space, u, expected);
    device_open(&b, &options);
    for (int kind = 0; kind < DEVICE_KINDS; kind++) {
        subdomain_cut cut;
        device_set_kind(&options, kind);
        subdomain_cut_create(&cut, &b, 5, at, 0);
        assert_int_equal(cut.sub[0]->space->num_elements, 0);
        assert_int_equal(cut.sub[1]->space->num_elements, 1);
        subdomain_cut_make(&cut, fem_subdomain_device_create, &options);
        subdomain_cut_assert_product(&cut, device_tolerance(options.precision), u, expected);
        subdomain_cut_destroy(&cut);
    }
    device_close(&options);
    free(expected);
    free(u);
    block_destroy(&b);
}

/* -------------------------------------------------------------------------------------------- one and the same */

/* Everything that a subdomain has been through, in this order: x, y, d, then two sums. */
static int64_t work_values(const block *b) { return 3 * subdomain_dofs(b) + 2; }

/* A bit of each operation on a subdomain whose interface is every third node; more products than are measured at a time. */
static void work(const block *b, subdomain_create_function *create, fem_subdomain_options options, const double *u, double *result)
{
    int64_t n = subdomain_dofs(b);
    int32_t *interface_nodes = block_zeros(b->space->num_nodes, sizeof(int32_t));
    uint8_t *owned = block_zeros(b->space->num_nodes, 1);
    for (int32_t i = 0; i < b->space->num_nodes; i += 3) interface_nodes[options.num_interface++] = i;
    for (int32_t i = 0; i < b->space->num_nodes; i++) owned[i] = i % 5 < 3;
    options.interface_nodes = interface_nodes;
    options.owned = owned;
    fem_subdomain *subdomain;
    fem_subdomain_vector *x, *y, *d, **all[] = {&x, &y, &d};
    if (create(b->space, b->constraints, &options, &subdomain)) fail_msg("%s", yoke_last_error(b->context));
    subdomain->call->diagonal(subdomain);
    subdomain_exchange_alone(subdomain, b->problem.components == 3 ? 6 : 1);
    subdomain->call->diagonal_finish(subdomain);
    for (int i = 0; i < 3; i++) assert_int_equal(subdomain->call->vector_create(subdomain, all[i]), YOKE_OK);
    subdomain->call->write(subdomain, x, u);
    for (int i = 0; i < 20; i++) {
        subdomain->call->product_interface(subdomain, x, y);
        subdomain->call->interface_read(subdomain, y);
        subdomain->call->product_interior(subdomain, x, y);
        subdomain->call->interface_wait(subdomain);
        subdomain_exchange_alone(subdomain, b->problem.components);
        subdomain->call->interface_write(subdomain, y);
        subdomain->call->mask(subdomain, y);
        subdomain->call->chebyshev_step(subdomain, 0.3, 1e-3, x, y, d, x);
        subdomain->call->advance(subdomain, 1e-3, d, y, x, d);
        subdomain->call->block_solve(subdomain, x, y);
    }
    const fem_subdomain_vector *left[2] = {x, y}, *right[2] = {x, d};
    subdomain->call->dots(subdomain, 2, left, right);
    subdomain->call->dots_wait(subdomain, 2, result + 3 * n);
    for (int i = 0; i < 3; i++) subdomain->call->read_wait(subdomain, *all[i], result + i * n);
    double seconds = subdomain->call->product_seconds_wait(subdomain);
    if (options.unmeasured)
        assert_true(isnan(seconds));
    else
        assert_true(seconds > 0 && isfinite(seconds) && subdomain->call->product_seconds_wait(subdomain) == seconds);
    for (int i = 0; i < 3; i++) subdomain->call->vector_destroy(subdomain, *all[i]);
    device_destroy(b, subdomain);
    free(owned);
    free(interface_nodes);
}

/* The largest difference of two results, each value against the largest of its vector. */
static double work_difference(const block *b, const double *got, const double *expected)
{
    int64_t n = subdomain_dofs(b);
    double difference = 0;
    for (int i = 0; i < 3; i++) difference = fmax(difference, block_difference(got + i * n, expected + i * n, n));
    for (int i = 0; i < 2; i++) difference = fmax(difference, block_difference(got + 3 * n + i, expected + 3 * n + i, 1));
    return difference;
}

static void all_is_as_on_the_cpu_subdomain_with_any_number_of_items_and_repeats_bit_by_bit(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        block b;
        uint64_t random = 24;
        fem_subdomain_options options = {0};
        subdomain_create_hanging(&b, i % 2 ? 3 : 1);
        block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 0, i % 2 ? 5 : 1, {0, 0, 0}});
        block_discretise(&b, device_elements[i / 2]);
        double *u = block_random_array(subdomain_dofs(&b), &random), *expected = block_zeros(work_values(&b), sizeof *expected);
        double *got = block_zeros(work_values(&b), sizeof *got), *again = block_zeros(work_values(&b), sizeof *again);
        device_open(&b, &options);
        for (int kind = 0; kind < DEVICE_KINDS; kind++) {
            static const int items[] = {1, 37, 64};
            device_set_kind(&options, kind);
            work(&b, fem_subdomain_cpu_create,
                 (fem_subdomain_options){.precision = options.precision, .operator_kind = options.operator_kind}, u, expected);
            work(&b, fem_subdomain_device_create, options, u, got);
            assert_true(work_difference(&b, got, expected) <= 10 * device_tolerance(options.precision));
            options.unmeasured = 1;
            work(&b, fem_subdomain_device_create, options, u, again);
            assert_memory_equal(again, got, sizeof(double) * (size_t)work_values(&b));
            options.unmeasured = 0;
            options.group_items = items[(i + kind) % 3];
            work(&b, fem_subdomain_device_create, options, u, again);
            assert_true(work_difference(&b, again, got) <= device_tolerance(options.precision));
            options.group_items = 0;
        }
        device_close(&options);
        free(again);
        free(got);
        free(expected);
        free(u);
        block_destroy(&b);
    }
}

/* The blocks of the diagonal, seen through solves with each component, are those of the CPU subdomain. */
static void node_blocks_are_those_of_the_cpu_subdomain(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        block b;
        uint64_t random = 20;
        fem_subdomain_options options = {0};
        subdomain_create_hanging(&b, i % 2 ? 3 : 1);
        block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 0, i % 2 ? 2 : 1, {0, 0, 0}});
        block_discretise(&b, device_elements[i / 2]);
        int64_t n = subdomain_dofs(&b);
        double *r = block_random_array(n, &random), *z[2] = {block_zeros(n, sizeof(double)), block_zeros(n, sizeof(double))};
        device_open(&b, &options);
        for (int kind = 0; kind < DEVICE_KINDS; kind++) {
            device_set_kind(&options, kind);
            for (int device = 0; device < 2; device++) {
                fem_subdomain_options cpu = {.precision = options.precision, .operator_kind = options.operator_kind};
                fem_subdomain *subdomain = device ? device_make(&b, &options) : subdomain_make(&b, 2, &cpu);
                fem_subdomain_vector *x, *y;
                assert_int_equal(subdomain->call->vector_create(subdomain, &x), YOKE_OK);
                assert_int_equal(subdomain->call->vector_create(subdomain, &y), YOKE_OK);
                subdomain->call->write(subdomain, x, r);
                subdomain->call->block_solve(subdomain, x, y);
                subdomain->call->read_wait(subdomain, y, z[device]);
                subdomain->call->vector_destroy(subdomain, x);
                subdomain->call->vector_destroy(subdomain, y);
                device_destroy(&b, subdomain);
            }
            assert_true(block_difference(z[1], z[0], n) <= device_tolerance(options.precision));
        }
        device_close(&options);
        free(z[0]);
        free(z[1]);
        free(r);
        block_destroy(&b);
    }
}

/* ------------------------------------------------------------------------------------------- element matrices */

static void visited_element_matrices_add_up_to_the_product(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        block b;
        uint64_t random = 44;
        fem_subdomain_options options = {0};
        subdomain_create_hanging(&b, i % 2 ? 3 : 1);
        block_discretise(&b, device_elements[i / 2]);
        int64_t n = subdomain_dofs(&b);
        double *u = block_random_array(n, &random), *expected = block_zeros(n, sizeof *expected);
        reference_product(b.space, u, expected);
        device_open(&b, &options);
        for (int kind = 0; kind < DEVICE_KINDS; kind++) {
            device_set_kind(&options, kind);
            fem_subdomain *subdomain = device_make(&b, &options);
            device_matrices m = {&b, u, block_zeros(n, sizeof(double)), block_zeros(b.space->num_elements, sizeof(int32_t))};
            assert_int_equal(subdomain->call->visit_matrices(subdomain, device_add_matrix, &m), YOKE_OK);
            for (int32_t e = 0; e < b.space->num_elements; e++) assert_int_equal(m.visits[e], 1);
            assert_true(block_difference(m.y, expected, n) <= device_tolerance(options.precision));
            free(m.visits);
            free(m.y);
            device_destroy(&b, subdomain);
        }
        device_close(&options);
        free(expected);
        free(u);
        block_destroy(&b);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(product_of_q1_is_the_plain_sum_over_elements),
    cmocka_unit_test(product_of_s2_is_the_plain_sum_over_elements),
    cmocka_unit_test(product_of_q2_is_the_plain_sum_over_elements),
    cmocka_unit_test(product_is_right_for_any_number_of_elements_in_the_last_group),
    cmocka_unit_test(product_is_right_for_every_pattern_of_hanging_faces_and_edges),
    cmocka_unit_test(products_of_subdomains_add_up),
    cmocka_unit_test(subdomains_of_one_element_and_of_none_take_part),
    cmocka_unit_test(all_is_as_on_the_cpu_subdomain_with_any_number_of_items_and_repeats_bit_by_bit),
    cmocka_unit_test(node_blocks_are_those_of_the_cpu_subdomain),
    cmocka_unit_test(visited_element_matrices_add_up_to_the_product),
};

UNIT_MAIN(tests, device_start, body_end)
