/* Loads NVML; its GPUs and its errors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "meter/vendor/library.h"
#include "meter/vendor/nvml.h"

static const char *const paths[] = {"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1", NULL};

#define SYMBOL(required, result, name, parameters) {#name, offsetof(yoke_nvml_functions, name), required},
static const yoke_symbol symbols[] = {YOKE_NVML_FUNCTIONS(SYMBOL){NULL, 0, 0}};
static const meter_library_search search = {paths, "YOKE_NVML", symbols};

void yoke_nvml_error_text(const yoke_nvml *nvml, nvmlReturn_t result, char *text, size_t bytes)
{
    const char *words = nvml->call.nvmlErrorString != NULL ? nvml->call.nvmlErrorString(result) : NULL;
    snprintf(text, bytes, "%.100s (NVML error %d)", words != NULL ? words : "unknown error", (int)result);
}

const char *yoke_nvml_remedy(nvmlReturn_t result)
{
    switch (result) {
    case NVML_ERROR_DRIVER_NOT_LOADED:
        return "load the NVIDIA driver (modprobe nvidia; after an installation: reboot); in a container: start it with --gpus all";
    case NVML_ERROR_LIB_RM_VERSION_MISMATCH:
        return "library and kernel module are of different versions, as after an update: reboot, or unload and load the module; in a "
               "container: start it anew";
    case NVML_ERROR_NO_PERMISSION:
        return "give this user access to /dev/nvidia* (group video, or what nvidia-smi needs); in a container: start it with --gpus all";
    case NVML_ERROR_OPERATING_SYSTEM:
        return "the system keeps /dev/nvidia* from this process (cgroup): ask the scheduler for this GPU";
    case NVML_ERROR_GPU_IS_LOST:
        return "the GPU fell off the bus: look at dmesg (Xid 79), power and cooling; it needs a reboot";
    case NVML_ERROR_RESET_REQUIRED:
        return "nvidia-smi --gpu-reset, or a reboot";
    case NVML_ERROR_INSUFFICIENT_POWER:
        return "connect the card's external power cables";
    case NVML_ERROR_IRQ_ISSUE:
        return "the kernel has an interrupt problem with the card: look at dmesg";
    case NVML_ERROR_FUNCTION_NOT_FOUND:
        return "install a newer NVIDIA driver";
    default:
        return "look whether nvidia-smi works, and at dmesg";
    }
}

int yoke_nvml_lost(nvmlReturn_t result) { return result == NVML_ERROR_GPU_IS_LOST || result == NVML_ERROR_RESET_REQUIRED; }

static void set_reason(yoke_nvml *nvml, const char *why_not, const char *remedy)
{
    snprintf(nvml->why_not, sizeof nvml->why_not, "%s", why_not);
    snprintf(nvml->remedy, sizeof nvml->remedy, "%s", remedy);
}

/* Describes why the library cannot be used at all. */
static void explain(yoke_nvml *nvml, nvmlReturn_t result, const char *call)
{
    char error[160], why[METER_WHY_BYTES];
    yoke_nvml_error_text(nvml, result, error, sizeof error);
    snprintf(why, sizeof why, "%s of the NVIDIA driver's libnvidia-ml fails: %s", call, error);
    set_reason(nvml, why, yoke_nvml_remedy(result));
}

/* Describes why the library was not found, and the remedy. */
static void explain_absence(yoke_nvml *nvml, const char *why)
{
    const char *asked = getenv("YOKE_NVML");
    if (why[0] == '\0')
        set_reason(
            nvml, "there is no NVIDIA driver: libnvidia-ml.so.1 was not found",
            "with an NVIDIA GPU: install the NVIDIA driver (Debian: apt install nvidia-driver; Ubuntu: ubuntu-drivers install); in a "
            "container: start it with --gpus all");
    else if (asked != NULL)
        set_reason(nvml, why, "unset YOKE_NVML, or set it to the path of a libnvidia-ml.so.1");
    else
        set_reason(nvml, why, "install an NVIDIA driver of version 450 or newer");
}

int yoke_nvml_load(const meter_site *site, yoke_nvml *nvml)
{
    char why[METER_WHY_BYTES];
    memset(nvml, 0, sizeof *nvml);
    nvml->library = meter_library_open(site, &search, &nvml->call, why);
    if (nvml->library == NULL) {
        explain_absence(nvml, why);
        return 0;
    }
    nvmlReturn_t result = nvml->call.nvmlInit_v2();
    if (result != NVML_SUCCESS) {
        explain(nvml, result, "nvmlInit");
        nvml->library = NULL;
        return 0;
    }
    result = nvml->call.nvmlDeviceGetCount_v2(&nvml->num_devices);
    if (result != NVML_SUCCESS)
        explain(nvml, result, "nvmlDeviceGetCount");
    else if (nvml->num_devices == 0)
        set_reason(nvml, "the NVIDIA driver finds no GPU", "look whether nvidia-smi lists one; in a container: start it with --gpus all");
    if (nvml->why_not[0] != '\0') {
        yoke_nvml_unload(nvml);
        return 0;
    }
    if (nvml->call.nvmlSystemGetDriverVersion(nvml->driver, sizeof nvml->driver) != NVML_SUCCESS) nvml->driver[0] = '\0';
    nvml->driver[sizeof nvml->driver - 1] = '\0';
    return 1;
}

void yoke_nvml_unload(yoke_nvml *nvml)
{
    if (nvml->library == NULL) return;
    nvml->call.nvmlShutdown();
    nvml->library = NULL;
}

int yoke_nvml_device(const yoke_nvml *nvml, unsigned int index, nvmlDevice_t *device, char pci[16], char model[96],
                     char why[METER_WHY_BYTES], char remedy[512])
{
    char error[160];
    nvmlPciInfo_t place;
    memset(&place, 0, sizeof place);
    const char *call = "nvmlDeviceGetHandleByIndex";
    pci[0] = model[0] = '\0';
    nvmlReturn_t result = nvml->call.nvmlDeviceGetHandleByIndex_v2(index, device);
    if (result == NVML_SUCCESS) {
        call = "nvmlDeviceGetPciInfo";
        result = nvml->call.nvmlDeviceGetPciInfo_v3(*device, &place);
    }
    if (result != NVML_SUCCESS) {
        yoke_nvml_error_text(nvml, result, error, sizeof error);
        snprintf(why, METER_WHY_BYTES, "GPU %u of the NVIDIA driver cannot be used: %s: %s", index, call, error);
        snprintf(remedy, 512, "%s", yoke_nvml_remedy(result));
        return 0;
    }
    snprintf(pci, 16, "%04x:%02x:%02x.0", place.domain & 0xffffff, place.bus & 0xff, place.device & 0x1f);
    if (nvml->call.nvmlDeviceGetName(*device, model, 96) != NVML_SUCCESS) snprintf(model, 96, "NVIDIA GPU");
    model[95] = '\0';
    return 1;
}
