/*
 * smoother.h - the operations of a smoother at each node, compiled once per instruction set like the element kernels; their table
 * (fem_kernels of batch.h) points to them.
 *
 * Node blocks are stored in groups of FEM_NODE_GROUP nodes, so that a group is processed as vectors: entry k (xx yy zz yz xz xy; one
 * component: the only one) of node n's block is blocks[FEM_NODE_BLOCK(size, n, k)], size 6 or 1.  The last group is complete.
 */
#ifndef FEM_OPERATOR_KERNELS_SMOOTHER_H
#define FEM_OPERATOR_KERNELS_SMOOTHER_H

#include <stdint.h>

enum { FEM_NODE_GROUP = 16, FEM_BLOCK_LANES = 16 };

#define FEM_NODE_BLOCK(size, n, k) ((((n) / FEM_NODE_GROUP) * (size) + (k)) * FEM_NODE_GROUP + (n) % FEM_NODE_GROUP)

/* All vectors are [nodes][components] in the table's precision; functions work on the nodes begin .. end - 1. */
typedef struct fem_smoother_functions {
    /* z = B r */
    void (*block_solve)(int components, const void *blocks, const void *r, void *z, int64_t begin, int64_t end);
    /* d = a d + c B (b - t), x += d; a = 0: d is not read; t NULL: d = x = c B b */
    void (*chebyshev_step)(int components, const void *blocks, double a, double c, const void *b, const void *t, void *d, void *x,
                           int64_t begin, int64_t end);
    /*
     * x [rows][lanes] = (L L^T)^-1 x, for `lanes` = 1 or FEM_BLOCK_LANES factors L with one profile, in single precision whatever the
     * table's.
     * first [rows]: the first column of each row; value: each row's entries from there to the diagonal, [entry][lanes], the diagonal's
     * inverse in its place.
     */
    void (*substitute)(int32_t rows, int lanes, const int32_t *first, const float *value, float *x);
    /*
     * The factors of matrices with one profile, in their place, in double precision: laid out as those of substitute; row_at [rows]: where
     * in `value` column 0 of each row would be.  Returns 0 if a pivot is not positive.
     */
    int (*factorize)(int32_t rows, int lanes, const int32_t *first, const int64_t *row_at, double *value);
} fem_smoother_functions;

#endif
