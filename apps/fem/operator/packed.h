/*
 * packed.h - positions and solution of a space as the kernels of kernels/derivatives.h read them.
 */
#ifndef FEM_OPERATOR_PACKED_H
#define FEM_OPERATOR_PACKED_H

#include "operator/kernels/derivatives.h"
#include "space/space.h"

typedef struct fem_packed {
    yoke_context *context;        /* borrowed */
    fem_packed_solution solution; /* its arrays are the space's and those below */
    fem_hanging *hanging;
    double *temperature; /* [num_nodes], or NULL */
    double *packed, *ghosts;
    int16_t *material;
} fem_packed;

/*
 * Of the solution u [num_nodes][components] and of `ghosts` elements beyond the space's leaves, whose values and materials the caller puts
 * into data->ghosts and data->material.  The space must outlive it.  Collective.  Errors: MEMORY; the data can be destroyed in any case.
 */
yoke_status fem_packed_create(const fem_space *space, const double *u, int32_t ghosts, fem_packed *data);
void fem_packed_destroy(fem_packed *data);

/* local [slots][FEM_PACKED] = position and solution at all slots of leaf e, as in solution.ghosts. */
void fem_packed_expand(const fem_packed *data, const fem_space *space, const double *u, int32_t e, double *local);

#endif
