/* Queues and events of the front. */
#include <math.h>
#include <time.h>

#include "device/device.h"

/* The context for failures; NULL if there is no queue. */
static yoke_context *context_of(const yoke_queue *queue) { return queue != NULL ? queue->device->context : NULL; }

yoke_status yoke_queue_create(yoke_device *device, int flags, yoke_queue **queue)
{
    if (device == NULL || queue == NULL)
        return yoke_fail(device != NULL ? device->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_queue_create: %s is NULL",
                         device == NULL ? "device" : "queue");
    if ((flags & ~YOKE_QUEUE_INLINE) != 0)
        return yoke_fail(device->context, YOKE_ERROR_ARGUMENT, "yoke_queue_create: the flags 0x%x are unknown", (unsigned)flags);
    yoke_status status = yoke_device_ready(device);
    if (status != YOKE_OK) return status;
    void *memory = NULL;
    status = yoke_allocate(device->context, 1, sizeof(yoke_queue), &memory);
    if (status != YOKE_OK) return status;
    yoke_queue *created = memory;
    created->device = device;
    status = yoke_device_result(device, device->backend->queue_create(device->handle, flags, &created->handle));
    if (status != YOKE_OK) {
        yoke_release(device->context, created);
        return status;
    }
    *queue = created;
    return YOKE_OK;
}

void yoke_queue_destroy(yoke_queue *queue)
{
    if (queue == NULL) return;
    yoke_device *device = queue->device;
    if (!device->lost) (void)yoke_device_result(device, device->backend->finish(queue->handle));
    device->backend->queue_destroy(device->handle, queue->handle);
    yoke_release(device->context, queue);
}

/* ------------------------------------------------------------------------------------------------- copies */

/* Checks that all copies have in common.  On YOKE_OK, *nothing is nonzero if there are no bytes to copy. */
static yoke_status check_range(const char *call, yoke_queue *queue, const yoke_buffer *buffer, int64_t offset, int64_t bytes, int *nothing)
{
    if (queue == NULL || buffer == NULL)
        return yoke_fail(context_of(queue), YOKE_ERROR_ARGUMENT, "%s: %s is NULL", call, queue == NULL ? "queue" : "buffer");
    yoke_context *context = queue->device->context;
    if (buffer->device != queue->device)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "%s: the buffer belongs to device %s, the queue to device %s", call,
                         buffer->device->info.name, queue->device->info.name);
    if (offset < 0 || bytes < 0 || offset > buffer->bytes || bytes > buffer->bytes - offset)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "%s: %lld bytes from offset %lld are outside the buffer, which has %lld bytes", call,
                         (long long)bytes, (long long)offset, (long long)buffer->bytes);
    *nothing = bytes == 0;
    return yoke_device_ready(queue->device);
}

yoke_status yoke_queue_write(yoke_queue *queue, yoke_buffer *to, int64_t offset, int64_t bytes, const void *from)
{
    int nothing = 0;
    yoke_status status = check_range("yoke_queue_write", queue, to, offset, bytes, &nothing);
    if (status != YOKE_OK || nothing) return status;
    if (from == NULL) return yoke_fail(queue->device->context, YOKE_ERROR_ARGUMENT, "yoke_queue_write: from is NULL");
    return yoke_device_result(queue->device, queue->device->backend->write(queue->handle, to->handle, offset, bytes, from));
}

yoke_status yoke_queue_read(yoke_queue *queue, const yoke_buffer *from, int64_t offset, int64_t bytes, void *to)
{
    int nothing = 0;
    yoke_status status = check_range("yoke_queue_read", queue, from, offset, bytes, &nothing);
    if (status != YOKE_OK || nothing) return status;
    if (to == NULL) return yoke_fail(queue->device->context, YOKE_ERROR_ARGUMENT, "yoke_queue_read: to is NULL");
    return yoke_device_result(queue->device, queue->device->backend->read(queue->handle, from->handle, offset, bytes, to));
}

yoke_status yoke_queue_clear(yoke_queue *queue, yoke_buffer *buffer, int64_t offset, int64_t bytes)
{
    int nothing = 0;
    yoke_status status = check_range("yoke_queue_clear", queue, buffer, offset, bytes, &nothing);
    if (status != YOKE_OK || nothing) return status;
    return yoke_device_result(queue->device, queue->device->backend->clear(queue->handle, buffer->handle, offset, bytes));
}

yoke_status yoke_queue_finish(yoke_queue *queue)
{
    if (queue == NULL) return yoke_fail(NULL, YOKE_ERROR_ARGUMENT, "yoke_queue_finish: queue is NULL");
    yoke_status status = yoke_device_ready(queue->device);
    if (status != YOKE_OK) return status;
    return yoke_device_result(queue->device, queue->device->backend->finish(queue->handle));
}

/* ------------------------------------------------------------------------------------------------- events */

yoke_status yoke_event_create(yoke_device *device, yoke_event **event)
{
    if (device == NULL || event == NULL)
        return yoke_fail(device != NULL ? device->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_event_create: %s is NULL",
                         device == NULL ? "device" : "event");
    yoke_status status = yoke_device_ready(device);
    if (status != YOKE_OK) return status;
    void *memory = NULL;
    status = yoke_allocate(device->context, 1, sizeof(yoke_event), &memory);
    if (status != YOKE_OK) return status;
    yoke_event *created = memory;
    created->device = device;
    status = yoke_device_result(device, device->backend->event_create(device->handle, &created->handle));
    if (status != YOKE_OK) {
        yoke_release(device->context, created);
        return status;
    }
    *event = created;
    return YOKE_OK;
}

void yoke_event_destroy(yoke_event *event)
{
    if (event == NULL) return;
    yoke_device *device = event->device;
    device->backend->event_destroy(device->handle, event->handle);
    yoke_release(device->context, event);
}

static yoke_status check_event(const char *call, yoke_queue *queue, const yoke_event *event)
{
    if (queue == NULL || event == NULL)
        return yoke_fail(context_of(queue), YOKE_ERROR_ARGUMENT, "%s: %s is NULL", call, queue == NULL ? "queue" : "event");
    if (event->device != queue->device)
        return yoke_fail(queue->device->context, YOKE_ERROR_ARGUMENT, "%s: the event belongs to device %s, the queue to device %s", call,
                         event->device->info.name, queue->device->info.name);
    return yoke_device_ready(queue->device);
}

yoke_status yoke_queue_record(yoke_queue *queue, yoke_event *event)
{
    yoke_status status = check_event("yoke_queue_record", queue, event);
    if (status != YOKE_OK) return status;
    status = yoke_device_result(queue->device, queue->device->backend->record(queue->handle, event->handle));
    if (status == YOKE_OK) event->recorded = 1;
    return status;
}

yoke_status yoke_event_wait(yoke_event *event, yoke_queue *queue)
{
    if (event == NULL) return yoke_fail(context_of(queue), YOKE_ERROR_ARGUMENT, "yoke_event_wait: event is NULL");
    yoke_status status = queue == NULL ? yoke_device_ready(event->device) : check_event("yoke_event_wait", queue, event);
    if (status != YOKE_OK || !event->recorded) return status;
    const yoke_backend *backend = event->device->backend;
    return yoke_device_result(event->device,
                              queue == NULL ? backend->event_wait(event->handle) : backend->wait(queue->handle, event->handle));
}

/* Also nonzero if the device fails; its queue reports the failure. */
static int is_reached(yoke_event *event)
{
    const yoke_backend *backend = event->device->backend;
    int reached = 0;
    if (!event->recorded || event->device->lost) return 1;
    yoke_status status =
        backend->event_reached != NULL ? backend->event_reached(event->handle, &reached) : backend->event_wait(event->handle);
    return yoke_device_result(event->device, status) != YOKE_OK || backend->event_reached == NULL || reached;
}

/*
 * Waits for a moment, whose length grows with the time that the caller has waited.  On a simulated machine, which has a clock of its own,
 * advances to the end of the next operation instead.  Zero: none of the events will ever be reached.
 */
static int pass_time(yoke_event *const *events, int64_t count, double waited_s)
{
    static const double part = 1.0 / 32, least_s = 5e-6, most_s = 5e-4;
    int by_itself = 0;
    for (int64_t i = 0; i < count; i++) {
        const yoke_device *device = events[i]->device;
        if (device->backend->pass_time != NULL && device->backend->pass_time(device->handle)) return 1;
        by_itself |= device->backend->pass_time == NULL;
    }
    const struct timespec moment = {.tv_nsec = (long)(1e9 * fmin(fmax(part * waited_s, least_s), most_s))};
    if (by_itself) (void)nanosleep(&moment, NULL); /* a signal ends it early; the caller checks again */
    return by_itself;
}

yoke_status yoke_event_wait_any(yoke_event *const *events, int64_t count, int *reached)
{
    if (events == NULL || reached == NULL || count < 1)
        return yoke_fail(NULL, YOKE_ERROR_ARGUMENT, "yoke_event_wait_any: %s", count < 1 ? "there are no events" : "an argument is NULL");
    for (int64_t i = 0; i < count; i++)
        if (events[i] == NULL) return yoke_fail(NULL, YOKE_ERROR_ARGUMENT, "yoke_event_wait_any: event %lld is NULL", (long long)i);
    const double begin_s = yoke_clock_s();
    for (int any = 0, waits = 1; !any;) {
        for (int64_t i = 0; i < count; i++) any |= reached[i] = !waits || is_reached(events[i]);
        if (!any) waits = pass_time(events, count, yoke_clock_s() - begin_s);
    }
    return YOKE_OK;
}

yoke_status yoke_event_elapsed_s(yoke_event *begin, yoke_event *end, double *seconds)
{
    if (begin == NULL || end == NULL || seconds == NULL)
        return yoke_fail(begin != NULL ? begin->device->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_event_elapsed_s: %s is NULL",
                         begin == NULL ? "begin" : (end == NULL ? "end" : "seconds"));
    yoke_device *device = begin->device;
    if (end->device != device)
        return yoke_fail(device->context, YOKE_ERROR_ARGUMENT, "yoke_event_elapsed_s: the events belong to the devices %s and %s",
                         device->info.name, end->device->info.name);
    yoke_status status = yoke_device_ready(device);
    if (status != YOKE_OK) return status;
    if (!begin->recorded || !end->recorded)
        return yoke_fail(device->context, YOKE_ERROR_ARGUMENT, "yoke_event_elapsed_s: the event at the %s was never recorded",
                         begin->recorded ? "end" : "beginning");
    double passed_s = 0;
    status = yoke_device_result(device, device->backend->elapsed_s(begin->handle, end->handle, &passed_s));
    if (status == YOKE_OK) *seconds = passed_s;
    return status;
}
