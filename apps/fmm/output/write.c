#include "output/write.h"

#include <math.h>
#include <string.h>

#include "common/files/file.h"
#include "output/blocks.h"
#include "output/vtu.h"
#include "particles/format.h"
#include "particles/h5md.h"

/* What is printed of each particle. */
typedef struct lines {
    const fmm_particles *particles;
    const fmm_field *field; /* NULL: none */
    bool gradient;          /* with the potential's gradient as well */
    char between;           /* two columns */
    const char **kind;      /* XYZ: of the first particle of each block */
} lines;

static void print_particle(FILE *out, const lines *l, int64_t i)
{
    const fmm_particles *p = l->particles;
    const fmm_field *f = l->field;
    const char between = l->between;
    fprintf(out, "%.17g%c%.17g%c%.17g%c%.17g", p->x[i], between, p->y[i], between, p->z[i], between, p->charge[i]);
    if (f) fprintf(out, "%c%.17g", between, f->potential[i]);
    if (f && f->gx) {
        double force[3];
        fmm_field_force(p, f, i, force);
        fprintf(out, "%c%.17g%c%.17g%c%.17g", between, force[0], between, force[1], between, force[2]);
    }
    if (f && f->gx && l->gradient) fprintf(out, "%c%.17g%c%.17g%c%.17g", between, f->gx[i], between, f->gy[i], between, f->gz[i]);
    putc('\n', out);
}

static void print_block(FILE *out, const void *data, int64_t first, int64_t last)
{
    for (int64_t i = first; i < last; i++) print_particle(out, data, i);
}

static void print_header(FILE *out, const lines *l)
{
    static const char *const names[] = {"x", "y", "z", "q", "potential", "fx", "fy", "fz", "gx", "gy", "gz"};
    int columns = !l->field ? 4 : !l->field->gx ? 5 : l->gradient ? 11 : 8;
    for (int c = 0; c < columns; c++) fprintf(out, "%s%c", names[c], c + 1 < columns ? l->between : '\n');
}

/* The number of particles and the comment of extended XYZ. */
static void print_xyz_header(FILE *out, const lines *l)
{
    const fmm_notes *notes = &l->particles->notes;
    fprintf(out, "%lld\nProperties=species:S:1:pos:R:3:charge:R:1%s%s%s pbc=\"F F F\"", (long long)l->particles->count,
            l->field ? ":potential:R:1" : "", l->field && l->field->gx ? ":forces:R:3" : "",
            l->field && l->field->gx && l->gradient ? ":gradient:R:3" : "");
    if (notes->comment && *notes->comment) fprintf(out, " %s", notes->comment);
    if (notes->step >= 0) fprintf(out, " step=%lld", (long long)notes->step);
    if (isfinite(notes->time)) fprintf(out, " time=%.17g", notes->time);
    putc('\n', out);
}

/* The kind of particles is X where it is not known. */
static void print_xyz_block(FILE *out, const void *data, int64_t first, int64_t last)
{
    const lines *l = data;
    const char *kind = l->kind ? l->kind[first / FMM_BLOCK] : NULL;
    for (int64_t i = first; i < last; i++) {
        fprintf(out, "%s ", kind ? kind : "X");
        if (kind) kind += strlen(kind) + 1;
        print_particle(out, l, i);
    }
}

/* Finds the kind of the first particle of each block. */
static yoke_status find_kinds(const fmm_particles *particles, const char ***kinds)
{
    const char *kind = particles->notes.kinds;
    if (!kind) return YOKE_OK;
    yoke_status status = yoke_allocate(particles->context, particles->count / FMM_BLOCK + 1, sizeof **kinds, kinds);
    for (int64_t i = 0; i < particles->count && !status; i++, kind += strlen(kind) + 1)
        if (i % FMM_BLOCK == 0) (*kinds)[i / FMM_BLOCK] = kind;
    return status;
}

struct fmm_writer {
    yoke_context *context;
    fmm_format format;
    bool gradient;
    const fmm_stop *stop;
    app_file *file;        /* NULL for H5MD */
    fmm_h5md_writer *h5md; /* NULL for others */
};

static yoke_status print(const fmm_writer *w, FILE *out, const fmm_particles *particles, const fmm_field *field)
{
    lines l = {particles, field, w->gradient, w->format == FMM_CSV ? ',' : ' ', NULL};
    if (w->format == FMM_VTU) return fmm_vtu_print(out, particles, field, w->gradient);
    if (w->format != FMM_XYZ) {
        print_header(out, &l);
        return fmm_print_blocks(w->context, out, particles->count, print_block, &l, w->stop);
    }
    yoke_status status = find_kinds(particles, &l.kind);
    if (status) return status;
    print_xyz_header(out, &l);
    status = fmm_print_blocks(w->context, out, particles->count, print_xyz_block, &l, w->stop);
    yoke_release(w->context, l.kind);
    return status;
}

static yoke_status create_file(fmm_writer *w, const char *path, int64_t frames)
{
    if (w->format == FMM_H5MD) return fmm_h5md_create(w->context, path, frames, w->gradient, &w->h5md);
    if (w->format != FMM_XYZ && frames > 1)
        return yoke_fail(w->context, YOKE_ERROR_INPUT, "%s: there is room for one frame, not for %lld; give a file .xyz or .h5", path,
                         (long long)frames);
    return app_file_create(w->context, path, &w->file);
}

yoke_status fmm_writer_create(yoke_context *context, const char *path, int64_t frames, bool gradient, const fmm_stop *stop,
                              fmm_writer **writer)
{
    fmm_writer *created = NULL;
    fmm_format format;
    yoke_status status = fmm_format_of(context, path, &format);
    if (!status) status = yoke_allocate(context, 1, sizeof *created, &created);
    if (status) return status;
    *created = (fmm_writer){.context = context, .format = format, .gradient = gradient, .stop = stop};
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
