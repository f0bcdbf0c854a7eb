/* Subdomains that share a space: what each does alone, against the reference on its own elements, and that together they are the whole. */
#include <math.h>

#include <omp.h>

#include "unit.h"

#include "base/failing.h"
#include "fem/fixtures/body.h"
#include "fem/fixtures/reference_operator.h"
#include "fem/fixtures/subdomain_cut.h"
#include "fem/fixtures/subdomain_settings.h"

static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};

static double tolerance(const fem_subdomain_options *options) { return options->precision == FEM_DOUBLE ? 1e-12 : 2e-5; }

/* The block of all tests here: hanging nodes, two materials, dofs constrained on two faces. */
static void create(block *b, int components, fem_element element)
{
    subdomain_create_hanging(b, components);
    block_add_condition(b, (fem_condition){FEM_DIRICHLET, 0, components == 3 ? 5 : 1, {1, 1, 1}});
    block_add_condition(b, (fem_condition){FEM_DIRICHLET, 3, components == 3 ? 2 : 1, {1, 1, 1}});
    block_discretise(b, element);
}

/* ----------------------------------------------------------------------------------------------------- products */

static void assert_products(const block *b, int count, int everywhere)
{
    uint64_t random = 17;
    double *u = block_random_array(subdomain_dofs(b), &random), *expected = block_zeros(subdomain_dofs(b), sizeof *expected);
    reference_product(b->space, u, expected);
    for (int precision = FEM_DOUBLE; precision <= FEM_SINGLE; precision++)
        for (int stored = FEM_MATRIXFREE; stored <= FEM_STORED; stored++) {
            fem_subdomain_options options = {.precision = precision, .operator_kind = stored};
            subdomain_cut cut;
            subdomain_cut_create(&cut, b, count, NULL, everywhere);
            subdomain_cut_make(&cut, fem_subdomain_cpu_create, &options);
            subdomain_cut_assert_product(&cut, tolerance(&options), u, expected);
            subdomain_cut_destroy(&cut);
        }
    free(expected);
    free(u);
}

static void assert_products_of(fem_element element)
{
    for (int components = 1; components <= 3; components += 2) {
        block b;
        create(&b, components, element);
        for (int count = 1; count <= SUBDOMAIN_CUT_MAX; count++) assert_products(&b, count, 0);
        block_destroy(&b);
    }
}

static void products_of_subdomains_add_up_for_q1(void **state)
{
    (void)state;
    assert_products_of(FEM_Q1);
}

static void products_of_subdomains_add_up_for_s2(void **state)
{
    (void)state;
    assert_products_of(FEM_S2);
}

static void products_of_subdomains_add_up_for_q2(void **state)
{
    (void)state;
    assert_products_of(FEM_Q2);
}

static void products_of_subdomains_add_up_where_every_node_is_everywhere(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        block b;
        create(&b, i == 1 ? 1 : 3, elements[i]);
        assert_products(&b, 3, 1);
        block_destroy(&b);
    }
}

/* A subdomain without interface does all in its second step; with one, subdomains of one element and of none take their share. */
static void subdomains_of_one_element_and_of_none_take_part(void **state)
{
    (void)state;
    block b;
    uint64_t random = 18;
    create(&b, 3, FEM_Q2);
    int32_t at[4] = {0, 1, 1, b.space->num_elements - 1};
    double *u = block_random_array(subdomain_dofs(&b), &random), *expected = block_zeros(subdomain_dofs(&b), sizeof *expected);
    reference_product(b.space, u, expected);
    for (int precision = FEM_DOUBLE; precision <= FEM_SINGLE; precision++) {
        fem_subdomain_options options = {.precision = precision};
        subdomain_cut cut;
        subdomain_cut_create(&cut, &b, 5, at, 0);
        assert_int_equal(cut.sub[0]->space->num_elements, 0);
        assert_int_equal(cut.sub[1]->space->num_elements, 1);
        subdomain_cut_make(&cut, fem_subdomain_cpu_create, &options);
        subdomain_cut_assert_product(&cut, tolerance(&options), u, expected);
        subdomain_cut_destroy(&cut);
    }
    free(expected);
    free(u);
    block_destroy(&b);
}

/* -------------------------------------------------------------------------------------- sums, blocks, constrained dofs */

static void sums_count_each_dof_once(void **state)
{
    (void)state;
    for (int components = 1; components <= 3; components += 2)
        for (int precision = FEM_DOUBLE; precision <= FEM_SINGLE; precision++) {
            block b;
            uint64_t random = 19;
            create(&b, components, FEM_Q2);
            int64_t n = subdomain_dofs(&b);
            double *u = block_random_array(n, &random), *v = block_random_array(n, &random);
            for (int count = 1; count <= SUBDOMAIN_CUT_MAX; count++) {
                double sums[2], total[2] = {0};
                subdomain_cut cut;
                subdomain_cut_vector x, y;
                subdomain_cut_create(&cut, &b, count, NULL, count == 4);
                subdomain_cut_make(&cut, fem_subdomain_cpu_create, &(fem_subdomain_options){.precision = precision});
                subdomain_cut_vector_create(&cut, u, &x);
                subdomain_cut_vector_create(&cut, v, &y);
                for (int i = 0; i < count; i++) {
                    const fem_subdomain_vector *left[2] = {x.on[i], y.on[i]}, *right[2] = {y.on[i], y.on[i]};
                    cut.subdomain[i]->call->dots(cut.subdomain[i], 2, left, right);
                    cut.subdomain[i]->call->dots_wait(cut.subdomain[i], 2, sums);
                    total[0] += sums[0];
                    total[1] += sums[1];
                }
                double near = (precision == FEM_DOUBLE ? 1e-14 : 1e-6) * (double)n;
                assert_true(fabs(total[0] - subdomain_dot(u, v, n)) <= near);
                assert_true(fabs(total[1] - subdomain_dot(v, v, n)) <= near);
                subdomain_cut_vector_destroy(&cut, &x);
                subdomain_cut_vector_destroy(&cut, &y);
                subdomain_cut_destroy(&cut);
            }
            free(v);
            free(u);
            block_destroy(&b);
        }
}

/* z = B r and the masked r of the whole. */
static void solve_whole(const block *b, const fem_subdomain_options *options, const double *r, double *z, double *masked)
{
    fem_subdomain *subdomain = subdomain_make(b, 2, options);
    fem_subdomain_vector *x, *y;
    assert_int_equal(subdomain->call->vector_create(subdomain, &x), YOKE_OK);
    assert_int_equal(subdomain->call->vector_create(subdomain, &y), YOKE_OK);
    subdomain->call->write(subdomain, x, r);
    subdomain->call->block_solve(subdomain, x, y);
    subdomain->call->mask(subdomain, x);
    subdomain->call->read_wait(subdomain, x, masked);
    subdomain->call->read_wait(subdomain, y, z);
    subdomain->call->vector_destroy(subdomain, x);
    subdomain->call->vector_destroy(subdomain, y);
    subdomain->call->destroy(subdomain);
}

static void blocks_and_masks_of_subdomains_are_those_of_the_whole(void **state)
{
    (void)state;
    for (int components = 1; components <= 3; components += 2)
        for (int k = 0; k < 6; k++) {
            fem_subdomain_options options = {.precision = k % 2 ? FEM_SINGLE : FEM_DOUBLE,
                                             .operator_kind = k % 3 ? FEM_MATRIXFREE : FEM_STORED};
            block b;
            uint64_t random = 20;
            create(&b, components, elements[k / 2]);
            int64_t n = subdomain_dofs(&b);
            double *r = block_random_array(n, &random), *whole = block_zeros(n, sizeof *whole), *z = block_zeros(n, sizeof *z);
            double *whole_masked = block_zeros(n, sizeof *whole_masked), *masked = block_zeros(n, sizeof *masked);
            solve_whole(&b, &options, r, whole, whole_masked);
            subdomain_cut cut;
            subdomain_cut_vector x, y;
            subdomain_cut_create(&cut, &b, 4, NULL, k == 2);
            subdomain_cut_make(&cut, fem_subdomain_cpu_create, &options);
            subdomain_cut_vector_create(&cut, r, &x);
            subdomain_cut_vector_create(&cut, r, &y);
            for (int i = 0; i < 4; i++) {
                cut.subdomain[i]->call->block_solve(cut.subdomain[i], x.on[i], y.on[i]);
                cut.subdomain[i]->call->mask(cut.subdomain[i], x.on[i]);
            }
            subdomain_cut_read(&cut, &y, z);
            subdomain_cut_read(&cut, &x, masked);
            assert_true(block_difference(z, whole, n) <= tolerance(&options));
            for (int64_t i = 0; i < n; i++) assert_true(masked[i] == whole_masked[i]);
            subdomain_cut_vector_destroy(&cut, &x);
            subdomain_cut_vector_destroy(&cut, &y);
            subdomain_cut_destroy(&cut);
            free(masked);
            free(whole_masked);
            free(z);
            free(whole);
            free(r);
            block_destroy(&b);
        }
}

/* -------------------------------------------------------------------------------------------------------- queues */

/* A device of three threads with a queue; its subdomains are made by a thread that has one. */
static void open_queue(const block *b, int flags, fem_subdomain_options *options)
{
    omp_set_num_threads(3);
    assert_int_equal(yoke_device_open(b->context, "openmp", &options->device), YOKE_OK);
    omp_set_num_threads(1);
    assert_int_equal(yoke_queue_create(options->device, flags, &options->queue), YOKE_OK);
}

static void close_queue(fem_subdomain_options *options)
{
    yoke_queue_destroy(options->queue);
    yoke_device_close(options->device);
}

/* Everything that a subdomain has been through in `work`, in this order: x, y, d, then three sums. */
static int64_t work_values(const block *b) { return 3 * subdomain_dofs(b) + 3; }

/* A bit of each operation, none of which waits before the end, on a subdomain whose interface is every third node. */
static void work(const block *b, fem_subdomain_options options, const double *u, double *result)
{
    int64_t n = subdomain_dofs(b);
    int32_t *interface_nodes = block_zeros(b->space->num_nodes, sizeof(int32_t));
    for (int32_t i = 0; i < b->space->num_nodes; i += 3) interface_nodes[options.num_interface++] = i;
    options.interface_nodes = interface_nodes;
    fem_subdomain *subdomain;
    fem_subdomain_vector *x, *y, *d, **all[] = {&x, &y, &d};
    if (fem_subdomain_cpu_create(b->space, b->constraints, &options, &subdomain)) fail_msg("%s", yoke_last_error(b->context));
    subdomain->call->diagonal(subdomain);
    subdomain_exchange_alone(subdomain, b->problem.components == 3 ? 6 : 1);
    subdomain->call->diagonal_finish(subdomain);
    for (int i = 0; i < 3; i++) assert_int_equal(subdomain->call->vector_create(subdomain, all[i]), YOKE_OK);
    subdomain->call->write(subdomain, x, u);
    for (int i = 0; i < 40; i++) { /* many times as many tasks as a subdomain remembers */
        subdomain->call->product_interface(subdomain, x, y);
        subdomain->call->interface_read(subdomain, y);
        subdomain->call->product_interior(subdomain, x, y);
        subdomain->call->mask(subdomain, y);
        subdomain->call->chebyshev_step(subdomain, 0.3, 1e-3, x, y, d, x);
        subdomain->call->axpy(subdomain, 1e-4, y, x);
        subdomain->call->xpby(subdomain, x, 0.5, d);
        subdomain->call->subtract(subdomain, x, d, d);
        subdomain->call->advance(subdomain, 1e-3, d, y, x, d);
        subdomain->call->copy_scaled(subdomain, 0.999, subdomain, x, x);
        subdomain->call->block_solve(subdomain, x, y);
    }
    const fem_subdomain_vector *left[3] = {x, y, d}, *right[3] = {x, x, y};
    subdomain->call->dots(subdomain, 3, left, right);
    subdomain->call->zero(subdomain, y);
    subdomain->call->axpy(subdomain, 2, x, y);
    subdomain->call->dots_wait(subdomain, 3, result + 3 * n);
    for (int i = 0; i < 3; i++) subdomain->call->read_wait(subdomain, *all[i], result + i * n);
    double seconds = subdomain->call->product_seconds_wait(subdomain);
    assert_true(seconds > 0 && isfinite(seconds));
    assert_true(subdomain->call->product_seconds_wait(subdomain) == seconds);
    assert_int_equal(subdomain->status, YOKE_OK);
    for (int i = 0; i < 3; i++) subdomain->call->vector_destroy(subdomain, *all[i]);
    subdomain->call->destroy(subdomain);
    free(interface_nodes);
}

/* The calling thread, the same thread as an inline queue, and a queue's own thread come to the same bits. */
static void a_queue_changes_no_bit(void **state)
{
    (void)state;
    for (int components = 1; components <= 3; components += 2)
        for (int precision = FEM_DOUBLE; precision <= FEM_SINGLE; precision++) {
            fem_subdomain_options options = {.precision = precision, .operator_kind = components == 1 ? FEM_STORED : FEM_MATRIXFREE};
            block b;
            uint64_t random = 24;
            create(&b, components, FEM_Q2);
            double *u = block_random_array(subdomain_dofs(&b), &random);
            double *expected = block_zeros(work_values(&b), sizeof *expected), *got = block_zeros(work_values(&b), sizeof *got);
            omp_set_num_threads(3);
            work(&b, options, u, expected);
            for (int64_t i = 0; i < work_values(&b); i++) assert_true(isfinite(expected[i]) && fabs(expected[i]) < 1e6);
            for (int flags = 0; flags <= YOKE_QUEUE_INLINE; flags += YOKE_QUEUE_INLINE) {
                open_queue(&b, flags, &options);
                work(&b, options, u, got);
                assert_memory_equal(got, expected, sizeof(double) * (size_t)work_values(&b));
                close_queue(&options);
            }
            free(got);
            free(expected);
            free(u);
            block_destroy(&b);
        }
}

static void products_of_subdomains_on_a_queue_add_up(void **state)
{
    (void)state;
    for (int precision = FEM_DOUBLE; precision <= FEM_SINGLE; precision++) {
        fem_subdomain_options options = {.precision = precision};
        block b;
        uint64_t random = 25;
        subdomain_cut cut;
        create(&b, 3, FEM_Q2);
        double *u = block_random_array(subdomain_dofs(&b), &random), *expected = block_zeros(subdomain_dofs(&b), sizeof *expected);
        reference_product(b.space, u, expected);
        open_queue(&b, 0, &options);
        subdomain_cut_create(&cut, &b, 3, NULL, 0);
        subdomain_cut_make(&cut, fem_subdomain_cpu_create, &options);
        subdomain_cut_assert_product(&cut, tolerance(&options), u, expected);
        subdomain_cut_destroy(&cut);
        close_queue(&options);
        free(expected);
        free(u);
        block_destroy(&b);
    }
}

static void folded_elements_and_lack_of_memory_are_reported_through_a_queue(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_options context_options = failing_options(&memory);
    block_options shape = {.elements = {5, 5, 6}, .order = 1, .turn = 5, .components = 3, .memory = &context_options};
    block b;
    block_create(&shape, &b);
    block_discretise(&b, FEM_Q2);
    fem_subdomain_options options = {.num_interface = 2, .interface_nodes = (int32_t[2]){3, 700}};
    open_queue(&b, 0, &options);
    int64_t outstanding = memory.outstanding;
    yoke_status status = YOKE_ERROR_MEMORY;
    for (int n = 1; status; n++) {
        fem_subdomain *subdomain = NULL;
        fem_subdomain_vector *x = NULL;
        memory.fail_at = memory.calls + n;
        status = fem_subdomain_cpu_create(b.space, b.constraints, &options, &subdomain);
        if (!status) status = subdomain->call->vector_create(subdomain, &x);
        assert_true(status == YOKE_OK || status == YOKE_ERROR_MEMORY);
        assert_true(n < 400 && (n > 20 || status));
        if (x) subdomain->call->vector_destroy(subdomain, x);
        if (subdomain) subdomain->call->destroy(subdomain);
        assert_int_equal(memory.outstanding, outstanding);
    }
    memory.fail_at = 0;
    b.space->x[3 * (int64_t)b.space->element_nodes[0]] = (double)NAN;
    fem_subdomain *subdomain = NULL;
    assert_int_equal(fem_subdomain_cpu_create(b.space, b.constraints, &options, &subdomain), YOKE_ERROR_INPUT);
    assert_null(subdomain);
    assert_non_null(strstr(yoke_last_error(b.context), "folds"));
    assert_int_equal(memory.outstanding, outstanding);
    close_queue(&options);
    block_destroy(&b);
    assert_int_equal(memory.outstanding, 0);
}

/* What the decomposition relies on once a device has failed. */
static void after_a_failure_nothing_is_done_and_sums_are_not_numbers(void **state)
{
    (void)state;
    fem_subdomain_options options = {.precision = FEM_DOUBLE};
    block b;
    uint64_t random = 26;
    create(&b, 3, FEM_Q1);
    double *u = block_random_array(subdomain_dofs(&b), &random), *got = block_zeros(subdomain_dofs(&b), sizeof *got), sum;
    for (int queue = 0; queue < 2; queue++) {
        if (queue) open_queue(&b, 0, &options);
        fem_subdomain *subdomain = subdomain_make(&b, 3, &options);
        fem_subdomain_vector *x;
        const fem_subdomain_vector *pair[1];
        assert_int_equal(subdomain->call->vector_create(subdomain, &x), YOKE_OK);
        subdomain->call->write(subdomain, x, u);
        subdomain->status = YOKE_ERROR_DEVICE; /* as the queue's calls would leave it */
        subdomain->call->zero(subdomain, x);
        subdomain->call->product_interior(subdomain, x, x);
        subdomain->call->interface_wait(subdomain);
        pair[0] = x;
        subdomain->call->dots(subdomain, 1, pair, pair);
        subdomain->call->dots_wait(subdomain, 1, &sum);
        assert_true(isnan(sum));
        assert_true(isnan(subdomain->call->product_seconds_wait(subdomain)));
        assert_int_equal(subdomain->call->vector_create(subdomain, &x), YOKE_ERROR_DEVICE);
        subdomain->status = YOKE_OK;
        subdomain->call->read_wait(subdomain, x, got);
        assert_memory_equal(got, u, sizeof(double) * (size_t)subdomain->dofs);
        subdomain->call->vector_destroy(subdomain, x);
        subdomain->call->destroy(subdomain);
        if (queue) close_queue(&options);
    }
    free(got);
    free(u);
    block_destroy(&b);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(products_of_subdomains_add_up_for_q1),
    cmocka_unit_test(products_of_subdomains_add_up_for_s2),
    cmocka_unit_test(products_of_subdomains_add_up_for_q2),
    cmocka_unit_test(products_of_subdomains_add_up_where_every_node_is_everywhere),
    cmocka_unit_test(subdomains_of_one_element_and_of_none_take_part),
    cmocka_unit_test(sums_count_each_dof_once),
    cmocka_unit_test(blocks_and_masks_of_subdomains_are_those_of_the_whole),
    cmocka_unit_test(a_queue_changes_no_bit),
    cmocka_unit_test(products_of_subdomains_on_a_queue_add_up),
    cmocka_unit_test(folded_elements_and_lack_of_memory_are_reported_through_a_queue),
    cmocka_unit_test(after_a_failure_nothing_is_done_and_sums_are_not_numbers),
};

UNIT_MAIN(tests, body_start, body_end)
