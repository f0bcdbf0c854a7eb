/*
 * coincident.h - particles at the same position.
 */
#ifndef FMM_PARTICLES_COINCIDENT_H
#define FMM_PARTICLES_COINCIDENT_H

#include "particles/particles.h"

/* Numbers of two particles, from 0, and how many particles with a charge are at the position of an earlier one. */
typedef struct fmm_coincidence {
    int64_t first, second, count;
} fmm_coincidence;

/* Finds two particles with charges at the same position after scaling (scale.h): of all such pairs the one whose second particle comes
 * first.  count 0: none.  Errors: MEMORY. */
yoke_status fmm_coincident(const fmm_particles *particles, fmm_coincidence *found);

/*
 * If the particles have a softening: adds to potential[k], k < count, the contribution of the other particles at the position of particle
 * which[k], which sums over pairs omit.  which NULL: particle k, for all particles.  In units of fmm_scale_create.  Errors: MEMORY.
 */
yoke_status fmm_coincident_add(const fmm_particles *particles, int64_t count, const int64_t *which, double *potential);

/*
 * Refuses particles with charges at the same position after scaling.  remedy: what the user can do, the end of the message.
 * Errors: INPUT (the message names the particles and their position), MEMORY.
 */
yoke_status fmm_coincident_refuse(const fmm_particles *particles, const char *remedy);

#endif
