/* The stand-in of cuBLAS: the one product that the cuda backend calls. */
#include <stdlib.h>

#include "stub.h"

struct cublasContext {
    CUstream stream;
};

typedef struct product {
    int n;
    double alpha, beta;
    const double *a, *x;
    double *y;
} product;

/* The upper triangle by columns. */
static CUresult do_product(void *data)
{
    const product *one = data;
    for (int row = 0; row < one->n; row++) {
        double sum = 0;
        for (int column = 0; column < one->n; column++) {
            size_t low = (size_t)(row < column ? row : column), high = (size_t)(row < column ? column : row);
            sum += one->a[high * (high + 1) / 2 + low] * one->x[column];
        }
        one->y[row] = one->alpha * sum + (one->beta == 0 ? 0 : one->beta * one->y[row]);
    }
    return CUDA_SUCCESS;
}

static cublasStatus_t status_of(CUresult result) { return result == CUDA_SUCCESS ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED; }

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
{
    CUresult result = stub_begin();
    cublasHandle_t made = result == CUDA_SUCCESS ? calloc(1, sizeof *made) : NULL;
    if (made != NULL) {
        stub_count(BOOK_blas, 1);
        *handle = made;
    }
    stub_end(result);
    return result != CUDA_SUCCESS ? status_of(result) : made != NULL ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
    CUresult result = stub_begin();
    free(handle);
    stub_count(BOOK_blas, -1);
    return status_of(stub_end(result));
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream)
{
    CUresult result = stub_begin();
    if (result == CUDA_SUCCESS) handle->stream = stream;
    return status_of(stub_end(result));
}

cublasStatus_t cublasDspmv_v2(cublasHandle_t handle, cublasFillMode_t triangle, int n, const double *alpha, const double *a,
                              const double *x, int x_step, const double *beta, double *y, int y_step)
{
    CUresult result = stub_begin();
    if (n < 0 || x_step != 1 || y_step != 1 || triangle != CUBLAS_FILL_MODE_UPPER) {
        stub_end(result);
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    product one = {.n = n, .alpha = *alpha, .beta = *beta, .a = a, .x = x, .y = y};
    if (result == CUDA_SUCCESS) result = stub_defer(handle->stream, do_product, &one, sizeof one);
    return status_of(stub_end(result));
}
