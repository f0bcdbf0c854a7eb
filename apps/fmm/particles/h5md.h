/*
 * h5md.h - writing H5MD files; reading: readers.h.
 */
#ifndef FMM_PARTICLES_H5MD_H
#define FMM_PARTICLES_H5MD_H

#include "particles/field.h"
#include "particles/particles.h"

/*
 * Writes one frame: particles/all with position, charge, and where there is a field (NULL: none) potential and, with its gradient, force.
 * Errors: UNAVAILABLE (built without HDF5), INPUT, SYSTEM (the file cannot be written), MEMORY.
 */
yoke_status fmm_h5md_write(yoke_context *context, const char *path, const fmm_particles *particles, const fmm_field *field);

#endif
