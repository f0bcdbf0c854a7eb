#include "calibrate/machine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const double made_contentions[MADE_CONTENTIONS] = {0, 0.05, 0.15, 0.3};

double made_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15)); /* splitmix64 */
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double from_to(uint64_t *state, double from, double to) { return from + (to - from) * made_random(state); }
static double power_of_ten(uint64_t *state, double from, double to) { return pow(10, from_to(state, from, to)); }

/* Computing time depends on the processor's frequency, memory time does not; half of a start depends on it. */
static void make_levels(uint64_t *state, made_device *device, double compute_s, double memory_s, double start_s, double dynamic_w)
{
    const double top_hz = from_to(state, 1.2e9, 3.5e9), least = from_to(state, 0.35, 0.6), idle_w = from_to(state, 20, 60);
    for (int l = 0; l < device->num_levels; l++) {
        double part = least + (1 - least) * l / (device->num_levels - 1.0);
        device->levels[l] = (made_level){.hz = round(part * top_hz),
                                         .start_s = start_s * (0.5 + 0.5 / part),
                                         .inner_s = compute_s / part,
                                         .outer_s = compute_s / part + memory_s,
                                         .idle_w = idle_w * (0.8 + 0.2 * part),
                                         .busy_w = idle_w + dynamic_w * (0.3 * part + 0.7 * part * part * part)};
    }
}

void made_machine_create(uint64_t seed, made_machine *machine)
{
    uint64_t state = seed;
    made_device *cpu = &machine->devices[0], *gpu = &machine->devices[1];
    memset(machine, 0, sizeof *machine);
    const double unit_s = power_of_ten(&state, -7.3, -5.5), faster = power_of_ten(&state, -0.3, 1.2);
    const int fifth = (int)(5 * made_random(&state)); /* two of five machines have none */
    const double contention = made_contentions[fifth > 0 ? fifth - 1 : 0];
    for (int i = 0; i < CALIBRATE_DEVICES; i++) {
        made_device *device = &machine->devices[i];
        device->from_units = power_of_ten(&state, 3, 5);
        device->to_units = device->from_units * from_to(&state, 1.05, 4);
        device->noise = from_to(&state, 0.003, 0.04);
        device->contention = contention;
        device->num_levels = 4 + (int)(13 * made_random(&state));
    }
    make_levels(&state, cpu, unit_s, unit_s * from_to(&state, 0.2, 1.5), power_of_ten(&state, -6, -4.5), from_to(&state, 60, 200));
    double memory = made_random(&state) < 0.4 ? from_to(&state, 0.2, 1) : 0;
    make_levels(&state, gpu, unit_s / faster, memory * unit_s / faster, power_of_ten(&state, -5, -3.5), from_to(&state, 100, 400));
    gpu->latency_s = power_of_ten(&state, -5.3, -4.5);
    gpu->byte_s = 1 / from_to(&state, 5e9, 5e10);
    gpu->copy_w = from_to(&state, 0, 30);
    machine->base_w = from_to(&state, 10, 60);
    machine->host_overhead_w = from_to(&state, 0, 25);
}

static int print_device(char *text, size_t size, const made_device *device, int index, uint64_t seed)
{
    int n = snprintf(text, size, "%s{\"name\": \"%s\", \"class\": \"%s\", \"noise\": %.17g, \"seed\": %llu, \"contention\": %.17g,",
                     index > 0 ? ", " : "", index > 0 ? "gpu" : "cpu", index > 0 ? "gpu" : "cpu", device->noise, (unsigned long long)seed,
                     device->contention);
    if (device->byte_s > 0)
        n += snprintf(text + n, size - (size_t)n, " \"copy\": {\"latency_s\": %.17g, \"bytes_per_s\": %.17g},", device->latency_s,
                      1 / device->byte_s);
    n += snprintf(text + n, size - (size_t)n, " \"clock\": {\"levels\": [");
    for (int l = 0; l < device->num_levels; l++) {
        const made_level *level = &device->levels[l];
        n += snprintf(text + n, size - (size_t)n,
                      "%s{\"frequency_hz\": %.17g, \"start_s\": %.17g, \"seconds_per_unit\": [[%.17g, %.17g], [%.17g, %.17g]], "
                      "\"power\": {\"idle_w\": %.17g, \"busy_w\": %.17g, \"copy_w\": %.17g}}",
                      l > 0 ? ", " : "", level->hz, level->start_s, device->from_units, level->inner_s, device->to_units, level->outer_s,
                      level->idle_w, level->busy_w, device->copy_w);
    }
    return n + snprintf(text + n, size - (size_t)n, "]}}");
}

yoke_status made_machine_write(yoke_context *context, const made_machine *machine, const char *path)
{
    char text[16384];
    yoke_file *file = NULL;
    int n = snprintf(text, sizeof text, "{\"name\": \"made\", \"host\": {\"idle_w\": %.17g}, \"hosting_w\": %.17g, \"devices\": [",
                     machine->base_w, machine->host_overhead_w);
    for (int i = 0; i < CALIBRATE_DEVICES; i++) n += print_device(text + n, sizeof text - (size_t)n, &machine->devices[i], i, (uint64_t)i);
    n += snprintf(text + n, sizeof text - (size_t)n, "]}\n");
    yoke_status status = yoke_file_create(context, path, &file);
    if (status != YOKE_OK) return status;
    if (write(file->descriptor, text, (size_t)n) == n) return yoke_file_close(file, 1);
    (void)yoke_file_close(file, 0);
    return yoke_fail(context, YOKE_ERROR_SYSTEM, "%s cannot be written", path);
}

double made_seconds(const made_device *device, int level, double units)
{
    const made_level *at = &device->levels[level];
    double part = fmin(fmax((units - device->from_units) / (device->to_units - device->from_units), 0), 1);
    return units > 0 ? at->start_s + units * (at->inner_s + part * (at->outer_s - at->inner_s)) : 0;
}

void made_cost(const made_machine *machine, const int *levels, const int64_t *units, double *time_s, double *energy_j)
{
    double begin[CALIBRATE_DEVICES], left[CALIBRATE_DEVICES], end[CALIBRATE_DEVICES], now = 0, watts = machine->base_w;
    for (int i = 0; i < CALIBRATE_DEVICES; i++) {
        const made_device *device = &machine->devices[i];
        left[i] = made_seconds(device, levels[i], (double)units[i]);
        begin[i] = units[i] > 0 && device->byte_s > 0 ? device->latency_s + CALIBRATE_UNIT_BYTES * (double)units[i] * device->byte_s : 0;
        end[i] = begin[i];
        watts += device->levels[levels[i]].idle_w;
    }
    while (left[0] > 0 || left[1] > 0) {
        int works[CALIBRATE_DEVICES];
        double step = INFINITY, slow[CALIBRATE_DEVICES];
        for (int i = 0; i < CALIBRATE_DEVICES; i++) works[i] = left[i] > 0 && begin[i] <= now;
        for (int i = 0; i < CALIBRATE_DEVICES; i++) {
            slow[i] = works[0] && works[1] ? 1 + machine->devices[i].contention : 1;
            if (works[i]) step = fmin(step, left[i] * slow[i]);
            if (!works[i] && left[i] > 0) step = fmin(step, begin[i] - now);
        }
        now += step;
        for (int i = 0; i < CALIBRATE_DEVICES; i++) {
            if (!works[i]) continue;
            left[i] = left[i] * slow[i] <= step ? 0 : left[i] - step / slow[i];
            end[i] = now;
        }
    }
    *time_s = fmax(end[0], end[1]);
    *energy_j = watts * *time_s + machine->host_overhead_w * fmax(0, end[1] - fmax(end[0], begin[1]));
    for (int i = 0; i < CALIBRATE_DEVICES; i++) {
        const made_level *level = &machine->devices[i].levels[levels[i]];
        *energy_j += (level->busy_w - level->idle_w) * (end[i] - begin[i]) + machine->devices[i].copy_w * begin[i];
    }
}
