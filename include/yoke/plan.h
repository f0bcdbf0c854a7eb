/*
 * plan.h - plans: how many units each device gets, and at which frequency, for least time or least energy.  Part of yoke.h.
 *
 * A plan is a pure function of a problem and options: it measures nothing, sets nothing, and queries no hardware.
 */
#ifndef YOKE_PLAN_H
#define YOKE_PLAN_H

#include "yoke/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The quantity to minimise: T, E, E T, E T^2. */
typedef enum yoke_objective { YOKE_OBJECTIVE_TIME, YOKE_OBJECTIVE_ENERGY, YOKE_OBJECTIVE_EDP, YOKE_OBJECTIVE_ED2P } yoke_objective;

/*
 * Time and power of a device at one clock frequency.  A call on x > 0 units takes start_seconds + t(x).  t is seconds_per_unit x or, if
 * there are points, a functional performance model (Clarke, sect. 1.3): the speed x / t is linear between points and constant before the
 * first and after the last.  Where t would fall with more units it is replaced by its running maximum.
 */
typedef struct yoke_plan_level {
    double frequency_hz;      /* NaN: not known, or not to be set */
    double seconds_per_unit;  /* of one call, > 0; ignored if there are points */
    double start_seconds;     /* of a call that has units */
    double dynamic_power_w;   /* additional power at work, above idle; NaN: not known; 0: no additional power, which is a known value */
    double idle_power_w;      /* power at rest; NaN and 0 as for dynamic_power_w */
    double time_uncertainty;  /* relative, half width of the 95 % interval, of seconds; 0: exact, or not known (never NaN) */
    double power_uncertainty; /* the same for both powers */
    double alone_factor;      /* seconds of a call while no other device works, over those here: above 0, at most 1; 0: 1 */
    int64_t num_points;
    const double *points;                /* [num_points][2]: units (ascending, > 0), seconds (> 0) of a call without its start */
    const struct yoke_plan_time *phases; /* [num_phases] of the problem's round; NULL if there is no round */
    /* For a host: host overhead in addition to that of the problem while the host has this level, at work or not; else 0. */
    double host_overhead_w;
} yoke_plan_level;

/*
 * Time and power of a device at one level for one phase of a round.  The members are those of yoke_plan_level with these names, for one
 * kind of work each.  Of the level itself a round reads frequency_hz, idle_power_w, power_uncertainty (of the idle power),
 * host_overhead_w and phases.
 */
typedef struct yoke_plan_time {
    int absent; /* nonzero: the device has no kernel for the phase and can have no units of it; the other members are not read */
    double seconds_per_unit, start_seconds;
    double dynamic_power_w;                     /* NaN: not known */
    double time_uncertainty, power_uncertainty; /* relative, half widths of 95 % intervals: of seconds, of dynamic_power_w */
    double alone_factor;
    int64_t num_points;
    const double *points;
} yoke_plan_time;

enum { YOKE_PLAN_MAX_CUTS = 4, YOKE_PLAN_MAX_PHASES = 64 };

/*
 * One kind of work in a round: each device works `calls` times on its part of `units`.
 *
 * A cut gives device i a range of whole units, after those of device i - 1.  With b units before the range, round(units w(b) / w(all))
 * units of the phase are before the device's own (halves are rounded up).  So the units of all devices sum to `units`.  w is weight_sum, or
 * w(b) = b.
 */
typedef struct yoke_phase {
    const char *work; /* the kind of work, which is the key of models and store; NULL or "": without a name */
    double calls;     /* > 0 */
    int64_t cut;      /* the cut that divides the phase; -1: `device` does it alone */
    int64_t device;   /* if cut is -1 */
    int64_t units;    /* of the whole phase, 0 .. 10^15 */
    /* [units of the cut + 1] prefix sums of the weights of the cut's units, ascending from 0; NULL: all units are alike. */
    const double *weight_sum;
    int barrier;         /* nonzero: after each call all devices wait for each other; zero: they continue with the next phase */
    double call_seconds; /* cost of a call independent of its size, once for all devices (launches, a reduction) */
    /* For a run: another work, whose times are used as long as those of this work are not known; NULL: none.  Plans do not read it. */
    const char *like;
} yoke_phase;

/*
 * Phases that are planned together and run one after another, and their cuts.  The phases up to one with a barrier (or to the end) form an
 * interval.  An interval lasts as long as the device that takes longest for all of its phases.
 */
typedef struct yoke_round {
    int64_t num_cuts;         /* 1 .. YOKE_PLAN_MAX_CUTS */
    const int64_t *cut_units; /* [num_cuts], 0 .. 10^15 */
    int64_t num_phases;       /* 1 .. YOKE_PLAN_MAX_PHASES */
    const yoke_phase *phases;
    double copy_bytes_per_unit, memory_bytes_per_unit; /* of cut 0, on a device; plans read the devices' copies and max_units instead */
    /*
     * [devices of a run] largest number of units of cut 0 on a device; NULL: as many as the memory holds.  Plans read max_units of the
     * devices instead.
     */
    const int64_t *max_units;
    /* For a run, with one cut: the decision of the caller.  Plans do not read these members. */
    const int64_t *given_units; /* [devices] that sum to the cut's units, none on devices that may not work; NULL: the run decides */
    const double *given_hz;     /* [devices] frequencies for these units, of which the nearest are taken; NaN, or NULL: the highest */
} yoke_round;

typedef struct yoke_plan_device {
    const char *name;
    int host;           /* nonzero: a host (CPU); 0: an accelerator */
    int removable;      /* nonzero: draws no power if it has no unit */
    int64_t num_levels; /* at least 1 */
    const yoke_plan_level *levels;
    double copy_seconds;          /* set-up time, once if it has units */
    double copy_seconds_per_unit; /* once for each unit */
    double copy_joules_per_unit;  /* above the idle powers of both ends */
    int64_t max_units;            /* that fit; INT64_MAX: no limit.  Copies and max_units are of cut 0 */
} yoke_plan_device;

/*
 * A problem: n units for l calls (repetitions) after one distribution.
 *
 * With c_i = copy_seconds (if n_i > 0) + copy_seconds_per_unit n_i and w_i = l (start_i (if n_i > 0) + t_i(n_i)):
 *   T = max c_i + max w_i if all copies end before the first call and every call ends at a barrier (copies_before; Lang and Ruenger 2014,
 *   eq. 17), else max (c_i + w_i);
 *   E = base T + sum idle_i T (not of a removable device without units; a device without units is parked at its level of least idle power)
 *       + sum (dynamic_i w_i + copy_joules_per_unit_i n_i) + host_overhead_w max(0, max over accelerators of w - max over hosts of w)
 *   (2014 paper, eq. 37; PEACH, eq. 11, whose P_OH is host_overhead_w);
 *   peak power = base + idle and dynamic powers of devices with units + idle powers of the others (not of removable ones) +
 *   host_overhead_w, if an accelerator has units.
 *
 * If hosts' levels have a host_overhead_w of their own (PEACH: P_OH falls with f_C), the largest of all hosts at their levels is added to
 * that of the problem, both in E and in the peak power.  Then a host without units may be parked at any level, which a plan chooses.
 *
 * Devices that work at the same time may slow each other down (memory, power).  The seconds of a level are those while others work.  If one
 * device alone works, its w_i is alone_factor times that.  (A device that still works when all others have ended is not counted as alone.)
 *
 * With a round, let w_ip = calls_p (start_ip + t_ip(n_ip)) for the n_ip > 0 units that device i has of phase p, and let W_ik be the sum
 * over the phases of interval k:
 *   T = sum over intervals of (max W_ik + sum of calls_p call_seconds_p), + max c_i if copies come before; else max (c_i + W_i0) is the
 *   first interval's;
 *   E = as above with sum of dynamic_ip w_ip, and host_overhead_w times the sum over intervals of
 *       max(0, max over accelerators of W_ik - max over hosts of W_ik);
 *   peak power: the largest of an interval, with the largest dynamic power of a device's phases in it.
 *
 * A device is at work (has set-up, is not parked, is not removed) if it has units of any cut or of a phase of its own.  If the phases of an
 * interval have different numbers of calls, T assumes that devices meet only at the interval's end.
 */
typedef struct yoke_plan_problem {
    int64_t units;      /* n, 0 .. 10^18; not read if there is a round */
    double repetitions; /* l > 0; not read if there is a round */
    int copies_before;
    double base_power_w, host_overhead_w; /* NaN: not known */
    int64_t num_devices;                  /* 1 .. YOKE_PLAN_MAX_DEVICES */
    const yoke_plan_device *devices;
    const yoke_round *round; /* NULL: one cut of `units`, one phase of `repetitions` calls, whose costs are those of the levels */
} yoke_plan_problem;

enum { YOKE_PLAN_MAX_DEVICES = 64 };

/* All members may be zero. */
typedef struct yoke_plan_options {
    yoke_objective objective;
    double deadline_s;   /* largest T; 0: none */
    double max_slowdown; /* largest T as a multiple of the least time (under the power cap, if there is one), >= 1; 0: none */
    double power_cap_w;  /* largest peak power; 0: none */
    int pareto;          /* nonzero: also the whole front of time and energy */
    int bare;            /* nonzero: no alternatives and no texts, which is fastest */
    /*
     * Limit of the nodes of a search, at which the best choice so far is returned with its gap.  All searches of the plan (limits,
     * alternatives, ties) together have twice as many; after that each gets 200 at most.  0: about a second of search, 10^6 at most.
     */
    int64_t max_nodes;
    /*
     * Called about every thousand nodes of all searches, with their number so far.  A nonzero result ends them as max_nodes does.  NULL:
     * never.
     */
    int (*progress)(void *user, int64_t nodes);
    void *user; /* passed to progress */
} yoke_plan_options;

/* Units and levels of all devices, in the order of the problem, and their cost. */
typedef struct yoke_plan_choice {
    char name[80];                                   /* of an alternative: only:NAME, balanced, published, best */
    int feasible;                                    /* nonzero: keeps memory limits, deadline, slowdown and power cap */
    const int64_t *units;                            /* [num_cuts][num_devices]; each cut's sum is n if the choice is feasible */
    const int64_t *levels;                           /* [num_devices]; for a device without units the level at which it is parked */
    double time_s, energy_j, peak_power_w;           /* energies and powers are NaN if a power is not known */
    double time_uncertainty_s, energy_uncertainty_j; /* half widths of 95 % intervals; errors of devices are independent */
    char note[256];                                  /* a remark: "case 3: shared by eq. 26"; "" */
} yoke_plan_choice;

/* A plan never changes, so several threads may read it.  Its context outlives it. */
typedef struct yoke_plan {
    yoke_objective objective;
    int feasible;
    int optimal;                   /* nonzero: no other choice is better (to rounding, 1e-12 relative) */
    double gap;                    /* no choice is better by more than this part of the objective; 0 if optimal; NaN: no bound is known */
    int64_t num_devices, num_cuts; /* one cut if there is no round */
    yoke_plan_choice best;         /* if feasible; else all zeros and NaN */
    /*
     * Nonzero: another alternative's objective is within the joint uncertainty.  Then the faster choice was taken, and among equally fast
     * ones that of fewer devices.
     */
    int tie;
    const char *binding;  /* the constraint that cannot be met: "deadline", "power-cap", "memory", "kernel" (of a phase); "" if none */
    double nearest;       /* the nearest value of that constraint that can be met (s, W, units); NaN if none */
    const char *decision; /* text, one or several lines; "" if bare */
    int64_t num_alternatives, num_front;
    const yoke_plan_choice *alternatives;
    const yoke_plan_choice *front; /* by ascending time: no choice of it is both faster than another one and at most as costly */
    int front_optimal;
    int64_t nodes;     /* of the search */
    int64_t all_nodes; /* including those of the searches for limits and alternatives */
} yoke_plan;

/*
 * Computes the best plan.  Shares sum to n exactly.  The result does not depend on the order of the devices (except for devices that are
 * equal in all numbers, and for rounds, whose ranges are in that order).
 * options may be NULL: least time.  A limit that cannot be met is not an error: feasible is 0 then.  The problem is not kept.  *plan is
 * freed with yoke_release.
 * Errors: ARGUMENT (problem or options outside their contracts: which device and number; an objective with energy although a power is not
 * known), MEMORY.
 */
YOKE_API yoke_status yoke_plan_create(yoke_context *context, const yoke_plan_problem *problem, const yoke_plan_options *options,
                                      yoke_plan **plan);

/*
 * Computes the cost of a given choice.  It reads units [num_cuts][num_devices] and levels [num_devices] (NULL: 0, the first), writes times,
 * energies, uncertainties and feasible of *choice, and borrows units and levels there.  The costs are NaN if a device has units of a
 * phase for which it has no kernel, or if a round's cut is not divided completely.  Errors: ARGUMENT, MEMORY.
 */
YOKE_API yoke_status yoke_plan_evaluate(yoke_context *context, const yoke_plan_problem *problem, const yoke_plan_options *options,
                                        const int64_t *units, const int64_t *levels, yoke_plan_choice *choice);

/*
 * Reads a model file (JSON, docs/reference/model-file.md), as yoke_run_write_model writes it.  Laws become levels.  Seconds that do not
 * increase with units cause a warning in the log (a plan repairs them).  *problem is freed with yoke_release.
 * Errors: INPUT (file, JSON pointer or line and column, what was expected), MEMORY, SYSTEM.
 */
YOKE_API yoke_status yoke_plan_problem_read(yoke_context *context, const char *path, yoke_plan_problem **problem);

#ifdef __cplusplus
}
#endif

#endif
