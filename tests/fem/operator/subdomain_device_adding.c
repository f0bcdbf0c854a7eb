/* Ways of adding of the device subdomain, the order of its elements, and affine elements. */
#include <math.h>

#include "unit.h"

#include "fem/fixtures/body.h"
#include "fem/fixtures/reference_operator.h"
#include "fem/fixtures/subdomain_cut.h"
#include "fem/fixtures/subdomain_device_fixture.h"
#include "fem/fixtures/subdomain_settings.h"
#include "operator/subdomain/device.h"

enum { WAYS = 3 };
static const char *const way_names[WAYS] = {"sum", "colour", "atomic"};

/* Affine where x <= 1/2, curved beyond. */
static void half_bend(const double in[3], double out[3])
{
    const double beyond = in[0] > 0.5 ? in[0] - 0.5 : 0;
    out[0] = in[0];
    out[1] = 0.7 * in[1] + 0.3 * in[0] + 0.1 * in[2] + 0.4 * beyond * (beyond + in[2]);
    out[2] = 1.3 * in[2] - 0.2 * in[1] + 0.3 * beyond * (beyond + in[1]);
}

static void shear(const double in[3], double out[3])
{
    out[0] = in[0] + 0.2 * in[1];
    out[1] = 0.7 * in[1] + 0.3 * in[0] + 0.1 * in[2];
    out[2] = 1.3 * in[2] - 0.2 * in[1];
}

/* Turned elements of two materials, many faces and edges hang. */
static void create_mapped(block *b, cube_map *map, int components)
{
    uint64_t random = 61;
    block_options options = {.elements = {2, 2, 2}, .map = map, .order = 2, .turn = 5, .components = components};
    block_create(&options, b);
    block_two_materials(b, 7);
    block_refine(b, 0.6, &random);
    block_refine(b, 0.3, &random);
}

static int lies_left(const fem_space *space, int32_t e)
{
    double x[27 * 3];
    fem_space_expand(space, e, 3, space->x, x);
    for (int s = 0; s < space->slots; s++)
        if (x[3 * s] > 0.5 + 1e-9) return 0;
    return 1;
}

static int32_t count_left(const fem_space *space)
{
    int32_t count = 0;
    for (int32_t e = 0; e < space->num_elements; e++) count += lies_left(space, e);
    return count;
}

/* ------------------------------------------------------------------------------------------------------ adding */

static void assert_way(const block *b, const fem_subdomain_options *options, const double *u, const double *expected)
{
    const int64_t n = subdomain_dofs(b);
    double *y = block_zeros(n, sizeof *y), *again = block_zeros(n, sizeof *again);
    fem_subdomain *subdomain = device_make(b, options);
    subdomain_multiply(subdomain, 0, u, y);
    const double difference = block_difference(y, expected, n);
    if (!(difference <= device_tolerance(options->precision)))
        fail_msg("%s, %s, %d components, by %s: off by %g", device_element_names[b->space->element],
                 options->precision == FEM_DOUBLE ? "double" : "single", b->problem.components, way_names[options->adding], difference);
    subdomain_multiply(subdomain, 0, u, again);
    if (options->adding != FEM_ADD_ATOMIC) assert_memory_equal(again, y, sizeof(double) * (size_t)n);
    device_destroy(b, subdomain);
    free(again);
    free(y);
}

static void each_way_of_adding_gives_the_plain_sum_over_elements(void **state)
{
    (void)state;
    static cube_map *const maps[] = {body_bend, half_bend, shear};
    for (int i = 0; i < 18; i++) {
        if (device_compiles() && i != 5 && i != 10) continue; /* which takes its time */
        block b;
        uint64_t random = 5;
        fem_subdomain_options options = {0};
        create_mapped(&b, maps[i / 6], i / 3 % 2 ? 3 : 1);
        block_discretise(&b, device_elements[i % 3]);
        double *u = block_random_array(subdomain_dofs(&b), &random), *expected = block_zeros(subdomain_dofs(&b), sizeof *expected);
        reference_product(b.space, u, expected);
        device_open(&b, &options);
        for (int way = 0; way < 2 * WAYS; way++) {
            options.precision = way % 2 ? FEM_SINGLE : FEM_DOUBLE;
            options.adding = (fem_adding)(way / 2);
            assert_way(&b, &options, u, expected);
        }
        device_close(&options);
        free(expected);
        free(u);
        block_destroy(&b);
    }
}

static void subdomains_that_add_in_each_way_add_up(void **state)
{
    (void)state;
    for (int i = 0; i < 9; i++) {
        if (device_compiles() && i != 4 && i != 8) continue;
        block b;
        subdomain_cut cut;
        uint64_t random = 17;
        fem_subdomain_options options = {0};
        create_mapped(&b, half_bend, i % 2 ? 1 : 3);
        block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 0, 1, {0, 0, 0}});
        block_discretise(&b, device_elements[i % 3]);
        double *u = block_random_array(subdomain_dofs(&b), &random), *expected = block_zeros(subdomain_dofs(&b), sizeof *expected);
        reference_product(b.space, u, expected);
        device_open(&b, &options);
        options.adding = (fem_adding)(i / 3);
        subdomain_cut_create(&cut, &b, 3, NULL, i == 4);
        subdomain_cut_make(&cut, fem_subdomain_device_create, &options);
        subdomain_cut_assert_product(&cut, device_tolerance(options.precision), u, expected);
        subdomain_cut_destroy(&cut);
        device_close(&options);
        free(expected);
        free(u);
        block_destroy(&b);
    }
}

/* ------------------------------------------------------------------------------------------------------- order */

/* Batches follow each other, each with compact places of factors; no node is in two elements of one where they have colours. */
static void assert_order(const fem_space *space, const device_tables *t, fem_adding adding)
{
    int32_t *seen = block_zeros(space->num_elements, sizeof *seen), *last = block_zeros(space->num_nodes, sizeof *last);
    int32_t at = 0, curved = 0, affine = 0;
    for (int32_t k = 0; k < t->num_batches; k++) {
        const device_batch b = t->batch[k];
        assert_int_equal(b.begin, at);
        assert_true(b.begin <= b.middle && b.middle <= b.end && b.begin < b.end);
        assert_int_equal(b.curved_at, curved);
        assert_int_equal(b.affine_at, affine);
        curved += b.middle - b.begin;
        affine += b.end - b.middle;
        at = b.end;
        for (int32_t p = b.begin; p < b.end; p++) {
            seen[t->element[p]]++;
            for (int i = 0; i < t->used && adding == FEM_ADD_COLOUR; i++) {
                int32_t *where = &last[t->nodes[(int64_t)p * t->used + i]];
                assert_int_not_equal(*where, k + 1);
                *where = k + 1;
            }
        }
    }
    assert_int_equal(at, space->num_elements);
    assert_int_equal(affine, t->num_affine);
    for (int32_t e = 0; e < space->num_elements; e++) assert_int_equal(seen[e], 1);
    free(last);
    free(seen);
}

static void elements_of_a_colour_share_no_node_and_affine_ones_come_last(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int adding = 0; adding < WAYS; adding++) {
            block b;
            device_tables t;
            create_mapped(&b, half_bend, 3);
            block_discretise(&b, device_elements[i]);
            const int32_t interface_nodes[3] = {3, 7, b.space->num_nodes / 2};
            fem_subdomain subdomain = {.context = b.context,
                                       .space = b.space,
                                       .constraints = b.constraints,
                                       .num_interface = 3,
                                       .interface_nodes = interface_nodes};
            assert_int_equal(device_tables_make(&subdomain, (fem_adding)adding, 0, &t), YOKE_OK);
            assert_order(b.space, &t, (fem_adding)adding);
            assert_int_equal(t.num_affine, count_left(b.space));
            assert_in_range(t.num_affine, 1, b.space->num_elements - 1);
            assert_in_range(t.num_batches, adding == FEM_ADD_COLOUR ? 9 : 2, adding == FEM_ADD_COLOUR ? 70 : 2);
            for (int32_t k = 0; k < t.num_batches; k++)
                for (int32_t p = t.batch[k].begin; p < t.batch[k].end; p++)
                    assert_int_equal(lies_left(b.space, t.element[p]), p >= t.batch[k].middle);
            device_tables_release(b.context, &t);
            block_destroy(&b);
        }
}

/* A node that more elements share than a mask has bits. */
static void more_colours_than_a_mask_has_bits_are_no_trouble(void **state)
{
    (void)state;
    block b;
    device_tables t;
    block_options shape = {.elements = {15, 5, 2}, .order = 1, .components = 1};
    block_create(&shape, &b);
    block_discretise(&b, FEM_Q1);
    for (int32_t e = 0; e < b.space->num_elements; e++) b.space->element_nodes[8 * (int64_t)e] = 0;
    for (int32_t i = 1; i < 8; i++) /* that of the first element is node 0 too */
        if (b.space->element_nodes[i] == 0) b.space->element_nodes[i] = b.space->num_nodes - 1;
    fem_subdomain subdomain = {.context = b.context, .space = b.space, .constraints = b.constraints};
    assert_int_equal(device_tables_make(&subdomain, FEM_ADD_COLOUR, 1, &t), YOKE_OK);
    assert_order(b.space, &t, FEM_ADD_COLOUR);
    assert_int_equal(t.num_batches, 150);
    device_tables_release(b.context, &t);
    block_destroy(&b);
}

/* ------------------------------------------------------------------------------------------------------ affine */

/* What a subdomain makes of an array: product, solution with the diagonal's blocks, sum of the elements' matrices. */
static void take_results(const block *b, const fem_subdomain_options *options, const double *u, double *result, int64_t *bytes)
{
    const int64_t n = subdomain_dofs(b);
    fem_subdomain_vector *x, *y;
    fem_subdomain *subdomain = device_make(b, options);
    subdomain_multiply(subdomain, 0, u, result);
    assert_int_equal(subdomain->call->vector_create(subdomain, &x), YOKE_OK);
    assert_int_equal(subdomain->call->vector_create(subdomain, &y), YOKE_OK);
    subdomain->call->write(subdomain, x, u);
    subdomain->call->block_solve(subdomain, x, y);
    subdomain->call->read_wait(subdomain, y, result + n);
    subdomain->call->vector_destroy(subdomain, x);
    subdomain->call->vector_destroy(subdomain, y);
    device_matrices m = {b, u, result + 2 * n, block_zeros(b->space->num_elements, sizeof(int32_t))};
    assert_int_equal(subdomain->call->visit_matrices(subdomain, device_add_matrix, &m), YOKE_OK);
    for (int32_t e = 0; e < b->space->num_elements; e++) assert_int_equal(m.visits[e], 1);
    free(m.visits);
    *bytes = subdomain->call->memory_bytes(subdomain);
    device_destroy(b, subdomain);
}

static int64_t at_least_8(int64_t bytes) { return bytes < 8 ? 8 : bytes; }

/* By elements whose factors are kept at each point and by those that have them once. */
static void affine_elements_do_the_same_with_one_set_of_factors(void **state)
{
    (void)state;
    static cube_map *const maps[] = {half_bend, shear, body_bend};
    for (int i = 0; i < 18; i++) {
        if (device_compiles() && i != 4 && i != 5) continue;
        block b;
        uint64_t random = 24;
        fem_subdomain_options options = {.precision = i % 2 ? FEM_SINGLE : FEM_DOUBLE};
        fem_precision precision = options.precision;
        create_mapped(&b, maps[i / 6], i / 3 % 2 ? 3 : 1);
        block_discretise(&b, device_elements[i % 3]);
        const int64_t n = subdomain_dofs(&b), elements = b.space->num_elements, real = precision == FEM_DOUBLE ? 8 : 4;
        const int64_t affine = i / 6 == 0 ? count_left(b.space) : i / 6 == 1 ? elements : 0, set = 10 * real;
        double *u = block_random_array(n, &random), *result[2];
        int64_t bytes[2];
        device_open(&b, &options);
        options.precision = precision;
        for (int all_curved = 0; all_curved < 2; all_curved++) {
            options.all_curved = all_curved;
            result[all_curved] = block_zeros(3 * n, sizeof(double));
            take_results(&b, &options, u, result[all_curved], &bytes[all_curved]);
        }
        for (int k = 0; k < 3; k++) assert_true(block_difference(result[0] + k * n, result[1] + k * n, n) <= device_tolerance(precision));
        assert_int_equal(bytes[1] - bytes[0], elements * set * b.space->slots + 8 - at_least_8((elements - affine) * set * b.space->slots) -
                                                  at_least_8(affine * set));
        device_close(&options);
        free(result[0]);
        free(result[1]);
        free(u);
        block_destroy(&b);
    }
}

/* Far from the origin positions are round numbers, and elements no less affine. */
static void far_from_the_origin(const double in[3], double out[3])
{
    shear(in, out);
    for (int a = 0; a < 3; a++) out[a] += 1000 + 77 * a;
}

static void affine_elements_far_from_the_origin_are_known_as_such(void **state)
{
    (void)state;
    for (int i = device_compiles() ? 2 : 0; i < 3; i++) {
        block b;
        uint64_t random = 4;
        fem_subdomain_options options = {0};
        create_mapped(&b, far_from_the_origin, 3);
        block_discretise(&b, device_elements[i]);
        double *u = block_random_array(subdomain_dofs(&b), &random), *expected = block_zeros(subdomain_dofs(&b), sizeof *expected);
        double *y = block_zeros(subdomain_dofs(&b), sizeof *y);
        reference_product(b.space, u, expected);
        device_open(&b, &options);
        fem_subdomain *subdomain = device_make(&b, &options);
        assert_int_equal(((device_subdomain *)subdomain)->num_affine, b.space->num_elements);
        subdomain_multiply(subdomain, 0, u, y);
        assert_true(block_difference(y, expected, subdomain_dofs(&b)) <=
                    1e-10); /* what rounding of positions leaves of an element's edges */
        device_destroy(&b, subdomain);
        device_close(&options);
        free(y);
        free(expected);
        free(u);
        block_destroy(&b);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_way_of_adding_gives_the_plain_sum_over_elements),
    cmocka_unit_test(subdomains_that_add_in_each_way_add_up),
    cmocka_unit_test(elements_of_a_colour_share_no_node_and_affine_ones_come_last),
    cmocka_unit_test(more_colours_than_a_mask_has_bits_are_no_trouble),
    cmocka_unit_test(affine_elements_do_the_same_with_one_set_of_factors),
    cmocka_unit_test(affine_elements_far_from_the_origin_are_known_as_such),
};

UNIT_MAIN(tests, device_start, body_end)
