#include "numa/measure.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------- machine */

/* Cores, or hardware threads if the machine reports no cores. */
static hwloc_obj_type_t core_type(hwloc_topology_t topology)
{
    return hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
}

static int cores_of(const numa_machine *machine, int node)
{
    return hwloc_get_nbobjs_inside_cpuset_by_type(machine->topology, machine->node[node]->cpuset, core_type(machine->topology));
}

yoke_status numa_machine_load(yoke_context *context, int pretend, numa_machine *machine)
{
    numa_machine found = {0};
    if (hwloc_topology_init(&found.topology) != 0)
        return yoke_fail(context, YOKE_ERROR_SYSTEM, "hwloc could not start: %s", strerror(errno));
    if (hwloc_topology_set_flags(found.topology, HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM | HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING) != 0 ||
        hwloc_topology_load(found.topology) != 0) {
        int error = errno;
        hwloc_topology_destroy(found.topology);
        return yoke_fail(context, YOKE_ERROR_SYSTEM, "hwloc could not read the machine: %s; does lstopo work here?", strerror(error));
    }
    const int all = hwloc_get_nbobjs_by_type(found.topology, HWLOC_OBJ_NUMANODE);
    for (int n = 0; n < all && found.nodes < NUMA_MAX_NODES; n++) {
        hwloc_obj_t node = hwloc_get_obj_by_type(found.topology, HWLOC_OBJ_NUMANODE, (unsigned)n);
        if (!hwloc_bitmap_iszero(node->cpuset) && node->attr->numanode.local_memory > 0) found.node[found.nodes++] = node;
    }
    if (found.nodes == 0) {
        hwloc_topology_destroy(found.topology);
        return yoke_fail(context, YOKE_ERROR_SYSTEM, "hwloc shows no NUMA node with cores and memory that this process may use");
    }
    found.threads_per_node = cores_of(&found, 0);
    for (int n = 1; n < found.nodes; n++)
        if (cores_of(&found, n) < found.threads_per_node) found.threads_per_node = cores_of(&found, n);
    if (found.nodes == 1 && pretend > 1) {
        for (int n = 1; n < pretend; n++) found.node[n] = found.node[0];
        found.threads_per_node = found.threads_per_node > pretend ? found.threads_per_node / pretend : 1;
        found.nodes = pretend;
        found.pretended = true;
    }
    if (found.threads_per_node < 1) found.threads_per_node = 1;
    *machine = found;
    return YOKE_OK;
}

void numa_machine_unload(numa_machine *machine)
{
    hwloc_topology_destroy(machine->topology);
    *machine = (numa_machine){0};
}

/* Binds the calling thread to its core. */
static bool bind_thread(const numa_machine *machine, int thread)
{
    const int node = thread / machine->threads_per_node;
    const int core = machine->pretended ? thread : thread % machine->threads_per_node;
    hwloc_obj_t object = hwloc_get_obj_inside_cpuset_by_type(machine->topology, machine->node[node]->cpuset, core_type(machine->topology),
                                                             (unsigned)(core % cores_of(machine, node)));
    return object != NULL && hwloc_set_cpubind(machine->topology, object->cpuset, HWLOC_CPUBIND_THREAD) == 0;
}

/* ------------------------------------------------------------------------------------------------- vectors */

const char *numa_placement_name(numa_placement placement)
{
    static const char *const names[] = {"right", "wrong", "interleaved"};
    return names[placement];
}

static int num_threads(const numa_machine *machine) { return machine->nodes * machine->threads_per_node; }

/* Interleaves the pages of the three vectors over all nodes, before the pages are touched. */
static yoke_status interleave(yoke_context *context, const numa_vectors *v)
{
    double *const parts[] = {v->a, v->b, v->c};
    hwloc_bitmap_t nodes = hwloc_bitmap_alloc();
    if (nodes == NULL) return yoke_fail(context, YOKE_ERROR_MEMORY, "out of memory");
    for (int n = 0; n < v->machine->nodes; n++) hwloc_bitmap_or(nodes, nodes, v->machine->node[n]->nodeset);
    yoke_status status = YOKE_OK;
    for (int k = 0; k < 3 && !status; k++)
        if (hwloc_set_area_membind(v->machine->topology, parts[k], v->bytes, nodes, HWLOC_MEMBIND_INTERLEAVE, HWLOC_MEMBIND_BYNODESET) != 0)
            status =
                yoke_fail(context, YOKE_ERROR_SYSTEM,
                          "pages cannot be interleaved between NUMA nodes: %s; in a container, mbind must be allowed", strerror(errno));
    hwloc_bitmap_free(nodes);
    return status;
}

/* Each thread writes an interval: its own, or that of a thread of the previous node. */
static bool touch(const numa_vectors *v, numa_placement placement)
{
    const int threads = num_threads(v->machine), shift = placement == NUMA_WRONG ? v->machine->threads_per_node : 0;
    bool bound = true;
#pragma omp parallel for schedule(static, 1) num_threads(threads) reduction(&& : bound)
    for (int t = 0; t < threads; t++) {
        bound = bound && bind_thread(v->machine, (t + shift) % threads);
        for (int64_t i = t * v->interval; i < (t + 1) * v->interval; i++) v->a[i] = 0, v->b[i] = 1, v->c[i] = 2;
    }
    return bound;
}

yoke_status numa_vectors_create(yoke_context *context, const numa_machine *machine, numa_placement placement, int64_t numbers,
                                numa_vectors *vectors)
{
    const int64_t page = sysconf(_SC_PAGESIZE) / (int64_t)sizeof(double), threads = num_threads(machine);
    numa_vectors made = {.machine = machine};
    made.interval = ((numbers + threads - 1) / threads + page - 1) / page * page;
    made.bytes = (size_t)(made.interval * threads) * sizeof(double);
    made.a = hwloc_alloc(machine->topology, made.bytes); /* whole pages that are not touched yet */
    made.b = hwloc_alloc(machine->topology, made.bytes);
    made.c = hwloc_alloc(machine->topology, made.bytes);
    yoke_status status = YOKE_OK;
    if (made.a == NULL || made.b == NULL || made.c == NULL)
        status = yoke_fail(context, YOKE_ERROR_MEMORY, "out of memory: three vectors of %zu bytes; ask for fewer --megabytes", made.bytes);
    if (!status && placement == NUMA_INTERLEAVED) status = interleave(context, &made);
    if (!status && !touch(&made, placement))
        status = yoke_fail(context, YOKE_ERROR_SYSTEM, "the system refuses to bind threads to the cores of their NUMA nodes");
    if (status)
        numa_vectors_destroy(&made);
    else
        *vectors = made;
    return status;
}

void numa_vectors_destroy(numa_vectors *vectors)
{
    double *const parts[] = {vectors->a, vectors->b, vectors->c};
    for (int k = 0; k < 3; k++)
        if (parts[k] != NULL) hwloc_free(vectors->machine->topology, parts[k], vectors->bytes);
    *vectors = (numa_vectors){0};
}

double numa_misplaced(const numa_vectors *v, numa_placement placement)
{
    const numa_machine *machine = v->machine;
    const int threads = num_threads(machine);
    double *const parts[] = {v->a, v->b, v->c};
    int misplaced = 0;
    hwloc_bitmap_t found = hwloc_bitmap_alloc(), wanted = hwloc_bitmap_alloc();
    bool told = found != NULL && wanted != NULL;
    for (int i = 0; told && i < 3 * threads; i++) {
        const int t = i % threads, node = t / machine->threads_per_node;
        if (hwloc_get_area_memlocation(machine->topology, parts[i / threads] + t * v->interval, (size_t)v->interval * sizeof(double), found,
                                       HWLOC_MEMBIND_BYNODESET) != 0) {
            told = false;
            break;
        }
        hwloc_bitmap_zero(wanted);
        for (int n = 0; n < machine->nodes; n++)
            if (placement == NUMA_INTERLEAVED || n == (placement == NUMA_WRONG ? (node + 1) % machine->nodes : node))
                hwloc_bitmap_or(wanted, wanted, machine->node[n]->nodeset);
        misplaced += !hwloc_bitmap_isequal(found, wanted);
    }
    hwloc_bitmap_free(found);
    hwloc_bitmap_free(wanted);
    return told ? (double)misplaced / (3.0 * threads) : NAN;
}

/* -------------------------------------------------------------------------------------------------- kernels */

static void triad_of(int64_t count, double *restrict a, const double *restrict b, const double *restrict c)
{
#pragma omp simd
    for (int64_t i = 0; i < count; i++) a[i] = b[i] + 3 * c[i];
}

static double product_of(int64_t count, const double *restrict b, const double *restrict c)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < count; i++) sum += b[i] * c[i];
    return sum;
}

double numa_run(const numa_vectors *v, bool product, int64_t passes, double *sum)
{
    const int threads = num_threads(v->machine);
    double begin = 0, end = 0, total = 0;
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static, 1)
        for (int t = 0; t < threads; t++) (void)bind_thread(v->machine, t); /* binding succeeded when the vectors were created */
#pragma omp master
        begin = yoke_clock_s();
#pragma omp barrier
        for (int64_t pass = 0; pass < passes; pass++) {
#pragma omp for schedule(static, 1) reduction(+ : total)
            for (int t = 0; t < threads; t++) {
                const int64_t from = t * v->interval;
                if (product)
                    total += product_of(v->interval, v->b + from, v->c + from);
                else
                    triad_of(v->interval, v->a + from, v->b + from, v->c + from);
            }
        }
#pragma omp master
        end = yoke_clock_s();
    }
    *sum = product ? total / (double)passes : v->a[v->interval * threads - 1];
    return end - begin;
}

double numa_expected(const numa_vectors *v, bool product) { return product ? 2.0 * (double)(v->bytes / sizeof(double)) : 7.0; }

/* ----------------------------------------------------------------------------------------------- statistics */

void numa_mean(int64_t count, const double *values, double *mean, double *interval)
{
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < count; i++) sum += values[i];
    *mean = sum / (double)count;
    for (int64_t i = 0; i < count; i++) squares += (values[i] - *mean) * (values[i] - *mean);
    *interval = count > 1 ? yoke_student_t(0.975, (double)(count - 1)) * sqrt(squares / (double)(count - 1) / (double)count) : NAN;
}
