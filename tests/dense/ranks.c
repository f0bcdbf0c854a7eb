/* Products on several ranks, without messages: who has which entries, and what is decided of nodes whose speeds are known. */
#include <math.h>

#include "ranks/nodes.h"
#include "unit.h"

enum { RANKS = 4, MOST = 12 };

static dense_grid make_grid(int64_t m, int64_t n, int64_t k, int64_t block, int ranks)
{
    dense_grid grid = {.m = m, .n = n, .k = k, .block = block, .precision = DENSE_DOUBLE, .ranks = ranks};
    dense_grid_complete(&grid);
    return grid;
}

/* Each entry is in one part; places [ranks]. */
static void expect_tiles(const yoke_rectangle *places, int ranks, int64_t rows, int64_t columns)
{
    static char seen[300 * 300];
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < ranks; i++)
        for (int64_t r = places[i].row; r < places[i].row + places[i].rows; r++)
            for (int64_t c = places[i].column; c < places[i].column + places[i].columns; c++) {
                assert_true(r < rows && c < columns);
                assert_int_equal(seen[r * columns + c]++, 0);
            }
    for (int64_t i = 0; i < rows * columns; i++) assert_int_equal(seen[i], 1);
}

static void every_entry_belongs_to_one_rank(void **state)
{
    (void)state;
    static const int64_t sizes[][4] = {/* m, n, k, block */
                                       {1, 1, 1, 64},    {1, 70, 3, 64},   {70, 1, 3, 64},     {3, 2, 100, 1},
                                       {65, 33, 17, 64}, {130, 57, 91, 7}, {97, 101, 103, 10}, {300, 9, 200, 16}};
    yoke_context *context = NULL;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int ranks = 1; ranks <= MOST; ranks++) {
            const dense_grid g = make_grid(sizes[s][0], sizes[s][1], sizes[s][2], sizes[s][3], ranks);
            yoke_rectangle blocks[MOST], a[MOST], b[MOST], c[MOST];
            assert_int_equal(dense_nodes_start(context, &g, blocks), YOKE_OK);
            for (int i = 0; i < ranks; i++) {
                a[i] = dense_grid_of_a(&g, blocks[i]);
                b[i] = dense_grid_of_b(&g, blocks[i]);
                c[i] = dense_grid_of_c(&g, blocks[i]);
                assert_true(c[i].rows > 0 || g.m * g.n < ranks); /* none is left without work */
            }
            expect_tiles(a, ranks, g.m, g.k);
            expect_tiles(b, ranks, g.k, g.n);
            expect_tiles(c, ranks, g.m, g.n);
            assert_int_equal(dense_grid_pivot(&g, 0), 0);
            assert_int_equal(dense_grid_pivot(&g, g.steps), g.k);
            for (int64_t step = 0; step < g.steps; step++) {
                const int64_t width = dense_grid_pivot(&g, step + 1) - dense_grid_pivot(&g, step);
                assert_true(width > 0 && width <= dense_grid_most_pivots(&g));
                assert_int_equal(dense_grid_pivots_a(&g, blocks[0], step).columns, width);
                assert_int_equal(dense_grid_pivots_b(&g, blocks[0], step).rows, width);
            }
        }
    yoke_context_destroy(context);
}

/* A node needs per_block_s for a block, and beyond the blocks that fit into its memory `factor` times as much. */
typedef struct simulated {
    double per_block_s, fitting, factor;
} simulated;

static double seconds_of(const simulated *node, yoke_rectangle r)
{
    const double blocks = (double)r.rows * (double)r.columns;
    return node->per_block_s * (fmin(blocks, node->fitting) + (blocks > node->fitting ? node->factor * (blocks - node->fitting) : 0));
}

typedef struct outcome {
    int moves;
    double imbalance, longest_s; /* of the last step; of a step with the mean number of pivots */
    double bytes;                /* most that the first rank had */
} outcome;

/*
 * All steps of a product of 200 x 200 blocks; what a node needs for a block is that of a mean step.  seconds_per_byte: of messages; memory_bytes: that the first rank
 * has, 0: not known.
 */
static outcome multiply_in(dense_partition partition, const simulated *node, double seconds_per_byte, double memory_bytes)
{
    const dense_grid g = make_grid(12800, 12800, 12800, 64, RANKS);
    yoke_rectangle now[RANKS];
    yoke_context *context = NULL;
    dense_nodes *nodes = NULL;
    outcome found = {0};
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    assert_int_equal(dense_nodes_start(context, &g, now), YOKE_OK);
    const yoke_rectangle first = now[0];
    assert_int_equal(dense_nodes_create(context, &g, now, partition, 0.05, &nodes), YOKE_OK);
    if (memory_bytes > 0) {
        dense_node_report memories[RANKS] = {{.memory_bytes = memory_bytes}};
        dense_nodes_messages(nodes, memories);
    }
    for (int64_t step = 0; step < g.steps; step++) {
        dense_node_report reports[RANKS] = {{0}};
        dense_node_decision decision;
        const double pivots = (double)(dense_grid_pivot(&g, step + 1) - dense_grid_pivot(&g, step));
        found.longest_s = 0;
        found.bytes = fmax(found.bytes, dense_grid_bytes(&g, first, now[0]));
        for (int i = 0; i < RANKS; i++) {
            if (seconds_per_byte > 0) reports[i] = (dense_node_report){.transfer_s = 1e6 * seconds_per_byte, .bytes = 1e6};
            reports[i].seconds = seconds_of(&node[i], now[i]) * pivots / ((double)g.k / (double)g.steps);
            found.longest_s = fmax(found.longest_s, seconds_of(&node[i], now[i]));
        }
        if (dense_nodes_decide(nodes, step, reports, now, &decision)) fail_msg("%s", yoke_last_error(context));
        found.moves += decision.moves;
        found.imbalance = decision.imbalance;
        assert_true(!decision.moves || decision.gain_s > decision.cost_s);
    }
    dense_nodes_destroy(nodes);
    yoke_context_destroy(context);
    return found;
}

static outcome multiply(dense_partition partition, const simulated *node, double seconds_per_byte)
{
    return multiply_in(partition, node, seconds_per_byte, 0);
}

static const simulated linear[RANKS] = {{1e-6, INFINITY, 1}, {2e-6, INFINITY, 1}, {3e-6, INFINITY, 1}, {6e-6, INFINITY, 1}};
/* The first node is fast as long as its blocks fit, which equal parts do. */
static const simulated with_memory[RANKS] = {{1e-6, 13000, 5}, {3e-6, INFINITY, 1}, {3e-6, INFINITY, 1}, {4e-6, INFINITY, 1}};

/* Least seconds of a step, with blocks that can be divided: by bisection. */
static double least(const simulated *node)
{
    double low = 0, high = 1;
    for (int k = 0; k < 100; k++) {
        const double t = (low + high) / 2;
        double blocks = 0;
        for (int i = 0; i < RANKS; i++) {
            const double fits = t / node[i].per_block_s;
            blocks += fits <= node[i].fitting ? fits : node[i].fitting + (fits - node[i].fitting) / node[i].factor;
        }
        if (blocks < 40000)
            low = t;
        else
            high = t;
    }
    return high;
}

static void ranks_of_constant_speeds_are_balanced_at_once(void **state)
{
    (void)state;
    for (int partition = DENSE_PARTITION_FPM; partition <= DENSE_PARTITION_CPM; partition++) {
        const outcome found = multiply((dense_partition)partition, linear, 0);
        if (found.moves != 1 || !(found.imbalance <= 0.05) || !(found.longest_s <= 1.05 * least(linear)))
            fail_msg("partition %d: %d moves, imbalance %g, %g s", partition, found.moves, found.imbalance, found.longest_s);
    }
}

static void even_parts_stay(void **state)
{
    (void)state;
    const outcome found = multiply(DENSE_PARTITION_EVEN, linear, 0);
    assert_int_equal(found.moves, 0);
    assert_float_equal(found.imbalance, 5, 1e-9);
}

/* Speeds as functions of the size converge within four repartitions, wherever the memory ends and however slow is what lies beyond (Clarke, sect. 1.10). */
static void functional_models_converge_in_four_repartitions(void **state)
{
    (void)state;
    static const double cases[][2] = {{15000, 3}, {13000, 3}, {15000, 5}, {13000, 5}, {11000, 5}, {11000, 8}}; /* memory, factor */
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        simulated nodes[RANKS];
        memcpy(nodes, with_memory, sizeof nodes);
        nodes[0].fitting = cases[k][0];
        nodes[0].factor = cases[k][1];
        const outcome fpm = multiply(DENSE_PARTITION_FPM, nodes, 0), multi = multiply(DENSE_PARTITION_CPM_MULTI, nodes, 0),
                      cpm = multiply(DENSE_PARTITION_CPM, nodes, 0);
        print_message("memory %g, factor %g: fpm %d moves, %.1f %%; cpm-multi %d, %.1f %%; cpm %d, %.0f %%\n", cases[k][0], cases[k][1],
                      fpm.moves, 100 * fpm.imbalance, multi.moves, 100 * multi.imbalance, cpm.moves, 100 * cpm.imbalance);
        if (fpm.moves > 4 || !(fpm.imbalance <= 0.05) || !(fpm.longest_s <= 1.05 * least(nodes)))
            fail_msg("%d moves, imbalance %g, %g s of %g", fpm.moves, fpm.imbalance, fpm.longest_s, least(nodes));
    }
}

static void constant_models_do_not_converge(void **state)
{
    (void)state;
    const outcome functional = multiply(DENSE_PARTITION_FPM, with_memory, 0), single = multiply(DENSE_PARTITION_CPM, with_memory, 0),
                  multiple = multiply(DENSE_PARTITION_CPM_MULTI, with_memory, 0);
    if (!(single.imbalance > 0.5) || !(multiple.imbalance > 0.05))
        fail_msg("single: imbalance %g; multiple: %g after %d moves", single.imbalance, multiple.imbalance, multiple.moves);
    assert_true(functional.longest_s < single.longest_s && functional.longest_s < multiple.longest_s);
}

static double both(yoke_rectangle a, yoke_rectangle b)
{
    const double high = fmin((double)(a.row + a.rows), (double)(b.row + b.rows)) - fmax((double)a.row, (double)b.row);
    const double wide = fmin((double)(a.column + a.columns), (double)(b.column + b.columns)) - fmax((double)a.column, (double)b.column);
    return fmax(high, 0) * fmax(wide, 0);
}

/* Two ranks of which one is faster by a fifth: 5 % of the blocks have to move, whichever of them it is. */
static void few_blocks_move_where_speeds_differ_little(void **state)
{
    (void)state;
    const dense_grid g = make_grid(12800, 12800, 12800, 64, 2);
    for (int faster = 0; faster < 2; faster++) {
        yoke_rectangle before[2], now[2];
        yoke_context *context = NULL;
        dense_nodes *nodes = NULL;
        dense_node_decision decision = {0};
        assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
        assert_int_equal(dense_nodes_start(context, &g, before), YOKE_OK);
        assert_int_equal(dense_nodes_create(context, &g, before, DENSE_PARTITION_FPM, 0.05, &nodes), YOKE_OK);
        memcpy(now, before, sizeof now);
        for (int64_t step = 0; step < 2; step++) {
            dense_node_report reports[2] = {{.seconds = 1.2}, {.seconds = 1.2}};
            reports[faster].seconds = 1;
            assert_int_equal(dense_nodes_decide(nodes, step, reports, now, &decision), YOKE_OK);
        }
        assert_int_equal(decision.moves, 1);
        const double stay = both(before[0], now[0]) + both(before[1], now[1]);
        if (!(stay >= 0.94 * 40000)) fail_msg("of 40000 blocks %g stay", stay);
        dense_nodes_destroy(nodes);
        yoke_context_destroy(context);
    }
}

/* C has 12800^2 numbers: where moving a part of them takes longer than all steps save, they stay. */
static void a_partition_stays_where_moving_takes_longer_than_it_saves(void **state)
{
    (void)state;
    assert_int_equal(multiply(DENSE_PARTITION_FPM, linear, 1e-11).moves, 1); /* 100 GB/s: some milliseconds, and 0.5 s are saved */
    assert_int_equal(multiply(DENSE_PARTITION_FPM, linear, 1e-8).moves, 0);
}

/* Where messages take longer than work, rectangles follow them, and not the speeds. */
static void messages_count_in_the_partition(void **state)
{
    (void)state;
    static const simulated fast[RANKS] = {{1e-9, INFINITY, 1}, {2e-9, INFINITY, 1}, {3e-9, INFINITY, 1}, {6e-9, INFINITY, 1}};
    assert_int_equal(multiply(DENSE_PARTITION_FPM, fast, 1e-9).moves, 0);
}

/* The first rank could do 22 000 of 40 000 blocks, as fast as it is: its memory says how many it gets, and not one more. */
static void a_rank_gets_no_more_than_its_memory_holds(void **state)
{
    (void)state;
    static const simulated fast[RANKS] = {{1e-6, INFINITY, 1}, {3e-6, INFINITY, 1}, {3e-6, INFINITY, 1}, {4e-6, INFINITY, 1}};
    const outcome free = multiply(DENSE_PARTITION_FPM, fast, 0);
    double before_s = INFINITY;
    for (double part = 0.75; part <= 1.4; part += 0.05) {
        const outcome found = multiply_in(DENSE_PARTITION_FPM, fast, 0, part * free.bytes);
        print_message("%.2f of %.3g bytes: %.3g, %d moves, %g s\n", part, free.bytes, found.bytes, found.moves, found.longest_s);
        assert_true(found.bytes <= part * free.bytes);
        assert_true(found.moves <= 2 && found.longest_s <= 1.05 * before_s);
        before_s = found.longest_s;
    }
    assert_true(before_s == free.longest_s);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_entry_belongs_to_one_rank),
    cmocka_unit_test(ranks_of_constant_speeds_are_balanced_at_once),
    cmocka_unit_test(even_parts_stay),
    cmocka_unit_test(functional_models_converge_in_four_repartitions),
    cmocka_unit_test(constant_models_do_not_converge),
    cmocka_unit_test(few_blocks_move_where_speeds_differ_little),
    cmocka_unit_test(a_partition_stays_where_moving_takes_longer_than_it_saves),
    cmocka_unit_test(messages_count_in_the_partition),
    cmocka_unit_test(a_rank_gets_no_more_than_its_memory_holds),
};

UNIT_MAIN(tests, NULL, NULL)
