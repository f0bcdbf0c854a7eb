/*
 * plan.h - declarations that the files of src/plan share: a prepared problem, searches in it, the cost of a choice, and the memory of a
 * plan.
 *
 * Formulas: include/yoke/plan.h and docs/methods/plan.md.  Internally devices have an order of their own (by their numbers, then names),
 * so that nothing depends on the caller's order; `given` maps back to it.
 */
#ifndef YOKE_PLAN_PLAN_H
#define YOKE_PLAN_PLAN_H

#include "model/speed.h"
#include "yoke/plan.h"

/* Levels and points are counted over all devices (and phases). */
enum {
    PLAN_MAX_DEVICES = YOKE_PLAN_MAX_DEVICES,
    PLAN_MAX_CUTS = YOKE_PLAN_MAX_CUTS,
    PLAN_MAX_PHASES = YOKE_PLAN_MAX_PHASES,
    PLAN_MAX_LEVELS = 4096,
    PLAN_MAX_POINTS = 200000
};

/* Relative difference within which results of different sums are equal. */
#define PLAN_ROUNDING 1e-12

/* All calls of a phase on a device at one level: n > 0 units take w(n) = start + per_unit n, or start + calls t(n). */
typedef struct plan_time {
    int absent; /* nonzero: there is no kernel */
    double calls, start_s, per_unit_s;
    yoke_speed speed; /* count 0: linear */
    double dynamic_w;
    double time_uncertainty, power_uncertainty;
    double alone; /* factor of w(n) while no other device is at work, at most 1 */
} plan_time;

/* A phase of the round.  A problem without one has a single phase, of all units and repetitions. */
typedef struct plan_phase {
    int cut, device; /* cut -1: the device (of the problem) does it alone */
    int interval;    /* from barrier to barrier, from 0 */
    int64_t units;
    int whole;                /* nonzero: its units are those of the cut */
    const double *weight_sum; /* NULL: all units alike */
    double all;               /* the cut's units, or the sum of their weights */
} plan_phase;

typedef struct plan_level {
    plan_time *times; /* [num_phases] */
    double idle_w, power_uncertainty;
    double active_w;   /* the largest dynamic power of its phases */
    double overhead_w; /* of a host, in addition to that of the work */
    /*
     * For a linear level of a single phase: n units with their copies end after offset_s + n / rate, and need start_j + unit_j n above
     * idle.
     */
    double offset_s, rate, start_j, unit_j;
    int64_t given; /* number of the level in the problem */
} plan_level;

/* Levels are ordered by ascending power at work (NaN: as given). */
typedef struct plan_device {
    const yoke_plan_device *source;
    int64_t given; /* number of the device in the problem */
    int host, removable;
    double copy_s, copy_per_unit_s, copy_j;
    int64_t most; /* units that fit, at most n */
    int num_levels;
    plan_level *levels;
    int parked;      /* level of least idle power; for hosts whose overheads differ, the level at which a search parks them */
    double parked_w; /* its power there, or 0 if it is removed; NaN: not known */
    double parked_uncertainty;
} plan_device;

/*
 * A prepared problem.  One thread may search in it at a time.  Devices of a round keep the given order: their ranges follow one another
 * in it.
 */
typedef struct plan_work {
    yoke_context *context;
    const yoke_plan_problem *problem;
    yoke_plan_options options; /* max_nodes is never 0 */
    int64_t nodes, max_nodes;  /* of all searches: examined so far, and the number after which each search gets FEWEST_NODES only */
    int64_t search_nodes;      /* limit of the present search */
    int stopped;               /* nonzero: progress requested the end */
    int64_t units;             /* of the first cut */
    int num_cuts, num_phases, num_intervals;
    int64_t cut_units[PLAN_MAX_CUTS];
    plan_phase phases[PLAN_MAX_PHASES];
    double call_s; /* of all calls, independent of their size */
    double repetitions, base_w, host_overhead_w;
    int copies_before; /* nonzero: copies come before, and some device has copies that take time */
    int powers_known;  /* nonzero: all powers are known */
    int linear;        /* nonzero: no level has points */
    int disturbed;     /* nonzero: some device takes less time while no other is at work */
    int overheads;     /* nonzero: levels of hosts have overheads of their own */
    int several;       /* nonzero: the search for rounds is needed; else there is one phase of all units */
    int num_devices;
    plan_device devices[PLAN_MAX_DEVICES];
    int place[PLAN_MAX_DEVICES]; /* place[i]: position here of device i of the problem */
    plan_level *levels;
    plan_time *times;
    yoke_speed_piece *pieces;
} plan_work;

/* The cost of a choice; numbers that depend on an unknown power are NaN. */
typedef struct plan_cost {
    double time_s, energy_j, peak_w, time_uncertainty_s, energy_uncertainty_j;
} plan_cost;

/* The request to a search. */
typedef struct plan_request {
    yoke_objective objective;
    double deadline_s, power_cap_w; /* INFINITY: none */
    double least_s;                 /* it is proved that no choice that keeps the other limits takes less; 0: not known */
    const int *allowed;             /* devices (of the problem) that may have units; NULL: all */
} plan_request;

typedef struct plan_result {
    int feasible;
    int optimal;
    double gap; /* 0 if optimal, NaN if no bound is known */
    const char *binding;
    double nearest;
    int64_t units[PLAN_MAX_CUTS * PLAN_MAX_DEVICES]; /* [num_cuts][num_devices]; units and levels in the order of the problem */
    int64_t levels[PLAN_MAX_DEVICES];
    plan_cost cost;
    int64_t nodes;
} plan_result;

/* ------------------------------------------------------------------------------------------------ check.c, prepare.c */

/* Checks a problem and options.  Errors: ARGUMENT (which device, level and number). */
yoke_status plan_check(yoke_context *context, const yoke_plan_problem *problem, const yoke_plan_options *options);

/* Check the round itself, and, after the devices are checked, that there are kernels for its phases (check_round.c). */
yoke_status plan_check_round(yoke_context *context, const yoke_plan_problem *problem);
yoke_status plan_check_kernels(yoke_context *context, const yoke_plan_problem *problem);

/* The single phase of a level in a problem without a round. */
yoke_plan_time plan_level_time(const yoke_plan_level *level);

/* Prepares a checked problem, which must outlive *work.  Errors: MEMORY. */
yoke_status plan_prepare(yoke_context *context, const yoke_plan_problem *problem, const yoke_plan_options *options, plan_work **work);
void plan_work_destroy(plan_work *work);

/* Parks a device at its level of least idle power. */
void plan_park(plan_device *device);

/* ------------------------------------------------------------------------------------------------ cost.c */

/* Seconds of all calls of a phase with n units. */
double plan_time_s(const plan_time *time, int64_t n);

/* Units of a phase for a device with n units of the phase's cut, after `before` units of the devices before it. */
int64_t plan_phase_units(const plan_phase *phase, int64_t before, int64_t n);

/* Seconds of a device's copies, of its work (in a problem of a single phase), and until its end if work follows copies, for n units. */
double plan_copy_s(const plan_device *device, int64_t n);
double plan_work_s(const plan_level *level, int64_t n);
double plan_finish_s(const plan_device *device, const plan_level *level, int64_t n);

/* The largest number of units up to `most` whose copies, work, or end take at most `seconds`: exact for the three functions above. */
int64_t plan_copy_units(const plan_device *device, double seconds, int64_t most);
int64_t plan_work_units(const plan_level *level, double seconds, int64_t most);
int64_t plan_finish_units(const plan_device *device, const plan_level *level, double seconds, int64_t most);

/*
 * The cost of a choice, for planning, predicting and explaining: units [num_cuts][num_devices] and levels in the order of the problem
 * (levels by their numbers there).  The functions above are for devices beside others, and never return less than alone.  Units need not
 * sum to n, but in a round no cut may have more.  All members are NaN if a device has units of a phase for which it has no kernel.
 */
plan_cost plan_cost_of(const plan_work *work, const int64_t *units, const int64_t *levels);

/* The objective's value, and the half width of its 95 % interval. */
double plan_objective_value(yoke_objective objective, const plan_cost *cost);
double plan_objective_uncertainty(yoke_objective objective, const plan_cost *cost);

/* Nonzero: a is better: less objective, then (equal to rounding) faster, then less energy, then fewer devices. */
int plan_better(const plan_work *work, yoke_objective objective, const plan_result *a, const plan_result *b);

/* ------------------------------------------------------------------------------------------------ search/search.c */

/* The request of the plan's own options, without the slowdown: deadline_s is that of the options. */
plan_request plan_request_of(const plan_work *work);

/*
 * Finds the best choice under a request.  A limit that cannot be met is no error: feasible is 0 then, with binding and nearest.
 * Errors: ARGUMENT (a power that the request needs is not known), MEMORY.
 */
yoke_status plan_search(plan_work *work, const plan_request *request, plan_result *result);

/* Counts a node that a search examined; nonzero: the search must end. */
static inline int plan_count_node(plan_work *work)
{
    enum { BETWEEN_CALLS = 1024 };
    if (++work->nodes % BETWEEN_CALLS == 0 && work->options.progress != NULL && !work->stopped)
        work->stopped = work->options.progress(work->options.user, work->nodes) != 0;
    return work->stopped;
}

/* ------------------------------------------------------------------------------------------------ keep.c */

/* Allocates zeroed memory that lives as long as the plan (one that yoke_plan_create is making).  Errors: MEMORY. */
yoke_status plan_keep(plan_work *work, yoke_plan *plan, int64_t count, size_t size, void *pointer);

/* Nonzero: a device has units of any cut; two choices are equal (levels of devices without units do not count). */
int plan_has_units(const yoke_plan *plan, const yoke_plan_choice *choice, int64_t device);
int plan_same_choice(const yoke_plan *plan, const yoke_plan_choice *a, const yoke_plan_choice *b);

/* Writes a choice with arrays of its own, kept with the plan.  An infeasible result's choice has zeros and NaN.  Errors: MEMORY. */
yoke_status plan_keep_choice(plan_work *work, yoke_plan *plan, const char *name, const plan_result *result, yoke_plan_choice *choice);

/* ------------------------------------------------------------------------------------------------ alternatives.c, explain.c */

/*
 * Called by yoke_plan_create unless bare, after the best choice and the front are known.  plan->best, optimal, gap, binding are set.
 * plan_alternatives fills plan->alternatives and num_alternatives (plan_keep); yoke_plan_create then looks for ties (plan_break_tie).
 */
yoke_status plan_alternatives(plan_work *work, yoke_plan *plan);
/* Fills plan->decision; called after ties are decided. */
yoke_status plan_explain(plan_work *work, yoke_plan *plan);

#endif
