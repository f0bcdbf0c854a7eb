/* Queues, copies, events and BLAS products of the opencl backend. */
#include <math.h>

#include "device/opencl/opencl.h"

yoke_status yoke_opencl_submit(opencl_queue *queue, cl_int error, const char *call, const char *what)
{
    if (error != CL_SUCCESS) return yoke_opencl_fail(queue->device, error, call, what);
    error = queue->device->cl->clFlush(queue->queue);
    return error == CL_SUCCESS ? YOKE_OK : yoke_opencl_fail(queue->device, error, "clFlush", what);
}

yoke_status yoke_opencl_queue_create(void *device, int flags, void **queue)
{
    opencl_device *owner = device;
    void *memory = NULL;
    cl_int error = CL_SUCCESS;
    (void)flags;
    yoke_status status = yoke_allocate(owner->context, 1, sizeof(opencl_queue), &memory);
    if (status != YOKE_OK) return status;
    opencl_queue *made = memory;
    made->device = owner;
    made->queue = owner->cl->clCreateCommandQueue(owner->driver_context, owner->id, CL_QUEUE_PROFILING_ENABLE, &error);
    if (made->queue == NULL) {
        yoke_release(owner->context, made);
        return yoke_opencl_fail(owner, error, "clCreateCommandQueue", "making a queue");
    }
    *queue = made;
    return YOKE_OK;
}

void yoke_opencl_queue_destroy(void *device, void *queue)
{
    const opencl_device *owner = device;
    opencl_queue *destroyed = queue;
    owner->cl->clReleaseCommandQueue(destroyed->queue);
    yoke_release(owner->context, destroyed);
}

yoke_status yoke_opencl_write(void *queue, void *buffer, int64_t offset, int64_t bytes, const void *from)
{
    opencl_queue *to = queue;
    cl_int error = to->device->cl->clEnqueueWriteBuffer(to->queue, buffer, CL_FALSE, (size_t)offset, (size_t)bytes, from, 0, NULL, NULL);
    return yoke_opencl_submit(to, error, "clEnqueueWriteBuffer", "writing to a buffer");
}

yoke_status yoke_opencl_read(void *queue, void *buffer, int64_t offset, int64_t bytes, void *to)
{
    opencl_queue *from = queue;
    cl_int error = from->device->cl->clEnqueueReadBuffer(from->queue, buffer, CL_FALSE, (size_t)offset, (size_t)bytes, to, 0, NULL, NULL);
    return yoke_opencl_submit(from, error, "clEnqueueReadBuffer", "reading from a buffer");
}

static yoke_status fill_with_zeros(opencl_queue *queue, cl_mem buffer, int64_t offset, int64_t bytes)
{
    /* A wider pattern is faster; offset and length must be multiples of it. */
    static const cl_ulong zeros[2] = {0, 0};
    const size_t pattern = (offset | bytes) % 16 == 0 ? 16 : (offset | bytes) % 4 == 0 ? 4 : 1;
    cl_int error =
        queue->device->cl->clEnqueueFillBuffer(queue->queue, buffer, zeros, pattern, (size_t)offset, (size_t)bytes, 0, NULL, NULL);
    return error == CL_SUCCESS ? YOKE_OK : yoke_opencl_fail(queue->device, error, "clEnqueueFillBuffer", "clearing a buffer");
}

yoke_status yoke_opencl_clear(void *queue, void *buffer, int64_t offset, int64_t bytes)
{
    return fill_with_zeros(queue, buffer, offset, bytes);
}

yoke_status yoke_opencl_finish(void *queue)
{
    opencl_queue *finished = queue;
    cl_int error = finished->device->cl->clFinish(finished->queue);
    return error == CL_SUCCESS ? YOKE_OK : yoke_opencl_fail(finished->device, error, "clFinish", "finishing a queue");
}

/* ------------------------------------------------------------------------------------------------- events */

yoke_status yoke_opencl_event_create(void *device, void **event)
{
    opencl_device *owner = device;
    void *memory = NULL;
    yoke_status status = yoke_allocate(owner->context, 1, sizeof(opencl_event), &memory);
    if (status != YOKE_OK) return status;
    opencl_event *made = memory;
    made->device = owner;
    *event = made;
    return YOKE_OK;
}

void yoke_opencl_event_destroy(void *device, void *event)
{
    const opencl_device *owner = device;
    opencl_event *destroyed = event;
    if (destroyed->event != NULL) owner->cl->clReleaseEvent(destroyed->event);
    yoke_release(owner->context, destroyed);
}

yoke_status yoke_opencl_record(void *queue, void *event)
{
    opencl_queue *recorded = queue;
    opencl_event *mark = event;
    const opencl_functions *cl = recorded->device->cl;
    cl_event marker = NULL;
    cl_int error = cl->clEnqueueMarkerWithWaitList(recorded->queue, 0, NULL, &marker);
    if (error == CL_SUCCESS) {
        if (mark->event != NULL) cl->clReleaseEvent(mark->event);
        mark->event = marker;
    }
    return yoke_opencl_submit(recorded, error, "clEnqueueMarkerWithWaitList", "recording an event");
}

yoke_status yoke_opencl_wait(void *queue, void *event)
{
    opencl_queue *waiting = queue;
    const opencl_event *mark = event;
    cl_int error = waiting->device->cl->clEnqueueBarrierWithWaitList(waiting->queue, 1, &mark->event, NULL);
    if (error == CL_SUCCESS) return YOKE_OK;
    return yoke_opencl_fail(waiting->device, error, "clEnqueueBarrierWithWaitList", "making a queue wait");
}

yoke_status yoke_opencl_event_wait(void *event)
{
    const opencl_event *mark = event;
    cl_int error = mark->device->cl->clWaitForEvents(1, &mark->event);
    return error == CL_SUCCESS ? YOKE_OK : yoke_opencl_fail(mark->device, error, "clWaitForEvents", "waiting for an event");
}

yoke_status yoke_opencl_event_reached(void *event, int *reached)
{
    const opencl_event *mark = event;
    cl_int state = CL_QUEUED;
    cl_int error = mark->device->cl->clGetEventInfo(mark->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    if (error == CL_SUCCESS && state < 0) error = state; /* the command failed */
    *reached = state == CL_COMPLETE;
    return error == CL_SUCCESS ? YOKE_OK : yoke_opencl_fail(mark->device, error, "clGetEventInfo", "asking for an event");
}

/*
 * The time at which the marker was reached, in nanoseconds of the device's clock.  *known is 0 if the driver records no times of markers.
 */
static yoke_status time_of(const opencl_event *mark, cl_ulong *nanoseconds, int *known)
{
    yoke_status status = yoke_opencl_event_wait((void *)mark);
    if (status != YOKE_OK) return status;
    cl_int error = mark->device->cl->clGetEventProfilingInfo(mark->event, CL_PROFILING_COMMAND_END, sizeof *nanoseconds, nanoseconds, NULL);
    *known = error == CL_SUCCESS;
    if (error == CL_SUCCESS || error == CL_PROFILING_INFO_NOT_AVAILABLE) return YOKE_OK;
    return yoke_opencl_fail(mark->device, error, "clGetEventProfilingInfo", "reading an event's time");
}

yoke_status yoke_opencl_elapsed_s(void *begin, void *end, double *seconds)
{
    cl_ulong first = 0, last = 0;
    int first_known = 0, last_known = 0;
    yoke_status status = time_of(begin, &first, &first_known);
    if (status == YOKE_OK) status = time_of(end, &last, &last_known);
    if (status != YOKE_OK) return status;
    /* An unsigned difference read as a signed number: the events may be in the wrong order. */
    *seconds = first_known && last_known ? 1e-9 * (double)(int64_t)(last - first) : NAN;
    return YOKE_OK;
}

/* --------------------------------------------------------------------------------------------------- BLAS */

static yoke_status blas_result(opencl_queue *queue, int error, const char *call, const char *doing)
{
    const int no_double_precision = -2044;
    if (error == no_double_precision)
        return yoke_fail(queue->device->context, YOKE_ERROR_UNAVAILABLE, "%s: %s: the device has no double precision", queue->device->name,
                         call);
    return yoke_opencl_submit(queue, error, call, doing);
}

yoke_status yoke_opencl_dspmv(void *queue, int64_t n, double alpha, void *a, int64_t a_offset, void *x, int64_t x_offset, double beta,
                              void *y, int64_t y_offset)
{
    opencl_queue *on = queue;
    opencl_device *device = on->device;
    const int64_t size = (int64_t)sizeof(double);
    if (a_offset % size != 0 || x_offset % size != 0 || y_offset % size != 0)
        return yoke_fail(device->context, YOKE_ERROR_ARGUMENT, "%s: dspmv: the offsets %lld, %lld and %lld bytes must be multiples of %lld",
                         device->name, (long long)a_offset, (long long)x_offset, (long long)y_offset, (long long)size);
    yoke_status status = yoke_opencl_load_blas(device->state);
    /* BLAS does not read y if beta is 0; CLBlast multiplies y by 0, which preserves NaNs. */
    if (status == YOKE_OK && beta == 0) status = fill_with_zeros(on, y, y_offset, n * size);
    if (status != YOKE_OK) return status;
    int error = device->state->dspmv(CLBLAST_ROW_MAJOR, CLBLAST_LOWER, (size_t)n, alpha, a, (size_t)(a_offset / size), x,
                                     (size_t)(x_offset / size), 1, beta, y, (size_t)(y_offset / size), 1, &on->queue, NULL);
    return blas_result(on, error, "CLBlastDspmv", "multiplying with a packed matrix");
}

yoke_status yoke_opencl_gemm(void *queue, const yoke_backend_gemm *p)
{
    opencl_queue *on = queue;
    opencl_device *device = on->device;
    const int64_t size = p->single ? (int64_t)sizeof(float) : (int64_t)sizeof(double);
    const size_t m = (size_t)p->m, n = (size_t)p->n, k = (size_t)p->k, lda = (size_t)p->lda, ldb = (size_t)p->ldb, ldc = (size_t)p->ldc;
    const size_t a_offset = (size_t)(p->a_offset / size), b_offset = (size_t)(p->b_offset / size), c_offset = (size_t)(p->c_offset / size);
    yoke_status status = yoke_opencl_load_blas(device->state);
    int error;
    if (status != YOKE_OK) return status;
    if (p->single)
        error = device->state->sgemm(CLBLAST_ROW_MAJOR, CLBLAST_NO_TRANSPOSE, CLBLAST_NO_TRANSPOSE, m, n, k, (float)p->alpha, p->a,
                                     a_offset, lda, p->b, b_offset, ldb, (float)p->beta, p->c, c_offset, ldc, &on->queue, NULL);
    else
        error = device->state->dgemm(CLBLAST_ROW_MAJOR, CLBLAST_NO_TRANSPOSE, CLBLAST_NO_TRANSPOSE, m, n, k, p->alpha, p->a, a_offset, lda,
                                     p->b, b_offset, ldb, p->beta, p->c, c_offset, ldc, &on->queue, NULL);
    return blas_result(on, error, p->single ? "CLBlastSgemm" : "CLBlastDgemm", "multiplying matrices");
}
