/*
 * shared.h - the near field of a method shared among the devices of a run (yoke/run.h).
 *
 * A round has two phases without a barrier between them: the near field, cut by leaves with the ordered pairs of each as weights, and the far field, which
 * the host does alone.  So an accelerator gets as much of the near field as balances the far field.  Of the run's hosts the first one does the far field
 * and sums its leaves by the kernels of near.c; all other devices run the kernel of near/kernels/leaves_text.h.
 */
#ifndef FMM_METHOD_SHARED_H
#define FMM_METHOD_SHARED_H

#include "method/method.h"
#include "yoke/run.h"

/* Opens a run whose works have the texts of these kernels.  Errors: those of yoke_run_create and yoke_run_work. */
yoke_status fmm_shared_open(yoke_context *context, const yoke_run_options *options, yoke_run **run);

typedef struct fmm_shared fmm_shared;

/*
 * Makes the method's lists known to the devices of a run of fmm_shared_open; method and run outlive it.  A device that cannot run the kernel is taken out
 * of the run.  tries: nonzero: devices whose times are not known sum some leaves alone before the first run.
 * Errors: UNAVAILABLE (no device is left), MEMORY, those of yoke_run_fail.
 */
yoke_status fmm_shared_create(fmm_method *method, yoke_run *run, int tries, fmm_shared **shared);
/* NULL allowed. */
void fmm_shared_destroy(fmm_shared *shared);

/*
 * As fmm_method_run.  Leaves of a device that fails are done by the others.  seconds->near: until the last device ends, without upward, between and downward.
 * Errors: those of fmm_method_run, yoke_run_plan, yoke_run_begin and yoke_run_end; UNAVAILABLE (all devices failed: why).
 */
yoke_status fmm_shared_run(fmm_shared *shared, const double *charge, fmm_field *field, fmm_method_seconds *seconds);

/*
 * The phases of the latest run, for plans: their arrays and texts are borrowed from `shared`.  Returns their number, 2 at most.  host: number of the device
 * that does the far field; -1: the calling thread does it, and it is no phase.
 */
int fmm_shared_phases(const fmm_shared *shared, yoke_phase phases[2]);

/* What a device did of the near field in the latest run. */
typedef struct fmm_shared_part {
    const char *device; /* borrowed from the run */
    double pairs;       /* ordered pairs, those of a particle with itself among them */
    double seconds;     /* NaN: none, or not known */
    int failed;
} fmm_shared_part;
/* Returns the number of devices, all of which are written if there is `room` for them. */
int fmm_shared_parts(const fmm_shared *shared, fmm_shared_part *parts, int room);

#endif
