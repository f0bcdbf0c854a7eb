/*
 * profile.h - the energy of the kernels of a run: marks in the queues of devices, and the meters that are read at the same time.
 *
 *     profile.c         which meters, when they are read, and the final report
 *     profile_marks.c   when kernels were at work: events in queues, which are read later
 */
#ifndef YOKE_RUN_PROFILE_H
#define YOKE_RUN_PROFILE_H

#include "profile/online.h"
#include "run/run.h"

enum { RUN_PROFILE_METERS = 8, RUN_PROFILE_EVENTS = 256, RUN_KERNEL_BYTES = 48, RUN_PROFILE_ROWS = 512 };

/* One of a device's own meters. */
typedef struct run_profile_meter {
    yoke_run *run;
    int64_t index;
    int64_t faults; /* number of its faults when it was first read */
    profiler *profiler;
} run_profile_meter;

typedef struct run_profile_mark {
    yoke_event *event;
    int kernel;    /* that starts here; -1: none */
    int continues; /* nonzero: it continues the previous call */
} run_profile_mark;

typedef struct run_profile_device {
    yoke_context *context;
    char why[RUN_WHY_BYTES]; /* why there is no energy of it and its meters are not read; "" if there is */
    int stopped;             /* nonzero: its queue accepts no further marks */
    int num_meters;
    run_profile_meter meters[RUN_PROFILE_METERS];
    int begun, resting; /* in this round: nonzero: its marks have begun; they cost more than allowed and are suspended */
    int level;          /* of its frequency, in this round */
    run_profile_mark marks[RUN_PROFILE_EVENTS]; /* a ring */
    int64_t started, read;                      /* numbers of marks; the event of the mark that was read last is still needed */
    double read_s;                              /* time of that mark */
    int open;                                   /* kernel that was at work then; -1: none */
    int open_continues;
    double open_s;                  /* since when it was at work */
    double nearest_s;               /* best accuracy so far of the time of an event; 0: not tried yet */
    int last;                       /* kernel that was started last in this round; -1: none */
    double spent_s;                 /* time in marks, except waiting while the device works */
    double round_s[RUN_MAX_LEVELS]; /* of rounds with marks */
    double rounds[RUN_MAX_LEVELS];
    double round_calls[PROFILE_MAX_KERNELS]; /* of the round that has begun */
    double calls[RUN_MAX_LEVELS][PROFILE_MAX_KERNELS];
    double timed[RUN_MAX_LEVELS][PROFILE_MAX_KERNELS], timed_s[RUN_MAX_LEVELS][PROFILE_MAX_KERNELS]; /* calls, and their seconds */
    /* Squares of these seconds; seconds of the last call, which may continue. */
    double timed_squares[RUN_MAX_LEVELS][PROFILE_MAX_KERNELS], last_s[PROFILE_MAX_KERNELS];
} run_profile_device;

typedef struct run_profile {
    double overhead, start_s; /* the part of the time since start_s that profiling may take */
    int num_kernels;
    char names[PROFILE_MAX_KERNELS][RUN_KERNEL_BYTES];
    run_profile_device *devices; /* [num_devices] */
    yoke_run_profile *rows;      /* [RUN_PROFILE_ROWS] of the latest call of yoke_run_profile_get */
    char (*why)[RUN_WHY_BYTES];  /* likewise */
} run_profile;

/* Creates the profile if the options request it.  Errors: MEMORY. */
yoke_status run_profile_create(yoke_run *run);
void run_profile_destroy(yoke_run *run);
/* A round begins, ends after `seconds`, or is abandoned, and then none of its calls count.  Errors: MEMORY. */
void run_profile_begin(yoke_run *run);
yoke_status run_profile_end(yoke_run *run, double seconds);
void run_profile_drop(yoke_run *run);
/* A meter of the device failed with this status: from now on there are no energies of the device, but still seconds.  Errors: MEMORY. */
yoke_status run_profile_without_energy(run_profile_device *device, yoke_status status);

/* ------------------------------------------------------------------------------------------- profile_marks.c */

/* Begins a series of marks: waits for the operations of the queue.  Errors: MEMORY, those of events.  Meters that fail are no errors. */
yoke_status run_marks_begin(run_profile_device *device, yoke_device *of, yoke_queue *queue);
/* Errors: MEMORY, those of events. */
yoke_status run_marks_add(run_profile_device *device, yoke_device *of, yoke_queue *queue, int kernel, int continues);
/* Passes all marks so far to the profilers, after waiting for them.  Errors: the same. */
yoke_status run_marks_end(run_profile_device *device);
void run_marks_destroy(run_profile_device *device);

#endif
