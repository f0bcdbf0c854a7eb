/*
 * direct/node_graph.h - the graph of a space's nodes that have a block in its matrix: those that share an element.
 */
#ifndef FEM_SOLVER_DIRECT_NODE_GRAPH_H
#define FEM_SOLVER_DIRECT_NODE_GRAPH_H

#include "space/space.h"

/*
 * Creates it in CSR, both triangles and the diagonal: row_start [num_nodes + 1] and column [row_start[num_nodes]], each row's columns in
 * the order in which its elements have them.  The caller releases both, also after an error.  Errors: MEMORY.
 */
yoke_status fem_node_graph_create(const fem_space *space, int64_t **row_start, int32_t **column);

#endif
