/*
 * record.h - the run record of yoke fmm (--json).
 */
#ifndef FMM_OUTPUT_RECORD_H
#define FMM_OUTPUT_RECORD_H

#include <stdbool.h>

#include "solve/solve.h"
#include "yoke/yoke.h"

/* Results and times of a run.  NaN: not known, or not done. */
typedef struct fmm_result {
    int64_t particles, frame, frames; /* frames: 0 if particles are generated */
    const char *input;                /* file, or name of the distribution */
    const char *instructions;         /* of the host's kernels */
    bool gradient;
    double softening; /* 0: none */
    double total_energy, total_force[3], force_lengths;
    fmm_solution solved; /* for direct summation only pairs and near_s */
    double read_s, write_s, total_s;
} fmm_result;

/*
 * Writes the record.  sequence 0: the record is that of results[0].  Otherwise `sequence` is the number of frames, and each has an entry in
 * the key `sequence`; the other keys are those of the last frame, with the seconds of all.  Errors: those of app_record_create and
 * app_record_write.
 */
yoke_status fmm_record_write(yoke_context *context, const char *path, int argc, char **argv, const fmm_result *results, int64_t sequence);

#endif
