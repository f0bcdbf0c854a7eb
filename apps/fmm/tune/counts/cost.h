/*
 * cost.h - the cost of a depth: operations times their costs.
 *
 * Costs may have any unit: seconds, joules, instructions or cycles.
 */
#ifndef FMM_TUNE_COUNTS_COST_H
#define FMM_TUNE_COUNTS_COST_H

#include "tune/counts/count.h"

/* The cost of each of the operations of fmm_counts.  That of a far pair depends on the order of the expansions. */
typedef struct fmm_costs {
    double parent, z, y, x, neighbour, near, far;
} fmm_costs;

/*
 * The original cost model (J. Lang, sect. 3.2.1) without its weights: arithmetic operations of near and far pairs, each of operation_s, nothing for loops.
 * A pair of particles has 27 operations (16 without gradients), those of the near field's kernels.  A pair of cells has two translations of
 * (p + 1)(p + 2)(2 p + 3) operations: two rotations and a shift along the axis, each over l and m.
 */
fmm_costs fmm_costs_of_operations(int order, int gradient, double operation_s);

double fmm_cost(const fmm_counts *counts, const fmm_costs *costs);

#endif
