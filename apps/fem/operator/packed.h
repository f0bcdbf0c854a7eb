/*
 * packed.h - positions and solution of a space in the layout that the kernels of kernels/derivatives.h read.
 */
#ifndef FEM_OPERATOR_PACKED_H
#define FEM_OPERATOR_PACKED_H

#include "operator/kernels/derivatives.h"
#include "space/space.h"

typedef struct fem_packed {
    yoke_context *context;        /* borrowed */
    fem_packed_solution solution; /* its arrays are those of the space and those below */
    fem_hanging *hanging;
    double *temperature; /* [num_nodes]; NULL: none */
    double *packed, *ghosts;
    int16_t *material;
} fem_packed;

/*
 * Creates the data of the solution u [num_nodes][components], with room for `ghosts` elements in addition to the space's leaves.  The
 * caller writes their values and materials to data->ghosts and data->material.  The space must outlive the data.  Collective.  Errors:
 * MEMORY; the data can be destroyed in any case.
 */
yoke_status fem_packed_create(const fem_space *space, const double *u, int32_t ghosts, fem_packed *data);
void fem_packed_destroy(fem_packed *data);

/* local [slots][FEM_PACKED] = position and solution at all slots of leaf e, as in solution.ghosts. */
void fem_packed_expand(const fem_packed *data, const fem_space *space, const double *u, int32_t e, double *local);

#endif
