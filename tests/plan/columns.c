/* The column-based arrangement: golden cases, exhaustive search, and covers of thousands of matrices. */
#include "unit.h"

#include <math.h>
#include <stdbool.h>

#include "failing_call.h"
#include "random_part.h"
#include "yoke/plan.h"

enum { MOST = 64 };

static yoke_context *make_context(void)
{
    yoke_context *context = NULL;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    return context;
}

static bool disjoint(const yoke_rectangle *a, const yoke_rectangle *b)
{
    return a->row + a->rows <= b->row || b->row + b->rows <= a->row || a->column + a->columns <= b->column ||
           b->column + b->columns <= a->column;
}

/* Inside the matrix, disjoint, and as large together as the matrix: covers it. */
static void check_cover(int64_t count, const double *areas, const yoke_rectangle *rectangles, int64_t rows, int64_t columns)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
        const yoke_rectangle *r = &rectangles[i];
        if (areas[i] > 0) {
            assert_true(r->rows >= 1 && r->columns >= 1 && r->row >= 0 && r->column >= 0);
            assert_true(r->row + r->rows <= rows && r->column + r->columns <= columns);
        } else {
            assert_true(r->rows == 0 && r->columns == 0 && r->row == 0 && r->column == 0);
        }
        sum += r->rows * r->columns;
        for (int64_t j = 0; j < i; j++)
            if (areas[i] > 0 && areas[j] > 0) assert_true(disjoint(r, &rectangles[j]));
    }
    assert_true(sum == rows * columns);
}

/* Sizes of the columns from left to right. */
static int64_t column_sizes(int64_t count, const yoke_rectangle *rectangles, int64_t sizes[MOST])
{
    int64_t columns = 0;
    for (int64_t at = 0;; columns++) {
        int64_t next = at;
        sizes[columns] = 0;
        for (int64_t i = 0; i < count; i++)
            if (rectangles[i].columns > 0 && rectangles[i].column == at) {
                sizes[columns]++;
                next = at + rectangles[i].columns;
            }
        if (next == at) return columns;
        at = next;
    }
}

static void the_five_golden_cases(void **state)
{
    (void)state;
    static const struct {
        int64_t count;
        double areas[9], half_perimeter;
        int64_t columns, sizes[3];
    } cases[] = {
        {4, {1, 1, 1, 1}, 4, 2, {2, 2}},
        {4, {8, 4, 2, 2}, 4, 2, {2, 2}},
        {8, {50, 20, 10, 5, 5, 5, 3, 2}, 5.1, 3, {5, 2, 1}},
        {9, {1, 1, 1, 1, 1, 1, 1, 1, 1}, 6, 3, {3, 3, 3}},
        {5, {5, 4, 3, 2, 1}, 4.4, 2, {3, 2}},
    };
    yoke_context *context = make_context();
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        yoke_rectangle rectangles[9];
        double half_perimeter = 0;
        int64_t sizes[MOST];
        assert_int_equal(yoke_plan_columns(context, cases[k].count, cases[k].areas, 1000, 1000, rectangles, &half_perimeter), YOKE_OK);
        assert_float_equal(half_perimeter, cases[k].half_perimeter, 1e-9);
        check_cover(cases[k].count, cases[k].areas, rectangles, 1000, 1000);
        assert_int_equal(column_sizes(cases[k].count, rectangles, sizes), cases[k].columns);
        assert_memory_equal(sizes, cases[k].sizes, (size_t)cases[k].columns * sizeof sizes[0]);
    }
    yoke_context_destroy(context);
}

typedef struct grouping {
    int64_t count, rows, columns;
    const double *areas;
    int64_t groups, sizes[MOST];
    double sums[MOST], best;
} grouping;

/* All ways to put areas i, i + 1, ... into the groups that there are, or a new one. */
static void group(grouping *all, int64_t i)
{
    if (i == all->count) {
        double sum = 0;
        for (int64_t g = 0; g < all->groups; g++) sum += 1 + (double)all->sizes[g] * all->sums[g];
        all->best = fmin(all->best, sum);
        return;
    }
    for (int64_t g = 0; g <= all->groups && g < all->columns; g++) {
        if (g < all->groups && all->sizes[g] == all->rows) continue;
        int64_t groups = all->groups;
        if (g == groups) {
            all->groups++;
            all->sizes[g] = 0;
            all->sums[g] = 0;
        }
        double before = all->sums[g];
        all->sizes[g]++;
        all->sums[g] += all->areas[i];
        group(all, i + 1);
        all->sizes[g]--;
        all->sums[g] = before;
        all->groups = groups;
    }
}

static void no_other_grouping_into_columns_is_better(void **state)
{
    (void)state;
    yoke_context *context = make_context();
    uint64_t seed = 1;
    int64_t limited = 0;
    for (int k = 0; k < 3000; k++) {
        double areas[8], half_perimeter, sum = 0;
        yoke_rectangle rectangles[8];
        int64_t count = 1 + random_below(&seed, 8);
        double spread = k % 3 == 0 ? 0.5 : k % 3 == 1 ? 3 : 10;
        for (int64_t i = 0; i < count; i++) sum += areas[i] = exp(spread * random_part(&seed));
        int64_t rows = k % 2 == 0 ? 100 : 1 + random_below(&seed, 4), columns = k % 4 < 2 ? 100 : 1 + random_below(&seed, 4);
        if (rows * columns < count) rows = count;
        limited += rows < count || columns < count;
        assert_int_equal(yoke_plan_columns(context, count, areas, rows, columns, rectangles, &half_perimeter), YOKE_OK);
        check_cover(count, areas, rectangles, rows, columns);
        for (int64_t i = 0; i < count; i++) areas[i] /= sum;
        grouping all = {.count = count, .rows = rows, .columns = columns, .areas = areas, .best = INFINITY};
        group(&all, 0);
        assert_float_equal(half_perimeter, all.best, 1e-9);
    }
    assert_true(limited > 500);
    yoke_context_destroy(context);
}

/* The sum of half perimeters in the unit square of the arrangement that the rectangles show; and whether no exact length is below a block. */
static bool exact_lengths(int64_t count, const double *areas, const yoke_rectangle *rectangles, int64_t rows, int64_t columns,
                          double *heights, double *widths, double *half_perimeter)
{
    double sum = 0;
    bool large = true;
    *half_perimeter = 0;
    for (int64_t i = 0; i < count; i++) sum += areas[i];
    for (int64_t i = 0; i < count; i++) {
        if (!(areas[i] > 0)) continue;
        double beside = 0;
        for (int64_t j = 0; j < count; j++)
            if (areas[j] > 0 && rectangles[j].column == rectangles[i].column) beside += areas[j];
        widths[i] = beside / sum * (double)columns;
        heights[i] = areas[i] / beside * (double)rows;
        large = large && widths[i] >= 1 && heights[i] >= 1;
        *half_perimeter += widths[i] / (double)columns + heights[i] / (double)rows;
    }
    return large;
}

static void rectangles_cover_any_matrix_and_are_within_a_block_of_exact(void **state)
{
    (void)state;
    yoke_context *context = make_context();
    uint64_t seed = 2;
    int64_t exact = 0;
    for (int k = 0; k < 10000; k++) {
        double areas[MOST], half_perimeter, seen, heights[MOST], widths[MOST];
        yoke_rectangle rectangles[MOST];
        int64_t count = 1 + random_below(&seed, MOST), positive = 0;
        double spread = 12 * random_part(&seed);
        for (int64_t i = 0; i < count; i++) {
            areas[i] = i > 0 && random_below(&seed, 8) == 0 ? 0 : exp(spread * random_part(&seed));
            positive += areas[i] > 0;
        }
        int64_t rows = 1 + random_below(&seed, k % 2 == 0 ? 1000 : 20), columns = 1 + random_below(&seed, k % 2 == 0 ? 1000 : 20);
        if (rows * columns < positive) columns = positive;
        assert_int_equal(yoke_plan_columns(context, count, areas, rows, columns, rectangles, &half_perimeter), YOKE_OK);
        check_cover(count, areas, rectangles, rows, columns);
        bool large = exact_lengths(count, areas, rectangles, rows, columns, heights, widths, &seen);
        assert_float_equal(half_perimeter, seen, 1e-9 * seen);
        if (!large) continue;
        exact++;
        for (int64_t i = 0; i < count; i++)
            if (areas[i] > 0) {
                assert_true(fabs((double)rectangles[i].rows - heights[i]) < 1 + 1e-9);
                assert_true(fabs((double)rectangles[i].columns - widths[i]) < 1 + 1e-9);
            }
    }
    assert_true(exact > 2000);
    yoke_context_destroy(context);
}

static void the_order_of_areas_does_not_matter(void **state)
{
    (void)state;
    yoke_context *context = make_context();
    uint64_t seed = 3;
    for (int k = 0; k < 1000; k++) {
        double areas[MOST], turned[MOST];
        yoke_rectangle first[MOST], second[MOST];
        int64_t count = 2 + random_below(&seed, 30), order[MOST];
        for (int64_t i = 0; i < count; i++) {
            areas[i] = 0.1 + random_part(&seed);
            order[i] = i;
        }
        for (int64_t i = count - 1; i > 0; i--) {
            int64_t j = random_below(&seed, i + 1), swap = order[i];
            order[i] = order[j];
            order[j] = swap;
        }
        for (int64_t i = 0; i < count; i++) turned[i] = areas[order[i]];
        assert_int_equal(yoke_plan_columns(context, count, areas, 97, 89, first, NULL), YOKE_OK);
        assert_int_equal(yoke_plan_columns(context, count, turned, 97, 89, second, NULL), YOKE_OK);
        for (int64_t i = 0; i < count; i++) assert_memory_equal(&second[i], &first[order[i]], sizeof first[0]);
    }
    yoke_context_destroy(context);
}

static void a_matrix_may_be_a_row_a_column_or_a_block(void **state)
{
    (void)state;
    yoke_context *context = make_context();
    double areas[5] = {3, 0, 1, 2, 4}, half_perimeter;
    yoke_rectangle rectangles[5];
    assert_int_equal(yoke_plan_columns(context, 5, areas, 1, 100, rectangles, &half_perimeter), YOKE_OK);
    check_cover(5, areas, rectangles, 1, 100);
    assert_int_equal(rectangles[4].columns, 40);
    assert_float_equal(half_perimeter, 5, 1e-12);
    assert_int_equal(yoke_plan_columns(context, 5, areas, 100, 1, rectangles, &half_perimeter), YOKE_OK);
    check_cover(5, areas, rectangles, 100, 1);
    assert_int_equal(rectangles[2].rows, 10);
    assert_float_equal(half_perimeter, 5, 1e-12);
    assert_int_equal(yoke_plan_columns(context, 1, areas, 1, 1, rectangles, &half_perimeter), YOKE_OK);
    check_cover(1, areas, rectangles, 1, 1);
    double full[4] = {1000, 1, 1e-9, 1e-300}; /* as many areas as blocks: one each */
    assert_int_equal(yoke_plan_columns(context, 4, full, 2, 2, rectangles, NULL), YOKE_OK);
    check_cover(4, full, rectangles, 2, 2);
    yoke_context_destroy(context);
}

static void huge_numbers_neither_overflow_nor_lose_blocks(void **state)
{
    (void)state;
    yoke_context *context = make_context();
    double areas[6] = {1.7e308, 1.7e308, 1e308, 1, 1e-308, 0};
    yoke_rectangle rectangles[6];
    int64_t side = 1000000000;
    assert_int_equal(yoke_plan_columns(context, 6, areas, side, side, rectangles, NULL), YOKE_OK);
    check_cover(6, areas, rectangles, side, side);
    double tiny[3] = {5e-324, 5e-324, 1e-323};
    assert_int_equal(yoke_plan_columns(context, 3, tiny, side, 1, rectangles, NULL), YOKE_OK);
    check_cover(3, tiny, rectangles, side, 1);
    assert_int_equal(rectangles[2].rows, side / 2);
    yoke_context_destroy(context);
}

static void what_is_outside_the_contract_is_refused(void **state)
{
    (void)state;
    yoke_context *context = make_context();
    double areas[5] = {1, 1, 1, 1, 1}, zeros[2] = {0, 0};
    yoke_rectangle rectangles[5];
    assert_int_equal(yoke_plan_columns(context, 5, areas, 2, 2, rectangles, NULL), YOKE_ERROR_ARGUMENT);
    assert_non_null(strstr(yoke_last_error(context), "5 areas for 2 x 2 blocks"));
    assert_int_equal(yoke_plan_columns(context, 2, zeros, 2, 2, rectangles, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_plan_columns(context, 0, areas, 2, 2, rectangles, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_plan_columns(context, 1, areas, 0, 2, rectangles, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_plan_columns(context, 1, areas, 2, -1, rectangles, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_plan_columns(context, 1, areas, INT64_MAX, INT64_MAX, rectangles, NULL), YOKE_ERROR_ARGUMENT);
    static const double bad[] = {NAN, INFINITY, -1};
    for (int k = 0; k < 3; k++) {
        areas[1] = bad[k];
        assert_int_equal(yoke_plan_columns(context, 2, areas, 9, 9, rectangles, NULL), YOKE_ERROR_ARGUMENT);
        assert_non_null(strstr(yoke_last_error(context), "area 1 is"));
    }
    yoke_context_destroy(context);
}

static yoke_status cut_columns(yoke_context *context, void *user)
{
    double areas[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    yoke_rectangle rectangles[9];
    (void)user;
    return yoke_plan_columns(context, 9, areas, 50, 50, rectangles, NULL);
}

static void no_failing_allocation_is_missed(void **state)
{
    (void)state;
    assert_true(failing_call_everywhere(cut_columns, NULL) >= 5);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_five_golden_cases),
    cmocka_unit_test(no_other_grouping_into_columns_is_better),
    cmocka_unit_test(rectangles_cover_any_matrix_and_are_within_a_block_of_exact),
    cmocka_unit_test(the_order_of_areas_does_not_matter),
    cmocka_unit_test(a_matrix_may_be_a_row_a_column_or_a_block),
    cmocka_unit_test(huge_numbers_neither_overflow_nor_lose_blocks),
    cmocka_unit_test(what_is_outside_the_contract_is_refused),
    cmocka_unit_test(no_failing_allocation_is_missed),
};

UNIT_MAIN(tests, NULL, NULL)
