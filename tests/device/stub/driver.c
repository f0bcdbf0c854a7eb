/* Devices and contexts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stub.h"

enum { MAX_DEVICES = 16, MAX_PUSHED = 16 };

static struct CUctx_st contexts[MAX_DEVICES]; /* the primary context of each device */
static int shown[MAX_DEVICES], num_shown, started;

static __thread CUcontext pushed[MAX_PUSHED];
static __thread int num_pushed;

CUcontext stub_current(void) { return num_pushed > 0 ? pushed[num_pushed - 1] : NULL; }

/* CUDA_VISIBLE_DEVICES: numbers up to the first that is none. */
static void show_devices(int count)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    num_shown = 0;
    if (visible == NULL) {
        for (; num_shown < count; num_shown++) shown[num_shown] = num_shown;
        return;
    }
    while (num_shown < MAX_DEVICES) {
        char *end;
        long number = strtol(visible, &end, 10);
        if (end == visible || number < 0 || number >= count) return;
        shown[num_shown++] = (int)number;
        if (*end != ',') return;
        visible = end + 1;
    }
}

CUresult cuInit(unsigned flags)
{
    CUresult result = stub_begin();
    unsigned long long count = stub_setting("YOKE_STUB_CUDA_DEVICES", 1);
    if (flags != 0) result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        show_devices(count < MAX_DEVICES ? (int)count : MAX_DEVICES);
        started = 1;
        if (num_shown == 0) result = CUDA_ERROR_NO_DEVICE;
    }
    return stub_end(result);
}

CUresult cuDriverGetVersion(int *version)
{
    CUresult result = stub_begin();
    if (result == CUDA_SUCCESS) *version = (int)stub_setting("YOKE_STUB_CUDA_DRIVER", 13000);
    return stub_end(result);
}

static const struct {
    CUresult result;
    const char *name, *meaning;
} errors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_DEVICE_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_ECC_UNCORRECTABLE, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

/* Texts are no calls of the device, and never fail on request: a failure is told by them. */
CUresult cuGetErrorName(CUresult error, const char **text)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].result == error) {
            *text = errors[i].name;
            return CUDA_SUCCESS;
        }
    *text = NULL;
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].result == error) {
            *text = errors[i].meaning;
            return CUDA_SUCCESS;
        }
    *text = NULL;
    return CUDA_ERROR_INVALID_VALUE;
}

/* ------------------------------------------------------------------------------------------------- devices */

static CUresult begin_with_device(CUdevice device)
{
    CUresult result = stub_begin();
    if (result != CUDA_SUCCESS) return result;
    if (!started) return CUDA_ERROR_NOT_INITIALIZED;
    return device >= 0 && device < MAX_DEVICES ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetCount(int *count)
{
    CUresult result = begin_with_device(0);
    if (result == CUDA_SUCCESS) *count = num_shown;
    return stub_end(result);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    CUresult result = begin_with_device(0);
    if (result == CUDA_SUCCESS && (ordinal < 0 || ordinal >= num_shown)) result = CUDA_ERROR_INVALID_DEVICE;
    if (result == CUDA_SUCCESS) *device = shown[ordinal];
    return stub_end(result);
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
    CUresult result = begin_with_device(device);
    if (result == CUDA_SUCCESS) snprintf(name, (size_t)length, "yoke stub GPU");
    return stub_end(result);
}

CUresult cuDeviceGetPCIBusId(char *address, int length, CUdevice device)
{
    CUresult result = begin_with_device(device);
    if (result == CUDA_SUCCESS) snprintf(address, (size_t)length, "0000:%02X:00.0", 0x3b + device);
    return stub_end(result);
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    CUresult result = begin_with_device(device);
    int capability = (int)stub_setting("YOKE_STUB_CUDA_CAPABILITY", 80);
    if (result != CUDA_SUCCESS) return stub_end(result);
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = capability / 10;
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = capability % 10;
        break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = 4;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = 1024;
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
        *value = (int)stub_setting("YOKE_STUB_CUDA_MODE", 0);
        break;
    default:
        result = CUDA_ERROR_INVALID_VALUE;
    }
    return stub_end(result);
}

/* ------------------------------------------------------------------------------------------------ contexts */

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    CUresult result = begin_with_device(device);
    if (result == CUDA_SUCCESS && stub_setting("YOKE_STUB_CUDA_MODE", 0) != 0) result = CUDA_ERROR_DEVICE_UNAVAILABLE;
    if (result == CUDA_SUCCESS) {
        contexts[device].device = device;
        contexts[device].references++;
        stub_count(BOOK_contexts, 1);
        *context = &contexts[device];
    }
    return stub_end(result);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    CUresult result = begin_with_device(device);
    if (device < 0 || device >= MAX_DEVICES || contexts[device].references == 0) return stub_end(CUDA_ERROR_INVALID_CONTEXT);
    contexts[device].references--;
    stub_count(BOOK_contexts, -1);
    return stub_end(result);
}

CUresult cuCtxPushCurrent_v2(CUcontext context)
{
    CUresult result = stub_begin();
    if (result == CUDA_SUCCESS && (context == NULL || context->references == 0 || num_pushed == MAX_PUSHED))
        result = CUDA_ERROR_INVALID_CONTEXT;
    if (result == CUDA_SUCCESS)
        pushed[num_pushed++] = context;
    else if (context != NULL)
        stub_break(context, result);
    return stub_end(result);
}

CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
    CUresult result = stub_begin();
    if (num_pushed == 0) return stub_end(CUDA_ERROR_INVALID_CONTEXT);
    *context = pushed[--num_pushed];
    return stub_end(result);
}
