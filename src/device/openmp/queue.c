/* Queues: each has a ring of operations and a worker; the calling thread executes the operations of inline queues. */
#include <string.h>

#include "device/openmp/openmp.h"

/* The number of operations that may wait in a queue.  If it is full, the caller waits. */
enum { RING = 128 };

/* Number of polls before a waiting thread sleeps: about as long as a small kernel takes, so that a stream of kernels never sleeps. */
enum { LOOKS = 2000 };

struct openmp_queue {
    openmp_device *device;
    openmp_queue *next;
    int has_worker;
    pthread_t worker;
    pthread_cond_t work;      /* used with the device's lock: there is an operation, or the queue ends */
    atomic_llong submitted;   /* number of operations ever put into the ring, by the calling thread */
    atomic_llong done;        /* number of these that are done */
    int ending;               /* the worker must return (under the lock) */
    int started;              /* the worker has tried to bind its team (under the lock) ... */
    yoke_status start_status; /* ... and this was the result */
    openmp_operation ring[];  /* [RING]; none if there is no worker */
};

openmp_device *openmp_queue_device(const openmp_queue *queue) { return queue->device; }

/* ------------------------------------------------------------------------------------------------ waiting */

static void pause_a_moment(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* Waits until *counter is at least `least`: polls first, then sleeps. */
static void await_count(openmp_device *device, atomic_llong *counter, int64_t least)
{
    for (int look = 0; look < LOOKS; look++) {
        if (atomic_load_explicit(counter, memory_order_acquire) >= least) return;
        pause_a_moment();
    }
    pthread_mutex_lock(&device->lock);
    device->waiting++;
    while (atomic_load_explicit(counter, memory_order_acquire) < least) pthread_cond_wait(&device->changed, &device->lock);
    device->waiting--;
    pthread_mutex_unlock(&device->lock);
}

/* Wakes sleeping threads after a counter was increased, so that they check it again. */
static void tell(openmp_device *device)
{
    pthread_mutex_lock(&device->lock);
    if (device->waiting > 0) pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
}

void openmp_event_await(openmp_event *event, int64_t count) { await_count(event->device, &event->reached, count); }

void openmp_event_await_unmentioned(openmp_event *event)
{
    openmp_device *device = event->device;
    pthread_mutex_lock(&device->lock);
    device->waiting++;
    while (atomic_load(&event->mentioned) > 0) pthread_cond_wait(&device->changed, &device->lock);
    device->waiting--;
    pthread_mutex_unlock(&device->lock);
}

/* -------------------------------------------------------------------------------------------------- doing */

static void do_operation(openmp_device *device, const openmp_operation *operation)
{
    openmp_event *event = operation->of.event.event;
    switch (operation->kind) {
    case OPENMP_RECORD:
        event->time_s = yoke_clock_s();
        atomic_store_explicit(&event->reached, operation->of.event.count, memory_order_release);
        break;
    case OPENMP_WAIT:
        openmp_event_await(event, operation->of.event.count);
        break;
    default:
        openmp_work(device, operation);
        break;
    }
}

static int names_event(const openmp_operation *operation) { return operation->kind == OPENMP_RECORD || operation->kind == OPENMP_WAIT; }

static yoke_status do_inline(openmp_device *device, const openmp_operation *operation)
{
    int before = 0;
    if (names_event(operation)) {
        do_operation(device, operation);
        tell(device);
        return YOKE_OK;
    }
    yoke_status status = openmp_enter(device, &before);
    if (status != YOKE_OK) return status;
    do_operation(device, operation);
    openmp_leave(before);
    return YOKE_OK;
}

/* Waits for operation number `index`.  Returns 1, or 0 at the end of the queue. */
static int next_operation(openmp_queue *queue, int64_t index)
{
    for (int look = 0; look < LOOKS; look++) {
        if (atomic_load_explicit(&queue->submitted, memory_order_acquire) > index) return 1;
        pause_a_moment();
    }
    pthread_mutex_lock(&queue->device->lock);
    while (!queue->ending && atomic_load_explicit(&queue->submitted, memory_order_acquire) <= index)
        pthread_cond_wait(&queue->work, &queue->device->lock);
    pthread_mutex_unlock(&queue->device->lock);
    return atomic_load_explicit(&queue->submitted, memory_order_acquire) > index;
}

static void *work(void *argument)
{
    openmp_queue *queue = argument;
    openmp_device *device = queue->device;
    int before = 0;
    yoke_status status = openmp_enter(device, &before);
    pthread_mutex_lock(&device->lock);
    queue->start_status = status;
    queue->started = 1;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
    if (status != YOKE_OK) return NULL;
    openmp_spread_team(device);
    for (int64_t index = 0; next_operation(queue, index); index++) {
        const openmp_operation *operation = &queue->ring[index % RING];
        do_operation(device, operation);
        if (names_event(operation)) atomic_fetch_sub(&operation->of.event.event->mentioned, 1);
        atomic_store_explicit(&queue->done, index + 1, memory_order_release);
        tell(device);
    }
    openmp_free_team(device);
    return NULL;
}

/* ---------------------------------------------------------------------------------------- backend functions */

/* Starts the worker, and waits until it reports whether its threads could be bound. */
static yoke_status start_worker(openmp_queue *queue)
{
    openmp_device *device = queue->device;
    int error = pthread_cond_init(&queue->work, NULL);
    if (error == 0) {
        error = pthread_create(&queue->worker, NULL, work, queue);
        if (error != 0) pthread_cond_destroy(&queue->work);
    }
    if (error != 0)
        return yoke_fail(device->context, YOKE_ERROR_SYSTEM, "no thread can be started for a queue of an openmp device: %s",
                         strerror(error));
    pthread_mutex_lock(&device->lock);
    device->waiting++;
    while (!queue->started) pthread_cond_wait(&device->changed, &device->lock);
    device->waiting--;
    pthread_mutex_unlock(&device->lock);
    if (queue->start_status == YOKE_OK) return YOKE_OK;
    pthread_join(queue->worker, NULL);
    pthread_cond_destroy(&queue->work);
    return queue->start_status;
}

yoke_status openmp_queue_create(void *device, int flags, void **queue)
{
    openmp_device *owner = device;
    int has_worker = (flags & YOKE_QUEUE_INLINE) == 0;
    void *memory = NULL;
    size_t bytes = sizeof(openmp_queue) + (has_worker ? RING * sizeof(openmp_operation) : 0);
    yoke_status status = yoke_allocate(owner->context, 1, bytes, &memory);
    if (status != YOKE_OK) return status;
    openmp_queue *created = memory;
    created->device = owner;
    created->has_worker = has_worker;
    atomic_init(&created->submitted, 0);
    atomic_init(&created->done, 0);
    if (has_worker) status = start_worker(created);
    if (status != YOKE_OK) {
        yoke_release(owner->context, created);
        return status;
    }
    if (has_worker) {
        created->next = owner->queues;
        owner->queues = created;
    }
    *queue = created;
    return YOKE_OK;
}

void openmp_queue_destroy(void *device, void *queue)
{
    openmp_device *owner = device;
    openmp_queue *ended = queue;
    if (ended->has_worker) {
        pthread_mutex_lock(&owner->lock);
        ended->ending = 1;
        pthread_cond_signal(&ended->work);
        pthread_mutex_unlock(&owner->lock);
        pthread_join(ended->worker, NULL);
        pthread_cond_destroy(&ended->work);
        openmp_queue **link = &owner->queues;
        while (*link != ended) link = &(*link)->next;
        *link = ended->next;
    } else {
        openmp_free_team(owner);
    }
    yoke_release(owner->context, ended);
}

yoke_status openmp_queue_finish(void *queue)
{
    openmp_queue *finished = queue;
    if (finished->has_worker)
        await_count(finished->device, &finished->done, atomic_load_explicit(&finished->submitted, memory_order_relaxed));
    return YOKE_OK;
}

void openmp_finish_all(openmp_device *device)
{
    for (openmp_queue *queue = device->queues; queue != NULL; queue = queue->next) (void)openmp_queue_finish(queue);
}

yoke_status openmp_queue_submit(openmp_queue *queue, const openmp_operation *operation)
{
    openmp_device *device = queue->device;
    if (!queue->has_worker) return do_inline(device, operation);
    int64_t index = atomic_load_explicit(&queue->submitted, memory_order_relaxed);
    await_count(device, &queue->done, index - RING + 1);
    if (names_event(operation)) atomic_fetch_add(&operation->of.event.event->mentioned, 1);
    queue->ring[index % RING] = *operation;
    pthread_mutex_lock(&device->lock);
    atomic_store_explicit(&queue->submitted, index + 1, memory_order_release);
    pthread_cond_signal(&queue->work);
    pthread_mutex_unlock(&device->lock);
    return YOKE_OK;
}
