/*
 * draw.h - cells and particles drawn where truncation errs most, with weights that make means over draws means over all.
 *
 * Errors are uneven: beside a dense cluster they are larger by orders of magnitude, and with high orders so are those of particles in the corners of
 * cells, due to particles in the corners of others (a term of degree k grows with the k-th power of the distance from the centre).
 */
#ifndef FMM_TUNE_DRAW_H
#define FMM_TUNE_DRAW_H

#include "particles/particles.h"
#include "tree/tree.h"

typedef struct fmm_draw {
    int32_t number; /* of a cell or a particle */
    double times;   /* how often it was drawn */
    double weight;  /* its share among all by the probability of a draw: the mean of a value is the mean of weight times value over draws */
} fmm_draw;

/* A place in the k-th of n equal parts of [0, 1), in a sequence without a period; 0 <= k < n. */
double fmm_sample_place(int64_t k, int64_t n);

/*
 * At most `most` cells of a level (2 or below), each with the share of its particles; all where there are no more.  order: of the expansions that err.
 * draws [most]; *count: how many.  The same at each number of threads.  Errors: MEMORY.
 */
yoke_status fmm_draw_cells(const fmm_tree *tree, const fmm_particles *particles, int level, int order, int most, fmm_draw *draws,
                           int *count);

/* The same of a cell's particles. */
int fmm_draw_particles(const fmm_tree *tree, const fmm_particles *particles, int level, int32_t cell, int order, int most, fmm_draw *draws);

#endif
