/*
 * kernel.h - a kernel of a run: what each device has of it.
 */
#ifndef YOKE_RUN_KERNEL_H
#define YOKE_RUN_KERNEL_H

#include "run/run.h"

enum { RUN_MAX_ARGUMENTS = 16 }; /* of a loop, beside ranges and arrays */

/* Units [first, last) of a kept, divided array that lie on an accelerator. */
typedef struct run_held {
    int64_t first, last;
    int dirty; /* nonzero: only there are they as the kernel wrote them */
} run_held;

typedef struct run_kernel_device {
    int usable;
    int ready; /* nonzero: it has its program and memory */
    int warm;  /* nonzero: it has been launched: what drivers do at a first launch is over */
    yoke_program *program;
    yoke_function *function;
    yoke_buffer **buffers; /* [num_arrays]; NULL on a host */
    run_held *held;        /* [num_arrays] */
    int *sent;             /* [num_arrays]: nonzero: the whole array lies there */
    void **staging;        /* [num_arrays]: what comes back of arrays that are read too; NULL: straight to the array */
    /* The present piece. */
    int64_t first, last, moved; /* moved: units of kept arrays that were sent */
    int done;                   /* nonzero: a host has done them */
    int failed;
    char why[RUN_WHY_BYTES];
} run_kernel_device;

/* A source, and the memory that it lies in. */
typedef struct run_source {
    yoke_program_source source;
    const char **texts;
    yoke_host_kernel *host_kernels;
    char *characters; /* of all texts and names */
} run_source;

struct yoke_run_kernel {
    yoke_run *run;
    yoke_run_kernel *next;
    char *work, *name;                 /* of the function; may be NULL */
    const yoke_program_source *source; /* a copy, as it may be compiled long after its definition; NULL: none */
    run_source own_source;
    yoke_host_kernel_function *host_kernel; /* of the source, for hosts; NULL: none */
    yoke_run_host_function *host;
    void *user;
    int64_t num_arrays, items_per_unit, group_size;
    yoke_run_array *arrays;
    run_kernel_device *devices;     /* [num_devices] */
    void *memory[4];                /* of all devices: buffers, held, sent, staging */
    uint64_t resting;               /* bit i: device i has no units of the present loop, as others work on its cores */
    int tries;                      /* nonzero: the present loop tries devices first: what moves in it is no measure of later loops */
    const yoke_argument *arguments; /* of the present loop */
    int64_t num_arguments;
};

/* A host's part of a piece. */
typedef struct run_task {
    const yoke_run_kernel *kernel;
    run_kernel_device *device;
} run_task;

/*
 * Compiles the kernel for a device that is usable, and makes memory for its arrays there, if that was not done yet.  A device that cannot is not usable from then on, with a
 * warning in the log.  *why: the status of that; may be NULL.  Errors: MEMORY.
 */
yoke_status run_kernel_ready(yoke_run_kernel *kernel, int device, yoke_status *why);

/* Device i of the kernel is gone: its memory is not used any more. */
void run_kernel_forget(yoke_run_kernel *kernel, int device);

#endif
