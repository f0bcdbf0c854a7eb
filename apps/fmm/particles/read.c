#include "particles/read.h"

#include "particles/format.h"
#include "particles/readers.h"

struct fmm_reader {
    yoke_context *context;
    const char *path; /* borrowed */
    fmm_format format;
    int64_t frames;
    fmm_xyz *xyz;   /* NULL for other formats */
    fmm_h5md *h5md; /* likewise */
};

static yoke_status open_format(fmm_reader *r)
{
    r->frames = 1;
    switch (r->format) {
    case FMM_TEXT:
    case FMM_CSV:
        return YOKE_OK;
    case FMM_XYZ:
        return fmm_xyz_open(r->context, r->path, &r->xyz, &r->frames);
    case FMM_H5MD:
        return fmm_h5md_open(r->context, r->path, &r->h5md, &r->frames);
    case FMM_VTU:
        break;
    }
    return yoke_fail(r->context, YOKE_ERROR_INPUT, "%s: VTU files are for results only; particles are read from .txt, .csv, .xyz and .h5",
                     r->path);
}

yoke_status fmm_reader_open(yoke_context *context, const char *path, fmm_reader **reader)
{
    fmm_reader *created = NULL;
    fmm_format format;
    yoke_status status = fmm_format_of(context, path, &format);
    if (!status) status = yoke_allocate(context, 1, sizeof *created, &created);
    if (status) return status;
    *created = (fmm_reader){.context = context, .path = path, .format = format};
    status = open_format(created);
    if (status)
        fmm_reader_close(created);
    else
        *reader = created;
    return status;
}

int64_t fmm_reader_frames(const fmm_reader *reader) { return reader->frames; }

yoke_status fmm_reader_read(fmm_reader *r, int64_t frame, fmm_particles **particles)
{
    if (frame < 1 || frame > r->frames)
        return yoke_fail(r->context, YOKE_ERROR_INPUT, "%s: there is no frame %lld; it has %lld", r->path, (long long)frame,
                         (long long)r->frames);
    if (r->xyz) return fmm_xyz_read(r->xyz, frame, particles);
    if (r->h5md) return fmm_h5md_read(r->h5md, frame, particles);
    return fmm_columns_read(r->context, r->path, r->format == FMM_CSV, particles);
}

void fmm_reader_close(fmm_reader *reader)
{
    if (!reader) return;
    fmm_xyz_close(reader->xyz);
    fmm_h5md_close(reader->h5md);
    yoke_release(reader->context, reader);
}
