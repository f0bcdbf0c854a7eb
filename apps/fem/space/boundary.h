/*
 * boundary.h - the conditions of a problem on the leaves of a space: their faces, edges and corners, constrained nodes, loads.
 */
#ifndef FEM_SPACE_BOUNDARY_H
#define FEM_SPACE_BOUNDARY_H

#include "space/space.h"

/*
 * The rank's leaf faces, edges or corners (by the group's dimension) that belong to each condition: member i of condition c,
 * first[c] <= i < first[c + 1], is `local[i]` of leaf `element[i]`.
 */
typedef struct fem_boundary {
    yoke_context *context;
    int64_t *first; /* [num_conditions + 1] */
    int32_t *element;
    int8_t *local;
    /* [num_conditions] area of the group of each condition of kind FEM_FORCE, m2, on the space's elements of all ranks; others 0. */
    double *area;
} fem_boundary;

/* Collective.  Errors: MEMORY, INPUT (an element whose map folds at a face on which a total force acts). */
yoke_status fem_boundary_create(const fem_space *space, fem_boundary **boundary);
void fem_boundary_destroy(fem_boundary *boundary);

/* Dirichlet conditions at the nodes.  If several prescribe a component, the first in the case counts (it was checked that they agree). */
typedef struct fem_constraints {
    yoke_context *context;
    uint8_t *prescribed; /* [num_nodes] bit i: component i is prescribed */
    double *value;       /* [num_nodes][components], minus the rigid motion of the prescribed values (rigid_part.h); 0 at free components */
    int16_t *owner;      /* [num_nodes][components] the condition that prescribes it, -1: free */
} fem_constraints;

/* Nodes that elements of other ranks constrain are constrained here too.  Collective.  Errors: MEMORY. */
yoke_status fem_constraints_create(const fem_space *space, const fem_boundary *boundary, fem_constraints **constraints);
void fem_constraints_destroy(fem_constraints *constraints);

/*
 * Adds body forces, thermal strains, tractions, pressures and total forces to load [num_nodes][components], N (Poisson: source and flux).
 * On several ranks load must be zero before, and has the sums over the ranks afterwards.  The nodal loads of a total force add up to it
 * exactly: its area is computed with the same points as the load.
 * Errors: MEMORY, INPUT (an element whose map folds at its loaded face, which the operator's points may not detect).
 */
yoke_status fem_space_load(const fem_space *space, const fem_boundary *boundary, double *load);

/* Computes the group's area for fem_boundary_create: [first, end) are its members.  Errors: INPUT (a map that folds). */
yoke_status fem_members_area(const fem_space *space, const fem_boundary *boundary, int64_t first, int64_t end, double *area);

/* Traction of load condition c at point x with outer unit normal; Poisson: flux in traction[0]. */
void fem_condition_traction(const fem_problem *problem, const fem_boundary *boundary, int c, const double x[3], const double normal[3],
                            double traction[3]);

/* Adds the centrifugal force on one cubic metre at x to force, N/m3. */
void fem_add_centrifugal(const fem_rotation *rotation, double density, const double x[3], double force[3]);

#endif
