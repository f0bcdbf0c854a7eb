/* Parts that share a space: what each does alone, against the reference on its own elements, and that together they are the whole. */
#include <math.h>

#include <omp.h>

#include "unit.h"

#include "base/failing.h"
#include "fem/body.h"
#include "fem/part_cut.h"
#include "fem/part_settings.h"
#include "fem/reference_operator.h"

static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};

static double tolerance(const fem_part_options *options) { return options->precision == FEM_DOUBLE ? 1e-12 : 2e-5; }

/* The block of all tests here: hanging nodes, two materials, dofs held on two faces. */
static void create(block *b, int components, fem_element element)
{
    part_create_hanging(b, components);
    block_add_condition(b, (fem_condition){FEM_DIRICHLET, 0, components == 3 ? 5 : 1, {1, 1, 1}});
    block_add_condition(b, (fem_condition){FEM_DIRICHLET, 3, components == 3 ? 2 : 1, {1, 1, 1}});
    block_discretise(b, element);
}

/* ----------------------------------------------------------------------------------------------------- products */

static void assert_products(const block *b, int count, int everywhere)
{
    uint64_t random = 17;
    double *u = block_random_array(part_dofs(b), &random), *expected = block_zeros(part_dofs(b), sizeof *expected);
    reference_product(b->space, u, expected);
    for (int precision = FEM_DOUBLE; precision <= FEM_SINGLE; precision++)
        for (int stored = FEM_MATRIXFREE; stored <= FEM_STORED; stored++) {
            fem_part_options options = {.precision = precision, .operator_kind = stored};
            part_cut cut;
            part_cut_create(&cut, b, count, NULL, everywhere);
            part_cut_make(&cut, fem_part_cpu_create, &options);
            part_cut_assert_product(&cut, tolerance(&options), u, expected);
            part_cut_destroy(&cut);
        }
    free(expected);
    free(u);
}

static void assert_products_of(fem_element element)
{
    for (int components = 1; components <= 3; components += 2) {
        block b;
        create(&b, components, element);
        for (int count = 1; count <= PART_CUT_MOST; count++) assert_products(&b, count, 0);
        block_destroy(&b);
    }
}

static void products_of_parts_add_up_for_q1(void **state)
{
    (void)state;
    assert_products_of(FEM_Q1);
}

static void products_of_parts_add_up_for_s2(void **state)
{
    (void)state;
    assert_products_of(FEM_S2);
}

static void products_of_parts_add_up_for_q2(void **state)
{
    (void)state;
    assert_products_of(FEM_Q2);
}

static void products_of_parts_add_up_where_every_node_is_everywhere(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        block b;
        create(&b, i == 1 ? 1 : 3, elements[i]);
        assert_products(&b, 3, 1);
        block_destroy(&b);
    }
}

/* A part without interface does all in its second step; with one, parts of one element and of none take their share. */
static void parts_of_one_element_and_of_none_take_part(void **state)
{
    (void)state;
    block b;
    uint64_t random = 18;
    create(&b, 3, FEM_Q2);
    int32_t at[4] = {0, 1, 1, b.space->num_elements - 1};
    double *u = block_random_array(part_dofs(&b), &random), *expected = block_zeros(part_dofs(&b), sizeof *expected);
    reference_product(b.space, u, expected);
    for (int precision = FEM_DOUBLE; precision <= FEM_SINGLE; precision++) {
        fem_part_options options = {.precision = precision};
        part_cut cut;
        part_cut_create(&cut, &b, 5, at, 0);
        assert_int_equal(cut.sub[0]->space->num_elements, 0);
        assert_int_equal(cut.sub[1]->space->num_elements, 1);
        part_cut_make(&cut, fem_part_cpu_create, &options);
        part_cut_assert_product(&cut, tolerance(&options), u, expected);
        part_cut_destroy(&cut);
    }
    free(expected);
    free(u);
    block_destroy(&b);
}

/* -------------------------------------------------------------------------------------- sums, blocks, held dofs */

static void sums_count_each_dof_once(void **state)
{
    (void)state;
    for (int components = 1; components <= 3; components += 2)
        for (int precision = FEM_DOUBLE; precision <= FEM_SINGLE; precision++) {
            block b;
            uint64_t random = 19;
            create(&b, components, FEM_Q2);
            int64_t n = part_dofs(&b);
            double *u = block_random_array(n, &random), *v = block_random_array(n, &random);
            for (int count = 1; count <= PART_CUT_MOST; count++) {
                double sums[2], total[2] = {0};
                part_cut cut;
                part_cut_vector x, y;
                part_cut_create(&cut, &b, count, NULL, count == 4);
                part_cut_make(&cut, fem_part_cpu_create, &(fem_part_options){.precision = precision});
                part_cut_vector_create(&cut, u, &x);
                part_cut_vector_create(&cut, v, &y);
                for (int i = 0; i < count; i++) {
                    const fem_part_vector *left[2] = {x.on[i], y.on[i]}, *right[2] = {y.on[i], y.on[i]};
                    cut.part[i]->call->dots(cut.part[i], 2, left, right);
                    cut.part[i]->call->dots_wait(cut.part[i], 2, sums);
                    total[0] += sums[0];
                    total[1] += sums[1];
                }
                double near = (precision == FEM_DOUBLE ? 1e-14 : 1e-6) * (double)n;
                assert_true(fabs(total[0] - part_dot(u, v, n)) <= near);
                assert_true(fabs(total[1] - part_dot(v, v, n)) <= near);
                part_cut_vector_destroy(&cut, &x);
                part_cut_vector_destroy(&cut, &y);
                part_cut_destroy(&cut);
            }
            free(v);
            free(u);
            block_destroy(&b);
        }
}

/* z = B r and the masked r of the whole. */
static void solve_whole(const block *b, const fem_part_options *options, const double *r, double *z, double *masked)
{
    fem_part *part = part_make(b, 2, options);
    fem_part_vector *x, *y;
    assert_int_equal(part->call->vector_create(part, &x), YOKE_OK);
    assert_int_equal(part->call->vector_create(part, &y), YOKE_OK);
    part->call->write(part, x, r);
    part->call->block_solve(part, x, y);
    part->call->mask(part, x);
    part->call->read_wait(part, x, masked);
    part->call->read_wait(part, y, z);
    part->call->vector_destroy(part, x);
    part->call->vector_destroy(part, y);
    part->call->destroy(part);
}

static void blocks_and_masks_of_parts_are_those_of_the_whole(void **state)
{
    (void)state;
    for (int components = 1; components <= 3; components += 2)
        for (int k = 0; k < 6; k++) {
            fem_part_options options = {.precision = k % 2 ? FEM_SINGLE : FEM_DOUBLE, .operator_kind = k % 3 ? FEM_MATRIXFREE : FEM_STORED};
            block b;
            uint64_t random = 20;
            create(&b, components, elements[k / 2]);
            int64_t n = part_dofs(&b);
            double *r = block_random_array(n, &random), *whole = block_zeros(n, sizeof *whole), *z = block_zeros(n, sizeof *z);
            double *whole_masked = block_zeros(n, sizeof *whole_masked), *masked = block_zeros(n, sizeof *masked);
            solve_whole(&b, &options, r, whole, whole_masked);
            part_cut cut;
            part_cut_vector x, y;
            part_cut_create(&cut, &b, 4, NULL, k == 2);
            part_cut_make(&cut, fem_part_cpu_create, &options);
            part_cut_vector_create(&cut, r, &x);
            part_cut_vector_create(&cut, r, &y);
            for (int i = 0; i < 4; i++) {
                cut.part[i]->call->block_solve(cut.part[i], x.on[i], y.on[i]);
                cut.part[i]->call->mask(cut.part[i], x.on[i]);
            }
            part_cut_read(&cut, &y, z);
            part_cut_read(&cut, &x, masked);
            assert_true(block_difference(z, whole, n) <= tolerance(&options));
            for (int64_t i = 0; i < n; i++) assert_true(masked[i] == whole_masked[i]);
            part_cut_vector_destroy(&cut, &x);
            part_cut_vector_destroy(&cut, &y);
            part_cut_destroy(&cut);
            free(masked);
            free(whole_masked);
            free(z);
            free(whole);
            free(r);
            block_destroy(&b);
        }
}

/* -------------------------------------------------------------------------------------------------------- queues */

/* A device of three threads with a queue; its parts are made by a thread that has one. */
static void open_queue(const block *b, int flags, fem_part_options *options)
{
    omp_set_num_threads(3);
    assert_int_equal(yoke_device_open(b->context, "openmp", &options->device), YOKE_OK);
    omp_set_num_threads(1);
    assert_int_equal(yoke_queue_create(options->device, flags, &options->queue), YOKE_OK);
}

static void close_queue(fem_part_options *options)
{
    yoke_queue_destroy(options->queue);
    yoke_device_close(options->device);
}

/* Everything that a part has been through in `work`, in this order: x, y, d, then three sums. */
static int64_t work_values(const block *b) { return 3 * part_dofs(b) + 3; }

/* A bit of each operation, none of which waits before the end, on a part whose interface is every third node. */
static void work(const block *b, fem_part_options options, const double *u, double *result)
{
    int64_t n = part_dofs(b);
    int32_t *interface_nodes = block_zeros(b->space->num_nodes, sizeof(int32_t));
    for (int32_t i = 0; i < b->space->num_nodes; i += 3) interface_nodes[options.num_interface++] = i;
    options.interface_nodes = interface_nodes;
    fem_part *part;
    fem_part_vector *x, *y, *d, **all[] = {&x, &y, &d};
    if (fem_part_cpu_create(b->space, b->constraints, &options, &part)) fail_msg("%s", yoke_last_error(b->context));
    part->call->diagonal(part);
    part_exchange_alone(part, b->problem.components == 3 ? 6 : 1);
    part->call->diagonal_finish(part);
    for (int i = 0; i < 3; i++) assert_int_equal(part->call->vector_create(part, all[i]), YOKE_OK);
    part->call->write(part, x, u);
    for (int i = 0; i < 40; i++) { /* many times as many tasks as a part remembers */
        part->call->product_interface(part, x, y);
        part->call->interface_read(part, y);
        part->call->product_interior(part, x, y);
        part->call->mask(part, y);
        part->call->chebyshev_step(part, 0.3, 1e-3, x, y, d, x);
        part->call->axpy(part, 1e-4, y, x);
        part->call->xpby(part, x, 0.5, d);
        part->call->subtract(part, x, d, d);
        part->call->advance(part, 1e-3, d, y, x, d);
        part->call->copy_scaled(part, 0.999, part, x, x);
        part->call->block_solve(part, x, y);
    }
    const fem_part_vector *left[3] = {x, y, d}, *right[3] = {x, x, y};
    part->call->dots(part, 3, left, right);
    part->call->zero(part, y);
    part->call->axpy(part, 2, x, y);
    part->call->dots_wait(part, 3, result + 3 * n);
    for (int i = 0; i < 3; i++) part->call->read_wait(part, *all[i], result + i * n);
    double seconds = part->call->product_seconds_wait(part);
    assert_true(seconds > 0 && isfinite(seconds));
    assert_true(part->call->product_seconds_wait(part) == seconds);
    assert_int_equal(part->status, YOKE_OK);
    for (int i = 0; i < 3; i++) part->call->vector_destroy(part, *all[i]);
    part->call->destroy(part);
    free(interface_nodes);
}

/* The calling thread, the same thread as an inline queue, and a queue's own thread come to the same bits. */
static void a_queue_changes_no_bit(void **state)
{
    (void)state;
    for (int components = 1; components <= 3; components += 2)
        for (int precision = FEM_DOUBLE; precision <= FEM_SINGLE; precision++) {
            fem_part_options options = {.precision = precision, .operator_kind = components == 1 ? FEM_STORED : FEM_MATRIXFREE};
            block b;
            uint64_t random = 24;
            create(&b, components, FEM_Q2);
            double *u = block_random_array(part_dofs(&b), &random);
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

static void products_of_parts_on_a_queue_add_up(void **state)
{
    (void)state;
    for (int precision = FEM_DOUBLE; precision <= FEM_SINGLE; precision++) {
        fem_part_options options = {.precision = precision};
        block b;
        uint64_t random = 25;
        part_cut cut;
        create(&b, 3, FEM_Q2);
        double *u = block_random_array(part_dofs(&b), &random), *expected = block_zeros(part_dofs(&b), sizeof *expected);
        reference_product(b.space, u, expected);
        open_queue(&b, 0, &options);
        part_cut_create(&cut, &b, 3, NULL, 0);
        part_cut_make(&cut, fem_part_cpu_create, &options);
        part_cut_assert_product(&cut, tolerance(&options), u, expected);
        part_cut_destroy(&cut);
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
    fem_part_options options = {.num_interface = 2, .interface_nodes = (int32_t[2]){3, 700}};
    open_queue(&b, 0, &options);
    int64_t outstanding = memory.outstanding;
    yoke_status status = YOKE_ERROR_MEMORY;
    for (int n = 1; status; n++) {
        fem_part *part = NULL;
        fem_part_vector *x = NULL;
        memory.fail_at = memory.calls + n;
        status = fem_part_cpu_create(b.space, b.constraints, &options, &part);
        if (!status) status = part->call->vector_create(part, &x);
        assert_true(status == YOKE_OK || status == YOKE_ERROR_MEMORY);
        assert_true(n < 400 && (n > 20 || status));
        if (x) part->call->vector_destroy(part, x);
        if (part) part->call->destroy(part);
        assert_int_equal(memory.outstanding, outstanding);
    }
    memory.fail_at = 0;
    b.space->x[3 * (int64_t)b.space->element_nodes[0]] = (double)NAN;
    fem_part *part = NULL;
    assert_int_equal(fem_part_cpu_create(b.space, b.constraints, &options, &part), YOKE_ERROR_INPUT);
    assert_null(part);
    assert_non_null(strstr(yoke_last_error(b.context), "folds"));
    assert_int_equal(memory.outstanding, outstanding);
    close_queue(&options);
    block_destroy(&b);
    assert_int_equal(memory.outstanding, 0);
}

/* What the team relies on once a device has failed. */
static void after_a_failure_nothing_is_done_and_sums_are_not_numbers(void **state)
{
    (void)state;
    fem_part_options options = {.precision = FEM_DOUBLE};
    block b;
    uint64_t random = 26;
    create(&b, 3, FEM_Q1);
    double *u = block_random_array(part_dofs(&b), &random), *got = block_zeros(part_dofs(&b), sizeof *got), sum;
    for (int queue = 0; queue < 2; queue++) {
        if (queue) open_queue(&b, 0, &options);
        fem_part *part = part_make(&b, 3, &options);
        fem_part_vector *x;
        const fem_part_vector *pair[1];
        assert_int_equal(part->call->vector_create(part, &x), YOKE_OK);
        part->call->write(part, x, u);
        part->status = YOKE_ERROR_DEVICE; /* as the queue's calls would leave it */
        part->call->zero(part, x);
        part->call->product_interior(part, x, x);
        part->call->interface_wait(part);
        pair[0] = x;
        part->call->dots(part, 1, pair, pair);
        part->call->dots_wait(part, 1, &sum);
        assert_true(isnan(sum));
        assert_true(isnan(part->call->product_seconds_wait(part)));
        assert_int_equal(part->call->vector_create(part, &x), YOKE_ERROR_DEVICE);
        part->status = YOKE_OK;
        part->call->read_wait(part, x, got);
        assert_memory_equal(got, u, sizeof(double) * (size_t)part->dofs);
        part->call->vector_destroy(part, x);
        part->call->destroy(part);
        if (queue) close_queue(&options);
    }
    free(got);
    free(u);
    block_destroy(&b);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(products_of_parts_add_up_for_q1),
    cmocka_unit_test(products_of_parts_add_up_for_s2),
    cmocka_unit_test(products_of_parts_add_up_for_q2),
    cmocka_unit_test(products_of_parts_add_up_where_every_node_is_everywhere),
    cmocka_unit_test(parts_of_one_element_and_of_none_take_part),
    cmocka_unit_test(sums_count_each_dof_once),
    cmocka_unit_test(blocks_and_masks_of_parts_are_those_of_the_whole),
    cmocka_unit_test(a_queue_changes_no_bit),
    cmocka_unit_test(products_of_parts_on_a_queue_add_up),
    cmocka_unit_test(folded_elements_and_lack_of_memory_are_reported_through_a_queue),
    cmocka_unit_test(after_a_failure_nothing_is_done_and_sums_are_not_numbers),
};

UNIT_MAIN(tests, body_start, body_end)
