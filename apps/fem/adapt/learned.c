#include "adapt/learned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a device; where there are more, the oldest go. */
enum { MOST_SAMPLES = 64, MOST_REPEATS = 100000 };
/* Samples with elements so near to each other are one. */
static const double near_elements = 0.02;

typedef struct learned_device {
    const yoke_device_info *info;
    int count;
    yoke_sample samples[MOST_SAMPLES]; /* in the order in which they were measured */
    double idle_w, busy_w;
    yoke_energy_kind kind;
} learned_device;

struct fem_learned {
    yoke_context *context;
    const char *work;
    yoke_store *store;
    int num_devices;
    learned_device device[FEM_MOST_DEVICES];
};

/* Stands for the kernels' text: a release may have others. */
static const char *kernel(void) { return yoke_version(); }

static void take(fem_learned *learned, learned_device *device)
{
    const char *why = "";
    const yoke_store_entry *entry =
        yoke_store_find(learned->store, learned->work, device->info->name, device->info->description, kernel(), &why);
    device->idle_w = device->busy_w = NAN;
    if (!entry) {
        yoke_log(learned->context, YOKE_LOG_DEBUG, "store: %s", why);
        return;
    }
    int64_t first = entry->num_samples > MOST_SAMPLES ? entry->num_samples - MOST_SAMPLES : 0;
    for (int64_t i = first; i < entry->num_samples; i++) device->samples[device->count++] = entry->samples[i];
    device->idle_w = entry->idle_power_w;
    device->busy_w = entry->busy_power_w;
    device->kind = entry->power_kind;
}

yoke_status fem_learned_open(yoke_context *context, const char *path, const char *machine, const char *work, const fem_devices *devices,
                             fem_learned **out)
{
    fem_learned *learned;
    const char *declined = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *learned, &learned);
    if (status) return status;
    learned->context = context;
    learned->work = work;
    status = yoke_store_open(context, path, machine, &learned->store, &declined);
    if (status) {
        yoke_release(context, learned);
        return status;
    }
    if (declined && declined[0]) yoke_log(context, YOKE_LOG_WARNING, "store: %s", declined);
    learned->num_devices = devices->count;
    for (int i = 0; i < devices->count; i++) {
        learned->device[i].info = devices->list[i].info;
        take(learned, &learned->device[i]);
    }
    *out = learned;
    return YOKE_OK;
}

void fem_learned_close(fem_learned *learned)
{
    if (!learned) return;
    yoke_store_close(learned->store);
    yoke_release(learned->context, learned);
}

/* -------------------------------------------------------------------------------------------------------- showing */

static int by_units(const void *a, const void *b)
{
    double x = ((const yoke_sample *)a)->units, y = ((const yoke_sample *)b)->units;
    return (x > y) - (x < y);
}

/* The samples that are shown, by ascending elements; returns how many. */
static int list(const learned_device *device, yoke_sample *samples)
{
    double highest = 0;
    int count = 0;
    for (int k = 0; k < device->count; k++) highest = fmax(highest, device->samples[k].frequency_hz);
    for (int k = 0; k < device->count; k++) {
        double hz = device->samples[k].frequency_hz;
        if (isnan(hz) || hz >= highest * (1 - 1e-9)) samples[count++] = device->samples[k];
    }
    qsort(samples, (size_t)count, sizeof *samples, by_units);
    return count;
}

/* Round `round` of `rounds`: all devices come to their last sample at the end. */
static int in_round(int round, int rounds, int count) { return round - (rounds - count); }

yoke_status fem_learned_show(const fem_learned *learned, yoke_balancer *balancer, int64_t n, int64_t *units, int *rounds)
{
    yoke_share_report reports[FEM_MOST_DEVICES];
    yoke_sample *samples;
    int count[FEM_MOST_DEVICES];
    *rounds = 0;
    yoke_status status = yoke_allocate(learned->context, (int64_t)learned->num_devices * MOST_SAMPLES, sizeof *samples, &samples);
    if (status) return status;
    for (int i = 0; i < learned->num_devices; i++) {
        count[i] = list(&learned->device[i], samples + (size_t)i * MOST_SAMPLES);
        if (count[i] > *rounds) *rounds = count[i];
    }
    for (int r = 0; r < *rounds && !status; r++) {
        for (int i = 0; i < learned->num_devices; i++) {
            int k = in_round(r, *rounds, count[i]);
            const yoke_sample *sample = k < 0 ? NULL : &samples[(size_t)i * MOST_SAMPLES + (size_t)k];
            reports[i] = (yoke_share_report){.units = sample ? (int64_t)sample->units : 0,
                                             .seconds = sample ? sample->seconds : (double)NAN,
                                             .moved_s = NAN,
                                             .energy_j = NAN};
        }
        status = yoke_balancer_update(balancer, reports, n, units);
    }
    yoke_release(learned->context, samples);
    return status;
}

void fem_learned_powers(const fem_learned *learned, fem_powers *powers)
{
    fem_powers_clear(powers, learned->num_devices);
    for (int i = 0; i < learned->num_devices; i++) {
        const learned_device *device = &learned->device[i];
        if (isnan(device->idle_w) || isnan(device->busy_w) || device->busy_w < device->idle_w) return;
        powers->device[i].idle_w[0] = device->idle_w;
        powers->device[i].dynamic_w[0] = device->busy_w - device->idle_w;
    }
    powers->base_w = powers->hosting_w = 0;
    powers->source = FEM_POWERS_STORED;
}

/* -------------------------------------------------------------------------------------------------------- keeping */

static int same(double a, double b) { return isnan(a) ? isnan(b) : fabs(a - b) <= 1e-9 * fabs(b); }

/* What is measured again counts with what was: seconds per element are averaged, by the products. */
static void merge(yoke_sample *old, const yoke_sample *now)
{
    double w = (double)now->repeats / (double)(now->repeats + old->repeats);
    double rate = (1 - w) * old->seconds / old->units + w * now->seconds / now->units;
    old->units = floor((1 - w) * old->units + w * now->units + 0.5);
    old->seconds = rate * old->units;
    old->repeats += now->repeats;
    if (old->repeats > MOST_REPEATS) old->repeats = MOST_REPEATS;
}

void fem_learned_add(fem_learned *learned, int number, int64_t elements, double seconds, double hz, int64_t products, int together)
{
    learned_device *device = &learned->device[number];
    const yoke_sample now = {.units = (double)elements,
                             .frequency_hz = hz,
                             .seconds = seconds,
                             .seconds_interval = NAN,
                             .joules = NAN,
                             .joules_interval = NAN,
                             .repeats = products > 0 ? products : 1,
                             .together = together};
    if (elements <= 0 || !(seconds > 0) || !isfinite(seconds)) return; /* nothing was measured */
    for (int k = 0; k < device->count; k++) {
        yoke_sample *old = &device->samples[k];
        if (old->together != together || !same(old->frequency_hz, hz) || fabs(old->units / now.units - 1) > near_elements) continue;
        merge(old, &now);
        return;
    }
    if (device->count == MOST_SAMPLES) memmove(device->samples, device->samples + 1, (size_t)--device->count * sizeof now);
    device->samples[device->count++] = now;
}

void fem_learned_set_powers(fem_learned *learned, const fem_powers *powers)
{
    if (powers->source != FEM_POWERS_MEASURED && powers->source != FEM_POWERS_SIMULATED) return;
    for (int i = 0; i < learned->num_devices; i++) {
        const fem_device_powers *device = &powers->device[i];
        int top = device->num_levels - 1;
        learned->device[i].idle_w = device->idle_w[top];
        learned->device[i].busy_w = device->idle_w[top] + device->dynamic_w[top];
        learned->device[i].kind = powers->source == FEM_POWERS_MEASURED ? YOKE_ENERGY_MEASURED : YOKE_ENERGY_SIMULATED;
    }
}

yoke_status fem_learned_write(fem_learned *learned)
{
    yoke_status status = YOKE_OK;
    for (int i = 0; i < learned->num_devices && !status; i++) {
        const learned_device *device = &learned->device[i];
        if (!device->count) continue;
        const yoke_store_entry entry = {.work = learned->work,
                                        .device = device->info->name,
                                        .description = device->info->description,
                                        .kernel = kernel(),
                                        .num_samples = device->count,
                                        .samples = device->samples,
                                        .idle_power_w = device->idle_w,
                                        .idle_power_interval_w = NAN,
                                        .busy_power_w = device->busy_w,
                                        .busy_power_interval_w = NAN,
                                        .copy_start_s = NAN,
                                        .copy_seconds_per_byte = NAN,
                                        .power_kind = device->kind};
        status = yoke_store_put(learned->store, &entry);
    }
    return status ? status : yoke_store_write(learned->store);
}
