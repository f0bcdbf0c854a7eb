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

/* Finds two particles with charges at the same place, the second of which comes first; count 0: none.  Errors: MEMORY. */
yoke_status fmm_coincident(const fmm_particles *particles, fmm_coincidence *found);

#endif
