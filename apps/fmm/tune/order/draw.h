/*
 * draw.h - samples of cells and particles, drawn preferably where truncation errors are largest, with weights that turn sums over the
 * sample into means over all particles.
 *
 * Errors are uneven: beside a dense cluster they are larger by orders of magnitude.  With high orders they are larger at particles in the
 * corners of cells, due to particles in the corners of other cells (a term of degree k grows with the k-th power of the distance from the
 * centre).
 */
#ifndef FMM_TUNE_ORDER_DRAW_H
#define FMM_TUNE_ORDER_DRAW_H

#include <stdbool.h>

#include "method/method.h"
#include "tune/order/model.h"

/* A drawn cell of a level, or a drawn particle. */
typedef struct fmm_draw {
    int level;
    int32_t number;
    double times;  /* number of times that it was drawn */
    double weight; /* the mean of a value over all particles is the sum of times * weight * value over the draws of all levels */
} fmm_draw;

/* A point in the k-th of n equal parts of [0, 1), in a sequence without a period; 0 <= k < n. */
double fmm_sample_place(int64_t k, int64_t n);

/* Minimum number of cells of each level that are drawn. */
enum {
    FMM_LEAST_DRAWS = 2, /* of a level */
    FMM_FEW_CELLS = 8    /* levels with at most so many cells are taken whole: one cell can have all errors of lists W and X */
};

/*
 * Which particles are drawn more often than others: from some order on those in the corners of cells; and those with large charges, if
 * most have small ones or none, because the former have almost all of the forces and the energy.
 */
typedef struct fmm_favour {
    int order;
    double charge; /* the least absolute value of large charges; 0: there are no such differences */
} fmm_favour;

/* Returns fmm_favour.charge for these particles: a tenth of the root mean square of the charges, if less than half of all have as much. */
double fmm_large_charge(const fmm_particles *particles);

/*
 * Draws about `most` cells of all levels from 2 on: at least FMM_LEAST_DRAWS of each level, and more of levels where the model predicts
 * larger errors with the order.  If a level has no more cells than draws, or than FMM_FEW_CELLS, all its cells are taken, and
 * complete[level] is set.  draws: room for `most` plus FMM_FEW_CELLS for each level; *count: number of draws, in the order of their levels and numbers.
 * The result is the same for any number of threads.  Errors: MEMORY.
 */
yoke_status fmm_draw_cells(const fmm_expanded *expanded, const fmm_model *model, fmm_favour of, int most, fmm_draw *draws, int *count,
                           bool complete[FMM_MAX_DEPTH + 1]);

/*
 * Draws distinct particles at which direct sums determine the error of a field (near/sample.h): which [count], count <= tree->count, has
 * their numbers before sorting, weight [count] their weights.  Half of them are favoured ones (fmm_favour), if there are any.  Errors:
 * MEMORY.
 */
yoke_status fmm_draw_reference(const fmm_tree *tree, const fmm_particles *sorted, int order, int64_t count, int64_t *which, double *weight);

/* The same, with numbers of the sorted particles. */
yoke_status fmm_draw_sorted(const fmm_tree *tree, const fmm_particles *sorted, int order, int64_t count, int64_t *which, double *weight);

/* Draws at most `most` particles of a cell, with weights for means over the cell; returns their number. */
int fmm_draw_particles(const fmm_tree *tree, const fmm_particles *particles, int level, int32_t cell, fmm_favour of, int most,
                       fmm_draw *draws);

/* error [model->highest + 1]: the root mean square error of each order, 0 ... model->highest, by the model, estimated from some of the
 * cells. */
void fmm_model_errors(const fmm_expanded *expanded, const fmm_model *model, double *error);

#endif
