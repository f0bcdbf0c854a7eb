/*
 * read.h - particles from files.
 */
#ifndef FMM_PARTICLES_READ_H
#define FMM_PARTICLES_READ_H

#include "particles/particles.h"

/*
 * Reads the frame of this number, from 1, from a file whose name tells its format (format.h, readers.h); *frames: how many it has.
 * Errors: INPUT (path, line, what is wrong and what was expected), UNAVAILABLE (built without HDF5), MEMORY.
 */
yoke_status fmm_particles_read(yoke_context *context, const char *path, int64_t frame, fmm_particles **particles, int64_t *frames);

#endif
