/* h5md_none.c - refuses H5MD files in programs without HDF5. */
#include "particles/h5md.h"
#include "particles/readers.h"

static yoke_status refuse(yoke_context *context, const char *path)
{
    return yoke_fail(context, YOKE_ERROR_UNAVAILABLE,
                     "%s: this yoke-fmm was built without HDF5; take another kind of file, or install libhdf5-dev and build again", path);
}

yoke_status fmm_h5md_open(yoke_context *context, const char *path, fmm_h5md **h5md, int64_t *frames)
{
    (void)h5md, (void)frames;
    return refuse(context, path);
}

yoke_status fmm_h5md_read(fmm_h5md *h5md, int64_t frame, fmm_particles **particles)
{
    (void)h5md, (void)frame, (void)particles; /* nothing was opened */
    return YOKE_ERROR_INTERNAL;
}

void fmm_h5md_close(fmm_h5md *h5md) { (void)h5md; }

yoke_status fmm_h5md_create(yoke_context *context, const char *path, int64_t frames, bool gradient, fmm_h5md_writer **writer)
{
    (void)frames, (void)gradient, (void)writer;
    return refuse(context, path);
}

yoke_status fmm_h5md_add(fmm_h5md_writer *writer, const fmm_particles *particles, const fmm_field *field)
{
    (void)writer, (void)particles, (void)field; /* nothing was created */
    return YOKE_ERROR_INTERNAL;
}

yoke_status fmm_h5md_commit(fmm_h5md_writer *writer)
{
    (void)writer;
    return YOKE_ERROR_INTERNAL;
}

void fmm_h5md_abandon(fmm_h5md_writer *writer) { (void)writer; }
