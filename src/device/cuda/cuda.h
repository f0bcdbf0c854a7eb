/*
 * cuda.h - declarations that the files of the cuda backend share.
 *
 * cuda.c the table, devices and memory; queue.c queues, copies and events; load.c the libraries; program.c compiling and launching;
 * blas.c BLAS.  Every entry makes the device's primary context current on the calling thread and restores the previous one, so that an
 * application that uses CUDA itself is not disturbed.
 */
#ifndef YOKE_DEVICE_CUDA_CUDA_H
#define YOKE_DEVICE_CUDA_CUDA_H

#include "device/cache.h"
#include "device/cuda/api.h"
#include "yoke/backend.h"

enum { YOKE_CUDA_MAX_ARGUMENTS = 64, YOKE_CUDA_MAX_ARCHITECTURES = 64 };

/* The backend's state: the libraries. */
typedef struct yoke_cuda {
    yoke_context *context;
    yoke_cache cache;
    char why_not[256], remedy[256]; /* of the driver as a whole; "" if it is available */
    yoke_cuda_driver driver;
    int driver_version; /* CUDA version of the driver, 1000 major + 10 minor */
    char driver_text[64];
    int device_count;
    char compiler_why_not[256], compiler_remedy[256]; /* of NVRTC; "" if it is available */
    yoke_cuda_compiler compiler;
    int compiler_major, compiler_minor;
    int architectures[YOKE_CUDA_MAX_ARCHITECTURES], num_architectures; /* for which NVRTC compiles, 10 major + minor, ascending */
    int blas_looked_for;
    yoke_cuda_blas blas;
    char blas_why_not[256];
} yoke_cuda;

typedef struct yoke_cuda_device {
    yoke_cuda *state;
    char name[64], model[256];
    CUdevice ordinal;
    CUcontext current; /* the primary context, held while the device is open */
    int capability;    /* 10 major + minor */
    cublasHandle_t blas;
} yoke_cuda_device;

typedef struct yoke_cuda_buffer {
    CUdeviceptr address;
} yoke_cuda_buffer;

typedef struct yoke_cuda_queue {
    yoke_cuda_device *device;
    CUstream stream;
} yoke_cuda_queue;

/* ------------------------------------------------------------------------------------------------ load.c */

/* Finds and starts the driver, and finds NVRTC; the state's why_not and remedy describe what is missing. */
void yoke_cuda_load(yoke_cuda *state);
/* Finds cuBLAS, at the first call.  Errors: UNAVAILABLE. */
yoke_status yoke_cuda_load_blas(yoke_cuda *state);

/* ------------------------------------------------------------------------------------------------ cuda.c */

/* Makes the device's context current. */
CUresult yoke_cuda_enter(const yoke_cuda_device *device);
/*
 * Restores the previous context and returns `result`.  If that fails the call has still done its work, and a permanent error shows at the
 * next call.
 */
CUresult yoke_cuda_leave(const yoke_cuda_device *device, CUresult result);
/* "CUDA_ERROR_LAUNCH_FAILED (unspecified launch failure)" */
void yoke_cuda_error_text(const yoke_cuda *state, CUresult result, char *text, size_t bytes);
/*
 * Fails with the driver's text for `result` (not CUDA_SUCCESS) and the action ("copying 8 bytes to the device").
 * DEVICE_MEMORY if memory was too small; DEVICE for everything else.
 */
yoke_status yoke_cuda_fail(const yoke_cuda_device *device, CUresult result, const char *doing, ...) YOKE_PRINTF(3, 4);

/* ----------------------------------------------------------------------------------------------- queue.c */

yoke_status yoke_cuda_queue_create(void *device, int flags, void **queue);
void yoke_cuda_queue_destroy(void *device, void *queue);
yoke_status yoke_cuda_write(void *queue, void *buffer, int64_t offset, int64_t bytes, const void *from);
yoke_status yoke_cuda_read(void *queue, void *buffer, int64_t offset, int64_t bytes, void *to);
yoke_status yoke_cuda_clear(void *queue, void *buffer, int64_t offset, int64_t bytes);
yoke_status yoke_cuda_finish(void *queue);
yoke_status yoke_cuda_event_create(void *device, void **event);
void yoke_cuda_event_destroy(void *device, void *event);
yoke_status yoke_cuda_record(void *queue, void *event);
yoke_status yoke_cuda_wait(void *queue, void *event);
yoke_status yoke_cuda_event_wait(void *event);
yoke_status yoke_cuda_event_reached(void *event, int *reached);
yoke_status yoke_cuda_elapsed_s(void *begin, void *end, double *seconds);

/* --------------------------------------------------------------------------------------------- program.c */

yoke_status yoke_cuda_program_create(void *device, const yoke_program_source *source, void **program);
void yoke_cuda_program_destroy(void *device, void *program);
yoke_status yoke_cuda_function(void *program, const char *name, void **function);
yoke_status yoke_cuda_launch(void *queue, void *function, int64_t groups, int64_t group_size, int64_t units, const yoke_argument *arguments,
                             void *const *buffers, int64_t num_arguments);

/* ------------------------------------------------------------------------------------------------ blas.c */

yoke_status yoke_cuda_dspmv(void *queue, int64_t n, double alpha, void *a, int64_t a_offset, void *x, int64_t x_offset, double beta,
                            void *y, int64_t y_offset);
yoke_status yoke_cuda_gemm(void *queue, const yoke_backend_gemm *product);
void yoke_cuda_blas_close(yoke_cuda_device *device);

#endif
