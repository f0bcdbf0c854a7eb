#include "estimate/mark.h"

#include <math.h>
#include <stdlib.h>

/* Elements this close below the threshold are marked too. */
static const double closeness = 1e-4;

static int descending(const void *a, const void *b)
{
    double p = *(const double *)a, q = *(const double *)b;
    return (p < q) - (p > q);
}

/* Largest indicator; fails where one is not a size. */
static yoke_status check(yoke_context *context, int64_t count, const double *indicator, double *largest)
{
    double most = 0;
    for (int64_t e = 0; e < count; e++) {
        if (!(indicator[e] >= 0) || !isfinite(indicator[e]))
            return yoke_fail(
                context, YOKE_ERROR_NUMERIC,
                "the error indicator of element %lld is %g: the solution before it is not usable; check loads, moduli and supports",
                (long long)e, indicator[e]);
        if (indicator[e] > most) most = indicator[e];
    }
    *largest = most;
    return YOKE_OK;
}

/* The smallest member of the bulk.  sorted is descending, not all zero; squares are relative to the largest, so that none overflows. */
static double bulk_threshold(int64_t count, const double *sorted, double fraction)
{
    double total = 0, sum = 0;
    for (int64_t i = 0; i < count; i++) total += (sorted[i] / sorted[0]) * (sorted[i] / sorted[0]);
    int64_t last = 0;
    for (; last < count; last++) {
        sum += (sorted[last] / sorted[0]) * (sorted[last] / sorted[0]);
        if (sum >= fraction * total) break;
    }
    return sorted[last];
}

yoke_status fem_mark(yoke_context *context, int64_t count, const double *indicator, double fraction, uint8_t *mark, int64_t *marked)
{
    if (count < 0 || !(fraction > 0) || !(fraction <= 1))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "marking needs a fraction above 0 and at most 1, not %g, and a count >= 0, not %lld",
                         fraction, (long long)count);
    double largest = 0;
    yoke_status status = check(context, count, indicator, &largest);
    if (status) return status;
    double threshold = INFINITY;
    if (largest > 0) {
        double *sorted;
        status = yoke_allocate_untouched(context, count, sizeof *sorted, &sorted);
        if (status) return status;
        for (int64_t e = 0; e < count; e++) sorted[e] = indicator[e];
        qsort(sorted, (size_t)count, sizeof *sorted, descending);
        threshold = (1 - closeness) * bulk_threshold(count, sorted, fraction);
        yoke_release(context, sorted);
    }
    int64_t number = 0;
    for (int64_t e = 0; e < count; e++) {
        mark[e] = indicator[e] > 0 && indicator[e] >= threshold;
        number += mark[e];
    }
    *marked = number;
    return YOKE_OK;
}
