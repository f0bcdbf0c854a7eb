/*
 * transpose.h - transposition of a matrix on the devices of a run.
 */
#ifndef DENSE_TRANSPOSE_H
#define DENSE_TRANSPOSE_H

#include "matrix/matrix.h"
#include "share/share.h"

enum { DENSE_TRANSPOSE_BLOCK = 64 };

typedef struct dense_transpose_options {
    int64_t block;           /* rows of A that a device gets at a time, 1 .. 65536 */
    dense_progress progress; /* units: blocks */
} dense_transpose_options;

/*
 * B = A transposed; B (columns of A x rows of A) is overwritten.  Devices get blocks of rows of A.  Accelerators return them transposed,
 * and the host puts them into the columns of B.  The bits of numbers are not changed.
 * Errors: ARGUMENT (shapes that do not match, block), those of dense_sharing_do.
 */
yoke_status dense_transpose(yoke_context *context, yoke_run *run, const dense_transpose_options *options, const dense_matrix *a,
                            dense_matrix *b, dense_shared *shared);

/*
 * Only opens the transposition, for trials (dense_sharing_try).  All arguments must outlive it; the entries of the matrices are not set if
 * no device calls the kernel.  The work is named after columns of A, precision and block.  Errors: as above.
 */
typedef struct dense_transpose_state dense_transpose_state;
yoke_status dense_transpose_open(yoke_context *context, yoke_run *run, const dense_transpose_options *options, const dense_matrix *a,
                                 dense_matrix *b, dense_transpose_state **transposition);
dense_sharing *dense_transpose_sharing(dense_transpose_state *transposition);
/* The name of the work in models and stores. */
const char *dense_transpose_work(const dense_transpose_state *transposition);
void dense_transpose_close(dense_transpose_state *transposition);

/* Writes rows first .. last - 1 of A to columns of B, on the OpenMP threads that are available here. */
void dense_transpose_rows(const dense_matrix *a, dense_matrix *b, int64_t first, int64_t last);

/* Whether B is A transposed, to the bit.  *row, *column: position in A of an entry that differs; both may be NULL. */
int dense_transpose_check(const dense_matrix *a, const dense_matrix *b, int64_t *row, int64_t *column);

#endif
