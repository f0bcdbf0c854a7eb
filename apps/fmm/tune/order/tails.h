/*
 * tails.h - the error that truncation leaves at particles, measured at a sample of cells.
 *
 * At a cell, expansions of an order and of a higher order of all its far cells differ by the terms that the order leaves out, but for those that both
 * do.  The charges are what they are, so that whatever cancels among them cancels here as well.
 */
#ifndef FMM_TUNE_ORDER_TAILS_H
#define FMM_TUNE_ORDER_TAILS_H

#include "expansion/waves.h"
#include "tune/order/draw.h"

enum {
    FMM_HIGH_ORDER = 10, /* from which on charges in the corners of cells have most of the error */
    FMM_WAVE_DRAWS = 8   /* cells at which errors of plane waves are measured, or one on each of more levels */
};

/* Those of each of so many levels, at least 1. */
int fmm_wave_draws(int levels);

/*
 * Over all particles of a tree, estimated: of the error of the potential its mean and the mean of its square, of that of the force (charge times
 * gradient) the mean square; each of the squares with its standard error.
 */
typedef struct fmm_tail {
    double mean, square, square_error;
    double force_square, force_square_error;
    double energy,
        energy_error; /* mean of charge times error of the potential, half of it a particle's part in the error of the energy; standard error */
    double energy_square; /* of its sums over cells the squares, divided by the number of particles */
} fmm_tail;

/*
 * What the far pairs of the levels of some cells (fmm_draw_cells) contribute with orders order [orders] (ascending): the difference to a higher order,
 * `reference`, which the expansions have at least.  tail [levels * orders]: of level l, 2 ... the tree's depth, from (l - 2) * orders on.  Errors: MEMORY.
 */
typedef struct fmm_survey_options {
    int draws;
    const fmm_draw *draw;
    const bool *complete; /* by level */
    int reference, orders;
    const int *order;
    const fmm_waves *waves; /* NULL, or tables of the only order: what M2L by them lacks, against rotations of the reference */
} fmm_survey_options;
yoke_status fmm_tails_measure(const fmm_expanded *expanded, const fmm_survey_options *options, fmm_tail *tail);

#endif
