/* Two-level partitions of simulated clusters: covers, balance, baselines. */
#include <math.h>

#include "nested_cluster.h"
#include "random_part.h"
#include "unit.h"

/* No partition is faster: seconds in which all devices together do all blocks, were these divisible. */
static double least_seconds(const cluster *all, int64_t blocks)
{
    double low = 0, high = 1e12, n = (double)blocks * (double)blocks;
    for (int k = 0; k < 200; k++) {
        double middle = (low + high) / 2, sum = 0;
        for (int64_t i = 0; i < all->num_nodes; i++)
            for (int64_t j = 0; j < all->devices[i]; j++) {
                const device *d = &all->device[i][j];
                double units = fmax(0, fmin((middle - d->start) / d->per_block, d->memory));
                if (cluster_seconds(d, d->memory) + d->jump < middle)
                    units = d->memory + (middle - cluster_seconds(d, d->memory) - d->jump) / (d->per_block + d->beyond);
                sum += units;
            }
        if (sum < n)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void constant_speeds_are_shared_in_proportion(void **state)
{
    (void)state;
    yoke_context *context = cluster_context();
    cluster all = {.num_nodes = 2, .devices = {2, 1}};
    all.device[0][0] = (device){.per_block = 1e-3, .memory = INFINITY};
    all.device[0][1] = (device){.per_block = 2e-3, .memory = INFINITY};
    all.device[1][0] = (device){.per_block = 2e-3, .memory = INFINITY};
    for (int strategy = YOKE_NESTED_FPM; strategy <= YOKE_NESTED_MULTIPLE_CPM; strategy++) {
        yoke_nested_options options = cluster_options(&all, 600, (yoke_nested_strategy)strategy);
        yoke_nested_plan *plan = NULL;
        assert_int_equal(yoke_plan_nested(context, &options, &plan), YOKE_OK);
        cluster_check(&all, 600, plan);
        assert_true(plan->converged);
        assert_int_equal(plan->rounds, 2);
        assert_float_equal((double)(plan->nodes[0].rows * plan->nodes[0].columns), 270000, 600);
        assert_float_equal((double)plan->device_columns[0][0], (double)plan->nodes[0].columns * 2 / 3, 1);
        yoke_release(context, plan);
    }
    yoke_context_destroy(context);
}

static void models_find_the_balance_behind_memory_limits_where_constants_do_not(void **state)
{
    (void)state;
    yoke_context *context = cluster_context();
    cluster all;
    int fpm_converged = 0, multiple_converged = 0, sizes = 0;
    for (int64_t blocks = 300; blocks <= 900; blocks += 50, sizes++) {
        cluster_make(&all, 16);
        int converged;
        int64_t rounds;
        double fpm = cluster_makespan(context, &all, blocks, YOKE_NESTED_FPM, &converged, &rounds);
        fpm_converged += converged;
        assert_in_range(rounds, 1, 7);
        double multiple = cluster_makespan(context, &all, blocks, YOKE_NESTED_MULTIPLE_CPM, &converged, NULL);
        multiple_converged += converged;
        double single = cluster_makespan(context, &all, blocks, YOKE_NESTED_SINGLE_CPM, NULL, NULL);
        double even = cluster_makespan(context, &all, blocks, YOKE_NESTED_HOMOGENEOUS, NULL, NULL), least = least_seconds(&all, blocks);
        print_message("%4d blocks: least %.3f s, FPM %.3f (%d rounds), multiple CPM %.3f, single CPM %.3f, even %.3f\n", (int)blocks, least,
                      fpm / least, (int)rounds, multiple / least, single / least, even / least);
        assert_true(fpm < 1.06 * least);
        assert_true(fpm <= 1.02 * multiple && fpm <= 1.02 * single && fpm < even);
    }
    print_message("balanced within 5 %%: FPM %d, multiple CPM %d of %d\n", fpm_converged, multiple_converged, sizes);
    assert_int_equal(fpm_converged, sizes);
    assert_true(multiple_converged < sizes / 2);
    yoke_context_destroy(context);
}

/*
 * Nodes of 1 to 8 cores share matrices of few blocks, where rectangles of whole blocks that are nearest to exact ones are balanced within 5 % in none of these cases.  In many of
 * them other rectangles are.
 */
static void small_matrices_are_balanced_by_their_whole_blocks(void **state)
{
    (void)state;
    yoke_context *context = cluster_context();
    int cases = 0, balanced = 0;
    for (int64_t nodes = 10; nodes <= 40; nodes += 10)
        for (int64_t part = 12; part < 30; part += 2, cases++) {
            cluster all = {.num_nodes = nodes};
            for (int64_t i = 0; i < nodes; i++) {
                all.devices[i] = 1;
                all.device[i][0] = (device){.per_block = 1e-3 / (double)(1 + i % 8), .memory = INFINITY};
            }
            int converged;
            int64_t rounds;
            cluster_makespan(context, &all, part * (int64_t)sqrt((double)nodes), YOKE_NESTED_FPM, &converged, &rounds);
            balanced += converged;
            assert_in_range(rounds, 1, 8);
        }
    print_message("balanced within 5 %%: %d of %d\n", balanced, cases);
    assert_true(balanced >= cases / 3);
    yoke_context_destroy(context);
}

/*
 * The first of two nodes takes `factor` times as long for a block beyond its memory, which is more than half of the matrix.  Up to a factor of 9 four repartitions are enough.
 * The higher the cliff the narrower is what is balanced, and the less a measurement tells but on which side of it the share was.
 */
static void a_cliff_is_found_wherever_it_is(void **state)
{
    (void)state;
    yoke_context *context = cluster_context();
    for (int factor = 3; factor <= 81; factor *= 3) {
        int64_t most = 0;
        for (int part = 1; part <= 9; part++) {
            cluster all = {.num_nodes = 2, .devices = {1, 1}};
            all.device[0][0] = (device){.per_block = 1e-6, .memory = 500.0 * 500 * (1 + 0.06 * part), .beyond = 1e-6 * (factor - 1)};
            all.device[1][0] = (device){.per_block = 4e-6, .memory = INFINITY};
            int converged;
            int64_t rounds;
            cluster_makespan(context, &all, 707, YOKE_NESTED_FPM, &converged, &rounds);
            assert_true(converged);
            most = rounds > most ? rounds : most;
        }
        print_message("factor %d: at most %d rounds\n", factor, (int)most);
        assert_in_range(most, 1, factor <= 9 ? 5 : 10);
    }
    yoke_context_destroy(context);
}

static void level_speeds_suit_constants_too(void **state)
{
    (void)state;
    yoke_context *context = cluster_context();
    cluster all;
    cluster_make(&all, 16);
    for (int64_t i = 0; i < all.num_nodes; i++)
        for (int64_t j = 0; j < all.devices[i]; j++) all.device[i][j].memory = INFINITY;
    int converged;
    double least = least_seconds(&all, 1200);
    assert_true(cluster_makespan(context, &all, 1200, YOKE_NESTED_FPM, &converged, NULL) < 1.05 * least);
    assert_true(converged);
    assert_true(cluster_makespan(context, &all, 1200, YOKE_NESTED_MULTIPLE_CPM, &converged, NULL) < 1.05 * least);
    assert_true(converged);
    assert_true(cluster_makespan(context, &all, 1200, YOKE_NESTED_SINGLE_CPM, NULL, NULL) < 1.1 * least);
    assert_true(cluster_makespan(context, &all, 1200, YOKE_NESTED_HOMOGENEOUS, NULL, NULL) > 5 * least);
    yoke_context_destroy(context);
}

static void random_clusters_come_near_the_least_time(void **state)
{
    (void)state;
    yoke_context *context = cluster_context();
    uint64_t seed = 7;
    int near = 0, number = 300;
    double worst = 0;
    for (int k = 0; k < number; k++) {
        cluster all;
        cluster_make_random(&all, &seed);
        int64_t blocks = 400 + random_below(&seed, 600);
        double ratio = cluster_makespan(context, &all, blocks, YOKE_NESTED_FPM, NULL, NULL) / least_seconds(&all, blocks);
        assert_true(ratio > 1 - 1e-9);
        worst = fmax(worst, ratio);
        near += ratio < 1.08;
    }
    print_message("within 8 %% of the least time: %d of %d, worst %.3f\n", near, number, worst);
    assert_true(near >= number * 98 / 100);
    yoke_context_destroy(context);
}

/* Of 30 x 200 blocks the nodes get what they get of 60 x 100. */
static void a_matrix_need_not_be_square(void **state)
{
    (void)state;
    yoke_context *context = cluster_context();
    cluster all = {.num_nodes = 3, .devices = {1, 1, 1}};
    for (int64_t i = 0; i < 3; i++) all.device[i][0] = (device){.per_block = 1.0 / (double)(i + 1), .memory = INFINITY};
    yoke_nested_options options = cluster_options(&all, 30, YOKE_NESTED_FPM);
    yoke_nested_plan *plan = NULL;
    options.columns = 200;
    assert_int_equal(yoke_plan_nested(context, &options, &plan), YOKE_OK);
    assert_true(plan->converged);
    int64_t sum = 0;
    for (int64_t i = 0; i < 3; i++) {
        const yoke_rectangle *r = &plan->nodes[i];
        assert_true(r->row + r->rows <= 30 && r->column + r->columns <= 200);
        assert_float_equal((double)(r->rows * r->columns) / 6000, (double)(i + 1) / 6, 0.02);
        sum += r->rows * r->columns;
        for (int64_t j = 0; j < i; j++) assert_true(cluster_are_disjoint(r, &plan->nodes[j]));
    }
    assert_int_equal(sum, 6000);
    yoke_release(context, plan);
    options.columns = -1;
    assert_int_equal(yoke_plan_nested(context, &options, &plan), YOKE_ERROR_ARGUMENT);
    yoke_context_destroy(context);
}

static void the_fastest_device_gets_a_block_that_cannot_be_split(void **state)
{
    (void)state;
    yoke_context *context = cluster_context();
    cluster all = {.num_nodes = 1, .devices = {3}};
    for (int64_t j = 0; j < 3; j++) all.device[0][j] = (device){.per_block = j == 1 ? 1 : 3, .memory = INFINITY};
    for (int strategy = YOKE_NESTED_FPM; strategy <= YOKE_NESTED_MULTIPLE_CPM; strategy++) {
        yoke_nested_options options = cluster_options(&all, 1, (yoke_nested_strategy)strategy);
        yoke_nested_plan *plan = NULL;
        assert_int_equal(yoke_plan_nested(context, &options, &plan), YOKE_OK);
        cluster_check(&all, 1, plan);
        assert_int_equal(plan->device_columns[0][1], 1);
        assert_float_equal(plan->node_s[0], 1, 1e-12);
        yoke_release(context, plan);
    }
    yoke_context_destroy(context);
}

static void who_is_too_slow_gets_nothing(void **state)
{
    (void)state;
    yoke_context *context = cluster_context();
    cluster all = {.num_nodes = 3, .devices = {2, 1, 1}};
    all.device[0][0] = (device){.per_block = 1e-3, .memory = INFINITY};
    all.device[0][1] = (device){.per_block = 5, .memory = INFINITY};
    all.device[1][0] = (device){.per_block = 1e3, .memory = INFINITY};
    all.device[2][0] = (device){.per_block = 1e-3, .memory = INFINITY};
    yoke_nested_options options = cluster_options(&all, 40, YOKE_NESTED_FPM);
    yoke_nested_plan *plan = NULL;
    assert_int_equal(yoke_plan_nested(context, &options, &plan), YOKE_OK);
    cluster_check(&all, 40, plan);
    assert_int_equal(plan->device_columns[0][1], 0);
    assert_int_equal(plan->nodes[1].rows, 0);
    assert_float_equal(plan->node_s[1], 0, 0);
    assert_true(plan->converged);
    yoke_release(context, plan);
    yoke_context_destroy(context);
}

static void partitions_do_not_depend_on_the_order_of_nodes(void **state)
{
    (void)state;
    yoke_context *context = cluster_context();
    cluster all, turned;
    cluster_make(&all, 8);
    turned = all;
    for (int64_t i = 0; i < 8; i++) {
        turned.devices[i] = all.devices[7 - i];
        memcpy(turned.device[i], all.device[7 - i], sizeof all.device[i]);
    }
    yoke_nested_options first = cluster_options(&all, 500, YOKE_NESTED_FPM), second = cluster_options(&turned, 500, YOKE_NESTED_FPM);
    yoke_nested_plan *one = NULL, *other = NULL;
    assert_int_equal(yoke_plan_nested(context, &first, &one), YOKE_OK);
    assert_int_equal(yoke_plan_nested(context, &second, &other), YOKE_OK);
    for (int64_t i = 0; i < 8; i++) assert_float_equal(one->node_s[i], other->node_s[7 - i], 0.05 * one->node_s[i]);
    yoke_release(context, one);
    yoke_release(context, other);
    yoke_context_destroy(context);
}

/* Two nodes of two devices each, whose times are lines and sides: after two rounds whole columns and sides are known, and the seconds of any rectangle are exact. */
static void whole_columns_of_devices_are_foreseen(void **state)
{
    (void)state;
    yoke_context *context = cluster_context();
    cluster all = {.num_nodes = 2, .devices = {2, 2}, .side_s = 2e-4};
    for (int64_t i = 0; i < 2; i++)
        for (int64_t j = 0; j < 2; j++) all.device[i][j] = (device){.per_block = 1e-4 * (double)(1 + 3 * j + i), .memory = INFINITY};
    int balanced = 0, sizes = 0;
    for (int64_t blocks = 30; blocks < 60; blocks++, sizes++) {
        int converged;
        int64_t rounds;
        cluster_makespan(context, &all, blocks, YOKE_NESTED_FPM, &converged, &rounds);
        balanced += converged && rounds <= 4;
    }
    print_message("balanced within 5 %% in four rounds: %d of %d\n", balanced, sizes);
    assert_true(balanced >= sizes * 9 / 10);
    yoke_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(constant_speeds_are_shared_in_proportion),
    cmocka_unit_test(models_find_the_balance_behind_memory_limits_where_constants_do_not),
    cmocka_unit_test(small_matrices_are_balanced_by_their_whole_blocks),
    cmocka_unit_test(a_cliff_is_found_wherever_it_is),
    cmocka_unit_test(level_speeds_suit_constants_too),
    cmocka_unit_test(random_clusters_come_near_the_least_time),
    cmocka_unit_test(a_matrix_need_not_be_square),
    cmocka_unit_test(the_fastest_device_gets_a_block_that_cannot_be_split),
    cmocka_unit_test(who_is_too_slow_gets_nothing),
    cmocka_unit_test(partitions_do_not_depend_on_the_order_of_nodes),
    cmocka_unit_test(whole_columns_of_devices_are_foreseen),
};

UNIT_MAIN(tests, NULL, NULL)
