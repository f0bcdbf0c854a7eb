/*
 * profile.h - the energy of the kernels of a run: marks in the queues of devices, and the meters that are read beside them.
 *
 *     profile.c         which meters, when they are read, and what is told in the end
 *     profile_marks.c   when kernels were at work: events in queues, which are looked at later
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
    int64_t faults; /* that it had when it was first read */
    profiler *profiler;
} run_profile_meter;

typedef struct run_profile_mark {
    yoke_event *event;
    int kernel;    /* that begins; -1: none */
    int continues; /* nonzero: it goes on with the call before */
} run_profile_mark;

typedef struct run_profile_device {
    yoke_context *context;
    char why[RUN_WHY_BYTES]; /* there is no energy of it, and its meters are not read; "" */
    int stopped;             /* its queue takes no marks any more */
    int num_meters;
    run_profile_meter meters[RUN_PROFILE_METERS];
    int begun, resting;                         /* in this round: its marks have begun; they cost more than they may, and rest */
    int level;                                  /* of its frequency, in this round */
    run_profile_mark marks[RUN_PROFILE_EVENTS]; /* a ring */
    int64_t started, read;                      /* marks; of the one read last the event is still needed */
    double read_s;                              /* when that was */
    int open;                                   /* kernel that was at work then; -1: none */
    int open_continues;
    double open_s;                  /* since then */
    double nearest_s;               /* how well the time of an event was known at best; 0: not tried yet */
    int last;                       /* kernel that was begun last in this round; -1: none */
    double spent_s;                 /* in marks, but for waiting while the device works */
    double round_s[RUN_MAX_LEVELS]; /* of rounds with marks */
    double rounds[RUN_MAX_LEVELS];
    double round_calls[PROFILE_MAX_KERNELS]; /* of the round that has begun */
    double calls[RUN_MAX_LEVELS][PROFILE_MAX_KERNELS];
    double timed[RUN_MAX_LEVELS][PROFILE_MAX_KERNELS], timed_s[RUN_MAX_LEVELS][PROFILE_MAX_KERNELS]; /* calls, and their seconds */
    double timed_squares[RUN_MAX_LEVELS][PROFILE_MAX_KERNELS],
        last_s[PROFILE_MAX_KERNELS]; /* of these seconds; of the last call, which may go on */
} run_profile_device;

typedef struct run_profile {
    double overhead, start_s; /* part of the time since then that it may take */
    int num_kernels;
    char names[PROFILE_MAX_KERNELS][RUN_KERNEL_BYTES];
    run_profile_device *devices; /* [num_devices] */
    yoke_run_profile *rows;      /* [RUN_PROFILE_ROWS] of the latest call of yoke_run_profile_get */
    char (*why)[RUN_WHY_BYTES];  /* likewise */
} run_profile;

/* Where the options ask for it.  Errors: MEMORY. */
yoke_status run_profile_create(yoke_run *run);
void run_profile_destroy(yoke_run *run);
/* A round begins, ends after so many seconds, or is given up, and then none of its calls count.  Errors: MEMORY. */
void run_profile_begin(yoke_run *run);
yoke_status run_profile_end(yoke_run *run, double seconds);
void run_profile_drop(yoke_run *run);
/* A meter of the device failed with that status: from now on there are no energies of it, and seconds still.  Errors: MEMORY. */
yoke_status run_profile_without_energy(run_profile_device *device, yoke_status status);

/* ------------------------------------------------------------------------------------------- profile_marks.c */

/* Begins a series of marks: waits for what the queue has to do.  Errors: MEMORY, those of events.  Meters that fail are no errors. */
yoke_status run_marks_begin(run_profile_device *device, yoke_device *of, yoke_queue *queue);
/* Errors: MEMORY, those of events. */
yoke_status run_marks_add(run_profile_device *device, yoke_device *of, yoke_queue *queue, int kernel, int continues);
/* Tells the profilers all marks so far, waiting for them.  Errors: likewise. */
yoke_status run_marks_end(run_profile_device *device);
void run_marks_destroy(run_profile_device *device);

#endif
