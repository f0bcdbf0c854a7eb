/*
 * run.h - door 3: measure, model, plan and run as one object.  Part of yoke.h.
 *
 * An application says what its work is (a round of phases, yoke/plan.h); a run opens devices, meters and frequencies, decides which device gets which
 * units and at which frequency, and updates its models from the measurements of each round:
 *
 *     yoke_run_create
 *     repeat: yoke_run_plan -> the application (or yoke_run_loop) works; yoke_run_begin and _end report what it took
 *     yoke_run_explain, yoke_run_record, yoke_run_destroy
 *
 * The simple way is yoke_run_define and yoke_run_loop: yoke then launches, copies, waits and reports by itself.
 *
 * A run serves one thread at a time.  Its context outlives it, and no other thread may use that context meanwhile.
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
 * An accelerator has memory of its own and runs kernels only.  A host runs functions of this program in its memory.  So an OpenCL device is an accelerator
 * even where it consists of this machine's cores.
 */
typedef enum yoke_run_use {
    YOKE_RUN_ANY, /* whatever is best */
    YOKE_RUN_HOSTS,
    YOKE_RUN_ACCELERATORS,
    YOKE_RUN_BOTH /* hosts and accelerators both get units, whether that is best or not */
} yoke_run_use;

/* Powers of a device, stated by the user. */
typedef struct yoke_run_power {
    const char *device;    /* its name */
    double idle_w, busy_w; /* whole power at rest (>= 0) and at work (> 0, >= idle_w) */
    int removable;         /* nonzero: draws nothing where it has no units */
} yoke_run_power;

/* All members may be zero: least time, all devices, no store. */
typedef struct yoke_run_options {
    const char
        *devices; /* names with commas between them; NULL or "auto": all cores and each usable GPU once, or all of the simulated machine */
    yoke_run_use use;
    yoke_objective objective;
    double deadline_s;          /* of a round, at most; 0: none */
    double max_slowdown;        /* of a round, times the least time; 0: none, else at least 1 */
    double power_cap_w;         /* peak power at most; 0: none */
    const double *share;        /* fixed part of all units for the accelerators together, 0 to 1; NULL: chosen */
    yoke_balance_policy policy; /* of the balancer, where it decides (least time, one phase) */
    int64_t rounds;             /* likely in all; 0: not known */
    const char
        *store; /* file of the history of measurements; "": this machine's (docs/reference/store.md), if there is a place; NULL: none */
    const char *machine;  /* text that names the machine in the store; entries of another are not used; NULL: this machine's fingerprint */
    const char *sysroot;  /* of meters and frequencies, as in yoke_meter_options */
    int keep_frequencies; /* nonzero: they stay as they are; zero: they are chosen for objectives other than least time */
    int no_meters;        /* nonzero: energy is not measured */
    int measure_all;      /* nonzero: yoke_run_calibrate measures powers and frequencies whatever the objective, as far as there are any */
    const char *declared; /* powers of the machine for an estimate of its energy, as in yoke_meter_options; may be NULL */
    const yoke_run_power *powers; /* of all devices that may work; then they are not measured; NULL: none are stated */
    int64_t num_powers;
    int measure_first; /* nonzero: stated powers are used only where meters do not cover all devices that may work */
    int copies_apart; /* nonzero: copies end before yoke_run_begin, so they are not part of rounds; copies that take longer than they save are still avoided */
    double base_w,
        host_overhead_w; /* base power of all else, and host overhead (power of the host while only accelerators work); 0: none */
    double
        profile; /* > 0: seconds and energies of kernels are told (yoke_run_mark), which may cost this part of the time: 0.01; 0: they are not */
    const char *const
        *known; /* [num_known] texts of yoke_run_known: what earlier runs knew; used where the store has nothing; NULL: none */
    int64_t
        num_known; /* the first text counts that has a work on a device, for this machine, device and kernel; of this machine at most 64 are looked at */
} yoke_run_options;

/*
 * Opens devices, meters and frequencies.  Options and texts are copied.  A simulated machine is read before (yoke_machine_read).  Where another process
 * has locked the frequencies they stay as they are, with a warning in the log.
 * Texts of `known` that are none of yoke_run_known are not used, with a warning in the log; those of another machine or version are not used.
 * Errors: ARGUMENT, INPUT (names, numbers; which), UNAVAILABLE (a device is not usable; no device is left; the objective needs powers that are not known:
 * which device, what to do), DEVICE, MEMORY, SYSTEM.
 */
YOKE_API yoke_status yoke_run_create(yoke_context *context, const yoke_run_options *options, yoke_run **run);
/* Writes the store, where there is one (a failure is a warning in the log), restores frequencies and closes devices.  Takes NULL. */
YOKE_API void yoke_run_destroy(yoke_run *run);

/* One device of a run, and what belongs to it.  Texts and arrays are borrowed until the run is destroyed. */
typedef struct yoke_run_device {
    yoke_device *device;
    const yoke_device_info *info;
    int accelerator;              /* see yoke_run_use */
    int active;                   /* zero: it may get no units: the options exclude it, or it failed */
    const char *why;              /* it is not active; "" */
    const char *frequency_domain; /* name in yoke_frequencies; "": its frequency is not set */
    const char *why_no_frequency; /* "" */
    int64_t num_frequencies;      /* among which is chosen */
    const double *frequencies_hz; /* ascending */
    const char *meters;           /* names with commas between them; "": none measures its energy */
    const char *why_no_meter;     /* "" */
    double idle_w, dynamic_w;     /* at its present frequency: at rest, and in addition at work; NaN: not known */
    /*
     * An accelerator (OpenCL on a processor) with threads on cores of the run's hosts.  It rests, or these do (yoke_run_rests).  Zero where the options have both
     * work: use is YOKE_RUN_BOTH, or a share is given.
     */
    int shares_cores;
} yoke_run_device;

/* The devices, in the order of their ranges.  *devices is borrowed until the next call for this run.  Errors: ARGUMENT. */
YOKE_API yoke_status yoke_run_devices(yoke_run *run, const yoke_run_device **devices, int64_t *count);

/* -------------------------------------------------------------------------------------------------- rounds */

/*
 * Says what the kernels of a kind of work are: text of their source, name of a compiled-in variant.  Entries of the store are kept with its hash, and those
 * of another text are not used.  Before the first plan or prediction with this work; work without it has the empty text.  Errors: ARGUMENT (after one), MEMORY.
 */
YOKE_API yoke_status yoke_run_work(yoke_run *run, const char *work, const char *const *texts, int64_t num_texts);

typedef struct yoke_cost {
    double time_s, energy_j, peak_power_w;           /* NaN: not known */
    double time_uncertainty_s, energy_uncertainty_j; /* half widths of 95 % intervals; NaN: not known */
} yoke_cost;

typedef enum yoke_run_decision {
    YOKE_RUN_FIXED,    /* by the options, or by the round */
    YOKE_RUN_STARTED,  /* some device was never measured with this work: every device gets some units */
    YOKE_RUN_EXPLORED, /* measures what is not known yet: times and powers at other frequencies, or what a device takes alone */
    YOKE_RUN_BALANCED, /* by the balancer: least time of one phase */
    YOKE_RUN_PLANNED,  /* the planner's best */
    YOKE_RUN_KEPT      /* as in the round before: the planner's best is not better by more than moving costs, or than noise */
} yoke_run_decision;

/* Another choice that was compared: a device alone, a balanced share, another round. */
typedef struct yoke_run_alternative {
    const char *name, *note;    /* as in yoke_plan_choice */
    int feasible;               /* keeps the limits */
    const int64_t *units;       /* [num_devices] of cut 0 */
    const double *frequency_hz; /* [num_devices] NaN: left as it is */
    double time_s, energy_j;    /* as in yoke_assignment.predicted */
} yoke_run_alternative;

/* Borrowed from the run until the next yoke_run_plan. */
typedef struct yoke_assignment {
    int64_t round; /* which of the alternatives */
    int64_t num_cuts, num_devices;
    const int64_t *const *first; /* [num_cuts][num_devices + 1]: device i has units first[cut][i] .. first[cut][i + 1] - 1 */
    const int64_t *const
        *before; /* the same of the latest round with these totals; NULL: there was none.  Units that differ have to be moved */
    const double *frequency_hz; /* [num_devices] that were set; NaN: left as they are */
    const double *predicted_s;  /* [num_devices] of one call of the first phase; NaN: not known, 0: no units */
    yoke_run_decision decision;
    yoke_cost predicted; /* of phases and copies.  NaN: something was never measured */
    int feasible;        /* zero: a limit cannot be met, and this is the fastest (or, of a power cap, the one of least power) */
    const char *binding; /* which limit: "deadline", "power-cap"; "" */
    double nearest;      /* the nearest value of that limit that could be met (s, W); NaN */
    int optimal;         /* nonzero: proved that no choice is better by the models */
    double gap;          /* no choice is better by more than this part of the objective; NaN: not known */
    int64_t num_alternatives;
    const yoke_run_alternative *alternatives;
    const char *powers; /* source of the devices' powers: "measured", "simulated", "stored", "declared"; "": not all are known */
    int metered;        /* nonzero: there are meters */
    /* After yoke_run_end. */
    yoke_cost with_calls; /* as predicted, by the same models, with the calls that there were */
    yoke_energy energy;   /* of the round, and why there is no value */
} yoke_assignment;

/*
 * Decides the next round, sets frequencies, and predicts its cost. rounds: alternatives, of which the best is taken.  A round with no units gives empty
 * ranges.  Rounds are read until the following yoke_run_end.
 * Errors: ARGUMENT (rounds outside their contract: which number; a round has begun), UNAVAILABLE (no device is left), DEVICE_MEMORY (the units do not fit
 * the devices), those of setting frequencies, MEMORY.
 */
YOKE_API yoke_status yoke_run_plan(yoke_run *run, const yoke_round *rounds, int64_t count, const yoke_assignment **assignment);

/* The work of the planned round begins now: energy and time until yoke_run_end are measured. */
YOKE_API yoke_status yoke_run_begin(yoke_run *run);

/* What a round took.  Numbers that are not known are NaN, and what is not finite or not above 0 counts as not known. */
typedef struct yoke_run_report {
    const double *seconds;      /* [num_phases][num_devices] of one call, mean; NULL: none is known */
    const double *calls;        /* [num_phases] that there were; NULL: as planned */
    const double *moved_s;      /* [num_devices] of copies of moved units before the first call, 0 where there were none; NULL: not known */
    const int64_t *moved_units; /* [num_devices] of cut 0 that were copied so; NULL: those that the device did not have before */
    int waited; /* nonzero: part of the round was waiting for others, whom the run does not know: its length tells nothing of what rounds take */
    /*
     * Of a round of one phase, without weights, in which devices went on with further units while others were tried: [num_devices] units of the call that `seconds`
     * tells, and seconds at work in the whole round, 0 where a device did nothing.  The length of such a round tells nothing of what rounds take, either.  Both NULL:
     * devices did what was planned.
     */
    const int64_t *units;
    const double *busy_s;
} yoke_run_report;

/*
 * Devices on the same cores do less together than the better one alone.  So where a device shares the cores of hosts (yoke_run_device), plans leave out either it or
 * all hosts: the hosts, where both were measured with all works of the round, and it is faster than all of these together, alone, by 2 %; else it.  Limits of
 * the round count: nobody rests where the units fit only all devices.  Phases that belong to a device that rests have no units in such a plan.
 */
typedef struct yoke_run_rest {
    const char *why; /* it rests: a constant text; "": it may have units */
    int64_t
        trial_units; /* it rests as it was never measured, and what is left takes 30 s or more: so many units for it alone are worth trying; else 0 */
} yoke_run_rest;

/*
 * Who rests in a round of so many units (>= 0) of one work.  What is left takes as long as this round on the hosts, times the rounds that the options say are left;
 * or as long again as all rounds so far.  rests: [num_devices].
 * Errors: ARGUMENT, MEMORY.
 */
YOKE_API yoke_status yoke_run_rests(yoke_run *run, const char *work, int64_t units, yoke_run_rest *rests);

/*
 * The round has ended: updates models and powers. measured (may be NULL): time from begin to end, and energy of all that is metered.  Errors:
 * ARGUMENT (nothing has begun; units and busy_s outside their contract), MEMORY.
 */
YOKE_API yoke_status yoke_run_end(yoke_run *run, const yoke_run_report *report, yoke_cost *measured);

/*
 * A device failed: it gets no more units.  A round that has begun is abandoned; plan its units again (yoke_run_plan).
 * Errors: ARGUMENT (no such device), UNAVAILABLE (none is left; the text has the reason of each).
 */
YOKE_API yoke_status yoke_run_fail(yoke_run *run, int64_t device, const char *why);

/* -------------------------------------------------------------------------------------------------- kernels */

/*
 * From here on what is started in this queue of the device is a call of `kernel`, a name of up to 47 bytes; NULL: nothing that is told apart, as between
 * calls.  What follows itself is one call.  It counts in rounds (between yoke_run_begin and _end) of a run with the option `profile`, and does nothing
 * elsewhere; of a round that is abandoned (yoke_run_fail) nothing counts.  Of more than 63 names the last ones are told together,
 * as "others".
 * Errors: ARGUMENT, MEMORY.  What the device or a meter fails in is no error here: yoke_run_profile_get says why there is no energy.
 */
YOKE_API yoke_status yoke_run_mark(yoke_run *run, int64_t device, yoke_queue *queue, const char *kernel);

/* What calls of a kernel took on a device at a frequency. */
typedef struct yoke_run_profile {
    const char *kernel; /* NULL: all that is between calls, in a round on the average */
    int64_t device;
    double frequency_hz;            /* NaN: it was left as it is */
    double calls;                   /* that there were in all rounds; kernel NULL: rounds */
    double call_s;                  /* mean of the calls that were timed; NaN: none was */
    double energy_j, uncertainty_j; /* of a call: all that the device's meters show from its begin to its end; 95 %.  NaN: not known */
    double dynamic_j;               /* of energy_j, what is more than the device draws between calls; NaN: it is always at work */
    double part;                    /* energy_j of all calls over the energy of the machine in all rounds; NaN: not known */
    const char
        *why_not; /* there is no energy: no meter, a failed one, other kernels behind it, too few calls (how many it would take); "" */
} yoke_run_profile;

/* By devices, frequencies and kernels: what is known so far.  *rows is borrowed until the next call for this run.  Errors: ARGUMENT. */
YOKE_API yoke_status yoke_run_profile_get(yoke_run *run, const yoke_run_profile **rows, int64_t *count);

/* ----------------------------------------------------------------------------------------------- calibrating */

/*
 * Works `calls` times on `units` units on this device alone, waits, and writes the seconds of one call (mean), on the device's clock.  Its results are not
 * used.  Its status is passed on; YOKE_ERROR_DEVICE and _DEVICE_MEMORY remove the device.
 */
typedef yoke_status yoke_run_trial(void *user, int64_t device, int64_t units, int64_t calls, double *seconds);
/*
 * The same on all devices at once: units[i] on device i (0: none), seconds[i] of one call there.  *failed: the device that an error is of.
 */
typedef yoke_status yoke_run_trial_together(void *user, const int64_t *units, int64_t calls, double *seconds, int64_t *failed);

typedef struct yoke_run_calibration {
    const char *work;             /* as in a phase */
    int64_t min_units, max_units; /* sizes that matter: 1 .. 10^15 */
    double call_s;                /* > 0: the largest size is a call of about this time, or max_units, which must fit; 0: max_units */
    int64_t sizes;                /* at the highest frequency, 2 to 12 at most; 0: 12 */
    /*
     * Nonzero: adds to what is known.  Powers are measured once, on simulated machines no longer than their meters need.  No sizes are tested, and the
     * accuracy is not known.
     */
    int brief;
    int64_t calls;   /* of a trial, at least; 0: 1 */
    double budget_s; /* of trials on one device, about; 0: 5 s.  Powers take what meters need */
    int64_t levels;  /* frequencies of a device that are measured, 3 to 16 at most; 0: 5, of a simulated machine all */
    yoke_run_trial *trial;
    yoke_run_trial_together *together; /* NULL: rounds show what devices lose beside each other */
    int copies;                        /* nonzero: copies to accelerators are measured as well */
    /* Called before each measurement with a text about it, such as "4096 units"; device -1: all.  Its status is passed on.  NULL: none. */
    yoke_status (*progress)(void *user, int64_t device, const char *what);
    void *user;       /* of trials and progress */
    yoke_run_use use; /* the devices that are measured: hosts, accelerators, or (any, both) all active ones */
    /*
     * Nonzero: a trial tells the shortest time of all trials of a size, as what else the machine does only makes them longer: of a size the least of them
     * counts, and not their mean.
     */
    int shortest;
    int but_resting; /* nonzero: a device that rests beside hosts on the same cores (yoke_run_rests) with max_units of this work is not measured */
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
    yoke_run_watts others_more; /* additional power of all else (memory, hosts) while this device works; 0: within its uncertainty */
} yoke_run_level;

/* A size that was predicted before it was measured. */
typedef struct yoke_run_held_out {
    yoke_sample sample;
    double predicted_s, predicted_interval_s;
} yoke_run_held_out;

/* What was measured of one device.  Arrays are borrowed from the run until its next calibration. */
typedef struct yoke_run_accuracy {
    int64_t trials;                 /* calls of the trial function */
    double seconds;                 /* that they took */
    double median_error, max_error; /* relative, of predictions at the test sizes, which were measured afterwards; NaN: there were none */
    double coverage;      /* part of them where prediction and measurement agree within their 95 % intervals; NaN: there were none */
    int64_t max_units;    /* the largest size */
    yoke_model_kind kind; /* of seconds at the highest frequency: constant and affine to 2 %, else piecewise */
    int64_t num_samples, num_held_out, num_levels;
    const yoke_sample *samples;        /* by units; those taken beside the other devices have `together` */
    const yoke_run_held_out *held_out; /* test sizes */
    const yoke_run_level *levels;      /* by frequency */
    double contention;                 /* speed beside the others over speed alone; NaN: not measured */
    double copy_start_s, copy_seconds_per_byte,
        copy_power_w; /* to the device; copy_power_w: of all meters above idle while it copies.  NaN: not measured */
    yoke_run_watts all_idle_before,
        all_idle; /* of all meters that count, at rest: before devices were opened (measure_all), and after it */
    /*
     * Part of the time in which another program had a core that an openmp device wanted, of the size where that was most (of the least disturbed trial, where
     * the shortest counts): its times are too long, and should be measured again.  0: less than a tenth, or the system does not tell.
     */
    double disturbed;
} yoke_run_accuracy;

/*
 * Measures a kind of work on each active device, or those of `use`, alone, so that plans need not explore.  It measures seconds at several sizes, more of them where the speed
 * differs from that between their neighbours.  Where the run sets frequencies or needs powers, it measures these at some frequencies too.  Earlier
 * measurements of the work are dropped, unless it is brief.  On the cores a trial in which another program had one of them for more than a tenth of the
 * time is repeated, up to three times and for at most half of the time of all trials so far and 0.2 s; the least disturbed one counts.
 * accuracy: [num_devices], or NULL.
 * Errors: ARGUMENT (which member; a round has begun), NUMERIC (the trial's seconds are no number above 0, or too short to be measured), UNAVAILABLE (no
 * device is left), those of the trial, of progress and of setting frequencies, MEMORY.
 */
YOKE_API yoke_status yoke_run_calibrate(yoke_run *run, const yoke_run_calibration *calibration, yoke_run_accuracy *accuracy);

/*
 * What the run, and its store, know of a call on `units` > 0 units of a work on one device.  frequency_hz: one of its frequencies (the nearest is taken),
 * NaN: the highest;
 * together: while other devices work.  inside: nonzero where it lies between sizes that were measured.
 * Errors: ARGUMENT (no such device; units), UNAVAILABLE (the work was never measured there).
 */
YOKE_API yoke_status yoke_run_predict(yoke_run *run, const char *work, int64_t device, double units, double frequency_hz, int together,
                                      yoke_prediction *prediction);

/*
 * Writes a round as a model file (docs/reference/model-file.md): the problem that yoke_run_plan gives the planner, with uncertainties. round NULL: the
 * problem of the latest plan exactly as the planner got it, which has no uncertainties; only between yoke_run_plan and yoke_run_end, which changes the
 * models.  With a round, what all draw at rest is measured where powers are needed and that is not known, as before a plan.
 * Errors: ARGUMENT (the round outside its contract; nothing is planned), UNAVAILABLE (a device that may work was never measured with a work of the round;
 * powers are needed and not known), INPUT (the file cannot be written), MEMORY.
 */
YOKE_API yoke_status yoke_run_write_model(yoke_run *run, const yoke_round *round, const char *path);

/* ---------------------------------------------------------------------------------------------------- loops */

typedef struct yoke_run_kernel yoke_run_kernel;

typedef enum yoke_run_access { YOKE_RUN_READ = 1, YOKE_RUN_WRITE = 2, YOKE_RUN_READ_WRITE = 3 } yoke_run_access;

/*
 * An array in host memory that a kernel works on.  Divided: unit i has bytes unit_bytes i .. unit_bytes (i + 1) - 1.  Whole: every device gets all of it.
 * On an accelerator an array has its whole length too, so that indices are the same everywhere.
 */
typedef struct yoke_run_array {
    void *memory;           /* borrowed until the run is destroyed */
    int64_t bytes;          /* of all of it */
    int64_t unit_bytes;     /* > 0: divided; 0: whole, which can only be read */
    yoke_run_access access; /* of a divided array a unit writes its own bytes only */
    int keep;               /* nonzero: stays on the devices between loops, and only moved units are copied; see yoke_run_sync */
} yoke_run_array;

/* Units first .. last - 1 in host memory; called on a thread of an OpenMP device: parallel regions in it use the device's cores. */
typedef void yoke_run_host_function(int64_t first, int64_t last, void *const *arrays, void *user);

enum { YOKE_RUN_MAX_ARRAYS = 32 };

/*
 * A kernel has a source in the dialect (yoke/dialect.h), a host function, or both, which must do the same: hosts take the function, accelerators the
 * source.  Devices that can do neither get no units.
 * The source's parameters are: yoke_long first, yoke_long last, then one pointer for each array in their order, then those of yoke_run_loop.
 */
typedef struct yoke_run_definition {
    const char *work;                  /* what a unit is: the key of its models */
    const yoke_program_source *source; /* NULL: none; copied */
    const char *function;              /* name of the kernel in it */
    yoke_run_host_function *host;      /* NULL: none */
    void *user;                        /* passed to host */
    int64_t num_arrays;                /* at most YOKE_RUN_MAX_ARRAYS */
    const yoke_run_array *arrays;
    int64_t items_per_unit; /* items of a launch for each unit; 0: 1 */
    int64_t group_size;     /* 0: 64 */
} yoke_run_definition;

/*
 * Compiles the kernel for every device and makes memory for its arrays there; for an accelerator on cores of hosts (shares_cores) when it first gets units, in a loop.  A device that
 * cannot is removed with a warning in the log.  The kernel belongs to the run.  Errors: ARGUMENT, INPUT (the source does not compile anywhere), UNAVAILABLE (no device is left), MEMORY.
 */
YOKE_API yoke_status yoke_run_define(yoke_run *run, const yoke_run_definition *definition, yoke_run_kernel **kernel);

/*
 * Works on units 0 .. n - 1, on all devices at once, and waits.  Results are in host memory afterwards, except those of kept arrays.  Work that was never
 * measured on a device is tried with a part of the units first, while the others go on; on one that shares the cores of hosts only as yoke_run_rests says.
 * arguments: values of the kernel's last parameters (no buffers); hosts with a function do not get them.
 * A device that fails is removed, and the others do its units.
 * Errors: ARGUMENT (n negative, or more than an array holds), UNAVAILABLE (no device is left), DEVICE (a device failed, and no other one had its results
 * of a kept array), MEMORY.  After an error written arrays hold old and new values.
 */
YOKE_API yoke_status yoke_run_loop(yoke_run *run, yoke_run_kernel *kernel, int64_t n, const yoke_argument *arguments,
                                   int64_t num_arguments);

/* Copies kept arrays to host memory.  The next loop sees what the host changes there.  Errors: DEVICE. */
YOKE_API yoke_status yoke_run_sync(yoke_run *run, yoke_run_kernel *kernel);

/* ----------------------------------------------------------------------------------------------- explaining */

/*
 * A few lines: the latest decision with its reason, predicted and measured values, and what is not known.  *text is given back with yoke_release.
 * Errors: MEMORY.
 */
YOKE_API yoke_status yoke_run_explain(yoke_run *run, char **text);
/* The latest round as JSON (docs/reference/run-record.md, "A run of the library").  *text is given back with yoke_release.  Errors: MEMORY. */
YOKE_API yoke_status yoke_run_record(yoke_run *run, char **text);
/*
 * Writes what was learned since the last time to the store.  What other runs and programs have written to it meanwhile stays, but for the same works on the
 * same devices.  *path: that file, borrowed until the run is destroyed; path may be NULL.  Before long measurements it tells whether they can be kept.
 * Errors: ARGUMENT (there is none), INPUT (the file is no store any more), SYSTEM (it cannot be written, or another program has been writing it for long),
 * MEMORY.
 */
YOKE_API yoke_status yoke_run_save(yoke_run *run, const char **path);

/*
 * *text is all that the run knows of works on its devices, as the text of a store, for options.known of a later run; it needs no store.  It is given back
 * with yoke_release.
 * Errors: ARGUMENT, MEMORY.
 */
YOKE_API yoke_status yoke_run_known(yoke_run *run, char **text);

#ifdef __cplusplus
}
#endif

#endif
