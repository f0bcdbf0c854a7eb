/*
 * check.c - rejects problems and options that violate their contracts; messages name the place and the number.
 */
#include <math.h>

#include "plan/alternatives.h"
#include "plan/plan.h"

static const int64_t max_units = INT64_C(1000000000000000000);

static int finite_from_zero(double value) { return value >= 0 && isfinite(value); }

static int unknown_or_from_zero(double value) { return isnan(value) || finite_from_zero(value); }

/* A level, and in a round its phase (else -1). */
typedef struct plan_place {
    const yoke_plan_problem *problem;
    const yoke_plan_device *device;
    int64_t level, phase;
} plan_place;

static const char *name_of(const yoke_plan_device *device) { return device->name != NULL ? device->name : "without a name"; }

/* Prints "device NAME, level 3", with a round also ", phase 2 (WORK)". */
static void print_place(const plan_place *place, plan_text *text)
{
    plan_print(text, "device %s, level %lld", name_of(place->device), (long long)place->level);
    if (place->phase < 0) return;
    const char *work = place->problem->round->phases[place->phase].work;
    plan_print(text, ", phase %lld", (long long)place->phase);
    if (work != NULL && work[0] != '\0') plan_print(text, " (%s)", work);
}

static yoke_status fail_level(yoke_context *context, const plan_place *place, const char *what, double value, const char *expected)
{
    char bytes[256] = "";
    plan_text where = {.bytes = bytes, .room = (int64_t)sizeof bytes};
    print_place(place, &where);
    return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: %s: %s is %g; it must be %s", bytes, what, value, expected);
}

static yoke_status check_points(yoke_context *context, const plan_place *place, const yoke_plan_time *time)
{
    for (int64_t k = 0; k < time->num_points; k++) {
        const double *point = time->points + 2 * k;
        const char *wrong = NULL;
        if (!(point[0] > 0) || !isfinite(point[0]))
            wrong = "units must be finite and above 0";
        else if (!(point[1] > 0) || !isfinite(point[1]))
            wrong = "seconds must be finite and above 0";
        else if (k > 0 && !(point[0] > point[-2]))
            wrong = "units must be more than those of the point before";
        else if (!isfinite(point[0] / point[1]) || !(point[0] / point[1] > 0))
            wrong = "units per second are outside double precision";
        if (wrong == NULL) continue;
        char bytes[256] = "";
        plan_text where = {.bytes = bytes, .room = (int64_t)sizeof bytes};
        print_place(place, &where);
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: %s, point %lld (%g units, %g s): %s", bytes, (long long)k, point[0], point[1],
                         wrong);
    }
    return YOKE_OK;
}

static const char from_zero[] = "finite and not negative", unknown[] = "finite and not negative, or NaN where it is not known";

/* Checks the seconds and powers of a level or of its phase. */
static yoke_status check_time(yoke_context *context, const plan_place *place, const yoke_plan_time *time)
{
    if (time->num_points < 0 || (time->num_points > 0 && time->points == NULL))
        return fail_level(context, place, "num_points", (double)time->num_points, "the number of items of points");
    if (time->num_points == 0 && !(time->seconds_per_unit >= 1e-60 && isfinite(time->seconds_per_unit)))
        return fail_level(context, place, "seconds_per_unit", time->seconds_per_unit, "finite and above 0 (1e-60 at least)");
    if (!finite_from_zero(time->start_seconds)) return fail_level(context, place, "start_seconds", time->start_seconds, from_zero);
    if (!unknown_or_from_zero(time->dynamic_power_w)) return fail_level(context, place, "dynamic_power_w", time->dynamic_power_w, unknown);
    if (!finite_from_zero(time->time_uncertainty)) return fail_level(context, place, "time_uncertainty", time->time_uncertainty, from_zero);
    if (!finite_from_zero(time->power_uncertainty))
        return fail_level(context, place, "power_uncertainty", time->power_uncertainty, from_zero);
    if (!(time->alone_factor >= 0 && time->alone_factor <= 1))
        return fail_level(context, place, "alone_factor", time->alone_factor, "above 0 and at most 1, or 0 where nothing is known of it");
    return check_points(context, place, time);
}

/* *points: the number of points that are still allowed. */
static yoke_status check_level(yoke_context *context, plan_place *place, int64_t *points)
{
    const yoke_plan_level *level = &place->device->levels[place->level];
    const yoke_round *round = place->problem->round;
    const yoke_plan_time own = plan_level_time(level), *times = round != NULL ? level->phases : &own;
    const int64_t count = round != NULL ? round->num_phases : 1;
    place->phase = -1;
    if (!isnan(level->frequency_hz) && !(level->frequency_hz > 0 && isfinite(level->frequency_hz)))
        return fail_level(context, place, "frequency_hz", level->frequency_hz, "finite and above 0, or NaN");
    if (!unknown_or_from_zero(level->idle_power_w)) return fail_level(context, place, "idle_power_w", level->idle_power_w, unknown);
    if (!finite_from_zero(level->power_uncertainty))
        return fail_level(context, place, "power_uncertainty", level->power_uncertainty, from_zero);
    if (!finite_from_zero(level->host_overhead_w) || (level->host_overhead_w > 0 && !place->device->host))
        return fail_level(context, place, "host_overhead_w", level->host_overhead_w,
                          place->device->host ? from_zero : "0, since an accelerator has no host overhead");
    if (times == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: device %s, level %lld: phases is NULL; a round needs the times of its phases",
                         name_of(place->device), (long long)place->level);
    for (int64_t p = 0; p < count; p++) {
        place->phase = round != NULL ? p : -1;
        if (round != NULL && times[p].absent) continue;
        if (times[p].num_points > *points)
            return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: the levels have more than %d points; leave some out",
                             (int)PLAN_MAX_POINTS);
        yoke_status status = check_time(context, place, &times[p]);
        if (status != YOKE_OK) return status;
        *points -= times[p].num_points;
    }
    return YOKE_OK;
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
    int64_t levels = 0, points = PLAN_MAX_POINTS;
    for (int64_t i = 0; i < problem->num_devices; i++) {
        const yoke_plan_device *device = &problem->devices[i];
        yoke_status status = check_device(context, device, i);
        if (status != YOKE_OK) return status;
        if (device->num_levels > PLAN_MAX_LEVELS - levels)
            return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: the devices have more than %d levels; leave some out",
                             (int)PLAN_MAX_LEVELS);
        levels += device->num_levels;
        plan_place place = {.problem = problem, .device = device};
        for (; place.level < device->num_levels && status == YOKE_OK; place.level++) status = check_level(context, &place, &points);
        if (status != YOKE_OK) return status;
    }
    return YOKE_OK;
}

/* An upper bound of the seconds of all calls with all units of a phase. */
static double longest_of(const yoke_plan_time *time, double calls, double units)
{
    double per_unit = time->seconds_per_unit;
    for (int64_t j = 0; j < time->num_points; j++) {
        double slow = time->points[2 * j + 1] / time->points[2 * j];
        per_unit = j == 0 ? slow : fmax(per_unit, slow);
    }
    return calls * (time->start_seconds + per_unit * units);
}

/* The sum over all phases; adds the largest dynamic power to *power. */
static double longest_at(const yoke_plan_problem *problem, const yoke_plan_level *level, double *power)
{
    const yoke_round *round = problem->round;
    const yoke_plan_time own = plan_level_time(level);
    double seconds = 0, watts = 0;
    for (int64_t p = 0; p < (round != NULL ? round->num_phases : 1); p++) {
        const yoke_plan_time *time = round != NULL ? &level->phases[p] : &own;
        if (round != NULL && time->absent) continue;
        seconds += round != NULL ? longest_of(time, round->phases[p].calls, (double)round->phases[p].units)
                                 : longest_of(time, problem->repetitions, (double)problem->units);
        watts = fmax(watts, time->dynamic_power_w);
    }
    *power += watts;
    return seconds;
}

/* Times and energies of all units, and their products, must be finite. */
static yoke_status check_size(yoke_context *context, const yoke_plan_problem *problem)
{
    const yoke_round *round = problem->round;
    double units = round != NULL ? (double)round->cut_units[0] : (double)problem->units, longest = 0, power = 0, calls = 0;
    if (!isnan(problem->base_power_w)) power += problem->base_power_w;
    if (!isnan(problem->host_overhead_w)) power += problem->host_overhead_w;
    for (int64_t p = 0; round != NULL && p < round->num_phases; p++) calls += round->phases[p].calls * round->phases[p].call_seconds;
    for (int64_t i = 0; i < problem->num_devices; i++) {
        const yoke_plan_device *device = &problem->devices[i];
        for (int64_t k = 0; k < device->num_levels; k++) {
            const yoke_plan_level *level = &device->levels[k];
            longest =
                fmax(longest, longest_at(problem, level, &power) + device->copy_seconds + device->copy_seconds_per_unit * units + calls);
            if (!isnan(level->idle_power_w)) power += level->idle_power_w;
            power += level->host_overhead_w;
        }
        power += device->copy_joules_per_unit;
    }
    if (longest < 1e60 && power * fmax(units, 1) < 1e90) return YOKE_OK;
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
    if (options->max_nodes < 0)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: max_nodes is %lld; it must not be negative", (long long)options->max_nodes);
    return YOKE_OK;
}

static yoke_status check_work(yoke_context *context, const yoke_plan_problem *problem)
{
    if (problem->round != NULL) return plan_check_round(context, problem);
    if (problem->units < 0 || problem->units > max_units)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: units is %lld; it must be from 0 to 10^18", (long long)problem->units);
    if (!(problem->repetitions > 0) || !isfinite(problem->repetitions))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: repetitions is %g; it must be finite and above 0", problem->repetitions);
    return YOKE_OK;
}

yoke_status plan_check(yoke_context *context, const yoke_plan_problem *problem, const yoke_plan_options *options)
{
    if (context == NULL || problem == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: %s is NULL", context == NULL ? "context" : "problem");
    if (!unknown_or_from_zero(problem->base_power_w) || !unknown_or_from_zero(problem->host_overhead_w))
        return yoke_fail(
            context, YOKE_ERROR_ARGUMENT,
            "plan: base_power_w is %g and host_overhead_w %g; both must be finite and not negative, or NaN where they are not known",
            problem->base_power_w, problem->host_overhead_w);
    if (problem->num_devices < 1 || problem->num_devices > PLAN_MAX_DEVICES || problem->devices == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plan: num_devices is %lld; it must be from 1 to %d",
                         (long long)problem->num_devices, (int)PLAN_MAX_DEVICES);
    if (options != NULL) {
        yoke_status status = check_options(context, options);
        if (status != YOKE_OK) return status;
    }
    yoke_status status = check_work(context, problem);
    if (status == YOKE_OK) status = check_devices(context, problem);
    if (status == YOKE_OK && problem->round != NULL) status = plan_check_kernels(context, problem);
    return status != YOKE_OK ? status : check_size(context, problem);
}
