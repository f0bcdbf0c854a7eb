/*
 * tune.h - the whole choice of a tree: costs of this machine, counts of the particles, and the best of all depths and capacities.
 */
#ifndef FMM_TUNE_TUNE_H
#define FMM_TUNE_TUNE_H

#include "tune/choose.h"

/* Fewer particles have no tree chosen: all their pairs take less than a millisecond, and this machine need not be measured for them. */
enum { FMM_FEW_PARTICLES = 1000 };

typedef struct fmm_tune_options {
    yoke_objective objective;
    fmm_measure measure;  /* of what the least is taken; not seconds: the objective is time, and devices are none */
    const char *store;    /* as in yoke_run_options */
    const char *declared; /* the same */
    int gradient;
    int order;                   /* of the first choice, about: costs of others are measured where a choice needs them */
    int single;                  /* nonzero: the first choice has the near field in single precision, likewise */
    yoke_run *devices;           /* that share the near field, of fmm_shared_open; NULL: the cores alone */
    const double *share;         /* as they were given it */
    int by_operations;           /* nonzero: of the depths, that of the original cost model (cost.h) */
    int depth;                   /* >= 0: the uniform tree of that depth only; below 0: the best of all */
    int all;                     /* nonzero: all trees are compared, also where estimates do to choose one */
    fmm_tune_progress *progress; /* NULL: none */
    void *user;                  /* of progress */
} fmm_tune_options;

/* Of a measure that is not seconds all numbers that are called seconds, of trees, are counts by FMM_COUNTS_OF_SECOND. */
typedef struct fmm_tuned {
    fmm_measure measure;
    fmm_choice choice;
    int measured_now;                        /* nonzero: this machine's costs were measured; zero: they were in the store */
    double disturbed;                        /* as in fmm_machine */
    double machine_s;                        /* that costs took: of the store, or measured */
    double sort_s;                           /* that sorting took: part of a run on the tree that is taken over, as predictions have it */
    double analysis_s;                       /* that counts and choice took besides */
    fmm_seconds measured[FMM_MAX_DEPTH + 1]; /* of depths that were run; total NaN: not run */
    fmm_seconds measured_at[FMM_MAX_CAPACITIES]; /* of capacities, the same */
    fmm_seconds measured_cells;                  /* of the tree between two depths, the same */
    fmm_factor factor[FMM_TIMED_PARTS];          /* in predictions, by earlier runs */
} fmm_tuned;

/* What was measured of the chosen tree. */
static inline const fmm_seconds *fmm_chosen_measured(const fmm_tuned *tuned)
{
    const fmm_choice *choice = &tuned->choice;
    if (choice->takes_cells) return &tuned->measured_cells;
    return choice->adaptive < 0 ? &tuned->measured[choice->depth] : &tuned->measured_at[choice->adaptive];
}

/* Costs of this machine, and the sorted keys of particles: asked for several orders, and for other particles. */
typedef struct fmm_tuner fmm_tuner;

/*
 * options are borrowed until it is destroyed.  Measures this machine where that was not done before, with devices at all orders.
 * Errors: those of yoke_run_create, fmm_counter_open, fmm_machine_get, fmm_machine_measure and progress, MEMORY.
 */
yoke_status fmm_tuner_create(yoke_context *context, const fmm_tune_options *options, fmm_tuner **tuner);
/* What runs are told in that are compared with predictions; NULL: seconds. */
const fmm_clock *fmm_tuner_clock(const fmm_tuner *tuner);
/* Nonzero: this machine was measured since it was created.  A run that is open since before does not know of it, and would write its store without. */
int fmm_tuner_measured(const fmm_tuner *tuner);
/* Those that trees are chosen for from now on; borrowed until others are set, or NULL. */
void fmm_tuner_set_particles(fmm_tuner *tuner, const fmm_particles *particles);
/* Plane waves are of the set whose number is so much above the order from now on; below 0: predictions are without waves. */
void fmm_tuner_set_waves(fmm_tuner *tuner, int finer);
/* The near field is predicted in single precision from now on, or in double precision. */
void fmm_tuner_set_single(fmm_tuner *tuner, int single);
/* NULL allowed. */
void fmm_tuner_destroy(fmm_tuner *tuner);

/*
 * For the particles that were set, with expansions of an order.  Costs of the order that nobody measured yet are measured.  tuned->machine_s is 0 from the second
 * time on, unless they were.  Errors: those of fmm_tuner_create, fmm_analysis_create and fmm_choose.
 */
yoke_status fmm_tuner_choose(fmm_tuner *tuner, int order, fmm_tuned *tuned);

/*
 * Later predictions learn from what was measured of the tree that tuned chose; parts that were not measured are NaN there.  The store is written after the
 * 1st, 2nd, 4th, 8th ... run of a tuner; where there is none, and of counts, nothing is learned.  Errors: those of yoke_run_create, yoke_run_calibrate and yoke_run_save.
 */
yoke_status fmm_tuner_learn(fmm_tuner *tuner, const fmm_tuned *tuned);

/*
 * The sorted particles, for fmm_method_options of any depth or capacity (cells 0), or of the tree between two depths with so many cells along each side; the caller's
 * then.  NULL: they are not sorted so, or it was taken.
 */
fmm_tree *fmm_tuner_take_tree(fmm_tuner *tuner, int64_t cells);

#endif
