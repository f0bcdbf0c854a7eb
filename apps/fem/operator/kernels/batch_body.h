/*
 * batch_body.h - element kernels by sum factorisation, several elements per SIMD vector.  Included once for each
 * REAL (double, float) x N (2, 3 nodes per direction) x C (1 Poisson, 3 elasticity) by batch.c.
 *
 * Gauss points per direction: N.  In the coordinate z in [-1,1] they are -g, (0,) g with g = sqrt(3/5) or sqrt(1/3).  Nodal values are
 * interpolated to the points by three sweeps of one-dimensional interpolation, then differentiated among the points ("collocation"):
 * with three values u0 u1 u2 at -g, 0, g, 2 g f'(-g) = -3 u0 + 4 u1 - u2, 2 g f'(0) = u2 - u0, 2 g f'(g) = u0 - 4 u1 + 3 u2.
 * The factor 2 g is not divided out: the positions are differentiated by the same sweeps, so it cancels in the inverse Jacobian.
 */
#define W VECTOR_LANES(REAL)
#define V NAME(vector)
#define SLOTS (N * N * N)

typedef REAL V __attribute__((vector_size(VECTOR_BYTES)));

/* Each file needs those before it. */
#include "operator/kernels/batch_sweeps.h"

#include "operator/kernels/batch_nodes.h"

#include "operator/kernels/batch_hanging.h"

#include "operator/kernels/batch_element.h"

#include "operator/kernels/batch_matrix.h"

#undef W
#undef V
#undef SLOTS
