/*
 * counter.h - what costs are counted in: seconds, or instructions or cycles of the processor (J. Lang, sect. 3.3.2).
 *
 * Counts are those of all threads of this process, in user mode, by perf_event_open of Linux.  Threads that wait for others in a loop count, too.
 */
#ifndef FMM_TUNE_COSTS_COUNTER_H
#define FMM_TUNE_COSTS_COUNTER_H

#include "method/method.h"

typedef enum fmm_measure { FMM_MEASURE_SECONDS, FMM_MEASURE_INSTRUCTIONS, FMM_MEASURE_CYCLES } fmm_measure;

/* "seconds", "instructions", "cycles", and NULL behind the last. */
extern const char *const fmm_measure_names[4];

/* Where costs are called seconds and are counts, a second stands for so many of them. */
#define FMM_COUNTS_OF_SECOND 1e9

typedef struct fmm_counter fmm_counter;

/*
 * Of the threads that there are now and those that they start later.  measure: not FMM_MEASURE_SECONDS.  No other thread may start threads meanwhile.
 * For tests the environment's YOKE_COUNTERS stands in for the processor: with "software" nanoseconds of the threads are counted, and a warning says so;
 * the name of an error of perf_event_open (ENOENT, EACCES, EPERM, ENOSYS) is that error.
 * Errors: UNAVAILABLE (this machine does not count them: why, and what to do), MEMORY.
 */
yoke_status fmm_counter_open(yoke_context *context, fmm_measure measure, fmm_counter **counter);
/* NULL allowed. */
void fmm_counter_close(fmm_counter *counter);

/* What counts, so that the store keeps both apart: the processor, or what stands in for it. */
const char *fmm_counter_source(void);

/* It shows counts by FMM_COUNTS_OF_SECOND; NaN: they cannot be read.  The counter's. */
const fmm_clock *fmm_counter_clock(const fmm_counter *counter);

#endif
