/*
 * trial.h - products by one device alone, for its speed and its power: the trial function of yoke_run_calibrate (yoke/run.h).
 */
#ifndef FEM_ADAPT_DISTRIBUTION_TRIAL_H
#define FEM_ADAPT_DISTRIBUTION_TRIAL_H

#include "operator/decomposition/decomposition.h"

typedef struct fem_trial fem_trial;

/*
 * Prepares products with the operator of a space, on a given number of its first elements.  All arguments are borrowed.
 * Errors: MEMORY.
 */
yoke_status fem_trial_create(const fem_space *space, const fem_constraints *constraints, fem_devices *devices, fem_operator operator_kind,
                             fem_precision precision, fem_trial **trial);
void fem_trial_destroy(fem_trial *trial); /* NULL allowed */

/*
 * A yoke_run_trial; user: the fem_trial.  A device whose memory is too small tries fewer elements, and the seconds are scaled in
 * proportion.
 * Errors: those of fem_decomposition_create; after DEVICE the device is marked as failed.
 */
yoke_status fem_trial_run(void *user, int64_t device, int64_t units, int64_t calls, double *seconds);
/*
 * A yoke_run_trial_together; user: the fem_trial.  Devices work at the same time, each on its own first elements: they exchange nothing.
 * Errors: as above.
 */
yoke_status fem_trial_run_together(void *user, const int64_t *units, int64_t calls, double *seconds, int64_t *failed);

#endif
