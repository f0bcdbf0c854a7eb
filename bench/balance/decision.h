/* decision.h - the time of a decision of the balancer. */
#ifndef BENCH_BALANCE_DECISION_H
#define BENCH_BALANCE_DECISION_H

#include "yoke/yoke.h"

enum { DECISION_DEVICES = 8 };

/* Median seconds of an update for 8 devices with 1 % noise, over sets of 30 rounds including the first.  Errors: MEMORY. */
yoke_status decision_seconds(yoke_context *context, uint64_t seed, double *median);

#endif
