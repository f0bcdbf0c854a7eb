/*
 * fast.h - the field by the fast multipole method: depth and order that are given, or chosen for an error and for least time; runs until the error is
 * kept.
 */
#ifndef FMM_FAST_H
#define FMM_FAST_H

#include "output/record.h"
#include "tune/accuracy.h"
#include "tuning.h"

/* As on the command line; below 0: not given. */
typedef struct fmm_fast_options {
    const fmm_tuning_words *tuning;
    int64_t depth, leaf, order, check;
    fmm_request request; /* used where no order is given */
    yoke_run *run;       /* of fmm_devices_open, whose devices share the near field; NULL: the cores alone */
    int tries;           /* as in fmm_shared_create */
} fmm_fast_options;

/*
 * The field's arrays are overwritten; *result gets what was requested, chosen, predicted, sampled and taken.  A run whose error is above the request by
 * the sample (near/sample.h) and the prediction together is done again with a higher order, with a warning.
 * Errors: those of fmm_tuning_choose, fmm_choose_order and the method.
 */
yoke_status fmm_fast(app_terminal *terminal, const fmm_particles *particles, const fmm_fast_options *options, fmm_field *field,
                     fmm_tuned *tuned, fmm_result *result);

#endif
