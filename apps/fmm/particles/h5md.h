/*
 * h5md.h - writes H5MD files; readers.h reads them.
 */
#ifndef FMM_PARTICLES_H5MD_H
#define FMM_PARTICLES_H5MD_H

#include <stdbool.h>

#include "particles/field.h"
#include "particles/particles.h"

typedef struct fmm_h5md_writer fmm_h5md_writer;

/*
 * Starts a file of `frames` frames, at least 1, which are added one after the other: particles/all with position and charge, with potential
 * if there is a field (NULL: none), and with force if the field has gradients.  `gradient`: with these, too.  Frames have the steps and times of the particles' notes, or
 * their numbers from 0 where the steps are unknown; the first frame tells whether there are times.  The file is in memory until
 * fmm_h5md_commit.  `path` is borrowed until then.
 * Errors: UNAVAILABLE (built without HDF5), MEMORY.
 */
yoke_status fmm_h5md_create(yoke_context *context, const char *path, int64_t frames, bool gradient, fmm_h5md_writer **writer);

/*
 * Adds the next frame.  The first frame determines the number of particles of all frames, and which fields are written.  With several
 * frames charges may change.  Errors: INPUT (another number of particles), ARGUMENT (more frames than announced, other fields), MEMORY.
 */
yoke_status fmm_h5md_add(fmm_h5md_writer *writer, const fmm_particles *particles, const fmm_field *field);

/* Writes the file and destroys the writer, also on failure.  Errors: INPUT, SYSTEM (the file cannot be written), MEMORY. */
yoke_status fmm_h5md_commit(fmm_h5md_writer *writer);

/* Destroys the writer without writing the file.  NULL is allowed. */
void fmm_h5md_abandon(fmm_h5md_writer *writer);

#endif
