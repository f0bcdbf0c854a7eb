/*
 * write.h - particles and their field to files.
 */
#ifndef FMM_OUTPUT_WRITE_H
#define FMM_OUTPUT_WRITE_H

#include "particles/field.h"
#include "particles/particles.h"

/*
 * Writes a file whose name tells its format (particles/format.h): position and charge, and where there is a field (NULL: none) potential and, with its
 * gradient, force, in the particles' order.  Texts have 17 digits, which give the same numbers back, and columns x y z q potential fx fy fz under a header;
 * text, CSV, XYZ and H5MD can be read again.  The file is there whole or not at all.
 * Errors: INPUT (no such format, cannot be written), UNAVAILABLE (built without HDF5), SYSTEM, MEMORY.
 */
yoke_status fmm_write(yoke_context *context, const char *path, const fmm_particles *particles, const fmm_field *field);

#endif
