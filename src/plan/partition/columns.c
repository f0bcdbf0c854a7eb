/*
 * columns.c - divides a matrix into columns of rectangles with the least sum of half perimeters (Beaumont et al. 2001; Clarke sect. 1.9).
 *
 * On the unit square, with relative areas a_1 <= a_2 <= ..., a column of the areas b < i <= e is as wide as their sum.  It adds 1 + (e - b)
 * sum a_i to the sum of half perimeters: its heights add up to 1, and each of its rectangles has its width.  Some best arrangement has
 * columns of consecutive areas in this order.  Therefore the least sum of the first e areas in c columns is
 *   f(c, e) = min over b of f(c - 1, b) + 1 + (e - b) sum a_i.
 * This term satisfies the quadrangle inequality, so f(c, q) is convex in c: the first increase ends the search, after at most about 2
 * sqrt(q) columns.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "yoke/partition.h"

enum { MAX_BLOCKS = 1000000000 }; /* along a side: the product of two is still an int64_t */

typedef struct part {
    double area; /* relative to the sum of all */
    int64_t index;
} part;

typedef struct arrangement {
    int64_t count, rows, columns;
    part *parts;      /* [count], ascending areas above 0 */
    double *sums;     /* [count + 1]: sum of the areas before */
    int64_t **starts; /* [layers]: first area of the last of 1, 2, ... columns of the first e areas, e = 0 .. count; -1: not possible */
    int64_t layers;
    double half_perimeter;
} arrangement;

/* [count + 1] each: f(c - 1, .) and f(c, .), and arrays for rounding the widths of columns and the heights in one of them. */
typedef struct work_space {
    double *before, *after, *exact;
    int64_t *ends, *widths, *heights, *grown;
} work_space;

static int ascending(const void *left, const void *right)
{
    const part *a = left, *b = right;
    if (a->area != b->area) return a->area < b->area ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* f(c, .) from f(c - 1, .).  Of sums that are equal (to rounding) the one with the larger last column is chosen. */
static void add_column(const arrangement *all, const double *before, double *after, int64_t *starts)
{
    for (int64_t e = 0; e <= all->count; e++) {
        after[e] = INFINITY;
        starts[e] = -1;
        for (int64_t b = e > all->rows ? e - all->rows : 0; b < e; b++) {
            double sum = before[b] + 1 + (double)(e - b) * (all->sums[e] - all->sums[b]);
            if (sum < INFINITY && !(sum >= after[e] * (1 - 1e-12))) {
                after[e] = sum;
                starts[e] = b;
            }
        }
    }
}

/* Adds columns while the sum of half perimeters falls.  Sets all->layers to the number of columns. */
static yoke_status search(yoke_context *context, arrangement *all, double *before, double *after)
{
    double best = INFINITY;
    for (int64_t e = 0; e <= all->count; e++) before[e] = e == 0 ? 0 : INFINITY;
    int64_t most = all->count < all->columns ? all->count : all->columns;
    for (int64_t c = 0; c < most; c++) {
        void *memory;
        yoke_status status = yoke_allocate(context, all->count + 1, sizeof(int64_t), &memory);
        if (status != YOKE_OK) return status;
        add_column(all, before, after, memory);
        if (isfinite(best) && !(after[all->count] < best * (1 - 1e-12))) {
            yoke_release(context, memory);
            break;
        }
        all->starts[c] = memory;
        all->layers = c + 1;
        best = after[all->count];
        double *swap = before;
        before = after;
        after = swap;
    }
    all->half_perimeter = best;
    return YOKE_OK;
}

/*
 * Rounds real lengths with the sum `total` to integers >= 1 with the same sum.  They are rounded down; then one is added to each of those
 * whose relative increase is smallest.  If lengths below 1 were raised, one is taken from others where this costs least.
 */
static void round_lengths(int64_t count, const double *exact, int64_t total, int64_t *lengths, int64_t *grown)
{
    int64_t left = total;
    for (int64_t i = 0; i < count; i++) {
        double whole = floor(exact[i]);
        lengths[i] = whole >= 1 ? (int64_t)whole : 1;
        grown[i] = whole < 1;
        left -= lengths[i];
    }
    while (left > 0) {
        int64_t best = -1;
        for (int64_t i = 0; i < count; i++)
            if (!grown[i] && (best < 0 || ((double)lengths[i] + 1) * exact[best] < ((double)lengths[best] + 1) * exact[i])) best = i;
        if (best < 0) { /* each was increased once: only rounding errors */
            memset(grown, 0, (size_t)count * sizeof *grown);
            continue;
        }
        lengths[best]++;
        grown[best] = 1;
        left--;
    }
    while (left < 0) {
        int64_t best = -1;
        for (int64_t i = 0; i < count; i++)
            if (lengths[i] > 1 && (best < 0 || (double)(lengths[i] - 1) * exact[best] > (double)(lengths[best] - 1) * exact[i])) best = i;
        lengths[best]--;
        left++;
    }
}

static void lay_out(const arrangement *all, const work_space *work, yoke_rectangle *rectangles)
{
    for (int64_t c = all->layers - 1, e = all->count; c >= 0; e = all->starts[c][e], c--) work->ends[c] = e;
    for (int64_t c = 0; c < all->layers; c++) {
        double before = all->sums[c > 0 ? work->ends[c - 1] : 0];
        work->exact[c] = (all->sums[work->ends[c]] - before) / all->sums[all->count] * (double)all->columns;
    }
    round_lengths(all->layers, work->exact, all->columns, work->widths, work->grown);
    for (int64_t c = 0, column = 0; c < all->layers; column += work->widths[c], c++) {
        int64_t first = c > 0 ? work->ends[c - 1] : 0, count = work->ends[c] - first;
        double sum = all->sums[work->ends[c]] - all->sums[first];
        for (int64_t i = 0; i < count; i++)
            work->exact[i] = sum > 0 ? all->parts[first + i].area / sum * (double)all->rows : (double)all->rows / (double)count;
        round_lengths(count, work->exact, all->rows, work->heights, work->grown);
        for (int64_t i = 0, row = 0; i < count; row += work->heights[i], i++)
            rectangles[all->parts[first + i].index] =
                (yoke_rectangle){.row = row, .column = column, .rows = work->heights[i], .columns = work->widths[c]};
    }
}

static yoke_status check(yoke_context *context, int64_t count, const double *areas, int64_t rows, int64_t columns, int64_t *positive)
{
    if (count < 1) return yoke_fail(context, YOKE_ERROR_ARGUMENT, "no areas to arrange; give at least one");
    if (rows < 1 || columns < 1 || rows > MAX_BLOCKS || columns > MAX_BLOCKS)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "a matrix of %lld x %lld blocks; each side must have 1 to %d", (long long)rows,
                         (long long)columns, MAX_BLOCKS);
    *positive = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!(areas[i] >= 0) || isinf(areas[i]))
            return yoke_fail(context, YOKE_ERROR_ARGUMENT, "area %lld is %g; it must be finite and not negative", (long long)i, areas[i]);
        *positive += areas[i] > 0;
    }
    if (*positive == 0) return yoke_fail(context, YOKE_ERROR_ARGUMENT, "all areas are 0; at least one must be above 0");
    if (*positive > rows * columns)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "%lld areas for %lld x %lld blocks; give fewer areas, or smaller blocks",
                         (long long)*positive, (long long)rows, (long long)columns);
    return YOKE_OK;
}

static void sort_parts(arrangement *all, int64_t count, const double *areas)
{
    double largest = 0, sum = 0;
    for (int64_t i = 0; i < count; i++) largest = fmax(largest, areas[i]);
    int64_t k = 0;
    for (int64_t i = 0; i < count; i++)
        if (areas[i] > 0) all->parts[k++] = (part){.area = areas[i], .index = i};
    qsort(all->parts, (size_t)all->count, sizeof *all->parts, ascending);
    for (int64_t i = 0; i < all->count; i++) sum += all->parts[i].area /= largest; /* divided first, since the sum could overflow */
    all->sums[0] = 0;
    for (int64_t i = 0; i < all->count; i++) {
        all->parts[i].area /= sum;
        all->sums[i + 1] = all->sums[i] + all->parts[i].area;
    }
}

/* Allocates arrays, each as long as the list of areas plus one. */
static yoke_status get_memory(yoke_context *context, arrangement *all, work_space *work)
{
    int64_t length = all->count + 1;
    void *parts = NULL, *starts = NULL, *numbers = NULL, *counts = NULL;
    yoke_status status = yoke_allocate(context, length, sizeof *all->parts, &parts);
    if (status == YOKE_OK) status = yoke_allocate(context, length, sizeof *all->starts, &starts);
    if (status == YOKE_OK) status = yoke_allocate(context, 4 * length, sizeof(double), &numbers);
    if (status == YOKE_OK) status = yoke_allocate(context, 4 * length, sizeof(int64_t), &counts);
    all->parts = parts;
    all->starts = starts;
    all->sums = numbers;
    work->ends = counts;
    if (status != YOKE_OK) return status;
    work->before = all->sums + length;
    work->after = all->sums + 2 * length;
    work->exact = all->sums + 3 * length;
    work->widths = work->ends + length;
    work->heights = work->ends + 2 * length;
    work->grown = work->ends + 3 * length;
    return YOKE_OK;
}

yoke_status yoke_plan_columns(yoke_context *context, int64_t count, const double *areas, int64_t rows, int64_t columns,
                              yoke_rectangle *rectangles, double *half_perimeter)
{
    arrangement all = {.rows = rows, .columns = columns};
    work_space work = {0};
    yoke_status status = check(context, count, areas, rows, columns, &all.count);
    if (status != YOKE_OK) return status;
    status = get_memory(context, &all, &work);
    if (status == YOKE_OK) {
        sort_parts(&all, count, areas);
        status = search(context, &all, work.before, work.after);
    }
    if (status == YOKE_OK) {
        memset(rectangles, 0, (size_t)count * sizeof *rectangles);
        lay_out(&all, &work, rectangles);
        if (half_perimeter != NULL) *half_perimeter = all.half_perimeter;
    }
    for (int64_t c = 0; all.starts != NULL && c < all.layers; c++) yoke_release(context, all.starts[c]);
    yoke_release(context, all.parts);
    yoke_release(context, all.starts);
    yoke_release(context, all.sums);
    yoke_release(context, work.ends);
    return status;
}
