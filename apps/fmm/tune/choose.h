/*
 * choose.h - chooses the tree of least time or energy: a uniform tree of some depth, or an adaptive tree with leaves of some capacity.
 *
 * Each tree is a round of a run (yoke/plan.h): first the tree, then the near field, in blocks that devices can share, and the far field, on
 * the host alone.  The run's planner takes the best tree by the run's objective.
 */
#ifndef FMM_TUNE_CHOOSE_H
#define FMM_TUNE_CHOOSE_H

#include "method/shared.h"
#include "tune/counts/analysis.h"
#include "tune/counts/even.h"
#include "tune/predict.h"

/* Counts and predictions for one tree, and its times. */
typedef struct fmm_depth {
    int order;
    uint64_t waves;               /* levels whose M2L uses plane waves, as for fmm_method_set_waves, ... */
    int set;                      /* ... of this set */
    double near_pairs, far_pairs; /* ordered pairs: of particles, of cells */
    int64_t leaves;
    double leaf_particles; /* number of particles of a leaf, as mean over near pairs */
    fmm_seconds predicted;
    fmm_seconds measured; /* total NaN: it was not run */
    double predicted_j;   /* NaN: powers are not known */
    double by_operations; /* seconds by the original cost model (cost.h); 0: not a tree of powers of two */
    /* If devices share the near field (shares.h); predicted.near is then the time of the near field after the end of the far field. */
    int devices;                          /* number of devices of the run; 0: the cores alone */
    double part[FMM_MAX_DEVICES];         /* share of each device in the leaves */
    double frequency_hz[FMM_MAX_DEVICES]; /* NaN: left unchanged */
    fmm_shared_work work;
} fmm_depth;

typedef struct fmm_choice {
    int depth;       /* the chosen depth; for an adaptive tree the depth that it has reached */
    int first, last; /* the depths that were compared */
    fmm_depth of[FMM_MAX_DEPTH + 1];
    int adaptive;       /* number of the chosen capacity; below 0: a uniform tree was chosen */
    int num_capacities; /* number of capacities that were compared too */
    int64_t direct;     /* of fmm_method_options: adaptive trees were counted with it */
    int64_t capacity[FMM_MAX_CAPACITIES];
    int depth_at[FMM_MAX_CAPACITIES]; /* of the adaptive trees */
    fmm_depth at[FMM_MAX_CAPACITIES];
    int takes_cells; /* nonzero: the uniform tree between two depths was chosen */
    int64_t cells;   /* cells along each side of the particles, for such a tree that was compared too; 0: none */
    fmm_depth of_cells;
    int thin;            /* nonzero: no adaptive trees were counted, because the particles are on surfaces or curves (thin.h) */
    int estimated;       /* nonzero: the depths were not counted, but estimated for particles that fill their box evenly (even.h) */
    yoke_cost predicted; /* of the chosen tree, by the run */
} fmm_choice;

/* The chosen tree. */
static inline const fmm_depth *fmm_chosen(const fmm_choice *choice)
{
    if (choice->takes_cells) return &choice->of_cells;
    return choice->adaptive < 0 ? &choice->of[choice->depth] : &choice->at[choice->adaptive];
}

/* The depth of first ... last with the least cost by counted operations. */
int fmm_depth_by_operations(const fmm_choice *choice);
/* Makes a depth of first ... last the chosen one. */
void fmm_choice_take_depth(fmm_choice *choice, int depth);
/*
 * Makes a tree that was chosen before the chosen one again, unless the currently chosen one is faster by more than least_s.  The earlier
 * tree is given by its leaves' capacity, or else its cells along each side, or else its depth.  Returns whether it is the chosen one now;
 * it is not if it was not compared.
 */
int fmm_choice_keep(fmm_choice *choice, int depth, int64_t capacity, int64_t cells, double least_s);

/* Predicts the times of a depth, with expansions of the same order on all levels.  gradient: as in fmm_machine_options. */
void fmm_depth_predict(const fmm_machine *machine, const fmm_analysis *analysis, int depth, int order, int gradient, fmm_depth *of);

/*
 * The same for the adaptive trees of choice->capacity, in choice->at.  Errors: those of fmm_analysis_capacities.
 */
yoke_status fmm_capacities_predict(const fmm_machine *machine, fmm_analysis *analysis, int order, int gradient, fmm_choice *choice);

/*
 * Removes adaptive trees that are identical to another tree of the choice: to a uniform tree, if all leaves are on one level of first ...
 * last, or to the tree of the previous capacity.
 */
void fmm_choice_leave_equal_out(const fmm_analysis *analysis, fmm_choice *choice);

/* The trees of a choice by number: uniform ones, then adaptive ones, then the one between two depths. */
int fmm_choice_count(const fmm_choice *choice);
fmm_depth *fmm_choice_tree(fmm_choice *choice, int number);
/* The number of the chosen tree. */
int fmm_choice_taken(const fmm_choice *choice);
/* Makes a tree the chosen one. */
void fmm_choice_take(fmm_choice *choice, int number);

/* The numbers of cells along each side of trees between depths depth - 1 and depth, ascending; returns how many there are. */
enum { FMM_MAX_BETWEEN = 8 };
int fmm_cells_between(int depth, int64_t cells[FMM_MAX_BETWEEN]);
/* Interpolates a number for the tree with `cells` cells along each side from those of trees with fewer and more cells, linearly in
 * logarithms; 0 if one of them is 0. */
double fmm_between(double fewer, int64_t cells_fewer, double more, int64_t cells_more, int64_t cells);

/* Data for estimates of trees whose particles fill their box evenly. */
typedef struct fmm_estimating {
    const fmm_machine *machine;
    const fmm_even *even;
    int order, gradient; /* as in fmm_depth_predict */
} fmm_estimating;

/* As fmm_depth_predict, for the tree with `cells` cells along the longest side, without counting. */
void fmm_depth_estimate(const fmm_estimating *of, int64_t cells, fmm_depth *tree);
/*
 * The number of cells along the longest side, not a power of two, of the tree that is estimated to be faster by far than those of all
 * depths 0 ... last; 0: there is none.  A tree that was taken before, `kept` (0: none), is kept if no other tree is faster by far.  Any
 * other tree takes sort_s more.  *total_s: the time of the result.
 */
int64_t fmm_cells_estimate(const fmm_estimating *of, int last, int64_t kept, double sort_s, double *total_s);

/*
 * Chooses the best of the depths first ... last that are predicted in choice->of, of the capacities in choice->at, and of choice->of_cells:
 * by a plan of the run, or the fastest one if the host is the only device and its power is not known.
 * host: number of the run's device to which the machine's costs belong.  gradient: as in fmm_machine_options.
 * Errors: those of yoke_run_plan, MEMORY.
 */
yoke_status fmm_choose(yoke_run *run, int64_t host, int gradient, const fmm_machine *machine, fmm_choice *choice);

#endif
