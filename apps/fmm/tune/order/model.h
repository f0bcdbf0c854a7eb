/*
 * model.h - a model of the truncation error that uses only the strength of the cells' multipole expansions.
 *
 * If the terms of all pairs of cells were uncorrelated and all directions equally likely, the mean square of the term of degree k of a
 * source and degree l of a target at a distance d would be C(2l + 2k, 2l) <|x|^2l> Y_k / ((2l + 1) (2k + 1) d^(2l + 2k + 2)), with the
 * power Y_k of the source's multipoles of degree k (docs/methods/expansions.md).  Charges that cancel within a cell cancel here as well.
 * The model does not include that sums over cells cancel or add up.
 */
#ifndef FMM_TUNE_ORDER_MODEL_H
#define FMM_TUNE_ORDER_MODEL_H

#include "expansion/expansion.h"

typedef struct fmm_model {
    int highest;                                                  /* the highest known degree of sources */
    double weight[FMM_MAX_ORDER + 1][FMM_MAX_ORDER + 1];          /* [order][degree] weight of a source's power, in units of the edge */
    double normal[(FMM_MAX_ORDER + 1) * (FMM_MAX_ORDER + 2) / 2]; /* factors of the squares of coefficients in their power */
} fmm_model;

/* Creates the model for multipole expansions up to degree `highest`; it does not include contributions of higher degrees. */
void fmm_model_create(int highest, fmm_model *model);

/*
 * factor [number of harmonics up to `highest`]: the sum of these factors times the squares of a cell's coefficients is the cell's
 * contribution to the mean square error of an order in a far cell, in units of their edge, averaged over all far cells.
 */
void fmm_model_factors(const fmm_model *model, int order, double *factor);

/* power [highest + 1]: the power of a multipole expansion by degree.  imaginary: index of the first imaginary part. */
void fmm_model_powers(const fmm_model *model, const double *multipole, int imaginary, double *power);

/* The median ratio of errors to this model, for grids, shells and clusters with random charges. */
double fmm_model_bias(int order);

#endif
