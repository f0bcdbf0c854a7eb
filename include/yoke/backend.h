/*
 * backend.h - for authors of devices: the table of functions that one kind of device provides.
 *
 * libyoke's own kinds (openmp, opencl, cuda, sim) fill this table too, and the device suite (tests/device) tests all of them.
 * docs/guide/how-to.md shows how to write and test another one.  The front (device.h) checks arguments, tracks memory, and remembers lost
 * devices.  So a backend receives only valid handles, ranges inside buffers and bytes > 0, and after a loss only calls that destroy.
 *
 * A function fails with `return yoke_fail(context, STATUS, "what the driver said, what to do", ...)`.  YOKE_ERROR_DEVICE makes the device
 * lost; YOKE_ERROR_DEVICE_MEMORY does not.  A function that destroys cannot fail, and must not leak even if the driver is gone.
 * Handles (void *) belong to the backend.  All calls on one device come from one thread at a time.
 */
#ifndef YOKE_BACKEND_H
#define YOKE_BACKEND_H

#include "yoke/device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define YOKE_BACKEND_VERSION 1

/* Called by `list` for each device, usable or not; the info is copied. */
typedef yoke_status yoke_backend_found(const yoke_device_info *info, void *user);

/* A product of matrices, as defined by dgemm and sgemm of YOKE_BLAS; a, b and c are handles of the buffers that contain the operands. */
typedef struct yoke_backend_gemm {
    int single; /* nonzero: float, else double */
    int64_t m, n, k;
    double alpha, beta;
    void *a, *b, *c;
    int64_t a_offset, b_offset, c_offset; /* bytes, multiples of a number's size */
    int64_t lda, ldb, ldc;
} yoke_backend_gemm;

typedef struct yoke_backend {
    int version;      /* YOKE_BACKEND_VERSION; the table may only grow at its end */
    const char *kind; /* "opencl": devices are named "opencl" or "opencl:..." */

    /* ------------------------------------------------------------------------------------------ required */

    /* Loads the driver.  *state is passed to list and open.  An absent driver is not an error: list reports it.  Errors: MEMORY. */
    yoke_status (*start)(yoke_context *context, void **state);
    void (*stop)(void *state); /* at the end of the context, after all devices were closed */
    /* Reports each device; if there is none, one unusable entry whose name is the kind, with why_not and remedy. */
    yoke_status (*list)(void *state, yoke_backend_found *found, void *user);
    /* name: as typed, of this kind or one that list has shown.  Fills *info.  Errors: INPUT, UNAVAILABLE, DEVICE, MEMORY. */
    yoke_status (*open)(void *state, const char *name, yoke_device_info *info, void **device);
    void (*close)(void *device);

    yoke_status (*buffer_create)(void *device, int64_t bytes, void **buffer);
    void (*buffer_destroy)(void *device, void *buffer);

    yoke_status (*queue_create)(void *device, int flags, void **queue);
    void (*queue_destroy)(void *device, void *queue); /* the front has finished it, unless the device is lost */
    yoke_status (*write)(void *queue, void *buffer, int64_t offset, int64_t bytes, const void *from);
    yoke_status (*read)(void *queue, void *buffer, int64_t offset, int64_t bytes, void *to);
    yoke_status (*clear)(void *queue, void *buffer, int64_t offset, int64_t bytes);
    yoke_status (*finish)(void *queue);

    yoke_status (*event_create)(void *device, void **event);
    void (*event_destroy)(void *device, void *event);
    yoke_status (*record)(void *queue, void *event);
    yoke_status (*wait)(void *queue, void *event); /* the event was recorded */
    yoke_status (*event_wait)(void *event);        /* the event was recorded */
    yoke_status (*elapsed_s)(void *begin, void *end, double *seconds);

    yoke_status (*program_create)(void *device, const yoke_program_source *source, void **program);
    void (*program_destroy)(void *device, void *program);
    yoke_status (*function)(void *program, const char *name, void **function); /* lives as long as the program */
    /* The buffers among the arguments are passed as handles in buffers[i]; arguments[i].value.buffer remains the front's buffer. */
    yoke_status (*launch)(void *queue, void *function, int64_t groups, int64_t group_size, int64_t units, const yoke_argument *arguments,
                          void *const *buffers, int64_t num_arguments);

    /* ------------------------------------------------------------------------------------ optional: or NULL */

    /* Free memory and all memory as the driver reports them; NULL: the front counts. */
    yoke_status (*memory)(void *device, int64_t *free_bytes, int64_t *all_bytes);
    /* Pinned host memory; NULL: ordinary memory. */
    yoke_status (*host_allocate)(void *device, int64_t bytes, void **memory);
    void (*host_release)(void *device, void *memory);
    /* The device's clock; NULL: yoke_clock_s. */
    double (*clock_s)(const void *device);
    /* Host functions; NULL: UNAVAILABLE. */
    yoke_status (*call)(void *queue, yoke_task_function *task, void *user, int64_t units);
    /* BLAS (YOKE_BLAS of device.h; operands lie in their buffers, n > 0); NULL: UNAVAILABLE. */
    yoke_status (*dspmv)(void *queue, int64_t n, double alpha, void *a, int64_t a_offset, void *x, int64_t x_offset, double beta, void *y,
                         int64_t y_offset);
    yoke_status (*gemm)(void *queue, const yoke_backend_gemm *product); /* the same */
    /* Whether an event, which was recorded, is reached by now; does not wait.  NULL: a caller that asks waits for the event. */
    yoke_status (*event_reached)(void *event, int *reached);
    /*
     * For devices whose time passes only while somebody waits: lets time pass until some work on the device's machine ends.  Returns zero
     * if no work is in progress there.  NULL: time passes by itself.
     */
    int (*pass_time)(void *device);
} yoke_backend;

/*
 * Registers a kind of device with the context; the table is borrowed and must outlive the context.
 * Errors: ARGUMENT (wrong version, kind taken or empty, a required slot is NULL: which), MEMORY.
 */
YOKE_API yoke_status yoke_backend_register(yoke_context *context, const yoke_backend *backend);

#ifdef __cplusplus
}
#endif

#endif
