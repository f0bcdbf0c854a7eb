/*
 * block.h - chooses the width of blocks by a benchmark of the cores' BLAS.
 */
#ifndef DENSE_GEMM_BLOCK_H
#define DENSE_GEMM_BLOCK_H

#include "gemm/gemm.h"

enum { DENSE_BLOCK_WIDTHS = 5 };

/* Width number i: 32, 64 .. 512. */
int64_t dense_block_width(int i);

/*
 * Returns the smallest of these widths b with which C = C + A B, with b columns of A and rows of B, reaches 98 % of the highest speed.
 * Widths above `most` are not chosen, except the smallest width of all.  speed [DENSE_BLOCK_WIDTHS]: operations per second; NaN: not known.
 * If no speed is known the result is DENSE_GEMM_BLOCK, or a smaller width because of `most`.
 */
int64_t dense_block_choose(const double *speed, int64_t most);

/*
 * Measures the speeds of the run's first host.  Speeds in its store are not measured again; measured ones are stored there.  All are NaN if
 * the run has no host or a simulated one.
 * Errors: those of yoke_run_calibrate; MEMORY.
 */
yoke_status dense_block_measure(yoke_context *context, yoke_run *run, const app_blas *blas, dense_precision precision, double *speed);

#endif
