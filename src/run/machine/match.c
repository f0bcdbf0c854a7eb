#include "run/machine/match.h"

#include <stdio.h>
#include <string.h>

int run_is_cores(const yoke_device_info *device)
{
    return device->device_class == YOKE_DEVICE_CPU && strcmp(device->kind, "sim") != 0 && device->pci[0] == '\0';
}

int run_meter_belongs(const yoke_meter_info *meter, int64_t num_counted, const yoke_device_info *device)
{
    if (!meter->counted || !meter->usable) return 0;
    if (strcmp(device->kind, "sim") == 0) return strcmp(meter->name, device->name) == 0;
    if (device->pci[0] != '\0') return strcmp(meter->pci, device->pci) == 0;
    if (!run_is_cores(device)) return 0;
    return strncmp(meter->covers, "package-", 8) == 0 || (num_counted == 1 && strcmp(meter->kind, "declared") == 0);
}

static int is_openmp(const yoke_device_info *device) { return strcmp(device->kind, "openmp") == 0; }

int run_shares_cores(const yoke_device_info *const *devices, int64_t num_devices, int64_t index, const yoke_topology *topology,
                     int64_t threads)
{
    const int64_t of_core = topology->cores > 0 ? topology->hardware_threads / topology->cores : 1;
    int64_t taken = 0;
    if (!run_is_cores(devices[index]) || is_openmp(devices[index])) return 0;
    for (int64_t i = 0; i < num_devices; i++) {
        const int64_t cores = devices[i]->compute_units;
        if (is_openmp(devices[i])) taken += (cores < threads ? cores : threads) * of_core;
    }
    return taken > 0 && taken + devices[index]->compute_units > topology->hardware_threads;
}

static int is_domain_of(const yoke_frequency_info *domain, const yoke_device_info *device)
{
    if (strcmp(device->kind, "sim") == 0) return strcmp(domain->name, device->name) == 0;
    if (device->pci[0] != '\0') return strcmp(domain->pci, device->pci) == 0;
    return run_is_cores(device) && strcmp(domain->name, "cpu") == 0;
}

/* Writes to `why` why the domain of all cores must not be set for this device, and nothing if it may be set. */
static void check_cores(const yoke_device_info *const *devices, int64_t num_devices, int64_t index, char *why)
{
    if (!run_is_cores(devices[index])) return;
    if (strchr(devices[index]->name, ':') != NULL && is_openmp(devices[index]))
        snprintf(why, RUN_WHY_BYTES, "it is a part of the cores, whose frequency is set for all of them together");
    for (int64_t i = 0; i < num_devices; i++)
        if (i != index && run_is_cores(devices[i]))
            snprintf(why, RUN_WHY_BYTES, "it shares the cores, whose frequency is set for all of them together, with %.64s",
                     devices[i]->name);
}

const yoke_frequency_info *run_frequency_of(const yoke_frequency_info *list, int64_t count, const yoke_device_info *const *devices,
                                            int64_t num_devices, int64_t index, char *why)
{
    why[0] = '\0';
    for (int64_t k = 0; k < count; k++) {
        const yoke_frequency_info *domain = &list[k];
        if (!is_domain_of(domain, devices[index])) continue;
        int known = domain->num_levels > 0 || (domain->min_hz > 0 && domain->max_hz > domain->min_hz);
        if (!domain->settable)
            snprintf(why, RUN_WHY_BYTES, "%s", domain->why_not);
        else if (!known)
            snprintf(why, RUN_WHY_BYTES, "%.64s does not say which frequencies there are", domain->name);
        else
            check_cores(devices, num_devices, index, why);
        return why[0] == '\0' ? domain : NULL;
    }
    snprintf(why, RUN_WHY_BYTES, "nothing here sets its frequency");
    return NULL;
}
