#include "ranks/grid.h"

#include <math.h>

/* STEPS: number of steps if there are enough blocks: a few to measure, many to balance. */
enum { STEPS = 16, MOST_PIVOTS = 1024 };

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t parts(int64_t all, int64_t size) { return (all + size - 1) / size; }

void dense_grid_complete(dense_grid *grid)
{
    dense_grid *g = grid;
    while (g->block > 1 && parts(g->m, g->block) * parts(g->n, g->block) < g->ranks) g->block = (g->block + 1) / 2;
    g->rows = parts(g->m, g->block);
    g->columns = parts(g->n, g->block);
    g->depth = parts(g->k, g->block);
    g->steps = smaller(g->depth, STEPS);
    if (g->k / g->steps > MOST_PIVOTS) g->steps = smaller(g->depth, parts(g->k, MOST_PIVOTS));
}

/* The entry at which block number `at` begins, of `all` entries. */
static int64_t begin(const dense_grid *g, int64_t at, int64_t all) { return smaller(at * g->block, all); }

static yoke_rectangle entries(int64_t row, int64_t last_row, int64_t column, int64_t last_column)
{
    if (last_row <= row || last_column <= column) return (yoke_rectangle){0, 0, 0, 0};
    return (yoke_rectangle){row, column, last_row - row, last_column - column};
}

yoke_rectangle dense_grid_of_c(const dense_grid *g, yoke_rectangle b)
{
    return entries(begin(g, b.row, g->m), begin(g, b.row + b.rows, g->m), begin(g, b.column, g->n), begin(g, b.column + b.columns, g->n));
}

yoke_rectangle dense_grid_of_a(const dense_grid *g, yoke_rectangle b)
{
    return entries(begin(g, b.row, g->m), begin(g, b.row + b.rows, g->m), begin(g, b.column * g->depth / g->columns, g->k),
                   begin(g, (b.column + b.columns) * g->depth / g->columns, g->k));
}

yoke_rectangle dense_grid_of_b(const dense_grid *g, yoke_rectangle b)
{
    return entries(begin(g, b.row * g->depth / g->rows, g->k), begin(g, (b.row + b.rows) * g->depth / g->rows, g->k),
                   begin(g, b.column, g->n), begin(g, b.column + b.columns, g->n));
}

int64_t dense_grid_pivot(const dense_grid *g, int64_t step) { return begin(g, step * g->depth / g->steps, g->k); }

int64_t dense_grid_most_pivots(const dense_grid *g) { return smaller(parts(g->depth, g->steps) * g->block, g->k); }

yoke_rectangle dense_grid_pivots_a(const dense_grid *g, yoke_rectangle blocks, int64_t step)
{
    const yoke_rectangle c = dense_grid_of_c(g, blocks);
    return entries(c.row, c.row + c.rows, dense_grid_pivot(g, step), dense_grid_pivot(g, step + 1));
}

yoke_rectangle dense_grid_pivots_b(const dense_grid *g, yoke_rectangle blocks, int64_t step)
{
    const yoke_rectangle c = dense_grid_of_c(g, blocks);
    return entries(dense_grid_pivot(g, step), dense_grid_pivot(g, step + 1), c.column, c.column + c.columns);
}

static double count(yoke_rectangle r) { return (double)r.rows * (double)r.columns; }

static double count_of_ab(const dense_grid *g, yoke_rectangle first)
{
    return count(dense_grid_of_a(g, first)) + count(dense_grid_of_b(g, first));
}

double dense_grid_bytes(const dense_grid *g, yoke_rectangle first, yoke_rectangle now)
{
    const yoke_rectangle c = dense_grid_of_c(g, now);
    const double pivots = 2 * (double)dense_grid_most_pivots(g) * (double)(c.rows + c.columns);
    return (count_of_ab(g, first) + count(c) + pivots) * (double)g->precision;
}

/* A square with sides of s numbers needs s^2 + 2 w (2 s) numbers, with the w pivots of two steps. */
double dense_grid_fitting(const dense_grid *g, yoke_rectangle first, double bytes)
{
    const double left = bytes / (double)g->precision - count_of_ab(g, first), w = (double)dense_grid_most_pivots(g);
    if (!(left > 0)) return 1;
    const double side = (sqrt(4 * w * w + left) - 2 * w) / (double)g->block;
    return fmax(1, floor(side * side));
}
