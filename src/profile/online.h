/*
 * online.h - energies of the kernels of an application from the calls that it makes anyway: an energy counter is read at the same time.
 *
 * The application reports all calls with their times, in any order within the time that it has not declared complete yet, and reads the
 * meter when that does not disturb its work: a read costs nothing before a reading is due.
 */
#ifndef YOKE_PROFILE_ONLINE_H
#define YOKE_PROFILE_ONLINE_H

#include "profile/kernels.h"

/* The counter that is read. */
typedef struct profiler_meter {
    yoke_status (*energy_j)(double *joules, void *user);  /* since some time; UNAVAILABLE: the meter failed */
    double (*updated_s)(void *user);                      /* time of the counter's last update; NULL: not known, its updates are searched */
    double (*clock_s)(void *user);                        /* of calls and readings */
    yoke_status (*wait_until)(double time_s, void *user); /* NULL: sleeps */
    double resolution_j, gain_error;                      /* of the counter; NaN: not known */
    void *user;
} profiler_meter;

typedef struct profiler profiler;

/*
 * Creates a profiler.  overhead: part of the time that readings may take.  If the counter does not report its updates they are searched,
 * for 2 s at most if there are many, 10 s if they are rare.  *meter is copied.
 * Errors: ARGUMENT, MEMORY, UNAVAILABLE (no update is seen, or they have no common period), those of reading.
 */
yoke_status profiler_create(yoke_context *context, const profiler_meter *meter, double overhead, profiler **profiler);
void profiler_destroy(profiler *profiler);

/*
 * From now on all calls are reported: earlier calls are not known.  set: 0 <= set < PROFILER_SETS: kernels of different sets are
 * distinguished, and so is the power without any kernel (the device's frequency).  Errors: MEMORY, those of reading.
 */
enum { PROFILER_SETS = 16 };
yoke_status profiler_begin(profiler *profiler, int set);
/* Reports a call.  Errors: MEMORY, ARGUMENT (a million calls between two readings, or kernel number out of range). */
yoke_status profiler_call(profiler *profiler, const profile_call *call);
/* Reads the meter if a reading is due.  Errors: MEMORY, those of reading. */
yoke_status profiler_look(profiler *profiler);
/* Declares that all calls that began before that time were reported.  Errors: MEMORY. */
yoke_status profiler_known(profiler *profiler, double until_s);

/* As profile_kernels_solve, for a set, with the meter's gain error.  *readings: number of its readings so far; may be NULL. */
yoke_status profiler_result(const profiler *profiler, int set, profile_joules *joules, int64_t *readings);
#endif
