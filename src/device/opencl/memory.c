/* Buffers of the opencl backend, and pinned host memory, which its devices copy fast. */
#include <stdio.h>

#include "device/opencl/opencl.h"

/*
 * Drivers may defer the allocation until memory is first used.  Writing one byte forces it now, so that a lack of memory is an error of the
 * creation.
 */
static cl_int take_memory(opencl_device *device, cl_mem memory)
{
    const cl_uchar zero = 0;
    cl_int error = device->cl->clEnqueueFillBuffer(device->queue, memory, &zero, sizeof zero, 0, sizeof zero, 0, NULL, NULL);
    return error == CL_SUCCESS ? device->cl->clFinish(device->queue) : error;
}

/* The front adds the amount of free memory. */
static yoke_status too_large(opencl_device *device, int64_t bytes, const char *why)
{
    return yoke_fail(device->context, YOKE_ERROR_DEVICE_MEMORY, "clCreateBuffer of %lld bytes: %s; one buffer may have at most %lld bytes",
                     (long long)bytes, why, (long long)device->most_bytes_at_once);
}

/*
 * Errors that mean "too large" during an allocation.  Some drivers return OUT_OF_RESOURCES, which in other calls means that the device has
 * failed.
 */
static int is_too_much(cl_int error)
{
    return error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_RESOURCES || error == CL_INVALID_BUFFER_SIZE;
}

yoke_status yoke_opencl_buffer_create(void *device, int64_t bytes, void **buffer)
{
    opencl_device *owner = device;
    cl_int error = CL_SUCCESS;
    if (bytes > owner->most_bytes_at_once) return too_large(owner, bytes, "more than CL_DEVICE_MAX_MEM_ALLOC_SIZE");
    cl_mem memory = owner->cl->clCreateBuffer(owner->driver_context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, &error);
    if (memory != NULL) {
        error = take_memory(owner, memory);
        if (error == CL_SUCCESS) {
            *buffer = memory;
            return YOKE_OK;
        }
        owner->cl->clReleaseMemObject(memory);
    }
    if (is_too_much(error)) return too_large(owner, bytes, yoke_opencl_error_name(error));
    return yoke_opencl_fail(owner, error, "clCreateBuffer", "making a buffer");
}

void yoke_opencl_buffer_destroy(void *device, void *buffer)
{
    const opencl_device *owner = device;
    owner->cl->clReleaseMemObject(buffer);
}

/* ------------------------------------------------------------------------------------------------- pinned */

/* Host memory allocated by the driver, and the buffer whose mapping it is. */
struct opencl_pinned {
    opencl_pinned *next;
    cl_mem buffer;
    void *memory;
};

enum { ALIGNMENT = 64 };

static yoke_status map(opencl_device *owner, int64_t bytes, opencl_pinned *pinned)
{
    cl_int error = CL_SUCCESS;
    pinned->buffer =
        owner->cl->clCreateBuffer(owner->driver_context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, (size_t)bytes, NULL, &error);
    if (pinned->buffer != NULL)
        pinned->memory = owner->cl->clEnqueueMapBuffer(owner->queue, pinned->buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, (size_t)bytes,
                                                       0, NULL, NULL, &error);
    if (pinned->memory != NULL && (uintptr_t)pinned->memory % ALIGNMENT == 0) return YOKE_OK;
    if (pinned->memory != NULL || is_too_much(error) || error == CL_MAP_FAILURE)
        return yoke_fail(owner->context, YOKE_ERROR_MEMORY, "%s: no %lld bytes of host memory for copies: %s", owner->name,
                         (long long)bytes, pinned->memory != NULL ? "the driver does not align it" : yoke_opencl_error_name(error));
    return yoke_opencl_fail(owner, error, "clCreateBuffer or clEnqueueMapBuffer", "making host memory for copies");
}

/* After a loss no command is enqueued any more: the driver might never execute it. */
static void unmap(opencl_device *owner, opencl_pinned *pinned)
{
    if (pinned->memory != NULL && !owner->lost &&
        owner->cl->clEnqueueUnmapMemObject(owner->queue, pinned->buffer, pinned->memory, 0, NULL, NULL) == CL_SUCCESS)
        owner->cl->clFinish(owner->queue);
    if (pinned->buffer != NULL) owner->cl->clReleaseMemObject(pinned->buffer);
    yoke_release(owner->context, pinned);
}

yoke_status yoke_opencl_host_allocate(void *device, int64_t bytes, void **memory)
{
    opencl_device *owner = device;
    void *made = NULL;
    yoke_status status = yoke_allocate(owner->context, 1, sizeof(opencl_pinned), &made);
    if (status != YOKE_OK) return status;
    opencl_pinned *pinned = made;
    status = map(owner, bytes, pinned);
    if (status != YOKE_OK) {
        unmap(owner, pinned);
        return status;
    }
    pinned->next = owner->pinned;
    owner->pinned = pinned;
    *memory = pinned->memory;
    return YOKE_OK;
}

void yoke_opencl_host_release(void *device, void *memory)
{
    opencl_device *owner = device;
    opencl_pinned **link = &owner->pinned;
    while (*link != NULL && (*link)->memory != memory) link = &(*link)->next;
    opencl_pinned *found = *link;
    if (found == NULL) return;
    *link = found->next;
    unmap(owner, found);
}
