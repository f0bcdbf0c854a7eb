/* multigrid/reach_parts.h - parts of multigrid/reach.c: pieces of elements, and the transfer of values. */
#ifndef FEM_SOLVER_MULTIGRID_REACH_PARTS_H
#define FEM_SOLVER_MULTIGRID_REACH_PARTS_H

#include "solver/multigrid/reach.h"

/* A node of the reach and its number over all ranks. */
typedef struct reach_name {
    int64_t global;
    int32_t node;
} reach_name;

/*
 * Sends the contributions of this rank's elements to parts that others solve, and receives theirs to parts that this rank solves.  root
 * [num_local]: nodes of one part have the same root; names [count]: nodes that others have too, in ascending order.  Collective.  Errors:
 * MEMORY, those of visit_matrices.
 */
yoke_status reach_exchange_pieces(multigrid_reach *reach, fem_subdomain *subdomain, const int32_t *root, const reach_name *names,
                                  int64_t count);
/* The node with this number over all ranks, which must be among the names. */
int32_t reach_find(const reach_name *names, int64_t count, int64_t global);

/*
 * Creates a route from lists of nodes; node [lists->all]: their numbers in the reach; wanted [lists->all]: which nodes to include, NULL:
 * all.  Errors: MEMORY.
 */
yoke_status reach_route(multigrid_reach *reach, const fem_lists *lists, const int32_t *node, const uint8_t *wanted, multigrid_route *route);
void reach_release_route(yoke_context *context, multigrid_route *route);

#endif
