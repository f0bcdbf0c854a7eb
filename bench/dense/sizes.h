/*
 * sizes.h - lists of matrix sizes on command lines.
 */
#ifndef BENCH_DENSE_SIZES_H
#define BENCH_DENSE_SIZES_H

#include "yoke/yoke.h"

enum { BENCH_MAX_SIZES = 64 };

typedef struct bench_sizes {
    int count;
    int64_t n[BENCH_MAX_SIZES];
} bench_sizes;

/* Reads --sizes N,N,...  Errors: INPUT. */
yoke_status bench_sizes_read(yoke_context *context, const char *text, bench_sizes *sizes);

#endif
