/*
 * device.h - a product on an accelerator; private to this folder.
 *
 * In core, all of B stays on the device.  Out of core, the device has some rows of A and C, and B is processed in panels of rows: C +=
 * A(panel) B(panel).  If copies overlap with computation there are two buffers of each: the next rows of A are copied to the device, and
 * the last ones of C are copied back, while others are multiplied (Clarke, fig. 1.5).  Panels of B are copied in the same way.
 */
#ifndef DENSE_GEMM_DEVICE_H
#define DENSE_GEMM_DEVICE_H

#include "gemm/gemm.h"

/* A device and the objects that were created on it. */
typedef struct dense_gemm_device {
    yoke_device *device;
    yoke_queue *queue;
    yoke_queue *copies, *returns;       /* copies to the device, and of C from it; NULL: they are in `queue` */
    yoke_event *filled[2], *used[2];    /* panels of B: copied to the device; multiplied */
    yoke_event *ready[2], *returned[2]; /* rows: those of A are on the device; those of C are copied back */
    yoke_event *done[2];                /* rows of C are computed */
    yoke_program *program;
    yoke_function *function;
    yoke_buffer *a[2], *b[2], *c[2];
    int blas;       /* nonzero: the function is the vendor's BLAS, otherwise a kernel of yoke */
    int64_t budget; /* bytes of memory that may be used */
    int64_t rows;   /* for which each buffer of a and of c has room */
    int sets;       /* number of buffers of a and of c; 2: rows are copied while others are multiplied */
    int64_t depth;  /* rows of a panel of B; all rows of B: in core */
    int sent;       /* nonzero: all of B is on the device */
} dense_gemm_device;

/* A product that is under way. */
struct dense_gemm_state {
    yoke_context *context;
    const app_blas *blas; /* NULL: none */
    const char *why_no_blas;
    const dense_gemm_options *options;
    dense_precision precision;
    char work[96];
    const char *texts[2];
    dense_kernel kernel;
    dense_sharing *sharing;
    int64_t sides[DENSE_MAX_DEVICES][2]; /* columns of A and of C for which the memory of a device is allocated */
    const dense_matrix *a, *b;
    dense_matrix *c;
    int beside;     /* nonzero: accelerators may work too */
    int busy;       /* nonzero: an accelerator works in this round */
    int64_t weight; /* of a row of blocks, as models count */
    /* The destination of accelerators' rows: C, or `product` if rows are added to C. */
    dense_matrix *to;
    /* Its rows are added to C when a device has finished them, so that units of a device that fails are not added twice. */
    dense_matrix product;
    dense_gemm_device device[DENSE_MAX_DEVICES];
};

/* Uses the vendor's BLAS, or compiles the kernel if there is none.  Errors: those of the device. */
yoke_status dense_gemm_device_open(dense_gemm_state *g, int number, yoke_device *device, yoke_queue *queue);
void dense_gemm_device_close(dense_gemm_state *g, int number);
/* A product of other matrices begins: the copy of B on the device is out of date, and matrices may have other sides. */
void dense_gemm_device_renew(dense_gemm_state *g, int number);
/*
 * Allocates memory for `rows` rows, or for as many as fit.  Copies B if it fits and is not on the device.  Errors: DEVICE_MEMORY (not even
 * the least number fits), those of the device.
 */
yoke_status dense_gemm_device_prepare(dense_gemm_state *g, int number, int64_t rows);
/* Starts rows first .. last - 1, from the copy of A to that of C.  units: for simulated devices.  Errors: those of the device. */
yoke_status dense_gemm_device_start(dense_gemm_state *g, int number, int64_t first, int64_t last, int64_t units);

/* The name of the implementation that multiplies on the device, and whether it works out of core. */
const char *dense_gemm_device_by(const dense_gemm_state *g, int number);

/* The text of the kernel, for the store. */
const char *dense_gemm_device_text(void);

#endif
