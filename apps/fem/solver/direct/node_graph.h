/*
 * direct/node_graph.h - which nodes of a space have a block in its matrix: those that share an element.
 */
#ifndef FEM_SOLVER_DIRECT_NODE_GRAPH_H
#define FEM_SOLVER_DIRECT_NODE_GRAPH_H

#include "space/space.h"

/*
 * In CSR, both triangles and the diagonal: row_start [num_nodes + 1] and column [row_start[num_nodes]], each row's columns in the order in which
 * its elements show them.  Both are the caller's to release, also after an error.  Errors: MEMORY.
 */
yoke_status fem_node_graph_create(const fem_space *space, int64_t **row_start, int32_t **column);

#endif
