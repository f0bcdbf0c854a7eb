/*
 * bench_parts.h - declarations shared by the files of the benchmark; private to them.
 */
#ifndef FMM_TUNE_COSTS_BENCH_PARTS_H
#define FMM_TUNE_COSTS_BENCH_PARTS_H

#include <stdbool.h>

#include "tune/costs/bench.h"

/*
 * Whether call number `made` follows.  There are `calls` at most, since begin_s; after enough seconds the shortest of those made counts: in
 * long calls short disturbances average out.
 */
static inline bool fmm_bench_goes_on(int64_t made, int64_t calls, double begin_s)
{
    static const double enough_s = 0.02;
    return made < calls && (made == 0 || yoke_clock_s() - begin_s < enough_s);
}

/* Number of parents whose children are translated together. */
enum { FMM_BENCH_TOGETHER = 16 };

/* Tables and expansions for an order, for all threads. */
typedef struct fmm_bench_pools fmm_bench_pools;

/* Creates those for an order, if *pools is NULL or has another order.  Errors: ARGUMENT (the order), MEMORY. */
yoke_status fmm_bench_pools_have(yoke_context *context, int order, fmm_bench_pools **pools);
/* NULL is allowed. */
void fmm_bench_pools_destroy(fmm_bench_pools *pools);

/* As fmm_bench_units and fmm_bench_run, for the operations on expansions: from FMM_CELL on. */
int64_t fmm_bench_expansions_units(fmm_operation operation, int order);
double fmm_bench_expansions(fmm_bench_pools *pools, fmm_operation operation, int gradient, const fmm_clock *clock, int64_t calls);

#endif
