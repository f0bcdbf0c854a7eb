/*
 * interpolation.h - interpolates the finite element function of one space to another one on the same or on finer leaves: between the levels
 * of the multigrid, from q1 to q2 on one forest, and from one refinement step to the next.
 */
#ifndef FEM_SPACE_INTERPOLATION_H
#define FEM_SPACE_INTERPOLATION_H

#include "space/space.h"

/* Sparse rows: value at i = sum over k in start[i] .. start[i+1] of weight[k] x value at node[k], the same for all components. */
typedef struct fem_rows {
    int64_t *start;
    int32_t *node;
    float *weight; /* dyadic fractions of few bits: exact in single precision between neighbouring levels */
} fem_rows;

typedef struct fem_interpolation {
    yoke_context *context;
    int32_t coarse_nodes, fine_nodes;
    fem_rows to_fine;   /* a row for each fine node */
    fem_rows to_coarse; /* its transpose; start is NULL if it was not requested */
} fem_interpolation;

/*
 * Creates the interpolation from `coarse` to `fine`, whose leaves are those of coarse or are inside them, on the same rank.  transpose:
 * nonzero: create to_coarse as well.  Rows of fine nodes without a home on this rank (space.h) are empty: fem_halo_agree gets the values of
 * others.  Not collective.
 * Errors: MEMORY, ARGUMENT (a leaf of fine is in no leaf of coarse).
 */
yoke_status fem_interpolation_create(const fem_space *coarse, const fem_space *fine, int transpose, fem_interpolation **interpolation);
void fem_interpolation_destroy(fem_interpolation *interpolation);

/* fine [fine_nodes][n] = the field coarse [coarse_nodes][n]. */
void fem_interpolation_apply(const fem_interpolation *interpolation, int n, const double *coarse, double *fine);

#endif
