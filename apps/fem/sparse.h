/*
 * sparse.h - a sparse matrix for smoothing: single precision entries in square blocks, double precision vectors.
 *
 * The product's sums are made in double precision and in a fixed order, so the operator is linear to double rounding, and the transpose's
 * entries are the same numbers: symmetry survives the storage.
 */
#ifndef FEM_SPARSE_H
#define FEM_SPARSE_H

#include "yoke/yoke.h"
#include <stdint.h>

typedef struct fem_sparse {
    int32_t rows, columns; /* scalar ones, multiples of block */
    int block;             /* 1, 3 or 6 */
    int64_t *row_start;    /* [rows / block + 1] */
    int32_t *column;       /* block columns */
    float *value;          /* [row_start[rows / block]][block][block] */
} fem_sparse;

/*
 * Copies a scalar CSR matrix.  block is a suggestion: blocks are stored if that takes less memory than single entries.
 * Errors: MEMORY, NUMERIC (an entry is not finite).
 */
yoke_status fem_sparse_create(yoke_context *context, int32_t rows, int32_t columns, const int *row_start, const int *column,
                              const double *value, int block, fem_sparse **sparse);
/* The transpose of a matrix with block 1.  Errors: MEMORY. */
yoke_status fem_sparse_transpose(yoke_context *context, const fem_sparse *sparse, fem_sparse **transpose);
void fem_sparse_destroy(yoke_context *context, fem_sparse *sparse);

/* y = c + factor A x.  c NULL: zero; c may be y; x is not y. */
void fem_sparse_multiply(const fem_sparse *sparse, double factor, const double *x, const double *c, double *y);

int64_t fem_sparse_memory_bytes(const fem_sparse *sparse);

#endif
