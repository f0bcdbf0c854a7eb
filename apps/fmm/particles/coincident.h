/*
 * coincident.h - particles at the same place.
 */
#ifndef FMM_PARTICLES_COINCIDENT_H
#define FMM_PARTICLES_COINCIDENT_H

#include "particles/particles.h"

/* Numbers of two particles, from 0, and how many particles with a charge lie where one before them lies. */
typedef struct fmm_coincidence {
    int64_t first, second, count;
} fmm_coincidence;

/* Finds two particles with charges at the same place, as sums see them (scale.h), the second of which comes first; count 0: none.  Errors: MEMORY. */
yoke_status fmm_coincident(const fmm_particles *particles, fmm_coincidence *found);

/*
 * Where the particles have a softening: adds to potential[k] what others at the place of particle which[k] do, k < count, which sums over pairs leave out.
 * which NULL: particle k, for all.  In units of fmm_scale_create.  Errors: MEMORY.
 */
yoke_status fmm_coincident_add(const fmm_particles *particles, int64_t count, const int64_t *which, double *potential);

/*
 * Refuses particles with charges at the same place, as sums see them.  remedy: what to do about it, the end of the message.
 * Errors: INPUT (which, and where), MEMORY.
 */
yoke_status fmm_coincident_refuse(const fmm_particles *particles, const char *remedy);

#endif
