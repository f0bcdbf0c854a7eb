/*
 * write.h - particles and their field to files.
 */
#ifndef FMM_OUTPUT_WRITE_H
#define FMM_OUTPUT_WRITE_H

#include "particles/field.h"
#include "particles/particles.h"

/*
 * A file that is written, whose name tells its format (particles/format.h), of `frames` frames, at least 1; more than one for XYZ and H5MD only.  Of each
 * frame position and charge are written, and where there is a field (NULL: none) potential and, with its gradient, force, in the particles' order.  Texts
 * have 17 digits, which give the same numbers back, and columns x y z q potential fx fy fz under a header; text, CSV, XYZ and H5MD can be read again.
 * The file is there whole after commit, or not at all.  `path` is borrowed until then.
 * Errors: INPUT (no such format, no room for several frames, cannot be written), UNAVAILABLE (built without HDF5), MEMORY.
 */
typedef struct fmm_writer fmm_writer;
yoke_status fmm_writer_create(yoke_context *context, const char *path, int64_t frames, fmm_writer **writer);

/* Adds the next frame.  Errors: INPUT (H5MD: another number of particles than before), MEMORY. */
yoke_status fmm_writer_add(fmm_writer *writer, const fmm_particles *particles, const fmm_field *field);

/* Puts the file in place.  The writer is gone afterwards, also on failure.  Errors: INPUT, SYSTEM, MEMORY. */
yoke_status fmm_writer_commit(fmm_writer *writer);

/* Gives up, and leaves an old file as it was.  NULL allowed. */
void fmm_writer_abandon(fmm_writer *writer);

#endif
