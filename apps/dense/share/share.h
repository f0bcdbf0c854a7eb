/*
 * share.h - shares units of one kind of work between the devices of a run in several rounds, so that the run measures the speed of each
 * device while they all work.  Short rounds of one device alone show how much devices slow each other down.
 *
 * yoke_run_loop shares a kernel in a similar way, if the whole kernel is one launch on arrays in which units are contiguous.  Here this is
 * not the case:
 * - accelerators call their vendor's BLAS, process a matrix in panels if it does not fit, or return units that the host puts into columns;
 * - a device gets no more units than fit;
 * - a user sees the progress, can interrupt the work, and sees what each device did in all rounds.
 * This code therefore uses yoke_run_plan, _begin and _end, as yoke_run_loop does.
 */
#ifndef DENSE_SHARE_H
#define DENSE_SHARE_H

#include "yoke/yoke.h"

enum { DENSE_MAX_DEVICES = 64, DENSE_MAX_ROUNDS = 1000, DENSE_MAX_RANGES = 256, DENSE_WHY = 512 };

/* Called after each round with the number of units that are done, and of all units.  Its status is passed on.  call NULL: none. */
typedef struct dense_progress {
    yoke_status (*call)(void *user, int64_t done, int64_t units);
    void *user;
} dense_progress;

/*
 * The work.  Units are contiguous, and each is done once; those of a device that fails are done again by others.
 * Functions of accelerators get the number of the device, which is below DENSE_MAX_DEVICES, and return statuses of its calls.
 */
typedef struct dense_kernel {
    const char *work;         /* name of the work, which determines what a unit costs: the key of models and store */
    const char *const *texts; /* of its kernels, as in yoke_run_work */
    int64_t num_texts;
    int64_t units;       /* at least 1 */
    int64_t weight;      /* of a unit in models, if `work` has units of several sizes; 0: 1 */
    int64_t good_units;  /* of a round: with fewer, each unit takes longer; 0: any number is good */
    int64_t first_units; /* of the first round, if something was never measured: about the largest number, at least 1 */
    /* Called before everything else, on the same thread as host, so that first calls are not timed; NULL: nothing. */
    void (*ready)(void *user);
    void (*host)(void *user, int64_t first, int64_t last); /* on a thread of a host, whose cores OpenMP's parallel regions use */
    const char *no_host;                                   /* reason why no host can do the work; NULL: hosts can */
    /* Allocates memory and compiles programs. */
    yoke_status (*open)(void *user, int number, yoke_device *device, yoke_queue *queue);
    void (*close)(void *user, int number); /* also called after a failed open */
    /* Allocates memory for this number of units, and copies what all units need. */
    yoke_status (*prepare)(void *user, int number, int64_t units);
    /* Puts operations into the queue, including copies; it is timed. */
    yoke_status (*start)(void *user, int number, int64_t first, int64_t last);
    /* Called on the host after everything that was started has ended; it is timed; NULL: nothing. */
    void (*finish)(void *user, int number, int64_t first, int64_t last);
    int64_t (*most_units)(void *user, int number); /* that fit on an accelerator; NULL: all */
    /* The name of the implementation that works there, a constant text; NULL: not reported. */
    const char *(*by)(void *user, int number, int accelerator);
    dense_progress progress;
    void *user; /* passed to the functions above */
} dense_kernel;

/* Units first .. last - 1. */
typedef struct dense_range {
    int64_t first, last;
} dense_range;

/* Work, time and energy of a device.  Texts are borrowed from the run. */
typedef struct dense_part {
    const char *device;
    const char *by; /* the implementation that works there; "": not reported */
    int accelerator;
    int64_t units;
    int num_ranges; /* of contiguous units; if there are more than DENSE_MAX_RANGES, the last ones are not listed */
    dense_range range[DENSE_MAX_RANGES];
    double seconds; /* of work, on the device's clock; 0: it did nothing */
    /* In all rounds, from its powers at rest and at work: an estimate.  NaN: they are not known for some round. */
    double energy_j;
    int failed;
    const char *why; /* reason why it failed, or may do nothing; "": none */
} dense_part;

/* Units and frequency of a device in a round. */
typedef struct dense_round_part {
    int64_t units;
    double frequency_hz; /* NaN: not changed */
} dense_round_part;

typedef struct dense_round {
    int64_t units;
    yoke_run_decision decision;
    double imbalance;              /* of the devices with units: (longest - shortest) / shortest; 0: one device */
    yoke_cost predicted, measured; /* NaN: not known */
    dense_round_part part[DENSE_MAX_DEVICES];
} dense_round;

/* Sums over the rounds.  NaN: not known for some round. */
typedef struct dense_shared {
    int num_parts, num_rounds; /* rounds after the first DENSE_MAX_ROUNDS are not listed, but are in the sums */
    dense_part part[DENSE_MAX_DEVICES];
    dense_round round[DENSE_MAX_ROUNDS];
    double predicted_s, predicted_j, measured_s, measured_j;
    double told_s;           /* measured seconds of the rounds whose time was predicted */
    double told_predicted_s; /* predicted seconds of these rounds; 0: there is none */
    yoke_energy_kind kind;   /* of measured_j */
    char powers[16];         /* source of the powers for the parts' energies: as in yoke_assignment; "": not known */
    char why_no_energy[DENSE_WHY];
    double plan_s; /* time of decisions */
} dense_shared;

/*
 * Does all units of a kernel, once or several times, on devices that stay open in between.  The work and the functions that open and close
 * are the same each time; units, weight and the data of the other functions may change.  run, kernel and its texts must outlive it.
 * Errors: those of the kernel that are not failures of a device, UNAVAILABLE (no device is left; the message has the reason of each),
 * MEMORY, INTERRUPTED (progress).
 */
typedef struct dense_sharing dense_sharing;
yoke_status dense_sharing_open(yoke_context *context, yoke_run *run, const dense_kernel *kernel, dense_sharing **sharing);
yoke_status dense_sharing_do(dense_sharing *sharing, dense_shared *shared);
void dense_sharing_close(dense_sharing *sharing);

/* Devices that use cores of hosts are opened when they are tried.  This function opens them immediately.  Errors: as of open. */
yoke_status dense_sharing_open_rest(dense_sharing *sharing);

/*
 * Trials for yoke_run_calibrate: as yoke_run_trial and yoke_run_trial_together (yoke/run.h).  All devices must be open.  Units are the
 * first ones of the kernel, and contiguous if there are several devices.  Models do not change.  dense_sharing_most_units: number of units
 * that each device may be given.
 */
yoke_status dense_sharing_try(dense_sharing *sharing, int64_t device, int64_t units, int64_t calls, double *seconds);
yoke_status dense_sharing_try_together(dense_sharing *sharing, const int64_t *units, int64_t calls, double *seconds, int64_t *failed);
int64_t dense_sharing_most_units(const dense_sharing *sharing);

#endif
