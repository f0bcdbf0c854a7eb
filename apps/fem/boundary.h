/*
 * boundary.h - what the conditions of a problem mean on the leaves of a space: their faces, edges and corners, constrained nodes, loads.
 */
#ifndef FEM_BOUNDARY_H
#define FEM_BOUNDARY_H

#include "space.h"

/*
 * The leaf faces, edges or corners (by the group's dimension) that belong to each condition: member i of condition c,
 * first[c] <= i < first[c + 1], is `local[i]` of leaf `element[i]`.
 */
typedef struct fem_boundary {
    yoke_context *context;
    int64_t *first; /* [num_conditions + 1] */
    int32_t *element;
    int8_t *local;
} fem_boundary;

/* Errors: MEMORY. */
yoke_status fem_boundary_create(const fem_space *space, fem_boundary **boundary);
void fem_boundary_destroy(fem_boundary *boundary);

/* Dirichlet conditions at the nodes.  Where several prescribe a component, the first in the case counts (they agree: checked before). */
typedef struct fem_constraints {
    yoke_context *context;
    uint8_t *prescribed; /* [num_nodes] bit i: component i is prescribed */
    double *value;       /* [num_nodes][components], 0 where free */
    int16_t *owner;      /* [num_nodes][components] the condition that prescribes it, -1: free */
} fem_constraints;

/* Errors: MEMORY. */
yoke_status fem_constraints_create(const fem_space *space, const fem_boundary *boundary, fem_constraints **constraints);
void fem_constraints_destroy(fem_constraints *constraints);

/*
 * Adds body forces, tractions and pressures to load [num_nodes][components], N (Poisson: source and flux).
 * Errors: MEMORY, INPUT (an element whose map folds at its loaded face, where the operator's points need not show it).
 */
yoke_status fem_space_load(const fem_space *space, const fem_boundary *boundary, double *load);

/* Traction of a load condition at point x with outer unit normal; Poisson: flux in traction[0]. */
void fem_condition_traction(const fem_problem *problem, const fem_condition *condition, const double x[3], const double normal[3],
                            double traction[3]);

#endif
