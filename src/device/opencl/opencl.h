/*
 * opencl.h - declarations that the files of the OpenCL backend share.
 *
 * load.c opens the libraries, list.c finds and describes devices, memory.c has buffers and pinned memory,
 * queue.c queues and events, program.c programs and launches, opencl.c the table.
 */
#ifndef YOKE_DEVICE_OPENCL_OPENCL_H
#define YOKE_DEVICE_OPENCL_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "device/cache.h"
#include "yoke/backend.h"

/* The functions of OpenCL 1.2 that are called: the table and its loading are made from this list. */
#define OPENCL_FUNCTIONS(X)         \
    X(clBuildProgram)               \
    X(clCreateBuffer)               \
    X(clCreateCommandQueue)         \
    X(clCreateContext)              \
    X(clCreateKernel)               \
    X(clCreateProgramWithBinary)    \
    X(clCreateProgramWithSource)    \
    X(clEnqueueBarrierWithWaitList) \
    X(clEnqueueFillBuffer)          \
    X(clEnqueueMapBuffer)           \
    X(clEnqueueMarkerWithWaitList)  \
    X(clEnqueueNDRangeKernel)       \
    X(clEnqueueReadBuffer)          \
    X(clEnqueueUnmapMemObject)      \
    X(clEnqueueWriteBuffer)         \
    X(clFinish)                     \
    X(clFlush)                      \
    X(clGetDeviceIDs)               \
    X(clGetDeviceInfo)              \
    X(clGetEventInfo)               \
    X(clGetEventProfilingInfo)      \
    X(clGetKernelArgInfo)           \
    X(clGetKernelInfo)              \
    X(clGetKernelWorkGroupInfo)     \
    X(clGetPlatformIDs)             \
    X(clGetPlatformInfo)            \
    X(clGetProgramBuildInfo)        \
    X(clGetProgramInfo)             \
    X(clReleaseCommandQueue)        \
    X(clReleaseContext)             \
    X(clReleaseEvent)               \
    X(clReleaseKernel)              \
    X(clReleaseMemObject)           \
    X(clReleaseProgram)             \
    X(clSetKernelArg)               \
    X(clWaitForEvents)

typedef struct opencl_functions {
#define OPENCL_MEMBER(name) __typeof__(name) *name;
    OPENCL_FUNCTIONS(OPENCL_MEMBER)
#undef OPENCL_MEMBER
} opencl_functions;

/* CLBlast's C interface, as declared in its clblast_c.h (version 1.4 to 1.6); offsets and increments count elements. */
enum { CLBLAST_ROW_MAJOR = 101, CLBLAST_LOWER = 122 };
typedef int clblast_dspmv(int layout, int triangle, size_t n, double alpha, cl_mem ap, size_t ap_offset, cl_mem x, size_t x_offset,
                          size_t x_increment, double beta, cl_mem y, size_t y_offset, size_t y_increment, cl_command_queue *queue,
                          cl_event *event);
enum { CLBLAST_NO_TRANSPOSE = 111 };
typedef int clblast_dgemm(int layout, int a_transpose, int b_transpose, size_t m, size_t n, size_t k, double alpha, cl_mem a,
                          size_t a_offset, size_t lda, cl_mem b, size_t b_offset, size_t ldb, double beta, cl_mem c, size_t c_offset,
                          size_t ldc, cl_command_queue *queue, cl_event *event);
typedef int clblast_sgemm(int layout, int a_transpose, int b_transpose, size_t m, size_t n, size_t k, float alpha, cl_mem a,
                          size_t a_offset, size_t lda, cl_mem b, size_t b_offset, size_t ldb, float beta, cl_mem c, size_t c_offset,
                          size_t ldc, cl_command_queue *queue, cl_event *event);
typedef int clblast_clear_cache(void);

enum { OPENCL_TEXT_BYTES = 256 };

typedef struct opencl_state {
    yoke_context *context;
    yoke_cache cache;
    void *library; /* NULL: not available, and why_not has the reason */
    char why_not[OPENCL_TEXT_BYTES];
    opencl_functions cl;
    void *blas_library; /* opened at the first call of BLAS */
    clblast_dspmv *dspmv;
    clblast_dgemm *dgemm;
    clblast_sgemm *sgemm;
    clblast_clear_cache *clear_cache;
} opencl_state;

typedef struct opencl_pinned opencl_pinned;

typedef struct opencl_device {
    opencl_state *state;
    yoke_context *context; /* of the state */
    const opencl_functions *cl;
    cl_device_id id;
    cl_context driver_context;
    cl_command_queue queue;       /* for operations outside the caller's queues: maps and first touches */
    opencl_pinned *pinned;        /* list of all mapped memory */
    int64_t most_bytes_at_once;   /* largest size of one buffer */
    char name[64];                /* "opencl:0.0" */
    char model[256], driver[128]; /* description and versions, on which compiled programs depend */
    int keeps_programs;           /* nonzero: the driver keeps on disk what it compiles */
    int lost;                     /* nonzero: a call failed with YOKE_ERROR_DEVICE */
} opencl_device;

typedef struct opencl_queue {
    opencl_device *device;
    cl_command_queue queue;
} opencl_queue;

typedef struct opencl_event {
    opencl_device *device;
    cl_event event; /* NULL until it is recorded */
} opencl_event;

/*
 * Fails for the error that `call` returned: out of host memory gives MEMORY, out of device memory DEVICE_MEMORY, arguments that the driver
 * rejects ARGUMENT, and all others DEVICE, which makes the device lost.  what: a sentence on the request.
 */
yoke_status yoke_opencl_fail(opencl_device *device, cl_int error, const char *call, const char *what);
/* "CL_OUT_OF_RESOURCES"; "an unknown error" for errors that the standard does not name. */
const char *yoke_opencl_error_name(cl_int error);

/* ---- load.c */
yoke_status yoke_opencl_start(yoke_context *context, void **state);
void yoke_opencl_stop(void *state);
/* Loads CLBlast.  Errors: UNAVAILABLE (reason, remedy). */
yoke_status yoke_opencl_load_blas(opencl_state *state);

/* ---- list.c */
yoke_status yoke_opencl_list(void *state, yoke_backend_found *found, void *user);
yoke_status yoke_opencl_open(void *state, const char *name, yoke_device_info *info, void **device);
void yoke_opencl_close(void *device);

/* ---- memory.c */
yoke_status yoke_opencl_buffer_create(void *device, int64_t bytes, void **buffer);
void yoke_opencl_buffer_destroy(void *device, void *buffer);
yoke_status yoke_opencl_host_allocate(void *device, int64_t bytes, void **memory);
void yoke_opencl_host_release(void *device, void *memory);

/* ---- queue.c */
/*
 * The end of every call that put a command into the queue: fails if the call returned an error, and else flushes.  A driver may hold
 * commands back until it is flushed; operations for which the host need not wait - a launch, a copy, a recorded event - are started at
 * once.  Clears and waits need no flush: another operation follows them, and at last clFinish.
 */
yoke_status yoke_opencl_submit(opencl_queue *queue, cl_int error, const char *call, const char *what);
yoke_status yoke_opencl_queue_create(void *device, int flags, void **queue);
void yoke_opencl_queue_destroy(void *device, void *queue);
yoke_status yoke_opencl_write(void *queue, void *buffer, int64_t offset, int64_t bytes, const void *from);
yoke_status yoke_opencl_read(void *queue, void *buffer, int64_t offset, int64_t bytes, void *to);
yoke_status yoke_opencl_clear(void *queue, void *buffer, int64_t offset, int64_t bytes);
yoke_status yoke_opencl_finish(void *queue);
yoke_status yoke_opencl_event_create(void *device, void **event);
void yoke_opencl_event_destroy(void *device, void *event);
yoke_status yoke_opencl_record(void *queue, void *event);
yoke_status yoke_opencl_wait(void *queue, void *event);
yoke_status yoke_opencl_event_wait(void *event);
yoke_status yoke_opencl_event_reached(void *event, int *reached);
yoke_status yoke_opencl_elapsed_s(void *begin, void *end, double *seconds);
yoke_status yoke_opencl_gemm(void *queue, const yoke_backend_gemm *product);
yoke_status yoke_opencl_dspmv(void *queue, int64_t n, double alpha, void *a, int64_t a_offset, void *x, int64_t x_offset, double beta,
                              void *y, int64_t y_offset);

/* ---- program.c */
yoke_status yoke_opencl_program_create(void *device, const yoke_program_source *source, void **program);
void yoke_opencl_program_destroy(void *device, void *program);
yoke_status yoke_opencl_function(void *program, const char *name, void **function);
yoke_status yoke_opencl_launch(void *queue, void *function, int64_t groups, int64_t group_size, int64_t units,
                               const yoke_argument *arguments, void *const *buffers, int64_t num_arguments);

#endif
