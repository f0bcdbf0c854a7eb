/* Powers of devices at rest and at work, from meters or as declared. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "device/sim/sim.h"
#include "run/run.h"

/* A rest lasts this number of periods of a meter, so that the uncertainty at its two ends is a small part of it. */
static const double periods_of_a_rest = 25;
static const double least_rest_s = 0.3, most_rest_s = 3;

static yoke_status declare(yoke_run *run)
{
    for (int i = 0; i < run->num_devices; i++) {
        run_device *d = &run->devices[i];
        const yoke_run_power *found = NULL;
        for (int64_t k = 0; k < run->options.num_powers && found == NULL; k++)
            if (strcmp(run->options.powers[k].device, d->info->name) == 0) found = &run->options.powers[k];
        if (found == NULL && d->excluded) continue;
        if (found == NULL)
            return yoke_fail(run->context, YOKE_ERROR_INPUT,
                             "the options state powers of other devices, but none of %.64s, which may work; state its powers too",
                             d->info->name);
        d->removable = found->removable;
        d->powers[0] = (run_level_power){.idle_w = found->idle_w, .above_j = found->busy_w - found->idle_w, .busy_s = 1};
    }
    run->base_w = run->options.base_w;
    return YOKE_OK;
}

yoke_status run_powers_start(yoke_run *run)
{
    /* Without meters these powers cannot be measured: then the values of the options hold, so that powers of the store can be used. */
    run->base_w = run->num_meters == 0 ? run->options.base_w : (double)NAN;
    for (int l = 0; l < RUN_MAX_LEVELS; l++)
        run->others.overhead_w[l] = run->declared || run->num_meters == 0 ? run->options.host_overhead_w : 0;
    for (int i = 0; i < run->num_devices; i++)
        for (int l = 0; l < RUN_MAX_LEVELS; l++) run->devices[i].powers[l].idle_w = run->devices[i].powers[l].idle_uncertainty_w = NAN;
    if (run->declared) return declare(run);
    if (!run->needs_powers || run->options.store != NULL) return YOKE_OK;
    for (int i = 0; i < run->num_devices; i++) {
        const run_device *d = &run->devices[i];
        if (d->excluded || d->meters != 0) continue;
        return yoke_fail(run->context, YOKE_ERROR_UNAVAILABLE,
                         "%s needs the devices' powers, and those of %.64s are not known: it has no usable meter of its own (`yoke info` "
                         "says why), the run "
                         "has no store, and the options state none; state them (powers), or name a store",
                         run->options.objective == YOKE_OBJECTIVE_TIME ? "a power cap" : "this objective", d->info->name);
    }
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------- reading */

/* Sum over the given meters (bits); NaN: one has no value, or there is none. */
static double sum_j(const yoke_run *run, uint64_t meters, double *uncertainty)
{
    double sum = 0, uncertain = 0;
    for (int64_t k = 0; k < run->num_meters && k < RUN_MAX_METERS; k++) {
        if (!(meters >> k & 1)) continue;
        sum += run->energies[k].value_j;
        uncertain += run->energies[k].uncertainty_j;
    }
    *uncertainty = uncertain;
    return meters != 0 ? sum : (double)NAN;
}

double run_own_j(const yoke_run *run, int device, double *uncertainty) { return sum_j(run, run->devices[device].meters, uncertainty); }

yoke_energy_kind run_power_kind(const yoke_run *run, int device)
{
    for (int64_t k = 0; k < run->num_meters && k < RUN_MAX_METERS; k++)
        if (run->devices[device].meters >> k & 1) return run->energies[k].kind;
    return YOKE_ENERGY_NONE;
}

double run_all_own_j(const yoke_run *run, uint64_t without, double *uncertainty)
{
    uint64_t all = 0;
    for (int i = 0; i < run->num_devices; i++) all |= run->devices[i].meters & ~without;
    const double sum = sum_j(run, all, uncertainty);
    return all != 0 ? sum : 0;
}

/*
 * Nonzero: all of the device's meters belong to devices before it as well.  Parts of the cores have one package, whose idle power counts
 * once.
 */
static int is_counted_before(const yoke_run *run, int device)
{
    uint64_t before = 0, own = run->devices[device].meters;
    for (int i = 0; i < device; i++) before |= run->devices[i].meters;
    return own != 0 && (own & ~before) == 0;
}

double run_longest_period_s(const yoke_run *run)
{
    double longest = 0;
    for (int64_t k = 0; k < run->num_meters; k++) longest = fmax(longest, run->meter_infos[k].period_s);
    return longest;
}

double run_power_s(const yoke_run *run) { return fmin(fmax(least_rest_s, periods_of_a_rest * run_longest_period_s(run)), most_rest_s); }

/* Waits for a number of seconds, of the virtual clock if there is one. */
static yoke_status do_nothing(yoke_run *run, double seconds)
{
    if (sim_machine_of(run->context) != NULL) return yoke_machine_sleep(run->context, seconds);
    struct timespec time = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (seconds - floor(seconds)))};
    (void)nanosleep(&time, NULL); /* a signal may end it early; the region measures the actual time */
    return YOKE_OK;
}

/* Power of all metered hardware; NaN: none is metered. */
static yoke_run_watts all_of(const yoke_energy *total, double seconds)
{
    int known = total->kind != YOKE_ENERGY_NONE && !isnan(total->value_j);
    return (yoke_run_watts){known ? total->value_j / seconds : (double)NAN, known ? total->uncertainty_j / seconds : (double)NAN,
                            known ? total->kind : YOKE_ENERGY_NONE};
}

/* Begins a region and waits in it; before that it waits for two periods, as the first values of a meter are of the time before. */
static yoke_status rest(yoke_run *run, yoke_region **region)
{
    yoke_status status = run_longest_period_s(run) > 0 ? do_nothing(run, 2 * run_longest_period_s(run)) : YOKE_OK;
    if (status == YOKE_OK) status = yoke_region_begin(run->meter, region);
    return status == YOKE_OK ? do_nothing(run, run_power_s(run)) : status;
}

yoke_status run_powers_before(yoke_run *run)
{
    const yoke_meter_options options = {.sysroot = run->options.sysroot, .declared = run->options.declared};
    const sim_machine *machine = sim_machine_of(run->context);
    yoke_region *region = NULL;
    yoke_energy total = {.value_j = NAN};
    double seconds = 1;
    void *energies = NULL;
    run->all_idle_before = (yoke_run_watts){NAN, NAN, YOKE_ENERGY_NONE};
    if (run->options.no_meters || (machine != NULL && !machine->powered)) return YOKE_OK;
    yoke_status status = yoke_meters_open(run->context, &options, &run->meter);
    if (status == YOKE_OK) {
        run->meter_infos = run->meter->infos;
        run->num_meters = run->meter->count;
    }
    if (status == YOKE_OK) status = yoke_allocate(run->context, run->num_meters, sizeof(yoke_energy), &energies);
    if (status == YOKE_OK && run->num_meters > 0) {
        status = rest(run, &region);
        yoke_status ended = region != NULL ? yoke_region_end(region, &seconds, energies, &total) : YOKE_OK;
        if (status == YOKE_OK) status = ended;
    }
    if (status == YOKE_OK && run->num_meters > 0) run->all_idle_before = all_of(&total, seconds);
    yoke_release(run->context, energies);
    yoke_meters_close(run->meter);
    run->meter = NULL;
    run->meter_infos = NULL;
    run->num_meters = 0;
    return status;
}

yoke_status run_powers_rest(yoke_run *run)
{
    int wanted = isnan(run->base_w) && run->rests < RUN_MAX_TRIES;
    double seconds = 0, uncertain;
    yoke_region *region = NULL;
    yoke_energy total;
    for (int i = 0; i < run->num_devices; i++)
        wanted |= run->devices[i].meters != 0 && isnan(run->devices[i].powers[run->devices[i].level].idle_w);
    if (!wanted || run->rests >= RUN_MAX_TRIES * RUN_MAX_LEVELS || run->declared || run->num_meters == 0 ||
        !(run->needs_powers || run->simulated || run->options.measure_all))
        return YOKE_OK;
    run->rests++;
    yoke_status status = rest(run, &region);
    if (region == NULL) return status;
    yoke_status ended = yoke_region_end(region, &seconds, run->energies, &total);
    if (status == YOKE_OK) status = ended;
    if (status != YOKE_OK) return status;
    for (int i = 0; i < run->num_devices; i++) {
        run_device *d = &run->devices[i];
        run_level_power *power = &d->powers[d->level];
        double joules = run_own_j(run, i, &uncertain);
        if (!isnan(power->idle_w) || isnan(joules)) continue;
        power->idle_w = joules / seconds;
        power->idle_uncertainty_w = uncertain / seconds;
    }
    double base_w = (total.value_j - run_all_own_j(run, 0, &uncertain)) / seconds;
    if (run->all_idle.kind == YOKE_ENERGY_NONE) run->all_idle = all_of(&total, seconds);
    if (isnan(run->base_w)) run->base_w = base_w <= fmax(run->all_idle.interval_w, 1e-6 * run->all_idle.value_w) ? 0 : base_w;
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------ learning */

/* Nonzero: no other device with the same meters worked. */
static int worked_alone(const yoke_run *run, int device, const double *busy)
{
    for (int k = 0; k < run->num_devices; k++)
        if (k != device && busy[k] > 0 && (run->devices[k].meters & run->devices[device].meters) != 0) return 0;
    return 1;
}

void run_powers_learn(yoke_run *run, const int *levels, double seconds, const yoke_energy *total, const double *busy)
{
    double host_s = 0, accelerator_s = 0, uncertain;
    if (run->declared || run->meter == NULL) return;
    const int tried = seconds > 2 * run_longest_period_s(run) ? 4 : 1; /* a round that is too short counts as a quarter of a failure */
    for (int i = 0; i < run->num_devices; i++) {
        run_device *d = &run->devices[i];
        run_level_power *power = &d->powers[levels[i]];
        double above = run_own_j(run, i, &uncertain) - power->idle_w * seconds;
        if (d->accelerator)
            accelerator_s = fmax(accelerator_s, busy[i]);
        else
            host_s = fmax(host_s, busy[i]);
        if (!(busy[i] > 0)) continue;
        if (isnan(above)) power->tries += tried;
        if (isnan(above) || !worked_alone(run, i, busy)) continue;
        run->powers_measured = 1;
        const double uncertain_j = uncertain + power->idle_uncertainty_w * seconds;
        /* A power of the store with unknown uncertainty is dropped as soon as there is a better one. */
        if (isnan(power->uncertain_j) && !isnan(uncertain_j)) power->above_j = power->busy_s = power->uncertain_j = 0;
        power->above_j += above;
        power->busy_s += busy[i];
        power->uncertain_j = hypot(power->uncertain_j, uncertain_j);
    }
    double other_j = run_others_above_j(run, busy, seconds, total, &uncertain);
    if (!isnan(other_j)) run_others_learn(run, levels, host_s, accelerator_s, other_j, uncertain);
}

/* ----------------------------------------------------------------------------------------------- what is known */

static int has_idle(const run_level_power *power) { return !isnan(power->idle_w); }
static int has_dynamic(const run_level_power *power) { return power->busy_s > 0; }

/* Finds the nearest levels at or below and at or above this one that have a value; returns 0 if one of them is missing. */
static int neighbours(const run_device *d, int level, int (*has)(const run_level_power *), int *below, int *above, double *part)
{
    *below = *above = level;
    while (*below >= 0 && !has(&d->powers[*below])) --*below;
    while (*above < d->num_levels && !has(&d->powers[*above])) ++*above;
    if (*below < 0 || *above >= d->num_levels) return 0;
    *part = *above > *below ? (d->hz[level] - d->hz[*below]) / (d->hz[*above] - d->hz[*below]) : 0;
    return 1;
}

double run_idle_w(const yoke_run *run, int device, int level)
{
    const run_device *d = &run->devices[device];
    int below, above;
    double part;
    if (!neighbours(d, level, has_idle, &below, &above, &part)) return NAN;
    double watts = (1 - part) * d->powers[below].idle_w + part * d->powers[above].idle_w;
    return is_counted_before(run, device) ? 0 * watts : watts;
}

/* Uncertainty relative to the power, at most 1; NaN (not known) remains NaN. */
static double relative(double uncertain_w, double watts) { return !(watts > 0) ? 0 : uncertain_w > watts ? 1 : uncertain_w / watts; }

double run_idle_uncertainty(const yoke_run *run, int device, int level)
{
    const run_device *d = &run->devices[device];
    int below, above;
    double part;
    if (!neighbours(d, level, has_idle, &below, &above, &part)) return NAN;
    const run_level_power *low = &d->powers[below], *high = &d->powers[above];
    return relative(hypot((1 - part) * low->idle_uncertainty_w, part * high->idle_uncertainty_w),
                    (1 - part) * low->idle_w + part * high->idle_w);
}

double run_dynamic_w(const yoke_run *run, int device, int level, double *uncertainty)
{
    const run_device *d = &run->devices[device];
    int below, above;
    double part;
    if (uncertainty != NULL) *uncertainty = NAN;
    if (!neighbours(d, level, has_dynamic, &below, &above, &part)) return NAN;
    const run_level_power *low = &d->powers[below], *high = &d->powers[above];
    double watts = fmax(0, (1 - part) * low->above_j / low->busy_s + part * high->above_j / high->busy_s);
    double uncertain_w = hypot((1 - part) * low->uncertain_j / low->busy_s, part * high->uncertain_j / high->busy_s);
    if (!d->accelerator) watts += run->others.memory_w;
    if (uncertainty != NULL) *uncertainty = relative(uncertain_w, watts);
    return watts;
}

int run_power_is_measured(const yoke_run *run, int device, int level)
{
    const run_level_power *power = &run->devices[device].powers[level];
    return !run->needs_powers || run->declared || (has_idle(power) && has_dynamic(power)) || power->tries >= 4 * RUN_MAX_TRIES ||
           run->devices[device].meters == 0;
}

static int powers_are_known(const yoke_run *run)
{
    for (int i = 0; i < run->num_devices; i++)
        if (run_is_active(run, i) &&
            (isnan(run_idle_w(run, i, run->devices[i].level)) || isnan(run_dynamic_w(run, i, run->devices[i].level, NULL))))
            return 0;
    return !isnan(run->base_w);
}

const char *run_powers_text(const yoke_run *run)
{
    if (!powers_are_known(run)) return "";
    if (run->declared) return "declared";
    return !run->powers_measured ? "stored" : run->simulated ? "simulated" : "measured";
}
