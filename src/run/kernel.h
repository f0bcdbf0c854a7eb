/*
 * kernel.h - a kernel of a run, and its data on each device.
 */
#ifndef YOKE_RUN_KERNEL_H
#define YOKE_RUN_KERNEL_H

#include "run/run.h"

enum { RUN_MAX_ARGUMENTS = 16 }; /* of a loop, in addition to ranges and arrays */

/* Units [first, last) of a kept, divided array that lie on an accelerator. */
typedef struct run_held {
    int64_t first, last;
    int dirty; /* nonzero: only the accelerator has the results of the kernel for these units */
} run_held;

typedef struct run_kernel_device {
    const struct yoke_run_kernel *kernel;
    int usable;
    int ready; /* nonzero: it has its program and memory */
    int warm;  /* nonzero: it has been launched, so the work of drivers at a first launch is over */
    yoke_program *program;
    yoke_function *function;
    yoke_buffer **buffers; /* [num_arrays]; NULL on a host */
    run_held *held;        /* [num_arrays] */
    int *sent;             /* [num_arrays]: nonzero: the whole array is on the device */
    void **staging;        /* [num_arrays]: memory for results of arrays that are also read; NULL: results go directly to the array */
    /* The present piece. */
    int64_t first, last, moved; /* moved: units of kept arrays that were sent */
    int started;                /* nonzero: all of the piece is in the queue */
    int done;                   /* nonzero: they are done, and their results are in place */
    int failed;
    char why[RUN_WHY_BYTES];
} run_kernel_device;

/* A source, and the memory that contains it. */
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
    uint64_t resting;               /* bit i: device i has no units of the present loop, as other devices work on its cores */
    int tries;                      /* nonzero: the present loop first tries devices: its copies are no measure of later loops */
    const yoke_argument *arguments; /* of the present loop */
    int64_t num_arguments;
};

/* The times of devices for a piece. */
typedef struct run_piece_report {
    double seconds[RUN_MAX_DEVICES], moved_s[RUN_MAX_DEVICES]; /* NaN: not known */
    int64_t moved[RUN_MAX_DEVICES];
    /* For a trial: units whose time is in `seconds`, and seconds at work in the whole trial. */
    int64_t units[RUN_MAX_DEVICES];
    double busy_s[RUN_MAX_DEVICES];
} run_piece_report;

static inline int64_t run_larger(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t run_smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/*
 * Compiles the kernel for a usable device and allocates memory for its arrays there, unless that was done before.  A device on which this
 * fails is not usable from then on, with a warning in the log.  *why: the status of that failure; may be NULL.  Errors: MEMORY.
 */
yoke_status run_kernel_ready(yoke_run_kernel *kernel, int device, yoke_status *why);

/* Device i of the kernel is gone: its memory is no longer used. */
void run_kernel_forget(yoke_run_kernel *kernel, int device);

/* ------------------------------------------------------------------------------------------------- arrays.c */

static inline int run_array_is_divided(const yoke_run_array *array) { return array->unit_bytes > 0; }

/* Copies to the host, when its queue is finished, units outside [first, last) that only the accelerator has. */
yoke_status run_kernel_fetch(const run_device *device, run_kernel_device *d, const yoke_run_kernel *kernel, int64_t first, int64_t last);
/* When the queue is finished: the host has units outside [first, last) now, and they may change there. */
void run_kernel_trim(const run_kernel_device *d, const yoke_run_kernel *kernel, int64_t first, int64_t last);
/* Before the present piece: copies the units of kept arrays that are not there, and whole arrays once; then those of all other arrays. */
yoke_status run_kernel_send_kept(const run_device *device, run_kernel_device *d, const yoke_run_kernel *kernel);
yoke_status run_kernel_send_others(const run_device *device, run_kernel_device *d, const yoke_run_kernel *kernel);
/*
 * After the piece: copies arrays that are not kept back to the host.  An array that is also read is first copied to another place, so
 * that it is intact if the device fails; run_kernel_take_staged copies it from there.
 */
yoke_status run_kernel_bring(const run_device *device, const run_kernel_device *d, const yoke_run_kernel *kernel);
void run_kernel_take_staged(const run_kernel_device *d, const yoke_run_kernel *kernel);

/* ------------------------------------------------------------------------------------------------- launch.c */

/* Records why a device cannot continue; any other status is returned. */
yoke_status run_kernel_note(const yoke_run *run, run_kernel_device *d, yoke_status status);
/* The device starts with its piece, which has at least one unit.  A failure of the device is recorded. */
yoke_status run_kernel_start(yoke_run *run, yoke_run_kernel *kernel, int device);
/*
 * Waits for the device, even if it failed or was not started: the data on which it works must stay until then.  seconds: time of its
 * work, NaN if it was not done; moved_s: time of copies of units that moved before it.
 */
yoke_status run_kernel_finish(yoke_run *run, yoke_run_kernel *kernel, int device, double *seconds, double *moved_s);

/* -------------------------------------------------------------------------------------------------- trial.c */

/*
 * Executes a round in which devices are measured.  The round has begun; each device has its piece, and none is started.  From *next to
 * `last` there are units with which devices that have finished continue.  *next: the first unit that was not taken.  Errors: as of
 * run_kernel_start.
 */
yoke_status run_kernel_try(yoke_run *run, yoke_run_kernel *kernel, int64_t *next, int64_t last, run_piece_report *report);

#endif
