/*
 * plan.h - plans: how many units each device gets, and at which frequency, for least time or least energy.  Part of yoke.h.
 *
 * A plan is a pure function of a problem and options: it measures nothing, sets nothing, and asks no hardware.
 */
#ifndef YOKE_PLAN_H
#define YOKE_PLAN_H

#include "yoke/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is minimised: T, E, E T, E T^2. */
typedef enum yoke_objective { YOKE_OBJECTIVE_TIME, YOKE_OBJECTIVE_ENERGY, YOKE_OBJECTIVE_EDP, YOKE_OBJECTIVE_ED2P } yoke_objective;

/*
 * What a device does at one clock frequency: a call on x > 0 units takes start_seconds + t(x).  t is seconds_per_unit x or, where there are
 * points, a functional performance model (Clarke, sect. 1.3): the speed x / t is linear between points and constant before the first and after the last.
 * Where t would fall with more units it is replaced by its running maximum.
 */
typedef struct yoke_plan_level {
    double frequency_hz;      /* NaN: not known, or not to be set */
    double seconds_per_unit;  /* of one call, > 0; ignored where there are points */
    double start_seconds;     /* of a call that has units */
    double dynamic_power_w;   /* while it works, above idle; NaN: not known; 0: nothing, which is a value */
    double idle_power_w;      /* the same at rest */
    double time_uncertainty;  /* relative, half width of the 95 % interval, of seconds; 0: exact, or not known (never NaN) */
    double power_uncertainty; /* the same of both powers */
    double alone_factor;      /* seconds of a call where no other device is at work, over those here: above 0, at most 1; 0: 1 */
    int64_t num_points;
    const double *points;                /* [num_points][2]: units (ascending, > 0), seconds (> 0) of a call without its start */
    const struct yoke_plan_time *phases; /* [num_phases] of the problem's round; NULL where there is none */
    double host_overhead_w; /* of a host: host overhead beside that of the problem while it has this level, at work or not; else 0 */
} yoke_plan_level;

/*
 * What a device takes at one level for one phase of a round: the members of yoke_plan_level with these names, of one work each.  Of the level itself a
 * round reads frequency_hz, idle_power_w, power_uncertainty (of the idle power), host_overhead_w and phases.
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
 * One kind of work in a round: `calls` times each device works on its part of `units`.  A cut gives device i a range of whole units, after those of device
 * i - 1.  With b units before the range, round(units w(b) / w(all)) units of the phase are before the device's own (halves are rounded up).  So the units
 * of all devices sum to `units`.  w is weight_sum, or w(b) = b.
 */
typedef struct yoke_phase {
    const char *work; /* what one unit costs: the key of models and store; NULL or "": without a name */
    double calls;     /* > 0 */
    int64_t cut;      /* the cut that divides it; -1: `device` does it alone */
    int64_t device;   /* where cut is -1 */
    int64_t units;    /* of the whole phase, 0 .. 10^15 */
    const double
        *weight_sum;     /* [units of the cut + 1] prefix sums of the weights of the cut's units, ascending from 0; NULL: all units alike */
    int barrier;         /* nonzero: after each call all devices wait for each other; zero: they go on to the next phase */
    double call_seconds; /* cost of a call whatever its size, once for all devices (launches, a reduction) */
    const char
        *like; /* of a run: another work, whose times are taken as long as this one's are not known; NULL: none.  Plans do not read it */
} yoke_phase;

/*
 * Phases that are planned together, one after another, and their cuts.  Phases up to one with a barrier (or to the end) are an interval.  It lasts as long
 * as the device that takes longest for all of its phases.
 */
typedef struct yoke_round {
    int64_t num_cuts;         /* 1 .. YOKE_PLAN_MAX_CUTS */
    const int64_t *cut_units; /* [num_cuts], 0 .. 10^15 */
    int64_t num_phases;       /* 1 .. YOKE_PLAN_MAX_PHASES */
    const yoke_phase *phases;
    double copy_bytes_per_unit, memory_bytes_per_unit; /* of cut 0, on a device; plans read the devices' copies and max_units instead */
    const int64_t *
        max_units; /* [devices of a run] of cut 0 that a device may have; NULL: as many as there is memory for.  Plans read those of devices */
    /* Of a run, with one cut: the caller has decided.  Plans do not read them. */
    const int64_t *given_units; /* [devices] that sum to the cut's, none on devices that may not work; NULL: the run decides */
    const double *given_hz;     /* [devices] the frequencies for that, of which the nearest are taken; NaN, or NULL: the highest */
} yoke_round;

typedef struct yoke_plan_device {
    const char *name;
    int host;           /* nonzero: a host (CPU); 0: an accelerator */
    int removable;      /* nonzero: draws nothing where it has no unit */
    int64_t num_levels; /* at least 1 */
    const yoke_plan_level *levels;
    double copy_seconds;          /* once, where it has units: its set-up */
    double copy_seconds_per_unit; /* once for each unit */
    double copy_joules_per_unit;  /* above the idle powers of both ends */
    int64_t max_units;            /* that fit; INT64_MAX: no limit.  Copies and max_units are of cut 0 */
} yoke_plan_device;

/*
 * n units for l calls (repetitions) after one distribution.  With c_i = copy_seconds (if n_i > 0) + copy_seconds_per_unit n_i and
 * w_i = l (start_i (if n_i > 0) + t_i(n_i)):
 *   T = max c_i + max w_i where all copies end before the first call and every call ends at a barrier (copies_before; Lang and Ruenger 2014,
 *   eq. 17), else max (c_i + w_i);
 *   E = base T + sum idle_i T (not of a removable device without units; a device without units is parked at its level of least idle power)
 *       + sum (dynamic_i w_i + copy_joules_per_unit_i n_i) + host_overhead_w max(0, max over accelerators of w - max over hosts of w)
 *   (2014 paper, eq. 37; PEACH, eq. 11, whose P_OH is host_overhead_w);
 *   where hosts' levels have a host_overhead_w of their own (PEACH: P_OH falls with f_C), the largest of all hosts at their levels is added to that of the
 *   problem, here and in the peak power.  Then a host without units may be parked at any level, which a plan chooses;
 *   peak power = base + idle and dynamic powers of devices with units + idle powers of the others (not of removable ones) + host_overhead_w, where an
 *   accelerator has units.
 * Devices that work beside each other may slow each other down (memory, power).  Seconds of a level are those beside others; where one device alone is at
 * work, its w_i is alone_factor times that.  (A device that works on when all others have ended is not counted as alone.)
 *
 * With a round, and w_ip = calls_p (start_ip + t_ip(n_ip)) for the n_ip > 0 units that device i has of phase p, and W_ik the sum over the phases of interval k:
 *   T = sum over intervals of (max W_ik + sum of calls_p call_seconds_p), + max c_i where copies come before; else max (c_i + W_i0) is the first interval's;
 *   E = as above with sum of dynamic_ip w_ip, and host_overhead_w times the sum over intervals of max(0, max over accelerators of W_ik - max over hosts of W_ik);
 *   peak power: the largest of an interval, with the largest dynamic power of a device's phases in it.
 * A device is at work (has set-up, is not parked, is not removed) where it has units of any cut or of a phase of its own.  Where the phases of an interval
 * have different numbers of calls, T is that of devices that meet at the interval's end only.
 */
typedef struct yoke_plan_problem {
    int64_t units;      /* n, 0 .. 10^18; not read where there is a round */
    double repetitions; /* l > 0; not read where there is a round */
    int copies_before;
    double base_power_w, host_overhead_w; /* NaN: not known */
    int64_t num_devices;                  /* 1 .. YOKE_PLAN_MAX_DEVICES */
    const yoke_plan_device *devices;
    const yoke_round *round; /* NULL: one cut of `units`, one phase of `repetitions` calls, which costs what the levels say */
} yoke_plan_problem;

enum { YOKE_PLAN_MAX_DEVICES = 64 };

/* All members may be zero. */
typedef struct yoke_plan_options {
    yoke_objective objective;
    double deadline_s;   /* T at most; 0: none */
    double max_slowdown; /* T at most so many times the least time (under the power cap, where there is one), >= 1; 0: none */
    double power_cap_w;  /* peak power at most; 0: none */
    int pareto;          /* nonzero: the whole front of time and energy too */
    int bare;            /* nonzero: no alternatives and no texts, which is fastest */
    /*
     * Limit of a search, after which the best so far is returned with its gap.  All searches of the plan (limits, alternatives, ties) together have
     * twice as many; after that each gets 200 at most. 0: about a second of search, 10^6 at most.
     */
    int64_t max_nodes;
    /* Called about every thousand nodes of all searches, with their number so far.  A nonzero result ends them as max_nodes does.  NULL: never. */
    int (*progress)(void *user, int64_t nodes);
    void *user; /* of progress */
} yoke_plan_options;

/* Units and levels of all devices, in the order of the problem, and what they cost. */
typedef struct yoke_plan_choice {
    char name[80];                                   /* of an alternative: only:NAME, balanced, published, best */
    int feasible;                                    /* nonzero: keeps memory limits, deadline, slowdown and power cap */
    const int64_t *units;                            /* [num_cuts][num_devices]; each cut's sum is n where it is feasible */
    const int64_t *levels;                           /* [num_devices]; where a device without units is parked */
    double time_s, energy_j, peak_power_w;           /* energies and powers are NaN where a power is not known */
    double time_uncertainty_s, energy_uncertainty_j; /* half widths of 95 % intervals; errors of devices are independent */
    char note[256];                                  /* a remark: "case 3: shared by eq. 26"; "" */
} yoke_plan_choice;

/* A plan never changes, so several threads may read it.  Its context outlives it. */
typedef struct yoke_plan {
    yoke_objective objective;
    int feasible;
    int optimal; /* nonzero: no other choice is better (to rounding, 1e-12 relative) */
    double gap;  /* no choice is better by more than this part of the objective; 0 where it is optimal; NaN: no bound is known */
    int64_t num_devices, num_cuts; /* one cut where there is no round */
    yoke_plan_choice best;         /* where feasible; else of all zeros and NaN */
    int tie; /* nonzero: another alternative's objective is within the joint uncertainty; then the faster was taken, then that of fewer devices */
    const char *binding;  /* the constraint that cannot be met: "deadline", "power-cap", "memory", "kernel" (of a phase); "" */
    double nearest;       /* the nearest value of that constraint that could be met (s, W, units); NaN */
    const char *decision; /* text, one or several lines; "" where bare */
    int64_t num_alternatives, num_front;
    const yoke_plan_choice *alternatives;
    const yoke_plan_choice *front; /* by ascending time: none is faster and at most as costly as another */
    int front_optimal;
    int64_t nodes;     /* of the search */
    int64_t all_nodes; /* with those of the searches for limits and alternatives */
} yoke_plan;

/*
 * The best plan.  Shares sum to n exactly; the result does not depend on the order of the devices (except for devices that are equal in all numbers, and
 * for rounds, whose ranges are in that order).
 * options may be NULL: least time.  A limit that cannot be met is not an error: feasible is 0 then.  The problem is not kept.  *plan is given back with
 * yoke_release.
 * Errors: ARGUMENT (problem or options outside their contracts: which device and number; an objective with energy where a power is not known),
 * MEMORY.
 */
YOKE_API yoke_status yoke_plan_create(yoke_context *context, const yoke_plan_problem *problem, const yoke_plan_options *options,
                                      yoke_plan **plan);

/*
 * Computes the cost of a given choice: reads units [num_cuts][num_devices] and levels [num_devices] (NULL: 0, the first), writes times, energies, uncertainties and
 * feasible of *choice, and borrows units and levels there.  Where a device has units of a phase that it has no kernel for, or a round's cut is not divided
 * completely, the costs are NaN.  Errors: ARGUMENT, MEMORY.
 */
YOKE_API yoke_status yoke_plan_evaluate(yoke_context *context, const yoke_plan_problem *problem, const yoke_plan_options *options,
                                        const int64_t *units, const int64_t *levels, yoke_plan_choice *choice);

/*
 * Reads a model file (JSON, docs/reference/model-file.md; yoke_run_write_model writes them).  Laws become levels.  Seconds that do not increase with units are
 * a warning in the log (a plan repairs them).  *problem is given back with yoke_release.
 * Errors: INPUT (file, JSON pointer or line and column, what was expected), MEMORY, SYSTEM.
 */
YOKE_API yoke_status yoke_plan_problem_read(yoke_context *context, const char *path, yoke_plan_problem **problem);

#ifdef __cplusplus
}
#endif

#endif
