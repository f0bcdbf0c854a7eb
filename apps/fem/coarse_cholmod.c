#include "coarse_parts.h"

/* A matrix with one unknown for each node. */
yoke_status fem_cholesky_create(yoke_context *context, int64_t rows, const int64_t *row_start, const int64_t *column, const double *value,
                                double shift, double operations, fem_cholesky **result)
{
    fem_cholesky *cholesky = NULL;
    int32_t *narrow = NULL;
    uint8_t *none = NULL;
    double largest = 0.0;
    yoke_status status = yoke_allocate(context, row_start[rows], sizeof *narrow, (void **)&narrow);
    if (!status) status = yoke_allocate(context, rows, sizeof *none, (void **)&none);
    const fem_cholesky_graph graph = {(int32_t)rows, 1, row_start, narrow, none};
    for (int64_t i = 0; !status && i < rows; i++) {
        for (int64_t entry = row_start[i]; entry < row_start[i + 1]; entry++) {
            narrow[entry] = (int32_t)column[entry];
            if (column[entry] == i && value[entry] > largest) largest = value[entry];
        }
    }
    if (!status) status = fem_cholesky_analyze(context, &graph, &cholesky);
    const int wanted = !status && fem_cholesky_get_cost(cholesky).operations <= operations;
    if (wanted) status = fem_cholesky_begin(cholesky, &graph);
    for (int64_t i = 0; wanted && !status && i < rows; i++) {
        for (int64_t entry = row_start[i]; entry < row_start[i + 1]; entry++) {
            const double sum = value[entry] + (column[entry] == i ? shift * largest : 0.0);
            if (column[entry] >= i) fem_cholesky_add(cholesky, (int32_t)i, narrow[entry], &sum);
        }
    }
    if (wanted && !status) status = fem_cholesky_factorize(cholesky, 1);
    yoke_release(context, narrow);
    yoke_release(context, none);
    if (status || !wanted) {
        fem_cholesky_destroy(cholesky);
        cholesky = NULL;
    }
    if (!status) *result = cholesky;
    return status;
}
