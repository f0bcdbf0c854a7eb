/*
 * sample.h - errors of a field, from direct sums at some of the particles.
 */
#ifndef FMM_NEAR_SAMPLE_H
#define FMM_NEAR_SAMPLE_H

#include "particles/field.h"
#include "particles/particles.h"

/* Relative errors in the 2-norm over the particles of the sample: |error| / |direct sums|; forces NaN where the field has no gradients. */
typedef struct fmm_sample {
    int64_t count; /* particles of the sample */
    double potential, force;
    double potential_uncertainty, force_uncertainty; /* standard errors, as parts of them; 0 where the sample is all particles */
} fmm_sample;

/*
 * Compares with direct sums at `count` particles (or all, where there are no more), which are chosen at random, one from each of `count` equal parts of
 * their order.  Errors: those of fmm_scale_create and fmm_scale_field, MEMORY.
 */
yoke_status fmm_sample_error(const fmm_particles *particles, const fmm_field *field, int64_t count, uint64_t seed, fmm_sample *sample);

#endif
