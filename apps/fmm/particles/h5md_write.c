#include <hdf5.h>
#include <stdio.h>
#include <string.h>

#include "common/file.h"
#include "particles/h5md.h"

/*
 * The file is made in memory, so that it is written as all others are: whole or not at all.  A failed call gives a negative number, with which the
 * following ones fail as well; `failed` is looked at once.
 */
typedef struct writer {
    hid_t file;
    int failed;
} writer;

static hid_t note(writer *w, hid_t made)
{
    w->failed |= made < 0;
    return made;
}

static hid_t make_group(writer *w, const char *path)
{
    hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    hid_t group = note(w, H5Gcreate2(w->file, path, links, H5P_DEFAULT, H5P_DEFAULT));
    H5Pclose(links);
    return group;
}

static void write_attribute(writer *w, hid_t to, const char *name, hid_t type, hid_t space, const void *value)
{
    hid_t made = note(w, H5Acreate2(to, name, type, space, H5P_DEFAULT, H5P_DEFAULT));
    if (made < 0) return;
    w->failed |= H5Awrite(made, type, value) < 0;
    H5Aclose(made);
}

static void write_text(writer *w, hid_t to, const char *name, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, strlen(text));
    write_attribute(w, to, name, type, space, text);
    H5Sclose(space);
    H5Tclose(type);
}

static void write_set(writer *w, const char *path, int rank, const hsize_t *size, hid_t type, const void *values)
{
    hid_t links = H5Pcreate(H5P_LINK_CREATE), space = rank ? H5Screate_simple(rank, size, NULL) : H5Screate(H5S_SCALAR);
    H5Pset_create_intermediate_group(links, 1);
    hid_t set = note(w, H5Dcreate2(w->file, path, type, space, links, H5P_DEFAULT, H5P_DEFAULT));
    if (set >= 0) {
        w->failed |= H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0;
        H5Dclose(set);
    }
    H5Sclose(space);
    H5Pclose(links);
}

/* particles/all/NAME with one frame: value, step and time. */
static void write_frame(writer *w, const char *name, int64_t count, int components, const double *values)
{
    static const int64_t step = 0;
    static const double time = 0;
    const hsize_t size[3] = {1, (hsize_t)count, (hsize_t)components}, one = 1;
    char path[100];
    snprintf(path, sizeof path, "particles/all/%s/value", name);
    write_set(w, path, components > 1 ? 3 : 2, size, H5T_NATIVE_DOUBLE, values);
    snprintf(path, sizeof path, "particles/all/%s/step", name);
    write_set(w, path, 1, &one, H5T_NATIVE_INT64, &step);
    snprintf(path, sizeof path, "particles/all/%s/time", name);
    write_set(w, path, 1, &one, H5T_NATIVE_DOUBLE, &time);
}

static void write_about(writer *w)
{
    static const int version[2] = {1, 1};
    const hsize_t two = 2;
    hid_t space = H5Screate_simple(1, &two, NULL), group = make_group(w, "h5md");
    write_attribute(w, group, "version", H5T_NATIVE_INT, space, version);
    H5Gclose(group);
    group = make_group(w, "h5md/author");
    write_text(w, group, "name", "unknown");
    H5Gclose(group);
    group = make_group(w, "h5md/creator");
    write_text(w, group, "name", "yoke fmm");
    write_text(w, group, "version", yoke_version());
    H5Gclose(group);
    H5Sclose(space);
}

/* Open space without boundaries. */
static void write_box(writer *w)
{
    static const char boundary[3][5] = {"none", "none", "none"};
    static const int dimension = 3;
    const hsize_t three = 3;
    hid_t group = make_group(w, "particles/all/box"), one = H5Screate(H5S_SCALAR), all = H5Screate_simple(1, &three, NULL),
          text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, sizeof boundary[0]);
    write_attribute(w, group, "dimension", H5T_NATIVE_INT, one, &dimension);
    write_attribute(w, group, "boundary", text, all, boundary);
    H5Tclose(text);
    H5Sclose(all);
    H5Sclose(one);
    H5Gclose(group);
}

static void write_particles(writer *w, const fmm_particles *p, const fmm_field *field, double *triples)
{
    const hsize_t count = (hsize_t)p->count;
    for (int64_t i = 0; i < p->count; i++) triples[3 * i] = p->x[i], triples[3 * i + 1] = p->y[i], triples[3 * i + 2] = p->z[i];
    write_frame(w, "position", p->count, 3, triples);
    write_set(w, "particles/all/charge", 1, &count, H5T_NATIVE_DOUBLE, p->charge);
    if (!field) return;
    write_frame(w, "potential", p->count, 1, field->potential);
    if (!field->gx) return;
    for (int64_t i = 0; i < p->count; i++) {
        triples[3 * i] = -p->charge[i] * field->gx[i];
        triples[3 * i + 1] = -p->charge[i] * field->gy[i];
        triples[3 * i + 2] = -p->charge[i] * field->gz[i];
    }
    write_frame(w, "force", p->count, 3, triples);
}

/* The file's bytes go to where it shall lie. */
static yoke_status put(yoke_context *context, const char *path, const writer *w)
{
    app_file *out = NULL;
    char *bytes = NULL;
    ssize_t size = H5Fget_file_image(w->file, NULL, 0);
    if (size < 0) return yoke_fail(context, YOKE_ERROR_INTERNAL, "%s: HDF5 made no file", path);
    yoke_status status = yoke_allocate_untouched(context, size, 1, &bytes);
    if (!status && H5Fget_file_image(w->file, bytes, (size_t)size) != size)
        status = yoke_fail(context, YOKE_ERROR_INTERNAL, "%s: HDF5 made no file", path);
    if (!status) status = app_file_create(context, path, &out);
    if (!status) {
        fwrite(bytes, 1, (size_t)size, app_file_stream(out));
        status = app_file_commit(out);
    }
    yoke_release(context, bytes);
    return status;
}

yoke_status fmm_h5md_write(yoke_context *context, const char *path, const fmm_particles *particles, const fmm_field *field)
{
    enum { GROWTH = 1 << 20 };
    writer w = {0};
    double *triples = NULL;
    yoke_status status = yoke_allocate_untouched(context, 3 * particles->count, sizeof *triples, &triples);
    if (status) return status;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* its messages would go to standard error */
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, GROWTH, 0);
    w.file = note(&w, H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access)); /* in memory alone: nothing is written there */
    H5Pclose(access);
    if (w.file >= 0) {
        write_about(&w);
        write_box(&w);
        write_particles(&w, particles, field, triples);
        w.failed |= H5Fflush(w.file, H5F_SCOPE_GLOBAL) < 0;
    }
    status = w.failed ? yoke_fail(context, YOKE_ERROR_MEMORY, "%s: HDF5 cannot make the file in memory", path) : put(context, path, &w);
    if (w.file >= 0) H5Fclose(w.file);
    yoke_release(context, triples);
    return status;
}
