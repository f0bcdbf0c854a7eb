/* NumPy's files: what is written is read again, both orders and byte orders, and every damaged file is refused with a reason. */
#include <float.h>
#include <math.h>
#include <unistd.h>

#include "context.h"
#include "fmm/mutate.h"
#include "matrix/npy.h"
#include "whole_file.h"

static char path[64];

static size_t read_all(unsigned char *bytes, size_t room)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t count = fread(bytes, 1, room, file);
    fclose(file);
    return count;
}

/* A file of some version with this header and these numbers; returns its bytes. */
static size_t write_npy(int version, const char *header, const void *numbers, size_t bytes)
{
    static unsigned char file[4096];
    const size_t length = strlen(header), at = version == 1 ? 10 : 12;
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (unsigned char)version;
    file[7] = 0;
    for (size_t i = 8; i < at; i++) file[i] = (unsigned char)(i < 10 ? length >> 8 * (i - 8) : 0);
    memcpy(file + at, header, length);
    memcpy(file + at + length, numbers, bytes);
    whole_file_write(path, file, at + length + bytes);
    return at + length + bytes;
}

static yoke_status read_npy(dense_precision precision, dense_matrix *matrix)
{
    dense_npy npy = {.file = NULL};
    yoke_status status = dense_npy_open(context, path, &npy);
    if (!status) status = dense_npy_read(&npy, precision, matrix);
    dense_npy_close(&npy);
    return status;
}

static void what_is_written_is_read_again(void **state)
{
    (void)state;
    static const dense_precision kinds[] = {DENSE_DOUBLE, DENSE_SINGLE};
    for (int k = 0; k < 2; k++) {
        dense_matrix out = {.entries = NULL}, in = {.entries = NULL};
        unsigned char bytes[4096];
        assert_int_equal(dense_matrix_create(context, 3, 5, kinds[k], &out), YOKE_OK);
        dense_matrix_random(&out, 7);
        assert_int_equal(dense_npy_write(&out, path), YOKE_OK);
        assert_int_equal(read_npy(kinds[k], &in), YOKE_OK);
        assert_memory_equal(in.entries, out.entries, (size_t)dense_matrix_bytes(&out));
        size_t size = read_all(bytes, sizeof bytes), numbers = size - (size_t)dense_matrix_bytes(&out);
        assert_int_equal(numbers % 64, 0); /* as the format asks for */
        assert_int_equal(bytes[numbers - 1], '\n');
        dense_matrix_destroy(&in);
        dense_matrix_destroy(&out);
    }
}

/* 2 x 3 numbers, row by row 1 to 6, in all ways that NumPy writes them. */
static void orders_types_and_versions_give_the_same_matrix(void **state)
{
    (void)state;
    static const unsigned char big_double[] = {0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0x40, 0,    0, 0, 0, 0, 0, 0, 0x40, 8,    0, 0, 0, 0, 0, 0,
                                               0x40, 0x10, 0, 0, 0, 0, 0, 0, 0x40, 0x14, 0, 0, 0, 0, 0, 0, 0x40, 0x18, 0, 0, 0, 0, 0, 0};
    static const unsigned char little_single[] = {0, 0, 0x80, 0x3f, 0, 0, 0,    0x40, 0, 0, 0x40, 0x40,
                                                  0, 0, 0x80, 0x40, 0, 0, 0xa0, 0x40, 0, 0, 0xc0, 0x40};
    static const unsigned char single_by_columns[] = {0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x40, 0, 0, 0,    0x40,
                                                      0, 0, 0xa0, 0x40, 0, 0, 0x40, 0x40, 0, 0, 0xc0, 0x40};
    const struct {
        int version;
        const char *header;
        const unsigned char *numbers;
        size_t bytes;
    } files[] = {
        {1, "{'descr': '>f8', 'fortran_order': False, 'shape': (2, 3), }\n", big_double, sizeof big_double},
        {2, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", little_single, sizeof little_single},
        {3, "{\"shape\":(2L,3L),\"fortran_order\":True,\"descr\":\"<f4\"}", single_by_columns, sizeof single_by_columns},
    };
    for (size_t k = 0; k < sizeof files / sizeof *files; k++)
        for (int precision = DENSE_SINGLE; precision <= DENSE_DOUBLE; precision += 4) {
            dense_matrix matrix = {.entries = NULL};
            write_npy(files[k].version, files[k].header, files[k].numbers, files[k].bytes);
            if (read_npy((dense_precision)precision, &matrix)) fail_msg("%s", yoke_last_error(context));
            assert_true(matrix.rows == 2 && matrix.columns == 3 && (int)matrix.precision == precision);
            for (int i = 0; i < 6; i++) assert_true(dense_matrix_entry(&matrix, i / 3, i % 3) == i + 1);
            dense_matrix_destroy(&matrix);
        }
}

static void a_damaged_header_is_refused_with_its_reason(void **state)
{
    (void)state;
    static const struct {
        const char *header, *expected;
    } files[] = {
        {"", "{ expected at byte 0"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), } x", "the end expected"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)", ", or } expected"},
        {"{'descr': '<f8', 'fortran_order': False, }", "all of 'descr', 'fortran_order' and 'shape' expected"},
        {"{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}", "each once"},
        {"{'desc': '<f8', 'fortran_order': False, 'shape': (2, 3)}", "one of the keys"},
        {"{'descr: '<f8', 'fortran_order': False, 'shape': (2, 3)}", "one of the keys"},
        {"{'descr' '<f8', 'fortran_order': False, 'shape': (2, 3)}", ": expected"},
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3)}", "numbers of type '<i8'; float64 ('<f8') and float32"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2, 3)}", "type '|O'"},
        {"{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3)}", "type '<f2'"},
        {"{'descr': '<c16', 'fortran_order': False, 'shape': (2, 3)}", "type '<c16'"},
        {"{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (2, 3)}", "no list of fields"},
        {"{'descr': '<f8', 'fortran_order': Maybe, 'shape': (2, 3)}", "True or False expected"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (6,)}", "has 1 dimension; a matrix has 2"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': ()}", "has 0 dimensions"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2, 3)}", "has 3 dimensions"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3)}", "has 0 rows; there must be 1 to 2147483647"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, -3)}", "a number of rows or columns expected"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 99999999999999999999999)}", "at least"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2 3)}", ", or ) of the shape expected"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': 6}", "( of the shape expected"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 4)}",
         "has 48 bytes of numbers, and 2 x 4 of them take 64: it is truncated"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)}", "it is too long"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2147483647, 2147483647)}", "it is truncated"},
    };
    static const double numbers[6] = {1, 2, 3, 4, 5, 6};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        dense_matrix matrix = {.entries = NULL};
        write_npy(1, files[k].header, numbers, sizeof numbers);
        assert_int_equal(read_npy(DENSE_DOUBLE, &matrix), YOKE_ERROR_INPUT);
        assert_null(matrix.entries);
        const char *text = yoke_last_error(context);
        if (!strstr(text, files[k].expected) || !strstr(text, path)) fail_msg("%s\n%s", files[k].header, text);
    }
}

static void other_files_are_refused(void **state)
{
    (void)state;
    static const char good[] = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1)}";
    static const double one = 1;
    dense_matrix matrix = {.entries = NULL};
    whole_file_write(path, "hello, world", 12);
    assert_int_equal(read_npy(DENSE_DOUBLE, &matrix), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(context), "no .npy file"));
    write_npy(4, good, &one, sizeof one);
    assert_int_equal(read_npy(DENSE_DOUBLE, &matrix), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(context), "version 4.0"));
    unlink(path);
    assert_int_equal(read_npy(DENSE_DOUBLE, &matrix), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(context), "cannot be opened"));
    dense_npy npy;
    assert_int_equal(dense_npy_open(context, "/", &npy), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(context), "a directory"));
}

/* By rows and by columns, as a whole and in parts: a finite number does not become infinite. */
static void numbers_too_large_for_single_precision_are_refused(void **state)
{
    (void)state;
    static const char *const headers[] = {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}",
                                          "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3)}"};
    static const char expected[] = "-1e+300 in row 1 and column 2 is too large for single precision";
    double numbers[6] = {1, 2, INFINITY, NAN, -5, -1e300};
    float entries[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        dense_matrix matrix = {.entries = NULL},
                     part = {.context = context, .rows = 1, .columns = 2, .precision = DENSE_SINGLE, .entries = entries};
        dense_npy npy = {.file = NULL};
        write_npy(1, headers[k], numbers, sizeof numbers);
        assert_int_equal(read_npy(DENSE_SINGLE, &matrix), YOKE_ERROR_INPUT);
        assert_non_null(strstr(yoke_last_error(context), expected));
        assert_null(matrix.entries);
        assert_int_equal(dense_npy_open(context, path, &npy), YOKE_OK);
        assert_int_equal(dense_npy_read_part(&npy, 1, 1, &part), YOKE_ERROR_INPUT);
        assert_non_null(strstr(yoke_last_error(context), expected));
        assert_int_equal(dense_npy_read_part(&npy, 0, 0, &part), YOKE_OK);
        dense_npy_close(&npy);
    }
    numbers[5] = FLT_MAX;
    dense_matrix matrix = {.entries = NULL};
    write_npy(1, headers[0], numbers, sizeof numbers);
    assert_int_equal(read_npy(DENSE_SINGLE, &matrix), YOKE_OK);
    assert_true(isinf(dense_matrix_entry(&matrix, 0, 2)) && isnan(dense_matrix_entry(&matrix, 1, 0)) &&
                dense_matrix_entry(&matrix, 1, 2) == FLT_MAX);
    dense_matrix_destroy(&matrix);
}

/* Cut off anywhere, and thousands of files with bytes changed: read, or refused with a reason that names the file. */
static void damaged_files_are_read_or_refused(void **state)
{
    (void)state;
    static const double numbers[6] = {1, 2, 3, 4, 5, 6};
    unsigned char original[512], bytes[600];
    const size_t size = write_npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n", numbers, sizeof numbers);
    int read = 0;
    assert_int_equal(read_all(original, sizeof original), size);
    for (size_t k = 0; k < size + 2000; k++) {
        dense_matrix matrix = {.entries = NULL};
        if (k < size)
            whole_file_write(path, original, k);
        else
            whole_file_write(path, bytes, mutate(k, original, size, bytes, sizeof bytes));
        yoke_status status = read_npy(DENSE_DOUBLE, &matrix);
        if (k < size) assert_int_equal(status, YOKE_ERROR_INPUT);
        if (status) assert_non_null(strstr(yoke_last_error(context), path));
        read += !status;
        dense_matrix_destroy(&matrix);
    }
    assert_true(read > 20 && read < 1800);
}

static int start(void **state)
{
    snprintf(path, sizeof path, "test-%ld.npy", (long)getpid());
    return context_start(state);
}

static int end(void **state)
{
    unlink(path);
    return context_end(state);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_written_is_read_again),
    cmocka_unit_test(orders_types_and_versions_give_the_same_matrix),
    cmocka_unit_test(a_damaged_header_is_refused_with_its_reason),
    cmocka_unit_test(other_files_are_refused),
    cmocka_unit_test(numbers_too_large_for_single_precision_are_refused),
    cmocka_unit_test(damaged_files_are_read_or_refused),
};

UNIT_MAIN(tests, start, end)
