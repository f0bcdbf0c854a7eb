/*
 * particles.h - point charges: positions and charges in separate arrays.
 */
#ifndef FMM_PARTICLES_PARTICLES_H
#define FMM_PARTICLES_PARTICLES_H

#include "yoke/yoke.h"

enum { FMM_MAX_PARTICLES = INT32_MAX }; /* numbers of particles fit into int32_t */

/*
 * Charges q at positions (x, y, z), in any consistent unit.  Each array has `count` values and is aligned to 64 bytes.  All are finite where
 * particles come from a file or a generator.
 */
typedef struct fmm_particles {
    yoke_context *context;
    int64_t count;
    double *x, *y, *z, *charge;
} fmm_particles;

/* values [count], all 0, in pages near the threads that a static schedule gives them to.  Errors: MEMORY. */
yoke_status fmm_zeros_create(yoke_context *context, int64_t count, double **values);

/* All at the origin without charge.  Errors: ARGUMENT (count negative or above FMM_MAX_PARTICLES), MEMORY. */
yoke_status fmm_particles_create(yoke_context *context, int64_t count, fmm_particles **particles);
/* NULL allowed. */
void fmm_particles_destroy(fmm_particles *particles);

#endif
