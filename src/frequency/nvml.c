/*
 * Frequencies of NVIDIA GPUs: locked clocks (minimum = maximum).  Drivers support them since Volta, for root only, and keep them until they
 * are reset or the driver is unloaded.  Clocks that were locked before cannot be queried, so restoring is a reset, and only of GPUs that
 * were set.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frequency/frequency.h"
#include "meter/vendor/nvml.h"

enum { MAX_LEVELS = 512 };

/* The library, which all domains of a list share. */
typedef struct nvml_shared {
    yoke_nvml nvml;
    yoke_context *context;
    int users;
} nvml_shared;

typedef struct nvml_domain {
    nvml_shared *shared;
    nvmlDevice_t device;
    char pci[16];
    unsigned int levels_mhz[MAX_LEVELS]; /* ascending */
    unsigned int num_levels, asked_mhz;
} nvml_domain;

static const char no_right[] =
    "run as root (in a container also with --cap-add SYS_ADMIN); or ask the administrator for "
    "nvidia-smi --lock-gpu-clocks around the run, or for lower power limits, and measure with frequencies as they are";

/* ------------------------------------------------------------------------------------------------- change */

static yoke_status nvml_save(frequency_entry *entry, frequency_book *book)
{
    const nvml_domain *domain = entry->state;
    frequency_saved saved = {.place = FREQUENCY_OF_GPU};
    snprintf(saved.where, sizeof saved.where, "%s", domain->pci);
    return frequency_book_has(book, saved.where) ? YOKE_OK : frequency_book_add(book, &saved);
}

static unsigned int nearest_level(const nvml_domain *domain, double hz)
{
    unsigned int nearest = (unsigned int)lround(hz / 1e6);
    for (unsigned int i = 0; i < domain->num_levels; i++)
        if (i == 0 || fabs(1e6 * domain->levels_mhz[i] - hz) < fabs(1e6 * nearest - hz)) nearest = domain->levels_mhz[i];
    return nearest;
}

static yoke_status nvml_set(frequency_entry *entry, double hz)
{
    nvml_domain *domain = entry->state;
    const yoke_nvml *nvml = &domain->shared->nvml;
    yoke_context *context = domain->shared->context;
    char error[160], why[METER_WHY_BYTES];
    domain->asked_mhz = nearest_level(domain, hz);
    nvmlReturn_t result = nvml->call.nvmlDeviceSetGpuLockedClocks(domain->device, domain->asked_mhz, domain->asked_mhz);
    if (result == NVML_SUCCESS) return YOKE_OK;
    yoke_nvml_error_text(nvml, result, error, sizeof error);
    snprintf(why, sizeof why, "clocks cannot be locked: %.160s", error);
    if (result == NVML_ERROR_NO_PERMISSION)
        frequency_entry_refuse(entry, why, no_right);
    else if (result == NVML_ERROR_NOT_SUPPORTED)
        frequency_entry_refuse(entry, why, "locked clocks need a physical GPU of Volta or newer; the frequency of this one cannot be set");
    else
        return yoke_fail(context, YOKE_ERROR_SYSTEM, "%s: %s; %s", entry->info.name, why, yoke_nvml_remedy(result));
    return yoke_fail(context, YOKE_ERROR_UNAVAILABLE, "%s: %s; %s", entry->info.name, why, entry->info.remedy);
}

int frequency_nvml_reset(const struct yoke_nvml *nvml, const char *pci, char why[METER_WHY_BYTES])
{
    for (unsigned int i = 0; i < nvml->num_devices; i++) {
        nvmlDevice_t device;
        char here[16], model[96], remedy[512], error[160];
        if (!yoke_nvml_device(nvml, i, &device, here, model, why, remedy) || strcmp(here, pci) != 0) continue;
        if (nvml->call.nvmlDeviceResetGpuLockedClocks == NULL) break;
        nvmlReturn_t result = nvml->call.nvmlDeviceResetGpuLockedClocks(device);
        if (result == NVML_SUCCESS) return 1;
        yoke_nvml_error_text(nvml, result, error, sizeof error);
        snprintf(why, METER_WHY_BYTES, "its locked clocks cannot be reset: %s; do it with nvidia-smi --reset-gpu-clocks", error);
        return 0;
    }
    snprintf(why, METER_WHY_BYTES, "the NVIDIA driver does not show it any more, so its locked clocks cannot be reset");
    return 0;
}

/* ---------------------------------------------------------------------------------------------- read back */

static double nvml_read(frequency_entry *entry, double *asked_hz)
{
    const nvml_domain *domain = entry->state;
    const yoke_nvml *nvml = &domain->shared->nvml;
    unsigned int mhz = 0;
    *asked_hz = 1e6 * domain->asked_mhz;
    if (nvml->call.nvmlDeviceGetClockInfo == NULL ||
        nvml->call.nvmlDeviceGetClockInfo(domain->device, NVML_CLOCK_GRAPHICS, &mhz) != NVML_SUCCESS || mhz == 0)
        return NAN;
    return 1e6 * mhz;
}

static void nvml_mark(frequency_entry *entry) { (void)entry; }

static void nvml_why(frequency_entry *entry, char text[METER_WHY_BYTES])
{
    static const struct {
        unsigned long long bits;
        const char *text;
    } reasons[] = {
        {nvmlClocksThrottleReasonHwThermalSlowdown | nvmlClocksThrottleReasonSwThermalSlowdown, "heat"},
        {nvmlClocksThrottleReasonHwPowerBrakeSlowdown, "the power brake of the system"},
        {nvmlClocksThrottleReasonSwPowerCap, "its power limit"},
        {nvmlClocksThrottleReasonHwSlowdown, "a slowdown by the hardware (heat or power)"},
        {nvmlClocksThrottleReasonSyncBoost, "sync boost with other GPUs"},
        {nvmlClocksThrottleReasonApplicationsClocksSetting, "its applications clocks"},
        {nvmlClocksThrottleReasonDisplayClockSetting, "its display"},
        {nvmlClocksThrottleReasonGpuIdle, "it is idle"},
    };
    const nvml_domain *domain = entry->state;
    const yoke_nvml_functions *call = &domain->shared->nvml.call;
    unsigned long long bits = 0;
    nvmlReturn_t result = NVML_ERROR_FUNCTION_NOT_FOUND;
    if (call->nvmlDeviceGetCurrentClocksEventReasons != NULL) result = call->nvmlDeviceGetCurrentClocksEventReasons(domain->device, &bits);
    if (result != NVML_SUCCESS && call->nvmlDeviceGetCurrentClocksThrottleReasons != NULL)
        result = call->nvmlDeviceGetCurrentClocksThrottleReasons(domain->device, &bits);
    int length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons && result == NVML_SUCCESS; i++)
        if ((bits & reasons[i].bits) != 0)
            length += snprintf(text + length, (size_t)(METER_WHY_BYTES - length), "%s%s",
                               length > 0 ? ", " : "the driver's reason: ", reasons[i].text);
    if (length == 0) snprintf(text, METER_WHY_BYTES, "the driver gives no reason");
}

/* --------------------------------------------------------------------------------------------------- find */

static void shared_release(nvml_shared *shared)
{
    if (--shared->users > 0) return;
    yoke_nvml_unload(&shared->nvml);
    yoke_release(shared->context, shared);
}

static void nvml_close(void *state)
{
    nvml_domain *domain = state;
    nvml_shared *shared = domain->shared;
    yoke_release(shared->context, domain);
    shared_release(shared);
}

static const frequency_functions functions = {
    .save = nvml_save, .set = nvml_set, .read = nvml_read, .mark = nvml_mark, .why = nvml_why, .close = nvml_close};

static int compare_mhz(const void *left, const void *right)
{
    unsigned int a = *(const unsigned int *)left, b = *(const unsigned int *)right;
    return (a > b) - (a < b);
}

/* Reads the levels at the highest memory frequency, at which applications run. */
static void read_levels(nvml_domain *domain)
{
    const yoke_nvml_functions *call = &domain->shared->nvml.call;
    unsigned int memory[64], num_memory = 64, highest = 0, count = MAX_LEVELS, kept = 0;
    if (call->nvmlDeviceGetSupportedMemoryClocks == NULL || call->nvmlDeviceGetSupportedGraphicsClocks == NULL) return;
    if (call->nvmlDeviceGetSupportedMemoryClocks(domain->device, &num_memory, memory) != NVML_SUCCESS || num_memory > 64) return;
    for (unsigned int i = 0; i < num_memory; i++) highest = memory[i] > highest ? memory[i] : highest;
    if (call->nvmlDeviceGetSupportedGraphicsClocks(domain->device, highest, &count, domain->levels_mhz) != NVML_SUCCESS ||
        count > MAX_LEVELS)
        return;
    qsort(domain->levels_mhz, count, sizeof *domain->levels_mhz, compare_mhz);
    for (unsigned int i = 0; i < count; i++)
        if (domain->levels_mhz[i] > 0 && (kept == 0 || domain->levels_mhz[i] != domain->levels_mhz[kept - 1]))
            domain->levels_mhz[kept++] = domain->levels_mhz[i];
    domain->num_levels = kept;
}

static void fill_levels(const nvml_domain *domain, yoke_frequency_info *info)
{
    const yoke_nvml_functions *call = &domain->shared->nvml.call;
    const unsigned int room = sizeof info->levels_hz / sizeof *info->levels_hz, count = domain->num_levels;
    unsigned int mhz = 0;
    if (count > 0) {
        info->min_hz = 1e6 * domain->levels_mhz[0];
        info->max_hz = 1e6 * domain->levels_mhz[count - 1];
    } else if (call->nvmlDeviceGetMaxClockInfo != NULL &&
               call->nvmlDeviceGetMaxClockInfo(domain->device, NVML_CLOCK_GRAPHICS, &mhz) == NVML_SUCCESS && mhz > 0)
        info->max_hz = 1e6 * mhz;
    if (count > room) return; /* if there are more than fit, they are so close that any frequency is a level */
    for (unsigned int i = 0; i < count; i++) info->levels_hz[i] = 1e6 * domain->levels_mhz[i];
    info->num_levels = count;
}

/* A replacement of the library checks permissions itself. */
static int may_set(void) { return geteuid() == 0 || getenv("YOKE_NVML") != NULL; }

static void fill_info(frequency_entry *entry, const char *model)
{
    const nvml_domain *domain = entry->state;
    const yoke_nvml *nvml = &domain->shared->nvml;
    yoke_frequency_info *info = &entry->info;
    double asked_hz;
    snprintf(info->pci, sizeof info->pci, "%s", domain->pci);
    snprintf(info->description, sizeof info->description, "%s; locked clocks, driver %s", model, nvml->driver);
    info->current_hz = nvml_read(entry, &asked_hz);
    fill_levels(domain, info);
    entry->tolerance_hz = 16e6; /* the step of NVIDIA GPUs is 15 MHz, of some 7.5 MHz */
    if (nvml->call.nvmlDeviceSetGpuLockedClocks == NULL || nvml->call.nvmlDeviceResetGpuLockedClocks == NULL)
        frequency_entry_refuse(entry, "the NVIDIA driver cannot lock clocks", "install an NVIDIA driver of version 450 or newer");
    else if (!may_set())
        frequency_entry_refuse(entry, "only root may lock the clocks of NVIDIA GPUs", no_right);
    else
        info->settable = 1;
}

static yoke_status add_device(nvml_shared *shared, unsigned int index, frequency_list *list)
{
    frequency_entry entry;
    char name[32], model[96], why[METER_WHY_BYTES], remedy[512];
    void *memory = NULL;
    snprintf(name, sizeof name, "nvml:%u", index);
    frequency_entry_start(&entry, "nvml", name);
    yoke_status status = yoke_allocate(shared->context, 1, sizeof(nvml_domain), &memory);
    if (status != YOKE_OK) return status;
    nvml_domain *domain = memory;
    if (!yoke_nvml_device(&shared->nvml, index, &domain->device, domain->pci, model, why, remedy)) {
        yoke_release(shared->context, domain);
        frequency_entry_refuse(&entry, why, remedy);
        return frequency_list_add(list, &entry);
    }
    domain->shared = shared;
    shared->users++;
    entry.state = domain;
    entry.functions = &functions;
    read_levels(domain);
    fill_info(&entry, model);
    return frequency_list_add(list, &entry);
}

yoke_status frequency_nvml_find(const meter_site *site, frequency_list *list)
{
    void *memory = NULL;
    yoke_status status = yoke_allocate(site->context, 1, sizeof(nvml_shared), &memory);
    if (status != YOKE_OK) return status;
    nvml_shared *shared = memory;
    shared->context = site->context;
    shared->users = 1; /* counts this function as a user */
    if (yoke_nvml_load(site, &shared->nvml))
        for (unsigned int i = 0; i < shared->nvml.num_devices && status == YOKE_OK; i++) status = add_device(shared, i, list);
    else {
        frequency_entry entry;
        frequency_entry_start(&entry, "nvml", "nvml");
        frequency_entry_refuse(&entry, shared->nvml.why_not, shared->nvml.remedy);
        status = frequency_list_add(list, &entry);
    }
    shared_release(shared);
    return status;
}
