/*
 * sample.h - errors of a field, from direct sums at some of the particles.
 */
#ifndef FMM_NEAR_SAMPLE_H
#define FMM_NEAR_SAMPLE_H

#include "particles/field.h"
#include "particles/particles.h"

/*
 * Relative errors in the 2-norm over all particles, |error| / |exact|, estimated: errors are those of the sample, while what they are relative to is that of
 * the field at all particles, corrected by the sample.  (A few close pairs can have most of it, which samples miss or take for many.)  Forces NaN where the
 * field has no gradients.
 */
typedef struct fmm_sample {
    int64_t count; /* particles of the sample */
    double potential, force;
    double potential_uncertainty, force_uncertainty; /* standard errors, as parts of them; 0 where the sample is all particles */
    double energy,
        energy_deviation; /* of the energy, relative to it: |error| as the sample has it, and its standard error; NaN where the energy is 0 */
    double energy_norm;   /* fmm_reference_energy's estimate of it in units of what it is */
    double potential_norm, force_norm; /* |exact| by the sample's sums alone, in units of that by all particles   */
} fmm_sample;

/* Direct sums at some of the particles, each of which stands for others. */
typedef struct fmm_reference {
    yoke_context *context;
    int64_t count, all; /* particles of the sample, of those it was made of */
    int64_t *which;     /* [count] */
    double *weight;     /* [count] the mean over all particles is that over these with weights */
    fmm_particles *at;  /* their places in units of fmm_scale_create, and their charges */
    fmm_field *exact;
    double *square;       /* [count] of potentials, in units of fmm_scale_create */
    double *force_square; /* of charge times gradient; NULL: no gradients */
    double *product;      /* [count] of charge and potential, in units of fmm_scale_create */
} fmm_reference;

/* count particles, with weights (NULL: all alike).  Errors: those of fmm_scale_create and fmm_scale_field, MEMORY. */
yoke_status fmm_reference_create(const fmm_particles *particles, int gradient, int64_t count, const int64_t *which, const double *weight,
                                 fmm_reference **reference);
/* At `count` particles (or all, where there are no more), which are chosen at random, one from each of `count` equal parts of their order. */
yoke_status fmm_reference_draw(const fmm_particles *particles, int gradient, int64_t count, uint64_t seed, fmm_reference **reference);
/* NULL allowed. */
void fmm_reference_destroy(fmm_reference *reference);

/* What errors a field of the same particles has; it has gradients if the reference has.  The same bits for any number of threads.  Errors: MEMORY. */
yoke_status fmm_reference_compare(const fmm_reference *reference, const fmm_particles *particles, const fmm_field *field,
                                  fmm_sample *sample);

/*
 * A particle's mean part of the size of the energy, half the mean of `product`, estimated, with its standard error.  Where that is larger, because parts of
 * the energy cancel, it stands for the estimate too.
 */
typedef struct fmm_mean_energy {
    double size, error;
} fmm_mean_energy;
fmm_mean_energy fmm_reference_energy(const fmm_reference *reference, const double *product);

/* Both at once.  Errors: those of fmm_reference_draw. */
yoke_status fmm_sample_error(const fmm_particles *particles, const fmm_field *field, int64_t count, uint64_t seed, fmm_sample *sample);

#endif
