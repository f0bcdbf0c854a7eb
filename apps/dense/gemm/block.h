/*
 * block.h - the width of blocks, chosen by a benchmark of the cores' BLAS.
 */
#ifndef DENSE_GEMM_BLOCK_H
#define DENSE_GEMM_BLOCK_H

#include "gemm/gemm.h"

enum { DENSE_BLOCK_WIDTHS = 5 };

/* 32, 64 .. 512. */
int64_t dense_block_width(int i);

/*
 * The least of these widths b with which C = C + A B, with b columns of A and rows of B, reaches 98 % of the highest speed of all, and which is not above `most`, or the
 * least of all.  speed [DENSE_BLOCK_WIDTHS]: operations a second.  NaN: not known; if no speed is known the result is DENSE_GEMM_BLOCK, or less by `most`.
 */
int64_t dense_block_choose(const double *speed, int64_t most);

/*
 * The speeds of the run's first host.  What its store knows is not measured again; what is measured goes there.  All NaN where the run has no host, or simulates one.
 * Errors: those of yoke_run_calibrate; MEMORY.
 */
yoke_status dense_block_measure(yoke_context *context, yoke_run *run, const app_blas *blas, dense_precision precision, double *speed);

#endif
