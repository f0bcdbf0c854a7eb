/*
 * field.h - the field of the particles at the particles themselves: potentials, their gradients, and the energy.
 */
#ifndef FMM_PARTICLES_FIELD_H
#define FMM_PARTICLES_FIELD_H

#include "particles/particles.h"

/* At each particle i the potential sum_{j != i} q_j / r_ij and its gradient; the force on i is -q_i times the gradient. */
typedef struct fmm_field {
    yoke_context *context;
    int64_t count;
    double *potential;
    double *gx, *gy, *gz; /* NULL: no gradients wanted */
} fmm_field;

/* Creates a field of zeros.  Errors: ARGUMENT (count as in fmm_particles_create), MEMORY. */
yoke_status fmm_field_create(yoke_context *context, int64_t count, int gradient, fmm_field **field);
void fmm_field_set_to_zero(fmm_field *field);
/* NULL is allowed. */
void fmm_field_destroy(fmm_field *field);

/* The force on particle i; a zero component is 0 and not -0.  The field must have gradients. */
void fmm_field_force(const fmm_particles *particles, const fmm_field *field, int64_t i, double force[3]);

/* sum_i q_i potential_i / 2, with a rounding error of no more than some units in the last place of sum |q_i potential_i| / 2. */
double fmm_field_energy(const fmm_particles *particles, const fmm_field *field);

/* Sum of the forces by component, which without errors is zero (Newton's third law), and the sum of their lengths.  The field must have
 * gradients. */
typedef struct fmm_total_force {
    double sum[3], lengths;
} fmm_total_force;
fmm_total_force fmm_field_total_force(const fmm_particles *particles, const fmm_field *field);

/*
 * Root mean squares over all particles, without overflow: `potential` of the potentials, `force` of charge times gradient (NaN: no
 * gradients), in units of `charge`.  charge: the largest absolute value of a charge (1 if all are 0).
 * energy: half the mean of charge times potential, in units of `charge` and of the potentials' root mean square; 0 without these.
 * Results have the same bits for any number of threads.
 */
typedef struct fmm_field_size {
    double potential, force, charge, energy;
} fmm_field_size;
fmm_field_size fmm_field_measure(const fmm_particles *particles, const fmm_field *field);

#endif
