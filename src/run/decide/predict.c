/* Predictions of a run: of one call, and of a round as a model file. */
#include <math.h>
#include <string.h>

#include "model/problem/file.h"
#include "run/run.h"

int run_nearest_level(const run_device *d, double hz)
{
    int found = d->num_levels - 1;
    for (int l = 0; l < d->num_levels && !isnan(hz); l++)
        if (fabs(d->hz[l] - hz) < fabs(d->hz[found] - hz)) found = l;
    return found;
}

/* Nonzero: the units are between the smallest and the largest size measured at any level. */
static int is_inside(const yoke_run *run, int work, int device, double units)
{
    double least = INFINITY, most = 0;
    for (int l = 0; l < run->devices[device].num_levels; l++) {
        for (int beside = 0; beside < 2; beside++) {
            const speed_model *model = run_model(run, work, device, l, beside);
            if (model->points == 0) continue;
            least = fmin(least, model->point[0].units);
            most = fmax(most, model->point[model->points - 1].units);
        }
    }
    return units >= least && units <= most;
}

yoke_status yoke_run_predict(yoke_run *run, const char *work, int64_t device, double units, double frequency_hz, int together,
                             yoke_prediction *prediction)
{
    int index = 0;
    double relative, of_power;
    if (run == NULL || work == NULL || prediction == NULL)
        return yoke_fail(run != NULL ? run->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_run_predict: an argument is NULL");
    if (device < 0 || device >= run->num_devices || !(units > 0) || !isfinite(units))
        return yoke_fail(run->context, YOKE_ERROR_ARGUMENT,
                         "yoke_run_predict: device %lld, %g units; there are %d devices, and units must be above 0", (long long)device,
                         units, run->num_devices);
    yoke_status status = run_work_find(run, work, &index);
    if (status == YOKE_OK) status = run_work_open(run, index); /* loads what the store has of it */
    if (status != YOKE_OK) return status;
    const int i = (int)device, level = run_nearest_level(&run->devices[i], frequency_hz);
    const double seconds = run_seconds(run, index, i, level, together != 0, units, &relative);
    if (isnan(seconds))
        return yoke_fail(run->context, YOKE_ERROR_UNAVAILABLE,
                         "\"%.64s\" was not measured on %.64s at this frequency or on both sides of it; calibrate it", work,
                         run->devices[i].info->name);
    const double watts = run_dynamic_w(run, i, level, &of_power), joules = watts * seconds;
    *prediction = (yoke_prediction){.seconds = seconds,
                                    .seconds_uncertainty = relative * seconds,
                                    .joules = joules,
                                    .joules_uncertainty = joules * hypot(relative, of_power),
                                    .inside = is_inside(run, index, i, units),
                                    .disturbed = run->run_works[index].disturbed[i]};
    return YOKE_OK;
}

yoke_status yoke_run_write_model(yoke_run *run, const yoke_round *round, const char *path)
{
    run_problem problem;
    run_plan *plan;
    int known = 0;
    yoke_status status = YOKE_OK;
    if (run == NULL || path == NULL || (round == NULL && !run->has_plan))
        return yoke_fail(run != NULL ? run->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_run_write_model: %s",
                         run == NULL || path == NULL ? "an argument is NULL" : "round is NULL, and no round was planned before");
    plan = round != NULL ? run->candidate : run->plan;
    if (round != NULL) status = run_take_round(run, round, plan);
    /* As before a plan: the power of all devices at rest is not known from an earlier run. */
    if (status == YOKE_OK && round != NULL && !run->begun && run->needs_powers && isnan(run->base_w)) status = run_powers_rest(run);
    if (status != YOKE_OK) return status;
    plan->told = round != NULL; /* the latest plan is written as it was passed to the planner */
    status = run_problem_create(run, plan, 0, &problem, &known);
    if (status == YOKE_OK && !known)
        return yoke_fail(
            run->context, YOKE_ERROR_UNAVAILABLE,
            "there is no model to write: the round has no units, or a device was not measured with its works, or powers are needed "
            "and not known; calibrate first");
    if (status != YOKE_OK) return status;
    status = yoke_plan_problem_write(run->context, path, &problem.problem);
    run_problem_clear(run, &problem);
    return status;
}
