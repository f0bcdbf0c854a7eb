#include "profile/sensor.h"

#include <math.h>
#include <stdbool.h>

#include "base/statistics.h"
const double sensor_sync_s = 0.2;

/* Times of updates of real sensors are not more exact than this. */
static const double least_error_s = 3e-6;

/* --------------------------------------------------------------------------------------- following power */

double sensor_response(const yoke_sensor *sensor, double since_s)
{
    double s = since_s - sensor->delay_s, window = sensor->window_s;
    if (s < 0) return 0;
    switch (sensor->shape) {
    case YOKE_SENSOR_HALVES:
        return s < window ? 0.5 : 1;
    case YOKE_SENSOR_LOW_PASS:
        return window > 0 ? -expm1(-s / window) : 1;
    case YOKE_SENSOR_MEAN:
        break;
    }
    return s < window ? s / window : 1;
}

double sensor_settle_s(const yoke_sensor *sensor)
{
    return sensor->delay_s + (sensor->shape == YOKE_SENSOR_LOW_PASS ? 10 * sensor->window_s : sensor->window_s);
}

double sensor_quantum(const double *watts, int64_t count)
{
    for (int power = 0; power <= 3; power++) {
        double quantum = pow(10, -power);
        int64_t i = 0;
        /* The remainder of a multiple is rounding: less than 1e-6 of a step for all powers that occur. */
        while (i < count && fabs(watts[i] / quantum - round(watts[i] / quantum)) < 1e-6) i++;
        if (i == count && count > 0) return quantum;
    }
    return 0;
}

/* -------------------------------------------------------------------------------------------- its updates */

double sensor_clock_last(const sensor_clock *clock, double time_s)
{
    return clock->sync_s + floor((time_s - clock->sync_s) / clock->period_s) * clock->period_s;
}

double sensor_clock_next(const sensor_clock *clock, double time_s)
{
    return clock->sync_s + (floor((time_s - clock->sync_s) / clock->period_s) + 1) * clock->period_s;
}

double sensor_clock_error(const sensor_clock *clock, double time_s)
{
    return hypot(clock->error_s, clock->drift * (time_s - clock->sync_s));
}

static double middle_of(const sensor_change *change) { return 0.5 * (change->after_s + change->until_s); }

/* Standard deviation of an update's time that is only known to lie in an interval. */
static double error_of(const sensor_change *change) { return hypot((change->until_s - change->after_s) / sqrt(12), least_error_s); }

void sensor_clock_saw(sensor_clock *clock, sensor_change change)
{
    double seen = middle_of(&change), seen_error = error_of(&change);
    double periods = round((seen - clock->sync_s) / clock->period_s);
    if (!(periods >= 1)) return; /* seen before, or not a number */
    double expected = clock->sync_s + periods * clock->period_s, expected_error = sensor_clock_error(clock, expected);
    double gain = expected_error * expected_error / (expected_error * expected_error + seen_error * seen_error);
    double off = seen - expected;
    clock->sync_s = expected + gain * off;
    /* An update that is far off shows that the clock is less accurate than assumed. */
    clock->error_s = fmax(least_error_s, sqrt(gain) * seen_error + (fabs(off) > 4 * hypot(expected_error, seen_error) ? fabs(off) : 0));
    clock->period_s += 0.1 * gain * off / periods;
}

/* A change that is kept (1) or left out (0), and its update's number. */
typedef struct numbered {
    double number, kept, off_s;
} numbered;

/*
 * Fits a line to the middles of changes over the numbers of updates, by weighted least squares; *residual: root of the weighted mean
 * square.
 */
static bool fit_line(const sensor_change *changes, int64_t count, numbered *list, sensor_clock *clock, double *residual)
{
    double sum = 0, sum_n = 0, sum_t = 0, nn = 0, nt = 0, rest = 0, origin = middle_of(&changes[0]);
    for (int64_t i = 0; i < count; i++) {
        double weight = list[i].kept * pow(error_of(&changes[i]), -2);
        sum += weight;
        sum_n += weight * list[i].number;
        sum_t += weight * (middle_of(&changes[i]) - origin);
    }
    for (int64_t i = 0; i < count; i++) {
        double weight = list[i].kept * pow(error_of(&changes[i]), -2), n = list[i].number - sum_n / sum;
        nn += weight * n * n;
        nt += weight * n * (middle_of(&changes[i]) - origin - sum_t / sum);
    }
    if (!(nn > 0)) return false;
    clock->period_s = nt / nn;
    double start = origin + sum_t / sum - clock->period_s * sum_n / sum;
    for (int64_t i = 0; i < count; i++) {
        list[i].off_s = middle_of(&changes[i]) - start - clock->period_s * list[i].number;
        rest += list[i].kept * pow(list[i].off_s / error_of(&changes[i]), 2);
    }
    clock->sync_s = start + clock->period_s * list[count - 1].number;
    *residual = sqrt(rest / sum);
    return clock->period_s > 0;
}

/* Numbers the changes by an approximate period, which becomes more accurate with the length of the interval. */
static void number_changes(const sensor_change *changes, int64_t count, double period, numbered *list)
{
    list[0] = (numbered){.kept = 1};
    for (int64_t i = 1; i < count; i++) {
        double interval = middle_of(&changes[i]) - middle_of(&changes[i - 1]);
        list[i] = (numbered){.number = list[i - 1].number + round(interval / period), .kept = 1};
        if (list[i].number > 8) period = (middle_of(&changes[i]) - middle_of(&changes[0])) / list[i].number;
    }
}

/* Leaves out the updates that are farthest off: a fifth of them may come late. */
static void leave_out(int64_t count, numbered *list, double *sorted)
{
    for (int64_t i = 0; i < count; i++) sorted[i] = fabs(list[i].off_s);
    statistics_sort(sorted, count);
    double most = fmax(4 * sorted[count / 2], sorted[count - 1 - count / 5]);
    for (int64_t i = 0; i < count; i++) list[i].kept = fabs(list[i].off_s) <= most;
}

/* Whether the changes lie on a grid of about this period. */
static bool try_period(const sensor_change *changes, int64_t count, double period, double bracket, numbered *list, double *sorted,
                       sensor_clock *clock)
{
    double residual = 0;
    if (!(period > 2 * bracket)) return false;
    for (int pass = 0; pass < 3; pass++) {
        number_changes(changes, count, period, list);
        if (!fit_line(changes, count, list, clock, &residual)) return false;
        leave_out(count, list, sorted);
        if (!fit_line(changes, count, list, clock, &residual)) return false;
        period = clock->period_s;
    }
    clock->error_s = fmax(least_error_s, residual);
    clock->drift = 1e-4;
    return residual < fmax(bracket, 0.03 * period);
}

yoke_status sensor_fit_period(yoke_context *context, const sensor_change *changes, int64_t count, sensor_clock *clock)
{
    void *memory = NULL;
    if (count < SENSOR_MIN_CHANGES)
        return yoke_fail(context, YOKE_ERROR_UNAVAILABLE,
                         "the sensor's reading changed only %lld times while the load was switched on and off; take another sensor",
                         (long long)count);
    yoke_status status = yoke_allocate(context, count, sizeof(numbered) + sizeof(double), &memory);
    if (status) return status;
    numbered *list = memory;
    double *sorted = (double *)(list + count);
    for (int64_t i = 1; i < count; i++) sorted[i - 1] = changes[i].until_s - changes[i].after_s;
    statistics_sort(sorted, count - 1);
    double bracket = sorted[(count - 1) / 2];
    for (int64_t i = 1; i < count; i++) sorted[i - 1] = middle_of(&changes[i]) - middle_of(&changes[i - 1]);
    statistics_sort(sorted, count - 1);
    /* A short interval is a period, unless updates come late, or a multiple of it if many updates do not change the reading. */
    const double intervals[] = {sorted[count / 32], sorted[count / 6], sorted[count / 2]};
    sensor_clock found = {0}, candidate = {0};
    for (int k = 0; k < 24; k++) /* the longest period that fits, as its fractions fit, too */
        if (try_period(changes, count, intervals[k / 8] / (k % 8 + 1), bracket, list, sorted, &candidate) &&
            candidate.period_s > found.period_s)
            found = candidate;
    yoke_release(context, memory);
    if (!(found.period_s > 0))
        return yoke_fail(
            context, YOKE_ERROR_UNAVAILABLE,
            "the sensor's updates have no common period: half of the intervals between %lld of them are shorter than %.3g ms (read every "
            "%.3g ms); try again when no other program runs",
            (long long)count, 1e3 * intervals[2], 1e3 * bracket);
    *clock = found;
    return YOKE_OK;
}
