/*
 * shared_parts.h - what a shared method holds; private to this folder.
 */
#ifndef FMM_METHOD_SHARED_PARTS_H
#define FMM_METHOD_SHARED_PARTS_H

#include "method/parts.h"
#include "method/shared.h"

enum { FMM_SHARED_WHY = 512 };

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
    yoke_event *marks[4]; /* begin; an accelerator has the places, or a host has done the far field; leaves are done; results are back */
    yoke_program *program;
    yoke_function *function;
    yoke_buffer *slice, *leaf_of, *particle, *start, *cell, *place, *field;
    int failed;
    char why[FMM_SHARED_WHY];
    int64_t first, last; /* leaves in this round */
    bool done;
    bool has_places;                           /* they were copied */
    double near_s, places_s, results_s, far_s; /* in this round; NaN: none */
    double pairs, seconds;                     /* in this run; seconds of near field and copies, NaN: none */
    double frequency_hz;
} fmm_shared_device;

struct fmm_shared {
    yoke_context *context;
    fmm_method *m;
    yoke_run *run;
    const yoke_run_device *list;
    int count, host; /* host: number of the device that does the far field; -1: none */
    fmm_shared_options options;
    fmm_shared_work work; /* of the whole tree */
    fmm_near_arrays arrays;
    double sources;                /* in and around leaves, summed over them */
    double *weight_sum, *part_sum; /* [leaves + 1] ordered pairs before each leaf; of a part of the leaves */
    int64_t first, last;           /* leaves of this round */
    bool far;                      /* this round has a far field */
    fmm_shared_rounds rounds;
    int taken; /* of them */
    fmm_shared_told told;
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

/* Queue, events, and on all but the host program, buffers and lists, if they are not there.  Errors: those of the device. */
yoke_status fmm_shared_device_open(fmm_shared *s, int i);
void fmm_shared_device_close(fmm_shared *s, int i);
/* Starts the copy of the first `count` particles' places.  Errors: those of the device. */
yoke_status fmm_shared_device_copy(fmm_shared *s, int i, int64_t count);
/* Starts the leaves device->first ... last - 1, with the copy of results.  units: as in yoke_queue_launch.  Errors: those of the device. */
yoke_status fmm_shared_device_start(fmm_shared *s, int i, int64_t units);
/* The copy of the first `count` particles' results.  Errors: those of the device. */
yoke_status fmm_shared_device_return(fmm_shared *s, int i, int64_t count);
/* Leaves of so many units, on a simulated device as if: it sums nothing and copies no results. */
yoke_status fmm_shared_device_pretend(fmm_shared *s, int i, int64_t units);

/* Waits for what was started on the device, and tells its times.  Errors: those of the device. */
yoke_status fmm_shared_device_finish(fmm_shared *s, int i);
/* The far field, called in the host's queue with `user` the fmm_shared. */
void fmm_shared_add_far(void *user);
/* Starts far field, if this round has one, and leaves on the host. */
yoke_status fmm_shared_host_start(fmm_shared *s);

/* Measures the works of this tree that are not known where they are needed.  Errors: those of fmm_shared_measure. */
yoke_status fmm_shared_try(fmm_shared *s, const double *charge, const fmm_field *field);
/* Sums of nothing, and the places packed.  Errors: those of fmm_method_begin. */
yoke_status fmm_shared_begin(fmm_shared *s, const double *charge, const fmm_field *field);

/* Ordered pairs of the device's leaves, and their units of work. */
double fmm_shared_pairs(const fmm_shared *s, const fmm_shared_device *d);
int64_t fmm_shared_units(const fmm_shared *s, const fmm_shared_device *d);
/* The devices of the run, anew.  Errors: UNAVAILABLE (too many). */
yoke_status fmm_shared_get_devices(fmm_shared *s);

#endif
