#include "device/sim/sim.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "device/backends.h"
#include "device/registry.h"

typedef struct sim_device {
    sim_state *state;
    yoke_context *context;
    sim_machine *machine;
    sim_profile *profile;
    sim_random random;
    int64_t calls; /* number of calls of the driver since it was opened */
} sim_device;

typedef struct sim_queue {
    sim_device *device;
    sim_line line;
} sim_queue;

typedef struct sim_event {
    sim_device *device;
    sim_mark *mark; /* mark of its latest record; NULL: none */
} sim_event;

typedef struct sim_program {
    sim_device *device;
    void *kernels; /* a host_program */
} sim_program;

/* ------------------------------------------------------------------------------------------------- faults */

/* Called first by every function of the driver except those that destroy objects. */
static yoke_status enter(sim_device *device, const char *call)
{
    const sim_fault *fault = &device->profile->fault;
    if (++device->calls != fault->call) return YOKE_OK;
    return yoke_fail(device->context, fault->status, "sim:%s: call %lld of the driver (%s) fails, as the machine file prescribes: %s",
                     device->profile->name, (long long)fault->call, call,
                     fault->status == YOKE_ERROR_DEVICE ? "the device is lost" : "its memory is full");
}

/* --------------------------------------------------------------------------------------------------- time */

static yoke_status take_copy(sim_queue *queue, int64_t bytes, int back)
{
    const sim_copy *copy = &queue->device->profile->copy;
    double paid = (double)bytes - copy->free_bytes;
    const sim_operation operation = {
        .kind = SIM_COPY, .back = back, .seconds = copy->latency_s + (paid > 0 ? paid / copy->bytes_per_s : 0)};
    return sim_line_add(&queue->line, &operation);
}

static yoke_status take_units(sim_queue *queue, int64_t units)
{
    sim_device *device = queue->device;
    sim_operation operation = {.kind = SIM_LAUNCH, .units = units};
    if (units > 0) operation.factor = sim_noise_factor(&device->random, device->profile->noise);
    return sim_line_add(&queue->line, &operation);
}

/* ------------------------------------------------------------------------------------------ start and list */

static yoke_status start(yoke_context *context, void **state)
{
    void *memory = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof(sim_state), &memory);
    if (status != YOKE_OK) return status;
    ((sim_state *)memory)->context = context;
    *state = memory;
    return YOKE_OK;
}

static void stop(void *state)
{
    sim_state *ended = state;
    sim_machine_destroy(ended->machine);
    yoke_release(ended->context, ended);
}

yoke_status yoke_machine_read(yoke_context *context, const char *path)
{
    if (context == NULL || path == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_machine_read: %s is NULL", context == NULL ? "context" : "path");
    const yoke_backend *backend = NULL;
    void *found = NULL;
    yoke_status status = yoke_registry_find(context, yoke_backend_sim.kind, strlen(yoke_backend_sim.kind), &backend, &found);
    if (status != YOKE_OK) return status;
    sim_state *state = found;
    if (state->machine != NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT,
                         "yoke_machine_read: the context has the machine \"%s\" already; take another context", state->machine->name);
    return sim_machine_create(context, path, &state->machine);
}

yoke_status yoke_machine_sleep(yoke_context *context, double seconds)
{
    if (context == NULL || !(seconds >= 0 && seconds <= 1e9))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_machine_sleep: %s",
                         context == NULL ? "context is NULL" : "expected 0 to 1e9 seconds");
    sim_machine *machine = sim_machine_of(context);
    if (machine == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_machine_sleep: the context has no machine; read one with yoke_machine_read");
    sim_machine_wait(machine, machine->host_s + seconds);
    return YOKE_OK;
}

sim_machine *sim_machine_of(yoke_context *context)
{
    const yoke_backend *backend = NULL;
    void *state = NULL;
    if (context->devices == NULL) return NULL; /* no file was read, and the backend need not be started */
    yoke_status status = yoke_registry_find(context, yoke_backend_sim.kind, strlen(yoke_backend_sim.kind), &backend, &state);
    return status == YOKE_OK ? ((sim_state *)state)->machine : NULL;
}

static void describe(const sim_machine *machine, const sim_profile *profile, yoke_device_info *info)
{
    *info = (yoke_device_info){.kind = "sim",
                               .device_class = profile->device_class,
                               .usable = 1,
                               .memory_bytes = profile->memory_bytes,
                               .compute_units = profile->compute_units,
                               .double_precision = 1};
    snprintf(info->name, sizeof info->name, "sim:%s", profile->name);
    if (profile->description[0] != '\0')
        strcpy(info->description, profile->description);
    else
        snprintf(info->description, sizeof info->description, "simulated %s of %s",
                 profile->device_class == YOKE_DEVICE_CPU ? "processor" : "GPU", machine->name);
    snprintf(info->driver, sizeof info->driver, "machine %s", machine->name);
}

static yoke_status list(void *state, yoke_backend_found *found, void *user)
{
    const sim_machine *machine = ((sim_state *)state)->machine;
    yoke_device_info info = {.name = "sim",
                             .kind = "sim",
                             .description = "simulated devices",
                             .device_class = YOKE_DEVICE_OTHER,
                             .why_not = "no machine file was read",
                             .remedy = "describe a machine in a file (docs/reference/machine-file.md) and give it with --machine FILE"};
    if (machine == NULL) return found(&info, user);
    yoke_status status = YOKE_OK;
    for (int64_t i = 0; status == YOKE_OK && i < machine->count; i++) {
        describe(machine, &machine->devices[i], &info);
        status = found(&info, user);
    }
    return status;
}

/* ----------------------------------------------------------------------------------------------- devices */

static yoke_status find_profile(const sim_state *state, const char *name, sim_profile **profile)
{
    sim_machine *machine = state->machine;
    if (machine == NULL)
        return yoke_fail(state->context, YOKE_ERROR_UNAVAILABLE,
                         "device %.64s cannot be used: no machine file was read; describe a machine in a file "
                         "(docs/reference/machine-file.md) and give it "
                         "with --machine FILE",
                         name);
    const char *wanted = name + strcspn(name, ":");
    char names[1024] = "";
    size_t used = 0;
    for (int64_t i = 0; i < machine->count; i++) {
        if (wanted[0] == ':' && strcmp(wanted + 1, machine->devices[i].name) == 0) {
            *profile = &machine->devices[i];
            return YOKE_OK;
        }
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%ssim:%s", i > 0 ? ", " : "", machine->devices[i].name);
    }
    return yoke_fail(state->context, YOKE_ERROR_INPUT, "there is no device \"%.64s\" in the machine %s; there are: %s", name, machine->name,
                     names);
}

static yoke_status open_device(void *state, const char *name, yoke_device_info *info, void **device)
{
    sim_state *owner = state;
    sim_profile *profile = NULL;
    void *memory = NULL;
    yoke_status status = find_profile(owner, name, &profile);
    if (status == YOKE_OK) status = yoke_allocate(owner->context, 1, sizeof(sim_device), &memory);
    if (status != YOKE_OK) return status;
    sim_device *opened = memory;
    *opened = (sim_device){.state = owner,
                           .context = owner->context,
                           .machine = owner->machine,
                           .profile = profile,
                           .random = {.state = (uint64_t)profile->seed}};
    describe(owner->machine, profile, info);
    *device = opened;
    return YOKE_OK;
}

static void close_device(void *device) { yoke_release(((sim_device *)device)->context, device); }

static double clock_s(const void *device) { return ((const sim_device *)device)->machine->host_s; }

static yoke_status buffer_create(void *device, int64_t bytes, void **buffer)
{
    sim_device *owner = device;
    yoke_status status = enter(owner, "buffer_create");
    if (status != YOKE_OK) return status;
    status = yoke_allocate_untouched(owner->context, bytes, 1, buffer);
    return status == YOKE_ERROR_MEMORY ? YOKE_ERROR_DEVICE_MEMORY : status;
}

static void buffer_destroy(void *device, void *buffer) { yoke_release(((sim_device *)device)->context, buffer); }

static yoke_status host_allocate(void *device, int64_t bytes, void **memory)
{
    sim_device *owner = device;
    yoke_status status = enter(owner, "host_allocate");
    return status == YOKE_OK ? yoke_allocate_untouched(owner->context, bytes, 1, memory) : status;
}

static void host_release(void *device, void *memory) { yoke_release(((sim_device *)device)->context, memory); }

/* ------------------------------------------------------------------------------------- queues and events */

static yoke_status queue_create(void *device, int flags, void **queue)
{
    (void)flags;
    sim_device *owner = device;
    void *memory = NULL;
    yoke_status status = enter(owner, "queue_create");
    if (status == YOKE_OK) status = yoke_allocate(owner->context, 1, sizeof(sim_queue), &memory);
    if (status != YOKE_OK) return status;
    sim_queue *created = memory;
    created->device = owner;
    status = sim_line_open(&created->line, owner->machine, owner->profile);
    if (status == YOKE_OK)
        *queue = created;
    else
        yoke_release(owner->context, created);
    return status;
}

static void queue_destroy(void *device, void *queue)
{
    sim_line_close(&((sim_queue *)queue)->line);
    yoke_release(((sim_device *)device)->context, queue);
}

static yoke_status write_buffer(void *queue, void *buffer, int64_t offset, int64_t bytes, const void *from)
{
    yoke_status status = enter(((sim_queue *)queue)->device, "write");
    if (status != YOKE_OK) return status;
    memmove((char *)buffer + offset, from, (size_t)bytes);
    return take_copy(queue, bytes, 0);
}

static yoke_status read_buffer(void *queue, void *buffer, int64_t offset, int64_t bytes, void *to)
{
    yoke_status status = enter(((sim_queue *)queue)->device, "read");
    if (status != YOKE_OK) return status;
    memmove(to, (const char *)buffer + offset, (size_t)bytes);
    return take_copy(queue, bytes, 1);
}

static yoke_status clear_buffer(void *queue, void *buffer, int64_t offset, int64_t bytes)
{
    yoke_status status = enter(((sim_queue *)queue)->device, "clear");
    if (status != YOKE_OK) return status;
    memset((char *)buffer + offset, 0, (size_t)bytes);
    return YOKE_OK; /* takes no time */
}

static yoke_status finish(void *queue)
{
    sim_queue *finished = queue;
    yoke_status status = enter(finished->device, "finish");
    if (status == YOKE_OK) sim_line_finish(&finished->line);
    return status;
}

static yoke_status event_create(void *device, void **event)
{
    sim_device *owner = device;
    void *memory = NULL;
    yoke_status status = enter(owner, "event_create");
    if (status == YOKE_OK) status = yoke_allocate(owner->context, 1, sizeof(sim_event), &memory);
    if (status != YOKE_OK) return status;
    ((sim_event *)memory)->device = owner;
    *event = memory;
    return YOKE_OK;
}

static void event_destroy(void *device, void *event)
{
    yoke_context *context = ((sim_device *)device)->context;
    sim_mark_release(context, ((sim_event *)event)->mark);
    yoke_release(context, event);
}

static yoke_status record(void *queue, void *event)
{
    sim_queue *recorded = queue;
    sim_event *recording = event;
    yoke_context *context = recorded->device->context;
    sim_operation operation = {.kind = SIM_RECORD};
    yoke_status status = enter(recorded->device, "record");
    if (status == YOKE_OK) status = sim_mark_create(context, &operation.mark);
    if (status != YOKE_OK) return status;
    sim_mark *mark = operation.mark;
    mark->holders++; /* for the event */
    status = sim_line_add(&recorded->line, &operation);
    sim_mark_release(context, status == YOKE_OK ? recording->mark : mark);
    if (status == YOKE_OK) recording->mark = mark;
    return status;
}

static yoke_status wait_in_queue(void *queue, void *event)
{
    sim_queue *waiting = queue;
    sim_mark *mark = ((const sim_event *)event)->mark;
    yoke_status status = enter(waiting->device, "wait");
    if (status != YOKE_OK || mark == NULL || mark->reached) return status;
    const sim_operation operation = {.kind = SIM_WAIT, .mark = mark};
    mark->holders++;
    return sim_line_add(&waiting->line, &operation);
}

/* The time at which the event was reached, in seconds of the clock; the host waits for it. */
static double event_s(const sim_event *event)
{
    if (event->mark == NULL) return 0;
    sim_mark_wait(event->device->machine, event->mark);
    return event->mark->time_s;
}

static yoke_status event_wait(void *event)
{
    const sim_event *awaited = event;
    yoke_status status = enter(awaited->device, "event_wait");
    if (status == YOKE_OK) (void)event_s(awaited);
    return status;
}

/* Does not count as a call of the driver, so it cannot fail. */
static yoke_status event_reached(void *event, int *reached)
{
    const sim_event *asked = event;
    *reached = asked->mark == NULL || asked->mark->reached;
    return YOKE_OK;
}

static int pass_time(void *device) { return sim_machine_pass(((sim_device *)device)->machine); }

static yoke_status elapsed_s(void *begin, void *end, double *seconds)
{
    const sim_event *first = begin, *last = end;
    yoke_status status = enter(first->device, "elapsed_s");
    if (status != YOKE_OK) return status;
    double first_s = event_s(first);
    *seconds = event_s(last) - first_s;
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------- work */

static yoke_status program_create(void *device, const yoke_program_source *source, void **program)
{
    sim_device *owner = device;
    void *memory = NULL;
    yoke_status status = enter(owner, "program_create");
    if (status == YOKE_OK) status = yoke_allocate(owner->context, 1, sizeof(sim_program), &memory);
    if (status != YOKE_OK) return status;
    sim_program *created = memory;
    created->device = owner;
    status = host_program_create(owner->context, source, &created->kernels);
    if (status != YOKE_OK) {
        yoke_release(owner->context, created);
        return status;
    }
    *program = created;
    return YOKE_OK;
}

static void program_destroy(void *device, void *program)
{
    yoke_context *context = ((sim_device *)device)->context;
    host_program_destroy(context, ((sim_program *)program)->kernels);
    yoke_release(context, program);
}

static yoke_status find_function(void *program, const char *name, void **function)
{
    sim_program *owner = program;
    yoke_status status = enter(owner->device, "function");
    return status == YOKE_OK ? host_program_function(owner->kernels, name, function) : status;
}

static yoke_status launch(void *queue, void *function, int64_t groups, int64_t group_size, int64_t units, const yoke_argument *arguments,
                          void *const *buffers, int64_t num_arguments)
{
    (void)group_size;
    sim_device *device = ((sim_queue *)queue)->device;
    yoke_status status = enter(device, "launch");
    if (status != YOKE_OK) return status;
    host_launch prepared;
    host_launch_prepare(&prepared, function, groups, arguments, buffers, num_arguments);
    host_launch_do(&prepared, (int)device->profile->threads);
    return take_units(queue, units);
}

static yoke_status call(void *queue, yoke_task_function *task, void *user, int64_t units)
{
    sim_device *device = ((sim_queue *)queue)->device;
    if (device->profile->device_class != YOKE_DEVICE_CPU)
        return yoke_fail(device->context, YOKE_ERROR_UNAVAILABLE,
                         "sim:%s is a GPU and cannot run functions of the host; launch a kernel instead", device->profile->name);
    yoke_status status = enter(device, "call");
    if (status != YOKE_OK) return status;
    int before = omp_get_max_threads();
    omp_set_num_threads((int)device->profile->threads);
    task(user);
    omp_set_num_threads(before);
    return take_units(queue, units);
}

const yoke_backend yoke_backend_sim = {
    .version = YOKE_BACKEND_VERSION,
    .kind = "sim",
    .start = start,
    .stop = stop,
    .list = list,
    .open = open_device,
    .close = close_device,
    .buffer_create = buffer_create,
    .buffer_destroy = buffer_destroy,
    .queue_create = queue_create,
    .queue_destroy = queue_destroy,
    .write = write_buffer,
    .read = read_buffer,
    .clear = clear_buffer,
    .finish = finish,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .record = record,
    .wait = wait_in_queue,
    .event_wait = event_wait,
    .elapsed_s = elapsed_s,
    .program_create = program_create,
    .program_destroy = program_destroy,
    .function = find_function,
    .launch = launch,
    .host_allocate = host_allocate,
    .host_release = host_release,
    .clock_s = clock_s,
    .call = call,
    .event_reached = event_reached,
    .pass_time = pass_time,
};
