/*
 * readers.h - one function for each format; see read.h, which chooses.
 */
#ifndef FMM_PARTICLES_READERS_H
#define FMM_PARTICLES_READERS_H

#include <stdbool.h>

#include "particles/particles.h"

/*
 * Errors of all: INPUT (path, line where there are lines, what is wrong and what was expected), MEMORY.
 */

/*
 * Columns: x y z q in each line, or under a header (a line of names, which may begin with #) in any order beside others, as which `charge` stands for q.
 * Empty lines, and those that begin with #, are left out.  One frame.
 */
yoke_status fmm_columns_read(yoke_context *context, const char *path, bool comma, fmm_particles **particles);

/*
 * XYZ: the number of particles, a comment, then for each particle its kind, x, y, z and q; and so on for further frames.  Where the comment has
 * Properties=... (extended XYZ) the columns pos and charge (or charges, initial_charges, q) are read.
 *
 * open reads the file into memory and finds its frames; read takes one of 1 ... frames, as often as wanted; close: NULL allowed.
 */
typedef struct fmm_xyz fmm_xyz;
yoke_status fmm_xyz_open(yoke_context *context, const char *path, fmm_xyz **xyz, int64_t *frames);
yoke_status fmm_xyz_read(fmm_xyz *xyz, int64_t frame, fmm_particles **particles);
void fmm_xyz_close(fmm_xyz *xyz);

/*
 * H5MD 1.1 (de Buyl, Colberg and Hoefling, Computer Physics Communications 185, 2014): position and charge of particles/all, or of the only group in
 * particles.  As for XYZ, but frames stay in the file until they are read.  Further errors of open: UNAVAILABLE (built without HDF5).
 */
typedef struct fmm_h5md fmm_h5md;
yoke_status fmm_h5md_open(yoke_context *context, const char *path, fmm_h5md **h5md, int64_t *frames);
yoke_status fmm_h5md_read(fmm_h5md *h5md, int64_t frame, fmm_particles **particles);
void fmm_h5md_close(fmm_h5md *h5md);

#endif
