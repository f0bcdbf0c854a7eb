/*
 * H5MD files: made here by HDF5 itself, with what is right and what is wrong.
 */
#include <hdf5.h>
#include <math.h>
#include <unistd.h>

#include "output/write.h"
#include "particles/generate.h"
#include "particles/read.h"
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
    return fmm_particles_read(context, path, frame, particles, frames);
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
        assert_int_equal(fmm_write(context, path, p, field), YOKE_OK);
        assert_int_equal(read_frame(1, &q, &frames), YOKE_OK);
        assert_int_equal(frames, 1);
        assert_int_equal(q->count, count);
        assert_memory_equal(q->x, p->x, (size_t)count * sizeof(double));
        assert_memory_equal(q->z, p->z, (size_t)count * sizeof(double));
        assert_memory_equal(q->charge, p->charge, (size_t)count * sizeof(double));
        if (count) { /* what is not read again */
            double potential[399], force[399][3];
            hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), set = H5Dopen2(file, "particles/all/potential/value", H5P_DEFAULT);
            assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, potential) >= 0);
            H5Dclose(set);
            set = H5Dopen2(file, "particles/all/force/value", H5P_DEFAULT);
            assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, force) >= 0);
            H5Dclose(set);
            H5Fclose(file);
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

static void truncated_files_and_other_files_are_refused(void **state)
{
    (void)state;
    fmm_particles *p = NULL;
    int64_t frames;
    assert_int_equal(fmm_particles_generate(context, FMM_SHELLS, 300, FMM_RANDOM, 5, &p), YOKE_OK);
    assert_int_equal(fmm_write(context, path, p, NULL), YOKE_OK);
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
    assert_non_null(strstr(yoke_last_error(context), "is not an HDF5 file, or it is damaged or truncated"));
    remove(path);
    assert_int_equal(read_frame(1, &p, &frames), YOKE_ERROR_INPUT);
    assert_null(p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(frames_are_read_with_fixed_and_with_changing_charges),
    cmocka_unit_test(what_is_written_is_read_again_to_the_last_bit),
    cmocka_unit_test(what_is_wrong_is_refused),
    cmocka_unit_test(truncated_files_and_other_files_are_refused),
};

UNIT_MAIN(tests, start, end)
