/*
 * tune.h - the complete choice of a tree: costs on this machine, counts for the particles, and the best of all depths and capacities.
 */
#ifndef FMM_TUNE_TUNE_H
#define FMM_TUNE_TUNE_H

#include "tune/choose.h"

/* For fewer particles no tree is chosen: all their pairs take less than a millisecond, and this machine need not be measured for them. */
enum { FMM_FEW_PARTICLES = 1000 };

typedef struct fmm_tune_options {
    yoke_objective objective;
    fmm_measure measure;  /* the quantity that is minimised; if it is not seconds, the objective is time and there are no devices */
    const char *store;    /* as in yoke_run_options */
    const char *declared; /* as in yoke_run_options */
    int gradient;
    int order;                   /* approximate order of the first choice; costs of other orders are measured when a choice needs them */
    int single;                  /* nonzero: the near field of the first choice is in single precision, likewise */
    yoke_run *devices;           /* devices that share the near field, of fmm_shared_open; NULL: the cores alone */
    const double *share;         /* as given to the devices */
    int by_operations;           /* nonzero: chooses the depth by the original cost model (cost.h) */
    int depth;                   /* >= 0: only the uniform tree of this depth; below 0: the best of all trees */
    int all;                     /* nonzero: all trees are compared, also if estimates suffice to choose one */
    int keeps_memory;            /* nonzero: the allocator keeps released memory (expansion/pages.h); that of measurements is given back */
    fmm_tune_progress *progress; /* NULL: none */
    void *user;                  /* passed to progress */
} fmm_tune_options;

/* The result of a choice.  If the measure is not seconds, all numbers of trees that are called seconds are counts divided by
 * FMM_COUNTS_OF_SECOND. */
typedef struct fmm_tuned {
    fmm_measure measure;
    fmm_choice choice;
    int measured_now;                   /* nonzero: this machine's costs were measured; zero: they were in the store */
    double disturbed;                   /* as in fmm_machine */
    double machine_s;                   /* time to read costs from the store or to measure them */
    double sort_s;                      /* time of sorting: predictions count it as part of a run on the tree that is taken over */
    double analysis_s;                  /* time of counts and choice in addition */
    fmm_factor factor[FMM_TIMED_PARTS]; /* factors in the predictions, from earlier runs */
} fmm_tuned;

/* Costs on this machine, and the sorted keys of particles.  A tuner is used for several orders, and for several sets of particles. */
typedef struct fmm_tuner fmm_tuner;

/*
 * Creates a tuner.  `options` is borrowed until it is destroyed.  Costs on this machine that are not known yet are measured, at orders around
 * the given one.
 * Errors: those of yoke_run_create, fmm_counter_open, fmm_machine_get, fmm_machine_measure and progress, MEMORY.
 */
yoke_status fmm_tuner_create(yoke_context *context, const fmm_tune_options *options, fmm_tuner **tuner);
/* The clock for runs that are compared with predictions; NULL: seconds. */
const fmm_clock *fmm_tuner_clock(const fmm_tuner *tuner);
/* Sets the particles for which trees are chosen from now on; borrowed until others, or NULL, are set. */
void fmm_tuner_set_particles(fmm_tuner *tuner, const fmm_particles *particles);
/* From now on predictions use the set of plane waves whose number is `finer` above the order; below 0: no waves. */
void fmm_tuner_set_waves(fmm_tuner *tuner, int finer);
/* From now on the near field is predicted in single precision, or in double precision. */
void fmm_tuner_set_single(fmm_tuner *tuner, int single);
/* NULL is allowed. */
void fmm_tuner_destroy(fmm_tuner *tuner);

/*
 * Chooses a tree for the particles that were set, with expansions of an order.  Costs of the order that are not known yet are measured.
 * From the second call on, tuned->machine_s is 0 unless costs were measured.  Errors: those of fmm_tuner_create, fmm_analysis_create and
 * fmm_choose.
 */
yoke_status fmm_tuner_choose(fmm_tuner *tuner, int order, fmm_tuned *tuned);

/*
 * Replaces the predicted time of sorting by the measured one in the predictions of all trees.  Call it after the last choice for these
 * particles: a choice by the measured time would depend on what else the machine did meanwhile.  With devices or counts it does nothing.
 */
void fmm_tuner_take_sorting(const fmm_tuner *tuner, fmm_tuned *tuned);

/*
 * Corrects later predictions by the measured seconds of the tree that `tuned` chose; parts that were not measured are NaN there.  The store
 * is written after the 1st, 2nd, 4th, 8th ... run of a tuner.  Nothing is learned without a store, or from counts.
 * Errors: those of yoke_run_create, yoke_run_calibrate and yoke_run_save.
 */
yoke_status fmm_tuner_learn(fmm_tuner *tuner, const fmm_tuned *tuned);

/*
 * Returns the tree of the sorted particles, for fmm_method_options of any depth or capacity (cells 0), or for the tree between two depths
 * with `cells` cells along each side.  The caller owns it.  NULL: particles are not sorted in this way, or the tree was already taken.
 */
fmm_tree *fmm_tuner_take_tree(fmm_tuner *tuner, int64_t cells);

#endif
