/*
 * grid.h - a product of matrices as blocks, and which entries of A, B and C belong to a rectangle of blocks of C.
 *
 * The product is computed in steps: in each of them C = C + A(pivot columns) B(pivot rows), for all of C.
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

/* Of m, n, k, block, precision and ranks the others follow.  Blocks are made smaller where there would be fewer than ranks, as far as that goes. */
void dense_grid_complete(dense_grid *grid);

/* Entries of C in a rectangle of blocks; those of A and of B that belong to the same rectangle, where its sides are stretched to those of A and B. */
yoke_rectangle dense_grid_of_c(const dense_grid *grid, yoke_rectangle blocks);
yoke_rectangle dense_grid_of_a(const dense_grid *grid, yoke_rectangle blocks);
yoke_rectangle dense_grid_of_b(const dense_grid *grid, yoke_rectangle blocks);

/* First pivot column of a step, from 0; of the step behind the last one: k. */
int64_t dense_grid_pivot(const dense_grid *grid, int64_t step);
/* Most pivot columns that a step has. */
int64_t dense_grid_most_pivots(const dense_grid *grid);
/* The pivot columns of A, and the pivot rows of B, that a rectangle of blocks of C needs in a step. */
yoke_rectangle dense_grid_pivots_a(const dense_grid *grid, yoke_rectangle blocks, int64_t step);
yoke_rectangle dense_grid_pivots_b(const dense_grid *grid, yoke_rectangle blocks, int64_t step);

/*
 * Bytes of a rank's parts of A and B, which belong to the first rectangle of blocks that it had, of its rectangle of C now, and of the pivots of two steps for that.
 * Blocks of C, in a square, with which they are at most so many, but at least one.
 */
double dense_grid_bytes(const dense_grid *grid, yoke_rectangle first, yoke_rectangle now);
double dense_grid_fitting(const dense_grid *grid, yoke_rectangle first, double bytes);

#endif
