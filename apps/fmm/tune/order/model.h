/*
 * model.h - the error that truncation leaves, from the strength of the cells' multipole expansions alone.
 *
 * If the terms of all pairs of cells were uncorrelated and all directions equally likely, the mean square of the term of degree k of a source and degree l
 * of a target at a distance d would be C(2l + 2k, 2l) <|x|^2l> Y_k / ((2l + 1) (2k + 1) d^(2l + 2k + 2)), with the power Y_k of the source's multipoles of
 * degree k (docs/methods/expansions.md).  Charges that cancel within a cell cancel here as well; sums over cells that cancel or add up are not seen.
 */
#ifndef FMM_TUNE_ORDER_MODEL_H
#define FMM_TUNE_ORDER_MODEL_H

#include "expansion/expansion.h"

typedef struct fmm_model {
    int highest;                                                  /* degree that is known of sources                           */
    double weight[FMM_MAX_ORDER + 1][FMM_MAX_ORDER + 1];          /* [order][degree] of a source's power, in units of the edge */
    double normal[(FMM_MAX_ORDER + 1) * (FMM_MAX_ORDER + 2) / 2]; /* of the squares of coefficients, for their power      */
} fmm_model;

/* For multipole expansions up to degree `highest`; what higher degrees contribute is not in it. */
void fmm_model_create(int highest, fmm_model *model);

/*
 * factor [harmonics up to `highest`]: what a cell contributes to the mean square of an order's error in a far cell, in units of their edge, is the sum of
 * the squares of its coefficients times these, the mean over all far cells.
 */
void fmm_model_factors(const fmm_model *model, int order, double *factor);

/* power [highest + 1]: of a multipole expansion, by degree; `imaginary`: where imaginary parts begin. */
void fmm_model_powers(const fmm_model *model, const double *multipole, int imaginary, double *power);

/* What errors are by what this model says, in the middle of grids, shells and clusters with random charges. */
double fmm_model_bias(int order);

#endif
