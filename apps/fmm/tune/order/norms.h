/*
 * norms.h - how large potentials and forces are, from direct sums at a sample of the particles.
 */
#ifndef FMM_TUNE_ORDER_NORMS_H
#define FMM_TUNE_ORDER_NORMS_H

#include "near/sample.h"

/* Root mean squares over all particles, estimated, each with its standard error. */
typedef struct fmm_norms {
    double potential, potential_error;
    double force, force_error; /* of charge times gradient */
    fmm_mean_energy energy;    /* half of charge times potential */
    double charge;             /* root mean square of charges */
    double absolute;           /* root mean square of sum |q| / r: what rounding is relative to */
} fmm_norms;

/*
 * particles: in the order of a tree, along which the samples are spread evenly.  64 particles or more, where there are as many, are summed over all
 * others.  Where potentials differ much their standard error is large, and a higher order is taken: that takes less time than more samples, which do not
 * help where a few particles have most of the sum.  The same at each number of threads.  Errors: MEMORY.
 */
yoke_status fmm_norms_sample(const fmm_particles *particles, fmm_norms *norms);
/* From sums of the same particles, in any order, that are known; without gradients the force's are NaN.  Errors: MEMORY. */
yoke_status fmm_norms_known(const fmm_particles *particles, const fmm_reference *sums, fmm_norms *norms);

#endif
