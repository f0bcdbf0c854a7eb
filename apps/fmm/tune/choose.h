/*
 * choose.h - the depth of least time or energy.
 *
 * Each depth is a round of a run (yoke/plan.h): tree, then near field, in blocks that devices can share, and far field, on the host alone.  The run's
 * planner takes the best by the run's objective.
 */
#ifndef FMM_TUNE_CHOOSE_H
#define FMM_TUNE_CHOOSE_H

#include "tune/analysis.h"
#include "tune/predict.h"

/* One depth. */
typedef struct fmm_depth {
    int order;
    double near_pairs, far_pairs; /* ordered pairs: of particles, of cells */
    fmm_seconds predicted;
    double predicted_j; /* NaN: powers are not known */
} fmm_depth;

typedef struct fmm_choice {
    int depth;       /* chosen */
    int first, last; /* that were compared */
    fmm_depth of[FMM_MAX_DEPTH + 1];
    yoke_cost predicted; /* of the chosen one, by the run */
} fmm_choice;

/* The predicted times of a depth, with expansions of the same order on all levels. */
void fmm_depth_predict(const fmm_machine *machine, const fmm_analysis *analysis, int depth, int order, fmm_depth *of);

/*
 * Takes the best of the depths first ... last that are predicted in choice->of.  host: number of the run's device that the machine's costs are of.
 * gradient: as in fmm_machine_options.
 * Errors: those of yoke_run_plan, MEMORY.
 */
yoke_status fmm_choose(yoke_run *run, int64_t host, int gradient, const fmm_machine *machine, fmm_choice *choice);

#endif
