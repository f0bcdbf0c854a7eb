/*
 * record.h - the run record of yoke fmm (--json).
 */
#ifndef FMM_OUTPUT_RECORD_H
#define FMM_OUTPUT_RECORD_H

#include <stdbool.h>

#include "method/shared.h"
#include "near/sample.h"
#include "tune/tune.h"
#include "yoke/yoke.h"

enum { FMM_MAX_PARTS = 16 };

/* What a run found and took; NaN: not known, or not done. */
typedef struct fmm_result {
    int64_t particles, frame, frames; /* frames: 0 where particles are generated */
    const char *input;                /* file, or name of the distribution */
    const char *instructions;         /* of the host's kernels */
    bool gradient;
    double total_energy, total_force[3], force_lengths;
    int depth, order;     /* below 0: direct summation */
    int64_t leaf, leaves; /* the capacity of the leaves, 0: of a uniform tree or none; their number, below 0: none */
    double pairs, far_pairs,
        w_pairs;            /* ordered pairs: of particles that were summed; of cells; of a cell and a particle of a larger leaf */
    fmm_sample sample;      /* count 0: not done */
    const fmm_tuned *tuned; /* NULL: the tree was given, and nothing was predicted */
    double requested_error;
    bool forces;                                 /* the request is of the forces */
    double predicted_potential, predicted_force; /* errors of the order that was chosen */
    int raised;                                  /* by how much the order is above that, after runs that missed the request */
    int parts;                                   /* 0: the near field was not shared among devices */
    fmm_shared_part part[FMM_MAX_PARTS];
    double read_s, tree_s, tune_s, far_s, near_s, check_s, write_s, total_s;
} fmm_result;

/*
 * Writes the record.  sequence 0: of results[0].  Else of so many frames, each with an entry in `sequence`; beside it stands what is of the last one, with
 * the seconds of all.  Errors: those of app_record_create and app_record_write.
 */
yoke_status fmm_record_write(yoke_context *context, const char *path, int argc, char **argv, const fmm_result *results, int64_t sequence);

#endif
