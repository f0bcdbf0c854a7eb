/* Two-level partitions where the kernel's seconds are odd, wrong or none, and where memory ends. */
#include <math.h>

#include "failing_call.h"
#include "nested_cluster.h"
#include "random_part.h"
#include "unit.h"

static void noise_and_odd_shapes_neither_break_nor_prolong_it(void **state)
{
    (void)state;
    yoke_context *context = cluster_context();
    uint64_t seed = 8;
    for (int k = 0; k < (unit_is_sanitized() ? 40 : 200); k++) {
        cluster all;
        cluster_make_random(&all, &seed);
        all.noise = 0.03;
        all.shape = 0.02;
        int64_t blocks = 20 + random_below(&seed, 400), rounds;
        yoke_nested_strategy strategy = (yoke_nested_strategy)(k % 4);
        double longest = cluster_makespan(context, &all, blocks, strategy, NULL, &rounds);
        assert_true(longest > 0 && rounds >= 1 && rounds <= 20);
        /* The first call, of INPA; then each of its rounds at most 20 of IDPA. */
        assert_true(all.calls <= 1 + 20 * rounds);
    }
    yoke_context_destroy(context);
}

/* Seconds that fall: more blocks are sooner done. */
static yoke_status simulate_falling(void *user, const int64_t *rows, const int64_t *columns, double *seconds)
{
    cluster *all = user;
    for (int64_t i = 0, k = 0; i < all->num_nodes; i++)
        for (int64_t j = 0; j < all->devices[i]; j++, k++) seconds[k] = 1 / (1 + (double)(rows[i] * columns[k]));
    return YOKE_OK;
}

static void seconds_that_fall_with_blocks_do_not_break_it(void **state)
{
    (void)state;
    yoke_context *context = cluster_context();
    cluster all = {.num_nodes = 3, .devices = {3, 1, 2}};
    for (int strategy = YOKE_NESTED_FPM; strategy <= YOKE_NESTED_HOMOGENEOUS; strategy++) {
        yoke_nested_options options = cluster_options(&all, 50, (yoke_nested_strategy)strategy);
        options.kernel = simulate_falling;
        yoke_nested_plan *plan = NULL;
        assert_int_equal(yoke_plan_nested(context, &options, &plan), YOKE_OK);
        int64_t sum = 0;
        for (int64_t i = 0; i < 3; i++)
            for (int64_t j = 0; j < all.devices[i]; j++) sum += plan->nodes[i].rows * plan->device_columns[i][j];
        assert_int_equal(sum, 2500);
        yoke_release(context, plan);
    }
    yoke_context_destroy(context);
}

static void extreme_seconds_do_not_break_it(void **state)
{
    (void)state;
    yoke_context *context = cluster_context();
    static const double scales[] = {1e-90, 1e80};
    for (int k = 0; k < 2; k++) {
        cluster all;
        cluster_make(&all, 5);
        for (int64_t i = 0; i < 5; i++)
            for (int64_t j = 0; j < all.devices[i]; j++) all.device[i][j] = (device){.per_block = scales[k], .memory = INFINITY};
        int converged;
        cluster_makespan(context, &all, 600, YOKE_NESTED_FPM, &converged, NULL);
        assert_true(converged);
    }
    cluster all = {.num_nodes = 2, .devices = {1, 2}}; /* 10^18 blocks */
    for (int64_t i = 0; i < 2; i++)
        for (int64_t j = 0; j < all.devices[i]; j++) all.device[i][j] = (device){.per_block = 1e-9, .memory = INFINITY};
    cluster_makespan(context, &all, 1000000000, YOKE_NESTED_FPM, NULL, NULL);
    yoke_context_destroy(context);
}

static void errors_of_the_kernel_are_handed_on(void **state)
{
    (void)state;
    yoke_context *context = cluster_context();
    cluster all;
    for (int64_t call = 1; call <= 6; call++) {
        cluster_make(&all, 8);
        all.context = context;
        all.fail_call = call;
        yoke_nested_options options = cluster_options(&all, 500, YOKE_NESTED_FPM);
        yoke_nested_plan *plan = NULL;
        assert_int_equal(yoke_plan_nested(context, &options, &plan), YOKE_ERROR_DEVICE);
        assert_non_null(strstr(yoke_last_error(context), "fell off the bus"));
        assert_null(plan);
    }
    yoke_context_destroy(context);
}

static void seconds_that_are_none_are_refused(void **state)
{
    (void)state;
    yoke_context *context = cluster_context();
    static const double bad[] = {NAN, INFINITY, -INFINITY, -1, 1e-200, 1e300, -0.1};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        cluster all;
        cluster_make(&all, 4);
        all.devices[1] = 2;
        all.device[1][1] = all.device[0][0];
        all.bad = bad[k];
        yoke_nested_options options = cluster_options(&all, 100, YOKE_NESTED_FPM);
        yoke_nested_plan *plan = NULL;
        assert_int_equal(yoke_plan_nested(context, &options, &plan), YOKE_ERROR_NUMERIC);
        assert_non_null(strstr(yoke_last_error(context), "device 1 of node 1"));
    }
    yoke_context_destroy(context);
}

static void what_is_outside_the_contract_is_refused(void **state)
{
    (void)state;
    yoke_context *context = cluster_context();
    cluster all;
    cluster_make(&all, 4);
    yoke_nested_options good = cluster_options(&all, 100, YOKE_NESTED_FPM), bad[12];
    int64_t no_device[4] = {1, 1, 0, 1}, too_many[4] = {INT64_MAX, INT64_MAX, 1, 1};
    for (int k = 0; k < 12; k++) bad[k] = good;
    bad[0].blocks = 0;
    bad[1].blocks = INT64_MAX;
    bad[2].num_nodes = 0;
    bad[3].blocks = 1;
    bad[4].devices = NULL;
    bad[5].devices = no_device;
    bad[6].devices = too_many;
    bad[7].strategy = (yoke_nested_strategy)9;
    bad[8].node_tolerance = NAN;
    bad[9].device_tolerance = -1;
    bad[10].max_rounds = 1001;
    bad[11].kernel = NULL;
    for (int k = 0; k < 12; k++) {
        yoke_nested_plan *plan = NULL;
        assert_int_equal(yoke_plan_nested(context, &bad[k], &plan), YOKE_ERROR_ARGUMENT);
        assert_true(strlen(yoke_last_error(context)) > 20);
        assert_null(plan);
    }
    assert_int_equal(all.calls, 0);
    yoke_release(context, NULL);
    yoke_context_destroy(context);
}

static yoke_status plan_cluster(yoke_context *context, void *user)
{
    cluster all;
    yoke_nested_plan *plan = NULL;
    (void)user;
    cluster_make(&all, 4);
    yoke_nested_options nested = cluster_options(&all, 60, YOKE_NESTED_FPM);
    yoke_status status = yoke_plan_nested(context, &nested, &plan);
    yoke_release(context, plan);
    return status;
}

static void no_failing_allocation_is_missed(void **state)
{
    (void)state;
    assert_true(failing_call_everywhere(plan_cluster, NULL) > 15);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(noise_and_odd_shapes_neither_break_nor_prolong_it),
    cmocka_unit_test(seconds_that_fall_with_blocks_do_not_break_it),
    cmocka_unit_test(extreme_seconds_do_not_break_it),
    cmocka_unit_test(errors_of_the_kernel_are_handed_on),
    cmocka_unit_test(seconds_that_are_none_are_refused),
    cmocka_unit_test(what_is_outside_the_contract_is_refused),
    cmocka_unit_test(no_failing_allocation_is_missed),
};

UNIT_MAIN(tests, NULL, NULL)
