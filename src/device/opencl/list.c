/* Lists the devices of all platforms, and opens one of them. */
#include <errno.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/context.h"
#include "device/opencl/opencl.h"

/* More than any machine has; further ones are ignored. */
enum { MAX_PLATFORMS = 32, MAX_DEVICES = 64, LONGEST_TEXT = 16384 };

/*
 * Queries of the vendors' extensions for the PCI address of a card: cl_khr_pci_bus_info, cl_nv_device_attribute_query and
 * cl_amd_device_attribute_query.  The numbers are defined here because older headers lack them.
 */
enum {
    PCI_BUS_INFO_KHR = 0x410F,
    PCI_BUS_ID_NV = 0x4008,
    PCI_SLOT_ID_NV = 0x4009,
    PCI_DOMAIN_ID_NV = 0x400A,
    TOPOLOGY_AMD = 0x4037,
    TOPOLOGY_TYPE_PCIE_AMD = 1
};
typedef union topology_amd {
    struct {
        cl_uint type, data[5];
    } raw;
    struct {
        cl_uint type;
        cl_char unused[17], bus, device, function;
    } pcie;
} topology_amd;

static const char no_library_remedy[] =
    "on Debian and Ubuntu: apt install ocl-icd-libopencl1 and the GPU vendor's driver, or pocl-opencl-icd, which makes a device of the CPU";
static const char no_driver_remedy[] = "install the GPU vendor's OpenCL driver (drivers are named in /etc/OpenCL/vendors), or "
                                       "pocl-opencl-icd, which makes a device of the CPU";

/* ---------------------------------------------------------------------------------- the driver's threads */

/* Parses "A-B" or "A", with 0 <= A <= B < cores. */
static int read_cores(const char *text, int64_t cores, int64_t *first, int64_t *last)
{
    char *end = NULL;
    if (text[0] < '0' || text[0] > '9') return 0;
    *first = *last = strtoll(text, &end, 10);
    if (end[0] == '-' && end[1] >= '0' && end[1] <= '9') *last = strtoll(end + 1, &end, 10);
    return end[0] == '\0' && *first <= *last && *last < cores;
}

/* The cores that YOKE_OPENCL_CORES names, in hwloc's logical order as in "openmp:A-B"; without it, all cores that this process may use. */
static yoke_status choose_cores(yoke_context *context, int64_t cores, hwloc_bitmap_t chosen)
{
    const char *named = getenv("YOKE_OPENCL_CORES");
    hwloc_topology_t machine = context->topology;
    int64_t first = 0, last = 0;
    if (named == NULL || named[0] == '\0') {
        hwloc_bitmap_copy(chosen, hwloc_topology_get_topology_cpuset(machine));
        return YOKE_OK;
    }
    if (!read_cores(named, cores, &first, &last))
        return yoke_fail(
            context, YOKE_ERROR_INPUT,
            "YOKE_OPENCL_CORES is \"%.40s\"; it names the cores of OpenCL devices that are CPUs, as A-B with 0 <= A <= B <= %lld", named,
            (long long)cores - 1);
    const hwloc_obj_type_t type = hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    for (int64_t core = first; core <= last; core++)
        hwloc_bitmap_or(chosen, chosen, hwloc_get_obj_by_type(machine, type, (unsigned)core)->cpuset);
    return YOKE_OK;
}

/*
 * Some drivers (PoCL) create their threads at the first query, and threads inherit the binding of their creator.  The calling thread may be
 * bound to the one core that it computes on, so it is temporarily bound to the driver's cores.  *before becomes its previous binding, or
 * NULL if nothing was changed because the system does not allow it.  Errors: INPUT (YOKE_OPENCL_CORES).
 */
static yoke_status widen_binding(yoke_context *context, hwloc_bitmap_t *before)
{
    yoke_topology topology;
    *before = NULL;
    if (yoke_topology_get(context, &topology) != YOKE_OK) return YOKE_OK;
    hwloc_bitmap_t bound = hwloc_bitmap_alloc(), chosen = hwloc_bitmap_alloc();
    yoke_status status = YOKE_OK;
    if (bound != NULL && chosen != NULL) status = choose_cores(context, topology.cores, chosen);
    if (bound != NULL && chosen != NULL && status == YOKE_OK && hwloc_get_cpubind(context->topology, bound, HWLOC_CPUBIND_THREAD) == 0 &&
        hwloc_set_cpubind(context->topology, chosen, HWLOC_CPUBIND_THREAD) == 0) {
        *before = bound;
        bound = NULL;
    }
    hwloc_bitmap_free(bound);
    hwloc_bitmap_free(chosen);
    return status;
}

static void restore_binding(yoke_context *context, hwloc_bitmap_t before)
{
    if (before == NULL) return;
    hwloc_set_cpubind(context->topology, before, HWLOC_CPUBIND_THREAD);
    hwloc_bitmap_free(before);
}

/* ------------------------------------------------------------------------------------------- descriptions */

/* A text property of the device, truncated to `room` bytes; "" if there is none. */
static void device_text(const opencl_functions *cl, cl_device_id device, cl_device_info which, char *text, size_t room)
{
    char whole[LONGEST_TEXT];
    if (cl->clGetDeviceInfo(device, which, sizeof whole - 1, whole, NULL) != CL_SUCCESS) whole[0] = '\0';
    whole[sizeof whole - 1] = '\0';
    const char *begin = whole + strspn(whole, " ");
    snprintf(text, room, "%.*s", (int)room - 1, begin);
}

static int64_t device_number(const opencl_functions *cl, cl_device_id device, cl_device_info which, size_t size)
{
    uint32_t number32 = 0;
    uint64_t number64 = 0;
    void *number = size == sizeof number32 ? (void *)&number32 : (void *)&number64;
    if (cl->clGetDeviceInfo(device, which, size, number, NULL) != CL_SUCCESS) return 0;
    if (size == sizeof number32) return (int64_t)number32;
    return number64 < INT64_MAX ? (int64_t)number64 : INT64_MAX;
}

static int has_extension(const opencl_functions *cl, cl_device_id device, const char *name)
{
    char extensions[LONGEST_TEXT];
    device_text(cl, device, CL_DEVICE_EXTENSIONS, extensions, sizeof extensions);
    const size_t length = strlen(name);
    for (const char *at = extensions; (at = strstr(at, name)) != NULL; at += length)
        if ((at == extensions || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) return 1;
    return 0;
}

static void pci_address(const opencl_functions *cl, cl_device_id device, char pci[16])
{
    cl_uint khr[4], nv[3] = {0}; /* domain, bus, device and function */
    topology_amd amd;
    if (has_extension(cl, device, "cl_khr_pci_bus_info") &&
        cl->clGetDeviceInfo(device, PCI_BUS_INFO_KHR, sizeof khr, khr, NULL) == CL_SUCCESS) {
        snprintf(pci, 16, "%04x:%02x:%02x.%x", khr[0] & 0xffff, khr[1] & 0xff, khr[2] & 0x1f, khr[3] & 7);
    } else if (has_extension(cl, device, "cl_nv_device_attribute_query") &&
               cl->clGetDeviceInfo(device, PCI_BUS_ID_NV, sizeof nv[1], &nv[1], NULL) == CL_SUCCESS &&
               cl->clGetDeviceInfo(device, PCI_SLOT_ID_NV, sizeof nv[2], &nv[2], NULL) == CL_SUCCESS) {
        /* Older drivers do not report the domain: then it is 0 */
        cl->clGetDeviceInfo(device, PCI_DOMAIN_ID_NV, sizeof nv[0], &nv[0], NULL);
        snprintf(pci, 16, "%04x:%02x:%02x.%x", nv[0] & 0xffff, nv[1] & 0xff, nv[2] >> 3 & 0x1f, nv[2] & 7);
    } else if (has_extension(cl, device, "cl_amd_device_attribute_query") &&
               cl->clGetDeviceInfo(device, TOPOLOGY_AMD, sizeof amd, &amd, NULL) == CL_SUCCESS && amd.raw.type == TOPOLOGY_TYPE_PCIE_AMD) {
        snprintf(pci, 16, "0000:%02x:%02x.%x", amd.pcie.bus & 0xff, amd.pcie.device & 0x1f, amd.pcie.function & 7);
    }
}

/* Sets `usable`, or the reason why the device is not usable, and the remedy. */
static void judge(const opencl_functions *cl, cl_device_id device, yoke_device_info *info)
{
    char version[64];
    int major = 0, minor = 0;
    device_text(cl, device, CL_DEVICE_VERSION, version, sizeof version);
    info->double_precision = device_number(cl, device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(cl_device_fp_config)) != 0;
    info->usable = 0;
    if (device_number(cl, device, CL_DEVICE_AVAILABLE, sizeof(cl_bool)) == 0) {
        snprintf(info->why_not, sizeof info->why_not, "its driver says that it is not available");
        snprintf(info->remedy, sizeof info->remedy, "look whether another process has it for itself, and at what clinfo says");
    } else if (sscanf(version, "OpenCL %d.%d", &major, &minor) != 2 || major < 1 || (major == 1 && minor < 2)) {
        snprintf(info->why_not, sizeof info->why_not, "it has \"%s\", and OpenCL 1.2 is needed", version);
        snprintf(info->remedy, sizeof info->remedy, "install a newer driver");
    } else if (device_number(cl, device, CL_DEVICE_COMPILER_AVAILABLE, sizeof(cl_bool)) == 0) {
        snprintf(info->why_not, sizeof info->why_not, "its driver has no compiler");
        snprintf(info->remedy, sizeof info->remedy, "install the driver's compiler package; some vendors pack it by itself");
    } else {
        info->usable = 1;
    }
}

static void describe(const opencl_functions *cl, cl_platform_id platform, cl_device_id device, const char *name, yoke_device_info *info)
{
    char model[96], maker[LONGEST_TEXT], version[64], driver[48];
    *info = (yoke_device_info){.kind = "opencl"};
    snprintf(info->name, sizeof info->name, "%s", name);
    device_text(cl, device, CL_DEVICE_NAME, model, sizeof model);
    device_text(cl, device, CL_DEVICE_VERSION, version, sizeof version);
    device_text(cl, device, CL_DRIVER_VERSION, driver, sizeof driver);
    if (cl->clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof maker - 1, maker, NULL) != CL_SUCCESS) maker[0] = '\0';
    maker[sizeof maker - 1] = '\0';
    info->compute_units = device_number(cl, device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint));
    info->memory_bytes = device_number(cl, device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong));
    snprintf(info->description, sizeof info->description, "%s, %lld compute units, %.96s", model, (long long)info->compute_units, maker);
    snprintf(info->driver, sizeof info->driver, "%s, %s", driver, version);
    const int64_t type = device_number(cl, device, CL_DEVICE_TYPE, sizeof(cl_device_type));
    info->device_class = (type & CL_DEVICE_TYPE_GPU) != 0   ? YOKE_DEVICE_GPU
                         : (type & CL_DEVICE_TYPE_CPU) != 0 ? YOKE_DEVICE_CPU
                                                            : YOKE_DEVICE_OTHER;
    pci_address(cl, device, info->pci);
    judge(cl, device, info);
}

/* ---------------------------------------------------------------------------------------------- searching */

typedef struct found_device {
    cl_platform_id platform;
    cl_device_id device;
    char name[64];
} found_device;

/* Called for each device; a status other than YOKE_OK ends the search. */
typedef yoke_status visit_function(const opencl_state *state, const found_device *found, void *user);

/* Visits all devices.  *platforms and *devices become the numbers of platforms and of devices. */
static yoke_status visit_devices(const opencl_state *state, visit_function *visit, void *user, int64_t *platforms, int64_t *devices)
{
    cl_platform_id platform[MAX_PLATFORMS];
    cl_device_id device[MAX_DEVICES];
    cl_uint num_platforms = 0;
    *platforms = *devices = 0;
    if (state->cl.clGetPlatformIDs(MAX_PLATFORMS, platform, &num_platforms) != CL_SUCCESS) return YOKE_OK;
    *platforms = num_platforms;
    for (cl_uint p = 0; p < num_platforms && p < MAX_PLATFORMS; p++) {
        cl_uint num_devices = 0;
        if (state->cl.clGetDeviceIDs(platform[p], CL_DEVICE_TYPE_ALL, MAX_DEVICES, device, &num_devices) != CL_SUCCESS) continue;
        for (cl_uint d = 0; d < num_devices && d < MAX_DEVICES; d++, ++*devices) {
            found_device found = {.platform = platform[p], .device = device[d]};
            snprintf(found.name, sizeof found.name, "opencl:%u.%u", p, d);
            yoke_status status = visit(state, &found, user);
            if (status != YOKE_OK) return status;
        }
    }
    return YOKE_OK;
}

/*
 * PoCL reports no device, and no error, if it cannot store compiled programs.  It has already searched for devices, so the directory exists
 * if it can be created.  Returns 0 if that is not the reason.
 */
static int explain_pocl_cache(char *remedy, size_t bytes)
{
    const char *variable = getenv("POCL_CACHE_DIR") ? "POCL_CACHE_DIR" : "XDG_CACHE_HOME", *directory = getenv(variable);
    char path[4096];
    if (!directory || directory[0] == '\0') return 0;
    const int length = snprintf(path, sizeof path, "%s/pocl", directory);
    if (length < 0 || (size_t)length >= sizeof path) return 0;
    if (mkdir(path, 0700) == 0 || (errno == EEXIST && access(path, W_OK | X_OK) == 0)) return 0;
    snprintf(remedy, bytes, "PoCL cannot write below %s=%.80s (%s): set it to a directory that can be written, or unset it", variable,
             directory, strerror(errno));
    return 1;
}

/* Describes why there is no device at all. */
static yoke_device_info explain_none(const opencl_state *state, int64_t platforms)
{
    yoke_device_info info = {.name = "opencl", .kind = "opencl", .description = "OpenCL", .device_class = YOKE_DEVICE_OTHER};
    if (state->library == NULL)
        snprintf(info.why_not, sizeof info.why_not, "libOpenCL: %.240s", state->why_not);
    else if (platforms == 0)
        snprintf(info.why_not, sizeof info.why_not, "no OpenCL driver is installed");
    else
        snprintf(info.why_not, sizeof info.why_not, "the OpenCL drivers that are installed (%lld) find no device", (long long)platforms);
    if (state->library == NULL || platforms == 0 || !explain_pocl_cache(info.remedy, sizeof info.remedy))
        snprintf(info.remedy, sizeof info.remedy, "%s", state->library == NULL ? no_library_remedy : no_driver_remedy);
    return info;
}

typedef struct listing {
    yoke_backend_found *found;
    void *user;
} listing;

static yoke_status list_one(const opencl_state *state, const found_device *found, void *user)
{
    const listing *list = user;
    yoke_device_info info;
    describe(&state->cl, found->platform, found->device, found->name, &info);
    return list->found(&info, list->user);
}

yoke_status yoke_opencl_list(void *state, yoke_backend_found *found, void *user)
{
    opencl_state *searched = state;
    listing list = {found, user};
    int64_t platforms = 0, devices = 0;
    if (searched->library != NULL) {
        hwloc_bitmap_t before = NULL;
        if (widen_binding(searched->context, &before) != YOKE_OK)
            yoke_log(searched->context, YOKE_LOG_WARNING, "%s", yoke_last_error(searched->context));
        yoke_status status = visit_devices(searched, list_one, &list, &platforms, &devices);
        restore_binding(searched->context, before);
        if (status != YOKE_OK || devices > 0) return status;
    }
    yoke_device_info none = explain_none(searched, platforms);
    return found(&none, user);
}

/* ------------------------------------------------------------------------------------------------ opening */

typedef struct search {
    const char *name;
    found_device match; /* its name is "" until a device matches */
    char names[512];    /* of all devices, for the message */
} search;

static yoke_status compare_one(const opencl_state *state, const found_device *found, void *user)
{
    search *searched = user;
    (void)state;
    const size_t length = strlen(searched->names);
    snprintf(searched->names + length, sizeof searched->names - length, "%s%s", length > 0 ? ", " : "", found->name);
    if (strcmp(found->name, searched->name) == 0) searched->match = *found;
    return YOKE_OK;
}

static yoke_status find_device(opencl_state *state, const char *name, found_device *found)
{
    search searched = {.name = name};
    int64_t platforms = 0, devices = 0;
    if (state->library != NULL) visit_devices(state, compare_one, &searched, &platforms, &devices);
    if (devices == 0) {
        yoke_device_info none = explain_none(state, platforms);
        return yoke_fail(state->context, YOKE_ERROR_UNAVAILABLE, "%s: %s; %s", name, none.why_not, none.remedy);
    }
    if (searched.match.name[0] == '\0')
        return yoke_fail(state->context, YOKE_ERROR_INPUT,
                         "there is no device %s; OpenCL devices are named by platform and device, here there are %s", name, searched.names);
    *found = searched.match;
    return YOKE_OK;
}

/* Whether the driver keeps compiled programs on disk: PoCL does, unless POCL_KERNEL_CACHE is 0.  Other drivers are not known to. */
static int keeps_programs(const opencl_functions *cl, cl_platform_id platform)
{
    char maker[LONGEST_TEXT] = "";
    const char *cache = getenv("POCL_KERNEL_CACHE");
    if (cl->clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof maker - 1, maker, NULL) != CL_SUCCESS) return 0;
    return strcmp(maker, "Portable Computing Language") == 0 && !(cache != NULL && strcmp(cache, "0") == 0);
}

static yoke_status open_found(opencl_device *device, const found_device *found)
{
    const opencl_functions *cl = device->cl;
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)found->platform, 0};
    cl_int error = CL_SUCCESS;
    device->driver_context = cl->clCreateContext(properties, 1, &found->device, NULL, NULL, &error);
    if (device->driver_context == NULL) return yoke_opencl_fail(device, error, "clCreateContext", "opening the device");
    device->queue = cl->clCreateCommandQueue(device->driver_context, found->device, 0, &error);
    if (device->queue == NULL) return yoke_opencl_fail(device, error, "clCreateCommandQueue", "opening the device");
    return YOKE_OK;
}

static yoke_status open_described(opencl_state *state, const found_device *found, const yoke_device_info *info, void **device)
{
    if (!info->usable)
        return yoke_fail(state->context, YOKE_ERROR_UNAVAILABLE, "%s (%s) cannot be used: %s; %s", info->name, info->description,
                         info->why_not, info->remedy);
    void *memory = NULL;
    yoke_status status = yoke_allocate(state->context, 1, sizeof(opencl_device), &memory);
    if (status != YOKE_OK) return status;
    opencl_device *opened = memory;
    *opened = (opencl_device){.state = state, .context = state->context, .cl = &state->cl, .id = found->device};
    opened->keeps_programs = keeps_programs(&state->cl, found->platform);
    opened->most_bytes_at_once = device_number(&state->cl, found->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong));
    memcpy(opened->name, info->name, sizeof opened->name);
    memcpy(opened->model, info->description, sizeof opened->model);
    memcpy(opened->driver, info->driver, sizeof opened->driver);
    status = open_found(opened, found);
    if (status != YOKE_OK) {
        yoke_opencl_close(opened);
        return status;
    }
    *device = opened;
    return YOKE_OK;
}

yoke_status yoke_opencl_open(void *state, const char *name, yoke_device_info *info, void **device)
{
    opencl_state *opening = state;
    found_device found;
    yoke_device_info described;
    hwloc_bitmap_t before = NULL;
    yoke_status status = widen_binding(opening->context, &before);
    if (status == YOKE_OK) status = find_device(opening, name, &found);
    if (status == YOKE_OK) {
        describe(&opening->cl, found.platform, found.device, found.name, &described);
        status = open_described(opening, &found, &described, device);
    }
    restore_binding(opening->context, before);
    if (status == YOKE_OK) *info = described;
    return status;
}

void yoke_opencl_close(void *device)
{
    opencl_device *closed = device;
    /* CLBlast caches programs by the address of the context; a later context may have the same address. */
    if (closed->state->clear_cache != NULL && closed->state->blas_library != NULL) closed->state->clear_cache();
    if (closed->queue != NULL) closed->cl->clReleaseCommandQueue(closed->queue);
    if (closed->driver_context != NULL) closed->cl->clReleaseContext(closed->driver_context);
    yoke_release(closed->context, closed);
}
