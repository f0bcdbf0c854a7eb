/*
 * gemm_ranks.h - yoke dense gemm on several ranks: creates their parts, multiplies, checks, writes and reports.
 */
#ifndef DENSE_GEMM_RANKS_H
#define DENSE_GEMM_RANKS_H

#include "gemm/gemm.h"
#include "matrix/npy.h"
#include "operation.h"
#include "ranks/product.h"

/* The product that the command line of this rank requests. */
typedef struct dense_gemm_ranks {
    int64_t rows, columns, depth; /* of C; columns of A */
    dense_precision precision;
    dense_partition partition;
    dense_npy *file;      /* [2] A, B; NULL: random */
    const app_blas *blas; /* NULL: none */
    const char *why_no_blas;
    dense_gemm_options options;
} dense_gemm_ranks;

/*
 * Refuses ranks whose command lines differ in the product.  It must be called before anything collective that depends on them, otherwise
 * ranks would wait for each other for ever.  options.block is not compared, but the value of -b is.  Collective.  Errors: INPUT, on which
 * all ranks agree.
 */
yoke_status dense_gemm_check_alike(const dense_work *work, const dense_gemm_ranks *asked);

/*
 * work->run is open, and the command lines agree.  Collective.  Errors: those on which ranks agree, those of the product, NUMERIC (the
 * product failed its check).
 */
yoke_status dense_gemm_on_ranks(dense_work *work, const dense_gemm_ranks *asked, int argc, char **argv);

#endif
