/* A round as the planner's problem: what the models of works and powers say, at the levels for which they say something. */
#include <math.h>
#include <string.h>

#include "run/run.h"

/* Points between which speeds are taken to be linear: so near to each other that it does not matter which curve joins them. */
enum { GRID = 24, KNOTS = 24, POINTS = GRID + KNOTS };
static const double grid_span = 65536; /* the least units of the grid are that part of all */
static const double same_units = 1e-3;
/* Points that lines of speed between their neighbours tell so well are left out. */
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

/* Nonzero: the device may have units of the phase. */
static int has_phase(const run_plan *plan, int phase, int device)
{
    const yoke_phase *p = &plan->phases[phase];
    return p->units > 0 && (p->cut >= 0 || p->device == device);
}

int64_t run_most_units(const yoke_run *run, const run_plan *plan, int device)
{
    const run_device *d = &run->devices[device];
    if (!run_is_active(run, device) || !(plan->allowed >> device & 1)) return 0;
    for (int p = 0; p < plan->num_phases; p++)
        if (has_phase(plan, p, device) && run->run_works[plan->works[p]].tries[device] >= RUN_MOST_TRIES) return 0;
    if (!d->accelerator || !(plan->memory_bytes_per_unit > 0) || d->memory_bytes <= 0) return INT64_MAX;
    return (int64_t)fmin((double)d->memory_bytes / plan->memory_bytes_per_unit, 9e18);
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

/* Where the curve is given to the planner: at its own bends and in between. */
static int choose_units(const yoke_run *run, int work, int device, double all, double *units)
{
    double from = fmax(1, all / grid_span), to = fmax(1, all);
    int count = 0, added = 0;
    for (int l = run->devices[device].num_levels - 1; l >= 0; l--) {
        const speed_model *model = run_model(run, work, device, l);
        for (int k = 0; model->points > 0 && k < model->curve.knots && added < KNOTS; k++) {
            if (model->curve.units[k] < 1 || model->curve.units[k] > to) continue;
            int before = count;
            count = by_value(units, count, model->curve.units[k]);
            added += count > before;
        }
    }
    for (int k = 0; k < GRID; k++) count = by_value(units, count, from * pow(to / from, k / (GRID - 1.0)));
    return count;
}

/* Nonzero: all points between two lie on the line of speed between these. */
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

/* Leaves out, in place, what the others tell: a search takes longer with every point.  Returns how many are left. */
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

/* Nonzero: seconds are start + per_unit x to rounding. */
static int is_line(const double *points, int count)
{
    for (int k = 1; k < count; k++)
        if (fabs(points[2 * k + 1] / points[2 * k] / (points[1] / points[0]) - 1) > 1e-9) return 0;
    return 1;
}

/* Where a time is asked for: in a prediction at these units, in a search at all sizes, with the uncertainty of these. */
typedef struct wanted_time {
    int work, device, level, exact, beside;
    double units, all;
} wanted_time;

/* t(x) of a phase at a level; zero where it is not known. */
static int fill_time(const yoke_run *run, const wanted_time *wanted, yoke_plan_time *time, double *points)
{
    const int work = wanted->work, device = wanted->device, level = wanted->level;
    double units[POINTS] = {wanted->units}, uncertainty = 0, factor = run_factor(run, work, device, wanted->beside),
           start = factor * run_start_s(run, work, device, level);
    int count = wanted->exact ? 1 : choose_units(run, work, device, wanted->all, units), kept = 0;
    for (int k = 0; k < count; k++) {
        double seconds = factor * run_seconds(run, work, device, level, units[k], NULL);
        if (isnan(seconds)) return 0;
        if (!(seconds - start > 0)) continue;
        points[2 * kept] = units[k];
        points[2 * kept++ + 1] = seconds - start;
    }
    if (kept == 0) return 0;
    kept = thin_out(points, kept);
    (void)run_seconds(run, work, device, level, wanted->units, &uncertainty);
    *time = (yoke_plan_time){.start_seconds = start, .time_uncertainty = fmin(uncertainty, 1), .num_points = kept, .points = points};
    if (is_line(points, kept))
        *time =
            (yoke_plan_time){.start_seconds = start, .time_uncertainty = time->time_uncertainty, .seconds_per_unit = points[1] / points[0]};
    return 1;
}

/* ---------------------------------------------------------------------------------------------------- levels */

/* The parts of a problem's memory. */
typedef struct parts {
    yoke_plan_device *devices;
    yoke_plan_level *levels; /* [devices][RUN_MOST_LEVELS], of a prediction [devices][1] */
    yoke_plan_time *times;   /* [devices][levels][phases] */
    double *points;          /* [devices][levels][phases][2 POINTS], of a prediction one point each */
} parts;

/* Whether the planner can be told this round as one phase without a round: then its search is exact at any size. */
static int is_plain(const run_plan *plan)
{
    const yoke_phase *p = &plan->phases[0];
    return plan->num_cuts == 1 && plan->num_phases == 1 && p->cut == 0 && p->units == plan->cut_units[0] && p->weight_sum == NULL &&
           !(p->call_seconds > 0);
}

/* Units of a phase that the device has by the plan; in a search those that it had, or may get. */
static double likely_units(const yoke_run *run, const run_plan *plan, const yoke_phase *phase, int device, int only)
{
    int64_t first = 0, units = 0;
    if (phase->cut < 0) return (double)phase->units;
    for (int i = 0; only && i < device; i++) first += plan->units[phase->cut][i];
    if (only) units = run_phase_units(phase, plan->cut_units[phase->cut], first, first + plan->units[phase->cut][device]);
    double part = 1.0 / run->num_devices;
    if (run->has_plan && run->plan->units[0][device] > 0) part = (double)run->plan->units[0][device] / (double)run->plan->cut_units[0];
    return fmax(1, units > 0 ? (double)units : part * (double)phase->units);
}

/* Nonzero: more than one device works by the plan, or in a search may work. */
static int are_beside(const yoke_run *run, const run_plan *plan, int only)
{
    int count = 0;
    for (int i = 0; i < run->num_devices; i++) {
        int64_t units = 0;
        for (int c = 0; c < plan->num_cuts; c++) units |= plan->units[c][i];
        count += only ? units > 0 : run_most_units(run, plan, i) > 0;
    }
    return count > 1;
}

static int fill_level(const yoke_run *run, const run_plan *plan, int device, int level, int only, yoke_plan_level *to,
                      yoke_plan_time *times, double *points)
{
    double uncertainty, dynamic_w = run_dynamic_w(run, device, level, &uncertainty), idle_w = run_idle_w(run, device, level);
    if (run->needs_powers && (isnan(dynamic_w) || isnan(idle_w))) return 0;
    for (int p = 0; p < plan->num_phases; p++, points += only ? 2 : 2 * POINTS) {
        const yoke_phase *phase = &plan->phases[p];
        const wanted_time wanted = {.work = plan->works[p],
                                    .device = device,
                                    .level = level,
                                    .exact = only,
                                    .beside = are_beside(run, plan, only),
                                    .units = likely_units(run, plan, phase, device, only),
                                    .all = (double)phase->units};
        times[p] = (yoke_plan_time){.absent = 1};
        if (!has_phase(plan, p, device)) continue;
        if (!fill_time(run, &wanted, &times[p], points)) return 0;
        times[p].dynamic_power_w = dynamic_w;
        times[p].power_uncertainty = isnan(uncertainty) ? 0 : uncertainty;
        /* A search takes numbers as they are: what is uncertain is measured when it is chosen, and a tie broken by time would never be. */
        if (!only && !plan->told) times[p].time_uncertainty = times[p].power_uncertainty = 0;
    }
    *to = (yoke_plan_level){.frequency_hz = run->devices[device].hz[level], .idle_power_w = idle_w, .phases = times};
    if (!is_plain(plan)) return 1;
    to->phases = NULL;
    to->start_seconds = times[0].start_seconds;
    to->seconds_per_unit = times[0].seconds_per_unit;
    to->num_points = times[0].num_points;
    to->points = times[0].points;
    to->time_uncertainty = times[0].time_uncertainty;
    to->dynamic_power_w = dynamic_w;
    to->power_uncertainty = times[0].power_uncertainty;
    return 1;
}

/* Of one unit that the device did not have: as rounds told it, or by its bytes as calibrated; 0 where nothing is known, or nothing has to move. */
static double copy_seconds(const yoke_run *run, const run_plan *plan, const run_device *d, double *start_s)
{
    *start_s = 0;
    if (!plan->told && run_has_distribution(run, plan)) return 0;
    if (!isnan(d->copy_seconds_per_unit)) return d->copy_seconds_per_unit;
    if (isnan(d->copy_seconds_per_byte) || !(plan->copy_bytes_per_unit > 0)) return 0;
    *start_s = d->copy_start_s;
    return d->copy_seconds_per_byte * plan->copy_bytes_per_unit;
}

static int fill_device(const yoke_run *run, const run_plan *plan, int device, int only, int at, run_problem *problem, const parts *m)
{
    const run_device *d = &run->devices[device];
    const int64_t most_levels = only ? 1 : RUN_MOST_LEVELS;
    yoke_plan_level *levels = m->levels + at * most_levels;
    int count = 0;
    for (int l = 0; l < d->num_levels; l++) {
        int64_t place = (at * most_levels + count) * plan->num_phases;
        if (only && l != plan->levels[device]) continue;
        if (!fill_level(run, plan, device, l, only, &levels[count], m->times + place, m->points + place * (only ? 2 : 2 * POINTS)))
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
    const int64_t levels = (int64_t)run->num_devices * (only ? 1 : RUN_MOST_LEVELS), times = levels * plan->num_phases;
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

/* Phases that belong to one device name it by its place in the problem. */
static void number_phases(const run_plan *plan, run_problem *problem, int count)
{
    yoke_phase *phases = problem->memory[5];
    memcpy(phases, plan->phases, (size_t)plan->num_phases * sizeof *phases);
    for (int p = 0; p < plan->num_phases; p++)
        for (int k = 0; k < count && phases[p].cut < 0; k++)
            if (problem->devices[k] == plan->phases[p].device) phases[p].device = k;
    problem->round =
        (yoke_round){.num_cuts = plan->num_cuts, .cut_units = plan->cut_units, .num_phases = plan->num_phases, .phases = phases};
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
    if (problem->options.deadline_s > 0) /* what is left of it for phases; where nothing is, nothing meets it */
        problem->options.deadline_s = fmax(problem->options.deadline_s - run_overhead_s(run, plan, NULL), 1e-300);
    *known = units != 0 && !(run->needs_powers && isnan(run->base_w)); /* no units take no time */
    for (int i = 0; i < run->num_devices && status == YOKE_OK && *known; i++) {
        if (run_most_units(run, plan, i) > 0)
            *known = fill_device(run, plan, i, only, count++, problem, &m);
        else if (!run->devices[i].removable) /* it is there, and draws what it draws */
            base_w += isnan(run_idle_w(run, i, run->devices[i].level)) ? 0 : run_idle_w(run, i, run->devices[i].level);
    }
    *known = *known && count > 0;
    if (status == YOKE_OK && *known) number_phases(plan, problem, count);
    problem->problem =
        (yoke_plan_problem){.units = plan->cut_units[0],
                            .repetitions = plan->phases[0].calls,
                            .copies_before = plan->num_phases > 1 || plan->phases[0].calls > 1, /* who has copied may begin */
                            .base_power_w = base_w,
                            .hosting_power_w = run->hosting_w,
                            .num_devices = count,
                            .devices = m.devices,
                            .round = is_plain(plan) ? NULL : &problem->round};
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

/* ------------------------------------------------------------------------------------------------------ cost */

double run_objective(yoke_objective objective, double time_s, double energy_j)
{
    switch (objective) {
    case YOKE_OBJECTIVE_TIME:
        return time_s;
    case YOKE_OBJECTIVE_ENERGY:
        return energy_j;
    case YOKE_OBJECTIVE_EDP:
        return energy_j * time_s;
    case YOKE_OBJECTIVE_ED2P:
        return energy_j * time_s * time_s;
    }
    return NAN;
}

yoke_status run_predict(yoke_run *run, run_plan *plan)
{
    run_problem problem;
    int known = 0;
    int64_t units[RUN_MOST_CUTS * RUN_MOST_DEVICES];
    yoke_plan_choice choice = {.time_s = NAN};
    plan->predicted = (yoke_cost){NAN, NAN, NAN, NAN, NAN};
    plan->value = NAN;
    for (int i = 0; i < run->num_devices; i++)
        plan->predicted_s[i] = run_factor(run, plan->works[0], i, are_beside(run, plan, 1)) *
                               run_seconds(run, plan->works[0], i, plan->levels[i], (double)plan->units[0][i], NULL);
    yoke_status status = run_problem_create(run, plan, 1, &problem, &known);
    if (status != YOKE_OK || !known) return status;
    const int count = (int)problem.problem.num_devices;
    for (int c = 0; c < plan->num_cuts; c++)
        for (int k = 0; k < count; k++) units[c * count + k] = plan->units[c][problem.devices[k]];
    status = yoke_plan_evaluate(run->context, &problem.problem, NULL, units, NULL, &choice);
    run_problem_clear(run, &problem);
    if (status != YOKE_OK) return status;
    double other_j, other_s = run_overhead_s(run, plan, &other_j);
    plan->predicted = (yoke_cost){.time_s = choice.time_s + other_s,
                                  .energy_j = choice.energy_j + other_j,
                                  .peak_power_w = choice.peak_power_w,
                                  .time_uncertainty_s = choice.time_uncertainty_s,
                                  .energy_uncertainty_j = choice.energy_uncertainty_j};
    plan->value = run_objective(run->options.objective, plan->predicted.time_s, plan->predicted.energy_j);
    return YOKE_OK;
}

yoke_status run_regret(yoke_run *run, double *regret)
{
    enum { NODES = 2000 };
    run_problem problem;
    yoke_plan *best = NULL;
    int known = 0;
    *regret = run->has_regret ? run->regret : (double)NAN;
    if (run->has_regret || !run->has_plan || run->plan->weighted || isnan(run->measured.time_s)) return YOKE_OK;
    *run->candidate = *run->plan;
    yoke_status status = run_predict(run, run->candidate);
    if (status != YOKE_OK || isnan(run->candidate->value)) return status;
    status = run_problem_create(run, run->plan, 0, &problem, &known);
    if (status != YOKE_OK || !known) return status;
    problem.options.bare = 1;
    problem.options.max_nodes = NODES;
    double other_j, other_s = run_overhead_s(run, run->candidate, &other_j);
    status = yoke_plan_create(run->context, &problem.problem, &problem.options, &best);
    if (status == YOKE_OK && best->feasible)
        *regret = fmax(
            0,
            run->candidate->value / run_objective(run->options.objective, best->best.time_s + other_s, best->best.energy_j + other_j) - 1);
    yoke_release(run->context, best);
    run_problem_clear(run, &problem);
    run->regret = *regret;
    run->has_regret = status == YOKE_OK;
    return status;
}
