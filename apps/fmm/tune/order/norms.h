/*
 * norms.h - estimates the norms of potentials and forces from direct sums at a sample of the particles.
 */
#ifndef FMM_TUNE_ORDER_NORMS_H
#define FMM_TUNE_ORDER_NORMS_H

#include "near/sample.h"
#include "tree/tree.h"

/* Estimated root mean squares over all particles, each with its standard error. */
typedef struct fmm_norms {
    double potential, potential_error;
    double force, force_error; /* of charge times gradient */
    fmm_mean_energy energy;    /* mean of half of charge times potential */
    double charge;             /* root mean square of charges */
    double absolute;           /* root mean square of sum |q| / r, to which rounding errors are relative */
} fmm_norms;

/*
 * Computes direct sums at 64 particles or more, if there are as many, which are evenly spaced along the particles; if most have small
 * charges or none, half of them are others.  particles: scaled (fmm_scale_create), in the order of the tree.  If potentials differ much, their standard error is large, and a higher order is taken: that
 * takes less time than a larger sample, which does not help if a few particles have most of the sum.  The result is the same for any number
 * of threads.  Errors: MEMORY.
 */
yoke_status fmm_norms_sample(const fmm_tree *tree, const fmm_particles *particles, fmm_norms *norms);
/* Uses known sums for the same particles, in any order; without gradients the norms of the force are NaN.  Errors: MEMORY. */
yoke_status fmm_norms_known(const fmm_particles *particles, const fmm_reference *sums, fmm_norms *norms);

#endif
