/*
 * gemm.h - products of matrices on the devices of a run.
 */
#ifndef DENSE_GEMM_H
#define DENSE_GEMM_H

#include "common/machine/blas.h"
#include "matrix/matrix.h"
#include "share/share.h"

/*
 * Rows of a block if several ranks share a product; rows of a block if the devices of one machine share it, which do not need all rows at
 * once.
 */
enum { DENSE_GEMM_BLOCK = 64, DENSE_GEMM_ROWS = 16, DENSE_MAX_BLOCK = 65536, DENSE_GEMM_DEPTH = 512 };

/* The versions of the kernel for accelerators (Clarke, sect. 1.6).  The last two differ if B does not stay on the device. */
enum {
    DENSE_MOVE_ALL = 1,  /* C is copied to the device and back for each panel of B, and B is never in core */
    DENSE_KEEP_C = 2,    /* C stays on the device for all panels */
    DENSE_OVERLAPPED = 3 /* as DENSE_KEEP_C, and a panel is copied while the one before is multiplied */
};

/* Bytes of memory that an accelerator may use. */
typedef struct dense_memory_limit {
    const char *device;
    int64_t bytes;
} dense_memory_limit;

typedef struct dense_gemm_options {
    int64_t block; /* rows of C that a device gets at a time, 1 .. DENSE_MAX_BLOCK */
    int version;   /* 0: DENSE_OVERLAPPED */
    /* Nonzero: C = C + A B, one of many products of parts of matrices; models then count products of one block. */
    int add;
    /* Most rows of a panel of B on an accelerator; 0: DENSE_GEMM_DEPTH, with which a product takes much longer than its start. */
    int64_t depth;
    int num_limits;
    const dense_memory_limit *limits;
    dense_progress progress; /* units: blocks */
} dense_gemm_options;

/*
 * C = A B.  All matrices have the same precision; C (rows of A x columns of B) is overwritten, or added to.  Devices get blocks of rows of
 * A and C, and all of B, in panels if it does not fit.  Hosts call the installed BLAS, with separate products on each thread; accelerators
 * call the vendor's BLAS, or a kernel in the dialect.
 * blas: NULL if there is none; why_no_blas then states the reason, and hosts compute nothing.
 * Errors: ARGUMENT (shapes that do not match, block), those of dense_sharing_do.
 */
yoke_status dense_gemm(yoke_context *context, yoke_run *run, const app_blas *blas, const char *why_no_blas,
                       const dense_gemm_options *options, const dense_matrix *a, const dense_matrix *b, dense_matrix *c,
                       dense_shared *shared);

/*
 * The same for many products of one precision with these options, on devices that stay open.  a, c: matrices of the first product, which
 * determine the name of the work.  The others may have different sides if options->add is not zero.  The shapes of each product's matrices
 * match.  blas and options must outlive it.  Errors: as above.
 */
typedef struct dense_gemm_state dense_gemm_state;
yoke_status dense_gemm_open(yoke_context *context, yoke_run *run, const app_blas *blas, const char *why_no_blas,
                            const dense_gemm_options *options, const dense_matrix *a, const dense_matrix *c, dense_gemm_state **gemm);
yoke_status dense_gemm_multiply(dense_gemm_state *gemm, const dense_matrix *a, const dense_matrix *b, dense_matrix *c,
                                dense_shared *shared);
/*
 * For trials of the product (dense_sharing_try): sets its matrices; their entries are not set if no device calls the kernel.  Errors:
 * MEMORY.
 */
yoke_status dense_gemm_take(dense_gemm_state *gemm, const dense_matrix *a, const dense_matrix *b, dense_matrix *c);
dense_sharing *dense_gemm_sharing(dense_gemm_state *gemm);
/* The name of the work in models and stores. */
const char *dense_gemm_work(const dense_gemm_state *gemm);
void dense_gemm_close(dense_gemm_state *gemm);

/*
 * Computes rows first .. last - 1 of C by the BLAS, on the OpenMP threads that are available here, each with its own products: tiles of C.
 * uneven: an estimate of the fraction by which the slowest thread is slower than the others; tiles are smaller then.  add: nonzero: C = C +
 * A B.
 */
void dense_gemm_rows(const app_blas *blas, const dense_matrix *a, const dense_matrix *b, int add, dense_matrix *c, int64_t first,
                     int64_t last, double uneven);

/*
 * Computes a small product on each of these threads: a first product takes longer, because the BLAS and OpenMP create their threads and
 * buffers.
 */
void dense_gemm_make_ready(const app_blas *blas, dense_precision precision);

/*
 * Computes the whole product by one call of the BLAS on `threads` threads of its own, after a smaller one that creates these threads;
 * *seconds: time of the call.  It shows the speed that this machine's BLAS has by itself.
 */
void dense_gemm_direct(const app_blas *blas, int threads, const dense_matrix *a, const dense_matrix *b, dense_matrix *c, double *seconds);

/* Floating-point operations of C = A B. */
double dense_gemm_flops(const dense_matrix *a, const dense_matrix *b);

#endif
