/*
 * shared.h - the near field of a method shared among the devices of a run (yoke/run.h).
 *
 * A round has phases without a barrier between them: the near field, partitioned by leaves with the ordered pairs of each leaf as weights;
 * the far field, which the host computes alone; and for each accelerator the copies of positions and charges, and of its results.  An
 * accelerator therefore gets as much of the near field as balances the far field.  The first host of the run computes the far field and
 * sums its leaves by the kernels of near.c; all other devices run the kernel of near/kernels/leaves_text.h.
 */
#ifndef FMM_METHOD_SHARED_H
#define FMM_METHOD_SHARED_H

#include "method/method.h"
#include "yoke/run.h"

/* Opens a run; the texts of these kernels become part of its works' hashes.  Errors: those of yoke_run_create and yoke_run_work. */
yoke_status fmm_shared_open(yoke_context *context, const yoke_run_options *options, yoke_run **run);

/* ------------------------------------------------------------------------------------------------------- works */

enum { FMM_MAX_DEVICES = 32, FMM_FEW_ACCELERATORS = 4, FMM_SHARED_NAME = 48 };

/* The sizes of leaves for which the near field has a work each, ascending; returns their number. */
int fmm_shared_leaf_sizes(const int **sizes);
/* The one of these sizes whose pairs cost about as much as those of leaves with this average number of particles. */
int fmm_shared_leaf_size(double particles);

/* Names of works: the near field, the far field, copies of positions and charges to an accelerator, and of results back. */
void fmm_shared_near_name(int leaf, int gradient, char name[FMM_SHARED_NAME]);
void fmm_shared_far_name(int order, int gradient, char name[FMM_SHARED_NAME]);
const char *fmm_shared_places_name(void);
const char *fmm_shared_results_name(int gradient);

/* Units of a run's works that a tree needs. */
typedef struct fmm_shared_work {
    int leaf;          /* size of leaves of the near field's work: one of the sizes above; 0: not known */
    int order;         /* order of the far field's work */
    double near_units; /* ordered pairs in leaves of that size, or an amount that takes the host as long */
    double far_units;  /* (order + 1)^3 for each translation between cells, or an amount that takes the host as long; 0: no far field */
} fmm_shared_work;

/* Data of a tree for plans. */
typedef struct fmm_shared_demand {
    fmm_shared_work work;
    int gradient;
    int64_t particles, leaves;
    const double *weight_sum; /* [leaves + 1] as in yoke_phase, borrowed; NULL: all leaves have the same weight */
    double before_s;          /* seconds on the host before the round */
} fmm_shared_demand;

/* Alternatives for one tree: with all accelerators, with one of them if there are only a few, without any.  It owns the data that the
 * rounds point to. */
typedef struct fmm_shared_rounds {
    int count;
    int64_t leaves;
    char near[FMM_SHARED_NAME], far[FMM_SHARED_NAME];
    yoke_phase phases[FMM_FEW_ACCELERATORS + 2][FMM_MAX_DEVICES + 3];
    int64_t max_units[FMM_FEW_ACCELERATORS + 2][FMM_MAX_DEVICES];
    yoke_round rounds[FMM_FEW_ACCELERATORS + 2];
} fmm_shared_rounds;

/* Nonzero: device i is idle in a round with `units` units of this work, because hosts work on its cores (yoke_run_rests).  Nothing is
 * measured for such a device, and it is not opened. */
int fmm_shared_rests(yoke_run *run, const yoke_run_device *devices, int i, const char *work, double units);
/* The number of the device that computes the far field: the first active host; -1: there is none. */
int fmm_shared_host(const yoke_run_device *devices, int64_t count);

/* share: NULL, or the given share of the accelerators.  Errors: UNAVAILABLE (too many devices). */
yoke_status fmm_shared_make_rounds(yoke_context *context, const yoke_run_device *devices, int64_t count, const double *share,
                                   const fmm_shared_demand *of, fmm_shared_rounds *rounds);

/* --------------------------------------------------------------------------------------------------------- runs */

typedef struct fmm_shared fmm_shared;

typedef struct fmm_shared_options {
    const double *share;  /* as given to the run */
    fmm_shared_work work; /* leaf 0: found from the tree */
    int tries;            /* nonzero: works of unknown cost are measured on this tree before the first run */
} fmm_shared_options;

/*
 * Prepares the devices of a run of fmm_shared_open for the method's lists.  Method and run must outlive the result.  A device that cannot
 * run the kernel is removed from the run.
 * Errors: UNAVAILABLE (no device is left), MEMORY, those of yoke_run_fail.
 */
yoke_status fmm_shared_create(fmm_method *method, yoke_run *run, const fmm_shared_options *options, fmm_shared **shared);
/* NULL is allowed. */
void fmm_shared_destroy(fmm_shared *shared);

/*
 * As fmm_method_run.  If a device fails, the others compute its leaves.  seconds->near: the time until the last device ends, without plans
 * (fmm_shared_tell) and without upward, between and downward.
 * Errors: those of fmm_method_run, yoke_run_plan, yoke_run_begin and yoke_run_end; UNAVAILABLE (all devices failed: why).
 */
yoke_status fmm_shared_run(fmm_shared *shared, const double *charge, fmm_field *field, fmm_method_seconds *seconds);

/* Works of a tree that can be measured. */
typedef enum fmm_shared_part_of { FMM_SHARED_NEAR = 1, FMM_SHARED_FAR = 2, FMM_SHARED_COPIES = 4 } fmm_shared_part_of;

/*
 * Measures works on this tree, on each device separately, at all its frequencies if the run sets them (yoke_run_calibrate, brief).
 * Simulated devices only simulate the work.  parts: sum of the above.  Errors: those of fmm_method_begin and yoke_run_calibrate.
 */
yoke_status fmm_shared_measure(fmm_shared *shared, const double *charge, const fmm_field *field, int parts);

/* The alternatives of the latest plan, and the number of the one that was taken.  Borrowed from `shared`. */
const fmm_shared_rounds *fmm_shared_planned(const fmm_shared *shared, int *taken);

/* The latest run: the prediction of its plan, and the measurement by the run's clock and meters. */
typedef struct fmm_shared_told {
    yoke_cost predicted, measured; /* NaN: not known, for example because a device failed */
    double far_s;                  /* seconds of the far field on the host; NaN: there was none, or they are not known */
    double plan_s; /* seconds of plans on this machine's clock, including the idle time in which powers are measured for them */
    int simulated; /* the host is simulated */
} fmm_shared_told;
void fmm_shared_tell(const fmm_shared *shared, fmm_shared_told *told);

/* The part of a device in the near field of the latest run. */
typedef struct fmm_shared_part {
    const char *device;  /* borrowed from the run */
    double pairs;        /* ordered pairs, including those of a particle with itself */
    double seconds;      /* including copies; NaN: none, or not known */
    double frequency_hz; /* NaN: it was not changed */
    int failed;
} fmm_shared_part;
/* Returns the number of devices, and writes at most `room` of them. */
int fmm_shared_parts(const fmm_shared *shared, fmm_shared_part *parts, int room);

#endif
