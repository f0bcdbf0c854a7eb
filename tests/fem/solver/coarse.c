/* The coarse problem: the direct solver against manufactured solutions, the choice of the method, bad input. */
#include <math.h>
#include <mpi.h>

#include "base/failing.h"
#include "fem/fixtures/coarse_fixture.h"
#include "unit.h"

static void refuses(coarse_fixture *f, fem_coarse_method method, yoke_status status, const char *text)
{
    assert_int_equal(coarse_create(f, method), status);
    assert_null(f->coarse);
    if (!strstr(yoke_last_error(f->context), text)) fail_msg("'%s' is not in '%s'", text, yoke_last_error(f->context));
}

/* -------------------------------------------------------------------------------------------- direct solver */

static void check_direct(const q1_grid_options *options, int scattered)
{
    coarse_fixture f;
    coarse_open_clamped(&f, options);
    if (scattered) coarse_scatter_conditions(&f.grid);
    coarse_make(&f, FEM_COARSE_CHOLMOD);
    assert_string_equal(fem_coarse_name(f.coarse), "cholmod");
    coarse_fill_random(&f.grid, 1, f.u);
    q1_grid_multiply(&f.grid, f.u, f.v);
    for (int64_t i = 0; i < f.size; i++) /* what stands at prescribed components does not matter */
        if (f.grid.prescribed[i / options->components] >> (i % options->components) & 1) f.v[i] = NAN;
    assert_int_equal(fem_coarse_solve(f.coarse, f.v, f.v), YOKE_OK);
    for (int64_t i = 0; i < f.size; i++) assert_true(fabs(f.v[i] - f.u[i]) <= 1e-10);
    assert_true(fem_coarse_memory_bytes(f.coarse) > 8 * f.size);
    coarse_shut(&f);
}

static void the_direct_solver_finds_a_manufactured_displacement(void **state)
{
    (void)state;
    q1_grid_options options = coarse_cube(3, 7);
    options.distortion = 0.2;
    check_direct(&options, 0);
}

static void the_direct_solver_finds_a_manufactured_potential(void **state)
{
    (void)state;
    q1_grid_options options = coarse_cube(1, 9);
    options.distortion = 0.2;
    check_direct(&options, 0);
}

static void the_direct_solver_leaves_scattered_prescribed_components_zero(void **state)
{
    (void)state;
    const q1_grid_options elasticity = coarse_cube(3, 6), poisson = coarse_cube(1, 6);
    check_direct(&elasticity, 1);
    check_direct(&poisson, 1);
}

static void the_direct_solver_stands_a_jump_of_materials(void **state)
{
    (void)state;
    q1_grid_options options = coarse_cube(3, 6);
    options.stiff = 1e4;
    check_direct(&options, 0);
}

/* ------------------------------------------------------------------------------------------- choice and limits */

static void assert_auto_takes(const q1_grid_options *options, const char *name, int above_limit)
{
    coarse_fixture f;
    coarse_open_clamped(&f, options);
    coarse_make(&f, FEM_COARSE_AUTO);
    int64_t num_free = 0;
    for (int32_t node = 0; node < f.grid.num_nodes; node++) num_free += f.grid.prescribed[node] ? 0 : options->components;
    assert_string_equal(fem_coarse_name(f.coarse), name);
    assert_int_equal(num_free > FEM_COARSE_DIRECT_LIMIT, above_limit);
    coarse_shut(&f);
}

/* A compact body of many unknowns fills in, a slender one of as many does not. */
static void auto_takes_the_direct_solver_where_its_factor_is_cheap(void **state)
{
    (void)state;
    const q1_grid_options small = coarse_cube(3, 10), compact = coarse_cube(3, 23);
    q1_grid_options slender = coarse_cube(3, 4);
    slender.elements[0] = 400;
    slender.length[0] = 100 * slender.length[1];
    assert_auto_takes(&small, "cholmod", 0);
    assert_auto_takes(&slender, "cholmod", 1);
    assert_auto_takes(&compact, "boomeramg", 1);
}

static void nothing_free_gives_zeros(void **state)
{
    (void)state;
    const q1_grid_options options = coarse_cube(3, 1);
    const fem_coarse_method methods[] = {FEM_COARSE_AUTO, FEM_COARSE_CHOLMOD, FEM_COARSE_AMG};
    for (int i = 0; i < 3; i++) {
        coarse_fixture f;
        coarse_open(&f, &options);
        memset(f.grid.prescribed, 7, (size_t)f.grid.num_nodes);
        coarse_make(&f, methods[i]);
        assert_string_equal(fem_coarse_name(f.coarse), "none");
        for (int64_t k = 0; k < f.size; k++) f.u[k] = f.v[k] = 1.0;
        assert_int_equal(fem_coarse_solve(f.coarse, f.u, f.v), YOKE_OK);
        for (int64_t k = 0; k < f.size; k++) assert_true(f.v[k] == 0.0);
        coarse_shut(&f);
    }
}

static void a_single_node_is_solved_by_both_methods(void **state)
{
    (void)state;
    const int64_t row_start[] = {0, 1};
    const int32_t column[] = {0};
    const double value[] = {4.0, 1.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 1.0}, x[3] = {0}, b[] = {6.0, 5.0, 7.0};
    const uint8_t prescribed[] = {4};
    coarse_start_mpi();
    for (int i = 0; i < 2; i++) {
        yoke_context *context = NULL;
        fem_coarse *coarse = NULL;
        double u[3] = {9.0, 9.0, 9.0};
        assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
        const fem_coarse_method method = i ? FEM_COARSE_AMG : FEM_COARSE_CHOLMOD;
        const fem_coarse_matrix matrix = {
            .num_nodes = 1, .components = 3, .row_start = row_start, .column = column, .value = value, .x = x, .prescribed = prescribed};
        if (fem_coarse_create(context, method, &matrix, &coarse) != YOKE_OK) fail_msg("%s", yoke_last_error(context));
        assert_int_equal(fem_coarse_solve(coarse, b, u), YOKE_OK);
        for (int step = 0; i == 1 && step < 60; step++) { /* an approximate inverse: what it leaves over is solved again */
            double rest[3] = {b[0] - 4.0 * u[0] - u[1], b[1] - u[0] - 2.0 * u[1], 0.0};
            assert_int_equal(fem_coarse_solve(coarse, rest, rest), YOKE_OK);
            for (int k = 0; k < 3; k++) u[k] += rest[k];
        }
        assert_true(fabs(u[0] - 1.0) <= 1e-14 && fabs(u[1] - 2.0) <= 1e-14 && u[2] == 0.0);
        fem_coarse_destroy(coarse);
        yoke_context_destroy(context);
    }
}

static void no_node_is_no_error(void **state)
{
    (void)state;
    const int64_t row_start[] = {0};
    yoke_context *context = NULL;
    fem_coarse *coarse = NULL;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    const fem_coarse_matrix matrix = {.components = 3, .row_start = row_start};
    assert_int_equal(fem_coarse_create(context, FEM_COARSE_AUTO, &matrix, &coarse), YOKE_OK);
    assert_int_equal(fem_coarse_solve(coarse, NULL, NULL), YOKE_OK);
    fem_coarse_destroy(coarse);
    fem_coarse_destroy(NULL);
    yoke_context_destroy(context);
}

/* --------------------------------------------------------------------------------------------------- bad input */

/* Runs first, before any test starts MPI. */
static void multigrid_without_mpi_says_so(void **state)
{
    (void)state;
    int started = 0;
    MPI_Initialized(&started);
    assert_false(started);
    const int64_t row_start[] = {0, 1};
    const int32_t column[] = {0};
    const double value[] = {1.0};
    const uint8_t prescribed[] = {0};
    yoke_context *context = NULL;
    fem_coarse *coarse = NULL;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    const fem_coarse_matrix matrix = {
        .num_nodes = 1, .components = 1, .row_start = row_start, .column = column, .value = value, .prescribed = prescribed};
    assert_int_equal(fem_coarse_create(context, FEM_COARSE_AMG, &matrix, &coarse), YOKE_ERROR_UNAVAILABLE);
    assert_non_null(strstr(yoke_last_error(context), "MPI_Init"));
    assert_null(coarse);
    yoke_context_destroy(context);
}

static void a_body_that_is_not_constrained_is_not_positive_definite(void **state)
{
    (void)state;
    const q1_grid_options elasticity = coarse_cube(3, 4), poisson = coarse_cube(1, 6);
    coarse_fixture f;
    coarse_open(&f, &elasticity);
    refuses(&f, FEM_COARSE_CHOLMOD, YOKE_ERROR_NUMERIC, "not constrained");
    f.grid.prescribed[0] = 7; /* it may still turn */
    refuses(&f, FEM_COARSE_CHOLMOD, YOKE_ERROR_NUMERIC, "not constrained");
    coarse_shut(&f);
    coarse_open(&f, &poisson);
    refuses(&f, FEM_COARSE_CHOLMOD, YOKE_ERROR_NUMERIC, "not constrained");
    coarse_shut(&f);
}

static void a_negative_modulus_is_not_positive_definite(void **state)
{
    (void)state;
    q1_grid_options options = coarse_cube(3, 4);
    options.stiff = -1.0;
    coarse_fixture f;
    coarse_open_clamped(&f, &options);
    refuses(&f, FEM_COARSE_CHOLMOD, YOKE_ERROR_NUMERIC, "not positive definite");
    refuses(&f, FEM_COARSE_AMG, YOKE_ERROR_NUMERIC, "not positive definite");
    coarse_shut(&f);
}

static void a_node_without_element_is_named(void **state)
{
    (void)state;
    const q1_grid_options options = coarse_cube(3, 3);
    coarse_fixture f;
    coarse_open_clamped(&f, &options);
    const int32_t node = f.grid.num_nodes - 5;
    for (int64_t entry = 0; entry < f.grid.row_start[f.grid.num_nodes]; entry++) {
        const int in_row = entry >= f.grid.row_start[node] && entry < f.grid.row_start[node + 1];
        if (in_row || f.grid.column[entry] == node) memset(f.grid.value + 9 * entry, 0, 9 * sizeof(double));
    }
    char name[32];
    snprintf(name, sizeof name, "node %d", (int)node);
    refuses(&f, FEM_COARSE_AMG, YOKE_ERROR_NUMERIC, name);
    refuses(&f, FEM_COARSE_CHOLMOD, YOKE_ERROR_NUMERIC, "not positive definite");
    f.grid.prescribed[node] = 7;
    coarse_make(&f, FEM_COARSE_AMG);
    coarse_shut(&f);
}

static void numbers_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    const q1_grid_options options = coarse_cube(3, 2);
    coarse_fixture f;
    coarse_open_clamped(&f, &options);
    const double value = f.grid.value[100], x = f.grid.x[10];
    f.grid.value[100] = NAN;
    refuses(&f, FEM_COARSE_AUTO, YOKE_ERROR_ARGUMENT, "not a finite number");
    f.grid.value[100] = INFINITY;
    refuses(&f, FEM_COARSE_AMG, YOKE_ERROR_ARGUMENT, "not a finite number");
    f.grid.value[100] = value;
    f.grid.x[10] = NAN;
    refuses(&f, FEM_COARSE_AMG, YOKE_ERROR_ARGUMENT, "position of node 3");
    f.grid.x[10] = x;
    coarse_make(&f, FEM_COARSE_AMG);
    coarse_shut(&f);
}

static void a_damaged_pattern_is_refused(void **state)
{
    (void)state;
    const q1_grid_options options = coarse_cube(1, 2);
    coarse_fixture f;
    coarse_open_clamped(&f, &options);
    const int32_t column = f.grid.column[20];
    const int64_t start = f.grid.row_start[4];
    f.grid.column[20] = f.grid.num_nodes;
    refuses(&f, FEM_COARSE_AUTO, YOKE_ERROR_ARGUMENT, "column 27, outside 0 to 26");
    f.grid.column[20] = -1;
    refuses(&f, FEM_COARSE_AUTO, YOKE_ERROR_ARGUMENT, "column -1");
    f.grid.column[20] = column;
    f.grid.row_start[4] = f.grid.row_start[3] - 1;
    refuses(&f, FEM_COARSE_AUTO, YOKE_ERROR_ARGUMENT, "row_start");
    f.grid.row_start[4] = start;
    f.grid.row_start[0] = 1;
    refuses(&f, FEM_COARSE_AUTO, YOKE_ERROR_ARGUMENT, "row_start");
    f.grid.row_start[0] = 0;
    f.grid.components = 2;
    refuses(&f, FEM_COARSE_AUTO, YOKE_ERROR_ARGUMENT, "not 2");
    f.grid.components = 1;
    refuses(&f, (fem_coarse_method)17, YOKE_ERROR_ARGUMENT, "number 17");
    coarse_shut(&f);
}

/* Each allocation fails once; nothing may be left over. */
static void check_memory(const q1_grid_options *options, fem_coarse_method method)
{
    coarse_fixture f;
    coarse_open_clamped(&f, options);
    yoke_context_destroy(f.context);
    failing memory;
    for (int64_t fail_at = 1;; fail_at++) {
        memory = (failing){.fail_at = 0};
        const yoke_options failing_memory = failing_options(&memory);
        assert_int_equal(yoke_context_create(&failing_memory, &f.context), YOKE_OK);
        memory.fail_at = memory.calls + fail_at;
        f.coarse = NULL;
        const yoke_status status = coarse_create(&f, method);
        if (status == YOKE_OK) break;
        assert_int_equal(status, YOKE_ERROR_MEMORY);
        assert_null(f.coarse);
        yoke_context_destroy(f.context);
        assert_int_equal(memory.outstanding, 0);
        assert_true(fail_at < 1000);
    }
    fem_coarse_destroy(f.coarse);
    yoke_context_destroy(f.context);
    f.coarse = NULL;
    f.context = NULL;
    coarse_shut(&f);
}

static void a_failing_allocation_of_the_direct_solver_leaves_nothing_behind(void **state)
{
    (void)state;
    const q1_grid_options options = coarse_cube(3, 2);
    check_memory(&options, FEM_COARSE_CHOLMOD);
}

static void a_failing_allocation_of_multigrid_leaves_nothing_behind(void **state)
{
    (void)state;
    const q1_grid_options options = coarse_cube(3, 10);
    check_memory(&options, FEM_COARSE_AMG);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(multigrid_without_mpi_says_so),
    cmocka_unit_test(the_direct_solver_finds_a_manufactured_displacement),
    cmocka_unit_test(the_direct_solver_finds_a_manufactured_potential),
    cmocka_unit_test(the_direct_solver_leaves_scattered_prescribed_components_zero),
    cmocka_unit_test(the_direct_solver_stands_a_jump_of_materials),
    cmocka_unit_test(auto_takes_the_direct_solver_where_its_factor_is_cheap),
    cmocka_unit_test(nothing_free_gives_zeros),
    cmocka_unit_test(a_single_node_is_solved_by_both_methods),
    cmocka_unit_test(no_node_is_no_error),
    cmocka_unit_test(a_body_that_is_not_constrained_is_not_positive_definite),
    cmocka_unit_test(a_negative_modulus_is_not_positive_definite),
    cmocka_unit_test(a_node_without_element_is_named),
    cmocka_unit_test(numbers_that_are_not_finite_are_refused),
    cmocka_unit_test(a_damaged_pattern_is_refused),
    cmocka_unit_test(a_failing_allocation_of_the_direct_solver_leaves_nothing_behind),
    cmocka_unit_test(a_failing_allocation_of_multigrid_leaves_nothing_behind),
};

UNIT_MAIN(tests, NULL, coarse_stop_mpi)
