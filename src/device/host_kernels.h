/*
 * host_kernels.h - programs of the devices that are the host: kernels compiled as C, launched over OpenMP's threads.
 */
#ifndef YOKE_DEVICE_HOST_KERNELS_H
#define YOKE_DEVICE_HOST_KERNELS_H

#include "device/device.h"

/* A source's table of kernels; a backend's program handle. */
typedef struct host_program host_program;

/* Creates a program.  Errors: UNAVAILABLE (no host kernels), MEMORY. */
yoke_status host_program_create(yoke_context *context, const yoke_program_source *source, void **program);
void host_program_destroy(yoke_context *context, void *program);
/* As yoke_backend.function: the handle is a const yoke_host_kernel *.  Errors: ARGUMENT (the text lists the kernels). */
yoke_status host_program_function(void *program, const char *name, void **function);

/* A launch with its arguments by value, so that it can be executed later. */
typedef struct host_launch {
    yoke_host_kernel_function *kernel;
    int64_t groups, num_arguments;
    union {
        void *pointer;
        int32_t int32;
        int64_t int64;
        float float32;
        double float64;
    } arguments[YOKE_MAX_ARGUMENTS];
} host_launch;

/* Copies the arguments of a backend's launch, with buffers that are addresses of the host. */
void host_launch_prepare(host_launch *launch, void *function, int64_t groups, const yoke_argument *arguments, void *const *buffers,
                         int64_t num_arguments);
/* Executes all groups, each as one item, on this number of threads. */
void host_launch_do(const host_launch *launch, int threads);

#endif
