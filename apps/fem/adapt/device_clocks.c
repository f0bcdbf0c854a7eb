#include "adapt/device_clocks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct fem_device_clocks {
    yoke_context *context;
    yoke_frequencies *open; /* NULL: there is nothing to set */
    int count;
    fem_clock_levels levels[FEM_MOST_DEVICES];
    int set_to[FEM_MOST_DEVICES]; /* -1: not set yet */
};

static int belongs(const yoke_frequency_info *clock, const yoke_device_info *device)
{
    if (!clock->settable) return 0;
    if (!strcmp(device->kind, "sim")) return !strcmp(clock->name, device->name);
    if (!strcmp(device->name, "openmp")) return !strcmp(clock->name, "cpu");
    return device->pci[0] && !strcmp(clock->pci, device->pci);
}

static void choose_levels(const yoke_frequency_info *clock, fem_clock_levels *levels)
{
    int64_t there = clock->num_levels;
    levels->count = there > 0 && there < FEM_MOST_CLOCK_LEVELS ? (int)there : FEM_MOST_CLOCK_LEVELS;
    for (int k = 0; k < levels->count; k++) {
        double part = levels->count > 1 ? k / (levels->count - 1.0) : 1;
        levels->hz[k] = there > 0 ? clock->levels_hz[(int64_t)(part * (double)(there - 1) + 0.5)]
                                  : clock->min_hz + part * (clock->max_hz - clock->min_hz);
    }
    snprintf(levels->name, sizeof levels->name, "%s", clock->name);
}

static yoke_status find(fem_device_clocks *clocks, const fem_devices *devices, int *found)
{
    yoke_frequency_info *list = NULL;
    int64_t count = 0;
    *found = 0;
    yoke_status status = yoke_frequencies_list(clocks->context, NULL, &list, &count);
    for (int i = 0; i < clocks->count && !status; i++)
        for (int64_t k = 0; k < count; k++) {
            int known = list[k].num_levels > 0 || (list[k].min_hz > 0 && list[k].max_hz > list[k].min_hz);
            if (!known || !belongs(&list[k], devices->list[i].info)) continue;
            choose_levels(&list[k], &clocks->levels[i]);
            *found += 1;
            break;
        }
    yoke_release(clocks->context, list);
    return status;
}

static void none_to_set(fem_device_clocks *clocks)
{
    for (int i = 0; i < clocks->count; i++) {
        clocks->levels[i] = (fem_clock_levels){.count = 1, .hz = {NAN}};
        clocks->set_to[i] = -1;
    }
}

yoke_status fem_device_clocks_open(yoke_context *context, const fem_devices *devices, fem_device_clocks **out)
{
    fem_device_clocks *clocks;
    int found = 0;
    yoke_status status = yoke_allocate(context, 1, sizeof *clocks, &clocks);
    if (status) return status;
    clocks->context = context;
    clocks->count = devices->count;
    none_to_set(clocks);
    status = find(clocks, devices, &found);
    if (!status && found) {
        status = yoke_frequencies_open(context, NULL, &clocks->open);
        if (status == YOKE_ERROR_UNAVAILABLE) {
            yoke_log(context, YOKE_LOG_WARNING, "clocks stay as they are: %s", yoke_last_error(context));
            none_to_set(clocks);
            status = YOKE_OK;
        }
    }
    if (status)
        fem_device_clocks_close(clocks);
    else
        *out = clocks;
    return status;
}

void fem_device_clocks_close(fem_device_clocks *clocks)
{
    if (!clocks) return;
    yoke_frequencies_close(clocks->open);
    yoke_release(clocks->context, clocks);
}

const fem_clock_levels *fem_device_clocks_levels(const fem_device_clocks *clocks, int device)
{
    static const fem_clock_levels none = {.count = 1, .hz = {NAN}};
    return clocks ? &clocks->levels[device] : &none;
}

yoke_status fem_device_clocks_set(fem_device_clocks *clocks, int device, int level)
{
    if (!clocks) return YOKE_OK;
    const fem_clock_levels *levels = &clocks->levels[device];
    if (!levels->name[0] || clocks->set_to[device] == level) return YOKE_OK;
    yoke_status status = yoke_frequency_set(clocks->open, levels->name, levels->hz[level], NULL);
    if (!status) clocks->set_to[device] = level;
    return status;
}
