/* `yoke bench cg`, `adapt` and `overhead`, and counts of `axmebe`, from the inside: what is solved is the peers' problem, and the numbers are right. */
#include <math.h>

#include "fixture.h"

#include "base/failing.h"
#include "fem/adaptive.h"
#include "fem/axmebe.h"
#include "fem/cg.h"
#include "fem/fixtures/block.h"
#include "fem/fixtures/body.h"
#include "fem/roofline.h"

/* ---------------------------------------------------------------------------------------------------- counts */

/* By hand, as docs/notes/benchmarks-solver.md derives them. */
static void test_operations_of_one_element_are_counted(void **state)
{
    (void)state;
    static const struct {
        fem_element element;
        int components;
        double matrixfree, stored;
    } one[] = {{FEM_Q2, 3, 5670, 2 * 81 * 81 + 81},
               {FEM_Q2, 1, 1836, 2 * 27 * 27 + 27},
               {FEM_S2, 3, 6114, 2 * 60 * 60 + 60},
               {FEM_Q1, 3, 1440, 2 * 24 * 24 + 24},
               {FEM_Q1, 1, 464, 2 * 8 * 8 + 8}};
    yoke_context *context = new_context();
    for (size_t i = 0; i < sizeof one / sizeof *one; i++) {
        fem_bench_model *model;
        const fem_bench_cube_options options = {.elements = 1, .element = one[i].element, .components = one[i].components};
        must(context, fem_bench_cube_of(context, &options, &model));
        assert_true(fem_bench_flops(model->space, FEM_AXMEBE_MATRIXFREE) == one[i].matrixfree);
        assert_true(fem_bench_flops(model->space, FEM_AXMEBE_STORED) == one[i].stored);
        assert_true(fem_bench_flops(model->space, FEM_AXMEBE_ALG3) == one[i].stored);
        fem_bench_model_destroy(model);
    }
    yoke_context_destroy(context);
}

static void test_threads_of_a_set_are_those_of_the_cores(void **state)
{
    (void)state;
    assert_true(fem_bench_host_threads("openmp") >= 1);
    assert_int_equal(fem_bench_host_threads("openmp:0-0"), 1);
    assert_int_equal(fem_bench_host_threads("openmp:0-0+openmp:1-3"), 4);
    assert_int_equal(fem_bench_host_threads("openmp:0-0+cuda:0"), 0);
    assert_int_equal(fem_bench_host_threads("opencl:0.0"), 0);
}

static void test_hanging_rows_find_their_like_without(void **state)
{
    (void)state;
    yoke_context *context = new_context();
    fem_axmebe_result result;
    const fem_axmebe_options options = {.num_sets = 1,
                                        .set = {"openmp"},
                                        .num_sizes = 2,
                                        .size = {64, 512},
                                        .meshes = 1u << FEM_CUBE_AFFINE | 1u << (FEM_CUBE_SHAPES + FEM_CUBE_AFFINE),
                                        .element = FEM_Q1,
                                        .components = 1,
                                        .variants = 1u << FEM_AXMEBE_MATRIXFREE,
                                        .triad = 1000};
    must(context, fem_axmebe_run(context, &options, NULL, NULL, &result));
    assert_int_equal(result.num_rows, 4);
    for (int i = 0; i < 2; i++) {
        assert_null(fem_axmebe_find_conforming(&result, &result.rows[i]));
        assert_ptr_equal(fem_axmebe_find_conforming(&result, &result.rows[2 + i]), &result.rows[i]);
    }
    assert_true(isnan(result.rows[0].dgemm_flops_per_s) && result.num_ceilings == 0);
    fem_axmebe_result_destroy(&result);
    yoke_context_destroy(context);
}

/* ---------------------------------------------------------------------------------------------------- solves */

static fem_bench_cg_options small_options(void)
{
    return (fem_bench_cg_options){.num_sizes = 1,
                                  .size = {64},
                                  .num_threads = 2,
                                  .threads = {1, 2},
                                  .meshes = 1u << FEM_CUBE_AFFINE | 1u << FEM_CUBE_DEFORMED,
                                  .preconditioners = 3,
                                  .element = FEM_Q1,
                                  .relative_residual = 1e-8};
}

static void test_all_solves_of_a_mesh_give_one_compliance(void **state)
{
    (void)state;
    yoke_context *context = new_context();
    const fem_bench_cg_options options = small_options();
    fem_bench_cg_result result;
    must(context, fem_bench_cg_run(context, &options, NULL, NULL, &result));
    assert_int_equal(result.num_rows, 2 * 2 * 2);
    for (int64_t i = 0; i < result.num_rows; i++) {
        const fem_bench_cg_row *row = &result.rows[i], *first = &result.rows[i / 4 * 4];
        assert_int_equal(row->elements, 64);
        assert_int_equal(row->dofs, 375);
        assert_true(row->iterations > 0 && row->applications >= row->iterations && row->relative_residual <= 1e-8);
        assert_true(row->setup_s > 0 && row->solve_s > 0 && row->held_bytes > 0 && !(row->peak_bytes <= 0));
        assert_true(row->compliance > 5e-6 && fabs(row->compliance - first->compliance) <= 1e-8 * first->compliance);
        const fem_bench_cg_row *single = fem_bench_cg_single(&result, row);
        assert_true(single && single->threads == 1 && single->preconditioner == row->preconditioner && single->mesh == row->mesh);
    }
    json_t *rows = fem_bench_cg_rows(&result);
    assert_int_equal(json_array_size(rows), 8);
    assert_true(json_is_null(json_object_get(json_array_get(rows, 0), "published_compliance")));
    json_decref(rows);
    fem_bench_cg_result_destroy(&result);
    yoke_context_destroy(context);
}

static void test_the_compliance_is_that_of_the_peers(void **state)
{
    (void)state;
    yoke_context *context = new_context();
    fem_bench_cg_options options = small_options();
    fem_bench_cg_result result;
    options.size[0] = 4096;
    options.num_threads = 1;
    options.meshes = 1u << FEM_CUBE_AFFINE;
    options.preconditioners = 1u << FEM_SOLVER_MULTIGRID;
    options.element = FEM_Q2;
    must(context, fem_bench_cg_run(context, &options, NULL, NULL, &result));
    assert_int_equal(result.num_rows, 1);
    assert_true(result.rows[0].reference == 6.85204242e-06); /* and the run has compared it */
    assert_true(isnan(fem_bench_cg_reference(FEM_Q2, 4097)));
    fem_bench_cg_result_destroy(&result);
    yoke_context_destroy(context);
}

static void test_no_failing_allocation_of_a_solve_is_missed(void **state)
{
    (void)state;
    int finished = 0, refused = 0;
    for (int64_t fail_at = 1; !finished; fail_at += fail_at < 20 ? 1 : fail_at / 8) {
        failing memory = {.fail_at = 0};
        const yoke_options context_options = failing_options(&memory);
        yoke_context *context;
        assert_int_equal(yoke_context_create(&context_options, &context), YOKE_OK);
        fem_bench_cg_options options = small_options();
        fem_bench_cg_result result;
        options.size[0] = 8;
        options.num_threads = 1;
        memory.fail_at = memory.calls + fail_at;
        yoke_status status = fem_bench_cg_run(context, &options, NULL, NULL, &result);
        finished = memory.calls < memory.fail_at;
        memory.fail_at = 0;
        if (!finished) assert_int_equal(status, YOKE_ERROR_MEMORY);
        refused += status != YOKE_OK;
        fem_bench_cg_result_destroy(&result);
        yoke_context_destroy(context);
        assert_int_equal(memory.outstanding, 0);
    }
    assert_true(refused > 20);
}

/* --------------------------------------------------------------------------------------------------- records */

static void test_an_adaptive_run_is_read_from_its_record(void **state)
{
    (void)state;
    yoke_context *context = new_context();
    fem_bench_adapt_result result = {0};
    json_t *record = json_pack("{s:[{s:i, s:i, s:i, s:{s:f, s:f, s:f, s:f, s:f}, s:[{s:f}]}, {s:i}]}", "steps", "step", 0, "elements", 7,
                               "dofs", 81, "seconds", "refine", 1.0, "setup", 2.0, "solve", 4.0, "estimate", 8.0, "write", 16.0, "parts",
                               "seconds_per_product", 0.5, "step", 1);
    assert_non_null(record);
    must(context, fem_bench_adapt_read(context, record, &result));
    assert_int_equal(result.num_steps, 2);
    assert_int_equal(result.steps[0].dofs, 81);
    assert_true(fem_bench_adapt_rest(&result.steps[0]) == 11 && result.steps[0].product_s == 0.5);
    assert_true(isnan(result.steps[1].solve_s) && isnan(result.steps[1].product_s));
    json_t *steps = fem_bench_adapt_steps(&result);
    assert_true(json_number_value(json_object_get(json_array_get(steps, 0), "rest_over_solve")) == 11.0 / 4);
    json_decref(steps);
    fem_bench_adapt_result_destroy(&result);
    json_decref(record);
    record = json_object();
    assert_int_equal(fem_bench_adapt_read(context, record, &result), YOKE_ERROR_SYSTEM);
    json_decref(record);
    yoke_context_destroy(context);
}

static void test_ceilings_survive_their_record(void **state)
{
    (void)state;
    app_ceilings read, written = app_ceilings_unknown(3);
    char text[512];
    written.triad_bytes_per_s = 37e9;
    written.dgemm_flops_per_s = 192e9;
    written.default_flops_per_s = 116e9;
    snprintf(written.kernel, sizeof written.kernel, "SkylakeX");
    snprintf(written.default_kernel, sizeof written.default_kernel, "Haswell");
    json_t *object = app_ceilings_json(&written);
    app_ceilings_read(object, &read);
    json_decref(object);
    assert_int_equal(read.threads, 3);
    assert_true(read.triad_bytes_per_s == 37e9 && read.dgemm_flops_per_s == 192e9 && read.default_flops_per_s == 116e9);
    assert_string_equal(read.kernel, "SkylakeX");
    app_ceilings_text(&read, text, sizeof text);
    assert_non_null(strstr(text, "3 threads: triad 37.0 GB/s, DGEMM 192.0 GFLOP/s"));
    assert_non_null(strstr(text, "takes its kernels for Haswell: 116.0 GFLOP/s. Set OPENBLAS_CORETYPE=SkylakeX for the faster ones."));
    snprintf(read.kernel, sizeof read.kernel, "Haswell"); /* the same kernels were measured twice: no choice was bad */
    app_ceilings_text(&read, text, sizeof text);
    assert_null(strstr(text, "OPENBLAS_CORETYPE"));
    object = json_object();
    app_ceilings_read(object, &read);
    json_decref(object);
    assert_true(isnan(read.triad_bytes_per_s) && isnan(read.dgemm_flops_per_s) && read.kernel[0] == 0);
}

/* ------------------------------------------------------------------------------------------------- overhead */

/* Measuring must not change what is computed, nor its absence. */
static void test_without_measuring_the_solution_is_the_same(void **state)
{
    (void)state;
    yoke_context *context = new_context();
    read_gpus(context);
    fem_devices *devices;
    fem_bench_model *model;
    fem_solution *solution[2];
    must(context, fem_bench_cube_of(context, &(fem_bench_cube_options){.elements = 64, .element = FEM_Q2, .components = 1}, &model));
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
    cmocka_unit_test(test_operations_of_one_element_are_counted),      cmocka_unit_test(test_threads_of_a_set_are_those_of_the_cores),
    cmocka_unit_test(test_hanging_rows_find_their_like_without),       cmocka_unit_test(test_all_solves_of_a_mesh_give_one_compliance),
    cmocka_unit_test(test_the_compliance_is_that_of_the_peers),        cmocka_unit_test(test_no_failing_allocation_of_a_solve_is_missed),
    cmocka_unit_test(test_an_adaptive_run_is_read_from_its_record),    cmocka_unit_test(test_ceilings_survive_their_record),
    cmocka_unit_test(test_without_measuring_the_solution_is_the_same),
};

UNIT_MAIN(tests, body_start, body_end)
