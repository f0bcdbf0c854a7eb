/* The solver as a whole: how many steps it takes, and what it says where it cannot succeed. */
#include <math.h>

#include "unit.h"

#include "base/failing.h"
#include "fem/block.h"
#include "fem/body.h"
#include "fem/solving.h"

static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};

/* --------------------------------------------------------------------------------------------------- problems */

typedef struct beam_options {
    int components, order;
    cube_map *map;
    double nu, jump; /* Poisson's ratio; factor between the moduli of alternate coarse elements */
    const yoke_options *memory;
} beam_options;

/* The block, clamped at one end and pulled askew at the other; E = 1. */
static void create_beam(block *b, const beam_options *beam)
{
    block_options options = {
        .elements = {2, 2, 2}, .map = beam->map, .order = beam->order, .turn = 5, .components = beam->components, .memory = beam->memory};
    block_create(&options, b);
    if (beam->components == 3) {
        b->material[0].lambda = beam->nu / ((1 + beam->nu) * (1 - 2 * beam->nu));
        b->material[0].mu = 1 / (2 * (1 + beam->nu));
    }
    block_two_materials(b, beam->jump);
    block_add_condition(b, (fem_condition){FEM_DIRICHLET, 0, 7, {0, 0, 0}});
    block_add_condition(b, (fem_condition){FEM_TRACTION, 1, 0, {0.3, -1, 2}});
}

static const beam_options plain_beam = {.components = 3, .order = 1, .nu = 0.3, .jump = 1};

static void refine(block *b, int times, double probability, uint64_t *random)
{
    for (int i = 0; i < times; i++) block_refine(b, probability, random);
}

static yoke_status solve(const block *b, const fem_solve_options *options, const fem_hooks *hooks, fem_solution **solution)
{
    *solution = NULL;
    return solve_alone(b->space, b->boundary, b->constraints, NULL, options, hooks, solution);
}

static const fem_solve_options with_multigrid = {.solver = FEM_SOLVER_MULTIGRID, .relative_residual = 1e-8, .max_iterations = 1000};
static const fem_solve_options with_jacobi = {.solver = FEM_SOLVER_JACOBI, .relative_residual = 1e-8, .max_iterations = 20000};

/* -------------------------------------------------------------------------------------------------- iterations */

/*
 * Solves at each of `levels` refinements and asks for at most so many iterations, growing by at most a factor; operator applications are at
 * most 9 for each iteration and 40 more.
 */
static void assert_iterations(const beam_options *beam, fem_element element, int levels, double probability, int most, double growth)
{
    block b;
    uint64_t random = 3;
    int fewest = 0;
    create_beam(&b, beam);
    refine(&b, element == FEM_Q1 ? 2 : 0, 1, &random); /* a forest of fewer dofs would be solved by the coarse method alone */
    for (int level = 0; level < levels; level++) {
        fem_solution *solution;
        block_refine(&b, probability, &random);
        block_discretise(&b, element);
        if (solve(&b, &with_multigrid, NULL, &solution)) fail_msg("%s", yoke_last_error(b.context));
        int iterations = (int)solution->iterations, applications = (int)solution->operator_applications;
        if (level == 0 || iterations < fewest) fewest = iterations;
        if (iterations > most || applications > 9 * iterations + 40 ||
            (level == levels - 1 && element != FEM_Q1 && iterations > growth * fewest + 2))
            fail_msg("element %d, %d dofs: %d iterations, %d applications, after %d at the least", element,
                     b.space->num_nodes * beam->components, iterations, applications, fewest);
        fem_solution_destroy(solution);
    }
    block_destroy(&b);
}

static void iterations_stay_few_on_uniform_meshes(void **state)
{
    (void)state;
    unit_leave_to_release();
    for (int i = 0; i < 3; i++) assert_iterations(&plain_beam, elements[i], i == 0 ? 2 : 3, 1, 14, 1.25);
}

static void iterations_stay_few_on_adaptive_curved_meshes(void **state)
{
    (void)state;
    unit_leave_to_release();
    beam_options curved = plain_beam;
    curved.map = body_bend;
    curved.order = 2;
    for (int i = 0; i < 3; i++) assert_iterations(&curved, elements[i], 3, 0.3, 18, 1.25);
}

static void iterations_stay_few_where_the_material_jumps_by_ten_thousand(void **state)
{
    (void)state;
    unit_leave_to_release();
    for (int components = 1; components <= 3; components += 2)
        for (int sign = -1; sign <= 1; sign += 2) {
            beam_options jump = plain_beam;
            jump.components = components;
            jump.jump = pow(10, 4 * sign);
            jump.map = body_bend;
            for (int i = 0; i < 3; i++) assert_iterations(&jump, elements[i], components == 1 ? 3 : 2, 0.3, 20, 1.25);
        }
}

/* The largest eigenvalue has a local mode there, which an estimate from few steps missed: the cycle was not positive definite. */
static void hanging_nodes_at_a_jump_of_the_material_do_not_break_the_cycle(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        block b;
        uint64_t random = seed;
        beam_options jump = plain_beam;
        fem_solution *solution;
        jump.components = 1;
        jump.jump = 1e4;
        jump.map = body_bend;
        create_beam(&b, &jump);
        refine(&b, 5, seed == 3 ? 0.3 : 0.25, &random);
        block_discretise(&b, FEM_Q1);
        if (solve(&b, &with_multigrid, NULL, &solution)) fail_msg("%s", yoke_last_error(b.context));
        assert_true(solution->iterations <= 12);
        fem_solution_destroy(solution);
        block_destroy(&b);
    }
}

static void stretch(const double in[3], double out[3])
{
    out[0] = 10 * in[0];
    out[1] = in[1];
    out[2] = in[2];
}

/* Harder cases take more steps, but a bounded number of them. */
static void elongated_elements_are_solved(void **state)
{
    (void)state;
    beam_options beam = plain_beam;
    beam.map = stretch;
    for (int i = 1; i < 3; i++) assert_iterations(&beam, elements[i], 2, 1, 20, 1.5);
}

static void nearly_incompressible_q2_is_solved(void **state)
{
    (void)state;
    beam_options beam = plain_beam;
    beam.nu = 0.49;
    assert_iterations(&beam, FEM_Q2, 3, 1, 40, 1.25);
}

static void both_preconditioners_and_operators_find_the_same_solution(void **state)
{
    (void)state;
    for (int components = 1; components <= 3; components += 2)
        for (int i = 0; i < 3; i++) {
            block b;
            uint64_t random = 3;
            beam_options beam = plain_beam;
            fem_solution *solution[4];
            beam.components = components;
            beam.map = body_bend;
            create_beam(&b, &beam);
            refine(&b, 2, 0.5, &random);
            block_discretise(&b, elements[i]);
            for (int k = 0; k < 4; k++) {
                fem_solve_options options = k & 1 ? with_multigrid : with_jacobi;
                options.operator_kind = k & 2 ? FEM_STORED : FEM_MATRIXFREE;
                options.relative_residual = 1e-11;
                if (solve(&b, &options, NULL, &solution[k])) fail_msg("%s", yoke_last_error(b.context));
                assert_true(block_difference(solution[k]->u, solution[0]->u, (int64_t)b.space->num_nodes * components) < 1e-8);
                assert_true(fabs(solution[k]->strain_energy_j / solution[0]->strain_energy_j - 1) < 1e-10);
            }
            for (int k = 0; k < 4; k++) fem_solution_destroy(solution[k]);
            block_destroy(&b);
        }
}

/* Half of the work of the loads, where nothing is moved; and the residual is zero but at supports. */
static void energy_and_residual_agree_with_the_loads(void **state)
{
    (void)state;
    block b;
    uint64_t random = 3;
    fem_solution *solution;
    fem_solve_options options = with_multigrid;
    options.relative_residual = 1e-12;
    create_beam(&b, &plain_beam);
    refine(&b, 2, 0.5, &random);
    block_discretise(&b, FEM_Q2);
    if (solve(&b, &options, NULL, &solution)) fail_msg("%s", yoke_last_error(b.context));
    double work = 0, support[3] = {0}, total[3] = {0};
    for (int64_t k = 0; k < 3 * (int64_t)b.space->num_nodes; k++) {
        work += 0.5 * solution->load[k] * solution->u[k];
        total[k % 3] += solution->load[k];
        support[k % 3] += solution->residual[k];
        if (!(b.constraints->prescribed[k / 3] >> k % 3 & 1))
            assert_true(fabs(solution->residual[k]) <= 1e-11); /* all loads together: 2.3 */
    }
    assert_true(fabs(work / solution->strain_energy_j - 1) < 1e-10);
    for (int a = 0; a < 3; a++) assert_true(fabs(support[a] + total[a]) < 1e-9 && fabs(total[a]) > 0.2);
    fem_solution_destroy(solution);
    block_destroy(&b);
}

static void solutions_repeat_bit_by_bit(void **state)
{
    (void)state;
    block b;
    uint64_t random = 3;
    fem_solution *first, *again;
    create_beam(&b, &plain_beam);
    refine(&b, 3, 0.5, &random);
    block_discretise(&b, FEM_Q2);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(solve(&b, k ? &with_multigrid : &with_jacobi, NULL, &first), YOKE_OK);
        assert_int_equal(solve(&b, k ? &with_multigrid : &with_jacobi, NULL, &again), YOKE_OK);
        assert_memory_equal(first->u, again->u, sizeof(double) * 3 * (size_t)b.space->num_nodes);
        assert_int_equal(first->iterations, again->iterations);
        fem_solution_destroy(first);
        fem_solution_destroy(again);
    }
    block_destroy(&b);
}

/* --------------------------------------------------------------------------------------------------- start values */

static void good_start_value_saves_iterations_and_changes_nothing_else(void **state)
{
    (void)state;
    block b;
    uint64_t random = 3;
    fem_solution *first, *again;
    create_beam(&b, &plain_beam);
    refine(&b, 2, 0.6, &random);
    block_discretise(&b, FEM_Q2);
    assert_int_equal(solve(&b, &with_multigrid, NULL, &first), YOKE_OK);
    double *start = block_zeros(3 * (int64_t)b.space->num_nodes, sizeof *start);
    for (int64_t k = 0; k < 3 * (int64_t)b.space->num_nodes; k++)
        start[k] = b.constraints->prescribed[k / 3] ? 1e30 : first->u[k]; /* values at constrained dofs do not matter */
    assert_int_equal(solve_alone(b.space, b.boundary, b.constraints, start, &with_multigrid, NULL, &again), YOKE_OK);
    assert_int_equal(again->iterations, 0);
    assert_true(block_difference(again->u, first->u, 3 * (int64_t)b.space->num_nodes) < 1e-14);
    free(start);
    fem_solution_destroy(again);
    fem_solution_destroy(first);
    block_destroy(&b);
}

/* ---------------------------------------------------------------------------------------------------- edge cases */

static void nothing_loaded_gives_zero_at_once(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        block b;
        uint64_t random = 3;
        fem_solution *solution;
        create_beam(&b, &plain_beam);
        memset(b.condition[1].value, 0, sizeof b.condition[1].value);
        block_refine(&b, 0.6, &random);
        block_discretise(&b, FEM_Q2);
        double *start = block_random_array(3 * (int64_t)b.space->num_nodes, &random);
        assert_int_equal(solve_alone(b.space, b.boundary, b.constraints, start, k ? &with_multigrid : &with_jacobi, NULL, &solution),
                         YOKE_OK);
        for (int64_t i = 0; i < 3 * (int64_t)b.space->num_nodes; i++) assert_true(solution->u[i] == 0);
        assert_true(solution->strain_energy_j == 0);
        assert_int_equal(solution->iterations, 0);
        free(start);
        fem_solution_destroy(solution);
        block_destroy(&b);
    }
}

static void everything_constrained_needs_no_iteration(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        block b;
        fem_solution *solution;
        create_beam(&b, &plain_beam);
        for (int face = 1; face < 6; face++) block_add_condition(&b, (fem_condition){FEM_DIRICHLET, face, 7, {0, 0, 0}});
        block_add_condition(&b, (fem_condition){FEM_DIRICHLET, BLOCK_AXIS, 7, {0, 0, 0}}); /* the inner node of 2 x 2 x 2 elements too */
        block_discretise(&b, FEM_Q1);
        for (int64_t i = 0; i < b.space->num_nodes; i++) assert_int_equal(b.constraints->prescribed[i], 7);
        if (solve(&b, k ? &with_multigrid : &with_jacobi, NULL, &solution)) fail_msg("%s", yoke_last_error(b.context));
        assert_int_equal(solution->iterations, 0);
        fem_solution_destroy(solution);
        block_destroy(&b);
    }
}

/* Two opposite faces pulled apart, free to contract: u = (x, -nu y, -nu z), stress E. */
static void prescribed_displacement_alone_stretches_the_body(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        block b;
        uint64_t random = 3;
        fem_solution *solution;
        fem_solve_options options = k ? with_multigrid : with_jacobi;
        options.relative_residual = 1e-12;
        create_beam(&b, &plain_beam);
        b.problem.num_conditions = 0;
        block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 0, 1, {0, 0, 0}});
        block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 1, 1, {1, 0, 0}});
        block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 2, 2, {0, 0, 0}});
        block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 4, 4, {0, 0, 0}});
        refine(&b, 2, 0.5, &random);
        block_discretise(&b, FEM_Q2);
        if (solve(&b, &options, NULL, &solution)) fail_msg("%s", yoke_last_error(b.context));
        for (int64_t i = 0; i < b.space->num_nodes; i++)
            for (int a = 0; a < 3; a++) assert_true(fabs(solution->u[3 * i + a] - (a ? -0.3 : 1) * b.space->x[3 * i + a]) < 1e-10);
        assert_true(fabs(solution->strain_energy_j - 0.5) < 1e-10);
        fem_solution_destroy(solution);
        block_destroy(&b);
    }
}

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
    cmocka_unit_test(iterations_stay_few_on_uniform_meshes),
    cmocka_unit_test(iterations_stay_few_on_adaptive_curved_meshes),
    cmocka_unit_test(iterations_stay_few_where_the_material_jumps_by_ten_thousand),
    cmocka_unit_test(hanging_nodes_at_a_jump_of_the_material_do_not_break_the_cycle),
    cmocka_unit_test(elongated_elements_are_solved),
    cmocka_unit_test(nearly_incompressible_q2_is_solved),
    cmocka_unit_test(both_preconditioners_and_operators_find_the_same_solution),
    cmocka_unit_test(energy_and_residual_agree_with_the_loads),
    cmocka_unit_test(solutions_repeat_bit_by_bit),
    cmocka_unit_test(good_start_value_saves_iterations_and_changes_nothing_else),
    cmocka_unit_test(nothing_loaded_gives_zero_at_once),
    cmocka_unit_test(everything_constrained_needs_no_iteration),
    cmocka_unit_test(prescribed_displacement_alone_stretches_the_body),
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
