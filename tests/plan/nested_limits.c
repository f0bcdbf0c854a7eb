/* Limits of memory that nodes and devices state, right, wrong or not at all, and partitions by points that were measured elsewhere. */
#include "unit.h"

#include <math.h>
#include <stdbool.h>

#include "failing_call.h"
#include "random_part.h"
#include "yoke/yoke.h"

enum { MOST_NODES = 12, MOST_DEVICES = 2, DEVICES = MOST_NODES * MOST_DEVICES };

/* A block takes a device per_block; beyond the memory of the device, or of the node, it takes `beyond` more. */
typedef struct cluster {
    int64_t num_nodes, devices[MOST_NODES], num_devices;
    double per_block[DEVICES], memory[DEVICES], beyond[DEVICES]; /* of nodes with one device the device's */
    double largest[DEVICES];                                     /* that was ever measured, over the memory */
    int64_t calls;
    bool beyond_first; /* after equal shares one was beyond a memory of which 95 to 100 % had not been measured before */
    double noise;
    uint64_t seed;
} cluster;

static double seconds_of(const cluster *all, int64_t k, double blocks)
{
    return all->per_block[k] * blocks + all->beyond[k] * fmax(0, blocks - all->memory[k]);
}

static yoke_status simulate(void *user, const int64_t *rows, const int64_t *columns, double *seconds)
{
    cluster *all = user;
    const bool asked_for = ++all->calls > 2; /* not one block each, nor equal shares */
    for (int64_t i = 0, k = 0; i < all->num_nodes; i++)
        for (int64_t j = 0; j < all->devices[i]; j++, k++) {
            const double blocks = (double)rows[i] * (double)columns[k], part = blocks / all->memory[k];
            if (columns[k] == 0) continue;
            if (asked_for && part > 1 && all->largest[k] < 0.95) all->beyond_first = true;
            all->largest[k] = fmax(all->largest[k], part);
            seconds[k] = seconds_of(all, k, blocks) * (1 + all->noise * (2 * random_part(&all->seed) - 1));
        }
    return YOKE_OK;
}

/* Speeds differ by a factor of up to 8.  About half of the nodes are beyond their memory of some blocks when all are balanced; there a block takes 2 to 10 times as long. */
static void make_cluster(cluster *all, uint64_t seed, int64_t blocks, int64_t num_nodes, int64_t most_devices)
{
    double speeds = 0;
    *all = (cluster){.num_nodes = num_nodes, .seed = seed};
    for (int64_t i = 0; i < num_nodes; i++) {
        all->devices[i] = 1 + (int64_t)(random_part(&all->seed) * (double)most_devices);
        for (int64_t j = 0; j < all->devices[i]; j++) {
            const int64_t k = all->num_devices++;
            all->per_block[k] = 1e-3 * (1 + 7 * random_part(&all->seed));
            speeds += 1 / all->per_block[k];
        }
    }
    for (int64_t k = 0; k < all->num_devices; k++) {
        const double share = (double)(blocks * blocks) / all->per_block[k] / speeds;
        all->memory[k] = share * (0.75 + 0.5 * random_part(&all->seed));
        all->beyond[k] = all->per_block[k] * (1 + 8 * random_part(&all->seed));
    }
}

/* Least seconds of all, with blocks that can be divided. */
static double least(const cluster *all, double blocks)
{
    double low = 0, high = 1e9;
    for (int n = 0; n < 200; n++) {
        const double t = (low + high) / 2;
        double sum = 0;
        for (int64_t k = 0; k < all->num_devices; k++) {
            const double within = fmin(t / all->per_block[k], all->memory[k]);
            sum += within + fmax(0, t - within * all->per_block[k]) / (all->per_block[k] + all->beyond[k]);
        }
        if (sum < blocks)
            low = t;
        else
            high = t;
    }
    return high;
}

static yoke_context *make_context(void)
{
    yoke_context *context = NULL;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    return context;
}

typedef struct outcome {
    int64_t rounds;
    int converged;
    double longest, measuring_s;
} outcome;

/* stated: part of the memory that is said to be there; 0: nothing is said. */
static outcome plan_with(yoke_context *context, cluster *all, int64_t blocks, double stated)
{
    double of_devices[DEVICES];
    for (int64_t k = 0; k < all->num_devices; k++) of_devices[k] = stated * all->memory[k];
    const yoke_nested_options options = {.blocks = blocks,
                                         .num_nodes = all->num_nodes,
                                         .devices = all->devices,
                                         .kernel = simulate,
                                         .user = all,
                                         .device_blocks = of_devices};
    yoke_nested_plan *plan = NULL;
    assert_int_equal(yoke_plan_nested(context, &options, &plan), YOKE_OK);
    outcome found = {.rounds = plan->rounds, .converged = plan->converged, .measuring_s = plan->measuring_s};
    int64_t sum = 0;
    for (int64_t i = 0; i < all->num_nodes; i++) {
        found.longest = fmax(found.longest, plan->node_s[i]);
        sum += plan->nodes[i].rows * plan->nodes[i].columns;
    }
    assert_int_equal(sum, blocks * blocks);
    yoke_release(context, plan);
    return found;
}

enum { CLUSTERS = 40, SIDE = 400 };

/* Of many clusters. */
typedef struct sums {
    int64_t rounds, converged, beyond_first; /* beyond_first: of those whose memory holds all */
    double measuring, longest;               /* over the longest node in the end; the largest one over what is possible */
} sums;

static sums try_all(yoke_context *context, double stated, double noise, int64_t most_devices)
{
    sums sum = {0};
    for (uint64_t seed = 1; seed <= CLUSTERS; seed++) {
        cluster all;
        double room = 0;
        make_cluster(&all, seed, SIDE, 2 + (int64_t)(seed % (MOST_NODES - 1)), most_devices);
        all.noise = noise;
        for (int64_t k = 0; k < all.num_devices; k++) room += floor(all.memory[k]);
        const outcome found = plan_with(context, &all, SIDE, stated);
        sum.rounds += found.rounds;
        sum.converged += found.converged;
        sum.beyond_first += all.beyond_first && room >= SIDE * SIDE;
        sum.measuring += found.measuring_s / found.longest;
        sum.longest = fmax(sum.longest, found.longest / least(&all, SIDE * SIDE));
    }
    print_message("stated %.2f, noise %.2f, %d devices: %lld rounds, %lld converged, measuring %.0f, longest %.3f, beyond first %lld\n",
                  stated, noise, (int)most_devices, (long long)sum.rounds, (long long)sum.converged, sum.measuring, sum.longest,
                  (long long)sum.beyond_first);
    return sum;
}

static void limits_that_are_known_save_rounds(void **state)
{
    (void)state;
    yoke_context *context = make_context();
    for (int devices = 1; devices <= MOST_DEVICES; devices++) {
        const sums without = try_all(context, 0, 0, devices), with = try_all(context, 1, 0, devices),
                   noisy = try_all(context, 1, 0.01, devices);
        assert_true(with.rounds <= 0.75 * (double)without.rounds && with.measuring < without.measuring);
        assert_true(with.converged >= without.converged && with.longest <= 1.05);
        assert_true(noisy.longest <= 1.08);
        if (devices > 1) continue; /* of several a node may have to have more columns than fit */
        assert_true(without.beyond_first > 0);
        assert_int_equal(with.beyond_first, 0);
        assert_int_equal(noisy.beyond_first, 0);
    }
    yoke_context_destroy(context);
}

/* Partitions are as good as those without limits, and do not need more rounds. */
static void wrong_limits_do_no_harm(void **state)
{
    (void)state;
    yoke_context *context = make_context();
    static const double stated[] = {0.5, 0.9, 1.1, 2};
    for (int devices = 1; devices <= MOST_DEVICES; devices++) {
        const sums without = try_all(context, 0, 0, devices);
        for (int k = 0; k < 4; k++) {
            const sums with = try_all(context, stated[k], 0, devices);
            assert_true((double)with.rounds <= 1.05 * (double)without.rounds);
            assert_true(with.converged >= without.converged && with.longest <= 1.05);
        }
    }
    yoke_context_destroy(context);
}

/* To the last bit, also where it is NaN or infinite. */
static void limits_that_are_far_away_or_not_known_change_nothing(void **state)
{
    (void)state;
    yoke_context *context = make_context();
    static const double stated[] = {1e6, INFINITY, NAN};
    for (uint64_t seed = 1; seed <= 8; seed++) {
        cluster all, other;
        make_cluster(&all, seed, SIDE, 6, MOST_DEVICES);
        const outcome without = plan_with(context, &all, SIDE, 0);
        for (int k = 0; k < 3; k++) {
            make_cluster(&other, seed, SIDE, 6, MOST_DEVICES);
            const outcome with = plan_with(context, &other, SIDE, stated[k]);
            assert_int_equal(with.rounds, without.rounds);
            assert_true(with.longest == without.longest && with.measuring_s == without.measuring_s);
        }
    }
    yoke_context_destroy(context);
}

/* --------------------------------------------------------------------------------------------- points from elsewhere */

enum { NODES = 3, ROWS = 60, COLUMNS = 100 };
static const int64_t one_each[NODES] = {1, 1, 1};

/* A block takes the nodes 1, 2 and 3 ms; each was measured with as many as fit 2000. */
static const yoke_nested_point points[] = {{0, 2000, 2}, {1, 2000, 4}, {2, 1000, 3}, {2, 2000, 6}};

static yoke_nested_options of_points(void)
{
    return (yoke_nested_options){.blocks = ROWS,
                                 .columns = COLUMNS,
                                 .num_nodes = NODES,
                                 .devices = one_each,
                                 .points = points,
                                 .num_points = 4,
                                 .node_tolerance = 0.01};
}

static void points_from_elsewhere_make_a_partition(void **state)
{
    (void)state;
    yoke_context *context = make_context();
    static const double messages[] = {0, 1e-3, 0.05};
    for (int k = 0; k < 3; k++) {
        yoke_nested_options options = of_points();
        yoke_nested_plan *plan = NULL;
        options.message_s = messages[k];
        assert_int_equal(yoke_plan_nested(context, &options, &plan), YOKE_OK);
        int64_t sum = 0;
        for (int i = 0; i < NODES; i++) {
            const yoke_rectangle *r = &plan->nodes[i];
            const double work_s = 1e-3 * (i + 1) * (double)(r->rows * r->columns), message_s = messages[k] * (double)(r->rows + r->columns);
            assert_float_equal(plan->node_s[i], fmax(work_s, message_s), 1e-9 * work_s);
            if (k == 0) assert_float_equal(work_s, 6.0 / 11 * ROWS * COLUMNS * 1e-3, 0.02 * work_s);
            sum += r->rows * r->columns;
        }
        assert_int_equal(sum, ROWS * COLUMNS);
        yoke_release(context, plan);
    }
    yoke_context_destroy(context);
}

/* With points nothing beyond a limit is asked for, where there is room. */
static void limits_are_kept_with_points(void **state)
{
    (void)state;
    yoke_context *context = make_context();
    for (double fitting = 1500; fitting <= 4000; fitting += 100) {
        const double limits[NODES] = {fitting, 0, NAN}, narrow[NODES] = {1000, 1000, fitting};
        yoke_nested_options options = of_points();
        yoke_nested_plan *plan = NULL;
        options.node_blocks = limits;
        assert_int_equal(yoke_plan_nested(context, &options, &plan), YOKE_OK);
        const double blocks = (double)(plan->nodes[0].rows * plan->nodes[0].columns);
        assert_true(blocks <= fitting && blocks >= 0.93 * fmin(fitting, 6.0 / 11 * ROWS * COLUMNS));
        assert_float_equal(plan->node_s[1], plan->node_s[2], 0.11 * plan->node_s[1]);
        yoke_release(context, plan);
        plan = NULL;
        options.node_blocks = narrow; /* there is room for 6000 within these only from 4000 on; else they cannot be kept */
        assert_int_equal(yoke_plan_nested(context, &options, &plan), YOKE_OK);
        assert_true((plan->nodes[0].rows * plan->nodes[0].columns <= 1000) == (fitting >= 4000));
        yoke_release(context, plan);
    }
    yoke_context_destroy(context);
}

static void bad_points_and_limits_are_refused(void **state)
{
    (void)state;
    yoke_context *context = make_context();
    static const yoke_nested_point bad[] = {{3, 1, 1},        {-1, 1, 1}, {0, 0, 1},   {0, NAN, 1},
                                            {0, INFINITY, 1}, {0, 1, 0},  {0, 1, NAN}, {0, 1, INFINITY}};
    static const double below_zero[NODES] = {1, -1, 1};
    static const int64_t two[NODES] = {1, 2, 1};
    cluster none = {0};
    yoke_nested_plan *plan = NULL;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        yoke_nested_point all[5];
        memcpy(all, points, sizeof points);
        all[4] = bad[k];
        yoke_nested_options options = of_points();
        options.points = all;
        options.num_points = 5;
        assert_int_equal(yoke_plan_nested(context, &options, &plan), YOKE_ERROR_ARGUMENT);
    }
    yoke_nested_options wrong[9];
    for (int k = 0; k < 9; k++) wrong[k] = of_points();
    wrong[0].num_points = 2; /* node 2 has none */
    wrong[1].num_points = 0;
    wrong[2].num_points = -1;
    wrong[3].kernel = simulate;
    wrong[3].user = &none;
    wrong[4].devices = two;
    wrong[5].message_s = -1;
    wrong[6].message_s = NAN;
    wrong[7].node_blocks = below_zero;
    wrong[8].device_blocks = below_zero;
    for (int k = 0; k < 9; k++) assert_int_equal(yoke_plan_nested(context, &wrong[k], &plan), YOKE_ERROR_ARGUMENT);
    assert_null(plan);
    yoke_context_destroy(context);
}

static yoke_status plan_by_points(yoke_context *context, void *user)
{
    const yoke_nested_options by_points = of_points();
    yoke_nested_plan *plan = NULL;
    (void)user;
    yoke_status status = yoke_plan_nested(context, &by_points, &plan);
    yoke_release(context, plan);
    return status;
}

static void no_failing_allocation_is_missed(void **state)
{
    (void)state;
    assert_true(failing_call_everywhere(plan_by_points, NULL) > 10);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(limits_that_are_known_save_rounds),
    cmocka_unit_test(wrong_limits_do_no_harm),
    cmocka_unit_test(limits_that_are_far_away_or_not_known_change_nothing),
    cmocka_unit_test(points_from_elsewhere_make_a_partition),
    cmocka_unit_test(limits_are_kept_with_points),
    cmocka_unit_test(bad_points_and_limits_are_refused),
    cmocka_unit_test(no_failing_allocation_is_missed),
};

UNIT_MAIN(tests, NULL, NULL)
