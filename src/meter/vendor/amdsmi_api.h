/*
 * amdsmi_api.h - the functions of AMD SMI (libamd_smi.so) and of its predecessor ROCm SMI (librocm_smi64.so) that yoke calls, declared
 * here so that no AMD software is needed to build.
 *
 * Names and binary interface are AMD's (amdsmi.h, rocm_smi.h of ROCm 6.0 to 7.1).  AMD changes structures from release to release: those
 * that are passed here are bytes, large enough for any of them, of which only what is listed below is read.
 * If AMD's headers were included before, only the lists are declared.
 *
 * The lists are X(required, result, name, parameters).
 */
#ifndef YOKE_METER_VENDOR_AMDSMI_API_H
#define YOKE_METER_VENDOR_AMDSMI_API_H

#include <stddef.h>
#include <stdint.h>

#ifndef INCLUDE_AMDSMI_H_

typedef void *amdsmi_processor_handle;
typedef void *amdsmi_socket_handle;

enum { AMDSMI_INIT_AMD_GPUS = 1 << 1 };
enum { AMDSMI_PROCESSOR_TYPE_AMD_GPU = 1 };
enum {
    AMDSMI_STATUS_SUCCESS = 0,
    AMDSMI_STATUS_NOT_SUPPORTED = 2,
    AMDSMI_STATUS_FAIL_LOAD_MODULE = 4,
    AMDSMI_STATUS_NO_PERM = 10,
    AMDSMI_STATUS_FILE_ERROR = 14,
    AMDSMI_STATUS_NOT_FOUND = 31,
    AMDSMI_STATUS_DRIVER_NOT_LOADED = 34,
    AMDSMI_STATUS_NO_DRV = 51
};

#endif

#ifndef INCLUDE_ROCM_SMI_ROCM_SMI_H_

enum {
    RSMI_STATUS_SUCCESS = 0,
    RSMI_STATUS_NOT_SUPPORTED = 2,
    RSMI_STATUS_PERMISSION = 4,
    RSMI_STATUS_INIT_ERROR = 8,
    RSMI_STATUS_NOT_YET_IMPLEMENTED = 9,
    RSMI_STATUS_NOT_FOUND = 10
};

#endif

/*
 * Room for any release's version of a structure; it is filled with 0xff before a call, so that members that are not written read as "not
 * available".
 */
typedef union yoke_amd_room {
    unsigned char bytes[4096];
    uint32_t words[1024];
    uint64_t numbers[512];
} yoke_amd_room;

/*
 * Layout in bytes:
 *   amdsmi_bdf_t            a number: 3 bits function, 5 bits device, 8 bits bus, 48 bits domain
 *   amdsmi_version_t        first word: 23 and 24 (ROCm 6.0 to 6.3), 25 (6.4), 26 and more (7.0 and newer)
 *   amdsmi_power_info_t     W: with 24 words current, average; from 25 on number socket, words current, average; missing: all ones
 *   amdsmi_power_cap_info_t numbers, uW: cap, default, dpm, least, most
 *   amdsmi_asic_info_t      begins with the model's name
 */
#define YOKE_AMDSMI_FUNCTIONS(X)                                                                                                       \
    X(1, int, amdsmi_init, (uint64_t flags))                                                                                           \
    X(1, int, amdsmi_shut_down, (void))                                                                                                \
    X(1, int, amdsmi_get_socket_handles, (uint32_t * count, amdsmi_socket_handle * sockets))                                           \
    X(1, int, amdsmi_get_processor_handles, (amdsmi_socket_handle socket, uint32_t * count, amdsmi_processor_handle * processors))     \
    X(1, int, amdsmi_get_processor_type, (amdsmi_processor_handle processor, int *type))                                               \
    X(1, int, amdsmi_get_gpu_device_bdf, (amdsmi_processor_handle processor, uint64_t * bdf))                                          \
    X(1, int, amdsmi_get_energy_count, (amdsmi_processor_handle processor, uint64_t * count, float *resolution_uj, uint64_t *time_ns)) \
    X(0, int, amdsmi_get_power_info, (amdsmi_processor_handle processor, yoke_amd_room * info))                                        \
    X(0, int, amdsmi_get_power_cap_info, (amdsmi_processor_handle processor, uint32_t sensor, yoke_amd_room * info))                   \
    X(0, int, amdsmi_get_gpu_asic_info, (amdsmi_processor_handle processor, yoke_amd_room * info))                                     \
    X(0, int, amdsmi_get_lib_version, (yoke_amd_room * version))                                                                       \
    X(0, int, amdsmi_status_code_to_string, (int status, const char **text))

/* rsmi_dev_pci_id_get: domain << 32 | partition << 28 | bus << 8 | device << 3 | function.  Powers are in uW. */
#define YOKE_ROCM_SMI_FUNCTIONS(X)                                                                                    \
    X(1, int, rsmi_init, (uint64_t flags))                                                                            \
    X(1, int, rsmi_shut_down, (void))                                                                                 \
    X(1, int, rsmi_num_monitor_devices, (uint32_t * count))                                                           \
    X(1, int, rsmi_dev_pci_id_get, (uint32_t index, uint64_t * id))                                                   \
    X(0, int, rsmi_dev_energy_count_get, (uint32_t index, uint64_t * count, float *resolution_uj, uint64_t *time_ns)) \
    X(0, int, rsmi_dev_power_get, (uint32_t index, uint64_t * microwatts, int *type))                                 \
    X(0, int, rsmi_dev_power_ave_get, (uint32_t index, uint32_t sensor, uint64_t * microwatts))                       \
    X(0, int, rsmi_dev_power_cap_range_get, (uint32_t index, uint32_t sensor, uint64_t * most, uint64_t * least))     \
    X(0, int, rsmi_dev_name_get, (uint32_t index, char *name, size_t bytes))                                          \
    X(0, int, rsmi_status_string, (int status, const char **text))

#define YOKE_AMD_POINTER(required, result, name, parameters) result(*name) parameters;
typedef struct yoke_amdsmi_functions {
    YOKE_AMDSMI_FUNCTIONS(YOKE_AMD_POINTER)
} yoke_amdsmi_functions;
typedef struct yoke_rocm_smi_functions {
    YOKE_ROCM_SMI_FUNCTIONS(YOKE_AMD_POINTER)
} yoke_rocm_smi_functions;
#undef YOKE_AMD_POINTER

#endif
