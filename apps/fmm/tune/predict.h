/*
 * predict.h - predicts the time of a run at each depth, from its operations (count.h) and their costs (machine.h).
 */
#ifndef FMM_TUNE_PREDICT_H
#define FMM_TUNE_PREDICT_H

#include <math.h>

#include "tune/costs/machine.h"
#include "tune/counts/count.h"
#include "tune/counts/operations.h"

/* Seconds.  far: lists of far pairs, M2L, and all operations between particles and expansions. */
typedef struct fmm_seconds {
    double tree, near, far, total;
} fmm_seconds;
#define FMM_NOT_MEASURED ((fmm_seconds){NAN, NAN, NAN, NAN})

/* The set of plane waves with which an order is predicted; 0: none. */
int fmm_set_of(const fmm_machine *machine, int order);

/*
 * Predicts a run at a depth.  counts, cells: those of depths 0 ... depth.  order [depth + 1]: orders of the expansions of each level, as in
 * fmm_method_options.  *waves: returns the levels whose M2L takes less time by plane waves, as for fmm_method_set_waves; the prediction is
 * with these.
 */
fmm_seconds fmm_predict(const fmm_machine *machine, int64_t particles, const fmm_counts *counts, const fmm_cell_counts *cells, int depth,
                        const int *order, uint64_t *waves);

/* Predicts a run on an adaptive tree; order [depth + 1]. */
fmm_seconds fmm_predict_adaptive(const fmm_machine *machine, int64_t particles, const fmm_operations *operations, const int *order,
                                 uint64_t *waves);

/* Estimates the seconds of near and far field per particle if leaves have `size` particles each and no cell is empty.  This shows which
 * sizes may be best, without counts. */
double fmm_predict_filled(const fmm_machine *machine, int order, double size);

#endif
