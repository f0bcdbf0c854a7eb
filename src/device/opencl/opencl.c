#include "device/opencl/opencl.h"

/* The errors of CL/cl.h, and those of the loader and of CLBlast that calls can return. */
#define ERRORS(X)                                   \
    X(CL_DEVICE_NOT_FOUND)                          \
    X(CL_DEVICE_NOT_AVAILABLE)                      \
    X(CL_COMPILER_NOT_AVAILABLE)                    \
    X(CL_MEM_OBJECT_ALLOCATION_FAILURE)             \
    X(CL_OUT_OF_RESOURCES)                          \
    X(CL_OUT_OF_HOST_MEMORY)                        \
    X(CL_PROFILING_INFO_NOT_AVAILABLE)              \
    X(CL_MEM_COPY_OVERLAP)                          \
    X(CL_BUILD_PROGRAM_FAILURE)                     \
    X(CL_MAP_FAILURE)                               \
    X(CL_MISALIGNED_SUB_BUFFER_OFFSET)              \
    X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) \
    X(CL_COMPILE_PROGRAM_FAILURE)                   \
    X(CL_LINKER_NOT_AVAILABLE)                      \
    X(CL_LINK_PROGRAM_FAILURE)                      \
    X(CL_KERNEL_ARG_INFO_NOT_AVAILABLE)             \
    X(CL_INVALID_VALUE)                             \
    X(CL_INVALID_DEVICE_TYPE)                       \
    X(CL_INVALID_PLATFORM)                          \
    X(CL_INVALID_DEVICE)                            \
    X(CL_INVALID_CONTEXT)                           \
    X(CL_INVALID_QUEUE_PROPERTIES)                  \
    X(CL_INVALID_COMMAND_QUEUE)                     \
    X(CL_INVALID_HOST_PTR)                          \
    X(CL_INVALID_MEM_OBJECT)                        \
    X(CL_INVALID_BINARY)                            \
    X(CL_INVALID_BUILD_OPTIONS)                     \
    X(CL_INVALID_PROGRAM)                           \
    X(CL_INVALID_PROGRAM_EXECUTABLE)                \
    X(CL_INVALID_KERNEL_NAME)                       \
    X(CL_INVALID_KERNEL_DEFINITION)                 \
    X(CL_INVALID_KERNEL)                            \
    X(CL_INVALID_ARG_INDEX)                         \
    X(CL_INVALID_ARG_VALUE)                         \
    X(CL_INVALID_ARG_SIZE)                          \
    X(CL_INVALID_KERNEL_ARGS)                       \
    X(CL_INVALID_WORK_DIMENSION)                    \
    X(CL_INVALID_WORK_GROUP_SIZE)                   \
    X(CL_INVALID_WORK_ITEM_SIZE)                    \
    X(CL_INVALID_GLOBAL_OFFSET)                     \
    X(CL_INVALID_EVENT_WAIT_LIST)                   \
    X(CL_INVALID_EVENT)                             \
    X(CL_INVALID_OPERATION)                         \
    X(CL_INVALID_BUFFER_SIZE)                       \
    X(CL_INVALID_GLOBAL_WORK_SIZE)                  \
    X(CL_INVALID_PROPERTY)

const char *yoke_opencl_error_name(cl_int error)
{
    switch (error) {
#define NAME_OF(name) \
    case name:        \
        return #name;
        ERRORS(NAME_OF)
#undef NAME_OF
    default:
        return "an error that the standard does not name";
    }
}

static yoke_status status_of(cl_int error)
{
    switch (error) {
    case CL_OUT_OF_HOST_MEMORY:
        return YOKE_ERROR_MEMORY;
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
        return YOKE_ERROR_DEVICE_MEMORY;
    default:
        return YOKE_ERROR_DEVICE;
    }
}

yoke_status yoke_opencl_fail(opencl_device *device, cl_int error, const char *call, const char *what)
{
    static const char *const remedies[] = {
        [YOKE_ERROR_MEMORY] = "make the problem smaller or run where there is more memory",
        [YOKE_ERROR_DEVICE_MEMORY] = "give this device a smaller part",
        [YOKE_ERROR_DEVICE] = "the device is not used any more; look into the system's log for what its driver says",
    };
    yoke_status status = status_of(error);
    if (status == YOKE_ERROR_DEVICE) device->lost = 1;
    return yoke_fail(device->context, status, "%s: %s: %s answers %s (%d); %s", device->name, what, call, yoke_opencl_error_name(error),
                     (int)error, remedies[status]);
}

const yoke_backend yoke_backend_opencl = {
    .version = YOKE_BACKEND_VERSION,
    .kind = "opencl",
    .start = yoke_opencl_start,
    .stop = yoke_opencl_stop,
    .list = yoke_opencl_list,
    .open = yoke_opencl_open,
    .close = yoke_opencl_close,
    .buffer_create = yoke_opencl_buffer_create,
    .buffer_destroy = yoke_opencl_buffer_destroy,
    .queue_create = yoke_opencl_queue_create,
    .queue_destroy = yoke_opencl_queue_destroy,
    .write = yoke_opencl_write,
    .read = yoke_opencl_read,
    .clear = yoke_opencl_clear,
    .finish = yoke_opencl_finish,
    .event_create = yoke_opencl_event_create,
    .event_destroy = yoke_opencl_event_destroy,
    .record = yoke_opencl_record,
    .wait = yoke_opencl_wait,
    .event_wait = yoke_opencl_event_wait,
    .elapsed_s = yoke_opencl_elapsed_s,
    .program_create = yoke_opencl_program_create,
    .program_destroy = yoke_opencl_program_destroy,
    .function = yoke_opencl_function,
    .launch = yoke_opencl_launch,
    .host_allocate = yoke_opencl_host_allocate,
    .host_release = yoke_opencl_host_release,
    .dspmv = yoke_opencl_dspmv,
    .gemm = yoke_opencl_gemm,
    .event_reached = yoke_opencl_event_reached,
};
