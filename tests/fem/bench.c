/* `yoke bench axmebe` and `overhead` from the inside: what is measured computes the product, and the numbers beside the times are right. */
#include <math.h>

#include "unit.h"

#include "base/failing.h"
#include "bench_axmebe.h"
#include "bench_axmebe_output.h"
#include "bench_overhead.h"
#include "block.h"
#include "body.h"
#include "reference_operator.h"

static const fem_element elements_of[3] = {FEM_Q1, FEM_S2, FEM_Q2};
static const int nodes_of[3] = {8, 20, 27};

static yoke_context *new_context(void)
{
    yoke_context *context;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    return context;
}

static void must(yoke_context *context, yoke_status status)
{
    if (status) fail_msg("%s", yoke_last_error(context));
}

/* Writes a machine file into a directory of the test, and reads it. */
static void read_machine(yoke_context *context, const char *devices)
{
    char path[] = "/tmp/yoke-bench-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    FILE *out = fdopen(file, "w");
    assert_non_null(out);
    fprintf(out, "{\"name\": \"test\", \"devices\": [%s]}", devices);
    fclose(out);
    yoke_status status = yoke_machine_read(context, path);
    remove(path);
    must(context, status);
}

static const char two_gpus[] = "{\"name\": \"a\", \"class\": \"gpu\", \"seconds_per_unit\": 1e-6},"
                               "{\"name\": \"b\", \"class\": \"gpu\", \"seconds_per_unit\": 1e-6},"
                               "{\"name\": \"broken\", \"class\": \"gpu\", \"seconds_per_unit\": 1e-6,"
                               " \"fault\": {\"call\": 45, \"kind\": \"lost\"}}";

/* ----------------------------------------------------------------------------------------------- statistics */

static void test_quantiles_lie_between_sorted_values(void **state)
{
    (void)state;
    double values[] = {4, 1, 3, 2};
    assert_true(fem_bench_quantile(values, 4, 0) == 1);
    assert_true(fem_bench_quantile(values, 4, 1) == 4);
    assert_true(fem_bench_quantile(values, 4, 0.5) == 2.5);
    assert_true(fem_bench_quantile(values, 4, 0.25) == 1.75);
    assert_true(fem_bench_quantile(values, 1, 0.5) == 1);
}

static void test_a_difference_counts_only_beyond_its_uncertainty(void **state)
{
    (void)state;
    enum { PAIRS = 400 };
    yoke_context *context = new_context();
    fem_bench_difference d;
    double a[PAIRS], b[PAIRS], drift[PAIRS];
    uint64_t random = 3;
    for (int i = 0; i < PAIRS; i++) drift[i] = 10 + 0.1 * i;
    for (int i = 0; i < PAIRS; i++) { /* the same on both sides, but for noise of 1 */
        a[i] = drift[i] + block_random(&random);
        b[i] = drift[i] + block_random(&random);
    }
    must(context, fem_bench_compare(context, a, b, PAIRS, &d));
    assert_true(d.below_noise && fabs(d.median) < 0.1 && d.uncertainty > 0 && d.uncertainty < 0.1);
    for (int i = 0; i < PAIRS; i++) a[i] += 0.5;
    must(context, fem_bench_compare(context, a, b, PAIRS, &d));
    assert_true(!d.below_noise && fabs(d.median - 0.5) < 0.1);
    assert_true(fabs(d.median_a - d.median_b - 0.5) < 0.3);
    must(context, fem_bench_compare(context, (double[]){2, 2}, (double[]){1, 1}, 2, &d));
    assert_true(isnan(d.uncertainty) && d.below_noise && d.median == 1);
    yoke_context_destroy(context);
}

/*
 * How often the interval holds the true difference, over many experiments: 95 % are promised, and the median's interval from so few pairs is
 * allowed 90 to 99.
 */
static void test_the_uncertainty_is_that_of_normal_noise(void **state)
{
    (void)state;
    enum { EXPERIMENTS = 2000, PAIRS = 25 };
    yoke_context *context = new_context();
    uint64_t random = 11;
    int inside = 0;
    for (int k = 0; k < EXPERIMENTS; k++) {
        double a[PAIRS], b[PAIRS];
        fem_bench_difference d;
        for (int i = 0; i < PAIRS; i++) {
            double normal = 0; /* Irwin and Hall */
            for (int j = 0; j < 12; j++) normal += block_random(&random) - 0.5;
            a[i] = 7 + normal;
            b[i] = 5;
        }
        must(context, fem_bench_compare(context, a, b, PAIRS, &d));
        inside += fabs(d.median - 2) <= d.uncertainty;
    }
    assert_in_range(inside, EXPERIMENTS * 90 / 100, EXPERIMENTS * 99 / 100);
    yoke_context_destroy(context);
}

typedef struct counted {
    yoke_context *context;
    int64_t times, fail_at;
} counted;

static yoke_status count_work(void *user, int64_t times)
{
    counted *work = user;
    work->times += times;
    return work->fail_at && work->times >= work->fail_at ? yoke_fail(work->context, YOKE_ERROR_DEVICE, "enough") : YOKE_OK;
}

static void test_what_is_measured_is_counted(void **state)
{
    (void)state;
    yoke_context *context = new_context();
    counted work = {.context = context};
    fem_bench_time time;
    must(context, fem_bench_measure(context, 0, count_work, &work, &time));
    assert_int_equal(time.batches, 3);
    assert_int_equal(time.times, 3);
    assert_int_equal(work.times, 5);
    assert_true(time.quartile_low_s <= time.median_s && time.median_s <= time.quartile_high_s);
    work = (counted){.context = context, .fail_at = 4};
    assert_int_equal(fem_bench_measure(context, 0, count_work, &work, &time), YOKE_ERROR_DEVICE);
    assert_int_equal(work.times, 4);
    yoke_context_destroy(context);
}

/* ---------------------------------------------------------------------------------------------------- models */

static void test_cubes_have_about_the_elements_asked_for(void **state)
{
    (void)state;
    static const struct {
        int64_t asked, got;
    } exact[] = {{1, 1}, {8, 8}, {512, 512}, {1000, 1000}, {4096, 4096}, {8000, 8000}, {32768, 32768}};
    int trees[3], level;
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
        fem_bench_cube_size(exact[i].asked, trees, &level);
        assert_int_equal((int64_t)trees[0] * trees[1] * trees[2] << 3 * level, exact[i].got);
    }
    for (int64_t asked = 50; asked < 3000000; asked += asked / 7) {
        fem_bench_cube_size(asked, trees, &level);
        double got = (double)((int64_t)trees[0] * trees[1] * trees[2] << 3 * level);
        assert_true(fabs(got - (double)asked) <= (level ? 0.02 : 0.3) * (double)asked);
        assert_true(trees[2] - trees[0] <= 1 && trees[0] <= trees[1] && trees[1] <= trees[2]);
    }
}

static void test_a_mesh_of_a_case_is_refined_to_about_the_elements_asked_for(void **state)
{
    (void)state;
    block b;
    fem_bench_model *model;
    block_options options = {.elements = {3, 2, 2}, .order = 1, .components = 3};
    block_create(&options, &b);
    block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 0, 7, {0}});
    b.problem.element = FEM_Q2;
    assert_int_equal(fem_bench_refined(&b.problem, 11, &model), YOKE_ERROR_INPUT);
    must(b.context, fem_bench_refined(&b.problem, 12, &model));
    assert_int_equal(model->space->num_elements, 12);
    assert_int_equal(model->space->num_hanging, 0);
    fem_bench_model_destroy(model);
    must(b.context, fem_bench_refined(&b.problem, 300, &model));
    assert_true(model->space->num_elements >= 290 && model->space->num_elements <= 420);
    assert_true(model->space->num_hanging > 0);
    for (int32_t n = 0; n < model->space->num_nodes; n++) assert_int_equal(model->constraints->prescribed[n], 0);
    fem_bench_model_destroy(model);
    block_destroy(&b);
}

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
    assert_true(fem_bench_device_bytes(made) > 2.0 * (double)made->elements * (double)fem_bench_packed(made) * sizeof(double));
    fem_bench_device_destroy(bench);
    fem_bench_elements_destroy(made);
    fem_devices_close(devices);
    free(u);
    free(y);
    block_destroy(&b);
}

/* ------------------------------------------------------------------------------------------------------ runs */

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
    must(context, fem_bench_cube(context, 1, FEM_Q2, 3, &model));
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
    read_machine(context, two_gpus);
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
    read_machine(context, two_gpus);
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
    read_machine(context, two_gpus);
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

/* Measuring must not change what is computed, nor its absence. */
static void test_without_measuring_the_solution_is_the_same(void **state)
{
    (void)state;
    yoke_context *context = new_context();
    read_machine(context, two_gpus);
    fem_devices *devices;
    fem_bench_model *model;
    fem_solution *solution[2];
    must(context, fem_bench_cube(context, 64, FEM_Q2, 1, &model));
    for (int32_t n = 0; n < model->space->num_nodes / 4; n++) {
        model->constraints->prescribed[n] = 1;
        model->constraints->value[n] = n % 7; /* without values and loads there is nothing to solve */
    }
    must(context, fem_devices_open(context, "openmp,sim:a", &devices));
    const int32_t cut[] = {0, 30, 64};
    const int64_t dofs = model->space->num_nodes;
    uint64_t random = 2;
    double *start = block_random_array(dofs, &random);
    for (int unmeasured = 0; unmeasured < 2; unmeasured++) {
        const fem_solve_options options = {.solver = FEM_SOLVER_JACOBI,
                                           .relative_residual = 1e-8,
                                           .max_iterations = 1000,
                                           .devices = devices,
                                           .cut = cut,
                                           .unmeasured = unmeasured};
        must(context, fem_solve(model->space, model->boundary, model->constraints, start, &options, NULL, &solution[unmeasured]));
    }
    assert_memory_equal(solution[0]->u, solution[1]->u, (size_t)dofs * sizeof(double));
    assert_int_equal(solution[0]->iterations, solution[1]->iterations);
    assert_true(solution[0]->iterations > 3);
    for (int i = 0; i < 2; i++) {
        assert_true(solution[0]->shares[i].seconds_per_product > 0);
        assert_true(isnan(solution[1]->shares[i].seconds_per_product));
    }
    for (int i = 0; i < 2; i++) fem_solution_destroy(solution[i]);
    free(start);
    fem_devices_close(devices);
    fem_bench_model_destroy(model);
    yoke_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_quantiles_lie_between_sorted_values),
    cmocka_unit_test(test_a_difference_counts_only_beyond_its_uncertainty),
    cmocka_unit_test(test_the_uncertainty_is_that_of_normal_noise),
    cmocka_unit_test(test_what_is_measured_is_counted),
    cmocka_unit_test(test_cubes_have_about_the_elements_asked_for),
    cmocka_unit_test(test_a_mesh_of_a_case_is_refined_to_about_the_elements_asked_for),
    cmocka_unit_test(test_elements_of_a_colour_share_no_node),
    cmocka_unit_test(test_the_variants_compute_the_product_on_the_host),
    cmocka_unit_test(test_the_variants_compute_the_product_by_opencl),
    cmocka_unit_test(test_with_transfers_the_vectors_come_from_the_host),
    cmocka_unit_test(test_a_run_has_a_row_for_each_variant_and_size),
    cmocka_unit_test(test_the_least_bytes_are_those_of_one_element),
    cmocka_unit_test(test_halo_moves_the_cut_and_full_exchange_all),
    cmocka_unit_test(test_ways_of_adding_up_are_measured_on_devices),
    cmocka_unit_test(test_a_device_that_fails_becomes_a_reason),
    cmocka_unit_test(test_too_many_elements_are_refused),
    cmocka_unit_test(test_no_failing_allocation_is_missed),
    cmocka_unit_test(test_rows_are_recorded_with_what_is_not_known_as_null),
    cmocka_unit_test(test_without_measuring_the_solution_is_the_same),
};

UNIT_MAIN(tests, body_start, body_end)
