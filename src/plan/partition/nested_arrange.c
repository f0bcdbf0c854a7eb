/*
 * nested_arrange.c - rectangles of whole blocks for nodes whose seconds are known functions of their blocks, with small differences of
 * seconds.
 *
 * Rounding areas to whole blocks can make a rectangle of m x n blocks larger by the fraction 1/m + 1/n.  There are many arrangements in
 * whole blocks (which nodes share a column, its width, the heights of its rectangles), and some of them are balanced far better than the
 * nearest ones.  As in columns.c, columns have consecutive areas.  Let [s, (1 + r) s] be the interval in which the seconds of all nodes
 * shall be.  In a column of w blocks a node may then have lo(w) to hi(w) rows, and nodes fill the column if the number of rows is at least
 * the sum of lo and at most the sum of hi.  For a node of several devices, lo and hi are those with which the devices share whole columns.
 * The widths add up to that of the matrix.  So the least sum of half perimeters with these seconds is a shortest path over (nodes, width so
 * far).  Of several values of r, the smallest one with a path is chosen.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "plan/partition/nested.h"

enum {
    MOST_NODES = 256,         /* time grows with their square */
    WIDTHS = 6,               /* whole widths near the exact one that are tried */
    OFFSETS = 8,              /* largest difference of the width so far from the exact one */
    STATES = 2 * OFFSETS + 1, /* for each number of nodes */
    TIMES = 8,                /* number of values of s for each r */
    HALVINGS = 4,             /* of r */
    KNOWN = 64                /* number of widths whose rows are stored */
};

/* The rows that a node may have in a column of this width (0: not yet known). */
typedef struct rows_of_width {
    int64_t width, low, high;
} rows_of_width;

typedef struct node {
    double area;
    int64_t index;
    const nested_node *parts;   /* its devices */
    double low_s, high_s;       /* s and (1 + r) s */
    double least, most;         /* blocks of a square with which it takes s to (1 + r) s */
    double enough;              /* if its memory is full: a number of blocks with which a shorter time than s is accepted */
    double roots, fewer;        /* 2 sqrt(least); the decrease of blocks for each block by which half the perimeter is longer than that */
    rows_of_width known[KNOWN]; /* for several devices: found for this s and r, at width modulo KNOWN */
} node;

/* The last column of the shortest path to a state. */
typedef struct step {
    double half_perimeter; /* of all columns; infinite: there is no path */
    int64_t before, width; /* nodes before this column; its width */
    int state;             /* state before this column */
} step;

typedef struct search {
    int64_t count, rows, columns;
    const nested_model *models;
    node *nodes;   /* [count], ascending areas above 0 */
    double *exact; /* [count + 1]: exact width of the nodes before */
    step *steps;   /* [count + 1][STATES] */
} search;

static int ascending(const void *left, const void *right)
{
    const node *a = left, *b = right;
    if (a->area != b->area) return a->area < b->area ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Whether the devices of a node can share the columns of a rectangle so that all end within `seconds`. */
static bool within(const search *all, const node *n, int64_t rows, int64_t width, double seconds)
{
    const double left = seconds - all->models[n->index].side_s * (double)(rows + width);
    const bool held = nested_have_room(n->parts->devices, n->parts->models, (double)width, (double)rows);
    int64_t columns = 0;
    if (!(left > 0)) return false;
    for (int64_t j = 0; j < n->parts->devices; j++) {
        const double units = nested_units(&n->parts->models[j], left, (double)rows, held) * (1 + 1e-12);
        columns += (int64_t)fmin(units, (double)width);
    }
    return columns >= width;
}

static int64_t most_rows(const search *all, const node *n, int64_t width, double seconds)
{
    int64_t low = 0, high = all->rows + 1; /* low is within these seconds, high is not */
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (within(all, n, middle, width, seconds))
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Seconds of a node; for one device those of a square, plus the cost of longer sides. */
static double seconds_of(const search *all, const node *n, int64_t rows, int64_t width)
{
    enum { HALVED = 50 };
    const nested_model *model = &all->models[n->index];
    const double longer = nested_longer((double)rows, (double)width);
    double low = 0, high = yoke_curve_seconds(&model->curve, (double)rows * (double)width) + model->side_s * longer;
    if (n->parts->devices == 1) return high;
    for (int k = 0; k < HALVED && !within(all, n, rows, width, high); k++) high *= 2;
    for (int k = 0; k < HALVED; k++) {
        const double middle = (low + high) / 2;
        if (within(all, n, rows, width, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* The rows with which the devices of a node take low_s to high_s. */
static rows_of_width rows_of_devices(const search *all, node *n, int64_t width)
{
    rows_of_width *known = &n->known[width % KNOWN];
    if (known->width != width)
        *known = (rows_of_width){
            .width = width, .low = most_rows(all, n, width, n->low_s * (1 - 1e-9)) + 1, .high = most_rows(all, n, width, n->high_s)};
    return *known;
}

static int64_t rows_from(double rows)
{
    const double whole = ceil(rows * (1 - 1e-12));
    return whole > 1 ? (int64_t)whole : 1;
}

/* The rows that a node may have in a column of this width. */
static void rows_of(const search *all, node *n, int64_t width, int64_t *low, int64_t *high)
{
    if (n->parts->devices > 1) {
        const rows_of_width found = rows_of_devices(all, n, width);
        *low = found.low;
        *high = found.high;
    } else {
        const double w = (double)width, fewer = n->fewer * (n->least / w + w - n->roots);
        *low = rows_from((n->least - fewer) / w);
        *high = (int64_t)((n->most - fewer) / w * (1 + 1e-12));
    }
    if (isinf(n->enough)) return;
    const int64_t held = (int64_t)(all->models[n->index].held / (double)width);
    if (*high > held) *high = held;
    const int64_t enough = rows_from(n->enough / (double)width);
    if (*low > enough) *low = enough;
}

static bool fits(const search *all, int64_t first, int64_t end, int64_t width)
{
    int64_t least = 0, most = 0;
    for (int64_t i = first; i < end; i++) {
        int64_t low, high;
        rows_of(all, &all->nodes[i], width, &low, &high);
        if (low > high) return false;
        least += low;
        most += high;
        if (least > all->rows) return false;
    }
    return most >= all->rows;
}

static int64_t whole(double exact) { return (int64_t)(exact + 0.5); }

/* All paths to `end` nodes whose last column begins after the node `first`. */
static void add_column(search *all, int64_t first, int64_t end)
{
    const int64_t begin = (int64_t)(all->exact[end] - all->exact[first]) - WIDTHS / 2 + 1;
    for (int64_t width = begin < 1 ? 1 : begin; width < begin + WIDTHS; width++) {
        if (!fits(all, first, end, width)) continue;
        const double longer = (double)all->rows + (double)(end - first) * (double)width;
        for (int state = 0; state < STATES; state++) {
            const step *from = &all->steps[first * STATES + state];
            const int64_t to = whole(all->exact[first]) + state + width - whole(all->exact[end]);
            if (isinf(from->half_perimeter) || to < 0 || to >= STATES) continue;
            step *best = &all->steps[end * STATES + to];
            if (from->half_perimeter + longer < best->half_perimeter) *best = (step){from->half_perimeter + longer, first, width, state};
        }
    }
}

/* Whether there is an arrangement in which all nodes take s to (1 + r) s seconds.  If so, the steps describe it. */
static bool find(search *all, double s, double r)
{
    const int64_t most = 4 * (int64_t)sqrt((double)all->count) + 4; /* nodes of a column: there are about as many columns as nodes in one */
    for (int64_t i = 0; i < all->count; i++) {
        node *n = &all->nodes[i];
        n->low_s = s;
        n->high_s = s * (1 + r);
        memset(n->known, 0, sizeof n->known);
        const nested_model *model = &all->models[n->index];
        n->least = yoke_curve_units(&model->curve, s, NULL);
        n->most = yoke_curve_units(&model->curve, s * (1 + r), NULL);
        n->enough = nested_model_full(model, n->area) ? nested_apart * model->held : INFINITY;
        n->roots = 2 * sqrt(n->least);
        n->fewer = all->models[n->index].side_s * (n->most - n->least) / (r * s);
    }
    for (int64_t k = 0; k < (all->count + 1) * STATES; k++) all->steps[k].half_perimeter = INFINITY;
    all->steps[OFFSETS].half_perimeter = 0;
    for (int64_t end = 1; end <= all->count; end++)
        for (int64_t first = end > most ? end - most : 0; first < end; first++) add_column(all, first, end);
    return !isinf(all->steps[all->count * STATES + OFFSETS].half_perimeter);
}

/* Chooses rows between the least and the most, at the same fraction for all nodes, so that they fill the column. */
static void fill_column(const search *all, int64_t first, int64_t end, int64_t column, int64_t width, yoke_rectangle *rectangles)
{
    int64_t least = 0, most = 0, low, high, row = 0;
    for (int64_t i = first; i < end; i++) {
        rows_of(all, &all->nodes[i], width, &low, &high);
        least += low;
        most += high;
    }
    const double part = most > least ? (double)(all->rows - least) / (double)(most - least) : 0;
    int64_t left = all->rows - least;
    double due = 0;
    for (int64_t i = first; i < end; i++) {
        rows_of(all, &all->nodes[i], width, &low, &high);
        due += part * (double)(high - low);
        int64_t more = (int64_t)(due + 1e-9);
        if (more > high - low) more = high - low;
        if (more > left || i == end - 1) more = left;
        due -= (double)more;
        left -= more;
        rectangles[all->nodes[i].index] = (yoke_rectangle){.row = row, .column = column, .rows = low + more, .columns = width};
        row += low + more;
    }
}

static void lay_out(const search *all, yoke_rectangle *rectangles)
{
    int64_t end = all->count, column = all->columns;
    for (int state = OFFSETS; end > 0;) {
        const step *last = &all->steps[end * STATES + state];
        column -= last->width;
        fill_column(all, last->before, end, column, last->width, rectangles);
        end = last->before;
        state = last->state;
    }
}

/* (longest - shortest) / shortest of the predicted seconds of the nodes. */
static double imbalance(const search *all, const yoke_rectangle *rectangles)
{
    double longest = 0, shortest = INFINITY;
    for (int64_t i = 0; i < all->count; i++) {
        const yoke_rectangle *r = &rectangles[all->nodes[i].index];
        const nested_model *model = &all->models[all->nodes[i].index];
        const double seconds = seconds_of(all, &all->nodes[i], r->rows, r->columns), blocks = (double)r->rows * (double)r->columns;
        longest = fmax(longest, blocks > model->held ? 2 * seconds : seconds);
        if (!nested_model_full(model, blocks)) shortest = fmin(shortest, seconds);
    }
    return (longest - shortest) / shortest;
}

/*
 * `seconds` is the time of all nodes with exact areas.  Of all s with `seconds` in [s, (1 + r) s], chooses the arrangement with the least
 * sum of half perimeters.
 */
static bool try_all(search *all, double seconds, double r, yoke_rectangle *rectangles)
{
    double best = INFINITY;
    for (int k = 0; k < TIMES; k++) {
        if (!find(all, seconds / (1 + r * ((double)k + 0.5) / TIMES), r)) continue;
        const double found = all->steps[all->count * STATES + OFFSETS].half_perimeter;
        if (found < best) lay_out(all, rectangles);
        best = fmin(best, found);
    }
    return !isinf(best);
}

static void improve(search *all, double tolerance, yoke_rectangle *rectangles)
{
    double seconds = 0, high = imbalance(all, rectangles), low = tolerance / 2;
    if (high <= low) return;
    for (int64_t i = 0; i < all->count; i++)
        seconds = fmax(seconds, yoke_curve_seconds(&all->models[all->nodes[i].index].curve, all->nodes[i].area));
    if (try_all(all, seconds, low, rectangles)) return;
    for (int k = 0; k < HALVINGS; k++) {
        const double middle = (low + high) / 2;
        if (try_all(all, seconds, middle, rectangles))
            high = middle;
        else
            low = middle;
    }
}

yoke_status nested_arrange(yoke_context *context, int64_t count, const nested_model *models, const nested_node *nodes, const double *areas,
                           int64_t rows, int64_t columns, double tolerance, yoke_rectangle *rectangles)
{
    search all = {.rows = rows, .columns = columns, .models = models};
    double sum = 0, before = 0;
    yoke_status status = yoke_plan_columns(context, count, areas, rows, columns, rectangles, NULL);
    if (status != YOKE_OK || models == NULL || count < 2 || count > MOST_NODES) return status;
    status = yoke_allocate(context, count, sizeof *all.nodes, &all.nodes);
    if (status == YOKE_OK) status = yoke_allocate(context, count + 1, sizeof *all.exact, &all.exact);
    if (status == YOKE_OK) status = yoke_allocate(context, (count + 1) * STATES, sizeof *all.steps, &all.steps);
    for (int64_t i = 0; i < count && status == YOKE_OK; i++)
        if (areas[i] > 0) {
            all.nodes[all.count++] = (node){.area = areas[i], .index = i, .parts = &nodes[i]};
            sum += areas[i];
        }
    if (status == YOKE_OK) {
        qsort(all.nodes, (size_t)all.count, sizeof *all.nodes, ascending);
        for (int64_t i = 0; i < all.count; i++) all.exact[i + 1] = (before += all.nodes[i].area) / sum * (double)columns;
        improve(&all, tolerance, rectangles);
    }
    yoke_release(context, all.nodes);
    yoke_release(context, all.exact);
    yoke_release(context, all.steps);
    return status;
}
