/*
 * device.h - the data that the front (yoke.h) keeps for each object of a device; the handles are the backend's.
 */
#ifndef YOKE_DEVICE_DEVICE_H
#define YOKE_DEVICE_DEVICE_H

#include "base/context.h"
#include "yoke/backend.h"

/* More than any kernel of the dialect has (20), and more pointers than OpenCL and CUDA guarantee to accept. */
enum { YOKE_MAX_ARGUMENTS = 64 };

struct yoke_device {
    yoke_context *context;
    const yoke_backend *backend;
    void *handle;
    yoke_device_info info;
    int64_t taken_bytes; /* in buffers */
    int lost;            /* nonzero: the driver is called only to destroy objects */
    char lost_text[YOKE_TEXT_BYTES];
};

struct yoke_buffer {
    yoke_device *device;
    void *handle; /* NULL if bytes is 0 */
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
    void *handle;             /* not used for BLAS */
    int blas;                 /* nonzero: the vendor's BLAS, see blas.h */
    yoke_function *functions; /* list of the functions requested so far */
};

struct yoke_function {
    yoke_program *program;
    void *handle;
    yoke_function *next;
    char name[]; /* a copy, so that the caller's text need not stay valid */
};

/* YOKE_OK, or the first failure of a lost device: call it before every call of the driver. */
yoke_status yoke_device_ready(yoke_device *device);

/* Call it with every result of the driver, so that a loss is noticed. */
yoke_status yoke_device_result(yoke_device *device, yoke_status status);

#endif
