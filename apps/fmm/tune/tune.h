/*
 * tune.h - the whole choice of a tree: costs of this machine, counts of the particles, and the best of all depths and capacities.
 */
#ifndef FMM_TUNE_TUNE_H
#define FMM_TUNE_TUNE_H

#include "tune/choose.h"

/* The order that expansions need at a depth; its status is passed on. */
typedef yoke_status fmm_order_function(void *user, const fmm_tree *tree, int depth, int *order);

typedef struct fmm_tune_options {
    yoke_objective objective;
    const char *store;    /* as in yoke_run_options */
    const char *declared; /* the same */
    int gradient;
    int depth; /* >= 0: the uniform tree of that depth only; below 0: the best of all */
    fmm_order_function *order;
    fmm_tune_progress *progress; /* NULL: none */
    void *user;                  /* of both */
} fmm_tune_options;

typedef struct fmm_tuned {
    fmm_choice choice;
    int measured_now;                            /* nonzero: this machine's costs were measured; zero: they were in the store */
    double machine_s, analysis_s;                /* that costs (of the store, or measured) and counts took; analysis_s: with the choice */
    fmm_seconds measured[FMM_MAX_DEPTH + 1];     /* of depths that were run; total NaN: not run */
    fmm_seconds measured_at[FMM_MAX_CAPACITIES]; /* of capacities, the same */
} fmm_tuned;

/* What was measured of the chosen tree. */
static inline const fmm_seconds *fmm_chosen_measured(const fmm_tuned *tuned)
{
    const fmm_choice *choice = &tuned->choice;
    return choice->adaptive < 0 ? &tuned->measured[choice->depth] : &tuned->measured_at[choice->adaptive];
}

/*
 * Errors: those of yoke_run_create, fmm_machine_get, fmm_analysis_create, fmm_choose, of order and progress.
 */
yoke_status fmm_tune(const fmm_particles *particles, const fmm_tune_options *options, fmm_tuned *tuned);

#endif
