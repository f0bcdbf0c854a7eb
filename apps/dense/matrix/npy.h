/*
 * npy.h - matrices in NumPy's files (.npy, versions 1 to 3 of the format), and raw files.
 */
#ifndef DENSE_NPY_H
#define DENSE_NPY_H

#include <stdio.h>

#include "common/files/file.h"
#include "matrix/matrix.h"

/* A file whose header was read.  Only dense_npy_open and dense_npy_open_raw create it. */
typedef struct dense_npy {
    yoke_context *context;
    const char *path; /* borrowed */
    int raw;          /* nonzero: there is no header */
    FILE *file;
    int64_t rows, columns;
    int64_t begin;             /* byte of the first number; -1: the file cannot be read in parts */
    dense_precision precision; /* of the file */
    int foreign;               /* nonzero: the byte order of numbers is not that of this machine */
    int by_columns;            /* nonzero: Fortran order */
} dense_npy;

/*
 * Opens a file and reads its header: two dimensions of at least 1, and float32 or float64 of either byte order.  If the file's length is
 * known it must agree with the header.
 * Errors: INPUT (the file does not exist; it is not a .npy file; the part of the header that is wrong; other types and dimensions; shorter
 * or longer than the header states).
 */
yoke_status dense_npy_open(yoke_context *context, const char *path, dense_npy *npy);
/* Whether a name ends with .raw or .bin: such a file has only the numbers, by rows (C order), little-endian. */
int dense_npy_is_raw(const char *path);
/* Checks that the name of an output file states its format: .npy, .raw or .bin.  NULL, - and devices are allowed.  Errors: INPUT. */
yoke_status dense_npy_check_name(yoke_context *context, const char *path);
/*
 * Opens a raw file with these sizes, each 1 .. DENSE_MAX_SIDE.  If its length is known it must agree with the sizes.
 * Errors: INPUT (the file does not exist; it is shorter or longer).
 */
yoke_status dense_npy_open_raw(yoke_context *context, const char *path, int64_t rows, int64_t columns, dense_precision precision,
                               dense_npy *npy);
/* Allowed for a structure that is all zero. */
void dense_npy_close(dense_npy *npy);

/*
 * Reads the matrix by rows and in this precision, whatever order and precision the file has.  Release it with dense_matrix_destroy.
 * Errors: INPUT (truncated; a finite number that is too large for this precision), MEMORY.
 */
yoke_status dense_npy_read(dense_npy *npy, dense_precision precision, dense_matrix *matrix);

/*
 * Reads entries from this row and column on into an existing matrix, whose sides and precision determine how many are read and how they are
 * stored.  The entries must be within those of the file.
 * Errors: INPUT (truncated; a pipe; a finite number that is too large for the precision), MEMORY.
 */
yoke_status dense_npy_read_part(dense_npy *npy, int64_t row, int64_t column, dense_matrix *matrix);

/*
 * Writes a matrix as a whole file or not at all: raw if the name says so, otherwise .npy (version 1, C order, little-endian).  Errors:
 * INPUT, SYSTEM, MEMORY.
 */
yoke_status dense_npy_write(const dense_matrix *matrix, const char *path);
/*
 * Writes a file in pieces: first the header if the format has one, then whole rows in their order; app_file_commit ends it.  Errors: INPUT,
 * MEMORY.
 */
yoke_status dense_npy_begin(yoke_context *context, const char *path, dense_precision precision, int64_t rows, int64_t columns,
                            app_file **file);
void dense_npy_append(const dense_matrix *rows, app_file *file);

#endif
