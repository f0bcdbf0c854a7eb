/*
 * write.h - writes particles and their field to files.
 */
#ifndef FMM_OUTPUT_WRITE_H
#define FMM_OUTPUT_WRITE_H

#include <stdbool.h>

#include "near/stop.h"
#include "particles/field.h"
#include "particles/particles.h"

/*
 * Creates a writer for a file of `frames` frames, at least 1, whose extension determines its format (particles/format.h).  Only XYZ and
 * H5MD can have more than one frame.  For each frame position and charge are written, in the particles' order, with potential if there is a
 * field (NULL: none), and with force if the field has gradients.  `gradient`: with these as well, which are not 0 where the charge is.
 * Texts have 17 digits, which restore the same numbers, and columns x y z q potential fx fy fz gx gy gz under a header.  XYZ repeats the
 * kinds and the comment of XYZ files, and XYZ and H5MD step and time of H5MD files; boundaries are open in both.  Text, CSV, XYZ and H5MD
 * can be read again.  Commit puts the complete file in place.  `stop` (NULL: never) ends long texts.  `path` and `stop` are borrowed until
 * then.
 * Errors: INPUT (no such format, the format has only one frame, the file cannot be written), UNAVAILABLE (built without HDF5), MEMORY.
 */
typedef struct fmm_writer fmm_writer;
yoke_status fmm_writer_create(yoke_context *context, const char *path, int64_t frames, bool gradient, const fmm_stop *stop,
                              fmm_writer **writer);

/* Adds the next frame.  Errors: INPUT (H5MD: another number of particles than before), MEMORY, and INTERRUPTED if `stop` ends it. */
yoke_status fmm_writer_add(fmm_writer *writer, const fmm_particles *particles, const fmm_field *field);

/* Puts the file in place and destroys the writer, also on failure.  Errors: INPUT, SYSTEM, MEMORY. */
yoke_status fmm_writer_commit(fmm_writer *writer);

/* Destroys the writer without changing an existing file.  NULL is allowed. */
void fmm_writer_abandon(fmm_writer *writer);

#endif
