/*
 * particles.h - point charges: positions and charges in separate arrays.
 */
#ifndef FMM_PARTICLES_PARTICLES_H
#define FMM_PARTICLES_PARTICLES_H

#include <stdbool.h>

#include "yoke/yoke.h"

enum { FMM_MAX_PARTICLES = INT32_MAX }; /* numbers of particles fit in int32_t */

/* What a file says about its particles beside positions and charges.  Nothing is computed with it; files of results repeat it. */
typedef struct fmm_notes {
    char *kinds;   /* of all particles in their order, each with a 0 at its end; NULL: unknown */
    char *comment; /* of extended XYZ: its entries other than Properties and pbc; NULL: none */
    int64_t step;  /* of a simulation; -1: unknown */
    double time;   /* of a simulation, in the file's unit; NaN: unknown */
    bool periodic; /* its box has periodic boundaries, which are not computed with */
} fmm_notes;

/*
 * Charges q at positions (x, y, z), in any consistent unit.  Each array has `count` values and is aligned to 64 bytes.  All values are
 * finite if the particles come from a file or a generator.
 *
 * Charges that are nearer together than H = `softening` act as q phi(r / H) instead of q / r, where
 *     phi(u) = (15 - 10 u^2 + 3 u^4) / (8 H)
 * is the potential of a ball of radius H with charge density 15 (1 - u^2) / (8 pi H^3).  It is exactly 1 / r beyond H, and twice
 * continuously differentiable.  Particles at the same position act on each other with phi(0), without a force.
 */
typedef struct fmm_particles {
    yoke_context *context;
    int64_t count;
    double *x, *y, *z, *charge;
    double softening; /* H; 0: none, and particles at the same position do not act on each other */
    fmm_notes notes;  /* its texts are owned */
} fmm_particles;

/* Creates values [count], all 0, in pages near the threads to which a static schedule assigns them.  Errors: MEMORY. */
yoke_status fmm_zeros_create(yoke_context *context, int64_t count, double **values);

/* Creates particles at the origin without charge.  Errors: ARGUMENT (count negative or above FMM_MAX_PARTICLES), MEMORY. */
yoke_status fmm_particles_create(yoke_context *context, int64_t count, fmm_particles **particles);
/* The same, but positions are not initialised: the caller sets them next. */
yoke_status fmm_particles_create_unplaced(yoke_context *context, int64_t count, fmm_particles **particles);
/* NULL is allowed. */
void fmm_particles_destroy(fmm_particles *particles);

#endif
