/*
 * prepare.c - prepares a problem: devices in an order that does not depend on the caller's, levels ordered by power, repetitions multiplied
 * in.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

/* Unknown numbers come last and compare equal. */
static int order_numbers(double a, double b)
{
    if (isnan(a) || isnan(b)) return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

static int order_levels(const yoke_plan_level *a, const yoke_plan_level *b)
{
    const double of_a[] = {a->num_points > 0 ? 0 : a->seconds_per_unit,
                           a->start_seconds,
                           a->dynamic_power_w,
                           a->idle_power_w,
                           a->frequency_hz,
                           a->time_uncertainty,
                           a->power_uncertainty,
                           a->alone_factor,
                           a->host_overhead_w,
                           (double)a->num_points};
    const double of_b[] = {b->num_points > 0 ? 0 : b->seconds_per_unit,
                           b->start_seconds,
                           b->dynamic_power_w,
                           b->idle_power_w,
                           b->frequency_hz,
                           b->time_uncertainty,
                           b->power_uncertainty,
                           b->alone_factor,
                           b->host_overhead_w,
                           (double)b->num_points};
    for (size_t k = 0; k < sizeof of_a / sizeof of_a[0]; k++)
        if (order_numbers(of_a[k], of_b[k]) != 0) return order_numbers(of_a[k], of_b[k]);
    for (int64_t k = 0; k < 2 * a->num_points; k++)
        if (order_numbers(a->points[k], b->points[k]) != 0) return order_numbers(a->points[k], b->points[k]);
    return 0;
}

static int order_devices(const void *left, const void *right)
{
    const yoke_plan_device *a = ((const plan_device *)left)->source, *b = ((const plan_device *)right)->source;
    if ((a->host != 0) != (b->host != 0)) return a->host != 0 ? -1 : 1;
    if ((a->removable != 0) != (b->removable != 0)) return a->removable != 0 ? 1 : -1;
    const double of_a[] = {a->copy_seconds, a->copy_seconds_per_unit, a->copy_joules_per_unit, (double)a->max_units, (double)a->num_levels};
    const double of_b[] = {b->copy_seconds, b->copy_seconds_per_unit, b->copy_joules_per_unit, (double)b->max_units, (double)b->num_levels};
    for (size_t k = 0; k < sizeof of_a / sizeof of_a[0]; k++)
        if (order_numbers(of_a[k], of_b[k]) != 0) return order_numbers(of_a[k], of_b[k]);
    for (int64_t k = 0; k < a->num_levels; k++)
        if (order_levels(&a->levels[k], &b->levels[k]) != 0) return order_levels(&a->levels[k], &b->levels[k]);
    return strcmp(a->name != NULL ? a->name : "", b->name != NULL ? b->name : "");
}

/* Orders levels by power at work; if it is equal or not known, as given. */
static int order_powers(const void *left, const void *right)
{
    const plan_level *a = left, *b = right;
    int order = order_numbers(a->active_w + a->idle_w, b->active_w + b->idle_w);
    return order != 0 ? order : (a->given > b->given) - (a->given < b->given);
}

yoke_plan_time plan_level_time(const yoke_plan_level *level)
{
    return (yoke_plan_time){.seconds_per_unit = level->seconds_per_unit,
                            .start_seconds = level->start_seconds,
                            .dynamic_power_w = level->dynamic_power_w,
                            .time_uncertainty = level->time_uncertainty,
                            .power_uncertainty = level->power_uncertainty,
                            .alone_factor = level->alone_factor,
                            .num_points = level->num_points,
                            .points = level->points};
}

/* The time of a level in a phase; without a round, that of the level itself. */
static plan_time prepare_time(plan_work *work, const yoke_plan_level *level, int phase, yoke_speed_piece **pieces)
{
    const yoke_round *round = work->problem->round;
    const yoke_plan_time from = round != NULL ? level->phases[phase] : plan_level_time(level);
    if (from.absent) return (plan_time){.absent = 1};
    double calls = round != NULL ? round->phases[phase].calls : work->repetitions;
    plan_time time = {.calls = calls,
                      .start_s = calls * from.start_seconds,
                      .per_unit_s = calls * from.seconds_per_unit,
                      .dynamic_w = from.dynamic_power_w,
                      .time_uncertainty = from.time_uncertainty,
                      .power_uncertainty = from.power_uncertainty,
                      .alone = from.alone_factor > 0 ? from.alone_factor : 1};
    work->disturbed |= time.alone < 1;
    if (from.num_points > 0) {
        work->linear = 0;
        yoke_speed_fill(&time.speed, *pieces, from.num_points, from.points);
        *pieces += yoke_speed_most_pieces(from.num_points);
    }
    if (isnan(time.dynamic_w)) work->powers_known = 0;
    return time;
}

void plan_park(plan_device *device)
{
    device->parked = 0;
    for (int k = 1; k < device->num_levels; k++) {
        double idle = device->levels[k].idle_w, least = device->levels[device->parked].idle_w;
        if (idle < least || (isnan(least) && !isnan(idle))) device->parked = k;
    }
    const plan_level *parked = &device->levels[device->parked];
    device->parked_w = device->removable ? 0 : parked->idle_w;
    device->parked_uncertainty = parked->power_uncertainty;
}

static void prepare_levels(plan_work *work, plan_device *device, plan_time **times, yoke_speed_piece **pieces)
{
    const yoke_plan_device *source = device->source;
    for (int k = 0; k < device->num_levels; k++) {
        const yoke_plan_level *from = &source->levels[k];
        plan_level *level = &device->levels[k];
        *level = (plan_level){.times = *times,
                              .idle_w = from->idle_power_w,
                              .power_uncertainty = from->power_uncertainty,
                              .overhead_w = from->host_overhead_w,
                              .given = k};
        work->overheads |= level->overhead_w > 0;
        *times += work->num_phases;
        for (int p = 0; p < work->num_phases; p++) {
            level->times[p] = prepare_time(work, from, p, pieces);
            double watts = level->times[p].dynamic_w;
            if (isnan(watts) || watts > level->active_w) level->active_w = watts;
        }
        const plan_time *first = level->times;
        level->offset_s = device->copy_s + first->start_s;
        level->rate = 1 / (device->copy_per_unit_s + first->per_unit_s);
        level->start_j = first->dynamic_w * first->start_s;
        level->unit_j = first->dynamic_w * first->per_unit_s + device->copy_j;
        if (isnan(level->idle_w)) work->powers_known = 0;
    }
    qsort(device->levels, (size_t)device->num_levels, sizeof device->levels[0], order_powers);
    plan_park(device);
}

/* The phases of the round, or of a problem without a round as a single phase. */
static void prepare_phases(plan_work *work)
{
    const yoke_round *round = work->problem->round;
    if (round == NULL) {
        work->num_cuts = work->num_phases = work->num_intervals = 1;
        work->cut_units[0] = work->units = work->problem->units;
        work->phases[0] = (plan_phase){.units = work->units, .whole = 1, .all = (double)work->units};
        return;
    }
    work->num_cuts = (int)round->num_cuts;
    work->num_phases = (int)round->num_phases;
    work->num_intervals = 1;
    work->units = round->cut_units[0];
    for (int c = 0; c < work->num_cuts; c++) work->cut_units[c] = round->cut_units[c];
    for (int p = 0; p < work->num_phases; p++) {
        const yoke_phase *phase = &round->phases[p];
        const int64_t n = phase->cut >= 0 ? round->cut_units[phase->cut] : 0;
        work->phases[p] = (plan_phase){.cut = (int)phase->cut,
                                       .device = (int)phase->device,
                                       .interval = work->num_intervals - 1,
                                       .units = phase->units,
                                       .whole = phase->cut >= 0 && phase->units == n && phase->weight_sum == NULL,
                                       .weight_sum = phase->weight_sum,
                                       .all = phase->weight_sum != NULL && phase->cut >= 0 ? phase->weight_sum[n] : (double)n};
        if (phase->barrier && p + 1 < work->num_phases) work->num_intervals++;
        work->call_s += phase->calls * phase->call_seconds;
    }
}

static void prepare_devices(plan_work *work)
{
    const yoke_plan_problem *problem = work->problem;
    int copies = 0;
    for (int i = 0; i < work->num_devices; i++) {
        const yoke_plan_device *source = &problem->devices[i];
        work->devices[i] = (plan_device){.source = source,
                                         .given = i,
                                         .host = source->host != 0,
                                         .removable = source->removable != 0,
                                         .copy_s = source->copy_seconds,
                                         .copy_per_unit_s = source->copy_seconds_per_unit,
                                         .copy_j = source->copy_joules_per_unit,
                                         .most = source->max_units < work->units ? source->max_units : work->units,
                                         .num_levels = (int)source->num_levels};
        if (source->copy_seconds > 0 || source->copy_seconds_per_unit > 0) copies = 1;
    }
    work->copies_before = problem->copies_before != 0 && copies;
    if (problem->round == NULL) qsort(work->devices, (size_t)work->num_devices, sizeof work->devices[0], order_devices);
    plan_level *levels = work->levels;
    plan_time *times = work->times;
    yoke_speed_piece *pieces = work->pieces;
    for (int i = 0; i < work->num_devices; i++) {
        work->devices[i].levels = levels;
        work->place[work->devices[i].given] = i;
        levels += work->devices[i].num_levels;
        prepare_levels(work, &work->devices[i], &times, &pieces);
    }
}

static int64_t pieces_of(const plan_work *work, const yoke_plan_level *level)
{
    if (work->problem->round == NULL) return level->num_points > 0 ? yoke_speed_most_pieces(level->num_points) : 0;
    int64_t pieces = 0;
    for (int p = 0; p < work->num_phases; p++)
        if (!level->phases[p].absent && level->phases[p].num_points > 0) pieces += yoke_speed_most_pieces(level->phases[p].num_points);
    return pieces;
}

/* Zero: the round is equivalent to a problem without one: a single phase of all units, kernels at all levels, and no cost of calls. */
static int needs_phases(const plan_work *work)
{
    if (work->problem->round == NULL) return 0;
    if (work->num_cuts != 1 || work->num_phases != 1 || !work->phases[0].whole || work->call_s > 0) return 1;
    for (int i = 0; i < work->num_devices; i++)
        for (int k = 0; k < work->devices[i].num_levels; k++)
            if (work->devices[i].levels[k].times[0].absent) return 1;
    return 0;
}

/*
 * The cost of a node grows with the number of levels (and phases), with their points, and in a round with the number of devices.  By
 * default a search takes about a second, and all searches of a plan together have twice the nodes of one search.
 */
static void limit_nodes(plan_work *work, int64_t levels, int64_t pieces)
{
    const int64_t most = 1000000, fewest = 200, size = levels * work->num_phases + pieces / 16;
    const int64_t nodes = work->several ? 6600000 / (size * work->num_devices) : 50000000 / size;
    if (work->options.max_nodes == 0) work->options.max_nodes = nodes > most ? most : nodes < fewest ? fewest : nodes;
    work->max_nodes = work->options.max_nodes < INT64_MAX / 2 ? 2 * work->options.max_nodes : INT64_MAX;
}

yoke_status plan_prepare(yoke_context *context, const yoke_plan_problem *problem, const yoke_plan_options *options, plan_work **result)
{
    static const yoke_plan_options least_time = {.objective = YOKE_OBJECTIVE_TIME};
    plan_work *work;
    yoke_status status = yoke_allocate(context, 1, sizeof *work, &work);
    if (status != YOKE_OK) return status;
    *work = (plan_work){.context = context,
                        .problem = problem,
                        .options = options != NULL ? *options : least_time,
                        .repetitions = problem->repetitions,
                        .base_w = problem->base_power_w,
                        .host_overhead_w = problem->host_overhead_w,
                        .linear = 1,
                        .powers_known = !isnan(problem->base_power_w) && !isnan(problem->host_overhead_w),
                        .num_devices = (int)problem->num_devices};
    prepare_phases(work);
    int64_t levels = 0, pieces = 0;
    for (int64_t i = 0; i < problem->num_devices; i++)
        for (int64_t k = 0; k < problem->devices[i].num_levels; k++) {
            levels++;
            pieces += pieces_of(work, &problem->devices[i].levels[k]);
        }
    status = yoke_allocate(context, levels, sizeof *work->levels, &work->levels);
    if (status == YOKE_OK) status = yoke_allocate(context, levels * work->num_phases, sizeof *work->times, &work->times);
    if (status == YOKE_OK) status = yoke_allocate(context, pieces, sizeof *work->pieces, &work->pieces);
    if (status != YOKE_OK) {
        plan_work_destroy(work);
        return status;
    }
    prepare_devices(work);
    work->several = needs_phases(work);
    if (problem->round != NULL && !work->several) work->repetitions = problem->round->phases[0].calls;
    limit_nodes(work, levels, pieces);
    *result = work;
    return YOKE_OK;
}

void plan_work_destroy(plan_work *work)
{
    if (work == NULL) return;
    yoke_release(work->context, work->levels);
    yoke_release(work->context, work->times);
    yoke_release(work->context, work->pieces);
    yoke_release(work->context, work);
}
