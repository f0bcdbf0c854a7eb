/*
 * scale.h - positions and charges in units in which sums over pairs neither overflow nor underflow.
 */
#ifndef FMM_PARTICLES_SCALE_H
#define FMM_PARTICLES_SCALE_H

#include "particles/field.h"
#include "particles/particles.h"

/* Powers of two: particles in units of 2^length and 2^charge are smaller than 1 in each coordinate, softening and charge. */
typedef struct fmm_scale {
    int length, charge;
} fmm_scale;

/*
 * The particles in these units.  Nothing is rounded, but coordinates below 2^-459 (7e-139) of the largest become 0: what is nearer together than
 * that is at the same place.  Errors: those of fmm_scale_charges and fmm_scale_check_softening, MEMORY.
 */
yoke_status fmm_scale_create(const fmm_particles *particles, fmm_scale *scale, fmm_particles **scaled);
/* Its two parts, for charges that change while positions stay; scaled [count].  The second has errors: INPUT (a charge is not 0 but less than 1e-307 of
 * the largest, and would be lost: of which particle).  */
void fmm_scale_positions(const fmm_particles *particles, int *length, fmm_particles *scaled);
yoke_status fmm_scale_charges(yoke_context *context, int64_t count, const double *charge, int *exponent, double *scaled);
/* Refuses a softening that is lost beside the coordinates.  scaled: by fmm_scale_positions.  Errors: INPUT. */
yoke_status fmm_scale_check_softening(const fmm_particles *particles, const fmm_particles *scaled);

/*
 * Changes the field of the scaled particles to that of the particles, whose charges are charge [field->count].  Errors: NUMERIC (a potential or a
 * force, q times the gradient, is larger than the largest double: of which particle).
 */
yoke_status fmm_scale_field(const double *charge, fmm_scale scale, fmm_field *field);

#endif
