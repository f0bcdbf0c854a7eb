/*
 * shared_parts.h - the data of a shared method; private to this folder.
 */
#ifndef FMM_METHOD_SHARED_PARTS_H
#define FMM_METHOD_SHARED_PARTS_H

#include <math.h>

#include "method/parts.h"
#include "method/shared.h"

enum { FMM_SHARED_WHY = 512 };

/* Input and output of the kernels in host memory (near/kernels/leaves_text.h), from the time when the first accelerator is opened. */
typedef struct fmm_near_arrays {
    int64_t slices;
    int64_t *first_slice; /* [leaves + 1] first slice of each leaf */
    int32_t *slice, *leaf_of;
    int width;      /* number of values of a particle in `field`: 4, or without gradients 1 */
    bool is_packed; /* `place` has the positions and charges of this run */
    double *place, *field;
} fmm_near_arrays;

/* A device of the run and the objects created on it; the first host has no program and no buffers. */
typedef struct fmm_shared_device {
    yoke_device *device; /* NULL: not in use */
    yoke_queue *queue;
    yoke_event *marks[4]; /* begin; positions copied (accelerator) or far field done (host); leaves done; results copied back */
    yoke_program *program;
    yoke_function *function;
    yoke_buffer *slice, *leaf_of, *particle, *start, *cell, *place, *field;
    int failed;
    char why[FMM_SHARED_WHY];
    int64_t first, last; /* leaves first ... last - 1 in this round */
    bool done;
    bool has_places;                           /* positions were copied */
    double near_s, places_s, results_s, far_s; /* seconds in this round; NaN: none */
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
    fmm_shared_work work; /* work of the whole tree */
    fmm_near_arrays arrays;
    double sources;                /* sum over leaves of the particles in and around them */
    double *weight_sum, *part_sum; /* [leaves + 1] ordered pairs before each leaf; the same for a part of the leaves */
    int64_t first, last;           /* leaves first ... last - 1 of this round */
    bool far;                      /* this round has a far field */
    fmm_shared_rounds rounds;
    int taken; /* number of the round that was taken */
    fmm_shared_told told;
    int threads;
    fmm_worker *workers; /* [threads] of this run; NULL: there is no far field */
    fmm_method_seconds far_s;
    double saved_s; /* seconds that the measured far field lacks, because the choice of the order has done its upward pass */
    bool far_done;
    fmm_shared_device device[FMM_MAX_DEVICES];
};

/* If the status means that device i cannot continue, this is noted, and the result is OK. */
yoke_status fmm_shared_note(fmm_shared *s, int i, yoke_status status);

void fmm_near_arrays_destroy(yoke_context *context, fmm_near_arrays *arrays);
/* Fills in positions and charges; called when a run begins, or in the run before they are copied to the first accelerator. */
void fmm_near_arrays_pack(const fmm_method *m, fmm_near_arrays *arrays);
/* Adds the results of the kernels for leaves first ... last - 1 to the method's sums. */
void fmm_near_arrays_add(fmm_method *m, const fmm_near_arrays *arrays, int64_t first, int64_t last);

/* Creates queue and events, and on all devices but the host program, buffers and lists, unless they exist; for the first of those also
 * s->arrays.  Errors: those of the device, MEMORY. */
yoke_status fmm_shared_device_open(fmm_shared *s, int i);
void fmm_shared_device_close(fmm_shared *s, int i);
/* Starts the copy of the first `count` particles' positions.  Errors: those of the device. */
yoke_status fmm_shared_device_copy(fmm_shared *s, int i, int64_t count);
/* Starts the sums of leaves device->first ... last - 1, and the copy of results.  units: as in yoke_queue_launch.  Errors: those of the
 * device. */
yoke_status fmm_shared_device_start(fmm_shared *s, int i, int64_t units);
/* Starts the copy of the first `count` particles' results.  Errors: those of the device. */
yoke_status fmm_shared_device_return(fmm_shared *s, int i, int64_t count);
/* Simulates leaves of `units` units on a simulated device: it sums nothing and copies no results. */
yoke_status fmm_shared_device_pretend(fmm_shared *s, int i, int64_t units);

/* Waits for the work that was started on the device, and records its times.  Errors: those of the device. */
yoke_status fmm_shared_device_finish(fmm_shared *s, int i);
/* Computes the far field; it is called in the host's queue, and `user` is the fmm_shared. */
void fmm_shared_add_far(void *user);
/* Starts the far field, if this round has one, and the host's leaves on the host. */
yoke_status fmm_shared_host_start(fmm_shared *s);

/* Measures those works of this tree that are needed on a device and not known there.  Errors: those of fmm_shared_measure. */
yoke_status fmm_shared_try(fmm_shared *s, const double *charge, const fmm_field *field);
/* Sets the sums to 0, creates the workers and, if an accelerator is open, packs the positions.  Errors: those of fmm_method_begin. */
yoke_status fmm_shared_begin(fmm_shared *s, const double *charge, const fmm_field *field);

/* A number of units, rounded and limited to those that a run can take. */
static inline int64_t fmm_shared_whole(double units) { return llround(fmin(fmax(units, 0), 1e15)); }
/* The number of ordered pairs of the device's leaves, and their units of work. */
double fmm_shared_pairs(const fmm_shared *s, const fmm_shared_device *d);
int64_t fmm_shared_units(const fmm_shared *s, const fmm_shared_device *d);
/* Updates the list of the run's devices.  Errors: UNAVAILABLE (too many). */
yoke_status fmm_shared_get_devices(fmm_shared *s);

#endif
