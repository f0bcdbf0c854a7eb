/*
 * device.h - a product on an accelerator; private to this folder.
 */
#ifndef DENSE_GEMM_DEVICE_H
#define DENSE_GEMM_DEVICE_H

#include "gemm/gemm.h"

/* A device, and what was made on it. */
typedef struct dense_gemm_device {
    yoke_device *device;
    yoke_queue *queue;
    yoke_program *program;
    yoke_function *function;
    yoke_buffer *a, *b, *c;
    int blas;     /* the function is the vendor's, else a kernel of ours */
    int64_t rows; /* that a and c have room for */
    int sent;     /* B is there */
} dense_gemm_device;

/* A product that is under way. */
typedef struct dense_gemm_state {
    yoke_context *context;
    const app_blas *blas; /* NULL: none */
    const dense_gemm_options *options;
    const dense_matrix *a, *b;
    dense_matrix *c;
    dense_gemm_device device[DENSE_MAX_DEVICES];
} dense_gemm_state;

/* Takes the vendor's BLAS, or where there is none compiles the kernel.  Errors: those of the device. */
yoke_status dense_gemm_device_open(dense_gemm_state *g, int number, yoke_device *device, yoke_queue *queue);
void dense_gemm_device_close(dense_gemm_state *g, int number);
/* Makes room for so many rows, and copies B where it is not there.  Errors: those of the device. */
yoke_status dense_gemm_device_prepare(dense_gemm_state *g, int number, int64_t rows);
/* Starts rows first .. last - 1, from the copy of A to that of C.  units: for simulated devices.  Errors: those of the device. */
yoke_status dense_gemm_device_start(dense_gemm_state *g, int number, int64_t first, int64_t last, int64_t units);
/* Rows of A and C that there is memory for, beside B. */
int64_t dense_gemm_device_most_rows(const dense_gemm_state *g, int number);

/* By what the device multiplies: "cuBLAS", "CLBlast", "own kernel". */
const char *dense_gemm_device_by(const dense_gemm_state *g, int number);

/* The text of the kernel, for the store. */
const char *dense_gemm_device_text(void);

#endif
