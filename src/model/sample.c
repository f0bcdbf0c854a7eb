#include "model/sample.h"

#include <math.h>

#include "base/statistics.h"

/*
 * MAX_REJECTED: at most every third call is rejected.  FEW: with fewer calls the distances among them do not show which one is an outlier:
 * rejecting the farthest of three leaves two that agree by chance.
 */
enum { FEW = 7, MAX_REJECTED = 3, MAX_CALLS = 1 << 20 };

typedef struct measuring {
    yoke_measure_options options;
    int64_t calls;
    double *seconds, *joules; /* [options.max_calls], in order of measurement */
    double *kept, *scratch;   /* [options.max_calls] */
    double spent_s;
    int64_t again; /* number of calls at which a narrow interval is checked again; 0: it was not narrow */
} measuring;

/* Seconds outside *low to *high are outliers: more than 3.5 robust standard deviations from the median.  Returns their number. */
static int64_t find_outliers(measuring *m, double *low, double *high)
{
    *low = 0;
    *high = INFINITY;
    if (m->calls < FEW) return 0;
    for (int64_t i = 0; i < m->calls; i++) m->kept[i] = m->seconds[i];
    statistics_sort(m->kept, m->calls);
    double centre = statistics_median(m->kept, m->calls);
    double reach = 3.5 * statistics_robust_deviation(m->kept, m->calls, centre, m->scratch);
    int64_t first = 0, last = m->calls;                  /* range of those kept, in ascending order */
    if (!(reach > 1e-9 * centre)) reach = 1e-9 * centre; /* half of the calls took exactly the same time, as with a virtual clock */
    while (m->calls - (last - first) < m->calls / MAX_REJECTED) {
        double below = centre - m->kept[first], above = m->kept[last - 1] - centre;
        if (below <= reach && above <= reach) break;
        if (above >= below)
            last--;
        else
            first++;
    }
    *low = m->kept[first];
    *high = m->kept[last - 1];
    return m->calls - (last - first);
}

/* Mean and half width of its 95 % interval; NaN if there are too few values. */
static void estimate(const double *values, int64_t count, double *mean, double *interval)
{
    double deviation = NAN;
    *mean = *interval = NAN;
    if (count > 0) statistics_moments(values, count, mean, &deviation);
    if (count > 1) *interval = statistics_student_95((double)(count - 1)) * deviation / sqrt((double)count);
}

static void summarise(measuring *m, yoke_sample *sample)
{
    double low, high;
    int64_t kept = 0;
    find_outliers(m, &low, &high);
    for (int64_t i = 0; i < m->calls; i++)
        if (m->seconds[i] >= low && m->seconds[i] <= high) m->kept[kept++] = m->seconds[i];
    estimate(m->kept, kept, &sample->seconds, &sample->seconds_interval);
    sample->repeats = kept;
    sample->rejected = m->calls - kept;
    kept = 0;
    for (int64_t i = 0; i < m->calls; i++)
        if (m->seconds[i] >= low && m->seconds[i] <= high && !isnan(m->joules[i])) m->kept[kept++] = m->joules[i];
    estimate(m->kept, kept, &sample->joules, &sample->joules_interval);
}

static yoke_status check(yoke_context *context, const yoke_measure_options *options, yoke_measure_options *checked)
{
    *checked = options != NULL ? *options : (yoke_measure_options){0};
    if (isnan(checked->relative) || checked->relative < 0 || isnan(checked->budget_s) || checked->budget_s < 0)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_measure: relative = %g and budget_s = %g must be 0 or more", checked->relative,
                         checked->budget_s);
    if (checked->min_calls < 0 || checked->max_calls < 0 || checked->max_calls > MAX_CALLS)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_measure: min_calls = %lld and max_calls = %lld must be from 0 to %d",
                         (long long)checked->min_calls, (long long)checked->max_calls, MAX_CALLS);
    if (checked->relative <= 0) checked->relative = 0.025;
    if (checked->budget_s <= 0) checked->budget_s = 1;
    if (checked->min_calls == 0) checked->min_calls = 3;
    if (checked->max_calls == 0) checked->max_calls = 1000;
    if (checked->min_calls <= checked->max_calls) return YOKE_OK;
    if (options->min_calls > 0 && options->max_calls > 0)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_measure: min_calls = %lld is more than max_calls = %lld",
                         (long long)checked->min_calls, (long long)checked->max_calls);
    if (options->min_calls > 0)
        checked->max_calls = checked->min_calls;
    else
        checked->min_calls = checked->max_calls;
    return YOKE_OK;
}

static yoke_status call_once(yoke_context *context, yoke_measured_call *call, void *user, measuring *m)
{
    double seconds = NAN, joules = NAN;
    yoke_status status = call(user, &seconds, &joules);
    if (status != YOKE_OK) return status;
    if (!isfinite(seconds) || seconds <= 0)
        return yoke_fail(context, YOKE_ERROR_NUMERIC, "call %lld of what is measured took %g s; make one call long enough for its clock",
                         (long long)m->calls + 1, seconds);
    m->seconds[m->calls] = seconds;
    m->joules[m->calls++] = isfinite(joules) ? joules : (double)NAN;
    m->spent_s += seconds;
    return YOKE_OK;
}

/*
 * Nonzero: the interval is narrow enough.  With many calls it is checked less often, because the check itself takes time.  A measurement
 * that stops as soon as its interval is narrow favours intervals that are narrow by chance.  Therefore it must still be narrow half as many
 * calls later (or be much narrower), which preserves the 95 % (tests/model/sample.c measures them).
 */
static int is_known(measuring *m, yoke_sample *sample)
{
    if (m->calls < m->options.min_calls || m->calls < m->again || m->calls % (1 + m->calls / 32) != 0) return 0;
    summarise(m, sample);
    double allowed = m->options.relative * sample->seconds;
    if (sample->seconds_interval > allowed) {
        m->again = 0;
        return 0;
    }
    if (m->again > 0 || sample->seconds_interval <= 0.1 * allowed) return 1;
    m->again = m->calls + (m->calls + 1) / 2;
    return 0;
}

yoke_status yoke_measure(yoke_context *context, yoke_measured_call *call, void *user, const yoke_measure_options *options,
                         yoke_sample *sample)
{
    measuring m = {.calls = 0};
    void *memory = NULL;
    if (context == NULL || call == NULL || sample == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_measure: %s is NULL",
                         context == NULL ? "context"
                         : call == NULL  ? "call"
                                         : "sample");
    yoke_status status = check(context, options, &m.options);
    if (status == YOKE_OK) status = yoke_allocate(context, 4 * m.options.max_calls, sizeof(double), &memory);
    if (status != YOKE_OK) return status;
    m.seconds = memory;
    m.joules = m.seconds + m.options.max_calls;
    m.kept = m.joules + m.options.max_calls;
    m.scratch = m.kept + m.options.max_calls;
    yoke_sample measured = *sample;
    do {
        status = call_once(context, call, user, &m);
    } while (status == YOKE_OK && m.calls < m.options.max_calls && m.spent_s < m.options.budget_s && !is_known(&m, &measured));
    if (status == YOKE_OK) {
        summarise(&m, &measured);
        *sample = measured;
    }
    yoke_release(context, memory);
    return status;
}
