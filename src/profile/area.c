/* The area under points with noise, by the trapezoid rule. */
#include "profile/arithmetic.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/statistics.h"

static int by_time(const void *left, const void *right)
{
    double a = ((const profile_sample *)left)->since_s, b = ((const profile_sample *)right)->since_s;
    return (a > b) - (a < b);
}

void profile_sort(profile_sample *samples, int64_t count) { qsort(samples, (size_t)count, sizeof *samples, by_time); }

/* Below two degrees of freedom the factor depends more on the count than on the data. */
double profile_student(double freedom) { return statistics_student_95(fmax(freedom, 2)); }

/* How far sample i is from the line between its neighbours, scaled so that its noise is that of one sample. */
static double off_line(const profile_sample *s, int64_t i)
{
    double span = s[i + 1].since_s - s[i - 1].since_s, part = span > 0 ? (s[i].since_s - s[i - 1].since_s) / span : 0.5;
    double off = s[i].watts - (1 - part) * s[i - 1].watts - part * s[i + 1].watts;
    return off / sqrt(1 + (1 - part) * (1 - part) + part * part);
}

/* Finds the noise from the median of these deviations, which steps do not disturb. */
static yoke_status find_noise(yoke_context *context, const profile_sample *s, int64_t count, double *noise)
{
    void *memory = NULL;
    yoke_status status = yoke_allocate(context, count - 2, sizeof(double), &memory);
    if (status) return status;
    double *off = memory;
    for (int64_t i = 1; i + 1 < count; i++) off[i - 1] = fabs(off_line(s, i));
    statistics_sort(off, count - 2);
    *noise = off[(count - 2) / 2] / 0.6745;
    yoke_release(context, memory);
    return YOKE_OK;
}

yoke_status profile_integrate(yoke_context *context, const profile_sample *sorted, int64_t count, double from_s, double to_s,
                              profile_area *area)
{
    while (count > 0 && sorted[0].since_s < from_s) {
        sorted++;
        count--;
    }
    while (count > 0 && sorted[count - 1].since_s > to_s) count--;
    *area = (profile_area){.joules = NAN, .variance = NAN, .noise_w = NAN, .count = count};
    if (count < 3) return YOKE_OK;
    double noise = 0, joules = 0, variance = 0;
    yoke_status status = find_noise(context, sorted, count, &noise);
    if (status) return status;
    double before_gap = 2 * (sorted[0].since_s - from_s), before_jump = 0;
    for (int64_t i = 0; i < count; i++) {
        bool last = i + 1 == count;
        double gap = last ? 2 * (to_s - sorted[i].since_s) : sorted[i + 1].since_s - sorted[i].since_s;
        double jump = last ? 0 : sorted[i + 1].watts - sorted[i].watts, weight = 0.5 * (before_gap + gap);
        bool step = fabs(jump) > 6 * noise, before_step = fabs(before_jump) > 6 * noise,
             spike = step && before_step && jump * before_jump < 0;
        joules += weight * sorted[i].watts;
        /* Away from steps, the deviation of samples from their line is noise, and also the error of the trapezoid rule. */
        double local = i > 0 && !last && (spike || (!step && !before_step)) ? off_line(sorted, i) : noise;
        variance += weight * weight * local * local;
        if (step) variance += jump * jump * gap * gap / 12; /* a step may be anywhere in the gap */
        before_gap = gap;
        before_jump = jump;
    }
    *area = (profile_area){.joules = joules, .variance = variance, .noise_w = noise, .count = count};
    return YOKE_OK;
}
