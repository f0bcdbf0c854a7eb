#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/backends.h"
#include "device/cuda/cuda.h"

/* ------------------------------------------------------------------------------------------------ errors */

CUresult yoke_cuda_enter(const yoke_cuda_device *device) { return device->state->driver.cuCtxPushCurrent_v2(device->current); }

CUresult yoke_cuda_leave(const yoke_cuda_device *device, CUresult result)
{
    CUcontext popped;
    device->state->driver.cuCtxPopCurrent_v2(&popped);
    return result;
}

void yoke_cuda_error_text(const yoke_cuda *state, CUresult result, char *text, size_t bytes)
{
    const char *name = NULL, *meaning = NULL;
    if (state->driver.cuGetErrorName(result, &name) != CUDA_SUCCESS) name = NULL;
    if (state->driver.cuGetErrorString(result, &meaning) != CUDA_SUCCESS) meaning = NULL;
    if (name == NULL)
        snprintf(text, bytes, "error %d", result);
    else
        snprintf(text, bytes, "%s (%s)", name, meaning != NULL ? meaning : "no description");
}

/* The remedy for an error; "" if the driver's text is all that is known. */
static const char *remedy_of(CUresult result)
{
    switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
        return "; a kernel left its buffers: NVIDIA's compute-sanitizer shows where";
    case CUDA_ERROR_LAUNCH_FAILED:
        return "; a kernel crashed, or the card did: dmesg shows an Xid of the NVIDIA driver in that case";
    case CUDA_ERROR_ECC_UNCORRECTABLE:
        return "; the card's memory is broken or needs a reset: nvidia-smi -q -d ECC";
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
        return "; another process may hold it in exclusive mode: nvidia-smi -q -d COMPUTE";
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
        return "; NVRTC and driver do not fit together: update the driver, or set YOKE_LIBNVRTC to an NVRTC that is not newer than it";
    default:
        return "";
    }
}

yoke_status yoke_cuda_fail(const yoke_cuda_device *device, CUresult result, const char *doing, ...)
{
    char text[512], error[256], memory[128] = "";
    va_list arguments;
    va_start(arguments, doing);
    vsnprintf(text, sizeof text, doing, arguments);
    va_end(arguments);
    yoke_cuda_error_text(device->state, result, error, sizeof error);
    yoke_status status = YOKE_ERROR_DEVICE;
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        status = YOKE_ERROR_DEVICE_MEMORY;
        size_t free_bytes, all_bytes;
        CUresult asked = yoke_cuda_enter(device);
        if (asked == CUDA_SUCCESS) asked = yoke_cuda_leave(device, device->state->driver.cuMemGetInfo_v2(&free_bytes, &all_bytes));
        if (asked == CUDA_SUCCESS) snprintf(memory, sizeof memory, "; %zu of %zu bytes are free", free_bytes, all_bytes);
    }
    return yoke_fail(device->state->context, status, "%s: %s: %s%s%s", device->name, text, error, memory, remedy_of(result));
}

/* ----------------------------------------------------------------------------------------------- devices */

static yoke_status cuda_start(yoke_context *context, void **state)
{
    yoke_cuda *made;
    yoke_status status = yoke_allocate(context, 1, sizeof *made, &made);
    if (status != YOKE_OK) return status;
    made->context = context;
    yoke_cache_start(context, &made->cache);
    yoke_cuda_load(made);
    *state = made;
    return YOKE_OK;
}

static void cuda_stop(void *state) { yoke_release(((yoke_cuda *)state)->context, state); }

static void cannot_use(yoke_device_info *info, const char *why_not, const char *remedy)
{
    info->usable = 0;
    snprintf(info->why_not, sizeof info->why_not, "%s", why_not);
    snprintf(info->remedy, sizeof info->remedy, "%s", remedy);
}

/* Properties of a device, as reported by the driver. */
typedef struct properties {
    CUdevice ordinal;
    char model[128], pci[32];
    size_t memory_bytes;
    int major, minor, units, mode;
} properties;

static CUresult read_properties(const yoke_cuda_driver *driver, int number, properties *found)
{
    memset(found, 0, sizeof *found);
    CUresult result = driver->cuDeviceGet(&found->ordinal, number);
    if (result == CUDA_SUCCESS) result = driver->cuDeviceGetName(found->model, sizeof found->model, found->ordinal);
    if (result == CUDA_SUCCESS) result = driver->cuDeviceGetPCIBusId(found->pci, sizeof found->pci, found->ordinal);
    if (result == CUDA_SUCCESS) result = driver->cuDeviceTotalMem_v2(&found->memory_bytes, found->ordinal);
    const struct {
        CUdevice_attribute attribute;
        int *value;
    } attributes[] = {{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &found->major},
                      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &found->minor},
                      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &found->units},
                      {CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, &found->mode}};
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0] && result == CUDA_SUCCESS; i++)
        result = driver->cuDeviceGetAttribute(attributes[i].value, attributes[i].attribute, found->ordinal);
    found->model[sizeof found->model - 1] = '\0';
    found->pci[sizeof found->pci - 1] = '\0';
    return result;
}

/* Converts "00000000:3B:00.0" or "0000:3b:00.0" to "0000:3b:00.0"; "" if the text has neither form. */
static void write_address(const char *from, char *to, size_t bytes)
{
    const char *bus = strchr(from, ':');
    to[0] = '\0';
    if (bus == NULL) return;
    long domain = strtol(from, NULL, 16);
    int length = snprintf(to, bytes, "%04lx%s", domain, bus);
    if (length < 0 || (size_t)length >= bytes) to[0] = '\0';
    for (char *c = to; *c != '\0'; c++) *c = (char)tolower((unsigned char)*c);
}

/* Fills the info of device `number`; if it is not usable, the info has the reason. */
static void describe(const yoke_cuda *state, int number, yoke_device_info *info, properties *found)
{
    char why[256];
    memset(info, 0, sizeof *info);
    snprintf(info->name, sizeof info->name, "cuda:%d", number);
    snprintf(info->kind, sizeof info->kind, "cuda");
    info->device_class = YOKE_DEVICE_GPU;
    info->usable = 1;
    CUresult result = read_properties(&state->driver, number, found);
    if (result != CUDA_SUCCESS) {
        yoke_cuda_error_text(state, result, why, sizeof why);
        cannot_use(info, why, "look at nvidia-smi and dmesg: the card may have fallen off the bus");
        return;
    }
    int capability = 10 * found->major + found->minor;
    write_address(found->pci, info->pci, sizeof info->pci);
    snprintf(info->description, sizeof info->description, "%s, %d multiprocessors, compute capability %d.%d", found->model, found->units,
             found->major, found->minor);
    info->memory_bytes = (int64_t)found->memory_bytes;
    info->compute_units = found->units;
    info->double_precision = capability >= 13;
    if (state->num_architectures > 0)
        snprintf(info->driver, sizeof info->driver, "%s, NVRTC %d.%d", state->driver_text, state->compiler_major, state->compiler_minor);
    else
        snprintf(info->driver, sizeof info->driver, "%s", state->driver_text);

    if (found->mode == CU_COMPUTEMODE_PROHIBITED)
        cannot_use(info, "its compute mode forbids computing", "as root: nvidia-smi -c DEFAULT");
    else if (state->compiler_why_not[0] != '\0')
        cannot_use(info, state->compiler_why_not, state->compiler_remedy);
    else if (capability < state->architectures[0]) {
        snprintf(why, sizeof why, "NVRTC %d.%d compiles for compute capability %d.%d and newer only", state->compiler_major,
                 state->compiler_minor, state->architectures[0] / 10, state->architectures[0] % 10);
        cannot_use(info, why, "install an older CUDA toolkit and set YOKE_LIBNVRTC to its libnvrtc.so");
    }
}

static void describe_absence(const yoke_cuda *state, yoke_device_info *info)
{
    memset(info, 0, sizeof *info);
    snprintf(info->name, sizeof info->name, "cuda");
    snprintf(info->kind, sizeof info->kind, "cuda");
    info->device_class = YOKE_DEVICE_GPU;
    cannot_use(info, state->why_not, state->remedy);
}

static yoke_status cuda_list(void *state, yoke_backend_found *found, void *user)
{
    yoke_cuda *cuda = state;
    yoke_device_info info;
    properties ignored;
    if (cuda->device_count == 0) {
        describe_absence(cuda, &info);
        return found(&info, user);
    }
    yoke_status status = YOKE_OK;
    for (int number = 0; number < cuda->device_count && status == YOKE_OK; number++) {
        describe(cuda, number, &info, &ignored);
        status = found(&info, user);
    }
    return status;
}

/* The number in "cuda:N"; -1 if the name does not have this form. */
static int number_of(const char *name)
{
    if (strncmp(name, "cuda:", 5) != 0 || !isdigit((unsigned char)name[5])) return -1;
    char *end;
    unsigned long number = strtoul(name + 5, &end, 10);
    return *end == '\0' && number < 1000000 ? (int)number : -1;
}

/* Checks the name and fills the info.  On success the device can be opened. */
static yoke_status find(yoke_cuda *cuda, const char *name, yoke_device_info *info, properties *found)
{
    int number = number_of(name);
    if (number < 0 && strcmp(name, "cuda") != 0)
        return yoke_fail(cuda->context, YOKE_ERROR_INPUT, "'%s' is no CUDA device; expected cuda:N, such as cuda:0", name);
    if (cuda->device_count == 0)
        return yoke_fail(cuda->context, YOKE_ERROR_UNAVAILABLE, "%s cannot be used: %s; %s", name, cuda->why_not, cuda->remedy);
    if (number < 0 || number >= cuda->device_count)
        return yoke_fail(cuda->context, YOKE_ERROR_INPUT, "there is no device '%s'; the last CUDA device here is cuda:%d", name,
                         cuda->device_count - 1);
    describe(cuda, number, info, found);
    if (!info->usable)
        return yoke_fail(cuda->context, YOKE_ERROR_UNAVAILABLE, "%s cannot be used: %s; %s", info->name, info->why_not, info->remedy);
    return YOKE_OK;
}

static yoke_status cuda_open(void *state, const char *name, yoke_device_info *info, void **device)
{
    yoke_cuda *cuda = state;
    yoke_device_info described;
    properties found;
    yoke_status status = find(cuda, name, &described, &found);
    if (status != YOKE_OK) return status;
    yoke_cuda_device *made;
    status = yoke_allocate(cuda->context, 1, sizeof *made, &made);
    if (status != YOKE_OK) return status;
    made->state = cuda;
    snprintf(made->name, sizeof made->name, "%s", described.name);
    snprintf(made->model, sizeof made->model, "%s", found.model);
    made->ordinal = found.ordinal;
    made->capability = 10 * found.major + found.minor;
    CUresult result = cuda->driver.cuDevicePrimaryCtxRetain(&made->current, made->ordinal);
    if (result == CUDA_SUCCESS) {
        *info = described;
        *device = made;
        return YOKE_OK;
    }
    status = yoke_cuda_fail(made, result, "opening the device");
    if (result == CUDA_ERROR_DEVICE_UNAVAILABLE)
        status = yoke_fail(cuda->context, YOKE_ERROR_UNAVAILABLE,
                           "%s cannot be used: another process holds it in exclusive mode; wait for it, or as root: nvidia-smi -c DEFAULT",
                           made->name);
    yoke_release(cuda->context, made);
    return status;
}

static void cuda_close(void *device)
{
    yoke_cuda_device *cuda = device;
    yoke_cuda_blas_close(cuda);
    cuda->state->driver.cuDevicePrimaryCtxRelease_v2(cuda->ordinal);
    yoke_release(cuda->state->context, cuda);
}

/* ------------------------------------------------------------------------------------------------ memory */

/* Functions that destroy an object call the driver even if the context cannot be made current: it may still know the handle. */

static yoke_status cuda_memory(void *device, int64_t *free_bytes, int64_t *all_bytes)
{
    yoke_cuda_device *cuda = device;
    size_t free_size, all_size;
    CUresult result = yoke_cuda_enter(cuda);
    if (result == CUDA_SUCCESS) result = yoke_cuda_leave(cuda, cuda->state->driver.cuMemGetInfo_v2(&free_size, &all_size));
    if (result != CUDA_SUCCESS) return yoke_cuda_fail(cuda, result, "asking for free memory");
    *free_bytes = (int64_t)free_size;
    *all_bytes = (int64_t)all_size;
    return YOKE_OK;
}

static yoke_status cuda_host_allocate(void *device, int64_t bytes, void **memory)
{
    yoke_cuda_device *cuda = device;
    void *made;
    CUresult result = yoke_cuda_enter(cuda);
    if (result == CUDA_SUCCESS)
        result = yoke_cuda_leave(cuda, cuda->state->driver.cuMemHostAlloc(&made, (size_t)bytes, CU_MEMHOSTALLOC_PORTABLE));
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return yoke_fail(cuda->state->context, YOKE_ERROR_MEMORY, "%s: the system has no %lld bytes of page-locked memory; see ulimit -l",
                         cuda->name, (long long)bytes);
    if (result != CUDA_SUCCESS) return yoke_cuda_fail(cuda, result, "allocating %lld bytes of page-locked memory", (long long)bytes);
    *memory = made;
    return YOKE_OK;
}

static void cuda_host_release(void *device, void *memory)
{
    yoke_cuda_device *cuda = device;
    CUresult entered = yoke_cuda_enter(cuda);
    cuda->state->driver.cuMemFreeHost(memory);
    if (entered == CUDA_SUCCESS) yoke_cuda_leave(cuda, entered);
}

static yoke_status cuda_buffer_create(void *device, int64_t bytes, void **buffer)
{
    yoke_cuda_device *cuda = device;
    yoke_cuda_buffer *made;
    yoke_status status = yoke_allocate(cuda->state->context, 1, sizeof *made, &made);
    if (status != YOKE_OK) return status;
    CUresult result = yoke_cuda_enter(cuda);
    if (result == CUDA_SUCCESS) result = yoke_cuda_leave(cuda, cuda->state->driver.cuMemAlloc_v2(&made->address, (size_t)bytes));
    if (result == CUDA_SUCCESS) {
        *buffer = made;
        return YOKE_OK;
    }
    status = yoke_cuda_fail(cuda, result, "allocating %lld bytes", (long long)bytes);
    yoke_release(cuda->state->context, made);
    return status;
}

static void cuda_buffer_destroy(void *device, void *buffer)
{
    yoke_cuda_device *cuda = device;
    yoke_cuda_buffer *old = buffer;
    CUresult entered = yoke_cuda_enter(cuda);
    cuda->state->driver.cuMemFree_v2(old->address);
    if (entered == CUDA_SUCCESS) yoke_cuda_leave(cuda, entered);
    yoke_release(cuda->state->context, old);
}

const yoke_backend yoke_backend_cuda = {
    .version = YOKE_BACKEND_VERSION,
    .kind = "cuda",
    .start = cuda_start,
    .stop = cuda_stop,
    .list = cuda_list,
    .open = cuda_open,
    .close = cuda_close,
    .buffer_create = cuda_buffer_create,
    .buffer_destroy = cuda_buffer_destroy,
    .queue_create = yoke_cuda_queue_create,
    .queue_destroy = yoke_cuda_queue_destroy,
    .write = yoke_cuda_write,
    .read = yoke_cuda_read,
    .clear = yoke_cuda_clear,
    .finish = yoke_cuda_finish,
    .event_create = yoke_cuda_event_create,
    .event_destroy = yoke_cuda_event_destroy,
    .record = yoke_cuda_record,
    .wait = yoke_cuda_wait,
    .event_wait = yoke_cuda_event_wait,
    .elapsed_s = yoke_cuda_elapsed_s,
    .program_create = yoke_cuda_program_create,
    .program_destroy = yoke_cuda_program_destroy,
    .function = yoke_cuda_function,
    .launch = yoke_cuda_launch,
    .memory = cuda_memory,
    .host_allocate = cuda_host_allocate,
    .host_release = cuda_host_release,
    .dspmv = yoke_cuda_dspmv,
    .gemm = yoke_cuda_gemm,
    .event_reached = yoke_cuda_event_reached,
};
