/* The meshes and problems of benchmarks: as many elements as are asked for, and the load of the peers' cube. */
#include <math.h>

#include "fem/fixtures/block.h"
#include "fem/fixtures/body.h"
#include "fem/workload.h"
#include "fixture.h"

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

static void test_cubes_of_all_kinds_have_about_the_elements_asked_for(void **state)
{
    (void)state;
    yoke_context *context = new_context();
    for (int i = 0; i < FEM_BENCH_MESHES; i++) {
        fem_bench_model *model;
        const fem_bench_cube_options options = {
            .elements = 512, .mesh = {(fem_cube_shape)(i % FEM_CUBE_SHAPES), i / FEM_CUBE_SHAPES}, .element = FEM_Q1, .components = 1};
        must(context, fem_bench_cube_of(context, &options, &model));
        assert_int_equal(model->space->num_hanging > 0, options.mesh.hanging);
        assert_in_range(model->space->num_elements, options.mesh.hanging ? 400 : 512, options.mesh.hanging ? 700 : 512);
        assert_int_equal(model->problem->num_conditions, 0);
        fem_bench_model_destroy(model);
    }
    yoke_context_destroy(context);
}

/* The body is the unit cube whatever its inner vertices do, so the sum of the load is the traction times the face. */
static void test_a_loaded_cube_is_held_and_pulled(void **state)
{
    (void)state;
    yoke_context *context = new_context();
    for (int hanging = 0; hanging < 2; hanging++) {
        fem_bench_model *model;
        fem_bench_cube_options options = {
            .elements = 512, .mesh = {FEM_CUBE_DEFORMED, hanging}, .element = FEM_Q2, .components = 3, .loaded = 1};
        must(context, fem_bench_cube_of(context, &options, &model));
        double *load, sum = 0;
        int64_t held = 0;
        must(context, yoke_allocate(context, 3 * (int64_t)model->space->num_nodes, sizeof *load, &load));
        must(context, fem_space_load(model->space, model->boundary, load));
        for (int32_t n = 0; n < model->space->num_nodes; n++) {
            sum += load[3 * n + 2];
            held += model->constraints->prescribed[n] == 7;
            assert_true(fabs(load[3 * n]) < 1e-15 && fabs(load[3 * n + 1]) < 1e-15);
        }
        assert_true(fabs(sum + 1e-3) < 1e-12);
        if (!hanging) assert_int_equal(held, 17 * 17);
        yoke_release(context, load);
        fem_bench_model_destroy(model);
        options.mesh.shape = FEM_CUBE_CURVED;
        assert_int_equal(fem_bench_cube_of(context, &options, &model), YOKE_ERROR_ARGUMENT);
    }
    yoke_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_cubes_have_about_the_elements_asked_for),
    cmocka_unit_test(test_a_mesh_of_a_case_is_refined_to_about_the_elements_asked_for),
    cmocka_unit_test(test_cubes_of_all_kinds_have_about_the_elements_asked_for),
    cmocka_unit_test(test_a_loaded_cube_is_held_and_pulled),
};

UNIT_MAIN(tests, body_start, body_end)
