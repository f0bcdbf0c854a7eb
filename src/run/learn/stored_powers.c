/* Powers in the store: of a device at each of its frequencies, and of a host also while it waits for accelerators. */
#include <math.h>

#include "run/run.h"

/* Weights of stored values: small compared to those of what is measured now. */
static const double stored_s = 1e-3, stored_squares = 1e-6;

static int same_frequency(double a, double b) { return fabs(a - b) <= 1e-9 * fabs(b); }

int run_stored_level(const run_device *d, double frequency_hz, double highest)
{
    if (isnan(frequency_hz)) return d->num_levels - 1;
    if (isnan(d->hz[0])) return same_frequency(frequency_hz, highest) ? 0 : -1;
    for (int l = 0; l < d->num_levels; l++)
        if (same_frequency(d->hz[l], frequency_hz)) return l;
    return -1;
}

/* ------------------------------------------------------------------------------------------------ reading */

/*
 * Half width of the interval of the power above idle.  The stored half width of the whole power is the root of the sum of the squares of
 * both (put_entry), and a difference is no more certain than what is subtracted.
 */
static double above_interval_w(double idle_w, double busy_w)
{
    if (isnan(idle_w) || isnan(busy_w)) return NAN;
    return busy_w > idle_w ? fmax(sqrt((busy_w - idle_w) * (busy_w + idle_w)), idle_w) : idle_w;
}

/*
 * Nonzero: the stored powers do not hold, as this run has declared powers, or they were declared to an earlier run and this run has others.
 */
static int is_outdated(const yoke_run *run, const yoke_store_entry *entry)
{
    return run->declared || (run->options.declared != NULL && entry->power_kind == YOKE_ENERGY_ESTIMATED);
}

static void say_declared(yoke_run *run, int device, const yoke_store_entry *entry)
{
    if (entry->power_kind != YOKE_ENERGY_ESTIMATED || !run->needs_powers) return;
    yoke_log(
        run->context, YOKE_LOG_INFO,
        "store: %s draws %.4g W at rest and %.4g W at work as far as an earlier run was told (declared powers); declare others if that "
        "is not so",
        run->devices[device].info->name, entry->idle_power_w, entry->busy_power_w);
}

/* Takes a stored power if nothing is known of the level yet.  Returns nonzero if it was taken. */
static int take_power(run_level_power *power, const yoke_store_power *from)
{
    if (!isnan(power->idle_w) || isnan(from->idle_power_w) || isnan(from->busy_power_w) || from->busy_power_w < from->idle_power_w)
        return 0;
    const double memory_w = isnan(from->memory_power_w) ? 0 : from->memory_power_w;
    power->idle_w = from->idle_power_w;
    power->idle_uncertainty_w = from->idle_power_interval_w;
    power->busy_s = stored_s;
    power->above_j = power->busy_s * fmax(0, from->busy_power_w - from->idle_power_w - memory_w);
    power->uncertain_j = power->busy_s * above_interval_w(from->idle_power_interval_w, from->busy_power_interval_w);
    return 1;
}

/* Takes the powers of hosts in addition to their meters.  Without meters, an overhead in the options has priority. */
static void take_others(yoke_run *run, int level, const yoke_store_power *from)
{
    run_others *o = &run->others;
    if (run->num_meters == 0 && run->options.host_overhead_w > 0) return;
    if (!(o->hosts_squares > 0) && !isnan(from->memory_power_w)) {
        o->memory_w = from->memory_power_w;
        o->hosts_squares = stored_squares;
        o->hosts_j = o->hosts_squares * o->memory_w;
    }
    if (o->waits_squares[level] > 0 || isnan(from->hosting_power_w)) return;
    const double interval_j = stored_squares * (isnan(from->hosting_power_interval_w) ? 0 : from->hosting_power_interval_w);
    o->overhead_w[level] = from->hosting_power_w;
    o->waits_squares[level] = stored_squares;
    o->waits_j[level] = o->waits_squares[level] * o->overhead_w[level];
    o->uncertain_squares[level] = interval_j * interval_j;
}

int run_is_overhead_measured(const yoke_run *run, int level) { return run->others.waits_squares[level] > 2 * stored_squares; }

static double highest_of(const yoke_store_entry *entry)
{
    double highest = NAN;
    for (int64_t k = 0; k < entry->num_powers; k++) highest = fmax(highest, entry->powers[k].frequency_hz);
    return highest;
}

void run_take_powers(yoke_run *run, int device, const yoke_store_entry *entry)
{
    run_device *d = &run->devices[device];
    const yoke_store_power highest = {.idle_power_w = entry->idle_power_w,
                                      .idle_power_interval_w = entry->idle_power_interval_w,
                                      .busy_power_w = entry->busy_power_w,
                                      .busy_power_interval_w = entry->busy_power_interval_w,
                                      .memory_power_w = NAN};
    int taken = 0;
    if (is_outdated(run, entry)) return;
    for (int64_t k = 0; k < entry->num_powers; k++) {
        const int level = run_stored_level(d, entry->powers[k].frequency_hz, highest_of(entry));
        if (level < 0) continue;
        taken |= take_power(&d->powers[level], &entry->powers[k]);
        if (device == run_serving_host(run)) take_others(run, level, &entry->powers[k]);
    }
    taken |= take_power(&d->powers[d->num_levels - 1], &highest);
    if (taken) say_declared(run, device, entry);
}

/* ------------------------------------------------------------------------------------------------ writing */

/* Writes what is known of a level.  Returns nonzero if something is. */
static int give_power(const yoke_run *run, int device, int level, yoke_store_power *to)
{
    const run_device *d = &run->devices[device];
    const run_level_power *power = &d->powers[level];
    const run_others *o = &run->others;
    const int is_host = device == run_serving_host(run), hosts = is_host && o->waits_squares[level] > 0;
    const int measured = !isnan(power->idle_w) && power->busy_s > 0;
    double of_power = NAN, dynamic_w = measured ? run_dynamic_w(run, device, level, &of_power) : (double)NAN;
    *to = (yoke_store_power){.frequency_hz = d->hz[level],
                             .idle_power_w = measured ? power->idle_w : (double)NAN,
                             .idle_power_interval_w = measured ? power->idle_uncertainty_w : (double)NAN,
                             .busy_power_w = power->idle_w + dynamic_w,
                             .busy_power_interval_w = measured ? hypot(power->idle_uncertainty_w, of_power * dynamic_w) : (double)NAN,
                             .memory_power_w = d->accelerator ? 0 : o->memory_w,
                             .hosting_power_w = hosts ? o->overhead_w[level] : (double)NAN,
                             .hosting_power_interval_w = hosts ? sqrt(o->uncertain_squares[level]) / o->waits_squares[level] : (double)NAN};
    return measured || hosts;
}

int run_give_powers(const yoke_run *run, int device, const yoke_store_entry *old, yoke_store_power powers[RUN_MAX_STORED])
{
    const run_device *d = &run->devices[device];
    int count = 0, given[RUN_MAX_LEVELS] = {0};
    for (int l = 0; l < d->num_levels && !run->declared; l++) {
        given[l] = give_power(run, device, l, &powers[count]);
        count += given[l];
    }
    for (int64_t k = 0; old != NULL && k < old->num_powers && count < RUN_MAX_STORED; k++) {
        const int level = run_stored_level(d, old->powers[k].frequency_hz, highest_of(old));
        if (level < 0 || !given[level]) powers[count++] = old->powers[k];
    }
    return count;
}
