/*
 * balancer.h - what the tests of the balancer share: devices with known seconds, and rounds on them.
 */
#ifndef BALANCE_BALANCER_H
#define BALANCE_BALANCER_H

#include <math.h>

#include "unit.h"
#include "yoke/yoke.h"

static inline int start_context(void **state)
{
    yoke_context *context = NULL;
    if (yoke_context_create(NULL, &context) != YOKE_OK) return -1;
    *state = context;
    return 0;
}

static inline int stop_context(void **state)
{
    yoke_context_destroy(*state);
    return 0;
}

/* A report of units and seconds, and nothing else known. */
static inline yoke_share_report report(int64_t units, double seconds)
{
    return (yoke_share_report){.units = units, .seconds = seconds, .moved_s = NAN, .energy_j = NAN};
}

static inline yoke_balancer *make_balancer(void *context, const yoke_balancer_options *options)
{
    yoke_balancer *balancer = NULL;
    assert_int_equal(yoke_balancer_create(context, options, &balancer), YOKE_OK);
    assert_non_null(balancer);
    return balancer;
}

/* One round: device i takes start[i] (0 if NULL) + units * rate[i] seconds.  Units are replaced by those of the next round. */
static inline void do_round(yoke_balancer *balancer, int devices, const double *start, const double *rate, int64_t n, int64_t *units)
{
    yoke_share_report reports[YOKE_BALANCER_MAX_DEVICES] = {{0}};
    for (int i = 0; i < devices; i++)
        reports[i] = report(units[i], units[i] > 0 ? (start ? start[i] : 0) + (double)units[i] * rate[i] : NAN);
    assert_int_equal(yoke_balancer_update(balancer, reports, n, units), YOKE_OK);
    int64_t sum = 0;
    for (int i = 0; i < devices; i++) {
        assert_true(units[i] >= 0);
        sum += units[i];
    }
    assert_int_equal(sum, n);
}

#endif
