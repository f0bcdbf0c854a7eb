/*
 * contention.h - products on groups of devices that share a machine's memory, alone and together (Clarke, sect. 1.5): all cores, all cores
 * except the one that serves an accelerator, and the accelerator.
 */
#ifndef BENCH_DENSE_CONTENTION_H
#define BENCH_DENSE_CONTENTION_H

#include "common/machine/blas.h"
#include "yoke/yoke.h"

/*
 * The working devices.  Those of a pair begin at the same time, with rows in proportion to their speeds alone, and are measured while both
 * work.
 */
typedef enum bench_group {
    BENCH_ALL_CORES,     /* Clarke's s6 */
    BENCH_REST,          /* all but the serving core: s5 */
    BENCH_GPU,           /* g: its core serves it, and no other core works */
    BENCH_ALL_WITH_GPU,  /* the serving core multiplies too */
    BENCH_REST_WITH_GPU, /* the serving core does nothing else */
    BENCH_GROUPS
} bench_group;

typedef struct bench_contention_options {
    const char *cores, *rest; /* devices of the host: all its cores, and all except the serving one */
    const char *gpu;
    int64_t repeats_least, repeats_most;
    double accuracy; /* repetitions end when the intervals of all means are below this fraction of the means */
} bench_contention_options;

/* Operations per second: mean, and half width of its 95 % interval.  0: the device does not work in this group. */
typedef struct bench_speed {
    double mean, interval;
} bench_speed;

typedef struct bench_contention_row {
    int64_t n, repeats;
    int reliable; /* the accuracy was reached */
    bench_speed host[BENCH_GROUPS], gpu[BENCH_GROUPS];
} bench_contention_row;

/*
 * Products of n x n matrices of doubles.  Alternates between the groups, so that changes of the machine affect all of them.
 * Errors: those of yoke_run_create and dense_gemm; INTERRUPTED.
 */
yoke_status bench_contention_measure(yoke_context *context, const bench_contention_options *options, const app_blas *blas, int64_t n,
                                     bench_contention_row *row);

/* Fraction of its speed alone that a device loses in a group; NaN: it does not work there.  host: nonzero for the cores. */
double bench_contention_loss(const bench_contention_row *row, bench_group group, int host);

#endif
