/*
 * measure.h - `yoke bench ceilings`: STREAM's triad and OpenBLAS's DGEMM on so many threads of this process.
 */
#ifndef BENCH_CEILINGS_MEASURE_H
#define BENCH_CEILINGS_MEASURE_H

#include "common/machine/ceilings.h"

typedef struct bench_ceilings_size {
    int64_t triples; /* of the triad */
    int order;       /* of each thread's matrices */
    int repeats;     /* the best of them counts */
} bench_ceilings_size;

/*
 * With ceilings->threads threads; the kernel of OpenBLAS is the one that this process has.  Without a BLAS the reason is in why_not.
 * Errors: MEMORY.
 */
yoke_status bench_ceilings_measure(yoke_context *context, const bench_ceilings_size *size, app_ceilings *ceilings);

#endif
