/* Programs, launches and host functions of the front. */
#include <string.h>

#include "device/blas.h"
#include "device/device.h"

static yoke_context *context_of(const yoke_device *device) { return device != NULL ? device->context : NULL; }

/* ----------------------------------------------------------------------------------------------- programs */

static yoke_status check_source(yoke_context *context, const yoke_program_source *source)
{
    if (source->num_texts < 0 || source->num_host_kernels < 0)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_program_create: the source has a negative number of texts or kernels");
    if ((source->num_texts > 0 && source->texts == NULL) || (source->num_host_kernels > 0 && source->host_kernels == NULL))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_program_create: the source counts texts or kernels, but has none");
    for (int64_t i = 0; i < source->num_texts; i++)
        if (source->texts[i] == NULL)
            return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_program_create: text %lld is NULL", (long long)i);
    for (int64_t i = 0; i < source->num_host_kernels; i++)
        if (source->host_kernels[i].name == NULL || source->host_kernels[i].function == NULL)
            return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_program_create: host kernel %lld has no name or no function",
                             (long long)i);
    return YOKE_OK;
}

yoke_status yoke_program_create(yoke_device *device, const yoke_program_source *source, yoke_program **program)
{
    if (device == NULL || source == NULL || program == NULL)
        return yoke_fail(context_of(device), YOKE_ERROR_ARGUMENT, "yoke_program_create: %s is NULL",
                         device == NULL ? "device" : (source == NULL ? "source" : "program"));
    yoke_status status = check_source(device->context, source);
    if (status == YOKE_OK) status = yoke_device_ready(device);
    if (status != YOKE_OK) return status;
    yoke_program_source named = *source;
    if (named.name == NULL) named.name = "program";
    void *memory = NULL;
    status = yoke_allocate(device->context, 1, sizeof(yoke_program), &memory);
    if (status != YOKE_OK) return status;
    yoke_program *created = memory;
    created->device = device;
    created->blas = yoke_blas_is(source);
    status = created->blas ? yoke_blas_check(device)
                           : yoke_device_result(device, device->backend->program_create(device->handle, &named, &created->handle));
    if (status != YOKE_OK) {
        yoke_release(device->context, created);
        return status;
    }
    *program = created;
    return YOKE_OK;
}

void yoke_program_destroy(yoke_program *program)
{
    if (program == NULL) return;
    yoke_device *device = program->device;
    if (!program->blas) device->backend->program_destroy(device->handle, program->handle);
    for (yoke_function *function = program->functions, *next; function != NULL; function = next) {
        next = function->next;
        yoke_release(device->context, function);
    }
    yoke_release(device->context, program);
}

yoke_status yoke_program_function(yoke_program *program, const char *name, yoke_function **function)
{
    if (program == NULL || name == NULL || function == NULL)
        return yoke_fail(program != NULL ? program->device->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_program_function: %s is NULL",
                         program == NULL ? "program" : (name == NULL ? "name" : "function"));
    yoke_device *device = program->device;
    yoke_status status = yoke_device_ready(device);
    if (status != YOKE_OK) return status;
    for (yoke_function *known = program->functions; known != NULL; known = known->next)
        if (strcmp(known->name, name) == 0) {
            *function = known;
            return YOKE_OK;
        }
    void *memory = NULL;
    status = yoke_allocate(device->context, (int64_t)(sizeof(yoke_function) + strlen(name) + 1), 1, &memory);
    if (status != YOKE_OK) return status;
    yoke_function *created = memory;
    status = program->blas ? yoke_blas_function(device, name)
                           : yoke_device_result(device, device->backend->function(program->handle, name, &created->handle));
    if (status != YOKE_OK) {
        yoke_release(device->context, created);
        return status;
    }
    strcpy(created->name, name);
    created->program = program;
    created->next = program->functions;
    program->functions = created;
    *function = created;
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------- launch */

static yoke_status check_launch(yoke_queue *queue, const yoke_function *function, int64_t groups, int64_t group_size, int64_t units)
{
    yoke_device *device = queue->device;
    if (function->program->device != device)
        return yoke_fail(device->context, YOKE_ERROR_ARGUMENT, "yoke_queue_launch: kernel %s belongs to device %s, the queue to device %s",
                         function->name, function->program->device->info.name, device->info.name);
    if (groups < 0 || group_size < 1 || units < 0)
        return yoke_fail(
            device->context, YOKE_ERROR_ARGUMENT,
            "yoke_queue_launch: kernel %s: %lld groups of %lld items for %lld units; there must be 0 or more groups and units, and "
            "at least one item",
            function->name, (long long)groups, (long long)group_size, (long long)units);
    return YOKE_OK;
}

/* Checks the arguments, and fills in the backend's handles of buffers. */
static yoke_status check_arguments(const yoke_device *device, const char *name, const yoke_argument *arguments, int64_t num_arguments,
                                   void **buffers)
{
    if (num_arguments < 0 || num_arguments > YOKE_MAX_ARGUMENTS || (num_arguments > 0 && arguments == NULL))
        return yoke_fail(device->context, YOKE_ERROR_ARGUMENT,
                         "yoke_queue_launch: kernel %s: %lld arguments; there may be 0 to %d, in an array", name, (long long)num_arguments,
                         YOKE_MAX_ARGUMENTS);
    for (int64_t i = 0; i < num_arguments; i++) {
        buffers[i] = NULL;
        if ((int)arguments[i].kind < YOKE_ARGUMENT_BUFFER || (int)arguments[i].kind > YOKE_ARGUMENT_DOUBLE)
            return yoke_fail(device->context, YOKE_ERROR_ARGUMENT, "yoke_queue_launch: kernel %s: argument %lld has the unknown kind %d",
                             name, (long long)i, (int)arguments[i].kind);
        if (arguments[i].kind != YOKE_ARGUMENT_BUFFER || arguments[i].value.buffer == NULL) continue;
        if (arguments[i].value.buffer->device != device)
            return yoke_fail(device->context, YOKE_ERROR_ARGUMENT,
                             "yoke_queue_launch: kernel %s: argument %lld is a buffer of device %s, the queue belongs to device %s", name,
                             (long long)i, arguments[i].value.buffer->device->info.name, device->info.name);
        buffers[i] = arguments[i].value.buffer->handle;
    }
    return YOKE_OK;
}

yoke_status yoke_queue_launch(yoke_queue *queue, yoke_function *function, int64_t groups, int64_t group_size, int64_t units,
                              const yoke_argument *arguments, int64_t num_arguments)
{
    if (queue == NULL || function == NULL)
        return yoke_fail(queue != NULL ? queue->device->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_queue_launch: %s is NULL",
                         queue == NULL ? "queue" : "function");
    yoke_device *device = queue->device;
    void *buffers[YOKE_MAX_ARGUMENTS];
    yoke_status status = check_launch(queue, function, groups, group_size, units);
    if (status == YOKE_OK) status = check_arguments(device, function->name, arguments, num_arguments, buffers);
    if (status == YOKE_OK) status = yoke_device_ready(device);
    if (status != YOKE_OK || groups == 0) return status;
    if (function->program->blas) return yoke_blas_launch(queue, function->name, arguments, num_arguments);
    return yoke_device_result(
        device, device->backend->launch(queue->handle, function->handle, groups, group_size, units, arguments, buffers, num_arguments));
}

/* ---------------------------------------------------------------------------------------- host functions */

yoke_status yoke_queue_call(yoke_queue *queue, yoke_task_function *task, void *user, int64_t units)
{
    if (queue == NULL || task == NULL)
        return yoke_fail(queue != NULL ? queue->device->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_queue_call: %s is NULL",
                         queue == NULL ? "queue" : "task");
    yoke_device *device = queue->device;
    if (units < 0)
        return yoke_fail(device->context, YOKE_ERROR_ARGUMENT, "yoke_queue_call: the call has %lld units; give 0 or more",
                         (long long)units);
    yoke_status status = yoke_device_ready(device);
    if (status != YOKE_OK) return status;
    if (device->backend->call == NULL)
        return yoke_fail(device->context, YOKE_ERROR_UNAVAILABLE, "device %s cannot run functions of the host; launch a kernel instead",
                         device->info.name);
    return yoke_device_result(device, device->backend->call(queue->handle, task, user, units));
}
