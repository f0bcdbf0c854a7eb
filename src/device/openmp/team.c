/* Binds threads to cores or NUMA nodes. */
#include <omp.h>
#include <stdlib.h>

#include "base/numa.h"
#include "device/openmp/openmp.h"

/*
 * The place of this thread, and the places of the team of its parallel regions.  They must be known per thread, because OpenMP's threads
 * belong to the runtime and outlive queues, devices and contexts.  A place is a core, counted from 1, or a NUMA node, counted downwards
 * from -1, so that the zeros of a new thread mean "not bound by a device".
 */
static _Thread_local struct {
    int64_t place;
    int64_t team_place; /* for a team on cores: place of its first thread; on nodes: ON_NODES */
    int team_threads;
} here;

enum { FREE = 0, ON_NODES = -1 };

/* Nonzero: settings of the OpenMP runtime determine the places of threads. */
static int is_left_to_runtime(void)
{
    return omp_get_proc_bind() != omp_proc_bind_false || getenv("OMP_PROC_BIND") != NULL || getenv("KMP_AFFINITY") != NULL;
}

int64_t openmp_nodes(yoke_context *context, int threads)
{
    yoke_topology topology;
    if (is_left_to_runtime()) return 0;
    if (yoke_topology_get(context, &topology) != YOKE_OK || threads > topology.hardware_threads) return 0;
    const int64_t nodes = yoke_numa_nodes_of_threads(context, threads);
    return nodes > 1 ? nodes : 0;
}

static yoke_status put(yoke_context *context, int64_t place)
{
    if (here.place == place) return YOKE_OK;
    yoke_status status = place > 0   ? yoke_bind_thread(context, place - 1)
                         : place < 0 ? yoke_bind_thread_to_node(context, -1 - place)
                                     : yoke_unbind_thread(context);
    if (status == YOKE_OK) here.place = place;
    return status;
}

static int64_t team_place(const openmp_device *device)
{
    return device->first_core >= 0 ? device->first_core + 1 : device->on_nodes ? ON_NODES : FREE;
}

/* The place of thread `thread` of a team. */
static int64_t place_of(yoke_context *context, int64_t team, int thread, int threads)
{
    return team == FREE ? FREE : team == ON_NODES ? -1 - yoke_numa_node_of_thread(context, thread, threads) : team + thread;
}

static yoke_status put_team(yoke_context *context, int64_t team, int threads)
{
    int failed = YOKE_OK;
#pragma omp parallel num_threads(threads) reduction(max : failed)
    failed = (int)put(context, place_of(context, team, omp_get_thread_num(), threads));
    if (failed != YOKE_OK) return (yoke_status)failed;
    here.team_place = team;
    here.team_threads = team != FREE ? threads : 0;
    return YOKE_OK;
}

void openmp_spread_team(const openmp_device *device)
{
    yoke_topology topology;
    if (team_place(device) != FREE || device->threads < 2 || is_left_to_runtime()) return;
    if (yoke_topology_get(device->context, &topology) != YOKE_OK || device->threads != topology.cores) return;
#pragma omp parallel num_threads(device->threads)
    {
        /* If the system does not allow a binding, the thread stays where it is. */
        if (yoke_bind_thread(device->context, omp_get_thread_num()) == YOKE_OK) (void)yoke_unbind_thread(device->context);
    }
}

yoke_status openmp_enter(const openmp_device *device, int *before)
{
    const int64_t team = team_place(device);
    const int threads = team != FREE ? device->threads : 0;
    yoke_status status = YOKE_OK;
    if (here.team_place != team || here.team_threads != threads || here.place != place_of(device->context, team, 0, device->threads))
        status = put_team(device->context, team, team != FREE || here.team_threads < device->threads ? device->threads : here.team_threads);
    if (status != YOKE_OK) return status;
    *before = omp_get_max_threads();
    if (*before != device->threads) omp_set_num_threads(device->threads);
    return YOKE_OK;
}

void openmp_leave(int before)
{
    if (before != omp_get_max_threads()) omp_set_num_threads(before);
}

void openmp_free_team(const openmp_device *device)
{
    /* If the system did not allow this, it would not have allowed the binding, either. */
    if (here.team_place != FREE) (void)put_team(device->context, FREE, here.team_threads);
}
