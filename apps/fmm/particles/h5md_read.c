/* h5md_read.c - reads particles from H5MD files, frame by frame. */
#include <hdf5.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "particles/readers.h"

/* A dataset, with values [count][components] for each frame. */
typedef struct values {
    hid_t set;
    int rank;
    hsize_t size[3];
    bool timed; /* its first dimension is that of the frames */
} values;

struct fmm_h5md {
    yoke_context *context;
    const char *path; /* borrowed */
    hid_t file;
    char group[256]; /* "particles/all" */
    values position, charge;
    int64_t count;
};

static yoke_status fail(const fmm_h5md *r, const char *where, const char *why)
{
    return yoke_fail(r->context, YOKE_ERROR_INPUT, "%s: %s%s%s: %s", r->path, r->group, *r->group && *where ? "/" : "", where, why);
}

/* Finds the group "all" in particles, or the only group there. */
static yoke_status find_group(fmm_h5md *r)
{
    H5G_info_t info;
    char name[200];
    if (H5Lexists(r->file, "particles", H5P_DEFAULT) <= 0) return fail(r, "particles", "there is no such group; expected an H5MD file");
    hid_t group = H5Gopen2(r->file, "particles", H5P_DEFAULT);
    if (group < 0) return fail(r, "particles", "is not a group; expected an H5MD file");
    bool all = H5Lexists(group, "all", H5P_DEFAULT) > 0, one = H5Gget_info(group, &info) >= 0 && info.nlinks == 1;
    ssize_t length = all || !one ? 0 : H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, 0, name, sizeof name, H5P_DEFAULT);
    H5Gclose(group);
    if (all)
        snprintf(r->group, sizeof r->group, "particles/all");
    else if (length > 0 && length < (ssize_t)sizeof name)
        snprintf(r->group, sizeof r->group, "particles/%s", name);
    else
        return fail(r, "particles", "expected one group in it, or one that is called all");
    return YOKE_OK;
}

/* Opens NAME, which is the same in all frames, or NAME/value, which has frames. */
static yoke_status open_values(const fmm_h5md *r, const char *name, int rank, values *v)
{
    char path[300];
    *v = (values){.set = H5I_INVALID_HID};
    snprintf(path, sizeof path, "%s/%s", r->group, name);
    if (H5Lexists(r->file, path, H5P_DEFAULT) <= 0) return fail(r, name, "is missing");
    hid_t object = H5Oopen(r->file, path, H5P_DEFAULT);
    H5I_type_t type = object >= 0 ? H5Iget_type(object) : H5I_BADID;
    if (type == H5I_GROUP) {
        v->timed = true;
        v->set = H5Lexists(object, "value", H5P_DEFAULT) > 0 ? H5Dopen2(object, "value", H5P_DEFAULT) : H5I_INVALID_HID;
    } else if (type == H5I_DATASET) {
        v->set = H5Dopen2(r->file, path, H5P_DEFAULT);
    }
    if (object >= 0) H5Oclose(object);
    if (v->set < 0) return fail(r, name, "is neither a dataset nor a group with the dataset value");
    hid_t space = H5Dget_space(v->set), number = H5Dget_type(v->set);
    v->rank = H5Sget_simple_extent_ndims(space);
    H5T_class_t class = H5Tget_class(number);
    bool right = v->rank == rank + v->timed && H5Sget_simple_extent_dims(space, v->size, NULL) == v->rank;
    H5Sclose(space);
    H5Tclose(number);
    if (!right)
        return fail(r, name,
                    rank == 2 ? "expected 2 dimensions (particles, 3), or with frames 3" : "expected 1 dimension, or with frames 2");
    if (class != H5T_FLOAT && class != H5T_INTEGER) return fail(r, name, "expected numbers");
    return YOKE_OK;
}

/* Checks that values are stored: a dataset that was never written, or was truncated, consists of fill values. */
static yoke_status check_stored(const fmm_h5md *r, const char *name, const values *v)
{
    hsize_t all = 1;
    for (int d = 0; d < v->rank; d++) {
        if (v->size[d] > 0 && all > UINT64_MAX / v->size[d]) return fail(r, name, "has more values than there can be");
        all *= v->size[d];
    }
    if (all > 0 && H5Dget_storage_size(v->set) == 0) return fail(r, name, "holds no values");
    return YOKE_OK;
}

/* Moves to the next chunk of the same frame.  Returns false at the end. */
static bool next_chunk(const values *v, const hsize_t *chunk, hsize_t *at)
{
    for (int d = v->rank - 1; d >= v->timed; d--) {
        at[d] += chunk[d];
        if (at[d] < v->size[d]) return true;
        at[d] = 0;
    }
    return false;
}

/* Checks that all chunks of a frame were written: HDF5 reads fill values in the place of others. */
static yoke_status check_written(const fmm_h5md *r, const char *name, const values *v, int64_t frame)
{
    hsize_t chunk[3], at[3] = {0}, bytes;
    const hid_t list = H5Dget_create_plist(v->set);
    const bool chunked = H5Pget_layout(list) == H5D_CHUNKED && H5Pget_chunk(list, v->rank, chunk) == v->rank;
    H5Pclose(list);
    if (!chunked || r->count == 0) return YOKE_OK;
    if (v->timed) at[0] = (hsize_t)frame / chunk[0] * chunk[0];
    do {
        haddr_t where = HADDR_UNDEF;
        unsigned filters;
        if (H5Dget_chunk_info_by_coord(v->set, at, &filters, &where, &bytes) < 0) return YOKE_OK; /* it is damaged, and reading it fails */
        if (where != HADDR_UNDEF) continue;
        if (!v->timed) return fail(r, name, "was not written completely");
        return yoke_fail(r->context, YOKE_ERROR_INPUT, "%s: %s/%s: frame %lld was not written completely", r->path, r->group, name,
                         (long long)frame + 1);
    } while (next_chunk(v, chunk, at));
    return YOKE_OK;
}

/* The number of a filter, as for compression, that this HDF5 has not; 0: it has all filters of the dataset. */
static int missing_filter(hid_t set)
{
    const hid_t list = H5Dget_create_plist(set);
    const int count = H5Pget_nfilters(list);
    int missing = 0;
    for (int f = 0; f < count && !missing; f++) {
        unsigned flags, config;
        size_t parameters = 0;
        const H5Z_filter_t filter = H5Pget_filter2(list, (unsigned)f, &flags, &parameters, NULL, 0, NULL, &config);
        if (filter > 0 && H5Zfilter_avail(filter) <= 0) missing = filter;
    }
    H5Pclose(list);
    return missing;
}

static yoke_status fail_to_read(const fmm_h5md *r, const char *name, hid_t set)
{
    const int filter = missing_filter(set);
    if (!filter) return fail(r, name, "cannot be read: the file is damaged or truncated");
    return yoke_fail(r->context, YOKE_ERROR_INPUT,
                     "%s: %s/%s: is compressed by the HDF5 filter %d, which is not installed here; install its plugin and set "
                     "HDF5_PLUGIN_PATH, or rewrite the file with h5repack -f GZIP=1",
                     r->path, r->group, name, filter);
}

/* Reads the values of a frame; frames are numbered from 0. */
static yoke_status read_values(const fmm_h5md *r, const char *name, const values *v, int64_t frame, double *to)
{
    hsize_t start[3] = {0}, size[3];
    memcpy(size, v->size, sizeof size);
    if (v->timed) start[0] = (hsize_t)frame, size[0] = 1;
    hid_t from = H5Dget_space(v->set), memory = H5Screate_simple(v->rank, size, NULL);
    herr_t done = H5Sselect_hyperslab(from, H5S_SELECT_SET, start, NULL, size, NULL);
    if (done >= 0) done = H5Dread(v->set, H5T_NATIVE_DOUBLE, memory, from, H5P_DEFAULT, to);
    H5Sclose(memory);
    H5Sclose(from);
    return done < 0 ? fail_to_read(r, name, v->set) : YOKE_OK;
}

static yoke_status check_finite(const fmm_h5md *r, const char *name, int64_t count, int components, const double *numbers)
{
    for (int64_t i = 0; i < count * components; i++)
        if (!isfinite(numbers[i]))
            return yoke_fail(r->context, YOKE_ERROR_INPUT, "%s: %s/%s: that of particle %lld is %g; it must be finite", r->path, r->group,
                             name, (long long)(i / components + 1), numbers[i]);
    return YOKE_OK;
}

/* Checks that positions and charges have the same number of particles and of frames, and finds both numbers. */
static yoke_status check_sizes(fmm_h5md *r, int64_t *frames)
{
    const values *position = &r->position, *charge = &r->charge;
    hsize_t number = position->size[position->timed], of_charge = charge->size[charge->timed];
    if (position->size[position->timed + 1] != 3) return fail(r, "position", "expected 3 coordinates");
    if (number > FMM_MAX_PARTICLES) return fail(r, "position", "has more particles than 2147483647");
    if (number != of_charge) return fail(r, "charge", "has not as many particles as position");
    if (position->timed && charge->timed && position->size[0] != charge->size[0])
        return fail(r, "charge", "has not as many frames as position");
    hsize_t most = position->timed ? position->size[0] : charge->timed ? charge->size[0] : 1;
    if (most > INT32_MAX) return fail(r, "position", "has more frames than 2147483647");
    r->count = (int64_t)number, *frames = (int64_t)most;
    yoke_status status = check_stored(r, "position", position);
    return status ? status : check_stored(r, "charge", charge);
}

yoke_status fmm_h5md_open(yoke_context *context, const char *path, fmm_h5md **h5md, int64_t *frames)
{
    fmm_h5md *r = NULL;
    int64_t found = 0;
    if (access(path, R_OK) != 0) return yoke_fail(context, YOKE_ERROR_INPUT, "%s: there is no such file, or it cannot be read", path);
    yoke_status status = yoke_allocate(context, 1, sizeof *r, &r);
    if (status) return status;
    *r = (fmm_h5md){.context = context, .path = path, .position.set = H5I_INVALID_HID, .charge.set = H5I_INVALID_HID};
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* its messages would go to standard error */
    r->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (r->file < 0)
        status = yoke_fail(context, YOKE_ERROR_INPUT, "%s: is not an HDF5 file, or it is damaged, truncated, or just being written", path);
    if (!status) status = find_group(r);
    if (!status) status = open_values(r, "position", 2, &r->position);
    if (!status) status = open_values(r, "charge", 1, &r->charge);
    if (!status) status = check_sizes(r, &found);
    if (status) {
        fmm_h5md_close(r);
        return status;
    }
    *h5md = r;
    *frames = found;
    return YOKE_OK;
}

/* Reads one number; returns NaN if that fails.  `space`: of its place in the dataset, or H5S_ALL. */
static double read_number(hid_t set, hid_t space)
{
    double value;
    hid_t memory = H5Screate(H5S_SCALAR);
    const bool read = H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, &value) >= 0;
    H5Sclose(memory);
    return read ? value : NAN;
}

/* The attribute `offset` of a dataset; 0: it has none. */
static double read_offset(hid_t set)
{
    double value = 0;
    if (H5Aexists(set, "offset") <= 0) return 0;
    hid_t offset = H5Aopen(set, "offset", H5P_DEFAULT), space = H5Aget_space(offset);
    if (H5Sget_simple_extent_npoints(space) != 1 || H5Aread(offset, H5T_NATIVE_DOUBLE, &value) < 0) value = NAN;
    H5Sclose(space);
    H5Aclose(offset);
    return value;
}

/* Reads a dataset with a number for each frame, or with the difference of the numbers of two frames. */
static double read_of_frame(hid_t set, hid_t space, int64_t frame)
{
    const hsize_t at = (hsize_t)frame, one = 1;
    hsize_t frames;
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank == 0) return read_offset(set) + (double)frame * read_number(set, H5S_ALL);
    if (rank != 1 || H5Sget_simple_extent_dims(space, &frames, NULL) != 1 || at >= frames) return NAN;
    return H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &one, NULL) < 0 ? NAN : read_number(set, space);
}

/* The step or the time of a frame's positions; NaN: unknown. */
static double read_when(const fmm_h5md *r, const char *name, int64_t frame)
{
    char path[300];
    snprintf(path, sizeof path, "%s/position/%s", r->group, name);
    if (!r->position.timed || H5Lexists(r->file, path, H5P_DEFAULT) <= 0) return NAN;
    hid_t set = H5Dopen2(r->file, path, H5P_DEFAULT);
    if (set < 0) return NAN;
    hid_t space = H5Dget_space(set), type = H5Dget_type(set);
    const H5T_class_t class = H5Tget_class(type);
    const double value = class == H5T_FLOAT || class == H5T_INTEGER ? read_of_frame(set, space, frame) : NAN;
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(set);
    return value;
}

/* Whether a boundary of the box is periodic. */
static bool read_periodic(const fmm_h5md *r)
{
    enum { MOST_BYTES = 64 };
    char path[300], texts[3 * MOST_BYTES + 1] = "", *pointers[3] = {NULL};
    snprintf(path, sizeof path, "%s/box", r->group);
    if (H5Lexists(r->file, path, H5P_DEFAULT) <= 0 || H5Aexists_by_name(r->file, path, "boundary", H5P_DEFAULT) <= 0) return false;
    hid_t boundary = H5Aopen_by_name(r->file, path, "boundary", H5P_DEFAULT, H5P_DEFAULT);
    if (boundary < 0) return false;
    hid_t type = H5Aget_type(boundary), space = H5Aget_space(boundary);
    const bool three = H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_npoints(space) == 3;
    bool periodic = false;
    if (three && H5Tis_variable_str(type) > 0) {
        if (H5Aread(boundary, type, pointers) >= 0)
            for (int d = 0; d < 3; d++) periodic |= pointers[d] && !strcmp(pointers[d], "periodic");
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, pointers);
    } else if (three && H5Tget_size(type) <= MOST_BYTES && H5Aread(boundary, type, texts) >= 0) {
        for (int d = 0; d < 3; d++) periodic |= !strncmp(texts + (size_t)d * H5Tget_size(type), "periodic", strlen("periodic"));
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(boundary);
    return periodic;
}

static void read_notes(const fmm_h5md *r, int64_t frame, fmm_notes *notes)
{
    const double step = read_when(r, "step", frame);
    if (step >= 0 && step < 0x1p63) notes->step = (int64_t)step;
    notes->time = read_when(r, "time", frame);
    notes->periodic = read_periodic(r);
}

static yoke_status read_particles(const fmm_h5md *r, int64_t frame, fmm_particles *p)
{
    double *places = NULL;
    yoke_status status = yoke_allocate(r->context, 3 * p->count, sizeof *places, &places);
    if (!status && p->count > 0) status = read_values(r, "position", &r->position, frame, places);
    if (!status && p->count > 0) status = read_values(r, "charge", &r->charge, frame, p->charge);
    if (!status) status = check_finite(r, "position", p->count, 3, places);
    if (!status) status = check_finite(r, "charge", p->count, 1, p->charge);
    for (int64_t i = 0; i < p->count && !status; i++) p->x[i] = places[3 * i], p->y[i] = places[3 * i + 1], p->z[i] = places[3 * i + 2];
    yoke_release(r->context, places);
    return status;
}

yoke_status fmm_h5md_read(fmm_h5md *r, int64_t frame, fmm_particles **particles)
{
    fmm_particles *created = NULL;
    yoke_status status = check_written(r, "position", &r->position, frame - 1);
    if (!status) status = check_written(r, "charge", &r->charge, frame - 1);
    if (!status) status = fmm_particles_create(r->context, r->count, &created);
    if (!status) status = read_particles(r, frame - 1, created);
    if (!status) read_notes(r, frame - 1, &created->notes);
    if (status)
        fmm_particles_destroy(created);
    else
        *particles = created;
    return status;
}

void fmm_h5md_close(fmm_h5md *r)
{
    if (!r) return;
    if (r->position.set >= 0) H5Dclose(r->position.set);
    if (r->charge.set >= 0) H5Dclose(r->charge.set);
    if (r->file >= 0) H5Fclose(r->file);
    yoke_release(r->context, r);
}
