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

/*
 * Refuses ranks whose command lines say different things of the product.  To be called before anything collective that depends on them: ranks would wait for each
 * other for ever.  options.block does not count, but what is given with -b.  Collective.  Errors: INPUT, on which all agree.
 */
yoke_status dense_gemm_check_alike(const dense_work *work, const dense_gemm_ranks *asked);

/* work->run is there, and the command lines are alike.  Collective.  Errors: those that ranks agree on, and of the product: NUMERIC (it failed its check). */
yoke_status dense_gemm_on_ranks(dense_work *work, const dense_gemm_ranks *asked, int argc, char **argv);

#endif
