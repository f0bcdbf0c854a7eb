/* The stand-in of cuBLAS: the products that the cuda backend calls. */
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

typedef struct matrices {
    int single, m, n, k, lda, ldb, ldc;
    double alpha, beta;
    const void *a, *b;
    void *c;
} matrices;

static double number(int single, const void *array, size_t at)
{
    return single ? (double)((const float *)array)[at] : ((const double *)array)[at];
}

/* All by columns. */
static CUresult do_matrices(void *data)
{
    const matrices *one = data;
    for (int column = 0; column < one->n; column++)
        for (int row = 0; row < one->m; row++) {
            const size_t at = (size_t)column * (size_t)one->ldc + (size_t)row;
            double sum = 0;
            for (int i = 0; i < one->k; i++)
                sum += number(one->single, one->a, (size_t)i * (size_t)one->lda + (size_t)row) *
                       number(one->single, one->b, (size_t)column * (size_t)one->ldb + (size_t)i);
            sum = one->alpha * sum + (one->beta == 0 ? 0 : one->beta * number(one->single, one->c, at));
            if (one->single)
                ((float *)one->c)[at] = (float)sum;
            else
                ((double *)one->c)[at] = sum;
        }
    return CUDA_SUCCESS;
}

static cublasStatus_t start(cublasHandle_t handle, cublasOperation_t a_form, cublasOperation_t b_form, const matrices *one)
{
    CUresult result = stub_begin();
    if (a_form != CUBLAS_OP_N || b_form != CUBLAS_OP_N || one->m < 0 || one->n < 0 || one->k < 0 || one->lda < one->m ||
        one->ldb < one->k || one->ldc < one->m) {
        stub_end(result);
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (result == CUDA_SUCCESS) result = stub_defer(handle->stream, do_matrices, one, sizeof *one);
    return status_of(stub_end(result));
}

cublasStatus_t cublasDgemm_v2(cublasHandle_t handle, cublasOperation_t a_form, cublasOperation_t b_form, int m, int n, int k,
                              const double *alpha, const double *a, int lda, const double *b, int ldb, const double *beta, double *c,
                              int ldc)
{
    const matrices one = {0, m, n, k, lda, ldb, ldc, *alpha, *beta, a, b, c};
    return start(handle, a_form, b_form, &one);
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t a_form, cublasOperation_t b_form, int m, int n, int k,
                              const float *alpha, const float *a, int lda, const float *b, int ldb, const float *beta, float *c, int ldc)
{
    const matrices one = {1, m, n, k, lda, ldb, ldc, (double)*alpha, (double)*beta, a, b, c};
    return start(handle, a_form, b_form, &one);
}
