#include "matrix/npy.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "common/files/file.h"
#include "matrix/npy_header.h"

enum { MAX_HEADER = 65536, CHUNK = 65536 }; /* bytes; entries */

static int is_little_endian(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1;
}

/* -------------------------------------------------------------------------------------------------- opening */

static yoke_status refuse(const dense_npy *npy, const char *what)
{
    return yoke_fail(npy->context, YOKE_ERROR_INPUT, "%s: %s", npy->path, what);
}

/* Reads exactly `bytes` bytes. */
static yoke_status read_bytes(dense_npy *npy, void *to, size_t bytes, const char *what)
{
    if (fread(to, 1, bytes, npy->file) == bytes) return YOKE_OK;
    if (ferror(npy->file)) return yoke_fail(npy->context, YOKE_ERROR_INPUT, "%s cannot be read: %s", npy->path, strerror(errno));
    return yoke_fail(npy->context, YOKE_ERROR_INPUT, "%s ends within %s: it is truncated%s", npy->path, what,
                     npy->raw ? "" : ", or no .npy file");
}

/* *length: length of the header's text in bytes. */
static yoke_status read_prefix(dense_npy *npy, size_t *length)
{
    unsigned char start[8], bytes[4] = {0};
    yoke_status status = read_bytes(npy, start, sizeof start, "its first eight bytes");
    if (status) return status;
    if (memcmp(start, "\x93NUMPY", 6) != 0) return refuse(npy, "no .npy file: it does not begin with \\x93NUMPY");
    if (start[6] < 1 || start[6] > 3)
        return yoke_fail(npy->context, YOKE_ERROR_INPUT, "%s: version %d.%d of the .npy format; versions 1 to 3 are read", npy->path,
                         start[6], start[7]);
    status = read_bytes(npy, bytes, start[6] == 1 ? 2 : 4, "the length of its header");
    *length = (size_t)bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16 | (size_t)bytes[3] << 24;
    if (!status && *length > MAX_HEADER)
        return yoke_fail(npy->context, YOKE_ERROR_INPUT, "%s: a header of %zu bytes; at most %d are expected", npy->path, *length,
                         MAX_HEADER);
    return status;
}

/* Checks that a regular file has the size stated in its header. */
static yoke_status check_length(const dense_npy *npy)
{
    struct stat about;
    const off_t at = ftello(npy->file);
    const double expected = (double)npy->rows * (double)npy->columns * (double)npy->precision;
    if (at < 0 || fstat(fileno(npy->file), &about) != 0 || !S_ISREG(about.st_mode)) return YOKE_OK;
    const double found = (double)(about.st_size - at);
    if (found == expected) return YOKE_OK;
    return yoke_fail(npy->context, YOKE_ERROR_INPUT, "%s has %.0f bytes of numbers, and %lld x %lld of them take %.0f: it is %s", npy->path,
                     found, (long long)npy->rows, (long long)npy->columns, expected, found < expected ? "truncated" : "too long");
}

static yoke_status read_header(dense_npy *npy)
{
    size_t length = 0;
    char *text = NULL;
    dense_npy_header header;
    yoke_status status = read_prefix(npy, &length);
    if (!status) status = yoke_allocate(npy->context, (int64_t)length + 1, 1, &text);
    if (!status) status = read_bytes(npy, text, length, "its header");
    if (!status && strlen(text) != length) status = refuse(npy, "its header is damaged: there is a byte 0 in it");
    if (!status) status = dense_npy_header_parse(npy->context, npy->path, text, &header);
    yoke_release(npy->context, text);
    if (status) return status;
    npy->rows = header.rows;
    npy->columns = header.columns;
    npy->precision = header.precision;
    npy->by_columns = header.by_columns;
    npy->foreign = header.big_endian == is_little_endian();
    npy->begin = ftello(npy->file);
    return check_length(npy);
}

static yoke_status open_file(yoke_context *context, const char *path, const char *expected, dense_npy *npy)
{
    struct stat about;
    *npy = (dense_npy){.context = context, .path = path, .file = fopen(path, "rb")};
    if (!npy->file) return yoke_fail(context, YOKE_ERROR_INPUT, "%s cannot be opened: %s", path, strerror(errno));
    if (fstat(fileno(npy->file), &about) != 0 || !S_ISDIR(about.st_mode)) return YOKE_OK;
    return yoke_fail(context, YOKE_ERROR_INPUT, "%s is a directory; expected a %s file", path, expected);
}

static yoke_status keep(yoke_status status, dense_npy *opened, dense_npy *npy)
{
    if (status)
        dense_npy_close(opened);
    else
        *npy = *opened;
    return status;
}

yoke_status dense_npy_open(yoke_context *context, const char *path, dense_npy *npy)
{
    dense_npy opened;
    yoke_status status = open_file(context, path, ".npy", &opened);
    if (!status) status = read_header(&opened);
    return keep(status, &opened, npy);
}

static int ends_with(const char *path, const char *ending)
{
    const size_t length = strlen(path), of_ending = strlen(ending);
    return length > of_ending && !strcmp(path + length - of_ending, ending);
}

int dense_npy_is_raw(const char *path) { return ends_with(path, ".raw") || ends_with(path, ".bin"); }

yoke_status dense_npy_check_name(yoke_context *context, const char *path)
{
    if (!path || !strcmp(path, "-") || !strncmp(path, "/dev/", 5) || ends_with(path, ".npy") || dense_npy_is_raw(path)) return YOKE_OK;
    return yoke_fail(context, YOKE_ERROR_INPUT,
                     "--output %s: expected a name that ends with .npy (a file of NumPy), .raw or .bin (numbers only)", path);
}

yoke_status dense_npy_open_raw(yoke_context *context, const char *path, int64_t rows, int64_t columns, dense_precision precision,
                               dense_npy *npy)
{
    dense_npy opened;
    yoke_status status = open_file(context, path, "raw", &opened);
    opened.raw = 1;
    opened.rows = rows;
    opened.columns = columns;
    opened.precision = precision;
    opened.foreign = !is_little_endian();
    if (!status) opened.begin = ftello(opened.file);
    if (!status) status = check_length(&opened);
    return keep(status, &opened, npy);
}

void dense_npy_close(dense_npy *npy)
{
    if (npy->file) fclose(npy->file);
    npy->file = NULL;
}

/* -------------------------------------------------------------------------------------------------- reading */

static void turn(unsigned char *bytes, int64_t count, int size)
{
    for (int64_t i = 0; i < count; i++, bytes += size)
        for (int k = 0; k < size / 2; k++) {
            const unsigned char kept = bytes[k];
            bytes[k] = bytes[size - 1 - k];
            bytes[size - 1 - k] = kept;
        }
}

/* Stores number i of those read as entry `at`.  Returns 0 if a finite number becomes infinite. */
static int put(const dense_npy *npy, const void *from, int64_t i, int64_t at, dense_matrix *matrix)
{
    const double value = npy->precision == DENSE_DOUBLE ? ((const double *)from)[i] : (double)((const float *)from)[i];
    if (matrix->precision == DENSE_DOUBLE) {
        ((double *)matrix->entries)[at] = value;
        return 1;
    }
    ((float *)matrix->entries)[at] = (float)value;
    return isfinite(((const float *)matrix->entries)[at]) || !isfinite(value);
}

static yoke_status refuse_large(const dense_npy *npy, const void *from, int64_t i, int64_t row, int64_t column)
{
    return yoke_fail(npy->context, YOKE_ERROR_INPUT,
                     "%s: %g in row %lld and column %lld is too large for single precision: scale the matrix, or use --precision double",
                     npy->path, ((const double *)from)[i], (long long)row, (long long)column);
}

/* Stores entries of the file, beginning with number `first`. */
static yoke_status place(const dense_npy *npy, const void *from, int64_t first, int64_t count, dense_matrix *matrix)
{
    for (int64_t i = 0; i < count; i++) {
        const int64_t number = first + i;
        const int64_t row = npy->by_columns ? number % npy->rows : number / npy->columns;
        const int64_t column = npy->by_columns ? number / npy->rows : number % npy->columns;
        if (!put(npy, from, i, row * npy->columns + column, matrix)) return refuse_large(npy, from, i, row, column);
    }
    return YOKE_OK;
}

static yoke_status read_chunks(dense_npy *npy, dense_matrix *matrix)
{
    const int64_t all = npy->rows * npy->columns;
    void *chunk = NULL;
    yoke_status status = yoke_allocate(npy->context, CHUNK, (size_t)npy->precision, &chunk);
    for (int64_t first = 0; first < all && !status; first += CHUNK) {
        const int64_t count = all - first < CHUNK ? all - first : CHUNK;
        status = read_bytes(npy, chunk, (size_t)count * (size_t)npy->precision, "its numbers");
        if (status) break;
        if (npy->foreign) turn(chunk, count, npy->precision);
        status = place(npy, chunk, first, count, matrix);
    }
    yoke_release(npy->context, chunk);
    return status;
}

yoke_status dense_npy_read(dense_npy *npy, dense_precision precision, dense_matrix *matrix)
{
    dense_matrix read = {.entries = NULL};
    yoke_status status = dense_matrix_create(npy->context, npy->rows, npy->columns, precision, &read);
    if (status) return status;
    if (precision == npy->precision && !npy->by_columns && !npy->foreign)
        status = read_bytes(npy, read.entries, (size_t)dense_matrix_bytes(&read), "its numbers");
    else
        status = read_chunks(npy, &read);
    if (!status && fgetc(npy->file) != EOF)
        status = refuse(npy, npy->raw ? "there is more behind the numbers" : "there is more behind the numbers that its header tells of");
    if (status)
        dense_matrix_destroy(&read);
    else
        *matrix = read;
    return status;
}

static yoke_status seek(dense_npy *npy, int64_t number)
{
    if (fseeko(npy->file, (off_t)(npy->begin + number * (int64_t)npy->precision), SEEK_SET) == 0) return YOKE_OK;
    return yoke_fail(npy->context, YOKE_ERROR_INPUT, "%s cannot be read in parts: %s; give a file instead of a pipe", npy->path,
                     strerror(errno));
}

yoke_status dense_npy_read_part(dense_npy *npy, int64_t row, int64_t column, dense_matrix *matrix)
{
    const int64_t lines = npy->by_columns ? matrix->columns : matrix->rows, length = npy->by_columns ? matrix->rows : matrix->columns;
    const int64_t pitch = npy->by_columns ? npy->rows : npy->columns;
    const int64_t start = npy->by_columns ? column * pitch + row : row * pitch + column;
    void *chunk = NULL;
    yoke_status status = yoke_allocate(npy->context, length, (size_t)npy->precision, &chunk);
    for (int64_t i = 0; i < lines && !status; i++) {
        status = seek(npy, start + i * pitch);
        if (!status) status = read_bytes(npy, chunk, (size_t)length * (size_t)npy->precision, "its numbers");
        if (status) break;
        if (npy->foreign) turn(chunk, length, npy->precision);
        for (int64_t j = 0; j < length && !status; j++) {
            const int64_t in_row = npy->by_columns ? j : i, in_column = npy->by_columns ? i : j; /* relative to the part */
            if (!put(npy, chunk, j, in_row * matrix->columns + in_column, matrix))
                status = refuse_large(npy, chunk, j, row + in_row, column + in_column);
        }
    }
    yoke_release(npy->context, chunk);
    return status;
}

/* -------------------------------------------------------------------------------------------------- writing */

void dense_npy_append(const dense_matrix *matrix, app_file *file)
{
    FILE *out = app_file_stream(file);
    const int64_t all = matrix->rows * matrix->columns;
    const size_t size = (size_t)matrix->precision;
    unsigned char chunk[8 * 1024];
    if (is_little_endian()) {
        fwrite(matrix->entries, size, (size_t)all, out);
        return;
    }
    for (int64_t first = 0; first < all; first += 1024) {
        const int64_t count = all - first < 1024 ? all - first : 1024;
        memcpy(chunk, (const char *)matrix->entries + first * (int64_t)size, (size_t)count * size);
        turn(chunk, count, matrix->precision);
        fwrite(chunk, size, (size_t)count, out);
    }
}

static void write_header(dense_precision precision, int64_t rows, int64_t columns, FILE *out)
{
    enum { ALIGNMENT = 64, PREFIX = 10 };
    char text[192];
    int length = snprintf(text, sizeof text, "{'descr': '<f%d', 'fortran_order': False, 'shape': (%lld, %lld), }", (int)precision,
                          (long long)rows, (long long)columns);
    while ((PREFIX + length + 1) % ALIGNMENT) text[length++] = ' '; /* aligns the numbers */
    text[length++] = '\n';
    const unsigned char prefix[PREFIX] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)length, 0};
    fwrite(prefix, 1, PREFIX, out);
    fwrite(text, 1, (size_t)length, out);
}

yoke_status dense_npy_begin(yoke_context *context, const char *path, dense_precision precision, int64_t rows, int64_t columns,
                            app_file **file)
{
    yoke_status status = app_file_create(context, path, file);
    if (!status && !dense_npy_is_raw(path)) write_header(precision, rows, columns, app_file_stream(*file));
    return status;
}

yoke_status dense_npy_write(const dense_matrix *matrix, const char *path)
{
    app_file *file = NULL;
    yoke_status status = dense_npy_begin(matrix->context, path, matrix->precision, matrix->rows, matrix->columns, &file);
    if (status) return status;
    dense_npy_append(matrix, file);
    return app_file_commit(file);
}
