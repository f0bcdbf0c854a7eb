/*
 * bench_parts.h - what the files of the benchmark share; private to them.
 */
#ifndef FMM_TUNE_BENCH_PARTS_H
#define FMM_TUNE_BENCH_PARTS_H

#include "tune/bench.h"

/* Parents whose children are translated together, in batches of at most 8 for each. */
enum { FMM_BENCH_TOGETHER = 16 };

/* As fmm_bench_units and fmm_bench_run, of the operations on expansions: FMM_PAIR, FMM_SPARSE, FMM_CELL, FMM_LEAF_8 and FMM_LEAF_32. */
int64_t fmm_bench_expansions_units(fmm_operation operation, int order);
yoke_status fmm_bench_expansions(yoke_context *context, fmm_operation operation, int order, int gradient, int64_t calls, double *seconds);

#endif
