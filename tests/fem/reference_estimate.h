/*
 * reference_estimate.h - the error estimate and the nodal stress as docs/methods/estimator.md and stress.h define them, one point after the
 * other in double precision.  Shares nothing with the program's kernels but the shape functions, the interpolation at hanging nodes and the
 * given tractions, which have tests of their own; which faces, points and nodes meet is found from where they lie.
 */
#ifndef TEST_REFERENCE_ESTIMATE_H
#define TEST_REFERENCE_ESTIMATE_H

#include "space/boundary.h"

/* Integrals over an element of 1, |f + div sigma|^2 and sigma : epsilon, with slots_1d Gauss points per direction. */
typedef struct reference_volume_sums {
    double volume, residual, energy;
} reference_volume_sums;

reference_volume_sums reference_element(const fem_space *space, const double *u, int32_t e);

/* A point of a face: element of area by (s, t), place, outer unit normal, traction (Poisson: [0] alone). */
typedef struct reference_point {
    double area, x[3], normal[3], traction[3];
} reference_point;

reference_point reference_on_face(const fem_space *space, const double *u, int32_t e, int face, double s, double t);

/* Stress at a reference point: xx, yy, zz, yz, xz, xy; Poisson: the gradient, then zeros. */
void reference_stress_at(const fem_space *space, const double *u, int32_t e, const double r[3], double stress[6]);

/* square [num_elements] = the squares of the indicators for C = 1; returns the square of the energy norm. */
double reference_estimate(const fem_space *space, const fem_boundary *boundary, const double *u, double *square);

/*
 * stress [num_nodes][num_materials][6] = the mean at each node over the elements of each material that have a slot there, count
 * [num_nodes][num_materials] how many slots these are.  Both must be 0 before.
 */
void reference_stress(const fem_space *space, const double *u, double *stress, int32_t *count);

#endif
