/*
 * tails.h - measures the truncation error at particles, for a sample of cells.
 *
 * At a cell, the expansions of its far cells of an order and of a higher order differ by the terms that the order omits, except for those
 * that both orders omit.  The actual charges are used, so whatever cancels among them cancels here as well.
 */
#ifndef FMM_TUNE_ORDER_TAILS_H
#define FMM_TUNE_ORDER_TAILS_H

#include "expansion/waves.h"
#include "tune/order/draw.h"

enum {
    FMM_HIGH_ORDER = 10, /* from this order on, charges in the corners of cells have most of the error */
    FMM_WAVE_DRAWS = 8   /* number of cells at which errors of plane waves are measured; with more levels, one on each level */
};

/* The number of these cells on each of `levels` levels, at least 1. */
int fmm_wave_draws(int levels);

/*
 * Estimates over all particles of a tree: mean and mean square of the error of the potential, and mean square of the error of the force
 * (charge times gradient); each of the mean squares has its standard error.
 */
typedef struct fmm_tail {
    double mean, square, square_error;
    double force_square, force_square_error;
    /* Mean of charge times error of the potential, half of which is a particle's part in the error of the energy; its standard error. */
    double energy, energy_error;
    double energy_square; /* squares of its sums over cells, divided by the number of particles */
} fmm_tail;

/*
 * Measures the truncation error of far pairs by level, at drawn cells (fmm_draw_cells), for order [orders] (ascending), as the difference
 * to a higher order `reference`, which the expansions must have at least.  tail [levels * orders]: level l, 2 ... the tree's depth, begins
 * at (l - 2) * orders.
 * Errors: MEMORY.
 */
typedef struct fmm_survey_options {
    int draws;
    const fmm_draw *draw;
    const bool *complete; /* by level */
    int reference, orders;
    const int *order;
    double charge; /* of fmm_favour */
    /* NULL, or tables for the only order: the error of M2L by these waves is measured, against rotations of `reference`. */
    const fmm_waves *waves;
} fmm_survey_options;
yoke_status fmm_tails_measure(const fmm_expanded *expanded, const fmm_survey_options *options, fmm_tail *tail);

#endif
