/*
 * predict.h - the time of a run at each depth, from what it does (count.h) and what that costs (machine.h).
 */
#ifndef FMM_TUNE_PREDICT_H
#define FMM_TUNE_PREDICT_H

#include "tune/costs/machine.h"
#include "tune/counts/count.h"
#include "tune/counts/operations.h"

/* Seconds; far: lists of far pairs, M2L, and all between particles and expansions. */
typedef struct fmm_seconds {
    double tree, near, far, total;
} fmm_seconds;

/* The set of plane waves that an order is predicted with; 0: none. */
int fmm_set_of(const fmm_machine *machine, int order);

/*
 * A run at a depth.  counts, cells: those of depths 0 ... depth; order: [depth + 1] of the expansions of each level, as fmm_method_options has them.
 * waves: the levels whose M2L takes less time by plane waves, as fmm_method_set_waves has them; what is predicted is with these.
 */
fmm_seconds fmm_predict(const fmm_machine *machine, int64_t particles, const fmm_counts *counts, const fmm_cell_counts *cells, int depth,
                        const int *order, uint64_t *waves);

/* A run on an adaptive tree; order: [depth + 1].  gradient: that of the machine's costs. */
fmm_seconds fmm_predict_adaptive(const fmm_machine *machine, int64_t particles, int gradient, const fmm_operations *operations,
                                 const int *order, uint64_t *waves);

/* About what near and far field take of a particle where leaves have `size` each and no cell is empty: tells which sizes may be best, without counts. */
double fmm_predict_filled(const fmm_machine *machine, int order, double size);

#endif
