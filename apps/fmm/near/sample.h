/*
 * sample.h - errors of a field, from direct sums at some of the particles.
 */
#ifndef FMM_NEAR_SAMPLE_H
#define FMM_NEAR_SAMPLE_H

#include "near/stop.h"
#include "particles/field.h"
#include "particles/particles.h"

/*
 * Estimates of the relative errors in the 2-norm over all particles, |error| / |exact|.  The errors are those of the sample.  The norm is
 * that of the field at all particles, corrected by the sample: a few close pairs can have most of the norm, and samples miss these pairs or
 * count them as many.  Errors of forces are NaN if the field has no gradients.
 */
typedef struct fmm_sample {
    int64_t count; /* number of particles of the sample */
    double potential, force;
    double potential_uncertainty, force_uncertainty; /* standard errors, relative to the errors; 0: all particles; NaN: one of several */
    /* Error of the energy, relative to the energy: |error| by the sample, and its standard error; NaN if the energy is 0. */
    double energy, energy_deviation;
    double energy_size;                /* |energy| per particle; 0, infinite or NaN: it is too small or too large */
    double energy_norm;                /* the estimate of the energy by fmm_reference_energy, relative to the energy */
    double potential_norm, force_norm; /* |exact| by the sample's sums alone, relative to that by all particles */
} fmm_sample;

/* Direct sums at a sample of the particles, each of which represents others. */
typedef struct fmm_reference {
    yoke_context *context;
    int64_t count, all; /* number of particles of the sample, and of all particles */
    int64_t *which;     /* [count] */
    double *weight;     /* [count] the weighted mean over the sample estimates the mean over all particles */
    fmm_particles *at;  /* their positions in units of fmm_scale_create, and their charges */
    fmm_field *exact;
    double *square;       /* [count] squares of potentials, in units of fmm_scale_create */
    double *force_square; /* [count] squares of charge times gradient; NULL: no gradients */
    double *product;      /* [count] products of charge and potential, in units of fmm_scale_create */
} fmm_reference;

/* Computes the sums at `count` particles, with weights (NULL: equal weights).  stop: as for fmm_direct_at.  Errors: those of
 * fmm_scale_create, fmm_scale_field and fmm_direct_at, MEMORY. */
yoke_status fmm_reference_create(const fmm_particles *particles, int gradient, int64_t count, const int64_t *which, const double *weight,
                                 const fmm_stop *stop, fmm_reference **reference);
/* The same of particles as from fmm_scale_create, in whose units the sums are. */
yoke_status fmm_reference_create_scaled(const fmm_particles *scaled, int gradient, int64_t count, const int64_t *which,
                                        const double *weight, fmm_reference **reference);
/* NULL is allowed. */
void fmm_reference_destroy(fmm_reference *reference);

/* Estimates the errors of a field of the same particles, which has gradients if the reference has.  Results have the same bits for any
 * number of threads.
 * Errors: MEMORY. */
yoke_status fmm_reference_compare(const fmm_reference *reference, const fmm_particles *particles, const fmm_field *field,
                                  fmm_sample *sample);

/*
 * Estimates the absolute value of the energy per particle, half the mean of `product`, with its standard error.  If the standard error is
 * larger than the estimate, because parts of the energy cancel, it replaces the estimate too.
 */
typedef struct fmm_mean_energy {
    double size, error;
} fmm_mean_energy;
fmm_mean_energy fmm_reference_energy(const fmm_reference *reference, const double *product);

#endif
