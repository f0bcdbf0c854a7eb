#include "estimate/mark.h"

#include <math.h>
#include <string.h>

/* Elements within this relative distance below the threshold are marked too. */
static const double closeness = 1e-4;
/* A sum that is smaller than the requested one by at most this fraction counts as reached, because other ranks add it in another order. */
static const double rounding = 1e-10;

/* Finds the largest indicator; fails if one is negative or not finite.  first: number of this rank's first element. */
static yoke_status check(yoke_context *context, int64_t first, int64_t count, const double *indicator, double *largest)
{
    double most = 0;
    for (int64_t e = 0; e < count; e++) {
        if (!(indicator[e] >= 0) || !isfinite(indicator[e]))
            return yoke_fail(
                context, YOKE_ERROR_NUMERIC,
                "the error indicator of element %lld is %g: the solution before it is not usable; check loads, moduli and supports",
                (long long)(first + e), indicator[e]);
        if (indicator[e] > most) most = indicator[e];
    }
    *largest = most;
    return YOKE_OK;
}

/* Nonnegative floating-point numbers have the same order as the integers with the same bits. */
static int64_t place_of(double number)
{
    int64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static double number_at(int64_t place)
{
    double number;
    memcpy(&number, &place, sizeof number);
    return number;
}

/* The indicators of all ranks, split at a value. */
typedef struct cut {
    double sum;          /* of squares, relative to the largest indicator, of those at or above the value */
    double above, below; /* the smallest of these, INFINITY: none; and the largest of the others, -1: none */
} cut;

static cut cut_at(app_ranks *ranks, int64_t count, const double *indicator, double largest, double at)
{
    cut c = {0, INFINITY, -1};
    for (int64_t e = 0; e < count; e++) {
        double x = indicator[e];
        if (x >= at) {
            c.sum += (x / largest) * (x / largest);
            c.above = x < c.above ? x : c.above;
        } else {
            c.below = x > c.below ? x : c.below;
        }
    }
    double most[2] = {-c.above, c.below};
    app_ranks_sum(ranks, &c.sum, 1);
    app_ranks_max(ranks, most, 2);
    return (cut){c.sum, -most[0], most[1]};
}

/* Finds the smallest indicator of the bulk by bisection between zero and the largest indicator, which is above zero. */
static double bulk_threshold(app_ranks *ranks, int64_t count, const double *indicator, double largest, double fraction)
{
    cut all = cut_at(ranks, count, indicator, largest, 0);
    /* The indicators from `member` on reach the requested sum; those from `high` on do not. */
    double sought = (1 - rounding) * fraction * all.sum, member = all.above + 0.0; /* + 0.0 turns -0 into 0 */
    int64_t low = place_of(member), high = place_of(largest) + 1;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        cut c = cut_at(ranks, count, indicator, largest, number_at(middle));
        if (c.sum >= sought) {
            member = c.above;
            low = place_of(member);
        } else {
            high = middle;
            if (c.below <= member) break; /* no indicator lies between */
        }
    }
    return member;
}

yoke_status fem_mark(yoke_context *context, app_ranks *ranks, int64_t count, const double *indicator, double fraction, uint8_t *mark,
                     int64_t *marked)
{
    if (count < 0 || !(fraction > 0) || !(fraction <= 1))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "marking needs a fraction above 0 and at most 1, not %g, and a count >= 0, not %lld",
                         fraction, (long long)count);
    double largest = 0;
    yoke_status status = app_ranks_agree(ranks, check(context, app_ranks_offset(ranks, count, NULL), count, indicator, &largest));
    if (status) return status;
    app_ranks_max(ranks, &largest, 1);
    double threshold = INFINITY;
    if (largest > 0) threshold = (1 - closeness) * bulk_threshold(ranks, count, indicator, largest, fraction);
    int64_t number = 0;
    for (int64_t e = 0; e < count; e++) {
        mark[e] = indicator[e] > 0 && indicator[e] >= threshold;
        number += mark[e];
    }
    app_ranks_offset(ranks, number, marked);
    return YOKE_OK;
}
