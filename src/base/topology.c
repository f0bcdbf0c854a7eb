/* The machine as hwloc reports it, the part of it that this process may use, and threads bound to it. */
#include <errno.h>
#include <hwloc.h>
#include <omp.h>
#include <string.h>

#include "base/context.h"
#include "base/limits.h"
#include "base/numa.h"

/*
 * If the user has OpenMP bind threads (OMP_PROC_BIND, OMP_PLACES), its runtime has bound this thread to a place before main.  Then the
 * process may use all places of the runtime, to which this thread was bound before.  Returns 0 if the runtime binds no threads, or reports
 * no places.
 */
static int read_places(hwloc_bitmap_t processors)
{
    enum { MOST = 4096 }; /* hardware threads of a place that are read */
    int ids[MOST];
    if (omp_get_proc_bind() == omp_proc_bind_false) return 0;
    for (int place = 0; place < omp_get_num_places(); place++) {
        const int count = omp_get_place_num_procs(place);
        if (count < 1 || count > MOST) return 0;
        omp_get_place_proc_ids(place, ids);
        for (int i = 0; i < count; i++) hwloc_bitmap_set(processors, (unsigned)ids[i]);
    }
    return !hwloc_bitmap_iszero(processors);
}

/* Removes from the topology what the process may not use.  Returns -1, with errno, if that fails. */
static int restrict_machine(hwloc_topology_t machine)
{
    hwloc_bitmap_t processors = hwloc_bitmap_alloc();
    int failed = processors == NULL;
    if (!failed && (read_places(processors) || hwloc_get_cpubind(machine, processors, 0) == 0))
        failed = hwloc_topology_restrict(machine, processors, 0);
    hwloc_bitmap_free(processors);
    return failed ? -1 : 0;
}

/* Reads the machine as the system describes it and, if `asks_processors` is nonzero, also as its processors describe it. */
static yoke_status read_machine(yoke_context *context, int asks_processors, hwloc_topology_t *topology)
{
    hwloc_topology_t loaded;
    errno = 0;
    if (hwloc_topology_init(&loaded) != 0) return yoke_fail(context, YOKE_ERROR_SYSTEM, "hwloc could not start: %s", strerror(errno));
    if (!asks_processors) (void)hwloc_topology_set_components(loaded, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    /* hwloc itself leaves out what the container forbids. */
    if (hwloc_topology_set_flags(loaded, HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM) != 0 || hwloc_topology_load(loaded) != 0 ||
        restrict_machine(loaded) != 0) {
        int error = errno;
        hwloc_topology_destroy(loaded);
        return yoke_fail(context, YOKE_ERROR_SYSTEM, "hwloc could not read the machine: %s; does lstopo work here?", strerror(error));
    }
    *topology = loaded;
    return YOKE_OK;
}

/* Whether the topology has everything that yoke_topology_get returns. */
static int is_complete(hwloc_topology_t topology)
{
    hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    return package != NULL && hwloc_obj_get_info_by_name(package, "CPUModel") != NULL &&
           hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 && hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_L1CACHE) > 0 &&
           hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_L2CACHE) > 0;
}

/*
 * To query processors, hwloc binds this thread to one after the other, and there it waits for other threads, such as those of OpenMP that
 * wait for work.  That can take milliseconds, so only the system is queried first; on some virtual machines a part is hidden from it.
 */
static yoke_status load(yoke_context *context, hwloc_topology_t *topology)
{
    *topology = context->topology; /* when it is loaded, threads that bind themselves only read it */
    if (*topology != NULL) return YOKE_OK;
    hwloc_topology_t loaded;
    yoke_status status = read_machine(context, 0, &loaded);
    if (status == YOKE_OK && !is_complete(loaded)) {
        hwloc_topology_destroy(loaded);
        status = read_machine(context, 1, &loaded);
    }
    if (status == YOKE_OK) *topology = context->topology = loaded;
    return status;
}

void yoke_topology_forget(yoke_context *context)
{
    if (context->topology != NULL) hwloc_topology_destroy(context->topology);
    context->topology = NULL;
}

/* Some virtual machines show hardware threads but no cores. */
static hwloc_obj_type_t core_type(hwloc_topology_t topology)
{
    return hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
}

static int64_t count(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    int number = hwloc_get_nbobjs_by_type(topology, type);
    return number > 0 ? number : 1;
}

static int64_t cache_bytes(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    hwloc_obj_t cache = hwloc_get_obj_by_type(topology, type, 0);
    return cache != NULL ? (int64_t)cache->attr->cache.size : 0;
}

/* Writes the model name in printable ASCII, without the blanks that some processors put around it. */
static void processor_name(hwloc_topology_t topology, char *name, size_t size)
{
    hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    const char *model = package != NULL ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
    if (model == NULL) return;
    model += strspn(model, " ");
    size_t length = 0;
    for (; model[length] != '\0' && length + 1 < size; length++)
        name[length] = (char)(model[length] >= ' ' && model[length] <= '~' ? model[length] : '?');
    while (length > 0 && name[length - 1] == ' ') length--;
    name[length] = '\0';
}

yoke_status yoke_topology_get(yoke_context *context, yoke_topology *topology)
{
    if (context == NULL || topology == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_topology_get: %s is NULL", context == NULL ? "context" : "topology");
    hwloc_topology_t machine;
    yoke_status status = load(context, &machine);
    if (status != YOKE_OK) return status;
    *topology = (yoke_topology){
        .packages = count(machine, HWLOC_OBJ_PACKAGE),
        .numa_nodes = count(machine, HWLOC_OBJ_NUMANODE),
        .cores = count(machine, core_type(machine)),
        .hardware_threads = count(machine, HWLOC_OBJ_PU),
        .l1_bytes = cache_bytes(machine, HWLOC_OBJ_L1CACHE),
        .l2_bytes = cache_bytes(machine, HWLOC_OBJ_L2CACHE),
        .l3_bytes = cache_bytes(machine, HWLOC_OBJ_L3CACHE),
        .memory_bytes = yoke_memory_limit(),
    };
    processor_name(machine, topology->processor, sizeof topology->processor);
    strcpy(topology->instruction_set, yoke_instruction_set());
    return YOKE_OK;
}

yoke_status yoke_bind_thread(yoke_context *context, int64_t core)
{
    if (context == NULL) return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_bind_thread: context is NULL");
    hwloc_topology_t machine;
    yoke_status status = load(context, &machine);
    if (status != YOKE_OK) return status;
    hwloc_obj_type_t type = core_type(machine);
    int64_t cores = count(machine, type);
    if (core < 0 || core >= cores)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_bind_thread: there is no core %lld; this process may use cores 0 to %lld",
                         (long long)core, (long long)cores - 1);
    hwloc_obj_t object = hwloc_get_obj_by_type(machine, type, (unsigned)core);
    if (hwloc_set_cpubind(machine, object->cpuset, HWLOC_CPUBIND_THREAD) != 0)
        return yoke_fail(context, YOKE_ERROR_SYSTEM, "the system refuses to bind a thread to core %lld: %s", (long long)core,
                         strerror(errno));
    return YOKE_OK;
}

int64_t yoke_numa_node_of_thread(yoke_context *context, int64_t thread, int64_t threads)
{
    hwloc_topology_t machine = NULL;
    if (thread < 0 || thread >= threads || load(context, &machine) != YOKE_OK) return -1;
    const hwloc_obj_type_t type = core_type(machine);
    const int64_t cores = count(machine, type);
    hwloc_obj_t core = hwloc_get_obj_by_type(machine, type, (unsigned)(cores / threads * thread + cores % threads * thread / threads));
    return core != NULL && core->nodeset != NULL ? hwloc_bitmap_first(core->nodeset) : -1;
}

int64_t yoke_numa_nodes_of_threads(yoke_context *context, int64_t threads)
{
    int64_t nodes = 0, last = -1;
    for (int64_t thread = 0; thread < threads; thread++) {
        const int64_t node = yoke_numa_node_of_thread(context, thread, threads);
        if (node < 0) return 1;
        nodes += node != last;
        last = node;
    }
    return nodes > 0 ? nodes : 1;
}

yoke_status yoke_bind_thread_to_node(yoke_context *context, int64_t node)
{
    hwloc_topology_t machine = NULL;
    yoke_status status = load(context, &machine);
    if (status != YOKE_OK) return status;
    hwloc_obj_t object = node >= 0 && node <= INT32_MAX ? hwloc_get_numanode_obj_by_os_index(machine, (unsigned)node) : NULL;
    if (object == NULL || hwloc_bitmap_iszero(object->cpuset))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_bind_thread_to_node: there is no NUMA node %lld with cores for this process",
                         (long long)node);
    if (hwloc_set_cpubind(machine, object->cpuset, HWLOC_CPUBIND_THREAD) != 0)
        return yoke_fail(context, YOKE_ERROR_SYSTEM, "the system refuses to bind a thread to NUMA node %lld: %s", (long long)node,
                         strerror(errno));
    return YOKE_OK;
}

yoke_status yoke_unbind_thread(yoke_context *context)
{
    hwloc_topology_t machine = NULL;
    yoke_status status = load(context, &machine);
    if (status != YOKE_OK) return status;
    if (hwloc_set_cpubind(machine, hwloc_topology_get_topology_cpuset(machine), HWLOC_CPUBIND_THREAD) != 0)
        return yoke_fail(context, YOKE_ERROR_SYSTEM, "the system refuses to free a thread from its core: %s", strerror(errno));
    return YOKE_OK;
}
