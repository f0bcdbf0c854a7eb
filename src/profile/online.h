/*
 * online.h - energy of the kernels of an application from the calls that it makes anyway: a counter of energy is read beside them.
 *
 * The application tells all calls with their times, in any order within what it has not declared known yet, and looks at the meter where that does not
 * disturb: looking costs nothing before a reading is due.
 */
#ifndef YOKE_PROFILE_ONLINE_H
#define YOKE_PROFILE_ONLINE_H

#include "profile/kernels.h"

/* The counter that is read. */
typedef struct profiler_meter {
    yoke_status (*energy_j)(double *joules, void *user); /* since some time; UNAVAILABLE: the meter failed */
    double (*updated_s)(void *user); /* when the counter was updated last; NULL: not known, its updates are looked for */
    double (*clock_s)(void *user);   /* of calls and readings */
    yoke_status (*wait_until)(double time_s, void *user); /* NULL: sleeps */
    double resolution_j, gain_error;                      /* of the counter; NaN: not known */
    void *user;
} profiler_meter;

typedef struct profiler profiler;

/*
 * overhead: part of the time that readings may take.  Updates are looked for where the counter does not tell them, for 2 s at most where it has many, 10 s
 * where they are rare.  *meter is copied.
 * Errors: ARGUMENT, MEMORY, UNAVAILABLE (no update is seen, or they have no common period), those of reading.
 */
yoke_status profiler_create(yoke_context *context, const profiler_meter *meter, double overhead, profiler **profiler);
void profiler_destroy(profiler *profiler);

/*
 * From now on all calls are told: what was before is not known.  set: 0 <= set < PROFILER_SETS: kernels of different sets are told apart, and so is the power
 * without any (the device's frequency).  Errors: MEMORY, those of reading.
 */
enum { PROFILER_SETS = 16 };
yoke_status profiler_begin(profiler *profiler, int set);
/* Errors: MEMORY, ARGUMENT (a million calls between two readings, or kernel number out of range). */
yoke_status profiler_call(profiler *profiler, const profile_call *call);
/* Reads the meter where that is due.  Errors: MEMORY, those of reading. */
yoke_status profiler_look(profiler *profiler);
/* All calls that began before that time were told.  Errors: MEMORY. */
yoke_status profiler_known(profiler *profiler, double until_s);

/* As profile_kernels_solve, of a set, with the meter's gain error.  *readings: of it so far; may be NULL. */
yoke_status profiler_result(const profiler *profiler, int set, profile_joules *joules, int64_t *readings);
#endif
