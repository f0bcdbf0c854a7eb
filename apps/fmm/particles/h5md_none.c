#include "particles/h5md.h"
#include "particles/readers.h"

static yoke_status refuse(yoke_context *context, const char *path)
{
    return yoke_fail(context, YOKE_ERROR_UNAVAILABLE,
                     "%s: this yoke-fmm was built without HDF5; take another kind of file, or install libhdf5-dev and build again", path);
}

yoke_status fmm_h5md_read(yoke_context *context, const char *path, int64_t frame, fmm_particles **particles, int64_t *frames)
{
    (void)frame, (void)particles, (void)frames;
    return refuse(context, path);
}

yoke_status fmm_h5md_write(yoke_context *context, const char *path, const fmm_particles *particles, const fmm_field *field)
{
    (void)particles, (void)field;
    return refuse(context, path);
}
