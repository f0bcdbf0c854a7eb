/* The benchmark of operations: its cubes, its units, and that each operation takes time. */
#include <omp.h>

#include "context.h"
#include "near.h"
#include "tree/lists.h"
#include "tune/costs/bench_cubes.h"
#include "tune/costs/bench_parts.h"
#include "tune/costs/surface.h"
#include "tune/counts/count.h"
#include "tune/counts/operations.h"

static void units_of_the_benchmark_are_those_that_are_counted(void **state)
{
    (void)state;
    enum { SIDE = 16 };
    fmm_particles *p = NULL;
    fmm_tree *tree = NULL;
    fmm_counts counts[5];
    fmm_cell_counts cells[5];
    const int usually = omp_get_max_threads();
    omp_set_num_threads(2); /* more threads have larger cubes */
    assert_int_equal(fmm_particles_create(context, SIDE * SIDE * SIDE, &p), YOKE_OK);
    for (int i = 0; i < p->count; i++) p->x[i] = i % SIDE + 0.5, p->y[i] = i / SIDE % SIDE + 0.5, p->z[i] = i / SIDE / SIDE + 0.5;
    assert_int_equal(fmm_tree_create(p, (fmm_box){.side = SIDE}, 4, &tree), YOKE_OK);
    assert_int_equal(fmm_count_cells(tree, counts, cells), YOKE_OK);
    assert_int_equal(fmm_bench_units(FMM_PAIR, 4), 2 * counts[4].far);
    assert_int_equal(fmm_bench_units(FMM_NEAR, 64), cells[4].sources[1] * 64);
    assert_int_equal(fmm_bench_units(FMM_NEAR, 256), cells[3].sources[8] * 32);
    assert_near_part(fmm_bench_sources(64) * 4096, (double)cells[4].sources[1] * 64, 1e-12);
    omp_set_num_threads(usually);
    fmm_tree_destroy(tree);
    fmm_particles_destroy(p);
}

/* The tree on which an operation is measured. */
static fmm_tree *tree_of(fmm_operation operation, int size)
{
    const fmm_cube of = fmm_cube_of(operation, size);
    fmm_particles *p = NULL;
    fmm_tree *tree = NULL;
    assert_int_equal(fmm_particles_create(context, fmm_cube_particles(of), &p), YOKE_OK);
    fmm_cube_fill(of, p);
    const fmm_box box = fmm_box_scaled(p, 0);
    assert_int_equal(of.capacity ? fmm_tree_create_adaptive(p, box, FMM_MAX_DEPTH, of.capacity, &tree)
                                 : fmm_tree_create(p, box, of.depth, &tree),
                     YOKE_OK);
    tree->direct = of.many;
    fmm_particles_destroy(p);
    return tree;
}

static bool has_pairs(const fmm_far_list *far, int direction)
{
    bool has = false;
    for (int t = 0; t < FMM_MAX_TARGETS; t++) has |= fmm_far_list_has(far, direction, t);
    return has;
}

/* The batches of M2L of full levels are estimated from the numbers of cells and pairs. */
static void batches_of_the_benchmark_are_those_of_the_method(void **state)
{
    (void)state;
    static const fmm_operation operations[5] = {FMM_PAIR, FMM_PAIR, FMM_SPARSE, FMM_SPARSE, FMM_SPARSE};
    static const int orders[5] = {4, 12, 4, 10, 12};
    for (int k = 0; k < 5; k++) {
        double batches = 0, pairs = 0;
        fmm_walk walk;
        fmm_far_list *far = calloc(1, sizeof *far);
        fmm_tree *tree = tree_of(operations[k], orders[k]);
        fmm_walk_start(&walk, tree);
        assert_non_null(far);
        for (int l = 2; l <= tree->depth; l++) {
            const fmm_level *cells = &tree->level[l];
            for (int32_t first = 0, last; first < cells->count; first = last) { /* whole families */
                last = first + FMM_MAX_TARGETS < cells->count ? tree->level[l - 1].child[cells->parent[first + FMM_MAX_TARGETS]]
                                                              : cells->count;
                fmm_far_list_fill(far, &walk, l, cells->parent[first], cells->parent[last - 1] + 1);
                pairs += (double)far->pairs;
                for (int d = FMM_NO_DIRECTION + 1; d < FMM_DIRECTIONS; d++)
                    batches += has_pairs(far, d) || has_pairs(far, FMM_DIRECTIONS - 1 - d);
            }
        }
        assert_true(pairs == (double)fmm_bench_units(operations[k], orders[k]));
        assert_near_part(fmm_bench_batch(operations[k], orders[k]), pairs / batches, operations[k] == FMM_PAIR ? 0.01 : 1e-12);
        free(far);
        fmm_tree_destroy(tree);
    }
}

/* Of a full cube of this depth. */
static int64_t pairs_to_depth(int depth)
{
    int64_t sum = 0;
    for (int l = 2; l <= depth; l++) {
        const int64_t parents = (int64_t)1 << (l - 1), around = 4 * (3 * parents - 2), near = 6 * parents - 2;
        sum += around * around * around - near * near * near;
    }
    return sum;
}

/* More threads have larger cubes, but not of high orders, whose expansions are large. */
static void cubes_of_the_benchmark_have_cells_for_all_threads(void **state)
{
    (void)state;
    static const int threads[3] = {2, 16, 64}, low[3] = {3, 4, 5}, high[3] = {3, 4, 4};
    const int usually = omp_get_max_threads();
    for (int k = 0; k < 3; k++) {
        omp_set_num_threads(threads[k]);
        assert_int_equal(fmm_bench_units(FMM_PAIR, 14), pairs_to_depth(low[k]));
        assert_int_equal(fmm_bench_units(FMM_PAIR, FMM_MAX_ORDER), pairs_to_depth(high[k]));
    }
    omp_set_num_threads(usually);
}

/* Numbers that are kept are those of the cells. */
static void cells_of_the_surface_are_counted(void **state)
{
    (void)state;
    for (int level = 2; level < FMM_MAX_SURFACE_LEVEL; level++) {
        const int64_t side = (int64_t)1 << level;
        int64_t cells = 0, pairs = 0, at[3], to[3];
        for (at[2] = 0; at[2] < side; at[2]++)
            for (at[1] = 0; at[1] < side; at[1]++)
                for (at[0] = 0; at[0] < side; at[0]++) {
                    if (!fmm_surface_cuts(level, at)) continue;
                    assert_true(fmm_surface_cuts(level - 1, (const int64_t[3]){at[0] / 2, at[1] / 2, at[2] / 2}));
                    cells++;
                    for (int64_t k = 0; k < 6 * 6 * 6; k++) { /* children of its parent's neighbours */
                        int near = 1, inside = 1;
                        const int64_t step[3] = {k % 6, k / 6 % 6, k / 36};
                        for (int c = 0; c < 3; c++) {
                            to[c] = 2 * (at[c] / 2 - 1) + step[c];
                            near &= to[c] >= at[c] - 1 && to[c] <= at[c] + 1;
                            inside &= to[c] >= 0 && to[c] < side;
                        }
                        pairs += inside && !near && fmm_surface_cuts(level, to);
                    }
                }
        assert_int_equal(fmm_surface_count(level).cells, cells);
        assert_int_equal(fmm_surface_count(level).pairs, pairs);
    }
}

static void each_operation_takes_time_and_wrong_sizes_are_refused(void **state)
{
    (void)state;
    fmm_bench *bench = NULL;
    assert_int_equal(fmm_bench_create(context, 1, NULL, &bench), YOKE_OK);
    for (int o = 0; o < FMM_OPERATIONS; o++) {
        const int is_adaptive = o == FMM_ADAPTIVE, is_uneven = o == FMM_UNEVEN || o == FMM_SINGLE_UNEVEN;
        const int small = is_uneven                                             ? FMM_UNEVEN_CAPACITY
                          : is_adaptive                                         ? FMM_LOW_CAPACITY
                          : o < FMM_TABLES || o == FMM_WAVES || o == FMM_FAMILY ? 4
                                                                                : 0;
        const int large = is_uneven ? FMM_UNEVEN_CAPACITY : is_adaptive ? FMM_HIGH_CAPACITY : o < FMM_TABLES ? 16 : 12;
        double less = 0, more = 0;
        assert_int_equal(fmm_bench_run(bench, o, small, 3, &less), YOKE_OK);
        assert_int_equal(fmm_bench_run(bench, o, large, 3, &more), YOKE_OK);
        assert_true(less > 0 && more > 0 && isfinite(less) && isfinite(more));
    }
    double seconds = 0;
    assert_int_equal(fmm_bench_run(bench, FMM_PAIR, FMM_MAX_ORDER + 1, 1, &seconds), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_bench_run(bench, FMM_NEAR, 0, 1, &seconds), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_bench_run(bench, FMM_ADAPTIVE, 33, 1, &seconds), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_bench_run(bench, FMM_FAMILY, 3, 1, &seconds), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_bench_run(bench, FMM_WAVES, 25, 1, &seconds), YOKE_ERROR_ARGUMENT);
    fmm_bench_destroy(bench);
}

static void adaptive_trees_of_the_benchmark_have_the_leaves_that_they_tell(void **state)
{
    (void)state;
    for (int capacity = FMM_LOW_CAPACITY; capacity <= FMM_HIGH_CAPACITY; capacity += FMM_HIGH_CAPACITY - FMM_LOW_CAPACITY) {
        fmm_tree *tree = tree_of(FMM_ADAPTIVE, capacity);
        assert_int_equal(tree->leaves.count, fmm_bench_units(FMM_ADAPTIVE, capacity));
        assert_near_part((double)tree->count / (double)tree->leaves.count, fmm_bench_leaf_particles(capacity), 1e-12);
        assert_int_equal(tree->depth, capacity == FMM_LOW_CAPACITY ? 5 : 4);
        fmm_tree_destroy(tree);
    }
    fmm_operations counted;
    const fmm_bench_pairs told = fmm_bench_uneven();
    const int64_t capacity = FMM_UNEVEN_CAPACITY;
    fmm_tree *tree = tree_of(FMM_UNEVEN, FMM_UNEVEN_CAPACITY);
    assert_int_equal(fmm_count_operations(tree, tree->direct, 1, &capacity, &counted), YOKE_OK);
    assert_true((double)counted.leaves == told.leaves && (double)counted.near == told.near && (double)counted.uneven == told.uneven);
    for (int k = 0; k < 2; k++) assert_true((double)counted.sources[told.size[k]] == told.sources[k]);
    fmm_tree_destroy(tree);
}

static void long_calls_are_measured_one_by_one(void **state)
{
    (void)state;
    const double now_s = yoke_clock_s(), long_ago_s = now_s - 1, later_s = now_s + 1000;
    assert_true(fmm_bench_goes_on(0, 2, long_ago_s) && !fmm_bench_goes_on(1, 2, long_ago_s));
    assert_true(fmm_bench_goes_on(1, 2, later_s) && !fmm_bench_goes_on(2, 2, later_s));
    assert_true(!fmm_bench_goes_on(0, 0, later_s));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(units_of_the_benchmark_are_those_that_are_counted),
    cmocka_unit_test(batches_of_the_benchmark_are_those_of_the_method),
    cmocka_unit_test(cubes_of_the_benchmark_have_cells_for_all_threads),
    cmocka_unit_test(cells_of_the_surface_are_counted),
    cmocka_unit_test(adaptive_trees_of_the_benchmark_have_the_leaves_that_they_tell),
    cmocka_unit_test(each_operation_takes_time_and_wrong_sizes_are_refused),
    cmocka_unit_test(long_calls_are_measured_one_by_one),
};

UNIT_MAIN(tests, context_start, context_end)
