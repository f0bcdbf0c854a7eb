#include "device/host_kernels.h"

#include <stdio.h>
#include <string.h>

struct host_program {
    yoke_context *context;
    char name[64];
    int64_t count;
    yoke_host_kernel kernels[];
};

yoke_status host_program_create(yoke_context *context, const yoke_program_source *source, void **program)
{
    if (source->num_host_kernels == 0)
        return yoke_fail(
            context, YOKE_ERROR_UNAVAILABLE,
            "program %.64s has no kernels of the host and cannot run on a device that is the host; give host_kernels in its source",
            source->name);
    void *memory = NULL;
    yoke_status status = yoke_allocate(context, source->num_host_kernels + 1 + (int64_t)(sizeof(host_program) / sizeof(yoke_host_kernel)),
                                       sizeof(yoke_host_kernel), &memory);
    if (status != YOKE_OK) return status;
    host_program *created = memory;
    created->context = context;
    created->count = source->num_host_kernels;
    snprintf(created->name, sizeof created->name, "%s", source->name);
    memcpy(created->kernels, source->host_kernels, (size_t)created->count * sizeof(yoke_host_kernel));
    *program = created;
    return YOKE_OK;
}

void host_program_destroy(yoke_context *context, void *program) { yoke_release(context, program); }

yoke_status host_program_function(void *program, const char *name, void **function)
{
    host_program *owner = program;
    char names[1024] = "";
    size_t used = 0;
    for (int64_t i = 0; i < owner->count; i++) {
        if (strcmp(owner->kernels[i].name, name) == 0) {
            *function = &owner->kernels[i];
            return YOKE_OK;
        }
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", owner->kernels[i].name);
    }
    return yoke_fail(owner->context, YOKE_ERROR_ARGUMENT, "program %s has no kernel %.64s for the host; there are: %s", owner->name, name,
                     names);
}

void host_launch_prepare(host_launch *launch, void *function, int64_t groups, const yoke_argument *arguments, void *const *buffers,
                         int64_t num_arguments)
{
    launch->kernel = ((const yoke_host_kernel *)function)->function;
    launch->groups = groups;
    launch->num_arguments = num_arguments;
    for (int64_t i = 0; i < num_arguments; i++) switch (arguments[i].kind) {
        case YOKE_ARGUMENT_BUFFER:
            launch->arguments[i].pointer = buffers[i];
            break;
        case YOKE_ARGUMENT_INT32:
            launch->arguments[i].int32 = arguments[i].value.int32;
            break;
        case YOKE_ARGUMENT_INT64:
            launch->arguments[i].int64 = arguments[i].value.int64;
            break;
        case YOKE_ARGUMENT_FLOAT:
            launch->arguments[i].float32 = arguments[i].value.float32;
            break;
        case YOKE_ARGUMENT_DOUBLE:
            launch->arguments[i].float64 = arguments[i].value.float64;
            break;
        }
}

void host_launch_do(const host_launch *launch, int threads)
{
    host_launch own = *launch; /* a copy, because the kernel's type has pointers to data that are not const */
    void *arguments[YOKE_MAX_ARGUMENTS];
    for (int64_t i = 0; i < own.num_arguments; i++) arguments[i] = &own.arguments[i];
    int64_t groups = own.groups;
#pragma omp parallel for schedule(static) num_threads(threads) if (groups > 1)
    for (int64_t index = 0; index < groups; index++) {
        yoke_group group = {.index = index, .count = groups};
        own.kernel(&group, arguments);
    }
}
