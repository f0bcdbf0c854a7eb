/*
 * shape.h - Lagrange shape functions on [0,1]^3 and Gauss quadrature: tensor products of one-dimensional ones.
 * Reference coordinates of an element run over [0,1]; nodes at 0, 1 (order 1) or 0, 1/2, 1 (order 2).
 */
#ifndef FEM_MESH_SHAPE_H
#define FEM_MESH_SHAPE_H

/* How many of the three coordinates of a slot among 27 are in the middle: 0 corner, 1 edge, 2 face, 3 volume. */
static inline int fem_slot_middles(int slot) { return (slot % 3 == 1) + (slot / 3 % 3 == 1) + (slot / 9 == 1); }

/* One-dimensional values, first and second derivatives of the n = 2 or 3 shape functions at t. Each output may be NULL. */
void fem_shape_1d(int n, double t, double *value, double *derivative, double *second);

/* At reference point r: value [n^3], gradient [n^3][3], hessian [n^3][6] (xx, yy, zz, yz, xz, xy). Each output may be NULL. */
void fem_shape(int n, const double r[3], double *value, double *gradient, double *hessian);

/* Gauss points and weights on [0,1], 1 <= n <= 5, exact to degree 2n-1. */
void fem_gauss(int n, double *point, double *weight);

/* Reference point of face f at face coordinates (s, t) in [0,1]^2: s runs along the lower remaining axis, t along the higher. */
void fem_face_point(int face, double s, double t, double r[3]);

/* The n^2 slots of face f in lexicographic order of (s, t). */
void fem_face_slots(int n, int face, int *slots);
/* The n slots of edge e in ascending order. */
void fem_edge_slots(int n, int edge, int *slots);
/* The slot of corner c. */
int fem_corner_slot(int n, int corner);
/* Position of face, edge or corner `local` (dimension 2, 1, 0) along each axis: 0 low, 1 high, -1 from low to high. */
void fem_member_sides(int dimension, int local, int side[3]);

/*
 * The map at a reference point: jacobian [3][3] = dx_i/dr_j from positions [slots][3] and gradient [slots][3]; inverse [3][3] = dr_i/dx_j.
 * Returns the determinant (inverse is not written if it is <= 0 or not finite).
 */
double fem_map(int slots, const double *positions, const double *gradient, double jacobian[3][3], double inverse[3][3]);

#endif
