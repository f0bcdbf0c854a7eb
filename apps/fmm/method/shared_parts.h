/*
 * shared_parts.h - what a shared method holds; private to this folder.
 */
#ifndef FMM_METHOD_SHARED_PARTS_H
#define FMM_METHOD_SHARED_PARTS_H

#include "method/parts.h"
#include "method/shared.h"

enum { FMM_MAX_DEVICES = 64, FMM_SHARED_WHY = 512 };

/* What kernels read and write, in host memory (near/kernels/leaves_text.h). */
typedef struct fmm_near_arrays {
    int64_t slices;
    int64_t *first_slice; /* [leaves + 1] those of each leaf */
    int32_t *slice, *leaf_of;
    int width; /* values of a particle in field: 4, or without gradients 1 */
    double *place, *field;
} fmm_near_arrays;

/* A device of the run and what was made on it; the first host has no program and no buffers. */
typedef struct fmm_shared_device {
    yoke_device *device; /* NULL: not in use */
    yoke_queue *queue;
    yoke_event *marks[3];
    yoke_program *program;
    yoke_function *function;
    yoke_buffer *slice, *leaf_of, *particle, *start, *cell, *place, *field;
    int failed;
    char why[FMM_SHARED_WHY];
    int64_t first, last; /* leaves in this round */
    bool done;
    double pairs, seconds; /* in this run; seconds of the near field, NaN: none */
} fmm_shared_device;

struct fmm_shared {
    yoke_context *context;
    fmm_method *m;
    yoke_run *run;
    const yoke_run_device *list;
    int count, host; /* host: number of the device that does the far field; -1: none */
    int tries;
    fmm_near_arrays arrays;
    double *weight_sum, *part_sum; /* [leaves + 1] ordered pairs before each leaf; of a part of the leaves */
    int64_t first, last;           /* leaves of this round */
    bool far;                      /* this round has a far field */
    double far_units;
    char far_work[48];
    int threads;
    fmm_worker *workers; /* [threads] */
    fmm_method_seconds far_s;
    bool far_done;
    fmm_shared_device device[FMM_MAX_DEVICES];
};

/* Where the status says that device i cannot go on, this is kept, and the result is OK. */
yoke_status fmm_shared_note(fmm_shared *s, int i, yoke_status status);

/* Slices of all leaves.  Errors: MEMORY. */
yoke_status fmm_near_arrays_create(const fmm_method *m, fmm_near_arrays *arrays);
void fmm_near_arrays_destroy(yoke_context *context, fmm_near_arrays *arrays);
/* Positions and charges. */
void fmm_near_arrays_pack(const fmm_method *m, fmm_near_arrays *arrays);
/* Adds what kernels wrote for some leaves to the method's sums. */
void fmm_near_arrays_add(fmm_method *m, const fmm_near_arrays *arrays, int64_t first, int64_t last);

/* Queue, events, and on all but the host program, buffers and lists.  Errors: those of the device. */
yoke_status fmm_shared_device_open(fmm_shared *s, int i);
void fmm_shared_device_close(fmm_shared *s, int i);
/* Starts the leaves device->first ... last - 1, from the copy of places to that of results.  units: as in yoke_queue_launch.  Errors: those of the device. */
yoke_status fmm_shared_device_start(fmm_shared *s, int i, int64_t units);

/* The text of the kernel, for the store. */
void fmm_shared_texts(const char *const **texts, int64_t *count);

#endif
