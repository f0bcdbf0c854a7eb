/*
 * sharing.h - what the files of this folder share: share.c does rounds, trial.c the first one, in which devices are measured, stages.c says how many units the next one
 * has and for whom it is, cores.c which devices on the same cores rest, sums.c adds up what they told.
 */
#ifndef DENSE_SHARING_H
#define DENSE_SHARING_H

#include "share/share.h"

typedef struct dense_share_device {
    const dense_kernel *kernel;
    yoke_device *device; /* NULL: not in use */
    yoke_queue *queue;
    yoke_event *marks[2];
    int opened, failed, is_warm;
    const char *why_rests; /* it gets no units, as another one works on its cores; NULL: it does not rest */
    char why[DENSE_WHY];
    int64_t first, last; /* the piece that it works on: its only one in the round, or one of a trial */
    int done;            /* nonzero: it has done that */
    int64_t units;       /* that it has done in this round, */
    double busy_s;       /* in such a time */
} dense_share_device;

/* What the next round serves: all devices together on a few units, and on more of them, while speeds are found out; then speeds are known. */
typedef enum dense_stage { DENSE_FIRST_ROUND, DENSE_FEW_ROUND, DENSE_LARGER_ROUND, DENSE_KNOWN } dense_stage;

struct dense_sharing {
    yoke_context *context;
    yoke_run *run;
    const dense_kernel *kernel;
    dense_shared *shared;
    const yoke_run_device *list;
    int count;
    dense_share_device device[DENSE_MAX_DEVICES];
    dense_range *left; /* units that are to be done; the last range is the next */
    int64_t ranges, room;
    const yoke_assignment *assignment;
    double rate;                       /* units a second in the latest round of all; 0: not known */
    int unknown;                       /* nonzero: some device was never measured */
    dense_stage stage;                 /* of the next round of all */
    int resting;                       /* a device that rests and is to be tried; -1: none */
    int64_t resting_units;             /* with so many */
    int alone;                         /* the device that the round is for alone; -1: it is for all */
    int64_t alone_units;               /* of that, or of the latest round that was so */
    int trial;                         /* the device of the latest round that was for one alone; -1: none was */
    double trial_s;                    /* seconds of a unit in that */
    int64_t beside[DENSE_MAX_DEVICES]; /* units of each in the latest round of all */
    yoke_run_decision decision;        /* of that */
    int tried[DENSE_MAX_DEVICES];      /* rounds that each had alone */
    int64_t done;
};

/* Devices of the run as they are now.  Errors: UNAVAILABLE (too many). */
yoke_status dense_share_get_devices(dense_sharing *s);
/* Units that are to be done later.  Errors: MEMORY. */
yoke_status dense_share_push(dense_sharing *s, int64_t first, int64_t last);
/* Starts the device's piece, and waits for it.  Where it fails, that is kept.  Errors: those of the kernel that are no failures of a device. */
yoke_status dense_share_start(dense_sharing *s, int i);
yoke_status dense_share_finish(dense_sharing *s, int i, double *seconds);

/* -------------------------------------------------------------------------------------------------- trial.c */

/*
 * The planned round has begun: every device has a piece of it, and some were never measured.  units, seconds [count]: of the last piece of each that tells something; NaN: none
 * does.  Errors: as of dense_share_start; those of dense_progress; MEMORY.
 */
yoke_status dense_share_try_devices(dense_sharing *s, int64_t *units, double *seconds);

/* -------------------------------------------------------------------------------------------------- cores.c */

/* Nonzero: the device may have units, and does not rest. */
int dense_share_works(const dense_sharing *s, int i);
/* Who rests, with so many units left, and which of these is to be tried.  Errors: MEMORY. */
yoke_status dense_share_choose_cores(dense_sharing *s, int64_t left);
/* The device that rests and is to have the next round alone, with s->alone_units; -1: none. */
int dense_share_try_cores(dense_sharing *s);

/* ------------------------------------------------------------------------------------------------- stages.c */

/* What models count for so many units. */
int64_t dense_share_weigh(const dense_kernel *kernel, int64_t units);
/* Nonzero: the device was measured at such sizes. */
int dense_share_is_known_of(const dense_sharing *s, int i, int64_t units);
/* Before the first round: which stage it is.  DENSE_LARGER_ROUND: what is known leaves open whether a device is better alone; then all units are planned, for dense_share_expect.  Errors: MEMORY. */
yoke_status dense_share_begin(dense_sharing *s);
/* After such a plan, which is not executed: what each device would do. */
void dense_share_expect(dense_sharing *s);
/* Takes the units of the next round from those that are left, which are some, and sets `alone`.  Errors: MEMORY. */
yoke_status dense_share_next(dense_sharing *s, dense_range *taken);
/* Takes so many units, or fewer, from those that are left, which are some. */
dense_range dense_share_take(dense_sharing *s, int64_t units);

/* --------------------------------------------------------------------------------------------------- sums.c */

/* After a round that was ended. */
void dense_share_add_round(dense_sharing *s, const yoke_cost *measured);
/* What a device did in such a time; what it did not is pushed.  Errors: MEMORY. */
yoke_status dense_share_add_piece(dense_sharing *s, int i, double seconds);
/* Powers are those at the frequencies of the round: before the next one is planned. */
yoke_status dense_share_add_energies(dense_sharing *s, double all_s);
/* After all rounds. */
void dense_share_tell_parts(dense_sharing *s);

#endif
