/* Which preconditioner "auto" takes, what it expects of an iteration, and how a direct solver takes over from multigrid. */
#include "solver/choice.h"

#include <math.h>

#include "unit.h"

#include "fem/fixtures/block.h"
#include "fem/fixtures/body.h"
#include "fem/fixtures/solving.h"
#include "solver/watch.h"

static fem_solver_choice open_choice(void) { return (fem_solver_choice){.asked = FEM_PRECONDITIONER_AUTO}; }

/* A space of which nothing is there but its size. */
static fem_space sized(int32_t nodes)
{
    return (fem_space){.element = FEM_Q2, .components = 3, .slots_1d = 3, .num_nodes = nodes, .num_global_nodes = nodes};
}

static fem_solver chosen(fem_solver_choice *choice, const fem_space *space, const fem_constraints *constraints)
{
    assert_int_equal(fem_solver_choose(choice, space, constraints), YOKE_OK);
    return choice->solver;
}

/* --------------------------------------------------------------------------------------------------------- choice */

static void what_is_asked_for_is_taken(void **state)
{
    (void)state;
    static const fem_preconditioner asked[] = {FEM_PRECONDITIONER_JACOBI, FEM_PRECONDITIONER_MULTIGRID, FEM_PRECONDITIONER_DIRECT};
    static const fem_solver taken[] = {FEM_SOLVER_JACOBI, FEM_SOLVER_MULTIGRID, FEM_SOLVER_DIRECT};
    for (int i = 0; i < 3; i++) {
        for (int32_t nodes = 30; nodes < 10000000; nodes *= 100) {
            const fem_space space = sized(nodes);
            fem_solver_choice choice = open_choice();
            choice.asked = asked[i];
            choice.slow_iterations = INFINITY;
            assert_int_equal(chosen(&choice, &space, NULL), taken[i]);
            assert_true(choice.reason[0] == 0 && isnan(choice.multigrid_operations) && isnan(choice.direct_operations));
        }
    }
}

static void plans_begin_with_multigrid(void **state)
{
    (void)state;
    const fem_space space = sized(30);
    fem_solver_choice choice = open_choice();
    choice.steady = 1;
    choice.slow_iterations = INFINITY;
    assert_int_equal(chosen(&choice, &space, NULL), FEM_SOLVER_MULTIGRID);
}

/* The smallest bodies are factored, larger ones begin with multigrid, and of large ones the factor is not even analysed. */
static void auto_is_multigrid_but_for_small_bodies(void **state)
{
    (void)state;
    fem_solver before = FEM_SOLVER_DIRECT;
    for (int n = 1; n <= 4; n++) {
        block b;
        const block_options options = {.elements = {n, n, n}, .order = 1, .components = 3};
        fem_solver_choice choice = open_choice();
        block_create(&options, &b);
        block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 0, 7, {0, 0, 0}});
        block_discretise(&b, FEM_Q2);
        const fem_solver now = chosen(&choice, b.space, b.constraints);
        assert_true(now != FEM_SOLVER_JACOBI && (now == FEM_SOLVER_MULTIGRID || before == FEM_SOLVER_DIRECT));
        assert_int_equal(now == FEM_SOLVER_DIRECT, choice.direct_operations <= choice.multigrid_operations);
        assert_int_equal(now == FEM_SOLVER_DIRECT, strstr(choice.reason, "direct: the body is small") != NULL);
        if (n == 1) assert_int_equal(now, FEM_SOLVER_DIRECT);
        if (n == 4) assert_int_equal(now, FEM_SOLVER_MULTIGRID);
        before = now;
        block_destroy(&b);
    }
    const fem_space large = sized(1000000);
    fem_solver_choice choice = open_choice();
    assert_int_equal(chosen(&choice, &large, NULL), FEM_SOLVER_MULTIGRID);
}

static void after_a_slow_step_the_factor_is_taken_while_it_is_cheaper(void **state)
{
    (void)state;
    const fem_space first = sized(3000), next = sized(6000), far = sized(3000000);
    fem_solution solution = {.solver = FEM_SOLVER_DIRECT,
                             .direct_operations = 1e8,
                             .slow_iterations = 210,
                             .compared_multigrid = 3e9,
                             .compared_direct = 7e8,
                             .reason = "direct: slow"};
    fem_solver_choice choice = open_choice();
    fem_solver_learn(&choice, &first, &solution);
    assert_string_equal(choice.reason, "direct: slow");
    assert_true(choice.multigrid_operations == 3e9 && choice.direct_operations == 7e8);
    assert_int_equal(chosen(&choice, &next, NULL), FEM_SOLVER_DIRECT);
    assert_true(choice.direct_operations >= 4e8 && choice.direct_operations < choice.multigrid_operations);
    assert_int_equal(chosen(&choice, &far, NULL), FEM_SOLVER_MULTIGRID); /* 1e14 operations */
    solution.slow_iterations = INFINITY;                                 /* it failed */
    fem_solver_learn(&choice, &first, &solution);
    assert_int_equal(chosen(&choice, &far, NULL), FEM_SOLVER_DIRECT);
}

/* A multigrid whose blocks make an iteration dear is not gone back to as early as a usual one. */
static void what_a_slow_multigrid_took_counts_in_later_steps(void **state)
{
    (void)state;
    const fem_space first = sized(3000), next = sized(60000); /* 9000 and 180 000 dofs: 1.2e11 operations of the factor */
    const fem_multigrid_work usual = fem_multigrid_usual_work(9000);
    fem_solution solution = {.solver = FEM_SOLVER_DIRECT, .direct_operations = 3e8, .slow_iterations = 100, .multigrid_work = usual};
    fem_solver_choice choice = open_choice();
    fem_solver_learn(&choice, &first, &solution);
    assert_int_equal(chosen(&choice, &next, NULL), FEM_SOLVER_MULTIGRID);
    solution.multigrid_work.iteration *= 10;
    fem_solver_learn(&choice, &first, &solution);
    assert_int_equal(chosen(&choice, &next, NULL), FEM_SOLVER_DIRECT);
    assert_true(choice.multigrid_operations > 1e11);
}

/* ---------------------------------------------------------------------------------------------------------- watch */

static void iterations_to_come_follow_from_the_residual(void **state)
{
    (void)state;
    fem_solver_watch watch;
    fem_solver_watch_start(&watch, 1e-8);
    for (int k = 0; k <= 40; k++) {
        const double left = fem_solver_watch_left(&watch, k, pow(10, -0.1 * k)); /* 80 in all */
        if (k < FEM_WATCH_FIRST || k % 5)
            assert_true(left == 0);
        else
            assert_true(fabs(left - (80 - k)) < 1e-9);
    }
    fem_solver_watch_start(&watch, 1e-8);
    for (int k = 0; k <= 20; k++) {
        const double left = fem_solver_watch_left(&watch, k, 1 + k); /* grows */
        if (k >= FEM_WATCH_FIRST && k % 5 == 0) assert_true(left == FEM_WATCH_PATIENCE * k);
    }
}

/* The fall since the beginning says nothing where it has become slow. */
static void iterations_to_come_follow_from_the_latest_half(void **state)
{
    (void)state;
    fem_solver_watch watch;
    fem_solver_watch_start(&watch, 1e-6);
    for (int k = 0; k <= 80; k++) {
        const double exponent = k < 40 ? 0.1 * k : 4 + 0.01 * (k - 40); /* 240 in all */
        const double left = fem_solver_watch_left(&watch, k, pow(10, -exponent));
        if (k == 80) assert_true(fabs(left - 160) < 1e-6);
    }
}

/* --------------------------------------------------------------------------------------------------------- rescue */

static void flatten(const double in[3], double out[3])
{
    out[0] = in[0];
    out[1] = in[1];
    out[2] = 0.03 * in[2];
}

/* A nearly incompressible plate clamped at two sides under pressure, with elements as flat as multigrid takes for ordinary ones. */
static void create_plate(block *b)
{
    const block_options options = {.elements = {8, 8, 1}, .map = flatten, .order = 1, .components = 3};
    block_create(&options, b);
    b->material[0].lambda = 100 * b->material[0].mu;
    block_add_condition(b, (fem_condition){FEM_DIRICHLET, 0, 7, {0, 0, 0}});
    block_add_condition(b, (fem_condition){FEM_DIRICHLET, 2, 7, {0, 0, 0}});
    block_add_condition(b, (fem_condition){FEM_TRACTION, 5, 0, {0, 0, -1e-7}});
    block_discretise(b, FEM_Q2);
}

static const fem_solve_options rescued = {.solver = FEM_SOLVER_MULTIGRID, .relative_residual = 1e-9, .max_iterations = 1000, .rescue = 1};

static void a_plate_that_multigrid_gives_up_is_solved_by_the_factor(void **state)
{
    (void)state;
    block b;
    fem_solution *solution, *direct;
    fem_solve_options options = rescued;
    create_plate(&b);
    if (solve_alone(b.space, b.boundary, b.constraints, NULL, &options, NULL, &solution)) fail_msg("%s", yoke_last_error(b.context));
    options.solver = FEM_SOLVER_DIRECT;
    if (solve_alone(b.space, b.boundary, b.constraints, NULL, &options, NULL, &direct)) fail_msg("%s", yoke_last_error(b.context));
    assert_int_equal(solution->solver, FEM_SOLVER_DIRECT);
    assert_true(solution->slow_iterations > solution->iterations && solution->direct_operations > 0);
    assert_true(solution->iterations > direct->iterations && solution->iterations <= 70);
    assert_true(strstr(solution->reason, "direct: ") == solution->reason && strstr(solution->reason, "multigrid"));
    assert_true(block_difference(solution->u, direct->u, 3 * (int64_t)b.space->num_nodes) < 1e-4);
    assert_true(direct->reason[0] == 0 && direct->slow_iterations == 0);
    fem_solution_destroy(solution);
    fem_solution_destroy(direct);
    block_destroy(&b);
}

static void assert_both_are_named(block *b, const fem_solve_options *options, yoke_status expected, const char *second)
{
    fem_solution *solution = NULL;
    assert_int_equal(solve_alone(b->space, b->boundary, b->constraints, NULL, options, NULL, &solution), expected);
    assert_null(solution);
    const char *text = yoke_last_error(b->context);
    if (!strstr(text, "multigrid: ") || !strstr(text, "then tried instead: ") || !strstr(text, second)) fail_msg("\"%s\"", text);
}

static void where_the_factor_does_not_fit_either_the_error_names_both(void **state)
{
    (void)state;
    block b;
    fem_solve_options options = rescued;
    options.memory_bytes = 1e5;
    create_plate(&b);
    b.material[0].lambda = 1e7 * b.material[0].mu; /* far more incompressible than a case may be: multigrid comes to nothing */
    assert_both_are_named(&b, &options, YOKE_ERROR_MEMORY, "needs about");
    block_destroy(&b);
}

/*
 * A stiff cube on a soft one, as an upright rod of two coarse elements.  What holds the stiff one is a pivot of 1 / (jump x elements
 * across) of the diagonal, so that the coarse matrix ends below what counts as rounding before the fine one does.
 */
static void upright(const double in[3], double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = (i == 2 ? 2 : 1) * in[i];
}

static void create_stiff_on_soft(double jump, block *b)
{
    const block_options options = {.elements = {1, 1, 2}, .map = upright, .order = 1, .components = 3};
    uint64_t random = 3;
    block_create(&options, b);
    b->material[0].lambda = 0.3 / (1.3 * 0.4); /* E = 1, nu = 0.3 */
    b->material[0].mu = 1 / 2.6;
    block_two_materials(b, jump);
    block_add_condition(b, (fem_condition){FEM_DIRICHLET, 4, 7, {0, 0, 0}});
    block_add_condition(b, (fem_condition){FEM_TRACTION, 5, 0, {1, 0, -1}});
    for (int i = 0; i < 2; i++) block_refine(b, 1, &random);
    block_discretise(b, FEM_Q2);
}

static void where_multigrid_cannot_be_set_up_the_factor_solves(void **state)
{
    (void)state;
    fem_solution *solution, *moderate;
    block b, other;
    fem_solve_options options = {.solver = FEM_SOLVER_MULTIGRID, .energy_error = 1e-6, .max_iterations = 1000};
    create_stiff_on_soft(1e13, &b);
    assert_int_equal(solve_alone(b.space, b.boundary, b.constraints, NULL, &options, NULL, &solution), YOKE_ERROR_NUMERIC);
    assert_non_null(strstr(yoke_last_error(b.context), "not positive definite"));
    options.rescue = 1;
    if (solve_alone(b.space, b.boundary, b.constraints, NULL, &options, NULL, &solution)) fail_msg("%s", yoke_last_error(b.context));
    assert_int_equal(solution->solver, FEM_SOLVER_DIRECT);
    assert_true(solution->setup_failed && isinf(solution->slow_iterations) && isnan(solution->compared_multigrid));
    assert_non_null(strstr(solution->reason, "direct: multigrid could not be set up: the matrix is not positive definite"));
    /* The stiff cube is as good as rigid in both; the other is solved by multigrid. */
    create_stiff_on_soft(1e5, &other);
    if (solve_alone(other.space, other.boundary, other.constraints, NULL, &options, NULL, &moderate))
        fail_msg("%s", yoke_last_error(other.context));
    assert_int_equal(moderate->solver, FEM_SOLVER_MULTIGRID);
    assert_true(!moderate->setup_failed && moderate->reason[0] == 0);
    assert_true(block_difference(solution->u, moderate->u, 3 * (int64_t)b.space->num_nodes) < 0.01);
    /* The next step does not try it again. */
    fem_solver_choice choice = open_choice();
    fem_solver_learn(&choice, b.space, solution);
    assert_int_equal(chosen(&choice, b.space, b.constraints), FEM_SOLVER_DIRECT);
    options.memory_bytes = 1e5;
    assert_both_are_named(&b, &options, YOKE_ERROR_MEMORY, "needs about");
    fem_solution_destroy(solution);
    fem_solution_destroy(moderate);
    block_destroy(&b);
    block_destroy(&other);
}

/*
 * Multigrid alone takes hundreds of iterations, the first of which promise less than forty.  What they promise depends on rounding, and so
 * on the number of threads: the error that is asked for is so small that the factor is at most two thirds of what is to come with 1 to 8 of them.
 */
static void a_body_on_which_multigrid_becomes_slow_goes_to_the_factor(void **state)
{
    (void)state;
    fem_solution *solution;
    block b;
    const fem_solve_options options = {.solver = FEM_SOLVER_MULTIGRID, .energy_error = 1e-9, .max_iterations = 1000, .rescue = 1};
    create_stiff_on_soft(1e10, &b);
    if (solve_alone(b.space, b.boundary, b.constraints, NULL, &options, NULL, &solution)) fail_msg("%s", yoke_last_error(b.context));
    if (solution->solver != FEM_SOLVER_DIRECT)
        fail_msg("not given up after %lld iterations: %g operations to come, by the factor %g", (long long)solution->iterations,
                 solution->compared_multigrid, solution->compared_direct);
    if (solution->iterations > 90) fail_msg("%lld iterations", (long long)solution->iterations);
    fem_solution_destroy(solution);
    block_destroy(&b);
}

/* The limit that a user sets holds for multigrid, and no other solver goes beyond it. */
static void iterations_that_are_used_up_remain_an_error(void **state)
{
    (void)state;
    block b;
    fem_solution *solution = NULL;
    fem_solve_options options = rescued;
    options.max_iterations = 3;
    create_plate(&b);
    assert_int_equal(solve_alone(b.space, b.boundary, b.constraints, NULL, &options, NULL, &solution), YOKE_ERROR_NUMERIC);
    assert_non_null(strstr(yoke_last_error(b.context), "solver.max_iterations"));
    block_destroy(&b);
}

static void a_body_that_multigrid_solves_well_is_left_to_it(void **state)
{
    (void)state;
    block b;
    fem_solution *solution;
    uint64_t random = 3;
    const block_options options = {.elements = {4, 4, 4}, .order = 1, .components = 3};
    block_create(&options, &b);
    block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 0, 7, {0, 0, 0}});
    block_add_condition(&b, (fem_condition){FEM_TRACTION, 1, 0, {0, 0, -1}});
    block_refine(&b, 0.3, &random);
    block_discretise(&b, FEM_Q2);
    if (solve_alone(b.space, b.boundary, b.constraints, NULL, &rescued, NULL, &solution)) fail_msg("%s", yoke_last_error(b.context));
    assert_int_equal(solution->solver, FEM_SOLVER_MULTIGRID);
    assert_true(solution->slow_iterations == 0 && solution->direct_operations == 0 && solution->reason[0] == 0);
    fem_solution_destroy(solution);
    block_destroy(&b);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_asked_for_is_taken),
    cmocka_unit_test(plans_begin_with_multigrid),
    cmocka_unit_test(auto_is_multigrid_but_for_small_bodies),
    cmocka_unit_test(after_a_slow_step_the_factor_is_taken_while_it_is_cheaper),
    cmocka_unit_test(what_a_slow_multigrid_took_counts_in_later_steps),
    cmocka_unit_test(iterations_to_come_follow_from_the_residual),
    cmocka_unit_test(iterations_to_come_follow_from_the_latest_half),
    cmocka_unit_test(a_plate_that_multigrid_gives_up_is_solved_by_the_factor),
    cmocka_unit_test(where_the_factor_does_not_fit_either_the_error_names_both),
    cmocka_unit_test(where_multigrid_cannot_be_set_up_the_factor_solves),
    cmocka_unit_test(a_body_on_which_multigrid_becomes_slow_goes_to_the_factor),
    cmocka_unit_test(iterations_that_are_used_up_remain_an_error),
    cmocka_unit_test(a_body_that_multigrid_solves_well_is_left_to_it),
};

UNIT_MAIN(tests, body_start, body_end)
