/*
 * sharing.h - types and functions that the files of this folder share: share.c does rounds; trial.c does the first one, in which devices
 * are measured; stages.c chooses units and devices of the next round; cores.c chooses which devices on the same cores rest; sums.c adds up
 * the measurements.
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
    const char *why_rests; /* reason why it gets no units: another device works on its cores; NULL: it does not rest */
    char why[DENSE_WHY];
    int64_t first, last; /* the piece that it works on: the only one of the round, or one of a trial */
    int done;            /* nonzero: that piece is done */
    int64_t units;       /* done in this round */
    double busy_s;       /* time for these units */
} dense_share_device;

/*
 * The purpose of the next round: all devices work on a few units, and then on more, while speeds are measured; afterwards speeds are known.
 */
typedef enum dense_stage { DENSE_FIRST_ROUND, DENSE_FEW_ROUND, DENSE_LARGER_ROUND, DENSE_KNOWN } dense_stage;

struct dense_sharing {
    yoke_context *context;
    yoke_run *run;
    const dense_kernel *kernel;
    dense_shared *shared;
    const yoke_run_device *list;
    int count;
    dense_share_device device[DENSE_MAX_DEVICES];
    dense_range *left; /* units that remain to be done; the last range is the next */
    int64_t ranges, room;
    const yoke_assignment *assignment;
    double rate;                       /* units per second in the latest round of all devices; 0: not known */
    int unknown;                       /* nonzero: some device was never measured */
    dense_stage stage;                 /* of the next round of all devices */
    int resting;                       /* a device that rests and is to be tried; -1: none */
    int64_t resting_units;             /* number of units for that trial */
    int alone;                         /* the device that has this round alone; -1: the round is for all */
    int64_t alone_units;               /* of this round, or of the latest one for a device alone */
    int trial;                         /* the device of the latest round for one alone; -1: there was none */
    double trial_s;                    /* seconds per unit in that round */
    int64_t beside[DENSE_MAX_DEVICES]; /* units of each device in the latest round of all */
    yoke_run_decision decision;        /* of that round */
    int tried[DENSE_MAX_DEVICES];      /* number of rounds that each device had alone */
    int64_t done;
};

/* Reads the present state of the run's devices.  Errors: UNAVAILABLE (too many). */
yoke_status dense_share_get_devices(dense_sharing *s);
/* Adds units that are to be done later.  Errors: MEMORY. */
yoke_status dense_share_push(dense_sharing *s, int64_t first, int64_t last);
/*
 * dense_share_start starts the device's piece, and dense_share_finish waits for it.  If it fails, the reason is stored.  Errors: those of
 * the kernel that are not failures of a device.
 */
yoke_status dense_share_start(dense_sharing *s, int i);
yoke_status dense_share_finish(dense_sharing *s, int i, double *seconds);

/* -------------------------------------------------------------------------------------------------- trial.c */

/*
 * Does a planned round after it has begun: every device has a piece of it, and some were never measured.  units, seconds [count]: of the
 * last piece of each device that is a valid measurement; NaN: there is none.
 * Errors: as of dense_share_start; those of dense_progress; MEMORY.
 */
yoke_status dense_share_try_devices(dense_sharing *s, int64_t *units, double *seconds);

/* -------------------------------------------------------------------------------------------------- cores.c */

/* Nonzero: the device may have units, and does not rest. */
int dense_share_works(const dense_sharing *s, int i);
/* Chooses which devices rest while `left` units remain, and which of these is to be tried.  Errors: MEMORY. */
yoke_status dense_share_choose_cores(dense_sharing *s, int64_t left);
/* The resting device that is to have the next round alone, with s->alone_units; -1: none. */
int dense_share_try_cores(dense_sharing *s);

/* ------------------------------------------------------------------------------------------------- stages.c */

/* Weight of this number of units in models. */
int64_t dense_share_weigh(const dense_kernel *kernel, int64_t units);
/* Nonzero: the device was measured at such sizes. */
int dense_share_is_known_of(const dense_sharing *s, int i, int64_t units);
/*
 * Before the first round: chooses its stage.  DENSE_LARGER_ROUND: it is not known whether a device is better alone; then all units are
 * planned, for dense_share_expect.  Errors: MEMORY.
 */
yoke_status dense_share_begin(dense_sharing *s);
/* After such a plan, which is not executed: records the units that each device would have. */
void dense_share_expect(dense_sharing *s);
/* Takes the units of the next round from the remaining ones, of which there are some, and sets `alone`.  Errors: MEMORY. */
yoke_status dense_share_next(dense_sharing *s, dense_range *taken);
/* Takes at most this number of units from the remaining ones, of which there are some. */
dense_range dense_share_take(dense_sharing *s, int64_t units);

/* --------------------------------------------------------------------------------------------------- sums.c */

/* Adds a round that has ended to the sums. */
void dense_share_add_round(dense_sharing *s, const yoke_cost *measured);
/* Adds the units that a device did in this time; its other units are pushed.  Errors: MEMORY. */
yoke_status dense_share_add_piece(dense_sharing *s, int i, double seconds);
/* Powers are those at the frequencies of the round, so call it before the next round is planned. */
yoke_status dense_share_add_energies(dense_sharing *s, double all_s);
/* After all rounds: completes the parts. */
void dense_share_tell_parts(dense_sharing *s);

#endif
