/* Loads AMD SMI, or ROCm SMI in its place. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "meter/vendor/amdsmi.h"
#include "meter/vendor/library.h"

static const char *const smi_paths[] = {
    "libamd_smi.so", "libamd_smi.so.26", "libamd_smi.so.25", "libamd_smi.so.24", "/opt/rocm/lib/libamd_smi.so", NULL};
static const char *const rsmi_paths[] = {"librocm_smi64.so",
                                         "librocm_smi64.so.1",
                                         "librocm_smi64.so.7",
                                         "librocm_smi64.so.6",
                                         "librocm_smi64.so.5",
                                         "/opt/rocm/lib/librocm_smi64.so",
                                         NULL};

#define SMI_SYMBOL(required, result, name, parameters) {#name, offsetof(yoke_amdsmi_functions, name), required},
#define RSMI_SYMBOL(required, result, name, parameters) {#name, offsetof(yoke_rocm_smi_functions, name), required},
static const yoke_symbol smi_symbols[] = {YOKE_AMDSMI_FUNCTIONS(SMI_SYMBOL){NULL, 0, 0}};
static const yoke_symbol rsmi_symbols[] = {YOKE_ROCM_SMI_FUNCTIONS(RSMI_SYMBOL){NULL, 0, 0}};
static const meter_library_search smi_search = {smi_paths, "YOKE_AMDSMI", smi_symbols};
static const meter_library_search rsmi_search = {rsmi_paths, "YOKE_ROCM_SMI", rsmi_symbols};

/* -------------------------------------------------------------------------------------------------- errors */

void yoke_amd_error_text(const yoke_amd *amd, int status, char *text, size_t bytes)
{
    const char *words = NULL;
    int known = amd->rocm ? amd->rsmi.rsmi_status_string != NULL && amd->rsmi.rsmi_status_string(status, &words) == 0
                          : amd->smi.amdsmi_status_code_to_string != NULL && amd->smi.amdsmi_status_code_to_string(status, &words) == 0;
    snprintf(text, bytes, "%.100s (%s status %d)", known && words != NULL ? words : "unknown error", amd->rocm ? "ROCm SMI" : "AMD SMI",
             status);
}

const char *yoke_amd_remedy(const yoke_amd *amd, int status)
{
    if (status == (amd->rocm ? (int)RSMI_STATUS_PERMISSION : (int)AMDSMI_STATUS_NO_PERM))
        return "let this user read the GPU's files: usermod -aG render,video USER, and log in anew; in a container: --device=/dev/kfd "
               "--device=/dev/dri";
    if (amd->rocm ? status == RSMI_STATUS_INIT_ERROR
                  : status == AMDSMI_STATUS_DRIVER_NOT_LOADED || status == AMDSMI_STATUS_FAIL_LOAD_MODULE || status == AMDSMI_STATUS_NO_DRV)
        return "load the driver (modprobe amdgpu), and look at dmesg; in a container: --device=/dev/kfd --device=/dev/dri";
    return "look whether amd-smi (or rocm-smi) works, and at dmesg";
}

int yoke_amd_lost(const yoke_amd *amd, int status)
{
    return amd->rocm ? status == RSMI_STATUS_NOT_FOUND : status == AMDSMI_STATUS_NOT_FOUND || status == AMDSMI_STATUS_DRIVER_NOT_LOADED;
}

/* ------------------------------------------------------------------------------------------------- loading */

static void set_reason(yoke_amd *amd, const char *why_not, const char *remedy)
{
    snprintf(amd->why_not, sizeof amd->why_not, "%s", why_not);
    snprintf(amd->remedy, sizeof amd->remedy, "%s", remedy);
}

/* Lists the GPUs of all sockets.  Returns AMD SMI's status. */
static int list_processors(yoke_amd *amd)
{
    amdsmi_socket_handle sockets[YOKE_AMD_MAX_GPUS];
    uint32_t num_sockets = YOKE_AMD_MAX_GPUS;
    memset(sockets, 0, sizeof sockets);
    int status = amd->smi.amdsmi_get_socket_handles(&num_sockets, sockets);
    if (status != 0) return status;
    for (uint32_t s = 0; s < num_sockets && s < YOKE_AMD_MAX_GPUS; s++) {
        amdsmi_processor_handle found[YOKE_AMD_MAX_GPUS];
        uint32_t count = YOKE_AMD_MAX_GPUS;
        if (amd->smi.amdsmi_get_processor_handles(sockets[s], &count, found) != 0) continue;
        for (uint32_t i = 0; i < count && i < YOKE_AMD_MAX_GPUS && amd->num_gpus < YOKE_AMD_MAX_GPUS; i++) {
            int type = 0;
            if (amd->smi.amdsmi_get_processor_type(found[i], &type) == 0 && type == AMDSMI_PROCESSOR_TYPE_AMD_GPU)
                amd->processors[amd->num_gpus++] = found[i];
        }
    }
    return 0;
}

static int list_gpus(yoke_amd *amd)
{
    yoke_amd_room version;
    if (!amd->rocm) {
        memset(&version, 0, sizeof version);
        if (amd->smi.amdsmi_get_lib_version != NULL && amd->smi.amdsmi_get_lib_version(&version) == 0) amd->version = version.words[0];
        return list_processors(amd);
    }
    int status = amd->rsmi.rsmi_num_monitor_devices(&amd->num_gpus);
    if (amd->num_gpus > YOKE_AMD_MAX_GPUS) amd->num_gpus = YOKE_AMD_MAX_GPUS;
    return status;
}

/* Initialises the library that was opened, and counts GPUs.  Returns 1 if there is a GPU. */
static int start(yoke_amd *amd)
{
    char error[160], why[METER_WHY_BYTES];
    const char *name = amd->rocm ? "ROCm SMI" : "AMD SMI";
    amd->num_gpus = 0;
    int status = amd->rocm ? amd->rsmi.rsmi_init(0) : amd->smi.amdsmi_init(AMDSMI_INIT_AMD_GPUS);
    amd->loaded = status == 0;
    if (status == 0) status = list_gpus(amd);
    if (status == 0 && amd->num_gpus > 0) return 1;
    if (status == 0) {
        snprintf(why, sizeof why, "%s finds no GPU", name);
        set_reason(amd, why, "look whether amd-smi list shows one; in a container: --device=/dev/kfd --device=/dev/dri");
    } else {
        yoke_amd_error_text(amd, status, error, sizeof error);
        snprintf(why, sizeof why, "%s %s: %s", name, amd->loaded ? "does not list GPUs" : "cannot be initialised", error);
        set_reason(amd, why, yoke_amd_remedy(amd, status));
    }
    yoke_amd_unload(amd);
    return 0;
}

int yoke_amd_load(const meter_site *site, yoke_amd *amd)
{
    char smi_why[METER_WHY_BYTES], rsmi_why[METER_WHY_BYTES];
    memset(amd, 0, sizeof *amd);
    int there = meter_library_open(site, &smi_search, &amd->smi, smi_why) != NULL;
    if (there && start(amd)) return 1;
    amd->rocm = 1;
    if (meter_library_open(site, &rsmi_search, &amd->rsmi, rsmi_why) != NULL) {
        char first_why[METER_WHY_BYTES], first_remedy[512];
        memcpy(first_why, amd->why_not, sizeof first_why);
        memcpy(first_remedy, amd->remedy, sizeof first_remedy);
        if (start(amd)) {
            set_reason(amd, "", "");
            return 1;
        }
        if (there) set_reason(amd, first_why, first_remedy); /* reason of the newer library */
        return 0;
    }
    if (there) return 0;
    if (smi_why[0] == '\0' && rsmi_why[0] == '\0')
        set_reason(amd, "there is no library of AMD's for management: neither libamd_smi.so nor librocm_smi64.so was found",
                   "with an AMD GPU: install amd-smi-lib (ROCm 6.0 or newer), or librocm-smi64-1 (Debian, Ubuntu)");
    else
        set_reason(amd, smi_why[0] != '\0' ? smi_why : rsmi_why,
                   "install amd-smi-lib of ROCm 6.0 or newer; or set YOKE_AMDSMI or YOKE_ROCM_SMI to the path of libamd_smi.so or "
                   "librocm_smi64.so");
    return 0;
}

void yoke_amd_unload(yoke_amd *amd)
{
    if (amd->loaded && amd->rocm) amd->rsmi.rsmi_shut_down();
    if (amd->loaded && !amd->rocm) amd->smi.amdsmi_shut_down();
    amd->loaded = 0;
}

/* ------------------------------------------------------------------------------------------------- one GPU */

int yoke_amd_pci(const yoke_amd *amd, uint32_t index, char pci[16])
{
    uint64_t id = 0;
    int status = amd->rocm ? amd->rsmi.rsmi_dev_pci_id_get(index, &id) : amd->smi.amdsmi_get_gpu_device_bdf(amd->processors[index], &id);
    if (status != 0) return status;
    unsigned domain = (unsigned)(id >> (amd->rocm ? 32 : 16)) & 0xffffff;
    /* Functions other than 0 are partitions of the same card. */
    snprintf(pci, 16, "%04x:%02x:%02x.0", domain, (unsigned)(id >> 8) & 0xff, (unsigned)(id >> 3) & 0x1f);
    return 0;
}

void yoke_amd_model(const yoke_amd *amd, uint32_t index, char model[96])
{
    yoke_amd_room info;
    memset(&info, 0, sizeof info);
    snprintf(model, 96, "AMD GPU");
    if (amd->rocm && amd->rsmi.rsmi_dev_name_get != NULL) {
        if (amd->rsmi.rsmi_dev_name_get(index, (char *)info.bytes, 95) != 0) return;
    } else if (!amd->rocm && amd->smi.amdsmi_get_gpu_asic_info != NULL) {
        if (amd->smi.amdsmi_get_gpu_asic_info(amd->processors[index], &info) != 0) return;
    }
    info.bytes[95] = '\0';
    for (unsigned char *c = info.bytes; *c != '\0'; c++)
        if (*c < ' ' || *c > '~') *c = '?';
    if (info.bytes[0] != '\0') snprintf(model, 96, "%.95s", (const char *)info.bytes);
}

int yoke_amd_energy(const yoke_amd *amd, uint32_t index, uint64_t *count, double *resolution_j)
{
    uint64_t counted = UINT64_MAX, time_ns = 0;
    float resolution_uj = 0;
    int status = AMDSMI_STATUS_NOT_SUPPORTED;
    if (!amd->rocm)
        status = amd->smi.amdsmi_get_energy_count(amd->processors[index], &counted, &resolution_uj, &time_ns);
    else if (amd->rsmi.rsmi_dev_energy_count_get != NULL)
        status = amd->rsmi.rsmi_dev_energy_count_get(index, &counted, &resolution_uj, &time_ns);
    if (amd->rocm && status == RSMI_STATUS_NOT_YET_IMPLEMENTED) status = RSMI_STATUS_NOT_SUPPORTED;
    if (status != 0) return status;
    /* All ones is the kernel's value if the firmware does not count. */
    if (counted == UINT64_MAX || !(resolution_uj > 0.01F && resolution_uj < 1e6F)) return AMDSMI_STATUS_NOT_SUPPORTED;
    *count = counted;
    *resolution_j = (double)resolution_uj * 1e-6;
    return 0;
}

/* A power reported by AMD SMI, W; 0 if it is not available: 16 or 32 bits of ones, or an impossible value. */
static double watts(uint64_t number) { return number > 0 && number < 0xffff ? (double)number : 0; }

static int smi_power(const yoke_amd *amd, uint32_t index, double *power_w)
{
    yoke_amd_room info;
    if (amd->smi.amdsmi_get_power_info == NULL || amd->version < 24 || amd->version > 1000) return AMDSMI_STATUS_NOT_SUPPORTED;
    memset(&info, 0xff, sizeof info);
    int status = amd->smi.amdsmi_get_power_info(amd->processors[index], &info);
    if (status != 0) return status;
    int at = amd->version >= 25 ? 2 : 0; /* index of the current power */
    *power_w = watts(info.words[at]);
    if (*power_w == 0) *power_w = watts(info.words[at + 1]);
    if (*power_w == 0 && amd->version >= 26) *power_w = watts(info.numbers[0]);
    return *power_w > 0 ? 0 : AMDSMI_STATUS_NOT_SUPPORTED; /* no working GPU draws 0 W */
}

int yoke_amd_power(const yoke_amd *amd, uint32_t index, double *power_w)
{
    uint64_t microwatts = 0;
    int status = RSMI_STATUS_NOT_SUPPORTED, type = 0;
    if (!amd->rocm) return smi_power(amd, index, power_w);
    if (amd->rsmi.rsmi_dev_power_get != NULL) status = amd->rsmi.rsmi_dev_power_get(index, &microwatts, &type);
    if (status != 0 && amd->rsmi.rsmi_dev_power_ave_get != NULL) status = amd->rsmi.rsmi_dev_power_ave_get(index, 0, &microwatts);
    if (status != 0) return status == RSMI_STATUS_NOT_YET_IMPLEMENTED ? RSMI_STATUS_NOT_SUPPORTED : status;
    if (microwatts == 0 || microwatts >= UINT64_C(0xffff) * 1000000) return RSMI_STATUS_NOT_SUPPORTED;
    *power_w = (double)microwatts * 1e-6;
    return 0;
}

double yoke_amd_most_power(const yoke_amd *amd, uint32_t index)
{
    yoke_amd_room info;
    uint64_t most = 0, least = 0;
    memset(&info, 0, sizeof info);
    if (amd->rocm && amd->rsmi.rsmi_dev_power_cap_range_get != NULL) {
        if (amd->rsmi.rsmi_dev_power_cap_range_get(index, 0, &most, &least) != 0) most = 0;
    } else if (!amd->rocm && amd->smi.amdsmi_get_power_cap_info != NULL) {
        if (amd->smi.amdsmi_get_power_cap_info(amd->processors[index], 0, &info) == 0) most = info.numbers[4];
    }
    return most >= 10000000 && most <= UINT64_C(10000000000) ? (double)most * 1e-6 : (double)NAN;
}
