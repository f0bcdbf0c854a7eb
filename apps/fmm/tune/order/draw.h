/*
 * draw.h - cells and particles drawn where truncation errs most, with weights that make sums over draws means over all.
 *
 * Errors are uneven: beside a dense cluster they are larger by orders of magnitude, and with high orders so are those of particles in the corners of
 * cells, due to particles in the corners of others (a term of degree k grows with the k-th power of the distance from the centre).
 */
#ifndef FMM_TUNE_ORDER_DRAW_H
#define FMM_TUNE_ORDER_DRAW_H

#include <stdbool.h>

#include "method/method.h"
#include "tune/order/model.h"

/* A cell of a level, or a particle. */
typedef struct fmm_draw {
    int level;
    int32_t number;
    double times;  /* how often it was drawn */
    double weight; /* the mean over all particles of a value is the sum of times * weight * value over the draws of all levels */
} fmm_draw;

/* A place in the k-th of n equal parts of [0, 1), in a sequence without a period; 0 <= k < n. */
double fmm_sample_place(int64_t k, int64_t n);

/* At least so many cells of each level are drawn. */
enum { FMM_LEAST_DRAWS = 2 };

/*
 * Cells of all levels from 2 on, `most` of them or some more: at least FMM_LEAST_DRAWS of each level, more of those where the model sees larger errors with
 * an order.  Of levels with no more cells than draws all are taken: complete[level] is set.
 * draws: room for `most` and FMM_LEAST_DRAWS of each level; *count: how many, in the order of their levels and numbers.
 * The same at each number of threads.  Errors: MEMORY.
 */
yoke_status fmm_draw_cells(const fmm_expanded *expanded, const fmm_model *model, int order, int most, fmm_draw *draws, int *count,
                           bool complete[FMM_MAX_DEPTH + 1]);

/*
 * Different particles at which direct sums tell the error of a field (near/sample.h): which [count], count <= tree->count, their numbers before they were
 * sorted, and weight [count].  From some order on half of them in corners of leaves.  Errors: MEMORY.
 */
yoke_status fmm_draw_reference(const fmm_tree *tree, const fmm_particles *sorted, int order, int64_t count, int64_t *which, double *weight);

/* Particles of a cell, at most `most`, with weights for means over the cell. */
int fmm_draw_particles(const fmm_tree *tree, const fmm_particles *particles, int level, int32_t cell, int order, int most, fmm_draw *draws);

/* The root mean square of errors of each order, 0 ... model->highest, by the model, to error [highest + 1]; from some of the cells. */
void fmm_model_errors(const fmm_expanded *expanded, const fmm_model *model, double *error);

#endif
