/* multigrid/reach_parts.h - what multigrid/reach.c is made of: pieces of elements, and values under way. */
#ifndef FEM_SOLVER_MULTIGRID_REACH_PARTS_H
#define FEM_SOLVER_MULTIGRID_REACH_PARTS_H

#include "solver/multigrid/reach.h"

/* A node of the reach under its number over all ranks. */
typedef struct reach_name {
    int64_t global;
    int32_t node;
} reach_name;

/*
 * Sends what this rank's elements add to parts that others solve, and takes what theirs add here.  root [num_local]: which nodes are of one part;
 * names [count]: nodes that others have, too, in ascending order.  Collective.  Errors: MEMORY, those of visit_matrices.
 */
yoke_status reach_exchange_pieces(multigrid_reach *reach, fem_subdomain *subdomain, const int32_t *root, const reach_name *names,
                                  int64_t count);
/* Of a node that is among them. */
int32_t reach_find(const reach_name *names, int64_t count, int64_t global);

/* From lists of nodes, of which node [lists->all] has the reach's numbers; wanted [lists->all]: which ones, NULL: all.  Errors: MEMORY. */
yoke_status reach_route(multigrid_reach *reach, const fem_lists *lists, const int32_t *node, const uint8_t *wanted, multigrid_route *route);
void reach_release_route(yoke_context *context, multigrid_route *route);

#endif
