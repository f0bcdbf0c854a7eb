#include "sparse.h"

#include <math.h>
#include <string.h>

void fem_sparse_destroy(yoke_context *context, fem_sparse *sparse)
{
    if (!sparse) return;
    yoke_release(context, sparse->row_start);
    yoke_release(context, sparse->column);
    yoke_release(context, sparse->value);
    yoke_release(context, sparse);
}

static yoke_status allocate(yoke_context *context, int32_t rows, int32_t columns, int block, int64_t blocks, fem_sparse **result)
{
    fem_sparse *sparse = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *sparse, (void **)&sparse);
    if (status) return status;
    sparse->rows = rows;
    sparse->columns = columns;
    sparse->block = block;
    status = yoke_allocate(context, rows / block + 1, sizeof *sparse->row_start, (void **)&sparse->row_start);
    if (!status) status = yoke_allocate(context, blocks, sizeof *sparse->column, (void **)&sparse->column);
    if (!status) status = yoke_allocate(context, blocks * block * block, sizeof *sparse->value, (void **)&sparse->value);
    if (status) {
        fem_sparse_destroy(context, sparse);
        return status;
    }
    *result = sparse;
    return YOKE_OK;
}

/* Non-empty blocks of the scalar matrix.  mark [columns / block] is scratch, set to -1. */
static int64_t count_blocks(int32_t rows, const int *row_start, const int *column, int block, int32_t *mark)
{
    int64_t blocks = 0;
    for (int32_t row = 0; row < rows; row++) {
        for (int entry = row_start[row]; entry < row_start[row + 1]; entry++) {
            const int32_t at = column[entry] / block;
            if (mark[at] == row / block) continue;
            mark[at] = row / block;
            blocks++;
        }
    }
    return blocks;
}

/* Enters the scalar rows of block row `row`; place [columns / block] tells where a block column of this row lies, if after `first`. */
static yoke_status fill_row(yoke_context *context, fem_sparse *sparse, int32_t row, const int *row_start, const int *column,
                            const double *value, int64_t *place)
{
    const int block = sparse->block;
    const int64_t first = sparse->row_start[row];
    int64_t end = first;
    for (int i = 0; i < block; i++) {
        for (int entry = row_start[row * block + i]; entry < row_start[row * block + i + 1]; entry++) {
            if (!isfinite(value[entry])) {
                return yoke_fail(context, YOKE_ERROR_NUMERIC,
                                 "algebraic multigrid made an entry that is not a number in row %d: check the materials' moduli and the "
                                 "elements' shapes, or choose the jacobi preconditioner",
                                 (int)(row * block + i));
            }
            const int32_t at = column[entry] / block;
            if (place[at] < first) {
                place[at] = end;
                sparse->column[end++] = at;
            }
            sparse->value[place[at] * block * block + i * block + column[entry] % block] = (float)value[entry];
        }
    }
    sparse->row_start[row + 1] = end;
    return YOKE_OK;
}

yoke_status fem_sparse_create(yoke_context *context, int32_t rows, int32_t columns, const int *row_start, const int *column,
                              const double *value, int block, fem_sparse **result)
{
    int64_t *place = NULL;
    yoke_status status = yoke_allocate(context, columns, sizeof *place, (void **)&place);
    if (status) return status;
    int64_t blocks = row_start[rows];
    if (block > 1 && rows % block == 0 && columns % block == 0) {
        memset(place, 0xff, sizeof *place * (size_t)columns);
        const int64_t full = count_blocks(rows, row_start, column, block, (int32_t *)place);
        const int64_t entry_bytes = (int64_t)(sizeof(float) + sizeof(int32_t));
        if (full * (4 * block * block + 4) < blocks * entry_bytes)
            blocks = full;
        else
            block = 1;
    } else {
        block = 1;
    }
    fem_sparse *sparse = NULL;
    status = allocate(context, rows, columns, block, blocks, &sparse);
    memset(place, 0xff, sizeof *place * (size_t)columns);
    for (int32_t row = 0; !status && row < rows / block; row++) status = fill_row(context, sparse, row, row_start, column, value, place);
    yoke_release(context, place);
    if (status) {
        fem_sparse_destroy(context, sparse);
        return status;
    }
    *result = sparse;
    return YOKE_OK;
}

yoke_status fem_sparse_transpose(yoke_context *context, const fem_sparse *sparse, fem_sparse **result)
{
    fem_sparse *transpose = NULL;
    const int64_t entries = sparse->row_start[sparse->rows];
    yoke_status status = allocate(context, sparse->columns, sparse->rows, 1, entries, &transpose);
    if (status) return status;
    int64_t *start = transpose->row_start;
    for (int64_t entry = 0; entry < entries; entry++) start[sparse->column[entry] + 1]++;
    for (int32_t row = 0; row < transpose->rows; row++) start[row + 1] += start[row];
    for (int32_t row = 0; row < sparse->rows; row++) {
        for (int64_t entry = sparse->row_start[row]; entry < sparse->row_start[row + 1]; entry++) {
            const int64_t to = start[sparse->column[entry]]++;
            transpose->column[to] = row;
            transpose->value[to] = sparse->value[entry];
        }
    }
    /* Each start has moved on to the next row's start. */
    for (int32_t row = transpose->rows; row > 0; row--) start[row] = start[row - 1];
    start[0] = 0;
    *result = transpose;
    return YOKE_OK;
}

/* One block row; block is a constant where this is called, so that the loops over it unroll. */
static inline void multiply_row(const fem_sparse *sparse, int block, int32_t row, double factor, const double *x, const double *c,
                                double *y)
{
    double sum[6] = {0};
    for (int64_t entry = sparse->row_start[row]; entry < sparse->row_start[row + 1]; entry++) {
        const float *value = sparse->value + entry * block * block;
        const double *from = x + (int64_t)sparse->column[entry] * block;
        for (int i = 0; i < block; i++) {
            for (int j = 0; j < block; j++) sum[i] += (double)value[i * block + j] * from[j];
        }
    }
    const int64_t to = (int64_t)row * block;
    for (int i = 0; i < block; i++) y[to + i] = (c ? c[to + i] : 0.0) + factor * sum[i];
}

void fem_sparse_multiply(const fem_sparse *sparse, double factor, const double *x, const double *c, double *y)
{
    const int32_t rows = sparse->rows / sparse->block;
#pragma omp parallel for schedule(static) if (rows > 500)
    for (int32_t row = 0; row < rows; row++) {
        if (sparse->block == 3)
            multiply_row(sparse, 3, row, factor, x, c, y);
        else if (sparse->block == 6)
            multiply_row(sparse, 6, row, factor, x, c, y);
        else
            multiply_row(sparse, 1, row, factor, x, c, y);
    }
}

int64_t fem_sparse_memory_bytes(const fem_sparse *sparse)
{
    const int64_t rows = sparse->rows / sparse->block, blocks = sparse->row_start[rows], square = sparse->block * sparse->block;
    return (rows + 1) * (int64_t)sizeof(int64_t) + blocks * (int64_t)(sizeof(int32_t) + (size_t)square * sizeof(float));
}
