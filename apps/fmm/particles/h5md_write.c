/* h5md_write.c - writes results to H5MD files, frame by frame. */
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/files/file.h"
#include "particles/h5md.h"

/*
 * The file is created in memory, so that it is written like all others: completely or not at all.  A failed call returns a negative number,
 * with which the following calls fail as well, so `failed` is checked only once.
 */
struct fmm_h5md_writer {
    yoke_context *context;
    const char *path; /* borrowed */
    hid_t file;
    int failed;
    int64_t frames, added; /* number of frames in total, and of those added so far */
    int64_t count;         /* particles of each frame */
    int64_t step;          /* of the current frame */
    double time;           /* likewise */
    int potential, force;  /* whether they are written */
    int gradient;          /* whether it is written where there is a force */
    int timed;             /* whether times are written */
    double *triples;       /* [count][3] */
};

typedef struct fmm_h5md_writer writer;

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

/* Creates a dataset and the groups above it; the caller closes it.  rank 0: one value. */
static hid_t make_set(writer *w, const char *path, int rank, const hsize_t *size, hid_t type)
{
    hid_t links = H5Pcreate(H5P_LINK_CREATE), space = rank ? H5Screate_simple(rank, size, NULL) : H5Screate(H5S_SCALAR);
    H5Pset_create_intermediate_group(links, 1);
    hid_t set = note(w, H5Dcreate2(w->file, path, type, space, links, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
    H5Pclose(links);
    return set;
}

/* Creates the datasets for values of all frames, [frames][count] or [frames][count][3], and for the frames' steps and times. */
static void make_frames(writer *w, const char *name, int components)
{
    const hsize_t size[3] = {(hsize_t)w->frames, (hsize_t)w->count, (hsize_t)components};
    char path[100];
    snprintf(path, sizeof path, "particles/all/%s/value", name);
    hid_t set = make_set(w, path, components > 1 ? 3 : 2, size, H5T_NATIVE_DOUBLE);
    if (set >= 0) H5Dclose(set);
    snprintf(path, sizeof path, "particles/all/%s/step", name);
    set = make_set(w, path, 1, size, H5T_NATIVE_INT64);
    if (set >= 0) H5Dclose(set);
    if (!w->timed) return;
    snprintf(path, sizeof path, "particles/all/%s/time", name);
    set = make_set(w, path, 1, size, H5T_NATIVE_DOUBLE);
    if (set >= 0) H5Dclose(set);
}

/* Writes `size` values of a dataset, from `start` on. */
static void write_part(writer *w, hid_t set, int rank, const hsize_t *start, const hsize_t *size, hid_t type, const void *values)
{
    hid_t space = H5Dget_space(set), memory = H5Screate_simple(rank, size, NULL);
    w->failed |= H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) < 0;
    w->failed |= H5Dwrite(set, type, memory, space, H5P_DEFAULT, values) < 0;
    H5Sclose(memory);
    H5Sclose(space);
}

/* Writes the current frame's values of NAME/part. */
static void write_part_of(writer *w, const char *name, const char *part, int components, hid_t type, const void *values)
{
    const hsize_t start[3] = {(hsize_t)w->added}, size[3] = {1, (hsize_t)w->count, (hsize_t)components};
    char path[100];
    snprintf(path, sizeof path, "particles/all/%s/%s", name, part);
    hid_t set = note(w, H5Dopen2(w->file, path, H5P_DEFAULT));
    if (set < 0) return;
    if (w->count > 0 || components == 0) write_part(w, set, components > 1 ? 3 : components + 1, start, size, type, values);
    H5Dclose(set);
}

static void write_frame(writer *w, const char *name, int components, const double *values)
{
    write_part_of(w, name, "value", components, H5T_NATIVE_DOUBLE, values);
    write_part_of(w, name, "step", 0, H5T_NATIVE_INT64, &w->step);
    if (w->timed) write_part_of(w, name, "time", 0, H5T_NATIVE_DOUBLE, &w->time);
}

/* Writes charges.  If there is only one frame, they do not depend on time. */
static void write_charge(writer *w, const double *charge)
{
    const hsize_t count = (hsize_t)w->count;
    if (w->frames > 1) {
        write_frame(w, "charge", 1, charge);
        return;
    }
    hid_t set = make_set(w, "particles/all/charge", 1, &count, H5T_NATIVE_DOUBLE);
    if (set < 0) return;
    if (count > 0) w->failed |= H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, charge) < 0;
    H5Dclose(set);
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

/* Describes the box: open space without boundaries. */
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

/* Creates the datasets.  The first frame determines which there are in all frames. */
static yoke_status make_sets(writer *w, const fmm_particles *particles, const fmm_field *field)
{
    w->count = particles->count;
    w->potential = field != NULL;
    w->force = field && field->gx;
    w->timed = isfinite(particles->notes.time);
    yoke_status status = yoke_allocate_untouched(w->context, 3 * w->count, sizeof *w->triples, &w->triples);
    if (status) return status;
    make_frames(w, "position", 3);
    if (w->frames > 1) make_frames(w, "charge", 1);
    if (w->potential) make_frames(w, "potential", 1);
    if (w->force) make_frames(w, "force", 3);
    if (w->force && w->gradient) make_frames(w, "gradient", 3);
    return YOKE_OK;
}

/* Writes vectors of the current frame. */
static void write_vectors(writer *w, const char *name, const double *x, const double *y, const double *z)
{
    for (int64_t i = 0; i < w->count; i++) w->triples[3 * i] = x[i], w->triples[3 * i + 1] = y[i], w->triples[3 * i + 2] = z[i];
    write_frame(w, name, 3, w->triples);
}

static void write_particles(writer *w, const fmm_particles *p, const fmm_field *field)
{
    write_vectors(w, "position", p->x, p->y, p->z);
    write_charge(w, p->charge);
    if (w->potential) write_frame(w, "potential", 1, field->potential);
    if (!w->force) return;
    for (int64_t i = 0; i < p->count; i++) fmm_field_force(p, field, i, w->triples + 3 * i);
    write_frame(w, "force", 3, w->triples);
    if (w->gradient) write_vectors(w, "gradient", field->gx, field->gy, field->gz);
}

static yoke_status check_made(const writer *w)
{
    return w->failed ? yoke_fail(w->context, YOKE_ERROR_MEMORY, "%s: HDF5 cannot make the file in memory", w->path) : YOKE_OK;
}

yoke_status fmm_h5md_create(yoke_context *context, const char *path, int64_t frames, bool gradient, fmm_h5md_writer **made)
{
    enum { GROWTH = 1 << 20 };
    writer *w = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *w, &w);
    if (status) return status;
    *w = (writer){.context = context, .path = path, .frames = frames, .gradient = gradient};
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* its messages would go to standard error */
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, GROWTH, 0);
    /* The file exists in memory alone.  HDF5 checks whether a file of this name exists, and would open an old result, so the name is one
     * that no file can have. */
    w->file = note(w, H5Fcreate("/dev/null/h5md", H5F_ACC_TRUNC, H5P_DEFAULT, access));
    H5Pclose(access);
    if (w->file >= 0) write_about(w), write_box(w);
    status = check_made(w);
    if (status)
        fmm_h5md_abandon(w);
    else
        *made = w;
    return status;
}

yoke_status fmm_h5md_add(fmm_h5md_writer *w, const fmm_particles *particles, const fmm_field *field)
{
    yoke_status status = w->added == 0 ? make_sets(w, particles, field) : YOKE_OK;
    if (status) return status;
    if (particles->count != w->count)
        return yoke_fail(w->context, YOKE_ERROR_INPUT,
                         "%s: the number of particles changes from %lld to %lld, which H5MD cannot hold; write .xyz", w->path,
                         (long long)w->count, (long long)particles->count);
    if (w->added == w->frames || (field != NULL) != w->potential || (field && field->gx) != w->force)
        return yoke_fail(w->context, YOKE_ERROR_ARGUMENT, "%s: frame %lld of %lld, or its fields, are not those that were told", w->path,
                         (long long)w->added + 1, (long long)w->frames);
    w->step = particles->notes.step >= 0 ? particles->notes.step : w->added;
    w->time = particles->notes.time;
    write_particles(w, particles, field);
    w->added++;
    return check_made(w);
}

/* Writes the bytes of the file to its path. */
static yoke_status put(const writer *w)
{
    app_file *out = NULL;
    char *bytes = NULL;
    ssize_t size = H5Fget_file_image(w->file, NULL, 0);
    if (size < 0) return yoke_fail(w->context, YOKE_ERROR_INTERNAL, "%s: HDF5 made no file", w->path);
    yoke_status status = yoke_allocate_untouched(w->context, size, 1, &bytes);
    if (!status && H5Fget_file_image(w->file, bytes, (size_t)size) != size)
        status = yoke_fail(w->context, YOKE_ERROR_INTERNAL, "%s: HDF5 made no file", w->path);
    if (!status) status = app_file_create(w->context, w->path, &out);
    if (!status) {
        fwrite(bytes, 1, (size_t)size, app_file_stream(out));
        status = app_file_commit(out);
    }
    yoke_release(w->context, bytes);
    return status;
}

yoke_status fmm_h5md_commit(fmm_h5md_writer *w)
{
    w->failed |= H5Fflush(w->file, H5F_SCOPE_GLOBAL) < 0;
    yoke_status status = check_made(w);
    if (!status) status = put(w);
    fmm_h5md_abandon(w);
    return status;
}

void fmm_h5md_abandon(fmm_h5md_writer *w)
{
    if (!w) return;
    if (w->file >= 0) H5Fclose(w->file);
    yoke_release(w->context, w->triples);
    yoke_release(w->context, w);
}
