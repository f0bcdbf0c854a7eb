/*
 * device.h - what the front (yoke.h) keeps of each object of a device; the handles are the backend's.
 */
#ifndef YOKE_DEVICE_DEVICE_H
#define YOKE_DEVICE_DEVICE_H

#include "base/context.h"
#include "yoke/backend.h"

/* More than any kernel of the dialect has (20), and than OpenCL and CUDA guarantee to take in pointers. */
enum { YOKE_MAX_ARGUMENTS = 64 };

struct yoke_device {
    yoke_context *context;
    const yoke_backend *backend;
    void *handle;
    yoke_device_info info;
    int64_t taken_bytes; /* in buffers */
    int lost;            /* the driver is called no more, but for destroying */
    char lost_text[YOKE_TEXT_BYTES];
};

struct yoke_buffer {
    yoke_device *device;
    void *handle; /* NULL where bytes is 0 */
    int64_t bytes;
};

struct yoke_queue {
    yoke_device *device;
    void *handle;
};

struct yoke_event {
    yoke_device *device;
    void *handle;
    int recorded;
};

struct yoke_program {
    yoke_device *device;
    void *handle;             /* none of BLAS */
    int blas;                 /* nonzero: the vendor's, see blas.h */
    yoke_function *functions; /* those asked for so far, linked */
};

struct yoke_function {
    yoke_program *program;
    void *handle;
    yoke_function *next;
    char name[]; /* the caller's text need not live on */
};

/* YOKE_OK, or the first failure of a device that is lost: to be asked before every call of the driver. */
yoke_status yoke_device_ready(yoke_device *device);

/* Every result of the driver goes through here, so that a loss is noticed. */
yoke_status yoke_device_result(yoke_device *device, yoke_status status);

#endif
