/*
 * synthetic.h - additions of integers to one place by several threads, with work between them (Lang's dissertation, sect. 4.2.3, fig. 4.3).
 */
#ifndef BENCH_REDUCTION_SYNTHETIC_H
#define BENCH_REDUCTION_SYNTHETIC_H

#include "yoke/yoke.h"

typedef enum synthetic_kind {
    SYNTHETIC_PRIVATE,        /* I: a variable of each thread */
    SYNTHETIC_UNSYNCHRONISED, /* II: a common one, loaded, added to, stored: additions get lost */
    SYNTHETIC_ATOMIC,         /* III.a: the hardware's atomic addition */
    SYNTHETIC_SWAP,           /* III.b: compare-and-swap */
    SYNTHETIC_LOCK,           /* III.c: a lock */
    NUM_SYNTHETIC,
} synthetic_kind;

/* "private", "unsynchronised", "atomic", "cas", "lock". */
const char *synthetic_name(synthetic_kind kind);

/*
 * Each of `threads` adds `additions` ones, after `work` steps of dependent integer operations each.  seconds: wall-clock time of all of it.
 * sum: what came out, threads x additions for all but SYNTHETIC_UNSYNCHRONISED, where it is at most that.
 */
void synthetic_run(synthetic_kind kind, int threads, int64_t additions, int64_t work, double *seconds, int64_t *sum);

#endif
