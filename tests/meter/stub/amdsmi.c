/* A stand-in of AMD's libamd_smi.so (amd.h). */
#include <stdio.h>
#include <string.h>

#include "amd.h"

const char stub_variable[] = "YOKE_STUB_AMDSMI";

#define STUB_DECLARE(required, result, name, parameters) STUB_API result name parameters;
YOKE_AMDSMI_FUNCTIONS(STUB_DECLARE)

enum { MOST = 16, NOT_INITIALISED = 32, INVALID = 1 };
static char processors[MOST], sockets[MOST]; /* their addresses are the handles */

static int count_devices(void)
{
    long long count = stub_number("devices", -1, 1);
    return count < 0 ? 0 : count > MOST ? MOST : (int)count;
}

static int per_socket(void)
{
    long long count = stub_number("per_socket", -1, 1);
    return count < 1 ? 1 : (int)count;
}

static int enter(const char *function, amdsmi_processor_handle processor, int *n)
{
    const char *at = processor;
    if (!stub_running()) return NOT_INITIALISED;
    if (at < processors || at >= processors + MOST) return INVALID;
    *n = (int)(at - processors);
    if (stub_number("lost", *n, 0)) return AMDSMI_STATUS_NOT_FOUND;
    return stub_failure(function, *n);
}

#define ENTER(processor)                                 \
    int n = 0, entered = enter(__func__, processor, &n); \
    if (entered != 0) return entered

int amdsmi_init(uint64_t flags)
{
    if (flags != AMDSMI_INIT_AMD_GPUS) return INVALID;
    int status = stub_failure(__func__, -1);
    if (status == 0) stub_started();
    return status;
}

int amdsmi_shut_down(void)
{
    if (!stub_running()) return NOT_INITIALISED;
    stub_ended();
    return 0;
}

int amdsmi_get_lib_version(yoke_amd_room *version)
{
    memset(version, 0, 32);
    version->words[0] = (uint32_t)stub_number("version", -1, 26);
    return 0;
}

int amdsmi_status_code_to_string(int status, const char **text)
{
    *text = status == AMDSMI_STATUS_NO_PERM             ? "Permission denied"
            : status == AMDSMI_STATUS_DRIVER_NOT_LOADED ? "Processor driver not loaded"
            : status == AMDSMI_STATUS_NOT_FOUND         ? "Device not found"
                                                        : NULL;
    return *text != NULL ? 0 : INVALID;
}

int amdsmi_get_socket_handles(uint32_t *count, amdsmi_socket_handle *handles)
{
    if (!stub_running()) return NOT_INITIALISED;
    uint32_t there = (uint32_t)((count_devices() + per_socket() - 1) / per_socket());
    if (*count > there) *count = there;
    for (uint32_t i = 0; i < *count; i++) handles[i] = &sockets[i];
    return stub_failure(__func__, -1);
}

int amdsmi_get_processor_handles(amdsmi_socket_handle socket, uint32_t *count, amdsmi_processor_handle *handles)
{
    int first = (int)((const char *)socket - sockets) * per_socket();
    uint32_t found = 0;
    if (!stub_running()) return NOT_INITIALISED;
    for (int i = first; i < first + per_socket() && i < count_devices() && found < *count; i++) handles[found++] = &processors[i];
    *count = found;
    return stub_failure(__func__, -1);
}

int amdsmi_get_processor_type(amdsmi_processor_handle processor, int *type)
{
    ENTER(processor);
    *type = (int)stub_number("type", n, AMDSMI_PROCESSOR_TYPE_AMD_GPU);
    return 0;
}

int amdsmi_get_gpu_device_bdf(amdsmi_processor_handle processor, uint64_t *bdf)
{
    ENTER(processor);
    *bdf = (uint64_t)stub_number("domain", n, 0) << 16 | (uint64_t)stub_number("bus", n, 12 + n) << 8 |
           (uint64_t)stub_number("slot", n, 0) << 3 | (uint64_t)stub_number("function", n, 0);
    return 0;
}

int amdsmi_get_gpu_asic_info(amdsmi_processor_handle processor, yoke_amd_room *info)
{
    ENTER(processor);
    stub_text("model", n, "AMD Instinct MI300X", (char *)info->bytes, 64);
    return 0;
}

int amdsmi_get_energy_count(amdsmi_processor_handle processor, uint64_t *count, float *resolution_uj, uint64_t *time_ns)
{
    ENTER(processor);
    *count = stub_amd_energy(n);
    *resolution_uj = stub_amd_resolution(n);
    *time_ns = 1;
    return 0;
}

int amdsmi_get_power_info(amdsmi_processor_handle processor, yoke_amd_room *info)
{
    ENTER(processor);
    uint32_t current = (uint32_t)stub_number("power_w", n, 140), average = (uint32_t)stub_number("average_w", n, current);
    if (stub_number("version", -1, 26) >= 25) {
        memset(info, 0, 192);
        info->numbers[0] = stub_number("version", -1, 26) >= 26 ? (uint64_t)stub_number("socket_w", n, current) : 0;
        info->words[2] = current;
        info->words[3] = average;
    } else {
        memset(info, 0, 68);
        info->words[0] = current;
        info->words[1] = average;
    }
    return 0;
}

int amdsmi_get_power_cap_info(amdsmi_processor_handle processor, uint32_t sensor, yoke_amd_room *info)
{
    ENTER(processor);
    if (sensor != 0) return INVALID;
    info->numbers[0] = info->numbers[1] = info->numbers[4] = (uint64_t)stub_number("limit_w", n, 750) * 1000000;
    info->numbers[2] = info->numbers[3] = 0;
    return 0;
}
