/*
 * H5MD files: made here by HDF5 itself, with what is right and what is wrong.
 */
#include <hdf5.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.h"
#include "mutate.h"
#include "particles/generate.h"
#include "unit.h"

static yoke_context *context;
static char directory[] = "/tmp/yoke-test-h5md-XXXXXX", path[200];

static int start(void **state)
{
    (void)state;
    if (!mkdtemp(directory)) return 1;
    snprintf(path, sizeof path, "%s/a.h5", directory);
    return yoke_context_create(NULL, &context) != YOKE_OK;
}

static int end(void **state)
{
    (void)state;
    yoke_context_destroy(context);
    return rmdir(directory);
}

/* A dataset of a new file; values NULL: none are written, and with `chunked` none are stored. */
static void add(hid_t file, const char *name, int rank, const hsize_t *size, const double *values)
{
    hid_t links = H5Pcreate(H5P_LINK_CREATE), space = H5Screate_simple(rank, size, NULL), kept = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    if (!values) {
        const hsize_t chunk[3] = {1, 1, 1};
        H5Pset_chunk(kept, rank, chunk);
    }
    hid_t set = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, links, kept, H5P_DEFAULT);
    assert_true(set >= 0);
    if (values) assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
    H5Pclose(kept);
    H5Sclose(space);
    H5Pclose(links);
}

static hid_t create(void) { return H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT); }

static yoke_status read_frame(int64_t frame, fmm_particles **particles, int64_t *frames)
{
    return read_file(context, path, frame, particles, frames);
}

static const double two_frames[2][2][3] = {{{1, 2, 3}, {4, 5, 6}}, {{7, 8, 9}, {10, 11, 12}}}, charges[2] = {-1, 2};
static const hsize_t of_positions[3] = {2, 2, 3}, of_charges[1] = {2};

static void frames_are_read_with_fixed_and_with_changing_charges(void **state)
{
    (void)state;
    for (int changing = 0; changing < 2; changing++) {
        hid_t file = create();
        add(file, "particles/salt/position/value", 3, of_positions, &two_frames[0][0][0]);
        if (changing)
            add(file, "particles/salt/charge/value", 2, of_positions, (const double[]){3, 4, -1, 2});
        else
            add(file, "particles/salt/charge", 1, of_charges, charges);
        H5Fclose(file);
        fmm_particles *p = NULL;
        int64_t frames = 0;
        assert_int_equal(read_frame(2, &p, &frames), YOKE_OK);
        assert_int_equal(frames, 2);
        assert_int_equal(p->count, 2);
        assert_true(p->x[0] == 7 && p->y[0] == 8 && p->z[0] == 9 && p->charge[0] == -1);
        assert_true(p->x[1] == 10 && p->y[1] == 11 && p->z[1] == 12 && p->charge[1] == 2);
        fmm_particles_destroy(p);
        p = NULL;
        assert_int_equal(read_frame(3, &p, &frames), YOKE_ERROR_INPUT);
        assert_non_null(strstr(yoke_last_error(context), "there is no frame 3; it has 2"));
        assert_null(p);
        remove(path);
    }
}

static void what_is_written_is_read_again_to_the_last_bit(void **state)
{
    (void)state;
    for (int64_t count = 0; count < 400; count += 399) {
        fmm_particles *p = NULL, *q = NULL;
        fmm_field *field = NULL;
        int64_t frames = 0;
        assert_int_equal(fmm_particles_generate(context, FMM_SHELLS, count, FMM_RANDOM, 5, &p), YOKE_OK);
        assert_int_equal(fmm_field_create(context, count, 1, &field), YOKE_OK);
        for (int64_t i = 0; i < count; i++) field->potential[i] = (double)i, field->gz[i] = 0.5;
        assert_int_equal(write_file(context, path, p, field), YOKE_OK);
        assert_int_equal(read_frame(1, &q, &frames), YOKE_OK);
        assert_int_equal(frames, 1);
        assert_int_equal(q->count, count);
        assert_memory_equal(q->x, p->x, (size_t)count * sizeof(double));
        assert_memory_equal(q->z, p->z, (size_t)count * sizeof(double));
        assert_memory_equal(q->charge, p->charge, (size_t)count * sizeof(double));
        if (count) { /* what is not read again */
            double potential[399], force[399][3], gradient[399][3];
            hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), set = H5Dopen2(file, "particles/all/potential/value", H5P_DEFAULT);
            assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, potential) >= 0);
            H5Dclose(set);
            set = H5Dopen2(file, "particles/all/force/value", H5P_DEFAULT);
            assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, force) >= 0);
            H5Dclose(set);
            set = H5Dopen2(file, "particles/all/gradient/value", H5P_DEFAULT);
            assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, gradient) >= 0);
            H5Dclose(set);
            H5Fclose(file);
            assert_true(gradient[398][2] == 0.5 && gradient[398][0] == 0);
            assert_true(potential[398] == 398 && force[7][2] == -0.5 * p->charge[7] && force[7][0] == 0);
        }
        fmm_field_destroy(field);
        fmm_particles_destroy(p);
        fmm_particles_destroy(q);
        remove(path);
    }
}

/* A file of two datasets is refused with this message. */
static void refuse(const char *first, int rank, const hsize_t *size, const double *values, const char *second, int rank_2,
                   const hsize_t *size_2, const double *values_2, const char *message)
{
    fmm_particles *p = NULL;
    int64_t frames;
    hid_t file = create();
    if (first) add(file, first, rank, size, values);
    if (second) add(file, second, rank_2, size_2, values_2);
    H5Fclose(file);
    assert_int_equal(read_frame(1, &p, &frames), YOKE_ERROR_INPUT);
    if (!strstr(yoke_last_error(context), message)) print_message("%s\nexpected: %s\n", yoke_last_error(context), message);
    assert_non_null(strstr(yoke_last_error(context), message));
    assert_null(p);
    remove(path);
}

static void what_is_wrong_is_refused(void **state)
{
    (void)state;
    static const char at[] = "particles/all/position", of[] = "particles/all/charge";
    static const hsize_t places[2] = {2, 3}, flat[2] = {2, 2}, three[1] = {3}, many[2] = {3000000000u, 3}, large[1] = {3000000000u},
                         some[2] = {1000000000u, 3}, so_many[1] = {1000000000u};
    const double *x = &two_frames[0][0][0], bad[6] = {1, 2, 3, 4, NAN, 6};
    refuse(NULL, 0, NULL, NULL, NULL, 0, NULL, NULL, "there is no such group; expected an H5MD file");
    refuse("particles", 2, places, x, NULL, 0, NULL, NULL, "is not a group");
    refuse("particles/a/position", 2, places, x, "particles/b/position", 2, places, x, "expected one group in it");
    refuse(at, 2, places, x, NULL, 0, NULL, NULL, "particles/all/charge: is missing");
    refuse(of, 1, of_charges, charges, NULL, 0, NULL, NULL, "particles/all/position: is missing");
    refuse(at, 1, three, x, of, 1, of_charges, charges, "expected 2 dimensions");
    refuse(at, 2, flat, x, of, 1, of_charges, charges, "expected 3 coordinates");
    refuse(at, 2, places, x, of, 1, three, x, "has not as many particles as position");
    refuse(at, 2, places, bad, of, 1, of_charges, charges, "that of particle 2 is nan");
    refuse(at, 2, many, NULL, of, 1, large, NULL, "has more particles than");
    refuse(at, 2, some, NULL, of, 1, so_many, NULL, "holds no values");
    refuse("particles/all/position/other", 2, places, x, of, 1, of_charges, charges,
           "neither a dataset nor a group with the dataset value");
}

/* What `make` puts at particles/all/charge, beside right positions, is refused with this message. */
static void refuse_charge(void (*make)(hid_t group), const char *message)
{
    static const hsize_t places[2] = {2, 3};
    fmm_particles *p = NULL;
    int64_t frames;
    hid_t file = create();
    add(file, "particles/all/position", 2, places, &two_frames[0][0][0]);
    hid_t group = H5Gopen2(file, "particles/all", H5P_DEFAULT);
    make(group);
    H5Gclose(group);
    H5Fclose(file);
    assert_int_equal(read_frame(1, &p, &frames), YOKE_ERROR_INPUT);
    if (!strstr(yoke_last_error(context), message)) print_message("%s\nexpected: %s\n", yoke_last_error(context), message);
    assert_non_null(strstr(yoke_last_error(context), message));
    assert_null(p);
    remove(path);
}

/* charge of a type in a space; both are closed. */
static void make_charge(hid_t group, hid_t type, hid_t space)
{
    hid_t set = H5Dcreate2(group, "charge", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(set >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Tclose(type);
}

static void make_text(hid_t group)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    make_charge(group, type, H5Screate_simple(1, of_charges, NULL));
}

static void make_compound(hid_t group)
{
    hid_t type = H5Tcreate(H5T_COMPOUND, 16);
    H5Tinsert(type, "re", 0, H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "im", 8, H5T_NATIVE_DOUBLE);
    make_charge(group, type, H5Screate_simple(1, of_charges, NULL));
}

static void make_scalar(hid_t group) { make_charge(group, H5Tcopy(H5T_NATIVE_DOUBLE), H5Screate(H5S_SCALAR)); }
static void make_null(hid_t group) { make_charge(group, H5Tcopy(H5T_NATIVE_DOUBLE), H5Screate(H5S_NULL)); }

static void make_rank_32(hid_t group)
{
    hsize_t size[32];
    for (int d = 0; d < 32; d++) size[d] = 1;
    make_charge(group, H5Tcopy(H5T_NATIVE_DOUBLE), H5Screate_simple(32, size, NULL));
}

static void make_link_to_itself(hid_t group) { H5Lcreate_soft("/particles/all/charge", group, "charge", H5P_DEFAULT, H5P_DEFAULT); }
static void make_dangling_link(hid_t group) { H5Lcreate_soft("/nowhere", group, "charge", H5P_DEFAULT, H5P_DEFAULT); }
static void make_group_as_value(hid_t group)
{
    hid_t inner = H5Gcreate2(group, "charge", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(H5Gcreate2(inner, "value", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Gclose(inner);
}

/* More frames than there can be: H5MD's arrays grow with time, so nothing but the size is in the file. */
static void make_endless(hid_t group)
{
    const hsize_t size[2] = {1ULL << 62, 2}, chunk[2] = {1, 2};
    hid_t inner = H5Gcreate2(group, "charge", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), kept = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(kept, 2, chunk);
    hid_t space = H5Screate_simple(2, size, NULL),
          set = H5Dcreate2(inner, "value", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, kept, H5P_DEFAULT);
    assert_true(set >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(kept);
    H5Gclose(inner);
}

static void charges_of_other_kinds_are_refused(void **state)
{
    (void)state;
    refuse_charge(make_text, "particles/all/charge: expected numbers");
    refuse_charge(make_compound, "particles/all/charge: expected numbers");
    refuse_charge(make_scalar, "particles/all/charge: expected 1 dimension");
    refuse_charge(make_null, "particles/all/charge: expected 1 dimension");
    refuse_charge(make_rank_32, "particles/all/charge: expected 1 dimension");
    refuse_charge(make_link_to_itself, "particles/all/charge: is neither a dataset nor");
    refuse_charge(make_dangling_link, "particles/all/charge: is neither a dataset nor");
    refuse_charge(make_group_as_value, "particles/all/charge: is neither a dataset nor");
    refuse_charge(make_endless, "has more frames than");
}

/* Two frames of 20 particles, in chunks that are compressed, of 32-bit numbers and integers: another layout than what yoke fmm writes. */
static void make_compressed(void)
{
    enum { COUNT = 20 };
    const hsize_t size[3] = {2, COUNT, 3}, chunk[3] = {1, 7, 3}, integers[2] = {2, COUNT}, chunk_of[2] = {1, COUNT};
    float places[2 * COUNT * 3];
    int signs[2 * COUNT];
    for (int i = 0; i < 2 * COUNT * 3; i++) places[i] = (float)i / 8;
    for (int i = 0; i < 2 * COUNT; i++) signs[i] = i % 2 ? 1 : -1;
    hid_t file = create(), links = H5Pcreate(H5P_LINK_CREATE), kept = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    H5Pset_chunk(kept, 3, chunk);
    H5Pset_shuffle(kept);
    H5Pset_deflate(kept, 6);
    hid_t space = H5Screate_simple(3, size, NULL);
    hid_t set = H5Dcreate2(file, "particles/all/position/value", H5T_IEEE_F32BE, space, links, kept, H5P_DEFAULT);
    assert_true(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, places) >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pset_chunk(kept, 2, chunk_of);
    space = H5Screate_simple(2, integers, NULL);
    set = H5Dcreate2(file, "particles/all/charge/value", H5T_STD_I8LE, space, links, kept, H5P_DEFAULT);
    assert_true(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, signs) >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(kept);
    H5Pclose(links);
    H5Fclose(file);
}

static void other_types_and_compressed_chunks_are_read(void **state)
{
    (void)state;
    fmm_particles *p = NULL;
    int64_t frames = 0;
    make_compressed();
    assert_int_equal(read_frame(2, &p, &frames), YOKE_OK);
    remove(path);
    assert_int_equal(p->count, 20);
    assert_true(p->x[0] == 7.5 && p->y[19] == (60 + 58) / 8.0 && p->charge[0] == -1 && p->charge[19] == 1);
    fmm_particles_destroy(p);
}

/* Two frames of three particles, of which the second frame lacks one particle: the writer was interrupted. */
static void make_incomplete(void)
{
    const hsize_t size[3] = {2, 3, 3}, chunk[3] = {1, 1, 3}, some[3] = {1, 1, 3}, of_three[1] = {3};
    const double values[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    hid_t file = create(), links = H5Pcreate(H5P_LINK_CREATE), kept = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    H5Pset_chunk(kept, 3, chunk);
    hid_t space = H5Screate_simple(3, size, NULL), memory = H5Screate_simple(3, some, NULL);
    hid_t set = H5Dcreate2(file, "particles/all/position/value", H5T_IEEE_F64LE, space, links, kept, H5P_DEFAULT);
    for (int k = 0; k < 5; k++) {
        H5Sselect_hyperslab(space, H5S_SELECT_SET, (const hsize_t[3]){(hsize_t)k / 3, (hsize_t)k % 3, 0}, NULL, some, NULL);
        assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values + k) >= 0);
    }
    H5Dclose(set);
    H5Sclose(memory);
    H5Sclose(space);
    H5Pclose(kept);
    H5Pclose(links);
    add(file, "particles/all/charge", 1, of_three, values);
    H5Fclose(file);
}

static void add_boundary(hid_t file, const char *texts, size_t bytes)
{
    const hsize_t three = 3;
    hid_t group = H5Gcreate2(file, "particles/salt/box", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), space = H5Screate_simple(1, &three, NULL);
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, bytes);
    hid_t boundary = H5Acreate2(group, "boundary", type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(boundary, type, texts) >= 0);
    H5Aclose(boundary);
    H5Tclose(type);
    H5Sclose(space);
    H5Gclose(group);
}

/* Steps are stored for each frame, and times as a difference, as H5MD allows; what is written has both for each frame. */
static void steps_times_and_periodic_boxes_are_noted(void **state)
{
    (void)state;
    const hsize_t two = 2;
    fmm_particles *p = NULL;
    int64_t frames = 0;
    for (int periodic = 0; periodic < 2; periodic++) {
        hid_t file = create();
        add(file, "particles/salt/position/value", 3, of_positions, &two_frames[0][0][0]);
        add(file, "particles/salt/position/step", 1, &two, (const double[]){100, 250});
        add(file, "particles/salt/position/time", 0, NULL, (const double[]){0.5});
        add(file, "particles/salt/charge", 1, of_charges, charges);
        add_boundary(file, periodic ? "none\0\0\0\0none\0\0\0\0periodic" : "none\0\0\0\0none\0\0\0\0none\0\0\0\0", 8);
        H5Fclose(file);
        for (int frame = 1; frame <= 2; frame++) {
            assert_int_equal(read_frame(frame, &p, &frames), YOKE_OK);
            assert_int_equal(p->notes.step, frame == 1 ? 100 : 250);
            assert_true(p->notes.time == 0.5 * (frame - 1) && p->notes.periodic == periodic);
            if (frame == 1) fmm_particles_destroy(p);
        }
        assert_int_equal(write_file(context, path, p, NULL), YOKE_OK);
        fmm_particles_destroy(p);
        assert_int_equal(read_frame(1, &p, &frames), YOKE_OK);
        assert_true(frames == 1 && p->notes.step == 250 && p->notes.time == 0.5 && !p->notes.periodic);
        fmm_particles_destroy(p);
    }
    remove(path);
}

static void frames_that_were_not_written_completely_are_refused(void **state)
{
    (void)state;
    fmm_particles *p = NULL;
    int64_t frames = 0;
    make_incomplete();
    assert_int_equal(read_frame(1, &p, &frames), YOKE_OK);
    assert_true(frames == 2 && p->x[2] == 3);
    fmm_particles_destroy(p);
    assert_int_equal(read_frame(2, &p, &frames), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(context), "particles/all/position: frame 2 was not written completely"));
    remove(path);
}

static void read_plainly_at(hid_t file, const char *name)
{
    hid_t set = H5Lexists(file, name, H5P_DEFAULT) > 0 ? H5Dopen2(file, name, H5P_DEFAULT) : H5I_INVALID_HID;
    if (set < 0) return;
    hid_t space = H5Dget_space(set), type = H5Dget_type(set);
    hssize_t count = H5Sget_simple_extent_npoints(space);
    double *values = count > 0 && count < 1 << 20 ? malloc((size_t)count * sizeof *values) : NULL;
    if (H5Dget_storage_size(set) > 0 && values) H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    free(values);
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(set);
}

static void read_boundary_plainly(hid_t file)
{
    static char texts[1000];
    if (H5Lexists(file, "particles/all/box", H5P_DEFAULT) <= 0) return;
    if (H5Aexists_by_name(file, "particles/all/box", "boundary", H5P_DEFAULT) <= 0) return;
    hid_t boundary = H5Aopen_by_name(file, "particles/all/box", "boundary", H5P_DEFAULT, H5P_DEFAULT);
    if (boundary < 0) return;
    hid_t type = H5Aget_type(boundary), space = H5Aget_space(boundary);
    const size_t count = (size_t)H5Sget_simple_extent_npoints(space), size = H5Tget_size(type);
    if (H5Tget_class(type) == H5T_STRING && size > 0 && count < sizeof texts / size) H5Aread(boundary, type, texts);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(boundary);
}

/* What the reader asks of HDF5, without the reader. */
static void read_plainly(void)
{
    char name[200];
    H5G_info_t info;
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) return;
    hid_t group = H5Lexists(file, "particles", H5P_DEFAULT) > 0 ? H5Gopen2(file, "particles", H5P_DEFAULT) : H5I_INVALID_HID;
    if (group >= 0) {
        H5Lexists(group, "all", H5P_DEFAULT);
        H5Gget_info(group, &info);
        H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, 0, name, sizeof name, H5P_DEFAULT);
        H5Gclose(group);
    }
    read_plainly_at(file, "particles/all/position");
    read_plainly_at(file, "particles/all/charge");
    read_plainly_at(file, "particles/all/position/value");
    read_plainly_at(file, "particles/all/charge/value");
    read_plainly_at(file, "particles/all/position/step");
    read_plainly_at(file, "particles/all/position/time");
    read_boundary_plainly(file);
    H5Fclose(file);
}

/* HDF5 itself crashes on some damaged files (1.10.8: one of some thousand): those are not for us to read. */
static int hdf5_crashes(void)
{
    int how = 0;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* and not cmocka's */
        signal(SIGABRT, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        signal(SIGFPE, SIG_DFL);
        read_plainly();
        _exit(0);
    }
    while (waitpid(child, &how, 0) < 0) continue;
    return !WIFEXITED(how) || WEXITSTATUS(how) != 0;
}

/* Reads mutants of the file that is there; from the same seeds at each run. */
static void read_mutants(void)
{
    enum { MUTANTS = 300, ROOM = 100000 };
    static unsigned char original[ROOM], bytes[ROOM];
    FILE *file = fopen(path, "rb");
    size_t size = fread(original, 1, ROOM, file);
    fclose(file);
    assert_in_range(size, 100, ROOM - 1);
    int read = 0;
    for (uint64_t seed = 0; seed < MUTANTS; seed++) {
        fmm_particles *p = NULL;
        int64_t frames;
        size_t mutated = mutate(seed, original, size, bytes, ROOM);
        file = fopen(path, "wb");
        assert_int_equal(fwrite(bytes, 1, mutated, file), mutated);
        fclose(file);
        if (hdf5_crashes()) continue;
        read++;
        yoke_status status = read_frame(1, &p, &frames);
        assert_true(status == YOKE_OK || status == YOKE_ERROR_INPUT || status == YOKE_ERROR_MEMORY);
        for (int64_t i = 0; !status && i < p->count; i++) assert_true(isfinite(p->x[i]) && isfinite(p->z[i]) && isfinite(p->charge[i]));
        fmm_particles_destroy(p);
        assert_int_equal(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL),
                         0); /* we left nothing open; HDF5 itself leaks where files are damaged */
    }
    assert_true(read > MUTANTS / 2);
    remove(path);
}

static void mutated_files_are_read_or_refused(void **state)
{
    (void)state;
    fmm_particles *p = NULL;
    assert_int_equal(fmm_particles_generate(context, FMM_SHELLS, 20, FMM_RANDOM, 5, &p), YOKE_OK);
    assert_int_equal(write_file(context, path, p, NULL), YOKE_OK);
    fmm_particles_destroy(p);
    read_mutants();
    make_compressed();
    read_mutants();
}

static void truncated_files_and_other_files_are_refused(void **state)
{
    (void)state;
    fmm_particles *p = NULL;
    int64_t frames;
    assert_int_equal(fmm_particles_generate(context, FMM_SHELLS, 300, FMM_RANDOM, 5, &p), YOKE_OK);
    assert_int_equal(write_file(context, path, p, NULL), YOKE_OK);
    fmm_particles_destroy(p);
    p = NULL;
    FILE *file = fopen(path, "r");
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    fclose(file);
    for (long cut = size - 1; cut > 0; cut /= 2) {
        assert_int_equal(truncate(path, cut), 0);
        assert_int_equal(read_frame(1, &p, &frames), YOKE_ERROR_INPUT);
    }
    assert_non_null(strstr(yoke_last_error(context), "is not an HDF5 file, or it is damaged, truncated, or just being written"));
    remove(path);
    assert_int_equal(read_frame(1, &p, &frames), YOKE_ERROR_INPUT);
    assert_null(p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(frames_are_read_with_fixed_and_with_changing_charges),
    cmocka_unit_test(what_is_written_is_read_again_to_the_last_bit),
    cmocka_unit_test(what_is_wrong_is_refused),
    cmocka_unit_test(charges_of_other_kinds_are_refused),
    cmocka_unit_test(other_types_and_compressed_chunks_are_read),
    cmocka_unit_test(steps_times_and_periodic_boxes_are_noted),
    cmocka_unit_test(frames_that_were_not_written_completely_are_refused),
    cmocka_unit_test(truncated_files_and_other_files_are_refused),
    cmocka_unit_test(mutated_files_are_read_or_refused),
};

UNIT_MAIN(tests, start, end)
