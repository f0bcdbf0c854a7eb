/*
 * nvml_api.h - the functions of NVML (libnvidia-ml.so.1) that yoke calls, declared here so that no NVIDIA software is needed to build.
 *
 * Names and binary interface are NVIDIA's (nvml.h).  The versions of functions are those that drivers since 450 export and later ones keep;
 * nvml.h of CUDA 11.8, 12.9 and 13.5 was compared, and tests/meter/nvml_abi.c compares the installed header, if any.
 * If NVIDIA's header was included before, only the lists are declared, so that a test can compare the two.
 *
 * The lists of functions are X(required, result, name, parameters).
 */
#ifndef YOKE_METER_VENDOR_NVML_API_H
#define YOKE_METER_VENDOR_NVML_API_H

#include <stddef.h>

/* Values: X(name, value). */
#define YOKE_NVML_RESULTS(X)                  \
    X(NVML_SUCCESS, 0)                        \
    X(NVML_ERROR_UNINITIALIZED, 1)            \
    X(NVML_ERROR_INVALID_ARGUMENT, 2)         \
    X(NVML_ERROR_NOT_SUPPORTED, 3)            \
    X(NVML_ERROR_NO_PERMISSION, 4)            \
    X(NVML_ERROR_NOT_FOUND, 6)                \
    X(NVML_ERROR_INSUFFICIENT_SIZE, 7)        \
    X(NVML_ERROR_INSUFFICIENT_POWER, 8)       \
    X(NVML_ERROR_DRIVER_NOT_LOADED, 9)        \
    X(NVML_ERROR_TIMEOUT, 10)                 \
    X(NVML_ERROR_IRQ_ISSUE, 11)               \
    X(NVML_ERROR_LIBRARY_NOT_FOUND, 12)       \
    X(NVML_ERROR_FUNCTION_NOT_FOUND, 13)      \
    X(NVML_ERROR_GPU_IS_LOST, 15)             \
    X(NVML_ERROR_RESET_REQUIRED, 16)          \
    X(NVML_ERROR_OPERATING_SYSTEM, 17)        \
    X(NVML_ERROR_LIB_RM_VERSION_MISMATCH, 18) \
    X(NVML_ERROR_IN_USE, 19)                  \
    X(NVML_ERROR_MEMORY, 20)                  \
    X(NVML_ERROR_NO_DATA, 21)                 \
    X(NVML_ERROR_UNKNOWN, 999)
#define YOKE_NVML_STATES(X) X(NVML_FEATURE_DISABLED, 0) X(NVML_FEATURE_ENABLED, 1)
#define YOKE_NVML_CLOCKS(X) X(NVML_CLOCK_GRAPHICS, 0) X(NVML_CLOCK_SM, 1) X(NVML_CLOCK_MEM, 2) X(NVML_CLOCK_VIDEO, 3)
#define YOKE_NVML_SENSORS(X) X(NVML_TEMPERATURE_GPU, 0)
#define YOKE_NVML_VIRTUALIZATION(X)                \
    X(NVML_GPU_VIRTUALIZATION_MODE_NONE, 0)        \
    X(NVML_GPU_VIRTUALIZATION_MODE_PASSTHROUGH, 1) \
    X(NVML_GPU_VIRTUALIZATION_MODE_VGPU, 2)
#define YOKE_NVML_TYPES(X)                   \
    X(NVML_VALUE_TYPE_DOUBLE, 0)             \
    X(NVML_VALUE_TYPE_UNSIGNED_INT, 1)       \
    X(NVML_VALUE_TYPE_UNSIGNED_LONG, 2)      \
    X(NVML_VALUE_TYPE_UNSIGNED_LONG_LONG, 3) \
    X(NVML_VALUE_TYPE_SIGNED_LONG_LONG, 4)

/* Values that only headers since CUDA 12.2 have.  Fields are in mW and mJ. */
#define YOKE_NVML_FIELDS(X)           \
    X(NVML_POWER_SCOPE_GPU, 0)        \
    X(NVML_POWER_SCOPE_MODULE, 1)     \
    X(NVML_FI_DEV_POWER_AVERAGE, 185) \
    X(NVML_FI_DEV_POWER_INSTANT, 186) \
    X(NVML_FI_DEV_ENERGY, 191)

/* The reason why a frequency is not higher is a mask of nvmlClocksThrottleReason... . */
#define YOKE_NVML_NUMBERS(X)                                \
    X(NVML_DEVICE_MIG_ENABLE, 1)                            \
    X(nvmlClocksThrottleReasonGpuIdle, 1)                   \
    X(nvmlClocksThrottleReasonApplicationsClocksSetting, 2) \
    X(nvmlClocksThrottleReasonSwPowerCap, 4)                \
    X(nvmlClocksThrottleReasonHwSlowdown, 8)                \
    X(nvmlClocksThrottleReasonSyncBoost, 0x10)              \
    X(nvmlClocksThrottleReasonSwThermalSlowdown, 0x20)      \
    X(nvmlClocksThrottleReasonHwThermalSlowdown, 0x40)      \
    X(nvmlClocksThrottleReasonHwPowerBrakeSlowdown, 0x80)   \
    X(nvmlClocksThrottleReasonDisplayClockSetting, 0x100)

#define YOKE_NVML_VALUES(X) \
    YOKE_NVML_RESULTS(X)    \
    YOKE_NVML_STATES(X) YOKE_NVML_CLOCKS(X) YOKE_NVML_SENSORS(X) YOKE_NVML_VIRTUALIZATION(X) YOKE_NVML_TYPES(X) YOKE_NVML_NUMBERS(X)

/* Offsets of members: X(type, member, offset, size); and size of the whole: X(type, size). */
#define YOKE_NVML_LAYOUT(X)                \
    X(nvmlPciInfo_t, busIdLegacy, 0, 16)   \
    X(nvmlPciInfo_t, domain, 16, 4)        \
    X(nvmlPciInfo_t, bus, 20, 4)           \
    X(nvmlPciInfo_t, device, 24, 4)        \
    X(nvmlPciInfo_t, busId, 36, 32)        \
    X(nvmlFieldValue_t, fieldId, 0, 4)     \
    X(nvmlFieldValue_t, scopeId, 4, 4)     \
    X(nvmlFieldValue_t, valueType, 24, 4)  \
    X(nvmlFieldValue_t, nvmlReturn, 28, 4) \
    X(nvmlFieldValue_t, value, 32, 8)
#define YOKE_NVML_SIZES(X) X(nvmlPciInfo_t, 68) X(nvmlFieldValue_t, 40) X(nvmlValue_t, 8)

#ifndef NVML_API_VERSION

#define YOKE_NVML_ENUMERATOR(name, value) name = value,
typedef enum nvmlReturn_enum { YOKE_NVML_RESULTS(YOKE_NVML_ENUMERATOR) } nvmlReturn_t;
typedef enum nvmlEnableState_enum { YOKE_NVML_STATES(YOKE_NVML_ENUMERATOR) } nvmlEnableState_t;
typedef enum nvmlClockType_enum { YOKE_NVML_CLOCKS(YOKE_NVML_ENUMERATOR) } nvmlClockType_t;
typedef enum nvmlTemperatureSensors_enum { YOKE_NVML_SENSORS(YOKE_NVML_ENUMERATOR) } nvmlTemperatureSensors_t;
typedef enum nvmlGpuVirtualizationMode { YOKE_NVML_VIRTUALIZATION(YOKE_NVML_ENUMERATOR) } nvmlGpuVirtualizationMode_t;
typedef enum nvmlValueType_enum { YOKE_NVML_TYPES(YOKE_NVML_ENUMERATOR) } nvmlValueType_t;
enum { YOKE_NVML_NUMBERS(YOKE_NVML_ENUMERATOR) YOKE_NVML_FIELDS(YOKE_NVML_ENUMERATOR) };
#undef YOKE_NVML_ENUMERATOR

typedef struct nvmlDevice_st *nvmlDevice_t;

typedef struct nvmlPciInfo_st {
    char busIdLegacy[16]; /* "0000:3B:00.0" */
    unsigned int domain, bus, device;
    unsigned int pciDeviceId, pciSubSystemId;
    char busId[32]; /* "00000000:3B:00.0" */
} nvmlPciInfo_t;

typedef union nvmlValue_st {
    double dVal;
    unsigned int uiVal;
    unsigned long ulVal;
    unsigned long long ullVal;
    signed long long sllVal;
} nvmlValue_t;

typedef struct nvmlFieldValue_st {
    unsigned int fieldId;
    unsigned int scopeId;
    long long timestamp;
    long long latencyUsec;
    nvmlValueType_t valueType;
    nvmlReturn_t nvmlReturn; /* of this field: the call succeeds if any field does */
    nvmlValue_t value;
} nvmlFieldValue_t;

#endif /* NVML_API_VERSION */

/* Functions for meters.  A function that is not required is NULL if the library is too old to have it. */
#define YOKE_NVML_METER_FUNCTIONS(X)                                                                                \
    X(1, nvmlReturn_t, nvmlInit_v2, (void))                                                                         \
    X(1, nvmlReturn_t, nvmlShutdown, (void))                                                                        \
    X(1, const char *, nvmlErrorString, (nvmlReturn_t result))                                                      \
    X(1, nvmlReturn_t, nvmlSystemGetDriverVersion, (char *version, unsigned int length))                            \
    X(1, nvmlReturn_t, nvmlDeviceGetCount_v2, (unsigned int *count))                                                \
    X(1, nvmlReturn_t, nvmlDeviceGetHandleByIndex_v2, (unsigned int index, nvmlDevice_t *device))                   \
    X(1, nvmlReturn_t, nvmlDeviceGetPciInfo_v3, (nvmlDevice_t device, nvmlPciInfo_t * pci))                         \
    X(1, nvmlReturn_t, nvmlDeviceGetName, (nvmlDevice_t device, char *name, unsigned int length))                   \
    X(1, nvmlReturn_t, nvmlDeviceGetPowerUsage, (nvmlDevice_t device, unsigned int *milliwatts))                    \
    X(0, nvmlReturn_t, nvmlDeviceGetCudaComputeCapability, (nvmlDevice_t device, int *major, int *minor))           \
    X(0, nvmlReturn_t, nvmlDeviceGetTotalEnergyConsumption, (nvmlDevice_t device, unsigned long long *millijoules)) \
    X(0, nvmlReturn_t, nvmlDeviceGetFieldValues, (nvmlDevice_t device, int count, nvmlFieldValue_t *values))        \
    X(0, nvmlReturn_t, nvmlDeviceGetMigMode, (nvmlDevice_t device, unsigned int *current, unsigned int *pending))   \
    X(0, nvmlReturn_t, nvmlDeviceGetVirtualizationMode, (nvmlDevice_t device, nvmlGpuVirtualizationMode_t * mode))  \
    X(0, nvmlReturn_t, nvmlDeviceGetPowerManagementLimitConstraints, (nvmlDevice_t device, unsigned int *least, unsigned int *most))

/* Additional functions for frequencies, all in MHz, mW and degrees Celsius; each is NULL if the library does not have it. */
#define YOKE_NVML_CLOCK_FUNCTIONS(X)                                                                                                \
    X(0, nvmlReturn_t, nvmlDeviceSetGpuLockedClocks, (nvmlDevice_t device, unsigned int least, unsigned int most))                  \
    X(0, nvmlReturn_t, nvmlDeviceResetGpuLockedClocks, (nvmlDevice_t device))                                                       \
    X(0, nvmlReturn_t, nvmlDeviceGetClockInfo, (nvmlDevice_t device, nvmlClockType_t type, unsigned int *clock))                    \
    X(0, nvmlReturn_t, nvmlDeviceGetMaxClockInfo, (nvmlDevice_t device, nvmlClockType_t type, unsigned int *clock))                 \
    X(0, nvmlReturn_t, nvmlDeviceGetSupportedMemoryClocks, (nvmlDevice_t device, unsigned int *count, unsigned int *clocks))        \
    X(0, nvmlReturn_t, nvmlDeviceGetSupportedGraphicsClocks,                                                                        \
      (nvmlDevice_t device, unsigned int memory_clock, unsigned int *count, unsigned int *clocks))                                  \
    X(0, nvmlReturn_t, nvmlDeviceGetCurrentClocksThrottleReasons, (nvmlDevice_t device, unsigned long long *reasons))               \
    X(0, nvmlReturn_t, nvmlDeviceGetPowerManagementLimit, (nvmlDevice_t device, unsigned int *limit))                               \
    X(0, nvmlReturn_t, nvmlDeviceSetPowerManagementLimit, (nvmlDevice_t device, unsigned int limit))                                \
    X(0, nvmlReturn_t, nvmlDeviceGetTemperature, (nvmlDevice_t device, nvmlTemperatureSensors_t sensor, unsigned int *temperature)) \
    X(0, nvmlReturn_t, nvmlDeviceGetPersistenceMode, (nvmlDevice_t device, nvmlEnableState_t * mode))

/* The newer name of ...ThrottleReasons, since driver 535. */
#define YOKE_NVML_NEWER_FUNCTIONS(X) \
    X(0, nvmlReturn_t, nvmlDeviceGetCurrentClocksEventReasons, (nvmlDevice_t device, unsigned long long *reasons))

#define YOKE_NVML_FUNCTIONS(X) YOKE_NVML_METER_FUNCTIONS(X) YOKE_NVML_CLOCK_FUNCTIONS(X) YOKE_NVML_NEWER_FUNCTIONS(X)

#define YOKE_NVML_POINTER(required, result, name, parameters) result(*name) parameters;
typedef struct yoke_nvml_functions {
    YOKE_NVML_FUNCTIONS(YOKE_NVML_POINTER)
} yoke_nvml_functions;
#undef YOKE_NVML_POINTER

#endif
