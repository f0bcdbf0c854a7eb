/* measure.h - `yoke bench ceilings`: STREAM's triad and OpenBLAS's DGEMM on threads of this process. */
#ifndef BENCH_CEILINGS_MEASURE_H
#define BENCH_CEILINGS_MEASURE_H

#include "common/machine/ceilings.h"

typedef struct bench_ceilings_size {
    int64_t triples; /* of the triad */
    int order;       /* of each thread's matrices */
    int repeats;     /* the best repetition counts */
} bench_ceilings_size;

/* Uses ceilings->threads threads and the OpenBLAS kernel of this process.  Without a BLAS, why_not has the reason.  Errors: MEMORY. */
yoke_status bench_ceilings_measure(yoke_context *context, const bench_ceilings_size *size, app_ceilings *ceilings);

#endif
