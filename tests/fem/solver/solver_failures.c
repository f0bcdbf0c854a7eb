/* Solves that fail or are interrupted, and the memory of solves. */
#include <math.h>

#include "unit.h"

#include "base/failing.h"
#include "beam.h"
#include "fem/fixtures/body.h"

static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};

/* ------------------------------------------------------------------------------------------------------ failures */

/* Solving fails as NUMERIC, and the text holds `text` and how far it came. */
static void assert_fails(block *b, const fem_solve_options *options, const char *text)
{
    fem_solution *solution;
    yoke_status status = solve(b, options, NULL, &solution);
    if (status != YOKE_ERROR_NUMERIC) fail_msg("status %d, \"%s\"", status, yoke_last_error(b->context));
    assert_null(solution);
    if (!strstr(yoke_last_error(b->context), text)) fail_msg("\"%s\" lacks \"%s\"", yoke_last_error(b->context), text);
}

static void negative_modulus_is_a_numeric_error_that_says_how_far_it_came(void **state)
{
    (void)state;
    for (int both = 0; both < 2; both++)
        for (int i = 0; i < 3; i++) {
            block b;
            uint64_t random = 3;
            create_beam(&b, &plain_beam);
            b.material[1].lambda *= -1;
            b.material[1].mu *= -1;
            if (both) b.material[0] = b.material[1];
            refine(&b, 2, 0.5, &random);
            block_discretise(&b, elements[i]);
            assert_fails(&b, &with_jacobi, "relative residual reached");
            assert_fails(&b, &with_multigrid, "positive");
            block_destroy(&b);
        }
}

static void body_that_is_not_constrained_does_not_pass_silently(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        block b;
        uint64_t random = 3;
        fem_solution *solution;
        create_beam(&b, &plain_beam);
        b.condition[0].mask = 0;
        refine(&b, 2, 0.5, &random);
        block_discretise(&b, FEM_Q1);
        assert_int_equal(solve(&b, k ? &with_multigrid : &with_jacobi, NULL, &solution), YOKE_ERROR_NUMERIC);
        assert_null(solution);
        block_destroy(&b);
    }
}

static void loads_that_are_no_numbers_are_a_numeric_error(void **state)
{
    static const double bad[3] = {NAN, INFINITY, 1e200};
    (void)state;
    for (int i = 0; i < 3; i++) {
        block b;
        create_beam(&b, &plain_beam);
        b.condition[1].value[1] = bad[i];
        block_discretise(&b, FEM_Q2);
        assert_fails(&b, &with_jacobi, "not a number");
        assert_fails(&b, &with_multigrid, "not a number");
        block_destroy(&b);
    }
}

static void too_few_iterations_are_an_error_that_names_the_key(void **state)
{
    (void)state;
    block b;
    uint64_t random = 3;
    fem_solve_options options = with_jacobi;
    options.max_iterations = 5;
    create_beam(&b, &plain_beam);
    refine(&b, 2, 0.5, &random);
    block_discretise(&b, FEM_Q2);
    assert_fails(&b, &options, "solver.max_iterations");
    assert_fails(&b, &options, "after 5 iterations");
    options = with_multigrid;
    options.max_iterations = 3;
    assert_fails(&b, &options, "after 3 iterations");
    options.max_iterations = 0;
    assert_fails(&b, &options, "after 0 iterations");
    block_destroy(&b);
}

/* An accuracy near or below rounding is reached or refused, and either comes to an end. */
static void accuracy_below_rounding_comes_to_an_end(void **state)
{
    static const double asked[3] = {1e-14, 1e-16, 0};
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++) {
            block b;
            uint64_t random = 3;
            fem_solution *solution;
            fem_solve_options options = k ? with_multigrid : with_jacobi;
            options.relative_residual = asked[i];
            create_beam(&b, &plain_beam);
            refine(&b, 1, 0.5, &random);
            block_discretise(&b, FEM_Q2);
            yoke_status status = solve(&b, &options, NULL, &solution);
            if (status == YOKE_OK) {
                assert_true(solution->relative_residual <= asked[i] || (solution->stopped_by_rounding && solution->energy_error < 1e-11));
            } else {
                assert_int_equal(status, YOKE_ERROR_NUMERIC);
                assert_non_null(strstr(yoke_last_error(b.context), "relative residual reached"));
            }
            fem_solution_destroy(solution);
            block_destroy(&b);
        }
}

/* -------------------------------------------------------------------------------------------------- interruption */

typedef struct asked {
    int questions, end_at, after; /* answers yes from question number end_at on; questions after the first yes */
    int reports;
    double last;
} asked;

static int interrupted(void *user)
{
    asked *a = user;
    a->questions++;
    if (a->end_at == 0 || a->questions < a->end_at) return 0;
    a->after += a->questions > a->end_at;
    return 1;
}

static void progress(int iteration, double relative_residual, double energy_error, void *user)
{
    asked *a = user;
    (void)energy_error;
    assert_int_equal(iteration, a->reports++);
    a->last = relative_residual;
}

static void interruption_ends_at_the_next_question(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        block b;
        uint64_t random = 3;
        fem_solution *solution;
        asked whole = {0};
        fem_hooks hooks = {.interrupted = interrupted, .progress = progress, .user = &whole};
        create_beam(&b, &plain_beam);
        refine(&b, 2, 0.7, &random);
        block_discretise(&b, FEM_Q2);
        assert_int_equal(solve(&b, k ? &with_multigrid : &with_jacobi, &hooks, &solution), YOKE_OK);
        assert_int_equal(whole.reports, solution->iterations);
        assert_true(whole.last > 1e-8 && whole.last < 1e-5);
        assert_true(whole.questions >= whole.reports);
        fem_solution_destroy(solution);
        for (int end = 1; end <= whole.questions; end += k && !unit_is_sanitized() ? 1 : 7) {
            asked part = {.end_at = end};
            hooks.user = &part;
            assert_int_equal(solve(&b, k ? &with_multigrid : &with_jacobi, &hooks, &solution), YOKE_ERROR_INTERRUPTED);
            assert_null(solution);
            assert_int_equal(part.questions, end);
            assert_int_equal(part.after, 0);
        }
        block_destroy(&b);
    }
}

/* -------------------------------------------------------------------------------------------------------- memory */

typedef struct watched_memory {
    failing memory;
    int64_t calls_at_second; /* allocations before the second iteration, when all that is made once has been made */
} watched_memory;

static void watch(int iteration, double relative_residual, double energy_error, void *user)
{
    watched_memory *watched = user;
    (void)relative_residual;
    (void)energy_error;
    if (iteration == 1) watched->calls_at_second = watched->memory.calls;
    if (iteration > 1) assert_int_equal(watched->memory.calls, watched->calls_at_second);
}

static void iterations_allocate_nothing(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        watched_memory watched = {0};
        yoke_options options = failing_options(&watched.memory);
        beam_options beam = plain_beam;
        fem_hooks hooks = {.progress = watch, .user = &watched};
        block b;
        uint64_t random = 3;
        fem_solution *solution;
        beam.memory = &options;
        create_beam(&b, &beam);
        refine(&b, 2, 0.5, &random);
        block_discretise(&b, FEM_Q2);
        assert_int_equal(solve(&b, k ? &with_multigrid : &with_jacobi, &hooks, &solution), YOKE_OK);
        assert_true(solution->iterations > 3 && watched.calls_at_second > 0);
        fem_solution_destroy(solution);
        block_destroy(&b);
        assert_int_equal(watched.memory.outstanding, 0);
    }
}

static yoke_status solve_with(const block *b, fem_devices *devices, int multigrid, fem_solution **solution)
{
    *solution = NULL;
    return solve_on(devices, b->space, b->boundary, b->constraints, NULL, multigrid ? &with_multigrid : &with_jacobi, NULL, solution);
}

static void lack_of_memory_at_any_place_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        failing memory = {0};
        yoke_options options = failing_options(&memory);
        beam_options beam = plain_beam;
        block b;
        uint64_t random = 3;
        beam.memory = &options;
        create_beam(&b, &beam);
        refine(&b, k == 2 ? 3 : 1, k == 2 ? 1 : 0.5, &random); /* the last: three levels of multigrid */
        block_discretise(&b, k == 2 ? FEM_Q1 : FEM_Q2);
        fem_devices *devices;
        assert_int_equal(fem_devices_open(b.context, NULL, &devices), YOKE_OK);
        int64_t outstanding = memory.outstanding;
        fem_solution *solution;
        assert_int_equal(solve_with(&b, devices, k, &solution), YOKE_OK);
        fem_solution_destroy(solution);
        assert_int_equal(memory.outstanding, outstanding);
        int64_t before = memory.calls, calls;
        assert_int_equal(solve_with(&b, devices, k, &solution), YOKE_OK);
        fem_solution_destroy(solution);
        calls = memory.calls - before;
        assert_true(calls > 20);
        for (int64_t n = 1; n <= calls; n += k == 2 && n > 60 ? 5 : 1) {
            memory.fail_at = memory.calls + n;
            yoke_status status = solve_with(&b, devices, k, &solution);
            if (status != YOKE_ERROR_MEMORY) fail_msg("allocation %lld of %lld: status %d", (long long)n, (long long)calls, status);
            assert_null(solution);
            assert_int_equal(memory.outstanding, outstanding);
        }
        memory.fail_at = 0;
        fem_devices_close(devices);
        block_destroy(&b);
        assert_int_equal(memory.outstanding, 0);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(negative_modulus_is_a_numeric_error_that_says_how_far_it_came),
    cmocka_unit_test(body_that_is_not_constrained_does_not_pass_silently),
    cmocka_unit_test(loads_that_are_no_numbers_are_a_numeric_error),
    cmocka_unit_test(too_few_iterations_are_an_error_that_names_the_key),
    cmocka_unit_test(accuracy_below_rounding_comes_to_an_end),
    cmocka_unit_test(interruption_ends_at_the_next_question),
    cmocka_unit_test(iterations_allocate_nothing),
    cmocka_unit_test(lack_of_memory_at_any_place_is_reported_and_leaves_nothing),
};

UNIT_MAIN(tests, body_start, body_end)
