#include "device/openmp/openmp.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "device/backends.h"

static yoke_status start(yoke_context *context, void **state)
{
    void *memory = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof(openmp_state), &memory);
    if (status != YOKE_OK) return status;
    ((openmp_state *)memory)->context = context;
    *state = memory;
    return YOKE_OK;
}

static void stop(void *state)
{
    openmp_state *ended = state;
    openmp_blas_unload(ended);
    yoke_release(ended->context, ended);
}

/* ------------------------------------------------------------------------------------------------ devices */

/* Describes the device of cores first to last, or of all cores if first < 0, with its threads on `nodes` NUMA nodes (0: not bound). */
static void describe(const yoke_topology *topology, int64_t first, int64_t last, int64_t nodes, yoke_device_info *info)
{
    long long cores = (long long)(first >= 0 ? last - first + 1 : topology->cores);
    *info = (yoke_device_info){.kind = "openmp",
                               .device_class = YOKE_DEVICE_CPU,
                               .usable = 1,
                               .memory_bytes = topology->memory_bytes,
                               .compute_units = cores,
                               .double_precision = 1};
    if (first >= 0)
        snprintf(info->name, sizeof info->name, "openmp:%lld-%lld", (long long)first, (long long)last);
    else
        strcpy(info->name, "openmp");
    snprintf(info->description, sizeof info->description, "%lld core%s of %s, %s", cores, cores == 1 ? "" : "s",
             topology->processor[0] != '\0' ? topology->processor : "the processor", topology->instruction_set);
    if (nodes > 0) {
        const size_t length = strlen(info->description);
        snprintf(info->description + length, sizeof info->description - length, ", threads bound to %lld NUMA nodes", (long long)nodes);
    }
    snprintf(info->driver, sizeof info->driver, "OpenMP %d", _OPENMP); /* the date of the standard, as in 201511 */
}

static yoke_status list(void *state, yoke_backend_found *found, void *user)
{
    yoke_topology topology;
    yoke_device_info info;
    yoke_context *context = ((openmp_state *)state)->context;
    yoke_status status = yoke_topology_get(context, &topology);
    if (status != YOKE_OK) return status;
    describe(&topology, -1, -1, openmp_nodes(context, omp_get_max_threads()), &info);
    return found(&info, user);
}

/* Reads a number of at most nine digits at *text, which is moved past it; -1: there is none. */
static int64_t read_core(const char **text)
{
    int64_t value = 0;
    int digits = 0;
    for (; **text >= '0' && **text <= '9' && digits < 10; digits++, (*text)++) value = 10 * value + (**text - '0');
    return digits >= 1 && digits <= 9 ? value : -1;
}

/* Reads the range of cores from the device's name; "openmp" gives -1 for both. */
static yoke_status read_name(yoke_context *context, const char *name, const yoke_topology *topology, int64_t *first, int64_t *last)
{
    const char *text = name + strlen("openmp");
    *first = *last = -1;
    if (*text == '\0') return YOKE_OK;
    text++;
    *first = *last = read_core(&text);
    if (*text == '-') {
        text++;
        *last = read_core(&text);
    }
    if (*text != '\0' || *first < 0 || *last < 0)
        return yoke_fail(context, YOKE_ERROR_INPUT,
                         "there is no device \"%.64s\"; write openmp for all cores, or openmp:A-B for cores A to B, as in openmp:0-%lld",
                         name, (long long)topology->cores - 1);
    if (*first > *last || *last >= topology->cores)
        return yoke_fail(context, YOKE_ERROR_INPUT, "there is no device \"%.64s\": this process may use cores 0 to %lld", name,
                         (long long)topology->cores - 1);
    return YOKE_OK;
}

static yoke_status open_device(void *state, const char *name, yoke_device_info *info, void **device)
{
    yoke_context *context = ((openmp_state *)state)->context;
    yoke_topology topology;
    int64_t first, last;
    yoke_status status = yoke_topology_get(context, &topology);
    if (status == YOKE_OK) status = read_name(context, name, &topology, &first, &last);
    void *memory = NULL;
    if (status == YOKE_OK) status = yoke_allocate(context, 1, sizeof(openmp_device), &memory);
    if (status != YOKE_OK) return status;
    openmp_device *opened = memory;
    const int64_t nodes = first < 0 ? openmp_nodes(context, omp_get_max_threads()) : 0;
    *opened = (openmp_device){.state = state,
                              .context = context,
                              .first_core = first,
                              .on_nodes = nodes > 0,
                              .threads = first >= 0 ? (int)(last - first + 1) : omp_get_max_threads()};
    int error = pthread_mutex_init(&opened->lock, NULL);
    if (error == 0) {
        error = pthread_cond_init(&opened->changed, NULL);
        if (error != 0) pthread_mutex_destroy(&opened->lock);
    }
    if (error != 0) {
        yoke_release(context, opened);
        return yoke_fail(context, YOKE_ERROR_SYSTEM, "device %.64s: no mutex: %s", name, strerror(error));
    }
    describe(&topology, first, last, nodes, info);
    *device = opened;
    return YOKE_OK;
}

static void close_device(void *device)
{
    openmp_device *closed = device;
    pthread_cond_destroy(&closed->changed);
    pthread_mutex_destroy(&closed->lock);
    yoke_release(closed->context, closed);
}

/* ------------------------------------------------------------------------------------------------ buffers */

static yoke_status buffer_create(void *device, int64_t bytes, void **buffer)
{
    yoke_status status = yoke_allocate_untouched(((openmp_device *)device)->context, bytes, 1, buffer);
    return status == YOKE_ERROR_MEMORY ? YOKE_ERROR_DEVICE_MEMORY : status;
}

static void buffer_destroy(void *device, void *buffer)
{
    /* Operations that use it may still be in progress. */
    openmp_finish_all(device);
    yoke_release(((openmp_device *)device)->context, buffer);
}

static yoke_status write_buffer(void *queue, void *buffer, int64_t offset, int64_t bytes, const void *from)
{
    openmp_operation operation = {.kind = OPENMP_COPY, .of.copy = {.to = (char *)buffer + offset, .from = from, .bytes = bytes}};
    return openmp_queue_submit(queue, &operation);
}

static yoke_status read_buffer(void *queue, void *buffer, int64_t offset, int64_t bytes, void *to)
{
    openmp_operation operation = {.kind = OPENMP_COPY, .of.copy = {.to = to, .from = (char *)buffer + offset, .bytes = bytes}};
    return openmp_queue_submit(queue, &operation);
}

static yoke_status clear_buffer(void *queue, void *buffer, int64_t offset, int64_t bytes)
{
    openmp_operation operation = {.kind = OPENMP_CLEAR, .of.copy = {.to = (char *)buffer + offset, .bytes = bytes}};
    return openmp_queue_submit(queue, &operation);
}

/* ------------------------------------------------------------------------------------------------- events */

static yoke_status event_create(void *device, void **event)
{
    void *memory = NULL;
    yoke_status status = yoke_allocate(((openmp_device *)device)->context, 1, sizeof(openmp_event), &memory);
    if (status != YOKE_OK) return status;
    openmp_event *created = memory;
    created->device = device;
    atomic_init(&created->reached, 0);
    atomic_init(&created->mentioned, 0);
    *event = created;
    return YOKE_OK;
}

static void event_destroy(void *device, void *event)
{
    openmp_event_await_unmentioned(event);
    yoke_release(((openmp_device *)device)->context, event);
}

static yoke_status record(void *queue, void *event)
{
    openmp_event *recorded = event;
    openmp_operation operation = {.kind = OPENMP_RECORD, .of.event = {.event = recorded, .count = ++recorded->asked}};
    return openmp_queue_submit(queue, &operation);
}

static yoke_status wait_in_queue(void *queue, void *event)
{
    openmp_event *awaited = event;
    openmp_operation operation = {.kind = OPENMP_WAIT, .of.event = {.event = awaited, .count = awaited->asked}};
    return openmp_queue_submit(queue, &operation);
}

static yoke_status event_reached(void *event, int *reached)
{
    openmp_event *asked = event;
    *reached = atomic_load_explicit(&asked->reached, memory_order_acquire) >= asked->asked;
    return YOKE_OK;
}

static yoke_status event_wait(void *event)
{
    openmp_event_await(event, ((openmp_event *)event)->asked);
    return YOKE_OK;
}

static yoke_status elapsed_s(void *begin, void *end, double *seconds)
{
    (void)event_wait(begin);
    (void)event_wait(end);
    *seconds = ((openmp_event *)end)->time_s - ((openmp_event *)begin)->time_s;
    return YOKE_OK;
}

/* ----------------------------------------------------------------------------------------------- programs */

static yoke_status program_create(void *device, const yoke_program_source *source, void **program)
{
    return host_program_create(((openmp_device *)device)->context, source, program);
}

static void program_destroy(void *device, void *program) { host_program_destroy(((openmp_device *)device)->context, program); }

static yoke_status launch(void *queue, void *function, int64_t groups, int64_t group_size, int64_t units, const yoke_argument *arguments,
                          void *const *buffers, int64_t num_arguments)
{
    (void)group_size;
    (void)units;
    openmp_operation operation = {.kind = OPENMP_LAUNCH};
    host_launch_prepare(&operation.of.launch, function, groups, arguments, buffers, num_arguments);
    return openmp_queue_submit(queue, &operation);
}

static yoke_status call(void *queue, yoke_task_function *task, void *user, int64_t units)
{
    (void)units;
    openmp_operation operation = {.kind = OPENMP_CALL, .of.call = {.task = task, .user = user}};
    return openmp_queue_submit(queue, &operation);
}

static yoke_status dspmv(void *queue, int64_t n, double alpha, void *a, int64_t a_offset, void *x, int64_t x_offset, double beta, void *y,
                         int64_t y_offset)
{
    openmp_state *state = openmp_queue_device(queue)->state;
    yoke_status status = openmp_blas_load(state);
    if (status != YOKE_OK) return status;
    openmp_operation operation = {.kind = OPENMP_DSPMV,
                                  .of.dspmv = {.function = state->dspmv,
                                               .n = (int)n,
                                               .alpha = alpha,
                                               .beta = beta,
                                               .a = (const double *)a + a_offset / (int64_t)sizeof(double),
                                               .x = (const double *)x + x_offset / (int64_t)sizeof(double),
                                               .y = (double *)y + y_offset / (int64_t)sizeof(double)}};
    return openmp_queue_submit(queue, &operation);
}

const yoke_backend yoke_backend_openmp = {
    .version = YOKE_BACKEND_VERSION,
    .kind = "openmp",
    .start = start,
    .stop = stop,
    .list = list,
    .open = open_device,
    .close = close_device,
    .buffer_create = buffer_create,
    .buffer_destroy = buffer_destroy,
    .queue_create = openmp_queue_create,
    .queue_destroy = openmp_queue_destroy,
    .write = write_buffer,
    .read = read_buffer,
    .clear = clear_buffer,
    .finish = openmp_queue_finish,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .record = record,
    .wait = wait_in_queue,
    .event_wait = event_wait,
    .elapsed_s = elapsed_s,
    .program_create = program_create,
    .program_destroy = program_destroy,
    .function = host_program_function,
    .launch = launch,
    .call = call,
    .dspmv = dspmv,
    .event_reached = event_reached,
};
