/*
 * plan_check.c - problems and options outside their contracts are refused with the place and the number.
 */
#include <math.h>

#include "plan/plan.h"

static const int64_t most_units = INT64_C(1000000000000000000);

static int finite_from_zero(double value) { return value >= 0 && isfinite(value); }

static int unknown_or_from_zero(double value) { return isnan(value) || finite_from_zero(value); }

static const char *name_of(const yoke_plan_device *device) { return device->name != NULL ? device->name : "without a name"; }

static yoke_status fail_level(yoke_context *context, const yoke_plan_device *device, int64_t level, const char *what, double value,
                              const char *expected)
{
    return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: device %s, level %lld: %s is %g; it must be %s", name_of(device),
                     (long long)level, what, value, expected);
}

static yoke_status check_points(yoke_context *context, const yoke_plan_device *device, int64_t number)
{
    const yoke_plan_level *level = &device->levels[number];
    for (int64_t k = 0; k < level->num_points; k++) {
        const double *point = level->points + 2 * k;
        const char *wrong = NULL;
        if (!(point[0] > 0) || !isfinite(point[0]))
            wrong = "units must be finite and above 0";
        else if (!(point[1] > 0) || !isfinite(point[1]))
            wrong = "seconds must be finite and above 0";
        else if (k > 0 && !(point[0] > point[-2]))
            wrong = "units must be more than those of the point before";
        else if (!isfinite(point[0] / point[1]) || !(point[0] / point[1] > 0))
            wrong = "units per second cannot be told in double precision";
        if (wrong != NULL)
            return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: device %s, level %lld, point %lld (%g units, %g s): %s", name_of(device),
                             (long long)number, (long long)k, point[0], point[1], wrong);
    }
    return YOKE_OK;
}

static yoke_status check_level(yoke_context *context, const yoke_plan_device *device, int64_t number)
{
    const yoke_plan_level *level = &device->levels[number];
    static const char from_zero[] = "finite and not negative", unknown[] = "finite and not negative, or NaN where it is not known";
    if (!isnan(level->frequency_hz) && !(level->frequency_hz > 0 && isfinite(level->frequency_hz)))
        return fail_level(context, device, number, "frequency_hz", level->frequency_hz, "finite and above 0, or NaN");
    if (level->num_points < 0 || (level->num_points > 0 && level->points == NULL))
        return fail_level(context, device, number, "num_points", (double)level->num_points, "the number of points that are there");
    if (level->num_points == 0 && !(level->seconds_per_unit >= 1e-60 && isfinite(level->seconds_per_unit)))
        return fail_level(context, device, number, "seconds_per_unit", level->seconds_per_unit, "finite and above 0 (1e-60 at least)");
    if (!finite_from_zero(level->start_seconds))
        return fail_level(context, device, number, "start_seconds", level->start_seconds, from_zero);
    if (!unknown_or_from_zero(level->dynamic_power_w))
        return fail_level(context, device, number, "dynamic_power_w", level->dynamic_power_w, unknown);
    if (!unknown_or_from_zero(level->idle_power_w))
        return fail_level(context, device, number, "idle_power_w", level->idle_power_w, unknown);
    if (!finite_from_zero(level->time_uncertainty))
        return fail_level(context, device, number, "time_uncertainty", level->time_uncertainty, from_zero);
    if (!finite_from_zero(level->power_uncertainty))
        return fail_level(context, device, number, "power_uncertainty", level->power_uncertainty, from_zero);
    return check_points(context, device, number);
}

static yoke_status check_device(yoke_context *context, const yoke_plan_device *device, int64_t number)
{
    const double values[] = {device->copy_seconds, device->copy_seconds_per_unit, device->copy_joules_per_unit};
    static const char *const names[] = {"copy_seconds", "copy_seconds_per_unit", "copy_joules_per_unit"};
    if (device->num_levels < 1 || device->levels == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: device %lld (%s) has no level; give it at least one", (long long)number,
                         name_of(device));
    for (int k = 0; k < 3; k++)
        if (!finite_from_zero(values[k]))
            return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: device %lld (%s): %s is %g; it must be finite and not negative",
                             (long long)number, name_of(device), names[k], values[k]);
    if (device->max_units < 0)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT,
                         "plan: device %lld (%s): max_units is %lld; it must not be negative (no limit: INT64_MAX)", (long long)number,
                         name_of(device), (long long)device->max_units);
    return YOKE_OK;
}

static yoke_status check_devices(yoke_context *context, const yoke_plan_problem *problem)
{
    int64_t levels = 0, points = 0;
    for (int64_t i = 0; i < problem->num_devices; i++) {
        const yoke_plan_device *device = &problem->devices[i];
        yoke_status status = check_device(context, device, i);
        if (status != YOKE_OK) return status;
        if (device->num_levels > PLAN_MOST_LEVELS - levels)
            return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: the devices have more than %d levels; leave some out",
                             (int)PLAN_MOST_LEVELS);
        levels += device->num_levels;
        for (int64_t k = 0; k < device->num_levels; k++) {
            if (device->levels[k].num_points > PLAN_MOST_POINTS - points)
                return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: the levels have more than %d points; leave some out",
                                 (int)PLAN_MOST_POINTS);
            points += device->levels[k].num_points;
            status = check_level(context, device, k);
            if (status != YOKE_OK) return status;
        }
    }
    return YOKE_OK;
}

/* Times and energies of all units, and their products, must be numbers. */
static yoke_status check_size(yoke_context *context, const yoke_plan_problem *problem)
{
    double units = (double)problem->units, longest = 0, power = 0;
    if (!isnan(problem->base_power_w)) power += problem->base_power_w;
    if (!isnan(problem->hosting_power_w)) power += problem->hosting_power_w;
    for (int64_t i = 0; i < problem->num_devices; i++) {
        const yoke_plan_device *device = &problem->devices[i];
        for (int64_t k = 0; k < device->num_levels; k++) {
            const yoke_plan_level *level = &device->levels[k];
            double per_unit = level->seconds_per_unit;
            for (int64_t j = 0; j < level->num_points; j++) {
                double slow = level->points[2 * j + 1] / level->points[2 * j];
                per_unit = j == 0 ? slow : fmax(per_unit, slow);
            }
            longest = fmax(longest, problem->repetitions * (level->start_seconds + per_unit * units) + device->copy_seconds +
                                        device->copy_seconds_per_unit * units);
            if (!isnan(level->dynamic_power_w)) power += level->dynamic_power_w;
            if (!isnan(level->idle_power_w)) power += level->idle_power_w;
        }
        power += device->copy_joules_per_unit;
    }
    if (longest < 1e60 && power * units < 1e90) return YOKE_OK;
    return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: seconds and powers of all units (%g s, %g W) are too large to calculate with",
                     longest, power);
}

static yoke_status check_options(yoke_context *context, const yoke_plan_options *options)
{
    if ((int)options->objective < YOKE_OBJECTIVE_TIME || options->objective > YOKE_OBJECTIVE_ED2P)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: there is no objective %d", (int)options->objective);
    if (!finite_from_zero(options->deadline_s))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: deadline_s is %g; it must be above 0, or 0 for none", options->deadline_s);
    if (options->max_slowdown != 0 && !(options->max_slowdown >= 1 && isfinite(options->max_slowdown)))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: max_slowdown is %g; it must be at least 1, or 0 for none",
                         options->max_slowdown);
    if (!finite_from_zero(options->power_cap_w))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: power_cap_w is %g; it must be above 0, or 0 for none", options->power_cap_w);
    if (options->most_nodes < 0)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: most_nodes is %lld; it must not be negative", (long long)options->most_nodes);
    return YOKE_OK;
}

yoke_status plan_check(yoke_context *context, const yoke_plan_problem *problem, const yoke_plan_options *options)
{
    if (context == NULL || problem == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: %s is NULL", context == NULL ? "context" : "problem");
    if (problem->units < 0 || problem->units > most_units)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: units is %lld; it must be from 0 to 10^18", (long long)problem->units);
    if (!(problem->repetitions > 0) || !isfinite(problem->repetitions))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: repetitions is %g; it must be finite and above 0", problem->repetitions);
    if (!unknown_or_from_zero(problem->base_power_w) || !unknown_or_from_zero(problem->hosting_power_w))
        return yoke_fail(
            context, YOKE_ERROR_ARGUMENT,
            "plan: base_power_w is %g and hosting_power_w %g; both must be finite and not negative, or NaN where they are not known",
            problem->base_power_w, problem->hosting_power_w);
    if (problem->num_devices < 1 || problem->num_devices > PLAN_MOST_DEVICES || problem->devices == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: num_devices is %lld; it must be from 1 to %d",
                         (long long)problem->num_devices, (int)PLAN_MOST_DEVICES);
    if (options != NULL) {
        yoke_status status = check_options(context, options);
        if (status != YOKE_OK) return status;
    }
    yoke_status status = check_devices(context, problem);
    return status != YOKE_OK ? status : check_size(context, problem);
}
