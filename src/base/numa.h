/*
 * numa.h - the NUMA nodes of threads that use all cores of the process (topology.c).
 */
#ifndef YOKE_BASE_NUMA_H
#define YOKE_BASE_NUMA_H

#include "yoke/yoke.h"

/*
 * The system's number of the NUMA node of thread `thread` of `threads`, which is the node of core thread x cores / threads.  In hwloc's
 * logical order the cores of a node follow each other.  So successive threads have the same node, and each node has threads in proportion
 * to its cores.  Call yoke_topology_get before; then several threads may call this function at once.  -1: not known.
 */
int64_t yoke_numa_node_of_thread(yoke_context *context, int64_t thread, int64_t threads);

/* The number of different nodes of all threads; 1 if none is known. */
int64_t yoke_numa_nodes_of_threads(yoke_context *context, int64_t threads);

/*
 * Binds the calling thread to the cores of such a node that this process may use.  Errors: ARGUMENT (no such node), SYSTEM (the system
 * refuses).
 */
yoke_status yoke_bind_thread_to_node(yoke_context *context, int64_t node);

#endif
