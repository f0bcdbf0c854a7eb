/*
 * check_round.c - rejects rounds that violate their contract; messages name the phase and the number.
 */
#include <math.h>

#include "plan/plan.h"

static const int64_t max_units = INT64_C(1000000000000000);
static const double most_weight = 1e60;

static const char *work_of(const yoke_phase *phase)
{
    return phase->work != NULL && phase->work[0] != '\0' ? phase->work : "without a name";
}

static yoke_status fail_phase(yoke_context *context, const yoke_round *round, int64_t p, const char *what, double value,
                              const char *expected)
{
    return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: phase %lld (%s): %s is %.15g; it must be %s", (long long)p,
                     work_of(&round->phases[p]), what, value, expected);
}

static yoke_status check_weights(yoke_context *context, const yoke_round *round, int64_t p)
{
    const yoke_phase *phase = &round->phases[p];
    const int64_t n = round->cut_units[phase->cut];
    const double *sum = phase->weight_sum;
    for (int64_t k = 0; k <= n; k++)
        if (!(k == 0 ? sum[0] == 0 : sum[k] >= sum[k - 1]) || !(sum[k] <= most_weight))
            return yoke_fail(context, YOKE_ERROR_ARGUMENT,
                             "plan: phase %lld (%s): weight_sum[%lld] is %g; sums must begin at 0, not fall, and stay below %g",
                             (long long)p, work_of(phase), (long long)k, sum[k], most_weight);
    if (phase->units > 0 && !(sum[n] > 0)) return fail_phase(context, round, p, "the sum of all weights", sum[n], "above 0");
    return YOKE_OK;
}

static yoke_status check_phase(yoke_context *context, const yoke_plan_problem *problem, int64_t p)
{
    const yoke_round *round = problem->round;
    const yoke_phase *phase = &round->phases[p];
    if (!(phase->calls > 0) || !isfinite(phase->calls)) return fail_phase(context, round, p, "calls", phase->calls, "finite and above 0");
    if (!(phase->call_seconds >= 0) || !isfinite(phase->call_seconds))
        return fail_phase(context, round, p, "call_seconds", phase->call_seconds, "finite and not negative");
    if (phase->units < 0 || phase->units > max_units)
        return fail_phase(context, round, p, "units", (double)phase->units, "from 0 to 10^15");
    if (phase->cut < -1 || phase->cut >= round->num_cuts)
        return fail_phase(context, round, p, "cut", (double)phase->cut, "the number of a cut, or -1 for a device alone");
    if (phase->cut == -1 && (phase->device < 0 || phase->device >= problem->num_devices))
        return fail_phase(context, round, p, "device", (double)phase->device, "the number of a device");
    if (phase->cut >= 0 && phase->units > 0 && round->cut_units[phase->cut] == 0)
        return fail_phase(context, round, p, "units", (double)phase->units, "0, since its cut has no units");
    return phase->cut >= 0 && phase->weight_sum != NULL ? check_weights(context, round, p) : YOKE_OK;
}

/* A device that does a phase alone must have a kernel for it at one level at least. */
static yoke_status check_alone(yoke_context *context, const yoke_plan_problem *problem, int64_t p)
{
    const yoke_phase *phase = &problem->round->phases[p];
    if (phase->cut >= 0 || phase->units == 0) return YOKE_OK;
    const yoke_plan_device *device = &problem->devices[phase->device];
    for (int64_t k = 0; k < device->num_levels; k++)
        if (!device->levels[k].phases[p].absent) return YOKE_OK;
    return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: phase %lld (%s): its device %lld (%s) has no kernel for it", (long long)p,
                     work_of(phase), (long long)phase->device, device->name != NULL ? device->name : "without a name");
}

yoke_status plan_check_round(yoke_context *context, const yoke_plan_problem *problem)
{
    const yoke_round *round = problem->round;
    if (round->num_cuts < 1 || round->num_cuts > PLAN_MAX_CUTS || round->cut_units == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: the round has %lld cuts; it must have 1 to %d", (long long)round->num_cuts,
                         (int)PLAN_MAX_CUTS);
    if (round->num_phases < 1 || round->num_phases > PLAN_MAX_PHASES || round->phases == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: the round has %lld phases; it must have 1 to %d",
                         (long long)round->num_phases, (int)PLAN_MAX_PHASES);
    for (int64_t c = 0; c < round->num_cuts; c++)
        if (round->cut_units[c] < 0 || round->cut_units[c] > max_units)
            return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: cut %lld has %lld units; it must have 0 to 10^15", (long long)c,
                             (long long)round->cut_units[c]);
    yoke_status status = YOKE_OK;
    for (int64_t p = 0; p < round->num_phases && status == YOKE_OK; p++) status = check_phase(context, problem, p);
    return status;
}

yoke_status plan_check_kernels(yoke_context *context, const yoke_plan_problem *problem)
{
    yoke_status status = YOKE_OK;
    for (int64_t p = 0; p < problem->round->num_phases && status == YOKE_OK; p++) status = check_alone(context, problem, p);
    return status;
}
