/*
 * field.h - what particles do to each other: potentials, their gradients, and the energy.
 */
#ifndef FMM_PARTICLES_FIELD_H
#define FMM_PARTICLES_FIELD_H

#include "particles/particles.h"

/* At each particle i the potential sum_{j != i} q_j / r_ij and its gradient; the force on i is -q_i times the gradient. */
typedef struct fmm_field {
    yoke_context *context;
    int64_t count;
    double *potential;
    double *gx, *gy, *gz; /* NULL: not wanted */
} fmm_field;

/* All zero.  Errors: ARGUMENT (count as in fmm_particles_create), MEMORY. */
yoke_status fmm_field_create(yoke_context *context, int64_t count, int gradient, fmm_field **field);
/* NULL allowed. */
void fmm_field_destroy(fmm_field *field);

/* The force on particle i, 0 and not -0 where there is none; the field has gradients. */
void fmm_field_force(const fmm_particles *particles, const fmm_field *field, int64_t i, double force[3]);

/* sum_i q_i potential_i / 2, summed so that rounding adds no more than some units in the last place of sum |q_i potential_i| / 2. */
double fmm_field_energy(const fmm_particles *particles, const fmm_field *field);

/* Sum of the forces, of each component, which is zero but for errors (Newton's third law), and the sum of their lengths; the field has gradients. */
typedef struct fmm_total_force {
    double sum[3], lengths;
} fmm_total_force;
fmm_total_force fmm_field_total_force(const fmm_particles *particles, const fmm_field *field);

/*
 * Root mean squares over all particles, without overflow: of potentials, and of charge times gradient (NaN: none) in units of `charge`, the
 * largest size of one (1 where all are 0).
 * energy: half the mean of charge times potential, in units of `charge` and of the potentials' root mean square; 0 without these.
 * The same bits for any number of threads.
 */
typedef struct fmm_field_size {
    double potential, force, charge, energy;
} fmm_field_size;
fmm_field_size fmm_field_measure(const fmm_particles *particles, const fmm_field *field);

#endif
