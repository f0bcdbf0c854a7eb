#include "output/write.h"

#include <math.h>
#include <string.h>

#include "common/files/file.h"
#include "output/vtu.h"
#include "particles/format.h"
#include "particles/h5md.h"

/* Prints the columns of a particle, with a separator between them.  gradient: with the potential's gradient as well. */
static void print_particle(FILE *out, const fmm_particles *p, const fmm_field *f, bool gradient, int64_t i, char between)
{
    fprintf(out, "%.17g%c%.17g%c%.17g%c%.17g", p->x[i], between, p->y[i], between, p->z[i], between, p->charge[i]);
    if (f) fprintf(out, "%c%.17g", between, f->potential[i]);
    if (f && f->gx) {
        double force[3];
        fmm_field_force(p, f, i, force);
        fprintf(out, "%c%.17g%c%.17g%c%.17g", between, force[0], between, force[1], between, force[2]);
    }
    if (f && f->gx && gradient) fprintf(out, "%c%.17g%c%.17g%c%.17g", between, f->gx[i], between, f->gy[i], between, f->gz[i]);
    putc('\n', out);
}

static void print_columns(FILE *out, const fmm_particles *particles, const fmm_field *field, bool gradient, char between)
{
    static const char *const names[] = {"x", "y", "z", "q", "potential", "fx", "fy", "fz", "gx", "gy", "gz"};
    int columns = !field ? 4 : !field->gx ? 5 : gradient ? 11 : 8;
    for (int c = 0; c < columns; c++) fprintf(out, "%s%c", names[c], c + 1 < columns ? between : '\n');
    for (int64_t i = 0; i < particles->count; i++) print_particle(out, particles, field, gradient, i, between);
}

/* Prints the number of particles and the comment of extended XYZ. */
static void print_xyz_head(FILE *out, int64_t particles, const fmm_field *field, bool gradient, const fmm_notes *notes)
{
    fprintf(out, "%lld\nProperties=species:S:1:pos:R:3:charge:R:1%s%s%s pbc=\"F F F\"", (long long)particles, field ? ":potential:R:1" : "",
            field && field->gx ? ":forces:R:3" : "", field && field->gx && gradient ? ":gradient:R:3" : "");
    if (notes->comment && *notes->comment) fprintf(out, " %s", notes->comment);
    if (notes->step >= 0) fprintf(out, " step=%lld", (long long)notes->step);
    if (isfinite(notes->time)) fprintf(out, " time=%.17g", notes->time);
    putc('\n', out);
}

/* Prints extended XYZ.  The kind of particles is X where it is not known. */
static void print_xyz(FILE *out, const fmm_particles *particles, const fmm_field *field, bool gradient)
{
    const char *kind = particles->notes.kinds;
    print_xyz_head(out, particles->count, field, gradient, &particles->notes);
    for (int64_t i = 0; i < particles->count; i++) {
        fprintf(out, "%s ", kind ? kind : "X");
        if (kind) kind += strlen(kind) + 1;
        print_particle(out, particles, field, gradient, i, ' ');
    }
}

struct fmm_writer {
    yoke_context *context;
    fmm_format format;
    bool gradient;
    app_file *file;        /* NULL for H5MD */
    fmm_h5md_writer *h5md; /* NULL for others */
};

static yoke_status print(const fmm_writer *w, FILE *out, const fmm_particles *particles, const fmm_field *field)
{
    if (w->format == FMM_VTU) return fmm_vtu_print(out, particles, field, w->gradient);
    if (w->format == FMM_XYZ)
        print_xyz(out, particles, field, w->gradient);
    else
        print_columns(out, particles, field, w->gradient, w->format == FMM_CSV ? ',' : ' ');
    return YOKE_OK;
}

static yoke_status create_file(fmm_writer *w, const char *path, int64_t frames)
{
    if (w->format == FMM_H5MD) return fmm_h5md_create(w->context, path, frames, w->gradient, &w->h5md);
    if (w->format != FMM_XYZ && frames > 1)
        return yoke_fail(w->context, YOKE_ERROR_INPUT, "%s: there is room for one frame, not for %lld; give a file .xyz or .h5", path,
                         (long long)frames);
    return app_file_create(w->context, path, &w->file);
}

yoke_status fmm_writer_create(yoke_context *context, const char *path, int64_t frames, bool gradient, fmm_writer **writer)
{
    fmm_writer *created = NULL;
    fmm_format format;
    yoke_status status = fmm_format_of(context, path, &format);
    if (!status) status = yoke_allocate(context, 1, sizeof *created, &created);
    if (status) return status;
    *created = (fmm_writer){.context = context, .format = format, .gradient = gradient};
    status = create_file(created, path, frames);
    if (status)
        fmm_writer_abandon(created);
    else
        *writer = created;
    return status;
}

yoke_status fmm_writer_add(fmm_writer *writer, const fmm_particles *particles, const fmm_field *field)
{
    if (writer->h5md) return fmm_h5md_add(writer->h5md, particles, field);
    return print(writer, app_file_stream(writer->file), particles, field);
}

yoke_status fmm_writer_commit(fmm_writer *writer)
{
    yoke_status status = writer->h5md ? fmm_h5md_commit(writer->h5md) : app_file_commit(writer->file);
    yoke_release(writer->context, writer);
    return status;
}

void fmm_writer_abandon(fmm_writer *writer)
{
    if (!writer) return;
    fmm_h5md_abandon(writer->h5md);
    app_file_abandon(writer->file);
    yoke_release(writer->context, writer);
}
