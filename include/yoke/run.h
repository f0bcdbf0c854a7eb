/*
 * run.h - door 3: measure, model, plan and run as one object.  Part of yoke.h.
 *
 * An application describes its work as a round of phases (yoke/plan.h).  A run opens devices, meters and frequencies, decides which device
 * gets which units and at which frequency, and updates its models from the measurements of each round:
 *
 *     yoke_run_create
 *     repeat: yoke_run_plan -> the application (or yoke_run_loop) works; yoke_run_begin and _end report the times that it took
 *     yoke_run_explain, yoke_run_record, yoke_run_destroy
 *
 * The simplest way is yoke_run_define and yoke_run_loop: yoke then launches, copies, waits and reports by itself.
 *
 * A run serves one thread at a time.  Its context outlives it, and no other thread may use that context during the lifetime of the run.
 */
#ifndef YOKE_RUN_H
#define YOKE_RUN_H

#include "yoke/balancer.h"
#include "yoke/core.h"
#include "yoke/device.h"
#include "yoke/meter.h"
#include "yoke/model.h"
#include "yoke/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_run yoke_run;

/* ------------------------------------------------------------------------------------------------ creating */

/*
 * An accelerator has memory of its own and runs kernels only.  A host runs functions of this program in its memory.  So an OpenCL device is
 * an accelerator even if it consists of this machine's cores.
 */
typedef enum yoke_run_use {
    YOKE_RUN_ANY, /* the best choice */
    YOKE_RUN_HOSTS,
    YOKE_RUN_ACCELERATORS,
    YOKE_RUN_BOTH /* hosts and accelerators both get units, whether that is best or not */
} yoke_run_use;

/* Powers of a device, stated by the user. */
typedef struct yoke_run_power {
    const char *device;    /* its name */
    double idle_w, busy_w; /* whole power at rest (>= 0) and at work (> 0, >= idle_w) */
    int removable;         /* nonzero: draws no power if it has no units */
} yoke_run_power;

/* All members may be zero: least time, all devices, no store. */
typedef struct yoke_run_options {
    /* Names separated by commas; NULL or "auto": all cores and each usable GPU once, or all devices of the simulated machine. */
    const char *devices;
    yoke_run_use use;
    yoke_objective objective;
    double deadline_s;          /* longest time of a round; 0: none */
    double max_slowdown;        /* longest time of a round as a multiple of the least time; 0: none, else at least 1 */
    double power_cap_w;         /* largest peak power; 0: none */
    const double *share;        /* fixed part of all units for the accelerators together, 0 to 1; NULL: the run chooses */
    yoke_balance_policy policy; /* of the balancer, if it decides (least time, one phase) */
    int64_t rounds;             /* expected total number of rounds; 0: not known */
    /*
     * File of the history of measurements; "": the file of this machine (docs/reference/store.md), if there is a place for it; NULL: none.
     */
    const char *store;
    /* Text that names the machine in the store; entries of other machines are not used; NULL: this machine's fingerprint. */
    const char *machine;
    const char *sysroot;  /* for meters and frequencies, as in yoke_meter_options */
    int keep_frequencies; /* nonzero: frequencies are not changed; zero: they are chosen for objectives other than least time */
    int no_meters;        /* nonzero: energy is not measured */
    int measure_all;      /* nonzero: yoke_run_calibrate measures powers and frequencies for every objective, as far as there are any */
    const char *declared; /* powers of the machine for an estimate of its energy, as in yoke_meter_options; may be NULL */
    const yoke_run_power *powers; /* of all devices that may work, which are then not measured; NULL: none are stated */
    int64_t num_powers;
    int measure_first; /* nonzero: stated powers are used only if the meters do not cover all devices that may work */
    /*
     * Nonzero: copies end before yoke_run_begin, so they are not part of rounds.  Copies that take longer than they save are still avoided.
     */
    int copies_apart;
    /* Base power of all other hardware, and host overhead (power of the host while only accelerators work); 0: none. */
    double base_w, host_overhead_w;
    /*
     * Above 0: seconds and energies of kernels are reported (yoke_run_mark), which may cost this fraction of the time, for example 0.01.
     * 0: they are not reported.
     */
    double profile;
    /* [num_known] texts of yoke_run_known with the knowledge of earlier runs, used for what the store does not have; NULL: none. */
    const char *const *known;
    /*
     * For each work on a device the first text counts that has it for this machine, device and kernel.  At most 64 texts of this machine
     * are read.
     */
    int64_t num_known;
} yoke_run_options;

/*
 * Opens devices, meters and frequencies.  Options and texts are copied.  A simulated machine must be read before (yoke_machine_read).  If
 * another process has locked the frequencies they are not changed, with a warning in the log.
 * Texts of `known` that yoke_run_known did not write are not used, with a warning in the log; those of another machine or version are not
 * used either.
 * Errors: ARGUMENT, INPUT (names, numbers: which one), UNAVAILABLE (a device is not usable; no device is left; the objective needs powers
 * that are not known: which device, and the remedy), DEVICE, MEMORY, SYSTEM.
 */
YOKE_API yoke_status yoke_run_create(yoke_context *context, const yoke_run_options *options, yoke_run **run);
/* Writes the store, if there is one (a failure is a warning in the log), restores frequencies and closes devices.  NULL is allowed. */
YOKE_API void yoke_run_destroy(yoke_run *run);

/* One device of a run, with its frequencies, meters and powers.  Texts and arrays are borrowed until the run is destroyed. */
typedef struct yoke_run_device {
    yoke_device *device;
    const yoke_device_info *info;
    int accelerator;              /* see yoke_run_use */
    int active;                   /* zero: it may get no units: the options exclude it, or it failed */
    const char *why;              /* why it is not active; "" if it is */
    const char *frequency_domain; /* name in yoke_frequencies; "": its frequency is not set */
    const char *why_no_frequency; /* why its frequency is not set; "" if it is */
    int64_t num_frequencies;      /* number of frequencies among which the run chooses */
    const double *frequencies_hz; /* ascending */
    const char *meters;           /* names separated by commas; "": no meter measures its energy */
    const char *why_no_meter;     /* why there is none; "" if there is one */
    double idle_w, dynamic_w;     /* at its present frequency: power at rest, and additional power at work; NaN: not known */
    /*
     * Nonzero: an accelerator (OpenCL on a processor) whose threads run on cores of the run's hosts.  Either it or these hosts rest, that
     * is, have no units (yoke_run_rests).  Zero if the options require both to work: use is YOKE_RUN_BOTH, or a share is given.
     */
    int shares_cores;
} yoke_run_device;

/* The devices, in the order of their ranges of units.  *devices is borrowed until the next call for this run.  Errors: ARGUMENT. */
YOKE_API yoke_status yoke_run_devices(yoke_run *run, const yoke_run_device **devices, int64_t *count);

/* -------------------------------------------------------------------------------------------------- rounds */

/*
 * Identifies the kernels of a kind of work by texts: their source, or the name of a compiled-in variant.  Entries of the store are kept
 * with the hash of these texts, and entries of other texts are not used.  Call it before the first plan or prediction with this work; a
 * work without this call has the empty text.
 * Errors: ARGUMENT (called after a plan or prediction), MEMORY.
 */
YOKE_API yoke_status yoke_run_work(yoke_run *run, const char *work, const char *const *texts, int64_t num_texts);

typedef struct yoke_cost {
    double time_s, energy_j, peak_power_w;           /* NaN: not known */
    double time_uncertainty_s, energy_uncertainty_j; /* half widths of 95 % intervals; NaN: not known */
} yoke_cost;

typedef enum yoke_run_decision {
    YOKE_RUN_FIXED,    /* by the options, or by the round */
    YOKE_RUN_STARTED,  /* some device was never measured with this work: every device gets some units */
    YOKE_RUN_EXPLORED, /* the round measures what is not known yet: times and powers at other frequencies, or the time of a device alone */
    YOKE_RUN_BALANCED, /* by the balancer: least time of one phase */
    YOKE_RUN_PLANNED,  /* the planner's best choice */
    YOKE_RUN_KEPT /* as in the previous round: the gain of the planner's best choice does not exceed the cost of moving units, or noise */
} yoke_run_decision;

/* Another choice that was compared: a device alone, a balanced share, another round. */
typedef struct yoke_run_alternative {
    const char *name, *note;    /* as in yoke_plan_choice */
    int feasible;               /* nonzero: keeps the limits */
    const int64_t *units;       /* [num_devices] of cut 0 */
    const double *frequency_hz; /* [num_devices]; NaN: not changed */
    double time_s, energy_j;    /* as in yoke_assignment.predicted */
} yoke_run_alternative;

/* The plan of a round.  Borrowed from the run until the next yoke_run_plan. */
typedef struct yoke_assignment {
    int64_t round; /* number of the chosen alternative */
    int64_t num_cuts, num_devices;
    const int64_t *const *first; /* [num_cuts][num_devices + 1]: device i has units first[cut][i] .. first[cut][i + 1] - 1 */
    /* As `first`, for the latest round with the same total numbers of units; NULL: there was none.  Units that differ have to be moved. */
    const int64_t *const *before;
    const double *frequency_hz; /* [num_devices] that were set; NaN: not changed */
    const double *predicted_s;  /* [num_devices] for one call of the first phase; NaN: not known, 0: no units */
    yoke_run_decision decision;
    yoke_cost predicted; /* of phases and copies; NaN: something was never measured */
    int feasible;        /* zero: a limit cannot be met, and this is the fastest choice (for a power cap, the choice of least power) */
    const char *binding; /* the limit that cannot be met: "deadline", "power-cap"; "" if there is none */
    double nearest;      /* the nearest value of that limit that can be met (s, W); NaN if there is none */
    int optimal;         /* nonzero: it is proved that no choice is better according to the models */
    double gap;          /* no choice is better by more than this part of the objective; NaN: not known */
    int64_t num_alternatives;
    const yoke_run_alternative *alternatives;
    const char *powers; /* source of the devices' powers: "measured", "simulated", "stored", "declared"; "": not all are known */
    int metered;        /* nonzero: there are meters */
    /* Set by yoke_run_end. */
    yoke_cost with_calls; /* predicted cost by the same models, for the actual numbers of calls */
    yoke_energy energy;   /* of the round, or the reason why there is no value */
} yoke_assignment;

/*
 * Decides the next round, sets frequencies, and predicts its cost.  rounds [count]: alternatives, of which the best is chosen.  A round
 * without units gives empty ranges.  Rounds are read until the following yoke_run_end.
 * Errors: ARGUMENT (rounds outside their contract: which number; a round has begun), UNAVAILABLE (no device is left), DEVICE_MEMORY (the
 * units do not fit the devices), those of setting frequencies, MEMORY.
 */
YOKE_API yoke_status yoke_run_plan(yoke_run *run, const yoke_round *rounds, int64_t count, const yoke_assignment **assignment);

/* The work of the planned round begins now: energy and time until yoke_run_end are measured. */
YOKE_API yoke_status yoke_run_begin(yoke_run *run);

/* Times of a round.  Numbers that are not known are NaN; a number that is not finite or not above 0 counts as not known. */
typedef struct yoke_run_report {
    const double *seconds;      /* [num_phases][num_devices] mean of one call; NULL: none is known */
    const double *calls;        /* [num_phases] actual numbers of calls; NULL: as planned */
    const double *moved_s;      /* [num_devices] time to copy moved units before the first call, 0 if there were none; NULL: not known */
    const int64_t *moved_units; /* [num_devices] units of cut 0 that were copied; NULL: those that the device did not have before */
    /*
     * Nonzero: part of the round was spent waiting for others, which the run does not know.  Then its length does not show how long
     * rounds take.
     */
    int waited;
    /*
     * For a round of one phase, without weights, in which devices continued with further units while others were tried.  units
     * [num_devices]: the units of the call whose time is in `seconds`.  busy_s [num_devices]: seconds at work in the whole round, 0 if a
     * device did nothing.  The length of such a round does not show how long rounds take either.  Both NULL: devices did what was planned.
     */
    const int64_t *units;
    const double *busy_s;
} yoke_run_report;

/*
 * Devices on the same cores do less together than the better one alone.  So if a device shares the cores of hosts (yoke_run_device), plans
 * leave out either this device or all hosts; a device that is left out rests.  The hosts rest if this device and they were measured with
 * all works of the round, and the device alone is faster by 2 % than all of them together; otherwise the device rests.  The limits of the
 * round are considered: nobody rests if the units fit only all devices together.  Phases that belong to a device that rests have no units
 * in such a plan.
 */
typedef struct yoke_run_rest {
    const char *why; /* why the device rests: a constant text; "": it may have units */
    /*
     * Above 0: the device rests because it was never measured, and the remaining work takes 30 s or more: a trial with this number of units
     * for it alone is worthwhile.  Else 0.
     */
    int64_t trial_units;
} yoke_run_rest;

/*
 * Reports which devices rest in a round of `units` (>= 0) units of one work.  The remaining work is taken to last as long as this round
 * on the hosts, times the number of rounds that remain according to the options; or as long again as all rounds so far.  rests:
 * [num_devices].
 * Errors: ARGUMENT, MEMORY.
 */
YOKE_API yoke_status yoke_run_rests(yoke_run *run, const char *work, int64_t units, yoke_run_rest *rests);

/*
 * Ends the round: updates models and powers.  measured (may be NULL): time from begin to end, and energy of all metered hardware.
 * Errors: ARGUMENT (no round has begun; units and busy_s outside their contract), MEMORY.
 */
YOKE_API yoke_status yoke_run_end(yoke_run *run, const yoke_run_report *report, yoke_cost *measured);

/*
 * Reports that a device failed: it gets no more units.  A round that has begun is abandoned; plan its units again (yoke_run_plan).
 * Errors: ARGUMENT (no such device), UNAVAILABLE (none is left; the text has the reason of each).
 */
YOKE_API yoke_status yoke_run_fail(yoke_run *run, int64_t device, const char *why);

/* -------------------------------------------------------------------------------------------------- kernels */

/*
 * Marks the following operations of this queue of the device as a call of `kernel`, a name of up to 47 bytes.  NULL: the following
 * operations belong to no kernel, as between calls.  Successive marks of the same kernel are one call.
 * Calls count in rounds (between yoke_run_begin and _end) of a run with the option `profile`; elsewhere the function does nothing.  Calls
 * of a round that is abandoned (yoke_run_fail) do not count.  If there are more than 63 names, the last ones are reported together as
 * "others".
 * Errors: ARGUMENT, MEMORY.  A failure of the device or a meter is no error here: yoke_run_profile_get reports why there is no energy.
 */
YOKE_API yoke_status yoke_run_mark(yoke_run *run, int64_t device, yoke_queue *queue, const char *kernel);

/* Times and energies of a kernel's calls on a device at a frequency. */
typedef struct yoke_run_profile {
    const char *kernel; /* NULL: everything between calls, as mean of the rounds */
    int64_t device;
    double frequency_hz;            /* NaN: it was not changed */
    double calls;                   /* number of calls in all rounds; kernel NULL: number of rounds */
    double call_s;                  /* mean of the timed calls; NaN: no call was timed */
    double energy_j, uncertainty_j; /* of a call: all that the device's meters measure from its start to its end; 95 %; NaN: not known */
    double dynamic_j;               /* the part of energy_j above the power between calls; NaN: the device is always at work */
    double part;                    /* energy_j of all calls over the energy of the machine in all rounds; NaN: not known */
    /*
     * Why there is no energy: no meter, a failed meter, other kernels right after this one, too few calls (how many are needed); "" if
     * there is.
     */
    const char *why_not;
} yoke_run_profile;

/* What is known so far, by devices, frequencies and kernels.  *rows is borrowed until the next call for this run.  Errors: ARGUMENT. */
YOKE_API yoke_status yoke_run_profile_get(yoke_run *run, const yoke_run_profile **rows, int64_t *count);

/* ----------------------------------------------------------------------------------------------- calibrating */

/*
 * Makes `calls` calls on `units` units on this device alone, waits, and writes the mean seconds of one call on the device's clock.  The
 * results of the calls are not used.  A status other than OK is returned to the caller; YOKE_ERROR_DEVICE and _DEVICE_MEMORY remove the
 * device.
 */
typedef yoke_status yoke_run_trial(void *user, int64_t device, int64_t units, int64_t calls, double *seconds);
/*
 * The same on all devices at once: units[i] on device i (0: none), seconds[i] of one call there.  *failed: the device to which an error
 * belongs.
 */
typedef yoke_status yoke_run_trial_together(void *user, const int64_t *units, int64_t calls, double *seconds, int64_t *failed);

typedef struct yoke_run_calibration {
    const char *work;             /* as in a phase */
    int64_t min_units, max_units; /* smallest and largest size of interest: 1 .. 10^15 */
    double call_s; /* > 0: a call of the largest size takes about this time, or it is max_units, which must fit; 0: max_units */
    int64_t sizes; /* largest number of sizes at the highest frequency, 2 to 12; 0: 12 */
    /*
     * Nonzero: adds to earlier measurements.  Powers are measured once, on simulated machines no longer than their meters need.  No sizes
     * are tested, and the accuracy is not known.
     */
    int brief;
    int64_t calls;   /* least number of calls of a trial; 0: 1 */
    double budget_s; /* approximate time of the trials on one device; 0: 5 s.  Powers take the time that the meters need */
    int64_t levels;  /* largest number of a device's frequencies that are measured, 3 to 16; 0: 5, and on a simulated machine all */
    yoke_run_trial *trial;
    yoke_run_trial_together *together; /* NULL: rounds show how much devices slow each other down */
    int copies;                        /* nonzero: copies to accelerators are measured as well */
    /*
     * Called before each measurement with a text about it, such as "4096 units"; device -1: all devices.  A status other than OK is
     * returned to the caller.  NULL: none.
     */
    yoke_status (*progress)(void *user, int64_t device, const char *what);
    void *user;       /* passed to the trials and to progress */
    yoke_run_use use; /* the devices that are measured: hosts, accelerators, or (any, both) all active devices */
    /*
     * Nonzero: the time of a size is the shortest of all its trials, and not their mean, because other activity of the machine only makes
     * trials longer.
     */
    int shortest;
    int but_resting; /* nonzero: a device that shares cores with hosts and rests with max_units of this work is not measured */
} yoke_run_calibration;

/* A power with the half width of its 95 % interval.  NaN: not known. */
typedef struct yoke_run_watts {
    double value_w, interval_w;
    yoke_energy_kind kind;
} yoke_run_watts;

/* Powers at a frequency that was measured. */
typedef struct yoke_run_level {
    double frequency_hz; /* NaN: not set */
    yoke_run_watts idle, busy;
    /* Additional power of all other hardware (memory, hosts) while this device works; 0: within its uncertainty. */
    yoke_run_watts others_more;
} yoke_run_level;

/* A size that was predicted before it was measured. */
typedef struct yoke_run_held_out {
    yoke_sample sample;
    double predicted_s, predicted_interval_s;
} yoke_run_held_out;

/* Measurements of one device.  Arrays are borrowed from the run until its next calibration. */
typedef struct yoke_run_accuracy {
    int64_t trials;                 /* calls of the trial function */
    double seconds;                 /* total time of the trials */
    double median_error, max_error; /* relative, of predictions at the test sizes, which were measured afterwards; NaN: there were none */
    /* Part of the test sizes at which prediction and measurement agree within their 95 % intervals; NaN: there were none. */
    double coverage;
    int64_t max_units;    /* the largest size */
    yoke_model_kind kind; /* of seconds at the highest frequency: constant or affine if accurate to 2 %, else piecewise */
    int64_t num_samples, num_held_out, num_levels;
    const yoke_sample *samples;        /* by units; samples taken while the other devices worked have `together` */
    const yoke_run_held_out *held_out; /* test sizes */
    const yoke_run_level *levels;      /* by frequency */
    double contention;                 /* speed while the others work over speed alone; NaN: not measured */
    /* Copies to the device.  copy_power_w: power of all meters above idle during a copy.  NaN: not measured. */
    double copy_start_s, copy_seconds_per_byte, copy_power_w;
    /* Power at rest of all meters that count: before devices were opened (measure_all), and afterwards. */
    yoke_run_watts all_idle_before, all_idle;
    /*
     * Fraction of the time in which another program had a core that an openmp device wanted, at the size with the largest fraction (of the
     * least disturbed trial, if the shortest counts).  Above 0 the times of this size are too long and should be measured again.  0: less
     * than a tenth, or the system does not report it.
     */
    double disturbed;
} yoke_run_accuracy;

/*
 * Measures a kind of work on each active device, or on those of `use`, one device at a time, so that plans need not explore.
 *
 * It measures seconds at several sizes, with more sizes where the speed differs from the interpolation between its neighbours.  If the run
 * sets frequencies or needs powers, it measures these at some frequencies too.  Earlier measurements of the work are dropped, unless the
 * calibration is brief.  A trial on the cores in which another program had one of them for more than a tenth of the time is repeated, up to
 * three times and for at most half of the time of all trials so far and 0.2 s; the least disturbed trial counts.
 *
 * accuracy: [num_devices], or NULL.
 * Errors: ARGUMENT (which member; a round has begun), NUMERIC (the trial's seconds are not above 0, or too short to be measured),
 * UNAVAILABLE (no device is left), those of the trial, of progress and of setting frequencies, MEMORY.
 */
YOKE_API yoke_status yoke_run_calibrate(yoke_run *run, const yoke_run_calibration *calibration, yoke_run_accuracy *accuracy);

/*
 * Predicts a call on `units` > 0 units of a work on one device from the measurements of the run and its store.  frequency_hz: one of the
 * device's frequencies (the nearest is taken); NaN: the highest.  together: nonzero: while other devices work.  prediction->inside is
 * nonzero if `units` lies between measured sizes.
 * Errors: ARGUMENT (no such device; units), UNAVAILABLE (the work was never measured on this device).
 */
YOKE_API yoke_status yoke_run_predict(yoke_run *run, const char *work, int64_t device, double units, double frequency_hz, int together,
                                      yoke_prediction *prediction);

/*
 * Writes a round as a model file (docs/reference/model-file.md): the problem that yoke_run_plan passes to the planner, with uncertainties.
 * round NULL: the problem of the latest plan exactly as it was passed to the planner, which has no uncertainties; this is possible only
 * between yoke_run_plan and yoke_run_end, which changes the models.  With a round, the power of all devices at rest is measured if powers
 * are needed and it is not known, as before a plan.
 * Errors: ARGUMENT (the round outside its contract; nothing is planned), UNAVAILABLE (a device that may work was never measured with a work
 * of the round; powers are needed and not known), INPUT (the file cannot be written), MEMORY.
 */
YOKE_API yoke_status yoke_run_write_model(yoke_run *run, const yoke_round *round, const char *path);

/* ---------------------------------------------------------------------------------------------------- loops */

typedef struct yoke_run_kernel yoke_run_kernel;

typedef enum yoke_run_access { YOKE_RUN_READ = 1, YOKE_RUN_WRITE = 2, YOKE_RUN_READ_WRITE = 3 } yoke_run_access;

/*
 * An array in host memory on which a kernel works.  Divided: unit i has bytes unit_bytes i .. unit_bytes (i + 1) - 1.  Whole: every device
 * gets the entire array.  An accelerator allocates the whole length in both cases, so that indices are the same everywhere.
 */
typedef struct yoke_run_array {
    void *memory;           /* borrowed until the run is destroyed */
    int64_t bytes;          /* size of the entire array */
    int64_t unit_bytes;     /* > 0: divided; 0: whole, which can only be read */
    yoke_run_access access; /* in a divided array a unit writes its own bytes only */
    int keep;               /* nonzero: stays on the devices between loops, and only moved units are copied; see yoke_run_sync */
} yoke_run_array;

/*
 * Works on units first .. last - 1 in host memory; called on a thread of an OpenMP device: parallel regions in it use the device's cores.
 */
typedef void yoke_run_host_function(int64_t first, int64_t last, void *const *arrays, void *user);

enum { YOKE_RUN_MAX_ARRAYS = 32 };

/*
 * A kernel has a source in the dialect (yoke/dialect.h), a host function, or both, which must compute the same: hosts call the function,
 * accelerators run the source.  Devices that can do neither get no units.
 * The source's parameters are: yoke_long first, yoke_long last, then one pointer for each array in their order, then those of
 * yoke_run_loop.
 */
typedef struct yoke_run_definition {
    const char *work;                  /* the kind of work, which is the key of its models */
    const yoke_program_source *source; /* NULL: none; copied */
    const char *function;              /* name of the kernel in the source */
    yoke_run_host_function *host;      /* NULL: none */
    void *user;                        /* passed to host */
    int64_t num_arrays;                /* at most YOKE_RUN_MAX_ARRAYS */
    const yoke_run_array *arrays;
    int64_t items_per_unit; /* items of a launch for each unit; 0: 1 */
    int64_t group_size;     /* 0: 64 */
} yoke_run_definition;

/*
 * Compiles the kernel for every device and allocates memory for its arrays there.  For an accelerator on cores of hosts (shares_cores) this
 * happens when it first gets units, in a loop.  A device on which this fails is removed, with a warning in the log.  The kernel belongs to
 * the run.
 * Errors: ARGUMENT, INPUT (the source does not compile anywhere), UNAVAILABLE (no device is left), MEMORY.
 */
YOKE_API yoke_status yoke_run_define(yoke_run *run, const yoke_run_definition *definition, yoke_run_kernel **kernel);

/*
 * Works on units 0 .. n - 1, on all devices at once, and waits.  Afterwards results are in host memory, except those of kept arrays.
 *
 * Work that was never measured on a device is first tried on part of the units, while the other devices continue.  A device that shares the
 * cores of hosts is tried only as yoke_run_rests says.  A device that fails is removed, and the others do its units.
 *
 * arguments: values of the kernel's last parameters (no buffers); hosts with a function do not receive them.
 * Errors: ARGUMENT (n negative, or more than an array holds), UNAVAILABLE (no device is left), DEVICE (a device failed, and no other device
 * had its results of a kept array), MEMORY.  After an error, written arrays hold old and new values.
 */
YOKE_API yoke_status yoke_run_loop(yoke_run *run, yoke_run_kernel *kernel, int64_t n, const yoke_argument *arguments,
                                   int64_t num_arguments);

/* Copies kept arrays to host memory.  Changes that the host then makes there are visible to the next loop.  Errors: DEVICE. */
YOKE_API yoke_status yoke_run_sync(yoke_run *run, yoke_run_kernel *kernel);

/* ----------------------------------------------------------------------------------------------- explaining */

/*
 * A few lines of text: the latest decision with its reason, predicted and measured values, and what is not known.  *text is freed with
 * yoke_release.
 * Errors: MEMORY.
 */
YOKE_API yoke_status yoke_run_explain(yoke_run *run, char **text);
/* The latest round as JSON (docs/reference/run-record.md, "A run of the library").  *text is freed with yoke_release.  Errors: MEMORY. */
YOKE_API yoke_status yoke_run_record(yoke_run *run, char **text);
/*
 * Writes to the store what the run has learned since the last time.  Entries that other runs and programs have written since then stay,
 * except those for the same works on the same devices.  *path: that file, borrowed until the run is destroyed; path may be NULL.  A call
 * before long measurements shows whether they can be stored.
 * Errors: ARGUMENT (there is no store), INPUT (the file is no longer a store), SYSTEM (it cannot be written, or another program has been
 * writing it for a long time), MEMORY.
 */
YOKE_API yoke_status yoke_run_save(yoke_run *run, const char **path);

/*
 * Writes to *text all that the run knows of works on its devices, in the format of a store, for options.known of a later run.  The run
 * needs no store.  *text is freed with yoke_release.
 * Errors: ARGUMENT, MEMORY.
 */
YOKE_API yoke_status yoke_run_known(yoke_run *run, char **text);

#ifdef __cplusplus
}
#endif

#endif
