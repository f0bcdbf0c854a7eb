/*
 * read.h - reads particles from files, frame by frame.
 */
#ifndef FMM_PARTICLES_READ_H
#define FMM_PARTICLES_READ_H

#include "particles/particles.h"

/* A file that is open for reading. */
typedef struct fmm_reader fmm_reader;

/*
 * Opens a file whose extension determines its format (format.h, readers.h).  `path` is borrowed until the reader is closed.
 * Errors: INPUT (the message has path, line, what is wrong and what was expected), UNAVAILABLE (built without HDF5), MEMORY.
 */
yoke_status fmm_reader_open(yoke_context *context, const char *path, fmm_reader **reader);

/* The number of frames; a file of columns has one. */
int64_t fmm_reader_frames(const fmm_reader *reader);

/* Reads the frame of this number, from 1; it may be read repeatedly.  Errors: INPUT (there is no such frame, or as for open), MEMORY. */
yoke_status fmm_reader_read(fmm_reader *reader, int64_t frame, fmm_particles **particles);

/* NULL is allowed. */
void fmm_reader_close(fmm_reader *reader);

#endif
