/*
 * readers.h - one function for each format; see read.h, which chooses.
 */
#ifndef FMM_PARTICLES_READERS_H
#define FMM_PARTICLES_READERS_H

#include <stdbool.h>

#include "particles/particles.h"

/*
 * All read the frame of this number, from 1, and say how many there are.  Errors: INPUT (path, line where there are lines, what is wrong and what was
 * expected; there is no such frame), MEMORY.
 */

/*
 * Columns: x y z q in each line, or under a header (a line of names, which may begin with #) in any order beside others, as which `charge` stands for q.
 * Empty lines, and those that begin with #, are left out.  One frame.
 */
yoke_status fmm_columns_read(yoke_context *context, const char *path, bool comma, fmm_particles **particles);

/*
 * XYZ: the number of particles, a comment, then for each particle its kind, x, y, z and q; and so on for further frames.  Where the comment has
 * Properties=... (extended XYZ) the columns pos and charge (or charges, initial_charges, q) are read.
 */
yoke_status fmm_xyz_read(yoke_context *context, const char *path, int64_t frame, fmm_particles **particles, int64_t *frames);

/*
 * H5MD 1.1 (de Buyl, Colberg and Hoefling, Computer Physics Communications 185, 2014): position and charge of particles/all, or of the only group in
 * particles.  Further errors: UNAVAILABLE (built without HDF5).
 */
yoke_status fmm_h5md_read(yoke_context *context, const char *path, int64_t frame, fmm_particles **particles, int64_t *frames);

#endif
