/* Products by cuBLAS. */
#include <limits.h>

#include "device/cuda/cuda.h"

/* cuBLAS has no function for the names of its errors: these are the ones that our calls can return. */
static const char *status_text(cublasStatus_t status)
{
    switch (status) {
    case 1:
        return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED:
        return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE:
        return "CUBLAS_STATUS_INVALID_VALUE";
    case 8:
        return "CUBLAS_STATUS_ARCH_MISMATCH";
    case CUBLAS_STATUS_EXECUTION_FAILED:
        return "CUBLAS_STATUS_EXECUTION_FAILED";
    case 14:
        return "CUBLAS_STATUS_INTERNAL_ERROR";
    case 15:
        return "CUBLAS_STATUS_NOT_SUPPORTED";
    default:
        return "an unknown status";
    }
}

static yoke_status blas_fail(const yoke_cuda_device *device, cublasStatus_t status, const char *doing)
{
    return yoke_fail(device->state->context, status == CUBLAS_STATUS_ALLOC_FAILED ? YOKE_ERROR_DEVICE_MEMORY : YOKE_ERROR_DEVICE,
                     "%s: %s with cuBLAS: %s (%d)", device->name, doing, status_text(status), (int)status);
}

/* Makes the device's cuBLAS handle use this queue. */
static cublasStatus_t enter_queue(yoke_cuda_queue *queue)
{
    const yoke_cuda_blas *blas = &queue->device->state->blas;
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    if (queue->device->blas == NULL) status = blas->cublasCreate_v2(&queue->device->blas);
    if (status != CUBLAS_STATUS_SUCCESS) {
        queue->device->blas = NULL;
        return status;
    }
    return blas->cublasSetStream_v2(queue->device->blas, queue->stream);
}

static cublasStatus_t multiply(yoke_cuda_queue *queue, int n, double alpha, const double *a, const double *x, double beta, double *y)
{
    const yoke_cuda_blas *blas = &queue->device->state->blas;
    cublasStatus_t status = enter_queue(queue);
    /* The lower triangle stored by rows is the upper triangle stored by columns. */
    if (status == CUBLAS_STATUS_SUCCESS)
        status = blas->cublasDspmv_v2(queue->device->blas, CUBLAS_FILL_MODE_UPPER, n, &alpha, a, x, 1, &beta, y, 1);
    return status;
}

static void *address_in(const yoke_cuda_buffer *buffer, int64_t offset)
{
    return (void *)(uintptr_t)(buffer->address + (CUdeviceptr)offset);
}

yoke_status yoke_cuda_dspmv(void *queue, int64_t n, double alpha, void *a, int64_t a_offset, void *x, int64_t x_offset, double beta,
                            void *y, int64_t y_offset)
{
    yoke_cuda_queue *cuda = queue;
    yoke_cuda_device *device = cuda->device;
    yoke_status status = yoke_cuda_load_blas(device->state);
    if (status != YOKE_OK) return status;
    if (n > INT_MAX)
        return yoke_fail(device->state->context, YOKE_ERROR_ARGUMENT, "%s: cuBLAS takes matrices of order up to %d, not %lld", device->name,
                         INT_MAX, (long long)n);
    CUresult result = yoke_cuda_enter(device);
    if (result != CUDA_SUCCESS) return yoke_cuda_fail(device, result, "multiplying with cuBLAS");
    cublasStatus_t done = multiply(cuda, (int)n, alpha, address_in(a, a_offset), address_in(x, x_offset), beta, address_in(y, y_offset));
    yoke_cuda_leave(device, CUDA_SUCCESS);
    return done == CUBLAS_STATUS_SUCCESS ? YOKE_OK : blas_fail(device, done, "multiplying a packed symmetric matrix");
}

/* cuBLAS has matrices stored by columns.  A matrix stored by rows is its own transpose there, and (A B)^T = B^T A^T. */
static cublasStatus_t multiply_matrices(yoke_cuda_queue *queue, const yoke_backend_gemm *p)
{
    const yoke_cuda_blas *blas = &queue->device->state->blas;
    const float alpha = (float)p->alpha, beta = (float)p->beta;
    const int m = (int)p->m, n = (int)p->n, k = (int)p->k, lda = (int)p->lda, ldb = (int)p->ldb, ldc = (int)p->ldc;
    const void *a = address_in(p->a, p->a_offset), *b = address_in(p->b, p->b_offset);
    void *c = address_in(p->c, p->c_offset);
    cublasStatus_t status = enter_queue(queue);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    if (p->single)
        return blas->cublasSgemm_v2(queue->device->blas, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &alpha, b, ldb, a, lda, &beta, c, ldc);
    return blas->cublasDgemm_v2(queue->device->blas, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &p->alpha, b, ldb, a, lda, &p->beta, c, ldc);
}

yoke_status yoke_cuda_gemm(void *queue, const yoke_backend_gemm *product)
{
    yoke_cuda_queue *cuda = queue;
    yoke_cuda_device *device = cuda->device;
    yoke_status status = yoke_cuda_load_blas(device->state);
    if (status != YOKE_OK) return status;
    CUresult result = yoke_cuda_enter(device);
    if (result != CUDA_SUCCESS) return yoke_cuda_fail(device, result, "multiplying with cuBLAS");
    cublasStatus_t done = multiply_matrices(cuda, product);
    yoke_cuda_leave(device, CUDA_SUCCESS);
    return done == CUBLAS_STATUS_SUCCESS ? YOKE_OK : blas_fail(device, done, "multiplying matrices");
}

void yoke_cuda_blas_close(yoke_cuda_device *device)
{
    if (device->blas == NULL) return;
    CUresult entered = yoke_cuda_enter(device);
    device->state->blas.cublasDestroy_v2(device->blas);
    if (entered == CUDA_SUCCESS) yoke_cuda_leave(device, entered);
    device->blas = NULL;
}
