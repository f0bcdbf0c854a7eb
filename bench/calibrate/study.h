/* study.h - calibrates a generated machine in virtual time, and compares predictions and plans with the true values. */
#ifndef BENCH_CALIBRATE_STUDY_H
#define BENCH_CALIBRATE_STUDY_H

#include "calibrate/machine.h"

enum { STUDY_KINDS = 4, STUDY_OBJECTIVES = 2, STUDY_PLANS = 4 /* of each objective */ };

/* Predictions of one kind: at the highest frequency, at lower measured ones, at frequencies in between, and beside the other device. */
typedef struct study_predictions {
    int64_t count, inside; /* inside: the true value is within the 95 % interval */
    double errors, widths; /* sums of relative errors and of half widths */
    double max_error;
} study_predictions;

typedef struct study_result {
    study_predictions predictions[STUDY_KINDS];
    double contention;
    double regret[STUDY_OBJECTIVES][STUDY_PLANS]; /* time, energy: true cost of the plan divided by the least cost on a grid, minus 1 */
} study_result;

extern const char *const study_kinds[STUDY_KINDS];

/* path: prefix of temporary files.  Errors: those of the library. */
yoke_status study_machine(uint64_t seed, const char *path, study_result *result);

#endif
