/* Solving on several devices: the same answer wherever the elements are cut, and on the rest when devices fail. */
#include <math.h>

#include "unit.h"

#include "base/failing.h"
#include "fem/fixtures/body.h"
#include "fem/fixtures/decomposition_settings.h"
#include "fem/fixtures/solving.h"
#include "solver/solve_cut.h"

static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};
static const int counts[4] = {1, 2, 3, 5};

/* Every level is shared. */
static const fem_solve_options with_multigrid = {
    .solver = FEM_SOLVER_MULTIGRID, .relative_residual = 1e-8, .max_iterations = 1000, .shared_elements = -1};

/*
 * A curved block of two materials, clamped at one end and pulled askew at the other, refined unevenly: for q1 elasticity so far that there
 * are two coarser levels, for q2 and s2 there is the one of q1.
 */
static void create(block *b, int components, fem_element element, const decomposition_machine *machine, const yoke_options *memory)
{
    uint64_t random = 3;
    block_options options = {.elements = {2, 2, 2}, .map = body_bend, .order = 2, .turn = 5, .components = components, .memory = memory};
    block_create(&options, b);
    block_two_materials(b, 3);
    block_add_condition(b, (fem_condition){FEM_DIRICHLET, 0, 7, {0.01, 0, 0}});
    block_add_condition(b, (fem_condition){FEM_TRACTION, 1, 0, {0.3, -1, 2}});
    block_refine(b, 1, &random);
    block_refine(b, element == FEM_Q1 ? 0.6 : 0.3, &random);
    if (element == FEM_Q1 && components == 3) block_refine(b, 0.5, &random);
    if (machine) decomposition_read_machine(b, machine);
    block_discretise(b, element);
    assert_true(b->space->num_hanging > 0);
}

static const decomposition_machine sound = {NULL, NULL};

static fem_solution *solve(const block *b, fem_devices *devices, const fem_solve_options *options)
{
    fem_solution *solution;
    if (solve_on(devices, b->space, b->boundary, b->constraints, NULL, options, NULL, &solution))
        fail_msg("%s", yoke_last_error(b->context));
    return solution;
}

static fem_solution *solve_by_one(const block *b, const fem_solve_options *options)
{
    fem_solution *solution;
    if (solve_alone(b->space, b->boundary, b->constraints, NULL, options, NULL, &solution)) fail_msg("%s", yoke_last_error(b->context));
    return solution;
}

static void assert_same(const fem_solution *found, const fem_solution *expected, double energy)
{
    if (!(fabs(found->strain_energy_j / expected->strain_energy_j - 1) <= energy) || llabs(found->iterations - expected->iterations) > 1)
        fail_msg("energy off by %g, %lld iterations instead of %lld", found->strain_energy_j / expected->strain_energy_j - 1,
                 (long long)found->iterations, (long long)expected->iterations);
}

/* What the shares say fits the cut. */
static void assert_shares(const fem_solution *solution, const fem_devices *devices, const int32_t *cut)
{
    assert_int_equal(solution->num_shares, devices->count);
    assert_int_equal(solution->restarts, 0);
    for (int i = 0; i < devices->count; i++) {
        const fem_solve_share *share = &solution->shares[i];
        assert_int_equal(share->elements, cut[i + 1] - cut[i]);
        if (!share->elements) {
            assert_true(isnan(share->seconds_per_product) && isnan(share->seconds_per_element) && !share->interface_bytes);
            continue;
        }
        assert_true(share->seconds_per_product > 0);
        assert_true(fabs(share->seconds_per_element * share->elements / share->seconds_per_product - 1) < 1e-12);
    }
}

static void assert_devices_agree(int components, fem_element element)
{
    block b;
    int32_t cut[FEM_MAX_DEVICES + 1];
    create(&b, components, element, &sound, NULL);
    fem_solve_options options[3] = {with_multigrid, with_multigrid, with_multigrid};
    options[1].relative_residual = 1e-12;
    options[2].solver = FEM_SOLVER_JACOBI;
    for (int o = 0; o < (components == 1 ? 3 : 2); o++) {
        fem_solution *alone = solve_by_one(&b, &options[o]);
        for (int i = o % 2; i < 4 * DECOMPOSITION_VARIANTS; i += 2) {
            fem_devices *devices = decomposition_open(&b, counts[i / DECOMPOSITION_VARIANTS], i % DECOMPOSITION_VARIANTS);
            int kind = (i + o) % DECOMPOSITION_CUTS;
            fem_solve_options own = options[o];
            decomposition_cut(b.space->num_elements, devices->count, kind, cut);
            own.cut = cut;
            own.shared_elements = i % 3 ? -1 : 0; /* small levels shared too, or on one device as by default */
            own.exchange = kind == 1 ? FEM_EXCHANGE_FULL : FEM_EXCHANGE_HALO;
            fem_solution *shared = solve(&b, devices, &own);
            assert_same(shared, alone, o == 1 ? 1e-10 : 1e-8);
            assert_shares(shared, devices, cut);
            fem_solution_destroy(shared);
            fem_devices_close(devices);
        }
        fem_solution_destroy(alone);
    }
    block_destroy(&b);
}

static void elasticity_by_q1_does_not_depend_on_the_cut(void **state)
{
    (void)state;
    assert_devices_agree(3, FEM_Q1);
}

static void elasticity_by_s2_does_not_depend_on_the_cut(void **state)
{
    (void)state;
    assert_devices_agree(3, FEM_S2);
}

static void elasticity_by_q2_does_not_depend_on_the_cut(void **state)
{
    (void)state;
    assert_devices_agree(3, FEM_Q2);
}

static void poisson_does_not_depend_on_the_cut(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) assert_devices_agree(1, elements[i]);
}

/* Simulated devices take so long as the machine file says, on the virtual clock. */
static void seconds_are_those_of_the_devices(void **state)
{
    (void)state;
    block b;
    int32_t cut[3];
    create(&b, 3, FEM_Q1, &sound, NULL);
    fem_devices *devices;
    assert_int_equal(fem_devices_open(b.context, "sim:gpu,sim:cpu", &devices), YOKE_OK);
    fem_solve_options options = with_multigrid;
    decomposition_cut(b.space->num_elements, 2, 1, cut);
    options.cut = cut;
    fem_solution *solution = solve(&b, devices, &options);
    assert_true(fabs(solution->shares[0].seconds_per_element - 1e-6) < 1e-12);
    assert_true(fabs(solution->shares[1].seconds_per_element - 2e-6) < 1e-12);
    double slower = fmax(solution->shares[0].seconds_per_product, solution->shares[1].seconds_per_product);
    int64_t in_solve = solution->operator_applications - 20; /* the others: estimates of eigenvalues before */
    assert_true(solution->solve_s >= slower * (double)in_solve);
    assert_true(solution->solve_s <= 2 * slower * (double)solution->operator_applications); /* coarser levels take a part of it */
    options.unmeasured = 1;
    fem_solution *unmeasured = solve(&b, devices, &options);
    for (int i = 0; i < 2; i++) assert_true(isnan(unmeasured->shares[i].seconds_per_product));
    assert_same(unmeasured, solution, 1e-12);
    fem_solution_destroy(unmeasured);
    fem_solution_destroy(solution);
    fem_devices_close(devices);
    block_destroy(&b);
}

/* --------------------------------------------------------------------------------------------------- failures */

static void fault_text(char text[100], int64_t call, const char *kind)
{
    snprintf(text, 100, ", \"fault\": {\"call\": %lld, \"kind\": \"%s\"}", (long long)call, kind);
}

/*
 * The GPU fails at one call after another, at some while it is opened or closed, at the last of all not any more.  A share that a failing
 * solve leaves behind goes to the others.
 */
static void assert_survives(const char *names, const char *kind, int gpu, fem_solver solver, fem_element element)
{
    block b;
    fem_solve_options options = with_multigrid;
    options.solver = solver;
    create(&b, element == FEM_S2 ? 1 : 3, element, NULL, NULL);
    fem_solution *solution = solve_by_one(&b, &options), expected = *solution; /* only numbers are looked at */
    fem_solution_destroy(solution);
    block_destroy(&b);
    int done = 0, survived = 0;
    for (int64_t call = 1; !done; call += 1 + call / (unit_is_sanitized() ? 2 : 4)) {
        char fault[100];
        fem_devices *devices;
        fault_text(fault, call, kind);
        create(&b, element == FEM_S2 ? 1 : 3, element, &(decomposition_machine){fault, NULL}, NULL);
        if (fem_devices_open(b.context, names, &devices)) {
            assert_true(call < 10);
            assert_non_null(strstr(yoke_last_error(b.context), "as the machine file prescribes"));
            block_destroy(&b);
            continue;
        }
        solution = solve(&b, devices, &options);
        const fem_device *d = &devices->list[gpu];
        assert_same(solution, &expected, 1e-8);
        int64_t all = 0;
        for (int i = 0; i < solution->num_shares; i++) all += solution->shares[i].elements;
        assert_int_equal(all, b.space->num_elements);
        if (solution->restarts) {
            survived++;
            assert_int_equal(solution->restarts, 1);
            if (!strstr(d->why, "as the machine file prescribes")) fail_msg("call %lld: \"%s\"", (long long)call, d->why);
            if (strcmp(kind, "lost") == 0)
                assert_true(d->failed && solution->shares[gpu].elements == 0 && isnan(solution->shares[gpu].seconds_per_product));
            else
                assert_true(!d->failed && d->most_elements < b.space->num_elements / solution->num_shares &&
                            solution->shares[gpu].elements <= d->most_elements);
        } else {
            assert_true(!d->failed || call > 100); /* a failure that comes after the solve's last sum costs nothing */
            done = !d->failed;
        }
        fem_solution_destroy(solution);
        fem_devices_close(devices);
        block_destroy(&b);
    }
    assert_true(survived > 10);
}

static void lost_device_is_left_out_and_the_answer_stays(void **state)
{
    (void)state;
    assert_survives("openmp,sim:gpu", "lost", 1, FEM_SOLVER_MULTIGRID, FEM_Q1);
    assert_survives("sim:gpu,openmp:0-0,sim:cpu", "lost", 0, FEM_SOLVER_MULTIGRID, FEM_S2);
    assert_survives("openmp,sim:gpu", "lost", 1, FEM_SOLVER_JACOBI, FEM_S2);
}

static void device_short_of_memory_gets_less_and_the_answer_stays(void **state)
{
    (void)state;
    assert_survives("openmp,sim:gpu", "memory", 1, FEM_SOLVER_MULTIGRID, FEM_S2);
}

static void when_no_device_is_left_all_reasons_are_told(void **state)
{
    (void)state;
    for (int solver = FEM_SOLVER_JACOBI; solver <= FEM_SOLVER_MULTIGRID; solver++) {
        block b;
        char gpu[100], cpu[100];
        fem_devices *devices;
        fem_solution *solution = NULL;
        fem_solve_options options = with_multigrid;
        options.solver = solver ? FEM_SOLVER_MULTIGRID : FEM_SOLVER_JACOBI;
        fault_text(gpu, 200, "lost");
        fault_text(cpu, 250, "lost");
        create(&b, 3, FEM_Q1, &(decomposition_machine){gpu, cpu}, NULL);
        assert_int_equal(fem_devices_open(b.context, "sim:gpu,sim:cpu", &devices), YOKE_OK);
        assert_int_equal(solve_on(devices, b.space, b.boundary, b.constraints, NULL, &options, NULL, &solution), YOKE_ERROR_DEVICE);
        assert_null(solution);
        const char *text = yoke_last_error(b.context);
        if (!strstr(text, "no device is left") || !strstr(text, "sim:gpu: call 200") || !strstr(text, "sim:cpu: call 250"))
            fail_msg("\"%s\"", text);
        assert_int_equal(solve_on(devices, b.space, b.boundary, b.constraints, NULL, &options, NULL, &solution), YOKE_ERROR_DEVICE);
        fem_devices_close(devices);
        block_destroy(&b);
    }
}

/* As much memory as some of the elements need: the device keeps about so many. */
static void memory_of_a_device_bounds_its_elements(void **state)
{
    (void)state;
    block b;
    fem_devices *devices;
    create(&b, 3, FEM_Q2, &sound, NULL);
    assert_int_equal(fem_devices_open(b.context, "sim:gpu,openmp", &devices), YOKE_OK);
    int64_t free_bytes, all_bytes;
    fem_solve_options options = with_multigrid;
    fem_solution *solution = solve(&b, devices, &options), whole = *solution; /* only numbers are looked at */
    fem_solution_destroy(solution);
    assert_int_equal(yoke_device_memory(devices->list[0].device, &free_bytes, &all_bytes), YOKE_OK);
    assert_int_equal(free_bytes, all_bytes); /* nothing is left there */
    fem_devices_close(devices);
    fem_subdomain_options local = {.precision = FEM_DOUBLE};
    double needed = fem_subdomain_device_bytes(b.space, &local, b.space->num_elements, 7);
    block_destroy(&b);
    for (int k = 1; k <= 3; k++) {
        char memory[100];
        snprintf(memory, sizeof memory, ", \"memory_bytes\": %lld", (long long)(needed * 0.1 * k));
        create(&b, 3, FEM_Q2, &(decomposition_machine){memory, NULL}, NULL);
        int32_t cut[3] = {0, b.space->num_elements - 1, b.space->num_elements};
        options.cut = cut;
        assert_int_equal(fem_devices_open(b.context, "sim:gpu,openmp", &devices), YOKE_OK);
        solution = solve(&b, devices, &options);
        assert_same(solution, &whole, 1e-8);
        assert_true(solution->restarts > 0 && !devices->list[0].failed);
        assert_true(solution->shares[0].elements <= devices->list[0].most_elements);
        assert_true(solution->shares[0].elements < k * b.space->num_elements / 10 + 2);
        assert_true(solution->shares[0].elements > k * b.space->num_elements / 40);
        fem_solution_destroy(solution);
        options.cut = cut;
        solution = solve(&b, devices, &options); /* the limit is known now */
        assert_int_equal(solution->restarts, 0);
        assert_same(solution, &whole, 1e-8);
        fem_solution_destroy(solution);
        fem_devices_close(devices);
        assert_int_equal(fem_devices_open(b.context, "sim:gpu", &devices), YOKE_OK); /* nobody is there to take the rest */
        options.cut = NULL;
        fem_solution *none = NULL;
        assert_int_equal(solve_on(devices, b.space, b.boundary, b.constraints, NULL, &options, NULL, &none), YOKE_ERROR_DEVICE_MEMORY);
        assert_null(none);
        assert_non_null(strstr(yoke_last_error(b.context), "sim:gpu: memory for"));
        fem_devices_close(devices);
        block_destroy(&b);
    }
}

static void lack_of_host_memory_at_any_place_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_options context_options = failing_options(&memory);
    block b;
    fem_devices *devices;
    fem_solution *solution = NULL;
    create(&b, 3, FEM_Q1, &sound, &context_options);
    assert_int_equal(fem_devices_open(b.context, "openmp,sim:gpu,sim:cpu", &devices), YOKE_OK);
    fem_solution_destroy(solve(&b, devices, &with_multigrid));
    int64_t outstanding = memory.outstanding, before = memory.calls;
    fem_solution_destroy(solve(&b, devices, &with_multigrid));
    int64_t calls = memory.calls - before;
    assert_int_equal(memory.outstanding, outstanding);
    for (int64_t n = 1; n <= calls; n += 1 + calls / 60) {
        memory.fail_at = memory.calls + n;
        yoke_status status = solve_on(devices, b.space, b.boundary, b.constraints, NULL, &with_multigrid, NULL, &solution);
        memory.fail_at = 0;
        if (status != YOKE_ERROR_MEMORY)
            fail_msg("allocation %lld of %lld: status %d, %s", (long long)n, (long long)calls, status, yoke_last_error(b.context));
        assert_null(solution);
        assert_int_equal(memory.outstanding, outstanding);
    }
    fem_devices_close(devices);
    block_destroy(&b);
    assert_int_equal(memory.outstanding, 0);
}

/* ------------------------------------------------------------------------------------------------- who gets what */

static void what_one_cannot_have_goes_to_the_others_in_proportion(void **state)
{
    static const struct {
        int32_t wanted[4];
        int64_t most[4]; /* -1: failed */
        int32_t expected[4];
    } cases[] = {
        {{100, 200, 300, 0}, {1000, 1000, 1000, 1000}, {100, 200, 300, 0}}, {{100, 200, 300, 0}, {1000, 1000, -1, 1000}, {200, 400, 0, 0}},
        {{100, 200, 300, 0}, {1000, 1000, 60, 1000}, {180, 360, 60, 0}},    {{100, 200, 300, 0}, {1000, 210, -1, 1000}, {390, 210, 0, 0}},
        {{100, 200, 300, 0}, {-1, -1, -1, 1000}, {0, 0, 0, 600}},           {{0, 0, 300, 0}, {1000, 1000, -1, 1000}, {100, 100, 0, 100}},
        {{300, 300, 0, 0}, {250, 250, 40, 1000}, {250, 250, 40, 60}},       {{0, 0, 1, 0}, {-1, 1000, -1, 1000}, {0, 1, 0, 0}},
    };
    (void)state;
    yoke_context *context;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    static yoke_device_info info = {.name = "some"};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        fem_devices devices = {.context = context, .count = 4};
        int32_t cut[5] = {0};
        for (int i = 0; i < 4; i++) {
            devices.list[i] = (fem_device){.info = &info, .failed = cases[k].most[i] < 0, .most_elements = cases[k].most[i]};
            cut[i + 1] = cut[i] + cases[k].wanted[i];
        }
        assert_int_equal(fem_solve_cut(&devices, cut, cut), YOKE_OK);
        for (int i = 0; i < 4; i++)
            if (abs(cut[i + 1] - cut[i] - cases[k].expected[i]) > 1)
                fail_msg("case %zu, device %d: %d elements instead of %d", k, i, cut[i + 1] - cut[i], cases[k].expected[i]);
    }
    fem_devices few = {.context = context, .count = 2};
    int32_t cut[3] = {0, 100, 200};
    few.list[0] = (fem_device){.info = &info, .failed = 1, .why = "it burnt"};
    few.list[1] = (fem_device){.info = &info, .most_elements = 199};
    assert_int_equal(fem_solve_cut(&few, cut, cut), YOKE_ERROR_DEVICE_MEMORY);
    assert_non_null(strstr(yoke_last_error(context), "it burnt"));
    assert_non_null(strstr(yoke_last_error(context), "199"));
    few.list[1].failed = 1;
    assert_int_equal(fem_solve_cut(&few, cut, cut), YOKE_ERROR_DEVICE);
    yoke_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(elasticity_by_q1_does_not_depend_on_the_cut),
    cmocka_unit_test(elasticity_by_s2_does_not_depend_on_the_cut),
    cmocka_unit_test(elasticity_by_q2_does_not_depend_on_the_cut),
    cmocka_unit_test(poisson_does_not_depend_on_the_cut),
    cmocka_unit_test(seconds_are_those_of_the_devices),
    cmocka_unit_test(lost_device_is_left_out_and_the_answer_stays),
    cmocka_unit_test(device_short_of_memory_gets_less_and_the_answer_stays),
    cmocka_unit_test(when_no_device_is_left_all_reasons_are_told),
    cmocka_unit_test(memory_of_a_device_bounds_its_elements),
    cmocka_unit_test(lack_of_host_memory_at_any_place_is_reported_and_leaves_nothing),
    cmocka_unit_test(what_one_cannot_have_goes_to_the_others_in_proportion),
};

UNIT_MAIN(tests, body_start, body_end)
