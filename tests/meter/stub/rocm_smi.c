/* A stand-in of AMD's librocm_smi64.so (amd.h). */
#include <stdio.h>
#include <string.h>

#include "amd.h"

const char stub_variable[] = "YOKE_STUB_ROCM_SMI";

#define STUB_DECLARE(required, result, name, parameters) STUB_API result name parameters;
YOKE_ROCM_SMI_FUNCTIONS(STUB_DECLARE)

enum { INVALID = 1 };

static int enter(const char *function, uint32_t index)
{
    if (!stub_running()) return RSMI_STATUS_INIT_ERROR;
    if (index >= (uint32_t)stub_number("devices", -1, 1)) return INVALID;
    if (stub_number("lost", (int)index, 0)) return RSMI_STATUS_NOT_FOUND;
    return stub_failure(function, (int)index);
}

#define ENTER(index)                        \
    int entered = enter(__func__, (index)); \
    if (entered != 0) return entered

int rsmi_init(uint64_t flags)
{
    if (flags != 0) return INVALID;
    int status = stub_failure(__func__, -1);
    if (status == 0) stub_started();
    return status;
}

int rsmi_shut_down(void)
{
    if (!stub_running()) return RSMI_STATUS_INIT_ERROR;
    stub_ended();
    return 0;
}

int rsmi_num_monitor_devices(uint32_t *count)
{
    if (!stub_running()) return RSMI_STATUS_INIT_ERROR;
    *count = (uint32_t)stub_number("devices", -1, 1);
    return stub_failure(__func__, -1);
}

int rsmi_status_string(int status, const char **text)
{
    *text = status == RSMI_STATUS_PERMISSION ? "RSMI_STATUS_PERMISSION: permission denied" : "RSMI_STATUS: an error";
    return 0;
}

int rsmi_dev_pci_id_get(uint32_t index, uint64_t *id)
{
    ENTER(index);
    int n = (int)index;
    *id = (uint64_t)stub_number("domain", n, 0) << 32 | (uint64_t)stub_number("partition", n, 0) << 28 |
          (uint64_t)stub_number("bus", n, 12 + n) << 8 | (uint64_t)stub_number("slot", n, 0) << 3 | (uint64_t)stub_number("function", n, 0);
    return 0;
}

int rsmi_dev_name_get(uint32_t index, char *name, size_t bytes)
{
    ENTER(index);
    stub_text("model", (int)index, "AMD Instinct MI210", name, bytes);
    return 0;
}

int rsmi_dev_energy_count_get(uint32_t index, uint64_t *count, float *resolution_uj, uint64_t *time_ns)
{
    ENTER(index);
    *count = stub_amd_energy((int)index);
    *resolution_uj = stub_amd_resolution((int)index);
    *time_ns = 1;
    return 0;
}

int rsmi_dev_power_get(uint32_t index, uint64_t *microwatts, int *type)
{
    ENTER(index);
    *microwatts = (uint64_t)stub_number("power_uw", (int)index, 140000000);
    *type = 1;
    return 0;
}

int rsmi_dev_power_ave_get(uint32_t index, uint32_t sensor, uint64_t *microwatts)
{
    ENTER(index);
    if (sensor != 0) return INVALID;
    *microwatts = (uint64_t)stub_number("average_uw", (int)index, 140000000);
    return 0;
}

int rsmi_dev_power_cap_range_get(uint32_t index, uint32_t sensor, uint64_t *most, uint64_t *least)
{
    ENTER(index);
    if (sensor != 0) return INVALID;
    *most = (uint64_t)stub_number("limit_w", (int)index, 300) * 1000000;
    *least = 0;
    return 0;
}
