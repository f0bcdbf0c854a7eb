#include "adapt/powers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* A meter's two ends are known to this part of an interval. */
static const double periods_of_a_stretch = 25;
static const double idle_real_s = 0.3, least_real_s = 0.3, idle_simulated_s = 0.3, max_s = 0.5;
/* Of a clock with more levels so many are tried, but all of a simulated one; between them numbers are interpolated. */
enum { TRIED_LEVELS = 5, MOST_PRODUCTS = 4000, LEAST_PRODUCTS = 64 };

/* Powers of one moment: of each open meter and of all that count. */
typedef struct meter_powers {
    double total_w, *meter_w;
} meter_powers;

typedef struct measuring {
    const fem_powers_site *site;
    const fem_space *space;
    const fem_constraints *constraints;
    fem_operator operator_kind;
    const yoke_meter_info *infos;
    int64_t num_meters;
    yoke_energy *energies; /* [num_meters] */
    double *idle_w;        /* [num_meters] */
    double min_s;
    fem_powers *powers;
} measuring;

const char *fem_powers_source_text(fem_powers_source source)
{
    static const char *const texts[] = {"unknown", "measured", "simulated", "stored", "declared"};
    return texts[source];
}

void fem_powers_clear(fem_powers *powers, int count)
{
    *powers = (fem_powers){.count = count, .base_w = NAN, .hosting_w = NAN};
    for (int i = 0; i < count; i++)
        powers->device[i] = (fem_device_powers){.num_levels = 1, .hz = {NAN}, .slowness = {1}, .idle_w = {NAN}, .dynamic_w = {NAN}};
}

/* ------------------------------------------------------------------------------------------------------ declared */

yoke_status fem_powers_declare(const fem_case *input, const fem_devices *devices, fem_powers *powers)
{
    const fem_case_energy *energy = &input->keys.energy;
    fem_powers_clear(powers, devices->count);
    for (int i = 0; i < devices->count; i++) {
        const fem_case_power *found = NULL;
        for (int k = 0; k < energy->devices.count && !found; k++)
            if (!strcmp(energy->devices.items[k].name.value, devices->list[i].info->name)) found = &energy->devices.items[k];
        if (!found)
            return app_yaml_fail(input->yaml, energy->place, "energy.devices has no powers for %s, which the run works on",
                                 devices->list[i].info->name);
        if (found->busy_w.value < found->idle_w.value)
            return app_yaml_fail(input->yaml, found->busy_w.place, "busy_w of %s is less than its idle_w; it is all that it draws at work",
                                 found->name.value);
        powers->device[i].idle_w[0] = found->idle_w.value;
        powers->device[i].dynamic_w[0] = found->busy_w.value - found->idle_w.value;
    }
    powers->base_w = energy->base_w.value;
    powers->hosting_w = energy->hosting_w.value;
    powers->source = FEM_POWERS_DECLARED;
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------------ measured */

/* The open meter of a device alone, or -1. */
static int64_t own_meter(const measuring *m, const yoke_device_info *device)
{
    for (int64_t k = 0; k < m->num_meters; k++) {
        if (!m->infos[k].counted) continue;
        if (!strcmp(m->infos[k].name, device->name)) return k; /* simulated */
        if (device->pci[0] && !strcmp(m->infos[k].pci, device->pci)) return k;
    }
    return -1;
}

static void refuse(measuring *m, const char *what, const yoke_energy *energy)
{
    if (!m->powers->why_not[0]) snprintf(m->powers->why_not, sizeof m->powers->why_not, "%.48s: %.200s", what, energy->why_not);
}

static yoke_status wait(const measuring *m)
{
    if (m->site->simulated) return yoke_machine_sleep(m->site->context, fmax(idle_simulated_s, m->min_s));
    double seconds = fmax(idle_real_s, m->min_s);
    struct timespec time = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (seconds - floor(seconds)))};
    (void)nanosleep(&time, NULL);
    return YOKE_OK;
}

/* Powers of a moment in which nobody works.  *all_w: of all that counts; NaN: not known. */
static yoke_status measure_idle(measuring *m, double *all_w)
{
    yoke_region *region;
    yoke_energy total;
    double seconds;
    yoke_status status = yoke_region_begin(m->site->meter, &region);
    if (status) return status;
    status = wait(m);
    yoke_status ended = yoke_region_end(region, &seconds, m->energies, &total);
    if (!status) status = ended;
    if (status) return status;
    if (isnan(total.value_j)) refuse(m, "idle", &total);
    for (int64_t k = 0; k < m->num_meters; k++) m->idle_w[k] = m->energies[k].value_j / seconds;
    *all_w = total.value_j / seconds;
    return YOKE_OK;
}

static double not_negative(double x) { return x < 0 ? 0 : x; }

/* One level of one device: its powers and seconds per product; *hosting_w: what all else drew more than idle meanwhile, or NaN. */
static yoke_status try_level(measuring *m, int device, int level, double *hosting_w)
{
    fem_device_powers *powers = &m->powers->device[device];
    const yoke_device_info *info = m->site->devices->list[device].info;
    double all_w = NAN;
    fem_trial trial;
    fem_trial_options options = {.devices = m->site->devices,
                                 .device = device,
                                 .elements = m->space->num_elements,
                                 .operator_kind = m->operator_kind,
                                 .meter = m->site->meter,
                                 .num_energies = m->num_meters,
                                 .min_s = m->min_s,
                                 .least = LEAST_PRODUCTS,
                                 .most = MOST_PRODUCTS};
    yoke_status status = fem_device_clocks_set(m->site->clocks, device, level);
    if (!status) status = measure_idle(m, &all_w); /* idle power may depend on the clock */
    if (!status) status = fem_trial_run(m->space, m->constraints, &options, &trial, m->energies);
    if (status) return status;
    if (isnan(trial.total.value_j)) refuse(m, info->name, &trial.total);
    int64_t own = own_meter(m, info);
    double above_j = trial.total.value_j - all_w * trial.seconds;
    double own_j = own < 0 ? NAN : m->energies[own].value_j - m->idle_w[own] * trial.seconds;
    int accelerator = info->device_class != YOKE_DEVICE_CPU;
    powers->slowness[level] = trial.seconds_per_product;
    powers->idle_w[level] = own < 0 ? 0 : m->idle_w[own];
    powers->dynamic_w[level] = not_negative((accelerator && own >= 0 ? own_j : above_j) / trial.busy_s);
    *hosting_w = accelerator && own >= 0 ? not_negative((above_j - own_j) / trial.busy_s) : (double)NAN;
    return YOKE_OK;
}

/* Fills the levels between two that were tried. */
static void interpolate(fem_device_powers *powers, int from, int to)
{
    for (int k = from + 1; k < to; k++) {
        double part = (powers->hz[k] - powers->hz[from]) / (powers->hz[to] - powers->hz[from]);
        double speed = (1 - part) / powers->slowness[from] + part / powers->slowness[to];
        powers->slowness[k] = 1 / speed;
        powers->idle_w[k] = (1 - part) * powers->idle_w[from] + part * powers->idle_w[to];
        powers->dynamic_w[k] = (1 - part) * powers->dynamic_w[from] + part * powers->dynamic_w[to];
    }
}

static yoke_status measure_device(measuring *m, int device, double *hosting_w)
{
    const fem_clock_levels *levels = fem_device_clocks_levels(m->site->clocks, device);
    fem_device_powers *powers = &m->powers->device[device];
    int tried = levels->count < TRIED_LEVELS || m->site->simulated ? levels->count : TRIED_LEVELS, before = 0;
    yoke_status status = YOKE_OK;
    powers->num_levels = levels->count;
    memcpy(powers->hz, levels->hz, sizeof powers->hz);
    for (int t = 0; t < tried && !status; t++) { /* the highest comes last, and stays */
        int k = tried > 1 ? (t * (levels->count - 1) + (tried - 1) / 2) / (tried - 1) : 0;
        status = try_level(m, device, k, hosting_w);
        if (t > 0) interpolate(powers, before, k);
        before = k;
    }
    double top = powers->slowness[levels->count - 1];
    for (int k = 0; k < levels->count; k++) powers->slowness[k] /= top;
    return status;
}

static yoke_status set_highest(const measuring *m)
{
    yoke_status status = YOKE_OK;
    for (int i = 0; i < m->site->devices->count && !status; i++)
        status = fem_device_clocks_set(m->site->clocks, i, fem_device_clocks_levels(m->site->clocks, i)->count - 1);
    return status;
}

static yoke_status measure_all(measuring *m)
{
    double base_w = NAN, hosting_w = 0;
    yoke_status status = set_highest(m);
    if (!status) status = measure_idle(m, &base_w);
    for (int i = 0; i < m->site->devices->count && !status; i++) {
        int64_t own = own_meter(m, m->site->devices->list[i].info);
        base_w -= own < 0 ? 0 : m->idle_w[own];
    }
    for (int i = 0; i < m->site->devices->count && !status; i++) {
        double seen_w = NAN;
        if (m->site->devices->list[i].failed) continue;
        status = measure_device(m, i, &seen_w);
        hosting_w = seen_w > hosting_w ? seen_w : hosting_w;
    }
    m->powers->base_w = not_negative(base_w);
    m->powers->hosting_w = hosting_w;
    return status;
}

yoke_status fem_powers_measure(const fem_powers_site *site, const fem_space *space, const fem_constraints *constraints,
                               fem_operator operator_kind, fem_powers *powers)
{
    measuring m = {.site = site, .space = space, .constraints = constraints, .operator_kind = operator_kind, .powers = powers};
    fem_powers_clear(powers, site->devices->count);
    m.infos = site->meter->infos;
    m.num_meters = site->meter->count;
    yoke_status status = yoke_allocate(site->context, m.num_meters, sizeof *m.energies, &m.energies);
    if (!status) status = yoke_allocate(site->context, m.num_meters, sizeof *m.idle_w, &m.idle_w);
    m.min_s = site->simulated ? 0 : least_real_s;
    for (int64_t k = 0; k < m.num_meters && !status; k++)
        if (m.infos[k].counted) m.min_s = fmax(m.min_s, fmin(max_s, periods_of_a_stretch * m.infos[k].period_s));
    if (!status) status = measure_all(&m);
    yoke_release(site->context, m.energies);
    yoke_release(site->context, m.idle_w);
    if (status) return status;
    if (!powers->why_not[0]) powers->source = site->simulated ? FEM_POWERS_SIMULATED : FEM_POWERS_MEASURED;
    return YOKE_OK;
}
