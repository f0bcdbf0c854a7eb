/* A coarse solver kept from solve to solve: the same bits as without, kept only where nothing of the level has changed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "base/failing.h"
#include "fem/fixtures/block.h"
#include "fem/fixtures/body.h"
#include "fem/fixtures/solving.h"
#include "solver/multigrid/multigrid.h"

/* A block whose own mesh is the last level, however often it is refined. */
typedef struct bench {
    block b;
    fem_coarse_keeper *keeper;
} bench;

static void open_bench(const block_options *options, bench *t)
{
    block_create(options, &t->b);
    block_two_materials(&t->b, 10);
    block_add_condition(&t->b, (fem_condition){FEM_DIRICHLET, 0, 7, {0, 0, 0}});
    block_add_condition(&t->b, (fem_condition){FEM_TRACTION, 1, 0, {0.3, -1, 2}});
    assert_int_equal(fem_coarse_keeper_create(t->b.context, &t->keeper), YOKE_OK);
}

static void shut_bench(bench *t)
{
    fem_coarse_keeper_destroy(t->keeper);
    block_destroy(&t->b);
}

static const block_options beam = {.elements = {22, 6, 6}, .map = body_bend, .order = 1, .turn = 5, .components = 3};
static const block_options small = {.elements = {2, 2, 2}, .map = body_bend, .order = 1, .turn = 5, .components = 3};

static yoke_status solve(const block *b, fem_coarse_keeper *keeper, fem_solution **solution)
{
    const fem_solve_options options = {.solver = FEM_SOLVER_MULTIGRID, .relative_residual = 1e-8, .max_iterations = 200, .keeper = keeper};
    *solution = NULL;
    return solve_alone(b->space, b->boundary, b->constraints, NULL, &options, NULL, solution);
}

/* Solves on the space that is there without the keeper and twice with it; the solver must have been made anew so many times. */
static void assert_made(bench *t, int64_t made)
{
    const size_t dofs = (size_t)t->b.space->num_nodes * (size_t)t->b.space->components;
    const int64_t before = fem_coarse_keeper_made(t->keeper);
    fem_solution *without, *with;
    if (solve(&t->b, NULL, &without)) fail_msg("%s", yoke_last_error(t->b.context));
    for (int i = 0; i < 2; i++) {
        if (solve(&t->b, t->keeper, &with)) fail_msg("%s", yoke_last_error(t->b.context));
        assert_int_equal(with->iterations, without->iterations);
        assert_memory_equal(with->u, without->u, dofs * sizeof *with->u);
        fem_solution_destroy(with);
    }
    fem_solution_destroy(without);
    assert_int_equal(fem_coarse_keeper_made(t->keeper) - before, made);
}

static void assert_kept_while_refining(const block_options *options)
{
    bench t;
    uint64_t random = 3;
    open_bench(options, &t);
    block_discretise(&t.b, FEM_Q1);
    assert_made(&t, 1);
    for (int i = 0; i < 2; i++) {
        block_refine(&t.b, 0.02, &random);
        block_discretise(&t.b, FEM_Q1);
        assert_made(&t, 0);
    }
    shut_bench(&t);
}

static void the_factor_stays_while_the_mesh_is_refined(void **state)
{
    (void)state;
    assert_kept_while_refining(&beam);
}

/* Elements about ten times as wide as thick, of a plate of 10 x 10 x 1. */
static void flatten(const double in[3], double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = (i < 2 ? 1 : 0.01) * in[i];
}

/* The cycle on a vector of numbers, [dofs]; a coarse level is factored as a whole from 500 dofs down, else q1 follows. */
static double *apply_cycle(const block *b, fem_coarse_keeper *keeper)
{
    const int32_t cut[2] = {0, b->space->num_elements};
    const int64_t dofs = (int64_t)b->space->num_nodes * b->space->components;
    uint64_t random = 7;
    double *values = block_random_array(dofs, &random);
    fem_devices *devices;
    fem_decomposition *decomposition;
    fem_multigrid *multigrid;
    fem_vector *r, *z;
    assert_int_equal(fem_devices_open(b->context, NULL, &devices), YOKE_OK);
    const fem_decomposition_options decomposition_options = {
        .devices = devices, .cut = cut, .precision = FEM_DOUBLE, .operator_kind = FEM_MATRIXFREE};
    const fem_multigrid_options options = {.devices = devices, .cut = cut, .direct_dofs = 500, .keeper = keeper};
    assert_int_equal(fem_decomposition_create(b->space, b->constraints, &decomposition_options, &decomposition), YOKE_OK);
    assert_int_equal(fem_vector_create(decomposition, &r), YOKE_OK);
    assert_int_equal(fem_vector_create(decomposition, &z), YOKE_OK);
    if (fem_multigrid_create(b->space, b->constraints, &options, NULL, &multigrid)) fail_msg("%s", yoke_last_error(b->context));
    assert_string_equal(fem_multigrid_coarse_name(multigrid), "cholmod");
    const fem_approximate_inverse inverse = fem_multigrid_inverse(multigrid);
    fem_vector_write(r, values);
    fem_vector_mask(r);
    assert_int_equal(inverse.apply(inverse.state, r, sqrt(fem_vector_dot(r, r)), z), YOKE_OK);
    fem_vector_read(z, values);
    fem_multigrid_destroy(multigrid);
    fem_vector_destroy(r);
    fem_vector_destroy(z);
    fem_decomposition_destroy(decomposition);
    fem_devices_close(devices);
    return values;
}

static void assert_factor_made(bench *t, int64_t made)
{
    const size_t dofs = (size_t)t->b.space->num_nodes * (size_t)t->b.space->components;
    const int64_t before = fem_coarse_keeper_made(t->keeper);
    double *without = apply_cycle(&t->b, NULL);
    for (int i = 0; i < 2; i++) {
        double *with = apply_cycle(&t->b, t->keeper);
        assert_memory_equal(with, without, dofs * sizeof *with);
        free(with);
    }
    free(without);
    assert_int_equal(fem_coarse_keeper_made(t->keeper) - before, made);
}

static const block_options flat = {.elements = {10, 10, 1}, .map = flatten, .order = 1, .turn = 5, .components = 3};

static void the_factor_of_a_stretched_level_stays_while_the_mesh_is_refined(void **state)
{
    (void)state;
    bench t;
    uint64_t random = 3;
    open_bench(&flat, &t);
    block_discretise(&t.b, FEM_Q2);
    assert_factor_made(&t, 1);
    for (int i = 0; i < 2; i++) {
        block_refine(&t.b, 0.03, &random);
        block_discretise(&t.b, FEM_Q2);
        assert_factor_made(&t, 0);
    }
    t.b.material[1].lambda *= 1.01;
    assert_factor_made(&t, 1);
    shut_bench(&t);
}

static void the_smallest_level_whose_factor_is_too_dear_is_remembered(void **state)
{
    (void)state;
    bench t;
    uint64_t random = 3;
    open_bench(&flat, &t);
    block_discretise(&t.b, FEM_Q2);
    assert_true(isnan(fem_coarse_keeper_operations(t.keeper, t.b.space, t.b.constraints)));
    assert_int_equal(fem_coarse_keeper_refuse(t.keeper, t.b.space, t.b.constraints, 1e10), YOKE_OK);
    assert_true(fem_coarse_keeper_operations(t.keeper, t.b.space, t.b.constraints) == 1e10);
    block_refine(&t.b, 0.1, &random);
    block_discretise(&t.b, FEM_Q2); /* a larger one */
    assert_int_equal(fem_coarse_keeper_refuse(t.keeper, t.b.space, t.b.constraints, 2e10), YOKE_OK);
    assert_true(isnan(fem_coarse_keeper_operations(t.keeper, t.b.space, t.b.constraints)));
    block_discretise(&t.b, FEM_Q1); /* a smaller one */
    assert_int_equal(fem_coarse_keeper_refuse(t.keeper, t.b.space, t.b.constraints, 3e10), YOKE_OK);
    assert_true(fem_coarse_keeper_operations(t.keeper, t.b.space, t.b.constraints) == 3e10);
    t.b.material[0].mu *= 2;
    assert_true(isnan(fem_coarse_keeper_operations(t.keeper, t.b.space, t.b.constraints)));
    shut_bench(&t);
}

static void algebraic_levels_stay_while_the_mesh_is_refined(void **state)
{
    (void)state;
    block_options many = beam;
    many.elements[0] = many.elements[1] = many.elements[2] = 25; /* more free dofs than are solved directly */
    many.components = 1;
    assert_kept_while_refining(&many);
}

static void another_last_level_is_solved_anew(void **state)
{
    (void)state;
    bench t;
    uint64_t random = 3;
    open_bench(&small, &t);
    for (int i = 0; i < 3; i++) { /* few dofs: each mesh is its own last level */
        block_discretise(&t.b, FEM_Q2);
        assert_made(&t, 1);
        block_refine(&t.b, 0.4, &random);
    }
    shut_bench(&t);
}

static void a_changed_modulus_is_noticed(void **state)
{
    (void)state;
    bench t;
    open_bench(&small, &t);
    block_discretise(&t.b, FEM_Q2);
    assert_made(&t, 1);
    t.b.material[1].lambda *= 1.01;
    assert_made(&t, 1);
    t.b.material[0].mu *= 1.01;
    assert_made(&t, 1);
    t.b.problem.material_of[3] ^= 1;
    assert_made(&t, 1);
    shut_bench(&t);
}

static void a_changed_support_is_noticed_and_a_changed_value_is_not(void **state)
{
    (void)state;
    bench t;
    open_bench(&small, &t);
    block_discretise(&t.b, FEM_Q2);
    assert_made(&t, 1);
    t.b.condition[0].value[1] = 0.1;
    block_discretise(&t.b, FEM_Q2);
    assert_made(&t, 0);
    t.b.condition[0].group = 2;
    block_discretise(&t.b, FEM_Q2);
    assert_made(&t, 1);
    block_add_condition(&t.b, (fem_condition){FEM_DIRICHLET, 3, 4, {0, 0, 0}});
    block_discretise(&t.b, FEM_Q2);
    assert_made(&t, 1);
    shut_bench(&t);
}

static void moved_nodes_are_noticed(void **state)
{
    (void)state;
    bench t;
    open_bench(&small, &t);
    block_discretise(&t.b, FEM_Q2);
    assert_made(&t, 1);
    for (int64_t i = 0; i < 3 * 8 * t.b.mesh.num_elements; i++) t.b.mesh.geometry[i] *= 1.25;
    block_discretise(&t.b, FEM_Q2);
    assert_made(&t, 1);
    shut_bench(&t);
}

static void another_equation_is_noticed(void **state)
{
    (void)state;
    bench t;
    open_bench(&small, &t);
    block_discretise(&t.b, FEM_Q2);
    assert_made(&t, 1);
    t.b.problem.components = 1;
    t.b.condition[0].mask = 1;
    block_discretise(&t.b, FEM_Q2);
    assert_made(&t, 1);
    shut_bench(&t);
}

/* The first modulus makes the matrix indefinite: what is left must not be taken for a solver of the next problem, nor of the same again. */
static void a_solver_that_could_not_be_made_is_not_kept(void **state)
{
    (void)state;
    bench t;
    fem_solution *solution;
    open_bench(&small, &t);
    block_discretise(&t.b, FEM_Q1);
    t.b.material[0].mu *= -1;
    for (int i = 0; i < 2; i++) assert_int_equal(solve(&t.b, t.keeper, &solution), YOKE_ERROR_NUMERIC);
    assert_int_equal(fem_coarse_keeper_made(t.keeper), 0);
    t.b.material[0].mu *= -1;
    assert_made(&t, 1);
    shut_bench(&t);
}

static void lack_of_memory_leaves_nothing_wrong_behind(void **state)
{
    (void)state;
    for (int full = 0; full < 2; full++) { /* an empty keeper; one that has another solver */
        failing memory = {0};
        const yoke_options options = failing_options(&memory);
        block_options with_memory = small;
        bench t;
        fem_solution *solution;
        yoke_status status = YOKE_ERROR_MEMORY;
        with_memory.memory = &options;
        open_bench(&with_memory, &t);
        block_discretise(&t.b, FEM_Q1);
        for (int64_t n = 1; status; n++) {
            assert_true(n < 1000);
            fem_coarse_keeper_destroy(t.keeper);
            assert_int_equal(fem_coarse_keeper_create(t.b.context, &t.keeper), YOKE_OK);
            if (full) {
                t.b.material[0].mu *= 2;
                assert_made(&t, 1);
                t.b.material[0].mu /= 2;
            }
            memory.fail_at = memory.calls + n;
            status = solve(&t.b, t.keeper, &solution);
            memory.fail_at = 0;
            if (status) {
                assert_int_equal(status, YOKE_ERROR_MEMORY);
                assert_null(solution);
            }
            fem_solution_destroy(solution);
            if (n % 16 == 0) assert_made(&t, fem_coarse_keeper_made(t.keeper) == full);
        }
        shut_bench(&t);
        assert_int_equal(memory.outstanding, 0);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_factor_stays_while_the_mesh_is_refined),
    cmocka_unit_test(the_factor_of_a_stretched_level_stays_while_the_mesh_is_refined),
    cmocka_unit_test(the_smallest_level_whose_factor_is_too_dear_is_remembered),
    cmocka_unit_test(algebraic_levels_stay_while_the_mesh_is_refined),
    cmocka_unit_test(another_last_level_is_solved_anew),
    cmocka_unit_test(a_changed_modulus_is_noticed),
    cmocka_unit_test(a_changed_support_is_noticed_and_a_changed_value_is_not),
    cmocka_unit_test(moved_nodes_are_noticed),
    cmocka_unit_test(another_equation_is_noticed),
    cmocka_unit_test(a_solver_that_could_not_be_made_is_not_kept),
    cmocka_unit_test(lack_of_memory_leaves_nothing_wrong_behind),
};

UNIT_MAIN(tests, body_start, body_end)
