/*
 * gathering.h - gathers a space that is distributed over the ranks on rank 0, for computations of one rank alone.
 *
 * Nodes have the same numbers there as over all ranks.
 */
#ifndef FEM_SPACE_GATHERING_H
#define FEM_SPACE_GATHERING_H

#include "space/boundary.h"

typedef struct fem_gathering {
    yoke_context *context;  /* borrowed */
    const fem_space *space; /* borrowed: the distributed one */
    /* NULL on ranks other than 0 */
    fem_forest *forest;
    fem_space *whole;
    fem_constraints *constraints;
    int *num_owned, *first_owned;    /* [ranks] */
    int *num_nodes, *first_node;     /* [ranks] */
    int32_t *node;                   /* the nodes of each rank */
    double *all;                     /* [entries of node][components] the transferred values */
    double *own;                     /* [num_owned of the rank][components], on each rank */
    int64_t num_messages, num_bytes; /* sent by this rank to others */
} fem_gathering;

/* space must have ranks.  Collective.  Errors: MEMORY (also if the whole is too large for one rank), those of fem_boundary_create. */
yoke_status fem_gathering_create(const fem_space *space, fem_gathering **gathering);
void fem_gathering_destroy(fem_gathering *gathering); /* NULL allowed */

/* whole [nodes of the whole][components] on rank 0 = the owners' values in `local` [num_nodes][components].  Collective. */
void fem_gathering_collect(fem_gathering *gathering, const double *local, double *whole);
/* The reverse: sends values to all ranks that have the nodes. */
void fem_gathering_spread(fem_gathering *gathering, const double *whole, double *local);

#endif
