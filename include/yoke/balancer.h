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
 * Door 1: "I run my own code on my own devices.  Here are n units and what each device took; tell me the next shares."
 *
 * Each round the caller works on units[i] units on device i and reports the seconds; the balancer answers with the units of the next round,
 * which may have another total.  No memory is allocated after creation but in yoke_balancer_explain.  Totals are at most 2^53.
 * A balancer serves one thread at a time, and its context outlives it.
 */
typedef struct yoke_balancer yoke_balancer;

typedef enum yoke_balance_policy {
    YOKE_BALANCE_ADAPTIVE, /* functional performance models that know about noise (docs/methods/balance.md) */
    YOKE_BALANCE_PAPER,    /* constant models: Lang and Ruenger 2014, eq. 26, from the last round alone */
    YOKE_BALANCE_FIXED     /* the initial shares for ever */
} yoke_balance_policy;

typedef struct yoke_balancer_options {
    int64_t devices; /* 1 .. YOKE_BALANCER_MAX_DEVICES */
    yoke_balance_policy policy;
    const double *shares; /* [devices] initial shares, >= 0, sum 1 to 1e-9; NULL: equal */
    const double *
        start_seconds_per_unit; /* [devices] a guess of seconds per unit to start from instead of shares (from a store); NULL or NaNs: none */
    const int64_t *max_units;   /* [devices] units that fit on the device; NULL: no limit */
    int64_t rounds;             /* how many rounds are likely still to come, for weighing a move's cost; 0: unknown (then 10) */
    double calls_per_round;     /* products per round: seconds reported are per call, data is moved once per round; 0: 1 */
    int keep_all;               /* nonzero: no device is dropped because it does not pay */
} yoke_balancer_options;

/* What device i did in a round.  NaN: not known. */
typedef struct yoke_share_report {
    int64_t units;
    double seconds; /* per call for the units it had, at most 1e12; NaN (or 0) if it had none or nothing was measured */
    double moved_s; /* seconds that moving data of `moved_units` units to the device took; NaN: not known */
    int64_t moved_units;
    double calls;    /* that the round had; NaN or 0: as in the options */
    double energy_j; /* kept and reported; NaN or 0: not metered */
} yoke_share_report;

enum { YOKE_BALANCER_MAX_DEVICES = 64 };

/* Errors: ARGUMENT (each option out of its range), MEMORY. */
YOKE_API yoke_status yoke_balancer_create(yoke_context *context, const yoke_balancer_options *options, yoke_balancer **balancer);
YOKE_API void yoke_balancer_destroy(yoke_balancer *balancer);
/*
 * Takes the reports [devices] of a round and decides the units [devices] of the next one, whose total is n (>= 0).  reports NULL: the units of the first
 * round, or again those of the latest decision for another total; nothing is learned.
 * Errors: ARGUMENT (negative or absurd numbers: nothing is changed; n more than fits).
 */
YOKE_API yoke_status yoke_balancer_update(yoke_balancer *balancer, const yoke_share_report *reports, int64_t n, int64_t *units);
/* Device `device` can take at most so many units from now on; 0 takes it out (it failed) for good.  Errors: ARGUMENT. */
YOKE_API yoke_status yoke_balancer_limit(yoke_balancer *balancer, int64_t device, int64_t max_units);
/* One line on the latest decision: predicted and measured, why, regret against the best share seen.  Given back with yoke_release. */
YOKE_API yoke_status yoke_balancer_explain(const yoke_balancer *balancer, char **text);

#ifdef __cplusplus
}
#endif

#endif
