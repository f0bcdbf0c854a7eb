/*
 * origin.h - particles far from the origin, compared with their extent.  The centres of their cells would be rounded to the last digit of
 * the distance, so that translations between cells and positions within them would not belong together.  Fields depend only on
 * differences of positions: the particles can be moved.
 */
#ifndef FMM_PARTICLES_ORIGIN_H
#define FMM_PARTICLES_ORIGIN_H

#include "particles/particles.h"

/* The same particles near the origin. */
typedef struct fmm_moved {
    fmm_particles particles; /* borrows what is not moved from the given particles, which must outlive it */
    double *own[3];          /* coordinates that were moved; NULL: none */
} fmm_moved;

/*
 * Moves each coordinate whose least absolute value is at least eight times its range.  All are then between that value and twice of it,
 * and differences of such numbers are exact (P. H. Sterbenz, Floating-Point Computation, 1974).  Errors: MEMORY.
 */
yoke_status fmm_move_to_origin(const fmm_particles *particles, fmm_moved *moved);
void fmm_moved_destroy(fmm_moved *moved);

#endif
