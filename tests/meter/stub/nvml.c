/*
 * A stand-in of NVIDIA's libnvidia-ml (settings.h says how it is driven: YOKE_STUB_NVML, YOKE_STUB_NVML_FILE, YOKE_STUB_NVML_STATE).
 *
 * By default one idle card like an A100: 50 W, a counter that follows it in steps of 100 ms, 210 to 1410 MHz, no clock locked.  Settings:
 *   capability=80   10 major + minor         name=...          driver=550.54.15     bus=59, domain=0, slot=0: PCI address
 *   power_mw=50000  instantaneous power      average_mw=...    of 1 s               usage_mw=...  of nvmlDeviceGetPowerUsage (average_mw)
 *   energy_mj=...   the counter is this;     without it: 1000000 + power_mw x time, in steps of period_ms=100
 *   field.ID.SCOPE  result of a field: by default 0 with the fields 185, 186, 191 in scope 0 (GPU), 3 (not supported) with all others
 *   module_mw, module_mj   of scope 1, and of functions without a scope (if module=1)
 *   energy_type=3, power_type=1   nvmlValueType_t of fields
 *   mig=1   virtualization=2 (vGPU)   limit_least_mw=100000  limit_most_mw=400000   persistence=0
 *   least_mhz=210 most_mhz=1410 step_mhz=15 memory_mhz=1215   what can be set
 *   idle_mhz=210    the clock where none is locked           cap_mhz=...  no clock gets higher; then reasons has 4 (power cap)
 *   reasons=...     nvmlDeviceGetCurrentClocksThrottleReasons   temperature=40
 * Kept: locked_least.N, locked_most.N (MHz), limit_mw.N.
 * With STUB_OLD: as of a driver of 2017, which has neither energy, nor fields, nor MIG.
 */
#include "meter/vendor/nvml_api.h"

#include <stdio.h>
#include <string.h>

#include "settings.h"

const char stub_variable[] = "YOKE_STUB_NVML";

#define STUB_DECLARE(required, result, name, parameters) STUB_API result name parameters;
YOKE_NVML_FUNCTIONS(STUB_DECLARE)

enum { MAX_DEVICES = 16 };
struct nvmlDevice_st {
    int number;
};
static struct nvmlDevice_st devices[MAX_DEVICES];

static int count_devices(void)
{
    long long count = stub_number("devices", -1, 1);
    return count < 0 ? 0 : count > MAX_DEVICES ? MAX_DEVICES : (int)count;
}

/* What a call with a device returns before it does anything; *n: the device's number. */
static nvmlReturn_t enter(const char *function, nvmlDevice_t device, int *n)
{
    if (!stub_running()) return NVML_ERROR_UNINITIALIZED;
    if (device < devices || device >= devices + MAX_DEVICES) return NVML_ERROR_INVALID_ARGUMENT;
    *n = device->number;
    if (stub_number("lost", *n, 0)) return NVML_ERROR_GPU_IS_LOST;
    return (nvmlReturn_t)stub_failure(function, *n);
}

#define ENTER(device)                                     \
    int n = 0;                                            \
    nvmlReturn_t entered = enter(__func__, (device), &n); \
    if (entered != NVML_SUCCESS) return entered

/* ------------------------------------------------------------------------------------------------- library */

nvmlReturn_t nvmlInit_v2(void)
{
    nvmlReturn_t result = (nvmlReturn_t)stub_failure(__func__, -1);
    if (result == NVML_SUCCESS) stub_started();
    for (int i = 0; i < MAX_DEVICES; i++) devices[i].number = i;
    return result;
}

nvmlReturn_t nvmlShutdown(void)
{
    if (!stub_running()) return NVML_ERROR_UNINITIALIZED;
    stub_ended();
    return NVML_SUCCESS;
}

const char *nvmlErrorString(nvmlReturn_t result)
{
    switch ((int)result) {
    case NVML_SUCCESS:
        return "The operation was successful";
    case NVML_ERROR_UNINITIALIZED:
        return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT:
        return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED:
        return "Not Supported";
    case NVML_ERROR_NO_PERMISSION:
        return "Insufficient Permissions";
    case NVML_ERROR_DRIVER_NOT_LOADED:
        return "Driver Not Loaded";
    case NVML_ERROR_GPU_IS_LOST:
        return "GPU is lost";
    case NVML_ERROR_LIB_RM_VERSION_MISMATCH:
        return "Driver/library version mismatch";
    default:
        return NULL; /* ours must bear what a library should not do */
    }
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length)
{
    if (!stub_running()) return NVML_ERROR_UNINITIALIZED;
    stub_text("driver", -1, "550.54.15", version, length);
    return (nvmlReturn_t)stub_failure(__func__, -1);
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count)
{
    if (!stub_running()) return NVML_ERROR_UNINITIALIZED;
    *count = (unsigned)count_devices();
    return (nvmlReturn_t)stub_failure(__func__, -1);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device)
{
    if (index >= (unsigned)count_devices()) return NVML_ERROR_INVALID_ARGUMENT;
    ENTER(&devices[index]);
    *device = &devices[index];
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    ENTER(device);
    memset(pci, 0, sizeof *pci);
    pci->domain = (unsigned)stub_number("domain", n, 0);
    pci->bus = (unsigned)stub_number("bus", n, 0x3b + n);
    pci->device = (unsigned)stub_number("slot", n, 0);
    snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "%04X:%02X:%02X.0", pci->domain & 0xffff, pci->bus & 0xff, pci->device & 0xff);
    snprintf(pci->busId, sizeof pci->busId, "%08X:%02X:%02X.0", pci->domain, pci->bus, pci->device);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int length)
{
    ENTER(device);
    stub_text("name", n, "NVIDIA A100-SXM4-40GB", name, length);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor)
{
    ENTER(device);
    int capability = (int)stub_number("capability", n, 80);
    *major = capability / 10;
    *minor = capability % 10;
    return NVML_SUCCESS;
}

/* -------------------------------------------------------------------------------------------- power, energy */

static long long power_of(int n) { return stub_number("power_mw", n, 50000); }
static long long average_of(int n) { return stub_number("average_mw", n, power_of(n)); }
static long long module_power(int n) { return stub_number("module_mw", n, 150000); }

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int *milliwatts)
{
    ENTER(device);
    *milliwatts = (unsigned)stub_number("usage_mw", n, stub_number("module", n, 0) ? module_power(n) : average_of(n));
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t device, unsigned int *least, unsigned int *most)
{
    ENTER(device);
    *least = (unsigned)stub_number("limit_least_mw", n, 100000);
    *most = (unsigned)stub_number("limit_most_mw", n, 400000);
    return NVML_SUCCESS;
}

#ifndef STUB_OLD

static long long energy_of(int n, const char *key, long long milliwatts)
{
    return stub_number(key, n, 1000000 + stub_flown(milliwatts, stub_number("period_ms", n, 100)));
}

nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long *millijoules)
{
    ENTER(device);
    int module = stub_number("module", n, 0) != 0;
    *millijoules = (unsigned long long)(module ? energy_of(n, "module_mj", module_power(n)) : energy_of(n, "energy_mj", power_of(n)));
    return NVML_SUCCESS;
}

static void fill(nvmlFieldValue_t *field, nvmlValueType_t type, long long number)
{
    field->valueType = type;
    memset(&field->value, 0xa5, sizeof field->value); /* what is not of this type is rubbish */
    switch ((int)type) {
    case NVML_VALUE_TYPE_DOUBLE:
        field->value.dVal = (double)number;
        break;
    case NVML_VALUE_TYPE_UNSIGNED_INT:
        field->value.uiVal = (unsigned)number;
        break;
    case NVML_VALUE_TYPE_UNSIGNED_LONG:
        field->value.ulVal = (unsigned long)number;
        break;
    default:
        field->value.ullVal = (unsigned long long)number;
        break;
    }
}

static void get_field(int n, nvmlFieldValue_t *field)
{
    char key[64];
    int known =
        field->fieldId == NVML_FI_DEV_POWER_AVERAGE || field->fieldId == NVML_FI_DEV_POWER_INSTANT || field->fieldId == NVML_FI_DEV_ENERGY;
    int gpu = field->scopeId == NVML_POWER_SCOPE_GPU;
    snprintf(key, sizeof key, "field.%u.%u", field->fieldId, field->scopeId);
    field->nvmlReturn = (nvmlReturn_t)stub_number(key, n, known && gpu ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED);
    if (field->nvmlReturn != NVML_SUCCESS) return;
    if (field->fieldId == NVML_FI_DEV_ENERGY)
        fill(field, (nvmlValueType_t)stub_number("energy_type", n, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG),
             gpu ? energy_of(n, "energy_mj", power_of(n)) : energy_of(n, "module_mj", module_power(n)));
    else
        fill(field, (nvmlValueType_t)stub_number("power_type", n, NVML_VALUE_TYPE_UNSIGNED_INT),
             !gpu                                          ? module_power(n)
             : field->fieldId == NVML_FI_DEV_POWER_INSTANT ? power_of(n)
                                                           : average_of(n));
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t *values)
{
    ENTER(device);
    for (int i = 0; i < count; i++) get_field(n, &values[i]);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int *current, unsigned int *pending)
{
    ENTER(device);
    *current = *pending = (unsigned)stub_number("mig", n, 0);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetVirtualizationMode(nvmlDevice_t device, nvmlGpuVirtualizationMode_t *mode)
{
    ENTER(device);
    *mode = (nvmlGpuVirtualizationMode_t)stub_number("virtualization", n, 0);
    return NVML_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------- clocks */

static unsigned least_of(int n) { return (unsigned)stub_number("least_mhz", n, 210); }
static unsigned most_of(int n) { return (unsigned)stub_number("most_mhz", n, 1410); }
static unsigned step_of(int n)
{
    unsigned step = (unsigned)stub_number("step_mhz", n, 15);
    return step > 0 ? step : 1;
}
static unsigned cap_of(int n) { return (unsigned)stub_number("cap_mhz", n, most_of(n)); }
static unsigned memory_of(int n) { return (unsigned)stub_number("memory_mhz", n, 1215); }

nvmlReturn_t nvmlDeviceSetGpuLockedClocks(nvmlDevice_t device, unsigned int least, unsigned int most)
{
    ENTER(device);
    if (least > most || least < least_of(n) || most > most_of(n)) return NVML_ERROR_INVALID_ARGUMENT;
    stub_keep("locked_least", n, least);
    stub_keep("locked_most", n, most);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceResetGpuLockedClocks(nvmlDevice_t device)
{
    ENTER(device);
    stub_keep("locked_least", n, -1);
    stub_keep("locked_most", n, -1);
    return NVML_SUCCESS;
}

/* The clock that was asked for: the least of what is locked, as of an idle card. */
static unsigned wanted_of(int n) { return (unsigned)stub_kept("locked_least", n, stub_number("idle_mhz", n, 210)); }

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int *clock)
{
    ENTER(device);
    unsigned wanted = wanted_of(n), cap = cap_of(n);
    *clock = type == NVML_CLOCK_MEM ? memory_of(n) : wanted < cap ? wanted : cap;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int *clock)
{
    ENTER(device);
    *clock = type == NVML_CLOCK_MEM ? memory_of(n) : most_of(n);
    return NVML_SUCCESS;
}

/* Hands out a list of clocks as NVML does: *count is the room, then how many there are. */
static nvmlReturn_t hand_out(unsigned least, unsigned most, unsigned step, unsigned *count, unsigned *clocks)
{
    unsigned there = most >= least ? (most - least) / step + 1 : 0, room = *count;
    *count = there;
    if (clocks == NULL || room < there) return NVML_ERROR_INSUFFICIENT_SIZE;
    for (unsigned i = 0; i < there; i++) clocks[i] = most - i * step;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetSupportedMemoryClocks(nvmlDevice_t device, unsigned int *count, unsigned int *clocks)
{
    ENTER(device);
    return hand_out(memory_of(n), memory_of(n), 1, count, clocks);
}

nvmlReturn_t nvmlDeviceGetSupportedGraphicsClocks(nvmlDevice_t device, unsigned int memory_clock, unsigned int *count, unsigned int *clocks)
{
    ENTER(device);
    if (memory_clock != memory_of(n)) return NVML_ERROR_NOT_FOUND;
    return hand_out(least_of(n), most_of(n), step_of(n), count, clocks);
}

static unsigned long long reasons_of(int n)
{
    int capped = wanted_of(n) > cap_of(n), locked = stub_kept("locked_least", n, -1) >= 0;
    long long usual = capped   ? nvmlClocksThrottleReasonSwPowerCap
                      : locked ? nvmlClocksThrottleReasonApplicationsClocksSetting
                               : nvmlClocksThrottleReasonGpuIdle;
    return (unsigned long long)stub_number("reasons", n, usual);
}

nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device, unsigned long long *reasons)
{
    ENTER(device);
    *reasons = reasons_of(n);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long *reasons)
{
    ENTER(device);
    *reasons = reasons_of(n);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t device, unsigned int *limit)
{
    ENTER(device);
    *limit = (unsigned)stub_kept("limit_mw", n, stub_number("limit_most_mw", n, 400000));
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceSetPowerManagementLimit(nvmlDevice_t device, unsigned int limit)
{
    ENTER(device);
    if (limit < stub_number("limit_least_mw", n, 100000) || limit > stub_number("limit_most_mw", n, 400000))
        return NVML_ERROR_INVALID_ARGUMENT;
    stub_keep("limit_mw", n, limit);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensor, unsigned int *temperature)
{
    ENTER(device);
    if (sensor != NVML_TEMPERATURE_GPU) return NVML_ERROR_INVALID_ARGUMENT;
    *temperature = (unsigned)stub_number("temperature", n, 40);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t *mode)
{
    ENTER(device);
    *mode = (nvmlEnableState_t)stub_number("persistence", n, 0);
    return NVML_SUCCESS;
}

#endif /* STUB_OLD */
