/*
 * kernels.h - the power of each of several kernels, from readings between which they ran for different parts of the time.  Arithmetic only.
 *
 * A reading is a linear function of the power of the device without any kernel and of the additional power of each kernel: the times of
 * all calls are known.  Kernels that the readings cannot distinguish have the same power, as far as the data permit: the power of each
 * kernel is that of all plus a difference, whose expected size beforehand is half of that power (docs/methods/profile.md).
 */
#ifndef YOKE_PROFILE_KERNELS_H
#define YOKE_PROFILE_KERNELS_H

#include "profile/arithmetic.h"

/* Successive readings are added to the same block, since each begins where the previous one ends. */
enum { PROFILE_MAX_KERNELS = 64, PROFILE_KERNEL_BLOCKS = 12, PROFILE_BLOCK_READINGS = 2 };
enum { PROFILE_MIN_READINGS = PROFILE_KERNEL_BLOCKS * PROFILE_BLOCK_READINGS };

typedef struct profile_call {
    double start_s, end_s;
    int kernel;
    int continues; /* nonzero: part of the previous call, after an interruption */
} profile_call;

typedef struct profile_kernels {
    yoke_context *context;
    profile_unfold blocks[PROFILE_KERNEL_BLOCKS]; /* readings, in alternating blocks, so that their scatter shows the uncertainty */
    int64_t readings;
    profile_call *calls; /* calls that later readings may show, in the order in which they were reported */
    int64_t count, capacity, forgotten;
    double calls_of[PROFILE_MAX_KERNELS], seconds_of[PROFILE_MAX_KERNELS]; /* of all reported calls */
    double sum_w, sum_weight;                                              /* of readings: their mean power */
} profile_kernels;

/* Errors: MEMORY. */
yoke_status profile_kernels_start(yoke_context *context, profile_kernels *kernels);
void profile_kernels_end(profile_kernels *kernels);
/* Adds a call of kernel 0 <= k < PROFILE_MAX_KERNELS.  Errors: MEMORY, ARGUMENT (a million calls show at once). */
yoke_status profile_kernels_call(profile_kernels *kernels, const profile_call *call);
/* No later reading shows calls that ended before this time. */
void profile_kernels_forget(profile_kernels *kernels, double before_s);
/* Adds a reading: the mean power from one time to another; error_w: its standard deviation, > 0. */
void profile_kernels_add_mean(profile_kernels *kernels, double from_s, double until_s, double watts, double error_w);

/* Result for one call, or, without any kernel, for one second.  NaN: not known. */
typedef struct profile_joules {
    double calls, call_s;       /* number of reported calls, and their mean duration */
    double energy_j, dynamic_j; /* all energy from start to end; the part above the power without kernels */
    double uncertainty_j;       /* of energy_j, 95 %, relative to the meter's mean readings */
} profile_joules;

/*
 * Solves for the energies: joules [PROFILE_MAX_KERNELS + 1], the last one without any kernel.  Kernels that took no time have no energy.
 * Errors: MEMORY, UNAVAILABLE (too few readings: how many there are, and how many are needed), NUMERIC (the readings do not determine
 * anything).
 */
yoke_status profile_kernels_solve(const profile_kernels *kernels, profile_joules *joules);

#endif
