#include "device/device.h"

#include <stdio.h>
#include <string.h>

#include "device/registry.h"

yoke_status yoke_device_ready(yoke_device *device)
{
    return device->lost ? yoke_fail(device->context, YOKE_ERROR_DEVICE, "%s", device->lost_text) : YOKE_OK;
}

yoke_status yoke_device_result(yoke_device *device, yoke_status status)
{
    if (status == YOKE_ERROR_DEVICE && !device->lost) {
        device->lost = 1;
        snprintf(device->lost_text, sizeof device->lost_text, "%s", yoke_last_error(device->context));
        yoke_log(device->context, YOKE_LOG_WARNING, "device %s is lost: %s", device->info.name, device->lost_text);
    }
    return status;
}

/* -------------------------------------------------------------------------------------- opening and closing */

static yoke_status open_named(yoke_context *context, const char *name, yoke_device *device)
{
    static const char pci[] = "pci:";
    char found[sizeof device->info.name];
    if (strncmp(name, pci, strlen(pci)) == 0) {
        yoke_status status = yoke_registry_find_pci(context, name + strlen(pci), found);
        if (status != YOKE_OK) return status;
        name = found;
    }
    void *state = NULL;
    yoke_status status = yoke_registry_find(context, name, strcspn(name, ":"), &device->backend, &state);
    if (status != YOKE_OK) return status;
    return device->backend->open(state, name, &device->info, &device->handle);
}

yoke_status yoke_device_open(yoke_context *context, const char *name, yoke_device **device)
{
    if (context == NULL || name == NULL || device == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_device_open: %s is NULL",
                         context == NULL ? "context" : (name == NULL ? "name" : "device"));
    void *memory = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof(yoke_device), &memory);
    if (status != YOKE_OK) return status;
    yoke_device *opened = memory;
    opened->context = context;
    status = open_named(context, name, opened);
    if (status != YOKE_OK) {
        yoke_release(context, opened);
        return status;
    }
    yoke_log(context, YOKE_LOG_DEBUG, "device %s is open: %s", opened->info.name, opened->info.description);
    *device = opened;
    return YOKE_OK;
}

void yoke_device_close(yoke_device *device)
{
    if (device == NULL) return;
    device->backend->close(device->handle);
    yoke_release(device->context, device);
}

const yoke_device_info *yoke_device_info_get(const yoke_device *device) { return device != NULL ? &device->info : NULL; }

double yoke_device_clock_s(const yoke_device *device)
{
    return device != NULL && device->backend->clock_s != NULL ? device->backend->clock_s(device->handle) : yoke_clock_s();
}

/* ------------------------------------------------------------------------------------------------- memory */

static yoke_status memory_now(yoke_device *device, int64_t *free_bytes, int64_t *all_bytes)
{
    if (device->backend->memory != NULL) return yoke_device_result(device, device->backend->memory(device->handle, free_bytes, all_bytes));
    *all_bytes = device->info.memory_bytes;
    *free_bytes = *all_bytes > device->taken_bytes ? *all_bytes - device->taken_bytes : 0;
    return YOKE_OK;
}

yoke_status yoke_device_memory(yoke_device *device, int64_t *free_bytes, int64_t *all_bytes)
{
    if (device == NULL || free_bytes == NULL || all_bytes == NULL)
        return yoke_fail(device != NULL ? device->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_device_memory: an argument is NULL");
    int64_t unused = 0, all = 0;
    yoke_status status = yoke_device_ready(device);
    if (status == YOKE_OK) status = memory_now(device, &unused, &all);
    if (status != YOKE_OK) return status;
    *free_bytes = unused;
    *all_bytes = all;
    return YOKE_OK;
}

yoke_status(yoke_host_allocate)(yoke_device *device, int64_t bytes, void *pointer)
{
    if (device == NULL || pointer == NULL)
        return yoke_fail(device != NULL ? device->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_host_allocate: %s is NULL",
                         device == NULL ? "device" : "pointer");
    if (bytes < 0)
        return yoke_fail(device->context, YOKE_ERROR_ARGUMENT, "yoke_host_allocate: the size is %lld bytes; give 0 or more",
                         (long long)bytes);
    yoke_status status = yoke_device_ready(device);
    if (status != YOKE_OK) return status;
    if (device->backend->host_allocate == NULL) return yoke_allocate_memory(device->context, bytes, 1, 1, pointer);
    void *memory = NULL;
    /* A request for 0 bytes returns a valid pointer, as yoke_allocate does. */
    status = yoke_device_result(device, device->backend->host_allocate(device->handle, bytes > 0 ? bytes : 1, &memory));
    if (status == YOKE_OK) memcpy(pointer, &memory, sizeof memory);
    return status;
}

void yoke_host_release(yoke_device *device, void *memory)
{
    if (device == NULL || memory == NULL) return;
    if (device->backend->host_release != NULL)
        device->backend->host_release(device->handle, memory);
    else
        yoke_release(device->context, memory);
}

/* ------------------------------------------------------------------------------------------------ buffers */

static yoke_status fail_too_large(yoke_device *device, int64_t bytes, int64_t unused, int64_t all, const char *said)
{
    return yoke_fail(
        device->context, YOKE_ERROR_DEVICE_MEMORY,
        "device %s has no room for a buffer of %lld bytes: %lld of its %lld bytes are free; give it a smaller part of the work%s%s%s",
        device->info.name, (long long)bytes, (long long)unused, (long long)all, said[0] != '\0' ? " (" : "", said,
        said[0] != '\0' ? ")" : "");
}

/*
 * If the driver decides, its error message is completed with the numbers; if the backend has no such function, the front checks the size.
 */
static yoke_status create_memory(yoke_device *device, int64_t bytes, void **handle)
{
    int64_t unused = 0, all = 0;
    if (device->backend->memory == NULL) {
        yoke_status status = memory_now(device, &unused, &all);
        if (status != YOKE_OK) return status;
        if (bytes > unused) return fail_too_large(device, bytes, unused, all, "");
    }
    yoke_status status = yoke_device_result(device, device->backend->buffer_create(device->handle, bytes, handle));
    if (status != YOKE_ERROR_DEVICE_MEMORY) return status;
    char said[512];
    snprintf(said, sizeof said, "%s", yoke_last_error(device->context));
    status = memory_now(device, &unused, &all);
    return status == YOKE_OK ? fail_too_large(device, bytes, unused, all, said) : status;
}

yoke_status yoke_buffer_create(yoke_device *device, int64_t bytes, yoke_buffer **buffer)
{
    if (device == NULL || buffer == NULL)
        return yoke_fail(device != NULL ? device->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_buffer_create: %s is NULL",
                         device == NULL ? "device" : "buffer");
    if (bytes < 0)
        return yoke_fail(device->context, YOKE_ERROR_ARGUMENT, "yoke_buffer_create: the size is %lld bytes; give 0 or more",
                         (long long)bytes);
    yoke_status status = yoke_device_ready(device);
    if (status != YOKE_OK) return status;
    void *memory = NULL;
    status = yoke_allocate(device->context, 1, sizeof(yoke_buffer), &memory);
    if (status != YOKE_OK) return status;
    yoke_buffer *created = memory;
    *created = (yoke_buffer){.device = device, .bytes = bytes};
    if (bytes > 0) status = create_memory(device, bytes, &created->handle);
    if (status != YOKE_OK) {
        yoke_release(device->context, created);
        return status;
    }
    device->taken_bytes += bytes;
    *buffer = created;
    return YOKE_OK;
}

void yoke_buffer_destroy(yoke_buffer *buffer)
{
    if (buffer == NULL) return;
    yoke_device *device = buffer->device;
    if (buffer->bytes > 0) device->backend->buffer_destroy(device->handle, buffer->handle);
    device->taken_bytes -= buffer->bytes;
    yoke_release(device->context, buffer);
}
