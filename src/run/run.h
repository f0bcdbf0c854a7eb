/*
 * run.h - the data of a run, and declarations that its files share.
 *
 *   create.c    opening and closing             options.c  names of devices, checks
 *   round.c     planning    report.c   begin, end, fail    kernel.c, arrays.c, launch.c, trial.c, loop.c   the simple interface
 *   profile*.c  energy of kernels               record.c, explain.c   reports
 *
 *   machine/    devices, their meters and frequencies, real and simulated; which of them belong together; the store's file
 *   learn/      works.c kinds of work, with balancers and store   seconds.c models of seconds   accuracy.c the uncertainty of these
 *               relation.c relations of seconds alone to those while others work, and of one frequency to another
 *               powers.c idle and dynamic powers   stored_powers.c those of the store
 *               others.c power of all other hardware   overhead.c time in addition to phases
 *   decide/     problem.c a round as a problem of the planner   cost.c its cost   decide.c, search.c units and frequencies of a round
 *               alone.c one device instead of all   cores.c which of the devices on the same cores work
 *               predict.c predictions, for one call or as a model file
 *   calibrate/  measurements before the first round
 */
#ifndef YOKE_RUN_RUN_H
#define YOKE_RUN_RUN_H

#include "balance/model.h"
#include "base/core_time.h"
#include "model/store/store.h"
#include "run/machine/match.h"
#include "yoke/yoke.h"

enum {
    RUN_MAX_DEVICES = YOKE_BALANCER_MAX_DEVICES,
    RUN_MAX_LEVELS = 16, /* a domain with more frequencies, or a continuous one, uses this number, evenly spread, with both ends */
    RUN_MAX_STORED = 64, /* frequencies of a device whose powers the store keeps */
    RUN_MAX_METERS = 64,
    RUN_MAX_KNOWN = 64, /* texts of earlier runs on this machine that are read */
    RUN_MAX_CUTS = YOKE_PLAN_MAX_CUTS,
    RUN_MAX_PHASES = YOKE_PLAN_MAX_PHASES,
    RUN_MAX_ALTERNATIVES = 24,
    RUN_PAIRS = 8,
    RUN_TOLD = 16,
    RUN_MAX_TRIES = 3 /* rounds that were to measure something and failed to, after which no more rounds are spent on it */
};

/* The largest number of units of a round that plans accept. */
#define RUN_MAX_UNITS INT64_C(1000000000000000)
/* Trials that lose a larger part of their time to other programs are disturbed. */
#define RUN_DISTURBED 0.1

/* Measured powers of a device at a frequency. */
typedef struct run_level_power {
    double idle_w, idle_uncertainty_w;   /* NaN: not known */
    double above_j, busy_s, uncertain_j; /* sums over rounds: joules above idle, seconds at work, their uncertainty */
    int tries;                           /* number of rounds that were to measure them and could not */
} run_level_power;

/*
 * Power in addition to that of the devices' meters: memory_w while a host works, and a host overhead while only accelerators work, at
 * each level of the first host.  Both are fitted by least squares over rounds.
 */
typedef struct run_others {
    double memory_w, hosts_squares, hosts_j;
    double overhead_w[RUN_MAX_LEVELS]; /* at the measured levels, or at all if none was measured */
    double waits_squares[RUN_MAX_LEVELS], products[RUN_MAX_LEVELS], waits_j[RUN_MAX_LEVELS], uncertain_squares[RUN_MAX_LEVELS];
} run_others;

typedef struct run_device {
    yoke_device *device;
    const yoke_device_info *info;
    yoke_queue *queue;    /* of loops; NULL before the first kernel */
    yoke_event *marks[3]; /* of loops: begin, copied, end */
    int accelerator;
    int shares_cores; /* as in yoke_run_device */
    int excluded;     /* by the options */
    int failed;
    char why[RUN_WHY_BYTES]; /* why it is excluded, or failed */
    char domain[64];         /* frequency domain; "" if none */
    char why_no_frequency[RUN_WHY_BYTES];
    int num_levels; /* at least 1; one level of NaN if the frequency is not set */
    double hz[RUN_MAX_LEVELS];
    int level;        /* present level, if it was set; the highest before */
    int explorations; /* number of rounds that were to measure one of its frequencies */
    int is_set;       /* nonzero: level was set */
    uint64_t meters;  /* bit k: meter k is its own */
    char meter_names[160];
    int shares_meters;
    int removable;
    run_level_power powers[RUN_MAX_LEVELS];
    double copy_seconds_per_unit; /* of units that move, smoothed; NaN: not known */
    /* The smallest and the largest number of units that were copied, and their seconds; copy_few 0: none were copied. */
    double copy_few, copy_few_s, copy_most, copy_most_s;
    double copy_start_s, copy_seconds_per_byte, copy_power_w; /* as calibrated; NaN: not known */
    int64_t memory_bytes;                                     /* of an accelerator, if known; else 0 */
} run_device;

/*
 * How much a device is slowed down by the others: seconds while others work = start_s + slope x seconds alone.  It is found from
 * measurements made for this purpose, and from the latest measurements of one kind for which the other one was known.
 */
typedef struct run_relation {
    int count; /* number of pairs so far; the latest RUN_PAIRS are kept */
    double alone_s[RUN_PAIRS], beside_s[RUN_PAIRS], weight[RUN_PAIRS];
    double factor, uncertainty; /* the slope measured for this purpose, and its relative 95 % uncertainty; factor 0: it was not measured */
    int is_doubted;             /* nonzero: the factor has only the weight of a default assumption */
    double start_s, slope;      /* if there is a pair or a factor */
} run_relation;

/* Times of a round, from which the time in addition to its phases is found. */
typedef struct run_told {
    uint64_t working; /* bit i: device i had units */
    double phases_s, calls, seconds;
} run_told;

/* T = slowness x seconds of phases + call_s x calls. */
typedef struct run_overhead {
    double slowness, call_s;
} run_overhead;

/*
 * The scatter of calls of a work on a device about their mean, as calibrated: sum of squares, relative, and degrees of freedom.  It fades
 * with rounds.
 */
typedef struct run_scatter {
    double squares, freedom;
} run_scatter;

/*
 * Seconds at a level as a + b t(x) + c x, with t(x) the seconds at the base level.  a is the part of a start; c is the part that depends
 * on the frequency and not on where the data are.  misfit: relative, root mean square over the points.
 */
typedef struct run_level_relation {
    int base;  /* base level + 1; 0: not determined yet */
    int holds; /* nonzero: there are enough points, and the relation fits them */
    double a, b, c, misfit;
} run_level_relation;

/* A kind of work: the times that devices take for it. */
typedef struct run_work {
    char *name;
    char kernel[17];                     /* hash of its texts */
    int planned;                         /* nonzero: a plan had it, so the hash is fixed */
    speed_model *models;                 /* [num_devices][2: alone, beside others][most_levels of the run] */
    run_level_relation *level_relations; /* likewise */
    run_scatter *scatter;                /* [num_devices][2] */
    run_relation *relations;             /* [num_devices] */
    int num_told; /* number of rounds that begin with this work and reported their times; the latest RUN_TOLD are kept */
    run_told told[RUN_TOLD];
    int *learned;  /* [num_devices]: nonzero: something was learned that the store does not have yet */
    int *tries;    /* [num_devices]: number of rounds that were to measure the work on the device and did not */
    int *explored; /* [num_devices]: nonzero: its frequencies were measured often enough, as it was then */
    /*
     * [num_devices]: part of the time of a calibration in which other programs had the cores, at the size with the largest part; 0:
     * little, or rounds have reported times since.
     */
    double *disturbed;
    int *tried_alone;           /* [num_devices]: number of rounds that were to measure the device alone */
    yoke_balancer *balancer;    /* of rounds with this one phase; NULL: none yet */
    int64_t *limits;            /* [num_devices]: limits that the balancer has been given */
    int reported;               /* nonzero: `reports` must be passed to the balancer */
    yoke_share_report *reports; /* [num_devices] */
} run_work;

/* Another choice that explains the plan. */
typedef struct run_alternative {
    char name[80], note[256];
    double time_s, energy_j;
    int feasible;
    int64_t units[RUN_MAX_DEVICES]; /* of cut 0 */
    double hz[RUN_MAX_DEVICES];
} run_alternative;

/* A planned round. */
typedef struct run_plan {
    int64_t num_cuts, num_phases;
    int64_t cut_units[RUN_MAX_CUTS];
    yoke_phase phases[RUN_MAX_PHASES]; /* borrowed weights until the round ends */
    int works[RUN_MAX_PHASES];         /* index into run->works */
    int likes[RUN_MAX_PHASES];         /* likewise: the work whose times are used until those of the phase's work are known; -1: none */
    double memory_bytes_per_unit, copy_bytes_per_unit;
    uint64_t allowed;                    /* bit i: device i can do the work */
    uint64_t resting;                    /* bit i: device i has no units, as others work on its cores */
    int64_t most_units[RUN_MAX_DEVICES]; /* of cut 0 */
    int64_t units[RUN_MAX_CUTS][RUN_MAX_DEVICES];
    int levels[RUN_MAX_DEVICES];
    yoke_run_decision decision;
    int balanced; /* nonzero: units are those of the balancer */
    int weighed;  /* nonzero: compared with other rounds, which show what devices do alone */
    int told;     /* nonzero: for a model file, in which times and powers have their uncertainties */
    int weighted; /* nonzero: a phase has weights, which belong to the caller and are gone after the round */
    int explores; /* nonzero: units and levels are chosen to learn */
    int given;    /* nonzero: units and given_levels are those of the caller */
    int given_levels[RUN_MAX_DEVICES];
    yoke_cost predicted;
    double value;                        /* predicted objective, with copies if they are separate (copies_apart); NaN: not known */
    yoke_cost planned;                   /* the planner's cost of units and levels; time_s NaN: there is none */
    double predicted_s[RUN_MAX_DEVICES]; /* of one call of the first phase; NaN: not known */
    int feasible, optimal;
    double gap, nearest, gain; /* gain: of the planner's best choice over a distribution that was kept */
    char binding[16];
    char note[512];
    int num_alternatives;
    run_alternative alternatives[RUN_MAX_ALTERNATIVES];
} run_plan;

struct yoke_run {
    yoke_context *context;
    yoke_run_options options; /* texts are copies that the run owns */
    char *texts[4];           /* store, machine, sysroot, declared; or NULL */
    double share;             /* NaN: the run chooses */
    int needs_powers;         /* nonzero: the objective or the power cap needs them */
    int plans;                /* nonzero: the planner decides, even for one phase */
    int simulated;            /* nonzero: all devices are, and time is virtual */
    int num_devices;
    int most_levels; /* the largest num_levels of a device */
    run_device devices[RUN_MAX_DEVICES];
    yoke_run_device shown[RUN_MAX_DEVICES];
    yoke_meters *meter; /* NULL: none */
    const yoke_meter_info *meter_infos;
    int64_t num_meters;
    yoke_frequencies *frequencies; /* NULL: none is set */
    int declared;                  /* nonzero: powers are declared */
    int powers_measured;           /* nonzero: this run measured some powers */
    int rests;                     /* number of rests in which idle powers were measured */
    double base_w;                 /* NaN: not known */
    run_others others;
    run_work *run_works;
    int64_t num_works, most_works, latest_work; /* latest_work: the work that was requested last */
    yoke_store *store;
    int declined;                     /* nonzero: it was reported that an entry of the store does not fit */
    yoke_store *known[RUN_MAX_KNOWN]; /* the texts of options.known for this machine, in their order; NULL: no further one */
    /* The round that is planned, or was executed last. */
    run_plan *plan, *candidate, *other, *alone; /* of one block of memory, in any order; alone: two */
    int alone_rounds,
        questions;           /* rounds of one device alone since all devices worked together, and how often they were requested to do so */
    double tried_alone_s;    /* predicted additional time of the rounds that were to measure a device alone */
    int forced;              /* the device that works alone in the next round; -1: none */
    const uint64_t *resting; /* devices that rest in the next rounds (bits); NULL: the best choice for each round */
    void *plans_memory;
    int has_plan, begun;
    int patience, waited; /* rounds without a search, and how many of them there were */
    int num_gathered;     /* alternatives of all rounds that are compared */
    run_alternative gathered[RUN_MAX_ALTERNATIVES];
    int64_t weighed; /* number of rounds that are compared with each other */
    double limit_s;  /* longest time of a round by the slowdown, if several are compared; 0: none */
    int has_regret;  /* nonzero: regret is of the latest round */
    double regret;
    int calibrated;                          /* nonzero: something was learned outside rounds since the store was last written */
    int64_t rounds_saved;                    /* rounds that had ended when the store was last written */
    int unsaved;                             /* nonzero: the last attempt to write it failed, and the caller was informed */
    struct run_calibrated *results;          /* [num_devices] of the latest calibration; NULL: there was none */
    void (*core_time)(yoke_core_time *time); /* yoke_core_time_get, except in tests */
    double trials_s, repeated_s; /* in calibrations: time of trials that count; time of repeated trials, and of waiting before them */
    yoke_run_watts all_idle_before, all_idle; /* power of all metered hardware at rest, before devices were opened and after it */
    int64_t rounds;                           /* that have ended */
    int64_t first[RUN_MAX_CUTS][RUN_MAX_DEVICES + 1], before[RUN_MAX_CUTS][RUN_MAX_DEVICES + 1];
    const int64_t *first_of[RUN_MAX_CUTS], *before_of[RUN_MAX_CUTS];
    int64_t given_cuts, given_units[RUN_MAX_CUTS]; /* totals of `first`, which the application has received; 0 cuts: none yet */
    double frequency_hz[RUN_MAX_DEVICES];
    yoke_assignment assignment;
    yoke_run_alternative alternatives[RUN_MAX_ALTERNATIVES]; /* of the assignment */
    yoke_region *region;
    double begin_s;
    yoke_energy *energies; /* [num_meters] */
    yoke_cost measured;
    yoke_energy_kind energy_kind;
    char energy_why[RUN_WHY_BYTES];
    double measured_s[RUN_MAX_DEVICES]; /* of one call of the first phase */
    double sum_s, sum_j;                /* of all rounds */
    double known_s, known_j;            /* of those whose energy is known */
    yoke_run_kernel *kernels;           /* a list */
    struct run_profile *profile;        /* NULL: kernels are not profiled */
};

/* ------------------------------------------------------------------------------------------------ options.c */

/* Checks the options.  Errors: ARGUMENT, INPUT. */
yoke_status run_options_check(yoke_context *context, const yoke_run_options *options);
/* Names of the devices to open, separated by commas, in memory of yoke_allocate. */
yoke_status run_device_names(yoke_context *context, const yoke_run_options *options, char **names);

/* -------------------------------------------------------------------------------------------------- create.c */

/* Copies a text to memory of yoke_allocate; a NULL text leaves *copy unchanged.  Errors: MEMORY. */
yoke_status run_copy_text(yoke_context *context, const char *text, char **copy);
int run_is_active(const yoke_run *run, int device);
/* Fails with UNAVAILABLE and all reasons if no device is active. */
yoke_status run_need_device(const yoke_run *run);
double run_now_s(const yoke_run *run);

/* --------------------------------------------------------------------------------------------------- works.c */

/* Index of the work of this name, which is created if there is none.  Errors: MEMORY. */
yoke_status run_work_find(yoke_run *run, const char *name, int *index);
/* Fixes the hash and loads what the store has.  Errors: MEMORY. */
yoke_status run_work_open(yoke_run *run, int index);
void run_works_clear(yoke_run *run);
/* Reports to a balancer the times that the store has, from few units to many; *rounds: number of reports. */
yoke_status run_show_balancer(yoke_run *run, int work, yoke_balancer *balancer, int64_t n, int64_t *units, int *rounds);

/* ------------------------------------------------------------------------------------------------- seconds.c */

/* beside: nonzero: while other devices work. */
speed_model *run_model(const yoke_run *run, int work, int device, int level, int beside);
run_scatter *run_scatter_of(const yoke_run *run, int work, int device, int beside);
/*
 * Learns that a call on `units` units took `seconds`, beside other devices or alone; a number that is not finite or not above 0 is not
 * learned.
 */
void run_learn_seconds(yoke_run *run, int work, int device, int level, int beside, double units, double seconds);
/* The same for the mean of a sample that was measured for this purpose, alone or beside others. */
void run_know_seconds(yoke_run *run, int work, int device, int level, const yoke_sample *sample);
/* Seconds beside others over those alone, as measured for this purpose, with the relative half width of its 95 % interval. */
void run_know_contention(yoke_run *run, int work, int device, double factor, double uncertainty);
/* Forgets all that was learned of the work on the device. */
void run_forget(yoke_run *run, int work, int device);
/* The best known level, beside others or alone, from which the others are found; -1: none is known. */
int run_base_level(const yoke_run *run, int work, int device, int beside);
/*
 * Seconds of a call at a level, beside other devices or alone, from measurements of this kind, and elsewhere from measurements at other
 * levels and of the other kind.  *uncertainty: relative, 95 %; may be NULL.  NaN: not known.
 */
double run_seconds(const yoke_run *run, int work, int device, int level, int beside, double units, double *uncertainty);
/* The relation of the level to the base level, in one kind. */
const run_level_relation *run_relate_levels(const yoke_run *run, int work, int device, int level, int base, int beside);
/* Nonzero: run_seconds is known at some level. */
int run_is_measured(const yoke_run *run, int work, int device);
/* The cost of a start: the value of the curve at 0 units; 0 if nothing is known. */
double run_start_s(const yoke_run *run, int work, int device, int level, int beside);
/* Nonzero: both kinds were measured, or how much the others slow the device down. */
int run_is_related(const yoke_run *run, int work, int device);
/* Nonzero: it is known that the others slow the device down by some percent. */
int run_is_disturbed(const yoke_run *run, int work, int device, int level, double units);
/* Learns the seconds alone and beside others for the same units. */
void run_learn_relation(run_relation *relation, double alone_s, double beside_s, double weight);
/* The next measurement then counts as much as all earlier ones. */
void run_doubt_relation(run_relation *relation);

/* -------------------------------------------------------------------------------------------------- powers.c */

/* Copies declared powers.  Errors: INPUT (a device has none), UNAVAILABLE (powers are needed and there is no source of them). */
yoke_status run_powers_start(yoke_run *run);
/* The source of powers, as in yoke_assignment. */
const char *run_powers_text(const yoke_run *run);
/* Measures idle powers at the present levels, if they are needed and not known; the devices rest.  Errors: those of regions. */
yoke_status run_powers_rest(yoke_run *run);
/* Learns powers after `seconds` with run->energies; device i worked for busy[i] of them at its level. */
void run_powers_learn(yoke_run *run, const int *levels, double seconds, const yoke_energy *total, const double *busy);
/* How long a power must last to be measured: a few tens of the meters' periods. */
double run_power_s(const yoke_run *run);
/* Powers at a level, interpolated between measured levels; NaN: not known. */
double run_idle_w(const yoke_run *run, int device, int level);
double run_dynamic_w(const yoke_run *run, int device, int level, double *uncertainty);
/*
 * Relative half width of the 95 % interval of run_idle_w, as *uncertainty of run_dynamic_w; NaN: not known.  Powers given by the options
 * are exact.
 */
double run_idle_uncertainty(const yoke_run *run, int device, int level);
/* Nonzero: the level has been measured itself, or cannot be. */
int run_power_is_measured(const yoke_run *run, int device, int level);

/* The source of a device's powers, by the region that ended last. */
yoke_energy_kind run_power_kind(const yoke_run *run, int device);
/* J of a device's own meters in the region that ended last. */
double run_own_j(const yoke_run *run, int device, double *uncertainty);
/* J of all meters that are some device's own, except those in `without` (bits); NaN if one has no value. */
double run_all_own_j(const yoke_run *run, uint64_t without, double *uncertainty);
/* Before devices are opened: measures the power of all meters at rest.  Errors: those of meters. */
yoke_status run_powers_before(yoke_run *run);
double run_longest_period_s(const yoke_run *run);

/* -------------------------------------------------------------------------------------------------- others.c */

/*
 * J above rest, in a region of `seconds`, of all hardware other than devices at work and accelerators: memory, and hosts that serve
 * accelerators.
 */
double run_others_above_j(const yoke_run *run, const double *busy, double seconds, const yoke_energy *total, double *uncertainty);
/*
 * Learns these joules (with the half width of their interval), if hosts worked for host_s and accelerators for accelerator_s; levels: of
 * devices.
 */
void run_others_learn(yoke_run *run, const int *levels, double host_s, double accelerator_s, double joules, double uncertain_j);
/* The first host that may work, to whose levels host overheads refer; -1: there is none. */
int run_serving_host(const yoke_run *run);
/*
 * The host overhead at each of its levels: as measured, linear between measured levels and constant beyond; all equal if the differences
 * are within the uncertainties.
 */
void run_host_overheads(const yoke_run *run, double watts[RUN_MAX_LEVELS]);

/* ------------------------------------------------------------------------------------------- stored_powers.c */

/*
 * The level of a device to which the store's numbers at a frequency belong; -1: none.  If frequencies are not changed, and for numbers
 * without a frequency, that is the highest level.  highest: the highest frequency of the store.
 */
int run_stored_level(const run_device *d, double frequency_hz, double highest);
/* Takes powers from the entry if none are known yet, with the host overheads of a host. */
void run_take_powers(yoke_run *run, int device, const yoke_store_entry *entry);
/* Writes for the store the known powers, and from an older entry (or NULL) those that are not known; returns how many. */
int run_give_powers(const yoke_run *run, int device, const yoke_store_entry *old, yoke_store_power powers[RUN_MAX_STORED]);
/* Nonzero: the host overhead at this level was measured by this run. */
int run_is_overhead_measured(const yoke_run *run, int level);

/* ------------------------------------------------------------------------------------------------ accuracy.c */

/* Relative standard deviation of one call, and its degrees of freedom. */
double run_noise(const yoke_run *run, int work, int device, int level, int beside, double *freedom);
/* Relative half width of the 95 % interval of run_seconds at a level that was measured. */
double run_accuracy_at(const yoke_run *run, int work, int device, int level, int beside, double units);
/* The same at a level between two measured ones, from the value of the less certain one. */
double run_accuracy_between(double of_these);

/* ------------------------------------------------------------------------------------------------- problem.c */

/* A problem of the planner with all its memory.  Device k of it is devices[k] of the run, level l its levels[k][l]. */
typedef struct run_problem {
    yoke_plan_problem problem;
    yoke_round round;
    yoke_plan_options options;
    int devices[RUN_MAX_DEVICES];
    int (*levels)[RUN_MAX_LEVELS];
    int vague_times, vague_powers; /* nonzero: the uncertainty of some of them is not known, and the planner assumes them to be exact */
    void *memory[6];               /* devices, levels, times, points, numbers of levels, phases */
} run_problem;

/*
 * Creates the problem of the plan's round from the knowledge of the run.  only: nonzero: each device has only the plan's level.  *known:
 * zero if a device that may work was never measured; then nothing is created.  Freed with run_problem_clear.  Errors: MEMORY.
 */
yoke_status run_problem_create(yoke_run *run, const run_plan *plan, int only, run_problem *problem, int *known);
void run_problem_clear(yoke_run *run, run_problem *problem);
/* The largest number of units of cut 0 that fit on the device; 0 if it may have none. */
int64_t run_most_units(const yoke_run *run, const run_plan *plan, int device);
/* The level of the device whose frequency is nearest; NaN: the highest. */
int run_nearest_level(const run_device *device, double hz);
/* Nonzero: this round can be passed to the planner as one phase without a round; then its search is exact at any size. */
int run_is_plain(const run_plan *plan);
/* The work whose times are those of the phase on the device: the phase's own work, or the one that it is like. */
int run_work_of(const yoke_run *run, const run_plan *plan, int phase, int device);
/* Nonzero: in the interval of the phase more than one device works by the plan; only 0: more than one may work. */
int run_is_beside(const yoke_run *run, const run_plan *plan, int phase, int only);
/* Units of a phase that the device has by the plan. */
int64_t run_phase_units_of(const run_plan *plan, int phase, int device);
/* Units of a phase that a device with units [first, last) of its cut has. */
int64_t run_phase_units(const yoke_phase *phase, int64_t cut_units, int64_t first, int64_t last);
/* ---------------------------------------------------------------------------------------------------- cost.c */

/* Computes the cost of the plan's units and levels if everything is known; else NaN.  Errors: MEMORY. */
yoke_status run_predict(yoke_run *run, run_plan *plan);
/* The least time of the plan's round, over all units and levels; NaN: not known.  Errors: MEMORY. */
yoke_status run_least_time(yoke_run *run, const run_plan *plan, double *seconds);
double run_objective(yoke_objective objective, double time_s, double energy_j);

/*
 * The relative additional cost of the latest round's units and levels over the best ones, by present knowledge; NaN: not known.
 * Errors: MEMORY.
 */
yoke_status run_regret(yoke_run *run, double *regret);

/* -------------------------------------------------------------------------------------------------- decide.c */

/* Decides units and levels of the plan, whose phases are filled, and predicts its cost.  Errors: as of yoke_run_plan. */
yoke_status run_decide(yoke_run *run, run_plan *plan);
/*
 * alone.c: gives all units to one device, if that is better because devices slow each other down, or to learn whether it is.  The plan
 * has been predicted.
 * Errors: MEMORY.
 */
yoke_status run_consider_alone(yoke_run *run, run_plan *plan);
/*
 * cores.c: sets plan->resting of a plan whose phases are filled: devices that have no units, as others are faster on the same cores.  No
 * device rests if the units fit the others only together with it.  Phases that belong to a resting device have no units either.
 */
void run_choose_resting(const yoke_run *run, run_plan *plan);
/* Why a device is in plan->resting: a constant text; "": it is not. */
const char *run_why_rests(const yoke_run *run, const run_plan *plan, int device);
/* As yoke_run_rests, for devices that are allowed (bits).  *resting: those that rest. */
yoke_status run_rest(yoke_run *run, const char *work, int64_t units, uint64_t allowed, uint64_t *resting, yoke_run_rest *rests);
/* Nonzero: the latest round had the same cuts. */
int run_has_distribution(const yoke_run *run, const run_plan *plan);
/* search.c: decides units and levels by the planner; *known: zero if powers are not known, and then nothing is decided. */
yoke_status run_search(yoke_run *run, run_plan *plan, int *known);
const char *run_objective_text(yoke_objective objective);
const char *run_decision_text(yoke_run_decision decision);

/* --------------------------------------------------------------------------------------- round.c, report.c */

/* Sets a device's frequency to a level, if it can be set and differs.  Errors: those of yoke_frequency_set. */
yoke_status run_set_level(yoke_run *run, int device, int level);
/* Makes a plan of the round in which nothing is decided yet.  Errors: ARGUMENT (outside its contract), MEMORY. */
yoke_status run_take_round(yoke_run *run, const yoke_round *round, run_plan *plan);
/* Seconds to copy `units` units of cut 0 to a device; 0 if nothing is known. */
double run_copy_s(const run_device *device, double units);
/* Units of a phase that the device has by the plan. */
int64_t run_units_of(const yoke_run *run, const yoke_phase *phase, int device);

/* ----------------------------------------------------------------------------------------------- overhead.c */

/* Learns from a round that took `seconds` from begin to end. */
void run_learn_overhead(yoke_run *run, const yoke_run_report *report, double seconds);
/*
 * Seconds that are not passed to the planner: those of the calls of a round that it gets without phases (run_is_plain), as learned from
 * rounds that begin with the same work.  joules (or NULL): energy in these seconds, in which all devices draw their idle powers at the
 * plan's levels.
 */
double run_overhead_s(const yoke_run *run, const run_plan *plan, int only, double *joules);
/* The factor of the seconds of phases, and the additional cost of each call; only: as in run_is_beside. */
run_overhead run_find_overhead(const yoke_run *run, const run_plan *plan, int only);

/* As yoke_run_plan, for devices that are allowed (bits). */
yoke_status run_plan_rounds(yoke_run *run, const yoke_round *rounds, int64_t count, uint64_t allowed);

/* -------------------------------------------------------------------------------------------------- kernel.c */

void run_kernels_destroy(yoke_run *run);

#endif
