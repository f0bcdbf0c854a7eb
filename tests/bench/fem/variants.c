/* The variants of `yoke bench axmebe` beside the solver's own: element matrices, colours, and that all compute the product. */
#include "fem/variants.h"
#include "driver.h"
#include "fem/fixtures/block.h"
#include "fem/fixtures/body.h"
#include "fem/fixtures/reference_operator.h"
#include "fixture.h"

static const fem_element elements_of[3] = {FEM_Q1, FEM_S2, FEM_Q2};
static const int nodes_of[3] = {8, 20, 27};

/* -------------------------------------------------------------------------------------------------- elements */

static void create_hanging(block *b, int components, fem_element element)
{
    uint64_t random = 61;
    block_options options = {.elements = {2, 2, 2}, .map = body_bend, .order = 2, .turn = 5, .components = components};
    block_create(&options, b);
    block_two_materials(b, 7);
    block_refine(b, 0.6, &random);
    block_refine(b, 0.1, &random);
    block_discretise(b, element);
    assert_true(b->space->num_hanging > 0);
}

static void make_elements(const block *b, fem_bench_elements **made)
{
    fem_devices *host;
    must(b->context, fem_devices_open(b->context, "openmp", &host));
    must(b->context, fem_bench_elements_create(b->space, b->constraints, &host->list[0], made));
    fem_devices_close(host);
}

static void assert_colours(const fem_bench_elements *made)
{
    int8_t *seen = block_zeros(made->elements, 1);
    for (int32_t c = 0; c < made->colours; c++) {
        int8_t *taken = block_zeros(made->num_nodes, 1);
        assert_true(made->colour_first[c] < made->colour_first[c + 1]);
        for (int32_t k = made->colour_first[c]; k < made->colour_first[c + 1]; k++) {
            const int32_t *node = made->node + (int64_t)made->order[k] * made->nodes;
            assert_false(seen[made->order[k]]++);
            for (int i = 0; i < made->nodes; i++) assert_false(taken[node[i]]++);
        }
        free(taken);
    }
    assert_int_equal(made->colour_first[made->colours], made->elements);
    free(seen);
}

static void test_elements_of_a_colour_share_no_node(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        block b;
        fem_bench_elements *made;
        create_hanging(&b, 1, elements_of[i]);
        make_elements(&b, &made);
        assert_int_equal(made->nodes, nodes_of[i]);
        assert_colours(made);
        for (int64_t e = 0; e < made->elements; e++) /* places are a permutation by which nodes ascend */
            for (int k = 0; k < made->nodes; k++)
                for (int j = 0; j < k; j++) {
                    const int64_t at = e * made->nodes;
                    assert_true((made->place[at + k] < made->place[at + j]) == (made->node[at + k] < made->node[at + j]));
                    assert_int_not_equal(made->place[at + k], made->place[at + j]);
                }
        fem_bench_elements_destroy(made);
        block_destroy(&b);
    }
}

/* -------------------------------------------------------------------------------------------------- products */

/* Every variant on the device gives the product as its formula says it, and the same bits a second time.  False: there is no such device. */
static int variants_agree(const char *device, fem_element element, int components)
{
    block b;
    fem_devices *devices;
    fem_bench_elements *made;
    fem_bench_device *bench;
    uint64_t random = 5;
    create_hanging(&b, components, element);
    yoke_status status = fem_devices_open(b.context, device, &devices);
    if (status) {
        block_destroy(&b);
        return 0;
    }
    const int64_t dofs = (int64_t)b.space->num_nodes * components;
    double *u = block_random_array(dofs, &random), *expected = block_zeros(dofs, sizeof *expected);
    double *y = block_zeros(dofs, sizeof *y), *again = block_zeros(dofs, sizeof *again);
    reference_product(b.space, u, expected);
    make_elements(&b, &made);
    must(b.context, fem_bench_device_create(&devices->list[0], made, &bench));
    must(b.context, fem_bench_device_write(bench, u));
    for (int variant = 0; variant < FEM_BENCH_VARIANTS; variant++) {
        status = fem_bench_device_product(bench, (fem_bench_variant)variant, 0);
        if (variant == FEM_BENCH_BLAS && status == YOKE_ERROR_UNAVAILABLE) continue;
        must(b.context, status);
        must(b.context, fem_bench_device_read(bench, y));
        assert_true(block_difference(y, expected, dofs) <= 1e-12);
        must(b.context, fem_bench_device_product(bench, (fem_bench_variant)variant, 0));
        must(b.context, fem_bench_device_read(bench, again));
        assert_memory_equal(y, again, (size_t)dofs * sizeof *y);
    }
    fem_bench_device_destroy(bench);
    fem_bench_elements_destroy(made);
    fem_devices_close(devices);
    free(u);
    free(expected);
    free(y);
    free(again);
    block_destroy(&b);
    return 1;
}

static void test_the_variants_compute_the_product_on_the_host(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int components = 1; components <= 3; components += 2) assert_true(variants_agree("openmp", elements_of[i], components));
}

static void test_the_variants_compute_the_product_by_opencl(void **state)
{
    (void)state;
    if (driver_would_end_program("opencl:0.0")) skip();
    for (int i = 0; i < 3; i++)
        for (int components = 1; components <= 3; components += 2)
            if (!variants_agree("opencl:0.0", elements_of[i], components)) skip();
}

static void test_with_transfers_the_vectors_come_from_the_host(void **state)
{
    (void)state;
    block b;
    fem_devices *devices;
    fem_bench_elements *made;
    fem_bench_device *bench;
    uint64_t random = 5;
    create_hanging(&b, 3, FEM_Q1);
    const int64_t dofs = (int64_t)b.space->num_nodes * 3;
    double *u = block_random_array(dofs, &random), *y = block_zeros(dofs, sizeof *y);
    make_elements(&b, &made);
    must(b.context, fem_devices_open(b.context, "openmp", &devices));
    must(b.context, fem_bench_device_create(&devices->list[0], made, &bench));
    must(b.context, fem_bench_device_write(bench, u));
    must(b.context, fem_bench_device_product(bench, FEM_BENCH_FUSED, 1)); /* u is now that of the host: zero */
    must(b.context, fem_bench_device_read(bench, y));
    for (int64_t i = 0; i < dofs; i++) assert_true(y[i] == 0);
    fem_bench_device_destroy(bench);
    fem_bench_elements_destroy(made);
    fem_devices_close(devices);
    free(u);
    free(y);
    block_destroy(&b);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_elements_of_a_colour_share_no_node),
    cmocka_unit_test(test_the_variants_compute_the_product_on_the_host),
    cmocka_unit_test(test_the_variants_compute_the_product_by_opencl),
    cmocka_unit_test(test_with_transfers_the_vectors_come_from_the_host),
};

UNIT_MAIN(tests, body_start, body_end)
