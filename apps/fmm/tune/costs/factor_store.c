#include "tune/costs/factor_store.h"

#include <math.h>
#include <stdio.h>

/* Numbers of a factor (factors.h), each kept as the seconds of one unit: its value, 1 + runs, FMM_ALIKE_RUNS + alike, and next. */
enum { FACTOR_VALUE, FACTOR_RUNS, FACTOR_ALIKE, FACTOR_NEXT };

void fmm_factor_name(const fmm_naming *naming, int part, int number, char name[FMM_WORK_BYTES])
{
    static const char *const parts[FMM_TIMED_PARTS] = {"tree", "near", "far"};
    static const char *const numbers[FMM_FACTOR_NUMBERS] = {"factor", "runs", "alike", "next"};
    (void)snprintf(name, FMM_WORK_BYTES, "fmm %s %s%s%s", parts[part], numbers[number], naming->gradient ? "" : " potential",
                   naming->threads);
}

/* A trial that returns as its seconds a number that is to be kept. */
static yoke_status tell_number(void *user, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    (void)device;
    (void)units;
    (void)calls;
    *seconds = *(const double *)user;
    return YOKE_OK;
}

yoke_status fmm_number_put(yoke_run *run, const char *name, int64_t units, double number)
{
    const yoke_run_calibration of = {
        .work = name, .min_units = units, .max_units = units, .sizes = 2, .budget_s = 1, .trial = tell_number, .user = &number};
    return yoke_run_calibrate(run, &of, NULL);
}

yoke_status fmm_factor_put(yoke_run *run, const fmm_naming *naming, int part, fmm_factor factor)
{
    const double number[FMM_FACTOR_NUMBERS] = {factor.value, 1 + (double)factor.runs, FMM_ALIKE_RUNS + (double)factor.alike,
                                               factor.alike ? factor.next : factor.value};
    char name[FMM_WORK_BYTES];
    yoke_status status = YOKE_OK;
    for (int k = 0; k < FMM_FACTOR_NUMBERS && !status; k++) {
        fmm_factor_name(naming, part, k, name);
        status = fmm_number_put(run, name, 1, number[k]);
    }
    return status;
}

fmm_factor fmm_factor_get(yoke_run *run, int64_t device, const fmm_naming *naming, int part)
{
    char name[FMM_WORK_BYTES];
    double number[FMM_FACTOR_NUMBERS];
    for (int k = 0; k < FMM_FACTOR_NUMBERS; k++) {
        yoke_prediction known;
        fmm_factor_name(naming, part, k, name);
        if (yoke_run_predict(run, name, device, 1, NAN, 0, &known) || !(known.seconds < 1e15)) return (fmm_factor){.value = 1};
        number[k] = known.seconds;
    }
    return (fmm_factor){.value = fmin(fmax(number[FACTOR_VALUE], 1 / FMM_MOST_FACTOR), FMM_MOST_FACTOR),
                        .runs = llround(number[FACTOR_RUNS]) - 1,
                        .alike = llround(fmin(number[FACTOR_ALIKE], 2 * FMM_ALIKE_RUNS)) - FMM_ALIKE_RUNS,
                        .next = number[FACTOR_NEXT]};
}
