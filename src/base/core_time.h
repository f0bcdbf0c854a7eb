/*
 * core_time.h - whether other programs occupy the cores that this process wants.
 */
#ifndef YOKE_BASE_CORE_TIME_H
#define YOKE_BASE_CORE_TIME_H

/* Sums over the threads that the process has, each since its start. */
typedef struct yoke_core_time {
    double used_s;   /* on a core */
    double waited_s; /* ready to run, while something else had the core */
} yoke_core_time;

/* Both members are NaN if the system does not report them (Linux without CONFIG_SCHED_INFO, other systems). */
void yoke_core_time_get(yoke_core_time *time);

/*
 * Seconds from `before` to `after` that other programs took from this process, while `seconds` passed.  Time that its own threads take
 * from each other is not included: on `cores` cores the process can use `cores` times `seconds`, and what it used is not lost.  0 if the
 * system does not report it, or a thread has ended meanwhile.
 */
double yoke_core_time_lost(const yoke_core_time *before, const yoke_core_time *after, double seconds, double cores);

#endif
