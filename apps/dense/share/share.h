/*
 * share.h - units of one kind of work, shared by the devices of a run in several rounds, so that it learns how fast each is while they work.  What they lose beside
 * each other follows from short rounds of one device alone.
 *
 * yoke_run_loop shares a kernel so too, where all of it is one launch on arrays that lie in units behind each other.  Here it is not: accelerators call their vendor's
 * BLAS, go through a matrix in panels where it does not fit, or give back units that the host puts into columns; a device gets no more units than fit; and a user sees
 * the progress, can interrupt, and is told what each device did in all rounds.  So this stands on yoke_run_plan, _begin and _end, as yoke_run_loop does.
 */
#ifndef DENSE_SHARE_H
#define DENSE_SHARE_H

#include "yoke/yoke.h"

enum { DENSE_MAX_DEVICES = 64, DENSE_MAX_ROUNDS = 1000, DENSE_MAX_RANGES = 256, DENSE_WHY = 512 };

/* Called after each round with the units that are done, and all.  Its status is passed on.  call NULL: none. */
typedef struct dense_progress {
    yoke_status (*call)(void *user, int64_t done, int64_t units);
    void *user;
} dense_progress;

/*
 * What is done.  Units lie behind each other, and each is done once; those of a device that fails are done again by others.
 * Functions of accelerators get the number of the device, below DENSE_MAX_DEVICES, and return statuses of its calls.
 */
typedef struct dense_kernel {
    const char *work;         /* what a unit costs: the key of models and store */
    const char *const *texts; /* of its kernels, as in yoke_run_work */
    int64_t num_texts;
    int64_t units;             /* at least 1 */
    int64_t weight;            /* of a unit in what models count, where `work` is of several sizes of units; 0: 1 */
    int64_t good_units;        /* of a round: fewer are slower for each; 0: any number is good */
    int64_t first_units;       /* of the first round, where something was never measured: at most about as many, at least 1 */
    void (*ready)(void *user); /* before all, on the same thread as host: what a first call does; NULL: nothing */
    void (*host)(void *user, int64_t first, int64_t last); /* on a thread of a host, whose cores OpenMP's parallel regions use */
    const char *no_host;                                   /* why no host can do it; NULL: they can */
    yoke_status (*open)(void *user, int number, yoke_device *device, yoke_queue *queue); /* memory and programs */
    void (*close)(void *user, int number);                                               /* also after a failed open */
    yoke_status (*prepare)(void *user, int number, int64_t units);             /* memory for so many, and copies of what all units need */
    yoke_status (*start)(void *user, int number, int64_t first, int64_t last); /* operations in the queue, copies with them; is timed */
    void (*finish)(void *user, int number, int64_t first,
                   int64_t last);                               /* after all that was started, on the host; is timed; NULL: nothing */
    int64_t (*most_units)(void *user, int number);              /* that fit on an accelerator; NULL: all */
    const char *(*by)(void *user, int number, int accelerator); /* what works there: a constant text; NULL: nothing is told */
    dense_progress progress;
    void *user; /* of the functions above */
} dense_kernel;

/* Units first .. last - 1. */
typedef struct dense_range {
    int64_t first, last;
} dense_range;

/* What a device did.  Texts are borrowed from the run. */
typedef struct dense_part {
    const char *device;
    const char *by; /* what works there; "" */
    int accelerator;
    int64_t units;
    int num_ranges; /* of units behind each other; of more than DENSE_MAX_RANGES the last ones are not told */
    dense_range range[DENSE_MAX_RANGES];
    double seconds; /* at work, on its clock; 0: it did nothing */
    /* In all rounds, by its powers at rest and at work: an estimate.  NaN: of some round they are not known. */
    double energy_j;
    int failed;
    const char *why; /* it failed, or may do nothing; "" */
} dense_part;

/* What a device had in a round. */
typedef struct dense_round_part {
    int64_t units;
    double frequency_hz; /* NaN: left as it was */
} dense_round_part;

typedef struct dense_round {
    int64_t units;
    yoke_run_decision decision;
    double imbalance;              /* of the devices with units: (longest - shortest) / shortest; 0: one device */
    yoke_cost predicted, measured; /* NaN: not known */
    dense_round_part part[DENSE_MAX_DEVICES];
} dense_round;

/* The sums over the rounds.  NaN: of some round it is not known. */
typedef struct dense_shared {
    int num_parts, num_rounds; /* of more than DENSE_MAX_ROUNDS rounds the last ones are not told, but are in the sums */
    dense_part part[DENSE_MAX_DEVICES];
    dense_round round[DENSE_MAX_ROUNDS];
    double predicted_s, predicted_j, measured_s, measured_j;
    double told_s;           /* measured seconds of the rounds whose time was predicted */
    double told_predicted_s; /* and their predicted ones; 0: there is none */
    yoke_energy_kind kind;   /* of measured_j */
    char powers[16];         /* where the powers of the parts' energies are from: as in yoke_assignment; "": not known */
    char why_no_energy[DENSE_WHY];
    double plan_s; /* of deciding */
} dense_shared;

/*
 * All units of a kernel, once or several times, on devices that stay open meanwhile.  The work and what opens and closes are the same each time; units, weight and
 * what functions do with them may change.  run, kernel and its texts outlive it.
 * Errors: those of the kernel that are no failures of a device, UNAVAILABLE (no device is left: each one's reason), MEMORY, INTERRUPTED (progress).
 */
typedef struct dense_sharing dense_sharing;
yoke_status dense_sharing_open(yoke_context *context, yoke_run *run, const dense_kernel *kernel, dense_sharing **sharing);
yoke_status dense_sharing_do(dense_sharing *sharing, dense_shared *shared);
void dense_sharing_close(dense_sharing *sharing);

/* Devices that use cores of hosts are opened when they are tried; this opens them now.  Errors: as of open. */
yoke_status dense_sharing_open_rest(dense_sharing *sharing);

/*
 * Trials for yoke_run_calibrate: as yoke_run_trial and yoke_run_trial_together (yoke/run.h).  All devices have to be open.  Units are the first ones of the kernel, and behind each other on several
 * devices.  Nothing is learned.  most_units: that each device may be given.
 */
yoke_status dense_sharing_try(dense_sharing *sharing, int64_t device, int64_t units, int64_t calls, double *seconds);
yoke_status dense_sharing_try_together(dense_sharing *sharing, const int64_t *units, int64_t calls, double *seconds, int64_t *failed);
int64_t dense_sharing_most_units(const dense_sharing *sharing);

#endif
