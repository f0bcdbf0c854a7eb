#include "energy/experiment.h"

#include <stdio.h>
#include <string.h>

static const char *const units_columns[] = {"units", "seconds", NULL};
static const char *const frequency_columns[] = {"hz", "units_per_s", NULL};
static const char *const dram_columns[] = {"interval_s", NULL};
static const char *const packages_columns[] = {"packages", NULL};

const energy_experiment energy_experiments[] = {
    {"elements", "time and energy against the number of elements", units_columns, energy_measure_elements, energy_analyse_elements},
    {"clock", "power and speed against the frequency", frequency_columns, energy_measure_frequency, energy_analyse_frequency},
    {"dram", "power of memory, and of all else, while everything sleeps", dram_columns, energy_measure_dram, energy_analyse_dram},
    {"copy", "time and energy of copies to a device", units_columns, energy_measure_copy, energy_analyse_copy},
    {"packages", "power of packages that have work, and of those that have none", packages_columns, energy_measure_packages,
     energy_analyse_packages},
};

const int num_energy_experiments = sizeof energy_experiments / sizeof energy_experiments[0];

int energy_column(const data *d, int from, const char *ending, char name[DATA_NAME])
{
    size_t end = strlen(ending);
    for (int k = from + 1; k < d->columns; k++) {
        size_t length = strlen(d->column[k]);
        if (length <= end || strcmp(d->column[k] + length - end, ending) != 0) continue;
        snprintf(name, DATA_NAME, "%.*s", (int)(length - end), d->column[k]);
        return k;
    }
    return -1;
}

int energy_is_simulated(const char *device_name) { return strncmp(device_name, "sim:", 4) == 0; }

yoke_status energy_device_name(yoke_context *context, const work_settings *settings, char name[64])
{
    yoke_device_info *list = NULL;
    int64_t count = 0;
    snprintf(name, 64, "%s", settings->devices ? settings->devices : "openmp");
    if (settings->devices || !settings->machine) return YOKE_OK;
    yoke_status status = yoke_devices_list(context, NULL, 0, &list, &count);
    for (int64_t i = count - 1; i >= 0 && !status; i--)
        if (energy_is_simulated(list[i].name)) snprintf(name, 64, "%.63s", list[i].name);
    yoke_release(context, list);
    return status;
}
