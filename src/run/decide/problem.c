/* A round as a problem of the planner, from the models of times and powers, at the levels for which these are known. */
#include <math.h>
#include <string.h>

#include "run/run.h"

/*
 * Points between which the planner takes speeds to be linear.  They are so close to each other that the kind of curve between them does not
 * matter.
 */
enum { GRID = 24, KNOTS = 24, POINTS = GRID + KNOTS };
static const double grid_span = 65536; /* the smallest size of the grid is 1/grid_span of all units */
static const double same_units = 1e-3;
/* Points that are this close (relative) to a line of speed between their neighbours are left out. */
static const double superfluous = 5e-4;

/* ---------------------------------------------------------------------------------------------------- units */

static int64_t units_before(const yoke_phase *phase, int64_t cut_units, int64_t before)
{
    double part = phase->weight_sum != NULL ? phase->weight_sum[before] : (double)before;
    double all = phase->weight_sum != NULL ? phase->weight_sum[cut_units] : (double)cut_units;
    return all > 0 ? (int64_t)floor((double)phase->units * part / all + 0.5) : 0;
}

int64_t run_phase_units(const yoke_phase *phase, int64_t cut_units, int64_t first, int64_t last)
{
    return units_before(phase, cut_units, last) - units_before(phase, cut_units, first);
}

int64_t run_phase_units_of(const run_plan *plan, int phase, int device)
{
    const yoke_phase *p = &plan->phases[phase];
    int64_t first = 0;
    if (p->cut < 0) return p->device == device ? p->units : 0;
    for (int i = 0; i < device; i++) first += plan->units[p->cut][i];
    return run_phase_units(p, plan->cut_units[p->cut], first, first + plan->units[p->cut][device]);
}

int run_work_of(const yoke_run *run, const run_plan *plan, int phase, int device)
{
    const int work = plan->works[phase], like = plan->likes[phase];
    return like >= 0 && !run_is_measured(run, work, device) ? like : work;
}

/* Nonzero: the device may have units of the phase. */
static int has_phase(const run_plan *plan, int phase, int device)
{
    const yoke_phase *p = &plan->phases[phase];
    return p->units > 0 && (p->cut >= 0 || p->device == device);
}

int64_t run_most_units(const yoke_run *run, const run_plan *plan, int device)
{
    const run_device *d = &run->devices[device];
    if (!run_is_active(run, device) || !(plan->allowed & ~plan->resting & UINT64_C(1) << device) || plan->most_units[device] == 0) return 0;
    for (int p = 0; p < plan->num_phases; p++)
        if (has_phase(plan, p, device) && run->run_works[plan->works[p]].tries[device] >= RUN_MAX_TRIES) return 0;
    if (!d->accelerator || !(plan->memory_bytes_per_unit > 0) || d->memory_bytes <= 0) return plan->most_units[device];
    return (int64_t)fmin((double)d->memory_bytes / plan->memory_bytes_per_unit, (double)plan->most_units[device]);
}

/* ---------------------------------------------------------------------------------------------------- times */

static int by_value(double *list, int count, double value)
{
    int at = count;
    while (at > 0 && list[at - 1] > value) at--;
    if ((at > 0 && value <= list[at - 1] * (1 + same_units)) || (at < count && list[at] <= value * (1 + same_units))) return count;
    memmove(list + at + 1, list + at, (size_t)(count - at) * sizeof *list);
    list[at] = value;
    return count + 1;
}

/* Chooses the sizes at which the curve is passed to the planner: its own knots, and a grid between them.  Returns their number. */
static int choose_units(const yoke_run *run, int work, int device, double all, double *units)
{
    double from = fmax(1, all / grid_span), to = fmax(1, all);
    int count = 0, added = 0;
    for (int l = run->devices[device].num_levels - 1; l >= 0; l--) {
        for (int beside = 0; beside < 2; beside++) {
            const speed_model *model = run_model(run, work, device, l, beside);
            for (int k = 0; model->points > 0 && k < model->curve.knots && added < KNOTS; k++) {
                if (model->curve.units[k] < 1 || model->curve.units[k] > to) continue;
                int before = count;
                count = by_value(units, count, model->curve.units[k]);
                added += count > before;
            }
        }
    }
    for (int k = 0; k < GRID; k++) count = by_value(units, count, from * pow(to / from, k / (GRID - 1.0)));
    return count;
}

/* Nonzero: all points between `first` and `last` lie on the line of speed between these two. */
static int is_straight(const double *points, int first, int last)
{
    const double *a = &points[2 * first], *b = &points[2 * last];
    for (int k = first + 1; k < last; k++) {
        const double *p = &points[2 * k];
        double part = (p[0] - a[0]) / (b[0] - a[0]), speed = (1 - part) * a[0] / a[1] + part * b[0] / b[1];
        if (fabs(speed * p[1] / p[0] - 1) > superfluous) return 0;
    }
    return 1;
}

/* Removes, in place, points that follow from the others, as a search takes longer with every point.  Returns how many are left. */
static int thin_out(double *points, int count)
{
    double all[2 * POINTS];
    int kept = 0, last = 0;
    memcpy(all, points, 2 * (size_t)count * sizeof *all);
    for (int k = 0; k < count; k++) {
        if (k > 0 && k + 1 < count && is_straight(all, last, k + 1)) continue;
        memcpy(&points[2 * kept++], &all[2 * k], 2 * sizeof *all);
        last = k;
    }
    return kept;
}

/* Nonzero: seconds (without the start) are proportional to units, up to rounding. */
static int is_line(const double *points, int count)
{
    for (int k = 1; k < count; k++)
        if (fabs(points[2 * k + 1] / points[2 * k] / (points[1] / points[0]) - 1) > 1e-9) return 0;
    return 1;
}

/* A requested time: in a prediction at `units`, in a search at all sizes with the uncertainty at `units`. */
typedef struct wanted_time {
    int work, device, level, exact, beside;
    double units, all;
    double slowness; /* factor of all seconds */
} wanted_time;

/*
 * An uncertainty for the planner, which has no value for "not known": an unknown uncertainty becomes 0, as in model files, and *vague is
 * set.  So it never appears as a number in predictions, neither as 0 nor as 1 (run_predict).
 */
static double known_or_exact(double uncertainty, int *vague)
{
    *vague |= isnan(uncertainty);
    return isnan(uncertainty) ? 0 : fmin(uncertainty, 1);
}

/* Finds t(x) of a phase at a level; returns 0 if it is not known. */
static int fill_time(const yoke_run *run, const wanted_time *wanted, yoke_plan_time *time, double *points, int *vague)
{
    const int work = wanted->work, device = wanted->device, level = wanted->level;
    double units[POINTS] = {wanted->units}, uncertainty = 0,
           start = wanted->slowness * run_start_s(run, work, device, level, wanted->beside);
    int count = wanted->exact ? 1 : choose_units(run, work, device, wanted->all, units), kept = 0;
    for (int k = 0; k < count; k++) {
        double seconds =
            wanted->slowness * run_seconds(run, work, device, level, wanted->beside, units[k], wanted->exact ? &uncertainty : NULL);
        if (isnan(seconds)) return 0;
        if (!(seconds - start > 0)) continue;
        points[2 * kept] = units[k];
        points[2 * kept++ + 1] = seconds - start;
    }
    if (kept == 0) return 0;
    kept = thin_out(points, kept);
    if (!wanted->exact) (void)run_seconds(run, work, device, level, wanted->beside, wanted->units, &uncertainty);
    *time = (yoke_plan_time){
        .start_seconds = start, .time_uncertainty = known_or_exact(uncertainty, vague), .num_points = kept, .points = points};
    if (is_line(points, kept))
        *time =
            (yoke_plan_time){.start_seconds = start, .time_uncertainty = time->time_uncertainty, .seconds_per_unit = points[1] / points[0]};
    return 1;
}

/* ---------------------------------------------------------------------------------------------------- levels */

/* The parts of a problem's memory. */
typedef struct parts {
    yoke_plan_device *devices;
    yoke_plan_level *levels; /* [devices][RUN_MAX_LEVELS]; for a prediction [devices][1] */
    yoke_plan_time *times;   /* [devices][levels][phases] */
    double *points;          /* [devices][levels][phases][2 POINTS]; for a prediction one point each */
} parts;

int run_is_plain(const run_plan *plan)
{
    const yoke_phase *p = &plan->phases[0];
    return !plan->weighed && plan->num_cuts == 1 && plan->num_phases == 1 && p->cut == 0 && p->units == plan->cut_units[0] &&
           p->weight_sum == NULL && !(p->call_seconds > 0);
}

/* Units of a phase that the device has by the plan; in a search those that it had in the last round, or an equal part. */
static double likely_units(const yoke_run *run, const run_plan *plan, const yoke_phase *phase, int device, int only)
{
    if (phase->cut < 0) return (double)phase->units;
    const int64_t units = only ? run_phase_units_of(plan, (int)(phase - plan->phases), device) : 0;
    double part = 1.0 / run->num_devices;
    if (run->has_plan && run->plan->units[0][device] > 0) part = (double)run->plan->units[0][device] / (double)run->plan->cut_units[0];
    return fmax(1, units > 0 ? (double)units : part * (double)phase->units);
}

/* Nonzero: the device has units of the phase by the plan, or may have units in a search. */
static int works_on(const yoke_run *run, const run_plan *plan, int phase, int device, int only)
{
    const yoke_phase *p = &plan->phases[phase];
    if (p->cut < 0) return p->device == device && p->units > 0;
    return only ? plan->units[p->cut][device] > 0 : run_most_units(run, plan, device) > 0;
}

int run_is_beside(const yoke_run *run, const run_plan *plan, int phase, int only)
{
    int first = phase, last = phase, count = 0;
    while (first > 0 && !plan->phases[first - 1].barrier) first--;
    while (last + 1 < plan->num_phases && !plan->phases[last].barrier) last++;
    for (int i = 0; i < run->num_devices; i++) {
        int works = 0;
        for (int p = first; p <= last; p++) works |= works_on(run, plan, p, i, only);
        count += works;
    }
    return count > 1;
}

/* Seconds of a call on all units alone, as a fraction of those beside others; 0: not known, or not below 1. */
static double alone_factor(const yoke_run *run, const wanted_time *wanted)
{
    const double alone_s = run_seconds(run, wanted->work, wanted->device, wanted->level, 0, wanted->all, NULL),
                 beside_s = run_seconds(run, wanted->work, wanted->device, wanted->level, 1, wanted->all, NULL);
    return alone_s < beside_s ? alone_s / beside_s : 0;
}

static int fill_level(const yoke_run *run, const run_plan *plan, int device, int level, int only, run_problem *problem, yoke_plan_level *to,
                      yoke_plan_time *times, double *points)
{
    const double idle_uncertainty = known_or_exact(run_idle_uncertainty(run, device, level), &problem->vague_powers);
    const double slowness = run_find_overhead(run, plan, only).slowness;
    double uncertainty, dynamic_w = run_dynamic_w(run, device, level, &uncertainty), idle_w = run_idle_w(run, device, level);
    if (run->needs_powers && (isnan(dynamic_w) || isnan(idle_w))) return 0;
    for (int p = 0; p < plan->num_phases; p++, points += only ? 2 : 2 * POINTS) {
        const yoke_phase *phase = &plan->phases[p];
        const wanted_time wanted = {.work = run_work_of(run, plan, p, device),
                                    .device = device,
                                    .level = level,
                                    .exact = only,
                                    .beside = run_is_beside(run, plan, p, only),
                                    .slowness = slowness,
                                    .units = likely_units(run, plan, phase, device, only),
                                    .all = (double)phase->units};
        times[p] = (yoke_plan_time){.absent = 1};
        if (!has_phase(plan, p, device)) continue;
        int vague_time = 0, vague_power = 0;
        if (!fill_time(run, &wanted, &times[p], points, &vague_time)) return 0;
        times[p].dynamic_power_w = dynamic_w / wanted.slowness; /* the power was measured for seconds without the slowness */
        times[p].power_uncertainty = known_or_exact(uncertainty, &vague_power);
        if (!only || run_phase_units_of(plan, p, device) > 0) { /* otherwise the phase is not part of the prediction */
            problem->vague_times |= vague_time;
            problem->vague_powers |= vague_power;
        }
        /* A run considers devices alone by itself, as it tests now and then whether that is still better (leave_alone). */
        if (!only && plan->told && wanted.beside) times[p].alone_factor = alone_factor(run, &wanted);
        /*
         * A search ignores uncertainties.  An uncertain choice is measured when it is chosen, which would never happen if ties within the
         * uncertainty were broken by time.
         */
        if (!only && !plan->told) times[p].time_uncertainty = times[p].power_uncertainty = 0;
    }
    *to = (yoke_plan_level){.frequency_hz = run->devices[device].hz[level],
                            .idle_power_w = idle_w,
                            .power_uncertainty = only || plan->told ? idle_uncertainty : 0,
                            .phases = times};
    if (!run_is_plain(plan)) return 1;
    to->phases = NULL;
    to->start_seconds = times[0].start_seconds;
    to->seconds_per_unit = times[0].seconds_per_unit;
    to->num_points = times[0].num_points;
    to->points = times[0].points;
    to->time_uncertainty = times[0].time_uncertainty;
    to->dynamic_power_w = times[0].dynamic_power_w;
    to->power_uncertainty = fmax(to->power_uncertainty, times[0].power_uncertainty); /* one uncertainty for both powers */
    to->alone_factor = times[0].alone_factor;
    return 1;
}

/*
 * Seconds to copy one unit that the device did not have, as reported by rounds, or from its bytes as calibrated; 0: not known, or nothing
 * moves.  *start_s: seconds of a copy's start.
 */
static double copy_seconds(const yoke_run *run, const run_plan *plan, const run_device *d, double *start_s)
{
    *start_s = 0;
    if (run->options.copies_apart || (!plan->told && run_has_distribution(run, plan))) return 0;
    if (!isnan(d->copy_seconds_per_unit)) return d->copy_seconds_per_unit;
    if (isnan(d->copy_seconds_per_byte) || !(plan->copy_bytes_per_unit > 0)) return 0;
    *start_s = d->copy_start_s;
    return d->copy_seconds_per_byte * plan->copy_bytes_per_unit;
}

static int fill_device(const yoke_run *run, const run_plan *plan, int device, int only, int at, run_problem *problem, const parts *m)
{
    const run_device *d = &run->devices[device];
    const int64_t most_levels = only ? 1 : RUN_MAX_LEVELS;
    yoke_plan_level *levels = m->levels + at * most_levels;
    int count = 0;
    for (int l = 0; l < d->num_levels; l++) {
        int64_t place = (at * most_levels + count) * plan->num_phases;
        if (only && l != plan->levels[device]) continue;
        if (!fill_level(run, plan, device, l, only, problem, &levels[count], m->times + place, m->points + place * (only ? 2 : 2 * POINTS)))
            continue;
        problem->levels[at][count++] = l;
    }
    double copy_start_s, copy_s = copy_seconds(run, plan, d, &copy_start_s);
    problem->devices[at] = device;
    m->devices[at] = (yoke_plan_device){.name = d->info->name,
                                        .host = !d->accelerator,
                                        .removable = d->removable,
                                        .num_levels = count,
                                        .levels = levels,
                                        .copy_seconds = copy_start_s,
                                        .copy_seconds_per_unit = copy_s,
                                        .copy_joules_per_unit = isnan(d->copy_power_w) ? 0 : d->copy_power_w * copy_s,
                                        .max_units = run_most_units(run, plan, device)};
    return count > 0;
}

static yoke_status make_parts(yoke_run *run, const run_plan *plan, int only, run_problem *problem, parts *m)
{
    const int64_t levels = (int64_t)run->num_devices * (only ? 1 : RUN_MAX_LEVELS), times = levels * plan->num_phases;
    const struct {
        int64_t count;
        size_t size;
    } wanted[] = {{run->num_devices, sizeof *m->devices},
                  {levels, sizeof *m->levels},
                  {times, sizeof *m->times},
                  {times * (only ? 2 : 2 * POINTS), sizeof *m->points},
                  {run->num_devices, sizeof *problem->levels},
                  {plan->num_phases, sizeof(yoke_phase)}};
    yoke_status status = YOKE_OK;
    for (int k = 0; k < 6 && status == YOKE_OK; k++)
        status = yoke_allocate(run->context, wanted[k].count, wanted[k].size, &problem->memory[k]);
    *m = (parts){problem->memory[0], problem->memory[1], problem->memory[2], problem->memory[3]};
    problem->levels = problem->memory[4];
    return status;
}

/* Copies the phases; a phase that belongs to one device has the device's index in the problem. */
static void number_phases(const yoke_run *run, const run_plan *plan, int only, run_problem *problem, int count)
{
    yoke_phase *phases = problem->memory[5];
    memcpy(phases, plan->phases, (size_t)plan->num_phases * sizeof *phases);
    const double call_s = run_find_overhead(run, plan, only).call_s;
    for (int p = 0; p < plan->num_phases; p++) phases[p].call_seconds += call_s;
    for (int p = 0; p < plan->num_phases; p++) {
        if (phases[p].units == 0) phases[p].device = 0; /* its device need not be in the problem */
        for (int k = 0; k < count && phases[p].cut < 0; k++)
            if (problem->devices[k] == plan->phases[p].device) phases[p].device = k;
    }
    problem->round =
        (yoke_round){.num_cuts = plan->num_cuts, .cut_units = plan->cut_units, .num_phases = plan->num_phases, .phases = phases};
}

/* Returns the least host overhead over the host's levels here, and writes to each level the difference to it. */
static double tell_overheads(const yoke_run *run, int only, int count, const run_problem *problem, const parts *m)
{
    const int host = run_serving_host(run);
    double watts[RUN_MAX_LEVELS], least = INFINITY;
    run_host_overheads(run, watts);
    for (int k = 0; k < count; k++) {
        if (problem->devices[k] != host) continue;
        yoke_plan_level *levels = m->levels + k * (only ? 1 : RUN_MAX_LEVELS);
        for (int64_t l = 0; l < m->devices[k].num_levels; l++) least = fmin(least, watts[problem->levels[k][l]]);
        for (int64_t l = 0; l < m->devices[k].num_levels; l++) levels[l].host_overhead_w = watts[problem->levels[k][l]] - least;
    }
    return isfinite(least) ? least : watts[host >= 0 ? run->devices[host].level : 0];
}

yoke_status run_problem_create(yoke_run *run, const run_plan *plan, int only, run_problem *problem, int *known)
{
    parts m;
    int count = 0;
    double base_w = run->base_w;
    *problem = (run_problem){.options = {.objective = run->options.objective,
                                         .deadline_s = run->options.deadline_s,
                                         .max_slowdown = run->options.max_slowdown,
                                         .power_cap_w = run->options.power_cap_w}};
    yoke_status status = make_parts(run, plan, only, problem, &m);
    int64_t units = 0;
    for (int p = 0; p < plan->num_phases; p++) units |= plan->phases[p].units;
    if (run->limit_s > 0) { /* the slowdown limit of all rounds that are compared */
        problem->options.max_slowdown = 0;
        problem->options.deadline_s = problem->options.deadline_s > 0 ? fmin(problem->options.deadline_s, run->limit_s) : run->limit_s;
    }
    if (problem->options.deadline_s > 0) /* what is left of it for phases; if nothing is left, no plan meets it */
        problem->options.deadline_s = fmax(problem->options.deadline_s - run_overhead_s(run, plan, only, NULL), 1e-300);
    *known = units != 0 && !(run->needs_powers && isnan(run->base_w)); /* without units there is no time to predict */
    for (int i = 0; i < run->num_devices && status == YOKE_OK && *known; i++) {
        if (run_most_units(run, plan, i) > 0)
            *known = fill_device(run, plan, i, only, count++, problem, &m);
        else if (!run->devices[i].removable) /* a device without units still has its idle power */
            base_w += isnan(run_idle_w(run, i, run->devices[i].level)) ? 0 : run_idle_w(run, i, run->devices[i].level);
    }
    *known = *known && count > 0;
    if (status == YOKE_OK && *known) number_phases(run, plan, only, problem, count);
    problem->problem =
        (yoke_plan_problem){.units = plan->cut_units[0],
                            .repetitions = plan->phases[0].calls,
                            .copies_before = plan->num_phases > 1 || plan->phases[0].calls > 1, /* 0: a device begins after its copies */
                            .base_power_w = base_w,
                            .host_overhead_w = *known ? tell_overheads(run, only, count, problem, &m) : 0,
                            .num_devices = count,
                            .devices = m.devices,
                            .round = run_is_plain(plan) ? NULL : &problem->round};
    if (status == YOKE_OK && *known) return YOKE_OK;
    run_problem_clear(run, problem);
    return status;
}

void run_problem_clear(yoke_run *run, run_problem *problem)
{
    for (int k = 0; k < 6; k++) {
        yoke_release(run->context, problem->memory[k]);
        problem->memory[k] = NULL;
    }
}
