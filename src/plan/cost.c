/*
 * cost.c - seconds of copies and work, the units that fit into given seconds, and the cost of a choice.
 */
#include <math.h>

#include "plan/plan.h"

double plan_copy_s(const plan_device *device, int64_t n) { return n > 0 ? device->copy_s + device->copy_per_unit_s * (double)n : 0; }

double plan_time_s(const plan_time *time, int64_t n)
{
    if (n <= 0) return 0;
    if (time->speed.count == 0) return time->start_s + time->per_unit_s * (double)n;
    return time->start_s + time->calls * yoke_speed_seconds(&time->speed, (double)n);
}

double plan_work_s(const plan_level *level, int64_t n) { return plan_time_s(level->times, n); }

double plan_finish_s(const plan_device *device, const plan_level *level, int64_t n)
{
    return plan_copy_s(device, n) + plan_work_s(level, n);
}

/* A nondecreasing function of the units: copies, work, or both. */
typedef struct rising {
    const plan_device *device; /* NULL: no copies */
    const plan_level *level;   /* NULL: no work */
} rising;

static double seconds_at(const rising *function, int64_t n)
{
    double copy = function->device != NULL ? plan_copy_s(function->device, n) : 0;
    return function->level != NULL ? copy + plan_work_s(function->level, n) : copy;
}

/*
 * max{n in 0 .. most: function(n) <= seconds}.  The guess is correct except for rounding; after a bad guess the search takes logarithmic
 * time.
 */
static int64_t most_within(const rising *function, double seconds, int64_t most, double guess)
{
    int64_t low = guess > 0 ? (guess < (double)most ? (int64_t)guess : most) : 0, high = most, step = 1;
    while (low > 0 && seconds_at(function, low) > seconds) {
        high = low - 1;
        low = low > step ? low - step : 0;
        step *= 4;
    }
    step = 1;
    while (low < high) {
        int64_t next = high - low > step ? low + step : high;
        if (seconds_at(function, next) > seconds)
            high = next - 1;
        else
            low = next;
        step = high - low > 4 * step ? 4 * step : 1 + (high - low) / 2;
    }
    return low;
}

int64_t plan_copy_units(const plan_device *device, double seconds, int64_t most)
{
    if (!(seconds >= 0)) return 0;
    if (!(device->copy_s > 0) && !(device->copy_per_unit_s > 0)) return most;
    rising function = {.device = device};
    double guess = device->copy_per_unit_s > 0 ? (seconds - device->copy_s) / device->copy_per_unit_s : (double)most;
    return most_within(&function, seconds, most, guess);
}

/* Units within the seconds of copies and work; device NULL: of work only. */
static int64_t units_within(const plan_device *device, const plan_level *level, double seconds, int64_t most)
{
    if (!(seconds > 0)) return 0;
    if (isinf(seconds)) return most;
    const plan_time *time = level->times;
    rising function = {.device = device, .level = level};
    double left = seconds - time->start_s - (device != NULL ? device->copy_s : 0), per_unit = device != NULL ? device->copy_per_unit_s : 0;
    if (left < 0) return 0; /* up to rounding; only a unit that takes no time can be missed */
    double guess;
    if (time->speed.count == 0)
        guess = left / (time->per_unit_s + per_unit);
    else if (per_unit > 0)
        guess = fmin(left / per_unit, yoke_speed_units(&time->speed, left / time->calls));
    else
        guess = yoke_speed_units(&time->speed, left / time->calls);
    return most_within(&function, seconds, most, guess);
}

int64_t plan_work_units(const plan_level *level, double seconds, int64_t most) { return units_within(NULL, level, seconds, most); }

int64_t plan_finish_units(const plan_device *device, const plan_level *level, double seconds, int64_t most)
{
    return units_within(device, level, seconds, most);
}

/* The devices between one barrier and the next. */
typedef struct interval_sum {
    double longest;               /* longest work, including copies that overlap with it */
    double host_s, accelerator_s; /* longest work */
    double late;                  /* the latest end, including uncertainty */
    double active_w;              /* above idle */
    int accelerators;             /* nonzero: an accelerator works */
} interval_sum;

/* Sums over devices, in the work's order. */
typedef struct sums {
    double copies;                     /* longest copy */
    double idle_w, dynamic_j;          /* sum of idle powers; joules above idle */
    double idle_squares, work_squares; /* sums of squared uncertainties, W and J */
    double overhead_w;                 /* the largest of the hosts' levels */
    interval_sum intervals[PLAN_MAX_PHASES];
} sums;

static int64_t units_before(const plan_phase *phase, int64_t b)
{
    double part = phase->weight_sum != NULL ? phase->weight_sum[b] : (double)b;
    return phase->all > 0 ? (int64_t)floor((double)phase->units * part / phase->all + 0.5) : 0;
}

int64_t plan_phase_units(const plan_phase *phase, int64_t before, int64_t n)
{
    return phase->whole || n <= 0 ? n : units_before(phase, before + n) - units_before(phase, before);
}

/* The larger number; NaN if one is not known. */
static double larger(double a, double b) { return isnan(a) || a > b ? a : b; }

/* One device with its units and level.  before: the units of each cut that precede those of this device. */
typedef struct part {
    const plan_work *work;
    const plan_device *device;
    const plan_level *level;
    const int64_t *units; /* [num_cuts][num_devices] */
    const int64_t *before;
    int at_work, alone; /* alone: no other device is at work */
} part;

static int64_t units_of(const part *of, int cut) { return of->units[cut * of->work->num_devices + of->device->given]; }

static int64_t phase_units(const part *of, const plan_phase *phase)
{
    if (phase->cut < 0) return phase->device == of->device->given ? phase->units : 0;
    return plan_phase_units(phase, of->before[phase->cut], units_of(of, phase->cut));
}

static int is_at_work(const part *of)
{
    for (int c = 0; c < of->work->num_cuts; c++)
        if (units_of(of, c) > 0) return 1;
    for (int p = 0; p < of->work->num_phases; p++)
        if (of->work->phases[p].cut < 0 && phase_units(of, &of->work->phases[p]) > 0) return 1;
    return 0;
}

/*
 * Adds one interval of a device at work.  *phase is the interval's first phase, and is moved past its last.  Returns 0 if there is no
 * kernel for its units.
 */
static int add_interval(const part *of, int *phase, double copy_s, sums *sum, double *dynamic_j, double half_j[2])
{
    const plan_work *work = of->work;
    const int k = work->phases[*phase].interval;
    interval_sum *interval = &sum->intervals[k];
    double works = 0, half_s = 0, active_w = 0;
    for (; *phase < work->num_phases && work->phases[*phase].interval == k; ++*phase) {
        const plan_time *time = &of->level->times[*phase];
        int64_t n = phase_units(of, &work->phases[*phase]);
        if (n <= 0) continue;
        if (time->absent) return 0;
        double seconds = (of->alone ? time->alone : 1) * plan_time_s(time, n), joules = time->dynamic_w * seconds;
        works += seconds;
        half_s += time->time_uncertainty * seconds;
        active_w = larger(active_w, time->dynamic_w);
        *dynamic_j += joules;
        half_j[0] += joules * time->time_uncertainty;
        half_j[1] += joules * time->power_uncertainty;
    }
    interval->longest = fmax(interval->longest, copy_s + works);
    interval->late = fmax(interval->late, copy_s + works + half_s);
    interval->active_w += active_w;
    if (of->device->host)
        interval->host_s = fmax(interval->host_s, works);
    else
        interval->accelerator_s = fmax(interval->accelerator_s, works);
    interval->accelerators |= !of->device->host && works > 0;
    return 1;
}

static int add_device(const part *of, sums *sum)
{
    const plan_device *device = of->device;
    if (device->host) sum->overhead_w = fmax(sum->overhead_w, of->level->overhead_w);
    if (!of->at_work) {
        /* If overheads differ between levels, a host may be parked at any level. */
        const int any = of->work->overheads && device->host;
        const double idle_w = any && !device->removable ? of->level->idle_w : device->parked_w;
        const double half_w = idle_w * (any ? of->level->power_uncertainty : device->parked_uncertainty);
        sum->idle_w += idle_w;
        sum->idle_squares += half_w * half_w;
        return 1;
    }
    const int64_t n = units_of(of, 0);
    double copy_s = device->copy_s + device->copy_per_unit_s * (double)n, dynamic_j = 0, half_j[2] = {0, 0};
    sum->copies = fmax(sum->copies, copy_s);
    for (int p = 0; p < of->work->num_phases;)
        if (!add_interval(of, &p, p == 0 && !of->work->copies_before ? copy_s : 0, sum, &dynamic_j, half_j)) return 0;
    double half_w = of->level->idle_w * of->level->power_uncertainty;
    sum->idle_w += of->level->idle_w;
    sum->dynamic_j += dynamic_j + device->copy_j * (double)n;
    sum->idle_squares += half_w * half_w;
    sum->work_squares += half_j[0] * half_j[0] + half_j[1] * half_j[1];
    return 1;
}

static const plan_level *level_given(const plan_device *device, int64_t given)
{
    for (int k = 0; k < device->num_levels; k++)
        if (device->levels[k].given == given) return &device->levels[k];
    return &device->levels[0];
}

/* The cost from the sums over intervals. */
static plan_cost cost_of_sums(const plan_work *work, const sums *sum)
{
    double waits = 0, late_s = 0, powers = work->base_w + sum->idle_w, overhead_w = work->host_overhead_w + sum->overhead_w;
    plan_cost cost = {.time_s = work->copies_before ? sum->copies : 0, .peak_w = powers};
    for (int k = 0; k < work->num_intervals; k++) {
        const interval_sum *interval = &sum->intervals[k];
        cost.time_s += interval->longest;
        late_s += interval->late - interval->longest;
        waits += fmax(0, interval->accelerator_s - interval->host_s);
        cost.peak_w = larger(cost.peak_w, powers + interval->active_w + (interval->accelerators ? overhead_w : 0));
    }
    cost.time_s += work->call_s;
    cost.energy_j = powers * cost.time_s + sum->dynamic_j + (waits > 0 ? overhead_w * waits : 0);
    double idle_j = cost.time_s * cost.time_s * sum->idle_squares, late_j = powers * late_s;
    cost.time_uncertainty_s = late_s;
    cost.energy_uncertainty_j = isnan(cost.energy_j) ? NAN : sqrt(sum->work_squares + idle_j + late_j * late_j);
    return cost;
}

plan_cost plan_cost_of(const plan_work *work, const int64_t *units, const int64_t *levels)
{
    int64_t before[PLAN_MAX_CUTS] = {0};
    int at_work[PLAN_MAX_DEVICES], working = 0;
    sums sum;
    sum.copies = sum.idle_w = sum.dynamic_j = sum.idle_squares = sum.work_squares = sum.overhead_w = 0;
    for (int k = 0; k < work->num_intervals; k++) sum.intervals[k] = (interval_sum){0};
    for (int i = 0; i < work->num_devices; i++) {
        const part of = {.work = work, .device = &work->devices[i], .units = units};
        at_work[i] = is_at_work(&of);
        working += at_work[i];
    }
    for (int i = 0; i < work->num_devices; i++) {
        const plan_device *device = &work->devices[i];
        const plan_level *level = level_given(device, levels[device->given]);
        const part of = {work, device, level, units, before, at_work[i], working == 1};
        if (!add_device(&of, &sum)) return (plan_cost){NAN, NAN, NAN, NAN, NAN};
        for (int c = 0; c < work->num_cuts; c++) before[c] = (int64_t)((uint64_t)before[c] + (uint64_t)units_of(&of, c));
    }
    return cost_of_sums(work, &sum);
}

double plan_objective_value(yoke_objective objective, const plan_cost *cost)
{
    switch (objective) {
    case YOKE_OBJECTIVE_TIME:
        return cost->time_s;
    case YOKE_OBJECTIVE_ENERGY:
        return cost->energy_j;
    case YOKE_OBJECTIVE_EDP:
        return cost->energy_j * cost->time_s;
    case YOKE_OBJECTIVE_ED2P:
        return cost->energy_j * cost->time_s * cost->time_s;
    }
    return NAN;
}

double plan_objective_uncertainty(yoke_objective objective, const plan_cost *cost)
{
    if (objective == YOKE_OBJECTIVE_TIME) return cost->time_uncertainty_s;
    if (objective == YOKE_OBJECTIVE_ENERGY) return cost->energy_uncertainty_j;
    if (!(cost->time_s > 0) || !(cost->energy_j > 0)) return 0;
    double power = objective == YOKE_OBJECTIVE_EDP ? 1 : 2;
    double of_energy = cost->energy_uncertainty_j / cost->energy_j, of_time = power * cost->time_uncertainty_s / cost->time_s;
    return plan_objective_value(objective, cost) * sqrt(of_energy * of_energy + of_time * of_time);
}

static int working(const plan_work *work, const plan_result *result)
{
    int count = 0;
    for (int i = 0; i < work->num_devices; i++) {
        int has = 0;
        for (int c = 0; c < work->num_cuts; c++) has |= result->units[c * work->num_devices + i] > 0;
        count += has;
    }
    return count;
}

/* -1, 0, 1: a is less than, equal to (within 1e-12, or unknown), or greater than b. */
static int compare(double a, double b)
{
    if (!(fabs(a - b) > PLAN_ROUNDING * fmax(fabs(a), fabs(b)))) return 0;
    return a < b ? -1 : 1;
}

int plan_better(const plan_work *work, yoke_objective objective, const plan_result *a, const plan_result *b)
{
    if (a->feasible != b->feasible) return a->feasible;
    if (!a->feasible) return 0;
    int order = compare(plan_objective_value(objective, &a->cost), plan_objective_value(objective, &b->cost));
    if (order == 0) order = compare(a->cost.time_s, b->cost.time_s);
    if (order == 0) order = compare(a->cost.energy_j, b->cost.energy_j);
    if (order == 0) order = working(work, a) - working(work, b);
    return order < 0;
}
