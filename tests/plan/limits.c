/* Searches that would take long end by their number of nodes, or by the caller's word, and say how good their choice is. */
#include "context.h"

#include <math.h>

#include "yoke/plan.h"

static yoke_plan *create(const yoke_plan_problem *problem, yoke_plan_options options)
{
    yoke_plan *plan = NULL;
    assert_int_equal(yoke_plan_create(context, problem, &options, &plan), YOKE_OK);
    assert_non_null(plan);
    return plan;
}

/* 64 devices with 20 levels: all searches of a plan together stay within a number of nodes that takes seconds. */
typedef struct large {
    yoke_plan_level levels[64][20];
    yoke_plan_device devices[64];
    yoke_plan_problem problem;
} large;

static const large *large_of(void)
{
    static large m;
    m = (large){.problem = {.units = 1000000,
                            .repetitions = 100,
                            .copies_before = 1,
                            .base_power_w = 50,
                            .host_overhead_w = 20,
                            .num_devices = 64,
                            .devices = m.devices}};
    for (int i = 0; i < 64; i++) {
        const double slow = 1e-7 * (1 + i * 37 % 64 / 4.0), watts = 30 + i * 23 % 64 * 3.0;
        for (int k = 0; k < 20; k++) {
            const double f = 0.4 + 0.03 * (k + 1);
            m.levels[i][k] = (yoke_plan_level){.frequency_hz = 2e9 * f,
                                               .seconds_per_unit = slow / pow(f, 0.8 + 0.2 * (i % 7) / 7),
                                               .start_seconds = 1e-8 * (i % 11),
                                               .dynamic_power_w = watts * (0.3 * f + 0.7 * f * f * f),
                                               .idle_power_w = 5 + i * 11 % 64 / 2.0 + 2 * f};
        }
        m.devices[i] = (yoke_plan_device){.name = "d",
                                          .host = i % 4 == 0,
                                          .removable = i % 2,
                                          .num_levels = 20,
                                          .levels = m.levels[i],
                                          .copy_seconds = 1e-5,
                                          .copy_seconds_per_unit = 1e-9,
                                          .max_units = INT64_MAX};
    }
    return &m;
}

static void many_devices_and_levels_are_searched_with_few_nodes(void **state)
{
    (void)state;
    unit_leave_to_release();
    const large *m = large_of();
    yoke_plan *plan = create(&m->problem, (yoke_plan_options){.power_cap_w = 3000, .max_nodes = 0});
    print_message("%lld nodes, of all searches %lld, gap %g\n", (long long)plan->nodes, (long long)plan->all_nodes, plan->gap);
    assert_true(plan->feasible && plan->gap < 0.01);
    assert_true(plan->best.peak_power_w <= 3000 * (1 + 1e-9));
    assert_true(plan->nodes <= 60000 && plan->all_nodes >= plan->nodes / 4);
    assert_true(plan->all_nodes <= 100000);
    yoke_release(context, plan);
}

static int stop_at_3000(void *user, int64_t nodes)
{
    ++*(int64_t *)user;
    return nodes >= 3000;
}

static void progress_is_told_and_may_end_a_search(void **state)
{
    (void)state;
    const large *m = large_of();
    int64_t calls = 0;
    yoke_plan *plan = create(&m->problem, (yoke_plan_options){.power_cap_w = 3000, .progress = stop_at_3000, .user = &calls});
    assert_true(calls == 3); /* after 1024, 2048, 3072 */
    assert_true(plan->feasible && !plan->optimal && plan->gap > 0 && plan->gap < 0.5);
    assert_true(plan->all_nodes < 6000);
    yoke_release(context, plan);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(many_devices_and_levels_are_searched_with_few_nodes),
    cmocka_unit_test(progress_is_told_and_may_end_a_search),
};

UNIT_MAIN(tests, context_start, context_end)
