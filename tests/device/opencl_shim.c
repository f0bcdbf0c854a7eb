#define CL_TARGET_OPENCL_VERSION 120
#include "opencl_shim.h"

#include <CL/cl.h>
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
extern EXPORT opencl_shim opencl_shim_state;
opencl_shim opencl_shim_state;

/* The real function, found anew at each call: this is no place to be fast.  Drivers have threads: they are never taken out again. */
static void find(const char *name, void *pointer)
{
    static void *library;
    if (library == NULL) library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    void *address = dlsym(library, name);
    memcpy(pointer, &address, sizeof address);
}

#define REAL(name)                 \
    __typeof__(name) *real = NULL; \
    find(#name, &real)

/* A device that fails does nothing any more: what was begun is done first, so that it does not write where the test has given back memory. */
enum { MAX_QUEUES = 64 };
static cl_command_queue queues[MAX_QUEUES];

static void add_queue(cl_command_queue queue)
{
    int i = 0;
    while (i < MAX_QUEUES && queues[i] != NULL) i++;
    if (i < MAX_QUEUES) queues[i] = queue;
}

static void remove_queue(cl_command_queue queue)
{
    for (int i = 0; i < MAX_QUEUES; i++)
        if (queues[i] == queue) queues[i] = NULL;
}

static int fails(void)
{
    const long call = ++opencl_shim_state.calls, at = opencl_shim_state.fail_at;
    if (at == 0 || call < at || (call > at && !opencl_shim_state.for_ever)) return 0;
    REAL(clFinish);
    for (int i = 0; i < MAX_QUEUES; i++)
        if (queues[i] != NULL) real(queues[i]);
    return 1;
}

/* Calls that return an error. */
#define HAND_ON(name, parameters, arguments)                       \
    EXPORT cl_int CL_API_CALL name parameters                      \
    {                                                              \
        REAL(name);                                                \
        return fails() ? opencl_shim_state.error : real arguments; \
    }

/* Calls that make something. */
#define MAKE(type, name, parameters, arguments)                  \
    EXPORT type CL_API_CALL name parameters                      \
    {                                                            \
        REAL(name);                                              \
        if (fails()) {                                           \
            if (error != NULL) *error = opencl_shim_state.error; \
            return NULL;                                         \
        }                                                        \
        type made = real arguments;                              \
        if (made != NULL) opencl_shim_state.objects++;           \
        return made;                                             \
    }

#define RELEASE(name, type)                     \
    EXPORT cl_int CL_API_CALL name(type object) \
    {                                           \
        REAL(name);                             \
        opencl_shim_state.objects--;            \
        return real(object);                    \
    }

MAKE(cl_context, clCreateContext,
     (const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
      void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user, cl_int *error),
     (properties, count, devices, notify, user, error))
MAKE(cl_mem, clCreateBuffer, (cl_context context, cl_mem_flags flags, size_t bytes, void *host, cl_int *error),
     (context, flags, bytes, host, error))
MAKE(cl_program, clCreateProgramWithSource, (cl_context context, cl_uint count, const char **texts, const size_t *lengths, cl_int *error),
     (context, count, texts, lengths, error))
MAKE(cl_kernel, clCreateKernel, (cl_program program, const char *name, cl_int *error), (program, name, error))

RELEASE(clReleaseContext, cl_context)
RELEASE(clReleaseMemObject, cl_mem)
RELEASE(clReleaseProgram, cl_program)
RELEASE(clReleaseKernel, cl_kernel)
RELEASE(clReleaseEvent, cl_event)

EXPORT cl_command_queue CL_API_CALL clCreateCommandQueue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                                         cl_int *error)
{
    REAL(clCreateCommandQueue);
    if (fails()) {
        if (error != NULL) *error = opencl_shim_state.error;
        return NULL;
    }
    cl_command_queue made = real(context, device, properties, error);
    if (made != NULL) {
        opencl_shim_state.objects++;
        add_queue(made);
    }
    return made;
}

EXPORT cl_int CL_API_CALL clReleaseCommandQueue(cl_command_queue queue)
{
    REAL(clReleaseCommandQueue);
    opencl_shim_state.objects--;
    remove_queue(queue);
    return real(queue);
}

EXPORT cl_program CL_API_CALL clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices,
                                                        const size_t *lengths, const unsigned char **binaries, cl_int *of_binaries,
                                                        cl_int *error)
{
    REAL(clCreateProgramWithBinary);
    if (fails() || opencl_shim_state.pretence == OPENCL_BINARIES_REFUSED) {
        if (error != NULL) *error = CL_INVALID_BINARY;
        return NULL;
    }
    cl_program made = real(context, count, devices, lengths, binaries, of_binaries, error);
    if (made != NULL) opencl_shim_state.objects++;
    return made;
}

EXPORT void *CL_API_CALL clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags, size_t offset,
                                            size_t bytes, cl_uint count, const cl_event *events, cl_event *event, cl_int *error)
{
    REAL(clEnqueueMapBuffer);
    if (fails()) {
        if (error != NULL) *error = opencl_shim_state.error;
        return NULL;
    }
    return real(queue, buffer, blocking, flags, offset, bytes, count, events, event, error);
}

EXPORT cl_int CL_API_CALL clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event *events, cl_event *event)
{
    REAL(clEnqueueMarkerWithWaitList);
    if (fails()) return opencl_shim_state.error;
    cl_int error = real(queue, count, events, event);
    if (error == CL_SUCCESS && event != NULL) opencl_shim_state.objects++;
    return error;
}

EXPORT cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void *pattern, size_t size, size_t offset,
                                              size_t bytes, cl_uint count, const cl_event *events, cl_event *event)
{
    REAL(clEnqueueFillBuffer);
    if (fails()) return opencl_shim_state.error;
    if (opencl_shim_state.pretence == OPENCL_LAZY_MEMORY) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return real(queue, buffer, pattern, size, offset, bytes, count, events, event);
}

EXPORT cl_int CL_API_CALL clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *devices, cl_uint *count)
{
    REAL(clGetDeviceIDs);
    if (fails()) return opencl_shim_state.error;
    return opencl_shim_state.pretence == OPENCL_NO_DEVICES ? CL_DEVICE_NOT_FOUND : real(platform, type, room, devices, count);
}

EXPORT cl_int CL_API_CALL clGetEventProfilingInfo(cl_event event, cl_profiling_info which, size_t room, void *value, size_t *size)
{
    REAL(clGetEventProfilingInfo);
    if (fails()) return opencl_shim_state.error;
    return opencl_shim_state.pretence == OPENCL_NO_MARKER_TIMES ? CL_PROFILING_INFO_NOT_AVAILABLE : real(event, which, room, value, size);
}

EXPORT cl_int CL_API_CALL clGetKernelArgInfo(cl_kernel kernel, cl_uint index, cl_kernel_arg_info which, size_t room, void *value,
                                             size_t *size)
{
    REAL(clGetKernelArgInfo);
    if (fails()) return opencl_shim_state.error;
    return opencl_shim_state.pretence == OPENCL_NO_ARGUMENT_KINDS ? CL_KERNEL_ARG_INFO_NOT_AVAILABLE
                                                                  : real(kernel, index, which, room, value, size);
}

/* Where kinds are not known the shim is a driver that knows the sizes: all arguments of the tests' kernels for this have 8 bytes. */
EXPORT cl_int CL_API_CALL clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    REAL(clSetKernelArg);
    if (fails()) return opencl_shim_state.error;
    if (opencl_shim_state.pretence == OPENCL_NO_ARGUMENT_KINDS && size != 8) return CL_INVALID_ARG_SIZE;
    return real(kernel, index, size, value);
}

/* What the device that is pretended says where it says something else. */
static const void *pretended(cl_device_info which, size_t *size)
{
    static const cl_uint khr[4] = {1, 0x3b, 2, 1}, nv_domain = 0, nv_bus = 0x3b, nv_slot = 2 << 3 | 1;
    static const unsigned char amd[24] = {1, [21] = 0xaf, [22] = 2, [23] = 1};
    static const cl_bool no = CL_FALSE;
    static const cl_device_fp_config nothing = 0;
#define SAY(pretended_by, asked, value)                                                     \
    if (opencl_shim_state.pretence == (pretended_by) && which == (cl_device_info)(asked)) { \
        *size = sizeof(value);                                                              \
        return &(value);                                                                    \
    }
    SAY(OPENCL_PCI_KHR, CL_DEVICE_EXTENSIONS, "cl_khr_fp64 cl_khr_pci_bus_info")
    SAY(OPENCL_PCI_KHR, 0x410F, khr)
    SAY(OPENCL_PCI_NV, CL_DEVICE_EXTENSIONS, "cl_nv_device_attribute_query cl_khr_fp64")
    SAY(OPENCL_PCI_NV, 0x4008, nv_bus)
    SAY(OPENCL_PCI_NV, 0x4009, nv_slot)
    SAY(OPENCL_PCI_NV, 0x400A, nv_domain)
    SAY(OPENCL_PCI_AMD, CL_DEVICE_EXTENSIONS, "cl_amd_device_attribute_query")
    SAY(OPENCL_PCI_AMD, 0x4037, amd)
    SAY(OPENCL_VERSION_1_1, CL_DEVICE_VERSION, "OpenCL 1.1 of old")
    SAY(OPENCL_NOT_AVAILABLE, CL_DEVICE_AVAILABLE, no)
    SAY(OPENCL_NO_COMPILER, CL_DEVICE_COMPILER_AVAILABLE, no)
    SAY(OPENCL_NO_DOUBLE, CL_DEVICE_DOUBLE_FP_CONFIG, nothing)
#undef SAY
    return NULL;
}

EXPORT cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info which, size_t room, void *value, size_t *size)
{
    REAL(clGetDeviceInfo);
    size_t bytes = 0;
    const void *said = pretended(which, &bytes);
    if (fails()) return opencl_shim_state.error;
    if (said == NULL) return real(device, which, room, value, size);
    if (room < bytes) return CL_INVALID_VALUE;
    memcpy(value, said, bytes);
    return CL_SUCCESS;
}

HAND_ON(clBuildProgram,
        (cl_program program, cl_uint count, const cl_device_id *devices, const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
         void *user),
        (program, count, devices, options, notify, user))
HAND_ON(clEnqueueBarrierWithWaitList, (cl_command_queue queue, cl_uint count, const cl_event *events, cl_event *event),
        (queue, count, events, event))
HAND_ON(clEnqueueNDRangeKernel,
        (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset, const size_t *items, const size_t *group,
         cl_uint count, const cl_event *events, cl_event *event),
        (queue, kernel, dimensions, offset, items, group, count, events, event))
HAND_ON(clEnqueueReadBuffer,
        (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t bytes, void *to, cl_uint count,
         const cl_event *events, cl_event *event),
        (queue, buffer, blocking, offset, bytes, to, count, events, event))
HAND_ON(clEnqueueUnmapMemObject,
        (cl_command_queue queue, cl_mem buffer, void *memory, cl_uint count, const cl_event *events, cl_event *event),
        (queue, buffer, memory, count, events, event))
HAND_ON(clEnqueueWriteBuffer,
        (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t bytes, const void *from, cl_uint count,
         const cl_event *events, cl_event *event),
        (queue, buffer, blocking, offset, bytes, from, count, events, event))
HAND_ON(clFinish, (cl_command_queue queue), (queue))
HAND_ON(clFlush, (cl_command_queue queue), (queue))
HAND_ON(clGetEventInfo, (cl_event event, cl_event_info which, size_t room, void *value, size_t *size), (event, which, room, value, size))
HAND_ON(clGetKernelInfo, (cl_kernel kernel, cl_kernel_info which, size_t room, void *value, size_t *size),
        (kernel, which, room, value, size))
HAND_ON(clGetKernelWorkGroupInfo,
        (cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info which, size_t room, void *value, size_t *size),
        (kernel, device, which, room, value, size))
HAND_ON(clGetPlatformIDs, (cl_uint room, cl_platform_id *platforms, cl_uint *count), (room, platforms, count))
EXPORT cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info which, size_t room, void *value, size_t *size)
{
    REAL(clGetPlatformInfo);
    if (fails()) return opencl_shim_state.error;
    const cl_int result = real(platform, which, room, value, size);
    if (result == CL_SUCCESS && which == CL_PLATFORM_NAME && value != NULL)
        snprintf(value, room, "%s", opencl_shim_state.pretence == OPENCL_POCL ? "Portable Computing Language" : "Another platform");
    return result;
}
HAND_ON(clGetProgramBuildInfo,
        (cl_program program, cl_device_id device, cl_program_build_info which, size_t room, void *value, size_t *size),
        (program, device, which, room, value, size))
EXPORT cl_int CL_API_CALL clGetProgramInfo(cl_program program, cl_program_info which, size_t room, void *value, size_t *size)
{
    REAL(clGetProgramInfo);
    if (fails()) return opencl_shim_state.error;
    if (which == CL_PROGRAM_BINARY_SIZES || which == CL_PROGRAM_BINARIES) opencl_shim_state.binaries++;
    return real(program, which, room, value, size);
}
HAND_ON(clWaitForEvents, (cl_uint count, const cl_event *events), (count, events))
