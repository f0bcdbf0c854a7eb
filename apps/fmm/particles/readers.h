/*
 * readers.h - one function for each format; read.h chooses between them.
 */
#ifndef FMM_PARTICLES_READERS_H
#define FMM_PARTICLES_READERS_H

#include <stdbool.h>

#include "particles/particles.h"

/*
 * Errors of all functions: INPUT (the message has path, line if the file has lines, what is wrong and what was expected), MEMORY.
 */

/*
 * Columns: x y z q in each line.  Under a header they are in any order and among other columns; `charge` is another name of q, and capital
 * letters do not matter.  The header is a line of names; a line that begins with # is one if it names x, y, z, q and as many columns as
 * there are.  Other lines that begin with #, and empty lines, are ignored.  There is one frame.
 */
yoke_status fmm_columns_read(yoke_context *context, const char *path, bool comma, fmm_particles **particles);

/*
 * XYZ: each frame has the number of particles, a comment, and then for each particle its kind, x, y, z and q.  If the comment contains
 * Properties=... (extended XYZ), the columns pos, charge (or charges, initial_charges, q) and species are read.  The kinds and the comment
 * become the particles' notes.
 *
 * open reads the file into memory and finds its frames.  A last frame that is not complete, as while a simulation writes the file, is left
 * out with a warning, unless it is the only one.  This includes a last line that has no LF, and fewer columns than that of the frame's first
 * particle.  A cut within its last column is not noticed.  read reads one of the frames 1 ... frames, repeatedly if wanted.  close: NULL is
 * allowed.
 */
typedef struct fmm_xyz fmm_xyz;
yoke_status fmm_xyz_open(yoke_context *context, const char *path, fmm_xyz **xyz, int64_t *frames);
yoke_status fmm_xyz_read(fmm_xyz *xyz, int64_t frame, fmm_particles **particles);
void fmm_xyz_close(fmm_xyz *xyz);

/*
 * H5MD 1.1 (de Buyl, Colberg and Hoefling, Computer Physics Communications 185, 2014): position and charge of particles/all, or of the only
 * group in particles.  Step and time of the positions, and whether the box is periodic, become notes.  The functions are as for XYZ, but
 * frames stay in the file until they are read.  Further errors of open: UNAVAILABLE (built without HDF5).
 */
typedef struct fmm_h5md fmm_h5md;
yoke_status fmm_h5md_open(yoke_context *context, const char *path, fmm_h5md **h5md, int64_t *frames);
yoke_status fmm_h5md_read(fmm_h5md *h5md, int64_t frame, fmm_particles **particles);
void fmm_h5md_close(fmm_h5md *h5md);

#endif
