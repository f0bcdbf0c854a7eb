/*
 * cost.c - seconds of copies and work, the units that fit into given seconds, and what a choice costs.
 */
#include <math.h>

#include "plan/plan.h"

double plan_copy_s(const plan_device *device, int64_t n) { return n > 0 ? device->copy_s + device->copy_per_unit_s * (double)n : 0; }

double plan_work_s(const plan_work *work, const plan_level *level, int64_t n)
{
    if (n <= 0) return 0;
    if (level->speed.count == 0) return level->start_s + level->per_unit_s * (double)n;
    return level->start_s + work->repetitions * yoke_speed_seconds(&level->speed, (double)n);
}

double plan_finish_s(const plan_work *work, const plan_device *device, const plan_level *level, int64_t n)
{
    return plan_copy_s(device, n) + plan_work_s(work, level, n);
}

/* A function of units that does not fall: copies, work, or both. */
typedef struct rising {
    const plan_work *work;
    const plan_device *device; /* NULL: no copies */
    const plan_level *level;   /* NULL: no work */
} rising;

static double seconds_at(const rising *function, int64_t n)
{
    double copy = function->device != NULL ? plan_copy_s(function->device, n) : 0;
    return function->level != NULL ? copy + plan_work_s(function->work, function->level, n) : copy;
}

/* max{n in 0 .. most: function(n) <= seconds} from a guess that is right but for rounding (or bad: then it takes logarithmically long). */
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

/* Of copies and work; device NULL: of work. */
static int64_t units_within(const plan_work *work, const plan_device *device, const plan_level *level, double seconds, int64_t most)
{
    if (!(seconds > 0)) return 0;
    if (isinf(seconds)) return most;
    rising function = {.work = work, .device = device, .level = level};
    double left = seconds - level->start_s - (device != NULL ? device->copy_s : 0), per_unit = device != NULL ? device->copy_per_unit_s : 0;
    if (left < 0) return 0; /* to rounding: then nothing is lost but a unit that takes no time */
    double guess;
    if (level->speed.count == 0)
        guess = left / (level->per_unit_s + per_unit);
    else if (per_unit > 0)
        guess = fmin(left / per_unit, yoke_speed_units(&level->speed, left / work->repetitions));
    else
        guess = yoke_speed_units(&level->speed, left / work->repetitions);
    return most_within(&function, seconds, most, guess);
}

int64_t plan_work_units(const plan_work *work, const plan_level *level, double seconds, int64_t most)
{
    return units_within(work, NULL, level, seconds, most);
}

int64_t plan_finish_units(const plan_work *work, const plan_device *device, const plan_level *level, double seconds, int64_t most)
{
    return units_within(work, device, level, seconds, most);
}

/* Sums over devices in the work's order. */
typedef struct sums {
    double copies, works, finish;       /* longest */
    double host_s, accelerator_s;       /* longest work */
    double idle_w, active_w, dynamic_j; /* idle powers of all, powers of those at work, joules above idle */
    double squares, late;               /* of uncertainties, J; the latest end with uncertainty */
    int accelerators;                   /* with units */
} sums;

static void add_device(const plan_work *work, const plan_device *device, int64_t n, const plan_level *level, sums *sum)
{
    if (n <= 0) {
        sum->idle_w += device->parked_w;
        return;
    }
    double copy = plan_copy_s(device, n), seconds = plan_work_s(work, level, n);
    sum->copies = fmax(sum->copies, copy);
    sum->works = fmax(sum->works, seconds);
    sum->finish = fmax(sum->finish, copy + seconds);
    if (device->host)
        sum->host_s = fmax(sum->host_s, seconds);
    else {
        sum->accelerator_s = fmax(sum->accelerator_s, seconds);
        sum->accelerators++;
    }
    sum->idle_w += level->idle_w;
    sum->active_w += level->dynamic_w;
    sum->dynamic_j += level->dynamic_w * seconds + device->copy_j * (double)n;
    double term = level->dynamic_w * seconds;
    sum->squares += term * term * (level->time_uncertainty * level->time_uncertainty + level->power_uncertainty * level->power_uncertainty);
}

/* The latest end that is within all uncertainties of seconds, less T; and squares of idle energies. */
static void add_uncertainty(const plan_work *work, const plan_device *device, int64_t n, const plan_level *level, double time_s, sums *sum)
{
    double idle_w = n > 0 ? level->idle_w : device->parked_w;
    double term = idle_w * time_s * (n > 0 ? level->power_uncertainty : device->parked_uncertainty);
    sum->squares += term * term;
    if (n <= 0) return;
    double seconds = plan_work_s(work, level, n), end = (work->copies_before ? sum->copies : plan_copy_s(device, n)) + seconds;
    sum->late = fmax(sum->late, end + level->time_uncertainty * seconds - time_s);
}

static const plan_level *level_given(const plan_device *device, int64_t given)
{
    for (int k = 0; k < device->num_levels; k++)
        if (device->levels[k].given == given) return &device->levels[k];
    return &device->levels[0];
}

plan_cost plan_cost_of(const plan_work *work, const int64_t *units, const int64_t *levels)
{
    sums sum = {0};
    for (int i = 0; i < work->num_devices; i++) {
        const plan_device *device = &work->devices[i];
        add_device(work, device, units[device->given], level_given(device, levels[device->given]), &sum);
    }
    plan_cost cost = {.time_s = work->copies_before ? sum.copies + sum.works : sum.finish};
    double waits = fmax(0, sum.accelerator_s - sum.host_s), powers = work->base_w + sum.idle_w;
    cost.energy_j = powers * cost.time_s + sum.dynamic_j + (waits > 0 ? work->hosting_w * waits : 0);
    if (!(cost.time_s > 0)) cost.energy_j = isnan(powers) ? NAN : 0;
    cost.peak_w = powers + sum.active_w + (sum.accelerators > 0 ? work->hosting_w : 0);
    for (int i = 0; i < work->num_devices; i++) {
        const plan_device *device = &work->devices[i];
        add_uncertainty(work, device, units[device->given], level_given(device, levels[device->given]), cost.time_s, &sum);
    }
    cost.time_uncertainty_s = sum.late;
    double late_j = powers * sum.late;
    cost.energy_uncertainty_j = isnan(cost.energy_j) ? NAN : sqrt(sum.squares + late_j * late_j);
    return cost;
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
    for (int i = 0; i < work->num_devices; i++) count += result->units[i] > 0;
    return count;
}

/* -1, 0, 1 as a is less than, equal to (1e-12, or both unknown), or greater than b. */
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
