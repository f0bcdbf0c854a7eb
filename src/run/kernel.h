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
    const struct yoke_run_kernel *kernel;
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
    int started;                /* nonzero: all of it is in the queue */
    int done;                   /* nonzero: they are done, and their results are where they belong */
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

/* What devices took for a piece. */
typedef struct run_piece_report {
    double seconds[RUN_MAX_DEVICES], moved_s[RUN_MAX_DEVICES]; /* NaN: not known */
    int64_t moved[RUN_MAX_DEVICES];
    /* Of a trial: units that `seconds` are of, and seconds at work in all of it. */
    int64_t units[RUN_MAX_DEVICES];
    double busy_s[RUN_MAX_DEVICES];
} run_piece_report;

static inline int64_t run_larger(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t run_smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/*
 * Compiles the kernel for a device that is usable, and makes memory for its arrays there, if that was not done yet.  A device that cannot is not usable from then on, with a
 * warning in the log.  *why: the status of that; may be NULL.  Errors: MEMORY.
 */
yoke_status run_kernel_ready(yoke_run_kernel *kernel, int device, yoke_status *why);

/* Device i of the kernel is gone: its memory is not used any more. */
void run_kernel_forget(yoke_run_kernel *kernel, int device);

/* ------------------------------------------------------------------------------------------------- arrays.c */

static inline int run_array_is_divided(const yoke_run_array *array) { return array->unit_bytes > 0; }

/* What only the accelerator has of units outside [first, last) comes to the host, when its queue is finished. */
yoke_status run_kernel_fetch(const run_device *device, run_kernel_device *d, const yoke_run_kernel *kernel, int64_t first, int64_t last);
/* When it is finished: the host has these units now, and they may change there. */
void run_kernel_trim(const run_kernel_device *d, const yoke_run_kernel *kernel, int64_t first, int64_t last);
/* Before the present piece: of kept arrays units that are not there, and whole ones once; then of all others. */
yoke_status run_kernel_send_kept(const run_device *device, run_kernel_device *d, const yoke_run_kernel *kernel);
yoke_status run_kernel_send_others(const run_device *device, run_kernel_device *d, const yoke_run_kernel *kernel);
/* After it: what is not kept comes back.  What is read too comes to another place first, so that it is whole if the device fails; run_kernel_take_staged takes it from there. */
yoke_status run_kernel_bring(const run_device *device, const run_kernel_device *d, const yoke_run_kernel *kernel);
void run_kernel_take_staged(const run_kernel_device *d, const yoke_run_kernel *kernel);

/* ------------------------------------------------------------------------------------------------- launch.c */

/* Remembers why a device cannot go on; any other status is returned. */
yoke_status run_kernel_note(const yoke_run *run, run_kernel_device *d, yoke_status status);
/* The device begins with its piece, whose units are some.  Where it fails that is noted. */
yoke_status run_kernel_start(yoke_run *run, yoke_run_kernel *kernel, int device);
/*
 * Waits for it, also where it failed or was not started: what it works on must stay until then.  Seconds of its work, NaN where it was not done, and of copies of units that
 * moved before it.
 */
yoke_status run_kernel_finish(yoke_run *run, yoke_run_kernel *kernel, int device, double *seconds, double *moved_s);

/* -------------------------------------------------------------------------------------------------- trial.c */

/*
 * A round in which devices are measured has begun; each has its piece, none is started.  From *next on there are units up to `last` with which whoever is done goes on.  *next: behind
 * those that were taken.  Errors: as of run_kernel_start.
 */
yoke_status run_kernel_try(yoke_run *run, yoke_run_kernel *kernel, int64_t *next, int64_t last, run_piece_report *report);

#endif
