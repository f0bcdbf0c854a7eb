/*
 * device.h - a product on an accelerator; private to this folder.
 *
 * In core all of B stays on the device.  Out of core the device has some rows of A and C and goes through B in panels of rows: C += A(panel) B(panel).  Where copies overlap
 * there are two of each: the next rows of A come, and the last ones of C go, while others are multiplied (Clarke, fig. 1.5); so do panels of B.
 */
#ifndef DENSE_GEMM_DEVICE_H
#define DENSE_GEMM_DEVICE_H

#include "gemm/gemm.h"

/* A device, and what was made on it. */
typedef struct dense_gemm_device {
    yoke_device *device;
    yoke_queue *queue;
    yoke_queue *copies, *returns;       /* to the device, and of C from it; NULL: they are in the other queue */
    yoke_event *filled[2], *used[2];    /* panels of B: there; multiplied */
    yoke_event *ready[2], *returned[2]; /* rows: those of A are there; those of C are back */
    yoke_event *done[2];                /* and computed */
    yoke_program *program;
    yoke_function *function;
    yoke_buffer *a[2], *b[2], *c[2];
    int blas;       /* the function is the vendor's, else a kernel of ours */
    int64_t budget; /* bytes that it may take */
    int64_t rows;   /* that an a and a c have room for */
    int sets;       /* of a and c: 2: rows are copied while others are multiplied */
    int64_t depth;  /* rows of a panel of B; all of B: in core */
    int sent;       /* all of B is there */
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
    int64_t sides[DENSE_MAX_DEVICES][2]; /* columns of A and C for which a device has its memory */
    const dense_matrix *a, *b;
    dense_matrix *c;
    int beside;       /* accelerators may work, too */
    int busy;         /* one does in this round */
    int64_t weight;   /* of a row of blocks, as models count */
    dense_matrix *to; /* where rows of accelerators go: C, or where they are added to it product */
    dense_matrix
        product; /* rows of it are added to C when a device is done with them, so that units of one that fails are not added twice */
    dense_gemm_device device[DENSE_MAX_DEVICES];
};

/* Takes the vendor's BLAS, or where there is none compiles the kernel.  Errors: those of the device. */
yoke_status dense_gemm_device_open(dense_gemm_state *g, int number, yoke_device *device, yoke_queue *queue);
void dense_gemm_device_close(dense_gemm_state *g, int number);
/* A product of other matrices begins: what a device has of B is old, and its memory may have other sides. */
void dense_gemm_device_renew(dense_gemm_state *g, int number);
/* Makes room for so many rows, or for as many as fit; copies B where it fits and is not there.  Errors: DEVICE_MEMORY (the least), those of the device. */
yoke_status dense_gemm_device_prepare(dense_gemm_state *g, int number, int64_t rows);
/* Starts rows first .. last - 1, from the copy of A to that of C.  units: for simulated devices.  Errors: those of the device. */
yoke_status dense_gemm_device_start(dense_gemm_state *g, int number, int64_t first, int64_t last, int64_t units);

/* By what the device multiplies, and whether out of core. */
const char *dense_gemm_device_by(const dense_gemm_state *g, int number);

/* The text of the kernel, for the store. */
const char *dense_gemm_device_text(void);

#endif
