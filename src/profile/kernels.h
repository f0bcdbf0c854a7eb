/*
 * kernels.h - which power each of several kernels draws, from readings between which they ran for different parts of the time.  Arithmetic only.
 *
 * A reading is a linear function of what the device draws without any kernel and of what each kernel draws above that: the times of all calls are known.
 * Kernels that the readings cannot tell apart have one power, as far as they can: each kernel's is that of all plus a difference, of which half of that power
 * is expected before anything is known (docs/methods/profile.md).
 */
#ifndef YOKE_PROFILE_KERNELS_H
#define YOKE_PROFILE_KERNELS_H

#include "profile/arithmetic.h"

/* Readings that follow each other go to one block, since one begins where the one before ends. */
enum { PROFILE_MAX_KERNELS = 64, PROFILE_KERNEL_BLOCKS = 12, PROFILE_BLOCK_READINGS = 2 };
enum { PROFILE_MIN_READINGS = PROFILE_KERNEL_BLOCKS * PROFILE_BLOCK_READINGS };

typedef struct profile_call {
    double start_s, end_s;
    int kernel;
    int continues; /* nonzero: part of the call before, after an interruption */
} profile_call;

typedef struct profile_kernels {
    yoke_context *context;
    profile_unfold blocks[PROFILE_KERNEL_BLOCKS]; /* readings, in turns, so that their scatter tells the uncertainty */
    int64_t readings;
    profile_call *calls; /* that readings to come may show, in the order in which they were told */
    int64_t count, capacity, forgotten;
    double calls_of[PROFILE_MAX_KERNELS], seconds_of[PROFILE_MAX_KERNELS]; /* all that were told */
    double sum_w, sum_weight;                                              /* of readings: their mean power */
} profile_kernels;

/* Errors: MEMORY. */
yoke_status profile_kernels_start(yoke_context *context, profile_kernels *kernels);
void profile_kernels_end(profile_kernels *kernels);
/* A call of kernel 0 <= k < PROFILE_MAX_KERNELS.  Errors: MEMORY, ARGUMENT (a million calls show at once). */
yoke_status profile_kernels_call(profile_kernels *kernels, const profile_call *call);
/* No reading to come shows what ended before. */
void profile_kernels_forget(profile_kernels *kernels, double before_s);
/* The mean power from one time to another was so much; error_w: its standard deviation, > 0. */
void profile_kernels_add_mean(profile_kernels *kernels, double from_s, double until_s, double watts, double error_w);

/* Of one call, or, of what there is without any kernel, of one second.  NaN: not known. */
typedef struct profile_joules {
    double calls, call_s;       /* that were told, and their mean */
    double energy_j, dynamic_j; /* all power from begin to end; what is above that without kernels */
    double uncertainty_j;       /* of energy_j, 95 %, against what the meter shows on the average */
} profile_joules;

/*
 * joules [PROFILE_MAX_KERNELS + 1], the last one without any kernel.  Kernels that took no time have no energy.
 * Errors: MEMORY, UNAVAILABLE (too few readings: how many there are, and how many are needed), NUMERIC (the readings do not determine anything).
 */
yoke_status profile_kernels_solve(const profile_kernels *kernels, profile_joules *joules);

#endif
