/* Ways to add the products of elements in the solver: all solve the same. */
#include <math.h>

#include <omp.h>

#include "unit.h"

#include "base/failing.h"
#include "fem/adding.h"
#include "fem/fixtures/block.h"
#include "fem/fixtures/body.h"
#include "fem/fixtures/solving.h"
#include "fem/fixtures/subdomain_settings.h"

static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};

/* Whether several threads may lose addends. */
static int is_right(int way, int threads) { return way != FEM_BENCH_ADD_UNSYNCHRONISED || threads == 1; }

/* A curved block of two materials with hanging nodes, enough elements for three threads, clamped at one end and pulled at the other. */
static void create(block *b, int components, fem_element element)
{
    subdomain_create_hanging(b, components);
    block_add_condition(b, (fem_condition){FEM_DIRICHLET, 0, 7, {0.01, 0, 0}});
    block_add_condition(b, (fem_condition){FEM_TRACTION, 1, 0, {0.3, -1, 2}});
    block_discretise(b, element);
    assert_true(b->space->num_hanging > 0);
}

static fem_bench_adding_solution solve(const block *b, int way, int threads, fem_operator kind)
{
    fem_bench_adding_options options = {
        .way = (fem_bench_adding)way, .operator_kind = kind, .relative_residual = 1e-12, .max_iterations = 3000};
    fem_bench_adding_solution solution;
    const int before = omp_get_max_threads();
    omp_set_num_threads(threads);
    assert_int_equal(fem_devices_open(b->context, "openmp", &options.devices), YOKE_OK);
    if (fem_bench_adding_solve(b->space, b->boundary, b->constraints, &options, &solution)) fail_msg("%s", yoke_last_error(b->context));
    fem_devices_close(options.devices);
    omp_set_num_threads(before);
    return solution;
}

static void assert_is(const char *what, int threads, int64_t iterations, double energy, const fem_solution *expected)
{
    if (!(fabs(energy / expected->strain_energy_j - 1) <= 1e-10) || llabs(iterations - expected->iterations) > 1)
        fail_msg("%s on %d threads: energy off by %g, %lld iterations instead of %lld", what, threads,
                 energy / expected->strain_energy_j - 1, (long long)iterations, (long long)expected->iterations);
}

/* Expected is what yoke fem's own solve says. */
static void assert_all_solve_the_same(int components, fem_element element)
{
    block b;
    create(&b, components, element);
    for (int kind = FEM_MATRIXFREE; kind <= FEM_STORED; kind++) {
        const fem_solve_options options = {
            .solver = FEM_SOLVER_JACOBI, .operator_kind = (fem_operator)kind, .relative_residual = 1e-12, .max_iterations = 3000};
        fem_solution *expected;
        if (solve_alone(b.space, b.boundary, b.constraints, NULL, &options, NULL, &expected)) fail_msg("%s", yoke_last_error(b.context));
        for (int way = 0; way < FEM_BENCH_ADDINGS; way++)
            for (int threads = 1; threads <= 3; threads++) {
                if (!is_right(way, threads) || (threads != 3 && unit_is_sanitized())) continue;
                const fem_bench_adding_solution found = solve(&b, way, threads, (fem_operator)kind);
                assert_is(fem_bench_adding_name[way], threads, found.iterations, found.strain_energy_j, expected);
                assert_true(found.iteration_s > 0 && found.product_s > 0);
            }
        fem_solution_destroy(expected);
    }
    block_destroy(&b);
}

static void solves_of_q1_are_the_same(void **state)
{
    (void)state;
    assert_all_solve_the_same(3, FEM_Q1);
}

static void solves_of_s2_are_the_same(void **state)
{
    (void)state;
    assert_all_solve_the_same(1, FEM_S2);
}

static void solves_of_q2_are_the_same(void **state)
{
    (void)state;
    assert_all_solve_the_same(3, FEM_Q2);
}

/* y = A u by a subdomain of the way. */
static void multiply(const block *b, int way, int threads, fem_operator kind, const double *u, double *y)
{
    const fem_subdomain_options options = {.precision = FEM_DOUBLE, .operator_kind = kind};
    const int before = omp_get_max_threads();
    fem_subdomain *subdomain;
    omp_set_num_threads(threads);
    assert_int_equal(fem_subdomain_cpu_create(b->space, b->constraints, &options, &subdomain), YOKE_OK);
    assert_int_equal(fem_bench_adding_set(subdomain, (fem_bench_adding)way), YOKE_OK);
    subdomain_multiply(subdomain, 0, u, y);
    subdomain->call->destroy(subdomain);
    omp_set_num_threads(before);
}

/* So also at prescribed dofs, and to rounding. */
static void products_are_those_of_yoke_fem(void **state)
{
    (void)state;
    for (int e = 0; e < 3; e++)
        for (int components = 1; components <= 3; components += 2) {
            block b;
            uint64_t random = 5;
            create(&b, components, elements[e]);
            double *u = block_random_array(subdomain_dofs(&b), &random);
            double *expected = block_zeros(subdomain_dofs(&b), sizeof *expected), *y = block_zeros(subdomain_dofs(&b), sizeof *y);
            for (int i = 0; i < FEM_BENCH_ADDINGS * 6; i++) {
                const int way = i / 6, threads = i % 3 + 1;
                const fem_operator kind = i % 6 < 3 ? FEM_MATRIXFREE : FEM_STORED;
                if (!is_right(way, threads)) continue;
                multiply(&b, FEM_BENCH_ADD_CHUNKS, 1, kind, u, expected);
                multiply(&b, way, threads, kind, u, y);
                const double difference = block_difference(y, expected, subdomain_dofs(&b));
                if (!(difference <= 1e-14)) fail_msg("%s on %d threads: %g", fem_bench_adding_name[way], threads, difference);
            }
            free(y);
            free(expected);
            free(u);
            block_destroy(&b);
        }
}

/* What is lost with several threads stays finite: nobody reads where it must not. */
static void the_unsynchronised_way_adds_numbers_only(void **state)
{
    (void)state;
    block b;
    uint64_t random = 7;
    create(&b, 3, FEM_Q1);
    double *u = block_random_array(subdomain_dofs(&b), &random), *y = block_zeros(subdomain_dofs(&b), sizeof *y);
    multiply(&b, FEM_BENCH_ADD_UNSYNCHRONISED, 3, FEM_MATRIXFREE, u, y);
    for (int64_t i = 0; i < subdomain_dofs(&b); i++) assert_true(isfinite(y[i]));
    free(y);
    free(u);
    block_destroy(&b);
}

static void no_failing_allocation_of_a_way_is_missed(void **state)
{
    (void)state;
    failing memory = {0};
    const yoke_options context_options = failing_options(&memory);
    block b;
    block_options options = {.elements = {6, 6, 6}, .map = body_bend, .order = 2, .turn = 7, .components = 3, .memory = &context_options};
    const int before = omp_get_max_threads();
    block_create(&options, &b);
    block_discretise(&b, FEM_Q2);
    omp_set_num_threads(2);
    for (int way = FEM_BENCH_ADD_PRIVATE; way < FEM_BENCH_ADDINGS; way++) {
        const fem_subdomain_options plain = {.precision = FEM_DOUBLE};
        const int64_t outstanding = memory.outstanding;
        yoke_status status = YOKE_ERROR_MEMORY;
        fem_subdomain *subdomain = NULL;
        int64_t count = 0;
        assert_int_equal(fem_subdomain_cpu_create(b.space, b.constraints, &plain, &subdomain), YOKE_OK);
        const int64_t with_subdomain = memory.outstanding;
        for (; status; count++) {
            failing_allow(&memory, count);
            status = fem_bench_adding_set(subdomain, (fem_bench_adding)way);
            memory.fail_at = 0;
            if (!status) break;
            assert_int_equal(status, YOKE_ERROR_MEMORY);
            assert_int_equal(memory.outstanding, with_subdomain);
        }
        assert_true(count >= 2);
        subdomain->call->destroy(subdomain);
        assert_int_equal(memory.outstanding, outstanding);
    }
    omp_set_num_threads(before);
    block_destroy(&b);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(solves_of_q1_are_the_same),
    cmocka_unit_test(solves_of_s2_are_the_same),
    cmocka_unit_test(solves_of_q2_are_the_same),
    cmocka_unit_test(products_are_those_of_yoke_fem),
    cmocka_unit_test(the_unsynchronised_way_adds_numbers_only),
    cmocka_unit_test(no_failing_allocation_of_a_way_is_missed),
};

UNIT_MAIN(tests, body_start, body_end)
