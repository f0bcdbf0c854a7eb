/*
 * synthetic.h - additions of integers to one variable by several threads, with work between them (Lang's dissertation, sect. 4.2.3, fig.
 * 4.3).
 */
#ifndef BENCH_REDUCTION_SYNTHETIC_H
#define BENCH_REDUCTION_SYNTHETIC_H

#include "yoke/yoke.h"

typedef enum synthetic_kind {
    SYNTHETIC_PRIVATE,        /* I: a private variable of each thread */
    SYNTHETIC_UNSYNCHRONISED, /* II: a shared variable with separate load, addition and store: additions are lost */
    SYNTHETIC_ATOMIC,         /* III.a: the hardware's atomic addition */
    SYNTHETIC_SWAP,           /* III.b: compare-and-swap */
    SYNTHETIC_LOCK,           /* III.c: a lock */
    NUM_SYNTHETIC,
} synthetic_kind;

/* "private", "unsynchronised", "atomic", "cas", "lock". */
const char *synthetic_name(synthetic_kind kind);

/*
 * Each of `threads` threads adds 1 `additions` times, each time after `work` dependent integer operations.  seconds: total wall-clock time.
 * sum: the result, threads x additions for all methods except SYNTHETIC_UNSYNCHRONISED, for which it is at most that.
 */
void synthetic_run(synthetic_kind kind, int threads, int64_t additions, int64_t work, double *seconds, int64_t *sum);

#endif
