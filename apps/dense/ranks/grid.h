/*
 * grid.h - a product of matrices as blocks, and the entries of A, B and C that belong to a rectangle of blocks of C.
 *
 * The product is computed in steps.  Each step computes C = C + A(pivot columns) B(pivot rows), for all of C.
 */
#ifndef DENSE_GRID_H
#define DENSE_GRID_H

#include "matrix/matrix.h"

enum { DENSE_MAX_RANKS = 1024 };

typedef struct dense_grid {
    int64_t m, n, k; /* rows of C, columns of C, columns of A */
    int64_t block;   /* rows and columns of a block; the last ones may be smaller */
    dense_precision precision;
    int64_t rows, columns, depth; /* in blocks: of C; of A's columns */
    int64_t steps;
    int ranks;
} dense_grid;

/*
 * Computes the other members from m, n, k, block, precision and ranks.  Blocks are made smaller if there would be fewer blocks than ranks,
 * as far as possible.
 */
void dense_grid_complete(dense_grid *grid);

/*
 * Entries of C in a rectangle of blocks, and those of A and of B that belong to the same rectangle, if its sides are stretched to those of
 * A and B.
 */
yoke_rectangle dense_grid_of_c(const dense_grid *grid, yoke_rectangle blocks);
yoke_rectangle dense_grid_of_a(const dense_grid *grid, yoke_rectangle blocks);
yoke_rectangle dense_grid_of_b(const dense_grid *grid, yoke_rectangle blocks);

/* First pivot column of a step, from 0; for the step after the last one: k. */
int64_t dense_grid_pivot(const dense_grid *grid, int64_t step);
/* Largest number of pivot columns of a step. */
int64_t dense_grid_most_pivots(const dense_grid *grid);
/* The pivot columns of A, and the pivot rows of B, that a rectangle of blocks of C needs in a step. */
yoke_rectangle dense_grid_pivots_a(const dense_grid *grid, yoke_rectangle blocks, int64_t step);
yoke_rectangle dense_grid_pivots_b(const dense_grid *grid, yoke_rectangle blocks, int64_t step);

/*
 * dense_grid_bytes: bytes of a rank's parts of A and B, which belong to its first rectangle of blocks, of its present rectangle of C, and
 * of the pivots of two steps for that.  dense_grid_fitting: number of blocks of C, in a square, for which these bytes are at most `bytes`,
 * but at least one.
 */
double dense_grid_bytes(const dense_grid *grid, yoke_rectangle first, yoke_rectangle now);
double dense_grid_fitting(const dense_grid *grid, yoke_rectangle first, double bytes);

#endif
