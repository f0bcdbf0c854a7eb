#include "particles/read.h"

#include "particles/format.h"
#include "particles/readers.h"

static yoke_status read_columns(yoke_context *context, const char *path, bool comma, int64_t frame, fmm_particles **particles,
                                int64_t *frames)
{
    if (frame != 1)
        return yoke_fail(context, YOKE_ERROR_INPUT, "%s: there is no frame %lld; a file of columns has one", path, (long long)frame);
    *frames = 1;
    return fmm_columns_read(context, path, comma, particles);
}

yoke_status fmm_particles_read(yoke_context *context, const char *path, int64_t frame, fmm_particles **particles, int64_t *frames)
{
    fmm_format format;
    yoke_status status = fmm_format_of(context, path, &format);
    if (status) return status;
    switch (format) {
    case FMM_TEXT:
    case FMM_CSV:
        return read_columns(context, path, format == FMM_CSV, frame, particles, frames);
    case FMM_XYZ:
        return fmm_xyz_read(context, path, frame, particles, frames);
    case FMM_H5MD:
        return fmm_h5md_read(context, path, frame, particles, frames);
    case FMM_VTU:
        break;
    }
    return yoke_fail(context, YOKE_ERROR_INPUT, "%s: VTU files are for results only; particles are read from .txt, .csv, .xyz and .h5",
                     path);
}
