#include "solver/solve_cut.h"

#include <math.h>

#include "common/console/append.h"

static int64_t capacity(const fem_device *device) { return device->failed ? 0 : device->most_elements; }

static yoke_status nothing_fits(const fem_devices *devices, int64_t elements)
{
    char reasons[2048] = "";
    int64_t room = 0;
    for (int i = 0; i < devices->count; i++) {
        const fem_device *d = &devices->list[i];
        room += capacity(d);
        if (d->failed)
            app_append(reasons, sizeof reasons, "%s%s: %s", *reasons ? "; " : "", d->info->name, d->why);
        else
            app_append(reasons, sizeof reasons, "%s%s: memory for %lld elements", *reasons ? "; " : "", d->info->name,
                       (long long)d->most_elements);
    }
    if (!room) return yoke_fail(devices->context, YOKE_ERROR_DEVICE, "no device is left to work on: %s", reasons);
    return yoke_fail(devices->context, YOKE_ERROR_DEVICE_MEMORY, "%lld elements do not fit the devices' memory: %s", (long long)elements,
                     reasons);
}

/*
 * Hands out one round of `left` elements.  weight[i] is wanted[i] for the devices that have room; if it is zero for all of them, 1 for each
 * device that has room.  Returns the number that is still left.
 */
static int64_t hand_out(const fem_devices *devices, const int64_t *wanted, int64_t left, int64_t *elements)
{
    int64_t weight[FEM_MAX_DEVICES], all = 0, before = 0, round = left;
    for (int asked = 1; asked >= 0 && !all; asked--)
        for (int i = 0; i < devices->count; i++) {
            weight[i] = capacity(&devices->list[i]) <= elements[i] ? 0 : asked ? wanted[i] : 1;
            all += weight[i];
        }
    for (int i = 0; i < devices->count && all; i++) {
        int64_t room = capacity(&devices->list[i]) - elements[i];
        int64_t part = round * (before + weight[i]) / all - round * before / all;
        before += weight[i];
        if (part > room) part = room;
        elements[i] += part;
        left -= part;
    }
    return left;
}

yoke_status fem_solve_cut(const fem_devices *devices, const int32_t *asked, int32_t *cut)
{
    int64_t wanted[FEM_MAX_DEVICES], elements[FEM_MAX_DEVICES], left = 0;
    for (int i = 0; i < devices->count; i++) {
        int64_t most = capacity(&devices->list[i]);
        wanted[i] = asked[i + 1] - asked[i];
        elements[i] = wanted[i] < most ? wanted[i] : most;
        left += wanted[i] - elements[i];
    }
    while (left) {
        int64_t still = hand_out(devices, wanted, left, elements);
        if (still == left) return nothing_fits(devices, asked[devices->count]);
        left = still;
    }
    cut[0] = 0;
    for (int i = 0; i < devices->count; i++) cut[i + 1] = cut[i] + (int32_t)elements[i];
    return YOKE_OK;
}

/* Estimates the device memory in bytes that a solve needs for this many elements. */
static double bytes_for(const fem_space *space, const fem_solve_options *options, double elements)
{
    enum { SOLVER_VECTORS = 7, LEVEL_VECTORS = 4 };
    /*
     * all coarser levels together, relative to the finest one: q1 levels on the same leaves, on an eighth of them, on a sixty-fourth, ...
     */
    const double levels = 1.5;
    fem_subdomain_options subdomain = {.precision = FEM_DOUBLE, .operator_kind = options->operator_kind};
    double bytes = fem_subdomain_device_bytes(space, &subdomain, elements, SOLVER_VECTORS);
    if (options->solver != FEM_SOLVER_MULTIGRID) return bytes;
    subdomain = (fem_subdomain_options){.precision = FEM_SINGLE, .operator_kind = FEM_MATRIXFREE};
    return bytes + levels * fem_subdomain_device_bytes(space, &subdomain, elements, LEVEL_VECTORS);
}

int fem_solve_limit(const fem_space *space, const fem_solve_options *options, const int32_t *cut)
{
    int count = 0;
    for (int i = 0; i < options->devices->count; i++) {
        fem_device *d = &options->devices->list[i];
        if (!d->short_of_memory) continue;
        int64_t tried = cut[i + 1] - cut[i], free_bytes = 0, all_bytes;
        double needed = bytes_for(space, options, (double)tried);
        d->most_elements = tried - tried / 10 - 1;
        if (!yoke_device_memory(d->device, &free_bytes, &all_bytes) && needed > 0) {
            double fit = 0.95 * (double)free_bytes / needed * (double)tried;
            if (fit < (double)d->most_elements) d->most_elements = (int64_t)fit;
        }
        if (d->most_elements < 0) d->most_elements = 0;
        yoke_log(space->context, YOKE_LOG_WARNING, "%s: memory for about %lld of %lld elements: other devices get the rest", d->info->name,
                 (long long)d->most_elements, (long long)tried);
        d->short_of_memory = 0;
        count++;
    }
    return count;
}
