/* `yoke bench axmebe` from the inside: its rows, the numbers beside the times, and what becomes of failures. */
#include <math.h>

#include "fixture.h"

#include "base/failing.h"
#include "fem/axmebe.h"
#include "fem/axmebe_output.h"
#include "fem/fixtures/body.h"

static const fem_element elements_of[3] = {FEM_Q1, FEM_S2, FEM_Q2};

static fem_axmebe_options small_options(int components, fem_element element)
{
    return (fem_axmebe_options){.num_sets = 1,
                                .set = {"openmp"},
                                .num_sizes = 2,
                                .size = {8, 27},
                                .element = element,
                                .components = components,
                                .variants = (1u << FEM_AXMEBE_VARIANTS) - 1,
                                .exchanges = 3,
                                .triad = 1000};
}

static void count_row(const fem_axmebe_row *row, void *user)
{
    (void)row;
    ++*(int *)user;
}

static void test_a_run_has_a_row_for_each_variant_and_size(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        yoke_context *context = new_context();
        fem_axmebe_options options = small_options(3, elements_of[i]);
        fem_axmebe_result result;
        int seen = 0;
        must(context, fem_axmebe_run(context, &options, count_row, &seen, &result));
        assert_int_equal(result.num_rows, 2 * FEM_AXMEBE_VARIANTS);
        assert_int_equal(seen, result.num_rows);
        assert_int_equal(result.wrong, 0);
        for (int64_t k = 0; k < result.num_rows; k++) {
            const fem_axmebe_row *row = &result.rows[k];
            assert_int_equal(row->variant, k % FEM_AXMEBE_VARIANTS);
            assert_int_equal(row->elements, k < FEM_AXMEBE_VARIANTS ? 8 : 27);
            assert_int_equal(row->exchange, -1);
            if (row->variant == FEM_AXMEBE_ALG3 + FEM_BENCH_BLAS && row->why_not[0]) continue;
            if (row->variant == FEM_AXMEBE_COLOUR || row->variant == FEM_AXMEBE_ATOMIC) { /* the run is one of the host's cores */
                assert_non_null(strstr(row->why_not, "one way"));
                continue;
            }
            assert_string_equal(row->why_not, "");
            assert_true(row->difference <= FEM_AXMEBE_TOLERANCE && row->time.median_s > 0 && row->triad_bytes_per_s > 0);
            assert_int_equal(isnan(row->transferred_s), row->variant < FEM_AXMEBE_ALG3);
        }
        fem_axmebe_result_destroy(&result);
        yoke_context_destroy(context);
    }
}

/* By hand: one q2 element of elasticity has 81 x 82 / 2 values and 27 numbers; u and y have 81 values. */
static void test_the_least_bytes_are_those_of_one_element(void **state)
{
    (void)state;
    yoke_context *context = new_context();
    fem_bench_model *model;
    must(context, fem_bench_cube_of(context, &(fem_bench_cube_options){.elements = 1, .element = FEM_Q2, .components = 3}, &model));
    assert_true(fem_axmebe_least_bytes(model->space, FEM_AXMEBE_STORED) == 3321 * 8 + 27 * 4 + 2 * 81 * 8);
    assert_true(fem_axmebe_least_bytes(model->space, FEM_AXMEBE_ALG3) == 3321 * 8 + 27 * 4 + 2 * 81 * 8);
    assert_true(fem_axmebe_least_bytes(model->space, FEM_AXMEBE_MATRIXFREE) == 27 * 10 * 8 + 27 * 4 + 2 * 81 * 8);
    assert_true(fem_axmebe_least_bytes(model->space, FEM_AXMEBE_ATOMIC) == fem_axmebe_least_bytes(model->space, FEM_AXMEBE_COLOUR));
    for (int32_t node = 0; node < model->space->num_nodes; node++) /* lexicographic or not: a cube of 3 x 3 x 3 */
        for (int s = 0; s < 27; s++)
            if (model->space->element_nodes[s] == node)
                for (int a = 0; a < 3; a++) model->space->x[3 * node + a] = (double)(s / (a == 0 ? 1 : a == 1 ? 3 : 9) % 3);
    assert_true(fem_axmebe_least_bytes(model->space, FEM_AXMEBE_COLOUR) == 10 * 8 + 27 * 4 + 2 * 81 * 8);
    fem_bench_model_destroy(model);
    yoke_context_destroy(context);
}

/*
 * 512 elements are one tree refined three times, whose halves in Morton order meet at its middle plane: (2 x 8 + 1)^2 q2 nodes of three values
 * go from each device and back to it.  Full exchange moves all (2 x 8 + 1)^3 of them.
 */
static void test_halo_moves_the_cut_and_full_exchange_all(void **state)
{
    (void)state;
    yoke_context *context = new_context();
    read_gpus(context);
    fem_axmebe_options options = small_options(3, FEM_Q2);
    fem_axmebe_result result;
    options.num_sizes = 1;
    options.size[0] = 512;
    options.variants = 1u << FEM_AXMEBE_MATRIXFREE;
    strcpy(options.set[0], "sim:a+sim:b");
    must(context, fem_axmebe_run(context, &options, NULL, NULL, &result));
    assert_int_equal(result.num_rows, 2);
    const fem_axmebe_row *halo = &result.rows[0], *full = fem_axmebe_find(&result, halo, FEM_EXCHANGE_FULL);
    assert_int_equal(halo->exchange, FEM_EXCHANGE_HALO);
    assert_ptr_equal(full, &result.rows[1]);
    assert_int_equal(halo->exchange_bytes, 17 * 17 * 3 * 8 * 2 * 2);
    assert_int_equal(full->exchange_bytes, 17 * 17 * 17 * 3 * 8 * 2 * 2);
    assert_null(fem_axmebe_find(&result, halo, -1));
    fem_axmebe_result_destroy(&result);
    yoke_context_destroy(context);
}

/* Each way of adding up, on a device alone and beside another. */
static void test_ways_of_adding_up_are_measured_on_devices(void **state)
{
    (void)state;
    yoke_context *context = new_context();
    read_gpus(context);
    fem_axmebe_options options = small_options(3, FEM_Q2);
    fem_axmebe_result result;
    options.num_sets = 2;
    options.num_sizes = 1;
    options.variants = 1u << FEM_AXMEBE_MATRIXFREE | 1u << FEM_AXMEBE_COLOUR | 1u << FEM_AXMEBE_ATOMIC;
    options.exchanges = 1;
    strcpy(options.set[0], "sim:a");
    strcpy(options.set[1], "openmp+sim:b");
    must(context, fem_axmebe_run(context, &options, NULL, NULL, &result));
    assert_int_equal(result.num_rows, 6);
    for (int64_t k = 0; k < 6; k++) {
        assert_string_equal(result.rows[k].why_not, "");
        assert_true(result.rows[k].difference <= FEM_AXMEBE_TOLERANCE && result.rows[k].time.median_s > 0);
    }
    fem_axmebe_result_destroy(&result);
    yoke_context_destroy(context);
}

static void test_a_device_that_fails_becomes_a_reason(void **state)
{
    (void)state;
    yoke_context *context = new_context();
    read_gpus(context);
    fem_axmebe_options options = small_options(1, FEM_Q1);
    fem_axmebe_result result;
    options.num_sets = 2;
    options.num_sizes = 1;
    strcpy(options.set[0], "sim:broken");
    strcpy(options.set[1], "openmp");
    must(context, fem_axmebe_run(context, &options, NULL, NULL, &result));
    assert_int_equal(result.num_rows, 2 * FEM_AXMEBE_VARIANTS);
    for (int64_t k = 0; k < FEM_AXMEBE_ALG3; k++) assert_string_not_equal(result.rows[k].why_not, "");
    for (int64_t k = FEM_AXMEBE_VARIANTS; k < result.num_rows; k++)
        if (result.rows[k].variant < FEM_AXMEBE_COLOUR || result.rows[k].variant > FEM_AXMEBE_ALG3 + FEM_BENCH_BLAS)
            assert_string_equal(result.rows[k].why_not, "");
    fem_axmebe_result_destroy(&result);
    yoke_context_destroy(context);
}

static void test_too_many_elements_are_refused(void **state)
{
    (void)state;
    yoke_context *context = new_context();
    fem_axmebe_options options = small_options(3, FEM_Q2);
    fem_axmebe_result result;
    options.size[0] = 2000000000;
    assert_int_equal(fem_axmebe_run(context, &options, NULL, NULL, &result), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(context), "GB"));
    assert_int_equal(result.num_rows, 0);
    fem_axmebe_result_destroy(&result);
    yoke_context_destroy(context);
}

/*
 * A whole run where memory ends at the n-th allocation, for each n until one goes through: it is refused, or a row's reason says so, and all
 * memory is given back.
 */
static void test_no_failing_allocation_is_missed(void **state)
{
    (void)state;
    int finished = 0, refused = 0;
    for (int64_t fail_at = 1; !finished; fail_at += fail_at < 40 ? 1 : fail_at / 40) {
        failing memory = {.fail_at = 0};
        const yoke_options context_options = failing_options(&memory);
        yoke_context *context;
        assert_int_equal(yoke_context_create(&context_options, &context), YOKE_OK);
        fem_axmebe_options options = small_options(1, FEM_Q1);
        fem_axmebe_result result;
        options.num_sizes = 1;
        memory.fail_at = memory.calls + fail_at;
        yoke_status status = fem_axmebe_run(context, &options, NULL, NULL, &result);
        finished = memory.calls < memory.fail_at;
        memory.fail_at = 0;
        if (finished)
            must(context, status);
        else if (status)
            assert_int_equal(status, YOKE_ERROR_MEMORY);
        refused += status != YOKE_OK;
        fem_axmebe_result_destroy(&result);
        yoke_context_destroy(context);
        assert_int_equal(memory.outstanding, 0);
    }
    assert_true(refused > 20);
}

static void test_rows_are_recorded_with_what_is_not_known_as_null(void **state)
{
    (void)state;
    yoke_context *context = new_context();
    fem_axmebe_options options = small_options(1, FEM_Q1);
    fem_axmebe_result result;
    options.num_sizes = 1;
    options.variants = 1u << FEM_AXMEBE_STORED;
    must(context, fem_axmebe_run(context, &options, NULL, NULL, &result));
    json_t *rows = fem_axmebe_rows(&result), *row = json_array_get(rows, 0);
    assert_int_equal(json_array_size(rows), 1);
    assert_string_equal(json_string_value(json_object_get(row, "variant")), "stored");
    assert_int_equal(json_integer_value(json_object_get(row, "elements")), 8);
    assert_int_equal(json_integer_value(json_object_get(row, "dofs")), 27);
    assert_true(json_real_value(json_object_get(row, "seconds_per_product")) > 0);
    assert_true(json_is_null(json_object_get(row, "exchange")) && json_is_null(json_object_get(row, "why_not")));
    assert_true(json_is_null(json_object_get(row, "seconds_with_transfers")));
    json_decref(rows);
    fem_axmebe_result_destroy(&result);
    yoke_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_a_run_has_a_row_for_each_variant_and_size),
    cmocka_unit_test(test_the_least_bytes_are_those_of_one_element),
    cmocka_unit_test(test_halo_moves_the_cut_and_full_exchange_all),
    cmocka_unit_test(test_ways_of_adding_up_are_measured_on_devices),
    cmocka_unit_test(test_a_device_that_fails_becomes_a_reason),
    cmocka_unit_test(test_too_many_elements_are_refused),
    cmocka_unit_test(test_no_failing_allocation_is_missed),
    cmocka_unit_test(test_rows_are_recorded_with_what_is_not_known_as_null),
};

UNIT_MAIN(tests, body_start, body_end)
