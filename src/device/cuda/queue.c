/* Queues, copies and events of the cuda backend. */
#include "device/cuda/cuda.h"

/* ------------------------------------------------------------------------------------------------ queues */

yoke_status yoke_cuda_queue_create(void *device, int flags, void **queue)
{
    (void)flags;
    yoke_cuda_device *cuda = device;
    yoke_cuda_queue *made;
    yoke_status status = yoke_allocate(cuda->state->context, 1, sizeof *made, &made);
    if (status != YOKE_OK) return status;
    made->device = cuda;
    CUresult result = yoke_cuda_enter(cuda);
    if (result == CUDA_SUCCESS) result = yoke_cuda_leave(cuda, cuda->state->driver.cuStreamCreate(&made->stream, CU_STREAM_NON_BLOCKING));
    if (result == CUDA_SUCCESS) {
        *queue = made;
        return YOKE_OK;
    }
    status = yoke_cuda_fail(cuda, result, "making a queue");
    yoke_release(cuda->state->context, made);
    return status;
}

void yoke_cuda_queue_destroy(void *device, void *queue)
{
    yoke_cuda_device *cuda = device;
    yoke_cuda_queue *old = queue;
    CUresult entered = yoke_cuda_enter(cuda);
    cuda->state->driver.cuStreamDestroy_v2(old->stream);
    if (entered == CUDA_SUCCESS) yoke_cuda_leave(cuda, entered);
    yoke_release(cuda->state->context, old);
}

yoke_status yoke_cuda_write(void *queue, void *buffer, int64_t offset, int64_t bytes, const void *from)
{
    yoke_cuda_queue *cuda = queue;
    const yoke_cuda_driver *driver = &cuda->device->state->driver;
    CUdeviceptr to = ((yoke_cuda_buffer *)buffer)->address + (CUdeviceptr)offset;
    CUresult result = yoke_cuda_enter(cuda->device);
    if (result == CUDA_SUCCESS) result = yoke_cuda_leave(cuda->device, driver->cuMemcpyHtoDAsync_v2(to, from, (size_t)bytes, cuda->stream));
    return result == CUDA_SUCCESS ? YOKE_OK : yoke_cuda_fail(cuda->device, result, "copying %lld bytes to the device", (long long)bytes);
}

yoke_status yoke_cuda_read(void *queue, void *buffer, int64_t offset, int64_t bytes, void *to)
{
    yoke_cuda_queue *cuda = queue;
    const yoke_cuda_driver *driver = &cuda->device->state->driver;
    CUdeviceptr from = ((yoke_cuda_buffer *)buffer)->address + (CUdeviceptr)offset;
    CUresult result = yoke_cuda_enter(cuda->device);
    if (result == CUDA_SUCCESS) result = yoke_cuda_leave(cuda->device, driver->cuMemcpyDtoHAsync_v2(to, from, (size_t)bytes, cuda->stream));
    return result == CUDA_SUCCESS ? YOKE_OK : yoke_cuda_fail(cuda->device, result, "copying %lld bytes from the device", (long long)bytes);
}

yoke_status yoke_cuda_clear(void *queue, void *buffer, int64_t offset, int64_t bytes)
{
    yoke_cuda_queue *cuda = queue;
    const yoke_cuda_driver *driver = &cuda->device->state->driver;
    CUdeviceptr to = ((yoke_cuda_buffer *)buffer)->address + (CUdeviceptr)offset;
    CUresult result = yoke_cuda_enter(cuda->device);
    if (result == CUDA_SUCCESS) result = yoke_cuda_leave(cuda->device, driver->cuMemsetD8Async(to, 0, (size_t)bytes, cuda->stream));
    return result == CUDA_SUCCESS ? YOKE_OK : yoke_cuda_fail(cuda->device, result, "clearing %lld bytes", (long long)bytes);
}

yoke_status yoke_cuda_finish(void *queue)
{
    yoke_cuda_queue *cuda = queue;
    CUresult result = yoke_cuda_enter(cuda->device);
    if (result == CUDA_SUCCESS) result = yoke_cuda_leave(cuda->device, cuda->device->state->driver.cuStreamSynchronize(cuda->stream));
    return result == CUDA_SUCCESS ? YOKE_OK : yoke_cuda_fail(cuda->device, result, "finishing a queue");
}

/* ------------------------------------------------------------------------------------------------ events */

typedef struct cuda_event {
    yoke_cuda_device *device;
    CUevent event;
} cuda_event;

yoke_status yoke_cuda_event_create(void *device, void **event)
{
    yoke_cuda_device *cuda = device;
    cuda_event *made;
    yoke_status status = yoke_allocate(cuda->state->context, 1, sizeof *made, &made);
    if (status != YOKE_OK) return status;
    made->device = cuda;
    CUresult result = yoke_cuda_enter(cuda);
    if (result == CUDA_SUCCESS) result = yoke_cuda_leave(cuda, cuda->state->driver.cuEventCreate(&made->event, CU_EVENT_DEFAULT));
    if (result == CUDA_SUCCESS) {
        *event = made;
        return YOKE_OK;
    }
    status = yoke_cuda_fail(cuda, result, "making an event");
    yoke_release(cuda->state->context, made);
    return status;
}

void yoke_cuda_event_destroy(void *device, void *event)
{
    yoke_cuda_device *cuda = device;
    cuda_event *old = event;
    CUresult entered = yoke_cuda_enter(cuda);
    cuda->state->driver.cuEventDestroy_v2(old->event);
    if (entered == CUDA_SUCCESS) yoke_cuda_leave(cuda, entered);
    yoke_release(cuda->state->context, old);
}

yoke_status yoke_cuda_record(void *queue, void *event)
{
    yoke_cuda_queue *cuda = queue;
    CUresult result = yoke_cuda_enter(cuda->device);
    if (result == CUDA_SUCCESS)
        result = yoke_cuda_leave(cuda->device, cuda->device->state->driver.cuEventRecord(((cuda_event *)event)->event, cuda->stream));
    return result == CUDA_SUCCESS ? YOKE_OK : yoke_cuda_fail(cuda->device, result, "recording an event");
}

yoke_status yoke_cuda_wait(void *queue, void *event)
{
    yoke_cuda_queue *cuda = queue;
    CUresult result = yoke_cuda_enter(cuda->device);
    if (result == CUDA_SUCCESS)
        result =
            yoke_cuda_leave(cuda->device, cuda->device->state->driver.cuStreamWaitEvent(cuda->stream, ((cuda_event *)event)->event, 0));
    return result == CUDA_SUCCESS ? YOKE_OK : yoke_cuda_fail(cuda->device, result, "making a queue wait for an event");
}

yoke_status yoke_cuda_event_wait(void *event)
{
    cuda_event *cuda = event;
    CUresult result = yoke_cuda_enter(cuda->device);
    if (result == CUDA_SUCCESS) result = yoke_cuda_leave(cuda->device, cuda->device->state->driver.cuEventSynchronize(cuda->event));
    return result == CUDA_SUCCESS ? YOKE_OK : yoke_cuda_fail(cuda->device, result, "waiting for an event");
}

yoke_status yoke_cuda_event_reached(void *event, int *reached)
{
    cuda_event *cuda = event;
    CUresult result = yoke_cuda_enter(cuda->device);
    if (result == CUDA_SUCCESS) {
        result = cuda->device->state->driver.cuEventQuery(cuda->event);
        *reached = result != CUDA_ERROR_NOT_READY;
        result = yoke_cuda_leave(cuda->device, *reached ? result : CUDA_SUCCESS);
    }
    return result == CUDA_SUCCESS ? YOKE_OK : yoke_cuda_fail(cuda->device, result, "asking for an event");
}

yoke_status yoke_cuda_elapsed_s(void *begin, void *end, double *seconds)
{
    cuda_event *first = begin, *last = end;
    const yoke_cuda_driver *driver = &first->device->state->driver;
    float milliseconds = 0;
    CUresult result = yoke_cuda_enter(first->device);
    if (result == CUDA_SUCCESS) {
        result = driver->cuEventSynchronize(first->event);
        if (result == CUDA_SUCCESS) result = driver->cuEventSynchronize(last->event);
        if (result == CUDA_SUCCESS) result = driver->cuEventElapsedTime(&milliseconds, first->event, last->event);
        result = yoke_cuda_leave(first->device, result);
    }
    if (result != CUDA_SUCCESS) return yoke_cuda_fail(first->device, result, "taking the time between two events");
    *seconds = 1e-3 * (double)milliseconds;
    return YOKE_OK;
}
