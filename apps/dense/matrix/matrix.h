/*
 * matrix.h - dense matrices, by rows (C order), in double or single precision.
 */
#ifndef DENSE_MATRIX_H
#define DENSE_MATRIX_H

#include "yoke/yoke.h"

/* Bytes of an entry. */
typedef enum dense_precision { DENSE_SINGLE = 4, DENSE_DOUBLE = 8 } dense_precision;
const char *dense_precision_text(dense_precision precision); /* "double", "single" */

enum { DENSE_MAX_SIDE = INT32_MAX }; /* rows, columns: the range of the integers of BLAS */

typedef struct dense_matrix {
    yoke_context *context;
    int64_t rows, columns; /* 1 .. DENSE_MAX_SIDE */
    dense_precision precision;
    void *entries; /* entry (i, j) is number i columns + j */
} dense_matrix;

/*
 * Refuses matrices that do not fit into the memory that this process may use.  matrices[i] has rows[i] x columns[i] entries, and all of
 * them exist at the same time.
 * Errors: INPUT (the bytes that are needed and those that are available; a side that is not 1 .. DENSE_MAX_SIDE).
 */
yoke_status dense_matrix_check(yoke_context *context, dense_precision precision, int count, const int64_t *rows, const int64_t *columns);

/* The entries are not set.  Errors: INPUT (a side outside its limits), MEMORY. */
yoke_status dense_matrix_create(yoke_context *context, int64_t rows, int64_t columns, dense_precision precision, dense_matrix *matrix);
/* Leaves the matrix empty.  A matrix that is all zero is empty. */
void dense_matrix_destroy(dense_matrix *matrix);

int64_t dense_matrix_bytes(const dense_matrix *matrix);
double dense_matrix_entry(const dense_matrix *matrix, int64_t row, int64_t column);

/*
 * Returns the number of blocks of `block` rows of a matrix, of which the last may have fewer rows.  dense_matrix_block_rows gives the rows
 * *row .. *end - 1 of its blocks first .. last - 1.
 */
int64_t dense_matrix_blocks(const dense_matrix *matrix, int64_t block);
void dense_matrix_block_rows(const dense_matrix *matrix, int64_t block, int64_t first, int64_t last, int64_t *row, int64_t *end);

/* Uniformly distributed numbers in [-1, 1).  An entry depends only on seed, its number i columns + j and the precision. */
void dense_matrix_random(dense_matrix *matrix, uint64_t seed);
/* The same numbers for a part of such a matrix, from this row and column on; all_columns: number of columns of the whole matrix. */
void dense_matrix_random_part(dense_matrix *matrix, uint64_t seed, int64_t row, int64_t column, int64_t all_columns);

/* Entries of a matrix that are not finite. */
typedef struct dense_wrong {
    int64_t count, first; /* first: number i columns + j of the first such entry; INT64_MAX: there is none */
    double value;         /* of the first one; NaN: there is none */
} dense_wrong;

/*
 * Finds those of a part of a matrix, which begins at this row and column; all_columns: number of columns of the whole matrix, in which
 * entries are numbered.
 */
dense_wrong dense_matrix_find_wrong(const dense_matrix *part, int64_t row, int64_t column, int64_t all_columns);
/* Combines the results of two parts. */
dense_wrong dense_wrong_join(dense_wrong a, dense_wrong b);
/*
 * Fails if a matrix has such entries; name: of the matrix, for the message.
 * Errors: INPUT (the number of such entries and the number of all; row and column from 0, and value of the first one).
 */
yoke_status dense_wrong_check(yoke_context *context, const dense_wrong *wrong, int64_t rows, int64_t columns, const char *name);

#endif
