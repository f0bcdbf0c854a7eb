/*
 * choose.h - the tree of least time or energy: uniform of some depth, or adaptive with leaves of some capacity.
 *
 * Each tree is a round of a run (yoke/plan.h): tree, then near field, in blocks that devices can share, and far field, on the host alone.  The run's
 * planner takes the best by the run's objective.
 */
#ifndef FMM_TUNE_CHOOSE_H
#define FMM_TUNE_CHOOSE_H

#include "method/shared.h"
#include "tune/counts/analysis.h"
#include "tune/counts/even.h"
#include "tune/predict.h"

/* One tree. */
typedef struct fmm_depth {
    int order;
    uint64_t waves;               /* levels whose M2L is by plane waves, as fmm_method_set_waves has them, ... */
    int set;                      /* ... of this set */
    double near_pairs, far_pairs; /* ordered pairs: of particles, of cells */
    int64_t leaves;
    double leaf_particles; /* of a leaf, in the mean over near pairs */
    fmm_seconds predicted;
    double predicted_j;   /* NaN: powers are not known */
    double by_operations; /* seconds by the original cost model (cost.h); 0: not a tree of powers of two */
    /* With a near field that devices share (shares.h); predicted.near is what goes on beside the far field no more, then. */
    int devices;                          /* of the run; 0: the cores alone */
    double part[FMM_MAX_DEVICES];         /* of the leaves, for each device */
    double frequency_hz[FMM_MAX_DEVICES]; /* NaN: left as it is */
    fmm_shared_work work;
} fmm_depth;

typedef struct fmm_choice {
    int depth;       /* chosen; of an adaptive tree the one that it has */
    int first, last; /* that were compared */
    fmm_depth of[FMM_MAX_DEPTH + 1];
    int adaptive;       /* chosen: number of the capacity; below 0: a uniform tree */
    int num_capacities; /* that were compared too */
    int64_t capacity[FMM_MAX_CAPACITIES];
    int depth_at[FMM_MAX_CAPACITIES]; /* of the adaptive trees */
    fmm_depth at[FMM_MAX_CAPACITIES];
    int takes_cells; /* nonzero: chosen is the uniform tree between two depths */
    int64_t cells;   /* along each side of the particles, of such a tree that was compared too; 0: none */
    fmm_depth of_cells;
    int estimated;       /* nonzero: the depths were not counted, but are as if particles filled their box evenly (even.h) */
    yoke_cost predicted; /* of the chosen one, by the run */
} fmm_choice;

/* What is predicted of the chosen tree. */
static inline const fmm_depth *fmm_chosen(const fmm_choice *choice)
{
    if (choice->takes_cells) return &choice->of_cells;
    return choice->adaptive < 0 ? &choice->of[choice->depth] : &choice->at[choice->adaptive];
}

/* Of first ... last, the depth of least cost by counted operations. */
int fmm_depth_by_operations(const fmm_choice *choice);
/* Takes a depth of first ... last. */
void fmm_choice_take_depth(fmm_choice *choice, int depth);
/*
 * Takes a tree that was chosen before, by its leaves' capacity, or else cells along each side, or else depth, if the chosen one is not faster by more than least_s.
 * Returns whether it is the chosen one now; not where it was not compared.
 */
int fmm_choice_keep(fmm_choice *choice, int depth, int64_t capacity, int64_t cells, double least_s);
/* What a run of the chosen tree had of plane waves; levels 0: none. */
void fmm_choice_take_waves(fmm_choice *choice, uint64_t levels, int set);

/* The predicted times of a depth, with expansions of the same order on all levels.  gradient: as in fmm_machine_options. */
void fmm_depth_predict(const fmm_machine *machine, const fmm_analysis *analysis, int depth, int order, int gradient, fmm_depth *of);

/*
 * The same of the adaptive trees of choice->capacity, in choice->at.  Errors: those of fmm_analysis_capacities.
 */
yoke_status fmm_capacities_predict(const fmm_machine *machine, fmm_analysis *analysis, int order, int gradient, fmm_choice *choice);

/*
 * Leaves out adaptive trees that are another tree of the choice by another name: a uniform one, where all leaves are on one level of first ... last, or
 * that of the capacity before.
 */
void fmm_choice_leave_equal_out(const fmm_analysis *analysis, fmm_choice *choice);

/* All trees of a choice: uniform ones, then adaptive ones, then the one between two depths. */
int fmm_choice_count(const fmm_choice *choice);
fmm_depth *fmm_choice_tree(fmm_choice *choice, int number);
/* Makes it the chosen one. */
void fmm_choice_take(fmm_choice *choice, int number);

/* Cells along each side of trees between depths depth - 1 and depth, ascending; returns their number. */
enum { FMM_MAX_BETWEEN = 8 };
int fmm_cells_between(int depth, int64_t cells[FMM_MAX_BETWEEN]);
/* A number of the tree of so many cells along each side, from those of trees with fewer and more, straight in logarithms; 0 where one of them is. */
double fmm_between(double fewer, int64_t cells_fewer, double more, int64_t cells_more, int64_t cells);

/* What trees of particles that fill their box evenly are estimated with. */
typedef struct fmm_estimating {
    const fmm_machine *machine;
    const fmm_even *even;
    int order, gradient; /* as in fmm_depth_predict */
} fmm_estimating;

/* As fmm_depth_predict, of the tree with so many cells along the longest side, without counting. */
void fmm_depth_estimate(const fmm_estimating *of, int64_t cells, fmm_depth *tree);
/*
 * The number of cells along the longest side, not a power of two, of the tree that is estimated to be faster than those of all depths 0 ... last by far; 0: there is
 * none.  One that was taken before, `kept` (0: none), stays if no other tree is faster by far.  Another one takes sort_s more.  *total_s is its time.
 */
int64_t fmm_cells_estimate(const fmm_estimating *of, int last, int64_t kept, double sort_s, double *total_s);

/*
 * Takes the best of the depths first ... last that are predicted in choice->of, of the capacities in choice->at, and of choice->of_cells.  host: number of the run's device that the machine's costs are of.
 * gradient: as in fmm_machine_options.
 * Errors: those of yoke_run_plan, MEMORY.
 */
yoke_status fmm_choose(yoke_run *run, int64_t host, int gradient, const fmm_machine *machine, fmm_choice *choice);

#endif
