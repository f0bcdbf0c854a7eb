/* Streams, events and copies: operations are kept in order and executed when something waits for them, never before. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "stub.h"

/* One recording of an event; lives as long as the event, the recording or a wait knows it. */
typedef struct mark {
    int references, reached;
    int asked; /* how many times somebody wanted to know whether it is reached */
    double time_s;
    CUstream stream; /* where it still waits to be reached */
} mark;

typedef struct operation {
    struct operation *next;
    stub_work *work; /* or one of the two below */
    mark *record, *wait;
    _Alignas(16) unsigned char data[];
} operation;

struct CUstream_st {
    CUcontext context;
    CUstream next;
    operation *first, *last;
    int running; /* an operation is being executed: a wait that leads back here is a ring */
};

struct CUevent_st {
    CUcontext context;
    CUevent next;
    mark *latest; /* NULL: never recorded */
};

static CUstream streams;
static CUevent events;

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void forget(mark *one)
{
    if (one != NULL && --one->references == 0) free(one);
}

/* Handles that were given back are found out. */
static int knows_stream(CUstream stream)
{
    for (CUstream one = streams; one != NULL; one = one->next)
        if (one == stream) return stub_current() == NULL || one->context == stub_current();
    return 0;
}

static int knows_event(CUevent event)
{
    for (CUevent one = events; one != NULL; one = one->next)
        if (one == event) return stub_current() == NULL || one->context == stub_current();
    return 0;
}

/* ----------------------------------------------------------------------------------------------- executing */

static CUresult execute_up_to(CUstream stream, const mark *last);

static CUresult execute(CUstream stream, operation *one)
{
    CUresult result = stream->context->broken;
    if (one->wait != NULL && !one->wait->reached && result == CUDA_SUCCESS) result = execute_up_to(one->wait->stream, one->wait);
    if (one->work != NULL && result == CUDA_SUCCESS) result = one->work(one->data);
    if (one->record != NULL) { /* also in a broken context: nobody waits for ever */
        one->record->reached = 1;
        one->record->time_s = now_s();
    }
    if (result != CUDA_SUCCESS && stream->context->broken == CUDA_SUCCESS) stream->context->broken = result;
    return result;
}

/* Executes a stream's operations until the mark is reached, or all of them where it is NULL. */
static CUresult execute_up_to(CUstream stream, const mark *last)
{
    CUresult result = stream->context->broken;
    if (stream->running) return result;
    stream->running = 1;
    while (stream->first != NULL && (last == NULL || !last->reached)) {
        operation *one = stream->first;
        result = execute(stream, one);
        stream->first = one->next;
        if (stream->first == NULL) stream->last = NULL;
        forget(one->record);
        forget(one->wait);
        free(one);
    }
    stream->running = 0;
    return result;
}

CUresult stub_finish_context(CUcontext context)
{
    CUresult result = context->broken;
    for (CUstream one = streams; one != NULL; one = one->next)
        if (one->context == context) {
            CUresult finished = execute_up_to(one, NULL);
            if (result == CUDA_SUCCESS) result = finished;
        }
    return result;
}

static CUresult append(CUstream stream, const operation *pattern, const void *data, size_t bytes)
{
    if (!knows_stream(stream)) return CUDA_ERROR_INVALID_HANDLE;
    operation *made = malloc(sizeof *made + bytes);
    if (made == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(made, pattern, sizeof *pattern);
    if (bytes > 0) memcpy(made->data, data, bytes);
    if (made->record != NULL) made->record->references++;
    if (made->wait != NULL) made->wait->references++;
    if (stream->last != NULL)
        stream->last->next = made;
    else
        stream->first = made;
    stream->last = made;
    return CUDA_SUCCESS;
}

CUresult stub_defer(CUstream stream, stub_work *work, const void *data, size_t bytes)
{
    return append(stream, &(operation){.work = work}, data, bytes);
}

/* ------------------------------------------------------------------------------------------------- streams */

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    CUresult result = stub_begin_in_context();
    if (result == CUDA_SUCCESS && flags != CU_STREAM_NON_BLOCKING) result = CUDA_ERROR_INVALID_VALUE;
    CUstream made = result == CUDA_SUCCESS ? calloc(1, sizeof *made) : NULL;
    if (result == CUDA_SUCCESS && made == NULL) result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS) {
        made->context = stub_current();
        made->next = streams;
        streams = made;
        stub_count(BOOK_streams, 1);
        *stream = made;
    }
    return stub_end(result);
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    CUresult result = stub_begin_in_context();
    if (!knows_stream(stream)) return stub_end(CUDA_ERROR_INVALID_HANDLE);
    CUresult finished = execute_up_to(stream, NULL);
    CUstream *link = &streams;
    while (*link != stream) link = &(*link)->next;
    *link = stream->next;
    free(stream);
    stub_count(BOOK_streams, -1);
    return stub_end(result != CUDA_SUCCESS ? result : finished);
}

CUresult cuStreamSynchronize(CUstream stream)
{
    CUresult result = stub_begin_in_context();
    if (result == CUDA_SUCCESS) result = knows_stream(stream) ? execute_up_to(stream, NULL) : CUDA_ERROR_INVALID_HANDLE;
    return stub_end(result);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    CUresult result = stub_begin_in_context();
    if (result == CUDA_SUCCESS && flags != 0) result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && (!knows_event(event) || !knows_stream(stream))) result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS && event->latest != NULL && !event->latest->reached)
        result = append(stream, &(operation){.wait = event->latest}, NULL, 0);
    return stub_end(result);
}

/* -------------------------------------------------------------------------------------------------- events */

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    CUresult result = stub_begin_in_context();
    if (result == CUDA_SUCCESS && flags > 1) result = CUDA_ERROR_INVALID_VALUE; /* without times, or between processes */
    CUevent made = result == CUDA_SUCCESS ? calloc(1, sizeof *made) : NULL;
    if (result == CUDA_SUCCESS && made == NULL) result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS) {
        made->context = stub_current();
        made->next = events;
        events = made;
        stub_count(BOOK_events, 1);
        *event = made;
    }
    return stub_end(result);
}

CUresult cuEventDestroy_v2(CUevent event)
{
    CUresult result = stub_begin_in_context();
    if (!knows_event(event)) return stub_end(CUDA_ERROR_INVALID_HANDLE);
    CUevent *link = &events;
    while (*link != event) link = &(*link)->next;
    *link = event->next;
    forget(event->latest);
    free(event);
    stub_count(BOOK_events, -1);
    return stub_end(result);
}

static CUresult record(CUevent event, CUstream stream)
{
    mark *made = calloc(1, sizeof *made);
    if (made == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    *made = (mark){.references = 1, .stream = stream};
    CUresult result = append(stream, &(operation){.record = made}, NULL, 0);
    if (result != CUDA_SUCCESS) {
        free(made);
        return result;
    }
    forget(event->latest);
    event->latest = made;
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    CUresult result = stub_begin_in_context();
    if (result == CUDA_SUCCESS) result = knows_event(event) ? record(event, stream) : CUDA_ERROR_INVALID_HANDLE;
    return stub_end(result);
}

CUresult cuEventSynchronize(CUevent event)
{
    CUresult result = stub_begin_in_context();
    if (result == CUDA_SUCCESS && !knows_event(event)) result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS && event->latest != NULL && !event->latest->reached)
        result = execute_up_to(event->latest->stream, event->latest);
    return stub_end(result);
}

/* Only who asks twice sees it reached. */
CUresult cuEventQuery(CUevent event)
{
    CUresult result = stub_begin_in_context();
    if (result == CUDA_SUCCESS && !knows_event(event)) result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS && event->latest != NULL && !event->latest->reached)
        result = event->latest->asked++ ? execute_up_to(event->latest->stream, event->latest) : CUDA_ERROR_NOT_READY;
    return stub_end(result);
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent begin, CUevent end)
{
    CUresult result = stub_begin_in_context();
    if (result == CUDA_SUCCESS && (!knows_event(begin) || !knows_event(end) || begin->latest == NULL || end->latest == NULL))
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS && (!begin->latest->reached || !end->latest->reached)) result = CUDA_ERROR_NOT_READY;
    if (result == CUDA_SUCCESS) *milliseconds = (float)(1e3 * (end->latest->time_s - begin->latest->time_s));
    return stub_end(result);
}

/* -------------------------------------------------------------------------------------------------- copies */

typedef struct copy {
    void *to;
    const void *from;
    size_t bytes;
    int value; /* where from is NULL */
} copy;

static CUresult do_copy(void *data)
{
    const copy *one = data;
    if (one->from != NULL)
        memcpy(one->to, one->from, one->bytes);
    else
        memset(one->to, one->value, one->bytes);
    return CUDA_SUCCESS;
}

static CUresult defer_copy(CUdeviceptr address, copy one, CUstream stream)
{
    CUresult result = stub_begin_in_context();
    if (result == CUDA_SUCCESS && !stub_in_memory(stub_current(), address, one.bytes)) result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) result = stub_defer(stream, do_copy, &one, sizeof one);
    return stub_end(result);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    return defer_copy(to, (copy){.to = (void *)(uintptr_t)to, .from = from, .bytes = bytes}, stream);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return defer_copy(from, (copy){.to = to, .from = (const void *)(uintptr_t)from, .bytes = bytes}, stream);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream)
{
    return defer_copy(to, (copy){.to = (void *)(uintptr_t)to, .bytes = bytes, .value = value}, stream);
}
