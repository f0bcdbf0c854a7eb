/*
 * npy_header.h - the text in the header of a .npy file: a Python dictionary of three keys.
 */
#ifndef DENSE_NPY_HEADER_H
#define DENSE_NPY_HEADER_H

#include "matrix/matrix.h"

typedef struct dense_npy_header {
    int64_t rows, columns;
    dense_precision precision;
    int big_endian, by_columns;
} dense_npy_header;

/*
 * Reads {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }: the keys in any order, each once.  path: for messages.
 * Errors: INPUT (the text is not such a dictionary; a type other than float32 and float64; a number of dimensions other than two; a side
 * that is not 1 .. DENSE_MAX_SIDE).
 */
yoke_status dense_npy_header_parse(yoke_context *context, const char *path, const char *text, dense_npy_header *header);

#endif
