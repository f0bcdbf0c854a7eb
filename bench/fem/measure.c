#include "fem/measure.h"

#include <math.h>
#include <string.h>

#include "common/console/interrupt.h"
#include "common/console/numbers.h"

enum { MIN_BATCHES = 3, BATCHES_WANTED = 10 };
static const int64_t most_times = (int64_t)1 << 24; /* of a batch, if the clock does not advance */

double fem_bench_quantile(double *values, int64_t count, double q)
{
    app_sort(values, count);
    double position = q * (double)(count - 1);
    int64_t below = (int64_t)position;
    if (below >= count - 1) return values[count - 1];
    return values[below] + (position - (double)below) * (values[below + 1] - values[below]);
}

static yoke_status timed(yoke_context *context, fem_bench_work *work, void *user, int64_t times, double *seconds)
{
    yoke_status status = app_interrupt_check(context);
    double start_s = yoke_clock_s();
    if (!status) status = work(user, times);
    *seconds = yoke_clock_s() - start_s;
    return status;
}

yoke_status fem_bench_measure(yoke_context *context, double seconds, fem_bench_work *work, void *user, fem_bench_time *time)
{
    double batch[FEM_BENCH_MAX_BATCHES], took_s = 0;
    int64_t times = 1, batches = 0, all = 0;
    yoke_status status = timed(context, work, user, 1, &took_s);
    if (!status) status = timed(context, work, user, 1, &took_s);
    while (!status && took_s < seconds / BATCHES_WANTED && times < most_times) {
        times *= 2;
        status = timed(context, work, user, times, &took_s);
    }
    double start_s = yoke_clock_s();
    while (!status && batches < FEM_BENCH_MAX_BATCHES && (batches < MIN_BATCHES || yoke_clock_s() - start_s < seconds)) {
        status = timed(context, work, user, times, &took_s);
        batch[batches++] = took_s / (double)times;
        all += times;
    }
    if (status) return status;
    time->median_s = fem_bench_quantile(batch, batches, 0.5);
    time->quartile_low_s = fem_bench_quantile(batch, batches, 0.25);
    time->quartile_high_s = fem_bench_quantile(batch, batches, 0.75);
    time->batches = batches;
    time->times = all;
    return YOKE_OK;
}

yoke_status fem_bench_compare(yoke_context *context, const double *a, const double *b, int64_t count, fem_bench_difference *difference)
{
    double *values = NULL;
    yoke_status status = yoke_allocate(context, count, sizeof *values, &values);
    if (status) return status;
    memcpy(values, a, (size_t)count * sizeof *values);
    difference->median_a = fem_bench_quantile(values, count, 0.5);
    memcpy(values, b, (size_t)count * sizeof *values);
    difference->median_b = fem_bench_quantile(values, count, 0.5);
    for (int64_t i = 0; i < count; i++) values[i] = a[i] - b[i];
    difference->median = fem_bench_quantile(values, count, 0.5);
    for (int64_t i = 0; i < count; i++) values[i] = fabs(values[i] - difference->median);
    /*
     * For the normal distribution, 1.4826 times the median deviation is the standard deviation, and the standard error of the median is
     * sqrt(pi / 2) times that of the mean; 1.96 standard errors give the 95 % interval.
     */
    difference->uncertainty = count < 3 ? NAN : 1.96 * 1.2533 * 1.4826 * fem_bench_quantile(values, count, 0.5) / sqrt((double)count);
    difference->below_noise = !(fabs(difference->median) > difference->uncertainty);
    yoke_release(context, values);
    return YOKE_OK;
}
