/* Near fields shared on simulated machines: the plan against the best of all cuts by the machine's own numbers, and devices that fail. */
#include <math.h>

#include "device/machine_text.h"
#include "method/shared.h"
#include "near.h"
#include "particles/generate.h"
#include "unit.h"

static const double cpu_s = 2e-9, gpu_s = 0.5e-9, cpu_idle_w = 20, cpu_busy_w = 40, gpu_idle_w = 30, gpu_busy_w = 400;
#define CPU "{\"name\": \"cpu\", \"class\": \"cpu\", \"seconds_per_unit\": 2e-9, \"power\": {\"idle_w\": 20, \"busy_w\": 40}}"
#define GPU(more) \
    "{\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": 0.5e-9, \"power\": {\"idle_w\": 30, \"busy_w\": 400}" more "}"
#define MACHINE(devices) "{\"name\": \"m\", \"devices\": [" devices "]}"

typedef struct bench {
    yoke_context *context;
    fmm_particles *particles;
    fmm_method *method;
    fmm_field *alone, *field; /* of the method alone; shared */
    yoke_run *run;
    fmm_shared *shared;
} bench;

#define ok(b, status) ok_at(__LINE__, b, status)
static void ok_at(int line, const bench *b, yoke_status status)
{
    if (status) fail_msg("line %d: %s", line, yoke_last_error(b->context));
}

static void open_bench(bench *b, failing *memory, const char *text, const yoke_run_options *options, int64_t count, int gradient)
{
    const int order = 3;
    *b = (bench){.context = machine(text, memory)};
    const fmm_method_options tree = {.depth = 3, .order = &order, .gradient = gradient};
    ok(b, fmm_particles_generate(b->context, FMM_SHELLS, count, FMM_EQUAL, 1, &b->particles));
    ok(b, fmm_method_create(b->particles, &tree, &b->method));
    ok(b, fmm_field_create(b->context, count, gradient, &b->alone));
    ok(b, fmm_field_create(b->context, count, gradient, &b->field));
    ok(b, fmm_method_run(b->method, b->particles->charge, b->alone, NULL));
    ok(b, fmm_shared_open(b->context, options, &b->run));
}

static void close_bench(bench *b)
{
    fmm_shared_destroy(b->shared);
    yoke_run_destroy(b->run);
    fmm_method_destroy(b->method);
    fmm_field_destroy(b->alone);
    fmm_field_destroy(b->field);
    fmm_particles_destroy(b->particles);
    yoke_context_destroy(b->context);
}

static void expect_right(const bench *b)
{
    for (int64_t i = 0; i < b->field->count; i++) {
        assert_true(fabs(b->field->potential[i] - b->alone->potential[i]) <= 1e-13 * b->alone->potential[i]);
        if (b->field->gx) assert_true(fabs(b->field->gx[i] - b->alone->gx[i]) <= 1e-13 * b->alone->potential[i] * b->alone->potential[i]);
    }
}

/* Time and energy where the CPU does so many pairs, and the far field. */
static void cost(double pairs, double all, double far, double *time_s, double *energy_j)
{
    const double cpu = cpu_s * (pairs + far), gpu = gpu_s * (all - pairs);
    *time_s = fmax(cpu, gpu);
    *energy_j = (cpu_idle_w + gpu_idle_w) * *time_s + (cpu_busy_w - cpu_idle_w) * cpu + (gpu_busy_w - gpu_idle_w) * gpu;
}

/* The pairs that the CPU gets by the plan; their cost is that of the best cut. */
static double planned_pairs(yoke_objective objective)
{
    static bench b;
    failing memory = {0};
    int taken;
    fmm_shared_part parts[2];
    double best = INFINITY, time_s, energy_j;
    const yoke_run_options options = {.devices = "sim:cpu,sim:gpu", .objective = objective};
    open_bench(&b, &memory, MACHINE(CPU "," GPU("")), &options, 3000, 1);
    ok(&b, fmm_shared_create(b.method, b.run, &(fmm_shared_options){.tries = 1}, &b.shared));
    for (int k = 0; k < 6; k++) ok(&b, fmm_shared_run(b.shared, b.particles->charge, b.field, NULL));
    expect_right(&b);
    const yoke_round *round = &fmm_shared_planned(b.shared, &taken)->rounds[taken];
    const yoke_phase *phases = round->phases;
    assert_int_equal(fmm_shared_parts(b.shared, parts, 2), 2);
    assert_true(round->num_phases == (parts[1].pairs > 0 ? 4 : 2)); /* copies to the accelerator and back, where it works */
    const int64_t leaves = fmm_method_tree(b.method)->leaves.count;
    const double *sum = phases[0].weight_sum, all = sum[leaves], far = (double)phases[1].units, pairs = parts[0].pairs;
    assert_true(all == (double)(fmm_method_count(b.method).near + b.particles->count));
    assert_true(parts[0].pairs + parts[1].pairs == all);
    for (int64_t l = 0; l <= leaves; l++) {
        cost(sum[l], all, far, &time_s, &energy_j);
        best = fmin(best, objective == YOKE_OBJECTIVE_TIME ? time_s : energy_j);
    }
    cost(pairs, all, far, &time_s, &energy_j);
    const double got = objective == YOKE_OBJECTIVE_TIME ? time_s : energy_j;
    if (!(got <= 1.03 * best)) fail_msg("objective %d: %g instead of %g, %g pairs of %g", (int)objective, got, best, pairs, all);
    close_bench(&b);
    assert_int_equal(memory.outstanding, 0);
    return pairs / all;
}

static void the_share_of_least_time_and_that_of_least_energy_are_the_best_and_differ(void **state)
{
    (void)state;
    const double fast = planned_pairs(YOKE_OBJECTIVE_TIME), thrifty = planned_pairs(YOKE_OBJECTIVE_ENERGY);
    if (!(fabs(fast - thrifty) > 0.05)) fail_msg("%g and %g of the pairs", fast, thrifty);
}

/* A clock by which each part of a run takes 1000 s. */
static double tick(void *user) { return *(double *)user += 1000; }

static void the_near_field_has_its_own_seconds_where_multipoles_were_known_before(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    const int order = 3;
    failing memory = {0};
    bench b = {.context = machine(MACHINE(CPU), &memory)};
    double time_s = 0;
    const fmm_clock clock = {tick, &time_s};
    fmm_expanded expanded;
    fmm_method_seconds seconds;
    ok(&b, fmm_particles_generate(b.context, FMM_SHELLS, COUNT, FMM_EQUAL, 1, &b.particles));
    ok(&b, fmm_method_create(b.particles, &(fmm_method_options){.depth = 3, .order = &order, .gradient = 1, .clock = &clock}, &b.method));
    ok(&b, fmm_field_create(b.context, COUNT, 1, &b.field));
    ok(&b, fmm_shared_open(b.context, &(yoke_run_options){.devices = "sim:cpu"}, &b.run));
    ok(&b, fmm_shared_create(b.method, b.run, &(fmm_shared_options){.tries = 1}, &b.shared));
    for (int known = 0; known < 2; known++) {
        if (known) {
            ok(&b, fmm_method_sort_charges(b.method, b.particles->charge, &expanded));
            ok(&b, fmm_method_expand(b.method, order, &expanded));
        }
        ok(&b, fmm_shared_run(b.shared, b.particles->charge, b.field, &seconds));
        assert_near(seconds.upward, known ? 2000 : 1000, 1e-9); /* with the time that was needed before this run */
        /* two of five differences of the clock, less the seconds of plans */
        assert_true(seconds.near > 1900 && seconds.near <= 2000);
    }
    close_bench(&b);
}

static void the_far_field_beside_devices_is_the_same_with_plane_waves(void **state)
{
    (void)state;
    enum { ORDER = 6, SET = 6, LEVELS = 1 << 2 | 1 << 3 };
    static bench b;
    failing memory = {0};
    const yoke_run_options options = {.devices = "sim:cpu,sim:gpu"};
    open_bench(&b, &memory, MACHINE(CPU "," GPU("")), &options, 3000, 1);
    ok(&b, fmm_method_set_order(b.method, ORDER));
    ok(&b, fmm_method_run(b.method, b.particles->charge, b.field, NULL)); /* by rotations */
    ok(&b, fmm_method_set_waves(b.method, LEVELS, SET));
    ok(&b, fmm_method_run(b.method, b.particles->charge, b.alone, NULL));
    double most = 0;
    for (int64_t i = 0; i < b.field->count; i++) most = fmax(most, fabs(b.field->potential[i] / b.alone->potential[i] - 1));
    assert_true(most > 1e-10 && most < 1e-3); /* waves are another approximation */
    ok(&b, fmm_shared_create(b.method, b.run, &(fmm_shared_options){.tries = 1}, &b.shared));
    for (int k = 0; k < 4; k++) {
        ok(&b, fmm_shared_run(b.shared, b.particles->charge, b.field, NULL));
        expect_right(&b);
    }
    close_bench(&b);
    assert_int_equal(memory.outstanding, 0);
}

static void orders_may_be_raised_between_runs(void **state)
{
    (void)state;
    static bench b;
    failing memory = {0};
    const yoke_run_options options = {.devices = "sim:cpu,sim:gpu"};
    open_bench(&b, &memory, MACHINE(CPU "," GPU("")), &options, 3000, 1);
    ok(&b, fmm_shared_create(b.method, b.run, &(fmm_shared_options){.tries = 1}, &b.shared));
    for (int order = 3; order <= 30; order += 9) {
        ok(&b, fmm_method_set_order(b.method, order));
        ok(&b, fmm_method_run(b.method, b.particles->charge, b.alone, NULL));
        ok(&b, fmm_shared_run(b.shared, b.particles->charge, b.field, NULL));
        expect_right(&b);
    }
    close_bench(&b);
    assert_int_equal(memory.outstanding, 0);
}

/* Wherever a device fails its leaves are done by the others, once; only devices that fail before they get any work leave no trace in the sums. */
static void leaves_of_a_device_that_fails_are_done_by_the_others(void **state)
{
    (void)state;
    static bench b;
    static const char *const machines[] = {
        MACHINE(CPU "," GPU("%s") ",{\"name\": \"other\", \"class\": \"gpu\", \"seconds_per_unit\": 1e-9}"),
        MACHINE("{\"name\": \"cpu\", \"class\": \"cpu\", \"seconds_per_unit\": 2e-9%s}," GPU(""))};
    for (int k = 0; k < 2; k++) {
        int failed = 0;
        for (int call = k ? 8 : 1; call <= 40; call += 2) { /* the first calls of the CPU are those of the run */
            char text[1000], fault[100];
            failing memory = {0};
            fmm_shared_part parts[3] = {{0}};
            snprintf(fault, sizeof fault, ", \"fault\": {\"call\": %d, \"kind\": \"lost\"}", call);
            snprintf(text, sizeof text, machines[k], fault);
            open_bench(&b, &memory, text, NULL, 300, 1);
            ok(&b, fmm_shared_create(b.method, b.run, &(fmm_shared_options){.tries = call % 4 < 2}, &b.shared));
            for (int round = 0; round < 2; round++) {
                ok(&b, fmm_shared_run(b.shared, b.particles->charge, b.field, NULL));
                expect_right(&b);
            }
            int count = fmm_shared_parts(b.shared, parts, 3);
            for (int i = 0; i < count; i++) failed += parts[i].failed;
            close_bench(&b);
            assert_int_equal(memory.outstanding, 0);
        }
        assert_true(failed > 8);
    }
}

static void where_all_devices_fail_the_error_says_why(void **state)
{
    (void)state;
    static bench b;
    failing memory = {0};
    const yoke_run_options options = {.devices = "sim:gpu"};
    open_bench(&b, &memory, MACHINE(GPU(", \"fault\": {\"call\": 20, \"kind\": \"lost\"}")), &options, 300, 1);
    yoke_status status = fmm_shared_create(b.method, b.run, &(fmm_shared_options){0}, &b.shared);
    for (int k = 0; k < 4 && !status; k++) status = fmm_shared_run(b.shared, b.particles->charge, b.field, NULL);
    assert_int_equal(status, YOKE_ERROR_UNAVAILABLE);
    assert_non_null(strstr(yoke_last_error(b.context), "sim:gpu"));
    close_bench(&b);
    assert_int_equal(memory.outstanding, 0);
}

/* A bus that takes all the time: positions and charges go over it, and of the results a quarter where there are no gradients. */
static void without_gradients_only_potentials_come_back(void **state)
{
    (void)state;
    static bench b;
    static const double share = 1, bytes_per_s = 1e6;
    const yoke_run_options options = {.devices = "sim:cpu,sim:gpu", .share = &share};
    for (int gradient = 0; gradient < 2; gradient++) {
        failing memory = {0};
        fmm_shared_part parts[2];
        open_bench(&b, &memory, MACHINE(CPU "," GPU(", \"copy\": {\"latency_s\": 0, \"bytes_per_s\": 1e6}")), &options, 1000, gradient);
        ok(&b, fmm_shared_create(b.method, b.run, &(fmm_shared_options){.share = &share}, &b.shared));
        ok(&b, fmm_shared_run(b.shared, b.particles->charge, b.field, NULL));
        expect_right(&b);
        assert_int_equal(fmm_shared_parts(b.shared, parts, 2), 2);
        const double copies_s = 1000 * (double)sizeof(double) * (4 + (gradient ? 4 : 1)) / bytes_per_s;
        assert_true(fabs(parts[1].seconds - copies_s - gpu_s * parts[1].pairs) <= 1e-9 * copies_s);
        close_bench(&b);
        assert_int_equal(memory.outstanding, 0);
    }
}

static void a_device_with_too_little_memory_is_left_out(void **state)
{
    (void)state;
    static bench b;
    failing memory = {0};
    fmm_shared_part parts[2];
    open_bench(&b, &memory, MACHINE(CPU "," GPU(", \"memory_bytes\": 5000")), NULL, 300, 1);
    ok(&b, fmm_shared_create(b.method, b.run, &(fmm_shared_options){.tries = 1}, &b.shared));
    ok(&b, fmm_shared_run(b.shared, b.particles->charge, b.field, NULL));
    expect_right(&b);
    assert_int_equal(fmm_shared_parts(b.shared, parts, 2), 2);
    assert_true(!parts[0].failed && parts[1].failed && parts[1].pairs == 0);
    close_bench(&b);
    assert_int_equal(memory.outstanding, 0);
}

static int start(void **state)
{
    (void)state;
    return 0;
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_share_of_least_time_and_that_of_least_energy_are_the_best_and_differ),
    cmocka_unit_test(the_near_field_has_its_own_seconds_where_multipoles_were_known_before),
    cmocka_unit_test(the_far_field_beside_devices_is_the_same_with_plane_waves),
    cmocka_unit_test(orders_may_be_raised_between_runs),
    cmocka_unit_test(leaves_of_a_device_that_fails_are_done_by_the_others),
    cmocka_unit_test(where_all_devices_fail_the_error_says_why),
    cmocka_unit_test(without_gradients_only_potentials_come_back),
    cmocka_unit_test(a_device_with_too_little_memory_is_left_out),
};

UNIT_MAIN(tests, start, start)
