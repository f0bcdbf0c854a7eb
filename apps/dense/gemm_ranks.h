/*
 * gemm_ranks.h - yoke dense gemm on several ranks: makes their parts, multiplies, checks, writes and tells.
 */
#ifndef DENSE_GEMM_RANKS_H
#define DENSE_GEMM_RANKS_H

#include "gemm/gemm.h"
#include "matrix/npy.h"
#include "operation.h"
#include "ranks/product.h"

/* What the command line of this rank asks for. */
typedef struct dense_gemm_ranks {
    int64_t rows, columns, depth; /* of C; columns of A */
    dense_precision precision;
    dense_partition partition;
    dense_npy *file;      /* [2] A, B; NULL: random */
    const app_blas *blas; /* NULL: none */
    const char *why_no_blas;
    dense_gemm_options options;
} dense_gemm_ranks;

/* work->run is there.  Collective.  Errors: those that ranks agree on, and of the product: NUMERIC (it failed its check). */
yoke_status dense_gemm_on_ranks(dense_work *work, const dense_gemm_ranks *asked, int argc, char **argv);

#endif
