/*
 * balancer.h - shares of devices that are measured round by round.  Part of yoke.h.
 */
#ifndef YOKE_BALANCER_H
#define YOKE_BALANCER_H

#include "yoke/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Door 1, for code of your own on your own devices: from the seconds that each device took, the balancer computes the next shares.
 *
 * In each round the caller works on units[i] units on device i and reports the seconds.  The balancer returns the units of the next round,
 * which may have another total.  Memory is allocated only at creation and in yoke_balancer_explain.  Totals are at most 2^53.
 * A balancer serves one thread at a time, and its context outlives it.
 */
typedef struct yoke_balancer yoke_balancer;

typedef enum yoke_balance_policy {
    YOKE_BALANCE_ADAPTIVE, /* functional performance models with noise (docs/methods/balance.md) */
    YOKE_BALANCE_PAPER,    /* constant models: Lang and Ruenger 2014, eq. 26, from the last round alone */
    YOKE_BALANCE_FIXED     /* always the initial shares */
} yoke_balance_policy;

typedef struct yoke_balancer_options {
    int64_t devices; /* 1 .. YOKE_BALANCER_MAX_DEVICES */
    yoke_balance_policy policy;
    const double *shares; /* [devices] initial shares, >= 0, sum 1 to 1e-9; NULL: equal */
    /* [devices] estimates of seconds per unit (from a store) with which to start instead of shares; NULL or NaNs: none. */
    const double *start_seconds_per_unit;
    const int64_t *max_units; /* [devices] units that fit on the device; NULL: no limit */
    int64_t rounds;           /* expected number of remaining rounds, to weigh the cost of a move; 0: unknown (then 10) */
    double calls_per_round;   /* calls per round: reported seconds are per call, data is moved once per round; 0: 1 */
    int keep_all;             /* nonzero: no device is dropped because its copies cost more than it saves */
} yoke_balancer_options;

/* Report of a device's work in a round.  NaN: not known. */
typedef struct yoke_share_report {
    int64_t units;
    double seconds; /* per call for the units that it had, at most 1e12; NaN (or 0) if it had none or nothing was measured */
    double moved_s; /* seconds to move data of `moved_units` units to the device; NaN: not known */
    int64_t moved_units;
    double calls;    /* number of calls in the round; NaN or 0: as in the options */
    double energy_j; /* stored and reported; NaN or 0: not metered */
} yoke_share_report;

enum { YOKE_BALANCER_MAX_DEVICES = 64 };

/* Errors: ARGUMENT (an option out of its range), MEMORY. */
YOKE_API yoke_status yoke_balancer_create(yoke_context *context, const yoke_balancer_options *options, yoke_balancer **balancer);
YOKE_API void yoke_balancer_destroy(yoke_balancer *balancer);
/*
 * Evaluates the reports [devices] of a round and decides the units [devices] of the next one, whose total is n (>= 0).  reports NULL:
 * returns the units of the first round, or repeats the latest decision for another total; the models do not change.
 * Errors: ARGUMENT (numbers out of range: nothing is changed; n larger than all limits together).
 */
YOKE_API yoke_status yoke_balancer_update(yoke_balancer *balancer, const yoke_share_report *reports, int64_t n, int64_t *units);
/* Limits the units of a device from now on; 0 removes it permanently (it failed).  Errors: ARGUMENT. */
YOKE_API yoke_status yoke_balancer_limit(yoke_balancer *balancer, int64_t device, int64_t max_units);
/*
 * One line on the latest decision: predicted and measured values, the reason, regret against the best share seen.  Freed with yoke_release.
 */
YOKE_API yoke_status yoke_balancer_explain(const yoke_balancer *balancer, char **text);

#ifdef __cplusplus
}
#endif

#endif
