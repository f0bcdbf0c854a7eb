/*
 * Chooses the sizes at which a device is measured: more of them where its speed differs from the interpolation between neighbouring sizes.
 */
#include <math.h>
#include <string.h>

#include "base/statistics.h"
#include "run/calibrate/calibrate.h"

/*
 * A size is added between two others if the interpolated time there may be off by more than well_known, or the ratio of the two exceeds
 * far_apart.
 */
static const double well_known = 0.01, far_apart = 30;
/* A bend between two sizes counts if it exceeds this number of standard errors of the times at its ends. */
static const double noise_allowed = 2;
/* A line through the middle of a fall of the speed is off by at most this part of the fall. */
static const double fall_part = 0.5;
/* The shortest time of a call that can be measured. */
static const double least_call_s = 1e-6;

/* Sizes that were measured, in ascending order. */
typedef struct size_list {
    int count;
    int64_t units[CALIBRATE_MAX_SIZES];
    double seconds[CALIBRATE_MAX_SIZES], error[CALIBRATE_MAX_SIZES]; /* error: relative, standard */
} size_list;

static int64_t between(int64_t a, int64_t b) { return (int64_t)llround(sqrt((double)a) * sqrt((double)b)); }

/* Time of the shortest of three calls: the first one may load code or data, and others may be disturbed. */
static yoke_status shortest_call(calibrating *c, int64_t units, double *seconds)
{
    *seconds = INFINITY;
    for (int i = 0; i < 3; i++) {
        double one_s = NAN;
        yoke_status status = run_calibrate_try(c, units, 1, &one_s);
        if (status != YOKE_OK) return status;
        if (!(one_s > 0) || !isfinite(one_s))
            return yoke_fail(c->run->context, YOKE_ERROR_NUMERIC, "%s: a trial of %lld units reported %g s; it must report a time above 0",
                             c->run->devices[c->device].info->name, (long long)units, one_s);
        *seconds = fmin(*seconds, one_s);
    }
    return YOKE_OK;
}

/* Finds how many units a call of the requested duration has, up to the largest allowed number. */
static yoke_status find_largest(calibrating *c)
{
    int64_t units = c->of->min_units, most = c->of->max_units;
    double seconds = INFINITY;
    yoke_status status = YOKE_OK;
    c->max_units = most;
    if (!(c->of->call_s > 0)) return status;
    status = run_calibrate_progress(c, c->device, "how much it does in %g ms", 1e3 * c->of->call_s);
    while (status == YOKE_OK) {
        status = shortest_call(c, units, &seconds);
        if (status != YOKE_OK || units >= most || seconds >= 0.5 * c->of->call_s) break;
        int64_t step = seconds < 0.02 * c->of->call_s ? 8 : 2;
        units = units > most / step ? most : step * units;
    }
    c->max_units = units;
    if (status != YOKE_OK || seconds >= least_call_s || units == c->of->min_units) return status;
    return yoke_fail(c->run->context, YOKE_ERROR_NUMERIC,
                     "%s: %lld units take %g s, which is too short to measure; let a unit be more work",
                     c->run->devices[c->device].info->name, (long long)units, seconds);
}

static yoke_status add_size(calibrating *c, size_list *sizes, int at, int64_t units)
{
    yoke_sample sample;
    yoke_status status = run_calibrate_measure(c, units, 1, &sample);
    if (status != YOKE_OK) return status;
    run_calibrate_keep(c, &sample);
    size_t behind = (size_t)(sizes->count - at);
    memmove(&sizes->units[at + 1], &sizes->units[at], behind * sizeof sizes->units[0]);
    memmove(&sizes->seconds[at + 1], &sizes->seconds[at], behind * sizeof sizes->seconds[0]);
    memmove(&sizes->error[at + 1], &sizes->error[at], behind * sizeof sizes->error[0]);
    sizes->units[at] = units;
    sizes->seconds[at] = sample.seconds;
    sizes->error[at] = isnan(sample.seconds_interval) ? 0 : 0.5 * sample.seconds_interval / sample.seconds;
    sizes->count++;
    return YOKE_OK;
}

/* How far the line through sizes a and b, at size k, is from the time there (relative).  *noise: how far noise may move it. */
static double continued(const size_list *sizes, int a, int b, int k, double *noise)
{
    double part = (double)(sizes->units[k] - sizes->units[a]) / (double)(sizes->units[b] - sizes->units[a]);
    double of_a = (1 - part) * sizes->seconds[a] / sizes->seconds[k], of_b = part * sizes->seconds[b] / sizes->seconds[k];
    *noise = noise_allowed * sqrt(of_a * of_a * sizes->error[a] * sizes->error[a] + of_b * of_b * sizes->error[b] * sizes->error[b] +
                                  sizes->error[k] * sizes->error[k]);
    return of_a + of_b - 1;
}

static double fall_of_speed(const size_list *sizes, int k)
{
    return log((double)sizes->units[k] / sizes->seconds[k] * sizes->seconds[k + 1] / (double)sizes->units[k + 1]);
}

/*
 * How far off the line between size k and the next one may be: as far as the lines of the neighbouring intervals, continued into this one,
 * miss its other end.  If one of them meets that end, the measurements show no bend in between.
 */
static double doubt(const size_list *sizes, int k)
{
    double before = INFINITY, after = INFINITY, noise;
    if (k > 0) {
        before = fabs(continued(sizes, k - 1, k, k + 1, &noise));
        before = before > noise ? before : 0;
    }
    if (k + 2 < sizes->count) {
        after = fabs(continued(sizes, k + 1, k + 2, k, &noise)) * sizes->seconds[k] / sizes->seconds[k + 1];
        after = after > noise * sizes->seconds[k] / sizes->seconds[k + 1] ? after : 0;
    }
    /* If the speed falls, it may fall anywhere between the two sizes. */
    double fall = fall_of_speed(sizes, k) - noise_allowed * hypot(sizes->error[k], sizes->error[k + 1]);
    return fmax(fmin(before, after), fall_part * fall);
}

/* Index of the size after which the next one is inserted; -1: all intervals are known well enough, or have no size in between. */
static int next_size(const size_list *sizes)
{
    double worst = 0;
    int found = -1;
    for (int k = 0; k + 1 < sizes->count; k++) {
        double width = log((double)sizes->units[k + 1] / (double)sizes->units[k]), off = fmin(doubt(sizes, k), 1);
        int64_t middle = between(sizes->units[k], sizes->units[k + 1]);
        double score = off + well_known * width;
        if (middle <= sizes->units[k] || middle >= sizes->units[k + 1] || !(score > worst)) continue;
        if (off < well_known && width < log(far_apart)) continue;
        worst = score;
        found = k;
    }
    return found;
}

/* Index of the size after which the speed falls most, of those that are not taken yet; -1: none. */
static int steepest(const size_list *sizes, const int *taken)
{
    double most = 0;
    int found = -1;
    for (int k = 0; k + 1 < sizes->count; k++) {
        double fall = fall_of_speed(sizes, k);
        if (taken[k] || !(fall > most) || sizes->units[k + 1] < sizes->units[k] + 2) continue;
        most = fall;
        found = k;
    }
    return found;
}

/* Chooses sizes that were not measured: where the speed falls most, and evenly between the ends.  Returns their number. */
static int choose_held_out(const calibrating *c, const size_list *sizes, int64_t units[CALIBRATE_HELD_OUT])
{
    enum { STEEP = 2 };
    const double from = log((double)c->of->min_units), to = log((double)c->max_units);
    int taken[CALIBRATE_MAX_SIZES] = {0}, count = 0;
    for (int k = 0; k < CALIBRATE_HELD_OUT && to > from; k++) {
        int at = k < STEEP ? steepest(sizes, taken) : -1;
        if (at >= 0) taken[at] = 1;
        units[count] = at >= 0 ? between(sizes->units[at], sizes->units[at + 1])
                               : (int64_t)llround(exp(from + (to - from) * (k + 0.6) / (CALIBRATE_HELD_OUT + 0.2)));
        int known = 0;
        for (int i = 0; i < sizes->count; i++) known |= sizes->units[i] == units[count];
        for (int i = 0; i < count; i++) known |= units[i] == units[count];
        count += !known;
    }
    return count;
}

/* Measures the sizes that are held out.  All of them are predicted before the first one is measured. */
static yoke_status hold_out(calibrating *c, const size_list *sizes)
{
    run_calibrated *found = c->found;
    int64_t units[CALIBRATE_HELD_OUT];
    const int count = choose_held_out(c, sizes, units);
    yoke_status status = YOKE_OK;
    for (int k = 0; k < count; k++) {
        double relative, seconds = run_seconds(c->run, c->work, c->device, c->level, 0, (double)units[k], &relative);
        found->held_out[k] = (yoke_run_held_out){.predicted_s = seconds, .predicted_interval_s = seconds * relative};
    }
    for (int k = 0; k < count && status == YOKE_OK; k++) {
        status = run_calibrate_measure(c, units[k], 1, &found->held_out[k].sample);
        if (status == YOKE_OK) found->accuracy.num_held_out++;
    }
    return status;
}

static void judge(run_calibrated *found)
{
    double errors[CALIBRATE_HELD_OUT];
    yoke_run_accuracy *accuracy = &found->accuracy;
    const int64_t count = accuracy->num_held_out;
    int inside = 0;
    for (int64_t k = 0; k < count; k++) {
        const yoke_run_held_out *one = &found->held_out[k];
        const double off = fabs(one->predicted_s - one->sample.seconds);
        const double interval = isnan(one->sample.seconds_interval) ? 0 : one->sample.seconds_interval;
        errors[k] = off / one->sample.seconds;
        inside += off <= hypot(one->predicted_interval_s, interval);
    }
    if (count == 0) return;
    statistics_sort(errors, count);
    accuracy->median_error = statistics_median(errors, count);
    accuracy->max_error = errors[count - 1];
    accuracy->coverage = (double)inside / (double)count;
}

yoke_status run_calibrate_sizes(calibrating *c)
{
    const int most = c->of->sizes > 0 ? (int)c->of->sizes : CALIBRATE_MAX_SIZES;
    size_list sizes = {.count = 0};
    yoke_status status = find_largest(c);
    c->found->accuracy.max_units = c->max_units;
    if (status == YOKE_OK) status = add_size(c, &sizes, 0, c->max_units);
    if (status == YOKE_OK && c->of->min_units < c->max_units) status = add_size(c, &sizes, 0, c->of->min_units);
    while (status == YOKE_OK && sizes.count < most) {
        int at = next_size(&sizes);
        if (at < 0) break;
        status = add_size(c, &sizes, at + 1, between(sizes.units[at], sizes.units[at + 1]));
    }
    if (status == YOKE_OK && !c->of->brief) status = hold_out(c, &sizes);
    judge(c->found);
    return status;
}
