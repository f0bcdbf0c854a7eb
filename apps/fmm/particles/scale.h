/*
 * scale.h - positions and charges in units in which sums over pairs neither overflow nor underflow.
 */
#ifndef FMM_PARTICLES_SCALE_H
#define FMM_PARTICLES_SCALE_H

#include <math.h>

#include "particles/field.h"
#include "particles/particles.h"

/* Powers of two: in units of 2^length and 2^charge each coordinate, the softening and each charge are smaller than 1. */
typedef struct fmm_scale {
    int length, charge;
} fmm_scale;

/* A power of two: its exponent, and its value if that is a normal number of a usual size; 0: it is not. */
typedef struct fmm_power {
    int exponent;
    double value;
} fmm_power;
fmm_power fmm_power_of(int exponent);

/* As ldexp, but much faster. */
static inline double fmm_times(double value, fmm_power power)
{
    return power.value > 0 ? value * power.value : ldexp(value, power.exponent);
}

/* A coordinate in units of 2^length; unit: fmm_power_of(-length). */
static inline double fmm_scale_coordinate(double value, fmm_power unit)
{
    const double scaled = fmm_times(value, unit);
    return fabs(scaled) < 0x1p-287 ? 0 : scaled; /* the others differ by 2^-340 at least, whose third power is a normal number */
}

/* The smallest and the largest coordinates; 0 without particles. */
typedef struct fmm_extent {
    double low[3], high[3];
} fmm_extent;
fmm_extent fmm_extent_of(const fmm_particles *particles);

/* The length of fmm_scale for particles with this extent. */
int fmm_scale_length(const fmm_particles *particles, const fmm_extent *extent);

/*
 * Creates the particles in these units.  Nothing is rounded, except that coordinates below 2^-287 (4e-87) of the largest become 0:
 * particles that are nearer together than that are at the same position.  Errors: those of fmm_scale_charges and fmm_scale_check_softening,
 * MEMORY.
 */
yoke_status fmm_scale_create(const fmm_particles *particles, fmm_scale *scale, fmm_particles **scaled);
/* The two parts of fmm_scale_create, for charges that change while positions stay; scaled [count].  Errors of the second: INPUT (a charge
 * is not 0 but less than 1e-307 of the largest, and would be lost; the message names the particle). */
void fmm_scale_positions(const fmm_particles *particles, int *length, fmm_particles *scaled);
yoke_status fmm_scale_charges(yoke_context *context, int64_t count, const double *charge, int *exponent, double *scaled);
/* Refuses a softening that is too small to be summed beside the coordinates.  scaled: the softening in units of 2^length.  Errors:
 * INPUT. */
yoke_status fmm_scale_check_softening(const fmm_particles *particles, double scaled);

/*
 * Converts the field of the scaled particles to that of the original particles, whose charges are charge [field->count].
 * number: [field->count] numbers of the particles from 0, for the message; NULL: all particles, in their order.
 * Errors: INPUT (a potential or a force, q times the gradient, is larger than the largest double; the message names the particle).
 */
yoke_status fmm_scale_field(const double *charge, const int64_t *number, fmm_scale scale, fmm_field *field);

#endif
