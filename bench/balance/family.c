#include "balance/family.h"

#include <math.h>

static uint64_t next(random_state *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double random_uniform(random_state *random, double low, double high)
{
    return low + (high - low) * ((double)(next(random) >> 11) * 0x1p-53);
}

double random_normal(random_state *random)
{
    double radius = sqrt(-2 * log(1 - random_uniform(random, 0, 1)));
    return radius * cos(6.283185307179586 * random_uniform(random, 0, 1));
}

true_device family_draw(family_kind family, bool gpu, random_state *random)
{
    true_device device = {.family = family, .gpu = gpu, .at = INFINITY, .factor = 1};
    device.speed = gpu ? random_uniform(random, 1, 8) : random_uniform(random, 0.5, 2);
    if (gpu) device.start = random_uniform(random, 0, 0.05);
    if (family == FAMILY_KNEES) {
        device.at = gpu ? random_uniform(random, 0.3, 1.2) : random_uniform(random, 0.05, 0.4);
        device.factor = gpu ? random_uniform(random, 0.3, 0.8) : random_uniform(random, 0.5, 0.9);
        if (gpu) device.per_work = random_uniform(random, 0, 0.1);
    } else if (gpu) {
        device.at = random_uniform(random, 0.3, 0.9);
        device.factor = random_uniform(random, 0.3, 0.8);
    }
    return device;
}

double true_seconds(const true_device *device, double work)
{
    if (!(work > 0)) return 0;
    if (device->family == FAMILY_KNEES) {
        double before = fmin(work, device->at), after = fmax(work - device->at, 0);
        return device->start + device->per_work * work + before / device->speed + after / (device->speed * device->factor);
    }
    double fallen = fmin(fmax((work - device->at) / 0.05, 0), 1);
    return device->start + work / (device->speed * (1 - fallen * (1 - device->factor)));
}

/* The largest amount of work, up to `work`, that is done within a time. */
static double work_within(const true_device *device, double slow, double seconds, double work)
{
    double low = 0, high = work;
    if (slow * true_seconds(device, work) <= seconds) return work;
    for (int k = 0; k < 60; k++) {
        double middle = 0.5 * (low + high);
        if (slow * true_seconds(device, middle) <= seconds)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double best_makespan(const true_device *devices, const double *slow, int count, double work, double *shares)
{
    double low = 0, high = INFINITY;
    for (int i = 0; i < count; i++) high = fmin(high, slow[i] * true_seconds(&devices[i], work));
    for (int k = 0; k < 60; k++) {
        double middle = 0.5 * (low + high), sum = 0;
        for (int i = 0; i < count; i++) sum += work_within(&devices[i], slow[i], middle, work);
        if (sum >= work)
            high = middle;
        else
            low = middle;
    }
    double sum = 0;
    for (int i = 0; i < count; i++) sum += shares[i] = work_within(&devices[i], slow[i], high, work);
    for (int i = 0; i < count; i++) shares[i] *= work / sum;
    return high;
}
