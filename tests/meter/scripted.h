/*
 * scripted.h - meters that show what a test tells them to, on a clock that the test moves.
 */
#ifndef YOKE_TESTS_METER_SCRIPTED_H
#define YOKE_TESTS_METER_SCRIPTED_H

#include <pthread.h>

#include "meter/set.h"

enum { SCRIPTED_METERS = 16 };

typedef struct scripted_meter {
    meter_domain domain; /* as the kind gives it away */
    meter_result result; /* of the next readings */
    meter_sample sample;
    char why[METER_WHY_BYTES];
    int fails; /* so many readings fail before the result counts again */
    int reads, closed;
    double watts; /* not 0: a counter or energy that moves with the clock, or its power */
} scripted_meter;

typedef struct scripted_machine {
    double now_s, suspended_s;
    scripted_meter meters[SCRIPTED_METERS];
    int64_t count;
    pthread_mutex_t lock; /* for what a watching thread reads */
} scripted_machine;

/* The machine that scripted_kind finds. */
extern scripted_machine scripted;
extern const meter_kind scripted_kind;
extern const meter_time scripted_time;      /* the test's clock */
extern const meter_time scripted_real_time; /* yoke_clock_s */

void scripted_clear(void);
/* A usable meter "scripted:NAME" of 1e-6 J counts, period 1 ms, at most 1000 W; more is set in its domain. */
scripted_meter *scripted_add(const char *name, meter_quantity quantity);
scripted_meter *scripted_find(const char *name);
/* How often it was read so far. */
int scripted_reads(const scripted_meter *meter);
/* Opens a set of scripted meters; select may be NULL. */
yoke_status scripted_open(yoke_context *context, const char *select, meter_set **set);

#endif
