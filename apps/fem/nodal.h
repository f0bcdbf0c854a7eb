/*
 * nodal.h - positions and solution of a space as the kernels of kernels/nodal.h read them.
 */
#ifndef FEM_NODAL_H
#define FEM_NODAL_H

#include "kernels/nodal.h"
#include "space.h"

typedef struct fem_nodal_data {
    yoke_context *context; /* borrowed */
    fem_nodal nodal;       /* its arrays are the space's and those below */
    fem_hanging *hanging;
    double *packed, *ghosts;
    int16_t *material;
} fem_nodal_data;

/*
 * Of the solution u [num_nodes][components] and of `ghosts` elements beyond the space's leaves, whose values and materials the caller puts
 * into data->ghosts and data->material.  The space must outlive it.  Errors: MEMORY; the data can be destroyed in any case.
 */
yoke_status fem_nodal_create(const fem_space *space, const double *u, int32_t ghosts, fem_nodal_data *data);
void fem_nodal_destroy(fem_nodal_data *data);

/* local [slots][FEM_PACKED] = position and solution at all slots of leaf e, as in nodal.ghosts. */
void fem_nodal_expand(const fem_space *space, const double *u, int32_t e, double *local);

#endif
