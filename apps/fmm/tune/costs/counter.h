/*
 * counter.h - the unit of costs: seconds, or instructions or cycles of the processor (J. Lang, sect. 3.3.2).
 *
 * Counts are those of all threads of this process, in user mode, by perf_event_open of Linux.  Threads that wait for others in a loop are
 * counted too.
 */
#ifndef FMM_TUNE_COSTS_COUNTER_H
#define FMM_TUNE_COSTS_COUNTER_H

#include "method/method.h"

typedef enum fmm_measure { FMM_MEASURE_SECONDS, FMM_MEASURE_INSTRUCTIONS, FMM_MEASURE_CYCLES } fmm_measure;

/* "seconds", "instructions", "cycles", and NULL after the last. */
extern const char *const fmm_measure_names[4];

/* If costs that are called seconds are counts, one second stands for this number of counts. */
#define FMM_COUNTS_OF_SECOND 1e9

typedef struct fmm_counter fmm_counter;

/*
 * Opens a counter for the existing threads and those that they start later.  measure: not FMM_MEASURE_SECONDS.  No other thread may start
 * threads during the call.  For tests the environment variable YOKE_COUNTERS replaces the processor's counters: with "software" nanoseconds
 * of the threads are counted, and a warning says so; with the name of an error of perf_event_open (ENOENT, EACCES, EPERM, ENOSYS) the call
 * fails with that error.
 * Errors: UNAVAILABLE (this machine does not count them; the message has the cause and what to do), MEMORY.
 */
yoke_status fmm_counter_open(yoke_context *context, fmm_measure measure, fmm_counter **counter);
/* NULL is allowed. */
void fmm_counter_close(fmm_counter *counter);

/* The name of the source of counts, the processor or its replacement, by which the store distinguishes them. */
const char *fmm_counter_source(void);

/* A clock of counts divided by FMM_COUNTS_OF_SECOND; NaN: they cannot be read.  The counter owns it. */
const fmm_clock *fmm_counter_clock(const fmm_counter *counter);

#endif
