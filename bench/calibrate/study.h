/*
 * study.h - calibrates a made machine in virtual time, and compares what is predicted and planned with what is true of it.
 */
#ifndef BENCH_CALIBRATE_STUDY_H
#define BENCH_CALIBRATE_STUDY_H

#include "calibrate/machine.h"

enum { STUDY_KINDS = 4, STUDY_OBJECTIVES = 2, STUDY_PLANS = 4 /* of each objective */ };

/* Predictions of one kind: at the highest frequency, at lower ones that were measured, at ones between, and beside the other device. */
typedef struct study_predictions {
    int64_t count, inside; /* inside: the truth lies within the 95 % interval */
    double errors, widths; /* sums of relative errors and of half widths */
    double max_error;
} study_predictions;

typedef struct study_result {
    study_predictions predictions[STUDY_KINDS];
    double contention;
    double regret[STUDY_OBJECTIVES][STUDY_PLANS]; /* time, energy: what the plan really costs over the least of a grid, less 1 */
} study_result;

extern const char *const study_kinds[STUDY_KINDS];

/* path: of files that are written and removed again, without their ends.  Errors: those of the library. */
yoke_status study_machine(uint64_t seed, const char *path, study_result *result);

#endif
