/*
 * record.h - the run record of yoke fmm (--json).
 */
#ifndef FMM_OUTPUT_RECORD_H
#define FMM_OUTPUT_RECORD_H

#include <stdbool.h>

#include "solve/solve.h"
#include "yoke/yoke.h"

/* What a run found and took; NaN: not known, or not done. */
typedef struct fmm_result {
    int64_t particles, frame, frames; /* frames: 0 where particles are generated */
    const char *input;                /* file, or name of the distribution */
    const char *instructions;         /* of the host's kernels */
    bool gradient;
    double softening; /* 0: none */
    double total_energy, total_force[3], force_lengths;
    fmm_solution solved; /* of direct summation pairs and near_s */
    double read_s, write_s, total_s;
} fmm_result;

/*
 * Writes the record.  sequence 0: of results[0].  Else of so many frames, each with an entry in `sequence`; beside it stands what is of the last one, with
 * the seconds of all.  Errors: those of app_record_create and app_record_write.
 */
yoke_status fmm_record_write(yoke_context *context, const char *path, int argc, char **argv, const fmm_result *results, int64_t sequence);

#endif
