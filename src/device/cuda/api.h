/*
 * api.h - the functions of the CUDA driver API, NVRTC and cuBLAS that yoke calls, declared here so that nothing of CUDA is needed to build.
 *
 * Names and binary interface are NVIDIA's (cuda.h, nvrtc.h, cublas_api.h).  The versions of functions are those that every driver since
 * CUDA 11.0 exports and later ones keep: the primary context instead of cuCtxCreate, whose signature changed with CUDA 13.
 * If NVIDIA's headers were included before, only the lists are declared, so that a test can compare the two.
 */
#ifndef YOKE_DEVICE_CUDA_API_H
#define YOKE_DEVICE_CUDA_API_H

#include <stddef.h>

#ifndef __cuda_cuda_h__ /* NVIDIA's include guard */
typedef int CUresult;
typedef int CUdevice;
typedef int CUdevice_attribute;
typedef int CUfunction_attribute;
typedef int CUjit_option;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_STUB_LIBRARY = 34,
    CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_IMAGE = 200,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
    CUDA_ERROR_ECC_UNCORRECTABLE = 214,
    CUDA_ERROR_INVALID_PTX = 218,
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
    CUDA_ERROR_MISALIGNED_ADDRESS = 716,
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_SYSTEM_NOT_READY = 802,
    CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
    CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
    CUDA_ERROR_UNKNOWN = 999
};
enum {
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = 20,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
};
enum { CU_COMPUTEMODE_PROHIBITED = 2 };
enum { CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0 };
enum { CU_JIT_ERROR_LOG_BUFFER = 5, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6 };
enum { CU_STREAM_NON_BLOCKING = 1 };
enum { CU_EVENT_DEFAULT = 0 };
#define CU_MEMHOSTALLOC_PORTABLE 0x01
#endif

#ifndef __NVRTC_H__
typedef int nvrtcResult;
typedef struct _nvrtcProgram *nvrtcProgram;
enum {
    NVRTC_SUCCESS = 0,
    NVRTC_ERROR_OUT_OF_MEMORY = 1,
    NVRTC_ERROR_INVALID_INPUT = 3,
    NVRTC_ERROR_INVALID_OPTION = 5,
    NVRTC_ERROR_COMPILATION = 6,
    NVRTC_ERROR_INTERNAL_ERROR = 11
};
#endif

#ifndef CUBLAS_API_H_
typedef int cublasStatus_t;
typedef int cublasFillMode_t;
typedef int cublasOperation_t;
typedef struct cublasContext *cublasHandle_t;
typedef struct CUstream_st *cudaStream_t;
enum { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_ALLOC_FAILED = 3, CUBLAS_STATUS_INVALID_VALUE = 7, CUBLAS_STATUS_EXECUTION_FAILED = 13 };
enum { CUBLAS_FILL_MODE_UPPER = 1 };
enum { CUBLAS_OP_N = 0 };
#endif

/* X(required, result, name, parameters) */
#define YOKE_CUDA_FUNCTIONS(X)                                                                                                           \
    X(1, CUresult, cuInit, (unsigned int flags))                                                                                         \
    X(1, CUresult, cuDriverGetVersion, (int *version))                                                                                   \
    X(1, CUresult, cuGetErrorName, (CUresult error, const char **text))                                                                  \
    X(1, CUresult, cuGetErrorString, (CUresult error, const char **text))                                                                \
    X(1, CUresult, cuDeviceGetCount, (int *count))                                                                                       \
    X(1, CUresult, cuDeviceGet, (CUdevice * device, int ordinal))                                                                        \
    X(1, CUresult, cuDeviceGetName, (char *name, int length, CUdevice device))                                                           \
    X(1, CUresult, cuDeviceTotalMem_v2, (size_t * bytes, CUdevice device))                                                               \
    X(1, CUresult, cuDeviceGetAttribute, (int *value, CUdevice_attribute attribute, CUdevice device))                                    \
    X(1, CUresult, cuDeviceGetPCIBusId, (char *address, int length, CUdevice device))                                                    \
    X(1, CUresult, cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                                                     \
    X(1, CUresult, cuDevicePrimaryCtxRelease_v2, (CUdevice device))                                                                      \
    X(1, CUresult, cuCtxPushCurrent_v2, (CUcontext context))                                                                             \
    X(1, CUresult, cuCtxPopCurrent_v2, (CUcontext * context))                                                                            \
    X(1, CUresult, cuMemGetInfo_v2, (size_t * free_bytes, size_t * all_bytes))                                                           \
    X(1, CUresult, cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes))                                                                 \
    X(1, CUresult, cuMemFree_v2, (CUdeviceptr address))                                                                                  \
    X(1, CUresult, cuMemHostAlloc, (void **memory, size_t bytes, unsigned int flags))                                                    \
    X(1, CUresult, cuMemFreeHost, (void *memory))                                                                                        \
    X(1, CUresult, cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))                              \
    X(1, CUresult, cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t bytes, CUstream stream))                                    \
    X(1, CUresult, cuMemsetD8Async, (CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream))                                \
    X(1, CUresult, cuStreamCreate, (CUstream * stream, unsigned int flags))                                                              \
    X(1, CUresult, cuStreamDestroy_v2, (CUstream stream))                                                                                \
    X(1, CUresult, cuStreamSynchronize, (CUstream stream))                                                                               \
    X(1, CUresult, cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned int flags))                                              \
    X(1, CUresult, cuEventCreate, (CUevent * event, unsigned int flags))                                                                 \
    X(1, CUresult, cuEventDestroy_v2, (CUevent event))                                                                                   \
    X(1, CUresult, cuEventRecord, (CUevent event, CUstream stream))                                                                      \
    X(1, CUresult, cuEventQuery, (CUevent event))                                                                                        \
    X(1, CUresult, cuEventSynchronize, (CUevent event))                                                                                  \
    X(1, CUresult, cuEventElapsedTime, (float *milliseconds, CUevent begin, CUevent end))                                                \
    X(1, CUresult, cuModuleLoadDataEx, (CUmodule * module, const void *image, unsigned int count, CUjit_option *options, void **values)) \
    X(1, CUresult, cuModuleUnload, (CUmodule module))                                                                                    \
    X(1, CUresult, cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name))                                      \
    X(1, CUresult, cuFuncGetAttribute, (int *value, CUfunction_attribute attribute, CUfunction function))                                \
    X(1, CUresult, cuLaunchKernel,                                                                                                       \
      (CUfunction function, unsigned int blocks_x, unsigned int blocks_y, unsigned int blocks_z, unsigned int threads_x,                 \
       unsigned int threads_y, unsigned int threads_z, unsigned int shared_bytes, CUstream stream, void **arguments, void **extra))      \
    X(0, CUresult, cuFuncGetParamInfo, (CUfunction function, size_t index, size_t * offset, size_t * bytes)) /* since CUDA 12.4 */

#define YOKE_NVRTC_FUNCTIONS(X)                                                                                 \
    X(1, const char *, nvrtcGetErrorString, (nvrtcResult result))                                               \
    X(1, nvrtcResult, nvrtcVersion, (int *major, int *minor))                                                   \
    X(1, nvrtcResult, nvrtcGetNumSupportedArchs, (int *count))                                                  \
    X(1, nvrtcResult, nvrtcGetSupportedArchs, (int *architectures))                                             \
    X(1, nvrtcResult, nvrtcCreateProgram,                                                                       \
      (nvrtcProgram * program, const char *text, const char *name, int num_headers, const char *const *headers, \
       const char *const *include_names))                                                                       \
    X(1, nvrtcResult, nvrtcDestroyProgram, (nvrtcProgram * program))                                            \
    X(1, nvrtcResult, nvrtcCompileProgram, (nvrtcProgram program, int num_options, const char *const *options)) \
    X(1, nvrtcResult, nvrtcGetPTXSize, (nvrtcProgram program, size_t * bytes))                                  \
    X(1, nvrtcResult, nvrtcGetPTX, (nvrtcProgram program, char *text))                                          \
    X(1, nvrtcResult, nvrtcGetCUBINSize, (nvrtcProgram program, size_t * bytes))                                \
    X(1, nvrtcResult, nvrtcGetCUBIN, (nvrtcProgram program, char *bytes))                                       \
    X(1, nvrtcResult, nvrtcGetProgramLogSize, (nvrtcProgram program, size_t * bytes))                           \
    X(1, nvrtcResult, nvrtcGetProgramLog, (nvrtcProgram program, char *text))

#define YOKE_CUBLAS_FUNCTIONS(X)                                                                                                           \
    X(1, cublasStatus_t, cublasCreate_v2, (cublasHandle_t * handle))                                                                       \
    X(1, cublasStatus_t, cublasDestroy_v2, (cublasHandle_t handle))                                                                        \
    X(1, cublasStatus_t, cublasSetStream_v2, (cublasHandle_t handle, cudaStream_t stream))                                                 \
    X(1, cublasStatus_t, cublasDspmv_v2,                                                                                                   \
      (cublasHandle_t handle, cublasFillMode_t triangle, int n, const double *alpha, const double *a, const double *x, int x_step,         \
       const double *beta, double *y, int y_step))                                                                                         \
    X(1, cublasStatus_t, cublasDgemm_v2,                                                                                                   \
      (cublasHandle_t handle, cublasOperation_t a_form, cublasOperation_t b_form, int m, int n, int k, const double *alpha,                \
       const double *a, int lda, const double *b, int ldb, const double *beta, double *c, int ldc))                                        \
    X(1, cublasStatus_t, cublasSgemm_v2,                                                                                                   \
      (cublasHandle_t handle, cublasOperation_t a_form, cublasOperation_t b_form, int m, int n, int k, const float *alpha, const float *a, \
       int lda, const float *b, int ldb, const float *beta, float *c, int ldc))

#define YOKE_CUDA_POINTER(required, result, name, parameters) result(*name) parameters;

/* The functions that were found. */
typedef struct yoke_cuda_driver {
    YOKE_CUDA_FUNCTIONS(YOKE_CUDA_POINTER)
} yoke_cuda_driver;
typedef struct yoke_cuda_compiler {
    YOKE_NVRTC_FUNCTIONS(YOKE_CUDA_POINTER)
} yoke_cuda_compiler;
typedef struct yoke_cuda_blas {
    YOKE_CUBLAS_FUNCTIONS(YOKE_CUDA_POINTER)
} yoke_cuda_blas;

#endif
