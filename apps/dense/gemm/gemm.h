/*
 * gemm.h - products of matrices on the devices of a run.
 */
#ifndef DENSE_GEMM_H
#define DENSE_GEMM_H

#include "common/machine/blas.h"
#include "matrix/matrix.h"
#include "share/share.h"

/* Rows of a block where several ranks share a product, and of one where the devices of a machine do, which need not have them all at once. */
enum { DENSE_GEMM_BLOCK = 64, DENSE_GEMM_ROWS = 16, DENSE_MAX_BLOCK = 65536, DENSE_GEMM_DEPTH = 512 };

/* The versions of the kernel for accelerators (Clarke, sect. 1.6), of which the last two differ where B does not stay on the device. */
enum {
    DENSE_MOVE_ALL = 1,  /* C comes and goes for each panel of B, and B is never in core */
    DENSE_KEEP_C = 2,    /* C stays for all panels */
    DENSE_OVERLAPPED = 3 /* and a panel is copied while the one before is multiplied */
};

/* Memory that an accelerator may take. */
typedef struct dense_memory_limit {
    const char *device;
    int64_t bytes;
} dense_memory_limit;

typedef struct dense_gemm_options {
    int64_t block; /* rows of C that a device gets at a time, 1 .. DENSE_MAX_BLOCK */
    int version;   /* 0: DENSE_OVERLAPPED */
    int add;       /* nonzero: C = C + A B, one of many products of parts of matrices: models count products of one block */
    /* Rows of a panel of B on an accelerator, at most; 0: DENSE_GEMM_DEPTH, with which a product is much longer than its start. */
    int64_t depth;
    int num_limits;
    const dense_memory_limit *limits;
    dense_progress progress; /* units: blocks */
} dense_gemm_options;

/*
 * C = A B.  All have one precision; C (rows of A x columns of B) is overwritten, or added to.  Devices get blocks of rows of A and C, and all of B, in panels where it does not
 * fit.  Hosts call the BLAS that is installed, one product on each thread; accelerators their vendor's, or a kernel in the dialect.
 * blas: NULL where there is none; why_no_blas says why.  Then hosts do nothing.
 * Errors: ARGUMENT (shapes that do not fit, block), those of dense_sharing_do.
 */
yoke_status dense_gemm(yoke_context *context, yoke_run *run, const app_blas *blas, const char *why_no_blas,
                       const dense_gemm_options *options, const dense_matrix *a, const dense_matrix *b, dense_matrix *c,
                       dense_shared *shared);

/*
 * The same for many products, on devices that stay open: of one precision, with these options.  a, c: of the first one, for the name of the work; the others may
 * have other sides where options->add is not zero.  Each product's matrices fit together.  blas and options outlive it.  Errors: as above.
 */
typedef struct dense_gemm_state dense_gemm_state;
yoke_status dense_gemm_open(yoke_context *context, yoke_run *run, const app_blas *blas, const char *why_no_blas,
                            const dense_gemm_options *options, const dense_matrix *a, const dense_matrix *c, dense_gemm_state **gemm);
yoke_status dense_gemm_multiply(dense_gemm_state *gemm, const dense_matrix *a, const dense_matrix *b, dense_matrix *c,
                                dense_shared *shared);
/* For trials of the product (dense_sharing_try): these matrices are those that it is of; without numbers where no device calls the kernel.  Errors: MEMORY. */
yoke_status dense_gemm_take(dense_gemm_state *gemm, const dense_matrix *a, const dense_matrix *b, dense_matrix *c);
dense_sharing *dense_gemm_sharing(dense_gemm_state *gemm);
/* Its name, in models and stores. */
const char *dense_gemm_work(const dense_gemm_state *gemm);
void dense_gemm_close(dense_gemm_state *gemm);

/*
 * Rows first .. last - 1 of C by the BLAS, on the threads of OpenMP that there are here, each with products of its own: tiles of C.  uneven: about the part by which the
 * slowest thread is slower than the others; tiles are smaller then.  add: nonzero: C = C + A B.
 */
void dense_gemm_rows(const app_blas *blas, const dense_matrix *a, const dense_matrix *b, int add, dense_matrix *c, int64_t first,
                     int64_t last, double uneven);

/* A small product on each of these threads: a first one takes longer, as the BLAS and OpenMP make what they need. */
void dense_gemm_make_ready(const app_blas *blas, dense_precision precision);

/*
 * The whole product by one call of the BLAS on so many threads of its own, after a smaller one that makes these threads; *seconds: of the call.  What is the speed
 * that this machine's BLAS has by itself.
 */
void dense_gemm_direct(const app_blas *blas, int threads, const dense_matrix *a, const dense_matrix *b, dense_matrix *c, double *seconds);

/* Floating-point operations of C = A B. */
double dense_gemm_flops(const dense_matrix *a, const dense_matrix *b);

#endif
